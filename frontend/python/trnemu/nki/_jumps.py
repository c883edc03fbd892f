"""What the source of a `while register:` says about the ways back to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def continues(loop: ast.While, tree: ast.AST | None) -> bool:
    """Whether `continue` leads back to where the loop asks first, and nothing
    else can: a loop of Python around it could enter it anew, after `break` or
    an exception (after `return` it is another frame)."""
    jumps = {type(jump) for jump in _jumps(loop.body)}
    if ast.Continue not in jumps:
        return False
    around = _around(tree, loop)
    kinds = [type(node) for node in around]
    if not any(kind in (ast.For, ast.While) for kind in kinds):
        return True
    return ast.Break not in jumps and not any(
        kind in _CATCHING for kind in kinds
    )


_CATCHING = tuple(
    getattr(ast, name)
    for name in ("Try", "TryStar", "With")
    if hasattr(ast, name)
)


def _jumps(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The break and continue statements of a loop's own."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            yield statement
        inner = [
            part
            for name in ("body", "orelse", "finalbody")
            for part in getattr(statement, name, [])
        ]
        for several in ("handlers", "cases"):
            for one in getattr(statement, several, []):
                inner += one.body
        if isinstance(statement, (ast.For, ast.While)):
            inner = statement.orelse  # the body's are that loop's
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from _jumps(inner)


def _around(tree: ast.AST | None, node: ast.AST) -> list[ast.AST]:
    """What is around a statement within its function, innermost first."""
    parents = {
        child: parent
        for parent in ast.walk(tree or node)
        for child in ast.iter_child_nodes(parent)
    }
    found: list[ast.AST] = []
    while node in parents:
        node = parents[node]
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            break
        found.append(node)
    return found
