"""Two rankings side by side with their unjudged documents, and what they score once those are graded.

No second formula: a completion is a pair of made-up `Hits`, and the measure's own function is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.hits import Flags, Floats, Hits, Ints, Judged
from leadline.measure import Measure
from leadline.ranking import head, rank
from leadline.tables import RunSource

DEPTH = 10
"""The top k of a measure without a cutoff: how deep judges look, as a rule."""


@dataclass(frozen=True)
class Side:
    """One system: its hits, and where its unjudged documents of the top k stand.

    `hits` are sorted by (query, rank). `free` names documents by their position in `TwoRankings.documents`, `rank`
    is where each stands, sorted by (query, rank) as well.
    """

    name: str
    hits: Hits
    free: Ints
    rank: Ints


@dataclass(frozen=True)
class TwoRankings:
    """A baseline and a candidate on the judged queries, and the unjudged documents of their top k.

    Attributes
    ----------
    documents: a frame query (index), doc_id of the distinct unjudged pairs, sorted by query; its rows number them.
    ranks: shape (2, documents): the rank in the baseline's and the candidate's top k, 0 where it is not there.
    judged: every judged row of both top k's: query, doc_id, rank, grade, side (0 baseline, 1 candidate).
    shares: the judged share of each top k, None where nothing was returned.
    """

    measure: Measure
    rules: Conventions
    depth: int
    sides: tuple[Side, Side]
    documents: pl.DataFrame
    query: Ints
    ranks: Ints
    judged: pl.DataFrame
    shares: tuple[float | None, float | None]

    @classmethod
    def of(
        cls, baseline: RunSource, candidate: RunSource, judged: Judged, measure: Measure, rules: Conventions
    ) -> "TwoRankings":
        """The two rankings under the switches of an evaluation.

        Raises
        ------
        RowsError: as `leadline.ranking.rank`.
        """
        assert measure.definition is not None
        is_rank = measure.cutoff is not None and measure.definition.cutoff != "level"
        depth = int(measure.cutoff or DEPTH) if is_rank else DEPTH
        if rules.depth is not None:
            depth = min(depth, rules.depth)
        heads = [head(run, judged, rules, depth) for run in (baseline, candidate)]
        both = pl.concat([one.with_columns(side=pl.lit(i)) for i, one in enumerate(heads)])
        known = both.filter(pl.col("grade") >= 0)
        free = both.filter(pl.col("grade").is_null() | (pl.col("grade") < 0))
        documents = free.select("query", "doc_id").unique(maintain_order=True).sort("query", "doc_id")
        numbered = documents.with_row_index("at").with_columns(pl.col("at").cast(pl.Int64))
        ranks = np.zeros((2, documents.height), np.int64)
        sides = []
        for index, run in enumerate((baseline, candidate)):
            own = free.filter(pl.col("side") == index).join(numbered, on=["query", "doc_id"], how="left")
            own = own.sort("query", "rank")
            at, place = own["at"].to_numpy(), own["rank"].to_numpy()
            ranks[index, at] = place
            sides.append(Side(run.name, rank(run, judged, rules), at, place))
        shares = tuple(_share(known, both, index) for index in (0, 1))
        return cls(
            measure,
            rules,
            depth,
            (sides[0], sides[1]),
            documents,
            documents["query"].to_numpy().astype(np.int64),
            ranks,
            known,
            (shares[0], shares[1]),
        )

    @property
    def counted(self) -> Flags:
        """Which judged queries the comparison can count, by the convention; shape (queries,)."""
        present = [side.hits.answered | side.hits.failed for side in self.sides]
        every = np.ones(len(present[0]), bool)
        return present[0] & present[1] if self.rules.queries == "intersection" else every

    def differences(self) -> Floats:
        """Candidate − baseline of every judged query as judged; NaN where either has no value or it is not counted."""
        a, b = (scored(self.measure, side.hits, self.rules) for side in self.sides)
        return np.where(self.counted, b - a, np.nan)


def not_weighed(measure: Measure) -> str:
    """The remark that a verdict on a measure says nothing of what judging could change."""
    return f"{measure}: what judging its unjudged documents could change is not weighed, as a grade names no subtopic"


def _share(known: pl.DataFrame, both: pl.DataFrame, side: int) -> float | None:
    rows = both.filter(pl.col("side") == side).height
    return known.filter(pl.col("side") == side).height / rows if rows else None


def scored(measure: Measure, hits: Hits, rules: Conventions) -> Floats:
    """The value of each query as `evaluate` has it, NaN for undefined and failed ones.

    Expected values over ties are not taken: a document drawn relevant stands at one rank.
    """
    definition = measure.definition
    assert definition is not None
    view = hits.condensed() if measure.has("judged_only") and measure.value("judged_only") else hits
    values = np.asarray(definition.function(view, measure.cutoff, **measure.arguments()), float)
    if rules.undefined == "zero" and definition.needs_relevant:
        values = np.nan_to_num(values, nan=0.0)
    silent = ~hits.answered & ~hits.failed
    values = np.where(silent & ~np.isnan(values), 0.0, values)
    return np.where(hits.failed, np.nan, values)


class Completer:
    """Made-up judgments of some queries, again and again: what stays the same is laid out once.

    Each entry of `queries` is one row of the completion, and a query may stand there several times. `free` are
    the documents (numbers in `TwoRankings.documents`) that get a grade and `rows` the row each belongs to,
    ascending.
    """

    def __init__(self, two: TwoRankings, queries: Ints, free: Ints, rows: Ints) -> None:
        self.two, self.queries, self.free, self.rows = two, queries, free, rows
        judged = two.sides[0].hits.judged
        size = np.diff(judged.ideal_start)[queries]
        base = segments(judged.ideal_start[queries], size)
        known, row = judged.ideal[base], np.repeat(np.arange(len(queries)), size)
        definition = two.measure.definition
        assert definition is not None
        mapped = two.measure.has("gain") and isinstance(two.measure.value("gain"), tuple)
        # What is not relevant matters to none of these measures' ideals, and is most of the judgments.
        only_gains = definition.bounds in ("ends", "count", "top", "grades")
        self.lean = only_gains and not mapped
        kept = known > 0 if self.lean else np.ones(len(known), bool)
        self.known, self.known_row = known[kept], row[kept]
        self.sides = [self._laid_out(index) for index in (0, 1)]
        self._sort_by(np.unique(self.known))

    def _sort_by(self, levels: Floats) -> None:
        """The grades that occur, and the known grades as numbers that say row and grade."""
        self.levels = levels
        place = len(levels) - 1 - np.searchsorted(levels, self.known)
        self.known_key = self.known_row * len(levels) + place

    def _laid_out(self, index: int) -> tuple[Any, ...]:
        """One side's rows: known hits and free documents in order of (row, rank), and where each grade comes from."""
        side = self.two.sides[index]
        hits = side.hits
        size = np.diff(hits.start)[self.queries]
        at = segments(hits.start[self.queries], size)
        row = np.repeat(np.arange(len(self.queries)), size)
        if self.lean and self.two.measure.cutoff == self.two.depth and not self._condensed():
            # A measure that ends at the top k does not read what stands below it.
            near = hits.rank[at] <= self.two.depth
            at, row = at[near], row[near]
        # Hits that are "pooled, not judged" within the top k are free documents too: those give way.
        pooled = hits.grade[at] < 0
        mine = np.flatnonzero(self.two.ranks[index, self.free] > 0)
        free_rank = self.two.ranks[index, self.free[mine]]
        keep = ~(pooled & (hits.rank[at] <= self.two.depth))
        at, row = at[keep], row[keep]
        all_rows = np.concatenate((row, self.rows[mine]))
        ranks = np.concatenate((hits.rank[at], free_rank))
        order = np.lexsort((ranks, all_rows))
        return all_rows[order], ranks[order], hits.grade[at], mine, order

    def _condensed(self) -> bool:
        return bool(self.two.measure.has("judged_only") and self.two.measure.value("judged_only"))

    def values(self, grades: Floats) -> tuple[Floats, Floats]:
        """The baseline's and the candidate's value of each row, the free documents graded so; shape (rows,).

        `grades` has the shape of `free`; a negative grade leaves its document unjudged.
        """
        judged = self._judged(grades)
        out = []
        for side, (row, ranks, known, mine, order) in zip(self.two.sides, self.sides, strict=True):
            grade = np.concatenate((known, grades[mine]))[order]
            hits = side.hits
            made = Hits(
                judged,
                row,
                ranks,
                grade,
                ranks,
                np.ones(len(ranks), np.int64),
                hits.returned[self.queries],
                hits.answered[self.queries],
                hits.failed[self.queries],
            )
            if (grades < 0).any():
                made = made.pick(made.grade >= 0)
            out.append(scored(self.two.measure, made, self.two.rules))
        return out[0], out[1]

    def _judged(self, grades: Floats) -> Judged:
        """The judgments with the free documents graded; the best first, by counting rather than by sorting pairs."""
        kept = grades > 0 if self.lean else grades >= 0
        row, grade = self.rows[kept], grades[kept]
        place = np.minimum(np.searchsorted(self.levels, grade), max(len(self.levels) - 1, 0))
        if len(grade) and (not len(self.levels) or (self.levels[place] != grade).any()):
            self._sort_by(np.union1d(self.levels, grade))
            place = np.searchsorted(self.levels, grade)
        count = len(self.levels)
        # One number says row and grade, so that one plain sort puts both in order.
        key = np.concatenate((self.known_key, row * count + (count - 1 - place)))
        key.sort()
        own, back = np.divmod(key, max(count, 1))
        ideal = self.levels[count - 1 - back] if count else np.zeros(0)
        start = np.searchsorted(own, np.arange(len(self.queries) + 1))
        nothing: Any = None
        names = [""] * len(self.queries)
        top = self.two.sides[0].hits.judged.max_grade
        return Judged(names, ideal, start, top, nothing)


def segments(starts: Ints, sizes: Ints) -> Ints:
    """The positions of several runs of neighbours, one after another.

    >>> segments(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(sizes) - sizes
    places: Ints = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return places


def inside(two: TwoRankings, names: Sequence[str] | None) -> Flags:
    """Which judged queries are of a slice that is given by its query ids; all where None. Shape (queries,)."""
    ids = two.sides[0].hits.judged.query_ids
    if names is None:
        return np.ones(len(ids), bool)
    wanted = set(names)
    return np.array([query_id in wanted for query_id in ids], bool)
