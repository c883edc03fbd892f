"""max8, nc_find_index8, nc_match_replace8: what the documents state."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import reference as ref
from kit import TARGETS, Kit

F32 = np.float32
every = pytest.mark.parametrize("target", TARGETS)


def ids(k: Kit) -> list[str]:
    return [f.id for f in k.findings]


def maximum(x, dtype="float32", dst="float32", target="trn2"):
    k = Kit(target)
    t = k.empty((x.shape[0], 8), dst)
    k.b.max8(dst=t, src=k.load(x, dtype))
    return k.one(t), ids(k)


@every
@pytest.mark.parametrize("n", [8, 9, 71, 72, 73, 512, 16384])
def test_the_eight_largest_descend_with_duplicates(n, target):
    rng = np.random.default_rng(n)
    x = rng.integers(-n // 3, n // 3, (5, n)).astype(F32)
    got, said = maximum(x, target=target)
    ref.same(got, -np.sort(-x, axis=1)[:, :8])
    assert said == []


@every
def test_max8_compares_as_fp32_and_casts_to_dst(target):
    x = np.array([[2**24 + 1, 2**24, 5, -7, 300, -1, 0, 1, 2]], np.int32)
    got, _ = maximum(x, "int32", target=target)
    assert list(got[0]) == [2**24, 2**24, 300, 5, 2, 1, 0, -1]
    got, _ = maximum(x, "int32", "int8", target)
    assert list(got[0]) == [127, 127, 127, 5, 2, 1, 0, -1]


@every
def test_infinities_are_numbers_and_nan_comes_last_and_is_reported(target):
    x = np.array([[np.nan, -np.inf, 1, np.inf, 2, 3, -1, np.nan, 4]], F32)
    got, said = maximum(x, target=target)
    assert list(got[0, :7]) == [np.inf, 4, 3, 2, 1, -1, -np.inf]
    assert ref.bits(got)[0, 7] == 0x7FC00000 and said == ["max8.nan"]


def test_max8_reads_three_dimensions_in_order():
    x = np.arange(24, dtype=F32).reshape(1, 4, 6)
    k = Kit()
    t = k.empty((1, 8))
    k.b.max8(dst=t, src=k.load(x)[:, 0:4:2, ::-1])
    assert list(k.one(t)[0]) == [17, 16, 15, 14, 13, 12, 5, 4]


def find(x, vals, dtype="float32", dst="uint32", target="trn2", start=(0, 0),
         vals_dtype="float32"):
    k = Kit(target)
    t = k.empty((x.shape[0], 8), dst)
    k.b.nc_find_index8(
        dst=t, data=k.load(x, dtype, start=start[0]),
        vals=k.load(vals, vals_dtype, start=start[1]))
    return k.one(t), ids(k)


DATA = np.array([[1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8]], F32)
VALS = np.array([[3, 8, 8, 8, 8, 8, 8, 8]], F32)


@every
def test_nc_find_index8_pairs_duplicates_in_ascending_order(target):
    # the opposite of the example of nc_match_replace8
    got, said = find(DATA, VALS, target=target)
    assert list(got[0]) == [2, 4, 5, 6, 7, 8, 9, 10] and said == []


@every
@pytest.mark.parametrize(("dst", "ones"), [("uint32", 0xFFFFFFFF),
                                           ("uint16", 0xFFFF)])
def test_what_is_not_there_gives_all_ones(dst, ones, target):
    vals = np.array([[9, 1, 9, 2, -3, 4, 0, 3]], F32)
    got, said = find(DATA, vals, dst=dst, target=target)
    assert list(got[0]) == [ones, 0, ones, 1, ones, 3, ones, 2] and said == []


@every
def test_more_duplicates_than_occurrences_are_reported(target):
    vals = np.array([[3, 3, 1, 2, 4, 3, 8, 8]], F32)
    got, said = find(DATA, vals, target=target)
    none = 0xFFFFFFFF
    assert list(got[0]) == [2, none, 0, 1, 3, none, 4, 5]
    assert said == ["nc_find_index8.too_few"]


@every
def test_zeros_are_equal_and_nan_is_nothing(target):
    x = np.array([[np.nan, -0.0, 0.0, 1, 2, 3, 4, 5]], F32)
    vals = np.array([[0.0, -0.0, np.nan, 1, 2, 3, 4, 5]], F32)
    got, said = find(x, vals, target=target)
    assert list(got[0]) == [1, 2, 0xFFFFFFFF, 3, 4, 5, 6, 7]
    assert said == ["match_values.nan"]


@every
@pytest.mark.parametrize("at", [0, 63, 64, 65, 1000, 16383])
def test_an_index_counts_every_element(at, target):
    x = np.zeros((2, 16384), F32)
    x[1, at] = 7
    vals = np.array([[0, 0, 0, 0, 0, 0, 0, 0], [7, 0, 0, 0, 0, 0, 0, 0]], F32)
    got, _ = find(x, vals, target=target)
    assert got[1, 0] == at and list(got[0]) == list(range(8))


@every
def test_values_are_compared_as_fp32_whatever_the_dtypes(target):
    x = np.arange(250, 266).astype(ml_dtypes.bfloat16).reshape(1, 16)
    vals = np.arange(250, 258, dtype=np.int32).reshape(1, 8)
    got, _ = find(x, vals, "bfloat16", target=target, vals_dtype="int32")
    assert list(got[0]) == [0, 1, 2, 3, 4, 5, 6, 0xFFFFFFFF]


@every
def test_vals_belong_to_the_partitions_of_data_wherever_both_lie(target):
    x = np.arange(16, dtype=F32).reshape(2, 8)
    got, _ = find(x, x[:, ::-1].copy(), target=target, start=(32, 64))
    assert (got == np.arange(7, -1, -1)).all()


def replace(x, vals, imm=-1.0, dtype="float32", dst="float32", target="trn2",
            index=True):
    k = Kit(target)
    t, i = k.empty(x.shape, dst), k.empty((x.shape[0], 8), "uint32")
    more = {"dst_idx": i} if index else {}
    k.b.nc_match_replace8(dst=t, data=k.load(x, dtype), vals=k.load(vals),
                          imm=imm, **more)
    return *k.run(*([t, i] if index else [t])), ids(k)


@every
def test_nc_match_replace8_pairs_duplicates_in_descending_order(target):
    # the example of the documentation
    got, index, said = replace(DATA, VALS, target=target)
    assert list(index[0]) == [2, 10, 9, 8, 7, 6, 5, 4]
    assert list(got[0]) == [1, 2, -1, 4, *[-1] * 7] and said == []


@every
def test_the_first_occurrence_alone_is_replaced(target):
    x = np.array([[5, 6, 5, 7, 8, 9, 10, 11, 12, 6]], F32)
    vals = np.array([[5, 6, 7, 8, 9, 10, 11, 12]], F32)
    got, index, _ = replace(x, vals, np.inf, target=target)
    assert list(index[0]) == [0, 1, 3, 4, 5, 6, 7, 8]
    assert list(got[0]) == [np.inf, np.inf, 5, *[np.inf] * 6, 6]


@every
def test_max8_then_replace_leaves_eight_infinities(target):
    # nki/test/test_nki_isa_nc_match_replace8.py
    x = np.random.default_rng(0).random((4, 16)).astype(F32)
    k = Kit(target)
    src, top, out = k.load(x), k.empty((4, 8)), k.empty((4, 16))
    k.b.max8(dst=top, src=src)
    k.b.nc_match_replace8(dst=out, data=src, vals=top, imm=float("-inf"))
    got = k.one(out)
    limit = -np.sort(-x, axis=1)[:, 7:8]
    ref.same(got, np.where(x >= limit, F32(-np.inf), x))


@every
def test_a_replacement_does_not_match_again(target):
    x = np.array([[4, 1, 2, 3, 5, 6, 7, 8]], F32)
    vals = np.array([[9, 4, 1, 2, 3, 5, 6, 7]], F32)
    got, index, said = replace(x, vals, 9.0, target=target)
    assert list(got[0]) == [9, 9, 9, 9, 9, 9, 9, 8]
    assert list(index[0]) == [0xFFFFFFFF, 0, 1, 2, 3, 4, 5, 6]
    assert said == ["nc_match_replace8.absent"]


@every
def test_absent_values_change_nothing_without_dst_idx(target):
    x = np.arange(8, dtype=F32).reshape(1, 8)
    got, said = replace(x, np.full((1, 8), 99, F32), target=target,
                        index=False)
    ref.same(got, x)
    assert said == []


@every
def test_replacing_in_place_and_through_a_cast(target):
    x = np.arange(16, dtype=F32).reshape(1, 2, 8)
    k = Kit(target)
    t = k.load(x)
    k.b.nc_match_replace8(dst=t, data=t, vals=k.load(x[:, 1].copy()), imm=0.5)
    assert list(k.one(t).ravel()) == [*range(8), *[0.5] * 8]
    got, _, _ = replace(x, x[:, 1].copy(), 300.0, dst="int8", target=target)
    assert list(got.ravel()) == [*range(8), *[127] * 8]
