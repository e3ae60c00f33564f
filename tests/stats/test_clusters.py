"""Clustered means: by hand, against dense matrices and statsmodels, in coverage, on degenerate input."""

import math

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.clusters import cluster_mean, design_effect, intraclass_correlation
from leadline.stats.intervals import t_interval

X = [0.1, 0.2, 0.15, -0.1, 0.0, 0.3, 0.25, 0.2, 0.35, -0.05]
C = list("aaabbccccd")


def error_of(answer):
    """The standard error that an interval was made of."""
    half = (answer.interval.high - answer.interval.low) / 2
    return half / stats.t.ppf(0.5 + answer.interval.level / 2, answer.df)


def dense_cr2(x, labels):
    """CR2 and its degrees of freedom from the n × n matrices of Pustejovsky & Tipton 2018, nothing simplified."""
    x, labels = np.asarray(x, dtype=float), np.asarray(labels)
    n = x.size
    design = np.ones((n, 1))
    bread = np.linalg.inv(design.T @ design)
    residual_maker = np.eye(n) - design @ bread @ design.T
    residuals = residual_maker @ x
    variance, vectors = 0.0, []
    for label in dict.fromkeys(labels.tolist()):
        members = np.flatnonzero(labels == label)
        values, axes = np.linalg.eigh(residual_maker[np.ix_(members, members)])
        adjustment = axes @ np.diag(values**-0.5) @ axes.T
        weight = bread @ design[members].T @ adjustment
        variance += float((weight @ residuals[members])[0] ** 2)
        vectors.append(residual_maker[:, members] @ weight[0])
    gram = np.array(vectors) @ np.array(vectors).T
    return math.sqrt(variance), np.trace(gram) ** 2 / (gram**2).sum()


def unbalanced(seed, clusters=9):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(clusters), rng.integers(1, 12, clusters))
    return rng.normal(0, 0.2, clusters)[labels] + rng.normal(0.05, 0.2, labels.size), labels


def test_cr2_by_hand():
    # Mean .14; sums of deviations: a .45 − .42 = .03, b −.1 − .28 = −.38, c 1.1 − .56 = .54, d −.05 − .14 = −.19.
    # Shares .3, .2, .4, .1: V = (.0009/.7 + .1444/.8 + .2916/.6 + .0361/.9)/100 = .00707897, se = .0841366.
    # df: Σπ² = .3; b = .128571, .05, .266667, .011111: (Σb)² − Σb² = .208255 − .090265; 1/(.3 + .117989) = 2.39240.
    answer = cluster_mean(X, C)
    assert error_of(answer) == pytest.approx(0.0841366, abs=1e-7)
    assert answer.df == pytest.approx(2.39240, abs=1e-5)
    assert (answer.interval.estimate, answer.clusters) == (pytest.approx(0.14), 4)
    assert (answer.interval.method, answer.interval.n, answer.interval.reason) == ("CR2", 10, None)


@pytest.mark.parametrize("seed", range(5))
def test_cr2_is_that_of_dense_matrices(seed):
    x, labels = unbalanced(seed)
    answer = cluster_mean(x, labels)
    assert (error_of(answer), answer.df) == pytest.approx(dense_cr2(x, labels), rel=1e-9)
    assert 1 < answer.df < 8


def test_cr2_with_equal_sizes_has_g_minus_1_and_cr1s_variance():
    # b = 1/(G(G − 1)) each: Σπ² + (Σb)² − Σb² = 1/G + 1/(G(G − 1)) = 1/(G − 1); 1/(1 − 1/G) = G/(G − 1).
    x, labels = np.random.default_rng(1).normal(size=42), np.repeat(np.arange(7), 6)
    two, one = cluster_mean(x, labels), cluster_mean(x, labels, "CR1")
    assert two.df == pytest.approx(6) and one.df == 6
    assert (two.interval.low, two.interval.high) == pytest.approx((one.interval.low, one.interval.high))


def test_one_item_a_cluster_is_students_interval():
    x = np.random.default_rng(2).normal(size=15)
    for kind in ("CR2", "CR1"):
        answer = cluster_mean(x, range(15), kind, 0.9)
        plain = t_interval(x, 0.9)
        assert (answer.interval.low, answer.interval.high) == pytest.approx((plain.low, plain.high))
        assert (answer.df, answer.icc, answer.design_effect, answer.n_effective) == (
            pytest.approx(14),
            None,
            1.0,
            15.0,
        )


