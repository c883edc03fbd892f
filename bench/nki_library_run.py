"""Runs a test of nki-library on trnemu and judges what came out.

The test makes the arguments, the reference and the tolerance; in place of the
library's compiler and its hosts, the kernel is launched here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import io
import itertools
import logging
import random
import re
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import trnemu
from trnemu import Fault
from trnemu.nki import KernelWarning

import nki_library_stand_ins as stand_ins

ID = re.compile(r"\[([a-z0-9_]+\.[a-z0-9_.]+)\]")
# The system that a test's ranks are on, by target.
SYSTEMS = {
    "trn1": "trn1.32xlarge", "trn2": "trn2.48xlarge", "trn3": "trn3-gen2",
}
PASS, REFUSED, SKIPPED, FAIL = "pass", "expected refusal", "skipped", "FAIL"
NEGATIVE = "negative test"


@dataclass(frozen=True)
class Refused:
    """A refusal, or another failure, that is right, and why."""

    id: str
    because: str


@dataclass(frozen=True)
class Case:
    """One test of the library with one set of parameters.

    test: "core/cumsum/test_cumsum.py::TestCumsumKernel.test_cumsum_fast".
    at: which of its parameter sets, or their values by name (those of the
    first set otherwise). range_test: a RangeTestCase's tensors. refused: by
    target, or "*". allowed: ids of findings that may be there.
    """

    kernel: str
    test: str
    at: int | Mapping[str, Any] = 0
    targets: tuple[str, ...] = ("trn2",)
    shape: str = ""
    refused: Mapping[str, Refused] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    api: str = "0.3"
    lnc: int | None = None
    note: str = ""

    def expected(self, target: str) -> Refused | None:
        return self.refused.get(target, self.refused.get("*"))


@dataclass
class Row:
    """A line of the table."""

    case: Case
    target: str
    result: str = PASS
    error: str = "-"
    tolerance: str = "-"
    findings: tuple[str, ...] = ()
    time_ns: float = 0.0
    instructions: int = 0
    record: float = 0.0  # seconds of the host
    run: float = 0.0
    arguments: str = ""
    cores: int = 1
    ranks: int = 1
    detail: str = ""
    raised: BaseException | None = None


class Wrong(Exception):
    """The kernel ran, and gave something else."""


class Skip(Exception):
    """The test skips itself."""


def function_of(test: str) -> tuple[types.ModuleType, Any, Callable[..., Any]]:
    """A test's module, class (or None) and function."""
    path, _, name = test.partition("::")
    module = importlib.import_module(
        "test.integration.nkilib." + path.removesuffix(".py").replace("/", ".")
    )
    owner, _, function = name.rpartition(".")
    cls = getattr(module, owner) if owner else None
    return module, cls, getattr(cls or module, function)


def parameter_sets(
    function: Callable[..., Any],
) -> list[tuple[str, dict[str, Any]]]:
    """The parameter sets of pytest.mark.parametrize, with their names; of the
    library's own kinds of marks, the first ones."""
    if hasattr(function, "range_test_config"):
        return _ranged(function)
    axes = []
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "coverage_parametrize":
            return _covered(function, mark.kwargs)
        if mark.name != "parametrize":
            continue
        names = mark.args[0]
        if isinstance(names, str):
            names = [n.strip() for n in names.split(",") if n.strip()]
        ids = mark.kwargs.get("ids") or []
        axis = []
        for i, given in enumerate(mark.args[1]):
            label = ids[i] if isinstance(ids, list) and i < len(ids) else None
            if type(given).__name__ == "ParameterSet":
                label, given = given.id or label, given.values
            elif len(names) == 1:
                given = (given,)
            label = label or "-".join(map(str, given))
            axis.append((str(label), dict(zip(names, given, strict=True))))
        axes.append(axis)
    found = []
    for combination in itertools.product(*axes):
        values: dict[str, Any] = {}
        for _, part in combination:
            values |= part
        found.append(("-".join(label for label, _ in combination), values))
    return found


