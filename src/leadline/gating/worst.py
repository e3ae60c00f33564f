"""The queries that a candidate loses most on, and what left their rankings."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from leadline.conventions import Conventions
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.movement import heads_of
from leadline.scores import Scores
from leadline.spelling import parse

WORST = 5
"""How many of the worst queries a report names."""


@dataclass(frozen=True)
class WorstQuery:
    """A query that lost: its values in both systems, and the documents that left and entered its top k.

    `lost` has (document id, its rank in the baseline, its grade or None where unjudged), relevant ones first;
    `gained` the same of the candidate.
    """

    query_id: str
    text: str | None
    baseline: float
    candidate: float
    lost: tuple[tuple[str, int, float | None], ...]
    gained: tuple[tuple[str, int, float | None], ...] = ()


def worst_queries(
    both: Inputs, scores: Scores, measure: str, rules: Conventions, texts: Mapping[str, str]
) -> tuple[WorstQuery, ...]:
    """The queries that lost most in a measure, and what left their top k."""
    names = [run.name for run in both.runs]
    before, now = (scores.per_query(measure, name) for name in names)
    fell = []
    for query, old in before.items():
        new = now.get(query)
        if old is not None and new is not None and new < old - 1e-12:
            fell.append((new - old, query, old, new))
    fell = sorted(fell)[:WORST]
    if not fell:
        return ()
    judged = Judged.of(both.qrels)
    parsed = parse(measure)
    assert parsed.definition is not None
    is_rank = parsed.cutoff is not None and parsed.definition.cutoff != "level"
    same = {run.name: judged for run in both.runs}
    heads = heads_of(both.runs, same, rules, int(parsed.cutoff or 10) if is_rank else 10)
    place = {query: index for index, query in enumerate(judged.query_ids)}
    out = []
    for _, query, old, new in fell:
        first, second = (heads[name].filter(pl.col("query") == place[query]) for name in names)
        lost, gained = _only(first, second), _only(second, first)
        out.append(WorstQuery(query, texts.get(query), old, new, lost, gained))
    return tuple(out)


def _only(first: pl.DataFrame, second: pl.DataFrame) -> tuple[tuple[str, int, float | None], ...]:
    """The documents of the first that the second has not: id, rank, grade; the most relevant ones first."""
    rows = first.join(second, on="doc_id", how="anti").select("doc_id", "rank", "grade").iter_rows()
    known = [(doc, rank, None if grade is None or grade < 0 else grade) for doc, rank, grade in rows]
    return tuple(sorted(known, key=lambda row: (-(-1.0 if row[2] is None else row[2]), row[1])))
