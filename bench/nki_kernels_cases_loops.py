"""Fragments on descriptors (DGE) and device loops, run as the body of a kernel
of ours."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import Case, Work, refused
from nki_kernels_cases_examples import normal
from nki_kernels_cases_fragments import body, out
from nki_kernels_cases_guides import MIGRATION

DGE = "nki/deep-dives/nki-dge.rst"
LOOPS = "nki/deep-dives/nki-dynamic-loops.rst"
BEFORE_GEN3 = "hardware DGE: NeuronCore-v3 (trn2) and newer"
NO_HWDGE = refused("dma_copy.hwdge_generation", BEFORE_GEN3, "trn1")
NO_GATHER = refused(
    "dma_transpose.rows_mode",
    "nki.isa.dma_transpose: transposes of gathered rows are of trn2 and newer",
    "trn1",
)
TILE = "sbuf_tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)"


def same(work: Work, x: Any) -> Any:
    return x


def load(key: str, name: str, **more: Any) -> Case:
    """A fragment that copies hbm_tensor into sbuf_tile."""
    return Case(name, body(DGE, key, "hbm_tensor", TILE,
                           out("sbuf_tile", 128, 64)),
                normal((128, 64)), same, **more)


HBM_OUT = """\
out = nl.ndarray({shape}, dtype=sbuf_tile.dtype, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=sbuf_tile)
return out
"""
BF16_PAIR = "sbuf_tile = nl.ndarray({shape}, dtype=nl.bfloat16, buffer=nl.sbuf)"


def transposed(work: Work, x: Any) -> Any:
    return x.T


def gathered(work: Work, x: Any, indices: Any) -> Any:
    return x[indices.T.ravel()].T


def gather_arguments(rows: int, columns: int = 1) -> Any:
    """A bfloat16 tensor of `rows` rows, and indices of them."""

    def make(work: Work) -> tuple[Any, ...]:
        (x,) = normal((rows, 128), dtype=ml_dtypes.bfloat16)(work)
        indices = work.rng.permutation(rows)[:128 * columns]
        return x, indices.reshape(128, columns).astype(np.uint32)

    return make


DESCRIPTORS = [
    load("095a9ea9", "dge_mode unknown"),
    load("de6b0b0e", "dge_mode none"),
    load("af020dc6", "dge_mode swdge"),
    load("b737ec52", "dge_mode hwdge", refused=NO_HWDGE),
    load("7549d17d", "hwdge by scalar and sync", refused=NO_HWDGE),
    load("9a6c38c6", "a named copy"),
    load("b9d65ab9", "dge_mode none, named"),
    load("dfff5584", "dge_mode swdge, named"),
    load("ea01cd43", "dge_mode hwdge, named", refused=NO_HWDGE),
    Case("dma_transpose, hwdge", body(
        DGE, "f8210552", "hbm_tensor", BF16_PAIR.format(shape=(128, 16)),
        HBM_OUT.format(shape=(128, 16))),
        normal((16, 128), dtype=ml_dtypes.bfloat16), transposed,
        refused=refused("dma_transpose.hwdge", BEFORE_GEN3, "trn1")),
    Case("dma_transpose of gathered rows", body(
        DGE, "bfb157d2", "hbm_tensor, idx",
        "indices = nl.load(idx)\n" + BF16_PAIR.format(shape=(128, 128)),
        HBM_OUT.format(shape=(128, 128))), gather_arguments(256), gathered,
        refused=NO_GATHER),
    Case("dma_copy and dma_transpose, unknown", body(
        DGE, "8d45360a", "hbm_tensor", BF16_PAIR.format(shape=(128, 128)),
        HBM_OUT.format(shape=(128, 128))),
        normal((128, 128), dtype=ml_dtypes.bfloat16), transposed),
]

def integers(*shapes: tuple[int, ...]) -> Any:
    """Arguments: small whole numbers, whose products are exact in any order."""
    return lambda work: tuple(
        work.rng.integers(-4, 4, s).astype(np.float32) for s in shapes
    )


IN_NO_REORDER = "the page shows it as an error: no device loop in no_reorder"
TENSORS = """\
out_tensor = nl.ndarray(
    input_tensor.shape, dtype=input_tensor.dtype, buffer=nl.shared_hbm)
"""
FLAG = """\
cond_tensor = nl.zeros((1, 1), dtype=nl.int32, buffer=nl.sbuf)
"""
SUM = """\
acc = nl.zeros((1, 1), dtype=nl.float32, buffer=nl.sbuf)
val = nl.full((1, 1), 0.5, dtype=nl.float32, buffer=nl.sbuf)
count_sb = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.dma_copy(dst=count_sb, src=count)
one_sb = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.memset(dst=one_sb, value=1)
reg = nisa.register_alloc()
nisa.register_load(reg, count_sb)
"""
COLUMN = """\
reg = nisa.register_alloc()
count_sb = nl.load(count)
nisa.register_load(reg, count_sb)
temp = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
"""


def number(value: int) -> Any:
    return lambda work: (np.full((1, 1), value, np.int32),)


def halves(work: Work, count: Any) -> Any:
    return np.full((1, 1), 0.5 * int(count[0, 0]), np.float32)


def column(work: Work) -> tuple[Any, ...]:
    return (*normal((1, 16))(work), np.full((1, 1), 9, np.int32))


DEVICE_LOOPS = [
    Case("dynamic_range in no_reorder", body(LOOPS, "8c6990ec", "", "n = 4"),
         refused=refused("nki.loop_in_no_reorder", IN_NO_REORDER)),
    Case("no_reorder in dynamic_range", body(LOOPS, "6ddaf2eb", "", "n = 4")),
    Case("while register", body(LOOPS, "9356cd21", "", FLAG)),
    Case("dynamic_range(1)", body(LOOPS, "8ec7b162", "input_tensor", TENSORS,
                                  "return out_tensor"), normal((128, 512)),
         lambda work, x: x * x),
    Case("dynamic_range of registers, with a step", body(
        LOOPS, "7651a439", "input_tensor", TENSORS, "return out_tensor"),
        normal((512, 512)), lambda work, x: x + np.float32(2)),
    Case("an empty dynamic_range", body(LOOPS, "a76958ba")),
    *[Case(f"migration: {name}", body(
        MIGRATION, key, "data, count", COLUMN, out("temp", 1, 1)), column,
        lambda work, data, count: data[:, 8:9])
      for key, name in (("d4848f9b", "dynamic_range"),
                        ("740627fb", "fori_loop"))],
    *[Case(f"migration: {name}", body(
        MIGRATION, key, "count", SUM, out("acc", 1, 1)), number(5), halves)
      for key, name in (("d4e683d5", "while"), ("1a08cf93", "while_loop"))],
    Case("migration: dynamic_range(5, register, 2)", body(
        MIGRATION, "6a378d03", "count", "tensor = nl.load(count)"), number(9)),
    Case("migration: while over register_store", body(MIGRATION, "861d9d8a")),
]


CASES = [*DESCRIPTORS, *DEVICE_LOOPS]
