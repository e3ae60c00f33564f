"""Prediction-powered means on reference cases, where they are not defined, and under what must not change them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.intervals import t_interval
from leadline.stats.prediction_powered import prediction_powered_mean

Y = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]
F = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]
REST = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]


def plug_in(y, f, rest, **more):
    """As ppi_py has it: plug-in variances and the normal distribution, at any n."""
    return prediction_powered_mean(y, f, rest, ddof=0, method="z", least=2, **more)


def test_ppi_mean():
    # λ = 1: 11/16 + mean(y − f) = .6875 + (5 − 5)/8. By ppi_py 0.2.3: [.27322, 1.10178].
    found = plug_in(Y, F, REST, tuned=False)
    assert found.estimate == pytest.approx(0.6875, abs=1e-9)
    assert found.interval.low == pytest.approx(0.27322029158614, abs=1e-9)
    assert found.interval.high == pytest.approx(1.10177970841386, abs=1e-9)
    assert (found.lam, found.interval.method, found.rectifier) == (1.0, "ppi", 0.0)
    # Tuned: .6875λ + .625 − .625λ = .625 + .0625·.314453125.
    tuned = plug_in(Y, F, REST)
    assert tuned.estimate == pytest.approx(0.6446533203125, abs=1e-9)
    assert tuned.interval.low == pytest.approx(0.33523223778820005, abs=1e-9)
    assert tuned.interval.high == pytest.approx(0.9540744028368, abs=1e-9)
    assert tuned.interval.method == "ppi++"


def test_ppi_lambda():
    # mean(yf) − mean(y)·mean(f) = .5 − .625² = .109375; 16 of 24 f are 1: var 2/3·1/3·24/23 = .2318841, with 23, while the
    # covariance is plug-in: .109375/(1.5·.2318841).
    assert sum(F) + sum(REST) == 16
    assert plug_in(Y, F, REST).lam == pytest.approx(0.31445312499999994, abs=1e-12)


def test_ppi_difference():
    # mean(df over N) = .11; mean(dy − df) = (−.1 − .1 − .1 + 0 + .1)/5 = −.04; .07.
    # Variances with n − 1: .0143333/10 + .008/5 = .0030333, its root .0550757.
    found = prediction_powered_mean(
        [0.1, 0.0, -0.2, 0.3, 0.1],
        [0.2, 0.1, -0.1, 0.3, 0.0],
        [0.1, 0.2, 0.0, 0.1, 0.3, -0.1, 0.2, 0.2, 0.0, 0.1],
        tuned=False,
        method="z",
        least=2,
    )
    assert found.estimate == pytest.approx(0.07, abs=1e-12)
    half = 1.959963984540054 * 0.05507570547286102
    assert found.interval.high - found.estimate == pytest.approx(half, abs=1e-12)


def test_ppi_mean_of_ares():
    # .75 − mean(judge − human) = .75 − .25; variance .1875/100 + .1875/8.
    found = plug_in([1, 0, 1, 1, 0, 1, 0, 1], [1, 1, 1, 1, 0, 1, 1, 1], [1] * 75 + [0] * 25, tuned=False)
    assert found.estimate == pytest.approx(0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.188172, 0.811828), abs=1e-6)
    assert (found.human_only.estimate, found.rectifier) == (0.625, -0.25)


def test_ppi_perfect_judge():
    # The judge's mean, 3/4, and nothing to correct. Four labels without an error do not show that there is none.
    found = plug_in([1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0], tuned=False)
    assert (found.estimate, found.rectifier, found.interval.low) == (0.75, 0.0, None)
    assert found.interval.reason.startswith("no spread: the judge differs")


def test_a_perfect_judge_tuned_is_the_mean_of_all():
    # cov = .25 over the labelled, var = .25·12/11 over all: λ = .25/(1.5·.25·12/11) = 11/18, near N/(n + N) = 2/3, at which
    # the estimate is the mean of all twelve. The variance falls from .25/4 to λ²·.25/8 + (1 − λ)²·.25/4, by
    # 1/(λ²/2 + (1 − λ)²) = 1/(121/648 + 98/648) = 648/219.
    y, rest = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0] * 4)
    found = plug_in(y, y, rest)
    assert found.lam == pytest.approx(11 / 18) and found.estimate == pytest.approx(0.5)
    assert found.interval.low is not None and found.gain == pytest.approx(648 / 219)


def test_the_default_is_student_of_unbiased_variances():
    draw = np.random.default_rng(5)
    y = draw.random(20)
    f, rest = y + draw.normal(0.2, 0.1, 20), draw.random(100) + 0.2
    found = prediction_powered_mean(y, f, rest)
    cov = np.cov(y, f, ddof=1)[0, 1]
    lam = cov / ((1 + 20 / 100) * np.var(np.concatenate([f, rest]), ddof=1))
    assert found.lam == pytest.approx(lam)
    variance = lam**2 * rest.var(ddof=1) / 100 + (y - lam * f).var(ddof=1) / 20
    assert found.estimate == pytest.approx(lam * rest.mean() + (y - lam * f).mean())
    # t at .975 on 19 degrees: 2.0930.
    assert found.interval.high - found.estimate == pytest.approx(2.093024 * variance**0.5, rel=1e-6)
    ours, by_t = found.human_only, t_interval(y)
    assert (ours.low, ours.high, ours.n) == (pytest.approx(by_t.low), pytest.approx(by_t.high), by_t.n)
    assert found.gain == pytest.approx(y.var(ddof=1) / 20 / variance)
    assert found.correlation == pytest.approx(np.corrcoef(y, f)[0, 1])
    few = prediction_powered_mean(y[:19], f[:19], rest)
    assert (few.interval.low, few.interval.reason) == (None, "labelled queries<20")
    assert few.estimate is not None and few.human_only.low is not None


def test_where_the_judge_says_nothing():
    y = np.linspace(0, 1, 20)
    alone = t_interval(y)
    for f, rest, reason in (
        (y, [], "no query without human labels"),
        ([0.1] * 20, [0.1] * 50, "the judge gives every query the same value"),
        (y[::-1], [0.5, 0.2], "the judge's values do not rise with people's"),
    ):
        found = prediction_powered_mean(y, f, rest)
        assert (found.lam, found.reason) == (0.0, reason)
        assert found.estimate == alone.estimate
        assert found.interval.low == found.human_only.low == pytest.approx(alone.low), reason
        assert found.interval.method == "ppi++"
    for n, low, reason in ((0, None, "n<2"), (1, None, "n<2")):
        few = prediction_powered_mean([0.5] * n, [0.5] * n, [0.1, 0.2], least=2)
        assert few.interval.low is low and few.human_only.reason == reason
        assert few.estimate == (0.5 if n else None)
    flat = prediction_powered_mean([0.5] * 20, y, [0.1, 0.2])
    assert (flat.lam, flat.interval.reason) == (0.0, "no spread: all values equal")
    single = prediction_powered_mean(y, y, [0.4])
    assert single.interval.reason == "queries without human labels<2"


def test_wrong_use():
    with pytest.raises(UsageError, match="3 human and 2 judge values"):
        prediction_powered_mean([1, 2, 3], [1, 2], [1])
    with pytest.raises(UsageError, match="ddof"):
        prediction_powered_mean([1, 2], [1, 2], [1], ddof=2)
    with pytest.raises(UnknownNameError, match="unknown method"):
        prediction_powered_mean([1, 2], [1, 2], [1], method="x")
    with pytest.raises(UsageError, match="at least 2"):
        prediction_powered_mean([1, 2], [1, 2], [1], least=1)
    with pytest.raises(UsageError, match="finite"):
        prediction_powered_mean([1, float("nan")], [1, 2], [1])
    with pytest.raises(UsageError, match="level"):
        prediction_powered_mean([1, 2], [1, 2], [1], level=1)


values = st.integers(0, 20).map(lambda n: n / 20)
samples = st.tuples(
    st.lists(st.tuples(values, values), min_size=3, max_size=20), st.lists(values, min_size=2, max_size=30)
)


@given(samples, st.sampled_from([-2.0, 0.5, 3.0]), st.sampled_from([0.25, 2.0, 10.0]), st.booleans())
def test_shift_and_scale(sample, shift, scale, tuned):
    pairs, rest = sample
    y, f = map(np.array, zip(*pairs, strict=True))
    rest = np.array(rest)
    found = prediction_powered_mean(y, f, rest, tuned=tuned, least=2)
    moved = prediction_powered_mean(
        scale * y + shift, scale * f + shift, scale * rest + shift, tuned=tuned, least=2
    )
    assert moved.lam == pytest.approx(found.lam, abs=1e-9)
    assert moved.estimate == pytest.approx(scale * found.estimate + shift, abs=1e-9)
    if found.interval.low is not None and moved.interval.low is not None:
        assert moved.interval.low == pytest.approx(scale * found.interval.low + shift, abs=1e-9)
        assert found.interval.low <= found.estimate <= found.interval.high


@given(samples, st.sampled_from([-0.5, 0.25, 2.0]), st.booleans())
def test_a_constant_bias_of_the_judge_changes_nothing(sample, bias, tuned):
    pairs, rest = sample
    y, f = map(np.array, zip(*pairs, strict=True))
    found = prediction_powered_mean(y, f, rest, tuned=tuned, least=2)
    biased = prediction_powered_mean(y, f + bias, np.array(rest) + bias, tuned=tuned, least=2)
    assert biased.estimate == pytest.approx(found.estimate, abs=1e-9)
    if found.interval.low is not None and biased.interval.low is not None:
        assert biased.interval.low == pytest.approx(found.interval.low, abs=1e-9)


@given(st.lists(values, min_size=2, max_size=30), values, st.integers(0, 30))
def test_a_constant_judge_is_people_alone(y, constant, n):
    found = prediction_powered_mean(y, [constant] * len(y), [constant] * n, least=2)
    alone = t_interval(y)
    assert found.lam == 0 and found.human_only.reason == alone.reason
    assert (found.estimate, found.interval.low) == (found.human_only.estimate, found.human_only.low)
    assert found.estimate == pytest.approx(alone.estimate)
    assert found.interval.low == (None if alone.low is None else pytest.approx(alone.low))
