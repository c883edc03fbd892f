"""What a composite is: a program, the published figures, and our run of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import trnemu

from .events import active_ns, events

# What the published time holds beyond the kernel's own first trigger to last
# completion: spec/timing.md 2.3. The clock of nki.benchmark (nc_latency)
# holds a fixed term per kernel (VOY, measured on trn2, assumed elsewhere);
# the total time of a profile view holds the runtime's preamble and postamble
# (about 12.6 to 13 us and 2 to 3.4 us; their middles).
FIXED_NS = {"kernel": 0.0, "nc_latency": 9400.0, "profile": 12800.0 + 2700.0}


@dataclass(frozen=True)
class Figure:
    """A published figure beside the time, and how ours is read off a run."""

    name: str
    published: float
    unit: str
    ours: Callable[[Run], float]
    status: str = "counter"  # counter, picture or derived


@dataclass(frozen=True)
class Case:
    """One row of spec/timing.md section 3 on one generation."""

    row: str
    name: str
    target: str
    measured_ns: float
    source: str
    build: Callable[[], trnemu.Program]
    # opcode -> how many the page describes, by arithmetic
    opcodes: dict[str, int]
    clock: str = "nc_latency"  # a key of FIXED_NS
    status: str = "measured"
    figures: tuple[Figure, ...] = ()
    # What differs from the published stream, and what was decided.
    structure: str = ""
    # Why it is off by more than 15 %, as far as can be shown.
    reason: str = ""
    # The constant that was derived from it: then its error is no test.
    calibrates: str = ""
    # The error that tests hold it to, a fraction.
    bound: float = 0.15
    quick: bool = False
    # Part of the run that the published time covers, ns; the whole if None.
    span: Callable[[Run], float] | None = None

    @property
    def id(self) -> str:
        return f"{self.row} {self.name} {self.target}"


@dataclass
class Run:
    """Our run of a case, values off."""

    case: Case
    profile: trnemu.Profile
    program: trnemu.Program
    host_seconds: float = 0.0

    @property
    def kernel_ns(self) -> float:
        """What the published time is compared with, less its fixed terms."""
        span = self.case.span
        return self.profile.time_ns if span is None else span(self)

    @property
    def simulated_ns(self) -> float:
        return self.kernel_ns + FIXED_NS[self.case.clock]

    @property
    def error(self) -> float:
        return self.simulated_ns / self.case.measured_ns - 1

    def busy_ns(self, engine: str) -> float:
        return self.profile.engines[engine].busy_ns

    def active_ns(self, engine: str) -> float:
        """With at least one instruction under way, as profilers count it."""
        return active_ns(events(self.program), engine)

    def opcode(self, name: str) -> int:
        return self.profile.opcodes.get(name, 0)


def zeros(program: trnemu.Program) -> dict[str, np.ndarray[Any, Any]]:
    """Inputs that take no memory: nothing reads them with values off."""
    return {
        name: np.zeros(shape, dtype.numpy)
        for name, (shape, dtype) in program.inputs.items()
    }


def run(case: Case) -> Run:
    """Builds and runs a case; time alone, no values."""
    program = case.build()
    start = time.perf_counter()
    result = trnemu.run(program, zeros(program), values=False, checks="off")
    return Run(case, result.profile, program, time.perf_counter() - start)
