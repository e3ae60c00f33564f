"""Stratified means: by hand, against the unstratified and Welch's forms, in coverage, on degenerate input."""

import math

import numpy as np
import pytest
from scipy import stats

from leadline.errors import InputError, UsageError
from leadline.stats.intervals import t_interval
from leadline.stats.strata import kish_effective_n, stratified_mean

VALUES, STRATA = [0.5, 0.6, 0.4, 0.7, 0.1, 0.2, 0.3], list("aaaabbb")


def test_by_hand():
    # Means .55, .2; s² = .05/3, .01; V = .49·.0166667/4 + .09·.01/3 = .00204167 + .0003 = .00234167, se .0483908.
    # df = .00234167²/(.00204167²/3 + .0003²/2) = 5.48340e-6/(1.38947e-6 + .045e-6) = 3.82260.
    # t(.975, 3.8226) = 2.8287: half .13688.
    interval = stratified_mean(VALUES, STRATA, {"a": 0.7, "b": 0.3})
    assert interval.estimate == pytest.approx(0.445)
    half = stats.t.ppf(0.975, 3.822604850812503) * 0.04839077046985991
    assert (interval.low, interval.high) == pytest.approx((0.445 - half, 0.445 + half), abs=1e-12)
    assert (interval.method, interval.n, interval.level, interval.reason) == ("stratified t", 7, 0.95, None)


def test_weights_may_be_counts_and_in_any_order():
    one = stratified_mean(VALUES, STRATA, {"a": 0.7, "b": 0.3})
    other = stratified_mean(VALUES, STRATA, {"b": 3000, "a": 7000})
    assert (one.low, one.estimate, one.high) == pytest.approx(
        (other.low, other.estimate, other.high), abs=1e-14
    )


@pytest.mark.parametrize("scale", [1e-250, 1e200])
def test_scale_does_not_matter(scale):
    plain = stratified_mean(VALUES, STRATA, {"a": 1, "b": 1})
    scaled = stratified_mean(np.array(VALUES) * scale, STRATA, {"a": 1, "b": 1})
    assert (scaled.low / scale, scaled.high / scale) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_one_stratum_is_students_interval():
    values = np.random.default_rng(1).normal(size=12)
    interval, plain = stratified_mean(values, ["x"] * 12, {"x": 5}, 0.9), t_interval(values, 0.9)
    assert (interval.low, interval.high) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_two_equally_weighted_strata_are_welchs_interval():
    # (ȳ1 + ȳ2)/2 is half of ȳ1 − (−ȳ2): Welch's interval of that difference, halved; the same degrees of freedom.
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 9), rng.normal(0.4, 3, 6)
    welch = stats.ttest_ind(a, -b, equal_var=False).confidence_interval(0.95)
    interval = stratified_mean([*a, *b], ["a"] * 9 + ["b"] * 6, {"a": 1, "b": 1})
    assert (interval.low, interval.high) == pytest.approx((welch.low / 2, welch.high / 2), rel=1e-9)


def test_a_stratum_of_weight_zero_is_left_out():
    values, strata = [*VALUES, 0.9], [*STRATA, "c"]
    assert stratified_mean(values, strata, {"a": 7, "b": 3, "c": 0}) == stratified_mean(
        VALUES, STRATA, {"a": 7, "b": 3}
    )


def test_one_value_in_a_stratum_has_no_ends():
    interval = stratified_mean([*VALUES, 0.9], [*STRATA, "c"], {"a": 0.5, "b": 0.3, "c": 0.2})
    # .5·.55 + .3·.2 + .2·.9 = .515
    assert interval.estimate == pytest.approx(0.515)
    assert (interval.low, interval.high, interval.n) == (None, None, 8)
    assert interval.reason == "stratum 'c' has one value: merge it with another"


def test_a_stratum_without_values_leaves_no_estimate():
    interval = stratified_mean(VALUES, STRATA, {"a": 0.5, "b": 0.3, "c": 0.2})
    assert (interval.estimate, interval.low, interval.n) == (None, None, 7)
    assert interval.reason == "stratum 'c' has no value"
    empty = stratified_mean([], [], {"a": 1})
    assert (empty.estimate, empty.n, empty.reason) == (None, 0, "stratum 'a' has no value")


def test_no_spread():
    interval = stratified_mean([0.0] * 6, list("aaabbb"), {"a": 1, "b": 1})
    assert (interval.estimate, interval.low) == (0.0, None)
    assert interval.reason == "no spread: all values of each stratum equal"
    # A stratum without spread among others adds no variance and no degrees: df is the other's.
    values = [0.1] * 5 + [0.2, 0.4, 0.9]
    half = stratified_mean(values, list("aaaaabbb"), {"a": 1, "b": 1})
    alone = t_interval([0.2, 0.4, 0.9])
    assert half.high - half.low == pytest.approx((alone.high - alone.low) / 2)


def test_wrong_weights_and_shapes():
    with pytest.raises(InputError, match="stratum 'b' has no weight; weights: a"):
        stratified_mean(VALUES, STRATA, {"a": 1.0})
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(InputError, match="stratum 'b' is not a number from 0 up"):
            stratified_mean(VALUES, STRATA, {"a": 1.0, "b": wrong})
    with pytest.raises(InputError, match="all strata are 0"):
        stratified_mean(VALUES, STRATA, {"a": 0, "b": 0})
    with pytest.raises(UsageError, match="6 strata for 7 values"):
        stratified_mean(VALUES, STRATA[1:], {"a": 1, "b": 1})
    for missing in (None, math.nan):
        with pytest.raises(UsageError, match=r"place 6 \(from 0\) is missing"):
            stratified_mean(VALUES, [*STRATA[:-1], missing], {"a": 1, "b": 1})
    with pytest.raises(UsageError, match="not finite"):
        stratified_mean([math.nan, 0.1], ["a", "a"], {"a": 1})
    with pytest.raises(UsageError, match="level"):
        stratified_mean(VALUES, STRATA, {"a": 1, "b": 1}, 1.5)


def test_coverage():
    """Strata of 12, 8 and 5 with unlike spreads; Satterthwaite's interval of normal values covers .94 to .96 or so.

    4,000 samples: the exact binomial region of probability 1e-4 around .95 is [.936, .963].
    """
    rng = np.random.default_rng(3)
    sizes, means, spreads, weights = [12, 8, 5], [0.2, 0.5, 0.9], [0.1, 0.3, 0.2], [0.2, 0.5, 0.3]
    strata, truth, hits = np.repeat(["a", "b", "c"], sizes), 0.56, 0
    for _ in range(4000):
        values = np.repeat(means, sizes) + rng.normal(size=25) * np.repeat(spreads, sizes)
        interval = stratified_mean(values, strata, dict(zip("abc", weights, strict=True)))
        hits += interval.low <= truth <= interval.high
    low, high = stats.binom.ppf([0.5e-4, 1 - 0.5e-4], 4000, 0.95) / 4000
    assert low < hits / 4000 < high


def test_kish():
    assert kish_effective_n([3.0] * 8) == 8.0
    assert kish_effective_n([1, 0, 0]) == 1.0
    assert kish_effective_n([1e-200, 1e-200]) == 2.0
    for wrong in ([], [0, 0], [1, -1], [math.inf]):
        with pytest.raises(UsageError):
            kish_effective_n(wrong)
