"""rng, rand2, rand_set_state, rand_get_state, set_rng_seed, dropout: each rule
at its limit and one past it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from rules_kit import (
    ANY, FP, INT, X4, Bench, every_target, legal, refused,
)

Shape = tuple[int, ...]


def rng(dtype: str = "uint32", p: int = 4, where: str = "sbuf", **more: Any):
    def act(bench: Bench) -> None:
        bench.b.rng(dst=bench.tile(where, p, 8, dtype), **more)

    return act


@every_target
@pytest.mark.parametrize("dtype", INT)
def test_rng_gives_integers(target, dtype):
    legal(target, rng(dtype))
    legal(target, rng(dtype, 128, engine="vector", where="psum"))


@every_target
@pytest.mark.parametrize("dtype", [*FP, "bool", *X4])
def test_rng_gives_nothing_else(target, dtype):
    refused(target, "operand.dtype", rng(dtype), dtype, operand="dst")


def test_rng_on_gpsimd_came_with_trn2():
    for target in ("trn2", "trn3"):
        legal(target, rng(engine="gpsimd"))
        refused(target, "operand.gpsimd_psum", rng(engine="gpsimd",
                                                   where="psum"),
                "PSUM", operand="dst")
    refused("trn1", "rng.gpsimd_generation", rng(engine="gpsimd"), "trn1",
            "trn2", operand="engine")


@every_target
@pytest.mark.parametrize("engine", ["scalar", "tensor", "sync", "dma"])
def test_no_other_engine_has_rng(target, engine):
    refused(target, "rng.engine", rng(engine=engine), engine, operand="engine")


def test_rng_runs_on_vector_by_default():
    b = trnemu.ProgramBuilder()
    b.rng(dst=b.sbuf((1, 1), "uint8"))
    b.rng(dst=b.sbuf((1, 1), "uint8"), engine="unknown")
    text = b.build().to_text()
    assert text.count(" rng.0 ") == text.count("  vector #") == 2


# --- rand2 ---


def rand2(low: Any = 0.0, high: Any = 1.0, dtype: str = "float32",
          where: str = "sbuf", p: int = 4):
    def act(bench: Bench) -> None:
        ends = []
        for end, value in ((low, 0.0), (high, 1.0)):
            if isinstance(end, tuple):  # shape, dtype, memory
                view = bench.tile(end[2], end[0][0], end[0][1:], end[1])
                if end[1] == "float32":
                    bench.b.memset(dst=view, value=value, engine="vector")
                end = view
            ends.append(end)
        bench.b.rand2(dst=bench.tile(where, p, 8, dtype), min=ends[0],
                      max=ends[1])

    return act


def test_rand2_came_with_trn3():
    legal("trn3", rand2())
    for target in ("trn1", "trn2"):
        refused(target, "rand2.generation", rand2(), target, "trn3")


def test_rand2_gives_all_but_two_dtypes():
    for dtype in set(ANY) - {"float8_e4m3fn", "bool"}:
        legal("trn3", rand2(dtype=dtype))
        legal("trn3", rand2(dtype=dtype, where="psum"))
    for dtype in ("float8_e4m3fn", "bool", *X4):
        refused("trn3", "operand.dtype", rand2(dtype=dtype), dtype,
                operand="dst")


@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_ends_are_numbers_or_float32_columns(where):
    column = ((4, 1), "float32", where)
    legal("trn3", rand2(column))
    legal("trn3", rand2(0.0, column))
    legal("trn3", rand2(column, column))
    legal("trn3", rand2(-1, 2))
    for shape in ((4, 2), (3, 1), (5, 1), (1, 1)):
        wrong = (shape, "float32", where)
        refused("trn3", "rand2.bounds_shape", rand2(wrong), str(shape))
        refused("trn3", "rand2.bounds_shape", rand2(0.0, wrong), str(shape))
    for dtype in set(ANY) - {"float32"}:
        wrong = ((4, 1), dtype, where)
        refused("trn3", "operand.dtype", rand2(wrong), dtype, operand="min")
        refused("trn3", "operand.dtype", rand2(0.0, wrong), dtype,
                operand="max")


@pytest.mark.parametrize(("low", "high"), [
    (0.0, 0.0), (1.0, 0.5), (0.0, float("nan")), (float("nan"), 1.0),
    (16777216, 16777217),  # equal in float32
])
def test_min_is_below_max(low, high):
    refused("trn3", "rand2.range", rand2(low, high), "below",
            category="unspecified")


def test_min_is_just_below_max():
    legal("trn3", rand2(0.0, 1e-45))
    legal("trn3", rand2(-1, -0.5))


# --- rand_set_state, rand_get_state ---


def set_state(shape: Shape = (128, 6), dtype: str = "uint32",
              where: str = "sbuf", **more: Any):
    def act(bench: Bench) -> None:
        seeds = bench.tile(where, shape[0], shape[1:], dtype)
        bench.b.rand_set_state(src_seeds=seeds, **more)

    return act


def get_state(shape: Shape = (128, 6), dtype: str = "uint32",
              where: str = "sbuf", **more: Any):
    def act(bench: Bench) -> None:
        dst = bench.tile(where, shape[0], shape[1:], dtype)
        bench.b.rand_get_state(dst=dst, **more)

    return act


STATE = [("rand_set_state", set_state, "src_seeds"),
         ("rand_get_state", get_state, "dst")]
each_state = pytest.mark.parametrize(("name", "call", "operand"), STATE)


@each_state
def test_states_came_with_trn2_and_vectors_with_trn3(name, call, operand):
    refused("trn1", f"{name}.generation", call(), "trn1", "trn2")
    for target in ("trn2", "trn3"):
        legal(target, call())
        legal(target, call(engine="gpsimd"))
        legal(target, call((1, 6)))
    refused("trn2", f"{name}.vector_generation",
            call((128, 24), engine="vector"), "trn2", "trn3", operand="engine")
    legal("trn3", call((128, 24), engine="vector"))


@each_state
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_state_has_6_words_on_gpsimd(name, call, operand, target):
    for n in (5, 7, 24):
        refused(target, f"{name}.free_size", call((128, n)), f"has {n}",
                operand=operand)


@each_state
def test_a_state_has_24_words_on_vector(name, call, operand):
    for n in (6, 23, 25):
        refused("trn3", f"{name}.free_size", call((128, n), engine="vector"),
                f"has {n}", operand=operand)


@each_state
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_state_has_two_dimensions(name, call, operand, target):
    refused(target, f"{name}.rank", call((128, 2, 3)), "(128, 2, 3)",
            operand=operand)


@each_state
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_a_state_is_uint32(name, call, operand, target):
    for dtype in set(ANY) - {"uint32"}:
        refused(target, "operand.dtype", call(dtype=dtype), dtype,
                operand=operand)


@each_state
@pytest.mark.parametrize("engine", ["scalar", "tensor", "sync"])
def test_no_other_engine_has_a_state(name, call, operand, engine):
    refused("trn3", f"{name}.engine", call(engine=engine), engine)


def test_a_state_is_set_from_sbuf_and_read_into_psum_on_trn3_vector():
    for target in ("trn2", "trn3"):
        refused(target, "operand.buffer", set_state(where="psum"),
                operand="src_seeds")
        refused(target, "operand.gpsimd_psum", get_state(where="psum"), "PSUM")
    legal("trn3", get_state((128, 24), where="psum", engine="vector"))
    bench = Bench("trn2")
    with pytest.raises(trnemu.Fault) as info:
        get_state((128, 24), where="psum", engine="vector")(bench)
    assert info.value.id == "rand_get_state.vector_generation"


# --- set_rng_seed ---


def seed(shape: Shape = (1, 1), dtype: str = "int32", where: str = "sbuf"):
    def act(bench: Bench) -> None:
        bench.b.set_rng_seed(
            src_seeds=bench.tile(where, shape[0], shape[1:], dtype))

    return act


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_a_seed_is_one_element_of_32_bits(target, where):
    for dtype in ("int32", "uint32", "float32", "tfloat32"):
        legal(target, seed(dtype=dtype, where=where))
    for dtype in set(ANY) - {"int32", "uint32", "float32", "tfloat32"}:
        refused(target, "operand.dtype", seed(dtype=dtype, where=where), dtype)
    for shape in ((2, 1), (1, 2), (128, 1)):
        refused(target, "set_rng_seed.one", seed(shape, where=where),
                str(shape), operand="src_seeds")


# --- dropout ---


def dropout(data: Shape = (4, 8), dst: Shape | None = None,
            dtype: str = "float32", out: str | None = None, prob: Any = 0.5,
            where: tuple[str, str] = ("sbuf", "sbuf")):
    def act(bench: Bench) -> None:
        at = dst or data
        bench.b.dropout(
            dst=bench.tile(where[0], at[0], at[1:], out or dtype),
            data=bench.tile(where[1], data[0], data[1:], dtype),
            prob=(bench.tile(prob[2], prob[0][0], prob[0][1:], prob[1])
                  if isinstance(prob, tuple) else prob))

    return act


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_dropout_keeps_the_dtype(target, dtype):
    legal(target, dropout(dtype=dtype))
    other = "int8" if dtype != "int8" else "uint8"
    refused(target, "dropout.dtype", dropout(dtype=dtype, out=other), other,
            dtype, operand="dst")


@every_target
def test_dropout_keeps_the_shape(target):
    legal(target, dropout(dst=(4, 2, 4)))
    for shape in ((4, 7), (4, 9), (3, 8), (5, 8)):
        refused(target, "dropout.shape", dropout(dst=shape),
                f"{shape[0]} partitions of {shape[1]}", operand="dst")


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_prob_is_a_number_or_a_column(target, where):
    legal(target, dropout(prob=1))
    legal(target, dropout(prob=((4, 1), "float32", where)))
    for shape in ((4, 2), (3, 1), (1, 1)):
        refused(target, "dropout.prob_shape",
                dropout(prob=(shape, "float32", where)), str(shape),
                operand="prob")


@every_target
@pytest.mark.parametrize("prob", FP)
def test_prob_is_a_float_and_float32_where_data_is_an_integer(target, prob):
    column = ((4, 1), prob, "sbuf")
    for dtype in (*FP, "bool"):
        legal(target, dropout(dtype=dtype, prob=column), run=False)
    for dtype in INT:
        if prob == "float32":
            legal(target, dropout(dtype=dtype, prob=column))
        else:
            refused(target, "dropout.integer_prob",
                    dropout(dtype=dtype, prob=column), prob, dtype,
                    operand="prob")


@every_target
@pytest.mark.parametrize("prob", [*INT, "bool"])
def test_prob_is_no_integer(target, prob):
    refused(target, "operand.dtype", dropout(prob=((4, 1), prob, "sbuf")),
            prob, operand="prob")


@every_target
@pytest.mark.parametrize("where", [("sbuf", "psum"), ("psum", "sbuf"),
                                   ("psum", "psum")])
def test_dropout_is_in_sbuf_or_psum(target, where):
    legal(target, dropout(where=where))


def test_dropout_to_another_dtype_can_be_allowed():
    # as API 2.26 had it: dst was another floating-point dtype
    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, 2), "float32")
    data, t = b.sbuf((1, 2), "float16"), b.sbuf((1, 2), "float32")
    b.memset(dst=data, value=0.099975586)
    b.memset(dst=t, value=5.0)
    b.dropout(dst=t[:, 0:1].view("float16"), data=data, prob=0.0)
    b.dma_copy(dst=y, src=t)
    text = b.build().to_text()
    halves = ", 0+2x1]:float16 data="
    assert halves in text
    p = trnemu.Program.from_text(
        text.replace(halves, ", 0+2x1]:float32 data="))
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {})
    assert info.value.id == "dropout.dtype"
    out = trnemu.run(p, {}, allow=["dropout.dtype"]).outputs["y"]
    np.testing.assert_array_equal(out, np.float32(np.float16(0.1)))
