"""Where the tensors of a graph live while a program computes them.

Every tensor is seen as a matrix: its last axis is the *features*, all others
together are the *rows*. On chip a matrix lies with one of the two on the
partitions, cut in blocks of 128; that is its layout:

    "rows"      block i is a tile [rows 128 i ..., all features]
    "features"  block i is a tile [features 128 i ..., all rows]

The tensor engine contracts over partitions, so a product reads its left operand
as features and its right operand as rows, and can give either. Element by
element any layout will do; softmax reduces along the free axis and wants rows.
A change of layout goes through the tensor engine's transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from trnemu._builder import ProgramBuilder
from trnemu._dtype import Dtype
from trnemu._trnemu import View

ROWS = "rows"
FEATURES = "features"

PARTITIONS = 128
# What one instruction takes of the free axis of a matmul's moving operand, and
# what fills a PSUM bank in float32.
MOVING = 512
# Elements per partition that element-wise work and loads take at a time.
CHUNK = 2048

# Where a graph node's meta keeps its Constant, if its value is known.
CONSTANT = "trnemu_constant"

# Bytes per partition: of one tensor kept on chip, and of all at a time. The
# rest of SBUF is for tiles in passing.
_TENSOR_BYTES = 64 * 1024
_ALL_BYTES = 128 * 1024


def other(layout: str) -> str:
    """The layout with the axes exchanged."""
    return FEATURES if layout == ROWS else ROWS


def spans(size: int, step: int) -> list[tuple[int, int]]:
    """[(0, step), (step, 2 step), ..., (_, size)]."""
    return [(at, min(at + step, size)) for at in range(0, size, step)]


def matrix_of(shape: Sequence[int]) -> tuple[int, int]:
    """(rows, features) of a shape."""
    if not shape:
        return 1, 1
    return int(np.prod(shape[:-1], dtype=np.int64)), int(shape[-1])


class Matrix:
    """A matrix on the device: in SBUF, in HBM, or both.

    `outer` lies on the partitions, `inner` along them. In HBM it is contiguous
    as [outer, inner].
    """

    def __init__(
        self,
        layout: str,
        outer: int,
        inner: int,
        dtype: str,
        hbm: View | None = None,
        tiles: list[View] | None = None,
    ) -> None:
        self.layout = layout
        self.outer = outer
        self.inner = inner
        self.dtype = dtype
        self.hbm = hbm
        self.tiles = tiles
        self.twin: Matrix | None = None  # the same in the other layout

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The spans of `outer` that tiles hold."""
        return spans(self.outer, PARTITIONS)

    @property
    def tile_bytes(self) -> int:
        """Bytes per partition if it is, or were, in SBUF."""
        return len(self.blocks) * self.inner * Dtype(self.dtype).itemsize

    def flipped(self) -> Matrix:
        """The transposed matrix: the same memory under the other name."""
        return Matrix(
            other(self.layout),
            self.outer,
            self.inner,
            self.dtype,
            self.hbm,
            self.tiles,
        )


class Value:
    """A tensor of the graph: a shape, and the matrix that holds it."""

    def __init__(self, shape: Sequence[int], matrix: Matrix) -> None:
        self.shape = tuple(int(n) for n in shape)
        self.matrix = matrix

    @property
    def dtype(self) -> str:
        """The dtype's name."""
        return self.matrix.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def same_matrix(self, shape: Sequence[int]) -> bool:
        """Whether another shape of it is the same matrix."""
        return matrix_of(shape) == matrix_of(self.shape)


class Constant:
    """A tensor whose values are known when compiling."""

    def __init__(self, name: str, array: np.ndarray[Any, Any]) -> None:
        self.name = name
        self.array = array
        self._values: dict[str, Value] = {}

    def value(self, ctx: Context, layout: str) -> Value:
        """It, as a constant of the program, laid out as `layout`."""
        if layout not in self._values:
            matrix = self.array.reshape(matrix_of(self.array.shape))
            if layout == FEATURES:
                matrix = np.ascontiguousarray(matrix.T)
            hbm = ctx.b.constant(ctx.unique(self._name(layout)), matrix)
            dtype = str(hbm.dtype)
            held = Matrix(layout, *matrix.shape, dtype, hbm)
            self._values[layout] = Value(self.array.shape, held)
        return self._values[layout]

    def _name(self, layout: str) -> str:
        """Its name as a matrix lies; a single row lies as it is."""
        if layout == ROWS or 1 in matrix_of(self.array.shape):
            return self.name
        if self.name.endswith(".T"):
            return self.name.removesuffix(".T")
        return f"{self.name}.T"


