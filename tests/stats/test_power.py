"""Power and sample size against known values, against each other, and against simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import power
from leadline.stats.power import (
    QueriesUntil,
    detectable_difference,
    power_paired,
    queries_for_margin,
    queries_for_width,
    queries_needed,
    queries_until_excluded,
    smallest_margin,
)


def test_cohens_medium_effect():
    # Case power_paired_t: d_z = .5, two-sided .05. By hand with the normal distribution n is about
    # ((1.960 + .842)/.5)² = 31.4; t needs 34, as G*Power prints, with power .8078.
    assert queries_needed(1.0, 0.5) == 34
    assert power_paired(34, 1.0, 0.5) == pytest.approx(0.8077775012792738, abs=1e-9)
    assert power_paired(33, 1.0, 0.5) < 0.8
    assert detectable_difference(50, 1.0) == pytest.approx(0.4041830021359657, abs=1e-9)


# In units of the spread, at alpha .05 and power .8, by another program's noncentral t.
@pytest.mark.parametrize(
    ("n", "units"),
    [(20, 0.660), (30, 0.529), (50, 0.404), (100, 0.283), (200, 0.199), (500, 0.126), (1000, 0.089)],
)
def test_smallest_detectable_difference(n, units):
    assert detectable_difference(n, 1.0) == pytest.approx(units, abs=5.1e-4)
    assert detectable_difference(n, 0.15) == pytest.approx(0.15 * detectable_difference(n, 1.0), rel=1e-10)


# At margin .01, spread .15: ((1.645 + .842)·.15/.01)² = 1391.1 by the normal distribution, 1393 by t.
@pytest.mark.parametrize(("margin", "n"), [(0.01, 1393), (0.02, 350), (0.03, 156), (0.05, 58)])
def test_queries_that_a_margin_needs(margin, n):
    assert queries_for_margin(0.15, margin) == n
    assert smallest_margin(n, 0.15) <= margin < smallest_margin(n - 1, 0.15)


def test_queries_that_a_width_needs():
    # Case n_for_ci_halfwidth: t(.975, 98)·.15/√99 = 1.984467·.15/9.949874 = .029917 <= .03, and with one
    # fewer 1.984723·.15/9.899495 = .030073 > .03. The normal quantile would say (1.96·.15/.03)² = 97.
    assert queries_for_width(0.15, 0.03) == 99


@pytest.mark.parametrize("n", [3, 10, 57, 400])
@pytest.mark.parametrize("target", [0.3, 0.8, 0.99])
def test_the_inverses_are_inverses(n, target):
    difference = detectable_difference(n, 0.2, target)
    assert power_paired(n, 0.2, difference) == pytest.approx(target, abs=1e-9)
    assert queries_needed(0.2, difference * (1 + 1e-9), target) == n
    margin = smallest_margin(n, 0.2, target)
    assert queries_for_margin(0.2, margin * (1 + 1e-9), target) == n


def test_power_has_no_sign_and_keeps_alpha_at_zero():
    assert power_paired(20, 0.3, -0.1) == power_paired(20, 0.3, 0.1)
    # Nothing to find: both tails together are alpha. One tail alone would be .025.
    assert power_paired(20, 0.3, 0.0) == pytest.approx(0.05, abs=1e-10)
    assert queries_needed(0.15, -0.02) == queries_needed(0.15, 0.02)


def test_power_where_scipy_has_no_number(monkeypatch):
    # SciPy's nct.cdf has given NaN in the far tail (issue 25470, at -2.26, 9, 9): that probability is 0.
    whole = power_paired(10, 1.0, 2.8)
    monkeypatch.setattr(stats.nct, "cdf", lambda *a: math.nan)
    assert power_paired(10, 1.0, 2.8) == 1.0
    assert whole == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("n", "size"), [(10, 40.0), (3, 1e3), (1000, 5.0), (1_000_000, 0.01)])
def test_power_is_one_far_out(n, size):
    assert power_paired(n, 1.0, size) == pytest.approx(1.0, abs=1e-9)


def test_power_by_simulation():
    # 20,000 sets of 12: the share of |t| above the critical value, ±4 standard errors of sqrt(.25/20000).
    rng = np.random.default_rng(11)
    rows = rng.normal(0.6, 1.0, (20_000, 12))
    t = rows.mean(axis=1) / rows.std(axis=1, ddof=1) * math.sqrt(12)
    found = np.mean(np.abs(t) > stats.t.ppf(0.975, 11))
    assert power_paired(12, 1.0, 0.6) == pytest.approx(found, abs=0.0142)


def test_nothing_to_go_by():
    for n, sd in ((1, 0.2), (0, 0.2), (10, 0.0)):
        assert math.isnan(power_paired(n, sd, 0.1))
        assert math.isnan(detectable_difference(n, sd))
        assert math.isnan(smallest_margin(n, sd))
    for call in (queries_needed, queries_for_margin, queries_for_width):
        with pytest.raises(UsageError, match="sd 0"):
            call(0.0, 0.1)
        with pytest.raises(UsageError, match="not above 0"):
            call(0.1, 0.0)
        with pytest.raises(UsageError, match="more than 10,000,000 queries"):
            call(1.0, 1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: power_paired(10, -1.0, 0.1),
        lambda: power_paired(10, math.nan, 0.1),
        lambda: power_paired(10, 1.0, math.inf),
        lambda: power_paired(10, 1.0, 0.1, alpha=5),
        lambda: detectable_difference(10, 1.0, power=0.04),
        lambda: queries_needed(1.0, 0.1, power=1.0),
        lambda: queries_for_margin(1.0, -0.1),
        lambda: queries_for_width(1.0, 0.1, level=95),
        lambda: queries_until_excluded([0.0, 0.1], 0.0, np.random.default_rng(1)),
        lambda: queries_until_excluded([0.0, math.nan], 0.1, np.random.default_rng(1)),
        lambda: queries_until_excluded([0.0, 0.1], 0.1, np.random.default_rng(1), power=0.01),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(UsageError):
        call()


# By resampling


@pytest.mark.parametrize("difference", [0.5, -0.3, 0.15, 0.02])
def test_resampled_number_is_the_analytic_one_for_normal_differences(difference):
    # Normal scores with sd exactly 1: the sampled population is as normal as 400 points are. The noise is 2 %
    # and the bisection stops at 1 %, so 8 % is beyond chance.
    seen = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    seen = seen / seen.std(ddof=1)
    found = queries_until_excluded(seen + 7.0, difference, np.random.default_rng(3))
    assert found.n == pytest.approx(queries_needed(1.0, difference), rel=0.08, abs=1)
    method = "resampling" if abs(difference) > 0.1 else "noncentral t"
    assert (found.method, found.difference, found.reason) == (method, difference, None)


def test_the_observed_mean_does_not_matter():
    # Winner's curse: the number must depend on the named difference and the spread alone. Eighths are added
    # exactly, so that the moved differences are the same to the bit.
    seen = np.random.default_rng(4).integers(-8, 9, 64) / 8
    one = queries_until_excluded(seen, 0.25, np.random.default_rng(5))
    assert queries_until_excluded(seen + 4, 0.25, np.random.default_rng(5)) == one


def test_resampled_number_reaches_the_power():
    # Differences with 70 % zeros and heavy tails; the share of 20,000 new sets whose interval excludes zero
    # must be near .8 at n: .006 for the noise of the search, .011 for four standard errors here.
    rng = np.random.default_rng(6)
    seen = np.where(rng.random(300) < 0.7, 0.0, rng.laplace(0, 0.2, 300))
    n = queries_until_excluded(seen, 0.05, rng).n
    drawn = (seen - seen.mean() + 0.05)[rng.integers(0, 300, (20_000, n))]
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * math.sqrt(n)
    assert np.mean(np.abs(t) > stats.t.ppf(0.975, n - 1)) == pytest.approx(0.8, abs=0.03)


def test_beyond_a_thousand_queries_skew_decides_the_method():
    # One of 1,000 differences is large: skewness 31.6, so that 2,000 queries are not enough for t to be normal.
    rare = np.zeros(1000)
    rare[0] = 1.0
    found = queries_until_excluded(rare, 0.0019, np.random.default_rng(1))
    assert found.method == "resampling" and found.n > 1000
    # Half and half has none: (1.96 + .842)²·.25/.01² = 19,622.
    even = queries_until_excluded(np.arange(1000) % 2, 0.01, np.random.default_rng(1))
    assert even.method == "noncentral t" and even.n == pytest.approx(19_622 * 1000 / 999, abs=3)


def test_the_noncentral_t_is_what_sets_would_say(monkeypatch):
    seen = np.where(
        np.random.default_rng(6).random(200) < 0.7, 0.0, np.random.default_rng(7).laplace(0, 0.2, 200)
    )
    at_once = queries_until_excluded(seen, 0.01, np.random.default_rng(1))
    monkeypatch.setattr(power, "LARGE", 10**9)
    sets = queries_until_excluded(seen, 0.01, np.random.default_rng(1))
    assert (at_once.method, sets.method) == ("noncentral t", "resampling")
    assert sets.n == pytest.approx(at_once.n, rel=0.08)


def test_counting_draws_is_drawing(monkeypatch):
    # Where there are many draws a value, values are counted instead of drawn: the same distribution.
    values = np.random.default_rng(8).normal(0.2, 1, 60)
    drawn = power._share_excluding(values, 61, np.random.default_rng(9), 0.95)
    monkeypatch.setattr(power, "COUNTS_PAY", 1)
    counted = power._share_excluding(values, 61, np.random.default_rng(9), 0.95)
    assert counted == pytest.approx(drawn, abs=4 * math.sqrt(2 * 0.25 / power.SAMPLES) + 0.01)


def test_counting_draws_is_drawing_far_from_zero(monkeypatch):
    monkeypatch.setattr(power, "COUNTS_PAY", 1)
    # Five values of mean .8 and sd .79, sets of 15: the spread is about each set's own mean, not about zero.
    # By hand of another kind: 40,000 sets drawn one by one, ±.006; counted: 4,000 sets, ±.008 each.
    values = np.array([-0.2, 0.3, 0.8, 1.3, 1.8])
    drawn = values[np.random.default_rng(1).integers(0, 5, (40_000, 15))]
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * math.sqrt(15)
    expected = np.mean(np.abs(t) > stats.t.ppf(0.995, 14))
    assert 0.5 < expected < 0.95
    counted = power._share_excluding(values, 15, np.random.default_rng(2), 0.99)
    assert counted == pytest.approx(expected, abs=0.032)


def test_a_set_without_spread_excludes_nothing():
    # Nine of ten differences alike: half of the sets of 7 hold nothing else (.9^7 = .478).
    values = np.array([0.1] * 9 + [0.5])
    assert power._share_excluding(values, 7, np.random.default_rng(1), 0.95) < 1 - 0.478 + 0.03


def test_the_range_is_of_the_spread():
    rng = np.random.default_rng(21)
    small, large = rng.normal(0, 0.15, 30), rng.normal(0, 0.15, 1000)
    few = queries_until_excluded(small, 0.05, rng)
    many = queries_until_excluded(large, 0.05, rng)
    assert few.low < few.n < few.high and many.low < many.n < many.high
    assert few.high / few.low > 1.5 * many.high / many.low
    # For normal values the variance of 1000 is known to ±1.96·√(2/1000) = ±8.8 %.
    assert many.high / many.n == pytest.approx(math.exp(0.088), abs=0.03)


def test_the_range_of_the_variance_by_hand():
    # −2 to 2: Σ⁴ = 34, Σ² = 10, kurtosis 5·34/10² = 1.7; c = 5/(5 − 1.95996) = 1.64473;
    # se = c·√((1.7 − 2/5)/4) = .93764; c·exp(∓1.95996·.93764) = .26180 and 10.3325.
    ends = power._variance_range(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), 0.95)
    assert ends == pytest.approx((0.26180, 10.3325), rel=1e-4)


# How often Bonett's interval holds the true variance, 5,000 sets of 100. The region for .95 is .938 to .962;
# beyond the normal distribution it is known to be approximate.
@pytest.mark.parametrize(
    ("draw", "truth", "low", "high"),
    [
        (lambda rng: rng.normal(0, 1, (5000, 100)), 1.0, 0.938, 0.965),
        (lambda rng: rng.laplace(0, 1, (5000, 100)), 2.0, 0.92, 0.96),
        (lambda rng: rng.uniform(0, 1, (5000, 100)), 1 / 12, 0.938, 0.975),
    ],
)
def test_the_range_of_the_variance_covers(draw, truth, low, high):
    rows = draw(np.random.default_rng(31))
    ends = np.array([power._variance_range(row, 0.95) for row in rows]) * rows.var(axis=1, ddof=1)[:, None]
    assert low <= np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) <= high


def test_until_has_reasons():
    rng = np.random.default_rng(1)
    assert queries_until_excluded([0.1], 0.1, rng) == QueriesUntil(None, None, None, 0.1, "resampling", "n<2")
    same = queries_until_excluded([0.1] * 9, 0.1, rng)
    assert (same.n, same.reason) == (None, "no spread: all values equal")
    few = queries_until_excluded([0.0, 0.1, -0.1], 0.05, rng)
    assert few.n is not None and few.low is None and few.reason.startswith("n<5")
    tiny = queries_until_excluded([0.0, 0.1, -0.1, 0.3, 0.2], 1e-6, rng)
    assert (tiny.n, tiny.reason) == (None, "more than 10,000,000 queries")
    # Also where it could still be found: (2.8·.158/1e-4)² is 20 million.
    assert queries_until_excluded([0.0, 0.1, -0.1, 0.3, 0.2], 1e-4, rng).n is None


def test_until_repeats_by_seed_and_not_by_how_it_is_split(monkeypatch):
    seen = np.random.default_rng(2).normal(0, 0.2, 40)
    one = queries_until_excluded(seen, 0.05, np.random.default_rng(7))
    assert queries_until_excluded(seen, 0.05, np.random.default_rng(7)) == one
    monkeypatch.setattr(power, "DRAWS_AT_ONCE", 1000)
    assert queries_until_excluded(seen, 0.05, np.random.default_rng(7)) == one


def test_a_large_effect_needs_few():
    # Spread .01 beside a difference of 1: three queries are plenty, and the search ends at a small number.
    seen = np.random.default_rng(2).normal(0, 0.01, 40)
    assert 2 <= queries_until_excluded(seen, 1.0, np.random.default_rng(7)).n <= 3
