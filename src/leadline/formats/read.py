"""The one door for files: open, recognise the format, and hand the file to its reader.

Each reader is imported when a file needs it, so that a TREC run does not wait for the others.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from leadline.conventions import Conventions
from leadline.errors import ROW, InputError, RowsError, UsageError, printable
from leadline.formats.bookfile import is_book, is_rows, shown_name
from leadline.formats.lists import Kind
from leadline.formats.sniff import checked_format, recognise
from leadline.formats.source import Source, refuse_binary
from leadline.formats.tools import BY_NAME, IRDS
from leadline.formats.trec import TrecRun, name_of, read_trec_qrels
from leadline.tables import Conflicts, Qrels, Queries, RunSource

if TYPE_CHECKING:
    import polars as pl

    from leadline.formats.rag import RagRows
    from leadline.formats.texts import Texts


def read_run(
    path: str | Path,
    *,
    name: str | None = None,
    input_format: str | None = None,
    conventions: Conventions | None = None,
    queries: Queries | None = None,
    texts: "Texts | None" = None,
) -> RunSource:
    """A run from a file, by default named after it; `conventions` says what orders it, and `texts` which documents
    the texts of RAG rows are.

    Where the file names its queries by text, `queries` give their ids; else the text is the id.

    Raises
    ------
    InputError, RowsError: the file cannot be read or is wrong. UsageError: ranks are asked for and there are
    none. UnknownNameError: no such format.
    """
    conventions = conventions or Conventions()
    called = name or ("run" if str(path) == "-" else name_of(path))
    if str(path).startswith(IRDS):
        from leadline.formats.frames import run_of_frame
        from leadline.formats.irds import irds_frame

        frame = irds_frame(str(path), "run")
        return run_of_frame(frame, name=called, source=str(path), order=_rows_order(conventions))
    form = _named(path, input_format)
    if form == "beir":
        raise UsageError(f"{printable(str(path))}: a BEIR folder holds queries and judgments, not a run")
    _refuse_sampled(path, form)
    source = Source.open(path)
    form = form or _recognised(source, "run")
    if form in BY_NAME:
        from leadline.formats.heldtables import run_of_held
        from leadline.formats.tools import read_tool

        return run_of_held(read_tool(form, source, "run"), called, conventions.order, queries)
    if form == "trec":
        return TrecRun(source, called, conventions.order, conventions.comments)
    from leadline.formats.rag import RagRows, ids_needed
    from leadline.formats.rows import read_rows_run

    run = read_rows_run(source, form, called, conventions.order, texts)
    if not isinstance(run, RagRows):
        return run
    if run.run is None:
        raise InputError(
            ids_needed(source.name)
            if run.texts_only
            else f"{printable(source.name)}: no row has retrieved ids"
        )
    return run.run


def read_qrels(
    path: str | Path,
    *,
    input_format: str | None = None,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
    comments: bool = False,
    keep_subtopic: bool = False,
    queries: Queries | None = None,
    texts: "Texts | None" = None,
) -> Qrels:
    """Judgments from a file or a BEIR folder (its split `test`), with what a card beside it says of who made them.

    Where the file names its queries by text, `queries` give their ids; else the text is the id.

    `keep_subtopic` keeps the second column of TREC judgments, and a column of subtopics of other files that have one.

    Raises
    ------
    InputError, RowsError: the file cannot be read or is wrong. UnknownNameError: no such format.
    """
    from leadline.formats.card import with_card

    grading = {"conflicts": conflicts, "grade_map": grade_map, "max_grade": max_grade}
    return with_card(_read_qrels(path, input_format, comments, keep_subtopic, queries, texts, grading), path)


def _read_qrels(
    path: str | Path,
    input_format: str | None,
    comments: bool,
    keep_subtopic: bool,
    queries: Queries | None,
    texts: "Texts | None",
    grading: dict[str, Any],
) -> Qrels:
    """The judgments of a file, whoever made them."""
    form = _named(path, input_format)
    if is_book(path):
        raise _is_a_book(str(path))
    if form == "beir":
        from leadline.formats.beir import read_beir_qrels

        return read_beir_qrels(path, **grading)
    if str(path).startswith(IRDS):
        from leadline.formats.frames import qrels_of_frame
        from leadline.formats.irds import irds_frame

        frame = irds_frame(str(path), "judgments")
        return qrels_of_frame(frame, source=str(path), keep_subtopic=keep_subtopic, **grading)
    source = Source.open(path)
    form = form or _recognised(source, "judgments")
    if form in BY_NAME:
        from leadline.formats.heldtables import qrels_of_held
        from leadline.formats.tools import read_tool

        return qrels_of_held(read_tool(form, source, "judgments"), queries, **grading)
    if form in ("trec", "trec-sampled"):
        sampled = form == "trec-sampled"
        table = read_trec_qrels(source, comments=comments, keep_subtopic=keep_subtopic, sampled=sampled)
        try:
            return Qrels.checked(table, source=source.name, **grading)
        except RowsError as error:
            raise error if keep_subtopic else _told_apart(error, source, comments, sampled) from None
    from leadline.formats.rows import read_rows_qrels

    if form == "jsonl" and is_rows(source):
        raise _is_a_book(source.name)
    qrels = read_rows_qrels(source, form, keep_subtopic=keep_subtopic, texts=texts, **grading)
    if isinstance(qrels, Qrels):
        return qrels
    if qrels.qrels is None:
        known = " (their reference texts: --documents FILE)" if qrels.reference_texts else ""
        raise InputError(f"{printable(source.name)}: no row has reference ids{known}")
    return qrels.qrels


def _told_apart(error: RowsError, source: Source, comments: bool, sampled: bool) -> RowsError:
    """The error; where pairs clash and column 2 tells them apart, with the advice to read it as the subtopic."""
    from leadline.checks import CONFLICT_ADVICE

    if error.advice != CONFLICT_ADVICE:
        return error
    table = read_trec_qrels(source, comments=comments, keep_subtopic=True, sampled=sampled)
    try:
        Qrels.checked(table, source=source.name)
    except RowsError:
        return error
    more = "or, as column 2 tells them apart: ask for a measure of subtopics, such as StRecall@10, beside the others"
    return RowsError(error.source, error.faults, error.total, f"{error.advice};\n  {more}")


def read_queries(path: str | Path, *, input_format: str | None = None) -> Queries:
    """Queries from a file or a BEIR folder; without a header, each line is an id, a tab and the text.

    Raises
    ------
    InputError, RowsError: the file cannot be read or is wrong. UnknownNameError: no such format.
    """
    form = _named(path, input_format)
    _refuse_sampled(path, form)
    if form == "beir":
        from leadline.formats.beir import read_beir_queries

        return read_beir_queries(path)
    if str(path).startswith(IRDS):
        from leadline.formats.frames import queries_of_frame
        from leadline.formats.irds import irds_frame

        return queries_of_frame(irds_frame(str(path), "queries"), source=str(path))
    source = Source.open(path)
    form = form or _recognised(source, "queries")
    if form in BY_NAME:
        from leadline.formats.heldtables import queries_of_held
        from leadline.formats.tools import read_tool

        return queries_of_held(read_tool(form, source, "queries"))
    if form == "trec":
        return Queries.checked(_id_and_text(source), source=source.name)
    from leadline.formats.rows import read_rows_queries

    queries = read_rows_queries(source, form)
    return queries if isinstance(queries, Queries) else queries.queries


def read_rag_rows(
    path: str | Path,
    *,
    name: str | None = None,
    input_format: str | None = None,
    conventions: Conventions | None = None,
    texts: "Texts | None" = None,
) -> "RagRows":
    """The rows of a RAG tool from a file: retrieved ids, reference ids, and the queries.

    Raises
    ------
    InputError, RowsError: the file cannot be read, is wrong, or has no ids. UnknownNameError: no such format.
    """
    form = _named(path, input_format)
    _refuse_sampled(path, form)
    if form in ("beir", "trec", *BY_NAME) or str(path).startswith(IRDS):
        raise UsageError(
            f"{printable(str(path))}: no RAG rows, which come as jsonl, json, csv, tsv or parquet, not {form or IRDS}"
        )
    source = Source.open(path)
    form = form or _recognised(source, "run")
    if form == "trec" or form in BY_NAME:
        raise InputError(
            f"{printable(source.name)}: no RAG rows: neither JSON, nor a header with known columns"
        )
    called = name or ("run" if str(path) == "-" else name_of(path))
    from leadline.formats.rows import read_rows_rag

    return read_rows_rag(source, form, called, (conventions or Conventions()).order, texts)


def _refuse_sampled(path: str | Path, form: str | None) -> None:
    """Refuse the five columns of sampled judgments for what is none."""
    if form == "trec-sampled":
        raise UsageError(f"{printable(str(path))}: trec-sampled is a format of judgments: --qrels-format")


def _is_a_book(name: str) -> InputError:
    return InputError(
        f"{printable(shown_name(name))}: a book of judgments; make its labels first: leadline book export BOOK "
        "qrels.txt (in Python: leadline.judging.labels, make_labels(rows_of(BOOK)).qrels())"
    )


def _named(path: str | Path, input_format: str | None) -> str | None:
    """The format the user named, or `beir` for a folder that is one; None where the content decides."""
    if input_format == "ranx":
        # What ranx writes is a JSON map or a table, which the readers of the house know.
        return None
    if input_format is not None:
        return checked_format(input_format)
    folder = Path(path)
    if (
        str(path) != "-"
        and folder.is_dir()
        and ((folder / "qrels").is_dir() or any(folder.glob("queries.jsonl*")))
    ):
        return "beir"
    return None


def _recognised(source: Source, kind: Kind) -> str:
    """The format by content: another tool's where it is sure, else one of the house."""
    from leadline.formats.toolsniff import recognise_tool

    head = source.head()
    tool = recognise_tool(head, kind)
    if tool is not None:
        return tool
    form = recognise(head, source.ending)
    if form == "trec":
        # What no other format is recognised in may be no text at all.
        refuse_binary(head, source.name)
    return form


def _rows_order(rules: Conventions) -> Literal["score", "file"]:
    """What orders rows that have a score and no rank."""
    return "file" if rules.order == "file" else "score"


def _id_and_text(source: Source) -> "pl.DataFrame":
    import polars as pl

    from leadline.formats.faults import Faults
    from leadline.formats.jsontext import decode

    faults = Faults(source.name, "or give the file a header, or name its format with --input-format")
    rows: list[tuple[str, str, int]] = []
    for line, raw in enumerate(decode(source.read_all(), source.name).split("\n"), start=1):
        text = raw.removesuffix("\r")
        if not text.strip():
            continue
        query, tab, rest = text.partition("\t")
        if "\r" in text:
            faults.add(line, text.find("\r") + 1, text, "a lone carriage return; lines end with LF or CRLF")
        elif tab and query:
            rows.append((query, rest, line))
        else:
            faults.add(line, None, text, "expected a query id, a tab and the query's text")
    faults.check()
    return pl.DataFrame(rows, schema={"query_id": pl.String, "text": pl.String, ROW: pl.UInt32}, orient="row")
