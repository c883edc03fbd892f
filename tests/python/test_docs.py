"""The examples of the guides run, and their links lead somewhere."""

import pathlib
import re
import subprocess
import sys

import pytest

from cli_kit import BINARY
from trnemu import _trnemu

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "python.md"
NUMERICS = (ROOT / "docs" / "numerics.md").read_text()


def examples(page: pathlib.Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(examples(GUIDE))))
def test_each_example_of_the_python_guide_runs(number):
    exec(compile(examples(GUIDE)[number], f"{GUIDE.name}[{number}]", "exec"), {})


PAGES = ["deadlock", "limits", "unspecified", "envelope", "bench-command"]


@pytest.mark.parametrize("name", PAGES)
def test_each_example_of_the_pages_on_faults_runs(name):
    page = ROOT / "docs" / f"{name}.md"
    assert examples(page)
    for code in examples(page):
        exec(compile(code, page.name, "exec"), {})


def test_the_first_python_example_of_the_readme_runs():
    exec(compile(examples(ROOT / "README.md")[0], "README.md", "exec"), {})


@pytest.mark.parametrize("page", ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))])
def test_every_link_of_a_page_leads_to_a_file(page):
    folder = (ROOT / page).parent
    # kernel[2](x) in code is no link.
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / page).read_text(),
                  flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (folder / target).exists(), f"{page} links to {target}"


def test_the_page_of_numerics_has_every_key_with_its_values():
    for key, (values, _) in _trnemu.numerics_rows().items():
        named = f"`{key}=" + r"\|".join(values)
        assert f"| {named}` |" in NUMERICS, named


def test_the_page_of_numerics_names_no_key_that_is_not_there():
    known = {"reduce_cmd", *_trnemu.numerics_rows()}
    assert {*re.findall(r"`([a-z0-9_]+)=[a-z\\|]*`", NUMERICS)} <= known


@pytest.mark.parametrize(("section", "entries"), [(14, 16), (15, 28)])
def test_every_contradiction_and_silence_has_one_decision(section, entries):
    """A row with the question, the decision and how it is known."""
    rows = re.findall(rf"^\| {section}\.(\d+) \|(.*)\|$", NUMERICS, re.MULTILINE)
    assert [int(n) for n, _ in rows] == list(range(1, entries + 1))
    for number, text in rows:
        question, decision = text.split("|")[:2]
        assert question.strip() and decision.strip(), number


@pytest.mark.parametrize(
    ("entry", "keys"),
    [("15.1", {"subnormals"}), ("15.3", {"e4m3fn_overflow"}),
     ("15.6", {"scale_bias", "two_ops"}), ("15.7", {"matmul", "tf32"}),
     ("15.8", {"reduce"}), ("15.16", {"table_error"}),
     ("15.14", {"mx_scale"}), ("15.15", {"matmul"})],
)
def test_a_decision_that_is_a_choice_names_its_key(entry, keys):
    row = re.search(rf"^\| {re.escape(entry)} \|.*$", NUMERICS, re.MULTILINE)
    assert {*re.findall(r"`(\w+)=", row[0])} == keys


def test_the_commands_of_the_page_on_memory_print_what_it_says(tmp_path):
    """Python blocks that begin with a file name are that file; of a console
    block each command runs, in order, in one directory."""
    page = (ROOT / "docs" / "memory.md").read_text()
    blocks = re.findall(r"```(python|console)\n(.*?)```", page, re.DOTALL)
    assert {kind for kind, _ in blocks} == {"python", "console"}
    for kind, body in blocks:
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", body)[1]
            (tmp_path / name).write_text(body)
            continue
        printed = ""
        for line in re.findall(r"^\$ (.*)$", body, re.MULTILINE):
            program, *arguments = line.split()
            command = {"python": sys.executable, "trnemu": BINARY}[program]
            r = subprocess.run([command, *arguments], cwd=tmp_path,
                               capture_output=True, text=True, timeout=120)
            printed += f"$ {line}\n{r.stdout}{r.stderr}"
        assert printed.replace(f"{tmp_path}/", "") == body
    assert (tmp_path / "softmax.svg").read_text().startswith("<svg")
