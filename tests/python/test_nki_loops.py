"""Registers, device loops, order, and two cores."""

from __future__ import annotations

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def ramp(*shape, dtype=np.float32):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def sum_rows(body_of):
    """A kernel that adds rows 0 to n - 1 of x, with n read on the device."""

    @nki.jit
    def kernel(x, n):
        count = nl.ndarray((1, 1), nl.int32)
        total = nl.zeros((1, x.shape[1]), x.dtype)
        row = nl.ndarray((1, x.shape[1]), x.dtype)
        nisa.dma_copy(dst=count, src=n)

        def add(i):
            nisa.dma_copy(dst=row, src=x.select(0, i))
            nisa.tensor_tensor(dst=total, data1=total, data2=row, op=nl.add)

        body_of(count, add)
        out = nl.ndarray((1, x.shape[1]), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=total)
        return out

    return kernel


def with_fori(count, add):
    rows = nisa.register_alloc()
    nisa.register_load(rows, count)
    nl.fori_loop(0, rows, add)


def with_dynamic_range(count, add):
    rows = nisa.register_alloc()
    nisa.register_load(rows, count)
    for i in nl.dynamic_range(rows):
        add(i)


def with_while_loop(count, add):
    one = nl.full((1, 1), 1, nl.int32)
    left = nisa.register_alloc()
    nisa.register_load(left, count)

    def body(r):
        nisa.tensor_tensor(dst=count, data1=count, data2=one, op=nl.subtract)
        nisa.register_load(r, count)
        add(r)
        return r

    nl.while_loop(left, body)


def with_while_register(count, add):
    one = nl.full((1, 1), 1, nl.int32)
    left = nisa.register_alloc()
    nisa.register_load(left, count)
    while left:
        nisa.tensor_tensor(dst=count, data1=count, data2=one, op=nl.subtract)
        nisa.register_load(left, count)
        add(left)


@pytest.mark.parametrize(
    "form", [with_fori, with_dynamic_range, with_while_loop,
             with_while_register])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_device_loop_repeats_as_often_as_the_device_says(form, n):
    kernel = sum_rows(form)
    x = ramp(6, 16)
    out = kernel(x, np.array([[n]], np.int32))
    np.testing.assert_array_equal(out[0], x[:n].sum(0))
    assert "Branch" in kernel.program.to_text()


def test_the_size_of_the_program_does_not_grow_with_the_trip_count():
    sizes = []
    for n in (2, 1000):
        @nki.jit
        def kernel(x):
            t = nl.load(x)
            nl.fori_loop(0, n, lambda i: nisa.tensor_scalar(
                dst=t, data=t, op0=nl.add, operand0=1.0))
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            nl.store(out, t)
            return out

        np.testing.assert_array_equal(kernel(ramp(4, 4)), ramp(4, 4) + n)
        sizes.append(kernel.program.num_instructions)
    assert sizes[0] == sizes[1]


def test_nested_device_loops_run_inner_loops_anew():
    @nki.jit
    def kernel(x):
        t = nl.load(x)

        def outer(i):
            nl.fori_loop(0, 3, lambda j: nisa.tensor_scalar(
                dst=t, data=t, op0=nl.add, operand0=1.0))
            nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0)

        nl.fori_loop(0, 2, outer)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, t)
        return out

    x = ramp(4, 4)
    np.testing.assert_array_equal(kernel(x), ((x + 3) * 2 + 3) * 2)


def test_a_psum_tile_of_the_body_starts_over_in_each_iteration():
    """accumulate=None overwrites at the first matmul of each iteration."""

    @nki.jit
    def kernel(a):
        t = nl.load(a)
        out = nl.ndarray((128, 128), nl.float32, buffer=nl.shared_hbm)

        def body(i):
            p = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=p, stationary=t, moving=t)
            nisa.nc_matmul(dst=p, stationary=t, moving=t)
            nl.store(out, nl.copy(p))

        nl.fori_loop(0, 4, body)
        return out

    a = np.eye(128, dtype=np.float32) * 3
    np.testing.assert_array_equal(kernel(a), 2 * a @ a)


