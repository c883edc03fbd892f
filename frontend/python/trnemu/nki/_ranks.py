"""A kernel on the ranks of a system: what System.run(kernel, arguments) does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trnemu.nki._arguments import fields_of
from trnemu.nki._checks import KernelWarning
from trnemu.nki._kernel import Entered, Kernel
from trnemu.nki._results import Recording
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import refuse

if TYPE_CHECKING:
    from trnemu._system import System, SystemResult

# Options of a kernel that a run of a system takes, by either way; others are of
# launches on one rank.
_OPTIONS = (
    "target",
    "api",
    "numerics",
    "checks",
    "allow",
    "strict",
    "strict_frontend",
    "seed",
    "max_instructions",
    "max_wall_time",
)
_NOT_HERE = (
    "schedule",
    "precise_fp",
    "time",
    "stop_at_nan",
    "summary",
    "save",
    "profile_html",
    "profile_trace",
)


def launch(
    system: System, kernel: Kernel, arguments: Any, options: dict[str, Any]
) -> SystemResult:
    """Records the kernel, once if the ranks' arguments differ in their values
    alone, runs it on every rank, and puts what it wrote into the arguments.

    arguments: of all ranks, or a list of each rank's; those of a rank are a
    tuple, a dict by name, or one value. Fault, TypeError as at a launch.
    """
    launched = kernel
    kernel = kernel.with_options(
        **{
            **({} if "target" in kernel.options else {"target": system.target}),
            **{k: options.pop(k) for k in _OPTIONS if k in options},
        }
    )
    recordings = _record(kernel, _per_rank(arguments, system.ranks))
    _check(recordings)
    complete = all(r.arguments.complete for r in recordings)
    if not complete:
        options["values"] = False
    effective = recordings[0].trace.options
    programs = [r.program for r in recordings]
    launched._last["program"] = programs[0]
    one = all(p is programs[0] for p in programs)
    result = system.run(
        programs[:1] if one else programs,
        [r.inputs() if complete else {} for r in recordings],
        checks=effective.checks,
        allow=effective.allowed_of_runs(),
        strict=effective.strict,
        numerics=effective.numerics,
        seed=effective.seed,
        max_instructions=effective.max_instructions,
        max_wall_time=effective.max_wall_time,
        **options,
    )
    for recording in recordings:  # as after a launch
        recording.trace.arguments = None
    launched._last["result"] = result.ranks[0]
    if options.get("values", True):
        for recording, rank in zip(recordings, result.ranks, strict=True):
            outputs = dict(rank.outputs)
            recording.arguments.write_back(outputs)
            result.results.append(recording.results(outputs))
    _warn(result)
    return result


def _per_rank(given: Any, ranks: int) -> list[tuple[tuple[Any, ...], Any]]:
    """Positional arguments and those by name, of each rank."""
    each = given if isinstance(given, list) else [given] * ranks
    if len(each) != ranks:
        refuse(
            "input",
            "option.ranks",
            f"there are arguments for {len(each)} ranks, but the system has "
            f"{ranks}",
            remedy="give a list of each rank's arguments (a tuple, a dict, or "
            "one array), or one tuple or dict for all",
        )
    found: list[tuple[tuple[Any, ...], Any]] = []
    for one in each:
        if isinstance(one, Mapping):
            found.append(((), one))
        else:
            found.append((one if isinstance(one, tuple) else (one,), {}))
    return found


def _record(
    kernel: Kernel, arguments: Sequence[tuple[tuple[Any, ...], Any]]
) -> list[Recording]:
    """Of each rank; the same program where the kernel is given the same."""
    made: list[tuple[Entered, Recording]] = []
    recordings = []
    for args, kwargs in arguments:
        entered = kernel.enter(*args, **kwargs)
        for before, recording in made:
            if _same_program(before, entered, recording):
                recordings.append(
                    Recording(
                        recording.trace,
                        recording.program,
                        entered.arguments,
                        recording.result,
                    )
                )
                break
        else:
            recording = kernel.record(*args, **kwargs)
            made.append((entered, recording))
            recordings.append(recording)
    return recordings


def _same_program(a: Entered, b: Entered, recording: Recording) -> bool:
    looked = any(
        isinstance(key, tuple) and key[:1] == ("host_value",)
        for key in recording.trace.caches
    )
    mine, theirs = (e.arguments.tensors() for e in (a, b))
    return (
        not looked  # a number in the program is of one rank's values
        and len(mine) == len(theirs)
        and a.arguments.torch == b.arguments.torch
        and a.arguments.complete == b.arguments.complete
        and all(map(_same, mine, theirs))
        and _same(dict(a.bound.arguments), dict(b.bound.arguments))
    )


def _same(a: Any, b: Any) -> bool:
    """Whether a kernel cannot tell two arguments apart."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, NkiTensor):
        return (a.tensor, a.name, a.shape, a.dtype) == (
            b.tensor, b.name, b.shape, b.dtype)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    if fields := fields_of(a):
        return _same(fields, fields_of(b))
    try:
        return bool(a == b)
    except Exception:
        return False


def _check(recordings: Sequence[Recording]) -> None:
    """Refuses what launches refuse, and memory that two ranks write to."""
    options = recordings[0].trace.options
    for name in _NOT_HERE:
        if getattr(options, name) != getattr(type(options), name):
            raise TypeError(
                f"the option {name} is of launches on one rank, not of "
                "System.run"
            )
    owners: dict[int, int] = {}
    for rank, recording in enumerate(recordings):
        outputs = recording.program.outputs
        recording.arguments.check_written(outputs)
        for array in recording.arguments.written(outputs):
            start = _start(array)
            if owners.setdefault(start, rank) != rank:
                refuse(
                    "input",
                    "nki.argument_overlap",
                    f"ranks {owners[start]} and {rank} are given the same array "
                    "for an argument that the kernel writes to",
                    remedy="give each rank a copy: array.copy()",
                )


def _start(array: np.ndarray[Any, Any]) -> int:
    start: int = array.__array_interface__["data"][0]
    return start


def _warn(result: SystemResult) -> None:
    """Each finding once, of the first rank that has it."""
    said = set()
    for rank in result.ranks:
        for finding in rank.diagnostics:
            key = finding.id, finding.source, finding.message
            if finding.severity == "warning" and key not in said:
                said.add(key)
                warnings.warn(KernelWarning(str(finding)), stacklevel=4)
