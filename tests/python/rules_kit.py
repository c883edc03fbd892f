"""What the rule tests share: tiles in any place, and the two verdicts.

`legal` and `refused` each take a function that adds one operation to a Bench.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trnemu

TARGETS = ("trn1", "trn2", "trn3")
GENERATION = {"trn1": 2, "trn2": 3, "trn3": 4}
# The digests of public documents, which lie beside the repository if at all.
SPEC = pathlib.Path(__file__).resolve().parents[3] / "shared/spec"

INT = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
FP8 = ("float8_e4m3", "float8_e5m2", "float8_e4m3fn")
FP = (*FP8, "float16", "bfloat16", "tfloat32", "float32")
X4 = ("float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4")
ANY = (*INT, *FP, "bool")
ANYX = (*ANY, "float8_e8m0fnu", *X4)
SIZE = {
    **dict.fromkeys(("int8", "uint8", *FP8, "bool", "float8_e8m0fnu"), 1),
    **dict.fromkeys(
        ("int16", "uint16", "float16", "bfloat16", "float4_e2m1fn_x4"), 2
    ),
    **dict.fromkeys(
        ("int32", "uint32", "tfloat32", "float32", "float8_e5m2_x4",
         "float8_e4m3fn_x4"), 4,
    ),
}

BITVEC_BIN = (
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
)
BITVEC = (*BITVEC_BIN, "invert")
CMP = ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less")
ARITH_BIN = (
    "add", "subtract", "multiply", "maximum", "minimum", *CMP, "logical_and",
    "logical_or", "logical_xor", "power", "abs_max", "abs_min",
)
ARITH_UN = ("abs", "square", "relu", "rsqrt", "reciprocal")
ARITH = (*ARITH_BIN, *ARITH_UN)
REDUCE = (
    "bitwise_and", "bitwise_or", "bitwise_xor", "add", "subtract", "multiply",
    "maximum", "minimum", "logical_and", "logical_or", "logical_xor",
)

every_target = pytest.mark.parametrize("target", TARGETS)


class Bench:
    """A builder, and tiles of it at given partitions, filled with zeros.

    A tile with a start partition is pinned behind those before it, so that
    tiles never share bytes.
    """

    def __init__(self, target: str = "trn2") -> None:
        self.target = target
        self.gen = GENERATION[target]
        self.b = trnemu.ProgramBuilder(target=target, name="rule")
        self._next = {"sbuf": 0, "psum": 0}
        self._tensors = 0

    def tile(
        self,
        buffer: str,
        p: int = 4,
        f: int | tuple[int, ...] = 8,
        dtype: str = "float32",
        start: int | None = None,
        fill: bool = True,
    ) -> trnemu.View:
        """p partitions from `start` (0 unless given) of `f` elements."""
        free = f if isinstance(f, tuple) else (f,)
        make = self.b.sbuf if buffer == "sbuf" else self.b.psum
        if start is None:
            made = make((p, *free), dtype)
        else:
            at = self._next[buffer]
            size = int(np.prod(free)) * SIZE[dtype]
            self._next[buffer] = at + (size + 2047) // 2048 * 2048
            made = make((p, *free), dtype, address=(start, at))
        if fill and dtype != "float8_e8m0fnu":
            self.zero(made)
        return made

    def sbuf(self, *args: Any, **kwargs: Any) -> trnemu.View:
        return self.tile("sbuf", *args, **kwargs)

    def psum(self, *args: Any, **kwargs: Any) -> trnemu.View:
        return self.tile("psum", *args, **kwargs)

    def zero(self, tile: trnemu.View) -> None:
        """Writes every byte, in pieces that are themselves legal."""
        flat = tile.reshape(tile.shape[0], tile.size // tile.shape[0])
        most = 4096 if tile.buffer == "psum" else 65536
        for at in range(0, flat.shape[1], most):
            try:
                self.b.memset(
                    dst=flat[:, at : at + most], value=0, engine="vector"
                )
            except trnemu.Fault:  # an illegal start: what the test is about
                return

    def input(
        self, shape: tuple[int, ...] = (4, 8), dtype: str = "float32"
    ) -> trnemu.View:
        self._tensors += 1
        return self.b.input(f"x{self._tensors}", shape, dtype)

    def output(
        self, shape: tuple[int, ...] = (4, 8), dtype: str = "float32"
    ) -> trnemu.View:
        self._tensors += 1
        return self.b.output(f"y{self._tensors}", shape, dtype)


Act = Callable[[Bench], None]


def legal(target: str, act: Act, run: bool = True) -> trnemu.Program:
    """`act` is accepted, verified without a finding, and (`run`) runs."""
    bench = Bench(target)
    act(bench)
    p = bench.b.build()
    assert [str(f) for f in p.verify()] == []
    if run:
        trnemu.run(
            p,
            {k: np.zeros(s, d.numpy) for k, (s, d) in p.inputs.items()},
            time=False,
        )
    return p


def clean(target: str, act: Act) -> None:
    """`act` is accepted, verified and run without a finding, both times."""
    p = legal(target, act, run=False)
    inputs = {k: np.zeros(s, d.numpy) for k, (s, d) in p.inputs.items()}
    assert [str(f) for f in trnemu.run(p, inputs, time=False).diagnostics] == []
    again = trnemu.Program.from_text(p.to_text())
    assert [str(f) for f in again.verify()] == []


def clean_all(target: str, *acts: Act) -> None:
    for act in acts:
        clean(target, act)


def refused(
    target: str,
    id: str,
    act: Act,
    *says: str,
    operand: str | None = None,
    category: str = "illegal",
) -> trnemu.Fault:
    """`act` is refused at the call with `id`, in a message that has `says`."""
    bench = Bench(target)
    with pytest.raises(trnemu.Fault) as info:
        act(bench)
    fault = info.value
    assert (fault.id, fault.category) == (id, category), fault.message
    for part in says:
        assert part in fault.message, (part, fault.message)
    if operand is not None:
        assert fault.operand == operand, fault.message
    assert pathlib.Path(fault.source.split(":")[0]).parent == (
        pathlib.Path(__file__).parent
    )
    assert json.loads(fault.to_json())["id"] == id
    assert "\n" not in fault.message
    return fault
