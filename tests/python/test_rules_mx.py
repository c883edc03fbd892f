"""nc_matmul_mx and quantize_mx: each rule at its limit and one past it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import trnemu
from rules_kit import ANY, FP, X4, Bench, legal, refused

BEFORE = pytest.mark.parametrize("target", ["trn1", "trn2"])
OFFSETS = (0, 4, 8, 12)
SCALES = ("uint8", "float8_e8m0fnu")
_names = itertools.count()


def scale(
    bench: Bench, rows: int, columns: int, dtype: str = "uint8",
    start: int = 0, buffer: str = "sbuf",
) -> trnemu.View:
    """Scales of 1 from partition `start` on, written by DMA, which may start
    anywhere."""
    make = bench.b.sbuf if buffer == "sbuf" else bench.b.psum
    whole = make((128, columns), dtype)
    if buffer == "sbuf":
        ones = np.full((128, columns), 127, np.uint8)
        bench.b.dma_copy(
            dst=whole,
            src=bench.b.constant(f"c{next(_names)}", ones).view(dtype),
        )
    return whole[start : start + rows]


def reach(k: int) -> int:
    """Rows of a scale view up to the last that is used."""
    return 32 * (k // 32 - 1) + 4


def matmul(
    k: int = 32,
    m: int = 4,
    n: int = 4,
    st: str = "float8_e4m3fn_x4",
    mv: str | None = None,
    out: str = "float32",
    dst: tuple[int, int] | None = None,
    moving_k: int | None = None,
    start: tuple[int, int] = (0, 0),
    scales: tuple[tuple[int, int], tuple[int, int]] | None = None,
    scale_start: tuple[int, int] | None = None,
    scale_dtype: tuple[str, str] = ("uint8", "uint8"),
    where: tuple[str, ...] = ("psum", "sbuf", "sbuf", "sbuf", "sbuf"),
    **attributes: Any,
):
    """dst (m, n) of stationary (k, m) and moving (k, n), with their scales."""

    def act(bench: Bench) -> None:
        rows = reach(max(k, 32))
        shapes = scales or ((rows, m), (rows, n))
        at = scale_start or start
        bench.b.nc_matmul_mx(
            dst=bench.tile(where[0], *(dst or (min(m, 128), n)), out,
                           fill=out in ANY),
            stationary=bench.tile(where[1], k, m, st, start[0] or None),
            moving=bench.tile(where[2], moving_k or k, n, mv or st,
                              start[1] or None),
            stationary_scale=scale(bench, *shapes[0], scale_dtype[0], at[0],
                                   where[3]),
            moving_scale=scale(bench, *shapes[1], scale_dtype[1], at[1],
                               where[4]),
            **attributes,
        )

    return act


@BEFORE
def test_nc_matmul_mx_needs_trn3(target):
    legal("trn3", matmul())
    refused(target, "nc_matmul_mx.generation", matmul(), "trn3", target)


@pytest.mark.parametrize("i", range(5))
def test_operands_of_nc_matmul_mx_are_in_sbuf_and_dst_in_psum(i):
    where = ["psum", "sbuf", "sbuf", "sbuf", "sbuf"]
    where[i] = "sbuf" if i == 0 else "psum"
    names = ("dst", "stationary", "moving", "stationary_scale", "moving_scale")
    refused("trn3", "operand.buffer", matmul(where=tuple(where)), names[i],
            operand=names[i])


@pytest.mark.parametrize("st", X4)
@pytest.mark.parametrize("mv", X4)
def test_every_pair_of_packed_types_multiplies(st, mv):
    legal("trn3", matmul(st=st, mv=mv))


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "bfloat16", "uint32"])
def test_operands_of_nc_matmul_mx_are_packed(dtype):
    refused("trn3", "operand.dtype", matmul(st=dtype, mv=X4[0]), dtype,
            operand="stationary")
    refused("trn3", "operand.dtype", matmul(st=X4[0], mv=dtype), dtype,
            operand="moving")


@pytest.mark.parametrize("dtype", SCALES)
def test_scales_are_e8m0_or_their_bytes(dtype):
    legal("trn3", matmul(scale_dtype=(dtype, dtype)))
    for i, name in enumerate(("stationary_scale", "moving_scale")):
        pair = [dtype, dtype]
        pair[i] = "int8"
        refused("trn3", "operand.dtype", matmul(scale_dtype=tuple(pair)),
                "int8", operand=name)


@pytest.mark.parametrize("dtype", FP)
def test_dst_of_nc_matmul_mx_is_float32_or_bfloat16(dtype):
    if dtype in ("float32", "bfloat16"):
        legal("trn3", matmul(out=dtype))
    else:
        refused("trn3", "operand.dtype", matmul(out=dtype), dtype,
                operand="dst")


def test_the_contraction_is_whole_quadrants():
    for k in (32, 64, 96, 128):
        legal("trn3", matmul(k=k))
    for k in (1, 31, 33, 127):
        refused("trn3", "nc_matmul_mx.contraction", matmul(k=k), f"{k}")
    refused("trn3", "nc_matmul_mx.contraction", matmul(k=64, moving_k=32),
            "stationary has 64", "moving 32")


def test_stationary_has_an_even_number_of_columns_up_to_128():
    legal("trn3", matmul(m=2))
    legal("trn3", matmul(m=128))
    for m in (1, 127, 130):
        refused("trn3", "nc_matmul_mx.columns", matmul(m=m), "even", f"{m}")


def test_moving_has_up_to_4096_columns_for_float32_and_8192_for_bfloat16():
    legal("trn3", matmul(n=4096))
    refused("trn3", "nc_matmul_mx.moving_free_size", matmul(n=4097), "4097",
            "4096")
    legal("trn3", matmul(n=8192, out="bfloat16"))
    refused("trn3", "nc_matmul_mx.moving_free_size",
            matmul(n=8193, out="bfloat16"), "8193", "8192")


def test_dst_of_nc_matmul_mx_is_the_columns_of_both():
    legal("trn3", matmul(m=6, n=5))
    refused("trn3", "nc_matmul_mx.dst_shape", matmul(m=6, n=5, dst=(4, 5)),
            "[6, 5]")
    refused("trn3", "nc_matmul_mx.dst_shape", matmul(m=6, n=5, dst=(6, 4)),
            "[6, 5]")


@pytest.mark.parametrize("k", [32, 64, 96, 128])
def test_a_scale_view_reaches_the_last_used_row(k):
    rows = reach(k)
    legal("trn3", matmul(k=k, scales=((rows, 4), (rows, 4))))
    legal("trn3", matmul(k=k, scales=((128, 4), (128, 4))))
    for shapes in (((rows - 1, 4), (rows, 4)), ((rows, 4), (rows - 1, 4))):
        refused("trn3", "nc_matmul_mx.scale_rows", matmul(k=k, scales=shapes),
                f"{rows - 1} for {k}")


def test_there_is_a_scale_for_each_column():
    legal("trn3", matmul(scales=((4, 9), (4, 4))))
    legal("trn3", matmul(scales=((4, 4), (4, 9))))
    for shapes in (((4, 3), (4, 4)), ((4, 4), (4, 3))):
        refused("trn3", "nc_matmul_mx.scale_columns", matmul(scales=shapes),
                "3 for 4")


@pytest.mark.parametrize("st", OFFSETS)
@pytest.mark.parametrize("mv", OFFSETS)
def test_scale_views_at_4_8_and_12_of_a_quadrant_are_legal(st, mv):
    legal("trn3", matmul(scale_start=(st, mv)))
    legal("trn3", matmul(k=96, scale_start=(st, mv)))
    legal("trn3", matmul(start=(32, 96), scale_start=(32 + st, 96 + mv)))


@pytest.mark.parametrize("at", [1, 2, 5, 13, 16, 20, 28])
def test_no_other_offset_of_a_scale_view_is_legal(at):
    refused("trn3", "nc_matmul_mx.scale_start", matmul(scale_start=(at, 0)),
            f"at partition {at}")
    refused("trn3", "nc_matmul_mx.scale_start", matmul(scale_start=(4, at)),
            f"at {at}")


def test_scales_lie_in_the_quadrant_of_their_data():
    legal("trn3", matmul(start=(64, 32), scale_start=(76, 32)))
    for at in ((32, 32), (64, 64)):
        refused("trn3", "nc_matmul_mx.scale_quadrant",
                matmul(start=(64, 32), scale_start=at), "quadrant")


def test_tile_position_and_tile_size_of_nc_matmul_mx_go_together():
    legal("trn3", matmul(tile_position=(0, 0), tile_size=(32, 128)))
    legal("trn3", matmul(tile_position=None, tile_size=None))
    refused("trn3", "nc_matmul_mx.tile_pair", matmul(tile_size=(32, 128)),
            "tile_position")
    refused("trn3", "nc_matmul_mx.tile_pair", matmul(tile_position=(0, 0)),
            "tile_size")


@pytest.mark.parametrize("rows", [32, 64, 128])
def test_row_tiles_of_nc_matmul_mx_are_32_64_or_128(rows):
    for k in (32, 64, 96, 128):
        act = matmul(k=k, tile_position=(0, 0), tile_size=(rows, 128))
        if k <= rows:
            legal("trn3", act)
        else:
            refused("trn3", "nc_matmul_mx.tile_size", act, f"({rows}, 128)",
                    f"{k}")


@pytest.mark.parametrize("size", [(96, 128), (16, 128), (32, 64), (128, 32)])
def test_no_other_tile_size_of_nc_matmul_mx_exists(size):
    refused("trn3", "nc_matmul_mx.tile_size",
            matmul(tile_position=(0, 0), tile_size=size), str(size))


def test_row_tiles_of_nc_matmul_mx_start_at_multiples_of_their_rows():
    for row in (0, 32, 64, 96):
        legal("trn3", matmul(start=(row, row), tile_position=(row, 0),
                             tile_size=(32, 128)))
    for at in ((32, 0), (128, 0), (0, 32), (-64, 0)):
        refused("trn3", "nc_matmul_mx.tile_position",
                matmul(tile_position=at, tile_size=(64, 128)), str(at))


def test_operands_of_nc_matmul_mx_lie_on_the_rows_of_their_tile():
    tile = {"tile_position": (64, 0), "tile_size": (32, 128)}
    legal("trn3", matmul(start=(64, 64), **tile))
    for start in ((32, 64), (64, 96)):
        refused("trn3", "nc_matmul_mx.tile_partitions",
                matmul(start=start, **tile), f"partition {start[0]}",
                f"moving at {start[1]}")


def quantize(
    p: int = 32,
    f: int = 8,
    dtype: str = "bfloat16",
    out: str = "float8_e4m3fn_x4",
    dst: tuple[int, int] | None = None,
    scales: tuple[int, int] | None = None,
    scale_start: int | None = None,
    scale_dtype: str = "uint8",
    start: int = 0,
    where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf"),
):
    def act(bench: Bench) -> None:
        columns = max(1, f // 4)
        rows, width = scales or (reach(max(p, 32)), columns)
        at = start if scale_start is None else scale_start
        bench.b.quantize_mx(
            dst=bench.tile(where[0], *(dst or (p, columns)), out,
                           fill=False),
            src=bench.tile(where[1], p, f, dtype, start or None),
            dst_scale=scale(bench, rows, width, scale_dtype, at, where[2]),
        )

    return act


@BEFORE
def test_quantize_mx_needs_trn3(target):
    legal("trn3", quantize())
    refused(target, "quantize_mx.generation", quantize(), "trn3", target)


@pytest.mark.parametrize("i", range(3))
def test_quantize_mx_stays_in_sbuf(i):
    where = ["sbuf", "sbuf", "sbuf"]
    where[i] = "psum"
    name = ("dst", "src", "dst_scale")[i]
    refused("trn3", "operand.buffer", quantize(where=tuple(where)), name,
            operand=name)


@pytest.mark.parametrize("dtype", FP)
def test_src_of_quantize_mx_is_float16_or_bfloat16(dtype):
    if dtype in ("float16", "bfloat16"):
        legal("trn3", quantize(dtype=dtype))
    else:
        refused("trn3", "operand.dtype", quantize(dtype=dtype), dtype,
                operand="src")


@pytest.mark.parametrize("out", [*X4, "uint32"])
def test_dst_of_quantize_mx_is_packed_fp8(out):
    if out in ("float8_e5m2_x4", "float8_e4m3fn_x4"):
        legal("trn3", quantize(out=out))
    else:
        refused("trn3", "operand.dtype", quantize(out=out), out, operand="dst")


@pytest.mark.parametrize("dtype", [*SCALES, "int8"])
def test_dst_scale_is_e8m0_or_its_bytes(dtype):
    if dtype in SCALES:
        legal("trn3", quantize(scale_dtype=dtype))
    else:
        refused("trn3", "operand.dtype", quantize(scale_dtype=dtype), dtype,
                operand="dst_scale")


def test_src_of_quantize_mx_has_whole_quadrants():
    for p in (32, 64, 96, 128):
        legal("trn3", quantize(p=p))
    for p in (8, 31, 33, 100):
        refused("trn3", "quantize_mx.partitions", quantize(p=p), f"{p}")


def test_src_of_quantize_mx_has_fours_of_elements():
    legal("trn3", quantize(f=4))
    for f in (1, 6, 7):
        refused("trn3", "quantize_mx.free_size", quantize(f=f), f"{f}")


def test_dst_of_quantize_mx_is_a_quarter_of_src():
    legal("trn3", quantize(f=12, dst=(32, 3)))
    for dst in ((32, 2), (32, 12), (64, 3)):
        refused("trn3", "quantize_mx.dst_shape",
                quantize(f=12, dst=dst), f"dst {dst[0]} of {dst[1]}")


@pytest.mark.parametrize("at", [*OFFSETS, 1, 6, 14, 16, 20])
def test_dst_scale_starts_at_0_4_8_or_12_of_a_quadrant(at):
    for p, start in ((32, 0), (128, 0), (32, 96), (64, 64)):
        act = quantize(p=p, start=start, scale_start=start + at)
        if start + at + reach(p) > 128:
            continue
        if at in OFFSETS:
            legal("trn3", act)
        else:
            refused("trn3", "quantize_mx.scale_start", act,
                    f"partition {start + at}")


def test_dst_scale_lies_in_the_quadrant_of_src():
    refused("trn3", "quantize_mx.scale_quadrant",
            quantize(start=64, scale_start=32), "64", "32")


def test_dst_scale_has_the_columns_of_dst():
    for width in (1, 3):
        refused("trn3", "quantize_mx.scale_columns",
                quantize(scales=(4, width)), f"{width} and dst 2")


@pytest.mark.parametrize("p", [32, 64, 96, 128])
def test_dst_scale_reaches_the_last_used_row(p):
    legal("trn3", quantize(p=p, scales=(128, 2)))
    refused("trn3", "quantize_mx.scale_rows",
            quantize(p=p, scales=(reach(p) - 1, 2)), f"for {p}")
