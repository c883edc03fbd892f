"""What the documents say the numbers are, in NumPy and nothing of trnemu.

Sources: shared/spec/numerics.md (sections by number), shared/spec/decisions.md,
shared/spec/isa_vocab.json (the formulas of ops and functions).
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

import ml_dtypes
import numpy as np

F32 = np.float32
LONG = np.longdouble
Array = np.ndarray[Any, Any]

# exponent bits, mantissa bits, bias, largest finite value: numerics.md 1.
FLOATS = {
    "float8_e4m3": (4, 3, 7, 240.0),
    "float8_e5m2": (5, 2, 15, 57344.0),
    "float8_e4m3fn": (4, 3, 7, 448.0),
    "float16": (5, 10, 15, 65504.0),
    "bfloat16": (8, 7, 127, 3.3895313892515355e38),
}
INTS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}
# What arithmetic takes (isa.json, 14 dtypes).
ANY = (*INTS, *FLOATS, "tfloat32", "float32", "bool")
PACKED = {
    "float8_e5m2_x4": "uint32",
    "float8_e4m3fn_x4": "uint32",
    "float4_e2m1fn_x4": "uint16",
}


def carrier(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype that arrays of a dtype have."""
    name = {"tfloat32": "float32", **PACKED}.get(dtype, dtype)
    return np.dtype(getattr(ml_dtypes, name, name))


def bits(array: Array) -> Array:
    """The bit patterns."""
    return array.view(f"u{array.dtype.itemsize}")


def positive_values(dtype: str) -> Array:
    """Value of code 0, 1, 2, ... up to one step past the largest finite."""
    e, m, bias, largest = FLOATS[dtype]
    codes = np.arange(1 << (e + m))
    exponent, fraction = codes >> m, codes & ((1 << m) - 1)
    values = np.ldexp(
        np.where(exponent > 0, fraction + (1 << m), fraction).astype(float),
        np.maximum(exponent, 1) - bias - m,
    )
    return values[: int(np.searchsorted(values, largest)) + 2]


def tf32(x: Array) -> Array:
    """Nearest even to 10 bits of mantissa."""
    u = x.astype(F32).view(np.uint32)
    rounded = (u + 0xFFF + (u >> 13 & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(x), x, rounded.astype(np.uint32).view(F32))


def cast(x: Array, dtype: str) -> Array:
    """fp32 to a dtype: numerics.md 3 and 15 (2, 3, 4)."""
    x = np.asarray(x, F32)
    if dtype == "float32":
        return x
    if dtype == "tfloat32":
        return tf32(x)
    if dtype in INTS:
        low, high = INTS[dtype]
        whole = np.clip(np.rint(x.astype(np.float64)), low, high)
        return np.where(np.isnan(x), 0, whole).astype(np.int64).astype(dtype)
    if dtype == "bool":
        return x != 0
    if dtype == "float8_e8m0fnu":
        return _power_of_two(x)
    values = positive_values(dtype)
    size = np.nan_to_num(np.abs(x.astype(np.float64)), nan=0.0, posinf=1e300)
    code = np.searchsorted(values, size, "right") - 1
    code = np.clip(code, 0, len(values) - 2)
    low, high = values[code], values[code + 1]
    tie = (size - low == high - size) & (code % 2 == 1)
    code = code + ((size - low > high - size) | tie)
    e, m, _, _ = FLOATS[dtype]
    infinite = np.where(
        code >= len(values) - 1,
        (1 << (e + m)) - 1 if dtype == "float8_e4m3fn" else ((1 << e) - 1) << m,
        code,
    )
    code = np.where(np.isnan(x), (1 << (e + m)) - 1, infinite)
    code = code | np.signbit(x).astype(np.int64) << (e + m)
    return code.astype(f"u{carrier(dtype).itemsize}").view(carrier(dtype))


def _power_of_two(x: Array) -> Array:
    """e8m0: nearest power of two, ties up; 0 gives code 0 (docs/numerics.md).

    ml_dtypes is no reference here: it gives 0xFF for 0, and rounds between
    2^-127 and 1.5 * 2^-127 up.
    """
    fraction, exponent = np.frexp(x.astype(np.float64))
    code = np.maximum(exponent + 126 + (fraction >= 0.75), 0)
    code = np.where((code > 254) | (x < 0) | ~np.isfinite(x), 255, code)
    code = np.where(x == 0, 0, code)
    return code.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


def widen(array: Array, dtype: str | None = None) -> Array:
    """What arithmetic reads: fp32, nearest even for integers above 2^24."""
    if dtype == "tfloat32":
        return tf32(array)
    return array.astype(F32)


def edges() -> Array:
    """fp32 values around every limit that a cast has."""
    out = [0.0, -0.0, np.inf, -np.inf, np.nan]
    near = [1.4e-45, 1e-38, 2.0**-126, 2.0**-133, 2.0**-127, 3.4028235e38]
    near += [0.5, 1.5, 2.5, 3.5, 254.5, 255.5, 2.0**24, 2.0**24 + 1, 3e9]
    near += [127.5, 126.5, 128.5, 32767.5, 65535.5, 2.0**31, 2.0**32, 1.0]
    for dtype, (_, _, _, largest) in FLOATS.items():
        values = positive_values(dtype)
        near += [largest, (values[-1] + values[-2]) / 2, values[1] / 2]
        near += [values[1], 1.5 * values[1]]
    for x in np.array(near).astype(F32):
        out += [x, np.nextafter(x, F32(0)), np.nextafter(x, F32(np.inf))]
    out = np.array(out, F32)
    return np.concatenate([out, -out])


def samples(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Arbitrary bit patterns of a dtype: every finite value, NaN, infinity."""
    rng = np.random.default_rng([seed, len(dtype), *map(ord, dtype)])
    kind = carrier(dtype)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 256, (*shape, kind.itemsize)).astype(np.uint8)
    return raw.view(kind)[..., 0]


def moderate(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Values of everyday size, each exactly in the dtype."""
    rng = np.random.default_rng([seed, len(dtype), *map(ord, dtype)])
    if dtype in INTS:
        low, high = INTS[dtype]
        return rng.integers(max(low, -50), min(high, 50), shape).astype(dtype)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return cast((rng.standard_normal(shape) * 4).astype(F32), dtype)


def same(actual: Array, expected: Array, what: Any = "") -> None:
    """Equal bits, except that any NaN equals any NaN."""
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if actual.dtype.kind in "fV":
        nan, a_nan = np.isnan(expected), np.isnan(actual)
    else:
        nan = a_nan = np.zeros(actual.shape, bool)
    wrong = (nan != a_nan) | (~nan & (bits(actual) != bits(expected)))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what} {int(wrong.sum())} of {wrong.size} differ, first at "
            f"{where}: {actual[where]!r}, expected {expected[where]!r}"
        )


