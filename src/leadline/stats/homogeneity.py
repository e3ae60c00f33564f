"""Do two judges use the grades equally often: tests of marginal homogeneity, for single pairs and by query."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import NO_TRIALS, Floats
from leadline.stats.tests import DRAWS

NO_CHANGE = "no grade changed"
NO_VARIANCE = "every change goes one way: no variance"
NO_SHIFT = "no query's grades shift"
SMALL = 1e-10
"""An eigenvalue below this share of the largest is 0 but for rounding."""
TIE = 1e-9
SIGNS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Homogeneity:
    """A test of whether old and new grades have the same shares.

    Attributes
    ----------
    statistic: from 0; None where it could not be computed. df: its rank: the grades that changed into each other, less one
        for each group of them that did so only among themselves. p: 0 to 1, None where `statistic` is.
    method: `stuart-maxwell`, `bhapkar`, `sign-flip by query` or `sign-flip by query (exact)`.
    n: items; by query: queries. shift: shape (k,), share of each grade in the new less in the old; sums to 0.
    unused: places (from 0) of the grades that neither gave; they do not enter. reason: why p is None, or 1 by definition.
    """

    statistic: float | None
    df: int
    p: float | None
    method: str
    n: int
    shift: tuple[float, ...]
    unused: tuple[int, ...]
    reason: str | None = None


def stuart_maxwell(table: npt.ArrayLike) -> Homogeneity:
    """Stuart's and Maxwell's test of marginal homogeneity (Stuart 1955; Maxwell 1970): d′V⁻¹d, chi-squared.

    d is each grade's count in the columns less that in the rows, V_ii = n_i. + n_.i − 2n_ii and V_ij = −(n_ij + n_ji).
    V is always singular, for d sums to 0; its pseudo-inverse gives what leaving out one grade gives, and also where
    grades were never used or change only within groups. For two grades it is McNemar's (b − c)²/(b + c). It takes the
    items as independent: `homogeneity_by_query` does without that.

    Parameters
    ----------
    table: shape (k, k), counts: rows by the old judge's grade, columns by the new one's, of the same items.

    Where no item changed its grade p is 1, with a reason; without items there is none.

    Raises
    ------
    UsageError: the table is not square, or holds something else than counts.

    >>> found = stuart_maxwell([[40, 8, 2, 0], [10, 15, 5, 1], [1, 6, 12, 4], [0, 1, 5, 10]])
    >>> round(found.statistic, 6), found.df, round(found.p, 4)
    (0.14546, 3, 0.9859)
    """
    return _homogeneity(table, "stuart-maxwell")


def bhapkar(table: npt.ArrayLike) -> Homogeneity:
    """Bhapkar's test of marginal homogeneity (1966): Stuart–Maxwell's S as S/(1 − S/n); more powerful, the same at large n.

    Parameters, errors and degenerate input are as in `stuart_maxwell`; where every change goes one way its variance is
    0, and there is no statistic.

    >>> round(bhapkar([[40, 8, 2, 0], [10, 15, 5, 1], [1, 6, 12, 4], [0, 1, 5, 10]]).statistic, 6)
    0.145636
    """
    return _homogeneity(table, "bhapkar")


def homogeneity_by_query(tables: npt.ArrayLike, rng: np.random.Generator, draws: int = DRAWS) -> Homogeneity:
    """Marginal homogeneity where the items of one query belong together: a sign-flip test of each query's shift.

    With d_q the shift of query q (new counts less old), the statistic is (Σd_q)′(Σd_q d_q′)⁺(Σd_q), Stuart–Maxwell's with a
    variance that is robust to what goes on within a query. If old and new are the same, either could have been called
    old: the sign of each d_q is flipped at random, and p is the share of assignments that reach the observed statistic;
    all of them where there are no more than `draws`, else (b + 1)/(draws + 1).

    Parameters
    ----------
    tables: shape (queries, k, k), one table a query as in `stuart_maxwell`.

    Raises
    ------
    UsageError: another shape, something else than counts, or fewer than 1 draw.

    >>> shifts = [[[5, 2], [0, 3]], [[4, 1], [1, 4]], [[6, 3], [0, 1]], [[2, 1], [0, 7]], [[5, 2], [1, 2]], [[4, 1], [0, 2]]]
    >>> homogeneity_by_query(shifts, np.random.default_rng(1)).p
    0.0625
    """
    every = _counts(tables, 3)
    if draws < 1:
        raise UsageError(f"draws {draws} is below 1")
    total = every.sum(axis=0)
    shift, unused = _described(total)
    name = "sign-flip by query"
    if not total.any():
        return Homogeneity(None, 0, None, name, len(every), shift, unused, NO_TRIALS)
    moved = every.sum(axis=1) - every.sum(axis=2)
    moved = moved[moved.any(axis=1)]
    if not len(moved):
        return Homogeneity(0.0, 0, 1.0, f"{name} (exact)", len(every), shift, unused, NO_SHIFT)
    inverse, df = _inverse(moved.T @ moved)
    seen = float(_forms(moved.sum(axis=0)[None], inverse)[0])
    # The observed assignment and those that tie with it count, whatever rounding did to them.
    reach = seen - TIE * max(seen, 1.0)
    exact = 2 ** (len(moved) - 1) <= draws
    if exact:
        # An assignment and its mirror image reach equally far: the first sign is fixed.
        which = np.arange(2 ** (len(moved) - 1))
        signs = 1.0 - 2 * ((which[:, None] >> np.arange(len(moved))) & 1)
        p = float(np.mean(_forms(signs @ moved, inverse) >= reach))
    else:
        p = (_reached(moved, inverse, reach, rng, draws) + 1) / (draws + 1)
    return Homogeneity(seen, df, p, f"{name} (exact)" if exact else name, len(every), shift, unused)


def _homogeneity(table: npt.ArrayLike, method: str) -> Homogeneity:
    counts = _counts(table, 2)
    n = int(counts.sum())
    shift, unused = _described(counts)
    if n == 0:
        return Homogeneity(None, 0, None, method, 0, shift, unused, NO_TRIALS)
    change = counts.sum(axis=0) - counts.sum(axis=1)
    both = counts + counts.T
    # The Laplacian of the graph of changes: its rank is the grades less the groups that change only within.
    inverse, df = _inverse(np.diag(both.sum(axis=1)) - both)
    if df == 0:
        return Homogeneity(0.0, 0, 1.0, method, n, shift, unused, NO_CHANGE)
    statistic = float(_forms(change[None], inverse)[0])
    if method == "bhapkar":
        left = 1 - statistic / n
        if left <= 1e-12:
            return Homogeneity(None, df, None, method, n, shift, unused, NO_VARIANCE)
        statistic /= left
    from scipy.special import chdtrc

    return Homogeneity(statistic, df, float(chdtrc(df, statistic)), method, n, shift, unused)


def _counts(tables: npt.ArrayLike, axes: int) -> Floats:
    every = np.asarray(tables, dtype=np.float64)
    if every.ndim != axes or every.shape[-1] != every.shape[-2]:
        raise UsageError("needs a square table" if axes == 2 else "needs one square table a query")
    if not np.isfinite(every).all() or (every < 0).any():
        raise UsageError("the tables hold something else than counts")
    return every


def _described(total: Floats) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The shift of each grade's share, and the grades that nobody gave."""
    old, new = total.sum(axis=1), total.sum(axis=0)
    shift = (new - old) / max(float(total.sum()), 1.0)
    return tuple(shift.tolist()), tuple(np.flatnonzero(old + new == 0).tolist())


def _inverse(matrix: Floats) -> tuple[Floats, int]:
    """The pseudo-inverse of a symmetric matrix without negative eigenvalues, and its rank."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > SMALL * max(float(values[-1]), 0.0)
    used = vectors[:, kept]
    answer: Floats = (used / values[kept]) @ used.T
    return answer, int(kept.sum())


def _forms(rows: Floats, inverse: Floats) -> Floats:
    """x′Mx of each row x."""
    values: Floats = ((rows @ inverse) * rows).sum(axis=1)
    return values


def _reached(moved: Floats, inverse: Floats, reach: float, rng: np.random.Generator, draws: int) -> int:
    """How many of the drawn assignments of signs reach the statistic."""
    count = 0
    at_once = max(1, SIGNS_AT_ONCE // len(moved))
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        signs = 2.0 * rng.integers(0, 2, size=(size, len(moved)), dtype=np.int8) - 1
        count += int((_forms(signs @ moved, inverse) >= reach).sum())
    return count
