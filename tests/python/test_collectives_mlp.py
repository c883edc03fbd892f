"""A tensor-parallel MLP (bench/collectives/tp_mlp.py): the same values as one
rank's, and what compute and communication take from each other."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import trnemu

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/collectives"))

import tp_mlp


@pytest.mark.parametrize(
    ("ranks", "sizes"),
    [
        (4, tp_mlp.Sizes(256, 256, 64)),
        (64, tp_mlp.Sizes(256, 128, 64)),
    ],
)
def test_a_tensor_parallel_mlp_is_that_of_one_rank(
    ranks: int, sizes: tp_mlp.Sizes
) -> None:
    """The hidden layer has the same bits: its sums are of one rank. Every
    element of y is a sum in float32 of the same products (of bfloat16, so
    exact) in another order. A sum of n terms t in any order is off by at most
    g = (n - 1) u / (1 - (n - 1) u) times the sum of |t|, u = 2^-24; so two
    are apart by at most 2 g times that."""
    model = tp_mlp.draw(sizes, ranks)
    system = trnemu.System(tp_mlp.SYSTEM, ranks=ranks)
    several = system.run(
        tp_mlp.program(sizes, ranks),
        [tp_mlp.of_rank(model, sizes, r) for r in range(ranks)],
    ).outputs
    whole = tp_mlp.Sizes(sizes.dim, sizes.hidden * ranks, sizes.tokens)
    one = trnemu.run(
        tp_mlp.program(whole, 1, communicate=False),
        tp_mlp.of_rank(model, whole, 0),
    ).outputs
    n = whole.hidden
    g = (n - 1) * 2.0**-24 / (1 - (n - 1) * 2.0**-24)
    w1, w2 = (model[k].astype(np.float64) for k in ("w1", "w2"))
    for half in ("0", "1"):
        x = model["x" + half].astype(np.float64)
        h = np.maximum(w1.T @ x, 0)
        # h is rounded to bfloat16 there: by 2^-8 at most.
        terms = np.abs(w2).T @ h * (1 + 2.0**-7)
        y = "y" + half
        apart = np.abs(several[0][y].astype(np.float64) - one[y])
        assert (apart <= 2 * g * terms).all(), (apart / terms).max() / g
        # All ranks have the same, and it is the MLP.
        for outputs in several[1:]:
            assert outputs[y].tobytes() == several[0][y].tobytes()
        np.testing.assert_allclose(
            one[y], w2.T @ h, rtol=0, atol=2.0**-7 * terms.max()
        )


def test_overlap_is_shorter_and_dma_is_what_it_costs() -> None:
    system = trnemu.System(tp_mlp.SYSTEM, ranks=4)
    sizes = tp_mlp.Sizes(2048, 512)
    alone = system.run(
        tp_mlp.program(sizes, 4, communicate=False), values=False,
        profile=True,
    )
    dma = alone.profiles[0].dma
    undisturbed = (dma["end"] - dma["payload_from"])[dma["direction"] == "load"]
    serial, _, _ = tp_mlp.measure(system, sizes, overlap=False)
    both, window, result = tp_mlp.measure(system, sizes, overlap=True)
    # Two all_reduces, of which the first is hidden in part.
    assert alone.time_ns / 1000 < both.time < serial.time
    assert serial.time - both.time > 0.3 * serial.collective
    # Loads that meet the collective's traffic share the engines with it.
    assert both.loads > 16
    assert both.load > 1.3 * undisturbed.mean() / 1000
    # And the collective is slower than beside nothing.
    assert both.collective > serial.collective
    # The second half's products run meanwhile.
    ins = result.profiles[0].instructions
    at_work = (ins["engine"] == "tensor") & (ins["start"] > window[0]) & (
        ins["end"] < window[1]
    )
    assert at_work.sum() > 10


def test_small_packets_of_collectives_let_compute_go_first() -> None:
    """neuron-runtime/explore/compute-comm-overlap.rst: engines change queues
    at packets' ends, so NEURON_RT_DBG_CC_DMA_PACKET_SIZE=4096 instead of
    65536 gives compute's 4 KiB an equal share."""
    system = trnemu.System(tp_mlp.SYSTEM, ranks=4)
    sizes = tp_mlp.Sizes(2048, 512)
    large, window, _ = tp_mlp.measure(system, sizes, True)
    small, _, _ = tp_mlp.measure(system, sizes, True, 4096, window)
    assert small.load < 0.9 * large.load
    assert small.collective > large.collective
    halfway, _, _ = tp_mlp.measure(system, sizes, True, 16384, window)
    assert small.load <= halfway.load <= large.load


def test_links_carry_the_all_reduces_of_several_chips() -> None:
    system = trnemu.System(tp_mlp.SYSTEM, ranks=64)
    _, _, result = tp_mlp.measure(system, tp_mlp.Sizes(256, 128), True)
    assert {use.collective for use in result.links} == {0, 1}
    for index in (0, 1):
        carried = sum(u.bytes for u in result.links if u.collective == index)
        assert carried == result.collectives[index].link_bytes > 0
