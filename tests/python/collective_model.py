"""What a collective takes where nothing is shared: docs/collectives.md, "Time
model", in Python. The constants are those that `trnemu info` prints."""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

TRNEMU = os.environ.get("TRNEMU_BIN") or str(
    pathlib.Path(__file__).parents[2] / "build/release/bin/trnemu"
)
LEAST_PART = 512  # bytes that an engine moves before another one helps
Links = Sequence[tuple[float, float]]  # B/ns, ns


@cache
def _info(*arguments: str) -> dict[str, float]:
    text = subprocess.run(
        [TRNEMU, "info", *arguments, "--json"],
        capture_output=True, text=True, check=True,
    ).stdout
    data = json.loads(text)
    rows = data["system"] if "system" in data else data
    return {
        c["path"]: c["value"] for c in rows["constants"]
        if isinstance(c["value"], (int, float))
    }


@dataclass(frozen=True)
class Model:
    """Of one rank of a system, with one core's DMA engines."""

    system: dict[str, float]
    core: dict[str, float]

    @staticmethod
    def of(name: str, target: str) -> Model:
        name = name.partition("*")[0]
        return Model(
            _info("--system", name), _info("--only", "constants", "--target",
                                           target)
        )

    def __getattr__(self, name: str) -> float:
        return self.system["collectives." + name]

    @property
    def engines(self) -> int:
        return int(self.core["dma.engines"])

    @property
    def begin(self) -> float:
        """From a descriptor to its first byte."""
        return self.core["dma.hbm.start"]

    @property
    def notify(self) -> float:
        return self.core["dma.hbm.notify"]

    def link(self, kind: str = "") -> tuple[float, float]:
        """Bandwidth and latency; kind: "", "network_", "switch_"."""
        latency = self.system[f"links.{kind}latency"]
        return self.system[f"links.{kind}bandwidth"], latency

    def busy(self, part: float, packet: float = 0) -> float:
        """What an engine is busy for with a part: packets, and bytes at its
        rate or at its share of the core's stack of HBM, read and written."""
        if part == 0:
            return 0
        c, packet = self.core, packet or self.packet_bytes
        rate = c["dma.rate"]
        short = c.get("dma.short_row_rate", rate)
        full = c["dma.efficient_row_bytes"]
        stack = c["memory.hbm_bandwidth"] / c["memory.hbm_stacks"]
        moving = min(part / short, max(full / short, part / rate))
        moving = max(moving, part / (stack / (2 * self.engines)))
        return math.ceil(part / packet) * c["dma.per_descriptor"] + moving

    def payload(self, part: float, packet: float = 0) -> float:
        """From a part's first byte to its last, on an engine of its own."""
        if part == 0:
            return 0
        c = self.core
        p, full = c["dma.hbm.payload_per_byte"], c["dma.efficient_row_bytes"]
        alone = min(part * p, max(full * p, part / c["dma.rate"]))
        return max(
            self.busy(part, packet), c["dma.hbm.payload_fixed"] + alone
        )

    def part(self, bytes_: float, sources: int = 1, engines: int = 0) -> float:
        """Bytes of an engine's part of a move, of all its sources."""
        engines = engines or self.engines
        parts = min(max(math.ceil(bytes_ / LEAST_PART), 1), engines)
        return math.ceil(bytes_ / parts) * sources

    def hop(
        self, bytes_: float, sources: int = 1, links: Links = (),
        engines: int = 0,
    ) -> float:
        """From a move's being ready to its arrival."""
        part = self.part(bytes_, sources, engines)
        moving = self.payload(part)
        for bandwidth, _ in links:
            moving = max(moving, bytes_ / bandwidth)
        latency = sum(l for _, l in links)
        return self.cc_step + self.begin + moving + latency + self.notify

    def occupied(
        self, bytes_: float, sources: int = 1, links: Links = (),
        engines: int = 0,
    ) -> float:
        """How long until the next move of the same engines and links."""
        busy = self.busy(self.part(bytes_, sources, engines))
        return max([busy, *(bytes_ / b for b, _ in links)])


