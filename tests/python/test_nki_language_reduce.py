"""nki.language: reductions, softmax and rms_norm against NumPy."""

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

from trnemu.nki import language as nl

BF16 = ml_dtypes.bfloat16


def in_order(x: Any) -> Any:
    """The float32 sum of the last axis, one element after the other."""
    total = np.zeros(x.shape[:-1], np.float32)
    for k in range(x.shape[-1]):
        total = total + np.float32(x[..., k])
    return total


@on_all
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_the_last_axis(target: str, keepdims: bool) -> None:
    """On chip a tile has two axes: a (P, F) one reduces to (P, 1)."""
    x = numbers((128, 40), 1)

    def of(name: str) -> Any:
        return apply(
            lambda t: getattr(nl, name)(t, axis=1, keepdims=keepdims),
            x,
            target=target,
        )

    same_bits(of("sum"), in_order(x)[:, None])
    same_bits(of("max"), x.max(1, keepdims=True))
    same_bits(of("min"), x.min(1, keepdims=True))
    np.testing.assert_allclose(
        of("prod"), np.prod(np.float64(x), 1)[:, None], 1e-5
    )
    np.testing.assert_allclose(
        of("mean"), np.mean(np.float64(x), 1)[:, None], 1e-5, 1e-6
    )


@on_all
def test_reductions_over_the_last_axes_of_several(target: str) -> None:
    x = np.round(numbers((8, 3, 4, 5), 2, 30))
    for axis in (3, [2, 3], (1, 2, 3), -1, (-2, -1)):
        axes = tuple(np.atleast_1d(axis) % 4)
        expected = x.sum(axes)
        if expected.ndim == 1:
            expected = expected[:, None]
        got = apply(lambda t, a=axis: nl.sum(t, a), x, target=target)
        same_bits(got, expected)
        got = apply(lambda t, a=axis: nl.max(t, a, keepdims=True), x)
        same_bits(got, x.max(axes, keepdims=True))


@on_all
def test_pooling_by_an_access_pattern_of_four_free_axes(target: str) -> None:
    """(2, 6, 6) in windows of 2 x 2: [step, count] pairs 12 rows, 2 columns,
    then 6 and 1 inside the window."""
    x = np.round(numbers((2, 6, 6), 3, 30))

    def pool(t: Any) -> Any:
        windows = t.ap([[36, 2], [12, 3], [2, 3], [6, 2], [1, 2]])
        return nl.sum(windows, axis=[3, 4])

    expected = x.reshape(2, 3, 2, 3, 2).sum((2, 4))
    same_bits(apply(pool, x, target=target), expected)


@on_all
def test_sums_are_float32_and_cast_once(target: str) -> None:
    x = np.full((4, 300), 1.0, BF16)
    same_bits(
        apply(lambda t: nl.sum(t, 1), x, target=target),
        np.full((4, 1), 300, BF16),
    )
    got = apply(lambda t: nl.sum(t, 1, dtype=nl.float32), x * BF16(1.25))
    same_bits(got, np.full((4, 1), 375, np.float32))
    got = apply(lambda t: nl.mean(t, 1, dtype=nl.float32), x * BF16(3))
    np.testing.assert_allclose(got, 3, 1e-6)


@on_all
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_all_is_whether_every_element_is_nonzero(
    target: str, dtype: str
) -> None:
    x = np.array([[1, 2, 3], [1, 0, 3], [0, 0, 0], [7, 7, 7]], dtype)
    same_bits(
        apply(lambda t: nl.all(t, axis=1), x, target=target),
        np.array([[1], [0], [0], [1]], dtype),
    )
    same_bits(
        apply(lambda t: nl.all(t[:, 2:3], 1, dtype=nl.uint8), x),
        np.array([[1], [1], [0], [1]], np.uint8),
    )


@on_all
@pytest.mark.parametrize("size", [2, 40, 512, 513, 1500])
def test_variance_of_any_length(target: str, size: int) -> None:
    """bn_stats takes 512 elements; longer rows are several."""
    x = numbers((16, size), 4) + np.float32(3)
    got = apply(lambda t: nl.var(t, axis=1), x, target=target)
    expected = np.var(np.float64(x), 1)[:, None]
    np.testing.assert_allclose(got, expected, 2e-5)
    assert got.shape == (16, 1)


def test_variance_is_bn_stats_and_bn_aggr() -> None:
    x = numbers((4, 600))
    names = opcodes(lambda t: nl.var(t, axis=1), x)
    assert names[1:-1] == ["BnStats", "BnStats", "BnAggr", "TensorCopy"]


@on_all
def test_variance_keeps_axes_before_the_reduced_ones(target: str) -> None:
    x = numbers((8, 3, 4, 5), 5)
    for axis in (3, (2, 3), (1, 2, 3)):
        axes = tuple(np.atleast_1d(axis))
        got = apply(
            lambda t, a=axis: nl.var(t, a, dtype=nl.float32, keepdims=False),
            x,
            target=target,
        )
        expected = np.var(np.float64(x), axes, keepdims=True)
        np.testing.assert_allclose(got, expected, 2e-5)
        assert got.shape == expected.shape


