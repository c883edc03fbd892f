"""nki.typing: annotations of kernels' parameters. They check nothing."""

from __future__ import annotations

from types import GenericAlias
from typing import Any

__all__ = ["immutable", "mutable", "mutable_tensor", "tensor"]


class tensor:  # noqa: N801 (its name in nki.typing)
    """A tensor: `x: tensor`, or with a shape, `x: tensor[128, 512]`."""

    def __class_getitem__(cls, shape: Any) -> GenericAlias:
        return GenericAlias(cls, shape)


class mutable_tensor(tensor):  # noqa: N801
    """A tensor that the kernel writes."""


class mutable(mutable_tensor):  # noqa: N801
    """A tensor that the kernel writes."""


class immutable(tensor):  # noqa: N801
    """A tensor that the kernel only reads."""
