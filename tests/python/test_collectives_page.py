"""The measured tables of docs/collectives.md are what is measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench/collectives"))

import crossovers
import tables
import published


@pytest.mark.parametrize(
    "heading",
    [
        "The published measurements",
        "Compute and communication",
        pytest.param(
            "Where the model puts the crossovers", marks=pytest.mark.long
        ),
    ],
)
def test_the_page_has_the_tables_as_they_are_now(heading: str) -> None:
    """bench/collectives/tables.py writes them."""
    text = (ROOT / "docs/collectives.md").read_text()
    assert tables.written(text, [heading]) == text


def test_every_published_row_is_on_the_page() -> None:
    text = (ROOT / "docs/collectives.md").read_text()
    for row in published.ROWS:
        assert f"| :{row.line}" in text


@pytest.mark.long
def test_the_model_switches_in_the_documented_order() -> None:
    """mesh, rdh, kangaring by size; which sizes is the page's to say."""
    order = ("single_step_mesh", "mesh", "rdh", "kangaring")
    for operation in crossovers.ALGORITHMS:
        found = [a for a, _, _ in crossovers.ranges(crossovers.sweep(operation))]
        assert found == sorted(found, key=order.index), operation
        assert found[-1] == "kangaring"
