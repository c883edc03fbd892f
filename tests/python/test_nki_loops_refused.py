"""Device loops that are refused, and what their messages say to write."""

from __future__ import annotations

import numpy as np
import pytest
from nki_edges import ramp

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


@pytest.mark.parametrize("value", [
    lambda x: nl.load(x), lambda x: 1, lambda x: x, lambda x: (None,),
    lambda x: nisa.register_alloc(1)])
def test_the_body_of_a_fori_loop_returns_no_value(value):
    """nki/migration/index.rst:138."""

    @nki.jit
    def kernel(x):
        nl.fori_loop(0, 3, lambda i: value(x))
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "nki.loop_value"


def test_a_while_that_is_left_is_named_and_says_what_ends_it():
    @nki.jit
    def kernel(x):
        reg = nisa.register_alloc(1)
        while reg:
            nl.load(x)
            break
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    fault = caught.value
    assert fault.id == "nki.loop_left" and fault.operation == "while"
    line = kernel.func.__code__.co_firstlineno + 3
    assert f"`while` at test_nki_loops_refused.py:{line}" in fault.message
    assert "cannot be left early" in fault.message
    assert "nisa.register_move(register, 0)" in fault.remedy


def test_a_while_that_is_left_is_seen_when_it_is_entered_anew():
    """The second round of range() must not be taken for the loop's end."""

    @nki.jit(max_instructions=10_000)
    def kernel(x):
        reg = nisa.register_alloc(1)
        for i in range(3):
            while reg:
                nisa.register_move(reg, 0)
                if i == 1:
                    break
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "nki.loop_left"


def counting(skip, around=1):
    """A `while` that `continue`s, of 3 rounds, `around` times."""

    @nki.jit(max_instructions=10_000)
    def kernel(x):
        tile, one = nl.load(x), nl.load(x[0:1, 0:1])
        reg = nisa.register_alloc()
        for _ in range(around):
            nisa.memset(dst=one, value=3.0)
            left = nl.copy(one, dtype=nl.int32)
            nisa.register_load(reg, left)
            while reg:
                nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract,
                                   operand0=1.0)
                nisa.register_load(reg, left)
                if skip:
                    continue
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add,
                                   operand0=1.0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    return kernel


@pytest.mark.parametrize("around", [1, 2])
def test_continue_ends_a_round_of_a_while(around):
    """Python knows the condition: what follows is in no round, or in each."""
    x = ramp(4, 4)
    np.testing.assert_array_equal(counting(True, around)(x), x)
    np.testing.assert_array_equal(counting(False, around)(x), x + 3 * around)


@pytest.mark.parametrize("flag", [0, 1, 5])
def test_a_while_loop_of_one_round_is_a_branch_of_the_device(flag):
    """What nki.register_branch says to write."""

    @nki.jit
    def kernel(x, flag):
        tile, at = nl.load(x), nl.load(flag)
        reg, zero = nisa.register_alloc(), nisa.register_alloc(0)
        nisa.register_load(reg, at)

        def taken(r):
            nisa.tensor_scalar(tile, tile, nl.add, 10.0)
            return zero

        nl.while_loop(reg, taken)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    got = kernel(ramp(4, 4), np.array([[flag]], np.int32))
    np.testing.assert_array_equal(got, ramp(4, 4) + (10 if flag else 0))


def test_a_branch_on_a_register_says_what_to_write():
    @nki.jit
    def kernel(x):
        if nisa.register_alloc(1):
            nl.load(x)
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "nki.register_branch"
    assert "loop of one round" in caught.value.remedy
