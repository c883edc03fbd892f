"""nc_matmul_mx and quantize_mx: values that documents state or follow by
arithmetic (numerics.md 6 and 15.14, 15.15; behaviours.md 18)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import reference as ref
import trnemu
from kit import Kit

F32 = np.float32
BF16 = ml_dtypes.bfloat16
FP8 = {
    "float8_e4m3fn_x4": ml_dtypes.float8_e4m3fn,
    "float8_e5m2_x4": ml_dtypes.float8_e5m2,
}
EMAX = {"float8_e4m3fn_x4": 8, "float8_e5m2_x4": 15}
# Codes 0 to 7 of E2M1 (OCP); 8 to 15 are negative.
E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
every_fp8 = pytest.mark.parametrize("packed", FP8)


def scale_rows(partitions: int) -> list[int]:
    """The row of the scale view for each group of 8 data partitions."""
    return [g // 4 * 32 + g % 4 for g in range(partitions // 8)]


def pack(values: Any, packed: str) -> ref.Array:
    """(P, F, 4) numbers as packed elements, the first lowest."""
    codes = np.ascontiguousarray(values).astype(FP8[packed]).view(np.uint8)
    return codes.view(np.uint32)[..., 0]


# --- quantize_mx ------------------------------------------------------------


def quantize(
    values: Any, packed: str = "float8_e4m3fn_x4", dtype: Any = BF16,
    **numerics: str,
) -> tuple[ref.Array, ref.Array]:
    """Elements (P, F) of fp8 and scale codes (P / 8, F / 4) of (P, F)."""
    x = np.asarray(values).astype(dtype)
    p, f = x.shape
    k = Kit("trn3")
    elements = k.empty((p, f // 4), packed)
    scale = k.filled((128, f // 4), 77, "uint8")
    k.b.quantize_mx(dst=elements, src=k.load(x), dst_scale=scale)
    e, s = k.run(elements, scale, numerics=numerics)
    rows = scale_rows(p)
    others = [r for r in range(128) if r not in rows]
    assert (s[others] == 77).all()
    return e.view(np.uint8).view(FP8[packed]).reshape(p, f), s[rows]


def group(**values: float) -> ref.Array:
    """One group of 32, of zeros but for p<partition>_<element>=value."""
    x = np.zeros((32, 4), F32)
    for place, value in values.items():
        p, i = place[1:].split("_")
        x[int(p), int(i)] = value
    return x


DOCUMENTED = [  # behaviours.md 18: largest, packed, code, element
    (448.0, "float8_e4m3fn_x4", 128, 224.0),
    (1.0, "float8_e4m3fn_x4", 120, 128.0),
    (1.9375, "float8_e4m3fn_x4", 120, 256.0),
    (1.0, "float8_e5m2_x4", 113, 16384.0),
    (1.9375, "float8_e5m2_x4", 113, 32768.0),
]


@pytest.mark.parametrize(("a", "packed", "code", "element"), DOCUMENTED)
@pytest.mark.parametrize("place", ["p0_0", "p7_3", "p5_1"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_scale_is_two_to_the_floor_log2_less_emax_less_1(
    a, packed, code, element, place, sign
):
    x = group(**{place: sign * a})
    e, s = quantize(x, packed)
    assert s[:, 0].tolist() == [code, 0, 0, 0]
    assert e.astype(F32)[x != 0].tolist() == [sign * element]
    assert not e.astype(F32)[x == 0].any()


@every_fp8
def test_a_group_of_zeros_has_scale_code_0_and_keeps_signs(packed):
    x = np.zeros((32, 4))
    x[::2] = -0.0
    e, s = quantize(x, packed)
    assert (s == 0).all()
    assert (ref.bits(e) == np.where(np.signbit(x), 0x80, 0)).all()


@every_fp8
def test_a_scale_below_the_smallest_is_clamped(packed):
    # numerics.md 15.14: E >= -127, so elements get smaller, not the scale.
    small = 2.0 ** (-127 + EMAX[packed] - 1)  # E = -127 exactly
    for a, element in ((small, 2.0 ** (EMAX[packed] - 1)),
                       (small / 4, 2.0 ** (EMAX[packed] - 3))):
        e, s = quantize(group(p3_2=a), packed)
        assert s[0, 0] == 0
        assert float(e[3, 2]) == element


def test_subnormal_inputs_have_their_own_logarithm():
    # fp16: 3 * 2^-24, floor(log2) = -23, E = -23 - 7 = -30.
    e, s = quantize(group(p1_1=3 * 2.0**-24), dtype=np.float16)
    assert s[0, 0] == 127 - 30 and float(e[1, 1]) == 3 * 2.0**6
    # bf16: 2^-133, far below: E = -127, element 2^-6.
    e, s = quantize(group(p1_1=2.0**-133))
    assert s[0, 0] == 0 and float(e[1, 1]) == 2.0**-6


def test_elements_round_to_nearest_even():
    # Largest 128 (E = 0): e4m3fn has steps of 1 from 8 to 16 and 8 from 64 on.
    x = group(p0_0=128, p1_0=8.5, p2_0=9.5, p3_0=68, p4_0=76, p5_0=-8.5)
    e, s = quantize(x)
    assert s[0, 0] == 127
    assert e[:6, 0].astype(F32).tolist() == [128, 8, 10, 64, 80, -8]


def test_each_group_has_its_own_scale_in_its_row():
    # Group g, column k holds 2^(g + 4 k), whose code is 120 + g + 4 k.
    x = np.zeros((128, 12))
    for g in range(16):
        for k in range(3):
            x[8 * g + 5, 4 * k + 1] = 2.0 ** (g + 4 * k)
    e, s = quantize(x)
    want = 120 + np.arange(16)[:, None] + 4 * np.arange(3)
    assert s.tolist() == want.tolist()
    assert set(e.astype(F32)[x != 0].tolist()) == {128.0}


def test_scales_are_packed_at_4_8_and_12_and_leave_the_rest_alone():
    k = Kit("trn3")
    scale = k.filled((128, 2), 99, "uint8")
    sources = []
    for i in range(4):
        x = np.zeros((128, 8), BF16)
        x[:, ::4] = 2.0**i
        sources.append(x)
        k.b.quantize_mx(
            dst=k.empty((128, 2), "float8_e4m3fn_x4"), src=k.load(x),
            dst_scale=scale[4 * i :, :],
        )
    out = k.one(scale)
    for p in range(128):
        i, used = p % 32 // 4, p % 32 < 16
        assert out[p].tolist() == [120 + i if used else 99] * 2, p
    assert k.findings == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -np.nan])
@every_fp8
def test_nan_and_infinity_give_scale_255_and_are_reported(bad, packed):
    x = np.ones((32, 8))
    x[9, 5] = bad
    xs = x.astype(BF16)
    k = Kit("trn3")
    elements, scale = k.empty((32, 2), packed), k.empty((4, 2), "uint8")
    k.b.quantize_mx(dst=elements, src=k.load(xs), dst_scale=scale)
    e, s = k.run(elements, scale)
    assert s.tolist() == [[127 - EMAX[packed] + 1] * 2,
                          [127 - EMAX[packed] + 1, 255],
                          *[[127 - EMAX[packed] + 1] * 2] * 2]
    bytes_ = e.view(np.uint8).reshape(32, 8)
    nan = 0x7F if packed == "float8_e4m3fn_x4" else 0x7E
    assert (bytes_[8:16, 4:] == nan).all()
    assert (bytes_ == nan).sum() == 32
    (finding,) = k.findings
    assert (finding.id, finding.severity) == (
        "quantize_mx.not_finite", "warning")
    assert "partition 9, element 5" in finding.message


# The older rule: without the -1, elements clipped (mx_cpu_utils.py:84).
LEGACY = [
    (1.9375, "float8_e4m3fn_x4", 119, 448.0),
    (1.0, "float8_e4m3fn_x4", 119, 256.0),
    (448.0, "float8_e4m3fn_x4", 127, 448.0),
    (1.0, "float8_e5m2_x4", 112, 32768.0),
    (1.9921875, "float8_e5m2_x4", 112, 57344.0),
    (0.0, "float8_e4m3fn_x4", 0, 0.0),
]


@pytest.mark.parametrize(("a", "packed", "code", "element"), LEGACY)
def test_the_older_rule_can_be_chosen(a, packed, code, element):
    e, s = quantize(group(p2_3=a), packed, mx_scale="legacy")
    assert s[0, 0] == code and float(e[2, 3]) == element


# --- nc_matmul_mx -----------------------------------------------------------


def matmul(
    a: ref.Array, b: ref.Array, types: tuple[str, str] = ("float8_e4m3fn_x4",
                                                          "float8_e4m3fn_x4"),
    scales: tuple[Any, Any] = (127, 127), dst: str = "float32",
    offsets: tuple[int, int] = (0, 0), kind: str = "uint8",
    numerics: dict[str, str] | None = None, **more: Any,
) -> ref.Array:
    """Packed a (K, M), b (K, N) with scale codes (K / 8, columns)."""
    k = Kit("trn3")
    views = []
    for data, code, offset in zip((a, b), scales, offsets, strict=True):
        whole = np.zeros((128, data.shape[1]), np.uint8)
        rows = [offset + r for r in scale_rows(len(data))]
        whole[rows] = np.broadcast_to(code, (len(data) // 8, data.shape[1]))
        carrier = np.uint8 if kind == "uint8" else ml_dtypes.float8_e8m0fnu
        views.append(k.load(whole.view(carrier), kind)[offset:])
    bank = k.empty((a.shape[1], b.shape[1]), dst, "psum")
    k.b.nc_matmul_mx(
        dst=bank, stationary=k.load(a, types[0]), moving=k.load(b, types[1]),
        stationary_scale=views[0], moving_scale=views[1], **more,
    )
    return k.one(bank, numerics=numerics or {})


def rows_of(values: ref.Array) -> ref.Array:
    """(P, F, 4) values as (4 P, F) in the order of the chains."""
    p, f, _ = values.shape
    return np.ascontiguousarray(
        values.transpose(0, 2, 1).reshape(4 * p, f).astype(F32)
    )


def fp8(rng: np.random.Generator, shape: tuple[int, ...], packed: str):
    x = rng.standard_normal(shape).astype(FP8[packed])
    return x.astype(F32), pack(x, packed)


@pytest.mark.parametrize("kind", ["uint8", "float8_e8m0fnu"])
def test_ones_with_scales_add_up(kind):
    ones = pack(np.ones((64, 2, 4)), "float8_e4m3fn_x4")
    out = matmul(ones, ones, scales=(128, 124), kind=kind)
    assert out.tolist() == [[64 * 4 * 2 / 8] * 2] * 2


def test_each_scale_belongs_to_8_partitions_of_a_column():
    # Column m of stationary is one group's ones; its scale is 2^group.
    a = np.zeros((128, 16, 4))
    codes = np.zeros((16, 16), np.uint8)
    for g in range(16):
        a[8 * g : 8 * g + 8, g] = 1
        codes[g, g] = 127 + g
    b = np.ones((128, 3, 4))
    out = matmul(pack(a, "float8_e5m2_x4"), pack(b, "float8_e4m3fn_x4"),
                 ("float8_e5m2_x4", "float8_e4m3fn_x4"),
                 (codes, [[127, 128, 129]]))
    want = 32 * 2.0 ** np.arange(16)[:, None] * [1, 2, 4]
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("offsets", [(0, 4), (4, 0), (8, 12), (12, 12)])
def test_scales_at_an_offset_are_found_there(offsets):
    rng = np.random.default_rng(3)
    a, b = (fp8(rng, (96, f, 4), "float8_e4m3fn_x4")[1] for f in (6, 5))
    scales = tuple(rng.integers(120, 135, (12, f)) for f in (6, 5))
    want = matmul(a, b, scales=scales)
    ref.same(matmul(a, b, scales=scales, offsets=offsets), want)


@pytest.mark.parametrize("k", [32, 96, 128])
def test_a_group_of_the_sum_is_32_partitions_with_four_values_each(k):
    # numerics.md 15.15: exact products; the chains of nc_matmul, over the
    # partitions and, in each, its four values.
    rng = np.random.default_rng(4)
    a, pa = fp8(rng, (k, 128, 4), "float8_e4m3fn_x4")
    b, pb = fp8(rng, (k, 300, 4), "float8_e5m2_x4")
    sa, sb = rng.integers(118, 130, (k // 8, 128)), rng.integers(
        125, 131, (k // 8, 300))
    out = matmul(pa, pb, ("float8_e4m3fn_x4", "float8_e5m2_x4"), (sa, sb))
    wa = rows_of(a * np.repeat(2.0 ** (sa - 127.0), 8, 0)[..., None])
    wb = rows_of(b * np.repeat(2.0 ** (sb - 127.0), 8, 0)[..., None])
    want = ref.column(wa, wb, 128)
    ref.same(out, want)
    assert (want != ref.column(wa, wb, 32)).any()
    bf16 = matmul(pa, pb, ("float8_e4m3fn_x4", "float8_e5m2_x4"), (sa, sb),
                  dst="bfloat16")
    ref.same(bf16, ref.cast(want, "bfloat16"))
    chain = matmul(pa, pb, ("float8_e4m3fn_x4", "float8_e5m2_x4"), (sa, sb),
                   numerics={"matmul": "chain"})
    ref.same(chain, ref.chain(wa, wb))


def test_fp4_is_e2m1_with_the_first_value_in_the_low_bits():
    codes = np.zeros((32, 16), np.uint16)
    for m in range(16):
        codes[m, m] = m << (4 * (m % 4))  # partition m, sub-element m % 4
    moving = np.zeros((32, 4, 4))
    for j in range(4):
        moving[:, j, j] = 1  # column j takes sub-element j
    out = matmul(codes, pack(moving, "float8_e4m3fn_x4"),
                 ("float4_e2m1fn_x4", "float8_e4m3fn_x4"))
    want = np.zeros((16, 4), F32)
    for m in range(16):
        want[m, m % 4] = E2M1[m] if m < 8 else -E2M1[m - 8]
    np.testing.assert_array_equal(out, want)


def test_scale_255_is_nan_for_its_group_alone():
    ones = pack(np.ones((32, 2, 4)), "float8_e4m3fn_x4")
    code = np.full((4, 2), 127)
    code[2, 1] = 255
    out = matmul(ones, ones, scales=(code, 127))
    assert (out[0] == 128).all()
    assert (ref.bits(out[1]) == 0x7FC00000).all()
    zeros = pack(np.zeros((32, 2, 4)), "float8_e4m3fn_x4")
    assert np.isnan(matmul(zeros, ones, scales=(code, 127))[1]).all()


def test_a_value_beyond_fp32_still_has_an_exact_product():
    # 2^8 * 2^127 is beyond fp32, times 2^-8 * 2^-127 it is 1.
    big = pack(np.full((32, 2, 4), 256.0), "float8_e4m3fn_x4")
    small = pack(np.full((32, 4, 4), 2.0**-8), "float8_e4m3fn_x4")
    for pair, scales in (((big, small), (254, 0)), ((small, big), (0, 254))):
        out = matmul(*pair, scales=scales)
        assert (out == 128).all()
    assert np.isinf(matmul(big, small, scales=(254, 254))).all()


@pytest.mark.parametrize("high", [0, 1])
@pytest.mark.parametrize("rule", ["silicon", "chain", "exact"])
def test_sums_of_values_beyond_fp32_follow_the_same_rule(rule, high):
    rng = np.random.default_rng(5)
    x = [fp8(rng, (64, f, 4), "float8_e5m2_x4")[1] for f in (4, 5)]
    types = ("float8_e5m2_x4",) * 2
    want = matmul(*x, types, (120, 134), numerics={"matmul": rule})
    scales = (250, 4) if high == 0 else (4, 250)
    out = matmul(*x, types, scales, numerics={"matmul": rule})
    ref.same(out, want)


def test_accumulate_is_that_of_nc_matmul():
    ones = pack(np.ones((32, 2, 4)), "float8_e4m3fn_x4")
    k = Kit("trn3")
    scale = k.filled((4, 2), 127, "uint8")
    data = k.load(ones, "float8_e4m3fn_x4")
    operands = {"stationary": data, "moving": data,
                "stationary_scale": scale, "moving_scale": scale}
    bank, other = (k.empty((2, 2), space="psum") for _ in range(2))
    for _ in range(3):
        k.b.nc_matmul_mx(dst=bank, **operands)
    k.b.memset(dst=other, value=5.0)  # trn3 accumulates onto it
    k.b.nc_matmul_mx(dst=other, accumulate=True, **operands)
    over = k.empty((2, 2), space="psum")
    k.b.nc_matmul_mx(dst=over, **operands)
    k.b.nc_matmul_mx(dst=over, accumulate=False, **operands)
    got = [x[0, 0] for x in k.run(bank, other, over)]
    assert got == [3 * 128, 5 + 128, 128]


def test_a_bfloat16_dst_is_rounded_once_a_matmul():
    # 128 + 128 * 2^-9 = 128.25 is 128 in bf16; four of them stay there.
    ones = pack(np.ones((32, 2, 4)), "float8_e4m3fn_x4")
    k = Kit("trn3")
    data = k.load(ones, "float8_e4m3fn_x4")
    one, small = k.filled((4, 2), 127, "uint8"), k.filled((4, 2), 118, "uint8")
    bank = k.empty((2, 2), "bfloat16", "psum")
    k.b.nc_matmul_mx(dst=bank, stationary=data, moving=data,
                     stationary_scale=one, moving_scale=one)
    for _ in range(4):
        k.b.nc_matmul_mx(dst=bank, stationary=data, moving=data,
                         stationary_scale=one, moving_scale=small)
    assert (k.one(bank).astype(F32) == 128).all()


def test_scale_rows_between_the_used_ones_need_not_be_written():
    k = Kit("trn3")
    x = np.ones((128, 8), BF16)
    packed = k.empty((128, 2), "float8_e4m3fn_x4")
    scale = k.empty((128, 2), "uint8")
    k.b.quantize_mx(dst=packed, src=k.load(x), dst_scale=scale)
    bank = k.empty((2, 2), space="psum")
    k.b.nc_matmul_mx(dst=bank, stationary=packed, moving=packed,
                     stationary_scale=scale, moving_scale=scale)
    assert (k.one(bank) == 512).all()
    assert k.findings == []


@pytest.mark.parametrize("row", [0, 33, 99])
def test_an_unwritten_scale_that_is_used_is_reported(row):
    k = Kit("trn3")
    data = k.load(pack(np.ones((128, 2, 4)), "float8_e4m3fn_x4"),
                  "float8_e4m3fn_x4")
    scale = k.empty((128, 2), "uint8")
    ones = k.input(np.full((128, 2), 127, np.uint8))
    for part in (slice(0, row), slice(row + 1, 128)):
        if part.start < part.stop:
            k.b.dma_copy(dst=scale[part], src=ones[part])
    k.b.nc_matmul_mx(
        dst=k.empty((2, 2), space="psum"), stationary=data, moving=data,
        stationary_scale=k.filled((128, 2), 127, "uint8"), moving_scale=scale,
    )
    with pytest.raises(Exception, match=f"moving_scale.*partition {row} "):
        k.run()


@pytest.mark.parametrize("rows", [32, 64])
def test_row_tiles_multiply_like_the_whole_array(rows):
    rng = np.random.default_rng(6)
    k = Kit("trn3")
    a, b = (fp8(rng, (rows, f, 4), "float8_e4m3fn_x4")[1] for f in (6, 5))
    want = matmul(a, b)
    for start in range(0, 128, rows):
        scale = k.filled((128, 6), 127, "uint8")
        bank = k.empty((6, 5), space="psum")
        k.b.nc_matmul_mx(
            dst=bank, stationary=k.load(a, "float8_e4m3fn_x4", start=start),
            moving=k.load(b, "float8_e4m3fn_x4", start=start),
            stationary_scale=scale[start:], moving_scale=scale[start:],
            tile_position=(start, 0), tile_size=(rows, 128),
        )
        ref.same(k.one(bank), want)
        k = Kit("trn3")


def test_a_quantized_product_is_near_the_true_one():
    rng = np.random.default_rng(7)
    x, y = (rng.standard_normal((128, 4 * f)).astype(BF16) for f in (32, 64))
    k = Kit("trn3")
    tiles = []
    for data in (x, y):
        p = k.empty((128, data.shape[1] // 4), "float8_e4m3fn_x4")
        s = k.empty((128, data.shape[1] // 4), "uint8")
        k.b.quantize_mx(dst=p, src=k.load(data), dst_scale=s)
        tiles.append((p, s))
    bank = k.empty((32, 64), space="psum")
    (p, s), (q, t) = tiles
    k.b.nc_matmul_mx(dst=bank, stationary=p, moving=q, stationary_scale=s,
                     moving_scale=t)
    true = np.einsum("kmj,knj->mn", *(
        d.astype(float).reshape(128, -1, 4) for d in (x, y)))
    error = np.abs(k.one(bank) - true) / np.sqrt(512)
    assert error.max() < 0.2 and error.mean() < 0.05


def packed_scales(offset: int) -> trnemu.Program:
    """A matmul reads scales at offset 0, then others are written beside."""
    k = Kit("trn3")
    x = k.load(np.ones((128, 16), BF16))
    both = k.empty((128, 4), "uint8")
    a, b = (k.empty((128, 4), "float8_e4m3fn_x4") for _ in "ab")
    k.b.quantize_mx(dst=a, src=x, dst_scale=both)
    k.b.nc_matmul_mx(
        dst=k.empty((4, 4), space="psum"), stationary=a, moving=a,
        stationary_scale=both, moving_scale=both, tile_position=(0, 0),
        tile_size=(128, 128), accumulate=False,
    )
    k.b.quantize_mx(dst=b, src=x, dst_scale=both[offset:])
    return k.build()


def test_scales_beside_scales_in_use_are_written_without_waiting():
    waits = [
        [line for line in packed_scales(offset).to_text().splitlines()
         if "QuantizeMx" in line][-1].count(" wait ")
        for offset in (0, 4)
    ]
    assert waits == [1, 0]


def test_mx_programs_are_read_back_as_they_were_written():
    text = packed_scales(4).to_text()
    again = trnemu.Program.from_text(text)
    assert again.to_text() == text and again.verify() == []
