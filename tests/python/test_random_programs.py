"""Random programs against the oracle, in several orders.

A difference prints its seed and the program with all removed that does not
matter; `random_programs.one((seed, number))` makes it again. --long runs 20,000
programs, as the command line of random_programs.py does.
"""

from __future__ import annotations

import functools

import pytest

from oracle import GENERATORS
from random_emit import check, ends, interpret, listing
from random_maker import Maker
from random_programs import Totals, one
from random_steps import Op

PROGRAMS, PARTS, SEED = 200, 8, 1


@functools.cache
def run(first: int, count: int) -> Totals:
    totals = Totals()
    for n in range(first, first + count):
        totals.add(one((SEED, n)))
    return totals


def agree(totals: Totals) -> None:
    if totals.wrong:
        pytest.fail("\n\n".join(totals.wrong[:3]), pytrace=False)


SIZE = PROGRAMS // PARTS


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_give_what_the_documents_say_in_every_order(part):
    agree(run(part * SIZE, SIZE))


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, 100))
def test_many_more_programs_do(part):
    agree(run(200 * part, 200))


def test_the_programs_hold_every_operation_and_loops_on_every_generation():
    seen: set[str] = set()
    for part in range(PARTS):
        totals = run(part * SIZE, SIZE)
        seen |= {*totals.counts, *totals.targets}
    wanted = {*GENERATORS, "trn1", "trn2", "trn3", "fori_loop", "while_loop"}
    assert wanted - seen == set()


def altered(change) -> str:
    """What is reported of a program after a change to what was expected."""
    plan = Maker((SEED, 3)).make()
    machine = interpret(plan)
    assert check(plan, 0, machine).wrong == ""
    change(machine, ends(plan))
    return check(plan, 0, machine).wrong


def test_a_flipped_bit_is_reported_with_its_place():
    def change(machine, buffers):
        buffer = buffers["hbm8"] if "hbm8" in buffers else next(
            iter(buffers.values()))
        cells = machine.cells[buffer]
        cells.data[int((cells.record == 0).argmax())] ^= 1

    text = altered(change)
    assert "1 bytes differ, first at partition" in text


def test_a_lost_step_is_reported():
    plan = Maker((SEED, 3)).make()
    machine = interpret(plan)
    last = [s for s in plan.steps if isinstance(s, Op)][:4]
    for step in last[:1]:
        step.dead = True  # a tile of the pool is not loaded
    assert check(plan, 0, machine).wrong


def test_the_same_seed_makes_the_same_program():
    first, second = (Maker((SEED, 2)).make() for _ in range(2))
    assert listing(first.steps) == listing(second.steps)
