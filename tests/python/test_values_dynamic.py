"""Dynamic addressing: gathers, scatters, transposes, sums and tensor
indirection. Values come from NumPy's own indexing, worked by the documented
formula beside each test."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import cli_kit
import trnemu
from kit import Kit

INT_MAX = 2147483647
ORDERS = ("timed", "program", "1", "2", "3")
every_order = pytest.mark.parametrize("order", ORDERS)


def options(order):
    if order == "timed":
        return {}
    return {"schedule": order if order == "program" else int(order),
            "time": False}


def table(rows=3, columns=4):
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


def column(values, dtype="int32"):
    return np.array(values, dtype).reshape(-1, 1)


# ---- scalar offsets: behaviours.md row 26 ----

def pattern_at(offset, space="sbuf", **more):
    """A = arange(16) as 4 x 4, [[4, 2], [1, 2]], moved along dimension 1."""
    k = Kit("trn2")
    a = table(4, 4)
    source = k.load(a) if space == "sbuf" else k.input(a)
    index = k.load(column([offset]))
    dst = k.filled((2, 2), 7)
    k.b.dma_copy(dst=dst, src=source.ap([[4, 2], [1, 2]], scalar_offset=index,
                                        indirect_dim=1), **more)
    return k, dst


@every_order
@pytest.mark.parametrize("space", ["sbuf", "hbm"])
@pytest.mark.parametrize("offset,expected", [
    (0, [[0, 1], [4, 5]]), (1, [[1, 2], [5, 6]]), (2, [[2, 3], [6, 7]]),
])
def test_a_scalar_offset_moves_the_pattern(offset, expected, space, order):
    k, dst = pattern_at(offset, space)
    np.testing.assert_array_equal(k.one(dst, **options(order)), expected)


@pytest.mark.parametrize("space", ["sbuf", "hbm"])
@pytest.mark.parametrize("offset", [3, -1, INT_MAX])
def test_a_scalar_offset_past_its_dimension_is_out_of_bounds(offset, space):
    k, dst = pattern_at(offset, space)
    with pytest.raises(trnemu.Fault) as info:
        k.one(dst)
    f = info.value
    assert f.category == "out_of_bounds"
    assert f.id == "access.dynamic_out_of_bounds"
    assert f"index {offset} is outside 0 to 2 of dimension 1" in f.message
    assert f.operand == "src"
    details = dict(f.details)
    assert (details["index"], details["limit"]) == (str(offset), "3")
    assert "4, 4" in details["tensor"]


@pytest.mark.parametrize("space", ["sbuf", "hbm"])
def test_a_skipped_scalar_offset_moves_nothing(space):
    k, dst = pattern_at(3, space, oob_mode="skip")
    np.testing.assert_array_equal(k.one(dst), np.full((2, 2), 7))


def test_the_index_of_a_dimension_counts_in_its_rows():
    """offset + v * prod(shape[1:]): nki-aps.rst, Scalar Dynamic Access."""
    k = Kit()
    a = table(6, 5)
    dst = k.empty((2, 3))
    k.b.dma_copy(dst=dst, src=k.input(a).ap(
        [[5, 2], [1, 3]], 1, scalar_offset=k.load(column([3]))))
    np.testing.assert_array_equal(k.one(dst), a[3:5, 1:4])
    k = Kit()
    dst = k.empty((2, 3))
    k.b.dma_copy(dst=dst, src=k.input(a).ap(
        [[5, 2], [1, 3]], 1, scalar_offset=k.load(column([5]))))
    with pytest.raises(trnemu.Fault, match="outside 0 to 4 of dimension 0"):
        k.one(dst)


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_select_at_an_index_of_the_run(dtype):
    k = Kit()
    a = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    dst = k.empty((3, 2))
    k.b.dma_copy(dst=dst, src=k.input(a).select(0, k.load(column([2], dtype))))
    np.testing.assert_array_equal(k.one(dst), a[2])


def test_an_engine_takes_a_scalar_offset():
    k = Kit()
    a = table(4, 8)
    dst = k.empty((4, 2))
    index = k.load(column([5]))
    k.b.tensor_copy(dst=dst, src=k.load(a).ap(
        [[8, 4], [1, 2]], scalar_offset=index, indirect_dim=1))
    np.testing.assert_array_equal(k.one(dst), a[:, 5:7])
    k = Kit()
    dst = k.filled((4, 8), 7)
    index = k.load(column([1]))
    k.b.tensor_copy(dst=dst.reshape(4, 4, 2).select(1, index),
                    src=k.load(a)[:, :2])
    expected = np.full((4, 8), 7, np.float32)
    expected[:, 2:4] = a[:, :2]
    np.testing.assert_array_equal(k.one(dst), expected)
    k = Kit()
    dst = k.empty((4, 2))
    index = k.load(column([7]))
    k.b.tensor_copy(dst=dst, src=k.load(a).ap(
        [[8, 4], [1, 2]], scalar_offset=index, indirect_dim=1))
    with pytest.raises(trnemu.Fault, match="index 7 is outside 0 to 6"):
        k.one(dst)


def test_an_index_is_read_when_the_transfer_is_triggered():
    """Synchronise makes the next writer of the index wait, and the reader wait
    for the writer."""
    k = Kit()
    a = table(4, 8)
    x = k.input(a)
    index = k.empty((1, 1), "int32")
    rows = [k.empty((1, 8)) for _ in range(4)]
    for i in (2, 0, 3, 1):
        k.b.memset(dst=index, value=i)
        k.b.dma_copy(dst=rows[i], src=x.ap([[8, 1], [1, 8]],
                                           scalar_offset=index))
    p = k.build(*rows)
    for order in ORDERS:
        got = trnemu.run(p, k.inputs, **options(order))
        for i in range(4):
            np.testing.assert_array_equal(got.outputs[f"out{i}"][0], a[i])


# ---- gathers and scatters: behaviours.md row 6 ----

def gather(indices, mode, dtype="int32", to="sbuf", target="trn2"):
    k = Kit(target)
    x = k.input(table(3, 4))
    index = k.load(column(indices, dtype))
    shape = (len(indices), 4)
    if to == "sbuf":
        dst = k.filled(shape, 7)
    else:
        dst = k.b.scratch("g", shape, "float32")
        k.b.dma_copy(dst=dst, src=k.filled(shape, 7))
    k.b.dma_copy(dst=dst, src=x.vector_select(0, index), oob_mode=mode)
    return k, dst


@every_order
@pytest.mark.parametrize("to", ["sbuf", "hbm"])
def test_a_gather_takes_rows_by_index(to, order):
    k, dst = gather([2, 0, 1, 2], "error", to=to)
    np.testing.assert_array_equal(k.one(dst, **options(order)),
                                  table()[[2, 0, 1, 2]])


@pytest.mark.parametrize("bad,dtype", [
    (INT_MAX, "int32"), (-1, "int32"), (3, "int32"), (2**32 - 1, "uint32"),
])
def test_an_index_out_of_bounds_fails_the_run(bad, dtype):
    k, dst = gather([0, bad, 2], "error", dtype)
    with pytest.raises(trnemu.Fault) as info:
        k.one(dst)
    f = info.value
    assert (f.category, f.id) == ("out_of_bounds",
                                  "access.dynamic_out_of_bounds")
    assert f"index {bad} at position 1 is outside 0 to 2" in f.message
    details = dict(f.details)
    assert details["index"] == str(bad)
    assert details["position"] == "1"
    assert details["limit"] == "3"
    assert "in0" in details["tensor"]


@every_order
@pytest.mark.parametrize("to", ["sbuf", "hbm"])
@pytest.mark.parametrize("bad", [INT_MAX, -1, 3])
def test_a_skipped_index_leaves_its_row_and_no_other(bad, to, order):
    k, dst = gather([0, bad, 2], "skip", to=to)
    expected = table()
    expected[1] = 7
    np.testing.assert_array_equal(k.one(dst, **options(order)), expected)


def test_a_skipped_row_that_nobody_wrote_stays_unwritten():
    k = Kit()
    index = k.load(column([0, -1, 2]))
    dst = k.empty((3, 4))
    k.b.dma_copy(dst=dst, src=k.input(table()).vector_select(0, index),
                 oob_mode="skip")
    with pytest.raises(trnemu.Fault, match="partition 1 of sbuf"):
        k.one(dst)


@pytest.mark.parametrize("mode", ["error", "skip"])
def test_the_next_program_on_the_device_is_unaffected(mode):
    device = trnemu.Device("trn2")
    k, dst = gather([0, INT_MAX, 2], mode)
    first = device.load(k.build(dst))
    if mode == "error":
        with pytest.raises(trnemu.Fault, match="2147483647"):
            first.run(k.inputs)
    else:
        first.run(k.inputs)
    k, dst = gather([1, 1, 0], "error")
    got = device.load(k.build(dst)).run(k.inputs).outputs["out0"]
    np.testing.assert_array_equal(got, table()[[1, 1, 0]])
    if mode == "error":  # and the failed one fails again, the same way
        with pytest.raises(trnemu.Fault, match="2147483647"):
            first.run(k.inputs | {"in1": column([0, INT_MAX, 2])})


def test_the_command_line_fails_where_an_index_is_out_of_bounds(tmp_path):
    """behaviours.md row 8."""
    for mode, status in (("error", 1), ("skip", 0)):
        k, dst = gather([0, INT_MAX, 2], mode)
        k.build(dst).save(tmp_path / "k.trn")
        inputs = []
        for name, array in k.inputs.items():
            np.save(tmp_path / f"{name}.npy", array)
            inputs += ["--input", f"{name}={tmp_path / name}.npy"]
        done = cli_kit.trnemu("run", tmp_path / "k.trn", *inputs, "--output-dir",
                              tmp_path / mode)
        assert done.returncode == status, done.stderr
        if status:
            assert "access.dynamic_out_of_bounds" in done.stderr
            assert "in0" in done.stderr
            assert not (tmp_path / mode / "out0.npy").exists()


def scatter(indices, mode="error", rows=None, source=None):
    k = Kit()
    y = k.b.output("y", (5, 4), "float32")
    k.b.dma_copy(dst=y, src=k.filled((5, 4), 7))
    data = table(len(indices), 4) + 100
    index = k.load(column(indices))
    src = k.load(data) if source is None else k.input(data)
    k.b.dma_copy(dst=y.ap([[4, len(indices)], [1, 4]], vector_offset=index),
                 src=src, oob_mode=mode)
    return k, data


@every_order
@pytest.mark.parametrize("source", [None, "hbm"])
def test_a_scatter_writes_rows_by_index(source, order):
    k, data = scatter([3, 0, 4], source=source)
    r = trnemu.run(k.b.build(), k.inputs, **options(order))
    expected = np.full((5, 4), 7, np.float32)
    expected[[3, 0, 4]] = data
    np.testing.assert_array_equal(r.outputs["y"], expected)
    assert r.diagnostics == []


def test_a_scatter_skips_what_is_out_of_bounds():
    k, data = scatter([3, 5, -7, 4], "skip")
    r = trnemu.run(k.b.build(), k.inputs)
    expected = np.full((5, 4), 7, np.float32)
    expected[[3, 4]] = data[[0, 3]]
    np.testing.assert_array_equal(r.outputs["y"], expected)
    k, data = scatter([3, 5, -7, 4])
    with pytest.raises(trnemu.Fault, match="index 5 at position 1"):
        trnemu.run(k.b.build(), k.inputs)


def test_a_scatter_to_one_row_twice_is_a_warning():
    k, data = scatter([3, 1, 3])
    r = trnemu.run(k.b.build(), k.inputs)
    assert [f.id for f in r.diagnostics] == ["dma.duplicate_rows"]
    assert "positions 0 and 2" in r.diagnostics[0].message
    np.testing.assert_array_equal(r.outputs["y"][1], data[1])


def test_a_gather_with_an_offset_and_part_of_a_row():
    """offset + idx[w] * R + inner: nki-aps.rst, Vector Dynamic Access; the step
    of pattern[0] does not count."""
    a = table(6, 5)
    for step in (5, 1, 0):
        k = Kit()
        dst = k.empty((4, 2))
        index = k.load(column([4, 0, 5, 5], "uint32"))
        k.b.dma_copy(dst=dst, src=k.input(a).ap(
            [[step, 4], [2, 2]], 1, vector_offset=index))
        np.testing.assert_array_equal(k.one(dst), a[[4, 0, 5, 5]][:, [1, 3]])


def test_a_gather_casts_through_float32():
    k = Kit()
    a = np.array([[1.5, 2.5], [-3.5, 300.0]], np.float32)
    dst = k.empty((3, 2), "uint8")
    k.b.dma_copy(dst=dst, src=k.input(a).vector_select(
        0, k.load(column([1, 0, 1]))))
    np.testing.assert_array_equal(k.one(dst), [[0, 255], [2, 2], [0, 255]])


def test_an_index_nobody_wrote_is_reported():
    k = Kit()
    index = k.empty((3, 1), "int32")
    k.b.memset(dst=index[:2], value=0)
    dst = k.empty((3, 4))
    k.b.dma_copy(dst=dst, src=k.input(table()).vector_select(0, index))
    with pytest.raises(trnemu.Fault) as info:
        k.one(dst)
    assert info.value.id == "memory.read_unwritten"
    assert "the index of src reads" in info.value.message
    assert "partition 2" in info.value.message


def test_a_row_that_is_gathered_must_have_been_written():
    k = Kit()
    s = k.b.scratch("s", (3, 4), "float32")
    k.b.dma_copy(dst=s[:2], src=k.input(table()[:2]))
    dst = k.empty((2, 4))
    index = k.load(column([0, 2]))
    k.b.dma_copy(dst=dst, src=s.vector_select(0, index))
    with pytest.raises(trnemu.Fault, match="src reads bytes 32 to 47"):
        k.one(dst)


def test_one_queue_does_not_order_an_index_behind_its_loading():
    """The indices are read at the trigger, not in the queue's turn."""
    k = Kit()
    x = k.input(table())
    values = k.input(column([2, 1]))
    index = k.empty((2, 1), "int32")
    dst = k.empty((2, 4))
    k.b.dma_copy(dst=index, src=values, trigger="gpsimd", queues=1)
    k.b.dma_copy(dst=dst, src=x.vector_select(0, index), queues=1)
    p = k.build(dst)
    for order in ORDERS:
        got = trnemu.run(p, k.inputs, **options(order)).outputs["out0"]
        np.testing.assert_array_equal(got, table()[[2, 1]])


