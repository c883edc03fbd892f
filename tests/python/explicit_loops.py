"""Loops whose stages hand buffers to each other by semaphores of their own.

Data comes by DMA, passes engines, perhaps HBM and the other core, and ends in
a sum or in HBM. Between two stages there are one to three buffers; a stage
takes a full one and gives back a free one: by tokens that waits consume, or by
a count that grows with the iteration. A DMA gives a buffer back when it has
read it, or when it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import trnemu
from explicit_sync import Buffer, Step

if TYPE_CHECKING:
    from random_explicit import Explicit

Waits = list[Any]


@dataclass
class Stage:
    """An engine, or a DMA and the engine that triggers it."""

    core: int
    engine: str
    queues: int = 0  # of a DMA

    @property
    def times(self) -> int:
        """How often it signals."""
        return self.queues or 1


@dataclass
class Link:
    """What is between a stage and the next, for each slot. count_full and
    count_free: what a semaphore rises by for one buffer."""

    slots: list[Buffer]
    producer: Stage
    consumer: Stage
    full: list[Any] = field(default_factory=list)
    free: list[Any] = field(default_factory=list)
    each_full: int = 1  # what one signal adds
    each_free: int = 1
    at: str = "complete"  # when the consumer gives back
    grows: bool = False  # full counts up, and is not consumed

    @property
    def count_full(self) -> int:
        return self.each_full * self.producer.times

    @property
    def count_free(self) -> int:
        return self.each_free * self.consumer.times


class Pipeline:
    """One loop: made by the constructor, put into the program by emit()."""

    def __init__(self, m: Explicit) -> None:
        self.m, self.b = m, m.b
        self.depth, self.trips = 1 + m.below(3), 1 + m.below(4)
        self.borrowed: list[tuple[Stage, Buffer]] = []
        self.made: list[Buffer] = []
        self.links: list[Link] = []
        self.stages = self._stages()
        rows, columns = m.shape
        self.inputs = [m.tensor("input", (self.trips * rows, columns))
                       for _ in range(self.depth)]
        for producer, consumer in zip(self.stages, self.stages[1:]):
            self.links.append(self._link(producer, consumer))
        self._end()
        self.bound = m.chance(0.3)  # of the loop, in a register

    # What it is made of.

    def _dma(self, core: int) -> Stage:
        trigger = self.m.pick(("sync", "sync", "gpsimd", "scalar"))
        return Stage(core, trigger, int(self.m.pick((1, 4, 16, 16))))

    def _stages(self) -> list[Stage]:
        """A DMA in, engines and hops through HBM, and an end."""
        m, core = self.m, self.m.below(self.m.cores)
        stages = [self._dma(core)]
        for _ in range(m.below(4)):
            if m.chance(0.7):
                stages.append(Stage(
                    core, m.pick(("vector", "scalar", "gpsimd"))))
                continue
            stages.append(self._dma(core))
            core = m.below(m.cores)
            stages.append(self._dma(core))
        self.sums = m.chance(0.5)
        stages.append(Stage(core, m.pick(("vector", "gpsimd")))
                      if self.sums else self._dma(core))
        return stages

    def _link(self, producer: Stage, consumer: Stage) -> Link:
        m = self.m
        hbm = producer is not self.stages[0] and producer.queues > 0 and (
            consumer.queues > 0) and self.links[-1].slots[0].core is not None
        slots = []
        for _ in range(self.depth):
            slots.append(self._hbm() if hbm else
                         self._tile(producer, consumer))
        link = Link(slots, producer, consumer)
        link.each_full, link.each_free = 1 + m.below(2), 1 + m.below(2)
        if consumer.queues and m.chance(0.6):
            link.at = "read"
        one = not (producer.queues or consumer.queues) and m.chance(0.5)
        link.grows = not one and m.chance(0.3)
        number = 1 if one else self.depth
        for semaphores, core in ((link.full, consumer.core),
                                 (link.free, producer.core)):
            made = [m.sync.semaphore(core) for _ in range(number)]
            semaphores += made * (self.depth if one else 1)
        return link

    def _hbm(self) -> Buffer:
        one = self.m.tensor("scratch")
        self.m.made.append(one)
        self.made.append(one)
        return one

    def _tile(self, producer: Stage, consumer: Stage) -> Buffer:
        """A tile of its own, or one that others use before and after."""
        m = self.m
        used = [buffer for _, buffer in self.borrowed]
        old = [t for t in m.on(consumer.core, False) if t not in used]
        if old and m.chance(0.4):
            one = m.pick(old)
            self.borrowed += [(producer, one), (consumer, one)]
            return one
        one = m.tile(consumer.core)
        m.made.append(one)
        self.made.append(one)
        return one

    def _end(self) -> None:
        """Where the last stage puts things; done: semaphores of its DMAs."""
        m, last = self.m, self.stages[-1]
        self.rows = not self.sums and m.chance(0.5)  # a place per iteration
        rows, columns = m.shape
        self.out = []
        for _ in range(1 if self.sums else self.depth):
            shape = (rows * (self.trips if self.rows else 1), columns)
            one = m.tile(last.core) if self.sums else m.tensor(
                "scratch", shape)
            m.made.append(one)
            self.out.append(one)
        self.done = [] if self.sums else [
            m.sync.semaphore(last.core) for _ in self.out]
        self.main = last.engine
        if self.rows and m.chance(0.5):  # a total: anybody may wait for it
            self.main = m.pick(("vector", "scalar", "gpsimd", "sync"))

    # The program.

    def add(self) -> None:
        """The steps: what has to be over before, and the loop."""
        for stage, buffer in self.borrowed:
            def emit(engine: str = stage.engine, **sync: Any) -> None:
                self.b.nop(engine=engine, **sync)

            self.m.sync.add(Step((stage.core, stage.engine), [], [], emit,
                                 acquires=[buffer]))
        buffers = {id(s): s for link in self.links for s in link.slots}
        writes = [(s, s.box) for s in [*buffers.values(), *self.out]]
        self.m.sync.add(Step((self.stages[-1].core, self.main), [], writes,
                             self.emit))

    def emit(self, wait: Waits, signal: Waits) -> None:
        cores = sorted({s.core for s in self.stages})
        for core in cores:
            with self.b.core(core):
                self._before(core)
        for core in cores:
            with self.b.core(core):
                bound = self.b.register_alloc(
                    self.trips) if self.bound else self.trips
                with self.b.fori_loop(0, bound) as i:
                    self._body(core, i)
        with self.b.core(self.stages[-1].core):
            count = self.stages[-1].queues * (self.trips if self.rows else 1)
            drain = [trnemu.Wait(s, count, consume=not self.rows)
                     for s in self.done]
            self.b.nop(engine=self.main, wait=[*drain, *wait], signal=signal)

    def _before(self, core: int) -> None:
        """All buffers are free, and the sum is zero."""
        for link in self.links:
            if link.consumer.core == core:
                self.b.nop(engine=link.consumer.engine, signal=[
                    (s, link.count_free) for s in link.free])
        last = self.stages[-1]
        if last.core == core and self.sums:
            self.b.memset(dst=self.out[0].view, value=0.0,
                          engine=last.engine)
        elif last.core == core and not self.rows:
            self.b.nop(engine=last.engine, signal=[
                (s, last.queues) for s in self.done])

    def _body(self, core: int, i: Any) -> None:
        row = self._scaled(i, self.m.shape[0], 0) if core in (
            self.stages[0].core, self.stages[-1].core) else None
        counts = {}
        for n, link in enumerate(self.links):
            if link.consumer.core == core and link.grows:
                counts[n] = self._scaled(i, link.count_full, link.count_full)
        for slot in range(self.depth):
            for n, stage in enumerate(self.stages):
                if stage.core == core:
                    self._stage(n, slot, row, counts)

    def _scaled(self, i: Any, by: int, plus: int) -> Any:
        """A register of i * by + plus."""
        out = self.b.register_alloc()
        self.b.register_alu(out, "multiply", i, by)
        if plus:
            self.b.register_alu(out, "add", out, plus)
        return out

    def _stage(self, n: int, slot: int, row: Any, counts: Any) -> None:
        stage = self.stages[n]
        wait: Waits = []
        signal: Waits = []
        if n > 0:
            before = self.links[n - 1]
            wait.append(trnemu.Wait(before.full[slot], counts[n - 1])
                        if before.grows else
                        trnemu.Wait(before.full[slot], before.count_full,
                                    consume=True))
            signal.append(trnemu.Signal(before.free[slot], "add",
                                        before.each_free, at=before.at))
        if n < len(self.links):
            after = self.links[n]
            wait.append(trnemu.Wait(after.free[slot], after.count_free,
                                    consume=True))
            signal.append(trnemu.Signal(after.full[slot], "add",
                                        after.each_full))
        elif self.done:
            if not self.rows:
                wait.append(trnemu.Wait(self.done[slot], stage.queues,
                                        consume=True))
            signal.append((self.done[slot], 1))
        self._operation(n, slot, row, {"wait": wait, "signal": signal})

    def _operation(self, n: int, slot: int, row: Any, sync: Any) -> None:
        stage = self.stages[n]
        src = self._block(self.inputs[slot], row) if n == 0 else (
            self.links[n - 1].slots[slot].view)
        if n < len(self.links):
            dst = self.links[n].slots[slot].view
        elif self.sums:
            dst = self.out[0].view
        else:
            dst = self.out[slot].view
            dst = self._block(self.out[slot], row) if self.rows else dst
        if stage.queues:
            self.b.dma_copy(dst=dst, src=src, queues=stage.queues,
                            trigger=stage.engine, **sync)
        elif n == len(self.links):
            self.b.tensor_tensor(dst=dst, data1=dst, data2=src, op="add",
                                 engine=stage.engine, **sync)
        elif stage.engine == "scalar":
            self.b.activation(dst=dst, op="copy", data=src, scale=-0.75,
                              **sync)
        elif stage.engine == "gpsimd":
            self.b.tensor_tensor(dst=dst, data1=src, data2=src, op="add",
                                 engine="gpsimd", **sync)
        else:
            self.b.tensor_scalar(dst=dst, data=src, op0="multiply",
                                 operand0=0.5, op1="add", operand1=1.0,
                                 engine=stage.engine, **sync)

    def _block(self, tensor: Buffer, row: Any) -> Any:
        """Rows of an iteration."""
        rows, columns = self.m.shape
        return tensor.view.ap([[columns, rows], [1, columns]],
                              scalar_offset=row, indirect_dim=0)


def pipeline(m: Explicit) -> None:
    Pipeline(m).add()
