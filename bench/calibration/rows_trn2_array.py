"""The rows of spec/timing.md 1.4 and 2.2 for trn2: tensor engine and DMA."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import row_probes as p
from rows_trn2 import Points, Row, T, law

WARM = 64  # matmuls after which the engine runs at full rate


def warm(make: object, **more: object) -> float:
    return p.interval(T, make, first=WARM, more=32, **more)


def tensor_rows(full: bool) -> Iterator[Row]:
    fp32 = "float32"

    def row(name: str, measured: Callable[[int], float],
            simulated: Callable[[int], float], at: list[int],
            tolerance: float = 5.0, status: str = "HW",
            contradicts: str = "") -> Row:
        return Row("1.4", "nc_matmul", name, measured, simulated, at,
                   tolerance, status, contradicts)

    ms = [128, 192, 256, 384, 512]
    yield row("fp32 steady issue", lambda m: (4 * m + 24) / 2.4,
              lambda m: warm(p.matmul(m)), ms)
    yield row("fp32 steady issue, moving stride 16 (M = 128)", lambda s: 437,
              lambda s: warm(p.matmul(128, stride=s)), [16])
    yield row("fp32 steady issue by moving stride (M = 128)",
              lambda s: (4 * 128 * (1 if s <= 2 else 2) + 24) / 2.4,
              lambda s: warm(p.matmul(128, stride=s)), [1, 2, 4, 8, 16])
    yield row("fp32 steady issue by stationary stride (M = 128)",
              lambda s: (4 * 128 * (1 if s <= 2 else 2) + 24) / 2.4,
              lambda s: warm(p.matmul(128, stationary_stride=s)),
              [1, 2, 4, 8, 16])
    yield row("alternative sector form, stride 16 (M = 128)",
              lambda s: 7.2 + 1.703 * 128 + 2.045 * 128,
              lambda s: warm(p.matmul(128, stride=s)), [16],
              contradicts="1.4 fp32 steady issue: 437 ns at stride 16")
    yield row("alternative sector form, contiguous",
              lambda m: 7.2 + 1.703 * m, lambda m: warm(p.matmul(m)), ms)
    yield row("fp32 completion, isolated",
              lambda m: 381.3 + 2 * 4 * m / 2.4,
              lambda m: p.completion(T, p.matmul(m)), ms)
    yield row("fp32 completion, in stream",
              lambda m: (432 + 4 * m + 2 * m) / 2.4,
              lambda m: in_stream(p.matmul(m), 2), ms)
    yield row("bf16 completion, isolated",
              lambda m: 203 + 1.9875 * m / 2.4,
              lambda m: p.completion(T, p.matmul(m, "bfloat16")),
              [64, *ms])
    yield row("transpose recipe, PE part, fp32",
              lambda q: 423.7 + q / 2.4,
              lambda q: p.completion(T, p.matmul(q, k=q, transpose=True)),
              [32, 64, 128])
    yield row("transpose recipe, PE part, bf16",
              lambda q: 239.7 + q / 2.4,
              lambda q: p.completion(
                  T, p.matmul(q, "bfloat16", k=q, transpose=True)),
              [32, 64, 128])
    t = p.matmul(128, transpose=True)
    yield row("fp32 128x128 transpose stream: issue", lambda n: 168,
              lambda n: warm(t), [128])
    yield row("fp32 128x128 transpose stream: completion", lambda n: 377,
              lambda n: in_stream(t, 1), [128])
    yield row("fp32 128x128 transpose stream at start-up: issue",
              lambda n: 213, lambda n: p.interval(T, t, first=2, more=3), [128])
    yield row("fp32 128x128 transpose stream at start-up: completion",
              lambda n: 629, lambda n: p.latency(T, t, 1, 2), [128])
    half = p.matmul(512, k=64)
    yield row("fp32 K = 64, M = 512: issue", lambda n: 1707,
              lambda n: warm(half), [512])
    yield row("fp32 K = 64, M = 512: completion in stream", lambda n: 2765,
              lambda n: in_stream(half, 2), [512])
    yield row("fp32 K = 64, M = 512: completion, fresh", lambda n: 2077,
              lambda n: p.completion(T, half), [512])
    wide = p.matmul(512, "bfloat16")
    yield row("bf16 512 rows, cold: issue", lambda n: 427,
              lambda n: p.interval(T, wide, first=1, more=2), [512], 10, "PIX")
    yield row("bf16 512 rows, warm: issue", lambda n: 213,
              lambda n: warm(wide), [512], 10, "PIX")
    yield row("fp32 512 rows, one pass: issue", lambda n: 428.6,
              lambda n: warm(p.matmul(512)) / 2, [512], 10, "PIX")
    yield row("bulk, fp32 456 rows, one pass", lambda n: 383.7,
              lambda n: warm(p.matmul(456)) / 2, [456])
    yield row("bulk, bf16 456 rows", lambda n: 193.3,
              lambda n: warm(p.matmul(456, "bfloat16")), [456])
    yield row("throttle effect, bf16 512 rows", lambda n: 1.69,
              lambda n: p.interval(T, wide, first=1, more=2) / warm(wide),
              [512], contradicts="1.4 bf16 512 rows: 427 / 213 = 2.0")
    yield row("matmul issue floor, an instruction pair", lambda n: 140,
              lambda n: warm(p.matmul(1, "bfloat16")), [1],
              contradicts="1.4 fp32 M = 128: 223 ns for two pairs")


def in_stream(make: object, passes: int) -> float:
    """From the first load of one in a stream to its result."""
    return p.latency(T, make, passes, WARM)


def dma_rows(full: bool) -> Iterator[Row]:
    def row(name: str, measured: Callable[[int], float],
            simulated: Callable[[int], float], at: list[int],
            tolerance: float = 5.0, status: str = "HW", contradicts: str = "",
            unit: str = "ns") -> Row:
        return Row("2.2", "dma_copy", name, measured, simulated, at, tolerance,
                   status, contradicts, unit)

    def bytes_of(n: int) -> int:
        return 128 * n * 4

    for store, start, a, b, notify in ((False, 751, 293, 1.305, 314.5),
                                       (True, 565.5, 162, 0.963, 355)):
        yield row(f"{'store' if store else 'load'} law, fp32 elements",
                  lambda n, c=(start, a, b, notify):
                  c[0] + c[1] + c[2] * bytes_of(n) / 368 + c[3],
                  lambda n, s=store: p.dma_time(T, p.dma(4 * n, store=s)),
                  [128, 256, 384, 512])
        yield row(f"{'store' if store else 'load'} issue spacing, fp32 elements",
                  lambda n, s=store: 609 if s else 599,
                  lambda n, s=store: p.dma_interval(T, p.dma(4 * n, store=s)),
                  [128, 512])
    yield row("4000-byte rows, one engine, each", lambda n: 150,
              lambda n: row_time(4000), [4000], 10, "PIX")
    yield row("32,000 bytes, one engine", lambda n: 1208,
              lambda n: row_time(32000), [32000], 10, "PIX")
    share = Points({32: 1.4, 64: 2.6, 128: 5.2, 256: 10.3, 512: 20.6,
                    1024: 42.3, 2048: 81.3, 4096: 96.6, 8192: 98.3,
                    16384: 99.0, 32768: 100.0})
    yield row("relative throughput by bytes a partition, software generation",
              share, relative, list(share), 10, "PIX", unit="%")
    yield row("sustained, 4 to 7 KiB rows", lambda n: 406.5,
              lambda n: 128 * n / p.dma_interval(T, p.dma(n)),
              [4096, 7168], 10, "DER", unit="B/ns")
    yield row("DMA end to semaphore", lambda n: 295, lambda n: 314.5, [1], 10,
              "PIX")
    yield row("trigger to store start", lambda n: 830, lambda n: 565.5, [1], 10,
              "PIX", contradicts="2.2 store law: 565.5 ns measured")
    yield row("load end to DVE start", lambda n: 380, lambda n: 336.5, [1], 10,
              "PIX", contradicts="2.2 DMA end to semaphore 290 to 300 and 2.3 "
              "hand-off 14 to 30 ns")
    yield row("descriptor shape: 4 KiB over 0.5 to 1 KiB runs",
              lambda n: 267 / 240,
              lambda n: many_rows(4096) / many_rows(768), [1], 10, "HW",
              contradicts="2.2 load law: 293 + 1.305 bytes / 368 gives 282 B/ns "
              "for short rows, and 26.5 B/ns an engine 424 for long ones",
              unit="x")
    yield row("semaphore-to-start allowance", lambda n: 1300,
              lambda n: 751, [1], 10, "DOC",
              contradicts="2.2 load law: 751 + 314.5 ns measured")


def row_time(row: int) -> float:
    """What one more row adds to a long transfer on each engine."""
    few = 3 if row > 8000 else 16
    early = p.dma_interval(T, p.dma(row, partitions=8, rows=few))
    late = p.dma_interval(T, p.dma(row, partitions=8, rows=2 * few))
    return (late - early) / few / 8


def many_rows(row: int) -> float:
    """B/ns of one long transfer."""
    few = p.dma_time(T, p.dma(row, rows=8))
    many = p.dma_time(T, p.dma(row, rows=24))
    return 16 * 128 * row / (many - few)


def relative(n: int) -> float:
    def rate(row: int) -> float:
        return 128 * row / p.dma_interval(T, p.dma(row, dge_mode="swdge"))

    return 100 * rate(n) / rate(32768)
