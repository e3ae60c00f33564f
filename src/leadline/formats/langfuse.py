"""Langfuse's dataset items: the input as a query, reference ids as judgments."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.errors import UsageError, amount, printable
from leadline.formats.columns import plain
from leadline.formats.faults import Faults
from leadline.formats.heldtables import plain_number, single
from leadline.formats.jsonwalk import Node, counted, rows_or_tree
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.ragfields import FIELDS
from leadline.formats.source import Source
from leadline.formats.write import atomic_write

TEXTS = {plain(name) for name in (*FIELDS["text"].names, "text", "query_text", "content")}
"""Names, in plain form, under which an input that is an object has the question."""
REFERENCES = {plain(name) for name in FIELDS["references"].names}
RELEVANT = "relevant_ids"
"""The field of `metadata` that reference ids are written to: a map of document to grade."""


def read_langfuse(source: Source) -> Held:
    """The items as queries: id, the input's text, `reference` (an expected output that is text), scalar metadata.

    Judgments are made from a field of `expectedOutput` or `metadata` that is named as RAG rows name reference ids, such as
    `relevant_ids`: a list of ids (grade 1), or a map of ids to grades. Archived items are left out.

    Raises
    ------
    InputError, RowsError: no items, or such as cannot stand.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    asked: dict[str, Asked] = {}
    archived = without = 0
    lists: set[str] = set()
    rows: list[Node] = []
    for one in rows_or_tree(source, faults):
        # The API gives pages of items.
        with counted(faults):
            page = one.get("data") if isinstance(one.value, dict) and "input" not in one.value else None
            rows += [one] if page is None else page.each()
    for row in rows:
        with counted(faults):
            status = row.get("status")
            if status is not None and status.value == "ARCHIVED":
                archived += 1
                continue
            text = _question(row.need("input"))
            given_input = row.need("input").value
            if isinstance(given_input, (dict, list)) and len(given_input) > 1:
                # Of an object or messages only the question is read.
                lists.add("input")
            given = row.get("id")
            query = text if given is None else given.id("item's id")
            if query in asked:
                raise row.wrong(f"the item {printable(query)!r} stands before")
            before = len(graded)
            more = _more(row, query, graded, faults, lists)
            asked[query] = Asked(query, text, more, len(asked) + 1)
            without += len(graded) == before
    faults.check()
    notes = (f"{amount(archived, 'archived item')} left out",) if archived else ()
    bare = (f"{amount(without, 'item')} without reference ids: not judged",) if graded and without else ()
    left = {name: count for name, count in (("archived", archived), ("lists", len(lists))) if count}
    return Held(
        "id", tuple(graded), asked=tuple(asked.values()), notes=notes, of_judgments=bare, source=source.name, left=left
    )  # fmt: skip


def _question(given: Node) -> str:
    """The question of an input: text, an object with a question, or the last message of the user."""
    if isinstance(given.value, str):
        return given.id("question")
    if isinstance(given.value, Mapping):
        if isinstance(given.value.get("messages"), list):
            return _question(Node(given.value["messages"], f"{given.path}.messages"))
        found = [
            node for name, node in given.fields() if plain(name) in TEXTS and isinstance(node.value, str)
        ]
        if len(found) == 1:
            return found[0].id("question")
        raise given.wrong("one field with the question, such as question or query")
    if isinstance(given.value, list):
        said = [
            one for one in given.each() if isinstance(one.value, Mapping) and one.value.get("role") == "user"
        ]
        if said:
            return said[-1].need("content").id("question")
    raise given.wrong("a question: text, or an object or messages that hold one")


def _more(row: Node, query: str, graded: list[Graded], faults: Faults, lists: set[str]) -> dict[str, Any]:
    """The further fields of an item's query; reference ids are put to the grades, and names of lists and objects to `lists`."""
    more: dict[str, Any] = {}
    for name in ("expectedOutput", "metadata"):
        part = row.get(name, "expected_output") if name == "expectedOutput" else row.get(name)
        if part is None:
            continue
        if isinstance(part.value, str) and name == "expectedOutput":
            more["reference"] = part.text("expected output")
        if not isinstance(part.value, Mapping):
            if part.value is not None and (not isinstance(part.value, str) or name == "metadata"):
                lists.add(name)
            continue
        for key, node in part.fields():
            if plain(key) in REFERENCES:
                _references(node, query, graded, faults)
            elif isinstance(node.value, str):
                more[key] = node.text("value")
            elif isinstance(node.value, (bool, int, float)):
                more[key] = node.value
            elif node.value is not None:
                lists.add(key)
    return more


def _references(node: Node, query: str, graded: list[Graded], faults: Faults) -> None:
    pairs = (
        [(Node(key, one.path), one.number("grade")) for key, one in node.fields()]
        if isinstance(node.value, Mapping)
        else [(one, 1.0) for one in node.each()]
    )
    for one, grade in pairs:
        with counted(faults, f"query {printable(query)!r}"):
            graded.append(Graded(query, one.id("document id"), grade, line=len(graded) + 1, path=one.path))


def write_langfuse(held: Held, path: str | Path) -> None:
    """The queries as items, one a line; grades stand in `metadata.relevant_ids`.

    Raises
    ------
    InputError: a pair with two grades. UsageError: no query, or a place that cannot be written to.
    """
    grades = single(held, path) if any(row.grade is not None for row in held.graded) else {}
    known = {one.query: one for one in held.asked}
    if not held.keys():
        raise UsageError(f"{printable(str(path))}: no query to write")
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for query in held.keys():  # noqa: SIM118 - a method of its own
            one = known.get(query, Asked(query))
            more = {name: value for name, value in one.more.items() if name != "reference"}
            if grades.get(query):
                more[RELEVANT] = {doc: plain_number(grade) for doc, grade in grades[query].items()}
            reference = one.more.get("reference")
            item = {"id": query, "input": one.text or query, "expectedOutput": reference, "metadata": more}
            handle.write(json.dumps(item, ensure_ascii=False, default=str) + "\n")
