"""What goes wrong between ranks ends by itself, and says which ranks and which
collective."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import trnemu
from collectives_kit import (
    F32, SHAPE, Builder, all_reduce, by_rank, copy, fault_of, groups, ids, ones,
    program, system, values,
)

GROUP = "[0, 1, 2, 3]"


def gather(b: Builder, **options: Any) -> None:
    x, y = b.input("x", SHAPE, "float32"), b.output("y", (16, 8), "float32")
    b.all_gather(srcs=[x], dsts=[y], replica_group=groups(4),
                 collective_dim=0, **options)


def bf16(b: Builder) -> None:
    x, y = b.sbuf(SHAPE, "bfloat16"), b.sbuf(SHAPE, "bfloat16")
    b.input("x", SHAPE, "float32")
    b.memset(dst=x, value=1.0)
    b.all_reduce(srcs=[x], dsts=[y], replica_group=groups(4), op="add")


def coalesced(b: Builder) -> None:
    x, y = b.input("x", SHAPE, "float32"), b.output("y", SHAPE, "float32")
    b.all_reduce(srcs=[x[:2], x[2:]], dsts=[y[:2], y[2:]],
                 replica_group=groups(4), op="add")


# What rank 2 does otherwise, and what the report says of it.
DIFFERENT = {
    "shape": (lambda b: all_reduce(b, 4, (4, 16)), "elements of the sources: [32] on rank 0, [64] on rank 2"),
    "op": (lambda b: all_reduce(b, 4, op="maximum"), "op: add on rank 0, maximum on rank 2"),
    "dtype": (bf16, "dtype: float32 on rank 0, bfloat16 on rank 2"),
    "operation": (gather, "operation: all_reduce on rank 0, all_gather on rank 2"),
    "list": (coalesced, "elements of the sources: [32] on rank 0, [16, 16] on rank 2"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_ranks_that_disagree_are_told_who_and_in_what(what):
    body, said = DIFFERENT[what]
    usual = program(lambda b: all_reduce(b, 4))
    other = program(body)
    inputs = [ones() for _ in range(4)]
    inputs[2] = ones(other.inputs["x"][0])
    fault = fault_of([usual, usual, other, usual], inputs, 4)
    assert fault.id == "collective.mismatch" and fault.category == "illegal"
    assert said in fault.message and GROUP in fault.message
    assert fault.rank == 2 and fault.operation in fault.message
    assert [s for s in fault.related if s.startswith("rank 0: all_reduce at instruction 0")]
    assert [s for s in fault.related if s.startswith("rank 2: ")]


@pytest.mark.parametrize("group", [[[0, 1, 2]], [[1, 0, 2, 3]]])
def test_another_group_on_one_rank_is_a_deadlock_that_says_where_that_rank_is(group):
    usual = program(lambda b: all_reduce(b, 4))
    other = program(lambda b: all_reduce(b, group=group))
    fault = fault_of([usual, usual, other, usual], ones(), 4)
    assert fault.id == "collective.deadlock" and fault.category == "deadlock"
    assert f"rank 2 never comes to the all_reduce of ranks {GROUP} on stream 0" in fault.message
    assert f"rank 2 waits in the all_reduce of ranks {group[0]} on stream 0" in fault.message


def test_a_rank_that_has_no_such_collective_is_named_with_all_who_wait():
    usual, none = program(lambda b: all_reduce(b, 4)), program(copy)
    fault = fault_of([usual, usual, none, none], ones(), 4)
    assert fault.id == "collective.deadlock"
    assert "ranks [2, 3] never come to the all_reduce" in fault.message
    assert "rank 2 has come to the end of its program" in fault.message
    assert "rank 3 has come to the end of its program" in fault.related[0]
    waiting = [s for s in fault.related if s.startswith("waiting: ")]
    assert [re.match(r"waiting: rank (\d): all_reduce at instruction 0, ", s)[1] for s in waiting] == ["0", "1"]


def test_a_rank_that_comes_on_another_stream_is_named():
    usual = program(lambda b: all_reduce(b, 2))
    other = program(lambda b: all_reduce(b, 2, stream=1))
    fault = fault_of([usual, other], ones())
    assert fault.id == "collective.deadlock"
    assert "rank 1 waits in the all_reduce of ranks [0, 1] on stream 1" in fault.message


def test_a_rank_that_faults_first_is_what_is_reported():
    def wrong(b: Builder) -> None:
        t = b.sbuf(SHAPE, "float32")
        b.tensor_copy(dst=b.sbuf(SHAPE, "float32"), src=t)
        all_reduce(b, 2)
    fault = fault_of([program(lambda b: all_reduce(b, 2)), program(wrong)], ones())
    assert fault.id == "memory.read_unwritten" and fault.rank == 1


def test_a_deadlock_between_a_collective_and_a_semaphore_names_both():
    def stuck(b: Builder) -> None:
        never = b.semaphore("never")
        all_reduce(b, 2, wait=[(never, 1)])
    fault = fault_of([program(lambda b: all_reduce(b, 2)), program(stuck, sync="explicit")], ones())
    assert fault.id == "collective.deadlock"
    assert "rank 1 is stuck: " in fault.message
    assert "waits for semaphore never >= 1" in fault.message


def test_two_ranks_that_wait_for_each_other_s_collective_are_a_deadlock():
    """Rank 0 comes to the second when the first is complete, rank 1 the other
    way round."""
    def body(first: int):
        def add(b: Builder) -> None:
            x, done = b.input("x", SHAPE, "float32"), b.semaphore("done")
            for n in (first, 1 - first):
                y = b.output(f"y{n}", SHAPE, "float32")
                b.all_reduce(srcs=[x], dsts=[y], replica_group=groups(2),
                             op="add", stream=n, signal=[(done, 1)],
                             wait=[(done, 1)] if n != first else [])
        return program(add, sync="explicit")
    fault = fault_of([body(0), body(1)], ones())
    assert fault.id == "collective.deadlock"
    assert "on stream 0" in fault.message and "on stream 1" in fault.message


def test_a_send_that_nobody_receives_is_a_deadlock():
    send = program(lambda b: b.send(src=b.input("x", SHAPE, "float32"), to_rank=1))
    fault = fault_of([send, program(copy)], ones())
    assert fault.id == "collective.deadlock"
    assert "rank 1 never comes to the send of ranks [0, 1]" in fault.message


def test_a_send_of_another_size_than_its_recv_is_a_mismatch():
    send = program(lambda b: b.send(src=b.input("x", SHAPE, "float32"), to_rank=1))
    recv = program(lambda b: b.recv(dst=b.output("y", (4, 4), "float32"), from_rank=0))
    fault = fault_of([send, recv], [ones(), {}])
    assert fault.id == "collective.mismatch"
    assert "rank 0 sends [32], rank 1 receives [16]" in fault.message


def test_two_sends_to_each_other_do_not_meet():
    def send(to: int):
        return program(lambda b: b.send(src=b.input("x", SHAPE, "float32"), to_rank=to))
    fault = fault_of([send(1), send(0)], ones())
    assert fault.id == "collective.deadlock"
    assert "[0, 1]" in fault.message or "[1, 0]" in fault.message


def test_a_rank_cannot_send_to_itself():
    send = program(lambda b: b.send(src=b.input("x", SHAPE, "float32"), to_rank=0))
    fault = fault_of([send, program(copy)], ones())
    assert fault.id == "collective.rank" and "sends to itself" in fault.message


@pytest.mark.parametrize("order", ["aab", "a", "ba"])
def test_another_order_or_count_of_collectives_ends_by_itself(order):
    def body(order: str):
        def add(b: Builder) -> None:
            x = b.input("x", SHAPE, "float32")
            for i, op in enumerate(order):
                y = b.output(f"y{i}", SHAPE, "float32")
                b.all_reduce(srcs=[x], dsts=[y], replica_group=groups(2),
                             op="add" if op == "a" else "maximum")
        return program(add)
    fault = fault_of([body("ab"), body(order)], ones())
    expected = {"aab": "collective.mismatch", "a": "collective.deadlock", "ba": "collective.mismatch"}
    assert fault.id == expected[order]


def test_different_orders_of_two_groups_on_one_stream_are_a_deadlock():
    def body(order: tuple[int, ...]):
        def add(b: Builder) -> None:
            x = b.input("x", SHAPE, "float32")
            for n in order:
                b.all_reduce(srcs=[x], dsts=[b.output(f"y{n}", SHAPE, "float32")],
                             replica_group=[[0, 1]] if n == 0 else [[1, 0]], op="add")
        return program(add)
    fault = fault_of([body((0, 1)), body((1, 0))], ones())
    assert fault.id == "collective.deadlock" and "different orders" in fault.message


def test_a_group_that_names_a_rank_which_is_not_there():
    fault = fault_of(program(lambda b: all_reduce(b, group=[[0, 1, 2, 4]])), ones(), 4)
    assert fault.id == "collective.rank" and fault.rank == 0
    assert "rank 4" in fault.message and "0 to 3" in fault.message


def test_a_rank_that_is_in_no_group():
    fault = fault_of(program(lambda b: all_reduce(b, group=[[0, 1, 2]])), ones(), 4)
    assert fault.id == "collective.not_in_group" and fault.rank == 3


def test_sources_that_nothing_wrote_are_reported_with_the_rank():
    def body(fill: bool):
        def add(b: Builder) -> None:
            s = b.scratch("s", SHAPE, "float32")
            rows = s if fill else s[:3]
            b.dma_copy(dst=rows, src=b.input("x", SHAPE, "float32")[:rows.shape[0]])
            b.all_reduce(srcs=[s], dsts=[b.output("y", SHAPE, "float32")],
                         replica_group=groups(2), op="add")
        return program(add)
    fault = fault_of([body(True), body(False)], ones())
    assert fault.id == "memory.read_unwritten" and fault.rank == 1
    assert fault.operation == "all_reduce" and "bytes 96 to 127" in fault.message


def test_unwritten_bytes_in_sbuf_are_reported_with_the_partitions():
    def add(b: Builder) -> None:
        s, t = b.sbuf(SHAPE, "float32"), b.sbuf(SHAPE, "float32")
        b.memset(dst=s[:, :7], value=1.0)
        b.all_reduce(srcs=[s], dsts=[t], replica_group=groups(2), op="add")
    fault = fault_of(program(add), {})
    assert fault.id == "memory.read_unwritten" and fault.rank == 0
    assert "partition" in str(fault)


def test_unwritten_metadata_is_reported():
    def add(b: Builder) -> None:
        b.all_to_all_v(srcs=[b.input("x", (1, 8), "float32")],
                       dsts=[b.output("y", (1, 8), "float32")],
                       replica_group=groups(2),
                       metadata_tensor=b.scratch("m", (3, 2), "uint32"))
    fault = fault_of(program(add), ones((1, 8)), allow=["all_to_all_v.system"])
    assert fault.id == "memory.read_unwritten"
    assert "metadata_tensor" in str(fault) and fault.operation == "all_to_all_v"


def test_an_output_of_a_rank_that_no_pair_sends_to_is_reported():
    def add(b: Builder) -> None:
        b.collective_permute(srcs=[b.input("x", SHAPE, "float32")],
                             dsts=[b.output("y", SHAPE, "float32")],
                             source_target_pairs=[[0, 1]])
    fault = fault_of(program(add), ones())
    assert fault.id == "output.unwritten" and fault.rank == 0
    fault = fault_of(program(add), ones(), 3)
    assert fault.id == "output.unwritten" and fault.rank == 0


def test_a_rank_that_takes_no_part_in_a_permute_keeps_its_order_on_the_stream():
    """Its permute is complete after the all_reduce before it, not at once: the
    copy of y, which waits for the permute only, is right."""
    def add(b: Builder) -> None:
        x = b.input("x", (64, 1024), "float32")
        y = b.scratch("y", (64, 1024), "float32")
        z = b.output("z", (64, 1024), "float32")
        p = b.inout("p", SHAPE, "float32")
        q = b.inout("q", SHAPE, "float32")
        done = b.semaphore("done")
        b.all_reduce(srcs=[x], dsts=[y], replica_group=groups(3), op="add")
        b.collective_permute(srcs=[p], dsts=[q], source_target_pairs=[[0, 1], [1, 0]],
                             signal=[(done, 1)])
        b.dma_copy(dst=z, src=y, wait=[(done, 1)])
    small = np.zeros(SHAPE, F32)
    r = system(3).run(program(add, sync="explicit"), ones((64, 1024), p=small, q=small), strict=True)
    for z in values(r, "z"):
        np.testing.assert_array_equal(z, np.full((64, 1024), 3))


def test_counts_that_go_beyond_a_tensor_name_both_ranks():
    def add(b: Builder) -> None:
        b.all_to_all_v(srcs=[b.input("x", (1, 8), "float32")],
                       dsts=[b.inout("y", (1, 8), "float32")],
                       replica_group=groups(2),
                       metadata_tensor=b.inout("m", (3, 2), "uint32"))
    p = program(add)
    zero = np.zeros((1, 8), F32)

    def run(rows: list[list[int]]) -> trnemu.Fault:
        m = np.array([*rows, [0, 0]], np.uint32)
        return fault_of(p, ones((1, 8), y=zero, m=m), allow=["all_to_all_v.system"])
    fault = run([[0, 5], [0, 0]])  # slots have 4
    assert fault.id == "collective.counts" and fault.category == "out_of_bounds"
    assert "rank 0 sends 5 elements to rank 1, which has room for 4" in fault.message
    assert fault.rank == 1
    fault = run([[0, 4], [0, 5]])
    assert "rank 0 is to send elements 5 to 8 to rank 1" in fault.message
    assert "its source has 8" in fault.message and fault.rank == 0
    fault = run([[0, 2**32 - 1], [0, 2**32 - 1]])
    assert fault.id == "collective.counts"


def test_a_program_alone_is_told_to_run_on_a_system():
    p = program(lambda b: all_reduce(b, 2))
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, ones())
    assert info.value.id == "collective.no_system"
    assert "trnemu.System" in info.value.remedy

    def ranks(b: Builder) -> None:
        r = b.register_alloc()
        b.rank_id(dst=r)
        b.register_store(dst=b.output("y", (1, 1), "int32"), src=r)
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(program(ranks), {})
    assert info.value.id == "collective.no_system"


def test_memory_that_src_and_dst_share_in_the_wrong_way_is_refused():
    def shifted(b: Builder) -> None:
        x = b.inout("x", (5, 8), "float32")
        b.all_reduce(srcs=[x[:4]], dsts=[x[1:]], replica_group=groups(2), op="add")
    fault = fault_of(program(shifted), ones((5, 8)))
    assert fault.id == "collective.overlap" and fault.rank == 0

    def block(of: int):
        def add(b: Builder) -> None:
            y = b.inout("x", (8, 8), "float32")
            b.all_gather(srcs=[y[4 * of:4 * of + 4]], dsts=[y],
                         replica_group=groups(2), collective_dim=0)
        return program(add)
    fault = fault_of([block(1), block(1)], ones((8, 8)))
    assert fault.id == "collective.overlap" and fault.rank == 0
    r = system(2).run([block(0), block(1)], [
        {"x": np.repeat(np.arange(8, dtype=F32)[:, None], 8, 1) + 10 * rank} for rank in range(2)])
    for out in r.outputs:
        np.testing.assert_array_equal(out["x"][:, 0], [0, 1, 2, 3, 14, 15, 16, 17])


def test_a_failed_link_is_gone_around_on_the_torus_with_the_same_values():
    p = program(lambda b: all_reduce(b, 32, (64, 256)))
    inputs = by_rank(32, (64, 256))
    whole = system(32, lnc=1).run(p, inputs)
    failed = system(32, lnc=1, fail_links=["0-1"]).run(p, inputs, links=True)
    assert failed.time_ns >= whole.time_ns
    assert not {"chip 0 > chip 1", "chip 1 > chip 0"} & {u.link for u in failed.links}
    for a, b in zip(values(whole), values(failed)):
        np.testing.assert_array_equal(a, b)


def test_a_chip_that_is_cut_off_is_reported():
    p = program(lambda b: all_reduce(b, 8))
    with pytest.raises(trnemu.Fault) as info:
        system(8, fail_links=["0-1", "0-3", "0-4", "0-12"]).run(p, ones())
    assert info.value.id == "link.unreachable"
    assert "chip 0" in info.value.message


def test_half_of_a_line_that_is_cut_off_is_reported():
    name = "inf2.24xlarge"
    n = trnemu.System(name).ranks
    chips = trnemu.System(name).chips
    links = trnemu.System(name).links
    cut = [f"{c}-{c + 1}" for c in (1, chips - 1) if f"chip {c} > chip {c + 1}" in links]
    ring = f"chip {chips - 1} > chip 0" in links
    failed = [*cut[:1], *([f"{chips - 1}-0"] if ring else [])]
    p = program(lambda b: all_reduce(b, n), target=trnemu.System(name).target)
    with pytest.raises(trnemu.Fault) as info:
        trnemu.System(name, fail_links=failed).run(p, ones())
    assert info.value.id == "link.unreachable"


@pytest.mark.parametrize("options, id", [
    ({"max_instructions": 1}, "limit.instructions"),
    ({"max_time_ns": 100.0}, "limit.simulated_time"),
    ({"max_wall_time": 1e-9}, "limit.wall_time"),
])
def test_a_budget_ends_a_run_of_ranks(options, id):
    def add(b: Builder) -> None:
        all_reduce(b, 2)
        b.dma_copy(dst=b.sbuf(SHAPE, "float32"), src=b.input("z", SHAPE, "float32"))
    fault = fault_of(program(add), ones(z=np.ones(SHAPE, F32)), **options)
    assert fault.id == id, fault


def test_programs_and_inputs_must_be_one_or_as_many_as_ranks():
    p = program(lambda b: all_reduce(b, 3))
    assert fault_of([p, p], ones(), 3).id == "option.ranks"
    assert fault_of(p, [ones(), ones()], 3).id == "option.ranks"


def test_a_program_of_another_generation_is_refused():
    p = program(lambda b: all_reduce(b, 2))
    with pytest.raises(trnemu.Fault) as info:
        system(2, "trn1.32xlarge").run(p, ones())
    assert info.value.id == "option.target"
    assert "trn2" in info.value.message and "trn1" in info.value.message


def test_a_program_of_two_cores_needs_ranks_of_two():
    p = program(lambda b: all_reduce(b, 2), cores=2)
    with pytest.raises(trnemu.Fault) as info:
        system(2, lnc=1).run(p, ones())
    assert info.value.id == "option.lnc" and "2 cores" in info.value.message


def test_restrictions_that_need_the_system_are_refused_and_can_be_allowed():
    def v(group: list[list[int]], rdispls: bool = False):
        n, rows = len(group[0]), 4 if rdispls else 3

        def add(b: Builder) -> None:
            b.all_to_all_v(srcs=[b.input("x", (1, 8), "float32")],
                           dsts=[b.inout("y", (1, 8), "float32")],
                           replica_group=group, has_rdispls=rdispls,
                           metadata_tensor=b.inout("m", (rows, n), "uint32"))
        return add
    zero, m = np.zeros((1, 8), F32), lambda r, n: np.zeros((r, n), np.uint32)
    p = program(v([[0, 1]]))
    inputs = ones((1, 8), y=zero, m=m(3, 2))
    fault = fault_of(p, inputs)
    assert fault.id == "all_to_all_v.system" and fault.source
    r = system(2).run(p, inputs, allow=["all_to_all_v.system"])
    assert "all_to_all_v.system" in ids(r)
    # Between nodes: ranks at the same place.
    nodes = [[i, 4 + i] for i in range(4)]
    two = trnemu.System("trn2.3xlarge*2")
    assert not two.run(program(v(nodes)), inputs, strict=True).diagnostics
    with pytest.raises(trnemu.Fault) as info:
        two.run(program(v(nodes, True)), ones((1, 8), y=zero, m=m(4, 2)))
    assert info.value.id == "all_to_all_v.rdispls"
    # Switches: all ranks of several chips, in order, with row 3.
    p = program(v(groups(8), True), target="trn3")
    inputs = ones((1, 8), y=zero, m=m(4, 8))
    assert not system(8, "trn3-gen1").run(p, inputs, strict=True).diagnostics
    p = program(v([[1, 0, 2, 3, 4, 5, 6, 7]], True), target="trn3")
    with pytest.raises(trnemu.Fault) as info:
        system(8, "trn3-gen1").run(p, inputs)
    assert info.value.id == "all_to_all_v.system"


@pytest.mark.parametrize("ranks, last", [(64, 3), (60, 1), (4, 1)])
def test_groups_of_all_devices_have_four_channels_and_others_two(ranks, last):
    def add(channels: int):
        def body(b: Builder) -> None:
            x = [[b.input(f"x{c}", (1, 4), "float32")] for c in range(channels)]
            y = [[b.output(f"y{c}", (1, 4), "float32")] for c in range(channels)]
            b.collective_permute_implicit(
                srcs_by_channel=x, dsts_by_channel=y, replica_group=groups(ranks),
                channel_ids=list(range(channels)))
        return program(body)
    some = np.ones((1, 4), F32)
    system(ranks).run(add(last + 1), {f"x{c}": some for c in range(last + 1)})
    if last == 3:
        return
    fault = fault_of(add(last + 2), {f"x{c}": some for c in range(last + 2)}, ranks)
    assert fault.id == "collective.channel"
    assert f"channels 0 to {last}" in fault.message and "channel 2" in fault.message


def test_pairs_that_form_no_ring_are_carried_out_with_a_warning():
    def add(pairs: list[list[int]]):
        return program(lambda b: b.collective_permute(
            srcs=[b.input("x", SHAPE, "float32")], dsts=[b.inout("y", SHAPE, "float32")],
            source_target_pairs=pairs))
    y = np.zeros(SHAPE, F32)
    r = system(4).run(add([[0, 1]]), ones(y=y))
    assert ids(r) == {"collective_permute.ring"}
    assert fault_of(add([[0, 1]]), ones(y=y), 4, strict=True).id == "collective_permute.ring"
    r = system(4).run(add([[0, 1]]), ones(y=y), strict=True, allow=["collective_permute.ring"])
    np.testing.assert_array_equal(values(r)[1], np.ones(SHAPE))
    assert not system(4).run(add([[0, 1], [1, 0]]), ones(y=y), strict=True).diagnostics
    # Chips 0 and 10 are two links in each direction apart.
    far = add([[0, 40], [40, 0]])
    assert ids(system(64).run(far, ones(y=y))) == {"collective_permute.ring"}
