"""The caller's arrays in a launch: what is read in place, what is written to
when, and what stays as it was."""

import numpy as np
import pytest
import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def ramp(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@nki.jit
def double_into(x, out):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_an_output_argument_is_written_in_place_and_returned():
    x, out = ramp(128, 64), np.full((128, 64), np.nan, np.float32)
    memory = out.ctypes.data
    assert double_into(x, out) is out
    assert out.ctypes.data == memory
    np.testing.assert_array_equal(out, 2 * ramp(128, 64))
    np.testing.assert_array_equal(x, ramp(128, 64))


def test_a_read_only_input_is_read():
    x = ramp(128, 8)
    x.flags.writeable = False
    out = np.zeros((128, 8), np.float32)
    double_into(x, out)
    np.testing.assert_array_equal(out, 2 * ramp(128, 8))


def test_one_array_as_input_and_output_is_read_before_it_is_written():
    x = ramp(128, 8)
    double_into(x, x)
    np.testing.assert_array_equal(x, 2 * ramp(128, 8))


@pytest.mark.parametrize("form", ["transposed", "every second", "shifted"])
def test_arrays_in_any_layout_are_read_and_written(form):
    # What NumPy calls a view: not contiguous, or not aligned to its elements.
    def made():
        if form == "transposed":
            return np.zeros((8, 128), np.float32).T
        if form == "every second":
            return np.zeros((128, 16), np.float32)[:, ::2]
        raw = np.zeros(128 * 8 * 4 + 1, np.uint8)
        return raw[1:].view(np.float32).reshape(128, 8)

    x, out = made(), made()
    x[...] = ramp(128, 8)
    double_into(x, out)
    np.testing.assert_array_equal(out, 2 * ramp(128, 8))
    np.testing.assert_array_equal(x, ramp(128, 8))


def test_what_a_kernel_does_not_write_stays():
    @nki.jit
    def first_half(x, out):
        tile = nl.ndarray((64, 8), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[0:64])
        nisa.dma_copy(dst=out[0:64], src=tile)

    out = np.full((128, 8), 7, np.float32)
    first_half(ramp(128, 8), out)
    np.testing.assert_array_equal(out[:64], ramp(128, 8)[:64])
    np.testing.assert_array_equal(out[64:], 7)


def test_a_launch_that_fails_leaves_the_caller_s_arrays_as_they_were():
    @nki.jit
    def fails(x, out):
        nisa.dma_copy(dst=out, src=x)
        late = nl.ndarray((128, 8), x.dtype, buffer=nl.shared_hbm)
        return late  # never written

    out = np.full((128, 8), 7, np.float32)
    with pytest.raises(trnemu.Fault) as caught:
        fails(ramp(128, 8), out)
    assert caught.value.id == "output.unwritten"
    np.testing.assert_array_equal(out, 7)


def test_a_program_may_write_to_its_input_tensor_and_not_to_the_array():
    # Nothing forbids a program to use an input's memory for other values.
    b = trnemu.ProgramBuilder()
    x, y = b.input("x", (128, 8), "float32"), b.output("y", (128, 8), "float32")
    tile = b.sbuf((128, 8), "float32")
    b.dma_copy(dst=tile, src=x)
    b.tensor_scalar(dst=tile, data=tile, op0="multiply", operand0=2.0)
    b.dma_copy(dst=x, src=tile)
    b.dma_copy(dst=y, src=x)
    given = ramp(128, 8)
    executable = trnemu.Device().load(b.build())
    for _ in range(2):
        result = executable.run({"x": given})
        np.testing.assert_array_equal(result.outputs["y"], 2 * ramp(128, 8))
        np.testing.assert_array_equal(given, ramp(128, 8))


def test_a_second_run_reads_the_inputs_it_is_given():
    b = trnemu.ProgramBuilder()
    x, y = b.input("x", (128, 8), "float32"), b.output("y", (128, 8), "float32")
    b.dma_copy(dst=y, src=x)
    executable = trnemu.Device().load(b.build())
    for factor in (1, 2, 3):
        given = factor * ramp(128, 8)
        outputs = executable.run({"x": given}).outputs
        given[...] = -1  # after the run it is the caller's to change
        np.testing.assert_array_equal(outputs["y"], factor * ramp(128, 8))
