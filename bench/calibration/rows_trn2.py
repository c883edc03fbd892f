"""The rows of spec/timing.md 1.3, 1.4 and 2.2 for trn2, each with its probe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import row_probes as p

T = "trn2"


@dataclass
class Row:
    """One row of a source.

    measured: what the source says at size n (a law or a table). simulated: the
    same of the model. sizes: in the row's range. tolerance: 3 % for 1.3, 5 %
    for 1.4 and 2.2 where measured, 10 % where read off a picture or derived.
    contradicts: the row that it cannot be met together with; then it is listed,
    not judged.
    """

    section: str
    op: str
    name: str
    measured: Callable[[int], float]
    simulated: Callable[[int], float]
    sizes: list[int]
    tolerance: float = 3.0
    status: str = "HW"
    contradicts: str = ""
    unit: str = "ns"
    errors: dict[int, float] = field(default_factory=dict)


def sizes(low: int, high: int, all_of_them: bool = True) -> list[int]:
    """Sizes over a range: its ends, powers of two and what lies between."""
    found = {low, high}
    n = 1
    while n <= high:
        found |= {s for s in (n, n + n // 2) if low <= s <= high}
        n *= 2
    every = sorted(found)
    return every if all_of_them else sorted({low, every[len(every) // 2], high})


def law(a: float, b: float) -> Callable[[int], float]:
    return lambda n: a + b * n


class Points(dict[int, float]):
    """What a source measured, by size, where it prints no law."""

    def __call__(self, n: int) -> float:
        return self[n]


def vector_rows(full: bool) -> Iterator[Row]:
    f, h, i, u = "float32", "bfloat16", "int32", "uint8"

    def row(op: str, name: str, a: float, b: float, low: int, high: int,
            probe: Callable[[int], object]) -> Row:
        return Row("1.3", op, name, law(a, b),
                   lambda n: p.completion(T, probe(n)), sizes(low, high, full))

    def copy(src: str, dst: str, a: float, b: float, high: int,
             where: str = "sbuf") -> Row:
        return row("tensor_copy", f"tensor_copy {src}->{dst} DVE {where}", a, b,
                   1, high, lambda n: p.copy(n, src, dst, "vector", where))

    yield copy(f, f, 157.4, 0.5275, 2048)
    yield copy(h, h, 155.7, 0.269, 512)
    yield copy(f, h, 155.5, 0.522, 4096)
    yield copy(h, f, 152.7, 0.803, 512)
    yield copy(f, i, 153.5, 0.536, 512)
    yield copy(f, u, 150.2, 0.575, 512)
    for dst in (f, h, i):
        yield copy(f, dst, 158, 1.041, 512, "psum")
    yield row("tensor_tensor", "tensor_tensor fp32", 158.7, 1.0417, 128, 8192,
              lambda n: p.binary(n, (f, f, f)))
    yield row("tensor_tensor", "tensor_tensor bf16", 161.5, 0.517, 1, 512,
              lambda n: p.binary(n, (h, h, h)))
    yield row("tensor_tensor", "tensor_tensor fp32->bf16", 160.5, 1.038, 1, 512,
              lambda n: p.binary(n, (h, f, f)))
    yield row("tensor_tensor", "tensor_tensor PSUM fp32 + SBUF bf16", 149,
              1.043, 2, 512, lambda n: p.binary(n, (f, f, h), ("psum", "sbuf")))
    yield row("tensor_tensor", "tensor_tensor SBUF bf16 + PSUM fp32", 149,
              1.043, 2, 512, lambda n: p.binary(n, (f, h, f), ("sbuf", "psum")))
    yield row("tensor_scalar", "tensor_scalar fp32", 160.3, 0.5208, 128, 8192,
              p.scalar)
    for op in ("add", "maximum", "minimum"):
        yield row("tensor_reduce", f"tensor_reduce {op} fp32", 152.95, 1.0417,
                  2, 8192, lambda n, op=op: p.reduce(n, op=op))
    for op in ("add", "maximum"):
        yield row("tensor_reduce", f"tensor_reduce {op} bf16->fp32", 142.7,
                  1.044, 256, 4096, lambda n, op=op: p.reduce(n, h, op=op))
    yield row("tensor_reduce", "tensor_reduce PSUM", 156.3, 1.0424, 64, 512,
              lambda n: p.reduce(n, where="psum"))
    yield row("reciprocal", "reciprocal fp32", 153.05, 6.247, 1, 2048,
              p.reciprocal)
    yield Row("1.3", "tensor_tensor_scan", "tensor_tensor_scan fp32",
              Points({64: 291, 256: 691, 1024: 2291, 2048: 4424}),
              lambda n: p.completion(T, p.scan(n)), [64, 256, 1024, 2048])
    yield row("tensor_tensor_scan", "tensor_tensor_scan, the seed a tensor",
              217.7, 2.083, 64, 8192, lambda n: p.scan(n, True))
    yield row("memset", "memset", 58.15, 0.832, 1, 512, p.memset)
    yield row("tensor_copy_predicated", "copy-predicated fp32", 155.5, 1.109,
              64, 1024, p.predicated)
    for dtype in (h, u):
        yield row("nc_stream_shuffle", f"stream_shuffle {dtype}", 142.85, 1.045,
                  64, 512, lambda n, d=dtype: p.shuffle(n, d))
    yield Row("1.3", "nc_transpose", "stream transpose fp32: completion",
              lambda n: 233, lambda n: p.completion(T, p.vector_transpose()),
              [32])
    yield Row("1.3", "nc_transpose", "stream transpose fp32: issue",
              lambda n: 93, lambda n: p.interval(T, p.vector_transpose()), [32])
    yield Row("1.3", "nc_transpose", "stream transpose fp32: quadrant change",
              lambda n: 234, lambda n: p.interval(T, p.vector_transpose(True)),
              [32])
    yield Row("1.3", "tensor_copy", "older probe: tensor_copy bf16 'gather'",
              law(141.7, 0.714),
              lambda n: p.completion(T, p.copy(n, h, h, "vector")), [512],
              contradicts="1.3 tensor_copy bf16->bf16, 155.7 + 0.269 N")


def scalar_rows(full: bool) -> Iterator[Row]:
    f, h, i = "float32", "bfloat16", "int32"

    def copy(src: str, dst: str, a: float, b: float, high: int,
             where: str = "sbuf") -> Row:
        return Row("1.3", "tensor_copy", f"tensor_copy {src}->{dst} ACT {where}",
                   law(a, b),
                   lambda n: p.completion(T, p.copy(n, src, dst, "scalar",
                                                    where)),
                   sizes(1, high, full))

    yield Row("1.3", "tensor_copy", "tensor_copy ACT SBUF",
              Points({128: 297, 512: 617, 2048: 1897, 8192: 7017}),
              lambda n: p.completion(T, p.copy(n, f, f, "scalar")),
              [128, 512, 2048, 8192])
    for src, dst in ((f, f), (h, h), (f, h), (i, i)):
        yield copy(src, dst, 191, 0.8335, 8192)
    for dst in (f, h, i):
        yield copy(f, dst, 167, 0.836, 512, "psum")

    def act(op: str, a: float, b: float, low: int, high: int, src: str = f,
            dst: str = f, k: int = 0, note: str = "", **more: str) -> Row:
        loads = op not in ("copy", "square")
        where = more.get("where", "sbuf") + "->" + more.get("to", "sbuf")

        def simulated(n: int) -> float:
            t = p.completion(T, p.activate(op, n, src, dst, k=k, **more))
            return t - (p.table_load(T) if loads else 0)

        return Row("1.3", "activation",
                   f"activation {op} {src}->{dst} {where} k={k}{note}",
                   law(a, b), simulated, sizes(low, high, full))

    yield act("exp", 293.4, 0.8333, 1, 8192)
    yield act("sigmoid", 293.4, 0.8333, 1, 8192)
    yield act("rsqrt", 293.4, 0.8333, 1, 8192, note=" (with exp, sigmoid)")
    yield act("rsqrt", 279.1, 0.862, 1, 512, note=" (with log, sqrt)")
    yield act("exp", 295.7, 0.833, 1, 4096, h, h)
    yield act("exp", 276.1, 0.842, 1, 4096, f, h)
    yield act("log", 285.7, 0.848, 1, 512)
    yield act("sqrt", 285.7, 0.848, 1, 512)
    yield act("square", 286.2, 0.834, 1, 8192)
    for k in (0, 1, 2):
        yield act("copy", 202 + 91 * k, 0.8335, 1, 8192, k=k)
        yield act("copy", 218 + 78.5 * k, 0.8335, 1, 8192, h, h, k)
        yield act("copy", 185 + 100 * k, 0.8335, 1, 8192, f, h, k)
        yield act("copy", 162 + 95 * k, 0.869, 1, 512, k=k, where="psum")
        if k > 0:
            yield act("copy", 177 * k, 0.833, 1, 512, k=k, to="psum")
    yield act("exp", 251, 0.974, 1, 512, f, h, where="psum")
    yield act("silu", 260, 1.327, 1, 128, where="psum")
    yield Row("1.3", "activation", "ACT_TABLE_LOAD", lambda n: 1283,
              lambda n: p.table_load(T), [1])
    yield Row("1.3", "activation", "activation exp that accumulates",
              law(294.5, 0.8333),
              lambda n: p.completion(T, accumulate(n, False))
              - p.table_load(T), sizes(64, 2048, full))
    yield Row("1.3", "activation", "read-accumulator: issue",
              lambda n: 185, lambda n: read_issue(), [1])
    yield Row("1.3", "activation", "read-accumulator with 4 partitions: issue",
              lambda n: 315, lambda n: read_issue(), [1],
              contradicts="1.3 'partition count does not matter' and 185 ns")
    yield from strided_rows()


def accumulate(n: int, read: bool) -> object:
    def make(b: object) -> object:
        x, y, r = p.tile(b, n), p.tile(b, n), p.tile(b, 1)
        more = {"reduce_res": r} if read else {}
        return lambda: b.activation(  # type: ignore[attr-defined]
            dst=y, op="exp", data=x, reduce_op="add",
            reduce_cmd="reset_reduce", **more)

    return make


def read_issue() -> float:
    """The interval of an Activate that is read, less that of one that is not."""
    return (p.interval(T, accumulate(512, True))
            - p.interval(T, accumulate(512, False)))


def excess(n: int, stride: int) -> int:
    """X of 1.3: twice the 16-byte sectors that n fp32 elements touch, less n."""
    sectors = -(-((n - 1) * stride * 4 + 4) // 16)
    return max(0, 2 * min(n, sectors) - n)


def strided_rows() -> Iterator[Row]:
    n, f = 128, "float32"

    def wide(stride: int) -> int:
        return n * max(0, stride - 16)

    strides = [1, 2, 3, 4, 8, 16, 20, 24]
    yield Row("1.3", "tensor_copy", "strided read, ACT: completion (by stride)",
              lambda s: 187.7 + 0.867 * n + 0.876 * excess(n, s)
              + 0.0946 * wide(s),
              lambda s: p.completion(T, p.copy(n, f, f, "scalar", stride=s)),
              strides)
    yield Row("1.3", "tensor_copy", "strided read, ACT: back to back",
              lambda s: 1.555 * n + 0.93 * excess(n, s) + 0.0885 * wide(s),
              lambda s: p.interval(T, p.copy(n, f, f, "scalar", stride=s)),
              strides)
    yield Row("1.3", "tensor_copy", "strided write, ACT: back to back",
              lambda s: 1.555 * n + 0.23 * excess(n, s) + 0.0885 * wide(s),
              lambda s: p.interval(T, p.copy(n, f, f, "scalar",
                                             write_stride=s)), strides)


def pool_rows(full: bool) -> Iterator[Row]:
    yield Row("1.3", "affine_select", "affine_select fp32", law(176.9, 0.8458),
              lambda n: p.completion(T, p.affine_select(n)),
              sizes(64, 1024, full))

    def move() -> float:
        def emit(times: int) -> p.Emit:
            def to(b: object) -> None:
                y = p.tile(b, 1, "int32", partitions=1)
                r = b.register_alloc(1)  # type: ignore[attr-defined]
                for x in range(times):
                    b.register_move(r, x)  # type: ignore[attr-defined]
                b.register_store(y, r)  # type: ignore[attr-defined]

            return to

        return (p.time_of(T, emit(24)) - p.time_of(T, emit(8))) / 16

    yield Row("1.3", "register_move", "move of an immediate to a register",
              lambda n: 68, lambda n: move(), [1])
