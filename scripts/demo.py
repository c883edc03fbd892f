"""The main job: a PyTorch classifier on an emulated NeuronCore.

    scripts/demo        sets up, builds and runs this

Trains a small network on scikit-learn's handwritten digits, compiles it in
float32 and bfloat16 to program files, runs the whole test split through the
command line, and compares with PyTorch on the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import trnemu.torch

_SEED = 0
_EPOCHS = 30
_BATCH = 64
_ENGINES = ("tensor", "vector", "scalar", "gpsimd", "dma")


@dataclass(frozen=True)
class Digits:
    """8 x 8 images as 64 numbers from 0 to 1, and their labels."""

    train_x: torch.Tensor
    train_y: torch.Tensor
    test_x: torch.Tensor
    test_y: torch.Tensor


@dataclass(frozen=True)
class Variant:
    """What one compiled network did."""

    name: str
    logits: torch.Tensor  # on the device
    expected: torch.Tensor  # by PyTorch on the CPU, same dtype
    report: dict[str, Any]  # what the command line says of the run


def load() -> Digits:
    """The digits, split the same way every time."""
    images, labels = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        (images / 16).astype(np.float32),
        labels,
        test_size=0.25,
        random_state=_SEED,
        stratify=labels,
    )
    return Digits(*map(torch.from_numpy, (train_x, train_y, test_x, test_y)))


class Classifier(torch.nn.Module):
    """64 - 256 - 128 - 10."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(64, 256)
        self.second = torch.nn.Linear(256, 128)
        self.last = torch.nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits of a batch of images."""
        x = torch.relu(self.first(x))
        x = torch.nn.functional.gelu(self.second(x))
        return self.last(x)


def train(digits: Digits) -> torch.nn.Module:
    """A trained network, the same every time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # faster for so small a network
    try:
        return _train(digits)
    finally:
        torch.set_num_threads(threads)


def _train(digits: Digits) -> torch.nn.Module:
    torch.manual_seed(_SEED)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(_EPOCHS):
        for rows in torch.randperm(len(digits.train_x)).split(_BATCH):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(
                model(digits.train_x[rows]), digits.train_y[rows]
            )
            loss.backward()
            optimizer.step()
    return model.eval()


def accuracy(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """The share of rows whose largest logit is the label's."""
    return (logits.argmax(-1) == labels).float().mean().item()


def _save(path: Path, tensor: torch.Tensor) -> None:
    """Writes an .npy; bfloat16, which it cannot name, as its 16 bits."""
    array = trnemu.torch.to_numpy(tensor)
    np.save(path, array.view(np.uint16) if array.dtype.kind == "V" else array)


def _load(path: Path, dtype: torch.dtype) -> torch.Tensor:
    array = np.load(path)
    if dtype == torch.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(dtype)
    return trnemu.torch.from_numpy(array)


def run_variant(
    suffix: str,
    model: torch.nn.Module,
    digits: Digits,
    directory: Path,
    command: str,
) -> Variant:
    """Compiles a network for the whole test split and runs it as a user
    would: a program file, .npy files and the command line."""
    dtype = next(model.parameters()).dtype
    x = digits.test_x.to(dtype)
    name = f"digits{suffix}"
    program = directory / f"{name}.trn"
    inputs = directory / f"x{suffix}.npy"
    outputs = directory / f"out{suffix}"
    trnemu.torch.compile_program(model, (x,), name=name).save(str(program))
    _save(inputs, x)
    line = [
        command,
        "run",
        str(program),
        "--input",
        f"x={inputs}",
        "--output-dir",
        str(outputs),
        "--json",
    ]
    print("$", shlex.join(line), flush=True)
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(done.returncode)
    with torch.no_grad():
        expected = model(x)
    logits = _load(outputs / "output.npy", dtype)
    return Variant(
        str(dtype).removeprefix("torch."),
        logits,
        expected,
        json.loads(done.stdout),
    )


def _table(rows: list[tuple[str, ...]]) -> str:
    """Columns, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _busy(report: dict[str, Any], engine: str) -> str:
    """The share of the time an engine worked; of "dma", its sixteen."""
    time_ns = report["time_ns"]
    busy = report["engines"].get(engine, {}).get("busy_ns", 0.0)
    return f"{100 * busy / time_ns:.1f} %" if time_ns else "-"


def report(variants: list[Variant], digits: Digits) -> str:
    """The table of results."""
    rows: list[tuple[str, ...]] = [("", *(v.name for v in variants))]

    def row(label: str, text: Any) -> None:
        rows.append((label, *(text(v) for v in variants)))

    def difference(v: Variant) -> str:
        largest = (v.logits.double() - v.expected.double()).abs().max().item()
        return f"{largest:.2e}"

    row(
        "accuracy on trn2", lambda v: f"{100 * accuracy(v.logits, digits.test_y):.2f} %"
    )
    row(
        "accuracy on the CPU",
        lambda v: f"{100 * accuracy(v.expected, digits.test_y):.2f} %",
    )
    row("largest logit difference", difference)
    row(
        "largest logit",
        lambda v: f"{v.expected.double().abs().max().item():.1f}",
    )
    row("simulated time", lambda v: f"{v.report['time_ns'] / 1e3:.1f} us")
    row("instructions", lambda v: str(v.report["instructions"]))
    for engine in _ENGINES:
        row(f"{engine} busy", lambda v, e=engine: _busy(v.report, e))
    return _table(rows)


def main(arguments: list[str] | None = None) -> int:
    """Does all of it; returns the exit code."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--directory", default="demo", help="for what it writes")
    parser.add_argument(
        "--trnemu",
        default=os.environ.get("TRNEMU_BIN") or shutil.which("trnemu"),
        help="the command (default: $TRNEMU_BIN, or the one on the PATH)",
    )
    options = parser.parse_args(arguments)
    if not options.trnemu:
        parser.error("the trnemu command is not on the PATH; pass --trnemu")
    directory = Path(options.directory)
    directory.mkdir(parents=True, exist_ok=True)

    started = time.perf_counter()
    digits = load()
    model = train(digits)
    print(
        f"trained on {len(digits.train_x)} digits in "
        f"{time.perf_counter() - started:.1f} s; running the other "
        f"{len(digits.test_x)}",
        flush=True,
    )
    half = Classifier().bfloat16().eval()
    half.load_state_dict(model.state_dict())
    variants = [
        run_variant("", model, digits, directory, options.trnemu),
        run_variant("-bf16", half, digits, directory, options.trnemu),
    ]
    command = shlex.quote(options.trnemu)
    again = f"{command} run {directory}/digits.trn --input x={directory}/x.npy"
    print()
    print(report(variants, digits))
    print(
        f"""
In {directory}/: the programs (digits*.trn), their inputs (x*.npy) and outputs (out*/)

Try next:
  {command} disasm {directory}/digits.trn | less
  {again} --log {directory}/digits.log
  {again} --schedule 1 --expect output={directory}/out/output.npy"""
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
