"""More cases: reductions, scans, selections, moves, and the tensor engine."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from elementwise_cases import F, F32, P, Array, Case, column, full, out

R = {"r": np.empty(P, F32)}
LANES = [(5 * i + 3) % 32 for i in range(32)]
ROWS = np.array([p // 32 * 32 + LANES[p % 32] for p in range(P)])


def tensor_reduce(op: str, dtype: str) -> Case:
    function = {"add": np.add, "max": np.maximum}[op]
    return Case(
        f"tensor_reduce {op}", dtype, {"x": Array(dtype), "r": out(dtype, (P, 1))},
        lambda b, t: b.tensor_reduce(dst=t.r, op={"max": "maximum"}.get(op, op), data=t.x, axis=1),
        lambda a: function.reduce(a.x, axis=1, keepdims=True, out=a.r))


def multiply_sum(a: SimpleNamespace) -> None:
    np.multiply(a.x, a.s, out=a.d)
    np.add.reduce(a.d, axis=1, out=a.r)


def statistics(a: SimpleNamespace) -> None:
    for first in (0, 1):
        part = a.x[:, first::2]
        a.d[:, 3 * first] = F // 2
        mean = part.mean(axis=1, keepdims=True, out=a.d[:, 3 * first + 1:3 * first + 2])
        np.subtract(part, mean, out=a.half)
        np.square(a.half, out=a.half)
        np.add.reduce(a.half, axis=1, out=a.d[:, 3 * first + 2])


def scan(a: SimpleNamespace) -> None:
    state = a.r
    state.fill(0)
    for j in range(F):
        np.multiply(a.x[:, j], state, out=state)
        np.add(state, a.y[:, j], out=state)
        a.d[:, j] = state


def eight_largest(a: SimpleNamespace) -> None:
    np.copyto(a.f, a.x)
    a.f.partition(F - 8, axis=1)
    top = a.f[:, F - 8:]
    top.sort(axis=1)
    np.copyto(a.d, top[:, ::-1])


REDUCTIONS = [
    tensor_reduce("add", "float32"), tensor_reduce("add", "bfloat16"),
    tensor_reduce("max", "float32"), tensor_reduce("max", "bfloat16"),
    Case("tensor_scalar_reduce", "multiply, add",
         {"x": Array(), "s": column(), "d": out(), "r": out(shape=(P, 1))},
         lambda b, t: b.tensor_scalar_reduce(dst=t.d, data=t.x, op0="multiply", operand0=t.s,
                                             reduce_op="add", reduce_res=t.r), multiply_sum, R),
    Case("tensor_tensor_scan", "multiply, add", {"x": full(0.5, (P, F)), "y": Array(), "d": out()},
         lambda b, t: b.tensor_tensor_scan(dst=t.d, data0=t.x, data1=t.y, initial=0.0,
                                           op0="multiply", op1="add"), scan, R),
    Case("tensor_scalar_cumulative", "add", {"x": Array(), "d": out()},
         lambda b, t: b.tensor_scalar_cumulative(dst=t.d, src=t.x, op0="multiply", op1="add",
                                                 imm0=1.0),
         lambda a: np.add.accumulate(a.x, axis=1, out=a.d)),
    Case("bn_stats", "float32", {"x": Array(), "d": out(shape=(P, 6))},
         lambda b, t: b.bn_stats(dst=t.d, data=t.x), statistics,
         {"half": np.empty((P, F // 2), F32)}),
    Case("max8", "float32", {"x": Array(), "d": out(shape=(P, 8))},
         lambda b, t: b.max8(dst=t.d, src=t.x), eight_largest, {"f": np.empty((P, F), F32)}),
]


def triangle(a: SimpleNamespace) -> None:
    np.greater_equal(a.rows, a.columns, out=a.m)
    a.d.fill(-1e9)
    np.copyto(a.d, a.x, where=a.m)


def predicated(a: SimpleNamespace) -> None:
    np.not_equal(a.p, 0, out=a.m)
    np.copyto(a.d, a.x, where=a.m)


def ranged(a: SimpleNamespace) -> None:
    np.greater_equal(a.columns, a.lo, out=a.m)
    np.less(a.columns, a.hi, out=a.m2)
    np.logical_and(a.m, a.m2, out=a.m)
    a.d.fill(np.finfo(F32).min)
    np.copyto(a.d, a.x, where=a.m)
    np.maximum.reduce(a.d, axis=1, out=a.r)


def selected(a: SimpleNamespace) -> None:
    np.not_equal(a.p, 0, out=a.m)
    a.d.fill(-1e9)
    np.copyto(a.d, a.x, where=a.m)
    np.maximum.reduce(a.d, axis=1, out=a.r)


def gathered(a: SimpleNamespace) -> None:
    for g in range(P // 16):
        rows = slice(16 * g, 16 * g + 16)
        np.take(a.x[rows], a.order[g], axis=1, out=a.d[rows], mode="clip")


def coin(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(0, 2, shape)


def indices(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(0, F, shape)


MASK = {"m": np.empty((P, F), bool), "m2": np.empty((P, F), bool),
        "rows": np.arange(P, dtype=np.int32)[:, None] * 4, "columns": np.arange(F, dtype=np.int32),
        **R}

SELECTIONS = [
    Case("iota", "int32", {"d": out("int32")},
         lambda b, t: b.iota(dst=t.d, pattern=[[1, F]], channel_multiplier=4),
         lambda a: np.add(a.rows, a.columns, out=a.d), MASK),
    Case("iota", "float32", {"d": out()},
         lambda b, t: b.iota(dst=t.d, pattern=[[1, F]], channel_multiplier=4),
         lambda a: np.add(a.rows, a.columns, out=a.d, casting="unsafe", dtype=np.float32), MASK),
    Case("affine_select", "float32", {"x": Array(), "d": out()},
         lambda b, t: b.affine_select(dst=t.d, pattern=[[-1, F]], channel_multiplier=4,
                                      on_true_tile=t.x, on_false_value=-1e9,
                                      cmp_op="greater_equal"), triangle, MASK),
    Case("tensor_copy_predicated", "float32, predicate uint8",
         {"x": Array(), "p": Array("uint8", values=coin), "d": Array()},
         lambda b, t: b.tensor_copy_predicated(dst=t.d, src=t.x, predicate=t.p), predicated, MASK),
    Case("range_select", "with the maximum",
         {"x": Array(), "lo": full(100), "hi": full(300), "d": out(), "r": out(shape=(P, 1))},
         lambda b, t: b.range_select(dst=t.d, on_true_tile=t.x, comp_op0="greater_equal",
                                     comp_op1="less", bound0=t.lo, bound1=t.hi, reduce_res=t.r),
         ranged, {**MASK, "columns": np.arange(F, dtype=F32)}),
    Case("select_reduce", "with the maximum",
         {"x": Array(), "p": Array("uint8", values=coin), "d": out(), "r": out(shape=(P, 1))},
         lambda b, t: b.select_reduce(dst=t.d, predicate=t.p, on_true=t.x, on_false=-1e9,
                                      reduce_res=t.r, reduce_cmd="reset_reduce"), selected, MASK),
    Case("nc_stream_shuffle", "float32", {"x": Array(), "d": out()},
         lambda b, t: b.nc_stream_shuffle(dst=t.d, src=t.x, shuffle_mask=LANES),
         lambda a: np.take(a.x, ROWS, axis=0, out=a.d, mode="clip")),
    Case("local_gather", "float32",
         {"x": Array(), "i": Array("uint16", (P, F // 16), values=indices), "d": out()},
         lambda b, t: b.local_gather(dst=t.d, src_buffer=t.x, index=t.i), gathered,
         {"order": np.random.default_rng(2).integers(0, F, (P // 16, F))}),
    Case("nc_n_gather", "float32",
         {"x": Array(), "i": Array("uint32", values=indices), "d": out()},
         lambda b, t: b.nc_n_gather(dst=t.d, data=t.x, indices=t.i),
         lambda a: np.take(a.x.reshape(-1), a.flat, out=a.d, mode="clip"),
         {"flat": np.random.default_rng(2).integers(0, F, (P, F)) + np.arange(P)[:, None] * F}),
]


def matmul(dtype: str) -> Case:
    # NumPy has no quick bfloat16 product: its arrays hold float32.
    wide = {name: np.random.default_rng(3).standard_normal(shape, dtype=F32)
            for name, shape in (("fw", (P, P)), ("fx", (P, F)))}
    return Case("nc_matmul", dtype + (" (peer: float32)" if dtype != "float32" else ""),
                {"w": Array(dtype, (P, P)), "x": Array(dtype), "d": out(where="psum")},
                lambda b, t: b.nc_matmul(dst=t.d, stationary=t.w, moving=t.x, accumulate=False),
                lambda a: np.matmul(a.fw.T, a.fx, out=a.d), wide)


TENSOR = [
    matmul("bfloat16"), matmul("float32"),
    Case("nc_transpose", "tensor engine, 128 x 128, float32",
         {"x": Array("float32", (P, P)), "d": out("float32", (P, P), "psum")},
         lambda b, t: b.nc_transpose(dst=t.d, data=t.x), lambda a: np.copyto(a.d, a.x.T)),
    Case("nc_transpose", "tensor engine, 128 x 128, bfloat16",
         {"x": Array("bfloat16", (P, P)), "d": out("bfloat16", (P, P), "psum")},
         lambda b, t: b.nc_transpose(dst=t.d, data=t.x), lambda a: np.copyto(a.d, a.x.T)),
    Case("nc_transpose", "vector engine, 32 x 32, float32",
         {"x": Array("float32", (32, 32)), "d": out("float32", (32, 32))},
         lambda b, t: b.nc_transpose(dst=t.d, data=t.x, engine="vector"),
         lambda a: np.copyto(a.d, a.x.T)),
]
