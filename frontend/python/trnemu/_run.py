"""Running programs: run(), Device, Executable, and what a run gives."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trnemu import _trnemu
from trnemu._dtype import Dtype
from trnemu._fault import fault_of
from trnemu._limits import flag, real, whole, word
from trnemu._trnemu import Finding, Program

Schedule = str | int

_NUMERICS = _trnemu.numerics_rows()


class _Items:
    """Lets a dataclass be read like a dictionary too."""

    def __getitem__(self, key: str) -> Any:
        if key not in self.keys():
            raise KeyError(key)
        return getattr(self, key)

    def keys(self) -> list[str]:
        """The names of its fields."""
        return [f.name for f in fields(self)]  # type: ignore[arg-type]


@dataclass(frozen=True)
class EngineProfile(_Items):
    """What one engine did. busy_ns: the issue intervals of its instructions;
    waiting_ns: held by a semaphore. For "dma": transfers, and the busy time of
    its engines together."""

    instructions: int
    busy_ns: float
    waiting_ns: float


@dataclass(frozen=True)
class Profile(_Items):
    """Where a run's time went. Times are simulated nanoseconds, 0 where time
    was not simulated; engines is by name; opcodes and operations count
    instructions and uses; matmul_flops is 2 K M N of every nc_matmul."""

    time_ns: float
    instructions: int
    engines: dict[str, EngineProfile]
    opcodes: dict[str, int]
    operations: dict[str, int]
    dma_bytes: int
    hbm_read_bytes: int
    hbm_write_bytes: int
    matmul_flops: int


class RunResult:
    """What a run gives.

    outputs: name -> array, of the output and inout tensors. time_ns: simulated
    nanoseconds, 0.0 where time was not simulated. diagnostics: warnings and
    allowed errors. allowed: the ids that allow= let pass. target: the
    generation it ran on. profile: where the time went.
    """

    def __init__(
        self,
        result: _trnemu.Result,
        into: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> None:
        self._result = result
        outputs = {
            name: data.view(dtype.numpy).reshape(shape)
            for name, dtype, shape, data in result.take_outputs()
        }
        if into:
            outputs = dict(sorted({**outputs, **into}.items()))
        self.outputs: dict[str, np.ndarray[Any, Any]] = outputs
        self.time_ns: float = result.time_ns
        self.target: str = result.target
        self.diagnostics: list[Finding] = result.diagnostics
        self.allowed: list[str] = result.allowed

    @property
    def profile(self) -> Profile:
        """Where the time went."""
        raw = self._result.profile
        engines = {k: EngineProfile(**v) for k, v in raw["engines"].items()}
        return Profile(**{**raw, "engines": engines})

    def summary(self) -> str:
        """The table that people read: target, time, instructions, engines."""
        return self._result.summary()

    def __repr__(self) -> str:
        time = f"{self.time_ns} ns" if self._result.timed else "no time"
        return (
            f"<RunResult on {self.target}, {time}, outputs "
            f"{', '.join(self.outputs) or 'none'}>"
        )


Hardware = str | os.PathLike[str]


def _hardware(hardware: Hardware | None) -> tuple[str, str]:
    """The text of a hardware description, and what to call it in errors."""
    if hardware is None:
        return "", ""
    if not isinstance(hardware, (str, os.PathLike)):
        raise TypeError(
            "hardware must be a path or the text of a description, not "
            f"{type(hardware).__name__}"
        )
    if isinstance(hardware, str) and "\n" in hardware:
        return hardware, "hardware"
    try:
        text = pathlib.Path(hardware).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _input_fault(
            "input.hardware", f"cannot read hardware: {error}"
        ) from None
    # An empty file is no description, while no text is the one built in.
    return text or "\n", str(hardware)


def _input_fault(id: str, message: str, name: str = "") -> Exception:
    return fault_of(Finding("input", id, message, operand=name))


@functools.lru_cache(maxsize=64)
def _dtype_named(dtype: np.dtype[Any]) -> Dtype | None:
    """The device's dtype of that name, if there is one."""
    try:
        return Dtype(dtype.name) if dtype.isnative else None
    except ValueError:
        return None


# As the extension takes it: name, dtype, shape, bytes.
_Input = tuple[str, str, tuple[int, ...], np.ndarray[Any, Any]]


