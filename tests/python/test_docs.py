"""The examples of the guides run, and their links lead somewhere."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "python.md"


def examples(page: pathlib.Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(examples(GUIDE))))
def test_each_example_of_the_python_guide_runs(number):
    exec(compile(examples(GUIDE)[number], f"{GUIDE.name}[{number}]", "exec"), {})


def test_the_first_python_example_of_the_readme_runs():
    exec(compile(examples(ROOT / "README.md")[0], "README.md", "exec"), {})


@pytest.mark.parametrize("page", ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))])
def test_every_link_of_a_page_leads_to_a_file(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if "://" not in target:
            assert (folder / target).exists(), f"{page} links to {target}"
