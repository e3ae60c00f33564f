"""The book of judgments: append-only, in an SQLite file or a PostgreSQL database, behind one small interface."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError

from leadline.errors import InputError, MissingExtraError, printable
from leadline.formats.bookfile import is_server, shown_name
from leadline.judging.judgment import FLAGS, Judgment, Span, by_time, standing
from leadline.judging.migrations import STEPS, migrate, version_of

COLUMNS = (
    "id", "query_id", "doc_id", "grade", "who", "kind", "mark", "model", "evidence", "text_hash", "guideline",
    "seconds", "note", "when", "repeat", "probability", "stratum", "undoes", "adjudicates",
)  # fmt: skip

AT_ONCE = 1000
"""Rows given to the database in one call."""

WAIT = 30.0
"""Seconds that a writer waits for another."""

WRITERS = 7101
"""The number of the lock that writers of a PostgreSQL book take; any that no other program of the database uses."""

LAST_STANDING = """WHERE who = :who AND undoes IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgments AS back WHERE back.undoes = judgments.id)
    ORDER BY seq DESC LIMIT 1"""


class Book:
    """A book of judgments. What `add` has returned from is on disk; nothing in it is ever changed.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, Book.open(pathlib.Path(folder, "judgments.db")) as book:
    ...     book.add([Judgment("q", "d", 2, who="ana")])
    ...     [(row.doc_id, row.grade) for row in book.rows()]
    1
    [('d', 2.0)]
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name

    @classmethod
    def open(cls, target: str | Path, *, create: bool = True) -> "Book":
        """The book at a path (SQLite) or at a `postgresql://` URL, brought to today's form.

        Raises
        ------
        InputError: no such book (with `create=False`), no book, a later version's, or no connection.
        """
        place = str(target)
        server = is_server(place)
        name = shown_name(place)
        if not server and not create and not Path(place).exists():
            raise InputError(f"{printable(name)}: no such book of judgments")
        try:
            book = cls(_server(place) if server else _file(place), name)
            book._prepare(create)
        except ValueError as error:
            raise InputError(f"{printable(name)}: cannot open the book: {printable(str(error))}") from None
        except SQLAlchemyError as error:
            raise InputError(f"{printable(name)}: cannot open the book: {_reason(error)}") from None
        return book

    def _prepare(self, create: bool) -> None:
        try:
            with self.engine.connect() as connection:
                current = version_of(connection)
            if current is None and not create:
                raise ValueError("there is no book of judgments in it")
            if current != len(STEPS):
                with self.writing() as connection:
                    migrate(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: on disk when the block ends well, without a trace when not. One writer at a time."""
        with self._reached(writing=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                # As in a file: two that migrate, undo or look for a free place wait for each other.
                connection.execute(text(f"SELECT pg_advisory_xact_lock({WRITERS})"))
            yield connection

    @contextmanager
    def _reached(self, **options: Any) -> Iterator[Connection]:
        """A connection; where the database fails (a full disk, a lost server) one error that names the book."""
        try:
            with self.engine.connect().execution_options(**options) as connection:
                yield connection
        except (DataError, IntegrityError, ProgrammingError):
            raise
        except DBAPIError as error:
            raise InputError(f"{printable(self.name)}: {_reason(error)}") from None

    def add(self, judgments: Iterable[Judgment]) -> int:
        """Append judgments, all or none; those whose id is in the book already are passed over.

        Returns
        -------
        How many were new.
        """
        with self.writing() as connection:
            return insert(connection, judgments)

    def merge(self, judgments: Iterable[Judgment]) -> int:
        """As `add`, for rows of another book or file: in the order of their times, and none that differs from its own.

        A model's label that both hold is one label, though it was made at two times.

        Raises
        ------
        InputError: a row has the id of another one that says something else; then nothing is added.

        >>> with Book.open(":memory:") as book:
        ...     row = Judgment("q", "d", 2, who="ana")
        ...     book.merge([row]), book.merge([row])
        (1, 0)
        """
        rows = by_time(judgments)
        with self.writing() as connection:
            known = {row.id: row for row in _select(connection)}
            for row in rows:
                if not _same(known.setdefault(row.id, row), row):
                    raise InputError(
                        f"{printable(self.name)}: two rows have the id {printable(row.id)!r} and differ, in the "
                        f"judgment of {printable(row.doc_id)!r} for {printable(row.query_id)!r}; a row is never "
                        "changed: another look is a row of its own"
                    )
            return insert(connection, rows)

    def undo(self, who: str) -> Judgment | None:
        """Take back the last judgment of a person that stands, by a row of its own; None where none stands.

        >>> with Book.open(":memory:") as book:
        ...     book.add([Judgment("q", "d", 2, who="ana")]), book.undo("ana").doc_id, book.undo("ana")
        ...     len(book.rows())
        (1, 'd', None)
        2
        """
        with self.writing() as connection:
            found = _select(connection, LAST_STANDING, {"who": who})
            if not found:
                return None
            last = found[0]
            insert(
                connection, [Judgment(last.query_id, last.doc_id, who=who, kind=last.kind, undoes=last.id)]
            )
            return last

    def rows(self) -> list[Judgment]:
        """Every row, in the order in which they were added."""
        with self._reached() as connection:
            return _select(connection)

    def standing(self) -> list[Judgment]:
        """The rows that stand: without those taken back."""
        return standing(self.rows())

    def close(self) -> None:
        """Let go of the file or the connections."""
        self.engine.dispose()

    def __enter__(self) -> "Book":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def rows_in(connection: Connection) -> list[Judgment]:
    """Every row, as a transaction of the caller sees them, in the order in which they were added."""
    return _select(connection)


def _same(one: Judgment, other: Judgment) -> bool:
    """Whether two rows of one id say the same. A model's label has its id from all but its time, which is left out."""
    return one == other or (one.kind == "model" == other.kind and replace(one, when=other.when) == other)


def insert(connection: Connection, judgments: Iterable[Judgment]) -> int:
    """Append judgments inside a transaction of the caller; how many were new."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    statement = text(f"INSERT INTO judgments ({names}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING")
    rows = [_to_row(judgment) for judgment in judgments]
    parts = (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))
    return sum(connection.execute(statement, part).rowcount for part in parts)


def _to_row(judgment: Judgment) -> dict[str, Any]:
    row = {name: getattr(judgment, name) for name in COLUMNS}
    row["model"] = None if judgment.model is None else json.dumps(judgment.model, sort_keys=True)
    row["evidence"] = json.dumps([vars(span) for span in judgment.evidence])
    return row


def _from_row(row: Mapping[str, Any]) -> Judgment:
    values = dict(row)
    values["model"] = None if values["model"] is None else json.loads(values["model"])
    values["evidence"] = tuple(Span(**span) for span in json.loads(values["evidence"]))
    values |= {name: bool(values[name]) for name in FLAGS}
    return Judgment(**values)


def _select(
    connection: Connection, rest: str = "ORDER BY seq", values: Mapping[str, Any] | None = None
) -> list[Judgment]:
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    found = connection.execute(text(f"SELECT {names} FROM judgments {rest}"), values or {})
    return [_from_row(dict(row)) for row in found.mappings()]


def added_after(connection: Connection, seq: int) -> tuple[list[Judgment], int]:
    """The rows added after the row of number `seq` (0: all), and the number of the last row.

    For a program that keeps the book in memory and asks for what others have added meanwhile.
    """
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    query = text(f"SELECT seq, {names} FROM judgments WHERE seq > :seq ORDER BY seq")
    rows = []
    for row in connection.execute(query, {"seq": seq}).mappings():
        values = dict(row)
        seq = values.pop("seq")
        rows.append(_from_row(values))
    return rows, seq


def _file(path: str) -> Engine:
    # Through the parts: a path may hold what has a meaning in a URL.
    url = URL.create("sqlite+pysqlite", database=path)
    engine = create_engine(url, connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def _durable(connection: Any, _: Any) -> None:
        # The driver would begin transactions late, at the first write, and then fail where another writes.
        connection.isolation_level = None
        _into_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer waits here for its turn; readers wait for nobody.
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _into_wal(connection: Any) -> None:
    """Turn the write-ahead log on; SQLite does not wait by itself where another process is doing the same."""
    last = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.01)


def _server(url: str) -> Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtraError("a book in PostgreSQL", "postgres") from None
    return create_engine("postgresql+psycopg://" + url.partition("://")[2], pool_pre_ping=True)


def _reason(error: SQLAlchemyError) -> str:
    """What the database said, in one line."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return printable(lines[0] if lines else type(error).__name__)
