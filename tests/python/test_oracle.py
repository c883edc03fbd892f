"""Every operation against the oracle, a second implementation in NumPy.

A difference names its seed; `harness.make(operation, target, number)` makes
the same case again. --long runs 20 times as many cases.
"""

from __future__ import annotations

from collections import Counter
import warnings

import numpy as np
import pytest

import trnemu
from oracle import GENERATORS, REGISTRY, harness

CASES = 200  # of an operation, over the generations that have it
PARTS = 20
# Generations that have the operation (isa.json, constraints on gen).
FIRST = {
    "activate2": "trn3", "exponential": "trn3", "range_select": "trn2",
    "nc_matmul_mx": "trn3", "quantize_mx": "trn3", "rand2": "trn3",
    "rand_set_state": "trn2", "rand_get_state": "trn2",
    "nonzero_with_count": "trn2",
}
COVERED = [
    (operation, target)
    for operation in sorted(GENERATORS)
    for target in trnemu.targets
    if target >= FIRST.get(operation, "trn1")
]
TARGETS = Counter(operation for operation, _ in COVERED)


def compare(operation: str, target: str, part: int) -> None:
    """Cases of one part. What trnemu does not support yet is skipped, and
    said in a warning where the rest was compared."""
    count = -(-CASES // TARGETS[operation])
    reason = harness.missing(operation)
    if reason:
        pytest.skip(reason)
    numbers = range(part * count, (part + 1) * count)
    report = harness.check(
        harness.make(operation, target, n) for n in numbers
    )
    if report.wrong:
        pytest.fail(
            f"{len(report.wrong)} of {count} cases differ\n"
            + "\n\n".join(report.wrong[:3]),
            pytrace=False,
        )
    if report.unsupported:
        text = f"{len(report.unsupported)} of {count} cases not compared: "
        text += "; ".join(sorted(set(report.unsupported)))
        if len(report.unsupported) == count:
            pytest.skip(text)
        warnings.warn(text)


@pytest.mark.parametrize("operation, target", COVERED)
def test_the_emulator_gives_what_the_documents_say(operation, target):
    compare(operation, target, 0)


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, PARTS))
@pytest.mark.parametrize("operation, target", COVERED)
def test_it_does_so_in_many_more_cases(operation, target, part):
    compare(operation, target, part)


def test_every_operation_of_the_oracle_has_cases():
    assert set(GENERATORS) == set(REGISTRY)


def found(change) -> str:
    """What is reported if the outputs of a case come out changed."""
    job = harness.make("reciprocal", "trn2", 0)
    held = harness.expect(job.case)
    key = id(job.case.operands["dst"].tile)
    actual = {key: held.low[key].copy()}
    assert harness.difference(job, held, actual) is None
    change(actual[key].reshape(-1).view(np.uint8), held.seen[key].reshape(-1))
    return harness.difference(job, held, actual) or ""


def flip(raw, at: int, size: int) -> None:
    raw[at * (len(raw) // size)] ^= 1


def test_a_changed_element_is_reported_with_its_place_and_seed():
    text = found(lambda raw, seen: flip(raw, seen.argmax(), len(seen)))
    assert "reciprocal.dst: 1 of" in text and "element (" in text
    assert "seed [" in text and "reciprocal on trn2" in text


def test_a_changed_guard_is_reported():
    text = found(lambda raw, seen: flip(raw, seen.argmin(), len(seen)))
    assert "reciprocal.dst: 1 of" in text and "a guard" in text
