"""Random schedules: legal for what is synchronised, adversarial for the rest;
and trnemu.explore, which compares many of them."""

import json

import numpy as np
import pytest

from cli_kit import FAULT, SUCCESS, USAGE, refuses, trnemu as command
import trnemu
from trnemu import Signal

SHAPE = (128, 64)
X = np.arange(128 * 64, dtype=np.float32).reshape(SHAPE)
SEEDS = range(1, 41)


class Explicit:
    """x comes into t; y goes out of it. Semaphores are the test's."""

    def __init__(self):
        self.b = trnemu.ProgramBuilder(target="trn2", sync="explicit", name="k")
        self.x = self.b.input("x", SHAPE, "float32")
        self.y = self.b.output("y", SHAPE, "float32")
        self.t = self.b.sbuf(SHAPE, "float32", name="t")
        self.loaded = self.b.semaphore()
        self.done = self.b.semaphore()

    def load(self, **options):
        self.b.dma_copy(dst=self.t, src=self.x, signal=[(self.loaded, 1)],
                        **options)

    def double(self, **options):
        self.b.tensor_scalar(dst=self.t, data=self.t, op0="multiply",
                             operand0=2.0, **options)

    def outcomes(self, checks="full"):
        """Of each seed the output, or the id of the fault. With checks="memory"
        what the order does to the data; full reports races in any order."""
        program = self.b.build()
        for seed in SEEDS:
            try:
                yield trnemu.run(program, {"x": X}, schedule=seed,
                                 checks=checks).outputs["y"]
            except trnemu.Fault as fault:
                yield fault.id


def doubled(wait=True):
    """y = 2 x; without `wait` the store does not wait for the product."""
    e = Explicit()
    e.load()
    e.double(wait=[(e.loaded, 16)], signal=[(e.done, 1)])
    e.b.dma_copy(dst=e.y, src=e.t,
                 wait=[(e.loaded, 16)] + ([(e.done, 1)] if wait else []))
    return e


def same(outcome, want):
    return not isinstance(outcome, str) and np.array_equal(outcome, want)


def test_a_synchronised_program_gives_the_same_bits_under_every_seed():
    assert all(same(y, 2 * X) for y in doubled().outcomes())


def test_a_store_that_does_not_wait_shows_under_many_seeds():
    wrong = [y for y in doubled(wait=False).outcomes("memory")
             if not same(y, 2 * X)]
    # The store or the product first: about half of them.
    assert len(SEEDS) // 3 <= len(wrong) < len(SEEDS)
    assert set(doubled(wait=False).outcomes()) == {"race.write_read"}


def test_a_source_that_is_released_when_read_may_be_overwritten():
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 16)],
                 signal=[Signal(e.done, "add", 1, at="read")])
    e.double(wait=[(e.done, 16)])
    assert all(same(y, X) for y in e.outcomes())


def test_a_source_overwritten_while_a_store_reads_it_shows():
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 16)],
                 signal=[Signal(e.done, "add", 1, at="read")])
    e.double(wait=[(e.loaded, 16), (e.done, 15)])  # one part too few
    assert any(not same(y, X) for y in e.outcomes("memory"))


def test_what_was_read_is_not_yet_written():
    """A consumer that waits for the release of the source reads too early:
    that a part is one step would hide it."""
    e = Explicit()
    e.b.dma_copy(dst=e.t, src=e.x,
                 signal=[Signal(e.loaded, "add", 1, at="read")])
    e.double(wait=[(e.loaded, 16)], signal=[(e.done, 1)])
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.done, 1)])
    assert "memory.read_unwritten" in {
        y for y in e.outcomes("memory") if isinstance(y, str)}


def test_parts_of_one_queue_keep_their_order():
    """x goes to t, and from there to y, through the same queues: no wait is
    needed, because part k of the store reads what part k of the load wrote."""
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t)
    assert all(same(y, X) for y in e.outcomes())


@pytest.mark.parametrize("schedule", ["timed", "program", 1, 2, 3])
def test_the_signal_of_the_read_comes_before_that_of_the_write(schedule):
    """The release sets the semaphore to 5, the completion adds 1 to it: 6. The
    other way round it is 5, and the store waits for ever."""
    e = Explicit()
    e.b.dma_copy(dst=e.t, src=e.x, queues=1, signal=[
        Signal(e.loaded, "add", 1),
        Signal(e.loaded, "set", 5, at="read"),
    ])
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 6)])
    r = trnemu.run(e.b.build(), {"x": X}, schedule=schedule)
    assert np.array_equal(r.outputs["y"], X)


