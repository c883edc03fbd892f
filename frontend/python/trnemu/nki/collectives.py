"""nki.collectives: what the ranks of a system do together.

Each function records an operation of trnemu's table, which has the rules and a
page (docs/operations). A kernel with collectives runs on the ranks of a system:
trnemu.System(...).run(kernel, arguments); docs/nki.md, "Several ranks", says
what the two cores of kernel[2] do.

Source: nki/api/nki/collectives/__init__.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trnemu.nki import _trace
from trnemu.nki._object import NKIObject
from trnemu.nki._tensor import NkiTensor as _NkiTensor
from trnemu.nki._tensor import VirtualRegister, make_register
from trnemu.nki._trace import INDEX, Trace, refuse

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


def _group(operation: str, group: Any) -> ReplicaGroup:
    if isinstance(group, ReplicaGroup):
        return group
    hint = (
        f": ReplicaGroup({group!r})" if isinstance(group, (list, tuple)) else ""
    )
    raise TypeError(
        f"{operation}() argument 'replica_group' must be a ReplicaGroup, not "
        f"{type(group).__name__}{hint}"
    )


def _by_channel(operation: str, name: str, lists: Any) -> list[Any]:
    """The tensors of lists that have one each."""
    kinds = (list, tuple)
    wrong = not isinstance(lists, kinds) or [
        i for i, inner in enumerate(lists)
        if not isinstance(inner, kinds) or len(inner) != 1
    ]
    if not wrong:
        return [inner[0] for inner in lists]
    refuse(
        "illegal",
        "nki.channels",
        f"{operation}: {name} must be a list with a list of exactly one tensor "
        "for each channel"
        + (f", but that of channel {wrong[0]} is not" if wrong is not True
           else f", not {type(lists).__name__}"),
        operation=operation,
        operand=name,
        remedy=f"{name}=[[tensor]]; of two channels [[tensor0], [tensor1]]",
    )


def _shown(value: Any) -> Any:
    """What two cores' calls must have the same of, to be one collective."""
    if isinstance(value, _NkiTensor):
        return value.tensor, value.offset, value.shape, value.strides
    if isinstance(value, (list, tuple)):
        return tuple(map(_shown, value))
    if isinstance(value, ReplicaGroup):
        return _shown(value.groups)
    return value


def _record(operation: str, given: dict[str, Any]) -> Any:
    """Records it. On two cores it is one collective of the rank if both call it
    with the same tensors, else each core's own."""
    trace = _trace.current()
    name = given.pop("name", None)
    if name is not None:
        given["name"] = name
    lockstep = trace.lockstep
    if lockstep is None:
        handle = trace.record(INDEX[operation], (), given)
    else:
        # Counts in SBUF are each core's, of the same collective.
        key = operation, tuple(
            _shown(value) for parameter, value in given.items()
            if parameter not in ("name", "metadata_tensor")
        )
        offer = lockstep.offer(key)

        def record() -> Any:
            both = {"both_cores": lockstep.agreed(offer)}
            return trace.record(INDEX[operation], (), {**given, **both})

        handle = lockstep.meet(record, collective=True)
    return _noted(trace, name, handle)


def _noted(trace: Trace, name: str | None, handle: Any) -> Any:
    if name is not None:
        labels = trace.labels[trace.core_index]
        labels.setdefault(name, []).append(handle)
    if trace.watched:
        trace.look(handle)
    return handle


def _register(operation: str, given: dict[str, Any]) -> VirtualRegister:
    trace = _trace.current()
    name = given.pop("name", None)
    if name is not None:
        given["name"] = name
    register = make_register(trace.core.add_register(None))
    handle = trace.record(INDEX[operation], (), {"dst": register, **given})
    _noted(trace, name, handle)
    return register


def all_reduce(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    op: str,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The op (nl.add, nl.minimum, nl.maximum) over all ranks of each of srcs,
    to each rank's dsts."""
    _record("all_reduce", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("all_reduce", replica_group),
        "op": op,
        "priority": priority,
        "name": name,
    })


