"""When each instruction of a run started and ended, from the command's log."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import trnemu

_LINE = re.compile(
    r"core (?P<core>\d+) (?P<engine>\w+) #(?P<index>\d+) \S+ (?P<opcode>\w+) "
    r".* ; (?P<start>[\d.]+) to (?P<end>[\d.]+) ns"
)


@dataclass(frozen=True)
class Event:
    """One instruction: start, and when its results and signals were there."""

    core: int
    engine: str
    opcode: str
    start: float
    end: float


_cache: dict[int, tuple[trnemu.Program, list[Event]]] = {}


def events(program: trnemu.Program) -> list[Event]:
    """Of a run with values off, in the order they retired. The last program's
    are kept."""
    if id(program) not in _cache:
        _cache.clear()
        _cache[id(program)] = program, _run(program)
    return _cache[id(program)][1]


def _run(program: trnemu.Program) -> list[Event]:
    command = os.environ.get("TRNEMU_BIN", "trnemu")
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder, "case.trn"), Path(folder, "case.log")
        program.save(path)
        subprocess.run(
            [command, "run", path, "--values", "off", "--checks", "off",
             "--log", log],
            check=True, capture_output=True,
        )
        text = log.read_text()
    return [
        Event(int(m["core"]), m["engine"], m["opcode"], float(m["start"]),
              float(m["end"]))
        for m in map(_LINE.match, text.splitlines()) if m
    ]


def active_ns(several: list[Event], engine: str) -> float:
    """The time in which an engine has at least one instruction under way,
    from its start to its completion: what profilers call active."""
    total = last = 0.0
    spans = sorted((e.start, e.end) for e in several if e.engine == engine)
    for start, end in spans:
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return total
