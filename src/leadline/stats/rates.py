"""Rates: an interval that never covers too little, and the interval of a difference of two rates."""

import math

from leadline.errors import UsageError
from leadline.stats.intervals import LEVEL, NO_TRIALS, Interval, wilson_interval


def clopper_pearson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """The exact interval of a rate (Clopper & Pearson 1934, Biometrika 26): it covers at least the level.

    The ends are quantiles of Beta(x, n − x + 1) and Beta(x + 1, n − x). It is wider than Wilson's, for it
    holds its level at every rate. At 0 and n successes the end is exactly 0 and exactly 1. Without trials
    there is no interval.

    Raises
    ------
    UsageError: successes are not between 0 and n, or the level is not between 0 and 1.

    >>> interval = clopper_pearson(81, 263)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2527, 0.3676)
    """
    from scipy.special import betaincinv

    _check(successes, n, level)
    if n == 0:
        return Interval(None, None, None, level, "clopper-pearson", 0, NO_TRIALS)
    tail = 0.5 - level / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(successes / n, low, high, level, "clopper-pearson", n)


def newcombe_difference(
    successes_a: int, n_a: int, successes_b: int, n_b: int, level: float = LEVEL
) -> Interval:
    """The interval of rate B − rate A from two separate groups (Newcombe 1998, method 10).

    Newcombe 1998b (Statistics in Medicine 17, 873–890): the distances from each rate to the ends of its
    Wilson interval are joined as the sides of a right angle. For rates of *different* users or requests;
    where both systems answered the same queries the difference is a paired one. `n` is n_a + n_b. Within
    [−1, 1] always. None where a group has no trials.

    Raises
    ------
    UsageError: successes are not between 0 and their n, or the level is not between 0 and 1.

    >>> interval = newcombe_difference(48, 80, 56, 70)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0524, 0.3339)
    """
    _check(successes_a, n_a, level)
    _check(successes_b, n_b, level)
    a, b = wilson_interval(successes_a, n_a, level), wilson_interval(successes_b, n_b, level)
    n, method = n_a + n_b, "newcombe"
    if a.estimate is None or b.estimate is None:
        return Interval(None, None, None, level, method, n, NO_TRIALS)
    assert a.low is not None and a.high is not None and b.low is not None and b.high is not None
    difference = b.estimate - a.estimate
    low = difference - math.hypot(b.estimate - b.low, a.high - a.estimate)
    high = difference + math.hypot(b.high - b.estimate, a.estimate - a.low)
    return Interval(difference, low, high, level, method, n)


def _check(successes: int, n: int, level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level {level} is not between 0 and 1")
    if not 0 <= successes <= n:
        raise UsageError(f"{successes} successes are not between 0 and n = {n}")
