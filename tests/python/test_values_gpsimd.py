"""tensor_partition_reduce, sequence_bounds, nonzero_with_count, topk: values
that documents state, and what of the data is refused or reported."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit
from test_values_gather import faulty

F32 = np.float32
BF16 = ml_dtypes.bfloat16


def found(k: Kit) -> list[str]:
    return [f.id for f in k.findings]


# --- tensor_partition_reduce ---


def reduced(op: str, a: Any, dtype: str = "float32", target: str = "trn2",
            **options: Any) -> tuple[Any, Kit]:
    k = Kit(target)
    t = k.empty((1, *a.shape[1:]), dtype)
    k.b.tensor_partition_reduce(dst=t, op=op, data=k.load(a))
    return k.one(t, **options), k


@pytest.mark.parametrize("target", TARGETS)
def test_the_sum_goes_from_the_first_partition_to_the_last(target):
    # nki/test/test_nki_isa_partition_reduce.py: (128, 32, 4) to (1, 32, 4)
    a = (np.random.default_rng(1).random((128, 32, 4)) * 100).astype(F32)
    total = a[0].copy()
    for row in a[1:]:
        total += row
    out, k = reduced("add", a, target=target)
    np.testing.assert_array_equal(out[0], total)
    assert k.findings == []


def test_ones_behind_2_to_the_24_are_lost_one_by_one():
    a = np.ones((5, 1), F32)
    a[0] = 2.0**24
    assert reduced("add", a)[0] == 2.0**24
    assert reduced("add", a[::-1])[0] == 2.0**24 + 4


def test_the_average_divides_the_sum_by_the_partitions():
    a = np.array([[1, -2, np.inf, np.nan], [2, 0, 1, 1], [4, 1, 1, 1]], F32)
    want = np.array([[F32(7) / F32(3), F32(-1) / F32(3), np.inf, np.nan]], F32)
    out = reduced("average", a)[0]
    np.testing.assert_array_equal(out.view(np.uint32), want.view(np.uint32))


def test_an_average_of_integers_is_rounded_once():
    # (1 + 2) / 2 = 1.5, (2 + 3) / 2 = 2.5: nearest even
    a = np.array([[1, 2, -1], [2, 3, -2]], np.int8)
    assert reduced("average", a, "int8")[0].tolist() == [[2, 2, -2]]


def test_the_maximum_passes_over_nan():
    a = np.array([[1, np.nan, -3], [np.nan, np.nan, -2]], F32)
    np.testing.assert_array_equal(reduced("maximum", a)[0],
                                  np.array([[1, np.nan, -2]], F32))


def test_bitwise_reductions_see_raw_bits():
    a = np.array([[0x7F000001, 3], [0x00000002, 1], [0x10, 9]], np.int32)
    assert reduced("bitwise_or", a, "int32")[0].tolist() == [[0x7F000013, 11]]
    assert reduced("bitwise_and", a, "int32")[0].tolist() == [[0, 1]]
    b = np.array([[-1], [-128]], np.int8)
    assert reduced("bitwise_and", b, "int8")[0].tolist() == [[-128]]


def test_dst_may_be_the_first_partition_of_data():
    k = Kit()
    x = k.load(np.arange(12, dtype=F32).reshape(4, 3))
    k.b.tensor_partition_reduce(dst=x[0:1], op="add", data=x)
    assert k.one(x).tolist() == [[18, 22, 26], [3, 4, 5], [6, 7, 8],
                                 [9, 10, 11]]


@pytest.mark.parametrize("op", ["add", "average", "maximum"])
def test_large_integers_are_reported(op):
    small = np.array([[2**23], [1 - 2**23]], np.int32)
    assert reduced(op, small, "int32")[1].findings == []
    large = np.array([[2**23, 5], [7, 2**24 + 1]], np.int32)
    out, k = reduced(op, large, "float32")
    assert found(k) == ["tensor_partition_reduce.int32"]
    assert "element 1" in k.findings[0].message
    with pytest.raises(trnemu.Fault):
        reduced(op, large, "float32", strict=True)


# --- sequence_bounds ---

# nki/test/test_nki_isa_sequence_bounds.py:24
IDS = [0, 1, 1, 2, 2, 2, 0, 3, 3]
STARTS = [9, 1, 1, 3, 3, 3, 9, 7, 7]
ENDS = [-1, 3, 3, 6, 6, 6, -1, 9, 9]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("out", ["float32", "int32"])
def test_the_documents_example_of_bounds(target, dtype, out):
    k = Kit(target)
    t = k.empty((1, 2, 9), out)
    k.b.sequence_bounds(dst=t, segment_ids=k.load(np.array([IDS], dtype)))
    result = k.one(t)
    assert result.dtype == out and result.tolist() == [[STARTS, ENDS]]


def test_ids_need_no_order_and_minus_zero_is_padding():
    k = Kit()
    t = k.empty((1, 2, 6), "int32")
    ids = np.array([[5, 5, -0.0, 5, 1, 1]], F32)
    k.b.sequence_bounds(dst=t, segment_ids=k.load(ids))
    assert k.one(t).tolist() == [[[0, 0, 6, 3, 4, 4], [2, 2, -1, 4, 6, 6]]]


def test_int32_ids_are_compared_exactly():
    k = Kit()
    t = k.empty((1, 2, 2), "int32")
    ids = np.array([[16777216, 16777217]], np.int32)
    k.b.sequence_bounds(dst=t, segment_ids=k.load(ids))
    assert k.one(t).tolist() == [[[0, 1], [1, 2]]]


@pytest.mark.parametrize("bad", [-1, 1.5, np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_ids_are_whole_and_not_negative(bad, dtype):
    if dtype == "int32" and bad != -1:
        return
    k = Kit()
    t = k.empty((1, 2, 3), "int32")
    ids = np.array([[1, bad, 2]], dtype)
    k.b.sequence_bounds(dst=t, segment_ids=k.load(ids))
    fault = faulty(k, t)
    assert (fault.id, fault.category, fault.operand) == (
        "sequence_bounds.segment_ids", "unspecified", "segment_ids")
    assert "element 1" in fault.message and str(bad) in fault.message


def test_negative_ids_can_be_allowed():
    k = Kit()
    t = k.empty((1, 2, 3), "int32")
    k.b.sequence_bounds(
        dst=t, segment_ids=k.load(np.array([[-1, -1, 2]], np.int32)))
    out = k.one(t, allow=["sequence_bounds.segment_ids"])
    assert out.tolist() == [[[0, 0, 2], [2, 2, 3]]]
    assert found(k) == ["sequence_bounds.segment_ids"]


# --- nonzero_with_count ---


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_the_documents_example_of_nonzero(target, dtype):
    # nki/api/nki/isa/__init__.py:3250
    k = Kit(target)
    src = np.array([[0, 1, 1, 0, 0, 1, 0, 0]], dtype)
    t = k.empty((1, 9), "int32")
    k.b.nonzero_with_count(dst=t, src=k.load(src), index_offset=16,
                           padding_val=-1)
    assert k.one(t).tolist() == [[17, 18, 21, -1, -1, -1, -1, -1, 3]]
    assert k.findings == []


@pytest.mark.parametrize("p", [1, 16, 17, 33, 128])
def test_only_the_first_of_16_partitions_is_written(p):
    rng = np.random.default_rng(p)
    src = rng.integers(0, 2, (p, 40)).astype(np.int32) * -(2**31)
    k = Kit()
    t = k.filled((p, 41), 77, "int32")
    k.b.nonzero_with_count(dst=t, src=k.load(src), index_offset=5,
                           padding_val=9)
    want = np.full((p, 41), 77, np.int32)
    for row in range(0, p, 16):
        at = np.flatnonzero(src[row])
        want[row, :40] = 9
        want[row, :len(at)] = at + 5
        want[row, 40] = len(at)
    np.testing.assert_array_equal(k.one(t), want)


def test_other_partitions_are_neither_read_nor_written():
    k = Kit()
    x, t = k.empty((32, 4), "int32"), k.empty((32, 5), "int32")
    row = np.array([[0, 3, 0, -1]], np.int32)
    for p in (0, 16):
        k.b.dma_copy(dst=x[p:p + 1], src=k.input(row))
    k.b.nonzero_with_count(dst=t, src=x)
    out = k.run(t[0:1], t[16:17])
    assert [o.tolist() for o in out] == [[[1, 3, -1, -1, 2]]] * 2
    k = Kit()
    x, t = k.filled((32, 4), 0, "int32"), k.empty((32, 5), "int32")
    k.b.nonzero_with_count(dst=t, src=x)
    assert faulty(k, t).id == "memory.read_unwritten"  # partition 1 of dst


def test_an_unwritten_row_is_reported():
    k = Kit()
    x, t = k.empty((32, 4), "int32"), k.empty((32, 5), "int32")
    k.b.memset(dst=x[0:16], value=0, engine="vector")
    k.b.nonzero_with_count(dst=t, src=x)
    fault = faulty(k, t[0:1])
    assert (fault.id, fault.operand) == ("memory.read_unwritten", "src")
    assert "partition 16" in fault.message


def test_offsets_wrap_and_subnormals_are_not_zero():
    k = Kit()
    t = k.empty((1, 4), "int32")
    k.b.nonzero_with_count(dst=t, src=k.load(np.array([[1, 1e-45, 0]], F32)),
                           index_offset=2**31 - 1, padding_val=-(2**31))
    assert k.one(t).tolist() == [[2**31 - 1, -(2**31), -(2**31), 2]]


@pytest.mark.parametrize(("value", "count"), [(np.nan, 2), (-0.0, 1)])
def test_nan_and_minus_zero_are_reported(value, count):
    k = Kit()
    t = k.empty((1, 4), "int32")
    src = np.array([[1, 0, value]], F32)
    k.b.nonzero_with_count(dst=t, src=k.load(src))
    assert k.one(t)[0, 3] == count
    assert found(k) == ["nonzero_with_count.special_value"]
    assert "element 2" in k.findings[0].message
    assert str(value) in k.findings[0].message.lower()


# --- topk ---


def topk(a: Any, n: int, k_: int, target: str = "trn2",
         **options: Any) -> tuple[Any, Any, Kit]:
    k = Kit(target)
    values = k.empty((len(a), k_), "bfloat16")
    indices = k.empty((len(a), k_), "uint32")
    k.b.topk(val_dst=values, idx_dst=indices, src=k.load(a, "bfloat16"), n=n)
    out = k.run(values, indices, **options)
    return out[0], out[1], k


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "k"), [(42, 8), (48, 1), (8, 8), (33, 33)])
def test_the_largest_of_the_snake_ascend(target, n, k):
    # nki/api/nki/isa/__init__.py:3355: n = 42, K = 8 of (16, 3)
    rng = np.random.default_rng(n)
    snake = rng.permutation(128)[:96].astype(BF16) - BF16(64)
    a = snake.reshape(2, 3, 16).transpose(0, 2, 1).reshape(32, 3).copy()
    values, indices, kit = topk(a, n, k, target)
    for g in range(2):
        s = snake[48 * g:48 * g + n].astype(F32)
        want = np.argsort(s)[-k:]
        for p in range(16 * g, 16 * g + 16):  # all of the group the same
            np.testing.assert_array_equal(indices[p], want)
            np.testing.assert_array_equal(values[p].astype(F32), s[want])
    assert found(kit) == ["topk.layout"]


def snake_of(values: list[float]) -> Any:
    a = np.zeros(16 * -(-len(values) // 16), BF16)
    a[:len(values)] = np.array(values, F32).astype(BF16)
    return np.ascontiguousarray(a.reshape(-1, 16).T)


def test_of_equal_values_the_earlier_is_the_larger():
    a = snake_of([3, 1, 3, 2, 3, 0, 0, 0])
    values, indices, k = topk(a, 8, 2)
    assert values[0].tolist() == [3, 3] and indices[15].tolist() == [2, 0]
    assert found(k) == ["topk.layout", "topk.order"]
    assert "2 and 4" in k.findings[1].message
    # the zeros, of which none is among the three, do not matter
    assert found(topk(snake_of([3, 1, 2, 0, 0, 0, 0, 0]), 8, 3)[2]) == [
        "topk.layout"]


def test_zeros_are_equal_whatever_their_sign():
    a = snake_of([-1, 0.0, -0.0, -2, -0.0, -3, -4, -5])
    values, indices, _ = topk(a, 8, 3)
    assert indices[0].tolist() == [4, 2, 1]
    assert np.signbit(values[0].astype(F32)).tolist() == [True, True, False]


def test_nan_is_below_everything_and_reported():
    a = snake_of([np.nan, -np.inf, 1, 2, np.inf, 3, 4, 5])
    values, indices, k = topk(a, 8, 8)
    assert indices[0].tolist() == [0, 1, 2, 3, 5, 6, 7, 4]
    assert np.isnan(values[0].astype(F32)).tolist() == [True] + 7 * [False]
    assert found(k) == ["topk.layout", "topk.order"]
    assert "input 0 of the snake is NaN" in k.findings[1].message


def test_what_is_beyond_n_is_not_read():
    k = Kit()
    x = k.empty((16, 3), "bfloat16")
    k.b.memset(dst=x[:, 0:1], value=1.0, engine="vector")
    k.b.memset(dst=x[0:1, 1:2], value=9.0, engine="vector")
    values = k.empty((16, 1), "bfloat16")
    indices = k.empty((16, 1), "uint32")
    k.b.topk(val_dst=values, idx_dst=indices, src=x, n=17)
    assert k.one(indices).tolist() == [[16]] * 16
    k = Kit()
    x = k.empty((16, 3), "bfloat16")
    k.b.memset(dst=x[:, 0:1], value=1.0, engine="vector")
    values = k.empty((16, 1), "bfloat16")
    indices = k.empty((16, 1), "uint32")
    k.b.topk(val_dst=values, idx_dst=indices, src=x, n=17)
    assert faulty(k, values).id == "memory.read_unwritten"


def test_topk_is_refused_where_unspecified_results_are():
    a = snake_of([float(i) for i in range(8)])
    with pytest.raises(trnemu.Fault) as info:
        topk(a, 8, 2, strict=True)
    assert info.value.id == "topk.layout"
    topk(a, 8, 2, strict=True, allow=["topk.layout"])


def test_the_layout_is_reported_once_a_run():
    k = Kit()
    x = k.load(snake_of([float(i) for i in range(8)]), "bfloat16")
    values = k.empty((16, 2), "bfloat16")
    indices = k.empty((16, 2), "uint32")
    for _ in range(3):
        k.b.topk(val_dst=values, idx_dst=indices, src=x, n=8)
    k.run(values)
    assert found(k) == ["topk.layout"] and k.findings[0].count == 1


def test_the_largest_of_a_full_snake():
    rng = np.random.default_rng(9)
    bits = rng.permutation(65536)[:65535].astype(np.uint16)
    finite = (bits & 0x7F80) != 0x7F80
    bits = np.where(finite | (bits & 0x7F == 0), bits, 1)
    flat = np.zeros(65536, np.uint16)
    flat[:65535] = bits
    a = np.ascontiguousarray(flat.reshape(-1, 16).T).view(BF16)
    values, indices, _ = topk(a, 65535, 4096)
    s = bits.view(BF16).astype(F32)
    # ascending, and the later of equals first
    order = np.lexsort((-np.arange(65535), s))[-4096:]
    np.testing.assert_array_equal(indices[7], order)
    np.testing.assert_array_equal(values[3].view(np.uint16), bits[order])
