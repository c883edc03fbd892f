"""Arguments of a launch as tensors, and what a kernel returns as arrays."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

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


def _torch_array(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of a torch tensor, as NumPy (ml_dtypes) carries them."""
    import torch

    tensor = tensor.detach().cpu().contiguous()
    carriers = {
        "torch.bfloat16": (torch.int16, ml_dtypes.bfloat16),
        "torch.float8_e5m2": (torch.uint8, ml_dtypes.float8_e5m2),
        "torch.float8_e4m3fn": (torch.uint8, ml_dtypes.float8_e4m3fn),
    }
    found = carriers.get(str(tensor.dtype))
    if found is None:
        array: np.ndarray[Any, Any] = tensor.numpy()
        return array
    return tensor.view(found[0]).numpy().view(found[1])


def _to_torch(array: np.ndarray[Any, Any]) -> Any:
    import torch

    array = np.ascontiguousarray(array)
    names = {
        "bfloat16": torch.bfloat16,
        "float8_e5m2": torch.float8_e5m2,
        "float8_e4m3fn": torch.float8_e4m3fn,
    }
    wanted = names.get(array.dtype.name)
    if wanted is None:
        return torch.from_numpy(array)
    width = np.uint8 if array.dtype.itemsize == 1 else np.int16
    return torch.from_numpy(array.view(width)).view(wanted)


class Arguments:
    """The tensors of one launch: what a kernel is given, and gets back.

    Arrays (NumPy, torch) anywhere in tuples, lists, dicts and NKIObjects become
    tensors in HBM named after the parameter; the same array twice is one
    tensor. Everything else is passed as it is.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._tensors: dict[int, tuple[Any, NkiTensor]] = {}
        self._by_tensor: dict[int, tuple[str, Any]] = {}
        self._given: dict[str, tuple[Any, np.ndarray[Any, Any] | None]] = {}
        self.torch = False
        self.complete = True  # every tensor has values

    def enter(self, name: str, value: Any) -> Any:
        """A value as the kernel sees it."""
        if isinstance(value, (NkiTensor, str, bytes)) or value is None:
            return value
        if isinstance(value, np.ndarray) or isinstance(value, TensorSpec):
            return self._tensor(name, value)
        if is_torch(value):
            self.torch = True
            return self._tensor(name, value)
        if isinstance(value, tuple):
            items = [self.enter(f"{name}_{i}", v) for i, v in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(
                items
            )
        if isinstance(value, list):
            return [self.enter(f"{name}_{i}", v) for i, v in enumerate(value)]
        if isinstance(value, dict):
            return {k: self.enter(f"{name}_{k}", v) for k, v in value.items()}
        if isinstance(value, NKIObject) or dataclasses.is_dataclass(value):
            return self._object(name, value)
        return value

    def _object(self, name: str, value: Any) -> Any:
        """An object, copied if something in it becomes a tensor."""
        fields = getattr(value, "__dict__", {})
        entered = {k: self.enter(f"{name}_{k}", v) for k, v in fields.items()}
        if all(entered[k] is fields[k] or not _holds(fields[k]) for k in fields):
            return value
        copied = copy.copy(value)
        for key, item in entered.items():
            object.__setattr__(copied, key, item)
        return copied

    def _tensor(self, name: str, value: Any) -> NkiTensor:
        known = self._tensors.get(id(value))
        if known is not None:
            return known[1]
        array: np.ndarray[Any, Any] | None = None
        if isinstance(value, TensorSpec):
            self.complete = False
            shape, dtype = tuple(value.shape), dtype_of(value.dtype)
        else:
            array = _torch_array(value) if is_torch(value) else value
            shape, dtype = array.shape, _dtype_of_array(name, array)
        if not shape:
            refuse(
                "illegal",
                "nki.argument",
                f"the argument {name} is an array without dimensions",
                operand=name,
                remedy="pass a Python number, or an array of shape (1, 1)",
            )
        unique = self._trace.unique(name)
        kind = stored(self._trace, dtype)
        view = self._trace.core.add_tensor("inout", unique, shape, kind)
        tensor = tensor_of(self._trace, view, hbm, dtype)
        self._tensors[id(value)] = (value, tensor)
        self._by_tensor[tensor.tensor] = (unique, value)
        if array is not None:
            array = array.astype(kind.numpy) if kind != dtype else array
            self._given[unique] = (value, array)
        return tensor

    @property
    def values(self) -> dict[str, np.ndarray[Any, Any]]:
        """Arrays by tensor name, for the run."""
        return {
            name: np.ascontiguousarray(array)
            for name, (_, array) in self._given.items()
            if array is not None
        }

    def leave(
        self,
        result: Any,
        outputs: dict[str, np.ndarray[Any, Any]],
        read: Callable[[NkiTensor], np.ndarray[Any, Any]],
    ) -> Any:
        """What the kernel returned, with arrays for tensors."""
        if isinstance(result, NkiTensor):
            known = self._by_tensor.get(result.tensor)
            whole = known is not None and result.shape == np.shape(known[1])
            if known is not None and whole and known[0] not in outputs:
                return known[1]  # an argument that the kernel does not write
            array = read(result)
            return _to_torch(array) if self.torch else array
        if isinstance(result, tuple):
            items = [self.leave(r, outputs, read) for r in result]
            return type(result)(*items) if hasattr(
                result, "_fields"
            ) else tuple(items)
        if isinstance(result, list):
            return [self.leave(r, outputs, read) for r in result]
        if isinstance(result, dict):
            return {k: self.leave(r, outputs, read) for k, r in result.items()}
        return result

    def write_back(self, outputs: dict[str, np.ndarray[Any, Any]]) -> None:
        """Puts what the kernel wrote to its arguments into the caller's."""
        for name, (value, array) in self._given.items():
            if name not in outputs or array is None:
                continue
            new = outputs[name]
            if is_torch(value):
                value.detach().copy_(_to_torch(new).to(value.dtype))
                continue
            if not value.flags.writeable:
                refuse(
                    "input",
                    "nki.read_only",
                    f"the kernel writes to its argument {name}, whose array is "
                    "read-only",
                    operand=name,
                    remedy="pass a copy: array.copy()",
                )
            value[...] = new.astype(value.dtype)


def _holds(value: Any) -> bool:
    """Whether there can be an array in it."""
    return isinstance(
        value, (np.ndarray, TensorSpec, tuple, list, dict, NKIObject)
    ) or is_torch(value)


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
