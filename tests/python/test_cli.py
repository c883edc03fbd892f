"""The trnemu binary as scripts see it: run, its inputs, outputs and options."""

import json
import os
import re

import numpy as np
import pytest

from cli_kit import (  # noqa: F401 (case is a fixture)
    DOUBLE, FAULT, ROOT, SHAPE, SUCCESS, USAGE, assemble, case,
    refuses, trnemu)

# ---- run ----


def test_run_writes_outputs_and_says_the_target_first(case):
    out = case.directory / "deep" / "out"
    result = case.run("--output-dir", out)
    assert result.returncode == SUCCESS, result.stderr
    assert re.match(r"target +trn2\n", result.stdout)
    y, z = np.load(out / "y.npy"), np.load(out / "z.npy")
    assert y.dtype == np.float32 and np.array_equal(y, case.want)
    assert z.dtype == np.dtype("V2")
    assert np.array_equal(z.view(np.uint16), case.h)
    assert sorted(os.listdir(out)) == ["y.npy", "z.npy"]


def test_run_without_output_dir_writes_nothing_and_says_so(case):
    before = sorted(os.listdir(case.directory))
    result = case.run()
    assert result.returncode == SUCCESS
    assert "No output was written" in result.stdout
    assert sorted(os.listdir(case.directory)) == before


def test_run_json_has_a_schema_and_a_version(case):
    result = case.run("--json", "--output-dir", case.directory / "out")
    report = json.loads(result.stdout)
    assert report["schema"] == "trnemu.run" and report["version"] == 1
    assert report["ok"] is True and report["exit_code"] == 0
    assert report["target"] == "trn2" and report["instructions"] == 6
    assert report["time_ns"] > 0
    assert [o["name"] for o in report["outputs"]] == ["y", "z"]
    assert report["outputs"][0]["shape"] == list(SHAPE)
    assert report["opcodes"] == {"DmaCopy": 5, "TensorScalar": 1}
    assert report["diagnostics"] == [] and report["allowed"] == []
    assert np.load(report["outputs"][0]["file"]).shape == SHAPE


def test_run_takes_fortran_order(case):
    case.save("x", np.asfortranarray(case.x))
    assert case.run("--expect", f"y={case.path('want')}").returncode == SUCCESS


@pytest.mark.parametrize("descr", ["V2", "<V2", "|V2", "<u2"])
def test_run_takes_raw_and_unsigned_elements_for_bfloat16(case, descr):
    case.save("h", case.h.view(descr))
    out = case.directory / "out"
    assert case.run("--output-dir", out).returncode == SUCCESS
    assert np.array_equal(np.load(out / "z.npy").view(np.uint16), case.h)


def test_expect_accepts_within_tolerance_and_wider_dtypes(case):
    case.save("want", case.want.astype(np.float64) * (1 + 5e-4))
    good = case.run("--expect", f"y={case.path('want')}", "--rtol", "1e-3")
    assert good.returncode == SUCCESS, good.stderr
    assert "y matches" in good.stdout and "max rel error" in good.stdout


def test_expect_reports_the_worst_index(case):
    bad = case.want.copy()
    bad[2, 3] += 10
    case.save("want", bad)
    result = case.run("--expect", f"y={case.path('want')}")
    refuses(result, FAULT, "y differs", "1 of 32", "(2, 3)")
    report = json.loads(
        case.run("--expect", f"y={case.path('want')}", "--json").stdout)
    assert report["ok"] is False and report["exit_code"] == FAULT
    assert report["expect"][0]["worst_index"] == [2, 3]
    assert report["expect"][0]["mismatches"] == 1


def test_expect_takes_nan_for_nan_only(case):
    x = case.x.copy()
    x[0, 0] = np.nan
    x[1, 1] = np.inf
    case.save("x", x)
    want = x * np.arange(1, 5, dtype=np.float32)[:, None]
    case.save("want", want)
    assert case.run("--expect", f"y={case.path('want')}").returncode == SUCCESS
    want[0, 0] = 1
    case.save("want", want)
    assert case.run("--expect", f"y={case.path('want')}").returncode == FAULT


def test_every_schedule_gives_the_same_bits(case):
    for schedule in ("timed", "program", "1", "2", "3"):
        result = case.run("--schedule", schedule, "--expect",
                          f"y={case.path('want')}", "--rtol", 0, "--atol", 0)
        assert result.returncode == SUCCESS, result.stderr


def test_values_off_needs_no_inputs_and_writes_no_outputs(case):
    result = trnemu("run", case.program, "--values", "off")
    assert result.returncode == SUCCESS, result.stderr
    assert "No values were computed" in result.stdout
    refuses(trnemu("run", case.program, "--values", "off", "--output-dir", "d"),
            USAGE, "--values is off")


