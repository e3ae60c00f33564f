"""Differences against a margin: no worse by more than it (non-inferiority), or within it (equivalence)."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import t_interval


@dataclass(frozen=True)
class MarginResult:
    """Where the interval of the mean difference lies beside the margin; neither passed nor failed is open.

    Attributes
    ----------
    low, high: the two-sided interval of level 1 − 2·alpha, so that each end is a one-sided bound at alpha;
        None where it could not be computed, and `reason` then says why.
    level, alpha, margin, n, method: what it was made with; the margin in the measure's units.
    passed: the interval lies on the good side of the margin. failed: wholly on the bad side.
    p: of the null hypothesis that passing rejects; p_fail: of the one that failing rejects (for Holm's
        correction over several rules). Passed is p < alpha and failed is p_fail < alpha.
    p_below: of the null hypothesis that the true mean is at or below −margin. p_above: that it is at or above
        +margin. The p values are None where there is no interval.
    """

    low: float | None
    high: float | None
    level: float
    passed: bool
    failed: bool
    p_below: float | None
    p_above: float | None
    p: float | None
    p_fail: float | None
    estimate: float | None
    margin: float
    alpha: float
    n: int
    method: str
    reason: str | None = None


def non_inferiority(differences: npt.ArrayLike, margin: float, alpha: float = 0.05) -> MarginResult:
    """Is the candidate worse by less than the margin? Passed if low > −margin, failed if high < −margin.

    `differences` are candidate minus baseline, one a query. The interval is Student's; each end is a one-sided
    bound at alpha (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Piaggio et al. 2012,
    JAMA 308). A system that is worse by exactly the margin passes with probability alpha. Not "no significant
    difference": that passes whatever too few queries cannot see. With margin 0 it asks for an improvement.

    Without an interval (fewer than two differences, no spread) it is neither passed nor failed.

    Raises
    ------
    UsageError: the differences are not a row of finite numbers, the margin is negative or not finite, or
        alpha is not between 0 and .5.

    >>> found = non_inferiority([0.02, -0.05, 0.01, 0.03, -0.02, 0.0, 0.04, -0.01, 0.02, -0.03], 0.02)
    >>> found.passed, round(found.low, 4), round(found.p, 4)
    (True, -0.0155, 0.0223)
    """
    return _judge(differences, margin, alpha, both_sides=False)


def equivalence(differences: npt.ArrayLike, margin: float, alpha: float = 0.05) -> MarginResult:
    """Do the systems differ by less than the margin? Passed if the interval lies within ±margin.

    Two one-sided tests, each at alpha (Schuirmann 1987): p is the larger of the two. Failed where the whole
    interval lies beyond either margin.

    Raises
    ------
    UsageError: the differences are not a row of finite numbers, the margin is negative or not finite, or
        alpha is not between 0 and .5.

    >>> found = equivalence([0.02, -0.05, 0.01, 0.03, -0.02, 0.0, 0.04, -0.01, 0.02, -0.03], 0.02)
    >>> found.passed, round(found.high, 4), round(found.p, 4)
    (True, 0.0175, 0.032)
    """
    return _judge(differences, margin, alpha, both_sides=True)


def _judge(differences: npt.ArrayLike, margin: float, alpha: float, both_sides: bool) -> MarginResult:
    if not (math.isfinite(margin) and margin >= 0):
        raise UsageError(f"margin {margin} is not a finite number from 0 up")
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha {alpha} is not between 0 and .5")
    row = np.asarray(differences, dtype=np.float64)
    seen = t_interval(row, 1 - 2 * alpha)
    method = "equivalence" if both_sides else "non-inferiority"
    about = (seen.estimate, margin, alpha, seen.n, method)
    if seen.estimate is None or seen.low is None or seen.high is None:
        return MarginResult(
            None, None, 1 - 2 * alpha, False, False, None, None, None, None, *about, seen.reason
        )
    se = float(row.std(ddof=1)) / math.sqrt(row.size)
    p_below = _upper_tail((seen.estimate + margin) / se, row.size - 1)
    p_above = _upper_tail((margin - seen.estimate) / se, row.size - 1)
    worse = _upper_tail(-(seen.estimate + margin) / se, row.size - 1)
    passed, failed, p, p_fail = seen.low > -margin, seen.high < -margin, p_below, worse
    if both_sides:
        better = _upper_tail((seen.estimate - margin) / se, row.size - 1)
        passed, failed = passed and seen.high < margin, failed or seen.low > margin
        p, p_fail = max(p_below, p_above), min(worse, better)
    return MarginResult(
        seen.low, seen.high, 1 - 2 * alpha, passed, failed, p_below, p_above, p, p_fail, *about
    )


def _upper_tail(t: float, df: int) -> float:
    from scipy.special import stdtr

    return float(stdtr(df, -t))
