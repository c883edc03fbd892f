"""PyTorch modules as trnemu programs.

    program = trnemu.torch.compile_program(model.eval(), (x,))
    y = trnemu.torch.run(program, x)

What is lowered, how numbers are rounded and how to add an operator is in
docs/pytorch.md.
"""

from __future__ import annotations

from typing import Any

import torch as _torch

import trnemu
from trnemu.torch import _lowerings as _lowerings  # fills the table
from trnemu.torch._compile import compile_program
from trnemu.torch._faults import make_fault as _make_fault
from trnemu.torch._registry import lowering, operators
from trnemu.torch._tensors import from_numpy, to_numpy

__all__ = [
    "compile_program",
    "from_numpy",
    "lowering",
    "operators",
    "run",
    "to_numpy",
]


def run(program: trnemu.Program, *tensors: _torch.Tensor, **options: Any) -> Any:
    """Runs a program on tensors, in the order of its inputs.

    Gives one tensor, or a tuple where there are several outputs. options are
    those of trnemu.run. Raises Fault as it does.
    """
    names = list(program.inputs)
    if len(tensors) != len(names):
        raise _make_fault(
            "input.count",
            f"program {program.name} takes {len(names)} inputs "
            f"({', '.join(names)}), but {len(tensors)} tensors were given",
            category="input",
        )
    arrays = {}
    for name, tensor in zip(names, tensors):
        array = to_numpy(tensor)
        # A program's tensors have at least one dimension.
        arrays[name] = array if array.ndim else array.reshape(1)
    result = trnemu.run(program, arrays, **options)
    outputs = tuple(from_numpy(result.outputs[n]) for n in program.outputs)
    return outputs[0] if len(outputs) == 1 else outputs
