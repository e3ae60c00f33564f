"""CSV and TSV with a header: every field as text, read fast where possible and by the letter elsewhere."""

import csv
import io
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.errors import ROW, InputError, RowFault, RowsError, printable
from leadline.formats.columns import Columns, Kind, knows, resolve
from leadline.formats.faults import Faults
from leadline.formats.jsontext import decode
from leadline.formats.source import Source

NUMBER = r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
"""A number as CSV may write one; no blanks, no digit groups, no NaN."""

MOST_COLUMNS = 10_000
"""A table has fewer columns; what has more is no table, and would take minutes to be told so."""

_LIMIT = threading.Lock()


@dataclass(frozen=True)
class TextTable:
    """A table whose fields are all text, with the line of each row in the column `row`."""

    frame: pl.DataFrame
    header: tuple[str, ...]
    source: str

    def rows(self, *names: str) -> "Iterator[tuple[Any, ...]]":
        """The line and the fields of the named columns of each row; a name is taken to the letter, also `*`."""
        return zip(self.frame[ROW], *(self.frame[name] for name in names), strict=True)

    def columns(self, kind: Kind) -> Columns:
        """The columns by meaning.

        Raises
        ------
        RowsError: an unknown column, or two with one meaning; names line 1 and the field's number.
        """
        columns = resolve(self.header, kind)
        if columns.wrong:
            faults = [RowFault(1, self.header.index(name) + 1, name, why) for name, why in columns.wrong]
            raise RowsError(self.source, faults, len(faults), "remove the column, or rename it")
        return columns

    def checked(
        self, columns: Columns, ids: tuple[str, ...], numbers: tuple[str, ...], blank: bool = False
    ) -> pl.DataFrame:
        """The frame with its number columns as floats, once every id and number was checked.

        Rows with an `error` need only a query id. With `blank`, an empty number is missing, not wrong.

        Raises
        ------
        RowsError: empty ids, or numbers that are none; names line and field.
        """
        failed = pl.lit(False)
        if "error" in columns.found:
            failed = pl.col(columns.found["error"]) != ""
        checks = []
        for meaning in (*ids, *numbers):
            name = columns.found[meaning]
            if meaning in ids:
                bad, what = pl.col(name) == "", "text of at least one character"
            else:
                bad, what = ~pl.col(name).str.contains(NUMBER), "a number"
                bad = bad & (pl.col(name) != "") if blank else bad
            checks.append((name, bad if meaning == "query_id" else bad & ~failed, f"a {meaning} is {what}"))
        wrong = self.frame.filter(pl.any_horizontal(bad for _, bad, _ in checks))
        if wrong.height:
            self._raise(wrong, checks)
        cast = [pl.col(columns.found[m]).cast(pl.Float64, strict=False) for m in numbers]
        return self.frame.with_columns(cast)

    def _raise(self, wrong: pl.DataFrame, checks: list[tuple[str, pl.Expr, str]]) -> None:
        faults = Faults(self.source)
        flags = wrong.select(bad.alias(str(i)) for i, (_, bad, _) in enumerate(checks))
        for row, flag in zip(wrong.iter_rows(named=True), flags.iter_rows(), strict=True):
            name, _, expected = checks[flag.index(True)]
            faults.add(row[ROW], self.header.index(name) + 1, row[name] or "nothing", expected)
        faults.check()


def read_table(source: Source, separator: str) -> TextTable:
    """The table of a CSV (`,`) or TSV (tab) file, by RFC 4180; blank lines are passed over.

    Raises
    ------
    RowsError: rows with too few or too many fields, quotes that do not close, or semicolons between fields.
    InputError: no header, no rows, a name twice in the header, or text that is not UTF-8.
    """
    return table_of(source.read_all(), separator, source.name)


def table_of(data: bytes, separator: str, name: str) -> TextTable:
    r"""As `read_table`, from bytes.

    >>> table_of(b"qid,docno\n007,\"a,b\"\n", ",", "x.csv").frame.rows()
    [(2, '007', 'a,b')]
    """
    text = decode(data, name)
    _refuse_other_separators(text, name)
    fast = _fast(data, text, separator)
    if fast is None:
        header, frame = _by_the_letter(text, separator, name)
    else:
        header, frame = fast
    if frame.height == 0:
        raise InputError(f"{printable(name)}: a header and no rows")
    return TextTable(frame, header, name)


def _refuse_other_separators(text: str, name: str) -> None:
    """Refuse a header that reads right with semicolons, as spreadsheets write where the comma is the decimal point, or bars."""
    header = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    for separator, called in ((";", "semicolons"), ("|", "bars")):
        if "," not in header and "\t" not in header and knows(header.replace('"', "").split(separator)):
            said = f"fields separated by {called}; commas or tabs separate them here"
            raise RowsError(name, [RowFault(1, None, header, said)], 1, "write the file with commas or tabs")


def _fast(data: bytes, text: str, separator: str) -> tuple[tuple[str, ...], pl.DataFrame] | None:
    """The table by Polars' parser; None for anything that the two parsers could see differently."""
    if b'"' in data or b"\r" in data.replace(b"\r\n", b""):
        return None
    header = tuple(text[: text.find("\n")].rstrip("\r").split(separator)) if "\n" in text else ()
    if (
        not header
        or len(header) > MOST_COLUMNS
        or len(set(header)) < len(header)
        or ROW in header
        or "" in header
    ):
        return None
    try:
        frame = pl.read_csv(
            data,
            separator=separator,
            quote_char=None,
            infer_schema=False,
            row_index_name=ROW,
            row_index_offset=2,
        )
    except pl.exceptions.PolarsError:
        return None
    # An empty field, a short row and a blank line look the same here; the other reader tells them apart.
    if frame.columns != [ROW, *header] or any(series.null_count() for series in frame):
        return None
    return header, frame


def _by_the_letter(text: str, separator: str, name: str) -> tuple[tuple[str, ...], pl.DataFrame]:
    faults = Faults(name)
    header: tuple[str, ...] = ()
    lines: list[int] = []
    rows: list[list[str]] = []
    with _LIMIT:
        limit = csv.field_size_limit(sys.maxsize)
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
            start = 1
            for row in reader:
                if row and not header:
                    header = tuple(row)
                    _check_header(header, name)
                elif row and len(row) != len(header):
                    faults.add(
                        start, min(len(row), len(header)), separator.join(row), _width(len(header), len(row))
                    )
                elif row:
                    lines.append(start)
                    rows.append(row)
                start = reader.line_num + 1
        except csv.Error as error:
            faults.add(
                start, None, _line(text, start), f"quotes that close, and only around whole fields ({error})"
            )
        finally:
            csv.field_size_limit(limit)
    faults.check()
    if not header:
        raise InputError(f"{printable(name)}: no header line")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    data = {ROW: pl.Series(lines, dtype=pl.UInt32)}
    data |= {
        key: pl.Series(list(values), dtype=pl.String) for key, values in zip(header, columns, strict=True)
    }
    return header, pl.DataFrame(data)


def _width(wanted: int, got: int) -> str:
    return f"expected {wanted} fields as in the header, not {got}"


def _line(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _check_header(header: tuple[str, ...], name: str) -> None:
    if len(header) > MOST_COLUMNS:
        raise InputError(f"{printable(name)}: {len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    seen: set[str] = set()
    for index, word in enumerate(header):
        if word in seen:
            raise RowsError(name, [RowFault(1, index + 1, word, "each column needs a name of its own")], 1)
        if word == ROW:
            raise RowsError(
                name, [RowFault(1, index + 1, word, "rename it: this name is kept for line numbers")], 1
            )
        seen.add(word)
