"""The oracle of the vector and scalar engines, against values worked by hand.

Values: behaviours.md (rows by number), the examples of the documents, and
arithmetic beside the test.
"""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from oracle import REGISTRY
from oracle.types import Array, Between, Result, State, T
from oracle.vector import FP32_MIN, around, cast

F32 = np.float32
NAN, INF = np.nan, np.inf


def t(values: object, dtype: str = "float32", space: str = "sbuf") -> T:
    """A tile; a plain list is one partition."""
    array = np.array(values, ref.carrier(dtype))
    return T(array if array.ndim > 1 else array[None], dtype, space)


def like(shape: tuple[int, ...], dtype: str = "float32", fill: float = 7) -> T:
    return T(np.full(shape, fill).astype(ref.carrier(dtype)), dtype)


def run(
    name: str, gen: int = 3, /, state: State | None = None, **kw: object
) -> Result:
    """The operation of that name, with its own accumulators unless given."""
    return REGISTRY[name](gen, state or State(), **kw)


def dst(name: str, gen: int = 3, /, **kw: object) -> list[object]:
    """The row of dst of a single partition."""
    y = run(name, gen, **kw)["dst"]
    assert isinstance(y, np.ndarray)
    return y.reshape(-1).tolist()


def holds(y: Array | Between, value: float) -> bool:
    """A single value lies within the limits, which are tight; or is nearest
    to the only result there is."""
    limits = (y.low, y.high) if isinstance(y, Between) else (y, y)
    low, high = (float(x.reshape(-1)[0]) for x in limits)
    assert high - low <= 4e-7 * max(1.0, abs(value))
    return low <= value <= high or low == high == float(F32(value))


# Casts.


@pytest.mark.parametrize("dtype", [*ref.FLOATS, *ref.INTS, "tfloat32", "bool"])
def test_both_ways_to_cast_agree_at_every_limit(dtype):
    x = ref.edges()
    ref.same(cast(x, dtype), ref.cast(x, dtype), dtype)


def test_fp32_to_integer_rounds_to_even_and_saturates():  # behaviours.md 2
    x = t([0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9])
    y = dst("tensor_copy", dst=like((1, 7), "int32"), src=x)
    assert y == [0, 2, 2, 0, -2, 2147483647, -2147483648]
    x = t([254.5, 255.5, 300, -1])
    assert dst("tensor_copy", dst=like((1, 4), "uint8"), src=x) == [
        254, 255, 255, 0]


def test_around_gives_the_neighbours_within_one_ulp():
    low, high = around(np.array([1.0, 0.0, 1e300, -1e300, -INF, NAN]))
    # Above 1 an ulp is 2^-23; below it there are two numbers to the ulp.
    assert low[0] == 1 - 2.0**-23 and high[0] == 1 + 2.0**-23
    assert -low[1] == high[1] == F32(2.0**-149)
    assert low[2:5].tolist() == high[2:5].tolist() == [INF, -INF, -INF]
    assert np.isnan(low[5]) and np.isnan(high[5])


# Elementwise.


@pytest.mark.parametrize("engine, space, value", [
    ("vector", "sbuf", 16777216), ("gpsimd", "sbuf", 16777217),
    ("unknown", "sbuf", 16777217), ("unknown", "psum", 16777216),
])
def test_int32_is_exact_on_gpsimd_only(engine, space, value):  # row 1
    one, zero = t([16777217], "int32", space), t([0], "int32")
    assert dst("tensor_tensor", dst=like((1, 1), "int32"), data1=one,
               data2=zero, op="add", engine=engine) == [value]


def test_int32_arithmetic_on_vector_rounds_to_fp32():  # row 1
    one, zero = t([0x7FFFFFFF], "int32"), t([0], "int32")
    for dtype, value in (("uint32", 2147483648), ("int32", 2147483647)):
        assert dst("tensor_tensor", dst=like((1, 1), dtype), data1=one,
                   data2=zero, op="add", engine="vector") == [value]


def test_bitwise_operations_keep_every_bit():  # row 1
    assert dst("tensor_scalar", dst=like((1, 1), "uint32"),
               data=t([16777217], "uint32"), op0="bitwise_and",
               operand0=0xFFFFFFFF, engine="vector") == [16777217]


