"""What earlier versions of the NKI API take, and do otherwise.

A kernel runs under an earlier version by api=, TRNEMU_NKI_API or
--api-version. What the differences are, and the evidence for each:
_versions.py. Old behaviour that gives other numbers than its text says, and
that no public kernel needs, is refused. _compat_calls.py has those of
instructions' arguments.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from trnemu._fault import fault_of
from trnemu._trnemu import Finding
from trnemu.nki import _trace
from trnemu.nki._options import API_VERSIONS, Options
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import Trace, refuse
from trnemu.nki.language._tokens import MemoryRegion, region_of, sbuf

Version = tuple[int, int]

NEWEST: Version = API_VERSIONS[-1]
_INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
REMOVED: dict[str, Version] = {
    "tensor_copy_dynamic_dst": (0, 4),
    "tensor_copy_dynamic_src": (0, 4),
}
"""Instructions of earlier versions, and the first without each."""


def text(version: Version) -> str:
    """ "0.3" of (0, 3)."""
    return f"{version[0]}.{version[1]}"


def options(given: Options) -> Options:
    """The options of a launch, with the numerics of its version where none
    are given: before 0.5 quantize_mx has the older scale."""
    if given.api >= (0, 5) or "mx_scale" in given.numerics:
        return given
    numerics = {**given.numerics, "mx_scale": "legacy"}
    return dataclasses.replace(given, numerics=numerics)


def warn(
    trace: Trace,
    id: str,
    message: str,
    *,
    operation: str = "",
    operand: str = "",
    remedy: str = "",
) -> None:
    """A KernelWarning at the kernel's line, once for each line. Nothing if
    allow= has the id; with strict=True a Fault (illegal) instead."""
    from trnemu.nki._kernel import KernelWarning

    if id in trace.options.allow:
        return
    finding = Finding(
        "illegal",
        id,
        message,
        operation=operation,
        operand=operand,
        remedy=remedy,
    )
    # Its constructor takes no severity; its pickled form does.
    state = json.loads(finding.__getstate__())
    state["severity"] = "warning"
    finding = Finding.__new__(Finding)
    finding.__setstate__(json.dumps(state))
    if trace.options.strict:
        raise fault_of(finding)
    key = ("warned", id, message, finding.source)
    if key in trace.caches:
        return
    trace.caches[key] = True
    trace.findings.append(finding)
    frame = _kernel_frame()
    warnings.warn_explicit(
        KernelWarning(str(finding)),
        KernelWarning,
        frame.f_code.co_filename if frame else "<kernel>",
        frame.f_lineno if frame else 1,
    )


def _kernel_frame() -> FrameType | None:
    """The innermost frame that is not trnemu's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] != "trnemu":
            return frame
        frame = frame.f_back
    return None


