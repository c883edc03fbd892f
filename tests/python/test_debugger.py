"""trnemu.debug, --break, --dump and --watch, and trnemu diff of logs."""

import json

import ml_dtypes
import numpy as np
import pytest

from cli_kit import DOUBLE, FAULT, SUCCESS, USAGE, case, refuses, trnemu as command  # noqa: F401
from kit import Kit
import trnemu

SHAPE = (128, 64)
X = np.arange(128 * 64, dtype=np.float32).reshape(SHAPE)
SCHEDULES = ["timed", "program", 1, 2]


def doubled(**options):
    """(program, t): t is loaded, doubled and stored."""
    b = trnemu.ProgramBuilder(target="trn2", name="k", **options)
    x = b.input("x", SHAPE, "float32")
    y = b.output("y", SHAPE, "float32")
    t = b.sbuf(SHAPE, "float32", name="t")
    b.dma_copy(dst=t, src=x)
    b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=2.0)
    b.dma_copy(dst=y, src=t)
    return b.build(), t


def started(**options):
    return trnemu.debug(doubled()[0], {"x": X}, **options)


# ---- stepping ----


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_run_in_steps_gives_what_a_run_does(schedule):
    program, _ = doubled()
    whole = trnemu.run(program, {"x": X}, schedule=schedule)
    d = trnemu.debug(program, {"x": X}, schedule=schedule)
    steps = 0
    while not d.ended:
        d.step()
        steps += 1
    r = d.result()
    assert r.outputs["y"].tobytes() == whole.outputs["y"].tobytes()
    assert r.time_ns == whole.time_ns
    assert r.profile == whole.profile
    # 3 instructions, of which two DMAs of 16 parts each; in random order each
    # part is two steps, in program order a DMA is one. Then the end.
    assert steps == {"timed": 35, "program": 3}.get(schedule, 67) + 1


def test_steps_may_be_taken_several_at_a_time():
    one, many = started(), started()
    for _ in range(7):
        last = one.step()
    assert many.step(7) == last


def test_a_breakpoint_stops_before_its_instruction_and_once():
    d = started()
    id = d.breakpoint("tensor_scalar")
    stop = d.continue_()
    assert (stop.kind, stop.id, stop.instruction, stop.engine, stop.opcode) == (
        "break", id, 1, "vector", "TensorScalar")
    assert np.array_equal(d.read("t").values, X)
    step = d.step()
    assert (step.kind, step.instruction) == ("step", 1)
    assert np.array_equal(d.read("t").values, 2 * X)
    assert d.continue_().kind == "end"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("where", [1, "1", "tensor_scalar", "test_debugger.py:25"])
def test_a_breakpoint_is_a_number_an_operation_or_a_line(where, schedule):
    d = started(schedule=schedule)
    assert d.run_until(where).instruction == 1
    assert np.array_equal(d.read("t").values, X)
    assert np.array_equal(d.result().outputs["y"], 2 * X)


def test_a_breakpoint_in_a_loop_stops_in_each_round():
    k = Kit()
    t = k.filled((4, 4), 0.0)
    with k.b.fori_loop(0, 5):
        k.b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    d = trnemu.debug(k.build(t), k.inputs)
    d.breakpoint("tensor_scalar")
    seen = []
    while d.continue_().kind == "break":
        seen.append(float(d.read(t).values[0, 0]))
    assert seen == [0, 1, 2, 3, 4]


def test_a_removed_breakpoint_does_not_stop():
    d = started()
    d.remove(d.breakpoint(1))
    assert d.continue_().kind == "end"
    with pytest.raises(KeyError):
        d.remove(99)


@pytest.mark.parametrize(("where", "text"), [
    ("99", "no instruction 99"), ("tensor_scaler", "did you mean \"tensor_scalar\""),
    ("test_debugger.py:1", "lines 24, 25, 26"), ("other.py:3", "no instruction comes"),
])
def test_a_breakpoint_that_can_never_stop_is_refused(where, text):
    with pytest.raises(trnemu.InputFault, match=text) as caught:
        started().breakpoint(where)
    assert caught.value.id == "debug.place"


