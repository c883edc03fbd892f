"""Runs cases through trnemu and through the oracle, and compares bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
import zlib

import numpy as np

import trnemu
from oracle import GENERATORS, REGISTRY
from oracle.types import (
    GENERATION, Array, Between, Case, Operand, OperandSpec, State, Tile,
)

# What one program may hold, in bytes a partition; the smallest generation has
# 196608 and 16384 (hardware.json), and staging tiles double PSUM's in SBUF.
SBUF_BUDGET, PSUM_BUDGET, BANK = 150_000, 14_336, 2048
Marks = dict[int, Array]


@dataclass
class Job:
    """A case with what reproduces it."""

    case: Case
    seed: tuple[int, ...]

    def __str__(self) -> str:
        return f"{describe(self.case)}\n  seed {list(self.seed)}"


def make(operation: str, target: str, number: int) -> Job:
    """Case `number` of an operation on a target: always the same one."""
    gen = GENERATION[target]
    seed = (zlib.crc32(operation.encode()), gen, number)
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return Job(GENERATORS[operation](rng, gen), seed)


def describe(case: Case) -> str:
    """The case in a few lines."""

    def one(spec: OperandSpec) -> str:
        tile = spec.tile
        return (
            f"{tile.dtype}{list(spec.where().shape)} of {tile.space} "
            f"{list(tile.backing.shape)} by {spec.steps}"
        )

    lines = [f"{case.operation} on {case.target} {case.attributes}"]
    for name, operand in case.operands.items():
        for spec in _list(operand):
            lines.append(f"  {name}: {one(spec)}")
    for before in case.prelude:
        text = describe(before).replace("\n", "\n  ")
        lines.append(f"  after {text}")
    return "\n".join(lines)


def _list(operand: Operand) -> list[OperandSpec]:
    return operand if isinstance(operand, list) else [operand]


# The oracle's side.


@dataclass
class Expected:
    """What the tiles hold in the end: low and high differ, and free is set,
    only where the documents leave room. seen: elements an operation wrote."""

    low: dict[int, Array] = field(default_factory=dict)
    high: dict[int, Array] = field(default_factory=dict)
    free: dict[int, Array] = field(default_factory=dict)
    seen: dict[int, Array] = field(default_factory=dict)
    marks: Marks = field(default_factory=dict)
    near: set[int] = field(default_factory=set)

    def add(self, tile: Tile) -> None:
        key, shape = id(tile), tile.backing.shape
        self.low[key] = tile.backing.copy()
        self.high[key] = tile.backing.copy()
        for of in (self.free, self.seen, self.marks):
            of[key] = np.zeros(shape, bool)

    def put(self, spec: OperandSpec, value: Any, matmul: bool) -> None:
        key = id(spec.tile)
        low, high, free = value, value, np.zeros(spec.where().shape, bool)
        if isinstance(value, Between):
            low, high = value.low, value.high
            free = free if value.free is None else value.free
            self.near.add(key)
        spec.put(self.low[key], low)
        spec.put(self.high[key], high)
        spec.put(self.free[key], free)
        spec.put(self.seen[key], np.ones(low.shape, bool))
        spec.put(self.marks[key], np.full(low.shape, matmul))


def expect(case: Case) -> Expected:
    """Runs the prelude and the operation through the oracle."""
    state, held = State(), Expected()
    for tile in case.tiles():
        held.add(tile)

    def get(spec: OperandSpec) -> Any:
        key = id(spec.tile)
        marks = held.marks[key] if spec.tile.space == "psum" else None
        return spec.get(held.low[key], marks)

    for step in case.all():
        operands = {
            name: [get(s) for s in o] if isinstance(o, list) else get(o)
            for name, o in step.operands.items()
        }
        function = REGISTRY[step.operation]
        with np.errstate(all="ignore"):
            result = function(step.gen, state, **operands, **step.attributes)
        matmul = step.operation.startswith("nc_matmul")
        for name, value in result.items():
            for spec, one in zip(
                _list(step.operands[name]),
                value if isinstance(value, list) else [value],
            ):
                held.put(spec, one, matmul)
    return held


# The emulator's side.


def missing(operation: str) -> str | None:
    """Why trnemu cannot build the operation yet, or None."""
    if not hasattr(trnemu.ProgramBuilder, operation):
        return f"trnemu has no {operation} yet"
    return None


class Unsupported(Exception):
    """A case needs an operation that trnemu does not have yet."""


class Packer:
    """A program that several cases share."""

    def __init__(self, target: str) -> None:
        self.b = trnemu.ProgramBuilder(target=target, sync="auto")
        self.inputs: dict[str, Array] = {}
        self.outputs: list[dict[int, str]] = []

    def _tile(self, tile: Tile, name: str, written: bool) -> Any:
        shape = tile.backing.shape
        if tile.space == "hbm":
            self.inputs[name] = tile.backing
            make = self.b.inout if written else self.b.input
            return make(name, shape, tile.dtype)
        allocate = self.b.psum if tile.space == "psum" else self.b.sbuf
        view = allocate(shape, tile.dtype)
        if tile.load:
            self.inputs[name] = tile.backing
            source = self.b.input(name, shape, tile.dtype)
            to = view
            if tile.space == "psum":
                to = self.b.sbuf(shape, tile.dtype)
            self.b.dma_copy(dst=to, src=source)
            if tile.space == "psum":
                self.b.tensor_copy(dst=view, src=to, engine="vector")
        return view

    def add(self, case: Case) -> None:
        """Loads the tiles, runs the case, stores what it wrote, whole."""
        number = len(self.outputs)
        written = {
            id(spec.tile): spec
            for step in case.all()
            for name in step.outputs
            if name in step.operands
            for spec in _list(step.operands[name])
        }
        views = {
            id(tile): self._tile(tile, f"c{number}t{i}", id(tile) in written)
            for i, tile in enumerate(case.tiles())
        }
        for step in case.all():
            self._operation(step, views)
        names = {
            key: self._store(spec, views[key], f"c{number}o{i}")
            for i, (key, spec) in enumerate(written.items())
        }
        for i, tile in enumerate(case.tiles()):
            if tile.space == "hbm" and id(tile) in written:
                names[id(tile)] = f"c{number}t{i}"
        self.outputs.append(names)

    def _operation(self, step: Case, views: dict[int, Any]) -> None:
        operands = {
            name: [s.view(views[id(s.tile)]) for s in o]
            if isinstance(o, list) else o.view(views[id(o.tile)])
            for name, o in step.operands.items()
        }
        reason = missing(step.operation)
        if reason:
            raise Unsupported(reason)
        getattr(self.b, step.operation)(**operands, **step.attributes)

    def _store(self, spec: OperandSpec, view: Any, name: str) -> str:
        tile = spec.tile
        if tile.space == "hbm":
            return name
        view = view if tile.load else spec.view(view)
        if tile.space == "psum":
            bank, view = view, self.b.sbuf(view.shape, tile.dtype)
            self.b.tensor_copy(dst=view, src=bank, engine="vector")
        self.b.dma_copy(
            dst=self.b.output(name, view.shape, tile.dtype), src=view
        )
        return name

    def run(self) -> list[dict[int, Array]]:
        """By case, the final contents of each tile it wrote."""
        result = trnemu.run(self.b.build(), self.inputs, time=False)
        return [
            {key: result.outputs[name] for key, name in names.items()}
            for names in self.outputs
        ]


def _bytes(case: Case, space: str) -> int:
    """Of a partition, with what staging and rounding up may add."""
    total = 0
    for tile in case.tiles():
        size = tile.backing[:1].nbytes + 64
        if tile.space == "psum":
            total += 2 * size if space == "sbuf" else -(-size // BANK) * BANK
        elif tile.space == space:
            total += size
    return total


def batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Groups that fit into one program's SBUF and PSUM."""
    batch: list[Job] = []
    used = {"sbuf": 0, "psum": 0}
    limit = {"sbuf": SBUF_BUDGET, "psum": PSUM_BUDGET}
    for job in jobs:
        more = {space: _bytes(job.case, space) for space in used}
        if batch and any(used[s] + more[s] > limit[s] for s in used):
            yield batch
            batch, used = [], dict.fromkeys(used, 0)
        batch.append(job)
        used = {space: used[space] + more[space] for space in used}
    if batch:
        yield batch