# ---- dma_transpose ----

@every_order
@pytest.mark.parametrize("space", ["hbm", "sbuf"])
@pytest.mark.parametrize("shape,axes", [
    ((5, 3), (1, 0)), ((2, 3, 4), (2, 1, 0)), ((2, 3, 4, 5), (3, 1, 2, 0)),
])
@pytest.mark.parametrize("given", [True, False])
def test_a_transpose_permutes(shape, axes, given, space, order):
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    k = Kit()
    dst = k.empty(tuple(shape[i] for i in axes))
    src = k.input(a) if space == "hbm" else k.load(a)
    k.b.dma_transpose(dst=dst, src=src, **({"axes": axes} if given else {}))
    np.testing.assert_array_equal(k.one(dst, **options(order)),
                                  a.transpose(axes))


def test_a_transpose_moves_bits():
    """A signalling NaN of bfloat16, and -0."""
    bits = np.array([[0x7f81, 0x8000, 1], [0xffff, 0x3f80, 2]], np.uint16)
    k = Kit()
    dst = k.empty((3, 2), "bfloat16")
    k.b.dma_transpose(dst=dst, src=k.input(bits.view(ml_dtypes.bfloat16)))
    np.testing.assert_array_equal(k.one(dst.view("uint16")), bits.T)


