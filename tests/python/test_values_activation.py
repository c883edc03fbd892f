"""activation: every function, scale, bias, the reduction, casts.

dst = op(data * scale + bias), two roundings before the function. References
are long double (64 bits of significand), so an error of one ulp of fp32 is
seen to a thousandth; exact functions are compared bit for bit.
"""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from geometry import LOOKS, PARTITIONS, WRITABLE
from kit import TARGETS, Kit

F32 = np.float32
EXACT = ("copy", "square", "relu", "prelu", "sign", "abs", "sqrt", "reciprocal")
# Documented valid inputs, as a test of fp32 x: numerics.md 7.
VALID = {
    "log": lambda x: (x >= 2.0**-64) & (x <= 2.0**64),
    "sin": lambda x: np.abs(x) <= F32(np.pi),
    "arctan": lambda x: np.abs(x) <= F32(np.pi / 2),
    "sqrt": lambda x: ((x >= 2.0**-116) & (x <= 2.0**118)) | (x == 0),
    "rsqrt": lambda x: (x >= 2.0**-87) & (x <= 2.0**97),
    "reciprocal": lambda x: (np.abs(x) >= 2.0**-42) & (np.abs(x) <= 2.0**42),
}
OUTSIDE = "activation.outside_valid_range"


def arguments(op: str) -> ref.Array:
    """(128, 600) finite fp32: dense near 0, every binade, neighbours of 1, pi,
    2^k and of the zeros of the functions; where a function takes part of the
    line only, inside it."""
    rng = np.random.default_rng([7, *map(ord, op)])
    special = [0.0, 1, 2, 0.5, 0.25, 0.125, np.pi, np.pi / 2, np.pi + 6**0.5]
    special += [1.2784645, 0.7517916, 0.7511668, 88.7, 88.73, 103.9, 0.692]
    special += [16.0, 8.0, 4.0, 0.6744898, 1.702, 3.0, 9.0, 13.2, 87.4, 2e-39]
    near = np.array(special, F32)
    near = near.view(np.int32)[:, None] + np.arange(-40, 41, dtype=np.int32)
    near = np.abs(near.ravel()).astype(np.int32).view(F32)
    bits = rng.integers(0, 0x7F800000, 24000).astype(np.uint32).view(F32)
    normal = rng.standard_normal(20000) * rng.choice([0.1, 1, 4, 30], 20000)
    x = np.concatenate([near, bits, np.abs(normal).astype(F32)])
    x = np.concatenate([x, -x])
    x = x[np.isfinite(x)]
    if op in ("log", "sqrt", "rsqrt"):
        x = np.abs(x)
    if op in VALID:
        x = x[VALID[op](x)]
    return np.resize(x, (128, 600))


def activate(
    x: ref.Array, op: str, target: str = "trn2", **options
) -> tuple[ref.Array, list[str]]:
    k = Kit(target)
    t = k.empty(x.shape)
    k.b.activation(dst=t, op=op, data=k.load(x), **options)
    out = k.one(t)
    return out, [f.id for f in k.findings]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ref.ACTIVATIONS)
def test_every_function_is_within_an_ulp_over_its_range(op, target):
    x = arguments(op)
    out, findings = activate(x, op, target)
    # prelu's slope exists on activate2 only: said, not silently 0.
    slope = ["activation.prelu_slope"] if op == "prelu" else []
    assert findings == slope
    exact = ref.ACTIVATIONS[op](x.astype(ref.LONG))
    if op in EXACT:
        np.testing.assert_array_equal(out, exact.astype(F32))
    else:
        ref.within_ulp(out, exact, x)