def test_gpsimd_integers_wrap():
    a = t([2**31 - 1, -(2**31), 65536], "int32")
    b = t([1, -1, 65537], "int32")
    kw = {"dst": like((1, 3), "int32"), "data1": a, "data2": b}
    # 2^31; -2^31 - 1; 2^32 + 65536, all modulo 2^32.
    assert dst("tensor_tensor", op="add", **kw)[:2] == [-(2**31), 2**31 - 1]
    assert dst("tensor_tensor", op="multiply", **kw)[2] == 65536


def test_bits_that_leave_an_element_do_not_come_back():
    kw = {"dst": like((1, 1), "uint8"), "data": t([0b10000001], "uint8"),
          "op1": "right_shift", "engine": "vector"}
    assert dst("tensor_scalar", op0="left_shift", operand0=1, operand1=1,
               **kw) == [1]  # 0x02 >> 1
    assert dst("tensor_scalar", op0="invert", operand1=1, **kw) == [
        0b00111111]  # 0x7E >> 1


def test_two_operations_round_twice_and_reverse_swaps_one():
    x = t([3.0])
    y = dst("tensor_scalar", dst=like((1, 1)), data=x, op0="subtract",
            operand0=1.0, reverse0=True, op1="multiply", operand1=0.1)
    assert y == [float(F32(-2) * F32(0.1))]
    y = dst("scalar_tensor_tensor", dst=like((1, 1)), data=x, op0="multiply",
            operand0=2.0, op1="subtract", operand1=t([10.0]), reverse1=True)
    assert y == [4.0]


def test_operand_tiles_hold_one_value_a_partition():
    y = run("tensor_scalar", dst=like((2, 2)), data=t([[1, 2], [3, 4]]),
            op0="add", operand0=t([[10], [20]]))["dst"]
    assert y.tolist() == [[11, 12], [23, 24]]


def test_power_is_within_an_ulp():
    y = run("tensor_tensor", dst=like((1, 1)), data1=t([2.0]), data2=t([0.5]),
            op="power", engine="gpsimd")["dst"]
    assert holds(y, 2**0.5)


def test_tensor_copy_moves_bits_except_on_trn1s_scalar_engine():
    x = t([16777217], "int32")
    kw = {"dst": like((1, 1), "int32"), "src": x}
    assert dst("tensor_copy", 2, engine="vector", **kw) == [16777217]
    assert dst("tensor_copy", 2, engine="scalar", **kw) == [16777216]
    assert dst("tensor_copy", 3, engine="scalar", **kw) == [16777217]


def test_predicated_copy_keeps_dst_where_the_predicate_is_zero():
    kw = {"dst": like((1, 4)), "predicate": t([0, 1, 2, 0], "uint8")}
    assert dst("tensor_copy_predicated", src=t([1, 2, 3, 4]), **kw) == [
        7, 2, 3, 7]
    assert dst("tensor_copy_predicated", src=5.5, reverse_pred=True,
               **kw) == [5.5, 7, 7, 5.5]


def test_reciprocal_and_memset():
    assert dst("reciprocal", dst=like((1, 2)), data=t([4.0, -0.1])) == [
        0.25, float(F32(1) / F32(-0.1))]
    assert dst("memset", dst=like((1, 2), "int32"), value=16777217) == [
        16777217] * 2
    assert dst("memset", dst=like((1, 1), "bfloat16"), value=1.5) == [1.5]


# Reductions and scans.


def test_reduction_is_sequential_and_subtract_starts_with_the_first():
    x = t([1e8, 1.0, -1e8, 1.0])  # 1e8 + 1 = 1e8 in fp32
    kw = {"dst": like((1, 1)), "data": x, "axis": 1}
    assert dst("tensor_reduce", op="add", **kw) == [1.0]
    x.values[:] = [10, 1, 2, 3]
    assert dst("tensor_reduce", op="subtract", **kw) == [4.0]
    assert dst("tensor_reduce", op="maximum", negate=True, **kw) == [-10.0]


def test_reduction_over_the_last_axes_only():
    x = t(np.arange(12).reshape(1, 3, 4))
    y = run("tensor_reduce", dst=like((1, 3)), data=x, op="add", axis=(2,))
    assert y["dst"].tolist() == [[6, 22, 38]]
    y = run("tensor_reduce", dst=like((1, 1, 1)), data=x, op="add",
            axis=(1, 2), keepdims=True)
    assert y["dst"].tolist() == [[[66]]]