def test_time_off_excludes_the_timed_schedule(case):
    assert case.run("--time", "off").returncode == SUCCESS
    refuses(case.run("--time", "off", "--schedule", "timed"), USAGE,
            "--schedule timed needs simulated time")
    report = json.loads(case.run("--time", "off", "--json").stdout)
    assert report["time_ns"] is None


def test_log_has_a_line_per_instruction_and_diff_compares(case):
    a, b = case.directory / "a.log", case.directory / "b.log"
    assert case.run("--log", a).returncode == SUCCESS
    assert case.run("--log", b).returncode == SUCCESS
    assert len(a.read_text().splitlines()) == 6
    assert trnemu("diff", a, b).returncode == SUCCESS
    lines = b.read_text().splitlines()
    lines[3] = lines[3].replace("#", "?")
    b.write_text("\n".join(lines) + "\n")
    result = trnemu("diff", a, b)
    assert result.returncode == FAULT and "line 4\n" in result.stdout
    b.write_text("\n".join(lines[:2]) + "\n")
    assert trnemu("diff", a, b).returncode == FAULT


# ---- inputs ----


def test_missing_input(case):
    refuses(case.run(h=None), USAGE, "input h, (4, 8) bfloat16, is missing")


def test_misspelled_input_names_the_nearest(case):
    refuses(case.run("--input", f"xx={case.path('x')}", x=None), USAGE,
            "no input named xx; did you mean x?", "input x, ")


def test_extra_input(case):
    refuses(case.run("--input", f"bias={case.path('x')}"), USAGE,
            "no input named bias")


def test_an_output_is_no_input(case):
    refuses(case.run("--input", f"y={case.path('x')}"), USAGE,
            "tensor y is of kind output")


def test_an_input_given_twice(case):
    refuses(case.run("--input", f"x={case.path('x')}"), USAGE, "x twice")


def test_an_input_without_a_file(case):
    refuses(case.run("--input", "x", x=None), USAGE, "NAME=FILE.npy")


def test_wrong_shape(case):
    case.save("x", case.x.T)
    refuses(case.run(), USAGE, "shape (4, 8)", "shape (8, 4)")


@pytest.mark.parametrize("dtype,name", [
    ("f8", "float64"), ("i8", "int64"), ("f2", "float16"), ("i4", "int32"),
    (">f4", "big-endian >f4"), ("c8", "complex64")])
def test_wrong_dtype_says_how_to_convert(case, dtype, name):
    case.save("x", case.x.astype(dtype))
    refuses(case.run(), USAGE, "input x is float32", f"holds {name}", "astype")


def test_float32_is_not_taken_for_bfloat16(case):
    case.save("h", case.x)
    refuses(case.run(), USAGE, "input h is bfloat16", "ml_dtypes.bfloat16")


def test_a_file_that_is_not_there(case):
    refuses(case.run(x="nothing"), USAGE, "nothing.npy", "No such file")


def test_a_directory_as_a_file(case):
    (case.directory / "x.npy").unlink()
    (case.directory / "x.npy").mkdir()
    refuses(case.run(), USAGE, "x.npy", "Is a directory")


def test_a_truncated_npy(case):
    data = case.path("x").read_bytes()
    case.path("x").write_bytes(data[:-5])
    refuses(case.run(), USAGE, "truncated", "needs 128 bytes, and 123")


def test_an_npz_archive_and_objects(case):
    with case.path("x").open("wb") as file:
        np.savez(file, x=case.x)
    refuses(case.run(), USAGE, ".npz archive")
    np.save(case.path("x"), np.array([{}], object), allow_pickle=True)
    refuses(case.run(), USAGE, "pickled")


def test_every_problem_is_listed(case):
    case.save("x", case.x.T)
    result = case.run("--input", f"q={case.path('x')}", h=None, x="x")
    refuses(result, USAGE, "shape (8, 4)", "no input named q", "h, (4, 8)")
    report = json.loads(
        case.run("--json", "--input", f"q={case.path('x')}", h=None).stdout)
    assert report["schema"] == "trnemu.run" and report["ok"] is False
    assert report["exit_code"] == USAGE
    assert report["fault"]["category"] == "input"
    assert len(report["findings"]) == 3


# ---- outputs ----


def test_unwritable_output_directory_is_found_before_the_run(case):
    log = case.directory / "log"
    result = case.run("--output-dir", case.path("x") / "below", "--log", log)
    refuses(result, USAGE, "cannot write", "Not a directory")
    assert not log.exists()  # nothing ran


def test_an_output_that_is_a_directory(case):
    (case.directory / "out" / "y.npy").mkdir(parents=True)
    refuses(case.run("--output-dir", case.directory / "out"), USAGE,
            "Is a directory")


def test_a_fault_leaves_no_output_behind(case):
    out = case.directory / "out"
    result = case.run("--output-dir", out, "--max-instructions", 3)
    refuses(result, FAULT, "limit")
    assert not out.exists()


