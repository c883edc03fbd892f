"""hardware= of run, profile, bench and Device, --hardware of the commands: what
differs is said by each, and what is not right is refused by each."""

from __future__ import annotations

import csv
import io
import json
import pathlib

import numpy as np
import pytest

import trnemu
from cli_kit import ROOT, SUCCESS, USAGE
from cli_kit import trnemu as command
from json_schema import validate

STOCK = (ROOT / "isa/hardware/trn2.textproto").read_text()
SLOW = STOCK.replace("hbm_bandwidth { value: 3000", "hbm_bandwidth { value: 300")
SAYS = "memory.hbm_bandwidth 3000 -> 300 B/ns"


@pytest.fixture(scope="module")
def program():
    b = trnemu.ProgramBuilder(name="k")
    x, y = b.input("x", (128, 4096), "float32"), b.output(
        "y", (128, 4096), "float32")
    t = b.sbuf((128, 4096), "float32")
    b.dma_copy(dst=t, src=x)
    b.dma_copy(dst=y, src=t)
    return b.build()


@pytest.fixture
def slow(tmp_path):
    path = tmp_path / "slow.textproto"
    path.write_text(SLOW)
    return path


def test_python_takes_a_path_or_the_text(program, slow):
    inputs = {"x": np.ones((128, 4096), np.float32)}
    times = {trnemu.run(program, inputs, hardware=h).time_ns
             for h in (slow, str(slow), SLOW)}
    assert len(times) == 1
    # 75 B/ns a stack instead of the engines' 435.
    assert times.pop() > 3 * trnemu.run(program, inputs).time_ns


def test_each_says_what_differs(program, slow):
    result = trnemu.run(program, {}, values=False, hardware=slow)
    assert SAYS in result.summary()
    assert "hardware" not in trnemu.run(program, {}, values=False).summary()
    profile = trnemu.profile(program, hardware=slow)
    assert profile.time_ns == result.time_ns
    assert SAYS in str(profile)
    assert profile.data["hardware"]["changes"] == [
        {"constant": "memory.hbm_bandwidth", "stock": 3000, "value": 300,
         "unit": "B/ns"}]
    assert trnemu.profile(program).data["hardware"]["changes"] == []
    cost = trnemu.bench(program, values=False, runs=1, hardware=slow)
    assert cost.time_ns == result.time_ns
    table = trnemu.bench("dma_copy", sizes=[8192], dtype="float32",
                         hardware=slow)
    before = trnemu.bench("dma_copy", sizes=[8192], dtype="float32")
    assert table[0].completion_ns > 3 * before[0].completion_ns
    device = trnemu.Device("trn2", hardware=SLOW)
    assert device.load(program).run(
        {}, values=False).time_ns == result.time_ns


def test_the_commands_say_what_differs(program, slow, tmp_path):
    path = tmp_path / "k.trn"
    program.save(str(path))
    ask = ("profile", path, "--values", "off", "--hardware", slow)
    done = command(*ask, "--html", tmp_path / "k.html", "--csv",
                   tmp_path / "tables")
    assert done.returncode == SUCCESS, done.stderr
    assert SAYS in done.stdout
    row, = csv.DictReader((tmp_path / "tables/Metadata.csv").open())
    assert row["hardware_changes"] == SAYS
    report = json.loads(command(*ask, "--json").stdout)
    validate(report)
    assert report["hardware"]["changes"][0]["constant"] == (
        "memory.hbm_bandwidth")
    bench = ("bench", "dma_copy", "--sizes", "64", "--hardware", slow)
    assert SAYS in command(*bench).stdout
    report = json.loads(command(*bench, "--json").stdout)
    validate(report)
    assert report["hardware"]["file"] == str(slow)
    rows = csv.DictReader(io.StringIO(command(*bench, "--csv").stdout))
    assert {r["hardware_changes"] for r in rows} == {SAYS}


