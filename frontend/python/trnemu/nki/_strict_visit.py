"""What in one function the device's front end refuses: the walk."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

from trnemu.nki._strict_expressions import (
    Expressions,
    Report,
    integer,
    is_none,
    text,
)
from trnemu.nki._strict_names import (
    Function,
    Names,
    parameters,
    root_of,
    within,
)

# nki_jit is what torch_neuronx calls it.
_DECORATORS = frozenset(("jit", "nki_jit", "dataclass", "staticmethod"))


class Walk(Expressions):
    """Statements, and the expressions in them."""

    def __init__(
        self,
        names: Names,
        function: types.FunctionType,
        report: Report,
        reach: Callable[[Any, ast.AST], None],
    ) -> None:
        super().__init__(names, function, report, reach)
        self._loops: list[str] = []  # "host" or "device", the innermost last

    # A function, and what is inside it.

    def function(self, node: Function, entry: bool) -> None:
        """The whole function. entry: it is the kernel itself."""
        self._decorators(node.decorator_list)
        self._signature(node, entry)
        if isinstance(node, ast.AsyncFunctionDef):
            self._say("async", node, f"async def {node.name}")
        for name in sorted(self._names.free_names()):
            used = [
                inner
                for inner in ast.walk(node)
                if isinstance(inner, ast.Name) and inner.id == name
            ]
            if used:  # __class__, of super(), is not written out
                self._say("closure", used[0], name)
        for statement in node.body:
            self.visit(statement)

    def _decorators(self, decorators: list[ast.expr]) -> None:
        for decorator in decorators:
            called = decorator
            if isinstance(called, ast.Call):
                called = called.func
            name = text(called).rpartition(".")[2]
            # nki.simulate and the like are ways in, and not of the device.
            way_in = root_of(self._names.resolve(called)) in ("nki", "trnemu")
            if name not in _DECORATORS and not way_in:
                self._say("decorator", decorator, "@" + text(decorator))

    def _signature(self, node: Function, entry: bool) -> None:
        a = node.args
        for star, extra in (("*", a.vararg), ("**", a.kwarg)):
            if extra is not None:
                self._say("variadic", extra, f"{star}{extra.arg}")
        if a.kwonlyargs and a.vararg is None:
            first = a.kwonlyargs[0]
            self._say("keyword_only", first, f"*, {first.arg}")
        for default in (*a.defaults, *a.kw_defaults):
            if default is None:
                continue
            if entry and self._names.kind(default) == "list":
                self._say("list_argument", default, f"default {text(default)}")
            self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        loop = self._names.loop_of_body(node.name)
        if loop:
            first = parameters(node)[:1]
            kinds = {p.arg: "register" for p in first}
            names = Names(node, self._function, kinds, self._names)
            walk = Walk(names, self._function, self._report, self._reach)
            walk._signature(node, False)
            for statement in node.body:
                walk.visit(statement)
            if loop == "fori_loop":
                self._loop_value(node)
            return
        self._say("inner_function", node, f"def {node.name}")
        names = Names(node, self._function, {}, self._names)
        walk = Walk(names, self._function, self._report, self._reach)
        for statement in node.body:
            walk.visit(statement)

    def _loop_value(self, node: ast.FunctionDef) -> None:
        for inner in within(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                if not is_none(inner.value):
                    self._say("loop_value", inner)

    # Assignment.

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._targets([node.target], node)
        self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.MatMult):
            self._say("matmul_operator", node)
        self._targets([node.target], node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._targets(node.targets, node)
        self.generic_visit(node)

    def _targets(self, targets: list[ast.expr], node: ast.AST) -> None:
        changed = 0
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                if any(not isinstance(n, ast.Name) for n in _flat(target)):
                    self._say("assignment", node)
                    return
            elif not isinstance(target, ast.Name):
                changed += 1
                self._element(target, node)
        if changed > 1:
            self._say("assignment", node)

    def _element(self, target: ast.expr, node: ast.AST) -> None:
        if isinstance(target, ast.Attribute):
            base = self._names.resolve(target.value)
            if isinstance(base, (types.ModuleType, type)):
                self._say("global", node)
        if not isinstance(target, ast.Subscript):
            return
        kind = self._names.kind(target.value)
        if kind == "tensor":
            self._say("item_assignment", node)
        elif kind == "list":
            index = integer(target.slice)
            if isinstance(target.slice, ast.Slice) or (index or 0) < 0:
                self._say("list_element", node)

    # Control flow.

    def visit_For(self, node: ast.For) -> None:
        if not isinstance(node.target, ast.Name):
            self._say("for_target", node.target, f"for {text(node.target)} in")
        if node.orelse:
            self._say("loop_else", node.orelse[0], "for ... else")
        kind = self._names.kind(node.iter)
        if kind in ("dict", "str", "tensor", "object", "enum"):
            self._say("iterate", node.iter)
        device = False
        if isinstance(node.iter, ast.Call):
            device = self._names.nki_name(node.iter.func) == "dynamic_range"
        if device:
            self._say("dynamic_range", node.iter)
        self.visit(node.iter)
        self._loop(node, device)

    def visit_While(self, node: ast.While) -> None:
        if node.orelse:
            self._say("loop_else", node.orelse[0], "while ... else")
        self._condition(node.test)
        self.visit(node.test)
        self._loop(node, self._names.kind(node.test) == "register")

    def _loop(self, node: ast.For | ast.While, device: bool) -> None:
        if device and self._in_no_reorder:
            self._say("loop_in_no_reorder", node)
        self._loops.append("device" if device else "host")
        for statement in node.body:
            self.visit(statement)
        self._loops.pop()
        for statement in node.orelse:
            self.visit(statement)

    def visit_Break(self, node: ast.Break) -> None:
        if self._loops[-1:] == ["device"]:
            self._say("loop_exit", node)

    def visit_Continue(self, node: ast.Continue) -> None:
        if self._loops[-1:] == ["device"]:
            self._say("loop_exit", node)

    def visit_Return(self, node: ast.Return) -> None:
        if "device" in self._loops:
            self._say("loop_exit", node)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test, branches=False)
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._condition(node.test, branches=False)
        self.generic_visit(node)

    def _condition(self, test: ast.expr, branches: bool = True) -> None:
        # The tracer has no value for a register. Nor has the parser: of one
        # that is the whole condition of if or while it makes a branch.
        for part in _parts_of_condition(test):
            if self._names.kind(part) == "register":
                self._say("register_control", test)
                if isinstance(test, (ast.BoolOp, ast.UnaryOp)) or (
                    part is test and not branches
                ):
                    self._say("register_value", test)
                return

    def visit_With(self, node: ast.With) -> None:
        fine = len(node.items) == 1
        for item in node.items:
            call = item.context_expr
            fine = (
                fine
                and isinstance(call, ast.Call)
                and self._names.nki_name(call.func) == "no_reorder"
                and not call.args
                and not call.keywords
                and item.optional_vars is None
            )
            self.visit(item)
        if not fine:
            self._say("with", node)
        outer = self._in_no_reorder
        self._in_no_reorder = outer or fine
        for statement in node.body:
            self.visit(statement)
        self._in_no_reorder = outer


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _flat(element)
    elif isinstance(target, ast.Starred):
        yield from _flat(target.value)
    else:
        yield target


def _parts_of_condition(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _parts_of_condition(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _parts_of_condition(node.operand)
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
        if not any(map(is_none, parts)):
            yield from parts
    else:
        yield node
