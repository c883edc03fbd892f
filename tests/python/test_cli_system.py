"""trnemu run, profile and verify on the ranks of a system."""

import collections
import json

import numpy as np
import pytest

import trnemu as package
from cli_kit import FAULT, SUCCESS, USAGE, refuses, trnemu
from json_schema import validate

RANKS = 8
SHAPE = (128, 64)


def made(groups=(tuple(range(RANKS)),), name="k", streams=1):
    """y = the sum of x over the ranks of a group; z = exp(y) by way of SBUF."""
    b = package.ProgramBuilder(name=name)
    x = b.input("x", SHAPE, "float32")
    t = b.sbuf(SHAPE, "float32")
    for s in range(streams):
        y = b.output(f"y{s or ''}", SHAPE, "float32")
        b.all_reduce(srcs=[x], dsts=[y], replica_group=[list(g) for g in groups],
                     op="add", stream=s)
    z = b.output("z", SHAPE, "float32")
    b.dma_copy(dst=t, src=y)
    b.activation(dst=t, op="exp", data=t)
    b.dma_copy(dst=z, src=t)
    return b.build()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made().save("k.trn")
    for r in range(RANKS):
        np.save(f"x{r}.npy", np.full(SHAPE, r, np.float32))
    return tmp_path


SYSTEM = ("--system", "trn2.48xlarge", "--ranks", RANKS)


def reported(verb, *arguments):
    result = trnemu(verb, *arguments, "--json")
    report = json.loads(result.stdout)
    validate(report)
    assert report["exit_code"] == result.returncode
    return report


def test_each_rank_has_its_inputs_and_its_outputs(place):
    result = trnemu("run", "k.trn", *SYSTEM, "--input", "x=x{rank}.npy",
                    "--output-dir", "out")
    assert result.returncode == SUCCESS, result.stderr
    for r in range(RANKS):
        y = np.load(f"out/rank{r}/y.npy")
        assert y.shape == SHAPE and (y == 28).all()  # 0 + 1 + ... + 7
    # The same for one rank instead of another: 7 more instead of 3.
    result = trnemu("run", "k.trn", *SYSTEM, "--input", "x=x{rank}.npy",
                    "3:x=x7.npy", "--output-dir", "other")
    assert result.returncode == SUCCESS, result.stderr
    assert (np.load("other/rank0/y.npy") == 32).all()
    # One file for all; the outputs of a run are inputs of the next.
    result = trnemu("run", "k.trn", *SYSTEM, "--input", "x=out/rank{rank}/y.npy",
                    "--output-dir", "next")
    assert result.returncode == SUCCESS, result.stderr
    assert (np.load("next/rank5/y.npy") == 28 * RANKS).all()


def test_alike_ranks_are_one_line_and_collectives_a_table(place):
    text = trnemu("run", "k.trn", *SYSTEM, "--input", "x=x0.npy").stdout
    lines = text.splitlines()
    assert lines[0] == "system        trn2.48xlarge: 8 ranks (lnc 2) on 2 chips"
    ranks = lines.index(next(x for x in lines if x.startswith("rank ")))
    assert lines[ranks + 1].startswith("0-7 ") and lines[ranks + 2] == ""
    assert lines[ranks + 4].split()[:6] == [
        "all_reduce", "mesh", "0-7", "0", "32768", "4"]
    assert "--output-dir DIR writes" in text


def test_json_has_every_rank_and_collective(place):
    report = reported("run", "k.trn", *SYSTEM, "--input", "x=x{rank}.npy",
                      "--output-dir", "out")
    assert [r["rank"] for r in report["ranks"]] == list(range(RANKS))
    assert report["time_ns"] == max(r["time_ns"] for r in report["ranks"])
    (collective,) = report["collectives"]
    assert collective["ranks"] == list(range(RANKS))
    assert collective["bytes"] == 128 * 64 * 4
    assert {o["file"] for o in report["outputs"]} == {
        f"out/rank{r}/{name}.npy" for r in range(RANKS) for name in "yz"}
    result = package.System("trn2.48xlarge", ranks=RANKS).run(
        made(), [{"x": np.full(SHAPE, r, np.float32)} for r in range(RANKS)])
    assert result.time_ns == report["time_ns"]


def test_threads_change_nothing(place):
    texts = {trnemu("run", "k.trn", *SYSTEM, "--input", "x=x{rank}.npy",
                    "--json", "--threads", t).stdout for t in (1, 2, 3)}
    assert len(texts) == 1
    for t in (1, 2):
        trnemu("profile", "k.trn", *SYSTEM, "--values", "off", "--threads", t,
               "--trace", f"t{t}.json")
    assert (place / "t1.json").read_bytes() == (place / "t2.json").read_bytes()