def test_a_transpose_of_a_part_of_a_tensor():
    a = table(8, 9)
    k = Kit()
    dst = k.empty((4, 3))
    k.b.dma_transpose(dst=dst, src=k.input(a)[1:7:2, 2:6])
    np.testing.assert_array_equal(k.one(dst), a[1:7:2, 2:6].T)


def indirect_transpose(shape, rows, indices, mode="error"):
    """flat = indices.T.flatten()[:rows]; dst = permute(src[flat])."""
    a = np.arange(np.prod(shape)).astype(np.uint16).reshape(shape)
    axes = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[len(shape)]
    k = Kit()
    x = k.input(a)
    steps = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
    pattern = [[steps[0], rows],
               *([s, n] for s, n in zip(steps[1:], shape[1:]))]
    src = x.ap(pattern, vector_offset=k.load(indices))
    new = (rows, *shape[1:])
    dst = k.filled(tuple(new[i] for i in axes), 7, "uint16")
    k.b.dma_transpose(dst=dst, src=src, oob_mode=mode)
    return k, dst, a, axes


@every_order
@pytest.mark.parametrize("shape,columns", [
    ((40, 8), 1), ((40, 3, 4), 1), ((40, 3, 1, 5), 1), ((300, 8), 2),
])
def test_a_gather_transpose_goes_down_the_columns_of_the_index(
        shape, columns, order):
    partitions = 128 if columns > 1 else 32
    rng = np.random.default_rng(5)
    indices = rng.integers(0, shape[0], (partitions, columns), np.uint32)
    rows = partitions * columns
    k, dst, a, axes = indirect_transpose(shape, rows, indices)
    flat = indices.T.flatten()[:rows]
    np.testing.assert_array_equal(k.one(dst, **options(order)),
                                  a[flat].transpose(axes))


