"""activation_reduce and activate2: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

import trnemu
from rules_kit import ANY, FP, Bench, every_target, legal, refused
from test_rules_activation import FUNCTIONS

F32 = (4, 1, "float32")


def act_reduce(
    op: str = "exp",
    data: tuple[Any, ...] = (4, 8, "float32"),
    dst: tuple[Any, ...] | None = None,
    res: tuple[Any, ...] | None = F32,
    **operands: Any,
):
    """bias, scale: a tuple is a tile (p, f, dtype)."""

    def act(bench: Bench) -> None:
        call = {
            "reduce_op": "add",
            **{k: bench.sbuf(*v) if isinstance(v, tuple) else v
               for k, v in operands.items()},
        }
        bench.b.activation_reduce(
            dst=bench.sbuf(*(dst or data)), op=op, data=bench.sbuf(*data),
            reduce_res=None if res is None else bench.sbuf(*res), **call,
        )

    return act


@every_target
def test_activation_reduce_is_an_activation_that_resets_and_reads(target):
    p = legal(target, act_reduce())
    text = p.to_text()
    assert "reset_reduce" in text and "ReadAccumulator" in text


@every_target
def test_activation_reduce_may_leave_the_sum_in_the_accumulators(target):
    assert "ReadAccumulator" not in legal(target, act_reduce(res=None)).to_text()


def test_activation_reduce_must_be_told_where_the_sum_goes():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(TypeError, match="missing required argument: 'reduce_res'"):
        b.activation_reduce(dst=t, op="exp", data=t, reduce_op="add")


@every_target
def test_activation_reduce_shapes(target):
    legal(target, act_reduce(data=(128, 8), res=(128, 1)))
    refused(target, "activation_reduce.shape", act_reduce(dst=(5, 8)), "dst has 5",
            "data 4")
    refused(target, "activation_reduce.free_size", act_reduce(dst=(4, 9)),
            "dst has 9", "data 8")
    for shape in ((4, 2), (5, 1)):
        refused(target, "activation_reduce.reduce_res_shape",
                act_reduce(res=shape), "[4, 1]", str(shape), operand="reduce_res")
    for dtype in FP:
        legal(target, act_reduce(res=(4, 1, dtype)))
    refused(target, "operand.dtype", act_reduce(res=(4, 1, "int32")),
            "reduce_res", "int32")


@every_target
def test_activation_reduce_adds_only(target):
    for op in ("maximum", "multiply", "minimum"):
        id = "reduce_op_gen2" if target == "trn1" else "reduce_op"
        refused(target, f"activation_reduce.{id}", act_reduce(reduce_op=op), op,
                operand="reduce_op")


@every_target
def test_activation_reduce_scale_and_bias_are_those_of_activation(target):
    legal(target, act_reduce(scale=F32, bias=(4, 1, "bfloat16")))
    refused(target, "activation_reduce.scale_shape",
            act_reduce(scale=(4, 2, "float32")), "(4, 2)")
    refused(target, "activation_reduce.scale_partitions",
            act_reduce(scale=(5, 1, "float32")), "(5, 1)")
    refused(target, "operand.dtype", act_reduce(scale=(4, 1, "bfloat16")),
            "scale", "bfloat16")
    for shape in ((4, 2), (5, 1)):
        refused(target, "activation_reduce.bias_shape", act_reduce(bias=shape),
                str(shape))
    refused(target, "operand.dtype", act_reduce(bias=(4, 1, "tfloat32")), "bias")
    if target == "trn1":
        refused(target, "activation_reduce.bias_immediate", act_reduce(bias=1.0),
                "1", target)
        refused(target, "activation_reduce.reciprocal_bias",
                act_reduce("reciprocal", bias=F32), target)
    else:
        legal(target, act_reduce(bias=1.0))
        # 1/0, which a run warns of
        legal(target, act_reduce("reciprocal", bias=F32), run=False)


def activate2(
    op: str = "exp",
    data: tuple[Any, ...] = (4, 8, "float32"),
    dst: tuple[Any, ...] | None = None,
    where: tuple[str, str] = ("sbuf", "sbuf"),
    column: str = "sbuf",
    **operands: Any,
):
    """A tuple is a tile (p, f, dtype) for a column."""

    def act(bench: Bench) -> None:
        call = {
            "imm0": 2.0, "imm1": 0.5, "op0": "multiply", "op1": "add",
            **operands,
        }
        call = {k: bench.tile(column, *v) if isinstance(v, tuple) else v
                for k, v in call.items()}
        bench.b.activate2(
            dst=bench.tile(where[0], *(dst or data)), op=op,
            data=bench.tile(where[1], *data), **call,
        )

    return act


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_activate2_needs_trn3(target):
    refused(target, "activate2.generation", activate2(), "trn3", target)
    legal("trn3", activate2())


@pytest.mark.parametrize("op", [*FUNCTIONS, "prelu"])
def test_activate2_has_every_function(op):
    legal("trn3", activate2(op, op0="bypass", op1="bypass"), run=op != "log")


PAIRS = [("multiply", "add"), ("multiply", "subtract"), ("multiply", "bypass"),
         ("add", "bypass"), ("subtract", "bypass"), ("bypass", "bypass")]
ALL = ("multiply", "add", "subtract", "bypass", "maximum", "power", "abs",
       "bitwise_and")


@pytest.mark.parametrize("op0", ALL)
@pytest.mark.parametrize("op1", ALL)
def test_activate2_has_six_pairs_of_operations(op0, op1):
    if (op0, op1) in PAIRS:
        legal("trn3", activate2(op0=op0, op1=op1))
    else:
        refused("trn3", "activate2.ops", activate2(op0=op0, op1=op1),
                f"{op0} and {op1}")


def test_the_operations_are_not_optional():
    for missing in ("op0", "op1", "imm0", "imm1"):
        b = trnemu.ProgramBuilder(target="trn3")
        t = b.sbuf((4, 8), "float32")
        call = {"op0": "multiply", "op1": "add", "imm0": 1.0, "imm1": 0.0}
        del call[missing]
        with pytest.raises(TypeError, match=f"missing.*'{missing}'"):
            b.activate2(dst=t, op="exp", data=t, **call)


def test_bypass_is_of_activate2_alone():
    fault = refused("trn3", "operand.value", activate2(op0="bypas"), '"bypas"',
                    "bypass")
    assert fault.operand == "op0"
    refused("trn3", "operand.value", lambda k: k.b.tensor_tensor(
        dst=k.sbuf(), data1=k.sbuf(), data2=k.sbuf(), op="bypass"), '"bypass"')


def test_activate2_shapes():
    legal("trn3", activate2(data=(128, 8), imm0=(128, 1)))
    refused("trn3", "activate2.shape", activate2(dst=(5, 8)), "dst has 5")
    refused("trn3", "activate2.free_size", activate2(dst=(4, 9)), "dst has 9")
    for name in ("imm0", "imm1"):
        legal("trn3", activate2(**{name: F32}))
        legal("trn3", activate2(**{name: F32}, column="psum"))
        for shape in ((4, 2), (5, 1)):
            refused("trn3", "activate2.immediates_shape",
                    activate2(**{name: shape}), str(shape))
        refused("trn3", "operand.dtype",
                activate2(**{name: (4, 1, "bfloat16")}), name)
    legal("trn3", activate2(imm0=F32, imm1=F32))
    for shape in ((4, 2), (5, 1)):
        refused("trn3", "activate2.relu_param_shape",
                activate2("prelu", relu_param=shape), str(shape))
        refused("trn3", "activate2.reduce_res_shape",
                activate2(reduce_op="add", reduce_cmd="reset_reduce",
                          reduce_res=shape), str(shape))


@pytest.mark.parametrize("dtype", ANY)
def test_activate2_takes_every_dtype(dtype):
    legal("trn3", activate2("copy", (4, 8, dtype), relu_param=(4, 1, dtype),
                            reduce_op="add", reduce_cmd="reset_reduce",
                            reduce_res=(4, 1, dtype)))


@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_activate2_reads_and_writes_sbuf_and_psum(dst, data):
    legal("trn3", activate2(where=(dst, data)))


def test_activate2_reverses_operations_that_are_there():
    legal("trn3", activate2(reverse0=True, reverse1=True))
    legal("trn3", activate2(op0="subtract", op1="bypass", reverse0=True))
    refused("trn3", "activate2.reverse",
            activate2(op0="bypass", op1="bypass", reverse0=True), "bypass")
    refused("trn3", "activate2.reverse",
            activate2(op1="bypass", reverse1=True), "bypass")


REDUCTIONS = ("add", "maximum", "minimum", "abs_max", "abs_min")


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("command", ["reset", "reset_reduce"])
def test_activate2_has_five_reductions(op, command):
    legal("trn3", activate2(reduce_op=op, reduce_cmd=command, reduce_res=F32))


@pytest.mark.parametrize("op", ["multiply", "subtract", "logical_or",
                                "bitwise_and", "power"])
def test_activate2_has_no_other_reduction(op):
    refused("trn3", "activate2.reduce_op",
            activate2(reduce_op=op, reduce_cmd="reset_reduce"), op)


def test_activate2_does_not_load_its_accumulators():
    refused("trn3", "activate2.reduce_cmd",
            activate2(reduce_op="add", reduce_cmd="load_reduce"), "load_reduce")


@pytest.mark.parametrize("command", ["reset", "reduce", "reset_reduce"])
def test_activate2_needs_the_reduction_it_shall_do(command):
    refused("trn3", "activate2.reduce_op_missing",
            activate2(reduce_cmd=command), command)
    legal("trn3", activate2(reduce_cmd="idle"))
    legal("trn3", activate2(reduce_op="add", reduce_cmd="idle"))


def lint(act: Any, target: str = "trn3") -> list[str]:
    bench = Bench(target)
    act(bench)
    found = bench.b.build().verify(layers=["device", "backend", "lint"])
    return [f.id for f in found]


def test_a_relu_param_that_nothing_reads_is_lint():
    assert lint(activate2("prelu", relu_param=0.1)) == []
    assert lint(activate2("relu")) == []
    for param in (0.1, F32):
        assert lint(activate2("relu", relu_param=param)) == [
            "activate2.relu_param_unused"]


def test_what_the_accumulators_hold_must_be_known():
    for act in (activate2(reduce_op="add", reduce_cmd="reduce"),
                activate2(reduce_res=F32)):
        bench = Bench("trn3")
        act(bench)
        with pytest.raises(trnemu.Fault) as info:
            trnemu.run(bench.b.build(), {})
        assert info.value.id == "activation.accumulator_unset"
        assert info.value.category == "uninitialized"
