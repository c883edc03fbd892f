"""Runs a case on one generation and judges what came out."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from trnemu import Fault
from trnemu.nki import KernelWarning

from nki_kernels_case import Case, Script, Work
from nki_kernels_sources import Copy, NotFound

RUN = (sys.executable, "-m", "trnemu.nki", "--summary")
TIME = re.compile(r"^time +([0-9.]+) (ns|us|ms|s)$", re.MULTILINE)
ID = re.compile(r"\[([a-z0-9_]+\.[a-z0-9_.]+)\]")
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
PASS, REFUSED, FAIL = "pass", "expected refusal", "FAIL"


@dataclass
class Row:
    """A line of the table."""

    case: Case
    where: str
    target: str
    result: str = PASS
    error: str = "-"
    findings: tuple[str, ...] = ()
    time: str = "-"
    checked: str = ""  # what stands for a tolerance where nothing is compared
    detail: str = ""  # for the terminal, not for the table


@contextlib.contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables set (an empty one is unset) for a while."""
    before = dict(os.environ)
    try:
        for name, value in values.items():
            os.environ.pop(name, None)
            if value:
                os.environ[name] = value
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def nanoseconds(time: float) -> str:
    """A simulated time as people read it."""
    for unit, size in UNITS.items():
        if time >= size:
            return f"{time / size:.4g} {unit}"
    return f"{time:.4g} ns"


def plain(value: Any) -> np.ndarray[Any, Any]:
    """An array (NumPy's, torch's, narrow or not) as NumPy has it."""
    if type(value).__module__ == "torch":
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        value = value.numpy()
    return np.asarray(value)


