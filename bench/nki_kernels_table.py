"""The page docs/nki-kernels.md, and what the driver prints."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nki_kernels_case import Case, Skipped
from nki_kernels_run import FAIL, PASS, REFUSED, Row
from nki_kernels_sources import NEW, NKI, OLD, Block, Copy, NotFound

COLUMNS = (
    "kernel",
    "source",
    "generation",
    "result",
    "max error",
    "tolerance",
    "findings",
    "allowed",
    "simulated time",
)
REPOSITORIES = {
    "sdk": "aws-neuron/aws-neuron-sdk",
    "samples": "aws-neuron/nki-samples",
}
# Folders with kernels, of each copy; api/nki has docstrings.
FOLDERS = {"sdk": ("nki",), "samples": ("src", "contributed", "test")}
DOCSTRINGS = "nki/api/nki"
WHOLE = "*"  # of a file all of whose kernels are known


@dataclass
class Old:
    """Files and kernels of the older API, which are not run."""

    files: int = 0
    kernels: int = 0


class Inventory:
    """What the copies hold, against what the rows know."""

    def __init__(
        self,
        copies: Mapping[str, Copy],
        cases: Sequence[Case],
        skipped: Sequence[Skipped],
    ) -> None:
        self.copies = copies
        self.cases = [c for c in cases if c.source.copy in copies]
        self.skipped: list[tuple[Skipped, Block | None]] = []
        self.unknown: list[Block] = []
        self.old: dict[str, Old] = {}
        known = self._known(skipped)
        for name, copy in copies.items():
            self.old[name] = self._read(name, copy, known)

    def _known(self, skipped: Sequence[Skipped]) -> set[tuple[str, str]]:
        known = set()
        for case in self.cases:
            try:
                block = case.source.block(self.copies[case.source.copy])
            except NotFound:
                continue  # its row says so
            if block is None:
                known.add((case.source.path, ""))
                known.add((case.source.path, case.source.function))
            else:
                known.add((case.source.path, block.key))
        for skip in skipped:
            if skip.copy not in self.copies:
                continue
            found = None
            if skip.key:
                found = _block(self.copies[skip.copy], skip)
            self.skipped.append((skip, found))
            known.add((skip.path, skip.key))
            if not skip.key:
                known.add((skip.path, WHOLE))
        return known

    def _read(self, name: str, copy: Copy, known: set[tuple[str, str]]) -> Old:
        old = Old()
        for folder in FOLDERS[name]:
            for path in copy.files(folder, ".py"):
                text = copy.text(path)
                if path.startswith(DOCSTRINGS):
                    self._blocks(copy, path, known)
                elif OLD.search(text):
                    old.files += 1
                    old.kernels += len(kernels(text))
                elif NEW.search(text):
                    self._functions(path, text, known)
            for path in copy.files(folder, ".rst"):
                self._blocks(copy, path, known)
        return old

    def _functions(
        self, path: str, text: str, known: set[tuple[str, str]]
    ) -> None:
        """Of a file of kernels: no kernel without a row."""
        if (path, WHOLE) in known:
            return
        if (path, "") not in known:
            self.unknown.append(Block(path, 1, text))
        for node in kernels(text):
            if (path, node.name) not in known:
                self.unknown.append(Block(path, node.lineno, node.name))

    def _blocks(
        self, copy: Copy, path: str, known: set[tuple[str, str]]
    ) -> None:
        for block in copy.blocks(path):
            if NKI.search(block.text) and (path, block.key) not in known:
                self.unknown.append(block)


def _block(copy: Copy, skip: Skipped) -> Block | None:
    try:
        return copy.block(skip.path, skip.key)
    except NotFound:
        return None


def kernels(text: str) -> list[ast.FunctionDef]:
    """Functions under a decorator of nki (nki.jit, nki.baremetal, ...)."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            names = [ast.unparse(d) for d in node.decorator_list]
            if any(n.startswith(("nki.", "nki_jit")) for n in names):
                found.append(node)
    return found


