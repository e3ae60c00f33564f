"""Writing runs, judgments and queries: the format by the ending, each file whole or not at all."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import polars as pl

from leadline.checks import one_row_a_document
from leadline.errors import ROW, InputError, UsageError, printable
from leadline.formats.source import MARK
from leadline.tables import DESIGN, Qrels, Queries, RunSource

ENDINGS = {
    ".run": "trec",
    ".trec": "trec",
    ".txt": "trec",
    ".qrels": "trec",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
"""The formats by ending; `.gz` or `.zst` may follow, except for Parquet, which is packed by itself."""

Packing = Literal["uncompressed", "gzip", "zstd"]

RUN_SCHEMA: dict[str, Any] = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
"""The columns of a run as it is written."""


def format_of(path: str | Path) -> tuple[str, Packing]:
    """The format and the packing that a file's name asks for.

    Raises
    ------
    UsageError: an ending that names no format.

    >>> format_of("runs/bm25.run.gz")
    ('trec', 'gzip')
    """
    name = Path(path).name.lower()
    packing: Packing = "uncompressed"
    for ending, kind in ((".gz", "gzip"), (".zst", "zstd")):
        if name.endswith(ending):
            name, packing = name.removesuffix(ending), "gzip" if kind == "gzip" else "zstd"
    form = ENDINGS.get(Path(name).suffix)
    if form is None or (form == "parquet" and packing != "uncompressed"):
        raise UsageError(
            f"{printable(str(path))}: the ending says no format; known: {' '.join(ENDINGS)}, "
            "and .gz or .zst after all but .parquet"
        )
    return form, packing


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well, and is gone when not.

    What is no regular file (a device, a pipe) is written to directly, since it cannot be replaced.

    Raises
    ------
    UsageError: the place cannot be written to.
    """
    # Through a symbolic link the file it points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise UsageError(f"cannot write to {printable(str(path))}: it is a folder")
        yield target
        return
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        try:
            with temporary.open("xb"):
                pass
            if target.exists():
                shutil.copymode(target, temporary)
        except OSError as error:
            raise UsageError(f"cannot write to {printable(str(path))}: {error.strerror or error}") from None
        yield temporary
        try:
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
            temporary.replace(target)
        except OSError as error:
            raise UsageError(f"cannot write to {printable(str(path))}: {error.strerror or error}") from None
    finally:
        with suppress(FileNotFoundError, NotADirectoryError):
            temporary.unlink()


def write_run(run: RunSource, path: str | Path) -> None:
    """A run as a file; the rows stay in their order, and the scores read back as the same numbers.

    JSONL also holds the queries that were answered with nothing and those that failed. The other formats
    cannot say either: empty answers are left out there, and failed ones are refused.

    Raises
    ------
    UsageError: an ending without a format, or a place that cannot be written to.
    InputError: an id with white space for TREC, or failed queries for a format that cannot say so.
    """
    form, packing = format_of(path)
    if run.failed and form != "jsonl":
        raise InputError(
            f"{printable(str(path))}: {len(run.failed)} queries failed, which only JSONL can say; write it"
        )
    if form == "trec":
        write_line_blocks(_marked(_trec_lines(run, str(path))), path, packing)
    elif form == "jsonl":
        write_line_blocks(_json_run(run), path, packing)
    else:
        with atomic_write(path) as temporary:
            frames = (block.load().select(*RUN_SCHEMA) for block in run.blocks())
            sunk(frames, RUN_SCHEMA, lambda table: _sink(table, temporary, form, packing))


def _trec_lines(run: RunSource, path: str) -> Iterator[pl.DataFrame]:
    """The lines of a TREC run, block by block; all at once where the rows of a query stand in several blocks."""
    first = 1
    for frame in whole_queries_of(run):
        yield _trec_run(frame, run.name, path, first)
        first += frame.height


def _json_run(run: RunSource) -> Iterator[pl.DataFrame]:
    for block in run.blocks():
        yield _json_lines(block.load().select(*RUN_SCHEMA), "score")
    rows: list[dict[str, Any]] = [{"query_id": query, "doc_ids": []} for query in run.empty]
    rows += [{"query_id": query, "error": message} for query, message in run.failed.items()]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    yield pl.DataFrame({"line": lines}, schema={"line": pl.String})


