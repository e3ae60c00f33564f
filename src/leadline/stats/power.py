"""How many queries: power, the smallest detectable difference and margin, and the number a decision needs.

Everything here takes a *named* difference, the smallest one worth having. The observed mean in its place would
answer with the luck of the sample: power "after the fact" is only the p value in other words (Hoenig & Heisey
2001, The American Statistician 55).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import LEVEL, t_interval
from leadline.stats.student import normal_quantile, t_quantile

ALPHA = 0.05
POWER = 0.8

MOST_QUERIES = 10_000_000
"""Beyond this many queries no number is named: nobody judges them, and t is the normal distribution."""

SAMPLES = 4000
"""How many sets of queries each size is tried on: the power found has a standard error of .006 near .8."""

CLOSE = 0.01
"""How near to each other, relatively, two sizes must lie for the bisection to stop; the draws allow no more."""

DRAWS_AT_ONCE = 1 << 19

COUNTS_PAY = 10
"""From this many draws a value on, it is cheaper to draw how often each value occurs than each draw."""

LARGE = 1000
SKEW_LEFT = 0.05
"""From `LARGE` queries on, with skewness/√n below this, t is as good as normal: the first term of Edgeworth's
expansion moves a power of .8 by less than .006, the noise of the sets (Hall 1992, section 2.6)."""

TOO_FEW_FOR_SPREAD = "n<5: the spread is too uncertain for a range"
TOO_MANY = f"more than {MOST_QUERIES:,} queries"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class QueriesUntil:
    """The number of queries at which the interval excludes zero, with the range that the spread leaves.

    Attributes
    ----------
    n: the number; None where it could not be computed, and `reason` then says why.
    low, high: its range at the stated level, from the uncertainty of the observed spread alone; None where
        fewer than five differences were seen (`reason` says so) or where n is None.
    difference: the named difference. method: how n was found.
    """

    n: int | None
    low: int | None
    high: int | None
    difference: float
    method: str
    reason: str | None = None


def power_paired(n: int, sd: float, difference: float, alpha: float = ALPHA) -> float:
    """The chance that a two-sided paired t test of n queries finds a true mean difference, from 0 to 1.

    t has n − 1 degrees and the noncentrality √n·difference/sd (Cohen 1988, Statistical Power Analysis, 2.5).
    `sd` is the spread of the per-query differences, in the measure's units. Both tails count. NaN below two
    queries and where sd is 0: a sample without spread gives no interval, so nothing to find a difference by.

    Raises
    ------
    UsageError: sd is negative, an argument is not finite, or alpha is not between 0 and 1.

    >>> round(power_paired(34, sd=1.0, difference=0.5), 4)
    0.8078
    """
    _check(sd, difference, alpha)
    if n < 2 or sd == 0:
        return math.nan
    return _power(n, difference / sd, alpha / 2, two_sided=True)


def detectable_difference(n: int, sd: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest true mean difference that n queries find with the stated power, in the units of sd.

    The inverse of `power_paired` in the difference. NaN below two queries and where sd is 0.

    Raises
    ------
    UsageError: sd is negative or not finite, or not 0 < alpha < power < 1.

    >>> round(detectable_difference(50, sd=1.0), 4)
    0.4042
    """
    _check(sd, 0.0, alpha, power)
    return _effect(n, sd, power, lambda effect: _power(n, effect, alpha / 2, two_sided=True))


