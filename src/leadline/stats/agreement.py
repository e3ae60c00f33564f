"""Agreement of judges: Cohen's kappa with its intervals, and Gwet's AC1 and AC2."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.intervals import LEVEL, NO_SPREAD, NO_TRIALS, RESAMPLES, Floats, Interval
from leadline.stats.paired import check_level
from leadline.stats.student import normal_quantile, normal_tail, t_quantile

WEIGHTS = ("none", "linear", "quadratic")
NO_VARIATION = "no variation: one grade only"
LEAST_QUERIES = 5
"""Of n queries there are C(2n − 1, n) different resamples: 35 of four, too few for tails of 2.5 %; 126 of five."""
TOO_FEW_QUERIES = f"queries<{LEAST_QUERIES}"
OFTEN_UNDEFINED = "undefined in over 5 % of the resamples"
UNDEFINED_SHARE = 0.05
AT_ONCE = 1 << 21
"""Numbers that a block of resamples may hold."""


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa of two judges over the items that both graded.

    Attributes
    ----------
    estimate: at most 1; 0 is what chance gives. None without items, or where both gave one and the same grade only.
    se: the asymptotic standard error; None where the estimate is None. interval: estimate ± z·se.
    agreement: the share of equal grades, None without items. n: items. weights: one of `WEIGHTS`.
    """

    estimate: float | None
    se: float | None
    interval: Interval
    agreement: float | None
    n: int
    weights: str


def confusion_table(a: npt.ArrayLike, b: npt.ArrayLike, grades: Sequence[float]) -> npt.NDArray[np.int64]:
    """How often one judge gave the grade of the row where the other gave that of the column.

    Parameters
    ----------
    a, b: shape (n,), the grades of the same n items. grades: the whole scale, ascending, whether used or not.

    Raises
    ------
    UsageError: rows of different lengths, a scale that does not ascend, or a grade that is not on it.

    >>> confusion_table([0, 1, 1], [0, 1, 0], [0, 1, 2]).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    """
    scale = checked_scale(grades)
    first, second = _places(a, scale), _places(b, scale)
    if first.size != second.size:
        raise UsageError(f"{first.size} and {second.size} grades are not those of the same items")
    k = scale.size
    return np.bincount(first * k + second, minlength=k * k).reshape(k, k)


def cohen_kappa(
    table: npt.ArrayLike,
    weights: str = "none",
    grades: Sequence[float] | None = None,
    level: float = LEVEL,
) -> Kappa:
    """Cohen's kappa (1960; weighted 1968): 1 − Σwo/Σwe, with its asymptotic standard error.

    w is 0 on the diagonal and else 1, |g_i − g_j| or (g_i − g_j)², in the grades' own values: a grade that nobody gave
    must not bring its neighbours together. o are the observed shares, e the products of the margins. The standard
    error is Fleiss, Cohen & Everitt's (1969, Psychological Bulletin 72), not for the null; it takes items as
    independent, which pairs of one query are not: `kappa_by_query` does without that.

    Parameters
    ----------
    table: shape (k, k), counts, as `confusion_table` gives them. grades: the k grades, by default 0 to k − 1.

    Raises
    ------
    UnknownNameError: other weights. UsageError: the table is not square, holds a negative count, or not k grades.

    >>> kappa = cohen_kappa([[20, 5], [10, 15]])
    >>> round(kappa.estimate, 3), round(kappa.se, 3), kappa.agreement
    (0.4, 0.127, 0.7)
    """
    check_level(level)
    counts = _square(table)
    distances = grade_distances(grades, weights, counts.shape[0])
    n = int(counts.sum())
    if n == 0:
        nothing = Interval(None, None, None, level, "asymptotic", 0, NO_TRIALS)
        return Kappa(None, None, nothing, None, 0, weights)
    observed = counts / n
    agreement = float(np.trace(observed))
    estimate = finite_or_none(kappas(counts[None], distances)[0])
    if estimate is None:
        nothing = Interval(None, None, None, level, "asymptotic", n, NO_VARIATION)
        return Kappa(None, None, nothing, agreement, n, weights)
    se = _standard_error(observed, distances, estimate) / math.sqrt(n)
    half = normal_quantile(0.5 + level / 2) * se
    interval = Interval(estimate, estimate - half, min(1.0, estimate + half), level, "asymptotic", n)
    if se == 0:
        # A sample without a difference, not a kappa known exactly.
        interval = Interval(estimate, None, None, level, "asymptotic", n, NO_SPREAD)
    return Kappa(estimate, se, interval, agreement, n, weights)


