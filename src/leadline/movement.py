"""How two rankings of the same queries differ: documents gained and lost, overlap, rank-biased overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.hits import Floats, Judged
from leadline.ranking import head
from leadline.scores import Scores
from leadline.tables import Qrels, RunSource


@dataclass(frozen=True)
class Document:
    """A document that moved: its rank where it stands (from 1) and its grade, None where it is unjudged."""

    doc_id: str
    rank: int
    grade: float | None


@dataclass(frozen=True)
class Moved:
    """A query whose value moved: both values, and the documents that entered and left the top k."""

    query_id: str
    difference: float
    baseline: float
    candidate: float
    gained: tuple[Document, ...]
    lost: tuple[Document, ...]

    def to_dict(self) -> dict[str, Any]:
        """The query as it stands in the JSON output."""
        return asdict(self)


def moved_most(
    scores: Scores,
    measure: str,
    baseline: str,
    candidate: str,
    heads: Mapping[str, pl.DataFrame],
    judged: Judged,
    most: int = 10,
    same_ids: bool = True,
) -> list[Moved]:
    """The queries whose value of the measure moved most, the greatest first; those that did not move are left out.

    `heads` holds the first documents of both systems, as `ranking.head` gives them. Without `same_ids` an id of one system
    says nothing of the other's (each has its own chunks), so that all of them left and entered.
    """
    before, after = scores.per_query(measure, baseline), scores.per_query(measure, candidate)
    both = {q: (a, after[q]) for q, a in before.items() if a is not None and after.get(q) is not None}
    differences = [(q, a, b, b - a) for q, (a, b) in both.items() if b is not None and abs(b - a) > 1e-12]
    differences.sort(key=lambda row: -abs(row[3]))
    code_of = {query_id: index for index, query_id in enumerate(judged.query_ids)}
    moved = []
    for query_id, a, b, d in differences[:most]:
        lists = [_documents(heads[name], code_of[query_id]) for name in (baseline, candidate)]
        before_list, after_list = lists if same_ids else ([], [])
        gained, lost = _only(lists[1], before_list), _only(lists[0], after_list)
        moved.append(Moved(query_id, d, a, b, gained, lost))
    return moved


def heads_of(
    runs: Sequence[RunSource], judged: Mapping[str, Judged], rules: Conventions, depth: int
) -> dict[str, pl.DataFrame]:
    """The first documents of every run, by system; `judged` are the judgments of each."""
    return {run.name: head(run, judged[run.name], rules, depth) for run in runs}


def _documents(frame: pl.DataFrame, query: int) -> list[Document]:
    rows = frame.filter(pl.col("query") == query).select("doc_id", "rank", "grade")
    return [
        Document(doc_id, rank, grade if grade is None or grade >= 0 else None)
        for doc_id, rank, grade in rows.iter_rows()
    ]


def _only(mine: Sequence[Document], others: Sequence[Document]) -> tuple[Document, ...]:
    known = {one.doc_id for one in others}
    new = [one for one in mine if one.doc_id not in known]
    # The relevant ones first, then the unjudged, then the others; each by rank.
    return tuple(sorted(new, key=lambda one: (-(0.5 if one.grade is None else one.grade), one.rank)))


@dataclass(frozen=True)
class Overlap:
    """How alike two systems' rankings are, by query: shape (queries,) each, and the query ids.

    `overlap` is the share of the first k documents that both have (÷ the longer of the two lists, at most k);
    `rbo` the rank-biased overlap of the first k, extrapolated.
    """

    query_ids: list[str]
    k: int
    overlap: Floats
    rbo: Floats

    def least_alike(self, most: int = 10) -> list[tuple[str, float, float]]:
        """The queries whose rankings changed most: query id, overlap, rank-biased overlap."""
        rows = zip(self.query_ids, self.overlap.tolist(), self.rbo.tolist(), strict=True)
        return sorted(rows, key=lambda row: row[2])[:most]


def overlap(first: RunSource, second: RunSource, rules: Conventions, k: int = 10, p: float = 0.9) -> Overlap:
    """The overlap of two runs on the queries that both answer; no judgments are asked for.

    Source: rank-biased overlap with its extrapolation RBO_EXT, Webber, Moffat & Zobel 2010, equation 32 (for
    lists of one length; the shorter list's length is used where they differ).
    """
    frames = [lists_of(run, rules, k) for run in (first, second)]
    names = [name for name in frames[0] if name in frames[1]]
    pairs = [(frames[0][name], frames[1][name]) for name in names]
    shares = np.array([len(set(a) & set(b)) / max(len(a), len(b), 1) for a, b in pairs])
    return Overlap(names, k, shares, np.array([rank_biased_overlap(a, b, p) for a, b in pairs]))


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], p: float = 0.9) -> float:
    """RBO_EXT of two lists, to the length of the shorter; 1 where they are the same, 0 where nothing is shared.

    (1 − p)/p · Σ_{d=1..k} (X_d/d)·p^d + (X_k/k)·p^k, X_d being how many documents the first d of both share.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"]), rank_biased_overlap(["a"], ["b"])
    (1.0, 0.0)
    """
    k = min(len(first), len(second))
    if k == 0:
        return 0.0
    left: set[str] = set()
    right: set[str] = set()
    total, shared = 0.0, 0
    for d in range(1, k + 1):
        left.add(first[d - 1])
        right.add(second[d - 1])
        shared = len(left & right)
        total += shared / d * p**d
    return min(1.0, total * (1 - p) / p + shared / k * p**k)


def lists_of(run: RunSource, rules: Conventions, k: int) -> dict[str, list[str]]:
    """The first k documents of every query of a run, judged or not."""
    names = pl.concat(
        [
            block.load().select("query_id", "doc_id").unique("query_id", maintain_order=True)
            for block in run.blocks()
        ]
    )
    # A judgment of grade 0 on one returned document of each query makes every query one that is looked at.
    known = names.unique("query_id", maintain_order=True).with_columns(grade=pl.lit(0.0))
    judged = Judged.of(Qrels(known))
    frame = head(run, judged, rules, k)
    lists = frame.group_by("query", maintain_order=True).agg("doc_id")
    return {judged.query_ids[query]: documents for query, documents in lists.iter_rows()}