def all_gather(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """The srcs of all ranks, one after another along collective_dim, to each
    rank's dsts."""
    _record("all_gather", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("all_gather", replica_group),
        "collective_dim": collective_dim,
        "priority": priority,
        "name": name,
    })


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
    runs."""
    _record("all_gather_v", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("all_gather_v", replica_group),
        "metadata_tensor": metadata_tensor,
        "recv_counts_known": recv_counts_known,
        "has_rdispls": has_rdispls,
        "priority": priority,
        "name": name,
    })


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
    collective_dim."""
    _record("reduce_scatter", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("reduce_scatter", replica_group),
        "collective_dim": collective_dim,
        "op": op,
        "priority": priority,
        "name": name,
    })


def all_to_all(
    srcs: Tensors,
    dsts: Tensors,
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """Each rank's srcs in parts along collective_dim, part i to rank i."""
    _record("all_to_all", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("all_to_all", replica_group),
        "collective_dim": collective_dim,
        "priority": priority,
        "name": name,
    })


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
    """all_to_all in parts whose sizes are known when it runs."""
    _record("all_to_all_v", {
        "srcs": srcs,
        "dsts": dsts,
        "replica_group": _group("all_to_all_v", replica_group),
        "metadata_tensor": metadata_tensor,
        "recv_counts_known": recv_counts_known,
        "has_rdispls": has_rdispls,
        "priority": priority,
        "name": name,
    })


def collective_permute(
    srcs: Tensors,
    dsts: Tensors,
    source_target_pairs: Sequence[tuple[int, int]],
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """From the first rank of each pair to the second."""
    _record("collective_permute", {
        "srcs": srcs,
        "dsts": dsts,
        "source_target_pairs": source_target_pairs,
        "priority": priority,
        "name": name,
    })


def collective_permute_implicit(
    srcs_by_channel: Sequence[Tensors],
    dsts_by_channel: Sequence[Tensors],
    replica_group: ReplicaGroup,
    channel_ids: Sequence[int] = [0],  # noqa: B006 (the documented default)
    priority: int | None = None,
    name: str | None = None,
) -> None:
    """From each rank to the next of its ring. Fault (illegal, nki.channels) if
    a channel has not exactly one tensor."""
    me = "collective_permute_implicit"
    _record(me, {
        "srcs_by_channel": _by_channel(me, "srcs_by_channel", srcs_by_channel),
        "dsts_by_channel": _by_channel(me, "dsts_by_channel", dsts_by_channel),
        "replica_group": _group(me, replica_group),
        "channel_ids": channel_ids,
        "priority": priority,
        "name": name,
    })


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
    as of collective_permute_implicit."""
    me = "collective_permute_implicit_reduce"
    _record(me, {
        "srcs0_by_channel": _by_channel(
            me, "srcs0_by_channel", srcs0_by_channel),
        "srcs1_by_channel": _by_channel(
            me, "srcs1_by_channel", srcs1_by_channel),
        "dsts_by_channel": _by_channel(me, "dsts_by_channel", dsts_by_channel),
        "replica_group": _group(me, replica_group),
        "op": op,
        "channel_ids": channel_ids,
        "priority": priority,
        "name": name,
    })


def collective_permute_implicit_current_processing_rank_id(
    iteration_id: int,
    replica_group: ReplicaGroup,
    channel_id: int = 0,
    name: str | None = None,
) -> Any:
    """A register with the rank whose data a step of the ring works on: at step
    0 the rank itself, at step i the i-th before it."""
    me = "collective_permute_implicit_current_processing_rank_id"
    return _register(me, {
        "iteration_id": iteration_id,
        "replica_group": _group(me, replica_group),
        "channel_id": channel_id,
        "name": name,
    })


def rank_id(name: str | None = None) -> Any:
    """A register with the rank that runs the kernel: its number in the
    system."""
    return _register("rank_id", {"name": name})
