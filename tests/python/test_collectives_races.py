"""Races between a collective and what else a rank does; and programs whose
semaphores order all of it, of which nothing is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trnemu
from collectives_kit import F32, SHAPE, Builder, fault_of, groups, ids, program, system, values

READ, OVERWRITE, TWICE = "race.write_read", "race.read_write", "race.write_write"
X = {"x": np.ones(SHAPE, F32)}


class Ring:
    """A builder with semaphores, a loaded source s and a destination t."""

    def __init__(self, b: Builder, sync: bool = True, sbuf: bool = False) -> None:
        self.b, self.sync = b, sync
        make = (lambda n: b.sbuf(SHAPE, "float32")) if sbuf else (
            lambda n: b.scratch(n, SHAPE, "float32"))
        self.x, self.y = b.input("x", SHAPE, "float32"), b.output("y", SHAPE, "float32")
        self.s, self.t = make("s"), make("t")
        self.loaded, self.done, self.free = (b.semaphore(n) for n in ("loaded", "done", "free"))
        b.dma_copy(dst=self.s, src=self.x, signal=[(self.loaded, 1)])

    def reduce(self, **options: Any) -> None:
        self.b.all_reduce(**{
            "srcs": [self.s], "dsts": [self.t], "replica_group": groups(2), "op": "add",
            "wait": [(self.loaded, 16)], "signal": [(self.done, 1)], **options})

    def store(self, **options: Any) -> None:
        self.b.dma_copy(**{"dst": self.y, "src": self.t, "trigger": "scalar",
                           "wait": [(self.done, 1)], **options})


def races(body: Callable[[Ring], Any], sbuf: bool = False, ranks: int = 2,
          inputs: Any = X, **options: Any) -> trnemu.Fault:
    return fault_of(program(lambda b: body(Ring(b, sbuf=sbuf)), sync="explicit"), inputs, ranks, **options)


def fine(body: Callable[[Ring], Any], sbuf: bool = False, ranks: int = 2,
         inputs: Any = X, **options: Any) -> trnemu.SystemResult:
    r = system(ranks).run(program(lambda b: body(Ring(b, sbuf=sbuf)), sync="explicit"),
                          inputs, strict=True, checks="full", **options)
    assert not r.diagnostics
    return r


@pytest.mark.parametrize("sbuf", [False, True])
def test_a_read_of_dst_that_does_not_wait_is_a_race(sbuf):
    def body(k: Ring, waits: bool = False) -> None:
        k.reduce()
        k.store(**({} if waits else {"wait": []}))
    fault = races(body, sbuf)
    assert fault.id == READ and fault.rank == 0
    assert "all_reduce" in str(fault) and "dma_copy" in str(fault)
    assert "wait for semaphore done" in fault.remedy or "done" in str(fault)
    r = fine(lambda k: body(k, True), sbuf)
    np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 2))


@pytest.mark.parametrize("sbuf", [False, True])
def test_a_write_to_src_while_the_collective_runs_is_a_race(sbuf):
    def body(k: Ring, waits: bool = False) -> None:
        k.reduce()
        k.store()
        k.b.dma_copy(dst=k.s, src=k.x, trigger="gpsimd",
                     wait=[(k.done, 1)] if waits else [(k.loaded, 16)])
    assert races(body, sbuf).id == OVERWRITE
    fine(lambda k: body(k, True), sbuf)


def test_a_source_that_is_not_waited_for_is_a_race():
    def body(k: Ring) -> None:
        k.reduce(wait=[])
        k.store()
    fault = races(body)
    assert fault.id == READ and fault.operation == "all_reduce"


def test_a_wait_for_fifteen_of_sixteen_queues_is_a_race():
    def body(k: Ring) -> None:
        k.reduce(wait=[(k.loaded, 15)])
        k.store()
    assert races(body).id == READ


def test_two_streams_that_write_one_destination_are_a_race():
    def body(k: Ring, stream: int) -> None:
        k.reduce()
        k.reduce(stream=stream)
        k.store(wait=[(k.done, 2)])
    assert races(lambda k: body(k, 1)).id == TWICE
    fine(lambda k: body(k, 0))


def test_the_collectives_of_one_stream_need_no_wait_between_them():
    """The second reads what the first writes, in its turn."""
    def body(k: Ring, stream: int) -> None:
        u = k.b.scratch("u", SHAPE, "float32")
        k.reduce()
        k.reduce(srcs=[k.t], dsts=[u], stream=stream)
        k.store(src=u, wait=[(k.done, 2)])
    r = fine(lambda k: body(k, 0))
    np.testing.assert_array_equal(values(r)[1], np.full(SHAPE, 4))
    assert races(lambda k: body(k, 1)).id == READ


def test_in_place_a_read_during_the_collective_is_a_race():
    def body(k: Ring, waits: bool) -> None:
        k.reduce(dsts=[k.s])
        k.store(src=k.s, wait=[(k.done, 1)] if waits else [(k.loaded, 16)])
    assert races(lambda k: body(k, False)).id == READ
    r = fine(lambda k: body(k, True))
    np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 2))


def test_each_tensor_of_a_list_is_looked_at():
    """One signal says that all of them have come."""
    def body(k: Ring, rows: slice, wait: bool) -> None:
        halves = lambda t: [t[:2], t[2:]]
        k.reduce(srcs=halves(k.s), dsts=halves(k.t))
        k.store(dst=k.y[rows], src=k.t[rows], wait=[(k.done, 1)] if wait else [])
    for rows in (slice(0, 2), slice(2, 4)):
        assert races(lambda k: body(k, rows, False)).id == READ
    r = fine(lambda k: body(k, slice(0, 4), True))
    np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 2))


def test_in_a_loop_the_next_load_must_wait_for_the_collective():
    def body(waits: bool):
        def add(b: Builder) -> None:
            x, s = b.input("x", SHAPE, "float32"), b.scratch("s", SHAPE, "float32")
            t, y = b.scratch("t", SHAPE, "float32"), b.output("y", SHAPE, "float32")
            loaded, done, free = (b.semaphore(n) for n in ("loaded", "done", "free"))
            b.nop(engine="gpsimd", signal=[(free, 1)])
            with b.fori_loop(0, 3):
                b.dma_copy(dst=s, src=x, trigger="gpsimd", signal=[(loaded, 1)],
                           wait=[trnemu.Wait(free, 1, consume=True)] if waits else [])
                b.all_reduce(srcs=[s], dsts=[t], replica_group=groups(2), op="add",
                             wait=[trnemu.Wait(loaded, 16, consume=True)], signal=[(done, 1), (free, 1)])
            b.dma_copy(dst=y, src=t, trigger="scalar", wait=[(done, 3)])
        return program(add, sync="explicit")
    assert fault_of(body(False), X).id == OVERWRITE
    r = system(2).run(body(True), X, strict=True)
    assert not r.diagnostics
    np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 2))


def v(k: Ring, m: Any, **options: Any) -> None:
    k.b.all_to_all_v(**{
        "srcs": [k.s], "dsts": [k.t], "replica_group": groups(2), "metadata_tensor": m,
        "wait": [(k.loaded, 16)], "signal": [(k.done, 1)], **options})


ALLOW = {"allow": ["all_to_all_v.system"]}
COUNTS = {**X, "m": np.array([[4, 4], [0, 4], [0, 0]], np.uint32)}


def test_metadata_is_read_when_the_collective_is_triggered():
    """So the collective before it on the stream must be complete if it writes
    the counts, and then row 2 may be written by both."""
    def body(k: Ring, waits: bool) -> None:
        m = k.b.input("m", (3, 2), "uint32")
        c = k.b.scratch("c", (3, 2), "uint32")
        k.b.all_reduce(srcs=[m], dsts=[c], replica_group=groups(2), op="maximum",
                       signal=[(k.free, 1)])
        v(k, c, wait=[(k.loaded, 16), *([(k.free, 1)] if waits else [])])
        k.b.dma_copy(dst=k.y[:, :2], src=k.t[:, :2], trigger="scalar", wait=[(k.done, 1)])
    allow = ["all_to_all_v.system", "collective.integer", "output.unwritten"]
    options = {"allow": allow}

    def build(waits: bool) -> trnemu.Program:
        return program(lambda b: body(Ring(b), waits), sync="explicit")
    try:
        bad = build(False)
    except trnemu.Fault as fault:  # integers: refused before
        assert fault.id == "collective.integer"
        return
    assert fault_of(bad, COUNTS, **options).id == READ
    system(2).run(build(True), COUNTS, **options)


def test_two_v_collectives_may_share_their_metadata():
    def body(k: Ring, known: bool) -> None:
        m = k.b.inout("m", (3, 2), "uint32")
        v(k, m, recv_counts_known=known)
        v(k, m, recv_counts_known=known)
        k.b.dma_copy(dst=k.y, src=k.x, wait=[(k.done, 2)], trigger="scalar")
    for known in (False, True):
        r = system(2).run(program(lambda b: body(Ring(b), known), sync="explicit"), COUNTS, **ALLOW)
        assert ids(r) == {"all_to_all_v.system"}
        assert r.outputs[0]["m"][2].tolist() == ([0, 0] if known else [4, 4])


def test_the_received_counts_must_be_waited_for():
    def body(k: Ring, waits: bool) -> None:
        m = k.b.inout("m", (3, 2), "uint32")
        c = k.b.output("c", (1, 2), "uint32")
        v(k, m)
        k.b.dma_copy(dst=c, src=m[2:3], trigger="scalar", wait=[(k.done, 1)] if waits else [])
        k.b.dma_copy(dst=k.y, src=k.x, trigger="scalar")
    build = lambda waits: program(lambda b: body(Ring(b), waits), sync="explicit")
    assert fault_of(build(False), COUNTS, **ALLOW).id == READ
    r = system(2).run(build(True), COUNTS, **ALLOW)
    assert values(r, "c")[0].tolist() == [[4, 4]]


def test_a_rank_that_a_permute_leaves_alone_may_use_its_tensors():
    """Rank 2 of pairs 0 and 1, and what only one end touches."""
    def body(k: Ring, wait: Any) -> None:
        z = k.b.inout("z", SHAPE, "float32")
        k.b.collective_permute(srcs=[k.s], dsts=[z], source_target_pairs=[[0, 1], [1, 0]],
                               wait=[(k.loaded, 16)], signal=[(k.done, 1)])
        k.b.dma_copy(dst=k.y, src=z, trigger="scalar", wait=wait(k))
    build = lambda wait: program(lambda b: body(Ring(b), wait), sync="explicit")
    eager, patient = build(lambda k: []), build(lambda k: [(k.done, 1)])
    inputs = {**X, "z": np.zeros(SHAPE, F32)}
    r = system(3).run([patient, patient, eager], inputs, strict=True)
    np.testing.assert_array_equal(values(r)[2], np.zeros(SHAPE))
    fault = fault_of([patient, eager, patient], inputs, 3)
    assert fault.id == READ and fault.rank == 1


def test_only_the_root_of_a_broadcast_reads_its_source():
    def body(k: Ring, waits: bool) -> None:
        k.b.broadcast(srcs=[k.s], dsts=[k.t], replica_group=groups(2), root=0,
                      wait=[(k.loaded, 16)], signal=[(k.done, 1)])
        k.b.dma_copy(dst=k.s, src=k.x, trigger="gpsimd",
                     wait=[(k.done, 1)] if waits else [(k.loaded, 16)])
        k.store()
    build = lambda waits: program(lambda b: body(Ring(b), waits), sync="explicit")
    system(2).run([build(True), build(False)], X, strict=True)
    fault = fault_of([build(False), build(True)], X)
    assert fault.id == OVERWRITE and fault.rank == 0


def test_a_barrier_touches_no_bytes():
    def body(k: Ring) -> None:
        k.b.collective_barrier(data=k.s, replica_group=groups(2), wait=[(k.loaded, 16)])
        k.b.dma_copy(dst=k.s, src=k.x, trigger="gpsimd", wait=[(k.loaded, 16)], signal=[(k.free, 1)])
        k.b.dma_copy(dst=k.y, src=k.s, trigger="scalar", wait=[(k.free, 16)])
    fine(body)


def test_automatic_synchronisation_makes_all_of_it_right():
    def add(b: Builder) -> None:
        x, y = b.input("x", SHAPE, "float32"), b.output("y", SHAPE, "float32")
        s, t, u = (b.scratch(n, SHAPE, "float32") for n in "stu")
        b.dma_copy(dst=s, src=x)
        b.all_reduce(srcs=[s], dsts=[t], replica_group=groups(2), op="add")
        b.dma_copy(dst=s, src=x[::1])  # src again
        b.all_reduce(srcs=[t], dsts=[u], replica_group=groups(2), op="add")
        b.all_reduce(srcs=[u], dsts=[u], replica_group=groups(2), op="add", stream=1)
        b.dma_copy(dst=y, src=u)
    r = system(2).run(program(add), X, strict=True)
    np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 8))


def test_automatic_synchronisation_waits_for_metadata_before_the_trigger():
    """An all_gather makes the counts; the all_to_all_v of the same stream reads
    them when it is triggered."""
    def add(b: Builder) -> None:
        x, y = b.input("x", (1, 8), "float32"), b.inout("y", (1, 8), "float32")
        own, all_ = b.input("own", (3, 1), "uint32"), b.scratch("all", (6, 1), "uint32")
        m = b.scratch("m", (3, 2), "uint32")
        b.all_gather(srcs=[own], dsts=[all_], replica_group=groups(2), collective_dim=0)
        b.collective_permute(srcs=[all_.reshape((3, 2))], dsts=[m], source_target_pairs=[[0, 1], [1, 0]])
        b.all_to_all_v(srcs=[x], dsts=[y], replica_group=groups(2), metadata_tensor=m)
    # Flat: counts (2, 1), displacements (0, 4), unused (0, 0).
    inputs = [{"x": np.arange(8, dtype=F32)[None] + 10 * r, "y": np.full((1, 8), -1, F32),
               "own": np.array(o, np.uint32)[:, None]}
              for r, o in enumerate(([2, 1, 0], [4, 0, 0]))]
    r = system(2).run(program(add), inputs, **ALLOW)
    np.testing.assert_array_equal(values(r)[0], [[0, 1, -1, -1, 10, 11, -1, -1]])
    np.testing.assert_array_equal(values(r)[1], [[4, -1, -1, -1, 14, -1, -1, -1]])


# Small programs whose semaphores order all of it: the collective by name, the
# shape of s and t, what t is when both ranks' s are 1, and more arguments.
G = {"replica_group": groups(2)}
CORRECT = {
    "all_reduce": dict(op="add", **G, value=2),
    "maximum": dict(name="all_reduce", op="maximum", **G, value=1),
    "all_gather": dict(collective_dim=0, **G, t=(8, 8), value=1),
    "reduce_scatter": dict(collective_dim=0, op="add", **G, t=(2, 8), value=2),
    "all_to_all": dict(collective_dim=0, **G, value=1),
    "permute": dict(name="collective_permute", source_target_pairs=[[0, 1], [1, 0]], value=1),
    "implicit": dict(name="collective_permute_implicit", channels=True, **G, value=1),
    "broadcast": dict(root=1, **G, value=1),
}
HBM_ONLY = ("all_to_all", "permute")


@pytest.mark.parametrize("way", ["plain", "sbuf", "loop", "stream", "gpsimd"])
@pytest.mark.parametrize("what", CORRECT)
def test_a_correct_program_is_not_reported(what, way):
    given = dict(CORRECT[what])
    name, value = given.pop("name", what), given.pop("value")
    shape, channels = given.pop("t", SHAPE), given.pop("channels", False)
    if way == "sbuf" and what in HBM_ONLY:
        pytest.skip("SBUF is not supported")

    def add(b: Builder) -> None:
        x, y = b.input("x", SHAPE, "float32"), b.output("y", shape, "float32")
        make = (lambda n, s: b.sbuf(s, "float32")) if way == "sbuf" else (
            lambda n, s: b.scratch(n, s, "float32"))
        s, t = make("s", SHAPE), make("t", shape)
        loaded, done = b.semaphore("loaded"), b.semaphore("done")
        tensors = {"srcs_by_channel": [[s]], "dsts_by_channel": [[t]]} if channels else {
            "srcs": [s], "dsts": [t]}
        more = {"stream": 1} if way == "stream" else {"trigger": "gpsimd"} if way == "gpsimd" else {}

        def step(consume: bool) -> None:
            def wait(s: trnemu.Semaphore, n: int) -> Any:
                return [trnemu.Wait(s, n, consume=consume)]
            b.dma_copy(dst=s, src=x, trigger="scalar", signal=[(loaded, 1)])
            getattr(b, name)(**tensors, **given, **more, signal=[(done, 1)],
                             wait=wait(loaded, 16))
            # Before the next load: the scalar engine triggers both.
            b.dma_copy(dst=y, src=t, trigger="scalar", wait=wait(done, 1), signal=[(stored, 1)])
            b.nop(engine="scalar", wait=wait(stored, 16))
        stored = b.semaphore("stored")
        if way == "loop":
            with b.fori_loop(0, 3):
                step(True)
        else:
            step(False)
    p = program(add, sync="explicit")
    r = system(2).run(p, X, strict=True, checks="full")
    assert not r.diagnostics
    for y in values(r):
        np.testing.assert_array_equal(y, np.full(shape, value))
