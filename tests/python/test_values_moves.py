"""Copies, fills and index values: which element lands where.

A source is written whole, an instruction reads one look at it and writes one
look at a destination full of a sentinel; NumPy does the same to arrays. What
the look leaves out must keep the sentinel.
"""

from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import trnemu
import reference as ref
from geometry import LOOKS, PARTITIONS, WRITABLE
from kit import TARGETS, Kit

MOVES = {
    "dma_copy": lambda b, d, s: b.dma_copy(dst=d, src=s),
    "dma_copy, one queue": lambda b, d, s: b.dma_copy(dst=d, src=s, queues=1),
    "vector": lambda b, d, s: b.tensor_copy(dst=d, src=s, engine="vector"),
    "scalar": lambda b, d, s: b.tensor_copy(dst=d, src=s, engine="scalar"),
    "gpsimd": lambda b, d, s: b.tensor_copy(dst=d, src=s, engine="gpsimd"),
}
SENTINEL = 77.0
SPACES = list(itertools.product(("sbuf", "psum"), repeat=2))


def grid(partitions: int, free: tuple[int, ...], dtype: str) -> ref.Array:
    """Elements that all differ (bf16 holds 0 to 256)."""
    row = np.arange(math.prod(free)).reshape(free)
    column = np.arange(partitions).reshape(-1, *(1 for _ in free))
    return ((row + 7 * column) % 251).astype(ref.carrier(dtype))


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_copy_reads_what_the_view_shows(look, move):
    source = grid(32, look.free, "float32")
    want = look.array(source)
    k = Kit()
    dst = k.empty(want.shape)
    MOVES[move](k.b, dst, look.view(k.load(source)))
    ref.same(k.one(dst), np.ascontiguousarray(want))


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32"])
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_a_copy_writes_what_the_view_shows_and_nothing_else(
    look, move, dtype
):
    want = np.full((32, *look.free), SENTINEL, ref.carrier(dtype))
    source = grid(32, look.array(want).shape[1:], dtype) % 50
    source = source.astype(want.dtype)
    look.array(want)[...] = source
    k = Kit()
    dst = k.filled(want.shape, SENTINEL, dtype)
    MOVES[move](k.b, look.view(dst), k.load(source))
    ref.same(k.one(dst), want)


@pytest.mark.parametrize("move", ["dma_copy", "vector", "scalar"])
@pytest.mark.parametrize("spaces", SPACES, ids="-".join)
def test_a_copy_goes_between_sbuf_and_psum_in_every_combination(spaces, move):
    source = ref.samples("float32", (128, 24), seed=1)
    want = np.full((128, 24), SENTINEL, np.float32)
    want[:, 2:18:2] = source[:, 5:13]
    k = Kit()
    dst = k.filled((128, 24), SENTINEL, "float32", spaces[1])
    src = k.load(source, space=spaces[0])
    MOVES[move](k.b, dst[:, 2:18:2], src[:, 5:13])
    np.testing.assert_array_equal(ref.bits(k.one(dst)), ref.bits(want))


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_a_copy_reads_and_writes_its_partitions_and_no_others(place, move):
    start, count = place
    source = grid(128, (8,), "float32")
    k = Kit()
    whole = k.filled((128, 8), SENTINEL)
    part = slice(start, start + count)
    MOVES[move](k.b, whole[part], k.load(source)[part])
    want = np.full((128, 8), SENTINEL, np.float32)
    want[part] = source[part]
    ref.same(k.one(whole), want)


@pytest.mark.parametrize("move", ["vector", "scalar", "gpsimd", "dma_copy"])
@pytest.mark.parametrize("starts", [(0, 96), (96, 0), (32, 64), (64, 0)])
def test_a_copy_moves_between_quadrants(starts, move):
    s, d = starts
    source = grid(32, (8,), "bfloat16")
    k = Kit()
    dst = k.filled((128, 8), SENTINEL, "bfloat16")
    MOVES[move](k.b, dst[d:d + 32], k.load(source, start=s))
    want = np.full((128, 8), SENTINEL, ml_dtypes.bfloat16)
    want[d:d + 32] = source
    ref.same(k.one(dst), want)


