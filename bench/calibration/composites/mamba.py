"""Row 9: the first kernel of the fused mamba tutorial, on trn1.

Source of the structure: general/nki/tutorials/fused_mamba.rst and
examples/fused_mamba of aws-neuron/aws-neuron-sdk at v2.21.0; batch 1, sequence
512, 256 channels, state 16, fp32. For each state and each tile of 128
channels: exp(delta * A) on the scalar engine; delta * u, times B, a scan, times
C, added to the sum of the channels' tile on the vector engine. Rows of B and C
are broadcast over the partitions by a multiplication with ones into PSUM, from
where the vector engine reads them. Operands are loaded once: the profile has
DMA in its first 12 us alone.
"""

from __future__ import annotations

import functools

import trnemu

from .case import Case, Figure, Run

CHANNELS, SEQUENCE, STATE, P = 256, 512, 16, 128
TILES = CHANNELS // P


def mamba(target: str) -> trnemu.Program:
    """The program, in the kernel's order."""
    b = trnemu.ProgramBuilder(target=target, name="mamba_v1")
    wide = (CHANNELS, SEQUENCE)
    delta, u = (b.input(n, wide, "float32") for n in ("delta", "u"))
    a = b.input("a", (CHANNELS, STATE), "float32")
    rows = {n: b.input(n, (STATE, SEQUENCE), "float32") for n in ("b", "c")}
    y = b.output("y", wide, "float32")

    def tile(columns: int, partitions: int = P) -> trnemu.View:
        return b.sbuf((partitions, columns), "float32")

    def loaded(
        src: trnemu.View, columns: int, partitions: int = P
    ) -> trnemu.View:
        t = tile(columns, partitions)
        b.dma_copy(dst=t, src=src, trigger="sync")
        return t

    parts = [slice(t * P, (t + 1) * P) for t in range(TILES)]
    deltas = [loaded(delta[p], SEQUENCE) for p in parts]
    decays = [loaded(a[p], STATE) for p in parts]
    inputs = [loaded(u[p], SEQUENCE) for p in parts]
    # One row each, on partition 0, where the tensor engine reads it.
    flat = {
        n: loaded(t.reshape((1, STATE * SEQUENCE)), STATE * SEQUENCE, 1)
        for n, t in rows.items()
    }
    ones = tile(P, 1)
    b.memset(dst=ones, value=1.0, engine="gpsimd")
    totals = [tile(SEQUENCE) for _ in parts]
    for total in totals:
        b.memset(dst=total, value=0.0, engine="vector")
    for s in range(STATE):
        here = slice(s * SEQUENCE, (s + 1) * SEQUENCE)
        spread = {}
        for n, t in flat.items():
            spread[n] = b.psum((P, SEQUENCE), "float32")
            b.nc_matmul(dst=spread[n], stationary=ones, moving=t[:, here])
        for i, total in enumerate(totals):
            decay, driven, scanned = (tile(SEQUENCE) for _ in range(3))
            b.activation(
                dst=decay, op="exp", data=deltas[i],
                scale=decays[i][:, s:s + 1],
            )
            times = functools.partial(
                b.tensor_tensor, op="multiply", engine="vector"
            )
            times(dst=driven, data1=deltas[i], data2=inputs[i])
            fed = tile(SEQUENCE)
            times(dst=fed, data1=driven, data2=spread["b"])
            b.tensor_tensor_scan(
                dst=scanned, data0=decay, data1=fed, initial=0.0,
                op0="multiply", op1="add",
            )
            weighted = tile(SEQUENCE)
            times(dst=weighted, data1=scanned, data2=spread["c"])
            b.tensor_tensor(
                dst=total, data1=total, data2=weighted, op="add",
                engine="vector",
            )
    for part, total in zip(parts, totals, strict=True):
        b.dma_copy(dst=y[part], src=total, trigger="gpsimd")
    return b.build()


def _vector_count(run: Run) -> float:
    return run.profile.engines["vector"].instructions


def _vector_us(run: Run) -> float:
    return run.active_ns("vector") / 1e3


def cases() -> list[Case]:
    steps = STATE * TILES
    return [Case(
        row="9", name="fused mamba v1", target="trn1", measured_ns=172.93e3,
        source="aws-neuron-sdk v2.21.0 fused_mamba.rst, profile view",
        build=functools.partial(mamba, "trn1"), clock="profile",
        opcodes={
            "DmaCopy": 3 * TILES + 2 + TILES, "Activate": steps,
            "TensorTensor": 4 * steps, "TensorTensorScan": steps,
            "MultiplyMoving": 2 * 2 * STATE, "LoadStationary": 2 * 2 * STATE,
        },
        figures=(
            Figure("vector instructions", 181, "", _vector_count),
            Figure("vector active", 148.99, "us", _vector_us),
        ),
        quick=True,
    )]