def test_expectations_are_of_each_rank(place):
    np.save("want.npy", np.full(SHAPE, 28, np.float32))
    np.save("wrong.npy", np.full(SHAPE, 29, np.float32))
    good = ("run", "k.trn", *SYSTEM, "--input", "x=x{rank}.npy", "--expect")
    report = reported(*good, "y=want.npy")
    assert report["ok"] and len(report["expect"]) == RANKS
    report = reported(*good, "y=want.npy", "5:y=wrong.npy")
    assert report["exit_code"] == FAULT
    assert [e["rank"] for e in report["expect"] if not e["ok"]] == [5]
    result = trnemu(*good, "y=want.npy", "5:y=wrong.npy")
    assert "rank 5" in result.stderr and "7 of 8 agree" in result.stdout


def test_ranks_may_have_programs_of_their_own(place):
    b = package.ProgramBuilder(name="send")
    x = b.input("x", (1024,), "float32")
    b.send(src=x, to_rank=1)
    b.build().save("a.trn")
    b = package.ProgramBuilder(name="receive")
    y = b.output("y", (1024,), "float32")
    b.recv(dst=y, from_rank=0)
    b.build().save("b.trn")
    np.save("x.npy", np.arange(1024, dtype=np.float32))
    result = trnemu("run", "a.trn", "b.trn", "--system", "trn2.48xlarge",
                    "--input", "0:x=x.npy", "--output-dir", "out")
    assert result.returncode == SUCCESS, result.stderr
    assert (np.load("out/rank1/y.npy") == np.arange(1024)).all()
    refuses(trnemu("run", "a.trn", "b.trn", "--system", "trn2.48xlarge",
                   "--ranks", 3), USAGE, "2 programs for 3 ranks")
    refuses(trnemu("run", "a.trn", "b.trn"), USAGE, "--system")
    # A rank that never comes is found, and named.
    refuses(trnemu("run", "a.trn", "a.trn", "--system", "trn2.48xlarge",
                   "--input", "x=x.npy"), FAULT, "error: ")


@pytest.mark.parametrize(("arguments", "text"), [
    (("--schedule", "3"), "--schedule is of runs of one rank"),
    (("--time", "off"), "--time off"), (("--log", "l"), "--log"),
    (("--explore", "2"), "--explore"), (("--envelope", "2"), "--envelope"),
    (("--stop-at-nan",), "--stop-at-nan"), (("--break", "2"), "--break"),
    (("--target", "trn1"), "--target"),
    (("--max-host-memory", "1GB"), "--max-host-memory"),
    (("--wait-graph", "w.dot"), "--wait-graph"),
    (("--input", "9:x=x0.npy"), "there is no rank 9"),
    (("--algorithm", "tree"), "--algorithm"),
])
def test_options_of_one_ranks_runs_are_refused(place, arguments, text):
    refuses(trnemu("run", "k.trn", *SYSTEM, *arguments), USAGE, text)


def test_options_of_systems_need_one(place):
    for option in (("--ranks", 2), ("--lnc", 1), ("--algorithm", "ring"),
                   ("--threads", 1), ("--fail-link", "0-1"),
                   ("--packet-bytes", 4096)):
        refuses(trnemu("run", "k.trn", *option), USAGE, "--system")
    refuses(trnemu("profile", "k.trn", "--rank", 1), USAGE, "--system")


def test_missing_inputs_are_said_once_where_all_lack_them(place):
    result = trnemu("run", "k.trn", *SYSTEM)
    refuses(result, USAGE, "input x, (128, 64) float32, is missing")
    assert result.stderr.count("is missing") == 1
    result = trnemu("run", "k.trn", *SYSTEM, "--input", "2:x=x0.npy")
    assert result.stderr.count("is missing") == 1
    np.save("short.npy", np.zeros((2, 2), np.float32))
    refuses(trnemu("run", "k.trn", *SYSTEM, "--input", "x=x0.npy",
                   "4:x=short.npy"), USAGE, "rank 4", "shape")


def test_nothing_stays_behind_a_fault(place):
    refuses(trnemu("run", "k.trn", "--system", "trn2.48xlarge", "--ranks", 4,
                   "--input", "x=x0.npy", "--output-dir", "out"), FAULT,
            "collective.rank")
    assert not (place / "out").exists()


