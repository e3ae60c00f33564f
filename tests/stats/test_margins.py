"""Non-inferiority and equivalence against known values, and where they must not decide."""

import math

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.intervals import t_interval
from leadline.stats.margins import equivalence, non_inferiority

# Mean .001, Σd² = .0073, sd = √((.0073 − 10·.001²)/9) = .02846, se = .0090; t(.95, 9) = 1.83311.
TEN = [0.02, -0.05, 0.01, 0.03, -0.02, 0.0, 0.04, -0.01, 0.02, -0.03]


def test_non_inferiority_of_the_case():
    # Case noninferiority_tost: low = .001 − 1.83311·.0090 = −.015498; t = .021/.0090 = 2.3333, 9 degrees.
    found = non_inferiority(TEN, 0.02)
    assert found.low == pytest.approx(-0.015498016393906132, abs=1e-12)
    assert found.p == found.p_below == pytest.approx(0.02225176865278821, abs=1e-12)
    assert found.p_above == pytest.approx(0.03197714277687229, abs=1e-12)
    assert (found.passed, found.failed, found.level, found.n) == (True, False, 0.9, 10)
    assert (found.method, found.margin, found.alpha, found.reason) == ("non-inferiority", 0.02, 0.05, None)


def test_equivalence_of_the_case():
    # The same case: the larger of the two one-sided p values, (.02 − .001)/.0090 = 2.1111 with 9 degrees.
    found = equivalence(TEN, 0.02)
    assert found.p == pytest.approx(0.03197714277687229, abs=1e-12)
    assert (found.passed, found.failed) == (True, False)
    # high = .001 + .016498 = .017498: within .018 and not within .017.
    assert equivalence(TEN, 0.018).passed and not equivalence(TEN, 0.017).passed


def test_three_outcomes():
    def outcome(values, margin):
        found = non_inferiority(values, margin)
        return found.passed, found.failed

    assert outcome(TEN, 0.02) == (True, False)
    # Too few to tell: low −.0155 is below −.01, high .0175 above it.
    assert outcome(TEN, 0.01) == (False, False)
    # Worse by .05: [−.0655, −.0325] lies below −.02.
    assert outcome(np.array(TEN) - 0.05, 0.02) == (False, True)
    # Margin 0 asks for an improvement.
    assert outcome(np.array(TEN) + 0.05, 0.0) == (True, False)
    assert outcome(TEN, 0.0) == (False, False)


def test_equivalence_fails_on_either_side_and_passes_within_both():
    for shift in (-0.05, 0.05):
        found = equivalence(np.array(TEN) + shift, 0.02)
        assert (found.passed, found.failed) == (False, True)
        assert found.p_fail < 0.05 < found.p
    # A better system is not worse, and not equivalent.
    better = np.array(TEN) + 0.05
    assert non_inferiority(better, 0.02).passed and not equivalence(better, 0.02).passed


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_interval_and_p_say_the_same(alpha):
    rng = np.random.default_rng(4)
    for _ in range(300):
        row = rng.normal(rng.choice([-0.06, -0.02, 0.0, 0.03]), 0.1, 25)
        for method in (non_inferiority, equivalence):
            found = method(row, 0.02, alpha)
            assert found.passed == (found.p < alpha)
            assert found.failed == (found.p_fail < alpha)
            assert not (found.passed and found.failed)
            interval = t_interval(row, 1 - 2 * alpha)
            assert (found.low, found.high, found.level) == (interval.low, interval.high, 1 - 2 * alpha)


def test_p_is_scipys():
    row = np.random.default_rng(9).laplace(0, 0.1, 31)
    found = non_inferiority(row, 0.03)
    assert found.p_below == pytest.approx(
        stats.ttest_1samp(row, -0.03, alternative="greater").pvalue, rel=1e-10
    )
    assert found.p_above == pytest.approx(stats.ttest_1samp(row, 0.03, alternative="less").pvalue, rel=1e-10)
    assert found.p_fail == pytest.approx(stats.ttest_1samp(row, -0.03, alternative="less").pvalue, rel=1e-10)


def test_swapping_the_systems_mirrors_equivalence():
    one, other = equivalence(TEN, 0.02), equivalence(-np.array(TEN), 0.02)
    assert (one.low, one.high, one.p) == pytest.approx((-other.high, -other.low, other.p), rel=1e-12)
    assert (one.p_below, one.p_above) == pytest.approx((other.p_above, other.p_below), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "n<2"),
        ([0.5], "n<2"),
        ([0.0] * 50, "no spread: all values equal"),
        ([0.1] * 9, "no spread: all values equal"),
    ],
)
def test_without_an_interval_nothing_is_decided(values, reason):
    for method in (non_inferiority, equivalence):
        found = method(values, 0.02)
        assert (found.passed, found.failed, found.low, found.high) == (False, False, None, None)
        assert (found.p, found.p_fail, found.p_below, found.p_above) == (None, None, None, None)
        assert (found.reason, found.n) == (reason, len(values))
    assert non_inferiority([], 0.02).estimate is None and non_inferiority([0.5], 0.02).estimate == 0.5


def test_one_of_ten_flipped_decides_nothing():
    # Case gate-noise: nine differences 0 and one −1. Mean −.1, sd .3162, se .1: −.1 ± 1.8331·.1.
    found = non_inferiority([0.0] * 9 + [-1.0], 0.02)
    assert (found.passed, found.failed) == (False, False)
    assert (found.low, found.high) == pytest.approx((-0.28331, 0.08331), abs=1e-5)


def test_not_significant_is_not_a_pass():
    # Four queries, mean −.1: far from significant (t = −.1/.1 = −1, p = .39), and far from showing no harm.
    found = non_inferiority([0.1, -0.3, -0.25, 0.05], 0.02)
    assert not found.passed and not found.failed


@pytest.mark.parametrize(
    "call",
    [
        lambda: non_inferiority(TEN, -0.01),
        lambda: equivalence(TEN, math.inf),
        lambda: non_inferiority(TEN, 0.01, alpha=0.5),
        lambda: equivalence([0.1, math.nan], 0.01),
        lambda: equivalence(np.ones((2, 2)), 0.01),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(UsageError):
        call()
