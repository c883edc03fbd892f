"""Programs that documents call legal verify clean and run without a finding.

A false alarm on a kernel that is known to run is as bad as a wrong value
(spec/decisions.md). Each test is one "legal" statement of decisions.md, of a
note of isa.json, or a form that public kernels use; values are tested
elsewhere.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from rules_kit import ANY, Act, Bench, clean, clean_all, every_target

FLOATS = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32")
from_trn2 = pytest.mark.parametrize("target", ["trn2", "trn3"])


# --- where tiles may lie -----------------------------------------------------


@every_target
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "uint8"])
@pytest.mark.parametrize("start", [1, 3, 5])
@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
def test_odd_slices_of_narrow_tiles_in_sbuf(target, dtype, start, engine):
    """Allocations are aligned to the dtype's size: decisions.md."""
    def act(b: Bench) -> None:
        x, y = b.sbuf(f=16, dtype=dtype), b.sbuf(f=16, dtype=dtype)
        b.b.tensor_copy(dst=y[:, start:start + 7],
                        src=x[:, start + 1:start + 8], engine=engine)
        b.b.dma_copy(dst=y[:, start:start + 5], src=x[:, start + 2:start + 7])
    clean(target, act)


@every_target
@pytest.mark.parametrize("address", [2, 6, 10, 2046])
def test_a_two_byte_tile_in_sbuf_off_four_bytes(target, address):
    def act(b: Bench) -> None:
        x = b.b.sbuf((4, 8), "bfloat16", address=(0, address))
        b.b.memset(dst=x, value=0.0)
        b.b.tensor_scalar(dst=x, data=x, op0="add", operand0=1.0)
    clean(target, act)


@every_target
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int32", "uint8"])
def test_dma_from_and_to_psum(target, dtype):
    """A rule of NKI 0.3, not of the device: decisions.md."""
    def act(b: Bench) -> None:
        x, y = b.psum(dtype=dtype), b.output(dtype=dtype)
        b.b.dma_copy(dst=y, src=x)
        b.b.dma_copy(dst=b.psum(dtype=dtype, fill=False),
                     src=b.input(dtype=dtype))
    clean(target, act)


@every_target
@pytest.mark.parametrize("start", [1, 17, 48, 100])
def test_dma_of_any_partitions(target, start):
    def act(b: Bench) -> None:
        x, y = b.sbuf(128), b.sbuf(128)
        b.b.dma_copy(dst=y[start:start + 20], src=x[start + 3:start + 23])
    clean(target, act)


@every_target
@pytest.mark.parametrize("shape", [(128, 64), (33, 8), (128, 4, 16)])
def test_a_row_of_hbm_is_broadcast_over_partitions(target, shape):
    """Partition step 0 is the usual broadcast load: decisions.md."""
    def act(b: Bench) -> None:
        n = int(np.prod(shape[1:]))
        t = b.sbuf(shape[0], shape[1:], fill=False)
        x = b.input((1, *shape[1:]))
        b.b.dma_copy(dst=t, src=x.broadcast(0, shape[0]))
        b.b.dma_copy(dst=t, src=x.ap([[0, shape[0]], [1, n]]))
    clean(target, act)


@every_target
def test_a_column_is_broadcast_along_the_free_dimension(target):
    def act(b: Bench) -> None:
        x, column = b.sbuf(), b.sbuf(f=1)
        b.b.tensor_tensor(
            dst=x, data1=x, data2=column.broadcast(1, 8), op="add")
        b.b.tensor_copy(dst=x, src=column.broadcast(1, 8))
    clean(target, act)


def four(b: Bench, dtype: str = "float32", space: str = "sbuf") -> Any:
    """Four free dims that do not merge into fewer."""
    return b.tile(space, 4, (3, 4, 5, 6), dtype)[:, :2, :3, :4, :5]


