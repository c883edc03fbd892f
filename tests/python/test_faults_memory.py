"""Programs that read what nobody wrote, leave their tensors or do not fit, each
with its repaired twin; what the report says; and that nothing stays behind.

Rows are of cases/behaviours.md, whose other tests are in test_behaviours*.py.
"""

from __future__ import annotations

from collections.abc import Callable
import json
from typing import Any

import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit
import reference as ref

HERE = "test_faults_memory.py"
every_target = pytest.mark.parametrize("target", TARGETS)
Act = Callable[..., Any]


def fault_of(act: Act, *args: Any, **options: Any) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        act(*args, **options)
    return info.value


def details(fault: trnemu.Fault) -> dict[str, str]:
    return json.loads(fault.to_json())["details"]


def says(fault: trnemu.Fault, *words: str) -> None:
    for word in words:
        assert word in str(fault), f"no {word!r} in\n{fault}"


# --- row 9: reads of bytes that nobody wrote --------------------------------


def reduced(rows: int, dtype: str = "float32", target: str = "trn2") -> Any:
    """Sums of 128 rows of ones, of which `rows` were loaded."""
    k = Kit(target)
    t = k.b.sbuf((128, 4), dtype, name="t")
    ones = np.ones((rows, 4), ref.carrier(dtype))
    k.b.dma_copy(dst=t[:rows], src=k.input(ones, dtype))
    out = k.empty((128, 1))
    k.b.tensor_reduce(dst=out, op="add", data=t, axis=1)
    return k.one(out)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float8_e4m3"])
@every_target
def test_row_9_the_last_partition_was_not_loaded(target, dtype):
    fault = fault_of(reduced, 127, dtype, target)
    assert fault.id == "memory.read_unwritten"
    assert (fault.operation, fault.operand) == ("tensor_reduce", "data")
    d = details(fault)
    size = np.dtype(ref.carrier(dtype)).itemsize
    assert d["partition"] == "127"
    assert d["byte_range"] == f"[0, {4 * size})"
    assert d["unwritten_elements"] == "4"
    assert d["tensor"].startswith(f"t, (128, 4) {dtype} in sbuf") and HERE in d["tensor"]
    (writer,) = fault.related
    assert "t was last written by instruction 0, dma_copy" in writer
    assert f"bytes 0 to {4 * size - 1} of partitions 0 to 126" in writer
    assert (reduced(128, dtype, target) == 4).all()


def masked(written: int) -> Any:
    """Data that a select would have replaced: it is read all the same."""
    k = Kit("trn2")
    t, out = k.b.sbuf((4, 8), "float32", name="t"), k.empty((4, 8))
    k.b.memset(dst=t[:, :written], value=2.0)
    k.b.affine_select(
        dst=out, pattern=[[1, 8]], channel_multiplier=0, offset=-4,
        on_true_tile=t, on_false_value=0.0, cmp_op="less",
    )
    return k.one(out)


def test_row_9_what_a_select_masks_away_is_read():
    fault = fault_of(masked, 4)
    assert fault.operand == "on_true_tile"
    assert details(fault)["byte_range"] == "[16, 32)"
    assert (masked(8) == [2, 2, 2, 2, 0, 0, 0, 0]).all()


def predicated(predicate: int, written: bool) -> Any:
    """A copy of no element at all, or of all."""
    k = Kit("trn2")
    src, dst = k.b.sbuf((4, 8), "float32", name="src"), k.filled((4, 8), 1.0)
    p = k.filled((4, 8), predicate, "uint8")
    if written:
        k.b.memset(dst=src, value=2.0)
    k.b.tensor_copy_predicated(dst=dst, src=src, predicate=p)
    return k.one(dst)


def test_row_9_a_source_is_read_whatever_the_predicate_says():
    assert fault_of(predicated, 0, False).operand == "src"
    assert (predicated(0, True) == 1).all()
    assert (predicated(1, True) == 2).all()


