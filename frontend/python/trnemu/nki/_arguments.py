"""Arguments of a launch as tensors, and what a kernel returns as arrays."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from trnemu._dtype import Dtype
from trnemu.nki._high_precision import stored, tensor_of
from trnemu.nki._object import NKIObject
from trnemu.nki._tensor import NkiTensor
from trnemu.nki._trace import Trace, refuse
from trnemu.nki.language._tokens import dtype_of, hbm


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An argument without values, for trace: a shape, and a dtype by name or
    type. `dtype` may be one that NumPy does not have (float8_e4m3fn_x4)."""

    shape: tuple[int, ...]
    dtype: Any


def is_torch(value: Any) -> bool:
    """Whether a value is a torch tensor, without importing torch."""
    kind = type(value)
    return any(c.__module__.startswith("torch") for c in kind.__mro__) and (
        hasattr(value, "detach")
    )


_AS_THEY_ARE = frozenset((int, float, bool, str, bytes, type(None)))
# How NumPy carries what it has no type for.
_CARRIERS = {
    "bfloat16": ("int16", ml_dtypes.bfloat16),
    "float8_e5m2": ("uint8", ml_dtypes.float8_e5m2),
    "float8_e4m3fn": ("uint8", ml_dtypes.float8_e4m3fn),
}


def _torch_array(name: str, tensor: Any) -> np.ndarray[Any, Any]:
    """A torch tensor as NumPy (ml_dtypes) carries it; its own memory, if that
    is the host's. TypeError for sparse ones and the like."""
    import torch

    carried = _CARRIERS.get(str(tensor.dtype).rpartition(".")[2])
    try:
        host = tensor.detach().cpu()
        if carried is not None:
            host = host.view(getattr(torch, carried[0]))
        array: np.ndarray[Any, Any] = host.numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(
            f"the argument {name}, a torch tensor of {tensor.dtype}, cannot be "
            f"an array of the host: {error}"
        ) from error
    return array if carried is None else array.view(carried[1])


def to_torch(array: np.ndarray[Any, Any]) -> Any:
    """An array as a torch tensor."""
    import torch

    array = np.ascontiguousarray(array)
    carried = _CARRIERS.get(array.dtype.name)
    if carried is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(carried[0])).view(
        getattr(torch, array.dtype.name)
    )


def fields_of(value: Any) -> dict[str, Any]:
    """The attributes of a dataclass's or NKIObject's instance; of others
    none."""
    if isinstance(value, type):
        return {}
    names: tuple[str, ...] = ()
    if dataclasses.is_dataclass(value):
        names = tuple(f.name for f in dataclasses.fields(value))
    elif not isinstance(value, NKIObject):
        return {}
    missing = object()
    found = {name: getattr(value, name, missing) for name in names}
    found.update(getattr(value, "__dict__", {}))
    return {k: v for k, v in found.items() if v is not missing}


