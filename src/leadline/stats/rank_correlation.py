"""How alike two orders of the same systems are: Kendall's tau and tau_AP, with intervals over queries."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.agreement import finite_or_none, percentile_interval
from leadline.stats.intervals import LEVEL, NO_TRIALS, RESAMPLES, Floats, Interval
from leadline.stats.paired import check_level, finite_row, resampled_means
from leadline.stats.student import t_quantile

DIGITS = 12
"""Means that agree to so many digits of the largest are tied: what differs beyond is rounding."""

METHOD = "bootstrap-se"
ALL_TIED = "all systems are tied"
CELLS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class RankAgreement:
    """How alike the systems' order by one set of labels and by another are.

    Attributes
    ----------
    tau: Kendall's tau-b. tau_ap: with the first as the truth. Both −1 to 1; their n counts the queries, their method is
        `bootstrap-se`; without an estimate where an order ties all systems. tau_ap_symmetric: mean of tau_AP both ways round.
    systems: how many.
    """

    tau: Interval
    tau_ap: Interval
    tau_ap_symmetric: float | None
    systems: int


def kendall_tau(truth: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Kendall's tau-b of two rows of scores (Kendall 1945): (C − D)/√((P − T_x)(P − T_y)).

    C and D are the pairs of systems in the same and in opposite order, P all pairs, T those tied in each; a pair tied
    in either is neither C nor D. Without ties it is tau-a, the share of pairs in order less the share out of order.
    None below two systems, or where one row ties them all.

    Parameters
    ----------
    truth, other: shape (systems,), a score each; finite.

    Raises
    ------
    UsageError: rows of different lengths, or values that are not finite.

    >>> round(kendall_tau([0.9, 0.8, 0.7, 0.6], [0.9, 0.7, 0.8, 0.6]), 4)
    0.6667
    """
    first, second = _pair(truth, other)
    return finite_or_none(_taus(first, second)[0])


def tau_ap(truth: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Yilmaz, Aslam and Robertson's AP rank correlation (SIGIR 2008): an error among the best systems weighs more.

    Go down the order of `other`; at each rank i from 2 on count the share of the i − 1 systems above that stand above
    it in `truth` too; tau_AP is twice the mean share − 1. It is not symmetric: the truth comes first. 1 is the same
    order, −1 its reverse. A pair tied in `truth` counts half; systems tied in `other` are taken in every order alike,
    and the mean over those orders is the value (Urbano & Marrero 2017, ICTIR, τ_AP,a), so that two rows with the same ties
    stay below 1. None below two systems, or where one row ties them all.

    Parameters and errors are as in `kendall_tau`.

    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4), round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    (0.3333, 0.7778)
    """
    first, second = _pair(truth, other)
    return finite_or_none(_tau_aps(first, second)[0])


def rank_agreement(
    truth: npt.ArrayLike,
    other: npt.ArrayLike,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> RankAgreement:
    """Tau and tau_AP of the systems' means by two sets of labels, with intervals by resampling queries.

    The queries are drawn with replacement, for both sets and all systems together; the means and the orders are made
    again from each draw. The interval is the estimate ± t·s, cut to [−1, 1], with s the deviation of the resamples ×
    √(n/(n − 1)) and n − 1 degrees of freedom.

    It is about the tau that *as many* queries give on average. With more of them close systems get apart, and tau
    rises; of the tau of endlessly many queries no interval by resampling tells, for resamples confuse close systems more
    than the sample does: their quantiles lie so far below that they may leave out the sample's own tau. The systems
    are these, not a sample of others.

    Parameters
    ----------
    truth, other: shape (queries, systems): the measure of each query and system, by the labels of people and by the
        other ones; finite.
    resamples: how often the queries are drawn.

    Without ends, and with a reason, below `agreement.LEAST_QUERIES` queries or where no resample differs.

    Raises
    ------
    UsageError: tables of different shapes, values that are not finite, or fewer than 1 resamples.

    >>> rng = np.random.default_rng(1)
    >>> people = np.array([0.3, 0.35, 0.4, 0.45]) + 0.5 * rng.random((30, 4))
    >>> found = rank_agreement(people, people + 0.2 * rng.random((30, 4)), rng)
    >>> round(found.tau.low, 2) < found.tau.estimate <= found.tau.high, found.systems
    (True, 4)
    """
    first, second = _tables(truth, other)
    check_level(level)
    if resamples < 1:
        raise UsageError(f"resamples {resamples} is below 1")
    n, systems = first.shape
    if not n:
        nothing = Interval(None, None, None, level, METHOD, 0, NO_TRIALS)
        return RankAgreement(nothing, nothing, None, systems)
    x, y = first.mean(axis=0)[None], second.mean(axis=0)[None]
    seen = _both(x, y)
    draws = _draws(first, second, rng, resamples)
    values = [finite_or_none(value) for value in seen[0]]
    tau, ap = (
        Interval(None, None, None, level, METHOD, n, ALL_TIED)
        if value is None
        else _interval(value, column, level, n)
        for value, column in zip(values, draws.T, strict=True)
    )
    other_way = finite_or_none(_tau_aps(y, x)[0])
    symmetric = None if ap.estimate is None or other_way is None else (ap.estimate + other_way) / 2
    return RankAgreement(tau, ap, symmetric, systems)


def _draws(first: Floats, second: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """Tau and tau_AP of each resample of the queries, shape (resamples, 2)."""
    systems = first.shape[1]
    draws = np.empty((resamples, 2))
    rows = max(1, CELLS_AT_ONCE // max(1, systems * systems))
    every = np.column_stack([first, second])
    for start in range(0, resamples, rows):
        means = resampled_means(every, rng, min(rows, resamples - start))
        draws[start : start + len(means)] = _both(means[:, :systems], means[:, systems:])
    return draws


def _interval(estimate: float, draws: Floats, level: float, n: int) -> Interval:
    """The estimate ± t times the resamples' deviation; without ends where the percentile interval has none either."""
    by_quantiles = percentile_interval(estimate, draws, level, n)
    if by_quantiles.low is None:
        return replace(by_quantiles, method=METHOD)
    half = t_quantile(0.5 + level / 2, n - 1) * float(np.nanstd(draws)) * math.sqrt(n / (n - 1))
    low, high = max(estimate - half, -1.0), min(estimate + half, 1.0)
    return Interval(estimate, low, high, level, METHOD, n)


