"""--stop-at-nan: where a NaN or an infinity was born, and what is no birth."""

import inspect

import ml_dtypes
import numpy as np
import pytest

from cli_kit import FAULT, SUCCESS, USAGE, refuses, trnemu as command
from kit import Kit
import trnemu

INF, NAN = np.inf, np.nan


def fault(kit, *views, **options):
    with pytest.raises(trnemu.Fault) as caught:
        kit.run(*views, stop_at_nan=True, **options)
    return caught.value


def row(*values):
    return np.array([values], np.float32)


# ---- row 57: an attention row that is masked throughout ----


def attention(scores, mask, repaired):
    """softmax(scores + mask) of one row. The repaired twin bounds the maximum
    from below and the divisor too, so that a row of -inf gives 0."""
    k = Kit()
    s = k.load(scores)
    m = k.load(mask)
    b = k.b
    top, total = k.empty((1, 1)), k.empty((1, 1))
    b.tensor_tensor(dst=s, data1=s, data2=m, op="add")
    b.tensor_reduce(dst=top, op="maximum", data=s, axis=1)
    if repaired:
        b.tensor_scalar(dst=top, data=top, op0="maximum", operand0=-1e30)
    b.tensor_scalar(dst=s, data=s, op0="subtract", operand0=top)
    b.activation(dst=s, op="exp", data=s)
    b.tensor_reduce(dst=total, op="add", data=s, axis=1)
    if repaired:
        b.tensor_scalar(dst=total, data=total, op0="maximum", operand0=1e-30)
    b.reciprocal(dst=total, data=total)
    b.tensor_scalar(dst=s, data=s, op0="multiply", operand0=total)
    return k, s


MASKED = row(-INF, -INF, -INF, -INF)


def test_a_row_that_is_masked_throughout_is_found_where_its_nan_is_born():
    k, s = attention(row(1, 2, 3, 4), MASKED, repaired=False)
    assert np.isnan(k.one(s)).all()
    k, s = attention(row(1, 2, 3, 4), MASKED, repaired=False)
    f = fault(k, s)
    assert (f.category, f.id) == ("limit", "nan.produced")
    assert (f.operation, f.operand) == ("tensor_scalar", "dst")
    # (-inf) - (-inf)
    assert (f.details["value_of_data"], f.details["value_of_operand0"]) == (
        "-inf", "-inf")
    assert f.details["place"] == "partition 0, element 0"
    assert "op0=\"subtract\"" in open(f.source.split(":")[0]).read().splitlines()[
        int(f.source.split(":")[1].split()[0]) - 1]


def test_its_repaired_twin_has_no_nan_and_gives_zeros():
    k, s = attention(row(1, 2, 3, 4), MASKED, repaired=True)
    assert (k.one(s, stop_at_nan=True) == 0).all()


def test_a_row_that_is_masked_in_part_is_no_finding():
    k, s = attention(row(1, 1, 3, 4), row(0, 0, -INF, -INF), repaired=False)
    assert (k.one(s, stop_at_nan=True) == row(0.5, 0.5, 0, 0)).all()


def test_zero_divided_by_zero_is_found():
    """0 * (1 / 0): the reciprocal is an infinity of finite inputs, and the
    product, if that passes, a NaN."""
    def divided():
        k = Kit()
        t, z = k.load(row(0, 1)), k.load(row(0, 2))
        k.b.reciprocal(dst=z, data=z)
        k.b.tensor_tensor(dst=t, data1=t, data2=z, op="multiply")
        return k, t

    assert fault(*divided()).operation == "reciprocal"
    f = fault(*divided(), allow=["nan.infinity_produced"])
    assert (f.id, f.operation) == ("nan.produced", "tensor_tensor")
    assert (f.details["value_of_data1"], f.details["value_of_data2"]) == (
        "0", "inf")


# ---- births ----


