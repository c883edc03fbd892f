"""Every diagnostic has an example that reports it, and a repair that does not."""

from __future__ import annotations

import json

import pytest

from cli_kit import trnemu as command
from diagnostic_examples import (
    FIX, FOLDER, examples, repaired, run, workplace,
)

IDS = [d["id"] for d in json.loads(
    command("explain", "--json").stdout)["diagnostics"]]
EXECUTED = [e for e in examples().values() if not e.reason]


def test_every_diagnostic_has_an_example_or_a_reason_for_none():
    missing = sorted(set(IDS) - set(examples()))
    assert not missing, (
        "these ids have no example. For each, add to docs/diagnostics/GROUP.py "
        "(GROUP is what stands before the dot) a block\n\n#% ID\n"
        "b = trnemu.ProgramBuilder(...)   # the smallest program that reports it\n"
        "...  # fix: what the line becomes in the repaired program\n\n"
        "or, if nothing can report it, a line \"#! why\" in place of the code; "
        "docs/diagnostics/README.md has the details:\n" + "\n".join(missing))


def test_there_is_no_example_of_a_diagnostic_that_does_not_exist():
    assert sorted(set(examples()) - set(IDS)) == []


def test_an_example_is_in_the_file_of_its_group():
    wrong = [e.id for e in examples().values()
             if e.file != e.id.split(".")[0] + ".py"]
    assert wrong == []


def test_an_example_is_code_with_a_repair_or_a_reason():
    for e in examples().values():
        assert bool(e.reason) != bool(e.code.strip()), e.id
        assert e.reason or FIX in e.code, e.id


@pytest.mark.parametrize("example", EXECUTED, ids=lambda e: e.id)
def test_the_example_reports_its_diagnostic(example):
    with workplace():
        assert example.id in run(example, example.code).ids


@pytest.mark.parametrize("example", EXECUTED, ids=lambda e: e.id)
def test_the_repaired_example_is_accepted(example):
    with workplace():
        outcome = run(example, repaired(example.code))
    assert example.id not in outcome.ids and not outcome.failed, outcome


def test_the_readme_describes_the_form():
    text = (FOLDER / "README.md").read_text()
    for mark in ("#%", "#!", "# fix:", "leave out", "k.trn", "x.npy"):
        assert mark in text