def _ranged(function: Any) -> list[tuple[str, dict[str, Any]]]:
    from test.utils.ranged_test_harness import RangeTestHarness

    random.seed(0)
    harness = RangeTestHarness(function.range_test_config)
    names, cases = harness.get_unique_test_cases()
    return [
        (name, {"range_test_options": case})
        for name, case in zip(names, cases, strict=True)
        if not case.is_negative_test_case
    ]


_OF_COVERAGE = (
    "coverage", "filter", "enable_automatic_boundary_tests",
    "enable_invalid_combination_tests", "n_tests_per_boundary_value",
    "max_invalid_tests",
)


def _covered(
    function: Any, given: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    """The first 50 combinations that the mark's filter lets through."""
    from test.utils.coverage_parametrized_tests import BoundedRange

    axes = {
        k: list(v.values if isinstance(v, BoundedRange) else v)
        for k, v in given.items()
        if k not in _OF_COVERAGE
    }
    accept = given.get("filter")
    found: list[tuple[str, dict[str, Any]]] = []
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        if accept is not None:
            names = inspect.signature(accept).parameters
            every = any(p.kind == p.VAR_KEYWORD for p in names.values())
            asked = {k: v for k, v in values.items() if every or k in names}
            verdict = accept(**asked)
            if getattr(verdict, "name", "VALID") != "VALID":
                continue
        found.append(("-".join(map(str, combination)), values))
        if len(found) == 50:
            break
    return found


def _values(case: Case, function: Callable[..., Any]) -> dict[str, Any]:
    if isinstance(case.at, int):
        sets = parameter_sets(function)
        if not sets and case.at == 0:
            return {}
        return sets[case.at][1]
    given = dict(case.at)
    sets = parameter_sets(function)
    values = dict(sets[given.pop("set", 0)][1]) if sets else {}
    ranged = values.get("range_test_options")
    for name, sizes in given.pop("tensors", {}).items():
        tensors = {**ranged.tensors, name: {**ranged.tensors[name], **sizes}}
        ranged = dataclasses.replace(ranged, tensors=tensors)
        values["range_test_options"] = ranged
    return {**values, **given}


def _fixtures(
    case: Case, target: str, execute: Callable[[Any], None]
) -> dict[str, Any]:
    from test.utils.common_dataclasses import Platforms
    from test.utils.metrics_collector import NoopMetricsCollector

    return {
        "test_manager": stand_ins.Orchestrator(execute),
        "collector": NoopMetricsCollector(),
        "platform_target": Platforms(target),
        "is_negative_test_case": False,
        "request": _request(""),
    }


def _request(name: str) -> Any:
    called = types.SimpleNamespace(id=name)
    return types.SimpleNamespace(
        node=types.SimpleNamespace(name=name, callspec=called)
    )


def run(case: Case, target: str) -> Row:
    """One row. Whatever a kernel raises is a FAIL with its text."""
    import _pytest.outcomes

    row = Row(case, target)
    caught: list[warnings.WarningMessage] = []
    said = io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with (
            contextlib.redirect_stdout(said),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            _test(row)
    except Fault as fault:
        _failed(row, fault.id, str(fault))
    except _pytest.outcomes.Skipped as skip:
        row.result, row.detail = SKIPPED, str(skip)
    except Wrong as wrong:
        _failed(row, "wrong", str(wrong))
    except Exception as error:  # the table says of every kernel what it did
        _failed(row, type(error).__name__, traceback.format_exc(limit=-6))
    row.findings = tuple(sorted(set(row.findings) | _warned(caught)))
    if row.result == PASS and row.raised is not None:
        row.result = NEGATIVE
        row.error, row.detail = type(row.raised).__name__, str(row.raised)
    elif row.result == PASS:
        if refusal := case.expected(target):
            row.result = FAIL
            row.detail = f"ran; {refusal.id} was expected"
        elif more := set(row.findings) - set(case.allowed):
            row.result = FAIL
            row.detail = f"findings {', '.join(sorted(more))}"
            for w in caught:
                if issubclass(w.category, KernelWarning):
                    row.detail += "\n" + str(w.message)
    return row


def _failed(row: Row, id: str, text: str) -> None:
    expected = row.case.expected(row.target)
    row.result = REFUSED if expected and expected.id == id else FAIL
    row.error = id
    row.detail = text


def _warned(caught: list[warnings.WarningMessage]) -> set[str]:
    texts = [
        str(w.message) for w in caught if issubclass(w.category, KernelWarning)
    ]
    return {found[1] for t in texts if (found := ID.search(t))}


def _test(row: Row) -> None:
    case = row.case
    _, cls, function = function_of(case.test)
    launched = []

    def execute(given: Any) -> None:
        launched.append(given)
        try:
            launch(row, given)
        except BaseException as error:
            row.raised = error
            raise

    values = _values(case, function)
    fixtures = _fixtures(case, row.target, execute)
    names = inspect.signature(function).parameters
    given = {**{k: v for k, v in fixtures.items() if k in names}, **values}
    for name, parameter in names.items():
        if name != "self" and name not in given and (
            parameter.default is inspect.Parameter.empty
        ):
            raise KeyError(f"{case.test} has no value for {name}")
    if cls is not None:
        given = {"self": cls(), **given}
    function(**given)
    if not launched:
        raise Skip("the test launched nothing")


@contextlib.contextmanager
def _timed(row: Row, name: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        setattr(row, name, getattr(row, name) + time.perf_counter() - start)


def launch(row: Row, given: Any) -> None:
    """What Orchestrator.execute does: compile, run, compare."""
    import nki

    arguments = _arguments_of(given, 0)
    row.cores = row.case.lnc or given.compiler_input.logical_nc_config
    row.arguments = _described(arguments)
    kernel = nki.simulate(given.kernel_func).with_options(
        target=row.target,
        api=row.case.api,
        allow=[i for i in row.case.allowed if not i.startswith("nki.")],
    )[row.cores]
    row.ranks = given.inference_args.collective_ranks
    if row.ranks > 1:
        return _launch_on_ranks(row, kernel, given)
    with _timed(row, "record"):
        recording = kernel.record(**arguments)
    row.instructions = recording.program.num_instructions
    with _timed(row, "run"):
        result = kernel._launch(recording)
    row.time_ns += kernel.result.time_ns
    row.findings += tuple(d.id for d in kernel.result.diagnostics)
    _compare(row, result, given.validation_args)


def _arguments_of(given: Any, rank: int) -> dict[str, Any]:
    arguments = given.kernel_input or {}
    if hasattr(arguments, "for_rank"):
        arguments = arguments.for_rank(rank)
    return {
        k.removesuffix(".must_alias_input"):
            v.copy() if isinstance(v, np.ndarray) else v
        for k, v in arguments.items()
    }


def _launch_on_ranks(row: Row, kernel: Any, given: Any) -> None:
    """On as many ranks of a system; those that have a reference of their own
    are all compared, else rank 0, as the library does."""
    system = trnemu.System(
        SYSTEMS[row.target], ranks=row.ranks, lnc=row.cores
    )
    arguments = [_arguments_of(given, rank) for rank in range(row.ranks)]
    with _timed(row, "run"):
        run = system.run(kernel, arguments)
    row.instructions = kernel.program.num_instructions
    row.time_ns += run.time_ns
    row.findings += tuple(d.id for r in run.ranks for d in r.diagnostics)
    each = hasattr(given.validation_args.golden_output, "for_rank")
    for rank, result in enumerate(run.results[: None if each else 1]):
        try:
            _compare(row, result, given.validation_args, rank)
        except Wrong as wrong:
            raise Wrong(f"rank {rank}: {wrong}") from None


def _described(arguments: Mapping[str, Any]) -> str:
    parts = []
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            kind = stand_ins.packed_name(value.dtype) or value.dtype.name
            parts.append(f"{name} {'x'.join(map(str, value.shape))} {kind}")
    return ", ".join(parts)


def _compare(
    row: Row, result: Any, validation: Any, rank: int = 0
) -> None:
    from test.integration.nkilib.utils.comparators import maxAllClose
    from test.utils.common_dataclasses import (
        CustomValidatorWithOutputTensorData,
        LazyGoldenGenerator,
        PerRankLazyGoldenGenerator,
    )

    golden = validation.golden_output
    kinds: Mapping[str, Any] = {}
    if isinstance(golden, LazyGoldenGenerator):
        kinds = golden.output_ndarray
        golden = kinds if row.ranks > 1 and (
            golden.lazy_golden_generator is None
        ) else golden.golden
    elif isinstance(golden, PerRankLazyGoldenGenerator):
        golden = golden.for_rank(rank)
    if golden is None:
        return
    results = (
        [] if result is None
        else list(result) if isinstance(result, (list, tuple))
        else [result]
    )
    if len(results) < len(golden):  # the library compares those it names
        raise Wrong(f"{len(results)} results, not {len(golden)}: "
                    f"{list(golden)}")
    rtol, atol = validation.relative_accuracy, validation.absolute_accuracy
    row.tolerance = f"rtol {rtol:g}, atol {atol:g}"
    largest = float(row.error) if rank and row.error != "-" else 0.0
    for have, (name, want) in zip(results, golden.items(), strict=False):
        kind = getattr(kinds.get(name, want), "dtype", None)
        if isinstance(want, CustomValidatorWithOutputTensorData):
            row.tolerance = "the test's own check"
            raw = np.frombuffer(np.ascontiguousarray(have), np.uint8)
            said = io.StringIO()
            if not want.validator(said).validate(raw):
                raise Wrong(f"{name}: {said.getvalue()[-800:]}")
            continue
        have, want = _wide(have, kind), _wide(want, kind)
        if have.size != want.size:
            raise Wrong(f"{name}: shape {have.shape}, not {want.shape}")
        have = have.reshape(want.shape)
        with np.errstate(invalid="ignore"):
            error = np.abs(have - want)
        error[have == want] = 0
        scale = float(np.abs(want[np.isfinite(want)]).max(initial=0.0))
        worst = float(error.max(initial=0.0))
        largest = max(largest, worst / (scale or 1.0))
        row.error = f"{largest:.3g}"
        with contextlib.redirect_stdout(io.StringIO()):
            close = maxAllClose(have, want, rtol, atol, verbose=0)
        if not close:
            bad = ~(error <= atol + rtol * scale)
            how = np.where(bad, np.nan_to_num(error, nan=np.inf), -1)
            place = np.unravel_index(np.argmax(how), error.shape)
            raise Wrong(
                f"{name}: {np.count_nonzero(bad)} of {error.size} elements "
                f"differ; at {list(map(int, place))} got {have[place]:.6g}, "
                f"not {want[place]:.6g}; largest {scale:.4g}, {row.tolerance}"
            )


def _wide(array: Any, kind: Any) -> np.ndarray[Any, Any]:
    """An array in float32, as the library compares it."""
    array = np.ascontiguousarray(array)
    packed = stand_ins.packed_name(array.dtype) or stand_ins.packed_name(kind)
    if packed:
        return stand_ins.unpacked(array.view(stand_ins.PACKED_DTYPES[packed]))
    if kind is not None and array.dtype != kind and (
        array.dtype.itemsize == np.dtype(kind).itemsize
    ):
        array = array.view(kind)  # the library reads a file of bytes
    return array.astype(np.float32)
