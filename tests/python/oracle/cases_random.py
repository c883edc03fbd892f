"""Random legal uses of the generators, always seeded first.

A sequence before any seed is undefined (isa.json rng), so a prelude seeds the
lanes that the operation draws from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.cases_tensor import (
    FP8, TARGET, Rng, any_bits, chance, everyday, free_shape, on_chip, pick,
    some_partitions,
)
from oracle.types import Array, Case, OperandSpec
from reference import ANY, F32, INTS, carrier, cast

FLOATS = (*FP8, "float8_e4m3fn", "float16", "bfloat16", "tfloat32", "float32")
SPACES = ("sbuf", "sbuf", "psum")


def _seed(rng: Rng, gen: int) -> Case:
    """set_rng_seed with any 32 bits, 0 among them."""
    dtype = str(pick(rng, ("int32", "uint32", "float32", "tfloat32")))
    word = 0 if chance(rng, 0.1) else int(rng.integers(0, 2**32))
    if dtype == "tfloat32":
        word &= 0xFFFFE000
    seed = np.array([[word]], np.uint32).view(carrier(dtype))
    seeds = on_chip(rng, seed, dtype, str(pick(rng, SPACES)))
    return Case("set_rng_seed", TARGET[gen], {"src_seeds": seeds}, outputs=())


def _set_state(rng: Rng, gen: int, engine: str, p: int, start: int) -> Case:
    """rand_set_state of p lanes; its words are all odd, so never all zero."""
    words = rng.integers(0, 2**32, (p, 6 if engine == "gpsimd" else 24))
    seeds = on_chip(rng, (words | 1).astype(np.uint32), "uint32", start=start)
    attributes = {"engine": engine}
    if engine == "gpsimd" and chance(rng, 0.5):
        attributes = {}
    return Case(
        "rand_set_state", TARGET[gen], {"src_seeds": seeds}, attributes, [], ()
    )


def _seeded(rng: Rng, gen: int, dst: OperandSpec, engine: str) -> Case:
    """What gives the lanes of dst a known state."""
    p = len(dst.where())
    if engine == "gpsimd" or (gen >= 4 and chance(rng, 0.5)):
        return _set_state(rng, gen, engine, p, dst.start)
    return _seed(rng, gen)


def _draws(
    rng: Rng, gen: int, engine: str, space: str, p: int, start: int,
    free: tuple[int, ...],
) -> Case:
    """rng into integers."""
    dtype = str(pick(rng, tuple(INTS)))
    attributes = {"engine": engine}
    if engine == "vector" and chance(rng, 0.5):
        attributes = {}
    dst = on_chip(
        rng, any_bits(rng, dtype, (p, *free)), dtype, space, start
    )
    return Case("rng", TARGET[gen], {"dst": dst}, attributes)


def _tile(
    rng: Rng, dtypes: tuple[str, ...], space: str
) -> tuple[str, OperandSpec]:
    """A destination of any shape."""
    dtype = str(pick(rng, dtypes))
    shape = some_partitions(rng), *free_shape(rng, 40)
    return dtype, on_chip(rng, any_bits(rng, dtype, shape), dtype, space)


def rng(rng: Rng, gen: int) -> Case:
    """Also the second of two draws, which goes on where the first stopped."""
    engine = "gpsimd" if gen >= 3 and chance(rng, 0.4) else "vector"
    space = "sbuf" if engine == "gpsimd" else str(pick(rng, SPACES))
    _, dst = _tile(rng, tuple(INTS), space)
    p, *free = dst.where().shape
    case = _draws(rng, gen, engine, space, p, dst.start, tuple(free))
    seeded = _seeded(rng, gen, case.operands["dst"], engine)
    case.prelude = [seeded]
    if chance(rng, 0.4):
        case.prelude.append(
            _draws(rng, gen, engine, "sbuf", p, dst.start, free_shape(rng, 9))
        )
    return case


def _number_or_tile(
    rng: Rng, values: Array, dtype: str, start: int
) -> OperandSpec | float:
    """One value a partition, or the first of them as a number."""
    if chance(rng, 0.5):
        return float(values[0, 0])
    return on_chip(rng, values, dtype, str(pick(rng, SPACES)), start)


def _place(case: Case, name: str, value: OperandSpec | float) -> None:
    into: dict[str, Any] = (
        case.attributes if isinstance(value, float) else case.operands
    )
    into[name] = value


def rand2(rng: Rng, gen: int) -> Case:
    """min < max everywhere. From trn3 on."""
    gen = max(gen, 4)
    floats = tuple(d for d in FLOATS if d != "float8_e4m3fn")
    dtype, dst = _tile(rng, (*INTS, *floats), str(pick(rng, SPACES)))
    p = len(dst.where())
    size = 10.0 if dtype in INTS or dtype in FP8 else float(
        pick(rng, (1.0, 1e-3, 1e4))
    )
    low = (rng.standard_normal((p, 1)) * size).astype(F32)
    high = low + (rng.random((p, 1)) * size + size / 100).astype(F32)
    case = Case("rand2", TARGET[gen], {"dst": dst})
    case.prelude = [_seeded(rng, gen, dst, "vector")]
    if chance(rng, 0.3):
        low, high = np.zeros((p, 1), F32), np.ones((p, 1), F32)
    if chance(rng, 0.3):  # one of them a number: below or above all others
        case.attributes["min"] = float(low.min())
        case.operands["max"] = on_chip(rng, high, "float32", start=dst.start)
        return case
    numbers = chance(rng, 0.5)
    for name, values in (("min", low), ("max", high)):
        _place(case, name, float(values[0, 0]) if numbers else on_chip(
            rng, values, "float32", str(pick(rng, SPACES)), dst.start
        ))
    return case


def dropout(rng: Rng, gen: int) -> Case:
    """Probabilities from 0 to 1, both included."""
    names = ANY if gen >= 4 else tuple(d for d in ANY if "fn" not in d)
    dtype, dst = _tile(rng, names, str(pick(rng, SPACES)))
    shape = dst.where().shape
    data = any_bits(rng, dtype, shape)
    if chance(rng, 0.5):
        data = everyday(rng, dtype, shape)
    kinds = ("float32",)
    if dtype in FLOATS:
        kinds = tuple(d for d in FLOATS if d != "float8_e4m3fn")
    kind = str(pick(rng, kinds))
    p = rng.choice([0.0, 1.0, 0.5, 0.125, 0.9, float(rng.random())],
                   (shape[0], 1))
    prob = cast(p.astype(F32), kind)
    space = "psum" if dst.tile.space == "sbuf" and chance(rng, 0.2) else "sbuf"
    case = Case("dropout", TARGET[gen], {
        "dst": dst, "data": on_chip(rng, data, dtype, space, dst.start),
    }, prelude=[_seeded(rng, gen, dst, "vector")], tolerance="bits")
    _place(case, "prob", _number_or_tile(rng, prob, kind, dst.start))
    return case


def _then(
    rng: Rng, gen: int, engine: str, before: Callable[[int, int], Case]
) -> Case:
    """rand_get_state of lanes that `before` has set, perhaps after draws."""
    p = some_partitions(rng)
    count = 6 if engine == "gpsimd" else 24
    words = any_bits(rng, "uint32", (p, count))
    dst = on_chip(rng, words, "uint32")
    prelude = [before(p, dst.start)]
    if chance(rng, 0.6):
        prelude.append(_draws(
            rng, gen, engine, "sbuf", p, dst.start, free_shape(rng, 30)
        ))
    return Case(
        "rand_get_state", TARGET[gen], {"dst": dst}, {"engine": engine}, prelude
    )


def rand_get_state(rng: Rng, gen: int) -> Case:
    """From trn2 on; the vector engine's from trn3 on."""
    gen = max(gen, 3)
    engine = "vector" if gen >= 4 and chance(rng, 0.5) else "gpsimd"
    return _then(
        rng, gen, engine, lambda p, at: _set_state(rng, gen, engine, p, at)
    )


def rand_set_state(rng: Rng, gen: int) -> Case:
    """Seen through the draws that follow: a case of rng with its prelude."""
    return rand_get_state(rng, gen)


def set_rng_seed(rng: Rng, gen: int) -> Case:
    """Seen through rng, or from trn3 on through the state."""
    if gen >= 4 and chance(rng, 0.5):
        return _then(rng, gen, "vector", lambda p, at: _seed(rng, gen))
    _, dst = _tile(rng, ("uint32",), "sbuf")
    p, *free = dst.where().shape
    case = _draws(rng, gen, "vector", "sbuf", p, dst.start, tuple(free))
    case.prelude = [_seed(rng, gen)]
    return case


GENERATORS = {
    "rng": rng,
    "rand2": rand2,
    "dropout": dropout,
    "rand_get_state": rand_get_state,
    "rand_set_state": rand_set_state,
    "set_rng_seed": set_rng_seed,
}
