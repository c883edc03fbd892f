"""Behaviours that users trip over, with the right value.

Rows of shared/cases/behaviours.md; the number in a section's heading is the
row. Refusals are checked for what the row wants said, not for its wording.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import trnemu
import reference as ref
from kit import TARGETS, Kit

F32 = np.float32
BF16 = ml_dtypes.bfloat16


def refusal(call, category: str = "illegal") -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        call()
    assert info.value.category == category, str(info.value)
    return info.value


def says(fault: trnemu.Fault, *words: str) -> None:
    report = str(fault)
    for word in words:
        assert word in report, f"{word!r} is not in:\n{report}"


# --- 1: integers above 2^24 -------------------------------------------------


def int32_sum(engine: str, space: str = "sbuf", target: str = "trn2") -> int:
    k = Kit(target)
    x = k.load(np.array([[16777217]], np.int32), space=space)
    zero, t = k.filled((1, 1), 0, "int32"), k.empty((1, 1), "int32")
    k.b.tensor_tensor(dst=t, data1=x, data2=zero, op="add", engine=engine)
    return k.one(t)[0, 0]


@pytest.mark.parametrize("target", TARGETS)
def test_row_1_the_vector_engine_adds_int32_in_fp32(target):
    assert int32_sum("vector", target=target) == 16777216


@pytest.mark.parametrize("engine", ["gpsimd", "unknown"])
@pytest.mark.parametrize("target", TARGETS)
def test_row_1_gpsimd_adds_int32_exactly_and_is_the_default(target, engine):
    assert int32_sum(engine, target=target) == 16777217


@pytest.mark.parametrize("operand", ["data1", "data2", "dst"])
@pytest.mark.parametrize("target", TARGETS)
def test_row_1_any_operand_in_psum_falls_back_to_vector(operand, target):
    k = Kit(target)
    where = {o: "sbuf" for o in ("data1", "data2", "dst")} | {operand: "psum"}
    x = k.load(np.array([[16777217]], np.int32), space=where["data1"])
    zero = k.filled((1, 1), 0, "int32", where["data2"])
    t = k.empty((1, 1), "int32", where["dst"])
    k.b.tensor_tensor(dst=t, data1=x, data2=zero, op="add")
    assert k.one(t)[0, 0] == 16777216


def test_row_1_bitwise_and_on_vector_keeps_every_bit():
    k = Kit()
    t = k.empty((1, 1), "int32")
    k.b.tensor_scalar(
        dst=t, data=k.load(np.array([[16777217]], np.int32)),
        op0="bitwise_and", operand0=0xFFFFFFFF, engine="vector",
    )
    assert k.one(t)[0, 0] == 16777217


@pytest.mark.parametrize(("dst", "value"), [("uint32", 2147483648),
                                            ("int32", 2147483647)])
def test_row_1_the_largest_int32_through_vector_arithmetic(dst, value):
    k = Kit()
    x = k.load(np.array([[0x7FFFFFFF]], np.int32))
    zero, t = k.filled((1, 1), 0, "int32"), k.empty((1, 1), dst)
    k.b.tensor_tensor(dst=t, data1=x, data2=zero, op="add", engine="vector")
    assert k.one(t)[0, 0] == value


# --- 2: fp32 to integers ----------------------------------------------------

TO_INTEGERS = [
    ("int32", [0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9],
     [0, 2, 2, 0, -2, 2147483647, -2147483648]),
    ("uint8", [254.5, 255.5, 300, -1], [254, 255, 255, 0]),
]


@pytest.mark.parametrize(("dtype", "x", "want"), TO_INTEGERS)
@pytest.mark.parametrize("target", TARGETS)
def test_row_2_fp32_to_integer_is_nearest_even_and_saturates(
    target, dtype, x, want
):
    for engine in ("vector", "scalar", "gpsimd"):
        k = Kit(target)
        t = k.empty((1, len(x)), dtype)
        k.b.tensor_copy(dst=t, src=k.load(np.array([x], F32)), engine=engine)
        assert k.one(t).tolist() == [want]
        assert k.findings == []


def test_row_2_nan_to_integer_is_never_silent():
    k = Kit()
    t = k.empty((1, 1), "int32")
    k.b.tensor_copy(dst=t, src=k.load(np.array([[np.nan]], F32)))
    k.one(t)
    assert [f.category for f in k.findings] == ["unspecified"]
    assert k.findings[0].severity == "warning"
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(k.b.build(), k.inputs, strict=True)
    assert info.value.category == "unspecified"


# --- 3: accumulating onto what no matmul wrote ------------------------------


def accumulate_onto(target: str, fill: bool) -> ref.Array:
    k = Kit(target)
    t = k.load(np.ones((32, 4), BF16))
    bank = k.empty((4, 4), space="psum")
    if fill:
        k.b.memset(dst=bank, value=5.0)
    k.b.nc_matmul(dst=bank, stationary=t, moving=t, accumulate=True)
    return k.one(bank)


@pytest.mark.parametrize("target", TARGETS)
def test_row_3_accumulating_onto_psum_never_written_is_reported(target):
    fault = refusal(lambda: accumulate_onto(target, False), "uninitialized")
    says(fault, "nc_matmul", "bank", "partition", "byte")


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_row_3_accumulating_onto_a_memset_is_undefined_before_trn3(target):
    fault = refusal(lambda: accumulate_onto(target, True), "unspecified")
    says(fault, "memset", "bank", "partition", "byte")


def test_row_3_accumulating_onto_a_memset_is_fine_on_trn3():
    assert (accumulate_onto("trn3", True) == 37).all()


# --- 5: a tensor-engine transpose of NaN and infinity -----------------------

NAN, INF = np.nan, np.inf
SPREAD = {  # documented for trn1: a matmul with the identity
    NAN: [[1, 3], [NAN, NAN]],
    INF: [[1, 3], [INF, NAN]],
}


def transpose(x: ref.Array, target: str) -> ref.Array:
    k = Kit(target)
    dst = "float32" if target == "trn1" else x.dtype.name
    t = k.empty((2, 2), dst, "psum")
    k.b.nc_transpose(dst=t, data=k.load(x), engine="tensor")
    out = k.empty((2, 2), dst)
    k.b.tensor_copy(dst=out, src=t)
    return k.one(out).astype(F32)


@pytest.mark.parametrize("dtype", [F32, BF16, np.float16])
@pytest.mark.parametrize("special", [NAN, INF], ids=str)
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_row_5_a_transpose_is_exact_from_trn2_on(target, special, dtype):
    out = transpose(np.array([[1, special], [3, 4]], dtype), target)
    np.testing.assert_array_equal(out, [[1, 3], [special, 4]])


@pytest.mark.parametrize("dtype", [F32, BF16, np.float16])
@pytest.mark.parametrize("special", [NAN, INF], ids=str)
def test_row_5_a_transpose_on_trn1_spreads_nan_and_infinity(special, dtype):
    out = transpose(np.array([[1, special], [3, 4]], dtype), "trn1")
    np.testing.assert_array_equal(out, SPREAD[special])


# --- 15: activation's bias, accumulator and reduce_res ----------------------


@pytest.mark.parametrize("op", ["copy", "relu"])
@pytest.mark.parametrize("target", TARGETS)
def test_row_15_copy_applies_scale_and_bias_like_relu(target, op):
    k = Kit(target)
    t = k.empty((1, 1))
    k.b.activation(
        dst=t, op=op, data=k.filled((1, 1), 1.0), scale=2.0,
        bias=k.filled((1, 1), 3.0),
    )
    assert k.one(t)[0, 0] == 5


@pytest.mark.parametrize("target", TARGETS)
def test_row_15_the_default_reduce_cmd_leaves_the_accumulator_alone(target):
    k = Kit(target)
    x, t, total = k.filled((1, 4), 1.0), k.empty((1, 4)), k.empty((1, 1))
    k.b.activation(
        dst=t, op="copy", data=x, reduce_op="add", reduce_cmd="reset_reduce"
    )
    k.b.activation(dst=t, op="copy", data=x, scale=100.0)
    k.b.activation(dst=t, op="copy", data=x, reduce_res=total)
    assert k.one(total)[0, 0] == 4


def test_row_15_a_bias_of_more_than_one_column_is_refused():
    k = Kit()
    x, bias = k.filled((128, 64), 1.0), k.filled((128, 64), 1.0)
    fault = refusal(
        lambda: k.b.activation(dst=x, op="copy", data=x, bias=bias)
    )
    assert fault.operand == "bias"
    says(fault, "bias", "64")


def test_row_15_a_reduce_res_that_aliases_dst_keeps_the_reduction():
    k = Kit()
    x, t = k.load(np.array([[1, 2, 4]], F32)), k.empty((1, 3))
    k.b.activation(
        dst=t, op="copy", data=x, reduce_op="add", reduce_cmd="reset_reduce",
        reduce_res=t[:, 1:2],
    )
    assert k.one(t).tolist() == [[1, 7, 4]]


# --- 16: functions with a limited range -------------------------------------


def activate(op: str, x: float) -> tuple[float, list[trnemu.Finding]]:
    k = Kit()
    t = k.empty((1, 1))
    k.b.activation(dst=t, op=op, data=k.load(np.array([[x]], F32)))
    return float(k.one(t)[0, 0]), k.findings


def test_row_16_sin_has_no_range_reduction():
    value, findings = activate("sin", 9.0)
    assert round(value, 2) == 27.65
    assert [f.severity for f in findings] == ["warning"]
    assert "sin" in findings[0].message


RANGES = [
    ("log", 2.0**-64, 2.0**64), ("sqrt", 2.0**-116, 2.0**118),
    ("rsqrt", 2.0**-87, 2.0**97), ("reciprocal", 2.0**-42, 2.0**42),
    ("reciprocal", -(2.0**42), -(2.0**-42)), ("arctan", -1.5707, 1.5707),
    ("sin", -3.1415, 3.1415),
]


@pytest.mark.parametrize(("op", "low", "high"), RANGES)
def test_row_16_input_outside_the_valid_range_is_flagged(op, low, high):
    for inside in (low, high):
        assert activate(op, inside)[1] == []
    for outside in (high * 1.01, low / 1.01 if low > 0 else low * 1.01):
        if op == "reciprocal" and low < 0:
            outside = {high * 1.01: high / 1.01}.get(outside, outside)
        assert [f.id for f in activate(op, outside)[1]] == [
            "activation.outside_valid_range"
        ]


# --- 19: start partitions ---------------------------------------------------

STARTS = [  # partitions, start, legal starts
    (36, 48, "0 64"), (2, 1, "0 32 64 96"), (32, 16, "0 32 64 96"),
    (64, 32, "0 64"), (65, 32, "0"), (33, 32, "0 64"),
]


@pytest.mark.parametrize(("count", "start", "legal"), STARTS)
@pytest.mark.parametrize("target", TARGETS)
def test_row_19_a_start_partition_off_the_grid_is_refused(
    target, count, start, legal
):
    k = Kit(target)
    src, dst = k.filled((128, 4), 1.0), k.empty((128, 4))
    part = slice(start, start + count)
    for operand in ("src", "dst"):
        views = {"src": src[:count], "dst": dst[:count]}
        views[operand] = {"src": src, "dst": dst}[operand][part]
        fault = refusal(lambda v=views: k.b.tensor_copy(**v))
        assert fault.operand == operand
        says(fault, operand, str(start), str(count), *legal.split())


@pytest.mark.parametrize(("count", "start", "legal"), STARTS)
def test_row_19_dma_is_exempt(count, start, legal):
    x = ref.moderate("float32", (count, 4))
    k = Kit()
    dst = k.filled((128, 4), 0.0)
    k.b.dma_copy(dst=dst[start:start + count], src=k.input(x))
    ref.same(k.one(dst)[start:start + count], x)


@pytest.mark.parametrize(
    ("count", "start"),
    [(32, 96), (1, 32), (33, 64), (64, 64), (64, 0), (65, 0), (128, 0)],
)
def test_row_19_every_legal_start_is_accepted(count, start):
    k = Kit()
    t = k.filled((128, 4), 1.0)
    part = slice(start, start + count)
    k.b.tensor_copy(dst=t[part], src=t[part])
    assert (k.one(t) == 1).all()


# --- 20: what does not fit --------------------------------------------------


def test_row_20_sbuf_overflow_lists_the_live_tensors_and_the_limit():
    k = Kit("trn1")
    tiles = [
        k.b.sbuf((128, n // 4), "float32", name=f"tile{n}_{i}")
        for i, n in enumerate((888, 98568, 98568))
    ]
    for t in tiles + tiles:
        k.b.memset(dst=t, value=0.0)
    fault = refusal(k.b.build, "capacity")
    says(fault, "tile888_0", "tile98568_1", "tile98568_2", "888", "98568")
    says(fault, "198024", "196608", "test_behaviours.py")


@pytest.mark.parametrize("target", TARGETS)
def test_row_20_a_tile_at_a_byte_beyond_sbuf_is_refused(target):
    k = Kit(target)

    def build():
        t = k.b.sbuf((128, 4), "float32", address=(0, 400000))
        k.b.memset(dst=t, value=0.0)
        k.b.build()

    says(refusal(build, "capacity"), "400000")


USABLE = {"trn1": 196608, "trn2": 229368, "trn3": 262136}  # decisions.md


@pytest.mark.parametrize("target", TARGETS)
def test_row_20_the_last_usable_byte_fits_and_one_more_does_not(target):
    def build(more: int) -> trnemu.Program:
        k = Kit(target)
        tiles = [
            k.b.sbuf((128, USABLE[target] // 4 - 1), "float32"),
            k.b.sbuf((128, 4 + more), "uint8"),
        ]
        for t in tiles + tiles:
            k.b.memset(dst=t, value=0)
        return k.b.build()

    assert build(0).num_instructions == 4
    fault = refusal(lambda: build(1), "capacity")
    says(fault, str(USABLE[target]), str(USABLE[target] + 1))


@pytest.mark.parametrize("target", TARGETS)
def test_row_20_psum_overflow_is_refused_too(target):
    k = Kit(target)
    tiles = [k.b.psum((128, 512), "float32", name=f"bank{i}") for i in range(9)]
    for t in tiles + tiles:
        k.b.memset(dst=t, value=0.0)
    says(refusal(k.b.build, "capacity"), "bank0", "bank8", "2048", "16384")


# --- 9: reads of bytes that nobody wrote ------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8", "float8_e4m3"])
def test_row_9_reading_a_partition_that_nobody_wrote_is_reported(dtype):
    k = Kit()
    t = k.b.sbuf((128, 4), dtype, name="holey")
    k.b.dma_copy(
        dst=t[:127], src=k.input(np.ones((127, 4), ref.carrier(dtype)))
    )
    out = k.empty((128, 1))
    k.b.tensor_reduce(dst=out, op="add", data=t, axis=1)
    fault = refusal(lambda: k.one(out), "uninitialized")
    assert fault.operation == "tensor_reduce"
    says(fault, "holey", "127", "test_behaviours.py")


@pytest.mark.parametrize("dtype", ref.PACKED)
def test_row_9_packed_data_is_watched_too(dtype):
    k = Kit("trn3")
    t, out = k.b.sbuf((64, 4), dtype, name="holey"), k.empty((64, 4), dtype)
    k.b.memset(dst=t[:, :3], value=0)
    k.b.tensor_copy(dst=out, src=t)
    fault = refusal(lambda: k.one(out), "uninitialized")
    says(fault, "holey", "tensor_copy")


# --- 12: a wait that nothing satisfies --------------------------------------


def test_row_12_a_wait_that_never_ends_says_who_waits_for_what():
    b = trnemu.ProgramBuilder(sync="explicit")
    s = b.semaphore("handover")
    t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0.0, engine="gpsimd", signal=[(s, 1)])
    b.memset(dst=u, value=0.0, engine="vector", wait=[(s, 2)])
    fault = refusal(lambda: trnemu.run(b.build(), {}), "deadlock")
    assert fault.engine == "vector"
    says(fault, "handover >= 2", "it is 1", "test_behaviours.py")


def test_row_12_a_deadlock_names_the_instruction_that_could_signal():
    b = trnemu.ProgramBuilder(sync="explicit")
    s, back = b.semaphore("handover"), b.semaphore("back")
    t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
    b.memset(
        dst=t, value=0.0, engine="gpsimd", wait=[(back, 1)], signal=[(s, 2)]
    )
    b.memset(
        dst=u, value=0.0, engine="vector", wait=[(s, 2)], signal=[(back, 1)]
    )
    fault = refusal(lambda: trnemu.run(b.build(), {}), "deadlock")
    says(fault, "handover >= 2", "back >= 1", "vector", "gpsimd")
    says(fault, "instruction 0", "instruction 1")


# --- 21, 22: operands that devices refuse -----------------------------------


def test_row_21_an_int32_operand_tile_of_an_arithmetic_op_is_refused():
    k = Kit()
    x, one = k.filled((8, 4), 1.0), k.filled((8, 1), 1, "int32")
    fault = refusal(
        lambda: k.b.tensor_scalar(dst=x, data=x, op0="add", operand0=one)
    )
    assert fault.operand == "operand0"
    says(fault, "float32", "int32")


def test_row_21_an_int32_operand_tile_of_a_bitwise_op_is_accepted():
    k = Kit()
    x, one = k.filled((8, 4), 6, "int32"), k.filled((8, 1), 3, "int32")
    k.b.tensor_scalar(dst=x, data=x, op0="bitwise_and", operand0=one)
    assert (k.one(x) == 2).all()


def test_row_22_a_column_as_second_operand_of_tensor_tensor_is_refused():
    k = Kit()
    x, column = k.filled((8, 4), 1.0), k.filled((8, 1), 1.0)
    fault = refusal(
        lambda: k.b.tensor_tensor(dst=x, data1=x, data2=column, op="add")
    )
    assert fault.operand == "data2"
    assert "tensor_scalar" in fault.remedy


@pytest.mark.parametrize("op", ["divide", "mod", "fmod"])
def test_row_22_division_does_not_exist(op):
    k = Kit()
    x = k.filled((8, 4), 1.0)
    fault = refusal(
        lambda: k.b.tensor_tensor(dst=x, data1=x, data2=x, op=op)
    )
    assert fault.operand == "op"
    if op == "divide":
        assert "reciprocal" in str(fault)


# --- 36: alignment ----------------------------------------------------------


def test_row_36_a_two_byte_psum_tile_off_four_bytes_is_refused():
    def build(offset: int) -> trnemu.Program:
        k = Kit("trn3")
        bank = k.b.psum((4, 8), "bfloat16", address=(0, offset))
        k.b.memset(dst=bank, value=0.0)
        return k.b.build()

    says(refusal(lambda: build(2)), "4", "2")
    for offset in (0, 4, 8):
        assert build(offset).num_instructions >= 1


def test_row_36_an_odd_bfloat16_slice_in_sbuf_is_legal_and_repeatable():
    x = ref.moderate("bfloat16", (128, 33))
    k = Kit()
    t = k.empty((128, 32), "bfloat16")
    k.b.tensor_scalar(
        dst=t, data=k.load(x)[:, 1:], op0="multiply", operand0=1.25
    )
    program = k.build(t)
    want = ref.cast(ref.widen(x[:, 1:]) * F32(1.25), "bfloat16")
    for _ in range(5):
        ref.same(trnemu.run(program, k.inputs).outputs["out0"], want)


# --- 38: matmul's dtypes and sizes per generation ---------------------------


def multiply(
    target: str, dtypes: tuple[str, str] = ("bfloat16", "bfloat16"),
    dst: str = "float32", n: int = 4,
) -> ref.Array:
    k = Kit(target)
    bank = k.empty((4, n), dst, "psum")
    k.b.nc_matmul(
        dst=bank, stationary=k.filled((8, 4), 1.0, dtypes[0]),
        moving=k.filled((8, n), 1.0, dtypes[1]),
    )
    return k.one(bank).astype(F32)


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_row_38_a_bfloat16_dst_needs_trn3(target):
    fault = refusal(lambda: multiply(target, dst="bfloat16"))
    assert fault.operand == "dst"
    says(fault, "bfloat16", "float32", target)
    assert (multiply("trn3", dst="bfloat16") == 8).all()
    assert (multiply(target) == 8).all()


LIMITS = [
    ("trn1", "float32", 512), ("trn2", "float32", 512),
    ("trn3", "float32", 4096), ("trn3", "bfloat16", 8192),
]


@pytest.mark.parametrize(("target", "dst", "limit"), LIMITS)
def test_row_38_the_moving_free_size_has_a_limit(target, dst, limit):
    assert (multiply(target, dst=dst, n=limit) == 8).all()
    fault = refusal(lambda: multiply(target, dst=dst, n=limit + 1))
    says(fault, str(limit), str(limit + 1))


@pytest.mark.parametrize("pair", [("float8_e4m3", "float8_e4m3fn"),
                                  ("float8_e4m3fn", "float8_e4m3")])
def test_row_38_the_two_e4m3_formats_do_not_mix(pair):
    says(refusal(lambda: multiply("trn3", pair)), *pair)
    for same in pair:
        assert (multiply("trn3", (same, same)) == 8).all()


@pytest.mark.parametrize("wide", ["float32", "tfloat32"])
@pytest.mark.parametrize("narrow", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("target", TARGETS)
def test_row_38_fp32_and_tf32_multiply_only_each_other(target, wide, narrow):
    for pair in ((wide, narrow), (narrow, wide)):
        says(refusal(lambda p=pair: multiply(target, p)), *pair)
    for other in ("float32", "tfloat32"):
        assert (multiply(target, (wide, other)) == 8).all()


# --- 40: PSUM and the engines that reach it ---------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_row_40_both_inputs_in_psum_are_refused(target):
    k = Kit(target)
    x, y = (k.filled((8, 4), 1.0, space="psum") for _ in range(2))
    fault = refusal(
        lambda: k.b.tensor_tensor(
            dst=k.empty((8, 4)), data1=x, data2=y, op="add"
        )
    )
    says(fault, "psum", "sbuf")
    assert fault.remedy


@pytest.mark.parametrize("operand", ["data1", "data2", "dst"])
@pytest.mark.parametrize("target", TARGETS)
def test_row_40_gpsimd_reaches_no_psum(target, operand):
    k = Kit(target)
    tiles = {o: k.filled((8, 4), 1.0) for o in ("data1", "data2", "dst")}
    tiles[operand] = k.filled((8, 4), 1.0, space="psum")
    fault = refusal(
        lambda: k.b.tensor_tensor(**tiles, op="add", engine="gpsimd")
    )
    says(fault, "gpsimd", operand)
    assert "vector" in str(fault)


@pytest.mark.parametrize("target", TARGETS)
def test_row_40_dma_from_psum_and_into_psum_is_legal(target):
    x = ref.moderate("float32", (128, 16))
    k = Kit(target)
    bank, out = k.empty((128, 16), space="psum"), k.empty((128, 16))
    k.b.dma_copy(dst=bank, src=k.input(x))
    k.b.dma_copy(dst=out, src=bank)
    ref.same(k.one(out), x)
    assert k.findings == []


# --- 43: misspelt keywords --------------------------------------------------


def test_row_43_a_misspelt_keyword_is_an_error_that_names_the_nearest():
    k = Kit()
    t = k.filled((32, 4), 1.0, "bfloat16")
    bank = k.empty((4, 4), space="psum")
    with pytest.raises(TypeError, match="acumulate.*accumulate"):
        k.b.nc_matmul(dst=bank, stationary=t, moving=t, acumulate=True)
