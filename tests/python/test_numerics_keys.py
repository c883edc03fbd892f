"""Each --numerics key changes what its line says, and nothing else.

The same program runs under every value of a key. "Nothing else" is a program
that uses many operations on ordinary numbers, which no key may touch but those
that say so.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit

F32 = np.float32
INF, NAN = np.inf, np.nan
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")

every_target = pytest.mark.parametrize("target", TARGETS)


def under(key, value, make, target="trn2"):
    k = Kit(target)
    return k.one(make(k), numerics={key: value})


# Ordinary numbers: no key of these may change a bit.
UNTOUCHED = {
    "nan_to_integer": ("zero", "lowest", "highest"),
    "float_overflow": ("infinity", "saturate"),
    "e4m3fn_overflow": ("nan", "saturate"),
    "integer_overflow": ("wrap", "saturate"),
    "shift_overflow": ("zero", "modulo"),
    "repeated_index": ("next", "first"),
    "subnormals": ("keep", "flush"),
    "mx_scale": ("current", "legacy"),
    "reduce": ("sequential", "pairwise", "exact"),
    "two_ops": ("separate", "fused"),
    "table_error": ("none", *map(str, range(1, 17))),
}


def ordinary(k):
    """Casts, integers, shifts and searches of everyday numbers."""
    rng = np.random.default_rng(0)
    x = k.load(rng.standard_normal((16, 64)).astype(F32) * 20)
    n = k.load(rng.integers(0, 100, (16, 64)).astype(np.int32))
    outs = []
    for dtype in (*INTEGERS, "bfloat16", "float16", "float8_e4m3",
                  "float8_e4m3fn", "float8_e5m2"):
        t = k.empty((16, 64), dtype)
        k.b.tensor_copy(dst=t, src=x, engine="vector")
        outs.append(t)
    for op, engine in (("add", "gpsimd"), ("multiply", "gpsimd"),
                       ("add", "vector"), ("bitwise_xor", "vector")):
        t = k.empty((16, 64), "int32")
        k.b.tensor_tensor(dst=t, data1=n, data2=n, op=op, engine=engine)
        outs.append(t)
    t = k.empty((16, 64), "int32")
    k.b.tensor_scalar(dst=t, data=n, op0="left_shift", operand0=3,
                      op1="right_shift", operand1=1)
    top, i = k.empty((16, 8)), k.empty((16, 8), "uint32")
    k.b.max8(dst=top, src=x)
    k.b.nc_find_index8(dst=i, data=x, vals=top)
    return [*outs, t, top, i]


@every_target
@pytest.mark.parametrize("key", UNTOUCHED)
def test_ordinary_numbers_are_the_same_under_every_value(target, key):
    def bits(value):
        k = Kit(target)
        outs = k.run(*ordinary(k), numerics={key: value})
        return b"".join(np.ascontiguousarray(o).tobytes() for o in outs)

    first, *others = UNTOUCHED[key]
    want = bits(first)
    k = Kit(target)
    default = k.run(*ordinary(k))
    assert b"".join(np.ascontiguousarray(o).tobytes() for o in default) == want
    for value in others:
        assert bits(value) == want, value


def test_info_lists_the_keys_with_their_defaults_first():
    for key, values in UNTOUCHED.items():
        with pytest.raises(trnemu.Fault) as info:
            under(key, "no such value", lambda k: k.filled((1, 1), 0.0))
        assert ", ".join(values) in info.value.message


# --- casts -------------------------------------------------------------------

CAST = np.array([[NAN, -NAN, 1.5, INF, -INF, 3e9, -3e9, 2.5]], F32)


def cast(dtype, move, stride=1):
    def make(k):
        x, t = k.load(CAST), k.filled((1, 8 * stride), 0, dtype)
        view = t[:, ::stride]
        if move == "dma":
            k.b.dma_copy(dst=view, src=x)
        else:
            k.b.tensor_copy(dst=view, src=x, engine=move)
        return view
    return make


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("move", ["vector", "scalar", "gpsimd", "dma"])
@pytest.mark.parametrize("stride", [1, 2])
def test_nan_to_integer_is_0_or_an_end_of_the_range(dtype, move, stride):
    ends = np.iinfo(dtype)
    want = {"zero": 0, "lowest": ends.min, "highest": ends.max}
    rest = np.clip(np.array([2, INF, -INF, 3e9, -3e9, 2]), ends.min,
                   ends.max).astype(np.int64)
    for value, code in want.items():
        out = under("nan_to_integer", value, cast(dtype, move, stride))
        assert out[0, :2].tolist() == [code, code], value
        assert out[0, 2:].tolist() == rest.tolist(), value


@pytest.mark.parametrize(("value", "says"), [
    ("zero", "taken as 0"), ("lowest", "taken as its lowest value"),
    ("highest", "taken as its highest value"),
])
def test_the_warning_of_nan_to_integer_says_what_was_taken(value, says):
    k = Kit()
    k.one(cast("int8", "vector")(k), numerics={"nan_to_integer": value})
    assert [f.id for f in k.findings] == ["cast.nan_to_integer"]
    assert says in k.findings[0].message


SMALL = {  # dtype: its largest finite value
    "float16": 65504.0, "bfloat16": float(ml_dtypes.finfo("bfloat16").max),
    "float8_e5m2": 57344.0, "float8_e4m3": 240.0,
}


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("move", ["vector", "dma"])
def test_float_overflow_is_of_what_the_cast_cannot_hold(dtype, stride, move):
    """Infinity saturates as well, as in OCP's saturating conversion."""
    big = SMALL[dtype]
    source = np.array([[3.4e38, -3.4e38, INF, -INF, NAN, big, 1, -big]], F32)

    def make(k):
        x, t = k.load(source), k.filled((1, 8 * stride), 0, dtype)
        view = t[:, ::stride]
        if move == "dma":
            k.b.dma_copy(dst=view, src=x)
        else:
            k.b.tensor_copy(dst=view, src=x, engine=move)
        return view

    for value, top in (("infinity", INF), ("saturate", big)):
        out = under("float_overflow", value, make).astype(F32)
        np.testing.assert_array_equal(
            out, [[top, -top, top, -top, NAN, big, 1, -big]], value)


