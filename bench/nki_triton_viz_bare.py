"""What an interpreter of these kernels cannot go below with NumPy.

The same tiles, the same steps as the example kernels' instructions, with every
buffer made beforehand and every result put into one: no kernel is interpreted,
nothing is checked, timed or recorded. triton-viz's time over this one bounds
the ratio that an emulator which executes instruction by instruction, with
arithmetic as fast as NumPy's, can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Bare = Callable[[], None]
ROWS, COLUMNS = 128, 512


def _tile(columns: int) -> Array:
    return np.zeros((ROWS, columns), np.float32)


def _matmul(lhs_t: Array, rhs: Array, out: Array) -> Bare:
    stationary, moving = _tile(ROWS), _tile(COLUMNS)
    product, psum, result = _tile(COLUMNS), _tile(COLUMNS), _tile(COLUMNS)
    (depth, m), n = lhs_t.shape, rhs.shape[1]

    def call() -> None:
        for i in range(0, m, ROWS):
            for j in range(0, n, COLUMNS):
                for k in range(0, depth, ROWS):
                    np.copyto(stationary, lhs_t[k:k + ROWS, i:i + ROWS])
                    np.copyto(moving, rhs[k:k + ROWS, j:j + COLUMNS])
                    if k == 0:
                        np.matmul(stationary.T, moving, out=psum)
                    else:
                        np.matmul(stationary.T, moving, out=product)
                        np.add(psum, product, out=psum)
                np.copyto(result, psum)
                np.copyto(out[i:i + ROWS, j:j + COLUMNS], result)

    return call


def _softmax(x: Array, out: Array) -> Bare:
    columns = x.shape[1]
    tile, exps, result = _tile(columns), _tile(columns), _tile(columns)
    top, total = _tile(1), _tile(1)

    def call() -> None:
        for i in range(0, x.shape[0], ROWS):
            np.copyto(tile, x[i:i + ROWS])
            np.max(tile, axis=1, keepdims=True, out=top)
            np.negative(top, out=top)
            np.add(tile, top, out=exps)
            np.exp(exps, out=exps)
            np.add.reduce(exps, axis=1, keepdims=True, out=total)
            np.reciprocal(total, out=total)
            np.multiply(exps, total, out=result)
            np.copyto(out[i:i + ROWS], result)

    return call


def _rmsnorm(x: Array, gamma: Array, out: Array) -> Bare:
    columns = x.shape[1]
    tile, scale, square = _tile(columns), _tile(columns), _tile(columns)
    norm, result, mean = _tile(columns), _tile(columns), _tile(1)

    def call() -> None:
        for i in range(0, x.shape[0], ROWS):
            np.copyto(tile, x[i:i + ROWS])
            np.copyto(scale, gamma[i:i + ROWS])
            np.multiply(tile, tile, out=square)
            np.add.reduce(square, axis=1, keepdims=True, out=mean)
            np.multiply(mean, 1 / columns, out=mean)
            np.add(mean, 1e-6, out=mean)
            np.sqrt(mean, out=mean)
            np.reciprocal(mean, out=mean)
            np.multiply(tile, mean, out=norm)
            np.multiply(norm, scale, out=result)
            np.copyto(out[i:i + ROWS], result)

    return call


BARE: dict[str, Callable[..., Bare]] = {
    "matmul": _matmul, "softmax": _softmax, "rmsnorm": _rmsnorm,
}
