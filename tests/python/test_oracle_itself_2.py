"""The reference against values worked by hand or printed in documents:
tensor engine, MX, gpsimd, DMA, random numbers, cores.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import reference as ref
from oracle import cores, dma, gpsimd, mx, random_numbers, tensor
from oracle.types import State, T

F32 = np.float32
BF16 = ml_dtypes.bfloat16


def tile(values: Any, dtype: str = "float32", **where: Any) -> T:
    array = np.asarray(values)
    if array.dtype != ref.carrier(dtype):
        array = array.astype(ref.carrier(dtype))
    return T(array, dtype, **where)


def zeros(shape: tuple[int, ...], dtype: str = "float32", **where: Any) -> T:
    return tile(np.zeros(shape, ref.carrier(dtype)), dtype, **where)


def matmul(a: T, b: T, gen: int = 3, **options: Any) -> ref.Array:
    m, n = a.values.shape[-1], b.values.shape[-1]
    options.setdefault("dst", zeros((m, n), space="psum"))
    return tensor.nc_matmul(
        gen, State(), stationary=a, moving=b, **options
    )["dst"]


# --- tensor engine ----------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "shape", "error"),
    [(3, (128, 64, 512), 3 / 2**17), (4, (128, 128, 512), 7 / 2**18)],
)
def test_fp32_has_the_largest_error_that_silicon_shows(seed, shape, error):
    # decisions.md, table of fingerprints; one tile of 128 over K.
    k, m, n = shape
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((k, m)).astype(F32)
    b = rng.standard_normal((k, n)).astype(F32)
    difference = matmul(tile(a), tile(b)) - ref.chain(a, b)
    assert np.abs(difference).max() == error


@pytest.mark.parametrize(("row", "total"), [(0, 96), (31, 128), (32, 96)])
def test_a_chain_is_32_rows_and_groups_are_added_in_order(row, total):
    # 2^24 swallows single ones behind it in its chain (ties to even); 31 ones
    # before it in its chain sum first: 2^24 + 31 is a tie, to 2^24 + 32.
    # Row 32: the other groups' 32s add to 2^24 exactly.
    b = np.ones((128, 1))
    b[row] = 2.0**24
    out = matmul(tile(np.ones((128, 1)), "bfloat16"), tile(b, "bfloat16"))
    assert out[0, 0] == 2**24 + total


def test_double_row_keeps_32_physical_rows_a_group_and_r_0_before_r_1():
    # All in one group of 2 * 32 products. e5m2 holds 2^12; 2^12 * 2^12 = 2^24
    # at logical row 32 (k 0, r 1) comes after the 32 ones of r 0 and before
    # the 31 left of r 1, which it swallows: 2^24 + 32. Were r inside k, only
    # the one of (0, 0) came before it: 2^24 + 1 is a tie, to 2^24.
    a, b = np.ones((32, 2, 1)), np.ones((32, 2, 1))
    a[0, 1], b[0, 1] = 2.0**12, 2.0**12
    out = matmul(
        tile(a, "float8_e5m2"), tile(b, "float8_e5m2"), perf_mode="double_row"
    )
    assert out[0, 0] == 2**24 + 32


def test_double_row_of_ones_gives_256():  # behaviours.md 41
    out = matmul(
        tile(np.ones((128, 2, 1)), "float8_e4m3"),
        tile(np.ones((128, 2, 3)), "float8_e4m3"), perf_mode="double_row",
    )
    assert out.tolist() == [[256] * 3]


def test_tfloat32_operands_round_to_10_bits():
    a = tile([[1 + 2.0**-11 + 2.0**-12]], "tfloat32")  # becomes 1 + 2^-10
    b = tile([[1 + 2.0**-11]], "tfloat32")  # a tie: becomes 1
    assert matmul(a, b)[0, 0] == 1 + 2.0**-10


def test_accumulate_none_adds_only_where_a_matmul_wrote_last():
    one = tile(np.ones((2, 3)), "bfloat16")
    bank = tile(np.full((3, 3), 10), space="psum")
    bank.by_matmul = np.eye(3, dtype=bool)
    want = [[12, 2, 2], [2, 12, 2], [2, 2, 12]]
    assert matmul(one, one, dst=bank).tolist() == want
    assert bank.by_matmul.all()
    for accumulate, value in ((False, 2), (True, 12)):
        bank.by_matmul = np.eye(3, dtype=bool)
        out = matmul(one, one, dst=bank, accumulate=accumulate)
        assert (out == value).all()


def test_a_bfloat16_psum_rounds_once_a_matmul():
    # 256 + 1 = 257 in fp32, a tie in bf16 (8 bits): 256.
    bank = tile([[256]], "bfloat16", space="psum")
    one = tile([[1]], "bfloat16")
    out = matmul(one, one, 4, dst=bank, accumulate=True)
    assert out.dtype == BF16 and out[0, 0] == 256


@pytest.mark.parametrize("gen", [3, 4])
def test_is_transpose_passes_bits_and_8_bits_land_in_16(gen):
    source = np.array([[1, np.nan], [-np.inf, -0.0]], ml_dtypes.float8_e4m3)
    bank = zeros((2, 2), "bfloat16", space="psum")
    out = matmul(
        tile(source, "float8_e4m3"), tile(np.eye(2), "float8_e4m3"), gen,
        dst=bank, is_transpose=True,
    )
    want = source.T.copy().view(np.uint8).astype(np.uint16)
    np.testing.assert_array_equal(out.view(np.uint16), want)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_transpose_spreads_nan_and_infinity_on_gen2_only(dtype):
    # behaviours.md 5
    for special, spread in ((np.nan, np.nan), (np.inf, np.inf)):
        data = tile([[1, special], [3, 4]], dtype)
        out = tensor.nc_transpose(
            2, State(), dst=zeros((2, 2), space="psum"), data=data
        )["dst"]
        np.testing.assert_array_equal(out, [[1, 3], [spread, np.nan]])
        out = tensor.nc_transpose(
            3, State(), dst=zeros((2, 2), dtype, space="psum"), data=data
        )["dst"]
        np.testing.assert_array_equal(out.astype(F32), [[1, 3], [special, 4]])


def test_partition_reductions_go_down_the_partitions_in_fp32():
    column = tile([[2.0**24, 1, 6], [1, 5, -6], [1, 3, 1]])
    for op, want in {
        "add": [2.0**24, 9, 1],  # 2^24 + 1 is a tie, twice
        "average": [F32(2.0**24) / F32(3), 3, F32(1) / F32(3)],
        "maximum": [2.0**24, 5, 6],
    }.items():
        out = tensor.tensor_partition_reduce(
            3, State(), dst=zeros((1, 3)), op=op, data=column
        )["dst"]
        np.testing.assert_array_equal(out, np.array([want], F32))
    codes = tile([[0b1100], [0b1010]], "uint8")
    for op, code in (("bitwise_and", 0b1000), ("bitwise_or", 0b1110)):
        out = tensor.tensor_partition_reduce(
            3, State(), dst=zeros((1, 1), "uint8"), op=op, data=codes
        )["dst"]
        assert out.tolist() == [[code]]


# --- MX ---------------------------------------------------------------------


def quantize(largest: float, dtype: str = "float8_e4m3fn_x4") -> Any:
    """Element 0 (largest) and the scale byte of a group with one value."""
    src = np.zeros((32, 4), BF16)
    src[3, 0] = largest
    out = mx.quantize_mx(
        4, State(), dst=zeros((32, 1), dtype), src=tile(src, "bfloat16"),
        dst_scale=tile(np.full((4, 1), 77), "uint8"),
    )
    assert out["dst_scale"][1:].tolist() == [[0]] * 3  # all-zero groups
    element = mx.unpack(out["dst"], dtype)[3, 0, 0]
    return int(out["dst_scale"][0, 0]), float(element)


def test_quantize_mx_gives_the_documented_scales_and_elements():
    # behaviours.md 18 and numerics.md 6
    assert quantize(448.0) == (128, 224.0)
    assert quantize(1.0) == (120, 128.0)
    assert quantize(1.9375) == (120, 256.0)
    assert quantize(1.99) == (120, 256.0)  # bf16 1.9921875: 255 rounds to 256
    assert quantize(0.0) == (0, 0.0)
    assert quantize(1.0, "float8_e5m2_x4") == (113, 16384.0)
    assert quantize(2.0**-130) == (0, 2.0**-3)  # clamped: times 2^127


def test_quantize_mx_leaves_the_scale_rows_between_quadrants_alone():
    out = mx.quantize_mx(
        4, State(), dst=zeros((64, 1), "float8_e4m3fn_x4"),
        src=tile(np.ones((64, 4)), "bfloat16"),
        dst_scale=tile(np.full((40, 1), 77), "uint8"),
    )
    scales = out["dst_scale"][:, 0].tolist()
    assert scales == [120] * 4 + [77] * 28 + [120] * 4 + [77] * 4
    assert (out["dst"] == 0x70707070).all()  # 128 = 2^7: exponent field 14


def test_packed_elements_are_low_bits_first():
    assert mx.unpack(np.uint16([0x9F20]), "float4_e2m1fn_x4").tolist() == [
        [0, 1, -6, -0.5]
    ]
    assert mx.unpack(np.uint32([0xB8003840]), "float8_e4m3fn_x4").tolist() == [
        [2, 1, 0, -1]
    ]


def test_an_mx_matmul_scales_each_group_of_8_partitions():
    # 32 partitions x 4 elements of 1 (fp4 code 2) times 1 (e4m3fn 0x38):
    # each scale row serves 8 partitions, 32 products.
    a = tile(np.full((32, 2), 0x2222), "float4_e2m1fn_x4")
    b = tile(np.full((32, 1), 0x38383838), "float8_e4m3fn_x4")
    a_scale = tile([[127, 128], [127, 128], [127, 128], [128, 128]], "uint8")
    b_scale = tile([[127], [126], [130], [127]], "uint8")
    out = mx.nc_matmul_mx(
        4, State(), dst=zeros((2, 1), space="psum"), stationary=a, moving=b,
        stationary_scale=a_scale, moving_scale=b_scale,
    )["dst"]
    # 32 * (1 + 1/2 + 8 + 2), and twice 32 * (1 + 1/2 + 8 + 1)
    assert out.tolist() == [[368], [672]]


def test_a_scale_of_255_is_nan():
    a = tile(np.full((32, 1), 0x2222), "float4_e2m1fn_x4")
    scale = tile([[127], [127], [255], [127]], "uint8")
    out = mx.nc_matmul_mx(
        4, State(), dst=zeros((1, 1), space="psum"), stationary=a, moving=a,
        stationary_scale=scale, moving_scale=scale,
    )["dst"]
    assert np.isnan(out[0, 0])


# --- gpsimd -----------------------------------------------------------------


def iota(dtype: str, p: int, pattern: Any, **options: Any) -> list[Any]:
    n = int(np.prod([count for _, count in pattern]))
    return gpsimd.iota(
        3, State(), dst=zeros((p, n), dtype), pattern=pattern, **options
    )["dst"].tolist()


def test_iota_counts_outer_first_and_wraps_at_32_bits():
    assert iota("int32", 2, [[10, 2], [-1, 3]], offset=5,
                channel_multiplier=100) == [
        [5, 4, 3, 15, 14, 13], [105, 104, 103, 115, 114, 113],
    ]
    assert iota("int32", 1, [[1, 2]], offset=2**31 - 1) == [
        [2**31 - 1, -(2**31)]
    ]
    assert iota("uint8", 1, [[200, 3]]) == [[0, 200, 255]]
    assert iota("float32", 1, [[1, 2]], offset=2**24) == [[2.0**24] * 2]


@pytest.mark.parametrize(("cmp_op", "want"), [
    ("greater_equal", [[1, 9, 9], [1, 1, 9]]),
    ("greater", [[9, 9, 9], [1, 9, 9]]),
    ("equal", [[1, 9, 9], [9, 1, 9]]),
    ("not_equal", [[9, 1, 1], [1, 9, 1]]),
    ("less", [[9, 1, 1], [9, 9, 1]]),
    ("less_equal", [[1, 1, 1], [9, 1, 1]]),
])
def test_affine_select_compares_with_zero(cmp_op, want):
    # p - x: causal masks
    out = gpsimd.affine_select(
        3, State(), dst=zeros((2, 3)), pattern=[[-1, 3]],
        channel_multiplier=1, on_true_tile=tile(np.ones((2, 3)), "bfloat16"),
        on_false_value=9.0, cmp_op=cmp_op,
    )["dst"]
    assert out.tolist() == want


def test_sequence_bounds_of_runs_and_padding():
    out = gpsimd.sequence_bounds(
        3, State(), dst=zeros((1, 2, 7), "int32"),
        segment_ids=tile([[1, 1, 2, 0, 0, 3, 3]]),
    )["dst"]
    assert out.tolist() == [[[0, 0, 2, 7, 7, 5, 5], [2, 2, 3, -1, -1, 7, 7]]]


def test_local_gather_has_one_list_a_core_in_snake_order():
    src = tile(np.arange(32)[:, None] * 100 + np.arange(40), "int16")
    index = np.zeros((32, 2), np.uint16)
    index[[0, 1, 16], [0, 0, 0]] = [3, 36, 7]
    index[0, 1] = 5  # the 17th of core 0
    out = gpsimd.local_gather(
        3, State(), dst=zeros((32, 17, 2), "int16"), src_buffer=src,
        index=tile(index, "uint16"), num_elem_per_idx=2, num_valid_indices=17,
    )["dst"]
    assert out[2, [0, 1, 2, 16]].tolist() == [
        [203, 204], [236, 237], [200, 201], [205, 206]
    ]
    assert out[17, :2].tolist() == [[1707, 1708], [1700, 1701]]


def test_n_gather_picks_per_partition_from_the_flattened_row():
    data = tile(np.arange(8).reshape(2, 2, 2), "int8")
    out = gpsimd.nc_n_gather(
        3, State(), dst=zeros((2, 3), "int8"), data=data,
        indices=tile([[3, 0, 0], [1, 2, 3]], "uint32"),
    )["dst"]
    assert out.tolist() == [[3, 0, 0], [5, 6, 7]]


def test_nonzero_with_count_serves_partitions_0_and_16():
    src = np.zeros((17, 4), F32)
    src[0], src[1], src[16] = [0, 2, -1, 0], [1, 1, 1, 1], [-0.0, 0, 0, 5]
    out = gpsimd.nonzero_with_count(
        3, State(), dst=tile(np.full((17, 5), 77), "int32"), src=tile(src),
        index_offset=10, padding_val=-3,
    )["dst"]
    assert out[0].tolist() == [11, 12, -3, -3, 2]
    assert out[16].tolist() == [13, -3, -3, -3, 1]
    assert (out[1:16] == 77).all()


def test_topk_ascends_and_of_equals_the_lower_index_is_the_larger():
    src = np.full((16, 2), -5, BF16)
    src[1, 0] = src[0, 1] = 4  # s[1] and s[16]
    src[2, 0], src[3, 0], src[4, 0] = np.nan, -0.0, 0.0
    src[15, 1] = 100  # s[31]: outside n
    out = gpsimd.topk(
        3, State(), val_dst=zeros((16, 5), "bfloat16"),
        idx_dst=zeros((16, 5), "uint32"), src=tile(src, "bfloat16"), n=20,
    )
    for row in out["idx_dst"]:
        assert row.tolist() == [0, 4, 3, 16, 1]
    assert out["val_dst"][9].tolist() == [-5, 0, 0, 4, 4]
    assert np.signbit(out["val_dst"][9, 2].astype(F32))


def test_topk_of_all_starts_with_nan():
    s = np.zeros((16, 1), BF16)
    s[5] = np.nan
    index = gpsimd.largest(s[:, 0], 16)
    assert index[0] == 5 and index[-1] == 0


# --- DMA --------------------------------------------------------------------


def test_dma_copies_bits_or_goes_through_fp32():
    src = tile([[2**24 + 1, 300]], "int32", space="hbm")
    for dtype, want in (
        ("int32", [2**24 + 1, 300]), ("uint32", [2**24, 300]),
        ("uint8", [255, 255]),
    ):
        out = dma.dma_copy(3, State(), dst=zeros((2,), dtype), src=src)["dst"]
        assert out.tolist() == want
    nan = np.array([0x7FA1], np.uint16).view(BF16)  # a signalling NaN
    out = dma.dma_copy(
        3, State(), dst=zeros((1,), "bfloat16"), src=tile(nan, "bfloat16")
    )["dst"]
    assert out.view(np.uint16)[0] == 0x7FA1


def test_a_dropped_row_keeps_dst():  # behaviours.md 6, oob_mode skip
    table = np.arange(6).reshape(3, 2)
    src = tile(table[[0, 0, 2]], "float32", space="hbm")
    src.where = np.array([[0, 1], [-1, -1], [4, 5]])
    dst = tile(np.full((3, 2), 7))
    out = dma.dma_copy(3, State(), dst=dst, src=src)["dst"]
    assert out.tolist() == [[0, 1], [7, 7], [4, 5]]


@pytest.mark.parametrize(("shape", "axes"), [
    ((3, 4), (1, 0)), ((2, 3, 4), (2, 1, 0)), ((2, 3, 4, 5), (3, 1, 2, 0)),
])
def test_dma_transposes_have_one_default_a_rank(shape, axes):
    src = tile(np.arange(np.prod(shape)).reshape(shape), "int32")
    want = np.transpose(src.values, axes)
    for given in (None, axes):
        out = dma.dma_transpose(
            3, State(), dst=zeros(want.shape, "int32"), src=src, axes=given
        )["dst"]
        np.testing.assert_array_equal(out, want)


def test_dma_compute_adds_in_order_in_fp32_and_casts_once():
    one = tile([[1]], "int8")
    big = tile([[2.0**24]])
    args = {"reduce_op": "add", "dst": zeros((1, 1), "int32")}
    out = dma.dma_compute(3, State(), srcs=[big, one, one], **args)["dst"]
    assert out.tolist() == [[2**24]]
    out = dma.dma_compute(3, State(), srcs=[one, one, big], **args)["dst"]
    assert out.tolist() == [[2**24 + 2]]


# --- random numbers ---------------------------------------------------------


def draws(state: State, gen: int, n: int, **options: Any) -> list[int]:
    return random_numbers.rng(
        gen, state, dst=zeros((1, n), "uint32"), **options
    )["dst"][0].tolist()


def test_xorwow_is_marsaglias():
    # Marsaglia 2003 gives these words and his generator these outputs.
    state, seeds = State(), [
        123456789, 362436069, 521288629, 88675123, 5783321, 6615241
    ]
    random_numbers.rand_set_state(3, state, src_seeds=tile([seeds], "uint32"))
    assert draws(state, 3, 3, engine="gpsimd") == [
        246875399, 3690007200, 1264581005
    ]


def test_before_gen4_the_vector_engine_is_xorshift32_of_the_seed():
    state = State()
    random_numbers.set_rng_seed(2, state, src_seeds=tile([[1]], "uint32"))
    assert draws(state, 2, 3) == [270369, 67634689, 2647435461]
    random_numbers.set_rng_seed(2, state, src_seeds=tile([[1]], "int32"))
    assert draws(state, 2, 1) == [270369]


def test_gen4_draws_element_i_from_stream_i_mod_4():
    words = np.arange(1, 25, dtype=np.uint32)[None]
    state = State()
    random_numbers.rand_set_state(
        4, state, src_seeds=tile(words, "uint32"), engine="vector"
    )
    together = draws(state, 4, 6)
    for s in range(4):
        one = State()
        random_numbers.rand_set_state(
            4, one, src_seeds=tile(words[:, 6 * s : 6 * s + 6], "uint32")
        )
        alone = draws(one, 4, 2, engine="gpsimd")
        assert together[s::4] == alone[: len(together[s::4])]


def test_states_round_trip_and_a_lane_is_the_absolute_partition():
    state = State()
    words = tile(np.arange(12).reshape(2, 6) + 1, "uint32", start=32)
    random_numbers.rand_set_state(3, state, src_seeds=words)
    out = random_numbers.rand_get_state(
        3, state, dst=zeros((4, 6), "uint32", start=31)
    )["dst"]
    np.testing.assert_array_equal(out[1:3], words.values)
    golden = 0x9E3779B9
    assert out[0].tolist() == [
        golden * (6 * 31 + k + 1) % 2**32 for k in range(6)
    ]


def test_each_engine_has_its_own_state():  # behaviours.md 50
    state = State()
    seed = {"src_seeds": tile([[5]], "uint32")}
    random_numbers.set_rng_seed(4, state, **seed)
    first = draws(state, 4, 5)
    other = draws(state, 4, 2, engine="gpsimd")
    random_numbers.set_rng_seed(4, state, **seed)
    assert draws(state, 4, 5) == first
    assert draws(state, 4, 2, engine="gpsimd") != other


def test_rng_keeps_the_low_bytes():
    values = []
    for dtype in ("uint32", "uint8", "int16"):
        state = State()
        random_numbers.set_rng_seed(3, state, src_seeds=tile([[1]], "uint32"))
        values += random_numbers.rng(
            3, state, dst=zeros((1, 1), dtype)
        )["dst"][0].tolist()
    assert values == [270369, 0x21, 0x2021]  # 270369 = 0x42021


def test_rand2_maps_a_word_onto_the_range():
    state = State()
    random_numbers.rand_set_state(
        4, state, src_seeds=tile(np.arange(1, 25)[None], "uint32"),
        engine="vector",
    )
    # Stream 0: t = 1 ^ 0, v = (5 ^ 80) ^ (1 ^ 2) = 86, d = 6 + 362437.
    out = random_numbers.rand2(
        4, state, dst=zeros((1, 1)), min=-1.0, max=1.0
    )["dst"]
    assert out[0, 0] == F32(-1 + F32(362529 * 2.0**-32) * 2)


def test_dropout_compares_24_bits_and_keeps_bits():
    data = tile([[1, 2, 3, 4]], "bfloat16")
    seed = {"src_seeds": tile([[1]], "uint32")}
    # 270369, 67634689, 2647435461, 307599695 over 2^32: .00006 .016 .62 .07
    for prob, want in (
        (0.0, [1, 2, 3, 4]), (1.0, [0, 0, 0, 0]), (0.05, [0, 0, 3, 4]),
    ):
        state = State()
        random_numbers.set_rng_seed(3, state, **seed)
        out = random_numbers.dropout(
            3, state, dst=zeros((1, 4), "bfloat16"), data=data, prob=prob
        )["dst"]
        assert out.tolist() == [want]


# --- cores and registers ----------------------------------------------------


def test_sendrecv_gives_each_core_the_others_tile():
    tiles = [tile([[1, 2]], "int8"), tile([[3, 4]], "int8")]
    for rank, want in ((0, [[3, 4]]), (1, [[1, 2]])):
        out = cores.sendrecv(
            3, State(), src=tiles[rank], dst=zeros((1, 2), "int8"),
            send_to_rank=1 - rank, recv_from_rank=1 - rank, pipe_id=0,
            peers=tiles,
        )["dst"]
        assert out.tolist() == want
    barrier = cores.core_barrier(3, State(), data=tiles[0], cores=(0, 1))
    assert barrier == {}


@pytest.mark.parametrize(("op", "a", "b", "want"), [
    ("add", 2**31 - 1, 1, -(2**31)), ("subtract", -(2**31), 1, 2**31 - 1),
    ("multiply", 2**16, 2**16, 0), ("multiply", -3, 5, -15),
    ("and", 12, 10, 8), ("or", 12, 10, 14), ("xor", 12, -1, -13),
    ("shift_left", 1, 31, -(2**31)), ("shift_left", 1, 32, 0),
    ("shift_right", -1, 28, 15), ("shift_right", -1, 32, 0),
    ("shift_right", 8, -1, 0), ("min", -1, 1, -1), ("max", -1, 1, 1),
    ("less", -1, 1, 1), ("less_equal", 1, 1, 1), ("greater", -1, 1, 0),
    ("greater_equal", 1, 1, 1), ("equal", 2**32 - 1, -1, 1),
    ("not_equal", 3, 3, 0),
])
def test_registers_are_32_bit_and_wrap(op, a, b, want):
    assert cores.register_alu(op, a, b) == want


@pytest.mark.parametrize(("dtype", "value", "want"), [
    ("int8", -2, -2), ("uint8", 254, 254), ("int16", -2, -2),
    ("uint16", 65534, 65534), ("uint32", 2**32 - 2, -2),
    ("float32", -1.0, -0x40800000), ("bfloat16", -1.0, 0xBF80), ("bool", 1, 1),
])
def test_a_register_load_extends_by_dtype(dtype, value, want):
    assert cores.register_load(tile([[value]], dtype)) == want


def test_a_register_store_keeps_the_low_bytes():
    assert cores.register_store(-2, zeros((1,), "uint16")).tolist() == [65534]
    out = cores.register_store(0x3F800000, zeros((1, 1)))
    assert out.tolist() == [[1]]


@pytest.mark.parametrize(("op", "same"), [
    ("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
    ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
    ("min", np.minimum), ("max", np.maximum), ("less", np.less),
])
def test_registers_agree_with_int32_of_numpy(op, same):
    a, b = np.random.default_rng(1).integers(-(2**31), 2**31, (2, 200))
    want = same(a.astype(np.int32), b.astype(np.int32)).astype(np.int64)
    for x, y, z in zip(a.tolist(), b.tolist(), want.tolist()):
        assert cores.register_alu(op, x, y) == z
