"""The rules of collectives, at each documented limit: legal at it, refused one
past it. Expected ids and limits are those of nki/collectives of SDK 2.32 and
of the runtime's pages, named beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import trnemu
from collectives_kit import Builder, groups

Adds = Callable[[Builder], Any]
LAYERS = ("device", "backend", "api")


def refusals(adds: Adds, target: str = "trn2", cores: int = 1,
             layers: tuple[str, ...] = LAYERS) -> set[str]:
    """The ids of errors of a program of one call."""
    b = Builder(target=target, cores=cores)
    try:
        adds(b)
        p = b.build()
    except trnemu.Fault as fault:
        return {fault.id}
    return {f.id for f in p.verify(layers=layers) if f.severity == "error"}


def hbm(b: Builder, shape: tuple[int, ...], dtype: str = "float32",
        kind: str = "scratch") -> trnemu.View:
    return getattr(b, kind)(f"t{next(NUMBERS)}", shape, dtype)


def numbers():
    n = 0
    while True:
        n += 1
        yield n


NUMBERS = numbers()


def call(name: str, src: Any = (4, 8), dst: Any = (4, 8), *, space: Any = "hbm",
         dtype: Any = "float32", count: int = 1, **options: Any) -> Adds:
    """A call with `count` sources and destinations of these shapes. space and
    dtype: of all, or of sources and destinations."""
    spaces = (space, space) if isinstance(space, str) else space
    dtypes = (dtype, dtype) if isinstance(dtype, str) else dtype

    def tile(b: Builder, shape: tuple[int, ...], space: str, dtype: str) -> trnemu.View:
        return hbm(b, shape, dtype) if space == "hbm" else b.sbuf(shape, dtype)

    def add(b: Builder) -> None:
        srcs = [tile(b, src, spaces[0], dtypes[0]) for _ in range(count)]
        dsts = [tile(b, dst, spaces[1], dtypes[1]) for _ in range(options.get("_dsts", count))]
        rest = {k: v(b) if callable(v) else v for k, v in options.items() if k != "_dsts"}
        rest.setdefault("replica_group", groups(2))
        if name == "collective_permute":
            rest.pop("replica_group")
        getattr(b, name)(srcs=srcs, dsts=dsts, **rest)
    return add


def reduce(**options: Any) -> Adds:
    return call("all_reduce", **{"op": "add", **options})


def gather(**options: Any) -> Adds:
    return call("all_gather", **{"dst": (8, 8), "collective_dim": 0, **options})


def scatter(**options: Any) -> Adds:
    return call("reduce_scatter", **{"dst": (2, 8), "collective_dim": 0, "op": "add", **options})


def swap(**options: Any) -> Adds:
    return call("all_to_all", **{"collective_dim": 0, **options})


def permute(**options: Any) -> Adds:
    return call("collective_permute", **{"source_target_pairs": [[0, 1], [1, 0]], **options})


def v(name: str, ranks: int = 2, rows: int = 3, columns: int | None = None, space: str = "hbm",
      dtype: str = "uint32", **options: Any) -> Adds:
    shape = (rows, columns or ranks)
    metadata = (lambda b: hbm(b, shape, dtype, "inout")) if space == "hbm" else (
        lambda b: b.sbuf((1, *shape) if space == "sbuf" else shape, dtype))
    return call(name, **{"src": (1, 8), "dst": (1, 16), "metadata_tensor": metadata,
                         "replica_group": groups(ranks), **options})


def implicit(channels: int = 1, ids: Any = "same", sizes: tuple[int, int] = (8, 8), **options: Any) -> Adds:
    def add(b: Builder) -> None:
        tiles = [[[hbm(b, (4, n))] for _ in range(channels)] for n in sizes]
        b.collective_permute_implicit(
            srcs_by_channel=tiles[0], dsts_by_channel=tiles[1],
            **{"replica_group": groups(2), **options},
            **({} if ids is None else {"channel_ids": list(range(channels)) if ids == "same" else ids}))
    return add


def legal(adds: Adds, **where: Any) -> None:
    assert refusals(adds, **where) == set()


def refused(id: str, adds: Adds, **where: Any) -> None:
    assert id in refusals(adds, **where)


def test_tensors_are_all_in_hbm_or_all_in_sbuf():  # :22
    for adds in (reduce, gather, scatter):
        legal(adds())
        legal(adds(space="sbuf"))
        refused("collective.memory", adds(space=("hbm", "sbuf")))
        refused("collective.memory", adds(space=("sbuf", "hbm")))


@pytest.mark.parametrize("adds", [swap, permute])
def test_some_are_in_hbm_only(adds):  # :176, :276
    legal(adds())
    refused("collective.hbm", adds(space="sbuf"))
    assert refusals(adds(space="sbuf"), layers=("device", "backend")) == set()  # of the API


@pytest.mark.parametrize("adds", [reduce, gather, scatter, swap])
def test_several_tensors_are_in_hbm(adds):  # :24
    legal(adds(count=2))
    legal(adds(count=8))
    if adds is not swap:
        refused("collective.coalesced", adds(count=2, space="sbuf"))
    assert refusals(adds(count=9)) == {"argument.count"}


def test_permutes_and_v_take_one_tensor():  # :278, :86, :225
    refused("collective.one_tensor", permute(count=2))
    refused("collective.one_tensor", v("all_to_all_v", count=2))
    refused("collective.one_tensor", v("all_gather_v", 4, count=2))


def test_sources_and_destinations_are_as_many():
    refused("collective.lists", reduce(count=2, _dsts=1))
    refused("collective.lists", reduce(count=1, _dsts=2))


@pytest.mark.parametrize("op", ["add", "minimum", "maximum"])
def test_three_reductions_are_there(op):  # :29
    legal(reduce(op=op))
    legal(scatter(op=op))


@pytest.mark.parametrize("op", ["multiply", "subtract", "bitwise_or", "logical_and"])
def test_other_reductions_are_refused(op):
    refused("collective.op", reduce(op=op))
    refused("collective.op", scatter(op=op))


def test_integers_that_fp32_holds_can_be_compared_and_no_others_added():
    for dtype in ("int8", "uint8", "int16", "uint16"):
        legal(reduce(dtype=dtype, op="maximum"))
        refused("collective.integer", reduce(dtype=dtype, op="add"))
    for dtype in ("int32", "uint32"):
        for op in ("add", "minimum", "maximum"):
            refused("collective.integer", reduce(dtype=dtype, op=op))
    legal(gather(dtype="int32"))


def test_dtypes_are_the_same():
    refused("collective.dtype", reduce(dtype=("float32", "bfloat16")))
    refused("collective.dtype", swap(dtype=("int32", "uint32")))


def test_an_hbm_gather_is_along_dimension_0():  # :52
    legal(gather())
    refused("collective.gather_dim", gather(dst=(4, 16), collective_dim=1))
    refused("collective.gather_dim", gather(collective_dim=2))


def test_an_sbuf_gather_is_along_dimension_0_or_1():  # :52
    legal(gather(space="sbuf"))
    legal(gather(space="sbuf", dst=(4, 16), collective_dim=1))
    refused("collective.gather_dim", gather(space="sbuf", dst=(8, 8), collective_dim=1))
    refused("collective.gather_dim", gather(space="sbuf", dst=(4, 16), collective_dim=0))
    refused("collective.gather_dim", gather(space="sbuf", dst=(4, 16), collective_dim=2))


def test_tiles_in_sbuf_have_one_free_dimension():  # :54
    legal(reduce(space="sbuf", src=(4, 8), dst=(4, 8)))
    refused("collective.sbuf_dimensions", reduce(space="sbuf", src=(4, 2, 4), dst=(4, 2, 4)))
    legal(reduce(src=(4, 2, 4), dst=(4, 2, 4)))


@pytest.mark.parametrize("adds", [scatter, swap])
def test_scatters_and_swaps_are_along_dimension_0(adds):  # :160, :182
    legal(adds())
    refused("collective.first_dim", adds(collective_dim=1))


def test_sizes_follow_from_the_group():
    legal(gather(dst=(12, 8), replica_group=groups(3)))
    refused("collective.gathered_size", gather(dst=(13, 8), replica_group=groups(3)))
    legal(scatter(src=(6, 8), dst=(2, 8), replica_group=groups(3)))
    refused("collective.scattered_size", scatter(src=(7, 8), dst=(2, 8), replica_group=groups(3)))
    legal(swap(src=(6, 5), dst=(6, 5), replica_group=groups(3)))
    refused("collective.swapped_size", swap(src=(7, 5), dst=(7, 5), replica_group=groups(3)))
    refused("collective.swapped_size", swap(src=(6, 5), dst=(6, 6), replica_group=groups(3)))
    refused("collective.size", reduce(dst=(4, 9)))
    refused("collective.size", permute(dst=(4, 7)))
    refused("collective.size", implicit(sizes=(8, 9)))

    def ring(n: int) -> Adds:
        return lambda b: b.collective_permute_implicit_reduce(
            srcs0_by_channel=[[hbm(b, (4, 8))]], srcs1_by_channel=[[hbm(b, (4, n))]],
            dsts_by_channel=[[hbm(b, (4, 8))]], replica_group=groups(2), op="add")
    legal(ring(8))
    refused("collective.size", ring(7))
    refused("collective.size", ring(9))


def test_a_message_has_the_actual_sizes_and_groups():
    b = Builder(target="trn2")
    with pytest.raises(trnemu.Fault) as info:
        gather(dst=(6, 8))(b)
    assert "first has 48 elements" in info.value.message
    assert "its source 32" in info.value.message and "[[0, 1]]" in info.value.message


def test_no_rank_is_in_two_lists():  # :9
    legal(reduce(replica_group=[[0, 1], [2, 3]]))
    refused("collective.groups", reduce(replica_group=[[0, 1], [1, 2]]))
    refused("collective.groups", reduce(replica_group=[[0, 0]]))
    refused("collective.groups", reduce(replica_group=[]))
    refused("collective.groups", reduce(replica_group=[[]]))


def test_ranks_are_below_65536():
    legal(reduce(replica_group=[[0, 65535]]))
    refused("collective.rank", reduce(replica_group=[[0, 65536]]))
    refused("collective.rank", reduce(replica_group=[[-1, 0]]))


def test_groups_are_equally_long_where_shapes_follow_from_them():
    legal(reduce(replica_group=[[0, 1], [2]]))
    for adds in (gather, scatter, swap):
        refused("collective.equal_groups", adds(replica_group=[[0, 1], [2]]))


def test_no_rank_sends_or_receives_twice():
    legal(permute(source_target_pairs=[[0, 1], [1, 2], [2, 0]]))
    refused("collective.pairs", permute(source_target_pairs=[[0, 1], [0, 2]]))
    refused("collective.pairs", permute(source_target_pairs=[[0, 2], [1, 2]]))
    refused("collective.pairs", permute(source_target_pairs=[[0, 1, 2]]))
    refused("collective.pairs", permute(source_target_pairs=[]))


@pytest.mark.parametrize("adds", [reduce, gather, scatter, swap, permute, implicit])
def test_priority_is_0_to_3_from_trn3_on(adds):  # :30
    for priority in (0, 3):
        legal(adds(priority=priority), target="trn3")
        refused("collective.priority", adds(priority=priority), target="trn2")
    for priority in (-1, 4):
        refused("collective.priority", adds(priority=priority), target="trn3")


def test_a_core_has_two_streams():  # compute-comm-overlap.rst:110
    legal(reduce(stream=1))
    refused("collective.stream", reduce(stream=2))
    refused("collective.stream", reduce(stream=-1))
    legal(reduce(stream=3), cores=2)
    refused("collective.stream", reduce(stream=4), cores=2)


@pytest.mark.parametrize("engine", ["sync", "gpsimd", "vector", "scalar", "tensor"])
def test_each_sequencer_can_trigger(engine):
    legal(reduce(trigger=engine))


def test_the_dma_engines_trigger_nothing():
    refused("collective.trigger", reduce(trigger="dma"))


def test_channels_are_consecutive_from_0_and_at_most_4():  # :308, :316
    for channels in (1, 2, 4):
        legal(implicit(channels))
    assert refusals(implicit(5)) == {"argument.count"}
    legal(implicit(1, None))
    refused("collective.channels", implicit(2, None))
    refused("collective.channels", implicit(1, [1]))
    refused("collective.channels", implicit(2, [0, 2]))
    refused("collective.channels", implicit(2, [1, 0]))
    refused("collective.channels", implicit(2, [0]))


def test_a_channel_has_exactly_one_tensor():  # :303
    def two(b: Builder) -> None:
        x = [hbm(b, (4, 8)) for _ in range(2)]
        b.collective_permute_implicit(srcs_by_channel=[x], dsts_by_channel=[x], replica_group=groups(2))
    assert refusals(two) == {"argument.count"}


def test_the_channel_of_a_processing_rank_is_0_to_3():  # :390
    def add(channel: int) -> Adds:
        return lambda b: b.collective_permute_implicit_current_processing_rank_id(
            dst=b.register_alloc(), iteration_id=0, replica_group=groups(2), channel_id=channel)
    legal(add(3))
    refused("collective.channel_id", add(4))
    refused("collective.channel_id", add(-1))


def test_metadata_is_uint32_with_a_column_a_rank():  # :97, :233
    for ranks in (2, 3):
        legal(v("all_to_all_v", ranks))
        legal(v("all_to_all_v", ranks, space="sbuf"))
        refused("collective.metadata_shape", v("all_to_all_v", ranks, columns=ranks + 1))
    refused("collective.metadata_shape", v("all_to_all_v", rows=4))
    refused("collective.metadata_shape", v("all_to_all_v", rows=3, has_rdispls=True))
    legal(v("all_to_all_v", rows=4, has_rdispls=True))
    refused("collective.metadata_shape", v("all_to_all_v", space="partitions"))
    assert refusals(v("all_to_all_v", dtype="int32")) & {"collective.metadata", "operand.dtype"}


def test_v_is_in_hbm():  # :87, :226
    refused("collective.hbm", v("all_to_all_v", space="hbm") if False else call(
        "all_to_all_v", src=(1, 8), dst=(1, 16), space="sbuf",
        metadata_tensor=lambda b: hbm(b, (3, 2), "uint32", "inout")))


def test_a_gather_v_is_of_four_ranks_without_displacements():  # :135
    legal(v("all_gather_v", 4))
    legal(v("all_gather_v", 4, replica_group=[[0, 1, 2, 3], [4, 5, 6, 7]]))
    refused("all_gather_v.ranks", v("all_gather_v", 3))
    refused("all_gather_v.ranks", v("all_gather_v", 5))
    refused("all_gather_v.has_rdispls", v("all_gather_v", 4, rows=4, has_rdispls=True))


def test_a_root_is_a_position_of_every_group():
    def add(root: int, group: Any = None) -> Adds:
        return call("broadcast", root=root, replica_group=group or groups(2))
    legal(add(0))
    legal(add(1))
    refused("broadcast.root", add(2))
    refused("broadcast.root", add(-1))
    legal(add(1, [[0, 1, 2], [3, 4]]))
    refused("broadcast.root", add(2, [[0, 1, 2], [3, 4]]))


def test_a_peer_is_a_rank():
    def send(peer: int) -> Adds:
        return lambda b: b.send(src=hbm(b, (4, 8)), to_rank=peer)

    def recv(peer: int) -> Adds:
        return lambda b: b.recv(dst=hbm(b, (4, 8)), from_rank=peer)
    for add in (send, recv):
        legal(add(65535))
        refused("collective.peer", add(65536))
        refused("collective.peer", add(-1))


def test_a_collective_of_both_cores_has_two_cores_and_tensors_in_hbm():
    def add(space: str) -> Adds:
        return call("all_reduce", space=space, op="add", both_cores=True)
    refused("collective.both_cores", add("hbm"), cores=1)
    legal(add("hbm"), cores=2)
    refused("collective.both_cores", add("sbuf"), cores=2)


def test_every_rule_of_collectives_is_tried_here():
    """By its id, in this file."""
    text = open(__file__).read()
    ids = {r.id for o in trnemu.operations() for r in o.rules
           if r.id.startswith("collective.") or o.name in (
               "broadcast", "send", "recv", "all_gather_v", "all_to_all_v")}
    assert {i for i in ids if f'"{i}"' not in text} == set()
