"""The pytest plugin: reports on failure, options, and the fixture `trn`.

pytest finds it where trnemu is installed; otherwise `-p trnemu.pytest_plugin`.

    def test_scale(trn):                       # once for each target chosen
        b = trn.builder()
        ...
        trn.assert_runs_to(b.build(), {"x": x}, {"y": 2 * x})

    @pytest.mark.trnemu_targets("trn2", "trn3")    # only these of them
    def test_of_newer_ones(trn): ...

    pytest --trnemu-target all --trnemu-schedule timed,program,1,2
    pytest --trnemu-explore 8                      # 8 seeds more
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import trnemu
from trnemu import testing


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trnemu")
    group.addoption(
        "--trnemu-target",
        default="trn2",
        metavar="TARGET,",
        help="targets of the fixture trn: trn1, trn2 (default), trn3, all",
    )
    group.addoption(
        "--trnemu-schedule",
        default="",
        metavar="SCHEDULE,",
        help="run each program of the fixture trn with these schedules, which "
        "must give the same bits: timed, program, or seeds",
    )
    group.addoption(
        "--trnemu-explore",
        type=int,
        default=0,
        metavar="N",
        help="as --trnemu-schedule, with the seeds 1 to N",
    )


def _targets(config: pytest.Config) -> list[str]:
    names = config.getoption("--trnemu-target").split(",")
    if names == ["all"]:
        return list(trnemu.targets)
    for name in names:
        if name not in trnemu.targets:
            raise pytest.UsageError(
                f"--trnemu-target: there is no target {name!r}; there are "
                f"{', '.join(trnemu.targets)} and all"
            )
    return names


def _schedule(text: str) -> testing.Schedule:
    if text in ("timed", "program"):
        return text
    if not text.isdigit():
        raise pytest.UsageError(
            f"--trnemu-schedule takes timed, program or seeds, not {text!r}"
        )
    return int(text)


def _schedules(config: pytest.Config) -> list[testing.Schedule]:
    given = config.getoption("--trnemu-schedule")
    found = [_schedule(s) for s in given.split(",")] if given else []
    seeds = config.getoption("--trnemu-explore")
    if seeds < 0:
        raise pytest.UsageError("--trnemu-explore must be at least 0")
    if seeds and not found:
        found = ["timed"]
    return [*found, *range(1, seeds + 1)]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "trnemu_targets(*names): of the targets chosen, those the fixture trn "
        "is for",
    )
    _targets(config)
    _schedules(config)


class Trn:
    """What the fixture `trn` is: a target, and runs with the schedules asked
    for on the command line."""

    def __init__(
        self, target: str, schedules: Sequence[testing.Schedule] = ()
    ) -> None:
        self.target = target
        self.schedules = list(schedules)

    def builder(self, **options: Any) -> trnemu.ProgramBuilder:
        """A ProgramBuilder for the target."""
        return trnemu.ProgramBuilder(target=self.target, **options)

    def random(
        self, shape: Sequence[int], dtype: str, seed: int = 0
    ) -> np.ndarray[Any, Any]:
        """testing.random_array."""
        return testing.random_array(shape, dtype, seed)

    def assert_runs_to(
        self,
        source: testing.Source,
        inputs: testing.Arrays,
        expected: testing.Arrays,
        **options: Any,
    ) -> trnemu.RunResult:
        """testing.assert_runs_to, with the schedules of the command line."""
        if "schedule" not in options:
            options.setdefault("schedules", self.schedules)
        return testing.assert_runs_to(source, inputs, expected, **options)

    def assert_faults_with(
        self,
        id: str,
        source: testing.Source,
        inputs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> trnemu.Fault:
        """testing.assert_faults_with."""
        return testing.assert_faults_with(id, source, inputs, **options)

    def __repr__(self) -> str:
        return f"<Trn {self.target}>"


def _check_targets(names: Sequence[object], test: str) -> None:
    for name in names:
        if name not in trnemu.targets:
            raise pytest.UsageError(
                f"trnemu_targets of {test}: there is no target {name!r}; there "
                f"are {', '.join(trnemu.targets)}"
            )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "trn" not in metafunc.fixturenames:
        return
    chosen = _targets(metafunc.config)
    marker = metafunc.definition.get_closest_marker("trnemu_targets")
    if marker is not None:
        _check_targets(marker.args, metafunc.definition.nodeid)
        chosen = [name for name in chosen if name in marker.args]
    metafunc.parametrize("trn", chosen, indirect=True)


@pytest.fixture
def trn(request: pytest.FixtureRequest) -> Trn:
    """A target of --trnemu-target: builder(), assert_runs_to(), ..."""
    return Trn(request.param, _schedules(request.config))


def _fault_of(error: BaseException | None) -> trnemu.Fault | None:
    """The first Fault of an exception and what it was raised from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, trnemu.Fault):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if not report.failed or call.excinfo is None:
        return
    fault = _fault_of(call.excinfo.value)
    if fault is not None:
        text = f"{fault}\n\n`trnemu explain {fault.id}` tells more."
        report.sections.append(("trnemu report", text))
