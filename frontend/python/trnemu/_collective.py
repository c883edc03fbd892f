"""trnemu.collective: what a collective costs over sizes and algorithms."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trnemu._dtype import Dtype, _name_of
from trnemu._limits import whole, within
from trnemu._system import System


@dataclass(frozen=True)
class CollectiveCost:
    """One size and algorithm. Traffic is of all ranks together."""

    size: int
    """Bytes, as asked for."""
    bytes: int
    """What ran: rounded up to what can be divided among the ranks."""
    asked: str
    """The algorithm asked for: "auto", or one that was forced."""
    algorithm: str
    inside_nodes: str
    """Of "hierarchical": what it is made of."""
    between_nodes: str
    steps: int
    channels: int
    moves: int
    time_ns: float
    """Simulated, from the last rank's trigger until the last rank is done."""
    algbw: float
    """bytes / time, GB/s."""
    busbw: float
    """algbw times 2 (n - 1) / n of an all_reduce, (n - 1) / n of an all_gather,
    reduce_scatter and all_to_all, 1 of the others, as NCCL's tests have it."""
    hbm_read_bytes: int
    hbm_write_bytes: int
    link_bytes: int
    max_error: float | None
    """With check=True."""
    error_bound: float | None
    """The most that rounding at every step can make of it."""


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}, not {value!r}"
        )
    return value


def collective(
    operation: str,
    system: System | str | pathlib.Path = "trn2.48xlarge",
    *,
    ranks: int | None = None,
    lnc: int | None = None,
    fail_links: Iterable[str] = (),
    groups: Sequence[Sequence[int]] | None = None,
    group_size: int | None = None,
    size: int | str | Iterable[int | str] = "1KiB:1GiB",
    dtype: Any = "bfloat16",
    op: str = "add",
    algorithm: str = "auto",
    memory: str = "hbm",
    packet_bytes: int | None = None,
    streams: int = 1,
    values: bool = False,
    check: bool = False,
    threads: int | None = None,
) -> list[CollectiveCost]:
    """What a collective costs on a system: a row for each size and algorithm.

    operation: "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
        "broadcast", "collective_permute", "collective_permute_implicit",
        "collective_permute_implicit_reduce", "send_recv" (the first rank of a
        group sends to the second) or "collective_barrier".
    system: a trnemu.System, or a name of one with ranks, lnc and fail_links.
    groups: ranks of each group, side by side, all of one length; or
        group_size: groups of so many successive ranks. All ranks in one.
    size: bytes, "1MiB", "1KiB:1GiB" (each twice the one before), "1KiB:1GiB:4",
        or a list of these: each rank's buffer of an all_reduce, its result of
        an all_gather, its source of a reduce_scatter or all_to_all, else what
        one rank sends.
    algorithm: "auto", one by name, or "all": each that the groups can have.
    streams: so many collectives at once, each of a part of the buffer.
    values: moves data, which changes no time. check: compares it, too.

    Raises Fault. docs/collective-command.md; also `trnemu collective`.
    """
    if isinstance(system, System):
        if ranks is not None or lnc is not None or list(fail_links):
            raise TypeError("ranks, lnc and fail_links are the system's own")
    else:
        system = System(str(system), ranks, lnc, fail_links)
    if groups is not None and group_size is not None:
        raise TypeError("groups and group_size exclude each other")
    sizes = [size] if isinstance(size, (int, str)) else list(size)
    query = {
        "groups": [[int(r) for r in group] for group in groups or ()],
        "group_size": whole("group_size", group_size, "ranks") or 0,
        "sizes": [s for s in sizes if not isinstance(s, str)],
        "size_texts": [s for s in sizes if isinstance(s, str)],
        "dtype": str(Dtype(_name_of(dtype) or str(dtype))),
        "op": _one_of("op", op, ("add", "min", "max")),
        "algorithm": algorithm,
        "memory": _one_of("memory", memory, ("hbm", "sbuf")),
        "packet_bytes": within("packet_bytes", packet_bytes, "bytes", 2**40),
        "streams": int(streams),
        "values": bool(values or check),
        "check": bool(check),
        "threads": within("threads", threads, "threads", 1024),
        "links": False,
    }
    return [
        CollectiveCost(**row) for row in system._data.collective(operation, query)
    ]
