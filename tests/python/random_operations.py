"""Single operations of random programs, on memory that they share.

They come from the generators of oracle/cases_*.py; their tiles
are laid over a shared pool of tiles, so that instructions depend on each
other, on tiles that are allocated on the way, and on tensors in HBM. Some
have operands at dynamic addresses. Each is executed by random_machine.py as
soon as it is made, and left out if it would ask for a value that no document
fixes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle import GENERATORS
from oracle.cases_dma import Keep, Rows, Shifted
from oracle.types import Ap, Array, Case, OperandSpec, Tile
from random_emit import Plan
from random_limits import LOADED, kept
from random_machine import Machine
from random_steps import Buffer, Fresh, Invalid, Op, Ref, Register
from reference import carrier

TARGETS = ("trn1", "trn2", "trn3")
FIRST = {  # generation that has the operation: isa.json, constraints on gen
    "activate2": 4, "exponential": 4, "range_select": 3, "nc_matmul_mx": 4,
    "quantize_mx": 4, "rand2": 4, "rand_set_state": 3, "rand_get_state": 3,
    "nonzero_with_count": 3,
}
GEN = {"trn1": 2, "trn2": 3, "trn3": 4}
ROOM = {"sbuf": 40_000, "psum": 6_000}  # bytes a partition of tiles in use



def dynamic(case: Case) -> bool:
    """DMA at dynamic addresses: Maker.rows makes that."""
    return any(isinstance(step, (Rows, Shifted, Keep))
               for spec in case.specs() for step in spec.steps)


class Operations:
    """Memory of a program that is being made, and single operations."""

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
