"""The vector engine's operations (and gpsimd's share of them).

Sources: isa.json (semantics of each operation), numerics.md by section,
decisions.md; choices beyond them: DECISIONS.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference as ref
from oracle.types import Array, Between, Lanes, Operation, Result, State, T
from reference import F32, LONG, carrier

BITVEC = {*ref.BITWISE, "invert"}
FP32_MIN = F32(-3.4028234663852886e38)  # numerics.md 13
# Start of an accumulation: isa_vocab.json, alu_ops, reduce_identity.
IDENTITY = {
    "add": 0.0, "subtract": 0.0, "multiply": 1.0,
    "maximum": -np.inf, "minimum": np.inf,
}


# Casts and intervals.


def cast(x: Array, dtype: str) -> Array:
    """fp32 to a dtype (numerics.md 3): floats by ml_dtypes, nearest even,
    overflow to infinity, e4m3fn to NaN; the rest by reference.cast."""
    if dtype in ref.FLOATS:
        return np.asarray(x, F32).astype(carrier(dtype))
    return ref.cast(x, dtype)


def wide(t: T) -> Array:
    """fp32 of a tile, (P, F) in access order (numerics.md 3, row 1)."""
    return ref.widen(t.flat, t.dtype)


def column(x: T | float | None) -> Array:
    """A number, or one value a partition: fp32 that broadcasts on (P, F)."""
    if isinstance(x, T):
        return wide(x)
    return np.array([[0.0 if x is None else x]], F32)


def stored(dst: T, y: Array) -> Array:
    """cv(y, dt(dst)) in the shape of dst."""
    return cast(y, dst.dtype).reshape(dst.values.shape)


def around(exact: Array, ulps: float = 1.001) -> tuple[Array, Array]:
    """The fp32 numbers within `ulps` of values in extended precision.

    An ulp is fp32's spacing at the exact value. The thousandth is for the
    error of `exact` itself.
    """
    exact = np.asarray(exact, LONG)
    _, e = np.frexp(np.where(np.isfinite(exact), exact, 1))
    e = np.where(exact == 0, -125, e)  # frexp(0) has exponent 0
    ulp = np.ldexp(LONG(ulps), np.maximum(e, -125) - 24)
    below, above = exact - ulp, exact + ulp
    low, high = below.astype(F32), above.astype(F32)
    low = np.where(low < below, np.nextafter(low, F32(np.inf)), low)
    high = np.where(high > above, np.nextafter(high, F32(-np.inf)), high)
    nominal, fixed = exact.astype(F32), ~np.isfinite(exact)
    largest = LONG(np.finfo(F32).max)
    low = np.where(fixed | (exact < -largest), nominal, low)
    high = np.where(fixed | (exact > largest), nominal, high)
    return np.minimum(low, nominal), np.maximum(high, nominal)


def between(dst: T, low: Array, high: Array) -> Array | Between:
    """What dst may hold of y, low <= y <= high; exact where they are equal.

    Casting is monotone, so the limits may be cast. low = -inf with high = inf
    says that nothing is known.
    """
    one, other = stored(dst, low), stored(dst, high)
    if np.array_equal(low.view(np.uint32), high.view(np.uint32)):
        return one
    free = np.isneginf(low) & np.isposinf(high)
    if dst.dtype == "bool":
        free |= (low <= 0) & (high >= 0) & (low < high)
    free |= np.isnan(low) != np.isnan(high)
    return Between(one, other, free.reshape(dst.values.shape))


# Arithmetic.


def alu(op: str, a: Array, b: Array) -> Array:
    """One operation in fp32, rounded once (numerics.md 4, 15.5, 15.6)."""
    for table in (ref.BINARY, ref.GEN4_BINARY):
        if op in table:
            return table[op](a, b)
    unary = {**ref.UNARY, **ref.GEN4_UNARY}[op]
    return np.broadcast_to(unary(a), np.broadcast_shapes(a.shape, b.shape))


def swapped(op: str, a: Array, b: Array, reverse: bool) -> Array:
    """op(a, b), or op(b, a) of a binary op that is reversed."""
    return alu(op, b, a) if reverse else alu(op, a, b)


def power(a: Array, b: Array) -> Array:
    """a ** b in extended precision, IEEE's special cases (DECISIONS.md)."""
    return np.power(a.astype(LONG), b.astype(LONG))