def moves(kind):
    """y = a gather, scatter, sum, transpose or cast of x, by DMA alone."""
    b = trnemu.ProgramBuilder(target="trn2", name=kind)
    x = b.input("x", SHAPE, "float32")
    t = b.sbuf(SHAPE, "float32")
    b.dma_copy(dst=t, src=x)
    if kind == "cast":
        y = b.output("y", SHAPE, "bfloat16")
        b.dma_copy(dst=y, src=t)
        import ml_dtypes
        return b.build(), X.astype(ml_dtypes.bfloat16)
    if kind == "sum":
        y = b.output("y", SHAPE, "float32")
        b.dma_compute(dst=y, srcs=[t, x], reduce_op="add")
        return b.build(), X + X
    if kind == "transpose":
        y = b.output("y", (64, 128), "float32")
        across = b.sbuf((64, 128), "float32")
        b.dma_transpose(dst=across, src=x)
        b.dma_copy(dst=y, src=across)
        return b.build(), X.T
    i = b.constant("i", np.arange(127, -1, -1, dtype=np.int32)[:, None])
    index = b.sbuf((128, 1), "int32")
    b.dma_copy(dst=index, src=i)
    y = b.output("y", SHAPE, "float32")
    if kind == "gather":
        b.dma_copy(dst=t, src=x.vector_select(0, index))
        b.dma_copy(dst=y, src=t)
    else:
        b.dma_copy(dst=y.vector_select(0, index), src=t)
    return b.build(), X[::-1]


@pytest.mark.parametrize("kind", ["cast", "sum", "transpose", "gather", "scatter"])
def test_a_part_in_two_steps_moves_what_one_step_does(kind):
    program, want = moves(kind)
    for schedule in ("program", *range(1, 13)):
        y = trnemu.run(program, {"x": X}, schedule=schedule).outputs["y"]
        assert y.tobytes() == np.ascontiguousarray(want).tobytes(), schedule


def test_the_same_seed_is_the_same_run():
    for seed in range(1, 6):
        a, b = (trnemu.debug(doubled(False).b.build(), {"x": X}, schedule=seed,
                             checks="memory") for _ in range(2))
        while not a.ended:
            assert a.step() == b.step()


def behind(seed):
    """How many of 8 parts the slowest queue has written when the fastest has
    written all of its own."""
    e = Explicit()
    for _ in range(8):
        e.load()
    d = trnemu.debug(e.b.build(), {"x": X}, schedule=seed, checks="off")
    written = [0] * 16
    while max(written) < 8:
        stop = d.step()
        if stop.effect == "write":
            written[stop.part] += 1
    return min(written)


def test_in_some_orders_one_queue_is_done_before_another_has_begun():
    """Were all queues equally fast, one would end its 16 steps before another
    has done two in about 16 * 17 / 2^17 of the orders: 1 in 500."""
    slowest = [behind(seed) for seed in SEEDS]
    assert slowest.count(0) >= 5
    assert max(slowest) >= 2  # and in others they keep together


def flags(between):
    """gpsimd writes 1 to p, then to q, which were 0; the vector engine reads p,
    and q so many instructions later, in no order with that: (p, q) as read."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit", name="k")
    y = b.output("y", (2, 4, 4), "float32")
    p, q, p_read, q_read, u = (b.sbuf((4, 4), "float32") for _ in range(5))
    ready, read, written = (b.semaphore() for _ in range(3))
    for t in (p, q, u):
        b.memset(dst=t, value=0.0, engine="vector", signal=[(ready, 1)])
    for t in (p, q):
        b.memset(dst=t, value=1.0, engine="gpsimd", wait=[(ready, 3)],
                 signal=[(written, 1)])
    b.tensor_copy(dst=p_read, src=p, engine="vector")
    for _ in range(between):
        b.tensor_tensor(dst=u, data1=u, data2=u, op="add", engine="vector")
    b.tensor_copy(dst=q_read, src=q, engine="vector", signal=[(read, 1)])
    for i, t in enumerate((p_read, q_read)):
        b.dma_copy(dst=y[i], src=t, wait=[(read, 1), (written, 2)])
    return b.build()


def test_in_some_orders_an_engine_is_late_once_and_was_in_time_just_before():
    """p in time and q late: an engine at one speed that is r times the other's
    does the first with probability r / (1 + r) and has then not done the next
    in 100 steps with 1 / (1 + r)^100: at most 0.4 %, at r = 1 / 100, and next
    to nothing at most of the speeds there are (powers of 8 or 32, in half of
    the orders): in about one of 1000 orders."""
    program = flags(100)
    seen = [tuple(trnemu.run(program, {}, checks="memory", schedule=seed)
                  .outputs["y"][:, 0, 0]) for seed in range(1, 401)]
    assert set(seen) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert seen.count((1, 0)) >= 4


# ---- explore ----


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
