"""What bench/elementwise.py measures: an instruction, and the same in NumPy.

The peer is the fastest plain NumPy expression found that gives the same
result, into arrays that exist already; casts are those of ml_dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

P, F = 128, 512
F32 = np.float32
Shape = tuple[int, ...]


@dataclass
class Array:
    """A tile, or with where="hbm" a tensor; and the peer's array."""

    dtype: str = "float32"
    shape: Shape = (P, F)
    where: str = "sbuf"
    # What it holds: normal numbers unless given. None: it is only written.
    values: Callable[[np.random.Generator, Shape], Any] | None = \
        lambda rng, shape: rng.standard_normal(shape, dtype=F32)


@dataclass
class Case:
    name: str
    form: str
    arrays: dict[str, Array]
    emit: Callable[[Any, SimpleNamespace], None]  # builder, views
    peer: Callable[[SimpleNamespace], object]  # arrays
    # Arrays that only the peer has.
    scratch: dict[str, np.ndarray] = field(default_factory=dict)


def out(dtype: str = "float32", shape: Shape = (P, F), where: str = "sbuf") -> Array:
    return Array(dtype, shape, where, None)


def column(dtype: str = "float32") -> Array:
    return Array(dtype, (P, 1))


def full(value: float, shape: Shape = (P, 1)) -> Array:
    return Array("float32", shape, values=lambda rng, s: np.full(s, value, F32))


def copy(form: str, src: str, dst: str, peer: Callable[..., object] | None = None) -> Case:
    return Case(
        "tensor_copy", form, {"x": Array(src), "d": out(dst)},
        lambda b, t: b.tensor_copy(dst=t.d, src=t.x),
        peer or (lambda a: np.copyto(a.d, a.x, casting="unsafe")),
        {"f": np.empty((P, F), F32)})


def rounded(a: SimpleNamespace) -> None:
    np.rint(a.x, out=a.f)
    np.copyto(a.d, a.f, casting="unsafe")


def tensor_tensor(op: str, dtype: str) -> Case:
    function = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum}[op]
    return Case(
        f"tensor_tensor {op}", dtype, {"x": Array(dtype), "y": Array(dtype), "d": out(dtype)},
        lambda b, t: b.tensor_tensor(dst=t.d, data1=t.x, data2=t.y, op=op),
        lambda a: function(a.x, a.y, out=a.d))


COPIES = [
    copy("float32", "float32", "float32"),
    copy("bfloat16", "bfloat16", "bfloat16"),
    copy("float32 to bfloat16", "float32", "bfloat16"),
    copy("bfloat16 to float32", "bfloat16", "float32"),
    copy("float32 to float16", "float32", "float16"),
    copy("float32 to int32", "float32", "int32", rounded),
    copy("int32 to float32", "int32", "float32"),
    copy("float32 to float8_e4m3", "float32", "float8_e4m3"),
    copy("float32 to float8_e5m2", "float32", "float8_e5m2"),
    copy("float8_e4m3 to float32", "float8_e4m3", "float32"),
    copy("float8_e4m3 to bfloat16", "float8_e4m3", "bfloat16"),
    Case("memset", "float32", {"d": out()},
         lambda b, t: b.memset(dst=t.d, value=1.5), lambda a: a.d.fill(1.5)),
    Case("memset", "bfloat16", {"d": out("bfloat16")},
         lambda b, t: b.memset(dst=t.d, value=1.5), lambda a: a.d.fill(1.5)),
    Case("dma_copy", "HBM to SBUF, float32", {"x": Array(where="hbm"), "d": out()},
         lambda b, t: b.dma_copy(dst=t.d, src=t.x), lambda a: np.copyto(a.d, a.x)),
    Case("dma_copy", "SBUF to HBM, bfloat16",
         {"x": Array("bfloat16"), "d": out("bfloat16", where="hbm")},
         lambda b, t: b.dma_copy(dst=t.d, src=t.x), lambda a: np.copyto(a.d, a.x)),
    Case("dma_copy", "float32 to bfloat16", {"x": Array(where="hbm"), "d": out("bfloat16")},
         lambda b, t: b.dma_copy(dst=t.d, src=t.x),
         lambda a: np.copyto(a.d, a.x, casting="unsafe")),
    Case("dma_compute", "add of two, float32",
         {"x": Array(where="hbm"), "y": Array(where="hbm"), "d": out(where="hbm")},
         lambda b, t: b.dma_compute(dst=t.d, srcs=[t.x, t.y], reduce_op="add"),
         lambda a: np.add(a.x, a.y, out=a.d)),
    Case("dma_transpose", "512 x 128, bfloat16",
         {"x": Array("bfloat16", (F, P), "hbm"), "d": out("bfloat16")},
         lambda b, t: b.dma_transpose(dst=t.d, src=t.x), lambda a: np.copyto(a.d, a.x.T)),
]


def scaled_sum(a: SimpleNamespace) -> None:
    np.multiply(a.x, F32(2), out=a.d)
    np.add(a.d, F32(1), out=a.d)