@pytest.mark.parametrize("use", [
    lambda i, x: nisa.register_move(nisa.register_alloc(), i),
    lambda i, x: nl.load(x.select(0, i)),
    lambda i, x: nl.load(x[nl.ds(i, 1)]),
    lambda i, x: nl.fori_loop(0, i, lambda j: None),
    lambda i, x: nl.while_loop(i, lambda j: j),
])
def test_a_loop_s_counter_has_no_value_after_the_loop(use):
    @nki.jit
    def kernel(x):
        kept = []
        nl.fori_loop(0, 3, kept.append)
        use(kept[0], x)
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "fori_loop.counter_ended"


@pytest.mark.parametrize("use", [
    lambda r, x: nisa.register_move(nisa.register_alloc(), r),
    lambda r, x: nl.load(x.select(0, r)),
    lambda r, x: nl.fori_loop(0, r, lambda j: None),
    lambda r, x: nl.while_loop(r, lambda j: j),
])
def test_a_register_of_the_other_core_is_refused(use):
    kept = {}

    @nki.jit
    def kernel(x):
        kept[nl.program_id(0)] = nisa.register_alloc(1)
        nisa.core_barrier(data=x, cores=(0, 1))
        use(kept[0], x)
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel[2](ramp(4, 4))
    assert caught.value.id == "register.core"


def test_a_tensor_of_another_kernel_cannot_be_returned():
    kept = []
    nki.jit(lambda x: kept.extend(
        nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm)
        for _ in range(9)))(ramp(4, 4))
    with pytest.raises(trnemu.Fault, match="another kernel") as caught:
        nki.jit(lambda x: kept[8])(ramp(4, 4))
    assert caught.value.id == "argument.builder"


def test_break_out_of_a_device_loop_is_refused():
    @nki.jit
    def kernel(x):
        for _ in nl.dynamic_range(4):
            break
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == "nki.loop_left"


@pytest.mark.parametrize("use, id", [
    (lambda r: range(r), "nki.register_value"),
    (lambda r: int(r), "nki.register_value"),
    (lambda r: r > 3, "nki.register_value"),
    (lambda r: r + 1, "nki.register_arithmetic"),
    (lambda r: 1 if r else 0, "nki.register_branch"),
    (lambda r: nl.fori_loop(0, 4, lambda i: None, step=r), "nki.loop_step"),
    (lambda r: nl.while_loop(1, lambda i: i), "nki.while_condition"),
    (lambda r: nl.while_loop(r, lambda i: None), "nki.while_condition"),
])
def test_what_needs_a_register_s_value_is_refused(use, id):
    @nki.jit
    def kernel(x):
        use(nisa.register_alloc(5))
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4))
    assert caught.value.id == id


def test_nl_ds_takes_a_register_as_its_start():
    @nki.jit
    def kernel(x, at):
        index = nl.ndarray((1, 1), nl.int32)
        nisa.dma_copy(dst=index, src=at)
        start = nisa.register_alloc()
        nisa.register_load(start, index)
        a = nl.ndarray((4, 3), x.dtype)
        nisa.dma_copy(dst=a, src=x[:, nl.ds(start, 3)])
        b = nl.ndarray((2, 8), x.dtype)
        nisa.dma_copy(dst=b, src=x[nl.ds(index, 2), :])
        outs = [nl.ndarray(t.shape, x.dtype, buffer=nl.shared_hbm)
                for t in (a, b)]
        for out, t in zip(outs, (a, b)):
            nisa.dma_copy(dst=out, src=t)
        return tuple(outs)

    x = ramp(4, 8)
    for at in (0, 2):
        a, b = kernel(x, np.array([[at]], np.int32))
        np.testing.assert_array_equal(a, x[:, at:at + 3])
        np.testing.assert_array_equal(b, x[at:at + 2])
    with pytest.raises(trnemu.Fault) as caught:  # 3 + 2 rows of 4
        kernel(x, np.array([[3]], np.int32))
    assert caught.value.category == "out_of_bounds"


