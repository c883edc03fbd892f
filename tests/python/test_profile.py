"""trnemu profile, trnemu compare-profile and trnemu.profile.

Figures that a profile must have whatever the time model says are in
tests/core/profile_test.cc, from a timeline made by hand. Here: what real runs
record is consistent, the exports agree with each other, and each recommendation
is given for a kernel made for it and not for its repaired version.
"""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, MALFORMED, SUCCESS, USAGE
from cli_kit import trnemu as command
from json_schema import validate


def made(body, target="trn2", cores=1, **options):
    """The program that body(builder) adds to."""
    b = trnemu.ProgramBuilder(target=target, name="k", cores=cores, **options)
    body(b)
    return b.build()


def in_and_out(b, shape=(128, 512), dtype="float32"):
    x, y = b.input("x", shape, dtype), b.output("y", shape, dtype)
    t = b.sbuf(shape, dtype)
    b.dma_copy(dst=t, src=x)
    return t, y


def simple(b):
    t, y = in_and_out(b)
    u = b.sbuf((128, 512), "float32")
    b.tensor_tensor(dst=u, data1=t, data2=t, op="add")
    b.activation(dst=u, op="exp", data=u)
    b.dma_copy(dst=y, src=u)


def looped(b):
    t, y = in_and_out(b)
    with b.fori_loop(0, 5, 1):
        b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=1.5)
        b.activation(dst=t, op="tanh", data=t)
    b.dma_copy(dst=y, src=t)


def two_cores(b):
    x = b.input("x", (2, 128, 64), "float32")
    y = b.output("y", (2, 128, 64), "float32")
    for core in range(2):
        with b.core(core):
            t, u = b.sbuf((128, 64), "float32"), b.sbuf((128, 64), "float32")
            b.dma_copy(dst=t, src=x[core])
            b.sendrecv(src=t, dst=u, send_to_rank=1 - core,
                       recv_from_rank=1 - core, pipe_id=0)
            b.tensor_tensor(dst=u, data1=t, data2=u, op="add")
            b.dma_copy(dst=y[core], src=u)


def multiplied(b, dtype="float32", k=4):
    x, w = b.input("x", (k * 128, 128), dtype), b.input("w", (k * 128, 512),
                                                        dtype)
    y = b.output("y", (128, 512), "float32")
    p = b.psum((128, 512), "float32")
    for i in range(k):
        s, m = b.sbuf((128, 128), dtype), b.sbuf((128, 512), dtype)
        b.dma_copy(dst=s, src=x[i * 128:(i + 1) * 128])
        b.dma_copy(dst=m, src=w[i * 128:(i + 1) * 128])
        b.nc_matmul(dst=p, stationary=s, moving=m)
    o = b.sbuf((128, 512), "float32")
    b.tensor_copy(dst=o, src=p)
    b.dma_copy(dst=y, src=o)


