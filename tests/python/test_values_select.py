"""tensor_copy_predicated, range_select, select_reduce: what the documents
state, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
import reference as ref
from geometry import WRITABLE
from kit import TARGETS, Kit

F32 = np.float32
LOWEST = np.finfo(np.float32).min
NEWER = ("trn2", "trn3")
every = pytest.mark.parametrize("target", TARGETS)
newer = pytest.mark.parametrize("target", NEWER)
SPACES = pytest.mark.parametrize("space", ["sbuf", "psum"])


def ids(k: Kit) -> list[str]:
    return [f.id for f in k.findings]


# --- tensor_copy_predicated -------------------------------------------------


@every
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32"])
@pytest.mark.parametrize("dtype", ref.ANY)
def test_copies_bits_where_the_predicate_is_nonzero(
    dtype, kind, reverse, target
):
    src = ref.samples(dtype, (8, 6), seed=1)
    old = ref.samples(dtype, (8, 6), seed=2)
    # "any nonzero is true": the lowest and the highest bit alone, too.
    top = 1 << (8 * np.dtype(kind).itemsize - 1)
    predicate = np.tile(np.array([0, 1, 2, 0, top, 0], kind), (8, 1))
    k = Kit(target)
    dst = k.load(old, dtype)
    k.b.tensor_copy_predicated(
        dst=dst, src=k.load(src, dtype), predicate=k.load(predicate),
        reverse_pred=reverse,
    )
    taken = (predicate == 0) if reverse else (predicate != 0)
    got = k.one(dst)
    np.testing.assert_array_equal(
        ref.bits(got), ref.bits(np.where(taken, src, old)))


@SPACES
@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_a_predicated_copy_writes_into_any_view(look, space):
    want = np.full((32, *look.free), 7, F32)
    part = look.array(want)
    src = np.arange(part.size, dtype=F32).reshape(part.shape)
    predicate = (np.arange(part.size).reshape(part.shape) % 3 > 0)
    part[...] = np.where(predicate, src, part)
    k = Kit()
    dst = k.filled((32, *look.free), 7, space=space)
    k.b.tensor_copy_predicated(
        dst=look.view(dst), src=k.load(src),
        predicate=k.load(predicate.astype(np.uint8)),
    )
    ref.same(k.one(dst), want)


def test_operands_of_different_rank_match_by_their_free_elements():
    # 2.32 notes: a 2-d source with a 4-d destination and predicate.
    src = np.arange(48, dtype=F32).reshape(2, 24)
    predicate = (src % 2).astype(np.uint8).reshape(2, 2, 3, 4)
    k = Kit()
    dst = k.filled((2, 2, 3, 4), -1)
    k.b.tensor_copy_predicated(dst=dst, src=k.load(src),
                               predicate=k.load(predicate))
    ref.same(k.one(dst), np.where(src % 2 > 0, src, -1).astype(F32).reshape(
        2, 2, 3, 4))


@every
@pytest.mark.parametrize(
    ("dtype", "number", "want"),
    [("float32", 0.1, F32(0.1)), ("bfloat16", 3.4e38, np.inf),
     ("int8", 300, 127), ("uint8", -3, 0), ("int32", 2.5, 2),
     ("bool", 2.0, True), ("int32", 16777217, 16777216)],
)
def test_a_number_is_float32_and_cast_to_dst(dtype, number, want, target):
    k = Kit(target)
    dst = k.filled((1, 2), 1, dtype)
    k.b.tensor_copy_predicated(
        dst=dst, src=number, predicate=k.load(np.array([[0, 1]], np.uint8)))
    got = k.one(dst)
    assert got[0, 0] == 1 and got[0, 1] == want


def test_a_number_that_is_nan_is_reported_where_an_integer_takes_it():
    for predicate, said in (([0, 1], ["cast.nan_to_integer"]), ([0, 0], [])):
        k = Kit()
        dst = k.filled((1, 2), 1, "int32")
        k.b.tensor_copy_predicated(
            dst=dst, src=float("nan"),
            predicate=k.load(np.array([predicate], np.uint8)))
        got = k.one(dst)
        assert list(got[0]) == [1, 0 if said else 1]
        assert ids(k) == said


@SPACES
def test_what_is_not_copied_stays_unwritten(space):
    k = Kit()
    dst = k.empty((4, 8), space=space)
    predicate = np.zeros((4, 8), np.uint8)
    predicate[2, 3:6] = 1
    k.b.tensor_copy_predicated(dst=dst, src=k.filled((4, 8), 5),
                               predicate=k.load(predicate))
    out = k.empty((4, 8))
    k.b.tensor_copy(dst=out[:, 3:6], src=dst[:, 3:6])
    with pytest.raises(trnemu.Fault) as info:
        k.run(out[:, 3:6])
    assert info.value.id == "memory.read_unwritten"
    assert "partition 0" in info.value.message
    k = Kit()
    dst = k.empty((32, 8), space=space)
    predicate = np.zeros((32, 8), np.uint8)
    predicate[:, 3:6] = 1
    k.b.tensor_copy_predicated(dst=dst, src=k.filled((32, 8), 5),
                               predicate=k.load(predicate))
    out = k.empty((32, 3))
    k.b.tensor_copy(dst=out, src=dst[:, 3:6])
    assert (k.one(out) == 5).all()


def accumulate_after_a_copy(columns):
    """Onto the first columns of a PSUM tile of which (5, 7) was copied."""
    k = Kit("trn2")
    a = k.filled((32, 32), 1, "bfloat16")
    dst = k.empty((32, 32), space="psum")
    k.b.nc_matmul(dst=dst, stationary=a, moving=a)
    predicate = np.zeros((32, 32), np.uint8)
    predicate[5, 7] = 1
    k.b.tensor_copy_predicated(dst=dst, src=0.0, predicate=k.load(predicate))
    k.b.nc_matmul(dst=dst[:, :columns], stationary=a, moving=a[:, :columns],
                  accumulate=True)
    return k.one(dst[:, :columns])


def test_only_what_was_copied_into_psum_is_no_matmuls():
    assert (accumulate_after_a_copy(7) == 64).all()
    with pytest.raises(trnemu.Fault) as info:
        accumulate_after_a_copy(8)
    assert info.value.id == "nc_matmul.accumulate_on_other"
    assert "partition 5" in info.value.message


def test_a_predicated_copy_works_in_place():
    k = Kit()
    t = k.load(np.arange(8, dtype=F32).reshape(1, 8))
    k.b.tensor_copy_predicated(
        dst=t[:, 1:], src=t[:, :7],
        predicate=k.load(np.array([[1, 0, 1, 0, 1, 1, 1]], np.uint8)))
    assert list(k.one(t)[0]) == [0, 0, 2, 2, 4, 4, 5, 6]


# --- range_select -----------------------------------------------------------


def run_range(data, low, high, dst="float32", target="trn2", res=None,
              dtype="float32", **more):
    k = Kit(target)
    p = data.shape[0]
    t = k.empty(data.shape, dst)
    column = lambda x: k.load(np.full((p, 1), x, F32))  # noqa: E731
    call = {"comp_op0": "greater_equal", "comp_op1": "less", **more}
    views = [t]
    if res is not None:
        call["reduce_res"] = k.empty((p, 1), res)
        views.append(call["reduce_res"])
    k.b.range_select(dst=t, on_true_tile=k.load(data, dtype),
                     bound0=column(low), bound1=column(high), **call)
    return k.run(*views)


@newer
def test_range_select_compares_the_flat_index_with_both_bounds(target):
    data = np.arange(24, dtype=F32).reshape(1, 2, 3, 4) + 100
    got, = run_range(data, 35, 40, range_start=30, target=target)
    want = np.full(24, LOWEST, F32)
    want[5:10] = np.arange(105, 110)
    ref.same(got, want.reshape(data.shape))


@newer
@pytest.mark.parametrize(
    ("op0", "op1", "kept"),
    [("equal", "less", [3]), ("greater", "less_equal", [4, 5]),
     ("less", "less", [0, 1, 2]), ("less_equal", "greater", []),
     ("greater_equal", "greater_equal", [5, 6, 7])],
)
def test_range_select_has_ieees_comparisons(op0, op1, kept, target):
    data = np.arange(8, dtype=F32).reshape(1, 8)
    got, = run_range(data, 3, 5, comp_op0=op0, comp_op1=op1, target=target)
    assert list(np.flatnonzero(got[0] != LOWEST)) == kept
    assert (got[0, kept] == kept).all()


@newer
@pytest.mark.parametrize(
    "dst", ["float16", "bfloat16", "float8_e4m3", "float8_e5m2"])
def test_the_fill_becomes_infinity_in_a_narrower_dtype(dst, target):
    data = np.array([[1, 2, 3, 4]], F32)
    got, = run_range(data, 1, 3, dst, target=target)
    assert list(got[0].astype(F32)) == [-np.inf, 2, 3, -np.inf]


@newer
def test_a_bound_that_is_nan_selects_nothing(target):
    got, = run_range(np.ones((2, 4), F32), np.nan, 3, target=target)
    assert (got == LOWEST).all()


@newer
def test_the_maximum_is_of_the_values_before_the_cast(target):
    # The row of 2^-30 steps is one bf16 value; the maximum is fp32.
    data = (1 + np.arange(4) * 2.0**-20).astype(F32).reshape(1, 4)
    got, res = run_range(data, 0, 3, "bfloat16", target, "float32")
    assert res[0, 0] == F32(1 + 2 * 2.0**-20)
    assert list(got[0].astype(F32)) == [1, 1, 1, -np.inf]


@newer
def test_a_row_without_a_selected_element_has_the_fill_as_maximum(target):
    data = np.ones((2, 4), F32)
    _, res = run_range(data, 9, 9, "bfloat16", target, "float32")
    assert (res == LOWEST).all()  # -inf - FP32_MIN is -inf, no NaN
    _, res = run_range(data, 9, 9, "bfloat16", target, "bfloat16")
    assert (res.astype(F32) == -np.inf).all()


@newer
@pytest.mark.parametrize(
    ("last", "want"), [("reduce", [5, 9]), ("reset_reduce", [2, 3])])
def test_maxima_chain_over_instructions(last, want, target):
    k = Kit(target)
    src = k.load(np.array([[5, 1, 2], [1, 9, 3]], F32))
    t, res = k.empty((2, 3)), k.empty((2, 1))
    call = {"dst": t, "on_true_tile": src, "comp_op0": "greater_equal",
            "comp_op1": "less", "bound0": k.filled((2, 1), 0),
            "bound1": k.filled((2, 1), 2)}
    k.b.range_select(**call)  # reset_reduce, the first two: 5, 9
    k.b.range_select(reduce_cmd="reduce", range_start=1, **call)  # 5, 1
    k.b.range_select(reduce_cmd="reduce", range_start=2, **call)  # none
    k.b.range_select(reduce_cmd=last, range_start=-2, reduce_res=res,
                     **call)  # the last: 2, 3
    assert list(k.one(res)[:, 0]) == want


@newer
def test_reset_leaves_the_maximum_of_nothing(target):
    _, res = run_range(np.ones((2, 4), F32), 0, 9, target=target,
                       res="float32", reduce_cmd="reset")
    assert (res == -np.inf).all()


def test_indices_are_exact_up_to_the_limit():
    # 2^24 - 1 and 2^24 differ in float32; 2^24 + 1 would not differ from 2^24.
    data = np.ones((1, 4), F32)
    got, = run_range(data, 2.0**24 - 2, 2.0**24, range_start=2**24 - 4)
    assert list(got[0] == 1) == [False, False, True, True]


# --- select_reduce ----------------------------------------------------------


def run_select(predicate, on_true, on_false, dst="float32", target="trn2",
               dtype=None, res=None, **more):
    k = Kit(target)
    t = k.empty(on_true.shape, dst)
    views = [t]
    if res is not None:
        more["reduce_res"] = k.empty((on_true.shape[0], 1), res)
        views.append(more["reduce_res"])
    if isinstance(on_false, np.ndarray):
        on_false = k.load(on_false)
    k.b.select_reduce(dst=t, predicate=k.load(predicate),
                      on_true=k.load(on_true, dtype), on_false=on_false, **more)
    return k.run(*views)


@every
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
def test_select_reduce_takes_nonzero_as_true_and_reverses_logically(
    kind, target
):
    # numerics.md 9: ~ of 1 would be true as well, and is not meant
    predicate = np.array([[0, 1, 2, 100, 0]], kind)
    data = np.arange(5, dtype=F32).reshape(1, 5)
    got, = run_select(predicate, data, -1.0, target=target)
    assert list(got[0]) == [-1, 1, 2, 3, -1]
    got, = run_select(predicate, data, -1.0, target=target, reverse_pred=True)
    assert list(got[0]) == [0, -1, -1, -1, 4]


@every
def test_select_reduces_examples(target):
    # nki/test/test_nki_isa_select_reduce.py: rows of true, then of false
    predicate = np.repeat(np.array([[1], [0]], np.uint8), 6, axis=1)
    ones = np.ones((2, 6), F32)
    got, = run_select(predicate, ones, float(LOWEST), target=target)
    assert (got[0] == 1).all() and (got[1] == LOWEST).all()
    got, = run_select(predicate, ones, float(LOWEST), target=target,
                      reverse_pred=True)
    assert (got[0] == LOWEST).all() and (got[1] == 1).all()


@every
def test_on_false_is_one_number_for_each_partition(target):
    predicate = np.array([[1, 0], [0, 1]], np.uint8)
    got, = run_select(predicate, np.zeros((2, 2), F32),
                      np.array([[5], [6]], F32), target=target)
    assert got.tolist() == [[0, 5], [6, 0]]


@every
def test_select_reduce_casts_once_and_reduces_before(target):
    predicate = np.array([[1, 1, 0]], np.uint8)
    data = np.array([[1.5, 2.5, 9]], F32)
    got, res = run_select(predicate, data, 2.25, "int8", target, None,
                          "float32", reduce_cmd="reset_reduce")
    assert list(got[0]) == [2, 2, 2] and res[0, 0] == 2.5


@every
def test_reduce_goes_on_from_what_the_accumulator_holds(target):
    k = Kit(target)
    one = k.load(np.ones((2, 4), np.uint8))
    t, res = k.empty((2, 4)), k.empty((2, 1))
    for value, command in ((9.0, "reset_reduce"), (5.0, "reset_reduce"),
                           (3.0, "reduce")):
        k.b.select_reduce(
            dst=t, predicate=one, on_true=k.filled((2, 4), value),
            on_false=0.0, reduce_cmd=command,
            reduce_res=res if command == "reduce" else None)
    assert list(k.one(res)[:, 0]) == [5, 5]


@every
@pytest.mark.parametrize("before", [[], ["reset_reduce", "idle"]])
@pytest.mark.parametrize("command", ["idle", "reduce"])
def test_an_accumulator_that_nothing_reset_or_idle_touched_is_not_read(
    command, before, target
):
    k = Kit(target)
    one = k.load(np.ones((2, 4), np.uint8))
    t, res = k.filled((2, 4), 1), k.empty((2, 1))
    for c in before:
        k.b.select_reduce(dst=t, predicate=one, on_true=t, on_false=0.0,
                          reduce_cmd=c)
    k.b.select_reduce(dst=t, predicate=one, on_true=t, on_false=0.0,
                      reduce_res=res, reduce_cmd=command)
    with pytest.raises(trnemu.Fault) as info:
        k.one(res)
    assert info.value.category == "uninitialized"
    assert info.value.id == "vector.accumulator_unset"


@SPACES
@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_select_reduce_writes_into_any_view(look, space):
    want = np.full((32, *look.free), 7, F32)
    part = look.array(want)
    data = np.arange(part.size, dtype=F32).reshape(part.shape)
    predicate = np.arange(part.size).reshape(part.shape) % 3 > 0
    part[...] = np.where(predicate, data, F32(-1))
    k = Kit()
    dst = k.filled((32, *look.free), 7, space=space)
    k.b.select_reduce(
        dst=look.view(dst), predicate=k.load(predicate.astype(np.uint8)),
        on_true=k.load(data), on_false=-1.0)
    ref.same(k.one(dst), want)
