"""Times of collectives against closed forms (docs/collectives.md, "Closed
forms"; collective_model.py), and what no time may be below."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import collective_model as forms
import numpy as np
import pytest
from collective_kit import CASES, Case, Groups, draw_group, rest_alone
from collective_model import Links, Model
from test_collectives_values import ALGORITHMS, allowed

import trnemu

SYSTEMS = pathlib.Path(__file__).parents[2] / "isa/systems"
TRN2 = ("trn2.48xlarge", 64, 2)
SIZES = (1, 4, 64, 1024, 16384, 262144)  # elements of a slice


@cache
def _system(
    name: str, ranks: int, lnc: int, failed: tuple[str, ...] = ()
) -> trnemu.System:
    return trnemu.System(name, ranks=ranks, lnc=lnc, fail_links=failed)


def took(
    system: trnemu.System, kind: str, group: Sequence[int], elements: int,
    algorithm: str = "auto", cores: int = 1, **arguments: Any,
) -> trnemu.Collective:
    """Of a group alone, with `elements` float32: of an all_gather what a rank
    has, of a reduce_scatter what it gets, of an all_to_all a part."""
    n = len(group)
    b = trnemu.ProgramBuilder(system.target, cores=cores)
    src = elements * (n if kind in ("reduce_scatter", "all_to_all") else 1)
    dst = elements * (n if kind in ("all_gather", "all_to_all") else 1)
    if kind == "collective_barrier":
        arguments["data"] = b.scratch("s", (1,), "float32")
    else:
        arguments["srcs"] = [b.input("x", (src,), "float32")]
        arguments["dsts"] = [b.output("y", (dst,), "float32")]
    if kind in ("all_reduce", "reduce_scatter"):
        arguments["op"] = "add"
    if kind in ("all_gather", "reduce_scatter", "all_to_all"):
        arguments["collective_dim"] = 0
    getattr(b, kind)(replica_group=[list(group)], **arguments)
    with_it, without = b.build(), _nothing(system.target)
    members = set(group)
    programs = [
        with_it if r in members else without for r in range(system.ranks)
    ]
    result = system.run(programs, algorithm=algorithm, values=False)
    (collective,) = result.collectives
    return collective


@cache
def _nothing(target: str) -> trnemu.Program:
    b = trnemu.ProgramBuilder(target)
    b.nop()
    return b.build()


def equal(got: float, want: float) -> bool:
    return abs(got - want) <= 1e-6 * want


# Groups where all hops of a ring are alike and share no link: of one chip, or
# one rank of each chip of a cycle. (system, group, links of a hop, channels)
UNIFORM = [
    *((("trn2.48xlarge", 4, 2), list(range(n)), "", 1) for n in (2, 3, 4)),
    *((("trn2.48xlarge", 8, 1), list(range(n)), "", 1) for n in (2, 5, 8)),
    (("trn1.32xlarge", 2, 1), [0, 1], "", 1),
    (("trn3-gen1", 4, 2), [0, 1, 2, 3], "", 1),
    (TRN2, [0, 4], "link", 1),
    (TRN2, [1, 5, 9, 13], "link", 2),
    (TRN2, list(range(0, 64, 4)), "link", 4),
    (("trn1.32xlarge", 32, 1), [0, 2, 4, 6], "link", 2),
    (("inf2.48xlarge", 24, 1), list(range(0, 24, 2)), "link", 2),
    (("trn2.48xlarge*2", 128, 2), [0, 64], "network", 1),
]
IDS = [f"{s[0]} {len(g)} of {s[1]} {how}" for s, g, how, _ in UNIFORM]


def links_of(model: Model, how: str) -> Links:
    if how == "network":
        # Up from the one chip, which has the latency, and down to the other.
        bandwidth, latency = model.link("network_")
        return [(bandwidth, latency), (bandwidth, 0.0)]
    return [model.link()] if how else []


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter", "all_reduce"])
@pytest.mark.parametrize(
    ("place", "group", "how", "channels"), UNIFORM, ids=IDS
)
def test_rings_take_what_one_rank_of_them_takes(
    place: tuple[str, int, int], group: list[int], how: str, channels: int,
    kind: str,
) -> None:
    system = _system(*place)
    model = Model.of(place[0], system.target)
    n = len(group)
    for slice_ in SIZES:
        chunk = 2 * channels * slice_ * 16  # parts of equal size
        elements = chunk * n if kind == "all_reduce" else chunk
        got = took(system, kind, group, elements, "ring")
        assert got.channels == channels
        want = forms.ring(
            model, kind, n, 4.0 * chunk * n, links_of(model, how), channels
        )
        assert equal(got.time_ns, want), (slice_, got.time_ns, want)


@pytest.mark.parametrize(("n", "lnc"), [(2, 2), (4, 2), (8, 1)])
def test_a_ring_all_reduce_is_2_n_minus_1_hops_and_its_bytes(
    n: int, lnc: int
) -> None:
    """The published form. Small: 2 (N - 1) hops, and by as much later as the
    second slice. Large: 2 (N - 1) / N of the bytes at the engines' rate, of
    which adding takes two reads."""
    system = _system("trn2.48xlarge", n, lnc)
    model = Model.of("trn2.48xlarge", "trn2")
    group = list(range(n))
    bytes_ = 32 * 4 * n * 2
    c = took(system, "all_reduce", group, bytes_ // 4, "ring")
    assert c.steps == 2 * (n - 1)
    half, whole = bytes_ / n / 2, bytes_ / n
    hops = (
        model.hop(half) + (n - 1) * model.hop(half, 2)
        + (n - 2) * model.hop(whole)
    )
    assert equal(c.time_ns, model.start + hops + model.cc_step + model.finish)
    bytes_ = 2**30
    c = took(system, "all_reduce", group, bytes_ // 4, "ring")
    # HBM: 3000 B/ns, a stack of four, read and written.
    rate = 3000 / 4 / 2
    sends = 2 * (n - 1) / n * bytes_ / rate
    # n of 2 n - 2 moves add: they read twice as much. In the first step
    # nothing is added.
    adding = (n - 1) / n * bytes_ / rate
    assert abs(c.time_ns / (sends + adding) - 1) < 5e-3


def test_a_ring_over_slow_links_takes_its_bytes_over_their_bandwidth(
    tmp_path: pathlib.Path,
) -> None:
    """2 (N - 1) / N of the bytes, on each of the four rings' links."""
    text = (SYSTEMS / "trn2.48xlarge.textproto").read_text()
    slow = tmp_path / "slow.textproto"
    slow.write_text(text.replace("bandwidth { value: 256", "bandwidth { value: 8"))
    system = trnemu.System(str(slow), ranks=64, lnc=2)
    n, bytes_ = 16, 2**28
    c = took(system, "all_reduce", range(0, 64, 4), bytes_ // 4, "ring")
    assert c.link_bytes == 2 * (n - 1) * bytes_
    want = 2 * (n - 1) / n * bytes_ / (4 * 8)
    assert abs(c.time_ns / want - 1) < 5e-3


def test_a_ring_of_a_whole_system_has_its_channels_side_by_side() -> None:
    """16 chips, one rank each: four channels of four engines."""
    system = _system(*TRN2)
    group = list(range(0, 64, 4))
    c = took(system, "all_reduce", group, 2**28, "ring")
    rate, n = 3000 / 4 / 2, 16
    want = (2 * (n - 1) / n + (n - 1) / n) * 2**30 / rate
    assert c.channels == 4
    assert abs(c.time_ns / want - 1) < 5e-3


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter", "all_reduce"])
@pytest.mark.parametrize(
    ("name", "n", "lnc"),
    [("trn2.48xlarge", 4, 2), ("trn2.48xlarge", 8, 1), ("trn1.32xlarge", 2, 1),
     ("trn3-gen1", 4, 2)],
)
def test_kangarings_of_a_chip(name: str, n: int, lnc: int, kind: str) -> None:
    """A rank is the primary of one of the two channels."""
    system = _system(name, n, lnc)
    model = Model.of(name, system.target)
    for slice_ in SIZES:
        chunk = 4 * slice_ * 16
        elements = chunk * n if kind == "all_reduce" else chunk
        c = took(system, kind, list(range(n)), elements, "kangaring")
        assert c.channels == 1
        want = forms.kangaring(model, kind, n, 4.0 * chunk * n)
        assert equal(c.time_ns, want), (slice_, c.time_ns, want)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_meshes_of_a_chip(n: int) -> None:
    """One step each way: everyone adds its chunk of all, and sends the sum
    to the others, two at a time."""
    lnc = 1 if n == 8 else 2
    system = _system("trn2.48xlarge", n, lnc)
    model = Model.of("trn2.48xlarge", "trn2")
    outside = model.start + model.finish
    group = list(range(n))
    for size in (16, 1024, 65536, 2**22):
        scatter = model.hop(size * 4, n)
        gather = model.hop(math.ceil((n - 1) / 2) * size * 4)
        joined = model.hop(math.ceil(n / 2) * size * 4)  # its own dst, too
        for kind, elements, want in (
            ("reduce_scatter", size, scatter),
            ("all_gather", size, joined),
            ("all_reduce", size * n, scatter + gather),
        ):
            c = took(system, kind, group, elements, "mesh")
            assert equal(c.time_ns, outside + want), (kind, size)
        c = took(system, "all_reduce", group, size, "single_step_mesh")
        want = gather + model.hop(size * 4, n)
        assert equal(c.time_ns, outside + want), size


def test_a_mesh_of_a_row_of_chips_adds_the_latency_of_the_farthest() -> None:
    """Four chips in a ring, a rank each, small chunks: a move to each other
    one, taken up one after the other, over 1, 2 and 1 links; then the sum of
    four, and the same again."""
    system = _system(*TRN2)
    model = Model.of("trn2.48xlarge", "trn2")
    _, latency = model.link()
    for size in (16, 128):
        c = took(system, "all_reduce", [0, 4, 8, 12], 4 * size, "mesh")
        spread = max(
            i * model.cc_step + links * latency
            for i, links in ((0, 1), (1, 2), (2, 1))
        )
        want = 2 * (model.hop(size * 4) + spread) + model.hop(size * 4, 4)
        assert equal(c.time_ns, model.start + want + model.finish), size


@pytest.mark.parametrize(
    ("name", "group", "how"),
    [
        ("trn2.48xlarge", [0, 4], "link"),
        ("trn2.48xlarge", [2, 6, 10, 14], "link"),
        ("trn2.48xlarge", list(range(0, 64, 4)), "link"),
        ("trn2.48xlarge*2", [5, 69], "network"),
    ],
)
def test_recursive_doubling_and_halving_of_one_rank_a_chip(
    name: str, group: list[int], how: str
) -> None:
    system = _system(name, 128 if "*" in name else 64, 2)
    model = Model.of(name, "trn2")
    for chunk in (16, 1024, 65536, 2**20):
        c = took(system, "all_reduce", group, chunk * len(group), "rdh")
        want = forms.rdh(
            model, len(group), 4.0 * chunk * len(group), links_of(model, how)
        )
        assert equal(c.time_ns, want), (chunk, c.time_ns, want)


def test_a_small_packet_between_nodes_takes_15_us_and_a_step() -> None:
    """neuron-runtime/about/collectives.rst:114, from HBM to HBM."""
    system = _system("trn2.48xlarge*2", 128, 2)
    model = Model.of("trn2.48xlarge", "trn2")
    c = took(system, "all_gather", [0, 64], 1, "mesh")
    hop = c.time_ns - model.start - model.finish - model.cc_step
    assert 15000 <= hop < 15002


def test_a_hop_between_neighbours_takes_1_to_2_us() -> None:
    """neuron-runtime/explore/intranode-collective-comm.rst:61."""
    for name, ranks, lnc in (TRN2, ("trn1.32xlarge", 32, 1),
                             ("trn3-gen1", 64, 2), ("inf2.48xlarge", 24, 1)):
        model = Model.of(name, _system(name, ranks, lnc).target)
        kind = "switch_" if name.startswith("trn3") else ""
        links = [model.link(kind)] * (2 if kind else 1)
        assert 1000 < model.hop(4, 1, links) < 2000


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8])
def test_barriers_permutes_exchanges_and_broadcasts_of_a_chip(n: int) -> None:
    system = _system("trn2.48xlarge", 8, 1)
    model = Model.of("trn2.48xlarge", "trn2")
    outside = model.start + model.finish
    group = list(range(n))
    rounds = math.ceil(math.log2(n))
    c = took(system, "collective_barrier", group, 1)
    assert equal(c.time_ns, outside + rounds * model.hop(0))
    for size in (16, 4096, 2**20):
        bytes_ = 4.0 * size
        # N moves, each when the engines or the collective core are free.
        busy = model.busy(model.part(bytes_))
        c = took(system, "all_to_all", group, size)
        want = (n - 1) * max(model.cc_step, busy) + model.hop(bytes_)
        assert equal(c.time_ns, outside + want), size
        # The root to the others, two at a time, then to itself.
        c = took(system, "broadcast", group, size, "mesh")
        sends = math.ceil((n - 1) / 2) * bytes_
        busy = model.busy(model.part(sends))
        want = max(
            model.hop(sends),
            max(model.cc_step, busy) + model.hop(bytes_),
        )
        assert equal(c.time_ns, outside + want), size
        b = trnemu.ProgramBuilder("trn2")
        x, y = b.input("x", (size,), "float32"), b.inout("y", (size,), "float32")
        b.collective_permute(
            srcs=[x], dsts=[y], source_target_pairs=[(0, n - 1)]
        )
        result = system.run(b.build(), values=False)
        (permute,) = result.collectives
        assert equal(permute.time_ns, outside + model.hop(bytes_)), size


