"""The lint of the device's own front end (--strict-frontend).

A kernel runs here as plain Python. The device's compiler reads its source
instead and knows a part of Python only: what it refuses, this names before
somebody finds out on the device. docs/nki-strict-frontend.md is the list,
with the evidence for each; _strict_rules.py is its source.

Followed like the device's front end does: from the kernel through every
global name, and attribute of a module or class, that its source mentions, to
functions and classes of the user's own; all statements count, reached or not.
"""

from __future__ import annotations

import ast
import json
import sys
import types
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from trnemu._trnemu import Finding
from trnemu.nki._strict_expressions import text
from trnemu.nki._strict_names import (
    FOREIGN,
    Function,
    Names,
    parameters,
    root_of,
    unwrapped,
)
from trnemu.nki._strict_rules import BY_ID, Rule
from trnemu.nki._strict_source import source_of
from trnemu.nki._strict_visit import Walk

FRONTENDS = ("parser", "tracer")
_BASES = frozenset(("NKIObject", "Enum"))
_IN_CLASS = (ast.Pass, ast.Assign, ast.AnnAssign, ast.FunctionDef)
_DEPTH = 8  # of containers within containers
_ELEMENTS = 1000  # of a container: the rest of a table is like these
# Objects of these are values of NKI, of NumPy, or annotations.
_VALUES_OF = frozenset("nki trnemu numpy ml_dtypes typing builtins".split())


def check(function: Any, *, frontend: str = "parser") -> list[Finding]:
    """What of a kernel the device's front end refuses, or evaluates otherwise.

    function: a kernel, jitted or not. frontend: "parser", the default of the
    device, or "tracer", which executes Python and has fewer rules. Returns
    findings with ids nki.strict.*, by file and line: of severity "error" what
    is refused, "warning" what may give another result, or may be refused. The
    source file is read as it is now. Raises ValueError for another front end,
    TypeError for what is no function.
    """
    target = unwrapped(function)
    if not isinstance(target, types.FunctionType):
        target = unwrapped(getattr(target, "func", target))
    if not isinstance(target, types.FunctionType):
        raise TypeError(f"a kernel is a function, not {type(target).__name__}")
    checker = _Checker(frontend)
    checker.entry(target)
    return checker.findings()


def check_arguments(
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    frontend: str = "parser",
) -> list[Finding]:
    """The same of the arguments of a call: lists, classes of objects.

    Raises ValueError for another front end; arguments that do not fit the
    signature are left to the call.
    """
    checker = _Checker(frontend)
    target = unwrapped(function)
    names = target.__code__.co_varnames
    given = dict(zip(names, args, strict=False)) | dict(kwargs or {})
    for name, value in given.items():
        checker.argument(target, name, value)
    return checker.findings()


class _Place(NamedTuple):
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


