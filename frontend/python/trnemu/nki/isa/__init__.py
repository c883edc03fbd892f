"""nki.isa: the instructions of the device, as kernels write them.

Each function records an instruction and returns a handle, whose depends_on()
orders it after others. The functions are made of trnemu's operations table;
docs/operations has a page for each.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from trnemu import _trnemu
from trnemu._fault import Fault
from trnemu._operations import Operation, doc_of, operations
from trnemu._targets import get_nc_version as _version_of
from trnemu.nki import _compat, _trace
from trnemu.nki._tensor import NkiTensor, VirtualRegister, register_alloc
from trnemu.nki.isa import constants as constants
from trnemu.nki.isa._enums import (
    dge_mode,
    dma_engine,
    engine,
    gpsimd_engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
    scalar_engine,
    tensor_engine,
    unknown_engine,
    vector_engine,
)

NkiInstruction = _trnemu.NkiInstruction
NkiValidationError = Fault

# Of nki.collectives, and what trnemu has beside them.
_COLLECTIVES = tuple(
    o.name for o in operations() if any(p.name == "stream" for p in o.parameters)
) + ("rank_id", "collective_permute_implicit_current_processing_rank_id")
# Not written by people, or with a function of their own.
_OTHERS = (
    "branch",
    "nop",
    "psum_reset",
    "register_alloc",
    "register_alu",
    *_COLLECTIVES,
)
# Where the cores of an LNC2 kernel meet.
_MEETINGS = ("sendrecv", "core_barrier")
# What ProgramBuilder's operations take beyond nki.isa's.
_OURS = ("trigger", "queues")
# What nki.isa asks for where ProgramBuilder does not: an op of one operand
# gets operand0=None (nki/api/nki/isa/__init__.py:1081).
_NEEDED = {"tensor_scalar": "operand0"}
_ENUMS: dict[str, Any] = {
    "engine": engine,
    "dge_mode": dge_mode,
    "oob_mode": oob_mode,
    "reduce_cmd": reduce_cmd,
    "perf_mode": matmul_perf_mode,
    "dma_engine": dma_engine,
}


def _default(name: str, value: Any) -> Any:
    """A default as the documentation prints it."""
    words = _ENUMS.get(name)
    if words is not None and isinstance(value, str):
        return words[value]
    return value


def _signature(operation: Operation) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = _NEEDED.get(operation.name)
    return inspect.Signature(
        [
            inspect.Parameter(
                p.name,
                kind,
                default=inspect.Parameter.empty
                if p.name == needed
                else _default(p.name, p.default_value),
            )
            for p in operation.parameters
            if p.name not in _OURS
        ]
    )


def _function(index: int, operation: Operation) -> Callable[..., Any]:
    """The function that records operation number `index`."""
    meets = operation.name in _MEETINGS

    def record(*args: Any, **kwargs: Any) -> Any:
        trace = _trace.current()
        if meets and trace.lockstep is not None:
            handle = trace.lockstep.meet(
                lambda: trace.record(index, args, kwargs)
            )
        else:
            handle = trace.record(index, args, kwargs)
        if "name" in kwargs:
            labels = trace.labels[trace.core_index]
            labels.setdefault(kwargs["name"], []).append(handle)
        if trace.watched:
            trace.look(handle)
        return handle

    record.__name__ = record.__qualname__ = operation.name
    record.__doc__ = doc_of(operation)
    record.__signature__ = _signature(operation)  # type: ignore[attr-defined]
    return record


def _with(needed: str, record: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which a call must give that argument."""
    name = record.__name__
    parameters = inspect.signature(record).parameters
    known = {*parameters, *_OURS, "name"}
    place = list(parameters).index(needed)

    @functools.wraps(record)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if needed not in kwargs and len(args) <= place:
            if known.issuperset(kwargs):  # else that is what is wrong
                raise TypeError(
                    f"{name}() missing required argument: {needed!r}"
                )
        return record(*args, **kwargs)

    return checked


for _index, _operation in enumerate(operations()):
    if _operation.name not in _OTHERS:
        globals()[_operation.name] = _function(_index, _operation)
for _name, _needed in _NEEDED.items():
    globals()[_name] = _with(_needed, globals()[_name])
memset = _compat.strict_memset(memset)  # type: ignore[name-defined] # noqa: F821


def __getattr__(name: str) -> Any:
    """Instructions that NKI no longer has, for kernels of older versions."""
    if name in _compat.REMOVED:
        return _compat.removed(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_nc_version() -> nc_version:
    """The generation the kernel is compiled for: gen2 (trn1), gen3 (trn2) or
    gen4 (trn3), which compare in order."""
    return _version_of(_trace.current().target)


def get_nc_sub_version() -> int:
    """The silicon revision inside the generation: 0, the first."""
    _trace.current()
    return 0


__all__ = [
    *(o.name for o in operations() if o.name not in _OTHERS),
    "NkiInstruction",
    "NkiTensor",
    "NkiValidationError",
    "VirtualRegister",
    "constants",
    "dge_mode",
    "dma_engine",
    "engine",
    "get_nc_sub_version",
    "get_nc_version",
    "gpsimd_engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
    "register_alloc",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]
