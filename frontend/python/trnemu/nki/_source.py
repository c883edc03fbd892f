"""The syntax of source files, for what only the source tells."""

from __future__ import annotations

import ast
import linecache
import threading

# linecache looks an entry up after it has asked for it: one that another
# thread takes out in between, to read the file again, is a KeyError.
_lock = threading.Lock()
_trees: dict[str, tuple[list[str], ast.Module | None]] = {}


def tree_of(file: str) -> ast.Module | None:
    """The syntax of a source file as it is now; None where there is none."""
    with _lock:
        linecache.checkcache(file)
        lines = linecache.getlines(file)
        known = _trees.get(file)
        if known is not None and known[0] is lines:
            return known[1]
        try:
            tree = ast.parse("".join(lines)) if lines else None
        except (SyntaxError, ValueError):
            tree = None
        _trees[file] = lines, tree
        return tree