PROGRAMS = {
    "simple": lambda: made(simple),
    "loop": lambda: made(looped),
    "cores": lambda: made(two_cores, cores=2),
    "matmul": lambda: made(multiplied),
    "trn1": lambda: made(simple, target="trn1"),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def profile(request):
    return trnemu.profile(PROGRAMS[request.param]())


def test_rows_are_in_order_and_within_the_time(profile):
    i = profile.instructions
    assert len(i["start"]) == profile.result.profile.instructions
    assert (i["ready"] <= i["start"]).all()
    assert (i["start"] <= i["issue_end"]).all()
    assert (i["start"] <= i["end"]).all()
    assert i["end"].max() <= profile.time_ns
    for core in set(i["core"]):
        for engine in set(i["engine"]):
            mine = (i["core"] == core) & (i["engine"] == engine)
            assert (np.diff(i["start"][mine]) >= 0).all()
    d = profile.dma
    times = np.stack([d[name] for name in (
        "trigger", "payload_from", "start", "free", "end", "notify")])
    assert (np.diff(times, axis=0) >= 0).all()
    assert d["notify"].max() <= profile.time_ns


def test_an_instruction_that_waited_starts_after_its_producer(profile):
    i, d = profile.instructions, profile.dma
    held = np.flatnonzero((i["start"] > i["ready"]) & (i["producer"] >= 0))
    assert held.size
    for row in held:
        part = i["producer_dma"][row]
        done = d["notify"][part] if part >= 0 else i["end"][i["producer"][row]]
        assert done <= i["start"][row]
        # The hand-off is all that lies between.
        assert i["start"][row] - done < 200


def test_the_critical_path_joins_up_and_is_the_whole_time(profile):
    path = profile.critical_path
    assert path[0]["from"] == 0
    assert path[-1]["to"] == pytest.approx(profile.time_ns, abs=1e-6)
    for before, after in zip(path, path[1:]):
        assert before["to"] == after["from"]
        assert before["from"] < before["to"]
    total = sum(c["total_ns"] for c in profile.data["critical_summary"])
    assert total == pytest.approx(profile.time_ns)


def test_idle_times_lie_between_instructions_of_their_engine(profile):
    i = profile.instructions
    for stall in profile.data["stalls"]:
        assert stall["from"] < stall["to"] <= i["start"][stall["row"]] + 1e-6
        assert i["engine"][stall["row"]] == stall["engine"]
        mine = ((i["engine"] == stall["engine"])
                & (i["core"] == stall["core"]))
        busy = (i["start"][mine] < stall["to"] - 1e-6) & (
            i["issue_end"][mine] > stall["from"] + 1e-6)
        assert not busy.any()


def test_totals_are_those_of_the_run(profile):
    run, s = profile.result.profile, profile.summary
    assert s["total_time"] == pytest.approx(profile.time_ns * 1e-9)
    assert s["hbm_read_bytes"] == run.hbm_read_bytes
    assert s["hbm_write_bytes"] == run.hbm_write_bytes
    assert s["dma_transfer_total_bytes"] == run.dma_bytes
    for engine in ("tensor", "vector", "scalar", "gpsimd", "sync"):
        mine = [e for e in profile.data["engines"] if e["engine"] == engine]
        assert sum(e["instructions"] for e in mine) == (
            run.engines[engine].instructions)
        assert sum(e["busy_ns"] for e in mine) == pytest.approx(
            run.engines[engine].busy_ns)
        assert sum(e["waiting_ns"] for e in mine) == pytest.approx(
            run.engines[engine].waiting_ns)
    assert 0 <= s["hfu_estimated_percent"] <= 1


def test_arrows_join_slices_of_who_signalled_and_who_waited(profile, tmp_path):
    profile.save_trace(str(tmp_path / "t.json"))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    slices = {}
    for e in events:
        assert set(e) >= {"ph", "pid", "tid", "name"}
        if e["ph"] == "X":
            assert e["dur"] >= 0
            slices.setdefault((e["pid"], e["tid"]), []).append(e)
    # Slices of a track do not overlap.
    for track in slices.values():
        track.sort(key=lambda e: (e["ts"], e["ts"] + e["dur"]))
        for before, after in zip(track, track[1:]):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-6

    def at(e):
        found = [s for s in slices[e["pid"], e["tid"]]
                 if s["ts"] == e["ts"] and s["cat"] != "wait"]
        return found[-1]["args"]

    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys()
    i = profile.instructions
    joined = 0
    for flow, start in starts.items():
        source, target = at(start), at(ends[flow])
        if start["name"] == "trigger":
            assert profile.dma["instruction"][target["part"]] == source["row"]
            continue
        row = target["row"]
        joined += 1
        if "part" in source:
            assert i["producer_dma"][row] == source["part"]
        else:
            assert i["producer"][row] == source["row"]
    assert joined == np.count_nonzero(i["producer"] >= 0)


def test_tables_have_a_header_and_a_row_each(profile, tmp_path):
    profile.save_csv(str(tmp_path))
    tables = {p.stem: list(csv.DictReader(p.open(newline="")))
              for p in tmp_path.iterdir()}
    assert set(tables) == {
        "Instruction", "DmaPacketAggregated", "SemaphoreUpdate", "Summary",
        "OpcodeSummary", "ActiveTime", "HbmUsage", "SbufUsage", "PsumUsage",
        "SbufAllocation", "Flow", "Metadata"}
    i = profile.instructions
    rows = tables["Instruction"]
    assert len(rows) == len(i["start"])
    for row, start, end, engine in zip(rows, i["start"], i["end"],
                                       i["engine"]):
        assert abs(int(row["start_ts"]) - start) <= 0.5
        assert int(row["end_ts"]) >= math.floor(end)
        assert int(row["duration_ns"]) == (
            int(row["end_ts"]) - int(row["start_ts"]))
        assert row["engine"].lower() == engine
    assert len(tables["DmaPacketAggregated"]) == len(profile.dma["start"])
    assert len(tables["SemaphoreUpdate"]) == len(profile.semaphores["time"])
    (summary,) = tables["Summary"]
    for name, value in profile.summary.items():
        assert float(summary[name]) == value
    counts = sum(int(r["instruction_count"]) for r in tables["OpcodeSummary"])
    assert counts == len(rows)


def test_each_iteration_of_a_loop_has_records_of_its_own():
    i = trnemu.profile(PROGRAMS["loop"]()).instructions
    assert np.count_nonzero(i["operation"] == "tensor_scalar") == 5
    assert np.count_nonzero(i["operation"] == "activation") == 5


def test_values_do_not_change_what_is_recorded():
    program = PROGRAMS["matmul"]()
    rng = np.random.default_rng(1)
    inputs = {"x": rng.random((512, 128), np.float32),
              "w": rng.random((512, 512), np.float32)}
    with_values = trnemu.profile(program, inputs)
    assert with_values.result.outputs["y"].shape == (128, 512)
    assert with_values.data == trnemu.profile(program).data
    # Nor does a profile change the run.
    assert with_values.time_ns == trnemu.run(program, inputs).time_ns


def test_flops_of_a_matmul_are_2kmn():
    fp32 = trnemu.profile(PROGRAMS["matmul"]()).summary
    flops = 2 * 512 * 128 * 512
    assert fp32["model_flops"] == flops
    assert fp32["adjusted_hardware_flops"] == 4 * flops
    bf16 = trnemu.profile(made(lambda b: multiplied(b, "bfloat16"))).summary
    assert bf16["model_flops"] == bf16["adjusted_hardware_flops"] == flops
    # 2 x 128 x 128 x 2.4 GHz
    assert bf16["mfu_estimated_percent"] == pytest.approx(
        flops / (78643.2 * bf16["total_time"] * 1e9))
    # bf16: half the bytes of the inputs
    assert bf16["mm_arithmetic_intensity"] == pytest.approx(
        flops / (512 * 128 * 2 + 512 * 512 * 2 + 128 * 512 * 4))


def test_a_kernel_of_nki_has_a_profile():
    import trnemu.nki as nki
    import trnemu.nki.isa as nisa
    import trnemu.nki.language as nl

    @nki.jit
    def double(x):
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x)
        nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add)
        nisa.dma_copy(dst=y, src=t)
        return y

    array = np.ones((128, 64), np.float32)
    with_values = double.profile(array)
    operations = list(with_values.instructions["operation"])
    assert sorted(operations) == ["dma_copy", "dma_copy", "tensor_tensor"]
    assert "test_profile.py" in with_values.instructions["source"][0]
    without = double.profile(nki.TensorSpec((128, 64), "float32"))
    assert without.time_ns == with_values.time_ns
    double(array)
    assert with_values.time_ns == double.result.time_ns


