"""Compares the model's single instructions with the sources, row by row.

    python bench/calibration/rows.py [--target trn1|trn2|trn3] [--quick]
        [--markdown] [FILTER ...]

Each row of spec/timing.md 1.1, 1.3, 1.4, 1.5, 2.1 and 2.2 has a probe
(row_probes.py), the smallest program that holds the instruction. Printed are
what the source says and what the model says at sizes over the row's range, the
error, and whether it keeps the tolerance; rows that cannot be met together
with another one are listed with it. Where a source prints a law it is the
constant; nothing is fitted here (holdout.py does that, of points). Errors are
reported at every second size, where there are more than one. page.py writes the
tables into docs/timing.md. Exit code 1: a row is beyond its tolerance.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import rows_trn1
import rows_trn2
import rows_trn2_array
from page_tables import as_markdown
from rows_trn2 import Row


def all_rows(target: str, quick: bool) -> list[Row]:
    """The rows of a generation; quick: fewer sizes."""
    full = not quick
    if target == "trn1":
        return [*rows_trn1.formula_rows(full), *rows_trn1.spot_rows()]
    if target == "trn3":
        return list(rows_trn1.trn3_rows())
    return [
        *rows_trn2.vector_rows(full),
        *rows_trn2.scalar_rows(full),
        *rows_trn2.pool_rows(full),
        *rows_trn2_array.tensor_rows(full),
        *rows_trn2_array.dma_rows(full),
    ]


def measure(row: Row) -> None:
    """Fills in the row's errors, in percent, at the sizes that are reported."""
    at = row.sizes[1::2] or row.sizes
    for n in at:
        want = row.measured(n)
        row.errors[n] = 100 * (row.simulated(n) - want) / want


def worst(row: Row) -> int:
    """The size at which the error is largest."""
    return max(row.errors, key=lambda n: abs(row.errors[n]))


def verdict(row: Row) -> str:
    if row.contradicts:
        return f"contradicts {row.contradicts}"
    return "" if abs(row.errors[worst(row)]) <= row.tolerance else "BEYOND"


def line(row: Row) -> list[str]:
    n = worst(row)
    want = row.measured(n)
    got = want * (1 + row.errors[n] / 100)
    lo, hi = row.sizes[0], row.sizes[-1]
    return [row.section, row.name, f"{lo}-{hi}" if lo != hi else str(lo),
            row.status, str(n), f"{want:.5g} {row.unit}",
            f"{got:.5g} {row.unit}", f"{row.errors[n]:+.2f} %",
            f"{row.tolerance:g} %", verdict(row)]


HEAD = ["section", "row", "sizes", "status", "worst at", "measured",
        "simulated", "error", "tolerance", ""]


def show(table: list[list[str]], markdown: bool) -> None:
    if markdown:
        print(as_markdown(table), end="")
        return
    widths = [max(len(r[i]) for r in table) for i in range(len(table[0]))]
    for cells in table:
        print("  ".join(c.ljust(w) for c, w in zip(cells, widths)).rstrip())


def distribution(rows: list[Row]) -> list[list[str]]:
    """Of the errors of each operation's rows that contradict no other."""
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if not row.contradicts:
            errors[row.op] += row.errors.values()
    table = [["operation", "sizes", "min", "median", "max"]]
    for op in sorted(errors):
        e = errors[op]
        table.append([op, str(len(e)), f"{min(e):+.2f} %",
                      f"{statistics.median(e):+.2f} %", f"{max(e):+.2f} %"])
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", default="trn2",
                        choices=["trn1", "trn2", "trn3"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("filter", nargs="*", help="words in rows' names")
    args = parser.parse_args()
    rows = [r for r in all_rows(args.target, args.quick)
            if all(word in r.name for word in args.filter)]
    for row in rows:
        measure(row)
    show([HEAD, *map(line, rows)], args.markdown)
    print()
    show(distribution(rows), args.markdown)
    beyond = [r for r in rows if verdict(r) == "BEYOND"]
    print(f"\n{len(rows)} rows, {len(beyond)} beyond their tolerance, "
          f"{sum(bool(r.contradicts) for r in rows)} contradicted by others")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
