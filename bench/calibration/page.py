"""Writes the tables of docs/timing.md.

    python bench/calibration/page.py docs/timing.md

The tables of a section are replaced one by one; what is said around them stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import holdout
import rows

Table = list[list[str]]


def sections() -> dict[str, list[Table]]:
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
        start = page.index(f"## {heading}\n")
        end = page.find("\n## ", start)
        end = len(page) if end < 0 else end + 1
        new = iter(tables)
        body, count = re.subn(
            r"(?:^\|.*\n)+", lambda m: rows.as_markdown(next(new)), page[start:end],
            flags=re.MULTILINE)
        if count != len(tables):
            raise ValueError(f"{heading}: {len(tables)} tables, not {count}")
        page = page[:start] + body + page[end:]
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
