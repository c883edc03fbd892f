"""Between cores, and inside a sequencer: barrier, exchange, registers.

Sources: isa.json, numerics.md 12 and 15 (9, 10, 25).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracle.types import Array, State, T
from reference import carrier

WORD = 0xFFFFFFFF


def core_barrier(
    gen: int, state: State, *, data: T, **_: Any
) -> dict[str, Array]:
    """Orders accesses; changes no value."""
    return {}


def sendrecv(
    gen: int, state: State, *, src: T, dst: T, recv_from_rank: int,
    peers: Sequence[T], **_: Any,
) -> dict[str, Array]:
    """dst = the src of recv_from_rank, bits. peers holds each rank's src as
    it was before the exchange."""
    return {"dst": peers[recv_from_rank].values.copy()}


def signed(x: int) -> int:
    """The low 32 bits as int32."""
    x &= WORD
    return x - (1 << 32) if x >> 31 else x


def _shift(x: int, by: int, left: bool) -> int:
    """Logical; an amount of 32 or more (also a negative one, which is a large
    unsigned amount) gives 0."""
    x, by = x & WORD, by & WORD
    if by >= 32:
        return 0
    return x << by if left else x >> by


ALU: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: _shift(a, b, left=True),
    "shift_right": lambda a, b: _shift(a, b, left=False),
    "min": min,
    "max": max,
    "equal": lambda a, b: int(a == b),
    "not_equal": lambda a, b: int(a != b),
    "greater_equal": lambda a, b: int(a >= b),
    "greater": lambda a, b: int(a > b),
    "less_equal": lambda a, b: int(a <= b),
    "less": lambda a, b: int(a < b),
}


def register_alu(op: str, a: int, b: int) -> int:
    """32-bit registers: signed order, results wrap; comparisons give 1, 0."""
    return signed(ALU[op](signed(a), signed(b)))


def register_load(src: T) -> int:
    """Zero- or sign-extends an integer; a float's raw bits, zero-extended."""
    value = np.ascontiguousarray(src.values.reshape(-1))
    if value.dtype.kind in "iu":
        return signed(int(value[0]))
    return signed(int(value.view(f"u{value.dtype.itemsize}")[0]))


def register_store(register: int, dst: T) -> Array:
    """The low bytes."""
    kind = carrier(dst.dtype)
    raw = (register & WORD).to_bytes(4, "little")[: kind.itemsize]
    return np.frombuffer(raw, kind).reshape(dst.values.shape).copy()


# Not in OPERATIONS: a Case is a program of one core.
SEVERAL_CORES = {"core_barrier": core_barrier, "sendrecv": sendrecv}
