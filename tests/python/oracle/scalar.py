"""The scalar engine's activations.

Sources: isa.json (activation, activation_reduce, activate2), numerics.md 7, 8
and 15.16; choices beyond them: DECISIONS.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ref
from oracle.types import Array, Operation, Result, State, T
from oracle.vector import (
    accumulate, alu, around, between, column, exp, read_out, swapped, wide,
)
from reference import F32, LONG

Limits = tuple[Array, Array]
# One fp32 operation at most: no error is allowed.
EXACT = ("copy", "square", "relu", "abs", "sign", "prelu")


def activate(op: str, t: Array, slope: Array | None = None) -> Limits:
    """fn(t), as limits in fp32: at most 1 ulp off (numerics.md 15.16).

    Where neither formula nor limit says what the value is, the limits are
    -inf and inf.
    """
    if op in EXACT:
        low, high = _exact(op, t, slope)
    elif op == "exp":
        low, high = exp(t)
    else:
        low, high = around(ref.ACTIVATIONS[op](t.astype(LONG)))
    unknown = _unknown(op, t, low)
    inf = F32(np.inf)
    return np.where(unknown, -inf, low), np.where(unknown, inf, high)


def _exact(op: str, t: Array, slope: Array | None) -> Limits:
    if op == "prelu":
        if slope is None:  # the slope argument exists on activate2 only
            zero = np.zeros(t.shape, F32)
            return np.where(t >= 0, t, -zero), np.where(t >= 0, t, zero)
        y = np.where(t >= 0, t, slope * t)
    elif op == "relu":
        y = alu("maximum", t, np.zeros(t.shape, F32))
    elif op == "sign":
        y = (t > 0).astype(F32) - (t < 0).astype(F32)
        low = np.where(t == 0, F32(-0.0), y)
        return low, y
    else:
        y = {"copy": lambda: t, "square": lambda: t * t,
             "abs": lambda: np.abs(t)}[op]()
    return y, y


def _unknown(op: str, t: Array, y: Array) -> Array:
    """Arguments whose value the documents leave open."""
    if op in ("sign", "prelu"):
        return np.isnan(t) | np.isneginf(t) & (op == "prelu")
    if op in EXACT:
        return np.zeros(t.shape, bool)
    unknown = np.isinf(t) & (np.isnan(y) | (op == "sin"))
    if op in ("reciprocal", "rsqrt"):
        unknown |= t == 0
    return unknown


def activation(
    gen: int, state: State, *, dst: T, op: str, data: T,
    bias: T | float | None = None, scale: T | float = 1.0,
    reduce_op: str | None = None, reduce_res: T | None = None,
    reduce_cmd: str = "idle", **_: Any,
) -> Result:
    """Multiply and add round separately (numerics.md 15.6)."""
    t = wide(data) * column(scale) + column(bias)
    y = activate(op, t)
    accumulate(state.scalar, reduce_cmd, "add", *y, once=True)
    return _finish(state, dst, y, reduce_res)


def _finish(
    state: State, dst: T, y: Limits, reduce_res: T | None
) -> Result:
    """Stores y; the accumulators saw it before the cast (15.8)."""
    out: Result = {"dst": between(dst, *y)}
    if reduce_res is not None:
        out["reduce_res"] = read_out(reduce_res, state.scalar)
    return out


def activation_reduce(
    gen: int, state: State, *, dst: T, op: str, data: T, reduce_op: str,
    reduce_res: T | None = None, bias: T | float | None = None,
    scale: T | float = 1.0, **_: Any,
) -> Result:
    return activation(
        gen, state, dst=dst, op=op, data=data, bias=bias, scale=scale,
        reduce_op=reduce_op, reduce_res=reduce_res, reduce_cmd="reset_reduce",
    )


def activate2(
    gen: int, state: State, *, dst: T, op: str, data: T, imm0: T | float,
    imm1: T | float, op0: str, op1: str, relu_param: T | float = 0.0,
    reverse0: bool = False, reverse1: bool = False,
    reduce_op: str | None = None, reduce_res: T | None = None,
    reduce_cmd: str = "idle", **_: Any,
) -> Result:
    t = wide(data)
    if op0 != "bypass":
        t = swapped(op0, t, column(imm0), reverse0)
    if op1 != "bypass":
        t = swapped(op1, t, column(imm1), reverse1)
    y = activate(op, t, column(relu_param))
    accumulate(state.scalar, reduce_cmd, reduce_op or "add", *y)
    return _finish(state, dst, y, reduce_res)


OPERATIONS: dict[str, Operation] = {
    f.__name__: f for f in (activation, activation_reduce, activate2)
}
TOLERANCE = {name: "1ulp" for name in OPERATIONS}
