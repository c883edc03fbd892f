"""tensor_scalar_reduce, tensor_scalar_cumulative, tensor_tensor_scan and
exponential: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

import trnemu
from rules_kit import (
    ANY, ARITH, ARITH_BIN, ARITH_UN, BITVEC, INT, X4, Bench, every_target,
    legal, refused,
)

COLUMN = (4, 1, "float32")
GEN4 = ("abs_max", "abs_min", "square", "relu")


def use(
    operation: str,
    tiles: dict[str, tuple[Any, ...]],
    where: dict[str, str] | None = None,
    **call: Any,
):
    """The operation on tiles (p, f, dtype); of the rest, a tuple is a tile."""

    def act(bench: Bench) -> None:
        operands = {
            k: bench.tile((where or {}).get(k, "sbuf"), *v)
            if isinstance(v, tuple) else v
            for k, v in {**tiles, **call}.items()
        }
        getattr(bench.b, operation)(**operands)

    return act


def tsr(data=(4, 8, "float32"), dst=None, where=None, **call: Any):
    return use("tensor_scalar_reduce", {"dst": dst or data, "data": data},
               where, **{"op0": "add", "operand0": 1.0, "reduce_op": "add",
                         **call})


def tsc(src=(4, 8, "float32"), dst=None, where=None, **call: Any):
    return use("tensor_scalar_cumulative", {"dst": dst or src, "src": src},
               where, **{"op0": "add", "op1": "add", "imm0": 1.0, **call})


def tts(data0=(4, 8, "float32"), data1=None, dst=None, where=None, **call: Any):
    return use("tensor_tensor_scan",
               {"dst": dst or data0, "data0": data0, "data1": data1 or data0},
               where, **{"op0": "multiply", "op1": "add", "initial": 0.0,
                         **call})


def exponential(src=(4, 8, "float32"), dst=None, where=None, **call: Any):
    return use("exponential", {"dst": dst or src, "src": src}, where, **call)


def lint(target: str, act: Any) -> list[str]:
    bench = Bench(target)
    act(bench)
    found = bench.b.build().verify(layers=["device", "backend", "lint"])
    return [f.id for f in found]


# ---- tensor_scalar_reduce ----


@every_target
@pytest.mark.parametrize("op", [o for o in ARITH if o not in GEN4])
def test_tensor_scalar_reduce_has_every_arithmetic_operation(target, op):
    legal(target, tsr(op0=op, operand0=0))


@every_target
@pytest.mark.parametrize("op", BITVEC)
def test_tensor_scalar_reduce_has_no_bitwise_operation(target, op):
    refused(target, "tensor_scalar_reduce.op0",
            tsr((4, 8, "int32"), op0=op, operand0=0), op, operand="op0")


@every_target
@pytest.mark.parametrize("op", GEN4)
def test_four_operations_came_with_trn3(target, op):
    for id, act in (
        ("tensor_scalar_reduce.op0_generation", tsr(op0=op, operand0=0)),
        ("tensor_scalar_cumulative.op0_generation", tsc(op0=op, imm0=0)),
    ):
        if target == "trn3":
            legal(target, act)
        else:
            refused(target, id, act, op, "trn3", target)


@every_target
@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("command", ["reset_reduce", "load_reduce"])
def test_tensor_scalar_reduce_has_four_reductions(target, op, command):
    init = {"reduce_init": 1.0} if command == "load_reduce" else {}
    legal(target, tsr(reduce_op=op, reduce_cmd=command, reduce_res=COLUMN,
                      **init))


@every_target
@pytest.mark.parametrize("op", ["subtract", "logical_or", "bitwise_and",
                                "power", "abs_max"])
def test_tensor_scalar_reduce_has_no_other_reduction(target, op):
    refused(target, "tensor_scalar_reduce.reduce_op", tsr(reduce_op=op), op)


@every_target
def test_tensor_scalar_reduce_does_not_reverse(target):
    legal(target, tsr(reverse0=False))
    refused(target, "tensor_scalar_reduce.reverse0", tsr(reverse0=True), "True")


@every_target
@pytest.mark.parametrize("command", ["idle", "reset"])
def test_tensor_scalar_instructions_always_accumulate(target, command):
    refused(target, "tensor_scalar_reduce.reduce_cmd", tsr(reduce_cmd=command),
            command)
    refused(target, "tensor_scalar_cumulative.reduce_cmd",
            tsc(reduce_cmd=command), command)


@every_target
def test_reduce_init_and_load_reduce_go_together(target):
    id = "tensor_scalar_reduce.reduce_init"
    legal(target, tsr(reduce_cmd="load_reduce", reduce_init=0.0))
    legal(target, tsr(reduce_cmd="load_reduce", reduce_init=COLUMN))
    refused(target, id, tsr(reduce_cmd="load_reduce"), "None")
    refused(target, id, tsr(reduce_init=0.0), "reset_reduce")
    refused(target, id, tsr(reduce_cmd="reduce", reduce_init=COLUMN), "reduce")


@every_target
def test_tensor_scalar_reduce_shapes(target):
    legal(target, tsr((128, 8)))
    for dst in ((5, 8), (4, 9)):
        refused(target, "tensor_scalar_reduce.shape", tsr(dst=dst), "dst has")
    for shape in ((4, 2), (5, 1)):
        refused(target, "tensor_scalar_reduce.reduce_res_shape",
                tsr(reduce_res=shape), str(shape))
        for name in ("operand0", "reduce_init"):
            refused(target, "tensor_scalar_reduce.operand_shape",
                    tsr(reduce_cmd="load_reduce",
                        **{"reduce_init": 0.0, name: shape}), str(shape))
    for name in ("operand0", "reduce_init"):
        refused(target, "operand.dtype",
                tsr(reduce_cmd="load_reduce",
                    **{"reduce_init": 0.0, name: (4, 1, "bfloat16")}), name)


@every_target
@pytest.mark.parametrize("op", [o for o in ARITH_UN if o not in GEN4])
def test_a_unary_op0_has_no_operand(target, op):
    for none in (None, 0, 0.0):
        legal(target, tsr(op0=op, operand0=none))
    for some in (1.0, COLUMN):
        refused(target, "tensor_scalar_reduce.unary_operand",
                tsr(op0=op, operand0=some), op)
        refused(target, "tensor_scalar_cumulative.unary_operand",
                tsc(op0=op, imm0=some), op)
    legal(target, tsc(op0=op, imm0=0))


@every_target
def test_a_binary_op0_has_one(target):
    refused(target, "tensor_scalar_reduce.operand0_missing",
            tsr(operand0=None), "add", "operand0")


def test_operand0_is_not_optional():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(TypeError, match="missing required argument: 'operand0'"):
        b.tensor_scalar_reduce(dst=t, data=t, op0="abs", reduce_op="add")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_tensor_scalar_reduce_takes_every_dtype(target, dtype):
    legal(target, tsr((4, 8, dtype), reduce_res=(4, 1, dtype)))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_do_not_accumulate(target, dtype):
    refused(target, "operand.dtype", tsr((4, 8, dtype), (4, 8)), dtype)
    refused(target, "operand.dtype", tsc((4, 8, dtype), (4, 8)), dtype)
    refused(target, "operand.dtype", tts((4, 8, dtype), (4, 8), (4, 8)), dtype)


@every_target
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_all_read_and_write_sbuf_and_psum(target, dst, data):
    legal(target, tsr(where={"dst": dst, "data": data}))
    legal(target, tsc(where={"dst": dst, "src": data}))
    legal(target, tts(where={"dst": dst, "data0": data}))
    legal(target, tts(where={"dst": dst, "data1": data}))
    if target == "trn3":
        legal(target, exponential(where={"dst": dst, "src": data}))


# ---- tensor_scalar_cumulative ----


@every_target
@pytest.mark.parametrize("op", [o for o in ARITH if o not in GEN4])
def test_tensor_scalar_cumulative_has_every_arithmetic_operation(target, op):
    legal(target, tsc(op0=op, imm0=0))


@every_target
@pytest.mark.parametrize("op", BITVEC)
def test_tensor_scalar_cumulative_has_no_bitwise_operation(target, op):
    refused(target, "tensor_scalar_cumulative.op0",
            tsc((4, 8, "int16"), op0=op, imm0=0), op)


SCANS = ("add", "subtract", "multiply", "maximum", "minimum")


@every_target
@pytest.mark.parametrize("op", SCANS)
def test_tensor_scalar_cumulative_has_five_scans(target, op):
    legal(target, tsc(op1=op))


@every_target
@pytest.mark.parametrize(
    "op", [o for o in (*ARITH, *BITVEC) if o not in SCANS])
def test_tensor_scalar_cumulative_has_no_other_scan(target, op):
    refused(target, "tensor_scalar_cumulative.op1", tsc(op1=op), op)


CUMULATIVE = ("bfloat16", "float16", "float32", "float8_e4m3", "float8_e5m2",
              "uint8", "uint16", "int8", "int16")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_tensor_scalar_cumulative_takes_nine_dtypes(target, dtype):
    if dtype in CUMULATIVE:
        legal(target, tsc((4, 8, dtype)))
        return
    refused(target, "operand.dtype", tsc((4, 8, dtype), (4, 8)), dtype)
    refused(target, "operand.dtype", tsc((4, 8), (4, 8, dtype)), dtype)


@every_target
def test_tensor_scalar_cumulative_shapes(target):
    legal(target, tsc((128, 8), imm0=(128, 1)))
    for dst in ((5, 8), (4, 9)):
        refused(target, "tensor_scalar_cumulative.shape", tsc(dst=dst))
    load = {"reduce_cmd": "load_reduce", "imm1": 1.0}
    for shape in ((4, 2), (5, 1)):
        refused(target, "tensor_scalar_cumulative.immediates", tsc(imm0=shape),
                str(shape))
    refused(target, "tensor_scalar_cumulative.immediates",
            tsc(**{**load, "imm1": (4, 2)}), "(4, 2)")
    refused(target, "tensor_scalar_cumulative.imm1_partitions",
            tsc(**{**load, "imm1": (5, 1)}), "(5, 1)")
    legal(target, tsc(**{**load, "imm1": COLUMN}))


@every_target
def test_load_reduce_loads_imm1(target):
    legal(target, tsc(reduce_cmd="load_reduce", imm1=1.0))
    refused(target, "tensor_scalar_cumulative.imm1_missing",
            tsc(reduce_cmd="load_reduce"), "imm1")
    assert lint(target, tsc(reduce_cmd="load_reduce", imm1=1.0)) == []
    assert lint(target, tsc(imm1=1.0)) == ["tensor_scalar_cumulative.imm1_unused"]


# ---- tensor_tensor_scan ----


@every_target
@pytest.mark.parametrize("op", [*ARITH, *BITVEC])
def test_scans_take_binary_arithmetic_operations(target, op):
    for acts in (tts(op0=op), tts(op1=op)):
        if op not in ARITH_BIN:
            refused(target, "tensor_tensor_scan.ops", acts, op)
        elif op.startswith("abs_") and target != "trn3":
            refused(target, "tensor_tensor_scan.generation", acts, op, "trn3")
        else:
            legal(target, acts)


@every_target
def test_scan_shapes(target):
    legal(target, tts((128, 8), initial=(128, 1)))
    for other in ((5, 8), (4, 9)):
        refused(target, "tensor_tensor_scan.shape", tts(dst=other))
        refused(target, "tensor_tensor_scan.shape", tts(data1=other))
    for shape in ((4, 2), (5, 1)):
        refused(target, "tensor_tensor_scan.initial_shape", tts(initial=shape),
                str(shape))
    refused(target, "operand.dtype", tts(initial=(4, 1, "bfloat16")), "initial")


@every_target
def test_the_inputs_of_a_scan_are_not_both_in_psum(target):
    refused(target, "tensor_tensor_scan.both_in_psum",
            tts(where={"data0": "psum", "data1": "psum"}), "PSUM")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_scans_take_every_dtype(target, dtype):
    legal(target, tts((4, 8, dtype), op0="maximum", op1="maximum"))


# ---- exponential ----


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_exponential_needs_trn3(target):
    refused(target, "exponential.generation", exponential(), "trn3", target)
    legal("trn3", exponential())


RES = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32",
       "tfloat32")


@pytest.mark.parametrize("dtype", ANY)
def test_dtypes_of_exponential(dtype):
    f32 = (4, 8, "float32")
    lists = {
        "dst": (*RES, *(d for d in INT if d != "uint32")),
        "src": (*(d for d in RES if d != "tfloat32"), *INT),
    }
    for name, allowed in lists.items():
        act = exponential(**{"src": f32, "dst": f32, name: (4, 8, dtype)})
        if dtype in allowed:
            legal("trn3", act)
        else:
            refused("trn3", "operand.dtype", act, name, dtype)
    act = exponential(reduce_cmd="reset_reduce", reduce_res=(4, 1, dtype))
    if dtype in RES:
        legal("trn3", act)
    else:
        refused("trn3", "operand.dtype", act, "reduce_res", dtype)


def test_exponential_shapes():
    legal("trn3", exponential((128, 8), max_value=(128, 1)))
    for dst in ((5, 8), (4, 9)):
        refused("trn3", "exponential.shape", exponential(dst=dst))
    for shape in ((4, 2), (5, 1)):
        refused("trn3", "exponential.max_value", exponential(max_value=shape))
        refused("trn3", "exponential.reduce_res_shape",
                exponential(reduce_cmd="reset_reduce", reduce_res=shape))
        refused("trn3", "exponential.reduce_init_shape",
                exponential(reduce_cmd="load_reduce", reduce_init=shape))
    for name in ("max_value", "reduce_init"):
        refused("trn3", "operand.dtype",
                exponential(reduce_cmd="load_reduce",
                            **{name: (4, 1, "bfloat16")}), name)


def test_exponential_has_four_dimensions():
    legal("trn3", exponential((4, (2, 1, 4))))
    for name in ("src", "dst"):
        shapes = {"src": (4, 16), "dst": (4, 16), name: (4, (2, 2, 2, 2))}
        refused("trn3", "exponential.rank", exponential(**shapes), "4 dim")


def test_exponential_loads_what_load_reduce_is_given():
    legal("trn3", exponential(reduce_cmd="load_reduce", reduce_init=2.0))
    legal("trn3", exponential(reduce_cmd="load_reduce", reduce_init=COLUMN))
    for command in ("idle", "reset_reduce"):
        legal("trn3", exponential(reduce_cmd=command, reduce_init=0.0))
        for init in (2.0, COLUMN):
            refused("trn3", "exponential.reduce_init",
                    exponential(reduce_cmd=command, reduce_init=init), command)


def test_exponential_always_adds_when_it_resets():
    refused("trn3", "exponential.reduce_cmd", exponential(reduce_cmd="reset"),
            "reset")


# ---- what the accumulators hold must be known ----


def unset(target: str, *acts: Any, **options: Any) -> trnemu.Fault | None:
    bench = Bench(target)
    for act in acts:
        act(bench)
    try:
        trnemu.run(bench.b.build(), {}, **options)
    except trnemu.Fault as fault:
        assert fault.id == "vector.accumulator_unset", fault.message
        assert fault.category == "uninitialized"
        return fault
    return None


@every_target
def test_accumulating_onto_what_nothing_reset_is_uninitialized(target):
    for act in (tsr(reduce_cmd="reduce"), tsc(reduce_cmd="reduce")):
        assert "reduce_cmd=reduce adds to" in unset(target, act).message
        assert unset(target, act, allow=["vector.accumulator_unset"]) is None
        assert unset(target, act, checks="off") is None
        assert unset(target, tsr(), act) is None
        assert unset(target, tsc(), act) is None


@every_target
def test_a_reset_of_fewer_lanes_leaves_the_rest_unset(target):
    fault = unset(target, tsr((33, 8)), tsr((64, 8), reduce_cmd="reduce"))
    assert "lane 33" in fault.message
    assert unset(target, tsr((64, 8)), tsr((33, 8), reduce_cmd="reduce")) is None


def test_idle_leaves_the_accumulators_unknown():
    res = {"reduce_res": COLUMN}
    fault = unset("trn3", exponential(**res))
    assert "reduce_res reads" in fault.message
    assert unset("trn3", tsr(), exponential(), tsr(reduce_cmd="reduce"))
    assert unset("trn3", tsr(), exponential(), tsc(reduce_cmd="reduce"))
    assert unset("trn3", tsr(), exponential(),
                 exponential(reduce_cmd="reset_reduce", **res)) is None
    assert unset("trn3", tsr((64, 8)), exponential(),
                 exponential((64, 8), reduce_cmd="reduce"))


def test_idle_is_of_every_lane():
    fault = unset("trn3", tsr((64, 8)), exponential(), tsr(),
                  tsr((64, 8), reduce_cmd="reduce"))
    assert "lane 4" in fault.message


def test_a_scan_leaves_the_accumulators_alone():
    assert unset("trn2", tsr(), tts(), tsr(reduce_cmd="reduce")) is None
