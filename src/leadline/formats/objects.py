"""Runs, judgments and queries from Python objects: dicts, data frames of any library, and rows."""

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from leadline.errors import ROW, InputError, first_line, printable
from leadline.formats.columns import knows
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number
from leadline.formats.frames import Order, qrels_of_frame, queries_of_frame, run_of_frame
from leadline.formats.records import Record, lists_left, qrels_records, queries_records, run_records
from leadline.tables import Conflicts, Qrels, Queries, Run

OBJECT_ADVICE = "here a line is a row, counted from 1"


def run_of(obj: Any, *, name: str = "run", source: str = "", order: Order = "score") -> Run:
    """A run from a Python object, which is never changed.

    It may be a Run (given back as it is), a dict of query id to `{document id: score}` or to a list of
    document ids in order (an empty one is an answer with nothing), a data frame of any library that speaks
    Arrow, or rows: tuples of query id, document id and score, mappings, or objects with those attributes.

    Raises
    ------
    InputError, RowsError: none of these, or rows that cannot stand.

    >>> run_of({"q": ["b", "a"], "r": []}).frame.rows()
    [('q', 'b', -1.0), ('q', 'a', -2.0)]
    """
    source = source or name
    if isinstance(obj, Run):
        return obj
    frame = table_of(obj, source)
    if frame is not None:
        return run_of_frame(frame, name=name, source=source, order=order, strict=False)
    if isinstance(obj, Mapping):
        pairs, empty = _pairs(obj, "score", source)
        scoreless = any(not isinstance(answer, Mapping) for answer in obj.values())
        return Run.checked(pairs, name, empty=empty, source=source, scoreless=scoreless)
    faults = Faults(source, OBJECT_ADVICE)
    got = run_records(_records(obj, ("query_id", "doc_id", "score"), faults), faults, order, strict=False)
    return Run.checked(got.frame, name, empty=got.empty, failed=got.failed, source=source)


def qrels_of(
    obj: Any,
    *,
    source: str = "qrels",
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
    keep_subtopic: bool = False,
) -> Qrels:
    """Judgments from a Python object, which is never changed: as `run_of`, with grades in place of scores.

    A list or set of document ids means grade 1 for each; a grade of None is "unjudged" and left out. A list inside
    a list, or a tuple of ids in place of one, holds alternatives: any of them meets one need.

    Raises
    ------
    InputError, RowsError: none of these, or rows that cannot stand.

    >>> qrels_of({"q": {"d": 2, "e": 0}}).frame["grade"].to_list()
    [2.0, 0.0]
    >>> qrels_of({"q": [["d", "e"], "f"]}).alternatives
    {'q': {'e': 'd'}}
    """
    if isinstance(obj, Qrels):
        return obj
    frame = table_of(obj, source)
    blank = 0
    if frame is None and isinstance(obj, Mapping):
        frame, _ = _pairs(obj, "grade", source)
        blank = sum(n is None for one in obj.values() if isinstance(one, Mapping) for n in one.values())
    elif frame is None:
        faults = Faults(source, OBJECT_ADVICE)
        records = _records(obj, ("query_id", "doc_id", "grade"), faults)
        frame = qrels_records(records, faults, keep_subtopic, strict=False)
    qrels = qrels_of_frame(
        frame,
        source=source,
        strict=False,
        keep_subtopic=keep_subtopic,
        conflicts=conflicts,
        grade_map=grade_map,
        max_grade=max_grade,
    )
    return replace(qrels, left={"ungraded": blank}) if blank else qrels


def queries_of(obj: Any, *, source: str = "queries") -> Queries:
    """Queries from a Python object: a dict of id to text (or to a mapping of fields), a data frame, or rows.

    Raises
    ------
    InputError, RowsError: none of these, or rows that cannot stand.

    >>> queries_of({"q": "who was first?"}).column("text")
    {'q': 'who was first?'}
    """
    if isinstance(obj, Queries):
        return obj
    frame = table_of(obj, source)
    if frame is not None:
        return queries_of_frame(frame, source=source)
    faults = Faults(source, OBJECT_ADVICE)
    if isinstance(obj, Mapping):
        rows = [{"query_id": k, **(v if isinstance(v, Mapping) else {"text": v})} for k, v in obj.items()]
        numbered = list(enumerate(rows, start=1))
        queries = queries_of_frame(queries_records(numbered, faults), source=source)
        return replace(queries, left=lists_left(numbered))
    return queries_of_frame(
        queries_records(_records(obj, ("query_id", "text"), faults), faults), source=source
    )


def table_of(obj: Any, source: str) -> pl.DataFrame | None:
    """A data frame as Polars sees it, without the row labels of pandas; None for what is no data frame.

    Raises
    ------
    InputError: a data frame whose columns Arrow cannot express (of mixed kinds).
    """
    if isinstance(obj, pl.LazyFrame):
        obj = obj.collect()
    if not isinstance(obj, pl.DataFrame):
        if not hasattr(obj, "__arrow_c_stream__"):
            return None
        try:
            obj = pl.DataFrame(obj)
        # pyarrow's errors are ValueError and TypeError; its absence is ImportError.
        except (ValueError, TypeError, ImportError, pl.exceptions.PolarsError) as error:
            reason = first_line(error)
            raise InputError(
                f"{printable(source)}: the table cannot be read through Arrow: {reason}"
            ) from None
    frame: pl.DataFrame = obj
    labels = [name for name in frame.columns if name.startswith("__index_level_") or name == ROW]
    return frame.drop(labels)