@pytest.mark.parametrize("dtype", ref.PACKED)
def test_row_9_one_byte_of_a_packed_element(dtype):
    """A packed element is read whole; its byte range is that of the hole."""
    size = np.dtype(ref.carrier(dtype)).itemsize

    def copied(columns: int) -> None:
        k = Kit("trn3")
        t, out = k.b.sbuf((32, 4), dtype, name="t"), k.empty((32, 4), dtype)
        raw = t.view("uint8")
        ones = np.ones((32, columns), np.uint8)
        k.b.dma_copy(dst=raw[:, :columns], src=k.input(ones))
        k.b.tensor_copy(dst=out, src=t)
        k.run(out)

    fault = fault_of(copied, 4 * size - 1)
    d = details(fault)
    assert d["byte_range"] == f"[{4 * size - 1}, {4 * size})"
    assert (d["element"], d["dtype"]) == ("3", dtype)
    copied(4 * size)


def test_a_strided_view_does_not_care_about_its_gaps():
    k = Kit()
    t = k.b.sbuf((4, 16), "float32", name="t")
    k.b.memset(dst=t[:, ::2], value=3.0)
    out = k.empty((4, 8))
    k.b.tensor_copy(dst=out, src=t[:, ::2])
    assert (k.one(out) == 3).all()


def test_an_index_that_nobody_wrote_names_its_tile():
    def gathered(rows: int) -> Any:
        k = Kit()
        x = k.input(np.arange(32, dtype=np.float32).reshape(4, 8))
        i = k.b.sbuf((4, 1), "int32", name="i")
        k.b.memset(dst=i[:rows], value=1)
        t = k.empty((4, 8))
        k.b.dma_copy(dst=t, src=x.vector_select(0, i))
        return k.one(t)

    fault = fault_of(gathered, 3)
    assert fault.operand == "the index of src"
    assert details(fault)["partition"] == "3"
    assert details(fault)["tensor"].startswith("i, (4, 1) int32 in sbuf")
    assert (gathered(4)[3] == np.arange(8, 16)).all()


def test_a_register_is_loaded_from_a_written_element():
    def loaded(write: bool) -> None:
        k = Kit()
        t = k.b.sbuf((1, 2), "int32", name="t")
        k.b.memset(dst=t[:, int(not write):], value=1)
        r = k.b.register_alloc()
        k.b.register_load(dst=r, src=t[:, :1])
        k.run()

    fault = fault_of(loaded, False)
    assert (fault.operation, fault.operand) == ("register_load", "src")
    says(fault, "t was last written by", "bytes 4 to 7 of partition 0")
    loaded(True)


def test_the_report_says_when_nothing_writes_the_tile():
    def stored(write: bool) -> Any:
        k = Kit()
        t = k.b.sbuf((4, 4), "float32", name="nobody")
        if write:
            k.b.memset(dst=t, value=1.0)
        return k.one(t)

    fault = fault_of(stored, False)
    assert fault.related == ("nothing in the program writes nobody",)
    assert "write nobody first" in fault.finding.remedy
    assert (stored(True) == 1).all()


def test_the_report_says_when_the_write_comes_later():
    def stored(late: bool) -> Any:
        k = Kit()
        t, out = k.b.sbuf((4, 4), "float32", name="t"), k.empty((4, 4))
        steps = [lambda: k.b.memset(dst=t, value=1.0),
                 lambda: k.b.tensor_copy(dst=out, src=t)]
        for step in reversed(steps) if late else steps:
            step()
        return k.one(out)

    fault = fault_of(stored, True)
    assert "instruction 1, memset" in fault.related[0]
    assert "had not run" in fault.related[0]
    assert "later in the program" in fault.finding.remedy
    assert (stored(False) == 1).all()


def unsynchronised(wait: bool, **options: Any) -> Any:
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x, y = b.input("x", (4, 4), "float32"), b.output("y", (4, 4), "float32")
    t, u = b.sbuf((4, 4), "float32", name="t"), b.sbuf((4, 4), "float32")
    loaded, copied = b.semaphore("loaded"), b.semaphore("copied")
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    waits = {"wait": [(loaded, 16)]} if wait else {}
    b.tensor_copy(dst=u, src=t, engine="vector", signal=[(copied, 1)], **waits)
    b.dma_copy(dst=y, src=u, wait=[(copied, 1)])
    ones = np.ones((4, 4), np.float32)
    return trnemu.run(b.build(), {"x": ones}, **options).outputs["y"]


