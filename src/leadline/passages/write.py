"""Writing evidence: JSONL or Parquet by the ending, the file whole or not at all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.errors import UsageError, printable
from leadline.formats.write import atomic_write
from leadline.passages.tables import EvidenceRow

ENDINGS = (".jsonl", ".parquet")


def evidence_kind(path: str | Path) -> str:
    """The kind of file that an ending asks for.

    Raises
    ------
    UsageError: an ending that names none.

    >>> evidence_kind("evidence.jsonl")
    '.jsonl'
    """
    kind = Path(path).suffix.lower()
    if kind not in ENDINGS:
        raise UsageError(f"{printable(str(path))}: evidence is written as {' or '.join(ENDINGS)}")
    return kind


def write_evidence(rows: Sequence[EvidenceRow], path: str | Path) -> None:
    """Rows of evidence as a file that `read_evidence` reads back as the same rows.

    Raises
    ------
    UsageError: another ending, or a place that cannot be written to.
    """
    if evidence_kind(path) == ".jsonl":
        write_json_lines((row.to_dict() for row in rows), path)
        return
    import polars as pl

    schema = {
        "query_id": pl.String,
        "document_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "quote": pl.String,
        "grade": pl.Float64,
        "note": pl.String,
    }
    frame = pl.DataFrame([vars(row) for row in rows], schema=schema)
    with atomic_write(path) as temporary:
        frame.write_parquet(temporary)


def write_json_lines(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Rows as JSON, one a line.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for row in rows:
            handle.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
