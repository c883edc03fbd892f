"""core_barrier: what two cores wrote and read before it is done after it, in
every order; a barrier that is not met is a deadlock. And programs with both.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import trnemu
from cores_kit import (
    F32, ORDERS, Pair, deadlock, every_order, halves, pattern, two_cores,
)


@two_cores
@every_order
def test_after_a_barrier_both_cores_see_what_both_wrote(target, order):
    want = np.concatenate([pattern(0, (64, 64)), pattern(1, (64, 64))])
    for array in halves(target).run(**order):
        np.testing.assert_array_equal(array, want)


@pytest.mark.parametrize("engine", ["gpsimd", "vector", "scalar", "tensor",
                                    "sync", "unknown"])
def test_every_engine_can_wait(engine):
    k = halves("trn2", engine=engine)
    text = k.b.build().to_text()
    assert text.count(f"  {engine.replace('unknown', 'gpsimd')} #") >= 4
    for order in ORDERS[:5]:
        assert trnemu.run(k.b.build(), k.inputs, **order).outputs


def test_without_a_barrier_some_order_reads_too_early():
    """checks="memory" sees what the order at hand does."""
    def outcome(order):
        try:
            halves("trn2", barrier=False).run(checks="memory", **order)
        except trnemu.Fault as fault:
            return fault.id
        return "no fault"

    found = [outcome(order) for order in ORDERS]
    assert set(found) <= {"memory.read_unwritten", "no fault"}
    assert "memory.read_unwritten" in found


@every_order
def test_without_a_barrier_every_order_reports_the_race(order):
    with pytest.raises(trnemu.Fault) as caught:
        halves("trn2", barrier=False).run(**order)
    assert caught.value.id in ("race.write_read", "race.read_write")


@every_order
def test_later_writes_wait_for_earlier_reads_of_the_other_core(order):
    # Rounds of: write own half, barrier, read the other's, barrier. Engines
    # change from one barrier to the next, and differ between the cores.
    engines = ("gpsimd", "vector", "vector", "scalar", "sync", "gpsimd")
    k = Pair()
    shared = k.b.scratch("shared", (2, 4, 16), "float32")
    for core in (0, 1):
        with k.b.core(core):
            own = k.b.sbuf((4, 16), "float32")
        for i in range(3):
            with k.b.core(core):
                k.b.memset(dst=own, value=10 * i + core, engine="vector")
                k.b.dma_copy(dst=shared[core], src=own)
            k.barrier(core, shared, engine=engines[(2 * i + core) % 6])
            with k.b.core(core):
                got = k.b.sbuf((4, 16), "float32")
                k.b.dma_copy(dst=got, src=shared[1 - core])
            k.store(core, got)
            k.barrier(core, shared, engine=engines[(2 * i + 1 + core) % 6])
    out = k.run(**order)
    for core in (0, 1):
        for i in range(3):
            assert (out[3 * core + i] == 10 * i + 1 - core).all()


@every_order
def test_barriers_of_different_data_on_two_engines_keep_their_order(order):
    # The first barrier is of a, the second of b; core 1 would come to the
    # second first, since what it writes to a takes long. What core 0 reads of
    # a must be there nevertheless.
    k = Pair()
    a = k.b.scratch("a", (4, 8), "float32")
    b = k.b.scratch("b", (4, 8), "float32")
    with k.b.core(1):
        t = k.b.sbuf((4, 8), "float32")
        k.b.memset(dst=t, value=1)
        for _ in range(50):
            k.b.tensor_copy(dst=t, src=t, engine="vector")
        k.b.dma_copy(dst=a, src=t)
    for core in (0, 1):
        k.barrier(core, a, engine="gpsimd")
        k.barrier(core, b, engine="scalar")
    with k.b.core(0):
        got = k.b.sbuf((4, 8), "float32")
        k.b.dma_copy(dst=got, src=a)
    k.store(0, got)
    assert (k.run(**order)[0] == 1).all()


@pytest.mark.parametrize("cores", [(0,), (0, 0)])
@pytest.mark.parametrize("target", trnemu.targets)
def test_one_core_alone_waits_for_nobody(target, cores):
    # On every generation: public kernels pass (0,).
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=2)
    b.dma_copy(dst=y, src=t)
    b.core_barrier(data=y, cores=cores)
    p = b.build()
    assert p.verify() == [] and '"barrier.' not in p.to_text()
    for order in ORDERS[:4]:
        assert (trnemu.run(p, {}, **order).outputs["y"] == 2).all()


def test_each_core_of_two_may_pass_a_barrier_alone():
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    k.barrier(1, shared, (1,))
    k.run()


def test_a_barrier_takes_part_of_a_tensor_or_any_dtype_of_hbm():
    k = Pair()
    y = k.b.output("y", (8, 8), "int8")
    for core in (0, 1):
        with k.b.core(core):
            t = k.b.sbuf((4, 8), "int8")
            k.b.memset(dst=t, value=core + 1)
            k.b.dma_copy(dst=y[4 * core : 4 * core + 4], src=t)
        k.barrier(core, y[2:6, ::2])
    out = trnemu.run(k.b.build(), {}).outputs["y"]
    assert (out[:4] == 1).all() and (out[4:] == 2).all()


def test_a_barrier_keeps_the_waits_and_signals_of_its_call():
    # Of an explicit program: waits on arriving, signals on leaving.
    k = Pair(sync="explicit")
    shared = k.b.scratch("shared", (4, 8), "float32")
    for core in (0, 1):
        with k.b.core(core):
            s, t = k.b.semaphore(), k.b.sbuf((4, 8), "float32")
            y = k.b.output(f"y{core}", (2, 8), "float32")
            k.b.memset(dst=t, value=core, signal=[(s, 1)])
            k.b.dma_copy(dst=shared[2 * core : 2 * core + 2], src=t[:2],
                         wait=[(s, 1)], signal=[(s, 1)])
            k.b.core_barrier(data=shared, cores=(0, 1), wait=[(s, 17)],
                             signal=[(s, 1)])
            other = 2 - 2 * core
            k.b.dma_copy(dst=t[:2], src=shared[other : other + 2],
                         wait=[(s, 18)], signal=[(s, 1)])
            k.b.dma_copy(dst=y, src=t[:2], wait=[(s, 34)])
    p = k.b.build()
    for order in ORDERS:
        out = trnemu.run(p, {}, **order).outputs
        assert (out["y0"] == 1).all() and (out["y1"] == 0).all()


def test_a_core_waits_at_a_barrier_for_the_later_one():
    def time(delays: tuple[int, int]) -> float:
        k = Pair()
        shared = k.b.scratch("shared", (128, 64), "float32")
        for core, delay in enumerate(delays):
            with k.b.core(core):
                t = k.b.sbuf((128, 64), "float32")
                k.b.memset(dst=t, value=1)
                for _ in range(delay):
                    k.b.tensor_copy(dst=t, src=t, engine="vector")
                k.b.dma_copy(dst=shared[64 * core : 64 * core + 64], src=t[:64])
            k.barrier(core, shared)
            with k.b.core(core):
                k.b.dma_copy(dst=t, src=shared)
        return trnemu.run(k.b.build(), {}).time_ns

    assert time((0, 0)) < time((40, 0)) == time((0, 40)) == time((40, 40))


@two_cores
@pytest.mark.parametrize("order", ORDERS[:4])
@pytest.mark.parametrize("core", [0, 1])
def test_a_barrier_that_one_core_never_reaches_is_a_deadlock(
    target, order, core,
):
    k = Pair(target)
    shared = k.b.scratch("shared", (4, 8), "float32")
    with k.b.core(0):
        t = k.b.sbuf((4, 8), "float32")
        k.b.memset(dst=t, value=0)
        k.b.dma_copy(dst=shared, src=t)
    k.barrier(core, shared)
    k.store(core, shared)
    fault = deadlock(
        lambda: k.run(**order), "core_barrier",
        f"core {core} is at a core_barrier that core {1 - core} has not reached")
    assert (fault.operation, fault.core) == ("core_barrier", core)
    assert "cores_kit.py" in fault.source


def test_one_barrier_less_on_a_core_is_a_deadlock():
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    for core, times in ((0, 3), (1, 2)):
        for _ in range(times):
            k.barrier(core, shared)
    deadlock(k.run, "core 0 is at a core_barrier that core 1 has not reached",
             "nothing that is left signals it")


def test_a_barrier_and_an_exchange_that_wait_for_each_other_are_a_deadlock():
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    tiles = [k.load(core, pattern(core, (4, 8))) for core in (0, 1)]
    k.barrier(0, shared, engine="sync")
    k.swap(0, tiles[0], tiles[0])
    k.swap(1, tiles[1], tiles[1])
    with k.b.core(1):
        k.b.dma_copy(dst=shared, src=tiles[1])
    k.barrier(1, shared)
    deadlock(k.run, "core 0 is at a core_barrier that core 1 has not reached",
             "rank 1 waits for rank 0",
             "core 0 has not come to its own, instruction 3 on the sync engine")


# --- both, in files ---------------------------------------------------------


@pytest.mark.parametrize("through", ["text", "file"])
def test_a_program_of_both_survives_its_file(tmp_path, through):
    k = halves("trn3")
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile, 5)
        k.store(core, tile)
    p = k.b.build()
    want = trnemu.run(p, k.inputs)
    if through == "text":
        again = trnemu.Program.from_text(p.to_text())
    else:
        p.save(tmp_path / "p.trn")
        again = trnemu.Program.load(tmp_path / "p.trn")
    assert again.verify() == []
    got = trnemu.run(again, k.inputs)
    assert got.time_ns == want.time_ns
    for name, array in want.outputs.items():
        np.testing.assert_array_equal(got.outputs[name], array)


def test_two_runs_of_a_loaded_program_are_the_same():
    k = halves("trn2")
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile)
        k.store(core, tile)
    loaded = trnemu.Device("trn2", 2).load(k.b.build())
    first, second = (loaded.run(k.inputs) for _ in range(2))
    assert first.time_ns == second.time_ns
    for name, array in first.outputs.items():
        np.testing.assert_array_equal(second.outputs[name], array)


def edited(k: Pair, core: int, attribute: str, value: int) -> trnemu.Program:
    """The program with an attribute of the core's SendRecvs changed."""
    lines, at = [], -1
    for line in k.b.build().to_text().splitlines():
        at += line.startswith("core ")
        if at == core and "SendRecv" in line:
            line = re.sub(rf"\b{attribute}=\d+", f"{attribute}={value}", line)
        lines.append(line)
    return trnemu.Program.from_text("\n".join(lines) + "\n")


def exchanged() -> Pair:
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        k.swap(core, tile, tile, 1)
        k.swap(core, tile, tile, 2)
        k.swap(core, tile, tile, 1)
        k.store(core, tile)
    return k


@every_order
@pytest.mark.parametrize("core", [0, 1])
def test_a_file_may_put_all_transfers_of_a_core_into_one_queue_set(core, order):
    k = exchanged()
    p = edited(k, core, "queue_set", 3 * core)  # that of its loads
    assert p.verify() == []
    out = trnemu.run(p, k.inputs, **order).outputs
    for c in (0, 1):
        np.testing.assert_array_equal(out[f"out{c}"], pattern(1 - c))


def test_cores_that_split_an_exchange_differently_do_not_meet():
    k = exchanged()
    text = k.b.build().to_text()
    p = trnemu.Program.from_text(re.sub(
        r"(queue_set 1 core=0 owner=sync queues)=16", r"\1=8", text))
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, k.inputs)
    assert info.value.id == "sendrecv.mismatch"
    assert "in 8 parts" in info.value.message
