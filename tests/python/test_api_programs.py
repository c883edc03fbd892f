"""Programs, semaphores and cores, and the package as a whole."""

from __future__ import annotations

import inspect
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import trnemu
from sample_programs import ONES, build_double, environment

HERE = pathlib.Path(__file__).name
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_a_program_says_what_it_is():
    p = build_double()
    assert (p.name, p.target, p.cores, p.num_instructions) == (
        "double", "trn2", 1, 3,
    )
    assert p.inputs == {"x": ((64, 32), "float32")}
    assert p.outputs == {"y": ((64, 32), "float32")}
    assert "double" in repr(p)


@pytest.mark.parametrize("way", ["file", "text", "pickle"])
def test_a_program_survives_being_written_and_read(way, tmp_path):
    p = build_double()
    if way == "file":
        p.save(str(tmp_path / "k.trn"))
        q = trnemu.Program.load(tmp_path / "k.trn")
    elif way == "text":
        q = trnemu.Program.from_text(p.to_text())
    else:
        q = pickle.loads(pickle.dumps(p))
    assert q.to_text() == p.to_text()
    a, b = (trnemu.run(x, {"x": ONES}) for x in (p, q))
    assert a.time_ns == b.time_ns
    np.testing.assert_array_equal(a.outputs["y"], b.outputs["y"])


def test_a_file_that_is_no_program_is_malformed(tmp_path):
    path = tmp_path / "bad.trn"
    path.write_bytes(b"hello")
    with pytest.raises(trnemu.Fault) as info:
        trnemu.Program.load(path)
    assert info.value.category == "malformed"
    with pytest.raises(trnemu.Fault) as info:
        trnemu.Program.load(tmp_path / "none.trn")
    assert info.value.category == "input"
    with pytest.raises(trnemu.Fault) as info:
        trnemu.Program.from_text("hello")
    assert info.value.category == "malformed"


def test_verify_lists_findings_of_another_target():
    b = trnemu.ProgramBuilder(target="trn2")
    x = b.input("x", (4, 8), "float32")
    y = b.output("y", (4, 8), "float32")
    b.dma_copy(dst=y, src=x, dge_mode="hwdge")
    p = b.build()
    assert p.verify() == []
    findings = p.verify("trn1")
    assert findings[0].id == "dma_copy.hwdge_generation"
    assert findings[0].severity == "error" and HERE in findings[0].source
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(p, {"x": np.ones((4, 8), np.float32)}, target="trn1")
    assert info.value.id == findings[0].id


def test_explicit_semaphores_order_a_program():
    b = trnemu.ProgramBuilder(sync="explicit")
    x = b.input("x", (64, 32), "float32")
    y = b.output("y", (64, 32), "float32")
    t = b.sbuf((64, 32), "float32")
    loaded, done = b.semaphore("loaded"), b.semaphore()
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    b.tensor_tensor(
        dst=t, data1=t, data2=t, op="add",
        wait=[trnemu.Wait(loaded, 16, consume=True)],
        signal=[trnemu.Signal(done, "inc", at="complete")],
    )
    b.dma_copy(dst=y, src=t, wait=[(done, 1)])
    p = b.build()
    for schedule in ("timed", 1, 2, 3):
        r = trnemu.run(p, {"x": ONES}, schedule=schedule)
        np.testing.assert_array_equal(r.outputs["y"], 2 * ONES)


def test_a_wait_that_nothing_satisfies_is_a_deadlock():
    b = trnemu.ProgramBuilder(sync="explicit")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=0, wait=[(b.semaphore("never"), 2)])
    with pytest.raises(trnemu.Fault, match="never") as info:
        trnemu.run(b.build(), {})
    assert info.value.category == "deadlock"


def test_waits_and_signals_say_what_is_wrong_with_them():
    b, other = trnemu.ProgramBuilder(), trnemu.ProgramBuilder()
    s = b.semaphore("s")
    assert repr(s) == "<Semaphore s>"
    wait = trnemu.Wait(s, 3, consume=True)
    assert (wait.value, wait.consume, wait.semaphore.name) == (3, True, "s")
    made = trnemu.Signal(s, "sub", 2, at="read")
    assert (made.op, made.value, made.at) == ("sub", 2, "read")
    with pytest.raises(ValueError, match="add, sub, inc, dec, set"):
        trnemu.Signal(s, "plus")
    with pytest.raises(ValueError):
        trnemu.Signal(s, "add", 1, at="start")
    with pytest.raises(TypeError):
        trnemu.Wait(s, 1.5)
    with pytest.raises(trnemu.Fault, match="another ProgramBuilder"):
        b.nop(wait=[(other.semaphore(), 1)])


