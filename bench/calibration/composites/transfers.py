"""The parts of each transfer of a run, from its profile."""

from __future__ import annotations

from dataclasses import dataclass

import trnemu


@dataclass(frozen=True)
class Part:
    """What one queue of one DMA engine moves of a transfer."""

    instruction: int  # of the profile's rows: the trigger
    engine: int
    start: float  # of its payload
    end: float
    notify: float  # its semaphore is seen
    bytes: int


@dataclass(frozen=True)
class Profile:
    """The recorded instructions' times, and the parts of transfers."""

    opcode: list[str]
    start: list[float]
    end: list[float]
    table_load: list[float]  # how much of an instruction that is
    parts: list[Part]

    def of(self, opcode: str) -> list[int]:
        """The rows of an opcode, in the order they were issued."""
        return [i for i, o in enumerate(self.opcode) if o == opcode]

    def parts_of(self, row: int) -> list[Part]:
        """With data: the others only raise the semaphore."""
        return [p for p in self.parts if p.instruction == row and p.bytes]

    def dma_active_ns(self) -> float:
        """The time in which at least one engine moves data."""
        total = last = 0.0
        spans = sorted((p.start, p.end) for p in self.parts if p.bytes)
        for start, end in spans:
            total += max(0.0, end - max(start, last))
            last = max(last, end)
        return total


def profile(program: trnemu.Program) -> Profile:
    """Of a run with values off."""
    found = trnemu.profile(program, checks="off")
    rows, dma = found.instructions, found.dma
    names = ("instruction", "engine", "start", "end", "notify", "bytes")
    return Profile(
        opcode=rows["opcode"].tolist(), start=rows["start"].tolist(),
        end=rows["end"].tolist(), table_load=rows["extra"].tolist(),
        parts=[
            Part(*values)
            for values in zip(*(dma[n].tolist() for n in names), strict=True)
        ],
    )
