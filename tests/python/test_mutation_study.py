"""Mistakes in correct programs are reported, and correct programs are not.

A small sample of mutation_study.py, and what the study is made of. --long runs
the 300 programs that docs/testing.md tells about.
"""

from __future__ import annotations

import functools
import re
import subprocess

import numpy as np
import pytest

import trnemu
from cli_kit import BINARY, DOUBLE
from mutation_kinds import (
    KINDS, WAITS, Mutation, drop_write, remove_wait, shift_address,
    shrink_loop, weaken_wait,
)
from mutation_judge import logs
from mutation_minimise import minimal
from mutation_run import (
    Mutant, Options, Subject, baseline, delayed, mutants, orders, outputs,
    subject,
)
from mutation_stretch import stretched
from mutation_study import Table, run
from mutation_text import Listing

SEED, FIRST, PROGRAMS = 1, 20, 10
SMALL = Options(each=1, orders=8, stretched=8)
DETECTOR = subprocess.run(
    [BINARY, "explain", "race.write_read"], capture_output=True, check=False
).returncode == 0
detector = pytest.mark.skipif(
    not DETECTOR, reason="races are not detected in this version")


@functools.cache
def sample() -> Table:
    return run([(SEED, FIRST + n) for n in range(PROGRAMS)], SMALL)


def none_of(items) -> None:
    if items:
        pytest.fail("\n\n".join(map(str, items[:5])), pytrace=False)


def test_nothing_is_reported_of_a_correct_program_in_any_order():
    none_of(sample().wrong)


def test_every_kind_of_mistake_is_made_and_most_matter():
    rows = sample().rows
    assert set(rows) == set(KINDS)
    for kind, row in rows.items():
        assert row["mutants"] >= 4, kind
        assert row["changed"] + row["stopped"] >= row["mutants"] / 4, kind


@detector
def test_a_wait_that_matters_is_reported_when_it_is_gone_or_weaker():
    none_of([m for m in sample().must() if m.kind in WAITS])


@detector
def test_whatever_gives_other_results_in_other_orders_is_reported():
    none_of(sample().must())


@pytest.mark.long
@pytest.mark.parametrize("part", range(30))
def test_the_300_programs(part):
    table = run([(SEED, 10 * part + n) for n in range(10)], Options())
    none_of(table.wrong)
    if DETECTOR:
        none_of(table.must())


# What the study is made of.


@functools.cache
def loop_text() -> str:
    """Two loops of two engines each, the first of a bound in a register."""
    b = trnemu.ProgramBuilder(target="trn2")
    y = b.output("y", (4, 8), "float32")
    t = b.sbuf((4, 8), "float32")
    b.memset(dst=t, value=1)
    n = b.register_alloc(3)
    for bound in (n, 5):
        with b.fori_loop(0, bound):
            b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
            b.activation(dst=t, op="copy", data=t, scale=0.75)
    b.dma_copy(dst=y, src=t)
    return b.build().to_text()


def all_of(maker, text: str = DOUBLE, seed: int = 0
           ) -> list[tuple[Mutation, str]]:
    listing = Listing.of(text)
    rng = np.random.default_rng(seed)
    return [(m, listing.text(m.lines)) for m in maker(listing, rng)]


def changes(before: str, after: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in zip(before.split("\n"), after.split("\n"))
            if a != b]


def test_a_text_taken_apart_and_put_together_is_the_same():
    for text in (DOUBLE, loop_text(), subject((SEED, 21)).text):
        assert Listing.of(text).text({}) == text


def test_one_wait_is_removed_and_nothing_else():
    gone = set()
    for _, text in all_of(remove_wait):
        (before, after), = changes(DOUBLE, text)
        wait = re.search(r" wait \S+", before)
        assert wait and before.replace(wait[0], "") == after
        gone.add(wait[0])
    assert gone == {" wait s0>=32", " wait s2>=1", " wait s1>=16"}


def test_a_wait_for_a_dma_is_1_to_16_lower_and_another_1_lower():
    seen: dict[str, set[int]] = {}
    for seed in range(300):
        for _, text in all_of(weaken_wait, seed=seed):
            (before, after), = changes(DOUBLE, text)
            old, new = (re.search(r"wait (\w+)>=(\d+)", x)
                        for x in (before, after))
            assert old and new and old[1] == new[1]
            seen.setdefault(old[1], set()).add(int(old[2]) - int(new[2]))
    assert seen == {"s0": set(range(1, 17)), "s1": set(range(1, 17)),
                    "s2": {1}}


