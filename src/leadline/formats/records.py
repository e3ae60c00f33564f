"""Rows given as mappings (JSON objects, records) as a typed table; every row and field is checked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from leadline.errors import ROW, InputError, printable
from leadline.formats.columns import Columns, Kind, names_of, resolve, say
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number, text_problem
from leadline.formats.frames import Order
from leadline.tables import DESIGN, NEED

Record = tuple[int, Mapping[str, Any]]
"""A row's line (or place, from 1) and its fields."""


Row = tuple[str, str, float, int]
"""A query id, a document id, the number and the line."""


@dataclass
class _Rows:
    """The rows of a run or of judgments as they are gathered."""

    rows: list[Row] = field(default_factory=list)
    subtopics: list[str | None] = field(default_factory=list)
    design: dict[str, list[str | float | None]] = field(default_factory=lambda: {m: [] for m in DESIGN})
    needs: list[str | None] = field(default_factory=list)
    systems: dict[str, dict[str, None]] = field(default_factory=dict)


def rows_frame(rows: Sequence[Row] | Sequence[tuple[str, str, None, int]], name: str) -> pl.DataFrame:
    """Checked rows as a table whose number column is called `name`."""
    query_id, doc_id, value, line = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pl.DataFrame(
        {
            "query_id": pl.Series(query_id, dtype=pl.String),
            "doc_id": pl.Series(doc_id, dtype=pl.String),
            name: pl.Series(value, dtype=pl.Float64),
            ROW: pl.Series(line, dtype=pl.UInt32),
        }
    )


@dataclass(frozen=True)
class RunRecords:
    """The rows of a run, the queries answered with an empty list, and those that failed."""

    frame: pl.DataFrame
    empty: tuple[str, ...]
    failed: Mapping[str, str]


def run_records(
    records: Iterable[Record],
    faults: Faults,
    order: Order = "score",
    strict: bool = True,
    answered: Set[str] = frozenset(),
) -> RunRecords:
    """Rows with query_id, doc_id and score (by `order` also rank, or neither) as a table.

    `{"query_id", "error"}` is a query that failed, `{"query_id", "doc_ids": []}` one that was answered with
    nothing. The number of the table is always called `score` and is what `order` orders by. `answered` are
    queries whose rows were read elsewhere.

    Raises
    ------
    RowsError: wrong rows, all counted, with those that `faults` already holds.
    """
    rows, empty, failed = _Rows(), dict[str, None](), dict[str, str]()
    wanted = {"score": "score", "rank": "rank", "file": None}[order]
    place: dict[str, int] = {}
    for line, record, columns in _resolved(records, "run", faults, strict):
        try:
            query = _id(record, columns, "query_id", "run")
            message = record[columns.found["error"]] if "error" in columns.found else None
            if message is not None and message != "":
                failed[query] = found_text(message)
            elif "doc_ids" in columns.found and "doc_id" not in columns.found:
                _empty_list(record[columns.found["doc_ids"]])
                empty[query] = None
            else:
                doc = _id(record, columns, "doc_id", "run")
                place[query] = place.get(query, 0) + 1
                value = _number(record, columns, wanted, "run") if wanted else float(-place[query])
                _add(rows, (query, doc, -value if order == "rank" else value, line), record, columns)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    _one_system(rows, faults.source)
    _one_outcome(answered | {row[0] for row in rows.rows}, empty, failed, faults.source)
    return RunRecords(rows_frame(rows.rows, "score"), tuple(empty), failed)


