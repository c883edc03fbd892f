"""Writes the tables of docs/timing.md.

    python bench/calibration/page.py docs/timing.md

The tables of a section are replaced one by one; what is said around them stays.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import holdout
import page_tables
import rows


def sections() -> dict[str, list[page_tables.Table]]:
    """Heading -> the tables under it."""
    found = {"Fit on half, report on the other half": holdout.tables()}
    for target in ("trn2", "trn1", "trn3"):
        every = rows.all_rows(target, quick=False)
        for row in every:
            rows.measure(row)
        found[f"{target}, row by row"] = [
            [rows.HEAD, *map(rows.line, every)], rows.distribution(every)]
    return found


def written(page: str) -> str:
    """The page with its tables as they are now. ValueError if a section or a
    table of one is not there."""
    for heading, tables in sections().items():
        page = page_tables.replaced(page, f"## {heading}", tables)
    return page


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