def _pairs(obj: Mapping[Any, Any], name: str, source: str) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a dict of queries, and the queries whose dict or list is empty."""
    if (
        len(obj) >= 2
        and knows([str(key) for key in obj])
        and not any(isinstance(v, Mapping) for v in obj.values())
    ):
        raise InputError(
            f"{printable(source)}: a dict of columns; pass a data frame, or query id → documents"
        )
    queries, docs, values, empty = list[str](), list[Any](), list[Any](), list[str]()
    needs = list[str | None]()
    faults = Faults(source, "here a line is a query, counted from 1")
    for place, (key, answer) in enumerate(obj.items(), start=1):
        try:
            query = id_text(key, "query_id")
            mine, numbers_ = _answer(answer, name)
            mine, numbers_, own = _flat(mine, numbers_) if name == "grade" else (mine, numbers_, [])
        except WrongValue as wrong:
            faults.add(place, None, wrong.found, wrong.expected)
            continue
        queries += [query] * len(mine)
        docs += mine
        values += numbers_
        needs += own
        empty += [] if mine else [query]
    faults.check()
    column = _numbers(values, queries, docs, name, source)
    frame = pl.DataFrame(
        {"query_id": _ids(queries, docs, 0, source), "doc_id": _ids(queries, docs, 1, source)}
    )
    if any(need is not None for need in needs):
        column = [column, pl.Series("need", needs, dtype=pl.String)]  # type: ignore[assignment]
    return frame.with_columns(column), empty


def _flat(docs: list[Any], grades: list[Any]) -> tuple[list[Any], list[Any], list[str | None]]:
    """Documents with their grades and needs: those of an inner list or tuple meet one need."""
    if not any(isinstance(one, (list, tuple)) for one in docs):
        return docs, grades, [None] * len(docs)
    flat = [
        (own, grade, str(at) if isinstance(one, (list, tuple)) else None)
        for at, (one, grade) in enumerate(zip(docs, grades, strict=True), start=1)
        for own in (one if isinstance(one, (list, tuple)) else [one])
    ]
    return [row[0] for row in flat], [row[1] for row in flat], [row[2] for row in flat]


def _answer(answer: Any, name: str) -> tuple[list[Any], list[Any]]:
    """The documents of one query with their numbers; a list without scores is in the order given."""
    if isinstance(answer, Mapping):
        kept = {d: n for d, n in answer.items() if n is not None} if name == "grade" else answer
        return list(kept), list(kept.values())
    if isinstance(answer, (set, frozenset)) and name == "grade":
        documents: list[Any] = sorted(answer, key=str)
    elif isinstance(answer, np.ndarray) and answer.ndim == 1:
        documents = answer.tolist()
    elif isinstance(answer, Sequence) and not isinstance(answer, (str, bytes)):
        documents = list(answer)
    else:
        raise WrongValue(found_text(answer), f"a query has {{document id: {name}}} or a list of document ids")
    grades = [1.0] * len(documents)
    return documents, grades if name == "grade" else [float(-place) for place in range(1, len(documents) + 1)]


def _ids(queries: list[str], docs: list[Any], which: int, source: str) -> pl.Series:
    """Ids as a column of text; checked one by one only where they are not all plain text."""
    values = (queries, docs)[which]
    meaning = ("query_id", "doc_id")[which]
    if set(map(type, values)) <= {str}:
        try:
            return pl.Series(values, dtype=pl.String)
        except UnicodeEncodeError:
            pass
    faults = Faults(source, OBJECT_ADVICE)
    made = [
        _checked(faults, place, queries, id_text, value, meaning)
        for place, value in enumerate(values, start=1)
    ]
    faults.check()
    return pl.Series(made, dtype=pl.String)


def _numbers(values: list[Any], queries: list[str], docs: list[Any], name: str, source: str) -> pl.Series:
    if not set(map(type, values)) <= {float}:
        faults = Faults(source, OBJECT_ADVICE)
        values = [
            _checked(faults, place, queries, number, value, name)
            for place, value in enumerate(values, start=1)
        ]
        faults.check()
    return pl.Series(name, values, dtype=pl.Float64)


def _checked(faults: Faults, place: int, queries: list[str], check: Any, value: Any, meaning: str) -> Any:
    try:
        return check(value, meaning)
    except WrongValue as wrong:
        faults.add(place, None, wrong.found, f"{wrong.expected} (query {printable(queries[place - 1])})")
        return None


def _records(obj: Any, names: tuple[str, ...], faults: Faults) -> Iterator[Record]:
    """Rows given one by one as mappings: tuples by place, objects by their attributes."""
    if isinstance(obj, (str, bytes)) or not isinstance(obj, Iterable):
        raise InputError(
            f"{printable(faults.source)}: {type(obj).__name__} is no table; pass a dict, a data frame or rows"
        )
    for line, row in enumerate(obj, start=1):
        record = _record(row, names)
        if record is None:
            faults.add(
                line,
                None,
                found_text(row),
                f"a row is ({', '.join(names)}), a mapping or an object with these",
            )
        else:
            yield line, record


def _record(row: Any, names: tuple[str, ...]) -> Mapping[str, Any] | None:
    if isinstance(row, Mapping):
        return row
    if isinstance(row, tuple) and hasattr(row, "_fields"):
        return dict(zip(row._fields, row, strict=True))
    if isinstance(row, (tuple, list)):
        return dict(zip(names, row, strict=True)) if len(row) == len(names) else None
    if isinstance(row, (str, bytes, numbers.Number)) or row is None:
        return None
    spellings = {"grade": ("grade", "relevance"), "score": ("score",)}
    found = {}
    for name in names:
        for attribute in spellings.get(name, (name,)):
            if hasattr(row, attribute):
                found[name] = getattr(row, attribute)
                break
    return found if len(found) == len(names) else None