def test_a_dynamic_access_pattern_counts_along_the_dimension_of_the_view():
    """sdk#1373: A = arange(16) 4x4, pattern [[4,2],[1,2]], offset along 1."""

    @nki.jit
    def kernel(x, at):
        index = nl.load(at)
        part = x[1:4, :]
        t = nl.ndarray((2, 2), x.dtype)
        nisa.dma_copy(dst=t, src=part.ap([[4, 2], [1, 2]], scalar_offset=index,
                                         indirect_dim=1))
        out = nl.ndarray((2, 2), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, t)
        return out

    x = ramp(4, 4)
    for at in (0, 2):
        out = kernel(x, np.array([[at]], np.int32))
        np.testing.assert_array_equal(out, x[1:3, at:at + 2])
    with pytest.raises(trnemu.Fault) as caught:
        kernel(x, np.array([[3]], np.int32))
    assert caught.value.category == "out_of_bounds"


# ---- order ----


def three_steps(order):
    """A kernel of two instructions that data does not order."""

    @nki.jit
    def kernel(x):
        a, b = nl.load(x), nl.load(x)
        first = nisa.activation(dst=a, op=nl.exp, data=a, name="first")
        order(first, lambda: nisa.tensor_scalar(
            dst=b, data=b, op0=nl.add, operand0=1.0, name="second"))
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
        nl.store(out, a)
        return out

    return kernel


def test_depends_on_makes_an_instruction_wait():
    free = three_steps(lambda first, second: second())
    tied = three_steps(lambda first, second: second().depends_on(first))
    x = ramp(128, 512) / 65536
    np.testing.assert_array_equal(free(x), tied(x))
    assert tied.result.time_ns > free.result.time_ns


def test_no_reorder_makes_each_instruction_wait_for_the_one_before():
    def blocked(first, second):
        second()

    free = three_steps(blocked)

    @nki.jit
    def tied(x):
        with nl.no_reorder():
            return free.func(x)

    x = ramp(128, 512) / 65536
    np.testing.assert_array_equal(free(x), tied(x))
    assert tied.result.time_ns > free.result.time_ns


def test_with_schedule_orders_instructions_by_name():
    free = three_steps(lambda first, second: second())
    x = ramp(128, 512) / 65536
    tied = free.with_schedule([("second", "first")])
    np.testing.assert_array_equal(free(x), tied(x))
    assert tied.result.time_ns > free.result.time_ns
    listed = free.with_schedule([("second", ["first"])])
    listed(x)
    assert listed.result.time_ns == tied.result.time_ns
    for edges, id in (([("second", "fist")], "nki.schedule_name"),
                      ([("first", "second")], "nki.order_later")):
        with pytest.raises(trnemu.Fault) as caught:
            free.with_schedule(edges)(x)
        assert caught.value.id == id


def test_an_instruction_cannot_be_ordered_after_one_in_another_loop():
    @nki.jit
    def kernel(x):
        t, u = nl.load(x), nl.load(x)
        inside = []
        nl.fori_loop(0, 2, lambda i: inside.append(
            nisa.activation(dst=t, op=nl.exp, data=t)))
        nisa.reciprocal(dst=u, data=u).depends_on(inside[0])
        return x

    with pytest.raises(trnemu.Fault) as caught:
        kernel(ramp(4, 4) + 1)
    assert caught.value.id == "nki.order"


def test_an_instruction_in_a_loop_can_wait_for_one_before_it():
    @nki.jit
    def kernel(x):
        t, u = nl.load(x), nl.load(x)
        before = nisa.activation(dst=t, op=nl.exp, data=t)

        def body(i):
            nisa.tensor_scalar(dst=u, data=u, op0=nl.add,
                               operand0=1.0).depends_on(before)

        nl.fori_loop(0, 2, body)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, u)
        return out

    np.testing.assert_array_equal(kernel(ramp(4, 4)), ramp(4, 4) + 2)


# ---- two cores ----


@nki.jit
def halves(x):
    core, cores = nl.program_id(0), nl.num_programs()
    rows = x.shape[0] // cores
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    mine = slice(core * rows, (core + 1) * rows)
    t = nl.load(x[mine])
    nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=float(core + 1))
    nl.store(out[mine], t)
    return out


