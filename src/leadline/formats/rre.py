"""Rated Ranking Evaluator: ratings as documents with a gain, documents with a rating, or grades with documents."""

from pathlib import Path
from typing import Any

from leadline.errors import InputError, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import single
from leadline.formats.jsonwalk import Node, counted, tree
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.source import Source
from leadline.formats.write import write_json

QUERY = "$query"
"""The placeholder that holds a query's text."""


def read_rre(source: Source) -> Held:
    """The ratings of every query; a query is known by its placeholder `$query`.

    A query's own `relevant_documents` go before those of its group. A group's hold for each of its queries.

    Raises
    ------
    InputError, RowsError: no ratings, or such as cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: dict[str, Asked] = {}
    further: set[str] = set()
    top = tree(source)
    aside = dict.fromkeys(top.others("topics", "queries", "query_groups", "relevant_documents"))
    with counted(faults):
        for group, needs in _groups(top):
            with counted(faults):
                for one in group.need("queries").each():
                    aside |= dict.fromkeys(one.others("placeholders", "relevant_documents"))
                _group(group, needs, graded, asked, further, faults)
    faults.check()
    if not asked:
        raise InputError(f"{printable(source.name)}: no query in it")
    left = {"placeholders": len(further)} if further else {}
    return Held(
        "text", tuple(graded), asked=tuple(asked.values()), source=source.name, left=left, aside=aside
    )


def _groups(top: Node) -> list[tuple[Node, dict[str, Any]]]:
    """Each group of queries with what is known of its topic; a text of queries alone, as Quepid writes, is one group."""
    found: list[tuple[Node, dict[str, Any]]] = []
    topics = top.get("topics")
    for topic in [top] if topics is None else topics.each():
        told: dict[str, Any] = {}
        described = topic.get("description") if topics is not None else None
        if described is not None:
            # A column called `topic` is a query's id everywhere else.
            told["description"] = described.text("description")
        groups = topic.get("query_groups")
        if groups is None:
            found.append((topic, told))
            continue
        for group in groups.each():
            name = group.get("name")
            found.append((group, told if name is None else {**told, "group": name.text("name")}))
    return found


def _group(
    group: Node,
    told: dict[str, Any],
    graded: list[Graded],
    asked: dict[str, Asked],
    further: set[str],
    faults: Faults,
) -> None:
    shared = group.get("relevant_documents")
    for one in group.need("queries").each():
        with counted(faults):
            placeholders = one.need("placeholders")
            # Some templates name it otherwise; one placeholder alone is the query.
            named = placeholders.get(QUERY, "query")
            if named is None:
                several = placeholders.fields()
                if len(several) != 1:
                    raise placeholders.wrong(f"a placeholder {QUERY}")
                named = several[0][1]
            query = named.id("query's text")
            further.update(name for name, one in placeholders.fields() if one.path != named.path)
            asked.setdefault(query, Asked(query, query, told))
            ratings = one.get("relevant_documents") or shared
            if ratings is not None:
                _ratings(query, ratings, graded, faults)


def _ratings(query: str, ratings: Node, graded: list[Graded], faults: Faults) -> None:
    for key, value in ratings.fields():
        with counted(faults, f"query {printable(query)!r}"):
            if isinstance(value.value, list):
                grade = Node(key, value.path).number("grade")
                for one in value.each():
                    with counted(faults, f"query {printable(query)!r}"):
                        doc = one.id("document id")
                        graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=one.path))
                continue
            doc = Node(key, value.path).id("document id")
            grade = value.need("gain", "rating").number("gain")
            graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=value.path))


def write_rre(held: Held, path: str | Path) -> None:
    """The grades as a file of ratings: one topic, each query a group with a gain for each document.

    Raises
    ------
    InputError: grades with a fraction, which the tool refuses. UsageError: no grade, or a place that cannot be written to.
    """
    documents = {
        query: {doc: {"gain": int(grade)} for doc, grade in grades.items()}
        for query, grades in single(held, path, "RRE").items()
    }
    groups = [
        {
            "name": query,
            "queries": [{"template": "query.json", "placeholders": {QUERY: query}}],
            "relevant_documents": rated,
        }
        for query, rated in documents.items()
    ]
    top = {
        "index": "index",
        "id_field": "id",
        "topics": [{"description": "judgments", "query_groups": groups}],
    }
    write_json(top, path)
