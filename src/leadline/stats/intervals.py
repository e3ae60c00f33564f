"""Intervals of one mean or one rate: Student's t, the percentile bootstrap, Wilson's score interval."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.student import normal_quantile, t_quantile

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 10_000
TOO_FEW = "n<2"
NO_TRIALS = "n<1"
NO_SPREAD = "no spread: all values equal"

DRAWS_AT_ONCE = 1 << 19
"""How many indices the bootstrap holds at a time: 4 MB of them, whatever n and the number of resamples."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the interval of the stated level and method, from n values.

    `low` and `high` are None where they could not be computed, and `reason` then says why; `estimate` is None
    only where n is 0. An interval that cannot be computed is never given zero width: [1, 1] from one value
    would pass any gate.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    reason: str | None = None


def deviation(values: npt.ArrayLike) -> float | None:
    """The standard deviation of one row of values, with n − 1; None below two, exactly 0 where all are equal.

    In floating point the deviation of equal values is some 1e-17, which would pass for a spread to plan from.

    Raises
    ------
    UsageError: the values are not a row of finite numbers.

    >>> deviation([0.0, 0.5, 1.0]), deviation([0.1] * 3), deviation([0.1])
    (0.5, 0.0, None)
    """
    row = _row(values)
    if row.size < 2:
        return None
    return 0.0 if row.min() == row.max() else float(row.std(ddof=1))


def mean_interval(values: npt.ArrayLike, level: float = LEVEL) -> Interval:
    """The interval of a mean: Wilson's if every value is 0 or 1, else Student's t; none below two values.

    Raises
    ------
    UsageError: the values are not a row of finite numbers, or the level is not between 0 and 1.

    >>> mean_interval([1, 0, 1, 1]).method, mean_interval([0.5, 0.25]).method, mean_interval([1.0]).reason
    ('wilson', 't', 'n<2')
    """
    row = _row(values)
    if row.size >= 2 and bool(np.all((row == 0) | (row == 1))):
        return wilson_interval(int(row.sum()), row.size, level)
    return t_interval(row, level)


def t_interval(values: npt.ArrayLike, level: float = LEVEL) -> Interval:
    """Student's interval of a mean: mean ± t · sd/√n, sd with n − 1 (Student 1908).

    Not computed below two values, nor where all values are equal: a spread of exactly 0 in a sample says that
    the method has nothing to go by, not that the mean is known exactly.

    Raises
    ------
    UsageError: the values are not a row of finite numbers, or the level is not between 0 and 1.

    >>> interval = t_interval([0.0, 0.5, 1.0])
    >>> round(interval.low, 4), interval.estimate, round(interval.high, 4)
    (-0.7421, 0.5, 1.7421)
    """
    row = _row(values)
    _check_level(level)
    degenerate = _degenerate(row, level, "t")
    if degenerate is not None:
        return degenerate
    mean = float(row.mean())
    half = t_quantile(0.5 + level / 2, row.size - 1) * float(row.std(ddof=1)) / math.sqrt(row.size)
    return Interval(mean, mean - half, mean + half, level, "t", row.size)


def bootstrap_interval(
    values: npt.ArrayLike, rng: "np.random.Generator", resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The percentile bootstrap interval of a mean (Efron & Tibshirani 1993, chapter 13).

    The values are drawn with replacement `resamples` times; the interval lies between the quantiles of the
    means, interpolated linearly. It is narrower than Student's by about √((n − 1)/n) · z/t, so that it covers
    less at small n. Memory is bounded whatever n; the draws do not depend on how they are split up.

    Raises
    ------
    UsageError: the values are not a row of finite numbers, the level is not between 0 and 1, or there are
        fewer than 1 resamples.

    >>> interval = bootstrap_interval([0.0, 0.5, 1.0, 0.25], np.random.default_rng(1))
    >>> 0 < interval.low < interval.estimate < interval.high < 1
    True
    """
    row = _row(values)
    _check_level(level)
    if resamples < 1:
        raise UsageError(f"resamples {resamples} is below 1")
    degenerate = _degenerate(row, level, "bootstrap")
    if degenerate is not None:
        return degenerate
    means = np.empty(resamples)
    rows = max(1, DRAWS_AT_ONCE // row.size)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        means[start:stop] = row[rng.integers(0, row.size, size=(stop - start, row.size))].mean(axis=1)
    low, high = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    return Interval(float(row.mean()), low, high, level, "bootstrap", row.size)


def wilson_interval(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a rate (Wilson 1927; Newcombe 1998, method 3: no continuity correction).

    A rate has an interval from one trial on. At 0 and n successes the end is exactly 0 and exactly 1.

    Raises
    ------
    UsageError: successes are not between 0 and n, or the level is not between 0 and 1.

    >>> interval = wilson_interval(81, 263)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2553, 0.3662)
    """
    _check_level(level)
    if not 0 <= successes <= n:
        raise UsageError(f"{successes} successes are not between 0 and n = {n}")
    if n == 0:
        return Interval(None, None, None, level, "wilson", 0, NO_TRIALS)
    z = normal_quantile(0.5 + level / 2)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # In floating point centre − half is some 1e-17 beside 0 where it is 0 by algebra.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(rate, low, high, level, "wilson", n)


def _degenerate(row: Floats, level: float, method: str) -> Interval | None:
    """The answer where the values carry no spread, or None where they do."""
    if row.size == 0:
        return Interval(None, None, None, level, method, 0, TOO_FEW)
    if row.size == 1:
        return Interval(float(row[0]), None, None, level, method, 1, TOO_FEW)
    # By the values, not by sd == 0: the sd of a thousand times 0.1 is not 0 in floating point.
    if row.min() == row.max():
        return Interval(float(row[0]), None, None, level, method, row.size, NO_SPREAD)
    return None


def _row(values: npt.ArrayLike) -> Floats:
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise UsageError(f"values of shape {row.shape}: an interval takes one row of them")
    if not np.isfinite(row).all():
        raise UsageError(
            "values that are not finite: leave out what has no value before asking for an interval"
        )
    return row


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level {level} is not between 0 and 1")
