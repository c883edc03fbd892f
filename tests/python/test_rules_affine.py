"""iota and affine_select: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from rules_kit import (
    ANY, ARITH, BITVEC, CMP, TARGETS, X4, Bench, every_target, legal, refused,
)

EDGE = (2**31 - 1, -(2**31))
PAST = (2**31, -(2**31) - 1)


def iota(pattern: Any = ((1, 8),), f: Any = 8, dtype: str = "int32",
         where: str = "sbuf", p: int = 4, **more: Any):
    def act(bench: Bench) -> None:
        bench.b.iota(dst=bench.tile(where, p, f, dtype),
                     pattern=[list(x) for x in pattern], **more)

    return act


def select(
    pattern: Any = ((1, 8),), f: Any = 8, dtype: str = "float32",
    tile: tuple[Any, ...] = (), where: tuple[str, str] = ("sbuf", "sbuf"),
    **more: Any,
):
    call = {"channel_multiplier": 0, "on_false_value": 0.0, **more}

    def act(bench: Bench) -> None:
        bench.b.affine_select(
            dst=bench.tile(where[0], 4, f, dtype),
            on_true_tile=bench.tile(where[1], *(tile or (4, f, dtype))),
            pattern=[list(x) for x in pattern], **call,
        )

    return act


@every_target
def test_dst_and_on_true_tile_are_in_sbuf(target):
    legal(target, iota())
    legal(target, select())
    refused(target, "operand.buffer", iota(where="psum"), "dst", "sbuf", "psum",
            operand="dst")
    refused(target, "operand.buffer", select(where=("psum", "sbuf")), "dst",
            "sbuf", "psum", operand="dst")
    refused(target, "operand.buffer", select(where=("sbuf", "psum")),
            "on_true_tile", "sbuf", "psum", operand="on_true_tile")


@every_target
@pytest.mark.parametrize("call", [iota, select])
@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_a_pattern_has_one_to_four_pairs(target, call, dims):
    legal(target, call(((1, 2),) * dims, 2**dims))


@every_target
@pytest.mark.parametrize("call", [iota, select])
def test_a_pattern_has_no_fifth_pair(target, call):
    refused(target, "argument.count", call(((1, 2),) * 5, 32), "pattern", "5",
            "4", operand="pattern")


@every_target
@pytest.mark.parametrize("call", [iota, select])
def test_a_pattern_is_not_empty(target, call):
    # Even where dst has one element, the product of no counts.
    with pytest.raises(trnemu.Fault) as info:
        call((), 1)(Bench(target))
    assert info.value.category == "illegal"
    assert "pattern" in info.value.message


@every_target
@pytest.mark.parametrize("call", [iota, select])
def test_the_counts_multiply_to_the_free_size(target, call):
    operation = "iota" if call is iota else "affine_select"
    legal(target, call(((8, 2), (1, 4)), (4, 2)))
    for pattern in (((1, 7),), ((1, 9),), ((8, 2), (1, 3))):
        refused(target, f"{operation}.pattern_size", call(pattern), "pattern",
                str([list(x) for x in pattern]), "8")


@every_target
@pytest.mark.parametrize("call", [iota, select])
@pytest.mark.parametrize("count", [0, -1])
def test_a_count_is_positive(target, call, count):
    with pytest.raises(trnemu.Fault) as info:
        call(((1, count),))(Bench(target))
    assert info.value.category == "illegal"
    assert "pattern" in info.value.message


@every_target
@pytest.mark.parametrize("edge", EDGE)
def test_channel_multiplier_and_offset_reach_the_ends_of_int32(target, edge):
    legal(target, iota(channel_multiplier=edge))
    legal(target, iota(offset=edge))
    legal(target, select(channel_multiplier=edge))
    legal(target, select(offset=edge))


@every_target
@pytest.mark.parametrize("edge", EDGE)
@pytest.mark.parametrize("op", CMP)
def test_that_holds_for_every_comparison(target, edge, op):
    legal(target, select(offset=edge, cmp_op=op))
    legal(target, select(channel_multiplier=edge, cmp_op=op))


@pytest.mark.parametrize("target", TARGETS)
def test_the_lowest_int32_is_less_than_0(target):
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (1, 8), "float32")
    t = b.sbuf((1, 8), "float32")
    b.memset(dst=t, value=5.0)
    b.affine_select(dst=t, pattern=[[1, 8]], offset=-(2**31), cmp_op="less",
                    channel_multiplier=0, on_true_tile=t, on_false_value=-1.0)
    b.dma_copy(dst=y, src=t)
    np.testing.assert_array_equal(trnemu.run(b.build(), {}).outputs["y"], 5.0)


@every_target
@pytest.mark.parametrize("past", PAST)
@pytest.mark.parametrize("name", ["channel_multiplier", "offset"])
def test_channel_multiplier_and_offset_fit_int32(target, past, name):
    refused(target, "iota.int32", iota(**{name: past}), name, "int32",
            str(past))
    refused(target, "affine_select.int32", select(**{name: past}), name,
            "int32", str(past))


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_every_dtype_is_filled_and_selected(target, dtype):
    legal(target, iota(dtype=dtype))
    legal(target, select(dtype=dtype))
    legal(target, select(tile=(4, 8, dtype)))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_are_not(target, dtype):
    refused(target, "operand.dtype", iota(dtype=dtype), "dst", dtype,
            operand="dst")
    refused(target, "operand.dtype", select(tile=(4, 8, dtype)),
            "on_true_tile", dtype, operand="on_true_tile")


@every_target
def test_iota_fills_up_to_128_partitions(target):
    legal(target, iota(p=128))
    refused(target, "tile.partitions", iota(p=129), "129", "128")


@every_target
def test_on_true_tile_has_the_shape_of_dst(target):
    refused(target, "affine_select.partitions", select(tile=(5, 8, "float32")),
            "on_true_tile", "5", "dst 4")
    refused(target, "affine_select.pattern_size",
            select(tile=(4, 9, "float32")), "on_true_tile", "9", "8")


@every_target
@pytest.mark.parametrize("op", CMP)
def test_cmp_op_is_a_comparison(target, op):
    legal(target, select(cmp_op=op))


@every_target
@pytest.mark.parametrize("op", [*(o for o in ARITH if o not in CMP), *BITVEC])
def test_cmp_op_is_nothing_else(target, op):
    refused(target, "affine_select.cmp_op", select(cmp_op=op), "cmp_op", op)
