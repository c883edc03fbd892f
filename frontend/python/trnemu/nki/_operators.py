"""What Python's operators and NumPy's functions do with an NkiTensor: they see
the values so far (_values.py), or are refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from trnemu.nki import _trace
from trnemu.nki._tensor import NkiTensor, VirtualRegister
from trnemu.nki._trace import refuse
from trnemu.nki._values import (
    branches,
    check_branch,
    deep,
    describe,
    kept,
    plain,
    text_of,
    values_of,
    warn_array,
)


def _array(self: NkiTensor, dtype: Any = None, copy: Any = None) -> Any:
    """np.asarray(tensor): an array that no longer tells where it is from, so
    that a branch on it goes unseen. The kernel's own code is warned."""
    values = values_of(self)
    warn_array(self)
    if copy or dtype is not None:
        return values.astype(dtype or values.dtype)
    return values


def _array_ufunc(
    self: NkiTensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    if kwargs.get("out") is not None:
        refuse(
            "illegal",
            "nki.item_assignment",
            f"NumPy cannot write to '{self.name}': tensors are written by "
            "instructions",
            operand=self.name,
        )
    return kept(getattr(ufunc, method)(*map(plain, inputs), **kwargs))


def _array_function(
    self: NkiTensor, function: Any, types: Any, args: Any, kwargs: Any
) -> Any:
    return kept(function(*deep(args), **deep(kwargs)))


def _bool(self: NkiTensor) -> bool:
    # `if bias:` asks whether an optional operand is there: that is what the
    # device's front end makes of it, and many values have no one truth.
    if self.size > 1 and branches():
        return True
    check_branch()
    return bool((values_of(self) != 0).all())


def _equal(self: NkiTensor, other: object) -> Any:
    """Of values with an array; else of identity, as `scale == 1.0` is to the
    device's front end where scale may be a tensor."""
    if isinstance(other, np.ndarray):
        return kept(values_of(self) == plain(other))
    return self is other


def _not_equal(self: NkiTensor, other: object) -> Any:
    if isinstance(other, np.ndarray):
        return kept(values_of(self) != plain(other))
    return self is not other


def _operator(name: str, instead: str, in_place: bool = False) -> Any:
    def refused(self: NkiTensor, *others: Any) -> Any:
        arrays = [o for o in others if isinstance(o, np.ndarray)]
        if arrays and not in_place:
            ufunc = getattr(np, instead)
            return kept(ufunc(values_of(self), *map(plain, others)))
        refuse(
            "illegal",
            "nki.operator",
            f"tensors have no operator {name}",
            operand=self.name,
            remedy=f"nl.{instead}(...), or nisa.tensor_tensor and "
            "nisa.tensor_scalar",
        )

    return refused


_DEBUGGERS = ("pdb", "bdb", "code", "IPython", "pydevd", "_pydevd_bundle")


def _repr(self: NkiTensor) -> str:
    """Geometry; in a debugger with the values so far."""
    caller = sys._getframe(1).f_globals.get("__name__", "")
    if caller.partition(".")[0] in _DEBUGGERS and _trace.active() is not None:
        return text_of(self)
    return describe(self)


def _install() -> None:
    cls: Any = NkiTensor
    cls.__array__ = _array
    # As of the values that NumPy gives.
    cls.__int__ = lambda self: int(kept(values_of(self)))
    cls.__float__ = lambda self: float(kept(values_of(self)))
    cls.__array_ufunc__ = _array_ufunc
    cls.__array_function__ = _array_function
    cls.__bool__ = _bool
    cls.__eq__ = _equal
    cls.__ne__ = _not_equal
    cls.__hash__ = lambda self: id(self)
    cls.__str__ = text_of
    cls.__repr__ = _repr
    names = {
        "+": ("add", "add"),
        "-": ("sub", "subtract"),
        "*": ("mul", "multiply"),
        "/": ("truediv", "divide"),
        "**": ("pow", "power"),
        "%": ("mod", "mod"),
        "&": ("and", "bitwise_and"),
        "|": ("or", "bitwise_or"),
        "^": ("xor", "bitwise_xor"),
        "<<": ("lshift", "left_shift"),
        ">>": ("rshift", "right_shift"),
    }
    for symbol, (method, instead) in names.items():
        for prefix in ("", "r", "i"):
            refused = _operator(symbol, instead, prefix == "i")
            setattr(cls, f"__{prefix}{method}__", refused)
    for symbol, method, instead in (
        ("<", "lt", "less"),
        ("<=", "le", "less_equal"),
        (">", "gt", "greater"),
        (">=", "ge", "greater_equal"),
    ):
        setattr(cls, f"__{method}__", _operator(symbol, instead))
    cls.__neg__ = _operator("-", "negative")
    cls.__invert__ = _operator("~", "invert")
    cls.__matmul__ = _operator("@", "matmul")
    register: Any = VirtualRegister
    register.__str__ = text_of
    register.__repr__ = describe


_install()
