"""Copies of public sources: what nki_kernels.py reads its kernels from.

Nothing of a copy is kept: a kernel is found in the user's checkout by its file
and function name, a fragment by its file and the first digits of the SHA-1 of
its text, so that a fragment that has changed is "not found" rather than run as
something that it no longer is.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

NKI = re.compile(
    r"\b(nl|nisa|nki)\.\w|@nki|\b(import|from) nki\b|dynamic_range"
)
NEW = re.compile(r"^\s*(import nki\b|from nki\b)", re.MULTILINE)
IMPORT = re.compile(r"^(import nki\b|from nki\b).*$", re.MULTILINE)
OLD = re.compile(r"\bneuronxcc\b")
DIRECTIVE = re.compile(r"^(\s*)\.\. code(?:-block)?::\s*(\S*)\s*$")
LITERAL = re.compile(r"^(\s*)(?!\.\.)\S.*::\s*$|^(\s*)::\s*$")
OPTION = re.compile(r"^\s+:[\w-]+:")
STUBS = ("torch_xla", "torch_neuronx")
PYTHON = ("", "python", "python3")


class NotFound(LookupError):
    """The copy has no such file, kernel or fragment."""


@dataclass(frozen=True)
class Block:
    """A piece of code in a page, or in the docstring of `owner`."""

    path: str
    line: int  # of its first line of code, from 1
    text: str  # dedented
    owner: str = ""

    @cached_property
    def key(self) -> str:
        return hashlib.sha1(self.text.encode()).hexdigest()[:8]

    @cached_property
    def functions(self) -> frozenset[str]:
        """What it defines at its top level, if it is Python at all."""
        try:
            body = ast.parse(self.text).body
        except SyntaxError:
            return frozenset()
        return frozenset(n.name for n in body if isinstance(n, ast.FunctionDef))


def blocks_of(
    text: str, path: str, first: int = 1, owner: str = ""
) -> Iterator[Block]:
    """Code blocks of reStructuredText that are Python or say nothing."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        found = DIRECTIVE.match(lines[at])
        literal = None if found else LITERAL.match(lines[at])
        at += 1
        if not (found or literal):
            continue
        indent = _indent(lines[at - 1])
        while found and at < len(lines) and OPTION.match(lines[at]):
            at += 1
        start = at
        while at < len(lines) and _inside(lines[at], indent):
            at += 1
        body = lines[start:at]
        while body and not body[0].strip():
            body, start = body[1:], start + 1
        code = textwrap.dedent("\n".join(body)).rstrip().removesuffix('"""')
        if code and (literal or found[2] in PYTHON):
            yield Block(path, first + start, code, owner)


