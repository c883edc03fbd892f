"""Wrappers that make tensors with values: constants, random numbers.

A tensor in HBM is filled by way of tiles: no instruction but a DMA writes it.

Sources: nki/api/nki/language/__init__.py:2053-2140, 2556, 2635, 2675.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import refuse
from trnemu.nki.language._create import ndarray, shared_constant
from trnemu.nki.language._operands import (
    misfit,
    new,
    scalar_op,
    tensor,
    tile,
)
from trnemu.nki.language._tokens import (
    dtype_of,
    float32,
    is_hbm,
    sbuf,
    uint8,
    uint32,
)

_HBM_COLUMNS = 2048  # elements of a partition of what goes to HBM at a time


def _parts(x: NkiTensor) -> Iterator[NkiTensor]:
    """An HBM tensor's elements in (P, F) parts that fit a tile."""
    flat = x.reshape((x.size,))
    columns = min(x.size, _HBM_COLUMNS)
    start = 0
    while start < x.size:
        left = x.size - start
        rows = min(128, left // columns)
        count = rows * columns if rows else left
        part = flat[start : start + count]
        yield part.reshape((rows, columns) if rows else (1, left))
        start += count


def _made(
    shape: Sequence[int],
    dtype: Any,
    buffer: Any,
    name: str,
    fill: Callable[[NkiTensor], Any],
    same: bool,
) -> NkiTensor:
    """A new tensor that `fill` fills; one in HBM by way of tiles, which have
    the same values throughout if `same`."""
    x = ndarray(shape, dtype, buffer, name)
    if not is_hbm(x.buffer):
        fill(x)
        return x
    tiles: dict[Any, NkiTensor] = {}
    for part in _parts(x):
        key = tuple(part.shape)
        if not same or key not in tiles:
            tiles[key] = new(key, x.dtype, f"{x.name}.values")
            fill(tiles[key])
        _trace.current().add("dma_copy", dst=part, src=tiles[key])
    return x


def full(
    shape: Sequence[int],
    fill_value: Any,
    dtype: Any,
    buffer: Any = sbuf,
    name: str = "",
) -> NkiTensor:
    """A new tensor of one value: memset; in HBM memset of a tile, and DMA.

    Fault: a value that an integer dtype does not hold.
    """
    trace = _trace.current()

    def fill(dst: NkiTensor) -> None:
        trace.add("memset", dst=dst, value=fill_value)

    return _made(shape, dtype, buffer, name, fill, True)


def zeros(
    shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = ""
) -> NkiTensor:
    """A new tensor of zeros; see nl.full."""
    return full(shape, 0, dtype, buffer, name)


def ones(
    shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = ""
) -> NkiTensor:
    """A new tensor of ones; see nl.full."""
    return full(shape, 1, dtype, buffer, name)


def zeros_like(
    x: Any, dtype: Any = None, buffer: Any = None, name: str = ""
) -> NkiTensor:
    """Zeros in the shape of x; dtype and buffer are x's unless given."""
    like = tensor("zeros_like", "x", x)
    return zeros(like.shape, dtype or like.dtype, buffer or like.buffer, name)


def empty_like(
    x: Any, dtype: Any = None, buffer: Any = None, name: str = ""
) -> NkiTensor:
    """A new tensor without values in the shape of x; dtype and buffer are
    x's unless given."""
    like = tensor("empty_like", "x", x)
    return ndarray(
        like.shape, dtype or like.dtype, buffer or like.buffer, name
    )


def shared_identity_matrix(
    n: int, dtype: Any = uint8, dst: Any = None
) -> NkiTensor:
    """The n x n identity, a constant of the program, copied to SBUF.

    The constant is one for all of a dtype and size. dst: a tile to copy it
    to, which is returned, instead of a new one.
    """
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(
            f"nl.shared_identity_matrix: n must be an int, not {n!r}"
        )
    if n < 1:
        misfit(
            "shared_identity_matrix",
            f"n must be at least 1, but it is {n}",
            operand="n",
            remedy="nl.shared_identity_matrix(128) is the largest",
        )
    identity = shared_constant(np.eye(n).astype(dtype_of(dtype).numpy))
    if dst is None:
        dst = new((n, n), dtype)
    elif tuple(tensor("shared_identity_matrix", "dst", dst).shape) != (n, n):
        misfit(
            "shared_identity_matrix",
            f"dst has shape {tuple(dst.shape)}; it must be {(n, n)}",
            operand="dst",
        )
    _trace.current().add("dma_copy", dst=dst, src=identity)
    result: NkiTensor = dst
    return result


# The largest values below 1 of floats that round 1 - 2**-24 up to it.
_BELOW_ONE = {
    "float16": 1 - 2.0**-11,
    "bfloat16": 1 - 2.0**-8,
    "tfloat32": 1 - 2.0**-11,
    "float8_e4m3": 1 - 2.0**-4,
    "float8_e4m3fn": 1 - 2.0**-4,
    "float8_e5m2": 1 - 2.0**-3,
}


def _uniform(dst: NkiTensor) -> None:
    """Fills a tile with numbers from 0 to below 1."""
    trace = _trace.current()
    below = _BELOW_ONE.get(str(dst.dtype))
    if trace.target == "trn3":
        # rand2 may give its upper end.
        if below is None:
            trace.add("rand2", dst=dst, min=0.0, max=1 - 2.0**-24)
            return
        wide = new(dst.shape, float32, "rand.wide")
        trace.add("rand2", dst=wide, min=0.0, max=1 - 2.0**-24)
        scalar_op(wide, "minimum", below, dst=dst)
        return
    bits = new(dst.shape, uint32, "rand.bits")
    trace.add("rng", dst=bits, engine="vector")
    scalar_op(bits, "right_shift", 8, dst=bits)
    limit: dict[str, Any] = {}
    if below is not None:
        limit = {"op1": "minimum", "operand1": below}
    scalar_op(bits, "multiply", 2.0**-24, dst=dst, **limit)


def rand(
    shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = ""
) -> NkiTensor:
    """A new tensor of uniform random numbers, 0 <= x < 1.

    On trn3 rand2; before, 24 bits of rng times 2**-24, both on the vector
    engine, which nl.random_seed seeds. Not the numbers of a device
    (docs/numerics.md). Fault: dtypes that are no floats.
    """
    kind = dtype_of(dtype)
    if kind != float32 and str(kind) not in _BELOW_ONE:
        refuse(
            "illegal",
            "operand.dtype",
            f"nl.rand: dtype cannot be {kind}; it takes float32, "
            + ", ".join(_BELOW_ONE),
            operation="nl.rand",
            operand="dtype",
        )
    return _made(shape, kind, buffer, name, _uniform, False)


def random_seed(seed: Any) -> None:
    """Seeds the vector engine's generator, which nl.rand and nl.dropout use:
    set_rng_seed. seed: a tile of one 32-bit element."""
    _trace.current().add(
        "set_rng_seed", src_seeds=tile("random_seed", "seed", seed)
    )


__all__ = [
    "empty_like",
    "full",
    "ones",
    "rand",
    "random_seed",
    "shared_identity_matrix",
    "zeros",
    "zeros_like",
]
