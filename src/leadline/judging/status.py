"""What is in a book: counts by person, kind and query, marks, overlap, and labels whose document has changed since."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.judging.judgment import MARKS, Judgment, by_time, standing, text_hash
from leadline.judging.labels import decisions_of, unordered, votes_of


@dataclass(frozen=True)
class Changed:
    """A judgment that stands, of a document whose text is another today, or that is gone (`now` is None then)."""

    query_id: str
    doc_id: str
    who: str
    was: str
    now: str | None


def book_status(rows: Iterable[Judgment], texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The book in numbers, as `leadline book status --format json` prints them.

    Parameters
    ----------
    texts: today's texts by document id, to compare with those that were judged; None: they are not compared.

    >>> book_status([Judgment("q", "d", 2, who="ana"), Judgment("q", "d", 1, who="bob")])["overlap"]
    {'pairs': 1, 'two_or_more': 1, 'share': 1.0}
    """
    every = list(rows)
    stands = standing(every)
    votes = votes_of(every)
    graders = {
        pair: {row.who for row in cast if row.kind == "person" and row.graded} for pair, cast in votes.items()
    }
    graded = [pair for pair, names in graders.items() if names]
    several = sum(len(names) > 1 for names in graders.values())
    status: dict[str, Any] = {
        "rows": len(every),
        "standing": len(stands),
        "undone": sum(row.undoes is None for row in every) - len(stands),
        "pairs": len(votes),
        "decisions": len(decisions_of(every)),
        "unordered": unordered(every),
        "marks": {mark: sum(row.mark == mark for row in stands) for mark in MARKS},
        "grades": {f"{grade:g}": n for grade, n in sorted(Counter(_grades(stands)).items())},
        "guidelines": dict(sorted(Counter(row.guideline for row in stands).items())),
        "overlap": {
            "pairs": len(graded),
            "two_or_more": several,
            "share": several / len(graded) if graded else None,
        },
        "by_person": _by_person(every, stands),
        "by_query": _by_query(stands, graders),
    }
    if texts is not None:
        changed = changed_texts(stands, texts)
        status["changed"] = [vars(one) for one in changed]
        status["without_hash"] = sum(row.text_hash is None for row in stands)
    return status


def changed_texts(rows: Iterable[Judgment], texts: Mapping[str, str]) -> list[Changed]:
    """The votes whose document's text is not the one that was judged, sorted by query, document and judge.

    A judgment without a text hash says nothing of its text and is not among them.

    >>> row = Judgment("q", "d", 2, who="ana", text_hash=text_hash("before"))
    >>> [one.doc_id for one in changed_texts([row], {"d": "after"})], changed_texts([row], {"d": "before"})
    (['d'], [])
    """
    found = []
    hashes = {doc: text_hash(text) for doc, text in texts.items()}
    for (query, doc), votes in sorted(votes_of(rows).items()):
        for row in votes:
            now = hashes.get(doc)
            if row.text_hash is not None and row.text_hash != now:
                found.append(Changed(query, doc, row.who, row.text_hash, now))
    return found


def to_look_again(changed: Iterable[Changed]) -> list[dict[str, Any]]:
    """The pairs of changed documents as rows of a to-judge file, each once; those of documents that are gone are left out.

    >>> to_look_again([Changed("q", "d", who, "1", "2") for who in ("ana", "bob")] + [Changed("q", "e", "ana", "1", None)])
    [{'query_id': 'q', 'doc_id': 'd', 'ranks': {}, 'why': 'the text has changed since it was judged'}]
    """
    pairs = dict.fromkeys((one.query_id, one.doc_id) for one in changed if one.now is not None)
    why = "the text has changed since it was judged"
    return [{"query_id": query, "doc_id": doc, "ranks": {}, "why": why} for query, doc in pairs]


def _grades(rows: Iterable[Judgment]) -> list[float]:
    return [row.grade for row in rows if row.grade is not None]


def _by_person(every: list[Judgment], stands: list[Judgment]) -> list[dict[str, Any]]:
    """A row for each judge, by kind and name."""
    made = []
    for kind, who in sorted({(row.kind, row.who) for row in every if row.undoes is None}):
        own = [row for row in stands if (row.kind, row.who) == (kind, who)]
        given = sum((row.kind, row.who) == (kind, who) and row.undoes is None for row in every)
        times = [row.when for row in by_time(own) if row.when]
        made.append(
            {
                "who": who,
                "kind": kind,
                "judgments": len(own),
                "graded": sum(row.graded for row in own),
                **{mark: sum(row.mark == mark for row in own) for mark in MARKS},
                "repeats": sum(row.repeat for row in own),
                "decisions": sum(row.adjudicates for row in own),
                "undone": given - len(own),
                "first": times[0] if times else None,
                "last": times[-1] if times else None,
            }
        )
    return made


def _by_query(stands: list[Judgment], graders: Mapping[tuple[str, str], set[str]]) -> list[dict[str, Any]]:
    """A row for each query, by its id."""
    rows: dict[str, list[Judgment]] = {}
    for row in stands:
        rows.setdefault(row.query_id, []).append(row)
    return [
        {
            "query_id": query,
            "pairs": len({row.doc_id for row in own}),
            "judgments": len(own),
            "graded": sum(row.graded for row in own),
            "marked": sum(row.mark is not None for row in own),
            "relevant": sum(row.grade is not None and row.grade >= 1 for row in own),
            "persons": len({row.who for row in own if row.kind == "person" and not row.pooled}),
            "two_or_more": sum(len(graders[query, doc]) > 1 for doc in {row.doc_id for row in own}),
        }
        for query, own in sorted(rows.items())
    ]
