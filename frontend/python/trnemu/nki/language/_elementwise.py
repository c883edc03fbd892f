"""Element-wise wrappers of two operands.

x op y of two tiles is tensor_tensor; with a number, or a float32 column (one
element a partition), tensor_scalar, which computes in float32. Other tiles of
size 1 along free axes are broadcast by their access pattern. Partitions are
never broadcast: nl.broadcast_to does that.

The result is a new tile in SBUF, of the dtype of the first operand that is a
tile unless `dtype` is given (documented for comparisons, assumed for the
rest). What the device has no instruction for is refused.

Sources: nki/api/nki/language/__init__.py:651-1275, nki.api.shared.rst:61.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import refuse
from trnemu.nki.language._operands import (
    INTEGERS,
    broadcast,
    common_shape,
    free_size,
    scalar_op,
    tensor_op,
    tile,
    tile_or_number,
)
from trnemu.nki.language._tokens import Op, float32, op

_BITWISE = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
)


def binary(operation: str, x: Any, y: Any, dtype: Any = None) -> NkiTensor:
    """x operation y, by the instruction that can; see the module."""
    left = tile_or_number(operation, "x", x)
    right = tile_or_number(operation, "y", y)
    if isinstance(left, NkiTensor) and isinstance(right, NkiTensor):
        return _of_tiles(operation, left, right, dtype or left.dtype)
    if isinstance(left, NkiTensor):
        number = _immediate(operation, "y", right, left)
        return scalar_op(left, operation, number, dtype=dtype or left.dtype)
    if isinstance(right, NkiTensor):
        number = _immediate(operation, "x", left, right)
        return scalar_op(
            right, operation, number, dtype=dtype or right.dtype, reverse0=True
        )
    raise TypeError(f"nl.{operation}: x or y must be a tile, not both numbers")


def _immediate(
    operation: str, operand: str, number: Any, data: NkiTensor
) -> float:
    """A number for tensor_scalar, whose arithmetic is float32. An int, and
    with integer data a float that is whole, must be one of its numbers; other
    floats are rounded to one, as float32 constants are."""
    whole = isinstance(number, int) or (
        data.dtype in INTEGERS and math.isfinite(number) and number % 1 == 0
    )
    if whole and operation not in _BITWISE and not _is_float32(number):
        bits = int(number).bit_length()
        shown = number if bits <= 128 else f"2**{bits - 1} or more"
        refuse(
            "illegal",
            "nki.inexact_number",
            f"nl.{operation}: {operand} is {shown}, which float32, in which "
            "tensor_scalar computes, does not hold",
            operation=f"nl.{operation}",
            operand=operand,
            remedy="with a tile of it, nl.full((P, 1), number, nl.int32), two "
            "32-bit integer tiles are computed exactly",
        )
    return number  # type: ignore[no-any-return]


def _is_float32(number: float) -> bool:
    return abs(number) < 2**128 and float(np.float32(number)) == number


def _is_column(operation: str, x: NkiTensor, data: NkiTensor) -> bool:
    """Whether x is an operand column of tensor_scalar for `data`."""
    if x.shape[0] != data.shape[0] or free_size(x) != 1:
        return False
    return operation in _BITWISE or x.dtype == float32


def _of_tiles(
    operation: str, x: NkiTensor, y: NkiTensor, dtype: Any
) -> NkiTensor:
    if tuple(x.shape) != tuple(y.shape):
        if _is_column(operation, y, x):
            return scalar_op(x, operation, y, dtype=dtype)
        if _is_column(operation, x, y):
            return scalar_op(y, operation, x, dtype=dtype, reverse0=True)
        x, y = _with_axes_of(x, y), _with_axes_of(y, x)
        shape = common_shape(operation, {"x": x, "y": y})
        x, y = broadcast(x, shape), broadcast(y, shape)
    return tensor_op(x, y, operation, dtype=dtype)


def _with_axes_of(x: NkiTensor, other: NkiTensor) -> NkiTensor:
    """A column with as many axes as `other`; other tiles as they are."""
    while x.ndim < other.ndim and free_size(x) == 1:
        x = x.expand_dim(1)
    return x


def _binary(operation: str, what: str, note: str = "") -> Op:
    """The wrapper for an operator of two operands."""

    def wrapper(x: Any, y: Any, dtype: Any = None) -> NkiTensor:
        return binary(operation, x, y, dtype)

    wrapper.__name__ = wrapper.__qualname__ = operation
    wrapper.__doc__ = f"""{what}, element by element: a new tile.

    x, y: tiles of one shape, or one of them a number, a float32 column of one
    element a partition, or of size 1 along free axes. dtype: that of the
    result; of the first tile unless given.{note}

    TypeError: two numbers, other types. Fault: x or y in HBM, shapes that do
    not broadcast, what the instruction's rules say.
    """
    return op(wrapper)


_COMPARED = "\n    The result is 1 where it holds and 0 where not."
_INTEGER = "\n    Integer tiles; works on their bits."
_SHIFTED = _INTEGER + " An amount of the width or more is unspecified."
_TRUTH = "\n    What is not 0 is true; the result is 1 or 0."
_TRN3 = "\n    trn3 alone has it; equal magnitudes give y."

add = _binary("add", "x + y")
subtract = _binary("subtract", "x - y")
multiply = _binary("multiply", "x * y")
maximum = _binary("maximum", "The larger of x and y")
minimum = _binary("minimum", "The smaller of x and y")
power = _binary(
    "power",
    "x ** y",
    "\n    Of two tiles it runs on gpsimd, which reads no PSUM.",
)
abs_max = _binary("abs_max", "x or y, the larger in magnitude", _TRN3)
abs_min = _binary("abs_min", "x or y, the smaller in magnitude", _TRN3)
equal = _binary("equal", "x == y", _COMPARED)
not_equal = _binary("not_equal", "x != y", _COMPARED)
less = _binary("less", "x < y", _COMPARED)
less_equal = _binary("less_equal", "x <= y", _COMPARED)
greater = _binary("greater", "x > y", _COMPARED)
greater_equal = _binary("greater_equal", "x >= y", _COMPARED)
bitwise_and = _binary("bitwise_and", "x & y", _INTEGER)
bitwise_or = _binary("bitwise_or", "x | y", _INTEGER)
bitwise_xor = _binary("bitwise_xor", "x ^ y", _INTEGER)
left_shift = _binary("left_shift", "x << y", _SHIFTED)
right_shift = _binary("right_shift", "x >> y, filling with 0", _SHIFTED)
logical_and = _binary("logical_and", "x and y", _TRUTH)
logical_or = _binary("logical_or", "x or y", _TRUTH)
logical_xor = _binary("logical_xor", "x or y but not both", _TRUTH)


@op
def invert(x: Any, dtype: Any = None) -> NkiTensor:
    """The complement of x's bits: tensor_scalar bitwise_xor with all ones.

    x: an integer tile. dtype: an integer type, that of x unless given.
    Fault: other dtypes. Source: nki/api/nki/language/__init__.py:1159.
    """
    data = tile("invert", "x", x)
    ones = -1
    if str(data.dtype).startswith("uint"):
        ones = 2 ** (8 * data.dtype.itemsize) - 1
    return scalar_op(data, "bitwise_xor", ones, dtype=dtype or data.dtype)


@op
def logical_not(x: Any, dtype: Any = None) -> NkiTensor:
    """1 where x is 0, 0 where x is 1: tensor_scalar with xor 1.

    x: a tile of zeros and ones. Integers take a bitwise xor, as documented
    (2 becomes 3): nl.equal(x, 0) is for other values. Floats and booleans, for
    which there is no bitwise xor, take a logical one (assumed).
    Source: nki/api/nki/language/__init__.py:1260.
    """
    data = tile("logical_not", "x", x)
    xor = "bitwise_xor" if data.dtype in INTEGERS else "logical_xor"
    return scalar_op(data, xor, 1, dtype=dtype or data.dtype)


def _no_instruction(operation: str, message: str, remedy: str) -> NoReturn:
    refuse(
        "illegal",
        "nki.no_instruction",
        f"nl.{operation}: {message}",
        operation=f"nl.{operation}",
        remedy=remedy,
    )


@op
def divide(x: Any, y: Any, dtype: Any = None) -> NkiTensor:
    """x / y where y is a power of two: multiplies by 1 / y, which is exact.

    Fault (illegal, nki.no_instruction) otherwise: the device has no division,
    and x * (1 / y) rounds twice.
    Source: nki/api/nki.api.shared.rst:61 (no such operator).
    """
    left = tile_or_number("divide", "x", x)
    right = tile_or_number("divide", "y", y)
    if not isinstance(left, NkiTensor) and not isinstance(right, NkiTensor):
        raise TypeError("nl.divide: x or y must be a tile, not both numbers")
    if isinstance(right, NkiTensor):
        _no_instruction(
            "divide",
            "the device has no instruction that divides by a tile",
            "multiply by the reciprocal: nl.multiply(x, nl.reciprocal(y))",
        )
    mantissa, exponent = math.frexp(right)
    if abs(mantissa) != 0.5 or not -126 <= exponent <= 127:
        _no_instruction(
            "divide",
            f"the device has no instruction that divides by {right}; only for "
            "a power of two is multiplying by 1 / y the same",
            f"nl.multiply(x, 1 / {right}), which rounds twice",
        )
    return binary("multiply", left, 1 / right, dtype)


def _remainder(operation: str, sign_of: str) -> Op:
    def wrapper(x: Any, y: Any, dtype: Any = None) -> NkiTensor:
        _no_instruction(
            operation,
            "the device has no instruction for remainders",
            "x - y * n with the quotient n = nl.floor or nl.trunc of "
            "nl.multiply(x, nl.reciprocal(y)); integers modulo a power of two "
            "are nl.bitwise_and(x, y - 1)",
        )

    wrapper.__name__ = wrapper.__qualname__ = operation
    wrapper.__doc__ = f"""The remainder of x / y with the sign of {sign_of}.

    Fault (illegal, nki.no_instruction) always: no instruction of the device
    computes remainders. Source: nki/api/nki.api.shared.rst:61.
    """
    return op(wrapper)


mod = _remainder("mod", "y")
fmod = _remainder("fmod", "x")

__all__ = [
    "abs_max",
    "abs_min",
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "equal",
    "fmod",
    "greater",
    "greater_equal",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "not_equal",
    "power",
    "right_shift",
    "subtract",
]
