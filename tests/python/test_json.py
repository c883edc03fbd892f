"""Whatever the command prints with --json, and Fault.to_json(), is as
docs/report.schema.json says."""

from __future__ import annotations

import copy
import json
import re

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
    ("explain", "nc_matmul"),
], ids=" ".join)
def test_tables(arguments):
    validate(printed(*arguments))


@pytest.mark.parametrize("arguments", [
    ("run",), ("run", "no_such_file.trn"), ("run", "--wrong"),
    ("verify", "no_such_file.trn"), ("verify", "--layers", "none", "k.trn"),
    ("diff", "a", "b"), ("asm", "a", "-o", "b"), ("disasm", "a"),
    ("explain", "no.such.id"), ("info", "no_such_file.trn"),
    ("info", "--target", "trn9"), ("profile",), ("bench",), ("collective",),
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