def test_the_report_names_the_transfer_that_was_not_waited_for():
    # With full checks it is a race, and this stands in its `related`.
    fault = fault_of(unsynchronised, False, checks="memory")
    assert fault.id == "memory.read_unwritten"
    writer = "instruction 0, dma_copy on the sync engine"
    assert any(r.startswith(writer) for r in fault.related)
    assert "wait for that" in fault.finding.remedy
    assert (unsynchronised(True) == 1).all()


def test_with_full_checks_the_race_comes_before_the_unwritten_read():
    fault = fault_of(unsynchronised, False)
    assert fault.id == "race.write_read"
    assert any("memory.read_unwritten at instruction 1" in r
               for r in fault.related)


def test_the_report_says_that_a_transfer_is_under_way():
    """Program order takes each DMA at once; a random one may leave it."""
    found = set()
    for seed in range(20):
        try:
            unsynchronised(False, schedule=seed, time=False, checks="memory")
        except trnemu.Fault as fault:
            found |= {"under way" if "was not complete" in r else
                      "before" if "had not run" in r else r
                      for r in fault.related}
    assert found == {"under way", "before"}


# --- outputs ------------------------------------------------------------------


def output(columns: int, dtype: str = "float32", rows: int = 4) -> Any:
    b = trnemu.ProgramBuilder(target="trn2")
    y = b.output("y", (4, 8), dtype)
    t = b.sbuf((4, 8), dtype)
    b.memset(dst=t, value=1)
    b.dma_copy(dst=y[:rows, :columns], src=t[:rows, :columns])
    return trnemu.run(b.build(), {}).outputs["y"]


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_every_byte_of_an_output_must_have_been_written(dtype):
    size = np.dtype(ref.carrier(dtype)).itemsize
    fault = fault_of(output, 5, dtype)
    assert (fault.id, fault.operand) == ("output.unwritten", "y")
    d = details(fault)
    assert d["first_element"] == "[0, 5]"
    assert d["byte_range"] == f"[{5 * size}, {8 * size})"
    assert d["unwritten_bytes"] == str(4 * 3 * size)
    assert d["unwritten_elements"] == "12"
    assert "y was last written by instruction 1, dma_copy" in fault.related[0]
    assert HERE in fault.source
    fault = fault_of(output, 8, dtype, 3)
    assert details(fault)["first_element"] == "[3, 0]"
    assert details(fault)["unwritten_elements"] == "8"
    assert (output(8, dtype).astype(float) == 1).all()


def test_one_missing_byte_of_a_packed_output_is_found():
    def stored(n: int) -> None:
        b = trnemu.ProgramBuilder(target="trn3")
        y = b.output("y", (2, 4), "float8_e4m3fn_x4")
        t = b.sbuf((2, 16), "uint8")
        b.memset(dst=t, value=1)
        raw = y.view("uint8")
        b.dma_copy(dst=raw[:1], src=t[:1])
        b.dma_copy(dst=raw[1:, :n], src=t[1:, :n])
        trnemu.run(b.build(), {})

    d = details(fault_of(stored, 15))
    assert (d["first_element"], d["byte_range"]) == ("[1, 3]", "[31, 32)")
    assert (d["unwritten_bytes"], d["unwritten_elements"]) == ("1", "1")
    stored(16)


def test_an_output_that_nothing_writes():
    b = trnemu.ProgramBuilder(target="trn2")
    b.output("y", (4, 8), "float32")
    b.nop()
    fault = fault_of(trnemu.run, b.build(), {})
    assert "nothing in the program writes y" in fault.related


def test_rows_that_a_scatter_skips_are_missing_and_it_is_named():
    def scattered(rows: list[int]) -> Any:
        k = Kit()
        i = k.load(np.array(rows, np.int32)[:, None])
        t = k.filled((3, 4), 1.0)
        y = k.b.output("y", (3, 4), "float32")
        k.b.dma_copy(dst=y.vector_select(0, i), src=t, oob_mode="skip")
        return trnemu.run(k.build(), k.inputs).outputs["y"]

    fault = fault_of(scattered, [0, -1, 2])
    assert details(fault)["first_element"] == "[1, 0]"
    assert "may write them, but left them out" in fault.related[0]
    assert (scattered([2, 1, 0]) == 1).all()


