"""Element-wise wrappers of one operand: functions, roundings, signs.

The result is a new tile in SBUF, of x's dtype unless `dtype` is given; what
is computed in between is float32. Most are one activation, with the valid
range of its table (nki/api/nki.api.shared.rst:143). sin, cos, tan, floor, ceil
and trunc are several instructions, so that they are right for more than a
table or one cast is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor
from trnemu.nki.language._operands import (
    INTEGERS,
    activated,
    copied,
    is_stored_as,
    multiply_add,
    new,
    scalar_op,
    tensor_op,
    tile,
)
from trnemu.nki.language._tokens import Op, float32, op, uint32


def _activation(function: str, what: str, valid: str = "") -> Op:
    """The wrapper for a function of the scalar engine."""
    if valid:
        valid = (
            f"\n    x: {valid}; a table gives no result that means anything "
            "elsewhere, and\n    a warning activation.outside_valid_range "
            "says so."
        )

    def wrapper(x: Any, dtype: Any = None) -> NkiTensor:
        data = tile(function, "x", x)
        return activated(data, function, dtype or data.dtype)

    wrapper.__name__ = wrapper.__qualname__ = function
    wrapper.__doc__ = f"""{what}, element by element, on the scalar engine.
    {valid}
    dtype: that of the result; x's unless given. Fault: x in HBM.
    Source: nki/api/nki.api.shared.rst:143.
    """
    return op(wrapper)


exp = _activation("exp", "e ** x")
log = _activation("log", "The natural logarithm", "2**-64 to 2**64")
sqrt = _activation("sqrt", "The square root", "0, or 2**-116 to 2**118")
square = _activation("square", "x * x")
sign = _activation("sign", "-1, 0 or 1")
arctan = _activation("arctan", "The inverse tangent", "-pi/2 to pi/2")
tanh = _activation("tanh", "The hyperbolic tangent")
sigmoid = _activation("sigmoid", "1 / (1 + exp(-x))")
relu = _activation("relu", "max(x, 0)")
gelu = _activation("gelu", "x times the normal distribution function")
gelu_dx = _activation("gelu_dx", "The derivative of gelu")
gelu_apprx_tanh = _activation("gelu_apprx_tanh", "gelu, by tanh")
gelu_apprx_sigmoid = _activation(
    "gelu_apprx_sigmoid", "gelu, as x sigmoid(1.702 x)"
)
gelu_apprx_sigmoid_dx = _activation(
    "gelu_apprx_sigmoid_dx", "The derivative of gelu_apprx_sigmoid"
)
silu = _activation("silu", "x sigmoid(x)")
silu_dx = _activation("silu_dx", "The derivative of silu")
softplus = _activation("softplus", "log(1 + exp(x))")
mish = _activation("mish", "x tanh(softplus(x))")
erf = _activation("erf", "The error function")
erf_dx = _activation("erf_dx", "The derivative of erf")


@op
def abs(x: Any, dtype: Any = None) -> NkiTensor:
    """The magnitude of each element: tensor_scalar, exact for floats.

    Source: nki/api/nki/language/__init__.py:882, nki.api.shared.rst:129.
    """
    data = tile("abs", "x", x)
    return scalar_op(data, "abs", dtype=dtype or data.dtype)


@op
def negative(x: Any, dtype: Any = None) -> NkiTensor:
    """-x: tensor_scalar times -1, exact for floats.

    Source: nki/api/nki/language/__init__.py:1714.
    """
    data = tile("negative", "x", x)
    return scalar_op(data, "multiply", -1.0, dtype=dtype or data.dtype)


@op
def reciprocal(x: Any, dtype: Any = None) -> NkiTensor:
    """1 / x on the vector engine (nisa.reciprocal).

    Source: nki/api/nki/language/__init__.py:1448, nki.api.shared.rst:231.
    """
    data = tile("reciprocal", "x", x)
    dst = new(data.shape, dtype or data.dtype)
    _trace.current().add("reciprocal", dst=dst, data=data)
    return dst


def rsqrt_into(dst: NkiTensor, x: NkiTensor) -> NkiTensor:
    """dst = 1 / sqrt(x), where this API version computes it."""
    trace = _trace.current()
    if trace.api < (0, 5):
        trace.add("activation", dst=dst, op="rsqrt", data=x)
        return dst
    return scalar_op(x, "rsqrt", 0.0, dst=dst, engine="gpsimd")


@op
def rsqrt(x: Any, dtype: Any = None) -> NkiTensor:
    """1 / sqrt(x): from API 0.5 on tensor_scalar on gpsimd, which reads no
    PSUM, before by the scalar engine's table.

    Source: nki/migration/index.rst:159, nki.api.shared.rst:258.
    """
    data = tile("rsqrt", "x", x)
    return rsqrt_into(new(data.shape, dtype or data.dtype), data)


# Range reduction: r = x - n pi, with pi as a sum of four numbers of which the
# first three have so few bits that n times each is exact for the n there are,
# up to 2**17 / pi and, for cos, odd multiples of a half. The differences are
# exact as well, but for the last two, which round to float32.
_PI = (201 / 2**6, 126 / 2**17, 106 / 2**24, 3.178650954705639e-08)
_ONE_OVER_PI = 0.3183098861837907
# Adding it to a number below 2**22 rounds that to an integer, whose bits are
# then the low bits of the sum.
_TO_INTEGER = 1.5 * 2**23
_SCALE = 2.0**111  # times 2**17 it overflows


def _guarded(x: NkiTensor, name: str) -> NkiTensor:
    """x as float32, infinite from a magnitude of 2**17 on, which the
    reduction makes a NaN of: it is not accurate there."""
    return scalar_op(
        x, "multiply", _SCALE, "multiply", 1 / _SCALE, name=f"{name}.x"
    )


def _minus_multiple_of_pi(
    x: NkiTensor, n: NkiTensor, odd: NkiTensor, name: str
) -> NkiTensor:
    """x - n pi, its sign changed where the lowest bit of `odd` is 1."""
    r = x
    for part in _PI:
        r = multiply_add(n, -part, r, name=f"{name}.r")
    bit = scalar_op(
        odd.view(uint32), "left_shift", 31, dtype=uint32, name=f"{name}.sign"
    )
    bits = r.view(uint32)
    tensor_op(bits, bit, "bitwise_xor", dst=bits)
    return r


def _sine(x: NkiTensor, name: str, dtype: Any = float32) -> NkiTensor:
    """sin of a guarded x: (-1)**n sin(x - n pi), n = round(x / pi)."""
    shifted = scalar_op(
        x, "multiply", _ONE_OVER_PI, "add", _TO_INTEGER, name=f"{name}.shifted"
    )
    n = scalar_op(shifted, "subtract", _TO_INTEGER, name=f"{name}.n")
    r = _minus_multiple_of_pi(x, n, shifted, name)
    return activated(r, "sin", dtype)


def _cosine(x: NkiTensor, name: str, dtype: Any = float32) -> NkiTensor:
    """cos of a guarded x: sin(x + pi / 2), so that n is an odd multiple of a
    half: (-1)**m sin(x - (m - 1/2) pi), m = round(x / pi + 1/2)."""
    turns = scalar_op(
        x, "multiply", _ONE_OVER_PI, "add", 0.5, name=f"{name}.turns"
    )
    shifted = scalar_op(turns, "add", _TO_INTEGER, name=f"{name}.shifted")
    n = scalar_op(
        shifted, "subtract", _TO_INTEGER, "subtract", 0.5, name=f"{name}.n"
    )
    r = _minus_multiple_of_pi(x, n, shifted, name)
    return activated(r, "sin", dtype)


@op
def sin(x: Any, dtype: Any = None) -> NkiTensor:
    """The sine, with range reduction: the table alone ends at pi.

    For magnitudes below 2**17 = 131072 the reduction adds at most 1.1e-7 to
    the table's own error; from there on, and for what is not finite, the
    result is NaN rather than a number that means nothing.
    Ten instructions (vector and scalar engine).
    Source: nki/api/nki.api.shared.rst:202.
    """
    data = tile("sin", "x", x)
    return _sine(_guarded(data, "sin"), "sin", dtype or data.dtype)


@op
def cos(x: Any, dtype: Any = None) -> NkiTensor:
    """The cosine, as sin(x + pi / 2) with the range reduction of sin: the
    same range and accuracy."""
    data = tile("cos", "x", x)
    return _cosine(_guarded(data, "cos"), "cos", dtype or data.dtype)


@op
def tan(x: Any, dtype: Any = None) -> NkiTensor:
    """The tangent: sin(x) times the reciprocal of cos(x), in float32; the
    range of sin. Below 100 it is within 3e-7 of the tangent, relatively."""
    data = tile("tan", "x", x)
    reduced = _guarded(data, "tan")
    numerator = _sine(reduced, "tan.sin")
    cosine = _cosine(reduced, "tan.cos")
    inverse = new(data.shape, float32, "tan.inverse")
    _trace.current().add("reciprocal", dst=inverse, data=cosine)
    return tensor_op(
        numerator, inverse, "multiply", dtype=dtype or data.dtype
    )


_WHOLE = 2.0**23
"""From here on every float32 is an integer."""
_SIGN_BIT = 2**31


class _Parts:
    """A tile's elements as sign and magnitude, for the roundings."""

    def __init__(self, x: NkiTensor, name: str) -> None:
        if x.dtype != float32 or x.is_indirect():
            x = copied(x, float32, f"{name}.x")
        self.x = x
        self.name = name
        self.magnitude = scalar_op(x, "abs", name=f"{name}.magnitude")
        # Added and taken away again, 2**23 leaves an integer, the nearest;
        # what is that large already is one, and stays as it is.
        unit = scalar_op(
            self.magnitude,
            "less",
            _WHOLE,
            "multiply",
            _WHOLE,
            name=f"{name}.unit",
        )
        sum_ = tensor_op(self.magnitude, unit, "add", name=f"{name}.sum")
        self.nearest = tensor_op(sum_, unit, "subtract", name=f"{name}.nearest")

    def signed(self, magnitude: NkiTensor) -> NkiTensor:
        """`magnitude`, or a value of x's sign or 0, with x's sign bit."""
        sign = scalar_op(
            self.x.view(uint32),
            "bitwise_and",
            _SIGN_BIT,
            dtype=uint32,
            name=f"{self.name}.sign",
        )
        bits = magnitude.view(uint32)
        tensor_op(bits, sign, "bitwise_or", dst=bits)
        return magnitude

    def corrected(
        self,
        value: NkiTensor,
        limit: NkiTensor,
        beyond: str,
        by: str,
        dtype: Any = float32,
    ) -> NkiTensor:
        """`value`, minus or plus 1 (`by`) where it is beyond `limit`."""
        one = tensor_op(value, limit, beyond, name=f"{self.name}.beyond")
        return tensor_op(value, one, by, dtype=dtype)


