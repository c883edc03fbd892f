"""The sums of collectives, in the order in which their algorithms add.

Written from docs/collectives.md, "Algorithms", without the emulator's code:
only the ranks' places and the rings are the system's own (System.rings; what a
ring must be is checked in test_collectives_values.py). A sum is in float32
from left to right over what is read at once, and rounded to the dtype
whenever it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import trnemu

Array = np.ndarray[Any, Any]


def join(parts: Sequence[Array], op: str) -> Array:
    """Of arrays of one dtype that are read at once."""
    dtype = parts[0].dtype
    if len(parts) == 1:
        return parts[0].copy()
    total = parts[0].astype(np.float32)
    for part in parts[1:]:
        more = part.astype(np.float32)
        if op == "add":
            total = total + more
            continue
        # docs/numerics.md: the operand that is not NaN; a tie, the second.
        first = total > more if op == "maximum" else total < more
        total = np.where(
            np.isnan(more) | (first & ~np.isnan(total)), total, more
        )
    total = np.where(np.isnan(total), np.float32(np.nan), total)
    if dtype.kind in "iu":
        return total.astype(np.int64).astype(dtype)
    return total.astype(dtype)


def cut(n: int, parts: int) -> list[slice]:
    """n elements in parts, the first n mod parts one longer."""
    ends = np.cumsum([0] + [n // parts + (i < n % parts) for i in range(parts)])
    return [slice(int(a), int(b)) for a, b in zip(ends, ends[1:])]


@dataclass
class Place:
    """Where a system's ranks are: what algorithms look at."""

    ranks_per_chip: int
    chips_per_node: int
    # Chips of a node along each dimension; 4 means a ring of 4.
    dims: tuple[int, ...] = ()

    def chip(self, rank: int) -> int:
        return rank // self.ranks_per_chip

    def node(self, rank: int) -> int:
        return self.chip(rank) // self.chips_per_node


@dataclass
class Team:
    """Those who work together; positions count them in their order."""

    ranks: list[int]
    chips: list[list[int]]  # positions
    rings: list[list[int]]
    axes: list[list[int]]  # of chips: whom each exchanges with
    complete: bool = True
    one_a_node: bool = False
    sizes: set[int] = field(default_factory=set)


def _axes(place: Place, chips: list[int]) -> list[list[int]]:
    """Exchange partners. Chips of a box of a torus: a bit of their place along
    each dimension, so that every exchange in a ring of four is with a
    neighbour; other ones: a bit of their number in the list."""
    n = len(chips)
    if n & (n - 1):
        return []
    corner = list(range(n))
    lines: list[list[int]] = []
    at: list[list[int]] = []
    for chip in chips:
        rest, coordinates = chip, []
        for size in place.dims:
            coordinates.append(rest % size)
            rest //= size
        at.append(coordinates)
    for d in range(len(place.dims)):
        lines.append(sorted({c[d] for c in at}))
    sizes = [len(line) for line in lines]
    box = int(np.prod(sizes)) == n and all(s & (s - 1) == 0 for s in sizes)
    if lines and box:
        corner = []
        for coordinates in at:
            number = shift = 0
            for d, line in enumerate(lines):
                index = line.index(coordinates[d])
                if len(line) == 4 and place.dims[d] == 4:
                    index ^= index >> 1
                number |= index << shift
                shift += len(line).bit_length() - 1
            corner.append(number)
    where = {c: i for i, c in enumerate(corner)}
    bits = [1 << b for b in range(n.bit_length() - 1)]
    return [[where[c ^ bit] for c in corner] for bit in bits]