def test_values_off_times_all_ranks_without_inputs(place):
    with_values = reported("run", "k.trn", *SYSTEM, "--input", "x=x0.npy")
    without = reported("run", "k.trn", *SYSTEM, "--values", "off")
    assert without["time_ns"] == with_values["time_ns"]
    assert without["outputs"] == []


def test_what_if_hardware_is_of_all_ranks(place):
    text = trnemu("info", "--target", "trn2", "--only", "description").stdout
    (place / "hw.textproto").write_text(text.replace("1.4", "1.5"))
    result = trnemu("run", "k.trn", *SYSTEM, "--values", "off", "--hardware",
                    "hw.textproto")
    if result.returncode == SUCCESS:
        assert "hw.textproto" in result.stdout
    report = json.loads(trnemu("run", "k.trn", *SYSTEM, "--values", "off",
                               "--hardware", "hw.textproto", "--json").stdout)
    validate(report)


def test_a_program_for_another_generation_is_refused(place):
    refuses(trnemu("run", "k.trn", "--system", "trn1.32xlarge", "--ranks", 8,
                   "--values", "off"), USAGE, "option.target")


# ---- profile: traces ----


def events_of(path):
    events = json.loads(path.read_text())["traceEvents"]
    names = {}
    tracks = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "M" and e["name"] == "process_name":
            names[e["pid"]] = e["args"]["name"]
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["pid"], e["tid"]] = e["args"]["name"]
        if e["ph"] == "X":
            start = round(e["ts"] * 1000)
            tracks[e["pid"], e["tid"]].append(
                (start, start + round(e["dur"] * 1000), e))
    return events, names, tracks


@pytest.mark.parametrize("algorithm", ["ring", "mesh", "single_step_mesh",
                                       "kangaring", "rdh"])
@pytest.mark.parametrize("streams", [1, 2])
def test_a_trace_has_named_tracks_whose_slices_stay_apart(
        place, algorithm, streams):
    made(streams=streams).save("k.trn")
    report = reported("profile", "k.trn", *SYSTEM, "--values", "off", "--trace",
                      "t.json", "--algorithm", algorithm)
    events, names, tracks = events_of(place / "t.json")
    end = round(report["time_ns"])
    for (pid, tid), slices in tracks.items():
        assert pid in names and (pid, tid) in names
        slices.sort(key=lambda s: s[:2])
        for before, after in zip(slices, slices[1:]):
            assert before[1] <= after[0], (names[pid], names[pid, tid])
        assert 0 <= slices[0][0] and slices[-1][1] <= end + 1
    # Every rank has engines, DMA queues and collectives.
    for r in range(RANKS):
        assert {f"rank {r}, core 0", f"rank {r}, core 0 DMA queues",
                f"rank {r}, collectives"} <= set(names.values())
    # Arrows begin and end in slices.
    starts = {(e["pid"], e["tid"], e["ts"])
              for e in events if e["ph"] == "X"}
    arrows = [e for e in events if e["ph"] in "sf"]
    assert arrows and all((e["pid"], e["tid"], e["ts"]) in starts
                          for e in arrows)
    assert len({e["id"] for e in arrows}) * 2 == len(arrows)


@pytest.mark.parametrize("algorithm", ["ring", "mesh", "kangaring"])
def test_link_slices_add_up_to_the_bytes_of_the_collectives(place, algorithm):
    report = reported("profile", "k.trn", *SYSTEM, "--values", "off", "--trace",
                      "t.json", "--algorithm", algorithm)
    _, names, tracks = events_of(place / "t.json")
    links = next(pid for pid, name in names.items() if name == "links")
    total = 0
    for (pid, tid), slices in tracks.items():
        if pid != links:
            continue
        assert names[pid, tid].startswith("chip ")
        for start, stop, event in slices:
            total += event["args"]["bytes"]
            # 256 GB/s each way, rounded to whole ns.
            assert abs(stop - start - event["args"]["bytes"] / 256) <= 1
            for rank in ("from_rank", "to_rank"):
                assert 0 <= event["args"][rank] < RANKS
    assert total == sum(c["link_bytes"] for c in report["collectives"])


