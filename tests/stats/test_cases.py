"""The reference cases of paired comparison, many comparisons, clusters and strata, each with where it comes from."""

import math

import numpy as np
import pytest
from scipy import stats

from leadline.stats.clusters import cluster_mean, design_effect, intraclass_correlation
from leadline.stats.multiple import benjamini_hochberg, bonferroni, holm, tukey_hsd
from leadline.stats.paired import acceleration, bonett_price_interval, tango_interval
from leadline.stats.strata import kish_effective_n, stratified_mean
from leadline.stats.tests import paired_t_test, sign_flip_test


def rng():
    return np.random.default_rng(1)


def test_signflip_small_tie():
    # B − A = .1, .1, .1 but for rounding (.3 − .2 ≠ .2 − .1): two of eight assignments reach |Σ|.
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.3, 0.4])
    assert len(set((b - a).tolist())) > 1
    assert sign_flip_test(b - a, rng()).p == 0.25


def test_signflip_all_zero():
    # Every assignment ties with the observed 0.
    assert sign_flip_test([0, 0, 0, 0], rng()).p == 1.0
    assert paired_t_test([0, 0, 0, 0]).p == 1.0


@pytest.mark.parametrize(
    ("n", "p"), [(3, 0.25), (4, 0.125), (5, 0.0625), (6, 0.03125), (8, 0.0078125), (10, 0.001953125)]
)
def test_signflip_min_p(n, p):
    # 2/2^n: below six non-zero differences .05 is out of reach.
    assert sign_flip_test(np.arange(1, n + 1) / 10, rng()).p == p


# Davison & Hinkley 1997; Phipson & Smyth 2010. 0 of 999: 1/1000; 4 of 999: 5/1000; 49 of 9,999: 50/10,000.
@pytest.mark.parametrize(("b", "m", "p"), [(0, 999, 0.001), (4, 999, 0.005), (49, 9999, 0.005)])
def test_mc_pvalue_correction(b, m, p, monkeypatch):
    # 30 differences of 1: |Σ| = 30. The draws are put in place of the random ones: b of them reach it.
    monkeypatch.setattr(
        "leadline.stats.tests._drawn_sums",
        lambda values, rng, draws: np.r_[np.full(b, -30.0), np.zeros(draws - b)],
    )
    assert sign_flip_test(np.ones(30), rng(), m).p == pytest.approx(p, abs=1e-15)


def test_bca_acceleration_spatial():
    # Efron & Tibshirani 1993, table 14.1, the plug-in variance of test A: θ̂ = 171.5, a = .061.
    x = np.array(
        [
            48,
            36,
            20,
            29,
            42,
            42,
            20,
            42,
            22,
            41,
            45,
            14,
            6,
            0,
            33,
            28,
            34,
            4,
            32,
            24,
            47,
            41,
            24,
            26,
            30,
            41.0,
        ]
    )
    assert x.var() == pytest.approx(171.53402366863904, rel=1e-12)
    left_out = np.array([np.delete(x, i).var() for i in range(26)])
    assert acceleration(left_out.mean() - left_out) == pytest.approx(0.06124011981230745, abs=1e-6)


def test_bca_acceleration_mean():
    # Σ(d − d̄)³/(6(Σ(d − d̄)²)^1.5), the skewness ÷ (6√n).
    x = np.array([0.1, -0.05, 0.0, 0.2, 0.3, 0.0, -0.1, 0.15])
    assert acceleration(x - x.mean()) == pytest.approx(0.02000120899850585, abs=1e-12)
    assert acceleration(x - x.mean()) == pytest.approx(stats.skew(x) / (6 * math.sqrt(8)), abs=1e-12)
    left_out = np.array([np.delete(x, i).mean() for i in range(8)])
    assert acceleration(left_out.mean() - left_out) == pytest.approx(0.02000120899850585, abs=1e-12)


def test_holm_bh_small():
    # .005·4, .01·3, .03·2, .04·1 → running maximum .02, .03, .06, .06; BH .02, .02, .04, .04.
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02], abs=1e-12)


def test_bh_1995_example():
    # Benjamini & Hochberg 1995, section 4.2: at .05 Bonferroni rejects 3 of 15, their procedure 4.
    p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1.0,
    ]  # fmt: skip
    assert [int((adjust(p) <= 0.05).sum()) for adjust in (bonferroni, holm, benjamini_hochberg)] == [3, 3, 4]


