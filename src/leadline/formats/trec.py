"""TREC runs and judgments: white-space columns, read fast where they are regular, exactly everywhere.

A run line has six or more fields: query id, Q0, document id, rank, score, and a tag (all that follows).
A judgment line has four: query id, iteration, document id, grade. Fields are separated by any ASCII white space.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from leadline.errors import ROW, SHOWN_ROWS, RowFault, RowsError, amount, kept_rows, printable
from leadline.formats.cuts import LineNumbers, count_lines, cuts, whole_queries
from leadline.formats.fields import Fields
from leadline.formats.source import BOM, Source, refuse_binary
from leadline.ids import Ids, of_bytes, texts, to_series
from leadline.machine import keep_freed_memory
from leadline.tables import Block, Rows

if TYPE_CHECKING:
    import polars as pl

LARGE = 64 << 20
"""From how many bytes on a file is large enough to keep memory for its next block."""
WHITE = b" \t\r\x0b\x0c"
"""ASCII white space within a line, as C's isspace has it."""
LONE = re.compile(rb"\r[ \t\x0b\x0c]*[^\s]")
"""A carriage return with more of the line behind it."""
NUMBER = re.compile(rb"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
"""There is one way only to read digits by it: with two, a long text of digits would take the square of its length."""


Table = dict[str, npt.NDArray[Any]]
"""Columns by name: ids as `leadline.ids` has them, numbers as 64-bit floats."""


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
    block: bytes, columns: Columns, keep: Sequence[str], comments: bool, name: str, line: Callable[[], int]
) -> Table:
    """The kept columns of one block of lines; `line()` is the number of its first.

    Regular blocks (single blanks) are cut at once; others are brought to that form first. Where anything is not
    as it should be, the block is read again line by line: that reading decides, and names every fault.

    Raises
    ------
    RowsError: wrong rows, with their lines. InputError: a NUL byte.
    """
    text = block if block.endswith(b"\n") else block + b"\n"
    fields = None if comments else Fields.of(text, columns.width, columns.whole_tag, plain=True)
    if fields is None:
        refuse_binary(block, name, line)
        if b"\r" in block and LONE.search(block):
            rows, faults, total = read_lines(block, columns, comments, line())
            raise RowsError(name, faults, total, advice(columns))
        text = _normalised(block) + b"\n"
        if comments:
            text = re.sub(rb"(?m)^#[^\n]*(\n|\Z)", b"", text)
        if text.isspace() or not text:
            return _table([], columns, keep)
        fields = Fields.of(text, columns.width, columns.whole_tag, plain=False)
    table = None if fields is None else _fast(fields, columns, keep)
    if table is not None:
        return table
    rows, faults, total = read_lines(block, columns, comments, line())
    if total:
        raise RowsError(name, faults, total, advice(columns))
    return {column: rows[column] for column in keep}


def _normalised(block: bytes) -> bytes:
    """The block with one blank between fields, none at the ends of a line, and no blank lines."""
    text = block.translate(bytes.maketrans(WHITE, b" " * len(WHITE)))
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" \n")
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text


def _fast(fields: Fields, columns: Columns, keep: Sequence[str]) -> Table | None:
    """The kept columns of regular lines; None where anything is not as it should be."""
    text = fields.text
    if text.startswith(BOM) or not (text.isascii() or _is_utf8(text)):
        return None
    numbers = fields.numbers(columns.names.index(columns.number))
    if numbers is None or np.isnan(numbers).any() or (columns is QRELS and not np.isfinite(numbers).all()):
        return None
    return {n: numbers if n == columns.number else fields.ids(columns.names.index(n)) for n in keep}


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _table(rows: Sequence[tuple[bytes | float | int, ...]], columns: Columns, keep: Sequence[str]) -> Table:
    """The kept columns of rows that hold every field, and their line last."""
    kinds = {columns.number: np.float64, ROW: np.int64}
    table: Table = {}
    for index, name in enumerate((*columns.names, ROW)):
        if name in keep:
            values: list[Any] = [row[index] for row in rows]
            table[name] = np.array(values, kinds[name]) if name in kinds else of_bytes(values)
    return table


def read_lines(
    block: bytes, columns: Columns, comments: bool, first_line: int
) -> tuple[Table, list[RowFault], int]:
    """One block read line by line, by the letter: the rows with their line numbers (`row`), and the faults.

    Returns
    -------
    (rows, the first faults, how many lines are wrong in all)
    """
    rows: list[tuple[bytes | float | int, ...]] = []
    faults: list[RowFault] = []
    total = 0
    lines = block.split(b"\n")
    for number, line in enumerate(lines[:-1] if block.endswith(b"\n") else lines, first_line):
        if not line.strip(WHITE) or (comments and line.startswith(b"#")):
            continue
        row = _read_line(line, columns, number)
        if isinstance(row, RowFault):
            total += 1
            if len(faults) < kept_rows():
                faults.append(row)
        else:
            rows.append(row)
    return _table(rows, columns, (*columns.names, ROW)), faults, total