def queries_needed(sd: float, difference: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """The fewest queries, at least 2, with which a two-sided paired t test has the stated power.

    Raises
    ------
    UsageError: sd or the difference is 0 (no number of queries decides then), sd is negative, an argument is
        not finite, not 0 < alpha < power < 1, or more than ten million queries would be needed.

    >>> queries_needed(sd=1.0, difference=0.5)
    34
    """
    _check(sd, difference, alpha, power)
    effect = _positive(abs(difference), sd, "difference")
    return _fewest(lambda n: _power(n, effect, alpha / 2, two_sided=True) >= power)


def smallest_margin(n: int, sd: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest non-inferiority margin that n queries decide with that power if nothing changed.

    "Decide" is: the lower end of the one-sided 1 − alpha interval lies above −margin when the true mean
    difference is 0 and the spread is sd. One-sided noncentral t with √n·margin/sd (Julious 2004, Statistics in
    Medicine 23, section 5). In the units of sd. NaN below two queries and where sd is 0.

    Raises
    ------
    UsageError: sd is negative or not finite, or not 0 < alpha < power < 1.

    >>> round(smallest_margin(58, sd=0.15), 3)
    0.05
    """
    _check(sd, 0.0, alpha, power)
    return _effect(n, sd, power, lambda effect: _power(n, effect, alpha, two_sided=False))


def queries_for_margin(sd: float, margin: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """The fewest queries, at least 2, that pass an unchanged system at this margin with the stated power.

    The inverse of `smallest_margin` in n.

    Raises
    ------
    UsageError: sd or the margin is 0 (no number of queries decides then) or negative, an argument is not
        finite, not 0 < alpha < power < 1, or more than ten million queries would be needed.

    >>> queries_for_margin(sd=0.15, margin=0.02)
    350
    """
    _check(sd, margin, alpha, power)
    effect = _positive(margin, sd, "margin")
    return _fewest(lambda n: _power(n, effect, alpha, two_sided=False) >= power)


def queries_for_width(sd: float, half_width: float, level: float = LEVEL) -> int:
    """The fewest queries, at least 2, at which t·sd/√n is at most the half-width asked for.

    Sakai 2016 (Information Retrieval Journal 19) calls it topic set size design by interval width; here the
    spread is that of the paired differences.

    Raises
    ------
    UsageError: sd or the half-width is 0 or negative, an argument is not finite, the level is not between 0
        and 1, or more than ten million queries would be needed.

    >>> queries_for_width(sd=0.15, half_width=0.03)
    99
    """
    _check(sd, half_width, 1 - level)
    effect = _positive(half_width, sd, "half-width")
    return _fewest(lambda n: t_quantile(0.5 + level / 2, n - 1) <= effect * math.sqrt(n))


def queries_until_excluded(
    differences: npt.ArrayLike,
    difference: float,
    rng: "np.random.Generator",
    power: float = POWER,
    level: float = LEVEL,
) -> QueriesUntil:
    """How many queries until the t interval excludes zero, from observed differences and a named one.

    The observed differences are moved so that their mean is the *named* difference, sets of n of them are
    drawn with replacement, and n is found by bisection: the size at which the share of sets whose interval of
    this level excludes zero reaches `power`. So zeros, skew and tails are those observed (Efron & Tibshirani
    1993, chapter 25). n carries the noise of 4,000 sets, about 2 %.

    The range comes from the uncertainty of the spread: n goes with the variance, whose interval is Bonett's,
    which allows for heavy tails (Bonett 2006, Computational Statistics & Data Analysis 50).

    Where more than a thousand queries are needed and the differences are not too skewed, sets of them would say
    what the noncentral t says at once; then `method` is "noncentral t", and there is no noise.

    None, with the reason, where there is nothing to go by: fewer than two differences, or no spread. The range
    alone is None below five differences.

    Raises
    ------
    UsageError: the differences are not a row of finite numbers, the named difference is 0 or not finite, the
        level is not between 0 and 1, or not 1 − level < power < 1.

    >>> seen = np.random.default_rng(1).normal(0.01, 0.15, 50)
    >>> found = queries_until_excluded(seen, 0.05, np.random.default_rng(2))
    >>> found.low < found.n < found.high
    True
    """
    _check(1.0, difference, 1 - level, power)
    if difference == 0:
        raise UsageError(
            "difference 0: name a difference worth having; no number of queries excludes 0 from 0"
        )
    row = np.asarray(differences, dtype=np.float64)
    # t_interval checks the values and knows what has no spread.
    seen = t_interval(row, level)
    if seen.estimate is None or seen.low is None:
        return QueriesUntil(None, None, None, difference, "resampling", seen.reason)
    moved = row - seen.estimate + difference
    start = _normal_size(float(row.std(ddof=1)), difference, power, 1 - level)
    if start > MOST_QUERIES:
        return QueriesUntil(None, None, None, difference, "resampling", TOO_MANY)
    n: int | None
    if start >= LARGE and _skewness(row) <= SKEW_LEFT * math.sqrt(start):
        n, method = queries_needed(float(row.std(ddof=1)), difference, power, 1 - level), "noncentral t"
    else:
        n = _bisect(lambda size: _share_excluding(moved, size, rng, level) >= power, max(2, start))
        method = "resampling"
    if n is None or n > MOST_QUERIES:
        return QueriesUntil(None, None, None, difference, method, TOO_MANY)
    if row.size < 5:
        return QueriesUntil(n, None, None, difference, method, TOO_FEW_FOR_SPREAD)
    shrink, grow = _variance_range(row, level)
    return QueriesUntil(n, max(2, math.floor(n * shrink)), max(2, math.ceil(n * grow)), difference, method)


def _power(n: int, effect: float, tail: float, two_sided: bool) -> float:
    """P(T > t) for noncentral T with n − 1 degrees and √n·effect, and P(T < −t) with it if two-sided.

    SciPy gives NaN in the far tail (scipy issues 7104, 25470): the probability there is 0. The effect's sign
    is dropped where both tails count, so that each cdf below is that of a lower tail.
    """
    from scipy.stats import nct

    critical = t_quantile(1 - tail, n - 1)
    shift = math.sqrt(n) * (abs(effect) if two_sided else effect)
    below = float(nct.cdf(critical, n - 1, shift))
    reached = 1 - (0.0 if math.isnan(below) else below)
    if two_sided:
        wrong = float(nct.cdf(-critical, n - 1, shift))
        reached += 0.0 if math.isnan(wrong) else wrong
    return min(1.0, reached)


def _effect(n: int, sd: float, power: float, reached: Callable[[float], float]) -> float:
    """The difference, in units of sd times sd, at which `reached` is the power."""
    from scipy.optimize import brentq

    if n < 2 or sd == 0:
        return math.nan
    high = 1 / math.sqrt(n)
    while reached(high) < power:
        high *= 2
    return sd * float(brentq(lambda effect: reached(effect) - power, 0.0, high, xtol=1e-14, rtol=1e-13))


def _fewest(enough: Callable[[int], bool]) -> int:
    """The fewest queries, from 2 up, for which `enough` holds, given that it holds from there on."""
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > 2 * MOST_QUERIES:
            raise UsageError(f"{TOO_MANY} would be needed: what is asked for is too small beside the spread")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _normal_size(sd: float, difference: float, power: float, alpha: float) -> int:
    """The number of queries by the normal distribution: where the search by resampling starts."""
    z = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    return math.ceil(min((z * sd / abs(difference)) ** 2, 10.0 * MOST_QUERIES))


def _bisect(enough: Callable[[int], bool], start: int) -> int | None:
    """The size at which `enough` begins to hold, near `start` and to within `CLOSE`; None beyond the most."""
    low = high = start
    if enough(start):
        while low > 2 and enough(low := max(2, min(high - 1, low * 3 // 4))):
            high = low
    else:
        while not enough(high := max(low + 1, high * 4 // 3)):
            low = high
            if low > MOST_QUERIES:
                return None
    while high - low > max(1, CLOSE * low):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _share_excluding(values: Floats, n: int, rng: "np.random.Generator", level: float) -> float:
    """The share of sets of n values, drawn with replacement, whose t interval excludes zero.

    A set without spread has no interval, so it excludes nothing.
    """
    critical = t_quantile(0.5 + level / 2, n - 1)
    counted = n > COUNTS_PAY * values.size
    found, rows = 0, max(1, DRAWS_AT_ONCE // (values.size if counted else n))
    for start in range(0, SAMPLES, rows):
        many = min(rows, SAMPLES - start)
        if not counted:
            drawn = values[rng.integers(0, values.size, size=(many, n))]
            mean, sd = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
            spread = drawn.min(axis=1) < drawn.max(axis=1)
        else:
            # How often each value was drawn says all there is, whatever n.
            counts = rng.multinomial(n, np.full(values.size, 1 / values.size), size=many)
            mean = counts @ values / n
            centred = values - values.mean()
            squares = counts @ centred**2 - n * (mean - values.mean()) ** 2
            sd = np.sqrt(np.maximum(squares, 0) / (n - 1))
            spread = (counts > 0).sum(axis=1) > 1
        found += int(np.sum(spread & (np.abs(mean) * math.sqrt(n) > critical * sd)))
    return found / SAMPLES


def _skewness(row: Floats) -> float:
    """The absolute skewness, the third central moment over the sd cubed."""
    off = (row - row.mean()) / np.abs(row - row.mean()).max()
    return float(abs(np.mean(off**3)) / np.mean(off**2) ** 1.5)


def _variance_range(row: Floats, level: float) -> tuple[float, float]:
    """The ends of the variance's interval over the variance itself (Bonett 2006, formulas 3 and 4)."""
    n, z = row.size, normal_quantile(0.5 + level / 2)
    cut = int(n / (2 * math.sqrt(n - 4))) if n > 4 else 0
    # The trimmed mean makes the kurtosis less biased where the differences are skewed.
    centre = np.sort(row)[cut : n - cut].mean() if n > 2 * cut else row.mean()
    kurtosis = n * float(np.sum((row - centre) ** 4)) / float(np.sum((row - row.mean()) ** 2)) ** 2
    c = n / (n - z) if n > z else 1.0
    se = c * math.sqrt(max(0.0, kurtosis - (n - 3) / n) / (n - 1))
    return c * math.exp(-z * se), c * math.exp(z * se)


def _positive(value: float, sd: float, name: str) -> float:
    """What is asked for in units of sd, where both are above 0."""
    if sd == 0:
        raise UsageError("sd 0: differences without spread give no interval, whatever the number of queries")
    if not value > 0:
        raise UsageError(f"{name} {value} is not above 0: no number of queries decides it")
    return value / sd


def _check(sd: float, other: float, alpha: float, power: float | None = None) -> None:
    if not (math.isfinite(sd) and sd >= 0):
        raise UsageError(f"sd {sd} is not a finite number from 0 up")
    if not math.isfinite(other):
        raise UsageError(f"{other} is not a finite number")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {alpha} is not between 0 and 1")
    if power is not None and not alpha < power < 1:
        raise UsageError(f"power {power} is not between alpha, {alpha:g}, and 1")
