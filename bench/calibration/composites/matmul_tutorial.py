"""Rows 4 and 5: the matrix product of the vendor's tutorials, [4096, 8192] @
[8192, 8192], once in bf16 on trn1 and once in fp32 on trn2.

Sources of the structure: the kernels of general/nki/examples/
matrix_multiplication at v2.21.0 (row 4: times of the tutorial's table) and of
nki/guides/tutorials/kernel-optimization.rst at v2.32.0 (row 5: times and
counters of its figures), of aws-neuron/aws-neuron-sdk. *Tiled*: for each
result tile of 128 x 512, for each 128 of the contraction, both operand tiles
are loaded and multiplied into PSUM. *Hoisted*: the loads of the left operand
are moved out of the loop over columns. *Free dimensions blocked*: so, with
two by two tiles at a time. *Blocked*: blocks of 1024 columns, of
1024 of the contraction and of 2048 rows; the result of a column block stays
in SBUF, and PSUM is added to it once per block of the contraction.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import trnemu

from .case import Case, Figure, Run
from .transfers import profile

TILE_K, TILE_M, TILE_N = 128, 128, 512


@dataclass(frozen=True)
class Sizes:
    """Of left^T @ right."""

    k: int = 8192
    m: int = 4096
    n: int = 8192


PUBLISHED = Sizes()
K, M, N = PUBLISHED.k, PUBLISHED.m, PUBLISHED.n
MATMULS = (K // TILE_K) * (M // TILE_M) * (N // TILE_N)
OUTPUTS = (M // TILE_M) * (N // TILE_N)


def _tensors(
    b: trnemu.ProgramBuilder, dtype: str, sizes: Sizes
) -> tuple[trnemu.View, trnemu.View, trnemu.View]:
    return (
        b.input("left", (sizes.k, sizes.m), dtype),
        b.input("right", (sizes.k, sizes.n), dtype),
        b.output("result", (sizes.m, sizes.n), dtype),
    )


# How many steps of loads are triggered before the store of a result.
DEPTH = 16


class Stores:
    """Stores of one sequencer with the loads: each after DEPTH steps more."""

    def __init__(self, builder: trnemu.ProgramBuilder, trigger: str) -> None:
        self._builder = builder
        self._trigger = trigger
        self._later: list[tuple[int, trnemu.View, trnemu.View]] = []
        self._steps = 0

    def another(self) -> None:
        """The loads of one more step were triggered."""
        self._steps += 1
        while self._later and self._steps - self._later[0][0] >= DEPTH:
            self._first()

    def add(self, dst: trnemu.View, src: trnemu.View) -> None:
        self._later.append((self._steps, dst, src))

    def finish(self) -> None:
        while self._later:
            self._first()

    def _first(self) -> None:
        _, dst, src = self._later.pop(0)
        self._builder.dma_copy(dst=dst, src=src, trigger=self._trigger)


def tiled(
    target: str, dtype: str, trigger: str, sizes: Sizes = PUBLISHED
) -> trnemu.Program:
    """Both operand tiles are loaded for every multiplication."""
    b = trnemu.ProgramBuilder(target=target, name="matmul_tiled")
    left, right, result = _tensors(b, dtype, sizes)
    stores = Stores(b, trigger)
    for m in range(0, sizes.m, TILE_M):
        for n in range(0, sizes.n, TILE_N):
            sums = b.psum((TILE_M, TILE_N), "float32")
            for k in range(0, sizes.k, TILE_K):
                p = b.sbuf((TILE_K, TILE_M), dtype)
                q = b.sbuf((TILE_K, TILE_N), dtype)
                rows = slice(k, k + TILE_K)
                b.dma_copy(dst=p, src=left[rows, m:m + TILE_M], trigger=trigger)
                b.dma_copy(
                    dst=q, src=right[rows, n:n + TILE_N], trigger=trigger
                )
                b.nc_matmul(dst=sums, stationary=p, moving=q)
                stores.another()
            out = b.sbuf((TILE_M, TILE_N), dtype)
            b.tensor_copy(dst=out, src=sums, engine="vector")
            stores.add(result[m:m + TILE_M, n:n + TILE_N], out)
    stores.finish()
    return b.build()


def hoisted(
    target: str, dtype: str, tiles_m: int, tiles_n: int, trigger: str,
    sizes: Sizes = PUBLISHED,
) -> trnemu.Program:
    """The whole contraction of tiles_m row tiles is loaded once, that of
    tiles_n column tiles once for each of those."""
    b = trnemu.ProgramBuilder(target=target, name="matmul_hoisted")
    left, right, result = _tensors(b, dtype, sizes)
    ks = [slice(k, k + TILE_K) for k in range(0, sizes.k, TILE_K)]
    stores = Stores(b, trigger)

    def loaded(
        src: trnemu.View, start: int, tiles: int, width: int
    ) -> list[list[trnemu.View]]:
        """Of each tile of columns, its tiles of the contraction."""
        made = []
        for first in range(start, start + tiles * width, width):
            made.append([b.sbuf((TILE_K, width), dtype) for _ in ks])
            for tile, rows in zip(made[-1], ks, strict=True):
                b.dma_copy(
                    dst=tile, src=src[rows, first:first + width],
                    trigger=trigger,
                )
                stores.another()
        return made

    for m in range(0, sizes.m, tiles_m * TILE_M):
        lefts = loaded(left, m, tiles_m, TILE_M)
        for n in range(0, sizes.n, tiles_n * TILE_N):
            rights = loaded(right, n, tiles_n, TILE_N)
            for i, ps in enumerate(lefts):
                for j, qs in enumerate(rights):
                    sums = b.psum((TILE_M, TILE_N), "float32")
                    for p, q in zip(ps, qs, strict=True):
                        b.nc_matmul(dst=sums, stationary=p, moving=q)
                    out = b.sbuf((TILE_M, TILE_N), dtype)
                    b.tensor_copy(dst=out, src=sums, engine="vector")
                    rows = slice(m + i * TILE_M, m + (i + 1) * TILE_M)
                    columns = slice(n + j * TILE_N, n + (j + 1) * TILE_N)
                    stores.add(result[rows, columns], out)
    stores.finish()
    return b.build()


def blocked(
    target: str, dtype: str, tiles_m: int, triggers: tuple[str, str],
    sizes: Sizes = PUBLISHED,
) -> trnemu.Program:
    """All dimensions blocked; tiles_m tiles of rows to a block."""
    b = trnemu.ProgramBuilder(target=target, name="matmul_blocked")
    left, right, result = _tensors(b, dtype, sizes)
    load, store = triggers
    block_k, block_n, block_m = 8 * TILE_K, 2 * TILE_N, tiles_m * TILE_M
    for n in range(0, sizes.n, block_n):
        columns = slice(n, n + block_n)
        sums = {
            (m, c): b.sbuf((TILE_M, TILE_N), dtype)
            for m in range(0, sizes.m, TILE_M)
            for c in range(0, block_n, TILE_N)
        }
        for tile in sums.values():
            b.memset(dst=tile, value=0.0, engine="vector")
        for k in range(0, sizes.k, block_k):
            slices = [
                slice(r, r + TILE_K) for r in range(k, k + block_k, TILE_K)
            ]
            right_tiles = []
            for rows in slices:
                right_tiles.append(b.sbuf((TILE_K, block_n), dtype))
                b.dma_copy(
                    dst=right_tiles[-1], src=right[rows, columns], trigger=load
                )
            for m in range(0, sizes.m, block_m):
                left_tiles = []
                for rows in slices:
                    left_tiles.append(b.sbuf((TILE_K, block_m), dtype))
                    b.dma_copy(
                        dst=left_tiles[-1], src=left[rows, m:m + block_m],
                        trigger=load,
                    )
                for c in range(0, block_n, TILE_N):
                    for r in range(0, block_m, TILE_M):
                        part = b.psum((TILE_M, TILE_N), "float32")
                        for p, q in zip(left_tiles, right_tiles, strict=True):
                            b.nc_matmul(
                                dst=part, stationary=p[:, r:r + TILE_M],
                                moving=q[:, c:c + TILE_N],
                            )
                        sum_ = sums[m + r, c]
                        b.tensor_tensor(
                            dst=sum_, data1=sum_, data2=part, op="add",
                            engine="vector",
                        )
        for m in range(0, sizes.m, TILE_M):
            packed = b.sbuf((TILE_M, block_n), dtype)
            for c in range(0, block_n, TILE_N):
                b.tensor_copy(
                    dst=packed[:, c:c + TILE_N], src=sums[m, c],
                    engine="vector",
                )
            b.dma_copy(
                dst=result[m:m + TILE_M, columns], src=packed, trigger=store
            )
    return b.build()


def _matmuls(run: Run) -> float:
    return run.opcode("MultiplyMoving")


def _tensor_ms(run: Run) -> float:
    return run.active_ns("tensor") / 1e6


def _dma_rate(run: Run) -> float:
    return run.profile.dma_bytes / run.profile.time_ns


def _dma_active_ms(run: Run) -> float:
    return profile(run.program).dma_active_ns() / 1e6


def _hoisted_case(
    row: str, target: str, dtype: str, tiles: int, trigger: str,
    measured_ns: float, source: str,
) -> Case:
    passes = 2 if dtype == "float32" else 1
    loads = (K // TILE_K) * (M // TILE_M) * (1 + N // TILE_N // tiles)
    short = {"bfloat16": "bf16", "float32": "fp32"}[dtype]
    kind = "hoisted" if tiles == 1 else "free dimensions blocked"
    return Case(
        row=row, name=f"matmul {short}, {kind}", target=target,
        measured_ns=measured_ns, source=source,
        clock="nc_latency" if target == "trn1" else "kernel",
        build=functools.partial(hoisted, target, dtype, tiles, tiles, trigger),
        opcodes={
            "DmaCopy": loads + OUTPUTS, "MultiplyMoving": passes * MATMULS,
            "LoadStationary": passes * MATMULS, "TensorCopy": OUTPUTS,
        },
        figures=() if target == "trn1" else (
            Figure("tensor active", 28.16, "ms", _tensor_ms),
        ),
        structure="not of spec/timing.md, but of the same page as row " + row,
        bound=0.15,
        calibrates=(
            "the rate of short rows on trn1 (spec/timing.md 2.2) is derived "
            "from this kernel" if target == "trn1" else ""
        ),
    )


def cases() -> list[Case]:
    row_4 = (
        "aws-neuron-sdk v2.21.0 matrix_multiplication tutorial, trn1.32xlarge"
    )
    row_5 = "aws-neuron-sdk v2.32.0 kernel-optimization.rst, figures v2 to v5"
    loads = 2 * MATMULS
    tiled_bytes = MATMULS * (TILE_K * TILE_M + TILE_K * TILE_N) + M * N
    blocked_bytes = K * N + (N // 1024) * K * M + M * N
    adds = (N // 1024) * (K // 1024) * (M // TILE_M) * 2
    blocked_opcodes = {
        "Memset": OUTPUTS, "TensorTensor": adds, "TensorCopy": OUTPUTS,
    }
    return [
        Case(
            row="4", name="matmul bf16, tiled", target="trn1",
            measured_ns=51.80e6, source=row_4, bound=0.15,
            build=functools.partial(tiled, "trn1", "bfloat16", "sync"),
            opcodes={
                "DmaCopy": loads + OUTPUTS, "MultiplyMoving": MATMULS,
                "LoadStationary": MATMULS, "TensorCopy": OUTPUTS,
            },
            figures=(
                Figure("HBM rate", 2 * tiled_bytes / 51.80e6, "B/ns", _dma_rate,
                       "derived"),
            ),
        ),
        _hoisted_case("4", "trn1", "bfloat16", 1, "sync", 42.96e6, row_4),
        _hoisted_case("4", "trn1", "bfloat16", 2, "sync", 22.07e6, row_4),
        _hoisted_case("5", "trn2", "float32", 1, "gpsimd", 28.20e6, row_5),
        Case(
            row="4", name="matmul bf16, blocked", target="trn1",
            measured_ns=6.97e6, source=row_4,
            build=functools.partial(
                blocked, "trn1", "bfloat16", 16, ("sync", "gpsimd")
            ),
            opcodes={
                **blocked_opcodes, "MultiplyMoving": MATMULS,
                "LoadStationary": MATMULS,
                "DmaCopy": (K // 128) * 8 + 8 * 8 * 8 * 2 + 8 * (M // TILE_M),
            },
        ),
        Case(
            row="5", name="matmul fp32, tiled", target="trn2",
            measured_ns=39.89e6, source=row_5, clock="kernel",
            build=functools.partial(tiled, "trn2", "float32", "gpsimd"),
            opcodes={
                "DmaCopy": loads + OUTPUTS, "MultiplyMoving": 2 * MATMULS,
                "LoadStationary": 2 * MATMULS, "TensorCopy": OUTPUTS,
            },
            figures=(
                Figure("matmul instructions", 65536, "", _matmuls),
                Figure("tensor active", 34.82, "ms", _tensor_ms),
                Figure("HBM rate", 4 * tiled_bytes / 39.89e6, "B/ns", _dma_rate,
                       "derived"),
            ),
            structure=(
                "all transfers are triggered by gpsimd, as figure v2-zoom "
                f"shows; a store after the loads of {DEPTH} more "
                "multiplications"
            ),
        ),
        Case(
            row="5", name="matmul fp32, blocked", target="trn2",
            measured_ns=28.30e6, source=row_5, clock="kernel",
            build=functools.partial(
                blocked, "trn2", "float32", 8, ("sync", "gpsimd")
            ),
            opcodes={
                **blocked_opcodes, "MultiplyMoving": 2 * MATMULS,
                "LoadStationary": 2 * MATMULS,
                "DmaCopy": (K // 128) * 8 + 8 * 8 * 8 * 4 + 8 * (M // TILE_M),
            },
            figures=(
                Figure("matmul instructions", 65536, "", _matmuls),
                Figure("tensor active", 28.16, "ms", _tensor_ms),
                Figure("vector active (10.55 %)", 0.1055 * 28.30, "ms",
                       lambda run: run.active_ns("vector") / 1e6),
                Figure("DMA active (21.54 %)", 6.10, "ms", _dma_active_ms),
                Figure("HBM rate", 4 * blocked_bytes / 28.30e6, "B/ns",
                       _dma_rate, "derived"),
            ),
            structure=(
                "row blocks of 1024 instead of 2048: with 2048 the tiles take "
                "229,376 bytes of a partition, 8 more than there are; the "
                "bytes moved are the same"
            ),
        ),
    ]
