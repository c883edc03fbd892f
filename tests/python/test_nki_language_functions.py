"""nki.language: functions of one operand against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from nki_language_kit import (
    apply,
    numbers,
    on_all,
    opcodes,
    refused,
    same_bits,
)

from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

BF16 = ml_dtypes.bfloat16


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _normal(x: Any) -> Any:
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The derivative, by a central difference in float64."""
    return lambda x: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


def _gelu(x: Any) -> Any:
    return x * _normal(x)


def _gelu_sigmoid(x: Any) -> Any:
    return x * _sigmoid(1.702 * x)


def _silu(x: Any) -> Any:
    return x * _sigmoid(x)


# In float64: the instructions' own rounding is a float32 one.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "square": np.square,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": _gelu,
    "gelu_dx": _slope(_gelu),
    "gelu_apprx_tanh": lambda x: (
        0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "gelu_apprx_sigmoid": _gelu_sigmoid,
    "gelu_apprx_sigmoid_dx": _slope(_gelu_sigmoid),
    "silu": _silu,
    "silu_dx": _slope(_silu),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "erf": np.vectorize(math.erf),
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    "sign": np.sign,
}
POSITIVE = {
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}


@on_all
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_numpys_within_rounding(name: str, target: str) -> None:
    x = numbers((32, 16), 1, 2)
    expected = FUNCTIONS[name](np.float64(x))
    got = apply(getattr(nl, name), x, target=target)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, 1e-6, 1e-7)


@on_all
@pytest.mark.parametrize("name", POSITIVE)
def test_functions_of_positive_numbers(name: str, target: str) -> None:
    x = np.abs(numbers((32, 16), 2)) + np.float32(1e-3)
    expected = POSITIVE[name](np.float64(x))
    got = apply(getattr(nl, name), x, target=target)
    np.testing.assert_allclose(got, expected, 2e-7)


@on_all
def test_arctan_has_the_tables_range(target: str) -> None:
    x = np.linspace(-1.57, 1.57, 64, dtype=np.float32)[None]
    got = apply(nl.arctan, x, target=target)
    np.testing.assert_allclose(got, np.arctan(np.float64(x)), 1e-6)


def test_arctan_beyond_its_range_is_warned_about() -> None:
    x = np.full((1, 1), 2, np.float32)
    apply(nl.arctan, x, warns=("activation.outside_valid_range",))


@on_all
def test_functions_round_once_to_the_tiles_dtype_or_to_dtype(
    target: str,
) -> None:
    x = numbers((32, 16), 3, 1, BF16)
    wide = apply(lambda t: nl.exp(t, dtype=nl.float32), x, target=target)
    np.testing.assert_allclose(wide, np.exp(np.float64(x)), 1e-6)
    same_bits(apply(nl.exp, x, target=target), wide.astype(BF16))


@on_all
def test_functions_read_psum(target: str) -> None:
    x = numbers((32, 16), 4)
    for name in ("exp", "sin", "floor", "abs", "reciprocal"):
        op = getattr(nl, name)
        same_bits(
            apply(op, x, psum=(0,), target=target), apply(op, x, target=target)
        )


@on_all
def test_abs_negative_sign_and_reciprocal_are_exact(target: str) -> None:
    x = np.array([[-3.5, 0, -0.0, 2, -np.inf, 1e-40, 7]], np.float32)
    same_bits(apply(nl.abs, x, target=target), np.abs(x))
    same_bits(apply(nl.negative, x, target=target), -x)
    np.testing.assert_array_equal(apply(nl.sign, x), np.sign(x))
    y = numbers((4, 8), 5)
    same_bits(apply(nl.reciprocal, y, target=target), np.float32(1) / y)


def test_rsqrt_is_gpsimds_from_api_0_5_on_and_the_tables_before() -> None:
    """Release 0.5 moved it, for precision; its PSUM inputs went."""
    x = np.full((4, 4), 4, np.float32)
    assert opcodes(nl.rsqrt, x, api="0.5")[1:-1] == ["TensorScalar"]
    assert opcodes(nl.rsqrt, x, api="0.4")[1:-1] == ["Activate"]
    assert (apply(nl.rsqrt, x, psum=(0,), api="0.4") == 0.5).all()
    assert refused(nl.rsqrt, x, psum=(0,)).id == "operand.gpsimd_psum"


# sin, cos, tan.


def test_sin_of_9_is_right_where_the_instructions_is_not() -> None:
    """cases/behaviours.md row 16: 27.65 is the documented extrapolation of the
    table, 0.412 the sine."""
    x = np.full((1, 1), 9, np.float32)
    assert apply(nl.sin, x)[0, 0] == pytest.approx(math.sin(9), abs=1e-7)
    assert math.sin(9) == pytest.approx(0.412, abs=5e-4)

    def raw(t: Any) -> Any:
        out = nl.ndarray(t.shape, t.dtype, buffer=nl.sbuf)
        nisa.activation(dst=out, op=nl.sin, data=t)
        return out

    value = apply(raw, x, warns=("activation.outside_valid_range",))
    assert value[0, 0] == pytest.approx(27.65, abs=0.01)


def _angles(limit: float) -> Any:
    """Random ones, and the float32 numbers next to multiples of pi / 2."""
    rng = np.random.default_rng(6)
    turns = rng.integers(0, int(limit / (math.pi / 2)), 8 * 1024)
    near = (turns * (math.pi / 2)).astype(np.float32)
    x = np.concatenate([rng.uniform(-limit, limit, 8 * 1024), near, -near])
    x = x.astype(np.float32).reshape(128, -1)
    return np.clip(x, -np.float32(limit), np.float32(limit))