def test_a_rank_of_two_cores_has_their_engines_but_one_stack_of_hbm() -> None:
    system = _system("trn2.48xlarge", 2, 2)
    model = Model.of("trn2.48xlarge", "trn2")
    outside = model.start + model.finish
    # Small: 32 engines instead of 16, so half of the bytes each.
    c = took(system, "reduce_scatter", [0, 1], 4096, "mesh", cores=2)
    assert equal(c.time_ns, outside + model.hop(16384, 2, engines=32))
    # Large: the two cores' stack is what they wait for.
    one = took(system, "reduce_scatter", [0, 1], 2**24, "mesh", cores=1)
    two = took(system, "reduce_scatter", [0, 1], 2**24, "mesh", cores=2)
    assert abs(two.time_ns / one.time_ns - 1) < 1e-3


# What no time may be below, and what must not make it shorter.


def least(case: Case, c: trnemu.Collective) -> float:
    """Longest chain of moves at nothing but their fixed parts; all bytes
    that were read over all engines at their highest rate; all that went over
    links over all links."""
    model = Model.of(case.name, case.system.target)
    outside = model.start + model.finish
    hop = model.cc_step + model.begin + model.notify
    engines = model.engines * len(c.ranks)
    hbm = c.hbm_read_bytes / (engines * model.core["dma.rate"])
    return outside + max(c.steps * hop, hop + hbm)


