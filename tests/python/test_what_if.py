"""--hardware: a description to edit, what it changes, what is wrong with it."""

from __future__ import annotations

import json
import pathlib

import pytest

from cli_kit import (  # noqa: F401 (case is a fixture)
    SUCCESS, USAGE, case, trnemu as command)


def description(target: str = "trn2") -> str:
    done = command("info", "--target", target, "--only", "description")
    assert done.returncode == SUCCESS
    return done.stdout


def changed(path: pathlib.Path, before: str, after: str) -> pathlib.Path:
    text = description()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    return path


BANDWIDTH = "hbm_bandwidth { value: 3000"


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_the_description_that_is_printed_is_the_one_that_is_used(
        case, tmp_path, target):
    path = tmp_path / "same.textproto"
    path.write_text(description(target))
    ask = ("--target", target, "--json")
    with_file = case.run(*ask, "--hardware", path)
    report = json.loads(with_file.stdout)
    assert report["hardware"] == {"file": str(path), "changes": []}
    assert report["time_ns"] == json.loads(case.run(*ask).stdout)["time_ns"]
    assert "as the built-in one" in case.run(
        "--target", target, "--hardware", path).stdout


def test_the_summary_says_what_differs(case, tmp_path):
    path = changed(tmp_path / "my.textproto", BANDWIDTH,
                   "hbm_bandwidth { value: 6000")
    done = case.run("--hardware", path)
    assert done.returncode == SUCCESS
    assert "1 constant differs" in done.stdout
    assert "memory.hbm_bandwidth 3000 -> 6000 B/ns" in done.stdout
    report = json.loads(case.run("--hardware", path, "--json").stdout)
    assert report["hardware"]["changes"] == [{
        "constant": "memory.hbm_bandwidth", "stock": 3000, "value": 6000,
        "unit": "B/ns"}]
    # Without the option there is nothing to say.
    assert "hardware" not in json.loads(case.run("--json").stdout)


@pytest.mark.parametrize("before, after, words", [
    (BANDWIDTH, "hbm_bandwith { value: 3000", "hbm_bandwith"),
    ('unit: "B/ns"', 'unit: "GB"', "unit"),
    ('name: "trn2"', 'name: "trn1"', "trn1"),
])
def test_a_file_that_is_not_right_is_refused_with_the_field(
        case, tmp_path, before, after, words):
    path = changed(tmp_path / "wrong.textproto", before, after)
    done = case.run("--hardware", path)
    assert done.returncode == USAGE
    said = done.stdout + done.stderr
    assert "wrong.textproto" in said and words in said


def test_a_wrong_file_says_how_to_get_a_right_one(case, tmp_path):
    path = tmp_path / "empty.textproto"
    path.write_text("")
    done = case.run("--hardware", path)
    assert done.returncode == USAGE
    assert "trnemu info --target trn2 --only description" in done.stderr
