"""Registers and loops: what they compute, in every order; what is refused.

Expected values are worked out in Python beside each program. behaviours.md row
27 is about counted loops.
"""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit

F32 = np.float32
SCHEDULES = ["timed", "program", *range(20)]


def same_in_all_orders(program, inputs, name="y"):
    """The output in timed order, having seen the others give the same bits."""
    first = trnemu.run(program, inputs).outputs[name]
    for schedule in SCHEDULES[1:]:
        timed = schedule == "timed"
        again = trnemu.run(program, inputs, schedule=schedule, time=timed)
        np.testing.assert_array_equal(
            again.outputs[name].view(np.uint8), first.view(np.uint8),
            err_msg=f"schedule {schedule}",
        )
    return first


def counting(target="trn2", hi=3, lo=0, step=1):
    """A program that adds up the counter in y[0, 0], one more per iteration
    in y[0, 1]."""
    b = trnemu.ProgramBuilder(target=target)
    y = b.output("y", (1, 2), "int32")
    total, trips = b.register_alloc(0), b.register_alloc(0)
    with b.fori_loop(lo, hi, step) as i:
        b.register_alu(total, "add", total, i)
        b.register_alu(trips, "add", trips, 1)
    t = b.sbuf((1, 2), "int32")
    b.register_store(t[:, 0:1], total)
    b.register_store(t[:, 1:2], trips)
    b.dma_copy(dst=y, src=t)
    return b


@pytest.mark.parametrize("target", TARGETS)
def test_a_counted_loop_visits_every_step_below_its_end(target):
    for lo, hi, step in [(0, 3, 1), (2, 9, 3), (5, 5, 1), (7, 3, 2), (-4, 4, 3)]:
        visited = list(range(lo, hi, step))
        out = trnemu.run(counting(target, hi, lo, step).build(), {}).outputs["y"]
        assert out.tolist() == [[sum(visited), len(visited)]], (lo, hi, step)


def runtime_count(n):
    """y[i] = i + 1 for i below a count that is loaded when it runs."""
    b = trnemu.ProgramBuilder()
    count = b.input("n", (1, 1), "int32")
    y = b.output("y", (1, 1), "int32")
    c, t = b.sbuf((1, 1), "int32"), b.sbuf((1, 1), "int32")
    b.dma_copy(dst=c, src=count)
    last, hi = b.register_alloc(-1), b.register_alloc()
    b.register_load(hi, c)
    with b.fori_loop(0, hi) as i:
        b.register_alu(last, "add", i, 0)
    b.register_store(t, last)
    b.dma_copy(dst=y, src=t)
    return trnemu.run(b.build(), {"n": np.array([[n]], np.int32)}).outputs["y"]


@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_the_trip_count_can_be_a_matter_of_the_run(n):
    assert runtime_count(n).tolist() == [[n - 1]]


def test_writing_the_counter_of_a_loop_is_an_error():
    b = trnemu.ProgramBuilder()
    with b.fori_loop(0, 4) as i:
        for write in (
            lambda: b.register_move(i, 0),
            lambda: b.register_alu(i, "add", i, 1),
            lambda: b.register_load(i, b.sbuf((1, 1), "int32")),
        ):
            with pytest.raises(trnemu.Fault) as e:
                write()
            assert e.value.id == "fori_loop.counter_written"


@pytest.mark.parametrize("step", [0, -1, -8])
def test_a_step_that_is_not_positive_is_an_error(step):
    b = trnemu.ProgramBuilder()
    with pytest.raises(trnemu.Fault) as e:
        with b.fori_loop(0, 4, step):
            pass
    assert e.value.id == "fori_loop.step"


def test_a_counter_that_would_leave_32_bits_is_refused():
    largest = 2**31 - 1
    b = trnemu.ProgramBuilder()
    with b.fori_loop(largest - 8, largest):
        pass
    with pytest.raises(trnemu.Fault) as e:
        with b.fori_loop(0, largest, 2):
            pass
    assert e.value.id == "fori_loop.bounds"


def test_a_bound_is_read_once_before_the_first_iteration():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, 1), "int32")
    hi, trips = b.register_alloc(3), b.register_alloc(0)
    with b.fori_loop(0, hi):
        b.register_alu(hi, "add", hi, 5)
        b.register_alu(trips, "add", trips, 1)
    t = b.sbuf((1, 1), "int32")
    b.register_store(t, trips)
    b.dma_copy(dst=y, src=t)
    assert trnemu.run(b.build(), {}).outputs["y"].tolist() == [[3]]


