"""Each operation's page: its example runs on every generation that has the
operation, and is refused with a reason on the others."""

import json
import pathlib
import re

import pytest

import trnemu
from cli_kit import SUCCESS, trnemu as command

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/operations"
NAMES = [o.name for o in trnemu.operations()]
# Beside those whose `generation` rule says so: two cores join from trn2 on.
FIRST = {"core_barrier": "trn2", "sendrecv": "trn2", "all_gather_v": "trn2"}
SYSTEMS = {"trn1": "trn1.32xlarge", "trn2": "trn2.48xlarge", "trn3": "trn3-gen1"}


def first_generation(name: str) -> str:
    operation = next(o for o in trnemu.operations() if o.name == name)
    for rule in operation.rules:
        found = re.fullmatch(r"gen >= (\d)", rule.text)
        if rule.id == f"{name}.generation" and found:
            return f"trn{int(found[1]) - 1}"
    return FIRST.get(name, "trn1")


def run_example(name: str, target: str) -> None:
    text = (ROOT / f"docs/examples/{name}.py").read_text()
    there = re.sub(r'target="trn\d"', f'target="{target}"', text)
    assert f'target="{target}"' in there
    there = there.replace(SYSTEMS["trn2"], SYSTEMS[target])
    exec(compile(there, f"{name}.py", "exec"), {})


@pytest.mark.parametrize("target", trnemu.targets)
@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_an_operation_runs_where_the_operation_is(name, target):
    if target >= first_generation(name):
        run_example(name, target)
        return
    with pytest.raises(trnemu.Fault) as info:
        run_example(name, target)
    id = info.value.id
    assert id.endswith(("generation", ".system")) or id.startswith("core")
    assert target in info.value.message


def test_there_is_an_example_and_a_page_for_every_operation_and_no_other():
    assert sorted(p.stem for p in (ROOT / "docs/examples").glob("*.py")) == sorted(NAMES)
    assert sorted(p.stem for p in PAGES.glob("*.md")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_uses_its_operation_and_checks_what_comes_out(name):
    text = (ROOT / f"docs/examples/{name}.py").read_text()
    assert name == "branch" or f"b.{name}(" in text
    assert "assert" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_terminal_prints_what_the_page_says(name):
    page = (PAGES / f"{name}.md").read_text()
    info = command("info", name)
    assert info.returncode == SUCCESS and info.stdout == command("explain", name).stdout
    for heading in re.findall(r"^##+ (.*)$", page, re.MULTILINE):
        assert f"\n{heading}\n" in info.stdout
    for rule in json.loads(command("info", name, "--json").stdout)["operation"]["rules"]:
        assert f"`{rule}`" in page and f"\n{rule} " in info.stdout


def test_operations_that_compute_have_numeric_notes():
    without = {n for n in NAMES if not json.loads(
        command("info", n, "--json").stdout)["operation"]["notes"]}
    assert without == {"nop", "psum_reset", "core_barrier", "collective_barrier"}