# --- row 3: accumulating ------------------------------------------------------


def accumulated(target: str, before: str) -> Any:
    k = Kit(target)
    ones = k.load(np.ones((32, 4), ref.carrier("bfloat16")), "bfloat16")
    bank = k.b.psum((4, 8), "float32", name="bank")[:, 4:]
    if before == "memset":
        k.b.memset(dst=bank, value=5.0)
    if before == "matmul":
        k.b.nc_matmul(dst=bank, stationary=ones, moving=ones)
    if before == "memset after matmul":
        k.b.nc_matmul(dst=bank, stationary=ones, moving=ones)
        k.b.memset(dst=bank[:, 3:], value=5.0)
    k.b.nc_matmul(dst=bank, stationary=ones, moving=ones, accumulate=True)
    return k.one(bank)


@every_target
def test_row_3_onto_what_nobody_wrote(target):
    fault = fault_of(accumulated, target, "nothing")
    assert fault.id == "nc_matmul.accumulate_unwritten"
    d = details(fault)
    assert (d["bank"], d["partition"], d["byte_range"]) == ("0", "0", "[16, 20)")
    assert d["tensor"].startswith("bank, (4, 8) float32 in psum")
    assert "accumulate=False" in fault.finding.remedy
    assert (accumulated(target, "matmul") == 64).all()


@every_target
@pytest.mark.parametrize("before", ["memset", "memset after matmul"])
def test_row_3_onto_what_no_matmul_wrote(target, before):
    if target == "trn3":  # not in the undefined list there
        out = accumulated(target, before)
        assert (out[:, 3] == 37).all()
        assert (out[:, :3] == (37 if before == "memset" else 64)).all()
        return
    fault = fault_of(accumulated, target, before)
    assert fault.id == "nc_matmul.accumulate_on_other"
    at = 16 if before == "memset" else 28
    assert details(fault)["byte_range"] == f"[{at}, {at + 4})"
    (writer,) = fault.related
    assert writer.startswith("last written by instruction")
    assert "memset on the vector engine" in writer and HERE in writer
    assert (accumulated(target, "matmul") == 64).all()


def test_row_3_in_a_loop_the_last_writer_is_that_of_the_iteration_before():
    """The memset stands behind the matmul in the program, and runs before it
    in the second iteration."""
    def looped(fill: bool) -> Any:
        k = Kit()
        ones = k.load(np.ones((32, 4), ref.carrier("bfloat16")), "bfloat16")
        bank = k.b.psum((4, 4), "float32", name="bank")
        k.b.nc_matmul(dst=bank, stationary=ones, moving=ones)
        with k.b.fori_loop(0, 2):
            k.b.nc_matmul(
                dst=bank, stationary=ones, moving=ones, accumulate=True)
            if fill:
                k.b.memset(dst=bank, value=0.0)
        return k.one(bank)

    fault = fault_of(looped, True)
    assert fault.id == "nc_matmul.accumulate_on_other"
    assert "last written by" in fault.related[0]
    assert "memset" in fault.related[0]
    assert (looped(False) == 96).all()


# --- nothing stays behind ------------------------------------------------------


def half_loaded() -> tuple[Any, dict[str, Any]]:
    """Adds a tile that a register-free choice fills in whole or in part: the
    row indices of a scatter into it come from the run."""
    k = Kit()
    i = k.load(np.array([[0], [1], [2]], np.int32))
    rows = k.input(np.arange(12, dtype=np.float32).reshape(3, 4))
    t = k.b.sbuf((3, 4), "float32", name="t")
    k.b.dma_copy(dst=t, src=rows.vector_select(0, i), oob_mode="skip")
    return trnemu.Device("trn2").load(k.build(t)), k.inputs


@pytest.mark.parametrize("schedule", ["timed", "program", 7])
def test_bytes_that_an_earlier_run_wrote_are_unwritten_again(schedule):
    executable, inputs = half_loaded()
    options = {"schedule": schedule, "time": schedule == "timed"}
    name = next(n for n, a in inputs.items() if a.dtype == np.int32)
    skip = {**inputs, name: np.array([[0], [-1], [2]], np.int32)}
    for _ in range(2):
        executable.run(inputs, **options)
        fault = fault_of(executable.run, skip, **options)
        assert fault.id == "memory.read_unwritten"
        assert details(fault)["partition"] == "1"