def test_two_cores_share_an_output():
    x = ramp(8, 16)
    np.testing.assert_array_equal(halves(x), x + 1)
    two = halves[2](x)
    np.testing.assert_array_equal(two[:4], x[:4] + 1)
    np.testing.assert_array_equal(two[4:], x[4:] + 2)
    np.testing.assert_array_equal(halves[(2,)](x), two)
    np.testing.assert_array_equal(nki.simulate(halves[2])(x), two)


def test_the_launch_grid_is_what_program_ndim_says():
    seen = []

    @nki.jit
    def ask(x):
        seen.append((nl.program_ndim(), nl.num_programs(), nl.program_id(0)))
        return x

    ask(ramp(4, 4))
    ask[1](ramp(4, 4))
    ask[2](ramp(4, 4))
    assert seen == [(0, 1, 0), (1, 1, 0), (1, 2, 0), (1, 2, 1)]


@pytest.mark.parametrize("grid", [3, 0, (2, 2), True, "2"])
def test_other_grids_are_refused(grid):
    with pytest.raises(trnemu.Fault) as caught:
        halves[grid]
    assert caught.value.id == "nki.grid"


def test_cores_exchange_tiles():
    @nki.jit
    def swap(x):
        me = nl.program_id(0)
        mine = nl.load(x[4 * me:4 * me + 4])
        theirs = nl.ndarray(mine.shape, mine.dtype)
        nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - me,
                      recv_from_rank=1 - me, pipe_id=0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out[4 * me:4 * me + 4], theirs)
        return out

    x = ramp(8, 16)
    np.testing.assert_array_equal(swap[2](x), np.roll(x, 4, axis=0))


def test_a_barrier_orders_what_the_other_core_wrote():
    def kernel_with(barrier):
        @nki.jit
        def kernel(x):
            me = nl.program_id(0)
            shared = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            half = slice(4 * me, 4 * me + 4)
            nl.store(shared[half], nl.load(x[half]))
            if barrier:
                nisa.core_barrier(data=shared, cores=(0, 1))
            out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
            other = slice(4 - 4 * me, 8 - 4 * me)
            nl.store(out[other], nl.load(shared[other]))
            return out
        return kernel

    x = ramp(8, 16)
    np.testing.assert_array_equal(kernel_with(True)[2](x), x)
    with pytest.raises(trnemu.Fault) as caught:
        kernel_with(False)[2](x)
    assert caught.value.category in ("race", "uninitialized")


def test_cores_that_write_one_place_are_run_in_other_orders():
    @nki.jit
    def kernel(x, differ):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        t = nl.ndarray(x.shape, x.dtype)
        value = float(nl.program_id(0)) if differ else 3.0
        nisa.memset(dst=t, value=value)
        nl.store(out, t)
        return out

    with pytest.warns(nki.KernelWarning, match="race.replicated_write"):
        out = kernel[2](ramp(4, 4), False)
    np.testing.assert_array_equal(out, np.full((4, 4), 3))
    with pytest.raises(trnemu.Fault) as caught:
        kernel[2](ramp(4, 4), True)
    assert caught.value.id == "schedule.outputs_differ"


def test_cores_that_allocate_different_outputs_are_refused():
    @nki.jit
    def kernel(x):
        rows = 4 + nl.program_id(0)
        return nl.ndarray((rows, 4), x.dtype, buffer=nl.shared_hbm)

    with pytest.raises(trnemu.Fault) as caught:
        kernel[2](ramp(4, 4))
    assert caught.value.id == "nki.shared_differs"


@pytest.mark.parametrize("core", [0, 1])
def test_an_exception_on_either_core_ends_the_launch(core):
    @nki.jit
    def kernel(x):
        nisa.core_barrier(data=x, cores=(0, 1))
        if nl.program_id(0) == core:
            raise KeyError(core)
        nisa.core_barrier(data=x, cores=(0, 1))
        return x

    with pytest.raises(KeyError):
        kernel[2](ramp(4, 4))
    np.testing.assert_array_equal(halves[2](ramp(8, 4))[:4], ramp(8, 4)[:4] + 1)
