"""nc_matmul and the tensor engine's transpose.

The reference is decisions.md's rule in NumPy (reference.py): products exact,
four ascending fp32 chains of 32 rows a column, the groups added in order, one
fp32 add into PSUM a pass; float32 takes two passes. Small integers are checked
against integer arithmetic besides.
"""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import reference as ref
from geometry import WRITABLE
from kit import TARGETS, Kit

F32 = np.float32
NARROW = ("bfloat16", "float16", "float8_e4m3", "float8_e5m2")
PAIRS = [*itertools.product(NARROW, repeat=2), ("tfloat32", "tfloat32")]
GEN4_PAIRS = [
    ("float8_e4m3fn", d) for d in ("float8_e4m3fn", "float8_e5m2", "bfloat16")
]
# (K, M, N): full, partial row groups, single rows and columns.
SIZES = [
    (128, 128, 512), (128, 128, 1), (128, 1, 512), (1, 1, 1), (1, 128, 512),
    (31, 5, 7), (32, 64, 33), (33, 64, 100), (64, 128, 65), (95, 3, 511),
    (97, 127, 13), (127, 32, 128),
]


def normal(dtype: str, shape: tuple[int, ...], seed: int) -> ref.Array:
    x = np.random.default_rng(seed).standard_normal(shape)
    return ref.cast(x.astype(F32), dtype)


def matmul(
    a: ref.Array, b: ref.Array, dtypes: tuple[str, str], target: str = "trn2",
    dst: str = "float32", **options,
) -> ref.Array:
    k = Kit(target)
    bank = k.empty((a.shape[-1], b.shape[-1]), dst, "psum")
    k.b.nc_matmul(
        dst=bank, stationary=k.load(a, dtypes[0]),
        moving=k.load(b, dtypes[1]), **options,
    )
    return k.one(bank)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_float32_is_the_two_pass_rule(size, target):
    k, m, n = size
    a, b = normal("float32", (k, m), 1), normal("float32", (k, n), 2)
    out = matmul(a, b, ("float32", "float32"), target)
    ref.same(out, ref.fp32_matmul(a, b))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_bfloat16_is_the_one_pass_rule(size, target):
    k, m, n = size
    a, b = normal("bfloat16", (k, m), 1), normal("bfloat16", (k, n), 2)
    out = matmul(a, b, ("bfloat16", "bfloat16"), target)
    ref.same(out, ref.column(ref.widen(a), ref.widen(b)))


@pytest.mark.parametrize("size", [(128, 128, 512), (97, 50, 31)], ids=str)
@pytest.mark.parametrize("dtypes", PAIRS + GEN4_PAIRS, ids="-".join)
def test_every_pair_of_narrow_dtypes_is_exact_products_in_one_pass(
    dtypes, size
):
    k, m, n = size
    a, b = normal(dtypes[0], (k, m), 3), normal(dtypes[1], (k, n), 4)
    want = ref.column(ref.widen(a, dtypes[0]), ref.widen(b, dtypes[1]))
    legal = ("trn3",) if "float8_e4m3fn" in dtypes else TARGETS
    for target in legal:
        ref.same(matmul(a, b, dtypes, target), want, target)


@pytest.mark.parametrize("dtypes", [("float32", "tfloat32"),
                                    ("tfloat32", "float32")], ids="-".join)
def test_a_float32_with_a_tfloat32_multiplies_as_float32(dtypes):
    a, b = normal(dtypes[0], (128, 64), 5), normal(dtypes[1], (128, 100), 6)
    ref.same(matmul(a, b, dtypes), ref.fp32_matmul(a, b))


def test_tfloat32_operands_are_rounded_to_10_bits_when_read():
    a = np.array([[1 + 2.0**-11 + 2.0**-12]], F32)  # becomes 1 + 2^-10
    b = np.array([[1 + 2.0**-11]], F32)  # a tie: becomes 1
    out = matmul(a, b, ("tfloat32", "tfloat32"))
    assert out[0, 0] == 1 + 2.0**-10


