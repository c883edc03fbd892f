"""What the reference operations take, and how a test case is described.

A *tile* is a whole allocation filled with guard values; an *operand* is a view
of a tile, made by steps that NumPy and trnemu both understand. Two operands
with the same Tile object share its storage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reference import carrier

Array = np.ndarray[Any, Any]
GENERATION = {"trn1": 2, "trn2": 3, "trn3": 4}
LANES = 128


@dataclass
class T:
    """A tile or HBM view as an operation sees it.

    values has the logical shape of the view, (P, ...free) on chip, in
    carrier(dtype). by_matmul: per element, a matmul wrote it last since its
    PSUM tile was allocated (None: not known, not PSUM). where: position of
    each element in the backing tile's flat order, -1 for an element that a
    dynamic index puts out of bounds (its value is then meaningless). backing:
    the whole tile, for operations that need more than the view.
    """

    values: Array
    dtype: str
    space: str = "sbuf"
    start: int = 0
    by_matmul: Array | None = None
    where: Array | None = None
    backing: Array | None = None

    @property
    def flat(self) -> Array:
        """(P, F): the free dims in access order."""
        return self.values.reshape(len(self.values), -1)


@dataclass
class Between:
    """A result the documents fix only within limits, in the output's dtype.

    low <= result <= high, with +0 equal to -0. Both NaN: NaN. One of them NaN,
    or free: anything.
    """

    low: Array
    high: Array
    free: Array | None = None


@dataclass
class Lanes:
    """128 fp32 accumulators, each between values and high; known[p] is False
    where documents say nothing. Lane 0 is the first partition of the
    instruction's data (docs/numerics.md, Reductions)."""

    values: Array = field(default_factory=lambda: np.zeros(LANES, np.float32))
    high: Array = field(default_factory=lambda: np.zeros(LANES, np.float32))
    known: Array = field(default_factory=lambda: np.zeros(LANES, bool))


@dataclass
class State:
    """What survives between operations on one core.

    rng: per engine name, whatever the family's module keeps there.
    """

    vector: Lanes = field(default_factory=Lanes)
    scalar: Lanes = field(default_factory=Lanes)
    rng: dict[str, Any] = field(default_factory=dict)


# Every operation of the oracle: (gen, state, *, operands and attributes) ->
# {output operand: new values, in its carrier dtype and logical shape}.
Result = dict[str, Array | Between]
Operation = Callable[..., Result]


@dataclass(eq=False)
class Tile:
    """A whole allocation: backing holds data and guards, (P, ...free) on chip.

    An on-chip tile starts at partition 0. load=False: nobody wrote it before
    the operation (a PSUM tile that only matmuls may write); then only the
    operand's view is compared afterwards, not the guards.
    """

    backing: Array
    dtype: str
    space: str = "sbuf"
    load: bool = True

    def __post_init__(self) -> None:
        assert self.backing.dtype == carrier(self.dtype), self.dtype
        assert self.backing.flags.c_contiguous


# Steps that make a view of a tile. Each is applied to a trnemu view and, as
# NumPy, to an array of flat positions; both give the same elements.


@dataclass(frozen=True)
class Index:
    """Basic indexing, partitions first; negative steps on free dims only."""

    key: tuple[slice | int, ...]

    def view(self, v: Any) -> Any:
        return v[self.key]

    def array(self, a: Array) -> Array:
        return a[self.key]


@dataclass(frozen=True)
class Permute:
    order: tuple[int, ...]

    def view(self, v: Any) -> Any:
        return v.permute(self.order)

    def array(self, a: Array) -> Array:
        return a.transpose(self.order)


@dataclass(frozen=True)
class Reshape:
    shape: tuple[int, ...]

    def view(self, v: Any) -> Any:
        return v.reshape(self.shape)

    def array(self, a: Array) -> Array:
        return a.reshape(self.shape)


@dataclass(frozen=True)
class Broadcast:
    dim: int
    size: int

    def view(self, v: Any) -> Any:
        return v.broadcast(self.dim, self.size)

    def array(self, a: Array) -> Array:
        assert a.shape[self.dim] == 1
        return np.repeat(a, self.size, self.dim)


@dataclass(frozen=True)
class Ap:
    """[step, count] pairs in elements of the whole tile, first the partitions
    on chip, whose step is the elements of a partition (nki-aps.rst). Must be
    the first step."""

    pattern: tuple[tuple[int, int], ...]
    offset: int = 0

    def view(self, v: Any) -> Any:
        return v.ap([list(p) for p in self.pattern], offset=self.offset)

    def array(self, a: Array) -> Array:
        index = np.array(self.offset)
        for step, count in self.pattern:
            index = index[..., None] + step * np.arange(count)
        return a.reshape(-1)[index]


Step = Index | Permute | Reshape | Broadcast | Ap


def _stride(rng: np.random.Generator, n: int) -> tuple[int, slice]:
    """A dim that holds n elements at some step, and the slice of them."""
    step = int(rng.choice([1, 1, 1, 2, 3, -1, -2]))
    low, high = (int(k) for k in rng.integers(0, 4, 2))
    last = low + abs(step) * (n - 1)
    if step > 0:
        return last + 1 + high, slice(low, last + 1, step)
    return last + 1 + high, slice(last, low - 1 if low else None, step)


