"""Random schedules: legal for what is synchronised, adversarial for the rest."""

import numpy as np
import pytest

from schedule_kit import SEEDS, SHAPE, X, Explicit, doubled, same
import trnemu
from trnemu import Signal


def test_a_synchronised_program_gives_the_same_bits_under_every_seed():
    assert all(same(y, 2 * X) for y in doubled().outcomes())


def test_a_store_that_does_not_wait_shows_under_many_seeds():
    wrong = [y for y in doubled(wait=False).outcomes("memory")
             if not same(y, 2 * X)]
    # The store or the product first: about half of them.
    assert len(SEEDS) // 3 <= len(wrong) < len(SEEDS)
    assert set(doubled(wait=False).outcomes()) == {"race.write_read"}


def test_a_source_that_is_released_when_read_may_be_overwritten():
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 16)],
                 signal=[Signal(e.done, "add", 1, at="read")])
    e.double(wait=[(e.done, 16)])
    assert all(same(y, X) for y in e.outcomes())


def test_a_source_overwritten_while_a_store_reads_it_shows():
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 16)],
                 signal=[Signal(e.done, "add", 1, at="read")])
    e.double(wait=[(e.loaded, 16), (e.done, 15)])  # one part too few
    assert any(not same(y, X) for y in e.outcomes("memory"))


def test_what_was_read_is_not_yet_written():
    """A consumer that waits for the release of the source reads too early:
    that a part is one step would hide it."""
    e = Explicit()
    e.b.dma_copy(dst=e.t, src=e.x,
                 signal=[Signal(e.loaded, "add", 1, at="read")])
    e.double(wait=[(e.loaded, 16)], signal=[(e.done, 1)])
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.done, 1)])
    assert "memory.read_unwritten" in {
        y for y in e.outcomes("memory") if isinstance(y, str)}


def test_parts_of_one_queue_keep_their_order():
    """x goes to t, and from there to y, through the same queues: no wait is
    needed, because part k of the store reads what part k of the load wrote."""
    e = Explicit()
    e.load()
    e.b.dma_copy(dst=e.y, src=e.t)
    assert all(same(y, X) for y in e.outcomes())


@pytest.mark.parametrize("schedule", ["timed", "program", 1, 2, 3])
def test_the_signal_of_the_read_comes_before_that_of_the_write(schedule):
    """The release sets the semaphore to 5, the completion adds 1 to it: 6. The
    other way round it is 5, and the store waits for ever."""
    e = Explicit()
    e.b.dma_copy(dst=e.t, src=e.x, queues=1, signal=[
        Signal(e.loaded, "add", 1),
        Signal(e.loaded, "set", 5, at="read"),
    ])
    e.b.dma_copy(dst=e.y, src=e.t, wait=[(e.loaded, 6)])
    r = trnemu.run(e.b.build(), {"x": X}, schedule=schedule)
    assert np.array_equal(r.outputs["y"], X)


def moves(kind):
    """y = a gather, scatter, sum, transpose or cast of x, by DMA alone."""
    b = trnemu.ProgramBuilder(target="trn2", name=kind)
    x = b.input("x", SHAPE, "float32")
    t = b.sbuf(SHAPE, "float32")
    b.dma_copy(dst=t, src=x)
    if kind == "cast":
        y = b.output("y", SHAPE, "bfloat16")
        b.dma_copy(dst=y, src=t)
        import ml_dtypes
        return b.build(), X.astype(ml_dtypes.bfloat16)
    if kind == "sum":
        y = b.output("y", SHAPE, "float32")
        b.dma_compute(dst=y, srcs=[t, x], reduce_op="add")
        return b.build(), X + X
    if kind == "transpose":
        y = b.output("y", (64, 128), "float32")
        across = b.sbuf((64, 128), "float32")
        b.dma_transpose(dst=across, src=x)
        b.dma_copy(dst=y, src=across)
        return b.build(), X.T
    i = b.constant("i", np.arange(127, -1, -1, dtype=np.int32)[:, None])
    index = b.sbuf((128, 1), "int32")
    b.dma_copy(dst=index, src=i)
    y = b.output("y", SHAPE, "float32")
    if kind == "gather":
        b.dma_copy(dst=t, src=x.vector_select(0, index))
        b.dma_copy(dst=y, src=t)
    else:
        b.dma_copy(dst=y.vector_select(0, index), src=t)
    return b.build(), X[::-1]


@pytest.mark.parametrize("kind", ["cast", "sum", "transpose", "gather", "scatter"])
def test_a_part_in_two_steps_moves_what_one_step_does(kind):
    program, want = moves(kind)
    for schedule in ("program", *range(1, 13)):
        y = trnemu.run(program, {"x": X}, schedule=schedule).outputs["y"]
        assert y.tobytes() == np.ascontiguousarray(want).tobytes(), schedule


def test_the_same_seed_is_the_same_run():
    for seed in range(1, 6):
        a, b = (trnemu.debug(doubled(False).b.build(), {"x": X}, schedule=seed,
                             checks="memory") for _ in range(2))
        while not a.ended:
            assert a.step() == b.step()


def behind(seed):
    """How many of 8 parts the slowest queue has written when the fastest has
    written all of its own."""
    e = Explicit()
    for _ in range(8):
        e.load()
    d = trnemu.debug(e.b.build(), {"x": X}, schedule=seed, checks="off")
    written = [0] * 16
    while max(written) < 8:
        stop = d.step()
        if stop.effect == "write":
            written[stop.part] += 1
    return min(written)


def test_in_some_orders_one_queue_is_done_before_another_has_begun():
    """Were all queues equally fast, one would end its 16 steps before another
    has done two in about 16 * 17 / 2^17 of the orders: 1 in 500."""
    slowest = [behind(seed) for seed in SEEDS]
    assert slowest.count(0) >= 5
    assert max(slowest) >= 2  # and in others they keep together


def flags(between):
    """gpsimd writes 1 to p, then to q, which were 0; the vector engine reads p,
    and q so many instructions later, in no order with that: (p, q) as read."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit", name="k")
    y = b.output("y", (2, 4, 4), "float32")
    p, q, p_read, q_read, u = (b.sbuf((4, 4), "float32") for _ in range(5))
    ready, read, written = (b.semaphore() for _ in range(3))
    for t in (p, q, u):
        b.memset(dst=t, value=0.0, engine="vector", signal=[(ready, 1)])
    for t in (p, q):
        b.memset(dst=t, value=1.0, engine="gpsimd", wait=[(ready, 3)],
                 signal=[(written, 1)])
    b.tensor_copy(dst=p_read, src=p, engine="vector")
    for _ in range(between):
        b.tensor_tensor(dst=u, data1=u, data2=u, op="add", engine="vector")
    b.tensor_copy(dst=q_read, src=q, engine="vector", signal=[(read, 1)])
    for i, t in enumerate((p_read, q_read)):
        b.dma_copy(dst=y[i], src=t, wait=[(read, 1), (written, 2)])
    return b.build()


def test_in_some_orders_an_engine_is_late_once_and_was_in_time_just_before():
    """p in time and q late: an engine at one speed that is r times the other's
    does the first with probability r / (1 + r) and has then not done the next
    in 100 steps with 1 / (1 + r)^100: at most 0.4 %, at r = 1 / 100, and next
    to nothing at most of the speeds there are (powers of 8 or 32, in half of
    the orders): in about one of 1000 orders."""
    program = flags(100)
    seen = [tuple(trnemu.run(program, {}, checks="memory", schedule=seed)
                  .outputs["y"][:, 0, 0]) for seed in range(1, 401)]
    assert set(seen) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert seen.count((1, 0)) >= 4
