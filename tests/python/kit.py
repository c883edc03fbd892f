"""Programs around one instruction: load inputs, run it, store what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import trnemu

TARGETS = trnemu.targets


class Kit:
    """A program under construction, with its inputs.

    b is the builder; load() and empty() give tiles, run() executes what was
    built and gives the views it is asked for as arrays. findings holds the
    diagnostics of the last run().
    """

    def __init__(self, target: str = "trn2", **options: Any) -> None:
        self.b = trnemu.ProgramBuilder(target=target, **options)
        self.inputs: dict[str, np.ndarray[Any, Any]] = {}
        self.findings: list[trnemu.Finding] = []

    def input(self, array: Any, dtype: str | None = None) -> trnemu.View:
        """An HBM tensor that holds the array."""
        array = np.ascontiguousarray(array)
        name = f"in{len(self.inputs)}"
        self.inputs[name] = array
        return self.b.input(name, array.shape, dtype or array.dtype.name)

    def empty(
        self,
        shape: Sequence[int],
        dtype: str = "float32",
        space: str = "sbuf",
        start: int = 0,
    ) -> trnemu.View:
        """A tile nobody wrote, from partition `start` on."""
        allocate = {"sbuf": self.b.sbuf, "psum": self.b.psum}[space]
        tile = allocate((start + shape[0], *shape[1:]), dtype)
        return tile[start:] if start else tile

    def load(
        self,
        array: Any,
        dtype: str | None = None,
        space: str = "sbuf",
        start: int = 0,
    ) -> trnemu.View:
        """A tile that holds the array: by DMA, into PSUM through SBUF."""
        array = np.ascontiguousarray(array)
        dtype = dtype or array.dtype.name
        tile = self.empty(array.shape, dtype, start=start)
        self.b.dma_copy(dst=tile, src=self.input(array, dtype))
        if space == "sbuf":
            return tile
        bank = self.empty(array.shape, dtype, space, start)
        self.b.tensor_copy(dst=bank, src=tile, engine="vector")
        return bank

    def filled(
        self, shape: Sequence[int], value: float, dtype: str = "float32",
        space: str = "sbuf",
    ) -> trnemu.View:
        """A tile full of one value."""
        tile = self.empty(shape, dtype, space)
        self.b.memset(dst=tile, value=value)
        return tile

    def build(self, *views: trnemu.View) -> trnemu.Program:
        """The program, with each view stored to an output out0, out1, ..."""
        for i, view in enumerate(views):
            y = self.b.output(f"out{i}", view.shape, str(view.dtype))
            self.b.dma_copy(dst=y, src=view)
        return self.b.build()

    def run(self, *views: trnemu.View, **options: Any) -> list[Any]:
        """The arrays that the views hold in the end."""
        r = trnemu.run(self.build(*views), self.inputs, **options)
        self.findings = r.diagnostics
        return [r.outputs[f"out{i}"] for i in range(len(views))]

    def one(self, view: trnemu.View, **options: Any) -> np.ndarray[Any, Any]:
        """run() of a single view."""
        return self.run(view, **options)[0]
