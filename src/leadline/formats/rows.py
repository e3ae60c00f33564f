"""Files of rows (JSONL, JSON, CSV, TSV, Parquet) as runs, judgments, queries and RAG rows."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from leadline.errors import ROW, InputError, RowFault, RowsError, UsageError, printable
from leadline.formats import delimited
from leadline.formats.columns import Columns, Kind, names_of, plain, resolve, say
from leadline.formats.faults import Faults
from leadline.formats.frames import Order, qrels_of_frame, queries_of_frame, run_of_frame
from leadline.formats.jsontext import decode, lines_of, objects, whole
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.formats.parquet import parquet_frame
from leadline.formats.plainrows import plain_rows, together
from leadline.formats.rag import RagRows, rag_of_records
from leadline.formats.ragfields import is_rag
from leadline.formats.records import Record, lists_left, qrels_records, queries_records, run_records
from leadline.formats.source import Source
from leadline.formats.texts import Texts
from leadline.tables import Conflicts, Qrels, Queries, Run

ROWS_ADVICE = "here a line is a row, counted from 1"


def read_rows_run(
    source: Source, form: str, name: str, order: Order = "score", texts: Texts | None = None
) -> Run | RagRows:
    """A run from a file of rows in the format `form`; RagRows where its rows are RAG rows.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong. UsageError: `order="rank"` without ranks.
    """
    if form == "parquet":
        frame = read_parquet(source)
        if is_rag(frame.columns) and "doc_id" not in resolve(frame.columns, "run").found:
            return rag_of_records(records_of(frame), source=source.name, name=name, order=order, texts=texts)
        return run_of_frame(frame, name=name, source=source.name, order=order)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        if is_rag(table.header) and "doc_id" not in resolve(table.header, "run").found:
            return rag_of_records(
                records_of(table.frame), source=source.name, name=name, order=order, texts=texts
            )
        columns = table.columns("run")
        ids, numbers = _asked(columns, "run", table, order)
        return run_of_frame(table.checked(columns, ids, numbers), name=name, source=source.name, order=order)
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return run_of(value, name=name, source=source.name)
    plain = None
    if isinstance(records, str):
        plain, lines = plain_rows(records, "run", order)
        records = list(objects(lines, faults))
    if plain is None and _are_rag(records):
        return rag_of_records(records, source=source.name, name=name, order=order, faults=faults, texts=texts)
    answered = set() if plain is None or not records else set(plain["query_id"].unique())
    got = run_records(records, faults, order, answered=answered)
    frame = together(plain, got.frame)
    return Run.checked(frame, name, empty=got.empty, failed=got.failed, source=source.name)


def read_rows_qrels(
    source: Source,
    form: str,
    *,
    keep_subtopic: bool = False,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
    texts: Texts | None = None,
) -> Qrels | RagRows:
    """Judgments from a file of rows in the format `form`; RagRows where its rows are RAG rows.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong.
    """
    name = source.name

    def made(frame: pl.DataFrame) -> Qrels:
        return qrels_of_frame(
            frame,
            source=name,
            keep_subtopic=keep_subtopic,
            conflicts=conflicts,
            grade_map=grade_map,
            max_grade=max_grade,
        )

    def rag(records: list[Record], faults: Faults | None = None) -> RagRows:
        return rag_of_records(
            records, source=name, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade, faults=faults,
            texts=texts,
        )  # fmt: skip

    if form == "parquet":
        frame = read_parquet(source)
        return rag(list(records_of(frame))) if is_rag(frame.columns) else made(frame)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        if is_rag(table.header):
            return rag(list(records_of(table.frame)))
        columns = table.columns("qrels")
        kept = keep_subtopic and "subtopic" in columns.found
        ids, numbers = _asked(columns, "qrels", table, subtopic=kept)
        numbers += ("probability",) if "probability" in columns.found else ()
        return made(table.checked(columns, ids, numbers, blank=True))
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return qrels_of(value, source=name, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade)
    plain = None
    if isinstance(records, str):
        plain, lines = plain_rows(records, "qrels", by_letter=keep_subtopic)
        records = list(objects(lines, faults))
    if plain is None and _are_rag(records):
        return rag(records, faults)
    return made(together(plain, qrels_records(records, faults, keep_subtopic)))


def read_rows_queries(source: Source, form: str) -> Queries | RagRows:
    """Queries from a file of rows in the format `form`; RagRows where its rows are RAG rows.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong.
    """
    if form == "parquet":
        frame = read_parquet(source)
        if is_rag(frame.columns):
            return rag_of_records(records_of(frame), source=source.name, need_ids=False)
        return queries_of_frame(frame, source=source.name)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        return queries_of_frame(table.frame, source=source.name)
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return queries_of(value, source=source.name)
    if isinstance(records, str):
        records = list(objects(lines_of(records), faults))
    if _are_rag(records):
        return rag_of_records(records, source=source.name, faults=faults, need_ids=False)
    queries = queries_of_frame(queries_records(records, faults), source=source.name)
    return replace(queries, left=lists_left(records))


def read_rows_rag(
    source: Source, form: str, name: str, order: Order = "score", texts: Texts | None = None
) -> RagRows:
    """RAG rows from a file of rows in the format `form`.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong.
    """
    faults = Faults(source.name)
    if form == "parquet":
        records = list(records_of(read_parquet(source)))
    elif form in ("csv", "tsv"):
        records = list(records_of(delimited.read_table(source, "\t" if form == "tsv" else ",").frame))
    else:
        given, faults, value = _json(source, form)
        if isinstance(value, Mapping):
            raise InputError(f"{printable(source.name)}: one JSON object, not a list of rows")
        records = list(objects(lines_of(given), faults)) if isinstance(given, str) else given
    return rag_of_records(records, source=source.name, name=name, order=order, faults=faults, texts=texts)


def read_parquet(source: Source) -> pl.DataFrame:
    """The table of a Parquet file, without a column that has the name kept for line numbers.

    Raises
    ------
    InputError: not a Parquet file, or a damaged one.
    """
    frame = parquet_frame(source.file, source.name)
    if frame.height == 0:
        raise InputError(f"{printable(source.name)}: a table without rows")
    return frame.drop(ROW, strict=False)


def records_of(frame: pl.DataFrame) -> Iterator[Record]:
    """The rows of a table as mappings, with their lines."""
    for index, row in enumerate(frame.iter_rows(named=True), start=1):
        line = row.pop(ROW, index)
        yield line, row


def _json(source: Source, form: str) -> tuple[str | list[Record], Faults, Any]:
    """The text of JSONL, or the rows of a JSON list; third, the object where the file is one."""
    text = decode(source.read_all(), source.name)
    if form == "jsonl":
        return text, Faults(source.name), None
    value = whole(text, source.name)
    if isinstance(value, Mapping) and isinstance(value.get("results"), list):
        value = value["results"]
    if isinstance(value, Mapping):
        return [], Faults(source.name), value
    faults = Faults(source.name, ROWS_ADVICE)
    if not isinstance(value, list):
        raise InputError(
            f"{printable(source.name)}: JSON that is neither a list of rows nor a map of queries"
        )
    records = [(line, row) for line, row in enumerate(value, start=1) if isinstance(row, Mapping)]
    for line, row in enumerate(value, start=1):
        if not isinstance(row, Mapping):
            faults.add(line, None, json.dumps(row)[:200], "each row is a JSON object")
    return records, faults, None


def _are_rag(records: list[Record]) -> bool:
    """True where some row has a list of documents and none is a row of one document."""
    keys = dict.fromkeys(tuple(record) for _, record in records)
    return not any(map(_of_one_document, keys)) and any(map(is_rag, keys))


def _of_one_document(keys: tuple[str, ...]) -> bool:
    """True where a row names one document; `id` alone is the question's, unless a number says that it was ranked."""
    found = resolve(keys, "run").found
    if "doc_id" not in found or is_rag(keys):
        return False
    return plain(found["doc_id"]) != "id" or bool({"score", "rank"} & set(found))


def _asked(
    columns: Columns, kind: Kind, table: delimited.TextTable, order: Order = "score", subtopic: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The id columns and the number column of a text table that are needed, each known to be there."""
    ids: tuple[str, ...] = ("query_id", "doc_id", *(["subtopic"] if subtopic else []))
    number = "grade" if kind == "qrels" else {"score": "score", "rank": "rank", "file": ""}[order]
    for meaning in (*ids, *([number] if number else [])):
        if meaning not in columns.found:
            if meaning == "rank":
                raise UsageError(
                    f"{printable(table.source)}: --order rank needs a column rank, and there is none"
                )
            other = " (--order rank or --order file take the order without one)" if meaning == "score" else ""
            expected = f"no column for the {say(meaning)}; accepted names: {names_of(meaning, kind)}{other}"
            raise RowsError(table.source, [RowFault(1, None, ",".join(table.header), expected)], 1)
    return ids, (number,) if number else ()
