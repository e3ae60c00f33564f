"""Krippendorff's alpha: agreement of any number of judges, with missing grades, and its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.agreement import (
    NO_VARIATION,
    checked_counts,
    checked_scale,
    finite_or_none,
    percentile_interval,
    resampled_sums,
)
from leadline.stats.intervals import LEVEL, NO_TRIALS, RESAMPLES, Floats, Interval

METRICS = ("nominal", "ordinal", "interval", "ratio")


def krippendorff_alpha(
    counts: npt.ArrayLike, grades: Sequence[float], metric: str = "ordinal"
) -> float | None:
    """Krippendorff's alpha: 1 − observed ÷ expected disagreement, for any number of judges and missing grades.

    Krippendorff 2011, "Computing Krippendorff's alpha-reliability". Items with one grade say nothing of agreement and
    are left out. None where no item has two grades, or all grades that are left are one and the same: without
    variation there is nothing to agree on.

    Parameters
    ----------
    counts: shape (units, k), see `grade_counts`. grades: the k grades, ascending. metric: one of `METRICS`.

    Raises
    ------
    UnknownNameError: another metric. UsageError: counts of another shape; `ratio` with negative grades.

    >>> from leadline.stats.agreement import grade_counts
    >>> round(krippendorff_alpha(grade_counts([[0, 0], [1, 1], [0, 1], [1]], [0, 1]), [0, 1], "nominal"), 5)
    0.44444
    """
    scale = checked_scale(grades)
    table = checked_counts(counts, scale.size)
    return finite_or_none(_alphas(_coincidences(table).sum(axis=0)[None], scale, metric)[0])


def alpha_by_query(
    counts: npt.ArrayLike,
    queries: Sequence[Any],
    grades: Sequence[float],
    rng: np.random.Generator,
    metric: str = "ordinal",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The interval of alpha by the bootstrap over queries, as `kappa_by_query`.

    Parameters
    ----------
    counts: as `krippendorff_alpha`. queries: the query of each unit.

    Raises
    ------
    UnknownNameError, UsageError: as `krippendorff_alpha`, or not one query a unit.

    >>> from leadline.stats.agreement import grade_counts
    >>> counts = grade_counts([[0, 0], [1, 1], [0, 1], [1, 1]], [0, 1])
    >>> interval = alpha_by_query(counts, ["a", "a", "b", "c"], [0, 1], np.random.default_rng(1), "nominal")
    >>> round(interval.estimate, 4), interval.n
    (0.5333, 3)
    """
    scale = checked_scale(grades)
    table = checked_counts(counts, scale.size)
    if len(queries) != table.shape[0]:
        raise UsageError(f"{len(queries)} queries are not one for each of {table.shape[0]} items")
    paired = table.sum(axis=1) >= 2
    names = [query for query, use in zip(queries, paired, strict=True) if use]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    by_query = np.zeros((len(places), scale.size, scale.size))
    np.add.at(by_query, [places[name] for name in names], _coincidences(table[paired]))
    estimate = finite_or_none(_alphas(by_query.sum(axis=0)[None], scale, metric)[0])
    if estimate is None:
        return Interval(
            None, None, None, level, "bootstrap", len(places), NO_VARIATION if names else NO_TRIALS
        )
    draws = resampled_sums(by_query, rng, resamples, lambda sums: _alphas(sums, scale, metric))
    return percentile_interval(estimate, draws, level, len(places))


def _coincidences(counts: npt.NDArray[np.int64]) -> Floats:
    """The coincidence matrix of each unit, shape (units, k, k); zeros for one with fewer than two grades."""
    table = counts.astype(np.float64)
    several = table.sum(axis=1)
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(table.shape[1]), np.arange(table.shape[1])] -= table
    scale = np.divide(1.0, several - 1, out=np.zeros_like(several), where=several >= 2)
    return np.asarray(pairs * scale[:, None, None])


def _alphas(sums: Floats, scale: Floats, metric: str) -> Floats:
    """Alpha of each coincidence matrix of a stack, NaN where it has none."""
    margins = sums.sum(axis=2)
    n = margins.sum(axis=1)
    distances = _distances(margins, scale, metric)
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    seen = (sums * distances).sum(axis=(1, 2)) * (n - 1)
    ratio: Floats = np.divide(seen, expected, out=np.full(len(n), np.nan), where=expected > 0)
    return 1 - ratio


def _distances(margins: Floats, scale: Floats, metric: str) -> Floats:
    """The squared distances of each metric; the ordinal ones follow from how often the grades between were given."""
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    apart = scale[:, None] - scale[None, :]
    if metric == "nominal":
        return np.asarray(apart != 0, dtype=np.float64)[None]
    if metric == "interval":
        return np.asarray(apart**2)[None]
    if metric == "ratio":
        if scale.min() < 0:
            raise UsageError("the ratio metric needs grades of at least 0")
        both = scale[:, None] + scale[None, :]
        parts = np.divide(apart, both, out=np.zeros_like(apart), where=both > 0)
        return np.asarray(parts[None] ** 2)
    # Σ_{g=c..k} n_g − (n_c + n_k)/2 is the distance between the middles of the two grades' shares.
    middles = np.cumsum(margins, axis=1) - margins / 2
    return np.asarray((middles[:, :, None] - middles[:, None, :]) ** 2)
