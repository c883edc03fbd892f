"""bn_stats and bn_aggr: each rule at its limit and one past it."""

from __future__ import annotations

import pytest

from rules_kit import ANY, X4, Bench, every_target, legal, refused

WHERE = pytest.mark.parametrize(
    "where", [(d, s) for d in ("sbuf", "psum") for s in ("sbuf", "psum")],
    ids="-".join,
)


def stats(data=(4, 8), dst=(4, 6), dtype="float32", out="float32",
          where=("sbuf", "sbuf"), operation="bn_stats"):
    def act(bench: Bench) -> None:
        getattr(bench.b, operation)(
            dst=bench.tile(where[0], dst[0], dst[1:], out),
            data=bench.tile(where[1], data[0], data[1:], dtype),
        )

    return act


def aggregate(data=(4, 6), dst=(4, 2), **more):
    return stats(data, dst, operation="bn_aggr", **more)


@every_target
def test_bn_stats_takes_512_elements(target):
    legal(target, stats(data=(4, 512)))
    legal(target, stats(data=(128, 2, 16, 16), dst=(128, 6)))
    for shape in ((4, 513), (4, 2, 257)):
        refused(target, "bn_stats.free_size", stats(data=shape), "512",
                str(shape[1] if len(shape) == 2 else 514), operand="data")


@every_target
def test_bn_stats_gives_six_numbers(target):
    legal(target, stats(dst=(4, 2, 3)))
    for dst in ((4, 5), (4, 7), (5, 6), (3, 6)):
        refused(target, "bn_stats.dst_shape", stats(dst=dst), "6", str(dst),
                operand="dst")


@every_target
def test_bn_aggr_takes_triples(target):
    for triples in (1, 2, 7):
        legal(target, aggregate(data=(4, 3 * triples)))
    for free in (1, 2, 4, 8):
        refused(target, "bn_aggr.free_size", aggregate(data=(4, free)),
                "triples", str(free), operand="data")


@every_target
def test_bn_aggr_gives_two_numbers(target):
    for dst in ((4, 1), (4, 3), (5, 2), (3, 2)):
        refused(target, "bn_aggr.dst_shape", aggregate(dst=dst), "2", str(dst),
                operand="dst")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_statistics_take_and_give_every_dtype(target, dtype):
    legal(target, stats(dtype=dtype))
    legal(target, stats(out=dtype))
    legal(target, aggregate(dtype=dtype))
    legal(target, aggregate(out=dtype))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_statistics_take_no_packed_types_nor_scales(target, dtype):
    for act in (stats, aggregate):
        refused(target, "operand.dtype", act(dtype=dtype), dtype,
                operand="data")
        refused(target, "operand.dtype", act(out=dtype), dtype, operand="dst")


@every_target
@WHERE
def test_statistics_read_and_write_sbuf_and_psum(target, where):
    legal(target, stats(where=where))
    legal(target, aggregate(where=where))
