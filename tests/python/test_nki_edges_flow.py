"""Edges of device loops, values and two cores. Right, or refused in words."""

from __future__ import annotations

import copy
import dataclasses
import gc
import threading
from typing import Any

import numpy as np
import pytest
from nki_edges import add, body, plus, ramp, refused, stored

import trnemu
from trnemu import nki
from trnemu.nki import _trace
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl

same = np.testing.assert_array_equal


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = threading.enumerate()  # other tests' may end when they like
    yield
    assert _trace.active() is None and not _trace._recordings
    assert set(threading.enumerate()) <= set(before)


# Device loops.


def left(use):
    """The fault of a kernel with use(tile, kept) in it."""
    kept: list[Any] = []

    @nki.jit(max_instructions=10_000)
    def kernel(x):
        tile = nl.load(x)
        use(tile, kept)
        return stored(tile)

    fault = refused(kernel, ramp(2, 2))
    kept.clear()
    gc.collect()
    same(plus(ramp(2, 2)), ramp(2, 2) + 1)
    return fault.id


def kept_open(tile, kept):
    loop = nl.dynamic_range(3)
    kept.append(loop)
    next(loop)
    add(tile)


def caught_in_fori(tile, kept):
    def fail(i):
        raise ValueError

    with pytest.raises(ValueError):
        nl.fori_loop(0, 3, fail)


def while_break(tile, kept):
    r = nisa.register_alloc(1)
    while r:
        add(tile)
        break


def while_return_twice(tile, kept):
    """A second call must not end the loop of the first."""

    def helper():
        while r:
            add(tile)
            return

    r = nisa.register_alloc(1)
    helper()
    helper()


def inner_while_break(tile, kept):
    """Would open the outer loop again and again."""
    r, q = nisa.register_alloc(1), nisa.register_alloc(1)
    while r:
        while q:
            add(tile)
            break


def unfinished_by_zip(tile, kept):
    for _ in zip(nl.dynamic_range(3), nl.dynamic_range(3), strict=False):
        add(tile)


@pytest.mark.parametrize("use", [
    kept_open, caught_in_fori, while_break, while_return_twice,
    inner_while_break, unfinished_by_zip])
def test_a_device_loop_that_is_left_is_refused(use):
    assert left(use) == "nki.loop_left"


def not_register(tile, kept):
    r = nisa.register_alloc(1)
    while not r:
        add(tile)


def and_registers(tile, kept):
    r, q = nisa.register_alloc(1), nisa.register_alloc(1)
    while r and q:
        add(tile)


def other_register(tile, kept):
    r = nisa.register_alloc(1)
    while r:
        add(tile)
        r = nisa.register_alloc(0)


@pytest.mark.parametrize("use", [not_register, and_registers, other_register])
def test_a_while_has_one_register_for_its_condition(use):
    assert left(use) == "nki.while_condition"


def countdown(register, tile):
    one = nl.full((1, 1), 1, nl.int32)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=one, op=nl.subtract)
    nisa.register_load(register, tile)


def test_while_loops_nest_and_repeat_in_dynamic_ranges():
    def three_times(tile):
        count = nl.full((1, 1), 3, nl.int32)
        r = nisa.register_alloc()
        nisa.register_load(r, count)
        while r:
            add(tile)
            countdown(r, count)
        else:
            add(tile, 100.0)

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        for _ in nl.dynamic_range(2):
            three_times(tile)
            three_times(tile)
        return stored(tile)

    same(kernel(ramp(2, 2)), ramp(2, 2) + 2 * 2 * 103)


def test_without_source_a_while_says_why_and_other_loops_work():
    names: dict[str, Any] = {"nl": nl, "nisa": nisa, "stored": stored,
                             "add": add, "np": np}
    exec("""
def loop(x):
    tile = nl.load(x)
    for i in nl.dynamic_range(3):
        add(tile)
    assert np.max(tile) > 0
    return stored(tile)

def while_(x):
    r = nisa.register_alloc(0)
    while r:
        pass
    return x

def branch(x):
    tile = nl.load(x)
    if np.max(tile) > 0:
        return x
    return x
""", names)
    same(nki.jit(names["loop"])(ramp(2, 2)), ramp(2, 2) + 3)
    fault = refused(nki.jit(names["while_"]), ramp(2, 2))
    assert fault.id == "nki.register_branch" and "no source" in fault.message
    fault = refused(nki.jit(names["branch"]), ramp(2, 2))
    assert fault.id == "nki.branch_on_values"


@pytest.mark.parametrize("use", [
    lambda r: r == 1, lambda r: 1 != r, lambda r: r in [1], lambda r: r < 1,
    lambda r: int(r), lambda r: range(r), lambda r: r << 1, lambda r: abs(r),
    lambda r: 1 | r, lambda r: r / 2,
])
def test_registers_have_no_values_in_the_kernel(use):
    kernel = nki.jit(lambda x: use(nisa.register_alloc(1)))
    assert refused(kernel, ramp(2, 2)).id in (
        "nki.register_value", "nki.register_arithmetic")


def test_a_register_without_a_value_prints_as_dashes(capsys):
    @nki.jit
    def kernel(x):
        print(nisa.register_alloc(), nisa.register_alloc(-5))
        return x

    kernel(ramp(2, 2))
    assert capsys.readouterr().out == "-- -5\n"


def test_no_reorder_nests_and_ends_with_its_exception():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        with nl.no_reorder():
            add(tile)
            with pytest.raises(ValueError), nl.no_reorder():
                add(tile)
                raise ValueError
            add(tile)
        nl.fori_loop(0, 3, lambda i: add(tile))  # not inside any more
        return stored(tile)

    same(kernel(ramp(2, 2)), ramp(2, 2) + 6)