@pytest.mark.parametrize("seed", range(3))
def test_cr1_is_statsmodels(seed, needs):
    api = needs("statsmodels.api")
    x, labels = unbalanced(seed)
    fit = api.OLS(x, np.ones(x.size)).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    answer = cluster_mean(x, labels, "CR1")
    assert error_of(answer) == pytest.approx(fit.bse[0], rel=1e-9)
    assert (answer.interval.low, answer.interval.high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


def test_two_clusters_have_one_degree_whatever_their_sizes():
    # π and 1 − π: π² + (1 − π)² + 2π(1 − π) = 1.
    answer = cluster_mean([0.1, 0.2, 0.3, 0.2, 0.5], list("aaaab"))
    assert answer.df == pytest.approx(1)
    assert answer.interval.low < 0.26 < answer.interval.high


def test_labels_of_any_kind_and_in_any_order():
    answer = cluster_mean(X, C)
    assert cluster_mean(X, [ord(c) for c in C]) == answer
    order = np.random.default_rng(3).permutation(10)
    shuffled = cluster_mean(np.array(X)[order], np.array(C)[order])
    assert (shuffled.interval.low, shuffled.df, shuffled.icc) == pytest.approx(
        (answer.interval.low, answer.df, answer.icc)
    )


@pytest.mark.parametrize("scale", [1e-250, 1e200])
def test_scale_does_not_matter(scale):
    plain, scaled = cluster_mean(X, C), cluster_mean(np.array(X) * scale, C)
    assert scaled.interval.high / scale == pytest.approx(plain.interval.high, rel=1e-12)
    assert (scaled.icc, scaled.n_effective) == pytest.approx((plain.icc, plain.n_effective), rel=1e-9)


def test_effective_number():
    # Constant within clusters: icc 1; sizes 3, 2, 4, 1: Σn²/N = 30/10 = 3 = design effect; 10/3 effective.
    values = [1.0] * 3 + [2.0] * 2 + [4.0] * 4 + [0.0]
    answer = cluster_mean(values, C)
    assert (answer.icc, answer.design_effect, answer.n_effective) == pytest.approx((1.0, 3.0, 10 / 3))


def test_a_negative_correlation_does_not_add_queries():
    # Within each cluster −1 and 1 (plus a shade): B ≈ 0, icc = −1 nearly; the effective number stays n.
    answer = cluster_mean([-1.0, 1.0, -1.0, 1.1, -1.0, 1.2], list("aabbcc"))
    assert answer.icc < -0.9
    assert (answer.design_effect, answer.n_effective) == (1.0, 6.0)


def test_icc_by_hand():
    # a: 1, 3; b: 4, 6, 8. Mean 4.4, means 2 and 6. B = 2·2.4² + 3·1.6² = 19.2, W = (2 + 8)/3 = 10/3,
    # m = 5 − 13/5 = 2.4: (19.2 − 3.3333)/(19.2 + 1.4·3.3333) = 15.8667/23.8667 = .664804.
    assert intraclass_correlation([1.0, 3.0, 4.0, 6.0, 8.0], list("aabbb")) == pytest.approx(
        0.664804, abs=1e-6
    )


def test_icc_that_cannot_be_estimated():
    assert intraclass_correlation([], []) is None
    assert intraclass_correlation([0.1, 0.2], ["a", "a"]) is None
    assert intraclass_correlation([0.1, 0.2], ["a", "b"]) is None
    assert intraclass_correlation([0.1] * 4, list("aabb")) is None


@pytest.mark.parametrize("kind", ["CR2", "CR1"])
def test_degenerate(kind):
    nothing = cluster_mean([], [], kind)
    assert (nothing.interval.estimate, nothing.interval.low, nothing.interval.reason) == (None, None, "n<1")
    assert nothing.clusters == 0 and math.isnan(nothing.df) and math.isnan(nothing.n_effective)
    one = cluster_mean([0.1, 0.2, 0.4], ["a", "a", "a"], kind)
    assert (one.interval.low, one.interval.high, one.interval.reason) == (None, None, "clusters<2")
    assert one.interval.estimate == pytest.approx(0.7 / 3) and math.isnan(one.df)
    # Nothing is known of how clusters differ: the worst, one query's worth.
    assert (one.icc, one.design_effect, one.n_effective) == (None, 3.0, 1.0)
    zeros = cluster_mean([0.0] * 4, list("aabb"), kind)
    assert (zeros.interval.estimate, zeros.interval.low, zeros.interval.reason) == (
        0.0,
        None,
        "no spread: all values equal",
    )
    # Every cluster's mean is that of all, but for rounding: .1 + .2 + .6 and .3·3 are .9.
    level = cluster_mean([0.1, 0.2, 0.6, 0.3, 0.3, 0.3], list("aaabbb"), kind)
    assert (level.interval.high, level.interval.reason) == (None, "no spread between clusters")
    assert cluster_mean([0.5], ["a"], kind).interval.reason == "clusters<2"


def test_what_is_wrong_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean CR2"):
        cluster_mean(X, C, "CR3")
    with pytest.raises(UsageError, match="9 cluster labels for 10"):
        cluster_mean(X, C[:-1])
    with pytest.raises(UsageError, match="place 9"):
        cluster_mean(X, [*C[:-1], None])
    with pytest.raises(UsageError, match="not finite"):
        cluster_mean([*X[:-1], math.nan], C)
    with pytest.raises(UsageError, match="level"):
        cluster_mean(X, C, level=0)
    for sizes, icc in (([], 0.1), ([0, 3], 0.1), ([2, 3], 1.5)):
        with pytest.raises(UsageError):
            design_effect(sizes, icc)


def covered(kind, sizes, runs, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for _ in range(runs):
        x = rng.normal(0, math.sqrt(0.3), len(sizes))[labels] + rng.normal(0, math.sqrt(0.7), labels.size)
        interval = t_interval(x) if kind == "t" else cluster_mean(x, labels, kind).interval
        hits += interval.low <= 0 <= interval.high
    return hits / runs


def region(coverage, runs):
    return tuple(stats.binom.ppf([0.5e-4, 1 - 0.5e-4], runs, coverage) / runs)


def test_coverage_with_equal_clusters():
    """15 clusters of 5 with correlation .3: exact for normal values; the plain t interval covers far less."""
    low, high = region(0.95, 2000)
    assert low < covered("CR2", [5] * 15, 2000, 1) < high
    assert covered("t", [5] * 15, 1000, 1) < 0.88


def test_coverage_where_one_cluster_holds_much():
    """One cluster of 40 among 12 of 5: CR1 with G − 1 covers too little, CR2 at least about .95."""
    sizes = [40, *[5] * 12]
    two, one = covered("CR2", sizes, 1500, 2), covered("CR1", sizes, 1500, 2)
    assert one < region(0.95, 1500)[0] < two
