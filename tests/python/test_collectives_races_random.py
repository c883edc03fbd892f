"""Random programs of collectives and copies, with a wait for every dependence:
nothing is reported, and automatic waits give the same values. Without one of
the waits there is a report exactly if nothing else implies it, by a model of
docs/races.md that is written here a second time."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

import trnemu
from collectives_kit import F32, SHAPE, Builder, groups, system, values

BUFFERS = 4
DMA_ENGINES = ("sync", "scalar", "gpsimd")


@dataclasses.dataclass(frozen=True)
class Step:
    """kind: load, copy, store, or a collective. src and dst: buffers; None: an
    input or output."""

    kind: str
    engine: str
    src: int | None
    dst: int | None
    stream: int = 0

    @property
    def is_dma(self) -> bool:
        return self.kind in ("load", "copy", "store")

    @property
    def signals(self) -> int:
        return 16 if self.is_dma else 1

    @property
    def queue(self) -> tuple[str, int | str]:
        """Whose parts go in order: all copies are split alike."""
        return ("dma", self.engine) if self.is_dma else ("stream", self.stream)

    def needs(self, earlier: Step) -> bool:
        read, written = earlier.src, earlier.dst
        return written is not None and written in (self.src, self.dst) or (
            self.dst is not None and read == self.dst)


def draw(seed: int) -> list[Step]:
    rnd = random.Random(seed)
    steps = [Step("load", rnd.choice(DMA_ENGINES), None, i) for i in range(BUFFERS)]
    for _ in range(rnd.randrange(3, 9)):
        kind = rnd.choice(("all_reduce", "all_reduce", "broadcast", "ring", "copy"))
        src, dst = rnd.sample(range(BUFFERS), 2)
        if kind == "all_reduce" and rnd.random() < 0.3:
            dst = src
        engine = rnd.choice(DMA_ENGINES) if kind == "copy" else "sync"
        steps.append(Step(kind, engine, src, dst, rnd.randrange(2)))
    return [*steps, Step("store", "scalar", rnd.randrange(BUFFERS), None)]


def dependences(steps: list[Step]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(steps)) for j in range(i) if steps[i].needs(steps[j])]


def build(steps: list[Step], without: tuple[int, int] | None, sync: str, sbuf: bool) -> trnemu.Program:
    b = Builder(target="trn2", sync=sync)
    x, y = b.input("x", SHAPE, "float32"), b.output("y", SHAPE, "float32")
    buffers = [b.sbuf(SHAPE, "float32") if sbuf else b.scratch(f"b{i}", SHAPE, "float32")
               for i in range(BUFFERS)]
    done = [b.semaphore(f"done{i}") for i in range(len(steps))] if sync == "explicit" else []
    needed = dependences(steps)
    for i, s in enumerate(steps):
        src = x if s.src is None else buffers[s.src]
        dst = y if s.dst is None else buffers[s.dst]
        order: dict[str, Any] = {}
        if done:
            order = {"signal": [(done[i], 1)],
                     "wait": [(done[j], steps[j].signals) for at, j in needed
                              if at == i and (i, j) != without]}
        group = {"replica_group": groups(2), "stream": s.stream, **order}
        if s.is_dma:
            b.dma_copy(dst=dst, src=src, trigger=s.engine, **order)
        elif s.kind == "all_reduce":
            b.all_reduce(srcs=[src], dsts=[dst], op="maximum", **group)
        elif s.kind == "broadcast":
            b.broadcast(srcs=[src], dsts=[dst], root=1, **group)
        else:
            b.collective_permute_implicit(srcs_by_channel=[[src]], dsts_by_channel=[[dst]], **group)
    return b.build()


def is_racy(steps: list[Step], without: tuple[int, int]) -> bool:
    """Whether a dependence is implied by no wait and no order of a queue."""
    needed = dependences(steps)
    engines: dict[str, set[int]] = {e: set() for e in DMA_ENGINES}
    queues: dict[Any, int] = {}
    known: list[set[int]] = []  # complete before it is
    for i, s in enumerate(steps):
        engine = engines[s.engine]  # what its triggering engine has waited for
        for at, j in needed:
            if at == i and (i, j) != without:
                engine |= {j} | known[j]
        before = set(engine)
        if s.queue in queues:
            last = queues[s.queue]
            before |= {last} | known[last]
        queues[s.queue] = i
        known.append(before)
        if any(at == i and j not in before for at, j in needed):
            return True
    return False


@pytest.mark.parametrize("sbuf", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_missing_wait_is_reported_exactly_if_nothing_implies_it(seed, sbuf):
    steps = draw(seed)
    ranks = system(2)
    inputs = [{"x": np.full(SHAPE, rank + 1, F32)} for rank in range(2)]
    whole = ranks.run(build(steps, None, "explicit", sbuf), inputs, strict=True)
    auto = ranks.run(build(steps, None, "auto", sbuf), inputs, strict=True)
    assert not whole.diagnostics and not auto.diagnostics
    for a, b in zip(values(whole), values(auto)):
        np.testing.assert_array_equal(a, b)
    for wait in dependences(steps):
        program = build(steps, wait, "explicit", sbuf)
        try:
            ranks.run(program, inputs, strict=True)
            reported = ""
        except trnemu.Fault as fault:
            reported = fault.id
        assert bool(reported) == is_racy(steps, wait), (steps, wait, reported)
        assert not reported or reported.startswith("race.")
