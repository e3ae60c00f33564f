"""Which document each chunk is of: a file of rows with both ids, or a dict."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.errors import EmptyInputError, InputError, printable
from leadline.formats.columns import plain
from leadline.formats.documents import document_rows
from leadline.formats.faults import Faults, WrongValue, found_text, id_text
from leadline.formats.source import Source

CHUNK = ("chunkid", "id")
"""The names of a chunk's id, in plain form (letters and digits, lower case); the first there counts."""
DOCUMENT = ("documentid", "docid", "docno", "corpusid")
"""The names of its document's id."""


def read_mapping(given: str | Path | Mapping[Any, Any]) -> dict[str, str]:
    """Chunk id → document id, from a dict or from a file: JSONL, CSV, TSV or Parquet, such as a file of chunks.

    Further fields (ranges, texts) are passed over. A chunk may stand twice only with the same document.

    Raises
    ------
    InputError, RowsError: the file cannot be read, or rows lack an id or disagree. EmptyInputError: nothing in it.

    >>> read_mapping({"c1": "d", 2: "d"})
    {'c1': 'd', '2': 'd'}
    """
    found: dict[str, str] = {}
    if isinstance(given, Mapping):
        faults = Faults("mapping", "here a line is an entry, counted from 1")
        rows = [
            (line, {"chunk_id": a, "document_id": b}) for line, (a, b) in enumerate(given.items(), start=1)
        ]
        name = "mapping"
    elif isinstance(given, (str, Path)):
        source = Source.open(given)
        faults, name = Faults(source.name), source.name
        rows = document_rows(source, faults, "a mapping comes as rows with chunk_id and document_id")  # type: ignore[assignment]
    else:
        raise InputError(
            f"mapping: {type(given).__name__} is no mapping; pass a dict of ids or a file's path"
        )
    for line, row in rows:
        try:
            chunk, document = _id(row, CHUNK, "chunk_id"), _id(row, DOCUMENT, "document_id")
            if found.setdefault(chunk, document) != document:
                raise WrongValue(
                    f"{chunk} {document}", f"but before it is of document {printable(found[chunk])!r}"
                )
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    if not found:
        raise EmptyInputError(f"{printable(name)}: no chunk in it")
    return found


def _id(row: Mapping[str, Any], names: tuple[str, ...], meaning: str) -> str:
    """The id of a row under the first of some names.

    Raises
    ------
    WrongValue: it has none, or one that is no id.
    """
    by_name = {plain(str(name)): value for name, value in row.items()}
    own = next((by_name[name] for name in names if by_name.get(name) is not None), None)
    if own is None:
        raise WrongValue(found_text(dict(row)), f"a row of a mapping has {meaning}")
    return id_text(own, meaning)