def _pair(truth: npt.ArrayLike, other: npt.ArrayLike) -> tuple[Floats, Floats]:
    first, second = finite_row(truth), finite_row(other)
    if first.size != second.size:
        raise UsageError(f"{first.size} and {second.size} scores are not those of the same systems")
    return first[None], second[None]


def _tables(truth: npt.ArrayLike, other: npt.ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(truth, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise UsageError(
            f"values of shape {first.shape} and {second.shape}: queries × systems are needed, twice"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UsageError("values that are not finite: leave out the queries that have no value")
    return first, second


def _signs(scores: Floats) -> Floats:
    """Shape (rows, systems, systems): 1 where the first of two systems is above the second, −1 below, 0 tied."""
    if not scores.size:
        return np.zeros((*scores.shape, scores.shape[1]))
    largest = np.abs(scores).max(axis=1, keepdims=True)
    whole = np.round(np.divide(scores, largest, out=np.zeros_like(scores), where=largest > 0), DIGITS)
    signs: Floats = np.sign(whole[:, :, None] - whole[:, None, :])
    return signs


def _both(x: Floats, y: Floats) -> Floats:
    return np.column_stack([_taus(x, y), _tau_aps(x, y)])


def _taus(x: Floats, y: Floats) -> Floats:
    """Tau-b of each row, NaN where it has none."""
    first, second = _signs(x), _signs(y)
    untied = np.sqrt(np.abs(first).sum(axis=(1, 2)) * np.abs(second).sum(axis=(1, 2)))
    balance = np.einsum("rij,rij->r", first, second)
    answer: Floats = np.divide(balance, untied, out=np.full(len(untied), np.nan), where=untied > 0)
    return answer


def _tau_aps(truth: Floats, other: Floats) -> Floats:
    """tau_AP of each row, NaN where it has none.

    Of two systems tied in `other` either order is as likely and one is right where the other is wrong: they cancel.
    What stands above a tied group is above each of its places p to q, so that a system of it weighs the mean of
    1/(p − 1) … 1/(q − 1).
    """
    first, second = _signs(truth), _signs(other)
    systems = truth.shape[1]
    above = (second < 0).sum(axis=2)
    ties = (second == 0).sum(axis=2)
    # Sums of 1/(rank − 1) up to a rank; the first rank has nothing above and no weight.
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1 / np.arange(1, max(systems, 1)))])
    weights = (harmonic[above + ties] - harmonic[above]) / np.maximum(ties, 1)
    right = np.where(second < 0, first * second, 0.0).sum(axis=2)
    answer = (weights * right).sum(axis=1) / max(systems - 1, 1)
    known = np.any(first != 0, axis=(1, 2)) & np.any(second != 0, axis=(1, 2))
    return np.where(known, answer, np.nan)
