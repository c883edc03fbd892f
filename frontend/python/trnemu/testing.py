"""Helpers for tests of what programs do: values, faults, warnings.

    from trnemu import testing

    def test_memset_writes_every_byte():
        b = trnemu.ProgramBuilder(target="trn2")
        t = b.sbuf((4, 8), "float32")
        b.memset(dst=t, value=1.5)
        b.dma_copy(dst=b.output("y", (4, 8), "float32"), src=t)
        testing.assert_runs_to(b.build(), {}, {"y": np.full((4, 8), 1.5, "f4")})

    def test_a_matmul_reads_sbuf():
        b = trnemu.ProgramBuilder(target="trn2")
        with testing.faults_with("operand.buffer", operand="stationary"):
            b.nc_matmul(dst=b.psum((4, 8), "float32"), ...)

What does not hold is an AssertionError that holds trnemu's report, or a table
of the first differences. The pytest plugin (trnemu.pytest_plugin) adds options
and the fixture `trn`. docs/first-hardware-test.md is the guide.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from trnemu._dtype import Dtype
from trnemu._fault import Fault
from trnemu._run import RunResult, run
from trnemu._trnemu import Finding, Program, diagnostic_ids, nearest

Arrays = Mapping[str, np.ndarray[Any, Any]]
Schedule = str | int
# A program, or what makes one (whose faults are then looked at too).
Source = Program | Callable[[], Program]

__all__ = [
    "Caught",
    "Tolerance",
    "assert_close",
    "assert_equal",
    "assert_faults_with",
    "assert_runs_to",
    "assert_warns_with",
    "differences",
    "faults_with",
    "random_array",
    "random_inputs",
    "tolerance",
]


# ---- inputs ----


def random_array(
    shape: Sequence[int], dtype: str, seed: int = 0
) -> np.ndarray[Any, Any]:
    """Finite random values of a dtype, the same for the same arguments.

    Floats are normally distributed, rounded to the dtype; integers take every
    value, bools both; packed dtypes and scales any bits.
    """
    generator = np.random.default_rng(seed)
    kind = Dtype(dtype)
    numpy = kind.numpy
    if numpy == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if np.issubdtype(numpy, np.integer):
        limits = np.iinfo(numpy)
        return generator.integers(
            limits.min, limits.max, shape, numpy, endpoint=True
        )
    if str(kind) == "float8_e8m0fnu":
        return generator.integers(0, 255, shape, np.uint8).view(numpy)
    return generator.standard_normal(shape, np.float32).astype(numpy)


def random_inputs(program: Program, seed: int = 0) -> dict[str, Any]:
    """A random_array for every input of a program, each of its own seed."""
    return {
        name: random_array(shape, str(dtype), seed + i)
        for i, (name, (shape, dtype)) in enumerate(program.inputs.items())
    }


# ---- comparing ----


@dataclass(frozen=True)
class Tolerance:
    """|actual - expected| <= atol + rtol * |expected|."""

    rtol: float = 0.0
    atol: float = 0.0


EXACT = Tolerance()


def tolerance(dtype: Any, ulps: float = 2) -> Tolerance:
    """`ulps` units in the last place of a float dtype, EXACT for others.

    What a result rounded once to the dtype may differ from a reference that
    was computed with more precision; sums of many terms need more.
    """
    numpy = np.dtype(dtype)
    try:
        eps = float(ml_dtypes.finfo(numpy).eps)
        tiny = float(ml_dtypes.finfo(numpy).smallest_normal)
    except (ValueError, TypeError):
        return EXACT
    return Tolerance(ulps * eps, ulps * eps * tiny)


def _as_float(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(array).astype(np.float64)


def _wrong(
    actual: np.ndarray[Any, Any],
    expected: np.ndarray[Any, Any],
    allowed: Tolerance,
) -> np.ndarray[Any, Any]:
    a, e = _as_float(actual), _as_float(expected)
    with np.errstate(all="ignore"):
        near = np.abs(a - e) <= allowed.atol + allowed.rtol * np.abs(e)
    near &= np.isfinite(a) & np.isfinite(e)
    same = (a == e) & (np.signbit(a) == np.signbit(e))
    if allowed != EXACT:
        same = (a == e) | near
    return ~(same | (np.isnan(a) & np.isnan(e)))


def differences(
    actual: Any, expected: Any, allowed: Tolerance = EXACT, limit: int = 8
) -> str:
    """A table of the first `limit` elements that differ; "" if none does.

    NaN equals NaN; with EXACT 0.0 does not equal -0.0. A difference of shape or
    dtype is a sentence.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return f"the shape is {actual.shape}, expected {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"the dtype is {actual.dtype}, expected {expected.dtype}"
    wrong = np.argwhere(_wrong(actual, expected, allowed))
    if len(wrong) == 0:
        return ""
    rows = [("index", "actual", "expected", "difference")]
    for where in wrong[:limit]:
        at = tuple(int(i) for i in where)
        a, e = actual[at], expected[at]
        with np.errstate(all="ignore"):
            gap = float(a) - float(e)
        rows.append((str(list(at)), f"{a!s}", f"{e!s}", f"{gap:.6g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    table = "\n".join(
        "  " + "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True))
        for row in rows
    )
    more = len(wrong) - limit
    head = f"{len(wrong)} of {actual.size} elements differ"
    if allowed != EXACT:
        head += f" by more than {allowed.atol:g} + {allowed.rtol:g} * expected"
    return f"{head}:\n{table}" + (f"\n  and {more} more" if more > 0 else "")


def assert_equal(actual: Any, expected: Any, name: str = "array") -> None:
    """The same shape, dtype and values; a table of differences otherwise."""
    assert_close(actual, expected, EXACT, name)


def assert_close(
    actual: Any,
    expected: Any,
    allowed: Tolerance | None = None,
    name: str = "array",
) -> None:
    """As assert_equal, within `allowed`; within tolerance(dtype) if None."""
    if allowed is None:
        allowed = tolerance(np.asarray(expected).dtype)
    said = differences(actual, expected, allowed)
    if said:
        raise AssertionError(f"{name}: {said}")


# ---- running ----


def _program(source: Source) -> Program:
    return source() if callable(source) else source


def _run(
    source: Source, inputs: Arrays, schedules: Sequence[Schedule], options: Any
) -> list[RunResult]:
    program = _program(source)
    if not schedules:
        return [run(program, inputs, **options)]
    return [run(program, inputs, schedule=s, **options) for s in schedules]


def _same_in_all(
    results: list[RunResult], schedules: Sequence[Schedule]
) -> None:
    for result, schedule in zip(results[1:], schedules[1:], strict=False):
        for name, array in result.outputs.items():
            first = results[0].outputs[name]
            if first.tobytes() == array.tobytes():
                continue
            raise AssertionError(
                f"output {name} depends on the order of instructions: schedule "
                f"{schedule!r} differs from {schedules[0]!r}; "
                f"{differences(array, first)}"
            )


def assert_runs_to(
    source: Source,
    inputs: Arrays,
    expected: Arrays,
    *,
    allowed: Tolerance | None = EXACT,
    schedules: Sequence[Schedule] = (),
    **options: Any,
) -> RunResult:
    """Runs a program, and compares its outputs with `expected`.

    allowed: EXACT (every bit but those of NaN), a Tolerance, or None for
    tolerance(dtype) of each output. schedules: runs once with each, which must
    all give the same bits ("timed", "program", or int seeds). options: those of
    trnemu.run. Outputs that `expected` leaves out are not compared. Gives the
    first result.
    """
    try:
        results = _run(source, inputs, schedules, options)
    except Fault as fault:
        raise AssertionError(
            f"expected outputs, but the program faults:\n{fault}"
        ) from fault
    _same_in_all(results, schedules)
    outputs = results[0].outputs
    for name, want in expected.items():
        if name not in outputs:
            raise AssertionError(
                f"there is no output {name!r}; there are {sorted(outputs)}"
            )
        assert_close(outputs[name], want, allowed, f"output {name}")
    return results[0]


@dataclass
class Caught:
    """The fault that faults_with caught; None until it has."""

    fault: Fault | None = None


def _check(finding: Fault | Finding, wanted: Mapping[str, Any]) -> None:
    for attribute, value in wanted.items():
        actual = getattr(finding, attribute)
        if actual != value:
            raise AssertionError(
                f"[{finding.id}] has {attribute} {actual!r}, expected "
                f"{value!r}:\n{finding}"
            )


def _check_id(id: str) -> None:
    """An id that nothing has could only ever fail, or look like a bug."""
    known = diagnostic_ids()
    if id in known:
        return
    near = nearest(id, known)
    raise ValueError(
        f"there is no diagnostic {id!r}"
        + (f"; did you mean {near!r}?" if near else "")
        + " (trnemu explain lists them)"
    )


@contextlib.contextmanager
def faults_with(id: str, **attributes: Any) -> Iterator[Caught]:
    """The block raises a Fault of this id; attributes are compared too.

        with faults_with("operand.buffer", operand="src") as caught:
            b.tensor_copy(dst=t, src=x)
        assert "hbm" in caught.fault.message
    """
    _check_id(id)
    caught = Caught()
    try:
        yield caught
    except Fault as fault:
        if fault.id != id:
            raise AssertionError(
                f"expected a fault [{id}], but it is [{fault.id}]:\n{fault}"
            ) from fault
        caught.fault = fault
        _check(fault, attributes)
        return
    raise AssertionError(f"expected a fault [{id}], but there is none")


def assert_faults_with(
    id: str, source: Source, inputs: Arrays | None = None, **options: Any
) -> Fault:
    """Making (if `source` is a function) or running the program faults so."""
    with faults_with(id) as caught:
        run(_program(source), inputs or {}, **options)
    assert caught.fault is not None
    return caught.fault


def assert_warns_with(
    id: str, source: Source, inputs: Arrays | None = None, **options: Any
) -> Finding:
    """The program runs, and this id is among its diagnostics."""
    _check_id(id)
    try:
        found = run(_program(source), inputs or {}, **options).diagnostics
    except Fault as fault:
        raise AssertionError(
            f"expected a warning [{id}], but the program faults:\n{fault}"
        ) from fault
    for finding in found:
        if finding.id == id:
            return finding
    ids = ", ".join(f.id for f in found) or "none"
    raise AssertionError(f"expected a warning [{id}], but there are: {ids}")
