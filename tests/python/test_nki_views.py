"""NkiTensor: views against NumPy's strides over the same storage."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def in_kernel(use, *arrays):
    """What use(*tensors) gives, called while a kernel is recorded."""
    got = []

    @nki.jit
    def kernel(*args):
        got.append(use(*args))

    kernel(*arrays)
    return got[0]


X = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)
VIEWS = {
    "int": (lambda t: t[2], lambda a: a[2]),
    "negative": (lambda t: t[-1, 2:], lambda a: a[-1, 2:]),
    "step": (lambda t: t[:, 1::2], lambda a: a[:, 1::2]),
    "ellipsis": (lambda t: t[..., 3], lambda a: a[..., 3]),
    "ds": (lambda t: t[nl.ds(1, 2), :, nl.ds(3, 4)],
           lambda a: a[1:3, :, 3:7]),
    "newaxis": (lambda t: t[:, None, 2], lambda a: a[:, None, 2]),
    "reshape": (lambda t: t.reshape((4, -1)), lambda a: a.reshape(4, -1)),
    "permute": (lambda t: t.permute((0, 2, 1)),
                lambda a: a.transpose(0, 2, 1)),
    "slice": (lambda t: t.slice(1, 1, 5, 2), lambda a: a[:, 1:5:2]),
    "select": (lambda t: t.select(1, 3), lambda a: a[:, 3]),
    "expand": (lambda t: t.expand_dim(1), lambda a: a[:, None]),
    "squeeze": (lambda t: t[:, 1:2].squeeze_dim(1), lambda a: a[:, 1]),
    "broadcast": (lambda t: t[:, 1:2].broadcast(1, 5),
                  lambda a: np.broadcast_to(a[:, 1:2], (4, 5, 8))),
    "reshape_dim": (lambda t: t.reshape_dim(2, (2, -1)),
                    lambda a: a.reshape(4, 6, 2, 4)),
    "flatten": (lambda t: t.flatten_dims(1, 2), lambda a: a.reshape(4, 48)),
    "rearrange": (
        lambda t: t.rearrange(("p", ("a", "b"), "c"), ("p", "b", ("c", "a")),
                              {"a": 2}).reshape((4, 3, 16)),
        None),
    "ap": (lambda t: t.ap([[48, 4], [8, 3], [2, 4]], offset=9),
           lambda a: np.lib.stride_tricks.as_strided(
               a.reshape(-1)[9:], (4, 3, 4), (48 * 4, 8 * 4, 2 * 4))),
    "ap_of_a_view": (
        lambda t: t[:, 1:].ap([[48, 4], [1, 8]], offset=2),
        lambda a: np.lib.stride_tricks.as_strided(
            a.reshape(-1)[10:], (4, 8), (48 * 4, 4))),
    "view": (lambda t: t.view(nl.uint16), lambda a: a.view(np.uint16)),
    "reinterpret": (lambda t: t.reinterpret_cast(nl.uint8)[..., 2::4],
                    lambda a: a.view(np.uint8)[..., 2::4]),
}
CASES = [(name, place) for name in VIEWS if VIEWS[name][1] is not None
         for place in ("hbm", "sbuf")]


@pytest.mark.parametrize("name, place", CASES)
def test_a_view_shows_the_elements_that_numpy_s_shows(name, place):
    use, numpy_use = VIEWS[name]

    def look(x):
        t = x if place == "hbm" else nl.load(x)
        v = use(t)
        return v.shape, np.asarray(v)

    if place == "sbuf" and name in ("int", "negative"):
        pytest.skip("on chip an int keeps the partitions: below")
    shape, values = in_kernel(look, X)
    wanted = numpy_use(X)
    assert shape == wanted.shape
    np.testing.assert_array_equal(values, wanted)


def test_on_chip_an_int_keeps_the_partitions_and_two_axes():
    def look(x):
        t = nl.load(x)
        return [t[2].shape, t[:, 3, 4].shape, t.select(0, 1).shape,
                nl.load(x[0])[:, 3].shape, x[2].shape, x[1, 2, 3].shape]

    assert in_kernel(look, X) == [
        (1, 6, 8), (4, 1), (1, 6, 8), (6, 1), (6, 8), ()]


def test_rearrange_reorders_axes_by_name():
    def look(x):
        return np.asarray(
            x.rearrange(("p", ("a", "b"), "c"), ("p", "c", "b", "a"),
                        {"a": 2}))

    np.testing.assert_array_equal(
        in_kernel(look, X),
        X.reshape(4, 2, 3, 8).transpose(0, 3, 2, 1))


def test_attributes_are_those_of_the_documentation():
    def look(x):
        t = nl.ndarray((4, 6, 8), nl.bfloat16, buffer=nl.psum, name="acc")
        v = t[1:3, 2:4, ::2]
        return (v.shape, v.strides, v.offset, v.name, v.ndim, v.size,
                v.buffer is nl.psum, v.dtype == nl.bfloat16, str(v.dtype),
                v.get_pattern(), v.is_contiguous(), t.is_contiguous(),
                v.is_indirect(), x.buffer == nl.hbm, x.strides)

    assert in_kernel(look, X) == (
        (2, 2, 4), (48, 8, 2), 48 + 16, "acc", 3, 16, True, True, "bfloat16",
        [[48, 2], [8, 2], [2, 4]], False, True, False, True, (48, 8, 1))


def test_an_indirect_view_says_so():
    def look(x):
        i = nl.full((1, 1), 1, nl.int32)
        rows = nl.full((4, 1), 1, nl.int32)
        return [x.select(0, i).is_indirect(), x[i].shape, x[nl.ds(i, 2)].shape,
                x.vector_select(0, rows).is_indirect(),
                x.ap([[48, 1], [1, 48]], scalar_offset=i).is_indirect()]

    assert in_kernel(look, X) == [True, (6, 8), (2, 6, 8), True, True]


@pytest.mark.parametrize("use, id", [
    (lambda x, t: x[4], "access.index"),
    (lambda x, t: x[nl.ds(3, 2)], "access.index"),
    (lambda x, t: x.slice(1, 4, 7), "access.index"),
    (lambda x, t: x.slice(1, 4, 4), "access.index"),
    (lambda x, t: t.permute((1, 0, 2)), "access.permute_partition"),
    (lambda x, t: t.broadcast(0, 8), "access.broadcast_partition"),
    (lambda x, t: t.broadcast(1, 8), "access.broadcast"),
    (lambda x, t: t.expand_dim(0), "access.newaxis"),
    (lambda x, t: t.squeeze_dim(1), "access.squeeze"),
    (lambda x, t: t[0:1].squeeze_dim(0), "access.squeeze"),
    (lambda x, t: t.reshape_dim(2, (3, -1)), "access.reshape"),
    (lambda x, t: t.flatten_dims(0, 1), "access.reshape_partition"),
    (lambda x, t: t[:, 0:3].permute((0, 2, 1)).flatten_dims(1, 2),
     "access.reshape_copy"),
    (lambda x, t: t.ap([[47, 4], [1, 8]]), "access.partition_step"),
    (lambda x, t: t.rearrange(("p", "a", "b"), ("p", "a")), "nki.rearrange"),
    (lambda x, t: t[nl.ds(nisa.register_alloc(0), 1)],
     "access.indirect_partition"),
    (lambda x, t: x[nisa.register_alloc(0), nisa.register_alloc(0)],
     "access.indirect_again"),
])
def test_what_is_no_view_is_refused(use, id):
    with pytest.raises(trnemu.Fault) as caught:
        in_kernel(lambda x: use(x, nl.load(x)), X)
    assert caught.value.id == id


@pytest.mark.parametrize("use", [
    lambda v: nisa.tensor_scalar(dst=v, data=v, op0=nl.add, operand0=1.0),
    lambda v: v[0:1],
    np.asarray,
])
def test_a_pattern_outside_its_tensor_is_refused_where_it_is_used(use):
    """nki-library makes such views in a loop and uses those inside only."""

    def look(x):
        v = nl.load(x).ap([[48, 4], [1, 48]], offset=8)
        assert v.shape == (4, 48)
        use(v)

    with pytest.raises(trnemu.Fault) as caught:
        in_kernel(look, X)
    assert caught.value.id == "access.pattern_out_of_bounds"
    assert "the view was made at" in caught.value.related[0]


def test_indices_of_other_kinds_are_type_errors():
    for key in ("a", 1.5, np.ones(3)):
        with pytest.raises(TypeError):
            in_kernel(lambda x: x[key], X)


def test_address_places_tiles_and_tiles_at_one_place_share_it():
    @nki.jit
    def kernel(x):
        a = nl.ndarray((4, 16), nl.uint8, address=(0, 64))
        b = nl.ndarray((4, 4), nl.float32, address=(0, 64))
        nisa.dma_copy(dst=b, src=x)
        nisa.tensor_scalar(dst=b, data=b, op0=nl.add, operand0=1.0)
        out = nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=b)
        nisa.memset(dst=a, value=0)
        return out

    x = np.ones((4, 4), np.float32)
    np.testing.assert_array_equal(kernel(x), x + 1)
    rows = kernel.program.memory_map().rows
    assert {(r["name"], r["address"]) for r in rows} == {("a", 64), ("b", 64)}
