"""Data on which a result depends that no document settles is a warning with the
element that shows it, an error with strict=True, and nothing is said where the
data does not show it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu
from kit import Kit

F32 = np.float32
INF, NAN = np.inf, np.nan
BF16 = ml_dtypes.bfloat16


def ids(make, **options):
    k = Kit(options.pop("target", "trn2"))
    k.one(make(k), **options)
    return [f.id for f in k.findings]


def finding(make, id, **options):
    """The one finding of the program; strict makes it a fault, allow lets it
    pass again, and checks="memory" does not look."""
    k = Kit(options.get("target", "trn2"))
    k.one(make(k))
    (f,) = k.findings
    assert (f.id, f.category, f.severity) == (id, "unspecified", "warning")
    with pytest.raises(trnemu.Fault) as info:
        k = Kit()
        k.one(make(k), strict=True)
    assert info.value.id == id
    k = Kit()
    k.one(make(k), strict=True, allow=[id])
    return f


def binary(op, a, b, dtype, engine, out=None):
    def make(k):
        t = k.empty(np.shape(a), out or dtype)
        k.b.tensor_tensor(dst=t, data1=k.load(np.array(a, dtype)),
                          data2=k.load(np.array(b, dtype)), op=op,
                          engine=engine)
        return t
    return make


# --- integers through fp32 ----------------------------------------------------

BIG = 2**24 + 1


def test_row_1_an_int32_above_2_24_on_the_vector_engine_is_reported():
    f = finding(binary("add", [[7, BIG]], [[0, 0]], "int32", "vector"),
                "integer.through_fp32")
    assert f.operand == "data1"
    assert f.details["element"] == "1" and f.details["partition"] == "0"
    assert (f.details["value"], f.details["after"]) == ("16777217", "16777216")
    assert "gpsimd" in f.remedy


@pytest.mark.parametrize(("dtype", "value"), [
    ("int32", -BIG), ("uint32", 2**32 - 1), ("int32", 2**31 - 1),
    ("int32", 2**25 + 2**24 + 1)])
def test_every_integer_that_loses_bits_is_reported(dtype, value):
    assert ids(binary("maximum", [[value]], [[0]], dtype, "vector")) == [
        "integer.through_fp32"]


@pytest.mark.parametrize(("dtype", "value"), [
    ("int32", 2**24), ("int32", -(2**24)), ("int32", 2**24 + 2),
    ("int32", -(2**31)), ("uint32", 2**31), ("uint32", 2**32 - 256),
    ("int16", 32767)])
def test_integers_that_fp32_holds_are_not_reported(dtype, value):
    assert ids(binary("maximum", [[value]], [[0]], dtype, "vector")) == []


def test_gpsimds_exact_integers_are_not_reported():
    assert ids(binary("add", [[BIG]], [[1]], "int32", "gpsimd")) == []


def test_bitwise_operations_are_not_reported():
    assert ids(binary("bitwise_and", [[BIG]], [[-1]], "int32", "vector")) == []


def test_an_integer_that_becomes_a_float_is_an_ordinary_cast():
    assert ids(binary("add", [[BIG]], [[0]], "int32", "vector", "float32")) == []


def test_a_comparison_of_integers_that_lose_bits_is_reported():
    f = finding(
        binary("equal", [[BIG]], [[BIG - 1]], "int32", "vector", "float32"),
        "integer.through_fp32")
    assert f.details["value"] == "16777217"


@pytest.mark.parametrize(("op", "a", "b", "exact", "after"), [
    ("add", 2**24, 1, "16777217", "16777216"),
    ("multiply", 4097, 4097, "16785409", "16785408"),
    ("subtract", -(2**24), 1, "-16777217", "-16777216")])
def test_a_result_that_fp32_rounds_is_reported(op, a, b, exact, after):
    f = finding(binary(op, [[1, a]], [[1, b]], "int32", "vector"),
                "integer.through_fp32")
    assert f.operand == "dst"
    assert (f.details["element"], f.details["value"], f.details["after"]) == (
        "1", exact, after)


def test_a_result_that_fp32_holds_is_not_reported():
    assert ids(binary("add", [[2**24]], [[2**24]], "int32", "vector")) == []
    assert ids(binary("multiply", [[2**12]], [[2**13]], "int32", "vector")) == []


def test_a_sum_of_integers_that_fp32_rounds_is_reported():
    def make(values):
        def inner(k):
            t = k.empty((1, 1), "int32")
            k.b.tensor_reduce(dst=t, data=k.load(np.array([values], np.int32)),
                              op="add", axis=1)
            return t
        return inner
    f = finding(make([2**24 - 1, 1, 1, 1]), "integer.through_fp32")
    assert (f.details["value"], f.details["after"]) == ("16777218", "16777216")
    assert ids(make([2**24 - 2, 1, 1])) == []


@pytest.mark.parametrize("move", ["vector", "dma"])
def test_a_cast_between_integers_that_loses_bits_is_reported(move):
    def make(value):
        def inner(k):
            x, t = k.load(np.array([[value]], np.uint32)), k.empty((1, 1), "int32")
            if move == "dma":
                k.b.dma_copy(dst=t, src=x)
            else:
                k.b.tensor_copy(dst=t, src=x, engine=move)
            return t
        return inner
    assert finding(make(BIG), "integer.through_fp32").details["after"] == (
        "16777216")
    assert ids(make(BIG - 1)) == []


# --- integers of 32 bits that do not fit -----------------------------------------


@pytest.mark.parametrize(("op", "dtype", "a", "b", "exact"), [
    ("add", "int32", 2**31 - 1, 1, "2147483648"),
    ("subtract", "uint32", 0, 1, "-1"),
    ("multiply", "int32", -(2**16), 2**16, "-4294967296"),
    ("multiply", "uint32", 2**16, 2**16, "4294967296")])
def test_gpsimds_overflow_is_reported(op, dtype, a, b, exact):
    f = finding(binary(op, [[1], [a]], [[1], [b]], dtype, "gpsimd"),
                "integer.overflow")
    assert (f.details["partition"], f.details["value"]) == ("1", exact)


@pytest.mark.parametrize(("op", "dtype", "a", "b"), [
    ("add", "int32", 2**31 - 2, 1), ("subtract", "uint32", 1, 1),
    ("multiply", "int32", -(2**15), 2**16), ("add", "uint32", 2**32 - 2, 1),
    ("multiply", "uint32", 2**16, 2**16 - 1), ("maximum", "int32", -1, 1)])
def test_gpsimds_results_that_fit_are_not_reported(op, dtype, a, b):
    assert ids(binary(op, [[a]], [[b]], dtype, "gpsimd")) == []


def iota(dtype, count, offset=0):
    def make(k):
        t = k.empty((1, count), dtype)
        k.b.iota(dst=t, pattern=[[1, count]], offset=offset)
        return t
    return make


def test_an_index_that_32_bits_do_not_hold_is_reported():
    assert ids(iota("int32", 4, 2**31 - 4)) == []
    finding(iota("int32", 4, 2**31 - 3), "integer.overflow")


# --- indices in floats ---------------------------------------------------------


@pytest.mark.parametrize(("dtype", "holds"), [
    ("bfloat16", 256), ("float16", 2048), ("float8_e4m3", 16),
    ("float8_e5m2", 8)])
def test_an_index_that_the_dtype_does_not_hold_is_reported(dtype, holds):
    assert ids(iota(dtype, holds + 1)) == []
    f = finding(iota(dtype, holds + 2), "iota.inexact")
    assert (f.details["element"], f.details["value"], f.details["after"]) == (
        str(holds + 1), str(holds + 1), str(holds))


def test_every_second_index_above_256_is_held_by_bfloat16():
    def make(k):
        t = k.empty((1, 128), "bfloat16")
        k.b.iota(dst=t, pattern=[[2, 128]], offset=256)
        return t
    assert ids(make) == []


# --- casts -----------------------------------------------------------------------

# dtype: what rounds to the largest finite value, and what does not any more.
EDGES = {
    "float16": (65519.0, 65520.0), "float8_e5m2": (61439.0, 61440.0),
    "float8_e4m3": (247.0, 248.0), "float8_e4m3fn": (464.0, 465.0),
    "bfloat16": (3.3895313e38, 3.4e38),
}


def cast(value, dtype, move="vector"):
    def make(k):
        x, t = k.load(np.array([[1, value]], F32)), k.empty((1, 2), dtype)
        if move == "dma":
            k.b.dma_copy(dst=t, src=x)
        else:
            k.b.tensor_copy(dst=t, src=x, engine=move)
        return t
    return make


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize("move", ["vector", "scalar", "dma"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_finite_value_beyond_the_dtype_is_reported(dtype, move, sign):
    holds, beyond = EDGES[dtype]
    assert ids(cast(sign * holds, dtype, move)) == []
    f = finding(cast(sign * beyond, dtype, move), "cast.overflow")
    assert f.details["dtype"] == dtype and f.operand == "dst"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
def test_infinity_and_the_lowest_fp32_are_settled(dtype):
    """Masks: infinity stays infinity, and what -FLT_MAX becomes is documented."""
    for value in (INF, -INF, np.finfo(F32).min):
        assert ids(cast(value, dtype)) == []


def test_infinity_has_no_place_in_e4m3fn():
    assert ids(cast(INF, "float8_e4m3fn")) == ["cast.overflow"]


def test_the_warning_says_what_was_taken():
    def says(dtype, **numerics):
        k = Kit()
        k.one(cast(1e38 * 3.4, dtype)(k), numerics=numerics)
        return k.findings[0].message
    assert "infinity" in says("float16")
    assert "NaN" in says("float8_e4m3fn")
    assert "largest finite" in says("float16", float_overflow="saturate")
    assert "largest finite" in says("float8_e4m3fn", e4m3fn_overflow="saturate")


@pytest.mark.parametrize("in_place", [True, False])
def test_bfloat16_arithmetic_beyond_it_is_reported(in_place):
    def make(x, y):
        def inner(k):
            t, u = (k.load(np.array([[1, v]], BF16)) for v in (x, y))
            out = t if in_place else k.empty((1, 2), "bfloat16")
            k.b.tensor_tensor(dst=out, data1=t, data2=u, op="multiply")
            return out
        return inner
    # (181 / 128)^2 is 1.99957: below 2, but nearer to it than to 2 - 2^-7.
    edge = 181 / 128
    assert ids(make(edge * 2.0**62, edge * 2.0**64)) == []
    assert ids(make(INF, 1)) == []
    f = finding(make(edge * 2.0**63, edge * 2.0**64), "cast.overflow")
    assert f.details["element"] == "1"


# --- shifts, NaN, zero ------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_a_shift_by_the_width_is_reported(dtype):
    width = 8 * np.dtype(dtype).itemsize

    def number(amount):
        def make(k):
            t = k.load(np.ones((1, 4), dtype))
            k.b.tensor_scalar(dst=t, data=t, op0="left_shift", operand0=amount)
            return t
        return make
    assert ids(number(width - 1)) == []
    assert finding(number(width), "shift.amount").operand == "operand0"
    tile = [[0, width]]
    f = finding(binary("right_shift", [[1, 1]], tile, dtype, "vector"),
                "shift.amount")
    assert (f.operand, f.details["element"]) == ("data2", "1")
    tile = [[0, width - 1]]
    assert ids(binary("right_shift", [[1, 1]], tile, dtype, "vector")) == []


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_maximum_of_nan_and_a_number_is_reported(op, dtype):
    dtype = BF16 if dtype == "bfloat16" else dtype
    f = finding(binary(op, [[1, 2, 3]], [[4, 5, NAN]], dtype, "vector"), "alu.nan")
    assert (f.operand, f.details["element"]) == ("data2", "2")
    assert ids(binary(op, [[NAN]], [[NAN]], dtype, "vector")) == []
    assert ids(binary(op, [[INF]], [[1]], dtype, "vector")) == []


def test_maximum_of_nan_with_a_number_and_in_a_row_is_reported():
    def scalar(k):
        t = k.load(np.array([[1, NAN]], F32))
        k.b.tensor_scalar(dst=t, data=t, op0="maximum", operand0=0.0)
        return t

    def reduce(k):
        t = k.empty((1, 1))
        k.b.tensor_reduce(dst=t, data=k.load(np.array([[1, NAN]], F32)),
                          op="maximum", axis=1)
        return t
    for make in (scalar, reduce):
        assert finding(make, "alu.nan").details["element"] == "1"


def test_reciprocal_of_zero_is_reported():
    def make(value):
        def inner(k):
            t = k.load(np.array([[1], [value]], F32))
            k.b.reciprocal(dst=t, data=t)
            return t
        return inner
    for value in (0.0, -0.0, 1e-40):
        assert finding(make(value), "reciprocal.zero").details["partition"] == "1"
    for value in (1.1754944e-38, -3.0, INF):
        assert ids(make(value)) == []


def test_a_reduction_by_subtract_is_reported_where_there_is_an_order():
    def make(n):
        def inner(k):
            t = k.empty((1, 1))
            k.b.tensor_reduce(dst=t, data=k.load(np.ones((1, n), F32)),
                              op="subtract", axis=1)
            return t
        return inner
    assert ids(make(1)) == []
    finding(make(2), "tensor_reduce.subtract")


# --- once, with a count, and only when asked ----------------------------------------


def test_a_finding_in_a_loop_is_reported_once_with_its_count():
    k = Kit()
    t = k.load(np.array([[BIG]], np.int32))
    out = k.empty((1, 1), "int32")
    with k.b.fori_loop(0, 5):
        k.b.tensor_tensor(dst=out, data1=t, data2=t, op="maximum",
                          engine="vector")
    k.one(out)
    (f,) = k.findings
    assert (f.id, f.count) == ("integer.through_fp32", 10)  # both operands


@pytest.mark.parametrize("checks", ["memory", "off"])
def test_only_full_checks_look(checks):
    assert ids(binary("add", [[BIG]], [[0]], "int32", "vector"),
               checks=checks) == []
    assert ids(cast(1e6, "float16"), checks=checks) == []


def test_the_element_is_the_first_in_every_order_of_partitions():
    """Rows go forwards and backwards by turns; the report does not."""
    x = np.zeros((64, 4), F32)
    x[5, 3] = x[60, 0] = 1e6

    def make(k):
        data, t = k.load(x), k.empty((64, 4), "float16")
        for _ in range(3):
            k.b.tensor_copy(dst=t, src=data, engine="vector")
        return t
    k = Kit()
    k.one(make(k))
    assert {(f.details["partition"], f.details["element"])
            for f in k.findings} == {("5", "3")}
