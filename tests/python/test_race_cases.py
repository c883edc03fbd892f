"""The classes of programs that race and do not, by hand.

What is expected stands beside each; every order of the program (race_orders.py)
must agree with it, and the detector with both, under every schedule. A case
without the former has too many orders.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import trnemu

from race_kit import (
    BUFFERS, FAR, G, H, T, U, V, all_of, copy, dma, expect, memset, nop, signal,
    wait,
)
from race_model import Loop, Op, Tiny, emit
from race_oracle import observe

# --- engines ------------------------------------------------------------------


HAZARDS = {  # the first is on vector, the second on gpsimd; both touch t
    "read after write": (memset("vector", T), copy("gpsimd", U, T)),
    "write after read": (copy("vector", U, T), memset("gpsimd", T)),
    "write after write": (memset("vector", T), memset("gpsimd", T)),
}


@pytest.mark.parametrize("hazard", HAZARDS)
def test_two_engines_race_unless_the_second_waits_for_the_first(hazard):
    first, second = HAZARDS[hazard]
    expect([first, second], {(0, 1)})
    expect([signal(first, 0), wait(second, 0, 1)], set())


def test_two_engines_that_only_read_do_not_race():
    expect([copy("vector", U, T), copy("gpsimd", V, T)], set())


def test_a_signal_of_a_later_or_an_earlier_instruction_is_not_the_same():
    # Streams are in order: a nop after the memset signals after it, one before
    # it before.
    reader = wait(copy("gpsimd", U, T), 0, 1)
    after = signal(nop("vector"), 0)
    expect([memset("vector", T), after, reader], set())
    expect([after, memset("vector", T), reader], {(1, 2)})


def test_a_chain_of_three_engines_orders_its_ends():
    # vector writes t; scalar only passes it on; gpsimd reads t.
    first = signal(memset("vector", T), 0)
    link = signal(wait(copy("scalar", V, U), 0, 1), 1)
    last = wait(copy("gpsimd", U, T), 1, 1)
    # The chain orders 0 and 2, and scalar's read of u before gpsimd's write.
    expect([first, link, last], set())
    # The link does not wait: 0 and 2 are free, 1 and 2 are still ordered.
    expect([first, signal(copy("scalar", V, U), 1), last], {(0, 2)})
    # The last does not wait: it overwrites u too early as well.
    expect([first, link, copy("gpsimd", U, T)], {(0, 2), (1, 2)})


@pytest.mark.parametrize(("n", "races"), [(2, set()), (1, {(0, 2), (1, 2)})])
def test_of_two_engines_that_signal_one_semaphore_both_must_be_awaited(
        n, races):
    # Each adds 1 and writes half of t. One is either of the two.
    left, right = all_of(T, count=4), all_of(T, start=4, count=4)
    expect([signal(memset("vector", left), 0),
            signal(memset("gpsimd", right), 0),
            wait(copy("scalar", U, T), 0, n)], races)


def test_of_signals_of_1_and_2_a_wait_for_2_proves_the_larger():
    # 1 alone is not 2, 2 alone is: the wait proves instruction 1 only.
    left, right = all_of(T, count=4), all_of(T, start=4, count=4)
    expect([signal(memset("vector", left), 0, 1),
            signal(memset("gpsimd", right), 0, 2),
            wait(copy("scalar", U, T), 0, 2)], {(0, 2)})


def test_views_with_strides_race_only_where_they_share_a_byte():
    # Even and odd columns: none. 0 2 4 6 and 0 3 6: 0 and 6.
    even, odd = all_of(T, count=4, step=2), all_of(T, start=1, count=4, step=2)
    expect([memset("vector", even), memset("gpsimd", odd)], set())
    third = all_of(T, count=3, step=3)
    expect([memset("vector", even), memset("gpsimd", third)], {(0, 1)})
    # Columns 1 4 7 against 0 2 4 6 in other partitions: none; in the same: 4.
    third = all_of(T, row=64, start=1, count=3, step=3)
    half = all_of(T, end=64, count=4, step=2)
    expect([memset("vector", half), memset("gpsimd", third)], set())
    expect([memset("vector", even), memset("gpsimd", third)], {(0, 1)})


def test_a_value_that_another_engine_takes_and_gives_back_is_no_addition():
    # vector and scalar add 1 each, gpsimd waits for 2; sync takes 1 and gives
    # it back, before or after. Without scalar there is never more than 1.
    expect([signal(memset("vector", all_of(T, count=4)), 0),
            signal(copy("scalar", all_of(T, start=4, count=4),
                        all_of(U, count=4)), 0),
            wait(copy("gpsimd", V, T), 0, 2),
            signal(wait(nop("sync"), 0, 1, True), 0)], set())


def test_any_part_of_a_dma_proves_what_its_trigger_waited_for():
    # gpsimd wrote t before it triggered; vector sees one of two parts.
    moved = signal(dma("gpsimd", H, U, 2), 0)
    reader = wait(copy("vector", V, T), 0, 1)
    expect([memset("gpsimd", T), moved, reader], set())
    # The same through a wait of the trigger.
    moved = signal(wait(dma("sync", H, U, 2), 1, 1), 0)
    expect([signal(memset("gpsimd", T), 1), moved, reader], set())
    # Of two engines' parts, neither trigger is sure.
    expect([memset("gpsimd", T), signal(dma("gpsimd", H, U, 2), 0),
            signal(dma("sync", G, U, 2), 0), reader], {(0, 3)})


def test_one_race_does_not_make_others_of_what_is_in_order():
    # 0 and 1 race; 2 awaits both parts of 0 and of 1 and races with neither.
    loads = [signal(dma("sync", T, H, 2), 0), signal(dma("scalar", T, G, 2), 0)]
    expect([*loads, wait(copy("vector", U, T), 0, 4)], {(0, 1)})


def test_among_two_thousand_signals_a_wait_for_all_but_one_is_short():
    # sync and tensor add 1 1800 times, vector once: 1800 may be without it.
    # Every 50 all learn of the 100 before, which are forgotten; but of the last
    # 50 of the other, neither knows, so that all is one group.
    tick = [signal(nop(e), 0) for e in ("sync", "tensor")]
    block = [tick[n % 2] for n in range(100)]
    done = [signal(nop(e), n + 1) for n, e in enumerate(("sync", "tensor"))]
    ticks: list[Op | Loop] = []
    for k in range(18):
        ticks += block
        if k:
            ticks += [wait(wait(nop(e), 1, k), 2, k)
                      for e in ("sync", "tensor", "vector", "gpsimd")]
        ticks += done
    write = signal(memset("vector", T), 0)

    def faults(n: int) -> list[str]:
        items = [*ticks[:-10], write, *ticks[-10:],
                 wait(copy("gpsimd", U, T), 0, n)]
        seen = observe(emit(Tiny(BUFFERS, tuple(items))), "program")
        assert not seen.fault
        return [r.id for r in seen.reports]
    assert faults(1800) == ["race.write_read"]
    assert faults(1801) == []


# --- DMA ----------------------------------------------------------------------

# With 16 queues there are too many orders to look at each.
every_width = pytest.mark.parametrize("q", [1, 2, 4, 16])


@every_width
def test_all_queues_of_a_dma_must_be_awaited(q):
    # Each of q parts adds 1. With q - 1 a part may still be under way: it
    # writes 128 / q partitions that the engine reads. (No wait for q = 1.)
    load = signal(dma("sync", T, H, q), 0)
    reader = copy("vector", U, T)
    expect([load, wait(reader, 0, q)], set(), judged=q < 16)
    expect([load, wait(reader, 0, q - 1) if q > 1 else reader], {(0, 1)},
           judged=q < 16)


@every_width
def test_of_two_dmas_with_one_semaphore_each_may_be_the_first(q):
    # Both together add 2q; q of them may be of either. The DMAs are triggered
    # by two engines, so nothing orders their parts.
    loads = [signal(dma("sync", T, H, q), 0), signal(dma("scalar", U, G, q), 0)]
    left = all_of(V, count=4), all_of(T, count=4)
    right = all_of(V, start=4, count=4), all_of(U, count=4)

    def readers(n: int) -> list[Op]:
        return [wait(copy("vector", *left), 0, n), copy("vector", *right)]
    expect([*loads, *readers(2 * q)], set(), judged=q < 4)
    expect([*loads, *readers(q)], {(0, 2), (1, 3)}, judged=q < 4)


@every_width
def test_a_dma_that_starts_after_the_first_is_known_is_no_help_to_its_wait(q):
    # The second is triggered once the semaphore is q: by then the first is
    # complete, so q means the first, whatever the second adds later.
    load = signal(dma("sync", T, H, q), 0)
    later = signal(wait(dma("scalar", U, G, q), 0, q), 0)
    reader = wait(copy("vector", V, T), 0, q)
    expect([load, later, reader], set(), judged=q < 4)
    # The second one's data need 2q.
    of_second = wait(copy("vector", V, U), 0, q)
    expect([load, later, of_second], {(1, 2)}, judged=q < 4)
    expect([load, later, wait(of_second, 0, 2 * q)], set(), judged=q < 4)


@pytest.mark.parametrize(("n", "races"), [(4, set()), (3, set()),
                                          (2, {(0, 2)})])
def test_parts_of_one_queue_come_in_order_and_signal_so(n, races):
    # Two DMAs of two queues of sync: parts a0 b0 and a1 b1, each adds 1. Of
    # three, the one that lacks is b0 or b1; two may be a0 and b0, without a1.
    expect([signal(dma("sync", T, H, 2), 0), signal(dma("sync", U, G, 2), 0),
            wait(copy("vector", V, T), 0, n)], races)


@every_width
def test_release_at_read_frees_the_source_and_not_the_destination(q):
    store = signal(dma("sync", H, T, q), 0, at="read")
    overwrite = wait(memset("vector", T), 0, q)
    expect([store, overwrite], set(), judged=q < 4)
    # The destination may not be there yet.
    again = wait(dma("scalar", G, H, q), 0, q)
    expect([store, again], {(0, 1)}, judged=q < 4)
    move = signal(dma("sync", U, T, q), 0, at="read")
    expect([move, wait(copy("vector", V, U), 0, q)], {(0, 1)}, judged=q < 4)
    if q > 1:  # one queue may still read
        expect([store, wait(memset("vector", T), 0, q - 1)], {(0, 1)},
               judged=q < 4)


def test_release_at_read_does_not_prove_the_write_of_the_last_part():
    # Two queues, each signals its read: both have read, neither need have
    # written. Their completion then adds 2 more.
    store = signal(signal(dma("sync", U, T, 2), 0, at="read"), 0)
    expect([store, wait(copy("vector", V, U), 0, 4)], set())
    expect([store, wait(copy("vector", V, U), 0, 3)], {(0, 1)})
    # A part that has written has read: three prove both reads.
    expect([store, wait(memset("vector", T), 0, 3)], set())
    # Two may be the read and the write of one part.
    expect([store, wait(memset("vector", T), 0, 2)], {(0, 1)})


@every_width
def test_dmas_of_one_queue_set_with_equal_splits_follow_part_by_part(q):
    # A part has the same partitions of t in both: 128 / q from 128 i / q on.
    expect([dma("sync", T, H, q), dma("sync", G, T, q)], set(), judged=q < 4)
    expect([dma("sync", T, H, q), dma("sync", T, G, q)], set(), judged=q < 4)
    # Of another engine, the queues are others.
    expect([dma("sync", T, H, q), dma("scalar", G, T, q)], {(0, 1)},
           judged=q < 4)


def test_dmas_of_one_queue_set_with_other_splits_race():
    # The destination is on chip and decides: partitions 64 to 127 of u are
    # queue 1 of 2, and read what queue 0 writes to partitions 0 to 63 of t.
    low, high = all_of(T, end=64), all_of(U, row=64)
    load = dma("sync", low, all_of(H, end=64), 2)
    expect([load, dma("sync", high, low, 2)], {(0, 1)})
    # With one queue there is one order.
    expect([replace(load, queues=1), dma("sync", high, low, 1)], set())
    # One and two queues are different sets.
    expect([replace(load, queues=1), dma("sync", T, G, 2)], {(0, 1)})
    # Rows 0 to 63 of h by partition: all of queue 0; evenly: half and half.
    store = dma("sync", all_of(H, end=64), low, 2)
    expect([store, dma("sync", all_of(G, end=64), all_of(H, end=64), 2)],
           {(0, 1)})


def test_a_dma_follows_what_its_trigger_follows_and_no_more():
    # vector triggers a DMA of what it has just written; then overwrites it.
    write, store = memset("vector", T), dma("vector", H, T, 2)
    expect([write, store], set())
    expect([write, store, memset("vector", T)], {(1, 2)})
    expect([write, signal(store, 0), wait(memset("vector", T), 0, 2)], set())


def dynamic(store_row: bool) -> list[str]:
    """Three rows of x through t and out again, all on the queues of sync."""
    b = trnemu.ProgramBuilder(sync="explicit")
    x = b.scratch("x", (4, 128, 8), "uint8")
    t = b.sbuf((128, 8), "uint8")
    with b.fori_loop(0, 3) as i:
        b.dma_copy(dst=t, src=x.select(0, i), queues=2, trigger="sync")
        b.dma_copy(dst=x.select(0, i) if store_row else x[0:1, 64:128],
                   src=t if store_row else t[:64], queues=2, trigger="sync")
    found = [observe(b.build(), s).reports for s in ("timed", "program", 1)]
    return sorted({r.id for reports in found for r in reports})


def test_dmas_at_dynamic_addresses_follow_part_by_part_as_well():
    # Part q has partitions 64 q to 64 q + 63 of t, and these rows of x[i].
    assert dynamic(store_row=True) == []
    # Partitions 0 to 63 of t are all of queue 0; they go where x[0] has the
    # rows that queue 1 loads (in the first iteration; then x[1] and x[2]).
    assert dynamic(store_row=False) == ["race.read_write"]


@pytest.mark.parametrize("queues", [1, 16])
@pytest.mark.parametrize("what", ["transpose", "compute"])
def test_the_same_dma_again_follows_the_first(what, queues):
    # Each part writes what it wrote before.
    b = trnemu.ProgramBuilder(sync="explicit")
    x = b.scratch("x", (128, 128), "bfloat16")
    t = b.sbuf((128, 128), "bfloat16")
    for _ in range(2):
        if what == "transpose":
            b.dma_transpose(dst=t, src=x, trigger="sync", queues=queues)
        else:
            b.dma_compute(dst=t, srcs=[x, x], reduce_op="add", trigger="sync",
                          queues=queues)
    assert not observe(b.build(), "timed").message


# --- loops --------------------------------------------------------------------


def double_buffered(free: bool = True, full: bool = True, credit: int = 1,
                    trips: int = 3) -> list[Op | Loop]:
    """sync fills t and u in turn, vector reads them into v. Positions: 0 and 1
    the credit, 2 and 3 the loads, 4 and 5 the readers."""
    body = []
    for i, tile in enumerate((T, U)):
        load = signal(dma("sync", tile, (H, G)[i], 2), 2 + i)
        body.append(wait(load, i, 1, True) if free or i else load)
    for i, tile in enumerate((T, U)):
        half = all_of(tile, count=4)
        reader = signal(copy("vector", all_of(V, start=4 * i, count=4), half), i)
        body.append(wait(reader, 2 + i, 2, True) if full or i else reader)
    return [signal(nop("gpsimd"), 0, credit), signal(nop("gpsimd"), 1),
            Loop(trips, tuple(body))]


def test_double_buffering_in_a_loop():
    expect(double_buffered(), set())


def test_double_buffering_without_the_wait_for_a_free_buffer():
    expect(double_buffered(free=False), {(2, 4)})


def test_double_buffering_without_the_wait_for_a_full_buffer():
    expect(double_buffered(full=False), {(2, 4)})


def test_double_buffering_with_a_credit_of_two_for_one_buffer():
    # A second load of t may start while vector reads the first.
    expect(double_buffered(credit=2), {(2, 4)})


def test_two_buffers_filled_by_an_unrolled_loop():
    # Iteration i loads buffer i % 2 and waits for the reader of i - 2; values
    # rise, nothing is consumed.
    items: list[Op | Loop] = []
    for i in range(4):
        tile, half = (T, U)[i % 2], all_of((T, U)[i % 2], count=4)
        load = signal(dma("sync", tile, H, 2), 0)
        items.append(wait(load, 1, i - 1) if i > 1 else load)
        reader = copy("vector", all_of(V, start=4 * (i % 2), count=4), half)
        # sync and its queues are in order, but two queues are not in step: of
        # 2 i + 2 parts all must have come, or a later one stands in.
        items.append(signal(wait(reader, 0, 2 * i + 2), 1))
    # The load of i + 1 may be under way, so 2 i + 2 may be short of a part of
    # load i: queue 0 has run ahead. For the last there is none ahead.
    expect(items, {(0, 1), (2, 3), (4, 5)})
    # One queue cannot run ahead.
    for n, op in enumerate(items):
        assert isinstance(op, Op)
        if op.kind == "dma":
            items[n] = replace(op, queues=1)
        else:
            items[n] = replace(op, waits=((0, n // 2 + 1, False),))
    expect(items, set())


# --- cores --------------------------------------------------------------------


def shared(barrier: bool, waits: int) -> list[Op | Loop]:
    """Core 0 stores t to h; core 1 loads h, after a barrier or not."""
    meet = [Op("barrier", core, "gpsimd", all_of(G)) for core in (0, 1)]
    store = signal(dma("gpsimd", H, T, 2), 0)
    load = replace(dma("gpsimd", FAR, H, 2), core=1)
    if waits:
        meet[0] = wait(meet[0], 0, waits)
    return [store, *(meet if barrier else []), load]


def test_a_barrier_orders_what_two_cores_do_to_hbm():
    # The barrier does not wait for DMAs: its engine does, for both queues.
    expect(shared(True, 2), set(), cores=2)
    expect(shared(True, 1), {(0, 3)}, cores=2)
    expect(shared(True, 0), {(0, 3)}, cores=2)
    expect(shared(False, 0), {(0, 1)}, cores=2)


def test_a_semaphore_orders_two_cores_as_well():
    store, load = shared(False, 0)
    assert isinstance(load, Op)
    expect([store, wait(load, 0, 2)], set(), cores=2)
    expect([store, wait(load, 0, 1)], {(0, 1)}, cores=2)
