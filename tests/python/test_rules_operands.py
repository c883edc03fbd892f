"""The constraints that hold for every instruction (isa_vocab.json,
global_constraints): at the limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

import trnemu
from rules_kit import Bench, every_target, legal, refused

# How many partitions may start where: trainium_inferentia2_arch.rst:711.
STARTS = {0: 128, 32: 32, 64: 64, 96: 32}


def starts(partitions: int) -> list[int]:
    return [s for s, most in STARTS.items() if partitions <= most]


def copy_at(start: int, partitions: int, where: str = "sbuf",
            operand: str = "dst", engine: str = "vector"):
    """A tensor_copy with one operand on [start, start + partitions)."""

    def act(bench: Bench) -> None:
        whole = bench.tile(where, 128, 8)
        moved = whole[start : start + partitions]
        other = bench.sbuf(partitions, 8)
        pair = (moved, other) if operand == "dst" else (other, moved)
        bench.b.tensor_copy(dst=pair[0], src=pair[1], engine=engine)

    return act


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
@pytest.mark.parametrize("start", [0, 32, 64, 96])
@pytest.mark.parametrize("partitions", [1, 31, 32, 33, 63, 64, 65, 127, 128])
def test_where_a_tile_may_start_depends_on_its_partitions(
    target, where, start, partitions
):
    if start + partitions > 128:
        return
    if start in starts(partitions):
        legal(target, copy_at(start, partitions, where), run=False)
        legal(target, copy_at(start, partitions, where, "src"), run=False)
    else:
        refused(target, "operand.start_partition",
                copy_at(start, partitions, where), "dst",
                f"{partitions} partitions", f"partition {start}",
                operand="dst")


@every_target
@pytest.mark.parametrize("start", [1, 16, 31, 33, 48, 63, 65, 95, 97, 127])
@pytest.mark.parametrize("partitions", [1, 2, 36, 65])
@pytest.mark.parametrize("operand", ["dst", "src"])
def test_no_other_partition_starts_a_tile(target, start, partitions, operand):
    if start + partitions > 128:
        return
    fault = refused(target, "operand.start_partition",
                    copy_at(start, partitions, operand=operand), operand,
                    f"{partitions} partitions", f"partition {start}",
                    operand=operand)
    for legal_start in starts(partitions):
        assert str(legal_start) in fault.message
    assert "DMA" in str(fault)


@every_target
@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
def test_that_holds_on_every_compute_engine(target, engine):
    legal(target, copy_at(64, 36, engine=engine))
    refused(target, "operand.start_partition", copy_at(48, 36, engine=engine),
            "36", "48", "0 and 64")


@every_target
def test_that_holds_for_the_tensor_engine(target):
    def act(start: int):
        def inner(bench: Bench) -> None:
            t = bench.sbuf(128, 8, "bfloat16")[start : start + 2]
            bench.b.nc_matmul(dst=bench.psum(8, 8), stationary=t, moving=t)

        return inner

    legal(target, act(0))
    refused(target, "operand.start_partition", act(2), "stationary",
            "partition 2", operand="stationary")


@every_target
def test_that_holds_for_pinned_tiles_too(target):
    def act(start: int):
        return lambda bench: bench.b.memset(
            dst=bench.b.sbuf((36, 8), "float32", address=(start, 0)), value=0
        )

    legal(target, act(64))
    refused(target, "operand.start_partition", act(48), "36", "48")


@every_target
@pytest.mark.parametrize("where", ["sbuf", "psum"])
def test_a_tile_has_at_most_128_partitions(target, where):
    legal(target, lambda bench: bench.tile(where, 128, 8))
    refused(target, "tile.partitions", lambda bench: bench.tile(where, 129, 8),
            "129", "128")


def test_a_view_holds_no_partitions_that_its_tile_lacks():
    b = trnemu.ProgramBuilder()
    with pytest.raises(trnemu.Fault) as info:
        b.sbuf((64, 8), "float32").ap([[8, 65], [1, 8]])
    assert info.value.category == "out_of_bounds"
    assert "64" in info.value.message and "63" in info.value.message


@every_target
def test_partitions_are_neighbours(target):
    def ap(step: int, count: int = 128):
        return lambda bench: bench.b.memset(
            dst=bench.b.sbuf((128, 8), "float32").ap([[step, count], [1, 8]]),
            value=0,
        )

    legal(target, ap(8))
    for step in (16, 4, 0):  # 0: decisions.md
        fault = refused(target, "access.partition_step", ap(step), "partition",
                        "8", str(step))
        assert "shape ()" not in fault.message
    refused(target, "access.partition_step",
            lambda bench: bench.b.memset(
                dst=bench.b.sbuf((128, 8), "float32")[::2], value=0),
            "step", "2")


@every_target
def test_the_partition_axis_stays_first_and_is_not_broadcast(target):
    refused(target, "access.permute_partition",
            lambda bench: bench.b.memset(
                dst=bench.b.sbuf((8, 8), "float32").permute(1, 0), value=0))
    refused(target, "access.broadcast_partition",
            lambda bench: bench.b.tensor_copy(
                dst=bench.b.sbuf((8, 8), "float32"),
                src=bench.b.sbuf((1, 8), "float32").broadcast(0, 8)))


def test_a_row_of_hbm_is_broadcast_over_the_partitions():
    # decisions.md: partition step 0 is the usual broadcast load in HBM
    def act(bench: Bench) -> None:
        row = bench.input((1, 8))
        bench.b.dma_copy(dst=bench.sbuf(128, 8), src=row.broadcast(0, 128))

    legal("trn2", act)


@every_target
def test_an_operand_has_at_most_four_free_dimensions(target):
    def act(*free: int):
        def inner(bench: Bench) -> None:
            back = (0, *range(len(free), 0, -1))
            src = bench.sbuf(4, free).permute(*back)
            bench.b.tensor_copy(dst=bench.sbuf(4, free[::-1]), src=src)

        return inner

    legal(target, act(2, 3, 4, 5))
    refused(target, "access.too_many_dims", act(2, 3, 2, 3, 2), "5", "4")


def strided(step: int, count: int, elements: int, engine: str = "vector"):
    """Reads every step-th of `elements` uint8."""

    def act(bench: Bench) -> None:
        src = bench.sbuf(1, elements, "uint8")
        bench.b.tensor_copy(
            dst=bench.sbuf(1, count, "uint8"),
            src=src.ap([[elements, 1], [step, count]],
                       offset=0 if step > 0 else -step * (count - 1)),
            engine=engine,
        )

    return act


@every_target
def test_a_step_is_an_int16(target):
    legal(target, strided(32767, 3, 70000))
    legal(target, strided(-32768, 3, 70000))
    for step in (32768, -32769):
        with pytest.raises(trnemu.Fault) as info:
            strided(step, 3, 70000)(Bench(target))
        assert info.value.category == "illegal"
        assert str(step) in info.value.message


@every_target
def test_a_count_is_a_uint16(target):
    legal(target, strided(2, 65535, 131072, "gpsimd"))
    fault = refused(target, "operand.count", strided(2, 65536, 131072, "gpsimd"),
                    "src", "65535", operand="src")
    assert "65536" in fault.message


def size_of(elements: int, where: str = "sbuf", engine: str = "vector",
            dtype: str = "uint8"):
    def act(bench: Bench) -> None:
        # Two dimensions, so that no count is at its own limit.
        tile = bench.tile(where, 1, elements, dtype, fill=False)
        bench.b.memset(dst=tile, value=0, engine=engine)

    return act


@every_target
def test_vector_and_scalar_take_65536_elements_in_sbuf(target):
    legal(target, size_of(65536))
    refused(target, "operand.sbuf_free_size", size_of(65537), "dst", "65537",
            "65536", "vector", operand="dst")

    def scalar(elements: int):
        def act(bench: Bench) -> None:
            t = bench.sbuf(1, elements, "uint8")
            bench.b.activation(dst=t, op="copy", data=t)

        return act

    legal(target, scalar(65536))
    refused(target, "operand.sbuf_free_size", scalar(65537), "65537", "65536",
            "scalar")


@every_target
def test_vector_and_scalar_take_4096_elements_in_psum(target):
    legal(target, size_of(4096, "psum"))
    legal(target, size_of(4096, "psum", dtype="float32"))
    refused(target, "operand.psum_free_size", size_of(4097, "psum"), "dst",
            "4097", "4096", "vector", operand="dst")


@every_target
def test_gpsimd_is_not_bound_by_that(target):
    # isa_vocab.json: scope of the rule is the vector and scalar engines
    legal(target, size_of(65537, engine="gpsimd"))


ONE_SIDED = {
    "tensor_copy": lambda b, d, s: b.tensor_copy(dst=d, src=s),
    "reciprocal": lambda b, d, s: b.reciprocal(dst=d, data=s),
    "activation": lambda b, d, s: b.activation(dst=d, op="exp", data=s),
    "tensor_scalar": lambda b, d, s: b.tensor_scalar(
        dst=d, data=s, op0="add", operand0=1.0),
    "tensor_tensor": lambda b, d, s: b.tensor_tensor(
        dst=d, data1=s, data2=s, op="add"),
    "scalar_tensor_tensor": lambda b, d, s: b.scalar_tensor_tensor(
        dst=d, data=s, op0="add", operand0=1.0, op1="add", operand1=s),
    "tensor_reduce": lambda b, d, s: b.tensor_reduce(
        dst=d[:, :1], op="add", data=s, axis=1),
    "affine_select": lambda b, d, s: b.affine_select(
        dst=d, pattern=[[1, 8]], channel_multiplier=0, on_true_tile=s,
        on_false_value=0.0),
}


@every_target
@pytest.mark.parametrize("operation", ONE_SIDED)
def test_dst_and_data_have_the_same_partitions(target, operation):
    def act(p: int, q: int):
        return lambda bench: ONE_SIDED[operation](
            bench.b, bench.sbuf(p, 8), bench.sbuf(q, 8))

    legal(target, act(128, 128))
    with pytest.raises(trnemu.Fault) as info:
        act(4, 5)(Bench(target))
    assert info.value.category == "illegal"
    assert info.value.id.startswith(operation)
    assert "4" in info.value.message and "5" in info.value.message


@every_target
@pytest.mark.parametrize("operation", ONE_SIDED)
def test_data_may_move_between_quadrants(target, operation):
    def act(bench: Bench) -> None:
        whole = bench.sbuf(128, 8)
        ONE_SIDED[operation](bench.b, whole[96:128], whole[32:64])

    legal(target, act)


@every_target
@pytest.mark.parametrize("operation", [*ONE_SIDED, "memset", "iota"])
def test_start_partitions_are_checked_in_every_operation(target, operation):
    def act(bench: Bench) -> Any:
        whole = bench.sbuf(128, 8)
        d, s = whole[1:3], whole[32:34]
        if operation == "memset":
            return bench.b.memset(dst=d, value=0)
        if operation == "iota":
            return bench.b.iota(dst=d, pattern=[[1, 8]])
        return ONE_SIDED[operation](bench.b, d, s)

    refused(target, "operand.start_partition", act, "dst", "2 partitions",
            "partition 1", "0, 32, 64 and 96", operand="dst")


def test_a_missing_operand_is_a_type_error_and_none_for_a_tile_too():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    with pytest.raises(TypeError, match="data"):
        b.reciprocal(dst=t)
    with pytest.raises(TypeError, match="data"):
        b.reciprocal(dst=t, data=None)
    with pytest.raises(TypeError, match="data"):
        b.reciprocal(dst=t, data=1.0)
