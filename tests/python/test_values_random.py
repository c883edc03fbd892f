"""rng, rand_set_state, rand_get_state, set_rng_seed, and what is reported.

What documents state: bits are truncated, states come back, the same seed gives
the same numbers, each engine has its own. What they leave open is written out
here once more, with whole numbers (docs/decisions_random.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit
from rules_kit import INT, SIZE

F32 = np.float32
WORD = 2**32
STEP, WORD_STEP, RUN_STEP = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35


# --- the generators ---


class Lfsr:
    def __init__(self, state: int) -> None:
        self.x = state % WORD or STEP

    def __call__(self) -> int:
        self.x ^= self.x << 13 & (WORD - 1)
        self.x ^= self.x >> 17
        self.x ^= self.x << 5 & (WORD - 1)
        return self.x


class Xorwow:
    """Marsaglia, Xorshift RNGs, 2003, section 3.1; words x, y, z, w, v, d."""

    def __init__(self, words: Any) -> None:
        self.words = [int(w) % WORD for w in words]

    def __call__(self) -> int:
        x, y, z, w, v, d = self.words
        t = x ^ x >> 2
        new = (v ^ v << 4 ^ t ^ t << 1) % WORD
        d = (d + 362437) % WORD
        self.words = [y, z, w, v, new, d]
        return (new + d) % WORD


class Lane:
    """One XORWOW, or the four of a lane that elements go round."""

    def __init__(self, words: Any) -> None:
        words = list(words)
        self.streams = [Xorwow(words[i:i + 6])
                        for i in range(0, len(words), 6)]

    def row(self, n: int) -> list[int]:
        return [self.streams[i % len(self.streams)]() for i in range(n)]

    @property
    def words(self) -> list[int]:
        return [w for s in self.streams for w in s.words]


def reset_words(lane: int, words: int, seed: int = 0) -> list[int]:
    return [(STEP * (words * lane + i + 1) + seed * RUN_STEP) % WORD
            for i in range(words)]


def seeded_words(lane: int, seed: int) -> list[int]:
    return [((seed + STEP * lane) * STEP + i * WORD_STEP) % WORD
            for i in range(24)]


def lfsr_rows(states: list[int], n: int) -> Any:
    return np.array([[g() for _ in range(n)]
                     for g in (Lfsr(s) for s in states)], np.uint32)


def xorwow_rows(states: list[list[int]], n: int) -> Any:
    return np.array([Lane(s).row(n) for s in states], np.uint32)


def drawn(target: str = "trn2", shape: tuple[int, ...] = (3, 9),
          dtype: str = "uint32", engine: str = "vector", seed: Any = None,
          **options: Any) -> Any:
    k = Kit(target)
    if seed is not None:
        k.b.set_rng_seed(src_seeds=k.load(seed))
    t = k.empty(shape, dtype)
    k.b.rng(dst=t, engine=engine)
    return k.one(t, **options)


def test_the_generators_of_this_file_are_those_of_their_authors():
    # xorshift32 from 1: 1 ^ 1 << 13 = 0x2001; ^ >> 17 the same;
    # ^ << 5 = 0x2001 ^ 0x40020 = 0x42021
    assert Lfsr(1)() == 0x42021
    # xorwow from x = 1, others 0: t = 1, v = 1 ^ 2 = 3, d = 362437
    assert Xorwow([1, 0, 0, 0, 0, 0])() == 3 + 362437


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_vector_starts_from_its_reset_states(target):
    want = lfsr_rows([STEP * (p + 1) for p in range(3)], 9)
    np.testing.assert_array_equal(drawn(target), want)


def test_vector_of_trn3_has_four_streams_a_lane():
    want = xorwow_rows([reset_words(p, 24) for p in range(3)], 9)
    np.testing.assert_array_equal(drawn("trn3"), want)


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_gpsimd_has_one_stream_a_lane(target):
    want = xorwow_rows([reset_words(p, 6) for p in range(3)], 9)
    np.testing.assert_array_equal(drawn(target, engine="gpsimd"), want)


@pytest.mark.parametrize("seed", [1, 12345, 2**32 + 7])
def test_the_runs_seed_moves_the_reset_states(seed):
    shift = seed * RUN_STEP
    for target, engine, want in (
        ("trn2", "vector",
         lfsr_rows([STEP * (p + 1) + shift for p in range(3)], 9)),
        ("trn3", "vector",
         xorwow_rows([reset_words(p, 24, seed) for p in range(3)], 9)),
        ("trn2", "gpsimd",
         xorwow_rows([reset_words(p, 6, seed) for p in range(3)], 9)),
    ):
        k = Kit(target)
        t = k.empty((3, 9), "uint32")
        k.b.rng(dst=t, engine=engine)
        np.testing.assert_array_equal(k.one(t, seed=seed), want)


@pytest.mark.parametrize("dtype", INT)
@pytest.mark.parametrize("target", TARGETS)
def test_a_dtype_keeps_the_low_bits(target, dtype):
    # nki/api/nki/isa/__init__.py:2092
    words = drawn(target)
    low = words.astype(f"uint{8 * SIZE[dtype]}").view(dtype)
    np.testing.assert_array_equal(drawn(target, dtype=dtype), low)


def test_elements_draw_in_access_order_and_rows_go_on():
    k = Kit("trn3")
    t = k.filled((2, 3, 8), 5, "int32")
    k.b.rng(dst=t[:, ::-1, 1::2])  # 12 elements: 3 of each stream
    k.b.rng(dst=t[:, 0, 0:6:2])  # streams 0, 1, 2
    k.b.rng(dst=t[0:1, 2, 0:1])  # stream 0
    out = k.one(t).view(np.uint32)
    for p in range(2):
        lane = Lane(reset_words(p, 24))
        want = np.full((3, 8), 5, np.uint32)
        want[::-1, 1::2] = np.array(lane.row(12)).reshape(3, 4)
        want[0, 0:6:2] = lane.row(3)
        if p == 0:
            want[2, 0] = lane.row(1)[0]
        np.testing.assert_array_equal(out[p], want)


# --- seeds ---


@pytest.mark.parametrize("seed", [0, 1, 0x9E3779B9, 2**32 - 0x9E3779B9])
def test_a_seed_sets_every_lane_of_vector(seed):
    tile = np.array([[seed]], np.uint32)
    states = [(seed + STEP * p) % WORD for p in range(128)]
    np.testing.assert_array_equal(
        drawn("trn2", (128, 3), seed=tile), lfsr_rows(states, 3))
    np.testing.assert_array_equal(
        drawn("trn3", (128, 9), seed=tile),
        xorwow_rows([seeded_words(p, seed) for p in range(128)], 9))


@pytest.mark.parametrize("target", TARGETS)
def test_a_seed_is_its_32_bits_whatever_the_dtype(target):
    # nki/api/nki/isa/__init__.py:2168
    bits = np.array([[0x40490FDB]], np.uint32)
    want = drawn(target, seed=bits)
    for dtype in (np.int32, F32):
        np.testing.assert_array_equal(
            drawn(target, seed=bits.view(dtype)), want)
    k = Kit(target)
    k.b.set_rng_seed(src_seeds=k.load(bits).view("tfloat32"))
    t = k.empty((3, 9), "uint32")
    k.b.rng(dst=t)
    np.testing.assert_array_equal(k.one(t), want)
    k = Kit(target)
    k.b.set_rng_seed(src_seeds=k.load(bits, space="psum"))
    t = k.empty((3, 9), "uint32")
    k.b.rng(dst=t)
    np.testing.assert_array_equal(k.one(t), want)


# behaviours.md, row 50


@pytest.mark.parametrize("target", TARGETS)
def test_row_50_the_same_seed_gives_the_same_numbers(target):
    k = Kit(target)
    tiles = [k.empty((4, 7), "uint32") for _ in range(4)]
    seed, other = (k.load(np.array([[s]], np.int32)) for s in (42, 43))
    for s, t in zip((seed, None, seed, other), tiles):
        if s is not None:
            k.b.set_rng_seed(src_seeds=s)
        k.b.rng(dst=t)
    first, second, again, another = k.run(*tiles)
    np.testing.assert_array_equal(first, again)
    assert (first != second).any() and (first != another).any()


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_row_50_the_other_engine_is_unaffected(target):
    k = Kit(target)
    tiles = [k.empty((4, 7), "uint32") for _ in range(4)]
    seed = k.load(np.array([[42]], np.int32))
    state = k.load(np.arange(1, 25, dtype=np.uint32).reshape(4, 6))
    k.b.set_rng_seed(src_seeds=seed)  # vector
    k.b.rng(dst=tiles[0], engine="gpsimd")
    k.b.rng(dst=tiles[1])
    k.b.rand_set_state(src_seeds=state)  # gpsimd
    k.b.set_rng_seed(src_seeds=seed)
    k.b.rng(dst=tiles[2], engine="gpsimd")
    k.b.rng(dst=tiles[3])
    out = k.run(*tiles)
    np.testing.assert_array_equal(
        out[0], xorwow_rows([reset_words(p, 6) for p in range(4)], 7))
    np.testing.assert_array_equal(out[1], out[3])
    np.testing.assert_array_equal(
        out[2], xorwow_rows(np.arange(1, 25).reshape(4, 6).tolist(), 7))


STATES = [("trn2", "gpsimd", 6), ("trn3", "gpsimd", 6), ("trn3", "vector", 24)]


@pytest.mark.parametrize(("target", "engine", "words"), STATES)
def test_row_50_a_state_comes_back(target, engine, words):
    rng = np.random.default_rng(words)
    state = rng.integers(0, WORD, (128, words), dtype=np.uint32)
    k = Kit(target)
    t = k.empty((128, words), "uint32")
    k.b.rand_set_state(src_seeds=k.load(state), engine=engine)
    k.b.rand_get_state(dst=t, engine=engine)
    np.testing.assert_array_equal(k.one(t), state)
    assert k.findings == []


@pytest.mark.parametrize(("target", "engine", "words"), STATES)
def test_a_state_that_is_set_again_repeats_the_numbers(target, engine, words):
    k = Kit(target)
    before = k.empty((5, words), "uint32")
    after = k.empty((5, words), "uint32")
    first, again = (k.empty((5, 11), "int16") for _ in range(2))
    k.b.rand_get_state(dst=before, engine=engine)
    k.b.rng(dst=first, engine=engine)
    k.b.rand_get_state(dst=after, engine=engine)
    k.b.rand_set_state(src_seeds=before, engine=engine)
    k.b.rng(dst=again, engine=engine)
    out = k.run(first, again, before, after)
    np.testing.assert_array_equal(out[0], out[1])
    for p in range(5):
        lane = Lane(reset_words(p, words))
        assert out[2][p].tolist() == lane.words
        lane.row(11)
        assert out[3][p].tolist() == lane.words


def test_a_state_of_some_lanes_leaves_the_others():
    k = Kit()
    state = np.arange(1, 13, dtype=np.uint32).reshape(2, 6)
    t = k.empty((3, 4), "uint32")
    k.b.rand_set_state(src_seeds=k.load(state))
    k.b.rng(dst=t, engine="gpsimd")
    want = [*state.tolist(), reset_words(2, 6)]
    np.testing.assert_array_equal(k.one(t), xorwow_rows(want, 4))


def test_a_lane_counts_from_the_tiles_first_partition():
    k = Kit()
    t = k.empty((3, 9), "uint32", start=64)
    k.b.rng(dst=t)
    np.testing.assert_array_equal(k.one(t), drawn())


def test_every_run_starts_from_the_reset_states():
    k = Kit()
    t = k.empty((3, 9), "uint32")
    k.b.rng(dst=t)
    e = trnemu.Device().load(k.build(t))
    first = e.run({}).outputs["out0"]
    np.testing.assert_array_equal(e.run({}).outputs["out0"], first)
    assert (e.run({}, seed=1).outputs["out0"] != first).any()
    np.testing.assert_array_equal(e.run({}).outputs["out0"], first)


@pytest.mark.parametrize(("target", "engine", "words"), STATES)
def test_words_of_zeros_are_reported(target, engine, words):
    state = np.ones((3, words), np.uint32)
    state[1, words - 6:words - 1] = 0
    k = Kit(target)
    t = k.empty((3, words), "uint32")
    k.b.rand_set_state(src_seeds=k.load(state), engine=engine)
    k.b.rand_get_state(dst=t, engine=engine)
    np.testing.assert_array_equal(k.one(t), state)
    assert [f.id for f in k.findings] == ["rand_set_state.zero_state"]
    assert "partition 1" in k.findings[0].message
    assert f"elements {words - 6}" in k.findings[0].message


# --- what is reported ---


@pytest.mark.parametrize("target", TARGETS)
def test_each_operation_that_draws_is_reported_once_a_run(target):
    k = Kit(target)
    t, x = k.empty((2, 4), "uint32"), k.filled((2, 4), 1.0)
    for _ in range(2):
        k.b.rng(dst=t)
        k.b.dropout(dst=x, data=x, prob=0.5)
        if target == "trn3":
            k.b.rand2(dst=x, min=0.0, max=1.0)
        if target != "trn1":
            s = k.empty((2, 6), "uint32")
            k.b.rand_get_state(dst=s)
    k.run(t)
    said = [(f.id, f.category, f.count) for f in k.findings]
    assert said == [("rng.generator", "unspecified", 1)] * (
        {"trn1": 2, "trn2": 3, "trn3": 4}[target])


@pytest.mark.parametrize("target", TARGETS)
def test_strict_refuses_unspecified_numbers(target):
    with pytest.raises(trnemu.Fault) as info:
        drawn(target, strict=True)
    assert (info.value.id, info.value.category) == ("rng.generator",
                                                    "unspecified")
    drawn(target, strict=True, allow=["rng.generator"])


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_seeds_and_states_alone_are_not_reported(target):
    k = Kit(target)
    state, out = k.filled((2, 6), 3, "uint32"), k.empty((2, 6), "uint32")
    k.b.set_rng_seed(src_seeds=state[0:1, 0:1])
    k.b.rand_set_state(src_seeds=state)
    k.b.rand_get_state(dst=out)
    assert (k.one(out, strict=True) == 3).all()


@pytest.mark.parametrize(("target", "engine", "words"), STATES)
def test_a_state_is_reported_once_something_was_drawn(target, engine, words):
    k = Kit(target)
    state = k.filled((2, words), 3, "uint32")
    out, t = k.empty((2, words), "uint32"), k.empty((2, 4), "uint32")
    k.b.rand_set_state(src_seeds=state, engine=engine)
    k.b.rng(dst=t[0:1], engine=engine)
    k.b.rand_get_state(dst=out, engine=engine)
    k.run(out)
    assert [(f.id, f.operation) for f in k.findings] == [
        ("rng.generator", "rng"), ("rng.generator", "rand_get_state")]