def test_float_overflow_leaves_e4m3fn_to_its_own_key():
    source = np.array([[1e9, -1e9, 448.0, 1.0]], F32)

    def make(k):
        t = k.empty((1, 4), "float8_e4m3fn")
        k.b.tensor_copy(dst=t, src=k.load(source))
        return t

    out = under("float_overflow", "saturate", make).astype(F32)
    np.testing.assert_array_equal(out, [[NAN, NAN, 448, 1]])
    out = under("e4m3fn_overflow", "saturate", make).astype(F32)
    np.testing.assert_array_equal(out, [[448, -448, 448, 1]])


@pytest.mark.parametrize("op", ["add", "multiply"])
def test_float_overflow_of_bfloat16_arithmetic(op):
    big = SMALL["bfloat16"]
    x = np.array([[big, -big, 1.0, 2.0]]).astype(ml_dtypes.bfloat16)

    def make(k):
        t = k.load(x)
        k.b.tensor_tensor(dst=t, data1=t, data2=t, op=op)
        return t

    for value, top in (("infinity", INF), ("saturate", big)):
        out = under("float_overflow", value, make).astype(F32)[0].tolist()
        sign = -1 if op == "add" else 1
        assert out[:2] == [top, sign * top], value
        assert out[2:] == ([2, 4] if op == "add" else [1, 4])


# --- integers ----------------------------------------------------------------

SUMS = [  # dtype, op, a, b, wrap, saturate
    ("int32", "add", 2**31 - 1, 1, -(2**31), 2**31 - 1),
    ("int32", "subtract", -(2**31), 1, 2**31 - 1, -(2**31)),
    ("int32", "multiply", 2**16, 2**16, 0, 2**31 - 1),
    ("int32", "multiply", -(2**31), -1, -(2**31), 2**31 - 1),
    ("int32", "multiply", -(2**20), 2**20, 0, -(2**31)),
    ("int32", "add", 5, -7, -2, -2),
    ("int32", "maximum", 2**31 - 1, 1, 2**31 - 1, 2**31 - 1),
    ("uint32", "add", 2**32 - 1, 1, 0, 2**32 - 1),
    ("uint32", "subtract", 0, 1, 2**32 - 1, 0),
    ("uint32", "multiply", 2**31, 2, 0, 2**32 - 1),
    ("uint32", "multiply", 2**32 - 1, 2**32 - 1, 1, 2**32 - 1),
    ("uint32", "subtract", 9, 2, 7, 7),
]


@pytest.mark.parametrize(("dtype", "op", "a", "b", "wrap", "saturate"), SUMS)
def test_integer_overflow_is_of_gpsimds_arithmetic(
    dtype, op, a, b, wrap, saturate
):
    def make(engine):
        def inner(k):
            t = k.empty((1, 1), dtype)
            k.b.tensor_tensor(
                dst=t, data1=k.load(np.array([[a]], dtype)),
                data2=k.load(np.array([[b]], dtype)), op=op, engine=engine)
            return t
        return inner

    key = "integer_overflow"
    assert under(key, "wrap", make("gpsimd")) == [[wrap]]
    assert under(key, "saturate", make("gpsimd")) == [[saturate]]
    # vector's, in fp32, is another matter
    np.testing.assert_array_equal(under(key, "wrap", make("vector")),
                                  under(key, "saturate", make("vector")))