def bitvec(op: str, a: Array, b: Array, reverse: bool = False) -> Array:
    """Raw bits of integers; invert is an xor with all ones (numerics.md 4)."""
    a, b = ref.bits(a), ref.bits(b)
    if op == "invert":
        return np.broadcast_to(~a, np.broadcast_shapes(a.shape, b.shape))
    return ref.BITWISE[op](b, a) if reverse else ref.BITWISE[op](a, b)


def raw(dst: T, y: Array) -> Array:
    """Bits of the width of dst, in its dtype and shape."""
    same = np.ascontiguousarray(y).view(dst.values.dtype)
    return same.reshape(dst.values.shape)


def fold(op: str, start: Array, y: Array) -> Array:
    """acc = op(acc, y[:, i]), i ascending, fp32 (numerics.md 15.8)."""
    for i in range(y.shape[1]):
        start = alu(op, start, y[:, i])
    return start


def accumulate(
    lanes: Lanes,
    command: str,
    op: str,
    low: Array,
    high: Array,
    start: T | float | None = None,
    once: bool = False,
) -> None:
    """Section 8's table: what a reduce_cmd makes of the accumulators.

    once: the elements are reduced first, and the result goes onto the
    accumulator once ("acc[p] += sum_i y" in isa.json; decisions.md for
    activation), not element after element ("acc[p] = reduce_op(acc[p], y)").
    """
    n = slice(0, len(low))
    if command == "idle":
        return
    if command in ("reset", "reset_reduce", "load_reduce"):
        loaded = start if command == "load_reduce" else IDENTITY[op]
        first = np.broadcast_to(column(loaded)[:, 0], (len(low),))
        lanes.values[n] = lanes.high[n] = first
        lanes.known[n] = True
    if command == "reset":
        return
    for acc, y in ((lanes.values, low), (lanes.high, high)):
        if once:
            first = np.full(len(y), IDENTITY[op], F32)
            acc[n] = alu(op, acc[n], fold(op, first, y))
        else:
            acc[n] = fold(op, acc[n], y)


def forget(lanes: Lanes) -> None:
    """VectorE idle: any lane may be clobbered (numerics.md 8)."""
    lanes.known[:] = False


def read_out(dst: T, lanes: Lanes, negate: bool = False) -> Array | Between:
    """reduce_res: the accumulators of dst's partitions, cast once."""
    n = slice(0, len(dst.values))
    assert lanes.known[n].all(), "a case reads accumulators nobody knows"
    low, high = lanes.values[n, None], lanes.high[n, None]
    return between(dst, -high, -low) if negate else between(dst, low, high)


# Elementwise operations.


def tensor_tensor(
    gen: int, state: State, *, dst: T, data1: T, data2: T, op: str,
    engine: str = "unknown", **_: Any,
) -> Result:
    tiles = (dst, data1, data2)
    if op in BITVEC:
        y = bitvec(op, data1.flat, data2.flat)
        return {"dst": raw(dst, y)}
    if op == "power":
        low, high = around(power(wide(data1), wide(data2)))
        return {"dst": between(dst, low, high)}
    whole = all(t.dtype in ("int32", "uint32") for t in tiles)
    if engine == "unknown":
        sbuf = all(t.space == "sbuf" for t in tiles)
        engine = "gpsimd" if whole and sbuf else "vector"
    if whole and engine == "gpsimd":
        return {"dst": _native(dst, op, data1.flat, data2.flat)}
    return {"dst": stored(dst, alu(op, wide(data1), wide(data2)))}


