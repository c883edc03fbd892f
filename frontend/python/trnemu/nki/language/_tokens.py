"""The words of nki.language: dtypes, memories, sizes, operators."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from trnemu._dtype import Dtype
from trnemu.nki import _options
from trnemu.nki._object import NKIObject

DType = Dtype
"""The type of nl.float32 and its like, for annotations."""

bool_ = Dtype("bool")
int8 = Dtype("int8")
int16 = Dtype("int16")
int32 = Dtype("int32")
uint8 = Dtype("uint8")
uint16 = Dtype("uint16")
uint32 = Dtype("uint32")
float16 = Dtype("float16")
float32 = Dtype("float32")
bfloat16 = Dtype("bfloat16")
tfloat32 = Dtype("tfloat32")
float8_e4m3 = Dtype("float8_e4m3")
float8_e4m3fn = Dtype("float8_e4m3fn")
float8_e5m2 = Dtype("float8_e5m2")
float8_e5m2_x4 = Dtype("float8_e5m2_x4")
float8_e4m3fn_x4 = Dtype("float8_e4m3fn_x4")
float8_e8m0fnu = Dtype("float8_e8m0fnu")
float4_e2m1fn_x4 = Dtype("float4_e2m1fn_x4")
bool = bool_  # nki-library's name for it

DTYPES: tuple[Dtype, ...] = (
    bool_,
    int8,
    int16,
    int32,
    uint8,
    uint16,
    uint32,
    float16,
    float32,
    bfloat16,
    tfloat32,
    float8_e4m3,
    float8_e4m3fn,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e4m3fn_x4,
    float8_e8m0fnu,
    float4_e2m1fn_x4,
)
"""Every dtype of nki.language."""

# Names that older releases, NumPy and nki-library have for them.
_ALIASES = {
    "bool_": bool_,
    "float8e4": float8_e4m3,
    "float8e5": float8_e5m2,
}
_BY_NAME = {str(d): d for d in DTYPES}
_of_numpy: dict[np.dtype[Any], Dtype] = {}  # those that were asked for


def dtype_of(given: Any) -> Dtype:
    """The dtype that `given` names: a Dtype, a name with or without a module
    ("float32", "torch.float32", "float8e4"), a NumPy, ml_dtypes or torch type,
    a NumPy dtype of one field named as a packed type, in a word of its size:
    np.dtype([("float8_e4m3fn_x4", np.uint32)]).

    Raises TypeError, with the names there are, for anything else.
    """
    if isinstance(given, Dtype):
        return given
    if isinstance(given, np.dtype) and given in _of_numpy:
        return _of_numpy[given]
    name = _name_of(given)
    found = None
    if name is not None:
        name = name.rpartition(".")[2]
        found = _BY_NAME.get(name) or _ALIASES.get(name)
    if found is None:
        raise TypeError(
            f"{given!r} is no dtype of the device; there are "
            + ", ".join(_BY_NAME)
        )
    if isinstance(given, np.dtype):
        _of_numpy[given] = found
    return found


def _name_of(given: Any) -> str | None:
    """What a type goes by, if it is one."""
    if isinstance(given, str):
        return str(given)
    if type(given).__module__ == "torch":
        return str(given)
    if not isinstance(given, (np.dtype, type)):
        return None
    try:
        found = np.dtype(given)
    except TypeError:
        return None
    return found.name if found.names is None else _packed_name(found)


def _packed_name(structure: np.dtype[Any]) -> str | None:
    """The packed type that a dtype of one field is named after."""
    assert structure.names is not None  # the caller has looked
    found = _BY_NAME.get(structure.names[0])
    if found is None or not found.endswith("_x4"):
        return None
    same = np.dtype([(str(found), found.numpy)])
    return str(found) if structure == same else None


class MemoryRegion(Enum):
    """Where a tensor lies: a core's SBUF or PSUM, HBM that one core sees, HBM
    that all cores of the launch see."""

    sbuf = "sbuf"
    psum = "psum"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"


sbuf = MemoryRegion.sbuf
psum = MemoryRegion.psum
private_hbm = MemoryRegion.private_hbm
shared_hbm = MemoryRegion.shared_hbm
hbm = private_hbm

REGIONS: tuple[MemoryRegion, ...] = (sbuf, psum, private_hbm, shared_hbm)
"""The regions by number, as NkiView.region has it."""

_REGION_NAMES = {"hbm": hbm, **{r.value: r for r in MemoryRegion}}


def region_of(buffer: Any) -> MemoryRegion:
    """The region that `buffer` is or names ("hbm" is private_hbm).

    Raises TypeError, with the regions there are, for anything else.
    """
    if isinstance(buffer, MemoryRegion):
        return buffer
    if isinstance(buffer, str) and buffer in _REGION_NAMES:
        return _REGION_NAMES[buffer]
    raise TypeError(
        f"buffer must be nl.{', nl.'.join(_REGION_NAMES)}, not {buffer!r}"
    )


def is_hbm(buffer: MemoryRegion | str) -> builtins.bool:
    """Whether `buffer` is one of the HBM regions. TypeError if it is none."""
    return region_of(buffer) in (private_hbm, shared_hbm)


def is_psum(buffer: MemoryRegion | str) -> builtins.bool:
    """Whether `buffer` is PSUM. TypeError if it is no region."""
    return region_of(buffer) is psum


def is_sbuf(buffer: MemoryRegion | str) -> builtins.bool:
    """Whether `buffer` is SBUF. TypeError if it is no region."""
    return region_of(buffer) is sbuf


def is_on_chip(buffer: MemoryRegion | str) -> builtins.bool:
    """Whether `buffer` is SBUF or PSUM. TypeError if it is no region."""
    return region_of(buffer) in (sbuf, psum)


# Usable bytes of a partition that a kernel may plan with, per generation: what
# is left beside the descriptors that software generation keeps in SBUF, so
# that it always fits. Source: leanprover/KLR, KLR/Trace.lean (the values of
# total_available_sbuf_size); the second and third are also in isa/hardware/.
_USABLE_BYTES = {"trn1": 180224, "trn2": 212984, "trn3": 245752}
# Bytes of a partition; isa/hardware/*.textproto, memory.sbuf_partition_bytes.
_PARTITION_BYTES = {"trn1": 196608, "trn2": 229376, "trn3": 262144}


class _TileSize(NKIObject):
    """Limits of tiles. Those of SBUF and PSUM are of the target in effect:
    the kernel's while one runs, else the default (trnemu.nki._options).

    Sources: nki/api/nki.language.tile_size.rst for what they are,
    nki/get-started/about/tiling-overview.rst:98 and isa/hardware/*.textproto
    for the figures, leanprover/KLR for the alignments.
    """

    pmax = 128
    """Partitions of a tile."""
    psum_fmax = 512
    """The older name of psum_bank_fmax."""
    psum_bank_fmax = 512
    """fp32 elements of a PSUM bank, per partition."""
    psum_bank_fmax_bytes = 2048
    """Bytes of a PSUM bank, per partition."""
    gemm_stationary_fmax = 128
    """Free size of the stationary operand of a matmul."""
    gemm_moving_fmax = 512
    """Free size of its moving operand that every generation takes."""
    bn_stats_fmax = 512
    """Free size of bn_stats's input."""
    psum_min_align = 4
    """What a byte address in PSUM is a multiple of."""
    sbuf_min_align = 1
    """What a byte address in SBUF is a multiple of, whatever the dtype."""

    def __init__(self) -> None:
        super().__init__()

    @property
    def psum_num_banks(self) -> int:
        """Banks of PSUM that a kernel may use: 8; 7 where the environment's
        NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE=true keeps one, from trn2 on."""
        kept = os.environ.get("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE", "")
        if kept.lower() in ("true", "1") and _target() != "trn1":
            return 7
        return 8

    @property
    def sbuf_size_bytes(self) -> int:
        """Bytes of SBUF, all partitions together."""
        return self.pmax * _PARTITION_BYTES[_target()]

    @property
    def sbuf_fmax(self) -> int:
        """fp32 elements of a partition of SBUF that a kernel may use."""
        return self.sbuf_fmax_bytes // 4

    @property
    def sbuf_fmax_bytes(self) -> int:
        """Bytes of a partition of SBUF that a kernel may use."""
        return _USABLE_BYTES[_target()]

    @property
    def total_available_sbuf_size(self) -> int:
        """The older name of sbuf_fmax_bytes: of one partition."""
        return self.sbuf_fmax_bytes

    def __repr__(self) -> str:
        return f"<nl.tile_size of {_target()}>"


def _target() -> str:
    return _options.target_in_effect()


tile_size = _TileSize()


class Op(str):
    """An operator's name that can be called.

    As an argument (op=nl.add) it is the str "add"; called, nl.add(x, y) is the
    wrapper that computes a new tile. Names that are arguments only (nl.bypass)
    raise TypeError when called.
    """

    __name__: str
    _wrapper: Callable[..., Any] | None

    def __new__(
        cls, name: str, wrapper: Callable[..., Any] | None = None
    ) -> Op:
        token = super().__new__(cls, name)
        token.__name__ = token.__qualname__ = name
        token._wrapper = wrapper
        if wrapper is not None:
            token.__dict__["__wrapped__"] = wrapper  # inspect.signature
            token.__doc__ = wrapper.__doc__
            token.__module__ = wrapper.__module__
        _OPS[name] = token
        return token

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._wrapper is None:
            raise TypeError(
                f"nl.{self} is the name of an operator, for op= of nki.isa's "
                "instructions; it cannot be called"
            )
        return self._wrapper(*args, **kwargs)

    def __repr__(self) -> str:
        return f"nl.{self}"

    # There is one of each: copying a configuration that holds one keeps it.
    def __copy__(self) -> Op:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Op:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Op], tuple[str]]:
        return _op_named, (str(self),)


_OPS: dict[str, Op] = {}


def _op_named(name: str) -> Op:
    """The operator of that name, for pickle."""
    import trnemu.nki.language  # noqa: F401 (fills _OPS)

    return _OPS[name]


def op(wrapper: Callable[..., Any]) -> Op:
    """Makes an operator of a wrapper function, under the function's name."""
    return Op(wrapper.__name__, wrapper)


bypass = Op("bypass")
average = Op("average")
prelu = Op("prelu")
