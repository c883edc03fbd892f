"""dtypes of the device, as names."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from trnemu import _trnemu

_ROWS = _trnemu.dtype_rows()
_TYPES = {
    name: np.dtype(getattr(ml_dtypes, carrier, None) or carrier)
    for name, (carrier, _) in _ROWS.items()
}


def _name_of(other: Any) -> str | None:
    """The name a NumPy, ml_dtypes or torch dtype goes by, if it is one."""
    if type(other).__module__ == "torch":
        return str(other).rpartition(".")[2]
    if isinstance(other, (np.dtype, type)):
        try:
            return np.dtype(other).name
        except TypeError:
            return None
    return None


class Dtype(str):
    """The name of a dtype, which equals the NumPy (ml_dtypes) type it names.

    `Dtype("bfloat16") == ml_dtypes.bfloat16`; `str(Dtype("float32"))` is
    "float32". Raises ValueError for a name the device does not have.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Dtype:
        if name not in _ROWS:
            raise ValueError(f"there is no dtype {name!r} on the device")
        return super().__new__(cls, name)

    @property
    def itemsize(self) -> int:
        """Bytes of one element, as stored."""
        return _ROWS[self][1]

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype that carries it: float32 for tfloat32, uint32 or
        uint16 for the packed types."""
        return _TYPES[self]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        name = _name_of(other)
        return NotImplemented if name is None else str.__eq__(self, name)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = str.__hash__
