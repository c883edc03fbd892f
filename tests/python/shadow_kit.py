"""Programs with a hole: a case of the oracle, one byte of which nobody wrote,
and what is read of a tile afterwards, byte by byte."""

from __future__ import annotations

from typing import Any

import numpy as np

import trnemu
from oracle.types import Array, Case, OperandSpec, Tile


def listed(operand: Any) -> list[OperandSpec]:
    return operand if isinstance(operand, list) else [operand]


def rows_of(tile: Tile) -> tuple[int, int]:
    """(rows, bytes of a row): partitions on chip, one row in HBM."""
    rows = 1 if tile.space == "hbm" else tile.backing.shape[0]
    return rows, tile.backing.nbytes // rows


def bytes_of(view: Any) -> Any:
    """The tile or tensor as rows of bytes."""
    shape = view.shape
    on_chip = view.buffer != "hbm"
    flat = view.reshape(shape[0] if on_chip else 1, -1)
    return flat.view("uint8")


class Holed:
    """Loads the tiles of a case, runs it, reads bytes of its tiles.

    hole: (tile, byte) that is left out where the tile is loaded; empty: tiles
    that are not loaded at all.
    """

    def __init__(self, case: Case, hole: tuple[Tile, int] | None = None,
                 empty: tuple[Tile, ...] = ()) -> None:
        self.case = case
        self.b = trnemu.ProgramBuilder(target=case.target)
        self.inputs: dict[str, Array] = {}
        self.hole = hole
        self.empty = empty
        self.views = {
            id(tile): self._tile(tile, f"t{i}")
            for i, tile in enumerate(case.tiles())
        }
        for step in case.all():
            operands = {
                name: [s.view(self.views[id(s.tile)]) for s in o]
                if isinstance(o, list) else o.view(self.views[id(o.tile)])
                for name, o in step.operands.items()
            }
            getattr(self.b, step.operation)(**operands, **step.attributes)
        self.outputs = 0

    def _tile(self, tile: Tile, name: str) -> Any:
        shape = tile.backing.shape
        make = {"hbm": lambda s, d: self.b.scratch(name, s, d),
                "sbuf": lambda s, d: self.b.sbuf(s, d, name=name),
                "psum": lambda s, d: self.b.psum(s, d, name=name)}[tile.space]
        view = make(shape, tile.dtype)
        if not tile.load or any(tile is t for t in self.empty):
            return view
        rows, size = rows_of(tile)
        source = self.b.input(f"{name}_in", (rows, size), "uint8")
        self.inputs[f"{name}_in"] = np.frombuffer(
            tile.backing.tobytes(), np.uint8).reshape(rows, size)
        to = bytes_of(view)
        for p, q, low, high in self._pieces(tile):
            piece = (slice(p, q), slice(low, high))
            self.b.dma_copy(dst=to[piece], src=source[piece])
        return view

    def _pieces(self, tile: Tile) -> list[tuple[int, int, int, int]]:
        rows, size = rows_of(tile)
        if self.hole is None or self.hole[0] is not tile:
            return [(0, rows, 0, size)]
        row, at = divmod(self.hole[1], size)
        pieces = [(0, row, 0, size), (row + 1, rows, 0, size),
                  (row, row + 1, 0, at), (row, row + 1, at + 1, size)]
        return [p for p in pieces if p[0] < p[1] and p[2] < p[3]]

    def read(self, tile: Tile, byte: int, n: int = 1) -> None:
        """Reads n bytes of a row."""
        row, at = divmod(byte, rows_of(tile)[1])
        self.outputs += 1
        y = self.b.output(f"y{self.outputs}", (1, n), "uint8")
        self.b.dma_copy(
            dst=y, src=bytes_of(self.views[id(tile)])[row:row + 1, at:at + n])

    def fault(self) -> trnemu.Fault | None:
        """What a run of it says."""
        try:
            trnemu.run(self.b.build(), self.inputs, time=False)
        except trnemu.Fault as fault:
            return fault
        return None


def places(spec: OperandSpec) -> tuple[list[int], list[int]]:
    """Bytes (of the whole tile) of the operand's first, middle and last
    element, and of up to two elements of the tile beside it: first the one
    nearest to the middle of the view, a gap if there is one."""
    size = spec.tile.backing.itemsize
    inside = np.unique(spec.where())
    inside = inside[inside >= 0]
    others = np.setdiff1d(np.arange(spec.tile.backing.size), inside)
    if not inside.size:
        return [], []
    middle = inside[len(inside) // 2]
    chosen = [inside[0] * size, middle * size + size // 2,
              inside[-1] * size + size - 1]
    near = others[np.argsort(np.abs(others - middle))][:2] * size
    return [int(b) for b in dict.fromkeys(chosen)], [int(b) for b in near]


def bytes_at(text: str) -> tuple[int, int]:
    """ "[64, 68)" as numbers."""
    begin, end = text.strip("[)").split(", ")
    return int(begin), int(end)
