"""The operations table as data, and a method for each operation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trnemu import _trnemu

_LITERALS = {"None": None, "True": True, "False": False, "()": ()}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation. `values` are the names an enum takes,
    `spaces` and `dtypes` what a tile may be in and of; `role` is "in", "out"
    or "inout"."""

    name: str
    kind: str
    required: bool
    default: str
    role: str
    values: tuple[str, ...]
    spaces: tuple[str, ...]
    dtypes: tuple[str, ...]
    doc: str

    @property
    def default_value(self) -> Any:
        """The default as a Python value; inspect.Parameter.empty if none."""
        if self.required:
            return inspect.Parameter.empty
        if self.default in _LITERALS:
            return _LITERALS[self.default]
        if self.values:
            return self.default
        number = int if self.kind == "integer" else float
        return number(self.default)


@dataclass(frozen=True)
class Rule:
    """A constraint on an operation: `text` is its expression, `source` where it
    is documented."""

    id: str
    text: str
    source: str
    operand: str
    message: str
    remedy: str
    layer: str
    evidence: str
    severity: str
    category: str
    structural: bool


@dataclass(frozen=True)
class Operation:
    """A row of the operations table."""

    name: str
    signature: str
    summary: str
    semantics: str
    source: str
    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...]


def _read(row: dict[str, Any]) -> Operation:
    return Operation(
        **{
            **row,
            "parameters": tuple(Parameter(**p) for p in row["parameters"]),
            "rules": tuple(Rule(**r) for r in row["rules"]),
        }
    )


_TABLE: tuple[Operation, ...] = tuple(map(_read, _trnemu.operation_rows()))

_COMMON = (
    inspect.Parameter(
        "wait", inspect.Parameter.KEYWORD_ONLY, default=()
    ),
    inspect.Parameter(
        "signal", inspect.Parameter.KEYWORD_ONLY, default=()
    ),
)


def operations() -> tuple[Operation, ...]:
    """The operations table, in the order of the documentation."""
    return _TABLE


def doc_of(operation: Operation) -> str:
    """The docstring of an operation's method."""
    lines = [operation.summary, "", operation.semantics, ""]
    for p in operation.parameters:
        facts = [p.doc] if p.doc else []
        if p.spaces:
            facts.append("in " + " or ".join(p.spaces))
        lines.append(f"{p.name}: {'; '.join(facts)}" if facts else p.name)
    lines += [
        "wait: [(semaphore, n)] or [Wait(...)], before it starts",
        "signal: [(semaphore, k)] or [Signal(...)], when it is complete",
        "",
        "Raises Fault if a rule is broken, TypeError for a wrong argument.",
    ]
    if operation.source:
        lines += ["", f"Source: {operation.source}"]
    return "\n".join(lines)


def _method(index: int, operation: Operation) -> Callable[..., None]:
    """The method that adds operation number `index`."""

    def method(self: Any, /, *args: Any, **kwargs: Any) -> None:
        self._core.add(index, args, kwargs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own: Sequence[inspect.Parameter] = [
        inspect.Parameter(p.name, kind, default=p.default_value)
        for p in operation.parameters
    ]
    method.__name__ = operation.name
    method.__qualname__ = f"ProgramBuilder.{operation.name}"
    method.__doc__ = doc_of(operation)
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", kind), *own, *_COMMON]
    )
    return method


class OperationMethods:
    """A method for each row of the table; ProgramBuilder is one."""

    _core: _trnemu.Builder


# register_alloc gives a register, so that ProgramBuilder has a method of its
# own; branch is what loops become.
_NO_METHOD = ("register_alloc", "branch")

for _index, _operation in enumerate(_TABLE):
    if _operation.name in _NO_METHOD:
        continue
    setattr(OperationMethods, _operation.name, _method(_index, _operation))