def whole_team(
    system: trnemu.System, place: Place, group: Sequence[int]
) -> Team:
    """All of a group."""
    ranks = list(group)
    nodes = sorted({place.node(r) for r in ranks})
    one_a_node = len(nodes) == len(ranks) > 1
    by_chip: dict[int, list[int]] = {}
    for position, rank in enumerate(ranks):
        by_chip.setdefault(place.chip(rank), []).append(position)
    order = sorted(by_chip)
    if one_a_node:
        return network_team(ranks)
    position_of = {r: p for p, r in enumerate(ranks)}
    return Team(
        ranks,
        [by_chip[c] for c in order],
        [[position_of[r] for r in ring] for ring in system.rings(ranks)],
        _axes(place, order) if len(nodes) == 1 else [],
        all(len(v) == place.ranks_per_chip for v in by_chip.values()),
        sizes={len(v) for v in by_chip.values()},
    )


def network_team(ranks: list[int]) -> Team:
    """One of each node: their positions are their chips."""
    n = len(ranks)
    bits = [] if n & (n - 1) else [1 << b for b in range(n.bit_length() - 1)]
    return Team(
        ranks,
        [[p] for p in range(n)],
        [list(range(n))],
        [[c ^ bit for c in range(n)] for bit in bits],
        False,
        True,
        {1},
    )


def can(algorithm: str, team: Team, kind: str) -> bool:
    """The table of docs/collectives.md, of groups on one node."""
    chips = len(team.chips)
    if algorithm == "rdh":
        even = len(team.sizes) == 1
        return even and chips & (chips - 1) == 0 and (
            chips == 1 or bool(team.axes)
        )
    if algorithm == "kangaring":
        return (
            not team.one_a_node
            and team.complete
            and len(team.chips[0]) % 2 == 0
        )
    if algorithm == "single_step_mesh":
        return kind == "all_reduce"
    return algorithm in ("ring", "mesh")


def scatter(
    algorithm: str, team: Team, chunks: Sequence[Sequence[Array]], op: str
) -> list[Array]:
    """The sum of each position's chunk; chunks[p][m] is what m has of p's."""
    n = len(team.ranks)
    if n == 1:
        return [chunks[0][0].copy()]
    if algorithm == "single_step_mesh":
        return [join(of, op) for of in chunks]
    if algorithm == "mesh":
        return [_mesh(team, of, op) for of in chunks]
    if algorithm == "rdh":
        return [_rdh(team, p, of, op) for p, of in enumerate(chunks)]
    longest = max(len(of[0]) for of in chunks)
    channels = min(max(longest, 1), len(team.rings))
    if algorithm == "kangaring" and channels == 1 and longest > 1:
        channels = 2
    sums = []
    for p, of in enumerate(chunks):
        total = np.empty_like(of[0])
        for channel, part in enumerate(cut(len(of[0]), channels)):
            ring = team.rings[channel % len(team.rings)]
            one = _ring if algorithm == "ring" else _kangaring
            total[part] = one(team, ring, channel, p, [x[part] for x in of], op)
        sums.append(total)
    return sums


def _ring(
    team: Team, ring: list[int], channel: int, owner: int,
    of: list[Array], op: str,
) -> Array:
    at = ring.index(owner)
    total = of[ring[(at + 1) % len(ring)]]
    for step in range(2, len(ring) + 1):
        total = join([total, of[ring[(at + step) % len(ring)]]], op)
    return total


def _kangaring(
    team: Team, ring: list[int], channel: int, owner: int,
    of: list[Array], op: str,
) -> Array:
    pairs = {}
    for chip in team.chips:
        for i in range(0, len(chip), 2):
            pairs[chip[i]] = chip[i : i + 2]
    order = [pairs[p] for p in ring if p in pairs]
    at = next(i for i, pair in enumerate(order) if owner in pair)
    total = None
    for step in range(1, len(order) + 1):
        pair = order[(at + step) % len(order)]
        primary, secondary = pair[channel % 2], pair[1 - channel % 2]
        came = [] if total is None else [total]
        total = join([*came, of[primary], of[secondary]], op)
    assert total is not None
    return total


def _mesh(team: Team, of: Sequence[Array], op: str) -> Array:
    return join([join([of[m] for m in chip], op) for chip in team.chips], op)