def needed_bytes(kind: str, n: int, bytes_: int) -> float:
    """What ranks together must read at least, whatever the algorithm: to get
    a value to another rank somebody reads it, for two receivers at a time."""
    if n == 1:
        return 0
    if kind == "all_gather":
        return n * (n - 1) / n * bytes_ / 2
    # Every rank's part of every chunk but one's is read.
    return (n - 1) * bytes_


def draw_bound(seed: int, case: Case) -> None:
    rng = np.random.default_rng(seed)
    group = draw_group(rng, case, 64)
    kind = str(rng.choice(["all_reduce", "all_gather", "reduce_scatter"]))
    algorithms = [
        a for a in ("auto", *ALGORITHMS) if allowed(case, kind, group, a)
    ]
    algorithm = str(rng.choice(algorithms))
    elements = int(rng.choice([1, 7, 100, 4099, 2**16, 10**6]))
    c = took(case.system, kind, group, elements, algorithm)
    where = f"{case} {kind} {group} {elements} {algorithm} {c}"
    assert c.time_ns >= least(case, c), where
    assert c.hbm_read_bytes >= needed_bytes(kind, len(group), c.bytes), where
    more = took(case.system, kind, group, 2 * elements, algorithm)
    if more.algorithm != c.algorithm:
        return
    # Where a slice keeps all engines at work; below that a second engine may
    # help, or a slice without elements overtake (docs/collectives.md).
    chunk = elements // len(group) if kind == "all_reduce" else elements
    full = chunk * 4 >= 2 * forms.LEAST_PART * 16
    assert more.time_ns >= c.time_ns * (1 if full else 0.97), where


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_time_is_below_its_bounds_and_more_bytes_take_no_less(
    case: Case,
) -> None:
    for seed in range(6):
        draw_bound(seed, case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_times_are_not_below_their_bounds(case: Case) -> None:
    for seed in range(1000, 1300):
        draw_bound(seed, case)


@pytest.mark.parametrize(
    ("place", "failed"),
    [
        (TRN2, "0-1"), (TRN2, "5-9"), (("trn1.32xlarge", 32, 1), "0-4"),
        (("inf2.48xlarge", 24, 1), "3-4"),
    ],
)
def test_a_failed_link_makes_nothing_faster(
    place: tuple[str, int, int], failed: str
) -> None:
    whole, broken = _system(*place), _system(*place, (failed,))
    everyone = list(range(place[1]))
    for kind in ("all_reduce", "all_gather", "reduce_scatter"):
        for algorithm in ("ring", "mesh", "rdh", "kangaring"):
            for elements in (1, 1000, 100_000):
                try:
                    sound = took(whole, kind, everyone, elements, algorithm)
                    hurt = took(broken, kind, everyone, elements, algorithm)
                except trnemu.Fault as fault:
                    assert fault.id == "collective.algorithm"
                    continue
                # trn1's four channels share three collective cores: two that
                # do not, after a failure, may be a little earlier.
                slack = 2 * 200.1 if place[0].startswith("trn1") else 1e-3
                assert hurt.time_ns >= sound.time_ns - slack, (
                    kind, algorithm, elements
                )