def _input(
    name: str, array: Any, tensors: Mapping[str, tuple[Any, Dtype]]
) -> _Input:
    """An input as the extension takes it."""
    if not isinstance(name, str):
        raise TypeError(f"input names must be str, not {type(name).__name__}")
    if not isinstance(array, (np.ndarray, np.generic)):
        hint = "; use .numpy()" if hasattr(array, "numpy") else ""
        raise TypeError(
            f"input {name!r} must be a numpy.ndarray, not "
            f"{type(array).__name__}{hint}"
        )
    array = np.asarray(array)
    dtype = array.dtype
    actual = _dtype_named(dtype)
    expected = tensors[name][1] if name in tensors else None
    if actual is None and expected is None:
        expected = actual = Dtype("uint8")  # the name is what is wrong
        array = np.zeros(array.shape, np.uint8)
    elif actual is None or (
        expected is not None and expected.numpy != actual.numpy
    ):
        carried = "" if expected == expected.numpy.name else (
            f" (as NumPy {expected.numpy.name})"
        )
        order = "" if dtype.isnative else " in the other byte order"
        raise _input_fault(
            "input.dtype",
            f"input {name} must be {expected}{carried}, but it is "
            f"{dtype.name}{order}; nothing is cast silently",
            name,
        )
    assert actual is not None
    return _bytes_of(name, np.ascontiguousarray(array), actual)


def _bytes_of(
    name: str, array: np.ndarray[Any, Any], dtype: Dtype
) -> _Input:
    return name, str(dtype), array.shape, array.reshape(-1).view(np.uint8)


def _inputs(
    tensors: Mapping[str, tuple[Any, Dtype]], inputs: Mapping[str, Any]
) -> list[_Input]:
    if not isinstance(inputs, Mapping):
        raise TypeError(
            "inputs must be a mapping of names to arrays, not "
            f"{type(inputs).__name__}"
        )
    return [_input(name, array, tensors) for name, array in inputs.items()]


def _names(allow: Iterable[str]) -> list[str]:
    if isinstance(allow, str):
        raise TypeError("allow must be a collection of ids, not a str")
    return list(allow)


def _schedule(schedule: Schedule | None, time: bool) -> tuple[str, int]:
    """The schedule and its seed."""
    if schedule is None:
        return ("timed" if time else "program"), 0
    if isinstance(schedule, str):
        if schedule not in ("timed", "program"):
            raise ValueError(
                'schedule must be "timed", "program" or an int seed, not '
                f"{schedule!r}"
            )
        return schedule, 0
    if isinstance(schedule, bool) or not hasattr(schedule, "__index__"):
        raise TypeError(
            "schedule must be a str or an int seed, not "
            f"{type(schedule).__name__}"
        )
    return "random", _seed("schedule", schedule.__index__())