def qrels_records(
    records: Iterable[Record], faults: Faults, keep_subtopic: bool = False, strict: bool = True
) -> pl.DataFrame:
    """Rows with query_id, doc_id and grade as a table; a null grade is "unjudged", and those rows stand last.

    With `keep_subtopic` the subtopics are kept where rows name them; then all must.

    Raises
    ------
    RowsError: wrong rows, all counted, with those that `faults` already holds.
    """
    rows, blank = _Rows(), list[tuple[str, str, None, int]]()
    for line, record, columns in _resolved(records, "qrels", faults, strict):
        try:
            query = _id(record, columns, "query_id", "qrels")
            doc = _id(record, columns, "doc_id", "qrels")
            if "grade" in columns.found and record[columns.found["grade"]] is None:
                blank.append((query, doc, None, line))
                continue
            grade = _number(record, columns, "grade", "qrels", finite=True)
            named = keep_subtopic and "subtopic" in columns.found
            subtopic = _id(record, columns, "subtopic", "qrels") if named else None
            stratum, probability = _design(record, columns)
            rows.design["stratum"].append(stratum)
            rows.design["probability"].append(probability)
            rows.subtopics.append(subtopic)
            rows.needs.append(_optional_id(record, columns, "need"))
            _add(rows, (query, doc, grade, line), record, columns)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    kept = any(subtopic is not None for subtopic in rows.subtopics)
    for (*_, line), subtopic in zip(rows.rows, rows.subtopics, strict=True):
        if kept and subtopic is None:
            faults.add(line, None, "nothing", f"expected the {say('subtopic')}, as in other rows")
    faults.check()
    _one_system(rows, faults.source)
    frame = rows_frame(rows.rows, "grade")
    for name, kind in (("stratum", pl.String), ("probability", pl.Float64)):
        if any(value is not None for value in rows.design[name]):
            frame = frame.with_columns(pl.Series(name, rows.design[name], dtype=kind))
    if any(need is not None for need in rows.needs):
        frame = frame.with_columns(pl.Series(NEED, rows.needs, dtype=pl.String))
    frame = frame.with_columns(pl.Series("subtopic", rows.subtopics, dtype=pl.String)) if kept else frame
    return pl.concat([frame, rows_frame(blank, "grade")], how="diagonal") if blank else frame


def lists_left(records: Iterable[Record]) -> dict[str, int]:
    """How many fields of queries hold lists or objects, under the name of that loss; `queries_records` leaves them out.

    >>> lists_left([(1, {"query_id": "q", "tags": ["a"]})]), lists_left([])
    ({'lists': 1}, {})
    """
    names = {
        name for _, record in records for name, value in record.items() if isinstance(value, (list, dict))
    }
    return {"lists": len(names)} if names else {}


def queries_records(records: Iterable[Record], faults: Faults) -> pl.DataFrame:
    """Rows with query_id, text and further fields as a table; lists and objects among them are left out.

    A further field that holds one kind of value keeps it; one that mixes kinds becomes text.

    Raises
    ------
    RowsError: wrong rows, all counted, with those that `faults` already holds.
    """
    ids, lines = list[str](), list[int]()
    columns_of: dict[str, dict[int, Any]] = {}
    for line, record, columns in _resolved(records, "queries", faults, True):
        try:
            query = _id(record, columns, "query_id", "queries")
            fields = {name: record[name] for name in columns.rest}
            if "text" in columns.found:
                fields["text"] = _text(record[columns.found["text"]])
            for name, value in fields.items():
                _usable(name, value)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
            continue
        for name, value in fields.items():
            if not isinstance(value, (list, dict)):
                columns_of.setdefault(name, {})[len(ids)] = value
        ids.append(query)
        lines.append(line)
    faults.check()
    return queries_frame(ids, lines, columns_of)


def queries_frame(
    ids: list[str], lines: list[int], columns_of: Mapping[str, Mapping[int, Any]]
) -> pl.DataFrame:
    """A queries table from its ids and the values of each further column by row."""
    data = {"query_id": pl.Series(ids, dtype=pl.String)}
    if "text" in columns_of:
        data["text"] = _series("text", columns_of["text"], len(ids))
    for name, values in columns_of.items():
        if name not in data and name != ROW:
            data[name] = _series(name, values, len(ids))
    data[ROW] = pl.Series(lines, dtype=pl.UInt32)
    return pl.DataFrame(data)


