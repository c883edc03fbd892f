"""Every operation again, in NumPy and ml_dtypes, from the documents alone.

A family module (vector.py, scalar.py, ...) exports OPERATIONS, operation name
-> function (types.Operation), and where the definition is not exact
TOLERANCE, name -> "1ulp". Its cases_FAMILY.py exports GENERATORS, name ->
generate(rng, gen) -> Case. Both are found by their file names.
"""

from __future__ import annotations

from collections.abc import Callable
import importlib
import pkgutil
from typing import Any

import numpy as np

from oracle.types import Case, Operation

Generator = Callable[[np.random.Generator, int], Case]

REGISTRY: dict[str, Operation] = {}
GENERATORS: dict[str, Generator] = {}
TOLERANCE: dict[str, str] = {}


def _collect(into: dict[str, Any], module: Any, name: str) -> None:
    for key, value in getattr(module, name, {}).items():
        assert key not in into, f"{key} is in two modules"
        into[key] = value


for _info in pkgutil.iter_modules(__path__):
    if _info.name in ("types", "harness"):
        continue
    _module = importlib.import_module(f"oracle.{_info.name}")
    _collect(REGISTRY, _module, "OPERATIONS")
    _collect(TOLERANCE, _module, "TOLERANCE")
    _collect(GENERATORS, _module, "GENERATORS")
