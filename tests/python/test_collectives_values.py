"""Reductions of collectives, bit for bit, in the algorithm's own order of
addition (collective_oracle.py)."""

from __future__ import annotations

from collections.abc import Sequence

import collective_oracle as oracle
import ml_dtypes
import numpy as np
import pytest
from collective_kit import (
    CASES,
    Array,
    Case,
    Groups,
    draw,
    draw_group,
    draw_odd,
    first_difference,
    position,
    rest_alone,
)

import trnemu

ALGORITHMS = ("ring", "mesh", "single_step_mesh", "rdh", "kangaring",
              "hierarchical")
SIZES = (1, 7, 64, 1000, 4099)


def reduction(
    case: Case, kind: str, groups: Groups, sizes: Sequence[int], dtype: str,
    op: str, memory: str = "hbm", partitions: int = 1,
) -> trnemu.Program:
    """x0, x1, ... of `sizes` elements (of a reduce_scatter, of a result) to
    y0, y1, ... memory: "hbm", "sbuf" or "in place"."""
    b = trnemu.ProgramBuilder(case.system.target)
    n = len(groups[0]) if kind == "reduce_scatter" else 1
    srcs, dsts, loads, stores = [], [], [], []
    for i, size in enumerate(sizes):
        if memory == "in place":
            srcs.append(b.inout(f"x{i}", (size,), dtype))
            dsts.append(srcs[-1])
            continue
        shape, out = (n * size,), (size,)
        if memory == "sbuf":
            shape = (n * partitions, size // partitions)
            out = (partitions, size // partitions)
        x = b.input(f"x{i}", shape, dtype)
        y = b.output(f"y{i}", out, dtype)
        if memory == "sbuf":
            srcs.append(b.sbuf(shape, dtype))
            dsts.append(b.sbuf(out, dtype))
            loads.append((srcs[-1], x))
            stores.append((y, dsts[-1]))
        else:
            srcs.append(x)
            dsts.append(y)
    for dst, src in loads:
        b.dma_copy(dst=dst, src=src)
    extra = {"collective_dim": 0} if kind == "reduce_scatter" else {}
    getattr(b, kind)(
        srcs=srcs, dsts=dsts, replica_group=groups, op=op, **extra
    )
    for dst, src in stores:
        b.dma_copy(dst=dst, src=src)
    return b.build()


def expected(
    case: Case, kind: str, groups: Groups, inputs: list[list[Array]], op: str,
    result: trnemu.SystemResult,
) -> list[list[Array]]:
    """By rank: its results, by what each group's collective says it did."""
    out: list[list[Array]] = [[] for _ in inputs]
    by_group = {c.ranks: c for c in result.collectives}
    for group in groups:
        c = by_group[tuple(group)]
        how = (c.algorithm, c.inside_nodes, c.between_nodes)
        mine = [inputs[r] for r in group]
        if kind == "reduce_scatter":
            sums = oracle.reduce_scatter(
                case.system, case.place, group, mine, op, *how
            )
            for rank, total in zip(group, sums):
                out[rank] = total
            continue
        flat = [np.concatenate(x) for x in mine]
        total = oracle.all_reduce(
            case.system, case.place, group, flat, op, *how
        )
        ends = np.cumsum([0, *(len(x) for x in mine[0])])
        for rank in group:
            out[rank] = [total[a:b] for a, b in zip(ends, ends[1:])]
    return out


def check(
    case: Case, kind: str, groups: Groups, sizes: Sequence[int], dtype: str,
    op: str, algorithm: str, rng: np.random.Generator, memory: str = "hbm",
    partitions: int = 1,
) -> list[trnemu.SystemResult]:
    """Runs it and compares; [] if the algorithm was refused as it should."""
    program = reduction(
        case, kind, groups, sizes, dtype, op, memory, partitions
    )
    of = draw if op == "add" or rng.integers(2) else draw_odd
    n = len(groups[0]) if kind == "reduce_scatter" else 1
    values = [
        [of(rng, n * size, dtype) for size in sizes]
        for _ in range(case.ranks)
    ]
    inputs = [
        {
            f"x{i}": x.reshape(n * partitions, -1) if memory == "sbuf" else x
            for i, x in enumerate(xs)
        }
        for xs in values
    ]
    may = all(allowed(case, kind, group, algorithm) for group in groups)
    try:
        result = case.system.run(program, inputs, algorithm=algorithm)
    except trnemu.Fault as fault:
        assert fault.id == "collective.algorithm", fault
        assert not may, f"{case} {groups[0]}: {fault}"
        return []
    assert may, f"{algorithm} of {groups[0]} should have been refused"
    want = expected(case, kind, groups, values, op, result)
    for rank in range(case.ranks):
        for i, total in enumerate(want[rank]):
            name = f"x{i}" if memory == "in place" else f"y{i}"
            wrong = first_difference(
                result.outputs[rank][name].reshape(-1), total
            )
            assert not wrong, (
                f"{case}, {kind} {op} {dtype} {sizes} {memory}, "
                f"{result.collectives[0].algorithm}, rank {rank} of "
                f"{position(groups, rank)[0]}: {wrong}"
            )
    return [result]


def allowed(
    case: Case, kind: str, group: Sequence[int], algorithm: str
) -> bool:
    """As docs/collectives.md says."""
    nodes: dict[int, int] = {}
    for rank in group:
        node = case.place.node(rank)
        nodes[node] = nodes.get(node, 0) + 1
    if algorithm == "auto":
        return True
    counts = set(nodes.values())
    several = len(nodes) > 1 and counts != {1}
    if algorithm == "hierarchical":
        return several and len(counts) == 1
    if several and algorithm in ("rdh", "kangaring"):
        return False
    team = oracle.whole_team(case.system, case.place, group)
    return oracle.can(algorithm, team, kind)


def draw_check(seed: int, case: Case) -> None:
    """One case of everything that can vary."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["all_reduce", "reduce_scatter"]))
    group = draw_group(rng, case, 64)
    groups = rest_alone(group, case.ranks)
    if kind == "reduce_scatter" or rng.integers(3) == 0:
        # Several groups of one length, as many as there are ranks for.
        lengths = [n for n in range(1, len(group) + 1) if case.ranks % n == 0]
        n = lengths[-1]
        order = group + [r for r in range(case.ranks) if r not in set(group)]
        groups = [order[i : i + n] for i in range(0, case.ranks, n)]
    dtype = str(rng.choice(["float32", "bfloat16", "float16", "uint8"]))
    op = str(rng.choice(["add", "add", "minimum", "maximum"]))
    if dtype == "uint8" and op == "add":
        op = "maximum"
    sizes = [int(rng.choice(SIZES))]
    memory, partitions = "hbm", 1
    if rng.integers(4) == 0:
        sizes += [int(n) for n in rng.choice(SIZES[:3], rng.integers(1, 4))]
    elif rng.integers(4) == 0 and kind == "all_reduce":
        memory = "in place"
    elif rng.integers(4) == 0:
        n = len(groups[0]) if kind == "reduce_scatter" else 1
        memory = "sbuf"
        partitions = int(rng.integers(1, 128 // n + 1))
        sizes = [partitions * int(rng.choice([1, 3, 32]))]
    algorithm = str(rng.choice(["auto", *ALGORITHMS]))
    check(case, kind, groups, sizes, dtype, op, algorithm, rng, memory,
          partitions)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_reductions_add_in_the_order_of_their_algorithm(
    seed: int, case: Case
) -> None:
    draw_check(seed, case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_reductions_add_in_the_order_of_their_algorithm(
    case: Case,
) -> None:
    for seed in range(1000, 1250):
        draw_check(seed, case)


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_algorithm_of_every_system_with_every_size(
    case: Case, algorithm: str
) -> None:
    rng = np.random.default_rng(5)
    per_chip = case.place.ranks_per_chip
    ranks = case.ranks
    for size in SIZES:
        for n in (1, 2, 3, per_chip, 3 * per_chip, 4 * per_chip, 64):
            if n > ranks:
                continue
            for dtype in ("float32", "bfloat16"):
                groups = rest_alone(list(range(n)), ranks)
                check(case, "all_reduce", groups, [size], dtype, "add",
                      algorithm, rng)
                if ranks % n == 0 and n * size <= 100_000:
                    groups = [
                        list(range(i, i + n)) for i in range(0, ranks, n)
                    ]
                    check(case, "reduce_scatter", groups, [size], dtype,
                          "add", algorithm, rng)


def ran(results: list[trnemu.SystemResult]) -> trnemu.Collective:
    """The first collective of the one run that took place."""
    return results[0].collectives[0]


@pytest.mark.parametrize(
    "algorithm", ["ring", "mesh", "single_step_mesh", "rdh", "kangaring"]
)
def test_sixty_four_ranks_add_as_each_algorithm_does(algorithm: str) -> None:
    case = CASES[2]
    rng = np.random.default_rng(1)
    everyone = [list(range(64))]
    done = check(case, "all_reduce", everyone, [4099], "float32", "add",
                 algorithm, rng)
    assert ran(done).algorithm == algorithm


def test_the_order_of_addition_shows() -> None:
    """Otherwise the other tests would compare nothing."""
    case = CASES[2]
    rng = np.random.default_rng(2)
    values = [draw(rng, 4099, "float32") for _ in range(64)]
    group = list(range(64))
    sums = {
        a: oracle.all_reduce(case.system, case.place, group, values, "add", a)
        for a in ("ring", "mesh", "single_step_mesh", "rdh", "kangaring")
    }
    names = list(sums)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            assert not np.array_equal(sums[a], sums[b]), (a, b)


def test_bfloat16_is_rounded_at_every_step_of_a_ring() -> None:
    """bfloat16 has 8 bits: 1 + 2^-9 is 1, but 4 x 2^-9 is 2^-7. The owner of
    the only element is rank 0, which a ring adds last."""
    case = CASES[2]
    ones = [1.0, 2.0**-9, 2.0**-9, 2.0**-9, 2.0**-9]
    program = reduction(
        case, "all_reduce", rest_alone([0, 1, 2, 3, 4], 64), [1], "bfloat16",
        "add",
    )
    inputs = [
        {"x0": np.full(1, ones[r] if r < 5 else 0, ml_dtypes.bfloat16)}
        for r in range(64)
    ]
    at_once = case.system.run(program, inputs, algorithm="single_step_mesh")
    assert float(at_once.outputs[0]["y0"][0]) == 1 + 2.0**-7
    ring = case.system.run(program, inputs, algorithm="ring")
    assert float(ring.outputs[0]["y0"][0]) == 1 + 2.0**-7
    inputs[0], inputs[1] = inputs[1], inputs[0]
    ring = case.system.run(program, inputs, algorithm="ring")
    assert float(ring.outputs[0]["y0"][0]) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rings_are_cycles_of_neighbours_that_share_no_direction(
    case: Case,
) -> None:
    """What the oracle takes from the system: each goes once through all
    ranks; no step from chip to chip is in two of them."""
    everyone = list(range(min(case.ranks, 64)))
    rings = case.system.rings(everyone)
    per_chip = case.place.ranks_per_chip
    steps = set()
    for ring in rings:
        assert sorted(ring) == everyone
        for a, b in zip(ring, ring[1:] + ring[:1]):
            if a // per_chip == b // per_chip:
                assert b == a + 1
                continue
            step = (a // per_chip, b // per_chip)
            assert step not in steps
            steps.add(step)
            if case.dims == (4, 4):
                x, y = (step[0] % 4 - step[1] % 4) % 4, (
                    step[0] // 4 - step[1] // 4
                ) % 4
                assert sorted([min(x, 4 - x), min(y, 4 - y)]) == [0, 1]
    # Of 4x4 chips four, the most that a torus of four links a chip has.
    if case.dims == (4, 4) and len(everyone) // per_chip == 16:
        assert len(rings) == 4


def test_singleton_groups_keep_their_own() -> None:
    """Row 51 of the behaviours, sdk#1107: groups were ignored, and eight
    ranks had the sum of all, 28."""
    case = Case("trn2.48xlarge", 8, 2)
    alone = [[r] for r in range(8)]
    program = reduction(case, "all_reduce", alone, [4], "float32", "add")
    values = [{"x0": np.full(4, r, np.float32)} for r in range(8)]
    outputs = case.system.run(program, values).outputs
    assert [float(o["y0"][0]) for o in outputs] == list(range(8))
    one = reduction(case, "all_reduce", [list(range(8))], [4], "float32", "add")
    outputs = case.system.run(one, values).outputs
    assert [float(o["y0"][0]) for o in outputs] == [28.0] * 8


@pytest.mark.parametrize(
    ("dtype", "op", "value", "allowed_result"),
    [
        # float32 holds every second integer above 2^24: each is rounded.
        ("int32", "add", 2**24 + 1, 2**26),
        ("int32", "maximum", 2**24 + 1, 2**24),
        ("uint8", "add", 60, 240),
    ],
)
def test_integer_reductions_through_float32_are_refused_unless_allowed(
    dtype: str, op: str, value: int, allowed_result: int
) -> None:
    case = Case("trn2.48xlarge", 4, 2)
    group = [[0, 1, 2, 3]]
    for kind in ("all_reduce", "reduce_scatter"):
        with pytest.raises(trnemu.Fault) as fault:
            reduction(case, kind, group, [4], dtype, op)
        assert fault.value.id == "collective.integer"
        floats = reduction(case, kind, group, [4], "float32", op).to_text()
        program = trnemu.Program.from_text(
            floats.replace("float32", dtype)
        )
        n = 4 if kind == "reduce_scatter" else 1
        inputs = {"x0": np.full(4 * n, value, np.dtype(dtype))}
        with pytest.raises(trnemu.Fault) as fault:
            case.system.run(program, inputs)
        assert fault.value.id == "collective.integer"
        result = case.system.run(
            program, inputs, allow=["collective.integer"]
        )
        for outputs in result.outputs:
            assert outputs["y0"].tolist() == [allowed_result] * 4


def test_small_integers_have_minima_and_maxima() -> None:
    case = Case("trn2.48xlarge", 4, 2)
    program = reduction(
        case, "all_reduce", [[0, 1, 2, 3]], [4], "uint8", "maximum"
    )
    values = [{"x0": np.full(4, 10 + r, np.uint8)} for r in range(4)]
    assert case.system.run(program, values).outputs[0]["y0"].tolist() == [13] * 4
