"""docs/debugging.md: each of its programs and commands is executed, in order, in
one directory, and prints what the page says."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from cli_kit import BINARY, ROOT

PAGE = (ROOT / "docs" / "debugging.md").read_text()
BLOCK = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("debugging")


def environment():
    package = pathlib.Path(__import__("trnemu").__file__).parents[1]
    return {**os.environ, "PYTHONPATH": str(package)}


def python(file, directory):
    return subprocess.run([sys.executable, file], cwd=directory, text=True,
                          capture_output=True, timeout=120, env=environment())


def shell(line, directory):
    words = shlex.split(line)
    words[0] = {"python": sys.executable, "trnemu": BINARY}[words[0]]
    return subprocess.run(words, cwd=directory, text=True, env=environment(),
                          capture_output=True, timeout=120)


def matches(pattern, line):
    """... stands for anything."""
    return re.fullmatch(re.escape(pattern).replace(r"\.\.\.", ".*"), line)


def check_text(text, output):
    lines = output.splitlines()
    for want in text.splitlines():
        if want.strip() in ("", "..."):
            continue
        found = [i for i, line in enumerate(lines)
                 if matches(want.rstrip(), line.rstrip())]
        assert found, f"{want!r} is not in\n{output}"
        lines = lines[found[0] + 1:]


def test_every_block_of_the_page_does_what_it_says(directory):
    output = ""
    counts = {"python": 0, "sh": 0, "text": 0}
    for kind, options, body in BLOCK.findall(PAGE):
        counts[kind] += 1
        options = dict(o.split("=") for o in options.split())
        if kind == "python":
            file = options.get("file", "block.py")
            (directory / file).write_text(body)
            if "after" in options:
                result = python(file, directory)
                assert result.returncode == 0, result.stderr
        elif kind == "sh":
            lines = body.strip().splitlines()
            for n, line in enumerate(lines):
                result = shell(line, directory)
                last = n + 1 == len(lines)
                want = int(options.get("exit", 0)) if last else 0
                assert result.returncode == want, line + result.stderr
            output = (result.stderr + result.stdout).replace(
                f"{directory}/", "")
        else:
            check_text(body, output)
    assert min(counts.values()) >= 3


def test_the_page_names_every_option_for_looking():
    help_text = subprocess.run([BINARY, "run", "--help"], text=True,
                               capture_output=True).stdout
    group = help_text.split("Looking for mistakes")[1].split("\n\n")[0]
    options = re.findall(r"--[a-z-]+", group)
    assert {"--explore", "--stop-at-nan", "--break", "--watch", "--dump",
            "--stop"} <= set(options)
    assert all(option in PAGE for option in options)