@pytest.mark.parametrize("dtype", [*NARROW, "tfloat32", "float32"])
def test_small_integers_multiply_like_integers(dtype):
    rng = np.random.default_rng(7)
    a, b = rng.integers(-8, 9, (128, 100)), rng.integers(-8, 9, (128, 300))
    out = matmul(
        a.astype(ref.carrier(dtype)), b.astype(ref.carrier(dtype)),
        (dtype, dtype),
    )
    np.testing.assert_array_equal(out, a.T @ b)


@pytest.mark.parametrize("dtype", [*NARROW, "tfloat32"])
def test_products_of_any_exponents_are_exact(dtype):
    # One row: the result is the product, rounded once by the cast to fp32.
    a = ref.samples(dtype, (1, 128), 8)
    b = ref.samples(dtype, (1, 512), 9)
    fa, fb = ref.widen(a, dtype), ref.widen(b, dtype)
    want = (fa.T.astype(np.float64) * fb.astype(np.float64)).astype(F32)
    np.testing.assert_array_equal(matmul(a, b, (dtype, dtype)), want)


def test_the_row_groups_are_chains_of_32_added_in_order():
    # Row 0 holds 2^24, the others 1 (bf16). In its own chain each 1 is lost
    # against 2^24; the other groups sum to 32 first and then count.
    ones = np.ones((128, 1), ml_dtypes.bfloat16)
    b = ones.copy()
    b[0] = 2.0**24
    assert matmul(ones, b, ("bfloat16",) * 2)[0, 0] == 2**24 + 96
    b = ones.copy()
    b[127] = 2.0**24  # last in its chain: 31 + 2^24 rounds to even
    assert matmul(ones, b, ("bfloat16",) * 2)[0, 0] == 2**24 + 128


