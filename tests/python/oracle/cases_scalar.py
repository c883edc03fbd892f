"""Random legal uses of the scalar engine's activations."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ref
from oracle.cases_vector import FP, Draw, dtypes, _result, _sequence
from oracle.types import Case
from oracle.scalar import EXACT
from reference import ANY

ACT = tuple(ref.ACTIVATIONS)
BIAS = tuple(t for t in ANY if t != "tfloat32")
COMMANDS = ("idle", "reset", "reduce", "reset_reduce")


def _data(d: Draw) -> dict[str, Any]:
    """Sizes around where functions bend, and beyond their ranges."""
    return {"size": d.one((0.5, 1, 4, 4, 20)), "edges": d.one((0, 0, 0.3))}


def _scale_and_bias(d: Draw, case: Case, op: str) -> None:
    """trn1 takes no number as bias, and no bias with reciprocal."""
    if d.chance(0.6):
        d.scalar(case, "scale")
    if d.gen == 2 and op == "reciprocal" or d.chance(0.3):
        return
    if d.gen >= 3 and d.chance(0.4):
        case.attributes["bias"] = d.number()
    else:
        case.operands["bias"] = d.per_partition(d.one(BIAS))


def _start(d: Draw, operation: str) -> Case:
    dst, data = dtypes(d, 2)
    return d.case(operation, dst=d.out(dst),
                  data=d.operand(data, d.space(), **_data(d)))


def _activation_step(d: Draw, command: str) -> Case:
    case = _start(d, "activation")
    op = d.one((*ACT, *EXACT))
    case.attributes["op"] = op
    _scale_and_bias(d, case, op)
    if command != "idle" or d.chance(0.3):
        case.attributes |= {"reduce_cmd": command, "reduce_op": "add"}
        _result(d, case)
    return case


def activation(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    case = _sequence(d, _activation_step, ("idle", *COMMANDS))
    return d.in_place(case, "data")


def activation_reduce(rng: np.random.Generator, gen: int) -> Case:
    """reduce_res=None keeps the sum in the accumulators."""
    d = Draw(rng, gen)
    case = _start(d, "activation_reduce")
    op = d.one(ACT)
    case.attributes |= {"op": op, "reduce_op": "add"}
    _scale_and_bias(d, case, op)
    case.operands["reduce_res"] = d.out(d.one(FP), shape=(d.p, 1))
    case.outputs = ("dst", "reduce_res")
    return case


PAIRS = (("multiply", "add"), ("multiply", "subtract"), ("multiply", "bypass"),
         ("add", "bypass"), ("subtract", "bypass"), ("bypass", "bypass"))


def _activate2_step(d: Draw, command: str) -> Case:
    case = _start(d, "activate2")
    op = d.one((*ACT, *EXACT, "prelu"))
    case.attributes["op"] = op
    for i, alu in enumerate(d.one(PAIRS)):
        case.attributes[f"op{i}"] = alu
        d.scalar(case, f"imm{i}")
        if alu != "bypass":
            case.attributes[f"reverse{i}"] = d.chance(0.3)
    if op == "prelu":
        d.scalar(case, "relu_param")
    if command != "idle" or d.chance(0.3):
        reduce_op = d.one(("add", "maximum", "minimum"))
        case.attributes |= {"reduce_cmd": command, "reduce_op": reduce_op}
        _result(d, case, ("float32", "bfloat16", "float16"))
    return case


def activate2(rng: np.random.Generator, gen: int) -> Case:
    """trn3 only."""
    d = Draw(rng, gen)
    return _sequence(d, _activate2_step, ("idle", *COMMANDS))


GENERATORS = {
    f.__name__: f for f in (activation, activation_reduce, activate2)
}
