"""NKIObject: the base of the classes that kernels take as arguments."""

from __future__ import annotations

import enum
from typing import Any


_PLAIN = (bool, int, float, str, type(None), enum.Enum)


class NKIObject:
    """The base class of a kernel's configuration objects.

    NKIObject(a=1) has the attribute a. Most classes replace __init__, by a
    dataclass or by hand; it may be mixed with Enum. A subclass that has
    annotations and no __init__ takes them in order as positional arguments
    too. What is not given is not set.

    A class whose attributes are all without annotations (`size = None`) takes
    them as a dataclass's fields, by @dataclass too: so the device's front end
    has it, where Python's dataclass would have no fields.

    Raises TypeError for a positional argument without a name to go to, and for
    one given twice.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if issubclass(cls, enum.Enum) or own.get("__annotations__"):
            return
        cls.__annotations__ = {
            name: type(value)
            for name, value in own.items()
            if not name.startswith("__") and isinstance(value, _PLAIN)
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if isinstance(self, enum.Enum):
            return  # its arguments are the member's value, already kept
        fields = _fields(type(self))
        if len(args) > len(fields):
            raise TypeError(
                f"{type(self).__name__} takes {len(fields)} positional "
                f"arguments, not {len(args)}"
            )
        given = dict(zip(fields, args, strict=False))
        for name in kwargs:
            if name in given:
                raise TypeError(
                    f"{type(self).__name__} got {name!r} twice, by position "
                    "and by name"
                )
        given.update(kwargs)
        for name, value in given.items():
            setattr(self, name, value)


def _fields(cls: type) -> list[str]:
    """The annotated names of a class and its bases, the first base first."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name in base.__dict__.get("__annotations__", {}):
            names.setdefault(name)
    return list(names)
