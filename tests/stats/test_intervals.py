"""The intervals against known values, on degenerate input, and in how often they cover the truth."""

import math
import os
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import intervals
from leadline.stats.intervals import Interval, bootstrap_interval, mean_interval, t_interval, wilson_interval
from leadline.stats.student import normal_quantile

prove = pytest.mark.skipif(os.environ.get("LEADLINE_PROVE") != "1", reason="the long form: LEADLINE_PROVE=1")


def acceptance(coverage, runs):
    """The exact binomial region that a true coverage leaves with probability 1e-4, two-sided."""
    return tuple(stats.binom.ppf([0.5e-4, 1 - 0.5e-4], runs, coverage) / runs)


# Known values


# Newcombe 1998, Statistics in Medicine 17, table I, method 3 (Wilson's score without continuity correction).
# By hand for 0 of 20: z²= 3.84146, low = 0, high = z²/(n + z²) = 3.84146/23.84146 = .1611.
# By hand for 81 of 263: centre = (.30798 + 3.84146/526)/(1 + 3.84146/263) = .31529/1.014606 = .31075,
# half = 1.95996/1.014606·√(.30798·.69202/263 + 3.84146/(4·263²)) = 1.93175·√(.00081038 + .00001388) = .05546.
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_newcombes_table(successes, n, low, high):
    interval = wilson_interval(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert interval.estimate == successes / n
    assert (interval.method, interval.n, interval.level, interval.reason) == ("wilson", n, 0.95, None)
    mirrored = wilson_interval(n - successes, n)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - interval.high, 1 - interval.low), abs=1e-14)


def test_student_by_hand():
    # 0, .5, 1: mean .5, sd = √((.25 + 0 + .25)/2) = .5, t(.975, 2) = 4.302653,
    # half = 4.302653·.5/√3 = 1.242069.
    interval = t_interval([0.0, 0.5, 1.0])
    assert interval.low == pytest.approx(0.5 - 1.242069, abs=1e-6)
    assert interval.high == pytest.approx(0.5 + 1.242069, abs=1e-6)
    # At level .9: t(.95, 2) = 2.919986, half = 2.919986·.5/√3 = .842927.
    assert t_interval([0.0, 0.5, 1.0], 0.9).high == pytest.approx(0.5 + 0.842927, abs=1e-6)


