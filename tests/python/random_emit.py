"""Random programs as trnemu programs: steps to builder calls, and runs."""

from __future__ import annotations

from dataclasses import dataclass, field
import time
from typing import Any

import numpy as np

import trnemu
from oracle.types import Array
from random_machine import Machine, Record
from random_steps import (
    Buffer, Fresh, Invalid, Loop, Op, Ref, Reg, Register,
)
from reference import carrier


@dataclass
class Plan:
    """A program: buffers of the host and the pool, registers, steps."""

    target: str
    seed: Any
    buffers: list[Buffer]
    registers: list[Register]
    steps: list[Any]
    pool: list[Buffer] = field(default_factory=list)


class Emitter:
    """Builds a plan's program."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.b = trnemu.ProgramBuilder(target=plan.target, sync="auto")
        self.views: dict[Buffer, Any] = {}
        self.registers: dict[Register, Any] = {}
        self.inputs: dict[str, Array] = {}

    def view(self, buffer: Buffer) -> Any:
        if buffer not in self.views:
            assert buffer.space == "hbm" and buffer.init is not None
            self.inputs[buffer.name] = buffer.init
            make = self.b.inout if buffer.kind == "inout" else self.b.input
            self.views[buffer] = make(buffer.name, buffer.shape, buffer.dtype)
        return self.views[buffer]

    def value(self, x: Any) -> Any:
        """A number, a register, or the view of an index."""
        if isinstance(x, Register):
            return self.registers[x]
        return x.view(self) if isinstance(x, Ref) else x

    def build(self) -> trnemu.Program:
        plan = self.plan
        for register in plan.registers:
            self.registers[register] = self.b.register_alloc(register.value)
        self.steps(plan.steps)
        for buffer in plan.pool:
            self._dump(buffer)
        return self.b.build()

    def _dump(self, buffer: Buffer) -> None:
        view = self.view(buffer)
        if buffer.space == "psum":
            bank, view = view, self.b.sbuf(buffer.shape, buffer.dtype)
            self.b.tensor_copy(dst=view, src=bank, engine="vector")
        out = self.b.output(f"{buffer.name}_end", buffer.shape, buffer.dtype)
        self.b.dma_copy(dst=out, src=view)

    def steps(self, steps: list[Any]) -> None:
        for step in steps:
            if step.dead:
                continue
            if isinstance(step, Op):
                self._operation(step)
            elif isinstance(step, Reg):
                method = getattr(self.b, f"register_{step.kind}")
                method(*(a if isinstance(a, str) else self.value(a)
                         for a in step.arguments))
            elif isinstance(step, Fresh):
                space = step.buffer.space
                make = self.b.psum if space == "psum" else self.b.sbuf
                self.views[step.buffer] = make(
                    step.buffer.shape, step.buffer.dtype)
            else:
                self._loop(step)

    def _loop(self, step: Loop) -> None:
        if step.counter is None:
            with self.b.while_loop(self.value(step.hi)):
                self.steps(step.body)
            return
        lo, hi = self.value(step.lo), self.value(step.hi)
        with self.b.fori_loop(lo, hi, step.step) as counter:
            self.registers[step.counter] = counter
            self.steps(step.body)

    def _operation(self, op: Op) -> None:
        operands = {
            name: [r.view(self) for r in one] if isinstance(one, list)
            else one.view(self)
            for name, one in op.operands.items()
        }
        getattr(self.b, op.name)(**operands, **op.attributes)


# Comparison.


def interpret(plan: Plan) -> Machine:
    machine = Machine(plan.target)
    for buffer in plan.buffers:
        machine.add(buffer)
    for register in plan.registers:
        if register.value is not None:
            machine.registers[register] = register.value
    machine.run(plan.steps)
    return machine


def ends(plan: Plan) -> dict[str, Buffer]:
    """Output tensor of the program: whose last contents it shows."""
    out = {f"{b.name}_end": b for b in plan.pool}
    out |= {b.name: b for b in plan.buffers if b.kind == "inout"}
    return out


def compare(plan: Plan, machine: Machine, outputs: Any) -> str | None:
    """The first difference, in words, or None."""
    for name, buffer in ends(plan).items():
        if name not in outputs:
            continue  # a tensor that the program does not mention
        cells = machine.cells[buffer]
        got = np.frombuffer(np.ascontiguousarray(outputs[name]).tobytes(),
                            np.uint8)
        wrong = (got != cells.data) & (cells.record == 0)
        if wrong.any():
            at = int(wrong.argmax())
            row = buffer.nbytes // buffer.shape[0]
            return (f"{buffer.name}: {int(wrong.sum())} bytes differ, first "
                    f"at partition {at // row}, byte {at % row}: "
                    f"{got[at]:#x}, expected {cells.data[at]:#x}")
        for n in np.unique(cells.record):
            if n and not _fits(machine.records[n - 1], got, cells.record, n):
                record = machine.records[n - 1]
                return f"{buffer.name}: outside the limits of {record.dtype}"
    return None


def _fits(record: Record, got: Array, numbers: Array, n: int) -> bool:
    """Elements of the record that are still whole lie in their limits."""
    kind = carrier(record.dtype)
    whole = (numbers.reshape(-1, kind.itemsize)[record.at] == n).all(1)
    a = got.view(kind)[record.at]
    with np.errstate(invalid="ignore"):
        a, low, high = (
            x.astype(np.float64) for x in (a, record.low, record.high))
    nan = np.isnan(low) & np.isnan(high)
    loose = record.free | (np.isnan(low) != np.isnan(high))
    fits = loose | nan & np.isnan(a) | (low <= a) & (a <= high)
    return bool((fits | ~whole).all())


@dataclass
class Outcome:
    """What became of a plan: wrong says what differs, or is empty."""

    wrong: str = ""
    instructions: int = 0
    executed: int = 0
    schedules: int = 0


def check(
    plan: Plan, seeds: int = 2, machine: Machine | None = None
) -> Outcome:
    """Runs the plan in every order, and compares with the machine that has
    executed it, or with a new one."""
    machine = machine or interpret(plan)
    out = Outcome(executed=machine.executed)
    emitter = Emitter(plan)
    try:
        program = emitter.build()
        out.instructions = program.num_instructions
        first = None
        loaded = trnemu.Device(plan.target).load(program)
        schedules: list[Any] = ["timed", "program", *range(seeds)]
        for schedule in schedules:
            result = loaded.run(emitter.inputs, schedule=schedule,
                                time=schedule == "timed").outputs
            raw = {name: a.tobytes() for name, a in result.items()}
            out.schedules += 1
            if first is None:
                first = raw
                out.wrong = compare(plan, machine, result) or ""
            elif raw != first:
                bad = [name for name in raw if raw[name] != first[name]]
                out.wrong = out.wrong or (
                    f"schedule {schedule} gives other bits of {bad}")
            if out.wrong:
                return out
    except trnemu.Fault as fault:
        out.wrong = f"refused: {fault}"
    return out


# Smaller programs.

SHRINKING = 60.0  # seconds at most


def _all(steps: list[Any]) -> list[Any]:
    out = []
    for step in steps:
        out.append(step)
        if isinstance(step, Loop):
            out += _all(step.body)
    return out


def shrink(plan: Plan, seeds: int = 2) -> Plan:
    """Removes steps while something still differs in the same way."""
    kind, end = check(plan, seeds).wrong[:7], time.monotonic() + SHRINKING
    size = max(1, len(_all(plan.steps)) // 2)
    while size:
        live = [s for s in _all(plan.steps) if not s.dead]
        for k in range(len(live), 0, -size):
            if time.monotonic() > end:
                return plan
            part = live[max(0, k - size) : k]
            for step in part:
                step.dead = True
            if not _still(plan, seeds, kind):
                for step in part:
                    step.dead = False
        size //= 2
    plan.pool = [b for b in plan.pool if _made(b, plan.steps)]
    return plan


def _made(buffer: Buffer, steps: list[Any]) -> bool:
    return any(isinstance(s, Fresh) and s.buffer is buffer and not s.dead
               for s in steps)


def _still(plan: Plan, seeds: int, kind: str) -> bool:
    try:
        wrong = check(plan, seeds).wrong
    except (Invalid, KeyError, AssertionError):
        return False
    return bool(wrong) and wrong[:7] == kind if kind == "refused" else (
        bool(wrong) and wrong[:7] != "refused")


def listing(steps: list[Any], indent: str = "  ") -> str:
    """The steps that are left, a line each."""
    lines = []

    def ref(r: Any) -> str:
        if not isinstance(r, Ref):
            return f"rows of {r.buffer.name}:{r.dtype} by {ref(r.index)}"
        text = f"{r.buffer.name}:{r.dtype}"
        if r.place:
            text += f"{list(r.place[0])}+{r.place[1]}"
        text += f" {r.steps}" if r.steps else ""
        return text + (f" shifted by {r.shift}" if r.shift else "")

    for step in steps:
        if step.dead:
            continue
        if isinstance(step, Op):
            lines.append(f"{indent}{step.name} {step.attributes}")
            for name, one in step.operands.items():
                for r in one if isinstance(one, list) else [one]:
                    lines.append(f"{indent}    {name} = {ref(r)}")
        elif isinstance(step, Loop):
            lines.append(f"{indent}loop {step.lo} {step.hi} {step.step}")
            lines.append(listing(step.body, indent + "  "))
        elif isinstance(step, Reg):
            lines.append(f"{indent}register {step.kind} {step.arguments}")
        else:
            lines.append(f"{indent}fresh {step.buffer.name}")
    return "\n".join(lines)
