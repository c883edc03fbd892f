"""Races: programs that fault, each with its repaired twin (cases/behaviours.md, row 10)."""

import re

import numpy as np
import pytest

import trnemu

N = 2
W = np.arange(N * 128 * 64, dtype=np.float32).reshape(N, 128, 64)


def refill(buffers, load_waits=True, copy_wait=16, spare=None):
    """w[i] by DMA into a buffer, copied to u[i] by the vector engine, by DMA to out[i].

    `load_waits`: a load waits for the copy that read the buffer before it. `copy_wait`: how many of a load's 16 signals a
    copy waits for, None for no wait. With one semaphore for all loads that is sound only if loads do not overlap.
    """
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    w = b.input("w", W.shape, "float32")
    out = b.output("out", W.shape, "float32")
    tiles = [b.sbuf((128, 64), "float32") for _ in range(buffers)]
    copies = [b.sbuf((128, 64), "float32") for _ in range(N)]
    loaded = [b.semaphore() for _ in range(N)]
    copied, stored = b.semaphore(), b.semaphore()
    for i in range(N):
        wait = [(copied, i - buffers + 1)] if load_waits and i >= buffers else []
        b.dma_copy(dst=tiles[i % buffers], src=w[i], wait=wait, signal=[(loaded[i], 1)])
        wait = [] if copy_wait is None else [(loaded[i], copy_wait)]
        b.tensor_copy(dst=copies[i], src=tiles[i % buffers], wait=wait, signal=[(copied, 1)])
        b.dma_copy(dst=out[i], src=copies[i], trigger="scalar", wait=[(copied, i + 1)], signal=[(stored, 1)])
    return b.build()


ORDERS = ["timed", "program", 1, 2, 3]


@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("schedule", ORDERS)
def test_a_buffer_that_is_waited_for_both_ways_gives_its_data_and_no_report(buffers, schedule):
    r = trnemu.run(refill(buffers), {"w": W}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["out"], W)
    assert r.diagnostics == []


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_load_that_does_not_wait_for_the_reader_of_its_buffer_is_reported_in_every_order(schedule):
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(refill(1, load_waits=False), {"w": W}, schedule=schedule)
    f = fault.value
    assert (f.category, f.id) == ("race", "race.read_write")
    # Instruction 3 is the second load, 1 the first copy.
    assert f.instruction == 3
    assert "instruction 1 (tensor_copy on the vector engine)" in f.message
    assert f.details["partitions"] == "[0, 128)" and f.details["byte_range"] == "[0, 256)"
    assert "test_races.py" in f.source and any("test_races.py" in line for line in f.related)
    assert "let instruction 3 wait for semaphore s2 >= 1" in str(f)


def test_with_two_buffers_the_second_load_needs_no_wait():
    r = trnemu.run(refill(2, load_waits=False), {"w": W})
    np.testing.assert_array_equal(r.outputs["out"], W)


def test_without_waits_an_adversarial_order_shows_the_data_of_the_second_load_in_the_first_output():
    """Most random orders give some of each: parts of the second load come before the copy has read. Whole rows of w[0]
    come in simulated time, where the copy is quick, and with the wait in any order."""
    def first(schedule, **options):
        return trnemu.run(refill(1, **options), {"w": W}, schedule=schedule, checks="off").outputs["out"][0]

    seen = [first(seed, load_waits=False) for seed in range(60)]
    assert any(np.array_equal(out, W[1]) for out in seen)
    for out in seen:  # of one load or the other, partition by partition, or nothing yet
        assert all((row == W[0][p]).all() or (row == W[1][p]).all() or (row == 0).all() for p, row in enumerate(out))
    for schedule in ["timed", "program", *range(20)]:
        np.testing.assert_array_equal(first(schedule), W[0])


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_reader_that_does_not_wait_for_the_load_is_reported_not_the_bytes_that_it_found_unwritten(schedule):
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(refill(2, copy_wait=None), {"w": W}, schedule=schedule)
    f = fault.value
    assert f.id == "race.write_read" and f.instruction == 1
    assert "instruction 0 (dma_copy, triggered by the sync engine)" in f.message


def test_fifteen_of_sixteen_queues_are_not_all_of_them():
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(refill(2, copy_wait=15), {"w": W})
    assert fault.value.id == "race.write_read"
    assert "wait for >= 16" in str(fault.value)


