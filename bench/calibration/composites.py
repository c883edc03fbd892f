"""Published kernels, simulated: measured time, simulated time, error.

    PYTHONPATH=build/release/python TRNEMU_BIN=build/release/bin/trnemu \\
        .venv/bin/python bench/calibration/composites.py

Each row of spec/timing.md section 3 is a program of bench/calibration/
composites, with the tiling and the data movement that its source describes,
run for its time alone. Beside the time: whether the stream is the page's
(instructions of each opcode, by arithmetic) and the source's other figures.
--write FILE writes the page docs/timing-composites.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from composites.case import FIXED_NS, Case, Run, run
from composites.every import cases

AIM, LIMIT = 0.15, 0.30


def all_cases() -> list[Case]:
    """Every case, by row."""
    return sorted(cases(), key=lambda c: (float(c.row), c.target))


def time_text(ns: float) -> str:
    """Four digits, in ms from a millisecond on, else us."""
    value, unit = (ns / 1e6, "ms") if ns >= 1e6 else (ns / 1e3, "us")
    return f"{value:.4g} {unit}"


def figure_text(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{digits} {unit}".rstrip()


def odd_opcodes(ran: Run) -> dict[str, tuple[int, int]]:
    """Opcodes whose number is not what the page's structure makes it."""
    return {
        name: (count, ran.opcode(name))
        for name, count in ran.case.opcodes.items()
        if ran.opcode(name) != count
    }


def row_of(ran: Run) -> tuple[str, ...]:
    case = ran.case
    return (
        case.row, case.name, case.target, time_text(case.measured_ns),
        time_text(ran.simulated_ns), f"{100 * ran.error:+.1f} %",
        "source of a constant" if case.calibrates else case.status,
    )


COLUMNS = (
    "row", "kernel", "target", "measured", "simulated", "error", "figure is",
)


def summary(runs: Sequence[Run]) -> str:
    """The median error, by generation, and how many are beyond the limits;
    without the rows that a constant was derived from."""
    parts = []
    runs = [r for r in runs if not r.case.calibrates]
    groups = {"all": list(runs)} | {
        t: [r for r in runs if r.case.target == t]
        for t in sorted({r.case.target for r in runs})
    }
    for name, group in groups.items():
        errors = [abs(r.error) for r in group]
        if not errors:
            continue
        parts.append(
            f"{name}: {len(errors)} rows, median error "
            f"{100 * statistics.median(errors):.1f} %, "
            f"{sum(e > AIM for e in errors)} above {100 * AIM:.0f} %, "
            f"{sum(e > LIMIT for e in errors)} above {100 * LIMIT:.0f} %"
        )
    return "\n".join(parts)


def unexplained(runs: Sequence[Run]) -> list[str]:
    """Rows beyond the limit whose reason is not written down."""
    return [
        r.case.id for r in runs if abs(r.error) > LIMIT and not r.case.reason
    ]


def table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(cells) + " |"
        for cells in (COLUMNS, ["---"] * len(COLUMNS), *rows)
    )


def details(ran: Run) -> list[str]:
    """Stream identity, figures, structure and reason of one row."""
    case = ran.case
    odd = odd_opcodes(ran)
    counts = ", ".join(f"{n:,} {name}" for name, n in case.opcodes.items())
    lines = [
        f"* Source: {case.source}.",
        "* Stream: " + counts + (
            ", as the structure has it." if not odd
            else f". **Not as the structure has it: {odd}.**"
        ),
    ]
    if FIXED_NS[case.clock]:
        lines.append(
            f"* The simulated time has {time_text(FIXED_NS[case.clock])} for "
            f"what the published clock ({case.clock}) holds beside the kernel."
        )
    if case.calibrates:
        lines.append(f"* No test of the model: {case.calibrates}.")
    if case.structure:
        lines.append(f"* Decided: {case.structure}.")
    for figure in case.figures:
        ours = figure.ours(ran)
        lines.append(
            f"* {figure.name}: {figure_text(figure.published, figure.unit)} "
            f"published ({figure.status}), "
            f"{figure_text(ours, figure.unit)} here."
        )
    if case.reason and abs(ran.error) > AIM:
        lines.append(f"* Why it is off: {case.reason}")
    return lines


HEADER = """# Composite kernels: measured and simulated

Written by `bench/calibration/composites.py --write docs/timing-composites.md`;
change that, not this page.

Kernels whose time on the device was published, built here with the tiling and
the data movement that their sources describe, and run for their time alone
(`--values off`). The rows are those of section 3 of the digest of published
timing facts, one of its 2.2, and kernels that stand on the same pages. How the
model comes by a time, and which constant has which source, is in
[time.md](time.md). **No constant was fitted to a kernel that is counted here**:
an error is an error. What a constant was derived from is shown, and not
counted.

What the rows have in common: instructions of one engine are in the kernel's
order, which a vendor's compiler may change; where one sequencer triggers loads
and stores, a tile's loads come some tiles ahead of the store that waits for its
result; the tensor engine starts cold. *Active*, as in the vendor's profiler, is
the time with at least one instruction of the engine under way. A figure is
*measured*, read off a *picture* of a profile, or *derived* from other figures.
"""


def page(runs: Sequence[Run]) -> str:
    """docs/timing-composites.md."""
    lines = [HEADER, table([row_of(r) for r in runs]), ""]
    lines += ["* " + part for part in summary(runs).splitlines()]
    lines += ["", "## Row by row"]
    for ran in runs:
        lines += ["", f"### {ran.case.row}: {ran.case.name}, {ran.case.target}"]
        lines += ["", f"{time_text(ran.case.measured_ns)} measured, "
                  f"{time_text(ran.simulated_ns)} simulated, "
                  f"{100 * ran.error:+.1f} %.", ""]
        lines += details(ran)
    return "\n".join(lines) + "\n"


def chosen(target: str | None, only: Sequence[str], quick: bool) -> list[Case]:
    return [
        c for c in all_cases()
        if (target is None or c.target == target)
        and (not quick or c.quick)
        and (not only or any(part in c.id for part in only))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--target", choices=("trn1", "trn2", "trn3"))
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT",
        help="rows whose 'row name target' has TEXT; may be repeated",
    )
    parser.add_argument(
        "--quick", action="store_true", help="rows that take under a second"
    )
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the page of all rows"
    )
    options = parser.parse_args()
    if options.write and (options.target or options.only or options.quick):
        parser.error("--write is for all rows")
    cases = chosen(options.target, options.only, options.quick)
    if not cases:
        parser.error("no row is chosen; --list names them")
    if options.list:
        print("\n".join(c.id for c in cases))
        return 0
    runs = []
    for case in cases:
        ran = run(case)
        if not options.write:
            print(" | ".join(row_of(ran)))
            print("\n".join("    " + line for line in details(ran)))
        runs.append(ran)
    if options.write:
        options.write.write_text(page(runs))
    print(summary(runs))
    for missing in unexplained(runs):
        print(f"no reason is given for {missing}", file=sys.stderr)
    wrong = [r.case.id for r in runs if odd_opcodes(r)]
    for case_id in wrong:
        print(f"the stream is not the page's: {case_id}", file=sys.stderr)
    return 1 if wrong or unexplained(runs) else 0


if __name__ == "__main__":
    sys.exit(main())
