"""An independent judge of the race detector.

Random tiny programs (race_maker.py) are run under several schedules, and what
the detector says is held against every order that is legal (race_orders.py):

    python tests/python/race_oracle.py --programs 3000 --first 0

prints the counts by class and the smallest program of each kind of
disagreement. A program races if two instructions touch a byte in common, one
writes it, and there are legal orders with either first.

  false alarm   a race is reported, none exists (or the reported pair does not
                race though others do: "wrong pair")
  miss          one exists, none is reported; "loose" (documented) if a
                semaphore is set, lowered, or consumed and several engines wait
                for it
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import trnemu
from race_maker import make
from race_model import SIZES, Loop, Op, Tiny, Where, emit
from race_orders import Exact, Faulty, TooMany, judge

SCHEDULES: tuple[Any, ...] = ("timed", "program", 1, 2)
ALLOW = ("memory.read_unwritten",)
PAIR = re.compile(r"instruction (\d+) \(([^)]*)\)")


@dataclass(frozen=True)
class Report:
    """A finding race.*: `later` has the operand named, `earlier` is the other
    one."""

    id: str
    later: Where
    earlier: Where

    def kind(self) -> tuple[Any, ...]:
        if self.id == "race.write_write":
            return ("ww",)
        reads = self.earlier if self.id == "race.read_write" else self.later
        return ("rw", reads)


@dataclass
class Outcome:
    fault: str = ""  # of another kind
    reports: list[Report] = field(default_factory=list)
    message: str = ""


def _pair(id: str, text: str) -> Report:
    found = []
    for number, rest in PAIR.findall(text)[:2]:
        core = re.search(r"of core (\d+)", rest)
        found.append((int(core[1]) if core else 0, int(number)))
    return Report(id, *found)


def observe(program: trnemu.Program, schedule: Any) -> Outcome:
    try:
        trnemu.run(program, {}, checks="full", schedule=schedule, allow=ALLOW,
                   time=schedule == "timed")
    except trnemu.Fault as fault:
        out = Outcome(message=str(fault))
        if not fault.id.startswith("race."):
            out.fault = fault.id
        else:
            out.reports.append(_pair(fault.id, fault.message))
            assert out.reports[0].later == (fault.core, fault.instruction)
        for line in fault.related:
            if also := re.match(r"also (race\.\w+): (.*)", line):
                out.reports.append(_pair(also[1], also[2]))
        return out
    return Outcome()


def loose(tiny: Tiny) -> bool:
    """Whether misses are documented for one of its semaphores."""
    waiters: dict[int, set[tuple[int, str]]] = {}
    consumed = set()
    for op in tiny.ops():
        if any(how not in ("add", "inc") for _, how, *_ in op.signals):
            return True
        for s, _, consume in op.waits:
            waiters.setdefault(s, set()).add((op.core, op.engine))
            if consume:
                consumed.add(s)
    return any(len(waiters[s]) > 1 for s in consumed)


def aliased(tiny: Tiny) -> bool:
    """Whether tiles share bytes, so that one may be read as another."""
    places = [(b.core, b.address, b.address + b.cols * SIZES[b.dtype])
              for b in tiny.buffers if b.core >= 0]
    return any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2]
               for i, a in enumerate(places) for b in places[:i])


@dataclass
class Verdict:
    kind: str  # what the program is: legal, racy, ...
    disagreements: dict[str, str] = field(default_factory=dict)  # by class


def compare(tiny: Tiny, most: int = 60_000,
            schedules: tuple[Any, ...] = SCHEDULES) -> Verdict:
    try:
        program = emit(tiny)
        exact = judge(tiny, program, most)
    except TooMany:
        return Verdict("too many orders")
    except Faulty:
        return Verdict("semaphore below 0 in some order")
    kind = "racy" if exact.pairs else "legal" if exact.shared else "apart"
    kind += ", may deadlock" if exact.deadlock else ""
    kind += ", loose semaphores" if loose(tiny) else ""
    verdict = Verdict(kind)
    for schedule in schedules:
        seen = observe(program, schedule)
        for name in _disagreements(tiny, exact, seen):
            verdict.disagreements.setdefault(
                name, f"schedule {schedule}: exact {exact.pairs}\n"
                f"{seen.fault} {seen.reports}\n{seen.message}")
    return verdict


def _disagreements(tiny: Tiny, exact: Exact, seen: Outcome) -> list[str]:
    out = []
    tail = ", may deadlock" if exact.deadlock else ""
    tail += ", loose" if loose(tiny) else ""
    if seen.reports and not exact.pairs:
        return ["false alarm" + tail]
    for n, report in enumerate(seen.reports):
        pair = exact.pairs.get(frozenset((report.later, report.earlier)))
        if pair is None:
            out.append(("wrong pair" if n == 0 else "wrong pair, related")
                       + tail)
        elif report.kind() not in pair:
            out.append("wrong kind" + tail)
    expected = (seen.fault == "deadlock" and exact.deadlock
                or seen.fault == "memory.overwritten" and aliased(tiny))
    if seen.fault and not expected:
        out.append("fault " + seen.fault + tail)
    if exact.pairs and not seen.reports and not seen.fault:
        out.append("miss" + tail)
    return out


# --- smaller ------------------------------------------------------------------


def _smaller_ops(op: Op) -> list[Op]:
    out = [replace(op, waits=op.waits[:i] + op.waits[i + 1 :])
           for i in range(len(op.waits))]
    out += [replace(op, signals=op.signals[:i] + op.signals[i + 1 :])
            for i in range(len(op.signals))]
    for i, (s, n, consume) in enumerate(op.waits):
        if consume:
            out.append(replace(op, waits=(*op.waits[:i], (s, n, False),
                                          *op.waits[i + 1 :])))
    if op.kind != "nop" and op.kind != "dma" and op.kind != "barrier":
        out.append(replace(op, kind="nop", dst=None, src=None))
    return out


def _smaller(tiny: Tiny) -> list[Tiny]:
    out = []
    items = tiny.items
    for i, item in enumerate(items):
        rest = items[:i], items[i + 1 :]
        if isinstance(item, Op) and item.kind == "barrier":
            continue
        out.append(replace(tiny, items=(*rest[0], *rest[1])))
        if isinstance(item, Op):
            out += [replace(tiny, items=(*rest[0], o, *rest[1]))
                    for o in _smaller_ops(item)]
            continue
        if item.trips > 2:
            out.append(replace(tiny, items=(
                *rest[0], Loop(item.trips - 1, item.body), *rest[1])))
        out.append(replace(tiny, items=(*rest[0], *item.body * item.trips,
                                        *rest[1])))
        for j, op in enumerate(item.body):
            for new in [(), *((o,) for o in _smaller_ops(op))]:
                body = (*item.body[:j], *new, *item.body[j + 1 :])
                if body:
                    out.append(replace(tiny, items=(
                        *rest[0], Loop(item.trips, body), *rest[1])))
    return out


def shrink(tiny: Tiny, still: Callable[[Tiny], bool]) -> Tiny:
    """The same with as little as keeps it so."""
    while True:
        for candidate in _smaller(tiny):
            if candidate.items and still(candidate):
                tiny = candidate
                break
        else:
            return tiny


# --- a study ------------------------------------------------------------------


def size(tiny: Tiny) -> int:
    return sum(2 + len(o.waits) + len(o.signals) + o.queues
               for o in tiny.ops())


def study(first: int, count: int, most: int, shrunk: int) -> int:
    kinds: collections.Counter[str] = collections.Counter()
    classes: dict[str, list[tuple[int, int, Tiny]]] = {}
    begin = time.time()
    for seed in range(first, first + count):
        tiny = make(seed)
        verdict = compare(tiny, most)
        kinds[verdict.kind] += 1
        for name in verdict.disagreements:
            classes.setdefault(name, []).append((size(tiny), seed, tiny))
        if (seed - first) % 200 == 199:
            print(f"{seed - first + 1} programs, {time.time() - begin:.0f} s: "
                  + ", ".join(f"{k} {len(v)}" for k, v in classes.items()),
                  file=sys.stderr, flush=True)
    print(f"{count} programs from seed {first}, schedules {SCHEDULES}")
    for kind, n in kinds.most_common():
        print(f"{n:6d}  {kind}")
    for name, found in sorted(classes.items()):
        print(f"\n== {name}: {len(found)}, seeds "
              f"{[seed for _, seed, _ in found[:12]]}")
        smallest = []
        for _, seed, tiny in sorted(found, key=lambda f: f[:2])[:shrunk]:
            def still(t: Tiny, name: str = name) -> bool:
                try:
                    return name in compare(t, most).disagreements
                except (trnemu.Fault, AssertionError):
                    return False
            small = shrink(tiny, still)
            smallest.append((size(small), seed, small))
        for _, seed, tiny in sorted(smallest, key=lambda f: f[:2])[:2]:
            print(f"-- of seed {seed}:\n{tiny}\n"
                  f"{compare(tiny, most).disagreements[name]}")
    return 1 if classes else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--states", type=int, default=60_000,
                        help="programs with more states are left out")
    parser.add_argument("--shrink", type=int, default=3,
                        help="disagreements of each kind to make smaller")
    options = parser.parse_args()
    sys.exit(study(options.first, options.programs, options.states,
                   options.shrink))
