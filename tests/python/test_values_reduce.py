"""tensor_reduce: fp32, one element after the other in access order.

Sequential addition is what trn2 silicon does (decisions.md); subtract is
a0 - a1 - ...; the result is cast once, bitwise reductions work on raw bits.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import reference as ref
from geometry import LOOKS, PARTITIONS
from kit import TARGETS, Kit

F32 = np.float32
ARITHMETIC = (
    "add", "subtract", "multiply", "maximum", "minimum", "logical_and",
    "logical_or", "logical_xor",
)
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")


def reduce(op: str, a: ref.Array, axes: int) -> ref.Array:
    """Over the last `axes` axes, left to right; a is fp32 or raw integers."""
    flat = a.reshape(*a.shape[:a.ndim - axes], -1)
    f = {**ref.BINARY, **ref.BITWISE}[op]
    steps = (flat[..., i] for i in range(flat.shape[-1]))
    out = functools.reduce(f, steps)
    if op.startswith("logical") and flat.shape[-1] == 1:
        out = (out != 0).astype(F32)
    return out


def run_reduce(
    a: ref.Array, op: str, axes: int, dtype: str = "float32",
    dst: str = "float32", target: str = "trn2", **options,
) -> ref.Array:
    k = Kit(target)
    rank = a.ndim
    keep = a.shape[:rank - axes]
    if options.get("keepdims") or len(keep) < 2:
        keep += (1,) * (axes if options.get("keepdims") else 1)
    t = k.empty(keep, dst)
    k.b.tensor_reduce(
        dst=t, op=op, data=k.load(a, dtype),
        axis=tuple(range(rank - axes, rank)), **options,
    )
    return k.one(t)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 2, 3, 100, 512, 2000])
def test_addition_is_sequential_and_ascending(n, target):
    a = np.random.default_rng(n).standard_normal((128, n)).astype(F32)
    total = np.zeros(128, F32)
    for i in range(n):
        total = total + a[:, i]
    ref.same(run_reduce(a, "add", 1, target=target)[:, 0], total)


def test_the_order_of_addition_shows():
    # (2^24 + 1) + 1 rounds to 2^24 twice; 1 + 1 first would give 2^24 + 2.
    a = np.array([[2.0**24, 1, 1], [1, 1, 2.0**24]], F32)
    assert run_reduce(a, "add", 1).tolist() == [[2**24], [2**24 + 2]]


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("dtype", ref.ANY)
def test_every_op_reduces_every_dtype_in_fp32(dtype, op):
    a = ref.moderate(dtype, (64, 37), 1)
    a[32:] = ref.samples(dtype, (32, 37), 2)
    want = reduce(op, ref.widen(a, dtype), 1)
    k = Kit()
    x, t, u = k.load(a, dtype), k.empty((64, 1)), k.empty((64, 1), dtype)
    k.b.tensor_reduce(dst=t, op=op, data=x, axis=1)
    k.b.tensor_reduce(dst=u, op=op, data=x, axis=1)
    one, two = k.run(t, u)
    ref.same(one[:, 0], want, f"{op}:")
    ref.same(two[:, 0], ref.cast(want, dtype), f"{op} to {dtype}:")


@pytest.mark.parametrize("op", BITWISE)
@pytest.mark.parametrize("dtype", ref.INTS)
def test_bitwise_ops_reduce_raw_bits(dtype, op):
    a = ref.samples(dtype, (128, 29), 3)
    if op == "bitwise_and":
        a |= ref.samples(dtype, (128, 29), 4) | ref.samples(dtype, a.shape, 5)
    out = run_reduce(a, op, 1, dtype, dtype)
    ref.same(out[:, 0], reduce(op, a, 1))


def test_subtract_takes_the_rest_from_the_first():
    a = np.array([[10, 1, 2, 3]], F32)
    assert run_reduce(a, "subtract", 1).tolist() == [[4]]


@pytest.mark.parametrize("op", ["add", "maximum", "multiply", "logical_or"])
def test_negate_gives_minus_the_result(op):
    a = ref.moderate("float32", (128, 9), 6)
    ref.same(run_reduce(a, op, 1, negate=True)[:, 0], -reduce(op, a, 1))


def test_axes_may_be_counted_from_the_end():
    a = np.arange(24, dtype=F32).reshape(2, 3, 4)
    for axis, want in ((-1, a.sum(2)), ((-2, -1), a.sum((1, 2))[:, None])):
        k = Kit()
        t = k.empty(want.shape)
        k.b.tensor_reduce(dst=t, op="add", data=k.load(a), axis=axis)
        ref.same(k.one(t), want)


SHAPES = [(6,), (4, 5), (2, 3, 4), (2, 3, 2, 4)]


@pytest.mark.parametrize("free", SHAPES, ids=str)
@pytest.mark.parametrize("op", ["add", "subtract", "minimum"])
def test_any_number_of_trailing_axes_reduces_in_row_major_order(free, op):
    a = ref.moderate("float32", (33, *free), 7)
    for axes in range(1, len(free) + 1):
        want = reduce(op, a, axes)
        out = run_reduce(a, op, axes)
        ref.same(out.reshape(want.shape), want, f"last {axes}:")
        out = run_reduce(a, op, axes, keepdims=True)
        ref.same(out, want.reshape(*want.shape, *(1,) * axes), "kept:")


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_data_is_read_through_views_in_their_order(look):
    a = np.exp(ref.moderate("float32", (64, *look.free), 8))
    seen = look.array(a)[32:]
    for axes in (1, seen.ndim - 1):
        want = reduce("add", np.ascontiguousarray(seen), axes)
        k = Kit()
        keep = seen.shape[:seen.ndim - axes]
        t = k.empty(keep if len(keep) > 1 else (*keep, 1))
        k.b.tensor_reduce(
            dst=t, op="add", data=look.view(k.load(a))[32:],
            axis=tuple(range(seen.ndim - axes, seen.ndim)),
        )
        ref.same(k.one(t).reshape(want.shape), want)


@pytest.mark.parametrize("place", PARTITIONS, ids=str)
@pytest.mark.parametrize("spaces", [("sbuf", "psum"), ("psum", "sbuf"),
                                    ("psum", "psum")], ids="-".join)
def test_partitions_and_memories(place, spaces):
    start, count = place
    part = slice(start, start + count)
    a = ref.moderate("float32", (128, 3, 5), 9)
    k = Kit()
    t = k.filled((128, 6), 77.0, space=spaces[1])
    k.b.tensor_reduce(
        dst=t[part, 1:6:2], op="add", data=k.load(a, space=spaces[0])[part],
        axis=2,
    )
    want = np.full((128, 6), 77, F32)
    want[part, 1:6:2] = reduce("add", a, 1)[part]
    ref.same(k.one(t), want)


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_maximum_and_minimum_skip_nan(op):
    a = np.array([[np.nan, 3, np.nan, -4], [np.nan] * 4], F32)
    best = {"maximum": 3, "minimum": -4}[op]
    out = run_reduce(a, op, 1)
    assert out[0, 0] == best and math.isnan(out[1, 0])
