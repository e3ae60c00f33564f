"""Recognising a book of judgments: an SQLite file, the URL of a database, or JSONL with its rows."""

import json
from collections.abc import Mapping
from pathlib import Path

from leadline.formats.source import Source

SQLITE = b"SQLite format 3\0"
OWN_FIELDS = ("who", "mark", "undoes", "kind", "evidence", "when", "guideline")
"""Fields that a row of a book has and a plain list of grades has not."""


def is_server(target: str) -> bool:
    """True for the URL of a PostgreSQL database; anything else is the path of a file."""
    return target.startswith(("postgresql://", "postgres://"))


def shown_name(target: str) -> str:
    """A book's place for messages; of a URL only host and database, without user, password and options.

    >>> shown_name("postgresql://ana:secret@db/labels?password=secret"), shown_name("judgments.db")
    ('postgresql://db/labels', 'judgments.db')
    """
    if not is_server(target):
        return target
    return "postgresql://" + target.partition("://")[2].partition("?")[0].rpartition("@")[2]


def is_book(target: str | Path) -> bool:
    """True for the URL of a database, and for a file that SQLite wrote."""
    if is_server(str(target)):
        return True
    path = Path(target)
    try:
        # What is read from a pipe is gone.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except (OSError, ValueError):
        return False


def is_rows(source: Source) -> bool:
    """True where the first line of a file is a row of a book, not a plain grade."""
    first = source.head().lstrip(b" \t\r\n").partition(b"\n")[0].decode("utf-8", errors="replace")
    if not first.startswith("{"):
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        # Broken, or longer than the head because much text is marked: the names of its fields tell.
        return '"query_id":' in first and any(f'"{name}":' in first for name in OWN_FIELDS)
    return isinstance(row, Mapping) and "query_id" in row and any(name in row for name in OWN_FIELDS)
