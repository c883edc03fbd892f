"""Systems and groups that the tests of collectives draw from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import collective_oracle as oracle
import ml_dtypes
import numpy as np

import trnemu

Array = np.ndarray[Any, Any]
Groups = list[list[int]]

DTYPES: dict[str, Any] = {
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
    "int32": np.int32,
    "uint8": np.uint8,
}


@dataclass(frozen=True)
class Case:
    """A system, of which `ranks` run."""

    name: str
    ranks: int
    lnc: int
    chips_per_node: int = 16
    dims: tuple[int, ...] = (4, 4)
    cores_per_chip: int = 8

    @property
    def place(self) -> oracle.Place:
        return oracle.Place(
            self.cores_per_chip // self.lnc, self.chips_per_node, self.dims
        )

    @property
    def system(self) -> trnemu.System:
        return _system(self.name, self.ranks, self.lnc)

    def __str__(self) -> str:
        return f"{self.name}, {self.ranks} ranks, lnc {self.lnc}"


@cache
def _system(name: str, ranks: int, lnc: int) -> trnemu.System:
    return trnemu.System(name, ranks=ranks, lnc=lnc)


# Of each family. More than 64 ranks where groups are to span nodes or racks.
CASES = [
    Case("trn1.32xlarge", 32, 1, cores_per_chip=2),
    Case("inf2.48xlarge", 24, 1, 12, (12,), cores_per_chip=2),
    Case("trn2.48xlarge", 64, 2),
    Case("trn2.48xlarge", 128, 1),
    Case("trn2-ultraserver", 256, 2),
    Case("trn3-gen1", 256, 2, 64, ()),
    Case("trn3-gen2", 96, 2, 144, ()),
    Case("trn2.48xlarge*2", 128, 2),
]


def rest_alone(group: Sequence[int], ranks: int) -> Groups:
    """The group, and every other rank alone."""
    members = set(group)
    return [list(group), *([r] for r in range(ranks) if r not in members)]


def draw_group(rng: np.random.Generator, case: Case, most: int) -> list[int]:
    """Ranks of a shape that training jobs have, or any, in any order."""
    per_chip = case.place.ranks_per_chip
    chips = case.ranks // per_chip
    kind = rng.integers(7)
    n = int(rng.integers(1, most + 1))
    if kind == 0:  # the first 2^a
        group = list(range(2 ** int(rng.integers(0, 7))))
    elif kind == 1:  # one of each chip, or of every k-th
        step = per_chip * int(rng.choice([1, 2, 4, 5, 8]))
        group = list(range(int(rng.integers(per_chip)), case.ranks, step))
    elif kind == 2:  # chips in a row
        width = int(rng.integers(1, max(2, most // per_chip)))
        first = int(rng.integers(chips))
        group = [
            (first + i) % chips * per_chip + c
            for i in range(min(width, chips))
            for c in range(per_chip)
        ]
    elif kind == 3:  # whole chips, anywhere
        count = min(chips, int(rng.integers(1, max(2, most // per_chip))))
        group = [
            int(c) * per_chip + i
            for c in rng.permutation(chips)[:count]
            for i in range(per_chip)
        ]
    elif kind == 4:  # the same number on 2^a chips
        count = min(2 ** int(rng.integers(0, 5)), chips)
        each = int(rng.integers(1, per_chip + 1))
        start = int(rng.integers(0, chips - count + 1))
        group = [
            (start + c) * per_chip + i
            for c in range(count)
            for i in range(each)
        ]
    else:  # any
        group = [int(r) for r in rng.permutation(case.ranks)[:n]]
    group = [r for r in group if r < case.ranks][:most]
    if rng.integers(3) == 0:
        group = [group[i] for i in rng.permutation(len(group))]
    return group


def draw(rng: np.random.Generator, n: int, dtype: str) -> Array:
    """Values whose sums depend on the order; now and then odd ones."""
    if dtype in ("int32", "uint8"):
        limits = np.iinfo(DTYPES[dtype])
        return rng.integers(
            limits.min, limits.max, n, DTYPES[dtype], endpoint=True
        )
    wide = 2.0 ** rng.integers(-6, 7, n)
    return (rng.standard_normal(n) * wide).astype(DTYPES[dtype])


def draw_odd(rng: np.random.Generator, n: int, dtype: str) -> Array:
    """For minimum and maximum: ties, zeros of both signs, NaN, infinities."""
    if dtype in ("int32", "uint8"):
        return draw(rng, n, dtype)
    some = np.array([0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf], np.float32)
    return rng.choice(some, n).astype(DTYPES[dtype])


def same_bits(a: Array, b: Array) -> bool:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def first_difference(got: Array, want: Array) -> str:
    """For a message."""
    got, want = got.reshape(-1), want.reshape(-1)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.shape} {got.dtype}, not {want.shape} {want.dtype}"
    size = got.dtype.itemsize
    a = np.ascontiguousarray(got).view(np.uint8).reshape(-1, size)
    b = np.ascontiguousarray(want).view(np.uint8).reshape(-1, size)
    at = np.flatnonzero((a != b).any(axis=1))
    if len(at) == 0:
        return ""
    i = int(at[0])
    return f"{len(at)} differ, the first at {i}: {got[i]}, not {want[i]}"


def position(groups: Iterable[Sequence[int]], rank: int) -> tuple[list[int], int]:
    """The rank's group, and its place there."""
    for group in groups:
        if rank in group:
            return list(group), list(group).index(rank)
    raise KeyError(rank)