# Comparison.


def _same(actual: Array, low: Array, raw: bool) -> Array:
    """Equal bits; any NaN equals any NaN unless raw."""
    kind = f"u{actual.dtype.itemsize}"
    equal = actual.view(kind) == low.view(kind)
    if raw or actual.dtype.kind in "iub":
        return equal
    return equal | (np.isnan(actual) & np.isnan(low))


def _inside(actual: Array, low: Array, high: Array, free: Array) -> Array:
    """Between the limits, see types.Between."""
    a, l, h = (x.astype(np.float64) for x in (actual, low, high))
    nan = np.isnan(l) & np.isnan(h)
    loose = free | (np.isnan(l) != np.isnan(h))
    return loose | (nan & np.isnan(a)) | ((l <= a) & (a <= h))


def difference(
    job: Job, held: Expected, actual: dict[int, Array]
) -> str | None:
    """What differs, in words, or None."""
    case = job.case
    names = {
        id(spec.tile): f"{step.operation}.{name}"
        for step in case.all()
        for name, operand in step.operands.items()
        for spec in _list(operand)
    }
    specs = {id(spec.tile): spec for spec in case.specs()}
    for key, got in actual.items():
        spec, raw = specs[key], case.tolerance == "bits"
        parts = (held.low[key], held.high[key], held.free[key], held.seen[key])
        if not spec.tile.load:
            where = spec.where()
            parts = tuple(p.reshape(-1)[where] for p in parts)
        low, high, free, seen = parts
        assert got.dtype == low.dtype and got.shape == low.shape
        right = np.where(seen, _same(got, low, raw), _same(got, low, True))
        if key in held.near:
            right |= seen & _inside(got, low, high, free)
        if right.all():
            continue
        first = tuple(int(i) for i in np.argwhere(~right)[0])
        wanted = f"{low[first]!r}"
        if key in held.near:
            wanted += f" .. {high[first]!r}"
        place = "" if seen[first] else " (a guard, or not selected)"
        return (
            f"{names[key]}: {int((~right).sum())} of {right.size} differ, "
            f"first at {first} of its tile{place}: {got[first]!r}, expected "
            f"{wanted}{_seen_as(spec, first)}\n{job}"
        )
    return None


