"""The table of lowerings: which ATen operator becomes which instructions.

A lowering is a function `f(ctx, node, *args, **kwargs) -> Value`, called with
the operator's arguments, graph nodes replaced by their Values:

    @lowering(aten.neg.default, layout="same")
    def neg(ctx, node, x):
        return elementwise(ctx, node, [x], lambda dst, t: ctx.b.tensor_scalar(
            dst=dst, data=t, op0="multiply", operand0=-1.0, name=node.name))

`layout` says how it likes its tensor arguments to lie (docs/pytorch.md):
"rows", "features", "same" (as its own result) or "flipped". `check(node)` gives
the reason why a particular use cannot be lowered, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Layouts = str | tuple[str, ...]
Check = Callable[[torch.fx.Node], "str | None"]


@dataclass(frozen=True)
class Lowering:
    """A row of the table."""

    operator: torch._ops.OpOverload
    function: Callable[..., Any]
    layout: Layouts
    check: Check | None
    note: str

    def layout_of(self, argument: int) -> str:
        """How it likes argument number `argument` to lie."""
        if isinstance(self.layout, str):
            return self.layout
        return self.layout[argument]


_TABLE: dict[Any, Lowering] = {}


def lowering(
    *operators: torch._ops.OpOverload,
    layout: Layouts = "rows",
    check: Check | None = None,
    note: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as the lowering of ATen overloads. `note` is what
    docs/pytorch.md says of them."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for operator in operators:
            if operator in _TABLE:
                raise ValueError(f"{operator} has a lowering already")
            _TABLE[operator] = Lowering(operator, function, layout, check, note)
        return function

    return register


def find(operator: Any) -> Lowering | None:
    """The lowering of an operator, if there is one."""
    return _TABLE.get(operator)


def operators() -> dict[str, str]:
    """What lowers: "aten.addmm.default" -> a remark, sorted."""
    return {
        str(op): row.note for op, row in sorted(_TABLE.items(), key=lambda i: str(i[0]))
    }