class _Checker:
    def __init__(self, frontend: str) -> None:
        if frontend not in FRONTENDS:
            raise ValueError(
                f"no front end {frontend!r}: one of {', '.join(FRONTENDS)}"
            )
        self._frontend = frontend
        self._seen = set[int]()
        self._work: list[Any] = []
        self._found: dict[tuple[_Place, str, str], Finding] = {}

    def findings(self) -> list[Finding]:
        """Function by function from the kernel on, each by line."""
        files: dict[tuple[str, str], int] = {}
        for place, _, _ in self._found:
            files.setdefault((place.file, place.function), len(files))
        order = sorted(
            self._found,
            key=lambda k: (files[k[0].file, k[0].function], k[0].line),
        )
        return [self._found[key] for key in order]

    def entry(self, function: types.FunctionType) -> None:
        self._seen.add(id(function))
        self._function(function, entry=True)
        self._follow_all()

    def _follow_all(self) -> None:
        while self._work:
            target = self._work.pop(0)
            if isinstance(target, type):
                self._class(target)
            else:
                self._function(target)

    def argument(self, function: Any, name: str, value: object) -> None:
        code = function.__code__
        place = _Place(
            code.co_filename, code.co_firstlineno, function.__name__
        )
        if isinstance(value, list):
            self._report("list_argument", place, f"{name}=[...]")
        self._reach_value(value, place, name, 0)
        self._follow_all()

    def _report(self, rule_id: str, place: _Place, what: str) -> None:
        rule = BY_ID[rule_id]
        refused = rule.parser if self._frontend == "parser" else rule.tracer
        if refused:
            key = (place, rule_id, what)
            self._found.setdefault(key, _finding(rule, place, what))

    def _function(
        self, function: types.FunctionType, entry: bool = False
    ) -> None:
        code = function.__code__
        source = source_of(code.co_filename, function.__globals__)
        node = source.function(code.co_firstlineno, code.co_name)
        if isinstance(node, ast.Lambda):
            place = _Place(code.co_filename, node.lineno, code.co_name)
            self._report("lambda", place, text(node))
            return
        if node is None:
            place = _Place(
                code.co_filename, code.co_firstlineno, code.co_name
            )
            self._report("source", place, function.__name__)
            return
        self._walk(node, function, entry)

    def _walk(
        self, node: Function, function: types.FunctionType, entry: bool
    ) -> None:
        code = function.__code__

        def place_of(where: ast.AST) -> _Place:
            line = getattr(where, "lineno", node.lineno)
            return _Place(code.co_filename, line, node.name)

        def reach(value: Any, where: ast.AST) -> None:
            what = text(where)
            self._reach_value(value, place_of(where), what, 0)
            self._mutable(value, where, function, node.end_lineno or 0)

        def report(rule: str, where: ast.AST, what: str) -> None:
            self._report(rule, place_of(where), what)

        names = Names(node, function, _tensors(node) if entry else {})
        walk = Walk(names, function, report, reach)
        walk.function(node, entry)

    # What a kernel refers to.

    def _reach_value(
        self, value: Any, place: _Place, what: str, depth: int
    ) -> None:
        value = unwrapped(value)
        if root_of(value) == "neuronxcc":
            self._report("neuronxcc", place, what)
        elif isinstance(value, (types.FunctionType, type)):
            self._follow(value)
        elif type(value) is int and not -(2**31) <= value < 2**31:
            self._report("integer", place, f"{what} is {value}")
        elif isinstance(value, (bytes, bytearray, complex)):
            self._report("literal", place, f"{what} is {type(value).__name__}")
        elif isinstance(value, (set, frozenset)):
            self._report("set", place, what)
        elif isinstance(value, (list, tuple)):
            if depth < _DEPTH:
                for element in value[:_ELEMENTS]:
                    self._reach_value(element, place, what, depth + 1)
        elif type(value) is dict:
            if any(not isinstance(key, str) for key in value):
                self._report("dict_key", place, what)
            elif depth < _DEPTH:
                for element in islice(value.values(), _ELEMENTS):
                    self._reach_value(element, place, what, depth + 1)
        else:
            self._object(value, place, what)

    def _object(self, value: Any, place: _Place, what: str) -> None:
        cls = type(value)
        if isinstance(value, (str, types.ModuleType)):
            return
        if root_of(cls) not in FOREIGN:
            self._follow(cls)
        elif not callable(value) and root_of(cls) not in _VALUES_OF:
            # Of classes written in C it reads nothing, and refuses nothing.
            module = sys.modules.get(cls.__module__)
            if not str(getattr(module, "__file__", "")).endswith(".py"):
                return
            name = f"{what} is a {cls.__module__}.{cls.__qualname__}"
            if not _is_array(value):
                self._report("object", place, name)

    def _follow(self, target: types.FunctionType | type) -> None:
        foreign = root_of(target) in FOREIGN
        if isinstance(target, type) and issubclass(target, BaseException):
            return
        if not foreign and id(target) not in self._seen:
            self._seen.add(id(target))
            self._work.append(target)

    def _mutable(
        self,
        value: Any,
        where: ast.AST,
        function: types.FunctionType,
        last: int,
    ) -> None:
        if not isinstance(where, ast.Name):
            return
        if isinstance(value, (list, dict, bytearray)) or _is_array(value):
            file = function.__code__.co_filename
            source = source_of(file, function.__globals__)
            if source.changes(where.id, last):
                place = _Place(file, where.lineno, function.__name__)
                what = f"{where.id}, a {type(value).__name__},"
                self._report("mutable_global", place, what)

    # Classes.

    def _class(self, cls: type) -> None:
        methods = [_plain(member) for member in vars(cls).values()]
        functions = [m for m in methods if isinstance(m, types.FunctionType)]
        module = sys.modules.get(cls.__module__)
        files = [f.__code__.co_filename for f in functions]
        files.insert(0, getattr(module, "__file__", None) or "")
        for file in files:
            source = source_of(file, vars(module) if module else {})
            node = source.class_(cls.__qualname__)
            if node is not None:
                self._class_definition(cls, node, file)
                break
        else:  # made by a call: namedtuple(), type(), in a string
            if not _has_base(cls):
                place = _Place(files[0], 1, cls.__name__)
                self._report("class_base", place, cls.__name__)
            return
        # Not those that dataclass and NamedTuple make.
        for function in functions:
            code = function.__code__
            found = source.function(code.co_firstlineno, code.co_name)
            if code.co_filename == file and found in node.body:
                assert not isinstance(found, ast.Lambda) and found is not None
                self._walk(found, function, False)

    def _class_definition(
        self, cls: type, node: ast.ClassDef, file: str
    ) -> None:
        def say(rule: str, where: ast.AST, what: str) -> None:
            line = getattr(where, "lineno", node.lineno)
            self._report(rule, _Place(file, line, cls.__name__), what)

        if len(node.bases) != 1 or not _has_base(cls):
            bases = ", ".join(map(text, node.bases))
            say("class_base", node, f"class {cls.__name__}({bases})")
        for keyword in node.keywords:
            say("class_body", node, f"class {cls.__name__}({text(keyword)})")
        for decorator in node.decorator_list:
            called = decorator
            if isinstance(called, ast.Call):
                called = called.func
            if text(called).rpartition(".")[2] != "dataclass":
                say("decorator", decorator, "@" + text(decorator))
        for statement in node.body:
            constant = isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant
            )
            if not constant and not isinstance(statement, _IN_CLASS):
                say("class_body", statement, text(statement))


