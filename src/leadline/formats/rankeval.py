"""Elasticsearch's `_rank_eval`: the ratings of a request, and the hits of a response."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.errors import InputError, UsageError, amount, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import plain_number, ranked, single
from leadline.formats.jsonwalk import Node, counted, tree
from leadline.formats.lists import Asked, Graded, Held, Hit
from leadline.formats.source import Source
from leadline.formats.write import write_json

DEPTH = 10
"""The `k` of a request that is written: the default of the tool."""


def read_rank_eval(source: Source) -> Held:
    """The ratings of a request. A document is known by its `_id`; two indices may not both hold one for a query.

    Raises
    ------
    InputError, RowsError: not a request, or ratings that cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: list[Asked] = []
    indices: dict[tuple[str, str], str] = {}
    aside: dict[str, None] = {}
    top = tree(source)
    with counted(faults):
        for request in top.need("requests").each():
            with counted(faults):
                aside |= dict.fromkeys(request.others("id", "ratings"))
                query = request.need("id").id("query id")
                asked.append(Asked(query))
                for rating in request.need("ratings").each():
                    with counted(faults, f"query {printable(query)!r}"):
                        doc = rating.need("_id").id("document id")
                        index = rating.get("_index")
                        name = "" if index is None else index.text("index")
                        first = indices.setdefault((query, doc), name)
                        if first != name:
                            raise rating.wrong(
                                f"document {printable(doc)!r} stands in the index {printable(first)!r} too; "
                                "ids of several indices cannot be told apart"
                            )
                        grade = rating.need("rating").number("rating")
                        graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=rating.path))
                        aside |= dict.fromkeys(rating.others("_id", "rating"))
    faults.check()
    _once([one.query for one in asked], source.name)
    aside |= dict.fromkeys(top.others("requests"))
    return Held("id", tuple(graded), asked=tuple(asked), source=source.name, aside=aside)


def read_rank_eval_response(source: Source) -> Held:
    """The hits of a response as a run, and the ratings of the documents that it returned.

    Raises
    ------
    InputError, RowsError: not a response, or hits that cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    hits: list[Hit] = []
    empty: list[str] = []
    failed: dict[str, str] = {}
    top = tree(source)
    aside = dict.fromkeys(top.others("details", "failures"))
    with counted(faults):
        for query, detail in top.need("details").fields():
            with counted(faults, f"query {printable(query)!r}"):
                aside |= dict.fromkeys(detail.others("hits", "unrated_docs", "unknown_docs"))
                returned = detail.need("hits").each()
                if not returned:
                    empty.append(query)
                _hits(query, returned, hits, graded, faults)
        failures = top.get("failures")
        for query, failure in [] if failures is None else failures.fields():
            failed[query] = json.dumps(failure.value, ensure_ascii=False)[:500]
    faults.check()
    notes = []
    if graded:
        rated = sum(row.grade is not None for row in graded)
        notes.append(
            f"{amount(rated, 'rating')} of returned documents only: take the judgments from the request, "
            "since what was not returned is missing here"
        )
    return Held(
        "id",
        tuple(graded),
        tuple(hits),
        (),
        tuple(empty),
        failed,
        of_judgments=tuple(notes),
        source=source.name,
        aside=aside,
    )


def _hits(query: str, returned: list[Node], hits: list[Hit], graded: list[Graded], faults: Faults) -> None:
    places = range(1, len(returned) + 1)
    scored = all(isinstance(one.value, Mapping) and _score(one.value) is not None for one in returned)
    for place, one in zip(places, returned, strict=True):
        with counted(faults, f"query {printable(query)!r}"):
            hit = one.need("hit")
            doc = hit.need("_id").id("document id")
            # A query that sorts by a field has no scores; then the order stands.
            score = hit.need("_score").number("score") if scored else -float(place)
            hits.append(Hit(query, doc, score, len(hits) + 1, one.path, scored))
            rating = one.get("rating")
            grade = None if rating is None else rating.number("rating")
            graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=one.path))


def _score(one: Mapping[str, Any]) -> Any:
    hit = one.get("hit")
    return hit.get("_score") if isinstance(hit, Mapping) else None


def _once(keys: list[str], source: str) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise InputError(f"{printable(source)}: two requests have the id {printable(key)!r}")
        seen.add(key)


def write_rank_eval(held: Held, path: str | Path) -> None:
    """The grades as a request: each query matches `text` in the index `index`, which are to be replaced by your own.

    Raises
    ------
    InputError: grades with a fraction, which the tool refuses. UsageError: no grade, or a place that cannot be written to.
    """
    texts = {one.query: one.text for one in held.asked}
    requests = []
    for query, grades in single(held, path, "_rank_eval").items():
        body = {"query": {"match": {"text": texts.get(query) or query}}}
        ratings = [{"_index": "index", "_id": doc, "rating": int(grade)} for doc, grade in grades.items()]
        requests.append({"id": query, "request": body, "ratings": ratings})
    request = {"requests": requests, "metric": {"dcg": {"k": DEPTH, "normalize": True}}}
    write_json(request, path)


def write_rank_eval_response(held: Held, path: str | Path) -> None:
    """A run as a response: hits in their order, with their grades where the file has some; no value is made up.

    Raises
    ------
    UsageError: no hit, or a place that cannot be written to.
    """
    grades = {(row.query, row.doc_id): row.grade for row in held.graded}
    details: dict[str, Any] = {query: {"unrated_docs": [], "hits": []} for query in held.empty}
    for query, hits in ranked(held.hits).items():
        shown = []
        for hit in hits:
            grade = grades.get((query, hit.doc_id))
            rating = None if grade is None else plain_number(grade)
            one = {"_index": "index", "_id": hit.doc_id, "_score": hit.score}
            shown.append({"hit": one, "rating": rating})
        unrated = [{"_index": "index", "_id": one["hit"]["_id"]} for one in shown if one["rating"] is None]  # type: ignore[index]
        details[query] = {"unrated_docs": unrated, "hits": shown}
    if not details and not held.failed:
        raise UsageError(f"{printable(str(path))}: no hit to write")
    failures = {query: {"reason": said} for query, said in held.failed.items()}
    write_json({"metric_score": None, "details": details, "failures": failures}, path)
