"""nki.collectives in kernel[2]: what the two cores of a rank do together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from trnemu import Fault, System, nki
from trnemu.nki import collectives as ncc
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl
from trnemu.nki.collectives import ReplicaGroup

PAIR = ReplicaGroup([[0, 1]])


def given(*shape: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    return [rng.integers(-99, 99, shape).astype(np.float32) for _ in range(2)]


def shared(x, name):
    return nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm, name=name)


def halves(x):
    rows = x.shape[0] // 2
    return nl.ds(nl.program_id(0) * rows, rows)


@nki.jit
def each_writes_half(x, group):
    """No barrier: the collective is where the cores meet."""
    src, dst, out = shared(x, "src"), shared(x, "dst"), shared(x, "out")
    mine = halves(x)
    if nl.program_id(0) == 1:  # arrives much later than core 0
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        for _ in range(20):
            nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=src[mine], src=x[mine])
    ncc.all_reduce([src], [dst], group, op=nl.add)
    nisa.dma_copy(dst=out[mine], src=dst[mine])
    return out


def test_a_tensor_that_both_cores_give_is_one_collective_of_the_rank():
    xs = given(8, 16)
    run = System(ranks=2).run(each_writes_half[2], [(x, PAIR) for x in xs])
    assert len(run.collectives) == 1
    for rank, out in enumerate(run.results):
        np.testing.assert_array_equal(out, sum(xs))
        assert run.ranks[rank].diagnostics == []


def test_it_starts_when_the_later_core_has_come():
    xs = given(8, 16)
    run = System(ranks=2).run(each_writes_half[2], [(x, PAIR) for x in xs])

    @nki.jit
    def at_once(x, group):
        src, dst = shared(x, "src"), shared(x, "dst")
        mine = halves(x)
        nisa.dma_copy(dst=src[mine], src=x[mine])
        ncc.all_reduce([src], [dst], group, op=nl.add)
        return dst

    soon = System(ranks=2).run(at_once[2], [(x, PAIR) for x in xs])
    # 20 copies, one after the other as each writes what the one before did,
    # of more than a microsecond each.
    late = (run.collectives[0].last_trigger_ns
            - soon.collectives[0].last_trigger_ns)
    assert late > 20 * 1000


@nki.jit
def several_tensors(x, y, group):
    srcs = [shared(x, "a"), shared(y, "b")]
    dsts = [shared(x, "c"), shared(y, "d")]
    for source, tensor in zip((x, y), srcs):
        mine = halves(source)
        nisa.dma_copy(dst=tensor[mine], src=source[mine])
    ncc.all_reduce(srcs, dsts, group, op=nl.add)
    outs = [shared(x, "out_x"), shared(y, "out_y")]
    for out, tensor in zip(outs, dsts):
        mine = halves(out)
        nisa.dma_copy(dst=out[mine], src=tensor[mine])
    return outs


def test_the_tensors_of_a_list_are_complete_together_on_both_cores():
    xs, ys = given(8, 4), given(4, 6)
    run = System(ranks=2).run(
        several_tensors[2],
        [(x, y, PAIR) for x, y in zip(xs, ys, strict=True)])
    for rank, (a, b) in enumerate(run.results):
        np.testing.assert_array_equal(a, sum(xs))
        np.testing.assert_array_equal(b, sum(ys))
        assert run.ranks[rank].diagnostics == []
    assert len(run.collectives) == 1


@nki.jit
def each_its_tile(x, group):
    rows, columns = x.shape
    mine = halves(x)
    out = nl.ndarray((rows, 2 * columns), x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows // 2, columns), x.dtype, buffer=nl.sbuf)
    wide = nl.ndarray((rows // 2, 2 * columns), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[mine])
    ncc.all_gather([tile], [wide], group, collective_dim=1)
    nisa.dma_copy(dst=out[mine], src=wide)
    return out


def test_tiles_in_sbuf_are_exchanged_by_each_core_with_the_same_core():
    xs = given(8, 5)
    run = System(ranks=2).run(each_its_tile[2], [(x, PAIR) for x in xs])
    assert len(run.collectives) == 2
    for out in run.results:
        np.testing.assert_array_equal(out, np.concatenate(xs, axis=1))


def test_cores_that_come_in_another_order_on_each_rank_do_not_mix():
    """Rank 0's core 0 is slow, and rank 1's core 1."""

    def kernel_of(slow):
        @nki.jit
        def kernel(x, group):
            if nl.program_id(0) == slow:
                tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
                for _ in range(20):
                    nisa.dma_copy(dst=tile, src=x)
            return each_its_tile(x, group)

        return kernel

    xs = given(8, 5)
    programs = [nki.trace(kernel_of(slow)[2], xs[slow], PAIR)
                for slow in (0, 1)]
    run = System(ranks=2).run(programs, [{"x": x} for x in xs])
    for outputs in run.outputs:
        np.testing.assert_array_equal(
            outputs["out"], np.concatenate(xs, axis=1))


@nki.jit
def one_core_alone(x, group):
    src, dst, out = shared(x, "src"), shared(x, "dst"), shared(x, "out")
    if nl.program_id(0) == 0:
        nisa.dma_copy(dst=src, src=x)
        ncc.all_reduce([src], [dst], group, op=nl.add)
    nisa.core_barrier(data=dst, cores=(0, 1))
    mine = halves(x)
    nisa.dma_copy(dst=out[mine], src=dst[mine])
    return out


def test_a_core_may_call_a_collective_alone():
    xs = given(4, 8)
    run = System(ranks=2).run(one_core_alone[2], [(x, PAIR) for x in xs])
    assert len(run.collectives) == 1
    for out in run.results:
        np.testing.assert_array_equal(out, sum(xs))


@nki.jit
def counted_on_both(x, counts, group):
    """The counts are in SBUF, which each core has its own of."""
    src, dst = shared(x, "src"), shared(x, "dst")
    mine = halves(x)
    nisa.dma_copy(dst=src[mine], src=x[mine])
    nisa.dma_copy(dst=dst[mine], src=x[mine])
    rows = nl.ndarray((1, 3, 2), nl.uint32, buffer=nl.sbuf)
    nisa.dma_copy(dst=rows, src=counts)
    ncc.all_to_all_v([src], [dst], group, rows)
    out = shared(x, "out")
    nisa.dma_copy(dst=out[mine], src=dst[mine])
    received = nl.ndarray((2, 1, 3, 2), nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=received[nl.program_id(0)], src=rows)
    return out, received


def test_counts_in_sbuf_are_read_and_written_on_both_cores():
    xs = given(4, 2)
    counts = np.array([[[1, 3], [0, 4], [0, 0]]], np.uint32)
    run = System(ranks=2).run(
        counted_on_both[2], [(x, counts, PAIR) for x in xs],
        allow=("all_to_all_v.system",))  # documented between nodes
    assert len(run.collectives) == 1
    for rank, (out, received) in enumerate(run.results):
        want = xs[rank].copy().reshape(2, 4)
        count, at = ((1, 0), (3, 4))[rank]
        for source in range(2):
            want[source, :count] = xs[source].reshape(-1)[at:at + count]
        np.testing.assert_array_equal(out.reshape(2, 4), want)
        assert received[:, 0, 2].tolist() == [[count, count]] * 2


def halves_of(operations: list[tuple[int, str]]) -> trnemu.Program:
    b = trnemu.ProgramBuilder("trn2", "halves", cores=2)
    x, y = b.input("x", (4,), "float32"), b.output("y", (4,), "float32")
    for core, op in operations:
        with b.core(core):
            b.all_reduce(srcs=[x], dsts=[y], replica_group=[[0, 1]], op=op,
                         both_cores=True)
    return b.build()


def test_a_core_that_never_comes_is_named():
    with pytest.raises(Fault) as caught:
        System(ranks=2).run(
            halves_of([(1, "add")]), {"x": np.ones(4, np.float32)})
    assert caught.value.id == "collective.deadlock"
    assert "core 1 of rank 0 has come to the all_reduce" in str(caught.value)
    assert "core 0 never comes to it" in str(caught.value)


def test_cores_that_come_to_different_collectives_are_named():
    with pytest.raises(Fault) as caught:
        System(ranks=2).run(
            halves_of([(0, "add"), (1, "maximum")]),
            {"x": np.ones(4, np.float32)})
    assert caught.value.id == "collective.cores"


def test_both_cores_needs_two_cores():
    b = trnemu.ProgramBuilder("trn2")
    x = b.inout("x", (4,), "float32")
    with pytest.raises(Fault) as caught:
        b.all_reduce(srcs=[x], dsts=[x], replica_group=[[0, 1]], op="add",
                     both_cores=True)
    assert caught.value.id == "collective.both_cores"
