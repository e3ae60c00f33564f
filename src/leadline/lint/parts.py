"""Readers of each kind of file for a check, through the same doors that the commands use."""

from typing import Any, cast

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.errors import ROW, InputError, LeadlineError, RowFault, RowsError, amount, keeping
from leadline.formats.cuts import count_lines, whole_queries
from leadline.formats.faults import Faults, WrongValue
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.formats.source import Source
from leadline.formats.trec import QRELS, RUN, SAMPLED, Columns, Table, parse, read_lines
from leadline.ids import Ids, heads, to_series
from leadline.lint.answers import FORMATS, read_answers_file
from leadline.lint.finding import EXAMPLES, KEPT, Findings, place
from leadline.lint.kinds import Kind
from leadline.lint.reading import Asked, Read, lined, of_qrels, of_rag, of_run, read_tool_file, refused
from leadline.lint.retrying import read_on, unreadable
from leadline.tables import EVERY

BLOCK = 4 << 20
"""How many bytes of a TREC file are read at a time at most: what a block is read through takes several times its size."""


def read_run_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """A run: TREC block by block, everything else through the run reader, and once more for its ranks."""
    from leadline.formats.tools import BY_NAME

    form = asked.input_format or form
    if form == "trec":
        frame = read_trec(path, RUN, asked, found)
        if frame is None:
            return None
        _wide(path, frame, found)
        return Read(path, form, run=frame.drop("wide"), scored=asked.order == "score")
    if form in BY_NAME:
        return read_tool_file(path, form, asked, found, "run")

    def read(where: str, order: str = asked.order) -> Read:
        run = read_run(where, input_format=form, conventions=Conventions(order=cast(Any, order)))
        made = of_run(path, form, cast(Any, run))
        made.scored = made.scored and order == "score"
        return made

    made = read_on(path, form, read, found)
    if made is not None and made.scored and made.run is not None and not found.faults_of(path):
        made.run = _with_ranks(path, form, made.run, read)
    return made


def _with_ranks(path: str, form: str, run: pl.DataFrame, read: Any) -> pl.DataFrame:
    """The run with the column `rank`, where the file has one for every row."""
    try:
        ranks = read(path, "rank").run
    except LeadlineError:
        return run
    if ranks is None or ranks.height != run.height or form == "json":
        return run
    rank = -ranks["score"]
    return run if rank.equals(-run["score"]) else run.with_columns(rank=rank)


def read_trec(path: str, columns: Columns, asked: Asked, found: Findings) -> pl.DataFrame | None:
    """A TREC file as a table with lines, block by block; its wrong lines go to `found`, its right ones stay."""
    frames: list[pl.DataFrame] = []
    number = "score" if columns is RUN else "grade"
    more = {RUN: ["rank"], QRELS: ["iteration"], SAMPLED: ["stratum"]}[columns]
    line = 1
    try:
        source = Source.open(path)
        for data in whole_queries(source.chunks(min(source.block, BLOCK), binary=True)):
            frames.append(_block(bytes(data), columns, [number, *more], line, asked, path, found))
            line += count_lines(data)
    except LeadlineError as error:
        refused(error, path, found)
        return None
    # Ranks that are no numbers in one block are none in the others.
    frame = pl.concat(frames, how="vertical_relaxed", rechunk=False) if frames else pl.DataFrame()
    if frame.height == 0:
        if not found.faults_of(path):
            unreadable(InputError("no rows in it"), path, found)
        return None
    if columns is RUN:
        frame = frame if frame["rank"].null_count() == 0 else frame.drop("rank")
    return frame


