"""Random programs whose semaphores are their own, and correct.

Tiles and tensors that several engines and DMAs of one or two cores read, write
and write again, in parts; barriers between cores; loops of stages that hand
buffers to each other (explicit_loops.py). explicit_sync.py finds the waits.
Every tile and tensor is an output in the end, so that nothing goes unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import trnemu
from explicit_loops import pipeline
from explicit_sync import Box, Buffer, Step, Synchroniser
from oracle.types import Array

COMPUTE = ("vector", "scalar", "gpsimd")
TRIGGERS = ("sync", "sync", "scalar", "gpsimd", "vector", "tensor")
STARTS = {0: 128, 32: 32, 64: 64, 96: 32}  # and how many partitions


class Explicit:
    """Makes one program: `program`, and its `inputs`."""

    def __init__(self, seed: Sequence[int]) -> None:
        self.rng = np.random.default_rng([*seed, 77])
        self.target = self.pick(("trn1", "trn2", "trn3"))
        two = self.target != "trn1" and self.chance(0.4)
        self.cores = 2 if two else 1
        self.b = trnemu.ProgramBuilder(
            target=self.target, sync="explicit", cores=self.cores)
        self.sync = Synchroniser(self.b, self.rng)
        self.inputs: dict[str, Array] = {}
        self.tiles: list[Buffer] = []
        self.shared: list[Buffer] = []
        self.made: list[Buffer] = []  # of loops
        self.shape = (int(self.pick((8, 32, 64, 128))),
                      int(self.pick((8, 16, 48))))
        self.make()
        self.program = self.b.build()

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.below(len(items))]

    # Buffers.

    def tile(self, core: int, psum: bool = False) -> Buffer:
        n = len(self.tiles) + len(self.made)
        one = Buffer(f"t{n}", core, self.shape, psum=psum)
        with self.b.core(core):
            make = self.b.psum if psum else self.b.sbuf
            one.view = make(self.shape, "float32", name=one.name)
        return one

    def tensor(self, kind: str, shape: tuple[int, int] | None = None) -> Buffer:
        """An input, a scratch or an output tensor."""
        shape = shape or self.shape
        name = f"{kind}{len(self.inputs) + len(self.shared) + len(self.made)}"
        one = Buffer(name, None, shape)
        one.view = getattr(self.b, kind)(name, shape, "float32")
        if kind == "input":
            self.inputs[name] = self.rng.standard_normal(shape, np.float32)
        return one

    # Steps.

    def dma(self, core: int, dst: tuple[Buffer, Box], src: tuple[Buffer, Box],
            ) -> Step:
        queues = int(self.pick((1, 1, 2, 3, 8, 16, 16)))
        trigger = self.pick(TRIGGERS)

        def emit(**sync: Any) -> None:
            self.b.dma_copy(dst=dst[0].part(dst[1]), src=src[0].part(src[1]),
                            queues=queues, trigger=trigger, **sync)

        return Step((core, trigger), [src], [dst], emit, queues)

    def compute(self, core: int, engine: str, name: str,
                dst: tuple[Buffer, Box], srcs: dict[str, tuple[Buffer, Box]],
                **attributes: Any) -> Step:
        if name.startswith("tensor_"):
            attributes["engine"] = engine

        def emit(**sync: Any) -> None:
            getattr(self.b, name)(
                dst=dst[0].part(dst[1]),
                **{k: buffer.part(box) for k, (buffer, box) in srcs.items()},
                **attributes, **sync)

        return Step((core, engine), list(srcs.values()), [dst], emit)

    def box(self) -> Box:
        """Part of a buffer, mostly all of its partitions."""
        rows, columns = self.shape
        first, count = 0, rows
        if self.chance(0.3):
            first = self.pick([s for s in STARTS if s < rows])
            count = 1 + self.below(min(STARTS[first], rows - first))
        wide = 1 + self.below(columns)
        at = self.below(columns - wide + 1)
        if self.chance(0.3):
            wide, at = columns, 0
        return first, first + count, at, at + wide

    def moved(self, box: Box, any_rows: bool = False) -> Box:
        """The same size elsewhere along the columns; for DMAs, anywhere."""
        rows, columns = self.shape
        a, b, c, d = box
        c2 = self.below(columns - (d - c) + 1)
        a2 = self.below(rows - (b - a) + 1) if any_rows else a
        return a2, a2 + b - a, c2, c2 + d - c

    def on(self, core: int, psum: bool | None = None) -> list[Buffer]:
        return [t for t in self.tiles if t.core == core
                and psum in (None, t.psum)]

    def some_dma(self, core: int) -> Step:
        box = self.box()
        tiles = self.on(core, False)
        dst, src = self.pick(tiles), self.pick(tiles)
        way = self.below(3)
        if way == 0:
            src = self.tensor("input")
        elif way == 1 and self.shared:
            if self.chance(0.5):
                dst = self.pick(self.shared)
            else:
                src = self.pick(self.shared)
        if src is dst:
            src = self.tensor("input")
        return self.dma(core, (dst, box), (src, self.moved(box, True)))

    def some_compute(self, core: int) -> Step:
        box = self.box()
        engine = self.pick(COMPUTE)
        # gpsimd cannot reach PSUM on every generation: SBUF only.
        tiles = self.on(core, False if engine == "gpsimd" else None)
        dst = self.pick(tiles)

        def source(psum: bool | None) -> tuple[Buffer, Box]:
            of = self.pick([t for t in tiles if psum in (None, t.psum)])
            return of, box if of is dst else self.moved(box)

        if engine == "scalar":
            op, scale = self.pick((("relu", 0.5), ("copy", -0.75)))
            return self.compute(core, engine, "activation", (dst, box), {
                "data": source(None)}, op=op, scale=scale)
        if engine == "vector" and self.chance(0.4):
            return self.compute(
                core, engine, "tensor_scalar", (dst, box),
                {"data": source(None)}, op0="multiply", operand0=0.75,
                op1="add", operand1=float(self.below(9)))
        return self.compute(
            core, engine, "tensor_tensor", (dst, box),
            {"data1": source(None), "data2": source(False)},
            op=self.pick(("add", "subtract", "maximum")))

    def some_matmul(self, core: int) -> Step | None:
        sums, tiles = self.on(core, True), self.on(core, False)
        if not sums:
            return None
        rows, columns = self.shape
        m, n = 1 + self.below(min(rows, columns)), 1 + self.below(columns)
        return self.compute(
            core, "tensor", "nc_matmul", (self.pick(sums), (0, m, 0, n)),
            {"stationary": (self.pick(tiles), (0, rows, 0, m)),
             "moving": (self.pick(tiles), (0, rows, columns - n, columns))},
            accumulate=False)

    def fill(self, one: Buffer, core: int) -> Step:
        """The first write of a buffer, all of it."""
        if one.core is None:
            src = self.pick(self.on(core, False))
            return self.dma(core, (one, one.box), (src, src.box))
        if one.psum or self.chance(0.3):
            engine = "vector" if one.psum else self.pick(("vector", "gpsimd"))

            def emit(**sync: Any) -> None:
                self.b.memset(dst=one.view, value=1.5, engine=engine, **sync)

            return Step((core, engine), [], [(one, one.box)], emit)
        src = self.tensor("input")
        return self.dma(core, (one, one.box), (src, src.box))

    def barrier(self) -> None:
        data = self.pick(self.shared)
        halves = []
        for core in (0, 1):
            engine = self.pick(("gpsimd", "vector", "scalar", "sync"))

            def emit(engine: str = engine, **sync: Any) -> None:
                self.b.core_barrier(data=data.view, cores=(0, 1),
                                    engine=engine, **sync)

            halves.append(Step((core, engine), [], [], emit))
        self.sync.add(*halves)

    # Programs.

    def make(self) -> None:
        for core in range(self.cores):
            for _ in range(2 + self.below(3)):
                self.tiles.append(self.tile(core))
            if self.chance(0.5):
                self.tiles.append(self.tile(core, True))
        for t in self.tiles:
            assert t.core is not None
            self.sync.add(self.fill(t, t.core))
        for _ in range(1 + self.below(2)):
            one = self.tensor("scratch")
            self.sync.add(self.fill(one, self.below(self.cores)))
            self.shared.append(one)
        for _ in range(1 + self.below(3)):
            self.straight(2 + self.below(12))
            if self.chance(0.6):
                pipeline(self)
        self.dump()
        self.sync.emit()

    def straight(self, count: int) -> None:
        for _ in range(count):
            core = self.below(self.cores)
            way = self.rng.random()
            step: Step | None
            if way < 0.4:
                step = self.some_dma(core)
            elif way < 0.9:
                step = self.some_compute(core)
            else:
                step = self.some_matmul(core)
            if step is not None:
                self.sync.add(step)
            if self.cores == 2 and self.chance(0.08):
                self.barrier()

    def dump(self) -> None:
        for one in [*self.tiles, *self.shared, *self.made]:
            core = self.below(self.cores) if one.core is None else one.core
            name = f"{one.name}_end"
            out = Buffer(name, None, one.shape)
            out.view = self.b.output(name, one.shape, "float32")
            self.sync.add(self.dma(core, (out, out.box), (one, one.box)))