def _seen_as(spec: OperandSpec, first: tuple[int, ...]) -> str:
    """Where in the view the element of the tile is."""
    if not spec.tile.load:
        return ""
    flat = int(np.ravel_multi_index(first, spec.tile.backing.shape))
    found = np.argwhere(spec.where() == flat)
    return f", element {tuple(map(int, found[0]))}" if len(found) else ""


@dataclass
class Report:
    """What became of some jobs: a message for each that differs or is refused,
    and for each that trnemu does not support yet."""

    wrong: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)


def check(jobs: Iterable[Job]) -> Report:
    """Runs the jobs, which share a target, and compares."""
    report = Report()
    for batch in batches(jobs):
        try:
            actual = _run(batch)
        except (trnemu.Fault, Unsupported):
            actual = None  # one of them is at fault: each on its own
        for i, job in enumerate(batch):
            try:
                got = actual[i] if actual else _run([job])[0]
            except Unsupported as error:
                report.unsupported.append(str(error))
            except trnemu.Fault as fault:
                if fault.category == "unsupported":
                    report.unsupported.append(fault.message)
                else:
                    report.wrong.append(f"refused: {fault}\n{job}")
            else:
                message = difference(job, expect(job.case), got)
                if message:
                    report.wrong.append(message)
    return report


def _run(batch: list[Job]) -> list[dict[int, Array]]:
    packer = Packer(batch[0].case.target)
    for job in batch:
        packer.add(job.case)
    return packer.run()
