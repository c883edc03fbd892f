"""NkiTensor, registers and dynamic slices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from trnemu import _trnemu
from trnemu.nki import _trace
from trnemu.nki._object import NKIObject
from trnemu.nki._trace import refuse
from trnemu.nki.language._tokens import MemoryRegion

ds = _trnemu.DynamicSlice

_shape_of = _trnemu.View.shape.__get__
REGIONS = tuple(MemoryRegion)
_REGION_INDEX = {region: i for i, region in enumerate(REGIONS)}


class Shape(tuple[int, ...]):
    """A tuple that equals a list of the same sizes too, as kernels of the
    documentation compare shapes (nki/deep-dives/nki-aps.rst:316)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(
            other, list
        ) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


# Methods of NumPy's arrays that are functions here.
_LIKE_NUMPY = frozenset(
    "all copy max mean min prod sum transpose var".split()
)


class NkiTensor(_trnemu.NkiView, NKIObject):
    """A tensor of a kernel, or a view of one: geometry, no data.

    Made by nl.ndarray, or from the kernel's arguments. On chip (SBUF, PSUM)
    axis 0 is the partitions. Views share the storage; what needs a copy is
    refused. Values exist when the program runs; print(), NumPy's functions and
    comparisons show what they are so far.
    """

    __slots__ = ()
    # NumPy defers to __array_ufunc__ and __array_function__ (_values.py).
    __array_priority__ = 1000

    reinterpret_cast = _trnemu.NkiView.view

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """The size of each axis."""
        return Shape(_shape_of(self))

    @property
    def address(self) -> tuple[int, int] | None:
        """(partition, byte) of the tensor's first element, where address= has
        placed it; None elsewhere."""
        return _trace.current().core.address_of(self)

    @property
    def buffer(self) -> MemoryRegion:  # type: ignore[override]
        """The memory region: nl.sbuf, nl.psum, nl.hbm or nl.shared_hbm."""
        return REGIONS[self.region]

    def rearrange(
        self,
        src_pattern: Sequence[Any],
        dst_pattern: Sequence[Any],
        fixed_sizes: dict[str, int] | None = None,
    ) -> Any:
        """The axes split, reordered and merged by name, einops-like.

        A pattern lists names, with tuples of names for an axis that is several;
        fixed_sizes: the sizes of names that the shape does not tell.
        """
        sizes = _sizes(self, src_pattern, _fixed(self, fixed_sizes or {}))
        source = [name for item in src_pattern for name in _tuple(item)]
        unused = [name for name in sizes if name not in source]
        if unused:
            refuse(
                "illegal",
                "nki.rearrange",
                f"rearrange: fixed_sizes has {unused[0]!r}, which is not in "
                f"the pattern {src_pattern}",
                operand=self.name,
            )
        target = [name for item in dst_pattern for name in _tuple(item)]
        if sorted(source) != sorted(target):
            refuse(
                "illegal",
                "nki.rearrange",
                f"rearrange: {src_pattern} and {dst_pattern} do not have the "
                "same names",
                operand=self.name,
            )
        split = self.reshape([sizes[name] for name in source])
        turned = split.permute([source.index(name) for name in target])
        return turned.reshape(
            [math.prod(sizes[n] for n in _tuple(item)) for item in dst_pattern]
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        """Copies a tensor of the same shape: tensor_copy between tiles, else
        dma_copy. Fault (illegal) for anything else.

        In the stub without a word (nki/api/nki/language/__init__.py:392), and
        what the migration guide writes (nki/migration/index.rst:1451).
        """
        if isinstance(value, NkiTensor):
            target = self[key]
            if target.shape == value.shape:
                spaces = {target.buffer.value, value.buffer.value}
                on_chip = spaces <= {"sbuf", "psum"}
                _trace.current().add(
                    "tensor_copy" if on_chip else "dma_copy",
                    dst=target,
                    src=value,
                )
                return
            given = f"a tensor of shape {value.shape}"
        else:
            given = f"a {type(value).__name__}"
        refuse(
            "illegal",
            "nki.item_assignment",
            f"{given} is assigned to part of '{self.name}' of shape "
            f"{self.shape}: only a tensor of the part's shape can be",
            operand=self.name,
            remedy="nisa.memset for a number, nisa.tensor_copy, "
            "nisa.tensor_scalar or nisa.dma_copy for the rest",
        )

    def __getattr__(self, name: str) -> Any:
        # Asked for what is not there; names of NumPy's methods are likely.
        hint = ""
        if name in _LIKE_NUMPY:
            hint = (
                f"; nl.{name}(tensor, ...) computes it on the device, "
                f"np.{name}(tensor) of the values so far"
            )
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{hint}",
            name=name,
            obj=self,
        )

    def __iter__(self) -> Any:
        return (self[i] for i in range(self.shape[0]))

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> NkiTensor:
        return self  # geometry does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> NkiTensor:
        return self