def test_a_fault_is_raised_where_it_happens_and_memory_stays_readable():
    b = trnemu.ProgramBuilder(target="trn2", name="k", sync="explicit")
    y = b.output("y", (4, 4), "float32")
    t = b.sbuf((4, 4), "float32", name="t")
    b.memset(dst=t[:2], value=3.0)
    b.dma_copy(dst=y, src=t)
    # The store waits for nothing: with full checks its race comes first.
    d = trnemu.debug(b.build(), {}, schedule="program", checks="memory")
    assert d.step().operation == "memset"
    with pytest.raises(trnemu.Fault) as caught:
        d.continue_()
    assert caught.value.id == "memory.read_unwritten"
    assert d.ended
    assert (d.read("t[:2]").values == 3).all()
    for again in (d.step, d.continue_, d.result):
        with pytest.raises(trnemu.Fault) as caught:
            again()
        assert caught.value.id == "debug.ended"


def test_the_result_is_taken_once():
    d = started()
    d.breakpoint(1)
    d.watch("t")
    assert np.array_equal(d.result().outputs["y"], 2 * X)
    with pytest.raises(trnemu.InputFault):
        d.result()


def test_the_end_is_reported_once_and_gives_the_result():
    d = started()
    assert d.continue_().kind == "end"
    with pytest.raises(trnemu.InputFault):
        d.continue_()
    assert np.array_equal(d.result().outputs["y"], 2 * X)


@pytest.mark.parametrize("option", ["values", "breakpoints"])
def test_options_that_it_would_ignore_are_refused(option):
    with pytest.raises(TypeError, match=option):
        started(**{option: False})


def test_a_run_that_is_dropped_half_way_leaves_inout_tensors_as_they_were():
    b = trnemu.ProgramBuilder(target="trn2", name="k")
    x = b.inout("x", (4, 4), "float32")
    t = b.sbuf((4, 4), "float32")
    b.memset(dst=t, value=7.0)
    b.dma_copy(dst=x, src=t)
    e = trnemu.Device("trn2").load(b.build())
    e.run({"x": np.zeros((4, 4), np.float32)})
    raw = e._executable.debug([], trnemu._run._looking_options("debug", {}))
    raw.go_on()
    del raw
    assert (e.run({}).outputs["x"] == 7).all()


# ---- looking ----


def test_read_gives_values_and_which_bytes_were_written():
    k = Kit()
    t = k.b.sbuf((4, 6), "bfloat16", name="t")
    k.b.memset(dst=t[:2, 2:4], value=1.5)
    d = trnemu.debug(k.build(t[:2, 2:4]), {})
    assert not d.read(t).written.any()
    d.run_until("dma_copy")
    reading = d.read("t")
    want = np.zeros((4, 6), bool)
    want[:2, 2:4] = True
    assert reading.written.shape == (4, 6, 2)
    assert np.array_equal(reading.written.all(axis=2), want)
    assert reading.values.dtype == ml_dtypes.bfloat16
    assert (reading.values[want] == 1.5).all()
    assert d.read("t[:2, 2:4]").complete and not reading.complete
    assert (np.asarray(d.read(t[:2, 2:4])) == 1.5).all()


@pytest.mark.parametrize("place", [
    "t", "t[3]", "t[0:2, 0:4]", "t[:, 5]", "t[10:20, ::2]", "t[-1, -1]",
    "t[..., 3:7]", "t[0:4, 63::-1]",
])
def test_a_slice_is_numpys(place):
    d = started()
    d.run_until(1)
    want = eval(place, {"t": X})
    got = d.read(place).values
    assert np.array_equal(got.reshape(-1), np.asarray(want).reshape(-1))


