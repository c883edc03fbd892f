"""What earlier versions of the NKI API take, and do otherwise.

trnemu records the API of 0.6. A kernel that runs under an earlier version
(api=, TRNEMU_NKI_API, --api-version) has its calls put into that form first:
by the order of the version's own arguments, its names and numbers. What the
differences are, and the evidence for each: _versions.py. Old behaviour that
gives other numbers than its text says, and that no public kernel needs, is
refused.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from trnemu._fault import fault_of
from trnemu._operations import Operation, operations
from trnemu._trnemu import Finding
from trnemu.nki import _trace
from trnemu.nki._options import API_VERSIONS, Options
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import Trace, refuse
from trnemu.nki.language._tokens import MemoryRegion, dtype_of, region_of, sbuf

Version = tuple[int, int]
Call = tuple[int, Sequence[Any], Mapping[str, Any]]
"""Operation number, positional arguments, keywords."""
_Fix = Callable[[Trace, dict[str, Any]], str | None]

NEWEST: Version = API_VERSIONS[-1]
_BY_NAME = {o.name: o for o in operations()}
_INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
_FP32_MIN = np.finfo(np.float32).min

# The arguments of instructions, in order, by the first version that has that
# order; None is the present one. nki/api/nki/isa/__init__.py of the SDK 2.28
# to 2.32. use_gpsimd_dma is only in the published parser (KLR/Trace/ISA.lean)
# and the migration guide, as a keyword.
_ARGUMENTS: dict[str, tuple[tuple[Version, str | None], ...]] = {
    "affine_select": (
        ((0, 2), "dst pattern offset channel_multiplier on_true_tile "
         "on_false_value cmp_op name"),
        ((0, 3), None),
    ),
    "dma_compute": (
        ((0, 2), "dst srcs scales reduce_op name"),
        ((0, 3), "dst srcs reduce_op scales unique_indices name"),
        ((0, 4), None),
    ),
    "dma_copy": (
        ((0, 2), "dst src dst_rmw_op oob_mode dge_mode unique_indices name"),
        ((0, 3), "dst src oob_mode dge_mode engine name"),
        ((0, 4), None),
    ),
    "dma_transpose": (
        ((0, 2), "dst src axes dge_mode oob_mode name"),
        ((0, 4), None),
    ),
    "nc_matmul": (
        ((0, 2), "dst stationary moving is_stationary_onezero "
         "is_moving_onezero is_transpose tile_position tile_size perf_mode "
         "name"),
        ((0, 3), None),
    ),
    "nc_matmul_mx": (
        ((0, 2), "dst stationary moving stationary_scale moving_scale "
         "tile_position tile_size name"),
        ((0, 3), None),
    ),
    "register_move": (((0, 2), "dst imm"), ((0, 3), None)),
    "sendrecv": (
        ((0, 2), "src dst send_to_rank recv_from_rank pipe_id name "
         "use_gpsimd_dma"),
        ((0, 3), None),
    ),
    "tensor_scalar_reduce": (
        ((0, 2), "dst data op0 operand0 reduce_op reduce_res reverse0 name"),
        ((0, 4), "dst data op0 operand0 reduce_op reduce_res reverse0 "
         "reduce_cmd reduce_init name"),
        ((0, 6), None),
    ),
}
_INSTRUCTIONS_SINCE: dict[str, Version] = {
    "activate2": (0, 4),
    "topk": (0, 6),
}
_REQUIRED_BEFORE: dict[tuple[str, str], Version] = {
    ("tensor_scalar_reduce", "reduce_res"): (0, 6),
}
# Renamed before 0.3, within what 0.2 is here (release notes of 2.28).
_RENAMED = {("nc_matmul", "is_moving_zero"): "is_moving_onezero"}
_NUMBERED = ("dge_mode", "engine", "oob_mode", "reduce_cmd")
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
    changes = _changes(trace.api)

    def record(
        index: int, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        change = changes.get(index)
        if change is not None:
            index, args, kwargs = change(trace, args, kwargs)
        return add(index, args, kwargs)

    return record


@functools.cache
def _changes(api: Version) -> dict[int, Callable[..., Call]]:
    """By operation number, what puts its calls into the present form, for
    operations where the version has another."""
    changes: dict[int, Callable[..., Call]] = {}
    for index, operation in enumerate(operations()):
        name = operation.name
        fixes = [fix for until, fix in _FIXES.get(name, ()) if api < until]
        if (
            api < (0, 3)
            or fixes
            or _names(operation, api) is not None
            or _INSTRUCTIONS_SINCE.get(name, api) > api
        ):
            changes[index] = _Change(operation, api, fixes)
    return changes


def _names(operation: Operation, api: Version) -> tuple[str, ...] | None:
    """The arguments that the version has, None for the present ones."""
    names = None
    for first, text in _ARGUMENTS.get(operation.name, ()):
        if first <= api:
            names = text
    return None if names is None else tuple(names.split())


def _present(operation: Operation) -> tuple[str, ...]:
    own = ("trigger", "queues")  # trnemu's, not nki.isa's
    return tuple(p.name for p in operation.parameters if p.name not in own)


class _Change:
    """Puts calls of one operation, as a version has it, into the present
    form."""

    def __init__(
        self, operation: Operation, api: Version, fixes: Sequence[_Fix]
    ) -> None:
        self._operation = operation
        self._api = api
        self._fixes = fixes
        self._names = _names(operation, api) or _present(operation)
        self._later = set(_present(operation)) - set(self._names)
        self._index = _trace.INDEX[operation.name]
        self._required = [
            argument
            for (name, argument), until in _REQUIRED_BEFORE.items()
            if name == operation.name and api < until
        ]

    def __call__(
        self, trace: Trace, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Call:
        name = self._operation.name
        since = _INSTRUCTIONS_SINCE.get(name, self._api)
        if since > self._api:
            self._of_later("", since)
        given = self._bind(args, kwargs)
        for argument in [k for k in given if k not in self._names]:
            if argument in self._later:
                self._of_later(argument, self._since(argument))
            if self._api < (0, 3):
                self._unknown(trace, argument, given)
        for argument in self._required:
            if given.get(argument) is None:
                self._missing(argument)
        if self._api < (0, 3):
            _name_numbers(given)
        index = self._index
        for fix in self._fixes:
            other = fix(trace, given)
            if other is not None:
                index = _trace.INDEX[other]
        return index, (), given

    def _bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The arguments by name. TypeError as Python's."""
        name, names = self._operation.name, self._names
        if len(args) > len(names):
            raise TypeError(
                f"{name}() takes {len(names)} positional arguments but "
                f"{len(args)} were given"
            )
        given = dict(zip(names, args, strict=False))
        for key in kwargs:
            if key in given:
                raise TypeError(
                    f"{name}() got multiple values for argument {key!r}"
                )
        return {**given, **kwargs}

    def _since(self, argument: str) -> Version:
        """The first version that has the argument."""
        for version in API_VERSIONS:
            names = _names(self._operation, version)
            if names is None or argument in names:
                return version
        return NEWEST

    def _of_later(self, argument: str, since: Version) -> NoReturn:
        name = self._operation.name
        what = f"{name}: {argument}= is" if argument else f"{name} is"
        refuse(
            "illegal",
            "nki.later_version",
            f"{what} of NKI {text(since)} and later; this kernel runs under "
            f"{text(self._api)}",
            operation=name,
            operand=argument,
            remedy=f'run it with api="{text(since)}" or later '
            "(TRNEMU_NKI_API, --api-version)",
        )

    def _missing(self, argument: str) -> NoReturn:
        name = self._operation.name
        since = _REQUIRED_BEFORE[name, argument]
        refuse(
            "illegal",
            "nki.later_version",
            f"{name}: without {argument}=, which NKI needs before "
            f"{text(since)}; this kernel runs under {text(self._api)}",
            operation=name,
            operand=argument,
            remedy=f"give {argument}=",
        )

    def _unknown(
        self, trace: Trace, argument: str, given: dict[str, Any]
    ) -> None:
        """An argument that 0.2 does not have: renamed, or left out with a
        warning as its first release (SDK 2.27) did silently."""
        name = self._operation.name
        value = given.pop(argument)
        other = _RENAMED.get((name, argument))
        if other is not None:
            given.setdefault(other, value)
            return
        if argument == "mask":
            if value is not None:
                _refuse_mask(name)
            return
        if argument == "dtype":
            _check_dtype(name, given.get("dst"), value)
        shown = value if isinstance(value, str) else repr(value)
        warn(
            trace,
            "nki.ignored_argument",
            f"{name}: {argument}={shown} is ignored, as NKI 0.2 of SDK 2.27 "
            "does without a word; NKI 0.3 refuses it",
            operation=name,
            operand=argument,
            remedy="leave it out",
        )


