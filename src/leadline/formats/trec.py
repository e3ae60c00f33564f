"""TREC runs and judgments: white-space columns, read fast where they are regular, exactly everywhere.

A run line has six or more fields: query id, Q0, document id, rank, score, and a tag (all that follows).
A judgment line has four: query id, iteration, document id, grade. Fields are separated by any ASCII white space.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from leadline.errors import SHOWN_ROWS, RowFault, RowsError, printable
from leadline.formats.source import BOM, Source, refuse_binary
from leadline.tables import ROW, Block

SPACE, NEWLINE = ord(" "), ord("\n")
WHITE = b" \t\r\x0b\x0c"
"""ASCII white space within a line, as C's isspace has it."""
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """The columns of one kind of TREC file: the names kept, and where each number stands."""

    kind: str
    names: tuple[str, ...]
    number: str
    whole_tag: bool

    @property
    def width(self) -> int:
        """How many fields a line must have."""
        return len(self.names)


RUN = Columns("run", ("query_id", "q0", "doc_id", "rank", "score", "tag"), "score", True)
QRELS = Columns("judgment", ("query_id", "iteration", "doc_id", "grade"), "grade", False)
SAMPLED = Columns("sampled judgment", ("query_id", "iteration", "doc_id", "stratum", "grade"), "grade", False)
"""A judgment of a sampled pool, as NIST's sample_eval.pl reads it. Never guessed: it has to be named."""


def parse(
    block: bytes, columns: Columns, keep: Sequence[str], comments: bool, name: str, lines: range
) -> pl.DataFrame:
    """The kept columns of one block of lines; the number column is Float64, the others text.

    Regular blocks (single blanks) go straight to the parser; others are brought to that form first. Where the
    parser objects, the block is read again line by line: that reading decides, and names every fault.

    Raises
    ------
    RowsError: wrong rows, with their lines. InputError: a NUL byte.
    """
    view = np.frombuffer(block, np.uint8)
    # One pass each, without Python's lock: no control character but line ends, and so many blanks to a line.
    controls = int(np.count_nonzero(view < SPACE)) + (not block.endswith(b"\n"))
    blanks = int(np.count_nonzero(view == SPACE))
    regular = controls == len(lines) and blanks == (columns.width - 1) * len(lines)
    if not regular:
        refuse_binary(block, name, lines.start)
    text = block if regular else _normalised(block)
    if comments:
        text = re.sub(rb"(?m)^#[^\n]*(\n|\Z)", b"", text)
    if not text or text.isspace():
        return pl.DataFrame(schema={c: pl.Float64 if c == columns.number else pl.String for c in keep})
    frame = _fast(text, columns, keep)
    if frame is not None:
        return frame
    rows, faults, total = read_lines(block, columns, comments, lines.start)
    if total:
        raise RowsError(name, faults, total, advice(columns))
    return rows.select(keep)


def count_lines(block: bytes) -> int:
    """How many lines a block has; the last one may lack its end."""
    ends = int(np.count_nonzero(np.frombuffer(block, np.uint8) == NEWLINE))
    return ends + (not block.endswith(b"\n"))


def _normalised(block: bytes) -> bytes:
    """The block with one blank between fields, none at the ends of a line, and no blank lines."""
    text = block.translate(bytes.maketrans(WHITE, b" " * len(WHITE)))
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" \n")
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text


def _fast(text: bytes, columns: Columns, keep: Sequence[str]) -> pl.DataFrame | None:
    """The block through Polars' parser; None where anything is not as it should be."""
    if text.startswith(BOM):
        return None
    wanted = [n for n in columns.names if n in keep or n in (columns.number, columns.names[-1])]
    schema = {n: pl.Float64 if n == columns.number else pl.String for n in columns.names}
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            separator=" ",
            quote_char=None,
            schema=schema,
            columns=[columns.names.index(n) for n in wanted],
            truncate_ragged_lines=columns.whole_tag,
        )
    except pl.exceptions.PolarsError:
        return None
    if any(frame[n].null_count() for n in wanted):
        return None
    numbers = frame[columns.number].to_numpy()
    if np.isnan(numbers).any() or (columns is not RUN and not np.isfinite(numbers).all()):
        return None
    return frame.select(keep)


