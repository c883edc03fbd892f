"""nki.language: moving, making and selecting data."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from nki_language_kit import (
    apply,
    numbers,
    on_all,
    opcodes,
    refused,
    same_bits,
)

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

BF16 = ml_dtypes.bfloat16
# Whether the generators are a device's is reported.
RNG = ("rng.generator",)
DTYPES = ("float32", "bfloat16", "float16", "int32", "uint8", "int16")


# load, store, copy, cast.


@on_all
@pytest.mark.parametrize("dtype", DTYPES)
def test_load_and_store_move_bits(target: str, dtype: str) -> None:
    x = numbers((128, 33), 1, 50, dtype)

    def kernel(a: Any) -> Any:
        out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
        nl.store(dst=out[:, 3:], value=nl.load(a[:, 3:]))
        nl.store(out[:, :3], nl.load(src=a)[:, :3])
        return out

    same_bits(nki.simulate(kernel, target=target)(x), x)


@on_all
def test_load_and_store_cast_once(target: str) -> None:
    x = numbers((16, 8), 2)

    def kernel(a: Any) -> Any:
        out = nl.ndarray(a.shape, nl.float16, buffer=nl.shared_hbm)
        nl.store(out, nl.load(a, dtype=nl.bfloat16))
        return out

    got = nki.simulate(kernel, target=target)(x)
    same_bits(got, x.astype(BF16).astype(np.float16))


def test_load_of_one_axis_is_a_column() -> None:
    def kernel(a: Any) -> Any:
        out = nl.ndarray((5, 1), a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(a))
        return out

    x = numbers((5,))
    same_bits(nki.jit(kernel)(x), x[:, None])


def test_load_wants_hbm_and_store_a_tile() -> None:
    x = numbers((4, 4))
    assert refused(nl.load, x).id == "operand.buffer"

    def backwards(t: Any) -> Any:
        nl.store(t, t)
        return t

    assert refused(backwards, x).id == "operand.buffer"

    def kernel(a: Any) -> Any:
        out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
        nl.store(out, 0.0)
        return out

    with pytest.raises(TypeError, match="value must be a tensor"):
        nki.jit(kernel)(x)


def test_store_from_psum_is_refused_from_api_0_3_on() -> None:
    def kernel(a: Any) -> Any:
        out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
        tile = nl.zeros(a.shape, a.dtype, buffer=nl.psum)
        nl.store(out, tile)
        return out

    x = numbers((4, 4))
    with pytest.raises(trnemu.Fault) as caught:
        nki.jit(kernel)(x)
    assert caught.value.id == "dma_copy.psum"
    assert (nki.simulate(kernel, api="0.2")(x) == 0).all()


def test_load_of_more_than_128_partitions_is_refused() -> None:
    fault = refused(lambda t: t, numbers((129, 4)))
    assert fault.category == "illegal"
    assert "128" in fault.message


@on_all
def test_copy_moves_bits_from_api_0_6_on(target: str) -> None:
    """2**24 + 1 shows whether float32 was in between."""
    x = np.array([[2**24 + 1, -(2**31), 7]], np.int32)
    same_bits(apply(nl.copy, x, target=target), x)
    assert opcodes(nl.copy, x, target=target)[1:-1] == ["TensorCopy"]


def test_copy_goes_through_float32_before_api_0_6() -> None:
    x = np.array([[2**24 + 1, 7]], np.int32)
    got = apply(nl.copy, x, api="0.5", warns=("integer.through_fp32",))
    same_bits(got, np.array([[2**24, 7]], np.int32))
    assert opcodes(nl.copy, x, api="0.5")[1:-1] == ["Activate"]


def test_copy_is_in_sbuf_from_api_0_6_on_and_beside_x_before() -> None:
    def where(t: Any) -> Any:
        tile = nl.zeros((4, 4), nl.float32, buffer=nl.psum)
        seen.append(nl.copy(tile).buffer)
        return t

    for api in ("0.6", "0.5"):
        seen: list[Any] = []
        apply(where, numbers((4, 4)), api=api)
        assert seen == [nl.sbuf if api == "0.6" else nl.psum]


@on_all
def test_copy_and_cast_round_to_dtype(target: str) -> None:
    x = numbers((16, 8), 3, 100)
    got = apply(lambda t: nl.copy(t, dtype=nl.bfloat16), x, target=target)
    same_bits(got, x.astype(BF16))
    got = apply(lambda t: nl.cast(t, nl.int32), x, target=target)
    same_bits(got, np.rint(x).astype(np.int32))


# transposes, matmul.


@on_all
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint16"])
def test_load_transpose2d_moves_bits(target: str, dtype: str) -> None:
    x = numbers((40, 128), 4, 50, dtype)

    def kernel(a: Any) -> Any:
        out = nl.ndarray((128, 40), a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load_transpose2d(a))
        return out

    same_bits(nki.simulate(kernel, target=target)(x), x.T)


def test_load_transpose2d_casts_after_it() -> None:
    def kernel(a: Any) -> Any:
        out = nl.ndarray((8, 4), nl.bfloat16, buffer=nl.shared_hbm)
        nl.store(out, nl.load_transpose2d(a, dtype=nl.bfloat16))
        return out

    x = numbers((4, 8))
    same_bits(nki.jit(kernel)(x), x.T.astype(BF16))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_transpose_moves_bits_into_psum(target: str, dtype: str) -> None:
    x = numbers((128, 100), 5, 1, dtype)
    x[3, 4] = np.nan
    same_bits(apply(nl.transpose, x, target=target), x.T)


def test_transpose_on_trn1_is_a_matmul() -> None:
    """bfloat16 times 1 is exact in it."""
    x = numbers((128, 100), 5, 1, BF16)
    same_bits(apply(nl.transpose, x, target="trn1"), x.T)


@on_all
def test_transpose_casts_after_it_and_stays_in_psum(target: str) -> None:
    def check(t: Any) -> Any:
        turned = nl.transpose(t, dtype=nl.float32)
        assert turned.buffer == nl.psum and turned.shape == (8, 16)
        return turned

    x = numbers((16, 8), 6, 1, BF16)
    same_bits(apply(check, x, target=target), x.T.astype(np.float32))


def test_transpose_refuses_what_the_tensor_engine_does() -> None:
    assert refused(nl.transpose, numbers((4, 2, 2))).id == "nki.shape"
    x = numbers((4, 4), 7, 9, "int32")
    assert refused(nl.transpose, x).id == "nc_transpose.tensor_integers"
    x = numbers((4, 4))
    fault = refused(nl.transpose, x, psum=(0,))
    assert fault.id == "nc_transpose.tensor_memories"


@on_all
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_matmul_with_and_without_transposing_x(target: str, dtype: str) -> None:
    """Small integers: every order of sums gives the same."""
    rng = np.random.default_rng(8)
    x = rng.integers(-8, 8, (96, 128)).astype(dtype)
    y = rng.integers(-8, 8, (128, 512)).astype(dtype)
    expected = np.float32(x) @ np.float32(y)
    got = apply(nl.matmul, x, y, target=target)
    same_bits(got, expected)
    got = apply(
        lambda a, b: nl.matmul(a, b, transpose_x=True),
        np.ascontiguousarray(x.T),
        y,
        target=target,
    )
    same_bits(got, expected)


def test_matmul_gives_float32_in_psum() -> None:
    def check(a: Any, b: Any) -> Any:
        product = nl.matmul(a, b)
        assert product.buffer == nl.psum and product.dtype == nl.float32
        return product

    x = np.ones((4, 4), BF16)
    assert (apply(check, x, x) == 4).all()


def test_matmul_of_shapes_without_a_product_is_refused() -> None:
    fault = refused(nl.matmul, numbers((4, 8)), numbers((4, 8)))
    assert fault.id == "nki.shape" and "x @ y" in fault.message
    with pytest.raises(trnemu.Fault, match="moving has a free size of 600"):
        apply(nl.matmul, numbers((8, 8)), numbers((8, 600)))


# Gather, where, dropout.


@on_all
@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint8"])
def test_gather_flattened_picks_by_partition(target: str, dtype: str) -> None:
    data = numbers((16, 4, 5), 9, dtype=BF16)
    indices = np.random.default_rng(9).integers(0, 20, (16, 7)).astype(dtype)
    expected = np.take_along_axis(
        data.reshape(16, 20), indices.astype(np.int64), 1
    )
    got = apply(nl.gather_flattened, data, indices, target=target)
    same_bits(got, expected)
    got = apply(
        lambda d, i: nl.gather_flattened(d, i[:, ::2], dtype=nl.float32),
        data,
        indices,
    )
    same_bits(got, expected[:, ::2].astype(np.float32))


def test_gather_flattened_refuses_negative_indices_and_other_axes() -> None:
    data, indices = numbers((4, 8)), np.full((4, 1), -1, np.int32)
    fault = refused(nl.gather_flattened, data, indices)
    assert fault.category == "out_of_bounds"
    fault = refused(lambda d, i: nl.gather_flattened(d, i, 1), data, indices)
    assert fault.id == "nki.shape"


@on_all
def test_where_selects_tiles(target: str) -> None:
    condition = (numbers((32, 16), 10) > 0).astype(np.float32)
    x, y = numbers((32, 16), 11), numbers((32, 16), 12)
    got = apply(nl.where, condition, x, y, target=target)
    same_bits(got, np.where(condition, x, y))
    got = apply(nl.where, condition.astype(np.uint8), x, y, target=target)
    same_bits(got, np.where(condition, x, y))
    got = apply(nl.where, condition, x, y.astype(BF16), target=target)
    same_bits(got, np.where(condition, x, y.astype(BF16).astype("f4")))
    got = apply(
        lambda c, a, b: nl.where(c, a, b, dtype=nl.bfloat16), condition, x, y
    )
    same_bits(got, np.where(condition, x, y).astype(BF16))


def test_where_takes_every_nonzero_condition_as_true() -> None:
    condition = np.array([[0.25, -0.0, 0, np.nan, -3]], np.float32)
    x, y = np.full((1, 5), 1, "f4"), np.full((1, 5), 2, "f4")
    same_bits(
        apply(nl.where, condition, x, y), np.array([[1, 2, 2, 1, 1]], "f4")
    )


@on_all
def test_where_takes_numbers_and_broadcasts_free_axes(target: str) -> None:
    condition = (numbers((8, 6), 13) > 0).astype(np.float32)
    x = numbers((8, 1), 14)
    got = apply(lambda c, a: nl.where(c, a, -1.5), condition, x, target=target)
    same_bits(got, np.where(condition, x, np.float32(-1.5)))
    got = apply(lambda c: nl.where(c, 1, 0), condition, target=target)
    same_bits(got, condition)
    got = apply(
        lambda c, a: nl.where(c[:, 0:1], 0.0, a), condition, numbers((8, 6))
    )
    same_bits(got, np.where(condition[:, :1], np.float32(0), numbers((8, 6))))


@on_all
def test_dropout_zeroes_a_share_and_keeps_the_rest(target: str) -> None:
    """128 * 512 draws: 0.25 within six standard deviations of 0.0017."""
    x = np.full((128, 512), 3, BF16)
    got = apply(
        lambda t: nl.dropout(t, rate=0.25), x, target=target, warns=RNG
    )
    assert set(np.unique(got.astype(np.float32))) == {0, 3}
    assert abs((got == 0).mean() - 0.25) < 0.0102
    rates = np.repeat([[0.0], [1.0]], 64, 0).astype(np.float32)
    got = apply(
        lambda t, r: nl.dropout(t, r, dtype=nl.float32),
        x,
        rates,
        target=target,
        warns=RNG,
    )
    same_bits(got, np.float32(x) * (1 - rates))


# Views and broadcasting.


def test_expand_dims_is_a_view() -> None:
    def shapes(t: Any) -> Any:
        assert nl.expand_dims(t, 1).shape == (4, 1, 6)
        assert nl.expand_dims(t, axis=-1).shape == (4, 6, 1)
        return nl.add(nl.expand_dims(t, 2), 0.0)

    x = numbers((4, 6))
    same_bits(apply(shapes, x), x[:, :, None])
    assert opcodes(lambda t: nl.expand_dims(t, 1), x) == ["DmaCopy", "DmaCopy"]


@on_all
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("partitions", [1, 5, 32, 100, 128])
def test_one_partition_is_repeated_bit_by_bit(
    target: str, dtype: str, partitions: int
) -> None:
    x = numbers((1, 17), 15, 50, dtype)
    got = apply(
        lambda t: nl.broadcast_to(t, (partitions, 17)), x, target=target
    )
    same_bits(got, np.repeat(x, partitions, 0))


def test_a_repeated_partition_is_a_copy_of_bits() -> None:
    """A signalling NaN, an infinity and 1 + 2**-23, which a matmul by ones
    would not keep; and its own storage."""
    x = np.array([[0x7F800001, 0x7F800000, 0x3F800001]], np.uint32)

    def kernel(t: Any) -> Any:
        row = t.view(nl.float32)
        many = nl.broadcast_to(row, (128, 3))
        nisa.memset(dst=row, value=0.0)
        return many.view(nl.uint32)

    same_bits(apply(kernel, x), np.repeat(x, 128, 0))


@on_all
def test_free_axes_are_broadcast_by_a_view(target: str) -> None:
    x = numbers((8, 1, 5), 16)
    got = apply(
        lambda t: nl.copy(nl.broadcast_to(t, (8, 3, 5))), x, target=target
    )
    same_bits(got, np.broadcast_to(x, (8, 3, 5)))
    got = apply(
        lambda t: nl.copy(nl.broadcast_to(t[0:1], (64, 3, 5))), x, target=target
    )
    same_bits(got, np.broadcast_to(x[:1], (64, 3, 5)))


def test_broadcast_to_the_same_shape_is_x_itself() -> None:
    def check(t: Any) -> Any:
        assert nl.broadcast_to(t, (4, 6)) is t
        return nl.broadcast_to(t, (4, 6), dtype=nl.bfloat16)

    x = numbers((4, 6))
    same_bits(apply(check, x), x.astype(BF16))


@pytest.mark.parametrize("shape", [(4, 7), (8, 6), (1, 4, 6), (4,)])
def test_broadcast_to_what_does_not_fit_is_refused(
    shape: tuple[int, ...],
) -> None:
    fault = refused(lambda t: nl.broadcast_to(t, shape), numbers((4, 6)))
    assert fault.id == "nki.shape" and "(4, 6)" in fault.message