def whole_queries_of(run: RunSource) -> Iterator[pl.DataFrame]:
    """The rows of a run, each query whole within one table: block by block where its rows stand together, else all."""
    seen: set[str] = set()
    scattered = False
    for block in run.blocks():
        mine = set(block.load()["query_id"].unique())
        scattered = scattered or not seen.isdisjoint(mine)
        seen |= mine
    frames = (block.load().select(*RUN_SCHEMA) for block in run.blocks())
    if scattered:
        yield pl.concat(frames)
    else:
        yield from frames


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Judgments as a file; whole grades are written without a decimal point.

    Documents that meet one need stand in rows of their own with a column `need`; in TREC only the first of them does.
    Judgments with strata have five columns in TREC, which `trec-sampled` reads back; their probabilities are lost
    there.

    Raises
    ------
    UsageError: an ending without a format, or a place that cannot be written to.
    InputError: an id with white space for TREC.
    """
    form, packing = format_of(path)
    extra = [name for name in ("subtopic", *DESIGN) if name in qrels.frame.columns]
    frame = qrels.frame.select("query_id", "doc_id", "grade", *extra)
    if form != "trec" and (qrels.alternatives or qrels.needs):
        frame = one_row_a_document(frame, qrels.alternatives, qrels.needs)
    if form == "trec":
        sampled = "stratum" in extra and not frame["stratum"].null_count()
        words = [name for name in extra if name == "subtopic" or (sampled and name == "stratum")]
        _no_white_space(frame, ("query_id", "doc_id", *words), str(path))
        middle = pl.col("subtopic") if "subtopic" in extra else pl.lit("0")
        stratum = [pl.col("stratum")] if sampled else []
        fields = [pl.col("query_id"), middle, pl.col("doc_id"), *stratum, as_grade(frame)]
        line = pl.concat_str(fields, separator=" ")
        write_line_blocks(_marked(iter([frame.select(line.alias("line"))])), path, packing)
        return
    if _all_whole(frame):
        frame = frame.with_columns(pl.col("grade").cast(pl.Int64))
    if form == "jsonl":
        write_lines(_json_lines(frame, "grade"), path, packing)
    else:
        write_table(frame, path)


def write_queries(queries: Queries, path: str | Path) -> None:
    """Queries as a file: query_id, text and every further column.

    Raises
    ------
    UsageError: an ending without a format, one that is TREC's (which has no queries), or a place that cannot
        be written to.
    """
    form, packing = format_of(path)
    frame = queries.frame.drop(ROW, strict=False)
    if form == "trec":
        raise UsageError(
            f"{printable(str(path))}: TREC has no file of queries; write .jsonl, .csv, .tsv or .parquet"
        )
    if form == "jsonl":
        lines = [json.dumps(row, ensure_ascii=False, default=str) for row in frame.iter_rows(named=True)]
        write_lines(pl.DataFrame({"line": lines}, schema={"line": pl.String}), path, packing)
    else:
        write_table(frame, path)


def write_table(frame: pl.DataFrame, path: str | Path) -> None:
    """A table as CSV, TSV or Parquet by the ending, with its header, packed where the ending says so.

    Raises
    ------
    UsageError: another ending, or a place that cannot be written to.
    """
    form, packing = format_of(path)
    if form not in ("csv", "tsv", "parquet"):
        raise UsageError(f"{printable(str(path))}: a table is written as .csv, .tsv or .parquet")
    with atomic_write(path) as temporary:
        _sink(frame.lazy(), temporary, form, packing)


def _sink(table: pl.LazyFrame, path: Path, form: str, packing: Packing) -> None:
    if form == "parquet":
        table.sink_parquet(path)
    else:
        separator = "\t" if form == "tsv" else ","
        table.sink_csv(path, separator=separator, compression=packing, check_extension=False)


def sunk(
    frames: Iterator[pl.DataFrame], schema: dict[str, Any], sink: Callable[[pl.LazyFrame], object]
) -> None:
    """Give tables one after another to what writes them, so that only some are in memory at a time.

    Raises
    ------
    LeadlineError: as the frames raise it while they are made.
    """
    from polars.io.plugins import register_io_source

    wrong: list[Exception] = []

    def source(*_: object) -> Iterator[pl.DataFrame]:
        try:
            yield from frames
        except Exception as error:
            # What passes through Polars comes out as an error of Polars.
            wrong.append(error)
            raise

    try:
        sink(register_io_source(source, schema=schema))
    except Exception:
        if wrong:
            raise wrong[0] from None
        raise


def write_json(value: Any, path: str | Path) -> None:
    """A value as an indented JSON file; numbers that JSON has no form for are refused.

    Raises
    ------
    InputError: an infinite number. UsageError: a place that cannot be written to.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    except ValueError:
        raise InputError(
            f"{printable(str(path))}: an infinite number, which JSON has no form for; write .jsonl or .csv"
        ) from None
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_lines(lines: pl.DataFrame, path: str | Path, packing: Packing = "uncompressed") -> None:
    """A one-column table as the lines of a text file.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary:
        _sink_lines(lines.lazy(), temporary, packing)


def write_line_blocks(
    blocks: Iterator[pl.DataFrame], path: str | Path, packing: Packing = "uncompressed"
) -> None:
    """As `write_lines`, of tables that come one after another.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary:
        sunk(blocks, {"line": pl.String}, lambda table: _sink_lines(table, temporary, packing))


