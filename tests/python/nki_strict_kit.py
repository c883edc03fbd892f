"""What the tests of --strict-frontend share: modules in files, examples."""

import importlib.util
import pathlib
import re
import sys
from collections.abc import Iterator

import pytest

HERE = pathlib.Path(__file__).resolve()
PAGE = HERE.parents[2] / "docs" / "nki-strict-frontend.md"
IMPORTS = """\
import copy, functools, math, os, types
from enum import Enum, IntEnum
from typing import NamedTuple
import numpy as np
import trnemu.nki as nki, trnemu.nki.isa as nisa, trnemu.nki.language as nl
neuronxcc = types.ModuleType("neuronxcc")
"""
MARK = re.compile(r"\s*# fix: (?P<fix>.*)$")


def read_examples() -> Iterator[tuple[str, str, list[str]]]:
    text = HERE.with_name("nki_strict_examples.py").read_text()
    for block in text.split("\n#% ")[1:]:
        head, *lines = block.rstrip().split("\n")
        name, _, frontend = head.partition(" ")
        yield name, frontend or "parser", lines


EXAMPLES = {name: (f, lines) for name, f, lines in read_examples()}


def repaired(lines: list[str]) -> list[str]:
    result = []
    for line in lines:
        mark = MARK.search(line)
        if mark is None:
            result.append(line)
        elif mark["fix"] != "leave out":
            indent = line[: len(line) - len(line.lstrip())]
            result.append(indent + mark["fix"])
    return result


@pytest.fixture
def module_of(tmp_path):
    """A module of the lines, behind IMPORTS, in a file of that name."""
    made = []

    def make(lines: list[str], name: str = "strict_example"):
        file = tmp_path / f"{name}.py"
        file.write_text(IMPORTS + "\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield make
    for name in made:
        sys.modules.pop(name, None)


def ids(findings):
    return [f.id.removeprefix("nki.strict.") for f in findings]


def lines_of(findings):
    """Line numbers, the first behind IMPORTS being 1."""
    place = re.compile(r":(\d+) in ")
    before = IMPORTS.count("\n")
    return [int(place.search(f.source)[1]) - before for f in findings]
