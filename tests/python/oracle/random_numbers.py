"""Generators of random bits, and what draws from them.

state.rng["vector"] is (128,) xorshift32 words before gen4 and (128, 4, 6)
XORWOW words on gen4; state.rng["gpsimd"] is (128, 1, 6). A lane is the
absolute partition. Sources: numerics.md 11 and 15 (12, 13, 21); the rest is
decided in DECISIONS_2.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.types import LANES, Array, State, T
from reference import F32, carrier, cast, widen

GOLDEN = 0x9E3779B9
MIX = 0x85EBCA6B
WORD = 0xFFFFFFFF


def words(x: Array) -> Array:
    """The low 32 bits of uint64 values."""
    return (x & WORD).astype(np.uint32)


def reset(gen: int, engine: str) -> Array:
    """The state before any seed."""
    lane = np.arange(LANES, dtype=np.uint64)
    if engine == "vector" and gen < 4:
        return words(GOLDEN * (lane + 1))
    streams = 4 if engine == "vector" else 1
    word = np.arange(streams * 6, dtype=np.uint64)
    index = lane[:, None] * (streams * 6) + word + 1
    return words(GOLDEN * index).reshape(LANES, streams, 6)


def generator(gen: int, state: State, engine: str) -> Array:
    """The engine's state, which draws change in place."""
    if engine not in state.rng:
        state.rng[engine] = reset(gen, engine)
    return state.rng[engine]


def xorshift(s: Array) -> Array:
    """One step of each lane; gives the new words."""
    s = s ^ (s << np.uint32(13))
    s = s ^ (s >> np.uint32(17))
    return s ^ (s << np.uint32(5))


def xorwow(s: Array) -> tuple[Array, Array]:
    """Marsaglia 2003 over (..., 6) words x, y, z, w, v, d: state, output."""
    x, y, z, w, v, d = np.moveaxis(s, -1, 0)
    t = x ^ (x >> np.uint32(2))
    new = (v ^ (v << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
    d = d + np.uint32(362437)
    return np.stack([y, z, w, v, new, d], -1), new + d


def lanes_of(tile: T) -> slice:
    """Absolute partitions."""
    return slice(tile.start, tile.start + len(tile.values))


def draw(gen: int, state: State, engine: str, tile: T) -> Array:
    """uint32 (P, F): one word an element in access order, element i of a row
    from stream i % streams."""
    lanes, count = lanes_of(tile), tile.flat.shape[1]
    s = generator(gen, state, engine)
    out = np.empty((len(tile.values), count), np.uint32)
    with np.errstate(over="ignore"):
        for i in range(count):
            if s.ndim == 1:
                s[lanes] = out[:, i] = xorshift(s[lanes])
            else:
                k = i % s.shape[1]
                s[lanes, k], out[:, i] = xorwow(s[lanes, k])
    return out


def per_partition(x: T | float) -> Array:
    """fp32 (P, 1) of a tile, or a number."""
    if isinstance(x, T):
        return widen(x.flat, x.dtype)
    return np.full((1, 1), x, F32)


def rng(
    gen: int, state: State, *, dst: T, engine: str = "vector", **_: Any
) -> dict[str, Array]:
    """The low bytes of a word an element."""
    kind = carrier(dst.dtype)
    low = draw(gen, state, engine, dst).astype(f"u{kind.itemsize}")
    return {"dst": low.view(kind).reshape(dst.values.shape)}


def rand2(
    gen: int, state: State, *, dst: T, min: T | float, max: T | float, **_: Any
) -> dict[str, Array]:
    """min + u * (max - min), u = r * 2^-32, each step rounded to fp32."""
    u = draw(gen, state, "vector", dst).astype(F32) * F32(2.0**-32)
    low, high = per_partition(min), per_partition(max)
    with np.errstate(all="ignore"):
        value = low + u * (high - low)
    return {"dst": cast(value, dst.dtype).reshape(dst.values.shape)}


def dropout(
    gen: int, state: State, *, dst: T, data: T, prob: T | float, **_: Any
) -> dict[str, Array]:
    """0 where u < prob, else data's bits; u in [0, 1), 24 bits of a word."""
    r = draw(gen, state, "vector", dst) >> np.uint32(8)
    drop = r.astype(F32) * F32(2.0**-24) < per_partition(prob)
    zero = np.zeros((), carrier(dst.dtype))
    return {"dst": np.where(drop, zero, data.flat).reshape(dst.values.shape)}


def set_rng_seed(
    gen: int, state: State, *, src_seeds: T, **_: Any
) -> dict[str, Array]:
    """The raw 32 bits of the seed, the same for every lane."""
    seed = int(np.ascontiguousarray(src_seeds.flat).view(np.uint32)[0, 0])
    s = generator(gen, state, "vector")
    if gen < 4:
        s[:] = seed or GOLDEN
        return {}
    k = np.arange(24, dtype=np.uint64)
    base = np.uint64(seed * GOLDEN & WORD)
    stream = words(base + k * np.uint64(MIX)).reshape(4, 6)
    dead = ~stream[:, :5].any(axis=1)
    stream[dead, 0] = 1
    s[:] = stream
    return {}


def rand_set_state(
    gen: int, state: State, *, src_seeds: T, engine: str = "gpsimd", **_: Any
) -> dict[str, Array]:
    """x, y, z, w, v, d of each stream: the tile's lanes."""
    s = generator(gen, state, engine)
    s[lanes_of(src_seeds)] = src_seeds.flat.reshape(-1, *s.shape[1:])
    return {}


def rand_get_state(
    gen: int, state: State, *, dst: T, engine: str = "gpsimd", **_: Any
) -> dict[str, Array]:
    s = generator(gen, state, engine)[lanes_of(dst)]
    return {"dst": s.reshape(dst.values.shape).copy()}


OPERATIONS = {
    "rng": rng,
    "rand2": rand2,
    "dropout": dropout,
    "set_rng_seed": set_rng_seed,
    "rand_set_state": rand_set_state,
    "rand_get_state": rand_get_state,
}
