"""trnemu bench: figures that programs take, beside the laws they follow."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

import trnemu
from cli_kit import ROOT, SUCCESS, USAGE, trnemu as command
from sample_programs import ONES, build_double
from trnemu import _trnemu

OPERATIONS = _trnemu.cost_operations()


def run_json(*arguments: str) -> dict[str, Any]:
    done = command(*arguments)
    assert done.returncode == SUCCESS
    return json.loads(done.stdout)


LESS = 0.0011  # ns: figures of laws are printed to six digits


def value(formula: str, n: int) -> float:
    """A formula of the table at N, by arithmetic of our own."""
    text = re.sub(r"(\d) N", r"\1 * N", formula.split(", rows of")[0])
    return float(eval(text, {"max": max, "min": min, "N": n}))


# --- the documents' figures -------------------------------------------------
# spec/timing.md 1.3: completion = a + b N ns, measured on trn2.


@pytest.mark.parametrize("operation, dtype, placement, engine, a, b", [
    ("tensor_tensor", "float32", "sbuf", "", 158.7, 1.0417),
    ("tensor_tensor", "bfloat16", "sbuf", "", 161.5, 0.517),
    ("tensor_scalar", "float32", "sbuf", "", 160.3, 0.5208),
    ("tensor_copy", "bfloat16", "sbuf", "", 155.7, 0.269),
    ("activation", "float32", "sbuf", "", 293.4, 0.8333),
])
def test_completions_are_those_that_were_measured(operation, dtype, placement,
                                                  engine, a, b):
    for row in trnemu.bench(operation, sizes=[128, 512], dtype=dtype,
                            placement=placement, engine=engine):
        assert row.completion_ns == pytest.approx(a + b * row.size, rel=0.03)


def test_a_matmul_streams_at_the_rate_of_the_documents():
    """79 TF/s of bf16 on trn2 (spec/timing.md 2.1): 512 columns in 213 ns."""
    row, = trnemu.bench("nc_matmul", sizes=512, dtype="bfloat16")
    assert row.interval_ns == pytest.approx(512 / 2.4, rel=0.03)
    assert row.flops_per_ns / 1e3 == pytest.approx(79, rel=0.03)
    # Cold and alone it is slower than in the stream.
    assert row.first_ns > row.completion_ns > row.interval_ns


def test_the_first_of_a_function_loads_its_table():
    """1283 ns (spec/timing.md 1.3, ACT_TABLE_LOAD); copy needs none."""
    with_table, = trnemu.bench("activation", sizes=64, dtype="float32")
    without, = trnemu.bench("activation", sizes=64, dtype="float32", op="copy")
    assert with_table.first_ns - with_table.completion_ns == pytest.approx(1283)
    assert without.first_ns == pytest.approx(without.completion_ns)


def test_a_trigger_is_short_and_transfers_are_spaced():
    """spec/timing.md 2.2: payloads of loads 599 ns apart, of stores 609."""
    load, store = trnemu.bench("dma_copy", sizes=64,
                               placement=["hbm:sbuf", "sbuf:hbm"],
                               dtype="float32")
    assert load.interval_ns == pytest.approx(599, rel=0.01)
    assert store.interval_ns == pytest.approx(609, rel=0.01)
    assert load.issue_ns < 100 < load.completion_ns


# --- programs and laws agree ------------------------------------------------


@pytest.mark.parametrize("target", trnemu.targets)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_runs_follows_the_law_that_is_printed(operation, target):
    rows = [r for r in trnemu.bench(operation, sizes=[64, 128], target=target)
            if not r.refused]
    assert rows or (operation, target) == ("range_select", "trn1")
    for row in rows:
        for law in row.laws:
            for formula, figure in ((law.issue, law.issue_ns),
                                    (law.completion, law.completion_ns)):
                assert value(formula, row.size) == pytest.approx(
                    figure, rel=1e-4, abs=LESS)
            assert law.status and law.source
        if row.operation == "nc_matmul":
            # Loads run behind multiplications.
            each = sum(law.issue_ns for law in row.laws
                       if law.instruction == "MultiplyMoving")
            assert row.interval_ns >= each - LESS
            continue
        if row.engine == "tensor" or row.operation.startswith("dma"):
            # fp32 is two passes where the array has no other way.
            passes = [law.issue_ns for law in row.laws
                      if law.instruction == "MultiplyMoving"][:-1]
            assert row.completion_ns == pytest.approx(
                sum(passes) + row.laws[-1].completion_ns, abs=LESS)
            continue
        before = sum(law.issue_ns for law in row.laws[:-1])
        # An instruction that needs the one before it waits for it.
        assert row.completion_ns >= before + row.laws[-1].completion_ns - LESS
        if len(row.laws) == 1:
            assert row.completion_ns == pytest.approx(
                row.laws[0].completion_ns, abs=LESS)
            assert row.issue_ns == pytest.approx(row.laws[0].issue_ns, abs=LESS)
            assert row.interval_ns == pytest.approx(row.issue_ns, abs=LESS)


@pytest.mark.parametrize("target", trnemu.targets)
@pytest.mark.parametrize("placement", ["hbm:sbuf", "sbuf:hbm"])
def test_the_formula_of_a_dma_holds_where_rows_are_short(placement, target):
    """Rows of 256 bytes and of 512, one packet each (timing.md 2.2)."""
    short, longer = trnemu.bench("dma_copy", sizes=[64, 128], dtype="float32",
                                 placement=placement, target=target)
    assert value(short.laws[0].completion, 128) == pytest.approx(
        longer.completion_ns, rel=1e-4)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_more_elements_never_take_less_time(operation):
    rows = [r for r in trnemu.bench(operation, sizes="32:512", partitions=64)
            if not r.refused]
    for a, b in itertools.pairwise(rows):
        if a.dtype == b.dtype:
            assert b.interval_ns >= a.interval_ns - LESS
            assert b.completion_ns >= a.completion_ns - LESS


# --- queries ----------------------------------------------------------------


def test_every_combination_is_a_row_in_order():
    rows = trnemu.bench("tensor_copy", sizes="64:256", dtype=["fp32", "bf16"],
                        placement=["sbuf", "psum:sbuf"], target=["trn1", "trn2"])
    assert [(r.target, r.placement, r.dtype, r.size) for r in rows] == [
        *itertools.product(("trn1", "trn2"), ("sbuf:sbuf", "psum:sbuf"),
                           ("float32", "bfloat16"), (64, 128, 256))]


def test_what_the_device_refuses_is_a_row_that_says_why():
    row, = trnemu.bench("bn_stats", sizes=1024, dtype="float32")
    assert "512" in row.refused and row.completion_ns == 0
    assert trnemu.bench("nc_matmul", sizes=64, dtype="float8_e4m3",
                        target="trn2")[0].refused == ""


@pytest.mark.parametrize("text, sizes", [
    ("64:512", [64, 128, 256, 512]), ("64:300", [64, 128, 256]),
    ("64:256:64", [64, 128, 192, 256]), ("1,2,48", [1, 2, 48]),
    ("5", [5]), ("1:4,100", [1, 2, 4, 100]),
])
def test_sizes_are_ranges_steps_and_lists(text, sizes):
    assert _trnemu.cost_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "0", "8:4", "a", "1:2:3:4", "1,,2", "-4",
                                  "1:100000:1"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(ValueError, match="64:8192"):
        _trnemu.cost_sizes(text)


@pytest.mark.parametrize("arguments, words", [
    ({"operation": "tensor_tensr"}, "the nearest is tensor_tensor"),
    ({"operation": "tensor_copy", "op": "add"}, "takes no op"),
    ({"operation": "tensor_tensor", "op": "ad"}, 'nearest is "add"'),
    ({"operation": "reciprocal", "engine": "scalar"}, "takes no engine"),
    ({"operation": "tensor_copy", "sizes": [0]}, "at least 1"),
    ({"operation": "tensor_copy", "partitions": 200}, "1 to 128"),
    ({"operation": "tensor_copy", "partitions": 0}, "1 to 128"),
])
def test_a_query_that_means_nothing_is_an_input_fault(arguments, words):
    arguments = dict(arguments)
    with pytest.raises(ValueError, match=words) as info:
        trnemu.bench(arguments.pop("operation"), **arguments)
    assert info.value.category == "input"


def test_a_placement_or_dtype_that_is_none_is_refused():
    with pytest.raises(ValueError, match="IN:OUT"):
        trnemu.bench("tensor_copy", placement="dram")
    with pytest.raises(trnemu.Fault, match="did you mean 'float32'"):
        trnemu.bench("tensor_copy", dtype="float33")
    with pytest.raises(TypeError):
        trnemu.bench(3)
    with pytest.raises(TypeError):
        trnemu.bench("tensor_copy", {"x": ONES})


# --- programs ---------------------------------------------------------------


def test_a_program_has_simulated_and_host_time():
    cost = trnemu.bench(build_double(), {"x": ONES}, runs=3)
    assert cost.time_ns == trnemu.run(build_double(), {"x": ONES}).time_ns
    assert cost.runs == 3 and cost.instructions == 3
    assert cost.host_seconds > 0
    assert cost.instructions_per_second == 3 / cost.host_seconds
    np.testing.assert_array_equal(cost.result.outputs["y"], 2 * ONES)
    assert "us simulated" in str(cost) and "median of 3" in str(cost)


def test_a_program_without_values_needs_no_inputs():
    cost = trnemu.bench(build_double(), values=False)
    assert cost.time_ns == trnemu.run(build_double(), {"x": ONES}).time_ns
    assert cost.result.outputs == {} and not cost.values


# --- the command ------------------------------------------------------------


def test_the_command_lists_what_there_is():
    done = command("bench")
    assert done.returncode == SUCCESS
    assert all(name in done.stdout for name in OPERATIONS)
    listed = run_json("bench", "--json")
    assert [o["operation"] for o in listed["operations"]] == OPERATIONS


def test_the_command_prints_an_aligned_table_with_laws():
    done = command("bench", "tensor_tensor", "--sizes", "64:256", "--dtype",
                   "fp32,bf16", "--target", "trn1,trn2,trn3")
    assert done.returncode == SUCCESS
    lines = done.stdout.splitlines()
    assert lines[1].split()[:5] == ["target", "engine", "dtype", "placement", "N"]
    rows = [line for line in lines if line.startswith("trn")]
    assert len(rows) == 18
    # Figures stand under one another.
    assert len({line.index(" (") > 0 for line in rows}) == 1
    column = lines[1].index("completion") + len("completion")
    assert all(line[column - 1].isdigit() for line in rows)
    assert any("+" in row and "measured" in row for row in rows)


def test_the_command_prints_json_and_csv_of_the_same_rows():
    ask = ("bench", "dma_copy", "--sizes", "512", "--placement",
           "hbm:sbuf,sbuf:hbm", "--dtype", "fp32")
    rows = run_json(*ask, "--json")["rows"]
    assert [r["placement"] for r in rows] == ["hbm:sbuf", "sbuf:hbm"]
    assert rows[0]["bytes_per_ns"] > 0 and rows[0]["flops_per_ns"] is None
    table = list(csv.DictReader(io.StringIO(command(*ask, "--csv").stdout)))
    assert [float(r["completion_ns"]) for r in table] == pytest.approx(
        [r["completion_ns"] for r in rows])


def test_a_pattern_asks_for_several_tables():
    rows = run_json("bench", "tensor_scalar*", "--sizes", "64", "--dtype",
                    "fp32", "--json")["rows"]
    assert [r["operation"] for r in rows] == ["tensor_scalar",
                                              "tensor_scalar_reduce"]


@pytest.mark.parametrize("arguments, words", [
    (("tensor_tensr",), "did you mean tensor_tensor"),
    (("tensor_copy", "--sizes", "x"), "--sizes takes"),
    (("tensor_copy", "--dtype", "flot32"), "there is no dtype"),
    (("tensor_copy", "--placement", "dram"), "IN:OUT"),
    (("tensor_copy", "--target", "trn9"), "trn9"),
    (("tensor_copy", "--json", "--csv"), "exclude"),
    (("tensor_copy", "--sizes", "8:4"), "upwards"),
    (("--csv",), "--csv needs an OPERATION"),
    (("--sizes", "64"), "--sizes needs an OPERATION"),
    (("--hardware", "x"), "--hardware needs an OPERATION"),
])
def test_usage_errors_say_what_there_is(arguments, words):
    done = command("bench", *arguments)
    assert done.returncode == USAGE
    assert words in done.stdout + done.stderr


def test_another_description_changes_the_table(tmp_path):
    stock = (ROOT / "isa/hardware/trn2.textproto").read_text()
    ask = ("bench", "activation", "--sizes", "64", "--dtype", "fp32", "--json")
    law = re.compile(r'opcode: "LoadActivationTable".*?value: (\d+)', re.DOTALL)
    found = law.search(stock)
    changed = stock[:found.start(1)] + "5000" + stock[found.end(1):]
    path = tmp_path / "what_if.textproto"
    path.write_text(changed)
    before = run_json(*ask)["rows"][0]
    after = run_json(*ask, "--hardware", str(path))["rows"][0]
    assert after["completion_ns"] == before["completion_ns"]
    assert after["first_ns"] - before["first_ns"] == pytest.approx(
        5000 - int(found[1]))


# --- whole operations -------------------------------------------------------


@pytest.mark.parametrize("placement", ["hbm:sbuf", "sbuf:hbm", "hbm:hbm"])
def test_an_operation_on_chip_is_not_measured_in_hbm(placement):
    """As the builder, which refuses it."""
    row, = trnemu.bench("tensor_copy", sizes=[64], dtype="float32",
                        placement=placement)
    b = trnemu.ProgramBuilder()
    x = b.input("x", (128, 64), "float32")
    with pytest.raises(trnemu.Fault) as refused:
        b.tensor_copy(dst=b.sbuf((128, 64), "float32"), src=x)
    assert row.refused
    if placement == "hbm:sbuf":
        assert row.refused == refused.value.message


def test_the_completion_of_an_fp32_matmul_is_of_both_passes():
    """At full rate the second pass starts 2 x 512 + 12 cycles of 2.4 GHz after
    the first, and completes 166 ns + 2 x 512 cycles later."""
    row, = trnemu.bench("nc_matmul", sizes=[512], dtype="float32")
    pass_ns = (2 * 512 + 12) / 2.4
    assert row.completion_ns == pytest.approx(pass_ns + 166 + 2 * 512 / 2.4,
                                              rel=0.01)
    assert row.completion_ns > row.interval_ns


def test_the_formulas_of_a_transpose_are_in_what_each_counts():
    """It loads the N columns that it transposes, and moves a row for each of
    the 128 partitions: the formulas are the same at every N."""
    rows = trnemu.bench("nc_transpose", sizes=[32, 64, 128], dtype="bfloat16")
    for formula in ("issue", "completion"):
        for at, in_n in ((0, True), (1, False)):
            texts = {getattr(row.laws[at], formula) for row in rows}
            assert len(texts) == 1
            assert ("N" in texts.pop()) == in_n