@pytest.mark.parametrize("place", ["x[2:4, 3]", "y[0]"])
def test_hbm_tensors_can_be_read(place):
    d = started()
    d.continue_()
    want = eval(place, {"x": X, "y": 2 * X})
    assert np.array_equal(d.read(place).values.reshape(-1), want.reshape(-1))


@pytest.mark.parametrize(("place", "text"), [
    ("u", "no tensor u"), ("t[0:4", "no \\]"), ("t[a]", "no index"),
    ("t[200]", "t\\[200\\]"), ("t[0, 0, 0]", "t\\["),
])
def test_a_place_that_is_not_there_is_refused(place, text):
    with pytest.raises(trnemu.InputFault, match=text) as caught:
        started().read(place)
    assert caught.value.id == "debug.place"


@pytest.mark.parametrize(("place", "fix"), [
    ("u", "name one of its tensors: x, y, t"), ("t[0:4", "close the index"),
    ("t[200]", r"stay inside t, which is \(128, 64\)"),
])
def test_a_place_that_is_refused_says_what_to_write_instead(place, fix):
    with pytest.raises(trnemu.InputFault, match=f"fix .*{fix}"):
        started().read(place)


def two_named_t():
    """Tensors 1 and 2 are named t; they hold 1 and 2."""
    b = trnemu.ProgramBuilder(target="trn2", name="k")
    y = b.output("y", SHAPE, "float32")
    for value in (1.0, 2.0):
        t = b.sbuf(SHAPE, "float32", name="t")
        b.memset(dst=t, value=value)
        b.dma_copy(dst=y, src=t)
    return b.build()


@pytest.mark.parametrize(("place", "value"), [
    ("%1", 1.0), ("%2", 2.0), ('%1"t"', 1.0), ('%2"t"', 2.0),
    ('%2"t"[0:3, 5]', 2.0), ("%1[0:3, 5]", 1.0),
])
def test_a_tensor_can_be_named_as_disasm_writes_it(place, value):
    program = two_named_t()
    assert '%1"t"' in program.to_text() and '%2"t"' in program.to_text()
    d = trnemu.debug(program, {})
    d.watch(place)
    assert d.continue_().kind == "watch"
    d.continue_()
    assert (d.read(place).values == value).all()


@pytest.mark.parametrize("place", ["t", "t[0:3]"])
def test_a_name_that_two_tensors_have_is_refused(place):
    d = trnemu.debug(two_named_t(), {})
    for look in (d.read, d.watch):
        with pytest.raises(trnemu.InputFault, match="2 tensors named t") as caught:
            look(place)
        assert caught.value.id == "debug.place"
        for reference, line in zip(('%1"t"', '%2"t"'), caught.value.related):
            assert line.startswith(reference) and "test_debugger.py:" in line


@pytest.mark.parametrize(("place", "text"), [
    ("%3", "no tensor %3"), ('%1"u"', 'tensor %1 is called "t"'),
    ("%99999999999", "no tensor"), ("%", "no tensor %"), ("%1t", "says otherwise"),
])
def test_an_index_that_is_no_tensor_is_refused(place, text):
    with pytest.raises(trnemu.InputFault, match=text) as caught:
        trnemu.debug(two_named_t(), {}).read(place)
    assert caught.value.id == "debug.place"


def test_dump_and_watch_of_the_command_refuse_an_ambiguous_name(tmp_path):
    path = tmp_path / "k.trn"
    two_named_t().save(path)
    for option in ("--dump", "--watch"):
        r = command("run", path, "--break", "0", option, "t")
        refuses(r, USAGE, "debug.place", '%1"t"', '%2"t"')
    r = command("run", path, "--break", "3", "--dump", '%2"t"[0, 0:2]')
    assert r.returncode == SUCCESS and '%2"t"' in r.stdout