def test_a_gather_transpose_skips_single_columns():
    """behaviours.md row 6: a group of valid and invalid indices."""
    indices = column(range(16), "uint32")
    indices[[3, 9], 0] = INT_MAX, 2**32 - 1
    k, dst, a, axes = indirect_transpose((20, 4), 16, indices, "skip")
    expected = a[:16].T.copy()
    expected[:, [3, 9]] = 7
    np.testing.assert_array_equal(k.one(dst), expected)
    k, dst, a, axes = indirect_transpose((20, 4), 16, indices)
    with pytest.raises(trnemu.Fault, match="index 2147483647 at position 3"):
        k.one(dst)


# ---- dma_compute ----

@every_order
def test_a_sum_adds_in_order_and_rounds_once(order):
    """fp32 from src0 on: (2^24 + 1) + 1 is 2^24, 1 + 1 + 2^24 is 2^24 + 2."""
    big = np.full((2, 3), 2.0**24, np.float32)
    one = np.ones((2, 3), np.float32)
    k = Kit()
    dst = k.empty((2, 3))
    other = k.empty((2, 3))
    b, o = k.load(big), k.input(one)
    k.b.dma_compute(dst=dst, srcs=[b, o, o], reduce_op="add")
    k.b.dma_compute(dst=other, srcs=[o, o, b], reduce_op="add",
                    scales=[1.0, 1, 1.0])
    got = k.run(dst, other, **options(order))
    np.testing.assert_array_equal(got[0], big)
    np.testing.assert_array_equal(got[1], big + 2)


