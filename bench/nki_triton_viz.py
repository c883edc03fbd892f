"""triton-viz's example NKI kernels: its NumPy interpreter against trnemu.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONPATH=build/release/python \\
        .venv/bin/python bench/nki_triton_viz.py --triton-viz DIR

DIR is a copy of triton-viz's source. Nothing has to be installed for it
beyond NumPy, ml_dtypes and torch (which its data classes import); of the
vendor's package it gets the names alone, see nki_triton_viz_peer.py. With
--client tracer it runs as its examples do, and needs `triton` and `z3-solver`.

The same kernel files, unmodified, run in both, in this process, in
alternating rounds, one thread each; a row is the least processor time of the
rounds. Theirs: one call of its interpreter on NumPy arrays. Ours: one call of
nki.simulate(kernel), from arrays to arrays: recording the kernel in Python
(trace), allocation, synchronisation and rules (build), execution with all
checks and simulated time (run). A ratio above 1: trnemu is faster.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from nki_triton_viz_bare import BARE
from nki_triton_viz_cases import CASES, Case
from nki_triton_viz_peer import Peer, load_file
from trnemu.nki import _install, _kernel, _trace, simulate

CHAIN = {"matmul": "chain"}
# Rounds of one row: at least three, and no more after SECONDS; at least
# --rounds, and more until LEAST seconds, for what is quick and so noisy.
SECONDS, LEAST = 20.0, 2.0
IN_A_ROW = 2  # calls of each in a round: the second finds its own caches
COLUMNS = (
    "kernel", "size", "calls", "instructions", "triton-viz", "trace", "build",
    "run", "total", "ratio", "own rounding", "ratio", "bare NumPy", "bound",
)


class Phases:
    """Processor time at the ends of trace and build, of the last launch."""

    def __init__(self) -> None:
        self.traced = self.built = 0.0
        progress, launch = _trace.Trace.progress, _kernel.Kernel._launch

        def after_trace(trace: Any, final: bool = False) -> None:
            if final:
                self.traced = time.process_time()
            progress(trace, final)

        def after_build(kernel: Any, recording: Any) -> Any:
            self.built = time.process_time()
            return launch(kernel, recording)

        _trace.Trace.progress = after_trace  # type: ignore[method-assign]
        _kernel.Kernel._launch = after_build  # type: ignore[method-assign]


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()  # the machine may be busy
    call()
    return time.process_time() - start


def check(case: Case, args: tuple[Any, ...], who: str) -> None:
    """Compares what a kernel wrote with float64 NumPy, and wipes it."""
    for at, expected in zip(case.outputs, case.reference(*args), strict=True):
        error = np.abs(args[at] - expected).max() / np.abs(expected).max()
        if not error <= case.rtol:
            raise SystemExit(f"{case.name}: {who} is off by {error:.1e}")
        args[at][...] = np.nan


class Ours:
    """A kernel in trnemu, with the phases of its quickest launch."""

    def __init__(self, function: Any, phases: Phases, numerics: Any) -> None:
        self.kernel = simulate(
            function, checks="full", numerics=numerics, target="trn2"
        )
        self._phases = phases
        self.best = (math.inf,) * 4  # total, trace, build, run

    def __call__(self, args: tuple[Any, ...]) -> None:
        start = time.process_time()
        self.kernel(*args)
        end = time.process_time()
        traced, built = self._phases.traced, self._phases.built
        now = (end - start, traced - start, built - traced, end - built)
        self.best = min(self.best, now)


def calls_of(kernel: Any) -> int:
    """nki.isa calls that computed or moved something."""
    return sum(kernel.result.profile.operations.values())


def measure(
    case: Case, size: tuple[int, ...], peer: Callable[..., Any],
    chain: Ours, own: Ours, rounds: int,
) -> list[float]:
    """The numbers of a row, times in milliseconds."""
    args = case.arguments(size, np.random.default_rng(1))
    for call, who in (
        (lambda: peer(*args), "triton-viz"),
        (lambda: chain(args), "trnemu"),
        (lambda: own(args), "trnemu with the device's rounding"),
    ):
        call()
        check(case, args, who)
    chain.best = own.best = (math.inf,) * 4
    theirs = least = math.inf
    bare = BARE[case.name](*args) if case.name in BARE else None
    if bare:
        bare()
        check(case, args, "bare NumPy")
    started, done = time.monotonic(), 0
    while done < 3 or (elapsed := time.monotonic() - started) < LEAST or (
        done < rounds and elapsed < SECONDS
    ):
        done += 1
        for _ in range(IN_A_ROW):
            theirs = min(theirs, seconds(lambda: peer(*args)))
            if bare:
                least = min(least, seconds(bare))
        for ours in (chain, own):
            for _ in range(IN_A_ROW):
                ours(args)
    result = chain.kernel.result
    total, trace, build, run = chain.best
    return [
        calls_of(chain.kernel), result.profile.instructions,
        *(1e3 * s for s in (theirs, trace, build, run, total)),
        theirs / total, 1e3 * own.best[0], theirs / own.best[0],
        1e3 * least, theirs / least,
    ]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def milliseconds(ms: float) -> str:
    return f"{ms:.2f}" if ms < 100 else f"{ms:.0f}"


def cells_of(case: Case, size: tuple[int, ...], row: list[float]) -> list[str]:
    shape = " x ".join(map(str, size))
    counts = [f"{int(n):,}" for n in row[:2]]
    times = [milliseconds(ms) for ms in row[2:7]]
    bound = [milliseconds(row[10]), f"{row[11]:.2f}"] if row[11] else ["", ""]
    return [
        case.name, shape, *counts, *times, f"{row[7]:.2f}",
        milliseconds(row[8]), f"{row[9]:.2f}", *bound,
    ]


def geometric(ratios: list[float]) -> str:
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}"


def blas() -> str:
    """Which BLAS NumPy calls."""
    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    name = f"{found['name']} {found['version']}"
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return name
    for pool in threadpool_info():
        if pool["user_api"] == "blas" and "numpy" in pool["filepath"]:
            name += f" ({pool['architecture']}, {pool['num_threads']} thread)"
    return name


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--triton-viz", type=Path, required=True, metavar="DIR",
        help="a copy of triton-viz's source",
    )
    parser.add_argument(
        "--client", choices=("none", "tracer"), default="none",
        help="of triton-viz: none (default), its interpreter alone; tracer, "
        "what its examples use",
    )
    parser.add_argument(
        "--rounds", type=int, default=15, help="rounds a row (default 15)"
    )
    parser.add_argument(
        "--only", default="", help="kernels whose name contains this"
    )
    return parser.parse_args()


def main() -> None:
    options = parsed()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name) != "1":
            raise SystemExit(f"set {name}=1: one thread each")
    peer, phases = Peer(options.triton_viz, options.client), Phases()
    print(
        f"NumPy {np.__version__}, {blas()}; triton-viz client "
        f"{options.client}; load {os.getloadavg()[0]:.1f}; milliseconds"
    )
    print(line(list(COLUMNS)))
    print(line(["---", "---"] + ["---:"] * (len(COLUMNS) - 2)))
    named: list[tuple[float, float]] = []
    every: list[tuple[float, float]] = []
    bounds: list[tuple[float, float]] = []
    for case in CASES:
        if options.only not in case.name:
            continue
        theirs = peer.kernel(getattr(peer.file(case.file), case.function))
        _install.install()
        path = options.triton_viz / "examples" / "nki_beta2"
        module = load_file(path / f"{case.file}.py", f"trnemu_{case.file}")
        _install.uninstall()
        function = getattr(module, case.function)
        chain, own = Ours(function, phases, CHAIN), Ours(function, phases, {})
        for size in case.sizes:
            row = measure(case, size, theirs, chain, own, options.rounds)
            print(line(cells_of(case, size, row)), flush=True)
            every.append((row[7], row[9]))
            if row[11]:
                bounds.append((row[7], row[11]))
            if case.named:
                named.append((row[7], row[9]))
    for name, ratios in (("the first four", named), ("all", every)):
        if ratios:
            both = [geometric(list(r)) for r in zip(*ratios, strict=True)]
            print(f"geometric mean, {name}: {both[0]}; {both[1]} with the "
                  "device's own rounding")
    if bounds:
        both = [geometric(list(r)) for r in zip(*bounds, strict=True)]
        print(f"geometric mean, where there is a bound: {both[0]}, of the "
              f"bound {both[1]}")


if __name__ == "__main__":
    main()