@pytest.mark.parametrize("rule", ["silicon", "chain", "exact"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_the_rule_can_be_chosen(dtype, rule):
    a, b = normal(dtype, (128, 60), 10), normal(dtype, (128, 70), 11)
    fa, fb = ref.widen(a), ref.widen(b)
    want = {
        "silicon": lambda: ref.fp32_matmul(fa, fb) if dtype == "float32"
        else ref.column(fa, fb),
        "chain": lambda: ref.chain(fa, fb),
        "exact": lambda: (fa.T.astype(ref.LONG) @ fb.astype(ref.LONG)).astype(
            F32
        ),
    }[rule]()
    k = Kit()
    bank = k.empty((60, 70), space="psum")
    k.b.nc_matmul(dst=bank, stationary=k.load(a), moving=k.load(b))
    ref.same(k.one(bank, numerics={"matmul": rule}), want)


# --- accumulation -----------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("accumulate", [None, True])
def test_matmuls_add_up_in_psum_in_fp32(dtype, accumulate):
    a, b = normal(dtype, (5, 128, 40), 12), normal(dtype, (5, 128, 90), 13)
    k = Kit()
    bank = k.empty((40, 90), space="psum")
    for i in range(5):
        k.b.nc_matmul(
            dst=bank, stationary=k.load(a[i]), moving=k.load(b[i]),
            accumulate=accumulate if i else None,
        )
    total = None
    for i in range(5):
        fa, fb = ref.widen(a[i]), ref.widen(b[i])
        passes = (
            ref.fp32_passes(fa, fb) if dtype == "float32"
            else [ref.column(fa, fb)]
        )
        for part in passes:
            total = part if total is None else total + part
    ref.same(k.one(bank), total)


def test_accumulate_false_overwrites_and_none_starts_afresh_per_allocation():
    one = np.ones((32, 4), ml_dtypes.bfloat16)
    k = Kit()
    t = k.load(one)
    banks = [k.empty((4, 4), space="psum") for _ in range(2)]
    for bank in banks:
        for accumulate in (None, False, None):
            k.b.nc_matmul(
                dst=bank, stationary=t, moving=t, accumulate=accumulate
            )
    for out in k.run(*banks):
        assert (out == 64).all()


def test_none_overwrites_what_another_instruction_wrote_element_by_element():
    one = np.ones((32, 4), ml_dtypes.bfloat16)
    k = Kit()
    t, bank = k.load(one), k.empty((4, 8), space="psum")
    k.b.nc_matmul(dst=bank[:, :4], stationary=t, moving=t)
    k.b.memset(dst=bank[:, 4:], value=5.0)
    wide = k.load(np.ones((32, 8), ml_dtypes.bfloat16))
    k.b.nc_matmul(dst=bank, stationary=t, moving=wide)
    assert k.one(bank).tolist() == [[64] * 4 + [32] * 4] * 4


def test_overlapping_regions_accumulate_where_they_overlap():
    one = np.ones((32, 4), ml_dtypes.bfloat16)
    k = Kit()
    t, bank = k.load(one), k.empty((4, 6), space="psum")
    for at in (0, 1, 2):
        k.b.nc_matmul(dst=bank[:, at:at + 4], stationary=t, moving=t)
    assert k.one(bank).tolist() == [[32, 64, 96, 96, 64, 32]] * 4


def test_a_bfloat16_psum_rounds_once_a_matmul_on_trn3():
    a, b = normal("bfloat16", (3, 128, 40), 14), normal(
        "bfloat16", (3, 128, 90), 15
    )
    k = Kit("trn3")
    bank = k.empty((40, 90), "bfloat16", "psum")
    for i in range(3):
        k.b.nc_matmul(dst=bank, stationary=k.load(a[i]), moving=k.load(b[i]))
    total = np.zeros((40, 90), F32)
    for i in range(3):
        part = total + ref.column(ref.widen(a[i]), ref.widen(b[i]))
        total = ref.widen(ref.cast(part, "bfloat16"))
    ref.same(k.one(bank), ref.cast(total, "bfloat16"))


@pytest.mark.parametrize(("dtype", "n"), [("float32", 4096),
                                          ("bfloat16", 8192)])
def test_trn3_writes_all_eight_banks_at_once(dtype, n):
    a, b = normal("bfloat16", (16, 8), 16), normal("bfloat16", (16, n), 17)
    out = matmul(a, b, ("bfloat16",) * 2, "trn3", dtype)
    ref.same(out, ref.cast(ref.column(ref.widen(a), ref.widen(b)), dtype))


# --- where operands lie -----------------------------------------------------


@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_operands_and_dst_are_seen_through_views(look):
    shape = look.array(np.empty((64, *look.free))).shape
    n = int(np.prod(shape[1:]))
    a = normal("bfloat16", (64, *look.free), 18)
    b = normal("bfloat16", (64, *look.free), 19)
    k = Kit()
    whole = k.empty((n, *look.free), space="psum")
    k.b.memset(dst=whole, value=77.0)
    k.b.nc_matmul(
        dst=look.view(whole), stationary=look.view(k.load(a)),
        moving=look.view(k.load(b)),
    )
    want = np.full((n, *look.free), 77, F32)
    fa, fb = (
        ref.widen(np.ascontiguousarray(look.array(x))).reshape(64, n)
        for x in (a, b)
    )
    look.array(want)[...] = ref.column(fa, fb).reshape(n, *shape[1:])
    ref.same(k.one(whole), want)


@pytest.mark.parametrize("place", [(0, 20), (32, 32), (64, 64), (96, 17)])
def test_operands_may_start_at_any_legal_partition(place):
    start, rows = place
    a, b = normal("bfloat16", (rows, 30), 18), normal(
        "bfloat16", (rows, 40), 19
    )
    k = Kit()
    bank = k.empty((30, 40), space="psum")
    k.b.nc_matmul(
        dst=bank, stationary=k.load(a, start=start),
        moving=k.load(b, start=start),
    )
    ref.same(k.one(bank), ref.column(ref.widen(a), ref.widen(b)))


TILES = [  # (target, tile size, tile position)
    (target, size, position)
    for target in TARGETS
    for size in itertools.product(
        (64, 128) if target == "trn1" else (32, 64, 128), repeat=2
    )
    for position in itertools.product(
        range(0, 129 - size[0], size[0]), range(0, 129 - size[1], size[1])
    )
]


@pytest.mark.parametrize("case", TILES, ids=str)
def test_a_tile_of_the_array_gives_the_same_values(case):
    target, (rows, columns), (row, column) = case
    a, b = normal("bfloat16", (rows, columns), 20), normal(
        "bfloat16", (rows, 24), 21
    )
    k = Kit(target)
    bank = k.empty((columns, 24), space="psum", start=column)
    k.b.nc_matmul(
        dst=bank, stationary=k.load(a, start=row), moving=k.load(b, start=row),
        tile_size=(rows, columns), tile_position=(row, column),
    )
    ref.same(k.one(bank), ref.column(ref.widen(a), ref.widen(b)))


def double_row(
    a: ref.Array, b: ref.Array, target: str = "trn2"
) -> ref.Array:
    k = Kit(target)
    bank = k.empty((a.shape[-1], b.shape[-1]), space="psum")
    k.b.nc_matmul(
        dst=bank, stationary=k.load(a), moving=k.load(b),
        perf_mode="double_row",
    )
    return k.one(bank)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("rows", [1, 16, 33, 128])
def test_double_row_contracts_over_two_rows_a_partition(rows, target):
    rng = np.random.default_rng(22)  # small integers: exact in any order
    a = rng.integers(-8, 9, (rows, 2, 30))
    b = rng.integers(-8, 9, (rows, 2, 50))
    out = double_row(
        a.astype(ml_dtypes.float8_e4m3), b.astype(ml_dtypes.float8_e5m2),
        target,
    )
    b = b.astype(ml_dtypes.float8_e5m2).astype(int)
    np.testing.assert_array_equal(out, np.einsum("krm,krn->mn", a, b))


def test_double_row_of_ones_gives_256():
    ones = np.ones((128, 2, 3), ml_dtypes.float8_e4m3)
    assert double_row(ones[..., :1], ones).tolist() == [[256] * 3]


@pytest.mark.parametrize("rows", [1, 31, 32, 33, 100, 128])
def test_double_row_sums_32_partitions_first_row_0_then_row_1(rows):
    # decisions.md: logical row r * K + k, 32 physical rows a group.
    rng = np.random.default_rng(30)  # of many sizes: sums are rounded
    a, b = (
        ref.cast((rng.standard_normal((rows, 2, n)) * 2.0 ** rng.integers(
            -7, 8, (rows, 2, n))).astype(F32), dtype)
        for n, dtype in ((40, "float8_e4m3"), (70, "float8_e5m2"))
    )
    fa, fb = ref.widen(a), ref.widen(b)
    order = [
        (k, r) for first in range(0, rows, 32) for r in range(2)
        for k in range(first, min(first + 32, rows))
    ]
    k, r = np.array(order).T
    want = ref.column(fa[k, r], fb[k, r], 64)
    ref.same(double_row(a, b), want)
    pairs = ref.column(fa.reshape(-1, 40), fb.reshape(-1, 70), 64)
    assert rows == 1 or (want != pairs).any()


def test_double_row_in_a_row_tile_seen_through_views():
    a, b = normal("float8_e4m3", (64, 2, 9), 32), normal(
        "float8_e4m3", (64, 2, 11), 33
    )
    k = Kit()
    wide = [k.load(np.repeat(x, 3, 2), start=64) for x in (a, b)]
    bank = k.empty((9, 11), space="psum")
    k.b.nc_matmul(
        dst=bank, stationary=wide[0][..., ::3], moving=wide[1][..., ::3],
        perf_mode="double_row", tile_position=(64, 0), tile_size=(64, 128),
    )
    ref.same(k.one(bank), double_row(a, b))


@pytest.mark.parametrize("hint", ["is_stationary_onezero", "is_moving_onezero"])
def test_onezero_hints_change_no_value(hint):
    rng = np.random.default_rng(24)
    zero_one = rng.integers(0, 2, (128, 64)).astype(F32)
    a, b = zero_one, normal("float32", (128, 64), 25)
    if hint == "is_moving_onezero":
        a, b = b, a
    out = matmul(a, b, ("float32",) * 2, **{hint: True})
    ref.same(out, ref.fp32_matmul(a, b))


# --- NaN and infinity -------------------------------------------------------


def test_nan_and_infinity_follow_ieee_in_a_column():
    a = np.ones((4, 1), ml_dtypes.bfloat16)
    columns = {
        (np.inf, 1, 1, 1): np.inf, (np.inf, -np.inf, 1, 1): np.nan,
        (np.nan, 0, 0, 0): np.nan, (3e38, 3e38, -3e38, 0): np.inf,
        (0, 0, 0, 0): 0.0,
    }
    b = np.array([*columns], F32).T.astype(ml_dtypes.bfloat16)
    out = matmul(a, b, ("bfloat16",) * 2)
    np.testing.assert_array_equal(out[0], np.array([*columns.values()], F32))
    assert ref.bits(out)[0, 2] == 0x7FC00000


def test_an_infinity_in_float32_meets_the_lo_half_of_0():
    a = np.array([[np.inf]], F32)
    b = np.array([[2.0]], F32)  # lo half 0: infinity times 0 is NaN
    assert np.isnan(matmul(a, b, ("float32",) * 2)[0, 0])


# --- transposes of the tensor engine ----------------------------------------

ON_PE = ("bfloat16", "float16", "float32", "tfloat32")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ON_PE)
@pytest.mark.parametrize("shape", [(128, 128), (1, 128), (128, 1), (33, 70)])
def test_from_trn2_on_a_transpose_moves_bits(shape, dtype, target):
    source = ref.samples(dtype, shape, 26)
    k = Kit(target)
    t = k.empty(shape[::-1], dtype, "psum")
    k.b.nc_transpose(dst=t, data=k.load(source, dtype), engine="tensor")
    want = np.ascontiguousarray(source.T)
    np.testing.assert_array_equal(ref.bits(k.one(t)), ref.bits(want))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["float8_e4m3", "float8_e5m2",
                                   "float8_e4m3fn"])
