"""sendrecv: each core's dst holds the other's src, bit for bit (isa.json), in
every order; what never comes is a deadlock that says so.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import reference as ref
import trnemu
from cores_kit import (
    F32, ORDERS, Pair, deadlock, every_order, pattern, two_cores,
)


@two_cores
@every_order
@pytest.mark.parametrize("path", ["dma", "gpsimd_dma"])
def test_row_49_each_core_receives_the_tile_of_the_other(target, order, path):
    k = Pair(target)
    for core in (0, 1):
        src = k.load(core, pattern(core, (128, 256)))
        dst = k.empty(core, (128, 256))
        k.swap(core, src, dst, dma_engine=path)
        k.store(core, dst)
    out = k.run(**order)
    assert k.findings == []
    for core in (0, 1):
        np.testing.assert_array_equal(out[core], pattern(1 - core, (128, 256)))


@two_cores
@pytest.mark.parametrize(("dtype", "legal"), [
    ("float32", 256), ("bfloat16", 256), ("int8", 256)])
def test_row_49_gpsimd_dma_moves_256_elements_and_not_one_more(
    target, dtype, legal,
):
    k = Pair(target)
    for core in (0, 1):
        tile = k.empty(core, (4, legal), dtype)
        k.swap(core, tile, tile, dma_engine="gpsimd_dma")
        tile = k.empty(core, (4, legal + 1), dtype)
        with pytest.raises(trnemu.Fault) as info:
            k.swap(core, tile, tile, dma_engine="gpsimd_dma")
        assert info.value.id == "sendrecv.gpsimd_size"
        assert "257" in info.value.message and "256" in info.value.message
        k.swap(core, tile, tile, pipe_id=1)  # the other path has no limit


@every_order
@pytest.mark.parametrize("starts", [(0, 0), (0, 32), (64, 5), (127, 0)])
def test_a_tile_is_exchanged_in_place(order, starts):
    p = 1 if 127 in starts else 33
    k = Pair()
    for core, start in enumerate(starts):
        tile = k.load(core, pattern(core, (p, 40)), address=(start, 0))
        k.swap(core, tile, tile)
        k.store(core, tile)
    out = k.run(**order)
    assert k.findings == []
    for core in (0, 1):
        np.testing.assert_array_equal(out[core], pattern(1 - core, (p, 40)))


@two_cores
@pytest.mark.parametrize("dtype", ref.ANY)
def test_bits_move_whatever_they_mean(target, dtype):
    # NaN payloads and every integer, which fp32 does not hold
    tiles = [ref.samples(dtype, (128, 33), seed) for seed in (1, 2)]
    k = Pair(target)
    for core in (0, 1):
        dst = k.empty(core, (128, 33), dtype)
        k.swap(core, k.load(core, tiles[core], dtype), dst)
        k.store(core, dst)
    out = k.run()
    for core in (0, 1):
        assert out[core].tobytes() == tiles[1 - core].tobytes()


def test_strided_views_are_exchanged_element_by_element():
    k = Pair()
    a, b = pattern(0, (8, 6, 4)), pattern(1, (8, 3, 4))
    ta, tb = k.load(0, a), k.load(1, b)
    da, db = k.empty(0, (8, 3, 4)), k.load(1, np.zeros((8, 6, 4), F32))
    k.swap(0, ta[:, ::2, :], da)
    k.swap(1, tb, db[:, 1::2, ::-1])
    k.store(0, da)
    k.store(1, db)
    out = k.run()
    np.testing.assert_array_equal(out[0], b)
    np.testing.assert_array_equal(out[1][:, 1::2, ::-1], a[:, ::2])
    assert not out[1][:, ::2].any()


@every_order
def test_the_kth_of_a_pipe_meets_the_kth_and_pipes_do_not_mix(order):
    # Core 1 takes the pipes in the other order: they do not block each other.
    k = Pair()
    got: dict[tuple[int, int, int], trnemu.View] = {}
    for core, pipes in ((0, (7, -3)), (1, (-3, 7))):
        for pipe in pipes:
            for i in range(3):
                src = k.load(core, pattern(core, (4, 8)) + 100 * pipe + 1000 * i)
                got[core, pipe, i] = k.empty(core, (4, 8))
                k.swap(core, src, got[core, pipe, i], pipe)
    for (core, _, _), tile in got.items():
        k.store(core, tile)
    out = k.run(**order)
    for (core, pipe, i), array in zip(got, out, strict=True):
        want = pattern(1 - core, (4, 8)) + 100 * pipe + 1000 * i
        np.testing.assert_array_equal(array, want.astype(F32))


@every_order
def test_the_two_paths_of_a_pipe_do_not_meet(order):
    k = Pair()
    got = {}
    for core, paths in ((0, ("dma", "gpsimd_dma")), (1, ("gpsimd_dma", "dma"))):
        for path in paths:
            src = k.load(core, pattern(core, (4, 8)) + len(path))
            got[core, path] = k.empty(core, (4, 8))
            k.swap(core, src, got[core, path], dma_engine=path)
    for (core, _), tile in got.items():
        k.store(core, tile)
    for (core, path), array in zip(got, k.run(**order), strict=True):
        np.testing.assert_array_equal(
            array, pattern(1 - core, (4, 8)) + len(path))


@every_order
def test_what_comes_before_and_after_on_a_core_stays_so(order):
    # src is computed, sent, then overwritten; dst is read, then received into,
    # then used.
    k = Pair()
    for core in (0, 1):
        src, dst = k.load(core, pattern(core)), k.load(core, pattern(5))
        with k.b.core(core):
            k.b.tensor_scalar(dst=src, data=src, op0="multiply", operand0=2.0)
        k.store(core, dst)
        k.swap(core, src, dst)
        with k.b.core(core):
            k.b.memset(dst=src, value=0)
            k.b.tensor_tensor(dst=dst, data1=dst, data2=src, op="add")
        k.store(core, dst)
        k.store(core, src)
    out = k.run(**order)
    for core in (0, 1):
        before, received, overwritten = out[3 * core : 3 * core + 3]
        np.testing.assert_array_equal(before, pattern(5))
        np.testing.assert_array_equal(received, 2 * pattern(1 - core))
        assert not overwritten.any()


@every_order
def test_a_core_that_names_itself_copies(order):
    # isa.json: own dst = peer[recv_from_rank].src, with both ranks the core's
    k = Pair()
    for core, shape in ((0, (128, 16)), (1, (3, 5))):
        src, dst = k.load(core, pattern(core, shape)), k.empty(core, shape)
        k.swap(core, src, dst, send_to_rank=core, recv_from_rank=core)
        k.store(core, dst)
    out = k.run(**order)
    np.testing.assert_array_equal(out[0], pattern(0, (128, 16)))
    np.testing.assert_array_equal(out[1], pattern(1, (3, 5)))


@every_order
def test_an_exchange_back_and_forth_returns_what_was_sent(order):
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        for i in range(6):
            k.swap(core, tile, tile, pipe_id=i % 2)
        k.store(core, tile)
    for core, array in enumerate(k.run(**order)):
        np.testing.assert_array_equal(array, pattern(core))


@pytest.mark.parametrize("orders", [{}, {"schedule": 4, "time": False}])
def test_waits_and_signals_of_ones_own_order_an_exchange(orders):
    # 16 queues, each of which signals its part on both cores
    k = Pair(sync="explicit")
    for core in (0, 1):
        with k.b.core(core):
            s, out = k.b.semaphore(), k.b.output(f"y{core}", (4, 8), "float32")
            src, dst = (k.b.sbuf((4, 8), "float32") for _ in "sd")
            k.b.memset(dst=src, value=core + 1, signal=[(s, 1)])
            k.b.sendrecv(src=src, dst=dst, send_to_rank=1 - core,
                         recv_from_rank=1 - core, pipe_id=0, wait=[(s, 1)],
                         signal=[(s, 1)])
            k.b.dma_copy(dst=out, src=dst, wait=[(s, 17)])
    r = trnemu.run(k.b.build(), {}, **orders)
    assert (r.outputs["y0"] == 2).all() and (r.outputs["y1"] == 1).all()


def test_an_exchange_starts_at_the_later_trigger():
    def time(delay: int, late: int) -> float:
        k = Pair()
        for core in (0, 1):
            tile = k.load(core, pattern(core))
            if core == late:
                with k.b.core(core):
                    for _ in range(delay):
                        k.b.tensor_copy(dst=tile, src=tile, engine="vector")
            k.swap(core, tile, tile)
            k.store(core, tile)
        return trnemu.run(k.b.build(), k.inputs).time_ns

    times = [time(delay, 0) for delay in (0, 10, 20, 40)]
    steps = np.diff(times)
    assert (steps > 0).all() and steps[2] == pytest.approx(2 * steps[1], 1e-6)
    assert time(40, 1) == pytest.approx(times[3], 1e-6)


def test_a_waiting_exchange_holds_up_no_other_transfer():
    # Core 1 comes to the exchange only after it has what core 0 stores later.
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    tile = k.load(0, pattern(0, (4, 8)))
    k.swap(0, tile, tile)
    with k.b.core(0):
        other = k.b.sbuf((4, 8), "float32")
        k.b.memset(dst=other, value=3)
        k.b.dma_copy(dst=shared, src=other)
    k.barrier(0, shared)
    k.barrier(1, shared)
    with k.b.core(1):
        got = k.b.sbuf((4, 8), "float32")
        k.b.dma_copy(dst=got, src=shared)
    k.swap(1, got, got)
    k.store(0, tile)
    p = k.b.build()
    for order in ORDERS:
        assert (trnemu.run(p, k.inputs, **order).outputs["out0"] == 3).all()


def test_an_exchange_that_waits_is_the_last_dma_to_be_waited_for():
    # More loads than there are semaphores for DMAs at a time; core 1 comes to
    # the exchange only after all of them.
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    swapped = k.load(0, pattern(0, (4, 8)))
    k.swap(0, swapped, swapped)
    tiles = [k.load(0, np.full((4, 8), i, F32)) for i in range(100)]
    with k.b.core(0):
        k.b.dma_copy(dst=shared, src=tiles[0])
        total = k.b.sbuf((4, 8), "float32")
        k.b.memset(dst=total, value=0)
        for tile in tiles:
            k.b.tensor_tensor(dst=total, data1=total, data2=tile, op="add")
    k.barrier(0, shared)
    k.barrier(1, shared)
    with k.b.core(1):
        got = k.b.sbuf((4, 8), "float32")
        k.b.dma_copy(dst=got, src=shared)
    k.swap(1, got, got)
    k.store(0, total)
    k.store(0, swapped)
    out = k.run()
    assert (out[0] == sum(range(100))).all() and not out[1].any()


def test_an_exchange_without_values_takes_the_same_time():
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile)
        k.store(core, tile)
    p = k.b.build()
    with_values = trnemu.run(p, k.inputs)
    without = trnemu.run(p, k.inputs, values=False)
    assert without.time_ns == with_values.time_ns and not without.outputs


def test_an_unwritten_src_is_reported_with_the_core_that_sends_it():
    k = Pair()
    k.swap(0, k.load(0, pattern(0)), k.empty(0, (128, 64)))
    k.swap(1, k.empty(1, (128, 64)), k.empty(1, (128, 64)))
    for order in ORDERS[:5]:
        with pytest.raises(trnemu.Fault) as info:
            k.run(**order)
        fault = info.value
        assert fault.id == "memory.read_unwritten", str(fault)
        assert (fault.operation, fault.operand) == ("sendrecv", "src")
        assert fault.core == 1


def test_src_and_dst_that_overlap_halfway_are_reported():
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile[:64], tile[1:65])
    k.run()
    assert [(f.id, f.severity, f.category, f.count) for f in k.findings] == [
        ("sendrecv.overlap", "warning", "unspecified", 2)]


@pytest.mark.parametrize("order", ORDERS[:4])
@pytest.mark.parametrize(("shape", "dtype", "says"), [
    ((4, 9), "float32", "4 partitions of 9 float32"),
    ((5, 8), "float32", "5 partitions of 8 float32"),
    ((4, 8), "int32", "4 partitions of 8 int32")])
def test_tiles_that_differ_do_not_meet(order, shape, dtype, says):
    k = Pair()
    k.swap(0, k.load(0, pattern(0, (4, 8))), k.empty(0, (4, 8)), 3)
    k.swap(1, k.load(1, np.zeros(shape, dtype)), k.empty(1, shape, dtype), 3)
    with pytest.raises(trnemu.Fault) as info:
        k.run(**order)
    fault = info.value
    assert (fault.id, fault.category) == ("sendrecv.mismatch", "illegal")
    for word in ("pipe_id 3", "core 0 has 4 partitions of 8 float32",
                 f"core 1 has {says}", "of core 0", "of core 1"):
        assert word in str(fault), str(fault)


@pytest.mark.parametrize("order", ORDERS[:4])
@pytest.mark.parametrize("ranks", [(1, 1), (0, 1), (1, 0)])
def test_ranks_that_do_not_name_each_other_are_a_deadlock(order, ranks):
    k = Pair()
    tiles = [k.load(core, pattern(core)) for core in (0, 1)]
    k.swap(0, tiles[0], tiles[0])
    k.swap(1, tiles[1], tiles[1], send_to_rank=ranks[0], recv_from_rank=ranks[1])
    fault = deadlock(lambda: k.run(**order), "pipe_id 0",
                     "core 0 sends to 1 and receives from 1",
                     f"core 1 sends to {ranks[0]} and receives from {ranks[1]}")
    assert fault.id == "sendrecv.pairing"


@two_cores
@pytest.mark.parametrize("order", ORDERS[:4])
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("values", [False, True])
def test_row_49_a_sendrecv_that_nobody_meets_is_a_deadlock(
    target, order, used, values,
):
    if not values and order:
        pytest.skip("values=False is for time alone")
    k = Pair(target)
    tile = k.load(1, pattern(1))
    k.swap(1, tile, tile, 9)
    if used:
        k.store(1, tile)
    fault = deadlock(lambda: k.run(values=values, **order), "sendrecv",
                     "pipe_id 9", "rank 1 waits for rank 0",
                     "core 0 has no sendrecv of pipe_id 9 left")
    assert (fault.operation, fault.core) == ("sendrecv", 1)
    assert "cores_kit.py" in fault.source
    if used:
        assert "signals it once the other core has come" in str(fault)


def test_exchanges_of_two_pipes_do_not_meet():
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile, core + 1)
    deadlock(k.run, "pipe_id 1", "pipe_id 2", "rank 0 waits for rank 1",
             "rank 1 waits for rank 0", "core 1 has no sendrecv of pipe_id 1")


def test_exchanges_of_two_paths_do_not_meet():
    k = Pair()
    for core, path in ((0, "dma"), (1, "gpsimd_dma")):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile, dma_engine=path)
    deadlock(k.run, "core 0 has no sendrecv of pipe_id 0 over gpsimd_dma left",
             "core 1 has no sendrecv of pipe_id 0 left")


def test_a_deadlock_says_which_exchange_was_not_come_to():
    # Each core's second exchange needs what the first brings: crossed.
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        for pipe in (core, 1 - core):
            k.swap(core, tile, tile, pipe)
    deadlock(k.run, "core 1 has not come to its own, instruction 2 on the sync",
             "core 0 has not come to its own, instruction 2 on the sync")


@pytest.mark.parametrize("queues", [17, 255, 65535])
def test_a_program_file_with_more_queues_than_there_are_is_refused(queues):
    p = Pair()
    for core in (0, 1):
        own = p.load(core, np.full((2, 4), core, F32))
        p.swap(core, own, p.empty(core, (2, 4)))
    text = p.b.build().to_text()
    lines = text.split("\n")
    sets = {m[1] for line in lines if "SendRecv" in line
            and (m := re.search(r"queue_set=(\d+)", line))}
    for i, line in enumerate(lines):
        if line.startswith("queue_set ") and line.split()[1] in sets:
            lines[i] = re.sub(r"queues=\d+", f"queues={queues}", line)
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(trnemu.Program.from_text("\n".join(lines)), p.inputs)
    assert info.value.id == "malformed.expansion"
