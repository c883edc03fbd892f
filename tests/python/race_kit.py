"""Tiny programs by hand: views, instructions, and what is expected of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from race_model import Buffer, Loop, Op, Tiny, View, emit, numbers
from race_oracle import observe
from race_orders import judge

SCHEDULES: tuple[Any, ...] = ("timed", "program", *range(6))

T, U, V = (Buffer(n, 0, 128, 8, 8 * i) for i, n in enumerate("tuv"))
H, G = (Buffer(n, -1, 128, 8, i) for i, n in enumerate("hg"))
FAR = Buffer("far", 1, 128, 8)  # on core 1
BUFFERS = (T, U, V, H, G)


def all_of(b: Buffer, row: int = 0, end: int | None = None, start: int = 0,
           count: int = 8, step: int = 1) -> View:
    return View(b, row, (end or b.rows) - row, start, count, step)


def memset(engine: str, dst: Buffer | View) -> Op:
    return Op("memset", 0, engine, dst if isinstance(dst, View) else all_of(dst))


def copy(engine: str, dst: Buffer | View, src: Buffer | View) -> Op:
    dst, src = (x if isinstance(x, View) else all_of(x) for x in (dst, src))
    return Op("copy", 0, engine, dst, src)


def dma(engine: str, dst: Buffer | View, src: Buffer | View, queues: int,
        core: int = 0) -> Op:
    op = copy(engine, dst, src)
    return replace(op, kind="dma", queues=queues, core=core)


def nop(engine: str) -> Op:
    return Op("nop", 0, engine)


def wait(op: Op, s: int, n: int, consume: bool = False) -> Op:
    return replace(op, waits=(*op.waits, (s, n, consume)))


def signal(op: Op, s: int, k: int = 1, at: str = "complete") -> Op:
    return replace(op, signals=(*op.signals, (s, "add", k, at)))


def expect(items: list[Op | Loop], races: set[tuple[int, int]],
           judged: bool = True, cores: int = 1) -> None:
    """races: pairs of positions among the ops, loops opened."""
    buffers = (*BUFFERS, FAR) if cores == 2 else BUFFERS
    tiny = Tiny(buffers, tuple(items), cores)
    program = emit(tiny)
    streams = {k: list(v) for k, v in numbers(program).items()}
    where = []
    for op in tiny.ops():
        stream = streams[op.core, op.engine]
        where.append((op.core, stream.pop(0)))
        if op.kind == "barrier":
            stream.pop(0)
    expected = {frozenset((where[a], where[b])) for a, b in races}
    if judged:
        exact = judge(tiny, program)
        assert not exact.deadlock
        assert set(exact.pairs) == expected, f"the judge says {exact.pairs}"
    for schedule in SCHEDULES:
        seen = observe(program, schedule)
        assert not seen.fault, seen.message
        found = {frozenset((r.later, r.earlier)) for r in seen.reports}
        assert found <= expected, f"{schedule}: {seen.message}"
        assert bool(found) == bool(expected), f"schedule {schedule}: none found"
