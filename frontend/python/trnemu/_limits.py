"""Options of a run: limits, which are numbers or None, flags and words."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np


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


def within(name: str, value: Any, of: str, most: int) -> int:
    """`value` as an int of 1 to `most`; None as 0. TypeError or ValueError
    names the argument."""
    number = whole(name, value, of)
    if number is None:
        return 0
    if not 1 <= number <= most:
        raise ValueError(f"{name} must be 1 to {most}, but it is {number}")
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


def flag(name: str, value: Any) -> bool:
    """`value` if it is a bool; TypeError names the argument."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {value!r}")


def word(name: str, value: Any) -> str:
    """`value` if it is a str; TypeError names the argument."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} must be a str, not {value!r}")
