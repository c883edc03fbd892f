"""What only the gpsimd engine does: patterns, gathers, counting, top-k.

Sources: isa.json of each operation, numerics.md 3, 9 and 15 (9, 22).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.types import Array, State, T
from reference import BINARY, F32, cast, widen

Pattern = Sequence[Sequence[int]]
LANES = 16  # partitions of one gpsimd core: isa.json local_gather


def int32(x: Array) -> Array:
    """The low 32 bits: numerics.md 15.9."""
    return (np.asarray(x, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(
        np.int32
    )


def affine(
    partitions: int, pattern: Pattern, offset: int, channel_multiplier: int
) -> Array:
    """int32 (P, prod(num)): offset + p * channel_multiplier + the steps,
    outer first; p counts from the tile's first partition."""
    value = np.array(offset, np.int64)
    value = value + channel_multiplier * np.arange(partitions, dtype=np.int64)
    for step, count in pattern:
        value = value[..., None] + step * np.arange(count, dtype=np.int64)
    return int32(value).reshape(partitions, -1)


def from_int32(x: Array, dtype: str) -> Array:
    """int32 to a dtype: its bits for 32-bit integers, else through fp32 as
    every integer width change (numerics.md 3)."""
    if dtype in ("int32", "uint32"):
        return x.astype(np.int32).view(dtype)
    return cast(x.astype(F32), dtype)


def iota(
    gen: int, state: State, *, dst: T, pattern: Pattern, offset: int = 0,
    channel_multiplier: int = 0, **_: Any,
) -> dict[str, Array]:
    values = affine(len(dst.values), pattern, offset, channel_multiplier)
    return {"dst": from_int32(values, dst.dtype).reshape(dst.values.shape)}


def affine_select(
    gen: int, state: State, *, dst: T, pattern: Pattern,
    channel_multiplier: int, on_true_tile: T, on_false_value: float,
    cmp_op: str = "equal", offset: int = 0, **_: Any,
) -> dict[str, Array]:
    """on_true's bits (through fp32 where dtypes differ) or on_false_value,
    an fp32 number that is cast."""
    values = affine(len(dst.values), pattern, offset, channel_multiplier)
    true = BINARY[cmp_op](values.astype(np.int64), np.int64(0)) != 0
    taken = on_true_tile.flat
    if on_true_tile.dtype != dst.dtype:
        taken = cast(widen(taken, on_true_tile.dtype), dst.dtype)
    other = cast(np.array([on_false_value], F32), dst.dtype)[0]
    return {"dst": np.where(true, taken, other).reshape(dst.values.shape)}


def sequence_bounds(
    gen: int, state: State, *, dst: T, segment_ids: T, **_: Any
) -> dict[str, Array]:
    """Start and exclusive end of each run of equal ids; n and -1 where 0."""
    ids = segment_ids.flat[0]
    n = len(ids)
    start, end = [0] * n, [0] * n
    for i in range(n):
        if ids[i] == 0:
            start[i] = n
        elif i == 0:
            start[i] = 0
        else:
            start[i] = start[i - 1] if ids[i] == ids[i - 1] else i
    for i in reversed(range(n)):
        if ids[i] == 0:
            end[i] = -1
        elif i == n - 1:
            end[i] = n
        else:
            end[i] = end[i + 1] if ids[i] == ids[i + 1] else i + 1
    both = np.array([start, end], np.int32)
    return {"dst": from_int32(both, dst.dtype).reshape(dst.values.shape)}


def snake(rows: Array) -> Array:
    """s[i] = rows[i % 16, i // 16] of a group of 16 partitions."""
    return rows.T.reshape(-1)


def local_gather(
    gen: int, state: State, *, dst: T, src_buffer: T, index: T,
    num_elem_per_idx: int = 1, num_valid_indices: int | None = None, **_: Any,
) -> dict[str, Array]:
    """Each core gathers its 16 partitions by one list, in element offsets."""
    out = dst.flat.copy()
    src, wide = src_buffer.flat, np.arange(num_elem_per_idx)
    for first in range(0, len(src), LANES):
        group = slice(first, first + LANES)
        offsets = snake(index.flat[group])[:num_valid_indices].astype(int)
        out[group] = src[group][:, (offsets[:, None] + wide).reshape(-1)]
    return {"dst": out.reshape(dst.values.shape)}


def nc_n_gather(
    gen: int, state: State, *, dst: T, data: T, indices: T, **_: Any
) -> dict[str, Array]:
    """dst[p, j] = data[p].flat[indices[p].flat[j]]: bits."""
    taken = np.take_along_axis(
        data.flat, indices.flat.astype(np.int64), axis=1
    )
    return {"dst": taken.reshape(dst.values.shape)}


def nonzero_with_count(
    gen: int, state: State, *, dst: T, src: T, index_offset: int = 0,
    padding_val: int = -1, **_: Any,
) -> dict[str, Array]:
    """Partitions 0, 16, ... of the tile; the others keep dst."""
    out = dst.flat.copy()
    for p in range(0, len(out), LANES):
        found = np.flatnonzero(src.flat[p] != 0)
        out[p] = padding_val
        out[p, : len(found)] = int32(found + index_offset)
        out[p, -1] = len(found)
    return {"dst": out.reshape(dst.values.shape)}


def largest(values: Array, k: int) -> Array:
    """Indices of the k largest, ascending: NaN below all, -0 equal to 0, and
    of equals the lower index counts as the larger."""
    x = values.astype(F32)
    nan = np.isnan(x)
    order = np.lexsort((-np.arange(len(x)), np.where(nan, 0, x), ~nan))
    return order[len(x) - k :]


def topk(
    gen: int, state: State, *, val_dst: T, idx_dst: T, src: T, n: int, **_: Any
) -> dict[str, Array]:
    """The K largest of each group's snake, K = F(val_dst), in every partition
    of the group (DECISIONS_2.md)."""
    values, indices = val_dst.flat.copy(), idx_dst.flat.copy()
    for first in range(0, len(src.flat), LANES):
        group = slice(first, first + LANES)
        s = snake(src.flat[group])[:n]
        top = largest(s, values.shape[1])
        values[group], indices[group] = s[top], top
    return {
        "val_dst": values.reshape(val_dst.values.shape),
        "idx_dst": indices.reshape(idx_dst.values.shape),
    }


OPERATIONS = {
    "iota": iota,
    "affine_select": affine_select,
    "sequence_bounds": sequence_bounds,
    "local_gather": local_gather,
    "nc_n_gather": nc_n_gather,
    "nonzero_with_count": nonzero_with_count,
    "topk": topk,
}
