"""torch tensors as the arrays and names that trnemu takes, and back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

# What an operator may compute in. Everything else only passes through.
FLOAT_DTYPES = {
    torch.float32: "float32",
    torch.bfloat16: "bfloat16",
    torch.float16: "float16",
}
PASSED_DTYPES = {
    torch.bool: "bool",
    torch.uint8: "uint8",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int32",
}
DEVICE_DTYPES = FLOAT_DTYPES | PASSED_DTYPES


def dtype_name(dtype: torch.dtype) -> str:
    """ "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def describe(tensor: Any) -> str:
    """ "float32[4, 10]" for a tensor, fake or real."""
    shape = ", ".join(str(n) for n in tensor.shape)
    return f"{dtype_name(tensor.dtype)}[{shape}]"


def to_numpy(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """The values as a contiguous array; bfloat16 as ml_dtypes.bfloat16."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def from_numpy(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The reverse of to_numpy; the tensor has its own memory."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())