def test_a_reciprocal_of_zero_is_an_infinity():
    k = Kit()
    t = k.load(row(4, 0))
    k.b.reciprocal(dst=t, data=t)
    f = fault(k, t)
    assert (f.id, f.details["place"], f.details["value_of_data"]) == (
        "nan.infinity_produced", "partition 0, element 1", "0")


@pytest.mark.parametrize(("value", "found"), [(65504, False), (65536, True)])
def test_a_cast_by_dma_that_overflows_is_an_infinity(value, found):
    """65504 is the largest float16."""
    k = Kit()
    x = k.input(np.full((4, 3), value, np.float32))
    t = k.empty((4, 3), "float16")
    k.b.dma_copy(dst=t, src=x)
    if not found:
        assert (k.one(t, stop_at_nan=True) == value).all()
        return
    f = fault(k, t)
    assert (f.id, f.operation, f.details["value_of_src"]) == (
        "nan.infinity_produced", "dma_copy", "65536")


@pytest.mark.parametrize("schedule", ["timed", "program", 3])
def test_an_accumulation_in_psum_that_overflows_is_an_infinity(schedule):
    """Two products of 2^127 each are finite, their sum is not."""
    k = Kit()
    a = k.load(np.full((1, 1), 2.0**100, np.float32))
    c = k.load(np.full((1, 1), 2.0**27, np.float32))
    p = k.empty((1, 1), "float32", "psum")
    k.b.nc_matmul(dst=p, stationary=a, moving=c)
    second = inspect.currentframe().f_lineno + 1
    k.b.nc_matmul(dst=p, stationary=a, moving=c)
    out = k.empty((1, 1))
    k.b.tensor_copy(dst=out, src=p)
    f = fault(k, out, schedule=schedule)
    assert (f.id, f.operation, f.engine) == (
        "nan.infinity_produced", "nc_matmul", "tensor")
    assert f.source.split(":")[1].split()[0] == str(second)


def test_a_reduction_that_overflows_is_an_infinity():
    k = Kit()
    t, s = k.load(row(3e38, 3e38)), k.empty((1, 1))
    k.b.tensor_reduce(dst=s, op="add", data=t, axis=1)
    assert fault(k, s).id == "nan.infinity_produced"


def test_a_running_sum_of_the_scalar_engine_that_overflows_is_found_where_it_did():
    k = Kit()
    t, s = k.load(row(3e38, 3e38)), k.empty((1, 1))
    k.b.activation(dst=t, op="copy", data=t, reduce_op="add", reduce_res=s,
                   reduce_cmd="reset_reduce")
    f = fault(k, s)
    assert (f.id, f.operand, f.opcode) == (
        "nan.infinity_produced", "reduce_res", "Activate")


def test_a_nan_of_infinities_in_a_matmul_is_found():
    """0 * inf, of finite zeros and an infinite weight."""
    k = Kit()
    a = k.load(np.full((1, 1), INF, np.float32))
    c = k.load(np.zeros((1, 1), np.float32))
    p = k.empty((1, 1), "float32", "psum")
    k.b.nc_matmul(dst=p, stationary=a, moving=c)
    out = k.empty((1, 1))
    k.b.tensor_copy(dst=out, src=p)
    assert fault(k, out).id == "nan.produced"


def test_one_lane_does_not_excuse_another():
    """Partition 0 is infinite from the start, partition 1 becomes it."""
    k = Kit()
    t = k.load(np.array([[INF], [3e38]], np.float32))
    k.b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=2.0)
    assert fault(k, t).details["place"] == "partition 1, element 0"


# ---- what is no birth ----


def quiet(kit, view):
    """Runs without a finding, and gives the values."""
    return kit.one(view, stop_at_nan=True)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_what_an_input_holds_is_no_birth(value):
    k = Kit()
    t = k.load(row(value, 1))
    k.b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    quiet(k, t)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_a_fill_value_is_no_birth(value):
    k = Kit()
    t = k.filled((2, 3), value)
    assert np.array_equal(quiet(k, t), np.full((2, 3), value, np.float32),
                          equal_nan=True)


