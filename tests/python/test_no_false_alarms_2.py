"""More programs that the documents call legal, of the engines and the cores.

As test_no_false_alarms.py: no finding, neither when verified nor when run.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import trnemu
from cores_kit import Pair
from rules_kit import (
    ANYX, INT, SIZE, Act, Bench, clean, clean_all, every_target, legal,
)

from_trn2 = pytest.mark.parametrize("target", ["trn2", "trn3"])


# --- vector, scalar, gpsimd ---------------------------------------------------


ACTIVATION: dict[str, Act] = {
    "scale number, no bias": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), scale=2.0),
    "bias number": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), bias=1.0),
    "bias column": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), bias=b.sbuf(f=1)),
    "bias in bf16": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(),
        bias=b.sbuf(f=1, dtype="bfloat16")),
    "bias in psum": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), bias=b.psum(f=1)),
    "scale column": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), scale=b.sbuf(f=1)),
    "both columns": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.psum(), scale=b.sbuf(f=1),
        bias=b.sbuf(f=1)),
    "copy with scale and bias": lambda b: b.b.activation(
        dst=b.psum(), op="copy", data=b.psum(), scale=3.0, bias=b.sbuf(f=1)),
    "bf16 to fp8": lambda b: b.b.activation(
        dst=b.sbuf(dtype="float8_e4m3"), op="copy",
        data=b.sbuf(dtype="bfloat16")),
    "accumulator and result": lambda b: b.b.activation(
        dst=b.sbuf(), op="exp", data=b.sbuf(), reduce_op="add",
        reduce_cmd="reset_reduce", reduce_res=b.sbuf(f=1)),
    "reset alone, then reduce": lambda b: (
        b.b.activation(dst=b.sbuf(), op="exp", data=b.sbuf(), reduce_op="add",
                       reduce_cmd="reset"),
        b.b.activation(dst=b.sbuf(), op="exp", data=b.sbuf(), reduce_op="add",
                       reduce_cmd="reduce", reduce_res=b.sbuf(f=1))),
    "sqrt of 0": lambda b: b.b.activation(
        dst=b.sbuf(), op="sqrt", data=b.sbuf()),
    "in place": lambda b: (lambda t: b.b.activation(
        dst=t, op="relu", data=t))(b.sbuf()),
    "integers": lambda b: b.b.activation(
        dst=b.sbuf(dtype="int32"), op="copy", data=b.sbuf(dtype="uint8")),
}


@every_target
@pytest.mark.parametrize("form", ACTIVATION)
def test_every_form_of_activation(target, form):
    if (target, form) == ("trn1", "bias number"):
        pytest.skip("documented: trn1 takes a tile")
    clean(target, ACTIVATION[form])


@every_target
@pytest.mark.parametrize("res", [None, "kept"])
def test_activation_reduce_with_and_without_a_result(target, res):
    """reduce_res=None keeps the sum in the accumulator: isa.json, notes."""
    clean(target, lambda b: b.b.activation_reduce(
        dst=b.sbuf(), op="exp", data=b.sbuf(), reduce_op="add",
        reduce_res=res and b.sbuf(f=1)))


@every_target
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_predicates_of_any_kind(target, reverse, dtype):
    """Operands of different rank but equal count: isa.json, notes."""
    def act(b: Bench) -> None:
        wide = b.sbuf(f=(2, 4))
        p = b.sbuf(dtype=dtype)
        b.b.tensor_copy_predicated(
            dst=wide, src=b.sbuf(), predicate=p, reverse_pred=reverse)
        b.b.tensor_copy_predicated(
            dst=wide, src=2.0, predicate=p, reverse_pred=reverse)
    clean(target, act)


def select_reduce(**more: Any) -> Act:
    return lambda b: b.b.select_reduce(**{
        "dst": b.sbuf(), "predicate": b.sbuf(dtype="uint8"),
        "on_true": b.sbuf(), "on_false": -1e30,
        **{k: v(b) if callable(v) else v for k, v in more.items()},
    })


@from_trn2
def test_select_reduce_in_its_forms(target):
    column = lambda b: b.sbuf(f=1)  # noqa: E731
    clean_all(
        target, select_reduce(), select_reduce(on_false=column),
        select_reduce(reverse_pred=True),
        select_reduce(reduce_cmd="reset_reduce", reduce_res=column),
        select_reduce(predicate=lambda b: b.sbuf(dtype="int16")),
        select_reduce(on_true=lambda b: b.psum()),
        select_reduce(dst=lambda b: b.sbuf(dtype="bfloat16")),
    )


@from_trn2
def test_range_select_as_documented(target):
    def act(b: Bench) -> None:
        b.b.range_select(
            dst=b.sbuf(), on_true_tile=b.sbuf(), comp_op0="greater_equal",
            comp_op1="less", bound0=b.sbuf(f=1), bound1=b.sbuf(f=1),
            reduce_cmd="reset_reduce", reduce_res=b.sbuf(f=1),
            reduce_op="maximum", range_start=0, on_false_value=-3.4028235e+38)
    clean(target, act)


@every_target
@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "int32"])
def test_a_shuffle_in_place_and_a_broadcast_of_one_partition(target, dtype):
    """isa.json, nc_stream_shuffle notes."""
    def in_place(b: Bench) -> None:
        t = b.sbuf(32, dtype=dtype)
        b.b.nc_stream_shuffle(dst=t, src=t, shuffle_mask=[*range(1, 32), 0])

    def one(b: Bench) -> None:
        b.b.nc_stream_shuffle(
            dst=b.sbuf(32, dtype=dtype, fill=False), src=b.sbuf(1, dtype=dtype),
            shuffle_mask=[0] * 32)

    def other_quadrant(b: Bench) -> None:
        x, y = b.sbuf(128, dtype=dtype), b.sbuf(128, dtype=dtype)
        b.b.nc_stream_shuffle(
            dst=y[96:128], src=x[32:64], shuffle_mask=[*range(31), 255])
        b.b.nc_stream_shuffle(dst=y, src=x, shuffle_mask=[255] * 32)
    clean_all(target, in_place, one, other_quadrant)


@every_target
def test_gathers_of_the_first_and_the_last_element(target):
    def act(b: Bench) -> None:
        x, i = b.sbuf(16, 40), b.sbuf(16, 2, "uint16")
        b.b.memset(dst=i[:, 1:2], value=39)
        b.b.local_gather(dst=b.sbuf(16, 32), src_buffer=x, index=i)
        j = b.sbuf(16, 2, "uint32")
        b.b.memset(dst=j[:, 1:2], value=39)
        b.b.nc_n_gather(dst=b.sbuf(16, 2), data=x, indices=j)
    clean(target, act)


@every_target
def test_searches_of_8_and_of_16384_elements(target):
    for n in (8, 16384):
        def act(b: Bench, n: int = n) -> None:
            x, top = b.sbuf(f=n), b.sbuf(f=8)
            i = b.sbuf(f=8, dtype="uint32")
            b.b.iota(dst=x, pattern=[[1, n]])
            b.b.max8(dst=top, src=x)
            b.b.nc_find_index8(dst=i, data=x, vals=top)
            b.b.nc_match_replace8(
                dst=x, data=x, vals=top, imm=-1e30, dst_idx=i)
        clean(target, act)


@every_target
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_statistics_in_two_steps(target, dtype):
    def act(b: Bench) -> None:
        stats, out = b.sbuf(f=(4, 6)), b.sbuf(f=2)
        for i in range(4):
            b.b.bn_stats(dst=stats[:, i], data=b.sbuf(f=512, dtype=dtype))
        b.b.bn_aggr(dst=out, data=stats)
    clean(target, act)


@every_target
def test_all_int32_arithmetic_runs_on_gpsimd_by_default(target):
    clean(target, lambda b: b.b.tensor_tensor(
        dst=b.sbuf(dtype="int32"), data1=b.sbuf(dtype="int32"),
        data2=b.sbuf(dtype="int32"), op="multiply"))


@every_target
@pytest.mark.parametrize("dtype", INT)
def test_bitwise_operations_of_every_integer(target, dtype):
    def act(b: Bench) -> None:
        x, column = b.sbuf(dtype=dtype), b.sbuf(f=1, dtype=dtype)
        b.b.tensor_tensor(dst=x, data1=x, data2=x, op="bitwise_xor")
        b.b.tensor_scalar(dst=x, data=x, op0="right_shift", operand0=3,
                          op1="bitwise_and", operand1=1)
        b.b.tensor_scalar(dst=x, data=x, op0="bitwise_or", operand0=column)
    clean(target, act)


# --- the tensor engine --------------------------------------------------------


@every_target
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_tensor_engine_transpose(target, dtype):
    def act(b: Bench) -> None:
        x = b.sbuf(64, 100, dtype)
        b.b.nc_transpose(dst=b.psum(100, 64, dtype, fill=False), data=x,
                         engine="tensor")
    clean(target, act)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3",
                                   "float8_e5m2", "float32"])
def test_trn1_transposes_into_fp32_psum(dtype):
    clean("trn1", lambda b: b.b.nc_transpose(
        dst=b.psum(100, 64, "float32", fill=False),
        data=b.sbuf(64, 100, dtype), engine="tensor"))


@every_target
def test_accumulation_over_a_contraction_and_overlapping_psum(target):
    """isa.json, nc_matmul notes: the convolution pattern."""
    def act(b: Bench) -> None:
        w, x = b.sbuf(128, 64, "bfloat16"), b.sbuf(128, 40, "bfloat16")
        sums = b.psum(64, 40, fill=False)
        b.b.nc_matmul(dst=sums, stationary=w, moving=x)
        b.b.nc_matmul(dst=sums, stationary=w, moving=x)
        b.b.nc_matmul(dst=sums[:, 3:], stationary=w, moving=x[:, :37],
                      accumulate=True)
        b.b.tensor_copy(dst=b.sbuf(64, 40), src=sums)
    clean(target, act)


@every_target
@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (64, 64), (32, 64),
                                               (64, 128)])
def test_column_and_row_tiling(target, rows, columns):
    """The body of the page and 2.26 allow column tiling: isa.json, notes."""
    if target == "trn1" and rows == 32:
        pytest.skip("trn1 has tiles of 64 and 128")

    def act(b: Bench) -> None:
        w = b.sbuf(128, 128, "bfloat16")
        x = b.sbuf(128, 16, "bfloat16")
        sums = b.psum(128, 16, fill=False)
        for r, c in itertools.product(range(0, 128, rows),
                                      range(0, 128, columns)):
            b.b.nc_matmul(
                dst=sums[c:c + columns], moving=x[r:r + rows],
                stationary=w[r:r + rows, c:c + columns], tile_position=(r, c),
                tile_size=(rows, columns))
    clean(target, act)


def mx_operand(b: Bench, n: int, dtype: str, rows: int = 128) -> Any:
    t = b.b.sbuf((rows, n), dtype)
    raw = t.view("uint32" if SIZE[dtype] == 4 else "uint16")
    b.b.memset(dst=raw, value=0, engine="vector")
    return t


X4 = ("float8_e4m3fn_x4", "float8_e5m2_x4", "float4_e2m1fn_x4")


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
@pytest.mark.parametrize(
    "pair", list(itertools.product(X4, X4)), ids="-".join)
def test_mx_scales_packed_at_an_offset_and_formats_mixed(offset, pair):
    def act(b: Bench) -> None:
        scales = b.sbuf(128, 64, "uint8")
        view = scales[offset:]
        b.b.nc_matmul_mx(
            dst=b.psum(32, 16, fill=False),
            stationary=mx_operand(b, 32, pair[0]),
            moving=mx_operand(b, 16, pair[1]), stationary_scale=view[:, :32],
            moving_scale=view[:, 40:56])
    clean("trn3", act)


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
@pytest.mark.parametrize("rows", [32, 64, 128])
@pytest.mark.parametrize("dtype", X4[:2])
@pytest.mark.parametrize("src", ["bfloat16", "float16"])
def test_mx_quantization_into_slices_of_a_scale_buffer(
    offset, rows, dtype, src
):
    def act(b: Bench) -> None:
        scales = b.b.sbuf((128, 8), "uint8")
        b.b.quantize_mx(
            dst=b.b.sbuf((rows, 4), dtype), src=b.sbuf(rows, 16, src),
            dst_scale=scales[offset:, 2:6])
        b.b.quantize_mx(
            dst=b.b.sbuf((rows, 4), dtype), src=b.sbuf(rows, 16, src),
            dst_scale=scales[offset:offset + rows - 28 if rows > 32
                             else offset + 4, 2:6])
    clean("trn3", act)


def test_a_bfloat16_psum_tile_on_trn3():
    def act(b: Bench) -> None:
        b.b.nc_matmul(
            dst=b.psum(64, 1024, "bfloat16", fill=False),
            stationary=b.sbuf(128, 64, "bfloat16"),
            moving=b.sbuf(128, 1024, "bfloat16"))
    clean("trn3", act)


# --- registers, loops, cores --------------------------------------------------


@every_target
def test_registers_and_loops_of_the_documents(target):
    """register_move takes an int; a register moves an offset: isa.json."""
    def act(b: Bench) -> None:
        x, n = b.sbuf(f=64), b.sbuf(1, 1, "int32")
        r, last = b.b.register_alloc(3), b.b.register_alloc(0)
        b.b.register_move(r, 5)
        b.b.register_move(r, last)
        b.b.register_load(last, n)
        b.b.register_store(n, r)
        with b.b.fori_loop(0, 8) as i:
            b.b.register_alu(r, "multiply", i, 8)
            t = b.b.sbuf((4, 8), "float32")
            b.b.tensor_copy(dst=t, src=x.ap(
                [[64, 4], [1, 8]], scalar_offset=r, indirect_dim=1))
            b.b.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0)
    clean(target, act)


@every_target
@pytest.mark.parametrize("engine", ["gpsimd", "vector", "scalar", "tensor",
                                    "sync"])
def test_a_barrier_of_one_core(target, engine):
    """Public kernels pass (0,)."""
    clean(target, lambda b: b.b.core_barrier(
        data=b.b.scratch("s", (4, 8), "float32"), cores=(0,), engine=engine))


@from_trn2
@pytest.mark.parametrize("path", ["dma", "gpsimd_dma"])
@pytest.mark.parametrize("partitions", [1, 17, 128])
def test_cores_swap_tiles_in_place(target, path, partitions):
    """The multiple-of-16 rule was dropped in 0.4: isa.json, notes."""
    k = Pair(target)
    for core in (0, 1):
        t = k.load(core, np.full((partitions, 8), core, np.float32))
        k.swap(core, t, t, dma_engine=path)
        k.store(core, t)
    assert [o[0, 0] for o in k.run()] == [1, 0]
    assert [str(f) for f in k.findings] == []


@from_trn2
def test_both_cores_write_a_shared_tensor_and_meet(target):
    k = Pair(target)
    shared = k.b.scratch("shared", (8, 8), "float32")
    for core in (0, 1):
        t = k.load(core, np.full((4, 8), core, np.float32))
        with k.b.core(core):
            k.b.dma_copy(dst=shared[4 * core:4 * core + 4], src=t)
        k.barrier(core, shared)
        out = k.empty(core, (8, 8))
        with k.b.core(core):
            k.b.dma_copy(dst=out, src=shared)
        k.store(core, out)
    for out in k.run():
        assert out[:, 0].tolist() == [0] * 4 + [1] * 4
    assert [str(f) for f in k.findings] == []


# --- random numbers: legal, with the one warning that says what they are ------


@every_target
def test_seeds_and_draws_only_say_which_generator_they_use(target):
    def act(b: Bench) -> None:
        b.b.set_rng_seed(src_seeds=b.sbuf(1, 1, "uint32"))
        b.b.rng(dst=b.sbuf(dtype="uint32"))
        if b.gen > 2:  # documented
            b.b.rng(dst=b.sbuf(dtype="uint8"), engine="gpsimd")
        b.b.dropout(dst=b.sbuf(), data=b.sbuf(), prob=0.5)
    p = legal(target, act, run=False)
    ids = {f.id for f in trnemu.run(p, {}).diagnostics}
    assert ids == {"rng.generator"}


def test_every_dtype_of_the_tables_is_moved_by_dma():
    clean("trn3", lambda b: [
        b.b.dma_copy(dst=b.b.sbuf((4, 8), d), src=b.input(dtype=d))
        for d in ANYX
    ])