def _native(dst: T, op: str, a: Array, b: Array) -> Array:
    """Gpsimd's 32-bit integers: exact, modulo 2^32 (numerics.md 15.9)."""
    a, b = a.astype(np.int64), b.astype(np.int64)
    exact: dict[str, Callable[[], Array]] = {
        "add": lambda: a + b,
        "subtract": lambda: a - b,
        "multiply": lambda: a.astype(np.uint64) * b.astype(np.uint64),
        "maximum": lambda: np.maximum(a, b),
        "minimum": lambda: np.minimum(a, b),
    }
    y = exact[op]() if op in exact else ref.BINARY[op](a, b)
    y = y.astype(np.int64) if y.dtype == F32 else y
    low = y.astype(np.uint64) & np.uint64(0xFFFFFFFF)
    return low.astype(np.uint32).view(dst.values.dtype).reshape(dst.values.shape)


def tensor_scalar(
    gen: int, state: State, *, dst: T, data: T, op0: str,
    operand0: T | float | None = None, reverse0: bool = False,
    op1: str | None = None, operand1: T | float | None = None,
    reverse1: bool = False, engine: str = "unknown", **_: Any,
) -> Result:
    if op0 in BITVEC:
        t = bitvec(op0, data.flat, _bits(operand0, data), reverse0)
        if op1 is not None:
            t = bitvec(op1, t, _bits(operand1, data), reverse1)
        return {"dst": raw(dst, t)}
    if op0 == "power":  # alone (DECISIONS.md)
        pair = (wide(data), column(operand0))
        low, high = around(power(*(pair[::-1] if reverse0 else pair)))
        return {"dst": between(dst, low, high)}
    t = swapped(op0, wide(data), column(operand0), reverse0)
    if op1 is not None:
        t = swapped(op1, t, column(operand1), reverse1)
    return {"dst": stored(dst, t)}


def _bits(operand: T | float | None, data: T) -> Array:
    """An integer operand of a bitwise op, in the dtype of data."""
    if isinstance(operand, T):
        return operand.flat
    return np.array([[int(operand or 0)]], data.values.dtype)


def scalar_tensor_tensor(
    gen: int, state: State, *, dst: T, data: T, op0: str,
    operand0: T | float, op1: str, operand1: T, reverse0: bool = False,
    reverse1: bool = False, **_: Any,
) -> Result:
    t = swapped(op0, wide(data), column(operand0), reverse0)
    return {"dst": stored(dst, swapped(op1, t, wide(operand1), reverse1))}


def tensor_copy(
    gen: int, state: State, *, dst: T, src: T, engine: str = "unknown",
    **_: Any,
) -> Result:
    """Bits where the dtypes match, but through fp32 on gen2's ScalarE
    (decisions.md: tensor_copy on trn1 scalar engine)."""
    if src.dtype == dst.dtype and not (gen == 2 and engine == "scalar"):
        return {"dst": src.values.reshape(dst.values.shape)}
    return {"dst": stored(dst, wide(src))}


def tensor_copy_predicated(
    gen: int, state: State, *, dst: T, src: T | float, predicate: T,
    reverse_pred: bool = False, **_: Any,
) -> Result:
    if isinstance(src, T):
        new = src.flat
    else:
        new = cast(np.full(dst.flat.shape, src, F32), dst.dtype)
    chosen = (predicate.flat != 0) ^ reverse_pred  # numerics.md 15.23
    y = np.where(chosen, new, dst.flat)
    return {"dst": y.reshape(dst.values.shape)}


def reciprocal(gen: int, state: State, *, dst: T, data: T, **_: Any) -> Result:
    return {"dst": stored(dst, F32(1) / wide(data))}


def memset(
    gen: int, state: State, *, dst: T, value: float, engine: str = "unknown",
    **_: Any,
) -> Result:
    """The value is one of dst's dtype; integers beyond 2^24 stay exact."""
    kind = dst.values.dtype
    if kind.kind in "iub":
        return {"dst": np.full(dst.values.shape, int(value)).astype(kind)}
    return {"dst": cast(np.full(dst.values.shape, value, F32), dst.dtype)}


