"""tensor_copy, memset, reciprocal: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from rules_kit import (
    ANY, ANYX, INT, X4, Bench, every_target, legal, refused,
)


def two(operation: str, source: str):
    """A function that makes calls of an operation with dst and a source."""

    def make(
        p: int = 4, f: Any = 8, dtype: str = "float32", out: str | None = None,
        dst: tuple[int, Any] | None = None,
        where: tuple[str, str] = ("sbuf", "sbuf"), **more: Any,
    ):
        def act(bench: Bench) -> None:
            q, g = dst or (p, f)
            tiles = {
                "dst": bench.tile(where[0], q, g, out or dtype),
                source: bench.tile(where[1], p, f, dtype),
            }
            getattr(bench.b, operation)(**tiles, **more)

        return act

    return make


copy = two("tensor_copy", "src")
reciprocal = two("reciprocal", "data")


@every_target
@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
def test_tensor_copy_runs_on_vector_scalar_and_gpsimd(target, engine):
    # decisions.md: on trn1's scalar engine too, through fp32
    legal(target, copy(engine=engine))


@every_target
@pytest.mark.parametrize("engine", ["tensor", "sync", "dma"])
def test_tensor_copy_runs_on_no_other_engine(target, engine):
    refused(target, "tensor_copy.engine", copy(engine=engine), "vector",
            "scalar", "gpsimd", engine)


@every_target
def test_the_copy_has_the_shape_of_its_source(target):
    legal(target, copy(128))
    legal(target, copy(4, (2, 3, 4), dst=(4, (24,))))
    refused(target, "tensor_copy.shape", copy(dst=(5, 8)), "dst",
            "5 partitions", "4")
    refused(target, "tensor_copy.shape", copy(dst=(4, 9)), "dst", "9 elements",
            "8")


@every_target
@pytest.mark.parametrize("engine", ["vector", "scalar", "unknown"])
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("src", ["sbuf", "psum"])
def test_tensor_copy_goes_between_sbuf_and_psum(target, engine, dst, src):
    legal(target, copy(where=(dst, src), engine=engine))


@every_target
def test_tensor_copy_does_not_go_to_hbm(target):
    for at in ("dst", "src"):
        def act(bench: Bench, at: str = at) -> None:
            tiles = {"dst": bench.sbuf(), "src": bench.sbuf()}
            bench.b.tensor_copy(**{**tiles, at: bench.output()})

        refused(target, "operand.buffer", act, at, "sbuf or psum", "hbm",
                operand=at)


@every_target
@pytest.mark.parametrize("where", [("psum", "sbuf"), ("sbuf", "psum")])
def test_gpsimd_copies_within_sbuf(target, where):
    at = "dst" if where[0] == "psum" else "src"
    refused(target, "operand.gpsimd_psum", copy(where=where, engine="gpsimd"),
            at, "gpsimd", "PSUM", operand=at)


@every_target
@pytest.mark.parametrize("dtype", ANYX)
@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_tensor_copy_moves_every_dtype(target, dtype, engine):
    legal(target, copy(dtype=dtype, engine=engine),
          run=dtype != "float8_e8m0fnu")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_tensor_copy_casts_from_and_to_every_dtype(target, dtype):
    legal(target, copy(dtype=dtype, out="float32"))
    legal(target, copy(dtype="float32", out=dtype))
    legal(target, copy(dtype=dtype, out="int32", engine="scalar"))


@every_target
@pytest.mark.parametrize("dtype", X4)
def test_packed_types_are_never_cast(target, dtype):
    # dma overview:19 says so of DMA; inferred for tensor_copy
    for a, b in ((dtype, "float32"), ("float32", dtype),
                 (dtype, next(x for x in X4 if x != dtype))):
        refused(target, "tensor_copy.packed_cast", copy(dtype=a, out=b), a, b)


# memset


def memset(value: Any = 0, dtype: str = "float32", where: str = "sbuf",
           **more: Any):
    def act(bench: Bench) -> None:
        bench.b.memset(dst=bench.tile(where, 4, 8, dtype, fill=False),
                       value=value, **more)

    return act


@every_target
def test_memset_runs_on_vector_and_gpsimd(target):
    for engine in ("vector", "gpsimd", "unknown"):
        legal(target, memset(engine=engine))
    for engine in ("scalar", "tensor", "sync", "dma"):
        refused(target, "memset.engine", memset(engine=engine), "vector",
                "gpsimd", engine)


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_memset_fills_sbuf_and_psum(target, where):
    legal(target, memset(where=where))


@every_target
def test_gpsimd_memset_fills_sbuf_only(target):
    refused(target, "operand.gpsimd_psum", memset(where="psum", engine="gpsimd"),
            "dst", "gpsimd", "PSUM", operand="dst")
    refused(target, "operand.buffer",
            lambda bench: bench.b.memset(dst=bench.output(), value=0), "dst",
            "hbm", operand="dst")


@every_target
@pytest.mark.parametrize("dtype", X4)
def test_a_packed_tile_is_filled_with_0_only(target, dtype):
    legal(target, memset(0, dtype))
    legal(target, memset(0.0, dtype))
    refused(target, "memset.packed", memset(1, dtype), "value", "1", dtype)


LIMITS = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}


@every_target
@pytest.mark.parametrize("dtype", INT)
def test_the_value_of_an_integer_tile_is_one_of_its_values(target, dtype):
    low, high = LIMITS[dtype]
    for value in (low, high, float(low), float(high)):
        legal(target, memset(value, dtype))
    for value in (low - 1, high + 1, 0.5, -0.5, float("nan"), float("inf")):
        refused(target, "memset.integer_value", memset(value, dtype), "value",
                f"{value}", dtype)


@every_target
def test_a_float_0_fills_an_integer_tile(target):
    # isa.json: public kernels memset uint8 with 0.0
    legal(target, memset(0.0, "uint8"))


@every_target
@pytest.mark.parametrize("dtype", [d for d in ANY if d not in INT])
def test_a_float_tile_takes_any_number(target, dtype):
    for value in (0, 1, 0.5, -3.0e38):
        legal(target, memset(value, dtype))


# reciprocal


@every_target
def test_the_reciprocal_has_the_shape_of_data(target):
    legal(target, reciprocal(128))
    legal(target, reciprocal(4, (2, 4)))
    refused(target, "reciprocal.partitions", reciprocal(dst=(5, 8)),
            "dst has 5", "data 4")
    refused(target, "reciprocal.free_size", reciprocal(dst=(4, 9)),
            "dst has 9", "data 8")


@every_target
@pytest.mark.parametrize("dst", ["sbuf", "psum"])
@pytest.mark.parametrize("data", ["sbuf", "psum"])
def test_reciprocal_goes_between_sbuf_and_psum(target, dst, data):
    legal(target, reciprocal(where=(dst, data)))


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_reciprocal_takes_every_dtype(target, dtype):
    # 1/0 is inf, which an integer saturates.
    legal(target, reciprocal(dtype=dtype))


@every_target
@pytest.mark.parametrize("dtype", [*X4, "float8_e8m0fnu"])
def test_packed_types_and_scales_have_no_reciprocal(target, dtype):
    refused(target, "operand.dtype", reciprocal(dtype=dtype, out="float32"),
            "data", dtype, operand="data")
    refused(target, "operand.dtype", reciprocal(out=dtype), "dst", dtype,
            operand="dst")