def _read_line(line: bytes, columns: Columns, number: int) -> tuple[bytes | float | int, ...] | RowFault:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = line.decode("latin-1")
        return RowFault(
            number, error.start + 1, found, "expected UTF-8 text (this byte is not; save the file as UTF-8)"
        )
    if b"\r" in line.rstrip(WHITE):
        column = line.find(b"\r") + 1
        return RowFault(number, column, text, "a lone carriage return; lines end with LF or CRLF")
    fields = line.translate(bytes.maketrans(WHITE, b" " * len(WHITE))).split(b" ")
    fields = [part for part in fields if part]
    names = ", ".join(columns.names)
    if columns is QRELS and len(fields) == SAMPLED.width:
        expected = f"5 columns; a judgment line has 4: {names} (with a stratum: --qrels-format trec-sampled)"
        return RowFault(number, None, text, expected)
    if columns is QRELS and len(fields) == 3 and NUMBER.fullmatch(fields[2]):
        expected = (
            f"3 columns; a judgment line has 4: {names} (query, document, grade: --qrels-format cranqrel)"
        )
        return RowFault(number, None, text, expected)
    if columns is QRELS and len(fields) == RUN.width:
        return RowFault(
            number, None, text, f"6 columns: this is a line of a run; a judgment line has 4: {names}"
        )
    if columns is RUN and len(fields) == QRELS.width:
        return RowFault(
            number, None, text, f"4 columns: this is a line of judgments; a run line has 6: {names}"
        )
    if len(fields) < columns.width or (len(fields) > columns.width and not columns.whole_tag):
        how = ", with white space between them" if len(fields) == 1 else ""
        expected = f"{amount(len(fields), 'column')}; a {columns.kind} line has {columns.width}{how}: {names}"
        return RowFault(number, None, text, expected)
    if b"\0" in line:
        return RowFault(number, None, text, "a NUL byte; text has none")
    at = columns.names.index(columns.number)
    value = fields[at]
    matched = NUMBER.fullmatch(value)
    figure = float(value) if matched else float("nan")
    if figure != figure or (columns is not RUN and figure in (float("inf"), float("-inf"))):
        return RowFault(number, at + 1, value.decode(), _expected(fields, columns, number))
    parts: list[bytes | float | int] = [*fields[: columns.width]]
    parts[at] = figure
    return (*parts, number)


def _expected(fields: Sequence[bytes], columns: Columns, number: int) -> str:
    """What was expected of a line whose number is none; names of columns on the first line are called a header."""
    words = [field for at, field in enumerate(fields) if at != 1]
    header = number == 1 and not any(NUMBER.fullmatch(word) or re.search(rb"[0-9]", word) for word in words)
    way_out = "; a TREC file has no header: take this line away" if header else ""
    return f"expected a number as {columns.number}{way_out}"


def advice(columns: Columns) -> str:
    """What to do about wrong lines of such a file."""
    option = "--input-format" if columns is RUN else "--qrels-format"
    return f"a {columns.kind} line reads: {' '.join(columns.names)} (or name the format with {option})"


def read_trec_qrels(
    source: Source, *, comments: bool = False, keep_subtopic: bool = False, sampled: bool = False
) -> "Rows | pl.DataFrame":
    """A TREC judgment file as rows with their lines; as a frame where a subtopic or a stratum is kept too.

    With `sampled` a line has five columns, and the frame a stratum.

    Raises
    ------
    RowsError: wrong lines, all counted. InputError: a binary or damaged file.
    """
    data = source.read_all()
    columns = SAMPLED if sampled else QRELS
    keep = ["query_id", "doc_id", "grade"] + (["iteration"] if keep_subtopic else [])
    keep += ["stratum"] if sampled else []
    lines = count_lines(data)
    table = parse(data, columns, keep, comments, source.name, lambda: 1)
    number = np.arange(1, lines + 1)
    if comments or len(table["grade"]) != lines:
        table = read_lines(data, columns, comments, 1)[0]
        number = table[ROW]
    rows = Rows(table["query_id"], table["doc_id"], table["grade"], number)
    if not keep_subtopic and not sampled:
        return rows
    more = {"subtopic": "iteration"} if keep_subtopic else {}
    more |= {"stratum": "stratum"} if sampled else {}
    return rows.frame("grade").with_columns(**{name: to_series(table[own]) for name, own in more.items()})


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
        if self.order != "file" and not self.source.packed and self.source.file.is_file():
            # The blocks are cut by looking at their ends alone, and each is read by whom it is parsed.
            if self.source.size > LARGE:
                keep_freed_memory()
            lines = LineNumbers(self.source)
            for start, stop in cuts(self.source):
                read, first = partial(self.source.part, start, stop), partial(lines.at, start)
                yield self._block(read, first, stop - start)
            return
        line = 1
        for data in whole_queries(self.source.chunks(self.source.block)):
            # Bound now: the names mean the next block when the rows are asked for.
            yield self._block(partial(bytes, data), partial(int, line), len(data))
            line += count_lines(data)

    def _block(self, read: Callable[[], bytes], first: Callable[[], int], size: int) -> Block:
        def rows() -> Rows:
            data = read()
            keep = ["query_id", "doc_id", "score"] + (["rank"] if self.order == "rank" else [])
            table = parse(data, RUN, keep, self.comments, self.source.name, first)
            score = table["score"]
            if self.order == "rank":
                score = -self._ranks(table["rank"], data, first)
            elif self.order == "file":
                score = -np.arange(first(), first() + len(score), dtype=np.float64)
            return Rows(table["query_id"], table["doc_id"], score)

        return Block(rows, lambda: read_lines(read(), RUN, self.comments, first())[0][ROW].tolist(), size)

    def _ranks(self, spelled: Ids, data: bytes, line: Callable[[], int]) -> npt.NDArray[np.float64]:
        import polars as pl

        ranks = to_series(spelled).cast(pl.Float64, strict=False)
        wrong = (ranks.is_null() | ranks.is_nan()).to_numpy()
        if wrong.any():
            rows = read_lines(data, RUN, self.comments, line())[0]
            faults = [
                RowFault(number, 4, text, "expected a number as rank")
                for number, text in zip(rows[ROW][wrong].tolist(), texts(rows["rank"][wrong]), strict=True)
            ]
            raise RowsError(self.source.name, faults[:SHOWN_ROWS], len(faults), "or leave out --order rank")
        return ranks.to_numpy()


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
