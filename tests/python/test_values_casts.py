"""Casts: every dtype to every dtype, by every path that casts.

Sources hold every bit pattern of 8- and 16-bit dtypes, and edge values and
random bits of 32-bit ones. The reference is arithmetic on the table of formats
in numerics.md section 1; ml_dtypes is compared with it besides.
"""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
import reference as ref
from kit import TARGETS, Kit

SCALE = "float8_e8m0fnu"
EVERY = (*ref.ANY, SCALE)


def patterns(dtype: str) -> ref.Array:
    """(16, n) of a dtype: all its values, or edges and random bits."""
    kind = ref.carrier(dtype)
    if dtype == "bool":
        return np.tile([False, True, True], (16, 4))
    if kind.itemsize < 4:
        codes = np.arange(1 << 8 * kind.itemsize, dtype=f"u{kind.itemsize}")
        return codes.view(kind).reshape(16, -1)
    if dtype in ref.INTS:
        low, high = ref.INTS[dtype]
        near = [0, 1, 255, 256, 32767, 65535, 2**24, 2**25, 2**30, high, low]
        near = [min(high, max(low, v + d)) for v in near for d in range(-9, 10)]
        fixed = np.array(near, dtype)
    else:
        fixed = ref.edges()
    size = -(-(len(fixed) + 3000) // 16) * 16
    filler = ref.samples(dtype, (size - len(fixed),))
    return np.concatenate([fixed, filler]).reshape(16, -1)


def expected(source: ref.Array, src: str, dst: str) -> ref.Array:
    if src == dst:
        return source
    return ref.cast(ref.widen(source, src), dst)


def cast_by(copy, src: str, target: str = "trn2") -> None:
    """One program: the source, cast to every dtype by copy(b, dst, src)."""
    source = patterns(src)
    k = Kit(target)
    tile = k.load(source, src)
    dsts = [d for d in EVERY if not (src == SCALE and d == SCALE)]
    tiles = [k.empty(source.shape, d) for d in dsts]
    for t in tiles:
        copy(k.b, t, tile)
    for d, actual in zip(dsts, k.run(*tiles)):
        want = expected(source, src, d)
        ref.same(actual, want, f"{src} to {d}:")
        if src == d:
            np.testing.assert_array_equal(ref.bits(actual), ref.bits(source))


@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
@pytest.mark.parametrize("src", EVERY)
def test_tensor_copy_casts_through_fp32(src, engine):
    cast_by(
        lambda b, d, s: b.tensor_copy(dst=d, src=s, engine=engine), src
    )


@pytest.mark.parametrize("target", ["trn1", "trn3"])
@pytest.mark.parametrize("src", EVERY)
def test_tensor_copy_casts_alike_on_the_other_generations(src, target):
    cast_by(
        lambda b, d, s: b.tensor_copy(dst=d, src=s, engine="vector"),
        src, target,
    )


@pytest.mark.parametrize("src", EVERY)
def test_dma_copy_casts_through_fp32(src):
    cast_by(lambda b, d, s: b.dma_copy(dst=d, src=s), src)


@pytest.mark.parametrize("src", EVERY)
def test_dma_casts_on_its_way_from_hbm_and_to_hbm(src):
    source = patterns(src)[:, :512]
    for dst in EVERY:
        k = Kit()
        x, t = k.input(source, src), k.empty(source.shape, dst)
        k.b.dma_copy(dst=t, src=x)
        y = k.b.output("y", source.shape, dst)
        k.b.dma_copy(dst=y, src=k.load(source, src))
        r = trnemu.run(k.build(t), k.inputs)
        want = expected(source, src, dst)
        ref.same(r.outputs["out0"], want, f"{src} to {dst}:")
        ref.same(r.outputs["y"], want, f"{src} to {dst}:")


@pytest.mark.parametrize("src", ["float32", "tfloat32", "float16", "int32"])
@pytest.mark.parametrize("space", ["sbuf", "psum"])
def test_a_cast_from_psum_or_into_psum_gives_the_same(src, space):
    source = patterns(src)[:, :400]
    other = {"sbuf": "psum", "psum": "sbuf"}[space]
    for d in EVERY:
        k = Kit()
        tile = k.load(source, src, space)
        t = k.empty(source.shape, d, other)
        k.b.tensor_copy(dst=t, src=tile, engine="vector")
        ref.same(k.one(t), expected(source, src, d), f"{src} to {d}:")


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize(
    ("target", "engine"),
    [(t, e) for t in TARGETS for e in ("vector", "gpsimd", "dma", "scalar")
     if (t, e) != ("trn1", "scalar")],
)
def test_a_copy_without_a_cast_moves_bits(dtype, target, engine):
    source = patterns(dtype)
    k = Kit(target)
    tile, t = k.load(source, dtype), k.empty(source.shape, dtype)
    if engine == "dma":
        k.b.dma_copy(dst=t, src=tile)
    else:
        k.b.tensor_copy(dst=t, src=tile, engine=engine)
    np.testing.assert_array_equal(ref.bits(k.one(t)), ref.bits(source))


@pytest.mark.parametrize("dtype", ref.PACKED)
@pytest.mark.parametrize("target", TARGETS)
def test_packed_dtypes_move_as_bits(dtype, target):
    source = ref.samples(dtype, (128, 96))
    k = Kit(target)
    tile, t, u = k.load(source, dtype), *(
        k.empty(source.shape, dtype) for _ in range(2)
    )
    k.b.tensor_copy(dst=t, src=tile)
    k.b.dma_copy(dst=u, src=t)
    np.testing.assert_array_equal(k.one(u), source)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32", "tfloat32"])
def test_trn1s_scalar_engine_copies_through_fp32_even_without_a_cast(dtype):
    source = patterns(dtype)
    k = Kit("trn1")
    tile, t = k.load(source, dtype), k.empty(source.shape, dtype)
    k.b.tensor_copy(dst=t, src=tile, engine="scalar")
    ref.same(k.one(t), ref.cast(ref.widen(source, dtype), dtype))


def test_int32_above_2_24_survives_trn2s_scalar_engine_but_not_trn1s():
    # 2^24 + 1 is not an fp32 number: numerics.md 3, ScalarE copy.
    for target, want in (("trn1", 16777216), ("trn2", 16777217)):
        k = Kit(target)
        tile = k.load(np.array([[16777217]], np.int32))
        t = k.empty((1, 1), "int32")
        k.b.tensor_copy(dst=t, src=tile, engine="scalar")
        assert k.one(t)[0, 0] == want


# Literal values: (fp32, dtype, bits), from the formats of numerics.md 1.
LITERALS = [
    (240.0, "float8_e4m3", 0x77), (247.9, "float8_e4m3", 0x77),
    (248.0, "float8_e4m3", 0x78), (-1e9, "float8_e4m3", 0xF8),
    (448.0, "float8_e4m3fn", 0x7E), (464.0, "float8_e4m3fn", 0x7E),
    (464.1, "float8_e4m3fn", 0x7F), (np.inf, "float8_e4m3fn", 0x7F),
    (2.0**-9, "float8_e4m3fn", 0x01), (2.0**-10, "float8_e4m3fn", 0x00),
    (1.5 * 2**-10, "float8_e4m3", 0x01), (-0.0, "float8_e4m3", 0x80),
    (57344.0, "float8_e5m2", 0x7B), (61439.0, "float8_e5m2", 0x7B),
    (61440.0, "float8_e5m2", 0x7C), (-np.inf, "float8_e5m2", 0xFC),
    (65504.0, "float16", 0x7BFF), (65519.0, "float16", 0x7BFF),
    (65520.0, "float16", 0x7C00), (2.0**-24, "float16", 0x0001),
    (2.0**-25, "float16", 0x0000), (1.0, "bfloat16", 0x3F80),
    (1 + 2.0**-8, "bfloat16", 0x3F80), (1 + 3 * 2.0**-8, "bfloat16", 0x3F82),
    (-3.4028235e38, "bfloat16", 0xFF80), (-3.4028235e38, "float16", 0xFC00),
    (1 + 2.0**-11, "tfloat32", 0x3F800000),
    (1 + 3 * 2.0**-11, "tfloat32", 0x3F804000),
    (1.0, SCALE, 0x7F), (1.5, SCALE, 0x80), (1.49, SCALE, 0x7F),
    (0.0, SCALE, 0x00), (-1.0, SCALE, 0xFF), (np.inf, SCALE, 0xFF),
    (2.0**127, SCALE, 0xFE), (2.0**-127, SCALE, 0x00),
    (-0.5, "int8", 0x00), (2.5, "int8", 0x02), (3.5, "int8", 0x04),
    (127.5, "int8", 0x7F), (-128.6, "int8", 0x80), (np.inf, "uint8", 0xFF),
    (-np.inf, "uint8", 0x00), (65535.5, "uint16", 0xFFFF),
    (3e9, "int32", 0x7FFFFFFF), (-3e9, "int32", 0x80000000),
    (3e9, "uint32", 3000000000), (5e9, "uint32", 0xFFFFFFFF),
    (16777216.0, "int32", 0x01000000),
]


@pytest.mark.parametrize(("value", "dtype", "code"), LITERALS)
def test_these_values_become_these_bits(value, dtype, code):
    k = Kit()
    t = k.empty((1, 1), dtype)
    k.b.tensor_copy(dst=t, src=k.load(np.array([[value]], np.float32)))
    assert ref.bits(k.one(t))[0, 0] == code


@pytest.mark.parametrize("dtype", ref.FLOATS)
def test_the_reference_rounds_like_ml_dtypes(dtype):
    x = patterns("float32")
    ref.same(ref.cast(x, dtype), x.astype(ref.carrier(dtype)))


def test_e4m3fn_saturates_when_asked_to():
    x = np.array([[464.0, 465.0, 1e9, -1e9, 300.0]], np.float32)
    k = Kit()
    t = k.empty(x.shape, "float8_e4m3fn")
    k.b.tensor_copy(dst=t, src=k.load(x))
    out = k.one(t, numerics={"e4m3fn_overflow": "saturate"})
    assert out.astype(np.float32).tolist() == [[448, 448, 448, -448, 288]]


def test_tf32_truncates_when_asked_to():
    x = np.array([[1 + 2.0**-10 + 2.0**-11, 1.9999999]], np.float32)
    k = Kit()
    t = k.empty(x.shape, "tfloat32")
    k.b.tensor_copy(dst=t, src=k.load(x))
    out = k.one(t, numerics={"tf32": "truncate"})
    assert out.tolist() == [[1 + 2.0**-10, 2 - 2.0**-10]]


@pytest.mark.parametrize("dtype", ref.INTS)
@pytest.mark.parametrize("copy", ["tensor_copy", "dma_copy"])
def test_nan_becomes_0_in_an_integer_and_is_reported(dtype, copy):
    k = Kit()
    x = k.load(np.array([[np.nan, 3.0]], np.float32))
    t = k.empty((1, 2), dtype)
    getattr(k.b, copy)(dst=t, src=x)
    assert k.one(t).tolist() == [[0, 3]]
    assert [f.id for f in k.findings] == ["cast.nan_to_integer"]
    assert k.findings[0].category == "unspecified"