def test_integer_overflow_leaves_iota_as_it_is():
    def make(k):
        t = k.empty((1, 4), "int32")
        k.b.iota(dst=t, pattern=[[1, 4]], offset=2**31 - 2)
        return t
    want = [[2**31 - 2, 2**31 - 1, -(2**31), -(2**31) + 1]]
    assert under("integer_overflow", "saturate", make).tolist() == want


def shifted(x, amount, op, modulo, bits):
    """The definition, on Python's integers."""
    if amount >= bits:
        if not modulo:
            return 0
        amount %= bits
    return (x << amount if op == "left_shift" else x >> amount) % 2**bits


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
@pytest.mark.parametrize("op", ["left_shift", "right_shift"])
@pytest.mark.parametrize("form", ["number", "column", "tile", "reversed"])
@pytest.mark.parametrize("stride", [1, 2])
def test_shift_overflow_takes_the_amount_modulo_the_width(
    dtype, op, form, stride
):
    bits = 8 * np.dtype(dtype).itemsize
    x = np.arange(1, 9).reshape(1, 8)
    for value in ("zero", "modulo"):
        for amount in (0, 1, bits - 1, bits, bits + 3, 2 * bits + 1):
            def make(k, amount=amount):
                t = k.filled((1, 8 * stride), 0, dtype)[:, ::stride]
                data = k.load(x.astype(dtype))
                if form == "tile":
                    b = k.filled((1, 8), amount, dtype)
                    k.b.tensor_tensor(dst=t, data1=data, data2=b, op=op)
                elif form == "reversed":
                    data = k.filled((1, 8), amount, dtype)
                    k.b.tensor_scalar(dst=t, data=data, op0=op, operand0=5,
                                      reverse0=True)
                else:
                    b = (amount if form == "number"
                         else k.filled((1, 1), amount, dtype))
                    k.b.tensor_scalar(dst=t, data=data, op0=op, operand0=b)
                return t
            out = under("shift_overflow", value, make)
            left = [5] * 8 if form == "reversed" else x[0].tolist()
            want = [shifted(n, amount, op, value == "modulo", bits)
                    for n in left]
            assert out[0].tolist() == want, (value, amount)


# --- searches ----------------------------------------------------------------


def test_repeated_index_is_the_next_occurrence_or_the_first_again():
    data = np.array([[3, 9, 3, 9, 9, 1, 2, 4, 5, 6]], F32)
    vals = np.array([[9, 9, 9, 3, 3, 1, 7, 9]], F32)
    missing = 2**32 - 1

    def make(k):
        t = k.empty((1, 8), "uint32")
        k.b.nc_find_index8(dst=t, data=k.load(data), vals=k.load(vals))
        return t

    assert under("repeated_index", "next", make).tolist() == [
        [1, 3, 4, 0, 2, 5, missing, missing]]
    assert under("repeated_index", "first", make).tolist() == [
        [1, 1, 1, 0, 0, 5, missing, 1]]


def test_repeated_index_leaves_nc_match_replace8_as_it_is():
    data = np.array([[3, 9, 3, 9, 9, 1, 2, 4]], F32)
    vals = np.array([[9, 9, 3, 1, 2, 4, 3, 9]], F32)

    def make(k):
        t = k.empty((1, 8))
        k.b.nc_match_replace8(dst=t, data=k.load(data), vals=k.load(vals),
                              imm=0.0)
        return t

    assert (under("repeated_index", "first", make) == 0).all()


# --- keys that are older -----------------------------------------------------


def test_scale_bias_fused_rounds_once():
    x, scale, bias = F32(1 + 2**-12), F32(1 + 2**-12), F32(-1)
    want = {"separate": F32(F32(x * scale) + bias),
            "fused": F32(np.float64(x) * np.float64(scale) + bias)}
    assert want["separate"] != want["fused"]

    def make(k):
        t = k.load(np.array([[x]], F32))
        k.b.activation(dst=t, op="copy", data=t, scale=float(scale),
                       bias=k.filled((1, 1), -1.0))
        return t

    for value, result in want.items():
        assert under("scale_bias", value, make) == [[result]], value


def test_subnormals_are_kept_or_made_zeros_of_their_sign():
    x = np.array([[1e-40, -1e-40, 1.0]], F32)

    def make(k):
        t = k.load(x)
        k.b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=1.0)
        return t

    np.testing.assert_array_equal(under("subnormals", "keep", make), x)
    out = under("subnormals", "flush", make)
    np.testing.assert_array_equal(out, [[0, 0, 1]])
    assert np.signbit(out).tolist() == [[False, True, False]]


