"""Budgets: a run at its limit is untouched, one past it is a fault of category
limit; an endless loop ends without being told to."""

from __future__ import annotations

import time

import numpy as np
import pytest

import trnemu
from cli_kit import FAULT, SUCCESS, USAGE, refuses
from cli_kit import trnemu as command

F32 = np.float32
X = np.ones((128, 512), F32)


def double(cores=1):
    """3 instructions: load, add, store."""
    b = trnemu.ProgramBuilder(name="double", cores=cores)
    x = b.input("x", (128, 512), "float32")
    y = b.output("y", (128, 512), "float32")
    t = b.sbuf((128, 512), "float32")
    b.dma_copy(dst=t, src=x)
    b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
    b.dma_copy(dst=y, src=t)
    return b.build()


def endless(step=0):
    """while (n) n += step, from 1 on."""
    b = trnemu.ProgramBuilder(name="endless")
    t = b.sbuf((4, 8), "float32")
    n = b.register_alloc(1)
    with b.while_loop(n):
        b.register_alu(n, "add", n, step)
        b.memset(dst=t, value=0)
    return b.build()


def limit(id, call, *words):
    with pytest.raises(trnemu.Fault) as info:
        call()
    fault = info.value
    assert (fault.category, fault.id) == ("limit", id), str(fault)
    for word in words:
        assert word in str(fault), f"{word!r} not in:\n{fault}"
    return fault


def test_instructions_at_the_limit_and_past_it():
    p = double()
    needs = trnemu.run(p, {"x": X}).profile.instructions
    r = trnemu.run(p, {"x": X}, max_instructions=needs)
    assert (r.outputs["y"] == 2).all()
    limit("limit.instructions",
          lambda: trnemu.run(p, {"x": X}, max_instructions=needs - 1),
          f"more than {needs - 1} instructions, the limit given")


@pytest.mark.parametrize("options", [
    {}, {"schedule": "program"}, {"schedule": 1, "time": False}])
def test_an_endless_loop_says_where_it_is(options):
    fault = limit(
        "limit.instructions",
        lambda: trnemu.run(endless(), {}, max_instructions=5000, **options),
        "is at instruction", "test_limits.py", "max_instructions=N",
        "raise the limit")
    assert fault.details["limit"] == "5000"


def test_simulated_time_at_the_limit_and_past_it():
    p = double()
    needs = trnemu.run(p, {"x": X}).time_ns
    assert trnemu.run(p, {"x": X}, max_time_ns=needs).time_ns == needs
    limit("limit.simulated_time",
          lambda: trnemu.run(p, {"x": X}, max_time_ns=needs * 0.999),
          "simulated time, the limit given")


def test_simulated_time_stops_a_loop_without_semaphores():
    limit("limit.simulated_time",
          lambda: trnemu.run(endless(), {}, max_time_ns=1e6))


@pytest.mark.parametrize("options", [
    {"schedule": "program"}, {"schedule": 3}, {"time": False}])
def test_a_limit_of_simulated_time_needs_simulated_time(options):
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(double(), {"x": X}, max_time_ns=1.0, **options)
    assert info.value.id == "option.max_time_ns"


def test_wall_time_past_the_limit_ends_soon():
    begin = time.monotonic()
    limit("limit.wall_time",
          lambda: trnemu.run(endless(), {}, max_wall_time=0.2),
          "0.2 s on this host", "instructions were executed")
    assert 0.2 <= time.monotonic() - begin < 20


def test_wall_time_below_the_limit_changes_nothing():
    p = double()
    want = trnemu.run(p, {"x": X})
    r = trnemu.run(p, {"x": X}, max_wall_time=3600.0)
    assert r.time_ns == want.time_ns
    np.testing.assert_array_equal(r.outputs["y"], want.outputs["y"])


def needs_of(p):
    """The total that a refusal states."""
    fault = limit("limit.host_memory",
                  lambda: trnemu.run(p, {"x": X}, max_host_memory=0))
    return int(fault.details["total"].split()[0]), fault


def test_host_memory_at_the_limit_and_past_it():
    p = double()
    total, fault = needs_of(p)
    assert (trnemu.run(p, {"x": X}, max_host_memory=total).outputs["y"] == 2
            ).all()
    limit("limit.host_memory",
          lambda: trnemu.run(p, {"x": X}, max_host_memory=total - 1),
          str(total), str(total - 1))
    # x and y in HBM, 256 KiB each; the tile in SBUF as much; y is copied out.
    kib = 1024
    assert fault.details["hbm"] == f"{2 * 256 * kib} bytes"
    assert fault.details["sbuf"] == f"{256 * kib} bytes"
    assert fault.details["outputs"] == f"{256 * kib} bytes"
    parts = [int(v.split()[0]) for k, v in fault.details.items() if k != "total"]
    assert sum(parts) == total
    assert any("x, (128, 512) float32: 262144 bytes" in r for r in fault.related)


