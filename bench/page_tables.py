"""The measured tables of a page of docs/, replaced where they stand."""

from __future__ import annotations

import re

Table = list[list[str]]


def as_markdown(table: Table) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in table]
    return "\n".join([lines[0], "|" + "---|" * len(table[0]), *lines[1:], ""])


def replaced(page: str, heading: str, tables: list[Table]) -> str:
    """The page with `tables` for those of the section `heading` ("## Name"), one
    by one; the section ends at the next heading of its level or above. What is
    said around them stays. ValueError if the section, or a table of it, is not
    there."""
    level = len(heading) - len(heading.lstrip("#"))
    start = page.index(f"{heading}\n")
    next_heading = re.compile(rf"\n#{{2,{level}}} ").search(page, start)
    end = next_heading.start() + 1 if next_heading else len(page)
    new = iter(tables)
    places = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
    count = len(places.findall(page[start:end]))
    if count != len(tables):
        raise ValueError(f"{heading}: {len(tables)} tables, not the page's {count}")
    body = places.sub(lambda _: as_markdown(next(new)), page[start:end])
    return page[:start] + body + page[end:]