@pytest.mark.parametrize("edges", [
    [("a",)], ["ab"], [(1, 2)], [("a", 3)], ("a", "b"), [("a", ["b", 1])],
])
def test_a_schedule_of_other_things_than_pairs_is_a_type_error(edges):
    with pytest.raises(TypeError, match="pairs of instruction names"):
        plus.with_schedule(edges)(ramp(2, 2))


# Values.


def assert_and(tile):
    assert np.max(tile) > 2 and 0 <= np.min(tile) < np.max(tile)


def assert_all(tile):
    assert all(v >= 0 for v in np.ravel(tile))


@pytest.mark.parametrize("use", [assert_and, assert_all])
def test_asserts_of_every_form_see_values(use, recwarn):
    nki.jit(lambda x: use(nl.load(x)))(ramp(2, 3))
    assert not recwarn.list


@pytest.mark.parametrize("use", [
    lambda t: [i for i in range(3) if np.max(t) > i],
    lambda t: np.max(t) > 3 and t,
    lambda t: np.max(t) > 3 or t,
    lambda t: 1 if np.array_split(t, 2)[0].all() else 0,
])
def test_branches_without_an_if_statement_are_seen(use):
    kernel = nki.jit(lambda x: [use(nl.load(x)), x][1])
    assert refused(kernel, ramp(2, 3)).id == "nki.branch_on_values"


@pytest.mark.parametrize("use", [
    lambda t: bool(np.max(t) > 3), lambda t: any(np.ravel(t)),
    lambda t: not np.max(t) > 3, lambda t: max(np.ravel(t)),
    lambda t: np.ravel(t).tolist(), lambda t: 3 in list(np.ravel(t)),
])
def test_values_that_leave_as_python_s_are_warned_about(use):
    kernel = nki.jit(lambda x: [use(nl.load(x)), x][1])
    with pytest.warns(nki.KernelWarning, match="constant of this run"):
        kernel(ramp(2, 3))


@pytest.mark.parametrize("use, error", [
    (lambda t: np.copyto(t, np.ones((2, 3))), ValueError),
    (lambda t: np.add(1, np.ones((2, 3)), out=t), trnemu.Fault),
    (lambda t: t.__iadd__(np.ones((2, 3))), trnemu.Fault),
])
def test_numpy_does_not_write_to_tiles(use, error):
    with pytest.raises(error):
        nki.jit(lambda x: use(nl.load(x)))(ramp(2, 3))


@dataclasses.dataclass
class Held:
    tensor: Any
    count: Any


def test_tensors_in_objects_are_copied_as_the_same_tensors():
    @nki.jit
    def kernel(x):
        made = Held(body(x), nisa.register_alloc(1))
        again = copy.deepcopy(made)
        assert again.tensor is made.tensor and again.count is made.count
        return dataclasses.asdict(again)["tensor"]

    same(kernel(ramp(2, 2)), ramp(2, 2) + 1)


# Two cores.


def halves(x, me):
    return x[2 * me:2 * me + 2]


def on_two_cores(use):
    @nki.jit(max_instructions=10_000)
    def kernel(x):
        me = nl.program_id(0)
        tile, other = nl.load(halves(x, me)), nl.ndarray((2, 1), x.dtype)

        def exchange():
            nisa.sendrecv(src=tile, dst=other, send_to_rank=1 - me,
                          recv_from_rank=1 - me, pipe_id=0)

        use(me, tile, other, exchange)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(halves(out, me), tile)
        return out

    return kernel[2]


def test_values_are_seen_on_both_cores_before_and_after_a_meeting():
    seen = []

    def use(me, tile, other, exchange):
        for turn in range(2):
            assert np.max(tile) == 2 * me + 1 + 4 * turn
            exchange()
            seen.append((turn, me, np.asarray(other).ravel().tolist()))
            add(tile, 4.0)

    out = on_two_cores(use)(ramp(4, 1))
    same(out, ramp(4, 1) + 8)
    assert sorted(seen) == [
        (0, 0, [2, 3]), (0, 1, [0, 1]), (1, 0, [6, 7]), (1, 1, [4, 5])]


def test_while_loops_with_meetings_are_of_each_core():
    def use(me, tile, other, exchange):
        count = nl.full((1, 1), 3, nl.int32)
        r = nisa.register_alloc()
        nisa.register_load(r, count)
        while r:
            exchange()
            nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
            countdown(r, count)

    out = on_two_cores(use)(np.array([[1], [2], [3], [4]], np.float32))
    same(out.ravel(), [16, 24, 16, 24])


@pytest.mark.parametrize("use", [
    lambda me, tile, other, exchange: exchange() if me else None,
    lambda me, tile, other, exchange: exchange() if not me else None,
    lambda me, tile, other, exchange: [exchange() for _ in range(2 + me)],
    lambda me, tile, other, exchange: nl.fori_loop(
        0, 2 + me, lambda i: exchange()),
])
def test_unequal_meetings_are_a_deadlock_that_is_reported(use):
    fault = refused(on_two_cores(use), ramp(4, 1))
    assert fault.category == "deadlock" and "sendrecv" in fault.message


def test_a_core_that_catches_the_end_of_the_other_still_ends():
    def use(me, tile, other, exchange):
        if me:
            raise KeyError("core 1")
        try:
            exchange()
            exchange()
        except BaseException:
            pass
        exchange()

    with pytest.raises(KeyError, match="core 1"):
        on_two_cores(use)(ramp(4, 1))
