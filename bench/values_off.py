"""Simulated time alone: instructions a second with --values off, loading excluded, on one core.

    PYTHONPATH=build/release/python .venv/bin/python bench/values_off.py [--rounds 5]

Each program is loaded once and run `--rounds` times; the figure is the median. No arithmetic is done, so what is left is
what the scheduler and the time model cost an instruction.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

import trnemu


def engines(n):
    """Straight line: an activation, an addition, a gpsimd copy and a matmul on small tiles, each waiting for the one before."""
    b = trnemu.ProgramBuilder(target="trn2", name="engines")
    x, w = b.input("x", (128, 64), "bfloat16"), b.input("w", (128, 64), "bfloat16")
    y = b.output("y", (64, 64), "float32")
    s = b.sbuf((128, 64), "bfloat16")
    t = b.sbuf((128, 64), "bfloat16")
    u = [b.sbuf((64, 64), "float32") for _ in range(4)]
    p = b.psum((64, 64), "float32")
    b.dma_copy(dst=s, src=x)
    b.dma_copy(dst=t, src=w)
    for tile in u:
        b.memset(dst=tile, value=0.0)
    for _ in range(n // 5):  # a matmul is two instructions
        b.nc_matmul(dst=p, stationary=s, moving=t, accumulate=False)
        b.activation(dst=u[0], op="copy", data=p)
        b.tensor_tensor(dst=u[1], data1=u[0], data2=u[3], op="add")
        b.tensor_copy(dst=u[2], src=u[1], engine="gpsimd")
    b.dma_copy(dst=y, src=u[2])
    inputs = {"x": np.zeros((128, 64), x_dtype()), "w": np.zeros((128, 64), x_dtype())}
    return b.build(), inputs


def x_dtype():
    import ml_dtypes
    return ml_dtypes.bfloat16


def vector(n):
    """Straight line: one engine, no semaphores."""
    b = trnemu.ProgramBuilder(target="trn2", name="vector")
    y = b.output("y", (1, 8), "float32")
    t, u = b.sbuf((1, 8), "float32"), b.sbuf((1, 8), "float32")
    b.memset(dst=t, value=0.0)
    for i in range(n // 2):
        b.tensor_tensor(dst=u, data1=t, data2=t, op="maximum")
        b.tensor_tensor(dst=t, data1=u, data2=u, op="maximum")
    b.dma_copy(dst=y, src=t)
    return b.build(), {}


def loop(n):
    """A loop over a chain of three engines: register arithmetic, branches and consuming waits, too."""
    b = trnemu.ProgramBuilder(target="trn2", name="loop")
    y = b.output("y", (64, 64), "float32")
    u = [b.sbuf((64, 64), "float32") for _ in range(4)]
    for tile in u:
        b.memset(dst=tile, value=0.0)
    with b.fori_loop(0, n // 13, 1):
        for _ in range(2):
            b.activation(dst=u[0], op="copy", data=u[3])
            b.tensor_tensor(dst=u[1], data1=u[0], data2=u[3], op="add")
            b.tensor_copy(dst=u[2], src=u[1], engine="gpsimd")
    b.dma_copy(dst=y, src=u[2])
    return b.build(), {}


def transfers(n):
    """Tiles through HBM: a load, an addition, a store each; a transfer is 16 parts with a signal each."""
    b = trnemu.ProgramBuilder(target="trn2", name="transfers")
    x, y = b.inout("x", (128, 512), "float32"), b.output("y", (128, 512), "float32")
    t = [b.sbuf((128, 512), "float32") for _ in range(4)]
    for i in range(n // 3):
        tile = t[i % 4]
        b.dma_copy(dst=tile, src=x)
        b.tensor_scalar(dst=tile, data=tile, op0="add", operand0=1.0)
        b.dma_copy(dst=y, src=tile)
    return b.build(), {"x": np.zeros((128, 512), np.float32)}


PROGRAMS = {"engines": (engines, 1_000_000), "vector": (vector, 1_000_000), "loop": (loop, 1_000_000), "transfers": (transfers, 60_000)}


def measure(name, scale, rounds):
    make, n = PROGRAMS[name]
    program, inputs = make(int(n * scale))
    executable = trnemu.Device(program.target).load(program)
    options = {"values": False, "checks": "full"}
    result = executable.run(inputs, **options)
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        result = executable.run(inputs, **options)
        seconds.append(time.process_time() - start)
    took = statistics.median(seconds)
    count = result.profile.instructions
    return {"program": name, "instructions": count, "seconds": took, "per_second": count / took, "best_per_second": count / min(seconds),
            "time_ns": result.time_ns}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the programs' lengths")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    args = parser.parse_args()
    rows = [measure(name, args.scale, args.rounds) for name in args.programs]
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'program':12} {'instructions':>12} {'seconds':>8} {'a second':>12} {'best':>12}  simulated ns")
    for r in rows:
        print(f"{r['program']:12} {r['instructions']:12,} {r['seconds']:8.3f} {r['per_second']:12,.0f} {r['best_per_second']:12,.0f}  {r['time_ns']:.6f}")


if __name__ == "__main__":
    main()
