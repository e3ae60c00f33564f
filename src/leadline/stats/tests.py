"""Tests of one mean difference over the same queries: randomisation, Student's t, McNemar's mid-p."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import NO_SPREAD, NO_TRIALS, TOO_FEW, Floats
from leadline.stats.paired import finite_row

DRAWS = 10_000
EXACT_UP_TO = 20
"""Up to this many non-zero differences all 2^n assignments of signs are enumerated: half a million of them."""

ALL_ZERO = "all differences are 0"
TIE = 100 * float(np.finfo(np.float64).eps)
"""Two sums that differ by less than this share of Σ|d| are tied: their digits beyond it are rounding.

SciPy takes the share of |Σd|, which is smaller: where Σd nearly cancels, it is below the rounding of the sums
themselves, and assignments that tie with the observed one are missed (p too small).
"""

SIGNS_AT_ONCE = 8
"""Signs are drawn a byte at a time, and each byte looks up the sum of its eight signed differences."""

VALUES_AT_ONCE = 1 << 11
"""For how many differences the tables of sums are held at a time: half a megabyte of them."""


@dataclass(frozen=True)
class TestResult:
    """A two-sided test of one mean difference.

    Attributes
    ----------
    p: from 0 to 1; None where it could not be computed, and `reason` says why.
    statistic: sign-flip: the mean difference; t: Student's t; McNemar: the smaller of wins and losses. None
        where there is none.
    method: `t`, `sign-flip (exact)`, `sign-flip`, `sign-flip by cluster (exact)`, `sign-flip by cluster`,
        `mcnemar mid-p`.
    n: how many differences went in; by cluster: how many clusters; McNemar: wins + losses.
    n_nonzero: how many of those are not 0. Below 6 the two-sided sign-flip test cannot reach .05.
    draws: how many assignments of signs were drawn; None where nothing was drawn.
    reason: why p is None, or 1 by definition; else None.
    """

    __test__: ClassVar[bool] = False  # else pytest takes the class for a group of tests

    p: float | None
    statistic: float | None
    method: str
    n: int
    n_nonzero: int
    draws: int | None = None
    reason: str | None = None


def paired_t_test(differences: npt.ArrayLike) -> TestResult:
    """Student's paired t-test (Student 1908): t = mean/(sd/√n) on n − 1 degrees of freedom, two-sided.

    Differences that are all 0 have p = 1. A constant other than 0 has no p: a spread of exactly 0 says that the
    method has nothing to go by, not that the mean is certain; nor has a single difference.

    Parameters
    ----------
    differences: shape (n,), one a query; finite.

    Raises
    ------
    UsageError: another shape, or values that are not finite.

    >>> result = paired_t_test([0.0, 0.5, 1.0])
    >>> round(result.statistic, 4), round(result.p, 4)
    (1.7321, 0.2254)
    """
    row = finite_row(differences)
    nonzero = int(np.count_nonzero(row))
    if row.size == 0:
        return TestResult(None, None, "t", 0, 0, reason=NO_TRIALS)
    if nonzero == 0:
        return TestResult(1.0, None, "t", row.size, 0, reason=ALL_ZERO)
    if row.size == 1 or row.min() == row.max():
        reason = TOO_FEW if row.size == 1 else NO_SPREAD
        return TestResult(None, None, "t", row.size, nonzero, reason=reason)
    from scipy.special import stdtr

    # t has no unit; in their own, the squares of tiny differences would vanish and those of huge ones overflow.
    row = row / np.abs(row).max()
    t = float(row.mean()) / (float(row.std(ddof=1)) / math.sqrt(row.size))
    return TestResult(2 * float(stdtr(row.size - 1, -abs(t))), t, "t", row.size, nonzero)


def sign_flip_test(
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    draws: int = DRAWS,
    clusters: Sequence[Any] | npt.NDArray[Any] | None = None,
) -> TestResult:
    """The randomisation test of paired differences: how often random signs reach the observed |Σd| (Fisher 1935).

    Exact up to 20 non-zero differences, p = the share of the 2^n assignments; beyond, p = (b + 1)/(draws + 1)
    with b of the drawn assignments at least as far out (Davison & Hinkley 1997, chapter 4; Phipson & Smyth 2010), so
    that p is never 0. Zeros change no assignment and are left out of the enumeration. Sums that differ by less
    than rounding (`TIE`) are tied, and a tie counts. With clusters the signs flip by cluster: what stands for
    a difference is then the sum of a cluster's.

    Parameters
    ----------
    differences: shape (n,), one a query; finite.
    rng: the source of the signs; not used where the test is exact.
    draws: how many assignments are drawn.
    clusters: n labels, one a query, or None.

    Raises
    ------
    UsageError: another shape, values that are not finite, fewer than 1 draw, or labels that are missing or not
        one a difference.

    >>> sign_flip_test([0.1, 0.2, 0.3, 0.0], np.random.default_rng(1)).p
    0.25
    """
    row = finite_row(differences)
    if draws < 1:
        raise UsageError(f"draws {draws} is below 1")
    name = "sign-flip" if clusters is None else "sign-flip by cluster"
    units = row if clusters is None else _cluster_sums(row, cluster_codes(clusters, row.size))
    if row.size == 0:
        return TestResult(None, None, f"{name} (exact)", 0, 0, reason=NO_TRIALS)
    mean = float(row.mean())
    moved = units[units != 0]
    if moved.size == 0:
        reason = ALL_ZERO if not row.any() else "all clusters' sums are 0"
        return TestResult(1.0, mean, f"{name} (exact)", units.size, 0, reason=reason)
    reach = abs(math.fsum(moved)) - TIE * math.fsum(np.abs(moved))
    if moved.size <= EXACT_UP_TO:
        # An assignment and its mirror image reach equally far: the first sign is fixed.
        sums = moved[0] + _signed_sums(moved[1:])
        p = float(np.count_nonzero(np.abs(sums) >= reach)) / sums.size
        return TestResult(p, mean, f"{name} (exact)", units.size, moved.size)
    reached = int(np.count_nonzero(np.abs(_drawn_sums(moved, rng, draws)) >= reach))
    return TestResult((reached + 1) / (draws + 1), mean, name, units.size, moved.size, draws)


def _signed_sums(values: Floats) -> Floats:
    """The sums of the values, shape (n, …), under all 2^n assignments of signs, shape (2^n, …)."""
    sums = np.zeros((1, *values.shape[1:]))
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _drawn_sums(values: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The sums of the values under random signs, shape (draws,), always added in the same order."""
    sums = np.zeros(draws)
    for start in range(0, values.size, VALUES_AT_ONCE):
        part = values[start : start + VALUES_AT_ONCE]
        # Zeros fill the last group: a sign more or less on them changes no sum.
        groups = np.append(part, np.zeros(-part.size % SIGNS_AT_ONCE)).reshape(-1, SIGNS_AT_ONCE)
        for table in np.ascontiguousarray(_signed_sums(groups.T).T):
            sums += table.take(np.frombuffer(rng.bytes(draws), dtype=np.uint8))
    return sums


