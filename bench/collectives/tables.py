"""Writes the tables of docs/collectives.md that are measured.

    PYTHONPATH=build/release/python .venv/bin/python bench/collectives/tables.py docs/collectives.md

The tables of a section are replaced one by one; what is said around them stays.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import crossovers
import page_tables
import published
import tp_mlp

SECTIONS = {
    "The published measurements": lambda: [published.table()],
    "Where the model puts the crossovers": crossovers.tables,
    "Compute and communication": lambda: [tp_mlp.table()],
}


def written(page: str, headings: list[str]) -> str:
    """The page with the tables of these sections as they are now. ValueError if a section or a table of one is not there."""
    for heading in headings:
        page = page_tables.replaced(page, f"### {heading}", SECTIONS[heading]())
    return page


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text(), list(SECTIONS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
