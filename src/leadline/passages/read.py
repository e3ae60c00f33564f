"""Reading evidence and chunks: JSONL, JSON-like rows or Parquet; every row and field is checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.errors import UnknownNameError, UsageError, printable
from leadline.formats.columns import plain
from leadline.formats.documents import document_rows
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number
from leadline.formats.source import Source
from leadline.passages.locate import locate_in_order
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Documents, Evidence, EvidenceRow

EVIDENCE_FIELDS: dict[str, tuple[str, ...]] = {
    "query_id": ("queryid", "qid"),
    "document_id": ("documentid", "docid"),
    "start": ("start",),
    "end": ("end",),
    "quote": ("quote",),
    "grade": ("grade",),
    "note": ("note",),
}
"""The fields of evidence and their accepted spellings, in plain form (letters and digits, lower case)."""

CHUNK_FIELDS: dict[str, tuple[str, ...]] = {
    "chunk_id": ("chunkid", "id"),
    "document_id": ("documentid", "docid"),
    "start": ("start",),
    "end": ("end",),
    "text": ("text",),
}
"""The fields of chunks; further fields (titles, metadata) are passed over."""
FURTHEST = 2**40
"""No document is longer than this many characters; a larger position is a mistake."""


def read_evidence(path: str | Path) -> Evidence:
    """Evidence from a file: rows with query_id, document_id, start, end, and mostly quote and grade (1 where left out).

    Raises
    ------
    InputError, RowsError: the file cannot be read, or rows are wrong (all counted, the first ten shown).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "evidence.jsonl")
    ...     _ = file.write_text('{"query_id": "q", "document_id": "d", "start": 3, "end": 6, "quote": "two"}')
    ...     read_evidence(file).rows[0].quote
    'two'
    """
    source = Source.open(path)
    faults = Faults(source.name)
    rows: list[EvidenceRow] = []
    lines: list[int] = []
    known: dict[tuple[str, ...], Mapping[str, str]] = {}
    for line, row in document_rows(
        source, faults, "evidence comes as rows with query_id, document_id, start and end"
    ):
        try:
            fields = _fields(tuple(row), EVIDENCE_FIELDS, known, strict=True)
            rows.append(evidence_row({name: row[own] for name, own in fields.items()}))
            lines.append(line)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    return Evidence.of(rows, source.name, lines)


def evidence_row(row: Mapping[str, Any]) -> EvidenceRow:
    """One row of evidence, checked.

    Raises
    ------
    WrongValue: a field is missing, or its value cannot stand.

    >>> evidence_row({"query_id": "q", "document_id": "d", "start": 0, "end": 3}).grade
    1.0
    """
    query_id = id_text(_needed(row, "query_id"), "query_id")
    document_id = id_text(_needed(row, "document_id"), "document_id")
    start, end = _range(row)
    quote, note = row.get("quote"), row.get("note")
    for name, value in (("quote", quote), ("note", note)):
        if value is not None and not isinstance(value, str):
            raise WrongValue(found_text(value), f"a {name} is text")
    grade = 1.0 if row.get("grade") is None else number(row["grade"], "grade", finite=True)
    return EvidenceRow(query_id, document_id, start, end, quote, grade, note or "")


def read_chunks(path: str | Path, documents: Documents | None = None) -> Chunks:
    """Chunks from a file: rows with chunk_id, document_id, and start and end, or a text that is then located exactly.

    Where a row has a range and a text, and documents are given, the text must stand in that range.

    Raises
    ------
    InputError, RowsError: the file cannot be read, or rows are wrong: a range outside its document, a text that does
        not stand there, or one that stands in several places. UsageError: texts are to be located, and no documents.
    """
    source = Source.open(path)
    faults = Faults(source.name)
    rows: list[tuple[int, str, str, tuple[int, int] | None, str | None]] = []
    known: dict[tuple[str, ...], Mapping[str, str]] = {}
    seen: dict[str, int] = {}
    for line, row in document_rows(
        source, faults, "chunks come as rows with chunk_id, document_id, start and end"
    ):
        try:
            fields = _fields(tuple(row), CHUNK_FIELDS, known, strict=False)
            one = _chunk({name: row[own] for name, own in fields.items()})
            if one[0] in seen:
                raise WrongValue(one[0], f"but line {seen[one[0]]} has the same chunk_id")
            seen[one[0]] = line
            rows.append((line, *one))
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    if documents is None and any(one[3] is None for one in rows):
        raise UsageError(
            f"{printable(source.name)}: chunks without start and end are located in the documents: --documents D"
        )
    located: dict[int, tuple[int, int]] = {}
    if documents is not None:
        located = _located(rows, documents, faults)
        faults.check()
    spans = as_spans(one[3] or located[at] for at, one in enumerate(rows))
    notes = (f"{len(located)} of {len(rows)} chunks located by their text",) if located else ()
    texts = [one[4] for one in rows]
    return Chunks.of([one[1] for one in rows], [one[2] for one in rows], spans, source.name, notes, texts)


def _chunk(row: Mapping[str, Any]) -> tuple[str, str, tuple[int, int] | None, str | None]:
    """A chunk's id, document, range and text; one of the last two may be missing."""
    chunk_id = id_text(_needed(row, "chunk_id"), "chunk_id")
    document_id = id_text(_needed(row, "document_id"), "document_id")
    text = row.get("text")
    if text is not None and not isinstance(text, str):
        raise WrongValue(found_text(text), "a chunk's text is text")
    if row.get("start") is None and row.get("end") is None:
        if not text:
            raise WrongValue(found_text(dict(row)), "a chunk has start and end, or a text to locate it by")
        return chunk_id, document_id, None, text
    return chunk_id, document_id, _range(row), text


