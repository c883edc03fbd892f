"""The page docs/nki-library.md, and what the driver says of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from nki_library_cases import NOT_RUN
from nki_library_run import FAIL, NEGATIVE, PASS, REFUSED, SKIPPED, Row
from nki_library_stand_ins import REPAIRS

COLUMNS = (
    "kernel", "test", "arguments", "target", "result", "error", "tolerance",
    "findings", "time", "instructions", "record", "run",
)


def nanoseconds(time: float) -> str:
    """A simulated time as people read it."""
    for unit, size in (("ms", 1e6), ("us", 1e3), ("ns", 1.0)):
        if time >= size:
            return f"{time / size:.4g} {unit}"
    return "-"


def name_of(test: str) -> str:
    return test.partition("::")[2].rpartition(".")[2]


def say(row: Row, took: float, verbose: bool) -> None:
    case = row.case
    print(
        f"{row.result:16} {case.kernel} [{name_of(case.test)} "
        f"{case.at}] {row.target} x{row.cores}: error {row.error} "
        f"({row.tolerance}), {nanoseconds(row.time_ns)}, {row.instructions} "
        f"instructions, recorded in {row.record:.2f} s, run in {row.run:.2f} "
        f"s, all {took:.1f} s; {', '.join(row.findings)}",
        flush=True,
    )
    if row.detail and (row.result == FAIL or verbose):
        text = row.detail if verbose else row.detail[:1500]
        print("    " + text.replace("\n", "\n    "), flush=True)


def totals(rows: Sequence[Row]) -> str:
    counts = Counter(row.result for row in rows)
    kernels = len({row.case.kernel for row in rows})
    passing = len({row.case.kernel for row in rows if row.result == PASS})
    return (
        f"{len(rows)} rows of {kernels} kernels, of which {passing} pass with "
        f"some shape: {counts[PASS]} pass, {counts[REFUSED]} expected "
        f"refusals, {counts[NEGATIVE]} negative tests, {counts[SKIPPED]} "
        f"skipped, {counts[FAIL]} FAIL"
    )


def line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(
        c.replace("|", "\\|").replace("\n", " ") for c in cells
    ) + " |"


def _cores(row: Row) -> str:
    cores = f"{row.cores} cores" if row.cores > 1 else ""
    if row.ranks == 1:
        return f", {cores}" if cores else ""
    return f", {row.ranks} ranks" + (f" of {cores}" if cores else "")


def table(rows: Iterable[Row]) -> list[str]:
    lines = [line(COLUMNS), "|" + "---|" * len(COLUMNS)]
    for row in rows:
        case = row.case
        lines.append(line((
            case.kernel,
            f"{name_of(case.test)} "
            f"{case.at if isinstance(case.at, int) else ''}".strip(),
            row.arguments or "-",
            row.target + _cores(row),
            row.result,
            row.error,
            row.tolerance,
            ", ".join(row.findings) or "-",
            nanoseconds(row.time_ns),
            str(row.instructions or "-"),
            f"{row.record:.2f} s",
            f"{row.run:.2f} s",
        )))
    return lines


def reasons(rows: Iterable[Row]) -> list[str]:
    lines = [line(("kernel", "target", "by", "because")), "|" + "---|" * 4]
    for row in rows:
        expected = row.case.expected(row.target)
        if row.result == REFUSED and expected is not None:
            lines.append(line((
                row.case.kernel, row.target, expected.id, expected.because
            )))
    return lines


def notes(rows: Iterable[Row]) -> list[str]:
    found = {}
    for row in rows:
        if row.case.note and set(row.findings) & set(row.case.allowed):
            key = row.case.kernel, row.case.note
            found.setdefault(key, set()).update(row.findings)
    return [
        f"* {kernel}: {', '.join(sorted(ids))}: {note}."
        for (kernel, note), ids in found.items()
    ]


def page(rows: Sequence[Row], version: str) -> str:
    """docs/nki-library.md."""
    return "\n".join((
        "# Kernels of nki-library",
        "",
        "The kernels of aws-neuron/nki-library, run under API 0.3 with "
        "arguments, references and tolerances",
        "of its own tests, at the smallest shapes that they take, or nearly. "
        "Written by",
        "`bench/nki_library.py --library DIR --write docs/nki-library.md`; "
        "run it with `--help` to learn how",
        "any other of its tests is run. Nothing of the library is kept in "
        "this repository.",
        "",
        f"Version {version}. {totals(rows)}.",
        "",
        "*error* is the largest absolute difference over the largest absolute "
        "value of the reference, on all ranks; where a",
        "test has a check of its own, `-`. A finding must be allowed for a "
        "row to pass; see the notes. *time* is",
        "simulated; *record* and *run* are the host's, with other work on it.",
        "",
        *table(rows),
        "",
        "## Refused, and why that is expected",
        "",
        "*trnemu:* marks what runs on the device and is refused here: gaps.",
        "",
        *reasons(rows),
        "",
        "## Findings that are allowed",
        "",
        *notes(rows),
        "",
        "## Not run",
        "",
        *[f"* {what}: {why}." for what, why in NOT_RUN],
        "",
        "Files of that version that Python does not take, or that lack an "
        "argument, and are repaired when loaded:",
        ", ".join(f"`{name}`" for name in REPAIRS) + ".",
        "",
    ))
