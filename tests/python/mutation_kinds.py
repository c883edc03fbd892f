"""Small mistakes in a correct program, on its text form.

A mutation is a set of lines to put in place of others. Each kind has a
generator of all it could do, in a random order; not all pass verify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
import re
from typing import Any

import numpy as np

from mutation_text import Instruction, Listing, Tensor, width


@dataclass
class Mutation:
    """What is changed: lines of the text by number (None: removed), and the
    instructions or tensors concerned, in words; focus: its semaphores."""

    what: str
    lines: dict[int, str | None]
    focus: tuple[str, ...] = ()

    def describe(self, listing: Listing) -> str:
        out = [self.what]
        for n, new in sorted(self.lines.items()):
            out += ["  - " + listing.lines[n].strip(),
                    "  + " + (new or "(nothing)").strip()]
        return "\n".join(out)


Rng = np.random.Generator
Maker = Callable[[Listing, Rng], Iterator[Mutation]]


def _shuffled(rng: Rng, items: list[Any]) -> list[Any]:
    return [items[k] for k in rng.permutation(len(items))]


def _replaced(i: Instruction, **fields: Any) -> str:
    return str(Instruction(**{**i.__dict__, **fields}))


def _waits(listing: Listing) -> list[tuple[Instruction, int]]:
    return [(i, k) for i in listing.instructions for k in range(len(i.waits))]


def remove_wait(listing: Listing, rng: Rng) -> Iterator[Mutation]:
    """One wait of one instruction."""
    for i, k in _shuffled(rng, _waits(listing)):
        left = i.waits[:k] + i.waits[k + 1:]
        yield Mutation(f"without the wait {i.waits[k]}",
                       {i.line: _replaced(i, waits=left)},
                       (i.waits[k].split(">")[0],))


def weaken_wait(listing: Listing, rng: Rng) -> Iterator[Mutation]:
    """A DMA's wait by 1 to 16, another's by 1."""
    dma = listing.dma_semaphores()
    for i, k in _shuffled(rng, _waits(listing)):
        m = re.fullmatch(r"(\w+)>=(\d+)(/consume)?", i.waits[k])
        if not m or int(m[2]) == 0:
            continue
        by = 1 + int(rng.integers(16)) if m[1] in dma else 1
        new = f"{m[1]}>={max(0, int(m[2]) - by)}{m[3] or ''}"
        waits = [*i.waits[:k], new, *i.waits[k + 1:]]
        yield Mutation(f"the wait {i.waits[k]} is {new}",
                       {i.line: _replaced(i, waits=waits)}, (m[1],))


# Addresses.


def shift_address(listing: Listing, rng: Rng) -> Iterator[Mutation]:
    """One operand's access, or the place of one tile on the chip."""
    places: list[tuple[Any, Any]] = [
        (i, m) for i in listing.single() for m in i.accesses()]
    places += [(None, t) for t in listing.tensors.values()
               if t.address is not None]
    for i, m in _shuffled(rng, places):
        one = _tile(listing, m, rng) if i is None else _operand(
            listing, i, m, rng)
        if one is not None:
            yield one


def _tile(listing: Listing, t: Tensor, rng: Rng) -> Mutation | None:
    by = int(rng.choice((-256, -64, -32, 32, 64, 256)))
    assert t.address is not None
    if t.address + by < 0:
        return None
    line = listing.lines[t.line].replace(
        f"address={t.address}", f"address={t.address + by}")
    return Mutation(f"a tile {by:+} bytes along its partitions",
                    {t.line: line})


def _operand(listing: Listing, i: Instruction, m: re.Match[str],
             rng: Rng) -> Mutation | None:
    t = listing.tensors[m["tensor"]]
    if t.address is not None and rng.random() < 0.3:
        rows = int(rng.choice((-32, -1, 1, 32)))
        first, end = int(m["first"]) + rows, int(m["end"]) + rows
        if first < 0 or end > t.shape[0]:
            return None
        new = m[0].replace(f"[{m['first']}:{m['end']}", f"[{first}:{end}")
        by = f"{rows:+} partitions"
    else:
        size = int(rng.choice((-16, -4, -2, -1, 1, 2, 4, 16)))
        low, high = _reach(m, t)
        if not 0 <= low + size <= high + size < t.row // width(m["dtype"]):
            return None
        new = m[0].replace(f"{m['offset']}+{m['pattern']}",
                           f"{int(m['offset']) + size}+{m['pattern']}")
        by = f"{size:+} elements"
    if new == m[0]:
        return None
    body = i.body[:m.start()] + new + i.body[m.end():]
    return Mutation(f"{m['operand']} {by}",
                    {i.line: _replaced(i, body=body)})


def _reach(m: re.Match[str], t: Tensor) -> tuple[int, int]:
    """First and last element that the static part of an access touches."""
    low = high = int(m["offset"])
    for pair in m["pattern"].split(","):
        count, step = map(int, pair.split("x"))
        far = (count - 1) * step
        low, high = low + min(far, 0), high + max(far, 0)
    return low, high


