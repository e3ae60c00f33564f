"""The one door for files: open, recognise the format, and hand the file to its reader.

Each reader is imported when a file needs it, so that a TREC run does not wait for the others.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.conventions import Conventions
from leadline.errors import ROW, InputError, UsageError, printable
from leadline.formats.bookfile import is_book, is_rows, shown_name
from leadline.formats.sniff import checked_format, recognise
from leadline.formats.source import Source, refuse_binary
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
    texts: "Texts | None" = None,
) -> RunSource:
    """A run from a file, by default named after it; `conventions` says what orders it, and `texts` which documents
    the texts of RAG rows are.

    Raises
    ------
    InputError, RowsError: the file cannot be read or is wrong. UsageError: ranks are asked for and there are
    none. UnknownNameError: no such format.
    """
    conventions = conventions or Conventions()
    called = name or ("run" if str(path) == "-" else name_of(path))
    form = _named(path, input_format)
    if form == "beir":
        raise UsageError(f"{printable(str(path))}: a BEIR folder holds queries and judgments, not a run")
    _refuse_sampled(path, form)
    source = Source.open(path)
    form = form or _recognised(source)
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
    texts: "Texts | None" = None,
) -> Qrels:
    """Judgments from a file or a BEIR folder (its split `test`).

    Raises
    ------
    InputError, RowsError: the file cannot be read or is wrong. UnknownNameError: no such format.
    """
    form = _named(path, input_format)
    if is_book(path):
        raise _is_a_book(str(path))
    if form == "beir":
        from leadline.formats.beir import read_beir_qrels

        return read_beir_qrels(path, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade)
    source = Source.open(path)
    form = form or _recognised(source)
    if form in ("trec", "trec-sampled"):
        sampled = form == "trec-sampled"
        table = read_trec_qrels(source, comments=comments, keep_subtopic=keep_subtopic, sampled=sampled)
        return Qrels.checked(
            table, source=source.name, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade
        )
    from leadline.formats.rows import read_rows_qrels

    if form == "jsonl" and is_rows(source):
        raise _is_a_book(source.name)
    qrels = read_rows_qrels(
        source,
        form,
        keep_subtopic=keep_subtopic,
        conflicts=conflicts,
        grade_map=grade_map,
        max_grade=max_grade,
        texts=texts,
    )
    if isinstance(qrels, Qrels):
        return qrels
    if qrels.qrels is None:
        known = " (their reference texts: --documents FILE)" if qrels.reference_texts else ""
        raise InputError(f"{printable(source.name)}: no row has reference ids{known}")
    return qrels.qrels


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
    source = Source.open(path)
    form = form or _recognised(source)
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
    if form in ("beir", "trec"):
        raise UsageError(
            f"{printable(str(path))}: RAG rows come as jsonl, json, csv, tsv or parquet, not {form}"
        )
    source = Source.open(path)
    form = form or _recognised(source)
    if form == "trec":
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


def _recognised(source: Source) -> str:
    endings = [
        ending.lower() for ending in Path(source.path).suffixes if ending.lower() not in (".gz", ".zst")
    ]
    head = source.head()
    form = recognise(head, endings[-1] if endings else "")
    if form == "trec":
        # What no other format is recognised in may be no text at all.
        refuse_binary(head, source.name)
    return form


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
