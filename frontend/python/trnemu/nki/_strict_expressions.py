"""What in an expression the device's front end refuses."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from trnemu.nki._strict_names import (
    DEVICE_LOOPS,
    FOREIGN,
    MISSING,
    Names,
    root_of,
)
from trnemu.nki._strict_rules import FUNCTIONS, MATH, METHODS

# (id of a rule, where, what the source says).
Report = Callable[[str, ast.AST, str], None]

_REFUSED: dict[type[ast.AST], str] = {
    ast.ListComp: "comprehension",
    ast.SetComp: "comprehension",
    ast.DictComp: "comprehension",
    ast.GeneratorExp: "generator",
    ast.Yield: "generator",
    ast.YieldFrom: "generator",
    ast.Lambda: "lambda",
    ast.NamedExpr: "walrus",
    ast.Set: "set",
    ast.Starred: "starred",
    ast.Await: "async",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
    ast.AsyncFunctionDef: "async",
    ast.ClassDef: "inner_class",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.Raise: "raise",
    ast.Delete: "del",
    ast.Match: "match",
    ast.Global: "global",
    ast.Nonlocal: "global",
}
if hasattr(ast, "TypeAlias"):  # Python 3.12
    _REFUSED[ast.TypeAlias] = "match"

# Arguments that the published front end evaluates, by position.
_POSITIONAL = {"abs": 1, "bool": 1, "float": 1, "int": 1, "len": 1, "list": 1}
_POSITIONAL |= {"max": 2, "min": 2, "str": 1, "tuple": 1, "type": 1}
_CALLABLE = frozenset("builtins math neuronxcc nki trnemu typing".split())
# Not of registers.
_OF_NUMBERS = frozenset(
    "affine_range bool float int range sequential_range static_range".split()
)
# Calls without effect: in a chained comparison they may run twice.
_PURE = frozenset(
    "abs bool divmod float int isinstance len max min str".split()
)


def text(node: ast.AST, limit: int = 60) -> str:
    """The source of a node, its first line, shortened."""
    line = ast.unparse(node).partition("\n")[0]
    return line if len(line) <= limit else line[: limit - 3] + "..."


def integer(node: ast.expr) -> int | None:
    """The value of an integer that is written out, or None."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


class Expressions(ast.NodeVisitor):
    """Reports the expressions of one function; calls reach() for each global
    that it refers to, with the place."""

    def __init__(
        self,
        names: Names,
        function: types.FunctionType,
        report: Report,
        reach: Callable[[Any, ast.AST], None],
    ) -> None:
        self._names = names
        self._function = function
        self._report = report
        self._reach = reach
        self._in_no_reorder = False

    def _say(self, rule: str, node: ast.AST, what: str = "") -> None:
        self._report(rule, node, what or text(node))

    # Whatever needs no more than its name.

    def generic_visit(self, node: ast.AST) -> None:
        rule = _REFUSED.get(type(node))
        if rule is not None:
            self._say(rule, node)
        if isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            return
        super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, (bytes, complex)):
            self._say("literal", node)
        elif type(node.value) is int and node.value >= 2**31:
            self._say("integer", node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        value = integer(node)
        if value == -(2**31):
            return
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        if node.format_spec is not None:
            self._say("format_spec", node, text(ast.JoinedStr([node])))
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._refer(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self._refer(node)
        self.visit(node.value)

    def _refer(self, node: ast.Name | ast.Attribute) -> None:
        value = self._names.resolve(node)
        if value is not MISSING:
            self._reach(value, node)

    # Operators.

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self._say("matmul_operator", node)
        kinds = {self._names.kind(node.left)}
        if isinstance(node.op, ast.Mult):
            kinds.add(self._names.kind(node.right))
        if isinstance(node.op, (ast.Mod, ast.Mult)) and "str" in kinds:
            self._say("string_operator", node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left: ast.expr = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, (ast.Is, ast.IsNot)):
                if not is_none(right) and not is_none(left):
                    self._say("identity", node)
            elif isinstance(op, (ast.In, ast.NotIn)):
                if self._names.kind(right) in ("dict", "enum", "object"):
                    self._say("membership", node)
            elif not is_none(right) and not is_none(left):
                if "register" in map(self._names.kind, (left, right)):
                    self._say("register_value", node)
            left = right
        if len(node.ops) > 1 and any(map(self._calls, node.comparators)):
            self._say("chained_comparison", node)
        self.generic_visit(node)

    def _calls(self, node: ast.expr) -> bool:
        return any(
            isinstance(inner, ast.Call)
            and self._names.builtin_name(inner.func) not in _PURE
            for inner in ast.walk(node)
        )

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._say("starred", value, f"**{text(value)}")
            elif _is_no_string(key):
                self._say("dict_key", key, text(key))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self._names.kind(node.value) == "dict" and _is_no_string(node.slice):
            self._say("dict_key", node)
        for part in ast.walk(node.slice):
            if isinstance(part, ast.Slice) and part.step is not None:
                step = integer(part.step)
                if step is not None and step < 0:
                    self._say("slice_step", node)
        self.generic_visit(node)

    # Calls.

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg is None:
                self._say("starred", keyword.value, f"**{text(keyword.value)}")
        target = self._names.resolve(node.func)
        if target is not MISSING:
            self._called(target, node)
        elif isinstance(node.func, ast.Attribute):
            self._method(node.func, node)
        nki = self._names.nki_name(node.func)
        if nki in DEVICE_LOOPS and self._in_no_reorder:
            self._say("loop_in_no_reorder", node)
        if {nki, self._names.builtin_name(node.func)} & _OF_NUMBERS:
            if any(self._names.kind(a) == "register" for a in node.args):
                self._say("register_value", node)
                self._say("register_control", node)
        self.generic_visit(node)

    def _called(self, target: Any, node: ast.Call) -> None:
        name, root = str(getattr(target, "__name__", "")), root_of(target)
        if isinstance(target, type) and issubclass(target, BaseException):
            return  # of a raise, which is reported
        module = self._names.module_of(node.func)
        if module in FOREIGN:
            root = module
        if root == "builtins" and callable(target):
            if name in ("set", "frozenset"):
                self._say("set", node)
            elif name not in FUNCTIONS or isinstance(node.func, ast.Attribute):
                self._say("builtin", node)
            else:
                self._arguments(name, node)
        elif root == "math" and name not in MATH:
            self._say("math", node)
        elif root in FOREIGN and root not in _CALLABLE:
            self._say("library_call", node)

    def _arguments(self, name: str, node: ast.Call) -> None:
        surplus = len(node.args) > _POSITIONAL.get(name, len(node.args))
        several = name == "isinstance" and any(
            self._names.kind(a) == "tuple" for a in node.args[1:]
        )
        # print's are ignored, which changes nothing on the device.
        named = name != "print" and any(k.arg for k in node.keywords)
        if surplus or several or named:
            self._say("builtin_argument", node)

    def _method(self, function: ast.Attribute, node: ast.Call) -> None:
        kind, name = self._names.kind(function.value), function.attr
        if kind not in METHODS:
            return
        if name not in METHODS[kind]:
            self._say("method", node)
        elif kind == "list" and name == "pop" and node.args:
            self._say("builtin_argument", node)
        elif kind == "list" and name in ("count", "index", "remove"):
            self._say("list_search", node)


def is_none(node: ast.expr) -> bool:
    """Whether it is the None that is written out."""
    return isinstance(node, ast.Constant) and node.value is None


def _is_no_string(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        return True
    if integer(node) is not None:
        return True
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)
