"""Fragments of the pages that run as the body of a kernel of ours.

Where a fragment has names of its own reader's (a tile `t`, an `input_tensor`),
lines of ours make them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nki_kernels_case import (
    F32,
    GEN3,
    GEN4,
    Body,
    Case,
    Work,
    refused,
)
from nki_kernels_cases_examples import normal
from nki_kernels_cases_guides import APS, LANGUAGE, START, TILING, positive

INDEX = f"{START}/about/index.rst"
INDEXING = f"{START}/about/indexing-overview.rst"
GEN2_ARCH = "nki/guides/architecture/trainium_inferentia2_arch.rst"
GEN3_ARCH = "nki/guides/architecture/trainium2_arch.rst"
GEN4_ARCH = "nki/guides/architecture/trainium3_arch.rst"


def body(path: str, key: str, parameters: str = "", before: str = "",
         after: str = "", **more: Any) -> Body:
    return Body("sdk", path, key, parameters, before, after, **more)


def shapes(path: str, key: str, name: str, after: str = "",
           before: str = "") -> Case:
    """A fragment that makes views; its assertions (and ours) must hold."""
    return Case(name, body(path, key, "", before, after))


OUT = """\
out = nl.ndarray(({rows}), dtype=nl.float32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=out, src={tile})
return out
"""


def out(tile: str, *rows: int) -> str:
    """Lines that return a tile."""
    return OUT.format(tile=tile, rows=", ".join(map(str, rows)))


def square(work: Work, x: Any) -> Any:
    return x * x


SQUARES = """\
out_tensor = nl.ndarray(
    input_tensor.shape, dtype=input_tensor.dtype, buffer=nl.shared_hbm)
"""
# Pieces of a tensor, each of which the fragment "processes".
PIECES = """\
def process_tensor(piece):
    nisa.dma_copy(dst=total_in, src=piece)
    nisa.tensor_tensor(dst=total, data1=total, data2=total_in, op=nl.add)
dynamic_range = nl.dynamic_range
total = nl.zeros((16, 8), dtype=nl.float32, buffer=nl.sbuf)
total_in = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
"""
COUNT = PIECES + """\
count_tensor = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.dma_copy(dst=count_tensor, src=count)
"""


def counted_pieces(work: Work) -> tuple[Any, ...]:
    (t,) = normal((10, 16, 8))(work)
    return t, np.full((1, 1), 7, np.int32)


def total(work: Work, t: Any, count: Any = None) -> Any:
    """The sum of the pieces, in their order, as the loop adds them."""
    last = 10 if count is None else int(count[0, 0])
    result = np.zeros((16, 8), np.float32)
    for piece in t[:last]:
        result = result + piece
    return result


PAIR = """\
a, b, c = (nl.load(x) for x in (a_in, b_in, c_in))
x, y, z = (nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.sbuf)
           for _ in range(3))
"""
LISTS = PAIR + """\
inputs, outputs = [a, b, c], [x, y, z]
"""
PAIR_OUT = """\
outs = []
for tile in (x, y, z):
    hbm = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=hbm, src=tile)
    outs.append(hbm)
return tuple(outs)
"""


def pair(work: Work, a: Any, b: Any, c: Any) -> Any:
    return a.T, np.float32(1) / b, c.T


THREE = positive((32, 32), (32, 32), (32, 32))
RECIPROCALS = """\
P_DIM = nl.tile_size.pmax
output = nl.ndarray((256, 256), dtype=nl.float32, buffer=nl.shared_hbm)
"""


def reciprocal(work: Work, x: Any) -> Any:
    return np.float32(1) / x


STEP = (
    "nki-aps.rst calls it illegal: the first stride reads every other partition"
)

GUIDE = [
    shapes(LANGUAGE, "647ecc2d", "attributes of a tensor"),
    Case("a view of another shape, written",
         body(LANGUAGE, "04ead1ef", after=out("v", 128, 16)),
         reference=lambda work: np.ones((128, 16), np.float32)),
    shapes(LANGUAGE, "5d0b5008", "integers as indices", """\
