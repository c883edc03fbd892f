"""The trnemu binary: help, info, explain, the reference pages, other verbs."""

import json
import os
import re
import subprocess
import sys

import pytest

from cli_kit import (  # noqa: F401 (case is a fixture)
    BINARY, ROOT, SUCCESS, UNSUPPORTED, USAGE, case, refuses, trnemu)

# What costs by its transfers, not by laws of an instruction.
DMA = ("DmaCopy", "DmaTranspose", "DmaCompute", "SendRecv")

# ---- info, explain, the rest ----


def test_help_teaches():
    top = trnemu("--help")
    assert top.returncode == SUCCESS and "Exit codes" in top.stdout
    for verb in ("run", "verify", "asm", "disasm", "diff", "info", "explain",
                 "profile", "collective"):
        result = trnemu(verb, "--help")
        assert result.returncode == SUCCESS
        assert "Examples:" in result.stdout and f"trnemu {verb}" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80, verb
    assert trnemu().returncode == USAGE


def test_version_names_build_and_cpu_target():
    result = trnemu("--version")
    assert result.returncode == SUCCESS
    assert re.search(r"trnemu \d+\.\d+\.\d+", result.stdout)
    for word in ("build", "compiler", "CPU"):
        assert word in result.stdout


def test_info_has_constants_with_sources_and_the_tables(case):
    report = json.loads(trnemu("info", "--target", "trn1", "--json").stdout)
    assert report["schema"] == "trnemu.info" and report["target"] == "trn1"
    constants = {c["path"]: c for c in report["constants"]}
    assert constants["memory.partitions"]["value"] == 128
    assert all(c["source"] and c["status"] != "unset"
               for c in report["constants"])
    for operation in report["operations"]:
        assert operation["opcodes"], operation["name"]
        assert operation["signature"].startswith(operation["name"] + "(")
    opcodes = {o["name"] for o in report["opcodes"]}
    used = {o for op in report["operations"] for o in op["opcodes"]}
    assert used == opcodes
    # Transfers are costed by the constants of dma, not by laws.
    assert {o["name"] for o in report["opcodes"] if not o["cost_laws"]} == {
        "DmaCopy", "DmaTranspose", "DmaCompute", "SendRecv", "Collective",
        "CollectiveV"}
    coverage = report["coverage"]
    names = {o["name"] for o in report["operations"]}
    assert names == {n for key in ("implemented", "collectives", "own")
                     for n in coverage[key]}
    assert len(coverage["collectives"]) == 11
    assert len(coverage["implemented"]) == 50 and not coverage["missing"]
    assert "50 of the 50 operations" in trnemu("info").stdout
    assert "PROGRAM" not in trnemu("info").stdout
    assert "memory.partitions" in trnemu("info", "--target", "trn3").stdout


def test_info_describes_a_program(case):
    text = trnemu("info", case.program).stdout
    for word in ("double", "trn2", "TensorScalar", "bfloat16", "(4, 8)"):
        assert word in text
    report = json.loads(trnemu("info", case.program, "--json").stdout)
    assert report["program"]["engines"] == {"sync": 5, "vector": 1}
    assert len(report["program"]["tensors"]) == 9


def test_explain(case):
    result = trnemu("explain", "tensor_copy.shape")
    assert result.returncode == SUCCESS
    for word in ("rule", "layer", "evidence", "source", "fix"):
        assert word in result.stdout
    assert "cause" in trnemu("explain", "deadlock").stdout
    report = json.loads(trnemu("explain", "deadlock", "--json").stdout)
    assert report["category"] == "deadlock" and report["example"]
    refuses(trnemu("explain", "deadlok"), USAGE, "did you mean deadlock?")
    assert "tensor_copy.shape" in trnemu("explain").stdout


def test_every_id_in_the_sources_is_explained():
    known = {d["id"]
             for d in json.loads(trnemu("explain", "--json").stdout)
             ["diagnostics"]}
    patterns = (r'\bid = "([a-z0-9_.]+)"',
                r'MakeFault\(\s*Category::\w+,\s*"([a-z0-9_.]+)"',
                r'Finding\(\s*Category::\w+,\s*"([a-z0-9_.]+)"')
    missing = set()
    for folder in ("isa", "memory", "core", "collectives", "frontend"):
        for path in (ROOT / folder).rglob("*.cc"):
            if path.name == "recommend.cc":
                continue  # ids of recommendations, not of diagnostics
            text = path.read_text()
            for pattern in patterns:
                found = set(re.findall(pattern, text))
                missing |= {f"{i} in {path.name}" for i in found - known}
    assert not missing, sorted(missing)


def test_reference_pages_are_current():
    check = subprocess.run(
        [sys.executable, ROOT / "scripts/gen_docs", "--check", BINARY],
        capture_output=True, text=True)
    assert check.returncode == 0, (
        f"run scripts/gen_docs, and build again:\n{check.stdout}{check.stderr}")


def test_the_binary_prints_the_coverage_page_it_was_built_with():
    page = (ROOT / "docs/coverage.md").read_text()
    assert trnemu("info", "--only", "coverage").stdout == page


def test_assess_without_the_package_is_a_sentence(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\ncase \"$1\" in -c) exit 3;; esac\necho \"$@\"\n")
    fake.chmod(0o755)
    environment = {**os.environ, "TRNEMU_PYTHON": str(fake)}
    refuses(trnemu("assess", "model.py", env=environment), UNSUPPORTED,
            "trnemu.assess")
    fake.write_text("#!/bin/sh\n[ \"$1\" = -c ] || echo \"$@\"\n")
    result = trnemu("assess", "model.py", "--help", env=environment)
    assert result.stdout.split() == ["-m", "trnemu.assess", "model.py", "--help"]
    environment["TRNEMU_PYTHON"] = str(tmp_path / "none")
    refuses(trnemu("assess", env=environment), USAGE, "cannot start")


def test_a_full_disk_under_standard_output_is_noticed():
    with open("/dev/full", "w") as full:
        result = subprocess.run([BINARY, "explain"], stdout=full,
                                stderr=subprocess.PIPE, text=True)
    assert result.returncode == USAGE
    assert "standard output" in result.stderr
