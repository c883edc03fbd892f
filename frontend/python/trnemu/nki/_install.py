"""Makes `import nki` find trnemu.nki.

install() puts a finder first in sys.meta_path. Under it, nki and its modules
are the very modules of trnemu.nki, imported when they are asked for: `import
nki.isa` and `import trnemu.nki.isa` give one object.

The generation of the API before that, neuronxcc.nki, is refused with a
sentence, except neuronxcc.nki.typing, whose annotations kernels of the new
generation use too.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from trnemu._fault import Fault
from trnemu._trnemu import Finding

_PACKAGE = "trnemu.nki"
_OLD = "neuronxcc"
_OLD_NKI = "neuronxcc.nki"
_OLD_TYPING = "neuronxcc.nki.typing"


class ImportFault(Fault, ModuleNotFoundError):
    """A Fault (unsupported) about an import, which `except ImportError`
    catches."""


def path() -> str:
    """The directory that makes `import nki` find this package when it is in
    PYTHONPATH."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "_path")


def install() -> None:
    """Makes `import nki` find trnemu.nki in this process. Again does nothing.

    ImportError if another nki is imported already: its functions may be in use.
    """
    other = sys.modules.get("nki")
    if other is not None and not _is_ours(other):
        raise ImportError(
            "nki is already imported from "
            f"{getattr(other, '__file__', None) or 'somewhere else'}, so "
            "trnemu.nki cannot take its place; start the script with "
            "`python -m trnemu.nki script.py`, or call install() before the "
            "first import of nki"
        )
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def uninstall() -> None:
    """Takes back what install() did, for tests: the next `import nki` looks
    for the vendor's. trnemu.nki itself stays imported."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Finder)]
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top in ("nki", _OLD) and _is_ours(module):
            del sys.modules[name]


def _is_ours(module: ModuleType) -> bool:
    name = getattr(module, "__name__", "")
    return (
        name == _PACKAGE
        or name.startswith(_PACKAGE + ".")
        or hasattr(module, "_trnemu_stands_in")
    )


class _Finder(MetaPathFinder):
    """Knows nki, nki.* and neuronxcc.nki.*."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec of a module that this package stands in for."""
        top, _, _ = fullname.partition(".")
        if top == "nki":
            return _alias(fullname, "trnemu." + fullname)
        if top == _OLD:
            return _old(fullname)
        return None


class _Alias(Loader):
    """Loads a module under a second name: the same object."""

    def __init__(self, real: str) -> None:
        self._real = real

    def exec_module(self, module: ModuleType) -> None:
        """The import system takes from sys.modules what is there now, so that
        the module's own __spec__ and __name__ stay as they are."""
        spec = module.__spec__
        assert spec is not None
        sys.modules[spec.name] = importlib.import_module(self._real)


class _StandIn(Loader):
    """Loads neuronxcc or neuronxcc.nki: packages of nothing."""

    def exec_module(self, module: ModuleType) -> None:
        """Marks the module, and refuses what is asked of neuronxcc.nki."""
        module.__dict__["_trnemu_stands_in"] = True
        if module.__name__ == _OLD_NKI:
            module.__dict__["__getattr__"] = _old_attribute


def _alias(name: str, real: str) -> ModuleSpec:
    if importlib.util.find_spec(real) is None:
        _refuse(
            "nki.no_module",
            f"trnemu has no {name}: it runs kernels, and has of the vendor's "
            "package what kernels import",
            "use nki, nki.language, nki.isa; trnemu.nki.trace(kernel, *arrays) "
            "gives the kernel's program",
        )
    return ModuleSpec(name, _Alias(real), is_package=False)


def _old(name: str) -> ModuleSpec | None:
    if name == _OLD:
        if _found_elsewhere(name):
            return None
        return ModuleSpec(name, _StandIn(), is_package=True)
    if name == _OLD_NKI:
        return ModuleSpec(name, _StandIn(), is_package=True)
    if name == _OLD_TYPING:
        return ModuleSpec(name, _Alias(_PACKAGE + ".typing"))
    if name.startswith(_OLD_NKI + "."):
        _refuse_old(name)
    return None


def _found_elsewhere(name: str) -> bool:
    """Whether another finder has it: the vendor's compiler is installed."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(name, None)
        # Folders that are no packages have no loader.
        if spec is not None and spec.loader is not None:
            return True
    return False


def _old_attribute(name: str) -> Any:
    """__getattr__ of neuronxcc.nki."""
    if name.startswith("__"):
        raise AttributeError(name)
    _refuse_old(f"{_OLD_NKI}.{name}")


def _refuse_old(name: str) -> NoReturn:
    _refuse(
        "nki.old_generation",
        f"{name} is of the older generation of NKI, whose instructions return "
        "tiles; trnemu emulates the new API, nki, whose instructions write to "
        "dst",
        "port the kernel to `import nki`: instructions take dst=, masks become "
        "slices, nl.arange becomes slicing (the NKI migration guide)",
    )


def _refuse(id: str, message: str, remedy: str) -> NoReturn:
    raise ImportFault(
        Finding("unsupported", id, message, operand="import", remedy=remedy)
    )
