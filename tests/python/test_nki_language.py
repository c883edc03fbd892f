"""nki.language: wrappers of two operands against NumPy."""

from __future__ import annotations

import copy
import pickle
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
SHAPE = (128, 24)

ARITHMETIC = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
BITWISE = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
LOGICAL = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def in_fp32(function: Any, x: Any, y: Any, dtype: Any) -> Any:
    """As an engine does: operands as float32, one rounding to dtype."""
    return function(np.float32(x), np.float32(y)).astype(dtype)


@on_all
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32"])
def test_two_tiles_give_the_result_in_fp32_rounded_once(
    target: str, dtype: str
) -> None:
    x = numbers(SHAPE, 1, 40, dtype)
    y = numbers(SHAPE, 2, 40, dtype)
    for name, function in ARITHMETIC.items():
        got = apply(getattr(nl, name), x, y, target=target)
        same_bits(got, in_fp32(function, x, y, dtype))


@on_all
def test_a_number_may_stand_on_either_side(target: str) -> None:
    x = numbers(SHAPE)
    for name, function in ARITHMETIC.items():
        op = getattr(nl, name)
        got = apply(lambda t, op=op: op(t, 2.5), x, target=target)
        same_bits(got, in_fp32(function, x, 2.5, "f4"))
        got = apply(lambda t, op=op: op(np.float32(2.5), t), x, target=target)
        same_bits(got, in_fp32(function, 2.5, x, "f4"))


@on_all
def test_a_column_may_stand_on_either_side(target: str) -> None:
    x, column = numbers(SHAPE), numbers((128, 1), 3)
    for name, function in ARITHMETIC.items():
        got = apply(getattr(nl, name), x, column, target=target)
        same_bits(got, in_fp32(function, x, column, "f4"))
        got = apply(getattr(nl, name), column, x, target=target)
        same_bits(got, in_fp32(function, column, x, "f4"))


def test_a_float32_column_is_tensor_scalars_operand() -> None:
    """tensor_scalar's operand is one element a partition; of a bfloat16
    column it is not, which tensor_tensor reads through a broadcast view."""
    x = np.zeros(SHAPE, np.float32)
    column = np.zeros((128, 1), np.float32)
    assert opcodes(nl.add, x, column)[2:-1] == ["TensorScalar"]
    assert opcodes(nl.add, x, column.astype(BF16))[2:-1] == ["TensorTensor"]


@on_all
def test_columns_of_other_dtypes_broadcast(target: str) -> None:
    x, column = numbers(SHAPE, dtype=BF16), numbers((128, 1), 3, dtype=BF16)
    same_bits(
        apply(nl.multiply, x, column, target=target),
        in_fp32(np.multiply, x, column, BF16),
    )


@on_all
def test_int32_tiles_and_columns_are_exact_on_gpsimd(target: str) -> None:
    """2**24 + 1 has no float32; gpsimd computes 32-bit integers."""
    x = np.full((128, 4), 2**24 + 1, np.int32)
    column = np.full((128, 1), 2, np.int32)
    got = apply(nl.add, x, column, target=target)
    same_bits(got, np.full((128, 4), 2**24 + 3, np.int32))


@on_all
def test_free_axes_of_size_1_broadcast_on_both_sides(target: str) -> None:
    x, y = numbers((8, 3, 1)), numbers((8, 1, 5), 4)
    same_bits(apply(nl.subtract, x, y, target=target), x - y)


@on_all
def test_a_column_goes_with_tiles_of_more_axes(target: str) -> None:
    x, column = numbers((8, 3, 5)), numbers((8, 1), 5)
    same_bits(
        apply(nl.multiply, x, column, target=target), x * column[:, :, None]
    )
    x, column = x.astype(BF16), column.astype(BF16)
    same_bits(
        apply(nl.multiply, column, x, target=target),
        in_fp32(np.multiply, column[:, :, None], x, BF16),
    )


@on_all
def test_comparisons_give_1_and_0_in_the_first_tiles_dtype(target: str) -> None:
    x = np.tile(np.array([-2, -0.0, 0, 1, 3, 7], BF16), (4, 1))
    y = np.tile(np.array([-2, 0.0, 1, 1, 2, np.nan], BF16), (4, 1))
    for name, function in COMPARISONS.items():
        expected = function(np.float32(x), np.float32(y))
        op = getattr(nl, name)
        same_bits(apply(op, x, y, target=target), expected.astype(BF16))
        got = apply(lambda a, b, op=op: op(a, b, dtype=nl.uint8), x, y)
        same_bits(got, expected.astype(np.uint8))
        got = apply(lambda a, op=op: op(1, a), x, target=target)
        same_bits(got, function(1, np.float32(x)).astype(BF16))