def _block(
    data: bytes, columns: Columns, more: list[str], line: int, asked: Asked, path: str, found: Findings
) -> pl.DataFrame:
    comments = asked.comments
    keep = ["query_id", "doc_id", *more]
    table: Table | None = None
    if b"\0" not in data:
        try:
            table = parse(data, columns, keep, comments, path, lambda: line)
        except RowsError:
            # Read again below, for the right rows and every fault.
            table = None
    lines = count_lines(data)
    if table is not None and len(table["query_id"]) == lines and not comments:
        rows = pl.int_range(line, line + lines, eager=True, dtype=pl.UInt32)
    else:
        room = max(0, KEPT - found.faults_of(path))
        with keeping(room):
            table, faults, total = read_lines(data, columns, comments, line)
        for fault in faults:
            found.fault(path, RowFault(fault.line, fault.column, fault.found, fault.expected))
        if total > len(faults):
            found.uncounted(path, total - len(faults))
        rows = pl.Series(table[ROW], dtype=pl.UInt32)
    made = {
        name: pl.Series(table[name], dtype=pl.Float64)
        if table[name].dtype.kind == "f"
        else _of_few(table[name])
        if name == "query_id"
        else to_series(table[name])
        for name in keep
    }
    if columns is not RUN:
        return pl.DataFrame({**made, ROW: rows})
    spelled, made["rank"] = made["rank"], _ranks(made["rank"])
    frame = pl.DataFrame({**made, ROW: rows}).with_columns(_wider(data, line, rows))
    wrong = frame["rank"].is_null() | frame["rank"].cast(pl.Float64).is_nan()
    if asked.order != "rank" or not wrong.any():
        return frame
    for row, text in zip(rows.filter(wrong), spelled.filter(wrong), strict=True):
        found.fault(path, RowFault(row, 4, text, "expected a number as rank"))
    return frame.filter(~wrong)


def _of_few(ids: Ids) -> pl.Series:
    """The ids of queries as a column: the rows of one mostly stand together, so that each is made once."""
    first = heads(ids)
    if 2 * len(first) > len(ids):
        return to_series(ids)
    return to_series(ids[first]).gather(np.repeat(np.arange(len(first)), np.diff(first, append=len(ids))))


def _ranks(texts: pl.Series) -> pl.Series:
    """The ranks as numbers, small where they are whole; null where one is none."""
    whole = texts.cast(pl.Int32, strict=False)
    return texts.cast(pl.Float64, strict=False) if whole.null_count() else whole


def _wider(data: bytes, first: int, rows: pl.Series) -> pl.Series:
    """For each row whether its line has more columns than a run needs."""
    if data.count(b" ") + data.count(b"\t") <= (RUN.width - 1) * rows.len():
        return pl.Series("wide", [False], dtype=pl.Boolean).new_from_index(0, rows.len())
    lines = pl.Series(data.decode("utf-8", errors="replace").split("\n"))
    return (lines.str.count_matches(r"[^ \t\r\x0b\x0c]+").gather(rows - first) > RUN.width).alias("wide")


def _wide(path: str, frame: pl.DataFrame, found: Findings) -> None:
    """Warn where lines have more than six columns: the rest is taken for the tag, and other tools refuse it."""
    wide = frame.filter("wide")
    if wide.height:
        lines = wide[ROW].to_list()
        found.warn(
            "more-columns",
            path,
            f"{amount(wide.height, 'line has', 'lines have')} more than 6 columns: all after the fifth is taken for the tag",
            wide.height,
            line=lines[0],
            found=f"{wide['query_id'][0]} {wide['doc_id'][0]}",
            examples=[place(path, one) for one in lines[:EXAMPLES]],
        )


def read_judgments_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """Judgments, every row of them."""
    from leadline.formats.tools import BY_NAME

    form = asked.qrels_format or form
    if form in ("trec", "trec-sampled"):
        frame = read_trec(path, QRELS if form == "trec" else SAMPLED, asked, found)
        return None if frame is None else Read(path, form, qrels=frame)
    if form in BY_NAME:
        return read_tool_file(path, form, asked, found, "qrels")

    def read(where: str) -> Read:
        return of_qrels(path, form, read_qrels(where, input_format=form, conflicts=EVERY, keep_subtopic=True))

    return read_on(path, form, read, found)


def read_queries_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """Queries."""
    from leadline.formats.tools import BY_NAME

    if form in BY_NAME:
        return read_tool_file(path, form, asked, found, "queries")
    named = "trec" if form in ("tsv", "trec") and not _has_header(path) else form
    queries = read_on(path, named, lambda where: read_queries(where, input_format=named), found)
    return (
        None
        if queries is None
        else Read(path, "tsv" if named == "trec" else form, queries=lined(queries.frame))
    )


