"""rand2, dropout: distributions of the numbers that rng gives
(docs/decisions_random.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trnemu
from kit import TARGETS, Kit
from rules_kit import ANY, SIZE
from test_values_random import WORD, drawn

F32 = np.float32


# --- rand2 ---


def uniform(words: Any, low: Any, high: Any) -> Any:
    u = words.astype(F32) * F32(2.0**-32)
    return F32(low) + u * (F32(high) - F32(low))


def rand2(low: Any, high: Any, dtype: str = "float32", p: int = 4, n: int = 50,
          **options: Any) -> tuple[Any, Kit]:
    k = Kit("trn3")
    ends = [k.load(x) if isinstance(x, np.ndarray) else x for x in (low, high)]
    t = k.empty((p, n), dtype)
    k.b.rand2(dst=t, min=ends[0], max=ends[1])
    return k.one(t, **options), k


def test_rand2_spreads_over_its_range():
    words = drawn("trn3", (4, 50))
    for low, high in ((0.0, 1.0), (-3, 5), (-0.1, 0.3), (1e-45, 1.0)):
        out, _ = rand2(low, high)
        np.testing.assert_array_equal(out, uniform(words, low, high))
        assert (out >= F32(low)).all() and (out <= F32(high)).all()
    out, _ = rand2(0.0, 1.0, p=128, n=2000)
    assert abs(out.mean() - 0.5) < 0.005 and abs(out.std() - 12**-0.5) < 0.005


def forced(draws: list[int]) -> Any:
    """The state of four streams of a lane that draw these numbers first: with
    x to v all 0 a draw is the counter after its step."""
    words = np.zeros((1, 24), np.uint32)
    words[0, 5::6] = [(r - 362437) % WORD for r in draws]
    return words


def test_rand2_reaches_both_ends():
    # float32(2^32 - 1) * 2^-32 is 1; 2^31 is the middle
    k = Kit("trn3")
    t = k.empty((1, 4))
    k.b.rand_set_state(src_seeds=k.load(forced([0, WORD - 1, 2**31, 2**30])),
                       engine="vector")
    k.b.rand2(dst=t, min=-1.0, max=3.0)
    assert k.one(t).tolist() == [[-1, 3, 1, 0]]


def test_rand2_takes_columns():
    words = drawn("trn3", (4, 50))
    low = np.array([[0], [1], [-1], [5]], F32)
    high = np.array([[1], [3], [1], [6]], F32)
    np.testing.assert_array_equal(rand2(low, high)[0],
                                  uniform(words, low, high))
    np.testing.assert_array_equal(rand2(-2.0, high)[0],
                                  uniform(words, -2.0, high))


def test_rand2_is_cast_once():
    out = rand2(0.0, 10.0, "int8")[0]
    np.testing.assert_array_equal(
        out, np.rint(uniform(drawn("trn3", (4, 50)), 0, 10)).astype(np.int8))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (np.nan, 1),
                                           (0, np.nan)])
def test_columns_must_have_min_below_max(low, high):
    ends = np.array([[0], [0]], F32), np.array([[1], [1]], F32)
    ends[0][1], ends[1][1] = low, high
    with pytest.raises(trnemu.Fault) as info:
        rand2(*ends, p=2)
    assert (info.value.id, info.value.category) == ("rand2.range",
                                                    "unspecified")
    assert "partition 1" in info.value.message
    out, k = rand2(*ends, p=2, allow=["rand2.range"])
    assert "rand2.range" in [f.id for f in k.findings]
    assert (out[0] >= 0).all()


# --- dropout ---


def dropped(data: Any, prob: Any, target: str = "trn2",
            dtype: str | None = None, **options: Any) -> tuple[Any, Kit]:
    k = Kit(target)
    t = k.empty(data.shape, dtype or data.dtype.name)
    k.b.dropout(dst=t, data=k.load(data, dtype),
                prob=k.load(prob) if isinstance(prob, np.ndarray) else prob)
    return k.one(t, **options), k


@pytest.mark.parametrize("target", TARGETS)
def test_dropout_zeroes_where_a_number_is_below_prob(target):
    data = np.random.default_rng(1).standard_normal((5, 40)).astype(F32)
    data[0, :8] = [np.nan, -np.nan, np.inf, -0.0, 1e-45, -1e-45, 0, -np.inf]
    u = (drawn(target, (5, 40)) >> 8).astype(F32) * F32(2.0**-24)
    for prob in (0.3, np.array([[0.0], [1.0], [0.5], [0.1], [1e-9]], F32)):
        want = np.where(u < F32(prob), F32(0), data)
        out, k = dropped(data, prob, target)
        np.testing.assert_array_equal(out.view(np.uint32),
                                      want.view(np.uint32))
        assert [f.id for f in k.findings] == ["rng.generator"]


def test_dropout_keeps_an_element_whose_number_is_prob():
    # u is the upper 24 bits: 255 is 0, 2^31 - 1 is just below 0.5
    for prob, draws, kept in ((0.0, [0, 255, 256, 1], [1, 1, 1, 1]),
                              (0.5, [2**31, 2**31 - 1, 2**31 + 255, 0],
                               [1, 0, 1, 0])):
        k = Kit("trn3")
        x = k.filled((1, 4), 1.0)
        k.b.rand_set_state(src_seeds=k.load(forced(draws)), engine="vector")
        k.b.dropout(dst=x, data=x, prob=prob)
        assert k.one(x).tolist() == [kept]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ANY)
def test_prob_1_zeroes_all_and_prob_0_keeps_all(target, dtype):
    # nki/api/nki/isa/__init__.py:2128
    raw = f"uint{8 * SIZE[dtype]}"
    data = np.random.default_rng(2).integers(
        0, 2**(8 * SIZE[dtype]), (4, 100), dtype=raw)
    k = Kit(target)
    x, kept, gone = k.load(data), k.empty((4, 100), raw), k.empty((4, 100), raw)
    k.b.dropout(dst=kept.view(dtype), data=x.view(dtype), prob=0.0)
    k.b.dropout(dst=gone.view(dtype), data=x.view(dtype), prob=1)
    out = k.run(kept, gone)
    np.testing.assert_array_equal(out[0], data)
    assert not out[1].any()


def test_dropout_drops_as_often_as_it_says_and_rescales_nothing():
    out, _ = dropped(np.ones((128, 500), F32), 0.2)
    assert set(out.ravel().tolist()) == {0.0, 1.0}
    assert abs(out.mean() - 0.8) < 0.01


def test_dropout_follows_the_vector_engines_seed():
    data = np.ones((4, 30), F32)
    k = Kit()
    seed = k.load(np.array([[7]], np.uint32))
    x = k.load(data)
    tiles = [k.empty((4, 30)) for _ in range(3)]
    for t in tiles[:2]:
        k.b.set_rng_seed(src_seeds=seed)
        k.b.dropout(dst=t, data=x, prob=0.5)
    k.b.dropout(dst=tiles[2], data=x, prob=0.5)
    out = k.run(*tiles)
    np.testing.assert_array_equal(out[0], out[1])
    assert (out[0] != out[2]).any()


@pytest.mark.parametrize(("prob", "kept"), [(-0.5, 8), (1.5, 0), (np.nan, 8),
                                            (np.inf, 0)])
def test_a_prob_outside_0_to_1_is_reported(prob, kept):
    data = np.ones((2, 8), F32)
    for p in (prob, np.array([[0.0], [prob]], F32)):
        out, k = dropped(data, p)
        assert out[1].sum() == kept
        assert [f.id for f in k.findings] == ["rng.generator",
                                              "dropout.probability"]
        at = int(isinstance(p, np.ndarray))
        assert f"partition {at}" in k.findings[1].message
