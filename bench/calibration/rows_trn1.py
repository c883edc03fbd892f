"""trn1: the documented formulas of spec/timing.md 1.1 and the spot measurements
of 1.5; trn3: documented rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import row_probes as p
from rows_trn2 import Row

T = "trn1"
DVE, ACT, POOL, PE = 1.12, 1.4, 1.4, 2.8  # GHz
EXACT = 1e-4  # percent


def formula_rows(full: bool) -> Iterator[Row]:
    f, h = "float32", "bfloat16"
    ns = [1, 32, 64, 65, 512, 2000] if full else [1, 512]

    def row(op: str, name: str, cycles: Callable[[int], float], ghz: float,
            probe: Callable[[int], object], at: list[int] = ns) -> Row:
        return Row("1.1", op, name, lambda n: cycles(n) / ghz,
                   lambda n: p.interval(T, probe(n), first=2, more=4), at,
                   EXACT, "DOC")

    def n64(n: float) -> float:
        return max(64, n)

    yield row("activation", "activation: max(64, N)", n64, ACT,
              lambda n: p.activate("copy", n))
    yield row("activation", "activation_reduce: max(64, N) + 64",
              lambda n: n64(n) + 64, ACT, lambda n: p.accumulating(n))
    yield row("tensor_scalar", "tensor_scalar: max(64, N)", n64, DVE, p.scalar)
    yield row("tensor_tensor", "tensor_tensor fp32: max(64, 2N)",
              lambda n: n64(2 * n), DVE, lambda n: p.binary(n, (f, f, f)))
    yield row("tensor_tensor", "tensor_tensor PSUM + SBUF: max(64, N)", n64,
              DVE, lambda n: p.binary(n, (f, f, f), ("psum", "sbuf")))
    yield row("tensor_tensor", "tensor_tensor bf16 add: max(64, N)", n64, DVE,
              lambda n: p.binary(n, (h, h, h)))
    yield row("tensor_tensor", "tensor_tensor bf16 max: max(64, 2N)",
              lambda n: n64(2 * n), DVE,
              lambda n: p.binary(n, (h, h, h), op="maximum"))
    yield row("scalar_tensor_tensor", "scalar_tensor_tensor: N, N even",
              lambda n: n, DVE, lambda n: p.two_steps(n, h), [64, 512])
    yield row("scalar_tensor_tensor", "scalar_tensor_tensor: 2N, N odd",
              lambda n: 2 * n, DVE, lambda n: p.two_steps(n, h), [65, 511])
    yield row("scalar_tensor_tensor", "scalar_tensor_tensor fp32: 2N",
              lambda n: 2 * n, DVE, lambda n: p.two_steps(n, f), [64, 512])
    yield row("tensor_tensor_scan", "tensor_tensor_scan: max(64, 2N)",
              lambda n: n64(2 * n), DVE, p.scan)
    yield row("tensor_reduce", "tensor_reduce bf16 add: N / 2", lambda n: n / 2,
              DVE, lambda n: p.reduce(n, h, h), [128, 2000])
    yield row("tensor_reduce", "tensor_reduce fp32: N", lambda n: n, DVE,
              p.reduce, [64, 2000])
    for engine, ghz in (("vector", DVE), ("scalar", ACT), ("gpsimd", POOL)):
        yield row("tensor_copy", f"tensor_copy {engine}: max(64, N)", n64, ghz,
                  lambda n, e=engine: p.copy(n, f, f, e))
    yield row("tensor_copy_predicated", "predicated, SBUF: max(64, 2N)",
              lambda n: n64(2 * n), DVE, p.predicated)
    yield row("tensor_copy_predicated", "predicated, PSUM + SBUF: max(64, N)",
              n64, DVE, lambda n: p.predicated(n, "psum"))
    yield row("reciprocal", "reciprocal: max(64, 8N)", lambda n: n64(8 * n),
              DVE, p.reciprocal)
    yield row("bn_stats", "bn_stats: max(64, N)", n64, DVE, p.bn_stats,
              [1, 64, 512])
    yield row("bn_aggr", "bn_aggr: max(64, 13 N / 3)",
              lambda n: n64(13 * n / 3), DVE, p.bn_aggr, [6, 60, 600])
    yield row("memset", "memset: max(64, N)", n64, DVE, p.memset)
    yield row("memset", "memset bf16 zero: max(64, N / 2)",
              lambda n: n64(n / 2), DVE, lambda n: p.memset(n, h, 0.0))
    yield row("max8", "max8: N", lambda n: n, DVE, p.max8, [64, 2000])
    yield row("nc_stream_shuffle", "stream_shuffle: max(64, N)", n64, DVE,
              lambda n: p.shuffle(n, f))
    yield row("nc_transpose", "nc_transpose DVE: max(64, N)", n64, DVE,
              lambda n: p.vector_transpose(), [32])
    yield row("affine_select", "affine_select: 150 + N", lambda n: 150 + n,
              POOL, p.affine_select)
    yield row("iota", "iota: 150 + N", lambda n: 150 + n, POOL, p.iota)
    yield from array_rows(row)


def array_rows(row: Callable[..., Row]) -> Iterator[Row]:
    for dtype, k in (("bfloat16", 1), ("float32", 4)):
        for stationary in (32, 128):
            yield row("nc_matmul", f"nc_matmul {dtype}, {stationary} columns: "
                      f"{k} x max(min(64, Nstat), Nmov)",
                      lambda n, k=k, s=stationary: k * max(min(64, s), n), PE,
                      lambda n, d=dtype, s=stationary: p.matmul(n, d, n=s),
                      [1, 48, 64, 512])


def spot_rows() -> Iterator[Row]:
    def row(op: str, name: str, ns: float, simulated: Callable[[], float],
            section: str = "1.5", status: str = "PIX",
            unit: str = "ns") -> Row:
        return Row(section, op, name, lambda n: ns, lambda n: simulated(), [1],
                   10, status, unit=unit)

    f, h = "float32", "bfloat16"
    yield row("activation", "ACTIVATE fp32, 1 element", 159,
              lambda: p.completion(T, p.activate("copy", 1)))
    yield row("tensor_tensor", "TENSOR_TENSOR fp32, N = 8192", 14987,
              lambda: p.completion(T, p.binary(8192, (f, f, f))))
    for columns, ns in ((1, 188), (96, 219)):
        yield row("nc_matmul", f"MATMUL bf16 N = 128, {columns} columns", ns,
                  lambda c=columns: p.multiply_alone(T, p.matmul(128, h, n=c)))
    yield row("nc_transpose", "PE transpose 128 x 128", 195,
              lambda: p.multiply_alone(T, p.matmul(128, h)))
    yield row("activation", "ACT_TABLE_LOAD", 368, lambda: p.table_load(T))
    yield row("dma_copy", "32 KiB on one engine", 1810,
              lambda: p.engine_time(T, p.dma(32768, partitions=1)))
    yield row("dma_copy", "4 B on one engine", 7,
              lambda: p.engine_time(T, p.dma(4, partitions=1)))
    yield row("dma_copy", "1 KiB rows", 103,
              lambda: 128 * 1024 / p.dma_interval(T, p.dma(1024)),
              "2.2", "DER", "B/ns")


def trn3_rows() -> Iterator[Row]:
    """Elements a cycle and lane, from slopes (2.1); derived laws."""

    def rate(make: Callable[[int], object], ghz: float) -> float:
        step = p.interval("trn3", make(4096)) - p.interval("trn3", make(2048))
        return 2048 / step / ghz

    def row(op: str, name: str, lanes: float,
            make: Callable[[int], object], ghz: float) -> Row:
        return Row("2.1", op, name, lambda n: lanes, lambda n: rate(make, ghz),
                   [1], 10, "DER", unit="/cycle")

    f, h = "float32", "bfloat16"
    yield row("tensor_copy", "trn3 DVE, 16-bit", 4,
              lambda n: p.copy(n, h, h, "vector"), 1.2)
    yield row("tensor_copy", "trn3 DVE, fp32", 2,
              lambda n: p.copy(n, f, f, "vector"), 1.2)
    yield row("tensor_copy", "trn3 ACT, 16-bit", 2,
              lambda n: p.copy(n, h, h, "scalar"), 1.2)
    yield row("activation", "trn3 ACT, fp32", 1,
              lambda n: p.activate("copy", n), 1.2)
