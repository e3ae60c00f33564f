"""Rates: an interval that never covers too little, that of a difference, and a rate seen by a judge who errs."""

import math
from dataclasses import dataclass

from leadline.errors import UsageError
from leadline.stats.intervals import LEVEL, NO_SPREAD, NO_TRIALS, Interval, wilson_interval
from leadline.stats.student import normal_quantile

NO_BETTER = "the judge is no better than chance: sensitivity + specificity <= 1"


@dataclass(frozen=True)
class CorrectedRate:
    """A rate that a judge saw, corrected for how often that judge errs.

    Attributes
    ----------
    estimate: cut to [0, 1]; None where it has no value, with the reason in `interval`. se: by the delta method.
    interval: estimate ± z·se, cut to [0, 1]; its n counts the items that the judge saw. sensitivity, specificity: None
        without items.
    """

    estimate: float | None
    se: float | None
    interval: Interval
    sensitivity: float | None
    specificity: float | None


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


def rogan_gladen(
    positives: int,
    n: int,
    true_positives: int,
    n_positive: int,
    true_negatives: int,
    n_negative: int,
    level: float = LEVEL,
) -> CorrectedRate:
    """The rate behind what an imperfect judge saw (Rogan & Gladen 1978): (p + sp − 1)/(se + sp − 1).

    p is the share that the judge called positive, se and sp are measured on other items that people called positive and
    negative. Variance by the delta method, with π the corrected rate:
    [p(1 − p)/n + π²·se(1 − se)/n₊ + (1 − π)²·sp(1 − sp)/n₋]/(se + sp − 1)².

    Parameters
    ----------
    positives, n: what the judge called positive, of how many items without human labels.
    true_positives, n_positive: of the items that people called positive, how many the judge did too.
    true_negatives, n_negative: the same of the negative ones.

    Where se + sp is at most 1 the judge says nothing, and there is no estimate.

    Raises
    ------
    UsageError: a count is not between 0 and its n, or the level is not between 0 and 1.

    >>> found = rogan_gladen(150, 500, 90, 100, 190, 200)
    >>> round(found.estimate, 4), round(found.se, 4)
    (0.2941, 0.0292)
    """
    counts = ((positives, n), (true_positives, n_positive), (true_negatives, n_negative))
    for successes, trials in counts:
        _check(successes, trials, level)
    p, se, sp = (successes / trials if trials else None for successes, trials in counts)
    if p is None or se is None or sp is None:
        return CorrectedRate(
            None, None, Interval(None, None, None, level, "rogan-gladen", n, NO_TRIALS), se, sp
        )
    gain = se + sp - 1
    # By the counts: .9 + .1 − 1 is not 0 in floating point.
    if true_positives * n_negative + true_negatives * n_positive <= n_positive * n_negative:
        return CorrectedRate(
            None, None, Interval(None, None, None, level, "rogan-gladen", n, NO_BETTER), se, sp
        )
    rate = min(max((p + sp - 1) / gain, 0.0), 1.0)
    variance = (
        p * (1 - p) / n + rate**2 * se * (1 - se) / n_positive + (1 - rate) ** 2 * sp * (1 - sp) / n_negative
    )
    error = math.sqrt(variance) / gain
    if error == 0:
        interval = Interval(rate, None, None, level, "rogan-gladen", n, NO_SPREAD)
    else:
        half = normal_quantile(0.5 + level / 2) * error
        low, high = max(rate - half, 0.0), min(rate + half, 1.0)
        interval = Interval(rate, low, high, level, "rogan-gladen", n)
    return CorrectedRate(rate, error, interval, se, sp)


def _check(successes: int, n: int, level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level {level} is not between 0 and 1")
    if not 0 <= successes <= n:
        raise UsageError(f"{successes} successes are not between 0 and n = {n}")