def read_lines(
    block: bytes, columns: Columns, comments: bool, first_line: int
) -> tuple[pl.DataFrame, list[RowFault], int]:
    """One block read line by line, by the letter: the rows with their line numbers, and the faults.

    Returns
    -------
    (rows, the first faults, how many lines are wrong in all)
    """
    rows: list[tuple[str | float | int, ...]] = []
    faults: list[RowFault] = []
    total = 0
    lines = block.split(b"\n")
    for number, line in enumerate(lines[:-1] if block.endswith(b"\n") else lines, first_line):
        if not line.strip(WHITE) or (comments and line.startswith(b"#")):
            continue
        row = _read_line(line, columns, number)
        if isinstance(row, RowFault):
            total += 1
            if len(faults) < SHOWN_ROWS:
                faults.append(row)
        else:
            rows.append(row)
    schema = {n: pl.Float64 if n == columns.number else pl.String for n in columns.names}
    return pl.DataFrame(rows, schema={**schema, ROW: pl.Int64}, orient="row"), faults, total


def _read_line(line: bytes, columns: Columns, number: int) -> tuple[str | float | int, ...] | RowFault:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = line.decode("latin-1")
        return RowFault(
            number, error.start + 1, found, "expected UTF-8 text (this byte is not; save the file as UTF-8)"
        )
    fields = line.translate(bytes.maketrans(WHITE, b" " * len(WHITE))).split(b" ")
    fields = [part for part in fields if part]
    names = ", ".join(columns.names)
    if columns is QRELS and len(fields) == SAMPLED.width:
        expected = f"5 columns; a judgment line has 4: {names} (with a stratum: --qrels-format trec-sampled)"
        return RowFault(number, None, text, expected)
    if columns is QRELS and len(fields) == RUN.width:
        return RowFault(
            number, None, text, f"6 columns: this is a line of a run; a judgment line has 4: {names}"
        )
    if len(fields) < columns.width or (len(fields) > columns.width and not columns.whole_tag):
        return RowFault(
            number, None, text, f"{len(fields)} columns; a {columns.kind} line has {columns.width}: {names}"
        )
    if b"\0" in line:
        return RowFault(number, None, text, "a NUL byte; text has none")
    at = columns.names.index(columns.number)
    value = fields[at]
    matched = NUMBER.fullmatch(value)
    figure = float(value) if matched else float("nan")
    if figure != figure or (columns is not RUN and figure in (float("inf"), float("-inf"))):
        return RowFault(number, at + 1, value.decode(), f"expected a number as {columns.number}")
    parts: list[str | float | int] = [part.decode() for part in fields[: columns.width]]
    parts[at] = figure
    return (*parts, number)


def advice(columns: Columns) -> str:
    """What to do about wrong lines of such a file."""
    option = "--input-format" if columns is RUN else "--qrels-format"
    return f"a {columns.kind} line reads: {' '.join(columns.names)} (or name the format with {option})"


def read_trec_qrels(
    source: Source, *, comments: bool = False, keep_subtopic: bool = False, sampled: bool = False
) -> pl.DataFrame:
    """A TREC judgment file as query_id, doc_id, grade and row (its line), with subtopic where asked.

    With `sampled` a line has five columns, and the frame a stratum.

    Raises
    ------
    RowsError: wrong lines, all counted. InputError: a binary or damaged file.
    """
    data = source.read_all()
    columns = SAMPLED if sampled else QRELS
    keep = ["query_id", "doc_id", "grade"] + (["iteration"] if keep_subtopic else [])
    keep += ["stratum"] if sampled else []
    lines = range(1, 1 + count_lines(data))
    frame = parse(data, columns, keep, comments, source.name, lines)
    if comments or frame.height != len(lines):
        frame = read_lines(data, columns, comments, 1)[0].select([*keep, ROW])
    else:
        frame = (
            frame.with_row_index(ROW, offset=1).with_columns(pl.col(ROW).cast(pl.Int64)).select([*keep, ROW])
        )
    return frame.rename({"iteration": "subtopic"}) if keep_subtopic else frame


