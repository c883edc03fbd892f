"""Small kernels that the tests of edges share."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def ramp(*shape, dtype=np.float32):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def add(tile, amount=1.0):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=amount)


def stored(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


def body(x, amount=1.0):
    tile = nl.load(x)
    add(tile, amount)
    return stored(tile)


@nki.jit
def plus(x):
    return body(x)


def refused(kernel, *args):
    with pytest.raises(trnemu.Fault) as caught:
        kernel(*args)
    return caught.value