assert t[0, :, :].shape == (1, 64, 32)
assert t[:, :, 0].shape == (128, 64)
assert h[0, :, :].shape == (128, 32)
"""),
    shapes(LANGUAGE, "9c05e8f3", "a chain of views"),
    shapes(LANGUAGE, "a8351791", "ap with a step"),
    shapes(LANGUAGE, "ba28c38c", "get_pattern, changed", """\
assert u.shape == (64, 64)
""", "t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)"),
    shapes(LANGUAGE, "0f87a1c8", "dtype and buffer by position"),
    shapes(LANGUAGE, "74e40d1b", "a name", 'assert t.name == "my_weights"'),
    shapes(LANGUAGE, "1cbff946", "two reshapes", """\
assert u.shape == (128, 2, 64) and v.shape == (128, 32, 4)
""", "t = nl.ndarray((128, 128), nl.float16, nl.sbuf)"),
    shapes(LANGUAGE, "ccc7c692", "on chip never below two dimensions"),
    *[shapes(LANGUAGE, key, name, "",
             "t = nl.ndarray((64, 64, 64), dtype=nl.float32, buffer=nl.sbuf)")
      for key, name in (("f800643c", "slices"), ("82703961", "ellipsis"),
                        ("f40adcf6", "strides and pattern printed"))],
    Case("tiles in lists", body(
        LANGUAGE, "d6e2543b", "a_in, b_in, c_in", PAIR, PAIR_OUT),
        THREE, pair, F32),
    Case("the same without lists", body(
        LANGUAGE, "461bdb77", "a_in, b_in, c_in", PAIR, PAIR_OUT),
        THREE, pair, F32),
    Case("dynamic_range(10)", body(
        LANGUAGE, "914c885b", "t", PIECES, out("total", 16, 8)),
        normal((10, 16, 8)), total),
    Case("dynamic_range(register)", body(
        LANGUAGE, "d3dbb921", "t, count", COUNT, out("total", 16, 8)),
        counted_pieces, total),
]

ABOUT = [
    shapes(f"{START}/about/data-representation-overview.rst", "c7cd2faf",
           "a tensor of three dimensions"),
    shapes(INDEX, "e4e89cb4", "on chip and in HBM", "", "shape = (4, 4)"),
    Case("range", body(INDEX, "880df50d", "input_tensor", SQUARES,
                       "return out_tensor"), normal((128, 1024)), square),
    Case("dynamic_range of registers", body(
        INDEX, "af4c4a7a", "t", PIECES, out("total", 16, 8)),
        normal((10, 16, 8)), total),
    Case("nc_matmul and tensor_tensor", body(
        INDEX, "e5363023", "s, m, a, b", """\
stationary, moving, x, y = (nl.load(hbm) for hbm in (s, m, a, b))
output = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
""", "result = nl.copy(output)\n" + out("result", 128, 512)),
        normal((128, 128), (128, 512), (128, 512), (128, 512)),
        lambda work, s, m, a, b: a + b,
        note="the second instruction writes over the first's result"),
    Case("while register", body(INDEX, "0f4a5123")),
    Case("core_barrier and sendrecv", body(INDEX, "ead713f0", "x", """\