def _cluster_sums(row: Floats, codes: npt.NDArray[np.intp]) -> Floats:
    """The sum of each cluster's differences; 0 where they cancel but for rounding."""
    sums = np.bincount(codes, weights=row)
    return np.where(np.abs(sums) <= TIE * np.bincount(codes, weights=np.abs(row)), 0.0, sums)


def cluster_codes(clusters: Sequence[Any] | npt.NDArray[Any], n: int) -> npt.NDArray[np.intp]:
    """The labels as numbers from 0 in the order of their first appearance, shape (n,).

    Raises
    ------
    UsageError: not n labels, or one that is missing (None or NaN).

    >>> cluster_codes(["u2", "u1", "u2"], 3).tolist()
    [0, 1, 0]
    """
    labels = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(labels) != n:
        raise UsageError(f"{len(labels)} cluster labels for {n} differences: one a difference is needed")
    seen: dict[Any, int] = {}
    codes = np.empty(n, dtype=np.intp)
    for place, label in enumerate(labels):
        if label is None or label != label:
            raise UsageError(f"the cluster label at place {place} (from 0) is missing")
        codes[place] = seen.setdefault(label, len(seen))
    return codes


def mcnemar_test(wins: int, losses: int) -> TestResult:
    """McNemar's test by its mid-p, for yes/no measures: 2 P(X < k) + P(X = k), X ~ Bin(wins + losses, ½), k the fewer.

    The mid-p form (Fagerland, Lydersen & Laake 2013) is less conservative than the exact test and keeps its level
    in nearly all cases. Queries on which both systems agree do not enter. Without a win or loss p = 1.

    Parameters
    ----------
    wins, losses: the queries right in the second system only, and in the first only; from 0.

    Raises
    ------
    UsageError: counts below 0.

    >>> round(mcnemar_test(9, 3).p, 6), mcnemar_test(4, 4).p
    (0.092285, 1.0)
    """
    if min(wins, losses) < 0:
        raise UsageError(f"{wins} wins and {losses} losses: counts are not below 0")
    trials, fewer = wins + losses, min(wins, losses)
    if trials == 0:
        return TestResult(1.0, 0.0, "mcnemar mid-p", 0, 0, reason=ALL_ZERO)
    from scipy.special import bdtr

    below = float(bdtr(fewer - 1, trials, 0.5)) if fewer else 0.0
    p = 1.0 if wins == losses else below + float(bdtr(fewer, trials, 0.5))
    return TestResult(p, float(fewer), "mcnemar mid-p", trials, trials)
