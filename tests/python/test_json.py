"""Whatever the command prints with --json, and Fault.to_json(), is as
docs/report.schema.json says."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

import trnemu as package
from cli_kit import FAULT, ROOT, case, trnemu  # noqa: F401 (case is a fixture)
from diagnostic_examples import examples, run, workplace
from json_schema import SCHEMA, problems, validate


def printed(*arguments):
    result = trnemu(*arguments, "--json")
    report = json.loads(result.stdout)
    assert report["version"] == 1
    if "exit_code" in report:
        assert report["exit_code"] == result.returncode
        assert report["ok"] is (result.returncode == 0)
    return report


@pytest.mark.parametrize("arguments", [
    ("info",), ("info", "--target", "trn1", "--only", "constants"),
    ("info", "--only", "operations"), ("info", "--only", "opcodes"),
    ("info", "--only", "numerics"), ("info", "--only", "coverage"),
    ("info", "nc_matmul"), ("explain",), ("explain", "deadlock"),
    ("explain", "tensor_copy.shape"), ("explain", "internal.status"),
    ("explain", "nc_matmul"), ("bench",), ("bench", "bn_stats", "--sizes", "512,1024"),
    ("bench", "nc_matmul", "--sizes", "64"), ("bench", "dma_copy", "--sizes", "64"),
], ids=" ".join)
def test_tables(arguments):
    validate(printed(*arguments))


@pytest.mark.parametrize("arguments", [
    ("run",), ("run", "no_such_file.trn"), ("run", "--wrong"),
    ("verify", "no_such_file.trn"), ("verify", "--layers", "none", "k.trn"),
    ("diff", "a", "b"), ("asm", "a", "-o", "b"), ("disasm", "a"),
    ("explain", "no.such.id"), ("info", "no_such_file.trn"),
    ("info", "--target", "trn9"), ("profile",),
    ("bench", "no_such_operation"), ("bench", "--wrong"), ("collective",),
], ids=" ".join)
def test_failures(arguments):
    report = printed(*arguments)
    validate(report)
    assert report["fault"] == report["findings"][0]


def test_runs(case, tmp_path):
    out = tmp_path / "out"
    for arguments in ((), ("--output-dir", out), ("--values", "off"),
                      ("--time", "off"), ("--target", "trn1"),
                      ("--expect", f"y={case.path('want')}"),
                      ("--expect", f"y={case.path('x')}"),
                      ("--log", tmp_path / "log")):
        result = case.run(*arguments, "--json")
        validate(json.loads(result.stdout))
    assert json.loads(result.stdout)["outputs"][0]["shape"] == [4, 8]
    result = case.run("--json", x="h")  # a float32 input of bfloat16
    report = json.loads(result.stdout)
    validate(report)
    assert report["fault"]["id"] == "input.dtype"


def test_verify_asm_disasm_diff_and_info_of_a_program(case, tmp_path):
    text = tmp_path / "k.txt"
    for arguments in (("verify", case.program),
                      ("verify", case.program, "--layers", "api,lint"),
                      ("disasm", case.program),
                      ("disasm", case.program, "-o", text),
                      ("asm", text, "-o", tmp_path / "again.trn"),
                      ("diff", case.program, tmp_path / "again.trn"),
                      ("info", case.program)):
        validate(printed(*arguments))
    text.write_text(text.read_text().replace("op0=multiply", "op0=add"))
    printed("asm", text, "-o", tmp_path / "other.trn")
    report = printed("diff", case.program, tmp_path / "other.trn")
    validate(report)
    assert report["exit_code"] == FAULT and report["difference"]


@pytest.mark.parametrize("options", [
    ("--envelope", 2), ("--explore", 2), ("--break", 2),
    ("--break", "tensor_scalar", "--dump", "sbuf2[0:2]", "--time", "off"),
    ("--watch", "sbuf2[0, 0:2]"), ("--break", 2, "--stop"),
    ("--explore", 2, "--break", 2), ("--break", "no_such"),
    ("--stop-at-nan",), ("--max-time-ns", 10), ("--max-host-memory", "1KB"),
], ids=lambda o: " ".join(map(str, o)))
def test_runs_that_look_for_something(options):
    with workplace():
        validate(printed("run", "k.trn", "--input", "x=x.npy", *options))


def test_an_envelope_of_an_output_that_overflows_in_one_order(tmp_path):
    """3e38 + 3e38 is infinite in fp32 and stays so; the exact sum is 0."""
    b = package.ProgramBuilder(name="edge")
    x, y = b.input("x", (1, 4), "float32"), b.output("y", (1, 1), "float32")
    t, total = b.sbuf((1, 4), "float32"), b.sbuf((1, 1), "float32")
    b.dma_copy(dst=t, src=x)
    b.tensor_reduce(dst=total, op="add", data=t, axis=1)
    b.dma_copy(dst=y, src=total)
    b.build().save(tmp_path / "k.trn")
    np.save(tmp_path / "x.npy", np.array([[3e38, 3e38, -3e38, -3e38]], np.float32))
    report = printed("run", tmp_path / "k.trn", "--input",
                     f"x={tmp_path / 'x.npy'}", "--envelope", 2)
    validate(report)
    (output,) = report["envelope"]["outputs"]
    assert (output["max_abs"], output["base"]) == ("inf", "inf")
    assert (output["where"], output["cause"]) == ([0, 0], "reduce")
    e = package.envelope(b.build(), {"x": np.load(tmp_path / "x.npy")}, n=2)
    data = json.loads(e.to_json())
    assert problems(data, {"$ref": "#/$defs/envelope"}) == []
    assert data == report["envelope"]


def test_what_breaks_and_watches_showed_is_there_beside_a_fault_too():
    """Instruction 2 is the tensor_scalar of k.txt; its wait is for 16."""
    with workplace():
        run = ("run", "k.trn", "--input", "x=x.npy")
        (shown,) = printed(*run, "--break", 1)["debug"]
        assert (shown["kind"], shown["instruction"]) == ("break", 1)
        waits = {e["next"]: e["waits"] for e in shown["engines"]}
        assert waits == {1: [], 2: [
            {"semaphore": "auto.dma0", "value": 0, "wanted": 16}]}
        stopped = printed(*run, "--break", 1, "--stop")
        fault = stopped["fault"]
        assert fault["id"] == "debug.stopped"
        for key in ("core", "instruction", "operation", "engine", "source"):
            assert fault[key] == shown[key], key
        assert stopped["debug"] == [shown]
        ended = printed(*run, "--break", 1, "--max-instructions", 3)
        assert ended["fault"]["id"] == "limit.instructions"
        assert ended["debug"] == [shown]
        assert "debug" not in printed(*run)


@pytest.mark.parametrize("other", [
    ("--explore", 2), ("--break", 1), ("--watch", "sbuf2")], ids=lambda o: o[0])
def test_an_envelope_does_not_ignore_what_is_of_one_run(other):
    with workplace():
        report = printed("run", "k.trn", "--input", "x=x.npy", "--envelope", 2,
                         *other)
    validate(report)
    assert report["fault"]["id"] == "input.usage"


def test_a_schedule_that_differs_and_two_logs(tmp_path):
    with workplace():
        scope = {"np": np, "trnemu": package}
        code = examples()["schedule.outputs_differ"].code
        exec(code.split("r = ")[0], scope)
        scope["b"].build().save("race.trn")
        run = ("run", "race.trn", "--input", "x=x.npy", "--checks", "memory")
        report = printed(*run, "--explore", 50)
        validate(report)
        fault = report["fault"]
        assert fault["id"] == "schedule.outputs_differ"
        seed = int(fault["details"]["schedule"])
        assert f"--schedule {seed}" in fault["details"]["replay"]
        printed(*run, "--log", "a.log")
        printed(*run, "--log", "b.log", "--schedule", seed)
        report = printed("diff", "a.log", "b.log")
        validate(report)
        assert (report["kind"], report["core"]) == ("log", 0)
        validate(printed("diff", "a.log", "a.log"))


def test_memory_maps():
    """Tiles of 32 and 4 bytes a partition, the second at byte 64: 36 are live
    at once, from instruction 1 on, and byte 68 is the first behind them."""
    with workplace():
        for file in ("-", "k.svg"):
            report = printed("verify", "k.trn", "--memory-map", file)
            validate(report)
            shown = report["memory_map"]
            assert shown["file"] == (None if file == "-" else file)
            (memory,) = shown["memories"]
            assert (memory["peak"], memory["peak_at"], memory["end"]) == (
                36, 1, 68)
            assert [t["address"] for t in shown["tiles"]] == [0, 64]


def saved_unwritten(path):
    b = package.ProgramBuilder(target="trn2")
    t = b.sbuf((4, 8), "float32")
    b.tensor_copy(dst=b.sbuf((4, 8), "float32"), src=t)
    b.build().save(path)


def test_allowed_ids_are_in_the_result_the_summary_and_the_json(tmp_path):
    path, id = tmp_path / "k.trn", "memory.read_unwritten"
    saved_unwritten(path)
    report = printed("run", path, "--allow", id)
    validate(report)
    assert report["allowed"] == [id]
    assert [d["id"] for d in report["diagnostics"]] == [id]
    assert report["diagnostics"][0]["can_be_allowed"] is True
    assert f"allowed       {id}" in trnemu("run", path, "--allow", id).stdout
    r = package.run(package.Program.load(path), {}, allow=[id])
    assert r.allowed == [id] and [d.id for d in r.diagnostics] == [id]
    assert f"allowed       {id}" in r.summary()
    # An id that nothing reported let nothing pass.
    r = package.run(package.Program.load(path), {}, allow=[id, "max8.nan"])
    assert r.allowed == [id]
    report = printed("run", path)
    validate(report)
    assert report["fault"]["id"] == id


def test_faults_and_findings_of_python_are_diagnostics(tmp_path):
    saved_unwritten(tmp_path / "k.trn")
    p = package.Program.load(tmp_path / "k.trn")
    with pytest.raises(package.Fault) as info:
        package.run(p, {})
    data = json.loads(info.value.to_json())
    assert data["schema"] == "trnemu.diagnostic"
    validate(data)
    assert data == json.loads(info.value.finding.to_json())
    assert data == printed("run", tmp_path / "k.trn")["fault"]
    (finding,) = package.run(p, {}, allow=[info.value.id]).diagnostics
    validate(json.loads(finding.to_json()))


def test_every_example_of_a_diagnostic_gives_valid_json(monkeypatch):
    """One of each group, of Python."""
    seen: dict[str, str] = {}
    for e in examples().values():
        if not e.reason and e.kind == "python":
            seen.setdefault(e.file, e.id)
    raised = []
    make = package._fault.fault_of
    monkeypatch.setattr(package._fault, "fault_of", lambda finding: (
        raised.append(finding.to_json()), make(finding))[1])
    with workplace():
        for id in seen.values():
            run(examples()[id], examples()[id].code)
    assert len(raised) > 40
    for text in raised:
        validate(json.loads(text))


def test_the_page_names_every_field_of_a_diagnostic_and_every_schema():
    page = (ROOT / "docs/json.md").read_text()
    named = set(re.findall(r"`(\w+)`", page))
    assert set(SCHEMA["$defs"]["diagnostic"]["properties"]) <= named
    verbs = {s["$ref"].split("/")[-1].split("_")[0] for s in SCHEMA["anyOf"]}
    for verb in verbs - {"failure"}:
        assert f"trnemu.{verb}" in page


# ---- the validator itself ----


def test_the_validator_sees_what_is_wrong():
    good = printed("run", "no_such_file.trn")
    assert problems(good, {"$ref": "#/$defs/failure"}) == []
    for change in (
        lambda r: r.pop("fault"),
        lambda r: r.update(version=2),
        lambda r: r.update(more=1),
        lambda r: r["fault"].update(category="odd"),
        lambda r: r["fault"].update(count=0),
        lambda r: r["fault"].update(count="1"),
        lambda r: r["fault"].update(core=True),
        lambda r: r["fault"].update(details={"a": 1}),
        lambda r: r["findings"][0].pop("remedy"),
    ):
        bad = copy.deepcopy(good)
        change(bad)
        assert problems(bad, {"$ref": "#/$defs/failure"}), bad
        with pytest.raises(AssertionError):
            validate(bad)
