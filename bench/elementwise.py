"""Instructions of the emulator against NumPy on the same 128 x 512 tiles.

One thread, both in this process, in alternating rounds; a ratio above 1 means
that the emulator is faster. An instruction's time is the difference between
programs with many and with few of it, over the count: loading, scheduling of
the first and last instructions and copies of inputs cancel.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=build/release/python .venv/bin/python bench/elementwise.py
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import trnemu

from elementwise_cases import ARITHMETIC, COPIES, Case
from elementwise_cases_2 import REDUCTIONS, SELECTIONS, TENSOR

FEW, MANY = 8, 136
PEERS = 16  # calls of NumPy in a round
CASES = [*COPIES, *ARITHMETIC, *REDUCTIONS, *SELECTIONS, *TENSOR]


def data_of(case: Case) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    arrays = {}
    for name, spec in case.arrays.items():
        dtype = trnemu.Dtype(spec.dtype).numpy
        values = np.zeros(spec.shape) if spec.values is None else spec.values(rng, spec.shape)
        arrays[name] = np.ascontiguousarray(np.asarray(values).astype(dtype))
    return arrays


def executable(case: Case, count: int) -> object:
    """A loaded program that issues the instruction `count` times."""
    b = trnemu.ProgramBuilder(target="trn2", name="bench")
    views = {}
    for name, spec in case.arrays.items():
        if spec.where == "hbm":
            kind = b.output if spec.values is None else b.input
            views[name] = kind(name, spec.shape, spec.dtype)
            continue
        views[name] = getattr(b, spec.where)(spec.shape, spec.dtype)
        if spec.values is not None:
            b.dma_copy(dst=views[name], src=b.input(name, spec.shape, spec.dtype))
    for _ in range(count):
        case.emit(b, SimpleNamespace(**views))
    for name, spec in case.arrays.items():
        if spec.values is None and spec.where != "hbm":
            view = views[name][:, 0:1]
            if spec.where == "psum":
                view = b.sbuf((spec.shape[0], 1), spec.dtype)
                b.tensor_copy(dst=view, src=views[name][:, 0:1])
            b.dma_copy(dst=b.output(name, (spec.shape[0], 1), spec.dtype), src=view)
    return trnemu.Device("trn2").load(b.build())


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()  # the machine may be busy
    call()
    return time.process_time() - start


def measure(case: Case, rounds: int) -> tuple[float, float, float]:
    """Median microseconds: of the instruction with checks off, with checks
    full, and of NumPy's call."""
    few, many = executable(case, FEW), executable(case, MANY)
    arrays = data_of(case)
    inputs = {k: v for k, v in arrays.items() if case.arrays[k].values is not None}
    peer = SimpleNamespace(**{**arrays, **case.scratch})
    off, full, theirs = [], [], []
    for _ in range(rounds):
        for checks, into in (("off", off), ("full", full)):
            short = seconds(lambda: few.run(inputs, checks=checks))
            long = seconds(lambda: many.run(inputs, checks=checks))
            into.append((long - short) / (MANY - FEW))
            theirs.append(seconds(lambda: [case.peer(peer) for _ in range(PEERS)]) / PEERS)
    return tuple(statistics.median(times) * 1e6 for times in (off, full, theirs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=31, help="alternating rounds a case (default 31)")
    parser.add_argument("--only", default="", help="cases whose name or form contains this")
    args = parser.parse_args()
    print(f"128 x 512 tile, median of {args.rounds} alternating rounds, NumPy {np.__version__}, "
          f"one thread, load {os.getloadavg()[0]:.1f}")
    print(f"{'instruction':26} {'form':36} {'NumPy us':>9} {'off us':>8} {'full us':>8} "
          f"{'off':>6} {'full':>6}")
    for case in CASES:
        if args.only not in f"{case.name} {case.form}":
            continue
        off, full, theirs = measure(case, args.rounds)
        print(f"{case.name:26} {case.form:36} {theirs:9.1f} {off:8.1f} {full:8.1f} "
              f"{theirs / off:6.2f} {theirs / full:6.2f}", flush=True)


if __name__ == "__main__":
    main()
