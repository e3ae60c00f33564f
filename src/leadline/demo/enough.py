"""How many queries are enough: how often simulated sets of each size show a difference that is known to be there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.student import normal_quantile, t_quantile

LEVEL = 0.95
POWER = 0.8
DRAWS_AT_ONCE = 1 << 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """What becomes of sets of `n` queries: shares from 0 to 1 of the simulated sets.

    `right`: the t interval of the mean difference excludes zero on the side of the true one. `wrong`: it excludes
    zero on the other side. `exaggeration`: how many times the true difference the found one is, on average over the
    sets whose interval excludes zero (Gelman & Carlin 2014, type M); None where there is no such set. `sets` is how
    many sets were drawn.
    """

    n: int
    right: float
    wrong: float
    exaggeration: float | None
    sets: int


@dataclass(frozen=True)
class Enough:
    """The number of queries at which the interval excludes zero in `power` of the sets, and its range.

    The range comes from how well the difference is known from the simulated queries; `high` is None where that
    leaves no limit, and `n` is None where the true difference is 0.
    """

    n: int | None
    low: int | None
    high: int | None
    power: float
    difference: float
    sd: float
    simulated: int


def excluding_shares(
    differences: npt.ArrayLike, sizes: Sequence[int], sets: int, rng: np.random.Generator
) -> list[Share]:
    """How often the 95 % t interval of the mean difference excludes zero, for each number of queries.

    Each set is drawn with replacement from the differences, which should be many more than the largest size: their
    mean is taken as the true difference. A set without spread has no interval, so it excludes nothing.

    Raises
    ------
    UsageError: fewer than two differences, one that is not finite, a size below 2, or no sets.

    >>> found = excluding_shares([0.4, 0.5, 0.6, 0.7], [10], 50, np.random.default_rng(1))[0]
    >>> found.right, found.wrong
    (1.0, 0.0)
    """
    row = _row(differences)
    if sets < 1 or min(sizes, default=2) < 2:
        raise UsageError("shares need at least one set, of at least two queries")
    true = float(row.mean())
    shares = []
    for n in sizes:
        critical = t_quantile(0.5 + LEVEL / 2, n - 1)
        found, rows = [], max(1, DRAWS_AT_ONCE // n)
        for start in range(0, sets, rows):
            drawn = row[rng.integers(0, row.size, (min(rows, sets - start), n))]
            mean, half = drawn.mean(axis=1), critical * drawn.std(axis=1, ddof=1) / math.sqrt(n)
            spread = drawn.min(axis=1) < drawn.max(axis=1)
            found.append(mean[spread & (np.abs(mean) > half)])
        means = np.concatenate(found)
        # Where nothing differs there is no right side: every exclusion is wrong.
        right = int((means * true > 0).sum())
        exaggeration = float(np.abs(means).mean() / abs(true)) if means.size and true else None
        shares.append(Share(n, right / sets, (means.size - right) / sets, exaggeration, sets))
    return shares


def enough_queries(differences: npt.ArrayLike, power: float = POWER) -> Enough:
    """How many queries until the 95 % interval excludes zero with that power, by the normal distribution.

    n = ((z₁ + z₂) · sd / difference)², z₁ = .975 and z₂ = power quantile (Cohen 1988, 2.4; Lachin 1981). Mean and
    sd are those of the given differences, which are many, simulated, and so as good as true; the range takes the
    ends of the mean's own 95 % interval.

    Raises
    ------
    UsageError: fewer than two differences, one that is not finite, or not .05 < power < 1.

    >>> enough_queries([0.0, 0.2] * 5000).n                       # ((1.96 + 0.84) · 0.1 / 0.1)² = 7.85
    8
    """
    if not 1 - LEVEL < power < 1:
        raise UsageError(f"power {power} is not between {1 - LEVEL:.2f} and 1")
    row = _row(differences)
    mean, sd = float(row.mean()), float(row.std(ddof=1))
    z = normal_quantile(0.5 + LEVEL / 2)
    half = z * sd / math.sqrt(row.size)

    def size(difference: float) -> int | None:
        if difference <= 0:
            return None
        return max(2, math.ceil(((z + normal_quantile(power)) * sd / difference) ** 2))

    n, low, high = (size(abs(mean) + shift) for shift in (0.0, half, -half))
    return Enough(n, low, high, power, mean, sd, row.size)


def _row(differences: npt.ArrayLike) -> Floats:
    row = np.asarray(differences, dtype=np.float64)
    if row.ndim != 1 or row.size < 2 or not np.isfinite(row).all():
        raise UsageError("differences: at least two finite numbers in a row are needed")
    return row
