"""Every row of the sources keeps its tolerance, or is listed with the row it
contradicts (bench/calibration/rows.py)."""

import importlib
import sys
from pathlib import Path

import pytest

CALIBRATION = Path(__file__).parents[2] / "bench" / "calibration"


@pytest.fixture(scope="module")
def rows():
    sys.path.insert(0, str(CALIBRATION))
    try:
        yield importlib.import_module("rows")
    finally:
        sys.path.remove(str(CALIBRATION))


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_each_row_of_the_sources_is_met_or_listed_with_what_contradicts_it(
    rows, target
):
    beyond = []
    for row in rows.all_rows(target, quick=True):
        rows.measure(row)
        if rows.verdict(row) == "BEYOND":
            beyond.append("  ".join(rows.line(row)))
    assert not beyond, "\n".join(beyond)


def test_rows_that_are_only_listed_are_few_and_name_the_other(rows):
    every = rows.all_rows("trn2", quick=True)
    listed = [r for r in every if r.contradicts]
    assert len(listed) <= 12 < len(every) / 5
    assert all(r.contradicts[0].isdigit() for r in listed), listed


def test_a_wrong_constant_is_beyond_its_row(rows):
    """The checker itself: a law 4 % off is found."""
    row = rows.all_rows("trn2", quick=True)[0]
    law = row.measured
    row.measured = lambda n: law(n) * 1.04
    rows.measure(row)
    assert rows.verdict(row) == "BEYOND"
