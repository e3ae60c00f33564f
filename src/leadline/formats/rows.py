"""Files of rows (JSONL, JSON, CSV, TSV, Parquet) as runs, judgments, queries and RAG rows."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from leadline.errors import InputError, RowFault, RowsError, UsageError, printable
from leadline.formats import delimited
from leadline.formats.columns import Columns, Kind, names_of, resolve, say
from leadline.formats.faults import Faults
from leadline.formats.frames import Order, qrels_of_frame, queries_of_frame, run_of_frame
from leadline.formats.jsontext import decode, objects, whole
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.formats.rag import RagRows, rag_of_records
from leadline.formats.ragfields import is_rag
from leadline.formats.records import Record, qrels_records, queries_records, run_records
from leadline.formats.source import Source
from leadline.tables import ROW, Conflicts, Qrels, Queries, Run

ROWS_ADVICE = "here a line is a row, counted from 1"

_PATTERNS = {
    # Text without escapes and control characters, or a whole number; all else is read by the letter.
    "id": r'(?:"([^"\\\x00-\x1f]+)"|(-?(?:0|[1-9][0-9]*)))',
    "number": r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)",
    "skip": r'(?:"[^"\\\x00-\x1f]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)',
}


def read_rows_run(source: Source, form: str, name: str, order: Order = "score") -> Run | RagRows:
    """A run from a file of rows in the format `form`; RagRows where its rows are RAG rows.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong. UsageError: `order="rank"` without ranks.
    """
    if form == "parquet":
        frame = read_parquet(source)
        if is_rag(frame.columns) and "doc_id" not in resolve(frame.columns, "run").found:
            return rag_of_records(records_of(frame), source=source.name, name=name, order=order)
        return run_of_frame(frame, name=name, source=source.name, order=order)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        if is_rag(table.header) and "doc_id" not in resolve(table.header, "run").found:
            return rag_of_records(records_of(table.frame), source=source.name, name=name, order=order)
        columns = table.columns("run")
        ids, numbers = _asked(columns, "run", table, order)
        return run_of_frame(table.checked(columns, ids, numbers), name=name, source=source.name, order=order)
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return run_of(value, name=name, source=source.name)
    if isinstance(records, str):
        fast = _fast_rows(records, "run", order)
        if fast is not None:
            return Run.checked(fast.rename({"number": "score"}), name, source=source.name)
        records = list(objects(records, faults))
    if _are_rag(records):
        return rag_of_records(records, source=source.name, name=name, order=order, faults=faults)
    got = run_records(records, faults, order)
    return Run.checked(got.frame, name, empty=got.empty, failed=got.failed, source=source.name)


def read_rows_qrels(
    source: Source,
    form: str,
    *,
    keep_subtopic: bool = False,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
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
            records, source=name, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade, faults=faults
        )

    if form == "parquet":
        frame = read_parquet(source)
        return rag(list(records_of(frame))) if is_rag(frame.columns) else made(frame)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        if is_rag(table.header):
            return rag(list(records_of(table.frame)))
        columns = table.columns("qrels")
        ids, numbers = _asked(columns, "qrels", table, subtopic=keep_subtopic)
        return made(table.checked(columns, ids, numbers, blank=True))
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return qrels_of(value, source=name, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade)
    if isinstance(records, str):
        fast = None if keep_subtopic else _fast_rows(records, "qrels")
        if fast is not None:
            return made(fast.rename({"number": "grade"}))
        records = list(objects(records, faults))
    return rag(records, faults) if _are_rag(records) else made(qrels_records(records, faults, keep_subtopic))


def read_rows_queries(source: Source, form: str) -> Queries | RagRows:
    """Queries from a file of rows in the format `form`; RagRows where its rows are RAG rows.

    Raises
    ------
    InputError, RowsError: the file or its rows are wrong.
    """
    if form == "parquet":
        frame = read_parquet(source)
        if is_rag(frame.columns):
            return rag_of_records(records_of(frame), source=source.name)
        return queries_of_frame(frame, source=source.name)
    if form in ("csv", "tsv"):
        table = delimited.read_table(source, "\t" if form == "tsv" else ",")
        return queries_of_frame(table.frame, source=source.name)
    records, faults, value = _json(source, form)
    if isinstance(value, Mapping):
        return queries_of(value, source=source.name)
    if isinstance(records, str):
        records = list(objects(records, faults))
    if _are_rag(records):
        return rag_of_records(records, source=source.name, faults=faults)
    return queries_of_frame(queries_records(records, faults), source=source.name)


def read_rows_rag(source: Source, form: str, name: str, order: Order = "score") -> RagRows:
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
        records = list(objects(given, faults)) if isinstance(given, str) else given
    return rag_of_records(records, source=source.name, name=name, order=order, faults=faults)


def read_parquet(source: Source) -> pl.DataFrame:
    """The table of a Parquet file, without a column that has the name kept for line numbers.

    Raises
    ------
    InputError: not a Parquet file, or a damaged one.
    """
    try:
        frame = pl.read_parquet(source.file)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{printable(source.name)}: cannot be read as Parquet ({reason})") from None
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
    one_document = any("doc_id" in resolve(k, "run").found and not is_rag(k) for k in keys)
    return not one_document and any(map(is_rag, keys))


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


def _fast_rows(text: str, kind: Kind, order: Order = "score") -> pl.DataFrame | None:
    """JSONL rows that all have the keys of the first, in its order, and plain values; else None."""
    first = text.partition("\n")[0]
    try:
        keys = tuple(json.loads(first))
    except (ValueError, RecursionError, TypeError):
        return None
    columns = resolve(keys, kind)
    number = {"score": "score", "rank": "rank", "file": ""}[order] if kind == "run" else "grade"
    wanted = [columns.found.get(meaning) for meaning in ("query_id", "doc_id", number)]
    if not number or columns.wrong or columns.system or None in wanted or len(set(keys)) < len(keys):
        return None
    kinds = {wanted[0]: "id", wanted[1]: "id", wanted[2]: "number"}
    parts = [rf'"{re.escape(key)}"\s*:\s*{_PATTERNS[kinds.get(key, "skip")]}' for key in keys]
    pattern = r"^\s*\{\s*" + r"\s*,\s*".join(parts) + r"\s*\}\s*$"
    lines = pl.Series("line", text.removesuffix("\n").split("\n"), dtype=pl.String)
    groups = lines.str.extract_groups(pattern).struct.unnest()
    frame = _columns_of(groups, keys, kinds, wanted)
    if sum(frame.null_count().row(0)):
        return None
    frame = frame.with_columns(pl.col("number").cast(pl.Float64)).with_row_index(ROW, offset=1)
    if order == "rank":
        frame = frame.with_columns(-pl.col("number"))
    return frame.select("query_id", "doc_id", "number", ROW)


def _columns_of(
    groups: pl.DataFrame, keys: tuple[str, ...], kinds: Mapping[str | None, str], wanted: list[str | None]
) -> pl.DataFrame:
    """The three columns from the groups of the pattern: an id has two (text or number), a number one."""
    at, found = 1, dict[str, pl.Expr]()
    for key in keys:
        kind = kinds.get(key, "skip")
        if kind == "id":
            found[key] = pl.coalesce(pl.col(str(at)), pl.col(str(at + 1)))
            at += 2
        elif kind == "number":
            found[key] = pl.col(str(at))
            at += 1
    names = ("query_id", "doc_id", "number")
    return groups.select(found[str(key)].alias(name) for key, name in zip(wanted, names, strict=True))
