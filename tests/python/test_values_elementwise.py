"""tensor_tensor, tensor_scalar, scalar_tensor_tensor, reciprocal.

Every operation rounds to fp32 (docs/numerics.md), so NumPy's fp32 gives the
same bits; the result is cast once. Operands mix every dtype with values of
everyday size, arbitrary bit patterns, NaN, infinities and subnormals.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import reference as ref
from geometry import LOOKS, PARTITIONS, WRITABLE
from kit import TARGETS, Kit

F32 = np.float32
SHAPE = (32, 60)
OPS_OF = {
    target: {**ref.BINARY, **(ref.GEN4_BINARY if target == "trn3" else {})}
    for target in TARGETS
}
ALL_SPACES = list(itertools.product(("sbuf", "psum"), repeat=3))
# Both inputs in PSUM are refused.
SPACES = [s for s in ALL_SPACES if s[1:] != ("psum", "psum")]


def operands(dtype: str, seed: int, shape=SHAPE) -> ref.Array:
    """Half everyday values, a quarter bit patterns, a quarter edges (fp32)."""
    x = ref.moderate(dtype, shape, seed)
    wild = ref.samples(dtype, shape, seed + 100)
    if ref.carrier(dtype) == F32:
        rng = np.random.default_rng(seed + 200)
        edge = rng.choice(ref.edges(), shape)
        wild[:, ::2] = edge[:, ::2]
    x[:, 1::2] = wild[:, 1::2]
    return x


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ref.ANY)
def test_tensor_tensor_computes_every_op_in_fp32_and_casts_once(dtype, target):
    a, b = operands(dtype, 1), operands("float32", 2)
    fa = ref.widen(a, dtype)
    k = Kit(target)
    x, y = k.load(a, dtype), k.load(b)
    ops = OPS_OF[target]
    mixed, own = ([k.empty(SHAPE, d) for _ in ops] for d in ("float32", dtype))
    for op, t, u in zip(ops, mixed, own):
        k.b.tensor_tensor(dst=t, data1=x, data2=y, op=op, engine="vector")
        k.b.tensor_tensor(dst=u, data1=y, data2=x, op=op, engine="vector")
    out = k.run(*mixed, *own)
    for i, (op, f) in enumerate(ops.items()):
        ref.same(out[i], f(fa, b), f"{op}({dtype}, float32):")
        want = ref.cast(f(b, fa), dtype)
        ref.same(out[len(ops) + i], want, f"{op}(float32, {dtype}):")


@pytest.mark.parametrize("dtype", ref.ANY)
def test_gpsimd_computes_floating_point_like_vector(dtype):
    a, b = operands(dtype, 1), operands("bfloat16", 2)
    k = Kit()
    x, y = k.load(a, dtype), k.load(b)
    tiles = [k.empty(SHAPE) for _ in ref.BINARY]
    for op, t in zip(ref.BINARY, tiles):
        k.b.tensor_tensor(dst=t, data1=x, data2=y, op=op, engine="gpsimd")
    for (op, f), out in zip(ref.BINARY.items(), k.run(*tiles)):
        ref.same(out, f(ref.widen(a, dtype), ref.widen(b)), f"{op}:")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2",
                                   "int16", "uint8"])
def test_every_width_of_a_row_is_computed_to_its_end(dtype):
    a, b = operands(dtype, 3, (3, 80)), operands(dtype, 4, (3, 80))
    k = Kit()
    x, y = k.load(a), k.load(b)
    widths = range(1, 80)
    tiles = [k.filled((3, 80), 1, dtype) for _ in widths]
    for n, t in zip(widths, tiles):
        k.b.tensor_tensor(
            dst=t[:, :n], data1=x[:, :n], data2=y[:, 80 - n:], op="multiply",
            engine="vector",
        )
    for n, out in zip(widths, k.run(*tiles)):
        want = np.ones((3, 80), a.dtype)
        product = ref.widen(a[:, :n]) * ref.widen(b[:, 80 - n:])
        want[:, :n] = ref.cast(product, dtype)
        ref.same(out, want, f"width {n}:")


def test_a_row_may_be_as_long_as_sbuf_allows():
    a = ref.moderate("bfloat16", (3, 40000))
    k = Kit()
    x, t = k.load(a), k.empty(a.shape, "bfloat16")
    k.b.tensor_tensor(dst=t, data1=x, data2=x, op="add")
    ref.same(k.one(t), ref.cast(ref.widen(a) * 2, "bfloat16"))


@pytest.mark.parametrize("dtype2", ref.ANY)
@pytest.mark.parametrize("dtype1", ref.ANY)
def test_tensor_tensor_takes_every_pair_of_dtypes(dtype1, dtype2):
    a, b = operands(dtype1, 3), operands(dtype2, 4)
    fa, fb = ref.widen(a, dtype1), ref.widen(b, dtype2)
    dst = ref.ANY[(ref.ANY.index(dtype1) + ref.ANY.index(dtype2)) % 14]
    k = Kit()
    x, y = k.load(a, dtype1), k.load(b, dtype2)
    ops = ("add", "multiply", "maximum", "less")
    tiles = [k.empty(SHAPE, dst) for _ in ops]
    for op, t in zip(ops, tiles):
        k.b.tensor_tensor(dst=t, data1=x, data2=y, op=op, engine="vector")
    for op, out in zip(ops, k.run(*tiles)):
        want = ref.cast(ref.BINARY[op](fa, fb), dst)
        ref.same(out, want, f"{op}({dtype1}, {dtype2}) to {dst}:")


def test_maximum_and_minimum_give_the_number_and_ties_the_second():
    # (a, b) -> maximum, minimum: docs/numerics.md, Arithmetic.
    a = np.array([[np.nan, 1.0, -0.0, 0.0, np.nan, np.inf]], F32)
    b = np.array([[2.0, np.nan, 0.0, -0.0, np.nan, -np.inf]], F32)
    k = Kit()
    x, y, t, u = k.load(a), k.load(b), k.empty((1, 6)), k.empty((1, 6))
    k.b.tensor_tensor(dst=t, data1=x, data2=y, op="maximum")
    k.b.tensor_tensor(dst=u, data1=x, data2=y, op="minimum")
    high, low = k.run(t, u)
    ref.same(high, np.array([[2, 1, 0.0, -0.0, np.nan, np.inf]], F32))
    ref.same(low, np.array([[2, 1, 0.0, -0.0, np.nan, -np.inf]], F32))


def test_abs_max_and_abs_min_keep_the_sign_and_a_tie_gives_the_second():
    a = np.array([[-3.0, 2.0, 1.0, -1.0, 5.0]], F32)
    b = np.array([[2.0, -3.0, -1.0, 1.0, 5.0]], F32)
    k = Kit("trn3")
    x, y, t, u = k.load(a), k.load(b), k.empty((1, 5)), k.empty((1, 5))
    k.b.tensor_tensor(dst=t, data1=x, data2=y, op="abs_max")
    k.b.tensor_tensor(dst=u, data1=x, data2=y, op="abs_min")
    most, least = k.run(t, u)
    assert most.tolist() == [[-3, -3, -1, 1, 5]]
    assert least.tolist() == [[2, 2, -1, 1, 5]]


@pytest.mark.parametrize("dtype", ref.INTS)
@pytest.mark.parametrize("target", TARGETS)
def test_tensor_tensor_works_on_the_bits_of_integers(dtype, target):
    a, b = ref.samples(dtype, SHAPE, 5), ref.samples(dtype, SHAPE, 6)
    amounts = (np.arange(60) % 40).astype(dtype) * np.ones((32, 1), dtype)
    k = Kit(target)
    x, y, n = k.load(a), k.load(b), k.load(amounts)
    tiles = [k.empty(SHAPE, dtype) for _ in ref.BITWISE]
    for op, t in zip(ref.BITWISE, tiles):
        second = n if "shift" in op else y
        k.b.tensor_tensor(dst=t, data1=x, data2=second, op=op)
    for op, out in zip(ref.BITWISE, k.run(*tiles)):
        second = amounts if "shift" in op else b
        ref.same(out, ref.BITWISE[op](a, second), f"{op} of {dtype}:")


def exact(op: str, a: ref.Array, b: ref.Array) -> ref.Array:
    """Integers without limit."""
    a, b = a.astype(object), b.astype(object)
    return {
        "add": lambda: a + b, "subtract": lambda: a - b,
        "multiply": lambda: a * b,
        "maximum": lambda: np.where(a > b, a, b),
        "minimum": lambda: np.where(a < b, a, b),
        "abs_max": lambda: np.where(abs(a) > abs(b), a, b),
        "abs_min": lambda: np.where(abs(a) < abs(b), a, b),
        "equal": lambda: a == b, "not_equal": lambda: a != b,
        "greater": lambda: a > b, "greater_equal": lambda: a >= b,
        "less": lambda: a < b, "less_equal": lambda: a <= b,
        "logical_and": lambda: (a != 0) & (b != 0),
        "logical_or": lambda: (a != 0) | (b != 0),
        "logical_xor": lambda: (a != 0) ^ (b != 0),
    }[op]()


def modulo(values: ref.Array, dtype: str) -> ref.Array:
    bits = (values.astype(object) % 2**32).astype(np.uint64)
    return bits.astype(np.uint32).view(dtype)


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("engine", ["unknown", "gpsimd"])
@pytest.mark.parametrize("target", TARGETS)
def test_gpsimd_computes_32_bit_integers_exactly_and_wraps(
    dtype, engine, target
):
    a, b = ref.samples(dtype, SHAPE, 7), ref.samples(dtype, SHAPE, 8)
    a[:, ::4] = b[:, ::4]
    a[:, 1::8] = 0
    k = Kit(target)
    x, y = k.load(a), k.load(b)
    ops = (*ref.BINARY, *(ref.GEN4_BINARY if target == "trn3" else ()))
    tiles = [k.empty(SHAPE, dtype) for _ in ops]
    for op, t in zip(ops, tiles):
        k.b.tensor_tensor(dst=t, data1=x, data2=y, op=op, engine=engine)
    for op, out in zip(ops, k.run(*tiles)):
        ref.same(out, modulo(exact(op, a, b), dtype), f"{op} of {dtype}:")


POWERS = [  # x, y, x ** y: IEEE 754-2019, 9.2.1
    (0.0, 0.0, 1.0), (np.nan, 0.0, 1.0), (1.0, np.nan, 1.0),
    (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (0.0, -1.0, np.inf),
    (-0.0, -1.0, -np.inf), (-0.0, -2.0, np.inf), (-1.0, np.inf, 1.0),
    (0.5, np.inf, 0.0), (2.0, np.inf, np.inf), (2.0, -np.inf, 0.0),
    (np.inf, 2.0, np.inf), (np.inf, -2.0, 0.0), (-np.inf, 3.0, -np.inf),
    (-2.0, 3.0, -8.0), (-2.0, 0.5, np.nan), (4.0, 0.5, 2.0),
    (np.nan, 1.0, np.nan), (2.0, 10.0, 1024.0), (10.0, 39.0, np.inf),
]


def test_power_has_ieees_special_cases():
    x, y, want = np.array(POWERS, F32).T[:, None]
    k = Kit()
    t = k.empty(x.shape)
    k.b.tensor_tensor(dst=t, data1=k.load(x), data2=k.load(y), op="power")
    ref.same(k.one(t), np.ascontiguousarray(want))


@pytest.mark.parametrize("engine", ["gpsimd, tensor_tensor", "tensor_scalar"])
def test_power_is_within_an_ulp(engine):
    rng = np.random.default_rng(11)
    x = np.exp(rng.uniform(-60, 60, (128, 200))).astype(F32)
    y = rng.uniform(-3, 3, (128, 200)).astype(F32)
    y[:64, ::7] = np.round(y[:64, ::7] * 4)
    x[64:] = 1 + rng.uniform(-0.01, 0.01, (64, 200)).astype(F32)
    y[64:] *= 1000
    k = Kit()
    t = k.empty(x.shape)
    if engine == "tensor_scalar":
        y = np.repeat(y[:, :1], 200, 1)
        k.b.tensor_scalar(
            dst=t, data=k.load(x), op0="power", operand0=k.load(y[:, :1]),
        )
    else:
        k.b.tensor_tensor(dst=t, data1=k.load(x), data2=k.load(y), op="power")
    pairs = np.stack([x, y], -1)
    exact_power = np.power(x.astype(ref.LONG), y.astype(ref.LONG))
    ref.within_ulp(k.one(t), exact_power, pairs.view("f4,f4")[..., 0])


# --- geometry: what is read, what is written --------------------------------

FAMILIES = {
    "tensor_tensor": lambda b, d, x, y: b.tensor_tensor(
        dst=d, data1=x, data2=y, op="subtract"
    ),
    "scalar_tensor_tensor": lambda b, d, x, y: b.scalar_tensor_tensor(
        dst=d, data=x, op0="multiply", operand0=1.0, op1="subtract",
        operand1=y,
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_both_inputs_are_read_through_views(look, family):
    a = ref.moderate("float32", (64, *look.free), 1)
    b = ref.moderate("float32", (64, *look.free), 2)
    want = look.array(a) - look.array(b)
    k = Kit()
    t = k.empty(want.shape)
    FAMILIES[family](k.b, t, look.view(k.load(a)), look.view(k.load(b)))
    ref.same(k.one(t), want)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("look", WRITABLE, ids=str)
def test_the_result_is_written_through_a_view_and_nothing_else(look, family):
    want = np.full((64, *look.free), 77, F32)
    part = look.array(want)
    a = ref.moderate("float32", part.shape, 1)
    b = ref.moderate("float32", part.shape, 2)
    part[...] = a - b
    k = Kit()
    t = k.filled(want.shape, 77.0)
    FAMILIES[family](k.b, look.view(t), k.load(a), k.load(b))
    ref.same(k.one(t), want)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_the_partitions_named_are_computed_and_no_others(place, family):
    start, count = place
    part = slice(start, start + count)
    a, b = (ref.moderate("float32", (128, 9), s) for s in (1, 2))
    k = Kit()
    t, x, y = k.filled((128, 9), 77.0), k.load(a), k.load(b)
    FAMILIES[family](k.b, t[part], x[part], y[part])
    want = np.full((128, 9), 77, F32)
    want[part] = a[part] - b[part]
    ref.same(k.one(t), want)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("spaces", SPACES, ids="-".join)
def test_operands_come_from_sbuf_and_psum(spaces, family):
    a, b = (ref.moderate("float32", (128, 40), s) for s in (3, 4))
    k = Kit()
    t = k.empty((128, 40), space=spaces[0])
    x, y = k.load(a, space=spaces[1]), k.load(b, space=spaces[2])
    FAMILIES[family](k.b, t, x, y)
    ref.same(k.one(t), a - b)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_instruction_may_write_over_its_input(family):
    a, b = (ref.moderate("float32", (128, 40), s) for s in (3, 4))
    k = Kit()
    x, y = k.load(a), k.load(b)
    FAMILIES[family](k.b, x, x, y)
    FAMILIES[family](k.b, y, x, y)
    ref.same(k.one(y), a - b - b)


# --- tensor_scalar ----------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True], ids=["", "reverse"])
@pytest.mark.parametrize("tile", [False, True], ids=["number", "tile"])
@pytest.mark.parametrize("dtype", ref.ANY)
@pytest.mark.parametrize("target", TARGETS)
def test_tensor_scalar_computes_every_op(target, dtype, tile, reverse):
    a = operands(dtype, 1)
    b = np.full((32, 1), 2.75, F32)
    if tile:
        b = operands("float32", 9, (32, 2))[:, :1].copy()
        b[::3] = 3.0
    fa = ref.widen(a, dtype)
    k = Kit(target)
    x = k.load(a, dtype)
    operand = k.load(b) if tile else 2.75
    ops = OPS_OF[target]
    tiles = [k.empty(SHAPE, d) for _ in ops for d in ("float32", dtype)]
    for op, t, u in zip(ops, tiles[::2], tiles[1::2]):
        for dst in (t, u):
            k.b.tensor_scalar(
                dst=dst, data=x, op0=op, operand0=operand, reverse0=reverse,
            )
    out = k.run(*tiles)
    full = np.repeat(b, SHAPE[1], 1)
    for i, (op, f) in enumerate(ops.items()):
        want = f(full, fa) if reverse else f(fa, full)
        ref.same(out[2 * i], want, f"{op}:")
        ref.same(out[2 * i + 1], ref.cast(want, dtype), f"{op} to {dtype}:")


REVERSES = list(itertools.product([False, True], repeat=2))


@pytest.mark.parametrize("op0", ref.BINARY)
def test_tensor_scalar_rounds_between_its_two_ops(op0):
    a, b = operands("float32", 5), operands("float32", 6)[:, :1].copy()
    full, c = np.repeat(b, SHAPE[1], 1), np.full(SHAPE, 0.3, F32)
    k = Kit()
    x, operand = k.load(a), k.load(b)
    cases = list(itertools.product(ref.BINARY, REVERSES))
    tiles = [k.empty(SHAPE) for _ in cases]
    for t, (op1, (r0, r1)) in zip(tiles, cases):
        k.b.tensor_scalar(
            dst=t, data=x, op0=op0, operand0=operand, reverse0=r0,
            op1=op1, operand1=0.3, reverse1=r1,
        )
    for out, (op1, (r0, r1)) in zip(k.run(*tiles), cases):
        t = ref.BINARY[op0](*((full, a) if r0 else (a, full)))
        t = ref.BINARY[op1](*((c, t) if r1 else (t, c)))
        ref.same(out, t, f"{op0}, {op1}, reversed {r0} {r1}:")


def test_multiply_then_add_is_not_fused():
    # x * x = 1 + 2^-11 + 2^-24; rounded it is 1 + 2^-11, so the sum with
    # -(1 + 2^-11) is 0; a fused multiply-add would give 2^-24.
    x = np.array([[1 + 2.0**-12]], F32)
    for engine in ("vector", "scalar"):
        k = Kit()
        t = k.empty((1, 1))
        k.b.tensor_scalar(
            dst=t, data=k.load(x), op0="multiply", operand0=k.load(x),
            op1="add", operand1=-(1 + 2.0**-11), engine=engine,
        )
        assert k.one(t)[0, 0] == 0


@pytest.mark.parametrize("ops", [("multiply", "add"), ("multiply", None),
                                 ("add", None)], ids=str)
@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_tensor_scalar_on_the_scalar_engine_gives_the_same(ops, target):
    a, b = operands("float32", 5), operands("float32", 6)[:, :1].copy()
    second = {} if ops[1] is None else {"op1": ops[1], "operand1": 0.3}
    k = Kit(target)
    t = k.empty(SHAPE)
    k.b.tensor_scalar(
        dst=t, data=k.load(a), op0=ops[0], operand0=k.load(b), **second,
        engine="scalar",
    )
    want = ref.BINARY[ops[0]](a, np.repeat(b, SHAPE[1], 1))
    ref.same(k.one(t), want + F32(0.3) if second else want)


@pytest.mark.parametrize("dtype", ref.ANY)
@pytest.mark.parametrize("target", TARGETS)
def test_unary_ops_are_one_rounding_and_a_cast(target, dtype):
    a = operands(dtype, 12)
    fa = ref.widen(a, dtype)
    k = Kit(target)
    x = k.load(a, dtype)
    ops = {**ref.UNARY, **(ref.GEN4_UNARY if target == "trn3" else {})}
    tiles = [k.empty(SHAPE, d) for _ in ops for d in ("float32", dtype)]
    for op, t, u in zip(ops, tiles[::2], tiles[1::2]):
        k.b.tensor_scalar(dst=t, data=x, op0=op, operand0=0.0)
        k.b.tensor_scalar(dst=u, data=x, op0=op)
    out = k.run(*tiles)
    for i, (op, f) in enumerate(ops.items()):
        ref.same(out[2 * i], f(fa), f"{op}:")
        ref.same(out[2 * i + 1], ref.cast(f(fa), dtype), f"{op} to {dtype}:")


@pytest.mark.parametrize("engine", ["unknown", "gpsimd"])
@pytest.mark.parametrize("target", TARGETS)
def test_rsqrt_of_tensor_scalar_is_correctly_rounded(target, engine):
    a = np.abs(np.resize(ref.edges(), (64, 100)))
    a[32:] = np.abs(ref.samples("float32", (32, 100)))
    k = Kit(target)
    t = k.empty(a.shape)
    k.b.tensor_scalar(dst=t, data=k.load(a), op0="rsqrt", engine=engine)
    ref.same(k.one(t), ref.UNARY["rsqrt"](a))


@pytest.mark.parametrize("op1", ["abs", "square", "relu", "reciprocal"])
def test_a_unary_op_may_come_second(op1):
    a = operands("float32", 13)
    k = Kit()
    t = k.empty(SHAPE)
    k.b.tensor_scalar(
        dst=t, data=k.load(a), op0="subtract", operand0=0.7, op1=op1,
    )
    f = {**ref.UNARY, **ref.GEN4_UNARY}[op1]
    ref.same(k.one(t), f(a - F32(0.7)))


def test_a_unary_op_may_come_first():
    a = operands("float32", 13)
    k = Kit()
    t = k.empty(SHAPE)
    k.b.tensor_scalar(
        dst=t, data=k.load(a), op0="abs", op1="subtract", operand1=0.7,
        reverse1=True,
    )
    ref.same(k.one(t), F32(0.7) - np.abs(a))


@pytest.mark.parametrize(
    "number", [0.1, 1e300, -1e300, 1e-60, np.inf, 2**24 + 1]
)
def test_numbers_become_fp32_by_nearest_even(number):
    k = Kit()
    t = k.empty((1, 1))
    k.b.tensor_scalar(
        dst=t, data=k.filled((1, 1), 0.0), op0="add", operand0=number
    )
    assert k.one(t)[0, 0] == F32(number)


@pytest.mark.parametrize("dtype", ref.INTS)
@pytest.mark.parametrize("reverse", [False, True], ids=["", "reverse"])
def test_tensor_scalar_works_on_the_bits_of_integers(dtype, reverse):
    a = ref.samples(dtype, SHAPE, 14)
    a[:, ::2] = (np.arange(30) % 35).astype(dtype)  # amounts when reversed
    number = {"int8": 0x5B, "uint8": 0xDB}.get(dtype, 0x5EAD)
    k = Kit()
    x = k.load(a)
    cases = [
        (op, n) for op in ref.BITWISE for n in
        ((0, 1, 3, 7, 8, 15, 16, 31, 32, 40) if "shift" in op and not reverse
         else (number,))
    ]
    tiles = [k.empty(SHAPE, dtype) for _ in cases]
    for (op, n), t in zip(cases, tiles):
        k.b.tensor_scalar(
            dst=t, data=x, op0=op, operand0=n, reverse0=reverse,
        )
    for (op, n), out in zip(cases, k.run(*tiles)):
        full = np.full(SHAPE, n, dtype)
        pair = (full, a) if reverse else (a, full)
        ref.same(out, ref.BITWISE[op](*pair), f"{op} {n} of {dtype}:")


@pytest.mark.parametrize("dtype", ref.INTS)
def test_bitwise_operands_may_be_integer_tiles_and_come_in_pairs(dtype):
    a, b = ref.samples(dtype, SHAPE, 15), ref.samples(dtype, (32, 1), 16)
    full = np.repeat(b, SHAPE[1], 1)
    k = Kit()
    x, operand = k.load(a), k.load(b)
    t, u, v = (k.empty(SHAPE, dtype) for _ in range(3))
    k.b.tensor_scalar(
        dst=t, data=x, op0="bitwise_xor", operand0=operand,
        op1="left_shift", operand1=3,
    )
    k.b.tensor_scalar(
        dst=u, data=x, op0="right_shift", operand0=2,
        op1="bitwise_and", operand1=operand,
    )
    k.b.tensor_scalar(dst=v, data=x, op0="invert")
    one, two, three = k.run(t, u, v)
    shift = np.full(SHAPE, 3, dtype)
    ref.same(one, ref.shift_left(a ^ full, shift))
    ref.same(two, ref.shift_right(a, shift - 1) & full)
    ref.same(three, ~a)


@pytest.mark.parametrize("spaces", ALL_SPACES, ids="-".join)
def test_tensor_scalar_takes_operands_from_sbuf_and_psum(spaces):
    a, b = ref.moderate("float32", (128, 40), 3), ref.moderate(
        "float32", (128, 1), 4
    )
    k = Kit()
    t = k.empty((128, 40), space=spaces[0])
    k.b.tensor_scalar(
        dst=t, data=k.load(a, space=spaces[1]), op0="multiply",
        operand0=k.load(b, space=spaces[2]), op1="add", operand1=-1.0,
    )
    ref.same(k.one(t), a * b - F32(1))


@pytest.mark.parametrize("place", PARTITIONS, ids=str)
def test_tensor_scalar_takes_the_operand_of_the_same_partition(place):
    start, count = place
    part = slice(start, start + count)
    a, b = (ref.moderate("float32", (128, n), n) for n in (9, 3))
    k = Kit()
    t, x, y = k.filled((128, 9), 77.0), k.load(a), k.load(b)
    k.b.tensor_scalar(
        dst=t[part], data=x[part], op0="subtract", operand0=y[part, 1:2],
        reverse0=True,
    )
    want = np.full((128, 9), 77, F32)
    want[part] = b[part, 1:2] - a[part]
    ref.same(k.one(t), want)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_tensor_scalar_reads_through_views(look):
    a = ref.moderate("float32", (32, *look.free), 1)
    k = Kit()
    t = k.empty(look.array(a).shape)
    k.b.tensor_scalar(
        dst=t, data=look.view(k.load(a)), op0="add", operand0=0.1
    )
    ref.same(k.one(t), look.array(a) + F32(0.1))


# --- scalar_tensor_tensor, reciprocal ---------------------------------------


@pytest.mark.parametrize("op0", [*ref.BINARY, *ref.UNARY])
def test_scalar_tensor_tensor_computes_every_pair_of_ops(op0):
    a, c = operands("float32", 17), operands("bfloat16", 18)
    b = operands("float16", 19)[:, :1].copy()
    full, fc = np.repeat(ref.widen(b), SHAPE[1], 1), ref.widen(c)
    k = Kit()
    x, y = k.load(a), k.load(c)
    unary = op0 in ref.UNARY
    operand = 0.0 if unary else k.load(b)
    cases = [
        (op1, r) for op1 in ref.BINARY for r in REVERSES
        if not (unary and r[0])
    ]
    tiles = [k.empty(SHAPE) for _ in cases]
    for t, (op1, (r0, r1)) in zip(tiles, cases):
        k.b.scalar_tensor_tensor(
            dst=t, data=x, op0=op0, operand0=operand, op1=op1, operand1=y,
            reverse0=r0, reverse1=r1,
        )
    for out, (op1, (r0, r1)) in zip(k.run(*tiles), cases):
        if unary:
            t = ref.UNARY[op0](a)
        else:
            t = ref.BINARY[op0](*((full, a) if r0 else (a, full)))
        t = ref.BINARY[op1](*((fc, t) if r1 else (t, fc)))
        ref.same(out, t, f"{op0}, {op1}, reversed {r0} {r1}:")


@pytest.mark.parametrize("dtype", ref.ANY)
def test_scalar_tensor_tensor_takes_and_gives_every_dtype(dtype):
    a, c = operands(dtype, 20), operands(dtype, 21)
    b = operands(dtype, 22)[:, :1].copy()
    fa, fb, fc = (ref.widen(x, dtype) for x in (a, b, c))
    k = Kit()
    x, y, z = (k.load(v, dtype) for v in (a, b, c))
    t = k.empty(SHAPE, dtype)
    k.b.scalar_tensor_tensor(
        dst=t, data=x, op0="subtract", operand0=y, op1="multiply", operand1=z,
    )
    ref.same(k.one(t), ref.cast((fa - fb) * fc, dtype))


@pytest.mark.parametrize("dtype", ref.ANY)
@pytest.mark.parametrize("target", TARGETS)
def test_reciprocal_divides_in_fp32_and_casts(dtype, target):
    a = operands(dtype, 23)
    want = F32(1) / ref.widen(a, dtype)
    k = Kit(target)
    x, t, u = k.load(a, dtype), k.empty(SHAPE), k.empty(SHAPE, dtype)
    k.b.reciprocal(dst=t, data=x)
    k.b.reciprocal(dst=u, data=x)
    one, two = k.run(t, u)
    ref.same(one, want)
    ref.same(two, ref.cast(want, dtype))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_reciprocal_reads_through_views(look):
    a = ref.moderate("float32", (64, *look.free), 24)
    k = Kit()
    t = k.empty(look.array(a[32:]).shape, space="psum")
    k.b.reciprocal(dst=t, data=look.view(k.load(a))[32:])
    ref.same(k.one(t), F32(1) / look.array(a[32:]))


def test_subnormals_are_kept_or_flushed_as_asked():
    x = np.array([[2.0**-130, -(2.0**-149), 2.0**-126, 1.0]], F32)
    for mode, want in (("keep", x), ("flush", np.float32([[0, 0, *x[0, 2:]]]))):
        k = Kit()
        t = k.empty(x.shape)
        k.b.tensor_scalar(
            dst=t, data=k.load(x), op0="multiply", operand0=1.0
        )
        out = k.one(t, numerics={"subnormals": mode})
        np.testing.assert_array_equal(out, want)
