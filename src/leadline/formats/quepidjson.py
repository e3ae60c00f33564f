"""Quepid's JSON: a book with who judged, and the ratings of a case."""

import json
from pathlib import Path
from typing import Any

from leadline.errors import UsageError, amount, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import plain_number, single
from leadline.formats.jsonwalk import Node, counted, tree
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.source import Source
from leadline.formats.write import write_json

FURTHER = (("information_need", "information_need"), ("notes", "notes"), ("options", "options"))
"""What stands of a query beside each of its pairs, and the column it becomes."""
PAIR = ("query_text", "doc_id", "document_fields", "judgements", "judgments")
"""The other fields of a pair."""
MARKS = {"unrateable": "unsure", "judge_later": "skip"}
"""Quepid's "I can't tell" and "judge later" as the book has them."""


def read_quepid_book(source: Source) -> Held:
    """A book: every judge's grade, mark (`unrateable`, `judge_later`) and explanation; a pair without any is not judged.

    Raises
    ------
    InputError, RowsError: no book, or judgements that cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: dict[str, Asked] = {}
    fields = blank = 0
    top = tree(source)
    aside = dict.fromkeys(top.others("query_doc_pairs", "name"))
    with counted(faults):
        for pair in top.need("query_doc_pairs").each():
            with counted(faults):
                aside |= dict.fromkeys(pair.others(*PAIR, *dict(FURTHER)))
                query = pair.need("query_text").id("query's text")
                doc = pair.need("doc_id").id("document id")
                more = {name: _scalar(pair.get(key)) for key, name in FURTHER}
                before = asked.get(query)
                more = {n: v for n, v in more.items() if v is not None} | dict(before.more if before else {})
                asked[query] = Asked(query, query, more)
                fields += pair.get("document_fields") is not None
                judgements = pair.get("judgements", "judgments")
                given = len(graded)
                for one in [] if judgements is None else judgements.each():
                    with counted(faults, f"query {printable(query)!r}, document {printable(doc)!r}"):
                        row = _judgement(one, query, doc, len(graded) + 1)
                        graded += [] if row is None else [row]
                if len(graded) == given:
                    blank += 1
                    graded.append(Graded(query, doc, line=given + 1, path=pair.path))
    faults.check()
    bare = (f"{amount(blank, 'pair')} without a judgement: not judged, left out",) if blank else ()
    notes = (f"the document fields of {amount(fields, 'pair')} are not read",) if fields else ()
    name = top.get("name")
    called = "" if name is None else str(name.value)
    return Held(
        "text",
        tuple(graded),
        asked=tuple(asked.values()),
        notes=notes,
        of_judgments=bare,
        source=source.name,
        name=called,
        left={"fields": fields} if fields else {},
        aside=aside,
    )


def _judgement(one: Node, query: str, doc: str, line: int) -> Graded | None:
    """One judgement; None where it has neither a rating nor a mark."""
    rating, explanation = one.get("rating"), one.get("explanation")
    note = "" if explanation is None else explanation.text("explanation")
    who = one.get("user_email", "user_name")
    judge = None if who is None else who.id("judge's name")
    marks = [mark for key, mark in MARKS.items() if (flag := one.get(key)) is not None and flag.flag()]
    if rating is not None and (not marks or marks == ["skip"]):
        return Graded(query, doc, rating.number("rating"), judge, note, line=line, path=one.path)
    if marks:
        return Graded(query, doc, None, judge, note, marks[0], line, one.path)
    return None


def _scalar(node: Node | None) -> Any:
    if node is None or node.value == "":
        return None
    if isinstance(node.value, (list, dict)):
        return json.dumps(node.value, ensure_ascii=False) if node.value else None
    return node.text("text") if isinstance(node.value, str) else node.value


def read_quepid_json(source: Source) -> Held:
    """Ratings as JSON: queries with a map of documents to ratings; null is "not judged".

    Raises
    ------
    InputError, RowsError: no such list, or ratings that cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: dict[str, Asked] = {}
    top = tree(source)
    aside = dict.fromkeys(top.others("queries"))
    with counted(faults):
        for one in top.need("queries").each():
            with counted(faults):
                aside |= dict.fromkeys(one.others("query", "ratings"))
                query = one.need("query").id("query's text")
                asked.setdefault(query, Asked(query, query))
                ratings = one.get("ratings")
                for key, value in [] if ratings is None else ratings.fields():
                    with counted(faults, f"query {printable(query)!r}, document {printable(key)!r}"):
                        doc = Node(key, value.path).id("document id")
                        grade = None if value.value is None else value.number("rating")
                        graded.append(Graded(query, doc, grade, line=len(graded) + 1, path=value.path))
    faults.check()
    blank = sum(row.grade is None for row in graded)
    notes = (f"{amount(blank, 'pair')} without a grade: not judged, left out",) if blank else ()
    queries = tuple(asked.values())
    return Held("text", tuple(graded), asked=queries, of_judgments=notes, source=source.name, aside=aside)


def write_quepid_book(held: Held, path: str | Path) -> None:
    """A book: each pair once, with what each judge said.

    Raises
    ------
    UsageError: no pair, or a place that cannot be written to.
    """
    more = {one.query: one.more for one in held.asked}
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    back = {mark: key for key, mark in MARKS.items()}
    for row in held.graded:
        mine = pairs.setdefault((row.query, row.doc_id), [])
        if row.grade is None and row.mark is None:
            continue
        # Quepid has no mark for a broken document: it is one that cannot be rated.
        flag = back.get(row.mark, "unrateable") if row.mark is not None else None
        mine.append(
            {
                "rating": None if row.grade is None else plain_number(row.grade),
                **{key: key == flag for key in MARKS},
                "user_email": row.who,
                "explanation": row.note or None,
            }
        )
    if not pairs:
        raise UsageError(f"{printable(str(path))}: no pair to write")
    rows = []
    for (query, doc), judgements in pairs.items():
        told = {key: more.get(query, {}).get(name) for key, name in FURTHER}
        rows.append({"query_text": query, "doc_id": doc, **told, "judgements": judgements})
    write_json({"name": held.name or "judgments", "query_doc_pairs": rows}, path)


def write_quepid_json(held: Held, path: str | Path) -> None:
    """Ratings as JSON, each query once.

    Raises
    ------
    InputError: a pair with two grades. UsageError: no grade, or a place that cannot be written to.
    """
    queries = [
        {"query": query, "ratings": {doc: plain_number(grade) for doc, grade in grades.items()}}
        for query, grades in single(held, path).items()
    ]
    write_json({"queries": queries}, path)
