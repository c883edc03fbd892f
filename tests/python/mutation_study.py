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

shows one mutant again, and what of the program its mistake needs, and leaves
mutant.trn, its inputs and the program in DIR.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
import multiprocessing
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np

import trnemu
from mutation_judge import DEEP_MUTANTS, deepen
from mutation_kinds import KINDS, WAITS
from mutation_minimise import minimal
from mutation_run import (
    EACH, ORDERS, STRETCHED, Found, Mutant, Options, baseline, delayed,
    mutants, save_inputs, study, subject,
)
from mutation_text import Listing

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


def run(seeds: list[tuple[int, int]], options: Options, jobs: int = 1,
        progress: bool = False) -> Table:
    """The table of these programs; deterministic whatever jobs is."""
    table = Table()
    tasks = [(study, seed, options) for seed in seeds]
    with multiprocessing.Pool(jobs) as pool:
        results = pool.imap(_call, tasks, 2) if jobs > 1 else map(_call, tasks)
        for n, found in enumerate(results, 1):
            table.add(found)
            if progress and n % 50 == 0:
                print(f"{n} programs, {len(table.must())} missed, "
                      f"{len(table.wrong)} false", file=sys.stderr, flush=True)
    return table


def deep(table: Table, jobs: int) -> list[Mutant]:
    """A sample of the doubtful ones, spread evenly, looked at closely."""
    some = table.doubtful
    step = max(1, len(some) // DEEP_MUTANTS)
    with multiprocessing.Pool(jobs) as pool:
        return pool.map(deepen, some[::step][:DEEP_MUTANTS])


# Command line.


def show(seed: tuple[int, int], kind: str, number: int, options: Options,
         keep: Path | None) -> None:
    """One mutant in full; its files are left in `keep`."""
    s = subject(seed)
    options = Options((kind,), number + 1, options.orders, options.stretched)
    one = list(mutants(s, baseline(s, []), kind, options))[number]
    print(one, one.said, sep="\n")
    if one.matters:
        print("\nWhat it takes (the rest as Nops with their semaphores):")
        print(*minimal(s, one), sep="\n")
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
    print(f"trnemu run {keep}/mutant.trn {' '.join(save_inputs(s, keep))}")


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
    table = run(seeds, options, args.jobs, progress=True)
    for one in table.missed:
        hole = "MISSED" if one in table.must() else "not reported"
        print(f"{hole}: {one}\n")
    print(table)
    for one in deep(table, args.jobs) if table.doubtful else ():
        print(f"reported, no output changed; {one.deep}\n{one}\n{one.said}\n")
    print(f"seed {args.seed}; orders timed, program, 0 to {args.orders - 1}, "
          f"stretched 0 to {args.stretched - 1}; "
          f"{time.monotonic() - start:.0f} s")
    return 1 if table.wrong or table.must() else 0


if __name__ == "__main__":
    raise SystemExit(main())
