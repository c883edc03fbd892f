"""trnemu.explore and run --explore: many schedules, and the races behind them."""

import json

import numpy as np
import pytest

from cli_kit import FAULT, SUCCESS, USAGE, refuses, trnemu as command
from schedule_kit import SHAPE, X, Explicit, doubled
import trnemu
from trnemu import Signal


def test_explore_gives_the_timed_result_when_all_schedules_agree():
    program = doubled().b.build()
    r = trnemu.explore(program, {"x": X}, 20)
    assert np.array_equal(r.outputs["y"], 2 * X)
    assert r.time_ns == trnemu.run(program, {"x": X}).time_ns


def test_explore_names_the_output_the_element_both_values_and_the_seed():
    program = doubled(wait=False).b.build()
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.explore(program, {"x": X}, 50)
    f = caught.value
    assert (f.category, f.id, f.operand) == (
        "race", "schedule.outputs_differ", "y")
    seed = int(f.details["schedule"])
    assert (f'trnemu.run(..., schedule={seed}, checks="memory")' ==
            f.details["replay"])
    def run(schedule):
        return trnemu.run(program, {"x": X}, schedule=schedule,
                          checks="memory").outputs["y"]

    timed, other = run("timed"), run(seed)
    row, column = map(int, f.details["index"].strip("[]").split(","))
    differ = np.argwhere(timed != other)
    assert [row, column] == differ[0].tolist()
    assert f.details["elements_that_differ"] == f"{len(differ)} of 8192"
    assert f"{timed[row, column]:g} (" in f.details["value_in_reference"]
    assert f"{other[row, column]:g} (" in f.details["value_with_seed"]
    for earlier in range(1, seed):
        assert np.array_equal(run(earlier), timed)


def test_explore_says_which_race_is_behind_outputs_that_differ():
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.explore(doubled(wait=False).b.build(), {"x": X}, 50)
    f = caught.value
    assert f.id == "schedule.outputs_differ"
    # Instruction 2 stores what 1 multiplies, and waits for the load alone.
    assert f.related[0].startswith(
        "a run in the timed order with all checks reports race.write_read at "
        "instruction 2, ")
    assert "instruction 1 (tensor_scalar on the vector engine)" in f.related[0]
    assert "let instruction 2 wait for semaphore s1 >= 1" in f.finding.remedy
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.explore(doubled(wait=False).b.build(), {"x": X}, 50,
                       checks="memory")
    f = caught.value
    assert (f.id, f.related) == ("schedule.outputs_differ", ())
    assert "trnemu diff" in f.finding.remedy


def released_too_early():
    """A store that waits for the read of the load's source, not for its end."""
    e = Explicit()
    e.b.dma_copy(dst=e.t, src=e.x,
                 signal=[Signal(e.loaded, "add", 1, at="read")])
    e.b.dma_copy(dst=e.y, src=e.t, trigger="gpsimd", wait=[(e.loaded, 16)])
    return e.b.build()


@pytest.mark.parametrize("checks", ["full", "memory"])
def test_explore_reports_a_seed_that_faults_with_the_seed(checks):
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.explore(released_too_early(), {"x": X}, 50, checks=checks)
    f = caught.value
    assert f.id == "memory.read_unwritten"
    assert int(f.details["schedule"]) >= 1
    assert any("race.write_read" in r for r in f.related) == (checks == "full")


def test_explore_gives_the_race_behind_a_fault_of_the_first_run():
    """The copy reads t before anything is in it, in program order too."""
    e = Explicit()
    e.b.tensor_copy(dst=e.b.sbuf(SHAPE, "float32"), src=e.t, engine="vector")
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 16)])
    program = e.b.build()
    for options in ({}, {"time": False}):
        with pytest.raises(trnemu.Fault) as caught:
            trnemu.explore(program, {"x": X}, 5, **options)
        assert caught.value.id == "race.read_write"
        assert any("memory.read_unwritten" in r for r in caught.value.related)
        assert "schedule" not in caught.value.details
        with pytest.raises(trnemu.Fault) as caught:
            trnemu.explore(program, {"x": X}, 5, checks="memory", **options)
        assert caught.value.id == "memory.read_unwritten"