def recorder(trace: Trace) -> Callable[..., Any]:
    """What nki.isa's functions record with: the builder's add, or, under an
    earlier version, a function that puts calls into the present form first."""
    add: Callable[..., Any] = trace.core.add
    if trace.api >= NEWEST:
        return add
    from trnemu.nki import _compat_calls  # which imports this module

    changes = _compat_calls.changes(trace.api)

    def record(
        index: int, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        change = changes.get(index)
        if change is not None:
            index, args, kwargs = change(trace, args, kwargs)
        return add(index, args, kwargs)

    return record


def removed(name: str) -> Callable[..., Any]:
    """The function of an instruction in REMOVED."""

    def record(
        dst: Any, src: Any, engine: Any = "unknown", name: Any = None
    ) -> Any:
        if _trace.current().api >= REMOVED[record.__name__]:
            refuse(
                "illegal",
                "nki.removed",
                f"{record.__name__} is not in NKI "
                f"{text(REMOVED[record.__name__])} and later",
                operation=record.__name__,
                remedy="nisa.tensor_copy, with "
                "tensor.ap(pattern, scalar_offset=index)",
            )
        from trnemu.nki import isa

        return isa.tensor_copy(  # type: ignore[attr-defined]
            dst=dst, src=src, engine=engine, name=name
        )

    record.__name__ = record.__qualname__ = name
    record.__doc__ = (
        "tensor_copy, one side of which is at an offset that only the device "
        "knows. Of NKI 0.2 and 0.3."
    )
    return record


def strict_memset(record: Callable[..., Any]) -> Callable[..., Any]:
    """memset, whose value is of dst's type: no float for an integer tile from
    0.3 on."""

    @functools.wraps(record)
    def memset(*args: Any, **kwargs: Any) -> Any:
        value = kwargs.get("value", args[1] if len(args) > 1 else None)
        if isinstance(value, (float, np.floating)):
            _check_value(kwargs.get("dst", args[0] if args else None), value)
        return record(*args, **kwargs)

    return memset


def _check_value(dst: Any, value: Any) -> None:
    trace = _trace.current()
    if trace.api < (0, 3) or not isinstance(dst, NkiTensor):
        return
    if str(dst.dtype) not in _INTEGERS:
        return
    whole = float(value).is_integer()
    refuse(
        "illegal",
        "nki.memset_value",
        f"memset: value is the float {value} and '{dst.name}' of {dst.dtype}; "
        "NKI 0.3 and later cast none",
        operation="memset",
        operand="value",
        remedy=f"value={int(value)}" if whole else "give an int",
    )


def region(trace: Trace, buffer: Any) -> MemoryRegion:
    """The region of buffer=; names of regions, and None for SBUF, are of 0.2.
    TypeError for anything else."""
    if trace.api < (0, 3):
        return sbuf if buffer is None else region_of(buffer)
    if not isinstance(buffer, str):
        return region_of(buffer)
    refuse(
        "illegal",
        "nki.buffer_name",
        f'buffer="{buffer}" is a str; NKI 0.3 and later take a region',
        operand="buffer",
        remedy=f"buffer=nl.{buffer}",
    )


def output_in_hbm(trace: Trace, tensor: NkiTensor) -> None:
    """Warns of a result in nl.hbm, with strict_frontend. From 0.3 on the
    compiler refuses it, says the migration guide; the documentation's own
    kernels of 0.6 have such, so that it is no finding otherwise."""
    if (
        trace.api < (0, 3)
        or not trace.options.strict_frontend
        or tensor.buffer.value != "private_hbm"
    ):
        return
    warn(
        trace,
        "nki.output_hbm",
        f"the kernel returns '{tensor.name}', which is in nl.hbm; NKI 0.3 and "
        "later ask for nl.shared_hbm",
        operand=tensor.name,
        remedy="nl.ndarray(..., buffer=nl.shared_hbm)",
    )


class Older:
    """What a class of tensors has in addition before 0.5."""

    __slots__ = ()

    def ap(
        self: Any,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: Any = None,
    ) -> Any:
        """As NkiTensor.ap. Fault (illegal) on a part that does not start
        where its tensor starts: the parser has ap on whole tensors only, the
        tracer counted from the tensor's start."""
        if self.offset != 0:
            refuse(
                "illegal",
                "nki.ap_of_view",
                f"ap of a part of '{self.name}' that starts at element "
                f"{self.offset}; before NKI 0.5 ap is for whole tensors",
                operand=self.name,
                remedy="call ap on the tensor itself, with offset=",
            )
        return super().ap(  # type: ignore[misc]
            pattern, offset, scalar_offset, vector_offset, indirect_dim, dtype
        )

    def reshape(self: Any, *shape: Any, **given: Any) -> Any:
        """As NkiTensor.reshape; the argument may be called new_shape."""
        if "new_shape" in given:
            given["shape"] = given.pop("new_shape")
        return super().reshape(*shape, **given)  # type: ignore[misc]


class OldTensor(Older, NkiTensor):
    """An NkiTensor of versions before 0.5."""

    __slots__ = ()


def tensor_class(api: Version) -> type[NkiTensor]:
    """What tensors of a kernel are."""
    return OldTensor if api < (0, 5) else NkiTensor