class Context:
    """Builds a program: the builder, and what is where."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.b = builder
        # What the graph still needs; the driver keeps it up to date.
        self.live: Callable[[], Iterator[Value]] = lambda: iter(())
        self.preference: Callable[[Any], str] = lambda node: ROWS
        # Values of later graph nodes that a lowering computed along with its own.
        self.done: dict[Any, Value] = {}
        self.label = ""  # the graph node being lowered; names its operations
        self._passing: list[Matrix] = []  # made by the lowering at work
        self._names: set[str] = set()

    # Names -----------------------------------------------------------------

    def unique(self, name: str) -> str:
        """`name`, or with a number if the program has it already."""
        candidate, n = name, 1
        while candidate in self._names:
            n += 1
            candidate = f"{name}_{n}"
        self._names.add(candidate)
        return candidate

    def start(self, label: str) -> None:
        """A lowering starts: what the last one held in passing is free."""
        self.label = label
        self._passing.clear()

    # Memory ----------------------------------------------------------------

    def _fits(self, matrix: Matrix) -> bool:
        """Whether SBUF has room to keep one more matrix."""
        if matrix.tile_bytes > _TENSOR_BYTES:
            return False
        held: dict[int, int] = {}
        for owner in [*(v.matrix for v in self.live()), *self._passing]:
            for m in (owner, owner.twin):
                if m is not None and m.tiles is not None:
                    held[id(m.tiles)] = m.tile_bytes
        return sum(held.values()) + matrix.tile_bytes <= _ALL_BYTES

    def new(self, shape: Sequence[int], dtype: str, layout: str) -> Value:
        """A tensor to be written: kept in SBUF if there is room."""
        rows, features = matrix_of(shape)
        outer, inner = (rows, features) if layout == ROWS else (features, rows)
        matrix = self._matrix(layout, outer, inner, dtype)
        return Value(shape, matrix)

    def _matrix(self, layout: str, outer: int, inner: int, dtype: str) -> Matrix:
        matrix = Matrix(layout, outer, inner, dtype)
        if self._fits(matrix):
            matrix.tiles = [
                self.b.sbuf((end - at, inner), dtype) for at, end in matrix.blocks
            ]
        else:
            matrix.hbm = self.scratch((outer, inner), dtype)
        self._passing.append(matrix)
        return matrix

    def scratch(self, shape: Sequence[int], dtype: str) -> View:
        """An HBM tensor for what is on its way."""
        name = f"{self.label}.scratch" if self.label else "scratch"
        return self.b.scratch(self.unique(name), shape, dtype)

    def read(self, matrix: Matrix, block: int, start: int, end: int) -> View:
        """A tile of SBUF with a block of a matrix, from `start` to `end`."""
        if matrix.tiles is not None:
            return matrix.tiles[block][:, start:end]
        at, to = matrix.blocks[block]
        tile = self.b.sbuf((to - at, end - start), matrix.dtype)
        self.b.dma_copy(dst=tile, src=matrix.hbm[at:to, start:end], name=self.label)
        return tile

    def place(self, matrix: Matrix, block: int, start: int, end: int) -> View:
        """The tile to write a part of a matrix to; then call written()."""
        if matrix.tiles is not None:
            return matrix.tiles[block][:, start:end]
        at, to = matrix.blocks[block]
        return self.b.sbuf((to - at, end - start), matrix.dtype)

    def written(
        self, matrix: Matrix, block: int, start: int, end: int, tile: View
    ) -> None:
        """What place() gave has been written."""
        if matrix.tiles is None:
            at, to = matrix.blocks[block]
            self.b.dma_copy(dst=matrix.hbm[at:to, start:end], src=tile, name=self.label)

    def resident(self, matrix: Matrix) -> Matrix:
        """Loads a matrix from HBM once, if SBUF has room to keep it."""
        if matrix.tiles is None and self._fits(matrix):
            loaded = [
                self.read(matrix, i, 0, matrix.inner) for i in range(len(matrix.blocks))
            ]
            matrix.tiles = loaded
            self._passing.append(matrix)
        return matrix

    # Layouts ---------------------------------------------------------------

    def laid_out(self, value: Value | Constant, layout: str) -> Matrix:
        """The matrix of a tensor in the layout asked for."""
        if isinstance(value, Constant):
            return value.value(self, layout).matrix
        matrix = value.matrix
        if matrix.layout == layout:
            return matrix
        if matrix.twin is None:
            matrix.twin = self._transposed(matrix)
            matrix.twin.twin = matrix
        return matrix.twin

    def _transposed(self, matrix: Matrix) -> Matrix:
        """The same matrix in the other layout."""
        layout = other(matrix.layout)
        if matrix.hbm is not None and 1 in (matrix.outer, matrix.inner):
            # One row or one column lies the same either way.
            hbm = matrix.hbm.reshape(matrix.inner, matrix.outer)
            return Matrix(layout, matrix.inner, matrix.outer, matrix.dtype, hbm)
        self.resident(matrix)
        result = self._matrix(layout, matrix.inner, matrix.outer, matrix.dtype)
        for block, (at, to) in enumerate(result.blocks):
            for start, end in spans(result.inner, MOVING):
                turned = self.b.psum((to - at, end - start), matrix.dtype)
                for low, high in spans(end - start, PARTITIONS):
                    source = self.read(matrix, (start + low) // PARTITIONS, at, to)
                    self.b.nc_transpose(
                        dst=turned[:, low:high], data=source, name=self.label
                    )
                tile = self.place(result, block, start, end)
                self.b.tensor_copy(dst=tile, src=turned, name=self.label)
                self.written(result, block, start, end, tile)
        return result

    def in_hbm(self, value: Value | Constant) -> View:
        """A tensor in HBM, contiguous, with its own shape."""
        matrix = self.laid_out(value, ROWS)
        if matrix.hbm is None:
            matrix.hbm = self.scratch((matrix.outer, matrix.inner), matrix.dtype)
            self._store(matrix, matrix.hbm)
        shape = value.array.shape if isinstance(value, Constant) else value.shape
        return matrix.hbm.reshape(shape or (1,))

    def store(self, value: Value | Constant, output: View) -> None:
        """Writes a tensor to an HBM tensor of its shape."""
        matrix = self.laid_out(value, ROWS)
        target = output.reshape(matrix.outer, matrix.inner)
        if matrix.tiles is None:
            self.b.dma_copy(dst=target, src=matrix.hbm, name=self.label)
        else:
            self._store(matrix, target)

    def _store(self, matrix: Matrix, target: View) -> None:
        assert matrix.tiles is not None
        for tile, (at, to) in zip(matrix.tiles, matrix.blocks):
            self.b.dma_copy(dst=target[at:to], src=tile, name=self.label)

    def from_hbm(self, view: View, shape: Sequence[int]) -> Value:
        """The tensor that a contiguous view of HBM holds."""
        rows, features = matrix_of(shape)
        flat = view.reshape(rows, features)
        return Value(shape, Matrix(ROWS, rows, features, str(view.dtype), flat))

    def gathered(self, view: View, shape: Sequence[int]) -> Value:
        """The tensor that any view of HBM shows, copied to be contiguous."""
        copy = self.scratch(view.shape or (1,), str(view.dtype))
        self._copy(copy, view)
        return self.from_hbm(copy, shape)

    def _copy(self, dst: View, src: View) -> None:
        """dma_copy, whose descriptors have at most four dimensions."""
        if len(src.shape) <= 4:
            self.b.dma_copy(dst=dst, src=src, name=self.label)
            return
        for d, s in zip(dst, src):
            self._copy(d, s)

    # Small things that several lowerings read --------------------------------

    def column(self, matrix: Matrix, block: int) -> View:
        """A block of a one-column matrix as a float32 column, which is what
        instructions take for a value per partition."""
        assert matrix.inner == 1
        tile = self.read(matrix, block, 0, 1)
        if matrix.dtype == "float32":
            return tile
        wide = self.b.sbuf(tile.shape, "float32")
        self.b.tensor_copy(dst=wide, src=tile, name=self.label)
        return wide

    def repeated(
        self, value: Value | Constant, partitions: int, start: int, end: int
    ) -> View:
        """A part of a single row, the same on each of `partitions`."""
        shape = value.array.shape if isinstance(value, Constant) else value.shape
        row = self.in_hbm(value).reshape(matrix_of(shape))
        tile = self.b.sbuf((partitions, end - start), str(row.dtype))
        source = row[0:1, start:end].broadcast(0, partitions)
        self.b.dma_copy(dst=tile, src=source, name=self.label)
        return tile
