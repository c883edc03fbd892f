"""Fragments of the migration page: what the newer API takes, and what it no
longer takes: with the default API a refusal, with API 0.2 a result."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nki_kernels_case import EXACT, GEN4, Case, Work, refused
from nki_kernels_cases_examples import normal
from nki_kernels_cases_fragments import body, out
from nki_kernels_cases_guides import MIGRATION
from nki_kernels_cases_loops import NO_HWDGE, TILE, integers, same

TO_PSUM = """\
TILE, N, PSUM_SIZE = 128, 64, 512
hbm_tensor = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
psum_tensor = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
nisa.nc_matmul(psum_tensor, nl.load(s), nl.load(m))
"""

STORED = """\
cell = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.register_store(cell, dst)
out = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src=cell)
return out
"""
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
        MIGRATION, "ce64bb9e", "", "dst = nisa.register_alloc()", STORED,
        part=NEW), reference=lambda work: np.full((1, 1), 42, np.int32)),
    Case("migration: outputs in shared HBM", body(
        MIGRATION, "af0644ad", "x", "B, C, L = x.shape",
        "nisa.dma_copy(dst=output, src=x)\nreturn output", part=NEW),
        normal((2, 16, 8)), same),
    Case("migration: names of enumerations", body(
        MIGRATION, "69b4a1b8", "src_tensor", """\
dst_tensor = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
""", out("dst_tensor", 128, 64), part=NEW), normal((128, 64)), same,
        refused=NO_HWDGE),
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


# What the page says that 0.3.0 takes no longer.
BEFORE, SINCE = "# NKI 0.2.0", "since NKI 0.3.0, says the page"
DST_TILE = TILE.replace("sbuf_tile", "dst_tensor")
PAIR = normal((128, 64), (128, 64))
REGISTER = "dst = nisa.register_alloc()"


def no_longer(key: str, rule: str, name: str, parameters: str = "",
              before: str = "", says: str = "", **more: Any) -> Case:
    source = body(MIGRATION, key, parameters, before, part=BEFORE, until=NEW)
    return Case(f"migration, before: {name}", source, tolerance=EXACT,
                refused=refused(rule, SINCE, says=says), **more)


def still(key: str, name: str, parameters: str, before: str, after: str,
          **more: Any) -> Case:
    source = body(MIGRATION, key, parameters, before, after, part=BEFORE,
                  until=NEW)
    return Case(f"migration, before, with API 0.2: {name}", source, api="0.2",
                **more)


NO_LONGER = [
    no_longer("eee1cfed", "dma_copy.psum", "dma_copy from PSUM", "s, m",
              TO_PSUM, arguments=FACTORS),
    no_longer("9fbb7ca7", "dma_copy.hwdge_cast", "hwdge between dtypes", "x",
              VIEW, arguments=halfwords, targets=GEN4),
    no_longer("513f29af", "TypeError", "dst_rmw_op", "a, b", ADD,
              says="dst_rmw_op", arguments=PAIR),
    no_longer("76390128", "nki.memset_value",
              "memset of an integer tile by 2.0"),
    no_longer("ce64bb9e", "TypeError", "register_move of imm", "", REGISTER,
              says="imm"),
    no_longer("69b4a1b8", "TypeError", "a number for dge_mode",
              "src_tensor", DST_TILE, says="dge_mode",
              arguments=normal((128, 64))),
    no_longer("5e811ccc", "nki.buffer_name", "a string for buffer"),
]
STILL = [
    still("eee1cfed", "dma_copy from PSUM", "s, m", TO_PSUM,
          "return hbm_tensor", arguments=FACTORS,
          reference=lambda work, s, m: (s.T @ m)[:, :64]),
    still("513f29af", "dst_rmw_op", "a, b", ADD, out("dst", 128, 64),
          arguments=PAIR, reference=lambda work, a, b: a + b),
    still("76390128", "memset of an integer tile by 2.0", "", "", INT,
          reference=lambda work: np.full((128, 128), 2, np.int32)),
    still("ce64bb9e", "register_move of imm", "", REGISTER, STORED,
          reference=lambda work: np.full((1, 1), 42, np.int32)),
    still("69b4a1b8", "a number for dge_mode", "src_tensor", DST_TILE,
          out("dst_tensor", 128, 64), arguments=normal((128, 64)),
          reference=same, refused=NO_HWDGE),
    still("5e811ccc", "a string for buffer", "", "",
          "assert buf.buffer == nl.sbuf"),
]
CASES = [*MIGRATED, *NO_LONGER, *STILL]