def test_bitwise_reduction():
    x = t([0b1100, 0b1010], "int8")
    for op, value in (("bitwise_and", 8), ("bitwise_or", 14),
                      ("bitwise_xor", 6)):
        assert dst("tensor_reduce", dst=like((1, 1), "int8"), data=x, op=op,
                   axis=1) == [value]


def test_scan_is_the_recurrence():
    kw = {"dst": like((1, 3)), "data0": t([2, 3, 4]), "data1": t([1, 1, 1]),
          "initial": 1.0}
    # s = data0 * s + data1: 3, 10, 41.
    assert dst("tensor_tensor_scan", op0="multiply", op1="add", **kw) == [
        3, 10, 41]
    # s = 1 - (s - data0): 1 - (1 - 2) = 2; 1 - (2 - 3) = 2; 1 - (2 - 4) = 3.
    assert dst("tensor_tensor_scan", op0="subtract", op1="subtract",
               reverse0=True, reverse1=True, **kw) == [2, 2, 3]


def test_scan_carries_fp32():
    # bf16 has 8 bits: 256 + 1 stays 256 there, the carry becomes 257, 258.
    y = dst("tensor_tensor_scan", dst=like((1, 2), "bfloat16"),
            data0=t([1, 1]), data1=t([1, 1]), initial=256.0, op0="multiply",
            op1="add")
    assert y == [256.0, 258.0]


def test_tensor_scalar_reduce_resets_loads_and_goes_on():
    state = State()
    kw = {"dst": like((1, 3)), "data": t([1, 2, 3]), "op0": "multiply",
          "operand0": 2.0, "state": state, "reduce_res": like((1, 1))}
    first = run("tensor_scalar_reduce", reduce_op="add", **kw)
    assert first["dst"].tolist() == [[2, 4, 6]]
    assert first["reduce_res"].tolist() == [[12]]
    again = run("tensor_scalar_reduce", reduce_op="add", reduce_cmd="reduce",
                reduce_res_negate=True, **kw)
    assert again["reduce_res"].tolist() == [[-24]]
    assert state.vector.values[0] == 24
    loaded = run("tensor_scalar_reduce", reduce_op="maximum",
                 reduce_cmd="load_reduce", reduce_init=5.0, **kw)
    assert loaded["reduce_res"].tolist() == [[6]]


def test_a_reduction_sees_the_value_before_the_cast():
    y = run("tensor_scalar_reduce", dst=like((1, 2), "int8"),
            data=t([0.4, 0.4]), op0="add", operand0=0.0, reduce_op="add",
            reduce_res=like((1, 1)))
    assert y["dst"].tolist() == [[0, 0]]
    assert y["reduce_res"].tolist() == [[float(F32(0.4) + F32(0.4))]]


@pytest.mark.parametrize("op1, row", [
    ("add", [1, 3, 6]), ("multiply", [1, 2, 6]), ("maximum", [1, 2, 3]),
    ("minimum", [1, 1, 1]), ("subtract", [1, 1, 2]),  # x - acc
])
def test_cumulative(op1, row):
    assert dst("tensor_scalar_cumulative", dst=like((1, 3)), src=t([1, 2, 3]),
               op0="add", op1=op1, imm0=0.0) == row


def test_cumulative_loads_its_start_and_goes_on():
    state = State()
    kw = {"dst": like((1, 2)), "src": t([1, 2]), "op0": "multiply",
          "op1": "add", "imm0": 10.0, "state": state}
    assert dst("tensor_scalar_cumulative", reduce_cmd="load_reduce", imm1=5.0,
               **kw) == [15, 35]
    assert dst("tensor_scalar_cumulative", reduce_cmd="reduce", **kw) == [
        45, 65]


def test_exponential_is_exact_at_zero_and_minus_infinity():
    y = run("exponential", 4, dst=like((1, 3)), src=t([2, 1, -INF]),
            max_value=2.0, reduce_cmd="reset_reduce", reduce_res=like((1, 1)))
    assert isinstance(y["dst"], Between)
    assert y["dst"].low[0, [0, 2]].tolist() == [1, 0]
    assert y["dst"].high[0, [0, 2]].tolist() == [1, 0]
    assert holds(y["reduce_res"], 1 + np.exp(-1))


# Selection.


