"""Programs of several ranks, as the tests of collectives use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import trnemu

F32 = np.float32
Array = np.ndarray[Any, Any]
Builder = trnemu.ProgramBuilder
Body = Callable[[Builder], Any]
SYSTEMS = {"trn1": "trn1.32xlarge", "trn2": "trn2.48xlarge",
           "trn3": "trn3-gen1"}
SHAPE = (4, 8)


def system(ranks: int = 2, name: str = "trn2.48xlarge",
           **options: Any) -> trnemu.System:
    return trnemu.System(name, ranks=ranks, **options)


def program(body: Body, target: str = "trn2", **options: Any) -> trnemu.Program:
    """What `body` adds to a builder."""
    b = Builder(target=target, **options)
    body(b)
    return b.build()


def groups(ranks: int) -> list[list[int]]:
    return [list(range(ranks))]


def ones(shape: Sequence[int] = SHAPE, **more: Any) -> dict[str, Array]:
    return {"x": np.ones(shape, F32), **more}


def all_reduce(b: Builder, ranks: int = 2, shape: Sequence[int] = SHAPE,
               dtype: str = "float32", group: Any = None,
               **options: Any) -> None:
    """x, summed over the ranks, becomes y."""
    x, y = b.input("x", shape, dtype), b.output("y", shape, dtype)
    b.all_reduce(**{"srcs": [x], "dsts": [y], "op": "add",
                    "replica_group": group or groups(ranks), **options})


def copy(b: Builder) -> None:
    """No collective: x becomes y."""
    b.dma_copy(dst=b.output("y", SHAPE, "float32"),
               src=b.input("x", SHAPE, "float32"))


def fault_of(programs: Any, inputs: Any, ranks: int = 2,
             **options: Any) -> trnemu.Fault:
    """The fault of a run that has one."""
    try:
        system(ranks).run(programs, inputs, **options)
    except trnemu.Fault as fault:
        return fault
    raise AssertionError("the run went through")


def ids(result: trnemu.SystemResult) -> set[str]:
    return {d.id for d in result.diagnostics}


def values(result: trnemu.SystemResult, name: str = "y") -> list[Array]:
    return [outputs[name] for outputs in result.outputs]


def by_rank(ranks: int, shape: Sequence[int] = SHAPE) -> list[Mapping[str, Array]]:
    return [{"x": np.full(shape, rank + 1, F32)} for rank in range(ranks)]
