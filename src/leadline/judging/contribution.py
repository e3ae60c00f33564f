"""What each system brings to a pool, and how far its score would fall had it not been in it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.errors import UnknownNameError, UsageError, printable
from leadline.gating.completions import scored
from leadline.hits import Flags, Floats, Hits, Ints, Judged
from leadline.ids import to_series
from leadline.judging.orders import RELEVANT
from leadline.judging.pool import Pool, is_judged
from leadline.measure import Measure
from leadline.ranking import rank
from leadline.tables import RunSource

SAME = 1e-12
"""Means nearer than this share a rank: the noise of floating point."""


@dataclass(frozen=True)
class Contribution:
    """What one system brings.

    Attributes
    ----------
    pairs: pairs of the pool that it returns. only: those that no other system returns. unjudged: of `pairs`, those
        not judged. relevant: judged relevant ones. only_relevant: those that no other system returns.
    """

    system: str
    pairs: int
    only: int
    unjudged: int
    relevant: int
    only_relevant: int

    def to_dict(self) -> dict[str, Any]:
        """The counts as they stand in the JSON report."""
        return asdict(self)


def contributions(pool: Pool, rel: float = RELEVANT) -> list[Contribution]:
    """The contribution of every system, in their order."""
    rows = pool.entries.join(pool.pairs, on="at", how="left")
    counted = rows.group_by("system").agg(
        pairs=pl.len(),
        only=(pl.col("found") == 1).sum(),
        unjudged=(~is_judged()).sum(),
        relevant=(pl.col("grade") >= rel).sum(),
        only_relevant=((pl.col("grade") >= rel) & (pl.col("found") == 1)).sum(),
    )
    by_system = {row["system"]: row for row in counted.iter_rows(named=True)}
    names = ("pairs", "only", "unjudged", "relevant", "only_relevant")
    return [
        Contribution(name, *(int(by_system.get(place, {}).get(key, 0)) for key in names))
        for place, name in enumerate(pool.systems)
    ]


@dataclass(frozen=True)
class LeftOut:
    """One system's score with all judgments, and without those of documents that only it brought.

    Attributes
    ----------
    together: the systems that are left out with it. documents: judged documents that only they have in the pool.
    score, without: the means of the measure.
    place, place_without: its rank among the systems (1 is the best; equal means share one), all of them scored with
        the same judgments. queries_lost: queries that keep no relevant document; they count 0 in `without`.
    """

    system: str
    documents: int
    score: float
    without: float
    place: int
    place_without: int
    queries_lost: int
    together: tuple[str, ...] = ()

    @property
    def fall(self) -> float:
        """How far the score falls."""
        return self.score - self.without

    def to_dict(self) -> dict[str, Any]:
        """The figures as they stand in the JSON report."""
        return asdict(self) | {"fall": self.fall}


def leave_one_out(
    runs: Sequence[RunSource],
    pool: Pool,
    judged: Judged,
    measure: Measure,
    rules: Conventions,
    families: Sequence[Sequence[str]] = (),
) -> list[LeftOut]:
    """How far each system's score would fall had it not been in the pool, and where it would stand.

    The judged documents that no other system has in the pool are taken out of the judgments, of the ideal rankings
    too, and all systems are scored again. A query that had a value and keeps no relevant document counts 0, so that
    both means are over the same queries. Systems of one family are left out together: variants share documents, and
    one alone would keep its own.
    Source: Zobel 1998, section 4; the usual test of whether judgments can be reused.

    Raises
    ------
    UsageError: a measure that is no mean, of which more is not better, an estimate from a sample, or of subtopics; a
    system in two families. UnknownNameError: a family names no system.
    """
    definition = measure.definition
    assert definition is not None
    if measure.of_subtopics:
        raise UsageError(f"-m {measure}: the bias of a pool is told by a measure of grades, such as nDCG@10")
    if definition.aggregate != "mean" or definition.better != "higher" or definition.sampled:
        raise UsageError(
            f"-m {measure}: the bias of a pool is told by a mean of which more is better, such as nDCG@10"
        )
    hits = [rank(run, judged, rules) for run in runs]
    whole = [scored(measure, one, rules) for one in hits]
    counted = [_counted(one, rules) & ~np.isnan(values) for one, values in zip(hits, whole, strict=True)]
    full = np.array([_mean(values, use) for values, use in zip(whole, counted, strict=True)])
    rows = _Rows.of(judged)
    family = families_of(pool.systems, families)
    found = []
    for place, name in enumerate(pool.systems):
        gone = rows.only_of(pool, family[place])
        if len(gone):
            less = rows.without(judged, gone)
            again = [_rescored(measure, one, less, gone, rules) for one in hits]
            lost = int((np.isnan(again[place]) & counted[place]).sum())
            pairs = zip(again, counted, strict=True)
            means = np.array([_mean(np.nan_to_num(values), use) for values, use in pairs])
        else:
            lost, means = 0, full
        others = tuple(pool.systems[one] for one in family[place] if one != place)
        figures = float(full[place]), float(means[place]), _place(full, place), _place(means, place)
        found.append(LeftOut(name, len(gone), *figures, lost, others))
    return found


def families_of(systems: Sequence[str], named: Sequence[Sequence[str]]) -> list[list[int]]:
    """Of each system, which are left out with it, itself included.

    Raises
    ------
    UsageError: a system in two families. UnknownNameError: a family names no system.

    >>> families_of(["a", "b", "c"], [["a", "c"]])
    [[0, 2], [1], [0, 2]]
    """
    place = {name: index for index, name in enumerate(systems)}
    family = [[index] for index in range(len(systems))]
    for names in named:
        for name in names:
            if name not in place:
                raise UnknownNameError("system", name, place)
            if len(family[place[name]]) > 1:
                raise UsageError(f"{printable(name)} is in two families; a system is left out with one")
        members = sorted({place[name] for name in names})
        for member in members:
            family[member] = members
    return family


def _rescored(measure: Measure, hits: Hits, less: Judged, gone: Ints, rules: Conventions) -> Floats:
    return scored(measure, replace(hits.pick(~np.isin(hits.pair, gone)), judged=less), rules)


def _counted(hits: Hits, rules: Conventions) -> Flags:
    present = hits.answered | hits.failed
    return present if rules.queries == "intersection" else np.ones(hits.queries, bool)


def _mean(values: Floats, use: Flags) -> float:
    return float(values[use].mean()) if use.any() else float("nan")


def _place(means: Floats, own: int) -> int:
    return 1 + int((means > means[own] + SAME).sum())


@dataclass(frozen=True)
class _Rows:
    """The judged pairs by their position in the judgments: query, document and grade."""

    frame: pl.DataFrame
    query: Ints
    grade: Floats

    @classmethod
    def of(cls, judged: Judged) -> "_Rows":
        """The pairs of the judgments."""
        pairs = judged.pairs
        query, grade = np.empty(len(pairs.row), np.int64), np.empty(len(pairs.row))
        query[pairs.row], grade[pairs.row] = pairs.query, pairs.grade
        names = pl.Series("query_id", [judged.query_ids[code] for code in query.tolist()], dtype=pl.String)
        frame = pl.DataFrame(
            {"query_id": names, "doc_id": to_series(pairs.documents), "row": np.arange(len(query))}
        )
        return cls(frame, query, grade)

    def only_of(self, pool: Pool, systems: Sequence[int]) -> Ints:
        """The rows of judged documents that only these systems have in the pool."""
        own = pool.entries.filter(pl.col("system").is_in(list(systems))).group_by("at").agg(own=pl.len())
        both = pool.pairs.filter(is_judged()).join(own, on="at", how="inner")
        alone = both.filter(pl.col("found") == pl.col("own"))
        keys = pl.DataFrame(
            {
                "query_id": pl.Series([pool.query_ids[q] for q in alone["query"].to_list()], dtype=pl.String),
                "doc_id": alone["doc_id"],
            }
        )
        return (
            keys.join(self.frame, on=["query_id", "doc_id"], how="inner")["row"].to_numpy().astype(np.int64)
        )

    def without(self, judged: Judged, gone: Ints) -> Judged:
        """The judgments without some rows; the scale stays."""
        keep = self.grade >= 0
        keep[gone] = False
        query, grade = self.query[keep], self.grade[keep]
        order = np.lexsort((-grade, query))
        start = np.zeros(judged.queries + 1, np.int64)
        np.cumsum(np.bincount(query, minlength=judged.queries), out=start[1:])
        return Judged(judged.query_ids, grade[order], start, judged.max_grade, judged.pairs)
