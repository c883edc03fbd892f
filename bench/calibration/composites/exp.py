"""Row 2: exp of one small tensor, with every event of its published timeline.

Source of the structure: nki/get-started/about/nki-dma-overview.rst of
aws-neuron/aws-neuron-sdk at v2.32.0; the times are read off its figures
nki-dma-intro-3 and nki-dma-intro-5 (about 5 ns). A load, an activation, a
store. [4, 4096] lies in 4 partitions, so that one DMA engine moves all of it;
its load is triggered by sync and its store by gpsimd, with descriptors made
beforehand. [128, 128] uses all 16 engines, and gpsimd makes the descriptors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import trnemu

from .case import Case, Figure, Run
from .events import events

TARGET = "trn2"
TABLE_LOAD = 1280.0


def exp(rows: int, columns: int, load: str, mode: str) -> trnemu.Program:
    b = trnemu.ProgramBuilder(target=TARGET, name="exp")
    x = b.input("x", (rows, columns), "bfloat16")
    y = b.output("y", (rows, columns), "bfloat16")
    t, out = (b.sbuf((rows, columns), "bfloat16") for _ in range(2))
    b.dma_copy(dst=t, src=x, trigger=load, dge_mode=mode)
    b.activation(dst=out, op="exp", data=t)
    b.dma_copy(dst=y, src=out, trigger="gpsimd", dge_mode=mode)
    return b.build()


def _times(run: Run) -> dict[str, float]:
    """The moments of the timeline that the log has."""
    load, act, store = events(run.program)
    return {
        "load": load.start, "loaded": load.end, "activate": act.start,
        "activated": act.end, "store": store.start, "stored": store.end,
    }


def _between(a: str, b: str) -> Callable[[Run], float]:
    def length(run: Run) -> float:
        times = _times(run)
        return times[b] - times[a]
    return length


def cases() -> list[Case]:
    made = []
    for rows, columns, load, mode, total, phases in (
        (4, 4096, "sync", "none", 9935.0, {
            ("load", "activate", "load trigger to scalar start"):
                1006 + 1416 + 300 + 14,
            ("activate", "activated", "table load and ACTIVATE"): 1280 + 3707,
            ("activated", "store", "ACTIVATE end to store trigger"): 30,
        }),
        (128, 128, "gpsimd", "swdge", 4974.0, {
            ("load", "activate", "load trigger to scalar start"):
                740 + 468 + 290,
            ("activate", "activated", "table load and ACTIVATE"): 1280 + 400,
            ("activated", "store", "ACTIVATE end to store trigger"): 890,
        }),
    ):
        made.append(Case(
            row="2", name=f"exp of [{rows}, {columns}] bf16", target=TARGET,
            measured_ns=total, clock="kernel", status="picture",
            source="aws-neuron-sdk v2.32.0 nki-dma-overview.rst, figures",
            build=functools.partial(exp, rows, columns, load, mode),
            opcodes={"DmaCopy": 2, "Activate": 1},
            figures=tuple(
                Figure(name, ns, "ns", _between(a, b), "picture")
                for (a, b, name), ns in phases.items()
            ),
            quick=True,
        ))
    return made
