"""Row 6: silu of [4096, 7168] in fp32, as NKIBench builds it.

Source of the structure: NKIBench of zhang677/AccelOpt, seed kernel of silu:
224 tiles of 128 x 1024 (rows of 4 KiB), each loaded once; for each half of 512
columns exp(-x), plus 1, its reciprocal, times x; one store. Its published
profile (trn1) has the bytes and the busy shares. The trn2 figure is KDA's
(Jerry2423/kda-for-trainium) of the same kernel, with its clock corrected as
spec/timing.md says.

The reciprocal: on trn1 the vector engine's 8 N cycles alone would be longer
than the whole kernel, and the v2.20 documentation has nki.isa.reciprocal on
the scalar engine; on trn2 it is the vector engine's.

Buffers: on trn1 the published shares of the scalar and the vector engine add
up to 105 %, so that they hardly ever run at the same time: one half is finished
before the next begins. The three intermediates, of which one lives at a time,
are therefore one tile on trn1. On trn2 the vector engine alone is busy for
nearly the whole time, so they are tiles of their own.
"""

from __future__ import annotations

import functools

import trnemu

from .case import Case, Figure, Run
from .schedule import Ahead

P, MIDDLE, F, CHUNK, HALF = 128, 32, 7168, 1024, 512
TILES = MIDDLE * F // CHUNK
DEPTH = 4


def silu(target: str, middle: int = MIDDLE) -> trnemu.Program:
    """exp, add, reciprocal, multiply over halves of a loaded tile."""
    b = trnemu.ProgramBuilder(target=target, name="silu")
    x = b.input("x", (P, middle, F), "float32")
    y = b.output("y", (P, middle, F), "float32")
    zero = b.sbuf((P, 1), "float32")
    b.memset(dst=zero, value=0.0, engine="vector")
    schedule = Ahead(b, DEPTH)
    shared = b.sbuf((P, HALF), "float32") if target == "trn1" else None

    def intermediate() -> trnemu.View:
        return shared if shared is not None else b.sbuf((P, HALF), "float32")

    def half(t: trnemu.View, out: trnemu.View, columns: slice) -> None:
        e, d, r = intermediate(), intermediate(), intermediate()
        b.activation(dst=e, op="exp", data=t[:, columns], bias=zero, scale=-1.0)
        b.tensor_scalar(dst=d, data=e, op0="add", operand0=1.0, engine="vector")
        if target == "trn1":
            b.activation(dst=r, op="reciprocal", data=d)
        else:
            b.reciprocal(dst=r, data=d)
        b.tensor_tensor(
            dst=out[:, columns], data1=t[:, columns], data2=r, op="multiply",
            engine="vector",
        )

    def both(t: trnemu.View, out: trnemu.View) -> None:
        for start in range(0, CHUNK, HALF):
            half(t, out, slice(start, start + HALF))

    for m in range(middle):
        for start in range(0, F, CHUNK):
            columns = slice(start, start + CHUNK)
            t, out = (b.sbuf((P, CHUNK), "float32") for _ in range(2))
            schedule.load(t, x[:, m, columns])
            schedule.then(
                functools.partial(both, t, out), y[:, m, columns], out
            )
    schedule.finish()
    return b.build()


def streamed(target: str, tiles: int = TILES) -> trnemu.Program:
    """One fused activation a tile of 128 x 1024: DMA alone is the limit."""
    b = trnemu.ProgramBuilder(target=target, name="silu_streamed")
    x = b.input("x", (P, tiles, CHUNK), "float32")
    y = b.output("y", (P, tiles, CHUNK), "float32")
    schedule = Ahead(b, DEPTH)
    for i in range(tiles):
        t, out = (b.sbuf((P, CHUNK), "float32") for _ in range(2))
        schedule.load(t, x[:, i])
        schedule.then(
            functools.partial(b.activation, dst=out, op="silu", data=t),
            y[:, i], out,
        )
    schedule.finish()
    return b.build()


def _share(engine: str) -> "functools.partial[float]":
    def share(engine: str, run: Run) -> float:
        return 100 * run.active_ns(engine) / run.simulated_ns
    return functools.partial(share, engine)


BYTES = 4 * P * MIDDLE * F


def _megabytes(run: Run) -> float:
    return run.profile.hbm_read_bytes / 1e6


def cases() -> list[Case]:
    read = Figure("HBM read", BYTES / 1e6, "MB", _megabytes)
    structure = f"loads {DEPTH} tiles ahead, loads and stores by one sequencer"
    halves = 2 * TILES
    return [
        Case(
            row="6", name="silu", target="trn1", measured_ns=1.3332e6,
            source="AccelOpt NKIBench profile_results.csv, trn1.32xlarge",
            build=functools.partial(silu, "trn1"),
            opcodes={
                "DmaCopy": 2 * TILES, "Activate": 2 * halves,
                "TensorScalar": halves, "TensorTensor": halves, "Memset": 1,
            },
            figures=(
                read,
                Figure("scalar active", 31.48, "%", _share("scalar")),
                Figure("vector active", 73.88, "%", _share("vector")),
            ),
            structure=structure + (
                "; reciprocal on the scalar engine; one tile for the "
                "intermediates, since the published shares of the two engines "
                "add up to 105 %"
            ),
            bound=0.27,
            reason=(
                "the scalar engine loads a table at each change between exp "
                "and reciprocal here, 896 times 368 ns; its published active "
                "time, 937 ns for each pair, has no room for that. Without "
                "those loads the time would be 1.331 ms (-0.2 %). The vendor's "
                "documentation names the two functions in two sets of tables "
                "(neuron-runtime/explore/work-with-neff-files.rst:357), does "
                "not list what else a set holds, and this kernel alone is no "
                "evidence to let them share one."
            ),
        ),
        Case(
            row="6", name="silu", target="trn2", measured_ns=2.035e6,
            source="KDA, baseline kernel of NKIBench",
            build=functools.partial(silu, "trn2"), status="derived",
            opcodes={
                "DmaCopy": 2 * TILES, "Activate": halves,
                "TensorScalar": halves, "Reciprocal": halves,
                "TensorTensor": halves, "Memset": 1,
            },
            figures=(read,), structure=structure,
        ),
        Case(
            row="2.2", name="silu, streamed", target="trn2",
            measured_ns=2 * 0.2940e6,
            source="KDA silu_v3_s7; clock corrected as for row 6",
            build=functools.partial(streamed, "trn2"), status="derived",
            opcodes={"DmaCopy": 2 * TILES, "Activate": TILES},
            figures=(
                read,
                Figure("HBM rate", 2 * BYTES / 0.588e6, "B/ns",
                       lambda run: run.profile.dma_bytes / run.profile.time_ns,
                       "derived"),
            ),
            structure=structure,
        ),
    ]
