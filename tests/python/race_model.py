"""Tiny explicitly synchronised programs, of which all orders can be looked at
(race_orders.py)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import trnemu

SIZES = {"uint8": 1, "float32": 4}
Where = tuple[int, int]  # an instruction: its core, its number


@dataclass(frozen=True)
class Buffer:
    """A tile (core >= 0, at a byte of its partitions from 0 on) or an HBM
    tensor (core -1) of rows x cols."""

    name: str
    core: int
    rows: int
    cols: int
    address: int = 0
    dtype: str = "uint8"


@dataclass(frozen=True)
class View:
    """rows [row, row + rows) and `count` columns from `start` by `step`."""

    buffer: Buffer
    row: int
    rows: int
    start: int
    count: int
    step: int = 1

    def __str__(self) -> str:
        stop = self.start + (self.count - 1) * self.step + 1
        step = f":{self.step}" if self.step > 1 else ""
        return (f"{self.buffer.name}[{self.row}:{self.row + self.rows}, "
                f"{self.start}:{stop}{step}]")

    def of(self, tensor: trnemu.View) -> trnemu.View:
        stop = self.start + (self.count - 1) * self.step + 1
        return tensor[self.row : self.row + self.rows,
                      self.start : stop : self.step]


@functools.lru_cache(maxsize=4096)
def elements(view: View) -> tuple[tuple[int, ...], ...]:
    """The bytes of each element, in the flat order, as numbers that are the
    same for the same byte."""
    b, size = view.buffer, SIZES[view.buffer.dtype]
    out = []
    for r in range(view.row, view.row + view.rows):
        for c in range(view.count):
            column = view.start + c * view.step
            if b.core >= 0:
                first = (b.core << 24) + (r << 16) + b.address + column * size
            else:
                first = (1 << 40) + (b.address << 24)
                first += (r * b.cols + column) * size
            out.append(tuple(range(first, first + size)))
    return tuple(out)


@functools.lru_cache(maxsize=4096)
def touched(view: View, first: int = 0, end: int | None = None) -> frozenset[int]:
    return frozenset(x for e in elements(view)[first:end] for x in e)


@dataclass(frozen=True)
class Op:
    """An instruction; waits (semaphore, n, consume), signals (semaphore, op,
    k, at)."""

    kind: str  # memset copy scalar dma nop barrier
    core: int
    engine: str
    dst: View | None = None
    src: View | None = None
    queues: int = 0
    waits: tuple[tuple[int, int, bool], ...] = ()
    signals: tuple[tuple[int, str, int, str], ...] = ()

    def __str__(self) -> str:
        text = f"core {self.core} {self.engine:7s} {self.kind}"
        if self.dst:
            text += f" {self.dst}"
        if self.src:
            text += f" <- {self.src}"
        if self.queues:
            text += f" queues={self.queues}"
        for s, n, consume in self.waits:
            text += f" wait s{s}>={n}{'/consume' if consume else ''}"
        for s, op, k, at in self.signals:
            text += f" signal s{s} {op} {k}{'/read' if at == 'read' else ''}"
        return text


@dataclass(frozen=True)
class Loop:
    trips: int
    body: tuple[Op, ...]

    def __str__(self) -> str:
        return f"loop {self.trips}:\n" + "\n".join(f"    {o}" for o in self.body)


@dataclass(frozen=True)
class Tiny:
    buffers: tuple[Buffer, ...]
    items: tuple[Op | Loop, ...]
    cores: int = 1

    def __str__(self) -> str:
        head = "; ".join(
            f"{b.name} {b.dtype} ({b.rows}, {b.cols}) "
            + (f"core {b.core} byte {b.address}" if b.core >= 0 else "hbm")
            for b in self.buffers)
        return "\n".join([head, *map(str, self.items)])

    def ops(self) -> Iterator[Op]:
        for item in self.items:
            yield from item.body if isinstance(item, Loop) else (item,)

    def semaphores(self) -> int:
        used = [w[0] for o in self.ops() for w in o.waits]
        used += [g[0] for o in self.ops() for g in o.signals]
        return max(used, default=-1) + 1


# --- as a program -------------------------------------------------------------


class Emitter:
    def __init__(self, tiny: Tiny) -> None:
        self.b = trnemu.ProgramBuilder(
            target="trn2", sync="explicit", cores=tiny.cores)
        self.tensors: dict[str, trnemu.View] = {}
        for t in tiny.buffers:
            shape = (t.rows, t.cols)
            if t.core < 0:
                self.tensors[t.name] = self.b.scratch(t.name, shape, t.dtype)
                continue
            with self.b.core(t.core):
                self.tensors[t.name] = self.b.sbuf(
                    shape, t.dtype, address=(0, t.address), name=t.name)
        self.semaphores = [self.b.semaphore(f"s{i}")
                           for i in range(tiny.semaphores())]
        for item in tiny.items:
            if not isinstance(item, Loop):
                self.emit(item)
                continue
            with (self.b.core(item.body[0].core),
                  self.b.fori_loop(0, item.trips)):
                for op in item.body:
                    self.emit(op)

    def emit(self, op: Op) -> None:
        b = self.b
        sync: dict[str, Any] = {}
        if op.waits:
            sync["wait"] = [trnemu.Wait(self.semaphores[s], n, consume=c)
                            for s, n, c in op.waits]
        if op.signals:
            sync["signal"] = [
                trnemu.Signal(self.semaphores[s], how, at=at)
                if how in ("inc", "dec") else
                trnemu.Signal(self.semaphores[s], how, k, at=at)
                for s, how, k, at in op.signals]
        dst = op.dst and op.dst.of(self.tensors[op.dst.buffer.name])
        src = op.src and op.src.of(self.tensors[op.src.buffer.name])
        with b.core(op.core):
            match op.kind:
                case "memset":
                    b.memset(dst=dst, value=1, engine=op.engine, **sync)
                case "copy":
                    b.tensor_copy(dst=dst, src=src, engine=op.engine, **sync)
                case "scalar":
                    b.tensor_scalar(dst=dst, data=src, op0="add", operand0=1.0,
                                    engine=op.engine, **sync)
                case "dma":
                    b.dma_copy(dst=dst, src=src, queues=op.queues,
                               trigger=op.engine, **sync)
                case "nop":
                    b.nop(engine=op.engine, **sync)
                case "barrier":
                    b.core_barrier(data=dst, cores=(0, 1), engine=op.engine,
                                   **sync)


def emit(tiny: Tiny) -> trnemu.Program:
    return Emitter(tiny).b.build()


def numbers(program: trnemu.Program) -> dict[tuple[int, str], list[int]]:
    """By core and engine: the numbers of the instructions that are not those
    of loops."""
    out: dict[tuple[int, str], list[int]] = {}
    core = -1
    for line in program.to_text().splitlines():
        words = line.split()
        if line.startswith("core "):
            core = int(words[1])
        elif core >= 0 and len(words) > 2 and words[1].startswith("#"):
            if words[2].split(".")[0] in ("register_move", "branch",
                                          "register_alu"):
                continue
            out.setdefault((core, words[0]), []).append(int(words[1][1:]))
    return out
