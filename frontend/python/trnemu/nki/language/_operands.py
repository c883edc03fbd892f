"""What the wrappers of nki.language share: operands, new tiles, broadcasting.

A wrapper checks what its instructions cannot say for it (a tile in HBM, shapes
that NumPy would broadcast and an engine does not), allocates its result with
nl.ndarray and records the instructions, whose own rules say the rest: the
generation, the engine, dtypes, memories.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from trnemu._dtype import Dtype
from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import refuse
from trnemu.nki.language._create import ndarray
from trnemu.nki.language._tokens import (
    dtype_of,
    float32,
    int8,
    int16,
    int32,
    is_on_chip,
    uint8,
    uint16,
    uint32,
)

INTEGERS = (int8, uint8, int16, uint16, int32, uint32)


def tensor(operation: str, operand: str, value: Any) -> NkiTensor:
    """`value`, which must be a tensor. TypeError for anything else."""
    if isinstance(value, NkiTensor):
        return value
    hint = ""
    if isinstance(value, np.ndarray):
        hint = "; nl.shared_constant makes a tensor of an array"
    raise TypeError(
        f"nl.{operation}: {operand} must be a tensor, not "
        f"{type(value).__name__}{hint}"
    )


def tile(operation: str, operand: str, value: Any) -> NkiTensor:
    """`value`, which must be a tensor in SBUF or PSUM.

    TypeError for anything else; Fault (illegal) for a tensor in HBM.
    """
    found = tensor(operation, operand, value)
    if not is_on_chip(found.buffer):
        refuse(
            "illegal",
            "operand.buffer",
            f"nl.{operation}: {operand} ('{found.name}') must be in sbuf or "
            "psum, but it is in hbm",
            operation=f"nl.{operation}",
            operand=operand,
            remedy="load it first: nl.load, or nisa.dma_copy into a tile",
        )
    return found


def tile_or_number(
    operation: str, operand: str, value: Any
) -> NkiTensor | float:
    """`value` as a tile on chip, or as a Python number."""
    if isinstance(value, NkiTensor):
        return tile(operation, operand, value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, np.bool_):
        return builtins.bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.generic) and value.dtype.kind in "fV":
        return float(value)  # kind V: the narrow floats of ml_dtypes
    hint = ""
    if type(value).__name__ == "TileValues":
        hint = (
            ": values of a tensor so far, which are for looking at; a function "
            "of nl, such as nl.max, computes them on the device"
        )
    raise TypeError(
        f"nl.{operation}: {operand} must be a tile or a number, not "
        f"{type(value).__name__}{hint}"
    )


def new(shape: Sequence[int], dtype: Any, name: str = "") -> NkiTensor:
    """A new tile in SBUF. Without a name it has that of the variable which
    the kernel assigns to."""
    return ndarray(shape, dtype, name=name)


def is_stored_as(dtype: Any, have: Dtype) -> bool:
    """Whether a new tile of `dtype` (None: any) has the dtype `have`."""
    return dtype is None or dtype_of(dtype) == have


def free_size(x: NkiTensor) -> int:
    """Elements per partition."""
    size: int = x.size // x.shape[0]
    return size


def misfit(
    operation: str, message: str, *, operand: str = "", remedy: str = ""
) -> NoReturn:
    """Raises the Fault of shapes that do not fit."""
    refuse(
        "illegal",
        "nki.shape",
        f"nl.{operation}: {message}",
        operation=f"nl.{operation}",
        operand=operand,
        remedy=remedy,
    )


def common_shape(
    operation: str, tiles: dict[str, NkiTensor]
) -> tuple[int, ...]:
    """The shape that tiles of one rank broadcast to, as NumPy does, along
    free axes only. Fault (illegal, nki.shape) if there is none."""
    shapes = {name: tuple(t.shape) for name, t in tiles.items()}
    said = " and ".join(f"{name} {shape}" for name, shape in shapes.items())
    if len({len(s) for s in shapes.values()}) > 1:
        misfit(
            operation,
            f"{said} do not have as many axes as each other",
            remedy="reshape or expand_dim one of them",
        )
    if len({s[0] for s in shapes.values()}) > 1:
        misfit(
            operation,
            f"{said} do not have the same number of partitions",
            remedy="nl.broadcast_to repeats a (1, ...) tile over partitions",
        )
    sizes = [max(axis) for axis in zip(*shapes.values(), strict=True)]
    for name, shape in shapes.items():
        for have, wanted in zip(shape, sizes, strict=True):
            if have not in (1, wanted):
                misfit(operation, f"{said} do not broadcast", operand=name)
    return tuple(sizes)


def broadcast(x: NkiTensor, shape: Sequence[int]) -> NkiTensor:
    """A view of x with its free axes of size 1 repeated to `shape`."""
    for axis, (have, wanted) in enumerate(zip(x.shape, shape, strict=True)):
        if have != wanted:
            x = x.broadcast(axis, wanted)
    return x


def scalar_op(
    data: NkiTensor,
    op0: str,
    operand0: Any = None,
    op1: str | None = None,
    operand1: Any = None,
    *,
    dtype: Any = float32,
    dst: NkiTensor | None = None,
    name: str = "",
    **rest: Any,
) -> NkiTensor:
    """tensor_scalar into `dst`, a new tile unless given."""
    if dst is None:
        dst = new(data.shape, dtype, name)
    _trace.current().add(
        "tensor_scalar",
        dst=dst,
        data=data,
        op0=op0,
        operand0=operand0,
        op1=op1,
        operand1=operand1,
        **rest,
    )
    return dst


def tensor_op(
    data1: NkiTensor,
    data2: NkiTensor,
    op: str,
    *,
    dtype: Any = float32,
    dst: NkiTensor | None = None,
    name: str = "",
) -> NkiTensor:
    """tensor_tensor into `dst`, a new tile unless given."""
    if dst is None:
        dst = new(data1.shape, dtype, name)
    _trace.current().add(
        "tensor_tensor", dst=dst, data1=data1, data2=data2, op=op
    )
    return dst


def multiply_add(
    data: NkiTensor, factor: float, addend: NkiTensor, name: str = ""
) -> NkiTensor:
    """data * factor + addend in float32, by scalar_tensor_tensor."""
    dst = new(data.shape, float32, name)
    _trace.current().add(
        "scalar_tensor_tensor",
        dst=dst,
        data=data,
        op0="multiply",
        operand0=factor,
        op1="add",
        operand1=addend,
    )
    return dst


def activated(
    x: NkiTensor, function: str, dtype: Any, name: str = ""
) -> NkiTensor:
    """function(x) on the scalar engine, a new tile."""
    dst = new(x.shape, dtype, name)
    _trace.current().add("activation", dst=dst, op=function, data=x)
    return dst


def copied(
    x: NkiTensor, dtype: Any, name: str = "", dst: NkiTensor | None = None
) -> NkiTensor:
    """A copy by the vector engine: of bits where dtypes are equal."""
    if dst is None:
        dst = new(x.shape, dtype, name)
    _trace.current().add("tensor_copy", dst=dst, src=x, engine="vector")
    return dst