# Writes.


def drop_write(listing: Listing, rng: Rng) -> Iterator[Mutation]:
    """An instruction that writes: nothing in its place, or a Nop that waits
    and signals as it did."""
    writers = [i for i in listing.single()
               if re.search(r"\bdst=[\w\"%]+\[", i.body)
               and i.opcode not in ("PsumReset", "CoreBarrier", "SendRecv")]
    for i in _shuffled(rng, writers):
        if rng.random() < 0.5:
            yield Mutation("a write is gone, with its waits and signals", {
                i.line: None, **_retargeted(listing, i)})
        else:
            yield Mutation("a write is gone, its waits and signals stay",
                           as_nop(listing, i))


def as_nop(listing: Listing, i: Instruction) -> dict[int, str | None]:
    """The lines that make it a Nop with its waits and signals."""
    times = listing.queues(i)
    signals = [_times(s.removesuffix("/read"), times) for s in i.signals]
    lines: dict[int, str | None] = {i.line: _replaced(
        i, operation="nop", step=0, opcode="Nop", body="", signals=signals)}
    if not any(re.match(r"operation \d+ nop$", x) for x in listing.lines):
        last = max(n for n, x in enumerate(listing.lines)
                   if x.startswith("operation "))
        number = int(listing.lines[last].split()[1]) + 1
        lines[last] = f"{listing.lines[last]}\noperation {number} nop"
    return lines


def _times(signal: str, times: int) -> str:
    """What `times` queues do with a semaphore, at once."""
    m = re.fullmatch(r"(\w+)([-+])([-+=])(\d+)", signal)
    if not m or times == 1:
        return signal
    n = int(m[4]) * times
    return f"{m[1]}{m[2]}={n}"


def _retargeted(listing: Listing, gone: Instruction) -> dict[int, str | None]:
    """Branches of its stream that jump past it: targets are numbers."""
    stream = [i for i in listing.instructions
              if (i.core, i.engine) == (gone.core, gone.engine)]
    place = stream.index(gone)
    lines: dict[int, str | None] = {}
    for i in stream:
        m = re.search(r"target=(\d+)", i.body)
        if m and int(m[1]) > place:
            body = i.body.replace(m[0], f"target={int(m[1]) - 1}")
            lines[i.line] = _replaced(i, body=body)
    return lines


# Loops.


def shrink_loop(listing: Listing, rng: Rng) -> Iterator[Mutation]:
    """One iteration less, on all engines or on one."""
    loops: dict[tuple[int, str], dict[str, list[Instruction]]] = {}
    for i in listing.instructions:
        m = re.search(r"\bloop=(\d+)", i.body)
        if i.opcode == "Branch" and m:
            loops.setdefault((i.core, m[1]), {}).setdefault(
                i.engine, []).append(i)
    for key in _shuffled(rng, list(loops)):
        engines = loops[key]
        if len(engines) > 1 and rng.random() < 0.4:
            one = str(rng.choice(sorted(engines)))
            engines = {one: engines[one]}
            where = f"the loop of {one} alone"
        else:
            where = "the loop of all engines"
        lines: dict[int, str | None] = {}
        for branches in engines.values():
            lines |= _shorter(listing, branches)
        if lines:
            yield Mutation(f"{where} runs once less", lines)


def _shorter(listing: Listing, branches: list[Instruction]
             ) -> dict[int, str | None]:
    """The bound less a step; or, if it is a register, the start a step on."""
    head, back = branches[0], branches[-1]
    where = {i.line: k for k, i in enumerate(listing.instructions)}
    stream = [i for i in listing.instructions
              if (i.core, i.engine) == (head.core, head.engine)]
    at = stream.index(back)
    step = re.fullmatch(r" dst=(\w+) a=\1 b=(\d+) op=add", stream[at - 1].body)
    if step is None or len(branches) != 2 or back.line not in where:
        return {}
    bound = re.search(r"\bb=(-?\d+)\b", back.body)
    if bound:
        less = f"b={int(bound[1]) - int(step[2])}"
        return {i.line: _replaced(i, body=i.body.replace(bound[0], less, 1))
                for i in branches}
    start = stream[stream.index(head) - 1]
    first = re.fullmatch(r" dst=\w+ src=(-?\d+)", start.body)
    if first is None:
        return {}
    more = f"src={int(first[1]) + int(step[2])}"
    return {start.line: _replaced(
        start, body=start.body.replace(f"src={first[1]}", more))}


KINDS: dict[str, Maker] = {
    "remove wait": remove_wait,
    "weaken wait": weaken_wait,
    "shift address": shift_address,
    "drop write": drop_write,
    "shrink loop": shrink_loop,
}
WAITS = ("remove wait", "weaken wait")
