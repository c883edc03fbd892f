"""Ways to look at a tile, each as a trnemu view and as NumPy sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import trnemu

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Look:
    """A view of a tile of (partitions, *free): the same elements both ways."""

    name: str
    free: tuple[int, ...]
    view: Callable[[trnemu.View], trnemu.View]
    array: Callable[[Array], Array]
    writable: bool = True  # no element occurs twice

    def __str__(self) -> str:
        return self.name


def _same(name: str, free: tuple[int, ...], f: Callable[[Any], Any]) -> Look:
    return Look(name, free, f, f)


def _diagonals(a: Array) -> Array:
    """[[F, P], [5, 3], [2, 4]] from element 1 on, in a row of 20."""
    index = 1 + 5 * np.arange(3)[:, None] + 2 * np.arange(4)
    return a[:, index]


LOOKS = [
    _same("whole", (24,), lambda t: t),
    _same("one column", (24,), lambda t: t[:, 5:6]),
    _same("slice", (24,), lambda t: t[:, 3:17]),
    _same("step", (24,), lambda t: t[:, 1::3]),
    _same("reversed", (24,), lambda t: t[:, ::-1]),
    _same("backwards step", (24,), lambda t: t[:, -2:2:-4]),
    _same("two free dims", (4, 6), lambda t: t),
    _same("inner slice", (4, 6), lambda t: t[:, 1:4, 2:5]),
    _same("outer step", (5, 6), lambda t: t[:, ::2, ::5]),
    _same("three free dims", (2, 3, 4), lambda t: t[:, :, 1:, ::3]),
    _same("four free dims", (2, 3, 2, 4), lambda t: t[:, :, 1:, :, 1:3]),
    Look(
        "transposed", (4, 6), lambda t: t.permute((0, 2, 1)),
        lambda a: a.transpose(0, 2, 1),
    ),
    Look(
        "rotated", (2, 3, 4), lambda t: t.permute((0, 2, 3, 1)),
        lambda a: a.transpose(0, 2, 3, 1),
    ),
    Look(
        "reshaped", (24,), lambda t: t.reshape((t.shape[0], 2, 3, 4)),
        lambda a: a.reshape(a.shape[0], 2, 3, 4),
    ),
    Look(
        "pattern", (20,),
        lambda t: t.ap([[20, t.shape[0]], [5, 3], [2, 4]], offset=1),
        _diagonals, writable=False,
    ),
    Look(
        "broadcast", (24,), lambda t: t[:, 7:8].broadcast(1, 6),
        lambda a: np.broadcast_to(a[:, 7:8], (a.shape[0], 6)), writable=False,
    ),
    Look(
        "broadcast inside", (4, 6),
        lambda t: t[:, :, 2:3].broadcast(2, 5),
        lambda a: np.broadcast_to(a[:, :, 2:3], (a.shape[0], 4, 5)),
        writable=False,
    ),
]
WRITABLE = [x for x in LOOKS if x.writable]

# (start partition, partitions) at and inside the limits of the documented
# rule: up to 32 at 0, 32, 64, 96; up to 64 at 0, 64; more at 0.
PARTITIONS = [
    (0, 1), (0, 32), (0, 33), (0, 64), (0, 65), (0, 127), (0, 128), (32, 1),
    (32, 32), (64, 17), (64, 64), (64, 33), (96, 5), (96, 32),
]