def test_an_operand_or_a_tile_is_shifted_inside_its_storage():
    kinds = set()
    for seed in range(40):
        for m, text in all_of(shift_address, seed=seed):
            assert len(changes(DOUBLE, text)) == 1
            kinds.add(m.what.split()[-1])
            for access in re.finditer(
                    r"=(?:t|u|th)\[(\d):(\d), (\d+)\+8x1\]", text):
                first, end, offset = map(int, access.groups())
                assert 0 <= first < end <= 4 and offset == 0  # they are full
    assert "partitions" in kinds  # along them


def test_a_write_is_dropped_with_its_semaphores_or_leaves_them():
    gone = stays = 0
    for m, text in all_of(drop_write) + all_of(drop_write, seed=1):
        if "stay" in m.what:
            stays += 1
            (line,) = [x for x in text.split("\n") if "nop.0 Nop" in x]
            number = re.search(r"#(\d+)", line)
            was = next(x for x in DOUBLE.split("\n")
                       if number and number[0] + " " in x)
            assert re.findall(r"wait \S+", line) == re.findall(
                r"wait \S+", was)
            # 16 queues add 1 each: the Nop adds 16 at once.
            want = re.findall(r"signal (\w\d)", was)
            times = 16 if "Dma" in was else 1
            assert re.findall(r"signal \S+", line) == [
                f"signal {s}+={times}" for s in want]
        else:
            gone += 1
            assert len(text.split("\n")) == len(DOUBLE.split("\n")) - 1
        trnemu.Program.from_text(text)
    assert gone and stays


def test_a_loop_runs_once_less():
    def y(text: str) -> float:
        return trnemu.run(trnemu.Program.from_text(text), {}
                          ).outputs["y"][0, 0]

    assert y(loop_text()) == 1.5 ** 8
    both = {m.what: text for seed in range(20)
            for m, text in all_of(shrink_loop, loop_text(), seed)}
    assert y(both["the loop of all engines runs once less"]) == 1.5 ** 7
    assert {"the loop of vector alone runs once less",
            "the loop of scalar alone runs once less"} <= set(both)
    for text in both.values():
        trnemu.Device("trn2").load(trnemu.Program.from_text(text))


def test_jumps_go_where_they_went_when_an_instruction_before_them_is_gone():
    listing = Listing.of(loop_text())
    for m, text in all_of(drop_write, loop_text()):
        line, = [n for n, new in m.lines.items() if new is None] or [None]
        if line is None:
            continue
        gone = next(i for i in listing.instructions if i.line == line)
        for a, b in zip(targets(listing), targets(Listing.of(text))):
            # At what is gone itself: the one after it.
            assert a == b or a.endswith(f"#{gone.order}"), (a, b)


def targets(listing: Listing) -> list[str]:
    """What each jump of a program goes to."""
    out = []
    for i in listing.instructions:
        m = re.search(r"target=(\d+)", i.body)
        if m:
            stream = [x for x in listing.instructions
                      if (x.core, x.engine) == (i.core, i.engine)]
            n = int(m[1])
            to = stream[n].order if n < len(stream) else "end"
            out.append(f"{i.core} {i.engine} #{i.order} to #{to}")
    return out


@pytest.mark.parametrize("number", range(FIRST, FIRST + 6))
def test_delays_change_no_result(number):
    s = subject((SEED, number))
    want, _ = outputs(s.load(s.text), s.inputs, "timed")
    for k in range(8):
        slow = delayed(s.text, f"stretched {k}")
        assert slow.count("\n") > s.text.count("\n")
        for order in ("timed", "program", k):
            assert outputs(s.load(slow), s.inputs, order)[0] == want


@pytest.mark.parametrize("between", [60, 600])
def test_delays_show_a_far_missing_wait_more_often_than_plain_orders(between):
    # The reader comes so many instructions after the load of t. Were all
    # choices equally likely, a plain order would hardly ever show it (none of
    # 100 at 60). Engines and queues have speeds, and some are held: a queue
    # that is slow enough from the start to the end shows it. A delay does
    # whatever the speeds are.
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x, y = b.input("x", (4, 8), "float32"), b.output("y", (4, 8), "float32")
    t, u = b.sbuf((4, 8), "float32"), b.sbuf((4, 8), "float32")
    loaded, done = b.semaphore("loaded"), b.semaphore()
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    b.memset(dst=u, value=0, engine="vector")
    for _ in range(between):
        b.tensor_tensor(dst=u, data1=u, data2=u, op="add", engine="vector")
    b.tensor_copy(dst=u, src=t, engine="vector", signal=[(done, 1)])
    b.dma_copy(dst=y, src=u, wait=[(done, 1)])
    text = b.build().to_text()
    listing = Listing.of(text)
    inputs = {"x": np.ones((4, 8), np.float32)}

    def wrong(one: str, seed: int) -> bool:
        p = trnemu.Program.from_text(one)
        return not (trnemu.run(p, inputs, checks="off", schedule=seed,
                               time=False).outputs["y"] == 1).all()

    plain = sum(wrong(text, k) for k in range(100))
    slow = sum(wrong(stretched(listing, np.random.default_rng(k), ["s0"]), k)
               for k in range(100))
    assert plain >= 8 and slow > 1.5 * plain, (plain, slow)


