"""tensor_reduce: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from rules_kit import (
    ANY, ARITH, INT, REDUCE, X4, Bench, every_target, legal, refused,
)


def reduce(
    op: str = "add",
    axis: Any = 1,
    data: tuple[int, ...] = (4, 8),
    dst: tuple[int, ...] = (4, 1),
    dtype: str = "float32",
    out: str | None = None,
    where: tuple[str, str] = ("sbuf", "sbuf"),
    **more: Any,
):
    def act(bench: Bench) -> None:
        bench.b.tensor_reduce(
            dst=bench.tile(where[0], dst[0], dst[1:], out or dtype), op=op,
            data=bench.tile(where[1], data[0], data[1:], dtype), axis=axis,
            **more,
        )

    return act


@every_target
@pytest.mark.parametrize("op", REDUCE)
def test_every_reduction_of_the_table_is_there(target, op):
    legal(target, reduce(op, dtype="int32"))


@every_target
@pytest.mark.parametrize(
    "op", [*(o for o in ARITH if o not in REDUCE), "invert", "left_shift",
           "right_shift"]
)
def test_no_other_operation_reduces(target, op):
    refused(target, "tensor_reduce.op", reduce(op, dtype="int32"), op,
            operand="op")


SHAPE = (4, 2, 3, 5)


@every_target
@pytest.mark.parametrize(
    ("axis", "dst"),
    [(3, (4, 2, 3)), (-1, (4, 6)), ((2, 3), (4, 2)), ((3, 2), (4, 2)),
     ((-1, -2), (4, 2)), ([2, -1], (4, 2)), ((1, 2, 3), (4, 1)),
     ((3,), (4, 6)), (3, (4, 2, 3, 1))],
)
def test_axis_names_the_last_free_axes(target, axis, dst):
    legal(target, reduce(axis=axis, data=SHAPE, dst=dst))


@every_target
@pytest.mark.parametrize(
    ("axis", "dst"),
    [(0, (4, 30)), ((0, 1, 2, 3), (4, 1)), (1, (4, 15)), ((1, 3), (4, 3)),
     (2, (4, 10)), ((1, 2), (4, 5)), (-4, (4, 30)), (4, (4, 6)),
     (-5, (4, 30)), ((3, 3), (4, 6)), ((3, -1), (4, 6)), ((), (4, 30))],
)
def test_axis_is_never_the_partitions_nor_in_the_middle(target, axis, dst):
    fault = refused(target, "tensor_reduce.axis",
                    reduce(axis=axis, data=SHAPE, dst=dst), "axis",
                    "(4, 2, 3, 5)")
    for a in axis if isinstance(axis, tuple) else (axis,):
        assert str(a) in fault.message


@every_target
def test_four_free_axes_reduce_at_once(target):
    # decisions.md: tensor_reduce over four ran on trn2
    legal(target, reduce(axis=(1, 2, 3, 4), data=(4, 2, 3, 4, 5), dst=(4, 1)))


@every_target
def test_dst_has_the_partitions_of_data(target):
    legal(target, reduce(data=(128, 8), dst=(128, 1)))
    refused(target, "tensor_reduce.partitions", reduce(dst=(5, 1)), "dst has 5",
            "data 4")


@every_target
@pytest.mark.parametrize("keepdims", [False, True])
def test_dst_holds_one_element_per_reduction(target, keepdims):
    more = {"axis": (2, 3), "data": SHAPE, "keepdims": keepdims}
    legal(target, reduce(dst=(4, 2), **more))
    legal(target, reduce(dst=(4, 2, 1, 1), **more))
    for free in (1, 3, 30):
        refused(target, "tensor_reduce.dst_shape", reduce(dst=(4, free), **more),
                "dst", "(4, 2, 3, 5)", f"(4, {free})")


@every_target
def test_negate_is_for_arithmetic(target):
    legal(target, reduce("add", negate=True))
    legal(target, reduce("logical_or", negate=True))
    legal(target, reduce("bitwise_or", dtype="int32", negate=False))
    refused(target, "tensor_reduce.negate",
            reduce("bitwise_or", dtype="int32", negate=True), "negate",
            "bitwise_or")


@every_target
@pytest.mark.parametrize("op", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bitwise_reductions_take_integers(target, op):
    for dtype in INT:
        legal(target, reduce(op, dtype=dtype))
    for dtype in (d for d in ANY if d not in INT):
        refused(target, "tensor_reduce.bitvec_dtype",
                reduce(op, dtype=dtype, out="int32"), "data", dtype, "integer")
        refused(target, "tensor_reduce.bitvec_dtype",
                reduce(op, dtype="int32", out=dtype), f"dst {dtype}", "integer")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_arithmetic_reductions_take_every_dtype(target, dtype):
    legal(target, reduce("maximum", dtype=dtype))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_do_not_reduce(target, dtype):
    refused(target, "operand.dtype", reduce(dtype=dtype, out="float32"),
            "data", dtype, operand="data")


@every_target
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_data_and_dst_are_in_sbuf_or_psum(target, dst, data):
    legal(target, reduce(where=(dst, data)))
