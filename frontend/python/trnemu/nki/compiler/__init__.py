"""nki.compiler: the names that kernels import from it.

Hints to the vendor's compiler change no result, and trnemu has no such
compiler: they are recorded on the function, hints_of() gives them, and they do
nothing else. What would decide where tiles lie, or compile, raises Fault
(unsupported, nki.compiler).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from trnemu.nki._trace import refuse

__all__ = [
    "enable_stack_allocator",
    "force_auto_alloc",
    "hints_of",
    "no_reorder",
    "psum",
    "sbuf",
    "skip_middle_end_transformations",
]

_HINTS = "_trnemu_nki_hints"
F = TypeVar("F", bound=Callable[..., Any])


def hints_of(kernel: Any) -> tuple[str, ...]:
    """The hints that a kernel or function was decorated with, the innermost
    first: "skip_middle_end_transformations", ..."""
    return getattr(kernel, _HINTS, ())


def _hint(kernel: F, hint: str) -> F:
    setattr(kernel, _HINTS, (*hints_of(kernel), hint))
    return kernel


def skip_middle_end_transformations(kernel: F) -> F:
    """A hint: the vendor's compiler leaves the kernel's instructions as they
    are written, which trnemu always does. Returns the kernel."""
    return _hint(kernel, "skip_middle_end_transformations")


def enable_stack_allocator(
    kernel: F | None = None, *, log_level: int | None = None
) -> Any:
    """A hint: the vendor's compiler allocates tiles on a stack, in the order
    of the code. trnemu allocates by live range whatever it says; which tiles
    fit may differ, values do not. With or without parentheses."""
    if kernel is None:
        return lambda given: enable_stack_allocator(given, log_level=log_level)
    level = "" if log_level is None else f"(log_level={log_level})"
    return _hint(kernel, "enable_stack_allocator" + level)


def force_auto_alloc(kernel: F) -> F:
    """A hint: the vendor's compiler allocates all tiles itself, which trnemu
    does for every tile without an address=. Returns the kernel."""
    return _hint(kernel, "force_auto_alloc")


def no_reorder() -> NoReturn:
    """A loop's directive of the API before 0.2. Fault (unsupported)."""
    refuse(
        "unsupported",
        "nki.compiler",
        "nki.compiler.no_reorder() is a loop directive of the API before 0.2, "
        "of which trnemu runs only the later one",
        operation="no_reorder",
        remedy="write `with nl.no_reorder():` around the loop's body",
    )


class _Allocator:
    """sbuf and psum: allocators of the API before 0.2. Calls raise Fault
    (unsupported)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def alloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """A placement function of the caller's. Fault (unsupported)."""
        self._refuse("alloc")

    def mod_alloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Placement round robin over a number of tiles. Fault
        (unsupported)."""
        self._refuse("mod_alloc")

    def auto_alloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Placement by the compiler. Fault (unsupported)."""
        self._refuse("auto_alloc")

    def _refuse(self, function: str) -> NoReturn:
        remedy = (
            "leave address= out"
            if function == "auto_alloc"
            else "give nl.ndarray(..., address=(partition, byte)) for each tile"
        )
        refuse(
            "unsupported",
            "nki.compiler",
            f"nki.compiler.{self._name}.{function} places tiles in the API "
            "before 0.2, of which trnemu runs only the later one",
            operation=function,
            remedy=remedy + f", buffer=nl.{self._name}",
        )

    def __repr__(self) -> str:
        return f"<nki.compiler.{self._name}>"


sbuf = _Allocator("sbuf")
psum = _Allocator("psum")
