"""Operands of one instruction that overlap in part: warned of where an element
is written before a later one reads it, and computed as if each row were read
first (docs/numerics.md)."""

import ml_dtypes
import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

X = np.arange(1, 8 * 24 + 1, dtype=np.float32).reshape(8, 24)


def tile_after(use, x=X, show=lambda t: t):
    @nki.jit
    def kernel(x):
        t = nl.load(x)
        use(t)
        shown = show(t)
        out = nl.ndarray(shown.shape, shown.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=shown)
        return out

    return kernel, x


def ids(kernel):
    return [f.id for f in kernel.result.diagnostics]


AHEAD = {
    "copy": lambda t: nisa.tensor_copy(dst=t[:, 1:24], src=t[:, 0:23]),
    "copy by scalar": lambda t: nisa.tensor_copy(
        dst=t[:, 1:24], src=t[:, 0:23], engine=nisa.scalar_engine),
    "strided": lambda t: nisa.tensor_copy(dst=t[:, 2:24:2], src=t[:, 0:22:2]),
    "add": lambda t: nisa.tensor_scalar(
        dst=t[:, 1:24], data=t[:, 0:23], op0=nl.add, operand0=1.0),
    "second": lambda t: nisa.tensor_tensor(
        dst=t[:, 1:24], data1=t[:, 1:24], data2=t[:, 0:23], op=nl.add),
    "activation": lambda t: nisa.activation(
        dst=t[:, 1:24], data=t[:, 0:23], op=nl.square),
    "backwards": lambda t: nisa.tensor_copy(dst=t, src=t[:, ::-1]),
    "broadcast": lambda t: nisa.tensor_tensor(
        dst=t, data1=t, data2=t[:, 0:1].broadcast(1, 24), op=nl.subtract),
    "widening": lambda t: nisa.tensor_copy(
        dst=t, src=t.view(nl.bfloat16)[:, 0:24]),
}


@pytest.mark.parametrize("use", AHEAD.values(), ids=AHEAD)
def test_writing_what_is_read_later_is_unspecified(use):
    kernel, x = tile_after(use)
    with pytest.warns(nki.KernelWarning, match="operand.overlap"):
        kernel(x)
    assert ids(kernel) == ["operand.overlap"]
    with pytest.raises(trnemu.Fault) as caught:
        kernel.with_options(strict=True)(x)
    assert caught.value.id == "operand.overlap"
    quiet = kernel.with_options(checks="memory")
    quiet(x)
    assert ids(quiet) == []


def test_each_row_is_read_before_it_is_written():
    kernel, x = tile_after(AHEAD["add"])
    with pytest.warns(nki.KernelWarning, match="element 0 is written where elem"
                      "ent 1 is read later"):
        got = kernel(x)
    np.testing.assert_array_equal(got[:, 1:], x[:, :-1] + 1)
    np.testing.assert_array_equal(got[:, 0], x[:, 0])
    kernel, x = tile_after(AHEAD["broadcast"])
    with pytest.warns(nki.KernelWarning):
        np.testing.assert_array_equal(kernel(x), x - x[:, 0:1])


IN_PLACE = {
    "whole": lambda t: nisa.tensor_scalar(
        dst=t, data=t, op0=nl.add, operand0=1.0),
    "strided": lambda t: nisa.tensor_tensor(
        dst=t[:, ::2], data1=t[:, ::2], data2=t[:, 1::2], op=nl.add),
    "turned": lambda t: nisa.tensor_copy(dst=t[:, ::-1], src=t[:, ::-1]),
    "other type": lambda t: nisa.tensor_copy(dst=t.view(nl.int32), src=t),
    "narrowing": lambda t: nisa.tensor_copy(
        dst=t.view(nl.bfloat16)[:, 0:24], src=t),
    "to the start": lambda t: nisa.tensor_copy(dst=t[:, 0:23], src=t[:, 1:24]),
    "to the start, strided": lambda t: nisa.tensor_copy(
        dst=t[:, 0:22:2], src=t[:, 2:24:2]),
    "interleaved": lambda t: nisa.tensor_copy(dst=t[:, 0::2], src=t[:, 1::2]),
    "column": lambda t: nisa.tensor_scalar(
        dst=t, data=t, op0=nl.subtract, operand0=t[:, 0:1]),
    "reduce": lambda t: nisa.tensor_reduce(
        dst=t[:, 0:1], op=nl.add, data=t, axis=1),
    "scan": lambda t: nisa.tensor_tensor_scan(
        dst=t, data0=t, data1=t, initial=0.0, op0=nl.multiply, op1=nl.add),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("use", IN_PLACE.values(), ids=IN_PLACE)
def test_in_place_use_is_not_warned_about(use):
    kernel, x = tile_after(use)
    kernel(x)
    assert ids(kernel) == []


@pytest.mark.filterwarnings("error")
def test_other_partitions_of_a_tile_do_not_overlap():
    x = np.arange(64 * 8, dtype=np.float32).reshape(64, 8)
    kernel, x = tile_after(lambda t: nisa.tensor_copy(
        dst=t[32:64, 1:8], src=t[0:32, 0:7]), x)
    got = kernel(x)
    np.testing.assert_array_equal(got[32:, 1:], x[:32, :-1])
    assert ids(kernel) == []


def test_an_element_that_dst_has_twice_keeps_the_last_of_its_values():
    """In the order of the elements; no warning: what is thrown away is written
    to such a view."""
    def use(t):
        u = nl.ndarray((8, 1), nl.float32)
        nisa.tensor_copy(dst=u.broadcast(1, 24), src=t)
        nisa.tensor_copy(dst=t[:, 0:1], src=u)

    kernel, x = tile_after(use, X.astype(ml_dtypes.bfloat16).astype(np.float32))
    np.testing.assert_array_equal(kernel(x)[:, 0], x[:, -1])
    assert ids(kernel) == []
