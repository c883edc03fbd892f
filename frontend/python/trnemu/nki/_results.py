"""What a kernel returns, as arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from trnemu._trnemu import Program
from trnemu.nki import _compat
from trnemu.nki._arguments import Arguments, fields_of, to_torch
from trnemu.nki._high_precision import stored_dtype
from trnemu.nki._tensor import NkiTensor, VirtualRegister
from trnemu.nki._trace import Trace, refuse


class Recording:
    """A kernel as recorded for some arguments: a program, and how its tensors
    belong to the arguments and results."""

    def __init__(
        self,
        trace: Trace,
        program: Program,
        arguments: Arguments,
        result: Any,
    ) -> None:
        self.trace = trace
        self.program = program
        self.arguments = arguments
        self.result = result

    def inputs(self) -> dict[str, np.ndarray[Any, Any]]:
        """What the arguments have for the program's inputs."""
        known = set(self.program.inputs)
        values = self.arguments.values
        return {k: v for k, v in values.items() if k in known}

    def results(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> Any:
        """What the kernel returns, with arrays in place of tensors: torch
        tensors if it was given some. An argument that is returned as a whole
        is the caller's own, which has what the kernel wrote by then; an output
        returned as a whole is that of `outputs`: large ones are not copied."""

        def array_of(tensor: NkiTensor) -> Any:
            given = self.arguments.given_as(tensor)
            # In high precision what was written is not all in the caller's.
            same = stored_dtype(tensor) == tensor.dtype
            if given is not None and (same or tensor.name not in outputs):
                return given
            array = self._read(outputs, tensor)
            return to_torch(array) if self.arguments.torch else array

        return _mapped(self.result, array_of)

    def _read(
        self, outputs: Mapping[str, np.ndarray[Any, Any]], tensor: NkiTensor
    ) -> np.ndarray[Any, Any]:
        """The elements that a returned view shows."""
        dtype = stored_dtype(tensor).numpy
        output = outputs.get(tensor.name)
        if (
            output is not None
            and output.shape == tensor.shape
            and output.dtype == dtype
            and tensor.offset == 0
            and tensor.is_contiguous()
        ):
            return output
        for found in (outputs, self.trace.constants, self.arguments.values):
            if tensor.name in found:
                break
        whole = np.ascontiguousarray(found[tensor.name]).reshape(-1)
        # as_strided knows NumPy's own types alone.
        bits = whole.view(f"u{whole.itemsize}")
        if dtype.itemsize != whole.itemsize:
            whole_bytes = bits.view(np.uint8)
            end = whole_bytes.size // dtype.itemsize * dtype.itemsize
            bits = whole_bytes[:end].view(f"u{dtype.itemsize}")
        shown = np.lib.stride_tricks.as_strided(
            bits[tensor.offset :],
            tensor.shape,
            [s * dtype.itemsize for s in tensor.strides],
        )
        return shown.copy().view(dtype)


def _mapped(result: Any, use: Callable[[NkiTensor], Any]) -> Any:
    """A result with use(tensor) for each of its tensors: itself, in tuples,
    lists, dicts, and attributes of dataclasses and NKIObjects."""
    if isinstance(result, NkiTensor):
        return use(result)
    if isinstance(result, tuple):
        items = [_mapped(r, use) for r in result]
        named = hasattr(result, "_fields")
        return type(result)(*items) if named else tuple(items)
    if isinstance(result, list):
        return [_mapped(r, use) for r in result]
    if isinstance(result, dict):
        return {k: _mapped(r, use) for k, r in result.items()}
    if isinstance(result, (set, frozenset)):
        for item in result:
            _mapped(item, _in_a_set)
    fields = fields_of(result)
    if not tensors_in(list(fields.values())):
        return result
    made = copy.copy(result)
    for name, value in fields.items():
        object.__setattr__(made, name, _mapped(value, use))
    return made


def _in_a_set(tensor: NkiTensor) -> Any:
    raise TypeError(
        f"the kernel returns '{tensor.name}' in a set; tensors are returned "
        "alone, in tuples, lists, dicts or attributes of dataclasses"
    )


def tensors_in(result: Any) -> list[NkiTensor]:
    """The tensors of a result, in order."""
    found: list[NkiTensor] = []
    if isinstance(result, NkiTensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    elif not isinstance(result, (tuple, list)):
        result = list(fields_of(result).values())
    for item in result:
        if isinstance(item, VirtualRegister):
            _refuse_return(
                "a register",
                "",
                "nisa.register_store it in a tensor of one element, and "
                "return that",
            )
        found += tensors_in(item)
    return found


def check_alike(first: Any, second: Any) -> None:
    """Refuses what core 0 and core 1 return if it is not the same tensors, or
    parts of them, in the same order: the launch gives what core 0 returns."""
    ours, theirs = tensors_in([first]), tensors_in([second])
    if list(map(_identity, ours)) == list(map(_identity, theirs)):
        return
    refuse(
        "illegal",
        "nki.results_differ",
        f"core 0 returns {_listed(ours)} and core 1 {_listed(theirs)}; a "
        "launch has one result",
        remedy="return the same shared_hbm tensors on both cores",
    )


def _identity(tensor: NkiTensor) -> Any:
    view = (tensor.offset, tuple(tensor.shape), tuple(tensor.strides))
    return tensor.name, str(tensor.dtype), *view


def _listed(tensors: list[NkiTensor]) -> str:
    return ", ".join(
        f"'{t.name}' {tuple(t.shape)}" for t in tensors
    ) or "no tensor"


def mark_outputs(trace: Trace, result: Any) -> None:
    """Makes outputs of the tensors that a kernel returns.

    Fault (illegal, nki.return) for what is no tensor in HBM: tiles, registers,
    parts whose place only a run knows.
    """
    for tensor in tensors_in([result]):
        if tensor.buffer.value in ("sbuf", "psum"):
            _refuse_return(
                f"'{tensor.name}', which is in {tensor.buffer.value}; what it "
                "returns must be in HBM",
                tensor.name,
                "copy it: out = nl.ndarray(shape, dtype, "
                "buffer=nl.shared_hbm); nisa.dma_copy(dst=out, src=tile)",
            )
        tensor[...]  # a fault if its access pattern leaves the tensor
        if tensor.is_indirect():
            _refuse_return(
                f"a part of '{tensor.name}' whose place only the device knows",
                tensor.name,
                "copy it with nisa.dma_copy to a tensor of its own",
            )
        if trace.core.kind_of(tensor) == "scratch":
            _compat.output_in_hbm(trace, tensor)
            trace.core.make_output(tensor)


def _refuse_return(what: str, operand: str, remedy: str) -> None:
    refuse(
        "illegal",
        "nki.return",
        f"the kernel returns {what}",
        operand=operand,
        remedy=remedy,
    )
