"""Collectives that move bits: gathers, exchanges, permutes, broadcasts,
send and recv, barriers, against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from collective_kit import (
    CASES,
    DTYPES,
    Array,
    Case,
    Groups,
    draw,
    draw_group,
    first_difference,
    position,
    rest_alone,
)
from test_collectives_values import ALGORITHMS, SIZES, allowed

import trnemu

FOUR = Case("trn2.48xlarge", 4, 2)
EIGHT = Case("trn2.48xlarge", 8, 2)


# Documented restrictions of the v operations and of channels, which
# test_collectives_faults.py is about.
ALLOW = ("all_to_all_v.system", "all_to_all_v.rdispls", "collective.channel")


def run(
    case: Case, program: Any, inputs: Any, **options: Any
) -> list[dict[str, Array]]:
    return case.system.run(program, inputs, allow=ALLOW, **options).outputs


def agree(case: Case, got: Array, want: Array, what: str) -> None:
    wrong = first_difference(got.reshape(-1), want.reshape(-1))
    assert not wrong, f"{case}, {what}: {wrong}"


def equal_groups(
    rng: np.random.Generator, case: Case, most: int = 64
) -> Groups:
    """Of one length, all ranks in one of them, in any order."""
    group = draw_group(rng, case, most)
    n = max(k for k in range(1, len(group) + 1) if case.ranks % k == 0)
    order = group + [r for r in range(case.ranks) if r not in set(group)]
    return [order[i : i + n] for i in range(0, case.ranks, n)]


def build(
    case: Case, kind: str, groups: Groups, shapes: Sequence[tuple[Any, Any]],
    dtype: str, memory: str = "hbm", **arguments: Any,
) -> trnemu.Program:
    """x0, x1, ... of the first shapes to y0, y1, ... of the second ones."""
    b = trnemu.ProgramBuilder(case.system.target)
    srcs, dsts, after = [], [], []
    for i, (shape, out) in enumerate(shapes):
        x, y = b.input(f"x{i}", shape, dtype), b.output(f"y{i}", out, dtype)
        if memory == "sbuf":
            srcs.append(b.sbuf(shape, dtype))
            dsts.append(b.sbuf(out, dtype))
            b.dma_copy(dst=srcs[-1], src=x)
            after.append((y, dsts[-1]))
        else:
            srcs.append(x)
            dsts.append(y)
    getattr(b, kind)(
        srcs=srcs, dsts=dsts, replica_group=groups, **arguments
    )
    for dst, src in after:
        b.dma_copy(dst=dst, src=src)
    return b.build()


def draw_gather(seed: int, case: Case) -> None:
    rng = np.random.default_rng(seed)
    groups = equal_groups(rng, case)
    n = len(groups[0])
    dtype = str(rng.choice(list(DTYPES)))
    memory = str(rng.choice(["hbm", "hbm", "sbuf"]))
    dim = int(rng.integers(2)) if memory == "sbuf" else 0
    shapes: list[tuple[int, ...]]
    if memory == "hbm":
        sizes = [int(s) for s in rng.choice(SIZES, rng.integers(1, 4))]
        shapes = [(min(s, 200_000 // n),) for s in sizes]
        outs = [(n * s[0],) for s in shapes]
    else:
        most = 128 // n if dim == 0 else 128
        shapes = [(int(rng.integers(1, most + 1)), int(rng.integers(1, 40)))]
        outs = [
            (n * p, f) if dim == 0 else (p, n * f) for p, f in shapes
        ]
    algorithm = str(rng.choice(["auto", *ALGORITHMS]))
    program = build(
        case, "all_gather", groups, list(zip(shapes, outs)), dtype, memory,
        collective_dim=dim,
    )
    inputs = [
        {
            f"x{i}": draw(rng, int(np.prod(s)), dtype).reshape(s)
            for i, s in enumerate(shapes)
        }
        for _ in range(case.ranks)
    ]
    may = all(allowed(case, "all_gather", g, algorithm) for g in groups)
    try:
        outputs = run(case, program, inputs, algorithm=algorithm)
    except trnemu.Fault as fault:
        assert fault.id == "collective.algorithm" and not may, fault
        return
    assert may, f"{algorithm} of {groups[0]} should have been refused"
    for rank in range(case.ranks):
        group, _ = position(groups, rank)
        for i in range(len(shapes)):
            want = np.concatenate([inputs[r][f"x{i}"] for r in group], dim)
            agree(case, outputs[rank][f"y{i}"], want,
                  f"{algorithm} {dtype} {memory} dim {dim} {shapes} {group}")


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_all_gather_joins_in_the_order_of_the_group(
    seed: int, case: Case
) -> None:
    draw_gather(seed, case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_all_gathers(case: Case) -> None:
    for seed in range(1000, 1150):
        draw_gather(seed, case)


@pytest.mark.parametrize(
    "algorithm", ["ring", "mesh", "rdh", "kangaring", "auto"]
)
@pytest.mark.parametrize("ranks", [4, 64])
def test_in_place_src_is_the_own_block_of_dst(
    algorithm: str, ranks: int
) -> None:
    """all_gather and reduce_scatter; a rank's block is where it stands."""
    case = Case("trn2.48xlarge", ranks, 2)
    group = [int(r) for r in np.random.default_rng(3).permutation(ranks)]
    size = 37
    programs = []
    for rank in range(ranks):
        b = trnemu.ProgramBuilder("trn2")
        at = group.index(rank)
        x = b.inout("x", (ranks * size,), "float32")
        own = x[at * size : (at + 1) * size]
        b.all_gather(
            srcs=[own], dsts=[x], replica_group=[group], collective_dim=0
        )
        y = b.inout("y", (ranks * size,), "float32")
        own = y[at * size : (at + 1) * size]
        b.reduce_scatter(
            srcs=[y], dsts=[own], replica_group=[group], collective_dim=0,
            op="add",
        )
        programs.append(b.build())
    x = [np.full(ranks * size, -1, np.float32) for _ in range(ranks)]
    y = [
        np.arange(ranks * size, dtype=np.float32) + r for r in range(ranks)
    ]
    for rank in range(ranks):
        at = group.index(rank)
        x[rank][at * size : (at + 1) * size] = rank
    outputs = run(
        case, programs,
        [{"x": a, "y": c} for a, c in zip(x, y)], algorithm=algorithm,
    )
    total = ranks * np.arange(ranks * size) + sum(range(ranks))
    for rank in range(ranks):
        at = group.index(rank)
        want = np.repeat(np.array(group, np.float32), size)
        agree(case, outputs[rank]["x"], want, f"{algorithm} all_gather")
        own = slice(at * size, (at + 1) * size)
        agree(case, outputs[rank]["y"][own], total[own].astype(np.float32),
              f"{algorithm} reduce_scatter")


