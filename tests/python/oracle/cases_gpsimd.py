"""Random legal uses of the operations that only gpsimd has."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.cases_tensor import (
    TARGET, Rng, any_bits, chance, everyday, free_shape, on_chip, pick,
    some_partitions, split, sprinkle,
)
from oracle.gpsimd import affine
from oracle.types import Array, Case
from reference import ANY, F32, cast

INT32 = 2**31


def _pattern(rng: Rng, large: bool) -> list[list[int]]:
    """One to four [step, count], outer first."""
    counts = free_shape(rng, int(pick(rng, (6, 64, 300))), 4)
    reach = INT32 - 1 if large else 300
    return [[int(rng.integers(-reach, reach)), n] for n in counts]


def _numbers(rng: Rng, large: bool) -> dict[str, Any]:
    """offset and channel_multiplier, left out at times."""
    reach = INT32 - 1 if large else 1000
    offset, step = (int(x) for x in rng.integers(-reach, reach, 2))
    numbers = {"offset": offset, "channel_multiplier": step}
    return {k: v for k, v in numbers.items() if chance(rng, 0.8)}


def _outputs(rng: Rng, dtype: str, p: int, count: int) -> Array:
    return any_bits(rng, dtype, (p, *split(rng, count)))


def iota(rng: Rng, gen: int) -> Case:
    """32-bit integers wrap at will; others get values below 2^24, where fp32
    and int32 agree."""
    dtype = str(pick(rng, (*ANY, "int32", "uint32")))
    large = dtype in ("int32", "uint32") and chance(rng, 0.4)
    pattern, p = _pattern(rng, large), some_partitions(rng)
    count = int(np.prod([n for _, n in pattern]))
    dst = on_chip(rng, _outputs(rng, dtype, p, count), dtype)
    attributes = {"pattern": pattern, **_numbers(rng, large)}
    return Case("iota", TARGET[gen], {"dst": dst}, attributes)


CMP = (
    "equal", "not_equal", "greater_equal", "greater", "less_equal", "less"
)
FALSE = (0.0, -0.0, 1.5, -9984.0, float("-inf"), float("inf"), -3.4028235e38)


def affine_select(rng: Rng, gen: int) -> Case:
    """Small steps, so that the comparisons fall both ways."""
    counts = free_shape(rng, 64, 4)
    pattern = [[int(rng.integers(-3, 4)), n] for n in counts]
    p, count = some_partitions(rng), int(np.prod(counts))
    numbers = {"channel_multiplier": int(rng.integers(-3, 4))}
    if chance(rng, 0.7):
        values = affine(p, pattern, 0, numbers["channel_multiplier"])
        numbers["offset"] = -int(rng.choice(values.reshape(-1)))
    dtype = out = str(pick(rng, ANY))
    data = any_bits(rng, dtype, (p, *split(rng, count)))
    if chance(rng, 0.5):
        out = str(pick(rng, ANY))
        data = everyday(rng, dtype, data.shape)
    attributes: dict[str, Any] = {
        "pattern": pattern, **numbers,
        "on_false_value": float(F32(pick(rng, FALSE))),
    }
    if chance(rng, 0.9):
        attributes["cmp_op"] = str(pick(rng, CMP))
    return Case("affine_select", TARGET[gen], {
        "dst": on_chip(rng, _outputs(rng, out, p, count), out),
        "on_true_tile": on_chip(rng, data, dtype),
    }, attributes)


def sequence_bounds(rng: Rng, gen: int) -> Case:
    """Runs of ids from 0 to 3, which may come back later."""
    dtypes = ("float32", "int32")
    dtype, out = str(pick(rng, dtypes)), str(pick(rng, dtypes))
    n = int(rng.integers(1, 65))
    runs = [np.full(int(rng.integers(1, 9)), rng.integers(0, 4))
            for _ in range(n)]
    ids = np.concatenate(runs)[None, :n].astype(dtype)
    return Case("sequence_bounds", TARGET[gen], {
        "dst": on_chip(rng, any_bits(rng, out, (1, 2, n)), out),
        "segment_ids": on_chip(rng, ids, dtype),
    })


def local_gather(rng: Rng, gen: int) -> Case:
    p = int(pick(rng, (16, 32, 64, 80, 128)))
    wide = int(pick(rng, (1, 1, 2, 4, 8, 16, 32)))
    columns = int(rng.integers(1, 5))
    count = 16 * columns
    size = int(rng.integers(wide, wide + 100))
    attributes: dict[str, Any] = {}
    if wide > 1 or chance(rng, 0.3):
        attributes["num_elem_per_idx"] = wide
    if chance(rng, 0.5):
        count = int(rng.integers(1, count + 1))
        attributes["num_valid_indices"] = count
    index = rng.integers(0, size - wide + 1, (p, columns)).astype(np.uint16)
    dtype = str(pick(rng, ANY))
    dst = any_bits(rng, dtype, (p, *pick(rng, (
        (count * wide,), (count, wide)
    ))))
    return Case("local_gather", TARGET[gen], {
        "dst": on_chip(rng, dst, dtype),
        "src_buffer": on_chip(rng, any_bits(rng, dtype, (p, size)), dtype),
        "index": on_chip(rng, index, "uint16"),
    }, attributes, tolerance="bits")


def nc_n_gather(rng: Rng, gen: int) -> Case:
    """At times more than the 512 elements of one instruction group."""
    p, free = some_partitions(rng), free_shape(rng, 64, 3)
    count = int(pick(rng, (1, int(rng.integers(1, 65)), 600)))
    dtype = str(pick(rng, ANY))
    size = int(np.prod(free))
    shape = (p, *split(rng, count))
    return Case("nc_n_gather", TARGET[gen], {
        "dst": on_chip(rng, any_bits(rng, dtype, shape), dtype),
        "data": on_chip(rng, any_bits(rng, dtype, (p, *free)), dtype),
        "indices": on_chip(
            rng, rng.integers(0, size, shape).astype(np.uint32), "uint32"
        ),
    }, tolerance="bits")


def nonzero_with_count(rng: Rng, gen: int) -> Case:
    """No NaN and no -0 in src: undefined. From trn2 on."""
    gen = max(gen, 3)
    p, t = some_partitions(rng), int(rng.integers(1, 65))
    dtype = str(pick(rng, ("float32", "int32")))
    x = everyday(rng, dtype, (p, t))
    if dtype == "float32" and chance(rng, 0.3):
        x = sprinkle(rng, x, (np.inf, 1e-45, -1e30), dtype)
    density = float(pick(rng, (0.0, 0.1, 0.5, 1.0)))
    x = np.where((rng.random((p, t)) < density) & (x != 0), x, x.dtype.type(0))
    attributes: dict[str, Any] = {}
    if chance(rng, 0.5):
        attributes["index_offset"] = int(rng.integers(-1000, 100000))
    if chance(rng, 0.5):
        attributes["padding_val"] = int(rng.integers(-INT32, INT32))
    return Case("nonzero_with_count", TARGET[gen], {
        "dst": on_chip(rng, any_bits(rng, "int32", (p, t + 1)), "int32"),
        "src": on_chip(rng, x, dtype),
    }, attributes)


def topk(rng: Rng, gen: int) -> Case:
    """Ties, zeros of both signs and NaN among them."""
    p = int(pick(rng, (16, 32, 48, 64, 128)))
    columns = int(rng.integers(1, 17))
    n = int(rng.integers(8, 16 * columns + 1))
    k = int(pick(rng, (1, min(8, n), int(rng.integers(1, n + 1)))))
    src = everyday(rng, "bfloat16", (p, columns))
    if chance(rng, 0.5):
        src = cast(rng.integers(-3, 4, (p, columns)).astype(F32), "bfloat16")
    if chance(rng, 0.3):
        src = sprinkle(
            rng, src, (np.nan, np.inf, -np.inf, -0.0, 0.0), "bfloat16"
        )
    return Case("topk", TARGET[gen], {
        "val_dst": on_chip(rng, any_bits(rng, "bfloat16", (p, k)), "bfloat16"),
        "idx_dst": on_chip(rng, any_bits(rng, "uint32", (p, k)), "uint32"),
        "src": on_chip(rng, src, "bfloat16"),
    }, {"n": n}, outputs=("val_dst", "idx_dst"))


GENERATORS = {
    "iota": iota,
    "affine_select": affine_select,
    "sequence_bounds": sequence_bounds,
    "local_gather": local_gather,
    "nc_n_gather": nc_n_gather,
    "nonzero_with_count": nonzero_with_count,
    "topk": topk,
}
