"""Agreement of judges over queries whose items belong together: intervals, and the change from one judge to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.agreement import (
    NO_VARIATION,
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


def agreement_by_query(
    tables: npt.ArrayLike, rng: np.random.Generator, level: float = LEVEL, resamples: int = RESAMPLES
) -> Interval:
    """The share of equal grades over all items, with the interval by resampling queries, as `agreement.kappa_by_query`.

    Parameters
    ----------
    tables: shape (queries, k, k), the confusion table of each query.

    Raises
    ------
    UsageError: another shape, a negative count, a level that is not between 0 and 1, or fewer than 1 resamples.

    >>> tables = [[[3, 0], [0, 2]], [[2, 1], [0, 2]], [[1, 0], [1, 4]], [[4, 1], [0, 0]], [[0, 1], [0, 1]]]
    >>> interval = agreement_by_query(tables, np.random.default_rng(1))
    >>> round(interval.estimate, 3), interval.n
    (0.826, 5)
    """
    every = _tables(tables, level)
    if not every.any():
        return Interval(None, None, None, level, "bootstrap", len(every), NO_TRIALS)
    parts = np.stack([np.trace(every, axis1=1, axis2=2), every.sum(axis=(1, 2))], axis=1)
    seen = parts.sum(axis=0)

    def shares(sums: Floats) -> Floats:
        out = np.full(len(sums), np.nan)
        answer: Floats = np.divide(sums[:, 0], sums[:, 1], out=out, where=sums[:, 1] > 0)
        return answer

    draws = resampled_sums(parts, rng, resamples, shares)
    return percentile_interval(float(seen[0] / seen[1]), draws, level, len(every))


def gwet_by_query(
    tables: npt.ArrayLike,
    rng: np.random.Generator,
    weights: str = "quadratic",
    grades: Sequence[float] | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Gwet's AC1 or AC2 of two judges (`agreement.gwet_ac`) with the interval by resampling queries.

    Parameters
    ----------
    tables: shape (queries, k, k), the confusion table of each query. grades: the k grades, by default 0 to k − 1.

    Raises
    ------
    UnknownNameError: other weights. UsageError: as `agreement_by_query`, or not k grades.

    >>> tables = [[[3, 0], [0, 2]], [[2, 1], [0, 2]], [[1, 0], [1, 4]], [[4, 1], [0, 0]], [[0, 1], [0, 1]]]
    >>> round(gwet_by_query(tables, np.random.default_rng(1)).estimate, 3)
    0.653
    """
    every = _tables(tables, level)
    distances = grade_distances(grades, weights, every.shape[1])
    seen = finite_or_none(_acs(every.sum(axis=0)[None], distances)[0])
    if seen is None:
        return Interval(None, None, None, level, "bootstrap", len(every), NO_TRIALS)
    draws = resampled_sums(every, rng, resamples, lambda sums: _acs(sums, distances))
    return percentile_interval(seen, draws, level, len(every))


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
    UnknownNameError: other weights. UsageError: tables of different shapes, or as `agreement_by_query`.

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


def _acs(tables: Floats, distances: Floats) -> Floats:
    """Gwet's AC of each table of a stack (see `agreement.gwet_ac`), NaN where it has none."""
    k = len(distances)
    n = tables.sum(axis=(1, 2))
    out = np.full(len(n), np.nan)
    if k < 2:
        return out
    agreement = 1 - distances / distances.max()
    there = n > 0
    shares = tables[there] / n[there, None, None]
    seen = (shares * agreement).sum(axis=(1, 2))
    of_grades = (shares.sum(axis=1) + shares.sum(axis=2)) / 2
    chance = agreement.sum() / (k * (k - 1)) * (of_grades * (1 - of_grades)).sum(axis=1)
    out[there] = np.divide(seen - chance, 1 - chance, out=np.full(len(seen), np.nan), where=chance < 1)
    return out
