"""The same program with delays in it, so that far orders come up.

A random order has slow and fast engines and queues, from the start to the end.
A delay makes one step late, whatever the speeds are: Nops before an instruction,
or before a DMA small transfers of no consequence in its queues, which go in
order. Neither orders anything that was not ordered: what a stretched program
shows in some order, the program could show too.
"""

from __future__ import annotations

from collections.abc import Iterable
import re

import numpy as np

from mutation_text import Instruction, Listing

GAP = 1000  # numbers between two instructions, for what comes between


def stretched(listing: Listing, rng: np.random.Generator,
              focus: Iterable[str] = (), transfers: bool = True) -> str:
    """The text with one or two delays, rather before what signals one of the
    semaphores in `focus`. transfers: DMAs may be delayed by others."""
    starts = [i for i in listing.instructions if not i.step
              and i.opcode != "Branch"]
    names = set(focus)
    near = [i for i in starts
            if names & {re.split(r"\W", s)[0] for s in i.signals}]
    delays: dict[int, list[str]] = {}
    places: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for _ in range(1 + int(rng.integers(2))):
        pool = near if near and rng.random() < 0.7 else starts
        at = pool[int(rng.integers(len(pool)))]
        if at.line in delays:
            continue
        lines = _delay(at, rng, transfers)
        delays[at.line] = lines
        places.setdefault((at.core, at.engine), []).append(
            (_place(listing, at), len(lines)))
    return _written(listing, delays, places)


def _delay(at: Instruction, rng: np.random.Generator, transfers: bool
           ) -> list[str]:
    queue_set = re.search(r"queue_set=(\d+)", at.body)
    first = at.order * GAP + 1
    if queue_set and transfers and rng.random() < 0.7:
        return [f"  {at.engine} #{first + n} dma_copy.0 DmaCopy "
                "dst=stretch[0+1x1]:uint8 src=stretch[1+1x1]:uint8 "
                f"{queue_set[0]} dge_mode=none oob_mode=error priority=-1"
                for n in range(int(rng.integers(5, 40)))]
    return [f"  {at.engine} #{first + n} nop.0 Nop"
            for n in range(int(rng.integers(10, 150)))]


def _stream(listing: Listing, core: int, engine: str) -> list[Instruction]:
    return [i for i in listing.instructions
            if (i.core, i.engine) == (core, engine)]


def _place(listing: Listing, at: Instruction) -> int:
    return _stream(listing, at.core, at.engine).index(at)


def _written(listing: Listing, delays: dict[int, list[str]],
             places: dict[tuple[int, str], list[tuple[int, int]]]) -> str:
    known = {line.split()[2] for line in listing.lines
             if line.startswith("operation ")}
    numbers = {i.line: i for i in listing.instructions}
    out, operations = [], 0
    tensors = len([x for x in listing.lines if x.startswith("tensor ")])
    for n, line in enumerate(listing.lines):
        if line.startswith("operation "):
            operations += 1
        if line == "core 0":
            out += _statements(known, operations, tensors)
        i = numbers.get(n)
        if i is not None:
            out += delays.get(n, [])
            line = _moved(i, places.get((i.core, i.engine), []))
        out.append(line)
    return _grouped(out)


def _statements(known: set[str], operations: int, tensors: int) -> list[str]:
    lines = []
    for name in ("nop", "dma_copy"):
        if name not in known:
            lines.append(f"operation {operations} {name}")
            operations += 1
    return [*lines, f"tensor {tensors} stretch scratch uint8 (2,)"]


def _grouped(lines: list[str]) -> str:
    """Statements in the order of the text form: operations before tensors."""
    late = [x for x in lines if x.startswith("operation ")]
    first = next(n for n, x in enumerate(lines) if x.startswith("operation "))
    rest = [x for x in lines if not x.startswith("operation ")]
    return "\n".join([*rest[:first], *late, *rest[first:]])


def _moved(i: Instruction, places: list[tuple[int, int]]) -> str:
    """With its new number, and jumps past what was put in."""
    body = i.body
    m = re.search(r"target=(\d+)", body)
    if m:
        target = int(m[1])
        more = sum(n for place, n in places if place < target)
        body = body.replace(m[0], f"target={target + more}")
    order = (i.order + 1) * GAP
    return str(Instruction(**{**i.__dict__, "order": order, "body": body}))
