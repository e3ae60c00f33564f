"""Many comparisons: known values, oracles, NaN, the family's error rate, exact and drawn permutations."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats import multiple
from leadline.stats.multiple import benjamini_hochberg, bonferroni, holm, tukey_hsd
from leadline.stats.tests import sign_flip_test

ADJUSTMENTS = [(holm, "holm"), (bonferroni, "bonferroni"), (benjamini_hochberg, "fdr_bh")]


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("ours", "name"), ADJUSTMENTS)
@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_adjusted_as_statsmodels_does(ours, name, m, needs):
    multitest = needs("statsmodels.stats.multitest")
    p = np.round(np.random.default_rng(m).beta(0.4, 2, m), 2)  # rounded: with ties
    assert ours(p) == pytest.approx(multitest.multipletests(p, method=name)[1], abs=1e-14)


def test_benjamini_hochberg_is_scipys():
    p = np.random.default_rng(3).random(25)
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), abs=1e-14)


def test_by_hand():
    # Ascending .001, .01, .02, .3: Holm 4·.001, 3·.01, 2·.02, 1·.3; BH 4/1·.001, 4/2·.01, 4/3·.02, .3.
    p = [0.3, 0.01, 0.001, 0.02]
    assert holm(p) == pytest.approx([0.3, 0.03, 0.004, 0.04])
    assert benjamini_hochberg(p) == pytest.approx([0.3, 0.02, 0.004, 0.08 / 3])
    assert bonferroni(p) == pytest.approx([1.0, 0.04, 0.004, 0.08])


@pytest.mark.parametrize(("adjust", "name"), ADJUSTMENTS)
def test_nan_stays_and_does_not_count(adjust, name):
    p = np.array([0.01, math.nan, 0.04, 0.03, math.nan, 0.005])
    adjusted = adjust(p)
    assert np.isnan(adjusted).tolist() == [False, True, False, False, True, False]
    assert adjusted[~np.isnan(p)].tolist() == adjust(p[~np.isnan(p)]).tolist()
    assert np.isnan(adjust([math.nan])).all()
    assert adjust([]).size == 0
    assert p[0] == 0.01


@pytest.mark.parametrize(("adjust", "name"), ADJUSTMENTS)
def test_never_below_p_never_above_one_and_in_order(adjust, name):
    for seed in range(20):
        p = np.random.default_rng(seed).random(12)
        adjusted = adjust(p)
        assert np.all(adjusted >= p) and np.all(adjusted <= 1)
        assert np.all(np.diff(adjusted[np.lexsort((p,))]) >= 0)
        assert adjust(p[::-1]).tolist() == adjusted[::-1].tolist()


@pytest.mark.parametrize(("adjust", "name"), ADJUSTMENTS)
def test_what_is_no_p_is_refused(adjust, name):
    for wrong in ([-0.1], [1.1], [math.inf]):
        with pytest.raises(UsageError, match="outside"):
            adjust(wrong)
    with pytest.raises(UsageError, match="shape"):
        adjust([[0.1]])


# Randomised Tukey HSD


def exact_tukey(values):
    """Every permutation within every query, in rational arithmetic."""
    rows = [[Fraction(v).limit_denominator(1000) for v in row] for row in values]
    k = len(rows[0])
    sums = [
        [sum(column) for column in zip(*choice, strict=True)]
        for choice in itertools.product(*map(itertools.permutations, rows))
    ]
    ranges = [max(s) - min(s) for s in sums]
    totals = [sum(column) for column in zip(*rows, strict=True)]
    return [
        [sum(r >= abs(totals[i] - totals[j]) for r in ranges) / len(ranges) for j in range(k)]
        for i in range(k)
    ]


@pytest.mark.parametrize(("n", "k"), [(4, 3), (6, 2), (2, 4)])
def test_listed_permutations_are_those_of_rational_arithmetic(n, k):
    values = rng(n * k).integers(0, 6, (n, k)) / 10
    assert tukey_hsd(values, rng()).tolist() == exact_tukey(values)


def test_two_systems_are_the_sign_flip_test():
    values = rng(4).integers(0, 11, (12, 2)) / 10
    p = tukey_hsd(values, rng())
    assert p[0, 1] == p[1, 0] == sign_flip_test(values[:, 1] - values[:, 0], rng()).p
    values = rng(5).normal(0.5, 0.1, (80, 2))
    flipped = sign_flip_test(values[:, 1] - values[:, 0], rng(), 20_000).p
    # The sd of the difference of two such shares is √(2·.25/20,000) = .005 at most.
    assert tukey_hsd(values, rng(), 20_000)[0, 1] == pytest.approx(flipped, abs=0.02)


@pytest.mark.parametrize("k", [3, 5, 8])
def test_drawn_permutations_are_as_likely_as_drawn_plainly(k):
    # Three ways of drawing: several queries a table, one query a table, no table.
    values = rng(k).normal(0, 1, (15, k)) + np.arange(k) * 0.25
    draws = 8000
    ours = tukey_hsd(values, rng(), draws)
    plain = rng(99)
    totals = np.array([plain.permuted(values, axis=1).sum(axis=0) for _ in range(draws)])
    ranges = totals.max(axis=1) - totals.min(axis=1)
    gaps = np.abs(values.sum(axis=0)[:, None] - values.sum(axis=0)[None])
    theirs = np.mean(ranges[:, None, None] >= gaps, axis=0)
    assert 0 < theirs.min() < 0.9
    assert np.abs(ours - theirs).max() < 4 * math.sqrt(2 * 0.25 / draws)


def test_drawn_is_b_plus_1_over_draws_plus_1():
    # 40 queries, one system far above: no draw of 99 gets near; b = 0.
    values = np.column_stack([rng().normal(0, 0.01, (40, 2)), np.ones(40)])
    assert tukey_hsd(values, rng(), 99)[0, 2] == 0.01


def test_ties_between_ranges_count():
    # Two systems on tenths; .3 − .2 and .4 − .3 are meant to be one number. All assignments of one difference
    # each: n = 3 equal differences: 2 of 8.
    assert tukey_hsd([[0.2, 0.3], [0.3, 0.4], [0.6, 0.7]], rng())[0, 1] == 0.25


def test_every_permutation_can_be_drawn():
    # Digits of base 10 keep the queries apart: 6³ permutations have 6³ different sums; 10,000 draws miss one of
    # them with probability 216·(215/216)^10,000 = 1e-18.
    values = np.array([[0.0, 1.0, 2.0], [0.0, 10.0, 20.0], [0.0, 100.0, 200.0]])
    drawn = multiple._drawn_sums(values, rng(), 10_000)
    assert len({tuple(row) for row in drawn.tolist()}) == 216


def test_a_high_level_hides_no_difference():
    # Differences of 2^−24 and its multiples on a level of a million, both exact: 1.5e7 levels add up to a tolerance
    # for ties that would take every one of them for a tie.
    steps = rng(11).integers(-8, 9, (10, 2))
    p = tukey_hsd(1e6 + steps * 2.0**-24, rng())
    assert p[0, 1] == sign_flip_test(steps[:, 1] - steps[:, 0], rng()).p < 1


def test_levels_of_a_query_do_not_matter():
    values = rng(6).random((30, 4))
    lifted = values + rng(7).integers(0, 1000, (30, 1))
    assert tukey_hsd(values, rng(), 2000) == pytest.approx(tukey_hsd(lifted, rng(), 2000), abs=1e-3)


def test_order_of_the_systems_does_not_matter_when_listed():
    values = rng(8).random((4, 3))
    p = tukey_hsd(values, rng())
    assert tukey_hsd(values[:, [2, 0, 1]], rng()).tolist() == p[np.ix_([2, 0, 1], [2, 0, 1])].tolist()
    assert np.array_equal(p, p.T) and np.diag(p).tolist() == [1.0, 1.0, 1.0]


def test_equal_systems_and_queries_without_spread():
    assert tukey_hsd(np.full((5, 3), 0.4), rng()).tolist() == np.ones((3, 3)).tolist()
    assert tukey_hsd([[0.1, 0.5]], rng()).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    values = rng(9).random((4, 3))
    flat = np.vstack([values, np.full((300, 3), 0.7)])
    assert tukey_hsd(flat, rng()).tolist() == tukey_hsd(values, rng()).tolist()


def test_the_familys_error_rate():
    """Four equal systems: any pair at or under .05 in at most the binomial bound at 1e-4 of 400 families.

    By uncorrected tests some 20 % of the families have a false rejection, 80 of 400.
    """
    draw = rng(10)
    false = plain = 0
    for _ in range(400):
        values = draw.normal(0, 1, (20, 4)) + draw.normal(0, 1, (20, 1))
        false += bool(tukey_hsd(values, draw, 199).min() <= 0.05)
        pairs = itertools.combinations(range(4), 2)
        plain += min(stats.ttest_rel(values[:, i], values[:, j]).pvalue for i, j in pairs) <= 0.05
    assert 3 < false <= stats.binom.ppf(1 - 5e-5, 400, 0.05) < plain


def test_what_cannot_be_permuted_is_refused():
    for wrong in (np.zeros(3), np.zeros((0, 3)), np.zeros((3, 1))):
        with pytest.raises(UsageError, match="shape"):
            tukey_hsd(wrong, rng())
    with pytest.raises(UsageError, match="not finite"):
        tukey_hsd([[0.1, math.nan]], rng())
    with pytest.raises(UsageError, match="draws 0"):
        tukey_hsd([[0.1, 0.2]], rng(), 0)