def own_mark(first: str) -> str:
    """What stands before the first line: a byte-order mark of the file's own where an id begins with one, else nothing."""
    return MARK if first.startswith(MARK) else ""


def _marked(blocks: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The lines, with `own_mark` before the first."""
    first = True
    for table in blocks:
        if first and table.height:
            first = False
            mark = own_mark(table["line"][0])
            table = pl.concat([table[:1].with_columns(line=pl.lit(mark) + pl.col("line")), table[1:]])
        yield table


def _sink_lines(table: pl.LazyFrame, path: Path, packing: Packing) -> None:
    # Polars packs zstd, which Python before 3.14 cannot; so text goes through its CSV writer.
    table.sink_csv(
        path, include_header=False, quote_style="never", compression=packing, check_extension=False
    )


def as_grade(frame: pl.DataFrame) -> pl.Expr:
    """The grades as text, without a decimal point where all are whole: TREC tools read whole numbers."""
    return (pl.col("grade").cast(pl.Int64) if _all_whole(frame) else pl.col("grade")).cast(pl.String)


def _all_whole(frame: pl.DataFrame) -> bool:
    grade = pl.col("grade").cast(pl.Float64)
    return bool(frame.select(((grade == grade.floor()) & (grade.abs() < 2**53)).all()).item())


def _trec_run(frame: pl.DataFrame, name: str, path: str, first: int = 1) -> pl.DataFrame:
    """The lines of a TREC run. The rank follows the order rule; trec_eval ignores it, other tools read it."""
    _no_white_space(frame, ("query_id", "doc_id"), path, first)
    by = ["query_id", "score", "doc_id"]
    ranked = frame.with_row_index("at").sort(by, descending=[False, True, True])
    ranked = ranked.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id")).sort("at")
    tag = "_".join(name.split()) or "run"
    fields = [
        pl.col("query_id"),
        pl.lit("Q0"),
        pl.col("doc_id"),
        pl.col("rank"),
        pl.col("score"),
        pl.lit(tag),
    ]
    return ranked.select(
        pl.concat_str([field.cast(pl.String) for field in fields], separator=" ").alias("line")
    )


def _no_white_space(frame: pl.DataFrame, columns: tuple[str, ...], path: str, first: int = 1) -> None:
    for name in columns:
        # TREC separates fields by ASCII white space; a space beyond ASCII is part of the id.
        wrong = pl.col(name).str.contains(r"[ \t\n\r\x0b\x0c]")
        rows = frame.with_row_index(ROW, offset=first).filter(wrong)
        if rows.height:
            found = printable(rows[name][0])
            raise InputError(
                f"{printable(path)}: line {rows[ROW][0]}: the {name} {found!r} has white space, which "
                f"separates fields in TREC files ({rows.height} such ids); write .jsonl, .csv or .parquet"
            )


def _json_lines(frame: pl.DataFrame, number: str) -> pl.DataFrame:
    """The rows as JSON lines; infinite numbers, for which Polars writes null, are written as Python does."""
    value = pl.col(number)
    if frame[number].dtype.is_float() and not frame.select(value.is_finite().all()).item():
        lines = [json.dumps(row, ensure_ascii=False) for row in frame.iter_rows(named=True)]
        return pl.DataFrame({"line": lines}, schema={"line": pl.String})
    return frame.select(pl.struct(pl.all()).struct.json_encode().alias("line"))
