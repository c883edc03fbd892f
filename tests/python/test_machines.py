"""A device's memory may be one that a device before it has left: nothing of
what that ran is to be seen."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu


def fill(value: float) -> None:
    """Writes SBUF, PSUM (by a matmul) and HBM, and drops the device."""
    b = trnemu.ProgramBuilder(target="trn2", name="fill")
    y = b.output("y", (128, 512), "float32")
    s = b.scratch("s", (128, 512), "float32")
    t = b.sbuf((128, 512), "float32", address=(0, 0))
    p = b.psum((128, 512), "float32", address=(0, 0))
    b.memset(dst=t, value=value)
    b.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t)
    b.dma_copy(dst=s, src=t)
    b.dma_copy(dst=y, src=t)
    assert trnemu.run(b.build(), {}).outputs["y"][5, 5] == value


def unwritten(place: str) -> trnemu.Program:
    """A program that copies out what nothing has written."""
    b = trnemu.ProgramBuilder(target="trn2", name="unwritten")
    y = b.output("y", (128, 512), "float32")
    t = b.sbuf((128, 512), "float32", address=(0, 0))
    if place == "hbm":
        b.dma_copy(dst=t, src=b.scratch("s", (128, 512), "float32"))
    elif place == "psum":
        b.tensor_copy(dst=t, src=b.psum((128, 512), "float32", address=(0, 0)))
    b.dma_copy(dst=y, src=t)
    return b.build()


@pytest.mark.parametrize("place", ["sbuf", "psum", "hbm"])
def test_an_unwritten_read_is_found_whatever_ran_before(place):
    fill(7.0)
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.run(unwritten(place), {})
    assert caught.value.id == "memory.read_unwritten"


@pytest.mark.parametrize("place", ["sbuf", "psum", "hbm"])
def test_an_allowed_unwritten_read_sees_zeros_whatever_ran_before(place):
    fill(7.0)
    r = trnemu.run(unwritten(place), {}, allow=["memory.read_unwritten"])
    np.testing.assert_array_equal(r.outputs["y"], np.zeros((128, 512)))


def test_psum_that_a_device_before_has_multiplied_into_starts_over():
    fill(7.0)
    b = trnemu.ProgramBuilder(target="trn2", name="accumulate")
    t = b.sbuf((128, 128), "float32", address=(0, 0))
    p = b.psum((128, 128), "float32", address=(0, 0))
    b.memset(dst=t, value=1.0)
    b.nc_matmul(dst=p, stationary=t, moving=t, accumulate=True)
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.run(b.build(), {})
    assert caught.value.id == "nc_matmul.accumulate_unwritten"


def test_devices_that_live_at_once_have_memories_of_their_own():
    b = trnemu.ProgramBuilder(target="trn2", name="state")
    s = b.inout("s", (4, 4), "float32")
    t = b.sbuf((4, 4), "float32")
    b.dma_copy(dst=t, src=s)
    b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    b.dma_copy(dst=s, src=t)
    program = b.build()
    loaded = [trnemu.Device("trn2").load(program) for _ in range(4)]
    for i, e in enumerate(loaded):
        e.run({"s": np.full((4, 4), 10.0 * i, np.float32)})
    del loaded[1]
    loaded.append(trnemu.Device("trn2").load(program))
    loaded[-1].run({"s": np.full((4, 4), 40.0, np.float32)})
    states = [e.run({}).outputs["s"][0, 0] for e in loaded]
    assert states == [2.0, 22.0, 32.0, 42.0]
