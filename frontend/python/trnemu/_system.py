"""Several ranks of a system of chips: trnemu.System."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trnemu import _trnemu
from trnemu._limits import whole, within
from trnemu._profile import ProfileReport
from trnemu._run import _DEFAULTS, RunResult, _inputs, _options
from trnemu._trnemu import Program

_MAX_RECORDS = 8_000_000
# Of one rank's run only.
_REFUSED = ("schedule", "time", "stop_at_nan")

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Collective:
    """A collective that took place.

    bytes: the buffer that the documentation measures it by (an all_reduce's
    buffer, an all_gather's output, a reduce_scatter's input). Times are
    simulated nanoseconds: the first and last rank's trigger, when the first
    moves could start, when the last rank was done. moves, hbm_read_bytes,
    hbm_write_bytes and link_bytes: of all ranks together; a byte that passes
    two links counts twice in link_bytes.
    """

    operation: str
    algorithm: str
    inside_nodes: str
    between_nodes: str
    dtype: str
    ranks: tuple[int, ...]
    stream: int
    bytes: int
    steps: int
    channels: int
    moves: int
    hbm_read_bytes: int
    hbm_write_bytes: int
    link_bytes: int
    first_trigger_ns: float
    last_trigger_ns: float
    start_ns: float
    end_ns: float
    source: str

    @property
    def time_ns(self) -> float:
        """From the last rank's trigger to the end of the last rank."""
        return self.end_ns - self.last_trigger_ns


@dataclass(frozen=True)
class LinkUse:
    """When a link carried a move's bytes. collective: its index in
    SystemResult.collectives."""

    link: str
    collective: int
    from_rank: int
    to_rank: int
    step: int
    start_ns: float
    end_ns: float
    bytes: int


class SystemResult:
    """What a run of all ranks gives.

    ranks: a RunResult each. time_ns: simulated, of the last rank. collectives:
    those that took place, in the order in which they started. links: with
    links=True, what the links carried. profiles: with profile=True, a
    ProfileReport each. threads: of the host.
    """

    def __init__(
        self,
        results: list[_trnemu.Result],
        info: dict[str, Any],
        profiles: list[_trnemu.ProfileData],
        trace: _trnemu.SystemTrace | None = None,
    ) -> None:
        self.ranks = [RunResult(result) for result in results]
        self.time_ns: float = info["time_ns"]
        self.threads: int = info["threads"]
        self.collectives = [Collective(**c) for c in info["collectives"]]
        self.results: list[Any] = []
        """Of a kernel of nki: what it returned on each rank; empty without
        values."""
        self.links = [LinkUse(*use) for use in info["links"]]
        self.profiles = [
            ProfileReport(result, data)
            for result, data in zip(self.ranks, profiles)
        ]
        self._profile_data = profiles
        self._trace = trace

    @property
    def outputs(self) -> list[dict[str, np.ndarray[Any, Any]]]:
        """The outputs of each rank."""
        return [rank.outputs for rank in self.ranks]

    @property
    def diagnostics(self) -> list[_trnemu.Finding]:
        """What was found and did not stop the run, rank by rank."""
        return [d for rank in self.ranks for d in rank.diagnostics]

    def save_trace(
        self, path: str | pathlib.Path, ranks: Iterable[int] | None = None
    ) -> None:
        """Writes a timeline that ui.perfetto.dev opens: engines and DMA queues
        of each rank, its collectives' streams, steps and moves, and all links.

        ranks: those that are shown; None for all. Needs a run with
        profile=True; with links=True alone only links are there.
        """
        if self._trace is None:
            raise ValueError("run with profile=True (or links=True) to trace")
        count = len(self._profile_data)
        shown = set(range(count)) if ranks is None else set(ranks)
        for rank in shown:
            if not 0 <= rank < count:
                raise ValueError(f"there is no profile of rank {rank}")
        data = [
            profile if rank in shown else None
            for rank, profile in enumerate(self._profile_data)
        ]
        text = self._trace.text(data, "system")
        pathlib.Path(path).write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        return (
            f"<SystemResult of {len(self.ranks)} ranks, {self.time_ns} ns, "
            f"{len(self.collectives)} collectives>"
        )


