"""What a launch keeps of what it was told: options of a kernel that is made a
kernel again, the order of every instruction of a name, what both cores
return."""

from __future__ import annotations

import numpy as np
import pytest
from nki_edges import plus, ramp, refused

from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def test_a_kernel_made_of_a_kernel_keeps_what_it_has():
    given = nki.jit(target="trn1", seed=3, mode="trace")(plus.func)
    given = given[2].with_schedule([("b", "a")])
    made = nki.jit(given)
    assert made.options == {"target": "trn1", "seed": 3}
    assert (made.cores, made.grid) == (2, True)
    assert made.edges == (("b", "a"),)
    assert made.recorded == {"mode": "trace"}
    assert made is not given and made.func is given.func


def test_what_is_given_anew_goes_before_what_a_kernel_has():
    given = nki.jit(target="trn1", seed=3, mode="trace")(plus.func)[2]
    made = nki.jit(given, platform_target="trn3", mode="none", grid=1)
    assert made.options == {"target": "trn3", "seed": 3}
    assert made.cores == 1 and made.recorded == {"mode": "none"}
    made(ramp(4, 4))
    assert made.result.target == "trn3"


def test_two_names_of_the_target_say_the_same():
    made = nki.jit(plus, target="trn1", platform_target="inf2")
    made(ramp(4, 4))
    assert made.result.target == "trn1"
    with pytest.raises(ValueError, match="'trn1' and platform_target='trn3'"):
        nki.jit(plus, target="trn1", platform_target="trn3")


@pytest.mark.parametrize("name", [
    "affine_range", "sequential_range", "static_range"])
def test_ranges_count_in_steps_without_a_stop(name):
    made = getattr(nl, name)
    assert list(made(7, step=3)) == [0, 3, 6]
    assert list(made(1, 7, 3)) == [1, 4] and list(made(3)) == [0, 1, 2]


def rounds_of(count):
    """In each round a long instruction of the vector engine, and a short one
    of the scalar engine, which do not share data."""

    def rounds(x):
        for i in range(3):
            long, short = nl.load(x), nl.load(x[:, 0:1])
            nisa.tensor_scalar(dst=long, data=long, op0=nl.add, operand0=1.0,
                               name="long")
            if i < count:
                nisa.activation(dst=short, op=nl.exp, data=short, name="short")
        return x

    return rounds


def overtaken(kernel, x):
    """How many rounds' short instructions, of all cores, start before the
    long one of their round has ended."""
    rows = kernel.profile(x).instructions
    count = 0
    for core in range(kernel.cores):
        own = rows["core"] == core
        shorts = rows["start"][own & (rows["operation"] == "activation")]
        longs = rows["end"][own & (rows["operation"] == "tensor_scalar")]
        assert len(shorts) == len(longs) == 3
        count += int((np.sort(shorts) < np.sort(longs)).sum())
    return count


@pytest.mark.parametrize("cores", [1, 2])
def test_a_schedule_orders_every_instruction_of_a_name_on_every_core(cores):
    free = nki.jit(rounds_of(3))[cores]
    x = ramp(128, 4096) / 2**20
    tied = free.with_schedule([("short", "long")])
    assert overtaken(free, x) == 3 * cores
    assert overtaken(tied, x) == 0


def test_a_schedule_of_names_that_are_not_issued_equally_often_is_refused():
    kernel = nki.jit(rounds_of(2)).with_schedule([("short", "long")])
    fault = refused(kernel, ramp(4, 4))
    assert fault.id == "nki.schedule_count"
    assert "2 instructions have name='short', and 3 have" in fault.message


def on_core(core):
    @nki.jit
    def kernel(x):
        t, u = nl.load(x), nl.load(x)
        nisa.activation(dst=t, op=nl.exp, data=t, name="a")
        if nl.program_id(0) == core:
            nisa.reciprocal(dst=u, data=u, name="b")
        return x

    return kernel[2].with_schedule([("b", "a")])


@pytest.mark.parametrize("core", [0, 1])
def test_a_core_without_one_of_the_names_has_nothing_to_order(core):
    on_core(core)(ramp(4, 4) + 1)


def test_a_schedule_of_instructions_of_two_cores_is_refused():
    @nki.jit
    def kernel(x):
        t = nl.load(x)
        nisa.activation(dst=t, op=nl.exp, data=t, name="ab"[nl.program_id(0)])
        return x

    fault = refused(kernel[2].with_schedule([("b", "a")]), ramp(4, 4))
    assert fault.id == "nki.schedule_name" and "no core has" in fault.message


def halves(give):
    @nki.jit
    def kernel(x):
        core = nl.program_id(0)
        rows = slice(4 * core, 4 * core + 4)
        a = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        b = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for out in (a, b):
            nl.store(out[rows], nl.load(x[rows]))
        return give(core, a, b)

    return kernel[2]


@pytest.mark.parametrize("give, said", [
    (lambda core, a, b: a if core == 0 else None, "'a' (8, 24) and core 1 no"),
    (lambda core, a, b: a if core == 1 else None, "no tensor and core 1 'a'"),
    (lambda core, a, b: (a, b) if core else (b, a), "'b' (8, 24), 'a' (8, 24)"),
    (lambda core, a, b: a[core], "'a' (24,) and core 1 'a' (24,)"),
])
def test_cores_that_return_different_things_are_refused(give, said):
    fault = refused(halves(give), ramp(8, 24))
    assert fault.id == "nki.results_differ" and said in fault.message


def test_cores_return_the_same_parts_of_tensors():
    first, half = halves(lambda core, a, b: (a, b[4:8]))(ramp(8, 24))
    np.testing.assert_array_equal(first, ramp(8, 24))
    np.testing.assert_array_equal(half, ramp(8, 24)[4:8])


def test_a_python_number_that_differs_is_core_zeros():
    out, core = halves(lambda core, a, b: (a, core))(ramp(8, 24))
    assert core == 0 and out.shape == (8, 24)
