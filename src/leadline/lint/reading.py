"""Reading a file into plain tables with the line of each row, whatever it holds, as far as its rows can stand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from leadline.errors import ROW, InputError, LeadlineError, UsageError, printable
from leadline.formats.frames import Order
from leadline.formats.lists import Held
from leadline.formats.source import Source
from leadline.lint.finding import Findings, Looked
from leadline.lint.retrying import read_on, unreadable
from leadline.tables import EVERY, Qrels, Queries, Run


@dataclass
class Read:
    """What a file holds, as tables whose column `row` is the line.

    Attributes
    ----------
    run: query_id, doc_id, score, and `rank` where the file has one. qrels: query_id, doc_id, grade, every row.
    queries: query_id and `text`. documents: doc_id and text. empty, failed: queries without a document, and with an error.
    scored: whether the run's scores stand in the file; else they only say its order.
    answers: of a file of labelled answers, how many answers, claims and labels it has.
    places: of `run` and `qrels` in a JSON text, the path of each row. notes: what was left out.
    """

    file: str
    form: str
    run: pl.DataFrame | None = None
    qrels: pl.DataFrame | None = None
    queries: pl.DataFrame | None = None
    documents: pl.DataFrame | None = None
    empty: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    scored: bool = True
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rag: bool = False
    answers: Mapping[str, int] = field(default_factory=dict)

    def looked(self) -> Looked:
        """What to say of the file."""
        run, qrels, queries, documents = self.run, self.qrels, self.queries, self.documents
        kinds = [("run", run), ("judgments", qrels), ("queries", queries), ("documents", documents)]
        asked = next((one for one in (run, qrels, queries) if one is not None), None)
        return Looked(
            self.file,
            tuple(name for name, table in kinds if table is not None) or tuple(self.answers)[:1],
            self.form,
            None if run is None else run.height,
            None if qrels is None else qrels.height,
            None if asked is None else asked["query_id"].n_unique() + len(set(self.empty)),
            None if documents is None else documents.height,
            self.answers,
        )

    def line(self, part: str, row: int) -> str:
        """A row of a table as text: its line, or its path in a JSON text."""
        path = self.path(part, row)
        return f"{printable(self.file)}: {path}" if path else f"{printable(self.file)}:{row}"

    def path(self, part: str, row: int) -> str:
        """The path of a row of a table in a JSON text; empty where it has none."""
        paths = self.places.get(part, ())
        return paths[row - 1] if 0 < row <= len(paths) else ""


@dataclass(frozen=True)
class Asked:
    """How files are read: the formats that were named, comments in TREC files, queries that give ids to texts, which of two
    formats says what a query's id is in a SMART file (`numbers`), and what orders runs.
    """

    input_format: str | None = None
    qrels_format: str | None = None
    comments: bool = False
    queries: Queries | None = None
    numbers: str | None = None
    order: Order = "score"


def read_tool_file(path: str, form: str, asked: Asked, found: Findings, part: str = "") -> Read | None:
    """A file of another tool: all that it holds, of which `part` is needed where the file was said to be that."""
    from leadline.formats.tools import read_tool

    form = (asked.numbers or form) if form == "smart" else form
    held = read_on(path, "whole", lambda where: read_tool(form, Source.open(where)), found)
    read = None if held is None else of_held(path, form, held, asked, found)
    if read is not None and part and getattr(read, part) is None:
        what = {"run": "returned documents", "qrels": "grades", "queries": "queries"}[part]
        unreadable(InputError(f"no {what} in it"), path, found)
    return read


def of_held(path: str, form: str, held: Held, asked: Asked, found: Findings) -> Read | None:
    """What a tool's file holds as tables. Texts that no query has keep their text as id."""
    from leadline.formats.heldtables import qrels_of_held, queries_of_held, run_of_held
    from leadline.formats.keys import with_ids

    notes: tuple[str, ...] = ()
    try:
        mine = with_ids(held, asked.queries)
        notes = tuple(one for one in mine.notes if one not in held.notes)
    except InputError as error:
        notes = (str(error).removeprefix(f"{printable(held.source)}: "),)
        mine = with_ids(held)
    read = Read(path, form, notes=notes)
    try:
        if mine.hits or mine.empty or mine.failed:
            run = run_of_held(mine, path)
            read.run, read.empty, read.failed = run.frame, run.empty, run.failed
            read.places["run"] = run.paths
            read.scored = not run.scoreless
        graded = [row for row in mine.graded if row.grade is not None]
        if graded:
            qrels = qrels_of_held(mine, conflicts=EVERY).frame
            read.qrels = qrels.with_columns(pl.Series(ROW, [row.line for row in graded], dtype=pl.Int64))
            if any(row.path for row in graded):
                read.qrels = qrels.with_columns(pl.Series(ROW, range(1, len(graded) + 1), dtype=pl.Int64))
                read.places["qrels"] = tuple(row.path for row in graded)
        if mine.asked:
            read.queries = lined(queries_of_held(mine).frame)
    except InputError as error:
        unreadable(error, path, found)
        return None
    if read.run is None and read.qrels is None and read.queries is None:
        unreadable(InputError("nothing in it: no hit, no grade and no query"), path, found)
        return None
    return read


def lined(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with the column `row`: lines as it has them, else its rows counted from 1."""
    return frame if ROW in frame.columns else frame.with_row_index(ROW, offset=1)


def of_run(path: str, form: str, run: Run) -> Read:
    """A run in memory as it is checked."""
    return Read(
        path,
        form,
        run=lined(run.frame),
        empty=run.empty,
        failed=run.failed,
        scored=not run.scoreless,
        places={"run": run.paths},
    )


def of_rag(path: str, form: str, rag: Any) -> Read:
    """RAG rows: what was retrieved, the references, the questions."""
    read = Read(path, form, rag=True)
    if rag.run is not None:
        read.run, read.empty, read.failed = lined(rag.run.frame), rag.run.empty, rag.run.failed
        read.scored = not rag.run.scoreless
    if rag.qrels is not None:
        read.qrels = lined(rag.qrels.frame)
    read.queries = lined(rag.queries.frame)
    return read


def of_qrels(path: str, form: str, qrels: Qrels) -> Read:
    """Judgments as they are checked."""
    return Read(path, form, qrels=lined(qrels.frame))


def refused(error: LeadlineError, path: str, found: Findings) -> None:
    """Note an error of the whole file.

    Raises
    ------
    UsageError: the error is of the call.
    """
    if isinstance(error, UsageError):
        raise error
    unreadable(error, path, found)
