"""Views: NumPy's indexing, and the other ways to make one of another."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu


BASIC = [
    np.s_[1], np.s_[-1], np.s_[1, 2], np.s_[:], np.s_[...], np.s_[1:3],
    np.s_[::2], np.s_[:, 1:7:3], np.s_[:, -3:], np.s_[..., 0], np.s_[:, None],
    np.s_[None], np.s_[0, ..., 1], np.s_[::-1], np.s_[:, ::-2], np.s_[3:100],
    np.s_[1:3, 2:4, 1], np.s_[:, :, -1], np.s_[np.int64(2)], np.s_[1, 2, 3],
]


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_slicing_in_hbm_gives_numpys_shape(key):
    x = trnemu.ProgramBuilder().input("x", (4, 8, 5), "float32")
    expected = np.empty((4, 8, 5), np.float32)[key]
    v = x[key]
    assert v.shape == expected.shape
    assert (v.ndim, v.size, v.nbytes) == (
        expected.ndim, expected.size, expected.nbytes,
    )


@pytest.mark.parametrize(
    "key", [k for k in BASIC if k is not None and k != np.s_[::2]
            and k != np.s_[::-1]], ids=str,
)
def test_slicing_on_chip_keeps_the_partition_axis_and_two_dimensions(key):
    tile = trnemu.ProgramBuilder().sbuf((4, 8, 5), "float32")
    first = key[0] if isinstance(key, tuple) else key
    rest = key[1:] if isinstance(key, tuple) else ()
    if isinstance(first, (int, np.integer)):  # an int keeps axis 0, size 1
        n = int(first)
        first = slice(n, n + 1 or None)
    expected = np.empty((4, 8, 5), np.float32)[(first, *rest)].shape
    if len(expected) < 2:
        expected += (1,)
    assert tile[key].shape == expected


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_slicing_moves_the_elements_that_numpy_selects(key):
    array = np.arange(160, dtype=np.int32).reshape(4, 8, 5)
    expected = array[key]
    b = trnemu.ProgramBuilder()
    x = b.input("x", array.shape, "int32")
    y = b.output("y", expected.shape or (1,), "int32")
    b.dma_copy(dst=y, src=x[key])
    r = trnemu.run(b.build(), {"x": array})
    np.testing.assert_array_equal(r.outputs["y"].reshape(-1), expected.ravel())


@pytest.mark.parametrize(
    "key", [1.0, "a", [0, 1], np.array([0, 1]), True, slice(0.5, None),
            (0, [1])], ids=str,
)
def test_an_index_that_is_not_basic_is_a_type_error(key):
    x = trnemu.ProgramBuilder().input("x", (4, 8), "float32")
    with pytest.raises(TypeError):
        x[key]


def test_view_methods_give_the_shapes_they_say():
    b = trnemu.ProgramBuilder()
    x = b.input("x", (4, 6), "float32")
    assert x.reshape((2, 12)).shape == x.reshape(2, -1).shape == (2, 12)
    assert x.permute((1, 0)).shape == x.permute(1, 0).shape == (6, 4)
    assert x[:1].broadcast(0, 5).shape == (5, 6)
    assert x[:1].broadcast(dim=0, size=2).shape == (2, 6)
    assert x.select(1, 3).shape == (4,)
    assert x.view("bfloat16").shape == (4, 12)
    assert x.view(np.uint8).dtype == "uint8"
    assert x.ap([[6, 2], [1, 3]], offset=1).shape == (2, 3)
    assert x.ap([[1, 8]], dtype="uint8").dtype == np.uint8
    assert len(x) == 4 and [row.shape for row in x] == [(6,)] * 4


def test_a_views_attributes_say_what_it_is():
    b = trnemu.ProgramBuilder()
    x = b.input("x", (4, 8), "float32")
    t = b.sbuf((4, 8), ml_dtypes.bfloat16, name="tile")
    p = b.psum((4, 8), np.float32)
    assert [v.buffer for v in (x, t, p)] == ["hbm", "sbuf", "psum"]
    assert str(x.dtype) == "float32" and type(str(x.dtype)) is str
    assert x.dtype == np.float32 == x.dtype and x.dtype == np.dtype("float32")
    assert t.dtype == ml_dtypes.bfloat16 and t.dtype != np.float32
    assert {x.dtype: 1}["float32"] == 1 and t.dtype.itemsize == 2
    assert t.nbytes == 64 and t.size == 32 and t.ndim == 2
    assert x.name == "x" and t.name == "tile"
    assert repr(t) == "<View tile (4, 8) bfloat16 in sbuf>"