def test_a_view_of_another_builder_is_refused():
    _, other = doubled()
    b = trnemu.ProgramBuilder(target="trn2", name="k")
    b.sbuf((4, 4), "float32", name="z")
    y = b.output("q", (4, 4), "float32")
    t = b.sbuf((4, 4), "float32", name="w")
    b.memset(dst=t, value=0.0)
    b.dma_copy(dst=y, src=t)
    with pytest.raises(trnemu.InputFault):
        trnemu.debug(b.build(), {}).read(other)


def test_engines_say_what_they_wait_for():
    d = started()
    vector = next(e for e in d.engines() if e.engine == "vector")
    assert (vector.instruction, vector.operation) == (1, "tensor_scalar")
    ((semaphore, now, wanted),) = vector.waits
    assert (now, wanted) == (0, 16)  # one of each of 16 queues
    d.run_until(1)
    vector = next(e for e in d.engines() if e.engine == "vector")
    assert vector.waits == () and d.semaphores()[semaphore] == 16
    assert d.parts_under_way == 0
    d.continue_()
    assert {e.instruction for e in d.engines()} == {None}


def test_parts_under_way_are_counted():
    d = started()
    d.step()
    assert d.parts_under_way == 16
    d.step(5)
    assert d.parts_under_way == 11


def test_registers_are_those_of_each_sequencer():
    k = Kit()
    t = k.filled((4, 4), 0.0)
    with k.b.fori_loop(3, 6):
        k.b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    d = trnemu.debug(k.build(t), k.inputs)
    d.breakpoint("tensor_scalar")
    seen = []
    while d.continue_().kind == "break":
        seen.append({*d.registers()[0, "vector"].values()})
    assert len(seen) == 3
    for n, values in zip((3, 4, 5), seen):
        assert n in values


# ---- watching ----


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_watch_stops_after_each_write_with_the_bytes_before_and_after(schedule):
    d = started(schedule=schedule)
    id = d.watch("t[9, 2:4]")
    first, second = d.continue_(), d.continue_()
    assert (first.kind, first.operation, second.operation) == (
        "watch", "dma_copy", "tensor_scalar")
    assert first.hits[0].id == id and not first.hits[0].old_was_written
    assert first.hits[0].new == X[9, 2:4].tobytes()
    assert second.hits[0].old == X[9, 2:4].tobytes()
    assert second.hits[0].new == (2 * X)[9, 2:4].tobytes()
    if schedule != "program":
        assert first.part == 1  # partitions 8 to 15 belong to the second queue
    assert d.continue_().kind == "end"


@pytest.mark.parametrize(("place", "hits"), [
    ("sbuf:4:8", 1), ("sbuf:4:8+4", 1), ("sbuf:4:7+1", 0), ("sbuf:4:6+4", 1),
    ("sbuf:4:16+4", 0), ("sbuf:4:15", 1), ("sbuf:5:8+4", 0), ("sbuf:3:0+64", 0),
    ("0/sbuf:4:8", 1), ("psum:4:8", 0),
])
def test_a_watch_is_of_the_bytes_that_are_written_and_no_others(place, hits):
    """The instruction writes bytes 8 to 15 of partition 4."""
    k = Kit()
    t = k.b.sbuf((8, 8), "float32", address=(0, 0))
    u = k.b.sbuf((8, 8), "float32", address=(0, 4096))
    k.b.dma_copy(dst=u, src=k.input(np.ones((8, 8), np.float32)))
    k.b.dma_copy(dst=t[4:5, 2:4], src=u[4:5, 2:4])
    d = trnemu.debug(k.build(u), k.inputs, schedule="program")
    d.watch(place)
    stops = []
    while (stop := d.continue_()).kind == "watch":
        stops.append(stop)
    assert len(stops) == hits


def test_a_write_of_the_same_bytes_counts():
    k = Kit()
    t = k.filled((2, 2), 1.0)
    k.b.memset(dst=t, value=1.0)
    d = trnemu.debug(k.build(t), {})
    d.watch(t)
    first, second = d.continue_().hits[0], d.continue_().hits[0]
    assert second.old == second.new == first.new