def test_a_sum_of_sixteen_casts_once():
    """16 sources of 0.0625 + 2^-9 in bfloat16 to bfloat16."""
    a = np.full((4, 8), 0.0625 + 2.0**-9, ml_dtypes.bfloat16)
    k = Kit()
    dst = k.b.output("y", (32,), "bfloat16")
    k.b.dma_compute(dst=dst, srcs=[k.load(a) for _ in range(16)],
                    reduce_op="add")
    r = trnemu.run(k.b.build(), k.inputs)
    expected = (np.float32(a[0, 0]) * 16).astype(ml_dtypes.bfloat16)
    assert (r.outputs["y"] == expected).all()


def test_a_single_source_is_a_cast():
    k = Kit()
    dst = k.empty((2, 2), "int32")
    k.b.dma_compute(dst=dst, reduce_op="add", srcs=[
        k.load(np.array([[0.5, 1.5], [2.5, -3e9]], np.float32))])
    np.testing.assert_array_equal(k.one(dst), [[0, 2], [2, -(2**31)]])


def test_a_sum_can_go_into_one_of_its_sources():
    a = table(4, 6)
    k = Kit()
    t = k.load(a)
    k.b.dma_compute(dst=t, srcs=[t, k.load(a + 1)], reduce_op="add")
    np.testing.assert_array_equal(k.one(t), a + a + 1)
    assert k.findings == []