@pytest.mark.parametrize("place", [(1, 2), (48, 36), (5, 100), (127, 1)])
def test_dma_starts_at_any_partition(place):
    start, count = place
    source = grid(count, (8,), "float32")
    k = Kit()
    dst = k.filled((128, 8), SENTINEL)
    tile = k.load(grid(128, (8,), "float32"))
    k.b.dma_copy(dst=dst[start:start + count], src=k.input(source))
    k.b.dma_copy(dst=tile[:count], src=dst[start:start + count])
    whole, back = k.run(dst, tile)
    want = np.full((128, 8), SENTINEL, np.float32)
    want[start:start + count] = source
    ref.same(whole, want)
    ref.same(back[:count], source)


HBM = [  # shapes in HBM, how NumPy and trnemu look at them alike
    ((4, 6, 5), lambda x: x[1:3, ::2, 1:]),
    ((4, 6, 5), lambda x: x[::-1, 2]),
    ((40,), lambda x: x[3:31:4]),
    ((300, 7), lambda x: x[170:298]),
    ((2, 3, 2, 3, 4), lambda x: x[1, :, 1, :, 1:3]),
]


@pytest.mark.parametrize("case", range(len(HBM)))
def test_dma_moves_between_views_in_hbm(case):
    shape, look = HBM[case]
    source = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    k = Kit()
    x = k.input(source)
    y = k.b.output("y", look(source).shape, "int32")
    k.b.dma_copy(dst=y, src=look(x))
    r = trnemu.run(k.b.build(), k.inputs)
    ref.same(r.outputs["y"], np.ascontiguousarray(look(source)))


@pytest.mark.parametrize("dims", [(1, 0, 2), (2, 0, 1), (0, 2, 1)], ids=str)
def test_dma_permutes_a_tensor_of_hbm_into_sbuf(dims):
    source = np.arange(210, dtype=np.float32).reshape(5, 6, 7)
    k = Kit()
    want = np.ascontiguousarray(source.transpose(dims))
    dst = k.empty(want.shape)
    k.b.dma_copy(dst=dst, src=k.input(source).permute(dims))
    ref.same(k.one(dst), want)


def test_dma_broadcasts_a_row_of_hbm_over_partitions():
    row = ref.samples("bfloat16", (1, 33))
    k = Kit()
    dst = k.empty((128, 33), "bfloat16")
    k.b.dma_copy(dst=dst, src=k.input(row).broadcast(0, 128))
    np.testing.assert_array_equal(
        ref.bits(k.one(dst)), ref.bits(np.repeat(row, 128, 0))
    )


@pytest.mark.parametrize("queues", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (17, 40), (128, 129)])
def test_every_number_of_queues_moves_everything(shape, queues):
    source = ref.samples("float32", shape, seed=queues)
    k = Kit()
    dst = k.empty(shape)
    k.b.dma_copy(dst=dst, src=k.input(source), queues=queues)
    np.testing.assert_array_equal(ref.bits(k.one(dst)), ref.bits(source))


@pytest.mark.parametrize("mode", ["none", "swdge", "hwdge", "unknown"])
def test_every_source_of_descriptors_moves_the_same(mode):
    source = ref.samples("bfloat16", (64, 48))
    k = Kit()
    dst = k.empty(source.shape, "bfloat16")
    k.b.dma_copy(dst=dst, src=k.input(source), dge_mode=mode)
    np.testing.assert_array_equal(ref.bits(k.one(dst)), ref.bits(source))


def test_a_view_of_another_dtype_shares_the_bytes():
    source = ref.samples("float32", (16, 12))
    k = Kit()
    tile = k.load(source)
    halves = k.empty((16, 24), "uint16")
    k.b.tensor_copy(dst=halves, src=tile.view("uint16"))
    np.testing.assert_array_equal(k.one(halves), source.view(np.uint16))


# --- memset ----------------------------------------------------------------