def test_hbm_and_scattered_rows_can_be_watched():
    k = Kit()
    t = k.load(np.arange(128 * 4, dtype=np.float32).reshape(128, 4))
    index = k.load(np.arange(127, -1, -1, dtype=np.int32)[:, None])
    y = k.b.output("y", (128, 4), "float32")
    k.b.dma_copy(dst=y.vector_select(0, index), src=t)
    d = trnemu.debug(k.b.build(), k.inputs)
    d.watch("y[0]")
    stop = d.continue_()
    assert stop.kind == "watch"  # row 127 of t goes to row 0
    assert np.frombuffer(stop.hits[0].new, np.float32).tolist() == [
        508, 509, 510, 511]
    assert d.continue_().kind == "end"


def test_a_register_store_and_a_matmul_are_watched():
    k = Kit()
    n = k.b.sbuf((1, 1), "int32", name="n")
    r = k.b.register_alloc(41)
    k.b.register_store(n, r)
    a = k.load(np.ones((4, 4), np.float32))
    p = k.empty((4, 4), "float32", "psum")
    k.b.nc_matmul(dst=p, stationary=a, moving=a)
    out = k.empty((4, 4))
    k.b.tensor_copy(dst=out, src=p)
    d = trnemu.debug(k.build(out, n), k.inputs)
    d.watch(n)
    d.watch(p[0:1, 0:1])
    found = {}
    while (stop := d.continue_()).kind == "watch":
        found[stop.operation] = stop.hits[-1].new
    assert found["register_store"] == (41).to_bytes(4, "little")
    assert np.frombuffer(found["nc_matmul"], np.float32) == [4]


@pytest.mark.parametrize(("place", "text"), [
    ("sbuf:128:0", "partitions 0 to 127"), ("sbuf:0:0+0", "is not there"),
    ("1/sbuf:0:0", "cores 0 to 0"), ("sbuf:0", "is no place"),
    ("sbuf:0:999999", "bytes 0 to"), ("sbuf:0:x", "is no place"),
])
def test_a_watch_of_what_is_not_there_is_refused(place, text):
    with pytest.raises(trnemu.InputFault, match=text):
        started().watch(place)


def test_the_last_byte_of_a_partition_can_be_watched():
    """224 KiB a partition on trn2 (isa/hardware/trn2.textproto, documented)."""
    d = started()
    d.watch("sbuf:127:229375")
    with pytest.raises(trnemu.InputFault):
        d.watch("sbuf:127:229376")
    with pytest.raises(trnemu.InputFault):
        d.watch("sbuf:127:229375+2")


# ---- the command ----


def test_break_prints_the_state_and_goes_on(case):
    result = case.run("--break", 3, "--dump", "t[0:2, 0:3]",
                      "--dump", "u", "--expect", f"y={case.path('want')}")
    assert result.returncode == SUCCESS, result.stderr
    assert "break before instruction 3, tensor_scalar" in result.stdout
    assert "loaded=32" in result.stdout
    assert f"{case.x[1, 2]:.6g}" in result.stdout
    assert "--" in result.stdout  # u has yet to be written


def test_break_and_watch_in_json(case):
    report = json.loads(case.run("--json", "--break", "tensor_scalar", "--dump",
                                 "u[0]", "--watch", "u[1, 1]").stdout)
    broke, watched = report["debug"]
    assert (broke["kind"], broke["instruction"]) == ("break", 3)
    assert broke["dumps"][0]["values"] == [None] * 8
    assert {e["engine"] for e in broke["engines"]} == {"sync", "vector"}
    assert watched["kind"] == "watch" and watched["source"].startswith("k.py:7")
    assert watched["new"] == np.float32(2 * case.x[1, 1]).tobytes().hex()
    assert report["ok"]


