"""Quepid's lists of judgments: ratings (`query,docid,rating`), and a book with a column for each judge."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import InputError, printable
from leadline.formats.columns import knows, plain
from leadline.formats.delimited import NUMBER, TextTable, table_of
from leadline.formats.faults import Faults
from leadline.formats.source import Source
from leadline.formats.write import atomic_write
from leadline.tables import ROW

RATINGS = "quepid"
JUDGES = "quepid-judges"
GUARDED = ("=", "+", "-", "@")
"""A spreadsheet takes what begins with one of these for a formula; Quepid puts a space before it."""


@dataclass(frozen=True)
class Rating:
    """One grade of Quepid's lists: `who` is the judge's column, None in a list without judges."""

    query: str
    doc_id: str
    grade: float
    who: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Ratings:
    """What a list holds: its grades, how many pairs had none, and the queries named without a document."""

    rows: tuple[Rating, ...]
    blank: int = 0
    only_queries: tuple[str, ...] = ()


def quepid_kind(head: bytes) -> str | None:
    r"""`quepid` or `quepid-judges` where a file begins like one of Quepid's lists, else None.

    >>> [quepid_kind(head) for head in (b"query,docid,rating\n", b"query,docid,Ana,Bob\n", b"query,docid,grade\n")]
    ['quepid', 'quepid-judges', None]
    """
    first = head.decode("utf-8", errors="replace").removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return None
    if [plain(name) for name in names[:2]] != ["query", "docid"] or len(names) < 3:
        return None
    if len(names) == 3 and plain(names[2]) == "rating":
        return RATINGS
    # A column that means something elsewhere is no judge's name.
    return None if any(knows([name, "query"]) for name in names[2:]) else JUDGES


def read_quepid(source: Source, kind: str) -> Ratings:
    """One of Quepid's lists; an empty cell is "not judged", never 0.

    Raises
    ------
    InputError, RowsError: not UTF-8, two columns of one name, a cell that is no number, a pair twice.
    """
    table = table_of(source.read_all(), ",", source.name)
    wanted = ("query", "docid", "rating")[: 3 if kind == RATINGS else 2]
    if tuple(plain(name) for name in table.header[: len(wanted)]) != wanted or len(table.header) < 3:
        expected = ",".join(wanted) + ("" if kind == RATINGS else " and a column for each judge")
        raise InputError(f"{printable(source.name)}: line 1: no list of Quepid, whose columns are {expected}")
    return _rows(table, source.name, [None] if kind == RATINGS else [unguarded(n) for n in table.header[2:]])


def _rows(table: TextTable, name: str, judges: Sequence[str | None]) -> Ratings:
    faults = Faults(name)
    rows: list[Rating] = []
    queries: dict[str, bool] = {}
    first: dict[tuple[str, str], int] = {}
    blank = 0
    for line, query, doc, *cells in table.frame.select(ROW, *table.header).iter_rows():
        query, doc = unguarded(query), unguarded(doc)
        queries[query] = queries.get(query, False) or bool(doc)
        if not query:
            faults.add(line, 1, "nothing", "a query is text of at least one character")
        elif not doc and any(cells):
            faults.add(line, 2, "nothing", "a grade needs its document")
        elif doc and (query, doc) in first:
            faults.add(line, 2, doc, f"but line {first[query, doc]} has the same pair")
        elif doc:
            first[query, doc] = line
            blank += not any(cells)
            for place, (who, cell) in enumerate(zip(judges, cells, strict=True), start=3):
                grade = _grade(cell)
                if cell and grade is None:
                    faults.add(line, place, cell, "a grade is a finite number")
                elif grade is not None:
                    rows.append(Rating(query, doc, grade, who, line))
    faults.check()
    return Ratings(tuple(rows), blank, tuple(query for query, with_doc in queries.items() if not with_doc))


def _grade(cell: str) -> float | None:
    value = float(cell) if re.match(NUMBER, cell) else float("inf")
    return value if abs(value) != float("inf") else None


def write_quepid(path: str | Path, rows: Iterable[Rating], judges: Sequence[str] | None = None) -> None:
    """Ratings as Quepid reads them; with `judges` a column for each of them. Each pair is one line.

    Raises
    ------
    UsageError: the place cannot be written to.
    """
    cells: dict[tuple[str, str], dict[str | None, str]] = {}
    for row in rows:
        cells.setdefault((row.query, row.doc_id), {})[row.who] = (
            f"{row.grade:.0f}" if float(row.grade).is_integer() else repr(row.grade)
        )
    columns: Sequence[str | None] = [None] if judges is None else judges
    names = ["rating"] if judges is None else [guarded(name) for name in judges]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["query", "docid", *names])
        for (query, doc), graded in cells.items():
            writer.writerow([guarded(query), guarded(doc), *(graded.get(name, "") for name in columns)])


def guarded(text: str) -> str:
    """The text with a space before it where a spreadsheet would take it for a formula.

    >>> [guarded(text) for text in ("=sum", "plain", " =x", " y")]
    [' =sum', 'plain', '  =x', ' y']
    """
    return f" {text}" if text.lstrip(" ").startswith(GUARDED) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given; a space before any other letter stays.

    >>> [unguarded(guarded(text)) for text in ("=sum", "plain", " =x", " y")]
    ['=sum', 'plain', ' =x', ' y']
    """
    return text[1:] if text.startswith(" ") and text.lstrip(" ").startswith(GUARDED) else text
