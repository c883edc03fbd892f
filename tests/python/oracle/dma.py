"""DMA: dma_copy, dma_transpose, dma_compute.

Dynamic addressing is part of an operand: its step (Rows, Shifted) says where
each element lies, -1 where an index is out of range (oob_mode skip: that
element's transfer is dropped). Sources: isa.json, numerics.md 3, 10, 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.types import Array, State, T
from reference import F32, cast, widen

AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}  # isa.json dma_transpose


def in_bounds(operand: T) -> Array:
    """Elements that the transfer reaches."""
    if operand.where is None:
        return np.ones(operand.values.shape, bool)
    return operand.where >= 0


def dma_copy(
    gen: int, state: State, *, dst: T, src: T, **_: Any
) -> dict[str, Array]:
    """Element by element in access order; bits, or through fp32."""
    moved = src.values
    if src.dtype != dst.dtype:
        moved = cast(widen(moved, src.dtype), dst.dtype)
    shape = dst.values.shape
    reached = in_bounds(src).reshape(shape)
    return {"dst": np.where(reached, moved.reshape(shape), dst.values)}


def dma_transpose(
    gen: int, state: State, *, dst: T, src: T,
    axes: Sequence[int] | None = None, **_: Any,
) -> dict[str, Array]:
    """dst = permute(src, axes), bits; an indirect src is gathered first."""
    order = tuple(axes) if axes is not None else AXES[src.values.ndim]
    reached = in_bounds(src).transpose(order)
    return {"dst": np.where(reached, src.values.transpose(order), dst.values)}


def dma_compute(
    gen: int, state: State, *, dst: T, srcs: Sequence[T],
    reduce_op: str = "add", **_: Any,
) -> dict[str, Array]:
    """cast(((srcs[0] + srcs[1]) + srcs[2]) ...), in fp32.

    Read-modify-write is the case where a source is dst's own rows.
    """
    shape = dst.values.shape
    total: Array | None = None
    reached = in_bounds(dst)
    with np.errstate(all="ignore"):
        for src in srcs:
            x = widen(src.values, src.dtype).reshape(shape)
            total = x if total is None else (total + x).astype(F32)
            reached = reached & in_bounds(src).reshape(shape)
    assert total is not None
    return {"dst": np.where(reached, cast(total, dst.dtype), dst.values)}


OPERATIONS = {
    "dma_copy": dma_copy,
    "dma_transpose": dma_transpose,
    "dma_compute": dma_compute,
}
