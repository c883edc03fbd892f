"""Runs of ranks: which core and stream triggers, threads, time alone, looking
on, files."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import trnemu
from cli_kit import SUCCESS, trnemu as command
from collectives_kit import (
    F32, SHAPE, Builder, all_reduce, by_rank, groups, ones, program, system, values,
)


@pytest.mark.parametrize("stream", range(4))
@pytest.mark.parametrize("core", [0, 1])
@pytest.mark.parametrize("sbuf", [False, True])
def test_either_core_of_a_rank_triggers_on_any_of_its_streams(core, stream, sbuf):
    def add(b: Builder) -> None:
        x, y = b.input("x", SHAPE, "float32"), b.output("y", SHAPE, "float32")
        with b.core(core):
            s, t = (b.sbuf(SHAPE, "float32") if sbuf else b.scratch(n, SHAPE, "float32")
                    for n in "st")
            b.dma_copy(dst=s, src=x)
            b.all_reduce(srcs=[s], dsts=[t], replica_group=groups(4), op="add", stream=stream)
            b.dma_copy(dst=y, src=t)
    r = system(4, lnc=2).run(program(add, cores=2), by_rank(4), strict=True)
    assert r.collectives[0].stream == stream
    for y in values(r):
        np.testing.assert_array_equal(y, np.full(SHAPE, 1 + 2 + 3 + 4))


def test_streams_overlap_and_one_stream_does_not():
    """Two collectives of 1 MiB each: on two streams the second starts before
    the first ends."""
    shape = (128, 2048)

    def add(stream: int):
        def body(b: Builder) -> None:
            x = b.input("x", shape, "float32")
            for n, s in enumerate((0, stream)):
                b.all_reduce(srcs=[x], dsts=[b.output(f"y{n}", shape, "float32")],
                             replica_group=groups(4), op="add", stream=s)
        return program(body)
    one = system(4).run(add(0), values=False).collectives
    two = system(4).run(add(1), values=False).collectives
    assert one[1].start_ns >= one[0].end_ns
    assert two[1].start_ns < two[0].end_ns


def busy(b: Builder) -> None:
    """Compute beside several collectives of different groups and streams."""
    shape = (64, 512)
    x = b.input("x", shape, "float32")
    t = b.sbuf(shape, "float32")
    b.dma_copy(dst=t, src=x)
    for n, group in enumerate(([[0, 1, 2, 3, 4, 5, 6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]],
                               [[7, 6], [5, 4], [3, 2], [1, 0]])):
        y = b.output(f"y{n}", shape, "float32")
        s = b.scratch(f"s{n}", shape, "float32")
        b.tensor_scalar(dst=t, data=t, op0="multiply", operand0=1.5 + n)
        b.dma_copy(dst=s, src=t)
        b.all_reduce(srcs=[s], dsts=[y], replica_group=group, op="add", stream=n % 2)
    g = b.output("g", (512, 512), "float32")
    b.all_gather(srcs=[x], dsts=[g], replica_group=groups(8), collective_dim=0, stream=1)
    for _ in range(20):
        b.activation(dst=t, op="tanh", data=t)
    b.dma_copy(dst=b.output("z", shape, "float32"), src=t)


@pytest.mark.parametrize("threads", [2, 7])
def test_bits_and_times_do_not_depend_on_threads(threads):
    p = program(busy)
    rng = np.random.default_rng(7)
    inputs = [{"x": rng.standard_normal((64, 512), F32)} for _ in range(8)]
    one = system(8).run(p, inputs, threads=1, links=True, profile=True)
    more = system(8).run(p, inputs, threads=threads, links=True, profile=True)
    assert more.threads == threads
    assert more.time_ns == one.time_ns and more.links == one.links
    assert more.collectives == one.collectives
    for a, b in zip(one.ranks, more.ranks):
        assert a.time_ns == b.time_ns
        for name in a.outputs:
            assert a.outputs[name].tobytes() == b.outputs[name].tobytes()


def test_time_alone_is_the_time_of_a_run_with_values():
    p = program(busy)
    inputs = {"x": np.ones((64, 512), F32)}
    whole, alone = system(8).run(p, inputs), system(8).run(p, values=False)
    assert alone.time_ns == whole.time_ns
    assert [c.end_ns for c in alone.collectives] == [c.end_ns for c in whole.collectives]
    assert not alone.ranks[0].outputs


def test_time_alone_of_counts_in_memory_is_refused():
    def add(b: Builder) -> None:
        b.all_to_all_v(srcs=[b.input("x", (1, 8), "float32")], dsts=[b.inout("y", (1, 8), "float32")],
                       replica_group=groups(2), metadata_tensor=b.inout("m", (3, 2), "uint32"))
    with pytest.raises(trnemu.Fault) as info:
        system(2).run(program(add), values=False, allow=["all_to_all_v.system"])
    assert info.value.id == "unsupported.values_off"


@pytest.mark.parametrize("look", [
    lambda p: trnemu.explore(p, ones(), 2),
    lambda p: trnemu.profile(p, ones()),
    lambda p: trnemu.run(p, ones(), schedule="program", time=False),
    lambda p: trnemu.run(p, ones(), schedule=3, time=False),
    lambda p: trnemu.run(p, values=False, inputs={}),
])
def test_who_looks_on_at_one_program_is_told_to_run_a_system(look):
    with pytest.raises(trnemu.Fault) as info:
        look(program(lambda b: all_reduce(b, 2)))
    assert info.value.id == "collective.no_system"


@pytest.mark.parametrize("option", ["schedule", "time", "stop_at_nan", "log", "debug"])
def test_options_of_one_rank_s_run_are_refused(option):
    with pytest.raises(TypeError, match=option):
        system(2).run(program(lambda b: all_reduce(b, 2)), ones(), **{option: True})


def test_checks_off_and_memory_run_too():
    p = program(lambda b: all_reduce(b, 2))
    for checks in ("off", "memory", "full"):
        r = system(2).run(p, ones(), checks=checks)
        np.testing.assert_array_equal(values(r)[0], np.full(SHAPE, 2))


def test_unwritten_metadata_can_be_allowed():
    def add(b: Builder) -> None:
        b.all_to_all_v(srcs=[b.input("x", (1, 8), "float32")], dsts=[b.inout("y", (1, 8), "float32")],
                       replica_group=groups(2), metadata_tensor=b.scratch("m", (3, 2), "uint32"),
                       recv_counts_known=True)
    inputs = ones((1, 8), y=np.zeros((1, 8), F32))
    for options in ({"checks": "off"}, {"allow": ["memory.read_unwritten"]}):
        allow = ["all_to_all_v.system", *options.pop("allow", [])]
        try:
            system(2).run(program(add), inputs, allow=allow, **options)
        except trnemu.Fault as fault:  # whatever the bytes were
            assert fault.id == "collective.counts"


def test_the_k_th_call_meets_the_k_th_in_loops_of_different_form():
    """A loop of three on rank 0, three calls one after the other on rank 1."""
    def loop(b: Builder) -> None:
        x = b.inout("x", SHAPE, "float32")
        with b.fori_loop(0, 3):
            b.all_reduce(srcs=[x], dsts=[x], replica_group=groups(2), op="add")

    def line(b: Builder) -> None:
        x = b.inout("x", SHAPE, "float32")
        for _ in range(3):
            b.all_reduce(srcs=[x], dsts=[x], replica_group=groups(2), op="add")
    r = system(2).run([program(loop), program(line)], ones(), strict=True)
    assert len(r.collectives) == 3
    for out in r.outputs:
        np.testing.assert_array_equal(out["x"], np.full(SHAPE, 8))


def many(b: Builder) -> None:
    """An instruction of each kind of collective."""
    x = b.input("x", SHAPE, "float32")

    def out(shape: Any = SHAPE) -> trnemu.View:
        return b.scratch(f"t{len(made)}", made.append(0) or shape, "float32")
    made: list[int] = []
    g = {"replica_group": [[0, 1], [2, 3]]}
    b.all_reduce(srcs=[x, x], dsts=[out(), out()], op="maximum", **g)
    b.all_gather(srcs=[x], dsts=[out((8, 8))], collective_dim=0, **g)
    b.reduce_scatter(srcs=[x], dsts=[out((2, 8))], collective_dim=0, op="add", stream=1, **g)
    b.all_to_all(srcs=[x], dsts=[out()], collective_dim=0, trigger="gpsimd", **g)
    b.collective_permute(srcs=[x], dsts=[out()], source_target_pairs=[[0, 1], [1, 0]])
    b.collective_permute_implicit(srcs_by_channel=[[x], [x]], dsts_by_channel=[[out()], [out()]],
                                  channel_ids=[0, 1], **g)
    b.collective_permute_implicit_reduce(srcs0_by_channel=[[x]], srcs1_by_channel=[[x]],
                                         dsts_by_channel=[[out()]], op="add", **g)
    b.all_to_all_v(srcs=[x], dsts=[out()], recv_counts_known=True, has_rdispls=True,
                   metadata_tensor=b.inout("m", (4, 2), "uint32"), **g)
    b.broadcast(srcs=[x], dsts=[out()], root=1, **g)
    b.send(src=x, to_rank=1)
    b.recv(dst=out(), from_rank=1)
    b.collective_barrier(data=x, **g)
    r = b.register_alloc()
    b.rank_id(dst=r)
    with b.fori_loop(0, 2) as i:
        b.collective_permute_implicit_current_processing_rank_id(
            dst=r, iteration_id=i, channel_id=1, **g)


@pytest.mark.parametrize("sync", ["auto", "explicit"])
def test_programs_go_through_text_and_files_unchanged(sync, tmp_path):
    p = program(many, sync=sync)
    text = p.to_text()
    assert trnemu.Program.from_text(text).to_text() == text
    p.save(tmp_path / "p.trn")
    assert trnemu.Program.load(tmp_path / "p.trn").to_text() == text
    assert not [f for f in p.verify() if f.severity == "error"]


def test_a_difference_of_groups_is_shown(tmp_path):
    for name, group in (("a", [[0, 1]]), ("b", [[0, 1], [2, 3]])):
        program(lambda b: all_reduce(b, group=group)).save(tmp_path / f"{name}.trn")
    same = command("diff", tmp_path / "a.trn", tmp_path / "a.trn")
    other = command("diff", tmp_path / "a.trn", tmp_path / "b.trn")
    assert same.returncode == SUCCESS and other.returncode != SUCCESS
    assert "(0 1)" in other.stdout and "(0 1) (2 3)" in other.stdout


@pytest.mark.parametrize("old, new", [
    ("groups=0", "groups=7"), ("kind=all_reduce", "kind=barrier"), ("kind=all_reduce", "kind=send"),
    ("tensors=1", "tensors=2"), ("tensor=0", "tensor=1"), ("stream=0", "stream=9"),
    ("peer=0", "peer=5"), ("replica_groups 0 (0 1)", "replica_groups 0 (0 70000)"),
    ("replica_groups 0 (0 1)", "replica_groups 0"), ("queue_set=0", "queue_set=3"),
    ("queues=1", "queues=2"), ("queues=1", "queues=65535"),
])
def test_a_program_file_that_says_nonsense_is_refused(old, new):
    text = program(lambda b: all_reduce(b, 2)).to_text()
    assert old in text
    with pytest.raises(trnemu.Fault):
        p = trnemu.Program.from_text(text.replace(old, new))
        system(2).run(p, ones())


def test_ctrl_c_ends_a_run_of_ranks():
    def forever(b: Builder) -> None:
        x = b.inout("x", SHAPE, "float32")
        with b.fori_loop(0, 1 << 30):
            b.all_reduce(srcs=[x], dsts=[x], replica_group=groups(2), op="maximum")
    p = program(forever)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        system(2).run(p, ones())
    assert time.monotonic() - begin < 30
    with pytest.raises(trnemu.Fault) as info:
        system(2).run(p, ones(), max_wall_time=0.05)
    assert info.value.id == "limit.wall_time"
    with pytest.raises(trnemu.Fault) as info:
        system(2).run(p, ones(), max_time_ns=50_000)
    assert info.value.id == "limit.simulated_time"
    with pytest.raises(trnemu.Fault) as info:
        system(2).run(p, ones(), max_instructions=100)
    assert info.value.id == "limit.instructions"


@pytest.mark.parametrize("threads", [0, -1, 1025, 10**9])
def test_threads_of_the_host_are_1_to_1024(threads):
    system = trnemu.System("trn2.48xlarge", ranks=1)
    program = trnemu.ProgramBuilder("trn2").build()
    with pytest.raises(ValueError, match="threads must be 1 to 1024"):
        system.run(program, threads=threads)


@pytest.mark.parametrize("packet_bytes", [0, -5])
def test_packets_have_a_byte(packet_bytes):
    system = trnemu.System("trn2.48xlarge", ranks=1)
    program = trnemu.ProgramBuilder("trn2").build()
    with pytest.raises(ValueError, match="packet_bytes must be 1"):
        system.run(program, packet_bytes=packet_bytes)
