"""Intervals of the mean difference over the same queries: bootstraps, and score intervals of yes/no measures."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import LEVEL, NO_TRIALS, RESAMPLES, Floats, Interval, t_interval
from leadline.stats.student import normal_quantile

COUNTS_AT_ONCE = 1 << 17
"""How many counts the bootstrap holds at a time: 1 MB of them, so that they stay in the processor's cache."""

FLAT = 1e-10
"""A resample whose variance is below this share of the largest squared deviation counts as one without spread."""


def bootstrap_differences(
    differences: npt.ArrayLike, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[Interval]:
    """The percentile bootstrap interval of each measure's mean difference (Efron & Tibshirani 1993, chapter 13).

    Queries are drawn with replacement, and the differences of one query under all measures stay together. The
    same seed gives the same bits whatever the number of threads, the processor or the size of a chunk: the
    differences are rounded to whole multiples of a power of two, less than n·max|d|/2^51 apart, so that every
    sum is exact in 64 bits and its order does not matter. That moves a mean by less than 1e-15·n·max|d|.

    Parameters
    ----------
    differences: shape (n,) or (n, m): n queries, m measures, each in its own units; finite.
    rng: the source of the draws; n·resamples of them are taken.
    resamples: how often the n queries are drawn.
    level: the share of the resampled means inside the interval, between 0 and 1.

    Returns m intervals (one for a row); a measure with fewer than two values or without spread has no ends.

    Raises
    ------
    UsageError: a shape other than those, values that are not finite, a level that is not between 0 and 1, or
        fewer than 1 resamples.

    >>> d = [[0.0, 0.1], [0.5, 0.1], [1.0, 0.1], [0.25, 0.1]]
    >>> first, second = bootstrap_differences(d, np.random.default_rng(1))
    >>> 0 < first.low < first.estimate < first.high < 1, second.low, second.reason
    (True, None, 'no spread: all values equal')
    """
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim not in (1, 2):
        raise UsageError(f"differences of shape {table.shape}: queries, or queries × measures, are needed")
    columns = [np.ascontiguousarray(c) for c in (table.T if table.ndim == 2 else table[None])]
    answers: list[Interval] = []
    spread: list[int] = []
    _check_resamples(resamples)
    for index, column in enumerate(columns):
        lacking = _lacking(column, level, "bootstrap")
        if lacking is None:
            spread.append(index)
            lacking = Interval(float(column.mean()), None, None, level, "bootstrap", column.size)
        answers.append(lacking)
    if not spread:
        return answers
    means = resampled_means(np.column_stack([columns[i] for i in spread]), rng, resamples)
    ends = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    for index, (low, high) in zip(spread, ends.T.tolist(), strict=True):
        answers[index] = replace(answers[index], low=low, high=high)
    return answers


def resampled_means(table: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """The means of each column over `resamples` draws of the rows with replacement: shape (resamples, m).

    How often each row was drawn is a matrix of counts, and the sums are its product with the values; as the
    values are whole multiples of a power of two (see `bootstrap_differences`), no sum is ever rounded.
    Memory is bounded by `COUNTS_AT_ONCE` (or one resample of n) and by the answer.

    >>> resampled_means(np.array([[0.25], [0.25]]), np.random.default_rng(0), 3).ravel().tolist()
    [0.25, 0.25, 0.25]
    """
    whole, shift = _on_a_grid(table)
    n = len(table)
    sums = np.empty((resamples, table.shape[1]))
    for start, counts in _counts(n, rng, resamples):
        np.matmul(counts, whole, out=sums[start : start + len(counts)])
    return np.ldexp(sums, -shift) / n


def _on_a_grid(table: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """The values of each column in whole units of 2^−shift, with n·max|value| below 2^52 units."""
    _, exponent = np.frexp(len(table) * np.abs(table).max(axis=0))
    shift = 52 - exponent.astype(np.intp)
    return np.rint(np.ldexp(table, shift)), shift


def _counts(n: int, rng: np.random.Generator, resamples: int) -> Iterator[tuple[int, Floats]]:
    """Blocks of the matrix of counts, each with the number of its first resample.

    The generator gives 64-bit draws one after another, so that the blocks' size does not change them.
    """
    rows = max(1, COUNTS_AT_ONCE // n)
    offsets = (np.arange(rows) * n)[:, None]
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = rng.integers(0, n, size=(size, n))
        drawn += offsets[:size]
        yield start, np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def bca_interval(
    differences: npt.ArrayLike, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987; Efron & Tibshirani 1993, 14.3).

    The ends are the quantiles at Φ(z0 + (z0 + z)/(1 − a(z0 + z))) of the resampled means, z0 = Φ⁻¹ of the share
    of them below the mean, ties by half, a = `acceleration`. On differences with many zeros and fewer than
    some 50 queries it covers less than Student's t: for comparison, not for a decision.

    Parameters, errors and degenerate input are as in `bootstrap_differences`, for one row; where all resampled
    means lie on one side of the mean, or the correction leaves (0, 1), there are no ends and a reason.

    >>> d = [0.1, -0.05, 0.0, 0.2, 0.3, 0.0, -0.1, 0.15]
    >>> interval = bca_interval(d, np.random.default_rng(1))
    >>> interval.method, round(interval.low, 2), round(interval.high, 2)
    ('bca', -0.01, 0.17)
    """
    row = np.asarray(differences, dtype=np.float64)
    _check_resamples(resamples)
    lacking = _lacking(row, level, "bca")
    if lacking is not None:
        return lacking
    means = resampled_means(row[:, None], rng, resamples)[:, 0]
    # The mean of the rounded values: against the unrounded one a tie would fall to one side.
    whole, shift = _on_a_grid(row[:, None])
    centre = float((np.ldexp(whole.sum(axis=0), -shift) / row.size)[0])
    below = float(np.mean(means < centre) + np.mean(means == centre) / 2)
    answer = Interval(float(row.mean()), None, None, level, "bca", row.size)
    if not 0 < below < 1:
        return replace(answer, reason="all resampled means lie on one side of the mean")
    z0, a, z = normal_quantile(below), acceleration(row - row.mean()), normal_quantile(0.5 + level / 2)
    if not all(1 - a * (z0 + side) > 0 for side in (-z, z)):
        return replace(answer, reason="the acceleration is too great for the correction")
    from statistics import NormalDist

    at = [NormalDist().cdf(z0 + (z0 + side) / (1 - a * (z0 + side))) for side in (-z, z)]
    low, high = np.quantile(means, at).tolist()
    return replace(answer, low=low, high=high)


def acceleration(influence: npt.ArrayLike) -> float:
    """The acceleration a = Σu³ / (6 (Σu²)^1.5) of an estimate's n influence values u (Efron & Tibshirani 1993, 14.15).

    For a mean u is the deviation from it, so that a is the skewness ÷ (6√n); for any other estimate u is the
    mean of its n leave-one-out values less each of them. Not 0 ÷ 0: the values must not all be 0.

    Raises
    ------
    UsageError: the values are not a row of finite numbers, or all are 0.

    >>> acceleration([-1.0, 0.0, 1.0]), round(acceleration([-1.0, -1.0, 2.0]), 4)
    (0.0, 0.068)
    """
    u = finite_row(influence)
    if not u.any():
        raise UsageError("influence values that are all 0 have no acceleration")
    u = u / np.abs(u).max()
    return float((u**3).sum() / (6 * (u**2).sum() ** 1.5))


def studentised_interval(
    differences: npt.ArrayLike, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The studentised (bootstrap-t) interval of a mean (Efron 1982; Efron & Tibshirani 1993, 12.5).

    With t* = (mean* − mean)/se* of each resample, mean − t*_{1−α/2}·se to mean − t*_{α/2}·se. It suits smooth
    skewed differences; with many zeros it covers far less than Student's t. A resample without spread has
    t* = ±∞; where so many have none that an end would be infinite, there are no ends and a reason.

    Parameters, errors and degenerate input are as in `bootstrap_differences`, for one row.

    >>> d = [0.1, -0.05, 0.0, 0.2, 0.3, 0.0, -0.1, 0.15]
    >>> interval = studentised_interval(d, np.random.default_rng(1))
    >>> interval.method, interval.low < -0.01, interval.high > 0.17
    ('studentised', True, True)
    """
    row = np.asarray(differences, dtype=np.float64)
    _check_resamples(resamples)
    lacking = _lacking(row, level, "studentised")
    if lacking is not None:
        return lacking
    n, mean = row.size, float(row.mean())
    off = row - mean
    shifts, squares = resampled_means(np.column_stack([off, off**2]), rng, resamples).T
    variances = squares - shifts**2
    flat = variances <= FLAT * float(np.max(off**2))
    # A resample without spread that keeps the mean says nothing either way: 0; any other lies infinitely far off.
    ratios = np.where(flat, np.where(shifts == 0, 0.0, np.copysign(np.inf, shifts)), 0.0)
    ratios[~flat] = shifts[~flat] / np.sqrt(variances[~flat] / (n - 1))
    # The nearest resample outward, not a weighted mean of two: of ∞ and a number there is none.
    lower = float(np.quantile(ratios, 0.5 - level / 2, method="lower"))
    upper = float(np.quantile(ratios, 0.5 + level / 2, method="higher"))
    answer = Interval(mean, None, None, level, "studentised", n)
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return replace(answer, reason=f"{int(flat.sum())} of {resamples} resamples have no spread")
    error = float(row.std(ddof=1)) / math.sqrt(n)
    return replace(answer, low=mean - upper * error, high=mean - lower * error)


def tango_interval(wins: int, losses: int, n: int, level: float = LEVEL) -> Interval:
    """Tango's score interval of the paired difference of two rates, (wins − losses)/n (Tango 1998).

    The differences D that the score (w − l − nD)/√(n(2q + D(1 − D))) leaves within ±z, where q, the rate of
    losses at D, has the greatest likelihood: (√(B² − 4AC) − B)/(2A), A = 2n, B = (2n − w + l)D − w − l,
    C = −lD(1 − D). It is defined from one query on, also without any win or loss: ±z²/(n + z²).

    Parameters
    ----------
    wins, losses: the queries right in the second system only, and in the first only.
    n: all queries, those on which the two agree included.
    level: between 0 and 1.

    Raises
    ------
    UsageError: counts below 0, wins + losses above n, or a level that is not between 0 and 1.

    >>> interval = tango_interval(9, 3, 50)
    >>> round(interval.low, 4), interval.estimate, round(interval.high, 4)
    (-0.0178, 0.12, 0.2627)
    """
    _check_counts(wins, losses, n)
    check_level(level)
    if n == 0:
        return Interval(None, None, None, level, "tango", 0, NO_TRIALS)
    z = normal_quantile(0.5 + level / 2)
    # By the mirror image, so that swapping the systems negates the interval to the last bit.
    low, high = -_tango_upper(losses, wins, n, z), _tango_upper(wins, losses, n, z)
    return Interval((wins - losses) / n, low, high, level, "tango", n)


def _tango_upper(wins: int, losses: int, n: int, z: float) -> float:
    """The difference at which Tango's score, which falls as the difference grows, is −z: by bisection."""
    low, high = (wins - losses) / n, 1.0
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        if _tango_score(middle, wins, losses, n) > -z:
            low = middle
        else:
            high = middle


def _tango_score(difference: float, wins: int, losses: int, n: int) -> float:
    a, c = 2 * n, -losses * difference * (1 - difference)
    b = (2 * n - wins + losses) * difference - wins - losses
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    # The form of the root that does not subtract two numbers of one size.
    q = -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)
    variance = n * (2 * q + difference * (1 - difference))
    gap = wins - losses - n * difference
    return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)


def bonett_price_interval(wins: int, losses: int, n: int, level: float = LEVEL) -> Interval:
    """Bonett and Price's adjusted Wald interval of the paired difference of two rates (Bonett & Price 2012).

    With p = (wins + 1)/(n + 2) and q = (losses + 1)/(n + 2): p − q ± z√((p + q − (p − q)²)/(n + 2)), cut to
    [−1, 1]. The estimate is the plain (wins − losses)/n; the interval's middle is p − q, nearer to 0.

    Parameters and errors are as in `tango_interval`.

    >>> interval = bonett_price_interval(3, 9, 50)
    >>> round(interval.low, 4), interval.estimate, round(interval.high, 4)
    (-0.2529, -0.12, 0.0221)
    """
    _check_counts(wins, losses, n)
    check_level(level)
    if n == 0:
        return Interval(None, None, None, level, "bonett-price", 0, NO_TRIALS)
    p, q = (wins + 1) / (n + 2), (losses + 1) / (n + 2)
    half = normal_quantile(0.5 + level / 2) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    low, high = max(p - q - half, -1.0), min(p - q + half, 1.0)
    return Interval((wins - losses) / n, low, high, level, "bonett-price", n)


def finite_row(values: npt.ArrayLike) -> Floats:
    """The values as one row of 64-bit numbers, shape (n,), n possibly 0.

    Raises
    ------
    UsageError: another shape, or values that are not finite.
    """
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise UsageError(f"values of shape {row.shape}: one row of them is needed")
    if not np.isfinite(row).all():
        raise UsageError("values that are not finite: leave out what has no value before comparing")
    return row


def check_level(level: float) -> None:
    """Accept a level between 0 and 1.

    Raises
    ------
    UsageError: any other.
    """
    if not 0 < level < 1:
        raise UsageError(f"level {level} is not between 0 and 1")


def _lacking(row: Floats, level: float, method: str) -> Interval | None:
    """The answer where fewer than two values or no spread leave nothing to resample, else None.

    Whatever has no interval by Student's t has none by resampling; asking it keeps the reasons the same.
    """
    by_t = t_interval(row, level)
    return None if by_t.reason is None else replace(by_t, method=method)


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise UsageError(f"resamples {resamples} is below 1")


def _check_counts(wins: int, losses: int, n: int) -> None:
    if min(wins, losses) < 0 or wins + losses > n:
        raise UsageError(f"{wins} wins and {losses} losses are not counts of at most n = {n} queries")
