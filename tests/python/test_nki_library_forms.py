"""Forms that kernels of nki-library have, and that Python or NumPy alone would
refuse: found by bench/nki_library.py."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

X4 = np.dtype([("float8_e4m3fn_x4", np.uint32)])


def packed() -> Any:
    words = np.arange(8, dtype=np.uint32) * 0x01010101
    return words.reshape(2, 4).view(X4)


@dataclass
class Section(nl.NKIObject):
    index = None
    offset = 3

    def end(self) -> int:
        return self.offset + 1


def test_attributes_without_annotations_are_fields_of_a_dataclass() -> None:
    assert (Section(offset=5).offset, Section().offset) == (5, 3)
    assert (Section(7).index, Section(7, 8).end()) == (7, 9)
    assert repr(Section(1)) == "Section(index=1, offset=3)"
    with pytest.raises(TypeError, match="unexpected keyword"):
        Section(end=1)


def test_annotated_classes_keep_what_is_not_annotated_as_it_is() -> None:
    @dataclass
    class Tile(nl.NKIObject):
        size: int
        LIMIT = 512

    assert repr(Tile(3)).endswith("Tile(size=3)")
    with pytest.raises(TypeError, match="positional"):
        Tile(3, 4)

    class Mode(nl.NKIObject, enum.Enum):
        FAST = 1

    assert Mode(1) is Mode.FAST


def test_a_branch_on_a_tensor_asks_whether_there_is_one() -> None:
    @nki.jit
    def kernel(x, bias=None, scale=None):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        added = nl.load(bias) if bias else None
        if added and not scale:
            nisa.tensor_tensor(tile, tile, added, nl.add)
        nl.store(out, tile)
        return out

    x, zeros = np.ones((2, 4), np.float32), np.zeros((2, 4), np.float32)
    assert (kernel(x, x) == 2).all()
    assert (kernel(x, x, zeros) == 1).all()  # there, whatever its values
    assert (kernel(x) == 1).all()


@pytest.mark.parametrize("load", [False, True])
def test_a_branch_on_one_element_could_mean_its_value(load) -> None:
    @nki.jit
    def kernel(x):
        flag = nl.load(x) if load else x
        return x if flag else None

    with pytest.raises(trnemu.Fault) as caught:
        kernel(np.ones((1, 1), np.float32))
    assert caught.value.id == "nki.branch_on_values"


def test_an_assert_sees_the_values_of_an_argument() -> None:
    @nki.jit
    def kernel(x):
        assert x, "zero"
        return x

    kernel(np.ones((2, 2), np.float32))
    with pytest.raises(AssertionError, match="zero"):
        kernel(np.zeros((2, 2), np.float32))


def test_an_array_of_one_field_is_of_the_packed_type_it_names() -> None:
    @nki.jit
    def kernel(x):
        assert x.dtype == nl.float8_e4m3fn_x4
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile)
        nisa.dma_copy(dst=x[0:1], src=tile[1:2])
        return out

    x = packed()
    words = x.view(np.uint32).copy()
    assert (kernel(x) == words).all()
    assert (x.view(np.uint32) == words[[1, 1]]).all()
    part = packed()[:, ::2]  # not contiguous
    assert (kernel(part) == words[:, ::2]).all()
    assert part["float8_e4m3fn_x4"][0, 1] == words[1, 2]


@pytest.mark.parametrize("dtype", [
    [("float8_e4m3fn_x4", np.uint16)],
    [("float8_e4m3fn", np.uint8)],
    [("x", np.uint32)],
    [("float8_e4m3fn_x4", np.uint32), ("b", np.uint32)],
])
def test_other_structures_are_no_dtype_of_the_device(dtype) -> None:
    with pytest.raises(trnemu.Fault) as caught:
        nki.jit(lambda x: x)(np.zeros((2, 2), np.dtype(dtype)))
    assert caught.value.id == "nki.argument_dtype"


def test_bytes_of_a_packed_argument_are_its_values() -> None:
    # A copy keeps bits, so the four bytes of a word are elements k, k+1, ...
    @nki.jit
    def kernel(x):
        out = nl.ndarray((2, 16), nl.float8_e4m3fn, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile.view(nl.float8_e4m3fn))
        return out

    x = packed()
    want = x.view(np.uint32).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    got = nki.simulate(kernel, target="trn3")(x)
    assert (np.asarray(got).astype(np.float32) == want).all()
