"""nc_stream_shuffle: each rule at its limit and one past it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import trnemu
from rules_kit import ANY, Bench, every_target, legal, refused

SAME = tuple(range(32))


def shuffle(
    mask: Sequence[int] = SAME, p: int = 32, dst: int | None = None,
    f: int = 8, dst_f: int | None = None, dtype: str = "float32",
    out: str | None = None, start: int = 0, dst_start: int = 0,
    where: tuple[str, str] = ("sbuf", "sbuf"),
):
    def act(bench: Bench) -> None:
        bench.b.nc_stream_shuffle(
            dst=bench.tile(where[0], p if dst is None else dst,
                           f if dst_f is None else dst_f, out or dtype,
                           start=dst_start),
            src=bench.tile(where[1], p, f, dtype, start=start),
            shuffle_mask=list(mask),
        )

    return act


@every_target
def test_a_mask_has_32_lanes(target):
    legal(target, shuffle())
    for length in (0, 1, 31, 33, 64):
        refused(target, "nc_stream_shuffle.mask_length",
                shuffle([0] * length), "32", operand="shuffle_mask")


@every_target
def test_a_mask_holds_lanes_or_255(target):
    legal(target, shuffle([31, 255, 0] + [255] * 29))
    for lane in (32, 254, 256, -1, 2**40):
        refused(target, "nc_stream_shuffle.mask_values",
                shuffle([lane] + [0] * 31), "31", "255")


@every_target
def test_a_mask_selects_lanes_of_src(target):
    legal(target, shuffle([0] * 32, p=1, dst=32))
    legal(target, shuffle([3] * 32, p=4, dst=32))
    # Lanes that dst does not have are not looked at.
    legal(target, shuffle([0] * 4 + [31] * 28, p=4))
    # The third quadrant of 80 partitions has 16 lanes.
    legal(target, shuffle([15] * 32, p=80, dst=96))
    says = ("src", "partitions")
    outside = "nc_stream_shuffle.mask_outside_src"
    refused(target, outside, shuffle([4] * 32, p=4, dst=32), *says, "4",
            operand="shuffle_mask", category="unspecified")
    refused(target, outside, shuffle([0] * 32, p=1, dst=33), *says, "33",
            category="unspecified")
    refused(target, outside, shuffle([16] * 32, p=80, dst=96), *says, "80",
            category="unspecified")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_a_shuffle_keeps_the_dtype(target, dtype):
    legal(target, shuffle(dtype=dtype))
    other = "int8" if dtype != "int8" else "uint8"
    refused(target, "nc_stream_shuffle.dtype", shuffle(dtype=dtype, out=other),
            dtype, other, operand="dst")


@every_target
def test_a_shuffle_keeps_the_elements_per_partition(target):
    for free in (7, 9):
        refused(target, "nc_stream_shuffle.free_size", shuffle(dst_f=free),
                str(free), "8", operand="dst")


@every_target
def test_the_larger_tile_says_where_both_start(target):
    # num_active_partitions of 32: any quadrant, and not the same.
    for start in (0, 32, 64, 96):
        legal(target, shuffle(start=start, dst_start=96 - start))
    # 64
    for start in (0, 64):
        legal(target, shuffle([0] * 32, p=33, dst=33, start=start,
                              dst_start=64 - start))
    limit = "nc_stream_shuffle.start_partition_64"
    keep = [0] + [255] * 31
    refused(target, limit, shuffle(keep, p=32, dst=33, start=32), "32", "64")
    refused(target, limit, shuffle(keep, p=33, dst=32, dst_start=96), "96")
    # 96 and 128
    legal(target, shuffle(p=128))
    limit = "nc_stream_shuffle.start_partition_128"
    refused(target, limit, shuffle(keep, p=32, dst=65, start=64), "64", "0")
    refused(target, limit, shuffle(keep, p=65, dst=64, dst_start=64), "64")
    refused(target, "operand.start_partition", shuffle(p=4, start=48), "48")


@every_target
def test_a_shuffle_is_between_sbuf_and_psum(target):
    for dst in ("sbuf", "psum"):
        for src in ("sbuf", "psum"):
            legal(target, shuffle(where=(dst, src)))


@every_target
@pytest.mark.parametrize(
    "act", [shuffle([255, *range(31)]), shuffle([0] * 32, p=1, dst=32)])
def test_programs_survive_the_text_form(act, target):
    text = legal(target, act, run=False).to_text()
    again = trnemu.Program.from_text(text)
    assert again.to_text() == text and again.verify() == []