def draw_exchange(seed: int, case: Case, in_place: bool = False) -> None:
    rng = np.random.default_rng(seed)
    groups = equal_groups(rng, case)
    n = len(groups[0])
    dtype = str(rng.choice(list(DTYPES)))
    sizes = [int(s) for s in rng.choice(SIZES[:4], rng.integers(1, 4))]
    if in_place:
        b = trnemu.ProgramBuilder(case.system.target)
        xs = [
            b.inout(f"x{i}", (n * s,), dtype) for i, s in enumerate(sizes)
        ]
        b.all_to_all(srcs=xs, dsts=xs, replica_group=groups, collective_dim=0)
        program = b.build()
    else:
        program = build(
            case, "all_to_all", groups, [((n * s,), (n * s,)) for s in sizes],
            dtype, collective_dim=0,
        )
    inputs = [
        {f"x{i}": draw(rng, n * s, dtype) for i, s in enumerate(sizes)}
        for _ in range(case.ranks)
    ]
    outputs = run(case, program, inputs)
    for rank in range(case.ranks):
        group, at = position(groups, rank)
        for i, s in enumerate(sizes):
            want = np.concatenate(
                [inputs[r][f"x{i}"][at * s : (at + 1) * s] for r in group]
            )
            got = outputs[rank][f"{'x' if in_place else 'y'}{i}"]
            agree(case, got, want, f"all_to_all {dtype} {sizes} {group}")


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_to_all_swaps_parts(case: Case, in_place: bool) -> None:
    for seed in range(2):
        draw_exchange(seed, case, in_place)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_all_to_alls(case: Case) -> None:
    for seed in range(1000, 1100):
        draw_exchange(seed, case, seed % 3 == 0)


