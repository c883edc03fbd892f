"""The recording of a kernel that is under way.

A kernel runs as plain Python. Each nki.isa call appends an operation to a
program; tensors are geometry. Each thread has a recording of its own; the two
threads of an LNC2 kernel have one together (_lockstep.py).
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from threading import get_ident
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from trnemu import _trnemu
from trnemu._fault import fault_of
from trnemu._operations import operations
from trnemu._trnemu import Finding, View

if TYPE_CHECKING:
    from trnemu.nki._lockstep import Lockstep
    from trnemu.nki._options import Options

INDEX = {o.name: i for i, o in enumerate(operations())}
# What a trace has for each core: its open loops and no_reorder blocks.
_OF_A_CORE = ("device_loops", "while_loops", "ordered", "_before", "watched")
_TTY_AFTER = 1.0  # seconds before a long recording says how far it is

_recordings: dict[int, Trace] = {}  # by thread


def active() -> Trace | None:
    """The recording of this thread, None outside of kernels."""
    return _recordings.get(get_ident())


@contextlib.contextmanager
def recording(trace: Trace) -> Iterator[None]:
    """Makes a trace this thread's recording, in place of that under way."""
    thread = get_ident()
    before = _recordings.get(thread)
    _recordings[thread] = trace
    try:
        yield
    finally:
        if before is None:
            del _recordings[thread]
        else:
            _recordings[thread] = before


def current() -> Trace:
    """The recording of this thread. Fault (illegal, nki.outside) if there is
    none."""
    trace = _recordings.get(get_ident())
    if trace is None:
        refuse(
            "illegal",
            "nki.outside",
            "nki operations and tensors exist only while a kernel runs",
            remedy="call it from a function under @nki.jit, and launch that: "
            "kernel(arrays)",
        )
    return trace


def refuse(
    category: str,
    id: str,
    message: str,
    *,
    operation: str = "",
    operand: str = "",
    remedy: str = "",
) -> NoReturn:
    """Raises the Fault."""
    raise fault_of(
        Finding(
            category,
            id,
            message,
            operation=operation,
            operand=operand,
            remedy=remedy,
        )
    )


class Trace:
    """What a kernel has recorded so far.

    core: the builder, in C++. cores: 1, or 2 for kernel[2]. grid: whether it
    was launched with brackets. target, api ((0, 6)), precise: see Options.
    """

    def __init__(self, name: str, cores: int, grid: bool, options: Options):
        self.core = _trnemu.Builder(options.target, name, cores, True)
        self.core.become_nki(options.api >= (0, 3))
        if not options.precise_fp:
            from trnemu.nki._high_precision import HighPrecisionBuilder

            self.core = HighPrecisionBuilder(self.core, options.api >= (0, 3))
        self.name = name
        self.code: CodeType | None = None  # of the kernel's function
        self.cores = cores
        self.grid = grid
        self.options = options
        self.target = options.target
        self.api = options.api
        self.precise = options.precise_fp
        self.core_index = 0  # enter_core() changes it
        self.lockstep: Lockstep | None = None
        self.findings: list[Finding] = []
        self.device_loops = 0  # that are open
        self.while_loops: list[Any] = []  # of them, `while register:`
        self.caches: dict[Any, Any] = {}
        self.arguments: Any = None
        self.constants: dict[str, np.ndarray[Any, Any]] = {}  # by name
        self._names: dict[str, int] = {}
        self._shared: list[tuple[tuple[Any, ...], View]] = []
        self._next_shared = [0] * cores
        # For each core name= -> the instructions of that name, in order.
        self.labels: list[dict[str, list[Any]]] = [{} for _ in range(cores)]
        # Whether look() wants to see every instruction.
        self.watched = sys.stderr.isatty()
        self.ordered = 0  # nl.no_reorder blocks that are open
        self._before: Any = None  # the last instruction of such a block
        self._cores = [
            {**{n: getattr(self, n) for n in _OF_A_CORE}, "while_loops": []}
            for _ in range(cores)
        ]
        self._count = 0
        self._started = time.monotonic()
        self._said = False
        from trnemu.nki import _compat  # which imports this module

        self.tensor_class = _compat.tensor_class(self.api)
        # What nki.isa records with: core.add, or a wrapper for an older API.
        self.record = _compat.recorder(self)

    def enter_core(self, core: int) -> None:
        """The core that goes on recording; each has its own open blocks."""
        self._cores[self.core_index] = {
            name: getattr(self, name) for name in _OF_A_CORE
        }
        self.core_index = core
        self.core.select_core(core)
        for name, value in self._cores[core].items():
            setattr(self, name, value)

    def is_in_loop(self) -> bool:
        """Whether a device loop of any core is open."""
        others = [c["device_loops"] for c in self._cores]
        others[self.core_index] = self.device_loops
        return any(others)

    def add(self, operation: str, **arguments: Any) -> Any:
        """Records an operation by name."""
        handle = self.core.add(INDEX[operation], (), arguments)
        if self.watched:
            self.look(handle)
        return handle

    def unique(self, name: str) -> str:
        """The name, with a number behind it if it is taken."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else self.unique(f"{name}.{count}")

    def hbm(
        self, name: str, shape: Sequence[int], dtype: Any, shared: bool
    ) -> View:
        """A tensor in HBM. The k-th shared one of core 1 is core 0's."""
        if not shared or self.cores == 1:
            return self.core.add_tensor(
                "scratch", self.unique(name), shape, dtype
            )
        key = (tuple(shape), str(dtype), name)
        at = self._next_shared[self.core_index]
        self._next_shared[self.core_index] += 1
        if at == len(self._shared):
            view = self.core.add_tensor(
                "scratch", self.unique(name), shape, dtype
            )
            self._shared.append((key, view))
            return view
        there, view = self._shared[at]
        if there != key:
            refuse(
                "illegal",
                "nki.shared_differs",
                f"core {self.core_index} allocates {name} {tuple(shape)} "
                f"{dtype} in shared_hbm where core {1 - self.core_index} "
                f"allocates {there[2]} {there[0]} {there[1]}",
                operand=name,
                remedy="allocate the same shared_hbm tensors in the same order "
                "on both cores",
            )
        return view

    def constant(self, name: str, array: np.ndarray[Any, Any]) -> View:
        """Data that is part of the program, in HBM."""
        array = np.asarray(array, order="C")
        data = array.reshape(-1).view(np.uint8)
        name = self.unique(name)
        self.constants[name] = array
        return self.core.add_constant(name, array.shape, array.dtype, data)

    def look(self, handle: Any) -> None:
        """What is done after an instruction in no_reorder, or on a terminal."""
        if self.ordered:
            if self._before is not None and self._before.core == handle.core:
                handle.depends_on(self._before)
            self._before = handle
        self._count += 1
        if self._count % 1000 == 0:
            self.progress()

    def keep_order(self, entering: bool) -> None:
        """Enters or leaves a block whose instructions run one by one."""
        self.ordered += 1 if entering else -1
        if not self.ordered:
            self._before = None
        self.watched = bool(self.ordered) or sys.stderr.isatty()

    def progress(self, final: bool = False) -> None:
        """A line on a terminal when a recording takes long."""
        elapsed = time.monotonic() - self._started
        if elapsed < _TTY_AFTER or not sys.stderr.isatty():
            return
        if final and not self._said:
            return
        self._said = True
        count = self.core.instructions
        end = "\n" if final else "\r"
        sys.stderr.write(
            f"\r{self.name}: {count:,} instructions recorded, "
            f"{elapsed:.0f} s{end}"
        )
        sys.stderr.flush()