def _finding(rule: Rule, place: _Place, what: str) -> Finding:
    finding = Finding(
        "illegal",
        f"nki.strict.{rule.id}",
        rule.message.format(what=what),
        remedy=rule.instead,
    )
    # Its constructor takes no severity, place or reference; its pickled form
    # is the JSON report, which has them.
    state = json.loads(finding.to_json())
    state["severity"] = rule.severity
    state["source"] = str(place)
    state["reference"] = f"{rule.reference} ({rule.evidence})"
    made = Finding.__new__(Finding)
    made.__setstate__(json.dumps(state))
    return made


def _plain(value: Any) -> Any:
    """The function of a static or class method, or of a property."""
    value = getattr(value, "__func__", None) or value
    return unwrapped(getattr(value, "fget", None) or value)


def _has_base(cls: type) -> bool:
    if cls.__bases__ == (tuple,):  # NamedTuple is no class of its own
        return hasattr(cls, "_fields")
    return len(cls.__bases__) == 1 and cls.__bases__[0].__name__ in _BASES


def _is_array(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return True
    other = root_of(type(value)) in ("torch", "jax", "jaxlib")
    return other and hasattr(value, "shape") and hasattr(value, "dtype")


def _tensors(node: Function) -> dict[str, str]:
    """The parameters of a kernel that say that they are tensors."""
    return {
        p.arg: "tensor"
        for p in parameters(node)
        if p.annotation is not None
        and text(p.annotation).endswith((".ndarray", ".tensor", "NkiTensor"))
    }
