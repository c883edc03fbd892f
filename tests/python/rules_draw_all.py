"""Random calls of every operation, static and with indices of a run."""

from __future__ import annotations

import dataclasses
from typing import Any

from rules_draw import TensorAndDma
from rules_draw_other import Other
from rules_draw_vector import Elementwise
from rules_language import Tile

# The operands that views made by indirect() are for.
TAKES = {
    "nc_matmul": ("dst", "stationary", "moving"),
    "nc_matmul_mx": ("dst", "stationary", "moving"),
    "activation": ("dst", "data"), "activation_reduce": ("dst", "data"),
    "activate2": ("dst", "data"), "tensor_reduce": ("dst", "data"),
    "tensor_tensor": ("dst", "data1"), "tensor_scalar": ("dst", "data"),
    "tensor_scalar_reduce": ("dst", "data"),
    "tensor_scalar_cumulative": ("dst", "src"), "tensor_copy": ("dst", "src"),
    "tensor_copy_predicated": ("dst", "predicate"),
    "exponential": ("dst", "src"),
}


class Draw(TensorAndDma, Elementwise, Other):
    """Random calls, mostly legal: each choice is odd once in a while."""

    few = False

    def shape(self) -> tuple[int, ...]:
        if not self.few:
            return super().shape()
        p = self.random.choice((16, 16, 32, 32, 32, 64, 128))  # whole groups
        return (p, self.random.choice((8, 1, 33)))

    def dynamic_call(self, operation: str) -> dict[str, Any]:
        """One with indices that only a run knows, where it has them."""
        if operation == "dma_copy":
            return self.rows(self.call(operation))
        self.few = True
        call = self.call(operation)
        while any(len(t.shape) != 2 or t.buffer == "hbm"
                  for t in call.values() if isinstance(t, Tile)):
            call = self.call(operation)
        start = self.random.choice((0, 32, 64, 96))
        if operation == "nc_matmul" and self.random.random() < 0.1:
            start = 64
            call["tile_size"], call["tile_position"] = (64, 64), (64, 64)
        if operation == "tensor_copy" and self.random.random() < 0.05:
            call["engine"] = "gpsimd"
        for name, tile in call.items():
            if isinstance(tile, Tile) and not name.endswith("_scale"):
                call[name] = self.indirect(
                    tile, start, name in TAKES[operation])
        if operation == "nc_matmul_mx":
            self.share_indices(call)
        return call

    def indirect(self, tile: Tile, start: int, taken: bool) -> Tile:
        """Of a tile, mostly at `start`, with an index that starts there."""
        p = tile.shape[0]
        # Few partitions in a group have few offsets.
        whole = p % 16 == 0 or self.odd()
        if not self.odd() and start + p <= 128:
            tile = dataclasses.replace(tile, start=start)
        if not whole or self.random.random() >= (0.5 if taken else 0.1):
            return tile
        at = tile.start
        if self.random.random() < 0.3:
            at = self.random.choice((0, 16, 32, 64, 96))
        index = Tile("sbuf", (p, self.pick((-(-tile.free // 16),), (1,))),
                     self.random.choice(("uint16", "int16", "int32")),
                     at if at + p <= 128 else 0)
        return dataclasses.replace(tile, form="tensor", index=index)

    def share_indices(self, call: dict[str, Any]) -> None:
        """Scales of as many rows as their operand's, and of its index."""
        for name in ("stationary", "moving"):
            tile, scale = call[name], call[f"{name}_scale"]
            if not tile.form or self.odd():
                continue
            index = tile.index
            if self.odd():
                index = dataclasses.replace(index, dtype="uint32")
            call[f"{name}_scale"] = dataclasses.replace(
                scale, buffer="sbuf", shape=(tile.shape[0], scale.shape[1]),
                start=tile.start, form="tensor", index=index)

    def rows(self, call: dict[str, Any]) -> dict[str, Any]:
        """Rows of HBM tensors with an index each, or one offset for all."""
        for name in ("src", "dst"):
            tile = call[name]
            if tile.buffer != "hbm" or self.random.random() < 0.3:
                continue
            dtype = self.pick(("int32", "uint32"), ("int16",))
            shape = (tile.shape[0], self.random.choice((1, 1, 1, 2)))
            form, index = self.random.choice((
                ("vector", Tile("sbuf", shape, dtype)),
                ("scalar", Tile("sbuf", (1, 1), dtype)),
                ("scalar", "register")))
            call[name] = dataclasses.replace(tile, form=form, index=index)
        if self.odd():
            call["dge_mode"] = self.random.choice(("none", "hwdge"))
        return call