LIMITS = [  # op, x, value
    ("exp", 0.0, 1.0), ("exp", -np.inf, 0.0), ("exp", np.inf, np.inf),
    ("exp", 89.0, np.inf), ("exp", -104.0, 0.0), ("sigmoid", np.inf, 1.0),
    ("sigmoid", -np.inf, 0.0), ("sigmoid", 0.0, 0.5), ("tanh", np.inf, 1.0),
    ("tanh", -np.inf, -1.0), ("tanh", 0.0, 0.0), ("erf", np.inf, 1.0),
    ("erf", -np.inf, -1.0), ("erf_dx", np.inf, 0.0), ("erf_dx", -np.inf, 0.0),
    ("relu", np.inf, np.inf), ("relu", -np.inf, 0.0), ("sign", np.inf, 1.0),
    ("sign", -np.inf, -1.0), ("sign", 0.0, 0.0), ("abs", -np.inf, np.inf),
    ("square", -np.inf, np.inf), ("copy", -np.inf, -np.inf),
    ("softplus", np.inf, np.inf), ("softplus", -np.inf, 0.0),
    ("silu", np.inf, np.inf), ("gelu", np.inf, np.inf),
    ("mish", np.inf, np.inf), ("gelu_apprx_tanh", np.inf, np.inf),
    ("gelu_apprx_sigmoid", np.inf, np.inf), ("gelu_dx", np.inf, 1.0),
    ("silu_dx", np.inf, 1.0), ("gelu_apprx_sigmoid_dx", np.inf, 1.0),
    # The limits, where the printed formula is infinity times 0.
    ("silu", -np.inf, 0.0), ("gelu", -np.inf, 0.0), ("mish", -np.inf, 0.0),
    ("gelu_apprx_tanh", -np.inf, 0.0), ("gelu_apprx_sigmoid", -np.inf, 0.0),
    ("gelu_dx", -np.inf, 0.0), ("silu_dx", -np.inf, 0.0),
    ("gelu_apprx_sigmoid_dx", -np.inf, 0.0), ("log", 1.0, 0.0),
    ("sqrt", 4.0, 2.0), ("sqrt", 0.0, 0.0), ("rsqrt", 4.0, 0.5),
    ("reciprocal", -4.0, -0.25), ("sin", 0.0, 0.0), ("arctan", 0.0, 0.0),
]


@pytest.mark.parametrize(("op", "x", "value"), LIMITS)
def test_functions_reach_their_limits(op, x, value):
    out, findings = activate(np.array([[x]], F32), op)
    assert out[0, 0] == value and findings == []


@pytest.mark.parametrize(
    "op", [op for op in ref.ACTIVATIONS if op not in ("relu", "prelu", "sign")]
)
def test_nan_gives_nan(op):
    out, _ = activate(np.array([[np.nan]], F32), op)
    assert np.isnan(out[0, 0])


# The last fp32 number inside each documented range, the first outside.
EDGES = [
    (op, F32(bound), F32(np.nextafter(F32(bound), F32(beyond))))
    for op, bound, beyond in [
        ("log", 2.0**64, np.inf), ("log", 2.0**-64, 0),
        ("sqrt", 2.0**118, np.inf), ("sqrt", 2.0**-116, 0),
        ("rsqrt", 2.0**97, np.inf), ("rsqrt", 2.0**-87, 0),
        ("reciprocal", 2.0**42, np.inf), ("reciprocal", 2.0**-42, 0),
        ("reciprocal", -(2.0**42), -np.inf), ("reciprocal", -(2.0**-42), 0),
        ("sin", np.nextafter(F32(np.pi), F32(0)), np.inf),
        ("sin", -np.nextafter(F32(np.pi), F32(0)), -np.inf),
        ("arctan", np.nextafter(F32(np.pi / 2), F32(0)), np.inf),
    ]
]


@pytest.mark.parametrize(("op", "inside", "outside"), EDGES)
def test_an_input_outside_the_valid_range_is_reported(op, inside, outside):
    assert activate(np.array([[inside]], F32), op)[1] == []
    if op in ("sin", "arctan"):  # fp32 has no pi: go clearly past it
        outside = F32(inside * 1.01)
    out, findings = activate(np.array([[outside]], F32), op)
    assert findings == [OUTSIDE]
    exact = ref.ACTIVATIONS[op](np.array([[outside]], ref.LONG))
    ref.within_ulp(out, exact, np.array([[outside]], F32))


def test_sin_beyond_pi_is_the_cubic_about_pi():
    x = np.linspace(-20, 20, 128 * 300).astype(F32).reshape(128, 300)
    out, findings = activate(x, "sin")
    assert findings == [OUTSIDE]
    ref.within_ulp(out, ref.ACTIVATIONS["sin"](x.astype(ref.LONG)), x)


@pytest.mark.parametrize("dtype", ref.ANY)
@pytest.mark.parametrize("target", TARGETS)
def test_data_and_dst_of_every_dtype(target, dtype):
    x = ref.moderate(dtype, (128, 40), 1)
    x[:, ::2] = ref.samples(dtype, (128, 20), 2)
    fx = ref.widen(x, dtype)
    k = Kit(target)
    data = k.load(x, dtype)
    tiles = [k.empty(x.shape, d) for d in ("float32", *ref.ANY)]
    for t in tiles:
        k.b.activation(dst=t, op="abs", data=data, scale=1.5)
    k.b.activation(dst=(own := k.empty(x.shape, dtype)), op="exp", data=data)
    k.b.activation(dst=(wide := k.empty(x.shape)), op="exp", data=data)
    out = k.run(*tiles, own, wide)
    want = np.abs(fx * F32(1.5))
    for t, d in zip(out, ("float32", *ref.ANY)):
        ref.same(t, ref.cast(want, d), f"{dtype} to {d}:")
    ref.same(out[-2], ref.cast(out[-1], dtype), "one cast, from fp32:")