def kappa_by_query(
    tables: npt.ArrayLike,
    rng: np.random.Generator,
    weights: str = "none",
    grades: Sequence[float] | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The interval of kappa by the bootstrap over queries (`percentile_interval`): the items of one query stay together.

    Its `n` counts the queries; below `LEAST_QUERIES` there is no interval. A resample without variation has no kappa
    and is left out; where they are more than 5 %, there is no interval either.

    Parameters
    ----------
    tables: shape (queries, k, k), the confusion table of each query.

    Raises
    ------
    UnknownNameError, UsageError: as `cohen_kappa`.

    >>> tables = [[[3, 0], [0, 2]], [[2, 1], [0, 2]], [[1, 0], [1, 4]], [[4, 1], [0, 0]], [[0, 0], [0, 0]]]
    >>> interval = kappa_by_query(tables, np.random.default_rng(1))
    >>> round(interval.estimate, 3), interval.n
    (0.712, 5)
    """
    every = np.asarray(tables, dtype=np.float64)
    if every.ndim != 3:
        raise UsageError("needs one square table a query")
    total = cohen_kappa(every.sum(axis=0) if every.shape[0] else np.zeros((2, 2)), weights, grades, level)
    if total.estimate is None:
        return Interval(None, None, None, level, "bootstrap", every.shape[0], total.interval.reason)
    distances = grade_distances(grades, weights, every.shape[1])
    draws = resampled_sums(every, rng, resamples, lambda sums: kappas(sums, distances))
    return percentile_interval(total.estimate, draws, level, every.shape[0])


def majority_baseline(table: npt.ArrayLike) -> float | None:
    """The agreement of a judge who always gives the grade that people (the rows) give most; None without items.

    Raises
    ------
    UsageError: the table is not square, or holds a negative count.

    >>> majority_baseline([[0, 1], [0, 9]])
    0.9
    """
    counts = _square(table)
    n = float(counts.sum())
    return float(counts.sum(axis=1).max()) / n if n else None


def grade_counts(units: Sequence[Sequence[float]], grades: Sequence[float]) -> npt.NDArray[np.int64]:
    """How many judges gave each grade to each item, shape (units, grades).

    Raises
    ------
    UsageError: a scale that does not ascend, or a grade that is not on it.

    >>> grade_counts([[0, 0], [0, 1]], [0, 1]).tolist()
    [[2, 0], [1, 1]]
    """
    scale = checked_scale(grades)
    places = _places([grade for unit in units for grade in unit], scale)
    unit = np.repeat(np.arange(len(units)), [len(given) for given in units])
    counts = np.bincount(unit * scale.size + places, minlength=len(units) * scale.size)
    return counts.reshape(len(units), scale.size)


def table_counts(table: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The same of the items that a confusion table of two judges counts, shape (items, grades), in no order of theirs.

    Raises
    ------
    UsageError: the table is not square, or holds a negative count.

    >>> table_counts([[1, 1], [0, 0]]).tolist()
    [[2, 0], [1, 1]]
    """
    counts = _square(table).astype(np.int64)
    one = np.eye(len(counts), dtype=np.int64)
    cells = (one[:, None, :] + one[None, :, :]).reshape(-1, len(counts))
    return np.repeat(cells, counts.reshape(-1), axis=0)


def gwet_ac(counts: npt.ArrayLike, grades: Sequence[float], weights: str = "none") -> float | None:
    """Gwet's AC1 (weights `none`) or AC2: (p_a − p_e)/(1 − p_e), with p_e = T/(q(q − 1)) · Σπ(1 − π).

    Gwet 2008 (British Journal of Mathematical and Statistical Psychology 61). T is the sum of the q × q weights of
    agreement, π the mean share of each grade. Where nearly all items have one grade, kappa is near 0 however much the
    judges agree; AC is not. It depends on how many grades the scale has, used or not. None where no item has two grades
    or the scale has one grade.

    Parameters
    ----------
    counts: shape (units, q), see `grade_counts`, or `table_counts` for two judges.

    Raises
    ------
    UnknownNameError: other weights. UsageError: counts of another shape.

    >>> round(gwet_ac(grade_counts([[0, 0]] * 9 + [[0, 1]], [0, 1]), [0, 1]), 4)
    0.8895
    """
    scale = checked_scale(grades)
    table = checked_counts(counts, scale.size)
    distances = grade_distances(grades, weights, scale.size)
    judges = table.sum(axis=1)
    paired = table[judges >= 2]
    if not len(paired) or scale.size < 2:
        return None
    agreement = 1 - distances / distances.max()
    several = paired.sum(axis=1)
    pairs = (paired * (paired @ agreement - 1)).sum(axis=1) / (several * (several - 1))
    shares = (table[judges > 0] / judges[judges > 0, None]).mean(axis=0)
    q = scale.size
    expected = float(agreement.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum())
    return finite_or_none((float(pairs.mean()) - expected) / (1 - expected)) if expected < 1 else None


def kappas(tables: Floats, distances: Floats) -> Floats:
    """Kappa of each table of a stack, NaN where it has none.

    Parameters
    ----------
    tables: shape (tables, k, k). distances: see `grade_distances`.

    >>> kappas(np.array([[[20.0, 5.0], [10.0, 15.0]]]), grade_distances(None, "none", 2)).round(3).tolist()
    [0.4]
    """
    n = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    chance = (expected * distances).sum(axis=(1, 2))
    seen = (tables * distances).sum(axis=(1, 2)) * n
    ratio: Floats = np.divide(seen, chance, out=np.full(len(n), np.nan), where=chance > 0)
    return 1 - ratio


def _standard_error(shares: Floats, distances: Floats, kappa: float) -> float:
    """√n times the standard error of kappa, from the observed shares (Fleiss, Cohen & Everitt 1969)."""
    agreement = 1 - distances / distances.max()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float((np.outer(rows, columns) * agreement).sum())
    by_row, by_column = agreement @ columns, agreement.T @ rows
    off = agreement - (by_row[:, None] + by_column[None, :]) * (1 - kappa)
    variance = float((shares * off**2).sum()) - (kappa - expected * (1 - kappa)) ** 2
    # Below what rounding leaves of a variance of 0.
    return math.sqrt(variance) / (1 - expected) if variance > 1e-12 else 0.0


def resampled_sums(
    parts: Floats, rng: np.random.Generator, resamples: int, value: Callable[[Floats], Floats]
) -> Floats:
    """The value of each of `resamples` sums of as many parts drawn with replacement; `value` takes a stack of sums.

    >>> resampled_sums(np.ones((3, 1)), np.random.default_rng(1), 2, lambda sums: sums[:, 0]).tolist()
    [3.0, 3.0]
    """
    if resamples < 1:
        raise UsageError(f"resamples {resamples} is below 1")
    n = parts.shape[0]
    flat = parts.reshape(n, -1)
    at_once = max(1, AT_ONCE // max(n, flat.shape[1]))
    done: list[Floats] = []
    for start in range(0, resamples, at_once):
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=min(at_once, resamples - start))
        done.append(value((drawn @ flat).reshape(-1, *parts.shape[1:])))
    return np.concatenate(done)


def percentile_interval(estimate: float, draws: Floats, level: float, n: int) -> Interval:
    """The interval between quantiles of the resamples; without ends, and with the reason, where they say nothing.

    The percentile interval is too narrow for few queries, by about √((n − 1)/n)·z/t; so the quantiles are not those at
    (1 ± level)/2 but at Φ(±t·√(n/(n − 1))), t Student's on n − 1 (Hesterberg 2015, The American Statistician 69,
    "expanded"). On 20 queries .937 of such 95 % intervals held quadratic kappa where .913 of the plain ones did.

    >>> percentile_interval(1.0, np.ones(100), 0.95, 5).reason
    'no spread: all values equal'
    """
    check_level(level)
    there = draws[~np.isnan(draws)]
    reason = None
    if n < LEAST_QUERIES:
        reason = TOO_FEW_QUERIES
    elif draws.size - there.size > UNDEFINED_SHARE * draws.size:
        reason = OFTEN_UNDEFINED
    elif np.ptp(there) < 1e-12:
        reason = NO_SPREAD
    if reason:
        return Interval(estimate, None, None, level, "bootstrap", n, reason)
    tail = normal_tail(t_quantile(0.5 + level / 2, n - 1) * math.sqrt(n / (n - 1)))
    low, high = np.quantile(there, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), level, "bootstrap", n)


