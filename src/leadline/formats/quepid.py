"""Quepid's lists of judgments: ratings (`query,docid,rating`), and a book with a column for each judge."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from leadline.errors import InputError, RowFault, RowsError, UsageError, amount, printable
from leadline.formats.columns import knows, plain
from leadline.formats.delimited import NUMBER, TextTable, table_of
from leadline.formats.faults import Faults
from leadline.formats.heldtables import shown, single
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.source import MARK, Source
from leadline.formats.write import atomic_write

RATINGS = "quepid"
JUDGES = "quepid-judges"
ANONYMOUS = "Anonymous"
"""The column of a judge without a name."""
GUARDED = ("=", "+", "-", "@")
"""A spreadsheet takes what begins with one of these for a formula; Quepid puts a space before it."""


def quepid_kind(head: bytes) -> str | None:
    r"""`quepid` or `quepid-judges` where a file begins like one of Quepid's lists, else None.

    >>> [quepid_kind(head) for head in (b"query,docid,rating\n", b"query,docid,Ana,Bob\n", b"query,docid,grade\n")]
    ['quepid', 'quepid-judges', None]
    """
    first = head.decode("utf-8", errors="replace").removeprefix(MARK).partition("\n")[0].rstrip("\r")
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


def read_quepid(source: Source) -> Held:
    """Ratings; an empty cell is "not judged", never 0, and a row without a document only names a query.

    Raises
    ------
    InputError, RowsError: not UTF-8, other columns, a cell that is no number.
    """
    return _rows(_table(source, 3), source.name, [None])


def read_quepid_judges(source: Source) -> Held:
    """A book with a column for each judge; an empty cell says nothing.

    Raises
    ------
    InputError, RowsError: not UTF-8, other columns, two judges of one name, a cell that is no number.
    """
    table = _table(source, 2)
    judges = [unguarded(name) for name in table.header[2:]]
    for place, name in enumerate(judges):
        if not name or name in judges[:place]:
            expected = "each judge's column needs a name of its own"
            raise RowsError(source.name, [RowFault(1, place + 3, name or "nothing", expected)], 1)
    # Quepid writes the column of a judge without a name under this one.
    return _rows(table, source.name, [None if name == ANONYMOUS else name for name in judges])


def _table(source: Source, known: int) -> TextTable:
    table = table_of(source.read_all(), ",", source.name)
    wanted = ("query", "docid", "rating")[:known]
    names = tuple(plain(name) for name in table.header)
    if names[:known] != wanted or len(names) < 3 or (known == 3 and len(names) > 3):
        expected = ",".join(wanted) + ("" if known == 3 else " and a column for each judge")
        raise InputError(f"{printable(source.name)}: line 1: no list of Quepid, whose columns are {expected}")
    return table


def _rows(table: TextTable, name: str, judges: Sequence[str | None]) -> Held:
    faults = Faults(name)
    rows: list[Graded] = []
    asked: dict[str, Asked] = {}
    documents: set[str] = set()
    blank = 0
    for line, query, doc, *cells in table.rows(*table.header):
        query, doc = unguarded(query), unguarded(doc)
        asked.setdefault(query, Asked(query, query, line=line))
        if not query:
            faults.add(line, 1, "nothing", "a query is text of at least one character")
        elif not doc and any(cells):
            faults.add(line, 2, "nothing", "a grade needs its document")
        elif doc:
            documents.add(query)
            if not any(cells):
                blank += 1
                rows.append(Graded(query, doc, line=line))
            for place, (who, cell) in enumerate(zip(judges, cells, strict=True), start=3):
                grade = grade_of(cell)
                if cell and grade is None:
                    faults.add(line, place, cell, "a grade is a finite number")
                elif grade is not None:
                    rows.append(Graded(query, doc, grade, who, line=line))
    faults.check()
    alone = len(asked) - len(documents)
    notes = [f"{amount(blank, 'pair')} without a grade: not judged, left out"] if blank else []
    notes += [f"{amount(alone, 'query', 'queries')} without a document"] if alone else []
    return Held("text", tuple(rows), asked=tuple(asked.values()), of_judgments=tuple(notes), source=name)


def grade_of(cell: str) -> float | None:
    """The grade that a text says; None where it is no finite number.

    >>> grade_of("2"), grade_of("inf"), grade_of("")
    (2.0, None, None)
    """
    value = float(cell) if re.match(NUMBER, cell) else float("inf")
    return value if abs(value) != float("inf") else None


def write_quepid(held: Held, path: str | Path) -> None:
    """Ratings, one line a pair; a pair that is not judged has an empty cell, a query without documents a line of its own.

    Raises
    ------
    InputError: a pair with two grades. UsageError: no grade, or a place that cannot be written to.
    """
    found = single(held, path)
    pairs = dict.fromkeys((row.query, row.doc_id) for row in held.graded if row.mark is None)
    lines: list[list[str]] = []
    lines += [[q, d, shown(found[q][d]) if d in found[q] else ""] for q, d in pairs]
    told = {query for query, _ in pairs}
    lines += [[query, "", ""] for query in found if query not in told]
    write_rows(["query", "docid", "rating"], lines, path)


def write_quepid_judges(held: Held, path: str | Path) -> None:
    """A book with a column for each judge; judges without a name share the column `Anonymous`.

    Raises
    ------
    InputError: one judge with two grades for a pair, or called as one of the two other columns.
    UsageError: no grade, or a place that cannot be written to.
    """
    judges = sorted({row.who or ANONYMOUS for row in held.graded if row.grade is not None})
    if not judges:
        raise UsageError(f"{printable(str(path))}: no grade to write")
    taken = [who for who in judges if who in ("query", "docid")]
    if taken:
        raise InputError(
            f"{printable(str(path))}: a judge is called {taken[0]!r}, which is another column of a book of Quepid; "
            "give that judge another name"
        )
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in held.graded:
        if row.mark is not None:
            continue
        mine = cells.setdefault((row.query, row.doc_id), {})
        if row.grade is None:
            continue
        who, cell = row.who or ANONYMOUS, shown(row.grade)
        if mine.setdefault(who, cell) != cell:
            raise InputError(
                f"{printable(str(path))}: {printable(who)} has two grades ({mine[who]} and {cell}) for document "
                f"{printable(row.doc_id)!r} and query {printable(row.query)!r}, and a book has one"
            )
    lines = [[query, doc, *(graded.get(who, "") for who in judges)] for (query, doc), graded in cells.items()]
    told = {query for query, _ in cells}
    lines += [[q, "", *([""] * len(judges))] for q in held.keys() if q not in told]  # noqa: SIM118 - a method of its own
    write_rows(["query", "docid", *judges], lines, path)


def write_rows(
    header: Sequence[str], lines: Iterable[Sequence[str]], path: str | Path, text: Sequence[int] = (0, 1)
) -> None:
    """Rows as CSV, with Quepid's guard against formulas in the columns of `text` and in the header.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        handle.write(",".join(_cell(guarded(name)) for name in header) + "\n")
        for line in lines:
            cells = [guarded(cell) if place in text else cell for place, cell in enumerate(line)]
            handle.write(",".join(map(_cell, cells)) + "\n")


def _cell(text: str) -> str:
    """A field of CSV; the writer of Python leaves a lone carriage return without quotes."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


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