class Rank:
    """One of ranks that all do the same: its collective core, its engines of
    one channel and its links, which serve one move after the other."""

    def __init__(self, model: Model, engines: int = 0) -> None:
        self.model, self.engines = model, engines or model.engines
        self.core = self.free = 0.0
        self.links: dict[int, float] = {}

    def move(
        self, ready: float, bytes_: float, sources: int = 1, links: Links = (),
    ) -> tuple[float, float]:
        """When it has arrived at home and at the other end."""
        m = self.model
        self.core = max(self.core, ready) + m.cc_step
        part = m.part(bytes_, sources, self.engines)
        start = max(self.core + m.begin, self.free)
        self.free = start + m.busy(part)
        home = last = start + m.payload(part)
        for i, (bandwidth, _) in enumerate(links):
            begin = max(start, self.links.get(i, 0.0))
            self.links[i] = begin + bytes_ / bandwidth
            last = max(last, self.links[i])
        away = last + sum(l for _, l in links)
        return home + m.notify, away + m.notify


def ring(
    model: Model, kind: str, ranks: int, bytes_: float, links: Links = (),
    channels: int = 1,
) -> float:
    """All hops alike: ranks of one chip, or one on each. bytes_: the
    buffer."""
    chunk = bytes_ / ranks / channels
    rank = Rank(model, model.engines // channels)
    last = 0.0
    came = [0.0, 0.0]
    if kind != "all_gather":
        for step in range(ranks - 1):
            came = [
                rank.move(t, chunk / 2, 2 if step else 1, links)[1]
                for t in came
            ]
        both = links if kind == "all_reduce" else ()
        ends = [rank.move(t, chunk / 2, 2, both) for t in came]
        last = max(max(e) for e in ends)
        came = [max(e[1] for e in ends)]
    if kind != "reduce_scatter":
        steps = range(ranks - 2 if kind == "all_reduce" else ranks - 1)
        ready = max(came)
        for _ in steps:
            _, ready = rank.move(ready, chunk, 1, links)
        last = max(last, ready)
    return model.start + last + model.finish


def kangaring(model: Model, kind: str, ranks: int, bytes_: float) -> float:
    """The ranks of one chip: every rank is the primary of one channel, whose
    part of a pair's chunks is as large as a chunk."""
    pairs, chunk = ranks // 2, bytes_ / ranks
    rank = Rank(model)
    came = [0.0, 0.0]
    last = 0.0
    if kind != "all_gather":
        for step in range(pairs - 1):
            came = [
                rank.move(t, chunk / 2, 3 if step else 2)[1] for t in came
            ]
        came = [rank.move(t, chunk / 2, 3 if pairs > 1 else 2)[1]
                for t in came]
        last = max(came)
        if kind == "reduce_scatter":
            return model.start + last + model.finish
        if pairs == 1:
            return model.start + last + model.finish
        _, last = rank.move(max(came), chunk)
        ready = max(came)
        for _ in range(pairs - 1):
            _, ready = rank.move(ready, chunk)
        return model.start + max(last, ready) + model.finish
    _, ready = rank.move(0.0, chunk)
    _, kept = rank.move(0.0, chunk)
    for _ in range(pairs - 1):
        _, ready = rank.move(ready, chunk)
    return model.start + max(ready, kept) + model.finish


def rdh(
    model: Model, chips: int, bytes_: float, links: Links
) -> float:
    """all_reduce of one rank a chip, all exchanges over one link."""
    chunk, axes = bytes_ / chips, int(math.log2(chips))
    rank = Rank(model)
    ready = 0.0
    for axis in range(axes - 1, -1, -1):
        first = axis == axes - 1
        size = chunk * 2**axis
        _, came = rank.move(ready, size, 1 if first else 2, links)
        if not first:
            came = max(came, rank.move(ready, size, 2)[0])
        ready = came
    _, ready = rank.move(ready, chunk, 2, links)
    for axis in range(1, axes):
        _, ready = rank.move(ready, chunk * 2**axis, 1, links)
    return model.start + ready + model.finish