def test_stop_ends_the_run_without_outputs(case):
    out = case.directory / "out"
    result = case.run("--break", 3, "--stop", "--output-dir", out)
    assert result.returncode == FAULT
    assert "debug.stopped" in result.stderr
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize(("options", "text"), [
    (("--dump", "t"), "--break"), (("--stop",), "--stop"),
    (("--break", 99), "no instruction 99"), (("--watch", "q"), "no tensor q"),
    (("--break", 3, "--dump", "t[9]"), "t[9]"),
    (("--break", 3, "--values", "off"), "--values"),
])
def test_options_that_mean_nothing_are_refused(case, options, text):
    refuses(case.run(*options), USAGE, text)


# ---- logs ----


def logs(case, *second):
    a, b = case.directory / "a.log", case.directory / "b.log"
    assert case.run("--log", a).returncode == SUCCESS
    assert case.run("--log", b, *second).returncode == SUCCESS
    return a, b


@pytest.mark.parametrize("schedule", ["program", *range(1, 9)])
def test_logs_of_two_orders_are_equal(case, schedule):
    a, b = logs(case, "--schedule", schedule)
    result = command("diff", a, b)
    assert result.returncode == SUCCESS, result.stdout
    assert "6 instructions with the same effects" in result.stdout


def test_the_first_instruction_with_another_effect_is_named(case):
    a, b = case.directory / "a.log", case.directory / "b.log"
    case.run("--log", a)
    changed = case.x.copy()
    changed[2, 5] += 1
    case.save("x", changed)
    case.run("--log", b, "--schedule", 3)
    result = command("diff", a, b)
    assert result.returncode == FAULT
    assert "instruction 0 of core 0, at k.py:7 in k" in result.stdout
    assert "3 instructions differ" in result.stdout  # load, product, store
    report = json.loads(command("diff", "--json", a, b).stdout)
    assert (report["instruction"], report["instructions_that_differ"]) == (0, 3)
    assert report["a"]["effect"] != report["b"]["effect"]
    assert report["a"]["source"] == "k.py:7 in k"


def test_times_do_not_count(case):
    a, b = case.directory / "a.log", case.directory / "b.log"
    case.run("--log", a)
    b.write_text(a.read_text().replace(" to ", " to 1"))
    result = command("diff", a, b)
    assert result.returncode == SUCCESS
    assert "at other times" in result.stdout


def test_an_instruction_that_is_missing_is_named(case):
    a, b = logs(case)
    lines = a.read_text().splitlines()
    b.write_text("\n".join(lines[:-1]) + "\n")
    for pair in ((a, b), (b, a)):
        result = command("diff", *pair)
        assert result.returncode == FAULT
        assert "it is not in this log" in result.stdout


def test_the_log_says_where_an_instruction_wrote(case):
    a, _ = logs(case)
    (line,) = [x for x in a.read_text().splitlines() if " #3 " in x]
    # u is at byte 192 of partitions 0 to 3, 8 floats.
    assert " at sbuf 0:4 [192, 224)" in line and line.endswith("; k.py:7 in k")


def test_rounds_of_a_loop_are_told_apart(tmp_path):
    k = Kit()
    t = k.load(np.zeros((1, 1), np.float32))
    with k.b.fori_loop(0, 4):
        k.b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    k.build(t).save(str(tmp_path / "k.trn"))
    np.save(tmp_path / "zero.npy", np.zeros((1, 1), np.float32))
    np.save(tmp_path / "one.npy", np.ones((1, 1), np.float32))
    paths = []
    for name, schedule in (("zero", "timed"), ("zero", 5), ("one", 5)):
        paths.append(tmp_path / f"{name}{schedule}.log")
        result = command("run", tmp_path / "k.trn", "--input",
                         f"in0={tmp_path / name}.npy", "--log", paths[-1],
                         "--schedule", schedule)
        assert result.returncode == SUCCESS, result.stderr
    assert command("diff", *paths[:2]).returncode == SUCCESS
    report = json.loads(command("diff", "--json", paths[0], paths[2]).stdout)
    # The load, four additions, the store.
    assert report["instructions_that_differ"] == 6
    assert "; set r" in paths[0].read_text()
