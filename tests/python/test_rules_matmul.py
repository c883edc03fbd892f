"""nc_matmul: each rule at its limit and one past it, per generation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import trnemu
from rules_kit import FP, Bench, every_target, legal, refused


def matmul(
    k: int = 4,
    m: int = 4,
    n: int = 4,
    st: str = "bfloat16",
    mv: str | None = None,
    out: str = "float32",
    dst: tuple[int, int] | None = None,
    moving_k: int | None = None,
    where: tuple[str, str, str] = ("psum", "sbuf", "sbuf"),
    start: tuple[int, int, int] | None = None,
    fill: bool = True,
    **attributes: Any,
):
    """dst (m, n) = stationary (k, m) ^T @ moving (k, n)."""

    def act(bench: Bench) -> None:
        at = start or (None, None, None)
        shape = dst or (min(m, 128), n)
        bench.b.nc_matmul(
            dst=bench.tile(where[0], *shape, out, at[0], fill),
            stationary=bench.tile(where[1], k, m, st, at[1]),
            moving=bench.tile(where[2], moving_k or k, n, mv or st, at[2]),
            **attributes,
        )

    return act


@every_target
def test_a_matmul_may_be_the_first_to_use_its_psum_tile(target):
    legal(target, matmul(fill=False))
    legal(target, matmul(st="float32", fill=False))


@every_target
def test_stationary_and_moving_are_in_sbuf_and_dst_in_psum(target):
    legal(target, matmul())
    refused(target, "operand.buffer", matmul(where=("sbuf", "sbuf", "sbuf")),
            "dst", "psum", "sbuf", operand="dst")
    refused(target, "operand.buffer", matmul(where=("psum", "psum", "sbuf"),
                                             st="float32"),
            "stationary", "sbuf", "psum", operand="stationary")
    refused(target, "operand.buffer", matmul(where=("psum", "sbuf", "psum"),
                                             st="float32"),
            "moving", "sbuf", "psum", operand="moving")


@every_target
def test_stationary_and_moving_have_the_same_partitions(target):
    legal(target, matmul(k=128))
    refused(target, "nc_matmul.contraction", matmul(k=5, moving_k=4),
            "moving", "stationary has 5", "moving 4")


@every_target
def test_an_array_tile_of_64_rows_takes_64_partitions(target):
    tile = {"tile_position": (0, 0), "tile_size": (64, 64)}
    legal(target, matmul(k=64, **tile))
    refused(target, "nc_matmul.rows", matmul(k=65, **tile),
            "stationary", "65", "64")


@every_target
def test_stationary_has_at_most_128_columns(target):
    legal(target, matmul(m=128))
    refused(target, "nc_matmul.columns", matmul(m=129),
            "stationary", "129", "128")


@every_target
def test_an_array_tile_of_64_columns_takes_64_columns(target):
    tile = {"tile_position": (0, 0), "tile_size": (64, 64)}
    legal(target, matmul(m=64, **tile))
    refused(target, "nc_matmul.columns", matmul(m=65, **tile),
            "stationary", "65", "64")


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_moving_has_at_most_512_columns_on_trn1_and_trn2(target):
    legal(target, matmul(n=512))
    refused(target, "nc_matmul.moving_free_size", matmul(n=513),
            "moving", "513", "512", target)


def test_moving_has_at_most_4096_columns_for_float32_on_trn3():
    legal("trn3", matmul(n=513))
    legal("trn3", matmul(n=4096))
    refused("trn3", "nc_matmul.moving_free_size_fp32", matmul(n=4097),
            "moving", "4097", "4096", "float32")


def test_moving_has_at_most_8192_columns_for_bfloat16_on_trn3():
    legal("trn3", matmul(n=8192, out="bfloat16"))
    refused("trn3", "nc_matmul.moving_free_size_bf16",
            matmul(n=8193, out="bfloat16"),
            "moving", "8193", "8192", "bfloat16")


def banks(first: int, columns: int = 256):
    """A matmul whose dst starts at float32 column `first` of a 2-bank tile."""

    def act(bench: Bench) -> None:
        acc = bench.psum(4, 1024, start=0)
        bench.b.nc_matmul(
            dst=acc[:, first : first + columns],
            stationary=bench.sbuf(4, 4, "bfloat16"),
            moving=bench.sbuf(4, columns, "bfloat16"),
        )

    return act


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_dst_lies_in_one_bank_on_trn1_and_trn2(target):
    legal(target, banks(256))
    legal(target, banks(512))
    refused(target, "nc_matmul.one_bank", banks(257),
            "dst", "2048", target, operand="dst")


def test_dst_may_span_banks_on_trn3():
    legal("trn3", banks(257))


@every_target
def test_dst_is_the_columns_of_stationary_by_those_of_moving(target):
    legal(target, matmul(m=3, n=5))
    refused(target, "nc_matmul.dst_shape", matmul(m=3, n=5, dst=(4, 5)),
            "dst", "[3, 5]", "4 partitions")
    refused(target, "nc_matmul.dst_shape", matmul(m=3, n=5, dst=(3, 6)),
            "dst", "[3, 5]", "free size of 6")


@every_target
@pytest.mark.parametrize("dtype", [*FP, "int8", "int32", "uint16", "bool"])
def test_operands_are_of_the_tensor_engines_float_types(target, dtype):
    if dtype in FP and (dtype != "float8_e4m3fn" or target == "trn3"):
        legal(target, matmul(st=dtype))
    elif dtype in FP:
        refused(target, "nc_matmul.e4m3fn_generation", matmul(st=dtype),
                "float8_e4m3fn", "trn3", target)
    else:
        refused(target, "operand.dtype", matmul(st=dtype), "stationary", dtype,
                operand="stationary")
        refused(target, "operand.dtype", matmul(st="bfloat16", mv=dtype),
                "moving", dtype, operand="moving")


@every_target
def test_float8_e4m3fn_needs_trn3_in_either_operand(target):
    for pair in (("float8_e4m3fn", "bfloat16"), ("bfloat16", "float8_e4m3fn")):
        if target == "trn3":
            legal(target, matmul(st=pair[0], mv=pair[1]))
        else:
            refused(target, "nc_matmul.e4m3fn_generation",
                    matmul(st=pair[0], mv=pair[1]), *pair, target)


def test_the_two_float8_e4m3_types_do_not_meet_on_trn3():
    legal("trn3", matmul(st="float8_e4m3", mv="float8_e5m2"))
    legal("trn3", matmul(st="float8_e4m3fn", mv="float8_e5m2"))
    for pair in (("float8_e4m3", "float8_e4m3fn"),
                 ("float8_e4m3fn", "float8_e4m3")):
        refused("trn3", "nc_matmul.mixed_e4m3",
                matmul(st=pair[0], mv=pair[1]), *pair)


@every_target
def test_float32_and_tfloat32_pair_only_with_each_other(target):
    legal(target, matmul(st="float32", mv="tfloat32"))
    legal(target, matmul(st="tfloat32", mv="float32"))
    legal(target, matmul(st="float16", mv="bfloat16"))
    legal(target, matmul(st="float8_e5m2", mv="float16"))
    for wide in ("float32", "tfloat32"):
        for narrow in ("bfloat16", "float16", "float8_e4m3", "float8_e5m2"):
            refused(target, "nc_matmul.fp32_pairing",
                    matmul(st=wide, mv=narrow), wide, narrow)
            refused(target, "nc_matmul.fp32_pairing",
                    matmul(st=narrow, mv=wide), wide, narrow)


@pytest.mark.parametrize("target", ["trn1", "trn2"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_dst_is_float32_on_trn1_and_trn2(target, dtype):
    legal(target, matmul(out="float32"))
    refused(target, "nc_matmul.dst_dtype", matmul(out=dtype),
            "dst", "float32", dtype, target)


def test_dst_is_float32_or_bfloat16_on_trn3():
    legal("trn3", matmul(out="float32"))
    legal("trn3", matmul(out="bfloat16"))
    refused("trn3", "nc_matmul.dst_dtype_gen4", matmul(out="float16"),
            "dst", "float32 or bfloat16", "float16", "trn3")


@every_target
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "int8"])
def test_dst_is_never_an_integer(target, dtype):
    refused(target, "operand.dtype", matmul(out=dtype), "dst", dtype,
            operand="dst")


NUMPY = {
    "bfloat16": ml_dtypes.bfloat16, "float16": np.float16,
    "float32": np.float32, "float8_e5m2": ml_dtypes.float8_e5m2,
}


def transpose(st: str, out: str, m: int = 4):
    """dst (m, 4) = the transpose of stationary (4, m)."""

    def act(bench: Bench) -> None:
        identity = bench.b.constant("identity", np.eye(4, dtype=NUMPY[st]))
        moving = bench.sbuf(4, 4, st, fill=False)
        bench.b.dma_copy(dst=moving, src=identity)
        bench.b.nc_matmul(
            dst=bench.psum(m, 4, out), stationary=bench.sbuf(4, m, st),
            moving=moving, is_transpose=True,
        )

    return act


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_transpose_keeps_the_dtype_from_trn2_on(target, dtype):
    legal(target, transpose(dtype, dtype))
    legal(target, transpose(dtype, "float32"))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_transpose_of_float8_lands_in_two_byte_elements(target):
    legal(target, transpose("float8_e5m2", "bfloat16"))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_transpose_does_not_cast(target):
    refused(target, "nc_matmul.transpose_dst_dtype",
            matmul(st="bfloat16", out="float16", is_transpose=True),
            "dst", "bfloat16", "float16")


def test_is_transpose_is_only_a_tag_on_trn1():
    # isa.json: "gen2: profiling tag only", so moving need not be square.
    legal("trn1", matmul(st="bfloat16", is_transpose=True))
    legal("trn1", matmul(k=4, m=4, n=7, st="bfloat16", is_transpose=True))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_transpose_with_a_moving_tile_that_is_not_square_is_no_error(target):
    # isa.json lists "moving is not an identity" under undefined_behaviour, and
    # decisions.md: those are at most warnings.
    bench = Bench(target)
    matmul(k=4, m=4, n=3, st="bfloat16", is_transpose=True)(bench)
    findings = bench.b.build().verify()
    assert all(f.severity == "warning" for f in findings)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_transpose_by_what_is_no_identity_is_at_most_a_warning(target):
    bench = Bench(target)
    matmul(st="bfloat16", is_transpose=True)(bench)
    findings = trnemu.run(bench.b.build(), {}).diagnostics
    assert [(f.id, f.severity) for f in findings] == [
        ("nc_matmul.transpose_moving", "warning")
    ]


def rows(
    k: int = 4, m: int = 4, n: int = 4, st: str = "float8_e4m3",
    mv: str | None = None, out: str = "float32",
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
    dst: tuple[int, int] | None = None, start: int | None = None,
    **attributes: Any,
):
    """double_row: stationary (k, 2, m), moving (k, 2, n)."""

    def act(bench: Bench) -> None:
        a, b = shapes or ((k, 2, m), (k, 2, n))
        bench.b.nc_matmul(
            dst=bench.psum(*(dst or (min(m, 128), n)), out),
            stationary=bench.sbuf(a[0], a[1:], st, start),
            moving=bench.sbuf(b[0], b[1:], mv or st, start),
            perf_mode="double_row", **attributes,
        )

    return act


def test_double_row_needs_trn2():
    legal("trn2", rows())
    legal("trn3", rows())
    refused("trn1", "nc_matmul.double_row_generation", rows(), "trn2", "trn1")


LATER = pytest.mark.parametrize("target", ["trn2", "trn3"])


@LATER
@pytest.mark.parametrize("st", FP)
@pytest.mark.parametrize("mv", FP)
def test_double_row_takes_float8(target, st, mv):
    wide = ("float32", "tfloat32")
    fp8 = [d for d in FP if d.startswith("float8")]
    if "float8_e4m3fn" in (st, mv) and (
        target == "trn2" or "float8_e4m3" in (st, mv)
    ):
        return  # e4m3fn_generation, mixed_e4m3
    if (st in wide) != (mv in wide):
        return  # fp32_pairing
    if st in fp8 and mv in fp8:
        legal(target, rows(st=st, mv=mv))
    else:
        refused(target, "nc_matmul.double_row_dtype", rows(st=st, mv=mv), st,
                mv)


@LATER
@pytest.mark.parametrize(
    ("shapes", "fits"),
    [(((4, 2, 4), (4, 2, 4)), True), (((4, 2, 2, 2), (4, 2, 1, 4)), True),
     (((4, 8), (4, 2, 4)), False), (((4, 2, 4), (4, 8)), False),
     (((4, 4, 2), (4, 2, 4)), False), (((4, 2, 4), (4, 1, 8)), False),
     (((4, 2), (4, 2, 4)), False)],
)
def test_the_first_free_dimension_of_double_row_is_2(target, shapes, fits):
    if fits:
        legal(target, rows(shapes=shapes))
    else:
        refused(target, "nc_matmul.double_row_shape", rows(shapes=shapes),
                str(shapes[0]), str(shapes[1]))


@LATER
def test_double_row_has_no_column_tiles(target):
    for size in ((128, 128), (64, 128), (32, 128)):
        legal(target, rows(tile_position=(0, 0), tile_size=size))
    legal(target, rows(k=32, start=64, tile_position=(64, 0),
                       tile_size=(32, 128)))
    for size in ((128, 64), (32, 32)):
        refused(target, "nc_matmul.double_row_columns",
                rows(tile_position=(0, 0), tile_size=size), str(size))


@LATER
def test_double_row_does_not_transpose(target):
    refused(target, "nc_matmul.double_row_transpose",
            rows(out="bfloat16", is_transpose=True), "is_transpose")


@LATER
def test_a_double_row_tile_counts_half_its_elements(target):
    legal(target, rows(k=128, m=128, n=512))
    refused(target, "nc_matmul.columns", rows(m=129), "258")
    refused(target, "nc_matmul.dst_shape", rows(dst=(8, 4)), "8 partitions")
    refused(target, "nc_matmul.dst_shape", rows(dst=(4, 8)), "free size of 8")
    refused(target, "nc_matmul.rows",
            rows(k=33, tile_position=(0, 0), tile_size=(32, 128)), "33")


def test_a_double_row_moving_tile_has_the_columns_of_any_other():
    refused("trn2", "nc_matmul.moving_free_size", rows(n=513), "1026", "512")
    legal("trn3", rows(n=4096))
    refused("trn3", "nc_matmul.moving_free_size_fp32", rows(n=4097), "4096")
    legal("trn3", rows(n=8192, out="bfloat16"))
    refused("trn3", "nc_matmul.moving_free_size_bf16",
            rows(n=8193, out="bfloat16"), "8192")


@LATER
def test_accumulating_a_transpose_is_reported(target):
    b = trnemu.ProgramBuilder(target=target)
    eye, bank = b.sbuf((4, 4), "bfloat16"), b.psum((4, 4), "bfloat16")
    identity = np.eye(4, dtype=ml_dtypes.bfloat16)
    b.dma_copy(dst=eye, src=b.constant("identity", identity))
    for accumulate in (None, True):
        b.nc_matmul(dst=bank, stationary=eye, moving=eye, is_transpose=True,
                    accumulate=accumulate)
    findings = trnemu.run(b.build(), {}).diagnostics
    assert [(f.id, f.severity) for f in findings] == [
        ("nc_matmul.transpose_accumulate", "warning")
    ]


@every_target
def test_tile_position_and_tile_size_go_together(target):
    legal(target, matmul(tile_position=(0, 0), tile_size=(64, 64)))
    refused(target, "nc_matmul.tile_pair", matmul(tile_size=(64, 64)),
            "tile_position", "tile_size")
    refused(target, "nc_matmul.tile_pair", matmul(tile_position=(0, 0)),
            "tile_position", "tile_size")


@every_target
@pytest.mark.parametrize("size", [32, 64, 128])
@pytest.mark.parametrize("axis", [0, 1])
def test_an_array_tile_is_32_64_or_128_and_on_trn1_not_32(target, size, axis):
    pair = (size, 128) if axis == 0 else (128, size)
    call = matmul(tile_position=(0, 0), tile_size=pair)
    if size == 32 and target == "trn1":
        refused(target, "nc_matmul.tile_size", call, "tile_size",
                f"({pair[0]}, {pair[1]})", "64 or 128", target)
    else:
        legal(target, call)


@every_target
@pytest.mark.parametrize("pair", [(16, 128), (96, 128), (128, 256), (128, 48)])
def test_no_other_array_tile_exists(target, pair):
    refused(target, "nc_matmul.tile_size",
            matmul(k=1, m=1, tile_position=(0, 0), tile_size=pair),
            "tile_size", f"({pair[0]}, {pair[1]})")


@every_target
@pytest.mark.parametrize("pair", [(0, 128), (128, 0), (-64, 128)])
def test_an_array_tile_has_a_positive_size(target, pair):
    with pytest.raises(trnemu.Fault) as info:
        matmul(k=1, m=1, tile_position=(0, 0), tile_size=pair)(Bench(target))
    assert info.value.category == "illegal"


def tiled(position: tuple[int, int], size: tuple[int, int], **more: Any):
    """A matmul of one row and column on the partitions of its array tile."""
    at = [p if p in (0, 32, 64, 96) else 0 for p in position]
    return matmul(k=1, m=1, start=(at[1], at[0], at[0]), tile_position=position,
                  tile_size=size, **more)


@every_target
def test_the_start_row_is_a_multiple_of_the_tiles_rows(target):
    legal(target, tiled((64, 0), (64, 128)))
    refused(target, "nc_matmul.tile_row", tiled((32, 0), (64, 128)),
            "tile_position", "(32, 0)")
    refused(target, "nc_matmul.tile_row", tiled((128, 0), (64, 128)),
            "(128, 0)", "128")
    refused(target, "nc_matmul.tile_row", tiled((-64, 0), (64, 128)),
            "(-64, 0)")


@every_target
def test_the_start_column_is_a_multiple_of_the_tiles_columns(target):
    legal(target, tiled((0, 64), (128, 64)))
    refused(target, "nc_matmul.tile_column", tiled((0, 32), (128, 64)),
            "tile_position", "(0, 32)")
    refused(target, "nc_matmul.tile_column", tiled((0, 128), (128, 64)),
            "(0, 128)", "128")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("row", [0, 32, 64, 96])
@pytest.mark.parametrize("column", [0, 32, 64, 96])
def test_each_of_the_sixteen_array_tiles_of_32_is_there(target, row, column):
    legal(target, tiled((row, column), (32, 32)))


@every_target
def test_operands_lie_on_the_partitions_of_their_array_tile(target):
    tile = {"tile_position": (64, 64), "tile_size": (64, 64)}
    legal(target, matmul(k=2, m=2, start=(64, 64, 64), **tile))
    for start in ((64, 0, 64), (64, 64, 0), (0, 64, 64)):
        refused(target, "nc_matmul.tile_partitions",
                matmul(k=2, m=2, start=start, **tile), "(64, 64)",
                f"stationary starts at partition {start[1]}",
                f"moving at {start[2]}", f"dst at {start[0]}")


@every_target
@pytest.mark.parametrize("dtype", ["float8_e4m3", "float8_e5m2"])
def test_the_dst_of_a_transpose_is_never_one_byte_wide(target, dtype):
    # isa.json: dst is float32, bfloat16 or float16.
    refused(target, "operand.dtype",
            matmul(st=dtype, out=dtype, is_transpose=True), "dst", dtype,
            operand="dst")
