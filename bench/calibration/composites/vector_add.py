"""Row 3: adding vectors of 25,600 fp32 elements, in tiles of four sizes.

Source of the structure: Stanford CS149, assignment 4, part 1
(stanford-cs149/asst4-trainium for trn1, asst4-trainium2 for trn2): its
handout describes a kernel that takes `rows` elements at a time, one a
partition, and one that takes tiles of 128 partitions by F elements. A tile is
two loads, an addition and a store. On trn1 a tile of the second kernel is
contiguous in HBM; on trn2 the vector is seen as 128 rows and a tile is F of
its columns. On trn2 the first kernel adds with tensor_scalar, whose operand
is a column.
"""

from __future__ import annotations

import functools

import trnemu

from .case import Case
from .schedule import Ahead

ELEMENTS = 25600
SOURCE = {
    "trn1": "stanford-cs149/asst4-trainium part 1; times of ASST4",
    "trn2": "stanford-cs149/asst4-trainium2 part 1; times of ASST4",
}
MEASURED_US = {
    ("trn1", 1, 1): 27404.0, ("trn1", 128, 1): 206.0,
    ("trn1", 128, 2): 53.0, ("trn1", 128, 200): 19.0,
    ("trn2", 1, 1): 37318.0, ("trn2", 128, 1): 378.0,
    ("trn2", 128, 2): 186.0, ("trn2", 128, 200): 15.0,
}
# Loads run this many tiles ahead of the store that shares their sequencer. On
# trn2 any number from 2 on gives the same time; on trn1, whose model has no
# cost per transfer, 2 gives 2.5 times the time of 8 for the tiny tiles.
DEPTH = 8
_TINY = (
    "the device takes 1070 ns for a tile of one row and 983 ns for one of 128, "
    "so about 340 ns for each of the three transfers whatever its size. No "
    "public source has a cost per transfer on trn1, and the model has none "
    "beyond trigger, descriptors and bytes. F=2 contradicts one: the same "
    "three transfers of 128 rows take 436 ns a tile. So what the compiler made "
    "of these kernels cannot be told from what the device costs, and nothing "
    "was fitted to them."
)
# (target, rows, columns) -> the largest error, and why.
REASONS = {
    ("trn1", 1, 1): (0.80, _TINY),
    ("trn1", 128, 1): (0.75, _TINY),
    ("trn1", 128, 2): (0.35, _TINY),
    ("trn1", 128, 200): (0.25, (
        "one tile, so all of it is latency: three transfers in a row, of which "
        "no public source has the parts on trn1, and a fixed term (9.40 us of "
        "19) that was measured on trn2."
    )),
    ("trn2", 1, 1): (0.27, (
        "a transfer of one row of 4 bytes takes 486 ns on the device, one of "
        "128 rows 600 (chunks of 128, and the measured law of 599): generating "
        "descriptors takes less time for fewer, and no source says how much, "
        "so each transfer here takes 599 ns."
    )),
}


def vector_add(target: str, rows: int, columns: int) -> trnemu.Program:
    """The program: tiles of (rows, columns)."""
    b = trnemu.ProgramBuilder(target=target, name="vector_add")
    tiles = ELEMENTS // (rows * columns)
    by_columns = target != "trn1" and columns > 1
    shape = (rows, tiles * columns) if by_columns else (tiles, rows, columns)
    x, y = b.input("x", shape, "float32"), b.input("y", shape, "float32")
    z = b.output("z", shape, "float32")

    def part(view: trnemu.View, i: int) -> trnemu.View:
        if by_columns:
            return view[:, i * columns:(i + 1) * columns]
        return view[i]

    schedule = Ahead(b, DEPTH)
    for i in range(tiles):
        p = b.sbuf((rows, columns), "float32")
        q = b.sbuf((rows, columns), "float32")
        schedule.load(p, part(x, i))
        schedule.load(q, part(y, i))
        s = b.sbuf((rows, columns), "float32")
        if target != "trn1" and columns == 1:
            add = functools.partial(
                b.tensor_scalar, dst=s, data=p, op0="add", operand0=q
            )
        else:
            add = functools.partial(
                b.tensor_tensor, dst=s, data1=p, data2=q, op="add",
                engine="vector",
            )
        schedule.then(add, part(z, i), s)
    schedule.finish()
    return b.build()


def cases() -> list[Case]:
    made = []
    for (target, rows, columns), us in MEASURED_US.items():
        tiles = ELEMENTS // (rows * columns)
        name = (
            f"vector add, chunks of {rows}" if columns == 1
            else f"vector add, stream F={columns}"
        )
        add = (
            "TensorScalar" if target != "trn1" and columns == 1
            else "TensorTensor"
        )
        bound, reason = REASONS.get((target, rows, columns), (0.15, ""))
        made.append(Case(
            row="3", name=name, target=target, measured_ns=us * 1e3,
            source=SOURCE[target],
            build=functools.partial(vector_add, target, rows, columns),
            opcodes={"DmaCopy": 3 * tiles, add: tiles},
            structure=(
                "loads and stores are triggered by one sequencer, loads "
                f"{DEPTH} tiles ahead of the store"
            ),
            bound=bound, reason=reason,
            quick=rows > 1,
        ))
    return made
