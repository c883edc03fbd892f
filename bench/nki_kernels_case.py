"""What a row of docs/nki-kernels.md is made of; see nki_kernels.py.

A case names a kernel of a public copy, makes its arguments (with a fixed
seed), and says what must come out: the source's own reference where it has
one, else NumPy written by us.
"""

from __future__ import annotations

import pathlib
import types
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import nki_kernels_sources as sources
from nki_kernels_sources import Block, Copy

ALL = ("trn1", "trn2", "trn3")
GEN3 = ("trn2", "trn3")
GEN4 = ("trn3",)


@dataclass(frozen=True)
class Tolerance:
    """|got - expected| <= atol + rtol * |expected|, and who says so."""

    rtol: float = 0.0
    atol: float = 0.0
    origin: str = "ours: exact"

    def __str__(self) -> str:
        if not (self.rtol or self.atol):
            return f"equal ({self.origin})"
        parts = [
            f"{name} {value:g}"
            for name, value in (("rtol", self.rtol), ("atol", self.atol))
            if value
        ]
        return f"{', '.join(parts)} ({self.origin})"


EXACT = Tolerance()
BF16 = Tolerance(2.0**-8, 0.0, "ours: one rounding to bfloat16")
F32 = Tolerance(1e-6, 0.0, "ours: a few roundings in float32")


@dataclass(frozen=True)
class Refused:
    """A refusal that the documentation calls for (or leaves open). id: of the
    finding, or TypeError for an unknown keyword, with `says` in its text."""

    id: str
    because: str
    says: str = ""


@dataclass(frozen=True)
class File:
    """A function of a Python file."""

    copy: str
    path: str
    function: str

    def block(self, copy: Copy) -> Block | None:
        return None

    def where(self, copy: Copy) -> str:
        return self.path

    def load(self, copy: Copy, folder: pathlib.Path) -> types.ModuleType:
        copy.text(self.path)
        return sources.load_file(copy.root / self.path, "kernel_module")


@dataclass(frozen=True)
class Page:
    """The number-th block of a page (or docstring) that defines a kernel."""

    copy: str
    path: str
    function: str
    number: int = 0

    def block(self, copy: Copy) -> Block:
        return copy.block_defining(self.path, self.function, self.number)

    def where(self, copy: Copy) -> str:
        return f"{self.path}:{self.block(copy).line}"

    def load(self, copy: Copy, folder: pathlib.Path) -> types.ModuleType:
        text = sources.kernel_text(self.block(copy))
        return sources.load("page", text, folder, self.path)


@dataclass(frozen=True)
class Body:
    """A fragment, run as the body of a kernel of ours.

    parameters: of that kernel. before and after: lines of ours around the
    fragment. part: the comment of the fragment below which to begin.
    """

    copy: str
    path: str
    key: str
    parameters: str = ""
    before: str = ""
    after: str = ""
    part: str = ""
    until: str = ""
    function: str = "kernel"

    def block(self, copy: Copy) -> Block:
        return copy.block(self.path, self.key)

    def where(self, copy: Copy) -> str:
        return f"{self.path}:{self.block(copy).line}"

    def load(self, copy: Copy, folder: pathlib.Path) -> types.ModuleType:
        block = sources.part_of(self.block(copy), self.part, self.until)
        text = sources.body_text(
            block, self.parameters, self.before, self.after
        )
        return sources.load("body", text, folder, self.path)


@dataclass(frozen=True)
class Script:
    """A Python file, run by `python -m trnemu.nki`; it checks itself."""

    copy: str
    path: str
    arguments: tuple[str, ...] = ()
    function: str = ""

    def block(self, copy: Copy) -> Block | None:
        return None

    def where(self, copy: Copy) -> str:
        copy.text(self.path)
        return self.path


Source = File | Page | Body | Script


class Work:
    """What a case's functions see of the run under way."""

    def __init__(
        self,
        copy: Copy,
        module: types.ModuleType,
        path: str,
        target: str,
        seed: str,
    ) -> None:
        self.copy = copy
        self.module = module
        self.path = path
        self.target = target
        self.seed = zlib.crc32(seed.encode())

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def nl(self) -> Any:
        import nki.language

        return nki.language

    def beside(self, name: str) -> types.ModuleType:
        """The module `name` in the kernel's folder, with its references."""
        file = self.copy.root / pathlib.Path(self.path).parent / name
        return sources.load_file(file, file.stem)


def none(work: Work) -> tuple[()]:
    """A kernel without arguments."""
    return ()


@dataclass(frozen=True)
class Case:
    """One kernel with one set of arguments.

    reference(work, *arguments) gives what the kernel must return (a tuple for
    several); with in_place, what these arguments must hold afterwards. Without
    a reference, a kernel must run, and its own assertions hold. prints: what
    must be among what it prints. part: of the result, what is compared.
    targets may include ones on which it must be refused: `refused` has these.
    """

    name: str
    source: Source
    arguments: Callable[[Work], tuple[Any, ...]] = none
    reference: Callable[..., Any] | None = None
    tolerance: Tolerance = EXACT
    targets: tuple[str, ...] = ALL
    grid: int | None = None
    api: str = ""
    in_place: tuple[int, ...] = ()
    refused: Mapping[str, Refused] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    note: str = ""
    prints: tuple[str, ...] = ()
    prepare: Callable[[Any], Any] = lambda kernel: kernel
    part: Callable[[Any], Any] = lambda result: result

    def __post_init__(self) -> None:
        if self.reference is None and self.in_place:
            raise ValueError(f"{self.name}: in_place without a reference")


def refused(
    rule: str, because: str, *targets: str, says: str = ""
) -> dict[str, Refused]:
    """Refusals of one rule on these targets (all, unless named)."""
    return {t: Refused(rule, because, says) for t in targets or ALL}


@dataclass(frozen=True)
class Skipped:
    """A fragment that is not run, and why."""

    path: str
    key: str
    reason: str
    copy: str = "sdk"
