"""Effect sizes against known values, integration and simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from leadline.errors import UsageError
from leadline.stats.effects import (
    SignAndMagnitude,
    probability_of_superiority,
    standardised_difference,
    type_s_m,
)


def test_standardised_difference_by_hand():
    # .1, .3, .2: mean .2, sd √((.01 + .01 + 0)/2) = .1, so 2; with n in place of n − 1 it would be 2.449.
    assert standardised_difference([0.1, 0.3, 0.2]) == pytest.approx(2.0, rel=1e-12)
    assert standardised_difference([-0.1, -0.3, -0.2]) == pytest.approx(-2.0, rel=1e-12)


def test_standardised_difference_without_spread_is_not_a_number():
    for values in ([], [0.1], [0.0] * 5, [0.1] * 1000):
        assert math.isnan(standardised_difference(values))
    with pytest.raises(UsageError):
        standardised_difference([0.1, math.nan])


def test_probability_of_superiority():
    # 5 wins, 3 losses, 4 ties of 12: (5 + 2)/12.
    assert probability_of_superiority(5, 4, 12) == pytest.approx(7 / 12)
    assert (probability_of_superiority(0, 9, 9), probability_of_superiority(0, 0, 9)) == (0.5, 0.0)
    # The two systems' shares add up to 1.
    assert probability_of_superiority(5, 4, 12) + probability_of_superiority(3, 4, 12) == 1.0
    assert math.isnan(probability_of_superiority(0, 0, 0))
    for wrong in ((-1, 0, 3), (1, -1, 3), (2, 2, 3)):
        with pytest.raises(UsageError):
            probability_of_superiority(*wrong)


# Case type_s_m. The first is Gelman & Carlin's example: D = .1, s = 3.28, power .05, type S .46, factor 77.
@pytest.mark.parametrize(
    ("ratio", "power", "sign", "magnitude"),
    [
        (0.1 / 3.28, 0.05010648209372842, 0.4644228430379463, 76.68916411091335),
        (0.5, 0.07909753416059649, 0.08783520268293503, 4.788593676570791),
        (1.0, 0.17007504575308752, 0.009045271962580561, 2.49092844250335),
        (2.8, 0.7995568714356515, 1.2108426227178002e-06, 1.1252187817878925),
    ],
)
def test_errors_of_sign_and_magnitude(ratio, power, sign, magnitude):
    found = type_s_m(ratio, 1.0)
    assert (found.power, found.type_s, found.type_m) == pytest.approx((power, sign, magnitude), rel=1e-9)
    # In other units, and for a loss, it is the same.
    again = type_s_m(-ratio * 0.02, 0.02)
    assert (again.power, again.type_s, again.type_m) == pytest.approx((power, sign, magnitude), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_magnitude_by_integration(alpha):
    # E|x| over |x| > z for x normal about 1.3, over the chance of being there, over 1.3.
    z = stats.norm.ppf(1 - alpha / 2)

    def above(f):
        return quad(f, z, 20, epsabs=1e-13)[0] + quad(f, -20, -z, epsabs=1e-13)[0]

    mass = above(lambda x: stats.norm.pdf(x, 1.3))
    expected = above(lambda x: abs(x) * stats.norm.pdf(x, 1.3)) / mass / 1.3
    found = type_s_m(1.3, 1.0, alpha)
    assert (found.power, found.type_m) == pytest.approx((mass, expected), rel=1e-8)


def test_by_simulation():
    # True difference .02, spread .15, 50 queries: power .16, ×2.6, wrong sign 1.2 %.
    se = 0.15 / math.sqrt(50)
    drawn = np.random.default_rng(5).normal(0.02, se, 400_000)
    significant = drawn[np.abs(drawn) > 1.959964 * se]
    found = type_s_m(0.02, se)
    assert found.power == pytest.approx(significant.size / drawn.size, abs=0.003)
    assert found.type_s == pytest.approx(np.mean(significant < 0), abs=0.002)
    assert found.type_m == pytest.approx(np.mean(np.abs(significant)) / 0.02, abs=0.02)
    assert (round(found.power, 2), round(found.type_m, 1), round(found.type_s, 3)) == (0.16, 2.6, 0.012)


def test_at_the_ends():
    # Nothing to exaggerate: the truth is 40 standard errors away.
    far = type_s_m(40.0, 1.0)
    assert (far.power, far.type_s, far.type_m) == pytest.approx((1.0, 0.0, 1.0), abs=1e-12)
    none = type_s_m(0.0, 1.0)
    assert none.power == 0.05 and math.isnan(none.type_s) and math.isnan(none.type_m)
    assert none.reason == "a difference of 0 has no sign and no size"
    flat = type_s_m(0.1, 0.0)
    assert math.isnan(flat.power) and flat.reason == "no spread: the standard error is 0"
    assert isinstance(flat, SignAndMagnitude)
    for wrong in ((math.nan, 1.0), (0.1, -1.0), (0.1, math.inf)):
        with pytest.raises(UsageError):
            type_s_m(*wrong)
    with pytest.raises(UsageError):
        type_s_m(0.1, 1.0, alpha=0)
