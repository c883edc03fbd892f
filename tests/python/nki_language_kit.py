"""Kernels around one function of nki.language.

apply(f, x, y) loads the arrays to SBUF, calls f with the tiles and gives the
tile it returns as an array; opcodes(f, x, y) names the instructions of f.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

TARGETS = ("trn1", "trn2", "trn3")
on_all = pytest.mark.parametrize("target", TARGETS)

Array = np.ndarray[Any, Any]


def _kernel(function: Callable[..., Any], psum: tuple[int, ...]) -> Any:
    def kernel(inputs: Any) -> Any:
        tiles = [nl.load(x) for x in inputs]
        for i in psum:
            tiles[i] = in_psum(tiles[i])
        result = function(*tiles)
        shape = result.shape
        if result.buffer == nl.psum:
            result = nl.copy(result)
        out = nl.ndarray(shape, result.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=result)
        return out

    return nki.jit(kernel)


def in_psum(tile: Any) -> Any:
    """A copy of a tile in PSUM."""
    copy = nl.ndarray(tile.shape, tile.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=copy, src=tile)
    return copy


def apply(
    function: Callable[..., Any],
    *arrays: Array,
    psum: tuple[int, ...] = (),
    warns: tuple[str, ...] = (),
    **options: Any,
) -> Array:
    """What `function` makes of tiles with the arrays' values; those at the
    positions `psum` are in PSUM. warns: the ids that a launch warns about,
    which is nothing unless said. options: of the launch."""
    kernel = nki.simulate(_kernel(function, psum), **options)
    given = [np.ascontiguousarray(a) for a in arrays]
    result: Array = launch(kernel, given, warns=warns)
    return result


def launch(kernel: Any, *args: Any, warns: tuple[str, ...] = ()) -> Any:
    """kernel(*args), which must warn about `warns` and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nki.KernelWarning)
        result = kernel(*args)
    assert {f.id for f in kernel.result.diagnostics} == set(warns)
    return result


def opcodes(
    function: Callable[..., Any], *arrays: Array, **options: Any
) -> list[str]:
    """The instructions of loading, the function and storing, in order."""
    kernel = nki.simulate(_kernel(function, ()), **options)
    text = nki.trace(kernel, list(arrays)).to_text()
    return re.findall(r"^  \w+ #\d+ \S+ (\w+)", text, re.M)


def refused(
    function: Callable[..., Any], *arrays: Array, **options: Any
) -> trnemu.Fault:
    """The Fault that the function's kernel raises."""
    with pytest.raises(trnemu.Fault) as caught:
        apply(function, *arrays, **options)
    return caught.value


def same_bits(got: Array, expected: Any) -> None:
    """Equal in dtype, shape and every bit; any NaN is as good as another."""
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    nan = np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), nan)
    width = f"u{got.itemsize}"
    np.testing.assert_array_equal(
        np.where(nan, 0, got.view(width)),
        np.where(nan, 0, expected.view(width)),
    )


def numbers(
    shape: tuple[int, ...], seed: int = 0, scale: float = 4, dtype: Any = "f4"
) -> Array:
    """Normal random numbers."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * scale).astype(dtype)
