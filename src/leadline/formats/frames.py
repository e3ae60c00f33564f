"""Typed tables (Parquet, data frames, parsed rows) as Run, Qrels and Queries, once their columns are told."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from leadline.errors import ROW, InputError, UsageError, printable
from leadline.formats.columns import Columns, Kind, names_of, resolve, say
from leadline.tables import DESIGN, NEED, Conflicts, Qrels, Queries, Run

Order = Literal["score", "rank", "file"]


def told_apart(names: Sequence[str], kind: Kind, source: str, strict: bool = True) -> Columns:
    """The columns of a table by meaning; with `strict`, further columns are refused.

    Raises
    ------
    InputError: two columns with one meaning, or an unknown column.
    """
    columns = resolve([name for name in names if name != ROW], kind)
    wrong = [w for w in columns.wrong if strict or w[0] not in columns.rest]
    if wrong:
        name, expected = wrong[0]
        more = f" (and {len(wrong) - 1} more columns)" if len(wrong) > 1 else ""
        raise InputError(f"{printable(source)}: column {printable(name)!r}: {expected}{more}")
    return columns


def needs(columns: Columns, meanings: Sequence[str], kind: Kind, source: str, names: Sequence[str]) -> None:
    """Raise InputError where a column that is needed is not there."""
    for meaning in meanings:
        if meaning not in columns.found:
            there = ", ".join(printable(name) for name in names if name != ROW) or "nothing"
            raise InputError(
                f"{printable(source)}: no column for the {say(meaning)} "
                f"(accepted names: {names_of(meaning, kind)}); found {there}"
            )


def number_column(columns: Columns, order: Order, source: str) -> str | None:
    """The column that orders a run: the scores, the ranks, or none for the order of the file.

    Raises
    ------
    UsageError: ranks are asked for and there are none. InputError: there is no score.
    """
    if order == "file":
        return None
    if order == "rank":
        if "rank" not in columns.found:
            raise UsageError(f"{printable(source)}: --order rank needs a column rank, and there is none")
        return columns.found["rank"]
    if "score" not in columns.found:
        other = "--order rank" if "rank" in columns.found else "--order file"
        raise InputError(f"{printable(source)}: no column for the score; {other} takes the order without one")
    return columns.found["score"]


def one_system(frame: pl.DataFrame, columns: Columns, source: str) -> None:
    """Raise InputError where a column that names the system holds several names."""
    for name in columns.system:
        kinds = frame[name].drop_nulls().unique(maintain_order=True)
        if kinds.len() > 1:
            first = " and ".join(printable(str(kind)) for kind in kinds.head(2))
            raise InputError(
                f"{printable(source)}: column {printable(name)!r} holds {kinds.len()} systems ({first}); "
                "give each system its own file"
            )


def run_of_frame(
    frame: pl.DataFrame,
    *,
    name: str = "run",
    source: str = "",
    order: Order = "score",
    strict: bool = True,
    empty: Sequence[str] = (),
) -> Run:
    """A table as a run. Rows with an `error` are queries that failed.

    Raises
    ------
    InputError, RowsError: columns or rows that cannot stand. UsageError: `order="rank"` without ranks.

    >>> table = pl.DataFrame({"qid": ["q"], "docno": ["d"], "rank": [1]})
    >>> run_of_frame(table, order="rank").frame.rows()
    [('q', 'd', -1.0, 1)]
    """
    source = source or name
    columns = told_apart(frame.columns, "run", source, strict)
    needs(columns, ("query_id",), "run", source, frame.columns)
    one_system(frame, columns, source)
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW, offset=1)
    frame, failed = _failed(frame, columns)
    if frame.height == 0 and (failed or empty):
        return Run.checked(no_rows("score"), name, empty=empty, failed=failed, source=source)
    needs(columns, ("doc_id",), "run", source, frame.columns)
    ordering = number_column(columns, order, source)
    picked = [
        pl.col(columns.found["query_id"]).alias("query_id"),
        pl.col(columns.found["doc_id"]).alias("doc_id"),
    ]
    score = pl.lit(0.0) if ordering is None else pl.col(ordering)
    run = Run.checked(
        frame.select(*picked, score.alias("score"), ROW), name, empty=empty, failed=failed, source=source
    )
    if order == "score":
        return run
    place = pl.int_range(1, pl.len() + 1).over("query_id") if ordering is None else pl.col("score")
    return Run(run.frame.with_columns((-place).cast(pl.Float64).alias("score")), name, run.empty, run.failed)


def qrels_of_frame(
    frame: pl.DataFrame,
    *,
    source: str = "qrels",
    strict: bool = True,
    keep_subtopic: bool = False,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
) -> Qrels:
    """A table as judgments. A blank grade is "unjudged", so that row is left out.

    With `keep_subtopic` a column of subtopics is kept where there is one.

    Raises
    ------
    InputError, RowsError: columns or rows that cannot stand.
    """
    columns = told_apart(frame.columns, "qrels", source, strict)
    kept = keep_subtopic and "subtopic" in columns.found
    wanted = ("query_id", "doc_id", "grade", *(("subtopic",) if kept else ()))
    needs(columns, wanted, "qrels", source, frame.columns)
    one_system(frame, columns, source)
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW, offset=1)
    design = [meaning for meaning in (*DESIGN, NEED) if meaning in columns.found]
    picked = frame.select(*(pl.col(columns.found[name]).alias(name) for name in (*wanted, *design)), ROW)
    blank = picked["grade"].null_count()
    qrels = Qrels.checked(
        picked.filter(pl.col("grade").is_not_null()),
        source=source,
        conflicts=conflicts,
        max_grade=max_grade,
        grade_map=grade_map,
    )
    return replace(qrels, left={"ungraded": blank}) if blank else qrels


def queries_of_frame(frame: pl.DataFrame, *, source: str = "queries") -> Queries:
    """A table as queries: query_id, text where there is one, and every further column as it is.

    Raises
    ------
    InputError, RowsError: no query id, one id twice, or two columns with one meaning.
    """
    columns = told_apart(frame.columns, "queries", source)
    needs(columns, ("query_id",), "queries", source, frame.columns)
    renamed = {columns.found[meaning]: meaning for meaning in columns.found}
    taken = set(renamed.values()) & set(columns.rest)
    if taken:
        raise InputError(f"{printable(source)}: two columns for the {say(taken.pop())}")
    order = [columns.found[m] for m in ("query_id", "text") if m in columns.found] + list(columns.rest)
    # By key, as in `select` a column called * or ^a$ would stand for others.
    frame = frame[[*order, *([ROW] if ROW in frame.columns else [])]]
    return Queries.checked(frame.rename(renamed), source=source)


def no_rows(number_name: str) -> pl.DataFrame:
    """A table of rows with none in it."""
    return pl.DataFrame(
        schema={"query_id": pl.String, "doc_id": pl.String, number_name: pl.Float64, ROW: pl.UInt32}
    )


def _failed(frame: pl.DataFrame, columns: Columns) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows without an error, and the message of each query that has one."""
    if "error" not in columns.found:
        return frame, {}
    message = pl.col(columns.found["error"]).cast(pl.String)
    is_error = message.is_not_null() & (message != "")
    rows = frame.filter(is_error).select(
        pl.col(columns.found["query_id"]).cast(pl.String).alias("q"), message.alias("e")
    )
    return frame.filter(~is_error), dict(rows.iter_rows())
