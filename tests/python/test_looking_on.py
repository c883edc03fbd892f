"""Looking on changes nothing, and what is seen is the same in every order: over
random programs (random_maker.py), which hold every operation."""

import functools

import numpy as np
import pytest

from cli_kit import SUCCESS, trnemu as command
from random_emit import Emitter
from random_maker import Maker
import trnemu

SEED, PROGRAMS, PARTS = 7, 48, 6


@functools.cache
def made(n):
    plan = Maker((SEED, n)).make()
    emitter = Emitter(plan)
    return plan.target, emitter.build(), emitter.inputs


def of_part(part):
    return [made(n) for n in range(part, PROGRAMS, PARTS)]


def same(a, b):
    return all(a.outputs[k].tobytes() == b.outputs[k].tobytes()
               for k in a.outputs)


BIRTHS = ["nan.produced", "nan.infinity_produced"]


@pytest.mark.parametrize("part", range(PARTS))
def test_stop_at_nan_does_not_change_a_run_and_says_the_same_in_every_order(part):
    for target, program, inputs in of_part(part):
        plain = trnemu.run(program, inputs, target)
        seen = []
        for schedule in ("timed", "program", 1, 2):
            r = trnemu.run(program, inputs, target, stop_at_nan=True,
                           allow=BIRTHS, schedule=schedule)
            assert same(plain, r)
            seen.append(sorted({
                (d.id, d.instruction) for d in r.diagnostics
                if d.id in BIRTHS and d.operation != "dma_copy"}))
        assert seen[0] == seen[1] == seen[2] == seen[3]


def test_some_of_the_programs_make_infinities_and_nans():
    """Else the tests above look at nothing."""
    births = 0
    for part in range(PARTS):
        for target, program, inputs in of_part(part):
            try:
                trnemu.run(program, inputs, target, stop_at_nan=True)
            except trnemu.Fault as fault:
                assert fault.id in BIRTHS, fault
                assert not np.isfinite(float(fault.details["value"]))
                births += 1
    assert 5 <= births < PROGRAMS


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("schedule", ["timed", "program", 3])
def test_single_steps_give_what_a_run_does(part, schedule):
    for target, program, inputs in of_part(part)[:4]:
        whole = trnemu.run(program, inputs, target, schedule=schedule)
        d = trnemu.debug(program, inputs, target, schedule=schedule)
        for _ in range(200):
            if d.step().kind == "end":
                break
        r = d.result()
        assert same(whole, r) and r.time_ns == whole.time_ns


@pytest.mark.parametrize("part", range(PARTS))
def test_the_logs_of_all_orders_are_equal(part, tmp_path):
    """A hash of what was written, when it was written: of a program that is
    synchronised it does not depend on the order."""
    for target, program, inputs in of_part(part)[:3]:
        program.save(str(tmp_path / "k.trn"))
        run = ["run", tmp_path / "k.trn", "--target", target]
        for name, array in inputs.items():
            raw = array
            if array.dtype.kind == "V" or array.dtype.isbuiltin != 1:
                raw = array.view(f"u{array.dtype.itemsize}")
            np.save(tmp_path / f"{name}.npy", raw)
            run += ["--input", f"{name}={tmp_path / name}.npy"]
        logs = []
        for schedule in ("timed", "program", 1, 2):
            logs.append(tmp_path / f"{schedule}.log")
            result = command(*run, "--schedule", schedule, "--log", logs[-1])
            assert result.returncode == SUCCESS, result.stderr
        for other in logs[1:]:
            result = command("diff", logs[0], other)
            assert result.returncode == SUCCESS, result.stdout
