"""A run that cannot go on says who waits for whom, in every order and at once:
each program hangs, and its repaired twin does not."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, trnemu as command
from cores_kit import ORDERS, Pair, pattern
from json_schema import validate

F32 = np.float32
X = np.arange(32, dtype=F32).reshape(4, 8)

orders = pytest.mark.parametrize(
    "order", ORDERS[:5], ids=lambda o: str(o.get("schedule", "timed")))


def fault_of(program, inputs=None, **options):
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(program, inputs or {}, **options)
    assert info.value.category == "deadlock", str(info.value)
    validate(json.loads(info.value.to_json()))
    return info.value


def says(fault, *words):
    for word in words:
        assert word in str(fault), f"{word!r} not in:\n{fault}"


def node(fault, name):
    return next(n for n in fault.wait_graph["nodes"] if n["id"] == name)


# --- nothing is left that signals --------------------------------------------


def handover(wanted):
    """Row 12: gpsimd signals once, vector waits for `wanted`."""
    b = trnemu.ProgramBuilder(sync="explicit", name="handover")
    s = b.semaphore("handover")
    y = b.output("y", (4, 8), "float32")
    done = b.semaphore("done")
    t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0.0, engine="gpsimd", signal=[(s, 1)])
    b.memset(dst=u, value=3.0, engine="vector", wait=[(s, wanted)],
             signal=[(done, 1)])
    b.dma_copy(dst=y, src=u, wait=[(done, 1)])
    return b.build()


@orders
def test_row_12_a_wait_for_more_than_comes_names_what_came_and_the_repair(order):
    fault = fault_of(handover(2), **order)
    assert (fault.engine, fault.instruction, fault.operation) == (
        "vector", 1, "memset")
    says(fault, "handover >= 2", "it is 1", "nothing that is left signals it",
         "signalled once, by instruction 0 (memset) on the gpsimd engine of "
         "core 0", "for a total of 1", "test_deadlock.py")
    assert fault.remedy == (
        "the total that comes is 1: wait for 1, or signal once more")


@orders
def test_row_12_repaired_runs(order):
    assert (trnemu.run(handover(1), {}, **order).outputs["y"] == 3).all()


def test_what_waits_for_the_cause_is_told_after_it():
    fault = fault_of(handover(2))
    assert fault.wait_graph["causes"] == ["core0.vector"]
    waiting = node(fault, "core0.sync")["waits"][0]
    assert waiting["semaphore"] == "done" and waiting["repair"] is None
    (signaller,) = waiting["could_signal"]
    assert (signaller["instruction"], signaller["stuck_behind"]) == (
        1, "core0.vector")
    lines = [i for i, line in enumerate(fault.related) if "engine waits" in line]
    assert "vector" in fault.related[lines[0]]
    assert "sync" in fault.related[lines[1]]


def load(wanted, queues_of_16=True):
    b = trnemu.ProgramBuilder(sync="explicit")
    x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    s = b.semaphore("loaded")
    b.dma_copy(dst=t, src=x, signal=[(s, 1)])
    b.dma_copy(dst=y, src=t, wait=[(s, wanted)])
    return b.build()


@orders
@pytest.mark.parametrize("wanted", [17, 32])
def test_a_dma_signals_once_a_queue_and_the_repair_says_so(order, wanted):
    fault = fault_of(load(wanted), {"x": X}, **order)
    says(fault, f"loaded >= {wanted}", "it is 16", "16 queues")
    assert fault.remedy.startswith("the total that comes is 16: wait for 16")


@orders
def test_a_wait_for_all_queues_of_a_dma_runs(order):
    r = trnemu.run(load(16), {"x": X}, **order)
    np.testing.assert_array_equal(r.outputs["y"], X)


def test_a_semaphore_that_nothing_signals_wants_a_signal():
    b = trnemu.ProgramBuilder(sync="explicit")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0, wait=[(b.semaphore("never"), 2)])
    fault = fault_of(b.build())
    says(fault, "never", "it was never signalled")
    assert "signal=[(never, 2)]" in fault.remedy


def consumers(share):
    """Two engines each consume 1 of what gpsimd signals `share` of."""
    b = trnemu.ProgramBuilder(sync="explicit")
    s = b.semaphore("work")
    tiles = [b.sbuf((4, 8), "float32") for _ in range(3)]
    b.memset(dst=tiles[0], value=0, engine="gpsimd", signal=[(s, share)])
    for tile in tiles[1:]:
        b.memset(dst=tile, value=0,
                 engine="vector" if tile is tiles[1] else "gpsimd",
                 wait=[trnemu.Wait(s, 1, consume=True)])
    return b.build()


@orders
def test_a_signal_that_another_engine_consumed_is_named_as_taken(order):
    fault = fault_of(consumers(1), **order)
    (name,) = fault.wait_graph["causes"]
    (wait,) = node(fault, name)["waits"]
    (taker,) = wait["consumed_by"]
    assert {taker["engine"], node(fault, name)["engine"]} == {
        "vector", "gpsimd"}
    assert (taker["times"], taker["total"], wait["value"]) == (1, 1, 0)
    says(fault, "consumed 1 of it", "signal 1 more")


@orders
def test_a_signal_for_each_consumer_runs(order):
    trnemu.run(consumers(2), {}, **order)


def test_a_signal_that_was_branched_past_is_named():
    def build(times):
        b = trnemu.ProgramBuilder(sync="explicit")
        s = b.semaphore("in the loop")
        t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
        n = b.register_alloc(times)
        with b.fori_loop(0, n, 1):
            b.memset(dst=t, value=0, engine="gpsimd", signal=[(s, 1)])
        b.memset(dst=u, value=0, engine="vector", wait=[(s, 2)])
        return b.build()

    trnemu.run(build(2), {})
    fault = fault_of(build(0))
    says(fault, "would have signalled it, but was branched past")
    assert "on the way that was taken" in fault.remedy
    fault = fault_of(build(1))
    says(fault, "signalled once", "the total that comes is 1")
    assert "branched past" not in str(fault)


# --- cycles -------------------------------------------------------------------


def ring(engines, broken=False):
    """Each engine waits for the one before it, the first for the last."""
    b = trnemu.ProgramBuilder(sync="explicit")
    turns = [b.semaphore(f"turn of {e}") for e in engines]
    for i, engine in enumerate(engines):
        t = b.sbuf((4, 8), "float32")
        wait = [] if broken and i == 0 else [(turns[i], 1)]
        b.memset(dst=t, value=0, engine=engine, wait=wait,
                 signal=[(turns[(i + 1) % len(engines)], 1)])
    return b.build()


@orders
@pytest.mark.parametrize("engines", [
    ("gpsimd", "vector"), ("vector", "gpsimd"), ("vector",)])
def test_a_cycle_is_named_as_a_cycle(order, engines):
    fault = fault_of(ring(engines), **order)
    cycle = fault.wait_graph["cycle"]
    assert sorted(cycle) == sorted(f"core0.{e}" for e in engines)
    assert fault.wait_graph["causes"] == cycle
    if len(engines) == 1:
        says(fault, "waits for itself", "the instruction that waits")
    else:
        says(fault, ", which waits for the first", "it waits itself")
    assert fault.details["cycle"]
    assert "signal before it waits" in fault.remedy


@orders
def test_a_cycle_that_one_engine_leaves_runs(order):
    trnemu.run(ring(("gpsimd", "vector"), broken=True), {}, **order)


def test_a_signal_behind_the_wait_on_the_same_engine_is_a_cycle():
    b = trnemu.ProgramBuilder(sync="explicit")
    s = b.semaphore("own")
    t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0, engine="vector", wait=[(s, 1)])
    b.memset(dst=u, value=0, engine="vector", signal=[(s, 1)])
    fault = fault_of(b.build())
    says(fault, "it comes after the wait, on the same engine")
    assert fault.wait_graph["cycle"] == ["core0.vector"]


# --- two cores ------------------------------------------------------------------


def barriers(*times):
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    for core, n in enumerate(times):
        for _ in range(n):
            k.barrier(core, shared)
    return k


@orders
@pytest.mark.parametrize("times", [(1, 0), (0, 1), (3, 2), (1, 4)])
def test_mismatched_barriers_say_how_many_each_core_came_to(order, times):
    fault = fault_of(barriers(*times).b.build(), **order)
    core = 0 if times[0] > times[1] else 1
    least = min(times)
    assert (fault.operation, fault.core) == ("core_barrier", core)
    says(fault, f"core {core} is at a core_barrier that core {1 - core} has not "
         f"reached: core {1 - core} has ended, having come to {least} "
         f"core_barriers, and core {core} is at number {least + 1}",
         "call core_barrier as often on each of its cores")


@orders
def test_barriers_that_match_run(order):
    trnemu.run(barriers(3, 3).b.build(), {}, **order)


def test_a_core_that_branched_past_its_barrier_is_named():
    k = Pair()
    shared = k.b.scratch("shared", (4, 8), "float32")
    k.barrier(0, shared)
    with k.b.core(1):
        n = k.b.register_alloc(0)
        with k.b.fori_loop(0, n, 1):
            k.b.core_barrier(data=shared, cores=(0, 1))
    fault = fault_of(k.b.build())
    says(fault, "core 1 has ended, having come to 0", "branched past")


@orders
def test_row_49_a_sendrecv_without_its_partner_says_where_the_other_core_is(
    order,
):
    k = Pair()
    tile = k.load(1, pattern(1))
    k.swap(1, tile, tile, 9)
    k.store(1, tile)
    fault = fault_of(k.b.build(), k.inputs, **order)
    says(fault, "core 0 has no sendrecv of pipe_id 9 left; core 0 has ended")
    (cause,) = fault.wait_graph["causes"]
    assert node(fault, cause)["kind"] == "sendrecv"
    assert node(fault, cause)["partner"] is None


@orders
def test_row_49_a_sendrecv_with_its_partner_runs(order):
    k = Pair()
    tiles = [k.load(core, pattern(core)) for core in (0, 1)]
    for core in (0, 1):
        k.swap(core, tiles[core], tiles[core], 9)
        k.store(core, tiles[core])
    for core, out in enumerate(k.run(**order)):
        np.testing.assert_array_equal(out, pattern(1 - core))


def test_crossed_sendrecvs_are_a_cycle_of_both_cores():
    k = Pair()
    for core in (0, 1):
        tile = k.load(core, pattern(core))
        for pipe in (core, 1 - core):
            k.swap(core, tile, tile, pipe)
    fault = fault_of(k.b.build(), k.inputs)
    cores = {name.split(".")[0] for name in fault.wait_graph["cycle"]}
    assert cores == {"core0", "core1"}


def test_a_semaphore_of_another_core_is_named_with_its_core():
    b = trnemu.ProgramBuilder(sync="explicit", cores=2)
    with b.core(1):
        s = b.semaphore("theirs")
    with b.core(0):
        t = b.sbuf((4, 8), "float32")
        b.memset(dst=t, value=0, wait=[(s, 1)])
    says(fault_of(b.build()), "theirs of core 1 >= 1")


# --- the graph ------------------------------------------------------------------


def test_the_wait_graph_has_its_schema_and_survives_json():
    fault = fault_of(handover(2))
    assert json.loads(fault.to_json())["wait_graph"] == fault.wait_graph
    graph = fault.wait_graph
    assert (graph["schema"], set(graph)) == (
        1, {"schema", "nodes", "cycle", "causes"})
    vector = node(fault, "core0.vector")
    assert vector["kind"] == "engine" and vector["hopeless"] is True
    assert set(vector["waits"][0]) == {
        "semaphore", "semaphore_core", "wanted", "value", "consume",
        "could_signal", "sendrecvs", "signalled_by", "consumed_by",
        "branched_past", "repair"}
    assert vector["waits"][0]["signalled_by"][0]["total"] == 1


def test_other_faults_have_no_wait_graph():
    b = trnemu.ProgramBuilder()
    b.dma_copy(dst=b.output("y", (4, 8), "float32"),
               src=b.sbuf((4, 8), "float32"))
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(b.build(), {})
    assert info.value.wait_graph is None


def test_the_command_draws_the_wait_graph(tmp_path):
    path, dot = tmp_path / "k.trn", tmp_path / "k.dot"
    ring(("gpsimd", "vector")).save(str(path))
    result = command("run", path, "--wait-graph", dot)
    assert result.returncode == FAULT
    text = dot.read_text()
    assert text.startswith("digraph")
    assert '"core0.gpsimd" -> "core0.vector"' in text
    assert '"core0.vector" -> "core0.gpsimd"' in text
    report = json.loads(command("run", path, "--json").stdout)
    assert report["fault"]["wait_graph"]["cycle"]
