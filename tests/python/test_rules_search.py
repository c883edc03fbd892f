"""max8, nc_find_index8 and nc_match_replace8: each rule at its limit and one
past it."""

from __future__ import annotations

from typing import Any

import pytest

import trnemu
from rules_kit import ANY, X4, Bench, every_target, legal, refused

Shape = tuple[int, ...]
SPACES = ("sbuf", "psum")


def maximum(src: Shape = (4, 8), dst: Shape = (4, 8), dtype: str = "float32",
            out: str = "float32", where: tuple[str, str] = ("sbuf", "sbuf")):
    def act(bench: Bench) -> None:
        bench.b.max8(dst=bench.tile(where[0], dst[0], dst[1:], out),
                     src=bench.tile(where[1], src[0], src[1:], dtype))

    return act


def find(data: Shape = (4, 8), vals: Shape = (4, 8), dst: Shape = (4, 8),
         dtype: str = "float32", kind: str = "float32", out: str = "uint32",
         where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf")):
    def act(bench: Bench) -> None:
        bench.b.nc_find_index8(
            dst=bench.tile(where[0], dst[0], dst[1:], out),
            data=bench.tile(where[1], data[0], data[1:], dtype),
            vals=bench.tile(where[2], vals[0], vals[1:], kind),
        )

    return act


def replace(data: Shape = (4, 8), vals: Shape = (4, 8), dst: Shape = (4, 8),
            index: Shape | None = None, dtype: str = "float32",
            kind: str = "float32", out: str = "float32",
            index_type: str = "uint32",
            where: tuple[str, str, str] = ("sbuf", "sbuf", "sbuf"),
            imm: Any = 0.0):
    def act(bench: Bench) -> None:
        more = {}
        if index is not None:
            more["dst_idx"] = bench.sbuf(index[0], index[1:], index_type)
        bench.b.nc_match_replace8(
            dst=bench.tile(where[0], dst[0], dst[1:], out),
            data=bench.tile(where[1], data[0], data[1:], dtype),
            vals=bench.tile(where[2], vals[0], vals[1:], kind), imm=imm,
            **more,
        )

    return act


@every_target
def test_max8_and_nc_find_index8_take_8_to_16384_elements(target):
    for free in (8, 16384):
        legal(target, maximum(src=(4, free)))
        legal(target, find(data=(4, free)))
    for free in (1, 7, 16385):
        refused(target, "max8.free_size", maximum(src=(4, free)), "8",
                "16384", str(free), operand="src")
        refused(target, "nc_find_index8.free_size", find(data=(4, free)), "8",
                "16384", str(free), operand="data")


@every_target
def test_max8_gives_eight_elements(target):
    for dst in ((4, 7), (4, 9), (5, 8)):
        refused(target, "max8.dst_shape", maximum(dst=dst), "8", str(dst),
                operand="dst")


@every_target
def test_max8_takes_three_dimensions_and_gives_two(target):
    legal(target, maximum(src=(4, 2, 8)))
    refused(target, "max8.rank", maximum(src=(4, 2, 2, 4)), "(4, 2, 2, 4)")
    refused(target, "max8.rank", maximum(dst=(4, 1, 8)), "(4, 1, 8)")


@every_target
def test_vals_are_eight_in_each_partition(target):
    for vals in ((4, 7), (4, 9), (5, 8)):
        refused(target, "nc_find_index8.vals_shape", find(vals=vals), "8",
                str(vals), operand="vals")
        refused(target, "nc_match_replace8.vals_shape", replace(vals=vals),
                "8", str(vals), operand="vals")


@every_target
def test_nc_find_index8_takes_three_dimensions(target):
    legal(target, find(data=(4, 2, 8), vals=(4, 2, 4), dst=(4, 2, 2, 2)))
    refused(target, "nc_find_index8.rank", find(data=(4, 2, 2, 4)),
            "(4, 2, 2, 4)")
    refused(target, "nc_find_index8.rank", find(vals=(4, 2, 2, 2)),
            "(4, 2, 2, 2)")


@every_target
def test_nc_find_index8_gives_eight_unsigned_integers(target):
    for out in ("uint16", "uint32"):
        legal(target, find(out=out))
    for out in (d for d in ANY if d not in ("uint16", "uint32")):
        refused(target, "operand.dtype", find(out=out), out, operand="dst")
    for dst in ((4, 7), (4, 9), (5, 8)):
        refused(target, "nc_find_index8.dst_shape", find(dst=dst), "8",
                str(dst), operand="dst")


@every_target
def test_nc_match_replace8_takes_16384_elements(target):
    for free in (1, 7, 16384):
        legal(target, replace(data=(4, free), dst=(4, free)))
    refused(target, "nc_match_replace8.free_size",
            replace(data=(4, 16385), dst=(4, 16385)), "16384", "16385",
            operand="data")


@every_target
def test_nc_match_replace8_gives_the_elements_of_data(target):
    legal(target, replace(data=(4, 2, 4), dst=(4, 8)))
    for dst in ((4, 7), (5, 8)):
        refused(target, "nc_match_replace8.dst_shape", replace(dst=dst),
                "(4, 8)", str(dst), operand="dst")


@every_target
def test_dst_idx_is_eight_uint32_in_each_partition(target):
    legal(target, replace(index=(4, 8)))
    legal(target, replace(index=(4, 2, 4)))
    for index in ((4, 7), (4, 9), (5, 8)):
        refused(target, "nc_match_replace8.dst_idx_shape",
                replace(index=index), "8", str(index), operand="dst_idx")
    for dtype in ("uint16", "int32", "float32"):
        refused(target, "operand.dtype",
                replace(index=(4, 8), index_type=dtype), dtype,
                operand="dst_idx")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_searches_take_every_dtype(target, dtype):
    legal(target, maximum(dtype=dtype, out=dtype))
    legal(target, find(dtype=dtype, kind=dtype))
    legal(target, replace(dtype=dtype, kind=dtype, out=dtype))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_searches_take_no_packed_types_nor_scales(target, dtype):
    refused(target, "operand.dtype", maximum(dtype=dtype), dtype,
            operand="src")
    for act in (find, replace):
        refused(target, "operand.dtype", act(dtype=dtype), dtype,
                operand="data")
        refused(target, "operand.dtype", act(kind=dtype), dtype,
                operand="vals")


@every_target
@pytest.mark.parametrize("dst", SPACES)
@pytest.mark.parametrize("src", SPACES)
def test_searches_read_and_write_sbuf_and_psum(target, dst, src):
    legal(target, maximum(where=(dst, src)))
    for vals in SPACES:
        legal(target, find(where=(dst, src, vals)))
        legal(target, replace(where=(dst, src, vals)))


@every_target
@pytest.mark.parametrize(
    "act", [maximum(), find(), replace(imm=float("-inf")),
            replace(index=(4, 8))])
def test_programs_survive_the_text_form(act, target):
    text = legal(target, act, run=False).to_text()
    again = trnemu.Program.from_text(text)
    assert again.to_text() == text and again.verify() == []


@every_target
def test_a_search_that_is_not_paired_with_its_values_is_no_expansion(target):
    text = legal(target, find(), run=False).to_text()
    lines = [x for x in text.splitlines() if "LoadMatchValues" not in x]
    assert len(lines) < len(text.splitlines())
    with pytest.raises(trnemu.Fault) as info:
        trnemu.Program.from_text("\n".join(lines) + "\n")
    assert info.value.category == "malformed", info.value.message