def test_psum_forgets_who_wrote_it():
    k = Kit()
    ones = k.load(np.ones((32, 4), ref.carrier("bfloat16")), "bfloat16")
    bank = k.empty((4, 4), space="psum")
    first = k.b.register_alloc()
    flag = k.load(np.array([[1]], np.int32))
    k.b.register_load(dst=first, src=flag)
    with k.b.while_loop(first):
        k.b.nc_matmul(dst=bank, stationary=ones, moving=ones)
        k.b.register_move(dst=first, src=0)
    k.b.nc_matmul(dst=bank, stationary=ones, moving=ones, accumulate=True)
    executable = trnemu.Device("trn2").load(k.build(bank))
    name = next(n for n, a in k.inputs.items() if a.dtype == np.int32)
    no = {**k.inputs, name: np.array([[0]], np.int32)}
    for _ in range(2):
        r = executable.run(k.inputs)
        assert (r.outputs["out0"] == 64).all()
        fault = fault_of(executable.run, no)
        assert fault.id == "nc_matmul.accumulate_unwritten"


def test_outputs_and_scratch_are_unwritten_in_each_run():
    k = Kit()
    i = k.load(np.array([[0], [1]], np.int32))
    t = k.filled((2, 4), 1.0)
    s = k.b.scratch("s", (2, 4), "float32")
    k.b.dma_copy(dst=s.vector_select(0, i), src=t, oob_mode="skip")
    y = k.b.output("y", (2, 4), "float32")
    k.b.dma_copy(dst=y.vector_select(0, i), src=t, oob_mode="skip")
    z = k.b.output("z", (2, 4), "float32")
    k.b.dma_copy(dst=z, src=s)
    executable = trnemu.Device("trn2").load(k.build())
    executable.run(k.inputs)
    bad = {"in0": np.array([[0], [9]], np.int32)}
    assert fault_of(executable.run, bad).id == "memory.read_unwritten"
    executable.run(k.inputs)


def test_an_inout_keeps_what_the_last_good_run_left():
    k = Kit()
    k.inputs["state"] = np.zeros((2, 4), np.float32)
    state = k.b.inout("state", (2, 4), "float32")
    i = k.load(np.array([[0], [1]], np.int32))
    t = k.filled((2, 4), 1.0)
    k.b.dma_copy(dst=state[:1], src=t[:1])
    k.b.dma_copy(dst=state.vector_select(0, i), src=t)
    executable = trnemu.Device("trn2").load(k.build())
    bad = {**k.inputs, "in1": np.array([[0], [9]], np.int32)}
    bad["state"] = np.full((2, 4), 5, np.float32)
    assert (executable.run(k.inputs).outputs["state"] == 1).all()
    fault_of(executable.run, bad)
    again = {"in1": np.array([[1], [0]], np.int32)}
    assert (executable.run(again).outputs["state"] == 1).all()


# --- reads that are allowed ------------------------------------------------------

ALLOW = {"allow": ["memory.read_unwritten"]}


def stale() -> tuple[trnemu.Device, Any, Any]:
    """A device whose SBUF is full of sevens, and a program that reads there."""
    device = trnemu.Device("trn2")
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((128, 4096), "float32", address=(0, 0))
    p = b.psum((128, 512), "float32", address=(0, 0))
    b.memset(dst=t, value=7.0)
    b.memset(dst=p, value=7.0)
    fill = device.load(b.build())
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((128, 512), "float32", address=(0, 0))
    u = b.sbuf((128, 512), "float32")
    p = b.psum((128, 512), "float32", address=(0, 0))
    b.tensor_copy(dst=u, src=p)
    b.memset(dst=t[:, :2], value=1.0)
    for name, view in (("y", t), ("z", u)):
        b.dma_copy(dst=b.output(name, (128, 512), "float32"), src=view)
    return device, fill, device.load(b.build())


