"""All legal orders of a Tiny (race_model.py), and what races in them.

A Skeleton is lanes (the engines, and each queue of a queue set) of steps that
take effect at once. A lane's steps come in order, a DMA's parts after its
trigger, a step with waits once its semaphores are high enough. Nothing else is
ordered. A part is one step, or a read and a write where its read is signalled
(without, nothing can come between the two that could not come before or after
both).

Written from design.md 1 and 4 and core/engines/dma.h, not from core/races.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import trnemu
from race_model import Loop, Op, Tiny, View, Where, numbers, touched

PARTITIONS = 128


@dataclass(frozen=True)
class Touch:
    """Bytes that a step reads or writes, for the instruction `who`."""

    who: Where
    trigger: tuple[int, int]  # lane and position of its instance
    write: bool
    bytes: frozenset[int]


@dataclass
class Step:
    waits: tuple[tuple[int, int, bool], ...] = ()
    signals: list[tuple[int, str, int]] = field(default_factory=list)
    after: tuple[int, int] | None = None  # lane and position of the trigger
    touches: list[Touch] = field(default_factory=list)


def split(dst: View, src: View, queues: int) -> list[tuple[int, int]]:
    """core/engines/dma.h: by partitions of the side on chip, dst first; else
    evenly."""
    total = dst.rows * dst.count
    chip = dst if dst.buffer.core >= 0 else src
    parts = []
    for q in range(queues):
        if chip.buffer.core < 0:
            parts.append((total * q // queues, total * (q + 1) // queues))
            continue
        mine = [i for i in range(total)
                if (chip.row + i // (total // chip.rows)) * queues // PARTITIONS
                == q]
        parts.append((mine[0], mine[-1] + 1) if mine else (0, 0))
    return parts


class Skeleton:
    """lanes: the steps of each; names: what each lane is."""

    def __init__(self, tiny: Tiny, where: dict[tuple[int, str], list[int]]):
        self.names: list[tuple[Any, ...]] = []
        self.lanes: list[list[Step]] = []
        self.semaphores = tiny.semaphores() + 2  # and those of the barrier
        self._barrier = tiny.semaphores()
        self._at = {k: 0 for k in where}
        self._where = where
        # An engine starts an instruction before it has signalled the one
        # before: of no consequence unless a signal lowers a semaphore.
        self._late = any(how not in ("add", "inc") for op in tiny.ops()
                         for _, how, *_ in op.signals)
        for item in tiny.items:
            body = item.body if isinstance(item, Loop) else (item,)
            placed = [p for op in body for p in self._place(op)]
            for _ in range(item.trips if isinstance(item, Loop) else 1):
                for op, who in placed:
                    self._add(op, who)
        for key, n in self._at.items():
            if n != len(where[key]):
                raise AssertionError(f"{key}: {n} of {where[key]}")

    def _place(self, op: Op) -> list[tuple[Op, Where]]:
        # A barrier arrives (and signals the other core), then leaves.
        ops = [op]
        if op.kind == "barrier":
            mine, other = self._barrier + op.core, self._barrier + 1 - op.core
            ops = [replace(op, signals=((other, "add", 1, "complete"),)),
                   replace(op, waits=((mine, 1, True),))]
        key = (op.core, op.engine)
        out = []
        for o in ops:
            out.append((o, (op.core, self._where[key][self._at[key]])))
            self._at[key] += 1
        return out

    def _lane(self, *name: Any) -> int:
        if name not in self.names:
            self.names.append(name)
            self.lanes.append([])
        return self.names.index(name)

    def _add(self, op: Op, who: Where) -> None:
        lane = self._lane(op.core, op.engine)
        me = (lane, len(self.lanes[lane]))
        step = Step(waits=op.waits)
        self.lanes[lane].append(step)
        signals = [(s, how, 1 if how in ("inc", "dec") else k, at)
                   for s, how, k, at in op.signals]
        if op.kind != "dma":
            done = [(s, how, k) for s, how, k, _ in signals]
            if self._late and done:
                later = self._lane(op.core, op.engine, "signals")
                self.lanes[later].append(Step((), done, me))
            else:
                step.signals = done
            if op.kind != "barrier":
                step.touches = self._touches(op, who, me, 0, None)
            return
        split_read = any(at == "read" for *_, at in signals)
        assert op.dst and op.src
        for q, (a, b) in enumerate(split(op.dst, op.src, op.queues)):
            queue = self._lane(op.core, op.engine, op.queues, q)
            both = self._touches(op, who, me, a, b)
            done = [(s, how, k) for s, how, k, at in signals
                    if at == "complete"]
            if split_read:
                read = [(s, how, k) for s, how, k, at in signals if at == "read"]
                self.lanes[queue].append(
                    Step((), read, me, [t for t in both if not t.write]))
                both = [t for t in both if t.write]
            self.lanes[queue].append(Step((), done, me, both))

    @staticmethod
    def _touches(op: Op, who: Where, me: tuple[int, int], first: int,
                 end: int | None) -> list[Touch]:
        out = []
        for view, write in ((op.src, False), (op.dst, True)):
            if view is not None and (some := touched(view, first, end)):
                out.append(Touch(who, me, write, some))
        return out


# --- every order --------------------------------------------------------------


class TooMany(Exception):
    """More states than are looked at."""


class Faulty(Exception):
    """A semaphore leaves its range in some order."""


@dataclass
class Exact:
    """pairs: of instructions that race, {("ww",) or ("rw", reader)}; shared:
    pairs that touch a byte in common, one writing, racing or not."""

    pairs: dict[frozenset[Where], set[tuple[Any, ...]]]
    shared: int
    states: int
    deadlock: bool  # in some order


def explore(skeleton: Skeleton, most: int) -> tuple[np.ndarray[Any, Any], bool]:
    """How far the lanes are in each state that can be reached, one a row; and
    whether in one of them nothing can go on and something is left."""
    lanes = len(skeleton.lanes)
    at = [8 * (lanes + 2 * s) for s in range(skeleton.semaphores)]
    plan = []
    for number, steps in enumerate(skeleton.lanes):
        compiled = []
        for step in steps:
            delta, sets = 1 << 8 * number, []
            waits = [(at[s], n) for s, n, _ in step.waits]
            lowers = []
            for s, n, consume in step.waits:
                delta -= n << at[s] if consume else 0
            for s, how, k in step.signals:
                if how == "set":
                    sets.append((at[s], k))
                elif how in ("add", "inc"):
                    delta += k << at[s]
                else:
                    lowers.append((at[s], k))
            after = (8 * step.after[0], step.after[1]) if step.after else None
            compiled.append((after, waits, delta, sets, lowers))
        plan.append((8 * number, len(steps), compiled))
    seen = {0}
    frontier = [0]
    final = sum(len(steps) << 8 * i for i, steps in enumerate(skeleton.lanes))
    mask = (1 << 8 * lanes) - 1
    deadlock = False
    while frontier:
        reached = []
        for state in frontier:
            stuck = True
            for shift, count, compiled in plan:
                position = state >> shift & 255
                if position == count:
                    continue
                after, waits, delta, sets, lowers = compiled[position]
                if after and state >> after[0] & 255 <= after[1]:
                    continue
                if any(state >> s & 65535 < n for s, n in waits):
                    continue
                stuck = False
                state2 = state + delta
                for s, k in lowers:
                    if state2 >> s & 65535 < k:
                        raise Faulty
                    state2 -= k << s
                for s, k in sets:
                    state2 += (k - (state2 >> s & 65535)) << s
                if state2 not in seen:
                    seen.add(state2)
                    reached.append(state2)
            if stuck and state & mask != final:
                deadlock = True
        if len(seen) > most:
            raise TooMany
        frontier = reached
    rows = b"".join((s & mask).to_bytes(lanes, "little") for s in seen)
    return np.frombuffer(rows, np.uint8).reshape(len(seen), lanes), deadlock


def judge(tiny: Tiny, program: trnemu.Program, most: int = 60_000) -> Exact:
    """Exactly which pairs of instructions may come in both orders."""
    skeleton = Skeleton(tiny, numbers(program))
    states, deadlock = explore(skeleton, most)
    touches = [(lane, i, t) for lane, steps in enumerate(skeleton.lanes)
               for i, step in enumerate(steps) for t in step.touches]
    pairs: dict[frozenset[Where], set[tuple[Any, ...]]] = {}
    shared = set()
    for n, (lane, i, a) in enumerate(touches):
        for lane2, j, b in touches[:n]:
            if not (a.write or b.write) or a.trigger == b.trigger:
                continue
            if a.bytes.isdisjoint(b.bytes):
                continue
            who = frozenset((a.who, b.who))
            shared.add((who, a.write, b.write))
            if lane == lane2:
                continue
            done, done2 = states[:, lane] > i, states[:, lane2] > j
            if (done & ~done2).any() and (done2 & ~done).any():
                kind: tuple[Any, ...] = ("ww",)
                if not (a.write and b.write):
                    kind = ("rw", a.who if b.write else b.who)
                pairs.setdefault(who, set()).add(kind)
    return Exact(pairs, len(shared), len(states), deadlock)
