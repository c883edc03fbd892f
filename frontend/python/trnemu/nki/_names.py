"""What a tensor is called in the kernel: the variable it is assigned to.

Found in the source once per place in the code, so that the cost per tensor is
a dictionary's.
"""

from __future__ import annotations

import ast
import sys
from types import CodeType, FrameType
from typing import Any

from trnemu.nki._source import tree_of

_PACKAGE = __name__.rpartition(".")[0] + "."
# By the code's address, which the entry keeps in use: hashing code itself
# hashes all its constants and names, at every tensor.
_cache: dict[tuple[int, int], tuple[CodeType, str]] = {}
_files: dict[str, tuple[ast.Module, dict[tuple[int, int], str]]] = {}


def name_of_caller(depth: int) -> str:
    """The name of what the call `depth` frames up is assigned to, or ""."""
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None and frame.f_globals.get(
        "__name__", ""
    ).startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    known = _cache.get(key)
    if known is None:
        known = _cache[key] = code, _find(code, frame.f_lasti)
    return known[1]


def _find(code: CodeType, lasti: int) -> str:
    positions = list(code.co_positions())[lasti // 2]
    line, _, column, _ = positions
    if line is None or column is None:
        return ""
    tree = tree_of(code.co_filename)
    if tree is None:
        return ""
    known = _files.get(code.co_filename)
    if known is None or known[0] is not tree:
        known = _files[code.co_filename] = tree, _read(tree)
    return known[1].get((line, column), "")


def _read(tree: ast.Module) -> dict[tuple[int, int], str]:
    """(line, column) of calls -> what their value goes to."""
    names: dict[tuple[int, int], str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            _note(names, node.targets[0], node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            _note(names, node.target, node.value)
        elif isinstance(node, ast.Call):
            _note_append(names, node)
    return names


def _note_append(names: dict[tuple[int, int], str], call: ast.Call) -> None:
    """tiles.append(nl.ndarray(...)): called after the list."""
    if (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("append", "insert")
        and call.args
    ):
        _note(names, call.func.value, call.args[-1])


def _note(names: dict[tuple[int, int], str], target: Any, value: Any) -> None:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for t, v in zip(target.elts, value.elts, strict=False):
            _note(names, t, v)
        return
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Attribute):
        name = target.attr
    elif isinstance(target, ast.Name):
        name = target.id
    else:
        return
    for node in [value, *_elements(value)]:
        if isinstance(node, ast.Call):
            names.setdefault((node.lineno, node.col_offset), name)


def _elements(value: Any) -> list[Any]:
    """Of a list of calls, or [call for ...]."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return list(value.elts)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return [value.elt]
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    return []
