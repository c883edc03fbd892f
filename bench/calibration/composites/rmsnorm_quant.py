"""Row 8: rmsnorm_quant of 160 x 16384 in bf16, the half of one of two cores.

Source of the structure: nki/library/specs/design-rmsnorm-quant.rst of
aws-neuron/aws-neuron-sdk at v2.32.0, whose pictures have the times of each
phase: 80 rows are loaded; their squares are summed on the scalar engine and
rsqrt gives each row's scale; gamma is broadcast 512 columns at a time by a
multiplication with ones, eight PSUM banks ahead, and the vector engine
multiplies both in; the largest magnitude, its scale and reciprocal follow, a
multiplication to fp8, and the store. Each of the two cores does half of the
rows; this is the first of them.
"""

from __future__ import annotations

from collections.abc import Callable

import trnemu

from .case import Case, Figure, Run
from .events import Event, events

ROWS, H, WIDTH = 80, 16384, 512
CHUNKS = H // WIDTH
TARGET = "trn2"
# spec/timing.md 1.3, and what the squares take in the pictures.
TABLE_LOAD, SQUARES = 1283, 13952


def rmsnorm_quant() -> trnemu.Program:
    b = trnemu.ProgramBuilder(target=TARGET, name="rmsnorm_quant")
    x = b.input("x", (ROWS, H), "bfloat16")
    gamma = b.input("gamma", (1, H), "bfloat16")
    y = b.output("y", (ROWS, H), "float8_e4m3")
    scales = b.output("scales", (ROWS, 1), "float32")

    def column() -> trnemu.View:
        return b.sbuf((ROWS, 1), "float32")

    tile, row = b.sbuf((ROWS, H), "bfloat16"), b.sbuf((1, H), "bfloat16")
    b.dma_copy(dst=tile, src=x, trigger="sync")
    b.dma_copy(dst=row, src=gamma, trigger="sync")
    ones, epsilon = b.sbuf((1, ROWS), "bfloat16"), column()
    b.memset(dst=ones, value=1.0, engine="vector")
    b.memset(dst=epsilon, value=1e-6, engine="vector")
    squares, total, scale = b.sbuf((ROWS, H), "bfloat16"), column(), column()
    b.activation_reduce(
        dst=squares, op="square", data=tile, reduce_op="add", reduce_res=total
    )
    b.activation(dst=scale, op="rsqrt", data=total, bias=epsilon, scale=1 / H)
    normed = b.sbuf((ROWS, H), "bfloat16")
    for start in range(0, H, WIDTH):
        columns = slice(start, start + WIDTH)
        spread = b.psum((ROWS, WIDTH), "float32")
        b.nc_matmul(dst=spread, stationary=ones, moving=row[:, columns])
        b.scalar_tensor_tensor(
            dst=normed[:, columns], data=tile[:, columns], op0="multiply",
            operand0=scale, op1="multiply", operand1=spread,
        )
    top, dequant, clamped, quant = (column() for _ in range(4))
    b.tensor_reduce(dst=top, op="maximum", data=normed, axis=1)
    b.activation(dst=dequant, op="copy", data=top, scale=1 / 240)
    b.tensor_scalar(
        dst=clamped, data=dequant, op0="maximum", operand0=1e-6,
        engine="vector",
    )
    b.reciprocal(dst=quant, data=clamped)
    out = b.sbuf((ROWS, H), "float8_e4m3")
    b.tensor_scalar(
        dst=out, data=normed, op0="multiply", operand0=quant, engine="vector"
    )
    b.dma_copy(dst=scales, src=dequant, trigger="gpsimd")
    b.dma_copy(dst=y, src=out, trigger="gpsimd")
    return b.build()


def _of(run: Run, opcode: str) -> list[Event]:
    return [e for e in events(run.program) if e.opcode == opcode]


def _length(opcode: str, which: int) -> Callable[[Run], float]:
    """Of one instruction; a table load before it is one of its own in the
    pictures, where one precedes the squares and serves rsqrt too."""
    def length(run: Run) -> float:
        e = _of(run, opcode)[which]
        ns = e.end - e.start
        loads = e.engine == "scalar" and TABLE_LOAD < ns < SQUARES
        return ns - TABLE_LOAD if loads else ns
    return length


def _body(run: Run) -> float:
    """From the scalar engine's first instruction to the fp8 tile."""
    return _of(run, "TensorScalar")[-1].end - _of(run, "Activate")[0].start


def _stream(run: Run) -> float:
    several = _of(run, "ScalarTensorTensor")
    return several[-1].end - several[0].start


def _squares(run: Run) -> float:
    """With a table load before it, as in the pictures, or without."""
    first = _of(run, "Activate")[0]
    ns = first.end - first.start
    return ns - TABLE_LOAD if ns > SQUARES + TABLE_LOAD / 2 else ns


def cases() -> list[Case]:
    def picture(
        name: str, ns: float, ours: Callable[[Run], float]
    ) -> Figure:
        return Figure(name, ns, "ns", ours, "picture")

    return [Case(
        row="8", name="rmsnorm_quant, whole", target=TARGET,
        measured_ns=82.8e3, clock="kernel", status="picture",
        source="aws-neuron-sdk v2.32.0 design-rmsnorm-quant.rst, pictures",
        build=rmsnorm_quant,
        opcodes={
            "DmaCopy": 4, "Activate": 3, "ReadAccumulator": 1,
            "LoadStationary": CHUNKS, "MultiplyMoving": CHUNKS,
            "ScalarTensorTensor": CHUNKS, "TensorReduce": 1,
            "TensorScalar": 2, "Reciprocal": 1,
        },
        figures=(
            picture("scalar start to fp8 tile", 63.75e3, _body),
            picture("squares and sum", SQUARES, _squares),
            picture("rsqrt of a column, less its table load", 313,
                    _length("Activate", 1)),
            picture("gamma and scale, 32 chunks", 20.5e3, _stream),
            picture("gamma and scale, one", 745,
                    _length("ScalarTensorTensor", 0)),
            picture("largest magnitude", 17203, _length("TensorReduce", 0)),
            picture("quantise", 8792, _length("TensorScalar", 1)),
        ),
        structure=(
            "one core; the largest magnitude is a tensor_reduce of maximum, "
            "which takes as long as that of magnitudes"
        ),
        quick=True,
    )]