def test_a_mask_of_affine_select_is_no_birth():
    k = Kit()
    t = k.load(np.ones((4, 4), np.float32))
    k.b.affine_select(dst=t, pattern=[[-1, 4]], channel_multiplier=1,
                      on_true_tile=t, on_false_value=-INF,
                      cmp_op="greater_equal")
    # partition - element >= 0
    want = np.where(np.tri(4, 4) > 0, 1, -INF).astype(np.float32)
    assert np.array_equal(quiet(k, t), want)


def test_what_psum_held_before_does_not_count_where_a_matmul_overwrites_it():
    k = Kit()
    p = k.filled((1, 1), NAN, space="psum")
    a = k.load(np.ones((1, 1), np.float32))
    k.b.nc_matmul(dst=p, stationary=a, moving=a, accumulate=False)
    out = k.empty((1, 1))
    k.b.tensor_copy(dst=out, src=p)
    assert quiet(k, out) == 1


def test_bits_that_are_moved_are_no_birth():
    k = Kit()
    bits = np.array([[0x7FC00000, 0x7F800000]], np.uint32)
    t = k.load(bits)
    u = k.empty((1, 2))
    k.b.tensor_copy(dst=u.view("uint32"), src=t)
    v = k.empty((1, 2))
    k.b.dma_copy(dst=v, src=u)
    quiet(k, v)


def test_integers_are_never_nan():
    k = Kit()
    t = k.load(np.array([[2**31 - 1, -1]], np.int32))
    k.b.tensor_scalar(dst=t, data=t, op0="bitwise_or", operand0=1)
    quiet(k, t)


def test_subnormal_and_bf16_results_that_are_finite_are_quiet():
    k = Kit()
    t = k.load(np.array([[1e-40, 3e38]], ml_dtypes.bfloat16))
    k.b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=1.0)
    quiet(k, t)


# ---- options ----


def test_an_allowed_infinity_is_reported_and_the_nan_behind_it_still_stops():
    k = Kit()
    t = k.load(row(0, 0))
    k.b.reciprocal(dst=t, data=t)  # inf
    k.b.tensor_tensor(dst=t, data1=t, data2=t, op="subtract")  # inf - inf
    f = fault(k, t, allow=["nan.infinity_produced"])
    assert (f.id, f.operation) == ("nan.produced", "tensor_tensor")
    both = ["nan.infinity_produced", "nan.produced"]
    k = Kit()
    t = k.load(row(0, 0))
    k.b.reciprocal(dst=t, data=t)
    k.b.tensor_tensor(dst=t, data1=t, data2=t, op="subtract")
    r = trnemu.run(k.build(t), k.inputs, stop_at_nan=True, allow=both)
    assert sorted(r.allowed) == sorted(both)
    assert {d.id for d in r.diagnostics} >= {*both}


def test_the_command_stops_at_a_nan(tmp_path):
    k, s = attention(row(1, 2, 3, 4), MASKED, repaired=False)
    k.build(s).save(str(tmp_path / "k.trn"))
    run = ["run", tmp_path / "k.trn"]
    for name, array in k.inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
        run += ["--input", f"{name}={tmp_path / name}.npy"]
    assert command(*run).returncode == SUCCESS
    result = command(*run, "--stop-at-nan")
    assert result.returncode == FAULT
    assert "limit [nan.produced]: dst became nan" in result.stderr
    assert "value_of_data" in result.stderr
    refuses(command(*run, "--stop-at-nan", "--values", "off"), USAGE,
            "--stop-at-nan")


def test_values_off_excludes_it():
    k = Kit()
    with pytest.raises(trnemu.InputFault) as caught:
        trnemu.run(k.build(k.load(row(1))), k.inputs, stop_at_nan=True,
                   values=False)
    assert caught.value.id == "option.stop_at_nan"
