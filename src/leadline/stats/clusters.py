"""The mean of clustered values (similar queries, one user, one document): its interval and what clustering costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.intervals import LEVEL, NO_SPREAD, NO_TRIALS, Floats, Interval
from leadline.stats.paired import check_level, finite_row
from leadline.stats.student import t_quantile
from leadline.stats.tests import TIE, cluster_codes

KINDS = ("CR2", "CR1")
TOO_FEW_CLUSTERS = "clusters<2"
NO_SPREAD_BETWEEN = "no spread between clusters"


@dataclass(frozen=True)
class ClusterInterval:
    """The interval of a mean of clustered values, with what the clusters did to it.

    Attributes
    ----------
    interval: of the mean over items; its n counts the items, its method is `CR2` or `CR1`.
    clusters: how many there are.
    df: the degrees of freedom of Student's t behind the interval, from 1 to clusters − 1; NaN below two clusters.
        Below some 10 the interval leans on few clusters.
    n_effective: n ÷ design effect: how many independent items would tell as much; NaN without items.
    icc: the intraclass correlation, −1 to 1, as estimated (`intraclass_correlation`); None where it has no estimate.
    design_effect: from 1 up, NaN without items (`design_effect`); a negative icc counts as 0, a missing one as 1 unless every
        cluster has one item: then the design effect is 1.
    """

    interval: Interval
    clusters: int
    df: float
    n_effective: float
    icc: float | None
    design_effect: float


def cluster_mean(
    differences: npt.ArrayLike,
    clusters: Sequence[Any] | npt.NDArray[Any],
    kind: str = "CR2",
    level: float = LEVEL,
) -> ClusterInterval:
    """The mean over items with a cluster-robust interval: mean ± t(df)·√V.

    With S_g the sum of cluster g's deviations from the mean and π_g its share of the N items:
    CR2 (Bell & McCaffrey 2002): V = Σ S_g²/(1 − π_g) / N², which is unbiased for independent items, and
    Satterthwaite's df = 1/(Σπ_g² + Σ_{g≠h} b_g b_h), b_g = π_g²/(1 − π_g): what Pustejovsky & Tipton (2018)
    give for a mean under independent items. With clusters of one size df = G − 1.
    CR1 (Liang & Zeger 1986 × G/(G − 1)): V = G/(G − 1) · ΣS_g²/N², df = G − 1; it covers too little where one
    cluster holds much of the items.

    Parameters
    ----------
    differences: shape (n,), finite, in the measure's units. Items weigh the same, whatever their cluster's size.
    clusters: n labels of any kind, none missing.
    kind: `CR2` or `CR1`.
    level: between 0 and 1.

    Below two clusters, or where the values or the clusters have no spread, the interval has no ends and a reason.

    Raises
    ------
    UsageError: another shape, values that are not finite, labels missing or not one a value, a kind that is not
        known, or a level that is not between 0 and 1.

    >>> answer = cluster_mean([0.1, 0.2, 0.15, -0.1, 0.0, 0.3, 0.25, 0.2, 0.35, -0.05], list("aaabbccccd"))
    >>> round(answer.interval.low, 3), round(answer.interval.high, 3), round(answer.df, 3)
    (-0.171, 0.451, 2.392)
    """
    row = finite_row(differences)
    check_level(level)
    if kind not in KINDS:
        raise UnknownNameError("kind of cluster variance", kind, KINDS)
    codes = cluster_codes(clusters, row.size)
    if row.size == 0:
        nothing = Interval(None, None, None, level, kind, 0, NO_TRIALS)
        return ClusterInterval(nothing, 0, math.nan, math.nan, None, math.nan)
    sizes = np.bincount(codes).astype(np.float64)
    icc = intraclass_correlation(row, clusters)
    effect = design_effect(sizes, 1.0 if icc is None else max(icc, 0.0))
    shares = sizes / row.size
    df = math.nan if sizes.size < 2 else _satterthwaite(shares) if kind == "CR2" else sizes.size - 1.0
    interval = _interval(row, codes, shares, kind, level, df)
    return ClusterInterval(interval, sizes.size, df, row.size / effect, icc, effect)


def _interval(
    row: Floats, codes: npt.NDArray[np.intp], shares: Floats, kind: str, level: float, df: float
) -> Interval:
    mean = float(row.mean())
    answer = Interval(mean, None, None, level, kind, row.size)
    if shares.size < 2:
        return Interval(mean, None, None, level, kind, row.size, TOO_FEW_CLUSTERS)
    if row.min() == row.max():
        return Interval(mean, None, None, level, kind, row.size, NO_SPREAD)
    sums = np.bincount(codes, weights=row - mean)
    if np.all(np.abs(sums) <= TIE * np.bincount(codes, weights=np.abs(row))):
        return Interval(mean, None, None, level, kind, row.size, NO_SPREAD_BETWEEN)
    factor: Floats | float
    factor = 1 / (1 - shares) if kind == "CR2" else shares.size / (shares.size - 1)
    largest = float(np.abs(sums).max())
    error = largest * math.sqrt(float(((sums / largest) ** 2 * factor).sum())) / row.size
    half = t_quantile(0.5 + level / 2, df) * error
    return Interval(answer.estimate, mean - half, mean + half, level, kind, row.size)


def _satterthwaite(shares: Floats) -> float:
    """The degrees of freedom of CR2 for a mean; at least 1 by algebra, which rounding could undercut."""
    b = shares**2 / (1 - shares)
    return max(1.0, 1 / float((shares**2).sum() + b.sum() ** 2 - (b**2).sum()))


def intraclass_correlation(values: npt.ArrayLike, clusters: Sequence[Any] | npt.NDArray[Any]) -> float | None:
    """The one-way random intraclass correlation, ICC(1,1), by analysis of variance (Shrout & Fleiss 1979).

    (B − W)/(B + (m − 1)W) with the mean squares between (G − 1) and within (N − G) clusters and, for unequal
    sizes, m = (N − Σn_g²/N)/(G − 1) (Donner 1986). It may be negative, where the items of a cluster differ more than
    those of different ones. None below two clusters, where no cluster has two items, or where all values are equal.

    Parameters
    ----------
    values: shape (n,), finite.
    clusters: n labels.

    Raises
    ------
    UsageError: another shape, values that are not finite, or labels missing or not one a value.

    >>> intraclass_correlation([1.0, 1.0, 2.0, 2.0], ["a", "a", "b", "b"])
    1.0
    """
    row = finite_row(values)
    codes = cluster_codes(clusters, row.size)
    if row.size == 0 or row.min() == row.max():
        return None
    sizes = np.bincount(codes).astype(np.float64)
    groups = sizes.size
    if groups < 2 or groups == row.size:
        return None
    # The correlation has no unit; in their own, the squares of tiny values would vanish.
    off = row / np.abs(row).max()
    off -= off.mean()
    means = np.bincount(codes, weights=off) / sizes
    between = float((sizes * means**2).sum()) / (groups - 1)
    within = float(((off - means[codes]) ** 2).sum()) / (row.size - groups)
    m = (row.size - float((sizes**2).sum()) / row.size) / (groups - 1)
    return (between - within) / (between + (m - 1) * within)


def design_effect(sizes: npt.ArrayLike, icc: float) -> float:
    """By how much clustering multiplies the variance of a mean over items: 1 + (Σn_g²/N − 1)·icc (Kish 1965).

    With clusters of one size m it is 1 + (m − 1)·icc; N ÷ it is the effective number of items.

    Parameters
    ----------
    sizes: shape (G,), the items of each cluster, above 0.
    icc: −1 to 1.

    Raises
    ------
    UsageError: no cluster, a size that is not above 0, or a correlation outside [−1, 1].

    >>> design_effect([5, 5, 5], 0.2)
    1.8
    """
    counts = finite_row(sizes)
    if counts.size == 0 or counts.min() <= 0:
        raise UsageError("cluster sizes must be above 0, and there must be one")
    if not -1 <= icc <= 1:
        raise UsageError(f"intraclass correlation {icc} is not between -1 and 1")
    return 1 + (float((counts**2).sum() / counts.sum()) - 1) * icc
