"""Explicit synchronisation of a list of steps: who waits for what.

A step is one operation of one engine, or a DMA that a sequencer triggers. It
reads and writes boxes (partitions and columns) of buffers. `synchronise` finds
what each step has to wait for, and chooses at random how: a semaphore of its
own, a counter of an engine, tokens from one engine to another, a semaphore that
several DMAs share, the reading half of a DMA, or something later that implies
it. What a sequencer already knows is not waited for again, or seldom.

What may be relied on (docs/program-format.md): engines run in order; a DMA
starts after what its sequencer did before; each of its queues signals its part;
parts of one queue go in order, so that DMAs of a single queue do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import trnemu

Box = tuple[int, int, int, int]  # partitions from, to; columns from, to
Engine = tuple[int, str]  # core and name
Key = tuple[str, int]  # "done" or "read", and the number of a step


@dataclass(eq=False)
class Buffer:
    """A tile of a core, or a tensor in HBM (core None)."""

    name: str
    core: int | None
    shape: tuple[int, int]
    view: Any = None
    psum: bool = False

    @property
    def box(self) -> Box:
        return 0, self.shape[0], 0, self.shape[1]

    def part(self, box: Box) -> Any:
        a, b, c, d = box
        return self.view[a:b, c:d]


@dataclass(eq=False)
class Promise:
    """A count that is known when all steps are there."""

    counter: list[Step]
    step: Step

    def value(self) -> int:
        return self.counter.index(self.step) + 1


@dataclass(eq=False)
class Step:
    """emit(wait=, signal=) adds it to the builder. queues: of a DMA, else 0.
    acquires: buffers that something after it writes, unseen by others."""

    engine: Engine
    reads: list[tuple[Buffer, Box]]
    writes: list[tuple[Buffer, Box]]
    emit: Callable[..., None]
    queues: int = 0
    acquires: list[Buffer] = field(default_factory=list)
    number: int = -1
    waits: list[tuple[Any, Any, bool]] = field(default_factory=list)
    signals: list[tuple[Any, str, int, str]] = field(default_factory=list)


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


class Synchroniser:
    """Attaches waits and signals to steps, which are in a legal order."""

    def __init__(self, builder: trnemu.ProgramBuilder, rng: Any) -> None:
        self.b, self.rng = builder, rng
        self.steps: list[Step] = []
        self.known: dict[Engine, set[Key]] = {}
        self.before: list[frozenset[Key]] = []  # what holds when it starts
        self.queued: list[frozenset[Key]] = []  # and when a DMA is done
        self.history: dict[Buffer, list[tuple[Step, Box, bool]]] = {}
        self.counters: dict[tuple[Engine, int], tuple[Any, list[Step]]] = {}
        self.tokens: dict[tuple[Engine, Engine], Any] = {}
        self.own: dict[tuple[Key, int], tuple[Any, int]] = {}
        self.wanted = 0  # waits

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def semaphore(self, core: int) -> Any:
        with self.b.core(core):
            return self.b.semaphore()

    def add(self, *steps: Step) -> None:
        """One step, or the two halves of a barrier."""
        for s in steps:
            s.number = len(self.steps)
            self.steps.append(s)
            self.before.append(frozenset())
            self.queued.append(self._ahead(s))
            known = self.known.setdefault(s.engine, set())
            for key in self._needs(s):
                if key in self.queued[-1] and self.chance(0.7):
                    continue  # its turn comes before
                if key not in known:
                    self._wait(s, key)
            if self.chance(0.07):
                self._again(s)
        after: set[Key] = set().union(*(self.known[s.engine] for s in steps))
        for s in steps:
            if not s.queues:
                after.add(("done", s.number))
        for s in steps:
            self.before[s.number] = frozenset(after)
            if not s.queues:
                self.known[s.engine] |= after
            self._record(s)

    def _ahead(self, s: Step) -> frozenset[Key]:
        """What a DMA of one queue comes after in that queue."""
        ahead: set[Key] = set()
        for t in reversed(self.steps[:-1]):
            if s.queues == t.queues == 1 and s.engine == t.engine:
                n = t.number
                ahead = {("done", n), ("read", n), *self.queued[n],
                         *self.before[n]}
                break
        return frozenset(ahead)

    def _needs(self, s: Step) -> list[Key]:
        found: dict[Key, None] = {}
        for kind, accesses in (
                (False, s.reads), (True, s.writes),
                (True, [(b, b.box) for b in s.acquires])):
            for buffer, box in accesses:
                for other, at, wrote in self.history.get(buffer, []):
                    if (other is s or not overlap(box, at)
                            or not (kind or wrote)):
                        continue
                    early = other.queues and not wrote
                    found["read" if early else "done", other.number] = None
        # The latest first: it often implies the others.
        order = sorted(found, key=lambda k: -k[1])
        return order if self.chance(0.7) else [
            order[k] for k in self.rng.permutation(len(order))]

    def _record(self, s: Step) -> None:
        for buffer, box in s.writes:
            a, b, c, d = box
            rest = [(o, x, w) for o, x, w in self.history.get(buffer, [])
                    if not (a <= x[0] and x[1] <= b and c <= x[2]
                            and x[3] <= d) or o is s]
            self.history[buffer] = [*rest, (s, box, True)]
        for buffer, box in s.reads:
            self.history.setdefault(buffer, []).append((s, box, False))

    # Ways to wait.

    def _learn(self, s: Step, key: Key) -> None:
        kind, n = key
        known = self.known[s.engine]
        known |= self.before[n]
        known |= {("read", n)} if kind == "read" else {
            ("done", n), ("read", n), *self.queued[n]}

    def _wait(self, s: Step, key: Key) -> None:
        if self.chance(0.25):
            for later in self._implying(s, key):
                key = later
                break
        self.wanted += 1
        producer = self.steps[key[1]]
        if producer.queues:
            self._wait_dma(s, key)
        elif self.chance(0.35) and self._wait_token(s, producer):
            pass
        elif self.chance(0.5):
            self._wait_counter(s, producer)
        else:
            self._wait_own(s, key, 1)
        self._learn(s, key)

    def _implying(self, s: Step, key: Key) -> Iterator[Key]:
        """Engine steps after which `key` is known to hold."""
        last = [t for t in self.steps[:s.number] if not t.queues
                and key in self.before[t.number] and t.engine != s.engine
                and ("done", t.number) not in self.known[s.engine]]
        if last:
            yield "done", last[int(self.rng.integers(len(last)))].number

    def _again(self, s: Step) -> None:
        """A wait for something that holds anyhow."""
        some = [k for k in self.known[s.engine]
                if k[0] == "done" and self.steps[k[1]].engine != s.engine]
        if some:
            key = sorted(some)[int(self.rng.integers(len(some)))]
            if self.steps[key[1]].queues:
                self._wait_dma(s, key)
            else:
                self._wait_own(s, key, 1)

    def _wait_own(self, s: Step, key: Key, times: int) -> None:
        """A semaphore of the step alone, on the waiting core."""
        place = key, s.engine[0]
        if place not in self.own:
            producer = self.steps[key[1]]
            n = 1 + int(self.rng.integers(3))
            kind = "add"
            if not producer.queues:
                kind = str(self.rng.choice(("add", "set", "inc")))
            n = 1 if kind == "inc" else n
            semaphore = self.semaphore(s.engine[0])
            at = "read" if key[0] == "read" else "complete"
            producer.signals.append((semaphore, kind, n, at))
            self.own[place] = semaphore, n * times
        s.waits.append((*self.own[place], False))

    def _wait_dma(self, s: Step, key: Key) -> None:
        place = key, s.engine[0]
        if place not in self.own and key[0] == "done" and self.chance(0.4):
            self._shared(s, key)
        else:
            self._wait_own(s, key, self.steps[key[1]].queues)

    def _shared(self, s: Step, key: Key) -> None:
        """One semaphore of all DMAs that the step needs and that have none.
        Nothing signals it later, so that its total means all of them."""
        core = s.engine[0]
        group = [key] + [
            k for k in self._needs(s)
            if k[0] == "done" and k != key and self.steps[k[1]].queues
            and (k, core) not in self.own
            and k not in self.known[s.engine]]
        semaphore = self.semaphore(core)
        total = sum(self.steps[k[1]].queues for k in group)
        for k in group:
            self.steps[k[1]].signals.append((semaphore, "add", 1, "complete"))
            self.own[k, core] = semaphore, total
        s.waits.append((semaphore, total, False))
        for k in group:
            self._learn(s, k)

    def _wait_counter(self, s: Step, producer: Step) -> None:
        """The producing engine counts the steps that somebody waits for."""
        place = producer.engine, s.engine[0]
        if place not in self.counters:
            self.counters[place] = self.semaphore(s.engine[0]), []
        semaphore, steps = self.counters[place]
        if producer not in steps:
            steps.append(producer)
            steps.sort(key=lambda t: t.number)
        s.waits.append((semaphore, Promise(steps, producer), False))

    def _wait_token(self, s: Step, producer: Step) -> bool:
        """A token from one engine to the other, which it takes away. Both are
        in order, and later steps of the producer are waited for later."""
        place = producer.engine, s.engine
        if place not in self.tokens:
            self.tokens[place] = [self.semaphore(s.engine[0]), -1, -1]
        semaphore, last, waiter = self.tokens[place]
        if producer.number <= last or waiter == s.number:
            return False
        self.tokens[place][1:] = producer.number, s.number
        producer.signals.append((semaphore, "add", 1, "complete"))
        s.waits.append((semaphore, 1, True))
        return True

    # Output.

    def emit(self) -> None:
        for s in self.steps:
            for semaphore, steps in self.counters.values():
                if s in steps:
                    s.signals.append((semaphore, "add", 1, "complete"))
            core = s.engine[0]
            with self.b.core(core):
                waits = [self._wait_value(*w) for w in s.waits]
                signals = [trnemu.Signal(a, k, n, at=at) if k in ("add", "set")
                           else trnemu.Signal(a, k, at=at)
                           for a, k, n, at in s.signals]
                s.emit(wait=waits, signal=signals)

    def _wait_value(self, semaphore: Any, n: Any, consume: bool) -> Any:
        n = n.value() if isinstance(n, Promise) else n
        if self.chance(0.03):
            n = self.b.register_alloc(n)
        return trnemu.Wait(semaphore, n, consume=consume)
