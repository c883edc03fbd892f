"""triton-viz's example kernels with sizes, arguments and NumPy references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One example kernel.

    file, function: where it is. sizes: the example's own first.
    arguments(size, rng): what the kernel is called with. outputs: positions
    of the arrays it writes. reference(*arguments): what should be there.
    rtol: of the largest magnitude of the reference. named: one of the four
    that the issue names; the geometric mean is over these, and over all.
    """

    name: str
    file: str
    function: str
    sizes: tuple[tuple[int, ...], ...]
    arguments: Callable[..., tuple[Any, ...]]
    outputs: tuple[int, ...]
    reference: Callable[..., tuple[Array, ...]]
    rtol: float = 2e-5
    named: bool = True


def _normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=np.float32)


def _blank(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


def _matmul(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    m, k, n = size
    return _normal(rng, k, m), _normal(rng, k, n), _blank(m, n)


def _matmul_reference(lhs_t: Array, rhs: Array, _: Array) -> tuple[Array]:
    return (lhs_t.astype(np.float64).T @ rhs,)


def _softmax(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    return _normal(rng, *size), _blank(*size)


def _softmax_of(x: Array) -> Array:
    exp = np.exp(x - x.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)


def _softmax_reference(x: Array, _: Array) -> tuple[Array]:
    return (_softmax_of(x.astype(np.float64)),)


def _rmsnorm(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    return _normal(rng, *size), _normal(rng, *size), _blank(*size)


def _rmsnorm_reference(x: Array, gamma: Array, _: Array) -> tuple[Array]:
    x = x.astype(np.float64)
    mean = np.mean(x * x, axis=1, keepdims=True)
    return (x / np.sqrt(mean + 1e-6) * gamma,)


def _attention(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    batch, heads, m, n, d, dv = size
    q, k = _normal(rng, batch, heads, m, d), _normal(rng, batch, heads, n, d)
    v, out = _normal(rng, batch, heads, n, dv), _blank(batch, heads, m, dv)
    return q, k, v, out, batch, heads, heads, heads, m, n, d, dv


def _attention_reference(q: Array, k: Array, v: Array, *_: Any) -> tuple[Array]:
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2)
    return (_softmax_of(scores / np.sqrt(q.shape[-1])) @ v,)


def _mlp(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    batch, inner, hidden, out = size
    return (
        _normal(rng, inner, batch),
        _normal(rng, inner, hidden),
        _normal(rng, hidden, out),
        _blank(batch, out),
    )


def _mlp_reference(x_t: Array, w1: Array, w2: Array, _: Array) -> tuple[Array]:
    return (np.maximum(x_t.astype(np.float64).T @ w1, 0.0) @ w2,)


def _rope(size: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    batch, heads, length, dim = size
    angle = np.outer(np.arange(length), 1e4 ** (-np.arange(0, dim, 2) / dim))
    angle = np.concatenate([angle, angle], axis=1)
    arrays = [_normal(rng, *size), _normal(rng, *size)]
    arrays += [np.cos(angle).astype(np.float32)]
    arrays += [np.sin(angle).astype(np.float32)]
    return (*arrays, _blank(*size), _blank(*size), *size)


def _rope_reference(
    q: Array, k: Array, cos: Array, sin: Array, *_: Any
) -> tuple[Array, ...]:
    def turned(x: Array) -> Array:
        low, high = np.split(x.astype(np.float64), 2, axis=-1)
        return x * cos + np.concatenate([-high, low], axis=-1) * sin

    return turned(q), turned(k)


CASES = (
    Case(
        "matmul", "matmul", "matmul_kernel",
        ((128, 128, 512), (512, 512, 1024), (1024, 1024, 2048), (2048,) * 3),
        _matmul, (2,), _matmul_reference,
    ),
    Case(
        "softmax", "softmax", "softmax_kernel",
        ((256, 64), (512, 512), (1024, 2048), (4096, 1024)),
        _softmax, (1,), _softmax_reference,
    ),
    Case(
        "rmsnorm", "rmsnorm", "rmsnorm_kernel",
        ((256, 128), (512, 512), (1024, 2048), (4096, 1024)),
        _rmsnorm, (2,), _rmsnorm_reference,
    ),
    Case(
        "attention", "tiled_attention", "tiled_attention_kernel",
        ((2, 2, 128, 128, 128, 64), (1, 4, 256, 512, 128, 128),
         (1, 8, 512, 1024, 128, 128), (1, 8, 1024, 2048, 128, 128)),
        _attention, (3,), _attention_reference,
    ),
    Case(
        "mlp", "mlp", "mlp_kernel",
        ((256, 256, 256, 512), (512, 512, 1024, 1024)),
        _mlp, (3,), _mlp_reference, named=False,
    ),
    Case(
        "rope", "rope", "rope_kernel",
        ((1, 4, 128, 64), (2, 8, 512, 128)),
        _rope, (4, 5), _rope_reference, named=False,
    ),
)
