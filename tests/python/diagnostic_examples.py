"""The examples of diagnostics in docs/diagnostics/: read, and executed.

docs/diagnostics/README.md describes their form. `run` gives the ids that an
example reports; `repaired` is the example with its "# fix:" lines applied.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import linecache
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

import trnemu
from cli_kit import BINARY

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs/diagnostics"
LAYERS = ("device", "backend", "api", "lint")
FIX = "# fix: "
LEAVE_OUT = "leave out"


@dataclasses.dataclass(frozen=True)
class Example:
    """The code that reports `id`; or why there is none, in `reason`."""

    id: str
    file: str
    kind: str  # "python" or "shell"
    code: str
    reason: str


def _block(file: str, head: str, lines: list[str]) -> Example:
    id, *kind = head.split()
    reasons = [line[2:].strip() for line in lines if line.startswith("#!")]
    code = [line for line in lines if not line.startswith("#!")]
    return Example(id, file, kind[0] if kind else "python",
                   "\n".join(code).strip() + "\n", " ".join(reasons))


def read(path: pathlib.Path) -> list[Example]:
    """The blocks of a file, each behind a line "#% ID"."""
    parts = re.split(r"^#% (.*)$", path.read_text(), flags=re.MULTILINE)[1:]
    return [_block(path.name, head, body.split("\n"))
            for head, body in zip(parts[::2], parts[1::2])]


@functools.cache
def examples() -> dict[str, Example]:
    found: dict[str, Example] = {}
    for path in sorted(FOLDER.glob("*.py")):
        for e in read(path):
            assert e.id not in found, f"{e.id}: in {found[e.id].file} and {e.file}"
            found[e.id] = e
    return found


def repaired(code: str) -> str:
    """With what stands behind "# fix:" in place of what stands before."""
    lines = []
    for line in code.split("\n"):
        before, mark, fix = line.partition(FIX)
        if not mark:
            lines.append(line)
        elif fix.strip() != LEAVE_OUT:
            lines.append(before[: len(before) - len(before.lstrip())] + fix)
    return "\n".join(lines)


@contextlib.contextmanager
def workplace() -> Iterator[pathlib.Path]:
    """A current directory with k.txt, k.trn and x.npy, for a while."""
    before = pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            text = (FOLDER / "k.txt").read_text()
            pathlib.Path("k.txt").write_text(text)
            trnemu.Program.from_text(text).save("k.trn")
            np.save("x.npy", np.ones((4, 8), np.float32))
            yield pathlib.Path(name)
        finally:
            os.chdir(before)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The ids reported, and whether one of them was an error."""

    ids: frozenset[str]
    failed: bool


def _of(findings: list[trnemu.Finding]) -> Outcome:
    return Outcome(frozenset(f.id for f in findings),
                   any(f.severity == "error" for f in findings))


def _python(code: str, name: str, layers: tuple[str, ...]) -> Outcome:
    scope: dict[str, Any] = {"np": np, "trnemu": trnemu}
    # Kernels of nki are looked up in their source.
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        exec(compile(code, name, "exec"), scope)
        if "r" in scope:
            return _of(scope["r"].diagnostics)
        if "b" not in scope:
            return _of([])
        return _of(scope["b"].build().verify(layers=layers))
    except trnemu.Fault as fault:
        return Outcome(frozenset({fault.id}), failed=True)


def _shell(code: str) -> Outcome:
    folders = (pathlib.Path(BINARY).resolve().parent,
               pathlib.Path(sys.executable).parent, os.environ["PATH"])
    path = ":".join(map(str, folders))
    result = subprocess.run(
        ["bash", "-e"], input=code, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=60)
    said = result.stdout + result.stderr
    ids = re.findall(r"(?:error|warning): \w+ \[([\w.]+)\]", said)
    assert result.returncode == 0 or ids, said
    return Outcome(frozenset(ids), result.returncode != 0)


def run(example: Example, code: str) -> Outcome:
    """What `code` reports, executed in a workplace."""
    if example.kind == "shell":
        return _shell(code)
    rules = {r.id: r.layer for o in trnemu.operations() for r in o.rules}
    layer = rules.get(example.id, "device")
    layers = LAYERS if layer in ("api", "lint") else LAYERS[:2]
    return _python(code, example.id, layers)
