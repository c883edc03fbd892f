"""Every operation looks at exactly the bytes that it reads, and marks exactly
those that it writes: cases of the oracle with one byte that nobody wrote.

What an operation reads of an operand is all of its view, but for those in
READS; what it writes, but for those in WRITES. A byte beside the view (a gap of
a strided one, a neighbour) must not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
from typing import Any

import numpy as np
import pytest

from oracle import harness
from oracle.types import Array, Case, OperandSpec
from shadow_kit import Holed, bytes_at, listed, places, rows_of
from test_oracle import COVERED

CASES = 2
KIT = "shadow_kit.py"


def group_of_16(case: Case, spec: OperandSpec, n: int) -> Array:
    """The first n elements of each 16 partitions, down the partitions first
    (nki/api/nki/isa/__init__.py:1847; gpsimd-topk.rst:46)."""
    where = spec.where()
    where = where.reshape(len(where), -1)
    p, c = np.indices(where.shape)
    return where[c * 16 + p % 16 < n]


def indices_of(case: Case) -> Array:
    """By partition of local_gather, the list of its group."""
    index = case.operands["index"]
    values = index.get().flat.astype(np.int64)
    n = case.attributes.get("num_valid_indices", values.shape[1] * 16)
    lists = [values[g:g + 16].T.reshape(-1)[:n]
             for g in range(0, len(values), 16)]
    return np.repeat(lists, 16, axis=0)


def gathered(spec: OperandSpec, lists: Array, run: int) -> Array:
    where = spec.where()
    where = where.reshape(len(where), -1)
    at = lists[:, :, None] + np.arange(run)
    return np.unique(np.take_along_axis(where, at.reshape(len(where), -1), 1))


def shuffled(case: Case, spec: OperandSpec) -> Array:
    """Partitions that the mask names (nki/api/nki/isa/__init__.py:2047)."""
    mask, dst = case.attributes["shuffle_mask"], case.operands["dst"]
    lanes = range(len(dst.where()))
    named = {p - p % 32 + mask[p % 32] for p in lanes if mask[p % 32] != 255}
    return spec.where()[sorted(named)]


def kept(case: Case, spec: OperandSpec) -> Array:
    mask, where = case.attributes["shuffle_mask"], spec.where()
    return where[[p for p in range(len(where)) if mask[p % 32] != 255]]


def scale_rows(case: Case, spec: OperandSpec, data: str) -> Array:
    """Four partitions of every 32: one scale for each eight of the data
    (nki/deep-dives/mxfp-matmul.rst:228)."""
    groups = len(case.operands[data].where()) // 8
    return spec.where()[[g // 4 * 32 + g % 4 for g in range(groups)]]


def first_of_16(case: Case, spec: OperandSpec) -> Array:
    """nki/api/nki/isa/__init__.py:3228"""
    return spec.where()[::16]


def selected(case: Case, spec: OperandSpec) -> Array:
    chosen = case.operands["predicate"].get().values != 0
    return spec.where()[chosen != bool(case.attributes.get("reverse_pred"))]


Part = Callable[[Case, OperandSpec], Array]
READS: dict[tuple[str, str], Part] = {
    ("local_gather", "index"): lambda c, s: group_of_16(
        c, s, c.attributes.get("num_valid_indices", s.where().size)),
    ("local_gather", "src_buffer"): lambda c, s: gathered(
        s, indices_of(c), c.attributes.get("num_elem_per_idx", 1)),
    ("nc_n_gather", "data"): lambda c, s: gathered(
        s, c.operands["indices"].get().flat.astype(np.int64), 1),
    ("nc_stream_shuffle", "src"): shuffled,
    ("nonzero_with_count", "src"): first_of_16,
    ("topk", "src"): lambda c, s: group_of_16(c, s, c.attributes["n"]),
    ("nc_matmul_mx", "stationary_scale"): lambda c, s: scale_rows(
        c, s, "stationary"),
    ("nc_matmul_mx", "moving_scale"): lambda c, s: scale_rows(c, s, "moving"),
}
WRITES: dict[tuple[str, str], Part] = {
    ("nc_stream_shuffle", "dst"): kept,
    ("nonzero_with_count", "dst"): first_of_16,
    ("quantize_mx", "dst_scale"): lambda c, s: scale_rows(c, s, "src"),
    ("tensor_copy_predicated", "dst"): selected,
}
# What the instruction calls the parameter of nc_transpose.
OTHER_NAMES = {("nc_transpose", "data"): "stationary"}


def part(parts: dict[tuple[str, str], Part], case: Case, name: str,
         spec: OperandSpec) -> set[int]:
    """Flat elements of the tile."""
    where = parts.get((case.operation, name), lambda c, s: s.where())
    return set(np.unique(where(case, spec)).tolist()) - {-1}


def inputs_of(case: Case) -> Iterator[tuple[str, OperandSpec]]:
    """Operands that the operation reads and only their loads write."""
    wrote = {
        id(spec.tile)
        for step in case.prelude
        for name in step.outputs if name in step.operands
        for spec in listed(step.operands[name])
    }
    for name, operand in case.operands.items():
        for spec in listed(operand):
            if name in case.outputs or id(spec.tile) in wrote:
                continue
            if spec.tile.load:
                yield name, spec


def everything_read(case: Case) -> dict[int, set[int]]:
    """By tile, what the operation and those before it read."""
    read: dict[int, set[int]] = {}
    for step in case.all():
        for name, operand in step.operands.items():
            if name in step.outputs:
                continue
            for spec in listed(operand):
                read.setdefault(id(spec.tile), set()).update(
                    part(READS, step, name, spec))
    return read


def edges(spec: OperandSpec, read: set[int]) -> list[int]:
    """Elements of the view that are not read, next to some that are: at most
    four, from the first and from the last on."""
    view = np.unique(spec.where()).tolist()
    found = [e for before, e, after in zip([None, *view], view, [*view[1:], None])
             if e not in read and (before in read or after in read)]
    return list(dict.fromkeys(found[:2] + found[-2:]))


def check_report(fault: Any, case: Case, name: str, spec: OperandSpec,
                 byte: int) -> None:
    """Tensor, partition, byte range, operand, reader and allocation."""
    details = json.loads(fault.to_json())["details"]
    begin, end = bytes_at(details["byte_range"])
    row, at = divmod(byte, rows_of(spec.tile)[1])
    tensor = details["tensor"]
    base = 0
    if spec.tile.space != "hbm":
        assert details["partition"] == str(row)
        base = int(tensor.split(", byte ")[1].split(",")[0])
    assert (begin - base, end - base) == (at, at + 1)
    number = [t is spec.tile for t in case.tiles()].index(True)
    shape = "(" + ", ".join(map(str, spec.tile.backing.shape))
    assert tensor.startswith(f"t{number}, {shape}"), tensor
    assert f" {spec.tile.dtype} in " in tensor and KIT in tensor
    assert fault.category == "uninitialized" and KIT in fault.source
    assert any(f"t{number} was last written by" in r for r in fault.related)
    assert fault.finding.remedy
    if fault.operation == case.operation and not case.prelude:
        operands = {n: listed(o) for n, o in case.operands.items()}
        same = {n for n, o in operands.items()
                if any(s.tile is spec.tile for s in o)}
        names = same | {OTHER_NAMES.get((case.operation, n)) for n in same}
        names |= {f"src{i}" for i in range(16) if "srcs" in same}
        assert fault.operand.removeprefix("the index of ") in names
        assert fault.message.startswith(fault.operand)


@pytest.mark.parametrize("operation, target", COVERED)
def test_every_byte_that_is_read_must_have_been_written(operation, target):
    for number in range(CASES):
        case = harness.make(operation, target, number).case
        read = everything_read(case)
        for name, spec in inputs_of(case):
            size = spec.tile.backing.itemsize
            inside, beside = places(spec)
            if (operation, name) in READS:
                read_here = read[id(spec.tile)]
                beside += [e * size for e in edges(spec, read_here)]
            for byte in inside + beside:
                fault = Holed(case, (spec.tile, byte)).fault()
                where = f"{name}, byte {byte}\n{harness.describe(case)}"
                if byte // size not in read[id(spec.tile)]:
                    assert fault is None, f"false alarm: {where}\n{fault}"
                    continue
                assert fault is not None, f"not reported: {where}"
                assert fault.id == "memory.read_unwritten", f"{where}\n{fault}"
                check_report(fault, case, name, spec, byte)


def sample(elements: set[int], size: int) -> list[int]:
    """Bytes of the first, the middle and the last of them."""
    e = sorted(elements)
    if not e:
        return []
    return [e[0] * size, e[len(e) // 2] * size + size // 2,
            e[-1] * size + size - 1]


@pytest.mark.parametrize("operation, target", COVERED)
def test_what_is_written_may_be_read_and_nothing_else(operation, target):
    for number in range(CASES):
        case = harness.make(operation, target, number).case
        read = everything_read(case)
        outputs = [
            (name, spec) for name in case.outputs if name in case.operands
            for spec in listed(case.operands[name])
            if id(spec.tile) not in read
        ]
        empty = tuple(spec.tile for _, spec in outputs)
        wrote: dict[int, set[int]] = {}
        for step in case.all():
            for name in step.outputs:
                for spec in listed(step.operands.get(name, [])):
                    wrote.setdefault(id(spec.tile), set()).update(
                        part(WRITES, step, name, spec))
        for name, spec in outputs:
            size = spec.tile.backing.itemsize
            written = wrote[id(spec.tile)]
            others = set(range(spec.tile.backing.size)) - written
            for bytes_, expected in ((sample(written, size), None),
                                     (sample(others, size),
                                      "memory.read_unwritten")):
                for byte in bytes_:
                    program = Holed(case, None, empty)
                    program.read(spec.tile, byte)
                    fault = program.fault()
                    assert (fault and fault.id) == expected, (
                        f"{name}, byte {byte}\n{harness.describe(case)}\n"
                        f"{fault}")