@on_all
@pytest.mark.parametrize("limit", [4, 1000, 131071])
def test_sin_and_cos_are_accurate_up_to_2_to_the_17(
    target: str, limit: float
) -> None:
    """1.1e-7 is the reduction's own error as documented (a sum of two
    roundings of a number below pi / 2 is 2 * 2**-24), and half an ulp of 1,
    6e-8, that of the table."""
    x = _angles(limit)
    got = apply(nl.sin, x, target=target)
    assert np.abs(got - np.sin(np.float64(x))).max() < 1.7e-7
    got = apply(nl.cos, x, target=target)
    assert np.abs(got - np.cos(np.float64(x))).max() < 1.7e-7


@on_all
def test_near_their_zeros_sin_cos_and_tan_are_relatively_accurate(
    target: str,
) -> None:
    x = _angles(100)
    for op, f in ((nl.sin, np.sin), (nl.cos, np.cos), (nl.tan, np.tan)):
        got = apply(op, x, target=target)
        np.testing.assert_allclose(got, f(np.float64(x)), 5e-7)


@on_all
def test_sin_keeps_small_numbers_and_zeros(target: str) -> None:
    x = np.array([[0.0, -0.0, 1e-30, -1e-20, 3e-5]], np.float32)
    np.testing.assert_array_equal(apply(nl.sin, x, target=target), x)
    assert (apply(nl.cos, x, target=target) == 1).all()
    np.testing.assert_array_equal(apply(nl.tan, x, target=target), x)


@on_all
def test_beyond_2_to_the_17_sin_cos_and_tan_are_nan(target: str) -> None:
    x = np.array([[2.0**17, -1e6, 3e38, np.inf, -np.inf, np.nan]], np.float32)
    for op in (nl.sin, nl.cos, nl.tan):
        assert np.isnan(apply(op, x, target=target)).all()


@on_all
def test_sin_takes_other_dtypes_and_casts_once(target: str) -> None:
    x = np.arange(-64, 64, dtype=np.int32)[None]
    got = apply(lambda t: nl.sin(t, dtype=nl.float32), x, target=target)
    np.testing.assert_allclose(got, np.sin(np.float64(x)), 1e-6, 1.7e-7)
    x = numbers((4, 32), 7, 30, BF16)
    wide = apply(lambda t: nl.sin(t, dtype=nl.float32), x, target=target)
    np.testing.assert_allclose(wide, np.sin(np.float64(x)), 1e-6, 1.7e-7)
    same_bits(apply(nl.sin, x, target=target), wide.astype(BF16))


def test_the_reduction_does_not_depend_on_open_roundings() -> None:
    x = _angles(1e5)
    first = apply(nl.cos, x)
    fused = apply(nl.cos, x, numerics={"two_ops": "fused"})
    assert np.abs(first - fused).max() < 1.2e-7


# floor, ceil, trunc.

ROUNDINGS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def _bit_patterns() -> Any:
    """Every kind of float32: random bits, halves, the ends of what has a
    fraction, zeros, subnormals, infinities, NaN."""
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2**32, 4096, np.uint32).view(np.float32)
    halves = np.arange(-64, 64, dtype=np.float32) / 2
    ends = np.float32([2.0**22, 2.0**23, 2.0**24, 2.0**31, 2.0**47])
    ends = np.concatenate([np.nextafter(ends, 0), ends, ends + ends / 2**20])
    special = np.float32([0, 1e-40, 0.49999997, np.inf, 3.4e38, 8388607.5])
    values = np.concatenate(
        [bits, halves, ends, -ends, special, -special, [np.nan]]
    )
    some = rng.uniform(-1e7, 1e7, 128 * 64 - values.size)
    return np.concatenate([values, some]).astype(np.float32).reshape(128, -1)


@on_all
@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_are_exact_for_every_float32(name: str, target: str) -> None:
    x = _bit_patterns()
    same_bits(apply(getattr(nl, name), x, target=target), ROUNDINGS[name](x))


@on_all
@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_of_other_dtypes(name: str, target: str) -> None:
    op, f = getattr(nl, name), ROUNDINGS[name]
    for dtype in (BF16, np.float16):
        x = numbers((16, 64), 9, 300, dtype)
        same_bits(
            apply(op, x, target=target), f(np.float32(x)).astype(dtype)
        )
    x = np.array([[2**24 + 1, -7, 2**31 - 1]], np.int32)
    same_bits(apply(op, x, target=target), x)
    y = numbers((4, 8), 10, 1000)
    got = apply(lambda t: op(t, dtype=nl.int32), y, target=target)
    same_bits(got, f(y).astype(np.int32))


@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_take_strided_views_of_more_axes(name: str) -> None:
    x = numbers((16, 4, 6), 11, 100)
    got = apply(lambda t: getattr(nl, name)(t[:, 1:, ::2]), x)
    same_bits(got, ROUNDINGS[name](x[:, 1:, ::2]))


def test_roundings_take_views_at_a_place_that_only_the_device_knows() -> None:
    x = numbers((16, 4, 6), 12, 100)

    def kernel(a: Any, where: Any) -> Any:
        tile, index = nl.load(a), nisa.register_alloc()
        nisa.register_load(dst=index, src=nl.load(where))
        out = nl.ndarray((16, 6), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.ceil(tile.select(1, index)))
        return out

    got = nki.jit(kernel)(x, np.array([[2]], np.int32))
    same_bits(got, np.ceil(x[:, 2]))
