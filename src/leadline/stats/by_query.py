"""Agreement of judges over queries whose items belong together: intervals, and the change from one judge to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.agreement import (
    NO_VARIATION,
    checked_scale,
    finite_or_none,
    grade_distances,
    kappas,
    percentile_interval,
    resampled_sums,
)
from leadline.stats.intervals import LEVEL, NO_TRIALS, RESAMPLES, Floats, Interval
from leadline.stats.paired import check_level


@dataclass(frozen=True)
class KappaChange:
    """Kappa of two versions of a judge against the same people.

    Attributes
    ----------
    old, new: kappa of each, None where it has none. interval: of new − old; its n counts the queries.
    weights: as in `agreement.cohen_kappa`.
    """

    old: float | None
    new: float | None
    interval: Interval
    weights: str


@dataclass(frozen=True)
class Shares:
    """What a confusion table says besides kappa, each with its interval over queries.

    Attributes
    ----------
    agreement: the share of equal grades. above: that less the share of the rows' most frequent grade, which is what the best
    constant judge reaches. step: the mean of column − row, in grades.
    """

    agreement: Interval
    above: Interval
    step: Interval


def shares_by_query(
    tables: npt.ArrayLike,
    rng: np.random.Generator,
    grades: Sequence[float] | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Shares:
    """Exact agreement, agreement less the majority class, and the mean step, over all items, by resampling queries.

    All three are of the same resamples, drawn as `agreement.kappa_by_query` draws them.

    Parameters
    ----------
    tables: shape (queries, k, k), the confusion table of each query. grades: the k grades, by default 0 to k − 1.

    Raises
    ------
    UsageError: another shape, a negative count, not k grades, a level that is not between 0 and 1, or fewer than 1 resamples.

    >>> tables = [[[3, 0], [0, 2]], [[2, 1], [0, 2]], [[1, 0], [1, 4]], [[4, 1], [0, 0]], [[0, 1], [0, 1]]]
    >>> found = shares_by_query(tables, np.random.default_rng(1))
    >>> round(found.agreement.estimate, 3), round(found.step.estimate, 3), found.agreement.n
    (0.826, 0.087, 5)
    """
    every = _tables(tables, level)
    k = every.shape[1]
    scale = checked_scale(range(k) if grades is None else grades)
    if scale.size != k:
        raise UsageError(f"{scale.size} grades for a table of {k} by {k}")
    if not every.any():
        nothing = Interval(None, None, None, level, "bootstrap", len(every), NO_TRIALS)
        return Shares(nothing, nothing, nothing)
    steps = scale[None, :] - scale[:, None]

    def values(sums: Floats) -> Floats:
        n = sums.sum(axis=(1, 2))
        agreed = np.trace(sums, axis1=1, axis2=2)
        # The best constant judge of the resample, not that of the sample: it too is chosen by what it is measured on.
        constant = sums.sum(axis=2).max(axis=1)
        parts = np.column_stack([agreed, agreed - constant, (sums * steps).sum(axis=(1, 2))])
        out = np.full(parts.shape, np.nan)
        answer: Floats = np.divide(parts, n[:, None], out=out, where=n[:, None] > 0)
        return answer

    seen = values(every.sum(axis=0)[None])[0]
    draws = resampled_sums(every, rng, resamples, values)
    made = (
        percentile_interval(float(value), column, level, len(every))
        for value, column in zip(seen, draws.T, strict=True)
    )
    return Shares(*made)


def kappa_change(
    tables_old: npt.ArrayLike,
    tables_new: npt.ArrayLike,
    rng: np.random.Generator,
    weights: str = "quadratic",
    grades: Sequence[float] | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> KappaChange:
    """The change of kappa between two versions of a judge against the same people, by resampling queries together.

    Each resample takes a query with both versions' tables, so that what is hard for both cancels. A resample in which
    one has no kappa is left out; where they are more than 5 %, there is no interval.

    Parameters
    ----------
    tables_old, tables_new: shape (queries, k, k), of the same queries in the same order: rows by people's grade, columns
        by the judge's. grades: the k grades, by default 0 to k − 1.

    Raises
    ------
    UnknownNameError: other weights. UsageError: tables of different shapes, or as `shares_by_query`.

    >>> old = [[[3, 2], [1, 2]], [[2, 1], [1, 2]], [[1, 1], [1, 4]], [[4, 1], [0, 1]], [[1, 1], [0, 1]]]
    >>> new = [[[4, 1], [0, 3]], [[3, 0], [1, 2]], [[2, 0], [0, 5]], [[4, 1], [0, 1]], [[1, 1], [0, 1]]]
    >>> found = kappa_change(old, new, np.random.default_rng(1))
    >>> round(found.old, 3), round(found.new, 3), found.interval.low > 0
    (0.405, 0.733, False)
    """
    old, new = _tables(tables_old, level), _tables(tables_new, level)
    if old.shape != new.shape:
        raise UsageError(f"tables of shape {old.shape} and {new.shape} are not those of the same queries")
    distances = grade_distances(grades, weights, old.shape[1])
    both = np.stack([old, new], axis=1)
    first, second = (finite_or_none(kappas(row.sum(axis=0)[None], distances)[0]) for row in (old, new))
    if first is None or second is None:
        reason = NO_VARIATION if old.any() and new.any() else NO_TRIALS
        return KappaChange(
            first, second, Interval(None, None, None, level, "bootstrap", len(old), reason), weights
        )
    draws = resampled_sums(
        both, rng, resamples, lambda sums: kappas(sums[:, 1], distances) - kappas(sums[:, 0], distances)
    )
    return KappaChange(first, second, percentile_interval(second - first, draws, level, len(old)), weights)


def _tables(tables: npt.ArrayLike, level: float) -> Floats:
    every = np.asarray(tables, dtype=np.float64)
    if every.ndim != 3 or every.shape[1] != every.shape[2]:
        raise UsageError("needs one square table a query")
    if not np.isfinite(every).all() or (every < 0).any():
        raise UsageError("the tables hold something else than counts")
    check_level(level)
    return every
