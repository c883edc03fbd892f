"""Arguments that do not fit methods of tensors: what the messages name."""

from __future__ import annotations

import numpy as np
import pytest
from nki_edges import ramp, refused

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def doing(use):
    """A kernel that calls use(x in HBM, x in SBUF)."""

    @nki.jit
    def kernel(x):
        use(x, nl.load(x))
        return x

    return kernel


@pytest.mark.parametrize("use, said", [
    (lambda x, t: x.ap(patern=[[24, 8], [1, 24]]),
     "ap() got an unexpected keyword argument 'patern'; did you mean 'pattern'?"),
    (lambda x, t: t.slice(0, begin=0, end=3),
     "slice() got an unexpected keyword argument 'begin'; it takes dim, start, "
     "end, step"),
    (lambda x, t: x.permute(axes=(1, 0)),
     "permute() got an unexpected keyword argument 'axes'; it takes dims"),
    (lambda x, t: t.reshape(8, 24),
     "reshape() takes 1 positional argument (shape) but 2 were given; one "
     "sequence is given in brackets: reshape((...))"),
    (lambda x, t: t.broadcast(1),
     "broadcast() missing required argument: 'size'"),
    (lambda x, t: t.select(1, dim=1),
     "select() got multiple values for argument 'dim'"),
    (lambda x, t: t.squeeze_dim(1, 2, 3),
     "squeeze_dim() takes 1 positional argument (dim) but 3 were given"),
    (lambda x, t: nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand_0=1.0),
     "tensor_scalar() got an unexpected keyword argument 'operand_0'; did you "
     "mean 'operand0'?"),
    (lambda x, t: nisa.tensor_scalar(dst=t, data=t, op0=nl.add),
     "tensor_scalar() missing required argument: 'operand0'"),
    (lambda x, t: nl.ndarray(8, nl.float32),
     "shape must be a sequence of ints, not int"),
    (lambda x, t: nl.add(t, np.max(t)),
     "nl.add: y must be a tile or a number, not TileValues: values of a tensor "
     "so far, which are for looking at; a function of nl, such as nl.max, "
     "computes them on the device"),
])
def test_an_argument_that_does_not_fit_is_named(use, said):
    with pytest.raises(TypeError) as caught:
        doing(use)(ramp(8, 24))
    assert str(caught.value) == said


def test_another_type_error_of_a_kernel_stays_as_it_is():
    with pytest.raises(TypeError, match="unsupported operand type"):
        doing(lambda x, t: 1 + "a")(ramp(8, 24))


@pytest.mark.parametrize("name", ["max", "sum", "mean", "copy"])
def test_methods_of_arrays_point_at_the_functions(name):
    def use(x, t):
        assert not hasattr(t, "nothing") and not hasattr(t, name)
        getattr(t, name)()

    with pytest.raises(AttributeError, match=f"nl.{name}.* on the device"):
        doing(use)(ramp(8, 24))


def split(sizes):
    return doing(lambda x, t: t.rearrange(
        ("p", ("a", "b")), ("p", "a", "b"), sizes))


@pytest.mark.parametrize("sizes, said", [
    ({"a": 0}, "at least 1, not 0"), ({"a": -2}, "not -2"),
    ({"a": 2.0}, "the size of 'a' must be an int"), ({"a": True}, "not True"),
    ({"a": 2, "zz": 9}, "fixed_sizes has 'zz', which is not in the pattern"),
])
def test_sizes_of_rearrange_are_positive_and_of_its_names(sizes, said):
    fault = refused(split(sizes), ramp(8, 24))
    assert fault.id == "nki.rearrange" and said in fault.message
    split({"a": np.int64(2)})(ramp(8, 24))


def test_an_index_of_select_counts_from_the_start():
    """nki/api/nki/language/__init__.py:442; indexing is Python's."""
    for use in (lambda x, t: x.select(0, -1), lambda x, t: t.select(1, -1)):
        fault = refused(doing(use), ramp(8, 24))
        assert (fault.category, fault.id) == ("out_of_bounds", "access.index")
    doing(lambda x, t: t[:, -1])(ramp(8, 24))


def test_an_axis_that_an_offset_would_move_along_exists():
    pattern = [[24, 8], [1, 24]]
    fault = refused(
        doing(lambda x, t: t.ap(pattern, indirect_dim=7)), ramp(8, 24))
    assert fault.id == "access.no_offset" and "7, which is no axis" in str(fault)
    doing(lambda x, t: t.ap(pattern, indirect_dim=1))(ramp(8, 24))


def test_a_tile_is_not_placed_before_the_start_of_a_partition():
    fault = refused(
        doing(lambda x, t: nl.ndarray((8, 24), nl.float32, address=(0, -4))),
        ramp(8, 24))
    assert fault.id == "tile.partitions"
    assert "byte -4; partitions and bytes count from 0" in fault.message


def test_arguments_with_nothing_to_act_on_change_nothing():
    """docs/nki.md, What is decided here."""

    @nki.jit
    def kernel(x):
        a, b = nl.load(x), nl.load(x)
        nisa.tensor_scalar(dst=a, data=a, op0=nl.subtract, operand0=1.0,
                           reverse1=True)
        nisa.activation(dst=b, data=b, op=nl.square, reduce_op=nl.add)
        out = nl.ndarray((2, *x.shape), x.dtype, buffer=nl.shared_hbm)
        nl.store(out[0], a)
        nl.store(out[1], b)
        return out

    x = ramp(8, 24)
    np.testing.assert_array_equal(kernel(x), np.stack([x - 1, x * x]))
    assert isinstance(kernel.program, trnemu.Program)