def test_too_many_records_are_a_fault():
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.profile(PROGRAMS["loop"](), max_records=10)
    assert fault.value.id == "limit.profile_records"
    assert fault.value.category == "limit"


def test_options_are_those_of_run_without_the_schedule():
    program = PROGRAMS["simple"]()
    with pytest.raises(TypeError, match="no option 'schedule'"):
        trnemu.profile(program, schedule="program")
    with pytest.raises(TypeError, match="needs inputs"):
        trnemu.profile(program, values=True)
    assert trnemu.profile(program, target="trn3").result.target == "trn3"


# Recommendations: a kernel, and its repaired version.


def rows_of(length):
    """Loads 8192 elements a partition in rows of `length`."""
    def body(b):
        x = b.input("x", (8192 // length, 128, length), "float32")
        y = b.output("y", (128, 8192), "float32")
        t = b.sbuf((128, 8192), "float32")
        for i in range(8192 // length):
            b.dma_copy(dst=t[:, i * length:(i + 1) * length], src=x[i])
        b.dma_copy(dst=y, src=t)
    return body


def activations(order):
    def body(b):
        t, y = in_and_out(b)
        for op in order:
            b.activation(dst=t, op=op, data=t)
        b.dma_copy(dst=y, src=t)
    return body


def buffered(buffers):
    def body(b):
        x = b.input("x", (8, 128, 2048), "float32")
        y = b.output("y", (8, 128, 2048), "float32")
        tiles = [b.sbuf((128, 2048), "float32") for _ in range(buffers)]
        outs = [b.sbuf((128, 2048), "float32") for _ in range(2)]
        for i in range(8):
            t, u = tiles[i % buffers], outs[i % 2]
            b.dma_copy(dst=t, src=x[i])
            b.tensor_tensor(dst=u, data1=t, data2=t, op="add")
            # Stores from another engine: loads need not wait for them.
            b.dma_copy(dst=y[i], src=u, trigger="scalar")
    return body


def evacuated(banks):
    def body(b):
        t, y = in_and_out(b, dtype="bfloat16")
        w = b.sbuf((128, 128), "bfloat16")
        b.memset(dst=w, value=1.0)
        tiles = [b.psum((128, 512), "float32") for _ in range(banks)]
        for i in range(16):
            for _ in range(2):
                b.nc_matmul(dst=tiles[i % banks], stationary=w, moving=t,
                            accumulate=False)
            b.tensor_copy(dst=t if i == 15 else b.sbuf((128, 512), "bfloat16"),
                          src=tiles[i % banks])
        b.dma_copy(dst=y, src=t)
    return body


def partitions(count):
    def body(b):
        shape = (count, 65536 // count)
        x = b.input("x", shape, "float32")
        y = b.output("y", shape, "float32")
        t = b.sbuf(shape, "float32")
        b.dma_copy(dst=t, src=x)
        for _ in range(8):
            b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=1.5)
        b.dma_copy(dst=y, src=t)
    return body


def copies(engines):
    def body(b):
        t, y = in_and_out(b, (128, 2048))
        tiles = [b.sbuf((128, 2048), "float32") for _ in engines]
        for u, engine in zip(tiles, engines):
            b.tensor_copy(dst=u, src=t, engine=engine)
        b.dma_copy(dst=y, src=tiles[-1])
    return body


def bursts(gap):
    """Matmuls in groups of ten, between which the vector engine fills the
    stationary tile for longer than the window; or without a pause."""
    def body(b):
        t, y = in_and_out(b, dtype="bfloat16")
        w = b.sbuf((128, 8192), "float32")
        p = b.psum((128, 512), "float32")
        b.memset(dst=w, value=1.0)
        stationary = w.view("bfloat16")[:, :128]
        for i in range(60 if gap else 600):
            if gap and i % 10 == 0:
                b.memset(dst=w, value=1.0)
            b.nc_matmul(dst=p, stationary=stationary, moving=t,
                        accumulate=False)
        b.tensor_copy(dst=t, src=p)
        b.dma_copy(dst=y, src=t)
    return body


RULES = {
    "small_descriptors": (rows_of(64), rows_of(1024)),
    "table_reloads": (activations(["exp", "sin"] * 3),
                      activations(["exp"] * 3 + ["sin"] * 3)),
    "no_overlap": (buffered(1), buffered(8)),
    "psum_evacuation": (evacuated(1), evacuated(4)),
    "fp32_matmul": (lambda b: multiplied(b, k=8),
                    lambda b: multiplied(b, "bfloat16", k=8)),
    "few_partitions": (partitions(16), partitions(128)),
    "engine_imbalance": (copies(["vector"] * 8),
                         copies(["vector", "scalar", "vector", "gpsimd"] * 2)),
    "throttled": (bursts(True), bursts(False)),
}


def advice(body):
    return {r.id: r for r in trnemu.profile(made(body)).recommendations}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_speaks_where_it_should_and_not_once_repaired(rule):
    bad, good = RULES[rule]
    given = advice(bad)
    assert rule in given
    one = given[rule]
    assert one.title and one.text and one.evidence
    profile = trnemu.profile(made(bad))
    assert 0.03 * profile.time_ns <= one.saves_ns <= profile.time_ns
    assert rule not in advice(good)


def test_at_most_four_recommendations_best_first():
    for bad, _ in RULES.values():
        saves = [r.saves_ns for r in trnemu.profile(made(bad)).recommendations]
        assert len(saves) <= 4
        assert saves == sorted(saves, reverse=True)


# The command.


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "k.trn"
    PROGRAMS["simple"]().save(str(file))
    return file


def test_the_summary_has_engines_causes_path_and_advice(program):
    result = command("profile", program, "--values", "off")
    assert result.returncode == SUCCESS, result.stderr
    for line in ("target     trn2", "time       ", "vector: dma load",
                 "critical path", "hand-off", "operation"):
        assert line in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_files_are_written_where_asked(program, tmp_path):
    files = {name: tmp_path / name for name in ("p.json", "t.json", "tables")}
    result = command(
        "profile", program, "--values", "off", f"--json={files['p.json']}",
        "--trace", files["t.json"], "--csv", files["tables"])
    assert result.returncode == SUCCESS, result.stderr
    data = json.loads(files["p.json"].read_text())
    assert (data["format"], data["version"]) == ("trnemu-profile", 1)
    for table in ("instructions", "dma", "semaphores"):
        assert len({len(c) for c in data[table].values()}) == 1
    assert json.loads(files["t.json"].read_text())["traceEvents"]
    assert (files["tables"] / "Instruction.csv").exists()


def test_json_without_a_file_is_printed_as_the_schema_says(program):
    result = command("profile", program, "--values", "off", "--json")
    report = json.loads(result.stdout)
    validate(report)
    assert report["schema"] == "trnemu.profile"
    assert report["ok"] is True


def test_inputs_are_needed_unless_values_are_off(program, tmp_path):
    assert command("profile", program).returncode == USAGE
    np.save(tmp_path / "x.npy", np.ones((128, 512), np.float32))
    result = command("profile", program, "--input", f"x={tmp_path / 'x.npy'}")
    assert result.returncode == SUCCESS, result.stderr


def test_exit_codes(program, tmp_path):
    off = (program, "--values", "off")
    assert command("profile", *off, "--max-records", "3").returncode == FAULT
    assert command("profile", tmp_path / "none.trn").returncode == USAGE
    assert command("profile", *off, "--csv", "/dev/null/x").returncode == USAGE
    (tmp_path / "bad.trn").write_bytes(b"none")
    assert command("profile", tmp_path / "bad.trn").returncode == MALFORMED


def test_run_writes_the_same_trace(program, tmp_path):
    files = tmp_path / "run.json", tmp_path / "profile.json"
    for verb, file in zip(("run", "profile"), files):
        result = command(verb, program, "--values", "off", "--trace", file)
        assert result.returncode == SUCCESS, result.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    for more in ("--time", "off"), ("--schedule", "3"), ("--explore", "2"):
        result = command("run", program, "--trace", files[0], *more)
        assert result.returncode == USAGE


HEAD = "engine,opcode,start_ts,duration_ns\n"


def test_a_profile_beside_itself_has_no_error(program, tmp_path):
    command("profile", program, "--values", "off", "--csv", tmp_path / "o")
    rows = tmp_path / "rows.csv"
    result = command("compare-profile", tmp_path / "o",
                     tmp_path / "o" / "Instruction.csv", "--max-error", "0",
                     "--csv", rows)
    assert result.returncode == SUCCESS, result.stderr
    assert "only ours" not in result.stdout
    assert len(list(csv.DictReader(rows.open()))) == 4
    assert {r["error"] for r in csv.DictReader(rows.open())} == {"0"}


def test_a_measurement_made_by_hand(tmp_path):
    (tmp_path / "ours.csv").write_text(
        HEAD + "Vector,ADD,0,110\nVector,ADD,200,90\nScalar,ACTIVATE,0,50\n")
    (tmp_path / "theirs.csv").write_text(
        HEAD + "DVE,ADD,5,100\nDVE,ADD,205,100\nPE,MATMUL,0,9\n")
    arguments = ("compare-profile", tmp_path / "ours.csv",
                 tmp_path / "theirs.csv")
    result = command(*arguments)
    assert result.returncode == SUCCESS
    assert "matched    2 of our 3 instructions and of their 3" in result.stdout
    assert "only ours    scalar ACTIVATE: 1 of 1" in result.stdout
    assert "only theirs  tensor MATMUL: 1 of 1" in result.stdout
    report = json.loads(command(*arguments, "--json").stdout)
    validate(report)
    assert report["median_error"] == pytest.approx(0.1)
    assert report["mean_error"] == pytest.approx(0)
    assert command(*arguments, "--max-error", "9").returncode == FAULT
    assert command(*arguments, "--max-error", "11").returncode == SUCCESS


def test_what_compare_profile_cannot_compare(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + "Vector,ADD,0,110\n")
    (tmp_path / "b.csv").write_text(HEAD + "Vector,SUB,0,110\n")
    (tmp_path / "c.csv").write_text("engine,opcode\n")
    a, b, c = (tmp_path / f"{n}.csv" for n in "abc")
    assert command("compare-profile", a, b).returncode == FAULT
    assert command("compare-profile", a, b, "--rename",
                   "SUB=ADD").returncode == SUCCESS
    assert command("compare-profile", a, c).returncode == MALFORMED
    assert command("compare-profile", a, tmp_path / "no").returncode == USAGE
    assert command("compare-profile", a, b, "--rename", "x").returncode == USAGE


def compared(tmp_path, theirs, *options):
    (tmp_path / "ours.csv").write_text(
        HEAD + "Vector,ADD,0,110\nVector,ADD,200,90\n")
    (tmp_path / "theirs.csv").write_text(theirs)
    return command("compare-profile", tmp_path / "ours.csv",
                   tmp_path / "theirs.csv", *options)


@pytest.mark.parametrize(("rows", "words"), [
    ("Vector,ADD,0,-5\nVector,ADD,9,1\n", "line 2: duration_ns is negative"),
    ("Vector,ADD,0,1\nVector,ADD,9\n", "line 3 has 3 fields, the header 4"),
    ("Vector,ADD,0,1\nVector,ADD,9,1,7\n", "line 3 has 5 fields"),
])
def test_a_table_that_is_cut_off_or_runs_backwards_is_refused(rows, words,
                                                              tmp_path):
    done = compared(tmp_path, HEAD + rows, "--max-error", "50")
    assert done.returncode == MALFORMED
    assert words in done.stderr


def test_an_end_before_its_start_is_refused(tmp_path):
    done = compared(tmp_path, "engine,opcode,start_ts,end_ts\nVector,ADD,9,8\n")
    assert done.returncode == MALFORMED
    assert "end_ts is before start_ts" in done.stderr


def test_durations_of_zero_are_counted_and_satisfy_no_bound(tmp_path):
    both = HEAD + "Vector,ADD,0,0\nVector,ADD,200,0\n"
    done = compared(tmp_path, both)
    assert done.returncode == SUCCESS
    assert "2 of them have a duration of 0 in theirs" in done.stdout
    done = compared(tmp_path, both, "--max-error", "10")
    assert done.returncode == FAULT
    assert "nothing that matches has a duration" in done.stderr
    one = HEAD + "Vector,ADD,0,0\nVector,ADD,200,100\n"
    report = json.loads(compared(tmp_path, one, "--json").stdout)
    validate(report)
    assert report["without_duration"] == 1
    assert report["median_error"] == pytest.approx(0.1)


def test_a_rename_takes_any_case_and_must_be_of_an_opcode_there(tmp_path):
    theirs = HEAD + "Vector,Sum,0,110\n"
    assert compared(tmp_path, theirs, "--rename",
                    "sUm=add").returncode == SUCCESS
    done = compared(tmp_path, theirs, "--rename", "SUN=ADD")
    assert done.returncode == USAGE
    assert "no opcode SUN; did you mean SUM?" in done.stderr


@pytest.mark.parametrize("bound", ["nan", "-1", "x"])
def test_a_bound_of_the_error_is_a_number_from_0(bound, tmp_path):
    done = compared(tmp_path, HEAD + "Vector,ADD,0,110\n", "--max-error", bound)
    assert done.returncode == USAGE


def test_what_waits_for_the_launch_is_the_launch():
    profile = trnemu.profile(made(simple), launch_overhead=True)
    path = profile.critical_path
    assert path[0]["cause"] == "launch overhead"
    assert path[0]["to"] - path[0]["from"] == pytest.approx(9400)
    assert profile.summary["critical_path_launch_overhead_percent"] == (
        pytest.approx(9400 / profile.time_ns))
    assert not any(p["cause"] == "launch overhead"
                   for p in trnemu.profile(made(simple)).critical_path)


def test_a_negative_number_of_records_is_none():
    with pytest.raises(ValueError, match="max_records must not be negative"):
        trnemu.profile(made(simple), max_records=-1)


def test_counters_end_at_nothing():
    profile = trnemu.profile(made(multiplied))
    counters = profile.data["counters"]
    series = [counters["hbm_bandwidth"], *counters["sbuf_bytes"],
              *counters["psum_bytes"]] if isinstance(
                  counters["sbuf_bytes"], list) else [counters["hbm_bandwidth"]]
    assert all(s["v"][-1] == 0 for s in series)


def test_products_without_hbm_have_no_intensity(tmp_path):
    def body(b):
        w, x = b.sbuf((128, 128), "bfloat16"), b.sbuf((128, 512), "bfloat16")
        y = b.psum((128, 512), "float32")
        for t in (w, x):
            b.memset(dst=t, value=1.0)
        b.nc_matmul(dst=y, stationary=w, moving=x)
    profile = trnemu.profile(made(body))
    assert "mm_arithmetic_intensity" not in profile.summary
    assert profile.summary["mfu_max_achievable_estimated_percent"] == 1
    assert profile.data["roofline"]["intensity"] is None
    assert "no HBM traffic, so that memory sets no bound" in str(profile)


def tiled(early):
    """A matmul in four tiles, every tile in a buffer of its own; sync triggers
    all transfers. early: the next tile's loads come before the store."""
    def body(b):
        a = b.input("a", (512, 128), "bfloat16")
        w = b.input("w", (512, 2048), "bfloat16")
        y = b.output("y", (128, 2048), "float32")

        def load(n):
            tiles = []
            for k in range(0, 512, 128):
                ta = b.sbuf((128, 128), "bfloat16")
                tw = b.sbuf((128, 512), "bfloat16")
                b.dma_copy(dst=ta, src=a[k:k + 128])
                b.dma_copy(dst=tw, src=w[k:k + 128, n:n + 512])
                tiles.append((ta, tw))
            return tiles
        columns = list(range(0, 2048, 512))
        current = load(columns[0])
        for i, n in enumerate(columns):
            more = i + 1 < len(columns)
            if early and more:
                following = load(columns[i + 1])
            s, o = b.psum((128, 512), "float32"), b.sbuf((128, 512), "float32")
            for ta, tw in current:
                b.nc_matmul(dst=s, stationary=ta, moving=tw)
            b.activation(dst=o, op="gelu", data=s)
            b.dma_copy(dst=y[:, n:n + 512], src=o)
            if more:
                current = following if early else load(columns[i + 1])
    return body


def test_loads_behind_a_store_are_told_from_a_lack_of_buffers():
    late = trnemu.profile(made(tiled(early=False)))
    early = trnemu.profile(made(tiled(early=True)))
    given = {r.id: r for r in late.recommendations}
    assert "no_overlap" not in given
    assert "trigger=" in given["loads_behind_stores"].text
    # What is said to be the most that can be saved is at least what is saved.
    assert (given["loads_behind_stores"].saves_ns
            >= late.time_ns - early.time_ns > 0.1 * late.time_ns)
    assert "loads_behind_stores" not in {r.id for r in early.recommendations}


def test_loops_alone_leave_nothing_to_share():
    def body(b):
        t = b.sbuf((128, 8), "float32")
        b.memset(dst=t, value=0.0)
        with b.fori_loop(0, 100):
            b.activation(dst=t, op="square", data=t)
    profile = trnemu.profile(made(body))
    assert "engine_imbalance" not in {r.id for r in profile.recommendations}