def _inside(line: str, indent: int) -> bool:
    return not line.strip() or _indent(line) > indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class Copy:
    """A checkout (or an unpacked archive) of one repository."""

    def __init__(
        self, name: str, root: str | os.PathLike[str], commit: str = ""
    ) -> None:
        self.name = name
        self.root = pathlib.Path(root).resolve()
        self.given = commit

    @cached_property
    def commit(self) -> str:
        """What git says of the checkout; else what the user said."""
        if self.given:
            return self.given
        git = ["git", "-C", str(self.root), "rev-parse"]
        said = subprocess.run(
            [*git, "--show-toplevel", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        if len(said) == 2 and pathlib.Path(said[0]) == self.root:
            return said[1]
        return "unknown (not a git checkout)"

    def text(self, path: str) -> str:
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except OSError as error:
            raise NotFound(f"{self.name} has no {path}") from error

    def files(self, folder: str, suffix: str) -> list[str]:
        found = (self.root / folder).rglob(f"*{suffix}")
        return sorted(str(p.relative_to(self.root)) for p in found)

    def blocks(self, path: str) -> list[Block]:
        """Of a page, or of the docstrings of a Python file."""
        if not path.endswith(".py"):
            return list(blocks_of(self.text(path), path))
        text = self.text(path)
        lines = text.split("\n")
        found: list[Block] = []
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            if not ast.get_docstring(node):
                continue
            string = node.body[0].value
            part = "\n".join(lines[string.lineno - 1:string.end_lineno])
            found += blocks_of(part, path, string.lineno, node.name)
        return found

    def block(self, path: str, key: str) -> Block:
        """The fragment whose SHA-1 begins with `key`."""
        for block in self.blocks(path):
            if block.key == key:
                return block
        raise NotFound(f"{path} has no fragment {key}: the page has changed")

    def block_defining(
        self, path: str, function: str, number: int = 0
    ) -> Block:
        """The `number`-th block that defines `function`."""
        found = [b for b in self.blocks(path) if function in b.functions]
        if number >= len(found):
            raise NotFound(f"{path} has no block {number} defining {function}")
        return found[number]


HEADER = """\
import nki
import nki.isa as nisa
import nki.language as nl
import nki.collectives as ncc
import numpy as np
from dataclasses import dataclass
from enum import Enum
from nki.language import NKIObject
"""


def placed(header: str, code: str, line: int) -> str:
    """`code` under `header`, on its own line of the page where there is room:
    a fault then names the line that the reader has before him."""
    room = line - 1 - header.count("\n")
    return header + "\n" * max(0, room) + code + "\n"


def kernel_text(block: Block) -> str:
    """A block with a whole kernel, with the imports that pages leave out, and
    without the calls that pages show below a kernel."""
    lines = block.text.split("\n")
    for node in ast.parse(block.text).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            for at in range(node.lineno - 1, node.end_lineno):
                lines[at] = ""
    return placed(HEADER, "\n".join(lines), block.line)


def part_of(block: Block, part: str, until: str = "") -> Block:
    """What stands below the line of the block that begins with `part` (the
    whole block if it is empty), up to one that begins with `until`."""
    if not part:
        return block
    lines = block.text.split("\n")
    starts = [i for i, t in enumerate(lines) if t.strip().startswith(part)]
    if not starts:
        raise NotFound(f"{block.path}:{block.line} has no part {part!r}")
    end = len(lines)
    if until:
        ends = [i for i, t in enumerate(lines) if t.strip().startswith(until)]
        end = min([i for i in ends if i > starts[0]], default=end)
    text = textwrap.dedent("\n".join(lines[starts[0] + 1:end])).rstrip()
    line = block.line + starts[0] + 1
    return Block(block.path, line, text, block.owner)


def body_text(block: Block, parameters: str, before: str, after: str) -> str:
    """A block as the body of a kernel, between lines of ours. Its own imports
    of nki are those of the header, at the module's top."""
    code = IMPORT.sub("", block.text)
    head = f"{HEADER}\n\n@nki.jit\ndef kernel({parameters}):\n"
    head += textwrap.indent(before and before.strip("\n") + "\n", "    ")
    text = placed(head, textwrap.indent(code, "    "), block.line)
    return text + textwrap.indent(after.strip("\n") or "pass", "    ") + "\n"


def load(
    name: str, text: str, folder: pathlib.Path, path: str
) -> types.ModuleType:
    """A module from text. The file stays in `folder`, for tracebacks, under a
    name of its own: what is known of a file's source may be kept."""
    number = sum(1 for _ in folder.iterdir())
    file = folder / f"{path.replace('/', '_')}.{name}{number}.py"
    file.write_text(text, encoding="utf-8")
    return load_file(file, name)


def load_file(file: pathlib.Path, name: str) -> types.ModuleType:
    """A module from a file, with what it sets in the environment undone, and
    its folder's modules importable while it is read. STUBS are empty modules
    meanwhile: files import them at their top, for their host code."""
    before = dict(os.environ)
    known = set(sys.modules)
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # the copy is the user's
    sys.path.insert(0, str(file.parent))
    stubs = {name: types.ModuleType(name) for name in STUBS}
    sys.modules.update({n: m for n, m in stubs.items() if n not in known})
    try:
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(str(file.parent))
        for new in set(sys.modules) - known:
            there = getattr(sys.modules[new], "__file__", None) or ""
            if new in stubs or there.startswith(str(file.parent)):
                del sys.modules[new]
        os.environ.clear()
        os.environ.update(before)
