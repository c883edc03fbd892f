"""Where a program's time goes: trnemu.profile and what it gives."""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trnemu import _trnemu
from trnemu._limits import whole
from trnemu._run import (
    _DEFAULTS,
    Hardware,
    RunResult,
    _inputs,
    _load,
    _names,
    _options,
)
from trnemu._trnemu import Program

_MAX_RECORDS = 8_000_000
_REFUSED = ("schedule", "time")
_WORDS = ("engine", "direction")

Columns = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Recommendation:
    """What could make a program faster. saves_ns: at most; id: of the rule
    (docs/profile.md)."""

    id: str
    title: str
    text: str
    evidence: str
    saves_ns: float


class ProfileReport:
    """What happened in a run, and when; docs/profile.md explains it.

    result: the run's RunResult. str(report) is the table that people read.
    Rows of `instructions` are in the order in which they took effect; those
    of `dma` are parts of transfers, `semaphores` changes of semaphores. Times
    are nanoseconds.
    """

    def __init__(
        self, result: RunResult, data: _trnemu.ProfileData
    ) -> None:
        self.result = result
        self._data = data

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        """All of it, as save_json writes it."""
        loaded: dict[str, Any] = json.loads(self._data.json())
        return loaded

    @property
    def time_ns(self) -> float:
        """Simulated nanoseconds."""
        return self.result.time_ns

    @property
    def summary(self) -> dict[str, float]:
        """Metrics by name; what is named a percent is a share of 1."""
        return {m["name"]: m["value"] for m in self.data["summary"]}

    @functools.cached_property
    def instructions(self) -> Columns:
        """A row for each instruction executed, as arrays by column: core,
        engine, opcode, operation, source and text as text, ready, start,
        issue_end, end, extra, wait_semaphore, producer, producer_dma, flops."""
        columns = _columns(self.data["instructions"])
        for name, table in (
            ("opcode", "opcodes"),
            ("operation", "operations"),
            ("source", "sources"),
            ("text", "texts"),
        ):
            words = np.array([*self.data[table], ""], dtype=np.str_)
            columns[name] = words[columns[name]]
        return columns

    @functools.cached_property
    def dma(self) -> Columns:
        """A row for each part of a transfer."""
        return _columns(self.data["dma"])

    @functools.cached_property
    def semaphores(self) -> Columns:
        """A row for each change of a semaphore."""
        return _columns(self.data["semaphores"])

    @property
    def recommendations(self) -> list[Recommendation]:
        """What would save the most time, best first; at most four."""
        return [Recommendation(**r) for r in self.data["recommendations"]]

    @property
    def critical_path(self) -> list[dict[str, Any]]:
        """The pieces of the critical path, in the order of time."""
        path: list[dict[str, Any]] = self.data["critical_path"]
        return path

    def save_json(self, path: str) -> None:
        """Writes everything as one JSON object."""
        pathlib.Path(path).write_text(self._data.json(), encoding="utf-8")

    def save_trace(self, path: str) -> None:
        """Writes a timeline that ui.perfetto.dev opens."""
        pathlib.Path(path).write_text(self._data.trace(), encoding="utf-8")

    def save_html(self, path: str) -> None:
        """Writes a report of one file that a browser opens (docs/report.md)."""
        page = _trnemu.render_report(self._data.json())
        pathlib.Path(path).write_text(page, encoding="utf-8")

    def save_csv(self, folder: str) -> None:
        """Writes tables with the vendor profiler's names and columns."""
        to = pathlib.Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        for name, text in self._data.tables():
            (to / f"{name}.csv").write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return self._data.text()

    def __repr__(self) -> str:
        return f"<ProfileReport of {self.time_ns} ns>"


def _columns(lists: Mapping[str, list[Any]]) -> Columns:
    return {
        name: np.array(values, dtype=np.str_ if name in _WORDS and (
            not values or isinstance(values[0], str)) else None)
        if values
        else np.zeros(0, np.str_ if name in _WORDS else np.int64)
        for name, values in lists.items()
    }


def profile(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]] | None = None,
    target: str | None = None,
    *,
    name: str = "",
    max_records: int | None = None,
    hardware: Hardware | None = None,
    **options: Any,
) -> ProfileReport:
    """Runs a program and says where its time goes.

    inputs: of every input tensor; None or none of them computes no values, only
    time, which needs no inputs. target: another generation than the program's. name: what to call
    it in reports. max_records: most instructions and DMA parts to keep, of
    about 90 bytes each (8 million). hardware: a description that replaces the
    one built in, a path or its text (docs/what-if.md). options: those of trnemu.run, without
    schedule and time. Raises Fault.
    """
    for option in options:
        if option not in _DEFAULTS or option in _REFUSED:
            raise TypeError(
                f"trnemu.profile has no option {option!r}; there are "
                f"{', '.join(k for k in _DEFAULTS if k not in _REFUSED)}"
            )
    if inputs is None or (
        not inputs and isinstance(program, Program) and program.inputs
    ):
        if options.setdefault("values", False):
            raise TypeError("values=True needs inputs")
        inputs = {}
    given = _options(**{**_DEFAULTS, **options})
    limit = whole("max_records", max_records, "records")
    if limit is not None and limit < 0:
        raise ValueError(f"max_records must not be negative, but it is {limit}")
    executable = _load(
        program, target, _names(options.get("allow", ())),
        given["max_host_memory"],
        hardware,
    )
    arrays = _inputs(program.inputs, inputs)
    result, data = executable._executable.profile(
        arrays, given, program, name or program.name,
        _MAX_RECORDS if limit is None else limit,
    )
    return ProfileReport(RunResult(result), data)