class System:
    """Chips, and the ranks on them.

    name: one of trnemu.System.names(), "NAME*N" for N of them joined by the
        network, or the path of a description (docs/collectives.md).
    ranks: how many, on the system's first chips; None for all.
    lnc: physical cores of a rank, 1 or 2; 2 where the generation can.
    fail_links: links that are down, "3-7" (both directions between chips 3 and
        7) or a link's name.

    Raises Fault (input).
    """

    def __init__(
        self,
        name: str = "trn2.48xlarge",
        ranks: int | None = None,
        lnc: int | None = None,
        fail_links: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, (str, pathlib.Path)):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        path = pathlib.Path(name)
        is_file = path.suffix == ".textproto" or path.is_file()
        text = path.read_text() if is_file else ""
        if isinstance(fail_links, str):
            raise TypeError("fail_links must be a list of str, not a str")
        count = whole("ranks", ranks, "ranks")
        if lnc is None:
            one = _trnemu.SystemData(str(name), text, None, 1, [])
            lnc = 1 if one.target == "trn1" else 2
        self._data = _trnemu.SystemData(
            str(name), text, count, int(lnc), list(fail_links)
        )

    @staticmethod
    def names() -> list[str]:
        """The systems that are described."""
        return _trnemu.system_names()

    @property
    def name(self) -> str:
        """Its name."""
        return self._data.name

    @property
    def target(self) -> str:
        """The generation of its chips."""
        return self._data.target

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return self._data.ranks

    @property
    def lnc(self) -> int:
        """Physical cores of a rank."""
        return self._data.lnc

    @property
    def ranks_per_chip(self) -> int:
        """How many ranks a chip has."""
        return self._data.ranks_per_chip

    @property
    def chips(self) -> int:
        """Chips that have ranks."""
        return self._data.chips

    @property
    def links(self) -> list[str]:
        """The names of its links, one for each direction."""
        return self._data.links

    def rings(self, group: Iterable[int]) -> list[list[int]]:
        """The cycles of ranks that a ring over a replica group goes along.

        A list for each channel; of groups over several nodes, chains through
        all of them. Raises Fault (input) if the group has a rank twice or one
        that the system has not.
        """
        return self._data.rings(list(group))

    def run(
        self,
        program: Program | Sequence[Program] | Any,
        inputs: Arrays | Sequence[Arrays] | Any = {},
        *,
        algorithm: str = "auto",
        threads: int | None = None,
        packet_bytes: int | None = None,
        links: bool = False,
        profile: bool = False,
        **options: Any,
    ) -> SystemResult:
        """Runs one program on each rank, to its end.

        program: one for all ranks, or one for each. inputs: likewise, name ->
        array; none are needed with values=False. algorithm: "auto" (as
        documented, by size and group), "ring", "mesh", "single_step_mesh",
        "rdh", "kangaring", "hierarchical" or "direct"; an algorithm that a
        collective cannot have is a Fault.
        threads: of this host; results and times do not depend on it.
        packet_bytes: of the collectives' DMA, beside compute's 4096; None for
        the system's (65536). links: keeps what links carried. profile: keeps a
        ProfileReport of each rank. options: those of trnemu.run, without
        schedule, time and stop_at_nan.

        program may be a kernel of trnemu.nki, whole or as kernel[2]; inputs
        are then its arguments: a tuple, or a dict by name, for all ranks, or a
        list with those of each rank (docs/nki.md). What it wrote to arguments
        is in them afterwards, what it returned in SystemResult.results.

        Raises Fault, which names the rank; the first in simulated time.
        """
        kernels = sys.modules.get("trnemu.nki._kernel")
        if kernels is not None and isinstance(program, kernels.Kernel):
            from trnemu.nki._ranks import launch

            own = {"algorithm": algorithm, "threads": threads,
                   "packet_bytes": packet_bytes, "links": links,
                   "profile": profile}
            return launch(self, program, inputs, {**own, **options})
        for option in options:
            if option not in _DEFAULTS or option in _REFUSED:
                known = (k for k in _DEFAULTS if k not in _REFUSED)
                raise TypeError(
                    f"System.run has no option {option!r}; there are "
                    f"{', '.join(known)}"
                )
        programs = [program] if isinstance(program, Program) else list(program)
        for one in programs:
            if not isinstance(one, Program):
                raise TypeError(
                    "program must be a trnemu.Program or a list of them, not "
                    f"{type(one).__name__}"
                )
        given = [inputs] if isinstance(inputs, Mapping) else list(inputs)
        arrays = []
        for rank, one in enumerate(given):
            of = programs[0 if len(programs) == 1 else
                          min(rank, len(programs) - 1)]
            arrays.append(_inputs(of.inputs, one))
        cluster = {
            "algorithm": algorithm,
            "threads": within("threads", threads, "threads", 1024),
            "packet_bytes": within("packet_bytes", packet_bytes, "bytes", 2**40),
            "links": links,
        }
        return SystemResult(
            *self._data.run(
                programs,
                arrays,
                _options(**{**_DEFAULTS, **options}),
                cluster,
                _MAX_RECORDS if profile else 0,
            )
        )

    def __repr__(self) -> str:
        return f"<System {self.name}, {self.ranks} ranks, lnc {self.lnc}>"
