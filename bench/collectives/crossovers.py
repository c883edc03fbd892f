"""Where the model puts the crossovers between algorithms: 64 ranks of a trn2.48xlarge, each algorithm forced.

    PYTHONPATH=build/release/python .venv/bin/python bench/collectives/crossovers.py

Sizes from 1 KiB to 1 GiB, doubled; the buffer is that of the documentation (all_gather: its output).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import measure
from page_tables import as_markdown

ALGORITHMS = {
    "all_gather": ("mesh", "rdh", "kangaring", "ring"),
    "reduce_scatter": ("mesh", "rdh", "kangaring", "ring"),
    "all_reduce": ("single_step_mesh", "mesh", "rdh", "kangaring", "ring"),
}
SIZES = [2**i for i in range(10, 31)]
SHOWN = [2**i for i in (10, 13, 16, 18, 20, 22, 24, 26, 28, 30)]


def sweep(operation: str) -> dict[int, dict[str, float]]:
    """By size and algorithm: us."""
    where = measure.system("trn2.48xlarge", 64, 2)
    group = list(range(64))
    return {
        size: {
            # A whole buffer to everyone: not where it takes a second and more.
            a: measure.run(where, operation, group, size, algorithm=a).time_ns / 1000
            for a in ALGORITHMS[operation] if a != "single_step_mesh" or size <= 2**24
        }
        for size in SIZES
    }


def ranges(times: dict[int, dict[str, float]]) -> list[tuple[str, int, int]]:
    """The fastest algorithm, and from which size to which."""
    found: list[tuple[str, int, int]] = []
    for size, by in times.items():
        best = min(by, key=by.__getitem__)
        if found and found[-1][0] == best:
            found[-1] = (best, found[-1][1], size)
        else:
            found.append((best, size, size))
    return found


def tables() -> list[list[list[str]]]:
    sweeps = {operation: sweep(operation) for operation in ALGORITHMS}
    documented = "mesh below 1 MB, rdh to 56 MB, then kangaring"
    first = [["operation", "fastest in the model", "documented"]]
    for operation, times in sweeps.items():
        text = ", ".join(f"{a} {measure.bytes_text(low)} to {measure.bytes_text(high)}" for a, low, high in ranges(times))
        first.append([operation, text, documented])
    second = [["operation", "bytes", *ALGORITHMS["all_reduce"]]]
    for operation, times in sweeps.items():
        for size in SHOWN:
            by = times[size]
            best = min(by.values())
            cells = [by.get(a) for a in ALGORITHMS["all_reduce"]]
            second.append([operation, measure.bytes_text(size),
                           *("" if t is None else f"**{t:.1f}**" if t == best else f"{t:.1f}" for t in cells)])
    return [first, second]


if __name__ == "__main__":
    print("\n".join(as_markdown(t) for t in tables()), end="")
