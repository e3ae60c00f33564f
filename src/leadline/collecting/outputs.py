"""The files of a finished collection: its rows in the order of the queries, and its ranking as a run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.collecting.asking import Query
from leadline.collecting.journal import Row
from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number
from leadline.formats.jsontext import decode, lines_of, objects
from leadline.formats.source import Source
from leadline.formats.write import atomic_write, write_run
from leadline.tables import Queries, Run


def asked_queries(queries: Queries) -> list[Query]:
    """The queries with their texts, in the order of the file.

    Raises
    ------
    InputError: a query without a text: there is nothing to ask.

    >>> import polars as pl
    >>> asked_queries(Queries.checked(pl.DataFrame({"query_id": ["q"], "text": ["why?"]})))
    [Query(query_id='q', text='why?')]
    """
    texts = queries.column("text")
    blank = [query for query, text in texts.items() if not text or not text.strip()]
    if blank:
        first = ", ".join(map(printable, blank[:3]))
        raise InputError(
            f"{printable(queries.source)}: {len(blank)} queries without a text, such as {first}: nothing to ask"
        )
    return [Query(query, str(text)) for query, text in texts.items()]


def write_rows(queries: Sequence[Query], rows: Mapping[str, Row], path: str | Path) -> None:
    """The rows as JSONL, in the order of the queries.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for query in queries:
            if query.query_id in rows:
                out.write(json.dumps(rows[query.query_id], ensure_ascii=False) + "\n")


def read_collected(path: str | Path) -> dict[str, Row]:
    """The rows of an earlier collection, by query.

    Raises
    ------
    InputError, RowsError: it cannot be read, or holds rows of another kind.
    """
    source = Source.open(path)
    faults = Faults(source.name)
    rows: dict[str, Row] = {}
    for line, row in objects(lines_of(decode(source.read_all(), source.name)), faults):
        try:
            rows[id_text(row.get("query_id"), "query_id")] = _row(row)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    return rows


def _row(row: Row) -> Row:
    """The row, once it is one that `collect` may have written.

    Raises
    ------
    WrongValue: neither ids nor an error, or ids and scores that cannot stand.
    """
    if "error" in row:
        return row
    ids, scores = row.get("retrieved_ids"), row.get("scores")
    if not isinstance(ids, list):
        raise WrongValue(found_text(row), "a row as collect writes it: query_id, and retrieved_ids or error")
    names = [id_text(one, "retrieved id") for one in ids]
    if scores is None:
        return {**row, "retrieved_ids": names}
    if not isinstance(scores, list) or len(scores) not in (0, len(ids)):
        raise WrongValue(
            found_text(scores), f"scores is a list, one for each of the {len(ids)} retrieved_ids"
        )
    return {**row, "retrieved_ids": names, "scores": [number(one, "score") for one in scores]}


def run_of_rows(queries: Sequence[Query], rows: Mapping[str, Row], name: str) -> Run:
    """The rankings as a run; where a system gave no scores, the order given stands, as −1, −2, …

    >>> one = run_of_rows([Query("q", "?")], {"q": {"retrieved_ids": ["a", "b"]}}, "live")
    >>> one.frame["score"].to_list()
    [-1.0, -2.0]
    """
    import polars as pl

    columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "score": []}
    empty, failed = [], {}
    for query in queries:
        row = rows.get(query.query_id)
        if row is None:
            continue
        if "error" in row:
            failed[query.query_id] = str(row["error"])
            continue
        ids = row["retrieved_ids"]
        columns["query_id"] += [query.query_id] * len(ids)
        columns["doc_id"] += ids
        columns["score"] += row.get("scores") or [float(-place) for place in range(1, len(ids) + 1)]
        empty += [] if ids else [query.query_id]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return Run.checked(pl.DataFrame(columns, schema=schema), name, empty=empty, failed=failed)


def write_ranking(queries: Sequence[Query], rows: Mapping[str, Row], path: str, name: str) -> str:
    """Write the run; returns why it was not written, empty where it was.

    A run file other than JSONL cannot say that a query failed: it would look like an answer without documents.

    Raises
    ------
    UsageError: a place that cannot be written to. InputError: ids that the format cannot hold.
    """
    run = run_of_rows(queries, rows, name)
    if run.failed:
        return f"{printable(path)} not written: it cannot say which queries failed; the rows (.jsonl) can"
    if run.empty and not run.frame.height:
        return f"{printable(path)} not written: every answer is empty"
    try:
        write_run(run, path)
    except InputError as error:
        return f"{printable(path)} not written: {error}"
    except UsageError:
        raise
    return ""