# --- keys that the envelope tries ------------------------------------------------


def summed(x, order):
    """The definition, in fp32."""
    if order == "exact":
        return F32(np.sum(x, dtype=np.float64))
    if order == "sequential":
        total = x[0]
        for value in x[1:]:
            total = F32(total + value)
        return total
    half = (len(x) + 1) // 2
    return x[0] if len(x) == 1 else F32(
        summed(x[:half], order) + summed(x[half:], order))


@pytest.mark.parametrize("order", ["sequential", "pairwise", "exact"])
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_reduce_is_the_order_of_tensor_reduce_add(order, n):
    x = np.random.default_rng(n).standard_normal((20, n)).astype(F32) * 1000

    def make(k):
        t = k.empty((20, 1))
        k.b.tensor_reduce(dst=t, data=k.load(x), op="add", axis=1)
        return t

    want = [summed(row, order) for row in x]
    np.testing.assert_array_equal(under("reduce", order, make)[:, 0], want)


@pytest.mark.parametrize("order", ["pairwise", "exact"])
def test_reduce_is_the_order_of_an_activations_sum(order):
    x = np.random.default_rng(1).standard_normal((3, 50)).astype(F32)

    def make(k):
        t, s = k.empty((3, 50)), k.empty((3, 1))
        k.b.activation(dst=t, op="copy", data=k.load(x), reduce_op="add",
                       reduce_res=s, reduce_cmd="reset_reduce")
        return s

    want = [summed(row, order) for row in x]
    np.testing.assert_array_equal(under("reduce", order, make)[:, 0], want)


@pytest.mark.parametrize("op", ["maximum", "multiply", "subtract"])
def test_reduce_leaves_other_operations_in_order(op):
    x = np.random.default_rng(2).standard_normal((3, 50)).astype(F32)

    def make(k):
        t = k.empty((3, 1))
        k.b.tensor_reduce(dst=t, data=k.load(x), op=op, axis=1)
        return t

    want = under("reduce", "sequential", make)
    for order in ("pairwise", "exact"):
        np.testing.assert_array_equal(under("reduce", order, make), want)


@pytest.mark.parametrize(("op1", "reverse", "sign_ab", "sign_c"), [
    ("add", False, 1, 1), ("subtract", False, 1, -1), ("subtract", True, -1, 1)])
@pytest.mark.parametrize("form", ["tensor_scalar", "scalar_tensor_tensor"])
def test_two_ops_fused_rounds_once(op1, reverse, sign_ab, sign_c, form):
    # x * x is 1 + 2^-11 + 2^-24: its last bit is lost, unless fused it meets 1 -
    # 2^-11 - 2^-23 (minus), or the bit beside it (plus).
    x = F32(1 + 2**-12)
    c = F32(1) if op1 == "subtract" else F32(2**-24)
    exact = (sign_ab * np.float64(x) * np.float64(x)
             + sign_c * np.float64(c))
    want = {"fused": F32(exact),
            "separate": F32(sign_ab * F32(x * x) + F32(sign_c * c))}
    assert want["separate"] != want["fused"]

    def make(k):
        t = k.load(np.array([[x]], F32))
        if form == "tensor_scalar":
            k.b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=float(x),
                              op1=op1, operand1=float(c), reverse1=reverse)
        else:
            k.b.scalar_tensor_tensor(
                dst=t, data=t, op0="multiply", operand0=float(x), op1=op1,
                operand1=k.filled((1, 1), float(c)), reverse1=reverse)
        return t

    for value, result in want.items():
        assert under("two_ops", value, make) == [[result]], value


def test_table_error_is_small_repeatable_and_of_functions_from_tables():
    x = np.random.default_rng(3).standard_normal((16, 64)).astype(F32)

    def make(op):
        def inner(k):
            t = k.load(x)
            k.b.activation(dst=t, op=op, data=t)
            return t
        return inner

    exact = under("table_error", "none", make("exp"))
    seen = set()
    for draw in ("1", "2", "16"):
        out = under("table_error", draw, make("exp"))
        np.testing.assert_array_equal(out, under("table_error", draw,
                                                 make("exp")))
        error = np.abs(out.astype(np.float64) / exact - 1)
        assert 7e-6 < error.max() < 1.51e-5, draw
        seen.add(out.tobytes())
    assert len(seen) == 3
    for op in ("copy", "square", "relu", "sign", "abs"):
        np.testing.assert_array_equal(under("table_error", "1", make(op)),
                                      under("table_error", "none", make(op)))