FILLS = [  # value, dtype, bits of an element
    (1.5, "float32", 0x3FC00000), (-0.0, "float32", 0x80000000),
    (0.1, "float32", 0x3DCCCCCD), (np.inf, "float32", 0x7F800000),
    (0.1, "bfloat16", 0x3DCD), (0.1, "float16", 0x2E66),
    (1e9, "float16", 0x7C00), (448.0, "float8_e4m3fn", 0x7E),
    (240.0, "float8_e4m3", 0x77), (0.3, "float8_e5m2", 0x35),
    (0.1, "tfloat32", 0x3DCCC000), (2.0, "float8_e8m0fnu", 0x80),
    (255, "uint8", 0xFF), (-1, "int8", 0xFF), (-32768, "int16", 0x8000),
    (65535, "uint16", 0xFFFF), (2**31 - 1, "int32", 0x7FFFFFFF),
    (16777217, "int32", 16777217), (2**32 - 1, "uint32", 0xFFFFFFFF),
    (1, "bool", 1), (0, "bool", 0), (0, "float8_e5m2_x4", 0),
    (0, "float8_e4m3fn_x4", 0), (0, "float4_e2m1fn_x4", 0),
]


@pytest.mark.parametrize(("value", "dtype", "code"), FILLS)
@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_memset_fills_with_these_bits(value, dtype, code, engine):
    k = Kit()
    t = k.empty((128, 33), dtype)
    k.b.memset(dst=t, value=value, engine=engine)
    assert (ref.bits(k.one(t)) == code).all()


@pytest.mark.parametrize("look", WRITABLE, ids=str)
@pytest.mark.parametrize("space", ["sbuf", "psum"])
def test_memset_fills_what_the_view_shows_and_nothing_else(look, space):
    k = Kit()
    t = k.filled((64, *look.free), SENTINEL, space=space)
    k.b.memset(dst=look.view(t)[32:64], value=-2.5)
    want = np.full((64, *look.free), SENTINEL, np.float32)
    look.array(want)[32:64] = -2.5
    ref.same(k.one(t), want)


# --- iota, affine_select: int32 that wraps, then a cast to dst --------------

PATTERNS = [
    [[1, 24]], [[-3, 24]], [[0, 24]], [[10, 4], [1, 6]],
    [[100, 2], [-7, 3], [1, 4]], [[1, 2], [2, 3], [6, 2], [1000, 2]],
    [[2**30, 24]], [[70000, 24]],
]


def affine(
    pattern: list[list[int]], offset: int, multiplier: int, partitions: int
) -> ref.Array:
    """(partitions, n) of the affine value, in int32 that wraps."""
    value = np.array(offset + multiplier * np.arange(partitions, dtype=object))
    value = value[:, None]
    for step, count in pattern:
        value = value[..., None] + step * np.arange(count, dtype=object)
    value = value.reshape(partitions, -1).astype(object)
    wrapped = (value + 2**31) % 2**32 - 2**31
    return wrapped.astype(np.int64).astype(np.int32)


@pytest.mark.parametrize("dtype", ref.ANY)
@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_iota_counts_in_int32_and_casts(pattern, dtype):
    k = Kit()
    t = k.empty((128, 24), dtype)
    k.b.iota(dst=t, pattern=pattern, offset=-40, channel_multiplier=17)
    value = affine(pattern, -40, 17, 128)
    want = ref.cast(ref.widen(value), dtype)
    if dtype in ("int32", "uint32"):  # gpsimd's own lanes: exact, modulo 2^32
        want = value.view(dtype)
    ref.same(k.one(t), want)


@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_iota_counts_partitions_from_the_tiles_first(place):
    start, count = place
    k = Kit()
    t = k.filled((128, 8), SENTINEL)
    k.b.iota(
        dst=t[start:start + count], pattern=[[1, 8]], offset=3,
        channel_multiplier=100,
    )
    want = np.full((128, 8), SENTINEL, np.float32)
    want[start:start + count] = affine([[1, 8]], 3, 100, count)
    ref.same(k.one(t), want)


@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_iota_writes_through_views(look):
    n = look.array(np.empty((1, *look.free))).size
    k = Kit()
    t = k.filled((32, *look.free), SENTINEL)
    k.b.iota(dst=look.view(t), pattern=[[2, n]], channel_multiplier=-1)
    want = np.full((32, *look.free), SENTINEL, np.float32)
    target = look.array(want)
    target[...] = affine([[2, n]], 0, -1, 32).reshape(target.shape)
    ref.same(k.one(t), want)


# The device has no less and less_equal (decisions.md). a < 0 is ~a >= 0, which
# is exact; a <= 0 is -a >= 0 in int32, where -2^31 is its own negative.
COMPARE = {
    "equal": lambda v: v == 0, "not_equal": lambda v: v != 0,
    "greater": lambda v: v > 0, "greater_equal": lambda v: v >= 0,
    "less": lambda v: v < 0, "less_equal": lambda v: -v >= 0,
}


