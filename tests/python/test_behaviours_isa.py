"""Behaviours that users trip over, of indices, registers and loops.

Rows 6, 8, 26, 27 of shared/cases/behaviours.md, and more kinds of row 21. The
other rows of the instruction set: 18 and 41 in test_behaviours_tensor.py, 22 in
test_behaviours.py and test_rules_elementwise.py, 31 in test_values_shuffle.py,
49 in test_values_sendrecv.py, 50 in test_values_random.py, more of 27 in
test_loops.py.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, SUCCESS, trnemu as command
from kit import TARGETS, Kit
from test_behaviours import refusal, says

F32 = np.float32
LARGEST = 2**31 - 1

every_target = pytest.mark.parametrize("target", TARGETS)


# --- 6: an index that no row has ---------------------------------------------

# dtype of the indices, what stands for "nothing"
SENTINELS = [
    ("int32", LARGEST), ("int32", -1), ("int32", 3), ("int32", -(2**31)),
    ("uint32", 2**32 - 1), ("uint32", LARGEST), ("uint32", 3),
]
sentinels = pytest.mark.parametrize(("index", "bad"), SENTINELS)


def table(dtype="float32"):
    return np.arange(1, 13).reshape(3, 4).astype(dtype)


def gather(mode, bad, index="int32", target="trn2", dtype="float32"):
    """Rows 0, `bad` and 2 of a table into a tile of sevens."""
    k = Kit(target)
    rows = k.input(table(dtype))
    i = k.load(np.array([[0], [bad], [2]], index))
    t = k.filled((3, 4), 7, dtype)
    k.b.dma_copy(dst=t, src=rows.vector_select(0, i), oob_mode=mode)
    return k, t


def scatter(mode, bad, index="int32", target="trn2", dtype="float32"):
    """Three rows of a tile to the rows 0, `bad` and 2 of a table."""
    k = Kit(target)
    i = k.load(np.array([[0], [bad], [2]], index))
    t = k.load(table(dtype))
    k.inputs["state"] = np.full((3, 4), 7, dtype)
    state = k.b.inout("state", (3, 4), dtype)
    k.b.dma_copy(dst=state.vector_select(0, i), src=t, oob_mode=mode)
    return k


def names_the_index(fault, bad, operand):
    assert fault.id == "access.dynamic_out_of_bounds"
    assert (fault.category, fault.operand) == ("out_of_bounds", operand)
    says(fault, f"index {bad}", "position 1", "0 to 2")
    details = json.loads(fault.to_json())["details"]
    assert (details["index"], details["position"]) == (str(bad), "1")
    assert details["limit"] == "3"


@every_target
@sentinels
def test_row_6_a_gather_of_a_row_that_is_not_there_fails(target, index, bad):
    k, t = gather("error", bad, index, target)
    fault = refusal(lambda: k.run(t), "out_of_bounds")
    names_the_index(fault, bad, "src")
    says(fault, "'in0'")


@every_target
@sentinels
def test_row_6_a_gather_may_skip_the_row_and_the_others_are_exact(
    target, index, bad
):
    k, t = gather("skip", bad, index, target)
    want = table()
    want[1] = 7
    np.testing.assert_array_equal(k.one(t), want)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "int32"])
def test_row_6_a_skipped_row_keeps_its_bytes_whatever_the_dtype(dtype):
    k, t = gather("skip", -1, dtype=dtype)
    want = table(dtype)
    want[1] = 7
    np.testing.assert_array_equal(k.one(t), want)


@every_target
@sentinels
def test_row_6_a_scatter_to_a_row_that_is_not_there_fails(target, index, bad):
    k = scatter("error", bad, index, target)
    fault = refusal(lambda: k.run(), "out_of_bounds")
    names_the_index(fault, bad, "dst")
    says(fault, "'state'")


@every_target
@sentinels
def test_row_6_a_scatter_may_skip_the_row(target, index, bad):
    k = scatter("skip", bad, index, target)
    out = trnemu.run(k.build(), k.inputs).outputs["state"]
    want = table()
    want[1] = 7
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("bad", [2**32 - 1, LARGEST, 20])
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_row_6_a_mixed_group_of_an_indirect_transpose(target, bad):
    """The rows that indices name become columns; a group of 16 has good and
    bad ones. -1 is 2^32 - 1, since the indices are uint32."""
    rows = np.arange(20 * 32, dtype=np.uint16).reshape(20, 32)
    pick = np.arange(16)
    pick[[5, 11]] = bad, 21
    for mode in ("error", "skip"):
        k = Kit(target)
        x, i = k.input(rows), k.load(pick.astype(np.uint32)[:, None])
        t = k.filled((32, 16), 7, "uint16")
        k.b.dma_transpose(dst=t, src=x.vector_select(0, i), oob_mode=mode)
        if mode == "error":
            fault = refusal(lambda: k.run(t), "out_of_bounds")
            says(fault, f"index {bad}", "position 5", "0 to 19")
            continue
        good = pick < 20
        want = np.where(good, rows[np.where(good, pick, 0)].T, 7)
        np.testing.assert_array_equal(k.one(t), want)


@every_target
@pytest.mark.parametrize("bad", [LARGEST, -1, 3])
def test_row_6_rows_that_are_added_in_a_gather(target, bad):
    for mode in ("error", "skip"):
        k = Kit(target)
        x = k.input(table())
        i = k.load(np.array([[0], [bad], [2]], np.int32))
        t = k.filled((3, 4), 7.0)
        k.b.dma_compute(
            dst=t, srcs=[x.vector_select(0, i), t], reduce_op="add",
            oob_mode=mode,
        )
        if mode == "error":
            fault = refusal(lambda: k.run(t), "out_of_bounds")
            says(fault, f"index {bad}", "0 to 2")
            continue
        want = table() + 7
        want[1] = 7
        np.testing.assert_array_equal(k.one(t), want)


def test_row_6_what_runs_next_is_not_affected():
    """A device after a failed run, and the same program with good indices."""
    k, t = gather("error", 1)
    device = trnemu.Device("trn2")
    executable = device.load(k.build(t))
    good = k.inputs["in1"]
    bad = np.array([[0], [LARGEST], [-1]], np.int32)
    for _ in range(3):
        with pytest.raises(trnemu.Fault):
            executable.run({**k.inputs, "in1": bad})
        r = executable.run({**k.inputs, "in1": good})
        np.testing.assert_array_equal(r.outputs["out0"], table())
        assert r.diagnostics == []


@pytest.mark.parametrize("schedule", ["timed", "program", 1, 2])
def test_row_6_a_failed_scatter_has_moved_nothing(schedule):
    k = scatter("error", LARGEST)
    executable = trnemu.Device("trn2").load(k.build())
    options = {"schedule": schedule, "time": schedule == "timed"}
    with pytest.raises(trnemu.Fault):
        executable.run(k.inputs, **options)
    good = np.array([[1], [1], [1]], np.int32)
    k.inputs["in0"] = good
    out = executable.run(k.inputs, **options).outputs["state"]
    assert (out[[0, 2]] == 7).all()


# --- 8: out of bounds is never a success -------------------------------------


def saved(directory, k, *views):
    """The command line that runs the program."""
    path = directory / "k.trn"
    k.build(*views).save(str(path))
    line = ["run", path]
    for name, array in k.inputs.items():
        np.save(directory / f"{name}.npy", array)
        line += ["--input", f"{name}={directory / name}.npy"]
    return line


def on_chip():
    """A vector instruction whose offset, a register, is one too large."""
    k = Kit()
    x, t = k.filled((4, 8), 1.0), k.empty((4, 4))
    r = k.b.register_alloc(5)
    k.b.tensor_copy(
        dst=t, src=x.ap([[8, 4], [1, 4]], scalar_offset=r, indirect_dim=1)
    )
    return k, t


def by_nc_n_gather():
    k = Kit()
    x, t = k.filled((4, 8), 1.0), k.empty((4, 1))
    i = k.load(np.full((4, 1), 8, np.uint32))
    k.b.nc_n_gather(dst=t, data=x, indices=i)
    return k, t


OUTSIDE = {
    "gather": (lambda: gather("error", LARGEST), "'in0'"),
    "scatter": (lambda: (scatter("error", -1),), "'state'"),
    "on chip": (on_chip, "'sbuf0'"),
    "nc_n_gather": (by_nc_n_gather, "data"),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_row_8_the_command_fails_and_names_the_tensor(tmp_path, kind):
    make, name = OUTSIDE[kind]
    out = tmp_path / "out"
    line = saved(tmp_path, *make()) + ["--output-dir", out]
    r = command(*line)
    assert r.returncode == FAULT, r.stdout + r.stderr
    assert "out_of_bounds" in r.stderr + r.stdout
    assert name in r.stderr, r.stderr
    assert not list(out.glob("*.npy"))  # no partial results
    report = json.loads(command(*line, "--json").stdout)
    assert (report["ok"], report["exit_code"]) == (False, FAULT)
    assert report["fault"]["category"] == "out_of_bounds"


@pytest.mark.parametrize("kind", OUTSIDE)
def test_row_8_it_cannot_be_allowed_nor_hidden(tmp_path, kind):
    line = saved(tmp_path, *OUTSIDE[kind][0]())
    for more in (["--schedule", "3"], ["--checks", "off"]):
        r = command(*line, *more)
        assert r.returncode == FAULT, (more, r.stdout, r.stderr)
    r = command(*line, "--allow", "access.dynamic_out_of_bounds")
    assert r.returncode != SUCCESS, r.stdout


def test_row_8_outputs_that_look_right_change_nothing(tmp_path):
    """Every row of the output is written; the bad index is of a spare tile."""
    k, t = gather("error", LARGEST)
    full = k.filled((3, 4), 1.0)
    line = saved(tmp_path, k, full)
    assert command(*line).returncode == FAULT


def test_row_8_skipped_rows_are_a_success(tmp_path):
    k, t = gather("skip", LARGEST)
    assert command(*saved(tmp_path, k, t)).returncode == SUCCESS


# --- 26: offsets that a register holds ---------------------------------------


def square(k, space, dtype):
    a = np.arange(16).reshape(4, 4).astype(dtype)
    return k.input(a) if space == "hbm" else k.load(a)


def offset_of(k, kind, value):
    if kind == "register":
        return k.b.register_alloc(value)
    return k.load(np.array([[value]], kind))


@every_target
@pytest.mark.parametrize("kind", ["register", "int32", "uint32"])
@pytest.mark.parametrize("space", ["hbm", "sbuf"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float16"])
def test_row_26_dma_reads_from_where_a_register_says(
    target, kind, space, dtype
):
    for offset, want in [(0, [[0, 1], [4, 5]]), (2, [[2, 3], [6, 7]])]:
        k = Kit(target)
        a = square(k, space, dtype)
        view = a.ap([[4, 2], [1, 2]], scalar_offset=offset_of(k, kind, offset),
                    indirect_dim=1)
        t = k.filled((2, 2), 9, dtype)
        k.b.dma_copy(dst=t, src=view)
        assert k.one(t).tolist() == want


@every_target
@pytest.mark.parametrize("kind", ["register", "int32"])
@pytest.mark.parametrize("space", ["hbm", "sbuf"])
@pytest.mark.parametrize("offset", [3, -1, LARGEST, -(2**31)])
def test_row_26_an_offset_too_far_is_reported(target, kind, space, offset):
    k = Kit(target)
    a = square(k, space, "float32")
    view = a.ap([[4, 2], [1, 2]], scalar_offset=offset_of(k, kind, offset),
                indirect_dim=1)
    t = k.filled((2, 2), 9.0)
    k.b.dma_copy(dst=t, src=view)
    fault = refusal(lambda: k.run(t), "out_of_bounds")
    says(fault, f"index {offset}", "0 to 2", "dimension 1")


@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
def test_row_26_engines_read_and_write_from_there_too(engine):
    for offset in (0, 2):
        k = Kit()
        a, t = square(k, "sbuf", "float32"), k.filled((4, 4), 9.0)
        pattern = [[4, 4], [1, 2]]
        r = k.b.register_alloc(offset)
        k.b.tensor_copy(
            dst=t.ap(pattern, scalar_offset=r, indirect_dim=1),
            src=a.ap(pattern, scalar_offset=r, indirect_dim=1), engine=engine,
        )
        want = np.full((4, 4), 9.0)
        want[:, offset:offset + 2] = np.arange(16).reshape(4, 4)[
            :, offset:offset + 2]
        np.testing.assert_array_equal(k.one(t), want)


def test_row_26_a_write_from_sbuf_to_where_a_register_says():
    for offset in (0, 2):
        k = Kit()
        k.inputs["state"] = np.full((4, 4), 9, F32)
        state = k.b.inout("state", (4, 4), "float32")
        k.b.dma_copy(
            dst=state.ap([[4, 2], [1, 2]], indirect_dim=1,
                         scalar_offset=k.b.register_alloc(offset)),
            src=k.load(np.array([[1, 2], [3, 4]], F32)),
        )
        out = trnemu.run(k.build(), k.inputs).outputs["state"]
        want = np.full((4, 4), 9)
        want[:2, offset:offset + 2] = [[1, 2], [3, 4]]
        np.testing.assert_array_equal(out, want)


# --- 27: loops whose trip count the run decides ------------------------------


@every_target
@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_row_27_a_loop_of_n_visits_0_to_n_less_1(target, n):
    """The documented case: i is stored to out[i], n comes from memory."""
    k = Kit(target)
    bound, counter = k.b.register_alloc(), k.empty((1, 1), "int32")
    k.b.register_load(bound, k.load(np.array([[n]], np.int32)))
    k.inputs["seen"] = np.full((8, 1), -1, np.int32)
    seen = k.b.inout("seen", (8, 1), "int32")
    with k.b.fori_loop(0, bound) as i:
        k.b.register_store(counter, i)
        k.b.dma_copy(
            dst=seen.ap([[1, 1], [1, 1]], scalar_offset=i, indirect_dim=0),
            src=counter,
        )
    program = k.build()
    want = [*range(n), *[-1] * (8 - n)]
    for schedule in ("timed", "program", 1, 2, 3):
        r = trnemu.run(program, k.inputs, schedule=schedule,
                       time=schedule == "timed")
        assert r.outputs["seen"][:, 0].tolist() == want, schedule


@every_target
@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_row_27_the_induction_register_cannot_be_written(target, dtype):
    b = trnemu.ProgramBuilder(target=target)
    with b.fori_loop(0, 3) as i:
        for write in (
            lambda: b.register_move(i, 0),
            lambda: b.register_alu(i, "add", i, 1),
            lambda: b.register_load(i, b.sbuf((1, 1), dtype)),
        ):
            fault = refusal(write)
            assert fault.id == "fori_loop.counter_written"


@every_target
@pytest.mark.parametrize("step", [0, -1, -(2**31)])
def test_row_27_a_step_of_0_or_less_is_an_error(target, step):
    b = trnemu.ProgramBuilder(target=target)
    fault = refusal(lambda: b.fori_loop(0, 3, step).__enter__())
    assert fault.id == "fori_loop.step"
    says(fault, str(step))


# --- 21: operand tiles of arithmetic -----------------------------------------

OTHERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16",
          "bfloat16")


@every_target
@pytest.mark.parametrize("dtype", OTHERS)
def test_row_21_no_arithmetic_takes_a_column_but_of_float32(target, dtype):
    k = Kit(target)
    x, column = k.filled((8, 4), 1.0), k.filled((8, 1), 1, dtype)
    for call in (
        lambda: k.b.tensor_scalar(dst=x, data=x, op0="add", operand0=column),
        lambda: k.b.tensor_scalar(dst=x, data=x, op0="add", operand0=1.0,
                                  op1="multiply", operand1=column),
        lambda: k.b.activation(dst=x, data=x, op="copy", scale=column),
        lambda: k.b.tensor_scalar_cumulative(
            dst=x, src=x, op0="add", op1="add", imm0=column),
        lambda: k.b.tensor_scalar_reduce(
            dst=x, data=x, op0="add", operand0=column, reduce_op="add",
            reduce_res=k.filled((8, 1), 0.0)),
    ):
        says(refusal(call), "float32", dtype)