def test_a_race_can_be_allowed_and_the_result_says_so():
    r = trnemu.run(refill(2, copy_wait=15), {"w": W}, allow=["race.write_read"])
    assert [d.id for d in r.diagnostics] == ["race.write_read"] * len(r.diagnostics) and r.diagnostics


def test_checks_memory_does_not_look_for_races():
    r = trnemu.run(refill(2, copy_wait=15), {"w": W}, checks="memory")
    np.testing.assert_array_equal(r.outputs["out"], W)


def release_at_read(second):
    """x goes to y by DMA from a tile that the vector engine fills again once it has been read."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x = b.input("x", (128, 32), "float32")
    y = b.output("y", (128, 32), "float32")
    t = b.sbuf((128, 32), "float32")
    loaded, read, stored = b.semaphore(), b.semaphore(), b.semaphore()
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    b.dma_copy(dst=y, src=t, wait=[(loaded, 16)], signal=[trnemu.Signal(read, at="read"), (stored, 1)])
    if second == "source":
        b.memset(dst=t, value=0.0, engine="vector", wait=[(read, 16)])
    else:
        b.dma_copy(dst=b.sbuf((128, 32), "float32"), src=y, trigger="scalar", wait=[(read, 16)])
    return b.build()


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_source_may_be_overwritten_once_its_dma_has_read_it(schedule):
    r = trnemu.run(release_at_read("source"), {"x": X}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["y"], X)


@pytest.mark.parametrize("schedule", ORDERS)
def test_that_a_dma_has_read_does_not_say_that_it_has_written(schedule):
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(release_at_read("destination"), {"x": X}, schedule=schedule)
    assert fault.value.id == "race.write_read"


def loop(wait_back):
    """The same in a real loop, with waits that consume: tokens for full and for empty buffers."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    w = b.input("w", (4, 64, 32), "float32")
    out = b.output("out", (4, 64, 32), "float32")
    t, u = b.sbuf((64, 32), "float32"), b.sbuf((64, 32), "float32")
    full, empty, copied, stored = (b.semaphore() for _ in range(4))
    b.nop(engine="vector", signal=[(empty, 1)])
    b.nop(engine="scalar", signal=[(stored, 16)])
    wait = trnemu.Wait
    with b.fori_loop(0, 4) as i:
        b.dma_copy(dst=t, src=w.select(0, i), trigger="sync", signal=[(full, 1)],
                   wait=[wait(empty, 1, consume=True)] if wait_back else [])
        b.tensor_copy(dst=u, src=t, engine="vector", signal=[(empty, 1), (copied, 1)],
                      wait=[wait(full, 16, consume=True), wait(stored, 16, consume=True)])
        b.dma_copy(dst=out.select(0, i), src=u, trigger="scalar", signal=[(stored, 1)],
                   wait=[wait(copied, 1, consume=True)])
    return b.build()


LOOP_W = np.arange(4 * 64 * 32, dtype=np.float32).reshape(4, 64, 32)


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_loop_that_passes_tokens_both_ways_is_clean(schedule):
    r = trnemu.run(loop(True), {"w": LOOP_W}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["out"], LOOP_W)


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_loop_that_refills_its_buffer_without_a_token_races_with_the_iteration_before(schedule):
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(loop(False), {"w": LOOP_W}, schedule=schedule)
    assert fault.value.category == "race"
    assert "dma_copy" in str(fault.value) and "tensor_copy" in str(fault.value)


