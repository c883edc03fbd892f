"""Kernels of nki-library, run against their own references.

The largest public body of kernels for `nki`: its tests make the arguments, the
reference and the tolerance; in place of its compiler and hosts, trnemu runs
the kernel. docs/nki-library.md is this table.

Fetch the library first; nothing of it is kept here:

    git clone https://github.com/aws-neuron/nki-library
    python bench/nki_library.py --library nki-library

With PYTHONPATH at the built package, and pytest, scipy and torch. One kernel:

    python bench/nki_library.py --library nki-library --filter cumsum -v

Any test of the library, with one of its parameter sets, or its parameters:

    python bench/nki_library.py --library nki-library --list \\
        --test core/cumsum/test_cumsum.py::TestCumsumKernel.test_cumsum_fast
    ... --test ... --at 2
    ... --test ... --at '{"hidden": 512}'

Exit code 1 if a row is FAIL.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import sys
import time
from collections.abc import Iterator, Sequence

import trnemu.nki._install

import nki_library_stand_ins as stand_ins

TARGETS = ("trn1", "trn2", "trn3")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--library", metavar="DIR", required=True,
        help="checkout of aws-neuron/nki-library")
    add("--filter", metavar="TEXT", default="",
        help="only kernels whose name or test has TEXT in it")
    add("--target", choices=TARGETS, help="only this generation")
    add("--write", metavar="FILE", help="write the table there")
    add("--list", action="store_true",
        help="list the cases, or --test's parameter sets; run nothing")
    add("--test", metavar="FILE::CLASS.NAME",
        help="run this test of the library, below test/integration/nkilib")
    add("--at", metavar="WHICH", default="0",
        help="its parameter set by number, several as a list, or parameters "
        "by name as a dict")
    add("--api", default="0.3", help="version of the NKI API (0.3)")
    add("--lnc", type=int, help="cores, instead of the test's")
    add("--allow", metavar="IDS", default="",
        help="findings that --test may have, with commas")
    add("-v", "--verbose", action="store_true",
        help="print the whole report of each row that did not pass")
    parsed = parser.parse_args(given)
    if parsed.write and (parsed.filter or parsed.target or parsed.test):
        parser.error("--write writes the whole table: no --filter, --target, "
                     "--test")
    return parsed


def main(given: Sequence[str] | None = None) -> int:
    parsed = arguments(given)
    library = pathlib.Path(parsed.library)
    if not (library / "src/nkilib_src").is_dir():
        raise SystemExit(f"{library} has no src/nkilib_src")
    trnemu.nki._install.install()
    stand_ins.install(library)
    import nki_library_table as table
    from nki_library_run import FAIL, Case, Row, function_of, parameter_sets
    from nki_library_run import run as run_case

    def cases() -> list[Case]:
        if parsed.test:
            which = ast.literal_eval(parsed.at)
            allowed = tuple(filter(None, parsed.allow.split(",")))
            return [
                Case(table.name_of(parsed.test), parsed.test, at,
                     (parsed.target or "trn2",), allowed=allowed,
                     api=parsed.api, lnc=parsed.lnc)
                for at in (which if isinstance(which, list) else [which])
            ]
        from nki_library_cases import CASES

        text = parsed.filter
        return [c for c in CASES if text in c.kernel or text in c.test]

    def rows() -> Iterator[Row]:
        for case in cases():
            for target in case.targets:
                if parsed.target not in (None, target):
                    continue
                start = time.perf_counter()
                row = run_case(case, target)
                table.say(row, time.perf_counter() - start, parsed.verbose)
                yield row

    if parsed.list and parsed.test:
        sets = parameter_sets(function_of(parsed.test)[2])
        for number, (name, values) in enumerate(sets):
            print(number, name, values)
        return 0
    if parsed.list:
        for case in cases():
            print(f"{', '.join(case.targets):12} {case.kernel}  {case.test} "
                  f"{case.at}")
        return 0
    found = list(rows())
    print(table.totals(found))
    if parsed.write:
        pathlib.Path(parsed.write).write_text(
            table.page(found, stand_ins.version(library)), encoding="utf-8"
        )
        print(f"wrote {parsed.write}")
    return 1 if any(row.result == FAIL for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
