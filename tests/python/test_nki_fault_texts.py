"""What faults say of operands, sources and integers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from nki_edges import ramp, refused, stored

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


@pytest.mark.parametrize("part, text", [
    (lambda x: x, "x[:, :, :], of (4, 3, 8) float32 in hbm"),
    (lambda x: x[0:2, 1], "x[0:2, 1, :], of (4, 3, 8) float32 in hbm"),
    (lambda x: x[:, :, 2:7:2], "x[:, :, 2:7:2], of (4, 3, 8) float32 in hbm"),
    (lambda x: x.permute((2, 1, 0)), "of x (4, 3, 8) float32 in hbm"),
])
def test_tensors_in_hbm_are_shown_as_the_kernel_has_them(part, text):
    @nki.jit
    def kernel(x):
        nisa.dma_copy(dst=nl.ndarray((1, 1), nl.float32), src=part(x))

    assert text in refused(kernel, ramp(4, 3, 8)).details["src"]


def test_tiles_of_helpers_are_shown_with_their_line():
    def helper():
        return nl.ndarray((4, 8), nl.float32)

    @nki.jit
    def kernel(x):
        nisa.dma_copy(dst=helper(), src=x)

    text = refused(kernel, ramp(4, 4)).details["dst"]
    line = helper.__code__.co_firstlineno + 1
    assert f"made at {__file__}:{line} in helper, called at" in text


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_a_full_sbuf_cites_a_public_source(target):
    @nki.jit
    def kernel(x):
        nl.ndarray((128, 400_000), nl.float32)
        return x

    fault = refused(kernel.with_options(target=target), ramp(2, 2))
    assert fault.category == "capacity"
    assert "spec/" not in str(fault) and "limit source" in str(fault)


def test_no_fix_of_a_rule_has_a_placeholder_left():
    b = trnemu.ProgramBuilder(target="trn1")
    with pytest.raises(trnemu.Fault) as caught:
        b.core_barrier(b.scratch("s", (4, 8), "float32"), (0, 1))
    assert not re.search(r"\{\w+\}", str(caught.value))


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_large_integer_through_activation_is_warned_about(scale):
    """Arithmetic is fp32, exact up to 2**24
    (nki/api/nki/isa/__init__.py:1035)."""

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.activation(dst=tile, op=nl.copy, data=tile, scale=scale)
        return stored(tile)

    x = np.full((4, 8), 2**24 + 1, np.int32)
    with pytest.warns(nki.KernelWarning, match="integer.through_fp32"):
        got = kernel(x)
    np.testing.assert_array_equal(got, x * 0 + int(2**24 * scale))
    np.testing.assert_array_equal(kernel(x - 1), x * 0 + int(2**24 * scale))
