"""nki.language: what wrappers refuse, and what they say instead."""

from __future__ import annotations

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
