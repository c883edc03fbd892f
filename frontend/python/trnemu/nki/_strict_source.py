"""Source files as trees: functions and classes in them, what changes."""

from __future__ import annotations

import ast
import functools
import linecache
from typing import Any

from trnemu.nki._strict_names import Function, within

_CHANGES = frozenset(
    "add append clear discard extend fill insert pop popitem remove reverse "
    "setdefault sort update".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A file as it is now; without one that can be parsed nothing is found."""

    def __init__(self, text: str) -> None:
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError):
            self._tree = ast.parse("")
        self._functions: dict[tuple[int, str], Function | ast.Lambda] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._index(self._tree, "")

    def _index(self, node: ast.AST, path: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = path
            if isinstance(child, ast.ClassDef):
                self._classes[path + child.name] = child
                inside = f"{path}{child.name}."
            elif isinstance(child, _FUNCTIONS):
                line = min(n.lineno for n in (child, *child.decorator_list))
                self._functions[line, child.name] = child
                inside = f"{path}{child.name}.<locals>."
            elif isinstance(child, ast.Lambda):
                self._functions.setdefault((child.lineno, "<lambda>"), child)
            self._index(child, inside)

    def function(self, line: int, name: str) -> Function | ast.Lambda | None:
        """That which starts, decorators included, at the line."""
        return self._functions.get((line, name))

    def class_(self, qualname: str) -> ast.ClassDef | None:
        """The last one of that __qualname__."""
        return self._classes.get(qualname)

    @functools.cached_property
    def _changed(self) -> dict[str, list[tuple[bool, int]]]:
        # name: for each change, whether in a function, and the line.
        found: dict[str, list[tuple[bool, int]]] = {}

        def search(node: ast.AST, inside: bool) -> None:
            for name in _changed_by(node):
                line = getattr(node, "lineno", 0)
                found.setdefault(name, []).append((inside, line))
            for child in ast.iter_child_nodes(node):
                search(child, inside or isinstance(child, _FUNCTIONS))

        search(self._tree, False)
        return found

    @functools.cached_property
    def _assigned(self) -> dict[str, list[int]]:
        lines: dict[str, list[int]] = {}
        for node in within(self._tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                lines.setdefault(node.id, []).append(node.lineno)
        return lines

    def changes(self, name: str, line: int) -> bool:
        """Whether the global container of that name changes once it is made.

        That is in a function, or at module level behind the kernel that reads
        it, which ends at line; what stands before, as it fills a table, makes
        it. So does all at module level where it is made behind the kernel.
        """
        changed = self._changed.get(name, [])
        if any(inside for inside, _ in changed):
            return True
        made = self._assigned.get(name, [])
        if made and min(made) > line:
            return False
        return any(at > line for at in (*made, *(at for _, at in changed)))


def _changed_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Global):
        return node.names
    changed: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CHANGES:
            changed = node.func.value
    elif isinstance(node, ast.Subscript):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            changed = node.value
    while isinstance(changed, ast.Subscript):  # an element of an element
        changed = changed.value
    return [changed.id] if isinstance(changed, ast.Name) else []


_sources: dict[str, tuple[list[str], Source]] = {}


def source_of(file: str, globals_: dict[str, Any]) -> Source:
    """The source of a file, which may be one of linecache's only."""
    linecache.checkcache(file)
    lines = linecache.getlines(file, globals_)
    known = _sources.get(file)
    if known is None or known[0] is not lines:
        _sources[file] = known = (lines, Source("".join(lines)))
    return known[1]
