"""Every composite."""

from __future__ import annotations

from composites import (
    exp,
    mamba,
    matmul_tutorial,
    rmsnorm_quant,
    silu,
    transpose_matmul,
    vector_add,
)
from composites.case import Case

MODULES = (
    exp, vector_add, matmul_tutorial, silu, transpose_matmul, rmsnorm_quant,
    mamba,
)


def cases() -> list[Case]:
    """The cases, in the order of their modules."""
    return [case for module in MODULES for case in module.cases()]
