"""The values of a RAG row's fields: documents given as ids, texts or objects, their scores, the references."""

from collections.abc import Mapping
from typing import Any

from leadline.formats.columns import plain
from leadline.formats.faults import WrongValue, found_text, id_text, number
from leadline.formats.ragfields import Fields
from leadline.formats.texts import Texts

ID_KEYS = ("docid", "id", "documentid", "chunkid", "docno", "passageid", "nodeid")
"""Keys, in plain form, under which a document given as an object has its id; the first there counts."""

TEXT_KEYS = ("text", "content", "contents", "pagecontent")
"""Keys, in plain form, under which a document given as an object has its text."""

LIST_ADVICE = (
    "CSV and str() turn lists into texts, so write the rows as JSONL or Parquet, where a list stays one"
)

Reference = tuple[str, float, str | None]
"""A reference's id, its grade, and the need that it shares with others of the row."""


def given_id(document: Any) -> Any:
    """The id of a document given as an object; None for a text or an object without one."""
    if not isinstance(document, Mapping):
        return None
    by_plain = {plain(str(key)): value for key, value in document.items()}
    return next((by_plain[key] for key in ID_KEYS if by_plain.get(key) is not None), None)


def given_text(document: Any, name: str) -> str:
    """The text of a document given as a text or an object.

    Raises
    ------
    WrongValue: it has none.
    """
    found = document
    if isinstance(document, Mapping):
        by_plain = {plain(str(key)): value for key, value in document.items()}
        found = next((by_plain[key] for key in TEXT_KEYS if by_plain.get(key) is not None), None)
    if not isinstance(found, str):
        raise WrongValue(found_text(document), f"each entry of {name} is a text, or has one")
    return found


def scores_of(record: Mapping[str, Any], fields: Fields, given: list[Any], name: str) -> list[float] | None:
    """The scores beside the ids, or inside the documents; None where there are none."""
    if "scores" in fields.found and record[fields.found["scores"]] is not None:
        scores_name = fields.found["scores"]
        values = list_of(record[scores_name], scores_name)
        if len(values) != len(given):
            raise WrongValue(
                f"{len(values)} scores",
                f"{scores_name} has one score for each of the {len(given)} entries of {name}",
            )
        return [number(value, f"score in {scores_name}") for value in values]
    inside = [document.get("score") if isinstance(document, Mapping) else None for document in given]
    if all(value is None for value in inside):
        return None
    return [number(value, f"score in {name}") for value in inside]


def references_of(record: Mapping[str, Any], fields: Fields, texts: Texts | None) -> list[Reference]:
    """The references with their grades; plain ids have grade 1. Texts count where there are no ids."""
    value = record[fields.found["references"]] if "references" in fields.found else None
    if value is None:
        known = [] if texts is None else _reference_texts(record, fields)
        name = fields.found.get("reference_texts", "")
        return [(texts.id_of(given_text(one, name)), 1.0, None) for one in known]  # type: ignore[union-attr]
    name = fields.found["references"]
    if isinstance(value, Mapping):
        # A null grade is "unjudged"; Parquet fills the keys of other rows in with it.
        graded = [(doc, grade) for doc, grade in value.items() if grade is not None]
        return [
            (element(doc, name), number(grade, f"grade in {name}", finite=True), None)
            for doc, grade in graded
        ]
    found: list[Reference] = []
    for place, entry in enumerate(list_of(value, name), start=1):
        if isinstance(entry, list):
            # One alone is no choice; two or more meet one need, whichever is found.
            need = str(place) if len(entry) > 1 else None
            found += [(*_graded(inner, name), need) for inner in entry]
        else:
            found.append((*_graded(entry, name), None))
    return found


def _graded(entry: Any, name: str) -> tuple[str, float]:
    """A reference's id and grade."""
    if not isinstance(entry, Mapping):
        return element(entry, name), 1.0
    grade = entry.get("grade", entry.get("relevance", 1.0))
    return element(object_id(entry, name), name), number(grade, f"grade in {name}", finite=True)


def _reference_texts(record: Mapping[str, Any], fields: Fields) -> list[Any]:
    """The reference texts of a row; none where the field holds one text, which is a column like others."""
    name = fields.found.get("reference_texts")
    value = None if name is None else record[name]
    if value is None or (isinstance(value, str) and plain(str(name)) == "context"):
        return []
    return list_of(value, str(name))


def list_of(value: Any, name: str) -> list[Any]:
    """The value of a field that holds a list.

    Raises
    ------
    WrongValue: it holds none; a text is not taken apart.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        raise WrongValue(value, f"{name} is a list, not a text: {LIST_ADVICE}")
    raise WrongValue(found_text(value), f"{name} is a list; [] where there is nothing")


def object_id(document: Any, name: str) -> Any:
    """The id of a document given as an object.

    Raises
    ------
    WrongValue: it has none.
    """
    found = given_id(document)
    if found is None:
        raise WrongValue(found_text(document), f"each entry of {name} has an id (doc_id or id)")
    return found


def element(value: Any, name: str) -> str:
    """A document id in a list.

    Raises
    ------
    WrongValue: it is none.
    """
    return id_text(value, f"document id in {name}")
