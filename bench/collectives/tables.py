"""Writes the tables of docs/collectives.md that are measured.

    PYTHONPATH=build/release/python .venv/bin/python bench/collectives/tables.py docs/collectives.md

The tables of a section are replaced one by one; what is said around them stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import crossovers
import published
import tp_mlp

Table = list[list[str]]
SECTIONS = {
    "The published measurements": lambda: [published.table()],
    "Where the model puts the crossovers": crossovers.tables,
    "Compute and communication": lambda: [tp_mlp.table()],
}


def written(page: str, headings: list[str]) -> str:
    """The page with the tables of these sections as they are now. ValueError if a section or a table of one is not there."""
    for heading in headings:
        tables = SECTIONS[heading]()
        start = page.index(f"### {heading}\n")
        end = page.find("\n##", start)
        end = len(page) if end < 0 else end + 1
        new = iter(tables)
        body, count = re.subn(r"(?:^\|.*\n)+", lambda m: published.as_markdown(next(new)), page[start:end],
                              flags=re.MULTILINE)
        if count != len(tables):
            raise ValueError(f"{heading}: {count} tables, not {len(tables)}")
        page = page[:start] + body + page[end:]
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
