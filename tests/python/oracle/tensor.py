"""The tensor engine: nc_matmul, nc_transpose, and the partition reduction.

Sources: decisions.md "The rule" (order of additions), numerics.md 5, isa.json.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.types import Array, State, T
from reference import BINARY, BITWISE, F32, bits, carrier, cast, widen

GROUP = 32  # physical rows of a chain: decisions.md
WIDE = ("float32", "tfloat32")
Rows = list[tuple[Array, Array]]  # (stationary row, moving row), fp64


def chain(rows: Rows, shape: tuple[int, int]) -> Array:
    """Ascending fp32 multiply-adds from +0.

    The products are exact in fp64, and so is a 24-bit product plus a 24-bit
    sum unless one is too small to decide the rounding to fp32.
    """
    total = np.zeros(shape, F32)
    with np.errstate(all="ignore"):
        for a, b in rows:
            total = (total + a[:, None] * b[None, :]).astype(F32)
    return total


def column(groups: list[Rows], shape: tuple[int, int]) -> Array:
    """One chain a group of rows, the groups added in order in fp32."""
    total = chain(groups[0], shape)
    with np.errstate(all="ignore"):
        for rows in groups[1:]:
            total = total + chain(rows, shape)
    return total


def grouped(a: Array, b: Array) -> list[Rows]:
    """Groups of 32 physical rows of (K, R, M) and (K, R, N) operands.

    Inside a group the logical rows r*K + k ascend: decisions.md.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    return [
        [
            (a[k, r], b[k, r])
            for r in range(a.shape[1])
            for k in range(first, min(first + GROUP, len(a)))
        ]
        for first in range(0, len(a), GROUP)
    ]


def halves(x: Array) -> tuple[Array, Array]:
    """12 + 12 bits by truncation; of a value not finite, itself and 0."""
    u = np.ascontiguousarray(x).view(np.uint32)
    hi = (u & np.uint32(0xFFFFF000)).view(F32)
    hi = np.where(np.isfinite(x), hi, x)
    with np.errstate(invalid="ignore"):
        return hi, np.where(np.isfinite(x), x - hi, F32(0))


def passes(a: T, b: T, rows: int = 1) -> list[Array]:
    """What each pass of the array adds into PSUM.

    rows is 2 in double_row. fp32 takes LO, then HI of the stationary tile;
    a float32 with a tfloat32 counts as fp32 (numerics.md of this project).
    """
    k = len(a.values)
    fa = widen(a.values, a.dtype).reshape(k, rows, -1)
    fb = widen(b.values, b.dtype).reshape(k, rows, -1)
    shape = fa.shape[2], fb.shape[2]
    if "float32" not in (a.dtype, b.dtype):
        return [column(grouped(fa, fb), shape)]
    a_hi, a_lo = halves(fa)
    b_hi, b_lo = halves(fb)
    with np.errstate(all="ignore"):
        return [
            column(grouped(s, b_lo), shape) + column(grouped(s, b_hi), shape)
            for s in (a_lo, a_hi)
        ]


def write(dst: T, parts: list[Array], accumulate: bool | None) -> Array:
    """Adds the passes into PSUM, each with one rounding to dst's dtype.

    accumulate=None adds to the elements that a matmul wrote last since the
    PsumReset (decisions.md); afterwards a matmul wrote all of them. The first
    pass overwrites where nothing is added, the second always adds.
    """
    shape = dst.values.shape
    if accumulate is not None:
        add = np.full(shape, accumulate)
    elif dst.by_matmul is not None:
        add = dst.by_matmul.astype(bool)
    else:
        add = np.zeros(shape, bool)
    values = dst.values
    with np.errstate(all="ignore"):
        for part in parts:
            part = part.reshape(shape)
            total = np.where(add, widen(values, dst.dtype) + part, part)
            values = cast(total, dst.dtype)
            add = np.ones(shape, bool)
    dst.by_matmul = np.ones(shape, bool)
    return values


def moved_bits(values: Array, dst: T) -> Array:
    """Bits into dst's carrier; 8-bit data zero-extends to 16 bits."""
    kind = carrier(dst.dtype)
    raw = bits(np.ascontiguousarray(values)).astype(f"u{kind.itemsize}")
    return raw.view(kind).reshape(dst.values.shape)


def nc_matmul(
    gen: int, state: State, *, dst: T, stationary: T, moving: T,
    is_transpose: bool = False, accumulate: bool | None = None,
    perf_mode: str = "none", **_: Any,
) -> dict[str, Array]:
    """stationary^T moving. The onezero hints and the array tile's place
    change no value (isa.json: speed only; operands follow the tile)."""
    if is_transpose and gen >= 3:
        dst.by_matmul = np.ones(dst.values.shape, bool)
        return {"dst": moved_bits(stationary.flat.T, dst)}
    rows = 2 if perf_mode == "double_row" else 1
    return {"dst": write(dst, passes(stationary, moving, rows), accumulate)}


def nc_transpose(
    gen: int, state: State, *, dst: T, data: T, engine: str = "unknown",
    **_: Any,
) -> dict[str, Array]:
    """dst[f, p] = data[p, f].

    On gen2's tensor engine a matmul with the identity, so that NaN and
    infinity spread (behaviours.md 5); in a single pass, since that row gives
    inf * 1 = inf for fp32 too. Otherwise bits.
    """
    if engine == "unknown":
        engine = "tensor" if dst.space == "psum" else "vector"
    if engine == "tensor":
        dst.by_matmul = np.ones(dst.values.shape, bool)
    if engine == "vector" or gen >= 3:
        return {"dst": moved_bits(data.flat.T, dst)}
    x = widen(data.flat, data.dtype)[:, None, :]
    one = np.eye(len(x), dtype=F32)[:, None, :]
    total = column(grouped(x, one), (x.shape[2], len(x)))
    return {"dst": cast(total, dst.dtype).reshape(dst.values.shape)}


def tensor_partition_reduce(
    gen: int, state: State, *, dst: T, op: str, data: T, **_: Any
) -> dict[str, Array]:
    """Over the partitions in order, in fp32, one cast; bitwise on raw bits.

    Order and dtype rules are not documented: numerics.md 15.8 and 3 (gpsimd
    arithmetic reads fp32). average divides the sum by P, rounded to fp32.
    """
    rows = data.flat
    if op in BITWISE:
        total = rows[0]
        for row in rows[1:]:
            total = BITWISE[op](total, row)
        return {"dst": moved_bits(total, dst)}
    rows = widen(rows, data.dtype)
    combine = BINARY["add" if op == "average" else op]
    total = rows[0]
    with np.errstate(all="ignore"):
        for row in rows[1:]:
            total = combine(total, row)
        if op == "average":
            total = total / F32(len(rows))
    return {"dst": cast(total, dst.dtype).reshape(dst.values.shape)}


OPERATIONS = {
    "nc_matmul": nc_matmul,
    "nc_transpose": nc_transpose,
    "tensor_partition_reduce": tensor_partition_reduce,
}
