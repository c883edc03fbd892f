"""Public NKI kernels, run against their own references.

Every kernel written for `nki` in the SDK documentation's examples, tutorials,
pages and docstrings, and in nki-samples, on every generation it is for: its
result, its largest error with the tolerance its source uses, what was found,
its simulated time. docs/nki-kernels.md is this table.

Fetch the two repositories first; nothing of them is kept here:

    git clone https://github.com/aws-neuron/aws-neuron-sdk
    git clone https://github.com/aws-neuron/nki-samples
    python bench/nki_kernels.py --sdk aws-neuron-sdk --samples nki-samples

With PYTHONPATH at the built package. Some references need torch. One kernel:

    python bench/nki_kernels.py --sdk aws-neuron-sdk --filter mamba_v1 -v

Exit code 1 if a row is FAIL, or a page has code that no row knows.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence

import trnemu.nki._install

import nki_kernels_table as table
from nki_kernels_case import ALL, Case, Skipped
from nki_kernels_run import FAIL, Row, run
from nki_kernels_sources import Copy


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--sdk", metavar="DIR", help="checkout of aws-neuron/aws-neuron-sdk")
    add("--samples", metavar="DIR", help="checkout of aws-neuron/nki-samples")
    add("--sdk-commit", metavar="SHA", default="",
        help="its commit, if DIR is an archive that does not know it")
    add("--samples-commit", metavar="SHA", default="", help="likewise")
    add("--filter", metavar="TEXT", default="",
        help="only kernels whose name or file has TEXT in it")
    add("--target", choices=ALL, action="append",
        help="only this generation (may be given several times)")
    add("--write", metavar="FILE",
        help="write the table there (all kernels, all generations)")
    add("--schedule", metavar="ORDER", type=order,
        help="timed (the default), program, or a seed: another legal order, "
        "in which the results must be the same")
    add("--list", action="store_true",
        help="list the kernels and what is not run, and run nothing")
    add("-v", "--verbose", action="store_true",
        help="print the whole report of each FAIL and each refusal")
    parsed = parser.parse_args(given)
    if not (parsed.sdk or parsed.samples):
        parser.error("give --sdk DIR, --samples DIR or both")
    if parsed.write and (parsed.filter or parsed.target or parsed.schedule):
        parser.error("--write writes the whole table: no --filter, --target, "
                     "--schedule")
    if parsed.write and not (parsed.sdk and parsed.samples):
        parser.error("--write writes the whole table: give both copies")
    return parsed


def order(text: str) -> str | int:
    if text in ("timed", "program"):
        return text
    return int(text)


def copies_of(parsed: argparse.Namespace) -> dict[str, Copy]:
    found = {}
    for name in ("sdk", "samples"):
        if root := getattr(parsed, name):
            commit = getattr(parsed, f"{name}_commit")
            found[name] = Copy(name, root, commit)
    return found


def all_cases() -> list[Case]:
    import nki_kernels_cases_api
    import nki_kernels_cases_examples
    import nki_kernels_cases_fragments
    import nki_kernels_cases_guides
    import nki_kernels_cases_loops
    import nki_kernels_cases_matmul
    import nki_kernels_cases_migration

    return [
        *nki_kernels_cases_examples.CASES,
        *nki_kernels_cases_matmul.CASES,
        *nki_kernels_cases_guides.CASES,
        *nki_kernels_cases_fragments.CASES,
        *nki_kernels_cases_loops.CASES,
        *nki_kernels_cases_migration.CASES,
        *nki_kernels_cases_api.CASES,
    ]


def all_skipped() -> list[Skipped]:
    from nki_kernels_cases_skipped import SKIPPED

    return SKIPPED


def chosen(
    cases: Iterable[Case], copies: Iterable[str], text: str
) -> list[Case]:
    return [
        case
        for case in cases
        if case.source.copy in copies
        and (text in case.name or text in case.source.path)
    ]


def rows_of(
    cases: Iterable[Case],
    copies: dict[str, Copy],
    parsed: argparse.Namespace,
) -> Iterator[Row]:
    targets = parsed.target or ALL
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            for target in case.targets:
                if target not in targets:
                    continue
                start = time.perf_counter()
                row = run(
                    case, target, copies, pathlib.Path(folder), parsed.schedule
                )
                took = time.perf_counter() - start
                table.say(row, took, parsed.verbose)
                yield row


def main(
    given: Sequence[str] | None = None,
    cases: Sequence[Case] | None = None,
    skipped: Sequence[Skipped] | None = None,
) -> int:
    """The driver; cases and skipped are for its tests."""
    parsed = arguments(given)
    trnemu.nki._install.install()
    copies = copies_of(parsed)
    cases = all_cases() if cases is None else cases
    skipped = all_skipped() if skipped is None else skipped
    for copy in copies.values():
        print(f"{copy.name}: {copy.root}, commit {copy.commit}")
    picked = chosen(cases, copies, parsed.filter)
    inventory = table.Inventory(copies, cases, skipped)
    if parsed.list:
        table.say_list(picked, inventory)
        return 0
    rows = list(rows_of(picked, copies, parsed))
    failed = [row for row in rows if row.result == FAIL]
    unknown = [] if parsed.filter else inventory.unknown
    for block in unknown:
        print(f"no row knows {block.path}:{block.line} ({block.key})")
    print(table.totals(rows))
    if parsed.write:
        pathlib.Path(parsed.write).write_text(
            table.page(rows, inventory), encoding="utf-8"
        )
        print(f"wrote {parsed.write}")
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
