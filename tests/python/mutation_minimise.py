"""What of a mutant its mistake needs: the other writes become Nops.

A Nop keeps the waits and signals of what it replaces, so that nothing else is
unordered then. The mutant must still give results that the program, with the
same Nops, does not give in any order.
"""

from __future__ import annotations

from typing import Any

import trnemu
from mutation_kinds import as_nop
from mutation_run import (
    Mutant, Subject, in_order, orders,
)
from mutation_text import Instruction, Listing

Lines = dict[int, str | None]


QUIET = ("Nop", "PsumReset", "Branch", "RegisterMove", "RegisterAlu")


def minimal(s: Subject, one: Mutant) -> list[Instruction]:
    """The instructions that are left when no further one can go, without those
    that only wait, count and jump; all of them if the mutant gives no other
    results at all."""
    listing = Listing.of(s.text)
    free = [i for i in listing.single() if i.line not in one.mutation.lines
            and i.accesses() and i.opcode not in ("PsumReset", "CoreBarrier",
                                                  "SendRecv")]
    gone: list[Instruction] = []
    size = len(free)
    while size:
        k = 0
        while k < len(free):
            part = free[k:k + size]
            if _differs(s, one, listing, gone + part):
                gone += part
                free = free[:k] + free[k + size:]
            else:
                k += size
        size //= 2
    out = {i.line for i in gone}
    return [i for i in listing.instructions if i.line in one.mutation.lines
            or i.line not in out and i.opcode not in QUIET]


def _differs(s: Subject, one: Mutant, listing: Listing,
             gone: list[Instruction]) -> bool:
    lines: Lines = {}
    for i in gone:
        lines |= as_nop(listing, i)
    program = listing.text(lines)
    mutant = listing.text({**lines, **one.mutation.lines} if _adds_nop(
        one.mutation.lines) else {**one.mutation.lines, **lines})
    found = [*one.changed, *(o for x in one.stopped.values() for o in x)]
    some = [*found[:6], *orders(10, 10)]
    return bool(_results(s, one, mutant, some) - _results(
        s, one, program, some))


def _adds_nop(lines: Lines) -> bool:
    return any("\noperation " in (x or "") for x in lines.values())


def _results(s: Subject, one: Mutant, text: str, some: list[Any]) -> set[Any]:
    """Everything that comes out in some orders: outputs or faults."""
    try:
        loaded = s.load(text)
    except trnemu.Fault:
        return set()
    out: set[Any] = set()
    for order in some:
        try:
            got, _ = in_order(s, text, loaded, order, "off",
                              one.mutation.focus)
            out.add(tuple(got.values()))
        except trnemu.Fault as fault:
            out.add(fault.id)
    return out