@pytest.mark.parametrize("op", COMPARE)
@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_affine_select_keeps_where_the_affine_value_compares(pattern, op):
    source = ref.samples("float32", (128, 24), seed=2)
    k = Kit()
    t = k.empty((128, 24))
    k.b.affine_select(
        dst=t, pattern=pattern, channel_multiplier=-1, offset=20,
        on_true_tile=k.load(source), on_false_value=-3.4028235e38, cmp_op=op,
    )
    keep = COMPARE[op](affine(pattern, 20, -1, 128))
    want = np.where(keep, source, np.float32(-3.4028235e38))
    np.testing.assert_array_equal(ref.bits(k.one(t)), ref.bits(want))


@pytest.mark.parametrize("dst", ref.ANY)
def test_affine_select_moves_bits_or_casts_and_casts_the_constant(dst):
    for src in ref.ANY:
        source = ref.samples(src, (16, 24), seed=3)
        k = Kit()
        t = k.empty((16, 24), dst)
        k.b.affine_select(
            dst=t, pattern=[[1, 24]], channel_multiplier=1, offset=-20,
            on_true_tile=k.load(source, src), on_false_value=2.5,
            cmp_op="greater_equal",
        )
        kept = source if src == dst else ref.cast(ref.widen(source, src), dst)
        keep = affine([[1, 24]], -20, 1, 16) >= 0
        constant = ref.cast(np.float32([2.5]), dst)
        ref.same(k.one(t), np.where(keep, kept, constant), f"{src} to {dst}:")


@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_affine_select_reads_and_writes_through_views(look):
    n = look.array(np.empty((1, *look.free))).size
    source = ref.moderate("float32", (64, *look.free))
    k = Kit()
    t = k.filled((64, *look.free), SENTINEL)
    k.b.affine_select(
        dst=look.view(t)[32:64], pattern=[[1, n]], channel_multiplier=1,
        offset=-n, on_true_tile=look.view(k.load(source))[32:64],
        on_false_value=1.25, cmp_op="less",
    )
    want = np.full(source.shape, SENTINEL, np.float32)
    part = look.array(want)[32:64]
    keep = (affine([[1, n]], -n, 1, 32) < 0).reshape(part.shape)
    part[...] = np.where(keep, look.array(source)[32:64], np.float32(1.25))
    ref.same(k.one(t), want)


# --- nc_transpose: bits, except trn1's tensor engine ------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ref.ANY)
def test_the_vector_engine_transposes_bits_of_every_dtype(dtype, target):
    for shape in [(32, 32), (5, 32), (32, 1), (17, 9)]:
        source = ref.samples(dtype, shape, seed=4)
        k = Kit(target)
        t = k.empty(shape[::-1], dtype)
        k.b.nc_transpose(dst=t, data=k.load(source, dtype), engine="vector")
        np.testing.assert_array_equal(
            ref.bits(k.one(t)), ref.bits(np.ascontiguousarray(source.T))
        )


@pytest.mark.parametrize("spaces", SPACES, ids="-".join)
@pytest.mark.parametrize("starts", [(0, 32), (96, 0), (64, 64)])
def test_the_vector_engine_transposes_between_memories(starts, spaces):
    source = ref.samples("float32", (32, 24), seed=5)
    k = Kit()
    data = k.load(source, space=spaces[0], start=starts[0])
    t = k.empty((24, 32), space=spaces[1], start=starts[1])
    k.b.nc_transpose(dst=t, data=data, engine="vector")
    np.testing.assert_array_equal(
        ref.bits(k.one(t)), ref.bits(np.ascontiguousarray(source.T))
    )


def test_a_transpose_flattens_the_free_dims_of_its_data():
    source = np.arange(32 * 24, dtype=np.float32).reshape(32, 2, 3, 4)
    for engine, space in (("vector", "sbuf"), ("tensor", "psum")):
        k = Kit()
        t = k.empty((24, 32), space=space)
        k.b.nc_transpose(dst=t, data=k.load(source), engine=engine)
        ref.same(k.one(t), np.ascontiguousarray(source.reshape(32, 24).T))