def test_moves_are_slices_named_by_algorithm_and_step(place):
    report = reported("profile", "k.trn", *SYSTEM, "--values", "off", "--trace",
                      "t.json", "--algorithm", "ring")
    _, names, tracks = events_of(place / "t.json")
    (collective,) = report["collectives"]
    moves = [s for (pid, tid), slices in tracks.items() for s in slices
             if names[pid, tid].startswith("collective core")]
    assert len(moves) == collective["moves"]
    assert {s[2]["name"].rsplit(" ", 1)[0] for s in moves} == {
        "all_reduce ring step"}
    whole = [s for (pid, tid), slices in tracks.items() for s in slices
             if names[pid, tid].startswith("stream") and s[2]["cat"] != "wait"]
    assert len(whole) == RANKS
    for start, stop, event in whole:
        assert event["name"] == "all_reduce ring"
        assert start == round(collective["start_ns"])
        assert stop <= round(collective["end_ns"])
    assert max(s[1] for s in whole) == round(collective["end_ns"])


def test_a_trace_shows_the_ranks_asked_for(place):
    result = trnemu("profile", "k.trn", *SYSTEM, "--values", "off", "--trace",
                    "t.json", "--ranks-shown", "2,5", "--rank", 1)
    assert result.returncode == SUCCESS, result.stderr
    assert "\nrank 1\n" in result.stdout and "2 of 8 ranks" in result.stdout
    _, names, _ = events_of(place / "t.json")
    ranks = {name.split(",")[0] for name in names.values()
             if name.startswith("rank ")}
    assert ranks == {"rank 2", "rank 5"}
    refuses(trnemu("profile", "k.trn", *SYSTEM, "--values", "off",
                   "--ranks-shown", "2,8"), USAGE, "there is no rank 8")
    refuses(trnemu("profile", "k.trn", *SYSTEM, "--values", "off",
                   "--rank", "8"), USAGE, "there is no rank 8")


def test_profile_files_are_of_one_rank(place):
    report = reported("profile", "k.trn", *SYSTEM, "--values", "off",
                      "--rank", 3)
    assert report["rank"] == 3 and len(report["ranks"]) == RANKS
    result = trnemu("profile", "k.trn", *SYSTEM, "--values", "off", "--html",
                    "p.html", "--csv", "tables", "--json=p.json")
    assert result.returncode == SUCCESS, result.stderr
    assert (place / "p.html").stat().st_size > 10_000
    assert json.loads((place / "p.json").read_text())


def test_run_writes_the_trace_of_all_ranks(place):
    for verb in ("run", "profile"):
        result = trnemu(verb, "k.trn", *SYSTEM, "--values", "off", "--trace",
                        f"{verb}.json")
        assert result.returncode == SUCCESS, result.stderr
    assert (place / "run.json").read_bytes() == (
        place / "profile.json").read_bytes()


def test_python_saves_the_same_trace(place):
    trnemu("run", "k.trn", *SYSTEM, "--values", "off", "--trace", "c.json")
    system = package.System("trn2.48xlarge", ranks=RANKS)
    result = system.run(made(), values=False, profile=True)
    result.save_trace("p.json")
    command, _, from_command = events_of(place / "c.json")
    python, names, tracks = events_of(place / "p.json")
    assert len(command) == len(python)
    assert from_command.keys() == tracks.keys()
    result.save_trace("few.json", ranks=[1])
    _, names, _ = events_of(place / "few.json")
    assert "rank 1, core 0" in names.values()
    assert "rank 0, core 0" not in names.values()
    with pytest.raises(ValueError, match="rank 8"):
        result.save_trace("few.json", ranks=[8])
    with pytest.raises(ValueError, match="profile=True"):
        system.run(made(), values=False).save_trace("none.json")
    system.run(made(), values=False, links=True).save_trace("links.json")
    _, names, _ = events_of(place / "links.json")
    assert "links" in names.values()


# ---- verify ----


def test_verify_compares_a_program_with_a_system(place):
    assert trnemu("verify", "k.trn", *SYSTEM).returncode == SUCCESS
    result = trnemu("verify", "k.trn", "--system", "trn2.48xlarge", "--ranks", 4)
    assert result.returncode == FAULT
    assert "names rank 7" in result.stdout and "ranks 0 to 3" in result.stdout
    result = trnemu("verify", "k.trn", "--system", "trn1.32xlarge")
    assert result.returncode == FAULT and "option.target" in result.stdout
    b = package.ProgramBuilder(name="two", cores=2)
    b.build().save("two.trn")
    result = trnemu("verify", "two.trn", "--system", "trn2.48xlarge", "--lnc", 1)
    assert result.returncode == FAULT and "option.lnc" in result.stdout
    validate(json.loads(trnemu("verify", "k.trn", *SYSTEM, "--json").stdout))