def draw_broadcast(seed: int, case: Case) -> None:
    rng = np.random.default_rng(seed)
    group = draw_group(rng, case, 64)
    groups = equal_groups(rng, case) if rng.integers(2) else [group]
    if len(groups) == 1:
        groups = rest_alone(group, case.ranks)
    n = min(len(g) for g in groups)
    root = int(rng.integers(n))
    dtype = str(rng.choice(list(DTYPES)))
    sizes = [int(s) for s in rng.choice(SIZES, rng.integers(1, 4))]
    algorithm = str(rng.choice(["auto", "ring", "mesh"]))
    program = build(
        case, "broadcast", groups, [((s,), (s,)) for s in sizes], dtype,
        root=root,
    )
    inputs = [
        {f"x{i}": draw(rng, s, dtype) for i, s in enumerate(sizes)}
        for _ in range(case.ranks)
    ]
    outputs = run(case, program, inputs, algorithm=algorithm)
    for rank in range(case.ranks):
        of = position(groups, rank)[0][root]
        for i in range(len(sizes)):
            agree(case, outputs[rank][f"y{i}"], inputs[of][f"x{i}"],
                  f"broadcast {algorithm} {dtype} {sizes} root {root}")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_broadcast_gives_all_what_the_root_has(case: Case) -> None:
    for seed in range(3):
        draw_broadcast(seed, case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_broadcasts(case: Case) -> None:
    for seed in range(1000, 1100):
        draw_broadcast(seed, case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_permute_sends_along_its_pairs_and_leaves_the_others(
    case: Case,
) -> None:
    rng = np.random.default_rng(9)
    order = [int(r) for r in rng.permutation(case.ranks)]
    targets = [int(r) for r in rng.permutation(case.ranks)]
    pairs = [
        (a, b) for a, b in zip(order, targets) if a != b
    ][: case.ranks * 2 // 3]
    for dtype in ("float32", "uint8"):
        b = trnemu.ProgramBuilder(case.system.target)
        x = b.input("x", (129,), dtype)
        y = b.inout("y", (129,), dtype)
        b.collective_permute(srcs=[x], dsts=[y], source_target_pairs=pairs)
        inputs = [
            {"x": draw(rng, 129, dtype), "y": draw(rng, 129, dtype)}
            for _ in range(case.ranks)
        ]
        outputs = run(case, b.build(), inputs)
        sender = {target: source for source, target in pairs}
        for rank in range(case.ranks):
            want = (
                inputs[sender[rank]]["x"] if rank in sender
                else inputs[rank]["y"]
            )
            agree(case, outputs[rank]["y"], want, f"permute, rank {rank}")


@pytest.mark.parametrize("memory", ["hbm", "sbuf"])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_implicit_permutes_send_to_the_next_of_the_group(
    channels: int, memory: str
) -> None:
    case = EIGHT
    rng = np.random.default_rng(channels)
    groups = [[3, 0, 5, 2], [7, 6, 1, 4]]
    b = trnemu.ProgramBuilder("trn2")
    shape = (4, 9)
    place = b.sbuf if memory == "sbuf" else None
    srcs, dsts, seconds, sums = [], [], [], []
    for c in range(channels):
        tensors = [b.input(f"{n}{c}", shape, "bfloat16") for n in "xz"]
        out = [b.output(f"{n}{c}", shape, "bfloat16") for n in "yw"]
        if place is not None:
            tiles = [place(shape, "bfloat16") for _ in range(4)]
            for tile, tensor in zip(tiles, tensors):
                b.dma_copy(dst=tile, src=tensor)
        else:
            tiles = tensors + out
        srcs.append(tiles[0])
        seconds.append(tiles[1])
        dsts.append((tiles[2], out[0]))
        sums.append((tiles[3], out[1]))
    ids = list(range(channels))
    b.collective_permute_implicit(
        srcs_by_channel=srcs, dsts_by_channel=[d for d, _ in dsts],
        replica_group=groups, channel_ids=ids,
    )
    b.collective_permute_implicit_reduce(
        srcs0_by_channel=srcs, srcs1_by_channel=seconds,
        dsts_by_channel=[d for d, _ in sums], replica_group=groups, op="add",
        channel_ids=ids,
    )
    if memory == "sbuf":
        for tile, tensor in dsts + sums:
            b.dma_copy(dst=tensor, src=tile)
    inputs = [
        {
            f"{n}{c}": draw(rng, 36, "bfloat16").reshape(shape)
            for n in "xz" for c in ids
        }
        for _ in range(8)
    ]
    outputs = run(case, b.build(), inputs)
    for rank in range(8):
        group, at = position(groups, rank)
        before = inputs[group[at - 1]]
        for c in ids:
            agree(case, outputs[rank][f"y{c}"], before[f"x{c}"], "implicit")
            total = before[f"x{c}"].astype(np.float32) + before[f"z{c}"]
            agree(case, outputs[rank][f"w{c}"],
                  total.astype(DTYPES["bfloat16"]), "implicit reduce")


def test_a_ring_of_implicit_permutes_knows_whose_data_it_has() -> None:
    """After i permutes the data is that of the rank the register names."""
    groups = [[3, 0, 5, 2], [7, 6, 1, 4]]
    b = trnemu.ProgramBuilder("trn2")
    have = b.input("x", (1, 1), "int32")
    for i in range(5):
        said = b.register_alloc()
        b.collective_permute_implicit_current_processing_rank_id(
            dst=said, iteration_id=i, replica_group=groups
        )
        tile = b.sbuf((1, 1), "int32")
        b.register_store(dst=tile, src=said)
        b.dma_copy(dst=b.output(f"said{i}", (1, 1), "int32"), src=tile)
        b.dma_copy(dst=b.output(f"have{i}", (1, 1), "int32"), src=have)
        following = b.scratch(f"s{i}", (1, 1), "int32")
        b.collective_permute_implicit(
            srcs_by_channel=[have], dsts_by_channel=[following],
            replica_group=groups,
        )
        have = following
    me = b.register_alloc()
    b.rank_id(dst=me)
    tile = b.sbuf((1, 1), "int32")
    b.register_store(dst=tile, src=me)
    b.dma_copy(dst=b.output("me", (1, 1), "int32"), src=tile)
    inputs = [{"x": np.full((1, 1), r, np.int32)} for r in range(8)]
    outputs = run(EIGHT, b.build(), inputs)
    for rank in range(8):
        group, at = position(groups, rank)
        assert outputs[rank]["me"][0, 0] == rank
        for i in range(5):
            want = group[(at - i) % 4]
            assert outputs[rank][f"said{i}"][0, 0] == want
            assert outputs[rank][f"have{i}"][0, 0] == want


def v_program(
    case: Case, kind: str, groups: Groups, src: int, dst: int, dtype: str,
    rows: int, known: bool, memory: str,
) -> trnemu.Program:
    n = len(groups[0])
    b = trnemu.ProgramBuilder(case.system.target)
    x, y = b.input("x", (src,), dtype), b.inout("y", (dst,), dtype)
    if memory == "hbm":
        m = b.inout("m", (rows, n), "uint32")
    else:
        tensor = b.inout("m", (1, rows, n), "uint32")
        m = b.sbuf((1, rows, n), "uint32")
        b.dma_copy(dst=m, src=tensor)
    getattr(b, kind)(
        srcs=[x], dsts=[y], replica_group=groups, metadata_tensor=m,
        recv_counts_known=known, has_rdispls=rows == 4,
    )
    if memory == "sbuf":
        b.dma_copy(dst=tensor, src=m)
    return b.build()


@pytest.mark.parametrize("memory", ["hbm", "sbuf"])
@pytest.mark.parametrize("known", [False, True])
def test_all_gather_v_moves_counted_elements_and_no_other_byte(
    known: bool, memory: str
) -> None:
    rng = np.random.default_rng(11)
    groups = [[2, 0, 3, 1], [4, 5, 6, 7]]
    program = v_program(
        EIGHT, "all_gather_v", groups, 20, 40, "int32", 3, known, memory
    )
    shape = (3, 4) if memory == "hbm" else (1, 3, 4)
    inputs, counts, begins = [], [], []
    for rank in range(8):
        count = [0, 10, 7, 1, 3, 9, 2, 5][rank]
        counts.append(count)
        begins.append(int(rng.integers(0, 20 - count + 1)))
        m = np.full((3, 4), 99, np.uint32)
        m[0, 0], m[1, 0] = counts[-1], begins[-1]
        inputs.append({
            "x": draw(rng, 20, "int32"), "y": draw(rng, 40, "int32"),
            "m": m.reshape(shape),
        })
    outputs = run(EIGHT, program, inputs)
    for rank in range(8):
        group, _ = position(groups, rank)
        want = inputs[rank]["y"].copy()
        for slot, r in enumerate(group):
            at, first = 10 * slot, begins[r]
            want[at : at + counts[r]] = inputs[r]["x"][
                first : first + counts[r]
            ]
        agree(EIGHT, outputs[rank]["y"], want, f"rank {rank}")
        table = outputs[rank]["m"].reshape(3, 4)
        received = [99] * 4 if known else [counts[r] for r in group]
        assert table[2].tolist() == received
        assert table[:2].tolist() == inputs[rank]["m"].reshape(3, 4)[:2].tolist()


def all_to_all_v_expected(
    group: Sequence[int], at: int, inputs: Sequence[dict[str, Array]],
    rows: int,
) -> tuple[Array, list[int]]:
    rank = group[at]
    want = inputs[rank]["y"].copy()
    slot = len(want) // len(group)
    received = []
    for i, r in enumerate(group):
        m = inputs[r]["m"]
        count, first = int(m[0, at]), int(m[1, at])
        to = int(inputs[rank]["m"][3, i]) if rows == 4 else slot * i
        want[to : to + count] = inputs[r]["x"][first : first + count]
        received.append(count)
    return want, received


@pytest.mark.parametrize("displacements", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32"])
def test_all_to_all_v_moves_counted_elements_and_no_other_byte(
    dtype: str, known: bool, displacements: bool
) -> None:
    rng = np.random.default_rng(12)
    rows = 4 if displacements else 3
    groups = [[2, 0, 3, 1], [7, 6, 5, 4]]
    for _ in range(5):
        program = v_program(
            EIGHT, "all_to_all_v", groups, 50, 80, dtype, rows, known, "hbm"
        )
        counts = rng.integers(0, 21, (8, 4))
        counts[rng.integers(0, 8), :] = 0
        inputs = []
        for rank in range(8):
            group, at = position(groups, rank)
            m = np.full((rows, 4), 77, np.uint32)
            m[0] = counts[rank]
            m[1] = [rng.integers(0, 50 - c + 1) for c in counts[rank]]
            if displacements:
                places = 0
                for i in rng.permutation(4):  # apart, in any order
                    m[3, i] = places
                    places += int(counts[group[i], at])
            inputs.append({
                "x": draw(rng, 50, dtype), "y": draw(rng, 80, dtype), "m": m,
            })
        outputs = run(EIGHT, program, inputs)
        for rank in range(8):
            group, at = position(groups, rank)
            want, received = all_to_all_v_expected(group, at, inputs, rows)
            agree(EIGHT, outputs[rank]["y"], want, f"rank {rank}")
            m = inputs[rank]["m"].copy()
            if not known:
                m[2] = received
            assert outputs[rank]["m"].tolist() == m.tolist()


@pytest.mark.parametrize("displacements", [False, True])
def test_all_to_all_v_of_counts_1_2_3_0(displacements: bool) -> None:
    """Row 53 of the behaviours: stale data, ignored displacements. Bytes
    outside of each block stay as they are."""
    two = Case("trn2.48xlarge", 2, 2)
    rows = 4 if displacements else 3
    program = v_program(
        two, "all_to_all_v", [[0, 1]], 8, 8, "float32", rows, False, "hbm"
    )
    inputs = []
    for rank, (counts, displs, places) in enumerate(
        [([1, 2], [0, 3], [7, 1]), ([3, 0], [2, 0], [0, 5])]
    ):
        m = np.array([counts, displs, [9, 9], places][:rows], np.uint32)
        x = np.arange(8, dtype=np.float32) + 10 * (rank + 1)
        inputs.append({"x": x, "y": np.full(8, -1, np.float32), "m": m})
    outputs = run(two, program, inputs)
    if displacements:
        # From rank 0 its element 0 to place 7, from rank 1 its 2, 3, 4 to 1.
        assert outputs[0]["y"].tolist() == [-1, 22, 23, 24, -1, -1, -1, 10]
        # From rank 0 its 3, 4 to place 0; nothing from itself.
        assert outputs[1]["y"].tolist() == [13, 14, -1, -1, -1, -1, -1, -1]
    else:
        assert outputs[0]["y"].tolist() == [10, -1, -1, -1, 22, 23, 24, -1]
        assert outputs[1]["y"].tolist() == [13, 14, -1, -1, -1, -1, -1, -1]
    assert outputs[0]["m"][2].tolist() == [1, 3]
    assert outputs[1]["m"][2].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("rows", "counts", "displs", "places"),
    [
        (3, [1, 9], [0, 0], []),  # more than the source has
        (4, [1, 9], [0, 0], [0, 4]),
        (3, [1, 2], [0, 7], []),  # beyond its end
        (3, [5, 0], [0, 0], []),  # more than a slot
        (4, [1, 2], [0, 0], [8, 4]),  # beyond the destination
        (4, [1, 2], [0, 0], [2**32 - 1, 4]),
        (3, [1, 2**32 - 1], [0, 1], []),
        (3, [1, 2], [0, 2**32 - 1], []),
    ],
)
def test_a_wrong_count_matrix_is_a_fault_and_no_hang(
    rows: int, counts: list[int], displs: list[int], places: list[int]
) -> None:
    """Row 53 of the behaviours."""
    two = Case("trn2.48xlarge", 2, 2)
    program = v_program(
        two, "all_to_all_v", [[0, 1]], 8, 8, "float32", rows, False, "hbm"
    )
    good = [[1, 2], [0, 3], [9, 9], [0, 4]]
    bad = [counts, displs, [9, 9], places]
    inputs = [
        {
            "x": np.zeros(8, np.float32), "y": np.zeros(8, np.float32),
            "m": np.array(m[:rows], np.uint32),
        }
        for m in (bad, good)
    ]
    with pytest.raises(trnemu.Fault) as fault:
        two.system.run(program, inputs, allow=ALLOW)
    assert fault.value.id == "collective.counts"
    assert fault.value.rank == 0


def test_several_sends_meet_their_recvs_in_order() -> None:
    """Rank 0 to 1 twice, 1 to 0, and 2 to 3 through SBUF."""
    programs = []
    for rank in range(4):
        b = trnemu.ProgramBuilder("trn2")
        x = [b.input(f"x{i}", (2, 50), "float16") for i in range(2)]
        y = [b.output(f"y{i}", (2, 50), "float16") for i in range(2)]
        if rank == 0:
            b.send(src=x[0], to_rank=1)
            b.recv(dst=y[0], from_rank=1)
            b.send(src=x[1], to_rank=1)
            b.dma_copy(dst=y[1], src=x[1])
        elif rank == 1:
            b.recv(dst=y[0], from_rank=0)
            b.send(src=x[0], to_rank=0)
            b.recv(dst=y[1], from_rank=0)
        else:
            tile = b.sbuf((2, 50), "float16")
            if rank == 2:
                b.dma_copy(dst=tile, src=x[0])
                b.send(src=tile, to_rank=3)
                b.dma_copy(dst=y[0], src=tile)
            else:
                b.recv(dst=tile, from_rank=2)
                b.dma_copy(dst=y[0], src=tile)
            b.dma_copy(dst=y[1], src=x[1])
        programs.append(b.build())
    rng = np.random.default_rng(4)
    inputs = [
        {f"x{i}": draw(rng, 100, "float16").reshape(2, 50) for i in range(2)}
        for _ in range(4)
    ]
    out = run(FOUR, programs, inputs)
    agree(FOUR, out[1]["y0"], inputs[0]["x0"], "0 to 1, the first")
    agree(FOUR, out[1]["y1"], inputs[0]["x1"], "0 to 1, the second")
    agree(FOUR, out[0]["y0"], inputs[1]["x0"], "1 to 0")
    agree(FOUR, out[3]["y0"], inputs[2]["x0"], "2 to 3")


def test_a_barrier_is_passed_when_the_last_one_has_come() -> None:
    """Rank 2's waits for a copy, the others' for nothing."""
    programs = []
    for rank in range(4):
        b = trnemu.ProgramBuilder("trn2")
        x = b.input("x", (128, 4096), "float32")
        y = b.output("y", (128, 4096), "float32")
        z = b.output("z", (128, 1), "float32")
        b.dma_copy(dst=y, src=x)
        data = y if rank == 2 else b.scratch("s", (1,), "float32")
        b.collective_barrier(data=data, replica_group=[[0, 1, 2, 3]])
        b.dma_copy(dst=z, src=x[:, 0:1])
        programs.append(b.build())
    x = np.random.default_rng(0).standard_normal((128, 4096)).astype("f4")
    result = FOUR.system.run(programs, {"x": x})
    (barrier,) = result.collectives
    # 2 MiB at the 188 B/ns that 16 engines have at most (docs/timing.md).
    assert barrier.last_trigger_ns > 2**21 / 400
    assert barrier.first_trigger_ns < 2**21 / 400
    assert barrier.start_ns >= barrier.last_trigger_ns
    for rank in range(4):
        agree(FOUR, result.outputs[rank]["y"], x, "barrier")


def test_permutes_and_broadcasts_in_place() -> None:
    """Everyone's own goes out before what comes is written over it."""
    groups = [[3, 0, 5, 2], [7, 6, 1, 4]]
    b = trnemu.ProgramBuilder("trn2")
    x, y, z = (b.inout(n, (999,), "int32") for n in "xyz")
    pairs = [(r, (r + 3) % 8) for r in range(8)]
    b.collective_permute(srcs=[x], dsts=[x], source_target_pairs=pairs)
    b.collective_permute_implicit(
        srcs_by_channel=[y], dsts_by_channel=[y], replica_group=groups
    )
    b.broadcast(srcs=[z], dsts=[z], replica_group=groups, root=2)
    rng = np.random.default_rng(6)
    inputs = [{n: draw(rng, 999, "int32") for n in "xyz"} for _ in range(8)]
    outputs = run(EIGHT, b.build(), inputs)
    for rank in range(8):
        group, at = position(groups, rank)
        agree(EIGHT, outputs[rank]["x"], inputs[(rank - 3) % 8]["x"], "permute")
        agree(EIGHT, outputs[rank]["y"], inputs[group[at - 1]]["y"], "implicit")
        agree(EIGHT, outputs[rank]["z"], inputs[group[2]]["z"], "broadcast")


def test_streams_go_side_by_side_and_one_stream_in_order() -> None:
    b = trnemu.ProgramBuilder("trn2", cores=2)
    everyone = [list(range(8))]
    outs = []
    for i, stream in enumerate([0, 1, 3, 1]):
        x = b.input(f"x{i}", (50_000,), "float32")
        outs.append(b.output(f"y{i}", (400_000,), "float32"))
        b.all_gather(
            srcs=[x], dsts=[outs[-1]], replica_group=everyone,
            collective_dim=0, stream=stream,
            trigger=["sync", "gpsimd", "scalar", "gpsimd"][i],
        )
    rng = np.random.default_rng(7)
    inputs = [
        {f"x{i}": draw(rng, 50_000, "float32") for i in range(4)}
        for _ in range(8)
    ]
    result = EIGHT.system.run(b.build(), inputs)
    for i in range(4):
        want = np.concatenate([inputs[r][f"x{i}"] for r in range(8)])
        for rank in range(8):
            agree(EIGHT, result.outputs[rank][f"y{i}"], want, f"stream of {i}")
    first, again = [c for c in result.collectives if c.stream == 1]
    assert again.start_ns >= first.end_ns
    others = [c for c in result.collectives if c.stream in (0, 3)]
    assert all(c.start_ns < first.end_ns for c in others)


@pytest.mark.parametrize("count", [21, 2**32 - 1])
def test_all_gather_v_of_more_than_there_is_is_a_fault(count: int) -> None:
    program = v_program(
        FOUR, "all_gather_v", [[0, 1, 2, 3]], 20, 40, "int32", 3, False, "hbm"
    )
    inputs = []
    for rank in range(4):
        m = np.zeros((3, 4), np.uint32)
        m[0, 0] = count if rank == 2 else 3
        inputs.append({
            "x": np.zeros(20, np.int32), "y": np.zeros(40, np.int32), "m": m,
        })
    with pytest.raises(trnemu.Fault) as fault:
        FOUR.system.run(program, inputs)
    assert fault.value.id == "collective.counts" and fault.value.rank == 2
