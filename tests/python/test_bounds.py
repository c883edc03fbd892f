"""Every address that a view, a descriptor, a register or an index can produce:
legal at the limit, refused one past it, with the index, its place and the limit
in the report; skipped lanes are left alone.

What views refuse is in tests/isa/view_test.cc and test_api_views.py; the rows of
cases/behaviours.md are in test_behaviours_isa.py. Here are the limits of each
kind of address, and hand-made program files.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import re
from typing import Any

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, MALFORMED, SUCCESS, trnemu as command
from kit import Kit

LARGEST = 2**31 - 1
# Far outside, and what a sentinel looks like.
FAR = (LARGEST, -1, -(2**31))
ORDERS = ["timed", "program", 5]


def options(order: Any) -> dict[str, Any]:
    return {"schedule": order, "time": order == "timed"}


def refusal(call: Callable[..., Any], *args: Any, **kwargs: Any) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        call(*args, **kwargs)
    assert info.value.category == "out_of_bounds", str(info.value)
    return info.value


def details(fault: trnemu.Fault) -> dict[str, str]:
    return json.loads(fault.to_json())["details"]


# --- static: access patterns ---------------------------------------------------

# A tile of 4 partitions of 10 elements: (pattern, offset) that end exactly at
# its first or last element, and by how much the offset may not be changed.
PATTERNS = [
    ([[10, 4], [1, 10]], 0, (-1, 1)),
    ([[10, 4], [1, 4]], 6, (1,)),
    ([[10, 4], [3, 4]], 0, (-1, 1)),
    ([[10, 4], [-1, 10]], 9, (-1, 1)),
    ([[10, 4], [-3, 4]], 9, (-1, 1)),
    ([[10, 4], [5, 2], [-1, 5]], 4, (-1, 1)),
    ([[10, 4], [-5, 2], [2, 3]], 5, (-1, 1)),
    ([[10, 2], [0, 3], [1, 10]], 20, (-1, 1)),
    ([[10, 1], [1, 1]], 39, (1,)),
]


@pytest.mark.parametrize("pattern, offset, wrong", PATTERNS)
@pytest.mark.parametrize("space", ["sbuf", "psum"])
def test_a_pattern_on_chip_ends_at_its_tile(space, pattern, offset, wrong):
    b = trnemu.ProgramBuilder(target="trn2")
    t = getattr(b, space)((4, 10), "float32", name="t")
    assert t.ap(pattern, offset=offset).shape
    for change in wrong:
        fault = refusal(t.ap, pattern, offset=offset + change)
        assert "'t'" in fault.message and "outside" in fault.message
        assert {"axis", "index", "limit"} <= set(details(fault))


@pytest.mark.parametrize("pattern, offset, wrong", [
    ([[1, 40]], 0, (-1, 1)),
    ([[-1, 40]], 39, (-1, 1)),
    ([[13, 4]], 0, (-1, 1)),
    ([[-13, 4]], 39, (-1, 1)),
    ([[20, 2], [-1, 20]], 19, (-1, 1)),
    ([[-20, 2], [1, 20]], 20, (-1, 1)),
    ([[0, 7], [39, 2]], 0, (-1, 1)),
])
def test_a_pattern_in_hbm_ends_at_its_tensor(pattern, offset, wrong):
    b = trnemu.ProgramBuilder(target="trn2")
    x = b.input("x", (4, 10), "float32")
    assert x.ap(pattern, offset=offset).shape
    for change in wrong:
        fault = refusal(x.ap, pattern, offset=offset + change)
        assert "'x'" in fault.message and "outside 0 to 39" in fault.message
        places = {offset + change + sum(s * c for (s, _), c in zip(pattern, at))
                  for at in np.ndindex(*(n for _, n in pattern))}
        assert int(details(fault)["index"]) in places - set(range(40))


@pytest.mark.parametrize("offset", [40, LARGEST, 2**62, -1, -(2**31), -(2**62)])
def test_an_offset_far_outside_is_refused(offset):
    b = trnemu.ProgramBuilder(target="trn2")
    x = b.input("x", (4, 10), "float32")
    refusal(x.ap, [[1, 1]], offset=offset)
    refusal(b.sbuf((4, 10), "float32").ap, [[10, 1], [1, 1]], offset=offset)


@pytest.mark.parametrize("step, count", [(LARGEST, 2), (-LARGEST, 2),
                                         (1, LARGEST), (LARGEST, LARGEST),
                                         (-(2**31), LARGEST)])
def test_a_step_or_count_far_outside_is_refused(step, count):
    b = trnemu.ProgramBuilder(target="trn2")
    x = b.input("x", (4, 10), "float32")
    refusal(x.ap, [[step, count]], offset=0)
    refusal(b.sbuf((4, 10), "float32").ap, [[10, 1], [step, count]], offset=0)


def test_an_access_stays_in_one_partition():
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, 10), "float32")
    assert t.ap([[10, 3], [1, 10]], offset=10).shape == (3, 10)
    refusal(t.ap, [[10, 3], [1, 10]], offset=11)
    refusal(t.ap, [[10, 3], [-1, 2]], offset=10)
    refusal(t.ap, [[10, 4], [1, 10]], offset=10)  # a partition too many


# --- static: hand-made program files --------------------------------------------


def copy_text() -> str:
    b = trnemu.ProgramBuilder(target="trn2", name="copy")
    x = b.inout("x", (4, 10), "float32")
    t, u = (b.sbuf((4, 10), "float32", name=n) for n in ("t", "u"))
    b.dma_copy(dst=t, src=x)
    b.tensor_copy(dst=u, src=t, engine="vector")
    b.dma_copy(dst=x, src=u)
    return b.build().to_text()


# How a text form writes "partitions first to last, offset + count x step".
T_IN, X_IN = "src=t[0:4, 0+10x1]", "src=x[0+40x1]"


@pytest.mark.parametrize("old, legal, wrong", [
    (T_IN, "src=t[0:4, {}+10x-1]", (9, 8, 10)),
    (T_IN, "src=t[0:4, {}+2x5,5x1]", (0, 1, -1)),
    (T_IN, "src=t[0:4, {}+2x-5,5x1]", (5, 4, 6)),
    (T_IN, "src=t[0:4, {}+10x1]", (0, LARGEST, -1)),
    (X_IN, "src=x[{}+40x-1]", (39, 38, 40)),
    (X_IN, "src=x[{}+4x10,10x1]", (0, 1, -1)),
    (X_IN, "src=x[{}+4x-10,10x1]", (30, 29, 31)),
])
def test_a_file_is_refused_before_it_runs(tmp_path, old, legal, wrong):
    text = copy_text()
    assert old in text, text
    right, *others = wrong
    p = trnemu.Program.from_text(text.replace(old, legal.format(right)))
    assert [str(f) for f in p.verify()] == []
    trnemu.run(p, {"x": np.zeros((4, 10), np.float32)})
    for offset in others:
        bad = legal.format(offset)
        p = trnemu.Program.from_text(text.replace(old, bad))
        found = [f for f in p.verify() if f.category == "out_of_bounds"]
        assert found and found[0].operand == "src", bad
        tensor, size = ("t", 10) if "t[" in bad else ("x", 40)
        assert f"tensor {tensor}" in found[0].message
        assert f"outside 0 to {size - 1}" in found[0].message
        d = json.loads(found[0].to_json())["details"]
        assert not 0 <= int(d["index"]) < size and d["limit"] == str(size)
        fault = refusal(trnemu.run, p, {"x": np.zeros((4, 10), np.float32)})
        assert fault.id == "access.out_of_bounds"
        path = tmp_path / "k.trn"
        p.save(path)
        assert command("verify", path).returncode == FAULT
        assert command("run", path, "--checks", "off").returncode == FAULT


def test_a_file_with_a_partition_too_many_is_no_program(tmp_path):
    source = tmp_path / "k.txt"
    source.write_text(copy_text().replace(T_IN, "src=t[1:5, 0+10x1]"))
    r = command("asm", source, "-o", tmp_path / "k.trn")
    assert r.returncode == MALFORMED and "beyond the tile's 4" in r.stderr


# --- one index: a register or a tile ---------------------------------------------

SHAPE = (6, 8)  # of what is indexed


def one_index(kind: str, space: str, side: str, dim: int, value: int,
              mode: str = "error", engine: str = "dma") -> Kit:
    """Copies 2 elements, from or to `value` steps along a dimension. `t` holds
    sevens, `x` the numbers from 0 on."""
    k = Kit()
    x = np.arange(48, dtype=np.float32).reshape(SHAPE)
    if space == "hbm":
        k.inputs["x"] = x
        base = k.b.inout("x", SHAPE, "float32")
    else:
        base = k.load(x)
    index = (k.b.register_alloc(value) if kind == "register" else
             k.load(np.array([[value]], np.int32)))
    pattern = [[8, 1], [1, 2]]
    moved = base.ap(pattern, scalar_offset=index, indirect_dim=dim)
    t = k.filled((1, 2), 7.0)
    pair = {"dst": t, "src": moved} if side == "src" else {
        "dst": moved, "src": t}
    if engine == "dma":
        k.b.dma_copy(**pair, oob_mode=mode)
    else:
        k.b.tensor_copy(**pair, engine=engine)
    k.views = (base, t)
    return k


def last_index(dim: int) -> int:
    """The last index of the dimension; a pattern of two elements along the last
    one ends one before."""
    return SHAPE[dim] - 1 - dim


@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("kind", ["register", "tile"])
@pytest.mark.parametrize("space, dim, engine", [
    ("hbm", 0, "dma"), ("hbm", 1, "dma"), ("sbuf", 1, "dma"),
    ("sbuf", 1, "vector"), ("sbuf", 1, "scalar"), ("sbuf", 1, "gpsimd")])
def test_one_index_is_legal_up_to_the_last_place(side, kind, space, dim, engine):
    last = last_index(dim)
    k = one_index(kind, space, side, dim, last, engine=engine)
    base, t = k.views
    first = last * (8 if dim == 0 else 1)
    if side == "src":
        assert (k.one(t) == [[first, first + 1]]).all()
    elif space == "sbuf":
        out = k.one(base)
        assert (out.reshape(-1)[first:first + 2] == 7).all()
        assert (out == 7).sum() == 2 + (first not in (6, 7))
    for bad in (last + 1, *FAR):
        k = one_index(kind, space, side, dim, bad, engine=engine)
        fault = refusal(k.run)
        assert fault.id == "access.dynamic_out_of_bounds"
        d = details(fault)
        assert (d["index"], d["limit"]) == (str(bad), str(last + 1))
        assert fault.operand == side and f"index {bad}" in fault.message
        name = "'x'" if space == "hbm" else "'sbuf"
        assert name in fault.message
        assert ("register" in d) == (kind == "register")
        assert "test_bounds.py" in fault.source


@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("kind", ["register", "tile"])
@pytest.mark.parametrize("bad", [6, *FAR])
def test_one_index_outside_may_be_skipped(side, kind, bad):
    k = one_index(kind, "hbm", side, 0, bad, "skip")
    p = k.build(k.views[1])
    outputs = trnemu.run(p, k.inputs).outputs
    assert (outputs["out0"] == 7).all()
    assert (outputs["x"] == k.inputs["x"]).all()


# --- rows with an index each ------------------------------------------------------

ROWS = 16


def indices(bad: dict[int, int]) -> Any:
    """15, 14, ... 0 but for some positions."""
    i = np.arange(ROWS, dtype=np.int64)[::-1].copy()
    for position, value in bad.items():
        i[position] = value
    return i


def copies(i: Any, side: str, mode: str, index: str = "int32") -> tuple[Any, ...]:
    """A gather or scatter of 16 rows of 8 by dma_copy."""
    k = Kit()
    table = np.arange(ROWS * 8, dtype=np.float32).reshape(ROWS, 8)
    at = k.load(i.astype(index)[:, None])
    if side == "src":
        t = k.filled((ROWS, 8), -7.0)
        k.b.dma_copy(dst=t, src=k.input(table).vector_select(0, at),
                     oob_mode=mode)
        return k, k.build(t), "out0", table
    k.inputs["y"] = np.full((ROWS, 8), -7, np.float32)
    y = k.b.inout("y", (ROWS, 8), "float32")
    k.b.dma_copy(dst=y.vector_select(0, at), src=k.load(table), oob_mode=mode)
    return k, k.build(), "y", table


def sums(i: Any, side: str, mode: str, index: str = "int32") -> tuple[Any, ...]:
    """The same by dma_compute, which adds: rows of a table to a tile of sevens,
    or a tile to rows of a tensor of sevens."""
    k = Kit()
    table = np.arange(ROWS * 8, dtype=np.float32).reshape(ROWS, 8)
    at = k.load(i.astype(index)[:, None])
    if side == "src":
        t = k.filled((ROWS, 8), -7.0)
        rows = k.input(table).vector_select(0, at)
        k.b.dma_compute(dst=t, srcs=[rows, t], reduce_op="add", oob_mode=mode)
        return k, k.build(t), "out0", table - 7
    k.inputs["y"] = np.full((ROWS, 8), -7, np.float32)
    y = k.b.inout("y", (ROWS, 8), "float32").vector_select(0, at)
    k.b.dma_compute(dst=y, srcs=[k.load(table), y], reduce_op="add",
                    oob_mode=mode)
    return k, k.build(), "y", table - 7


MOVES = {"dma_copy": copies, "dma_compute": sums}
moves = pytest.mark.parametrize("move", MOVES)
sides = pytest.mark.parametrize("side", ["src", "dst"])


def expected(move: str, side: str, full: Any, i: Any) -> Any:
    """Rows moved by index; where the index is outside, sevens."""
    out = np.full((ROWS, 8), -7, np.float32)
    for w, row in enumerate(i):
        if not 0 <= row < ROWS:
            continue
        if side == "src":
            out[w] = full[row]
        else:
            out[row] = full[w]
    return out


@moves
@sides
@pytest.mark.parametrize("order", ORDERS)
def test_every_row_may_be_named(move, side, order):
    i = indices({})
    k, p, name, full = MOVES[move](i, side, "error")
    r = trnemu.run(p, k.inputs, **options(order))
    np.testing.assert_array_equal(
        r.outputs[name], expected(move, side, full, i))


@moves
@sides
@pytest.mark.parametrize("position", [0, 7, ROWS - 1])
@pytest.mark.parametrize("bad", [ROWS, *FAR])
def test_one_row_outside_fails_the_run_and_is_named(move, side, position, bad):
    k, p, name, _ = MOVES[move](indices({position: bad}), side, "error")
    fault = refusal(trnemu.run, p, k.inputs)
    assert fault.id == "access.dynamic_out_of_bounds"
    d = details(fault)
    assert (d["index"], d["position"]) == (str(bad), str(position))
    assert (d["limit"], d["index_partition"]) == (str(ROWS), str(position))
    assert f"0 to {ROWS - 1}" in fault.message
    assert fault.operation == move and "test_bounds.py" in fault.source
    assert d["tensor"].startswith("in" if side == "src" else "y")


@moves
@sides
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("bad", [
    {0: ROWS}, {15: -1}, {3: LARGEST, 4: -(2**31)},
    dict.fromkeys(range(0, ROWS, 2), ROWS), dict.fromkeys(range(ROWS), -1)],
    ids=["first", "last", "two", "every second", "all"])
def test_rows_outside_are_left_alone_and_the_others_are_exact(
    move, side, order, bad
):
    i = indices(bad)
    k, p, name, full = MOVES[move](i, side, "skip")
    r = trnemu.run(p, k.inputs, **options(order))
    np.testing.assert_array_equal(
        r.outputs[name], expected(move, side, full, i))
    assert r.diagnostics == []


@moves
@sides
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_the_next_run_of_the_same_executable_is_unaffected(move, side, mode):
    good = indices({})
    k, p, name, full = MOVES[move](good, side, mode)
    (index,) = [n for n, a in k.inputs.items() if a.dtype == np.int32]
    bad = {**k.inputs, index: indices({2: LARGEST, 9: -1}).astype(
        np.int32)[:, None]}
    executable = trnemu.Device("trn2").load(p)
    for order in (*ORDERS, *ORDERS):
        if mode == "error":
            refusal(executable.run, bad, **options(order))
        else:
            executable.run(bad, **options(order))
        r = executable.run(k.inputs, **options(order))
        np.testing.assert_array_equal(
            r.outputs[name], expected(move, side, full, good))
        assert r.diagnostics == []


@pytest.mark.parametrize("bad", [40, LARGEST, 2**32 - 1])
@pytest.mark.parametrize("position", [0, 15, 16, 31])
@pytest.mark.parametrize("order", ORDERS)
def test_a_gather_transpose_leaves_single_columns_alone(bad, position, order):
    rows = np.arange(40 * 32, dtype=np.uint16).reshape(40, 32)
    pick = np.arange(32)[::-1].copy() + 8  # 39 is the last row
    k = Kit()
    programs = {}
    for mode in ("error", "skip"):
        k = Kit()
        x, i = k.input(rows), k.load(pick.astype(np.uint32)[:, None])
        t = k.filled((32, 32), 7, "uint16")
        k.b.dma_transpose(dst=t, src=x.vector_select(0, i), oob_mode=mode)
        programs[mode] = trnemu.Device("trn2").load(k.build(t))
    wrong = pick.copy()
    wrong[position] = bad
    inputs = {**k.inputs, "in1": wrong.astype(np.uint32)[:, None]}
    fault = refusal(programs["error"].run, inputs, **options(order))
    d = details(fault)
    assert (d["index"], d["position"]) == (str(bad), str(position))
    assert d["limit"] == "40"
    want = rows[pick].T.copy()
    for executable in programs.values():
        r = executable.run(k.inputs, **options(order))
        np.testing.assert_array_equal(r.outputs["out0"], want)
    r = programs["skip"].run(inputs, **options(order))
    want[:, position] = 7
    np.testing.assert_array_equal(r.outputs["out0"], want)


# --- indirect(): an index for each element ------------------------------------------


def indirect(side: str, values: Any) -> tuple[Kit, Any]:
    """16 elements of each of 16 partitions of 8, by a list of a group."""
    k = Kit("trn3")
    x = k.load(np.arange(128, dtype=np.float32).reshape(16, 8))
    i = k.load(values.astype(np.uint16)[:, None])
    t = k.filled((16, 16), -7.0)
    if side == "src":
        k.b.tensor_copy(dst=t, src=x.indirect(i, num_elem=16), engine="vector")
        return k, t
    y = k.filled((16, 16), 0.0)
    k.b.tensor_copy(dst=y.indirect(i, num_elem=16), src=t, engine="vector")
    return k, y


@pytest.mark.parametrize("side, size", [("src", 8), ("dst", 16)])
@pytest.mark.parametrize("position", [0, 9, 15])
def test_an_element_outside_fails_the_run_and_is_named(side, size, position):
    values = np.arange(16) % size
    k, t = indirect(side, values)
    out = k.one(t)
    if side == "src":
        np.testing.assert_array_equal(
            out, np.arange(128).reshape(16, 8)[:, values])
    else:
        assert (out == -7).all()
    for bad in (size, 2**16 - 1):
        values[position] = bad
        k, t = indirect(side, values)
        fault = refusal(k.one, t)
        d = details(fault)
        assert (d["index"], d["limit"]) == (str(bad), str(size))
        assert d["index_partition"] == str(position)
        assert f"index {bad}" in fault.message


# --- loops ----------------------------------------------------------------------


@pytest.mark.parametrize("trips, fits", [(6, True), (7, False)])
def test_a_counter_that_runs_one_too_far_fails_in_that_iteration(
    trips, fits, tmp_path
):
    k = Kit()
    x = k.input(np.arange(48, dtype=np.float32).reshape(SHAPE))
    t = k.filled((1, 8), 0.0)
    total = k.filled((1, 8), 0.0)
    with k.b.fori_loop(0, trips) as i:
        k.b.dma_copy(dst=t, src=x.ap([[8, 1], [1, 8]], scalar_offset=i,
                                     indirect_dim=0))
        k.b.tensor_tensor(dst=total, data1=total, data2=t, op="add")
    p = k.build(total)
    p.save(tmp_path / "k.trn")
    np.save(tmp_path / "x.npy", k.inputs["in0"])
    r = command("run", tmp_path / "k.trn", "--input",
                f"in0={tmp_path / 'x.npy'}")
    assert r.returncode == (SUCCESS if fits else FAULT)
    if fits:
        out = trnemu.run(p, k.inputs).outputs["out0"]
        assert (out == [np.arange(8) * 6 + 8 * 15]).all()
        return
    fault = refusal(trnemu.run, p, k.inputs)
    assert details(fault)["index"] == "6" and details(fault)["limit"] == "6"
    assert re.search(r"register\s+r\d", str(fault))