@on_all
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32"])
def test_bitwise_operations_work_on_bits(target: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(5)
    x = rng.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    y = rng.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    for name, function in BITWISE.items():
        op = getattr(nl, name)
        same_bits(apply(op, x, y, target=target), function(x, y))
        got = apply(lambda a, op=op: op(a, 0x55), x, target=target)
        same_bits(got, function(x, np.dtype(dtype).type(0x55)))
        got = apply(op, x, y[:, :1].copy(), target=target)
        same_bits(got, function(x, y[:, :1]))


@on_all
def test_shifts_are_logical(target: str) -> None:
    x = np.array([[-8, 7, 2**30, -1]], np.int32)
    unsigned = x.view(np.uint32)
    got = apply(lambda a: nl.right_shift(a, 1), x, target=target)
    same_bits(got, (unsigned >> 1).view(np.int32))
    got = apply(nl.left_shift, x, np.array([[1, 2, 1, 31]], np.int32))
    same_bits(
        got, (unsigned << np.array([1, 2, 1, 31], np.uint32)).view(np.int32)
    )


@on_all
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
def test_invert_is_the_complement(target: str, dtype: str) -> None:
    x = np.arange(24, dtype=dtype).reshape(4, 6)
    same_bits(apply(nl.invert, x, target=target), ~x)


def test_invert_of_uint32_has_all_its_bits() -> None:
    x = np.array([[0, 1, 2**31, 2**32 - 1]], np.uint32)
    same_bits(apply(nl.invert, x), ~x)


@on_all
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_logical_operations_take_nonzero_as_true(
    target: str, dtype: str
) -> None:
    x = np.array([[0, 0, 3, -1]], dtype)
    y = np.array([[0, 2, 0, 5]], dtype)
    for name, function in LOGICAL.items():
        got = apply(getattr(nl, name), x, y, target=target)
        same_bits(got, function(x != 0, y != 0).astype(dtype))


@on_all
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int32", "bfloat16"])
def test_logical_not_exchanges_1_and_0(target: str, dtype: str) -> None:
    x = np.array([[0, 1, 1, 0]], dtype)
    same_bits(apply(nl.logical_not, x, target=target), np.array(1 - x, dtype))


def test_booleans_are_zeros_and_ones() -> None:
    x = np.array([[True, False, True]])
    y = np.array([[True, True, False]])
    same_bits(apply(nl.logical_not, x), ~x)
    same_bits(apply(nl.logical_and, x, y), x & y)
    got = apply(lambda a: nl.greater(a, 0, dtype=nl.bool_), numbers((4, 4)))
    same_bits(got, numbers((4, 4)) > 0)


def test_logical_not_of_other_integers_is_xor_1_as_documented() -> None:
    same_bits(
        apply(nl.logical_not, np.array([[2, 3]], np.int32)),
        np.array([[3, 2]], np.int32),
    )


@on_all
def test_power_of_tiles_numbers_and_columns(target: str) -> None:
    x = np.abs(numbers((16, 8))) + np.float32(0.1)
    y = numbers((16, 8), 6, 1)
    got = apply(nl.power, x, y, target=target)
    np.testing.assert_allclose(got, np.power(x, y), 1e-6)
    got = apply(lambda a: nl.power(a, 3.0), x, target=target)
    np.testing.assert_allclose(got, x**3, 1e-6)
    got = apply(lambda a: nl.power(2.0, a), x, target=target)
    np.testing.assert_allclose(got, 2**x, 1e-6)
    got = apply(nl.power, x, y[:, :1].copy(), target=target)
    np.testing.assert_allclose(got, np.power(x, y[:, :1]), 1e-6)


def test_abs_max_and_abs_min_keep_the_sign_and_ties_give_y() -> None:
    x = np.array([[-5, 5, 1, -2]], np.float32)
    y = np.array([[3, -3, -1, 2]], np.float32)
    same_bits(
        apply(nl.abs_max, x, y, target="trn3"),
        np.array([[-5, 5, -1, 2]], np.float32),
    )
    same_bits(
        apply(nl.abs_min, x, y, target="trn3"),
        np.array([[3, -3, -1, 2]], np.float32),
    )
    same_bits(
        apply(nl.abs_max, x, y[:, :1].copy(), target="trn3"),
        np.array([[-5, 5, 3, 3]], np.float32),
    )


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_abs_max_needs_trn3(target: str) -> None:
    x = np.ones((4, 4), np.float32)
    assert "needs trn3" in refused(nl.abs_max, x, x, target=target).message
    fault = refused(lambda a: nl.abs_min(a, 1.0), x, target=target)
    assert "needs trn3" in fault.message


@on_all
def test_one_operand_may_be_in_psum(target: str) -> None:
    x, y = numbers(SHAPE), numbers(SHAPE, 7)
    same_bits(apply(nl.add, x, y, psum=(1,), target=target), x + y)
    same_bits(apply(nl.add, x, y, psum=(0,), target=target), x + y)
    same_bits(apply(nl.maximum, x, y[:, :1].copy(), psum=(0, 1)),
              np.maximum(x, y[:, :1]))
    assert refused(nl.add, x, y, psum=(0, 1)).id == (
        "tensor_tensor.both_in_psum"
    )
    assert refused(nl.power, x, y, psum=(0,)).id == (
        "operand.gpsimd_psum"
    )


@on_all
def test_the_dtype_argument_is_the_results(target: str) -> None:
    x, y = numbers(SHAPE), numbers(SHAPE, 8)
    for dtype in (nl.bfloat16, BF16, "bfloat16"):
        got = apply(lambda a, b, d=dtype: nl.add(a, b, dtype=d), x, y)
        same_bits(got, (x + y).astype(BF16))
    got = apply(lambda a: nl.multiply(a, 0.5, dtype=nl.int32), x, target=target)
    same_bits(got, np.rint(x * np.float32(0.5)).astype(np.int32))


def test_of_two_dtypes_the_first_tiles_is_the_results() -> None:
    x, y = numbers(SHAPE, dtype=BF16), numbers(SHAPE, 9)
    same_bits(apply(nl.add, x, y), in_fp32(np.add, x, y, BF16))
    same_bits(apply(nl.add, y, x), in_fp32(np.add, y, x, "f4"))


def test_widest_tiles_are_within_the_limits() -> None:
    x = np.ones((128, 8192), np.float32)
    assert (apply(lambda a: nl.add(a, a), x) == 2).all()


# Where wrappers are called.


def test_wrappers_work_in_device_loops_and_on_two_cores() -> None:
    """Three iterations of x = x * 2 + 1 from 1 give 3, 7, 15; each core has
    half of the rows."""

    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 4), nl.float32, buffer=nl.shared_hbm)
        mine = nl.ds(4 * nl.program_id(0), 4)
        tile = nl.load(x[mine])

        def body(i: Any) -> None:
            step = nl.add(nl.multiply(tile, 2.0), 1.0)
            nisa.tensor_copy(dst=tile, src=nl.floor(step))

        nl.fori_loop(0, 3, body)
        nl.store(out[mine], tile)
        return out

    x = np.ones((8, 4), np.float32)
    same_bits(nki.jit(kernel)[2](x), np.full((8, 4), 15, np.float32))


