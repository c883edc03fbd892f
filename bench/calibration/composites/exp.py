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
from .transfers import profile

TARGET = "trn2"


def exp(rows: int, columns: int, load: str, mode: str) -> trnemu.Program:
    b = trnemu.ProgramBuilder(target=TARGET, name="exp")
    x = b.input("x", (rows, columns), "bfloat16")
    y = b.output("y", (rows, columns), "bfloat16")
    t, out = (b.sbuf((rows, columns), "bfloat16") for _ in range(2))
    b.dma_copy(dst=t, src=x, trigger=load, dge_mode=mode)
    b.activation(dst=out, op="exp", data=t)
    b.dma_copy(dst=y, src=out, trigger="gpsimd", dge_mode=mode)
    return b.build()


# The moments of the timeline, in order.
MOMENTS = (
    "load trigger", "load payload", "loaded", "scalar start", "table there",
    "activated", "store trigger", "store payload", "stored",
)


def _times(run: Run) -> dict[str, float]:
    p = profile(run.program)
    (load, store), (act,) = p.of("DmaCopy"), p.of("Activate")
    loads, stores = p.parts_of(load), p.parts_of(store)
    return dict(zip(MOMENTS, (
        p.start[load], min(x.start for x in loads), max(x.end for x in loads),
        p.start[act], p.start[act] + p.table_load[act], p.end[act],
        p.start[store], min(x.start for x in stores),
        max(x.end for x in stores),
    ), strict=True))


def _between(a: str, b: str) -> Callable[[Run], float]:
    def length(run: Run) -> float:
        times = _times(run)
        return times[b] - times[a]
    return length


PHASES = (
    "load trigger to its payload", "load payload", "payload to scalar start",
    "table load", "ACTIVATE", "ACTIVATE end to store trigger",
    "store trigger to its payload", "store payload",
)


def cases() -> list[Case]:
    made = []
    for rows, columns, load, mode, total, lengths in (
        (4, 4096, "sync", "none", 9935.0,
         (1006, 1416, 314, 1280, 3707, 30, 890, 1222)),
        (128, 128, "gpsimd", "swdge", 4974.0,
         (740, 468, 290, 1280, 400, 890, 610, 245)),
    ):
        made.append(Case(
            row="2", name=f"exp of [{rows}, {columns}] bf16", target=TARGET,
            measured_ns=total, clock="kernel", status="picture",
            source="aws-neuron-sdk v2.32.0 nki-dma-overview.rst, figures",
            build=functools.partial(exp, rows, columns, load, mode),
            opcodes={"DmaCopy": 2, "Activate": 1},
            figures=tuple(
                Figure(name, ns, "ns", _between(a, b), "picture")
                for name, ns, a, b in zip(
                    PHASES, lengths, MOMENTS, MOMENTS[1:], strict=False
                )
            ),
            span=_between(MOMENTS[0], MOMENTS[-1]),
            bound=0.15 if mode == "none" else 0.22,
            reason="" if mode == "none" else (
                "software makes the store's descriptors on gpsimd: its trigger "
                "starts 890 ns after the end of ACTIVATE, and here after the "
                "hand-off of 22 ns."
            ),
            quick=True,
        ))
    return made