def _has_header(path: str) -> bool:
    from leadline.formats.sniff import recognise

    try:
        return recognise(Source.open(path).head()) == "tsv"
    except LeadlineError:
        return False


def read_documents_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """Documents with their texts and titles; a line of an id, a tab and a text is one too."""
    if form == "folder":
        from leadline.formats.documents import read_texts

        try:
            texts = read_texts(path)
        except InputError as error:
            more = "; a folder is taken for documents, or for a BEIR folder: name the files in it"
            refused(InputError(f"{error}{more}"), path, found)
            return None
        except LeadlineError as error:
            refused(error, path, found)
            return None
        frame = pl.DataFrame({"doc_id": list(texts), "text": list(texts.values())})
        return Read(path, form, documents=frame.with_row_index(ROW, offset=1))
    # Lines of an id, a tab and a text stand each for itself.
    form = "trec" if form in ("tsv", "trec") and _is_plain(path) else form
    documents = read_on(path, form, _documents, found)
    return None if documents is None else Read(path, "tsv" if form == "trec" else form, documents=documents)


def _is_plain(path: str) -> bool:
    from leadline.formats.documents import is_plain

    try:
        return is_plain(Source.open(path).head())
    except LeadlineError:
        return False


def _documents(where: str) -> pl.DataFrame:
    from leadline.formats.columns import plain
    from leadline.formats.documents import document_id, document_rows, document_text

    faults = Faults(where)
    ids: list[str] = []
    texts: list[str] = []
    lines: list[int] = []
    seen: dict[str, tuple[int, str]] = {}
    for line, row in document_rows(Source.open(where), faults):
        try:
            own, text = document_id(row), document_text(row)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
            continue
        if own in seen:
            first, before = seen[own]
            if before != text:
                faults.add(
                    line,
                    None,
                    own,
                    f"each document stands once, or with the same text; line {first} has another",
                )
            continue
        title = next((value for name, value in row.items() if plain(str(name)) == "title"), None)
        seen[own] = (line, text)
        ids.append(own)
        texts.append(f"{title}\n{text}" if title else text)
        lines.append(line)
    faults.check()
    return pl.DataFrame(
        {"doc_id": ids, "text": texts, ROW: lines},
        schema={"doc_id": pl.String, "text": pl.String, ROW: pl.UInt32},
    )


def read_rag_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """RAG rows; rows that have texts and no ids are queries."""

    def read(where: str) -> Read:
        try:
            return of_rag(path, form, read_rag_rows(where, input_format=form))
        except RowsError:
            raise
        except InputError:
            return Read(path, form, queries=lined(read_queries(where, input_format=form).frame), rag=True)

    return read_on(path, form, read, found)


def read_any_tool_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """A file of another tool; labelled answers are no tables of queries and documents."""
    if form in FORMATS:
        return read_answers_file(path, form, found)
    return read_tool_file(path, form, asked, found)


def read_book_file(path: str, form: str, asked: Asked, found: Findings) -> Read | None:
    """A book of judgments: its rows, and the labels that the rule `latest` makes of them."""
    from leadline.judging.exchange import rows_of
    from leadline.judging.labels import make_labels

    def read(where: str) -> Read:
        return of_qrels(path, "book", make_labels(rows_of(where)).qrels(path))

    return read_on(path, form, read, found)


READERS = {
    "run": read_run_file,
    "judgments": read_judgments_file,
    "queries": read_queries_file,
    "documents": read_documents_file,
    "rag": read_rag_file,
    "book": read_book_file,
    "tool": read_any_tool_file,
}


def read_file(path: str, kind: Kind, asked: Asked, found: Findings) -> Read | None:
    """The file as tables; what is wrong in it goes to `found`. None where nothing could be read.

    Raises
    ------
    UsageError: an option that does not fit the file.
    """
    return READERS[kind.holds](path, kind.form, asked, found)