@pytest.mark.parametrize("dtype", [d for d in ref.ANY if d != "tfloat32"])
def test_the_bias_may_be_a_tile_of_every_dtype_but_tfloat32(dtype):
    x, bias = ref.moderate("float32", (64, 9)), ref.samples(dtype, (64, 1), 3)
    scale = ref.moderate("float32", (64, 1), 4)
    k = Kit()
    t = k.empty(x.shape)
    k.b.activation(
        dst=t, op="copy", data=k.load(x), bias=k.load(bias, dtype),
        scale=k.load(scale),
    )
    ref.same(k.one(t), x * scale + ref.widen(bias, dtype))


@pytest.mark.parametrize("target", TARGETS)
def test_scale_and_bias_round_twice(target):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((128, 500)).astype(F32)
    scale, bias = rng.standard_normal((2, 128, 1)).astype(F32)
    k = Kit(target)
    t = k.empty(x.shape)
    k.b.activation(
        dst=t, op="copy", data=k.load(x), bias=k.load(bias),
        scale=k.load(scale),
    )
    ref.same(k.one(t), x * scale + bias)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_scale_and_bias_may_be_numbers(target):
    x = ref.moderate("float32", (16, 9))
    k = Kit(target)
    t = k.empty(x.shape)
    k.b.activation(dst=t, op="abs", data=k.load(x), scale=0.1, bias=-0.3)
    ref.same(k.one(t), np.abs(x * F32(0.1) + F32(-0.3)))


def test_scale_and_bias_can_be_fused():
    # x * x = 1 + 2^-11 + 2^-24: once rounded or not, minus 1 + 2^-11.
    x = F32(1 + 2.0**-12)
    for way, want in (("separate", 0), ("fused", 2.0**-24)):
        k = Kit()
        t = k.empty((1, 1))
        k.b.activation(
            dst=t, op="copy", data=k.load(np.array([[x]])), scale=float(x),
            bias=-(1 + 2.0**-11),
        )
        assert k.one(t, numerics={"scale_bias": way})[0, 0] == want


@pytest.mark.parametrize("spaces", ["ss", "sp", "ps", "pp"])
@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_partitions_and_memories(place, spaces):
    start, count = place
    part = slice(start, start + count)
    where = {"s": "sbuf", "p": "psum"}
    x, bias, scale = (
        ref.moderate("float32", (128, n), n) for n in (11, 1, 2)
    )
    k = Kit()
    t = k.filled((128, 11), 77.0, space=where[spaces[0]])
    data = k.load(x, space=where[spaces[1]])
    k.b.activation(
        dst=t[part], op="relu", data=data[part], bias=k.load(bias)[part],
        scale=k.load(scale)[part, 1:],
    )
    want = np.full((128, 11), 77, F32)
    want[part] = np.maximum(x * scale[:, 1:] + bias, 0)[part]
    np.testing.assert_array_equal(k.one(t), want)


def test_every_width_of_a_row_is_computed_to_its_end():
    x = ref.moderate("float32", (2, 80))
    k = Kit()
    data, widths = k.load(x), range(1, 80)
    whole, tiles = k.empty(x.shape), [k.filled(x.shape, 77.0) for _ in widths]
    k.b.activation(dst=whole, op="exp", data=data)
    for n, t in zip(widths, tiles):
        k.b.activation(dst=t[:, :n], op="exp", data=data[:, 80 - n:])
    full, *outs = k.run(whole, *tiles)
    ref.within_ulp(full, np.exp(x.astype(ref.LONG)), x)
    for n, out in zip(widths, outs):  # the same bits wherever an element lies
        ref.same(out[:, :n], np.ascontiguousarray(full[:, 80 - n:]))
        assert (out[:, n:] == 77).all()


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_data_is_read_through_views(look):
    x = ref.moderate("float32", (32, *look.free))
    k = Kit()
    t = k.empty(look.array(x).shape)
    k.b.activation(dst=t, op="square", data=look.view(k.load(x)))
    ref.same(k.one(t), look.array(x) * look.array(x))


@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_dst_is_written_through_views_and_nothing_else(look):
    want = np.full((32, *look.free), 77, F32)
    x = ref.moderate("float32", look.array(want).shape)
    look.array(want)[...] = np.abs(x)
    k = Kit()
    t = k.filled(want.shape, 77.0)
    k.b.activation(dst=look.view(t), op="abs", data=k.load(x))
    ref.same(k.one(t), want)


# --- the accumulators: one fp32 per partition -------------------------------


