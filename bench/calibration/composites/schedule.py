"""The order in which one sequencer triggers loads and stores.

A sequencer triggers its transfers in order, and a store waits for a result:
behind it, no load starts. Compilers therefore issue loads some tiles ahead.
Ahead does that: a tile's compute and store are issued when the loads of
`depth` later tiles have been.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import trnemu


class Ahead:
    """Loads at once; compute and stores `depth` tiles behind them."""

    def __init__(
        self, builder: trnemu.ProgramBuilder, depth: int, **dma: Any
    ) -> None:
        """dma: keywords of dma_copy, for both directions."""
        self._builder = builder
        self._depth = depth
        self._dma = dma
        self._pending: deque[
            tuple[Callable[[], None], trnemu.View, trnemu.View]
        ] = deque()

    def load(self, dst: trnemu.View, src: trnemu.View) -> None:
        self._builder.dma_copy(dst=dst, src=src, **self._dma)

    def then(
        self, compute: Callable[[], None], dst: trnemu.View, src: trnemu.View
    ) -> None:
        """The rest of a tile whose loads were issued."""
        self._pending.append((compute, dst, src))
        if len(self._pending) > self._depth:
            self._one()

    def finish(self) -> None:
        while self._pending:
            self._one()

    def _one(self) -> None:
        compute, dst, src = self._pending.popleft()
        compute()
        self._builder.dma_copy(dst=dst, src=src, **self._dma)