def say(row: Row, took: float, verbose: bool) -> None:
    """A row on the terminal."""
    print(
        f"{row.result:16} {row.target}  {row.case.name}  "
        f"[{row.where}]  error {row.error}, {row.time}, host {took:.2f} s",
        flush=True,
    )
    if row.detail and (row.result == FAIL or verbose):
        text = row.detail if verbose else row.detail.split("\n")[0]
        print("    " + text.replace("\n", "\n    "), flush=True)


def say_list(cases: Iterable[Case], inventory: Inventory) -> None:
    for case in cases:
        print(f"{', '.join(case.targets):16}  {case.name}  {case.source.path}")
    for skip, block in inventory.skipped:
        line = f":{block.line}" if block else ""
        print(f"not run           {skip.path}{line}: {skip.reason}")
    for block in inventory.unknown:
        print(f"unknown           {block.path}:{block.line} ({block.key})")


def totals(rows: Sequence[Row]) -> str:
    counts = Counter(row.result for row in rows)
    kernels = len({(row.case.source.path, row.case.name) for row in rows})
    return (
        f"{len(rows)} rows of {kernels} cases: {counts[PASS]} pass, "
        f"{counts[REFUSED]} expected refusals, {counts[FAIL]} FAIL"
    )


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell(c) for c in cells) + " |"


def table(rows: Iterable[Row]) -> list[str]:
    lines = [line(COLUMNS), "|" + "---|" * len(COLUMNS)]
    for row in rows:
        case = row.case
        lines.append(
            line(
                (
                    case.name,
                    row.where,
                    row.target + (f" (API {case.api})" if case.api else ""),
                    row.result,
                    row.error,
                    row.checked or str(case.tolerance),
                    ", ".join(row.findings) or "-",
                    ", ".join(case.allowed) or "-",
                    row.time,
                )
            )
        )
    return lines


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why each refusal is expected, and the notes."""
    lines = [line(("kernel", "generation", "refused by", "because"))]
    lines.append("|" + "---|" * 4)
    for row in rows:
        if row.result == REFUSED:
            expected = row.case.refused[row.target]
            lines.append(
                line((row.case.name, row.target, expected.id,
                      expected.because))
            )
    return lines


def notes(rows: Sequence[Row]) -> list[str]:
    seen = {}
    for row in rows:
        if row.case.note:
            seen[row.case.name, row.where] = row.case.note
    return [f"* {name} ({where}): {note}." for (name, where), note in
            seen.items()]


def page(rows: Sequence[Row], inventory: Inventory) -> str:
    """docs/nki-kernels.md."""
    copies = inventory.copies
    lines = [
        "# Public NKI kernels",
        "",
        "Every kernel of the SDK documentation's examples, tutorials, pages "
        "and docstrings and of",
        "nki-samples that is written for `nki`, run against its own "
        "reference. Written by",
        "`bench/nki_kernels.py --sdk DIR --samples DIR --write "
        "docs/nki-kernels.md`; run it with `--help`",
        "to learn more. Nothing of the sources is kept in this repository.",
        "",
        f"{totals(rows)}.",
        "",
        "| copy | commit | older API (`neuronxcc.nki`), not run |",
        "|---|---|---|",
    ]
    for name, copy in copies.items():
        old = inventory.old[name]
        lines.append(
            f"| {REPOSITORIES[name]} | {copy.commit} | {old.kernels} kernels "
            f"in {old.files} files |"
        )
    lines += [
        "",
        "*max error* is the largest absolute difference from the reference; "
        "*tolerance* is the source's",
        "own, with where it stands, or ours where the source has none. A "
        "finding must be *allowed* for a",
        "row to pass. Times are simulated; host time is not part of the "
        "table. Where nothing is compared, the",
        "tolerance column says what is checked instead.",
        "",
        *table(rows),
        "",
        "## Expected refusals",
        "",
        *reasons(rows),
        "",
        "## Notes",
        "",
        *notes(rows),
        "",
        "## Not run",
        "",
        "Code with NKI names in the same pages and files that is no whole "
        "kernel, or is wrong as printed.",
        "",
        "| where | why |",
        "|---|---|",
    ]
    for skip, block in inventory.skipped:
        place = f"{skip.path}:{block.line}" if block else skip.path
        lines.append(line((place, skip.reason)))
    return "\n".join(lines) + "\n"
