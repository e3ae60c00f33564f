"""How many relevant documents are still missing: estimates from how often the systems find the same ones.

They are the ecologist's: animals caught in several traps. Systems are no independent traps, as all find what is
easy to find, so the estimates are too low: said as "at least", and never used to correct a score.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from leadline.judging.orders import RELEVANT
from leadline.judging.pool import Pool


def lincoln_petersen(first: int, second: int, both: int) -> float | None:
    """first·second ÷ both: how many there are, if two independent systems find `first` and `second`, `both` of them shared.

    None where nothing is shared. Source: Lincoln 1930; Petersen 1896.

    >>> lincoln_petersen(200, 100, 40)
    500.0
    """
    return first * second / both if both else None


def chapman(first: int, second: int, both: int) -> float:
    """(first + 1)(second + 1)/(both + 1) − 1: the same with little bias, and defined where nothing is shared.

    Source: Chapman 1951.

    >>> round(chapman(200, 100, 40), 4)
    494.1463
    """
    return (first + 1) * (second + 1) / (both + 1) - 1


def chapman_variance(first: int, second: int, both: int) -> float:
    """(n₁ + 1)(n₂ + 1)(n₁ − m)(n₂ − m) ÷ ((m + 1)²(m + 2)), the variance of Chapman's estimate. Source: Seber 1970.

    >>> round(chapman_variance(200, 100, 40), 4)
    2760.3977
    """
    spread = (first + 1) * (second + 1) * (first - both) * (second - both)
    return spread / ((both + 1) ** 2 * (both + 2))


@dataclass(frozen=True)
class Chao:
    """Lower bounds of how many there are, from how many exactly one and exactly two systems found.

    Attributes
    ----------
    classic: S + f₁²/2f₂ (Chao 1984), None where f₂ is 0. bias_corrected: S + f₁(f₁ − 1)/2(f₂ + 1).
    incidence: S + (t − 1)/t·f₁²/2f₂ over t systems (Chao 1987), None where f₂ is 0.
    incidence_bias_corrected: S + (t − 1)/t·f₁(f₁ − 1)/2(f₂ + 1), the one that is reported.
    """

    classic: float | None
    bias_corrected: float
    incidence: float | None
    incidence_bias_corrected: float

    @classmethod
    def of(cls, observed: int, once: int, twice: int, systems: int) -> "Chao":
        """The bounds, from S `observed`, f₁ `once`, f₂ `twice` and t `systems`.

        >>> found = Chao.of(50, 12, 6, 5)
        >>> found.classic, round(found.bias_corrected, 4), found.incidence
        (62.0, 59.4286, 59.6)
        """
        share = (systems - 1) / systems
        plain = once**2 / (2 * twice) if twice else None
        corrected = once * (once - 1) / (2 * (twice + 1))
        return cls(
            None if plain is None else observed + plain,
            observed + corrected,
            None if plain is None else observed + share * plain,
            observed + share * corrected,
        )


@dataclass(frozen=True)
class Missing:
    """How many relevant documents the systems found, and at least how many there are.

    Attributes
    ----------
    found: relevant documents in the pool. elsewhere: known relevant documents that no system has in its top k.
    once, twice: how many of those found exactly one and exactly two systems have. unjudged: pairs of the pool that
        are not judged, of which nothing is counted.
    chao: at least so many there are, by all systems. chapman: by the two of them that found most.
    between: those two. reason: why there is no estimate.
    """

    found: int
    elsewhere: int
    once: int
    twice: int
    unjudged: int
    chao: float | None = None
    chapman: float | None = None
    between: tuple[str, str] | None = None
    reason: str = ""

    @property
    def at_least(self) -> int | None:
        """At least so many relevant documents are known to no system, by Chao; None where there is no estimate."""
        return None if self.chao is None else round(self.chao - self.found)

    def to_dict(self) -> dict[str, Any]:
        """The estimates as they stand in the JSON report."""
        return asdict(self) | {"at_least": self.at_least}


def missing_of(pool: Pool, known_relevant: int, rel: float = RELEVANT) -> Missing:
    """The estimates for a pool, over all its queries together.

    Parameters
    ----------
    known_relevant: how many relevant documents the judgments hold, in the pool or not.
    """
    chosen = pool.pairs.filter(pl.col("grade") >= rel)
    counts = chosen["found"]
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    found, unjudged = chosen.height, pool.unjudged.height
    plain = Missing(found, known_relevant - found, once, twice, unjudged)
    if len(pool.systems) < 2:
        return replace(plain, reason="one system alone tells nothing of what it misses")
    if found == 0:
        return replace(plain, reason="no relevant document is judged in the pool")
    rows = pool.entries.join(chosen.select("at"), on="at", how="semi")
    chao = Chao.of(found, once, twice, len(pool.systems)).incidence_bias_corrected
    sets = {place: set(part["at"].to_list()) for (place,), part in rows.group_by("system")}
    # The two that found most, and not the two whose estimate is largest: that would pick the noise.
    two = sorted(sets, key=lambda place: (-len(sets[place]), place))[:2]
    if len(two) < 2:
        return replace(plain, chao=chao)
    first, second = sets[two[0]], sets[two[1]]
    both = chapman(len(first), len(second), len(first & second))
    return replace(plain, chao=chao, chapman=both, between=(pool.systems[two[0]], pool.systems[two[1]]))
