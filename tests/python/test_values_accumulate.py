"""The accumulators of the vector and scalar engines, and scans.

fp32, one element after the other in access order, of the values before the
cast to dst (numerics.md 8, 15.8); a scan's state stays fp32 (decisions.md).
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import reference as ref
import trnemu
from geometry import LOOKS, PARTITIONS
from kit import TARGETS, Kit

F32 = np.float32
INF = float("inf")
BINARY = {**ref.BINARY, **ref.GEN4_BINARY}


def fold(op: str, start: ref.Array, y: ref.Array) -> ref.Array:
    """acc = acc op y[:, i], from start (P,)."""
    return functools.reduce(BINARY[op], y.T, start)


def scan(op: str, start: ref.Array, y: ref.Array) -> ref.Array:
    """acc = y[:, i] op acc, each of them."""
    steps = itertools.accumulate(y.T, lambda a, x: BINARY[op](x, a), initial=start)
    return np.array(list(steps)[1:]).T


# ---- tensor_scalar_reduce ----

IDENTITY = {"add": 0.0, "multiply": 1.0, "maximum": -INF, "minimum": INF}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", IDENTITY)
def test_tensor_scalar_reduce_is_tensor_scalar_and_its_reduction(op, target):
    a = ref.moderate("float32", (128, 37), 1)
    k = Kit(target)
    dst, res = k.empty((128, 37)), k.empty((128, 1))
    k.b.tensor_scalar_reduce(dst=dst, data=k.load(a), op0="multiply",
                             operand0=0.75, reduce_op=op, reduce_res=res)
    y, r = k.run(dst, res)
    ref.same(y, a * F32(0.75))
    ref.same(r[:, 0], fold(op, np.full(128, IDENTITY[op], F32), y))


def test_the_order_of_a_running_sum_shows():
    # 2^24 + 1 rounds to 2^24, twice; 1 + 1 first would give 2^24 + 2.
    a = np.array([[2.0**24, 1, 1], [1, 1, 2.0**24]], F32)
    k = Kit()
    res = k.empty((2, 1))
    k.b.tensor_scalar_reduce(dst=k.empty((2, 3)), data=k.load(a), op0="add",
                             operand0=0.0, reduce_op="add", reduce_res=res)
    assert k.one(res).tolist() == [[2**24], [2**24 + 2]]


def test_the_reduction_takes_values_before_the_cast():
    # uint8 stores 300 as 255; the reduction still has 300 + 2.5.
    a = np.array([[300, 2.5]], F32)
    k = Kit()
    dst, res = k.empty((1, 2), "uint8"), k.empty((1, 1))
    k.b.tensor_scalar_reduce(dst=dst, data=k.load(a), op0="add", operand0=0.0,
                             reduce_op="add", reduce_res=res)
    y, r = k.run(dst, res)
    assert (y.tolist(), r.tolist()) == ([[255, 2]], [[302.5]])


def test_reduce_goes_on_and_load_reduce_starts_from_reduce_init():
    k = Kit()
    x = k.load(np.array([[1, 2], [3, 4]], F32))
    init = k.load(np.array([[100], [200]], F32))
    dst = k.empty((2, 2))
    res = [k.empty((2, 1)) for _ in range(4)]
    step = functools.partial(k.b.tensor_scalar_reduce, dst=dst, data=x,
                             op0="add", operand0=0.0, reduce_op="add")
    step()
    step(reduce_cmd="reduce", reduce_res=res[0])
    step(reduce_cmd="load_reduce", reduce_init=init, reduce_res=res[1])
    step(reduce_cmd="load_reduce", reduce_init=-3, reduce_res=res[2])
    step(reduce_cmd="reset_reduce", reduce_res=res[3])
    got = [r[:, 0].tolist() for r in k.run(*res)]
    assert got == [[6, 14], [103, 207], [0, 4], [3, 7]]


def test_negation_is_of_what_is_read_not_of_the_accumulator():
    k = Kit()
    x = k.load(np.array([[1, 2]], F32))
    res = [k.empty((1, 1)) for _ in range(2)]
    step = functools.partial(k.b.tensor_scalar_reduce, dst=k.empty((1, 2)),
                             data=x, op0="add", operand0=0.0, reduce_op="add")
    step(reduce_res=res[0], reduce_res_negate=True)
    step(reduce_cmd="reduce", reduce_res=res[1])
    assert [r.item() for r in k.run(*res)] == [-3, 6]


def test_a_unary_op0_and_a_column():
    k = Kit("trn3")
    x = k.load(np.array([[-1, 2], [3, -4]], F32))
    c = k.load(np.array([[2], [3]], F32))
    res = [k.empty((2, 1)) for _ in range(2)]
    k.b.tensor_scalar_reduce(dst=k.empty((2, 2)), data=x, op0="square",
                             operand0=None, reduce_op="maximum",
                             reduce_res=res[0])
    k.b.tensor_scalar_reduce(dst=k.empty((2, 2)), data=x, op0="multiply",
                             operand0=c, reduce_op="minimum",
                             reduce_res=res[1])
    got = [r[:, 0].tolist() for r in k.run(*res)]
    assert got == [[4, 16], [-2, -12]]


def test_a_reduction_skips_nan_as_maximum_does():
    k = Kit()
    x = k.load(np.array([[np.nan, 3, np.nan, -4]], F32))
    res = k.empty((1, 1))
    k.b.tensor_scalar_reduce(dst=k.empty((1, 4)), data=x, op0="add",
                             operand0=0.0, reduce_op="maximum", reduce_res=res)
    assert k.one(res).item() == 3


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_all_free_dimensions_are_reduced_in_the_order_of_the_view(look):
    a = np.exp(ref.moderate("float32", (64, *look.free), 8))
    seen = np.ascontiguousarray(look.array(a)).reshape(64, -1)
    k = Kit()
    view = look.view(k.load(a))
    dst, res = k.empty(view.shape), k.empty((64, 1))
    cum, tts = k.empty(view.shape), k.empty(view.shape)
    k.b.tensor_scalar_reduce(dst=dst, data=view, op0="add", operand0=0.5,
                             reduce_op="add", reduce_res=res)
    k.b.tensor_scalar_cumulative(dst=cum, src=view, op0="add", imm0=0.5,
                                 op1="add")
    k.b.tensor_tensor_scan(dst=tts, data0=view, data1=view, initial=1.0,
                           op0="add", op1="maximum")
    y, r, c, t = (v.reshape(64, -1) for v in k.run(dst, res, cum, tts))
    want = seen + F32(0.5)
    ref.same(y, want)
    ref.same(r[:, 0], fold("add", np.zeros(64, F32), want))
    ref.same(c, scan("add", np.zeros(64, F32), want))
    state, states = np.ones(64, F32), []
    for x in seen.T:
        state = ref.BINARY["maximum"](x + state, x)
        states.append(state)
    ref.same(t, np.array(states).T)


@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_accumulators_are_of_the_partitions_of_the_instruction(place):
    start, count = place
    part = slice(start, start + count)
    a = ref.moderate("float32", (128, 6), 9)
    k = Kit("trn3")
    x, dst, res = k.load(a), k.empty((128, 6)), k.empty((count, 2))
    k.b.tensor_scalar_reduce(dst=dst[part], data=x[part], op0="add",
                             operand0=0.0, reduce_op="add",
                             reduce_res=res[:, :1])
    k.b.activate2(dst=dst[part], op="copy", data=x[part], imm0=0.0, imm1=0.0,
                  op0="bypass", op1="bypass", reduce_op="add",
                  reduce_cmd="reset_reduce", reduce_res=res[:, 1:])
    want = fold("add", np.zeros(count, F32), a[part])
    ref.same(k.one(res), np.stack([want, want], axis=1))


@pytest.mark.parametrize("dtype", ref.ANY)
def test_dst_may_be_the_data(dtype):
    a = ref.moderate(dtype, (40, 50), 2)
    wide = ref.widen(a, dtype)
    k = Kit()
    x, res = k.load(a, dtype), k.empty((40, 1))
    k.b.tensor_scalar_reduce(dst=x, data=x, op0="multiply", operand0=0.5,
                             reduce_op="add", reduce_res=res)
    y, r = k.run(x, res)
    ref.same(y, ref.cast(wide * F32(0.5), dtype))
    ref.same(r[:, 0], fold("add", np.zeros(40, F32), wide * F32(0.5)))


# ---- tensor_scalar_cumulative ----


def test_cumulative_sum_product_and_extremes():
    k = Kit()
    x = k.load(np.array([[3, 1, 4, 1, 5]], F32))
    want = {
        "add": [3, 4, 8, 9, 14], "multiply": [3, 3, 12, 12, 60],
        "maximum": [3, 3, 4, 4, 5], "minimum": [3, 1, 1, 1, 1],
        # the new value minus the accumulator: 3-0, 1-3, 4+2, 1-6, 5+5
        "subtract": [3, -2, 6, -5, 10],
    }
    out = {op: k.empty((1, 5)) for op in want}
    for op, t in out.items():
        k.b.tensor_scalar_cumulative(dst=t, src=x, op0="add", op1=op, imm0=0.0)
    for (op, row), got in zip(want.items(), k.run(*out.values())):
        assert got.tolist() == [row], op


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "maximum",
                                "minimum"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_cumulative_results_over_many_rows_and_columns(dtype, op):
    a = ref.moderate(dtype, (128, 100), 3)
    y = ref.widen(a, dtype) * F32(0.25)
    identity = {**IDENTITY, "subtract": 0.0}[op]
    k = Kit()
    t = k.empty((128, 100))
    k.b.tensor_scalar_cumulative(dst=t, src=k.load(a, dtype), op0="multiply",
                                 op1=op, imm0=0.25)
    ref.same(k.one(t), scan(op, np.full(128, identity, F32), y))


def test_the_accumulator_is_not_cast_with_the_results():
    # bfloat16 holds 256 and 258, not 257.
    k = Kit()
    t = k.empty((1, 3), "bfloat16")
    k.b.tensor_scalar_cumulative(dst=t, src=k.load(np.ones((1, 3), F32)),
                                 op0="add", op1="add", imm0=0.0,
                                 reduce_cmd="load_reduce", imm1=255.0)
    assert k.one(t).astype(F32).tolist() == [[256, 256, 258]]


def test_cumulative_goes_on_across_instructions_and_is_shared():
    k = Kit()
    x = k.load(np.array([[1, 2], [3, 4]], F32))
    t = [k.empty((2, 2)) for _ in range(3)]
    res = k.empty((2, 1))
    step = functools.partial(k.b.tensor_scalar_cumulative, src=x, op0="add",
                             op1="add", imm0=0.0)
    step(dst=t[0])
    step(dst=t[1], reduce_cmd="reduce")
    k.b.tensor_scalar_reduce(dst=k.empty((2, 2)), data=x, op0="add",
                             operand0=0.0, reduce_op="add", reduce_cmd="reduce",
                             reduce_res=res)
    step(dst=t[2], reduce_cmd="load_reduce", imm1=k.load(np.array([[10], [20]], F32)))
    got = [v.tolist() for v in k.run(*t, res)]
    assert got == [[[1, 3], [3, 7]], [[4, 6], [10, 14]],
                   [[11, 13], [23, 27]], [[9], [21]]]


def test_cumulative_may_write_its_source():
    k = Kit()
    x = k.load(np.arange(1, 81, dtype=F32).reshape(2, 40))
    k.b.tensor_scalar_cumulative(dst=x, src=x, op0="add", op1="add", imm0=0.0)
    ref.same(k.one(x), np.cumsum(np.arange(1, 81, dtype=F32).reshape(2, 40), 1))


# ---- tensor_tensor_scan ----


@pytest.mark.parametrize("target", TARGETS)
def test_a_scan_feeds_each_result_to_the_next_element(target):
    # 2*1+1, 3*3+1, 4*10+1; and subtractions in all four orders from 5
    k = Kit(target)
    d0, d1 = k.load(np.array([[2, 3, 4]], F32)), k.load(np.ones((1, 3), F32))
    out = [k.empty((1, 3)) for _ in range(5)]
    k.b.tensor_tensor_scan(dst=out[0], data0=d0, data1=d1, initial=1.0,
                           op0="multiply", op1="add")
    for i, (r0, r1) in enumerate(itertools.product((False, True), repeat=2)):
        k.b.tensor_tensor_scan(dst=out[1 + i], data0=d0, data1=d1, initial=5.0,
                               op0="subtract", op1="subtract", reverse0=r0,
                               reverse1=r1)
    assert [v[0].tolist() for v in k.run(*out)] == [
        [3, 10, 41],
        [-4, 6, -3],  # (2-5)-1, (3+4)-1, (4-6)-1
        [4, 2, -1],  # 1-(2-5), 1-(3-4), 1-(4-2)
        [2, -2, -7],  # (5-2)-1, (2-3)-1, (-2-4)-1
        [-2, 6, -1],  # 1-(5-2), 1-(-2-3), 1-(6-4)
    ]


def test_the_state_of_a_scan_stays_fp32():
    k = Kit()
    zero, one = np.zeros((1, 3), F32), np.ones((1, 3), F32)
    t = k.empty((1, 3), "bfloat16")
    k.b.tensor_tensor_scan(dst=t, data0=k.load(one), data1=k.load(zero),
                           initial=255.0, op0="add", op1="add")
    assert k.one(t).astype(F32).tolist() == [[256, 256, 258]]


def test_a_scan_starts_each_partition_from_its_initial():
    k = Kit()
    x = k.load(np.ones((3, 2), F32))
    t = k.empty((3, 2))
    k.b.tensor_tensor_scan(dst=t, data0=x, data1=x, op0="multiply", op1="add",
                           initial=k.load(np.array([[0], [10], [-5]], F32)))
    assert k.one(t).tolist() == [[1, 2], [11, 12], [-4, -3]]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 200])
@pytest.mark.parametrize("p", [1, 5, 31, 32, 64, 100, 128])
def test_scans_of_any_size(p, n):
    a = ref.moderate("float32", (p, n), 4)
    b = ref.moderate("bfloat16", (p, n), 5)
    k = Kit()
    t = k.empty((p, n))
    k.b.tensor_tensor_scan(dst=t, data0=k.load(a), data1=k.load(b, "bfloat16"),
                           initial=0.5, op0="minimum", op1="add")
    state, states = np.full(p, 0.5, F32), []
    for x, y in zip(a.T, ref.widen(b, "bfloat16").T):
        state = ref.BINARY["minimum"](x, state) + y
        states.append(state)
    ref.same(k.one(t), np.array(states).T)


@pytest.mark.parametrize("op0", BINARY)
@pytest.mark.parametrize("op1", BINARY)
def test_scans_of_every_pair_of_operations(op0, op1):
    a, b = (ref.moderate("float32", (17, 35), s) for s in (6, 7))
    k = Kit("trn3")
    t = k.empty((17, 35))
    k.b.tensor_tensor_scan(dst=t, data0=k.load(a), data1=k.load(b),
                           initial=0.25, op0=op0, op1=op1, reverse1=True)
    state, states = np.full(17, 0.25, F32), []
    for x, y in zip(a.T, b.T):
        state = BINARY[op1](y, BINARY[op0](x, state)).astype(F32)
        states.append(state)
    ref.same(k.one(t), np.array(states).T)


@pytest.mark.parametrize("into", ["data0", "data1"])
def test_a_scan_may_write_either_input(into):
    a, b = (ref.moderate("float32", (40, 70), s) for s in (1, 2))
    k = Kit()
    tiles = {"data0": k.load(a), "data1": k.load(b)}
    k.b.tensor_tensor_scan(dst=tiles[into], **tiles, initial=0.0,
                           op0="multiply", op1="add")
    state, states = np.zeros(40, F32), []
    for x, y in zip(a.T, b.T):
        state = x * state + y
        states.append(state)
    ref.same(k.one(tiles[into]), np.array(states).T)


# ---- exponential ----


def test_exponential_subtracts_the_maximum_first():
    k = Kit("trn3")
    x = k.load(np.array([[0, 1, -INF], [700, 700, 699]], F32))
    m = k.load(np.array([[0], [700]], F32))
    t, res = k.empty((2, 3)), k.empty((2, 1))
    k.b.exponential(dst=t, src=x, max_value=m, reduce_res=res,
                    reduce_cmd="reset_reduce")
    y, r = k.run(t, res)
    e, inverse = F32(np.exp(1)), F32(np.exp(-1))
    assert y[0, 0] == 1 and y[0, 2] == 0 and y[1, :2].tolist() == [1, 1]
    ref.within_ulp(y[:, 1:2], np.array([[np.exp(1)], [1]]), y[:, 1:2])
    assert abs(y[0, 1] - e) < 1e-6 and abs(y[1, 2] - inverse) < 1e-7
    ref.same(r[:, 0], fold("add", np.zeros(2, F32), y))


def test_exponential_is_that_of_the_scalar_engine():
    a = ref.moderate("float32", (128, 50), 3)
    k = Kit("trn3")
    x, t, u = k.load(a), k.empty((128, 50)), k.empty((128, 50))
    k.b.exponential(dst=t, src=x, max_value=0.5)
    k.b.activation(dst=u, op="exp", data=x, bias=-0.5)
    y, z = k.run(t, u)
    ref.same(y, z)


def test_exponential_sums_across_instructions():
    k = Kit("trn3")
    x = k.load(np.zeros((2, 3), F32))
    t, res = k.empty((2, 3)), [k.empty((2, 1)) for _ in range(3)]
    k.b.exponential(dst=t, src=x, reduce_cmd="reset_reduce", reduce_res=res[0])
    k.b.exponential(dst=t, src=x, reduce_cmd="reduce", reduce_res=res[1])
    k.b.exponential(dst=t, src=x, reduce_cmd="load_reduce", reduce_init=0.5,
                    reduce_res=res[2])
    assert [r[:, 0].tolist() for r in k.run(*res)] == [[3, 3], [6, 6], [3.5, 3.5]]


# ---- activation_reduce, activate2 and the scalar engine's accumulators ----


@pytest.mark.parametrize("target", TARGETS)
def test_activation_reduce_sums_the_activated_values(target):
    k = Kit(target)
    x = k.load(np.array([[1, -2, 3], [-4, 5, 6]], F32))
    t, res = k.empty((2, 3)), k.empty((2, 1))
    k.b.activation_reduce(dst=t, op="relu", data=x, reduce_op="add",
                          reduce_res=res, scale=2.0)
    y, r = k.run(t, res)
    assert y.tolist() == [[2, 0, 6], [0, 10, 12]]
    assert r.tolist() == [[8], [22]]


def test_activation_reduce_resets_first():
    k = Kit()
    x = k.load(np.array([[1, 2]], F32))
    res = [k.empty((1, 1)) for _ in range(3)]
    step = functools.partial(k.b.activation_reduce, dst=k.empty((1, 2)),
                             op="copy", data=x, reduce_op="add")
    step(reduce_res=None)
    step(reduce_res=res[0])
    # idle leaves the accumulators alone, reset clears them
    k.b.activation(dst=k.empty((1, 2)), op="copy", data=x, reduce_res=res[1])
    k.b.activation(dst=k.empty((1, 2)), op="copy", data=x, reduce_cmd="reset",
                   reduce_op="add", reduce_res=res[2])
    assert [r.item() for r in k.run(*res)] == [3, 3, 0]


def run_activate2(x: ref.Array, op: str = "copy", **call):
    k = Kit("trn3")
    t = k.empty(x.shape)
    call = {k2: k.load(v) if isinstance(v, np.ndarray) else v
            for k2, v in call.items()}
    k.b.activate2(dst=t, op=op, data=k.load(x), **{
        "imm0": 0.0, "imm1": 0.0, "op0": "bypass", "op1": "bypass", **call})
    return k.one(t)


def test_activate2_operates_then_activates():
    x = np.array([[1, -2]], F32)
    two = {"imm0": 2.0, "imm1": 3.0}
    for call, want in [
        ({"op0": "multiply", "op1": "add"}, [5, -1]),
        ({"op0": "multiply", "op1": "subtract"}, [-1, -7]),
        ({"op0": "multiply", "op1": "subtract", "reverse1": True}, [1, 7]),
        ({"op0": "multiply", "op1": "bypass"}, [2, -4]),
        ({"op0": "add", "op1": "bypass"}, [3, 0]),
        ({"op0": "subtract", "op1": "bypass"}, [-1, -4]),
        ({"op0": "subtract", "op1": "bypass", "reverse0": True}, [1, 4]),
        ({"op0": "bypass", "op1": "bypass"}, [1, -2]),
    ]:
        assert run_activate2(x, **two, **call).tolist() == [want], call
        relu = [max(v, 0) for v in want]
        assert run_activate2(x, "relu", **two, **call).tolist() == [relu]


def test_activate2_takes_columns():
    x = np.ones((2, 2), F32)
    got = run_activate2(x, imm0=np.array([[2], [3]], F32), op0="multiply",
                        imm1=np.array([[10], [20]], F32), op1="add")
    assert got.tolist() == [[12, 12], [23, 23]]


def test_relu_param_is_the_slope_of_prelu():
    x = np.array([[-4, 4], [-8, 0]], F32)
    assert run_activate2(x, "prelu", relu_param=0.25).tolist() == [[-1, 4], [-2, 0]]
    column = np.array([[0.5], [2]], F32)
    assert run_activate2(x, "prelu", relu_param=column).tolist() == [[-2, 4], [-16, 0]]


def test_multiply_and_add_round_twice_unless_fused():
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the product loses the last bit
    x = np.full((1, 1), 1 + 2.0**-12, F32)
    k = Kit("trn3")
    t = k.empty((1, 1))
    k.b.activate2(dst=t, op="copy", data=k.load(x), imm0=1 + 2.0**-12,
                  imm1=-1.0, op0="multiply", op1="add")
    p = k.build(t)
    for rounding, want in (("separate", 2.0**-11),
                           ("fused", 2.0**-11 + 2.0**-24)):
        r = trnemu.run(p, k.inputs, numerics={"scale_bias": rounding})
        assert r.outputs["out0"].item() == want, rounding


@pytest.mark.parametrize(
    ("op", "identity", "reduced"),
    [("add", 0, 0), ("maximum", -INF, 4), ("minimum", INF, -5),
     ("abs_max", 0, -5), ("abs_min", INF, 1)],
)
def test_reductions_of_activate2_start_from_their_identity(op, identity, reduced):
    k = Kit("trn3")
    x = k.load(np.array([[4, -5, 1]], F32))
    res = [k.empty((1, 1)) for _ in range(4)]
    step = functools.partial(
        k.b.activate2, dst=k.empty((1, 3)), op="copy", data=x, imm0=0.0,
        imm1=0.0, op0="bypass", op1="bypass", reduce_op=op)
    step(reduce_cmd="reset", reduce_res=res[0])
    step(reduce_cmd="reset_reduce", reduce_res=res[1])
    step(reduce_cmd="idle", reduce_res=res[2])
    step(reduce_cmd="reduce", reduce_res=res[3])
    assert [r.item() for r in k.run(*res)] == [identity, reduced, reduced, reduced]


def test_activation_and_activate2_share_their_accumulators():
    k = Kit("trn3")
    x = k.load(np.array([[4, -5, 1]], F32))
    res = [k.empty((1, 1)) for _ in range(2)]
    k.b.activate2(dst=k.empty((1, 3)), op="copy", data=x, imm0=0.0, imm1=0.0,
                  op0="bypass", op1="bypass", reduce_op="maximum",
                  reduce_cmd="reset_reduce")
    k.b.activation(dst=k.empty((1, 3)), op="square", data=x, reduce_op="add",
                   reduce_cmd="reduce", reduce_res=res[0])
    # and not with the vector engine's
    k.b.tensor_scalar_reduce(dst=k.empty((1, 3)), data=x, op0="add",
                             operand0=0.0, reduce_op="minimum")
    k.b.activation(dst=k.empty((1, 3)), op="copy", data=x, reduce_res=res[1])
    assert [r.item() for r in k.run(*res)] == [46, 46]


def test_activate2_warns_of_inputs_outside_the_range_of_its_function():
    k = Kit("trn3")
    t = k.empty((1, 2))
    k.b.activate2(dst=t, op="sin", data=k.load(np.array([[1, 3]], F32)),
                  imm0=3.0, imm1=0.0, op0="multiply", op1="bypass")
    y = k.one(t)
    assert abs(y[0, 1] - 27.65) < 0.01  # sin(9.0), documented
    assert [f.id for f in k.findings] == ["activation.outside_valid_range"]
    assert "element 1" in k.findings[0].message