def test_range_select_fills_with_the_lowest_fp32():
    kw = {"on_true_tile": t([10, 20, 30, 40]), "comp_op0": "greater_equal",
          "comp_op1": "less", "bound0": t([6]), "bound1": t([8]),
          "range_start": 5, "reduce_res": like((1, 1))}
    y = run("range_select", dst=like((1, 4)), **kw)
    low = float(FP32_MIN)
    assert low == float(np.finfo(F32).min)
    assert y["dst"].tolist() == [[low, 20, 30, low]]
    assert y["reduce_res"].tolist() == [[30]]
    narrow = run("range_select", dst=like((1, 4), "bfloat16"), **kw)["dst"]
    assert narrow.astype(F32).tolist() == [[-INF, 20, 30, -INF]]


def test_select_reduce_inverts_the_predicate_logically():
    kw = {"dst": like((1, 3)), "predicate": t([0, 1, 2], "uint8"),
          "on_true": t([1, 2, 3]), "on_false": -1.0}
    assert dst("select_reduce", **kw) == [-1, 2, 3]
    assert dst("select_reduce", reverse_pred=True, **kw) == [1, -1, -1]
    y = run("select_reduce", reduce_cmd="reset_reduce",
            reduce_res=like((1, 1)), **kw)
    assert y["reduce_res"].tolist() == [[3]]


# Statistics.


def test_bn_stats_gives_count_mean_and_m2_of_even_and_odd_places():
    y = run("bn_stats", dst=like((1, 6)), data=t([1, 10, 3, 20, 5]))["dst"]
    # even: 1, 3, 5: mean 3, 4 + 0 + 4; odd: 10, 20: mean 15, 25 + 25.
    want = np.array([3, 3, 8, 2, 15, 50])
    assert (y.low <= want).all() and (want <= y.high).all()
    assert np.allclose(y.low, y.high, rtol=1e-4)
    assert y.low[0, [0, 3]].tolist() == y.high[0, [0, 3]].tolist() == [3, 2]


def test_bn_stats_of_one_element_has_zeros_for_the_empty_set():  # 15.18
    y = run("bn_stats", dst=like((1, 6)), data=t([5]))["dst"]
    assert y.low[0, 3:].max() <= 0 <= y.high[0, 3:].min()


def test_bn_aggr_of_bn_stats_is_mean_and_population_variance():
    x = np.array([1, 10, 3, 20, 5, 7], F32)
    stats = [3, 3, 8, 3, 37 / 3, 0]
    stats[5] = float(((x[1::2] - x[1::2].mean()) ** 2).sum())
    y = run("bn_aggr", dst=like((1, 2)), data=t(stats))["dst"]
    want = np.array([x.mean(), x.var()])
    assert (y.low <= want + 1e-5).all() and (want - 1e-5 <= y.high).all()
    assert np.allclose(y.low, y.high, rtol=1e-4)


def test_bn_aggr_without_elements_is_nan():  # 15.18
    y = run("bn_aggr", dst=like((1, 2)), data=t([0, 1, 1]))["dst"]
    low = y.low if isinstance(y, Between) else y
    assert np.isnan(low).all()


# The eight largest, and shuffles.


def test_max8_is_descending_and_keeps_duplicates():
    x = t([3, 1, 9, 9, 2, 5, 4, 8, 7, 6])
    assert dst("max8", dst=like((1, 8)), src=x) == [9, 9, 8, 7, 6, 5, 4, 3]


def test_find_index8_advances_on_duplicates_and_reports_absence():
    x = t([3, 1, 9, 9, 2, 5, 4, 8, 7, 6])
    v = t([9, 9, 8, 7, 6, 5, 4, 100])
    kw = {"data": x, "vals": v}
    want = [2, 3, 7, 8, 9, 5, 6]
    for dtype, none in (("uint32", 2**32 - 1), ("uint16", 65535)):
        y = dst("nc_find_index8", dst=like((1, 8), dtype), **kw)
        assert y == [*want, none]


def test_match_replace8_walks_the_columns_backwards():
    # The documented example's indices: [2, 10, 9, 8, 7, 6, 5, 4], of eight
    # values of which seven are equal: the last column takes the first place.
    x = t([1, 2, 9, 3, 5, 5, 5, 5, 5, 5, 5])
    y = run("nc_match_replace8", dst=like((1, 11)), data=x,
            vals=t([9, 5, 5, 5, 5, 5, 5, 5]), imm=-1.0,
            dst_idx=like((1, 8), "uint32"))
    assert y["dst_idx"].tolist() == [[2, 10, 9, 8, 7, 6, 5, 4]]
    assert y["dst"].tolist() == [[1, 2, -1, 3] + [-1] * 7]


