"""Random legal uses of the vector engine's operations.

What the documents leave undefined or open is not produced, except where
numerics.md 15 or DECISIONS.md has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import reference as ref
from oracle.types import (
    Array, Case, Index, OperandSpec, Step, Tile, layout,
)
from oracle.vector import FP32_MIN, cast
from reference import ANY, F32, INTS, PACKED, carrier

TARGET = {2: "trn1", 3: "trn2", 4: "trn3"}
FP = ("float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float16", "bfloat16",
      "tfloat32", "float32")
ANYX = (*ANY, "float8_e8m0fnu", *PACKED)
Shape = tuple[int, ...]
EDGES = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.4e-45, -1e-39, 2.0**-126, 1e-8,
     0.5, 1.5, 2.5, -0.5, -2.5, 3.5, 127.5, 128.5, 254.5, 255.5, 300.0,
     32767.5, 65504.0, 65535.5, 65520.0, 240.0, 248.0, 448.0, 464.0, 465.0,
     57344.0, 61440.0, 2.0**24, 2.0**24 + 2, 2.0**31, 2.0**32, -3e9,
     3.4028235e38, -3.4028235e38, 3.3895314e38, 2.0**-10, 2.0**-9, 2.0**-17],
    F32,
)


class Draw:
    """Random choices for one case: partitions, free shape, tiles, values."""

    def __init__(
        self, rng: np.random.Generator, gen: int, most: int = 4,
        least: int = 1,
    ) -> None:
        self.rng, self.gen, self.target = rng, gen, TARGET[gen]
        high = int(rng.choice([8, 8, 8, 32, 64, 128]))
        self.p = int(rng.integers(1, high + 1))
        self.free = self._free(most, least)

    def _free(self, most: int, least: int) -> Shape:
        """Up to `most` free dims, usually at most 64 elements."""
        rank = int(self.rng.integers(1, most + 1))
        size = 300 if self.chance(0.05) else 64
        while True:
            high = max(2, round(size ** (1 / rank) * 1.5))
            free = tuple(int(n) for n in self.rng.integers(1, high + 1, rank))
            if least <= np.prod(free) <= size:
                return free

    @property
    def shape(self) -> Shape:
        return (self.p, *self.free)

    @property
    def f(self) -> int:
        return int(np.prod(self.free))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def start(self, p: int | None = None) -> int:
        """A legal start partition (the quadrant rule of isa_vocab.json)."""
        p = self.p if p is None else p
        if p > 64:
            return 0
        return int(self.one((0, 64) if p > 32 else (0, 0, 32, 64, 96)))

    def space(self) -> str:
        return "psum" if self.chance(0.35) else "sbuf"

    def apart(self, names: Sequence[str]) -> dict[str, str]:
        """Spaces of operands that may not all be in PSUM."""
        spaces = {name: self.space() for name in names}
        if all(s == "psum" for s in spaces.values()):
            spaces[self.one(names)] = "sbuf"
        return spaces

    def other_shape(self) -> Shape:
        """Mostly the shape; else as many elements in other free dims."""
        if self.chance(0.85):
            return self.shape
        halves = [n for n in (2, 3, 4) if self.f % n == 0]
        if halves and self.chance(0.5):
            n = self.one(halves)
            return (self.p, n, self.f // n)
        return (self.p, self.f)

    # Tiles.

    def operand(
        self, dtype: str, space: str = "sbuf", shape: Shape | None = None,
        values: Array | None = None, out: bool = False, start: int | None = None,
        plain: bool = False, **limits: Any,
    ) -> OperandSpec:
        """A view in a tile full of guards, with values in it.

        values: exactly these, which a broadcast view would not hold. plain:
        no view of many dims. limits: see fill().
        """
        shape = self.shape if shape is None else shape
        start = self.start(shape[0]) if start is None else start
        writable = out or values is not None
        plain = plain or int(np.prod(shape[1:])) > 1000  # steps would overflow
        tile, steps = self._place(shape, start, writable, plain)
        row = int(np.prod(tile[1:])) * carrier(dtype).itemsize
        backing = ref.samples(dtype, tile, int(self.rng.integers(1 << 30)))
        space = "sbuf" if row > 2048 else space
        spec = OperandSpec(Tile(backing, dtype, space), steps, start)
        if values is None:
            values = self.fill(dtype, shape, **limits)
        if not out or limits or values is not None:
            spec.put(backing, values.astype(backing.dtype, copy=False))
        return spec

    def _place(
        self, shape: Shape, start: int, writable: bool, plain: bool
    ) -> tuple[Shape, tuple[Step, ...]]:
        if plain:
            lanes = slice(start, start + shape[0])
            return (start + shape[0], *shape[1:]), (Index((lanes,)),)
        return layout(self.rng, shape, start, writable)

    def out(self, dtype: str, space: str | None = None,
            shape: Shape | None = None, **kw: Any) -> OperandSpec:
        """An output, of any space unless given."""
        space = self.space() if space is None else space
        shape = self.other_shape() if shape is None else shape
        return self.operand(dtype, space, shape, out=True, **kw)

    def per_partition(
        self, dtype: str = "float32", space: str | None = None, **limits: Any
    ) -> OperandSpec:
        """(P, 1)."""
        space = self.space() if space is None else space
        return self.operand(dtype, space, (self.p, 1), **limits)

    def number(self) -> float:
        """An immediate that fp32 holds."""
        if self.chance(0.3):
            return float(self.one((0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 16777216.0,
                                   1e-40, -65504.0, 3e38)))
        return float(F32(self.rng.standard_normal() * 3))

    def scalar(
        self, case: Case, name: str, space: str | None = None, **limits: Any
    ) -> None:
        """A number or a float32 tile, into the case."""
        if self.chance(0.5):
            case.attributes[name] = self.number()
        else:
            case.operands[name] = self.per_partition(space=space, **limits)

    # Values.

    def fill(
        self, dtype: str, shape: Shape, nan: bool = True, inf: bool = True,
        edges: float | None = None, size: float = 4.0,
    ) -> Array:
        """Values of everyday size, in some cases mixed with edges."""
        if edges is None:
            edges = self.one((0.0, 0.0, 0.25, 0.5))
        kind = carrier(dtype)
        if dtype in PACKED or dtype == "float8_e8m0fnu":
            return ref.samples(dtype, shape, int(self.rng.integers(1 << 30)))
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        rare = self.rng.random(shape) < edges
        if dtype in INTS:
            return np.where(rare, self._whole(dtype, shape, True),
                            self._whole(dtype, shape, False)).astype(kind)
        x = (self.rng.standard_normal(shape) * size).astype(F32)
        x = np.where(rare, self.rng.choice(EDGES, shape), x)
        y = cast(x, dtype)
        if dtype == "tfloat32" and self.chance(0.3):
            y = x  # bits below the 10 of its mantissa
        if not nan:
            y = np.where(np.isnan(y), kind.type(1), y)
        if not inf:
            y = np.where(np.isinf(y), kind.type(2), y)
        return y.astype(kind)

    def _whole(self, dtype: str, shape: Shape, wild: bool) -> Array:
        low, high = INTS[dtype]
        if not wild:
            return self.rng.integers(max(low, -50), min(high, 50), shape)
        x = self.rng.integers(low, high + 1, shape)
        near = [low, high, 0, 1, high // 2, min(high, 2**24 + 1)]
        return np.where(self.rng.random(shape) < 0.5,
                        self.rng.choice(near, shape), x)

    def case(self, operation: str, **operands: OperandSpec) -> Case:
        return Case(operation, self.target, dict(operands))

    def in_place(self, case: Case, source: str) -> Case:
        """Sometimes dst is the very view that is read."""
        dst, src = case.operands["dst"], case.operands[source]
        assert isinstance(dst, OperandSpec) and isinstance(src, OperandSpec)
        where = src.where()
        once = len(np.unique(where)) == where.size
        if dst.tile.dtype == src.tile.dtype and once and self.chance(0.3):
            case.operands["dst"] = src
        return case


# Operations of the ALU (isa_vocab.json).


def binary_ops(gen: int) -> list[str]:
    return [*ref.BINARY, *(ref.GEN4_BINARY if gen >= 4 else ())]


def any_ops(gen: int, first: bool = True) -> list[str]:
    """abs_max, abs_min, square and relu as op0 are trn3 only."""
    unary = [*ref.UNARY]
    if gen >= 4 or not first:
        unary += ref.GEN4_UNARY
    return binary_ops(gen) + unary


def unary(op: str | None) -> bool:
    return op in ref.UNARY or op in ref.GEN4_UNARY or op == "invert"


def dtypes(d: Draw, count: int, of: Sequence[str] = ANY) -> list[str]:
    """Often one dtype for all, float32 more often than others."""
    first = "float32" if d.chance(0.25) and "float32" in of else d.one(of)
    return [first if d.chance(0.4) else d.one(of) for _ in range(count)]


def _integers(d: Draw, count: int) -> list[str]:
    """Integer dtypes of one width."""
    width = d.one(("int8", "int16", "int32"))
    return [d.one((width, "u" + width)) for _ in range(count)]


# Elementwise.


def tensor_tensor(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    kind = d.one(("arith", "arith", "arith", "bitvec", "native", "power"))
    if kind == "bitvec":
        return _tensor_bitvec(d)
    if kind == "native":
        return _tensor_native(d)
    engine = "gpsimd" if kind == "power" else d.one(
        (None, None, "vector", "gpsimd"))
    spaces = {"data1": "sbuf", "data2": "sbuf"}
    if engine != "gpsimd":
        spaces = d.apart(("data1", "data2"))
    dst, one, two = dtypes(d, 3)
    if kind == "arith" and {dst, one, two} <= {"int32", "uint32"}:
        engine = "vector"
    case = d.case(
        "tensor_tensor",
        dst=d.out(dst, "sbuf" if engine == "gpsimd" else None),
        data1=d.operand(one, spaces["data1"]),
        data2=d.operand(two, spaces["data2"], d.other_shape()),
    )
    op = "power" if kind == "power" else d.one(binary_ops(gen))
    case.attributes = {"op": op}
    if engine:
        case.attributes["engine"] = engine
    return d.in_place(case, "data1")


def _tensor_bitvec(d: Draw) -> Case:
    op = d.one(list(ref.BITWISE))
    dst, one, two = _integers(d, 3)
    spaces = d.apart(("data1", "data2"))
    amounts = None
    if "shift" in op:
        bits = 8 * carrier(two).itemsize
        amounts = d.rng.integers(0, bits + 8, d.shape).astype(two)
    case = d.case(
        "tensor_tensor",
        dst=d.out(dst),
        data1=d.operand(one, spaces["data1"], edges=0.7),
        data2=d.operand(two, spaces["data2"], values=amounts, edges=0.7),
    )
    case.attributes = {"op": op, "engine": "vector"}
    return case


def _tensor_native(d: Draw) -> Case:
    """All int32 or uint32 in SBUF: gpsimd, exact."""
    op = d.one(list(ref.BINARY))
    one, two, dst = (d.one(("int32", "uint32")) for _ in range(3))
    if op not in ("add", "subtract", "multiply"):
        two = dst = one
    case = d.case(
        "tensor_tensor",
        dst=d.out(dst, "sbuf"),
        data1=d.operand(one, edges=0.7),
        data2=d.operand(two, edges=0.7),
    )
    case.attributes = {"op": op}
    if d.chance(0.5):
        case.attributes["engine"] = "gpsimd"
    return case


def tensor_scalar(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    if d.chance(0.2):
        return _scalar_bitvec(d)
    op0 = d.one(any_ops(gen))
    op1 = d.one(any_ops(gen, first=False)) if d.chance(0.6) else None
    engine = d.one((None, None, "vector"))
    if gen >= 3 and d.chance(0.15):
        op0, op1 = d.one((("multiply", "add"), ("multiply", None),
                          ("add", None)))
        engine = "scalar"
    if op0 == "rsqrt" and d.chance(0.5):
        engine = "gpsimd"
    only = "sbuf" if engine == "gpsimd" else None
    dst, data = dtypes(d, 2)
    case = d.case(
        "tensor_scalar",
        dst=d.out(dst, only),
        data=d.operand(data, only or d.space()),
    )
    case.attributes = {"op0": op0}
    if engine:
        case.attributes["engine"] = engine
    _scalar_operands(d, case, op0, op1, only)
    return d.in_place(case, "data")


def _scalar_operands(
    d: Draw, case: Case, op0: str, op1: str | None, only: str | None
) -> None:
    """operand0, op1 and operand1, and whether they are reversed."""
    if unary(op0):
        case.attributes["operand0"] = d.one((None, 0.0))
    else:
        d.scalar(case, "operand0", only)
        case.attributes["reverse0"] = d.chance(0.3)
    if op1 is None:
        return
    case.attributes["op1"] = op1
    if not unary(op1):
        d.scalar(case, "operand1", only)
        case.attributes["reverse1"] = d.chance(0.3)


def _scalar_bitvec(d: Draw) -> Case:
    """Operands are integers of data's dtype; amounts are never negative."""
    dst, data = _integers(d, 2)
    case = d.case("tensor_scalar", dst=d.out(dst),
                  data=d.operand(data, d.space(), edges=0.7))
    case.attributes = {"engine": "vector"}
    ops = [d.one([*ref.BITWISE, "invert"]) for _ in range(d.one((1, 2)))]
    if d.chance(0.25):  # bits that leave the element must not come back
        ops = [d.one(("left_shift", "invert")), "right_shift"]
    for i, op in enumerate(ops):
        case.attributes[f"op{i}"] = op
        if op == "invert":
            case.attributes[f"operand{i}"] = 0 if i else d.one((None, 0))
            continue
        low, high = INTS[data]
        if "shift" in op:
            low, high = 0, 8 * carrier(data).itemsize + 7
        shape = (d.p, 1) if d.chance(0.5) else ()
        value = d.rng.integers(low, high + 1, shape)
        if shape:
            case.operands[f"operand{i}"] = d.operand(
                data, d.space(), shape, values=value.astype(data))
        else:
            case.attributes[f"operand{i}"] = int(value)
        if "shift" not in op:
            case.attributes[f"reverse{i}"] = d.chance(0.3)
    return case