def test_the_logs_of_a_correct_program_agree_and_of_a_wrong_one_differ():
    s = subject((SEED, FIRST + 1))
    right = Mutant(s.seed, "", 0, Mutation("", {}), True)
    assert logs(s, s.text, right) == "OPEN: no difference found"
    base = baseline(s, [])
    bad = next(m for m in mutants(s, base, "remove wait",
                                  Options(each=9, orders=10, stretched=0))
               if m.changed)
    text = Listing.of(s.text).text(bad.mutation.lines)
    found = logs(s, text, bad)
    assert found.startswith("RIGHT: what instruction")
    # Two hashes of the same place.
    (a, at_a), (b, at_b) = re.findall(r"wrote ([0-9a-f]{16}) at ([^']+)'",
                                      found)
    assert a != b and at_a == at_b


def test_explicit_programs_hold_what_people_write():
    texts = [subject((SEED, 2 * n + 1)).text for n in range(25)]
    for what in (r"/consume", r"/read", r":=", r"\+\+1", r">=r\d", r"loop=\d",
                 r"CoreBarrier", r"cores 2", r"queues=1$", r"queues=3$",
                 r"owner=gpsimd", r"LoadStationary", r"@register", r"s\d+\+=2",
                 r"wait s\d+>=\d+\S* s\d+"):
        count = sum(bool(re.search(what, t, re.MULTILINE)) for t in texts)
        assert count >= 2, what
    assert not any("auto." in t for t in texts)


def test_without_their_waits_explicit_programs_give_other_results():
    wrong = 0
    for n in range(10):
        s = subject((SEED, 2 * n + 1))
        want, _ = outputs(s.load(s.text), s.inputs, "timed")
        for order in orders(5):
            try:
                loaded = s.load(re.sub(r" wait [^@]*?(?= signal| @)", "",
                                       s.text))
                wrong += outputs(loaded, s.inputs, order)[0] != want
                break
            except trnemu.Fault:  # a barrier of the other core
                wrong += 1
                break
    assert wrong == 10


def test_the_same_seed_makes_the_same_mutants():
    for kind in KINDS:
        s = subject((SEED, FIRST + 1))
        base = baseline(s, [])
        first, second = (
            [str(m) for m in mutants(s, base, kind, Options(
                each=2, orders=2, stretched=2))] for _ in range(2))
        assert first == second


def test_what_a_mistake_needs_is_found_among_other_instructions():
    # y is read before the load of t is complete; the rest has no part in it.
    b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
    x = b.input("x", (4, 8), "float32")
    t, u, v = (b.sbuf((4, 8), "float32") for _ in range(3))
    loaded, copied, other = (b.semaphore() for _ in range(3))
    b.memset(dst=v, value=3, engine="gpsimd", signal=[(other, 1)])
    b.dma_copy(dst=t, src=x, signal=[(loaded, 1)])
    b.tensor_copy(dst=u, src=t, engine="vector", wait=[(loaded, 16)],
                  signal=[(copied, 1)])
    for name, tile, semaphore in (("y", u, copied), ("z", v, other)):
        b.dma_copy(dst=b.output(name, (4, 8), "float32"), src=tile,
                   wait=[(semaphore, 1)])
    text = b.build().to_text()
    s = Subject((0, 1), "trn2", 1, text, {"x": np.ones((4, 8), np.float32)})
    options = Options(each=3, orders=10, stretched=4)
    one = next(m for m in mutants(s, baseline(s, []), "remove wait", options)
               if "s0>=16" in m.mutation.what)
    left = [str(i) for i in minimal(s, one)]
    assert [re.findall(r"\w+(?=\[)", i)[:2] for i in left] == [
        ["sbuf1", "x"], ["sbuf2", "sbuf1"], ["y", "sbuf2"]]