def test_student_of_students_sleep_data():
    # Student 1908, the extra hours of sleep: differences with mean 1.58, sd 1.2300, n = 10;
    # t(.975, 9) = 2.262157, half = 2.262157·1.22999/√10 = .87988.
    interval = t_interval([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert interval.estimate == pytest.approx(1.58)
    assert (interval.low, interval.high) == pytest.approx((0.70011, 2.45989), abs=1e-5)


def test_bootstrap_of_two_values_by_hand():
    # 0 and 1: a resample's mean is 0, .5 or 1 with probability 1/4, 1/2, 1/4; so the 95 % interval is [0, 1]
    # and the 40 % interval, from the .3 to the .7 quantile, is [.5, .5].
    rng = np.random.default_rng(5)
    assert bootstrap_interval([0.0, 1.0], rng) == Interval(0.5, 0.0, 1.0, 0.95, "bootstrap", 2)
    assert bootstrap_interval([0.0, 1.0], rng, level=0.4) == Interval(0.5, 0.5, 0.5, 0.4, "bootstrap", 2)


def test_bootstrap_is_near_students_at_large_n():
    values = np.random.default_rng(6).beta(2, 3, 400)
    ours, student = bootstrap_interval(values, np.random.default_rng(7)), t_interval(values)
    width = student.high - student.low
    # The ends carry the noise of 10,000 resamples, about .027 standard errors each; a width is 3.9 of those.
    assert abs(ours.low - student.low) < 0.03 * width
    assert abs(ours.high - student.high) < 0.03 * width


# Degenerate input: the answers are defined


@pytest.mark.parametrize("method", [t_interval, mean_interval])
def test_one_value_has_no_interval(method):
    # Case ci-n1: one observation carries no spread; [1, 1] would pass any gate.
    interval = method([1.0])
    assert (interval.estimate, interval.low, interval.high, interval.reason) == (1.0, None, None, "n<2")
    assert method([]) == Interval(None, None, None, 0.95, "t", 0, "n<2")


def test_no_spread_gives_no_interval_of_zero_width():
    rng = np.random.default_rng(1)
    for interval in (
        mean_interval([0.1] * 1000),
        bootstrap_interval([0.1] * 1000, rng),
        t_interval([1.0] * 5),
    ):
        assert (interval.low, interval.high) == (None, None)
        assert interval.reason == "no spread: all values equal"
    assert mean_interval([0.1] * 1000).estimate == 0.1
    # Yes/no values have an interval all the same. By hand: 5 of 5, low = n/(n + z²) = 5/8.84146 = .5655.
    ones = mean_interval([1.0] * 5)
    assert (ones.method, round(ones.low, 4), ones.high) == ("wilson", 0.5655, 1.0)


def test_a_rate_has_an_interval_from_one_trial():
    # By hand: 1 of 1, low = 1/(1 + 3.84146) = .2065.
    assert round(wilson_interval(1, 1).low, 4) == 0.2065
    assert wilson_interval(0, 0) == Interval(None, None, None, 0.95, "wilson", 0, "n<1")


def test_yes_and_no_choose_wilson():
    assert mean_interval([0, 1, 1, 0]).method == "wilson"
    assert mean_interval([0, 1, 1, 0.5]).method == "t"
    assert mean_interval(np.array([True, False])).method == "wilson"


@pytest.mark.parametrize(
    "call",
    [
        lambda: t_interval([1.0, math.nan]),
        lambda: t_interval([1.0, math.inf]),
        lambda: t_interval(np.ones((2, 2))),
        lambda: t_interval([0.0, 1.0], level=95),
        lambda: wilson_interval(3, 2),
        lambda: wilson_interval(-1, 2),
        lambda: wilson_interval(1, 2, level=1.0),
        lambda: bootstrap_interval([0.0, 1.0], np.random.default_rng(1), resamples=0),
        lambda: mean_interval([0.0, 1.0], level=0),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(UsageError):
        call()


def test_the_values_are_left_alone_and_their_order_does_not_matter():
    values = np.array([0.3, 0.0, 1.0, 0.5])
    before = values.copy()
    first = t_interval(values)
    bootstrap_interval(values, np.random.default_rng(1), 100)
    np.testing.assert_array_equal(values, before)
    assert t_interval(values[::-1]).low == pytest.approx(first.low, rel=1e-14)


# The bootstrap's draws


def test_bootstrap_repeats_by_seed_and_not_by_how_it_is_split(monkeypatch):
    values = np.random.default_rng(2).random(37)
    whole = bootstrap_interval(values, np.random.default_rng(3), 1000)
    assert bootstrap_interval(values, np.random.default_rng(3), 1000) == whole
    assert bootstrap_interval(values, np.random.default_rng(4), 1000) != whole
    monkeypatch.setattr(intervals, "DRAWS_AT_ONCE", 100)
    assert bootstrap_interval(values, np.random.default_rng(3), 1000) == whole


def test_bootstrap_memory_is_bounded():
    values = np.random.default_rng(2).random(20_000)
    tracemalloc.start()
    bootstrap_interval(values, np.random.default_rng(3), 500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 500 × 20,000 indices at once would be 80 MB; at most DRAWS_AT_ONCE indices and as many values are held.
    assert peak < 20e6


# Coverage


def covered(make, rows, truth):
    return float(np.mean([interval.low <= truth <= interval.high for interval in map(make, rows)]))


@pytest.mark.parametrize("n", [5, 20, 50])
def test_student_covers_normal_data(n):
    rows = np.random.default_rng(2024 + n).normal(0, 1, (10_000, n))
    low, high = acceptance(0.95, 10_000)
    assert low <= covered(t_interval, rows, 0.0) <= high


def test_the_normal_quantile_in_place_of_students_is_found_out(monkeypatch):
    # The true coverage of mean ± z·sd/√5 is P(|T₄| < 1.96) = .878.
    monkeypatch.setattr(intervals, "t_quantile", lambda p, df: normal_quantile(p))
    rows = np.random.default_rng(2029).normal(0, 1, (10_000, 5))
    share = covered(t_interval, rows, 0.0)
    assert share < acceptance(0.95, 10_000)[0]
    low, high = acceptance(2 * stats.t.cdf(normal_quantile(0.975), 4) - 1, 10_000)
    assert low <= share <= high


def wilson_coverage(n, p):
    """The exact coverage at each p: the sum of the binomial probabilities whose interval holds p."""
    ends = [wilson_interval(k, n) for k in range(n + 1)]
    low, high = (np.array([[getattr(end, name)] for end in ends]) for name in ("low", "high"))
    inside = (low <= p) & (p <= high)
    return (stats.binom.pmf(np.arange(n + 1)[:, None], n, p) * inside).sum(axis=0)


# On average over p it covers at least what is nominal, by less than .005 more (Agresti & Coull 1998, The
# American Statistician 52). Single p near 0 and 1 fall lower: with x Poisson of mean λ, Wilson's lower end
# for x = 1 is 1 + z²/2 − z√(1 + z²/4) = .1765, so just below that λ only x = 0 is covered: e^−.1765 = .838.
@pytest.mark.parametrize(("n", "least"), [(10, 0.842), (20, 0.851), (50, 0.860), (100, 0.904)])
def test_wilson_covers_by_exact_enumeration(n, least):
    coverage = wilson_coverage(n, np.arange(1, 1000) / 1000)
    assert 0.95 <= coverage.mean() <= 0.955
    assert coverage.min() >= least
    middle = wilson_coverage(n, np.arange(200, 801) / 1000)
    assert middle.min() >= 0.919


def test_wilson_covers_as_the_case_says():
    # Case exact_coverage: n = 50, p = .1, by another program.
    assert wilson_coverage(50, np.array([0.1]))[0] == pytest.approx(0.9703082890880887, abs=1e-12)


def bootstrap_theory(n, resamples):
    """What the percentile interval covers on normal data: P(|T| < z·√((n − 1)/n)), T with n − 1 degrees.

    The bootstrap's spread is the sd with n and not n − 1, and its shape is near the normal one (Efron &
    Tibshirani 1993, 12.5 and 13.3); z is taken at the probability where a quantile of so many draws lies,
    which is (.025(B − 1) + 1)/(B + 1).
    """
    z = -normal_quantile((0.025 * (resamples - 1) + 1) / (resamples + 1))
    return 2 * stats.t.cdf(z * math.sqrt((n - 1) / n), n - 1) - 1


def bootstrap_covers(n, runs, resamples, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 1, (runs, n))
    return covered(lambda row: bootstrap_interval(row, rng, resamples), rows, 0.0)


def test_bootstrap_covers_normal_data_within_its_band():
    # n = 100, B = 1000: theory .944; the band is the binomial region about it.
    low, high = acceptance(bootstrap_theory(100, 1000), 5000)
    assert 0.93 < low <= bootstrap_covers(100, 5000, 1000, 7) <= high < 0.96


# The long form


@prove
@pytest.mark.prove
@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 50, 100, 300])
def test_student_covers_normal_data_at_length(n):
    rows = np.random.default_rng(2024 + n).normal(0, 1, (20_000, n))
    low, high = acceptance(0.95, 20_000)
    assert low <= covered(t_interval, rows, 0.0) <= high


# The method is only asymptotic here: skewed values, 40 % of them exactly 0 and the rest Beta(1, 3). The bands
# say what it does: .88 at n = 5, .91 at 10, .93 at 20, .94 at 50, .95 from 100 on (20,000 runs each).
@prove
@pytest.mark.prove
@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        (5, 0.86, 0.90),
        (10, 0.895, 0.925),
        (20, 0.92, 0.945),
        (50, 0.93, 0.955),
        (100, 0.935, 0.96),
        (300, 0.94, 0.96),
    ],
)
def test_student_on_skewed_scores_with_many_zeros(n, low, high):
    rng = np.random.default_rng(40 + n)
    rows = np.where(rng.random((20_000, n)) < 0.4, 0.0, rng.beta(1, 3, (20_000, n)))
    found = [t_interval(row) for row in rows]
    known = [interval for interval in found if interval.low is not None]
    # A sample of zeros only has no interval: .4^5 = 1 % of those of 5.
    assert len(known) / len(found) == pytest.approx(1 - 0.4**n, abs=0.003)
    truth = 0.6 / 4
    assert low <= np.mean([interval.low <= truth <= interval.high for interval in known]) <= high


@prove
@pytest.mark.prove
@pytest.mark.parametrize("n", [100, 200])
def test_bootstrap_covers_normal_data_at_length(n):
    low, high = acceptance(bootstrap_theory(n, 2000), 20_000)
    assert low <= bootstrap_covers(n, 20_000, 2000, 8) <= high


@prove
@pytest.mark.prove
@pytest.mark.parametrize("n", [5, 15, 30, 200, 500, 1000])
def test_wilson_covers_by_exact_enumeration_at_length(n):
    coverage = wilson_coverage(n, np.arange(1, 10_000) / 10_000)
    assert 0.95 <= coverage.mean() <= 0.957
    assert coverage.min() >= 0.83