def _located(
    rows: Sequence[tuple[int, str, str, tuple[int, int] | None, str | None]],
    documents: Documents,
    faults: Faults,
) -> dict[int, tuple[int, int]]:
    """The places of chunks without a range; ranges outside their document and texts that differ become faults."""
    waiting: dict[str, list[int]] = {}
    for at, (line, _, document_id, span, text) in enumerate(rows):
        document = documents.get(document_id)
        if document is None:
            faults.add(line, None, document_id, "no such document")
        elif span is None:
            waiting.setdefault(document_id, []).append(at)
        elif span[1] > len(document):
            faults.add(line, None, f"{span[0]} to {span[1]}", f"the document has {len(document)} characters")
        elif text is not None and document[span[0] : span[1]] != text:
            there = document[span[0] : span[1]]
            faults.add(
                line, None, text[:60], f"but {span[0]} to {span[1]} of the document reads {there[:60]!r}"
            )
    found: dict[int, tuple[int, int]] = {}
    for document_id, places in waiting.items():
        texts = [rows[at][4] or "" for at in places]
        for at, text, place in zip(
            places, texts, locate_in_order(documents[document_id], texts), strict=True
        ):
            if isinstance(place, str):
                faults.add(rows[at][0], None, text[:60], place)
            else:
                found[at] = (place, place + len(text))
    return found


def _fields(
    names: tuple[str, ...],
    meanings: Mapping[str, tuple[str, ...]],
    known: dict[Any, Mapping[str, str]],
    strict: bool,
) -> Mapping[str, str]:
    """The field of each meaning in a row with these names.

    Raises
    ------
    WrongValue: two fields of one meaning, or (where strict) a field that has none.
    """
    if names in known:
        return known[names]
    found: dict[str, str] = {}
    meaning_of = {word: meaning for meaning, words in meanings.items() for word in words}
    for own in names:
        meaning = meaning_of.get(plain(own))
        if meaning is None and strict:
            hint = str(UnknownNameError("field", own, meanings))
            raise WrongValue(own, hint)
        if meaning is not None and meaning in found:
            # `id` beside `chunk_id` is some other id.
            if plain(own) in ("id", "docid"):
                continue
            if plain(found[meaning]) not in ("id", "docid"):
                raise WrongValue(own, f"but {found[meaning]!r} says the {meaning} too")
        if meaning is not None:
            found[meaning] = own
    known[names] = found
    return found


def _needed(row: Mapping[str, Any], name: str) -> Any:
    if row.get(name) is None:
        raise WrongValue(found_text(dict(row)), f"no {name}")
    return row[name]


def _range(row: Mapping[str, Any]) -> tuple[int, int]:
    """Start and end of a row: whole numbers, 0 ≤ start < end."""
    start, end = (_position(_needed(row, name), name) for name in ("start", "end"))
    if start >= end:
        raise WrongValue(f"{start} to {end}", "a range ends after its start (the end is excluded)")
    return start, end


def _position(value: Any, name: str) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= FURTHEST:
        raise WrongValue(found_text(value), f"{name} is a whole number of characters from 0")
    return value