def _tuple(item: Any) -> tuple[str, ...]:
    return tuple(item) if isinstance(item, (tuple, list)) else (item,)


def _fixed(tensor: NkiTensor, given: Mapping[str, Any]) -> dict[str, int]:
    """The sizes that are given, which must be whole and positive."""
    sizes = {}
    for name, size in given.items():
        if isinstance(size, bool) or not hasattr(size, "__index__") or size < 1:
            refuse(
                "illegal",
                "nki.rearrange",
                f"rearrange: the size of {name!r} must be an int of at least "
                f"1, not {size!r}",
                operand=tensor.name,
            )
        sizes[name] = int(size)
    return sizes


def _sizes(
    tensor: NkiTensor, pattern: Sequence[Any], sizes: dict[str, int]
) -> dict[str, int]:
    """The size of each name of a pattern."""
    if len(pattern) != tensor.ndim:
        refuse(
            "illegal",
            "nki.rearrange",
            f"rearrange: the pattern {pattern} has {len(pattern)} axes, "
            f"'{tensor.name}' has {tensor.ndim}",
            operand=tensor.name,
        )
    for item, extent in zip(pattern, tensor.shape, strict=True):
        unknown = [name for name in _tuple(item) if name not in sizes]
        known = math.prod(sizes[n] for n in _tuple(item) if n in sizes)
        if len(unknown) > 1 or extent % known or (
            not unknown and known != extent
        ):
            refuse(
                "illegal",
                "nki.rearrange",
                f"rearrange: the axis {item} of size {extent} does not fit "
                f"the sizes {sizes}",
                operand=tensor.name,
            )
        for name in unknown:
            sizes[name] = extent // known
    return sizes


def make(
    view: _trnemu.View,
    region: MemoryRegion,
    kind: type[NkiTensor] = NkiTensor,
) -> NkiTensor:
    """The NkiTensor of a view; kind: of the trace's class of tensors."""
    made: NkiTensor = _trnemu.NkiView.make(kind, view, _REGION_INDEX[region])
    return made


class VirtualRegister(_trnemu.Register, NKIObject):
    """A 32-bit register of a core, whose value only a run knows.

    What takes one: ap(scalar_offset=), nl.ds, an index of a tensor, select,
    bounds of device loops, nisa.register_*, `while register:`.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        from trnemu.nki import _loops

        return _loops.test(self)

    def _unknown(self, what: str) -> NoReturn:
        refuse(
            "illegal",
            "nki.register_value",
            f"{what} of a register asks for a value that only the device knows",
            remedy="nl.fori_loop or nl.while_loop for loops, "
            "ap(scalar_offset=register) or nl.ds(register, size) for addresses",
        )

    def __int__(self) -> int:
        self._unknown("int()")

    def __index__(self) -> int:
        self._unknown("an integer use")

    def __float__(self) -> float:
        self._unknown("float()")

    def _compare(self, other: object) -> NoReturn:
        self._unknown("a comparison")

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, np.generic)):
            self._unknown("a comparison")
        return self is other

    __hash__ = object.__hash__

    def __copy__(self) -> VirtualRegister:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> VirtualRegister:
        return self

    def _arithmetic(self, *others: object) -> NoReturn:
        refuse(
            "illegal",
            "nki.register_arithmetic",
            "nki has no arithmetic on registers",
            remedy="let the loop step, nl.dynamic_range(0, 128, 32) with "
            "nl.ds(i, 32); let ap(indirect_dim=) scale the index; or compute on "
            "a tensor of one element and nisa.register_load it",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = _arithmetic
    __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _arithmetic
    __mod__ = __rmod__ = __neg__ = __invert__ = __abs__ = _arithmetic
    __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = _arithmetic
    __rand__ = __ror__ = __rxor__ = __truediv__ = __pow__ = _arithmetic


def make_register(register: _trnemu.Register) -> VirtualRegister:
    """The VirtualRegister of a builder's register."""
    made: VirtualRegister = _trnemu.make_register(VirtualRegister, register)
    return made


def register_alloc(x: int | None = None) -> VirtualRegister:
    """A new 32-bit register, with the value x if one is given.

    Reading it before it has a value is a fault of the run.
    """
    trace = _trace.current()
    if isinstance(x, VirtualRegister):
        register = make_register(trace.core.add_register(None))
        trace.add("register_move", dst=register, src=x)
        return register
    return make_register(trace.core.add_register(x))
