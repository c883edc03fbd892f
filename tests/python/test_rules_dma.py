"""dma_copy: each rule at its limit and one past it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rules_kit import ANY, ANYX, X4, Bench, every_target, legal, refused

Place = tuple[Any, ...]  # memory, shape, dtype


def make(bench: Bench, place: Place, role: str) -> Any:
    memory, shape, dtype = place
    if memory == "hbm":
        return (bench.input if role == "src" else bench.output)(shape, dtype)
    return bench.tile(memory, shape[0], shape[1:], dtype)


def dma(dst: Place | str = "sbuf", src: Place | str = "hbm",
        shape: tuple[int, ...] = (4, 8), dtype: str = "float32", **more: Any):
    """A memory alone stands for (memory, shape, dtype)."""

    def act(bench: Bench) -> None:
        to, from_ = (
            (x, shape, dtype) if isinstance(x, str) else x for x in (dst, src)
        )
        bench.b.dma_copy(dst=make(bench, to, "dst"),
                         src=make(bench, from_, "src"), **more)

    return act


@every_target
@pytest.mark.parametrize("dst", ["hbm", "sbuf"])
@pytest.mark.parametrize("src", ["hbm", "sbuf"])
def test_dma_moves_between_hbm_and_sbuf(target, dst, src):
    legal(target, dma(dst, src))


@every_target
@pytest.mark.parametrize("at", ["dst", "src"])
def test_dma_of_psum_is_legal_on_the_device_and_refused_by_nki(target, at):
    # decisions.md and cases/behaviours.md row 40
    p = legal(target, dma(**{at: "psum"}, **{"src" if at == "dst" else "dst":
                                             "sbuf"}))
    findings = p.verify(layers=["api"])
    assert [f.id for f in findings] == ["dma_copy.psum"]
    assert f"{at} is in psum" in findings[0].message or (
        f"{at} in psum" in findings[0].message
    )


@every_target
def test_dst_and_src_have_the_same_number_of_elements(target):
    legal(target, dma(("sbuf", (4, 8), "float32"), ("hbm", (32,), "float32")))
    legal(target, dma(("sbuf", (4, 8), "float32"), ("hbm", (2, 2, 8),
                                                    "float32")))
    legal(target, dma(("hbm", (8, 4), "float32"), ("sbuf", (4, 8), "float32")))
    for shape in ((4, 7), (4, 9), (5, 8)):
        refused(target, "dma_copy.size",
                dma(("sbuf", shape, "float32"), ("hbm", (4, 8), "float32")),
                "dst", "src", f"dst has {math.prod(shape)} ", "src 32")


@every_target
@pytest.mark.parametrize("mode", ["unknown", "none", "swdge", "hwdge"])
def test_hwdge_needs_trn2(target, mode):
    if target == "trn1" and mode == "hwdge":
        refused(target, "dma_copy.hwdge_generation", dma(dge_mode=mode),
                "trn1", operand="dge_mode")
    else:
        legal(target, dma(dge_mode=mode))


@every_target
@pytest.mark.parametrize("mode", ["unknown", "none", "swdge"])
def test_other_modes_cast(target, mode):
    legal(target, dma(("sbuf", (4, 8), "bfloat16"), ("hbm", (4, 8), "float32"),
                      dge_mode=mode))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_hwdge_does_not_cast(target):
    legal(target, dma(dtype="bfloat16", dge_mode="hwdge"))
    refused(target, "dma_copy.hwdge_cast",
            dma(("sbuf", (4, 8), "bfloat16"), ("hbm", (4, 8), "float32"),
                dge_mode="hwdge"), "hwdge", "float32", "bfloat16")


@every_target
@pytest.mark.parametrize("priority", [0, 1, 2, 3])
def test_priority_is_0_to_3_on_trn3(target, priority):
    legal(target, dma(priority=None))
    if target == "trn3":
        legal(target, dma(priority=priority))
    else:
        refused(target, "dma_copy.priority", dma(priority=priority), "priority",
                "trn3", str(priority), target)


@every_target
@pytest.mark.parametrize("priority", [-1, 4, -2, 100])
def test_no_other_priority_exists(target, priority):
    refused(target, "dma_copy.priority", dma(priority=priority), "priority",
            "0 to 3", str(priority))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_engine_is_sync_or_scalar_and_for_hwdge(target):
    for engine in ("sync", "scalar"):
        legal(target, dma(dge_mode="hwdge", engine=engine))
        for mode in ("unknown", "none", "swdge"):
            refused(target, "dma_copy.engine", dma(dge_mode=mode, engine=engine),
                    "engine", engine, mode)
    for engine in ("tensor", "vector", "gpsimd"):
        refused(target, "dma_copy.engine",
                dma(dge_mode="hwdge", engine=engine), "engine", "sync or scalar",
                engine)


def test_engine_is_for_nothing_on_trn1():
    for mode in ("unknown", "none", "swdge"):
        refused("trn1", "dma_copy.engine", dma(dge_mode=mode, engine="sync"),
                "engine", "sync", mode)


@every_target
@pytest.mark.parametrize("mode", ["unknown", "none"])
@pytest.mark.parametrize(
    "trigger", ["sync", "scalar", "vector", "gpsimd", "tensor"]
)
def test_every_sequencer_may_trigger(target, mode, trigger):
    legal(target, dma(dge_mode=mode, trigger=trigger))


@every_target
def test_the_dma_engines_trigger_nothing(target):
    refused(target, "dma_copy.trigger", dma(trigger="dma"), "trigger", "dma")


@every_target
def test_gpsimd_triggers_swdge(target):
    legal(target, dma(dge_mode="swdge", trigger="gpsimd"))
    for trigger in ("sync", "scalar", "vector", "tensor"):
        refused(target, "dma_copy.trigger",
                dma(dge_mode="swdge", trigger=trigger), "gpsimd", trigger,
                "swdge")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_sync_and_scalar_trigger_hwdge(target):
    for trigger in ("sync", "scalar"):
        legal(target, dma(dge_mode="hwdge", trigger=trigger))
    for trigger in ("gpsimd", "vector", "tensor"):
        refused(target, "dma_copy.trigger",
                dma(dge_mode="hwdge", trigger=trigger), "sync or scalar",
                trigger, "hwdge")


@every_target
def test_a_transfer_has_1_to_16_queues(target):
    for queues in (1, 2, 15, 16):
        legal(target, dma(queues=queues))
    for queues in (0, 17, -1):
        refused(target, "dma_copy.queues", dma(queues=queues), "queues",
                "1 to 16", str(queues))


@every_target
@pytest.mark.parametrize("dtype", ANYX)
def test_every_dtype_is_moved(target, dtype):
    legal(target, dma(dtype=dtype))


@every_target
@pytest.mark.parametrize("dtype", [*ANY, "float8_e8m0fnu"])
def test_every_dtype_but_the_packed_is_cast(target, dtype):
    # Zeros of e8m0 are 2^-127, a value like any other.
    legal(target, dma(("sbuf", (4, 8), "float32"), ("hbm", (4, 8), dtype)))
    if dtype != "float8_e8m0fnu":
        legal(target, dma(("sbuf", (4, 8), dtype), ("hbm", (4, 8), "float32")))


@every_target
@pytest.mark.parametrize("dtype", X4)
def test_packed_types_are_never_cast(target, dtype):
    other = next(x for x in X4 if x != dtype)
    for a, b in ((dtype, "float32"), ("float32", dtype), (dtype, other),
                 (dtype, "uint32")):
        refused(target, "dma_copy.packed_cast",
                dma(("sbuf", (4, 8), a), ("hbm", (4, 8), b)), "packed", a, b)


@every_target
@pytest.mark.parametrize("start", [1, 31, 33, 48, 65, 97])
def test_dma_starts_at_any_partition(target, start):
    # cases/behaviours.md row 19
    def act(bench: Bench) -> None:
        t = bench.sbuf(128, 8)
        bench.b.dma_copy(dst=t[start : start + 31], src=bench.input((31, 8)))
        bench.b.dma_copy(dst=bench.output((31, 8)), src=t[start : start + 31])

    legal(target, act)


@every_target
def test_dma_is_not_bound_by_the_sizes_of_the_engines(target):
    legal(target, dma(shape=(4, 65537), dtype="uint8"))
    legal(target, dma(shape=(2, 196608), dtype="uint8"), run=False)


@every_target
def test_a_tensor_in_hbm_may_have_many_dimensions(target):
    legal(target, dma(("sbuf", (4, 24), "float32"),
                      ("hbm", (2, 2, 2, 2, 3, 2), "float32")))


@every_target
def test_dma_takes_a_permuted_tensor(target):
    def act(bench: Bench) -> None:
        x = bench.input((8, 4))
        bench.b.dma_copy(dst=bench.sbuf(4, 8), src=x.permute(1, 0))

    legal(target, act)


@every_target
def test_oob_mode_is_error_or_skip(target):
    legal(target, dma(oob_mode="error"))
    legal(target, dma(oob_mode="skip"))
    refused(target, "operand.value", dma(oob_mode="clamp"), "oob_mode",
            "clamp", operand="oob_mode")
