"""Programs that several test files run."""

from __future__ import annotations

import os
import pathlib

import numpy as np

import trnemu

ONES = np.ones((64, 32), np.float32)


def build_double(
    dtype: str = "float32", target: str = "trn2", inout: bool = False
) -> trnemu.Program:
    """y = x + x of a (64, 32) tensor; with inout the tensor "x" itself."""
    b = trnemu.ProgramBuilder(target=target, name="double")
    kind = b.inout if inout else b.input
    x = kind("x", (64, 32), dtype)
    y = x if inout else b.output("y", (64, 32), dtype)
    t = b.sbuf((64, 32), dtype)
    b.dma_copy(dst=t, src=x)
    b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
    b.dma_copy(dst=y, src=t)
    return b.build()


def environment() -> dict[str, str]:
    """An environment in which a child process finds this trnemu."""
    where = str(pathlib.Path(trnemu.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": where}
