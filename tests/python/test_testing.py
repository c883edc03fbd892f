"""trnemu.testing and the pytest plugin."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import trnemu
from rules_kit import ANYX
from trnemu import testing


def doubled(dtype="float32", columns=8):
    """y = x + x."""
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, columns), dtype)
    b.dma_copy(dst=t, src=b.input("x", (4, columns), dtype))
    b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
    b.dma_copy(dst=b.output("y", (4, columns), dtype), src=t)
    return b.build()


def unwritten():
    b = trnemu.ProgramBuilder(target="trn2")
    b.tensor_copy(dst=b.sbuf((4, 8), "float32"), src=b.sbuf((4, 8), "float32"))
    return b.build()


def unordered():
    """What is stored may be what was there before the memset: no wait."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    s = b.semaphore()
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=1.0, signal=[(s, 1)])
    b.memset(dst=t, value=2.0, engine="gpsimd", wait=[(s, 1)])
    b.dma_copy(dst=b.output("y", (4, 8), "float32"), src=t, wait=[(s, 1)])
    return b.build()


X = np.arange(32, dtype=np.float32).reshape(4, 8)


# ---- random inputs ----


@pytest.mark.parametrize("dtype", ANYX)
def test_random_arrays_are_of_the_dtype_finite_and_repeatable(dtype):
    a = testing.random_array((16, 64), dtype, seed=3)
    assert a.dtype == trnemu.Dtype(dtype).numpy and a.shape == (16, 64)
    assert np.isfinite(a.astype(np.float64)).all()
    again = testing.random_array((16, 64), dtype, seed=3)
    assert a.tobytes() == again.tobytes()
    assert a.tobytes() != testing.random_array((16, 64), dtype, 4).tobytes()
    assert len(np.unique(a.astype(np.float64))) > (1 if dtype == "bool" else 10)


def test_random_inputs_are_of_the_programs_inputs_and_differ():
    b = trnemu.ProgramBuilder(target="trn2")
    b.input("x", (4, 8), "float32")
    b.input("z", (4, 8), "float32")
    inputs = testing.random_inputs(b.build(), seed=1)
    assert set(inputs) == {"x", "z"}
    assert inputs["x"].tobytes() != inputs["z"].tobytes()


# ---- comparing ----


def test_tolerance_is_two_units_in_the_last_place():
    assert testing.tolerance("int32") == testing.EXACT
    assert testing.tolerance(np.float32).rtol == 2 * 2.0**-23
    assert testing.tolerance(ml_dtypes.bfloat16).rtol == 2 * 2.0**-7
    assert testing.tolerance(ml_dtypes.float8_e4m3, ulps=1).rtol == 2.0**-3
    one = np.float32(1)
    for steps, near in ((2, True), (3, False)):
        other = np.float32(1 + steps * 2.0**-23)
        said = testing.differences(other, one, testing.tolerance("float32"))
        assert (said == "") is near


def test_differences_are_a_table_of_the_first():
    want = X.copy()
    want[1, 2:] += 1
    said = testing.differences(X, want, limit=2).splitlines()
    assert said[0] == "6 of 32 elements differ:"
    assert said[1].split() == ["index", "actual", "expected", "difference"]
    assert said[2].split() == ["[1,", "2]", "10.0", "11.0", "-1"]
    assert said[-1] == "  and 4 more" and len(said) == 5


def test_exact_means_the_sign_of_zero_and_any_nan():
    nan = np.float32(np.nan)
    assert testing.differences(nan, -nan) == ""
    assert testing.differences(nan, np.float32(0)) != ""
    assert testing.differences(np.float32(0.0), np.float32(-0.0)) != ""
    inf = np.float32(np.inf)
    assert testing.differences(inf, inf, testing.Tolerance(1, 1)) == ""
    assert testing.differences(inf, -inf, testing.Tolerance(1, 1)) != ""


def test_shapes_and_dtypes_must_agree():
    assert "shape" in testing.differences(X, X[:1])
    assert "dtype" in testing.differences(X, X.astype(np.float64))
    with pytest.raises(AssertionError, match="y: the shape"):
        testing.assert_equal(X, X[:1], "y")


# ---- running ----


def test_assert_runs_to_passes_and_gives_the_result():
    r = testing.assert_runs_to(doubled(), {"x": X}, {"y": 2 * X})
    assert r.time_ns > 0
    r = testing.assert_runs_to(doubled, {"x": X}, {"y": 2 * X}, time=False)
    assert r.time_ns == 0


def test_assert_runs_to_shows_what_differs():
    with pytest.raises(AssertionError, match="output y: 1 of 32") as info:
        want = 2 * X
        want[0, 1] = 3
        testing.assert_runs_to(doubled(), {"x": X}, {"y": want})
    assert "[0, 1]" in str(info.value)
    testing.assert_runs_to(doubled(), {"x": X}, {"y": want},
                           allowed=testing.Tolerance(atol=1))
    with pytest.raises(AssertionError, match="no output 'z'"):
        testing.assert_runs_to(doubled(), {"x": X}, {"z": want})


def test_assert_runs_to_holds_the_report_of_a_fault():
    with pytest.raises(AssertionError, match="memory.read_unwritten") as info:
        testing.assert_runs_to(unwritten(), {}, {})
    assert "fix" in str(info.value)
    assert isinstance(info.value.__cause__, trnemu.Fault)


