"""Fits on half of what was measured, and compares with the other half.

    python bench/calibration/holdout.py [--markdown]

Of the sources' rows for trn2 some are points, others laws, whose points are
not published. Of points every second size (the first, the third, ...) is
fitted, and the sizes between are predicted, by the fit and by the model with
the constants it uses. Points of another project, which no constant was taken
from, are all held out. A law is counted, and nothing else: that the model
meets the law it has as its constant says nothing.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import row_probes as p
import rows
from rows_trn2 import Points, Row, T, accumulate

Fit = Callable[[list[int], list[float]], tuple[Callable[[int], float], str]]


def linear(at: list[int], values: list[float]) -> tuple[
        Callable[[int], float], str]:
    """a + b N, by least squares of the relative errors."""
    w = 1 / np.array(values)
    terms = np.stack([np.ones(len(at)), np.array(at, float)], axis=1)
    a, b = np.linalg.lstsq(terms * w[:, None], np.ones(len(at)), rcond=None)[0]
    return lambda n: a + b * n, f"{a:.5g} + {b:.4g} N"


def fixed_part(slope: Callable[[int], float], form: str) -> Fit:
    """a + slope(N), where a document gives the slope."""

    def fit(at: list[int], values: list[float]) -> tuple[
            Callable[[int], float], str]:
        a = statistics.fmean(v - slope(n) for n, v in zip(at, values))
        return lambda n: a + slope(n), f"{a:.5g} + {form}"

    return fit


def engine_ns(n: int) -> float:
    """A row of n bytes on each of 8 partitions of a DMA engine: 2.5 ns for each
    packet of 4 KiB, and 27.2 B/ns."""
    return 8 * (2.5 * -(-n // 4096) + n / 27.2)


def spacing(at: list[int], values: list[float]) -> tuple[
        Callable[[int], float], str]:
    """Percent of the throughput at 32 KiB a row of a transfer that takes at
    least S: fitted where it takes S."""

    def share(n: int, s: float) -> float:
        return 100 * (n / max(s, engine_ns(n))) / (32768 / engine_ns(32768))

    s = statistics.fmean(
        100 * n * engine_ns(32768) / 32768 / v
        for n, v in zip(at, values) if v < 80)
    return lambda n: share(n, s), f"S = {s:.4g} ns"


@dataclass
class Case:
    """A row of points, and the form to fit. fit None: no constant comes from
    this source."""

    row: Row
    fit: Fit | None


def points(op: str, name: str, values: dict[int, float],
           simulated: Callable[[int], float], status: str = "HW") -> Row:
    return Row("", op, name, Points(values), simulated, list(values),
               status=status)


def cases() -> Iterator[Case]:
    """Rows of points of spec/timing.md, and points of its sources that are not
    in its rows: VOY's microprobes (native_characterization.json), KDA's counters,
    and the profiles of other projects that 1.3 is cross-checked with."""
    f, h = "float32", "bfloat16"
    scans = fixed_part(lambda n: max(64, 2 * n) / 0.96, "2 N / 0.96")
    forms: dict[str, Fit] = {
        "tensor_tensor_scan fp32": scans,
        "tensor_copy ACT SBUF": linear,
        "relative throughput by bytes a partition, software generation":
            spacing,
    }
    for row in rows.all_rows(T, quick=False):
        if isinstance(row.measured, Points):
            yield Case(row, forms[row.name])
    yield Case(
        points("tensor_tensor_scan", "tensor_tensor_scan, the seed a tensor",
               {256: 751, 1024: 2351},
               lambda n: p.completion(T, p.scan(n, True))),
        scans)
    yield Case(
        points("activation", "activation exp that accumulates",
               {64: 348, 256: 491, 1024: 1148, 2048: 2001},
               lambda n: p.completion(T, accumulate(n, False))
               - p.table_load(T)),
        linear)

    def issue(dtype: str) -> Callable[[int], float]:
        return lambda m: p.interval(T, p.matmul(m, dtype), first=64, more=32)

    yield Case(
        points("nc_matmul", "fp32 issue, 128 and 512 rows (VOY), 456 (KDA)",
               {128: 223, 456: 2 * 383.7, 512: 859}, issue(f)),
        linear)
    yield Case(
        points("nc_matmul", "bf16 issue, 456 rows (KDA), 512 (a picture)",
               {456: 193.3, 512: 213}, issue(h)),
        fixed_part(lambda n: n / 2.4, "N / 2.4"))
    yield from elsewhere()


def elsewhere() -> Iterator[Case]:
    """Profiles of others (spec/timing.md 1.3, cross-checks)."""
    f, h = "float32", "bfloat16"

    def row(op: str, name: str, values: dict[int, float],
            make: Callable[[int], object], less: float = 0) -> Case:
        return Case(points(op, name, values,
                           lambda n: p.completion(T, make(n)) - less, "PIX"),
                    None)

    yield row("activation", "exp bf16", {128: 400, 4096: 3707},
              lambda n: p.activate("exp", n, h, h), p.table_load(T))
    yield row("tensor_tensor", "tensor_tensor fp32 (middle of 1201 to 1240, "
              "2251 to 2282)", {1000: 1220.5, 2000: 2266.5},
              lambda n: p.binary(n, (f, f, f)))
    yield row("tensor_tensor", "tensor_tensor PSUM + SBUF", {512: 694},
              lambda n: p.binary(n, (f, f, h), ("psum", "sbuf")))
    yield row("tensor_reduce", "tensor_reduce bf16", {16384: 17203},
              lambda n: p.reduce(n, h, op="maximum"))
    yield row("tensor_copy", "tensor_copy fp32 DVE", {512: 427},
              lambda n: p.copy(n, f, f, "vector"))
    yield row("tensor_scalar", "tensor_scalar bf16->fp8", {16384: 8792},
              lambda n: p.scalar(n, h, "float8_e4m3"))


@dataclass
class Outcome:
    """Errors at the sizes that were held out, in percent."""

    case: Case
    fitted: list[int]
    held: list[int]
    found: str
    used: str  # the same form through what the model says
    of_fit: list[float]
    of_model: list[float]


def evaluate(case: Case) -> Outcome:
    row = case.row
    fitted = row.sizes[::2] if case.fit else []
    held = row.sizes[1::2] if case.fit else row.sizes
    of_fit: list[float] = []
    found = used = ""
    if case.fit:
        predict, found = case.fit(fitted, [row.measured(n) for n in fitted])
        used = case.fit(row.sizes, [row.simulated(n) for n in row.sizes])[1]
        of_fit = [percent(predict(n), row.measured(n)) for n in held]
    of_model = [percent(row.simulated(n), row.measured(n)) for n in held]
    return Outcome(case, fitted, held, found, used, of_fit, of_model)


def percent(got: float, want: float) -> float:
    return 100 * (got - want) / want


def spread(errors: list[float]) -> list[str]:
    """Median, 90th percentile and largest magnitude."""
    if not errors:
        return ["", "", ""]
    e = np.abs(errors)
    return [f"{v:.2f} %" for v in
            (np.median(e), np.percentile(e, 90), np.max(e))]


def by_row(outcomes: list[Outcome]) -> list[list[str]]:
    table = [["row", "fitted at", "fit", "constants used", "held out",
              "error of the fit", "error of the model"]]

    def sizes(at: list[int]) -> str:
        return ", ".join(map(str, at)) if len(at) < 4 else (
            f"{len(at)} of {at[0]} to {at[-1]}")

    def worst(errors: list[float]) -> str:
        return f"{max(errors, key=abs):+.2f} %" if errors else ""

    for o in outcomes:
        table.append([o.case.row.name, sizes(o.fitted) or "none", o.found,
                      o.used or "of other sources",
                      sizes(o.held), worst(o.of_fit), worst(o.of_model)])
    return table


def by_operation(outcomes: list[Outcome]) -> list[list[str]]:
    """With the number of rows of each operation that are laws."""
    laws: dict[str, int] = defaultdict(int)
    for row in rows.all_rows(T, quick=True):
        if not isinstance(row.measured, Points) and not row.contradicts:
            laws[row.op] += 1
    of_fit: dict[str, list[float]] = defaultdict(list)
    of_model: dict[str, list[float]] = defaultdict(list)
    for o in outcomes:
        of_fit[o.case.row.op] += o.of_fit
        of_model[o.case.row.op] += o.of_model
    table = [["operation", "held out", "fit: median", "90th", "largest",
              "model: median", "90th", "largest", "laws or single figures"]]
    for op in sorted({*laws, *of_model}):
        held = len(of_model[op])
        table.append([op, str(held) if held else "nothing to hold out",
                      *spread(of_fit[op]), *spread(of_model[op]),
                      str(laws[op])])
    every_fit = [e for errors in of_fit.values() for e in errors]
    every = [e for errors in of_model.values() for e in errors]
    table.append(["all", str(len(every)), *spread(every_fit), *spread(every),
                  str(sum(laws.values()))])
    return table


def tables() -> list[list[list[str]]]:
    outcomes = [evaluate(case) for case in cases()]
    return [by_operation(outcomes), by_row(outcomes)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    for table in tables():
        rows.show(table, args.markdown)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