def _floor(x: _Parts, dtype: Any) -> NkiTensor:
    nearest = x.signed(x.nearest)
    return x.corrected(nearest, x.x, "greater", "subtract", dtype)


def _ceil(x: _Parts, dtype: Any) -> NkiTensor:
    nearest = x.signed(x.nearest)
    # Signed again: what rounds up to 0 from below is -0.
    value = x.signed(x.corrected(nearest, x.x, "less", "add"))
    return value if is_stored_as(dtype, value.dtype) else copied(value, dtype)


def _trunc(x: _Parts, dtype: Any) -> NkiTensor:
    value = x.signed(
        x.corrected(x.nearest, x.magnitude, "greater", "subtract")
    )
    return value if is_stored_as(dtype, value.dtype) else copied(value, dtype)


def _rounding(
    name: str, what: str, rounded: Callable[[_Parts, Any], NkiTensor]
) -> Op:
    """The wrapper for floor, ceil or trunc."""

    def wrapper(x: Any, dtype: Any = None) -> NkiTensor:
        data = tile(name, "x", x)
        if data.dtype in INTEGERS:
            return copied(data, dtype or data.dtype)
        return rounded(_Parts(data, name), dtype or data.dtype)

    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = f"""{what}.

    Exact for every float, zeros' signs, infinities and NaN included, by adding
    and subtracting 2**23 and correcting by 1: up to ten instructions of the
    vector engine. Integers are copied.
    Source: nki/api/nki/language/__init__.py:1611 (what they give).
    """
    return op(wrapper)


floor = _rounding("floor", "The largest integer not above x", _floor)
ceil = _rounding("ceil", "The smallest integer not below x", _ceil)
trunc = _rounding("trunc", "x without its fraction", _trunc)

__all__ = [
    "abs",
    "arctan",
    "ceil",
    "cos",
    "erf",
    "erf_dx",
    "exp",
    "floor",
    "gelu",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "gelu_apprx_tanh",
    "gelu_dx",
    "log",
    "mish",
    "negative",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "silu_dx",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
