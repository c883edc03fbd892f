"""A two-layer tensor-parallel MLP: compute and communication side by side.

    PYTHONPATH=build/release/python .venv/bin/python bench/collectives/tp_mlp.py [--ranks 4] [--trace FILE]

y = relu(x W1) W2. Rank r has the columns of W1 and the rows of W2 of its part of the hidden dimension, so that its product is
a part of every element of y, and an all_reduce adds them up. The batch has two halves: the second one is computed while the
first one's all_reduce runs, unless it is made to wait.

Prints times with and without overlap, what the collective does to compute's DMA, and the same with collective packets of
4 KiB instead of 64 KiB (NEURON_RT_DBG_CC_DMA_PACKET_SIZE of neuron-runtime/explore/compute-comm-overlap.rst).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import ml_dtypes
import numpy as np

import trnemu

SYSTEM = "trn2.48xlarge"


@dataclass(frozen=True)
class Sizes:
    """dim and hidden in multiples of 128 (hidden: of a rank); tokens of half a batch, up to 512."""

    dim: int = 1024
    hidden: int = 1024
    tokens: int = 512


def program(sizes: Sizes, ranks: int, overlap: bool = True, communicate: bool = True) -> trnemu.Program:
    """Of one rank. x and y are transposed, (dim, tokens); weights are tiles (see tiled). communicate: False leaves the parts
    of y as they are, as one rank alone does."""
    b = trnemu.ProgramBuilder("trn2", name="tp_mlp")
    dim, hidden, tokens = sizes.dim, sizes.hidden, sizes.tokens
    weights = [b.input("w1", (hidden // 128, 128, dim), "bfloat16"), b.input("w2", (dim // 128, 128, hidden), "bfloat16")]
    x = [b.input(f"x{half}", (dim, tokens), "bfloat16") for half in range(2)]
    y = [b.output(f"y{half}", (dim, tokens), "float32") for half in range(2)]
    part = [b.scratch(f"part{half}", (dim, tokens), "float32") if communicate else y[half] for half in range(2)]
    done = b.semaphore("first_half") if communicate and not overlap else None
    # Weights come from HBM as they are needed: these loads meet the collective's traffic.
    buffers = [[b.sbuf((128, n), "bfloat16") for _ in range(3)] for n in (dim, hidden)]
    for half in range(2):
        moving = b.sbuf((128, dim // 128, tokens), "bfloat16")
        h = b.sbuf((128, hidden // 128, tokens), "bfloat16")
        for k in range(dim // 128):
            wait = [(done, 1)] if done is not None and half == 1 and k == 0 else []
            b.dma_copy(dst=moving[:, k], src=x[half][128 * k:128 * k + 128], wait=wait)
        for layer, (source, to) in enumerate(((moving, h), (h, None))):
            for m in range(weights[layer].shape[0]):
                w = buffers[layer][m % 3]
                b.dma_copy(dst=w, src=weights[layer][m])
                p = b.psum((128, tokens), "float32")
                for k in range(source.shape[1]):
                    b.nc_matmul(dst=p, stationary=w[:, 128 * k:128 * k + 128], moving=source[:, k])
                if to is not None:
                    b.activation(dst=to[:, m], data=p, op="relu")
                    continue
                out = b.sbuf((128, tokens), "float32")
                b.tensor_copy(dst=out, src=p, engine="vector")
                b.dma_copy(dst=part[half][128 * m:128 * m + 128], src=out, trigger="scalar")
        if communicate:
            b.all_reduce(srcs=[part[half]], dsts=[y[half]], replica_group=[list(range(ranks))], op="add", trigger="gpsimd",
                         signal=[(done, 1)] if done is not None and half == 0 else [])
    return b.build()


def tiled(weights: np.ndarray) -> np.ndarray:
    """(rows, columns) as stationary tiles: [m, p, 128 k + j] is row 128 k + p, column 128 m + j."""
    rows, columns = weights.shape
    tiles = weights.reshape(rows // 128, 128, columns // 128, 128)
    return np.ascontiguousarray(tiles.transpose(2, 1, 0, 3).reshape(columns // 128, 128, rows))


def draw(sizes: Sizes, ranks: int, seed: int = 0) -> dict[str, np.ndarray]:
    """The whole model: w1 (dim, hidden), w2 (hidden, dim), x0 and x1."""
    rng = np.random.default_rng(seed)
    hidden = sizes.hidden * ranks
    shapes = {"w1": (sizes.dim, hidden), "w2": (hidden, sizes.dim), "x0": (sizes.dim, sizes.tokens),
              "x1": (sizes.dim, sizes.tokens)}
    return {name: rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for name, shape in shapes.items()}


def of_rank(model: dict[str, np.ndarray], sizes: Sizes, rank: int) -> dict[str, np.ndarray]:
    """Its inputs: columns of w1, rows of w2, all tokens."""
    mine = slice(rank * sizes.hidden, (rank + 1) * sizes.hidden)
    return {"x0": model["x0"], "x1": model["x1"], "w1": tiled(model["w1"][:, mine]), "w2": tiled(model["w2"][mine])}


@dataclass(frozen=True)
class Measured:
    """us; of a rank's loads that began while the first all_reduce moved data in the run with overlap: how long a part took on
    its engine, from when it could to its last byte."""

    time: float
    collective: float
    load: float
    loads: int


def measure(system: trnemu.System, sizes: Sizes, overlap: bool, packet_bytes: int | None = None,
            window: tuple[float, float] | None = None) -> tuple[Measured, tuple[float, float], trnemu.SystemResult]:
    result = system.run(program(sizes, system.ranks, overlap), values=False, profile=True, links=True,
                        packet_bytes=packet_bytes)
    first = result.collectives[0]
    window = window or (first.start_ns, first.end_ns)
    dma = result.profiles[0].dma
    loads = (dma["direction"] == "load") & (dma["payload_from"] >= window[0]) & (dma["payload_from"] < window[1])
    took = (dma["end"] - dma["payload_from"])[loads]
    mean = float(took.mean()) / 1000 if len(took) else 0.0
    return Measured(result.time_ns / 1000, first.time_ns / 1000, mean, len(took)), window, result


def table(ranks: tuple[int, ...] = (4, 64), trace: str | None = None) -> list[list[str]]:
    lines = [["ranks", "dim, hidden of a rank", "run", "us", "first all_reduce us", "a load's part us"]]
    for count in ranks:
        system = trnemu.System(SYSTEM, ranks=count)
        for sizes in (Sizes(), Sizes(2048, 512)):
            _, window, _ = measure(system, sizes, True)
            alone = system.run(program(sizes, count, communicate=False), values=False, profile=True)
            dma = alone.profiles[0].dma
            loads = (dma["end"] - dma["payload_from"])[dma["direction"] == "load"] / 1000
            of = [str(count), f"{sizes.dim}, {sizes.hidden}"]
            lines.append([*of, "no collective", f"{alone.time_ns / 1000:.1f}", "", f"{loads.mean():.2f}"])
            for name, overlap, packet in (("one after the other", False, None), ("overlap", True, None),
                                          ("overlap, packets of 4 KiB", True, 4096)):
                m, _, result = measure(system, sizes, overlap, packet, window if overlap else None)
                load = f"{m.load:.2f}" if m.loads else ""
                lines.append([*of, name, f"{m.time:.1f}", f"{m.collective:.1f}", load])
                if trace and overlap and packet is None:
                    result.profiles[0].save_trace(trace)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--trace", help="the timeline of rank 0 with overlap, for ui.perfetto.dev")
    options = parser.parse_args()
    for line in table((options.ranks,), options.trace):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
