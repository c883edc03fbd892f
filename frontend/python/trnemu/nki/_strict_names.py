"""What names and expressions of a kernel stand for, as its source tells.

The lint of _strict.py does not run the kernel. Names resolve through the
function's globals and closure to the objects they are now, as the device's
front end resolves them; of local variables it knows the kind where every
assignment agrees, and nothing otherwise: in doubt, no finding.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any

MISSING = object()

_NKI = frozenset(("nki", "trnemu", "neuronxcc"))
# Not the user's own code: neither followed nor, but for these, callable.
FOREIGN = (
    frozenset(sys.stdlib_module_names)
    | _NKI
    | frozenset(
        "builtins numpy ml_dtypes torch torch_xla torch_neuronx jax jaxlib "
        "scipy pytest _pytest".split()
    )
)

_REGISTERS = frozenset(
    (
        "register_alloc",
        "rank_id",
        "collective_permute_implicit_current_processing_rank_id",
    )
)
_TENSORS = frozenset(
    "ndarray zeros ones full zeros_like empty_like rand load "
    "load_transpose2d shared_constant shared_identity_matrix".split()
)
_VIEWS = frozenset(
    "ap reshape slice select permute broadcast expand_dim squeeze_dim "
    "reshape_dim flatten_dims rearrange view vector_select indirect".split()
)
DEVICE_LOOPS = frozenset(("fori_loop", "while_loop"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_SELF = ast.Name(id="", ctx=ast.Load())  # "as before", of an augmented one


def root_of(value: object) -> str:
    """The top-level module that value, or else its type, is from."""
    try:
        module = getattr(value, "__module__", None)
    except Exception:  # an object's own __getattr__
        module = None
    if not isinstance(module, str):
        module = type(value).__module__
    if isinstance(value, types.ModuleType):
        module = value.__name__
    return module.partition(".")[0]


def within(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below node, without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from within(child)


def parameters(node: Function) -> list[ast.arg]:
    """All parameters, in the order of the signature."""
    a = node.args
    several = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return several + [x for x in (a.vararg, a.kwarg) if x is not None]


class Names:
    """The names of one function.

    Raises nothing: what cannot be told is MISSING, or of kind None. kinds
    gives those of parameters; parent is the enclosing function's, of a body
    of a device loop.
    """

    def __init__(
        self,
        node: Function,
        function: types.FunctionType,
        kinds: dict[str, str] | None = None,
        parent: Names | None = None,
    ) -> None:
        self._globals = function.__globals__
        self._free = dict[str, object]()
        free, cells = function.__code__.co_freevars, function.__closure__
        for name, cell in zip(free, cells or (), strict=True):
            try:
                self._free[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                self._free[name] = MISSING
        self._parent = parent
        self._busy = set[str]()
        self._fixed = dict(kinds or {})
        self._values: dict[str, list[ast.expr | None]] = {}
        self._declared = set[str]()
        for parameter in parameters(node):
            if parameter.arg not in self._fixed:
                self._put(parameter.arg, None)
        for inner in within(node):
            self._collect(inner)
        self._collect_loops(node)
        self._bodies = dict(self._loop_bodies(node))

    def _put(self, name: str, value: ast.expr | None) -> None:
        self._values.setdefault(name, []).append(value)

    def _collect(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._put(target.id, node.value)
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.value is not None:
                self._put(node.target.id, node.value)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                self._put(node.target.id, _SELF)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self._declared.update(node.names)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._put(node.name, None)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self._put((alias.asname or alias.name).split(".")[0], None)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._put(node.name, None)

    def _collect_loops(self, node: Function) -> None:
        # Every other store is one whose value is not known: of a tuple, a
        # loop, a with, a comprehension. A loop over nl.dynamic_range counts
        # in a register.
        known = set[int]()
        for inner in within(node):
            if isinstance(inner, ast.Assign):
                known.update(id(t) for t in inner.targets)
            elif isinstance(inner, (ast.AnnAssign, ast.AugAssign)):
                known.add(id(inner.target))
            elif isinstance(inner, ast.For):
                call = inner.iter
                if (
                    isinstance(inner.target, ast.Name)
                    and isinstance(call, ast.Call)
                    and self.nki_name(call.func) == "dynamic_range"
                ):
                    known.add(id(inner.target))
                    if inner.target.id not in self._values:
                        self._fixed[inner.target.id] = "register"
        for inner in within(node):
            if (
                isinstance(inner, ast.Name)
                and isinstance(inner.ctx, ast.Store)
                and id(inner) not in known
            ):
                self._put(inner.id, None)

    def _loop_bodies(self, node: Function) -> Iterator[tuple[str, str]]:
        for call in within(node):
            if isinstance(call, ast.Call):
                loop = self.nki_name(call.func)
                if loop in DEVICE_LOOPS:
                    for argument in (*call.args, *call.keywords):
                        if isinstance(argument, ast.keyword):
                            argument = argument.value
                        if isinstance(argument, ast.Name):
                            yield argument.id, loop

    def loop_of_body(self, name: str) -> str:
        """fori_loop or while_loop if the inner function is a body of one."""
        return self._bodies.get(name, "")

    def free_names(self) -> frozenset[str]:
        """Variables of the functions around the kernel that it uses."""
        return frozenset(self._free) if self._parent is None else frozenset()

    def is_local(self, name: str) -> bool:
        """Whether the function, or one around it, assigns the name."""
        if name in self._declared:
            return False
        if name in self._values or name in self._fixed:
            return True
        return self._parent is not None and self._parent.is_local(name)

    def resolve(self, node: ast.expr) -> Any:
        """The object a name, or an attribute of a module or class, is."""
        if isinstance(node, ast.Name):
            if self.is_local(node.id):
                return MISSING
            if node.id in self._free:
                return self._free[node.id]
            if node.id in self._globals:
                return self._globals[node.id]
            return getattr(builtins, node.id, MISSING)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if isinstance(base, (types.ModuleType, type)):
                try:
                    return getattr(base, node.attr, MISSING)
                except Exception:  # a module may load lazily, and fail
                    return MISSING
        return MISSING

    def module_of(self, node: ast.expr) -> str:
        """The top-level module an attribute is reached through, or ""."""
        while isinstance(node, ast.Attribute):
            node = node.value
            base = self.resolve(node)
            if isinstance(base, types.ModuleType):
                return root_of(base)
        return ""

    def nki_name(self, node: ast.expr) -> str:
        """The last name of a function of nki, or ""."""
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if isinstance(base, types.ModuleType) and root_of(base) in _NKI:
                return node.attr
        target = self.resolve(node)
        if target is not MISSING and root_of(target) in _NKI:
            return str(getattr(target, "__name__", ""))
        return ""

    def builtin_name(self, node: ast.expr) -> str:
        """The name of a built-in function or type, or ""."""
        target = self.resolve(node)
        if root_of(target) != "builtins" or not callable(target):
            return ""
        return str(getattr(target, "__name__", ""))

    def kind(self, node: ast.expr) -> str | None:
        """register, tensor, list, dict, set, tuple, str, object, enum; None.

        enum is an Enum class, object an instance of a class of the user's.
        """
        match node:
            case ast.Name():
                return self._kind_of_name(node)
            case ast.List() | ast.ListComp():
                return "list"
            case ast.Dict() | ast.DictComp():
                return "dict"
            case ast.Set() | ast.SetComp():
                return "set"
            case ast.Tuple():
                return "tuple"
            case ast.JoinedStr():
                return "str"
            case ast.Constant(value=str()):
                return "str"
            case ast.Attribute():
                return kind_of(self.resolve(node))
            case ast.Subscript():
                base = self.kind(node.value)
                return base if base == "tensor" else None
            case ast.IfExp():
                first, second = self.kind(node.body), self.kind(node.orelse)
                return first if first == second else None
            case ast.Call():
                return self._kind_of_call(node)
        return None

    def _kind_of_name(self, node: ast.Name) -> str | None:
        name = node.id
        if name in self._fixed:
            return None if name in self._values else self._fixed[name]
        if name not in self._values:
            if self._parent is not None and self._parent.is_local(name):
                return self._parent.kind(node)
            return kind_of(self.resolve(node))
        if name in self._busy:
            return None
        self._busy.add(name)
        kinds = {
            None if value is None else self.kind(value)
            for value in self._values[name]
            if value is not _SELF
        }
        self._busy.discard(name)
        only = kinds.pop() if len(kinds) == 1 else None
        if only in ("register", "tensor") and _SELF in self._values[name]:
            return None
        return only

    def _kind_of_call(self, node: ast.Call) -> str | None:
        nki = self.nki_name(node.func)
        if nki in _REGISTERS:
            return "register"
        if nki in _TENSORS:
            return "tensor"
        builtin = self.builtin_name(node.func)
        if builtin in ("list", "dict", "tuple", "str", "set", "frozenset"):
            return builtin.removeprefix("frozen")
        if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            base = self.kind(node.func.value)
            return base if base == "tensor" else None
        target = self.resolve(node.func)
        if isinstance(target, type) and not issubclass(target, BaseException):
            if root_of(target) not in FOREIGN and kind_of(target) != "enum":
                return None if issubclass(target, tuple) else "object"
        return None


def kind_of(value: object) -> str | None:
    """The kind of a global value, as Names.kind() gives it."""
    for kind in (list, dict, tuple, str):
        if type(value) is kind:
            return kind.__name__
    if isinstance(value, (set, frozenset)):
        return "set"
    if isinstance(value, type):
        return "enum" if issubclass(value, enum.Enum) else None
    own = value is not MISSING and root_of(type(value)) not in FOREIGN
    if own and not isinstance(value, (tuple, str, enum.Enum)):
        return "object"
    return None


def unwrapped(value: Any) -> Any:
    """What a jitted or wrapped function is about."""
    try:
        return inspect.unwrap(value)
    except Exception:  # a cycle, or an object's own __getattr__
        return value

