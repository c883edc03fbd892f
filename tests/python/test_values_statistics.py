"""bn_stats and bn_aggr: fp32 in access order, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from kit import TARGETS, Kit

F32 = np.float32
every = pytest.mark.parametrize("target", TARGETS)


def chain(x):
    """Left to right, rounded to fp32 after each addition."""
    total = x[0]
    for value in x[1:]:
        total = F32(total + value)
    return F32(total)


def describe(x):
    """count, sum / count, then sum of (x - mean)^2."""
    if len(x) == 0:
        return [F32(0)] * 3
    mean = F32(chain(x) / F32(len(x)))
    away = (x - mean).astype(F32)
    return [F32(len(x)), mean, chain(away * away)]


def stats(x):
    return np.array([describe(r[0::2]) + describe(r[1::2]) for r in x], F32)


def aggregate(x):
    out = []
    for r in x.reshape(len(x), -1, 3):
        c, m, v = r[:, 0], r[:, 1], r[:, 2]
        count = chain(c)
        mean = F32(chain(F32(c * m)) / count)
        away = (m - mean).astype(F32)
        spread = F32(chain(v) + chain(c * (away * away)))
        out.append([mean, F32(spread / count)])
    return np.array(out, F32)


def run(operation, x, columns, dtype="float32", dst="float32", target="trn2"):
    k = Kit(target)
    t = k.empty((x.shape[0], columns), dst)
    getattr(k.b, operation)(dst=t, data=k.load(x, dtype))
    return k.one(t), [f.id for f in k.findings]


@every
def test_even_and_odd_elements_have_their_own_statistics(target):
    x = np.array([[1, 10, 2, 20, 6, 30, 7]], F32)
    # even: 1 2 6 7: mean 4, squares 9 + 4 + 4 + 9; odd: 10 20 30
    got, said = run("bn_stats", x, 6, target=target)
    assert list(got[0]) == [4, 4, 26, 3, 20, 200] and said == []


@every
def test_parity_is_of_the_flattened_index(target):
    x = np.array([[[1, 2, 3], [4, 5, 6]]], F32)  # even 1 3 5, odd 2 4 6
    got, _ = run("bn_stats", x, 6, target=target)
    assert list(got[0]) == [3, 3, 8, 3, 4, 8]


@every
@pytest.mark.parametrize("n", [2, 3, 4, 17, 511, 512])
@pytest.mark.parametrize("p", [1, 15, 16, 17, 128])
def test_sums_round_in_access_order(n, p, target):
    rng = np.random.default_rng([n, p])
    x = (rng.standard_normal((p, n)) * 100).astype(F32)
    got, _ = run("bn_stats", x, 6, target=target)
    ref.same(got, stats(x))


@every
@pytest.mark.parametrize("dtype", [d for d in ref.ANY])
def test_statistics_are_fp32_and_cast_once(dtype, target):
    x = ref.moderate(dtype, (4, 11))
    want = stats(ref.widen(x, dtype))
    got, _ = run("bn_stats", x, 6, dtype, target=target)
    ref.same(got, want)
    x = ref.moderate("float32", (4, 11))
    got, _ = run("bn_stats", x, 6, dst=dtype, target=target)
    ref.same(got, ref.cast(stats(x), dtype))


@every
def test_one_element_has_no_odd_ones_which_is_reported(target):
    # numerics.md 15.18: mean 0, M2 0
    got, said = run("bn_stats", np.array([[5], [6]], F32), 6, target=target)
    assert got.tolist() == [[1, 5, 0, 0, 0, 0], [1, 6, 0, 0, 0, 0]]
    assert said == ["bn_stats.no_odd_elements"]


@every
def test_nan_and_infinity_stay_in_their_half(target):
    x = np.array([[np.nan, 1, 2, 3], [np.inf, 1, 2, 3]], F32)
    got, _ = run("bn_stats", x, 6, target=target)
    assert np.isnan(got[0, 1:3]).all() and list(got[0, 3:]) == [2, 2, 2]
    assert got[1, 1] == np.inf and np.isnan(got[1, 2])
    assert (ref.bits(got)[np.isnan(got)] == 0x7FC00000).all()


@every
def test_aggregation_gives_mean_and_population_variance(target):
    # 1 2 6 7 and 10 20 30: mean 76/7; the numbers are those of np.var
    x = np.array([[4, 4, 26, 3, 20, 200]], F32)
    got, said = run("bn_aggr", x, 2, target=target)
    values = np.array([1, 2, 6, 7, 10, 20, 30], float)
    np.testing.assert_allclose(got[0], [values.mean(), values.var()], 1e-6)
    ref.same(got, aggregate(x))
    assert said == []


@every
@pytest.mark.parametrize("triples", [1, 2, 5, 16])
def test_aggregation_rounds_in_order(triples, target):
    rng = np.random.default_rng(triples)
    x = (rng.random((128, triples, 3)) * 50).astype(F32)
    x[:, :, 0] = rng.integers(1, 256, (128, triples))
    x = x.reshape(128, -1)
    got, _ = run("bn_aggr", x, 2, target=target)
    ref.same(got, aggregate(x))


@every
def test_parts_of_1024_elements_aggregate_to_the_whole(target):
    # nki/test/test_nki_isa_bn_stats.py: two bn_stats into one tile
    rng = np.random.default_rng(0)
    x = rng.standard_normal((128, 1024)).astype(F32)
    k = Kit(target)
    src, parts, out = k.load(x), k.empty((128, 12)), k.empty((128, 2))
    for i in range(2):
        k.b.bn_stats(dst=parts[:, 6 * i : 6 * i + 6],
                     data=src[:, 512 * i : 512 * i + 512])
    k.b.bn_aggr(dst=out, data=parts)
    got = k.one(out)
    exact = x.astype(float)
    np.testing.assert_allclose(got[:, 0], exact.mean(1), atol=1e-7)
    np.testing.assert_allclose(got[:, 1], exact.var(1), rtol=1e-6)


@every
def test_no_count_gives_nan_and_is_reported(target):
    x = np.array([[3, 1, 0, 0, 0, 0], [0, 5, 0, 0, 7, 0]], F32)
    got, said = run("bn_aggr", x, 2, target=target)
    assert list(got[0]) == [1, 0]
    assert (ref.bits(got[1]) == 0x7FC00000).all()
    assert said == ["bn_aggr.no_count"]