def test_nested_loops_multiply():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, 1), "int32")
    total = b.register_alloc(0)
    with b.fori_loop(0, 5) as i:
        with b.fori_loop(i, 7, 2) as j:
            product = b.register_alloc()
            b.register_alu(product, "multiply", i, j)
            b.register_alu(total, "add", total, product)
    t = b.sbuf((1, 1), "int32")
    b.register_store(t, total)
    b.dma_copy(dst=y, src=t)
    want = sum(i * j for i in range(5) for j in range(i, 7, 2))
    assert trnemu.run(b.build(), {}).outputs["y"].tolist() == [[want]]


@pytest.mark.parametrize("n", [0, 1, 27])
def test_a_conditional_loop_tests_before_each_iteration(n):
    """The Collatz sequence of n, with a condition that memory holds."""
    def steps(x):
        count = 0
        while x > 1:
            x = 3 * x + 1 if x & 1 else x >> 1
            count += 1
        return count

    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, 1), "int32")
    x, count = b.register_alloc(n), b.register_alloc(0)
    going, odd, up, down = (b.register_alloc() for _ in range(4))
    b.register_alu(going, "greater", x, 1)
    with b.while_loop(going):
        b.register_alu(odd, "and", x, 1)
        b.register_alu(up, "multiply", x, 3)
        b.register_alu(up, "add", up, 1)
        b.register_alu(up, "multiply", up, odd)
        b.register_alu(down, "shift_right", x, 1)
        b.register_alu(odd, "xor", odd, 1)
        b.register_alu(down, "multiply", down, odd)
        b.register_alu(x, "add", up, down)
        b.register_alu(count, "add", count, 1)
        b.register_alu(going, "greater", x, 1)
    t = b.sbuf((1, 1), "int32")
    b.register_store(t, count)
    b.dma_copy(dst=y, src=t)
    assert trnemu.run(b.build(), {}).outputs["y"].tolist() == [[steps(n)]]


ALU = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b if 0 <= b < 32 else 0,
    "shift_right": lambda a, b: (a & 0xFFFFFFFF) >> b if 0 <= b < 32 else 0,
    "min": min,
    "max": max,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "greater_equal": lambda a, b: a >= b,
    "greater": lambda a, b: a > b,
    "less_equal": lambda a, b: a <= b,
    "less": lambda a, b: a < b,
}


@pytest.mark.parametrize("op", ALU)
def test_register_arithmetic_wraps_at_32_bits(op):
    pairs = [(3, 5), (-7, 2), (2**31 - 1, 1), (-(2**31), -1), (5, 32), (1, 31),
             (-1, 4), (0, 0), (65537, 65537)]
    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, len(pairs)), "int32")
    t = b.sbuf((1, len(pairs)), "int32")
    for n, (x, z) in enumerate(pairs):
        r, s = b.register_alloc(x), b.register_alloc(z)
        b.register_alu(r, op, r, s)
        b.register_store(t[:, n : n + 1], r)
    b.dma_copy(dst=y, src=t)
    want = [int(ALU[op](x, z)) & 0xFFFFFFFF for x, z in pairs]
    out = trnemu.run(b.build(), {}).outputs["y"]
    assert out.view(np.uint32).tolist() == [want]


@pytest.mark.parametrize(
    "value, dtype, want",
    [(-3, "int8", -3), (200, "uint8", 200), (-300, "int16", -300),
     (65535, "uint16", 65535), (-1, "int32", -1), (1.5, "float32", 0x3FC00000),
     (1.5, "bfloat16", 0x3FC0)],
)
def test_a_load_extends_integers_and_keeps_the_bits_of_floats(value, dtype, want):
    import ml_dtypes

    k = Kit()
    array = np.array([[value]], np.dtype(getattr(ml_dtypes, dtype, dtype)))
    source, t = k.load(array, dtype), k.empty((1, 1), "int32")
    r = k.b.register_alloc()
    k.b.register_load(r, source)
    k.b.register_store(t, r)
    assert k.one(t).tolist() == [[want]]


def test_a_register_that_nothing_has_set_is_reported():
    b = trnemu.ProgramBuilder()
    t = b.sbuf((1, 1), "int32")
    b.register_store(t, b.register_alloc())
    b.dma_copy(dst=b.output("y", (1, 1), "int32"), src=t)
    with pytest.raises(trnemu.Fault) as e:
        trnemu.run(b.build(), {})
    assert e.value.category == "uninitialized" and e.value.id == "register.unset"