def test_an_old_output_survives_a_fault(case):
    out = case.directory / "out"
    assert case.run("--output-dir", out).returncode == SUCCESS
    before = (out / "y.npy").read_bytes()
    assert case.run("--output-dir", out,
                    "--max-instructions", 3).returncode == FAULT
    assert (out / "y.npy").read_bytes() == before
    assert sorted(os.listdir(out)) == ["y.npy", "z.npy"]


def test_odd_tensor_names_become_safe_file_names(tmp_path):
    text = DOUBLE.replace("tensor 2 y output", 'tensor 2 "../y /z" output')
    text = text.replace("dst=y[", 'dst="../y /z"[')
    program = assemble(tmp_path, text)
    np.save(tmp_path / "x.npy", np.zeros(SHAPE, np.float32))
    np.save(tmp_path / "h.npy", np.zeros(SHAPE, np.uint16))
    result = trnemu("run", program, "--input", f"x={tmp_path}/x.npy", "--input",
                    f"h={tmp_path}/h.npy", "--output-dir", tmp_path / "out")
    assert result.returncode == SUCCESS, result.stderr
    assert sorted(os.listdir(tmp_path / "out")) == [
        "%2E.%2Fy%20%2Fz.npy", "z.npy"]


# ---- options ----


def test_budgets(case):
    refuses(case.run("--max-instructions", 2), FAULT, "limit.instructions")
    refuses(case.run("--max-time-ns", 100), FAULT, "limit.simulated_time")
    assert case.run("--max-instructions", 6).returncode == SUCCESS


@pytest.mark.parametrize(("option", "value", "text"), [
    ("--max-instructions", "10k", "a whole number"),
    ("--max-instructions", "1.5", "a whole number"),
    ("--max-instructions", "-1", "a whole number"),
    ("--max-instructions", str(2**63), "a whole number"),
    ("--max-time-ns", "abc", "a number that is not negative"),
    ("--max-time-ns", "nan", "a number that is not negative"),
    ("--max-wall-time", "-2", "a number that is not negative"),
    ("--rtol", "x", "a number that is not negative"),
])
def test_a_number_that_is_none_is_named_with_what_is_expected(
        case, option, value, text):
    r = case.run(option, value)
    refuses(r, USAGE, "input.usage", f"{option}: {text}", f'not "{value}"')
    assert "00000000" not in r.stderr


def test_the_highest_whole_number_is_a_limit(case):
    assert case.run("--max-instructions", 2**63 - 1,
                    "--max-time-ns", "1e9").returncode == SUCCESS


def test_allow_takes_only_what_can_be_allowed(case):
    allowed = case.run("--allow", "memory.read_unwritten,cast.nan_to_integer")
    assert allowed.returncode == SUCCESS, allowed.stderr
    refuses(case.run("--allow", "memory.read_unwriten"), USAGE,
            "did you mean memory.read_unwritten?")
    refuses(case.run("--allow", "access.out_of_bounds"), USAGE,
            "cannot be allowed")


def test_numerics_schedule_and_target_are_checked(case):
    assert case.run("--numerics", "matmul=exact,tf32=truncate").returncode == 0
    refuses(case.run("--numerics", "matmul=fast"), USAGE, "silicon")
    refuses(case.run("--numerics", "matmul"), USAGE, "KEY=VALUE")
    refuses(case.run("--schedule", "soon"), USAGE, "timed, program or a seed")
    refuses(case.run("--schedule", "-1"), USAGE)
    refuses(case.run("--target", "trn9"), USAGE, "trn1, trn2 or trn3")
    refuses(case.run("--checks", "some"), USAGE, "--checks")


def test_hardware_must_be_of_the_target(case):
    text = (ROOT / "isa/hardware/trn2.textproto").read_text()
    what_if = case.directory / "hw.textproto"
    what_if.write_text(text)
    assert case.run("--hardware", what_if).returncode == SUCCESS
    refuses(case.run("--hardware", what_if, "--target", "trn1"), USAGE,
            "describes trn2, but the target is trn1")
    what_if.write_text(text + "nonsense: 1\n")
    refuses(case.run("--hardware", what_if), USAGE, "nonsense")


def test_trace_writes_the_events_that_perfetto_opens(case, tmp_path):
    trace = tmp_path / "t.json"
    assert case.run("--trace", str(trace)).returncode == 0
    events = json.loads(trace.read_text())["traceEvents"]
    # One slice an instruction at least.
    assert sum(e["ph"] == "X" for e in events) >= 6


def test_usage_errors_suggest(case):
    refuses(trnemu("rum"), USAGE, "did you mean run?")
    refuses(trnemu("run", case.program, "--inptu", "x=y"), USAGE,
            "did you mean --input?")
    refuses(trnemu("run"), USAGE, "PROGRAM")
    report = json.loads(trnemu("run", "--json").stdout)
    assert report["schema"] == "trnemu.run"
    assert report["fault"]["id"] == "input.usage"
