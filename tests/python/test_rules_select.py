"""tensor_copy_predicated, range_select and select_reduce: each rule at its
limit and one past it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import trnemu
from rules_kit import (
    ANY, ARITH, BITVEC, FP, INT, X4, Bench, every_target, legal, refused,
)
from kit import Kit

LOWEST = -3.4028234663852886e38
NEWER = pytest.mark.parametrize("target", ["trn2", "trn3"])
Shape = tuple[int, ...]


# --- tensor_copy_predicated -------------------------------------------------


def copy(
    dst: Shape = (4, 8), src: Any = (4, 8), predicate: Shape = (4, 8),
    dtype: str = "float32", src_dtype: str | None = None,
    kind: str = "uint8",
    where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf"), **more: Any,
):
    def act(bench: Bench) -> None:
        value = src if isinstance(src, float) else bench.tile(
            where[1], src[0], src[1:], src_dtype or dtype)
        bench.b.tensor_copy_predicated(
            dst=bench.tile(where[0], dst[0], dst[1:], dtype), src=value,
            predicate=bench.tile(where[2], predicate[0], predicate[1:], kind),
            **more,
        )

    return act


@every_target
def test_a_predicate_is_an_unsigned_integer(target):
    for kind in ("uint8", "uint16", "uint32"):
        legal(target, copy(kind=kind))
    for kind in (*(d for d in ANY if d not in ("uint8", "uint16", "uint32")),
                 *X4):
        refused(target, "operand.dtype", copy(kind=kind), kind,
                operand="predicate")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_src_has_the_dtype_of_dst_or_is_a_number(target, dtype):
    legal(target, copy(dtype=dtype))
    legal(target, copy(dtype=dtype, src=1.0))
    other = "int8" if dtype != "int8" else "uint8"
    refused(target, "tensor_copy_predicated.dtype",
            copy(dtype=dtype, src_dtype=other), dtype, other, operand="src")


@every_target
def test_dst_src_and_predicate_have_the_same_elements(target):
    legal(target, copy(dst=(4, 2, 4), src=(4, 8), predicate=(4, 2, 2, 2)))
    legal(target, copy(dst=(128, 8), src=(128, 8), predicate=(128, 8)))
    for wrong in ({"dst": (4, 7)}, {"dst": (5, 8)}, {"src": (4, 9)},
                  {"src": (3, 8)}, {"predicate": (4, 1)},
                  {"predicate": (3, 8)}):
        fault = refused(target, "tensor_copy_predicated.shape", copy(**wrong))
        for shape in wrong.values():
            assert str(shape) in fault.message


@every_target
def test_src_and_predicate_are_not_both_in_psum(target):
    for dst in ("sbuf", "psum"):
        legal(target, copy(where=(dst, "psum", "sbuf")))
        legal(target, copy(where=(dst, "sbuf", "psum")))
        legal(target, copy(where=(dst, "psum", "psum"), src=2.0))
        refused(target, "tensor_copy_predicated.both_in_psum",
                copy(where=(dst, "psum", "psum")), "PSUM")


# --- range_select -----------------------------------------------------------


def between(
    dst: Shape = (4, 8), data: Shape = (4, 8), bounds: Sequence[Shape] = (),
    dtype: str = "float32", out: str = "float32", bound: str = "float32",
    res: Shape | None = None, res_dtype: str = "float32",
    where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf"), **more: Any,
):
    call = {"comp_op0": "greater_equal", "comp_op1": "less", **more}

    def act(bench: Bench) -> None:
        b0, b1 = bounds or ((data[0], 1),) * 2
        if res is not None:
            call["reduce_res"] = bench.sbuf(res[0], res[1:], res_dtype)
        bench.b.range_select(
            dst=bench.tile(where[0], dst[0], dst[1:], out),
            on_true_tile=bench.tile(where[1], data[0], data[1:], dtype),
            bound0=bench.tile(where[2], b0[0], b0[1:], bound),
            bound1=bench.tile(where[2], b1[0], b1[1:], bound), **call,
        )

    return act


def test_range_select_comes_with_trn2():
    legal("trn2", between())
    legal("trn3", between())
    refused("trn1", "range_select.generation", between(), "trn2", "trn1")


COMPARES = ("equal", "less", "less_equal", "greater", "greater_equal")


@NEWER
def test_range_select_has_five_comparisons(target):
    for op in COMPARES:
        legal(target, between(comp_op0=op))
        legal(target, between(comp_op1=op))
    for op in (*(o for o in ARITH if o not in COMPARES), *BITVEC):
        refused(target, "range_select.comp_op", between(comp_op0=op), op)
        refused(target, "range_select.comp_op", between(comp_op1=op), op)


@NEWER
def test_range_select_takes_floats_and_float32_bounds(target):
    for dtype in FP:
        legal(target, between(dtype=dtype))
        legal(target, between(out=dtype))
    for dtype in (*INT, "bool", *X4):
        refused(target, "operand.dtype", between(dtype=dtype), dtype,
                operand="on_true_tile")
        refused(target, "operand.dtype", between(out=dtype), dtype,
                operand="dst")
    for dtype in (d for d in ANY if d != "float32"):
        refused(target, "operand.dtype", between(bound=dtype), dtype,
                operand="bound0")


@NEWER
def test_bounds_are_columns_of_the_tile(target):
    legal(target, between(bounds=((4, 1), (4, 1, 1))))
    for wrong in ((4, 2), (5, 1), (3, 1)):
        for bounds in ((wrong, (4, 1)), ((4, 1), wrong)):
            refused(target, "range_select.bounds", between(bounds=bounds),
                    str(wrong), "[4, 1]")


@NEWER
def test_the_fill_is_the_lowest_float32(target):
    # The documents print -3.4028235e+38, which is that float32.
    for value in (LOWEST, -3.4028235e38, float(np.finfo(np.float32).min)):
        legal(target, between(on_false_value=value))
    for value in (0.0, 3.4028234663852886e38, -3.4028232635611926e38,
                  float("-inf"), float("nan"), -1e300, -9984.0):
        refused(target, "range_select.on_false_value",
                between(on_false_value=value), "-3.4028235e+38")


@NEWER
def test_range_select_reduces_with_maximum(target):
    legal(target, between(reduce_op="maximum"))
    for op in ("minimum", "add", "abs_max", "bitwise_or"):
        refused(target, "range_select.reduce_op", between(reduce_op=op), op,
                "maximum")


@NEWER
def test_range_select_has_no_value_to_load(target):
    for command in ("idle", "reset", "reset_reduce"):
        legal(target, between(reduce_cmd=command))
    legal(target, between(reduce_cmd="reduce"), run=False)
    refused(target, "range_select.reduce_cmd",
            between(reduce_cmd="load_reduce"), "load_reduce")


@NEWER
def test_indices_stay_where_float32_counts(target):
    legal(target, between(range_start=2**24 - 8))
    legal(target, between(range_start=-(2**24)))
    for start in (2**24 - 7, 2**24, 2**40, 2**63 - 1, -(2**24) - 1, -(2**63)):
        refused(target, "range_select.range", between(range_start=start),
                "16777216", str(start), "8", category="unspecified")


def test_indices_beyond_that_can_be_allowed_and_round():
    k = Kit("trn2")
    t, bound = k.empty((1, 4)), k.filled((1, 1), 2.0**24)
    k.b.range_select(dst=t, on_true_tile=k.filled((1, 4), 1.0),
                     comp_op0="equal", comp_op1="equal", bound0=bound,
                     bound1=bound, range_start=4321)
    text = k.build(t).to_text()
    assert text.count("4321") == 1
    p = trnemu.Program.from_text(text.replace("4321", str(2**24 - 2)))
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.id == "range_select.range"
    got = trnemu.run(p, {}, allow=["range_select.range"]).outputs["out0"]
    assert list(got[0] == 1) == [False, False, True, True]


@NEWER
def test_dst_has_the_elements_of_on_true_tile(target):
    legal(target, between(dst=(4, 2, 4)))
    for shape in ((4, 7), (5, 8), (3, 8)):
        refused(target, "range_select.shape", between(dst=shape), str(shape),
                "(4, 8)")


@NEWER
def test_range_selects_reduce_res_is_a_column_of_floats(target):
    for dtype in FP:
        legal(target, between(res=(4, 1), res_dtype=dtype))
    for shape in ((4, 2), (5, 1)):
        refused(target, "range_select.reduce_res_shape", between(res=shape),
                str(shape), "[4, 1]")
    refused(target, "operand.dtype", between(res=(4, 1), res_dtype="int32"),
            "int32", operand="reduce_res")


@NEWER
def test_range_select_reads_and_writes_sbuf_and_psum(target):
    for dst in ("sbuf", "psum"):
        for data in ("sbuf", "psum"):
            for bound in ("sbuf", "psum"):
                legal(target, between(where=(dst, data, bound)))


# --- select_reduce ----------------------------------------------------------


def select(
    dst: Shape = (4, 8), predicate: Shape = (4, 8), on_true: Shape = (4, 8),
    on_false: Any = 0.0, dtype: str = "float32", out: str = "float32",
    kind: str = "uint8", other: str = "float32", res: Shape | None = None,
    res_dtype: str = "float32",
    where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf"), **more: Any,
):
    def act(bench: Bench) -> None:
        call = dict(more)
        if res is not None:
            call["reduce_res"] = bench.sbuf(res[0], res[1:], res_dtype)
        bench.b.select_reduce(
            dst=bench.tile(where[0], dst[0], dst[1:], out),
            predicate=bench.tile(where[1], predicate[0], predicate[1:], kind),
            on_true=bench.tile(where[2], on_true[0], on_true[1:], dtype),
            on_false=on_false if isinstance(on_false, float) else bench.sbuf(
                on_false[0], on_false[1:], other), **call,
        )

    return act


@every_target
def test_select_reduces_predicate_has_8_or_16_bits(target):
    kinds = ("int8", "uint8", "int16", "uint16")
    for kind in kinds:
        legal(target, select(kind=kind))
    for kind in (*(d for d in ANY if d not in kinds), *X4):
        refused(target, "operand.dtype", select(kind=kind), kind,
                operand="predicate")


@every_target
def test_on_true_is_neither_tfloat32_nor_a_32_bit_integer(target):
    no = ("tfloat32", "int32", "uint32")
    for dtype in ANY:
        if dtype not in no:
            legal(target, select(dtype=dtype))
        legal(target, select(out=dtype))
    for dtype in (*no, *X4):
        refused(target, "operand.dtype", select(dtype=dtype), dtype,
                operand="on_true")


@every_target
def test_select_reduces_tiles_have_the_same_elements(target):
    legal(target, select(dst=(4, 2, 4), predicate=(4, 2, 2, 2)))
    for name in ("dst", "predicate", "on_true"):
        for shape in ((4, 7), (5, 8)):
            refused(target, "select_reduce.shape", select(**{name: shape}),
                    str(shape), "(4, 8)")


@every_target
def test_on_false_is_a_number_or_a_float32_column(target):
    legal(target, select(on_false=(4, 1)))
    legal(target, select(on_false=-9984.0))
    for shape in ((4, 8), (4, 2), (5, 1)):
        refused(target, "select_reduce.on_false_shape", select(on_false=shape),
                str(shape), "[4, 1]", operand="on_false")
    for dtype in (d for d in ANY if d != "float32"):
        refused(target, "operand.dtype",
                select(on_false=(4, 1), other=dtype), dtype,
                operand="on_false")


@every_target
def test_on_true_and_predicate_are_not_both_in_psum(target):
    for dst in ("sbuf", "psum"):
        legal(target, select(where=(dst, "psum", "sbuf")))
        legal(target, select(where=(dst, "sbuf", "psum")))
        refused(target, "select_reduce.both_in_psum",
                select(where=(dst, "psum", "psum")), "PSUM")


@every_target
def test_select_reduce_reduces_with_maximum(target):
    legal(target, select(reduce_op="maximum"))
    for op in ("minimum", "add", "abs_max"):
        refused(target, "select_reduce.reduce_op", select(reduce_op=op), op)


@every_target
def test_select_reduce_has_three_commands(target):
    legal(target, select(reduce_cmd="idle"))
    legal(target, select(reduce_cmd="reset_reduce"))
    legal(target, select(reduce_cmd="reduce"), run=False)
    for command in ("reset", "load_reduce"):
        refused(target, "select_reduce.reduce_cmd", select(reduce_cmd=command),
                command)


@every_target
def test_select_reduces_reduce_res_is_a_column_of_floats(target):
    more = {"reduce_cmd": "reset_reduce"}
    for dtype in FP:
        legal(target, select(res=(4, 1), res_dtype=dtype, **more))
    for shape in ((4, 2), (5, 1)):
        refused(target, "select_reduce.reduce_res_shape",
                select(res=shape, **more), str(shape), "[4, 1]")
    refused(target, "operand.dtype",
            select(res=(4, 1), res_dtype="int32", **more), "int32",
            operand="reduce_res")


@NEWER
@pytest.mark.parametrize(
    "act",
    [copy(), copy(src=2.5, reverse_pred=True), between(range_start=-7),
     between(res=(4, 1), reduce_cmd="reduce"),
     select(on_false=(4, 1)), select(res=(4, 1), reverse_pred=True)],
)
def test_programs_survive_the_text_form(act, target):
    text = legal(target, act, run=False).to_text()
    again = trnemu.Program.from_text(text)
    assert again.to_text() == text and again.verify() == []
