"""Row 7: lhs^T @ rhs with K 2048, M 4096, N 10944 in fp32.

Source of the structure: NKIBench of zhang677/AccelOpt (trn1) and the first
kernel of KDA (Jerry2423/kda-for-trainium, trn2). Both keep the 2048 x 1024
block of lhs in SBUF, stream chunks of rhs past it (16 loads a chunk), multiply
16 tiles of the contraction into PSUM, copy and store. NKIBench takes chunks
of 1024 columns, of which the last has 704, multiplied 512 at a time; its
counter of hardware flops shows that the last product is 512 wide too. KDA
takes 24 chunks of 456.
"""

from __future__ import annotations

import functools

import trnemu

from .case import Case, Figure, Run

K_TILES, M, N, BLOCK = 16, 4096, 10944, 1024


def transpose_matmul(
    target: str, chunk: int, width: int, copy: str,
    m_size: int = M, n_size: int = N,
) -> trnemu.Program:
    """Chunks of `chunk` columns, multiplied `width` at a time."""
    b = trnemu.ProgramBuilder(target=target, name="transpose_matmul")
    lhs = b.input("lhs", (128, K_TILES, m_size), "float32")
    rhs = b.input("rhs", (128, K_TILES, n_size), "float32")
    out = b.output("out", (m_size // 128, 128, n_size), "float32")
    for m in range(0, m_size, BLOCK):
        left = [b.sbuf((128, BLOCK), "float32") for _ in range(K_TILES)]
        for k, tile in enumerate(left):
            b.dma_copy(dst=tile, src=lhs[:, k, m:m + BLOCK], trigger="sync")
        for n in range(0, n_size, chunk):
            there = min(chunk, n_size - n)
            right = [b.sbuf((128, chunk), "float32") for _ in range(K_TILES)]
            for k, tile in enumerate(right):
                b.dma_copy(
                    dst=tile[:, :there], src=rhs[:, k, n:n + there],
                    trigger="sync",
                )
            for r in range(0, BLOCK, 128):
                result = b.sbuf((128, chunk), "float32")
                for c in range(0, there, width):
                    part = b.psum((128, width), "float32")
                    for p, q in zip(left, right, strict=True):
                        b.nc_matmul(
                            dst=part, stationary=p[:, r:r + 128],
                            moving=q[:, c:c + width],
                        )
                    b.tensor_copy(
                        dst=result[:, c:c + width], src=part, engine=copy
                    )
                b.dma_copy(
                    dst=out[(m + r) // 128, :, n:n + there],
                    src=result[:, :there], trigger="gpsimd",
                )
    return b.build()


def _megabytes(run: Run) -> float:
    return run.profile.hbm_read_bytes / 1e6


def cases() -> list[Case]:
    blocks = M // BLOCK
    made = []
    for target, chunk, width, ns, source, status in (
        ("trn1", 1024, 512, 9.6103e6,
         "AccelOpt NKIBench profile_results.csv, trn1.32xlarge", "measured"),
        ("trn2", 456, 456, 9.689e6, "KDA tmm_v1; clock corrected", "derived"),
    ):
        chunks = -(-N // chunk)
        widths = -(-N // width)
        matmuls = blocks * 8 * widths * K_TILES
        read = 4 * 128 * K_TILES * (M + blocks * N)
        figures = [
            Figure("HBM read", read / 1e6, "MB", _megabytes),
            Figure("matmul instructions", 2 * matmuls, "",
                   lambda run: run.opcode("MultiplyMoving")),
        ]
        if target == "trn1":
            figures.append(Figure(
                "scalar active", 3.79, "%",
                lambda run: 100 * run.active_ns("scalar") / run.simulated_ns,
            ))
        else:
            figures.append(Figure(
                "tensor active, 24,576 x 383.7 ns", 24576 * 383.7e-6, "ms",
                lambda run: run.active_ns("tensor") / 1e6,
            ))
        made.append(Case(
            row="7", name="transpose_matmul", target=target, measured_ns=ns,
            source=source, status=status,
            build=functools.partial(
                transpose_matmul, target, chunk, width, "scalar"
            ),
            opcodes={
                "DmaCopy": blocks * (K_TILES * (1 + chunks) + 8 * chunks),
                "MultiplyMoving": 2 * matmuls, "LoadStationary": 2 * matmuls,
                "TensorCopy": blocks * 8 * widths,
            },
            figures=tuple(figures),
        ))
    return made
