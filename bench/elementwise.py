"""Instructions of the emulator against NumPy on the same 128 x 512 tile.

One thread, both in this process, in alternating rounds; a ratio above 1 means
that the emulator is faster. An instruction's time is the difference between
programs with many and with few of it, over the count: loading, scheduling of
the first and last instructions and copies of inputs cancel.

    PYTHONPATH=build/release/python .venv/bin/python bench/elementwise.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import ml_dtypes
import numpy as np
import trnemu

SHAPE = (128, 512)
FEW, MANY = 8, 136
BF16 = ml_dtypes.bfloat16

Emit = Callable[[trnemu.ProgramBuilder, object, object, object], None]
Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], object]

CASES: list[tuple[str, str, Emit, Peer]] = [
    ("tensor_tensor add", "float32",
     lambda b, d, x, y: b.tensor_tensor(dst=d, data1=x, data2=y, op="add"),
     lambda d, x, y: np.add(x, y, out=d)),
    ("tensor_tensor multiply", "float32",
     lambda b, d, x, y: b.tensor_tensor(dst=d, data1=x, data2=y, op="multiply"),
     lambda d, x, y: np.multiply(x, y, out=d)),
    ("tensor_tensor add", "bfloat16",
     lambda b, d, x, y: b.tensor_tensor(dst=d, data1=x, data2=y, op="add"),
     lambda d, x, y: np.add(x, y, out=d)),
    ("tensor_scalar multiply-add", "float32",
     lambda b, d, x, y: b.tensor_scalar(dst=d, data=x, op0="multiply", operand0=2.0,
                                        op1="add", operand1=1.0),
     lambda d, x, y: np.add(np.multiply(x, np.float32(2), out=d), np.float32(1), out=d)),
    ("activation exp", "float32",
     lambda b, d, x, y: b.activation(dst=d, op="exp", data=x),
     lambda d, x, y: np.exp(x, out=d)),
    ("activation tanh", "float32",
     lambda b, d, x, y: b.activation(dst=d, op="tanh", data=x),
     lambda d, x, y: np.tanh(x, out=d)),
    ("reciprocal", "float32",
     lambda b, d, x, y: b.reciprocal(dst=d, data=x),
     lambda d, x, y: np.reciprocal(x, out=d)),
    ("tensor_copy", "float32",
     lambda b, d, x, y: b.tensor_copy(dst=d, src=x),
     lambda d, x, y: np.copyto(d, x)),
    ("tensor_reduce add", "float32",
     lambda b, d, x, y: b.tensor_reduce(dst=d[:, 0:1], op="add", data=x, axis=1),
     lambda d, x, y: np.add.reduce(x, axis=1)),
]


def executable(dtype: str, emit: Emit, count: int) -> object:
    """A loaded program that issues the instruction `count` times."""
    b = trnemu.ProgramBuilder(target="trn2", name="bench")
    x, y = b.input("x", SHAPE, dtype), b.input("y", SHAPE, dtype)
    out = b.output("out", (128, 1), dtype)
    tx, ty, td = (b.sbuf(SHAPE, dtype) for _ in range(3))
    b.dma_copy(dst=tx, src=x)
    b.dma_copy(dst=ty, src=y)
    for _ in range(count):
        emit(b, td, tx, ty)
    b.dma_copy(dst=out, src=td[:, 0:1])
    return trnemu.Device("trn2").load(b.build())


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(dtype: str, emit: Emit, peer: Peer, checks: str, rounds: int) -> tuple[float, float]:
    """Median microseconds of the emulator's instruction and of NumPy's call."""
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(SHAPE, dtype=np.float32).astype(BF16 if dtype == "bfloat16" else dtype)
            for _ in range(2))
    d = np.empty_like(x)
    few, many = executable(dtype, emit, FEW), executable(dtype, emit, MANY)
    inputs = {"x": x, "y": y}
    ours, theirs = [], []
    for _ in range(rounds):
        short = seconds(lambda: few.run(inputs, checks=checks))
        long = seconds(lambda: many.run(inputs, checks=checks))
        ours.append((long - short) / (MANY - FEW))
        theirs.append(seconds(lambda: [peer(d, x, y) for _ in range(16)]) / 16)
    return statistics.median(ours) * 1e6, statistics.median(theirs) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=31, help="alternating rounds a case (default 31)")
    rounds = parser.parse_args().rounds
    print(f"128 x 512 tile, median of {rounds} alternating rounds, NumPy {np.__version__}, one thread")
    print(f"{'instruction':28} {'dtype':9} {'checks':7} {'ours us':>9} {'NumPy us':>9} {'ratio':>7}")
    for name, dtype, emit, peer in CASES:
        for checks in ("off", "full"):
            ours, theirs = measure(dtype, emit, peer, checks, rounds)
            print(f"{name:28} {dtype:9} {checks:7} {ours:9.1f} {theirs:9.1f} {theirs / ours:7.2f}")


if __name__ == "__main__":
    main()