def test_registers_are_refused_where_tiles_go_and_other_builders_too():
    b, other = trnemu.ProgramBuilder(), trnemu.ProgramBuilder()
    with pytest.raises(TypeError):
        b.memset(dst=b.register_alloc(0), value=1)
    with pytest.raises(TypeError):
        b.register_move(3, 4)
    with pytest.raises(trnemu.Fault) as e:
        b.register_move(b.register_alloc(), other.register_alloc())
    assert e.value.id == "argument.builder"
    with pytest.raises(trnemu.Fault) as e:
        b.register_alloc(2**32)
    assert e.value.id == "register_alloc.value"


def test_building_inside_a_loop_is_refused():
    b = trnemu.ProgramBuilder()
    with b.fori_loop(0, 2):
        with pytest.raises(trnemu.Fault) as e:
            b.build()
    assert e.value.id == "loop.open"
    b.build()


def pipeline(iterations, buffers=1):
    """Load, double on the vector engine, add on gpsimd, store."""
    b = trnemu.ProgramBuilder()
    x = b.input("x", (128, 8), "float32")
    y = b.output("y", (128, 8), "float32")
    total = b.sbuf((128, 8), "float32")
    b.memset(dst=total, value=0)
    with b.fori_loop(0, iterations):
        for _ in range(buffers):
            t, u = b.sbuf((128, 8), "float32"), b.sbuf((128, 8), "float32")
            b.dma_copy(dst=t, src=x)
            b.tensor_scalar(dst=u, data=t, op0="multiply", operand0=2.0)
            b.tensor_tensor(dst=total, data1=total, data2=u, op="add",
                            engine="gpsimd")
    b.dma_copy(dst=y, src=total)
    return b.build()


@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_a_pipeline_in_a_loop_gives_the_same_bits_in_every_order(buffers):
    x = np.random.default_rng(7).integers(-9, 9, (128, 8)).astype(F32)
    out = same_in_all_orders(pipeline(5, buffers), {"x": x})
    np.testing.assert_array_equal(out, 10 * buffers * x)


def test_a_matmul_accumulates_over_iterations_in_psum_made_before_the_loop():
    rng = np.random.default_rng(3)
    a = rng.integers(-3, 3, (128, 16)).astype(F32)
    w = rng.integers(-3, 3, (128, 8)).astype(F32)
    k = Kit()
    moving, stationary = k.load(a), k.load(w)
    p = k.empty((8, 16), "float32", "psum")
    with k.b.fori_loop(0, 6):
        k.b.nc_matmul(dst=p, stationary=stationary, moving=moving)
    t = k.empty((8, 16))
    k.b.tensor_copy(dst=t, src=p)
    program = k.build(t)
    out = same_in_all_orders(program, k.inputs, "out0")
    np.testing.assert_array_equal(out, 6 * (w.T @ a))


def test_psum_made_inside_the_loop_starts_anew_in_every_iteration():
    rng = np.random.default_rng(3)
    a = rng.integers(-3, 3, (128, 16)).astype(F32)
    w = rng.integers(-3, 3, (128, 8)).astype(F32)
    k = Kit()
    moving, stationary = k.load(a), k.load(w)
    total = k.filled((8, 16), 0)
    with k.b.fori_loop(0, 4):
        p = k.empty((8, 16), "float32", "psum")
        for _ in range(2):
            k.b.nc_matmul(dst=p, stationary=stationary, moving=moving)
        k.b.tensor_tensor(dst=total, data1=total, data2=p, op="add")
    program = k.build(total)
    out = same_in_all_orders(program, k.inputs, "out0")
    np.testing.assert_array_equal(out, 8 * (w.T @ a))


def test_a_transpose_in_a_loop_that_never_runs_leaves_its_identity_usable():
    x = np.arange(16, dtype=F32).reshape(4, 4)
    k = Kit()
    t = k.load(x)
    p, q = (k.empty((4, 4), "float32", "psum") for _ in range(2))
    with k.b.fori_loop(0, 0):
        k.b.nc_transpose(dst=p, data=t, engine="tensor")
    k.b.nc_transpose(dst=q, data=t, engine="tensor")
    u = k.empty((4, 4))
    k.b.tensor_copy(dst=u, src=q)
    np.testing.assert_array_equal(k.one(u), x.T)