# Reductions and scans.


def tensor_reduce(
    gen: int, state: State, *, dst: T, op: str, data: T,
    axis: int | tuple[int, ...], negate: bool = False, keepdims: bool = False,
    **_: Any,
) -> Result:
    """Starts with the first element (numerics.md 15.17: a0 - a1 - ...)."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    kept = data.values.shape[: data.values.ndim - len(axes)]
    rows = data.values.reshape(int(np.prod(kept)), -1)
    if op in BITVEC:
        y = rows[:, 0]
        for i in range(1, rows.shape[1]):
            y = bitvec(op, y, rows[:, i])
        return {"dst": raw(dst, y)}
    x = ref.widen(rows, data.dtype)
    if op.startswith("logical"):  # 0 or 1, of one element too
        y = fold(op, (x[:, 0] != 0).astype(F32), x[:, 1:])
    else:
        y = fold(op, x[:, 0], x[:, 1:])
    return {"dst": stored(dst, y * F32(-1) if negate else y)}


def tensor_tensor_scan(
    gen: int, state: State, *, dst: T, data0: T, data1: T,
    initial: T | float, op0: str, op1: str, reverse0: bool = False,
    reverse1: bool = False, **_: Any,
) -> Result:
    """The carry stays fp32 (decisions.md, scan carry)."""
    a, b = wide(data0), wide(data1)
    s = np.broadcast_to(column(initial)[:, 0], (len(a),))
    y = np.empty_like(a)
    for i in range(a.shape[1]):
        t = swapped(op0, a[:, i], s, reverse0)
        y[:, i] = s = swapped(op1, t, b[:, i], reverse1)
    return {"dst": stored(dst, y)}


def tensor_scalar_reduce(
    gen: int, state: State, *, dst: T, data: T, op0: str,
    operand0: T | float | None, reduce_op: str, reduce_res: T | None = None,
    reverse0: bool = False, reduce_cmd: str = "reset_reduce",
    reduce_init: T | float | None = None, reduce_res_negate: bool = False,
    **_: Any,
) -> Result:
    y = alu(op0, wide(data), column(operand0))
    accumulate(state.vector, reduce_cmd, reduce_op, y, y, reduce_init)
    out: Result = {"dst": stored(dst, y)}
    if reduce_res is not None:
        out["reduce_res"] = read_out(
            reduce_res, state.vector, reduce_res_negate
        )
    return out


def tensor_scalar_cumulative(
    gen: int, state: State, *, dst: T, src: T, op0: str, op1: str,
    imm0: T | float, imm1: T | float | None = None,
    reduce_cmd: str = "reset_reduce", **_: Any,
) -> Result:
    x = alu(op0, wide(src), column(imm0))
    empty = x[:, :0]
    if reduce_cmd != "reduce":
        command = "reset" if reduce_cmd == "reset_reduce" else reduce_cmd
        accumulate(state.vector, command, op1, empty, empty, imm1)
    n = slice(0, len(x))
    assert state.vector.known[n].all()
    acc, y = state.vector.values[n].copy(), np.empty_like(x)
    for i in range(x.shape[1]):
        y[:, i] = acc = alu(op1, x[:, i], acc)
    state.vector.values[n] = state.vector.high[n] = acc
    return {"dst": stored(dst, y)}


def exponential(
    gen: int, state: State, *, dst: T, src: T, max_value: T | float = 0.0,
    reduce_res: T | None = None, reduce_cmd: str = "idle",
    reduce_init: T | float = 0.0, **_: Any,
) -> Result:
    x = wide(src) - column(max_value)
    low, high = exp(x)
    accumulate(
        state.vector, reduce_cmd, "add", low, high, reduce_init, once=True
    )
    if reduce_cmd == "idle":
        forget(state.vector)
    out: Result = {"dst": between(dst, low, high)}
    if reduce_res is not None:
        out["reduce_res"] = read_out(reduce_res, state.vector)
    return out


def exp(x: Array) -> tuple[Array, Array]:
    """Within 1 ulp; exp(0) = 1 and exp(-inf) = 0 exactly (numerics.md 7)."""
    low, high = around(np.exp(x.astype(LONG)))
    exact = (x == 0) | np.isneginf(x)
    value = np.exp(x)
    low, high = np.maximum(low, 0), np.maximum(high, 0)
    return np.where(exact, value, low), np.where(exact, value, high)


# Selection.


def range_select(
    gen: int, state: State, *, dst: T, on_true_tile: T, comp_op0: str,
    comp_op1: str, bound0: T, bound1: T, reduce_cmd: str = "reset_reduce",
    reduce_res: T | None = None, reduce_op: str = "maximum",
    range_start: int = 0, on_false_value: float = float(FP32_MIN), **_: Any,
) -> Result:
    x = wide(on_true_tile)
    index = (range_start + np.arange(x.shape[1])).astype(F32)[None]
    inside = alu(comp_op0, index, column(bound0)) != 0
    inside &= alu(comp_op1, index, column(bound1)) != 0
    y = np.where(inside, x, FP32_MIN)
    return _selected(state, dst, y, reduce_cmd, reduce_res)


def select_reduce(
    gen: int, state: State, *, dst: T, predicate: T, on_true: T,
    on_false: T | float, reduce_res: T | None = None, reduce_cmd: str = "idle",
    reduce_op: str = "maximum", reverse_pred: bool = False, **_: Any,
) -> Result:
    chosen = (predicate.flat != 0) ^ reverse_pred  # decisions.md: logical
    y = np.where(chosen, wide(on_true), column(on_false))
    return _selected(state, dst, y, reduce_cmd, reduce_res)


def _selected(
    state: State, dst: T, y: Array, reduce_cmd: str, reduce_res: T | None
) -> Result:
    """Stores y and keeps the running maximum of it, before the cast."""
    accumulate(state.vector, reduce_cmd, "maximum", y, y)
    if reduce_cmd == "idle":
        forget(state.vector)
    out: Result = {"dst": stored(dst, y)}
    if reduce_res is not None:
        out["reduce_res"] = read_out(reduce_res, state.vector)
    return out


# Statistics. The documents give the formula and no algorithm, so the result
# lies between limits that cover a sequential fp32 mean with a second pass, and
# Welford's update (DECISIONS.md).

EPS = float(np.finfo(F32).eps)


def _limits(dst: T, values: Array, errors: Array) -> Array | Between:
    low, high = (values - errors).astype(F32), (values + errors).astype(F32)
    return between(
        dst, np.nextafter(low, F32(-np.inf)), np.nextafter(high, F32(np.inf))
    )


def _moments(x: Array) -> tuple[Array, Array]:
    """(count, mean, M2) a row in fp64, and how far fp32 may be off."""
    rows, n = x.shape
    if n == 0:  # numerics.md 15.18
        return np.zeros((rows, 3)), np.zeros((rows, 3))
    mean, size = x.mean(1), np.abs(x).mean(1)
    m2 = ((x - mean[:, None]) ** 2).sum(1)
    d_mean = (n + 8) * EPS * size
    d_m2 = (n + 8) * EPS * (m2 + np.sqrt(n * m2) * size) + 2 * n * d_mean**2
    none = np.zeros(rows)
    count = np.full(rows, float(n))
    return np.stack([count, mean, m2], 1), np.stack([none, d_mean, d_m2], 1)


def bn_stats(gen: int, state: State, *, dst: T, data: T, **_: Any) -> Result:
    x = wide(data).astype(np.float64)
    halves = [_moments(x[:, 0::2]), _moments(x[:, 1::2])]
    values, errors = (np.concatenate(p, 1) for p in zip(*halves))
    y = _limits(dst, values, errors)
    counts = stored(dst, values.astype(F32)).reshape(-1, 6)
    if isinstance(y, Between):  # counts are exact
        for limit in (y.low, y.high):
            limit.reshape(-1, 6)[:, [0, 3]] = counts[:, [0, 3]]
    return {"dst": y}


def bn_aggr(gen: int, state: State, *, dst: T, data: T, **_: Any) -> Result:
    """No elements at all give NaN (numerics.md 15.18)."""
    x = wide(data).astype(np.float64).reshape(len(data.values), -1, 3)
    c, m, v = x[..., 0], x[..., 1], x[..., 2]
    total, n = c.sum(1), x.shape[1]
    mean = (c * m).sum(1) / total
    off = m - mean[:, None]
    var = (v.sum(1) + (c * off**2).sum(1)) / total
    size = (c * np.abs(m)).sum(1) / total
    d_mean = 3 * (n + 8) * EPS * size
    spread = (np.abs(v).sum(1) + (c * off**2).sum(1)) / total
    cross = (c * np.abs(off)).sum(1) / total * size
    d_var = 3 * (n + 8) * EPS * (spread + 2 * cross) + 2 * d_mean**2
    values, errors = np.stack([mean, var], 1), np.stack([d_mean, d_var], 1)
    return {"dst": _limits(dst, values, errors)}


# The eight largest, and shuffles.


def max8(gen: int, state: State, *, dst: T, src: T, **_: Any) -> Result:
    return {"dst": stored(dst, -np.sort(-wide(src), 1)[:, :8])}


def nc_find_index8(
    gen: int, state: State, *, dst: T, data: T, vals: T, **_: Any
) -> Result:
    """Duplicates advance to later occurrences (decisions.md); else all ones."""
    x, v = wide(data), wide(vals)
    kind = dst.values.dtype
    y = np.full((len(x), 8), np.iinfo(kind).max, kind)
    for p in range(len(x)):
        for j in range(8):
            nth = int((v[p, :j] == v[p, j]).sum())
            found = np.flatnonzero(x[p] == v[p, j])
            if nth < len(found):
                y[p, j] = found[nth]
    return {"dst": y.reshape(dst.values.shape)}


def nc_match_replace8(
    gen: int, state: State, *, dst: T, data: T, vals: T, imm: float,
    dst_idx: T | None = None, **_: Any,
) -> Result:
    """Columns 7..0, each takes the first element not yet replaced."""
    x, v = wide(data), wide(vals)
    y = x.copy()
    replaced = np.zeros(x.shape, bool)
    index = np.full((len(x), 8), 0xFFFFFFFF, np.uint32)
    for p in range(len(x)):
        for j in reversed(range(8)):
            found = np.flatnonzero((x[p] == v[p, j]) & ~replaced[p])
            if len(found):
                index[p, j] = found[0]
                replaced[p, found[0]] = True
    y[replaced] = F32(imm)
    out: Result = {"dst": stored(dst, y)}
    if dst_idx is not None:
        out["dst_idx"] = index.reshape(dst_idx.values.shape)
    return out


def nc_stream_shuffle(
    gen: int, state: State, *, dst: T, src: T, shuffle_mask: list[int],
    **_: Any,
) -> Result:
    """Bits; 255 keeps dst; partitions count from each view's start."""
    y, x = dst.flat.copy(), src.flat
    for p in range(len(y)):
        m = shuffle_mask[p % 32]
        if m != 255:
            y[p] = x[p - p % 32 + m]
    return {"dst": y.reshape(dst.values.shape)}


OPERATIONS: dict[str, Operation] = {
    f.__name__: f
    for f in (
        tensor_tensor, tensor_scalar, scalar_tensor_tensor, tensor_copy,
        tensor_copy_predicated, reciprocal, memset, tensor_reduce,
        tensor_tensor_scan, tensor_scalar_reduce, tensor_scalar_cumulative,
        exponential, range_select, select_reduce, bn_stats, bn_aggr, max8,
        nc_find_index8, nc_match_replace8, nc_stream_shuffle,
    )
}
TOLERANCE = {
    "exponential": "1ulp", "bn_stats": "error bound",
    "bn_aggr": "error bound",
}
