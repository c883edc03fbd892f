"""Values while a kernel is recorded: print(tile), comparison, breakpoints.

A tensor is geometry; to show what is in it the program so far is built with
one more instruction, which copies the tensor out, and run. What the kernel
does not use may be read, so unwritten elements show as "--", and no finding
about them is raised here: the launch reports what the kernel itself reads.

Values are those of this run. A kernel that branches on them is refused, since
the device cannot; one that reads them as numbers, or as an array of NumPy's
own, is warned about.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

from trnemu._debug import debug
from trnemu._fault import Fault
from trnemu.nki import _loops, _trace
from trnemu.nki._high_precision import stored_dtype
from trnemu.nki._tensor import NkiTensor, VirtualRegister
from trnemu.nki._trace import Trace, refuse

_UNWRITTEN = ("memory.read_unwritten",)
_QUIET = ("trnemu", "numpy")
_TESTERS = ("unittest", "_pytest", "torch")  # whose branches are no kernel's


def _program_with(trace: Trace, what: Any) -> tuple[Any, Any]:
    """The program so far, and where it copies a tensor or register to."""
    core = trace.core.clone()
    core.become_nki(False)
    core.select_core(trace.core_index)
    add = _trace.INDEX
    if isinstance(what, VirtualRegister):
        place = core.add_tensor("scratch", "(value)", (1, 1), "int32")
        core.add(add["register_store"], (), {"dst": place, "src": what})
        return core, place
    kind = stored_dtype(what)
    place = core.add_tensor("scratch", "(values)", what.shape, kind)
    core.add(add["dma_copy"], (), {"dst": place, "src": what})
    return core, place


def _inputs(trace: Trace, program: Any) -> dict[str, Any]:
    given = trace.arguments.values
    return {name: given[name] for name in program.inputs if name in given}


def read(what: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The values of a tensor or register so far, and which are written.

    Fault (unsupported, nki.values) where there are none yet: in a device loop,
    for arguments without values, before the other core's side of a meeting.
    """
    trace = _trace.current()
    reason = ""
    if trace.is_in_loop():
        reason = (
            "inside a device loop values exist only when it runs; look after "
            "it, or use range() while debugging"
        )
    elif not trace.arguments.complete:
        reason = "the kernel is traced without values for its arguments"
    if reason:
        refuse("unsupported", "nki.values", f"{reason}", operand=str(what.name)
               if isinstance(what, NkiTensor) else "")
    core, place = _program_with(trace, what)
    core.settle_inputs()
    program = core.build()
    options = trace.options
    run = debug(
        program,
        _inputs(trace, program),
        checks="memory",
        allow=(*options.allowed_of_runs(), *_UNWRITTEN),
        numerics=options.numerics,
        seed=options.seed,
        time=False,
    )
    try:
        run.continue_()
    except Fault as fault:
        if fault.id == "collective.no_system":
            refuse(
                "unsupported",
                "nki.values",
                "what a collective brings is known when all ranks run, not "
                "while one is recorded",
                operand=what.name if isinstance(what, NkiTensor) else "",
                remedy="look before the collective, or at what the kernel "
                "returns",
            )
        if fault.category != "deadlock" or trace.cores == 1:
            raise
        refuse(
            "unsupported",
            "nki.values",
            "the other core has not come as far as this one waits for",
        )
    # The tensor itself, for what of it is written: the copy keeps it alive.
    static = isinstance(what, NkiTensor) and not what.is_indirect()
    reading = run.read(what if static else place)
    return reading.values, reading.written.all(axis=-1)


def text_of(what: Any) -> str:
    """The values so far as people read them; "--" where none was written."""
    if not isinstance(what, (NkiTensor, VirtualRegister)):
        return str(what)
    if _trace.active() is None:
        return repr(what)
    try:
        values, written = read(what)
    except Fault as fault:
        if fault.id == "register.unset" and isinstance(what, VirtualRegister):
            return "--"
        if fault.id != "nki.values":
            raise
        return f"{describe(what)} (no values: {fault.message})"
    if isinstance(what, VirtualRegister):
        return str(values.item()) if written.all() else "--"
    if values.dtype.kind == "V" or values.dtype.itemsize < 4:
        shown: Any = values.astype(np.float32) if _is_float(values) else values
    else:
        shown = values
    masked = np.ma.masked_array(shown, mask=~written)
    return f"{describe(what)}\n{masked}"


def _is_float(values: np.ndarray[Any, Any]) -> bool:
    return values.dtype.kind not in "iub"


def describe(what: Any) -> str:
    """A tensor's name and geometry on one line."""
    if isinstance(what, VirtualRegister):
        return f"<register {what.index}>"
    return (
        f"<{what.name} {what.shape} {what.dtype} in "
        f"{what.buffer.value}>"
    )


