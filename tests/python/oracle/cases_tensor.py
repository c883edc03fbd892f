"""Random legal uses of the tensor engine's operations and of MX.

Also what the other cases modules of this family share: values of a dtype, and
tiles that hold an operand amid guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.mx import pack, scale_rows
from oracle.types import (
    Array, Case, Index, OperandSpec, Permute, Reshape, Tile,
)
from reference import ANY, F32, INTS, carrier, cast

Rng = np.random.Generator
TARGET = {2: "trn1", 3: "trn2", 4: "trn3"}
FP8 = ("float8_e4m3", "float8_e5m2")
NARROW = (*FP8, "float16", "bfloat16")
WIDE = ("float32", "tfloat32")
BANK = 2048  # bytes


# --- values -----------------------------------------------------------------


def any_bits(rng: Rng, dtype: str, shape: Sequence[int]) -> Array:
    """Every bit pattern of the dtype."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    kind = carrier(dtype)
    raw = rng.integers(0, 256, (*shape, kind.itemsize)).astype(np.uint8)
    return raw.view(kind)[..., 0]


def everyday(
    rng: Rng, dtype: str, shape: Sequence[int], size: float = 4.0
) -> Array:
    """Finite values of about `size`, with zeros of both signs among them."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTS:
        low, high = INTS[dtype]
        reach = int(12 * size)
        return rng.integers(max(low, -reach), min(high, reach), shape).astype(
            carrier(dtype)
        )
    x = rng.standard_normal(shape) * size
    x = np.where(rng.random(shape) < 0.05, rng.choice([0.0, -0.0], shape), x)
    return cast(x.astype(F32), dtype)


def sprinkle(rng: Rng, x: Array, values: Sequence[float], dtype: str) -> Array:
    """Some elements replaced by edge values."""
    count = max(1, x.size // 20)
    flat = x.reshape(-1).copy()
    at = rng.integers(0, x.size, count)
    flat[at] = cast(rng.choice(values, count).astype(F32), dtype)
    return flat.reshape(x.shape)


def pick(rng: Rng, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def chance(rng: Rng, probability: float) -> bool:
    return bool(rng.random() < probability)


# --- places -----------------------------------------------------------------


def legal_start(rng: Rng, partitions: int) -> int:
    """isa_vocab.json global_constraints."""
    if partitions <= 32:
        return int(pick(rng, (0, 0, 32, 64, 96)))
    return int(pick(rng, (0, 64))) if partitions <= 64 else 0


def some_partitions(rng: Rng, most: int = 128) -> int:
    return min(most, int(pick(rng, (
        1, 2, 16, 32, 33, 64, 65, 127, 128, int(rng.integers(1, 129)),
    ))))


def free_shape(rng: Rng, most: int = 64, rank: int = 3) -> tuple[int, ...]:
    """One to `rank` free dims of at most `most` elements together."""
    shape: list[int] = []
    for _ in range(int(rng.integers(1, rank + 1))):
        shape.append(int(rng.integers(1, most + 1)))
        most //= shape[-1]
        if most < 1:
            break
    return tuple(shape)


def split(rng: Rng, count: int) -> tuple[int, ...]:
    """count as one or two free dims."""
    divisors = [d for d in range(1, count + 1) if count % d == 0]
    if chance(rng, 0.6):
        return (count,)
    first = int(pick(rng, divisors))
    return first, count // first


def holding(
    tile: Tile, steps: tuple[Any, ...], values: Array, start: int = 0
) -> OperandSpec:
    """The view, after writing the values through it."""
    spec = OperandSpec(tile, steps, start)
    spec.put(tile.backing, np.ascontiguousarray(values).reshape(
        spec.where().shape
    ))
    return spec


def _sliced(rng: Rng, size: int) -> tuple[int, slice]:
    """A longer dim, and a slice of it with `size` elements."""
    way = int(rng.integers(5))
    before, after = (int(x) for x in rng.integers(0, 4, 2))
    if way == 0:
        return size, slice(None)
    if way <= 2:
        return before + size + after, slice(before, before + size)
    if way == 3:
        step = int(rng.integers(2, 4))
        return before + size * step, slice(before, None, step)
    length = size + after
    return length, slice(length - 1, after - 1 if after else None, -1)


def on_chip(
    rng: Rng, values: Array, dtype: str, space: str = "sbuf",
    start: int | None = None, plain: bool = False,
) -> OperandSpec:
    """An operand (P, ...free) inside a larger tile: a slice, a stride, a
    reversed, permuted or reshaped view. PSUM tiles stay inside a bank."""
    p, *free = values.shape
    if start is None:
        start = legal_start(rng, p)
    lengths, slices = list(free), [slice(None)] * len(free)
    if not plain:
        for i, size in enumerate(free):
            lengths[i], slices[i] = _sliced(rng, size)
    bytes_ = int(np.prod(lengths)) * carrier(dtype).itemsize
    if bytes_ > (BANK if space == "psum" else 16384):
        lengths, slices = list(free), [slice(None)] * len(free)
    order: tuple[int, ...] | None = None
    if len(free) > 1 and not plain and chance(rng, 0.25):
        order = tuple(int(i) for i in rng.permutation(len(free)))
    stored = list(lengths)
    steps: list[Any] = []
    if order is not None:  # the stored dims, in another order than seen
        stored = [0] * len(free)
        for seen, kept in enumerate(order):
            stored[kept] = lengths[seen]
        steps.append(Permute((0, *(k + 1 for k in order))))
    elif len(free) > 1 and not plain and chance(rng, 0.2):
        steps.append(Reshape((start + p, *lengths)))
        stored = [int(np.prod(lengths))]
    steps.append(Index((slice(start, start + p), *slices)))
    backing = any_bits(rng, dtype, (start + p, *stored))
    return holding(Tile(backing, dtype, space), tuple(steps), values, start)


def in_hbm(rng: Rng, values: Array, dtype: str) -> OperandSpec:
    """An operand of any rank in HBM, a slice or a stride of a tensor."""
    sliced = [_sliced(rng, n) for n in values.shape]
    if values.ndim > 3 or chance(rng, 0.3):
        sliced = [(n, slice(None)) for n in values.shape]
    backing = any_bits(rng, dtype, [n for n, _ in sliced])
    steps = (Index(tuple(s for _, s in sliced)),)
    return holding(Tile(backing, dtype, "hbm"), steps, values)


# --- nc_matmul --------------------------------------------------------------


def _dtypes(rng: Rng, gen: int) -> tuple[str, str]:
    """A legal pair: wide with wide, and not both kinds of e4m3."""
    if chance(rng, 0.4):
        return pick(rng, WIDE[:1] + WIDE), pick(rng, WIDE[:1] + WIDE)
    names = NARROW + (("float8_e4m3fn",) if gen >= 4 else ())
    while True:
        pair = str(pick(rng, names)), str(pick(rng, names))
        if set(pair) != {"float8_e4m3", "float8_e4m3fn"}:
            return pair


def _factor(rng: Rng, dtype: str, shape: Sequence[int]) -> Array:
    """Everyday values of any size, seldom not finite. Eight-bit types take
    any bit pattern too: their products cannot underflow."""
    if dtype.startswith("float8") and chance(rng, 0.3):
        x = any_bits(rng, dtype, shape)
        return np.where(np.isfinite(x.astype(F32)), x, carrier(dtype).type(1))
    size = 2.0 ** int(rng.integers(-20, 20)) if dtype in (
        "bfloat16", *WIDE
    ) else 1.0
    x = everyday(rng, dtype, shape, size)
    if chance(rng, 0.1) and dtype != "float8_e4m3fn":
        x = sprinkle(rng, x, (np.inf, -np.inf, np.nan), dtype)
    return x


def _array_tile(
    rng: Rng, gen: int, double_row: bool
) -> tuple[dict[str, Any], int, int, int, int]:
    """Attributes, most rows, most columns, start row, start column."""
    if chance(rng, 0.6):
        return {}, 128, 128, -1, -1
    sizes = (64, 128) if gen == 2 else (32, 64, 128)
    rows = int(pick(rng, sizes))
    columns = 128 if double_row else int(pick(rng, sizes))
    row = int(pick(rng, range(0, 129 - rows, rows)))
    column = int(pick(rng, range(0, 129 - columns, columns)))
    attributes = {"tile_size": (rows, columns), "tile_position": (row, column)}
    return attributes, rows, columns, row, column


def _matmul(
    rng: Rng, dst: OperandSpec, k: int, n: tuple[int, ...], gen: int,
    start: int, tile: dict[str, Any], pair: tuple[str, str], rows: int = 1,
) -> Case:
    """A matmul into dst (M, n)."""
    m = len(dst.where())
    extra = (2,) if rows == 2 else ()
    columns = split(rng, m) if rows == 1 else (m,)
    width = n if rows == 1 else (int(np.prod(n)),)
    attributes = dict(tile)
    if rows == 2:
        attributes["perf_mode"] = "double_row"
    if pair == ("float32", "float32") and chance(rng, 0.1):
        attributes["is_stationary_onezero"] = True
    stationary = _factor(rng, pair[0], (k, *extra, *columns))
    if "is_stationary_onezero" in attributes:
        stationary = rng.integers(0, 2, stationary.shape).astype(F32)
    return Case("nc_matmul", TARGET[gen], {
        "dst": dst,
        "stationary": on_chip(rng, stationary, pair[0], start=start),
        "moving": on_chip(
            rng, _factor(rng, pair[1], (k, *extra, *width)), pair[1],
            start=start,
        ),
    }, attributes)


def _bank(
    rng: Rng, shape: tuple[int, ...], dtype: str, start: int, load: bool
) -> OperandSpec:
    """A PSUM tile of (M, N...), written before or not."""
    spec = on_chip(
        rng, everyday(rng, dtype, shape), dtype, "psum", start, plain=not load
    )
    spec.tile.load = load
    return spec


def _columns(spec: OperandSpec, key: slice) -> OperandSpec:
    """Part of the last free dim."""
    dims = spec.where().ndim - 1
    step = Index((*(slice(None),) * dims, key))
    return OperandSpec(spec.tile, (*spec.steps, step), spec.start)


def nc_matmul(rng: Rng, gen: int) -> Case:
    if gen >= 3 and chance(rng, 0.15):
        return _transposing_matmul(rng, gen)
    double_row = gen >= 3 and chance(rng, 0.15)
    tile, rows, columns, row, column = _array_tile(rng, gen, double_row)
    pair = _dtypes(rng, gen)
    if double_row:
        pair = str(pick(rng, FP8)), str(pick(rng, FP8))
    k, m = some_partitions(rng, rows), some_partitions(rng, columns)
    start = row if tile else legal_start(rng, k)
    most = int(pick(rng, (8, 64, 64, 64, 500)))
    n = free_shape(rng, most if m < 33 else 64, 2)
    dtype = "bfloat16" if gen >= 4 and chance(rng, 0.4) else "float32"
    load = chance(rng, 0.4)
    dst = _bank(
        rng, (m, *n), dtype, column if tile else legal_start(rng, m), load
    )

    def one(into: OperandSpec) -> Case:
        width = into.where().shape[1:]
        return _matmul(
            rng, into, k, width, gen, start, tile, pair, 2 if double_row else 1
        )

    case = one(dst)
    _accumulation(rng, gen, case, one, load)
    return case


def _accumulation(
    rng: Rng, gen: int, case: Case, one: Any, load: bool
) -> None:
    """What ran before, and the accumulate that is legal after it.

    accumulate=True needs a matmul's values on gen2 and gen3, any values on
    gen4 (isa.json, level undefined).
    """
    dst = case.operands["dst"]
    way = int(rng.integers(4))
    if way == 0:
        if load and gen >= 4 and chance(rng, 0.5):
            case.attributes["accumulate"] = True
        elif chance(rng, 0.3):
            case.attributes["accumulate"] = False
        return
    before = one(dst)
    if way == 1 and dst.where().shape[-1] > 1:
        cut = int(rng.integers(1, dst.where().shape[-1]))
        before = one(_columns(dst, slice(0, cut)))
    elif way == 2:
        case.attributes["accumulate"] = True
    elif way == 3:
        case.attributes["accumulate"] = pick(rng, (None, False, True))
    case.prelude = [before]


def _transposing_matmul(rng: Rng, gen: int) -> Case:
    """is_transpose from gen3 on: moving is an identity."""
    dtype = str(pick(rng, (*NARROW, "float32")))
    k, m = some_partitions(rng), some_partitions(rng)
    out = dtype
    if dtype in FP8:
        out = str(pick(rng, ("bfloat16", "float16")))
    start = legal_start(rng, k)
    data = any_bits(rng, dtype, (k, m))
    identity = cast(np.eye(k, dtype=F32), dtype)
    return Case("nc_matmul", TARGET[gen], {
        "dst": _bank(rng, (m, k), out, legal_start(rng, m), True),
        "stationary": on_chip(rng, data, dtype, start=start),
        "moving": on_chip(rng, identity, dtype, start=start),
    }, {"is_transpose": True}, tolerance="bits")


# --- nc_transpose -----------------------------------------------------------


def nc_transpose(rng: Rng, gen: int) -> Case:
    engine = str(pick(rng, ("tensor", "vector")))
    tensor = engine == "tensor"
    most = 128 if tensor else 32
    p = some_partitions(rng, most)
    free = free_shape(rng, int(pick(rng, (most, 4))), 2)
    f = int(np.prod(free))
    dtype = str(pick(rng, (*NARROW, *WIDE) if tensor else ANY))
    out, tolerance = dtype, "bits"
    data = any_bits(rng, dtype, (p, *free))
    if tensor and gen == 2:
        out, tolerance = "float32", "exact"
        data = everyday(rng, dtype, (p, *free))
    elif tensor and dtype in FP8:
        out = str(pick(rng, ("bfloat16", "float16")))
    spaces = ("psum", "sbuf") if tensor else (
        str(pick(rng, ("sbuf", "psum"))), str(pick(rng, ("sbuf", "psum")))
    )
    dst = any_bits(rng, out, (f, *split(rng, p)))
    if not chance(rng, 0.3) or (engine == "vector") != (spaces[0] == "sbuf"):
        attributes = {"engine": engine}
    else:
        attributes = {}  # unknown: by the memory of dst
    return Case("nc_transpose", TARGET[gen], {
        "dst": on_chip(rng, dst, out, spaces[0]),
        "data": on_chip(rng, data, dtype, spaces[1]),
    }, attributes, tolerance=tolerance)


# --- tensor_partition_reduce ------------------------------------------------


def tensor_partition_reduce(rng: Rng, gen: int) -> Case:
    """Integers stay small: whether gpsimd sums them in fp32 or as integers is
    not documented. maximum sees no NaN and one kind of zero."""
    op = str(pick(rng, (
        "add", "average", "maximum", "bitwise_or", "bitwise_and"
    )))
    p, free = some_partitions(rng), free_shape(rng, 64, 2)
    if op.startswith("bitwise"):
        dtype = out = str(pick(rng, tuple(INTS)))
        data = any_bits(rng, dtype, (p, *free))
    else:
        names = (*INTS, *NARROW, *WIDE)
        dtype, out = str(pick(rng, names)), str(pick(rng, names))
        data = everyday(rng, dtype, (p, *free))
        if dtype not in INTS and out not in INTS and chance(rng, 0.2):
            data = sprinkle(rng, data, (np.inf, 1e30), dtype)
        if op == "maximum":
            data = np.where(data == 0, carrier(dtype).type(0), data)
    dst = any_bits(rng, out, (1, *free))
    return Case("tensor_partition_reduce", TARGET[gen], {
        "dst": on_chip(rng, dst, out), "data": on_chip(rng, data, dtype),
    }, {"op": op})


# --- MX ---------------------------------------------------------------------

PACKED = ("float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4")


def _packed(rng: Rng, dtype: str, shape: tuple[int, int]) -> Array:
    """Packed finite elements."""
    if dtype == "float4_e2m1fn_x4":
        return rng.integers(0, 65536, shape).astype(np.uint16)
    code = rng.integers(0, 256, (*shape, 4)).astype(np.uint8)
    largest = 0x7B if dtype == "float8_e5m2_x4" else 0x7E
    return pack(np.where(code & 127 > largest, np.uint8(0x3C), code))


def _scale(
    rng: Rng, rows: int, columns: int, start: int, values: Array | None
) -> OperandSpec:
    """A scale view: four rows a quadrant, from offset 0, 4, 8 or 12 on."""
    dtype = str(pick(rng, ("uint8", "float8_e8m0fnu")))
    first = start + int(pick(rng, (0, 4, 8, 12)))
    high = int(scale_rows(rows)[-1]) + 1
    if values is None:
        values = rng.integers(0, 255, (high, columns))
    view = values.astype(np.uint8).view(carrier(dtype))
    return on_chip(rng, view, dtype, start=first)


def nc_matmul_mx(rng: Rng, gen: int) -> Case:
    """From trn3 on."""
    gen = max(gen, 4)
    k, m = int(pick(rng, (32, 64, 96, 128))), 2 * int(rng.integers(1, 65))
    n = int(rng.integers(1, 65))
    attributes: dict[str, Any] = {}
    start = 0
    if chance(rng, 0.4):
        rows = int(pick(rng, [r for r in (32, 64, 128) if r >= k]))
        start = int(pick(rng, range(0, 129 - rows, rows)))
        attributes = {"tile_size": (rows, 128), "tile_position": (start, 0)}
    dtype = str(pick(rng, ("float32", "bfloat16")))
    load = chance(rng, 0.4)
    dst = _bank(rng, (m, n), dtype, legal_start(rng, m), load)

    def one(into: OperandSpec) -> Case:
        operands: dict[str, Any] = {"dst": into}
        width = into.where().shape[1]
        for name, columns in (("stationary", m), ("moving", width)):
            packed = str(pick(rng, PACKED))
            data = _packed(rng, packed, (k, columns))
            operands[name] = on_chip(rng, data, packed, start=start)
            high = int(scale_rows(k)[-1]) + 1
            middle = int(pick(rng, (90, 127, 127, 150)))
            codes = middle + rng.integers(-8, 9, (high, columns))
            operands[f"{name}_scale"] = _scale(rng, k, columns, start, codes)
        return Case("nc_matmul_mx", TARGET[gen], operands, dict(attributes))

    case = one(dst)
    _accumulation(rng, gen, case, one, load)
    return case


def quantize_mx(rng: Rng, gen: int) -> Case:
    """Values of every size, groups of zeros; no infinity or NaN. From trn3
    on."""
    gen = max(gen, 4)
    p, columns = int(pick(rng, (32, 64, 96, 128))), int(rng.integers(1, 17))
    dtype = str(pick(rng, ("float16", "bfloat16")))
    reach = 14 if dtype == "float16" else 120
    exponent = rng.integers(-reach, reach, (p // 8, 1, columns, 1))
    if chance(rng, 0.3):
        exponent = np.full_like(exponent, 0)
    x = rng.standard_normal((p // 8, 8, columns, 4)) * 2.0**exponent
    x = np.where(rng.random((p // 8, 1, columns, 1)) < 0.1, 0.0, x)
    src = cast(x.reshape(p, 4 * columns).astype(F32), dtype)
    if chance(rng, 0.3):
        tiny = 2.0**-133 if dtype == "bfloat16" else 2.0**-24
        top = 3.3895e38 if dtype == "bfloat16" else 65504.0
        src = sprinkle(rng, src, (top, -top, tiny, -tiny, 1.0, -0.0), dtype)
    src = np.where(np.isfinite(src.astype(F32)), src, carrier(dtype).type(2))
    start = legal_start(rng, p)
    out = str(pick(rng, PACKED[:2]))
    dst = any_bits(rng, out, (p, columns))
    return Case("quantize_mx", TARGET[gen], {
        "dst": on_chip(rng, dst, out, start=start),
        "src": on_chip(rng, src, dtype, start=start),
        "dst_scale": _scale(rng, p, columns, start, None),
    }, outputs=("dst", "dst_scale"))


GENERATORS = {
    "nc_matmul": nc_matmul,
    "nc_transpose": nc_transpose,
    "tensor_partition_reduce": tensor_partition_reduce,
    "nc_matmul_mx": nc_matmul_mx,
    "quantize_mx": quantize_mx,
}