def test_variance_of_one_element_is_0() -> None:
    x = numbers((4, 3, 1))
    assert (apply(lambda t: nl.var(t, 2), x) == 0).all()


@pytest.mark.parametrize("name", ["sum", "max", "mean", "var", "all"])
@pytest.mark.parametrize("axis", [0, 1, (0, 1, 2), (1, 3), []])
def test_axes_that_are_not_the_last_free_ones_are_refused(
    name: str, axis: Any
) -> None:
    x = numbers((4, 3, 2))
    fault = refused(lambda t: getattr(nl, name)(t, axis), x)
    assert fault.id == "tensor_reduce.axis"
    assert "partition axis 0" in fault.message


@on_all
def test_reductions_read_psum(target: str) -> None:
    x = numbers((128, 64), 6)
    for function in (
        lambda t: nl.sum(t, 1),
        lambda t: nl.var(t, 1),
        lambda t: nl.softmax(t),
        lambda t: nl.all(t, 1),
    ):
        same_bits(
            apply(function, x, psum=(0,), target=target),
            apply(function, x, target=target),
        )


def softmax(x: Any, axis: Any) -> Any:
    x = np.float64(x)
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@on_all
def test_softmax_of_rows(target: str) -> None:
    x = numbers((128, 512), 7, 8)
    got = apply(nl.softmax, x, target=target)
    np.testing.assert_allclose(got, softmax(x, 1), 1e-5, 1e-30)
    got = apply(lambda t: nl.softmax(t, axis=1), x + 300)
    np.testing.assert_allclose(got, softmax(x + np.float32(300), 1), 1e-5)


@on_all
def test_softmax_of_the_last_axes_of_several(target: str) -> None:
    x = numbers((16, 3, 4, 5), 8)
    for axis in (3, (2, 3), (1, 2, 3), -1):
        got = apply(lambda t, a=axis: nl.softmax(t, axis=a), x, target=target)
        axes = tuple(np.atleast_1d(axis) % 4)
        np.testing.assert_allclose(got, softmax(x, axes), 1e-5)


@on_all
def test_softmax_has_float32_inside_and_rounds_once(target: str) -> None:
    x = numbers((32, 64), 9, 2, BF16)
    wide = apply(lambda t: nl.softmax(t, dtype=nl.float32), x, target=target)
    np.testing.assert_allclose(wide, softmax(x, 1), 1e-5)
    same_bits(apply(nl.softmax, x, target=target), wide.astype(BF16))


def rms(x: Any, w: Any, n: int, epsilon: float) -> Any:
    x, w = np.float64(x), np.float64(w)
    return x / np.sqrt((x * x).sum(1, keepdims=True) / n + epsilon) * w


@on_all
def test_rms_norm_with_weights_for_each_element(target: str) -> None:
    x, w = numbers((64, 96), 10), numbers((64, 96), 11)
    got = apply(
        lambda a, b: nl.rms_norm(a, b, axis=1, n=96), x, w, target=target
    )
    np.testing.assert_allclose(got, rms(x, w, 96, 1e-6), 2e-6)
    got = apply(
        lambda a, b: nl.rms_norm(a, b, axis=-1, n=50, epsilon=0.5), x, w
    )
    np.testing.assert_allclose(got, rms(x, w, 50, 0.5), 2e-6)


@on_all
def test_rms_norm_with_one_row_of_weights_repeated(target: str) -> None:
    x, w = numbers((64, 96), 12, dtype=BF16), numbers((1, 96), 13, dtype=BF16)

    def norm(a: Any, b: Any) -> Any:
        weights = nl.broadcast_to(b, a.shape)
        return nl.rms_norm(a, weights, 1, 96, dtype=nl.float32)

    got = apply(norm, x, w, target=target)
    np.testing.assert_allclose(got, rms(x, w, 96, 1e-6), 2e-6)


def test_rms_norm_rounds_every_result_to_compute_dtype() -> None:
    """bfloat16(...) below is what one instruction writes."""
    x, w = numbers((8, 64), 14), np.ones((8, 64), np.float32)
    got = apply(
        lambda a, b: nl.rms_norm(a, b, 1, 64, compute_dtype=nl.bfloat16), x, w
    )
    total = in_order((x * x).astype(BF16)).astype(BF16)
    moment = np.float32(total) * np.float32(1 / 64) + np.float32(1e-6)
    root = (1 / np.sqrt(np.float64(moment.astype(BF16)))).astype(BF16)
    scaled = (x * np.float32(root)[:, None]).astype(BF16)
    same_bits(got, scaled.astype(np.float32))


def test_rms_norm_needs_a_positive_count() -> None:
    x = numbers((8, 64))
    with pytest.raises(ValueError, match="n must be a positive number"):
        apply(lambda a: nl.rms_norm(a, a, 1, 0), x)
