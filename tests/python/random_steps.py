"""What random programs are made of: buffers, views of them, and steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from oracle.types import Array
from reference import carrier

if TYPE_CHECKING:
    from random_machine import Machine


class Invalid(Exception):
    """A step asks for what the documents leave open; `step` is the one."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.step: Any = None


@dataclass(eq=False)
class Buffer:
    """Storage: (partitions, ...) on chip, any shape in HBM. init: what the
    host puts there (HBM)."""

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str = "uint32"
    init: Array | None = None
    kind: str = ""  # of HBM: input or inout

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape)) * carrier(self.dtype).itemsize

    def typed_shape(self, dtype: str) -> tuple[int, ...]:
        """As another dtype, the last axis rescaled."""
        ratio = carrier(self.dtype).itemsize, carrier(dtype).itemsize
        return (*self.shape[:-1], self.shape[-1] * ratio[0] // ratio[1])


@dataclass(eq=False)
class Register:
    """A register, with its value before the program or None."""

    value: int | None = None


@dataclass(eq=False)
class Ref:
    """A view of a buffer: the part of it that stands for a tile (place: shape
    and first element, of a partition on chip), then steps.

    shift: a register, or the Ref of one index, that moves the view by so many
    elements of a partition.
    """

    buffer: Buffer
    dtype: str
    place: tuple[tuple[int, ...], int] | None = None
    steps: tuple[Any, ...] = ()
    start: int = 0
    shift: Any = None
    _fixed: Array | None = field(default=None, repr=False)

    def _part(self, whole: Any) -> Any:
        if self.place is None:
            return whole
        shape, first = self.place
        if self.buffer.space == "hbm":
            return whole[first : first + int(np.prod(shape))].reshape(shape)
        count = int(np.prod(shape[1:]))
        return whole[: shape[0], first : first + count].reshape(shape)

    def where(self, machine: Machine) -> Array:
        """Elements of the buffer as the view's dtype, in flat order."""
        if self._fixed is None:
            shape = self.buffer.typed_shape(self.dtype)
            at = self._part(np.arange(int(np.prod(shape))).reshape(shape))
            for step in self.steps:
                at = step.array(at)
            self._fixed = at
        if self.shift is None:
            return self._fixed
        row = self.buffer.typed_shape(self.dtype)[1]
        by = machine.number(self.shift)
        if by < 0 or (self._fixed % row).max() + by >= row:
            raise Invalid("a dynamic address leaves its partition")
        return self._fixed + by

    def view(self, emitter: Any) -> Any:
        """The trnemu view."""
        whole = emitter.view(self.buffer)
        if self.dtype != self.buffer.dtype:
            whole = whole.view(self.dtype)
        if self.shift is not None:
            shift = emitter.value(self.shift)
            ap = self.steps[0]
            return whole.ap([list(p) for p in ap.pattern], offset=ap.offset,
                            scalar_offset=shift, indirect_dim=1)
        whole = self._part(whole)
        for step in self.steps:
            whole = step.view(whole)
        return whole


@dataclass(eq=False)
class RowsRef:
    """Rows of an HBM buffer that an index tile (W, 1) names. One out of
    bounds is skipped, where `skip` allows it."""

    buffer: Buffer
    dtype: str
    index: Ref
    offset: int
    width: int
    unique: bool
    skip: bool
    start: int = 0

    def where(self, machine: Machine) -> Array:
        shape = self.buffer.typed_shape(self.dtype)
        rows = machine.read(self.index).values.reshape(-1).astype(np.int64)
        bad = (rows < 0) | (rows >= shape[0])
        if bad.any() and not self.skip:
            raise Invalid("an index is out of bounds")
        good = rows[~bad]
        if self.unique and len(np.unique(good)) < len(good):
            raise Invalid("two rows of a scatter are one")
        at = rows[:, None] * shape[1] + self.offset + np.arange(self.width)
        return np.where(bad[:, None], -1, at)

    def view(self, emitter: Any) -> Any:
        whole = emitter.view(self.buffer)
        if self.dtype != self.buffer.dtype:
            whole = whole.view(self.dtype)
        count = self.index.place[0][0] if self.index.place else 0
        row = self.buffer.typed_shape(self.dtype)[1]
        return whole.ap(
            [[row, count], [1, self.width]], offset=self.offset,
            vector_offset=self.index.view(emitter), indirect_dim=0,
        )


# Steps.


@dataclass(eq=False)
class Op:
    """An operation on views. `bits`: NaN keeps its bits. expects: operands
    whose values were loaded for it, and must still be these."""

    name: str
    operands: dict[str, Any]
    attributes: dict[str, Any]
    outputs: tuple[str, ...] = ("dst",)
    bits: bool = False
    expects: dict[str, bytes] = field(default_factory=dict)
    dead: bool = False

    def refs(self, names: Any = None) -> list[Any]:
        out = []
        for name, one in self.operands.items():
            if names is None or name in names:
                out += one if isinstance(one, list) else [one]
        return out


@dataclass(eq=False)
class Reg:
    """move, alu, load or store: arguments in the order of the builder's."""

    kind: str
    arguments: tuple[Any, ...]
    dead: bool = False


@dataclass(eq=False)
class Fresh:
    """A tile is allocated: nothing is in it, and no matmul wrote it."""

    buffer: Buffer
    dead: bool = False


@dataclass(eq=False)
class Loop:
    """fori_loop; with counter None while_loop(hi)."""

    counter: Register | None
    lo: Any
    hi: Any
    step: int
    body: list[Any]
    dead: bool = False
