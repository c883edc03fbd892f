"""Wrappers that move, transpose, multiply and select data.

Each returns a new tile in SBUF unless it says otherwise, of its input's dtype
unless `dtype` is given.

Sources: nki/api/nki/language/__init__.py:1478-2700 for what they give, with a
line where one is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trnemu._dtype import Dtype
from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import refuse
from trnemu.nki.language._create import ndarray
from trnemu.nki.language._operands import (
    INTEGERS,
    broadcast,
    common_shape,
    copied,
    is_stored_as,
    misfit,
    new,
    scalar_op,
    tensor,
    tile,
    tile_or_number,
)
from trnemu.nki.language._tokens import (
    dtype_of,
    float32,
    int32,
    is_hbm,
    op,
    psum,
    uint8,
    uint16,
    uint32,
)


def _in_hbm(operation: str, operand: str, value: Any) -> NkiTensor:
    found = tensor(operation, operand, value)
    if not is_hbm(found.buffer):
        refuse(
            "illegal",
            "operand.buffer",
            f"nl.{operation}: {operand} ('{found.name}') must be in hbm, but "
            f"it is in {found.buffer.value}",
            operation=f"nl.{operation}",
            operand=operand,
            remedy="nl.copy, nisa.tensor_copy and nisa.dma_copy copy tiles",
        )
    return found


def load(src: Any, dtype: Any = None) -> NkiTensor:
    """A tile with the values of an HBM tensor: dma_copy.

    src: at most 128 along axis 0; one axis becomes (n, 1). dtype: cast to
    while copying. Fault: src on chip, more partitions.
    """
    data = _in_hbm("load", "src", src)
    dst = new(data.shape, dtype or data.dtype)
    _trace.current().add("dma_copy", dst=dst, src=data)
    return dst


def store(dst: Any, value: Any) -> None:
    """Writes a tile to an HBM tensor of as many elements: dma_copy, which
    casts. Fault: dst on chip; value in PSUM, from API 0.3 on."""
    target = _in_hbm("store", "dst", dst)
    data = tile("store", "value", value)
    _trace.current().add("dma_copy", dst=target, src=data)


def load_transpose2d(src: Any, dtype: Any = None) -> NkiTensor:
    """A tile with the transpose of a two-dimensional HBM tensor:
    dma_transpose, of 2- and 4-byte types; a cast is a tensor_copy after it."""
    data = _in_hbm("load_transpose2d", "src", src)
    if data.ndim != 2:
        misfit(
            "load_transpose2d",
            f"src has shape {tuple(data.shape)}; it must have two axes",
            operand="src",
        )
    dst = new(data.shape[::-1], data.dtype)
    _trace.current().add("dma_transpose", dst=dst, src=data)
    return _as(dst, dtype)


def _as(x: NkiTensor, dtype: Any) -> NkiTensor:
    """x, or a copy in `dtype` if that is another."""
    return x if is_stored_as(dtype, x.dtype) else copied(x, dtype)


@op
def copy(x: Any, dtype: Any = None) -> NkiTensor:
    """A copy of a tile in SBUF or PSUM.

    From API 0.6 on tensor_copy into SBUF, of bits where dtypes are equal.
    Before, an activation, through float32 (inexact for int32 above 2**24),
    into the memory that x is in.
    Source: nki/api/nki/language/__init__.py:1478, and its page of 0.5.
    """
    data = tile("copy", "x", x)
    trace = _trace.current()
    if trace.api >= (0, 6):
        return copied(data, dtype or data.dtype)
    dst = ndarray(data.shape, dtype or data.dtype, data.buffer)
    trace.add("activation", dst=dst, op="copy", data=data)
    return dst


def cast(x: Any, dtype: Any) -> NkiTensor:
    """x in another dtype: tensor_copy on the vector engine."""
    return copied(tile("cast", "x", x), dtype)


def transpose(x: Any, dtype: Any = None) -> NkiTensor:
    """The transpose of a (P, F) tile in SBUF, in PSUM: nc_transpose on the
    tensor engine; another dtype is a tensor_copy after it, into PSUM as well.

    Fault: more than two axes, F above 128, x in PSUM, integers.
    """
    data = tile("transpose", "x", x)
    if data.ndim != 2:
        misfit(
            "transpose",
            f"x has shape {tuple(data.shape)}; it must have two axes",
            operand="x",
        )
    dst = ndarray(data.shape[::-1], data.dtype, psum)
    _trace.current().add("nc_transpose", dst=dst, data=data, engine="tensor")
    if is_stored_as(dtype, dst.dtype):
        return dst
    return copied(dst, None, dst=ndarray(dst.shape, dtype, psum))


def matmul(x: Any, y: Any, transpose_x: bool = False) -> NkiTensor:
    """x @ y, or x.T @ y with transpose_x: a float32 tile in PSUM.

    x, y: tiles in SBUF, of (M, K), or (K, M) with transpose_x, and (K, N); K
    and M at most 128, N at most 512 (on trn3 4096). Without transpose_x,
    nc_transpose and a copy to SBUF come before nc_matmul.
    """
    left = tile("matmul", "x", x)
    right = tile("matmul", "y", y)
    trace = _trace.current()
    if left.ndim != 2 or right.ndim != 2:
        misfit(
            "matmul",
            f"x has shape {tuple(left.shape)} and y {tuple(right.shape)}; "
            "both must have two axes",
        )
    if left.shape[0 if transpose_x else 1] != right.shape[0]:
        misfit(
            "matmul",
            f"x has shape {tuple(left.shape)} and y {tuple(right.shape)}, so "
            f"that {'x.T' if transpose_x else 'x'} @ y has no meaning",
            operand="y",
        )
    if not transpose_x:
        turned = ndarray(left.shape[::-1], left.dtype, psum, "matmul.turned")
        trace.add("nc_transpose", dst=turned, data=left, engine="tensor")
        left = copied(turned, left.dtype, "matmul.x")
    dst = ndarray((left.shape[1], right.shape[1]), float32, psum)
    trace.add("nc_matmul", dst=dst, stationary=left, moving=right)
    return dst


def _as_indices(indices: NkiTensor) -> NkiTensor:
    """An integer tile as uint32, which nc_n_gather takes. A negative index
    becomes a large one, which it refuses."""
    if indices.dtype == uint32 or indices.dtype not in INTEGERS:
        return indices
    if indices.dtype != int32 or indices.is_indirect():
        indices = copied(indices, int32, "gather_flattened.indices")
    view: NkiTensor = indices.view(uint32)
    return view


def gather_flattened(
    data: Any, indices: Any, axis: int = 0, dtype: Any = None
) -> NkiTensor:
    """Per partition, the elements of data's flattened free axes at the
    positions in `indices`: nc_n_gather, of indices' shape.

    indices: an integer tile. Fault: an axis other than 0; at the run, an
    index outside of data.
    """
    source = tile("gather_flattened", "data", data)
    positions = tile("gather_flattened", "indices", indices)
    if axis != 0:
        misfit(
            "gather_flattened",
            f"axis must be 0, not {axis!r}: each partition gathers from its "
            "own elements",
            operand="axis",
        )
    dst = new(positions.shape, source.dtype)
    _trace.current().add(
        "nc_n_gather", dst=dst, data=source, indices=_as_indices(positions)
    )
    return _as(dst, dtype)


def _check_held(
    operation: str, operand: str, number: float, kind: Dtype
) -> None:
    """Refuses a number that an integer dtype does not hold."""
    if kind not in INTEGERS:
        return
    limits = np.iinfo(kind.numpy)
    if limits.min <= number <= limits.max and number % 1 == 0:
        return
    refuse(
        "illegal",
        "nki.inexact_number",
        f"nl.{operation}: {operand} is {number}, which {kind}, the dtype of "
        "the result, does not hold",
        operation=f"nl.{operation}",
        operand=operand,
        remedy="dtype=nl.float32, or a whole number",
    )


def where(condition: Any, x: Any, y: Any, dtype: Any = None) -> NkiTensor:
    """x where the condition is not 0, else y: a copy of y, overwritten by
    tensor_copy_predicated.

    condition: a tile, usually of 1 and 0. x, y: tiles of its shape, or of
    size 1 along free axes, or numbers. dtype: of the result; unless given
    that of x, of y or of the condition, the first that is a tile.
    """
    chosen = tile("where", "condition", condition)
    yes = tile_or_number("where", "x", x)
    no = tile_or_number("where", "y", y)
    tiles = {"condition": chosen}
    for name, value in (("x", yes), ("y", no)):
        if isinstance(value, NkiTensor):
            tiles[name] = value
    shape = common_shape("where", tiles)
    kind = dtype or tiles.get("x", tiles.get("y", chosen)).dtype
    if not isinstance(yes, NkiTensor):
        _check_held("where", "x", yes, dtype_of(kind))
    trace = _trace.current()
    if chosen.dtype not in (uint8, uint16, uint32):
        chosen = scalar_op(
            chosen, "not_equal", 0.0, dtype=uint8, name="where.condition"
        )
    dst = new(shape, kind)
    if isinstance(no, NkiTensor):
        copied(broadcast(no, shape), None, dst=dst)
    else:
        trace.add("memset", dst=dst, value=no)
    if isinstance(yes, NkiTensor):
        if yes.dtype != dst.dtype:
            yes = copied(yes, dst.dtype, "where.x")
        yes = broadcast(yes, shape)
    trace.add(
        "tensor_copy_predicated",
        dst=dst,
        src=yes,
        predicate=broadcast(chosen, shape),
    )
    return dst


def dropout(x: Any, rate: Any, dtype: Any = None) -> NkiTensor:
    """x with elements made 0 at random, nothing rescaled: nisa.dropout.

    rate: how likely that is, a number or a (P, 1) tile.
    """
    data = tile("dropout", "x", x)
    dst = new(data.shape, data.dtype)
    prob = tile_or_number("dropout", "rate", rate)
    _trace.current().add("dropout", dst=dst, data=data, prob=prob)
    return _as(dst, dtype)


def expand_dims(x: Any, axis: int) -> NkiTensor:
    """A view of x with a new axis of size 1 at `axis`; on chip not the
    first."""
    data = tensor("expand_dims", "x", x)
    dim = axis + data.ndim + 1 if axis < 0 else axis
    view: NkiTensor = data.expand_dim(dim)
    return view


def broadcast_to(x: Any, shape: Sequence[int], dtype: Any = None) -> NkiTensor:
    """x repeated to `shape`, of as many axes, along its axes of size 1.

    Along free axes the result is a view. One partition becomes several by
    nc_stream_shuffle, an instruction for each 32 of them, which moves bits on
    the vector engine (a matmul with ones would round). The same shape: x
    itself. dtype: a cast copy comes first.
    """
    data = tile("broadcast_to", "x", x)
    wanted = tuple(shape)
    have = tuple(data.shape)
    if len(wanted) != len(have) or any(
        h not in (1, w) for h, w in zip(have, wanted, strict=True)
    ):
        misfit(
            "broadcast_to",
            f"a tile of shape {have} does not broadcast to {wanted}",
            operand="shape",
            remedy="reshape or expand_dim it to as many axes, each of size 1 "
            "or the one wanted",
        )
    data = _as(data, dtype)
    if have[0] != wanted[0]:
        data = _on_partitions(data, wanted[0])
    return broadcast(data, wanted)


def _on_partitions(row: NkiTensor, partitions: int) -> NkiTensor:
    """A (1, ...) tile on each of `partitions` partitions."""
    dst = new((partitions, *row.shape[1:]), row.dtype)
    for start in range(0, partitions, 32):
        _trace.current().add(
            "nc_stream_shuffle",
            dst=dst[start : min(start + 32, partitions)],
            src=row,
            shuffle_mask=[0] * 32,
        )
    return dst


__all__ = [
    "broadcast_to",
    "cast",
    "copy",
    "dropout",
    "expand_dims",
    "gather_flattened",
    "load",
    "load_transpose2d",
    "matmul",
    "store",
    "transpose",
    "where",
]
