"""nki.language: what wrappers refuse, and what they say instead."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from nki_language_kit import apply, numbers, on_all, refused, same_bits

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


@on_all
@pytest.mark.parametrize("name", ["divide", "mod", "fmod"])
def test_division_of_tiles_is_refused_with_the_replacement(
    name: str, target: str
) -> None:
    x = np.ones((4, 4), np.float32)
    fault = refused(getattr(nl, name), x, x, target=target)
    assert (fault.category, fault.id) == ("illegal", "nki.no_instruction")
    assert "nl.reciprocal" in fault.remedy
    assert fault.operation == f"nl.{name}"


@pytest.mark.parametrize("divisor", [3.0, 0.1, 0, float("inf"), 2.0**127, 7])
def test_division_by_what_is_no_power_of_two_is_refused(divisor: Any) -> None:
    x = np.ones((4, 4), np.float32)
    fault = refused(lambda a: nl.divide(a, divisor), x)
    assert fault.id == "nki.no_instruction"
    assert "power of two" in fault.message
    assert str(divisor) in fault.message


@pytest.mark.parametrize(
    "divisor", [1, 2, -4, 0.5, 1024.0, 2.0**126, 2.0**-127]
)
def test_division_by_a_power_of_two_is_exact(divisor: float) -> None:
    x = np.concatenate(
        [numbers((4, 8)), np.full((4, 2), 2.0**-140), np.full((4, 2), -0.0)], 1
    ).astype(np.float32)
    same_bits(
        apply(lambda a: nl.divide(a, divisor), x), x / np.float32(divisor)
    )


def test_a_number_over_a_tile_is_refused() -> None:
    x = np.ones((4, 4), np.float32)
    assert refused(lambda a: nl.divide(1.0, a), x).id == "nki.no_instruction"


def test_a_column_in_tensor_tensor_is_refused_for_tensor_scalar() -> None:
    """cases/behaviours.md row 22: passes elsewhere, fails on the device."""

    def wrong(x: Any, column: Any) -> Any:
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=out, data1=x, data2=column, op=nl.add)
        return out

    fault = refused(wrong, numbers((16, 8)), numbers((16, 1)))
    assert fault.category == "illegal"
    assert fault.id == "tensor_tensor.free_size"
    assert "use tensor_scalar" in fault.remedy
    assert "test_nki_language_refused.py" in fault.source


def test_partitions_are_never_broadcast() -> None:
    fault = refused(nl.add, numbers((16, 8)), numbers((1, 8)))
    assert (fault.category, fault.id) == ("illegal", "nki.shape")
    assert "(16, 8)" in fault.message and "(1, 8)" in fault.message
    assert "nki_language_kit.py" in fault.source
    assert "nl.broadcast_to" in fault.remedy


@pytest.mark.parametrize("shape", [(16, 4), (16, 2, 8), (16, 8, 1)])
def test_shapes_that_do_not_broadcast_are_refused(
    shape: tuple[int, ...],
) -> None:
    assert refused(nl.add, numbers((16, 8)), numbers(shape)).id == "nki.shape"


def test_tensors_in_hbm_are_refused_with_nl_load() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        return nl.add(x, 1.0)

    with pytest.raises(trnemu.Fault) as caught:
        kernel(np.ones((256, 4), np.float32))
    assert caught.value.id == "operand.buffer"
    assert "nl.load" in caught.value.remedy
    assert "'x'" in caught.value.message


@pytest.mark.parametrize("other", [None, "1", [1.0], np.ones((4, 4))])
def test_other_operands_are_type_errors(other: Any) -> None:
    with pytest.raises(TypeError, match=r"nl\.add: y must be a tile or a num"):
        apply(lambda a: nl.add(a, other), np.ones((4, 4), np.float32))


def test_two_numbers_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="x or y must be a tile"):
        apply(lambda a: nl.add(1, 2), np.ones((4, 4), np.float32))


def test_an_integer_that_float32_does_not_hold_is_refused() -> None:
    x = np.zeros((4, 4), np.int32)
    fault = refused(lambda a: nl.equal(a, 2**24 + 1), x)
    assert fault.id == "nki.inexact_number"
    assert "16777217" in fault.message
    same_bits(
        apply(lambda a: nl.bitwise_or(a, 2**24 + 1), x),
        np.full((4, 4), 2**24 + 1, np.int32),
    )


@pytest.mark.parametrize("number, shown", [
    (16777217.0, "is 16777217.0, which float32"), (2.0**53 + 2, "9007199254740994"),
    (10**400, r"is 2\*\*1328 or more"), (-(10**400), r"is 2\*\*1328 or more")])
def test_whole_numbers_that_float32_does_not_hold_are_refused(
    number: Any, shown: str
) -> None:
    x = np.zeros((4, 4), np.int32)
    for f in (lambda a: nl.add(a, number), lambda a: nl.subtract(number, a)):
        fault = refused(f, x)
        assert fault.id == "nki.inexact_number"
        assert re.search(shown, fault.message)


def test_floats_are_rounded_to_float32_as_constants_are() -> None:
    """0.1 is no float32; 16777217.0 is 16777216 beside float32 data."""
    x = np.array([[1, 25, 96]], np.int32)
    # The vector engine rounds to nearest even: 0.1, 2.5, 9.6.
    same_bits(apply(lambda a: nl.multiply(a, 0.1), x),
              np.array([[0, 2, 10]], np.int32))
    got = apply(lambda a: nl.multiply(a, 0.1, dtype=nl.float32), x)
    same_bits(got, x.astype(np.float32) * np.float32(0.1))
    f = np.zeros((4, 4), np.float32)
    same_bits(apply(lambda a: nl.add(a, 16777217.0), f), f + np.float32(2**24))


@pytest.mark.parametrize("number", [0.5, 256, -1, float("nan"), 1e9])
def test_where_takes_no_number_that_its_integer_dtype_does_not_hold(
    number: float,
) -> None:
    x = np.array([[0, 1, 2]], np.uint8)
    fault = refused(lambda a: nl.where(a, number, a), x)
    assert fault.id == "nki.inexact_number"
    assert f"x is {number}, which uint8" in fault.message
    same_bits(apply(lambda a: nl.where(a, 255.0, a), x),
              np.array([[0, 255, 255]], np.uint8))
    got = apply(lambda a: nl.where(a, 0.5, 2.5, dtype=nl.float32), x)
    same_bits(got, np.array([[2.5, 0.5, 0.5]], np.float32))


@pytest.mark.parametrize("axis", [1.0, None, "1", True, [1, 2.0]])
def test_an_axis_is_an_int_or_a_list_of_ints(axis: Any) -> None:
    x = np.ones((4, 2, 4), np.float32)
    for f in (nl.sum, nl.max, nl.mean, nl.all, nl.var):
        with pytest.raises(TypeError, match="axis must be an int or a list"):
            apply(lambda a, f=f: f(a, axis), x)


@pytest.mark.parametrize("n", [0, -1])
def test_an_identity_has_a_row_at_least(n: int) -> None:
    fault = refused(lambda a: nl.shared_identity_matrix(n), np.ones((4, 4), "f4"))
    assert fault.id == "nki.shape" and f"but it is {n}" in fault.message


@pytest.mark.parametrize("n", [2.0, True, None])
def test_the_size_of_an_identity_is_an_int(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be an int, not"):
        apply(lambda a: nl.shared_identity_matrix(n), np.ones((4, 4), "f4"))
