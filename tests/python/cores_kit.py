"""Programs on the two cores of a logical core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import trnemu

F32 = np.float32
TWO_CORES = ("trn2", "trn3")  # generations that join two cores
Array = np.ndarray[Any, Any]


class Pair:
    """A program under construction whose tiles say which core they are on.

    run() executes it and gives the stored views as arrays; findings are the
    diagnostics of the last run.
    """

    def __init__(self, target: str = "trn2", **options: Any) -> None:
        self.b = trnemu.ProgramBuilder(target=target, cores=2, **options)
        self.inputs: dict[str, Array] = {}
        self.stored: list[str] = []
        self.findings: list[trnemu.Finding] = []

    def empty(self, core: int, shape: Sequence[int], dtype: str = "float32",
              **options: Any) -> trnemu.View:
        with self.b.core(core):
            return self.b.sbuf(tuple(shape), dtype, **options)

    def load(self, core: int, array: Any, dtype: str | None = None,
             **options: Any) -> trnemu.View:
        """A tile of the core that holds the array."""
        array = np.ascontiguousarray(array)
        dtype = dtype or array.dtype.name
        name = f"in{len(self.inputs)}"
        self.inputs[name] = array
        x = self.b.input(name, array.shape, dtype)
        tile = self.empty(core, array.shape, dtype, **options)
        with self.b.core(core):
            self.b.dma_copy(dst=tile, src=x)
        return tile

    def store(self, core: int, view: trnemu.View) -> None:
        """Puts the view into the next output, as it is at this point."""
        name = f"out{len(self.stored)}"
        self.stored.append(name)
        y = self.b.output(name, view.shape, str(view.dtype))
        with self.b.core(core):
            self.b.dma_copy(dst=y, src=view)

    def swap(self, core: int, src: trnemu.View, dst: trnemu.View,
             pipe_id: int = 0, **options: Any) -> None:
        """The core's half of an exchange with the other one."""
        options = {"send_to_rank": 1 - core, "recv_from_rank": 1 - core,
                   "pipe_id": pipe_id, **options}
        with self.b.core(core):
            self.b.sendrecv(src=src, dst=dst, **options)

    def barrier(self, core: int, data: trnemu.View,
                cores: tuple[int, ...] = (0, 1), **options: Any) -> None:
        with self.b.core(core):
            self.b.core_barrier(data=data, cores=cores, **options)

    def run(self, **options: Any) -> list[Array]:
        r = trnemu.run(self.b.build(), self.inputs, **options)
        self.findings = r.diagnostics
        return [r.outputs[name] for name in self.stored]


# Every order that instructions and DMA parts may take effect in.
ORDERS: list[dict[str, Any]] = [
    {},
    {"schedule": "program", "time": False},
    *({"schedule": seed, "time": False} for seed in range(20)),
]

two_cores = pytest.mark.parametrize("target", TWO_CORES)
every_order = pytest.mark.parametrize(
    "order", ORDERS, ids=lambda o: str(o.get("schedule", "timed")))


def pattern(core: int, shape: tuple[int, ...] = (128, 64)) -> Array:
    """A number of its own for each core and place."""
    return (np.arange(np.prod(shape), dtype=F32) + 1e6 * core).reshape(shape)


def deadlock(call: Any, *words: str) -> trnemu.Fault:
    with pytest.raises(trnemu.Fault) as info:
        call()
    assert info.value.category == "deadlock", str(info.value)
    for word in words:
        assert word in str(info.value), f"{word!r} not in:\n{info.value}"
    return info.value


def halves(target: str, barrier: bool = True, **options: Any) -> Pair:
    """The documentation's example: each core writes half of a shared tensor,
    and both read all of it after a barrier."""
    k = Pair(target)
    shared = k.b.scratch("shared", (128, 64), "float32")
    for core in (0, 1):
        own = k.load(core, pattern(core, (64, 64)))
        with k.b.core(core):
            k.b.dma_copy(dst=shared[64 * core : 64 * core + 64], src=own)
        if barrier:
            k.barrier(core, shared, **options)
        with k.b.core(core):
            both = k.b.sbuf((128, 64), "float32")
            k.b.dma_copy(dst=both, src=shared)
        k.store(core, both)
    return k