FOUR_DIMS: dict[str, Act] = {
    "tensor_copy": lambda b: b.b.tensor_copy(dst=four(b), src=four(b)),
    "tensor_tensor": lambda b: b.b.tensor_tensor(
        dst=four(b), data1=four(b), data2=four(b), op="add"),
    "tensor_scalar": lambda b: b.b.tensor_scalar(
        dst=four(b), data=four(b), op0="add", operand0=1.0),
    "scalar_tensor_tensor": lambda b: b.b.scalar_tensor_tensor(
        dst=four(b), data=four(b), op0="add", operand0=1.0, op1="multiply",
        operand1=four(b)),
    "activation": lambda b: b.b.activation(
        dst=four(b), op="exp", data=four(b), bias=b.sbuf(f=1)),
    "memset": lambda b: b.b.memset(dst=four(b), value=1.0),
    "tensor_reduce": lambda b: b.b.tensor_reduce(
        dst=b.sbuf(f=1), op="add", data=four(b), axis=(1, 2, 3, 4)),
    "reciprocal": lambda b: b.b.reciprocal(
        dst=four(b), data=ones(b, (3, 4, 5, 6))[:, :2, :3, :4, :5]),
    "dma_copy": lambda b: b.b.dma_copy(dst=four(b), src=four(b)),
    "tensor_copy_predicated": lambda b: b.b.tensor_copy_predicated(
        dst=four(b), src=four(b), predicate=four(b, "uint8")),
    "iota": lambda b: b.b.iota(
        dst=four(b, "int32"), pattern=[[60, 2], [20, 3], [5, 4], [1, 5]]),
}


def ones(b: Bench, f: Any = 8, dtype: str = "float32", **more: Any) -> Any:
    t = b.sbuf(f=f, dtype=dtype, **more)
    b.b.memset(dst=t, value=1)
    return t


@every_target
@pytest.mark.parametrize("operation", FOUR_DIMS)
def test_four_free_dims(target, operation):
    """Every builder operation accepts four: decisions.md."""
    clean(target, FOUR_DIMS[operation])


# --- moving and filling ------------------------------------------------------


@every_target
@pytest.mark.parametrize("dtype", ANY)
@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_a_zero_memset_of_every_dtype(target, dtype, engine):
    """0.0 goes into integer tiles, too."""
    clean_all(target, *(
        lambda b, v=v: b.b.memset(
            dst=b.sbuf(dtype=dtype, fill=False), value=v, engine=engine)
        for v in (0, 0.0, -0.0)
    ))


@every_target
@pytest.mark.parametrize(("value", "dtype"), [
    (255.0, "uint8"), (-128.0, "int8"), (2**31 - 1, "int32"),
    (2**32 - 1, "uint32"), (float("-inf"), "float32"), (1, "bool"),
    (-3.4028234663852886e+38, "float32"), (float("-inf"), "bfloat16"),
    (0.1, "bfloat16"),
])
def test_a_memset_with_what_the_dtype_holds(target, value, dtype):
    clean(target, lambda b: b.b.memset(
        dst=b.sbuf(dtype=dtype, fill=False), value=value))


@every_target
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_copy_on_the_scalar_engine(target, dtype):
    """Legal on trn1 as well, through fp32: decisions.md."""
    clean(target, lambda b: b.b.tensor_copy(
        dst=b.sbuf(dtype=dtype), src=b.psum(dtype=dtype), engine="scalar"))


@every_target
@pytest.mark.parametrize("op", ["less", "less_equal", "greater", "equal",
                                "greater_equal", "not_equal"])
def test_every_comparison_of_affine_select(target, op):
    """less and less_equal are lowered to the others: decisions.md."""
    clean(target, lambda b: b.b.affine_select(
        dst=b.sbuf(), pattern=[[-1, 8]], channel_multiplier=1,
        on_true_tile=b.sbuf(), on_false_value=-1e30, cmp_op=op))