@pytest.mark.parametrize(("hardware", "words"), [
    ("no/such/file", "cannot read hardware"),
    (STOCK.replace('"trn2"', '"trn9"', 1), "no target"),
    ((ROOT / "isa/hardware/trn1.textproto").read_text(),
     "describes trn1, but the target is trn2"),
    ("\n", "hardware description"),
])
def test_what_is_no_description_is_an_input_fault(hardware, words, program):
    for ask in (lambda: trnemu.run(program, {}, values=False,
                                   hardware=hardware),
                lambda: trnemu.profile(program, hardware=hardware),
                lambda: trnemu.bench("tensor_copy", hardware=hardware),
                lambda: trnemu.Device(hardware=hardware)):
        with pytest.raises(ValueError, match=words) as info:
            ask()
        assert info.value.id == "input.hardware"
        assert info.value.category == "input"
    with pytest.raises(TypeError, match="hardware must be a path or the text"):
        trnemu.run(program, {}, values=False, hardware=3)


def test_names_that_nothing_has_are_called_by_the_public_name(program):
    for ask in (lambda: trnemu.bench("tensor_copy", hardwar=""),
                lambda: trnemu.bench(program, hardwar=""),
                lambda: trnemu.profile(program, hardwar="")):
        with pytest.raises(TypeError, match="has no option 'hardwar'") as info:
            ask()
        assert "_of_" not in str(info.value)


# ---- options that would be ignored, and files that would be lost


def test_time_alone_needs_no_inputs(program):
    empty = trnemu.run(program, {}, values=False)
    assert empty.time_ns == trnemu.profile(program, {}).time_ns
    assert not trnemu.profile(program, {}).result.outputs
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(program, {})
    assert info.value.id == "input.missing"


def test_time_off_is_no_time_of_zero(program):
    inputs = {"x": np.ones((128, 4096), np.float32)}
    result = trnemu.run(program, inputs, time=False)
    assert "no time" in repr(result)
    assert "not simulated" in result.summary()
    assert "ns" in repr(trnemu.run(program, inputs))
    with pytest.raises(ValueError, match="nothing is left to do"):
        trnemu.run(program, inputs, time=False, values=False)


@pytest.mark.parametrize("arguments", [
    ("info", "k.trn", "--hardware", "nope"),
    ("info", "k.trn", "--only", "constants"),
    ("info", "k.trn", "--target", "trn1"),
    ("info", "tensor_copy", "--hardware", "nope"),
    ("info", "--only", "coverage", "--target", "trn1"),
    ("run", "k.trn", "--values", "off", "--time", "off"),
    ("run", "k.trn", "--values", "off", "--rtol", "1"),
    ("run", "k.trn", "--values", "off", "--atol", "1"),
])
def test_an_option_that_says_nothing_is_refused(arguments, program, tmp_path):
    path = tmp_path / "k.trn"
    program.save(str(path))
    done = command(*(path if a == "k.trn" else a for a in arguments))
    assert done.returncode == USAGE, done.stdout


@pytest.mark.parametrize("arguments", [
    ("profile", "k.trn", "--html", "k.trn"),
    ("profile", "k.trn", "--trace", "t", "--html", "./t"),
    ("profile", "k.trn", "--json=h.textproto", "--hardware", "h.textproto"),
    ("profile", "k.trn", "--csv", "d", "--trace", "d/Instruction.csv"),
    ("run", "k.trn", "--trace", "k.trn"),
    ("run", "k.trn", "--trace", "t", "--log", "t"),
])
def test_no_file_is_written_over_what_is_read_or_written(arguments, program,
                                                         tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "h.textproto").write_text(STOCK)
    path = tmp_path / "k.trn"
    program.save(str(path))
    before = path.read_bytes()
    done = command(*arguments, "--values", "off", cwd=tmp_path)
    assert done.returncode == USAGE
    assert "would write over" in done.stderr or "are one file" in done.stderr
    assert path.read_bytes() == before
    assert pathlib.Path(tmp_path / "h.textproto").read_text() == STOCK
