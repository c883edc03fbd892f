"""What checks cost: time and memory of the same program with checks off, memory and full.

    PYTHONPATH=build/release/python .venv/bin/python bench/checks.py [--rounds 9]

Processor time, the median of alternating rounds of one loaded program; memory is the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np

import trnemu

CHECKS = ("off", "memory", "full")


def small_tiles():
    """Element-wise on [128, 8] and [128, 64] tiles: 20,000 instructions."""
    b = trnemu.ProgramBuilder(target="trn2", name="small tiles")
    x = b.input("x", (128, 64), "float32")
    y = b.output("y", (128, 64), "float32")
    whole = b.sbuf((128, 64), "float32")
    t = [b.sbuf((128, 8), "float32") for _ in range(4)]
    b.dma_copy(dst=whole, src=x)
    for i in range(4):
        b.tensor_copy(dst=t[i], src=whole[:, 8 * i:8 * i + 8])
    for _ in range(5000):
        b.tensor_tensor(dst=t[0], data1=t[1], data2=t[2], op="add")
        b.activation(dst=t[1], op="copy", data=t[0])
        b.tensor_scalar(dst=t[2], data=t[1], op0="multiply", operand0=0.5)
        b.tensor_copy(dst=t[3], src=t[2])
    b.tensor_copy(dst=whole[:, 0:8], src=t[3])
    b.dma_copy(dst=y, src=whole)
    return b.build(), {"x": np.random.default_rng(1).random((128, 64), np.float32)}


def matmul():
    """bf16 [512, 512] x [512, 2048] by tiles, from HBM and back: loads, 256 products, evacuation."""
    b = trnemu.ProgramBuilder(target="trn2", name="matmul")
    k, m, n = 512, 512, 2048
    x = b.input("x", (k, m), "bfloat16")
    w = b.input("w", (k, n), "bfloat16")
    y = b.output("y", (m, n), "float32")
    xs = [b.sbuf((128, m), "bfloat16") for _ in range(k // 128)]
    ws = [b.sbuf((128, n), "bfloat16") for _ in range(k // 128)]
    for i in range(k // 128):
        b.dma_copy(dst=xs[i], src=x[128 * i:128 * i + 128])
        b.dma_copy(dst=ws[i], src=w[128 * i:128 * i + 128])
    for _ in range(4):
        for r in range(m // 128):
            for c in range(n // 512):
                p = b.psum((128, 512), "float32")
                for i in range(k // 128):
                    b.nc_matmul(dst=p, stationary=xs[i][:, 128 * r:128 * r + 128],
                                moving=ws[i][:, 512 * c:512 * c + 512])
                t = b.sbuf((128, 512), "float32")
                b.tensor_copy(dst=t, src=p)
                b.dma_copy(dst=y[128 * r:128 * r + 128, 512 * c:512 * c + 512], src=t)
    rng = np.random.default_rng(1)
    return b.build(), {name: rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
                       for name, shape in (("x", (k, m)), ("w", (k, n)))}


def demo():
    """The demo's network (64 - 256 - 128 - 10, a batch of 64), compiled by the PyTorch front end."""
    import torch

    import trnemu.torch as front

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                              torch.nn.Linear(128, 10))
    image = torch.rand(64, 64)
    program = front.compile_program(net, (image,), name="demo")
    (name,) = program.inputs
    return program, {name: image.numpy()}


PROGRAMS = {"demo": demo, "matmul": matmul, "small tiles": small_tiles}


def times(name: str, rounds: int) -> dict[str, float]:
    program, inputs = PROGRAMS[name]()
    executable = trnemu.Device("trn2").load(program)
    taken: dict[str, list[float]] = {c: [] for c in CHECKS}
    for _ in range(rounds):
        for checks in CHECKS:
            start = time.process_time()
            executable.run(inputs, checks=checks)
            taken[checks].append(time.process_time() - start)
    return {c: statistics.median(t) for c, t in taken.items()}


def peak(name: str, checks: str) -> float:
    """MiB at most of a process that runs the program once."""
    out = subprocess.run([sys.executable, __file__, "--peak", name, checks], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def report_peak(name: str, checks: str) -> None:
    program, inputs = PROGRAMS[name]()
    trnemu.Device("trn2").load(program).run(inputs, checks=checks)
    # Not ru_maxrss, which a process inherits from the one that started it.
    status = Path("/proc/self/status").read_text().split()
    print(json.dumps(int(status[status.index("VmHWM:") + 1]) / 1024))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        report_peak(*options.peak)
        return
    print(f"{'program':12} {'off':>9} {'memory':>7} {'full':>7} {'off':>10} {'full':>7}")
    print(f"{'':12} {'ms':>9} {'/ off':>7} {'/ off':>7} {'MiB':>10} {'/ off':>7}")
    for name in PROGRAMS:
        t = times(name, options.rounds)
        m = {c: peak(name, c) for c in ("off", "full")}
        print(f"{name:12} {t['off'] * 1e3:9.2f} {t['memory'] / t['off']:7.2f} {t['full'] / t['off']:7.2f} "
              f"{m['off']:10.1f} {m['full'] / m['off']:7.2f}")


if __name__ == "__main__":
    main()
