"""Clopper–Pearson and Newcombe against the tables of the papers and by exact enumeration."""

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.intervals import Interval
from leadline.stats.rates import clopper_pearson, newcombe_difference, rogan_gladen


# Newcombe 1998a, Statistics in Medicine 17, 857–872, table I, method 5. By hand for 0 of 20: the high end has
# (1 − p)^20 = .025, p = 1 − .025^(1/20) = .1684.
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_clopper_pearson_is_newcombes_table(successes, n, low, high):
    interval = clopper_pearson(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert (interval.estimate, interval.method, interval.n) == (successes / n, "clopper-pearson", n)
    mirrored = clopper_pearson(n - successes, n)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - interval.high, 1 - interval.low), abs=1e-12)


def test_clopper_pearson_is_scipys():
    for level in (0.8, 0.9, 0.99):
        other = stats.binomtest(7, 31).proportion_ci(level, "exact")
        interval = clopper_pearson(7, 31, level)
        assert (interval.low, interval.high) == pytest.approx((other.low, other.high), rel=1e-9)


def clopper_coverage(n, rates, level=0.95):
    """The exact coverage at each rate: the sum of the binomial probabilities whose interval holds it."""
    ends = [clopper_pearson(k, n, level) for k in range(n + 1)]
    low, high = (np.array([[getattr(end, name)] for end in ends]) for name in ("low", "high"))
    inside = (low <= rates) & (rates <= high)
    return (stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) * inside).sum(axis=0)


@pytest.mark.parametrize("n", [1, 5, 20, 50, 100])
def test_clopper_pearson_never_covers_too_little(n):
    assert clopper_coverage(n, np.arange(1, 1000) / 1000).min() >= 0.95
    assert clopper_coverage(n, np.arange(1, 1000) / 1000, 0.8).min() >= 0.8


def test_clopper_pearson_covers_as_the_case_says():
    # Case exact_coverage: n = 50, p = .1.
    assert clopper_coverage(50, np.array([0.1]))[0] == pytest.approx(0.9703082890880887, abs=1e-12)


# Newcombe 1998b, Statistics in Medicine 17, 873–890, table II, method 10, contrasts (a) to (h): first minus
# second, so the second is A and the first B. By hand for 56/70 and 48/80: Wilson [.6919, .8777] and
# [.4904, .7005]; .2 − √((.8 − .6919)² + (.7005 − .6)²) = .2 − .1476 = .0524.
@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_is_newcombes_table(first, second, low, high):
    interval = newcombe_difference(*second, *first)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert interval.estimate == pytest.approx(first[0] / first[1] - second[0] / second[1])
    assert (interval.method, interval.n, interval.level) == ("newcombe", first[1] + second[1], 0.95)
    swapped = newcombe_difference(*first, *second)
    assert (swapped.low, swapped.high) == pytest.approx((-interval.high, -interval.low), abs=1e-14)


def test_newcombe_of_the_case():
    # Case newcombe_diff.
    interval = newcombe_difference(48, 80, 56, 70)
    assert (interval.low, interval.high) == pytest.approx((0.05243147240236498, 0.333872654036906), abs=1e-9)


# Exact coverage over both binomials: the method is approximate, these points say how far.
@pytest.mark.parametrize(
    ("n_a", "p_a", "n_b", "p_b"),
    [(30, 0.1, 30, 0.2), (50, 0.5, 80, 0.6), (20, 0.3, 100, 0.3), (60, 0.05, 60, 0.1)],
)
def test_newcombe_covers(n_a, p_a, n_b, p_b):
    weight = np.outer(
        stats.binom.pmf(np.arange(n_a + 1), n_a, p_a), stats.binom.pmf(np.arange(n_b + 1), n_b, p_b)
    )
    total = 0.0
    for a, b in np.argwhere(weight > 1e-9).tolist():
        interval = newcombe_difference(a, n_a, b, n_b)
        total += weight[a, b] * (interval.low <= p_b - p_a <= interval.high)
    assert 0.935 <= total <= 0.975


def test_no_trials():
    assert clopper_pearson(0, 0) == Interval(None, None, None, 0.95, "clopper-pearson", 0, "n<1")
    assert newcombe_difference(0, 0, 3, 4).reason == "n<1"
    assert newcombe_difference(3, 4, 0, 0) == Interval(None, None, None, 0.95, "newcombe", 4, "n<1")
    # A rate has an interval from one trial on: 1 of 1 has .025 at its low end.
    assert clopper_pearson(1, 1).low == pytest.approx(0.025, abs=1e-12)


def test_newcombe_stays_within_its_range():
    for a in range(6):
        for b in range(4):
            interval = newcombe_difference(a, 5, b, 3, 0.999)
            assert -1 <= interval.low <= interval.estimate <= interval.high <= 1


def test_rogan_gladen():
    # (.3 + .95 − 1)/(.9 + .95 − 1) = .25/.85. Variance [.21/500 + π²·.09/100 + (1 − π)²·.0475/200]/.7225.
    found = rogan_gladen(150, 500, 90, 100, 190, 200)
    assert found.estimate == pytest.approx(0.2941176470588235, abs=1e-12)
    assert found.se == pytest.approx(0.029203824265528987, abs=1e-7)
    assert found.interval.high == pytest.approx(found.estimate + 1.959963984540054 * found.se)
    assert (found.sensitivity, found.specificity, found.interval.n) == (0.9, 0.95, 500)
    # Fewer than the false positives alone: (.02 + .95 − 1) < 0, cut to 0; so is the interval.
    none = rogan_gladen(10, 500, 90, 100, 190, 200)
    assert none.estimate == 0.0 and none.interval.low == 0.0 < none.interval.high


def test_rogan_gladen_of_a_judge_that_knows_nothing():
    # .9 + .1 − 1 is 0, and so is .3 + .7 − 1, though not in floating point.
    for hits, rejected in ((9, 1), (3, 7), (2, 3)):
        found = rogan_gladen(5, 10, hits, 10, rejected, 10)
        assert (found.estimate, found.se) == (None, None)
        assert found.interval.reason.startswith("the judge is no better than chance")
    assert rogan_gladen(0, 0, 1, 2, 1, 2).interval.reason == "n<1"
    assert rogan_gladen(1, 2, 0, 0, 1, 2).sensitivity is None
    # A judge that never erred on ten: nothing to say how often it does.
    assert rogan_gladen(0, 10, 10, 10, 10, 10).interval.reason == "no spread: all values equal"


def test_rogan_gladen_undoes_the_judge():
    """Where the share seen is what a rate of π gives, π comes back."""
    for rate in (0.1, 0.5, 0.9):
        seen = round(10_000 * (rate * 0.8 + (1 - rate) * 0.3))
        assert rogan_gladen(seen, 10_000, 80, 100, 70, 100).estimate == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: clopper_pearson(3, 2),
        lambda: clopper_pearson(-1, 2),
        lambda: clopper_pearson(1, 2, level=95),
        lambda: newcombe_difference(3, 2, 1, 2),
        lambda: rogan_gladen(1, 2, 3, 2, 1, 2),
        lambda: rogan_gladen(1, 2, 1, 2, 1, 2, level=1),
        lambda: newcombe_difference(1, 2, 3, 2),
        lambda: newcombe_difference(1, 2, 1, 2, level=0),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(UsageError):
        call()
