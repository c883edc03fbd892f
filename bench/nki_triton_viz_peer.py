"""triton-viz's NumPy interpreter of the NKI API, without the vendor's package.

The interpreter replaces the functions of `nki.isa` and `nki.language` by its
own; of the package itself it needs the module names, four engine tokens and
the default values of some arguments. `names_only()` makes these at run time.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

# Arguments that the interpreter accepts and does not act on.
_UNUSED_TOKENS = {
    "matmul_perf_mode": "none",
    "reduce_cmd": "idle",
    "oob_mode": "error",
    "dge_mode": "unknown",
}
_ENGINES = ("unknown", "tensor", "vector", "scalar", "gpsimd")


def names_only() -> dict[str, ModuleType]:
    """Modules nki, nki.isa and nki.language with no function in them."""
    nki, isa = ModuleType("nki"), ModuleType("nki.isa")
    language = ModuleType("nki.language")
    nki.__path__ = []
    engine = enum.Enum("engine", list(_ENGINES))
    isa.engine = engine
    for name in _ENGINES[1:]:
        setattr(isa, f"{name}_engine", engine[name])
    for name, value in _UNUSED_TOKENS.items():
        setattr(isa, name, enum.Enum(name, [value]))
    isa.nc_version = enum.IntEnum(
        "nc_version", {"gen2": 2, "gen3": 3, "gen4": 4}
    )
    language.float32, language.bfloat16 = "float32", "bfloat16"
    nki.isa, nki.language = isa, language
    return {"nki": nki, "nki.isa": isa, "nki.language": language}


@contextmanager
def under_nki_names(modules: dict[str, ModuleType]) -> Iterator[None]:
    """While it lasts, `import nki` finds these modules."""
    ours = [m for m in sys.modules if m == "nki" or m.startswith("nki.")]
    before = {name: sys.modules.pop(name) for name in ours}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def load_file(path: Path, name: str) -> ModuleType:
    """The module of a kernel file, executed anew under this name."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # inspect.getsource looks there
    spec.loader.exec_module(module)
    return module


class Peer:
    """The interpreter, patched in for as long as the process lives.

    directory: a copy of triton-viz. client: "none", which is the interpreter
    and nothing else, or "tracer", its default way to run, which records what
    its viewer shows and needs the packages triton and z3-solver.
    """

    def __init__(self, directory: Path, client: str) -> None:
        if not (directory / "triton_viz").is_dir():
            raise SystemExit(f"{directory} holds no triton_viz package")
        self._client = client
        self._directory = directory
        self._modules = names_only()
        sys.dont_write_bytecode = True  # leave the copy as it is
        sys.path.insert(0, str(directory))
        version = ModuleType("triton_viz.version")  # its set-up makes it
        version.__version__ = version.git_version = "source"
        sys.modules["triton_viz.version"] = version
        with under_nki_names(self._modules):
            self._simulation = importlib.import_module(
                "triton_viz.core.simulation.nki_beta2"
            )
            if client == "none":
                self._simulation.nki_patch_lang()
            else:
                self._viz = importlib.import_module("triton_viz.core.trace")
                importlib.import_module("triton_viz.core.frontend.nki_beta2")

    def file(self, name: str) -> ModuleType:
        """The kernel file of that name among its examples."""
        path = self._directory / "examples" / "nki_beta2" / f"{name}.py"
        with under_nki_names(self._modules):
            return load_file(path, f"triton_viz_{name}")

    def kernel(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Called with arrays and numbers: interprets the kernel, in place."""
        if self._client == "none":
            return self._simulation.NKIBeta2InterpretedFunction(function).run

        def run(*args: Any) -> None:
            traced = self._viz.trace("tracer", frontend="nki_beta2")(function)
            traced.run(*args, grid=(1,), pre_trace=False)
            self._viz.clear()

        return run
