"""High-precision floating point: precise_fp=False, or NKI_PRECISE_FP=0.

Tensors of narrow floats (bfloat16, float16, tfloat32, the 8-bit types) are
stored as float32, so that nothing is rounded to them: what differs from the
default mode is the loss by narrow types, what differs from a reference is the
kernel's own (nki/guides/nki_simulator.rst:113). Packed types, float8_e8m0fnu
and integers are stored as they are. Decided here, since that page is silent:

*   A kernel sees the dtypes that it declares: x.dtype, nbytes and address.
*   Results are float32 arrays; an argument that is written to keeps the
    caller's dtype, to which it is rounded once, at the end.
*   What is about the bytes of a narrow float is refused as unsupported:
    view() and ap(dtype=) from or to one, and operations that do not take
    float32 (MX, double_row, some transposes). Operations are checked with
    the declared dtypes, too: what the device refuses is refused for its reason.
*   address= keeps the partition, not the byte: tiles lie apart. That one
    overwrites another, and that a kernel fits, the default mode tells.
*   Time is not simulated: it would be that of float32 instructions.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from trnemu import _trnemu
from trnemu._dtype import Dtype
from trnemu._fault import Fault, fault_of
from trnemu._trnemu import Finding, NkiView, View
from trnemu.nki import _compat, _trace
from trnemu.nki._tensor import (
    REGIONS,
    NkiTensor,
    VirtualRegister,
    make,
    make_register,
)
from trnemu.nki._trace import Trace, refuse
from trnemu.nki.language._tokens import (
    MemoryRegion,
    bfloat16,
    dtype_of,
    float8_e4m3,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    psum,
    tfloat32,
)

NARROW: tuple[Dtype, ...] = (
    bfloat16,
    float16,
    tfloat32,
    float8_e4m3,
    float8_e4m3fn,
    float8_e5m2,
)
"""What is stored as float32."""

_FOUR_BYTES = (float32, tfloat32)
_ID = "nki.precise_fp"
_REMEDY = "run the kernel with precise_fp=True (NKI_PRECISE_FP=1), the default"


def stored(trace: Trace, dtype: Dtype) -> Dtype:
    """What a tensor of `dtype` is stored as."""
    return dtype if trace.precise or dtype not in NARROW else float32


def stored_dtype(tensor: View) -> Dtype:
    """What the elements of a tensor are in the program."""
    return View.dtype.__get__(tensor)


class HighPrecisionTensor(NkiTensor):
    """An NkiTensor in this mode. There is a subclass for each narrow dtype
    (_class), so that views of a tensor, which are of its class, keep it."""

    __slots__ = ()

    declared: ClassVar[Dtype | None] = None
    """The narrow dtype, None for what is stored as it is."""
    default: ClassVar[type[NkiTensor]] = NkiTensor
    """What tensors are in the default mode."""

    @property
    def dtype(self) -> Dtype:
        """What the kernel has declared."""
        return self.declared or stored_dtype(self)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements it shows, in the declared dtype."""
        return self.size * self.dtype.itemsize

    @property
    def address(self) -> tuple[int, int] | None:
        """(partition, byte) that address= asks for; None without."""
        byte = _trace.current().caches.get(("address", self.tensor))
        if byte is None:
            return None
        partition, element = divmod(self.offset, self.strides[0])
        return partition, byte + element * self.dtype.itemsize

    def view(self, dtype: Any) -> Any:
        """The same bytes as another dtype; not from or to a narrow float."""
        wanted = dtype_of(dtype)
        kind = _reinterpreted(self, wanted)
        if kind is None:
            return super().view(wanted)
        return NkiView.make(kind, self[...], self.region)

    def reinterpret_cast(self, dtype: Any) -> Any:
        """view()."""
        return self.view(dtype)

    def ap(
        self,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: Any = None,
    ) -> Any:
        """As NkiTensor.ap; dtype= not from or to a narrow float."""
        rest = (pattern, offset, scalar_offset, vector_offset, indirect_dim)
        if dtype is None:
            return super().ap(*rest)
        wanted = dtype_of(dtype)
        kind = _reinterpreted(self, wanted)
        if kind is None:
            return super().ap(*rest, wanted)
        return NkiView.make(kind, super().ap(*rest)[...], self.region)


@functools.cache
def _class(
    default: type[NkiTensor], dtype: Dtype
) -> type[HighPrecisionTensor]:
    """What tensors of a declared dtype are that are `default` otherwise."""
    bases: tuple[type, ...] = (HighPrecisionTensor,)
    if default is not NkiTensor:
        bases = (_compat.Older, HighPrecisionTensor)
    members = {
        "__slots__": (),
        "declared": dtype if dtype in NARROW else None,
        "default": default,
    }
    return type("HighPrecisionTensor", bases, members)


def _reinterpreted(
    tensor: HighPrecisionTensor, wanted: Dtype
) -> type[HighPrecisionTensor] | None:
    """The class of the tensor seen as `wanted`, None if bytes are to be read
    as another dtype. Fault (unsupported) for those of a narrow float."""
    have = tensor.dtype
    if have == wanted:
        return type(tensor)
    if have in _FOUR_BYTES and wanted in _FOUR_BYTES:
        return _class(tensor.default, wanted)
    if have in NARROW or wanted in NARROW:
        refuse(
            "unsupported",
            _ID,
            f"'{tensor.name}' of {have} is viewed as {wanted}, but with "
            f"precise_fp=False {have if have in NARROW else wanted} is stored "
            "as float32, which has other bytes",
            operand=tensor.name,
            remedy=_REMEDY,
        )
    return None