class Arguments:
    """The tensors of one launch: what a kernel is given, and gets back.

    Arrays (NumPy, torch) anywhere in tuples, lists, dicts, dataclasses and
    NKIObjects become tensors in HBM named after the parameter; the same memory
    twice is one tensor. Everything else is passed as it is.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[Any, NkiTensor] = {}
        self._arrays: dict[int, _Given] = {}  # by number of the tensor
        self._entered = 0  # how many arrays enter() has met
        self.values: dict[str, np.ndarray[Any, Any]] = {}
        """Arrays by tensor name, for the run."""
        self.torch = False
        self.complete = True  # every tensor has values

    def enter(self, name: str, value: Any) -> Any:
        """A value as the kernel sees it."""
        if type(value) is np.ndarray:
            return self._array(name, value, value)
        if type(value) in _AS_THEY_ARE or isinstance(value, NkiTensor):
            return value
        if isinstance(value, (str, bytes)):
            return value
        if isinstance(value, TensorSpec):
            return self._specified(name, value)
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(
                f"the argument {name} is a masked array, and tensors have no "
                "masks; pass array.filled(...) or array.data"
            )
        if isinstance(value, np.ndarray):
            return self._array(name, value, value)
        if is_torch(value):
            self.torch = True
            return self._array(name, value, _torch_array(name, value))
        if isinstance(value, tuple):
            items = [self.enter(f"{name}_{i}", v) for i, v in enumerate(value)]
            named = hasattr(value, "_fields")
            return type(value)(*items) if named else tuple(items)
        if isinstance(value, list):
            return [self.enter(f"{name}_{i}", v) for i, v in enumerate(value)]
        if isinstance(value, dict):
            copied = copy.copy(value)  # a defaultdict stays one
            copied.update(
                {k: self.enter(f"{name}_{k}", v) for k, v in value.items()}
            )
            return copied
        return self._object(name, value)

    def _object(self, name: str, value: Any) -> Any:
        """An object, copied if something in it becomes a tensor."""
        before = self._entered
        fields = fields_of(value)
        entered = {k: self.enter(f"{name}_{k}", v) for k, v in fields.items()}
        if self._entered == before:
            return value
        copied = copy.copy(value)
        for key, item in entered.items():
            object.__setattr__(copied, key, item)
        return copied

    def _specified(self, name: str, spec: TensorSpec) -> NkiTensor:
        key = id(spec)
        self._entered += 1
        if key not in self._known:
            self.complete = False
            self._known[key] = self._tensor(
                name, tuple(spec.shape), dtype_of(spec.dtype)
            )[1]
        return self._known[key]

    def _array(
        self, name: str, value: Any, array: np.ndarray[Any, Any]
    ) -> NkiTensor:
        """The tensor of an array, which is `value` or the memory of it."""
        self._entered += 1
        dtype = _dtype_of_array(name, array)
        # (array.ctypes gives it too, in ten times as long.)
        start = (
            array.__array_interface__["data"][0]
            if value is array
            else value.data_ptr()
        )
        key = (start, array.shape, array.strides, array.dtype.str, str(dtype))
        if key in self._known:
            return self._known[key]
        unique, tensor = self._tensor(name, array.shape, dtype)
        self._known[key] = tensor
        self._arrays[tensor.tensor] = _Given(unique, value, array)
        kind = stored(self._trace, dtype)
        if kind != dtype:
            array = array.astype(kind.numpy)
        if array.dtype.names is not None:  # of a packed type
            array = np.ascontiguousarray(array).view(kind.numpy)
        self.values[unique] = np.ascontiguousarray(array)
        return tensor

    def _tensor(
        self, name: str, shape: tuple[int, ...], dtype: Dtype
    ) -> tuple[str, NkiTensor]:
        if not shape:
            refuse(
                "illegal",
                "nki.argument",
                f"the argument {name} is an array without dimensions",
                operand=name,
                remedy="pass a Python number, or an array of shape (1, 1)",
            )
        unique = self._trace.unique(name)
        view = self._trace.core.add_tensor(
            "inout", unique, shape, stored(self._trace, dtype)
        )
        return unique, tensor_of(self._trace, view, hbm, dtype)

    def given_as(self, tensor: NkiTensor) -> Any:
        """The array or torch tensor that a tensor is the whole of; None if it
        is a part, or not an argument."""
        given = self._arrays.get(tensor.tensor)
        if given is None or tensor.dtype != dtype_of(given.array.dtype):
            return None
        same = tensor.shape == given.array.shape and tensor.offset == 0
        return given.value if same and tensor.is_contiguous() else None

    def tensors(self) -> list[NkiTensor]:
        """The tensors of the arguments, in the order they were met."""
        return list(self._known.values())

    def written(self, names: Iterable[str]) -> list[np.ndarray[Any, Any]]:
        """The caller's memory of those that a run writes to."""
        found = set(names)
        return [g.array for g in self._arrays.values() if g.name in found]

    def check_written(self, names: Iterable[str]) -> None:
        """Refuses a launch that writes to arguments that cannot be, or that
        share memory with others: the kernel has them apart."""
        written = set(names)
        for given in self._arrays.values():
            if given.name not in written:
                continue
            writeable = given.value is not given.array or (
                given.array.flags.writeable
            )
            if not writeable:
                refuse(
                    "input",
                    "nki.read_only",
                    f"the kernel writes to its argument {given.name}, whose "
                    "array is read-only",
                    operand=given.name,
                    remedy="pass a copy: array.copy()",
                )
            for other in self._arrays.values():
                if _share(given, other):
                    refuse(
                        "input",
                        "nki.argument_overlap",
                        f"the kernel writes to its argument {given.name}, "
                        + _WHERE[given is other].format(other.name),
                        operand=given.name,
                        remedy="pass a copy of one: array.copy()",
                    )

    def memory(self, names: Iterable[str]) -> dict[str, np.ndarray[Any, Any]]:
        """The caller's arrays that a run can put these outputs into."""
        written = set(names)
        return {
            name: array
            for name, value, array in self._arrays.values()
            if name in written and value is array is self.values[name]
        }

    def write_back(self, outputs: dict[str, np.ndarray[Any, Any]]) -> None:
        """Puts what the kernel wrote to its arguments into the caller's, where
        the run has not."""
        for name, value, array in self._arrays.values():
            if name not in outputs or outputs[name] is array:
                continue
            if value is array:
                if array.dtype.names is not None:
                    array = array[array.dtype.names[0]]
                np.copyto(array, outputs[name], casting="unsafe")
            else:
                new = to_torch(outputs[name])
                value.detach().copy_(new.to(value.dtype))


class _Given(NamedTuple):
    """An argument: its tensor's name, the caller's object, and its memory (the
    same object, if it is an array)."""

    name: str
    value: Any
    array: np.ndarray[Any, Any]


_WHERE = (
    "which shares memory with {}, though they are not the same array",
    "of which elements share memory",
)


def _share(one: _Given, other: _Given) -> bool:
    """Whether two arguments have memory in common; an argument with itself:
    two of its elements."""
    if one is not other:
        return np.shares_memory(one.array, other.array, max_work=100_000)
    if one.array.flags.c_contiguous:
        return False
    extent = one.array.itemsize
    for stride, count in sorted(
        (abs(s), n)
        for s, n in zip(one.array.strides, one.array.shape, strict=True)
        if n > 1
    ):
        if stride < extent:
            return True
        extent += stride * (count - 1)
    return False


def _dtype_of_array(name: str, array: np.ndarray[Any, Any]) -> Dtype:
    try:
        return dtype_of(array.dtype)
    except TypeError:
        refuse(
            "illegal",
            "nki.argument_dtype",
            f"the argument {name} is of {array.dtype}, which the device does "
            "not have",
            operand=name,
            remedy="convert it: array.astype(numpy.float32), numpy.int32 or "
            "another dtype of nki.language",
        )
