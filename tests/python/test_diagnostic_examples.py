"""Every diagnostic has an example that reports it, and a repair that does not."""

from __future__ import annotations

import json
import re

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


def test_a_repair_on_a_line_of_its_own_does_not_leave_what_it_repairs():
    """It adds a line: the next one must not call or set the same."""
    for e in EXECUTED:
        lines = [line.strip() for line in e.code.split("\n")]
        for line, following in zip(lines, lines[1:]):
            if line.startswith(FIX):
                start = re.match(r"[\w. ]*[(=]?", line.removeprefix(FIX))[0]
                assert not following.startswith(start), (e.id, line)


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


# ---- what explain and the page show of them ----


@pytest.fixture(scope="module")
def explained():
    return {d["id"]: d for d in json.loads(
        command("explain", "--json").stdout)["diagnostics"]}


def test_explain_shows_the_example_as_it_is_executed(explained):
    for id, e in examples().items():
        assert (explained[id]["code"] or "") == e.code.strip(), id
        assert (explained[id]["unexecuted"] or "") == e.reason, id
    text = command("explain", "tensor_tensor.both_in_psum").stdout
    assert examples()["tensor_tensor.both_in_psum"].code in text
    assert examples()["internal.status"].reason in (
        command("explain", "internal.status").stdout)


def test_the_page_counts_the_executed_examples_and_lists_the_others():
    page = (FOLDER.parent / "diagnostics.md").read_text()
    assert f"{len(EXECUTED)} of the {len(IDS)} ids have an example" in page
    others = [e for e in examples().values() if e.reason]
    listed = page.split(" without say why: ")[1].split("\n")[0]
    assert all(f"`{e.id}`" in listed for e in others)
    assert listed.count("`") == 2 * len(others)


def test_explain_without_an_id_lists_each_on_a_line_of_its_category(explained):
    lines = command("explain").stdout.splitlines()
    categories = {d["category"] for d in explained.values()}
    heading, found = "", {}
    for line in lines:
        if line in categories:
            heading = line
        elif line.split(" ")[0] in explained:
            found[line.split(" ")[0]] = heading
    assert found == {id: d["category"] for id, d in explained.items()}


def test_explain_of_a_wrong_id_gives_the_nearest():
    result = command("explain", "tensor_tensor.both_in_sbuf")
    assert result.returncode == 2
    assert "did you mean tensor_tensor.both_in_psum?" in result.stderr
