"""OpenSearch's search relevance workbench: judgment lists, query sets, and what an experiment returned."""

import re
from collections.abc import Iterator
from pathlib import Path

from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import ranked, shown, single
from leadline.formats.jsontext import decode
from leadline.formats.jsonwalk import Node, counted, rows_or_tree
from leadline.formats.lists import Asked, Graded, Held, Hit
from leadline.formats.source import Source
from leadline.formats.write import write_json


def read_opensearch(source: Source) -> Held:
    """A judgment list: as imported, as the API answers, or its rows of `query` and `ratings` alone.

    A rating is a number or a text that is one; `score` is its older name. Null is an error, since it is no grade.
    Of a list of type `LLM_JUDGMENT` the labels are a model's.

    Raises
    ------
    InputError, RowsError: no list, several lists, or ratings that cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: dict[str, Asked] = {}
    lists: list[Node] = []
    aside: dict[str, None] = {}
    for row in _opened(source, "judgmentRatings", faults, lists):
        with counted(faults):
            aside |= dict.fromkeys(row.others("query", "ratings"))
            query = row.need("query").id("query's text")
            asked.setdefault(query, Asked(query, query))
            for rating in row.need("ratings").each():
                with counted(faults, f"query {printable(query)!r}"):
                    doc = rating.need("docId").id("document id")
                    aside |= dict.fromkeys(rating.others("docId", "rating", "score"))
                    with counted(faults, f"query {printable(query)!r}, document {printable(doc)!r}"):
                        grade = rating.need("rating", "score").number("rating")
                        graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=rating.path))
    _one_of(lists, source.name, "judgment lists")
    faults.check()
    made_by = _text_of(lists, "type")
    clicks = made_by == "UBI_JUDGMENT"
    return Held(
        "text",
        tuple(graded),
        asked=tuple(asked.values()),
        notes=("its ratings are made from clicks (UBI_JUDGMENT): nobody judged the pairs",) if clicks else (),
        source=source.name,
        name=_text_of(lists, "name"),
        aside=aside,
        clicks=clicks,
        model=(_text_of(lists, "modelId") or UNNAMED) if made_by == "LLM_JUDGMENT" else "",
    )


UNNAMED = "unnamed model"


def _one_of(lists: list[Node], source: str, what: str) -> None:
    """Refuse several lists in one file, as the API answers a search with."""
    if len(lists) > 1:
        names = [_text_of([one], "name") or _text_of([one], "id") or one.path for one in lists[:2]]
        two = " and ".join(map(printable, names))
        raise InputError(f"{printable(source)}: {len(lists)} {what} ({two}); give each its own file")


def _text_of(lists: list[Node], name: str) -> str:
    """A text that the first list has under the name, itself or in its `metadata`; empty where it has none."""
    for one in lists[:1]:
        for place in (one.value, one.value.get("metadata")):
            if isinstance(place, dict) and isinstance(place.get(name), str):
                return str(place[name])
    return ""


def read_opensearch_queries(source: Source) -> Held:
    """A query set: JSON with `querySetQueries`, lines of JSON objects, or plain lines, each a query.

    Raises
    ------
    InputError, RowsError: no query, several sets, or a query that cannot stand.
    """
    faults = Faults(source.name)
    asked: dict[str, Asked] = {}
    sets: list[Node] = []
    if re.match(rb"\s*[{\[]", source.head()):
        for row in _opened(source, "querySetQueries", faults, sets):
            with counted(faults):
                query = row.need("queryText").id("query's text")
                more = _further(row)
                first = asked.setdefault(query, Asked(query, query, more, len(asked) + 1))
                if first.more != more:
                    raise row.wrong(f"the query {printable(query)!r} stands before with other fields")
    else:
        for line, raw in enumerate(decode(source.read_all(), source.name).split("\n"), start=1):
            text = raw.removesuffix("\r")
            if text.strip():
                asked.setdefault(text, Asked(text, text, {}, line))
    _one_of(sets, source.name, "query sets")
    faults.check()
    if not asked:
        raise InputError(f"{printable(source.name)}: no query in it")
    return Held("text", asked=tuple(asked.values()), source=source.name, name=_text_of(sets, "name"))


def _further(row: Node) -> dict[str, str]:
    """The further fields of a query: its reference answer as `reference`, and what stands in `customFields`."""
    custom = row.get("customFields")
    fields = [] if custom is None else custom.fields()
    answer = row.get("referenceAnswer")
    if answer is not None:
        fields.append(("referenceAnswer", answer))
    told = {name: one.text(name) for name, one in fields if one.value not in (None, "")}
    return {"reference" if name == "referenceAnswer" else name: text for name, text in told.items()}


CONFIGURATION = ("searchConfigurationId", "experimentVariantId")
"""What names the system that returned a result."""


def read_opensearch_results(source: Source) -> Held:
    """The results of one search configuration as a run; an empty list is an answer with nothing.

    Raises
    ------
    InputError, RowsError: no results, results of two configurations, or a query twice.
    """
    faults = Faults(source.name)
    hits: list[Hit] = []
    asked: dict[str, Asked] = {}
    empty: list[str] = []
    systems: dict[str, None] = {}
    aside: dict[str, None] = {}
    for row in _opened(source, "results", faults):
        with counted(faults):
            aside |= dict.fromkeys(row.others("searchText", "documentIds", *CONFIGURATION))
            query = row.need("searchText").id("query's text")
            parts = [row.get(name) for name in CONFIGURATION]
            named = [one.id("search configuration") for one in parts if one is not None]
            if named:
                systems.setdefault(" ".join(named))
            if query in asked:
                raise row.wrong(f"the results of query {printable(query)!r} stand before")
            asked[query] = Asked(query, query)
            documents = row.need("documentIds").each()
            empty += [] if documents else [query]
            for place, one in enumerate(documents, start=1):
                with counted(faults, f"query {printable(query)!r}"):
                    doc = one.id("document id")
                    hits.append(Hit(query, doc, -float(place), len(hits) + 1, one.path, scored=False))
    if len(systems) > 1:
        two = " and ".join(map(printable, list(systems)[:2]))
        raise InputError(
            f"{printable(source.name)}: results of {len(systems)} search configurations ({two}); give each its own file"
        )
    faults.check()
    if not asked:
        raise InputError(f"{printable(source.name)}: no results in it")
    return Held(
        "text",
        hits=tuple(hits),
        asked=tuple(asked.values()),
        empty=tuple(empty),
        source=source.name,
        name=next(iter(systems), ""),
        aside=aside,
    )


def _opened(source: Source, field: str, faults: Faults, lists: list[Node] | None = None) -> Iterator[Node]:
    """The rows under `field`, however they are wrapped: by the API's `_source`, in `hits.hits`, or not at all.

    What has the field is added to `lists`.
    """
    waiting = rows_or_tree(source, faults)[::-1]
    while waiting:
        node = waiting.pop()
        with counted(faults):
            for path in ((field,), ("_source",), ("hits", "hits"), ("hits",)):
                inner: Node | None = node
                for name in path:
                    inner = inner.get(name) if inner is not None and isinstance(inner.value, dict) else None
                if inner is not None:
                    if path == (field,) and lists is not None:
                        lists.append(node)
                    waiting += inner.each()[::-1] if isinstance(inner.value, list) else [inner]
                    break
            else:
                yield node


def write_opensearch(held: Held, path: str | Path) -> None:
    """A judgment list to be imported; ratings are texts there.

    Raises
    ------
    InputError: a pair with two grades. UsageError: no grade, or a place that cannot be written to.
    """
    rows = [
        {"query": query, "ratings": [{"docId": doc, "rating": shown(grade)} for doc, grade in grades.items()]}
        for query, grades in single(held, path).items()
    ]
    top = {
        "name": held.name or "judgments",
        "description": "",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": rows,
    }
    write_json(top, path)


def write_opensearch_queries(held: Held, path: str | Path) -> None:
    """A query set; the further field `reference` is the reference answer, other texts stand in `customFields`.

    Raises
    ------
    UsageError: no query, or a place that cannot be written to.
    """
    if not held.asked:
        raise UsageError(f"{printable(str(path))}: no query to write")
    rows = []
    for one in held.asked:
        texts = {name: text for name, text in one.more.items() if isinstance(text, str)}
        answer = {"referenceAnswer": texts.pop("reference")} if "reference" in texts else {}
        rows.append({"queryText": one.query, **answer, **({"customFields": texts} if texts else {})})
    write_json(
        {"name": held.name or "queries", "description": "", "sampling": "manual", "querySetQueries": rows},
        path,
    )


def write_opensearch_results(held: Held, path: str | Path) -> None:
    """A run as results, each query's documents in their order.

    Raises
    ------
    UsageError: no answer, or a place that cannot be written to.
    """
    found = {query: [hit.doc_id for hit in hits] for query, hits in ranked(held.hits).items()}
    found |= {query: [] for query in held.empty}
    if not found:
        raise UsageError(f"{printable(str(path))}: no answer to write")
    named = {"searchConfigurationId": held.name} if held.name else {}
    write_json([{**named, "searchText": query, "documentIds": docs} for query, docs in found.items()], path)