@every_target
@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_rows_are_named_by_int32_or_uint32(target, dtype, mode):
    """Documents use both in examples: isa.json, dma_copy notes."""
    def act(b: Bench) -> None:
        x = b.input((20, 8))
        y = b.b.inout("rows", (20, 8), "float32")
        i, t = b.sbuf(f=1, dtype=dtype), b.sbuf()
        b.b.iota(dst=i, pattern=[[0, 1]], channel_multiplier=2)
        b.b.dma_copy(dst=t, src=x.vector_select(0, i), oob_mode=mode)
        b.b.dma_copy(dst=y.vector_select(0, i), src=t, oob_mode=mode)
        b.b.dma_copy(
            dst=t, src=x.ap([[8, 4], [1, 8]], vector_offset=i), oob_mode=mode)
        # pattern[0]'s step is ignored: the row stride is the tensor's
        b.b.dma_copy(
            dst=t, src=x.ap([[1, 4], [1, 8]], vector_offset=i), oob_mode=mode)
    clean(target, act)


PAIRS = list(itertools.product(
    ("float32", "bfloat16", "int32", "uint8"), repeat=2))


@every_target
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_dma_casts_while_it_moves(target, pair):
    clean(target, lambda b: b.b.dma_copy(
        dst=b.sbuf(dtype=pair[0]), src=b.input(dtype=pair[1])))


@every_target
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "uint16",
                                   "float32", "int32", "uint32"])
@pytest.mark.parametrize("case", [
    ((16, 128), (128, 16), None), ((100, 64), (64, 100), (1, 0)),
    ((4, 8, 32), (32, 8, 4), None), ((2, 3, 8, 32), (32, 3, 8, 2), None),
    ((1, 2, 16, 64), (64, 2, 16, 1), (3, 1, 2, 0)),
], ids=str)
@pytest.mark.parametrize("buffer", ["hbm", "sbuf"])
def test_dma_transposes_2_and_4_byte_types(target, dtype, case, buffer):
    """Legal outside hwdge and indirect forms: isa.json, dma_transpose notes."""
    src, dst, axes = case

    def act(b: Bench) -> None:
        x = b.input(src, dtype) if buffer == "hbm" else b.sbuf(
            src[0], src[1:], dtype)
        b.b.dma_transpose(
            dst=b.sbuf(dst[0], dst[1:], dtype, fill=False), src=x, axes=axes)
    clean(target, act)


@from_trn2
@pytest.mark.parametrize("src", [(16, 128), (16, 1), (2, 8, 64), (16, 3, 1, 32),
                                 (1, 16, 128), (4, 5, 4, 16)], ids=str)
def test_dma_transposes_2_byte_types_by_hwdge(target, src):
    dst = (src[-1], *src[1:-1], src[0]) if len(src) != 3 else src[::-1]
    clean(target, lambda b: b.b.dma_transpose(
        dst=b.sbuf(dst[0], dst[1:], "bfloat16", fill=False),
        src=b.input(src, "bfloat16"), dge_mode="hwdge"))


@from_trn2
@pytest.mark.parametrize("mode", ["unknown", "swdge"])
@pytest.mark.parametrize("rows", [16, 128, 256])
def test_dma_transposes_rows_that_an_index_names(target, mode, rows):
    def act(b: Bench) -> None:
        i = b.sbuf(min(rows, 128), (rows + 127) // 128, "uint32")
        x = b.input((300, 64), "bfloat16")
        view = x.ap([[64, rows], [1, 64]], vector_offset=i)
        b.b.dma_transpose(
            dst=b.sbuf(64, rows, "bfloat16", fill=False), src=view,
            dge_mode=mode)
    clean(target, act)


@every_target
@pytest.mark.parametrize("count", [1, 2, 16])
def test_dma_adds_1_to_16_sources(target, count):
    clean(target, lambda b: b.b.dma_compute(
        dst=b.sbuf(dtype="bfloat16"), srcs=[b.sbuf() for _ in range(count)],
        reduce_op="add", scales=[1.0] * count))
