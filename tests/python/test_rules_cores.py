"""core_barrier and sendrecv: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

import trnemu
from rules_kit import ANYX, INT, every_target

TWO_CORES = {"trn1": False, "trn2": True, "trn3": True}


def builder(target: str, cores: int = 2) -> trnemu.ProgramBuilder:
    return trnemu.ProgramBuilder(target=target, cores=cores)


def refused(call: Any, id: str, *says: str, operand: str = "") -> None:
    with pytest.raises(trnemu.Fault) as info:
        call()
    fault = info.value
    assert (fault.id, fault.category) == (id, "illegal"), fault.message
    for part in says:
        assert part in fault.message, (part, fault.message)
    if operand:
        assert fault.operand == operand
    assert "test_rules_cores.py" in fault.source


def verified(program: trnemu.Program) -> list[str]:
    return [f.id for f in program.verify()]


# --- core_barrier -----------------------------------------------------------


def barrier(b: trnemu.ProgramBuilder, core: int = 0, dtype: str = "float32",
            **more: Any) -> None:
    more = {"cores": (0, 1), **more}
    with b.core(core):
        data = more.pop("data", None) or b.scratch("", (4, 8), dtype)
        b.core_barrier(data=data, **more)


def test_the_signature_is_that_of_nki():
    table = {o.name: o for o in trnemu.operations()}
    assert [p.name for p in table["core_barrier"].parameters] == [
        "data", "cores", "engine", "name"]
    assert [p.name for p in table["sendrecv"].parameters] == [
        "src", "dst", "send_to_rank", "recv_from_rank", "pipe_id",
        "dma_engine", "name"]
    b = builder("trn2")
    data, t = b.scratch("s", (4, 8), "float32"), b.sbuf((4, 8), "float32")
    b.core_barrier(data, (0, 1), "vector", "label")
    b.sendrecv(t, t, 1, 1, 0, "gpsimd_dma", "label")


@every_target
@pytest.mark.parametrize("core", [0, 1])
def test_two_cores_meet_from_trn2_on(target, core):
    b = builder(target)
    if TWO_CORES[target]:
        barrier(b, core)
        assert verified(b.build()) == []
    else:
        refused(lambda: barrier(b, core), "core_barrier.generation", "trn1",
                "trn2 and trn3", "(0, 1)", operand="cores")


@every_target
def test_two_cores_meet_only_where_the_program_has_two(target):
    b = builder(target, 1)
    id = "two_cores" if TWO_CORES[target] else "generation"
    refused(lambda: barrier(b), f"core_barrier.{id}", "(0, 1)")
    refused(lambda: barrier(b, cores=(1, 0)), f"core_barrier.{id}")
    barrier(b, cores=(0,))
    barrier(b, cores=[0, 0])
    assert verified(b.build()) == []


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("cores", [(0, 2), (0, 1, 2), (-1, 0), (), (2, 3, 4, 5),
                                   (0, 64)])
def test_cores_are_0_and_1(target, cores):
    b = builder(target)
    barrier(b, cores=(1, 0))
    barrier(b, cores=(0, 1, 1, 0))
    refused(lambda: barrier(b, cores=cores), "core_barrier.cores",
            f"it is ({', '.join(map(str, cores))})", operand="cores")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("core", [0, 1])
def test_cores_has_the_core_that_executes_it(target, core):
    b = builder(target)
    barrier(b, core, cores=(core,))
    refused(lambda: barrier(b, core, cores=(1 - core,)), "core_barrier.own_core",
            f"cores is ({1 - core})", f"without core {core}", operand="cores")


@pytest.mark.parametrize("space", ["sbuf", "psum"])
def test_data_is_in_hbm(space):
    b = builder("trn2")
    tile = getattr(b, space)((4, 8), "float32")
    refused(lambda: barrier(b, data=tile), "operand.buffer", "hbm", space,
            operand="data")


@pytest.mark.parametrize("dtype", ANYX)
def test_data_has_any_dtype(dtype):
    b = builder("trn2")
    barrier(b, dtype=dtype)
    barrier(b, 1, dtype=dtype)
    trnemu.run(b.build(), {})


@pytest.mark.parametrize("kind", ["input", "output", "inout", "scratch"])
def test_data_is_any_tensor_of_hbm(kind):
    b = builder("trn2")
    barrier(b, data=getattr(b, kind)("x", (4, 8), "float32")[1:3, ::2])


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_the_engine_is_one_that_can_wait(target):
    b = builder(target)
    for engine in ("gpsimd", "vector", "scalar", "tensor", "sync", "unknown"):
        barrier(b, engine=engine)
    refused(lambda: barrier(b, engine="dma"), "core_barrier.engine", "dma",
            operand="engine")


def test_too_many_waits_or_signals_are_refused():
    b = builder("trn2")
    semaphores = [b.semaphore() for _ in range(255)]
    barrier(b, wait=[(s, 1) for s in semaphores[1:]])
    barrier(b, signal=[(s, 1) for s in semaphores[1:]])
    for more in ("wait", "signal"):
        refused(lambda m=more: barrier(b, **{m: [(s, 1) for s in semaphores]}),
                "argument.count", "254")


def test_a_file_may_not_have_another_mask_or_half_a_barrier():
    b = builder("trn2")
    barrier(b)
    barrier(b, 1)
    text = b.build().to_text()
    assert text.count("cores=3") == 4
    for cores, id in ((1, "core_barrier.own_core"),
                      (7, "core_barrier.cores"),
                      (0, "core_barrier.cores"),
                      (1 << 40 | 3, "core_barrier.cores"),
                      (-1, "malformed.expansion")):
        changed = text.replace("cores=3", f"cores={cores}")
        assert id in verified(trnemu.Program.from_text(changed)), cores
    for phase in (0, 2):
        changed = text.replace("phase=1", f"phase={phase}")
        assert set(verified(trnemu.Program.from_text(changed))) == {
            "malformed.expansion"}


# --- sendrecv ---------------------------------------------------------------


def exchange(b: trnemu.ProgramBuilder, core: int = 0, shape: Any = (4, 8),
             dtype: str = "float32", out: Any = None, to: str | None = None,
             **more: Any) -> None:
    more = {"send_to_rank": 1 - core, "recv_from_rank": 1 - core, "pipe_id": 0,
            **more}
    with b.core(core):
        b.sendrecv(src=b.sbuf(shape, dtype), dst=b.sbuf(out or shape,
                                                        to or dtype), **more)


@every_target
@pytest.mark.parametrize("core", [0, 1])
def test_cores_exchange_from_trn2_on(target, core):
    b = builder(target)
    if TWO_CORES[target]:
        exchange(b, core)
        assert verified(b.build()) == []
    else:
        refused(lambda: exchange(b, core), "sendrecv.generation", "trn1",
                "trn2 and trn3")


@every_target
def test_an_exchange_needs_a_program_of_two_cores(target):
    b = builder(target, 1)
    id = "two_cores" if TWO_CORES[target] else "generation"
    refused(lambda: exchange(b), f"sendrecv.{id}")
    refused(lambda: exchange(b, send_to_rank=0, recv_from_rank=0),
            f"sendrecv.{id}")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("rank", [-1, 2, 3, 2**40])
def test_ranks_are_0_and_1(target, rank):
    b = builder(target)
    for legal in (0, 1):
        exchange(b, send_to_rank=legal, recv_from_rank=legal)
    for name in ("send_to_rank", "recv_from_rank"):
        refused(lambda n=name: exchange(b, **{n: rank}), "sendrecv.ranks",
                f"{name} is {rank}".replace("recv_from_rank is",
                                            "recv_from_rank"))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("pipe", [0, -1, 2**31, -(2**63), 2**63 - 1])
def test_a_pipe_is_any_number(target, pipe):
    b = builder(target)
    exchange(b, pipe_id=pipe)
    assert f"pipe_id={pipe}" in b.build().to_text()


@pytest.mark.parametrize("operand", ["src", "dst"])
@pytest.mark.parametrize("space", ["psum", "hbm"])
def test_tiles_are_in_sbuf(operand, space):
    b = builder("trn2")
    other = (b.psum((4, 8), "float32") if space == "psum"
             else b.scratch("s", (4, 8), "float32"))
    tiles = {"src": b.sbuf((4, 8), "float32"), "dst": b.sbuf((4, 8), "float32"),
             operand: other}
    refused(lambda: b.sendrecv(**tiles, send_to_rank=1, recv_from_rank=1,
                               pipe_id=0),
            "operand.buffer", "sbuf", space, operand=operand)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_dtypes_are_the_same_and_any(target):
    b = builder(target)
    for dtype in ANYX:
        exchange(b, dtype=dtype)
    for dtype in (*INT, "bfloat16", "tfloat32", "float8_e4m3fn_x4"):
        refused(lambda d=dtype: exchange(b, to=d), "sendrecv.dtype",
                "src is float32", f"dst {dtype}", operand="dst")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_shapes_are_the_same(target):
    b = builder(target)
    exchange(b, shape=(128, 2, 3, 4))
    for out in ((5, 8), (3, 8), (4, 7), (4, 9), (4, 2, 4), (4, 8, 1)):
        refused(lambda o=out: exchange(b, out=o), "sendrecv.shape",
                "src is (4, 8)", str(out), operand="dst")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_tiles_start_at_any_partition(target):
    b = builder(target)
    tile = b.sbuf((128, 8), "float32")
    b.sendrecv(src=tile[3:70], dst=tile[61:128], send_to_rank=1,
               recv_from_rank=1, pipe_id=0)
    assert verified(b.build()) == []


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ANYX)
def test_gpsimd_dma_moves_256_elements_of_any_dtype(target, dtype):
    b = builder(target)
    for shape in ((128, 256), (1, 4, 64)):
        exchange(b, shape=shape, dtype=dtype, dma_engine="gpsimd_dma")
    for shape in ((1, 257), (128, 3, 86)):
        exchange(b, shape=shape, dtype=dtype)
        refused(lambda s=shape: exchange(b, shape=s, dtype=dtype,
                                         dma_engine="gpsimd_dma"),
                "sendrecv.gpsimd_size", "256", "257" if len(shape) == 2
                else "258", dtype, operand="src")


def test_gpsimd_triggers_its_own_path_and_sync_the_other():
    b = builder("trn2")
    exchange(b, dma_engine="gpsimd_dma")
    exchange(b)
    text = b.build().to_text()
    lines = [line.split()[0] for line in text.splitlines()
             if "SendRecv" in line]
    assert sorted(lines) == ["gpsimd", "sync"], text


def test_a_file_may_not_trigger_gpsimd_dma_elsewhere():
    b = builder("trn2")
    exchange(b, dma_engine="gpsimd_dma")
    text = b.build().to_text()
    text = text.replace("  gpsimd #", "  scalar #").replace("owner=gpsimd",
                                                             "owner=scalar")
    assert verified(trnemu.Program.from_text(text)) == ["sendrecv.trigger"]
    # "Can be triggered from any engine": the path dma.
    text = text.replace("gpsimd_dma", "dma")
    assert verified(trnemu.Program.from_text(text)) == []


def test_each_pipe_has_its_own_queues_and_dma_copy_others():
    b = builder("trn2")
    for pipe in (0, 0, 1):
        for core in (0, 1):
            exchange(b, core, pipe_id=pipe)
    b.dma_copy(dst=b.scratch("s", (4, 8), "float32"),
               src=b.sbuf((4, 8), "float32"))
    exchange(b, 0, pipe_id=1)
    text = b.build().to_text()
    sets = [line for line in text.splitlines() if line.startswith("queue_set")]
    assert len(sets) == 5, text
