"""Random programs of any legal operations on any legal operands.

random_operations.py makes single operations; here are loops around them, with
constant and run-time bounds, registers, and rows that an index tile names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.types import OperandSpec, Tile
from random_emit import Plan
from random_operations import Operations
from random_steps import Invalid, Loop, Op, Ref, Reg, Register, RowsRef
from reference import carrier

ALU = ("add", "subtract", "multiply", "and", "or", "xor", "shift_left",
       "shift_right", "min", "max", "equal", "not_equal", "greater_equal",
       "greater", "less_equal", "less")


class Maker(Operations):
    """Makes one program."""

    def rows(self) -> None:
        """A gather from the table, or a scatter to it."""
        dtype = str(self.rng.choice(("float32", "int32", "uint8", "bfloat16")))
        gather, skip = self.chance(0.5), self.chance(0.3)
        height, wide = self.table.typed_shape(dtype)
        width = 1 + self.below(wide)
        count = 1 + self.below(128 if gather else height)
        numbers = self.rng.integers(0, height, count)
        if not gather:
            numbers = self.rng.permutation(height)[:count]
        if skip:
            wild = self.rng.random(count) < 0.3
            numbers = np.where(wild, self.rng.choice([-1, height], count),
                               numbers)
        index = self.laid(*self._tile((count, 1), "int32"))
        self.load(index, "int32", numbers.astype(np.int32)[:, None])
        if self.chance(0.3) and not skip and height >= count:
            self.add(Op("iota", {"dst": index}, {
                "pattern": [[0, 1]], "channel_multiplier": 1,
                "offset": self.below(height - count + 1)}))
        side = self.laid(*self._tile((count, width), dtype))
        moving = RowsRef(self.table, dtype, index,
                         self.below(wide - width + 1), width, not gather, skip)
        operands = {"dst": side, "src": moving} if gather else {
            "dst": moving, "src": side}
        attributes = {"oob_mode": "skip"} if skip else {}
        self.features.add("dynamic")
        self.add(Op("dma_copy", operands, attributes, bits=True))

    def _tile(self, shape: tuple[int, ...], dtype: str) -> Any:
        tile = Tile(np.zeros(shape, carrier(dtype)), dtype)
        return OperandSpec(tile), self.place(tile)

    def registers(self) -> None:
        """Moves, arithmetic, loads and stores; results stay below 8, since
        registers are also addresses and trip counts."""
        dst = self.free[self.below(len(self.free))]
        sources: list[Any] = [*self.counters, *self.free, self.below(9)]
        one, two = (sources[self.below(len(sources))] for _ in range(2))
        cell = Ref(self.index, "int32", ((1, 1), self.below(8)))
        kind = self.below(4)
        if kind == 0:
            self.add(Reg("load", (dst, cell)))
        elif kind == 1:
            self.add(Reg("store", (cell, dst)))
        elif kind == 2:
            self.add(Reg("move", (dst, one)))
        else:
            op = ALU[self.below(len(ALU))]
            self.add(Reg("alu", (dst, op, one, two)))
            self.add(Reg("alu", (dst, "and", dst, 7)))

    def loop(self, size: int) -> None:
        """A loop whose body is made in its first iteration."""
        self.features.add("loop")
        saved = self.machine.save()
        outer, temps = self.steps, list(self.temps)
        many = self.depth == 0 and self.chance(0.02)
        trips = 20 + self.below(200) if many else self.below(4)
        loop, before = self._header(trips)
        self.steps = loop.body
        if loop.counter is not None:
            self.machine.registers[loop.counter] = self.machine.number(loop.lo)
            self.counters.append(loop.counter)
        self.depth += 1
        self.block(3 if many else size)
        self.depth -= 1
        if loop.counter is not None:
            self.counters.pop()
        else:  # the condition counts down
            self.steps.append(Reg("alu", (loop.hi, "subtract", loop.hi, 1)))
        self.steps, self.temps = outer, temps
        for buffer in [b for b in self.machine.cells if b not in saved[3]]:
            self.machine.add(buffer)  # as it is before the loop
            saved[3][buffer] = self.machine.cells[buffer]
        self._settle(saved, [*before, loop])

    def _header(self, trips: int) -> tuple[Loop, list[Any]]:
        """The loop without its body, and what sets its bound."""
        if self.chance(0.2):
            count = self.register()
            first = Reg("move", (count, trips))
            if self.chance(0.4):
                cell = Ref(self.index, "int32", ((1, 1), self.below(8)))
                first = Reg("load", (count, cell))
            self.machine.run([first])
            return Loop(None, 0, count, 1, []), [first]
        lo: Any = self.below(3)
        step = 1 + self.below(2)
        hi: Any = lo + trips * step
        before = []
        if self.chance(0.4):
            bound = self.register()
            before = [Reg("move", (bound, hi))]
            if self.counters and self.chance(0.5):
                before = [Reg("alu", (bound, "add", self.counters[-1], 2))]
            self.machine.run(before)
            hi = bound
        elif self.counters and self.chance(0.3):
            lo = self.counters[-1]
        return Loop(Register(), lo, hi, step, []), before

    def _settle(self, saved: Any, steps: list[Any]) -> None:
        """Runs all iterations; removes steps that one of them refuses."""
        while True:
            self.machine.restore(saved)
            self.machine.budget = self.machine.steps + 6000
            try:
                self.machine.run(steps)
                break
            except Invalid as error:
                if error.step in steps or isinstance(error.step, (Reg, Loop)):
                    self.machine.restore(saved)
                    return
                error.step.dead = True
            finally:
                self.machine.budget = 100_000
        self.steps += steps

    def block(self, size: int) -> None:
        for _ in range(size):
            way = self.rng.random()
            try:
                if way < 0.06:
                    self.registers()
                elif way < 0.09:
                    self.rows()
                elif way < 0.16 and self.depth < 3:
                    self.loop(1 + self.below(5))
                else:
                    self.operation()
            except Invalid:
                pass

    def make(self) -> Plan:
        self.start()
        size = 1 + int(self.rng.geometric(0.12))
        if self.chance(0.002):
            size = 120 + self.below(300)
        self.block(size)
        return self.plan