def scalar_tensor_tensor(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    spaces = d.apart(("data", "operand1"))
    dst, data, one, zero = dtypes(d, 4)
    case = d.case(
        "scalar_tensor_tensor",
        dst=d.out(dst),
        data=d.operand(data, spaces["data"]),
        operand1=d.operand(one, spaces["operand1"]),
    )
    op0, op1 = d.one(any_ops(gen)), d.one(binary_ops(gen))
    case.attributes = {"op0": op0, "op1": op1, "reverse1": d.chance(0.3)}
    if unary(op0):
        case.attributes["operand0"] = 0.0
    else:
        case.attributes["reverse0"] = d.chance(0.3)
        if d.chance(0.5):
            case.attributes["operand0"] = d.number()
        else:
            case.operands["operand0"] = d.per_partition(zero)
    return d.in_place(case, "data")


def tensor_copy(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    engine = d.one((None, "vector", "gpsimd", "scalar"))
    same = d.chance(0.5)
    if same:
        src = dst = d.one(ANY if engine in (None, "scalar") and gen == 2
                          else ANYX)
    else:
        src, dst = d.one((*ANY, "float8_e8m0fnu")), d.one(ANY)
        same = src == dst
    if gen == 2 and engine is None and same:
        engine = "vector"  # the scalar engine would go through fp32
    only = "sbuf" if engine == "gpsimd" else None
    case = d.case("tensor_copy", dst=d.out(dst, only),
                  src=d.operand(src, only or d.space()))
    case.attributes = {"engine": engine} if engine else {}
    if same and not (gen == 2 and engine == "scalar"):
        case.tolerance = "bits"
    return case


def tensor_copy_predicated(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    dtype = d.one(ANY)
    spaces = d.apart(("src", "predicate"))
    mask = d.one(("uint8", "uint16", "uint32"))
    truth = d.rng.integers(0, 2, d.shape)
    if d.chance(0.3):
        truth *= d.rng.integers(1, INTS[mask][1], d.shape)
    case = d.case("tensor_copy_predicated", dst=d.out(dtype))
    case.operands["predicate"] = d.operand(
        mask, spaces["predicate"], values=truth.astype(mask))
    if d.chance(0.7):
        case.operands["src"] = d.operand(dtype, spaces["src"])
        case.tolerance = "bits"
    else:
        case.attributes["src"] = _value_of(d, dtype)
    case.attributes["reverse_pred"] = d.chance(0.5)
    return case


def _value_of(d: Draw, dtype: str) -> float | int | bool:
    """A number that the dtype holds exactly."""
    value = d.fill(dtype, (1,), nan=False)[0]
    if dtype in INTS:
        return int(value)
    return bool(value) if dtype == "bool" else float(ref.widen(
        np.array([value]), dtype)[0])


def reciprocal(rng: np.random.Generator, gen: int) -> Case:
    """1/0 and 1/subnormal are unstated."""
    d = Draw(rng, gen)
    dst, data = dtypes(d, 2)
    values = d.fill(data, d.shape)
    small = np.abs(ref.widen(values, data)) < F32(2.0**-126)
    values = np.where(small, carrier(data).type(1), values)
    case = d.case("reciprocal", dst=d.out(dst),
                  data=d.operand(data, d.space(), values=values))
    return d.in_place(case, "data")


def memset(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    dtype = d.one(ANYX)
    engine = d.one((None, "vector", "gpsimd"))
    case = d.case("memset", dst=d.out(dtype, "sbuf" if engine == "gpsimd"
                                      else None))
    if dtype in PACKED:
        value: float = 0
    elif dtype == "float8_e8m0fnu":
        value = 2.0 ** int(d.rng.integers(-60, 60))
    else:
        value = _value_of(d, dtype)
    case.attributes = {"value": value}
    if engine:
        case.attributes["engine"] = engine
    return case


# Reductions and scans.

REDUCE = ("add", "subtract", "multiply", "maximum", "minimum", "logical_and",
          "logical_or", "logical_xor")


def tensor_reduce(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    bits = d.chance(0.2)
    op = d.one(("bitwise_and", "bitwise_or", "bitwise_xor") if bits else REDUCE)
    dst, data = _integers(d, 2) if bits else dtypes(d, 2)
    rank = len(d.shape)
    count = int(d.rng.integers(1, rank))
    axes = tuple(range(rank - count, rank))
    keepdims = d.chance(0.3)
    shape = d.shape[: rank - count] + ((1,) * count if keepdims else ())
    if len(shape) == 1:
        shape = (d.p, 1)
    case = d.case("tensor_reduce", dst=d.out(dst, shape=shape),
                  data=d.operand(data, d.space(), edges=0.7 if bits else None))
    axis: Any = axes[0] if count == 1 and d.chance(0.5) else axes
    case.attributes = {"op": op, "axis": axis, "keepdims": keepdims}
    if not bits and d.chance(0.3):
        case.attributes["negate"] = True
    return case


def tensor_tensor_scan(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    spaces = d.apart(("data0", "data1"))
    dst, zero, one = dtypes(d, 3)
    case = d.case(
        "tensor_tensor_scan",
        dst=d.out(dst),
        data0=d.operand(zero, spaces["data0"]),
        data1=d.operand(one, spaces["data1"]),
    )
    case.attributes = {
        "op0": d.one(binary_ops(gen)), "op1": d.one(binary_ops(gen)),
        "reverse0": d.chance(0.3), "reverse1": d.chance(0.3),
    }
    d.scalar(case, "initial")
    return case


def _tsr_step(d: Draw, command: str) -> Case:
    dst, data = dtypes(d, 2)
    case = d.case("tensor_scalar_reduce", dst=d.out(dst),
                  data=d.operand(data, d.space()))
    op0 = d.one(any_ops(d.gen))
    case.attributes = {
        "op0": op0, "reduce_op": d.one(("add", "multiply", "maximum",
                                        "minimum")),
    }
    if command != "reset_reduce" or d.chance(0.5):
        case.attributes["reduce_cmd"] = command
    if unary(op0):
        case.attributes["operand0"] = d.one((None, 0.0))
    else:
        d.scalar(case, "operand0")
    if command == "load_reduce":
        d.scalar(case, "reduce_init")
    _result(d, case)
    return case


def _result(d: Draw, case: Case, of: Sequence[str] = FP) -> None:
    """Sometimes reduce_res."""
    if d.chance(0.8):
        case.operands["reduce_res"] = d.out(d.one(of), shape=(d.p, 1))
        case.outputs = ("dst", "reduce_res")


def _sequence(
    d: Draw, step: Callable[[Draw, str], Case], commands: Sequence[str]
) -> Case:
    """A step; one that goes on from the accumulators has others before it."""
    command = d.one(commands)
    case = step(d, command)
    if command in ("reduce", "idle") and "reduce" in commands:
        fresh = [c for c in commands if c not in ("reduce", "idle", "reset")]
        reads = command == "reduce" or "reduce_res" in case.operands
        if reads:
            case.prelude = [step(d, d.one(fresh))]
            if d.chance(0.3):
                case.prelude.append(step(d, "reduce"))
    return case


def tensor_scalar_reduce(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    return _sequence(d, _tsr_step, ("reset_reduce", "reduce", "load_reduce"))


CUMULATIVE = ("bfloat16", "float16", "float32", "float8_e4m3", "float8_e5m2",
              "uint8", "uint16", "int8", "int16")


def _tsc_step(d: Draw, command: str) -> Case:
    dst, src = dtypes(d, 2, CUMULATIVE)
    case = d.case("tensor_scalar_cumulative", dst=d.out(dst),
                  src=d.operand(src, d.space()))
    op0 = d.one(binary_ops(d.gen))
    op1 = d.one(("add", "subtract", "multiply", "maximum", "minimum"))
    case.attributes = {"op0": op0, "op1": op1}
    if command != "reset_reduce" or d.chance(0.5):
        case.attributes["reduce_cmd"] = command
    d.scalar(case, "imm0")
    if command == "load_reduce":
        d.scalar(case, "imm1")
    return case


def tensor_scalar_cumulative(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    return _sequence(d, _tsc_step, ("reset_reduce", "reduce", "load_reduce"))


EXP_OUT = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32",
           "tfloat32", "int8", "int16", "int32", "uint8", "uint16")
EXP_IN = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32",
          "int8", "int16", "int32", "uint8", "uint16", "uint32")
EXP_SUM = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32",
           "tfloat32")


def _exp_step(d: Draw, command: str) -> Case:
    case = d.case("exponential", dst=d.out(d.one(EXP_OUT), shape=d.shape),
                  src=d.operand(d.one(EXP_IN), d.space()))
    if command != "idle" or d.chance(0.5):
        case.attributes["reduce_cmd"] = command
    if d.chance(0.8):
        d.scalar(case, "max_value")
    if command == "load_reduce":
        d.scalar(case, "reduce_init")
    if command != "idle":
        _result(d, case, EXP_SUM)
    return case


def exponential(rng: np.random.Generator, gen: int) -> Case:
    """trn3 only. Idle leaves the accumulators unknown: nobody reads them."""
    d = Draw(rng, gen, most=3)
    commands = ("idle", "reset_reduce", "reduce", "load_reduce")
    return _sequence(d, _exp_step, commands)


# Selection.

COMPARE = ("equal", "less", "less_equal", "greater", "greater_equal")


def _range_step(d: Draw, command: str) -> Case:
    dst, data = dtypes(d, 2, FP)
    first = int(d.one((0, 0, 3, 100, 2**24 - d.f)))
    case = d.case("range_select", dst=d.out(dst),
                  on_true_tile=d.operand(data, d.space()))
    for i in (0, 1):
        bound = first + d.rng.integers(-2, d.f + 2, (d.p, 1)).astype(F32)
        bound += d.rng.choice([0, 0, 0.5], (d.p, 1)).astype(F32)
        case.operands[f"bound{i}"] = d.operand(
            "float32", d.space(), (d.p, 1), values=bound.astype(F32))
        case.attributes[f"comp_op{i}"] = d.one(COMPARE)
    if first or d.chance(0.3):
        case.attributes["range_start"] = first
    if d.chance(0.3):
        case.attributes["on_false_value"] = float(FP32_MIN)
    if command != "reset_reduce" or d.chance(0.5):
        case.attributes["reduce_cmd"] = command
    _result(d, case)
    return case


def range_select(rng: np.random.Generator, gen: int) -> Case:
    """trn2 and later."""
    d = Draw(rng, gen)
    return _sequence(d, _range_step, ("reset_reduce", "reset_reduce",
                                      "reduce"))


SELECT = tuple(t for t in ANY if t not in ("tfloat32", "int32", "uint32"))


def _select_step(d: Draw, command: str) -> Case:
    spaces = d.apart(("on_true", "predicate"))
    mask = d.one(("int8", "uint8", "int16", "uint16"))
    truth = d.rng.integers(0, 2, d.shape)
    if d.chance(0.3):
        truth *= d.rng.integers(1, INTS[mask][1], d.shape)
    case = d.case(
        "select_reduce",
        dst=d.out(d.one(ANY)),
        on_true=d.operand(d.one(SELECT), spaces["on_true"]),
        predicate=d.operand(mask, spaces["predicate"],
                            values=truth.astype(mask)),
    )
    d.scalar(case, "on_false")
    case.attributes["reverse_pred"] = d.chance(0.5)
    if command != "idle":
        case.attributes["reduce_cmd"] = command
        _result(d, case)
    return case


def select_reduce(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen)
    return _sequence(d, _select_step, ("idle", "reset_reduce", "reduce"))


# Statistics.


def bn_stats(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen, most=1)
    if d.chance(0.05):
        d.p, d.free = min(d.p, 4), (int(rng.integers(500, 513)),)
    dst = d.one(("float32", "float32", *FP))
    return d.case(
        "bn_stats", dst=d.out(dst, shape=(d.p, 6)),
        data=d.operand(d.one(ANY), d.space(), nan=False, inf=False, edges=0),
    )


def bn_aggr(rng: np.random.Generator, gen: int) -> Case:
    d = Draw(rng, gen, most=1)
    triples = int(rng.integers(1, 20))
    shape = (d.p, triples, 3)
    data = np.abs(rng.standard_normal(shape) * 4)
    data[..., 0] = rng.integers(0, 256, shape[:2])
    data[..., 1] *= rng.choice([-1, 1], shape[:2])
    data[:, 0, 0] += 1
    if d.chance(0.1):
        data[..., 0] = 0  # NaN: numerics.md 15.18
    dtype = d.one(("float32", "float32", "bfloat16", "float16"))
    values = cast(data.astype(F32), dtype).reshape(d.p, -1)
    return d.case(
        "bn_aggr", dst=d.out(d.one(("float32", "float32", *FP)),
                             shape=(d.p, 2)),
        data=d.operand(dtype, d.space(), values.shape, values=values),
    )


# The eight largest.


def _row(d: Draw, dtype: str, few: bool) -> Array:
    """Numbers without NaN or -0; few: with many duplicates."""
    x = d.fill(dtype, d.shape, nan=False)
    if few:
        x = d.fill(dtype, d.shape, nan=False, size=1, edges=0)
        if dtype not in INTS and dtype != "bool":
            x = cast(np.rint(ref.widen(x, dtype)), dtype)
    return np.where(x == 0, carrier(dtype).type(0), x)


def _wide_row(rng: np.random.Generator, gen: int) -> Draw:
    d = Draw(rng, gen, most=2, least=8)
    if d.chance(0.03):
        d.p, d.free = min(d.p, 2), (int(d.one((2000, 16384))),)
    return d


def max8(rng: np.random.Generator, gen: int) -> Case:
    d = _wide_row(rng, gen)
    dst, src = dtypes(d, 2)
    values = _row(d, src, d.chance(0.5))
    return d.case("max8", dst=d.out(dst, shape=(d.p, 8)),
                  src=d.operand(src, d.space(), values=values))


def _present(d: Draw, data: Array) -> Array:
    """Eight elements of each row, no element twice."""
    flat = data.reshape(d.p, -1)
    at = np.argsort(d.rng.random(flat.shape), 1)[:, :8]
    return np.take_along_axis(flat, at, 1)


def nc_find_index8(rng: np.random.Generator, gen: int) -> Case:
    """Values occur as often in data as in vals, or not at all."""
    d = _wide_row(rng, gen)
    dtype = d.one(ANY)
    data = _row(d, dtype, d.chance(0.5))
    vals, kind = ref.widen(_present(d, data), dtype), dtype
    if d.chance(0.4):
        kind = "float32"
        absent = (rng.random(vals.shape) < 0.3)
        own = 1000.3 + np.arange(8, dtype=F32)
        vals = np.where(absent, own.astype(F32), vals)
    vals = vals if kind == "float32" else vals.astype(carrier(kind))
    if kind != "float32":
        vals = _present(d, data)
    return d.case(
        "nc_find_index8",
        dst=d.out(d.one(("uint16", "uint32")), shape=(d.p, 8)),
        data=d.operand(dtype, d.space(), values=data),
        vals=d.operand(kind, d.space(), (d.p, 8), values=vals),
    )


def nc_match_replace8(rng: np.random.Generator, gen: int) -> Case:
    """imm is none of vals; with dst_idx every value is in data."""
    d = _wide_row(rng, gen)
    dst, dtype = dtypes(d, 2)
    data = _row(d, dtype, d.chance(0.5))
    case = d.case(
        "nc_match_replace8", dst=d.out(dst),
        data=d.operand(dtype, d.space(), values=data),
    )
    vals, kind = _present(d, data), dtype
    if d.chance(0.5):
        case.operands["dst_idx"] = d.out("uint32", shape=(d.p, 8))
        case.outputs = ("dst", "dst_idx")
    elif d.chance(0.5):
        kind = "float32"
        vals = np.where(rng.random(vals.shape) < 0.3, F32(1000.3),
                        ref.widen(vals, dtype))
    case.operands["vals"] = d.operand(kind, d.space(), (d.p, 8), values=vals)
    imm = float(F32(d.one((-99999.5, float(FP32_MIN), -1234.5))))
    case.attributes["imm"] = imm
    return case


def nc_stream_shuffle(rng: np.random.Generator, gen: int) -> Case:
    """Every source lane lies in the source view."""
    d = Draw(rng, gen)
    dtype = d.one(ANY)
    p_dst = d.p
    last = (p_dst - 1) // 32  # the quadrant with the fewest source lanes
    whole = min(128, 32 * (last + 1))
    p_src = int(rng.integers(32 * last + 1, whole + 1))
    quadrants = last + 1
    starts = {1: (0, 32, 64, 96), 2: (0, 64)}.get(quadrants, (0,))
    mask = rng.integers(0, p_src - 32 * last, 32)
    mask = np.where(rng.random(32) < 0.2, 255, mask)

    def tile(p: int, out: bool) -> OperandSpec:
        legal = [s for s in starts if s + p <= 128]
        return d.operand(dtype, d.space(), (p, *d.free), out=out,
                         start=d.one(legal))

    case = d.case("nc_stream_shuffle", dst=tile(p_dst, True),
                  src=tile(p_src, False))
    if p_dst == p_src and d.chance(0.2):
        case.operands["src"] = case.operands["dst"]
    case.attributes["shuffle_mask"] = [int(m) for m in mask]
    case.tolerance = "bits"
    return case


GENERATORS = {
    f.__name__: f
    for f in (
        tensor_tensor, tensor_scalar, scalar_tensor_tensor, tensor_copy,
        tensor_copy_predicated, reciprocal, memset, tensor_reduce,
        tensor_tensor_scan, tensor_scalar_reduce, tensor_scalar_cumulative,
        exponential, range_select, select_reduce, bn_stats, bn_aggr, max8,
        nc_find_index8, nc_match_replace8, nc_stream_shuffle,
    )
}