def test_schedules_must_agree():
    testing.assert_runs_to(doubled(), {"x": X}, {"y": 2 * X},
                           schedules=["timed", "program", 1, 2])
    with pytest.raises(AssertionError):  # of the order, or a race reported
        testing.assert_runs_to(unordered(), {}, {}, schedules=range(20))


def test_faults_with_takes_one_id_and_its_attributes():
    b = trnemu.ProgramBuilder(target="trn2")
    x, t = b.input("x", (4, 8), "float32"), b.sbuf((4, 8), "float32")
    with testing.faults_with("operand.buffer", operand="src") as caught:
        b.tensor_copy(dst=t, src=x)
    assert caught.fault.category == "illegal"
    with pytest.raises(AssertionError, match=r"\[operand.buffer\]"):
        with testing.faults_with("operand.dtype"):
            b.tensor_copy(dst=t, src=x)
    with pytest.raises(AssertionError, match="has operand 'src'"):
        with testing.faults_with("operand.buffer", operand="dst"):
            b.tensor_copy(dst=t, src=x)
    with pytest.raises(AssertionError, match="there is none"):
        with testing.faults_with("operand.dtype"):
            b.tensor_copy(dst=t, src=t)


def test_an_id_that_does_not_exist_is_an_error():
    for look in (testing.assert_faults_with, testing.assert_warns_with):
        with pytest.raises(ValueError, match="no diagnostic 'race.bogus'"):
            look("race.bogus", unwritten)
    with pytest.raises(ValueError, match="did you mean 'memory.read_unwritten'"):
        with testing.faults_with("memory.read_unwriten"):
            pass


def test_assert_faults_with_runs_what_it_is_given():
    fault = testing.assert_faults_with("memory.read_unwritten", unwritten)
    assert fault.operand == "src"
    testing.assert_faults_with("input.missing", doubled())
    with pytest.raises(AssertionError, match="there is none"):
        testing.assert_faults_with("input.missing", doubled(), {"x": X})


def test_assert_warns_with_wants_a_run():
    finding = testing.assert_warns_with(
        "memory.read_unwritten", unwritten(), allow=["memory.read_unwritten"])
    assert finding.id == "memory.read_unwritten"
    with pytest.raises(AssertionError, match="are: none"):
        testing.assert_warns_with("max8.nan", doubled(), {"x": X})
    with pytest.raises(AssertionError, match="the program faults"):
        testing.assert_warns_with("max8.nan", unwritten())


# ---- the plugin ----


def run_pytest(folder, text, *arguments):
    (folder / "test_it.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "trnemu.pytest_plugin",
         "-p", "no:cacheprovider", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120)


FAULTS = """
import trnemu
def test_it(trn):
    b = trn.builder()
    b.tensor_copy(dst=b.sbuf((4, 8), "float32"), src=b.input("x", (4, 8), "float32"))
"""


def test_the_plugin_prints_the_report_of_a_fault(tmp_path):
    result = run_pytest(tmp_path, FAULTS)
    assert result.returncode == 1
    assert "trnemu report" in result.stdout
    assert "error: illegal [operand.buffer]" in result.stdout
    assert "`trnemu explain operand.buffer` tells more." in result.stdout


def test_the_fixture_has_the_targets_asked_for(tmp_path):
    text = """
import pytest
def test_all(trn): print("on", trn.target)
@pytest.mark.trnemu_targets("trn3")
def test_one(trn): assert trn.target == "trn3"
"""
    result = run_pytest(tmp_path, text, "-s")
    assert "on trn2" in result.stdout and "1 passed, 1 skipped" in result.stdout
    result = run_pytest(tmp_path, text, "-s", "--trnemu-target", "trn1,trn3")
    assert "on trn1" in result.stdout and "3 passed" in result.stdout
    result = run_pytest(tmp_path, text.replace("trn3", "trn5"))
    assert result.returncode != 0 and "no target 'trn5'" in result.stdout
    result = run_pytest(tmp_path, text, "--trnemu-target", "trn4")
    assert result.returncode == 4 and "no target 'trn4'" in result.stderr


def test_the_fixture_runs_every_schedule_asked_for(tmp_path):
    text = """
import numpy as np
def test_it(trn):
    print(trn.schedules)
    b = trn.builder(sync="explicit")
    s = b.semaphore()
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=1.0, signal=[(s, 1)])
    b.memset(dst=t, value=2.0, engine="gpsimd", wait=[(s, 1)])
    b.dma_copy(dst=b.output("y", (4, 8), "float32"), src=t, wait=[(s, 1)])
    trn.assert_runs_to(b.build(), {}, {}, checks="memory")
"""
    assert "1 passed" in run_pytest(tmp_path, text).stdout
    result = run_pytest(tmp_path, text, "-s", "--trnemu-explore", "20")
    assert "['timed', 1, 2, 3, " in result.stdout
    assert "depends on the order of instructions" in result.stdout
    result = run_pytest(tmp_path, text, "-s", "--trnemu-schedule", "program,7")
    assert "['program', 7]" in result.stdout
    result = run_pytest(tmp_path, text, "--trnemu-schedule", "soon")
    assert result.returncode == 4 and "'soon'" in result.stderr