@dataclass(frozen=True)
class TrecRun:
    """A TREC run file, read block by block; each block ends where a query ends (if rows are grouped).

    `order` is `score`, `rank` (the score becomes minus the rank) or `file` (minus the position).
    """

    source: Source
    name: str
    order: Literal["score", "rank", "file"] = "score"
    comments: bool = False
    empty: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block]:
        """The rows; each block is parsed when it is loaded.

        Raises
        ------
        InputError: a binary or damaged file. RowsError (on load): wrong rows of that block.
        """
        line = 1
        for data in whole_queries(self.source.chunks(self.source.block)):
            lines = range(line, line + count_lines(data))
            yield self._block(data, lines)
            line = lines.stop

    def _block(self, data: bytes, lines: range) -> Block:
        def load() -> pl.DataFrame:
            keep = ["query_id", "doc_id", "score"] + (["rank"] if self.order == "rank" else [])
            frame = parse(data, RUN, keep, self.comments, self.source.name, lines)
            if self.order == "rank":
                return frame.with_columns(score=-self._ranks(frame, data, lines.start)).drop("rank")
            if self.order == "file":
                return frame.with_columns(score=-(pl.int_range(pl.len()) + lines.start).cast(pl.Float64))
            return frame

        return Block(
            load, lambda: read_lines(data, RUN, self.comments, lines.start)[0][ROW].to_list(), len(data)
        )

    def _ranks(self, frame: pl.DataFrame, data: bytes, line: int) -> pl.Series:
        ranks = frame["rank"].cast(pl.Float64, strict=False)
        if ranks.null_count() or ranks.is_nan().any():
            rows = read_lines(data, RUN, self.comments, line)[0]
            wrong = rows.filter(ranks.is_null() | ranks.is_nan())
            faults = [
                RowFault(n, 4, text, "expected a number as rank")
                for n, text in zip(wrong[ROW], wrong["rank"], strict=True)
            ]
            raise RowsError(self.source.name, faults[:SHOWN_ROWS], len(faults), "or leave out --order rank")
        return ranks


def whole_queries(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes cut at line ends, and before the first line of the chunk's last query.

    Where the rows of a query stand together, no block then splits a query. A query longer than a chunk is held
    until another begins.
    """
    held: list[bytes | memoryview] = []
    for chunk in chunks:
        cut = _last_query(chunk)
        if cut:
            yield b"".join([*held, memoryview(chunk)[:cut]])
            held = [memoryview(chunk)[cut:]]
        else:
            held.append(chunk)
    if held:
        yield b"".join(held)


def _last_query(chunk: bytes) -> int:
    """Where the last query that begins in the chunk does so; 0 where none is seen to begin.

    The first line may be the rest of a line that another chunk began, so it is passed over.
    """
    low = chunk.find(b"\n") + 1
    end = chunk.rfind(b"\n") + 1
    high = chunk.rfind(b"\n", 0, end - 1) + 1 if end else 0
    if low == 0 or high <= low:
        return 0
    last = _query_at(chunk, high)
    if _query_at(chunk, low) == last:
        return 0
    # Bisection over line starts: the line at `high` is of the last query, the one at `low` is not.
    while True:
        middle = chunk.find(b"\n", (low + high) // 2, high) + 1
        if middle == 0 or middle >= high:
            middle = chunk.find(b"\n", low, high) + 1
            if middle == 0 or middle >= high:
                return high
        if _query_at(chunk, middle) == last:
            high = middle
        else:
            low = middle


def _query_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    fields = data[start : end if end >= 0 else len(data)].split(None, 1)
    return fields[0] if fields else b""


def name_of(path: str | Path) -> str:
    """A system's name: its file's name without folder and endings.

    >>> name_of("runs/bm25.run.gz")
    'bm25'
    """
    name = Path(path).name
    for ending in (
        ".gz",
        ".zst",
        ".run",
        ".trec",
        ".txt",
        ".jsonl",
        ".json",
        ".csv",
        ".tsv",
        ".parquet",
        ".res",
    ):
        name = name.removesuffix(ending) or name
    return printable(name)
