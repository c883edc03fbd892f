"""Access patterns that name an element more than once, as destinations: of a
transfer no document says which value stays; products of a matmul for one place
are added up (release-notes/components/nki.rst:85)."""

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

X = np.arange(8 * 24, dtype=np.float32).reshape(8, 24)


def copied_to(view, shape=(40, 24)):
    """A kernel that copies x to view(out)."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(shape, nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=nl.zeros(shape, nl.float32))
        nisa.dma_copy(dst=view(out), src=x)
        return out

    return kernel


@pytest.mark.parametrize("view, positions", [
    (lambda o: o[0:1].broadcast(0, 8), "0, 24"),
    (lambda o: o.ap([[0, 8], [1, 24]]), "0, 24"),
    (lambda o: o.ap([[1, 8], [1, 24]]), "1, 24"),
    (lambda o: o.ap([[23, 8], [1, 24]]), "23, 24"),
])
def test_a_transfer_that_writes_an_element_twice_is_unspecified(view, positions):
    kernel = copied_to(view)
    with pytest.warns(nki.KernelWarning, match="dma.duplicate_elements"):
        kernel(X)
    found = [f for f in kernel.result.diagnostics]
    assert [f.id for f in found] == ["dma.duplicate_elements"]
    assert dict(found[0].details)["positions"] == positions
    with pytest.raises(trnemu.Fault) as caught:
        kernel.with_options(strict=True)(X)
    assert caught.value.id == "dma.duplicate_elements"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("view", [
    lambda o: o[0:8],
    lambda o: o[0:15:2],
    lambda o: o.ap([[-24, 8], [1, 24]], 7 * 24),
    lambda o: o.ap([[25, 8], [1, 24]]),
    # Columns of 8 elements: the steps interleave, the elements do not meet.
    lambda o: o.ap([[1, 8], [8, 24]]),
    lambda o: o.ap([[24, 8], [48 * 4, 4], [4, 6]]),
])
def test_a_transfer_that_writes_each_element_once_is_not_warned_about(view):
    kernel = copied_to(view)
    kernel(X)
    assert not kernel.result.diagnostics


def test_a_transfer_that_repeats_elements_of_a_tile_is_unspecified():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((8, 24), nl.float32, buffer=nl.shared_hbm)
        t = nl.zeros((8, 24), nl.float32)
        nisa.dma_copy(dst=t.ap([[24, 8], [0, 4], [1, 6]]),
                      src=x.reshape((8, 4, 6)))
        nl.store(out, t)
        return out

    with pytest.warns(nki.KernelWarning, match="0 and 6 of each partition"):
        kernel(X)


def test_a_sum_that_is_written_to_one_row_is_unspecified():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((8, 24), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        nisa.dma_compute(dst=out.ap([[0, 8], [1, 24]]), srcs=[x, x],
                         reduce_op=nl.add)
        return out

    with pytest.warns(nki.KernelWarning, match="dma.duplicate_elements"):
        kernel(X)


def test_a_transfer_between_cores_that_repeats_elements_is_unspecified():
    @nki.jit
    def kernel(x):
        core = nl.program_id(0)
        out = nl.ndarray((2, 8, 24), nl.float32, buffer=nl.shared_hbm)
        t, u = nl.load(x), nl.zeros((8, 24), nl.float32)
        nisa.sendrecv(src=t.reshape((8, 4, 6)),
                      dst=u.ap([[24, 8], [0, 4], [1, 6]]),
                      send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)
        nl.store(out[core], u)
        return out

    with pytest.warns(nki.KernelWarning, match="dma.duplicate_elements"):
        kernel[2](X)


@pytest.mark.parametrize("rows, overlap", [
    ([0, 2, 5], None), ([2, 0, 3], "0 and 2"), ([4, 0, 5], "0 and 2")])
def test_a_scatter_of_rows_that_overlap_is_unspecified(rows, overlap):
    """Rows of 30 elements, at multiples of 24."""

    @nki.jit
    def kernel(x, index):
        out = nl.ndarray((8, 24), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        nisa.dma_copy(dst=out.ap([[24, 3], [1, 30]], vector_offset=nl.load(index)),
                      src=x.ap([[30, 3], [1, 30]]))
        return out

    index = np.array(rows, np.int32).reshape(3, 1)
    if overlap is None:
        kernel(X, index)
        assert not kernel.result.diagnostics
        return
    with pytest.warns(nki.KernelWarning, match=f"positions {overlap} share"):
        kernel(X, index)
    assert kernel.result.diagnostics[0].id == "dma.duplicate_rows"


def products(accumulate, dtype=np.float32, before="matmul"):
    """Four products (64, 16) go to one tile, which holds the first already,
    zeros or nothing; and what they are."""
    rng = np.random.default_rng(1)
    x = rng.integers(-4, 5, (64, 64)).astype(dtype)

    @nki.jit
    def kernel(x):
        t = nl.load(x)
        o = nl.ndarray((64, 16), nl.float32, buffer=nl.psum)
        if before == "matmul":
            nisa.nc_matmul(dst=o, stationary=t, moving=t[:, 0:16])
        if before == "zeros":
            nisa.memset(dst=o, value=0.0)
        nisa.nc_matmul(dst=o.ap([[16, 64], [0, 4], [1, 16]]), stationary=t,
                       moving=t, accumulate=accumulate)
        out = nl.ndarray((64, 16), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.copy(o))
        return out

    f = x.astype(np.float32)
    return kernel, x, (f.T @ f).reshape(64, 4, 16)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("accumulate", [None, True])
def test_products_of_a_matmul_for_one_place_are_added_up(accumulate, dtype):
    """Small integers: sums are exact in any order."""
    kernel, x, p = products(accumulate, dtype)
    np.testing.assert_array_equal(kernel(x), p[:, 0] + p.sum(axis=1))


@pytest.mark.parametrize("before", ["nothing", "zeros"])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_the_first_of_several_products_for_one_place_overwrites(before, dtype):
    kernel, x, p = products(None, dtype, before)
    np.testing.assert_array_equal(kernel(x), p.sum(axis=1))


def test_rows_of_a_convolution_that_overlap_are_added_up():
    """dst[i + j] += a[i, j]: rows of 4 that are 1 apart in a row of 11."""
    x = np.random.default_rng(2).integers(-4, 5, (32, 32)).astype(np.float32)

    @nki.jit
    def kernel(x):
        t = nl.load(x)
        o = nl.ndarray((32, 11), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=o.ap([[11, 32], [1, 8], [1, 4]]), stationary=t,
                       moving=t)
        out = nl.ndarray((32, 11), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.copy(o))
        return out

    p = (x.T @ x).reshape(32, 8, 4)
    want = np.zeros((32, 11), np.float32)
    for i in range(8):
        want[:, i : i + 4] += p[:, i]
    np.testing.assert_array_equal(kernel(x), want)


def test_products_that_overwrite_one_place_are_unspecified():
    kernel, x, _ = products(False)
    with pytest.raises(trnemu.Fault) as caught:
        kernel(x)
    assert caught.value.id == "nc_matmul.duplicate_elements"
    assert "elements 0 and 16 of each partition" in caught.value.message