# Binary and unary ops of the ALU in fp32: isa_vocab.json, alu_ops; NaN and
# ties of maximum and minimum: docs/numerics.md.


def _maximum(a: Array, b: Array) -> Array:
    return np.where(np.isnan(b) | (a > b), a, b)


def _minimum(a: Array, b: Array) -> Array:
    return np.where(np.isnan(b) | (a < b), a, b)


def _one(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: f(a, b).astype(F32)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": _maximum,
    "minimum": _minimum,
    "equal": _one(lambda a, b: a == b),
    "not_equal": _one(lambda a, b: a != b),
    "greater_equal": _one(lambda a, b: a >= b),
    "greater": _one(lambda a, b: a > b),
    "less_equal": _one(lambda a, b: a <= b),
    "less": _one(lambda a, b: a < b),
    "logical_and": _one(lambda a, b: (a != 0) & (b != 0)),
    "logical_or": _one(lambda a, b: (a != 0) | (b != 0)),
    "logical_xor": _one(lambda a, b: (a != 0) ^ (b != 0)),
}
GEN4_BINARY = {  # a number wins over NaN, as in maximum (15.5)
    "abs_max": lambda a, b: np.where(
        np.isnan(b) | (np.abs(a) > np.abs(b)), a, b
    ),
    "abs_min": lambda a, b: np.where(
        np.isnan(b) | (np.abs(a) < np.abs(b)), a, b
    ),
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "rsqrt": lambda a: (1 / np.sqrt(a.astype(LONG))).astype(F32),
    "reciprocal": lambda a: F32(1) / a,
}
GEN4_UNARY = {
    "square": lambda a: a * a,
    "relu": lambda a: _maximum(a, F32(0)),
}


def shift_left(a: Array, b: Array) -> Array:
    """Bits out at the top are lost; an amount of the width or more gives 0."""
    width = 8 * a.dtype.itemsize
    amount = b.astype(np.uint64)
    moved = bits(a).astype(np.uint64) << np.minimum(amount, 63)
    moved = np.where(amount >= width, 0, moved)
    return moved.astype(bits(a).dtype).view(a.dtype)


def shift_right(a: Array, b: Array) -> Array:
    """Logical: zeros come in at the top, for signed types too."""
    width = 8 * a.dtype.itemsize
    amount = b.astype(np.uint64)
    moved = bits(a).astype(np.uint64) >> np.minimum(amount, 63)
    moved = np.where(amount >= width, 0, moved)
    return moved.astype(bits(a).dtype).view(a.dtype)


BITWISE: dict[str, Callable[[Array, Array], Array]] = {
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
    "left_shift": shift_left,
    "right_shift": shift_right,
}


def ulps(actual: Array, exact: Array) -> Array:
    """|actual - exact| in units of fp32's spacing at exact."""
    exact = np.asarray(exact, LONG)
    _, e = np.frexp(exact)
    spacing = np.ldexp(LONG(1), np.maximum(e, -125) - 24)
    error = np.abs(actual.astype(LONG) - exact) / spacing
    largest = LONG(np.finfo(F32).max)
    overflow = (np.abs(exact) > largest) & np.isinf(actual)
    overflow &= np.sign(actual) == np.sign(exact)
    equal = (actual == exact) | overflow | (np.isnan(actual) & np.isnan(exact))
    return np.where(equal, 0, np.where(np.isfinite(error), error, np.inf))


