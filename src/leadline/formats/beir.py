"""A BEIR folder: corpus.jsonl, queries.jsonl and qrels/<split>.tsv, read and written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from leadline.errors import InputError, UsageError, printable
from leadline.formats.rows import read_rows_qrels, read_rows_queries
from leadline.formats.source import Source
from leadline.formats.write import as_grade, atomic_write, write_lines
from leadline.tables import Conflicts, Qrels, Queries

ENDINGS = ("", ".gz", ".zst")


def read_beir_qrels(
    folder: str | Path,
    split: str = "test",
    *,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
) -> Qrels:
    """The judgments of one split of a BEIR folder.

    Raises
    ------
    InputError: no such folder or split (the message lists those that are there), or wrong rows.
    """
    path = _file(Path(folder), f"qrels/{split}.tsv")
    options: dict[str, Any] = {"conflicts": conflicts, "grade_map": grade_map, "max_grade": max_grade}
    qrels = read_rows_qrels(Source.open(path), "tsv", **options)
    if not isinstance(qrels, Qrels):
        raise InputError(f"{printable(str(path))}: the header is not query-id, corpus-id, score")
    return qrels


def read_beir_queries(folder: str | Path) -> Queries:
    """The queries of a BEIR folder; further fields are kept where they are text or numbers.

    Raises
    ------
    InputError: no such folder or file, or wrong rows.
    """
    path = _file(Path(folder), "queries.jsonl")
    queries = read_rows_queries(Source.open(path), "jsonl")
    return queries if isinstance(queries, Queries) else queries.queries


def write_beir(
    folder: str | Path,
    *,
    queries: Queries | None = None,
    qrels: Qrels | None = None,
    corpus: Iterable[Mapping[str, str]] | None = None,
    split: str = "test",
) -> None:
    """Write those parts of a BEIR folder that are given; each file appears whole or not at all.

    `corpus` is rows with `_id`, `text` and optionally `title`.

    Raises
    ------
    InputError: an id with a tab, a line break or a quote, which tools that split lines at tabs would tear.
    UsageError: a corpus row without `_id` or `text`, or a place that cannot be written to.
    """
    target = Path(folder)
    try:
        (target / "qrels").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {printable(str(target))}: {error.strerror or error}") from None
    if qrels is not None:
        _write_qrels(qrels, target / "qrels" / f"{split}.tsv")
    if queries is not None:
        columns = [c for c in queries.frame.columns if c not in ("query_id", "row")]
        rows = (
            {"_id": row["query_id"], "text": "", **{c: row[c] for c in columns if row[c] is not None}}
            for row in queries.frame.iter_rows(named=True)
        )
        _write_jsonl(rows, target / "queries.jsonl")
    if corpus is not None:
        _write_jsonl(map(_corpus_row, corpus), target / "corpus.jsonl")


def _write_qrels(qrels: Qrels, path: Path) -> None:
    for name in ("query_id", "doc_id"):
        torn = qrels.frame.filter(pl.col(name).str.contains(r'[\t\r\n"]'))
        if torn.height:
            found = printable(torn[name][0])
            raise InputError(
                f"{printable(str(path))}: the {name} {found!r} has a tab, a line break or a quote"
            )
    fields = [pl.col("query_id"), pl.col("doc_id"), as_grade(qrels.frame)]
    lines = qrels.frame.select(pl.concat_str(fields, separator="\t").alias("line"))
    header = pl.DataFrame({"line": ["query-id\tcorpus-id\tscore"]})
    write_lines(pl.concat([header, lines]), path)


def _write_jsonl(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for row in rows:
            handle.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def _corpus_row(row: Mapping[str, str]) -> dict[str, str]:
    if "_id" not in row or "text" not in row:
        raise UsageError(f"a corpus row has _id and text; found {printable(', '.join(row)) or 'nothing'}")
    return {"title": "", **row}


def _file(folder: Path, name: str) -> Path:
    """The file of that name in the folder, plain or packed."""
    if not folder.is_dir():
        raise InputError(f"{printable(str(folder))}: no such folder")
    for ending in ENDINGS:
        path = folder / f"{name}{ending}"
        if path.is_file():
            return path
    there = sorted(p.name.partition(".")[0] for p in (folder / "qrels").glob("*.tsv*"))
    hint = (
        f"; splits there: {', '.join(map(printable, there))}" if there and name.startswith("qrels/") else ""
    )
    raise InputError(f"{printable(str(folder))}: no {printable(name)} in it, as a BEIR folder has{hint}")
