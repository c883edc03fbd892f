"""Profiles of launches: python -m trnemu.nki --profile, and the options."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest
from cli_kit import FAULT, SUCCESS, USAGE

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

SCRIPT = """
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def double(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y, src=tile)
    return y

x = np.arange(128 * 512, dtype=np.float32).reshape(128, 512)
print(np.array_equal(double(x), 2 * x))
"""


def body(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y, src=tile)
    return y


X = np.arange(256, dtype=np.float32).reshape(128, 2)


def command(
    folder: pathlib.Path, *arguments: str, script: str = SCRIPT
) -> subprocess.CompletedProcess[str]:
    (folder / "k.py").write_text(script)
    return subprocess.run(
        [sys.executable, "-m", "trnemu.nki", *arguments, "k.py"],
        cwd=folder, capture_output=True, text=True)


def test_the_command_prints_what_kernel_profile_prints(tmp_path):
    done = command(
        tmp_path, "--profile",
        script=SCRIPT + "print(double.profile(x))\nprint(double.result.time_ns)")
    assert done.returncode == SUCCESS, done.stderr
    assert done.stdout.startswith("True\n")
    report, time_ns = done.stdout[5:].rsplit("\n", 2)[:2]
    assert done.stderr == f"double:\n{report}\n"
    assert "critical path" in done.stderr and float(time_ns) > 2000


def test_the_files_are_those_of_the_report(tmp_path):
    done = command(
        tmp_path, "--html", "r.html", "--trace", "t.json", "--target", "trn3",
        script=SCRIPT + "double.profile(x).save_html('own.html')\n"
        "double.profile(x).save_trace('own.json')\n")
    assert done.returncode == SUCCESS, done.stderr
    assert done.stderr.endswith("html       r.html\ntrace      t.json\n")
    assert "target     trn3" in done.stderr
    for ours, own in (("r.html", "own.html"), ("t.json", "own.json")):
        assert (tmp_path / ours).read_text() == (tmp_path / own).read_text()


def test_each_launch_has_a_profile_and_files_of_its_own(tmp_path):
    done = command(tmp_path, "--html", "r.html",
                   script=SCRIPT + "double(x[:, :8])\ndouble(x[:8])\n")
    assert done.stderr.count("double:\n") == 3
    sizes = [len((tmp_path / name).read_text())
             for name in ("r.html", "r.2.html", "r.3.html")]
    assert min(sizes) > 10000 and not (tmp_path / "r.4.html").exists()


def test_a_fault_is_reported_as_without_a_profile(tmp_path):
    broken = SCRIPT.replace("data1=tile, data2=tile",
                            "data1=tile, data2=tile[0:64]")
    plain = command(tmp_path, script=broken)
    profiled = command(tmp_path, "--profile", script=broken)
    assert plain.returncode == profiled.returncode == FAULT
    assert profiled.stderr == plain.stderr != ""


@pytest.mark.parametrize("arguments, words", [
    (("--time", "off"), "time is off"),
    (("--schedule", "3"), "schedule is 3, not timed"),
    (("--schedule", "program"), "schedule is 'program', not timed"),
    (("--precise-fp", "0"), "precise_fp"),
    (("--html", "none/r.html"), "there is no folder none for none/r.html"),
    (("--trace", "."), ". is a folder"),
])
def test_what_cannot_be_profiled_is_a_wrong_command_line(
        tmp_path, arguments, words):
    done = command(tmp_path, "--profile", *arguments)
    assert done.returncode == USAGE
    assert words in done.stderr and done.stdout == ""


def test_a_profiled_launch_gives_what_another_gives(capsys):
    kernel = nki.jit(body)
    plain = kernel(X)
    time_ns = kernel.result.time_ns
    assert capsys.readouterr().err == ""
    profiled = kernel.with_options(profile=True)
    np.testing.assert_array_equal(profiled(X), plain)
    assert profiled.result.time_ns == time_ns
    assert capsys.readouterr().err.startswith("body:\ntarget     trn2\n")


def test_arguments_that_a_profiled_kernel_writes_are_updated():
    @nki.jit(profile=True)
    def twice(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
        nisa.dma_copy(dst=x, src=tile)

    x = X.copy()
    twice(x)
    np.testing.assert_array_equal(x, 2 * X)


def test_two_cores_are_profiled_together(capsys):
    def halves(x):
        core = nl.program_id(0)
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 2), dtype=x.dtype, buffer=nl.sbuf)
        rows = nl.ds(core * 64, 64)
        nisa.dma_copy(dst=tile, src=x[rows])
        nisa.dma_copy(dst=y[rows], src=tile)
        return y

    kernel = nki.jit(halves, profile=True)[2]
    np.testing.assert_array_equal(kernel(X), X)
    assert "core 1" in capsys.readouterr().err


def test_an_option_of_a_kernel_that_leaves_no_time_is_refused_at_its_launch():
    with pytest.raises(ValueError, match="simulated time, and time is off"):
        nki.jit(body, time=False, profile=True)(X)


def test_a_profile_stops_at_a_nan_where_the_launch_does():
    def logarithm(x):
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.activation(dst=tile, op=nl.rsqrt, data=tile)
        nisa.dma_copy(dst=y, src=tile)
        return y

    for options in ({}, {"profile": True}):
        kernel = nki.jit(logarithm, stop_at_nan=True, **options)
        with pytest.raises(trnemu.Fault) as caught:
            kernel(-X - 1)
        assert caught.value.id == "nan.produced"


def test_a_kernel_without_time_has_no_profile() -> None:
    kernel = nki.jit(body)
    with pytest.raises(ValueError, match="time is off"):
        kernel.with_options(time=False).profile(X)
    # Options that a launch does not have are those of trnemu.profile.
    program = trnemu.nki.trace(kernel, X)
    launched = trnemu.profile(program, launch_overhead=True)
    assert launched.time_ns == pytest.approx(kernel.profile(X).time_ns + 9400)