def grade_distances(grades: Sequence[float] | None, weights: str, k: int) -> Floats:
    """How far any two of the k grades are apart under the weights, shape (k, k); without grades those are 0 to k − 1.

    Raises
    ------
    UnknownNameError: other weights. UsageError: not k grades in ascending order.

    >>> grade_distances([0, 1, 3], "quadratic", 3).tolist()
    [[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]
    """
    if weights not in WEIGHTS:
        raise UnknownNameError("weights", weights, WEIGHTS)
    scale = checked_scale(range(k) if grades is None else grades)
    if scale.size != k:
        raise UsageError(f"{scale.size} grades for a table of {k} by {k}")
    apart = np.abs(scale[:, None] - scale[None, :])
    return np.asarray({"none": apart > 0, "linear": apart, "quadratic": apart**2}[weights], dtype=np.float64)


def checked_scale(grades: Sequence[float]) -> Floats:
    """The grades of a scale, ascending.

    Raises
    ------
    UsageError: no grade, one that is no finite number, or an order that does not ascend.
    """
    scale = np.asarray(grades, dtype=np.float64)
    if scale.ndim != 1 or not np.isfinite(scale).all() or not (np.diff(scale) > 0).all() or not scale.size:
        raise UsageError("the scale is a list of different grades in ascending order")
    return scale


def _places(values: npt.ArrayLike, scale: Floats) -> npt.NDArray[np.intp]:
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    places = np.searchsorted(scale, given).clip(max=scale.size - 1)
    off = given[scale[places] != given]
    if off.size:
        raise UsageError(f"grade {off[0]:g} is not on the scale {', '.join(f'{g:g}' for g in scale)}")
    return places


def _square(table: npt.ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if (
        counts.ndim != 2
        or counts.shape[0] != counts.shape[1]
        or not np.isfinite(counts).all()
        or (counts < 0).any()
    ):
        raise UsageError("needs a square table of counts")
    return counts


def checked_counts(counts: npt.ArrayLike, k: int) -> npt.NDArray[np.int64]:
    """A table of counts with a row an item and a column a grade.

    Raises
    ------
    UsageError: another shape, or a count below 0.
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] != k or (table < 0).any():
        raise UsageError(f"needs a table of counts with a row an item and {k} columns")
    return table.astype(np.int64)


def finite_or_none(value: float) -> float | None:
    """The value as a plain number; None where it is not finite."""
    return float(value) if math.isfinite(value) else None
