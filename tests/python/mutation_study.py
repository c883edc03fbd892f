"""Mistakes in correct programs: which of them are seen, and which matter.

    python tests/python/mutation_study.py --programs 300 --seed 1 --jobs 2

Half of the programs are those of random_maker.py, synchronised by the builder,
half those of random_explicit.py. Each is run as it is, in every order with all
checks: nothing may be reported, and all orders give the same bits. Then each
kind of mutation_kinds.py changes one place of its text form, several times.
Without checks, the mutant shows in which orders an output changes (the truth);
with them, in the timed order alone, what is reported. Orders are the schedules
timed, program, 0, 1, ..., and "stretched 0", ...: the schedule of that number
with delays at random places of the program.

    python tests/python/mutation_study.py --seed 1 --only 17 "remove wait" 0 \
        --keep DIR

shows one mutant again and leaves mutant.trn, its inputs and the program there.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
import itertools
import multiprocessing
from pathlib import Path
import time
from typing import Any
import zlib

import numpy as np

import trnemu
from mutation_kinds import KINDS, WAITS, Mutation
from mutation_stretch import stretched
from mutation_text import Listing
from oracle.types import Array
from random_emit import Emitter
from random_explicit import Explicit
from random_maker import Maker

ORDERS = 40  # random ones, with schedule seeds 0, 1, ...
STRETCHED = 20  # more, of the program with delays in it: mutation_stretch.py
DEEP_ORDERS, DEEP_MUTANTS = 400, 30
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


# Runs.

Outputs = dict[str, bytes]
LIMIT = 200_000  # instructions: a mutant may loop for ever


def outputs(loaded: Any, inputs: Any, schedule: Any, checks: str = "off"
            ) -> tuple[Outputs, list[str]]:
    """Bits of the outputs, and what was reported."""
    result = loaded.run(inputs, schedule=schedule, time=schedule == "timed",
                        checks=checks, max_instructions=LIMIT)
    return ({name: a.tobytes() for name, a in result.outputs.items()},
            [d.id for d in result.diagnostics])


def orders(count: int, delayed: int = 0) -> list[Any]:
    return ["timed", "program", *range(count),
            *(f"stretched {k}" for k in range(delayed))]


def delayed(text: str, order: str, focus: tuple[str, ...] = (),
            transfers: bool = True) -> str:
    """The text of a "stretched" order."""
    rng = np.random.default_rng([int(order.split()[1]), 5])
    return stretched(Listing.of(text), rng, focus, transfers)


@dataclass
class Baseline:
    """What the program does: outputs, findings that are part of it (warnings
    about generators), and what it should not have done."""

    outputs: Outputs
    ids: set[str]
    wrong: list[str] = field(default_factory=list)
    runs: int = 0


# Warnings that say what the model leaves open, and nothing of the program.
EXPECTED = {"rng.generator"}


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
    first, ids = outputs(loaded, s.inputs, "timed")
    base = Baseline(first, set(ids) | EXPECTED)
    for schedule in schedules:
        base.runs += 1
        try:
            got, reported = in_order(s, s.text, loaded, schedule, "full")
        except trnemu.Fault as fault:
            base.wrong.append(f"order {schedule}: {fault}")
            break
        if got != first:
            base.wrong.append(f"order {schedule}: other bits of "
                              f"{_differing(got, first)}")
        base.ids |= {i for i in reported if not i.startswith("race")}
        base.wrong += [f"order {schedule}: {i}" for i in reported
                       if i.startswith("race")]
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
    deep: list[Any] | None = None
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
            report(s, base, loaded, one)
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


def report(s: Subject, base: Baseline, loaded: Any, one: Mutant) -> None:
    """What is said with all checks, in the timed order."""
    try:
        result = loaded.run(s.inputs, max_instructions=LIMIT)
        new = [d for d in result.diagnostics if d.id not in base.ids]
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


def deepen(one: Mutant) -> Mutant:
    """More orders for a mutant that was reported and that none changed."""
    with np.errstate(all="ignore"):
        s = subject(one.seed)
        base = baseline(s, [])
        text = Listing.of(s.text).text(one.mutation.lines)
        more = [*range(ORDERS, DEEP_ORDERS // 2), *(
            f"stretched {k}" for k in range(STRETCHED, DEEP_ORDERS // 2))]
        changed, stopped, _ = truth(
            s, base, text, s.load(text), more, one.mutation.focus)
        one.deep = [*changed, *itertools.chain(*stopped.values())]
    return one


COLUMNS = ("mutants", "changed", "stopped", "orders differ", "reported",
           "changed, reported", "CHANGED, NOT REPORTED",
           "ORDERS DIFFER, NOT REPORTED", "reported, not changed")


@dataclass
class Table:
    """Counts by kind, and what is worth printing."""

    rows: dict[str, Counter[str]] = field(default_factory=dict)
    ids: dict[str, Counter[str]] = field(default_factory=dict)
    missed: list[Mutant] = field(default_factory=list)
    doubtful: list[Mutant] = field(default_factory=list)
    programs: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    runs: int = 0

    def add(self, found: Found) -> None:
        self.programs["explicit" if found.explicit else "automatic"] += 1
        if found.unread:
            self.programs["not read back"] += 1
            self.wrong.append(f"program {found.seed[1]} is not read back from "
                              f"its text: {found.unread}")
        self.runs += found.runs
        self.wrong += [f"program {found.seed[1]}, not changed: {w}"
                       for w in found.wrong]
        for one in found.mutants:
            self.mutant(one)

    def mutant(self, one: Mutant) -> None:
        row = self.rows.setdefault(one.kind, Counter())
        bad, seen = one.matters, bool(one.reported)
        for name, holds in zip(COLUMNS, (
                True, one.changed, one.stopped, one.unordered, seen,
                bad and seen, bad and not seen, one.unordered and not seen,
                seen and not bad), strict=True):
            row[name] += bool(holds)
        self.ids.setdefault(one.kind, Counter()).update(one.reported)
        if bad and not seen:
            self.missed.append(one)
        if seen and not bad and one.kind in WAITS:
            self.doubtful.append(one)

    def must(self) -> list[Mutant]:
        """Missed ones that are a hole in the checks: mistakes of waits, and
        whatever gives different results in different orders."""
        return [m for m in self.missed if m.kind in WAITS or m.unordered]

    def __str__(self) -> str:
        wide = max(map(len, self.rows), default=0)
        lines = [
            f"programs: {dict(sorted(self.programs.items()))}, run "
            f"{self.runs} times; reported or different: {len(self.wrong)}",
            *self.wrong, "",
            " " * wide + " | " + " | ".join(COLUMNS)]
        for kind, row in self.rows.items():
            lines.append(f"{kind:{wide}} | " + " | ".join(
                f"{row[c]:{len(c)}}" for c in COLUMNS))
        lines.append("")
        for kind, ids in self.ids.items():
            counts = sorted(ids.items(), key=lambda i: (-i[1], i[0]))
            lines.append(f"{kind}, reported as: " + ", ".join(
                f"{i} {n}" for i, n in counts))
        return "\n".join(lines)


def _call(args: tuple[Any, ...]) -> Any:
    return args[0](*args[1:])


def run(seeds: list[tuple[int, int]], options: Options, jobs: int = 1
        ) -> Table:
    """The table of these programs; deterministic whatever jobs is."""
    table = Table()
    tasks = [(study, seed, options) for seed in seeds]
    if jobs == 1:
        for task in tasks:
            table.add(_call(task))
        return table
    with multiprocessing.Pool(jobs) as pool:
        for found in pool.imap(_call, tasks, 4):
            table.add(found)
    return table


def deep(table: Table, jobs: int) -> list[Mutant]:
    """A sample of the doubtful ones, spread evenly, in more orders."""
    some = table.doubtful
    step = max(1, len(some) // DEEP_MUTANTS)
    with multiprocessing.Pool(jobs) as pool:
        return pool.map(deepen, some[::step][:DEEP_MUTANTS])


# Command line.


def show(seed: tuple[int, int], kind: str, number: int, options: Options,
         keep: Path | None) -> None:
    """One mutant in full; its files are left in `keep`."""
    s = subject(seed)
    one = list(mutants(s, baseline(s, []), kind, options))[number]
    print(one, one.said, sep="\n")
    if keep is None:
        return
    keep.mkdir(parents=True, exist_ok=True)
    text = Listing.of(s.text).text(one.mutation.lines)
    trnemu.Program.from_text(s.text).save(keep / "program.trn")
    trnemu.Program.from_text(text).save(keep / "mutant.trn")
    for order in [o for o in one.changed if str(o)[0] == "s"][:1]:
        slow = delayed(text, order, one.mutation.focus)
        name = f"mutant_{order.replace(' ', '_')}.trn"
        trnemu.Program.from_text(slow).save(keep / name)
    names = []
    for name, array in s.inputs.items():
        np.save(keep / f"{name}.npy", array)
        names.append(f"--input {name}={keep / name}.npy")
    print(f"trnemu run {keep}/mutant.trn {' '.join(names)}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", type=int, default=300,
                        help="how many (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="of all of them")
    parser.add_argument("--first", type=int, default=0,
                        help="number of the first program")
    parser.add_argument("--orders", type=int, default=ORDERS,
                        help=f"random orders of each (default {ORDERS}): "
                        "schedules 0, 1, ...")
    parser.add_argument("--stretched", type=int, default=STRETCHED,
                        help=f"stretched ones (default {STRETCHED})")
    parser.add_argument("--each", type=int, default=EACH,
                        help=f"mutants of a kind and program (default {EACH})")
    parser.add_argument("--kind", choices=KINDS, action="append",
                        help="only this kind; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", nargs=3,
                        metavar=("PROGRAM", "KIND", "MUTANT"),
                        help="show one mutant")
    parser.add_argument("--keep", type=Path, metavar="DIR",
                        help="with --only: leave its files there")
    args = parser.parse_args()
    np.seterr(all="ignore")
    options = Options(tuple(args.kind or KINDS), args.each, args.orders,
                      args.stretched)
    if args.only:
        show((args.seed, int(args.only[0])), args.only[1], int(args.only[2]),
             options, args.keep)
        return 0
    start = time.monotonic()
    seeds = [(args.seed, args.first + n) for n in range(args.programs)]
    table = run(seeds, options, args.jobs)
    for one in table.missed:
        hole = "MISSED" if one in table.must() else "not reported"
        print(f"{hole}: {one}\n")
    print(table)
    for one in deep(table, args.jobs) if table.doubtful else ():
        print(f"reported, changed in {len(one.deep or [])} of {DEEP_ORDERS} "
              f"orders: {one}\n{one.said}\n")
    print(f"seed {args.seed}; orders timed, program, 0 to {args.orders - 1}, "
          f"stretched 0 to {args.stretched - 1}; "
          f"{time.monotonic() - start:.0f} s")
    return 1 if table.wrong or table.must() else 0


if __name__ == "__main__":
    raise SystemExit(main())
