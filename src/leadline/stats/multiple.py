"""Many comparisons at once: Holm, Bonferroni, Benjamini–Hochberg, and randomised Tukey HSD over all pairs."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import Floats
from leadline.stats.tests import DRAWS, TIE

TABLE = 1024
"""How many permuted sums a table of the randomised Tukey test holds, so that it stays in the nearest cache."""

MOST_LISTED = 7
"""Up to this many systems the permutations of one query are listed (7! = 5,040); beyond, each is drawn."""


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's adjusted p-values, which keep the chance of any false rejection (Holm 1979).

    The i-th smallest of m becomes max over j ≤ i of (m − j + 1)·p_j, at most 1. NaN stays NaN and is not counted in m.

    Parameters
    ----------
    p_values: shape (m,), from 0 to 1 or NaN. The answer has the same order.

    Raises
    ------
    UsageError: another shape, or values outside [0, 1].

    >>> holm([0.01, 0.04, 0.03, 0.005]).round(4).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    return _stepwise(p_values, lambda p: np.maximum.accumulate(p * np.arange(p.size, 0, -1)))


def bonferroni(p_values: npt.ArrayLike) -> Floats:
    """Bonferroni's adjusted p-values: m·p, at most 1 (Dunn 1961). NaN stays NaN and is not counted in m.

    Parameters and errors are as in `holm`.

    >>> bonferroni([0.01, 0.4, float("nan")]).tolist()
    [0.02, 0.8, nan]
    """
    return _stepwise(p_values, lambda p: p * p.size)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """The adjusted p-values that keep the expected share of false rejections (Benjamini & Hochberg 1995).

    The i-th smallest of m becomes min over j ≥ i of m·p_j/j. It holds for independent and for positively dependent
    tests (Benjamini & Yekutieli 2001). NaN stays NaN and is not counted in m.

    Parameters and errors are as in `holm`.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).round(4).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    return _stepwise(
        p_values, lambda p: np.minimum.accumulate((p * (p.size / np.arange(1, p.size + 1)))[::-1])[::-1]
    )


def _stepwise(p_values: npt.ArrayLike, adjust: Callable[[Floats], Floats]) -> Floats:
    """The adjustment of the ascending p-values, at most 1, put back in place; NaN where there was NaN."""
    given = np.asarray(p_values, dtype=np.float64)
    if given.ndim != 1:
        raise UsageError(f"p-values of shape {given.shape}: one row of them is needed")
    known = np.flatnonzero(~np.isnan(given))
    if np.any((given[known] < 0) | (given[known] > 1)):
        raise UsageError("p-values outside [0, 1]")
    answer = np.full(given.size, np.nan)
    if known.size:
        order = known[np.lexsort((given[known],))]
        answer[order] = np.minimum(adjust(given[order]), 1.0)
    return answer


def tukey_hsd(values: npt.ArrayLike, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """The randomised Tukey HSD test of all pairs of systems (Carterette 2012, ACM TOIS 30(1)).

    The systems' values are permuted within each query; p of a pair = (b + 1)/(draws + 1), b how many draws have
    a range of means (the largest less the smallest) that reaches the pair's difference. That keeps the chance
    of any false rejection among all pairs. Where k!^n ≤ draws all permutations are listed instead and p is
    their share; two systems are then the exact sign-flip test. Ranges are tied as in `sign_flip_test`.
    The answer does not depend on the number of threads: sums are added in one order.

    Parameters
    ----------
    values: shape (n, k): n queries, k systems, one measure; finite; n ≥ 1, k ≥ 2.
    rng: the source of the permutations; not used where all are listed.
    draws: how many permutations of every query are drawn.

    Returns p-values of shape (k, k), symmetric, 1 on the diagonal and where two means are equal.

    Raises
    ------
    UsageError: another shape, values that are not finite, or fewer than 1 draw.

    >>> scores = [[0.2, 0.5, 0.6], [0.1, 0.3, 0.2], [0.4, 0.5, 0.9]]
    >>> tukey_hsd(scores, np.random.default_rng(1)).round(4).tolist()
    [[1.0, 0.6389, 0.1389], [0.6389, 1.0, 0.7222], [0.1389, 0.7222, 1.0]]
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise UsageError(f"values of shape {table.shape}: queries × systems are needed, at least 1 × 2")
    if not np.isfinite(table).all():
        raise UsageError("values that are not finite: leave out what has no value before comparing")
    if draws < 1:
        raise UsageError(f"draws {draws} is below 1")
    # A query's own level moves no difference but would cost digits; a query without spread permutes into itself.
    rows = table - table.mean(axis=1, keepdims=True)
    rows = rows[table.min(axis=1) < table.max(axis=1)]
    k = table.shape[1]
    if len(rows) == 0:
        return np.ones((k, k))
    totals = rows.sum(axis=0)
    gaps = np.abs(totals[:, None] - totals[None, :])
    listed = len(rows) * math.lgamma(k + 1) <= math.log(draws) + 1e-9
    sums = _permuted_sums(rows) if listed else _drawn_sums(rows, rng, draws)
    ranges = np.sort(sums.max(axis=1) - sums.min(axis=1))
    # A range is a difference of two sums, each of which carries the rounding of its own terms.
    reach = gaps - TIE * float(np.abs(rows).sum())
    reached = ranges.size - np.searchsorted(ranges, reach, side="left")
    p: Floats = reached / ranges.size if listed else (reached + 1) / (draws + 1)
    # The diagonal and equal means: any range reaches 0.
    return np.where(reach <= 0, 1.0, p)


def _permuted_sums(rows: Floats) -> Floats:
    """The sums of the rows under all permutations within each, shape (k!^n, k)."""
    orders = np.array(list(itertools.permutations(range(rows.shape[1]))))
    sums = np.zeros((1, rows.shape[1]))
    for row in rows:
        sums = (sums[:, None, :] + row[orders][None]).reshape(-1, rows.shape[1])
    return sums


def _drawn_sums(rows: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The sums of the rows under random permutations within each, shape (draws, k).

    With few systems several queries share one table of all their permuted sums, and one draw serves them all.
    """
    k = rows.shape[1]
    sums = np.zeros((draws, k))
    if k > MOST_LISTED:
        for row in rows:
            sums += rng.permuted(np.tile(row, (draws, 1)), axis=1)
        return sums
    together = max(1, int(math.log(TABLE) / math.lgamma(k + 1)))
    for start in range(0, len(rows), together):
        table = _permuted_sums(rows[start : start + together])
        sums += table[rng.integers(0, len(table), size=draws)]
    return sums
