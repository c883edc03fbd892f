"""Random programs through trnemu and through the oracle, and what came of it.

    python tests/python/random_programs.py --programs 20000 --seed 1

random_maker.py makes them, random_machine.py says what they mean,
random_emit.py runs them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
import multiprocessing
import time
from typing import Any

import numpy as np

from random_emit import Outcome, Plan, check, listing, shrink
from random_maker import Maker
from random_steps import Loop, Op, Reg


def count(steps: list[Any], into: Counter[str]) -> None:
    """Of each operation and kind of step, as written."""
    for step in steps:
        if step.dead:
            continue
        if isinstance(step, Loop):
            into["while_loop" if step.counter is None else "fori_loop"] += 1
            count(step.body, into)
        elif isinstance(step, Op):
            into[step.name] += 1
        elif isinstance(step, Reg):
            into[f"register_{step.kind}"] += 1


SEEDS = 20  # orders of a program with loops, dynamic addresses or sums


@dataclass
class Summary:
    """What became of one program."""

    seed: tuple[int, int]
    target: str
    outcome: Outcome
    counts: Counter[str]
    features: set[str]
    wrong: str = ""


def one(seed: tuple[int, int]) -> Summary:
    """Makes and checks a program. A difference is shown by what is left of
    the program when steps that do not matter are removed."""
    maker = Maker(seed)
    plan = maker.make()
    counts: Counter[str] = Counter()
    count(plan.steps, counts)
    features = set(maker.features)
    if counts["nc_matmul"] or counts["nc_matmul_mx"]:
        features.add("accumulate")
    seeds = SEEDS if features else 2
    outcome = check(plan, seeds, maker.machine)
    found = Summary(seed, plan.target, outcome, counts, features)
    if outcome.wrong:
        again = check(plan, seeds).wrong or "the two machines differ"
        found.wrong = report(shrink(plan, seeds), again)
    return found


def report(plan: Plan, wrong: str) -> str:
    return f"seed {plan.seed} on {plan.target}: {wrong}\n" + listing(plan.steps)


@dataclass
class Totals:
    """Over all programs."""

    programs: int = 0
    instructions: list[int] = field(default_factory=list)
    executed: int = 0
    schedules: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    targets: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, one: Summary) -> None:
        self.programs += 1
        self.instructions.append(one.outcome.instructions)
        self.executed += one.outcome.executed
        self.schedules += one.outcome.schedules
        self.counts += one.counts
        self.targets[one.target] += 1
        self.features.update(one.features)
        if one.wrong:
            self.wrong.append(one.wrong)

    def __str__(self) -> str:
        size = np.array(self.instructions)
        steps = sorted(self.counts.items(), key=lambda c: (-c[1], c[0]))
        return "\n".join((
            f"programs {self.programs}: {dict(sorted(self.targets.items()))}, "
            f"with {dict(sorted(self.features.items()))}",
            f"instructions {size.sum()}: mean {size.mean():.1f}, median "
            f"{int(np.median(size))}, largest {size.max()}, "
            f"{int((size >= 1000).sum())} programs of 1000 or more; "
            f"operations executed {self.executed}",
            "steps " + ", ".join(f"{name} {n}" for name, n in steps),
            f"runs of the emulator {self.schedules}",
            f"differences {len(self.wrong)}",
        ))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    np.seterr(all="ignore")
    totals, start = Totals(), time.monotonic()
    numbers = range(args.first, args.first + args.programs)
    seeds = [(args.seed, n) for n in numbers]
    with multiprocessing.Pool(args.jobs) as pool:
        for found in pool.imap_unordered(one, seeds, 8):
            totals.add(found)
            if found.wrong:
                print(found.wrong, flush=True)
            if totals.programs % 500 == 0:
                print(f"{totals.programs} programs, {len(totals.wrong)} "
                      f"differences, {time.monotonic() - start:.0f} s",
                      flush=True)
    print(totals)
    return 1 if totals.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
