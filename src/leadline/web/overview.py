"""What can be seen of the work: queries with what is judged of them, two runs side by side, where people differ."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels, votes_of
from leadline.web.pairs import Pair
from leadline.web.refusal import unknown
from leadline.web.setup import Setup
from leadline.web.shapes import PairOut, spans
from leadline.web.shapes_lead import (
    CompareOut,
    DecisionOut,
    DisagreementsOut,
    DisputedOut,
    HitOut,
    JudgedOut,
    LabelOut,
    QueriesOut,
    QueryOut,
)

TOP = 10
SNIPPET = 300
"""Characters of a document's text in a list."""

Key = tuple[str, str]


def grades_of(setup: Setup, rows: Iterable[Judgment]) -> dict[Key, float]:
    """The grade of every pair that has one: by the rule `latest` from the book, else as it was given with the server's start."""
    known = dict(setup.judged)
    known |= {(label.query_id, label.doc_id): label.grade for label in make_labels(rows, "latest").labels}
    return known


def rankings(setup: Setup) -> dict[str, dict[str, dict[str, int]]]:
    """Of each system, of each query, the documents' ranks: of the runs; of systems without a run, what the pairs' file says."""
    found = {system: {q: dict(docs) for q, docs in ranks.items()} for system, ranks in setup.ranks.items()}
    for pair in setup.pairs:
        for system, rank in pair.ranks.items():
            if system not in setup.ranks:
                found.setdefault(system, {}).setdefault(pair.query_id, {})[pair.doc_id] = rank
    return found


def queries(setup: Setup, rows: list[Judgment]) -> QueriesOut:
    """Every query of the file: how much of it is judged, unsure, broken, disputed, and of each system's first ten."""
    grades, votes = grades_of(setup, rows), votes_of(rows)
    ranked = rankings(setup)
    by_query: dict[str, list[Pair]] = {}
    for pair in setup.pairs:
        by_query.setdefault(pair.query_id, []).append(pair)
    return QueriesOut(
        systems=list(ranked),
        queries=[_query(setup, query, pairs, grades, votes, ranked) for query, pairs in by_query.items()],
    )


def _query(
    setup: Setup,
    query_id: str,
    pairs: list[Pair],
    grades: Mapping[Key, float],
    votes: Mapping[Key, list[Judgment]],
    ranked: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> QueryOut:
    query = setup.query(query_id)
    said = [[row for row in votes.get((query_id, pair.doc_id), ()) if row.kind == "person"] for pair in pairs]
    at_10 = {}
    for system, of_query in ranked.items():
        top = [doc for doc, rank in of_query.get(query_id, {}).items() if rank <= TOP]
        at_10[system] = JudgedOut(judged=sum((query_id, doc) in grades for doc in top), returned=len(top))
    return QueryOut(
        query_id=query_id,
        query=query.text,
        need=query.need,
        fields=dict(query.fields),
        pairs=len(pairs),
        judged=sum((query_id, pair.doc_id) in grades for pair in pairs),
        unsure=sum(any(row.mark == "unsure" for row in rows) for rows in said),
        broken=sum(any(row.mark == "broken" for row in rows) for rows in said),
        disputed=sum(_spread(rows) > 0 for rows in said),
        judged_at_10=at_10,
    )


def _spread(rows: Iterable[Judgment]) -> float:
    """The greatest grade minus the least; 0 for one grade."""
    grades = [row.grade for row in rows if row.grade is not None and not row.adjudicates]
    return max(grades) - min(grades) if grades else 0.0


def compare(setup: Setup, rows: list[Judgment], query_id: str, a: str, b: str, k: int) -> CompareOut:
    """Two systems' first k of one query: grades, and how far each document stands from its place on the other side.

    Raises
    ------
    Refusal: no such query or system.
    """
    ranked = rankings(setup)
    systems = list(ranked)
    if query_id not in {pair.query_id for pair in setup.pairs}:
        raise unknown("query")
    a = a or (systems[0] if systems else "")
    b = b or next((one for one in systems if one != a), a)
    if a not in ranked or b not in ranked:
        raise unknown("system")
    grades, query = grades_of(setup, rows), setup.query(query_id)
    sides = [ranked[one].get(query_id, {}) for one in (a, b)]
    left, right = (
        [
            _hit(setup, query_id, doc, rank, other.get(doc), grades)
            for doc, rank in sorted(own.items(), key=lambda item: item[1])
            if rank <= k
        ]
        for own, other in (sides, sides[::-1])
    )
    return CompareOut(
        query_id=query_id,
        query=query.text,
        need=query.need,
        systems=systems,
        a=a,
        b=b,
        left=left,
        right=right,
    )


def _hit(
    setup: Setup, query_id: str, doc_id: str, rank: int, other: int | None, grades: Mapping[Key, float]
) -> HitOut:
    document, grade = setup.documents.get(doc_id), grades.get((query_id, doc_id))
    return HitOut(
        rank=rank,
        doc_id=doc_id,
        title=None if document is None else document.title,
        text="" if document is None else document.text[:SNIPPET],
        grade=grade,
        letter="–" if grade is None else f"{grade:g}",
        other_rank=other,
        move=None if other is None else other - rank,
    )


def disagreements(
    setup: Setup, rows: list[Judgment], decided_too: bool, shown: Callable[[Setup, Pair, str], PairOut]
) -> DisagreementsOut:
    """The pairs that at least two people judged and differ on, widest spread first, without names.

    People differ where their grades do, or where one gives a grade and another says unsure or broken. A skip says
    nothing of the pair.
    """
    votes = votes_of(rows)
    decisions = {(row.query_id, row.doc_id): row for row in rows if row.adjudicates}
    found = []
    for pair in setup.pairs:
        key = (pair.query_id, pair.doc_id)
        said = [
            row
            for row in votes.get(key, ())
            if row.kind == "person" and row.mark != "skip" and not row.adjudicates
        ]
        if len({(row.grade, row.mark) for row in said}) < 2 or (key in decisions and not decided_too):
            continue
        decision = decisions.get(key)
        whole: dict[str, Any] = shown(setup, pair, pair.name).model_dump()
        found.append(
            DisputedOut(
                **whole,
                spread=_spread(said),
                # By content, not by time or name: a place must not say who it was.
                labels=[
                    LabelOut(
                        label=chr(ord("A") + place) if place < 26 else str(place + 1),
                        grade=row.grade,
                        mark=row.mark,
                        note=row.note,
                        evidence=spans(row),
                    )
                    for place, row in enumerate(sorted(said, key=_by_content))
                ],
                adjudicated=None
                if decision is None
                else DecisionOut(grade=decision.grade, mark=decision.mark, note=decision.note),
            )
        )
    return DisagreementsOut(pairs=sorted(found, key=lambda one: (-one.spread, one.query_id, one.doc_id)))


def _by_content(row: Judgment) -> tuple[bool, float, str, str]:
    return row.grade is None, row.grade or 0.0, row.mark or "", row.id