def _seed(name: str, seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise ValueError(f"{name} must be at least 0 and less than 2**64")
    return seed


def _numerics(numerics: Mapping[str, str] | None) -> dict[str, str]:
    """The numerics, whose keys are known. Values the extension checks."""
    if not numerics:
        return {}
    unknown = [str(key) for key in numerics if key not in _NUMERICS]
    if unknown:
        raise _input_fault(
            "option.numerics",
            f"unknown numerics: {', '.join(unknown)}; there are "
            f"{', '.join(_NUMERICS)}",
        )
    for key, value in numerics.items():
        if not isinstance(value, str):
            raise TypeError(
                f"numerics {key!r} must be a str, one of "
                f"{_NUMERICS[key][0]}, not {type(value).__name__}"
            )
    return dict(numerics)


def _options(
    checks: str,
    allow: Iterable[str],
    strict: bool,
    schedule: Schedule | None,
    numerics: Mapping[str, str] | None,
    seed: int,
    max_instructions: int | None,
    time: bool,
    values: bool,
    max_time_ns: float | None = None,
    max_wall_time: float | None = None,
    max_host_memory: int | None = None,
    stop_at_nan: bool = False,
    throttle: bool = True,
    launch_overhead: bool = False,
) -> dict[str, Any]:
    """The options of a run as the extension takes them."""
    order, schedule_seed = _schedule(schedule, time)
    return {
        "checks": word("checks", checks),
        "allow": [word("allow", id) for id in _names(allow)],
        "strict": flag("strict", strict),
        "schedule": order,
        "schedule_seed": schedule_seed,
        "numerics": _numerics(numerics),
        "seed": _seed("seed", seed),
        "max_instructions": whole(
            "max_instructions", max_instructions, "instructions"
        ),
        "time": flag("time", time),
        "values": flag("values", values),
        "throttle": flag("throttle", throttle),
        "launch_overhead": flag("launch_overhead", launch_overhead),
        "stop_at_nan": flag("stop_at_nan", stop_at_nan),
        "max_time_ns": real("max_time_ns", max_time_ns, "nanoseconds"),
        "max_wall_time": real("max_wall_time", max_wall_time, "seconds"),
        "max_host_memory": whole("max_host_memory", max_host_memory, "bytes"),
    }


_DEFAULTS: dict[str, Any] = {
    "checks": "full",
    "allow": (),
    "strict": False,
    "schedule": None,
    "numerics": None,
    "seed": 0,
    "max_instructions": None,
    "time": True,
    "values": True,
    "max_time_ns": None,
    "max_wall_time": None,
    "max_host_memory": None,
    "stop_at_nan": False,
    "throttle": True,
    "launch_overhead": False,
}


def _looking_options(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of explore and debug: those of run, but without some."""
    refused = {"values"} | ({"schedule"} if what == "explore" else set())
    for name in given:
        if name not in _DEFAULTS or name in refused:
            raise TypeError(
                f"trnemu.{what} has no option {name!r}; there are "
                f"{', '.join(k for k in _DEFAULTS if k not in refused)}"
            )
    return _options(**{**_DEFAULTS, **given})


class Executable:
    """A program loaded on a Device. Keeps the device's memory alive."""

    def __init__(
        self, program: Program, executable: _trnemu.Executable
    ) -> None:
        self._program = program
        self._tensors = program.inputs
        self._executable = executable

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    def run(
        self,
        inputs: Mapping[str, np.ndarray[Any, Any]],
        *,
        checks: str = "full",
        allow: Iterable[str] = (),
        strict: bool = False,
        schedule: Schedule | None = None,
        numerics: Mapping[str, str] | None = None,
        seed: int = 0,
        max_instructions: int | None = None,
        time: bool = True,
        values: bool = True,
        stop_at_nan: bool = False,
        max_time_ns: float | None = None,
        max_wall_time: float | None = None,
        max_host_memory: int | None = None,
        throttle: bool = True,
        launch_overhead: bool = False,
    ) -> RunResult:
        """Runs the program to its end; the options are those of trnemu.run.

        inputs: every input tensor; inout tensors may be left out after the
        first run, whose values they keep. Raises Fault; a failed run leaves
        inout tensors as they were. Blocks while another thread runs on the same
        device. Ctrl-C raises KeyboardInterrupt.
        """
        options = _options(
            checks,
            allow,
            strict,
            schedule,
            numerics,
            seed,
            max_instructions,
            time,
            values,
            max_time_ns,
            max_wall_time,
            max_host_memory,
            stop_at_nan,
            throttle,
            launch_overhead,
        )
        return self._run(inputs, options)

    def _run(
        self,
        inputs: Mapping[str, np.ndarray[Any, Any]],
        options: dict[str, Any],
        into: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> RunResult:
        return self._run_with(_inputs(self._tensors, inputs), options, into)

    def _run_with(
        self,
        arrays: list[_Input],
        options: dict[str, Any],
        into: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> RunResult:
        if into:
            options["into"] = {
                name: array.reshape(-1).view(np.uint8)
                for name, array in into.items()
            }
        return RunResult(self._executable.run(arrays, options), into)

    def explore(
        self,
        inputs: Mapping[str, np.ndarray[Any, Any]],
        schedules: int,
        **options: Any,
    ) -> RunResult:
        """trnemu.explore, on this device. Before any run of the program on it,
        so that all runs start alike."""
        arrays = _inputs(self._tensors, inputs)
        given = _looking_options("explore", options)
        return RunResult(self._executable.explore(arrays, given, schedules))


class Device:
    """A logical NeuronCore: load programs once, run them many times.

    target: "trn1", "trn2" or "trn3". cores: physical cores, 1 or 2. HBM
    persists between runs: constants are copied once, inout tensors keep their
    values. hardware: a description that replaces the one built in, a path or
    its text (docs/what-if.md). Raises ValueError for an unknown target, Fault
    for other cores and descriptions that are not right.
    """

    def __init__(
        self,
        target: str = "trn2",
        cores: int = 1,
        hardware: Hardware | None = None,
    ) -> None:
        self._device = _trnemu.Device(target, cores, *_hardware(hardware))

    @property
    def target(self) -> str:
        """The generation it is of."""
        return self._device.target

    @property
    def cores(self) -> int:
        """Its physical cores."""
        return self._device.cores

    def load(
        self,
        program: Program,
        allow: Iterable[str] = (),
        max_host_memory: int | None = None,
    ) -> Executable:
        """Verifies a program for this device and copies its constants.

        allow: ids of errors to let pass. max_host_memory: bytes of the host's
        memory that its runs may need, checked before anything is copied.
        Fault: a broken rule, capacity, limit.
        """
        limit = whole("max_host_memory", max_host_memory, "bytes")
        executable = self._device.load(program, _names(allow), limit)
        return Executable(program, executable)

    def __repr__(self) -> str:
        return f"<Device {self.target}, {self.cores} core(s)>"


def run(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    target: str | None = None,
    checks: str = "full",
    allow: Iterable[str] = (),
    strict: bool = False,
    schedule: Schedule | None = None,
    numerics: Mapping[str, str] | None = None,
    seed: int = 0,
    max_instructions: int | None = None,
    time: bool = True,
    values: bool = True,
    stop_at_nan: bool = False,
    max_time_ns: float | None = None,
    max_wall_time: float | None = None,
    max_host_memory: int | None = None,
    throttle: bool = True,
    launch_overhead: bool = False,
    hardware: Hardware | None = None,
) -> RunResult:
    """Runs a program once on a fresh device.

    inputs: name -> array, exactly of the tensor's shape and of its dtype's
        NumPy carrier (ml_dtypes for bf16 and fp8; float32 for tfloat32; uint32
        or uint16 for packed types). Nothing is cast.
    target: the program's own unless given.
    checks: "full"; "memory": unwritten bytes; "off": rules and bounds only.
    allow: ids of findings to let pass; the result says which it did.
    strict: warnings are errors.
    schedule: the order things take effect in: "timed" (by simulated time, the
        default), "program" (as built, the default with time=False), or an int
        seed that picks a legal interleaving.
    numerics: rules that documents leave open, by key; docs/numerics.md.
    seed: of the device's random generators.
    max_instructions: a budget; None is 10**9 for programs with loops.
    time: False does not simulate time. values: False simulates time alone,
        needs no inputs and gives no outputs.
    stop_at_nan: the first NaN or infinity that comes of finite inputs is a
        Fault (nan.produced, nan.infinity_produced).
    max_time_ns: a budget of simulated time, with the timed schedule.
    max_wall_time: a budget of seconds on this host's clock.
    max_host_memory: bytes of this host's memory that the run may need, checked
        before any is allocated.
    throttle: False lets the tensor engine run at full rate after it has idled.
    launch_overhead: True adds the fixed device time of a kernel launch.
    hardware: a description that replaces the one built in, a path or its text
        (docs/what-if.md); summary() says what it changes.

    Raises Fault; what is wrong with inputs or options is also a ValueError.
    """
    options: dict[str, Any] = {
        "checks": checks,
        "strict": strict,
        "schedule": schedule,
        "numerics": numerics,
        "seed": seed,
        "max_instructions": max_instructions,
        "time": time,
        "values": values,
        "stop_at_nan": stop_at_nan,
        "max_time_ns": max_time_ns,
        "max_wall_time": max_wall_time,
        "max_host_memory": max_host_memory,
        "throttle": throttle,
        "launch_overhead": launch_overhead,
    }
    allow = _names(allow)
    executable = _load(program, target, allow, max_host_memory, hardware)
    return executable.run(inputs, allow=allow, **options)


def options_of_runs(**options: Any) -> dict[str, Any]:
    """Options of run(), checked, for run_into."""
    return _options(**{**_DEFAULTS, **options})


def run_into(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    into: Mapping[str, np.ndarray[Any, Any]],
    options: Mapping[str, Any],
) -> RunResult:
    """run(), which puts outputs into arrays of the caller's, name -> array.
    options: of options_of_runs().

    All arrays must be C-contiguous and exactly as their tensors, outputs
    writeable. They are written when the run has succeeded.
    """
    executable = _load(program, None, options["allow"])
    arrays = [
        _bytes_of(name, array, dtype)
        if (dtype := _dtype_named(array.dtype))
        else _input(name, array, program.inputs)  # which says what is wrong
        for name, array in inputs.items()
    ]
    return executable._run_with(arrays, dict(options), into)


def _load(
    program: Program,
    target: str | None,
    allow: Iterable[str],
    max_host_memory: int | None = None,
    hardware: Hardware | None = None,
) -> Executable:
    """The program on a fresh device."""
    if not isinstance(program, Program):
        raise TypeError(
            f"program must be a trnemu.Program, not {type(program).__name__}"
        )
    device = Device(
        program.target if target is None else target, program.cores, hardware
    )
    return device.load(program, allow, max_host_memory)


def explore(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    schedules: int = 100,
    target: str | None = None,
    **options: Any,
) -> RunResult:
    """Runs a program in simulated time, then under the schedules 1 to
    `schedules`, and gives the result of the first run once all agree with it
    in every bit.

    options: those of trnemu.run but schedule and values; checks may not be
        "off". With time=False the first run is in program order.

    With checks="full" the first run looks for races. The schedules go on in
    spite of one, to show what it does, and look at memory alone.

    Raises Fault: schedule.outputs_differ (category race) at the first schedule
    whose outputs differ, with the element and both values; what another
    schedule faults with. The seed is among the details, and what the first run
    found in `related`; trnemu.run(..., schedule=seed, checks="memory") repeats
    it. A race that no schedule shows is raised as it is.
    """
    executable = _load(
        program,
        target,
        _names(options.get("allow", ())),
        options.get("max_host_memory"),
    )
    return executable.explore(inputs, schedules, **options)
