"""trnemu run --system on several processes that mpirun starts."""

import filecmp
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import trnemu as tr

from cli_kit import BINARY, FAULT, SUCCESS, USAGE

RANKS = 16  # of trn2.48xlarge: four on each of four chips
LIMIT = 120  # seconds: nothing hangs


def command(processes, *arguments):
    mpirun = [shutil.which("mpirun"), "-n", str(processes), "--quiet",
              "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    start = mpirun if processes > 1 else []
    return [*start, BINARY, *map(str, arguments)]


def run(processes, *arguments, cwd=None):
    return subprocess.run(command(processes, *arguments), text=True, cwd=cwd,
                          capture_output=True, timeout=LIMIT, check=False)


def all_reduce(op="add", times=1):
    b = tr.ProgramBuilder(target="trn2")
    x = b.input("x", (64,), "float32")
    y = b.output("y", (64,), "float32")
    for _ in range(times):
        b.all_reduce(srcs=[x], dsts=[y], replica_group=[list(range(RANKS))],
                     op=op)
    return b.build()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Programs and the inputs of every rank."""
    if shutil.which("mpirun") is None:
        if os.environ.get("TRNEMU_REQUIRE_MPI"):
            pytest.fail("no mpirun")
        pytest.skip("no mpirun")
    where = tmp_path_factory.mktemp("processes")
    all_reduce().save(where / "sum.trn")
    all_reduce("maximum").save(where / "maximum.trn")
    b = tr.ProgramBuilder(target="trn2")
    b.dma_copy(dst=b.output("y", (64,), "float32"),
               src=b.input("x", (64,), "float32"))
    b.build().save(where / "copy.trn")
    # It ends, but not while anyone waits for it.
    b = tr.ProgramBuilder(target="trn2")
    x = b.input("x", (64,), "float32")
    y = b.output("y", (64,), "float32")
    with b.fori_loop(0, 2**30):
        b.dma_copy(dst=y, src=x)
    b.build().save(where / "endless.trn")
    rng = np.random.default_rng(3)
    for rank in range(RANKS):
        folder = where / f"rank{rank}"
        folder.mkdir()
        np.save(folder / "x.npy", rng.standard_normal(64).astype(np.float32))
    probe = run(2, "run", "sum.trn", *SYSTEM, "--json", cwd=where)
    if "unsupported.mpi" in probe.stdout:
        if os.environ.get("TRNEMU_REQUIRE_MPI"):
            pytest.fail("built without MPI")
        pytest.skip("built without MPI")
    return where


SYSTEM = ["--system", "trn2.48xlarge", "--ranks", RANKS,
          "--input", "x=rank{rank}/x.npy"]


def others_but_last(program):
    return ["sum.trn"] * (RANKS - 1) + [program]


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_write_and_report_what_one_does(place, tmp_path, processes):
    reports = []
    for n in (1, processes):
        done = run(n, "run", "sum.trn", *SYSTEM, "--json", "--output-dir",
                   tmp_path / str(n), cwd=place)
        assert done.returncode == SUCCESS, done.stderr
        report = json.loads(done.stdout)  # one object: it is printed once
        for output in report["outputs"]:
            output["file"] = pathlib.Path(output["file"]).relative_to(
                tmp_path / str(n)).as_posix()
        reports.append(report)
    assert reports[0] == reports[1]
    assert len(reports[0]["ranks"]) == RANKS
    for rank in range(RANKS):
        one, several = (tmp_path / n / f"rank{rank}" / "y.npy"
                        for n in ("1", str(processes)))
        assert filecmp.cmp(one, several, shallow=False)
    assert len(list((tmp_path / str(processes)).rglob("*.*"))) == RANKS


def test_expected_arrays_of_all_processes_are_compared(place, tmp_path):
    run(1, "run", "sum.trn", *SYSTEM, "--output-dir", tmp_path, cwd=place)
    want = f"y={tmp_path}/rank{{rank}}/y.npy"
    good = run(2, "run", "sum.trn", *SYSTEM, "--expect", want, cwd=place)
    assert good.returncode == SUCCESS, good.stderr
    assert f"{RANKS} of {RANKS} agree" in good.stdout
    bad = run(2, "run", "sum.trn", *SYSTEM, "--expect", want,
              "--expect", f"{RANKS - 1}:y=rank0/x.npy", cwd=place)
    assert bad.returncode == FAULT
    assert f"{RANKS - 1} of {RANKS} agree" in bad.stdout
    assert f"rank {RANKS - 1}: y differs" in bad.stderr


@pytest.mark.parametrize("program, fault", [
    ("maximum.trn", "collective.mismatch"), ("copy.trn", "collective.deadlock")])
@pytest.mark.parametrize("processes", [2, 4])
def test_a_fault_between_processes_is_reported_once_as_by_one(
        place, processes, program, fault):
    faults = []
    for n in (1, processes):
        done = run(n, "run", *others_but_last(program), *SYSTEM, "--json",
                   cwd=place)
        assert done.returncode == FAULT, done.stderr
        faults.append(json.loads(done.stdout)["fault"])
    assert faults[0] == faults[1]
    assert faults[0]["id"] == fault


def test_an_input_that_the_last_process_lacks_ends_all(place, tmp_path):
    done = run(4, "run", "sum.trn", *SYSTEM, "--json", "--input",
               f"{RANKS - 1}:x=none.npy", "--output-dir", tmp_path / "out",
               cwd=place)
    assert done.returncode == USAGE, done.stderr
    fault = json.loads(done.stdout)["fault"]
    assert fault["id"] == "input.unreadable"
    assert fault["rank"] == RANKS - 1
    assert not (tmp_path / "out").exists()


def test_outputs_that_one_process_cannot_write_are_written_by_none(
        place, tmp_path):
    (tmp_path / f"rank{RANKS - 1}").write_text("in the way")
    done = run(2, "run", "sum.trn", *SYSTEM, "--json", "--output-dir", tmp_path,
               cwd=place)
    assert done.returncode == USAGE, done.stderr
    assert json.loads(done.stdout)["fault"]["id"] == "input.unwritable"
    assert [p.name for p in tmp_path.iterdir()] == [f"rank{RANKS - 1}"]


def test_a_limit_that_one_rank_exceeds_ends_all(place):
    done = run(2, "run", *others_but_last("endless.trn"), *SYSTEM, "--json",
               "--max-instructions", 1000, cwd=place)
    assert done.returncode == FAULT, done.stderr
    fault = json.loads(done.stdout)["fault"]
    assert (fault["id"], fault["rank"]) == ("limit.instructions", RANKS - 1)


def test_more_processes_than_chips_are_refused(place):
    done = run(5, "run", "sum.trn", *SYSTEM, "--json", cwd=place)
    assert done.returncode == USAGE, done.stderr
    assert json.loads(done.stdout)["fault"]["id"] == "option.processes"


def test_an_unknown_option_is_reported_once(place):
    done = run(2, "run", "sum.trn", *SYSTEM, "--nothing", cwd=place)
    assert done.returncode == USAGE
    assert done.stderr.count("--nothing") == 1


@pytest.mark.parametrize("arguments", [
    ["run", "--trace", "trace.json"], ["profile"]])
def test_profiles_of_several_processes_are_refused(place, arguments):
    done = run(2, arguments[0], "sum.trn", *SYSTEM, *arguments[1:], cwd=place)
    assert done.returncode == USAGE
    assert "run it without mpirun" in done.stderr
    assert not (place / "trace.json").exists()


def test_an_interrupt_ends_all_processes_and_leaves_no_files(place, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(2, "run", "endless.trn", *SYSTEM, "--output-dir", out),
        text=True, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + LIMIT
    # Its files are there when the run begins.
    while not any(out.glob(f"rank{RANKS - 1}/*")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode != SUCCESS
    assert stdout == ""
    assert stderr.count("interrupted; the run was stopped") == 1
    assert not out.exists()
