"""Fragments on descriptors (DGE), device loops and migration, run as the body
of a kernel of ours; of the migration page, what the newer API takes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import ALL, EXACT, GEN4, Case, Work, refused
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

TO_PSUM = """\
TILE, N, PSUM_SIZE = 128, 64, 512
hbm_tensor = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
psum_tensor = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
nisa.nc_matmul(psum_tensor, nl.load(s), nl.load(m))
"""

def integers(*shapes: tuple[int, ...]) -> Any:
    """Arguments: small whole numbers, whose products are exact in any order."""
    return lambda work: tuple(
        work.rng.integers(-4, 4, s).astype(np.float32) for s in shapes
    )


FACTORS = integers((128, 128), (128, 512))
NEW = "# NKI 0.3.0"
VIEW = """\
src_ui16 = nl.load(x)
dst_f4 = nl.ndarray((128, 64), dtype=nl.float4_e2m1fn_x4, buffer=nl.sbuf)
"""
VIEW_OUT = """\
out = nl.ndarray((128, 64), dtype=nl.uint16, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=dst_f4.view(nl.uint16))
return out
"""
ADD = """\
dst = nl.load(a)
src = nl.load(b)
"""
INT = """\
out = nl.ndarray((128, 128), dtype=nl.int32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=buf)
return out
"""


IN_SBUF = (
    "nki.isa.dma_transpose: dst must be in SBUF; this option of the page has "
    "it in HBM, the docstring does not allow that"
)


def halfwords(work: Work) -> tuple[Any, ...]:
    return (work.rng.integers(0, 2**16, (128, 64)).astype(np.uint16),)


MIGRATED = [
    Case("migration: dma_transpose to 4-D", body(
        MIGRATION, "c065f0c1", "src_4d", "src = src_4d", "return dst",
        part="# Option A", until="# Option B"),
        normal((4096, 1, 1, 128), dtype=ml_dtypes.bfloat16),
        lambda work, x: x.transpose(3, 1, 2, 0),
        refused=refused("operand.buffer", IN_SBUF)),
    Case("migration: dma_transpose to 3-D", body(
        MIGRATION, "c065f0c1", "src_3d", """\
dst_3d = nl.ndarray((128, 2, 256), dtype=src_3d.dtype, buffer=nl.sbuf)
""", """\
out = nl.ndarray((128, 2, 256), dtype=src_3d.dtype, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=dst_3d)
return out
""", part="# Option B"),
        normal((256, 2, 128), dtype=ml_dtypes.bfloat16),
        lambda work, x: x.transpose(2, 1, 0)),
    Case("migration: PSUM by way of SBUF", body(
        MIGRATION, "eee1cfed", "s, m", TO_PSUM, "return hbm_tensor", part=NEW),
        FACTORS, lambda work, s, m: (s.T @ m)[:, :64]),
    Case("migration: view before hwdge", body(
        MIGRATION, "9fbb7ca7", "x", VIEW, VIEW_OUT, part=NEW), halfwords, same,
        targets=GEN4),
    Case("migration: dma_compute", body(
        MIGRATION, "513f29af", "a, b", ADD, out("dst", 128, 64), part=NEW),
        normal((128, 64), (128, 64)), lambda work, a, b: b,
        note="as nki.isa.dma_compute defines it: dst is the sum of srcs"),
    Case("migration: memset of integers", body(
        MIGRATION, "76390128", "", "", INT, part=NEW),
        reference=lambda work: np.full((128, 128), 2, np.int32)),
    Case("migration: register_move", body(
        MIGRATION, "ce64bb9e", "", "dst = nisa.register_alloc()", """\
cell = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.register_store(cell, dst)
out = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=cell)
return out
""", part=NEW), reference=lambda work: np.full((1, 1), 42, np.int32)),
    Case("migration: outputs in shared HBM", body(
        MIGRATION, "af0644ad", "x", "B, C, L = x.shape",
        "nisa.dma_copy(dst=output, src=x)\nreturn output", part=NEW),
        normal((2, 16, 8)), same),
    Case("migration: names of enumerations", body(
        MIGRATION, "69b4a1b8", "src_tensor", """\
dst_tensor = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
""", out("dst_tensor", 128, 64), part=NEW), normal((128, 64)), same,
        targets=ALL, refused=NO_HWDGE),
    Case("migration: buffers", body(
        MIGRATION, "5e811ccc", after="assert buf.buffer == nl.sbuf",
        part=NEW)),
    Case("migration: x4 memset and load", body(
        MIGRATION, "165ce529", "x", """\
precomputed_x4_hbm_tensor = x.view(nl.float8_e4m3fn_x4)
""", """\
out = nl.ndarray((128, 128), dtype=nl.uint32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=buf.view(nl.uint32))
return out
"""), lambda work: (work.rng.integers(0, 2**32, (128, 128), np.uint32),), same,
        targets=GEN4),
    Case("migration: dst first", body(
        MIGRATION, "0622cc36", "x", """\
src = nl.load(x)
result = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
""", out("result", 16, 8)), lambda work: (2.0 ** work.rng.integers(
            -4, 4, (16, 8)).astype(np.float32),),
        lambda work, x: np.float32(1) / x),
    Case("migration: address", body(
        MIGRATION, "a453ec4f", "a", "",
        "nisa.dma_copy(dst=a_result, src=a)\n" + out("a_result", 16, 8)),
        normal((16, 8)), same),
    Case("migration: an address of a bank", body(MIGRATION, "19000058")),
    Case("migration: a list with addresses", body(
        MIGRATION, "9dd9d424", "", """\
num_512_tiles_cur_section, p_k, n_k, sca = 4, 128, 512, 4096
""", "assert len(k_loaded_tensors) == 4")),
    Case("migration: blocks in the free dimension", body(
        MIGRATION, "df7c6cd8", after="assert len(t_lst) == 8",
        part="# After migration")),
    Case("migration: a tensor of blocks", body(MIGRATION, "3c8fe86a")),
]

# What the page says that 0.3.0 takes no longer; refused with the default API.
BEFORE, SINCE = "# NKI 0.2.0", "since NKI 0.3.0, says the page"


def no_longer(key: str, rule: str, name: str, parameters: str = "",
              before: str = "", **more: Any) -> Case:
    source = body(MIGRATION, key, parameters, before, part=BEFORE, until=NEW)
    return Case(f"migration, before: {name}", source, tolerance=EXACT,
                refused=refused(rule, SINCE), **more)


REFUSED = [
    no_longer("eee1cfed", "dma_copy.psum", "dma_copy from PSUM", "s, m",
              TO_PSUM, arguments=FACTORS),
    no_longer("9fbb7ca7", "dma_copy.hwdge_cast", "hwdge between dtypes", "x",
              VIEW, arguments=halfwords, targets=GEN4),
    no_longer("513f29af", "TypeError", "dst_rmw_op", "a, b", ADD,
              arguments=normal((128, 64), (128, 64))),
    no_longer("76390128", "memset.value", "memset of an integer tile by 2.0"),
    no_longer("ce64bb9e", "TypeError", "register_move of imm", "",
              "dst = nisa.register_alloc()"),
    no_longer("69b4a1b8", "dge_mode", "a number for dge_mode", "src_tensor",
              TILE.replace("sbuf_tile", "dst_tensor"),
              arguments=normal((128, 64))),
    no_longer("5e811ccc", "buffer", "a string for buffer"),
]
CASES = [*DESCRIPTORS, *DEVICE_LOOPS, *MIGRATED, *REFUSED]
