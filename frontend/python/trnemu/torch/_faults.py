"""What the PyTorch front end says when it cannot lower a module."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from trnemu._fault import Fault, fault_of
from trnemu._trnemu import Finding
from trnemu.torch._tensors import describe

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')
_NOT_THE_USERS = (
    os.path.dirname(torch.__file__) + os.sep,
    os.path.dirname(os.path.dirname(__file__)) + os.sep,
)

_T = TypeVar("_T")


@dataclass(frozen=True)
class Place:
    """A line of the user's."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


def innermost(frames: Sequence[Place]) -> Place | None:
    """The last of `frames` that is neither torch's nor ours."""
    users = [
        f
        for f in frames
        if not f.file.startswith(_NOT_THE_USERS) and not f.file.startswith("<")
    ]
    return users[-1] if users else None


def places_in(text: str) -> list[Place]:
    """The frames that a traceback's text shows."""
    return [Place(m["file"], int(m["line"]), m["name"]) for m in _FRAME.finditer(text)]


def place_of(node: torch.fx.Node) -> Place | None:
    """The user's line that a graph node comes from. None if all of its frames
    are torch's: in an nn.Sequential nobody wrote a forward()."""
    return innermost(places_in(node.meta.get("stack_trace") or ""))


def module_of(node: torch.fx.Node) -> str:
    """ "net.2 (GELU)": the submodule that a graph node belongs to, or ""."""
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return ""
    path, kind = list(stack.values())[-1]
    kind = kind if isinstance(kind, str) else kind.__name__
    return f"{path or 'the module'} ({kind.rpartition('.')[2]})"


def called_from(place: Place | None, call: Callable[[], _T]) -> _T:
    """call(), as though the line `place` had made the call, so that what it
    builds or raises carries the user's line."""
    if place is None:
        return call()
    code = compile("call()", place.file, "eval").replace(
        co_name=place.function,
        co_qualname=place.function,
        co_firstlineno=place.line,
    )
    return eval(code, {"call": call})


def operator_name(node: torch.fx.Node) -> str:
    """ "aten.sort.default"."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return target.name()
    return getattr(target, "__name__", str(target))


def signature(node: torch.fx.Node) -> str:
    """ "float32[4, 10] -> float32[4, 10], int64[4, 10]"."""

    def text(values: Any) -> str:
        found: list[str] = []

        def visit(value: Any) -> None:
            if isinstance(value, torch.fx.Node):
                visit(value.meta.get("val"))
            elif isinstance(value, (list, tuple)):
                for v in value:
                    visit(v)
            elif isinstance(value, torch.Tensor):
                found.append(describe(value))

        visit(values)
        return ", ".join(found) or "nothing"

    return f"{text(node.args)} -> {text(node.meta.get('val'))}"


@dataclass(frozen=True)
class Problem:
    """Why one graph node cannot be lowered."""

    id: str
    node: torch.fx.Node
    reason: str  # continues "aten.sort.default (...)"
    remedy: str

    def sentence(self) -> str:
        """What is wrong, without where."""
        return (
            f"{operator_name(self.node)} ({signature(self.node)}) "
            f"{self.reason}: graph node {self.node.name}"
        )

    def located(self) -> str:
        """What is wrong, and where."""
        where = place_of(self.node)
        module = module_of(self.node)
        text = self.sentence()
        if module:
            text += f", in {module}"
        if where:
            text += f", at {where}"
        return text


def make_fault(
    id: str,
    message: str,
    *,
    category: str = "unsupported",
    place: Place | None = None,
    operation: str = "",
    operand: str = "",
    remedy: str = "",
    details: dict[str, str] | None = None,
    related: Sequence[str] = (),
) -> Fault:
    """A Fault of the PyTorch front end."""
    finding = called_from(
        place,
        lambda: Finding(
            category,
            id,
            message,
            operation=operation,
            operand=operand,
            remedy=remedy,
        ),
    )
    # What its constructor does not take, its pickled form does.
    state = json.loads(finding.to_json())
    state |= {"details": details or {}, "related": list(related)}
    finding = Finding.__new__(Finding)
    finding.__setstate__(json.dumps(state))
    return fault_of(finding)


def fault_of_problems(problems: Sequence[Problem], target: str) -> Fault:
    """One Fault for everything in a graph that cannot be lowered."""
    first, others = problems[0], problems[1:]
    message = first.sentence()
    if others:
        names = sorted({operator_name(p.node) for p in others})
        message += (
            f"; {len(others)} more graph node{'s' * (len(others) > 1)} cannot be "
            f"lowered: {', '.join(names)}"
        )
    details = {
        "operator": operator_name(first.node),
        "types": signature(first.node),
        "graph node": first.node.name,
        "target": target,
    }
    if module := module_of(first.node):
        details["module"] = module
    return make_fault(
        first.id,
        message,
        place=place_of(first.node),
        operation=operator_name(first.node),
        operand=first.node.name,
        remedy=first.remedy,
        details=details,
        related=[p.located() for p in others],
    )