def test_8_bit_floats_land_zero_extended_in_16_bits(dtype, target):
    source = ref.samples(dtype, (64, 50), 27)
    for wide in ("bfloat16", "float16"):
        k = Kit(target)
        t = k.empty((50, 64), wide, "psum")
        k.b.nc_transpose(dst=t, data=k.load(source), engine="tensor")
        want = ref.bits(source).T.astype(np.uint16)
        np.testing.assert_array_equal(ref.bits(k.one(t)), want)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3",
                                   "float8_e5m2", "tfloat32", "float32"])
def test_on_trn1_a_transpose_is_exact_for_finite_values_in_fp32(dtype):
    source = ref.moderate(dtype, (100, 128), 28)
    k = Kit("trn1")
    t = k.empty((128, 100), "float32", "psum")
    k.b.nc_transpose(dst=t, data=k.load(source, dtype), engine="tensor")
    want = np.ascontiguousarray(ref.widen(source, dtype).T)
    np.testing.assert_array_equal(k.one(t), want)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_is_transpose_passes_the_bits_of_stationary_through(dtype, target):
    source = ref.samples(dtype, (64, 96), 29)
    k = Kit(target)
    t = k.empty((96, 64), dtype, "psum")
    k.b.nc_matmul(
        dst=t, stationary=k.load(source, dtype),
        moving=k.load(np.eye(64).astype(ref.carrier(dtype)), dtype),
        is_transpose=True,
    )
    want = np.ascontiguousarray(source.T)
    np.testing.assert_array_equal(ref.bits(k.one(t)), ref.bits(want))