def _pattern(
    rng: np.random.Generator, shape: tuple[int, ...], rows: int, start: int
) -> tuple[tuple[int, ...], Ap]:
    """An access pattern without overlap, dims in order."""
    step, pairs = int(rng.integers(1, 3)), []
    for n in reversed(shape[1:]):
        pairs.insert(0, (step, n))
        step *= n + int(rng.integers(0, 2))
    low = int(rng.integers(0, 4))
    row = low + step + 3
    pattern = ((row, shape[0]), *pairs)
    return (rows, row), Ap(pattern, start * row + low)


def layout(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    start: int,
    writable: bool,
) -> tuple[tuple[int, ...], tuple[Step, ...]]:
    """A random way to see `shape`, on chip: (shape of the tile, steps).

    writable: no element occurs twice. The tile has guards around the view.
    """
    rows = min(LANES, start + shape[0] + int(rng.integers(0, 3)))
    lanes = slice(start, start + shape[0])
    free, rank = shape[1:], len(shape) - 1
    styles = ["whole", "slice", "slice", "permute", "reshape", "ap"]
    style = rng.choice(styles if writable else [*styles, "broadcast"])
    if style == "whole":
        return (rows, *free), (Index((lanes,)),)
    if style == "ap":
        tile, ap = _pattern(rng, shape, rows, start)
        return tile, (ap,)
    if style == "reshape":
        low, high = (int(k) for k in rng.integers(0, 4, 2))
        count = int(np.prod(free))
        index = Index((lanes, slice(low, low + count)))
        return (rows, low + count + high), (index, Reshape(shape))
    after: list[Step] = []
    if style == "permute":
        order = [int(k) for k in rng.permutation(rank)]
        free = tuple(free[order.index(k)] for k in range(rank))
        after = [Permute((0, *(k + 1 for k in order)))]
    if style == "broadcast":
        chosen = rng.random(rank) < 0.6
        after = [
            Broadcast(k + 1, n)
            for k, n in enumerate(free) if chosen[k] and n > 1
        ]
        free = tuple(1 if c else n for c, n in zip(chosen, free))
    dims = [_stride(rng, n) for n in free]
    index = Index((lanes, *(key for _, key in dims)))
    return (rows, *(n for n, _ in dims)), (index, *after)


@dataclass(eq=False)
class OperandSpec:
    """A view of a tile. steps may hold a family's own step types, with the
    same two methods; one that depends on run-time data may give position -1.
    """

    tile: Tile
    steps: tuple[Any, ...] = ()
    start: int = 0  # absolute partition of the view

    def where(self) -> Array:
        """Flat positions in the tile of each element of the view."""
        size = self.tile.backing.shape
        positions = np.arange(self.tile.backing.size).reshape(size)
        for step in self.steps:
            positions = step.array(positions)
        return positions

    def view(self, tile_view: Any) -> Any:
        """The trnemu view."""
        for step in self.steps:
            tile_view = step.view(tile_view)
        return tile_view

    def get(
        self, backing: Array | None = None, marks: Array | None = None
    ) -> T:
        """What the operation sees, of `backing` or of the initial contents.

        marks: like backing, what a matmul wrote last.
        """
        tile = self.tile
        backing = tile.backing if backing is None else backing
        where = self.where()
        return T(
            backing.reshape(-1)[where], tile.dtype, tile.space, self.start,
            None if marks is None else marks.reshape(-1)[where], where, backing,
        )

    def put(self, backing: Array, values: Array) -> None:
        """Writes a result into `backing`, in place; -1 is nowhere."""
        where = self.where()
        assert values.shape == where.shape, (values.shape, where.shape)
        assert values.dtype == backing.dtype, (values.dtype, backing.dtype)
        inside = where >= 0
        backing.reshape(-1)[where[inside]] = values[inside]


Operand = OperandSpec | list[OperandSpec]


@dataclass
class Case:
    """One use of an operation.

    operands: the tile operands by parameter name; a list where the operation
    takes one. attributes: everything else (numbers in place of tiles too).
    prelude: runs before it in the same program; it may share tiles. outputs:
    names of the operands that the operation writes. tolerance: overrides the
    operation's: "exact", or "bits" where NaN is compared too.
    """

    operation: str
    target: str
    operands: dict[str, Operand]
    attributes: dict[str, Any] = field(default_factory=dict)
    prelude: list[Case] = field(default_factory=list)
    outputs: tuple[str, ...] = ("dst",)
    tolerance: str = "exact"

    @property
    def gen(self) -> int:
        return GENERATION[self.target]

    def all(self) -> Iterator[Case]:
        """The prelude, then itself."""
        for case in self.prelude:
            yield from case.all()
        yield self

    def specs(self) -> Iterator[OperandSpec]:
        """Every operand, its own and the prelude's."""
        for case in self.all():
            for operand in case.operands.values():
                yield from operand if isinstance(operand, list) else [operand]

    def tiles(self) -> list[Tile]:
        """Every tile once, in order of use."""
        found: dict[int, Tile] = {}
        for spec in self.specs():
            found.setdefault(id(spec.tile), spec.tile)
        return list(found.values())