def same_twice():
    """Two engines fill t with the same value, in no order: a race that changes
    no output in any order."""
    e = Explicit()
    filled = e.b.semaphore()
    for engine in ("vector", "gpsimd"):
        e.b.memset(dst=e.t, value=3.0, engine=engine, signal=[(filled, 1)])
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(filled, 2)])
    return e.b.build()


def test_explore_reports_a_race_that_no_schedule_shows():
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.explore(same_twice(), {"x": X}, 7)
    f = caught.value
    assert f.id == "race.write_write"
    assert "7 schedules agree with the run in the timed order" in f.related[-1]
    for options in ({"checks": "memory"}, {"allow": ["race.write_write"]}):
        r = trnemu.explore(same_twice(), {"x": X}, 7, **options)
        assert (r.outputs["y"] == 3).all()
        assert r.allowed == options.get("allow", [])


def test_explore_starts_every_run_from_the_same_inout():
    b = trnemu.ProgramBuilder(target="trn2", name="count")
    x = b.inout("x", (4, 4), "float32")
    t = b.sbuf((4, 4), "float32")
    b.dma_copy(dst=t, src=x)
    b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    b.dma_copy(dst=x, src=t)
    r = trnemu.explore(b.build(), {"x": np.zeros((4, 4), np.float32)}, 10)
    assert (r.outputs["x"] == 1).all()


@pytest.mark.parametrize("options", [{"checks": "off"}, {"schedules": 0}])
def test_explore_refuses_what_would_hide_a_race(options):
    with pytest.raises(trnemu.InputFault) as caught:
        trnemu.explore(doubled().b.build(), {"x": X}, **options)
    assert caught.value.id == "option.explore"


@pytest.mark.parametrize("option", ["schedule", "values", "sched"])
def test_explore_refuses_options_that_it_would_ignore(option):
    with pytest.raises(TypeError, match=option):
        trnemu.explore(doubled().b.build(), {"x": X}, **{option: 1})


def saved(directory, program):
    path = directory / "k.trn"
    program.save(str(path))
    np.save(directory / "x.npy", X)
    return path, "--input", f"x={directory / 'x.npy'}"


def test_the_command_explores_and_gives_the_command_that_replays(tmp_path):
    run = ("run", *saved(tmp_path, doubled(wait=False).b.build()))
    result = command(*run, "--explore", 50)
    assert result.returncode == FAULT
    assert "race [schedule.outputs_differ]" in result.stderr
    replay = result.stderr.split("replay")[1].splitlines()[0].split()
    assert replay[0] == "trnemu" and replay[-2] == "--schedule"
    out = tmp_path / "out"
    assert command(*replay[1:], "--output-dir", out).returncode == SUCCESS
    assert not np.array_equal(np.load(out / "y.npy"), 2 * X)
    fault = json.loads(command(*run, "--explore", 50, "--json").stdout)["fault"]
    assert fault["category"] == "race"


def test_the_command_says_in_one_line_that_all_agree(tmp_path):
    run = ("run", *saved(tmp_path, doubled().b.build()), "--explore", 30)
    result = command(*run)
    assert result.returncode == SUCCESS
    assert "30 schedules agree with the result in every bit" in result.stdout
    assert json.loads(command(*run, "--json").stdout)["explored"] == 30


@pytest.mark.parametrize("more", [
    ("--schedule", 3), ("--log", "a.log"), ("--break", 0), ("--checks", "off"),
    ("--values", "off"),
])
def test_the_command_refuses_what_does_not_go_with_explore(tmp_path, more):
    run = ("run", *saved(tmp_path, doubled().b.build()), "--explore", 2)
    refuses(command(*run, *more), USAGE, "--explore")
