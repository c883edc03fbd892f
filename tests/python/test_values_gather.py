"""local_gather, nc_n_gather: values that documents state, and what of the data
is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit
from rules_kit import ANY, SIZE

F32 = np.float32


def faulty(k: Kit, *views: Any, **options: Any) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        k.run(*views, **options)
    return info.value


# --- local_gather ---


def local_gather(src: Any, index: Any, run: int, n: int) -> Any:
    """nki/test/test_nki_isa_local_gather.py, NUMPY_SEMANTICS, with indices of
    elements."""
    out = np.empty((len(src), n * run), src.dtype)
    for g in range(0, len(src), 16):
        idx = index[g:g + 16].flatten(order="F")[:n].astype(int)
        for e in range(run):
            out[g:g + 16, e::run] = src[g:g + 16, idx + e]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_the_documents_example_of_a_local_gather(target):
    rng = np.random.default_rng(2)
    src = (rng.random((128, 512, 4)) * 100).astype(F32)
    groups = np.tile(rng.integers(0, 512, (16, 4)).astype(np.uint16), (8, 1))
    k = Kit(target)
    t = k.empty((128, 4, 16, 4))
    k.b.local_gather(dst=t, src_buffer=k.load(src), index=k.load(groups * 4),
                     num_elem_per_idx=4, num_valid_indices=64)
    want = np.empty((128, 64, 4), F32)
    for g in range(0, 128, 16):
        flat = groups[g:g + 16].flatten(order="F")
        want[g:g + 16] = np.take(src[g:g + 16], flat, axis=1)
    np.testing.assert_array_equal(k.one(t), want.reshape(128, 4, 16, 4))
    assert k.findings == []


@pytest.mark.parametrize("dtype", ANY)
@pytest.mark.parametrize(("run", "n"), [(1, 32), (1, 17), (2, 5), (32, 3)])
def test_a_local_gather_moves_bits(dtype, run, n):
    rng = np.random.default_rng(3)
    raw = f"uint{8 * SIZE[dtype]}"
    src = rng.integers(0, 2**(8 * SIZE[dtype]), (48, 40), dtype=raw)
    index = rng.integers(0, 41 - run, (48, 2), dtype=np.uint16)
    k = Kit()
    x, i, t = k.load(src), k.load(index), k.empty((48, n * run), raw)
    k.b.local_gather(dst=t.view(dtype), src_buffer=x.view(dtype), index=i,
                     num_elem_per_idx=run, num_valid_indices=n)
    np.testing.assert_array_equal(k.one(t), local_gather(src, index, run, n))


def test_a_local_gather_of_views_counts_their_elements():
    rng = np.random.default_rng(4)
    src = rng.standard_normal((32, 6, 8)).astype(F32)
    index = rng.integers(0, 12, (32, 4), dtype=np.uint16)
    k = Kit()
    x, i, t = k.load(src), k.load(index), k.filled((32, 64), 7.0)
    k.b.local_gather(dst=t[:, ::2], src_buffer=x[:, ::2, ::-2],
                     index=i[:, 1::2])
    want = np.full((32, 64), 7, F32)
    want[:, ::2] = local_gather(src[:, ::2, ::-2].reshape(32, 12),
                                index[:, 1::2], 1, 32)
    np.testing.assert_array_equal(k.one(t), want)


@pytest.mark.parametrize(("run", "last"), [(1, 39), (8, 32)])
def test_an_index_outside_src_buffer_is_reported(run, last):
    for value in (last, last + 1, 65535):
        index = np.zeros((32, 2), np.uint16)
        index[19, 1] = value
        k = Kit()
        t = k.empty((32, 32 * run))
        k.b.local_gather(dst=t, src_buffer=k.filled((32, 40), 1.0),
                         index=k.load(index), num_elem_per_idx=run)
        if value == last:
            assert (k.one(t) == 1).all()
            continue
        fault = faulty(k, t)
        assert (fault.id, fault.category, fault.operand) == (
            "local_gather.index", "out_of_bounds", "index")
        for part in (f"index is {value}", "partition 19", "element 1",
                     f"at most {last}"):
            assert part in fault.message, fault.message


def test_more_elements_per_index_than_there_are_is_reported():
    k = Kit()
    t = k.empty((16, 8 * 16))
    k.b.local_gather(dst=t, src_buffer=k.filled((16, 7), 1.0),
                     index=k.filled((16, 1), 0, "uint16"), num_elem_per_idx=8)
    assert faulty(k, t).id == "local_gather.index"


def test_indices_that_are_not_valid_are_not_looked_at():
    index = np.full((16, 2), 60000, np.uint16)
    index[:, 0], index[0, 1] = 3, 1
    k = Kit()
    x = k.load(np.tile(np.arange(5, dtype=F32), (16, 1)))
    i, t = k.empty((16, 2), "uint16"), k.empty((16, 17))
    # element [k, 1] of the partitions 1 to 15 stays unwritten
    k.b.dma_copy(dst=i[:, 0:1], src=k.input(index[:, 0:1]))
    k.b.dma_copy(dst=i[0:1, 1:2], src=k.input(index[0:1, 1:2]))
    k.b.local_gather(dst=t, src_buffer=x, index=i, num_valid_indices=17)
    assert k.one(t).tolist() == [[3] * 16 + [1]] * 16


def test_an_unwritten_valid_index_is_reported():
    k = Kit()
    i, t = k.empty((16, 2), "uint16"), k.empty((16, 18))
    k.b.dma_copy(dst=i[:, 0:1], src=k.input(np.zeros((16, 1), np.uint16)))
    k.b.memset(dst=i[0:1, 1:2], value=0, engine="vector")
    k.b.local_gather(dst=t, src_buffer=k.filled((16, 4), 1.0), index=i,
                     num_valid_indices=18)
    fault = faulty(k, t)
    assert (fault.id, fault.operand) == ("memory.read_unwritten", "index")
    assert "partition 1 " in fault.message


def gather_with_hole(picks: int, local: bool) -> tuple[Kit, Any]:
    """Gathers `picks` from a row of which element 2 is not written."""
    k = Kit()
    x, t = k.empty((16, 4)), k.empty((16, 16))
    k.b.memset(dst=x[:, 0:2], value=1.0, engine="vector")
    k.b.memset(dst=x[:, 3:4], value=2.0, engine="vector")
    if local:
        i = k.filled((16, 1), picks, "uint16")
        k.b.local_gather(dst=t, src_buffer=x, index=i)
    else:
        k.b.nc_n_gather(dst=t, data=x,
                        indices=k.filled((16, 16), picks, "uint32"))
    return k, t


@pytest.mark.parametrize("local", [True, False])
def test_only_what_is_gathered_must_have_been_written(local):
    for pick in (0, 1, 3):
        k, t = gather_with_hole(pick, local)
        assert (k.one(t) == (2 if pick == 3 else 1)).all()
    k, t = gather_with_hole(2, local)
    fault = faulty(k, t)
    assert (fault.id, fault.operand) == (
        "memory.read_unwritten", "src_buffer" if local else "data")
    k, t = gather_with_hole(2, local)
    k.run(t, allow=["memory.read_unwritten"])


# --- nc_n_gather ---


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ANY)
def test_each_partition_gathers_by_its_own_indices(target, dtype):
    rng = np.random.default_rng(5)
    raw = f"uint{8 * SIZE[dtype]}"
    data = rng.integers(0, 2**(8 * SIZE[dtype]), (33, 3, 5), dtype=raw)
    index = rng.integers(0, 15, (33, 2, 600), dtype=np.uint32)
    k = Kit(target)
    x, i, t = k.load(data), k.load(index), k.empty((33, 2, 600), raw)
    k.b.nc_n_gather(dst=t.view(dtype), data=x.view(dtype), indices=i)
    want = np.take_along_axis(data.reshape(33, 15), index.reshape(33, 1200)
                              .astype(int), 1)
    np.testing.assert_array_equal(k.one(t).reshape(33, 1200), want)
    assert k.findings == []


def test_a_gather_reads_views_in_their_order_and_may_be_in_place():
    data = np.arange(24, dtype=np.int32).reshape(2, 12)
    k = Kit()
    x = k.load(data)
    i = k.load(np.array([[5, 0, 3], [2, 2, 1]], np.uint32))
    k.b.nc_n_gather(dst=x[:, 0:6:2], data=x[:, ::-2], indices=i)
    want = data.copy()
    want[:, 0:6:2] = np.take_along_axis(
        data[:, ::-2], np.array([[5, 0, 3], [2, 2, 1]]), 1)
    np.testing.assert_array_equal(k.one(x), want)


@pytest.mark.parametrize("value", [14, 15, 2**32 - 1, 2**31])
def test_an_index_outside_data_is_reported(value):
    index = np.zeros((33, 7), np.uint32)
    index[32, 6] = value
    k = Kit()
    t = k.empty((33, 7))
    k.b.nc_n_gather(dst=t, data=k.filled((33, 3, 5), 1.0),
                    indices=k.load(index))
    if value == 14:
        assert (k.one(t) == 1).all()
        return
    fault = faulty(k, t)
    assert (fault.id, fault.category, fault.operand) == (
        "nc_n_gather.index", "out_of_bounds", "indices")
    for part in (f"indices is {value}", "partition 32", "element 6",
                 "at most 14"):
        assert part in fault.message, fault.message
