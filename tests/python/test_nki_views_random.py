"""Random views against NumPy: compositions, access patterns, and indices that
only the device knows, at and beyond their limits."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

SHAPES = ((4, 6, 8), (8, 4), (2, 3, 4, 5), (7, 16), (16, 2, 2))
DTYPES = ((np.float32, nl.float32), (np.int16, nl.int16), (np.uint8, nl.uint8))


class Choice:
    """One random view, made alike of a tensor and of an array."""

    def __init__(self, g, array, base):
        self.g, self.array, self.base = g, array, base

    def upto(self, n):
        return int(self.g.integers(n))

    def item(self, n):
        kind = self.upto(4)
        if kind == 0:
            return slice(None)
        low, high = self.upto(n), self.upto(n) + 1
        return slice(min(low, high - 1), max(low + 1, high),
                     1 + self.upto(2) if kind == 1 else None)

    def index(self):
        first, *rest = [self.item(n) for n in self.array.shape]
        key = (slice(first.start, first.stop), *rest)  # whole partitions
        return lambda t: t[key], self.array[key]

    def back(self):
        """The last axis in steps of -1."""
        key = (Ellipsis, slice(None, None, -1))
        return lambda t: t[key], self.array[key]

    def window(self):
        axis = self.upto(self.array.ndim)
        start = self.upto(self.array.shape[axis])
        size = 1 + self.upto(self.array.shape[axis] - start)
        part = (slice(None),) * axis
        return (lambda t: t[(*part, nl.ds(start, size))],
                self.array[(*part, slice(start, start + size))])

    def permute(self):
        dims = [0] + [1 + int(i) for i in self.g.permutation(
            self.array.ndim - 1)]
        return lambda t: t.permute(dims), self.array.transpose(dims)

    def expand(self):
        dim = 1 + self.upto(self.array.ndim)
        return lambda t: t.expand_dim(dim), np.expand_dims(self.array, dim)

    def repeat(self):
        wide = np.expand_dims(self.array, 1)
        shape = (*wide.shape[:1], 3, *wide.shape[2:])
        return (lambda t: t.expand_dim(1).broadcast(1, 3),
                np.broadcast_to(wide, shape))

    def flat(self):
        flat = self.array.view()
        flat.shape = (flat.shape[0], -1)  # an error where it needs a copy
        return lambda t: t.reshape(flat.shape), flat

    def bits(self):
        numpy, nki_dtype = DTYPES[self.upto(3)]
        if self.array.strides[-1] != self.array.itemsize:
            raise ValueError
        after = self.array.view(numpy)
        places = (*after.strides, after.ctypes.data - self.base.ctypes.data)
        if any(place % after.itemsize for place in places):
            raise ValueError  # elements that start inside elements
        return lambda t: t.view(nki_dtype), after

    def pattern(self):
        """[stride, count] pairs over the storage, whole partitions first."""
        item, base = self.array.itemsize, self.base
        row = base.nbytes // base.shape[0] // item
        start = (self.array.ctypes.data - base.ctypes.data) // item
        room, pairs, last = row - 1 - start % row, [], start
        for _ in range(1 + self.upto(3)):
            stride, count = self.upto(6), 1 + self.upto(4)
            count = min(count, 1 + room // max(stride, 1))
            room -= stride * (count - 1)
            pairs.append([stride, count])
        pairs.insert(0, [row, 1 + self.upto(base.shape[0] - last // row)])
        flat = base.reshape(-1).view(self.array.dtype)
        return (lambda t: t.ap(pairs),
                np.lib.stride_tricks.as_strided(
                    flat[start:], [c for _, c in pairs],
                    [s * item for s, _ in pairs]))


STEPS = ("index", "back", "window", "permute", "expand", "repeat", "flat",
         "bits", "pattern")


@pytest.mark.parametrize("place", ["hbm", "sbuf"])
def test_compositions_of_views_show_what_numpy_s_show(place):
    g = np.random.default_rng(2 if place == "hbm" else 3)
    bases = [np.arange(1, 1 + np.prod(s)).reshape(s).astype(d)
             for s in SHAPES for d, _ in DTYPES]
    wanted, used = [], set()

    @nki.jit
    def kernel(xs):
        outs = []
        for _ in range(250):
            number = int(g.integers(len(bases)))
            base, tensor = bases[number], xs[number]
            if place == "sbuf":
                tensor = nl.load(tensor)
            array = base
            for _ in range(1 + int(g.integers(4))):
                name = STEPS[int(g.integers(len(STEPS)))]
                try:
                    use, after = getattr(Choice(g, array, base), name)()
                except (ValueError, AttributeError):  # no view to NumPy
                    continue
                if after.ndim > 5:
                    continue
                tensor, array = use(tensor), after
                assert tensor.shape == array.shape
                used.add(name)
            out = nl.ndarray(array.shape, tensor.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=tensor)
            outs.append(out)
            wanted.append(array)
        return outs

    got = kernel(bases)
    assert used == set(STEPS)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def at(tensor, how, axis, index, size):
    """Elements of an axis from `index`, a register or tile, on."""
    key = (slice(None),) * axis
    if how == "index":
        return tensor[(*key, index)]
    if how == "select":
        return tensor.select(axis, index)
    return tensor[(*key, nl.ds(index, size))]


@pytest.mark.parametrize("how", ["index", "select", "ds"])
@pytest.mark.parametrize("place", ["hbm", "sbuf"])
@pytest.mark.parametrize("by", ["register", "tile"])
def test_an_index_of_the_device_is_right_up_to_the_end_and_no_further(
        how, place, by):
    x = np.arange(1, 121, dtype=np.float32).reshape(4, 5, 6)
    size = 2 if how == "ds" else 1

    @nki.jit
    def kernel(x, n):
        tensor = nl.load(x) if place == "sbuf" else x
        index = nl.load(n)
        if by == "register":
            index, tile = nisa.register_alloc(), index
            nisa.register_load(index, tile)
        part = at(tensor[:, 1:4], how, 1, index, size)
        out = nl.ndarray(part.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=part)
        return out

    for start in range(-1, 4):
        n = np.array([[start]], np.int32)
        if 0 <= start <= 3 - size:
            wanted = x[:, 1 + start:1 + start + size]
            np.testing.assert_array_equal(
                kernel(x, n).reshape(wanted.shape), wanted)
            continue
        with pytest.raises(trnemu.Fault) as caught:
            kernel(x, n)
        assert caught.value.category == "out_of_bounds"


@pytest.mark.parametrize("rows, ends", [
    ([3, 0, 2, 2, 1], True), ([0, 4], False), ([-1, 1], False)])
def test_rows_by_a_vector_are_right_or_out_of_bounds(rows, ends):
    x = np.arange(24, dtype=np.float32).reshape(4, 6)

    @nki.jit
    def kernel(x, n):
        index = nl.load(n)
        tile = nl.ndarray((n.shape[0], 3), x.dtype)
        nisa.dma_copy(dst=tile, src=x[:, 1:4].vector_select(0, index))
        again = nl.ndarray((n.shape[0], 6), x.dtype)
        nisa.dma_copy(dst=again, src=x.ap([[6, n.shape[0]], [1, 6]],
                                          vector_offset=index))
        outs = [nl.ndarray(t.shape, x.dtype, buffer=nl.shared_hbm)
                for t in (tile, again)]
        for out, t in zip(outs, (tile, again), strict=True):
            nl.store(out, t)
        return outs

    n = np.array(rows, np.int32).reshape(-1, 1)
    if ends:
        part, whole = kernel(x, n)
        np.testing.assert_array_equal(part, x[rows, 1:4])
        np.testing.assert_array_equal(whole, x[rows])
        return
    with pytest.raises(trnemu.Fault) as caught:
        kernel(x, n)
    assert caught.value.category == "out_of_bounds"
