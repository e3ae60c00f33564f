"""Prediction-powered inference: the mean of human values from few of them and many values by a model judge."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.intervals import LEVEL, NO_SPREAD, TOO_FEW, Floats, Interval
from leadline.stats.paired import check_level, finite_row
from leadline.stats.student import normal_quantile, t_quantile

LEAST_LABELLED = 20
METHODS = ("t", "z")
CONSTANT_JUDGE = "the judge gives every query the same value"
NO_UNLABELLED = "no query without human labels"
NOT_WITH_PEOPLE = "the judge's values do not rise with people's"
FEW_UNLABELLED = "queries without human labels<2"
SAME_ERROR = "no spread: the judge differs from people by the same amount on every labelled query"


@dataclass(frozen=True)
class PredictionPowered:
    """A mean of human values, known better by a judge's values on queries that no person labelled.

    Attributes
    ----------
    estimate: in the measure's units; None without labelled queries. interval: its method is `ppi++` or `ppi`, n the
        labelled queries; without ends, and with a reason, below the least number of them.
    lam: λ, how much the judge counts, 0 to 1; 0 is people alone. rectifier: mean of human − judge over the labelled
        queries, None without any. correlation: of human and judge over the labelled queries, None where one is constant.
    n, n_unlabelled: queries with human and judge values, and with the judge's alone.
    human_only: the labelled queries alone, by the same formula with λ = 0.
    gain: variance of human_only ÷ variance of the estimate: with gain 2, n labels do the work of 2n. None where either
        has no variance.
    reason: why λ is 0, None where it is not.
    """

    estimate: float | None
    interval: Interval
    lam: float
    rectifier: float | None
    correlation: float | None
    n: int
    n_unlabelled: int
    human_only: Interval
    gain: float | None
    reason: str | None = None


def prediction_powered_mean(
    y: npt.ArrayLike,
    f_labelled: npt.ArrayLike,
    f_unlabelled: npt.ArrayLike,
    *,
    tuned: bool = True,
    ddof: int = 1,
    method: Literal["t", "z"] = "t",
    level: float = LEVEL,
    least: int = LEAST_LABELLED,
) -> PredictionPowered:
    """The mean λ·mean(f over N) + mean(y − λ·f over n), with its interval.

    Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023, Science 382, 669–674) with λ = 1, and Angelopoulos, Duchi &
    Zrnic (2023, PPI++) with the λ of least variance, cov(y, f)/((1 + n/N)·var(f)), cut to [0, 1]: cov over the n
    labelled queries, var over all n + N, always with n + N − 1. The variance is λ²·var(f over N)/N + var(y − λ·f over
    n)/n, and the interval the estimate ± t·√variance with n − 1 degrees of freedom. Whatever the judge's bias is, it
    cancels; a judge that knows nothing gets λ near 0.

    It holds where the labelled queries are a random sample of the same population as the others, were not used to tune the
    judge, and the judge was asked in the same way about both. For two systems give the differences of each query: what
    the judge gets wrong about both cancels before.

    Parameters
    ----------
    y, f_labelled: shape (n,): per labelled query the measure by human labels, and by the judge's.
    f_unlabelled: shape (N,), N possibly 0: by the judge's labels on the other queries.
    tuned: λ as above; else λ = 1.
    ddof: 1, or 0 for plug-in variances. method: `t`, or `z` for the normal distribution.
    least: below so many labelled queries there is no interval; at least 2.

    Where λ has no value (a constant judge) or the queries without human labels are none, it is 0.

    Raises
    ------
    UsageError: rows of different lengths, values that are not finite, a ddof other than 0 or 1, `least` below 2, a
        level that is not between 0 and 1. UnknownNameError: another method.

    >>> y, f = [1, 0, 1, 1, 0, 1, 0, 1], [1, 0, 1, 0, 0, 1, 1, 1]
    >>> found = prediction_powered_mean(y, f, [1, 1, 0, 1] * 4, least=2)
    >>> round(found.estimate, 3), round(found.lam, 3), round(found.interval.low, 3), round(found.human_only.low, 3)
    (0.673, 0.387, 0.276, 0.192)
    """
    human, judge, rest = finite_row(y), finite_row(f_labelled), finite_row(f_unlabelled)
    _check(human, judge, ddof, method, level, least)
    lam, reason = _lambda(human, judge, rest, ddof, tuned)
    left, right = human - lam * judge, lam * rest if lam else rest[:0]
    interval = replace(_interval(left, right, ddof, method, level), method="ppi++" if tuned else "ppi")
    if human.size < least:
        interval = replace(interval, low=None, high=None, reason=f"labelled queries<{least}")
    rectifier = float((human - judge).mean()) if human.size else None
    alone = _interval(human, rest[:0], ddof, method, level)
    return PredictionPowered(
        interval.estimate, interval, lam, rectifier, _correlation(human, judge), human.size, rest.size,
        alone, _gain(human, left, right, ddof), reason,
    )  # fmt: skip


def _lambda(human: Floats, judge: Floats, rest: Floats, ddof: int, tuned: bool) -> tuple[float, str | None]:
    """λ, and why it is 0 where it is."""
    if rest.size == 0:
        return 0.0, NO_UNLABELLED
    if not tuned:
        return 1.0, None
    pooled = np.concatenate([judge, rest])
    # By the values, not by their variance: that of equal values is not exactly 0 in floating point.
    if pooled.min() == pooled.max():
        return 0.0, CONSTANT_JUDGE
    n = human.size
    if n < 2:
        return 0.0, TOO_FEW
    covariance = float(((human - human.mean()) * (judge - judge.mean())).sum()) / (n - ddof)
    lam = covariance / ((1 + n / rest.size) * float(pooled.var(ddof=1)))
    return (min(lam, 1.0), None) if lam > 0 else (0.0, NOT_WITH_PEOPLE)


def _interval(left: Floats, rest: Floats, ddof: int, method: str, level: float) -> Interval:
    """The interval of mean(left) + mean(rest), from separate queries; `rest` may be empty."""
    n = left.size
    if n == 0:
        return Interval(None, None, None, level, method, 0, TOO_FEW)
    mean = float(left.mean()) + (float(rest.mean()) if rest.size else 0.0)
    if n == 1 or rest.size == 1:
        return Interval(mean, None, None, level, method, n, TOO_FEW if n == 1 else FEW_UNLABELLED)
    if left.min() == left.max():
        # Not a judge whose error is known exactly, but a sample that shows none.
        return Interval(mean, None, None, level, method, n, SAME_ERROR if rest.size else NO_SPREAD)
    half = math.sqrt(_variance(left, rest, ddof))
    half *= t_quantile(0.5 + level / 2, n - 1) if method == "t" else normal_quantile(0.5 + level / 2)
    return Interval(mean, mean - half, mean + half, level, method, n)


def _variance(left: Floats, rest: Floats, ddof: int) -> float:
    of_rest = float(rest.var(ddof=ddof)) / rest.size if rest.size else 0.0
    return float(left.var(ddof=ddof)) / left.size + of_rest


def _gain(human: Floats, left: Floats, rest: Floats, ddof: int) -> float | None:
    """Variance by people alone ÷ that of the estimate."""
    if human.size < 2 or rest.size == 1 or human.min() == human.max() or left.min() == left.max():
        return None
    return _variance(human, rest[:0], ddof) / _variance(left, rest, ddof)


def _correlation(human: Floats, judge: Floats) -> float | None:
    if human.size < 2 or human.min() == human.max() or judge.min() == judge.max():
        return None
    return float(np.clip(np.corrcoef(human, judge)[0, 1], -1, 1))


def _check(human: Floats, judge: Floats, ddof: int, method: str, level: float, least: int) -> None:
    if human.size != judge.size:
        raise UsageError(
            f"{human.size} human and {judge.size} judge values are not those of the same queries"
        )
    if ddof not in (0, 1):
        raise UsageError(f"ddof {ddof} is neither 0 nor 1")
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS)
    if least < 2:
        raise UsageError(f"an interval needs at least 2 labelled queries, not {least}")
    check_level(level)
