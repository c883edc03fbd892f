"""nc_transpose: each rule at its limit and one past it."""

from __future__ import annotations

import pytest

from rules_kit import (
    ANY, FP, FP8, INT, SIZE, X4, Bench, every_target, legal, refused,
)


def transpose(
    p: int = 4,
    f: int = 8,
    dtype: str = "float32",
    out: str | None = None,
    where: tuple[str, str] = ("psum", "sbuf"),
    dst: tuple[int, int] | None = None,
    **attributes: str,
):
    """where: of dst, of data."""

    def act(bench: Bench) -> None:
        shape = dst or (min(f, 128), p)
        data = bench.tile(where[1], p, f, dtype)
        made = bench.tile(where[0], *shape, out or dtype)
        bench.b.nc_transpose(dst=made, data=data, **attributes)

    return act


TENSOR = {"engine": "tensor"}
VECTOR = {"engine": "vector"}


@every_target
@pytest.mark.parametrize("engine", ["scalar", "gpsimd", "sync", "dma"])
def test_only_the_tensor_and_the_vector_engine_transpose(target, engine):
    refused(target, "nc_transpose.engine",
            transpose(4, 4, engine=engine, where=("sbuf", "sbuf")),
            "tensor", "vector", engine)


@every_target
def test_the_engine_follows_from_where_dst_is(target):
    # The tensor engine takes 33 x 33, the vector engine does not.
    legal(target, transpose(33, 33, where=("psum", "sbuf")))
    refused(target, "nc_transpose.vector_size",
            transpose(33, 33, where=("sbuf", "sbuf")), "33", "32")


@every_target
def test_the_tensor_engine_transposes_from_sbuf_to_psum(target):
    legal(target, transpose(where=("psum", "sbuf"), **TENSOR))
    for where in (("sbuf", "sbuf"), ("psum", "psum"), ("sbuf", "psum")):
        refused(target, "nc_transpose.tensor_memories",
                transpose(where=where, **TENSOR), f"data is in {where[1]}",
                f"dst in {where[0]}")


@every_target
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_the_vector_engine_transposes_between_all_memories(target, dst, data):
    legal(target, transpose(32, 32, where=(dst, data), **VECTOR))


@every_target
def test_the_tensor_engine_transposes_128_by_128(target):
    legal(target, transpose(128, 128))
    refused(target, "nc_transpose.tensor_size", transpose(128, 129),
            "data", "129", "128")


@every_target
def test_the_vector_engine_transposes_32_by_32(target):
    legal(target, transpose(32, 32, where=("sbuf", "sbuf")))
    for shape in ((33, 32), (32, 33)):
        refused(target, "nc_transpose.vector_size",
                transpose(*shape, where=("sbuf", "sbuf")), "data", "33", "32")


@every_target
@pytest.mark.parametrize("where", [("psum", "sbuf"), ("sbuf", "sbuf")])
def test_dst_is_the_transposed_shape(target, where):
    legal(target, transpose(3, 5, where=where))
    for dst in ((3, 5), (5, 4), (4, 3)):
        refused(target, "nc_transpose.dst_shape",
                transpose(3, 5, dst=dst, where=where), "dst", "[5, 3]",
                f"{dst[0]} partitions", f"free size of {dst[1]}")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_the_vector_engine_moves_every_dtype(target, dtype):
    legal(target, transpose(4, 8, dtype, where=("sbuf", "sbuf")))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_are_no_data(target, dtype):
    refused(target, "operand.dtype",
            transpose(4, 8, dtype, where=("sbuf", "sbuf")), dtype)
    refused(target, "operand.dtype",
            transpose(4, 8, dtype, "float32", where=("sbuf", "sbuf")), "data",
            dtype, operand="data")


@every_target
def test_the_vector_engine_does_not_cast(target):
    refused(target, "nc_transpose.dtype",
            transpose(4, 8, "bfloat16", "float32", where=("sbuf", "sbuf")),
            "dst", "bfloat16", "float32")
    refused(target, "nc_transpose.dtype",
            transpose(4, 8, "uint16", "int16", where=("sbuf", "sbuf")),
            "dst", "uint16", "int16")


@every_target
@pytest.mark.parametrize("dtype", FP)
def test_the_tensor_engine_keeps_the_dtype(target, dtype):
    legal(target, transpose(4, 8, dtype))


@pytest.mark.parametrize("dtype", FP)
def test_the_tensor_engine_of_trn1_may_land_in_float32(dtype):
    legal("trn1", transpose(4, 8, dtype, "float32"))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_the_tensor_engine_does_not_cast_from_trn2_on(target):
    refused(target, "nc_transpose.dtype", transpose(4, 8, "bfloat16", "float32"),
            "dst", "bfloat16", "float32")
    refused(target, "nc_transpose.dtype", transpose(4, 8, "float32", "bfloat16"),
            "dst", "bfloat16", "float32")


def test_the_tensor_engine_of_trn1_casts_to_nothing_but_float32():
    refused("trn1", "nc_transpose.dtype", transpose(4, 8, "float32", "float16"),
            "dst", "float32", "float16")


@every_target
@pytest.mark.parametrize("dtype", FP8)
def test_float8_lands_in_two_byte_elements_from_trn2_on(target, dtype):
    call = transpose(4, 8, dtype, "bfloat16")
    if target == "trn1":
        refused(target, "nc_transpose.dtype", call, "dst", dtype, "bfloat16")
    else:
        legal(target, call)
        refused(target, "nc_transpose.dtype", transpose(4, 8, dtype, "float32"),
                "dst", dtype, "float32")


@every_target
@pytest.mark.parametrize("dtype", [*INT, "bool"])
def test_integers_on_the_tensor_engine_are_unsupported(target, dtype):
    fault = refused(target, "nc_transpose.tensor_integers",
                    transpose(4, 8, dtype), dtype, category="unsupported")
    assert "view" in str(fault)
    assert SIZE[dtype] in (1, 2, 4)
