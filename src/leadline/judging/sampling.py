"""A stratified sample of a pool: which pairs to judge, drawn by chance, each with the probability it had.

Only such a sample keeps estimates of the whole pool honest (xinfAP, infNDCG): what is drawn must not depend on what
was found. So the order in which the drawn pairs are judged is random as well: stopped anywhere, what is judged is a
smaller random sample of each stratum.
"""

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from leadline.errors import UsageError
from leadline.judging.pool import Pool, PoolPair, is_judged
from leadline.tables import Qrels

RATE = re.compile(r"\s*(?P<first>\d+)\s*(?:[-–]\s*(?P<last>\d+))?\s*=\s*(?P<rate>[0-9.]+)\s*")
"""One stratum as it is asked for: `11-50=.3`, or `1=1` for a single rank."""


@dataclass(frozen=True)
class Stratum:
    """Pairs whose best rank is from `first` to `last`, of which a share `rate` is drawn from each query."""

    first: int
    last: int
    rate: float

    @property
    def name(self) -> str:
        """The ranks, such as `11-50`."""
        return f"{self.first}-{self.last}"


def read_rates(text: str) -> tuple[Stratum, ...]:
    """The strata of `1-10=1,11-50=.3,51-100=.05`: they begin at rank 1 and leave no rank out.

    Raises
    ------
    UsageError: the text has another form, a rate is not above 0 and at most 1, or ranks are missing or met twice.

    >>> [(one.name, one.rate) for one in read_rates("1-10=1,11-50=.3")]
    [('1-10', 1.0), ('11-50', 0.3)]
    """
    strata: list[Stratum] = []
    for part in text.split(","):
        match = RATE.fullmatch(part)
        try:
            rate = float(match["rate"]) if match else math.nan
        except ValueError:
            rate = math.nan
        if match is None or math.isnan(rate):
            raise UsageError(f"--rates {part.strip()!r} has not the form 11-50=.3 (ranks = share to judge)")
        first, last = int(match["first"]), int(match["last"] or match["first"])
        wanted = strata[-1].last + 1 if strata else 1
        if first != wanted or last < first:
            raise UsageError(
                f"--rates {part.strip()!r}: this stratum begins at rank {wanted} and ends there or below"
            )
        if not 0 < rate <= 1:
            raise UsageError(
                f"--rates {part.strip()!r}: a rate is above 0 and at most 1; 0 would leave ranks out"
            )
        strata.append(Stratum(first, last, rate))
    return tuple(strata)


@dataclass(frozen=True)
class Sample:
    """A drawn sample of a pool.

    Attributes
    ----------
    pool: what it was drawn from. strata: as asked. seed: of the draw.
    rows: a frame `at` (row of `pool.pairs`), `stratum`, `probability`, `drawn`, `turn` (the random order of judging).
    """

    pool: Pool
    strata: tuple[Stratum, ...]
    seed: int
    rows: pl.DataFrame

    @classmethod
    def draw(cls, pool: Pool, strata: Sequence[Stratum], seed: int = 0) -> "Sample":
        """Draw from each query's stratum, without replacement, its rate of pairs to the nearest, and at least one.

        The probability of a pair is the number drawn ÷ the number there are. A query's draw depends only on the
        seed, its id and its pairs. Judgments play no part.
        Source: simple random sampling within strata, Cochran 1977, chapter 5; strata by rank: Yilmaz, Kanoulas &
        Aslam 2008.
        """
        parts = []
        for stratum in strata:
            inside = pool.pairs.filter(pl.col("best").is_between(stratum.first, stratum.last))
            for (query,), group in inside.group_by("query", maintain_order=True):
                # By document id, so that the draw does not hang on how the systems ranked.
                at = group.sort("doc_id")["at"].to_list()
                count = max(1, math.floor(stratum.rate * len(at) + 0.5))
                mixed = _generator(seed, pool.query_ids[int(str(query))], stratum.name).permutation(len(at))
                chosen = set(mixed[:count].tolist())
                parts.append(
                    pl.DataFrame(
                        {
                            "at": at,
                            "stratum": [stratum.name] * len(at),
                            "probability": [count / len(at)] * len(at),
                            "drawn": [place in chosen for place in range(len(at))],
                        }
                    )
                )
        rows = pl.concat(parts).sort("at")
        turn = np.random.default_rng(seed).permutation(rows.height)
        return cls(pool, tuple(strata), seed, rows.with_columns(turn=pl.Series(turn, dtype=pl.Int64)))

    def to_judge(self) -> list[PoolPair]:
        """The drawn pairs that are not judged yet, in random order."""
        rows = self._with_grades().filter(pl.col("drawn") & ~is_judged()).sort("turn")
        pairs = self.pool.listed(rows["at"].to_list())
        how = rows.select("probability", "stratum").iter_rows()
        return [
            replace(pair, probability=probability, stratum=stratum)
            for pair, (probability, stratum) in zip(pairs, how, strict=True)
        ]

    def qrels(self) -> Qrels:
        """The whole pool as judgments: a drawn pair has its grade where it has one, every other pair −1.

        A judged pair that was not drawn loses its grade: nobody knows with what probability it came to be judged.
        """
        rows = self._with_grades()
        known = pl.col("drawn") & is_judged()
        frame = rows.select(
            query_id=pl.Series(
                [self.pool.query_ids[query] for query in rows["query"].to_list()], dtype=pl.String
            ),
            doc_id="doc_id",
            grade=pl.when(known).then("grade").otherwise(-1.0),
            stratum="stratum",
            probability="probability",
        )
        return Qrels(frame, source="sampled pool")

    def counts(self) -> list[dict[str, Any]]:
        """Of each stratum: its ranks and rate, and how many pairs are pooled, drawn, and judged of those drawn.

        `left_out` are judged pairs that were not drawn.
        """
        rows = self._with_grades()
        found: list[dict[str, Any]] = []
        for one in self.strata:
            own = rows.filter(pl.col("stratum") == one.name)
            drawn = own.filter("drawn")
            found.append(
                {
                    "stratum": one.name,
                    "rate": one.rate,
                    "pooled": own.height,
                    "drawn": drawn.height,
                    "judged": drawn.filter(is_judged()).height,
                    "left_out": own.filter(is_judged() & ~pl.col("drawn")).height,
                }
            )
        return found

    def _with_grades(self) -> pl.DataFrame:
        return self.rows.join(self.pool.pairs, on="at", how="left", maintain_order="left")


def _generator(seed: int, query_id: str, stratum: str) -> "np.random.Generator":
    """The generator of one query's stratum, whatever else is in the pool."""
    digest = hashlib.sha256(f"{query_id}\0{stratum}".encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], np.uint32).tolist()])