def within_ulp(actual: Array, exact: Array, x: Array, limit: float = 1) -> None:
    """At most `limit` ulp from the exact value; names the worst argument."""
    error = ulps(actual, exact)
    worst = np.unravel_index(int(np.argmax(error)), error.shape)
    assert error[worst] <= limit, (
        f"{float(error[worst])} ulp at {x[worst]!r}: {actual[worst]!r}, "
        f"exact {exact[worst]!r}; {int((error > limit).sum())} of "
        f"{error.size} are off"
    )


# Activation functions in extended precision: numerics.md 7. Where the printed
# formula cancels, an equal one that does not.

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])
_PI = LONG("3.14159265358979323846264338327950288")
_GATE = LONG("1.702")


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _swish_dx(x: Array) -> Array:  # s + x s (1 - s), 1 - s = sigmoid(-x)
    return _sigmoid(x) * (1 + x * _sigmoid(-x))


def _phi(x: Array) -> Array:  # (1 + erf(x / sqrt 2)) / 2
    return LONG(0.5) * _erfc((-x / np.sqrt(LONG(2))).astype(float))


def _gelu_tanh(x: Array) -> Array:  # (1 + tanh w) / 2 = sigmoid(2 w)
    w = np.sqrt(2 / _PI) * (x + LONG("0.044715") * x**3)
    return x * _sigmoid(2 * w)


def _sin(x: Array) -> Array:
    """No range reduction: beyond pi the cubic about pi, odd (15.16)."""
    d = np.abs(x) - _PI
    cubic = np.sign(x) * (-d + d**3 / 6)
    return np.where(np.abs(x) > _PI, cubic, np.sin(x))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "sigmoid": _sigmoid,
    "relu": lambda x: np.where(x > 0, x, LONG(0)),
    "prelu": lambda x: np.where(x > 0, x, LONG(0)),  # slope 0, see numerics.md
    "gelu": lambda x: x * _phi(x),
    "gelu_dx": lambda x: _phi(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * _PI),
    "gelu_apprx_tanh": _gelu_tanh,
    "gelu_apprx_sigmoid": lambda x: x * _sigmoid(_GATE * x),
    "gelu_apprx_sigmoid_dx": lambda x: _swish_dx(_GATE * x),
    "silu": lambda x: x * _sigmoid(x),
    "silu_dx": _swish_dx,
    "tanh": np.tanh,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "mish": lambda x: x * np.tanh(
        np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    ),
    "erf": lambda x: _erf(x.astype(float)).astype(LONG),
    "erf_dx": lambda x: 2 / np.sqrt(_PI) * np.exp(-x * x),
    "exp": np.exp,
    "log": np.log,
    "sin": _sin,
    "arctan": np.arctan,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sign": np.sign,
    "abs": np.abs,
}


# The tensor engine: decisions.md, "The rule". Every product is exact in fp32
# (at most 24 significant bits), so an fp64 sum rounded to fp32 is the fused
# multiply-add: a 24-bit product and a 24-bit sum that lie within 2^29 of each
# other add exactly in fp64, and otherwise the smaller is far below half an
# ulp of the larger and decides neither rounding.


def chain(a: Array, b: Array) -> Array:
    """Ascending fp32 multiply-add over k of a[k, m] b[k, n], from +0."""
    total = np.zeros((a.shape[1], b.shape[1]), F32)
    a, b = a.astype(np.float64), b.astype(np.float64)
    for k in range(a.shape[0]):
        total = (total + a[k][:, None] * b[k]).astype(F32)
    return total


def column(a: Array, b: Array, rows: int = 32) -> Array:
    """One chain per group of rows, the groups added in order."""
    parts = [
        chain(a[k:k + rows], b[k:k + rows]) for k in range(0, len(a), rows)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def halves(x: Array) -> tuple[Array, Array]:
    """The 24-bit significand cut into 12 + 12 by truncation."""
    hi = (x.view(np.uint32) & np.uint32(0xFFFFF000)).view(F32)
    return hi, x - hi


def fp32_passes(a: Array, b: Array) -> list[Array]:
    """What the LO pass and the HI pass add into PSUM."""
    (a_hi, a_lo), (b_hi, b_lo) = halves(a), halves(b)
    return [column(s, b_lo) + column(s, b_hi) for s in (a_lo, a_hi)]


def fp32_matmul(a: Array, b: Array) -> Array:
    """a^T b in tiles of 128 over K, accumulated in PSUM."""
    total = None
    for k in range(0, len(a), 128):
        for part in fp32_passes(a[k:k + 128], b[k:k + 128]):
            total = part if total is None else total + part
    return total