def test_stream_shuffle_keeps_dst_where_the_mask_is_255():  # row 31
    src = t(np.arange(64).reshape(64, 1))
    mask = [255, *reversed(range(31))]
    y = run("nc_stream_shuffle", dst=like((64, 1), fill=9), src=src,
            shuffle_mask=mask)["dst"][:, 0]
    assert y[:32].tolist() == [9, *reversed(range(31))]
    assert y[32:].tolist() == [9, *(32 + m for m in reversed(range(31)))]


def test_stream_shuffle_broadcasts_one_partition():
    y = run("nc_stream_shuffle", dst=like((32, 2)), src=t([[3, 4]]),
            shuffle_mask=[0] * 32)["dst"]
    assert (y == [3, 4]).all()


# Activations.


def test_activation_is_op_of_scale_times_x_plus_bias():  # row 15
    for op in ("copy", "relu"):
        assert dst("activation", dst=like((1, 1)), op=op, data=t([1.0]),
                   scale=2.0, bias=3.0) == [5.0]


def test_the_default_leaves_the_accumulators_alone():  # row 15
    state = State()
    kw = {"dst": like((1, 2)), "op": "copy", "data": t([1, 2]),
          "state": state}
    run("activation", reduce_op="add", reduce_cmd="reset_reduce", **kw)
    y = run("activation", reduce_op="add", reduce_res=like((1, 1)), **kw)
    assert y["reduce_res"].tolist() == [[3]]


def test_reduce_adds_the_new_sum_once():  # decisions.md
    state = State()
    kw = {"dst": like((1, 2)), "op": "copy", "data": t([1, 2]),
          "state": state, "reduce_op": "add", "reduce_res": like((1, 1))}
    sums = [
        run("activation", reduce_cmd=c, **kw)["reduce_res"].item()
        for c in ("reset_reduce", "reduce", "reduce", "reset", "reduce")
    ]
    assert sums == [3, 6, 9, 0, 3]


def test_sin_has_no_range_reduction():  # row 16
    y = run("activation", dst=like((1, 1)), op="sin", data=t([9.0]))["dst"]
    # -(9 - pi) + (9 - pi)^3 / 6 = -5.858407 + 33.511...
    d = 9 - np.pi
    assert abs(-d + d**3 / 6 - 27.65) < 0.01
    assert y.low.item() <= -d + d**3 / 6 <= y.high.item()


@pytest.mark.parametrize("op, x, value", [
    ("sigmoid", 0.0, 0.5), ("gelu", 1.0, 0.8413447460685429),
    ("silu", 1.0, 0.7310585786300049), ("tanh", 0.5, 0.46211715726000973),
    ("softplus", 0.0, 0.6931471805599453), ("erf", 0.5, 0.5204998778130465),
    ("mish", 1.0, 0.8650983882673103), ("log", 10.0, 2.302585092994046),
    ("gelu_apprx_tanh", 1.0, 0.8411919906082768), ("rsqrt", 2.0, 0.5**0.5),
    ("erf_dx", 0.0, 1.1283791670955126), ("arctan", 1.0, np.pi / 4),
])
def test_functions_are_within_an_ulp(op, x, value):
    y = run("activation", dst=like((1, 1)), op=op, data=t([x]))["dst"]
    assert holds(y, value)


def test_activation_reduce_resets_first():
    state = State()
    state.scalar.values[:] = 100
    y = run("activation_reduce", dst=like((1, 3)), op="square",
            data=t([1, 2, 3]), reduce_op="add", reduce_res=like((1, 1)),
            state=state)
    assert y["dst"].tolist() == [[1, 4, 9]]
    assert y["reduce_res"].tolist() == [[14]]


def test_activate2_takes_a_slope_and_two_operations():
    y = run("activate2", 4, dst=like((1, 2)), op="prelu", data=t([1, 5]),
            imm0=2.0, imm1=5.0, op0="multiply", op1="subtract",
            relu_param=0.5, reduce_op="minimum", reduce_cmd="reset_reduce",
            reduce_res=like((1, 1)))
    assert y["dst"].tolist() == [[-1.5, 5]]  # 2 - 5 = -3, 10 - 5
    assert y["reduce_res"].tolist() == [[-1.5]]
    assert dst("activate2", 4, dst=like((1, 1)), op="copy", data=t([1]),
               imm0=2.0, imm1=0.0, op0="subtract", op1="bypass",
               reverse0=True) == [1.0]
