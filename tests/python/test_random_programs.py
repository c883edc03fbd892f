"""Random programs against the oracle, in several orders.

A difference prints its seed and the program with all removed that does not
matter; `random_programs.one((seed, number))` makes it again. --long runs 20,000
programs, as the command line of random_programs.py does.
"""

from __future__ import annotations

import pytest

import random_programs
from oracle import GENERATORS
from random_emit import check, ends, interpret
from random_machine import Op
from random_programs import Maker, Totals, one

PROGRAMS, PARTS, SEED = 240, 8, 1


def run(numbers: range) -> Totals:
    totals = Totals()
    for n in numbers:
        totals.add(one((SEED, n)))
    if totals.wrong:
        pytest.fail("\n\n".join(totals.wrong[:3]), pytrace=False)
    return totals


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_give_what_the_documents_say_in_every_order(part):
    size = PROGRAMS // PARTS
    run(range(part * size, (part + 1) * size))


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, 80))
def test_many_more_programs_do(part):
    run(range(250 * part, 250 * (part + 1)))


def test_the_programs_hold_every_operation_and_loops_on_every_generation():
    """As made, without running them: at most a few hundred are needed."""
    totals = random_programs.Counter()
    for n in range(PROGRAMS):
        plan = Maker((SEED, n)).make()
        totals[plan.target] += 1
        random_programs.count(plan.steps, totals)
    wanted = {*GENERATORS, "trn1", "trn2", "trn3", "fori_loop", "while_loop"}
    assert wanted - set(totals) == set()


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
    one, two = (Maker((SEED, 5)).make() for _ in range(2))
    a, b = random_programs.Counter(), random_programs.Counter()
    random_programs.count(one.steps, a)
    random_programs.count(two.steps, b)
    assert a == b
