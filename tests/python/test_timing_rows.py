"""Every row of the sources keeps its tolerance, or is listed with the row it
contradicts (bench/calibration/rows.py)."""

import importlib
import sys
from pathlib import Path

import pytest

CALIBRATION = Path(__file__).parents[2] / "bench" / "calibration"


def module(name):
    sys.path.insert(0, str(CALIBRATION))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(CALIBRATION))


@pytest.fixture(scope="module")
def rows():
    return module("rows")


@pytest.fixture(scope="module")
def holdout():
    return module("holdout")


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


def test_the_page_has_the_tables_of_the_scripts():
    page = CALIBRATION.parents[1] / "docs" / "timing.md"
    assert module("page").written(page.read_text()) == page.read_text(), (
        "run bench/calibration/page.py docs/timing.md")


def test_what_is_held_out_does_not_change_the_fit(holdout):
    for case in holdout.cases():
        if case.fit is None:
            continue
        before = holdout.evaluate(case)
        assert before.held and not set(before.held) & set(before.fitted)
        for n in before.held:
            case.row.measured[n] *= 2
        after = holdout.evaluate(case)
        assert after.found == before.found
        # Half of what is now said to have been measured.
        assert max(after.of_fit) < -45 and max(after.of_model) < -45
        for n in before.fitted:
            case.row.measured[n] *= 2
        assert holdout.evaluate(case).found != before.found


def test_a_law_is_found_from_half_of_its_points(holdout):
    at = [64, 512, 4096]
    predict, found = holdout.linear(at, [158.7 + 1.0417 * n for n in at])
    assert found == "158.7 + 1.042 N"
    assert predict(1000) == pytest.approx(158.7 + 1041.7)


def test_what_was_held_out_is_predicted_within_five_percent(holdout):
    # What rows of 1.4 and 2.2 are held to; those read off pictures too.
    for outcome in map(holdout.evaluate, holdout.cases()):
        errors = outcome.of_fit + outcome.of_model
        assert max(map(abs, errors)) < 5, outcome.case.row.name


def test_every_operation_of_the_rows_is_in_the_table_of_held_out_sizes(
    rows, holdout
):
    table = holdout.tables()[0]
    operations = {row.op for row in rows.all_rows("trn2", quick=True)}
    assert {line[0] for line in table[1:]} == operations | {"all"}
    assert sum(line[1] == "nothing to hold out" for line in table) == 7
