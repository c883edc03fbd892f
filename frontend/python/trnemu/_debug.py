"""A run step by step: breakpoints, watches, what is in memory now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trnemu import _trnemu
from trnemu._run import (
    RunResult,
    _inputs,
    _load,
    _looking_options,
    _names,
)
from trnemu._trnemu import Program, View


@dataclass(frozen=True)
class Reading:
    """What is in a tensor now.

    values: an array of the tensor's dtype; what was never written is whatever
    is there. written: bool, of the same shape and one dimension more, the
    bytes of each element. numpy.asarray(reading) is its values.
    """

    values: np.ndarray[Any, Any]
    written: np.ndarray[Any, Any]

    @property
    def complete(self) -> bool:
        """Whether every byte was written in this run."""
        return bool(self.written.all())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


@dataclass(frozen=True)
class WatchHit:
    """Bytes that were watched and written, whether or not they changed."""

    id: int
    place: str
    old: bytes
    new: bytes
    old_was_written: bool


@dataclass(frozen=True)
class Stop:
    """Why a run has stopped, and where.

    kind: "step" (as many as asked for), "break" (before the instruction),
    "watch" (after it) or "end". id: of the breakpoint. effect: what the last
    step was, "instruction", "trigger" (of a DMA), "read" (a part of a DMA that
    will write later; with a random schedule only) or "write" (a part). part:
    its queue. time_ns: simulated, 0.0 in other schedules than timed.
    """

    kind: str
    id: int = 0
    time_ns: float = 0.0
    core: int | None = None
    instruction: int | None = None
    operation: str = ""
    opcode: str = ""
    engine: str = ""
    source: str = ""
    effect: str | None = None
    part: int | None = None
    hits: tuple[WatchHit, ...] = ()


@dataclass(frozen=True)
class EngineState:
    """Where an engine stands: its next instruction (None: it is done) and the
    waits that do not hold, each (semaphore, value now, value it waits for)."""

    core: int
    engine: str
    instruction: int | None
    operation: str = ""
    opcode: str = ""
    source: str = ""
    waits: tuple[tuple[str, int, int], ...] = ()


def _stop(raw: Mapping[str, Any]) -> Stop:
    hits = tuple(WatchHit(**hit) for hit in raw["hits"])
    return Stop(**{**raw, "hits": hits})


class Debugger:
    """A run that stops where one asks; trnemu.debug makes it.

    A fault of the program is raised by the call in which it happens, and ends
    the run; memory can still be read.
    """

    def __init__(self, debugger: _trnemu.Debugger) -> None:
        self._debugger = debugger

    def step(self, n: int = 1) -> Stop:
        """n more steps, fewer if a breakpoint, a watch or the end comes first.

        A step is an instruction that takes effect, a DMA that is triggered, or
        a part of a DMA; with schedule="program" a DMA and its parts are one.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        return _stop(self._debugger.step(n))

    def continue_(self) -> Stop:
        """Goes on to the next breakpoint or watch, or to the end."""
        return _stop(self._debugger.go_on())

    def run_until(self, where: str | int) -> Stop:
        """Goes on to `where`, as breakpoint takes it, or to what stops it
        before."""
        id = self.breakpoint(where)
        try:
            return self.continue_()
        finally:
            self.remove(id)

    def breakpoint(self, where: str | int) -> int:
        """Stops before: an instruction's number, an operation's name, or
        "file.py:LINE". Gives its id."""
        return self._debugger.breakpoint(str(where))

    def watch(self, what: str | View) -> int:
        """Stops after each write to these bytes: a view, "t[0:4, 8]", or
        "sbuf:3:4096+4" (partition, first byte, how many). Gives its id."""
        return self._debugger.watch(what)

    def remove(self, id: int) -> None:
        """Removes a breakpoint or watch. KeyError if there is none."""
        if not self._debugger.remove(id):
            raise KeyError(id)

    def read(self, what: str | View) -> Reading:
        """What a tensor ("t", "t[0:4, 8]" or a view) holds now."""
        dtype, shape, data, written = self._debugger.read(what)
        values = data.view(dtype.numpy).reshape(shape)
        mask = written.view(bool).reshape((*shape, dtype.numpy.itemsize))
        return Reading(values, mask)

    def engines(self) -> list[EngineState]:
        """Where each engine that has instructions stands."""
        return [
            EngineState(**{**e, "waits": tuple(e["waits"])})
            for e in self._debugger.engines()
        ]

    def semaphores(self) -> dict[str, int]:
        """The value of each semaphore."""
        return self._debugger.semaphores()

    def registers(self) -> dict[tuple[int, str], dict[int, int]]:
        """(core, engine) -> number -> value, of the registers that have one."""
        return self._debugger.registers()

    @property
    def parts_under_way(self) -> int:
        """Parts of DMAs that were triggered and have yet to be done."""
        return self._debugger.parts_under_way

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self._debugger.ended

    def result(self) -> RunResult:
        """Goes on to the end, past breakpoints and watches, and gives what
        trnemu.run gives; once."""
        return RunResult(self._debugger.result())


def debug(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    target: str | None = None,
    **options: Any,
) -> Debugger:
    """Prepares a run that stops where one asks; nothing has run yet.

    options: those of trnemu.run but values. The schedule may be any: with the
    seed of trnemu.explore it shows what happened there.
    """
    executable = _load(
        program,
        target,
        _names(options.get("allow", ())),
        options.get("max_host_memory"),
    )
    arrays = _inputs(program.inputs, inputs)
    given = _looking_options("debug", options)
    return Debugger(executable._executable.debug(arrays, given))
