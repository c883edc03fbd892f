"""One program of the mutation study: run as it is, changed, and run again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
import functools
import itertools
from pathlib import Path
from typing import Any
import zlib

import numpy as np

import trnemu
from mutation_kinds import KINDS, Mutation
from mutation_stretch import stretched
from mutation_text import Listing
from oracle.types import Array
from random_emit import Emitter
from random_explicit import Explicit
from random_maker import Maker

ORDERS = 40  # random ones, with schedule seeds 0, 1, ...
STRETCHED = 20  # more, of the program with delays in it: mutation_stretch.py
EACH = 2  # mutants of a kind from a program
# What makes a text no program, rather than a program with a mistake in it.
NO_PROGRAM = ("malformed", "illegal", "unsupported", "internal")


@dataclass
class Subject:
    """A correct program: its text and inputs."""

    seed: tuple[int, int]
    target: str
    cores: int
    text: str
    inputs: dict[str, Array]

    @property
    def explicit(self) -> bool:
        return self.seed[1] % 2 == 1

    def load(self, text: str) -> Any:
        program = trnemu.Program.from_text(text)
        return trnemu.Device(self.target, self.cores).load(program)


def subject(seed: tuple[int, int]) -> Subject:
    """Program `seed[1]` of the study: even ones are the builder's."""
    if seed[1] % 2:
        e = Explicit(seed)
        return Subject(seed, e.target, e.cores, e.program.to_text(), e.inputs)
    emitter = Emitter(Maker(seed).make())
    program = emitter.build()
    return Subject(seed, program.target, program.cores, program.to_text(),
                   emitter.inputs)


def save_inputs(s: Subject, folder: Path) -> list[str]:
    """Inputs as files, and the words of the command line that name them."""
    words = []
    for name, array in s.inputs.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    return words


# Runs.

Outputs = dict[str, bytes]
LIMIT = 200_000  # instructions: a mutant may loop for ever


def outputs(loaded: Any, inputs: Any, schedule: Any, checks: str = "off"
            ) -> tuple[Outputs, list[str]]:
    """Bits of the outputs, and what was reported."""
    result = loaded.run(inputs, schedule=schedule, time=schedule == "timed",
                        checks=checks, max_instructions=LIMIT)
    return ({name: a.tobytes() for name, a in result.outputs.items()},
            [d.id for d in _reports(result)])


def _reports(result: Any) -> list[Any]:
    """Without what is unspecified: warnings of values that documents leave
    open, which random programs have, and which tell of no mistake."""
    return [d for d in result.diagnostics if d.category != "unspecified"]


def orders(count: int, delayed: int = 0) -> list[Any]:
    return ["timed", "program", *range(count),
            *(f"stretched {k}" for k in range(delayed))]


def delayed(text: str, order: str, focus: tuple[str, ...] = (),
            transfers: bool = True) -> str:
    """The text of a "stretched" order."""
    rng = np.random.default_rng([int(order.split()[1]), 5])
    return stretched(_listed(text), rng, focus, transfers)


_listed = functools.lru_cache(maxsize=4)(Listing.of)


@dataclass
class Baseline:
    """What the program does: outputs, and what it should not have done."""

    outputs: Outputs
    wrong: list[str] = field(default_factory=list)
    runs: int = 0


def in_order(s: Subject, text: str, loaded: Any, order: Any, checks: str,
             focus: tuple[str, ...] = ()) -> tuple[Outputs, list[str]]:
    """outputs() of a loaded text in an order, stretched ones included."""
    if isinstance(order, int) or not order.startswith("stretched"):
        return outputs(loaded, s.inputs, order, checks)
    # Transfers that only delay write the same byte: with checks, Nops alone.
    slow = delayed(text, order, focus, transfers=checks == "off")
    return outputs(s.load(slow), s.inputs, int(order.split()[1]), checks)


def baseline(s: Subject, schedules: list[Any]) -> Baseline:
    """Of the program as it is, with all checks."""
    loaded = s.load(s.text)
    base = Baseline(outputs(loaded, s.inputs, "timed")[0])
    for schedule in schedules:
        base.runs += 1
        try:
            got, reported = in_order(s, s.text, loaded, schedule, "full")
        except trnemu.Fault as fault:
            base.wrong.append(f"order {schedule}: {fault}")
            break
        if got != base.outputs:
            base.wrong.append(f"order {schedule}: other bits of "
                              f"{_differing(got, base.outputs)}")
        base.wrong += [f"order {schedule}: {i}" for i in reported]
    return base


def _differing(a: Outputs, b: Outputs) -> list[str]:
    return [name for name in a if a[name] != b.get(name)]


