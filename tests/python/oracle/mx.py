"""Microscaling formats: quantize_mx and nc_matmul_mx (gen4).

Sources: numerics.md 6 and 15 (14, 15), isa.json.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from oracle.tensor import GROUP, Rows, column, write
from oracle.types import Array, State, T
from reference import F32, carrier, cast, widen

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])  # numerics.md 6, OCP
ELEMENT = {
    "float8_e5m2_x4": ml_dtypes.float8_e5m2,
    "float8_e4m3fn_x4": ml_dtypes.float8_e4m3fn,
}
EMAX = {"float8_e5m2_x4": 15, "float8_e4m3fn_x4": 8}  # numerics.md 13


def unpack(packed: Array, dtype: str) -> Array:
    """fp64 values (..., 4) of packed elements, the low bits first."""
    packed = np.ascontiguousarray(packed)
    if dtype == "float4_e2m1fn_x4":
        code = packed[..., None] >> (4 * np.arange(4, dtype=np.uint16)) & 15
        return np.where(code & 8, -1.0, 1.0) * E2M1[code & 7]
    code = packed[..., None] >> (8 * np.arange(4, dtype=np.uint32)) & 255
    return code.astype(np.uint8).view(ELEMENT[dtype]).astype(np.float64)


def pack(elements: Array) -> Array:
    """uint32 containers of fp8 elements (..., 4), element 0 lowest."""
    code = elements.view(np.uint8).astype(np.uint32)
    return (code << (8 * np.arange(4, dtype=np.uint32))).sum(
        -1, dtype=np.uint32
    )


def scale_rows(partitions: int) -> Array:
    """Row of the scale view that belongs to each data partition."""
    p = np.arange(partitions)
    return 32 * (p // 32) + p % 32 // 8


def scale_values(codes: Array) -> Array:
    """2**(b - 127), NaN for 255, in fp64."""
    b = np.ascontiguousarray(codes).view(np.uint8).astype(np.int64)
    return np.where(b == 255, np.nan, np.ldexp(1.0, b - 127))


def scaled(data: T, scale: T) -> Array:
    """(K, 4, columns): element times scale, exact in fp64."""
    x = unpack(data.flat, data.dtype)
    s = scale_values(scale.flat[scale_rows(len(x)), : x.shape[1]])
    return (x * s[..., None]).transpose(0, 2, 1)


def nc_matmul_mx(
    gen: int, state: State, *, dst: T, stationary: T, moving: T,
    stationary_scale: T, moving_scale: T, accumulate: bool | None = None,
    **_: Any,
) -> dict[str, Array]:
    """Exact products of elements and scales, summed as in nc_matmul: chains
    over 32 partitions, in one the four elements of a partition together."""
    a = scaled(stationary, stationary_scale)
    b = scaled(moving, moving_scale)
    groups: list[Rows] = [
        [
            (a[p, j], b[p, j])
            for p in range(first, first + GROUP)
            for j in range(4)
        ]
        for first in range(0, len(a), GROUP)
    ]
    total = column(groups, (a.shape[2], b.shape[2]))
    return {"dst": write(dst, [total], accumulate)}


def shared_exponent(largest: Array, emax: int) -> Array:
    """floor(log2 a) - (Emax - 1), clamped to [-127, 127]; -127 for a == 0."""
    _, e = np.frexp(largest.astype(np.float64))
    exponent = np.clip(e - 1 - (emax - 1), -127, 127)
    return np.where(largest == 0, -127, exponent)


def quantize_mx(
    gen: int, state: State, *, dst: T, src: T, dst_scale: T, **_: Any
) -> dict[str, Array]:
    """Groups of 8 partitions x 4 elements; the rule of API 0.5 and later.

    Elements are divided by the scale, an exact fp32 product or one far below
    the format's smallest, and cast to nearest even. NaN and infinity give
    scale 0xFF (numerics.md 15.14); their elements are NaN here, documented
    nowhere. Scale rows between the used ones keep their bytes.
    """
    x = widen(src.flat)
    p, f = x.shape
    groups = x.reshape(p // 8, 8, f // 4, 4)
    with np.errstate(all="ignore"):
        largest = np.abs(groups).max(axis=(1, 3))
        bad = ~np.isfinite(largest)
        e = shared_exponent(np.where(bad, F32(1), largest), EMAX[dst.dtype])
        factor = np.where(bad, np.nan, np.ldexp(1.0, -e)).astype(F32)
        quotient = groups * factor[:, None, :, None]
    element = np.dtype(ELEMENT[dst.dtype]).name
    codes = cast(quotient.reshape(p, f // 4, 4), element)
    scales = dst_scale.flat.copy().view(np.uint8)
    scales[scale_rows(p)[::8]] = np.where(bad, 255, e + 127).astype(np.uint8)
    return {
        "dst": pack(codes).reshape(dst.values.shape),
        "dst_scale": scales.view(carrier(dst_scale.dtype)).reshape(
            dst_scale.values.shape
        ),
    }


OPERATIONS = {"nc_matmul_mx": nc_matmul_mx, "quantize_mx": quantize_mx}