def test_core_selects_where_operations_go_and_may_be_entered_again():
    b = trnemu.ProgramBuilder(cores=2)
    x = b.input("x", (4, 8), "float32")
    y = b.output("y", (2, 4, 8), "float32")
    for _ in range(2):
        for core in (0, 1):
            with b.core(core):
                t = b.sbuf((4, 8), "float32")
                b.dma_copy(dst=t, src=x)
                b.dma_copy(dst=y[core], src=t)
    with pytest.raises(trnemu.Fault) as info:
        with b.core(2):
            pass
    assert info.value.category == "illegal" and HERE in info.value.source
    p = b.build()
    assert p.cores == 2 and p.num_instructions == 8


def test_every_operation_is_a_method_with_its_signature_and_documentation():
    names = [o.name for o in trnemu.operations()]
    assert {"nc_matmul", "activation", "dma_copy", "tensor_tensor"} <= {*names}
    # branch is what loops become; register_alloc gives its register.
    other = {"branch", "register_alloc"}
    assert not hasattr(trnemu.ProgramBuilder, "branch")
    for operation in trnemu.operations():
        if operation.name in other:
            continue
        method = getattr(trnemu.ProgramBuilder, operation.name)
        own = [p.name for p in operation.parameters]
        signature = list(inspect.signature(method).parameters)
        assert signature == ["self", *own, "wait", "signal"]
        assert operation.summary in method.__doc__
        assert method.__name__ == operation.name
        assert operation.signature.startswith(operation.name + "(")


def test_register_alloc_takes_a_value_and_gives_a_register():
    method = trnemu.ProgramBuilder.register_alloc
    assert list(inspect.signature(method).parameters) == ["self", "x"]
    assert isinstance(trnemu.ProgramBuilder().register_alloc(3), trnemu.Register)


def test_the_table_of_operations_is_data():
    matmul = next(o for o in trnemu.operations() if o.name == "nc_matmul")
    accumulate = next(
        p for p in matmul.parameters if p.name == "accumulate"
    )
    assert accumulate.default_value is None and not accumulate.required
    assert all(r.id.startswith("nc_matmul.") for r in matmul.rules)
    assert matmul.parameters[0].spaces == ("psum",)
    assert trnemu.targets == ("trn1", "trn2", "trn3")
    assert trnemu.__version__.count(".") == 2


def test_the_type_stubs_are_current():
    done = subprocess.run(
        [sys.executable, ROOT / "frontend/python/gen_stubs.py", "--check"],
        capture_output=True, text=True, env=environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr


INTERRUPTED = """
import signal
import numpy as np, trnemu
# A shell's background jobs are born ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
b = trnemu.ProgramBuilder()
t = b.sbuf((128, 8192), "float32")
b.memset(dst=t, value=1.0)
for _ in range(20000):
    b.activation(dst=t, op="exp", data=t, scale=0.0)
p = b.build()
print("running", flush=True)
try:
    trnemu.run(p, {})
except KeyboardInterrupt:
    b = trnemu.ProgramBuilder()
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=1.0)
    trnemu.run(b.build(), {})
    print("interrupted", flush=True)
"""


def test_ctrl_c_stops_a_run_and_the_next_run_starts_clean():
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE,
        text=True, env=environment(),
    )
    assert child.stdout.readline() == "running\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    assert child.returncode == 0


TORCH = """
import {0}, {1}
import numpy as np, torch, trnemu
b = trnemu.ProgramBuilder()
x = b.input("x", (4, 8), torch.bfloat16)
assert str(x.dtype) == "bfloat16" and x.dtype == torch.bfloat16
y = b.output("y", (4, 8), "bfloat16")
b.dma_copy(dst=y, src=x)
p = trnemu.Program.from_text(b.build().to_text())
import ml_dtypes
r = trnemu.run(p, {{"x": np.ones((4, 8), ml_dtypes.bfloat16)}})
assert (r.outputs["y"] == 1).all()
assert torch.ones(64, 64).matmul(torch.ones(64, 64))[0, 0] == 64
try:
    b.memset(dst=b.sbuf((4, 8), "float32"), value=torch.ones(1))
except TypeError:
    print("right")
"""


@pytest.mark.parametrize("order", [("torch", "trnemu"), ("trnemu", "torch")])
def test_torch_may_be_imported_before_or_after(order):
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, "-c", TORCH.format(*order)],
        capture_output=True, text=True, env=environment(),
    )
    assert done.stdout == "right\n", done.stderr
    assert done.returncode == 0


def test_importing_trnemu_does_not_import_torch():
    code = "import sys, trnemu; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env=environment(),
    )
    assert done.stdout == "False\n", done.stderr
