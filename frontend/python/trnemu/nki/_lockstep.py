"""The two cores of an LNC2 kernel, recorded in turns.

Each core is a thread, of which one runs at a time: core 0 until it comes to a
meeting (sendrecv, core_barrier, a collective), core 1 until it has come as far. Then both
record the meeting, and core 0 goes on. So the program so far never has one
side of a meeting alone, what a kernel sees of values holds before and after
one, and the recording is the same every time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from trnemu.nki import _trace
from trnemu.nki._trace import Trace


class _Ended(BaseException):
    """Ends a core's thread because the other core has failed."""


class Lockstep:
    """Runs `body(core)` for both cores; results() in order of the cores."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._condition = threading.Condition()
        self._turn = 0
        # How many meetings each core has come to, and how many collectives: a
        # kernel may call those on one core alone.
        self._met = {False: [0, 0], True: [0, 0]}
        self._offers: tuple[list[Any], list[Any]] = ([], [])
        self._agreed: dict[int, bool] = {}
        self._done = [False, False]
        self._failed: BaseException | None = None

    def run(self, body: Callable[[], Any]) -> list[Any]:
        """The results of both cores. Raises what the first to fail raised."""
        results: list[Any] = [None, None]
        other = threading.Thread(
            target=self._other_core, args=(body, results), daemon=True
        )
        other.start()
        self._core(0, body, results)
        with self._condition:
            while not self._done[1]:
                self._condition.wait()
        other.join()
        self._enter(0)
        if self._failed is not None:
            raise self._failed
        return results

    def offer(self, key: Any) -> int:
        """The core that runs is about to meet the other one in a collective,
        of which key must agree. What agreed() takes."""
        self._offers[self._turn].append(key)
        return len(self._offers[self._turn]) - 1

    def agreed(self, offer: int) -> bool:
        """Whether the other core has come to the same; to ask in record()."""
        if offer not in self._agreed:
            ours, theirs = self._offers
            self._agreed[offer] = (
                min(len(ours), len(theirs)) > offer
                and bool(ours[offer] == theirs[offer])
            )
        return self._agreed[offer]

    def meet(
        self, record: Callable[[], Any], collective: bool = False
    ) -> Any:
        """The core that runs has come to a meeting, which record() records;
        gives what that gives."""
        core = self._turn
        met = self._met[collective]
        met[core] += 1
        first = met[core] > met[1 - core]
        if first:
            self._pass(core)
        recorded = record()
        if not first:
            self._pass(core)
        return recorded

    def _other_core(self, body: Callable[[], Any], results: list[Any]) -> None:
        with _trace.recording(self._trace):
            self._core(1, body, results)

    def _core(
        self, core: int, body: Callable[[], Any], results: list[Any]
    ) -> None:
        try:
            self._await(core)
            results[core] = body()
        except _Ended:
            pass
        except BaseException as error:
            if self._failed is None:
                self._failed = error
        finally:
            with self._condition:
                self._done[core] = True
                self._give(1 - core)

    def _pass(self, core: int) -> None:
        """The other core's turn, until it gives it back."""
        with self._condition:
            if self._done[1 - core]:
                return
            self._give(1 - core)
        self._await(core)

    def _await(self, core: int) -> None:
        with self._condition:
            while self._turn != core:
                self._condition.wait()
        if self._failed is not None:
            raise _Ended
        self._enter(core)

    def _give(self, core: int) -> None:
        self._turn = core
        self._condition.notify_all()

    def _enter(self, core: int) -> None:
        self._trace.enter_core(core)
