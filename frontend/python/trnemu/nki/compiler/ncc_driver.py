"""nki.compiler.ncc_driver: names of the vendor's compiler driver. Making one
raises Fault (unsupported, nki.compiler): trnemu runs kernels, it does not
compile them for a device."""

from __future__ import annotations

from typing import Any, NoReturn

from trnemu.nki._trace import refuse

__all__ = ["CompileOptions", "CompiledKernel"]


def _refuse(name: str) -> NoReturn:
    refuse(
        "unsupported",
        "nki.compiler",
        f"nki.compiler.ncc_driver.{name} compiles for a device, which trnemu "
        "does not",
        operation=name,
        remedy="call the kernel with arrays to run it, or "
        "trnemu.nki.trace(kernel, *arrays) for its program",
    )


class CompileOptions:
    """Options of a compilation. Fault (unsupported) when made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("CompileOptions")


class CompiledKernel:
    """A kernel for a device. Fault (unsupported) when made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("CompiledKernel")

    @classmethod
    def from_frontend(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """The vendor's back end. Fault (unsupported)."""
        _refuse("CompiledKernel.from_frontend")
