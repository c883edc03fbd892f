"""The steps of docs/nki.md, executed: they print what the page says."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from cli_kit import BINARY

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "nki.md"


def without_times(text: str) -> str:
    """Figures of simulated and host time are not compared."""
    text = re.sub(r"\d+\.\d+ (ns|us|ms)|\d+\.\d+%|in \d+\.\d+s", "#", text)
    return re.sub(r" +", " ", text).replace(" #", "#").replace("passed#", "passed")


def run(line: str, folder: pathlib.Path) -> str:
    program, *arguments = line.split()
    command = {"python": sys.executable, "trnemu": BINARY}[program]
    done = subprocess.run(
        [command, *arguments], cwd=folder, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    # pytest's plugins of this session are not the reader's.
    return done.stdout + done.stderr


def test_each_step_of_the_guide_prints_what_it_says(tmp_path):
    blocks = re.findall(r"```(python|console)\n(.*?)```", PAGE.read_text(),
                        re.DOTALL)
    assert [kind for kind, _ in blocks].count("console") >= 5
    for kind, body in blocks:
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", body)[1]
            (tmp_path / name).write_text(body)
            continue
        printed = "".join(
            f"$ {line}\n{run(line, tmp_path)}"
            for line in re.findall(r"^\$ (.*)$", body, re.MULTILINE))
        printed = printed.replace(f"{tmp_path}/", "")
        assert without_times(printed) == without_times(body)