def test_high_precision_keeps_narrow_floats_as_float32() -> None:
    """NKI_PRECISE_FP=0: 1 + 2**-10 is no bfloat16."""
    x = np.full((4, 4), 1, BF16)

    def kernel(a: Any) -> Any:
        tile = nl.add(nl.load(a), 2.0**-10)
        tile = nl.where(nl.greater(tile, 0), nl.cast(tile, nl.bfloat16), tile)
        out = nl.ndarray(a.shape, nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.copy(nl.transpose(tile)))
        return out

    def of(precise: bool) -> Any:
        return nki.simulate(kernel, precise_fp=precise)(x)[0, 0]

    assert (of(True), of(False)) == (1, 1 + 2.0**-10)


# Names of operators.


def test_wrappers_are_names_of_operators_too() -> None:
    assert nl.add == "add" and nl.exp == "exp" and nl.copy == "copy"
    assert pickle.loads(pickle.dumps(nl.minimum)) is nl.minimum
    assert copy.deepcopy({"op": nl.add})["op"] is nl.add


def test_nl_max_as_an_argument_is_maximum() -> None:
    def largest(x: Any) -> Any:
        out = nl.ndarray((x.shape[0], 1), x.dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=out, op=nl.max, data=x, axis=1)
        return out

    x = numbers((8, 16))
    same_bits(apply(largest, x), x.max(1, keepdims=True))
    assert pickle.loads(pickle.dumps(nl.max)) is nl.max
    assert pickle.loads(pickle.dumps(nl.maximum)) is nl.maximum


@pytest.mark.parametrize("name", ["average", "prelu", "bypass"])
def test_names_without_a_wrapper_cannot_be_called(name: str) -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        getattr(nl, name)(1)