@every_order
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_a_scatter_sum_adds_to_rows(mode, order):
    indices = [3, 0, 4] if mode == "error" else [3, -1, 9]
    k = Kit()
    y = k.b.output("y", (5, 4), "float32")
    k.b.dma_copy(dst=y, src=k.load(table(5, 4)))
    data = table(3, 4) + 100
    index = k.load(column(indices))
    rows = y.ap([[4, 3], [1, 4]], vector_offset=index)
    k.b.dma_compute(dst=rows, srcs=[rows, k.load(data)], reduce_op="add",
                    oob_mode=mode)
    r = trnemu.run(k.b.build(), k.inputs, **options(order))
    expected = table(5, 4)
    for i, row in zip(indices, data):
        if 0 <= i < 5:
            expected[i] += row
    np.testing.assert_array_equal(r.outputs["y"], expected)
    assert r.diagnostics == []


@every_order
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_a_gather_sum_adds_rows(mode, order):
    indices = [2, 0, 2] if mode == "error" else [2, INT_MAX, -5]
    k = Kit()
    dst = k.filled((3, 4), 1)
    index = k.load(column(indices))
    k.b.dma_compute(dst=dst, reduce_op="add", oob_mode=mode, srcs=[
        dst, k.input(table()).vector_select(0, index)])
    expected = np.ones((3, 4), np.float32)
    for w, i in enumerate(indices):
        if 0 <= i < 3:
            expected[w] += table()[i]
    np.testing.assert_array_equal(k.one(dst, **options(order)), expected)


# ---- tensor indirection ----