def test_a_hundred_thousand_iterations_keep_their_semaphores_in_range():
    b = trnemu.ProgramBuilder()
    y = b.output("y", (1, 1), "float32")
    t, u = b.sbuf((1, 1), "float32"), b.sbuf((1, 1), "float32")
    b.memset(dst=t, value=0)
    with b.fori_loop(0, 100_000):
        b.tensor_scalar(dst=u, data=t, op0="add", operand0=1.0,
                        engine="vector")
        b.tensor_copy(dst=t, src=u, engine="gpsimd")
    b.dma_copy(dst=y, src=t)
    r = trnemu.run(b.build(), {}, time=False)
    assert r.outputs["y"].tolist() == [[100_000.0]]


def test_waits_and_signals_take_registers():
    b = trnemu.ProgramBuilder(sync="explicit")
    y = b.output("y", (1, 4), "float32")
    t = b.sbuf((1, 4), "float32")
    s, done = b.semaphore(), b.semaphore()
    two, four = b.register_alloc(2), b.register_alloc(4)
    b.memset(dst=t[:, 0:2], value=5, engine="vector", signal=[(s, two)])
    b.memset(dst=t[:, 2:4], value=6, engine="gpsimd", signal=[(s, two)])
    b.dma_copy(dst=y, src=t, wait=[trnemu.Wait(s, four, consume=True)],
               signal=[trnemu.Signal(done, "add", two)])
    program = b.build()
    for schedule in SCHEDULES:
        r = trnemu.run(program, {}, schedule=schedule, time=schedule == "timed")
        assert r.outputs["y"].tolist() == [[5, 5, 6, 6]]




def test_programs_with_loops_survive_the_text_form_and_the_file(tmp_path):
    program = pipeline(3)
    again = trnemu.Program.from_text(program.to_text())
    assert again.to_text() == program.to_text()
    program.save(tmp_path / "k.trn")
    loaded = trnemu.Program.load(tmp_path / "k.trn")
    x = np.ones((128, 8), F32)
    np.testing.assert_array_equal(
        trnemu.run(loaded, {"x": x}).outputs["y"], 6 * x
    )
    assert loaded.verify() == []


def test_a_branch_outside_its_stream_is_malformed():
    text = pipeline(3).to_text()
    assert "target=" in text
    at = text.index("target=") + len("target=")
    end = at
    while text[end].isdigit():
        end += 1
    with pytest.raises(trnemu.Fault) as e:
        trnemu.Program.from_text(text[:at] + "9999" + text[end:])
    assert e.value.id == "malformed.branch"


def test_more_than_64_registers_of_one_engine_are_refused():
    for count, legal in ((64, True), (65, False)):
        b = trnemu.ProgramBuilder()
        t = b.sbuf((1, count), "int32")
        for n in range(count):
            b.register_store(t[:, n : n + 1], b.register_alloc(n))
        if legal:
            b.build()
            continue
        with pytest.raises(trnemu.Fault) as e:
            b.build()
        assert e.value.category == "limit" and e.value.id == "register.count"


def test_values_off_refuses_a_program_whose_control_depends_on_data():
    b = trnemu.ProgramBuilder()
    n = b.input("n", (1, 1), "int32")
    t = b.sbuf((1, 1), "int32")
    b.dma_copy(dst=t, src=n)
    hi = b.register_alloc()
    b.register_load(hi, t)
    with b.fori_loop(0, hi):
        b.memset(dst=t, value=0)
    with pytest.raises(trnemu.Fault) as e:
        trnemu.run(b.build(), {"n": np.zeros((1, 1), np.int32)}, values=False)
    assert e.value.category == "unsupported"
    # Counts that the program holds are no data.
    trnemu.run(pipeline(4), {"x": np.zeros((128, 8), F32)}, values=False)


def test_an_endless_loop_stops_at_the_budget():
    b = trnemu.ProgramBuilder()
    one = b.register_alloc(1)
    t = b.sbuf((1, 1), "float32")
    with b.while_loop(one):
        b.memset(dst=t, value=0)
    with pytest.raises(trnemu.Fault) as e:
        trnemu.run(b.build(), {}, max_instructions=1000)
    assert e.value.id == "limit.instructions"


def test_loops_take_time_for_every_iteration():
    x = {"x": np.ones((128, 8), F32)}
    times = [trnemu.run(pipeline(n), x).time_ns for n in (1, 2, 10, 11)]
    assert times[0] < times[1] < times[2] < times[3]
    assert times[3] - times[2] == pytest.approx(times[1] - times[0], rel=0.5)