def test_host_memory_is_asked_for_before_any_is_allocated():
    # 8 GB, of which nothing is touched.
    b = trnemu.ProgramBuilder()
    x = b.input("x", (8, 1 << 28), "float32")
    y = b.output("y", (4, 8), "float32")
    b.dma_copy(dst=y, src=x[:4, :8])
    p = b.build()
    limit("limit.host_memory",
          lambda: trnemu.Device("trn2").load(p, max_host_memory=1 << 30),
          "x, (8, 268435456) float32")


@pytest.mark.parametrize("name", [
    "max_instructions", "max_time_ns", "max_wall_time", "max_host_memory"])
def test_a_negative_limit_is_an_error(name):
    with pytest.raises(trnemu.Fault) as info:
        trnemu.run(double(), {"x": X}, **{name: -1})
    assert info.value.category == "input"


@pytest.mark.parametrize("name", ["max_wall_time", "max_host_memory"])
def test_an_executable_takes_the_same_limits(name):
    e = trnemu.Device("trn2").load(double())
    with pytest.raises(trnemu.Fault) as info:
        e.run({"x": X}, **{name: 0})
    assert info.value.category == "limit"
    assert (e.run({"x": X}).outputs["y"] == 2).all()


def test_the_command_has_every_limit(tmp_path):
    path, x = tmp_path / "k.trn", tmp_path / "x.npy"
    double().save(str(path))
    np.save(x, X)

    def run(*options):
        return command("run", path, "--input", f"x={x}", *options)

    refuses(run("--max-instructions", 2), FAULT, "limit.instructions")
    assert run("--max-instructions", 3).returncode == SUCCESS
    refuses(run("--max-time-ns", 10), FAULT, "limit.simulated_time")
    assert run("--max-time-ns", 1e9).returncode == SUCCESS
    refuses(run("--max-host-memory", "1KB"), FAULT, "limit.host_memory", "hbm",
            "--max-host-memory")
    assert run("--max-host-memory", "1GB").returncode == SUCCESS
    assert run("--max-wall-time", 600).returncode == SUCCESS
    refuses(run("--max-time-ns", 10, "--schedule", "program"), USAGE,
            "simulated time")
    endless().save(str(path))
    refuses(command("run", path, "--max-wall-time", 0.1), FAULT,
            "limit.wall_time")
    for option in ("--max-instructions", "--max-time-ns", "--max-wall-time",
                   "--max-host-memory"):
        assert option in command("run", "--help").stdout


@pytest.mark.parametrize(("name", "value", "error"), [
    ("max_host_memory", "1GB", TypeError), ("max_host_memory", 1e9, TypeError),
    ("max_instructions", "10", TypeError), ("max_instructions", 2**63, ValueError),
    ("max_wall_time", "1", TypeError), ("max_time_ns", [1], TypeError),
])
def test_a_limit_that_is_no_number_names_the_argument(name, value, error):
    p = trnemu.ProgramBuilder(target="trn2").build()
    runs = [lambda **o: trnemu.run(p, {}, **o),
            lambda **o: trnemu.explore(p, {}, 1, **o),
            lambda **o: trnemu.debug(p, {}, **o)]
    for run in runs:
        with pytest.raises(error, match=f"{name} must be"):
            run(**{name: value})


def test_limits_may_be_numbers_of_numpy():
    p = trnemu.ProgramBuilder(target="trn2").build()
    trnemu.run(p, {}, max_host_memory=np.int64(2**30), max_wall_time=np.float32(9),
               max_instructions=np.int32(9), max_time_ns=9)


def test_a_negative_wall_time_is_called_as_the_argument_is():
    p = trnemu.ProgramBuilder(target="trn2").build()
    with pytest.raises(trnemu.InputFault, match="max_wall_time must not be"):
        trnemu.run(p, {}, max_wall_time=-1)


@pytest.mark.parametrize(("id", "ending"), [
    ("nosuch", '"nosuch" to allow\n'),
    ("memory.read_unwriten", 'to allow; the nearest is "memory.read_unwritten"\n'),
])
def test_an_id_to_allow_that_nothing_has_is_refused_with_the_nearest_if_any(
        id, ending):
    p = trnemu.ProgramBuilder(target="trn2").build()
    with pytest.raises(trnemu.InputFault) as caught:
        trnemu.run(p, {}, allow=[id])
    assert ending in f"{caught.value}\n"


@pytest.mark.parametrize("option, value", [
    ("checks", None), ("strict", "no"), ("time", None), ("values", 1.0), ("stop_at_nan", "yes"), ("allow", [3]),
])
def test_an_option_of_another_type_is_a_type_error_that_names_it(option, value):
    b = trnemu.ProgramBuilder(target="trn2")
    b.memset(dst=b.sbuf((1, 1), "float32"), value=0.0)
    with pytest.raises(TypeError, match=option):
        trnemu.run(b.build(), {}, **{option: value})
