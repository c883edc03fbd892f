"""What nki-library's tests import and this machine does not have.

The tests of nki-library compile on one machine, run on another and keep books;
only their arguments, references and tolerances are of interest here. Modules
for the rest are replaced by ones that hold nothing, `neuron_dtypes` by the few
functions of it that the tests call.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import pathlib
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

import ml_dtypes
import numpy as np

# Hosts, metrics, uploads, plots.
NOTHING = (
    "aws_embedded_metrics",
    "boto3",
    "botocore",
    "debugpy",
    "fabric2",
    "paramiko",
    "plotext",
)


class _Anything:
    """Stands for any class of a module that holds nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...


class _Exception(Exception):
    """Stands for any exception of such a module."""


class _Empty(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        exception = name.endswith(("Error", "Exception"))
        return _Exception if exception else _Anything


class _Finder(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Any, target: Any = None
    ) -> ModuleSpec | None:
        known = name.partition(".")[0] in NOTHING
        return ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


# Packed types as NumPy arrays: words with the type's name.
PACKED = {
    "float8_e4m3fn_x4": (np.uint32, ml_dtypes.float8_e4m3fn),
    "float8_e5m2_x4": (np.uint32, ml_dtypes.float8_e5m2),
    "float4_e2m1fn_x4": (np.uint16, ml_dtypes.float4_e2m1fn),
}
PACKED_DTYPES = {n: np.dtype([(n, w)]) for n, (w, _) in PACKED.items()}
_ALIASES = {"float8e4": "float8_e4m3", "float8e5": "float8_e5m2"}


def packed_name(dtype: Any) -> str | None:
    """The packed type that a dtype is, if it is one."""
    if isinstance(dtype, str):
        return dtype if dtype in PACKED else None
    names = getattr(dtype, "names", None)
    return names[0] if names and names[0] in PACKED else None


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """A dtype, or a name of one of the device's, as NumPy's."""
    if name := packed_name(dtype):
        return PACKED_DTYPES[name]
    if isinstance(dtype, str):
        name = _ALIASES.get(dtype, str(dtype).rpartition(".")[2])
        return np.dtype(getattr(ml_dtypes, name, name))
    return np.dtype(dtype)


def _pack(values: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    word, narrow = PACKED[name]
    bits = values.astype(narrow).view(np.uint8).astype(word)
    width = 4 if word is np.uint16 else 8
    four = bits.reshape(*values.shape[:-1], -1, 4)
    words = functools.reduce(
        np.bitwise_or, (four[..., i] << word(width * i) for i in range(4))
    )
    return np.ascontiguousarray(words).view(PACKED_DTYPES[name])


def unpacked(packed: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Four float32 for each element of a packed type."""
    name = packed_name(packed.dtype)
    assert name is not None  # the caller asked
    word, narrow = PACKED[name]
    width = 4 if word is np.uint16 else 8
    words = np.ascontiguousarray(packed).view(word)
    four = np.stack(
        [(words >> word(width * i)) & word(2**width - 1) for i in range(4)],
        axis=-1,
    )
    flat = four.astype(np.uint8).reshape(*packed.shape[:-1], -1)
    return flat.view(narrow).astype(np.float32)


def static_cast(array: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """array.astype(dtype), also to and from packed types."""
    array = np.asarray(array)
    if packed_name(array.dtype):
        array = unpacked(array)
    if name := packed_name(dtype):
        return _pack(array, name)
    return array.astype(numpy_dtype(dtype))


def is_float_type(dtype: Any) -> bool:
    found = numpy_dtype(dtype)
    return found.kind == "f" or "float" in found.name


def _neuron_dtypes(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    given = {
        "static_cast": static_cast,
        "is_float_type": is_float_type,
        "sizeinbytes": lambda d: numpy_dtype(d).itemsize,
        "finfo": lambda d: ml_dtypes.finfo(numpy_dtype(d)),
        **PACKED_DTYPES,
    }
    for key in ("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2"):
        given[key] = np.dtype(getattr(ml_dtypes, key))
    vars(module).update(given)
    return module


def _all_pairs(
    values: Sequence[Sequence[Any]],
    filter_func: Callable[[list[Any]], bool] = lambda case: True,
) -> Iterator[list[Any]]:
    """allpairspy.AllPairs, with more combinations."""
    for case in itertools.product(*values):
        if filter_func(list(case)):
            yield list(case)


# Files of the snapshot that Python does not take as they are: text in them, and
# what is put in its place.
REPAIRS = {
    "core/mlp/mlp.py": (
        '        - Standard matrix multiplication layouts\n    """\n\n'
        "        TKG mode supports:",
        "        - Standard matrix multiplication layouts\n\n"
        "        TKG mode supports:",
    ),
    "core/mlp/mlp_tkg/mlp_tkg_constants.py": (
        "            remainderI=remainderI,\n            column_tiling_dim",
        "            remainderI=remainderI,\n            remainderIFused=0,\n"
        "            column_tiling_dim",
    ),
    "core/qkv/test_qkv_tkg.py": (
        "from typing import Optional, final",
        "from typing import Optional, final\n"
        "from test.utils.common_dataclasses import Platforms",
    ),
}


class _Repaired(SourceFileLoader):
    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        for name, (old, new) in REPAIRS.items():
            if path.endswith("/" + name):
                data = data.replace(old.encode(), new.encode(), 1)
        return data


class _Repairs(MetaPathFinder):
    """Finds the files of REPAIRS."""

    def find_spec(
        self, name: str, path: Any, target: Any = None
    ) -> ModuleSpec | None:
        tail = "/".join(name.split(".")) + ".py"
        if not any(tail.endswith("/" + known) for known in REPAIRS):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Repaired(name, spec.origin)
        return spec


class Orchestrator:
    """test_orchestrator.Orchestrator; execute is the driver's."""

    def __init__(self, execute: Callable[[Any], None]) -> None:
        from test.utils.common_dataclasses import TraceMode

        self.execute = execute
        self.trace_mode = TraceMode.CompileAndInfer


def install(library: pathlib.Path) -> None:
    """Makes nki-library and its tests importable in this process."""
    sys.dont_write_bytecode = True
    for path in (library / "src", library):
        sys.path.insert(0, str(path))
    for name in [n for n in sys.modules if n.partition(".")[0] == "test"]:
        del sys.modules[name]  # Python's own
    sys.meta_path.append(_Finder())
    sys.meta_path.insert(0, _Repairs())
    for key, dtype in PACKED_DTYPES.items():
        np.sctypeDict[key] = dtype  # as NumPy finds a dtype by name
    sys.modules["neuron_dtypes"] = _neuron_dtypes("neuron_dtypes")
    importlib.import_module("neuronxcc.nki")
    for name in ("neuronxcc.starfish", "neuronxcc.starfish.support"):
        sys.modules[name] = _Empty(name)
    cast = "neuronxcc.starfish.support.dtype"
    sys.modules[cast] = _neuron_dtypes(cast)
    pairs: Any = types.ModuleType("allpairspy")
    pairs.AllPairs = _all_pairs
    sys.modules["allpairspy"] = pairs
    _move("experimental.collectives", "experimental.subkernels", "topk_reduce")
    _move("experimental.collectives", "experimental.subkernels",
          "topk_reduce_torch")
    runner: Any = types.ModuleType("test.utils.test_orchestrator")
    runner.Orchestrator = Orchestrator
    sys.modules[runner.__name__] = runner


def _move(real: str, named: str, module: str) -> None:
    """A module of the library under the name that its test has for it."""
    package = f"nkilib_src.nkilib.{named}"
    sys.modules.setdefault(package, _Empty(package))
    sys.modules[f"{package}.{module}"] = importlib.import_module(
        f"nkilib_src.nkilib.{real}.{module}"
    )


def version(library: pathlib.Path) -> str:
    """The version that the library gives itself."""
    text = (library / "src/nkilib_src/nkilib/version/__init__.py").read_text()
    found = re.search(r"__version__ = '([^']*)'", text)
    return found[1] if found else "unknown"
