"""trnemu.bench: what a program costs, or a table of what an operation costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from trnemu import _trnemu
from trnemu._run import _DEFAULTS, Device, Hardware, RunResult, _hardware
from trnemu._trnemu import Program


@dataclass(frozen=True)
class ProgramCost:
    """What a program costs: simulated and on this host."""

    time_ns: float
    """Simulated time."""
    host_seconds: float
    """Of this host's clock for one run, loading excluded: the median."""
    runs: int
    """How many runs the median is of."""
    instructions: int
    """Executed in one run."""
    values: bool
    """Whether values were computed."""
    result: RunResult
    """The last run's."""

    @property
    def instructions_per_second(self) -> float:
        """Of this host."""
        if self.host_seconds == 0:
            return float("inf")
        return self.instructions / self.host_seconds

    def __str__(self) -> str:
        return (
            f"{self.time_ns / 1e3:,.3f} us simulated; "
            f"{self.host_seconds * 1e3:,.3f} ms on this host "
            f"(median of {self.runs}), {self.instructions:,} instructions, "
            f"{self.instructions_per_second:,.0f} a second"
        )


@dataclass(frozen=True)
class Law:
    """The law that applied to one instruction of an operation."""

    instruction: str
    issue: str
    """As a formula in N, in ns: "66.67 + 0.52 N"."""
    completion: str
    issue_ns: float
    """The formula's value at this size."""
    completion_ns: float
    status: str
    """documented, measured, derived, fitted or assumed: the weakest."""
    source: str


@dataclass(frozen=True)
class CostRow:
    """One row of an operation's cost table. The figures are simulated by
    programs; `laws` is what the hardware description says."""

    operation: str
    target: str
    engine: str
    dtype: str
    placement: str
    size: int
    partitions: int
    issue_ns: float
    """Until the engine can start its next instruction."""
    completion_ns: float
    """Of one alone, until its result can be used."""
    interval_ns: float
    """From one to the next in a long stream."""
    first_ns: float
    """Of a program of this operation alone, tables and all."""
    bytes_per_ns: float
    """What a DMA moves in the stream; 0 for others."""
    flops_per_ns: float
    """Of a matmul in the stream; 0 for others."""
    laws: tuple[Law, ...]
    refused: str
    """Why there is no figure, or ""."""


@overload
def bench(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]] | None = None,
    *,
    target: str | None = None,
    runs: int = 5,
    values: bool = True,
    hardware: Hardware | None = None,
    **options: Any,
) -> ProgramCost: ...


@overload
def bench(
    program: str,
    *,
    sizes: Iterable[int] | str | int = (),
    dtype: Any = (),
    placement: Iterable[str] | str = (),
    target: Iterable[str] | str = "trn2",
    op: str = "",
    engine: str = "",
    partitions: int = 128,
    hardware: Hardware | None = None,
) -> list[CostRow]: ...


def bench(program: Any, inputs: Any = None, **options: Any) -> Any:
    """What a program costs, or a table of what an operation costs.

    bench(program, inputs) loads a program once, runs it `runs` times (5) and
    gives its simulated time, the median of the host's time for a run, and
    instructions per second. Inputs that are left out are zeros. values=False
    simulates time alone; other options are those of trnemu.run.

    bench("tensor_tensor", sizes=[64, 512], dtype=["float32", "bfloat16"],
    target=["trn1", "trn2"]) gives the rows of `trnemu bench`: sizes are numbers
    or "64:8192"; dtype, placement ("psum:sbuf"), op, engine and partitions as
    there. What is left out takes the operation's own.

    hardware=: a description that replaces the one built in, a path or its text
    (docs/what-if.md); it is of one target.

    Raises Fault, and ValueError for what is wrong with a query.
    """
    if isinstance(program, Program):
        _known(options, _OF_PROGRAMS, "of a program")
        return _of_program(program, inputs, **options)
    if not isinstance(program, str):
        raise TypeError(
            "bench() takes a trnemu.Program or the name of an operation, not "
            f"{type(program).__name__}"
        )
    if inputs is not None:
        raise TypeError("the table of an operation takes no inputs")
    _known(options, _OF_OPERATIONS, "of an operation")
    return _of_operation(program, **options)


_OF_OPERATIONS = (
    "sizes", "dtype", "placement", "target", "op", "engine", "partitions",
    "hardware",
)
_OF_PROGRAMS = ("target", "runs", "hardware", *_DEFAULTS)


def _known(options: Mapping[str, Any], known: Iterable[str], of: str) -> None:
    for name in options:
        if name not in known:
            raise TypeError(
                f"trnemu.bench {of} has no option {name!r}; there are "
                f"{', '.join(known)}"
            )


def _of_program(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]] | None,
    *,
    target: str | None = None,
    runs: int = 5,
    hardware: Hardware | None = None,
    **options: Any,
) -> ProgramCost:
    if runs < 1:
        raise ValueError(f"runs must be at least 1, not {runs}")
    given = dict(inputs or {})
    for name, (shape, dtype) in program.inputs.items():
        if name not in given:
            given[name] = np.zeros(shape, dtype.numpy)
    device = Device(
        program.target if target is None else target, program.cores, hardware
    )
    loaded = device.load(program, options.get("allow", ()))
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        result = loaded.run(given, **options)
        seconds.append(time.perf_counter() - start)
    return ProgramCost(
        time_ns=result.time_ns,
        host_seconds=statistics.median(seconds),
        runs=runs,
        instructions=result.profile.instructions,
        values=options.get("values", True),
        result=result,
    )


def _list(value: Any, kind: type) -> list[Any]:
    return [value] if isinstance(value, kind) else list(value)


def _of_operation(
    operation: str,
    *,
    sizes: Iterable[int] | str | int = (),
    dtype: Any = (),
    placement: Iterable[str] | str = (),
    target: Iterable[str] | str = "trn2",
    op: str = "",
    engine: str = "",
    partitions: int = 128,
    hardware: Hardware | None = None,
) -> list[CostRow]:
    if isinstance(sizes, str):
        sizes = _trnemu.cost_sizes(sizes)
    several = isinstance(dtype, list | tuple)
    rows = _trnemu.cost_table(
        operation,
        _list(sizes, int),
        list(dtype) if several else [dtype],
        _list(placement, str),
        _list(target, str),
        op,
        engine,
        partitions,
        *_hardware(hardware),
    )
    return [
        CostRow(**{**row, "laws": tuple(Law(**law) for law in row["laws"])})
        for row in rows
    ]