def _series(name: str, values: Mapping[int, Any], height: int) -> pl.Series:
    column = [values.get(index) for index in range(height)]
    kinds = {type(value) for value in column} - {type(None)}
    if kinds <= {int, float} and len(kinds) == 2:
        return pl.Series(name, column, dtype=pl.Float64)
    if len(kinds) > 1 or kinds == {str} or any(type(v) is int and abs(v) >= 2**63 for v in column):
        return pl.Series(name, [v if v is None else found_text(v) for v in column], dtype=pl.String)
    return pl.Series(name, column)


def _resolved(
    records: Iterable[Record], kind: Kind, faults: Faults, strict: bool
) -> Iterator[tuple[int, Mapping[str, Any], Columns]]:
    """Each row with the meaning of its fields; rows with fields that cannot stand become faults."""
    known: dict[tuple[str, ...], Columns] = {}
    for line, record in records:
        keys = tuple(record)
        columns = known.get(keys)
        if columns is None:
            columns = known[keys] = resolve(keys, kind)
        wrong = [w for w in columns.wrong if strict or w[0] not in columns.rest]
        if wrong:
            faults.add(line, None, *wrong[0])
        else:
            yield line, record, columns


def _add(rows: _Rows, row: Row, record: Mapping[str, Any], columns: Columns) -> None:
    rows.rows.append(row)
    for name in columns.system:
        rows.systems.setdefault(name, {}).setdefault(found_text(record[name]))


def _one_system(rows: _Rows, source: str) -> None:
    for name, systems in rows.systems.items():
        if len(systems) > 1:
            first = " and ".join(map(printable, list(systems)[:2]))
            raise InputError(
                f"{printable(source)}: field {printable(name)!r} holds {len(systems)} systems ({first}); "
                "give each system its own file"
            )


def _one_outcome(
    answered: Set[str], empty: Mapping[str, None], failed: Mapping[str, str], source: str
) -> None:
    """Raise InputError where one query has documents, an empty list or an error side by side."""
    for query in (*empty, *failed):
        if query in answered or (query in empty and query in failed):
            raise InputError(
                f"{printable(source)}: query {printable(query)!r} has an empty list or an error "
                "beside another answer"
            )


def _field(record: Mapping[str, Any], columns: Columns, meaning: str, kind: Kind) -> Any:
    if meaning not in columns.found:
        raise WrongValue(
            found_text(dict(record)), f"no field for the {say(meaning)} ({names_of(meaning, kind)})"
        )
    return record[columns.found[meaning]]


def _id(record: Mapping[str, Any], columns: Columns, meaning: str, kind: Kind) -> str:
    return id_text(_field(record, columns, meaning, kind), meaning)


def _number(
    record: Mapping[str, Any], columns: Columns, meaning: str, kind: Kind, finite: bool = False
) -> float:
    return number(_field(record, columns, meaning, kind), meaning, finite)


def _design(record: Mapping[str, Any], columns: Columns) -> tuple[str | None, float | None]:
    """The stratum and the probability of a judgment; None where the row does not say."""
    chance = record[columns.found["probability"]] if "probability" in columns.found else None
    stratum = _optional_id(record, columns, "stratum")
    return stratum, None if chance is None else number(chance, "probability", True)


def _optional_id(record: Mapping[str, Any], columns: Columns, meaning: str) -> str | None:
    """An id that a row may have; None where it has none, or a blank."""
    value = record[columns.found[meaning]] if meaning in columns.found else None
    return None if value is None or value == "" else id_text(value, meaning)


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise WrongValue(found_text(value), "the query's text is text")
    return value


def _usable(name: str, value: Any) -> None:
    for text in (name, value):
        problem = text_problem(text) if isinstance(text, str) else ""
        if problem:
            raise WrongValue(text, f"expected text{problem}")


def _empty_list(value: Any) -> None:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and not value:
        return
    raise WrongValue(
        found_text(value), "doc_ids beside rows of single documents is [] (answered with nothing)"
    )
