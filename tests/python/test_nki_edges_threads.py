"""Threads that launch kernels, kernels within kernels, exceptions. Right, or
refused in words."""

from __future__ import annotations

import gc
import linecache
import threading

import numpy as np
import pytest
from nki_edges import add, body, plus, ramp, refused, stored

import trnemu
from trnemu import nki
from trnemu.nki import _source, _trace
from trnemu.nki import language as nl

same = np.testing.assert_array_equal


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = threading.enumerate()  # other tests' may end when they like
    yield
    assert _trace.active() is None and not _trace._recordings
    assert set(threading.enumerate()) <= set(before)


# Threads, and kernels within kernels.


def in_threads(*works, meet=None):
    """Runs them at once; raises what the first to fail raised, of which the
    others learn by the barrier `meet`."""
    errors: list[BaseException] = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)
            if meet is not None:
                meet.abort()

    threads = [threading.Thread(target=guarded, args=(w,)) for w in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_record_their_kernels_apart():
    meet = threading.Barrier(2)  # no timeout: a machine may be slow

    @nki.jit
    def kernel(x, amount):
        tile = nl.load(x)
        meet.wait()  # both are recording
        for _ in range(20):
            add(tile, amount)
        meet.wait()
        return stored(tile)

    def work(amount):
        same(kernel(ramp(4, 4), amount), ramp(4, 4) + 20 * amount)

    in_threads(lambda: work(1.0), lambda: work(3.0), meet=meet)


def test_threads_read_sources_one_at_a_time(monkeypatch):
    """linecache is for one thread: it takes entries out while it looks."""
    inside, most = [], []
    check = linecache.checkcache

    def checkcache(file):
        inside.append(file)
        most.append(len(inside))
        for name in (__file__, nki.__file__):
            linecache.cache.pop(name, None)  # so that it is read again
            linecache.getlines(name)  # which lets other threads run
        check(file)
        inside.pop()

    monkeypatch.setattr(linecache, "checkcache", checkcache)

    def work():
        for _ in range(6):
            assert _source.tree_of(__file__) is not None

    in_threads(work, work, work)
    assert set(most) == {1}


def test_a_thread_without_a_kernel_is_outside_of_one():
    @nki.jit
    def kernel(x):
        def work():
            with pytest.raises(trnemu.Fault) as caught:
                nl.ndarray((2, 2), nl.float32)
            assert caught.value.id == "nki.outside"
            same(plus(ramp(2, 2)), ramp(2, 2) + 1)

        in_threads(work)
        return body(x)

    same(kernel(ramp(4, 4)), ramp(4, 4) + 1)
    assert list(kernel.program.outputs) == ["out"]


def test_a_trace_within_a_kernel_is_a_program_of_its_own():
    programs = []

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        programs.append(nki.trace(plus[2], nki.TensorSpec((3, 3), "float32")))
        add(tile)
        return stored(tile)

    same(kernel(ramp(4, 4)), ramp(4, 4) + 1)
    assert programs[0].inputs["x"][0] == (3, 3) and programs[0].cores == 2


def test_calls_are_told_after_a_trace_within_a_kernel():
    def helper():
        nl.ndarray((200, 1), nl.float32)

    @nki.jit
    def kernel(x):
        nki.trace(plus, nki.TensorSpec((3, 3), "float32"))
        helper()

    for launched in (kernel, kernel[2]):
        fault = refused(launched, ramp(2, 2))
        assert "in helper, called at" in fault.source
        assert fault.source.endswith("in kernel")


def test_a_launch_within_a_kernel_is_a_call_that_takes_tensors(capsys):
    class Printed:
        def __str__(self):
            return str(plus(ramp(2, 2)))

    @nki.jit
    def kernel(x):
        print(Printed())
        return x

    with pytest.raises(TypeError, match="must be a tensor, not ndarray"):
        kernel(ramp(2, 2))


def test_a_kernel_on_two_cores_is_no_part_of_one_on_one_core():
    kernel = nki.jit(lambda x: [nl.num_programs(), plus[2]][1](x))
    fault = refused(kernel, ramp(4, 4))
    assert fault.id == "nki.grid" and "launched on one core" in fault.message

    @nki.jit
    def both(x):
        me = nl.program_id(0)
        out = nl.ndarray((2, 4, 4), x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nki.jit(lambda t: add(t, 1.0 + nl.program_id(0)))[2](tile)
        nl.store(out[me], tile)
        return out

    same(both[2](ramp(4, 4)), np.stack([ramp(4, 4) + 1, ramp(4, 4) + 2]))


def test_a_kernel_that_calls_itself_is_inlined():
    @nki.jit
    def kernel(x, n):
        return body(x) if n == 0 else kernel(kernel(x, n - 1), 0)

    same(kernel(ramp(4, 4), 3), ramp(4, 4) + 4)


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_any_exception_leaves_the_next_launch_alone(error):
    @nki.jit
    def kernel(x):
        with nl.no_reorder():
            add(nl.load(x))
            raise error

    for launched in (kernel, kernel[2]):
        with pytest.raises(error):
            launched(ramp(2, 2))
        same(plus(ramp(2, 2)), ramp(2, 2) + 1)


def test_many_launches_leave_no_objects():
    def launch():
        plus(ramp(4, 4))
        refused(nki.jit(lambda x: nl.load(x)), ramp(4, 4))

    for _ in range(5):
        launch()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        launch()
    gc.collect()
    assert len(gc.get_objects()) - before < 50