me = nl.program_id(0)
data = nl.ndarray((2, 16, 8), dtype=nl.float32, buffer=nl.shared_hbm)
src = nl.load(x[me])
dst = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
nisa.dma_copy(dst=data[me], src=src)
cores, pipe_id = (0, 1), 0
send_to_rank = recv_from_rank = 1 - me
""", """\
out = nl.ndarray((2, 16, 8), dtype=nl.float32, buffer=nl.shared_hbm)
nisa.tensor_tensor(dst=dst, data1=dst, data2=nl.load(data[1 - me]), op=nl.add)
nisa.dma_copy(dst=out[me], src=dst)
return out
"""), normal((2, 16, 8)), lambda work, x: x[::-1] * np.float32(2),
         targets=GEN3, grid=2),
    shapes(INDEX, "3187a82a", "a reshape"),
    shapes(INDEX, "32eba95f", "forms of indices", "",
           "t = nl.ndarray((8, 16, 64), dtype=nl.float32, buffer=nl.hbm)"),
    shapes(INDEX, "2c619a1a", "offset and pattern printed", "",
           "t = nl.ndarray((8, 16, 64), dtype=nl.float32, buffer=nl.sbuf)"),
    Case("tiles in lists", body(
        INDEX, "aead0bdc", "a_in, b_in, c_in", LISTS, PAIR_OUT), THREE, pair,
        F32),
    Case("dynamic_range, static and register", body(
        INDEX, "3c7e545a", "t, count", COUNT, out("total", 16, 8)),
        counted_pieces,
        lambda work, t, count: total(work, np.concatenate([t, t[:7]]),
                                     np.array([[17]]))),
    shapes(INDEXING, "f326dab6", "a tensor's element"),
    shapes(INDEXING, "6f7ac7ef", "a tensor's slices"),
    Case("two tiles", body(TILING, "4d29bdb6", "input", RECIPROCALS,
                           "return output"), positive((256, 256)), reciprocal,
         F32),
    Case("two tiles in a loop", body(TILING, "b803acfb", "input", RECIPROCALS,
                                     "return output"), positive((256, 256)),
         reciprocal, F32),
]

DEEP = [
    shapes(APS, "210e9c1b", "slice and ap give the same pattern"),
    Case("every other partition", body(APS, "1b829066"),
         refused=refused("access.partition_step", STEP)),
    shapes(APS, "3ffadc3f", "ap of an ap", """\
assert outer.get_pattern() == [[256, 128], [1, 64]] and outer.offset == 0
"""),
    shapes(APS, "ba2c77d3", "slices of slices", "assert t_b.shape == (64, 64)"),
    shapes(APS, "18b4f9cc", "ap with another dtype", """\
assert cast_to_bf16.shape == (128, 512)
assert cast_to_bf16.dtype == nl.bfloat16
"""),
    Case("dma_transpose from HBM", body(
        GEN3_ARCH, "51d565ac", "hbm_src", "", out("sbuf_dst", 128, 512)),
        normal((512, 128)), lambda work, x: x.T),
    Case("dma_transpose on chip", body(
        GEN3_ARCH, "62874318", "x", "sbuf_src = nl.load(x)",
        out("sbuf_dst", 128, 128)), normal((128, 128)), lambda work, x: x.T),
    Case("nl.load", body(GEN2_ARCH, "ce59aa18", "in_tensor", "",
                         out("tile", 128, 512)), normal((256, 512)),
         lambda work, x: x[:128]),
    Case("accumulation in PSUM", body(GEN2_ARCH, "69861584", "s, m", """\
N = 4
stationary_tile, moving_tile = nl.load(s), nl.load(m)
""", "result = nl.copy(psum_buf)\n" + out("result", 128, 128)),
         lambda work: tuple(work.rng.integers(-4, 4, (2, 128, 128)).astype(
             np.float32)), lambda work, s, m: 4 * (s.T @ m)),
    Case("nc_matmul_mx", body(GEN4_ARCH, "f6692572", "s, ss, m, ms", """\
x4 = nl.float8_e5m2_x4
stationary = nl.load(s.ap([[128, 128], [1, 128]], dtype=x4))
moving = nl.load(m.ap([[512, 128], [1, 512]], dtype=x4))
stationary_scale, moving_scale = nl.load(ss), nl.load(ms)
dst = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
""", "result = nl.copy(dst)\n" + out("result", 128, 512)),
         lambda work: (np.full((128, 128), 0x3C3C3C3C, np.uint32),
                       np.full((128, 128), 127, np.uint8),
                       np.full((128, 512), 0x40404040, np.uint32),
                       np.full((128, 512), 128, np.uint8)),
         # 128 partitions of four products 1.0 * (2.0 * 2).
         lambda work, *_: np.full((128, 512), 128 * 4 * 4, np.float32),
         targets=GEN4),
]

CASES = [*GUIDE, *ABOUT, *DEEP]
