"""Simulated times of one collective, values off."""

from __future__ import annotations

from functools import cache

import numpy as np

import trnemu

SIZE = {"fp32": 4, "bf16": 2, "fp16": 2, "uint8": 1}
NAME = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "uint8": "uint8"}


@cache
def system(name: str, ranks: int, lnc: int) -> trnemu.System:
    return trnemu.System(name, ranks=ranks, lnc=lnc)


@cache
def nothing(target: str) -> trnemu.Program:
    b = trnemu.ProgramBuilder(target)
    b.nop()
    return b.build()


def program(target: str, operation: str, group: list[int], elements: int, dtype: str) -> trnemu.Program:
    """elements: of the buffer that benchmarks call the size: all_reduce's, all_gather's output, reduce_scatter's input,
    what a permute sends."""
    b = trnemu.ProgramBuilder(target)
    n, dtype = len(group), NAME[dtype]
    part = max(1, elements // n)
    groups = {"replica_group": [group]}
    if operation == "all_reduce":
        x, y = b.input("x", (elements,), dtype), b.output("y", (elements,), dtype)
        op = "maximum" if dtype == "uint8" else "add"  # bytes are not added in fp32
        b.all_reduce(srcs=[x], dsts=[y], op=op, **groups)
    elif operation == "all_gather":
        x, y = b.input("x", (part,), dtype), b.output("y", (part * n,), dtype)
        b.all_gather(srcs=[x], dsts=[y], collective_dim=0, **groups)
    elif operation == "reduce_scatter":
        x, y = b.input("x", (part * n,), dtype), b.output("y", (part,), dtype)
        b.reduce_scatter(srcs=[x], dsts=[y], collective_dim=0, op="add", **groups)
    elif operation == "permute":
        x, y = b.input("x", (elements,), dtype), b.inout("y", (elements,), dtype)
        pairs = [(a, c) for i in range(0, n - 1, 2) for a, c in ((group[i], group[i + 1]), (group[i + 1], group[i]))]
        b.collective_permute(srcs=[x], dsts=[y], source_target_pairs=pairs)
    elif operation in ("all_gather_v", "all_to_all_v"):
        x, y = b.input("x", (elements,), dtype), b.inout("y", (elements,), dtype)
        m = b.inout("m", (3, n), "uint32")
        getattr(b, operation)(srcs=[x], dsts=[y], metadata_tensor=m, **groups)
    return b.build()


def run(where: trnemu.System, operation: str, group: list[int], size: int, dtype: str = "fp32",
        algorithm: str = "auto", metadata: np.ndarray | None = None) -> trnemu.Collective:
    """Of `group` alone, size in bytes. metadata: of the v operations, whose sizes are values."""
    elements = max(1, size // SIZE[dtype])
    mine = program(where.target, operation, group, elements, dtype)
    members = set(group)
    programs = [mine if r in members else nothing(where.target) for r in range(where.ranks)]
    if metadata is None:
        result = where.run(programs, algorithm=algorithm, values=False)
    else:
        zeros = np.zeros(elements, NAME[dtype])
        given = {"x": zeros, "y": zeros, "m": metadata.astype(np.uint32)}
        # The published run was of more than a device's ranks.
        result = where.run(programs, [given if r in members else {} for r in range(where.ranks)],
                           algorithm=algorithm, allow=("all_gather_v.system", "all_to_all_v.system"))
    return result.collectives[0]


def bytes_text(size: float) -> str:
    for unit, of in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= of:
            return f"{size / of:g} {unit}"
    return f"{size:g} B"
