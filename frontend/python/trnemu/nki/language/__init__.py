"""nki.language: tensors, their dtypes and memories, and functions on tiles.

Names of operators (nl.add, nl.exp) are both arguments, op=nl.add, and
functions that allocate their result. Functions become the instructions that
docs/nki-language.md lists; what the device has no instruction for is refused.
"""

from trnemu.nki._loops import dynamic_range, fori_loop, while_loop
from trnemu.nki._object import NKIObject
from trnemu.nki._tensor import NkiTensor, VirtualRegister, ds
from trnemu.nki.language._control import device_print, no_reorder
from trnemu.nki.language._create import (
    affine_range,
    ndarray,
    num_programs,
    program_id,
    program_ndim,
    sequential_range,
    shared_constant,
    static_range,
)
from trnemu.nki.language._data import *  # noqa: F403
from trnemu.nki.language._elementwise import *  # noqa: F403
from trnemu.nki.language._functions import *  # noqa: F403
from trnemu.nki.language._make import *  # noqa: F403
from trnemu.nki.language._reduce import *  # noqa: F403
from trnemu.nki.language._tokens import (
    DType,
    MemoryRegion,
    average,
    bfloat16,
    bool,
    bool_,
    bypass,
    float4_e2m1fn_x4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fn_x4,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e8m0fnu,
    float16,
    float32,
    hbm,
    int8,
    int16,
    int32,
    is_hbm,
    is_on_chip,
    is_psum,
    is_sbuf,
    prelu,
    private_hbm,
    psum,
    sbuf,
    shared_hbm,
    tfloat32,
    tile_size,
    uint8,
    uint16,
    uint32,
)

range = affine_range
