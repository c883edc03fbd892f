"""A small abstract machine over NumPy: what a program means, step by step.

Memory is a set of buffers of raw bytes, so that views of any dtype alias. A
step is an operation of the oracle on views, a register operation, or a loop,
which is unrolled. Every step checks that what it reads is defined by the
documents (written, exact, and legal for the operation), and raises Invalid
otherwise: generators drop such a step, so that no program asks for a value
that nobody has fixed.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle import REGISTRY
from oracle.cores import register_alu, register_load, register_store
from oracle.types import GENERATION, LANES, Array, Between, State, T
from random_limits import ACCUMULATORS, kept, limits, seeds
from random_steps import (
    Buffer, Fresh, Invalid, Loop, Op, Ref, Reg, Register, RowsRef,
)
from reference import carrier


@dataclass
class Record:
    """What was written inexactly: between limits, or any NaN where low is."""

    buffer: Buffer
    dtype: str
    at: Array
    low: Array
    high: Array
    free: Array


@dataclass
class Cells:
    """Bytes of a buffer: data, written, by a matmul, number of the Record.

    full: all are written; loose: some have a Record. Both only save time.
    """

    data: Array
    written: Array
    marks: Array
    record: Array
    full: bool = False
    loose: bool = False

    def copy(self) -> Cells:
        return Cells(*(a.copy() for a in (
            self.data, self.written, self.marks, self.record,
        )), self.full, self.loose)


class Machine:
    """One core and its memory."""

    def __init__(self, target: str) -> None:
        self.gen = GENERATION[target]
        self.state = State()
        self.owner = {"vector": "", "scalar": ""}
        self.seeded = {e: np.zeros(LANES, bool) for e in ("vector", "gpsimd")}
        self.cells: dict[Buffer, Cells] = {}
        self.registers: dict[Register, int] = {}
        self.records: list[Record] = []
        self.executed = 0  # operations
        self.steps, self.budget = 0, 100_000

    def add(self, buffer: Buffer) -> None:
        size = buffer.nbytes
        data = np.zeros(size, np.uint8)
        if buffer.init is not None:
            data[:] = np.frombuffer(buffer.init.tobytes(), np.uint8)
        flags = np.full(size, buffer.init is not None)
        self.cells[buffer] = Cells(
            data, flags, np.zeros(size, bool), np.zeros(size, np.int32),
            buffer.init is not None)

    def save(self) -> Any:
        cells = {b: c.copy() if b.kind != "input" else c
                 for b, c in self.cells.items()}
        return (copy.deepcopy(self.state), dict(self.owner),
                copy.deepcopy(self.seeded), cells, dict(self.registers),
                len(self.records), self.executed, self.steps)

    def restore(self, saved: Any) -> None:
        state, owner, seeded, cells, registers, count, *done = saved
        self.state, self.owner = copy.deepcopy(state), dict(owner)
        self.seeded = copy.deepcopy(seeded)
        self.registers = dict(registers)
        self.cells = {b: c.copy() if b.kind != "input" else c
                      for b, c in cells.items()}
        del self.records[count:]
        self.executed, self.steps = done

    # Values.

    def number(self, x: Any) -> int:
        """Of a number, a register, or an index in memory."""
        if isinstance(x, Register):
            if x not in self.registers:
                raise Invalid("an unset register")
            return self.registers[x]
        if isinstance(x, Ref):
            return register_load(self.read(x))
        return int(x)

    def read(self, ref: Any, must: bool = True, bits: bool = True) -> T:
        """The view's values; `must`: they are written and exact, save that an
        arithmetic reader may see any NaN of its dtype."""
        where, cells = ref.where(self), self.cells[ref.buffer]
        kind = carrier(ref.dtype)
        flat = where.reshape(-1)
        if isinstance(ref, RowsRef):
            flat = np.maximum(flat, 0)
        if must:
            self._defined(ref, cells, flat, bits)
        marks = None
        if ref.buffer.space == "psum":
            by = cells.marks.reshape(-1, kind.itemsize)[flat]
            if (by.any(1) != by.all(1)).any():
                raise Invalid("an element that a matmul wrote in part")
            marks = by[:, 0].reshape(where.shape)
        values = cells.data.view(kind)[flat].reshape(where.shape)
        return T(values, ref.dtype, ref.buffer.space, ref.start, marks, where)

    def _defined(self, ref: Any, cells: Cells, flat: Array, bits: bool) -> None:
        size = carrier(ref.dtype).itemsize
        if not cells.full:
            cells.full = bool(cells.written.all())
        if not cells.full and not cells.written.reshape(-1, size)[flat].all():
            raise Invalid("unwritten memory")
        if cells.loose:
            self._exact(ref, cells.record.reshape(-1, size)[flat], bits)
        if ref.dtype == "bool" and cells.data[flat].max(initial=0) > 1:
            raise Invalid("a bool that is neither 0 nor 1")

    def _exact(self, ref: Any, records: Array, bits: bool) -> None:
        if not records.any():
            return
        for n in np.unique(records):
            if n == 0:
                continue
            record = self.records[n - 1]
            if bits or record.dtype != ref.dtype or not _nan_only(record):
                raise Invalid("an inexact value")
        if (records != records[:, :1]).any():
            raise Invalid("part of a NaN")

    def write(self, ref: Any, value: Any, matmul: Any, bits: bool) -> None:
        where, cells = ref.where(self), self.cells[ref.buffer]
        kind = carrier(ref.dtype)
        inside = where.reshape(-1) >= 0
        at = where.reshape(-1)[inside]
        low, high, free = value, value, None
        if isinstance(value, Between):
            low, high, free = value.low, value.high, value.free
        assert low.shape == where.shape, (low.shape, where.shape)
        assert low.dtype == kind, (low.dtype, kind)
        low, high = low.reshape(-1)[inside], high.reshape(-1)[inside]
        cells.data.view(kind)[at] = low
        size = kind.itemsize
        if not cells.full:
            cells.written.reshape(-1, size)[at] = True
        if ref.buffer.space == "psum":
            if not isinstance(matmul, bool):
                matmul = matmul.reshape(-1)[inside, None]
            cells.marks.reshape(-1, size)[at] = matmul
        loose = _loose(low, high, bits)
        if free is not None:
            free = free.reshape(-1)[inside]
            loose = loose | free
        if not loose.any() and not cells.loose:
            return
        cells.loose = True
        free = np.zeros(len(at), bool) if free is None else free
        self.records.append(Record(
            ref.buffer, ref.dtype, at[loose], low[loose], high[loose],
            free[loose]))
        number = np.where(loose, len(self.records), 0)[:, None]
        cells.record.reshape(-1, size)[at] = number

    # Steps.

    def run(self, steps: list[Any]) -> None:
        for step in steps:
            if step.dead:
                continue
            try:
                self.step(step)
            except Invalid as error:
                error.step = error.step or step
                raise

    def step(self, step: Any) -> None:
        self.steps += 1
        if self.steps > self.budget:
            raise Invalid("too long")
        if isinstance(step, Op):
            self.executed += 1
            self.operation(step)
        elif isinstance(step, Reg):
            self.register(step)
        elif isinstance(step, Fresh):
            cells = self.cells[step.buffer]
            cells.written[:] = cells.marks[:] = False
            cells.record[:] = 0
            cells.full = cells.loose = False
        else:
            self.loop(step)

    def loop(self, step: Loop) -> None:
        if step.counter is None:
            while self.number(step.hi):
                self.run(step.body)
            return
        lo, hi = self.number(step.lo), self.number(step.hi)
        for i in range(lo, hi, step.step):
            self.registers[step.counter] = i
            self.run(step.body)
        self.registers.pop(step.counter, None)

    def register(self, step: Reg) -> None:
        dst, *rest = step.arguments
        if step.kind == "store":
            target = T(np.zeros(dst.where(self).shape, carrier(dst.dtype)),
                       dst.dtype)
            value = register_store(self.number(rest[0]), target)
            self.write(dst, value, False, True)
        elif step.kind == "alu":
            op, a, b = rest
            self.registers[dst] = register_alu(
                op, self.number(a), self.number(b))
        else:
            self.registers[dst] = register_alu("or", self.number(rest[0]), 0)

    def operation(self, op: Op) -> None:
        keeps = kept(op)
        self._apart(op)
        loose = op.bits or op.name in ("tensor_tensor", "tensor_scalar",
                                       "tensor_reduce") and _bitwise(op)
        seen: dict[str, Any] = {}
        nans = False

        def get(name: str, ref: Any) -> T:
            nonlocal nans
            must = name not in op.outputs or name in keeps
            t = self.read(ref, must, loose and not op.bits)
            nans |= must and self.cells[ref.buffer].loose and bool(
                self._records(ref, t).any())
            expected = op.expects.get(name)
            if expected is not None and t.values.tobytes() != expected:
                raise Invalid("not what was loaded for it")
            return t

        for name, one in op.operands.items():
            seen[name] = [get(name, r) for r in one] if isinstance(
                one, list) else get(name, one)
        if nans and op.bits and len({r.dtype for r in op.refs()
                                     if r.dtype[:3] not in ("int", "uin")}) > 1:
            raise Invalid("bits of any NaN as another dtype")
        why = limits(op, seen, self)
        if why:
            raise Invalid(why)
        touches = op.name in ACCUMULATORS
        before = copy.deepcopy(self.state) if touches else None
        try:
            with np.errstate(all="ignore"):
                result = REGISTRY[op.name](
                    self.gen, self.state, **seen, **op.attributes)
        except AssertionError as error:
            assert before is not None, op
            self.state = before
            raise Invalid(f"accumulators: {error}") from None
        if touches and op.attributes.get("reduce_cmd") not in (None, "idle"):
            self.owner[ACCUMULATORS[op.name]] = op.name
        seeds(op, seen, self)
        self._results(op, seen, result, op.bits and not nans)

    def _records(self, ref: Any, t: T) -> Array:
        size = carrier(ref.dtype).itemsize
        at = np.maximum(t.where, 0).reshape(-1)
        return self.cells[ref.buffer].record.reshape(-1, size)[at]

    def _results(self, op: Op, seen: Any, result: Any, bits: bool) -> None:
        matmul = op.name.startswith("nc_matmul") or (
            op.name == "nc_transpose" and _on_tensor(op, seen))
        for name, value in result.items():
            refs, values = op.operands[name], value
            if not isinstance(refs, list):
                refs, values = [refs], [value]
            for ref, one in zip(refs, values):
                self.write(ref, one, matmul, bits)

    def _apart(self, op: Op) -> None:
        """What is written shares no byte with what else is used, unless two
        operands are the same view. No document fixes the rest."""
        outs = op.refs(op.outputs)
        for out in outs:
            mine = out.where(self)
            size = carrier(out.dtype).itemsize
            flag = None
            for other in op.refs():
                if other is out or other.buffer is not out.buffer:
                    continue
                theirs = other.where(self)
                if (other.dtype == out.dtype and other not in outs
                        and np.array_equal(mine, theirs)):
                    continue
                if flag is None:
                    flag = np.zeros(out.buffer.nbytes, bool)
                    flag.reshape(-1, size)[mine[mine >= 0]] = True
                other_size = carrier(other.dtype).itemsize
                at = theirs[theirs >= 0]
                if flag.reshape(-1, other_size)[at].any():
                    raise Invalid("operands overlap in part")


def _nan_only(record: Record) -> bool:
    if record.low.dtype.kind in "iub" or record.free.any():
        return False
    return bool((np.isnan(record.low) & np.isnan(record.high)).all())


def _loose(low: Array, high: Array, bits: bool) -> Array:
    """Elements that more than one bit pattern would satisfy."""
    kind = f"u{low.dtype.itemsize}"
    same = low.view(kind) == high.view(kind)
    if bits or low.dtype.kind in "iub":
        return ~same
    return ~same | np.isnan(low)


def _bitwise(op: Op) -> bool:
    name = str(op.attributes.get("op", op.attributes.get("op0")))
    return name == "invert" or "shift" in name or name.startswith("bitwise")


def _on_tensor(op: Op, seen: Any) -> bool:
    engine = op.attributes.get("engine", "unknown")
    return engine == "tensor" or (
        engine == "unknown" and seen["dst"].space == "psum")
