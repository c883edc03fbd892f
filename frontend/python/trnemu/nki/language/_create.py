"""Making tensors, and what a kernel can ask about its launch."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from trnemu._dtype import Dtype
from trnemu.nki import _compat, _trace
from trnemu.nki._high_precision import stored, tensor_of, tile
from trnemu.nki._names import name_of_caller
from trnemu.nki._tensor import NkiTensor, make
from trnemu.nki._trace import refuse
from trnemu.nki.language._tokens import (
    MemoryRegion,
    dtype_of,
    psum,
    sbuf,
    shared_hbm,
)

def ndarray(
    shape: Sequence[int],
    dtype: Any,
    buffer: Any = sbuf,
    name: str = "",
    address: Sequence[int] | None = None,
) -> NkiTensor:
    """A new tensor without values; shape[0] is the partitions on chip.

    buffer: nl.sbuf, nl.psum, nl.hbm (of one core) or nl.shared_hbm. name: that
    of the variable it is assigned to unless given. address: (partition, byte
    in the partition), on chip only; tensors at the same place share it.

    Fault (illegal): more than 128 partitions, no free axis, sizes below 1.
    """
    trace = _trace.current()
    region = buffer
    if type(buffer) is not MemoryRegion:
        region = _compat.region(trace, buffer)
    kind = dtype if type(dtype) is Dtype else dtype_of(dtype)
    called = name or name_of_caller(1)
    if region is sbuf or region is psum:
        if not hasattr(shape, "__len__"):
            raise TypeError(
                "shape must be a sequence of ints, not "
                f"{type(shape).__name__}"
            )
        if len(shape) == 1:
            shape = (shape[0], 1)
        if not trace.precise:
            return tile(trace, region, shape, kind, called, address)
        view = trace.core.add_tile(
            region is psum, shape, kind, called, address
        )
        return make(view, region, trace.tensor_class)
    if address is not None:
        refuse(
            "illegal",
            "nki.hbm_address",
            f"'{called}' is in HBM, which has no address=",
            operand="address",
            remedy="leave address= out: it places tiles in SBUF and PSUM",
        )
    view = trace.hbm(
        called or "hbm", shape, stored(trace, kind), region is shared_hbm
    )
    return tensor_of(trace, view, region, kind)


def shared_constant(constant: Any) -> NkiTensor:
    """A tensor in shared HBM with the values of an array, or of a .npy file,
    which are part of the program."""
    trace = _trace.current()
    called = name_of_caller(1) or "constant"
    if isinstance(constant, (str, os.PathLike)):
        constant = np.load(constant)
    array = np.asarray(constant)
    key = ("constant", array.shape, array.dtype.name, array.tobytes())
    view = trace.caches.get(key)
    if view is None:
        if array.dtype.type is np.void or not array.size:
            refuse(
                "illegal",
                "nki.constant",
                f"shared_constant: an array of {array.dtype} and shape "
                f"{array.shape} is no tensor of the device",
                operand="constant",
            )
        kept = array
        if not trace.precise:
            kept = array.astype(stored(trace, dtype_of(array.dtype)).numpy)
        view = trace.caches[key] = trace.constant(called, kept)
    if trace.precise:
        return make(view, shared_hbm, trace.tensor_class)
    return tensor_of(trace, view, shared_hbm, dtype_of(array.dtype))


def program_id(axis: int = 0) -> int:
    """The index of the core in the launch: 0, or 0 and 1 of kernel[2]."""
    _check_axis("program_id", axis)
    return _trace.current().core_index


def num_programs(axes: int = 0) -> int:
    """The cores of the launch: 1, or 2 of kernel[2]."""
    _check_axis("num_programs", axes)
    return _trace.current().cores


def program_ndim() -> int:
    """The axes of the launch's grid: 1, or 0 without brackets."""
    return 1 if _trace.current().grid else 0


def _check_axis(operation: str, axis: Any) -> None:
    if axis in (0, None, (0,), [0]):
        return
    refuse(
        "illegal",
        "nki.grid_axis",
        f"{operation}: a launch has one axis, 0, not {axis!r}",
        operation=operation,
        operand="axis",
    )


_range = builtins.range


def affine_range(start: int, stop: int | None = None, step: int = 1) -> Any:
    """Python's range(): the loop is unrolled. `step` counts without `stop`
    too."""
    if stop is None:
        start, stop = 0, start
    return _range(start, stop, step)


sequential_range = affine_range
static_range = affine_range
