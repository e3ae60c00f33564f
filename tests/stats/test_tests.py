"""The tests of a mean difference: known values, exact enumeration, ties, levels, degenerate input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import tests
from leadline.stats.tests import TestResult, cluster_codes, mcnemar_test, paired_t_test, sign_flip_test


def rng(seed=1):
    return np.random.default_rng(seed)


def retrieval_like(n, seed=0, shift=0.0):
    draw = np.random.default_rng(seed)
    return np.where(draw.random(n) < 0.4, 0.0, draw.laplace(shift, 0.15, n))


def exact_p(values):
    """The share of the 2^n assignments that reach |Σ|, in rational arithmetic."""
    parts = [Fraction(value) for value in values]
    observed = abs(sum(parts))
    signs = list(itertools.product((1, -1), repeat=len(parts)))
    return sum(abs(sum(s * p for s, p in zip(row, parts, strict=True))) >= observed for row in signs) / len(
        signs
    )


# Sign-flip


def test_darwins_maize_by_enumeration():
    # Fisher 1935, section 21: Darwin's 15 pairs, in eighths of an inch; Σ = 314; of the 2^15 = 32,768 assignments
    # 1,726 reach ±314 (863 on one side): p = .05267.
    d = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    result = sign_flip_test(d, rng())
    assert result.p == 2 * 863 / 32768
    assert result == TestResult(2 * 863 / 32768, 314 / 15, "sign-flip (exact)", 15, 15)


@pytest.mark.parametrize("seed", range(4))
def test_enumeration_is_that_of_rational_arithmetic(seed):
    # Differences of grid values have real ties; the grid is binary, so that the rationals are those meant.
    d = np.random.default_rng(seed).integers(-4, 5, 9) / 8
    assert sign_flip_test(d, rng()).p == exact_p(d)


def test_ties_that_rounding_hides_are_ties():
    # .1 + .2 ≠ .3 in floating point. Meant are 1, 2, −3 (Σ = 0 but for 3e-17): every assignment reaches 0.
    assert sum([0.1, 0.2, -0.3]) != 0
    assert sign_flip_test([0.1, 0.2, -0.3], rng()).p == 1.0
    # Tenths: the exact p of the whole numbers meant.
    whole = [7, -3, -2, 5, -6, 4, -4, 1, -1]
    tenths = [value / 10 for value in whole]
    assert sign_flip_test(tenths, rng()).p == exact_p(whole)


def test_the_tolerance_is_of_the_differences_not_of_their_nearly_cancelled_sum():
    # Σ = 2e-4 of numbers near 1,000: 100·eps·|Σ| = 4e-18 is far below the rounding of the sums, some 1e-13. Meant, in
    # ten-thousandths, are whole numbers: 252 of the 256 assignments reach 2 (4 give 0), .984375; with the smaller
    # tolerance 4 of the ties are missed: .96875.
    whole = [1278500, 5416440, 8662050, -1278499, -5416446, -8662053, 4, 6]
    d = [value / 10_000 for value in whole]
    assert sign_flip_test(d, rng()).p == exact_p(whole) == 252 / 256
    signs = np.array(list(itertools.product((1, -1), repeat=8)))
    sums = np.abs((signs * np.array(d)).sum(axis=1))
    assert np.mean(sums >= abs(sum(d)) * (1 - 100 * np.finfo(float).eps)) < 252 / 256


def test_monte_carlo_ties_count():
    # 30 times +.1 and 30 times −.1: the sum is 0 by meaning, and every draw reaches it.
    assert sign_flip_test([0.1, -0.1] * 30, rng(), 99).p == 1.0
    d = [1000.0, *[1.0] * 24]
    # Reached where the 24 small signs all agree with the large one: 2^−23 only; p = 1/(99 + 1).
    assert sign_flip_test(d, rng(), 99).p == 0.01
    # Yes/no: 15 wins and 10 losses: P(|W − 12.5| ≥ 2.5), W ~ Bin(25, ½), a tie at 15 and 10 included: .4244;
    # without the ties .2295. The sd of p from 20,000 draws is .0035.
    p = sign_flip_test([1.0] * 15 + [-1.0] * 10, rng(), 20_000).p
    assert p == pytest.approx(2 * stats.binom.sf(14, 25, 0.5), abs=4 * 0.0035)


def test_monte_carlo_is_b_plus_1_over_m_plus_1():
    d = np.full(30, 0.1)
    # No draw of 9 reaches 2^−29: b = 0.
    result = sign_flip_test(d, rng(), 9)
    assert (result.p, result.draws, result.method, result.n_nonzero) == (0.1, 9, "sign-flip", 30)


@pytest.mark.parametrize("size", [21, 24, 33, 100])
def test_monte_carlo_draws_the_enumerated_distribution(size):
    # Also where the last group of eight is short: its spare bits must not change the odds.
    d = retrieval_like(400, seed=size, shift=0.02)
    d = d[d != 0][:size]
    draws = 40_000
    ours = sign_flip_test(d, rng(), draws).p
    signs = np.random.default_rng(99).choice([-1.0, 1.0], (draws, size))
    theirs = np.mean(np.abs((signs * d).sum(axis=1)) >= abs(d.sum()))
    sd = math.sqrt(2 * theirs * (1 - theirs) / draws)
    assert theirs > 0.001 and ours == pytest.approx(theirs, abs=4 * sd + 1e-4)


def test_many_differences_are_one_sum_whatever_is_held_at_a_time(monkeypatch):
    d = retrieval_like(8000, 6, 0.002)
    assert np.count_nonzero(d) > 2 * tests.VALUES_AT_ONCE
    whole = sign_flip_test(d, rng(), 500)
    monkeypatch.setattr(tests, "VALUES_AT_ONCE", 64)
    assert sign_flip_test(d, rng(), 500) == whole
    # Σd/√Σd² is standard normal under random signs: p ≈ .353; the sd of 500 draws is √(.353·.647/500) = .021.
    normal = 2 * stats.norm.sf(abs(d.sum()) / math.sqrt((d**2).sum()))
    assert whole.p == pytest.approx(normal, abs=4 * 0.021)


def test_it_agrees_with_scipys_permutation_test():
    d = retrieval_like(11, seed=3, shift=0.05)
    exact = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_test(d, rng()).p == pytest.approx(exact.pvalue, abs=1e-12)


def test_zeros_change_nothing_but_n():
    d = [0.1, 0.25, -0.05, 0.3, 0.2, 0.15, 0.4]
    few, many = sign_flip_test(d, rng()), sign_flip_test([*d, *[0.0] * 500], rng())
    assert (few.p, few.n, few.n_nonzero) == (many.p, 7, 7)
    assert (many.n, many.n_nonzero, many.method) == (507, 7, "sign-flip (exact)")


def test_exact_up_to_twenty():
    d = np.arange(1, 22) / 21
    assert sign_flip_test(d[:20], rng()).method == "sign-flip (exact)"
    assert sign_flip_test(d, rng()).method == "sign-flip"
    assert sign_flip_test(d[:20], rng()).p == 2 / 2**20


def test_swapping_the_systems_keeps_p():
    for n in (12, 200):
        d = retrieval_like(n, 5, 0.03)
        assert sign_flip_test(d, rng()).p == sign_flip_test(-d, rng()).p
        assert sign_flip_test(d, rng()).statistic == -sign_flip_test(-d, rng()).statistic


def test_one_seed_one_p():
    d = retrieval_like(300, 2, 0.02)
    assert sign_flip_test(d, rng(4)) == sign_flip_test(d, rng(4))
    assert sign_flip_test(d, rng(4)).p != sign_flip_test(d, rng(5)).p


def test_by_cluster_signs_flip_together():
    # Sums .3, −.1, .4 (Σ = .6): of ±.3 ± .1 ± .4 six assignments of eight: |Σ| = .6, .8, .2, 0 | each twice: the
    # pairs {.6, .8} reach .6: 4/8.
    result = sign_flip_test([0.1, 0.2, -0.1, 0.3, 0.1], rng(), clusters=["a", "a", "b", "c", "c"])
    assert (result.p, result.n, result.n_nonzero) == (0.5, 3, 3)
    assert (result.method, result.draws) == ("sign-flip by cluster (exact)", None)
    assert result.statistic == pytest.approx(0.12)
    # One query a cluster is the plain test.
    d = retrieval_like(90, 3, 0.04)
    own, plain = sign_flip_test(d, rng(), clusters=range(90)), sign_flip_test(d, rng())
    assert (own.p, own.n_nonzero, own.method) == (plain.p, plain.n_nonzero, "sign-flip by cluster")


def test_a_cluster_that_cancels_is_zero():
    result = sign_flip_test([0.1, 0.2, -0.3, 0.5], rng(), clusters=[1, 1, 1, 2])
    assert (result.p, result.n, result.n_nonzero) == (1.0, 2, 1)
    nothing = sign_flip_test([0.1, -0.1], rng(), clusters=[1, 1])
    assert (nothing.p, nothing.reason) == (1.0, "all clusters' sums are 0")


def test_degenerate_sign_flip():
    assert sign_flip_test([], rng()) == TestResult(None, None, "sign-flip (exact)", 0, 0, reason="n<1")
    assert sign_flip_test([], rng(), clusters=[]).reason == "n<1"
    zeros = sign_flip_test([0.0] * 5, rng())
    assert (zeros.p, zeros.statistic, zeros.reason) == (1.0, 0.0, "all differences are 0")
    assert sign_flip_test([0.5], rng()).p == 1.0
    # A constant has a randomisation test all the same: 2/2^10.
    assert sign_flip_test([0.1] * 10, rng()).p == 2 / 1024


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30])
def test_scale_does_not_matter(scale):
    d = [0.25, -0.5, 1.0, 2.0, 0.75, -0.25, 1.5]
    assert sign_flip_test(np.array(d) * scale, rng()).p == exact_p(d)


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(UsageError, match="not finite"):
        sign_flip_test([0.1, math.nan], rng())
    with pytest.raises(UsageError, match="not finite"):
        paired_t_test([0.1, math.inf])
    with pytest.raises(UsageError, match="shape"):
        paired_t_test([[0.1, 0.2]])
    with pytest.raises(UsageError, match="draws 0"):
        sign_flip_test([0.1], rng(), 0)
    with pytest.raises(UsageError, match="2 cluster labels for 3 differences"):
        sign_flip_test([0.1, 0.2, 0.3], rng(), clusters=["a", "b"])
    for missing in (None, math.nan):
        with pytest.raises(UsageError, match=r"place 1 \(from 0\) is missing"):
            sign_flip_test([0.1, 0.2], rng(), clusters=["a", missing])


def test_labels_are_told_apart_to_the_letter():
    assert cluster_codes(["007", "7", "007", "NA"], 4).tolist() == [0, 1, 0, 2]
    assert cluster_codes(np.array([3, 1, 3]), 3).tolist() == [0, 1, 0]


def rejections(test, alpha, samples):
    return sum(test(sample) <= alpha for sample in samples)


def test_levels_under_a_symmetric_null():
    """Type-I error at .05 over 2,000 samples: within the exact binomial region of probability 1e-4 around .05, or below.

    True level .05: at most binom.ppf(1 − 5e-5, 2000, .05) = 139 rejections. A test with b/m instead of
    (b + 1)/(m + 1) at 19 draws has level 2/20 = .10, expected 200.
    """
    most = stats.binom.ppf(1 - 5e-5, 2000, 0.05)
    draw = rng(8)
    samples = draw.laplace(0, 0.1, (2000, 25))
    flips = rejections(lambda d: sign_flip_test(d, draw, 19).p, 0.05, samples)
    assert 64 < flips <= most
    assert 64 < rejections(lambda d: paired_t_test(d).p, 0.05, samples) <= most


def test_clusters_keep_the_level_that_queries_lose():
    # 30 clusters of five that share most of their difference: by query the level is far above .05, by cluster not.
    draw = rng(9)
    labels = np.repeat(np.arange(30), 5)
    samples = [draw.normal(0, 1, 30)[labels] + draw.normal(0, 0.5, 150) for _ in range(400)]
    most = stats.binom.ppf(1 - 5e-5, 400, 0.05)
    assert rejections(lambda d: sign_flip_test(d, draw, 199, labels).p, 0.05, samples) <= most
    assert rejections(lambda d: sign_flip_test(d, draw, 199).p, 0.05, samples) > 2 * most


# Student's t


def test_students_sleep_data():
    # Student 1908: mean 1.58, sd 1.2300, n = 10: t = 1.58/(1.22999/√10) = 4.0621; p = .002833 (R: t.test).
    result = paired_t_test([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert result.statistic == pytest.approx(4.0621, abs=1e-4)
    assert result.p == pytest.approx(0.002833, abs=1e-6)
    assert (result.method, result.n, result.n_nonzero, result.draws) == ("t", 10, 9, None)


@pytest.mark.parametrize("n", [2, 3, 17, 400])
def test_t_is_scipys(n):
    d = np.random.default_rng(n).normal(0.1, 0.5, n)
    theirs = stats.ttest_1samp(d, 0)
    result = paired_t_test(d)
    assert (result.statistic, result.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_t_has_no_unit(scale):
    d = np.array([0.0, 0.5, 1.0, -0.25])
    assert paired_t_test(d * scale).p == pytest.approx(paired_t_test(d).p, rel=1e-12)


def test_degenerate_t():
    assert paired_t_test([]) == TestResult(None, None, "t", 0, 0, reason="n<1")
    assert paired_t_test([0.5]) == TestResult(None, None, "t", 1, 1, reason="n<2")
    assert paired_t_test([0.0]) == TestResult(1.0, None, "t", 1, 0, reason="all differences are 0")
    assert paired_t_test([0.0, -0.0]).p == 1.0
    constant = paired_t_test([0.1] * 1000)
    assert (constant.p, constant.statistic, constant.reason) == (None, None, "no spread: all values equal")


# McNemar


def test_mcnemar_by_hand():
    # 9 and 3: 2·P(X ≤ 2) + P(X = 3) = (2·(1 + 12 + 66) + 220)/4096 = 378/4096 = .092285.
    result = mcnemar_test(9, 3)
    assert result.p == pytest.approx(378 / 4096, rel=1e-13)
    assert (result.statistic, result.n, result.n_nonzero, result.method) == (3.0, 12, 12, "mcnemar mid-p")
    # 6 and 0: P(X = 0) = 1/64.
    assert mcnemar_test(6, 0).p == pytest.approx(1 / 64, rel=1e-13)
    assert mcnemar_test(0, 6) == mcnemar_test(6, 0)


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (17, 8), (30, 31), (400, 320)])
def test_mcnemar_is_the_exact_test_less_half_its_point(wins, losses):
    exact = stats.binomtest(wins, wins + losses).pvalue
    point = stats.binom.pmf(min(wins, losses), wins + losses, 0.5)
    assert mcnemar_test(wins, losses).p == pytest.approx(exact - point, rel=1e-9)


def test_mcnemar_is_statsmodels_less_half_its_point(needs):
    tables = needs("statsmodels.stats.contingency_tables")
    exact = tables.mcnemar([[0, 17], [8, 0]], exact=True).pvalue
    assert mcnemar_test(17, 8).p == pytest.approx(exact - stats.binom.pmf(8, 25, 0.5), rel=1e-9)


def test_mcnemar_degenerate():
    assert mcnemar_test(5, 5).p == 1.0
    assert mcnemar_test(0, 0) == TestResult(1.0, 0.0, "mcnemar mid-p", 0, 0, reason="all differences are 0")
    with pytest.raises(UsageError, match="-1 wins"):
        mcnemar_test(-1, 2)
