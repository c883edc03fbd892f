"""The words that nki.isa's instructions take: engines, modes, commands.

Each member is a str, the name that trnemu's operations table takes
("vector"); `.value` is the number, or the word, that the documentation prints.
"""

from __future__ import annotations

from enum import Enum

from trnemu._targets import nc_version

__all__ = [
    "dge_mode",
    "dma_engine",
    "engine",
    "gpsimd_engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]


class _Word(str, Enum):
    """A member that is its own name.

    It equals itself and its name, and no member of another enumeration:
    engine.unknown is not dge_mode.unknown.
    """

    def __new__(cls, name: str, value: int | str) -> _Word:
        member = str.__new__(cls, name)
        member._value_ = value
        return member

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Enum):
            return self is other
        return str.__eq__(self, other) if isinstance(other, str) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        # Enum's own takes the value for a str.
        return f"{type(self).__name__}.{self.name}"


class engine(_Word):  # noqa: N801 (its name in nki.isa)
    """The engines of a NeuronCore. `unknown` leaves the choice to the
    operation's default."""

    tensor = ("tensor", 1)
    vector = ("vector", 5)
    scalar = ("scalar", 2)
    gpsimd = ("gpsimd", 3)
    dma = ("dma", 4)
    sync = ("sync", 6)
    unknown = ("unknown", 0)


tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown


class reduce_cmd(_Word):  # noqa: N801
    """What an instruction does to the accumulator registers of its engine:
    nothing, clear them, add to them, both in that order, or load a value and
    add to it."""

    idle = ("idle", 0)
    reset = ("reset", 1)
    reduce = ("reduce", 2)
    reset_reduce = ("reset_reduce", 3)
    load_reduce = ("load_reduce", 4)


class dge_mode(_Word):  # noqa: N801
    """Who makes the descriptors of a DMA: software (GpSimd), the hardware
    units, or nobody (they are in memory before the kernel starts)."""

    unknown = ("unknown", 0)
    swdge = ("swdge", 1)
    hwdge = ("hwdge", 2)
    none = ("none", 3)


class oob_mode(_Word):  # noqa: N801
    """What a dynamic index outside the tensor does: end the run, or leave that
    element out."""

    error = ("error", 0)
    skip = ("skip", 1)


class matmul_perf_mode(_Word):  # noqa: N801
    """How fast the tensor engine multiplies: one row at a time, or two rows of
    float8."""

    none = ("none", "none")
    double_row = ("double_row", "double_row")


class dma_engine(_Word):  # noqa: N801
    """Which DMA engines sendrecv uses: the core's sixteen, or GpSimd's own."""

    dma = ("dma", 1)
    gpsimd_dma = ("gpsimd_dma", 2)