def column_scaled(a: SimpleNamespace) -> None:
    np.multiply(a.x, a.s, out=a.d)
    np.add(a.d, a.y, out=a.d)


def exp_sum(a: SimpleNamespace) -> None:
    np.exp(a.x, out=a.d)
    np.add.reduce(a.d, axis=1, out=a.r)


def scaled_exp(a: SimpleNamespace) -> None:
    np.multiply(a.x, F32(0.5), out=a.d)
    np.add(a.d, a.s, out=a.d)
    np.exp(a.d, out=a.d)


def rsqrt(a: SimpleNamespace) -> None:
    """Rounded once, as the emulator's: two float32 roundings give other bits."""
    np.sqrt(a.x, out=a.wide, dtype=np.float64)
    np.divide(1, a.wide, out=a.wide)
    np.copyto(a.d, a.wide, casting="unsafe")


def rsqrt_twice(a: SimpleNamespace) -> None:
    np.sqrt(a.x, out=a.d)
    np.reciprocal(a.d, out=a.d)


def activation(op: str, form: str, peer: Callable[..., object], dtype: str = "float32",
               positive: bool = False, **more: Any) -> Case:
    x = Array(dtype)
    if positive:
        x.values = lambda rng, shape: rng.random(shape, dtype=F32) + F32(0.1)
    return Case(f"activation {op}", form, {"x": x, "d": out(dtype), "s": column()},
                lambda b, t: b.activation(dst=t.d, op=op, data=t.x, **more), peer)


ARITHMETIC = [
    *(tensor_tensor(op, dtype) for op in ("add", "multiply", "maximum")
      for dtype in ("float32", "bfloat16")),
    Case("tensor_scalar", "multiply, float32", {"x": Array(), "d": out()},
         lambda b, t: b.tensor_scalar(dst=t.d, data=t.x, op0="multiply", operand0=2.0),
         lambda a: np.multiply(a.x, F32(2), out=a.d)),
    Case("tensor_scalar", "multiply by a column", {"x": Array(), "s": column(), "d": out()},
         lambda b, t: b.tensor_scalar(dst=t.d, data=t.x, op0="multiply", operand0=t.s),
         lambda a: np.multiply(a.x, a.s, out=a.d)),
    Case("tensor_scalar", "multiply, add, float32", {"x": Array(), "d": out()},
         lambda b, t: b.tensor_scalar(dst=t.d, data=t.x, op0="multiply", operand0=2.0,
                                      op1="add", operand1=1.0), scaled_sum),
    Case("tensor_scalar", "multiply, bfloat16", {"x": Array("bfloat16"), "d": out("bfloat16")},
         lambda b, t: b.tensor_scalar(dst=t.d, data=t.x, op0="multiply", operand0=2.0),
         lambda a: np.multiply(a.x, a.two, out=a.d)),
    Case("scalar_tensor_tensor", "multiply, add",
         {"x": Array(), "s": column(), "y": Array(), "d": out()},
         lambda b, t: b.scalar_tensor_tensor(dst=t.d, data=t.x, op0="multiply", operand0=t.s,
                                             op1="add", operand1=t.y), column_scaled),
    Case("reciprocal", "float32", {"x": Array(), "d": out()},
         lambda b, t: b.reciprocal(dst=t.d, data=t.x), lambda a: np.reciprocal(a.x, out=a.d)),
    activation("exp", "float32", lambda a: np.exp(a.x, out=a.d)),
    activation("exp", "bfloat16", lambda a: np.exp(a.x, out=a.d), "bfloat16"),
    Case("activation exp", "scale and bias", {"x": Array(), "s": column(), "d": out()},
         lambda b, t: b.activation(dst=t.d, op="exp", data=t.x, bias=t.s, scale=0.5), scaled_exp),
    activation("copy", "float32", lambda a: np.copyto(a.d, a.x)),
    activation("copy", "scale", lambda a: np.multiply(a.x, F32(0.5), out=a.d), scale=0.5),
    activation("square", "float32", lambda a: np.square(a.x, out=a.d)),
    activation("rsqrt", "float32", rsqrt, positive=True),
    activation("rsqrt", "peer rounds twice, other bits", rsqrt_twice, positive=True),
    activation("tanh", "float32", lambda a: np.tanh(a.x, out=a.d)),
    Case("activation exp", "with the sum", {"x": Array(), "d": out(), "r": out(shape=(P, 1))},
         lambda b, t: b.activation(dst=t.d, op="exp", data=t.x, reduce_op="add", reduce_res=t.r,
                                   reduce_cmd="reset_reduce"),
         exp_sum, {"r": np.empty(P, F32)}),
    Case("activation_reduce", "exp", {"x": Array(), "d": out(), "r": out(shape=(P, 1))},
         lambda b, t: b.activation_reduce(dst=t.d, op="exp", data=t.x, reduce_op="add",
                                          reduce_res=t.r),
         exp_sum, {"r": np.empty(P, F32)}),
]
for _case in ARITHMETIC:
    _case.scratch.setdefault("two", np.array(2))
    _case.scratch.setdefault("wide", np.empty((P, F)))