@pytest.mark.parametrize("options", [ALLOW, {"checks": "off"}])
def test_unwritten_bytes_that_may_be_read_are_zero_whatever_ran_before(options):
    device, fill, reader = stale()
    fault_of(reader.run, {})
    for _ in range(2):
        fill.run({})
        r = reader.run({}, **options)
        assert (r.outputs["y"][:, :2] == 1).all()
        assert (r.outputs["y"][:, 2:] == 0).all()
        assert (r.outputs["z"] == 0).all()
    if "allow" in options:
        assert r.allowed == ["memory.read_unwritten"]
        assert r.diagnostics[0].id == "memory.read_unwritten"


def test_unwritten_scratch_that_may_be_read_is_zero():
    b = trnemu.ProgramBuilder(target="trn2")
    x = b.inout("x", (2, 4), "float32")
    s = b.scratch("s", (2, 4), "float32")
    b.dma_copy(dst=b.output("y", (2, 4), "float32"), src=s)
    b.dma_copy(dst=s, src=x)
    executable = trnemu.Device("trn2").load(b.build())
    ones = {"x": np.ones((2, 4), np.float32)}
    for _ in range(2):
        assert (executable.run(ones, **ALLOW).outputs["y"] == 0).all()


def test_an_output_that_checks_off_do_not_look_at_is_zero_where_unwritten():
    k = Kit()
    i = k.load(np.array([[0], [1]], np.int32))
    t = k.filled((2, 4), 1.0)
    y = k.b.output("y", (2, 4), "float32")
    k.b.dma_copy(dst=y.vector_select(0, i), src=t, oob_mode="skip")
    executable = trnemu.Device("trn2").load(k.build())
    assert (executable.run(k.inputs).outputs["y"] == 1).all()
    bad = {"in0": np.array([[0], [9]], np.int32)}
    y = executable.run(bad, checks="off").outputs["y"]
    np.testing.assert_array_equal(y, [[1] * 4, [0] * 4])


# --- rows 20 and 36: what does not fit or is misaligned -----------------------


def three(middle: int) -> trnemu.Program:
    """888 + 98568 + 98568 = 198024 bytes; trn1 has 196608."""
    k = Kit("trn1")
    tiles = [k.b.sbuf((128, n), "uint8", name=f"tile{i}")
             for i, n in enumerate((888, middle, 98568))]
    for t in tiles + tiles:
        k.b.memset(dst=t[:, :8], value=0)
    return k.b.build()


def test_row_20_the_third_tile_does_not_fit():
    fault = fault_of(three, 98568)
    assert fault.category == "capacity"
    d = details(fault)
    assert d["total"] == "198024 bytes per partition"
    assert d["limit"] == "196608 bytes per partition"
    assert three(98568 - 198024 + 196608).verify() == []


@every_target
def test_row_36_a_two_byte_tile_of_psum_at_byte_2(target):
    def placed(at: int) -> Any:
        k = Kit(target)
        p = k.b.psum((4, 8), "bfloat16", address=(0, at))
        k.b.memset(dst=p, value=1.0)
        out = k.empty((4, 8), "bfloat16")
        k.b.tensor_copy(dst=out, src=p, engine="vector")
        return k.one(out)

    fault = fault_of(placed, 2)
    assert fault.category == "illegal"
    says(fault, "byte 2", "multiples of 4", "byte 4")
    assert (placed(4).astype(float) == 1).all()


def parameter_of(build):
    """The details of the fault of reading a tile half written."""
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, 8), "float32", name="t")
    b.memset(dst=t[0:2], value=1.0)
    build(b, t)
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.run(b.build(), {})
    assert caught.value.id == "memory.read_unwritten"
    return caught.value.operand, caught.value.details.get("parameter")


def test_an_operand_called_as_its_parameter_has_no_parameter_line():
    # One tile is dst and data, and data is what is read.
    operand, parameter = parameter_of(lambda b, t: b.tensor_scalar(
        dst=t, data=t, op0="add", operand0=1.0))
    assert operand == "data" and parameter is None


def test_an_operand_called_otherwise_has_the_parameter_it_is():
    # The transpose is a matmul with the identity: its data is stationary or
    # moving.
    operand, parameter = parameter_of(lambda b, t: b.nc_transpose(
        dst=b.psum((8, 4), "float32"), data=t, engine="tensor"))
    assert operand in ("stationary", "moving") and parameter == "data"
