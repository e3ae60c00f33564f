"""Holm's correction of a fail over the rules, from the ends of their intervals."""

import math
from collections.abc import Sequence

from leadline.scores import Comparison
from leadline.stats.student import t_quantile

MOST_DF = 1e6
"""From here on Student's t is the normal distribution to the digits that matter."""


def p_below(comparison: Comparison, bar: float) -> float | None:
    """The one-sided p of "the difference is at or above the bar", read off the comparison's own interval.

    Both upper ends stand at difference + s·t(1 − alpha, df) and difference + s·t(1 − alpha/2, df); from the two
    follow s and df (n − 1 for Student's t, Satterthwaite's for clusters, without limit for a score interval),
    and p = P(T_df ≥ (bar − difference)/s). Exact for intervals of that form, near for others. Source: the
    duality of tests and confidence limits (Lehmann & Romano 2005, section 3.5).

    Returns
    -------
    A number in [0, 1]; None where the comparison has no interval.
    """
    c = comparison
    if c.difference is None or c.high is None or c.one_sided_high is None:
        return None
    alpha = 1 - c.level
    inner, outer = c.one_sided_high - c.difference, c.high - c.difference
    if not inner > 0:
        return 0.0 if c.difference < bar else 1.0
    from scipy.special import stdtr

    df = _degrees(outer / inner, alpha)
    t = (bar - c.difference) / inner * t_quantile(1 - alpha, df)
    return float(stdtr(df, -t))


def holm_rejects(ps: Sequence[float | None], alphas: Sequence[float]) -> list[bool]:
    """Which hypotheses Holm's step-down procedure rejects, each against its own alpha.

    The smallest p/alpha is compared with 1/m, the next with 1/(m − 1), until one is above. None is never rejected
    and still counts in m. Source: Holm 1979.

    >>> holm_rejects([0.01, 0.04, 0.03], [0.05] * 3)     # .01 ≤ .05/3; then .03 > .05/2
    [True, False, False]
    """
    ratios = [math.inf if p is None else p / alpha for p, alpha in zip(ps, alphas, strict=True)]
    out = [False] * len(ratios)
    for step, at in enumerate(sorted(range(len(ratios)), key=ratios.__getitem__)):
        if ratios[at] > 1 / (len(ratios) - step):
            break
        out[at] = True
    return out


def _degrees(ratio: float, alpha: float) -> float:
    """The degrees of freedom at which t(1 − alpha/2)/t(1 − alpha) is the ratio, in [1, 1e6]; it falls with them."""
    low, high = 0.0, math.log(MOST_DF)
    if ratio <= t_quantile(1 - alpha / 2, MOST_DF) / t_quantile(1 - alpha, MOST_DF):
        return MOST_DF
    for _ in range(60):
        middle = (low + high) / 2
        df = math.exp(middle)
        if t_quantile(1 - alpha / 2, df) / t_quantile(1 - alpha, df) > ratio:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)
