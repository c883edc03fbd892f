"""The language of the rules' texts, in Python: constraint_language of
isa_vocab.json, of calls whose tiles are known."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import trnemu
from rules_kit import (
    ANY, ANYX, ARITH, ARITH_BIN, ARITH_UN, BITVEC, BITVEC_BIN, CMP, FP, FP8,
    GENERATION, INT, REDUCE, SIZE, X4,
)
from test_rules_activation import FUNCTIONS

MXSCALE = ("float8_e8m0fnu", "uint8")

_names = itertools.count()


@dataclasses.dataclass(frozen=True)
class Tile:
    """What a rule may ask of a tile.

    form: "tensor" of a view made by indirect(), "vector" of rows with an index
    each, "scalar" of one dynamic offset; `index` is their index, a Tile or
    "register".
    """

    buffer: str
    shape: tuple[int, ...]
    dtype: str
    start: int = 0
    form: str = ""
    index: Any = None

    @property
    def free(self) -> int:
        return math.prod(self.shape[1:])

    def make(self, b: trnemu.ProgramBuilder, made: dict[Any, Any]) -> Any:
        """`made` keeps what several views share."""
        if not self.form:
            return self._place(b, self.shape)
        if self.index not in made:
            made[self.index] = (b.register_alloc(0)
                                if self.index == "register"
                                else self.index.make(b, made))
        index = made[self.index]
        if self.form == "tensor":
            return self._place(b, self.shape).indirect(index, self.free)
        rows = self._place(b, (self.shape[0] + 3, *self.shape[1:]))
        pattern = [[math.prod(self.shape[i + 1:]), n]
                   for i, n in enumerate(self.shape)]
        return rows.ap(pattern, **{f"{self.form}_offset": index})

    def _place(self, b: trnemu.ProgramBuilder, shape: Any) -> trnemu.View:
        if self.buffer == "hbm":
            return b.scratch(f"t{next(_names)}", shape, self.dtype)
        make = b.sbuf if self.buffer == "sbuf" else b.psum
        if self.start == 0:
            return make(shape, self.dtype)
        return make((128, *shape[1:]), self.dtype)[
            self.start : self.start + shape[0]
        ]


def has(form: str) -> Any:
    return lambda x: isinstance(x, Tile) and x.form == form


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
        "ti": has("tensor"), "vec_off": has("vector"),
        "scl_off": has("scalar"), "is_reg": lambda x: x == "register",
        "ti_idx": lambda x: x.index, "off_idx": lambda x: x.index,
        "same_index": lambda x, y: x.index is y.index,
        "indirect_dim": lambda x: 0, "PE_TI": ("float16", "bfloat16", *FP8),
        # what a run alone knows
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
    if operation == "dma_copy":
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
