"""Limits that a run is given: numbers, or None."""

from __future__ import annotations

import numbers
import operator
from typing import Any


def whole(name: str, value: Any, of: str) -> int | None:
    """`value` as an int; TypeError or ValueError names the argument."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be a whole number of {of} or None, not {value!r}"
        ) from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must be below 2**63, but it is {number}")
    return number


def real(name: str, value: Any, of: str) -> float | None:
    """`value` as a float; TypeError names the argument."""
    if value is None:
        return None
    if not isinstance(value, numbers.Real):
        raise TypeError(
            f"{name} must be a number of {of} or None, not {value!r}"
        )
    return float(value)
