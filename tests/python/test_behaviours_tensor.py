"""Behaviours that users trip over, of the tensor engine and its formats.

Rows 18, 38 and 41 of shared/cases/behaviours.md; and what must raise no alarm.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import reference as ref
import trnemu
from kit import TARGETS, Kit
from test_behaviours import refusal, says

F32 = np.float32
BF16 = ml_dtypes.bfloat16


# --- 18: the scale of quantize_mx, and scales beside scales ------------------

ROW_18 = [  # largest of the group, rule, scale code, element, dequantized
    (448.0, "current", 128, 224.0, 448.0),
    (1.0, "current", 120, 128.0, 1.0),
    (1.9375, "current", 120, 256.0, 2.0),
    (1.9375, "legacy", 119, 448.0, 1.75),
    (0.0, "current", 0, 0.0, 0.0),
]


@pytest.mark.parametrize(("a", "rule", "code", "element", "back"), ROW_18)
def test_row_18_the_scale_is_twice_that_of_the_ocp_sample(
    a, rule, code, element, back
):
    x = np.zeros((32, 4), BF16)
    x[2, 1] = a
    k = Kit("trn3")
    packed = k.empty((32, 1), "float8_e4m3fn_x4")
    scale = k.empty((4, 1), "uint8")
    k.b.quantize_mx(dst=packed, src=k.load(x), dst_scale=scale)
    e, s = k.run(packed, scale, numerics={"mx_scale": rule})
    elements = e.view(ml_dtypes.float8_e4m3fn).reshape(32, 4).astype(F32)
    assert s[0, 0] == code
    assert elements[2, 1] == element
    assert elements[2, 1] * 2.0 ** (code - 127) == back
    assert k.findings == []


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
def test_row_18_bytes_outside_the_scale_slice_are_unchanged(offset):
    k = Kit("trn3")
    guard = k.filled((128, 6), 201, "uint8")
    x = np.ones((64, 8), BF16)
    k.b.quantize_mx(
        dst=k.empty((64, 2), "float8_e5m2_x4"), src=k.load(x),
        dst_scale=guard[offset:, 3:5],
    )
    out = k.one(guard)
    want = np.full((128, 6), 201)
    for q in (0, 32):
        want[q + offset : q + offset + 4, 3:5] = 113
    np.testing.assert_array_equal(out, want)


def test_row_18_quantize_mx_is_of_trn3():
    for target in ("trn1", "trn2"):
        k = Kit(target)
        fault = refusal(lambda k=k: k.b.quantize_mx(
            dst=k.empty((32, 1), "float8_e4m3fn_x4"),
            src=k.empty((32, 4), "bfloat16"),
            dst_scale=k.empty((4, 1), "uint8"),
        ))
        says(fault, "trn3", target)


@pytest.mark.parametrize("offset", [4, 8, 12])
def test_scales_packed_at_4_8_and_12_raise_no_alarm(offset):
    """As public kernels do: two scale tensors in one tile, views that reach
    to its end."""
    k = Kit("trn3")
    both = k.empty((128, 8), "uint8")
    x = k.load(np.ones((128, 16), BF16))
    y = k.load(np.full((128, 32), 2, BF16))
    a, b = (k.empty((128, f), "float8_e4m3fn_x4") for f in (4, 8))
    k.b.quantize_mx(dst=a, src=x, dst_scale=both[0:, :4])
    k.b.quantize_mx(dst=b, src=y, dst_scale=both[offset:, :])
    bank = k.empty((4, 8), "bfloat16", "psum")
    k.b.nc_matmul_mx(
        dst=bank, stationary=a, moving=b, stationary_scale=both[0:, :4],
        moving_scale=both[offset:, :],
    )
    assert (k.one(bank).astype(F32) == 1024).all()
    assert k.findings == []


# --- 38: what a matmul takes on each generation -----------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3",
                                   "float32"])
def test_row_38_trn1_transposes_into_a_float32_psum_tile(dtype):
    x = ref.moderate(dtype, (48, 32), 1)
    eye = np.eye(48, dtype=ref.carrier(dtype))
    want = np.ascontiguousarray(ref.widen(x, dtype).T)
    k = Kit("trn1")
    one, two = (k.empty((32, 48), space="psum") for _ in range(2))
    data = k.load(x, dtype)
    k.b.nc_transpose(dst=one, data=data, engine="tensor")
    k.b.nc_matmul(dst=two, stationary=data, moving=k.load(eye, dtype),
                  is_transpose=True)
    for out in k.run(one, two):
        np.testing.assert_array_equal(out, want)
    assert k.findings == []


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_row_38_a_transpose_may_keep_16_bits_in_psum(target, dtype):
    x = ref.samples(dtype, (48, 32), 2)
    k = Kit(target)
    t = k.empty((32, 48), dtype, "psum")
    k.b.nc_matmul(
        dst=t, stationary=k.load(x, dtype),
        moving=k.load(np.eye(48, dtype=ref.carrier(dtype)), dtype),
        is_transpose=True,
    )
    np.testing.assert_array_equal(ref.bits(k.one(t)), ref.bits(x).T)
    assert k.findings == []


def test_row_38_bf16_psum_rounds_once_a_matmul_and_adds_in_fp32():
    # 256 + 1 = 257 is 256 in bf16, ties to even; 256 + 3 = 259 is 260.
    k = Kit("trn3")
    st = k.filled((1, 2), 1.0, "bfloat16")
    bank = k.empty((2, 3), "bfloat16", "psum")
    for value in (256, 1, 1, 3):
        k.b.nc_matmul(dst=bank, stationary=st,
                      moving=k.filled((1, 3), value, "bfloat16"))
    assert (k.one(bank).astype(F32) == 260).all()


def test_row_38_accumulate_none_is_decided_for_each_element():
    """Columns 0 to 3 were a matmul's, 4 to 7 a memset's."""
    for target in TARGETS:
        k = Kit(target)
        bank = k.empty((2, 8), space="psum")
        st = k.filled((4, 2), 1.0, "bfloat16")
        k.b.memset(dst=bank, value=100.0)
        k.b.nc_matmul(dst=bank[:, :4], stationary=st,
                      moving=k.filled((4, 4), 1.0, "bfloat16"))
        k.b.nc_matmul(dst=bank, stationary=st,
                      moving=k.filled((4, 8), 1.0, "bfloat16"))
        assert k.one(bank).tolist() == [[8] * 4 + [4] * 4] * 2


# --- 41: double_row ---------------------------------------------------------


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("pair", [("float8_e4m3", "float8_e4m3"),
                                  ("float8_e4m3", "float8_e5m2")])
def test_row_41_double_row_contracts_256_rows(target, pair):
    k = Kit(target)
    bank = k.empty((1, 3), space="psum")
    k.b.nc_matmul(
        dst=bank, stationary=k.filled((128, 2, 1), 1.0, pair[0]),
        moving=k.filled((128, 2, 3), 1.0, pair[1]), perf_mode="double_row",
    )
    out = k.one(bank)
    assert out.shape == (1, 3) and (out == 256).all()
    assert k.findings == []


def test_row_41_double_row_pairs_row_r_with_row_r():
    """x (1, 256) @ y (256, 3), split as the document draws it: the first half
    of the contraction is r = 0, the second r = 1."""
    rng = np.random.default_rng(41)
    x, y = rng.integers(-4, 5, (1, 256)), rng.integers(-4, 5, (256, 3))
    k = Kit()
    bank = k.empty((1, 3), space="psum")

    def halves(t):  # (256, n) -> (128, 2, n)
        return t.reshape(2, 128, -1).transpose(1, 0, 2).astype(
            ml_dtypes.float8_e4m3)

    k.b.nc_matmul(dst=bank, stationary=k.load(halves(x.T)),
                  moving=k.load(halves(y)), perf_mode="double_row")
    np.testing.assert_array_equal(k.one(bank), x @ y)


def test_row_41_double_row_takes_the_time_of_one_matmul_not_of_two():
    """trainium2_arch.rst:97: 256 rows take as long as 128 of bf16."""

    def time(**matmul) -> float:
        k = Kit()
        shape = (128, 2) if matmul else (128,)
        st = k.filled((*shape, 128), 1.0, "float8_e4m3")
        mv = k.filled((*shape, 512), 1.0, "float8_e4m3")
        bank = k.empty((128, 512), space="psum")
        for _ in range(64):
            k.b.nc_matmul(dst=bank, stationary=st, moving=mv, **matmul)
        profile = trnemu.run(k.b.build(), {}).profile
        return profile["engines"]["tensor"]["busy_ns"]

    assert time(perf_mode="double_row") == pytest.approx(time())


# --- tiles of the array -----------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_tiles_of_the_array_run_side_by_side(target):
    """Four matmuls in the four quarters of the array, one after another, into
    one PSUM tile: rows of tiles add up, columns lie below each other."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-3, 4, (128, n)).astype(BF16) for n in (64, 24))
    k = Kit(target)
    st, mv = k.load(a), k.load(b)
    bank = k.empty((128, 24), space="psum")
    for row in (0, 64):
        for column in (0, 64):
            k.b.nc_matmul(
                dst=bank[column : column + 64],
                stationary=st[row : row + 64], moving=mv[row : row + 64],
                tile_position=(row, column), tile_size=(64, 64),
            )
    want = a.astype(int).T @ b.astype(int)
    np.testing.assert_array_equal(k.one(bank), np.vstack([want, want]))
    assert k.findings == []
