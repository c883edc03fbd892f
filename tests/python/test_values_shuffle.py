"""nc_stream_shuffle: what the documents state, worked by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu
import reference as ref
from kit import TARGETS, Kit

F32 = np.float32
every = pytest.mark.parametrize("target", TARGETS)
SPACES = pytest.mark.parametrize("space", ["sbuf", "psum"])
NEXT = [(i - 1) % 32 for i in range(32)]


@every
@pytest.mark.parametrize("dtype", ref.ANY)
def test_a_shuffle_moves_bits_within_each_quadrant(dtype, target):
    # the example with 128 partitions of the documentation's test
    data = ref.samples(dtype, (128, 5), seed=3)
    k = Kit(target)
    dst = k.empty((128, 5), dtype)
    k.b.nc_stream_shuffle(dst=dst, src=k.load(data, dtype), shuffle_mask=NEXT)
    want = data.reshape(4, 32, 5)[:, NEXT].reshape(128, 5)
    np.testing.assert_array_equal(ref.bits(k.one(dst)), ref.bits(want))


@every
@SPACES
def test_a_shuffle_in_place_reads_before_it_writes(space, target):
    data = np.arange(96, dtype=F32).reshape(32, 3)
    k = Kit(target)
    t = k.load(data, space=space)
    k.b.nc_stream_shuffle(dst=t, src=t, shuffle_mask=NEXT)
    ref.same(k.one(t), data[NEXT])


@every
def test_row_31_partitions_with_255_keep_dst(target):
    # behaviours.md 31: a simulator made them 0
    k = Kit(target)
    dst = k.filled((32, 4), 9)
    src = k.load(np.arange(128, dtype=F32).reshape(32, 4))
    k.b.nc_stream_shuffle(dst=dst, src=src,
                          shuffle_mask=[255, 0, *([255] * 29), 5])
    want = np.full((32, 4), 9, F32)
    want[1], want[31] = np.arange(4), np.arange(20, 24)
    ref.same(k.one(dst), want)


@every
@pytest.mark.parametrize("start", [0, 32, 64, 96])
def test_a_partition_is_broadcast_to_another_quadrant(start, target):
    k = Kit(target)
    row = np.arange(6, dtype=F32).reshape(1, 6)
    dst = k.empty((20, 6), start=start)
    k.b.nc_stream_shuffle(dst=dst, src=k.load(row, start=96 - start),
                          shuffle_mask=[0] * 32)
    ref.same(k.one(dst), np.repeat(row, 20, axis=0))


@every
def test_partitions_that_no_lane_selects_need_not_be_written(target):
    # Public kernels lay a row into each quadrant's first partition, then
    # broadcast the whole tile onto itself.
    k = Kit(target)
    t = k.empty((128, 4), "int32")
    for q in range(4):
        k.b.memset(dst=t[32 * q : 32 * q + 1], value=q + 1)
    k.b.nc_stream_shuffle(dst=t, src=t, shuffle_mask=[0] * 32)
    want = np.repeat(np.arange(1, 5), 32)
    assert (k.one(t) == want[:, None]).all()


@every
def test_a_selected_partition_that_nobody_wrote_is_reported(target):
    k = Kit(target)
    t, dst = k.empty((64, 4)), k.empty((64, 4))
    k.b.memset(dst=t[:32], value=1)
    k.b.nc_stream_shuffle(dst=dst, src=t, shuffle_mask=[7] * 32)
    with pytest.raises(trnemu.Fault) as info:
        k.run(dst)
    assert info.value.id == "memory.read_unwritten"
    assert "partition 39" in info.value.message


@every
def test_a_kept_partition_stays_unwritten(target):
    k = Kit(target)
    dst = k.empty((32, 4))
    k.b.nc_stream_shuffle(dst=dst, src=k.filled((32, 4), 1),
                          shuffle_mask=[0] * 31 + [255])
    with pytest.raises(trnemu.Fault) as info:
        k.run(dst)
    assert info.value.id == "memory.read_unwritten"
    assert "partition 31" in info.value.message
    k = Kit(target)
    dst = k.empty((32, 4))
    k.b.nc_stream_shuffle(dst=dst, src=k.filled((32, 4), 1),
                          shuffle_mask=[0] * 31 + [255])
    assert (k.one(dst[:31]) == 1).all()


def test_views_of_different_layout_shuffle_by_their_elements():
    data = (np.arange(32 * 24) % 251).astype(ml_dtypes.bfloat16).reshape(32, 24)
    k = Kit()
    dst = k.filled((32, 3, 4), 0, "bfloat16")
    k.b.nc_stream_shuffle(
        dst=dst[:, ::2, ::2], src=k.load(data)[:, 20:4:-4],
        shuffle_mask=NEXT)
    want = np.zeros((32, 3, 4), data.dtype)
    want[:, ::2, ::2] = data[NEXT, 20:4:-4].reshape(32, 2, 2)
    ref.same(k.one(dst), want)