def lists(offsets):
    """An index tile of 16 partitions: offset i at [i % 16, i // 16]."""
    columns = -(-len(offsets) // 16)
    index = np.zeros((16, columns), np.int32)
    for i, v in enumerate(offsets):
        index[i % 16, i // 16] = v
    return index


OFFSETS = [3, 0, 7, 7, 1, 2, 30, 31, 5, 4, 6, 8, 10, 9, 12, 11, 29, 17, 0]


@pytest.mark.parametrize("space", ["sbuf", "psum"])
def test_indirect_gathers_elements_of_the_free_dimension(space):
    k = Kit("trn3")
    a = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
    index = k.load(np.concatenate([lists(OFFSETS), lists(OFFSETS[::-1])]))
    dst = k.empty((32, len(OFFSETS)))
    k.b.tensor_copy(dst=dst, src=k.load(a, space=space).indirect(
        index, len(OFFSETS)), engine="vector")
    expected = np.concatenate([a[:16][:, OFFSETS], a[16:][:, OFFSETS[::-1]]])
    np.testing.assert_array_equal(k.one(dst), expected)


def test_indirect_scatters_and_leaves_the_rest():
    k = Kit("trn3")
    data = table(16, 5)
    at = [30, 2, 17, 0, 5]
    index = k.load(lists(at))
    dst = k.filled((16, 32), 7)
    k.b.tensor_scalar(dst=dst.indirect(index, 5), data=k.load(data),
                      op0="add", operand0=1.0, engine="vector")
    expected = np.full((16, 32), 7, np.float32)
    expected[:, at] = data + 1
    np.testing.assert_array_equal(k.one(dst), expected)
    assert k.findings == []


def test_indirect_out_of_bounds_and_twice():
    k = Kit("trn3")
    dst = k.filled((16, 32), 7)
    index = k.load(lists([1, 32]))
    k.b.tensor_copy(dst=dst.indirect(index, 2), src=k.load(table(16, 2)),
                    engine="vector")
    with pytest.raises(trnemu.Fault, match="index 32 .*outside 0 to 31"):
        k.one(dst)
    k = Kit("trn3")
    dst = k.filled((16, 32), 7)
    index = k.load(lists([1, 1]))
    k.b.tensor_copy(dst=dst.indirect(index, 2), src=k.load(table(16, 2)),
                    engine="vector")
    k.one(dst)
    assert [f.id for f in k.findings] == ["access.duplicate_elements"]


def test_indirect_reads_only_what_it_names():
    k = Kit("trn3")
    t = k.empty((16, 32))
    k.b.memset(dst=t[:, :8], value=3)
    good, bad = k.load(lists([7, 0])), k.load(lists([7, 8]))
    dst = k.empty((16, 2))
    k.b.tensor_copy(dst=dst, src=t.indirect(good, 2), engine="vector")
    np.testing.assert_array_equal(k.one(dst), np.full((16, 2), 3))
    k.b.tensor_copy(dst=dst, src=t.indirect(bad, 2), engine="vector")
    with pytest.raises(trnemu.Fault, match="bytes 32 to 35 of partition 0"):
        trnemu.run(k.b.build(), k.inputs)


def test_a_matmul_gathers_with_groups_of_32():
    """The tensor engine's offset i is at index[i % 32, i // 32]."""
    k = Kit("trn3")
    rng = np.random.default_rng(3)
    st = rng.integers(-4, 5, (32, 8)).astype(ml_dtypes.bfloat16)
    mv = rng.integers(-4, 5, (32, 64)).astype(ml_dtypes.bfloat16)
    at = rng.permutation(64)[:40]
    index = np.zeros((32, 2), np.int32)
    for i, v in enumerate(at):
        index[i % 32, i // 32] = v
    dst = k.empty((8, 40), space="psum")
    k.b.nc_matmul(dst=dst, stationary=k.load(st),
                  moving=k.load(mv).indirect(k.load(index), 40))
    out = k.empty((8, 40))
    k.b.tensor_copy(dst=out, src=dst, engine="vector")
    expected = st.astype(np.float32).T @ mv.astype(np.float32)[:, at]
    np.testing.assert_array_equal(k.one(out), expected)


def test_a_matmul_scatters_into_psum_and_accumulates_there():
    k = Kit("trn3")
    st = np.eye(32, dtype=ml_dtypes.bfloat16)
    mv = np.arange(64).reshape(32, 2).astype(ml_dtypes.bfloat16)
    at = [5, 1]
    index = np.zeros((32, 1), np.int32)
    index[:2, 0] = at
    tile = k.load(index)
    dst = k.empty((32, 8), space="psum")
    k.b.nc_matmul(dst=dst, stationary=k.load(st),
                  moving=k.load(np.zeros((32, 8), ml_dtypes.bfloat16)))
    for _ in range(2):
        k.b.nc_matmul(dst=dst.indirect(tile, 2), stationary=k.load(st),
                      moving=k.load(mv), accumulate=True)
    out = k.empty((32, 8))
    k.b.tensor_copy(dst=out, src=dst, engine="vector")
    expected = np.zeros((32, 8), np.float32)
    expected[:, at] = 2 * mv.astype(np.float32)
    np.testing.assert_array_equal(k.one(out), expected)
