"""nki.compiler.frontend: names of the vendor's ways to read a kernel.

trnemu executes kernels as Python whichever is named; what the vendor's parser
would refuse, strict_frontend reports. The classes can be made and passed
around; compile() raises Fault (unsupported, nki.compiler).
"""

from __future__ import annotations

from typing import Any, NoReturn

from trnemu.nki._trace import refuse

__all__ = ["NKIFrontend", "ParserFrontend", "TracerFrontend"]


class NKIFrontend:
    """What reads a kernel."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.options = (args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> NoReturn:
        """The vendor's compiler. Fault (unsupported)."""
        refuse(
            "unsupported",
            "nki.compiler",
            f"{type(self).__name__}.compile runs the vendor's compiler, which "
            "trnemu does not have",
            operation="compile",
            remedy="call the kernel with arrays to run it, or "
            "trnemu.nki.trace(kernel, *arrays) for its program",
        )


class ParserFrontend(NKIFrontend):
    """Reads the kernel's syntax tree: the vendor's default."""


class TracerFrontend(NKIFrontend):
    """Executes the kernel as Python."""