def sequential(values: ref.Array) -> ref.Array:
    total = np.zeros(values.shape[:1], F32)
    for column in values.reshape(len(values), -1).T:
        total = total + column
    return total


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["copy", "square", "abs", "relu"])
@pytest.mark.parametrize("free", [(1,), (300,), (5, 7), (2, 3, 4)], ids=str)
def test_reset_reduce_sums_the_activated_values_in_order(op, free, target):
    x = np.random.default_rng(3).standard_normal((128, *free)).astype(F32)
    k = Kit(target)
    t, total = k.empty(x.shape), k.empty((128, 1))
    k.b.activation(
        dst=t, op=op, data=k.load(x), reduce_op="add",
        reduce_cmd="reset_reduce", reduce_res=total,
    )
    out, sums = k.run(t, total)
    values = ref.ACTIVATIONS[op](x.astype(ref.LONG)).astype(F32)
    np.testing.assert_array_equal(out, values)
    ref.same(sums[:, 0], sequential(values))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3", "int8"])
def test_the_sum_is_of_the_values_before_the_cast_to_dst(dtype):
    x = ref.moderate("float32", (64, 50)) + F32(0.3)
    k = Kit()
    t, total = k.empty(x.shape, dtype), k.empty((64, 1))
    k.b.activation(
        dst=t, op="copy", data=k.load(x), reduce_op="add",
        reduce_cmd="reset_reduce", reduce_res=total,
    )
    ref.same(k.one(total)[:, 0], sequential(x))


@pytest.mark.parametrize(
    "dtype", ["float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float16",
              "bfloat16", "tfloat32", "float32"],
)
def test_reduce_res_casts_the_sum_once(dtype):
    x = ref.moderate("float32", (128, 30))
    k = Kit()
    t, total = k.empty(x.shape), k.empty((128, 1), dtype)
    k.b.activation(
        dst=t, op="copy", data=k.load(x), reduce_op="add",
        reduce_cmd="reset_reduce", reduce_res=total,
    )
    ref.same(k.one(total)[:, 0], ref.cast(sequential(x), dtype))


def test_reduce_adds_once_reset_clears_and_idle_leaves_alone():
    x = np.array([[1, 2, 4]], F32)
    k = Kit()
    data, t = k.load(x), k.empty((1, 3))
    sums = k.empty((1, 6))
    steps = ["reset_reduce", "reduce", "idle", "reduce", "reset", "reduce"]
    for i, cmd in enumerate(steps):
        k.b.activation(
            dst=t, op="copy", data=data, reduce_op="add", reduce_cmd=cmd,
            reduce_res=sums[:, i:i + 1],
        )
    assert k.one(sums).tolist() == [[7, 14, 14, 21, 0, 7]]


def test_idle_is_the_default_and_keeps_the_accumulator():
    x = np.array([[1, 2, 4]], F32)
    k = Kit()
    data, t, total = k.load(x), k.empty((1, 3)), k.empty((1, 1))
    k.b.activation(dst=t, op="copy", data=data, reduce_op="add",
                   reduce_cmd="reset_reduce")
    k.b.activation(dst=t, op="square", data=data)
    k.b.activation(dst=t, op="square", data=data, reduce_op="add",
                   reduce_cmd="reduce", reduce_res=total)
    assert k.one(total)[0, 0] == 7 + 21


def test_reduce_adds_the_new_sum_to_the_old():
    # acc += sum(y), not one chain that goes on from acc.
    x = ref.moderate("float32", (128, 33))
    k = Kit()
    data, t, total = k.load(x), k.empty(x.shape), k.empty((128, 1))
    for cmd in ("reset_reduce", "reduce"):
        k.b.activation(
            dst=t, op="copy", data=data, reduce_op="add", reduce_cmd=cmd,
            reduce_res=total,
        )
    ref.same(k.one(total)[:, 0], sequential(x) + sequential(x))


def test_accumulators_count_from_the_first_partition_of_the_tile():
    # Decided in docs/numerics.md: the documents do not say which lane a tile at
    # partition 64 uses. Summing partitions 64 to 95 anew takes lanes 0 to 31.
    x = ref.moderate("float32", (128, 8))
    k = Kit()
    data, t, total = k.load(x), k.empty(x.shape), k.empty((128, 1))
    part = slice(64, 96)
    for view, cmd in ((slice(None), "reset_reduce"), (part, "reset_reduce"),
                      (part, "reduce"), (slice(None), "reduce")):
        k.b.activation(
            dst=t[view], op="copy", data=data[view], reduce_op="add",
            reduce_cmd=cmd, reduce_res=total[view],
        )
    once = sequential(x)
    want = once + once
    want[:32] = (once[part] + once[part]) + once[:32]
    ref.same(k.one(total)[:, 0], want)
