"""Random legal uses of DMA, with static and dynamic addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracle.cases_tensor import (
    TARGET, Rng, any_bits, chance, everyday, in_hbm, on_chip, pick,
    some_partitions, sprinkle,
)
from oracle.dma import AXES
from oracle.types import Array, Case, OperandSpec, Tile
from reference import ANY, INTS, PACKED, carrier

EVERY = (*ANY, "float8_e8m0fnu", *PACKED)  # dma_copy: isa.json, 18 dtypes
TWO_BYTES = ("bfloat16", "float16", "int16", "uint16")
FOUR_BYTES = ("float32", "tfloat32", "int32", "uint32")
FAR = (-1, 2**31 - 1, -(2**31))  # behaviours.md 6


# --- dynamic addresses ------------------------------------------------------


@dataclass
class Slot:
    """The trnemu view of an index tile, once the program has one."""

    view: Any = None


@dataclass
class Keep:
    """A step that changes nothing and keeps the view for a later operand."""

    slot: Slot = field(repr=False)

    def view(self, v: Any) -> Any:
        self.slot.view = v
        return v

    def array(self, a: Array) -> Array:
        return a


@dataclass
class Rows:
    """Element (w, ...) at offset + index[w] * R + the pattern's inner steps,
    R being the base tensor's row; the first step is ignored (nki-aps.rst:380).
    A row index outside the first dim is out of bounds: numerics.md 15.24.
    """

    slot: Slot = field(repr=False)
    index: Array
    inner: tuple[tuple[int, int], ...]
    offset: int = 0

    def view(self, v: Any) -> Any:
        row = int(np.prod(v.shape[1:]))
        pattern = [[row, len(self.index)], *map(list, self.inner)]
        return v.ap(
            pattern, offset=self.offset, vector_offset=self.slot.view,
            indirect_dim=0,
        )

    def array(self, a: Array) -> Array:
        where = self.offset + np.array(self.index, np.int64) * a[0].size
        bad = (self.index < 0) | (self.index >= len(a))
        for step, count in self.inner:
            where = where[..., None] + step * np.arange(count)
        bad = bad.reshape(-1, *(1,) * len(self.inner))
        flat = a.reshape(-1)
        return np.where(bad, -1, flat[np.where(bad, 0, where)])


@dataclass
class Shifted:
    """The pattern from offset + s * (elements of an index of `dim`) on."""

    slot: Slot = field(repr=False)
    scalar: int
    dim: int
    pattern: tuple[tuple[int, int], ...]
    offset: int = 0

    def view(self, v: Any) -> Any:
        return v.ap(
            [list(p) for p in self.pattern], offset=self.offset,
            scalar_offset=self.slot.view, indirect_dim=self.dim,
        )

    def array(self, a: Array) -> Array:
        step = int(np.prod(a.shape[self.dim + 1 :]))
        where = np.array(self.offset + self.scalar * step)
        for step, count in self.pattern:
            where = where[..., None] + step * np.arange(count)
        if not 0 <= self.scalar < a.shape[self.dim]:
            return np.full(where.shape, -1)
        return a.reshape(-1)[where]


def _index(
    rng: Rng, gen: int, values: Array, dtype: str
) -> tuple[Slot, Case]:
    """An index tile (W, columns) in SBUF, and the load that fills it."""
    slot = Slot()
    values = values.astype(np.int64).astype(carrier(dtype))
    tile = Tile(any_bits(rng, dtype, values.shape), dtype)
    return slot, Case("dma_copy", TARGET[gen], {
        "dst": OperandSpec(tile, (Keep(slot),)),
        "src": in_hbm(rng, values, dtype),
    })


def _row_numbers(
    rng: Rng, rows: int, count: int, unique: bool, skip: bool
) -> Array:
    """Row indices; with skip some are out of bounds."""
    index = rng.integers(0, rows, count)
    if unique:
        index = rng.permutation(rows)[:count]
    if skip:
        wild = rng.random(count) < 0.3
        index = np.where(wild, rng.choice([*FAR, rows, rows + 7], count), index)
    return index


def _rows(
    rng: Rng, gen: int, base: Tile, count: int, unique: bool, skip: bool
) -> tuple[OperandSpec, Case]:
    """`count` rows of an HBM tensor, all of them or some columns."""
    dtype = "int32" if skip else str(pick(rng, ("int32", "uint32")))
    rows, *rest = base.backing.shape
    index = _row_numbers(rng, rows, count, unique, skip)
    slot, load = _index(rng, gen, index[:, None], dtype)
    offset, size = 0, int(np.prod(rest))
    inner: tuple[tuple[int, int], ...] = ((1, size),)
    if len(rest) > 1 and chance(rng, 0.5):
        inner = tuple(
            (int(np.prod(rest[i + 1 :])), n) for i, n in enumerate(rest)
        )
    elif chance(rng, 0.4):
        offset = int(rng.integers(0, size))
        step = int(rng.integers(1, 3))
        inner = ((step, (size - offset - 1) // step + 1),)
    return OperandSpec(base, (Rows(slot, index, inner, offset),)), load


def _shifted(
    rng: Rng, gen: int, base: Tile, skip: bool
) -> tuple[OperandSpec, Case]:
    """A box of a 2-d HBM tensor, shifted along one dim by a run-time scalar."""
    rows, columns = base.backing.shape
    high, wide = (int(rng.integers(1, n + 1)) for n in (rows, columns))
    dim = int(rng.integers(2))
    room = (rows - high, columns - wide)[dim]
    offset = 0
    if dim == 1 and rows > high:
        offset = columns * int(rng.integers(0, rows - high + 1))
    elif dim == 0 and columns > wide:
        offset = int(rng.integers(0, columns - wide + 1))
    scalar = int(rng.integers(0, room + 1))
    if skip and chance(rng, 0.5):
        scalar = int(pick(rng, (*FAR[:2], rows + columns)))
    slot, load = _index(rng, gen, np.array([[scalar]]), "int32")
    pattern = ((columns, high), (1, wide))
    step = Shifted(slot, scalar, dim, pattern, offset)
    return OperandSpec(base, (step,)), load


# --- dma_copy ---------------------------------------------------------------


def _pair(rng: Rng) -> tuple[str, str]:
    """Equal dtypes, or two that are cast; packed ones never are."""
    dtype = str(pick(rng, EVERY))
    if chance(rng, 0.5) or dtype not in ANY:
        return dtype, dtype
    return dtype, str(pick(rng, ANY))


def _data(rng: Rng, dtype: str, shape: Sequence[int], cast: bool) -> Array:
    if not cast:
        return any_bits(rng, dtype, shape)
    x = everyday(rng, dtype, shape, float(pick(rng, (1, 30, 1e5))))
    if dtype in ("bfloat16", "float32") and chance(rng, 0.4):
        x = sprinkle(
            rng, x, (np.inf, -np.inf, 2.5, 3e9, -3e9, 1e-40, 464.0), dtype
        )
    if dtype in ("int32", "uint32") and chance(rng, 0.4):
        x = any_bits(rng, dtype, shape)
    return x


def _somewhere(
    rng: Rng, values: Array, dtype: str, space: str
) -> OperandSpec:
    """In HBM, or on chip from any partition on (DMA may start anywhere)."""
    if space == "hbm":
        return in_hbm(rng, values, dtype)
    start = int(rng.integers(0, 129 - len(values)))
    return on_chip(rng, values, dtype, space, start)


def _mode(rng: Rng, gen: int, same: bool, out: dict[str, Any]) -> None:
    """dge_mode, engine and priority of a static copy."""
    modes = ["unknown", "none", "swdge"]
    if gen >= 3 and same:
        modes.append("hwdge")
    if chance(rng, 0.4):
        out["dge_mode"] = str(pick(rng, modes))
    if out.get("dge_mode") == "hwdge" and chance(rng, 0.5):
        out["engine"] = str(pick(rng, ("sync", "scalar")))
    if gen >= 4 and chance(rng, 0.2):
        out["priority"] = int(rng.integers(0, 4))


def _static_copy(rng: Rng, gen: int) -> Case:
    dtype, out = _pair(rng)
    spaces = [str(pick(rng, ("sbuf", "hbm"))) for _ in range(2)]
    p = some_partitions(rng)
    free = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    shape = other = (p, *free)
    if chance(rng, 0.3):  # only the count must agree
        other = (p, int(np.prod(free)))
        if spaces[0] == "hbm":
            other = (int(np.prod(shape)),)
    src = _data(rng, dtype, shape, dtype != out)
    attributes: dict[str, Any] = {}
    _mode(rng, gen, dtype == out, attributes)
    return Case("dma_copy", TARGET[gen], {
        "dst": _somewhere(rng, any_bits(rng, out, other), out, spaces[0]),
        "src": _somewhere(rng, src, dtype, spaces[1]),
    }, attributes, tolerance="bits" if dtype == out else "exact")


def _dynamic_copy(rng: Rng, gen: int) -> Case:
    """Gather or scatter of rows, or a box at a run-time scalar."""
    dtype, out = _pair(rng)
    gather, skip = chance(rng, 0.5), chance(rng, 0.4)
    there = dtype if gather else out
    rest = [int(n) for n in rng.integers(1, 9, rng.integers(1, 3))]
    rows = int(rng.integers(1, 129))
    scalar = chance(rng, 0.3)
    if scalar:
        rows, rest = int(rng.integers(1, 17)), [int(rng.integers(1, 17))]
    values = _data(rng, there, (rows, *rest), gather and dtype != out)
    base = Tile(np.ascontiguousarray(values), there, "hbm")
    if scalar:
        moving, load = _shifted(rng, gen, base, skip)
    else:
        count = int(rng.integers(1, (128 if gather else rows) + 1))
        moving, load = _rows(rng, gen, base, count, not gather, skip)
    shape = moving.where().shape
    here = out if gather else dtype
    data = _data(rng, here, shape, not gather and dtype != out)
    fixed = _somewhere(rng, data, here, "sbuf")
    attributes: dict[str, Any] = {"oob_mode": "skip"} if skip else {}
    if chance(rng, 0.3):
        attributes["dge_mode"] = "swdge"
    operands = {"dst": fixed, "src": moving}
    if not gather:
        operands = {"dst": moving, "src": fixed}
    return Case(
        "dma_copy", TARGET[gen], operands, attributes, [load],
        tolerance="bits" if dtype == out else "exact",
    )


def dma_copy(rng: Rng, gen: int) -> Case:
    return (_dynamic_copy if chance(rng, 0.3) else _static_copy)(rng, gen)


# --- dma_transpose ----------------------------------------------------------


def _direct_shape(rng: Rng, rank: int, hwdge: bool) -> tuple[int, ...]:
    """dst starts with src's last dim: at most 128 partitions."""
    last = int(rng.integers(1, 129 if rank == 2 else 33))
    if hwdge and rank == 2:
        return 16, last
    if hwdge:
        first = int(pick(rng, (1, 2, 4, 8, 16)))
        second_last = (16 // first) * int(rng.integers(1, 3))
        middle = (int(rng.integers(1, 4)),) if rank == 4 else ()
        return first, *middle, second_last, last
    return *(int(n) for n in rng.integers(1, 13, rank - 1)), last


def _direct_transpose(rng: Rng, gen: int) -> Case:
    rank = int(rng.integers(2, 5))
    hwdge = gen >= 3 and chance(rng, 0.3)
    dtypes = TWO_BYTES if hwdge else (*TWO_BYTES, *FOUR_BYTES)
    dtype = str(pick(rng, dtypes))
    shape = _direct_shape(rng, rank, hwdge)
    attributes: dict[str, Any] = {}
    if chance(rng, 0.5):
        attributes["axes"] = AXES[rank]
    if hwdge:
        attributes["dge_mode"] = "hwdge"
    src = any_bits(rng, dtype, shape)
    dst = any_bits(rng, dtype, src.transpose(AXES[rank]).shape)
    return Case("dma_transpose", TARGET[gen], {
        "dst": _somewhere(rng, dst, dtype, "sbuf"),
        "src": _somewhere(rng, src, dtype, str(pick(rng, ("hbm", "sbuf")))),
    }, attributes, tolerance="bits")


def _indirect_transpose(rng: Rng, gen: int) -> Case:
    """f = idx.T.flatten()[:src.shape[0]]; two-byte types, from trn2 on."""
    dtype, rank = str(pick(rng, TWO_BYTES)), int(rng.integers(2, 5))
    columns = int(pick(rng, (1, 1, 2, 3)))
    high = 128 if columns > 1 else 16 * int(rng.integers(1, 9))
    count = 16 * int(rng.integers(1, high * columns // 16 + 1))
    last = int(rng.integers(1, 129 if rank == 2 else 33))
    middle = [(), (2,), tuple(pick(rng, ((1, 3), (3, 1))))][rank - 2]
    rest = (*middle, last)
    rows = int(rng.integers(1, 100))
    skip = chance(rng, 0.2)
    index = _row_numbers(rng, rows, high * columns, False, False)
    if skip:
        wild = rng.random(len(index)) < 0.3
        index = np.where(wild, rows + rng.integers(0, 1000), index)
    table = index.reshape(columns, high).T
    slot, load = _index(rng, gen, table, "uint32")
    base = Tile(any_bits(rng, dtype, (rows, *rest)), dtype, "hbm")
    inner = tuple(
        (int(np.prod(rest[i + 1 :])), n) for i, n in enumerate(rest)
    )
    src = OperandSpec(base, (Rows(slot, index[:count], inner),))
    shape = tuple((count, *rest)[axis] for axis in AXES[rank])
    attributes = {"oob_mode": "skip"} if skip else {}
    return Case("dma_transpose", TARGET[gen], {
        "dst": _somewhere(rng, any_bits(rng, dtype, shape), dtype, "sbuf"),
        "src": src,
    }, attributes, [load], tolerance="bits")


def dma_transpose(rng: Rng, gen: int) -> Case:
    if gen >= 3 and chance(rng, 0.3):
        return _indirect_transpose(rng, gen)
    return _direct_transpose(rng, gen)


# --- dma_compute ------------------------------------------------------------


def _read_modify_write(rng: Rng, gen: int) -> Case:
    """dst[idx] += src in HBM, or dst += src[idx] in SBUF."""
    names = ("float32", "bfloat16", "float16", "int32")
    dtype, other = str(pick(rng, names)), str(pick(rng, names))
    scatter, skip = chance(rng, 0.5), chance(rng, 0.3)
    rows, size = int(rng.integers(1, 129)), int(rng.integers(1, 33))
    there = dtype if scatter else other
    base = Tile(everyday(rng, there, (rows, size)), there, "hbm")
    count = int(rng.integers(1, (rows if scatter else 128) + 1))
    moving, load = _rows(rng, gen, base, count, scatter, skip)
    here = other if scatter else dtype
    data = everyday(rng, here, moving.where().shape)
    fixed = _somewhere(rng, data, here, "sbuf")
    attributes: dict[str, Any] = {"reduce_op": "add"}
    if skip:
        attributes["oob_mode"] = "skip"
    dst = moving if scatter else fixed
    return Case("dma_compute", TARGET[gen], {
        "dst": dst, "srcs": [dst, fixed if scatter else moving],
    }, attributes, [load])


def dma_compute(rng: Rng, gen: int) -> Case:
    """Sums of 1 to 16 views; infinities too."""
    if chance(rng, 0.3):
        return _read_modify_write(rng, gen)
    names = (*INTS, "float8_e4m3", "float8_e5m2", "float16", "bfloat16",
             "tfloat32", "float32")
    out, count = str(pick(rng, names)), int(pick(rng, (1, 2, 2, 3, 5, 16)))
    shape = (int(rng.integers(1, 40)), *(
        int(n) for n in rng.integers(1, 6, rng.integers(1, 3))
    ))
    srcs = []
    for _ in range(count):
        dtype = str(pick(rng, names)) if chance(rng, 0.5) else out
        data = everyday(rng, dtype, shape)
        if out not in INTS and dtype in ("float32", "bfloat16"):
            data = sprinkle(rng, data, (1e30, 1e-30, np.inf, 3.0), dtype)
        space = str(pick(rng, ("sbuf", "hbm")))
        srcs.append(_somewhere(rng, data, dtype, space))
    attributes: dict[str, Any] = {"reduce_op": "add"}
    if chance(rng, 0.3):
        attributes["scales"] = [1.0] * count
    dst = any_bits(rng, out, shape)
    return Case("dma_compute", TARGET[gen], {
        "dst": _somewhere(rng, dst, out, str(pick(rng, ("sbuf", "hbm")))),
        "srcs": srcs,
    }, attributes)


GENERATORS = {
    "dma_copy": dma_copy,
    "dma_transpose": dma_transpose,
    "dma_compute": dma_compute,
}
