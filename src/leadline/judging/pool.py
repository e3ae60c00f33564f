"""The pool: the first k documents of several systems, each pair once, with who returned it and at which rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from leadline.conventions import Conventions
from leadline.errors import NotComparableError
from leadline.hits import Judged
from leadline.ranking import head
from leadline.tables import Qrels, RunSource


@dataclass(frozen=True)
class PoolPair:
    """One pair to judge, as a line of a to-judge file has it.

    Attributes
    ----------
    ranks: its rank in each system that returns it within the pool's depth, by system.
    move, likely, why: of decisive order, see `leadline.gating.doubt.PairToJudge`; None in the others.
    probability, stratum: of a sampled pool, the probability with which the pair is drawn, and its stratum.
    """

    query_id: str
    doc_id: str
    ranks: Mapping[str, int]
    move: float | None = None
    likely: float | None = None
    why: str | None = None
    probability: float | None = None
    stratum: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The pair as it stands in a to-judge file; what is not known is left out.

        >>> PoolPair("q", "d", {"a": 3}).to_dict()
        {'query_id': 'q', 'doc_id': 'd', 'ranks': {'a': 3}, 'systems': ['a']}
        """
        row: dict[str, Any] = {"query_id": self.query_id, "doc_id": self.doc_id, "ranks": dict(self.ranks)}
        for name in ("move", "likely", "why"):
            if getattr(self, name) is not None:
                row[name] = getattr(self, name)
        row["systems"] = list(self.ranks)
        for name in ("probability", "stratum"):
            if getattr(self, name) is not None:
                row[name] = getattr(self, name)
        return row


@dataclass(frozen=True)
class Pool:
    """The pairs of the first `depth` documents of every system.

    Attributes
    ----------
    systems: their names, in the order given. query_ids: by index, the judged ones first.
    pairs: a frame `at` (its row), `query` (index), `doc_id`, `best` (its best rank), `found` (how many systems
        return it), `grade` (null where unjudged; negative is "pooled, not judged"), by query, best rank and document.
    entries: a frame `at`, `system` (index), `rank`, by pair and system.
    """

    depth: int
    systems: tuple[str, ...]
    query_ids: Sequence[str]
    pairs: pl.DataFrame
    entries: pl.DataFrame

    @classmethod
    def of(
        cls,
        runs: Sequence[RunSource],
        depth: int,
        rules: Conventions | None = None,
        qrels: Qrels | None = None,
    ) -> "Pool":
        """The pool of some runs; what `qrels` judges carries its grade.

        Raises
        ------
        RowsError: a run with wrong rows, as `leadline.ranking.rank`. NotComparableError: no run returns a document.

        >>> from leadline.formats.objects import qrels_of, run_of
        >>> runs = [run_of({"q": ["a", "b"]}, name="one"), run_of({"q": ["b", "c"]}, name="two")]
        >>> pool = Pool.of(runs, 2, qrels=qrels_of({"q": {"b": 1}}))
        >>> pool.pairs.select("doc_id", "best", "found", "grade").rows()
        [('a', 1, 1, None), ('b', 1, 2, 1.0), ('c', 2, 1, None)]
        """
        judged = _every_query(runs, qrels)
        rules = rules or Conventions()
        depth = depth if rules.depth is None else min(depth, rules.depth)
        heads = [
            head(run, judged, rules, depth).with_columns(system=pl.lit(place, pl.Int64))
            for place, run in enumerate(runs)
        ]
        rows = pl.concat(heads)
        if not rows.height:
            raise NotComparableError("nothing to pool: no run returns a document for any query")
        pairs = rows.group_by("query", "doc_id").agg(
            best=pl.col("rank").min(), found=pl.len().cast(pl.Int64), grade=pl.col("grade").first()
        )
        pairs = pairs.sort("query", "best", "doc_id").with_row_index("at")
        pairs = pairs.with_columns(pl.col("at").cast(pl.Int64))
        entries = rows.join(pairs.select("at", "query", "doc_id"), on=["query", "doc_id"], how="left")
        entries = entries.select("at", "system", "rank").sort("at", "system")
        return cls(depth, tuple(run.name for run in runs), judged.query_ids, pairs, entries)

    @cached_property
    def unjudged(self) -> pl.DataFrame:
        """The pairs without a grade of at least 0."""
        return self.pairs.filter(~is_judged())

    @cached_property
    def ranks(self) -> list[dict[str, int]]:
        """Of each pair its ranks by system, in the order of `pairs`."""
        found: list[dict[str, int]] = [{} for _ in range(self.pairs.height)]
        for at, system, rank in self.entries.iter_rows():
            found[at][self.systems[system]] = rank
        return found

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Of each pair its query id and document id, in the order of `pairs`."""
        rows = self.pairs.select("query", "doc_id").iter_rows()
        return [(self.query_ids[query], doc_id) for query, doc_id in rows]

    def listed(self, order: Sequence[int]) -> list[PoolPair]:
        """The pairs at some rows of `pairs`, as they are to be judged."""
        return [PoolPair(*self.keys[at], self.ranks[at]) for at in order]


def is_judged() -> pl.Expr:
    """Whether a pair's `grade` is a judgment: there, and not the mark of "pooled, not judged"."""
    return (pl.col("grade") >= 0).fill_null(False)


def _every_query(runs: Sequence[RunSource], qrels: Qrels | None) -> Judged:
    """The judgments, and every query that a run answers, so that its documents are looked at too."""
    blocks = [block.load().select("query_id") for run in runs for block in run.blocks()]
    names = pl.concat(blocks)["query_id"].unique(maintain_order=True).to_list() if blocks else []
    known = set() if qrels is None else set(qrels.frame["query_id"].to_list())
    new = [name for name in names if name not in known]
    # No document has an empty id: the row judges nothing, and makes the query one that is looked at.
    rows = pl.DataFrame(
        {"query_id": new, "doc_id": [""] * len(new), "grade": [-1.0] * len(new)},
        schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64},
    )
    if qrels is None:
        if not new:
            raise NotComparableError("nothing to pool: no run returns a document for any query")
        return Judged.of(Qrels(rows))
    frame = qrels.frame.select("query_id", "doc_id", "grade")
    if "subtopic" in qrels.frame.columns:
        frame = frame.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("grade").max())
    return Judged.of(Qrels(pl.concat([frame, rows]), max_grade=qrels.max_grade))