def _refuse_mask(name: str) -> NoReturn:
    refuse(
        "illegal",
        "nki.mask",
        f"{name}: mask= is of the older neuronxcc.nki",
        operation=name,
        operand="mask",
        remedy="slice the tensors to the part that is meant",
    )


def _check_dtype(name: str, dst: Any, dtype: Any) -> None:
    """Fault if dtype= names another dtype than dst's: what 0.2 makes of it is
    documented nowhere."""
    if dtype is None or not isinstance(dst, NkiTensor):
        return
    if dtype_of(dtype) == dst.dtype:
        return
    refuse(
        "unsupported",
        "nki.older_behaviour",
        f"{name}: dtype={dtype_of(dtype)} for a destination of {dst.dtype}; "
        "what NKI 0.2 does with it is not documented",
        operation=name,
        operand="dtype",
        remedy="leave dtype= out: the result is in dst's dtype",
    )


def _name_numbers(given: dict[str, Any]) -> None:
    """Numbers of enums become their names."""
    from trnemu.nki.isa import _enums  # nki.isa imports this module

    for argument in _NUMBERED:
        value = given.get(argument)
        if type(value) is not int:
            continue
        words = getattr(_enums, argument)
        found = [word for word in words if word.value == value]
        if found:
            given[argument] = found[0]