def pipeline(buffers, missing, extra=()):
    """Eight tiles: load on sync, exp on scalar, store by gpsimd. Load number `missing` does not wait for the store that
    emptied its buffer; `extra` are waits that it gets instead, by the semaphores' names."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x = b.input("x", (8, 128, 16), "float32")
    y = b.output("y", (8, 128, 16), "float32")
    tiles = [b.sbuf((128, 16), "float32") for _ in range(buffers)]
    s = {f"{what}{i}": b.semaphore(f"{what}{i}") for what in ("loaded", "done", "stored") for i in range(buffers)}
    for j in range(8):
        i, turn = j % buffers, j // buffers
        wait = [(s[f"stored{i}"], 16 * turn)] if turn and j != missing else []
        if j == missing:
            wait = [(s[name], value) for name, value in extra]
        b.dma_copy(dst=tiles[i], src=x[j], wait=wait, signal=[(s[f"loaded{i}"], 1)], trigger="sync")
        b.activation(dst=tiles[i], op="copy", data=tiles[i], wait=[(s[f"loaded{i}"], 16 * (turn + 1))],
                     signal=[(s[f"done{i}"], 1)])
        b.dma_copy(dst=y[j], src=tiles[i], wait=[(s[f"done{i}"], turn + 1)], signal=[(s[f"stored{i}"], 1)],
                   trigger="gpsimd")
    return b.build()


P = np.arange(8 * 128 * 16, dtype=np.float32).reshape(8, 128, 16)


@pytest.mark.parametrize("buffers, missing", [(1, 2), (2, 2), (2, 4), (4, 4)])
@pytest.mark.parametrize("schedule", ["timed", "program", 1])
def test_what_the_report_advises_done_to_the_letter_repairs_the_program(buffers, missing, schedule):
    extra = []
    for _ in range(3):
        try:
            r = trnemu.run(pipeline(buffers, missing, extra), {"x": P}, schedule=schedule)
            break
        except trnemu.Fault as fault:
            # The wait that is missing is load `missing`'s, three instructions a tile; what else races comes of it.
            assert fault.category == "race" and fault.instruction == 3 * missing
            name, value = re.search(r"wait for semaphore (\w+) >= (\d+)", str(fault)).groups()
            extra.append((name, int(value)))
    np.testing.assert_array_equal(r.outputs["y"], P)
    # The store of the tile before in that buffer, counted as the author wrote them.
    assert (f"stored{missing % buffers}", 16 * (missing // buffers)) in extra


def test_in_a_loop_the_advice_is_a_wait_that_consumes():
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(loop(False), {"w": LOOP_W})
    assert "consume=True" in str(fault.value)


def two_tiles(second_write, read_first):
    b = trnemu.ProgramBuilder(target="trn2")
    y = b.output("y", (128, 16), "float32")
    first = b.sbuf((128, 16), "float32", address=(0, 1024))
    second = b.sbuf((128, 16), "float32", address=(0, 1056))  # its last 8 elements are the first's, or so
    b.memset(dst=first, value=1.0)
    if second_write:
        b.memset(dst=second, value=2.0)
    b.dma_copy(dst=y, src=first if read_first else second)
    return b.build()


def test_pinned_tiles_may_share_bytes_as_long_as_each_reads_its_own():
    r = trnemu.run(two_tiles(True, False), {})
    np.testing.assert_array_equal(r.outputs["y"], np.full((128, 16), 2, np.float32))


def test_a_tile_that_is_read_after_another_has_overwritten_part_of_it_is_reported():
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(two_tiles(True, True), {})
    f = fault.value
    assert (f.category, f.id) == ("capacity", "memory.overwritten")
    # The second begins 32 bytes after the first, which is 64 bytes long.
    assert f.details["byte_range"] == "[1056, 1088)"
    assert "instruction 1 (memset" in f.message


def shared_hbm(barrier):
    b = trnemu.ProgramBuilder(target="trn2", cores=2)
    x = b.input("x", (128, 32), "float32")
    y = b.output("y", (128, 32), "float32")
    middle = b.scratch("middle", (128, 32), "float32")
    with b.core(0):
        t = b.sbuf((128, 32), "float32")
        b.dma_copy(dst=t, src=x)
        b.dma_copy(dst=middle, src=t)
        if barrier:
            b.core_barrier(data=middle, cores=(0, 1))
    with b.core(1):
        u = b.sbuf((128, 32), "float32")
        if barrier:
            b.core_barrier(data=middle, cores=(0, 1))
        b.dma_copy(dst=u, src=middle)
        b.dma_copy(dst=y, src=u)
    return b.build()


X = np.arange(128 * 32, dtype=np.float32).reshape(128, 32)


@pytest.mark.parametrize("schedule", ORDERS)
def test_cores_that_share_hbm_are_ordered_by_core_barrier(schedule):
    r = trnemu.run(shared_hbm(True), {"x": X}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["y"], X)


@pytest.mark.parametrize("schedule", ORDERS)
def test_cores_that_share_hbm_without_a_barrier_race(schedule):
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(shared_hbm(False), {"x": X}, schedule=schedule)
    assert fault.value.category == "race"
    assert "core 0" in str(fault.value) and "core 1" in str(fault.value)


def squares():
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x, y = b.input("x", (32, 32), "float32"), b.output("y", (32, 32), "float32")
    return b, x, y, b.sbuf((32, 32), "float32"), b.sbuf((32, 32), "float32")


S = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("schedule", ORDERS)
def test_part_i_of_a_transpose_reads_what_other_parts_of_the_load_before_it_wrote(wait, schedule):
    b, x, y, t, u = squares()
    loaded, turned = b.semaphore(), b.semaphore()
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    b.dma_transpose(dst=u, src=t, signal=[(turned, 1)], wait=[(loaded, 16)] if wait else [])
    b.dma_copy(dst=y, src=u, wait=[(turned, 16)])
    if wait:
        np.testing.assert_array_equal(trnemu.run(b.build(), {"x": S}, schedule=schedule).outputs["y"], S.T)
        return
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(b.build(), {"x": S}, schedule=schedule)
    assert fault.value.id == "race.write_read" and fault.value.instruction == 1


@pytest.mark.parametrize("schedule", ORDERS)
def test_a_shuffle_does_not_race_with_partitions_that_its_mask_does_not_name(schedule):
    b, x, y, t, u = squares()
    first, second = b.semaphore(), b.semaphore()
    b.dma_copy(dst=t[0:16], src=x[0:16], signal=[(first, 1)])
    b.dma_copy(dst=t[16:32], src=x[16:32], trigger="gpsimd", signal=[(second, 1)])
    b.nc_stream_shuffle(dst=u, src=t, shuffle_mask=[i % 16 for i in range(32)], wait=[(first, 16)], signal=[(first, 1)])
    b.dma_copy(dst=y, src=u, wait=[(first, 17)])
    r = trnemu.run(b.build(), {"x": S}, schedule=schedule)
    np.testing.assert_array_equal(r.outputs["y"], np.concatenate([S[:16], S[:16]]))


@pytest.mark.parametrize("schedule", ORDERS)
def test_an_allowed_race_does_not_hide_another(schedule):
    """u is read as it is written, which is allowed; t is written by two engines in no order, which is not."""
    b, x, y, t, u = squares()
    written, done = b.semaphore(), b.semaphore()
    b.memset(dst=t, value=0.0, engine="vector", signal=[(written, 1)])
    b.memset(dst=u, value=1.0, engine="vector", wait=[(written, 1)])
    v = b.sbuf((32, 32), "float32")
    b.memset(dst=v, value=1.0, engine="gpsimd")
    b.tensor_copy(dst=v, src=u, engine="gpsimd")
    b.memset(dst=t, value=5.0, engine="gpsimd", signal=[(done, 1)])
    b.dma_copy(dst=y, src=t, wait=[(done, 1)])
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(b.build(), {"x": S}, schedule=schedule, allow=["race.write_read", "memory.read_unwritten"])
    assert fault.value.id == "race.write_write"


def test_a_wait_for_nothing_proves_nothing_even_of_a_semaphore_that_is_set():
    b, x, y, t, u = squares()
    s = b.semaphore()
    b.memset(dst=t, value=1.0, engine="vector", signal=[trnemu.Signal(s, "set", 1)])
    b.dma_copy(dst=y, src=t, wait=[(s, 0)])
    with pytest.raises(trnemu.Fault) as fault:
        trnemu.run(b.build(), {"x": S}, schedule="program")
    assert fault.value.id == "race.write_read"


def test_many_unordered_signals_are_looked_at_in_time_that_grows_with_their_number():
    """Two engines signal one semaphore n times, a third waits for each pair: 16,000 rounds once took 14 s."""
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    s = b.semaphore()
    with b.fori_loop(0, 16000):
        b.nop(engine="vector", signal=[(s, 1)])
        b.nop(engine="gpsimd", signal=[(s, 1)])
    c = b.register_alloc(0)
    with b.fori_loop(0, 16000):
        b.register_alu(c, "add", c, 2)
        b.nop(engine="scalar", wait=[(s, c)])
    trnemu.run(b.build(), {}, max_wall_time=20.0)