class TileValues(np.ndarray[Any, Any]):
    """Values of a tensor so far, on the host: for looking at, in print and
    assert. A branch on them is refused; as numbers they are warned about."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = tuple(plain(o) for o in out)
        result = getattr(ufunc, method)(*map(plain, inputs), **kwargs)
        return kept(result)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return kept(function(*deep(args), **deep(kwargs)))

    def __bool__(self) -> bool:
        check_branch()
        return bool(plain(self))

    def __index__(self) -> int:
        refuse(
            "illegal",
            "nki.branch_on_values",
            "a value of a tensor is used as an index or a loop's bound while "
            "the kernel is compiled; the device has no values then",
            remedy="nisa.register_load and nl.ds, ap(scalar_offset=) or "
            "nl.fori_loop",
        )

    def __int__(self) -> int:
        warn_number()
        return int(plain(self))

    def __float__(self) -> float:
        warn_number()
        return float(plain(self))

    def item(self, *args: Any) -> Any:
        """The value as a Python number, with a warning."""
        warn_number()
        return plain(self).item(*args)

    def tolist(self) -> Any:
        """The values as Python numbers, with a warning."""
        warn_number()
        return plain(self).tolist()

    def __getitem__(self, key: Any) -> Any:
        return kept(plain(self)[key])

    def __str__(self) -> str:
        return str(plain(self))

    def __repr__(self) -> str:
        return repr(plain(self))

    def __format__(self, spec: str) -> str:
        values = plain(self)
        return format(values.item() if values.ndim == 0 else values, spec)


def plain(value: Any) -> Any:
    """A TileValues or NkiTensor as a plain array; others as they are."""
    if isinstance(value, TileValues):
        return value.view(np.ndarray)
    if isinstance(value, NkiTensor):
        return values_of(value)
    return value


def deep(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(deep, value))
    if isinstance(value, tuple):
        return tuple(map(deep, value))
    if isinstance(value, dict):
        return {k: deep(v) for k, v in value.items()}
    return plain(value)


def kept(result: Any) -> Any:
    """A result as TileValues, so that branches on it are seen."""
    if isinstance(result, list):
        return list(map(kept, result))
    if isinstance(result, tuple):
        return tuple(map(kept, result))
    if isinstance(result, (np.ndarray, np.generic, bool)):
        return np.asarray(result).view(TileValues)
    return result


def values_of(tensor: NkiTensor) -> np.ndarray[Any, Any]:
    """The values; Fault (uninitialized) if some are not written."""
    values, written = read(tensor)
    if not written.all():
        where = np.argwhere(~written)[0].tolist()
        refuse(
            "uninitialized",
            "nki.values_unwritten",
            f"'{tensor.name}' is read on the host at {where}, which nothing "
            f"has written yet ({int((~written).sum())} of {written.size} "
            "elements)",
            operand=tensor.name,
        )
    values.flags.writeable = False  # writing to it would not reach the tile
    return values


def check_branch() -> None:
    """Refuses if the kernel's code takes a branch on the value being asked
    for: an if, while, and, or; an assert may. Other uses of its truth, as in
    bool() and any(), are warned about."""
    frame = _kernel_frame()
    if frame is None or _module_of(frame) in _TESTERS:
        return
    use = _loops.use_of(frame)
    if not use:
        warn_number()
    if use == "branch":
        refuse(
            "illegal",
            "nki.branch_on_values",
            "the kernel branches on the values of a tensor; the device has "
            "none when the kernel is compiled",
            remedy="select values with nisa.tensor_copy_predicated or "
            "nisa.select_reduce; loop with nl.while_loop; a check that is only "
            "for debugging can be an assert",
        )


def branches() -> bool:
    """Whether the kernel's code takes a branch on what is being asked for."""
    frame = _kernel_frame()
    return frame is not None and _loops.use_of(frame) == "branch"


def _kernel_frame() -> FrameType | None:
    """The innermost frame outside this package and NumPy."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _module_of(frame) in _QUIET:
        frame = frame.f_back
    return frame


def _module_of(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def warn_number() -> None:
    frame = _kernel_frame()
    if frame is not None and _is_first(frame):
        _warn(
            frame,
            "a tensor's value becomes a number while the kernel is recorded; "
            "in the program it is a constant of this run",
        )


def warn_array(tensor: NkiTensor) -> None:
    """Of np.asarray(tensor) and the like in the kernel's own code, whose
    result does not tell that it is of a tensor. What NumPy's functions and
    test frameworks do is no more than looking, nor is print or an assert."""
    frame = sys._getframe(2)  # of who has asked NumPy for an array
    if _module_of(frame) in (*_QUIET, *_TESTERS) or not _is_first(frame):
        return
    if not _loops.is_checked(frame):
        _warn(
            frame,
            f"the values of '{tensor.name}' become an array of the host while "
            "the kernel is recorded; in the program they are constants of this "
            "run, and a branch on them goes unseen. NumPy's functions take the "
            "tensor itself",
        )


def _is_first(frame: FrameType) -> bool:
    """Whether a line comes here for the first time in a recording."""
    trace = _trace.active()
    key = ("host_value", frame.f_code, frame.f_lineno)
    if trace is None or key in trace.caches:
        return False
    trace.caches[key] = True
    return True


def _warn(frame: FrameType, message: str) -> None:
    from trnemu.nki._kernel import KernelWarning

    where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    warnings.warn(KernelWarning(f"{where}: {message}"), stacklevel=4)
