"""tensor_partition_reduce, sequence_bounds, local_gather, nc_n_gather,
nonzero_with_count, topk: each rule at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from rules_kit import (
    ANY, FP, INT, X4, Bench, every_target, legal, refused,
)

Shape = tuple[int, ...]


def tile(bench: Bench, shape: Shape, dtype: str, where: str = "sbuf") -> Any:
    return bench.tile(where, shape[0], shape[1:], dtype)


# --- tensor_partition_reduce ---


def reduce(op: str = "add", data: Shape = (128, 32, 4), dst: Shape = (1, 32, 4),
           dtype: str = "float32", out: str | None = None,
           where: tuple[str, str] = ("sbuf", "sbuf")):
    def act(bench: Bench) -> None:
        bench.b.tensor_partition_reduce(
            dst=tile(bench, dst, out or dtype, where[0]), op=op,
            data=tile(bench, data, dtype, where[1]))

    return act


@every_target
def test_partitions_reduce_to_one(target):
    legal(target, reduce())
    legal(target, reduce(dst=(1, 128)))
    for dst in ((2, 32, 4), (1, 127), (1, 129)):
        refused(target, "tensor_partition_reduce.dst_shape", reduce(dst=dst),
                "128 elements", str(dst), operand="dst")


@every_target
@pytest.mark.parametrize("op", ["add", "average", "maximum"])
def test_arithmetic_takes_every_dtype(target, op):
    for dtype in ANY:
        legal(target, reduce(op, dtype=dtype))


@every_target
@pytest.mark.parametrize("op", ["bitwise_or", "bitwise_and"])
def test_bitwise_reductions_of_partitions_take_integers(target, op):
    for dtype in INT:
        legal(target, reduce(op, dtype=dtype), run=False)
    for dtype in (*FP, "bool"):
        for pair in ((dtype, "int32"), ("int32", dtype)):
            refused(target, "tensor_partition_reduce.bitvec_dtype",
                    reduce(op, dtype=pair[0], out=pair[1]),
                    f"data is {pair[0]}", f"dst {pair[1]}", operand="data")


@every_target
@pytest.mark.parametrize(
    "op", ["minimum", "multiply", "subtract", "bitwise_xor", "max", "none"])
def test_partitions_have_no_other_reduction(target, op):
    refused(target, "operand.value", reduce(op), op, operand="op")


@every_target
def test_reductions_of_partitions_are_in_sbuf(target):
    refused(target, "operand.buffer", reduce(where=("psum", "sbuf")),
            operand="dst")
    refused(target, "operand.buffer", reduce(where=("sbuf", "psum")),
            operand="data")


# --- sequence_bounds ---


def bounds(ids: Shape = (1, 9), dst: Shape = (1, 2, 9), dtype: str = "int32",
           out: str | None = None,
           where: tuple[str, str] = ("sbuf", "sbuf")):
    def act(bench: Bench) -> None:
        bench.b.sequence_bounds(
            dst=tile(bench, dst, out or dtype, where[0]),
            segment_ids=tile(bench, ids, dtype, where[1]))

    return act


@every_target
def test_bounds_are_of_one_partition(target):
    legal(target, bounds())
    refused(target, "sequence_bounds.partitions", bounds(ids=(2, 9)), "2 and 1")
    refused(target, "sequence_bounds.partitions", bounds(dst=(2, 2, 9)),
            "1 and 2")


@every_target
def test_bounds_are_two_for_each_element(target):
    legal(target, bounds(dst=(1, 18)))
    for n in (9, 17, 19):
        refused(target, "sequence_bounds.free_size", bounds(dst=(1, n)),
                f"{n} elements", operand="dst")


@every_target
def test_ids_and_bounds_are_float32_or_int32(target):
    for dtype in ("float32", "int32"):
        for out in ("float32", "int32"):
            legal(target, bounds(dtype=dtype, out=out))
    for dtype in set(ANY) - {"float32", "int32"}:
        refused(target, "operand.dtype", bounds(dtype=dtype, out="int32"),
                dtype, operand="segment_ids")
        refused(target, "operand.dtype", bounds(out=dtype), dtype,
                operand="dst")


@every_target
def test_ids_and_bounds_are_in_sbuf(target):
    refused(target, "operand.buffer", bounds(where=("psum", "sbuf")),
            operand="dst")
    refused(target, "operand.buffer", bounds(where=("sbuf", "psum")),
            operand="segment_ids")


# --- local_gather ---


def local(src: Shape = (32, 40), index: Shape = (32, 2), dst: Shape = (32, 32),
          dtype: str = "float32", out: str | None = None,
          indices: str = "uint16", where: dict[str, str] | None = None,
          **more: Any):
    at = {"dst": "sbuf", "src": "sbuf", "index": "sbuf", **(where or {})}

    def act(bench: Bench) -> None:
        bench.b.local_gather(
            dst=tile(bench, dst, out or dtype, at["dst"]),
            src_buffer=tile(bench, src, dtype, at["src"]),
            index=tile(bench, index, indices, at["index"]), **more)

    return act


@every_target
def test_groups_have_16_partitions(target):
    for p in (16, 112, 128):
        legal(target, local((p, 40), (p, 2), (p, 32)))
    for p in (1, 8, 17, 127):
        refused(target, "local_gather.partitions",
                local((p, 40), (p, 2), (p, 32)), f"{p} and {p}", "16")
    refused(target, "local_gather.partitions", local(index=(16, 2)),
            "32 and 16")
    refused(target, "local_gather.dst_partitions", local(dst=(16, 32)),
            "dst has 16", "32", operand="dst")


@every_target
@pytest.mark.parametrize("run", [1, 2, 4, 8, 16, 32])
def test_an_index_is_of_up_to_32_elements(target, run):
    legal(target, local(dst=(32, 32 * run), num_elem_per_idx=run))
    legal(target, local(dst=(32, 2, 16, run), num_elem_per_idx=run))
    legal(target, local(dst=(32, 5, run), num_elem_per_idx=run,
                        num_valid_indices=5))


@every_target
@pytest.mark.parametrize("run", [-1, 0, 3, 5, 31, 33, 64, 2**40])
def test_an_index_is_of_no_other_number_of_elements(target, run):
    refused(target, "local_gather.num_elem_per_idx",
            local(dst=(32, 32), num_elem_per_idx=run), str(run),
            operand="num_elem_per_idx")


@every_target
def test_a_group_has_at_most_4096_indices(target):
    legal(target, local(index=(32, 256), dst=(32, 4096)))
    legal(target, local(index=(32, 257), dst=(32, 4096),
                        num_valid_indices=4096))
    refused(target, "local_gather.most_indices",
            local(index=(32, 257), dst=(32, 4112)), "4096", "257")
    refused(target, "local_gather.most_indices",
            local(index=(32, 257), dst=(32, 4097), num_valid_indices=4097),
            "4097")


@every_target
def test_valid_indices_are_no_more_than_there_are(target):
    legal(target, local(dst=(32, 1), num_valid_indices=1))
    legal(target, local(dst=(32, 32), num_valid_indices=32))
    refused(target, "local_gather.num_valid_indices",
            local(dst=(32, 33), num_valid_indices=33), "33",
            operand="num_valid_indices")
    for n in (0, -1, -(2**62)):
        refused(target, "local_gather.dst_free_size",
                local(num_valid_indices=n), str(n), operand="dst")


@every_target
def test_dst_holds_what_is_gathered(target):
    # release-notes/components/nki.rst:102: num_elem_per_idx is ignored else
    for n in (16, 31, 33):
        refused(target, "local_gather.dst_free_size", local(dst=(32, n)),
                f"has {n}", operand="dst")
    refused(target, "local_gather.dst_free_size",
            local(dst=(32, 32), num_elem_per_idx=2))


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_a_gather_keeps_the_dtype(target, dtype):
    legal(target, local(dtype=dtype))
    other = "int8" if dtype != "int8" else "uint8"
    refused(target, "local_gather.dtype", local(dtype=dtype, out=other),
            f"dst is {other}", dtype, operand="dst")


@every_target
def test_indices_of_groups_are_uint16(target):
    for dtype in set(ANY) - {"uint16"}:
        refused(target, "operand.dtype", local(indices=dtype), dtype,
                operand="index")
    for dtype in (*X4, "float8_e8m0fnu"):
        refused(target, "operand.dtype", local(dtype=dtype, out="int8"), dtype,
                operand="src_buffer")


@every_target
@pytest.mark.parametrize("name", ["dst", "src", "index"])
def test_local_gather_is_in_sbuf(target, name):
    refused(target, "operand.buffer", local(where={name: "psum"}),
            operand={"src": "src_buffer"}.get(name, name))


# --- nc_n_gather ---


def gather(data: Shape = (4, 3, 5), indices: Shape = (4, 7),
           dst: Shape = (4, 7), dtype: str = "float32", out: str | None = None,
           index: str = "uint32", where: dict[str, str] | None = None):
    at = {"dst": "sbuf", "data": "sbuf", "indices": "sbuf", **(where or {})}

    def act(bench: Bench) -> None:
        bench.b.nc_n_gather(
            dst=tile(bench, dst, out or dtype, at["dst"]),
            data=tile(bench, data, dtype, at["data"]),
            indices=tile(bench, indices, index, at["indices"]))

    return act


@every_target
def test_a_gather_has_the_partitions_of_data(target):
    for p in (1, 33, 128):
        legal(target, gather((p, 3), (p, 7), (p, 7)))
    for shapes in (((4, 3), (5, 7), (4, 7)), ((4, 3), (4, 7), (5, 7)),
                   ((5, 3), (4, 7), (4, 7))):
        refused(target, "nc_n_gather.partitions", gather(*shapes), "4", "5")


@every_target
def test_a_gather_has_an_element_per_index(target):
    legal(target, gather(indices=(4, 2, 6), dst=(4, 3, 4)))
    for n in (6, 8):
        refused(target, "nc_n_gather.free_size", gather(dst=(4, n)),
                f"dst has {n}", operand="dst")


@every_target
@pytest.mark.parametrize("dtype", ANY)
def test_a_gather_of_each_partition_keeps_the_dtype(target, dtype):
    legal(target, gather(dtype=dtype))
    other = "int16" if dtype != "int16" else "uint16"
    refused(target, "nc_n_gather.dtype", gather(dtype=dtype, out=other),
            f"dst is {other}", dtype, operand="dst")


@every_target
def test_indices_of_each_partition_are_uint32(target):
    for dtype in set(ANY) - {"uint32"}:
        refused(target, "operand.dtype", gather(index=dtype), dtype,
                operand="indices")


@every_target
@pytest.mark.parametrize("name", ["dst", "data", "indices"])
def test_nc_n_gather_is_in_sbuf(target, name):
    refused(target, "operand.buffer", gather(where={name: "psum"}),
            operand=name)


# --- nonzero_with_count ---


def nonzero(src: Shape = (16, 8), dst: Shape = (16, 9), dtype: str = "float32",
            out: str = "int32", where: tuple[str, str] = ("sbuf", "sbuf"),
            **more: Any):
    def act(bench: Bench) -> None:
        bench.b.nonzero_with_count(
            dst=tile(bench, dst, out, where[0]),
            src=tile(bench, src, dtype, where[1]), **more)

    return act


def test_nonzero_with_count_came_with_trn2():
    fault = refused("trn1", "nonzero_with_count.generation", nonzero(), "trn1",
                    "trn2")
    assert "trn3" in fault.message
    legal("trn2", nonzero())
    legal("trn3", nonzero())


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_nonzero_with_count_has_one_element_more(target):
    for p in (1, 33, 128):
        legal(target, nonzero((p, 8), (p, 9)))
    refused(target, "nonzero_with_count.partitions", nonzero(dst=(17, 9)),
            "dst has 17", "src 16", operand="dst")
    for n in (8, 10):
        refused(target, "nonzero_with_count.free_size", nonzero(dst=(16, n)),
                f"dst has {n}", "src 8", operand="dst")


@pytest.mark.parametrize("target", ["trn2", "trn3"])
@pytest.mark.parametrize("name", ["index_offset", "padding_val"])
def test_offset_and_padding_are_int32(target, name):
    for value in (2**31 - 1, -(2**31)):
        legal(target, nonzero(**{name: value}))
    for value in (2**31, -(2**31) - 1):
        refused(target, "nonzero_with_count.int32", nonzero(**{name: value}),
                str(value))


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_nonzero_with_count_reads_float32_or_int32_and_writes_int32(target):
    legal(target, nonzero(dtype="int32"))
    for dtype in set(ANY) - {"float32", "int32"}:
        refused(target, "operand.dtype", nonzero(dtype=dtype), dtype,
                operand="src")
    for dtype in set(ANY) - {"int32"}:
        refused(target, "operand.dtype", nonzero(out=dtype), dtype,
                operand="dst")
    refused(target, "operand.buffer", nonzero(where=("psum", "sbuf")),
            operand="dst")
    refused(target, "operand.buffer", nonzero(where=("sbuf", "psum")),
            operand="src")


# --- topk ---


def topk(n: int = 42, src: Shape = (16, 3), dst: Shape = (16, 8),
         idx: Shape | None = None, dtypes: dict[str, str] | None = None,
         where: dict[str, str] | None = None):
    d = {"val": "bfloat16", "idx": "uint32", "src": "bfloat16",
         **(dtypes or {})}
    at = {"val": "sbuf", "idx": "sbuf", "src": "sbuf", **(where or {})}

    def act(bench: Bench) -> None:
        bench.b.topk(val_dst=tile(bench, dst, d["val"], at["val"]),
                     idx_dst=tile(bench, idx or dst, d["idx"], at["idx"]),
                     src=tile(bench, src, d["src"], at["src"]), n=n)

    return act


@every_target
def test_n_is_8_to_65535(target):
    legal(target, topk(8))
    legal(target, topk(65535, (16, 4096)))
    for n in (-1, 7, 65536, 2**62):
        refused(target, "topk.n", topk(n, (16, 4096)), str(n), operand="n")


@every_target
def test_k_is_at_most_n_and_32767(target):
    legal(target, topk(dst=(16, 1)))
    legal(target, topk(dst=(16, 42)))
    refused(target, "topk.k", topk(dst=(16, 43)), "43", "42", operand="val_dst")
    if target == "trn3":  # others have no room for so many
        legal(target, topk(32767, (16, 2048), (16, 32767)))
    refused(target, "topk.k",
            lambda bench: bench.b.topk(
                val_dst=bench.b.sbuf((16, 32768), "bfloat16"),
                idx_dst=bench.b.sbuf((16, 32768), "uint32"),
                src=bench.b.sbuf((16, 2048), "bfloat16"), n=32768), "32768")


@every_target
def test_src_holds_n_elements(target):
    legal(target, topk(48))
    legal(target, topk(8, (16, 1)))
    refused(target, "topk.src_free_size", topk(49), "49", "3", operand="src")


@every_target
def test_topk_works_on_16_partitions(target):
    for p in (16, 128):
        legal(target, topk(src=(p, 3), dst=(p, 8)))
    for p in (1, 15, 17):
        refused(target, "topk.groups", topk(src=(p, 3), dst=(p, 8)), str(p),
                operand="src")


@every_target
def test_values_and_indices_have_one_shape(target):
    legal(target, topk(idx=(16, 2, 4)))
    for dst, idx in (((16, 8), (16, 7)), ((16, 8), (32, 8)),
                     ((32, 8), (16, 8)), ((32, 8), (32, 8))):
        refused(target, "topk.dst_shape", topk(dst=dst, idx=idx), str(dst),
                str(idx))


@every_target
def test_topk_is_of_bfloat16_in_sbuf(target):
    for name, operand in (("val", "val_dst"), ("idx", "idx_dst"),
                          ("src", "src")):
        right = "uint32" if name == "idx" else "bfloat16"
        for dtype in set(ANY) - {right}:
            refused(target, "operand.dtype", topk(dtypes={name: dtype}), dtype,
                    operand=operand)
        refused(target, "operand.buffer", topk(where={name: "psum"}),
                operand=operand)