def tensor_of(
    trace: Trace, view: View, region: MemoryRegion, dtype: Dtype
) -> NkiTensor:
    """The NkiTensor of a view that the kernel declares as `dtype`."""
    if trace.precise:
        return make(view, region, trace.tensor_class)
    made: NkiTensor = NkiView.make(
        _class(trace.tensor_class, dtype), view, REGIONS.index(region)
    )
    return made


def tile(
    trace: Trace,
    region: MemoryRegion,
    shape: Sequence[int],
    dtype: Dtype,
    name: str,
    address: Sequence[int] | None,
) -> NkiTensor:
    """A tile in this mode; of its address it has the partition."""
    kind = stored(trace, dtype)
    if address is None:
        view = trace.core.add_tile(region is psum, shape, kind, name, None)
        return tensor_of(trace, view, region, dtype)
    # Made where it is asked for, in a builder of its own, for the rules.
    rules = _trnemu.Builder(trace.target, trace.name, 1, True)
    rules.add_tile(region is psum, shape, dtype, name, address)
    partition, byte = address
    whole = trace.core.add_tile(
        region is psum, (partition + shape[0], *shape[1:]), kind, name, None
    )
    made = tensor_of(trace, whole, region, dtype)
    trace.caches["address", made.tensor] = byte
    part: NkiTensor = made[partition:]
    return part


class HighPrecisionBuilder:
    """The builder of a trace in this mode, which tells a fault of the kernel
    from one that only float32 has."""

    def __init__(self, core: Any, nki: bool) -> None:
        self._core = core
        # Has the same operations, on the declared dtypes.
        self._device = _trnemu.Builder(core.target, core.name, core.cores, True)
        self._device.become_nki(nki)
        self._twins = _Twins(core, self._device)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def select_core(self, core: int) -> None:
        """Builder.select_core."""
        self._core.select_core(core)
        self._device.select_core(core)

    def add(self, index: int, args: Any, kwargs: dict[str, Any]) -> Any:
        """Builder.add. Fault (unsupported) for an operation that the device
        takes with the declared dtypes, and not with float32."""
        narrow = _narrow([*args, *kwargs.values()])
        if narrow:
            self._check(index, args, kwargs)
        try:
            return self._core.add(index, args, kwargs)
        except Fault as fault:
            if not narrow:
                raise
            _refuse_as(
                fault,
                "unsupported",
                _ID,
                f"{fault.message}; with precise_fp=False {narrow} is stored "
                "as float32",
                _REMEDY,
            )

    def _check(self, index: int, args: Any, kwargs: dict[str, Any]) -> None:
        """Raises what the device has against the operation, if anything."""
        try:
            arguments = [self._twins.of(a) for a in args]
            keywords = {k: self._twins.of(v) for k, v in kwargs.items()}
        except (Fault, TypeError):
            return  # a view that only a run knows
        self._device.add(index, tuple(arguments), keywords)

    def build(self) -> Any:
        """Builder.build; a fault of capacity says what doubles the tiles."""
        try:
            return self._core.build()
        except Fault as fault:
            if fault.category != "capacity":
                raise
            _refuse_as(
                fault,
                fault.category,
                fault.id,
                f"{fault.message}; with precise_fp=False narrow floats take 4 "
                "bytes",
                f"{_REMEDY}, which tells whether it fits; {fault.remedy}",
            )


class _Twins:
    """Operands as a builder has them that stores narrow floats as such."""

    def __init__(self, core: Any, device: Any) -> None:
        self._core = core
        self._device = device
        self._tensors: dict[tuple[int, Dtype], View] = {}
        self._register = make_register(device.add_register(0))

    def of(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.of, value))
        if isinstance(value, VirtualRegister):
            return self._register
        if not isinstance(value, NkiTensor):
            return value
        if value.is_indirect():
            raise TypeError("no twin")
        whole = self._whole(value)
        twin = NkiView.make(NkiTensor, whole, value.region)
        return twin.ap(value.get_pattern(), value.offset)

    def _whole(self, tensor: NkiTensor) -> View:
        key = (tensor.tensor, tensor.dtype)
        if key in self._tensors:
            return self._tensors[key]
        if tensor.buffer.value in ("sbuf", "psum"):
            row = tensor.strides[0]
            shape = (tensor.storage_size // row, row)
            made = self._device.add_tile(
                tensor.buffer is psum, shape, tensor.dtype, tensor.name, None
            )
        else:
            kind = self._core.kind_of(tensor)
            made = self._device.add_tensor(
                "input" if kind == "constant" else "inout",
                f"{tensor.name}.{len(self._tensors)}",
                (tensor.storage_size,),
                tensor.dtype,
            )
        self._tensors[key] = made
        return made


def _narrow(values: list[Any]) -> str:
    """The narrow dtypes of an operation's operands."""
    found: dict[Dtype, None] = {}
    for value in values:
        if isinstance(value, (list, tuple)):
            found.update(dict.fromkeys(_narrow(list(value)).split(" and ")))
        elif isinstance(value, HighPrecisionTensor) and value.declared:
            found[value.declared] = None
    return " and ".join(str(f) for f in found if f)


def _refuse_as(
    fault: Fault, category: str, id: str, message: str, remedy: str
) -> NoReturn:
    """Raises a fault like another, which says something else."""
    state = json.loads(fault.to_json())
    state.update(category=category, id=id, message=message, remedy=remedy)
    finding = Finding.__new__(Finding)
    finding.__setstate__(json.dumps(state))
    raise fault_of(finding) from None
