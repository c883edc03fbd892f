"""tensor_tensor, tensor_scalar, scalar_tensor_tensor: each rule at its limit
and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from rules_kit import (
    ANY, ARITH, ARITH_BIN, ARITH_UN, BITVEC, BITVEC_BIN, CMP, INT, X4, Bench,
    every_target, legal, refused,
)

Tile = tuple[Any, ...]  # p, f, dtype and, where not SBUF, the memory
GEN4 = ("abs_max", "abs_min")


def make(bench: Bench, tile: Any) -> Any:
    if not isinstance(tile, tuple):
        return tile
    return bench.tile(tile[3] if len(tile) > 3 else "sbuf", *tile[:3])


def call(operation: str, **arguments: Any):
    """A tuple (p, f, dtype[, memory]) is a tile."""

    def act(bench: Bench) -> None:
        made = {k: make(bench, v) for k, v in arguments.items()}
        getattr(bench.b, operation)(**made)

    return act


def tt(op: str = "add", dtype: str = "float32", **more: Any):
    tiles = {k: (4, 8, dtype) for k in ("dst", "data1", "data2")}
    return call("tensor_tensor", **{**tiles, "op": op, **more})


def ts(op0: str = "add", operand0: Any = 1.0, dtype: str = "float32",
       **more: Any):
    tiles = {k: (4, 8, dtype) for k in ("dst", "data")}
    return call("tensor_scalar",
                **{**tiles, "op0": op0, "operand0": operand0, **more})


def stt(op0: str = "add", op1: str = "multiply", operand0: Any = 1.0,
        **more: Any):
    tiles = {k: (4, 8, "float32") for k in ("dst", "data", "operand1")}
    return call("scalar_tensor_tensor", **{
        **tiles, "op0": op0, "op1": op1, "operand0": operand0, **more})


# tensor_tensor


@every_target
@pytest.mark.parametrize("engine", ["scalar", "tensor", "sync", "dma"])
def test_tensor_tensor_runs_on_vector_or_gpsimd(target, engine):
    legal(target, tt(engine="vector"))
    legal(target, tt(engine="gpsimd"))
    refused(target, "tensor_tensor.engine", tt(engine=engine),
            "vector", "gpsimd", engine)


@every_target
def test_tensor_tensor_operands_have_the_same_partitions(target):
    for at in ("dst", "data1", "data2"):
        refused(target, "tensor_tensor.partitions",
                tt(**{at: (5, 8, "float32")}), "dst", "data1", "data2", "5",
                "4")
    legal(target, tt(**{k: (128, 8, "float32")
                        for k in ("dst", "data1", "data2")}))


@every_target
def test_tensor_tensor_operands_have_as_many_elements(target):
    for at in ("dst", "data1", "data2"):
        refused(target, "tensor_tensor.free_size",
                tt(**{at: (4, 9, "float32")}), "dst", "data1", "data2", "9",
                "8")


@every_target
def test_a_column_operand_of_tensor_tensor_is_refused_with_a_remedy(target):
    # cases/behaviours.md row 22
    fault = refused(target, "tensor_tensor.free_size",
                    tt(data2=(4, 1, "float32")))
    assert "tensor_scalar" in str(fault)


@every_target
def test_tensor_tensor_takes_the_elements_in_any_free_shape(target):
    def act(bench: Bench) -> None:
        bench.b.tensor_tensor(
            dst=bench.sbuf(4, (2, 3, 4)), data1=bench.sbuf(4, (24,)),
            data2=bench.sbuf(4, (4, 6)), op="add",
        )

    legal(target, act)


@every_target
@pytest.mark.parametrize("op", [o for o in ARITH_BIN if o not in GEN4])
def test_tensor_tensor_takes_every_binary_arithmetic_operation(target, op):
    legal(target, tt(op))


@every_target
@pytest.mark.parametrize("op", GEN4)
def test_abs_max_and_abs_min_need_trn3(target, op):
    if target == "trn3":
        legal(target, tt(op))
        legal(target, ts(op))
        legal(target, ts("add", op1=op, operand1=1.0))
        legal(target, stt(op))
        legal(target, stt("add", op))
        return
    for operation, id in (
        (tt(op), "tensor_tensor.abs_max_generation"),
        (ts(op), "tensor_scalar.op0_generation"),
        (ts("add", op1=op, operand1=1.0), "tensor_scalar.op1_generation"),
        (stt(op), "scalar_tensor_tensor.generation"),
        (stt("add", op), "scalar_tensor_tensor.generation"),
    ):
        refused(target, id, operation, op, "trn3", target)


@every_target
@pytest.mark.parametrize("op", [*ARITH_UN, "invert"])
def test_tensor_tensor_takes_no_unary_operation(target, op):
    integers = {"dtype": "int32"} if op == "invert" else {}
    refused(target, "tensor_tensor.op", tt(op, engine="vector", **integers),
            "op", "binary", op)


@every_target
@pytest.mark.parametrize("op", ["bypass", "average", "max", "divide", ""])
def test_operations_that_the_table_lacks_are_refused(target, op):
    refused(target, "operand.value", tt(op), "op", f'"{op}"', operand="op")
    refused(target, "operand.value", ts(op), "op0", f'"{op}"', operand="op0")


@every_target
@pytest.mark.parametrize("op", BITVEC_BIN)
@pytest.mark.parametrize("dtype", INT)
def test_bitwise_tensor_tensor_takes_integers(target, op, dtype):
    legal(target, tt(op, dtype))


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d not in INT])
def test_bitwise_tensor_tensor_takes_nothing_else(target, dtype):
    for at in ("dst", "data1", "data2"):
        refused(target, "tensor_tensor.bitvec",
                tt("bitwise_and", "int32", **{at: (4, 8, dtype)}),
                dtype, "integer", operand="op")


@every_target
def test_bitwise_tensor_tensor_runs_on_vector_only(target):
    legal(target, tt("bitwise_or", "uint32", engine="vector"))
    refused(target, "tensor_tensor.bitvec",
            tt("bitwise_or", "uint32", engine="gpsimd"), "vector", "gpsimd")


PSUM: Tile = (4, 8, "float32", "psum")


@every_target
def test_at_most_one_operand_of_tensor_tensor_is_in_psum(target):
    legal(target, tt(data1=PSUM))
    legal(target, tt(data2=PSUM))
    legal(target, tt(dst=PSUM))
    legal(target, tt(dst=PSUM, data1=PSUM))
    refused(target, "tensor_tensor.both_in_psum", tt(data1=PSUM, data2=PSUM),
            "data1", "data2", "PSUM")


@every_target
def test_power_runs_on_gpsimd(target):
    legal(target, tt("power"))
    legal(target, tt("power", engine="gpsimd"))
    refused(target, "tensor_tensor.power_engine", tt("power", engine="vector"),
            "power", "gpsimd", "vector")


@every_target
@pytest.mark.parametrize("at", ["dst", "data1", "data2"])
def test_gpsimd_has_no_psum(target, at):
    legal(target, tt(engine="gpsimd"))
    refused(target, "operand.gpsimd_psum", tt(engine="gpsimd", **{at: PSUM}),
            at, "gpsimd", "PSUM", operand=at)


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_have_no_arithmetic(target, dtype):
    for at in ("dst", "data1", "data2"):
        refused(target, "operand.dtype", tt(**{at: (4, 8, dtype)}), at, dtype,
                operand=at)
    for at in ("dst", "data"):
        refused(target, "operand.dtype", ts(**{at: (4, 8, dtype)}), at, dtype,
                operand=at)
    for at in ("dst", "data", "operand1"):
        refused(target, "operand.dtype", stt(**{at: (4, 8, dtype)}), at, dtype,
                operand=at)


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_arithmetic_takes_every_other_dtype(target, dtype):
    legal(target, tt(dtype=dtype))
    legal(target, ts(dtype=dtype))
    legal(target, stt(data=(4, 8, dtype), operand1=(4, 8, dtype),
                      dst=(4, 8, dtype), operand0=(4, 1, dtype)))


# tensor_scalar


@every_target
@pytest.mark.parametrize("engine", ["tensor", "sync", "dma"])
def test_tensor_scalar_runs_on_vector_scalar_or_gpsimd(target, engine):
    legal(target, ts(engine="vector"))
    refused(target, "tensor_scalar.engine", ts(engine=engine), "vector",
            "scalar", "gpsimd", engine)


@every_target
def test_tensor_scalar_dst_matches_data(target):
    refused(target, "tensor_scalar.shape", ts(dst=(5, 8, "float32")), "dst",
            "5 partitions", "4")
    refused(target, "tensor_scalar.shape", ts(dst=(4, 9, "float32")), "dst",
            "9 elements", "8")


@every_target
def test_op1_and_operand1_go_together(target):
    legal(target, ts(op1="multiply", operand1=2.0))
    legal(target, ts(op1=None, operand1=None))
    refused(target, "tensor_scalar.operand1_missing", ts(op1="multiply"),
            "op1", "operand1", "multiply", "None")
    refused(target, "tensor_scalar.operand1_missing", ts(operand1=2.0),
            "op1", "operand1", "2")


@every_target
@pytest.mark.parametrize("op", ["abs", "rsqrt", "reciprocal", "square", "relu"])
def test_a_unary_op1_needs_no_operand1(target, op):
    # Only op0 is restricted to trn3 for square and relu (release notes).
    legal(target, ts(op1=op))


@every_target
def test_a_binary_op0_needs_operand0(target):
    refused(target, "tensor_scalar.operand0_missing", ts("add", None),
            "operand0", "add")


@every_target
def test_op0_and_op1_are_both_arithmetic_or_both_bitwise(target):
    legal(target, ts("bitwise_and", 7, "int32", op1="left_shift", operand1=1))
    refused(target, "tensor_scalar.mixed_kinds",
            ts("bitwise_and", 7, "int32", op1="add", operand1=1),
            "op0", "op1", "bitwise_and", "add")
    refused(target, "tensor_scalar.mixed_kinds",
            ts("add", 7.0, "int32", op1="bitwise_and", operand1=1),
            "op0", "op1", "bitwise_and", "add")


@every_target
def test_bitwise_tensor_scalar_runs_on_vector_only(target):
    legal(target, ts("bitwise_xor", 1, "uint8", engine="vector"))
    refused(target, "tensor_scalar.bitvec_engine",
            ts("bitwise_xor", 1, "uint8", engine="gpsimd"), "vector", "gpsimd")
    if target == "trn3":
        refused(target, "tensor_scalar.bitvec_engine",
                ts("bitwise_xor", 1, "uint8", engine="scalar"), "vector",
                "scalar")


@every_target
@pytest.mark.parametrize("op", [*BITVEC_BIN, "invert"])
@pytest.mark.parametrize("dtype", INT)
def test_bitwise_tensor_scalar_takes_integers(target, op, dtype):
    legal(target, ts(op, None if op == "invert" else 1, dtype))


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d not in INT])
def test_bitwise_tensor_scalar_takes_nothing_else(target, dtype):
    for at in ("dst", "data"):
        refused(target, "tensor_scalar.bitvec_dtype",
                ts("bitwise_and", 1, "int32", **{at: (4, 8, dtype)}),
                dtype, "integer")


@every_target
def test_bitwise_operand_tiles_are_integers(target):
    # cases/behaviours.md row 21
    legal(target, ts("bitwise_and", (4, 1, "int32"), "int32"))
    legal(target, ts("bitwise_and", (4, 1, "uint8"), "uint8"))
    refused(target, "tensor_scalar.bitvec_operand",
            ts("bitwise_and", (4, 1, "float32"), "int32"), "operand0",
            "float32")
    refused(target, "tensor_scalar.bitvec_operand",
            ts("bitwise_and", 1, "int32", op1="bitwise_or",
               operand1=(4, 1, "float32")), "operand1", "float32")


@every_target
def test_bitwise_numbers_are_integers_of_32_bits(target):
    for number in (0, 2**32 - 1, -(2**31)):
        legal(target, ts("bitwise_and", number, "int32"))
    for number in (2**32, -(2**31) - 1, 0.5):
        refused(target, "tensor_scalar.bitvec_operand",
                ts("bitwise_and", number, "int32"), "operand0", "32 bits")


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d != "float32"])
def test_arithmetic_operand_tiles_are_float32(target, dtype):
    # cases/behaviours.md row 21
    id = "tensor_scalar.operand_dtype"
    if dtype == "bool":
        id = "operand.dtype"
    refused(target, id, ts("add", (4, 1, dtype)), "operand0", "float32", dtype)
    refused(target, id, ts(op1="add", operand1=(4, 1, dtype)), "operand1",
            "float32", dtype)


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_operand_tiles_are_columns(target, where):
    column = (4, 1, "float32", where)
    legal(target, ts("add", column))
    legal(target, ts("add", column, op1="multiply", operand1=column))
    for shape in ((4, 2), (5, 1)):
        wrong = (*shape, "float32", where)
        text = f"({shape[0]}, {shape[1]})"
        refused(target, "tensor_scalar.operand_shape", ts("add", wrong),
                "[4, 1]", "operand0", text)
        refused(target, "tensor_scalar.operand_shape",
                ts(op1="add", operand1=wrong), "[4, 1]", "operand1", text)
        refused(target, "scalar_tensor_tensor.operand0_shape",
                stt(operand0=wrong), "[4, 1]", "operand0", text)
        legal(target, stt(operand0=column))


@every_target
@pytest.mark.parametrize("op", ["abs", "rsqrt", "reciprocal"])
def test_operand0_of_a_unary_op0_is_none_or_0(target, op):
    legal(target, ts(op, None))
    legal(target, ts(op, 0))
    legal(target, ts(op, 0.0))
    refused(target, "tensor_scalar.unary_operand", ts(op, 1.0),
            "operand0", op, "1")
    refused(target, "tensor_scalar.unary_operand", ts(op, (4, 1, "float32")),
            "operand0", op)


@every_target
@pytest.mark.parametrize("op", ["square", "relu"])
def test_square_and_relu_as_op0_need_trn3(target, op):
    if target == "trn3":
        legal(target, ts(op, None))
        legal(target, stt(op, operand0=0.0))
    else:
        refused(target, "tensor_scalar.op0_generation", ts(op, None), "op0",
                op, "trn3", target)


SCALAR_PAIRS = (
    ("multiply", 2.0, "add", 1.0), ("multiply", 2.0, None, None),
    ("add", 2.0, None, None),
)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("pair", SCALAR_PAIRS)
def test_the_scalar_engine_does_multiply_add_multiply_and_add(target, pair):
    op0, operand0, op1, operand1 = pair
    legal(target, ts(op0, operand0, op1=op1, operand1=operand1,
                     engine="scalar"))


@pytest.mark.parametrize(
    "pair",
    [("add", 1.0, "multiply", 2.0), ("add", 1.0, "add", 2.0),
     ("multiply", 1.0, "multiply", 2.0), ("subtract", 1.0, None, None),
     ("maximum", 1.0, None, None), ("multiply", 1.0, "subtract", 1.0)],
)
def test_the_scalar_engine_of_trn2_does_no_other_pair(pair):
    op0, operand0, op1, operand1 = pair
    more = {"op1": op1, "operand1": operand1, "engine": "scalar"}
    refused("trn2", "tensor_scalar.scalar_engine_pairs",
            ts(op0, operand0, **more), op0, str(op1), "scalar", "trn2")
    legal("trn3", ts(op0, operand0, **more))


def test_the_scalar_engine_of_trn1_has_no_tensor_scalar():
    # trainium3_arch.rst:218, inferred; isa.json states no rule
    refused("trn1", "tensor_scalar.scalar_engine_generation",
            ts("multiply", 2.0, engine="scalar"), "scalar", "trn1")


@every_target
def test_gpsimd_tensor_scalar_takes_rsqrt_only(target):
    legal(target, ts("rsqrt", None, engine="gpsimd"))
    refused(target, "tensor_scalar.gpsimd_op", ts("add", engine="gpsimd"),
            "gpsimd", "rsqrt", "add")


@every_target
def test_rsqrt_may_run_on_vector_and_on_psum(target):
    legal(target, ts("rsqrt", None, engine="vector"))
    legal(target, ts("rsqrt", None, data=PSUM))
    legal(target, ts("rsqrt", None, dst=PSUM))
    for at in ("data", "dst"):
        refused(target, "operand.gpsimd_psum",
                ts("rsqrt", None, engine="gpsimd", **{at: PSUM}), at, "gpsimd",
                "PSUM", operand=at)


@every_target
@pytest.mark.parametrize("op", CMP)
def test_reverse_swaps_and_is_legal_everywhere(target, op):
    legal(target, ts(op, reverse0=True))
    legal(target, ts("add", op1=op, operand1=1.0, reverse1=True))
    legal(target, stt(op, op, reverse0=True, reverse1=True))


# scalar_tensor_tensor


@every_target
@pytest.mark.parametrize("op", [o for o in ARITH_BIN if o not in GEN4])
def test_scalar_tensor_tensor_takes_arithmetic(target, op):
    legal(target, stt(op, "add"))
    legal(target, stt("add", op))


@every_target
@pytest.mark.parametrize("op", ["abs", "rsqrt", "reciprocal"])
def test_op0_of_scalar_tensor_tensor_may_be_unary_and_op1_not(target, op):
    legal(target, stt(op, "add", operand0=0.0))
    refused(target, "scalar_tensor_tensor.ops", stt("add", op), "op1", op,
            "binary")


@every_target
@pytest.mark.parametrize("op", BITVEC)
def test_scalar_tensor_tensor_takes_no_bitwise_operation(target, op):
    integers = {k: (4, 8, "int32") for k in ("dst", "data", "operand1")}
    assert op not in ARITH
    refused(target, "scalar_tensor_tensor.ops", stt(op, "add", 1, **integers),
            "op0", op, "arithmetic")
    refused(target, "scalar_tensor_tensor.ops", stt("add", op, 1, **integers),
            "op1", op, "arithmetic")


@every_target
def test_at_most_one_tile_of_scalar_tensor_tensor_is_in_psum(target):
    legal(target, stt(data=PSUM))
    legal(target, stt(operand1=PSUM))
    legal(target, stt(operand1=PSUM, dst=PSUM))
    legal(target, stt(operand1=PSUM, operand0=(4, 1, "float32", "psum")))
    refused(target, "scalar_tensor_tensor.both_in_psum",
            stt(data=PSUM, operand1=PSUM), "data", "operand1", "PSUM")


@every_target
@pytest.mark.parametrize("at", ["dst", "data", "operand1"])
def test_scalar_tensor_tensor_operands_match(target, at):
    refused(target, "scalar_tensor_tensor.partitions",
            stt(**{at: (5, 8, "float32")}), "dst", "data", "operand1", "5",
            "4")
    refused(target, "scalar_tensor_tensor.free_size",
            stt(**{at: (4, 9, "float32")}), "dst", "data", "operand1", "9",
            "8")
