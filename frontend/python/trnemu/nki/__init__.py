"""NKI kernels, run unmodified: write, run, break and profile them here.

    import numpy as np
    from trnemu import nki
    from trnemu.nki import isa as nisa, language as nl

    @nki.jit
    def double(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out, src=tile)
        return out

    print(double(np.ones((128, 512), np.float32)), double.result.summary())

A script that says `import nki` runs with `python -m trnemu.nki script.py`.
docs/nki.md is the guide.
"""

from trnemu.nki import language  # first: tensors need its words
from trnemu.nki import (
    collectives,
    compiler,
    dtype,
    experimental,
    isa,
    tensor,
    typing,
)
from trnemu.nki import _operators as _operators  # print(tensor) and the like
from trnemu.nki._arguments import TensorSpec
from trnemu.nki._kernel import (
    Kernel,
    KernelWarning,
    jit,
    simulate,
    trace,
)
from trnemu.nki._install import install
from trnemu.nki._object import NKIObject
from trnemu.nki._options import set_defaults
from trnemu.nki._tensor import NkiTensor

__all__ = [
    "Kernel",
    "KernelWarning",
    "NKIObject",
    "NkiTensor",
    "TensorSpec",
    "collectives",
    "compiler",
    "dtype",
    "experimental",
    "isa",
    "jit",
    "language",
    "set_defaults",
    "simulate",
    "tensor",
    "trace",
    "typing",
]
