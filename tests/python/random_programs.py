"""Random programs of any legal operations on any legal operands.

Single operations come from the generators of oracle/cases_*.py; their tiles
are laid over a shared pool of tiles, so that instructions depend on each
other, on tiles that are allocated on the way, and on tensors in HBM. Some
stand in loops, some have operands at dynamic addresses. A program is made
while random_machine.py executes it, and what would ask for a value that no
document fixes is left out.

    python tests/python/random_programs.py --programs 20000 --seed 1
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
import multiprocessing
import time
from typing import Any

import numpy as np

from oracle import GENERATORS
from oracle.cases_dma import Keep, Rows, Shifted
from oracle.types import Ap, Array, Case, OperandSpec, Tile
from random_emit import Outcome, Plan, check, listing, shrink
from random_limits import LOADED, kept
from random_machine import (
    Buffer, Fresh, Invalid, Loop, Machine, Op, Ref, Reg, Register, RowsRef,
)
from reference import carrier

TARGETS = ("trn1", "trn2", "trn3")
FIRST = {  # generation that has the operation: isa.json, constraints on gen
    "activate2": 4, "exponential": 4, "range_select": 3, "nc_matmul_mx": 4,
    "quantize_mx": 4, "rand2": 4, "rand_set_state": 3, "rand_get_state": 3,
    "nonzero_with_count": 3,
}
GEN = {"trn1": 2, "trn2": 3, "trn3": 4}
ROOM = {"sbuf": 40_000, "psum": 6_000}  # bytes a partition of tiles in use
ALU = ("add", "subtract", "multiply", "and", "or", "xor", "shift_left",
       "shift_right", "min", "max", "equal", "not_equal", "greater_equal",
       "greater", "less_equal", "less")


def dynamic(case: Case) -> bool:
    """DMA at dynamic addresses: Maker.rows makes that."""
    return any(isinstance(step, (Rows, Shifted, Keep))
               for spec in case.specs() for step in spec.steps)


class Maker:
    """Makes one program."""

    def __init__(self, seed: Sequence[int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.target = str(self.rng.choice(TARGETS))
        self.gen = GEN[self.target]
        self.machine = Machine(self.target)
        self.plan = Plan(self.target, list(seed), [], [], [])
        self.steps = self.plan.steps
        self.temps: list[Buffer] = []
        self.counters: list[Register] = []
        self.depth = 0
        self.names = [n for n in sorted(GENERATORS)
                      if FIRST.get(n, 2) <= self.gen]
        self.features: set[str] = set()

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    # Buffers.

    def buffer(self, space: str, shape: tuple[int, ...], dtype: str = "uint32",
               init: Array | None = None, kind: str = "") -> Buffer:
        name = f"{space}{len(self.plan.buffers)}"
        one = Buffer(name, space, shape, dtype, init, kind)
        self.plan.buffers.append(one)
        self.machine.add(one)
        return one

    def hbm(self, dtype: str, values: Array, kind: str = "input") -> Buffer:
        values = np.ascontiguousarray(values)
        return self.buffer("hbm", values.shape, dtype, values, kind)

    def words(self, shape: tuple[int, ...]) -> Array:
        """Everyday numbers of some dtype, as words."""
        x = self.rng.standard_normal((*shape[:-1], 2 * shape[-1]), np.float32)
        way = self.below(3)
        if way == 0:
            return np.ascontiguousarray((x[..., ::2] * 4).view(np.uint32))
        half = (x * 4).astype(np.float16).view(np.uint16)
        if way == 1:  # the upper half of a float32: bfloat16
            half = np.ascontiguousarray(x.view(np.uint16)[..., 1::2])
        return half.view(np.uint32)

    def add(self, step: Any) -> None:
        """Executes a step and appends it."""
        self.machine.run([step])
        self.steps.append(step)

    def fresh(self, space: str, rows: int, nbytes: int) -> Buffer:
        one = self.buffer(space, (rows, -(-nbytes // 4)))
        self.add(Fresh(one))
        self.temps.append(one)
        room = dict(ROOM)  # older tiles are left alone, so that they may go
        for old in reversed(self.temps):
            room[old.space] -= old.shape[1] * 4
            if room[old.space] < 0:
                self.temps.remove(old)
        return one

    def start(self) -> None:
        """The pool, full; an HBM heap, a table of rows, indices, registers."""
        wide = int(self.rng.choice((32, 64, 128)))
        for space, count in (("sbuf", 2 + self.below(2)), ("psum", 1)):
            for _ in range(count):
                size = wide if space == "sbuf" else int(
                    self.rng.choice((64, 128, 512)))
                one = self.buffer(space, (128, size))
                self.add(Fresh(one))
                whole = Ref(one, "uint32")
                self.load(whole, "uint32", self.words((128, size)))
                self.plan.pool.append(one)
        self.heap = self.hbm("uint32", self.words((4096,)), "inout")
        rows = (int(self.rng.integers(1, 80)), 16)
        self.table = self.hbm("uint32", self.words(rows), "inout")
        self.index = self.buffer("sbuf", (1, 8), "int32")
        self.add(Fresh(self.index))
        self.load(Ref(self.index, "int32"), "int32",
                  self.rng.integers(0, 6, (1, 8)).astype(np.int32))
        self.plan.pool.append(self.index)
        self.free = [self.register(self.below(6)) for _ in range(3)]

    def register(self, value: int | None = None) -> Register:
        one = Register(value)
        self.plan.registers.append(one)
        if value is not None:
            self.machine.registers[one] = value
        return one

    def load(self, whole: Ref, dtype: str, values: Array) -> None:
        """From a tensor of its own, through SBUF into PSUM."""
        source = Ref(self.hbm(dtype, values), dtype)
        if whole.buffer.space != "psum":
            self.add(Op("dma_copy", {"dst": whole, "src": source}, {},
                        bits=True))
            return
        n = int(np.prod(values.shape[1:])) * values.dtype.itemsize
        stage = Ref(self.fresh("sbuf", len(values), n), dtype,
                    (values.shape, 0))
        self.add(Op("dma_copy", {"dst": stage, "src": source}, {}, bits=True))
        self.add(Op("tensor_copy", {"dst": whole, "src": stage},
                    {"engine": "vector"}, bits=True))

    # Operations.

    def place(self, tile: Tile) -> tuple[Buffer, int]:
        """Where a tile lies: a buffer, and the first element of a row."""
        size = carrier(tile.dtype).itemsize
        if tile.space == "hbm":
            count = self.heap.nbytes // size - tile.backing.size
            if count < 0:
                return self.hbm(tile.dtype, tile.backing, "inout"), 0
            return self.heap, self.offset(count, size)
        rows, row = len(tile.backing), tile.backing[:1].nbytes
        options = [b for b in (*self.plan.pool, *self.temps)
                   if b.space == tile.space and b.shape[0] >= rows
                   and b.shape[1] * 4 >= row and b is not self.index]
        if not options or self.chance(0.15):
            return self.fresh(tile.space, rows, row), 0
        one = options[self.below(len(options))]
        if self.chance(0.6):
            one = options[self.below(min(3, len(options)))]
        return one, self.offset((one.shape[1] * 4 - row) // size, size)

    def offset(self, most: int, size: int) -> int:
        """An element at 4 bytes, mostly at 64."""
        unit = max(1, (64 if self.chance(0.6) else 4) // size)
        return self.below(most // unit + 1) * unit

    def laid(self, spec: OperandSpec, at: tuple[Buffer, int]) -> Ref:
        """The operand as a view of the buffer that its tile lies in."""
        buffer, first = at
        dtype, steps = spec.tile.dtype, spec.steps
        if buffer.space == "hbm" and buffer is not self.heap:
            return Ref(buffer, dtype, None, steps, spec.start)
        if steps and isinstance(steps[0], Ap) and buffer.space != "hbm":
            old = int(np.prod(spec.tile.backing.shape[1:]))
            row = buffer.typed_shape(dtype)[1]
            ap = steps[0]
            pattern = ((ap.pattern[0][0] // old * row, ap.pattern[0][1]),
                       *ap.pattern[1:])
            offset = ap.offset // old * row + ap.offset % old + first
            return Ref(buffer, dtype, None, (Ap(pattern, offset), *steps[1:]),
                       spec.start)
        return Ref(buffer, dtype, (spec.tile.backing.shape, first), steps,
                   spec.start)

    def moved(self, one: Ref) -> Ref:
        """The same view at a dynamic address, where it is a pattern."""
        at = one.where(self.machine)
        row = one.buffer.typed_shape(one.dtype)[1]
        steps, origin = [], int(at.flat[0])
        for axis, n in enumerate(at.shape):
            step = 0
            if n > 1:
                step = int(np.take(at, 1, axis).flat[0]) - origin
            steps.append((row if axis == 0 else step or 1, n))
        pattern = tuple(steps)
        ap = Ap(pattern, origin)
        size = (int(np.prod(one.buffer.typed_shape(one.dtype))),)
        if any(s < 1 for s, _ in pattern) or not self._inside(ap, size[0]):
            return one
        if not np.array_equal(ap.array(np.arange(size[0])), at):
            return one
        sources = [*self.counters, *self.counters, *self.free]
        shift: Any = sources[self.below(len(sources))]
        if self.chance(0.25):
            shift = Ref(self.index, "int32", ((1, 1), self.below(8)))
        return Ref(one.buffer, one.dtype, None, (ap,), one.start, shift)

    @staticmethod
    def _inside(ap: Ap, size: int) -> bool:
        last = ap.offset + sum(s * (n - 1) for s, n in ap.pattern)
        return last < size

    def operation(self) -> None:
        """One case, prelude and all."""
        name = self.names[self.below(len(self.names))]
        with np.errstate(all="ignore"):
            case = GENERATORS[name](self.rng, self.gen)
        if any(dynamic(c) for c in case.all()):
            return
        steps = list(case.all())
        if len(steps) > 1 and self.chance(0.3):
            steps = steps[1:]  # goes on from what the program did before
        for one in steps:
            if not self.case(one):
                return

    def case(self, case: Case) -> bool:
        loaded = LOADED.get(case.operation, ())
        if case.attributes.get("is_transpose"):
            loaded = ("moving",)  # an identity
        for attempt in range(3):
            try:
                op, tiles = self.bind(case)
                fresh = attempt > 0 or self.chance(0.25)
                for name, specs in self.named(case):
                    reads = name not in case.outputs
                    for spec in specs:
                        if name in loaded:
                            op.expects[name] = spec.get().values.tobytes()
                        if reads and (fresh or name in loaded):
                            self.fill(spec.tile, tiles)
                        elif attempt and name in kept(op):
                            self.fill(spec.tile, tiles)
                self.machine.run([op])
            except Invalid:
                continue
            self.steps.append(op)
            return True
        return False

    @staticmethod
    def named(case: Case) -> list[tuple[str, list[OperandSpec]]]:
        return [(name, one if isinstance(one, list) else [one])
                for name, one in case.operands.items()]

    def bind(self, case: Case) -> tuple[Op, dict[int, Any]]:
        tiles: dict[int, Any] = {}
        operands: dict[str, Any] = {}
        for name, specs in self.named(case):
            refs = []
            for spec in specs:
                key = id(spec.tile)
                if key not in tiles:
                    tiles[key] = self.place(spec.tile)
                refs.append(self.laid(spec, tiles[key]))
            listed = isinstance(case.operands[name], list)
            operands[name] = refs if listed else refs[0]
        op = Op(case.operation, operands, dict(case.attributes), case.outputs,
                case.tolerance == "bits")
        if self.chance(0.2):
            self.displace(op)
        return op, tiles

    def displace(self, op: Op) -> None:
        """One of its operands moves by a register or an index."""
        if op.name == "dma_compute":  # isa.json: static without indices
            return
        names = [n for n, o in op.operands.items()
                 if isinstance(o, Ref) and o.buffer.space != "hbm"
                 and not (op.name.startswith("nc_matmul") and n == "dst")
                 and not (op.name == "nc_transpose" and n == "dst")]
        if names:
            name = names[self.below(len(names))]
            op.operands[name] = self.moved(op.operands[name])
            if op.operands[name].shift is not None:
                self.features.add("dynamic")

    def fill(self, tile: Tile, tiles: dict[int, Any]) -> None:
        """Loads the tile's own values to where it lies."""
        buffer, first = tiles[id(tile)]
        if buffer.init is not None and buffer is not self.heap:
            return
        if tile.backing.size == 0:
            return
        whole = Ref(buffer, tile.dtype, (tile.backing.shape, first))
        self.load(whole, tile.dtype, tile.backing.copy())

    # DMA by rows, registers, loops.

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
        known = {b: c for b, c in self.machine.cells.items()
                 if b not in saved[3]}
        saved[3].update(known)
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
            size = 500 + self.below(1000)
        self.block(min(size, 1500))
        return self.plan


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
        found.wrong = report(shrink(plan, seeds), outcome.wrong)
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