# What a version does otherwise with the arguments of an instruction. A fix may
# change `given`, and gives the name of the operation if it is another.


def _trailing_axes(trace: Trace, given: dict[str, Any]) -> None:
    """Axes of 0.2 count: 1 is the last axis; [1, ..., k] and [5 - k, ..., 4]
    are the last k. Where these are axes of 0.3, they are the same ones."""
    data, axis = given.get("data"), given.get("axis")
    if not isinstance(data, NkiTensor):
        return
    last = data.ndim - 1
    if type(axis) is int:
        if axis == 1:
            given["axis"] = last
    elif isinstance(axis, (list, tuple)):
        count = len(axis)
        counted = (range(1, count + 1), range(5 - count, 5))
        if count <= last and list(axis) in [list(c) for c in counted]:
            given["axis"] = list(range(last - count + 1, last + 1))


def _read_modify_write(trace: Trace, given: dict[str, Any]) -> str | None:
    """dma_copy(dst_rmw_op=nl.add) of 0.2 adds to dst: dma_compute."""
    unique = given.pop("unique_indices", True)
    op = given.pop("dst_rmw_op", None)
    if op is None:
        return None  # unique_indices says something about dst_rmw_op only
    mode = given.pop("dge_mode", "unknown")
    if mode not in ("unknown", "none"):
        refuse(
            "unsupported",
            "nki.older_behaviour",
            f"dma_copy: dst_rmw_op with dge_mode={mode}",
            operation="dma_copy",
            operand="dge_mode",
            remedy="leave dge_mode out, or use nisa.dma_compute (NKI 0.3)",
        )
    src, dst = given.pop("src", None), given.get("dst")
    given.update(srcs=[src, dst], reduce_op=op, unique_indices=unique)
    return "dma_compute"


def _immediate(trace: Trace, given: dict[str, Any]) -> None:
    """register_move's src was called imm."""
    if "imm" in given:
        given["src"] = given.pop("imm")


