"""nki.collectives: the names, whose signatures are those of NKI 0.6.

Chips that are joined by collectives are not emulated yet: each function raises
Fault (unsupported, nki.collectives). ReplicaGroup is an ordinary object, since
kernels take it as an argument.

Source: nki/api/nki/collectives/__init__.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from trnemu.nki._object import NKIObject
from trnemu.nki._trace import refuse

if TYPE_CHECKING:
    from trnemu.nki._tensor import NkiTensor

__all__ = [
    "ReplicaGroup",
    "all_gather",
    "all_gather_v",
    "all_reduce",
    "all_to_all",
    "all_to_all_v",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_current_processing_rank_id",
    "collective_permute_implicit_reduce",
    "rank_id",
    "reduce_scatter",
]

Tensors = Sequence["NkiTensor"]


@dataclass
class ReplicaGroup(NKIObject):
    """The ranks that take part in a collective: `groups` is a list of lists of
    ranks, each of which exchanges data among its own.

    Fault (illegal, nki.replica_group) if a rank is in two groups or twice in
    one.
    """

    groups: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for rank in (rank for group in self.groups for rank in group):
            if rank in seen:
                refuse(
                    "illegal",
                    "nki.replica_group",
                    f"rank {rank} is in the replica groups twice",
                    operand="groups",
                    remedy="groups of ranks may not overlap",
                )
            seen.add(rank)


def _refuse(name: str) -> NoReturn:
    refuse(
        "unsupported",
        "nki.collectives",
        f"nki.collectives.{name} joins several chips, which trnemu does not "
        "emulate yet",
        operation=name,
        remedy="run the part of the kernel between collectives, with what each "
        "rank would receive as an input; the two cores of kernel[2] have "
        "nisa.sendrecv and nisa.core_barrier",
    )


def all_reduce(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    op: str,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The op over all ranks of each of srcs, to each rank's dsts. Fault
    (unsupported)."""
    _refuse("all_reduce")


def all_gather(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The srcs of all ranks, one after another along collective_dim, to each
    rank's dsts. Fault (unsupported)."""
    _refuse("all_gather")


def all_gather_v(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """all_gather of as many elements as each rank has, which is known when it
    runs. Fault (unsupported)."""
    _refuse("all_gather_v")


def reduce_scatter(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    collective_dim: int,
    op: str,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The op over all ranks, of which each rank gets its part along
    collective_dim. Fault (unsupported)."""
    _refuse("reduce_scatter")


def all_to_all(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """Each rank's srcs in parts along collective_dim, part i to rank i. Fault
    (unsupported)."""
    _refuse("all_to_all")


def all_to_all_v(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """all_to_all in parts whose sizes are known when it runs. Fault
    (unsupported)."""
    _refuse("all_to_all_v")


def collective_permute(
    srcs: Tensors,
    dsts: Tensors,
    source_target_pairs: Sequence[tuple[int, int]],
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """From the first rank of each pair to the second. Fault (unsupported)."""
    _refuse("collective_permute")


def collective_permute_implicit(
    srcs_by_channel: Sequence[Tensors],
    dsts_by_channel: Sequence[Tensors],
    replica_group: ReplicaGroup,
    channel_ids: Sequence[int] = [0],  # noqa: B006 (the documented default)
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """From each rank to the next of its ring. Fault (unsupported)."""
    _refuse("collective_permute_implicit")


def collective_permute_implicit_reduce(
    srcs0_by_channel: Sequence[Tensors],
    srcs1_by_channel: Sequence[Tensors],
    dsts_by_channel: Sequence[Tensors],
    replica_group: ReplicaGroup,
    op: str,
    channel_ids: Sequence[int] = [0],  # noqa: B006
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The op of two tensors of each rank, to the next rank of its ring. Fault
    (unsupported)."""
    _refuse("collective_permute_implicit_reduce")


def collective_permute_implicit_current_processing_rank_id(
    iteration_id: int,
    replica_group: ReplicaGroup,
    channel_id: int = 0,
    name: str | None = None,
) -> Any:
    """A register with the rank whose data a step of the ring works on. Fault
    (unsupported)."""
    _refuse("collective_permute_implicit_current_processing_rank_id")


def rank_id(name: str | None = None) -> Any:
    """A register with the rank that runs the kernel. Fault (unsupported)."""
    _refuse("rank_id")
