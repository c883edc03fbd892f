"""The text of each rule, evaluated in Python on random calls, against what the
library says of the same calls; and the rules against isa.json.

A call is refused with the first rule that it breaks, so: the reported rule's
text must be false, and where nothing is reported every text must be true.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import trnemu
from rules_kit import (
    ANY, ANYX, ARITH, ARITH_BIN, ARITH_UN, BITVEC, BITVEC_BIN, CMP, FP, FP8,
    GENERATION, INT, REDUCE, SIZE, SPEC, TARGETS, X4,
)
from test_rules_activation import FUNCTIONS

SEED = 20240611
CALLS = 1000  # of each operation
LOWEST = -3.4028234663852886e38

NAMES = (
    "dma_copy", "nc_matmul", "nc_transpose", "activation", "tensor_tensor",
    "tensor_scalar", "scalar_tensor_tensor", "tensor_reduce", "tensor_copy",
    "memset", "reciprocal", "iota", "affine_select",
    "nc_matmul_mx", "quantize_mx",
    "activation_reduce", "activate2", "tensor_scalar_reduce",
    "tensor_scalar_cumulative", "tensor_tensor_scan", "exponential",
    "tensor_copy_predicated", "range_select", "select_reduce",
    "nc_stream_shuffle", "bn_stats", "bn_aggr", "max8", "nc_find_index8",
    "nc_match_replace8",
    "tensor_partition_reduce", "sequence_bounds", "local_gather",
    "nc_n_gather", "nonzero_with_count", "topk", "rng", "rand2",
    "rand_set_state", "rand_get_state", "set_rng_seed", "dropout",
    "core_barrier", "sendrecv", "dma_transpose", "dma_compute",
)
DMA = ("dma_copy", "dma_transpose", "dma_compute")
# Those that may be of a program of two cores.
CORES = ("core_barrier", "sendrecv")
OPERATIONS = {o.name: o for o in trnemu.operations() if o.name in NAMES}

# Rules whose text is prose, not an expression.
PROSE = {"dma_copy.trigger", "dma_transpose.trigger", "dma_compute.trigger",
         "tensor_scalar.bitvec_operand"}
# The library adds an upper bound or a second attribute to these texts.
WIDER = {
    # is_int32_const(channel_multiplier), which the library asks of offset too
    "iota.int32",
    # what Python allows below 0: (-64) % 64 == 0
    "nc_matmul.tile_row", "nc_matmul.tile_column",
    "nc_matmul_mx.tile_position",
    # isa.json has a second constraint, that no axis is 0
    "tensor_reduce.axis",
    # and no index below -2^24, where float32 counts no further either
    "range_select.range",
}


MXSCALE = ("float8_e8m0fnu", "uint8")

_names = itertools.count()


@dataclasses.dataclass(frozen=True)
class Tile:
    """What a rule may ask of a tile."""

    buffer: str
    shape: tuple[int, ...]
    dtype: str
    start: int = 0
    # "ti" indirect(), "vec" vector_offset, "scl" scalar_offset, and its index
    how: str = ""
    index: Tile | None = None

    @property
    def free(self) -> int:
        return math.prod(self.shape[1:])

    def make(self, b: trnemu.ProgramBuilder,
             views: dict[int, trnemu.View]) -> trnemu.View:
        """The view; the same for the same object."""
        if id(self) not in views:
            views[id(self)] = (self.moved(b, views) if self.how
                               else self.fixed(b))
        return views[id(self)]

    def fixed(self, b: trnemu.ProgramBuilder) -> trnemu.View:
        if self.buffer == "hbm":
            return b.scratch(f"t{next(_names)}", self.shape, self.dtype)
        make = b.sbuf if self.buffer == "sbuf" else b.psum
        if self.start == 0:
            return make(self.shape, self.dtype)
        return make((128, *self.shape[1:]), self.dtype)[
            self.start : self.start + self.shape[0]
        ]

    def moved(self, b: trnemu.ProgramBuilder,
              views: dict[int, trnemu.View]) -> trnemu.View:
        assert self.index is not None
        index = self.index.make(b, views)
        plain = dataclasses.replace(self, how="", index=None)
        if self.how == "ti":
            some = dataclasses.replace(plain, shape=(self.shape[0], 16))
            return some.fixed(b).indirect(index, self.free)
        if self.buffer == "hbm":
            more = (self.shape[0] + 3, *self.shape[1:])
            whole = dataclasses.replace(plain, shape=more).fixed(b)
            steps = [[math.prod(self.shape[i + 1 :]), n]
                     for i, n in enumerate(self.shape)]
            if self.how == "vec":
                return whole.ap(steps, vector_offset=index)
            return whole.ap(steps, scalar_offset=index)
        tiles = dataclasses.replace(
            plain, shape=(self.shape[0], 2, *self.shape[1:])).fixed(b)
        return tiles.select(1, index)


def representable(value: float, dtype: str) -> bool:
    if dtype not in INT:
        return True
    bits, signed = 8 * SIZE[dtype], not dtype.startswith("u")
    low = -(2 ** (bits - 1)) if signed else 0
    high = 2 ** (bits - signed) - 1
    return value == int(value) and low <= value <= high


def sorted_axes(axis: Any, rank: int) -> list[int]:
    axes = axis if isinstance(axis, (list, tuple)) else (axis,)
    return sorted(a + rank if a < 0 else a for a in axes)


def permuted(shape: tuple[int, ...], axes: Any) -> tuple[int, ...]:
    order = axes or {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[len(shape)]
    return tuple(shape[i] for i in order)


def how(value: Any) -> str:
    return value.how if isinstance(value, Tile) else ""


def language(call: dict[str, Any], target: str, engine: str) -> dict[str, Any]:
    """constraint_language of isa_vocab.json, for one call."""

    def elems_match(dst: Tile, data: Tile, axis: Any, keepdims: bool) -> bool:
        gone = sorted_axes(axis, len(data.shape))
        return dst.free == math.prod(
            n for i, n in enumerate(data.shape) if i > 0 and i not in gone
        )

    requested = call.get("engine", "unknown")
    return {
        **call,
        "gen": GENERATION[target], "engine": engine, "engine_attr": requested,
        "P": lambda x: x.shape[0], "F": lambda x: x.free,
        "numel": lambda x: math.prod(x.shape), "rank": lambda x: len(x.shape),
        "shape": lambda x: x.shape, "dt": lambda x: x.dtype,
        "size": lambda d: SIZE[d], "buf": lambda x: x.buffer,
        "start_p": lambda x: x.start,
        "psum_banks": lambda x: -(-x.free * SIZE[x.dtype] // 2048),
        "is_tile": lambda x: isinstance(x, Tile),
        "is_imm": lambda x: isinstance(x, (int, float)),
        "is_none": lambda x: x is None, "prod": math.prod,
        "ceil": math.ceil,
        # what is known before a run: of numbers, not of tiles
        "val": lambda x: [] if isinstance(x, Tile) else [x],
        "type_is_float": lambda x: isinstance(x, float),
        "type_is_seq": lambda x: isinstance(x, (list, tuple)),
        "is_int32_const": lambda x: -(2**31) <= x < 2**31,
        "exactly_representable": representable,
        "elems_match_except_axes": elems_match,
        "sorted_axes": lambda a: sorted_axes(a, len(call["data"].shape)),
        "INT": INT, "INT32S": ("int32", "uint32"), "FP8": FP8, "FP": FP,
        "F16S": ("float16", "bfloat16"), "MXSCALE": MXSCALE,
        "X4": X4, "ANY": ANY, "ANYX": ANYX, "PE_IN": FP,
        "ALU_BITVEC": BITVEC, "ALU_BITVEC_BIN": BITVEC_BIN, "ALU_CMP": CMP,
        "ALU_ARITH": ARITH, "ALU_ARITH_BIN": ARITH_BIN,
        "ALU_ARITH_UN": ARITH_UN, "ALU_REDUCE": REDUCE,
        "ALU_GEN4_OP0": ("abs_max", "abs_min", "square", "relu"),
        "ACT": (*FUNCTIONS, "prelu"),
        "PE_TI": ("float16", "bfloat16", *FP8),
        "ti": lambda x: how(x) == "ti", "ti_idx": lambda x: x.index,
        "vec_off": lambda x: how(x) == "vec",
        "scl_off": lambda x: how(x) == "scl",
        "off_idx": lambda x: x.index, "indirect_dim": lambda x: 0,
        "is_reg": lambda x: False, "static_addr": lambda x: how(x) == "",
        "same_tensor": lambda x, y: x is y,
        "same_index": lambda x, y: x.index is y.index,
        "permuted": permuted, "range": range,
        "written": lambda x: True,
        "value_initialised_by_other": lambda x: False,
        "dynamic_address_in_bounds": lambda x: True,
        # every HBM tensor of a program is shared by its cores
        "hbm_kind": lambda x: "shared", "lnc": 1, "core": 0,
    }


def holds(text: str, names: dict[str, Any]) -> bool:
    """What has no value, such as the row of no tile_position, holds: another
    rule is broken then."""
    try:
        return bool(eval(text, dict(names)))  # noqa: S307
    except (IndexError, TypeError):
        return True


def resolved(operation: str, call: dict[str, Any]) -> str:
    """default_engine of isa.json, and section 1 of the design."""
    requested = call.get("engine", "unknown")
    if operation == "sendrecv":
        return {"dma": "sync", "gpsimd_dma": "gpsimd"}[call["dma_engine"]]
    if operation == "core_barrier" and requested == "unknown":
        return "gpsimd"
    if operation in DMA:
        return "dma"
    if operation in ("nc_matmul", "nc_matmul_mx"):
        return "tensor"
    if operation in ("activation", "activation_reduce", "activate2"):
        return "scalar"
    if operation in ("iota", "affine_select", "tensor_partition_reduce",
                     "sequence_bounds", "local_gather", "nc_n_gather",
                     "nonzero_with_count", "topk"):
        return "gpsimd"
    if operation in ("rand_set_state", "rand_get_state"):
        return "gpsimd" if requested == "unknown" else requested
    if operation in ("rand2", "set_rng_seed", "dropout"):
        return "vector"
    if operation in ("tensor_reduce", "reciprocal", "scalar_tensor_tensor",
                     "quantize_mx", "tensor_scalar_reduce",
                     "tensor_scalar_cumulative", "tensor_tensor_scan",
                     "exponential"):
        return "vector"
    if requested != "unknown":
        return requested
    tiles = [v for v in call.values() if isinstance(v, Tile)]
    psum = any(t.buffer == "psum" for t in tiles)
    if operation == "nc_transpose":
        return "tensor" if call["dst"].buffer == "psum" else "vector"
    if operation == "tensor_tensor":
        if call["op"] == "power":
            return "gpsimd"
        whole = all(t.dtype in ("int32", "uint32") for t in tiles)
        if whole and not psum and call["op"] not in BITVEC:
            return "gpsimd"
    if operation == "tensor_scalar" and call["op0"] == "rsqrt" and not psum:
        return "gpsimd"
    return "vector"


class Draw:
    """Random calls, mostly legal: each choice is odd once in a while."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.odds = 0.06

    def odd(self) -> bool:
        return self.random.random() < self.odds

    def pick(self, usual: Any, odd: Any) -> Any:
        return self.random.choice(odd if self.odd() else usual)

    def shape(self) -> tuple[int, ...]:
        p = self.random.choice((1, 4, 32, 33, 64, 65, 128))
        return (p, *self.random.choice(((8,), (2, 3), (1,), (5, 1, 2), (33,))))

    def near(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """`shape`, or once in a while another."""
        if not self.odd():
            return shape
        at = self.random.randrange(len(shape))
        other = max(1, shape[at] + self.random.choice((-1, 1, 2)))
        return (*shape[:at], min(other, 128), *shape[at + 1 :])

    def tile(self, shape: tuple[int, ...], dtypes: Any = ANY,
             buffers: Any = ("sbuf", "sbuf", "psum"),
             odd_dtypes: Any = ANYX) -> Tile:
        start = 0
        if self.odd():
            start = self.random.choice((1, 32, 48, 64, 96))
            start = start if start + shape[0] <= 128 else 0
        return Tile(self.pick(buffers, ("sbuf", "psum", "hbm")), shape,
                    self.pick(dtypes, odd_dtypes), start)

    def column(self, p: int, dtypes: Any = ("float32",)) -> Tile:
        return self.tile(self.near((p, 1)), dtypes)

    def number(self) -> float:
        return self.random.choice((0, 0.0, 1, 2.0, 0.5, -3.0))

    def engine(self, legal: Any) -> str:
        return self.pick(("unknown", *legal),
                         ("vector", "scalar", "gpsimd", "tensor", "sync"))

    def call(self, operation: str) -> dict[str, Any]:
        return getattr(self, operation)()

    def offsets(self, operation: str, call: dict[str, Any]) -> bool:
        """Makes views of indirect() of some operands that can be."""
        names = [n for n in TAKERS.get(operation, ())
                 if isinstance(call.get(n), Tile) and call[n].buffer != "hbm"]
        if not names or self.random.random() < 0.6:
            return False
        data = next((call[n] for n in names if n != "dst"), call[names[0]])
        refused = [n for n, v in call.items() if isinstance(v, Tile)
                   and n not in TAKERS[operation] and v.buffer != "hbm"]
        chosen = self.random.sample(names, self.random.randint(1, len(names)))
        if refused and self.random.random() < 0.15:
            chosen.append(self.random.choice(refused))
        group = 32 if operation.startswith("nc_matmul") else 16
        for name in chosen:
            t = call[name]
            start = data.start if name == "dst" else t.start
            if self.random.random() < 0.2:
                start = self.random.choice((0, 32, 48, 64))
            if self.random.random() < 0.1 and t.start + t.shape[0] <= 96:
                t = dataclasses.replace(t, start=t.start + 32)
            start = start if start + t.shape[0] <= 128 else 0
            columns = -(-t.free // group) if not self.odd() else 1
            index = Tile("sbuf", (t.shape[0], columns), "int32", start)
            call[name] = dataclasses.replace(
                t, shape=(t.shape[0], t.free), how="ti", index=index)
        for name in ("stationary", "moving"):  # scales share the index
            scale = f"{name}_scale"
            if scale in call and how(call[name]) and self.random.random() < 0.8:
                t = call[scale]
                shared = call[name].index
                if t.shape[0] == shared.shape[0] and t.buffer != "hbm":
                    call[scale] = dataclasses.replace(
                        t, shape=(t.shape[0], t.free), how="ti", index=shared)
        return True

    def rows(self, t: Tile, whole: bool = False) -> Tile:
        """A row of an HBM tensor for each index; `whole`: as dma_transpose
        takes them."""
        p = t.shape[0]
        dtypes = ("uint32",) if whole else ("int32", "uint32")
        partitions, columns = p, self.pick((1,), (2,))
        if whole and p > 128:
            partitions, columns = 128, -(-p // 128)
        if whole and self.odd():
            partitions, columns = self.random.choice(((128, 2), (p, 2)))
        index = Tile("sbuf", (min(partitions, 128), columns),
                     self.pick(dtypes, ("int32", "uint32", "int16")))
        if index.shape[0] * columns < p:
            return t
        return dataclasses.replace(t, how="vec", index=index)

    def shifted(self, t: Tile) -> Tile:
        index = Tile("sbuf", (1, 1), self.pick(("int32", "uint32"),
                                               ("int16",)))
        return dataclasses.replace(t, how="scl", index=index)

    def moved(self, t: Tile) -> Tile:
        """Some other place of a DMA operand."""
        if t.start or t.buffer == "psum" or self.random.random() < 0.4:
            return t
        if t.buffer == "hbm" and t.shape[0] <= 128 and (
            self.random.random() < 0.6
        ):
            return self.rows(t)
        return self.shifted(t)

    def place(self, operation: str) -> tuple[int, int]:
        """Cores of the program, and the one that executes the call."""
        if operation not in CORES or self.odd():
            return 1, 0
        return 2, self.random.randrange(2)

    def core_barrier(self) -> dict[str, Any]:
        return {
            "data": self.tile(self.shape(), ANYX, ("hbm",)),
            "cores": self.pick(((0, 1), (1, 0)), (
                (0,), (1,), (1, 1), (), (2,), (0, 2), (-1, 0), (0, 1, 0))),
            "engine": self.pick(("unknown", "gpsimd", "sync", "vector"),
                                ("dma", "scalar", "tensor")),
        }

    def sendrecv(self) -> dict[str, Any]:
        p, f = self.random.choice((1, 4, 128)), self.pick((8, 256), (257, 512))
        src = self.tile((p, f), ANYX, ("sbuf",))
        return {
            "src": src,
            "dst": self.tile(self.near((p, f)), (src.dtype,), ("sbuf",)),
            "send_to_rank": self.pick((0, 1), (-1, 2)),
            "recv_from_rank": self.pick((0, 1), (-1, 2)),
            "pipe_id": self.random.randrange(4),
            "dma_engine": self.random.choice(("dma", "gpsimd_dma")),
        }

    def dma_copy(self) -> dict[str, Any]:
        shape = self.shape()
        src = self.tile(shape, ANYX, ("hbm", "sbuf"))
        call = {
            "dst": self.tile(self.near(shape), (src.dtype,), ("hbm", "sbuf")),
            "src": src,
            "dge_mode": self.pick(("unknown", "none", "swdge"), ("hwdge",)),
            "priority": self.pick((None,), (0, 3, 4, -1)),
            "queues": self.pick((16, 1), (0, 17)),
            "oob_mode": "error",
        }
        if self.odd():
            call["engine"] = self.random.choice(("sync", "scalar", "vector"))
        if self.odd():
            call["dge_mode"] = "hwdge"
            call["dst"] = dataclasses.replace(call["dst"], dtype="float16")
        if self.random.random() < 0.4:
            side = self.random.choice(("dst", "src"))
            call[side] = self.moved(call[side])
        return call

    def dma_transpose(self) -> dict[str, Any]:
        dtype = self.pick(("bfloat16", "uint16", "float32"), ANY)
        rank = self.random.choice((2, 2, 3, 4))
        rest = [self.random.choice((1, 2, 3, 8)) for _ in range(rank - 2)]
        shape = (self.random.choice((1, 2, 3, 8, 16, 32, 48)), *rest,
                 self.pick((4, 16, 128), (129,)))
        src = self.tile(shape, (dtype,), ("hbm", "hbm", "sbuf"), (dtype,))
        to = permuted(shape, None)
        dst = self.tile(self.near((min(to[0], 128), *to[1:])), (dtype,),
                        ("sbuf",))
        call = {
            "dst": dst, "src": src,
            "axes": self.pick((None,), ((1, 0), (2, 1, 0), (3, 1, 2, 0),
                                        (0, 1), (0, 2, 1), (1, 0, 2))),
            "dge_mode": self.pick(("unknown", "unknown", "none"),
                                  ("hwdge", "swdge")),
            "priority": self.pick((None,), (0, 3, 4, -1)),
            "queues": self.pick((16, 1), (0, 17)),
            "oob_mode": self.pick(("error",), ("skip",)),
        }
        if self.odd():
            call["dst"] = self.tile((4, 8, 2)[: self.random.choice((2, 3))],
                                    (dtype,), ("sbuf",))
        if self.random.random() < 0.4 and src.start == 0:
            if src.buffer == "hbm" and self.random.random() < 0.7:
                call["src"] = self.rows(src, True)
            elif src.buffer != "psum":
                call["src"] = self.shifted(src)
            call["oob_mode"] = self.random.choice(("error", "skip"))
            call["dge_mode"] = self.pick(("unknown", "swdge"),
                                         ("hwdge", "none"))
        elif self.random.random() < 0.3:
            call["dge_mode"] = "hwdge"
        return call

    def dma_compute(self) -> dict[str, Any]:
        shape = self.shape()
        places = ("hbm", "sbuf")
        dst = self.tile(shape, ANY, places)
        count = self.pick((1, 2, 2, 3, 16), (0,))
        srcs = [self.tile(self.near(shape) if count < 4 else shape, ANY,
                          places) for _ in range(count)]
        call = {
            "dst": dst, "srcs": srcs,
            "reduce_op": self.pick(("add",), ("multiply", "maximum")),
            "scales": self.pick((None, [1.0] * count), ([1.0, 2.0], [0.5])),
            "unique_indices": self.pick((True,), (False,)),
            "oob_mode": self.pick(("error",), ("skip",)),
            "queues": self.pick((16, 1), (0, 17)),
        }
        if srcs and self.random.random() < 0.4:
            at = self.random.randrange(len(srcs))
            if self.random.random() < 0.5:
                srcs[at] = self.moved(srcs[at])
                if len(srcs) > 1 and not self.odd():
                    srcs[1 - at if at < 2 else 0] = dst
            else:
                call["dst"] = self.moved(dst)
                if not self.odd():
                    srcs[at] = call["dst"]
            call["oob_mode"] = self.random.choice(("error", "skip"))
        return call

    def nc_matmul(self) -> dict[str, Any]:
        k, m = (self.random.choice((1, 4, 32, 64, 128)) for _ in "km")
        n = self.pick((4, 512), (4, 513, 4097, 8193, k))
        m = self.pick((m,), (129, 4))
        transpose = self.random.random() < 0.2
        if transpose:
            n = self.pick((k,), (4,))
        st = self.pick(("bfloat16", "float32", "float8_e5m2"), FP)
        mv = self.pick((st,), FP)
        if self.odd():
            st, mv = self.random.sample(FP8, 2)
        call = {
            "dst": self.tile(self.near((min(m, 128), n)), ("float32",),
                             ("psum",), ("bfloat16", "float16", "int32", st)),
            "stationary": self.tile(self.near((k, m)), (st,), ("sbuf",)),
            "moving": self.tile((k, n), (mv,), ("sbuf",), (mv,)),
            "is_transpose": transpose, "perf_mode": "none",
            "tile_position": (), "tile_size": (),
        }
        if self.random.random() < 0.2:
            self.double_row(call, k, m, n)
        if self.random.random() < 0.3:
            rows = self.pick((64, 128), (32, 16, 96))
            columns = self.pick((64, 128), (32, 256))
            row, column = (self.pick((0,), (32, 64, 128)) for _ in "rc")
            call["tile_size"] = (rows, columns)
            call["tile_position"] = (row, column)
            if self.odd():
                call[self.random.choice(("tile_size", "tile_position"))] = ()
            else:
                for name, start in (("stationary", row), ("moving", row),
                                    ("dst", column)):
                    t = call[name]
                    if start + t.shape[0] <= 128 and (
                        self.random.random() < 0.8
                    ):
                        call[name] = dataclasses.replace(t, start=start)
        return call

    def double_row(self, call: dict[str, Any], k: int, m: int, n: int) -> None:
        """Turns a matmul into one of float8 tiles of two rows a partition."""
        call["perf_mode"] = "double_row"
        call["is_transpose"] = self.pick((False,), (True,))
        for name, columns in (("stationary", m), ("moving", n)):
            shape = self.pick(((k, 2, columns),), ((k, 2 * columns),
                                                   (k, 1, columns)))
            call[name] = self.tile(
                self.near(shape), self.pick((FP8[:2],), (FP,)), ("sbuf",), FP8)

    def scales(self, k: int, columns: int, start: int) -> Tile:
        """A view of MX scales for k partitions that begin at `start`."""
        rows = max(1, 32 * (k // 32 - 1) + 4)
        if self.odd():
            rows = self.random.choice((max(1, rows - 1), rows + 1, 128))
        if self.odd():
            start = self.random.choice((0, 32, 64, 96))
        start += self.pick((0, 4, 8, 12), (1, 2, 16, 20))
        return Tile(self.pick(("sbuf",), ("psum", "hbm")),
                    self.near((min(rows, 128 - start), columns)),
                    self.pick(MXSCALE, ("int8", "float32")), start)

    def quadrant(self, k: int) -> int:
        """A legal start for k partitions."""
        return self.random.choice(
            (0, 32, 64, 96) if k <= 32 else (0, 64) if k <= 64 else (0,))

    def nc_matmul_mx(self) -> dict[str, Any]:
        k = self.pick((32, 64, 96, 128), (1, 33, 100))
        m = self.pick((2, 4, 128), (1, 3, 130))
        n = self.pick((4, 33), (4096, 4097, 8193))
        start = self.quadrant(k)
        call: dict[str, Any] = {
            "dst": self.tile(self.near((min(m, 128), n)),
                             ("float32", "bfloat16"), ("psum",)),
            "tile_position": None, "tile_size": None,
        }
        for name, columns in (("stationary", m), ("moving", n)):
            tile = self.tile(self.near((k, columns)), X4, ("sbuf",))
            at = start if start + tile.shape[0] <= 128 else 0
            call[name] = dataclasses.replace(tile, start=at)
            call[f"{name}_scale"] = self.scales(k, columns, at)
        if self.random.random() < 0.4:
            rows = self.pick((k if k in (32, 64) else 128,), (32, 64, 96))
            call["tile_size"] = (rows, self.pick((128,), (64,)))
            call["tile_position"] = (
                self.pick((start,), (0, 32, 64, 128)), self.pick((0,), (32,)))
            if self.odd():
                call[self.random.choice(("tile_size", "tile_position"))] = None
        return call

    def quantize_mx(self) -> dict[str, Any]:
        p = self.pick((32, 64, 96, 128), (1, 33, 100))
        f = self.pick((4, 8, 32), (1, 6))
        start = self.quadrant(p)
        src = dataclasses.replace(
            self.tile((p, f), ("float16", "bfloat16"), ("sbuf",)), start=start)
        columns = max(1, f // 4)
        return {
            "dst": self.tile(self.near((p, columns)), X4[:2], ("sbuf",)),
            "src": src, "dst_scale": self.scales(p, columns, start),
        }

    def nc_transpose(self) -> dict[str, Any]:
        p, f = (self.random.choice((1, 4, 32)) for _ in "pf")
        if self.odd():
            p, f = self.random.choice(((33, 4), (4, 33), (128, 128), (4, 129)))
        data = self.tile((p, f), ANY, ("sbuf",))
        dst = self.tile(self.near((min(f, 128), p)), (data.dtype,))
        return {"dst": dst, "data": data,
                "engine": self.engine(("unknown", "unknown"))}

    def activation(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op": self.random.choice((*FUNCTIONS, "prelu")), "bias": None,
            "scale": 1.0, "reduce_op": None, "reduce_res": None,
            "reduce_cmd": "idle",
        }
        if self.random.random() < 0.3:
            call["scale"] = self.column(shape[0])
        if self.random.random() < 0.4:
            call["bias"] = self.column(shape[0], ("float32", "bfloat16"))
            if self.random.random() < 0.3:
                call["bias"] = self.number()
        if self.random.random() < 0.4:
            call["reduce_op"] = self.pick(("add",), ("maximum", "multiply"))
            call["reduce_cmd"] = self.pick(
                ("reset", "reduce", "reset_reduce"), ("load_reduce",))
            if self.random.random() < 0.5:
                call["reduce_res"] = self.column(shape[0], FP)
        return call

    def kinds(self) -> tuple[Any, Any]:
        """Operations and dtypes that go together, mostly."""
        if self.random.random() < 0.3:
            return BITVEC_BIN, self.pick((INT,), (ANY,))
        return tuple(o for o in ARITH_BIN if not o.startswith("abs_")), ANY

    def tensor_tensor(self) -> dict[str, Any]:
        shape = self.shape()
        ops, dtypes = self.kinds()
        if self.random.random() < 0.1:
            dtypes = ("int32", "uint32")
        return {
            "dst": self.tile(self.near(shape), dtypes),
            "data1": self.tile(self.near(shape), dtypes),
            "data2": self.tile(self.near(shape), dtypes, ("sbuf",)),
            "op": self.pick(ops, (*ARITH, *BITVEC)),
            "engine": self.engine(("vector", "unknown", "unknown")),
        }

    def scalar(self, p: int) -> Any:
        return (self.column(p) if self.random.random() < 0.3
                else self.number())

    def tensor_scalar(self) -> dict[str, Any]:
        shape = self.shape()
        ops, dtypes = self.kinds()
        whole = ops is BITVEC_BIN
        call = {
            "dst": self.tile(self.near(shape), dtypes),
            "data": self.tile(shape, dtypes),
            "op0": self.pick(ops, (*ARITH, *BITVEC)),
            "operand0": 3 if whole else self.scalar(shape[0]),
            "op1": None, "operand1": None,
            "engine": self.engine(("vector", "unknown", "unknown")),
        }
        if self.odd():
            call["op0"], call["operand0"] = (
                self.random.choice(ARITH_UN), self.pick((None, 0), (1.0,)))
            if self.odd():
                call["engine"] = "gpsimd"
        if self.odd():
            call["operand0"] = None
        if self.odd():
            call["op0"], call["engine"] = "multiply", "scalar"
        if self.random.random() < 0.4:
            call["op1"] = self.pick(ops, (*ARITH, *BITVEC))
            call["operand1"] = 5 if whole else self.scalar(shape[0])
        if self.odd():
            call["operand1"] = self.pick((1.0,), (None,))
        return call

    def scalar_tensor_tensor(self) -> dict[str, Any]:
        shape = self.shape()
        ops = tuple(o for o in ARITH_BIN if not o.startswith("abs_"))
        return {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op0": self.pick(ops, (*ARITH, *BITVEC)),
            "operand0": (self.column(shape[0], ANY) if self.odd()
                         else self.number()),
            "op1": self.pick(ops, (*ARITH, *BITVEC)),
            "operand1": self.tile(self.near(shape), ANY, ("sbuf",)),
        }

    def tensor_reduce(self) -> dict[str, Any]:
        p = self.random.choice((1, 4, 64))
        free = self.random.choice(((8,), (2, 3), (2, 3, 5), (2, 1, 3, 2)))
        rank = len(free) + 1
        count = self.random.randint(1, len(free))
        axes = list(range(rank - count, rank))
        self.random.shuffle(axes)
        axis: Any = tuple(
            a - rank if self.random.random() < 0.3 else a for a in axes
        )
        if count == 1 and self.random.random() < 0.5:
            axis = axis[0]
        dst = (p, *free[: len(free) - count]) if count < len(free) else (p, 1)
        if self.odd():
            axis = self.random.choice((0, 1, (0, 1), -rank, rank))
        ops, dtypes = self.kinds()
        ops = ("bitwise_and", "bitwise_or", "bitwise_xor") if (
            ops is BITVEC_BIN) else ("add", "maximum", "subtract")
        return {
            "dst": self.tile(self.near(dst), dtypes),
            "data": self.tile((p, *free), dtypes),
            "op": self.pick(ops, (*ARITH, *BITVEC)), "axis": axis,
            "negate": self.random.random() < 0.3, "keepdims": self.odd(),
        }

    def tensor_copy(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(self.near(shape)), "src": self.tile(shape),
            "engine": self.engine(("vector", "scalar", "unknown")),
        }

    def memset(self) -> dict[str, Any]:
        return {
            "dst": self.tile(self.shape()),
            "value": self.pick((0, 0.0, 1, 7.0),
                               (127, 128, -1, 256, 0.5, 2**31, 2**32, -129)),
            "engine": self.engine(("vector", "unknown")),
        }

    def reciprocal(self) -> dict[str, Any]:
        shape = self.shape()
        return {"dst": self.tile(self.near(shape)), "data": self.tile(shape)}

    def affine(self) -> dict[str, Any]:
        pattern = self.random.choice(
            ([[1, 8]], [[4, 2], [1, 4]], [[1, 2], [0, 2], [3, 1], [-1, 2]]))
        return {
            "pattern": pattern,
            "offset": self.pick((0, -5, 100), (2**31 - 1, 2**31, -(2**31))),
            "channel_multiplier": self.pick(
                (0, 1, -3), (2**31, -(2**31) - 1, -(2**31))),
        }

    def iota(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 4)), ((7,), (9,))))
        return {"dst": self.tile(shape, ANY, ("sbuf",)), **self.affine()}

    def affine_select(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 4)), ((7,), (9,))))
        return {
            "dst": self.tile(shape, ANY, ("sbuf",)),
            "on_true_tile": self.tile(self.near(shape), ANY, ("sbuf",)),
            "on_false_value": self.random.choice((0.0, -1.5)),
            "cmp_op": self.pick(CMP, (*ARITH, *BITVEC)), **self.affine(),
        }

    def tensor_copy_predicated(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        src = self.tile(self.near(shape), (dtype,))
        return {
            "dst": self.tile(self.near(shape), (dtype,)),
            "src": src if self.random.random() < 0.8 else self.number(),
            "predicate": self.tile(
                shape, ("uint8", "uint16", "uint32"), ("sbuf", "sbuf", "psum")),
            "reverse_pred": self.odd(),
        }

    def range_select(self) -> dict[str, Any]:
        shape = self.shape()
        floats = (FP, ("sbuf", "psum"))
        compares = ("equal", "less", "less_equal", "greater", "greater_equal")
        call = {
            "dst": self.tile(self.near(shape), *floats),
            "on_true_tile": self.tile(shape, *floats),
            "comp_op0": self.pick(compares, (*ARITH, *BITVEC)),
            "comp_op1": self.pick(compares, (*ARITH, *BITVEC)),
            "bound0": self.column(shape[0]), "bound1": self.column(shape[0]),
            "reduce_cmd": self.pick(("idle", "reset", "reduce", "reset_reduce"),
                                    ("load_reduce",)),
            "reduce_op": self.pick(("maximum",), ("minimum", "add")),
            "range_start": self.pick(
                (0, -3, 1000), (2**24 - 8, 2**24, 2**24 - 6, -(2**24),
                            -(2**24) - 1)),
            "on_false_value": self.pick((LOWEST,), (0.0, -LOWEST, -1e300)),
            "reduce_res": None,
        }
        if self.random.random() < 0.4:
            call["reduce_res"] = self.column(shape[0], FP)
        return call

    def select_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)),
            "predicate": self.tile(
                self.near(shape), ("int8", "uint8", "int16", "uint16")),
            "on_true": self.tile(
                shape, [d for d in ANY
                        if d not in ("tfloat32", "int32", "uint32")]),
            "on_false": self.scalar(shape[0]), "reduce_res": None,
            "reduce_cmd": self.pick(("idle", "reset_reduce", "reduce"),
                                    ("reset", "load_reduce")),
            "reduce_op": self.pick(("maximum",), ("minimum", "add")),
            "reverse_pred": self.odd(),
        }
        if self.random.random() < 0.4:
            call["reduce_res"] = self.column(shape[0], FP)
        return call

    def nc_stream_shuffle(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        src = self.tile(shape, (dtype,))
        wide = self.pick((shape[0],), (32, 33, 64, 65, 128, 20))
        dst = self.tile(self.near((wide, *shape[1:])), (dtype,))
        lanes = min(32, shape[0])
        mask = [self.random.choice((255, self.random.randrange(lanes)))
                for _ in range(32)]
        if shape[0] % 32:  # of the last quadrant, mostly
            lanes = self.pick((shape[0] % 32,), (lanes,))
            mask = [m if m == 255 else m % lanes for m in mask]
        if self.odd() and shape[0] <= 32:  # more partitions, fewer starts
            src = dataclasses.replace(src, start=32)
            dst = dataclasses.replace(
                dst, shape=(self.pick((33, 65), (96,)), *shape[1:]), start=0)
        if self.odd():
            mask[self.random.randrange(32)] = self.random.choice(
                (32, 31, 254, 256, -1))
        if self.odd():
            mask = self.random.choice((mask[:31], [*mask, 0], []))
        return {"dst": dst, "src": src, "shuffle_mask": mask}

    def bn_stats(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((1,), (512,), (8, 64), (7,)), ((513,), (2, 257), (1024,))))
        return {"dst": self.tile(self.near(self.pick(
                    ((shape[0], 6), (shape[0], 2, 3)), ((shape[0], 5),)))),
                "data": self.tile(shape)}

    def bn_aggr(self) -> dict[str, Any]:
        shape = (self.random.choice((1, 4, 128)), *self.pick(
            ((3,), (6,), (4, 3), (2, 2, 3)), ((7,), (5,), (2, 2))))
        return {"dst": self.tile(self.near((shape[0], 2))),
                "data": self.tile(shape)}

    def searched(self) -> tuple[int, ...]:
        return (self.random.choice((1, 4, 128)), *self.pick(
            ((8,), (2, 64), (4096,)), ((7,), (1,), (16385,), (2, 2, 4))))

    def max8(self) -> dict[str, Any]:
        shape = self.searched()
        dst = self.pick(((shape[0], 8),), ((shape[0], 2, 4), (shape[0], 7)))
        return {"dst": self.tile(self.near(dst)),
                "src": self.tile(shape, ANY, ("sbuf",))}

    def eight(self, p: int, dtypes: Any) -> Tile:
        return self.tile(self.near(self.pick(
            ((p, 8), (p, 2, 4)), ((p, 7), (p, 2, 2, 2)))), dtypes)

    def nc_find_index8(self) -> dict[str, Any]:
        shape = self.searched()
        return {"dst": self.eight(shape[0], ("uint16", "uint32")),
                "data": self.tile(shape, ANY, ("sbuf",)),
                "vals": self.eight(shape[0], ANY)}

    def nc_match_replace8(self) -> dict[str, Any]:
        shape = self.searched()
        call = {"dst": self.tile(self.near(shape), ANY, ("sbuf",)),
                "data": self.tile(shape, ANY, ("sbuf",)),
                "vals": self.eight(shape[0], ANY),
                "imm": self.number(), "dst_idx": None}
        if self.random.random() < 0.5:
            call["dst_idx"] = self.eight(shape[0], ("uint32",))
        return call


    def activation_reduce(self) -> dict[str, Any]:
        call = self.activation()
        del call["reduce_cmd"]
        call["reduce_op"] = self.pick(("add",), ("maximum", "multiply"))
        return call

    def activate2(self) -> dict[str, Any]:
        shape = self.shape()
        ops = (("multiply", "add"), ("multiply", "subtract"),
               ("multiply", "bypass"), ("add", "bypass"),
               ("subtract", "bypass"), ("bypass", "bypass"))
        op0, op1 = self.pick(ops, (("add", "add"), ("bypass", "add"),
                                   ("maximum", "bypass"),
                                   ("multiply", "multiply")))
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op": self.random.choice((*FUNCTIONS, "prelu")),
            "imm0": self.scalar(shape[0]), "imm1": self.scalar(shape[0]),
            "op0": op0, "op1": op1, "relu_param": 0.0,
            "reverse0": op0 != "bypass" and self.random.random() < 0.3,
            "reverse1": op1 != "bypass" and self.random.random() < 0.3,
            "reduce_op": None, "reduce_res": None, "reduce_cmd": "idle",
        }
        if self.odd():
            call[self.random.choice(("reverse0", "reverse1"))] = True
        if self.random.random() < 0.2:
            call["relu_param"] = self.column(shape[0], ANY)
        if self.random.random() < 0.4:
            call["reduce_op"] = self.pick(
                ("add", "maximum", "minimum", "abs_max", "abs_min"),
                (None, "multiply", "subtract"))
            call["reduce_cmd"] = self.pick(
                ("reset", "reduce", "reset_reduce"), ("load_reduce",))
            call["reduce_res"] = self.column(shape[0], ANY)
        return call

    def unary(self, call: dict[str, Any], operand: str) -> None:
        """Once in a while an op0 of one operand."""
        if self.odd() or self.odd():
            call["op0"] = self.random.choice(ARITH_UN)
            call[operand] = self.pick((0, 0.0), (1.0, self.column(4)))

    def tensor_scalar_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        call = {
            "dst": self.tile(self.near(shape)), "data": self.tile(shape),
            "op0": self.pick(ARITH_BIN, BITVEC),
            "operand0": self.scalar(shape[0]),
            "reduce_op": self.pick(("add", "multiply", "maximum", "minimum"),
                                   ("subtract", "logical_or", "bitwise_or")),
            "reduce_res": None, "reverse0": self.odd() and self.odd(),
            "reduce_cmd": self.pick(("reset_reduce", "reduce", "load_reduce"),
                                    ("idle", "reset")),
            "reduce_init": None, "reduce_res_negate": self.odd(),
        }
        self.unary(call, "operand0")
        if self.odd():
            call["operand0"] = None
        if self.random.random() < 0.5:
            call["reduce_res"] = self.column(shape[0], ANY)
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["reduce_init"] = self.scalar(shape[0])
        return call

    def tensor_scalar_cumulative(self) -> dict[str, Any]:
        shape = self.shape()
        dtypes = ("bfloat16", "float16", "float32", "float8_e4m3",
                  "float8_e5m2", "uint8", "uint16", "int8", "int16")
        call = {
            "dst": self.tile(self.near(shape), dtypes),
            "src": self.tile(shape, dtypes),
            "op0": self.pick(ARITH_BIN, BITVEC),
            "op1": self.pick(
                ("add", "subtract", "multiply", "maximum", "minimum"),
                ("logical_or", "abs_max", "power", "bitwise_or")),
            "imm0": self.scalar(shape[0]), "imm1": None,
            "reduce_cmd": self.pick(("reset_reduce", "reduce", "load_reduce"),
                                    ("idle", "reset")),
        }
        self.unary(call, "imm0")
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["imm1"] = self.scalar(shape[0])
        return call

    def tensor_tensor_scan(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(self.near(shape)),
            "data0": self.tile(self.near(shape)),
            "data1": self.tile(self.near(shape), ANY, ("sbuf",)),
            "initial": self.scalar(shape[0]),
            "op0": self.pick(ARITH_BIN, (*ARITH_UN, *BITVEC)),
            "op1": self.pick(ARITH_BIN, (*ARITH_UN, *BITVEC)),
            "reverse0": self.odd(), "reverse1": self.odd(),
        }

    def exponential(self) -> dict[str, Any]:
        shape = self.pick((self.shape(),), ((4, 2, 1, 2, 2), (4, 1, 1, 1, 8)))
        res = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32")
        whole = ("int8", "int16", "int32", "uint8", "uint16")
        call = {
            "dst": self.tile(self.near(shape), (*res, "tfloat32", *whole)),
            "src": self.tile(shape, (*res, "uint32", *whole)),
            "max_value": self.scalar(shape[0]), "reduce_res": None,
            "reduce_cmd": self.pick(
                ("idle", "reset_reduce", "reduce", "load_reduce"), ("reset",)),
            "reduce_init": 0.0,
        }
        if self.random.random() < 0.5:
            call["reduce_res"] = self.column(shape[0], res)
        if (call["reduce_cmd"] == "load_reduce") != self.odd():
            call["reduce_init"] = self.column(shape[0])
        return call

    def tensor_partition_reduce(self) -> dict[str, Any]:
        shape = self.shape()
        bitwise = self.odd()
        dtypes = self.pick((INT,), (ANY,)) if bitwise else ANY
        return {
            "dst": self.tile(self.near((1, *shape[1:])), dtypes, ("sbuf",)),
            "op": self.random.choice(
                ("bitwise_or", "bitwise_and") if bitwise
                else ("add", "average", "maximum")),
            "data": self.tile(shape, dtypes, ("sbuf",)),
        }

    def sequence_bounds(self) -> dict[str, Any]:
        n = self.random.choice((1, 4, 9))
        dtypes = ("float32", "int32")
        return {
            "dst": self.tile(self.near((1, 2, n)), dtypes, ("sbuf",)),
            "segment_ids": self.tile(self.near((1, n)), dtypes, ("sbuf",)),
        }

    def local_gather(self) -> dict[str, Any]:
        p = self.pick((16, 32, 128), (8, 17, 100))
        each = self.pick((1, 2, 3), (256, 257))
        run = self.pick((1, 2, 4, 8, 16, 32), (0, 3, 64, -1))
        valid = self.pick((None, 16 * each, 16 * each - 5),
                          (4096, 4097, 16 * each + 1, 0))
        n = 16 * each if valid is None else valid
        dtype = self.random.choice(ANY)
        return {
            "dst": self.tile(self.near((p, max(1, n * run))), (dtype,),
                             ("sbuf",)),
            "src_buffer": self.tile((p, 40), (dtype,), ("sbuf",)),
            "index": self.tile(self.near((p, each)), ("uint16",), ("sbuf",)),
            "num_elem_per_idx": run, "num_valid_indices": valid,
        }

    def nc_n_gather(self) -> dict[str, Any]:
        shape = self.shape()
        dtype = self.random.choice(ANY)
        return {
            "dst": self.tile(self.near(shape), (dtype,), ("sbuf",)),
            "data": self.tile(self.near((shape[0], 7)), (dtype,), ("sbuf",)),
            "indices": self.tile(shape, ("uint32",), ("sbuf",)),
        }

    def nonzero_with_count(self) -> dict[str, Any]:
        p = self.random.choice((1, 16, 128))
        edges = (0, -1, 2**31 - 1, -(2**31))
        past = (2**31, -(2**31) - 1)
        return {
            "dst": self.tile(self.near((p, 9)), ("int32",), ("sbuf",)),
            "src": self.tile(self.near((p, 8)), ("int32", "float32"),
                             ("sbuf",)),
            "index_offset": self.pick(edges, past),
            "padding_val": self.pick(edges, past),
        }

    def topk(self) -> dict[str, Any]:
        p = self.pick((16, 48, 128), (1, 24))
        n = self.pick((8, 17, 42, 48), (7, 49, 65535, 65536, 0))
        k = self.pick((1, 8), (n, n + 1, 32768))
        return {
            "val_dst": self.tile(self.near((p, max(1, k))), ("bfloat16",),
                                 ("sbuf",)),
            "idx_dst": self.tile(self.near((p, max(1, k))), ("uint32",),
                                 ("sbuf",)),
            "src": self.tile((p, self.pick((3,), (2, 4096))), ("bfloat16",),
                             ("sbuf",)),
            "n": n,
        }

    def rng(self) -> dict[str, Any]:
        return {"dst": self.tile(self.shape(), INT),
                "engine": self.engine(("vector", "gpsimd"))}

    def rand2(self) -> dict[str, Any]:
        shape = self.shape()
        return {
            "dst": self.tile(shape),
            "min": self.pick((0, -1.5, self.column(shape[0])), (1.0, 2)),
            "max": self.pick((1.0, 2, self.column(shape[0])), (0, -2.0)),
        }

    def state(self) -> dict[str, Any]:
        engine = self.engine(("vector", "gpsimd"))
        words = 24 if engine == "vector" else 6
        free = self.pick(((words,),), ((30 - words,), (2, words // 2), (7,)))
        return {"tile": self.tile((self.random.choice((1, 128)), *free),
                                  ("uint32",), ("sbuf",)),
                "engine": engine}

    def rand_set_state(self) -> dict[str, Any]:
        call = self.state()
        return {"src_seeds": call.pop("tile"), **call}

    def rand_get_state(self) -> dict[str, Any]:
        call = self.state()
        return {"dst": call.pop("tile"), **call}

    def set_rng_seed(self) -> dict[str, Any]:
        return {"src_seeds": self.tile(
            self.pick(((1, 1),), ((2, 1), (1, 2), (1, 1, 1))),
            ("int32", "uint32", "float32", "tfloat32"))}

    def dropout(self) -> dict[str, Any]:
        shape = self.shape()
        data = self.tile(shape)
        return {
            "dst": self.tile(self.near(shape), (data.dtype,)), "data": data,
            "prob": self.pick(
                (0.0, 0.5, 1, self.column(shape[0])),
                (self.column(shape[0], FP), self.column(shape[0], ANY))),
        }


@dataclasses.dataclass
class Verdict:
    """A random call and what was said of it."""

    operation: str
    target: str
    call: dict[str, Any]
    names: dict[str, Any]
    fault: trnemu.Fault | None

    def __str__(self) -> str:
        said = self.fault.message if self.fault else "accepted"
        return f"{self.operation} on {self.target}: {self.call}\n  -> {said}"


# The operands that can be views of indirect().
TAKERS = {
    o.name: ("dst", next(r.operand for r in o.rules
                         if r.id == f"{o.name}.indirect_data_start"))
    for o in trnemu.operations()
    if any(r.id == f"{o.name}.indirect_data_index" for r in o.rules)
} | {
    "nc_matmul": ("dst", "stationary", "moving"),
    "nc_matmul_mx": ("dst", "stationary", "moving"),
}

# Operations that trn3 alone has.
ONLY_TRN3 = ("nc_matmul_mx", "quantize_mx", "activate2", "exponential")


def make(value: Any, b: trnemu.ProgramBuilder,
         views: dict[int, trnemu.View]) -> Any:
    if isinstance(value, list):
        return [make(v, b, views) for v in value]
    return value.make(b, views) if isinstance(value, Tile) else value


def verdicts(operation: str, calls: int = CALLS) -> Iterator[Verdict]:
    most_rules = ("nc_matmul", "nc_matmul_mx")
    calls *= 3 if operation in most_rules else 1
    # Elsewhere there is nothing but the generation to refuse.
    more = ("trn3",) * 6 if operation in ONLY_TRN3 else ()
    print(f"seed {SEED}, {calls} calls of {operation}")
    draw = Draw(SEED + NAMES.index(operation))
    builders = {(t, n): trnemu.ProgramBuilder(target=t, cores=n)
                for t in TARGETS for n in (1, 2)}
    for _ in range(calls):
        target = draw.random.choice((*TARGETS, *more))
        call = draw.call(operation)
        if draw.offsets(operation, call) and not draw.odd():
            target = "trn3"
        cores, core = draw.place(operation)
        b = builders[target, cores]
        fault = None
        with b.core(core):
            views: dict[int, trnemu.View] = {}
            made = {k: make(v, b, views) for k, v in call.items()}
            try:
                getattr(b, operation)(**made)
            except trnemu.Fault as f:
                fault = f
        names = language(call, target, resolved(operation, call))
        names |= {"lnc": cores, "core": core}
        yield Verdict(operation, target, call, names, fault)


def start_is_legal(t: Tile) -> bool:
    p = t.shape[0]
    return t.start in ((0,) if p > 64 else (0, 64) if p > 32
                       else (0, 32, 64, 96))


def parameters_broken(v: Verdict) -> set[str]:
    """The ids of broken rules of operands; from the table of parameters and
    the global constraints."""
    broken = set()
    for p in OPERATIONS[v.operation].parameters:
        value = v.call.get(p.name)
        for tile in value if isinstance(value, list) else (value,):
            if isinstance(tile, Tile):
                broken |= parameter_broken(v, p, tile)
    return broken


def parameter_broken(v: Verdict, p: trnemu.Parameter, t: Tile) -> set[str]:
    broken = set()
    if t.buffer not in p.spaces:
        broken.add("operand.buffer")
    if t.dtype not in p.dtypes:
        broken.add("operand.dtype")
    if t.how in ("vec", "scl") and SIZE[t.index.dtype] != 4:
        broken.add("operand.index_dtype")
    group = 32 if v.names["engine"] == "tensor" else 16
    part = t.shape[0] % group
    if t.how == "ti" and t.free > (part or group * t.index.shape[1]):
        broken.add("operand.index_count")
    if v.operation in (*DMA, *CORES) or t.buffer == "hbm":
        return broken
    if set(p.dtypes) != set(MXSCALE) and not start_is_legal(t):
        broken.add("operand.start_partition")
    if v.names["engine"] == "gpsimd" and t.buffer == "psum":
        broken.add("operand.gpsimd_psum")
    if v.names["engine"] in ("vector", "scalar"):
        if t.buffer == "psum" and t.free > 4096:
            broken.add("operand.psum_free_size")
    return broken


def rules(operation: str) -> list[trnemu.Rule]:
    """Those of the layers that a call is checked for."""
    return [r for r in OPERATIONS[operation].rules
            if r.layer in ("device", "backend") and r.id not in PROSE]


@pytest.mark.parametrize("operation", NAMES)
def test_the_library_refuses_what_the_texts_refuse(operation):
    texts = rules(operation)
    reported, alone = Counter(), Counter()
    for v in verdicts(operation):
        operands = parameters_broken(v)
        broken = {r.id for r in texts if not holds(r.text, v.names)}
        if v.fault is None:
            assert not broken and not operands, (broken, operands, str(v))
            continue
        id = v.fault.id
        reported[id] += 1
        if id in operands or id in PROSE or id in WIDER:
            continue
        assert id in broken, (sorted(broken), sorted(operands), str(v))
        alone[id] += len(broken | operands) == 1
    print({k: (n, alone[k]) for k, n in sorted(reported.items())})
    never = {r.id for r in texts} - set(reported)
    # Which a rule before it, or of operands, always forestalls.
    assert never <= FORESTALLED, never


FORESTALLED = {
    # operand.gpsimd_psum comes first
    "tensor_tensor.gpsimd_psum", "tensor_scalar.gpsimd_psum",
    "tensor_copy.gpsimd_psum", "memset.gpsimd_psum",
    # every drawn pattern has one to four pairs: test_rules_affine.py
    "iota.pattern_length", "affine_select.pattern_length",
    # nor one out of int32: test_edges.py
    "iota.pattern_values", "affine_select.pattern_values",
    # the texts of trn3's limits, which need tiles larger than PSUM
    "nc_matmul.moving_free_size_fp32", "nc_matmul.moving_free_size_bf16",
    # every drawn dst starts a bank: test_rules_matmul.py
    "nc_matmul.one_bank",
    # nothing but integers of 32 bits is drawn
    "tensor_scalar.bitvec_operand",
    # operand.dtype comes first
    "activate2.immediates_dtype", "tensor_scalar_cumulative.integers32",
    "tensor_scalar_cumulative.tfloat32",
    # operand.start_partition says the same of each tile
    "nc_stream_shuffle.start_partition_32",
    # operand.gpsimd_psum and rand_get_state.vector_generation come first
    "rand_get_state.sbuf",
    # the builder chooses the trigger: test_rules_cores.py
    "sendrecv.trigger",
}


def isa() -> dict[str, Any]:
    path = SPEC / "isa.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return {x["name"]: x for x in json.loads(path.read_text())
            if x["name"] in NAMES}


def static_constraints(entry: dict[str, Any]) -> list[str]:
    """Without what only a run knows."""
    dynamic = ("written(", "value_initialised")
    return [c["expr"] for c in entry["constraints"]
            if c["level"] == "reject" and "api" not in c.get("layer", "")
            and not any(d in c["expr"] for d in dynamic)]


# affine_select: of the NKI API, as isa.json says of the same rule of memset.
NOT_OF_THE_DEVICE = {"type_is_float(on_false_value)"}


@pytest.mark.parametrize("operation", NAMES)
def test_the_library_refuses_what_isa_json_refuses(operation):
    """And a call that isa.json accepts is refused only by a rule that isa.json
    does not have, of which there are these."""
    constraints = [c for c in static_constraints(isa()[operation])
                   if c not in NOT_OF_THE_DEVICE]
    extra = Counter()
    for v in verdicts(operation, 500):
        if parameters_broken(v):
            continue
        broken = [c for c in constraints if not holds(c, v.names)]
        if v.fault is None:
            assert not broken, (broken, str(v))
        elif not broken:
            extra[v.fault.id] += 1
    print(dict(extra))
    assert set(extra) <= EXTRA, set(extra) - EXTRA


# Rules that isa.json has no constraint for, with where they come from.
EXTRA = {
    # int32 steps: of isa.json's "int32 math" of iota and affine_select
    "iota.pattern_values", "affine_select.pattern_values",
    # engines: of each instruction's list of engines in isa.json
    "nc_transpose.engine", "tensor_tensor.engine", "tensor_scalar.engine",
    "tensor_copy.engine", "memset.engine",
    # isa.json: nc_matmul, undefined_behaviour
    "nc_matmul.transpose_dst_dtype",
    # isa.json: nc_transpose, notes
    "nc_transpose.tensor_integers",
    # isa.json: operand0 is "None or 0 when op0 is unary"
    "tensor_scalar.operand0_missing", "tensor_scalar.invert_operand",
    # isa.json: bitvec operand dtype unstated (integer assumed)
    "tensor_scalar.bitvec_operand",
    # trainium3_arch.rst:218
    "tensor_scalar.scalar_engine_generation",
    # abs_max and abs_min: nki.api.shared.rst:122, min_gen 4 in isa_vocab.json
    "tensor_scalar.op1_generation", "scalar_tensor_tensor.generation",
    # nki-dma-overview.rst:19, of DMA
    "tensor_copy.packed_cast",
    # isa.json: attributes of dma_copy; the contract of trigger and queues
    "dma_copy.trigger", "dma_copy.queues",
    "dma_transpose.trigger", "dma_transpose.queues",
    "dma_compute.trigger", "dma_compute.queues",
    # isa.json: src is 2-d, 3-d or 4-d
    "dma_transpose.src_rank",
    # isa.json: offset is an int32
    "iota.int32",
    # mxfp-matmul.rst:107 and 223
    "nc_matmul_mx.scale_quadrant", "quantize_mx.scale_quadrant",
    # as isa.json says of nc_matmul
    "nc_matmul_mx.tile_partitions",
    # activation, which activation_reduce becomes: __init__.py:1348, 1400, 1470
    "activation_reduce.reduce_op", "activation_reduce.scale_partitions",
    "activation_reduce.bias_shape", "activation_reduce.reciprocal_bias",
    # isa.json: operands are [P, 1]
    "activate2.relu_param_shape", "tensor_scalar_reduce.operand_shape",
    "tensor_scalar_cumulative.imm1_partitions", "exponential.reduce_init_shape",
    # isa.json: "identity(reduce_op)"
    "activate2.reduce_op_missing",
    # isa.json: "None or 0 when op0 is unary", and tensor_scalar
    "tensor_scalar_reduce.operand0_missing",
    "tensor_scalar_cumulative.unary_operand",
    # operations of trn3: release-notes/components/nki.rst:228
    "tensor_scalar_cumulative.op0_generation", "tensor_tensor_scan.generation",
    # lint: arguments that mean nothing here
    "activate2.relu_param_unused", "tensor_scalar_cumulative.imm1_unused",
    # isa.json: "allowed reduce_cmd subset unstated"; there is no value to load
    "range_select.reduce_cmd",
    # isa.json: nc_stream_shuffle, undefined_behaviour
    "nc_stream_shuffle.mask_outside_src",
    # isa.json has it, of level undefined
    "range_select.range",
    # isa.json: partition_reduce's dtypes are unstated; as tensor_reduce's
    "tensor_partition_reduce.bitvec_dtype",
    # isa.json: the shapes of operands
    "local_gather.dst_partitions", "rand2.bounds_shape",
    # isa.json: of level undefined (decisions.md: an error)
    "local_gather.dst_free_size", "rand2.range",
    # isa.json: the lists of engines
    "rng.engine", "rand_set_state.engine", "rand_get_state.engine",
    # isa.json: "on each listed core", and its list of engines
    "core_barrier.own_core", "core_barrier.engine",
    # isa.json: default_engine of sendrecv
    "sendrecv.trigger",
}

# isa.json constraints without a rule of the same text, and what holds instead.
ELSEWHERE = {
    # operand.buffer and operand.dtype, of the table of parameters
    "buf(stationary) == 'sbuf' and buf(moving) == 'sbuf'",
    "buf(dst) == 'psum'",
    "dt(stationary) in PE_IN and dt(moving) in PE_IN",
    "not engine == 'vector' or (buf(data) in ('sbuf', 'psum') and buf(dst) in "
    "('sbuf', 'psum'))",
    "buf(data) in ('sbuf', 'psum') and buf(dst) in ('sbuf', 'psum')",
    "buf(src) in ('sbuf', 'psum') and buf(dst) in ('sbuf', 'psum')",
    "buf(dst) == 'sbuf'",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf'",
    "buf(data) == 'hbm' and hbm_kind(data) == 'shared'",
    "buf(dst) == 'sbuf' and buf(on_true_tile) == 'sbuf'",
    "buf(dst) == 'sbuf' and buf(data) == 'sbuf'",
    "buf(dst) == 'sbuf' and buf(segment_ids) == 'sbuf'",
    "dt(dst) in ('float32', 'int32') and dt(segment_ids) in ('float32', "
    "'int32')",
    "dt(index) == 'uint16'",
    "buf(dst) == 'sbuf' and buf(data) == 'sbuf' and (buf(indices) == 'sbuf')",
    "dt(indices) == 'uint32'",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf'",
    "dt(src) in ('float32', 'int32') and dt(dst) == 'int32'",
    "dt(src) == 'bfloat16' and dt(val_dst) == 'bfloat16' and (dt(idx_dst) == "
    "'uint32')",
    "all((buf(x) == 'sbuf' for x in (src, val_dst, idx_dst)))",
    "dt(dst) in INT",
    "not engine == 'gpsimd' or buf(dst) == 'sbuf'",
    "dt(dst) in ('float8_e4m3', 'float8_e5m2', 'float16', 'bfloat16', "
    "'float32', 'tfloat32', 'int8', 'int16', 'int32', 'uint8', 'uint16', "
    "'uint32')",
    "buf(src_seeds) == 'sbuf'",
    "dt(src_seeds) == 'uint32'",
    "dt(dst) == 'uint32'",
    "size(dt(src_seeds)) == 4",
    "buf(src_seeds) in ('sbuf', 'psum')",
    "not (dt(data) in FP and is_tile(prob)) or dt(prob) in FP",
    # the kinds of arguments: operand.value, argument.count
    "op in ('add', 'average', 'maximum', 'bitwise_or', 'bitwise_and')",
    "op in ACT",
    "1 <= len(pattern) <= 4",
    # tile.partitions
    "P(dst) <= 128",
    # tensor_reduce.axis
    "all((a != 0 for a in (axis if type_is_seq(axis) else (axis,))))",
    # operand.buffer and operand.dtype of the MX operations
    "all((buf(x) == 'sbuf' for x in (stationary, moving, stationary_scale, "
    "moving_scale))) and buf(dst) == 'psum'",
    "dt(stationary) in X4 and dt(moving) in X4",
    "dt(stationary_scale) in MXSCALE and dt(moving_scale) in MXSCALE",
    "dt(dst) in ('float32', 'bfloat16')",
    "buf(src) == 'sbuf' and buf(dst) == 'sbuf' and (buf(dst_scale) == 'sbuf')",
    "dt(src) in F16S", "dt(dst) in ('float8_e5m2_x4', 'float8_e4m3fn_x4')",
    "dt(dst_scale) in MXSCALE",
    # perf_mode=double_row is unsupported as a whole
    "not perf_mode == 'double_row' or gen >= 3",
    "not perf_mode == 'double_row' or (dt(stationary) in FP8 and dt(moving) in "
    "FP8)",
    "not perf_mode == 'double_row' or (rank(stationary) >= 3 and rank(moving) "
    ">= 3 and (shape(stationary)[1] == 2) and (shape(moving)[1] == 2))",
    "not perf_mode == 'double_row' or (len(tile_size) == 0 or tile_size[1] == "
    "128)",
    "not perf_mode == 'double_row' or not is_transpose",
    # operand.dtype
    "dt(predicate) in ('uint8', 'uint16', 'uint32')",
    "dt(on_true_tile) in FP and dt(bound0) == 'float32' and (dt(bound1) == "
    "'float32')",
    "dt(predicate) in ('int8', 'uint8', 'int16', 'uint16')",
    "dt(on_true) not in ('tfloat32', 'int32', 'uint32')",
    # of NKI's API
    "buf(src) in ('hbm', 'sbuf') and buf(dst) in ('hbm', 'sbuf')",
}


@pytest.mark.parametrize("operation", NAMES)
def test_every_constraint_of_isa_json_has_a_rule(operation):
    texts = {r.text for r in OPERATIONS[operation].rules}
    without = [c for c in static_constraints(isa()[operation])
               if c not in texts and c not in ELSEWHERE]
    assert without == []


@pytest.mark.parametrize("operation", NAMES)
def test_every_rule_has_the_text_of_isa_json_or_is_known_not_to(operation):
    texts = {c["expr"] for c in isa()[operation]["constraints"]}
    others = {r.id for r in OPERATIONS[operation].rules
              if r.text not in texts}
    print(sorted(others))
    assert others <= EXTRA, others - EXTRA


def test_every_rule_has_what_a_report_needs():
    ids = Counter(r.id for o in trnemu.operations() for r in o.rules)
    assert [i for i, n in ids.items() if n > 1] == []
    for o in trnemu.operations():
        names = {p.name for p in o.parameters}
        for r in o.rules:
            assert r.id.startswith(o.name + ".")
            assert r.text and r.source and r.message, r.id
            assert r.operand in names, r.id
            assert r.layer in ("device", "backend", "api", "lint")
            assert r.evidence in ("documented", "observed", "inferred",
                                  "assumed")
            assert r.category in ("illegal", "unsupported", "unspecified")


@pytest.mark.parametrize("operation", NAMES)
def test_the_operands_are_those_of_isa_json(operation):
    """Memories and dtypes; "bool" is bool_ there."""
    table = {p.name: p for p in OPERATIONS[operation].parameters}
    wrong = []
    for o in isa()[operation]["operands"]:
        p = table[o["name"]]
        stated = o["dtypes"] or ANY  # None: unstated
        dtypes = {d.replace("bool_", "bool") for d in stated}
        if isinstance(stated, str):  # "same:data"
            like = stated.removeprefix("same:")
            dtypes = set(table[like if like in table else "data"].dtypes)
        if (operation, o["name"]) in OTHER_DTYPES:
            dtypes |= OTHER_DTYPES[operation, o["name"]]
        memories = set(o["buffers"])
        if operation in DMA:
            memories.add("psum")  # decisions.md; an api rule says otherwise
        if dtypes != set(p.dtypes) or memories != set(p.spaces):
            wrong.append((o["name"], dtypes ^ set(p.dtypes),
                          memories ^ set(p.spaces)))
    assert wrong == []


# Bitwise operations take integer operands, and operand_dtype says the rest.
OTHER_DTYPES = {
    ("tensor_scalar", "operand0"): {*INT, *FP},
    ("tensor_scalar", "operand1"): {*INT, *FP},
}