def _engine_of_sendrecv(trace: Trace, given: dict[str, Any]) -> None:
    """use_gpsimd_dma= became dma_engine=."""
    if "use_gpsimd_dma" not in given:
        return
    chosen = given.pop("use_gpsimd_dma")
    if not isinstance(chosen, bool):
        raise TypeError(
            "sendrecv() argument 'use_gpsimd_dma' must be a bool, not "
            f"{type(chosen).__name__}"
        )
    given["dma_engine"] = "gpsimd_dma" if chosen else "dma"


def _fixed_range_select(trace: Trace, given: dict[str, Any]) -> None:
    """0.2 takes on_false_value and reduce_cmd, and uses FP32_MIN and
    reset_reduce whatever they are."""
    command = given.get("reduce_cmd", "reset_reduce")
    value = given.get("on_false_value", _FP32_MIN)
    if command != "reset_reduce":
        argument, shown = "reduce_cmd", command
    elif not isinstance(value, (int, float, np.number)) or (
        np.float32(value) != _FP32_MIN
    ):
        argument, shown = "on_false_value", value
    else:
        return
    refuse(
        "unsupported",
        "nki.older_behaviour",
        f"range_select: {argument}={shown}, in whose place NKI 0.2 uses "
        + ("reset_reduce" if argument == "reduce_cmd" else "FP32_MIN"),
        operation="range_select",
        operand=argument,
        remedy="leave it out",
    )


def _pad_destination(trace: Trace, given: dict[str, Any]) -> None:
    """dma_transpose before 0.4: a dst of fewer axes gets those of size 1 that
    the transposed src has."""
    dst, src = given.get("dst"), given.get("src")
    if not isinstance(dst, NkiTensor) or not isinstance(src, NkiTensor):
        return
    axes = given.get("axes") or {
        2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)
    }.get(src.ndim, ())
    if dst.ndim >= src.ndim or sorted(axes) != list(range(src.ndim)):
        return
    wanted = [src.shape[axis] for axis in axes]
    for place, size in enumerate(wanted):
        fits = place < dst.ndim and dst.shape[place] == size
        if fits or place == 0:
            continue
        if size != 1:
            return
        dst = dst.expand_dim(place)
    if tuple(dst.shape) == tuple(wanted):
        given["dst"] = dst


_FIXES: dict[str, tuple[tuple[Version, _Fix], ...]] = {
    "dma_copy": (((0, 3), _read_modify_write),),
    "dma_transpose": (((0, 4), _pad_destination),),
    "range_select": (((0, 3), _fixed_range_select),),
    "register_move": (((0, 3), _immediate),),
    "sendrecv": (((0, 3), _engine_of_sendrecv),),
    "tensor_reduce": (((0, 3), _trailing_axes),),
}
"""By instruction: functions for versions before the one named."""


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
    """Warns of a result in nl.hbm. From 0.3 on the compiler refuses it, says
    the migration guide; the documentation's own kernels of 0.6 have such."""
    if trace.api < (0, 3) or tensor.buffer.value != "private_hbm":
        return
    warn(
        trace,
        "nki.output_hbm",
        f"the kernel returns '{tensor.name}', which is in nl.hbm; NKI 0.3 and "
        "later ask for nl.shared_hbm",
        operand=tensor.name,
        remedy="nl.ndarray(..., buffer=nl.shared_hbm)",
    )


class OldTensor(NkiTensor):
    """An NkiTensor of versions before 0.5."""

    __slots__ = ()

    def ap(
        self,
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
        return super().ap(
            pattern, offset, scalar_offset, vector_offset, indirect_dim, dtype
        )

    def reshape(self, *shape: Any, **given: Any) -> Any:
        """As NkiTensor.reshape; the argument may be called new_shape."""
        if "new_shape" in given:
            given["shape"] = given.pop("new_shape")
        return super().reshape(*shape, **given)


def tensor_class(api: Version) -> type[NkiTensor]:
    """What tensors of a kernel are."""
    return OldTensor if api < (0, 5) else NkiTensor
