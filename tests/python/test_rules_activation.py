"""activation: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from rules_kit import ANY, FP, INT, X4, Bench, every_target, legal, refused

FUNCTIONS = (
    "copy", "square", "sigmoid", "relu", "gelu", "gelu_dx", "gelu_apprx_tanh",
    "gelu_apprx_sigmoid", "gelu_apprx_sigmoid_dx", "silu", "silu_dx", "tanh",
    "softplus", "mish", "erf", "erf_dx", "exp", "log", "sin", "arctan", "sqrt",
    "rsqrt", "reciprocal", "sign", "abs",
)


def activation(
    op: str = "exp",
    data: tuple[int, int, str] = (4, 8, "float32"),
    dst: tuple[int, int, str] | None = None,
    where: tuple[str, str] = ("sbuf", "sbuf"),
    column: str = "sbuf",
    **operands: Any,
):
    """bias, scale, reduce_res: a tuple is a tile (p, f, dtype)."""

    def act(bench: Bench) -> None:
        call = {
            k: bench.tile(column, *v) if isinstance(v, tuple) else v
            for k, v in operands.items()
        }
        bench.b.activation(
            dst=bench.tile(where[0], *(dst or data)), op=op,
            data=bench.tile(where[1], *data), **call,
        )

    return act


@every_target
@pytest.mark.parametrize("op", [*FUNCTIONS, "prelu"])
def test_every_function_of_the_table_is_there(target, op):
    # log(0) and others are outside their range, which a run only warns of.
    legal(target, activation(op), run=op != "prelu")


@every_target
@pytest.mark.parametrize("op", ["maximum", "Exp", "", "softmax", "none"])
def test_no_other_function_is(target, op):
    refused(target, "operand.value", activation(op), "op", f'"{op}"',
            operand="op")


@every_target
def test_dst_has_the_partitions_of_data(target):
    legal(target, activation(data=(128, 8, "float32")))
    refused(target, "activation.shape",
            activation(data=(4, 8, "float32"), dst=(5, 8, "float32")),
            "dst", "dst has 5", "data 4")


@every_target
def test_dst_has_as_many_elements_as_data(target):
    legal(target, activation(data=(4, 8, "float32"), dst=(4, 8, "bfloat16")))
    refused(target, "activation.free_size",
            activation(data=(4, 8, "float32"), dst=(4, 9, "float32")),
            "dst", "dst has 9", "data 8")


@every_target
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_data_and_dst_are_in_sbuf_or_psum(target, dst, data):
    legal(target, activation(where=(dst, data)))


@every_target
@pytest.mark.parametrize("operand", ["dst", "data"])
def test_data_and_dst_are_not_in_hbm(target, operand):
    def act(bench: Bench) -> None:
        tiles = {"dst": bench.sbuf(), "data": bench.sbuf()}
        tiles[operand] = bench.output()
        bench.b.activation(op="exp", **tiles)

    refused(target, "operand.buffer", act, operand, "sbuf or psum", "hbm",
            operand=operand)


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_data_and_dst_are_of_every_dtype(target, dtype):
    legal(target, activation("copy", (4, 8, dtype)))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_are_no_data(target, dtype):
    refused(target, "operand.dtype",
            activation("copy", (4, 8, dtype), (4, 8, "float32")), "data", dtype,
            operand="data")
    refused(target, "operand.dtype",
            activation("copy", (4, 8, "float32"), (4, 8, dtype)), "dst", dtype,
            operand="dst")


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_scale_is_a_number_or_a_float32_column(target, where):
    legal(target, activation(scale=2.0))
    legal(target, activation(scale=2))
    legal(target, activation(scale=(4, 1, "float32"), column=where))
    refused(target, "activation.scale_shape",
            activation(scale=(4, 2, "float32"), column=where),
            "scale", "[4, 1]", "(4, 2)")
    refused(target, "activation.scale_shape",
            activation(scale=(5, 1, "float32"), column=where),
            "scale", "[4, 1]", "(5, 1)")


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d != "float32"])
def test_a_scale_column_is_float32_only(target, dtype):
    refused(target, "operand.dtype", activation(scale=(4, 1, dtype)),
            "scale", "float32", dtype, operand="scale")


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_bias_is_a_column(target, where):
    legal(target, activation(bias=(4, 1, "float32"), column=where))
    legal(target, activation(bias=None))
    refused(target, "activation.bias_shape",
            activation(bias=(4, 2, "float32"), column=where),
            "bias", "[4, 1]", "(4, 2)")
    refused(target, "activation.bias_shape",
            activation(bias=(3, 1, "float32"), column=where),
            "bias", "[4, 1]", "(3, 1)")


@every_target
def test_a_bias_of_128_by_64_is_refused(target):
    # cases/behaviours.md row 15
    refused(target, "activation.bias_shape",
            activation("copy", (128, 64, "float32"), bias=(128, 64, "float32")),
            "bias", "[128, 1]", "(128, 64)")


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d != "tfloat32"])
def test_a_bias_column_is_of_every_dtype_but_tfloat32(target, dtype):
    legal(target, activation(bias=(4, 1, dtype)))


@every_target
def test_a_bias_column_is_not_tfloat32(target):
    refused(target, "operand.dtype", activation(bias=(4, 1, "tfloat32")),
            "bias", "tfloat32", operand="bias")


@every_target
@pytest.mark.parametrize("bias", [1.0, 0.0, 0])
def test_bias_may_be_a_number_from_trn2_on(target, bias):
    if target == "trn1":
        refused(target, "activation.bias_immediate", activation(bias=bias),
                "bias", f"{bias:g}", "trn1")
    else:
        legal(target, activation(bias=bias))


@every_target
def test_reciprocal_takes_no_bias_on_trn1(target):
    legal(target, activation("reciprocal"))
    call = activation("reciprocal", bias=(4, 1, "float32"))
    if target == "trn1":
        refused(target, "activation.reciprocal_bias", call, "bias",
                "reciprocal", "trn1")
    else:
        legal(target, call)


@every_target
def test_reduce_op_is_add_or_none(target):
    legal(target, activation(reduce_op="add", reduce_cmd="reset_reduce"))
    legal(target, activation(reduce_op=None, reduce_cmd="idle"))
    for op in ("maximum", "multiply", "bitwise_and", "abs_max"):
        refused(target, "activation.reduce_op",
                activation(reduce_op=op, reduce_cmd="reset_reduce"),
                "reduce_op", "None or add", op)


@every_target
@pytest.mark.parametrize("cmd", ["idle", "reset", "reduce", "reset_reduce"])
def test_reduce_cmd_is_idle_reset_reduce_or_reset_reduce(target, cmd):
    legal(target, activation(reduce_op="add", reduce_cmd=cmd), run=False)


@every_target
def test_load_reduce_is_not_for_activation(target):
    refused(target, "activation.reduce_cmd",
            activation(reduce_op="add", reduce_cmd="load_reduce"),
            "reduce_cmd", "load_reduce", "reset_reduce")


REDUCED = {"reduce_op": "add", "reduce_cmd": "reset_reduce"}


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_reduce_res_is_a_column(target, where):
    legal(target, activation(reduce_res=(4, 1, "float32"), column=where,
                             **REDUCED))
    for shape in ((4, 2), (3, 1)):
        refused(target, "activation.reduce_res_shape",
                activation(reduce_res=(*shape, "float32"), column=where,
                           **REDUCED),
                "reduce_res", "[4, 1]", f"({shape[0]}, {shape[1]})")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_reduce_res_is_of_a_float_type(target, dtype):
    call = activation(reduce_res=(4, 1, dtype), **REDUCED)
    if dtype in FP:
        legal(target, call)
    else:
        assert dtype in (*INT, "bool")
        refused(target, "operand.dtype", call, "reduce_res", dtype,
                operand="reduce_res")