@dataclass
class Mutant:
    """One mutant and its fate. changed, stopped: orders in which outputs
    differ from the program's, and in which the run ends with a fault without
    checks; kinds: how many different outcomes the orders had; reported: ids
    with all checks; said: the first report in full."""

    seed: tuple[int, int]
    kind: str
    number: int
    mutation: Mutation
    explicit: bool
    changed: list[Any] = field(default_factory=list)
    stopped: dict[str, list[Any]] = field(default_factory=dict)
    kinds: int = 0
    reported: list[str] = field(default_factory=list)
    said: str = ""
    deep: str = ""  # what more orders show: mutation_judge.py
    where: str = ""

    @property
    def matters(self) -> bool:
        return bool(self.changed or self.stopped)

    @property
    def unordered(self) -> bool:
        """Orders disagree: something is missing between instructions."""
        return self.kinds > 1

    def __str__(self) -> str:
        seed, n = self.seed
        stopped = ", ".join(f"{i} in {_few(o)}"
                            for i, o in self.stopped.items())
        return "\n".join(filter(None, (
            f"{self.kind}, program {n}, mutant {self.number} "
            f"(--seed {seed} --only {n} {self.kind!r} {self.number}): "
            f"{self.where}",
            f"  outputs change in orders {_few(self.changed)}"
            if self.changed else "",
            f"  the run ends with {stopped}" if stopped else "",
            f"  reported: {', '.join(self.reported) or 'nothing'}")))


def _few(items: list[Any]) -> str:
    text = ", ".join(str(x) for x in items[:6])
    return text + (f" and {len(items) - 6} more" if len(items) > 6 else "")


def candidates(s: Subject, listing: Listing, kind: str
               ) -> Iterator[tuple[Mutation, Any]]:
    """Mutations of a kind that are programs, and the loaded ones, or the fault
    that loading gave."""
    rng = np.random.default_rng([*s.seed, zlib.crc32(kind.encode())])
    seen = {s.text}
    for mutation in KINDS[kind](listing, rng):
        text = listing.text(mutation.lines)
        if text in seen:
            continue
        seen.add(text)
        try:
            yield mutation, s.load(text)
        except trnemu.Fault as fault:
            if fault.category not in NO_PROGRAM:
                yield mutation, fault


def mutants(s: Subject, base: Baseline, kind: str, options: Options
            ) -> Iterator[Mutant]:
    listing = Listing.of(s.text)
    found = itertools.islice(candidates(s, listing, kind), options.each)
    for number, (mutation, loaded) in enumerate(found):
        one = Mutant(s.seed, kind, number, mutation, s.explicit)
        one.where = mutation.describe(listing)
        if isinstance(loaded, trnemu.Fault):
            one.reported, one.said = [loaded.id], str(loaded)
            one.stopped[loaded.id] = ["load"]
            one.kinds = 1
        else:
            one.changed, one.stopped, one.kinds = truth(
                s, base, listing.text(mutation.lines), loaded,
                options.schedules(), mutation.focus)
            report(s, loaded, one)
        yield one


def truth(s: Subject, base: Baseline, text: str, loaded: Any,
          schedules: list[Any], focus: tuple[str, ...]
          ) -> tuple[list[Any], dict[str, list[Any]], int]:
    """What the orders show without checks."""
    changed: list[Any] = []
    stopped: dict[str, list[Any]] = {}
    kinds: set[Any] = set()
    for schedule in schedules:
        try:
            got, _ = in_order(s, text, loaded, schedule, "off", focus)
        except trnemu.Fault as fault:
            stopped.setdefault(fault.id, []).append(schedule)
            kinds.add(fault.id)
            continue
        kinds.add(tuple(sorted(
            (name, zlib.crc32(b)) for name, b in got.items())))
        if got != base.outputs:
            changed.append(schedule)
    return changed, stopped, len(kinds)


def report(s: Subject, loaded: Any, one: Mutant) -> None:
    """What is said with all checks, in the timed order."""
    try:
        result = loaded.run(s.inputs, max_instructions=LIMIT)
        new = _reports(result)
        one.reported = sorted({d.id for d in new})
        one.said = str(new[0]) if new else ""
    except trnemu.Fault as fault:
        one.reported, one.said = [fault.id], str(fault)


# The study.


@dataclass
class Found:
    """All about one program; unread: its text is refused as it is."""

    seed: tuple[int, int]
    explicit: bool
    wrong: list[str] = field(default_factory=list)
    unread: str = ""
    runs: int = 0
    mutants: list[Mutant] = field(default_factory=list)


@dataclass(frozen=True)
class Options:
    """What each program is subjected to."""

    kinds: tuple[str, ...] = tuple(KINDS)
    each: int = EACH
    orders: int = ORDERS
    stretched: int = STRETCHED

    def schedules(self) -> list[Any]:
        return orders(self.orders, self.stretched)


def study(seed: tuple[int, int], options: Options) -> Found:
    with np.errstate(all="ignore"):
        s = subject(seed)
        found = Found(seed, s.explicit)
        try:
            s.load(s.text)
        except trnemu.Fault as fault:
            found.unread = f"{fault.id}: {fault.message}"
            return found
        base = baseline(s, options.schedules())
        found.wrong, found.runs = base.wrong, base.runs
        if base.wrong:
            return found
        for kind in options.kinds:
            found.mutants += mutants(s, base, kind, options)
        return found
