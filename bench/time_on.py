"""What simulated time costs beside values: the same program with --time on and off, in alternating rounds of one process.

    PYTHONPATH=build/release/python .venv/bin/python bench/time_on.py [--rounds 21] [demo/digits.trn ...]

Processor time of a run, checks off and checks full, medians; "over" is the median of each round's ratio less one. Programs
that are given are run on zeros; without any, a matmul-heavy kernel and a demo of the same kind as scripts/demo are made.
"""

from __future__ import annotations

import argparse
import statistics
import time

import ml_dtypes
import numpy as np

import trnemu


def matmul():
    """bf16 [1024, 512] x [512, 2048] by tiles, loads beside products."""
    b = trnemu.ProgramBuilder(target="trn2", name="matmul")
    k, m, n = 512, 1024, 2048
    x = b.input("x", (k, m), "bfloat16")
    w = b.input("w", (k, n), "bfloat16")
    y = b.output("y", (m, n), "float32")
    xs = [b.sbuf((128, m), "bfloat16") for _ in range(k // 128)]
    ws = [b.sbuf((128, n), "bfloat16") for _ in range(k // 128)]
    for i in range(k // 128):
        b.dma_copy(dst=xs[i], src=x[128 * i:128 * i + 128])
        b.dma_copy(dst=ws[i], src=w[128 * i:128 * i + 128])
    for r in range(m // 128):
        for c in range(n // 512):
            p = b.psum((128, 512), "float32")
            for i in range(k // 128):
                b.nc_matmul(dst=p, stationary=xs[i][:, 128 * r:128 * r + 128], moving=ws[i][:, 512 * c:512 * c + 512])
            t = b.sbuf((128, 512), "float32")
            b.tensor_copy(dst=t, src=p, engine="scalar" if c % 2 else "vector")
            b.dma_copy(dst=y[128 * r:128 * r + 128, 512 * c:512 * c + 512], src=t)
    rng = np.random.default_rng(1)
    inputs = {"x": rng.standard_normal((k, m)).astype(ml_dtypes.bfloat16), "w": rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16)}
    return b.build(), inputs


def zeros(program):
    return {name: np.zeros(shape, dtype.numpy) for name, (shape, dtype) in program.inputs.items()}


def measure(program, inputs, checks, rounds):
    executable = trnemu.Device(program.target, program.cores).load(program)
    seconds = {True: [], False: []}
    for on in (True, False):
        executable.run(inputs, time=on, checks=checks)
    for i in range(rounds):
        for on in ((True, False) if i % 2 else (False, True)):
            start = time.process_time()
            executable.run(inputs, time=on, checks=checks)
            seconds[on].append(time.process_time() - start)
    over = statistics.median(a / b for a, b in zip(seconds[True], seconds[False], strict=True)) - 1
    return statistics.median(seconds[True]), statistics.median(seconds[False]), over


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    cases = [("matmul", *matmul())]
    for path in args.programs:
        program = trnemu.Program.load(path)
        cases.append((path, program, zeros(program)))
    print(f"{'program':20} {'checks':6} {'on ms':>8} {'off ms':>8} {'over':>7}")
    for name, program, inputs in cases:
        for checks in ("off", "full"):
            on, off, over = measure(program, inputs, checks, args.rounds)
            print(f"{name[-20:]:20} {checks:6} {on * 1e3:8.3f} {off * 1e3:8.3f} {over:+7.1%}")


if __name__ == "__main__":
    main()
