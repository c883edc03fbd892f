"""Simulated time alone: the same to the femtosecond as with values, and refused
where it would depend on them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import trnemu
import trnemu._run
from random_emit import Emitter
from random_maker import Maker
from kit import Kit

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p.stem for p in (ROOT / "docs/examples").glob("*.py"))


class Twice:
    """Runs every program that is run in simulated time once more without
    values, on a device of its own."""

    def __init__(self) -> None:
        self.same = 0
        self.refused: list[str] = []
        self._run = trnemu._run.Executable._run_with
        self._run_system = trnemu.System.run

    def run_system(self, system: trnemu.System, program: Any,
                   *inputs: Any, **options: Any) -> trnemu.SystemResult:
        """Of all ranks."""
        result = self._run_system(system, program, *inputs, **options)
        try:
            alone = self._run_system(system, program, values=False, **options)
        except trnemu.Fault as fault:
            assert fault.id == "unsupported.values_off", fault
            self.refused.append(fault.message)
            return result
        assert repr(alone.time_ns) == repr(result.time_ns)
        self.same += 1
        return result

    def run(self, executable: Any, inputs: Any, options: Any,
            into: Any = None) -> trnemu.RunResult:
        result = self._run(executable, inputs, dict(options), into)
        if options["schedule"] == "timed" and options["values"]:
            self.again(executable.program, inputs, options, result)
        return result

    def again(self, program: trnemu.Program, inputs: Any, options: Any,
              result: trnemu.RunResult) -> None:
        device = trnemu.Device(result.target, program.cores)
        loaded = device.load(program, options["allow"])
        options = {**options, "values": False, "stop_at_nan": False}
        options.pop("into", None)
        try:
            alone = self._run(loaded, inputs, options)
        except trnemu.Fault as fault:
            assert fault.id == "unsupported.values_off", fault
            self.refused.append(fault.message)
            return
        assert repr(alone.time_ns) == repr(result.time_ns)
        assert alone.profile.engines == result.profile.engines
        assert alone.profile.instructions == result.profile.instructions
        assert not alone.outputs
        self.same += 1


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Iterator[Twice]:
    runs = Twice()
    monkeypatch.setattr(
        trnemu._run.Executable, "_run_with",
        lambda executable, inputs, options, into=None: runs.run(
            executable, inputs, options, into))
    monkeypatch.setattr(
        trnemu.System, "run",
        lambda system, program, *inputs, **options: runs.run_system(
            system, program, *inputs, **options))
    yield runs


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_an_operation_takes_the_same_time(twice, name):
    code = (ROOT / f"docs/examples/{name}.py").read_text()
    exec(compile(code, f"{name}.py", "exec"), {})
    assert twice.same + len(twice.refused) > 0
    # Those that load a register, or sizes, from memory.
    reads = "register_load" in code or name in ("all_gather_v", "all_to_all_v")
    assert not twice.refused or reads, twice.refused


def test_random_programs_take_the_same_time_or_are_refused(twice):
    """Loops, dynamic addresses, DMA in all forms, explicit semaphores."""
    for n in range(120):
        plan = Maker((6, n)).make()
        emitter = Emitter(plan)
        try:
            program = emitter.build()
            loaded = trnemu.Device(plan.target).load(program)
            loaded.run(emitter.inputs)
        except trnemu.Fault:
            continue  # test_random_programs.py's business
    assert twice.same > 40
    assert twice.same + len(twice.refused) > 100


NKI = '''
import numpy as np
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl


@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        t = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 128:(i + 1) * 128, :])
        e = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)
        s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=e, op=nl.exp, data=t)
        nisa.tensor_reduce(dst=s, op=nl.add, data=e, axis=1)
        nisa.reciprocal(dst=s, data=s)
        nisa.tensor_scalar(dst=t, data=e, op0=nl.multiply, operand0=s)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=t)
    return out


@nki.jit
def matmul(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(4):
        s = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
        m = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=s, src=a[k * 128:(k + 1) * 128, :])
        nisa.dma_copy(dst=m, src=b[k * 128:(k + 1) * 128, :])
        nisa.nc_matmul(dst=p, stationary=s, moving=m)
    r = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=r, src=p)
    nisa.dma_copy(dst=out, src=r)
    return out


softmax(np.random.default_rng(1).random((256, 256), np.float32))
matmul(np.ones((512, 128), np.float32), np.ones((512, 512), np.float32))
'''


def test_kernels_of_nki_take_the_same_time(twice, tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(NKI)
    exec(compile(NKI, str(path), "exec"), {"__name__": "kernels"})
    assert twice.same == 2 and not twice.refused


# What depends on values.


def gather(indices: list[int], **options: Any) -> Kit:
    """Four rows of 64 elements by index."""
    k = Kit()
    table = k.input(np.ones((8, 64), np.float32))
    index = k.load(np.array(indices, np.int32).reshape(-1, 1))
    dst = k.load(np.zeros((4, 64), np.float32))
    k.b.dma_copy(dst=dst, src=table.ap([[64, 4], [1, 64]], 0,
                                       vector_offset=index), **options)
    k.b.dma_copy(dst=k.b.output("y", (4, 64), "float32"), src=dst)
    return k


def both(k: Kit) -> tuple[float, float]:
    program = k.b.build()
    return (trnemu.run(program, k.inputs).time_ns,
            trnemu.run(program, k.inputs, values=False).time_ns)


@pytest.mark.parametrize("options", [{}, {"oob_mode": "skip"}])
def test_a_gather_takes_as_long_whatever_its_indices_are(options):
    there = [3, 0, 7, 5] if not options else [3, 99, 7, 99]
    assert len({*both(gather(there, **options)),
                *both(gather([0, 1, 2, 3], **options))}) == 1


def refused(k: Kit) -> trnemu.Fault:
    program = k.b.build()
    trnemu.run(program, k.inputs)
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(program, k.inputs, values=False)
    assert info.value.category == "unsupported"
    assert info.value.id == "unsupported.values_off"
    return info.value


def test_a_transfer_that_an_index_can_leave_out_is_refused():
    k = Kit()
    table = k.input(np.ones((8, 64), np.float32))
    index = k.load(np.array([[3]], np.int32))
    dst = k.load(np.zeros((1, 64), np.float32))
    k.b.dma_copy(dst=dst, src=table.ap([[64, 1], [1, 64]], 0,
                                       scalar_offset=index), oob_mode="skip")
    k.b.dma_copy(dst=k.b.output("y", (1, 64), "float32"), src=dst)
    fault = refused(k)
    assert "src" in fault.message and "oob_mode=skip" in fault.message


def test_an_operand_whose_place_is_in_memory_is_refused():
    k = Kit()
    data = k.load(np.ones((4, 8), np.float32))
    index = k.load(np.array([[5]], np.int32))
    dst = k.empty((4, 2))
    k.b.tensor_copy(dst=dst, src=data.ap([[8, 4], [1, 2]], 0,
                                         scalar_offset=index, indirect_dim=1))
    k.b.dma_copy(dst=k.b.output("y", (4, 2), "float32"), src=dst)
    assert "src" in refused(k).message


def moved(at: int) -> Kit:
    """A vector instruction writes where a register says, and the next reads
    columns 0 and 1."""
    k = Kit()
    data = k.load(np.ones((4, 8), np.float32))
    two = k.load(np.ones((4, 2), np.float32))
    out = k.empty((4, 2))
    place = k.b.register_alloc(at)
    k.b.tensor_copy(dst=data.ap([[8, 4], [1, 2]], 0, scalar_offset=place,
                                indirect_dim=1), src=two)
    k.b.tensor_copy(dst=out, src=data[:, 0:2])
    k.b.dma_copy(dst=k.b.output("y", (4, 2), "float32"), src=out)
    return k


def test_an_operand_whose_place_is_in_a_register_is_moved():
    """It decides whether the next instruction depends on this one."""
    meets, apart = both(moved(0)), both(moved(4))
    assert meets[0] == meets[1] and apart[0] == apart[1]
    assert meets[0] > apart[0]


def test_a_place_in_a_register_is_checked():
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(moved(7).b.build(), moved(7).inputs, values=False)
    assert info.value.id == "access.dynamic_out_of_bounds"