def wide(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return value.astype(np.float64)


def several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class Wrong(Exception):
    """The kernel ran, and gave something else."""


def difference(case: Case, got: Any, expected: Any) -> float:
    """The largest absolute difference. Wrong if shapes or the number of
    results differ, or it is over the tolerance.

    Where the tolerance asks for equality, the reference is taken in the
    result's dtype: a float32 reference cannot equal a float16 result.
    """
    got, expected = several(got), several(expected)
    if len(got) != len(expected):
        raise Wrong(f"{len(got)} results, not {len(expected)}")
    largest = 0.0
    for have, want in zip(got, expected, strict=True):
        have, want = plain(have), plain(want)
        if have.shape != want.shape:
            raise Wrong(f"shape {have.shape}, not {want.shape}")
        tolerance = case.tolerance
        if not (tolerance.rtol or tolerance.atol):
            want = want.astype(have.dtype)
        have, want = wide(have), wide(want)
        error = np.abs(have - want)
        error[(have == want) | (np.isnan(have) & np.isnan(want))] = 0.0
        limit = tolerance.atol + tolerance.rtol * np.abs(want)
        largest = max(largest, float(error.max(initial=0.0)))
        if not (error <= limit).all():
            worst = np.unravel_index(np.argmax(error - limit), error.shape)
            raise Wrong(
                f"{np.count_nonzero(~(error <= limit))} of {error.size} "
                f"elements differ; at {list(map(int, worst))} got "
                f"{have[worst]:.9g}, not {want[worst]:.9g}; tolerance "
                f"{tolerance}"
            )
    return largest


def run(
    case: Case,
    target: str,
    copies: Mapping[str, Copy],
    folder: pathlib.Path,
    schedule: str | int | None = None,
) -> Row:
    """One row. Whatever a kernel raises is a FAIL with its text."""
    copy = copies[case.source.copy]
    row = Row(case, case.source.path, target)
    variables = {
        "NEURON_PLATFORM_TARGET_OVERRIDE": target,
        "TRNEMU_NKI_API": case.api,
        "NEURON_LOGICAL_NC_CONFIG": "",
    }
    try:
        row.where = case.source.where(copy)
        with environment(**variables):
            if isinstance(case.source, Script):
                _script(row, copy)
            else:
                _kernel(row, copy, folder, schedule)
    except NotFound as missing:
        row.result, row.detail = FAIL, str(missing)
    return row


def _script(row: Row, copy: Copy) -> None:
    source = row.case.source
    assert isinstance(source, Script)  # its launches, one after another
    row.checked = "the file's own checks"
    file = copy.root / source.path
    done = subprocess.run(
        [*RUN, file.name, *source.arguments],
        cwd=file.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        row.result, row.detail = FAIL, done.stderr[-2000:]
        return
    times = TIME.findall(done.stderr)
    row.time = nanoseconds(sum(float(t) * UNITS[u] for t, u in times))
    if not times:
        row.result, row.detail = FAIL, "the script launched no kernel"


def _kernel(
    row: Row, copy: Copy, folder: pathlib.Path, schedule: str | int | None
) -> None:
    """Loads, launches, compares. The fault of an expected refusal may come
    while the kernel is loaded, recorded or run."""
    kernel = None
    said = io.StringIO()
    caught: list[warnings.WarningMessage] = []
    try:
        with (
            contextlib.redirect_stdout(said),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            kernel, error = _launch(row, copy, folder, schedule)
    except Fault as fault:
        _refused(row, fault.id, str(fault))
        return
    except Exception as error:  # the table says of every kernel what it did
        _refused(row, type(error).__name__, str(error))
        return
    finally:
        if kernel is not None and kernel.result is not None:
            row.time = nanoseconds(kernel.result.time_ns)
            found = {d.id for d in kernel.result.diagnostics}
            row.findings = tuple(sorted(found | _warned(caught)))
    row.error = error
    missing = [t for t in row.case.prints if t not in said.getvalue()]
    if missing:
        row.result = FAIL
        row.detail = f"did not print {missing}, but {said.getvalue()!r}"
    elif row.target in row.case.refused:
        row.result = FAIL
        row.detail = f"ran; {row.case.refused[row.target].id} was expected"
    elif unexpected := set(row.findings) - set(row.case.allowed):
        row.result = FAIL
        row.detail = f"findings {', '.join(sorted(unexpected))}"


def _warned(caught: list[warnings.WarningMessage]) -> set[str]:
    """Ids of what was found while a kernel was recorded."""
    texts = [
        str(w.message) for w in caught if issubclass(w.category, KernelWarning)
    ]
    return {found[1] for t in texts if (found := ID.search(t))}


def _launch(
    row: Row, copy: Copy, folder: pathlib.Path, schedule: str | int | None
) -> tuple[Any, str]:
    import nki

    case = row.case
    row.checked = _checked(case, copy)
    module = case.source.load(copy, folder)
    work = Work(copy, module, case.source.path, row.target, case.name)
    arguments = case.arguments(work)
    kernel = nki.simulate(getattr(module, case.source.function))
    kernel = case.prepare(kernel).with_options(
        target=row.target,
        # Ids of the front end are warnings, which allow= would hide.
        allow=[i for i in case.allowed if not i.startswith("nki.")],
        schedule=schedule,
    )
    if case.grid is not None:
        kernel = kernel[case.grid]
    given = tuple(_copied(a) for a in arguments)
    result = kernel(*given)
    if case.reference is None:
        return kernel, "-"
    result = case.part(result)
    expected = case.reference(work, *arguments)
    if case.in_place:
        result = tuple(given[i] for i in case.in_place)
    return kernel, f"{difference(case, result, expected):.3g}"


def _checked(case: Case, copy: Copy) -> str:
    """What is checked of a kernel that has no reference."""
    if case.reference is not None:
        return ""
    if case.prints:
        return "what it prints"
    block = case.source.block(copy)
    code = (block.text if block else "") + getattr(case.source, "after", "")
    return "its assertions" if "assert" in code else "that it runs"


def _copied(argument: Any) -> Any:
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _refused(row: Row, rule: str, text: str) -> None:
    """A fault's id, or the type of another exception (an unknown keyword is
    a TypeError)."""
    row.findings = (rule,)
    row.detail = text
    expected = row.case.refused.get(row.target)
    row.result = FAIL
    if (
        expected is not None
        and expected.id == rule
        and expected.says in text
    ):
        row.result = REFUSED
    elif rule[0].isupper():
        row.detail = f"{rule}: {text}"
