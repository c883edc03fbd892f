"""nki.language: tensors with values, constants, random numbers."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from nki_language_kit import apply, launch, numbers, on_all, same_bits

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

BF16 = ml_dtypes.bfloat16


def made(function: Any, warns: tuple[str, ...] = (), **options: Any) -> Any:
    """What a tensor that `function` makes of nothing holds."""

    def kernel() -> Any:
        tile = function()
        if tile.buffer in (nl.shared_hbm, nl.hbm):
            return tile
        out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
        if tile.buffer == nl.psum:
            tile = nl.copy(tile)
        nl.store(out, tile)
        return out

    return launch(nki.simulate(kernel, **options), warns=warns)


@on_all
@pytest.mark.parametrize("buffer", [nl.sbuf, nl.psum, nl.shared_hbm])
def test_zeros_ones_and_full_in_every_memory(target: str, buffer: Any) -> None:
    got = made(lambda: nl.zeros((8, 5), nl.float32, buffer), target=target)
    same_bits(got, np.zeros((8, 5), np.float32))
    got = made(lambda: nl.ones((8, 5), nl.bfloat16, buffer), target=target)
    same_bits(got, np.ones((8, 5), BF16))
    got = made(lambda: nl.full((8, 5), -7, nl.int32, buffer), target=target)
    same_bits(got, np.full((8, 5), -7, np.int32))


@pytest.mark.parametrize("shape", [(300, 700), (5,), (3, 5, 7), (2, 128, 1025)])
def test_hbm_tensors_of_any_shape_are_filled(shape: tuple[int, ...]) -> None:
    got = made(lambda: nl.full(shape, 2.5, nl.float32, nl.shared_hbm))
    same_bits(got, np.full(shape, 2.5, np.float32))


def test_full_refuses_what_an_integer_does_not_hold() -> None:
    with pytest.raises(trnemu.Fault) as caught:
        made(lambda: nl.full((4, 4), 2.5, nl.int32))
    assert caught.value.id == "memset.integer_value"


def test_like_functions_take_shape_dtype_and_buffer_from_x() -> None:
    def check(t: Any) -> Any:
        x = nl.ndarray((4, 6), nl.bfloat16, buffer=nl.psum)
        for make in (nl.zeros_like, nl.empty_like):
            y = make(x)
            assert (y.shape, y.dtype) == ((4, 6), nl.bfloat16)
            assert y.buffer == nl.psum
            y = make(x, dtype=nl.int8, buffer=nl.sbuf, name="other")
            assert (y.dtype, y.buffer) == (nl.int8, nl.sbuf)
            assert y.name == "other"
        return nl.zeros_like(t)

    same_bits(apply(check, numbers((4, 6))), np.zeros((4, 6), np.float32))


@on_all
@pytest.mark.parametrize("dtype", ["uint8", "float32", "bfloat16", "bool_"])
def test_identity_matrices(target: str, dtype: str) -> None:
    got = made(
        lambda: nl.shared_identity_matrix(128, getattr(nl, dtype)),
        target=target,
    )
    np.testing.assert_array_equal(got.astype(np.float32), np.eye(128))
    got = made(lambda: nl.shared_identity_matrix(n=5), target=target)
    same_bits(got, np.eye(5, dtype=np.uint8))


def test_identity_matrices_share_their_constant_not_their_tile() -> None:
    def kernel() -> Any:
        first = nl.shared_identity_matrix(4, nl.float32)
        nisa.memset(dst=first, value=9.0)
        dst = nl.ndarray((4, 4), nl.float32, buffer=nl.sbuf)
        assert nl.shared_identity_matrix(4, nl.float32, dst=dst) is dst
        out = nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, dst)
        return out

    made_kernel = nki.jit(kernel)
    same_bits(made_kernel(), np.eye(4, dtype=np.float32))
    text = made_kernel.program.to_text()
    assert len(re.findall(r"^tensor .* constant ", text, re.M)) == 1


# Random numbers: whether the generators are a device's is reported.

RNG = ("rng.generator",)


@on_all
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rand_is_uniform_from_0_to_below_1(target: str, dtype: str) -> None:
    """65536 draws: the mean of uniform numbers is 1/2, its deviation
    1 / sqrt(12 * 65536) = 0.0011, the variance 1/12."""
    kind = getattr(nl, dtype)
    got = made(lambda: nl.rand((128, 512), kind), RNG, target=target)
    values = got.astype(np.float64)
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < 0.008
    assert abs(values.var() - 1 / 12) < 0.003
    assert len(np.unique(values)) > 250


def test_rand_in_hbm_draws_every_element() -> None:
    shape = (2, 200, 1000)
    got = made(lambda: nl.rand(shape, nl.float32, nl.shared_hbm), RNG)
    assert len(np.unique(got)) > 390_000
    assert 0 <= got.min() and got.max() < 1


@on_all
def test_the_same_seed_gives_the_same_numbers(target: str) -> None:
    def kernel() -> Any:
        out = nl.ndarray((3, 16, 32), nl.float32, buffer=nl.shared_hbm)
        for i, number in enumerate((42, 42, 43)):
            nl.random_seed(nl.full((1, 1), number, nl.int32))
            nl.store(out[i], nl.rand((16, 32), nl.float32))
        return out

    made_kernel = nki.simulate(kernel, target=target)
    first, second, third = launch(made_kernel, warns=RNG)
    np.testing.assert_array_equal(first, second)
    assert (first != third).mean() > 0.9


def test_rand_of_integers_is_refused() -> None:
    with pytest.raises(trnemu.Fault) as caught:
        made(lambda: nl.rand((4, 4), nl.int32))
    assert caught.value.id == "operand.dtype"
