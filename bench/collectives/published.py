"""The published measurements of collectives beside simulated ones.

    PYTHONPATH=build/release/python .venv/bin/python bench/collectives/published.py

The measurements are the examples of neuron-sys-tools/nccom-test.rst, which says that they are not up to date; it names
neither instance nor software. So each is simulated on a trn1.32xlarge and on a trn2.48xlarge (lnc 2), as many ranks from the
first on, half of them on each of two nodes where it says so.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import measure
from page_tables import as_markdown

K, M, G = 2**10, 2**20, 2**30


@dataclass(frozen=True)
class Row:
    operation: str
    ranks: int
    dtype: str
    points: tuple[tuple[int, float], ...]  # bytes, us
    line: int  # of nccom-test.rst
    nodes: int = 1
    note: str = ""


ROWS = [
    Row("all_reduce", 2, "uint8", ((32 * M, 768),), 590, note="op not said; maximum here"),
    Row("all_reduce", 2, "fp32", ((K, 58), (64 * K, 58), (M, 68), (16 * M, 332), (256 * M, 4750), (G, 18930)), 622),
    Row("all_gather", 32, "fp32", ((K, 151), (64 * K, 150), (512 * K, 179)), 643, note="older software"),
    Row("permute", 8, "uint8", ((32 * M, 894.24),), 655, note="two pairs of neighbours; here four"),
    Row("all_gather", 32, "fp32", ((K, 6.16), (8 * K, 6.48), (64 * K, 8.17), (512 * K, 23.16)), 681,
        note="trn2's start and finish are fitted to the first"),
    Row("all_gather", 8, "fp32", ((K, 10.0), (8 * K, 10.22), (64 * K, 11.31), (512 * K, 14.83)), 693),
    Row("all_reduce", 16, "fp32", ((32, 299.69), (8 * K, 299.74), (128 * K, 574.15), (2 * M, 686.32), (32 * M, 2754.15),
                                   (512 * M, 9689.51)), 755,
        note="mesh, mesh, mesh, rdh, kangaring, kangaring were chosen"),
    Row("all_gather_v", 4, "fp16", ((2 * K, 16.28),), 773),
    Row("all_reduce", 64, "bf16", ((K, 101.14), (64 * K, 103.28), (M, 117.67)), 797, note="beside another stream"),
    Row("all_gather", 64, "fp32", ((K, 257.65),), 810, note="beside another stream"),
    Row("all_reduce", 64, "fp32", ((8, 520), (K, 840), (64 * K, 1315), (M, 1328), (16 * M, 2138), (64 * M, 3963),
                                   (256 * M, 11954), (G, 41806)), 834, nodes=2),
    Row("all_to_all_v", 2, "fp32", ((M, 955.05),), 873, nodes=2),
]
# The name, ranks and lnc of a node.
SYSTEMS = (("trn1.32xlarge", 32, 1), ("trn2.48xlarge", 64, 2))


def metadata(row: Row, size: int) -> np.ndarray | None:
    """Of the examples of the v operations: their counts."""
    if row.operation == "all_gather_v":
        m = np.zeros((3, 4))
        m[0] = 256
        return m
    if row.operation == "all_to_all_v":
        return np.array([[512, 1024], [0, 512], [0, 0]])
    return None


def simulated(row: Row, size: int, name: str, of_node: int, lnc: int):
    """None if the system has no such group."""
    each = row.ranks // row.nodes
    if each > of_node:
        return None
    whole = name if row.nodes == 1 else f"{name}*{row.nodes}"
    where = measure.system(whole, of_node * row.nodes, lnc)
    group = [node * of_node + r for node in range(row.nodes) for r in range(each)]
    return measure.run(where, row.operation, group, size, row.dtype, metadata=metadata(row, size))


def algorithm(c) -> str:
    if c.algorithm != "hierarchical":
        return c.algorithm
    return f"{c.inside_nodes} + {c.between_nodes}"


def table() -> list[list[str]]:
    lines = [["ranks", "operation", "bytes", "measured us", *(f"{name} us" for name, _, _ in SYSTEMS),
              "measured / ours", "ours", "note"]]
    for row in ROWS:
        for size, measured in row.points:
            got = [simulated(row, size, *where) for where in SYSTEMS]
            times = [c.time_ns / 1000 if c else None for c in got]
            names = dict.fromkeys(algorithm(c) for c in got if c)
            lines.append([
                f"{row.ranks}" + (f" on {row.nodes} nodes" if row.nodes > 1 else ""),
                f"{row.operation} {row.dtype}", measure.bytes_text(size), f"{measured:g}",
                *(f"{t:.1f}" if t else "" for t in times),
                " / ".join(f"{measured / t:.2g}" if t else "-" for t in times), ", ".join(names),
                f":{row.line}" + (f"; {row.note}" if row.note and size == row.points[0][0] else ""),
            ])
    return lines


if __name__ == "__main__":
    print(as_markdown(table()), end="")