def test_randomised_tukey_exact():
    # Carterette 2012: (3!)³ = 216 permutations; 138, 30 and 156 of them reach the three differences.
    p = tukey_hsd([[0.2, 0.5, 0.6], [0.1, 0.3, 0.2], [0.4, 0.5, 0.9]], rng())
    expected = [0.6388888888888888, 0.1388888888888889, 0.7222222222222222]
    assert [p[0, 1], p[0, 2], p[1, 2]] == pytest.approx(expected, abs=1e-12)
    # Drawn, because 100 draws do not list 216: within four sd, √(.25/100) = .05.
    drawn = tukey_hsd([[0.2, 0.5, 0.6], [0.1, 0.3, 0.2], [0.4, 0.5, 0.9]], rng(), 100)
    assert [drawn[0, 1], drawn[0, 2], drawn[1, 2]] == pytest.approx(expected, abs=0.2)
    assert drawn[0, 1] * 101 == pytest.approx(round(drawn[0, 1] * 101))


def test_cluster_robust_mean():
    # V0 = Σ_g(Σe)²/N² = (.0009 + .1444 + .2916 + .0361)/100 = .00473, √ = .068775; × √(4/3) = .0794145; t with 3.
    x = [0.1, 0.2, 0.15, -0.1, 0.0, 0.3, 0.25, 0.2, 0.35, -0.05]
    answer = cluster_mean(x, [0, 0, 0, 1, 1, 2, 2, 2, 2, 3], "CR1")
    assert answer.interval.estimate == pytest.approx(0.14, abs=1e-10)
    half = stats.t.ppf(0.975, 3) * 0.07941452428030193
    assert answer.interval.high - 0.14 == pytest.approx(half, abs=1e-10)
    assert 0.07941452428030193 * math.sqrt(3 / 4) == pytest.approx(0.0687749954561976, abs=1e-10)


def test_design_effect():
    # Kish 1965: 1 + 4·.2; 200/1.8.
    assert design_effect([5] * 40, 0.2) == pytest.approx(1.8, abs=1e-12)
    assert 200 / design_effect([5] * 40, 0.2) == pytest.approx(111.11111111111111, abs=1e-12)


def test_kish_weights():
    # (1 + 1 + 2 + 4)²/(1 + 1 + 4 + 16) = 64/22.
    assert kish_effective_n([1, 1, 2, 4]) == pytest.approx(2.909090909090909, abs=1e-12)


def test_icc1_shrout_fleiss():
    # Shrout & Fleiss 1979, table 4: ICC(1,1) = .17; rows are targets, columns judges.
    table = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
    )
    targets = np.repeat(np.arange(6), 4)
    assert intraclass_correlation(table.ravel(), targets) == pytest.approx(0.16574176840547544, abs=1e-12)
    answer = cluster_mean(table.ravel(), targets)
    # 1 + 3·.165742 = 1.497225; 24 ÷ it.
    assert answer.n_effective == pytest.approx(24 / 1.4972253052164263)


def test_stratified_mean():
    # .7·.55 + .3·.2 = .445; variance .49·.0166667/4 + .09·.01/3; Cochran 1977.
    values, strata = [0.5, 0.6, 0.4, 0.7, 0.1, 0.2, 0.3], list("aaaabbb")
    interval = stratified_mean(values, strata, {"a": 0.7, "b": 0.3})
    assert interval.estimate == pytest.approx(0.445, abs=1e-10)
    # Two levels fix both the standard error and the degrees of freedom.
    for level in (0.95, 0.5):
        interval = stratified_mean(values, strata, {"a": 0.7, "b": 0.3}, level)
        half = stats.t.ppf(0.5 + level / 2, 3.822604850812503) * 0.04839077046985991
        assert interval.high - interval.estimate == pytest.approx(half, abs=1e-10)
    # Unweighted is another number: 2.8/7.
    assert np.mean(values) == pytest.approx(0.4)


def test_bonett_price_paired():
    # Bonett & Price 2012, given as A − B with A right alone in 9, B in 3 of 50: 10/52 − 4/52 ± 1.96√((14/52 − .0133)/52).
    interval = bonett_price_interval(wins=3, losses=9, n=50)
    assert (-interval.high, -interval.low) == pytest.approx(
        (-0.02211330283317553, 0.2528825336024063), abs=1e-12
    )
    assert interval.estimate == -0.12


def test_tango_paired():
    # Tango 1998, given as A − B; found there by numerical constrained likelihood, to 2e-6.
    interval = tango_interval(wins=3, losses=9, n=50)
    assert (-interval.high, -interval.low) == pytest.approx(
        (-0.017798415926076498, 0.2627255027471429), abs=2e-6
    )
    assert interval.estimate == -0.12