def _rdh(team: Team, owner: int, of: Sequence[Array], op: str) -> Array:
    home = next(i for i, chip in enumerate(team.chips) if owner in chip)

    def value(chip: int, axis: int) -> Array:
        if axis == len(team.axes):
            return join([of[m] for m in team.chips[chip]], op)
        partner = team.axes[axis][chip]
        return join([value(chip, axis + 1), value(partner, axis + 1)], op)

    return value(home, 0)


def _nodes(place: Place, group: Sequence[int]) -> list[list[int]]:
    """Members of each node."""
    nodes: dict[int, list[int]] = {}
    for m, rank in enumerate(group):
        nodes.setdefault(place.node(rank), []).append(m)
    return [nodes[n] for n in sorted(nodes)]


def _hierarchical(
    system: trnemu.System, place: Place, group: Sequence[int],
    chunks: list[list[Array]], inside: str, between: str, op: str,
) -> list[list[Array]]:
    """chunks[y][m]: of the y-th members of all nodes. Gives by y and by
    node x what x's y-th member has after the stage inside."""
    nodes = _nodes(place, group)
    after: list[list[Array]] = [[] for _ in chunks]
    for members in nodes:
        team = whole_team(system, place, [group[m] for m in members])
        mine = [[of[m] for m in members] for of in chunks]
        for y, total in enumerate(scatter(inside, team, mine, op)):
            after[y].append(total)
    return after


def all_reduce(
    system: trnemu.System, place: Place, group: Sequence[int],
    values: Sequence[Array], op: str, algorithm: str, inside: str = "",
    between: str = "",
) -> Array:
    """values: a flat array each, in the order of the group."""
    n, size = len(group), len(values[0])
    if algorithm == "hierarchical":
        nodes = _nodes(place, group)
        parts = cut(size, len(nodes[0]))
        chunks = [[v[part] for v in values] for part in parts]
        after = _hierarchical(
            system, place, group, chunks, inside, between, op
        )
        total = []
        for y, of in enumerate(after):
            team = network_team([group[node[y]] for node in nodes])
            sub = [[v[c] for v in of] for c in cut(len(of[0]), len(nodes))]
            total += scatter(between, team, sub, op)
        return np.concatenate(total)
    team = whole_team(system, place, group)
    chunks = [[v[part] for v in values] for part in cut(size, n)]
    return np.concatenate(scatter(algorithm, team, chunks, op))


def reduce_scatter(
    system: trnemu.System, place: Place, group: Sequence[int],
    values: Sequence[Sequence[Array]], op: str, algorithm: str,
    inside: str = "", between: str = "",
) -> list[list[Array]]:
    """values: the flat tensors of each; so are the results."""
    n = len(group)
    sizes = [len(t) // n for t in values[0]]

    def block(m: int, owner: int) -> Array:
        return np.concatenate([
            t[owner * s : (owner + 1) * s] for t, s in zip(values[m], sizes)
        ])

    if algorithm == "hierarchical":
        nodes = _nodes(place, group)
        places = len(nodes[0])
        chunks = [
            [np.concatenate([block(m, node[y]) for node in nodes])
             for m in range(n)]
            for y in range(places)
        ]
        after = _hierarchical(
            system, place, group, chunks, inside, between, op
        )
        sums: list[Array] = [np.empty(0)] * n
        for y, of in enumerate(after):
            team = network_team([group[node[y]] for node in nodes])
            sub = [[v[c] for v in of] for c in cut(len(of[0]), len(nodes))]
            for x, total in enumerate(scatter(between, team, sub, op)):
                sums[nodes[x][y]] = total
    else:
        team = whole_team(system, place, group)
        chunks = [[block(m, p) for m in range(n)] for p in range(n)]
        sums = scatter(algorithm, team, chunks, op)
    ends = np.cumsum([0, *sizes])
    return [
        [s[a:b] for a, b in zip(ends, ends[1:])] for s in sums
    ]
