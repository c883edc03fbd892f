"""Calls of earlier versions of nki.isa, put into the present form.

By the order of the version's own arguments, its names and numbers, and what
it does otherwise with them. The differences and their evidence: _versions.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from trnemu._operations import Operation, operations
from trnemu.nki import _trace
from trnemu.nki._compat import Version, text, warn
from trnemu.nki._options import API_VERSIONS
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import Trace, refuse

Call = tuple[int, Sequence[Any], dict[str, Any]]
"""Operation number, positional arguments, keywords."""
_Fix = Callable[[Trace, dict[str, Any]], str | None]

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


@functools.cache
def changes(api: Version) -> dict[int, Callable[..., Call]]:
    """By operation number, what puts its calls into the present form, for
    operations where the version has another."""
    changes: dict[int, Callable[..., Call]] = {}
    for index, operation in enumerate(operations()):
        name = operation.name
        fixes = [fix for until, fix in _FIXES.get(name, ()) if api < until]
        if (
            api < (0, 3)
            or fixes
            or (api < (0, 4) and set(_NUMBERED) & set(_present(operation)))
            or _names(operation, api) is not None
            or _INSTRUCTIONS_SINCE.get(name, api) > api
        ):
            changes[index] = _Change(operation, api, fixes)
    return changes


def _names(operation: Operation, api: Version) -> tuple[str, ...] | None:
    """The arguments that the version has, None for the present ones."""
    names = None
    for first, arguments in _ARGUMENTS.get(operation.name, ()):
        if first <= api:
            names = arguments
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
        from trnemu.nki.isa import _enums  # nki.isa imports _compat

        name = operation.name
        self._operation = operation
        self._api = api
        self._fixes = fixes
        self._names = _names(operation, api) or _present(operation)
        self._known = frozenset(self._names)
        self._later = set(_present(operation)) - self._known
        self._index = _trace.INDEX[name]
        self._first = _INSTRUCTIONS_SINCE.get(name, api)
        self._required = [
            argument
            for (other, argument), until in _REQUIRED_BEFORE.items()
            if other == name and api < until
        ]
        # Of arguments that took a number: its members by number.
        self._numbered: list[tuple[str, dict[int, Any]]] = [
            (argument, {word.value: word for word in getattr(_enums, argument)})
            for argument in _NUMBERED
            if api < (0, 4) and argument in self._known
        ]

    def __call__(
        self, trace: Trace, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Call:
        if self._first > self._api:
            self._of_later("", self._first)
        given = self._bind(args, kwargs) if args else kwargs
        if not given.keys() <= self._known:
            self._others(trace, given)
        for argument in self._required:
            if given.get(argument) is None:
                self._missing(argument)
        for argument, words in self._numbered:
            number = given.get(argument)
            if type(number) is int and number in words:
                given[argument] = words[number]
        index = self._index
        for fix in self._fixes:
            other = fix(trace, given)
            if other is not None:
                index = _trace.INDEX[other]
        return index, (), given

    def _bind(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """The arguments by name. TypeError as Python's."""
        name, names = self._operation.name, self._names
        if len(args) > len(names):
            raise TypeError(
                f"{name}() takes {len(names)} positional arguments but "
                f"{len(args)} were given"
            )
        given = dict(zip(names, args, strict=False))
        if not given.keys().isdisjoint(kwargs):
            twice = next(key for key in kwargs if key in given)
            raise TypeError(
                f"{name}() got multiple values for argument {twice!r}"
            )
        given.update(kwargs)
        return given

    def _others(self, trace: Trace, given: dict[str, Any]) -> None:
        """Arguments that the version does not have. From 0.3 on those that no
        version has are left to the TypeError of recording."""
        for argument in [k for k in given if k not in self._known]:
            if argument in self._later:
                self._of_later(argument, self._since(argument))
            if self._api < (0, 3):
                self._unknown(trace, argument, given)

    def _since(self, argument: str) -> Version:
        """The first version that has the argument."""
        for version in API_VERSIONS:
            names = _names(self._operation, version)
            if names is None or argument in names:
                return version
        return API_VERSIONS[-1]

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
