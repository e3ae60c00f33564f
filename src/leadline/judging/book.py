"""The book of judgments: append-only, in an SQLite file or a PostgreSQL database, behind one small interface."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from leadline.errors import InputError, printable
from leadline.judging.judgment import Judgment, Span, standing
from leadline.judging.migrations import migrate

COLUMNS = (
    "id", "query_id", "doc_id", "grade", "who", "kind", "mark", "model", "evidence", "text_hash", "guideline",
    "seconds", "note", "when", "repeat", "probability", "stratum", "undoes",
)  # fmt: skip


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
        server = place.startswith(("postgresql://", "postgres://"))
        # A password in a URL must not reach messages.
        name = place.rpartition("@")[2] if server else place
        if not server and not create and not Path(place).exists():
            raise InputError(f"{printable(name)}: no such book of judgments")
        book = cls(_server(place) if server else _file(place), name)
        try:
            with book.writing() as connection:
                migrate(connection)
        except ValueError as error:
            raise InputError(f"{printable(name)}: cannot open the book: {error}") from None
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise InputError(f"{printable(name)}: cannot open the book: {printable(reason)}") from None
        return book

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: on disk when the block ends well, without a trace when not."""
        with self.engine.connect().execution_options(writing=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                # Migrations of two processes that start together wait for each other.
                connection.execute(text("SELECT pg_advisory_xact_lock(7101)"))
            yield connection

    def add(self, judgments: Iterable[Judgment]) -> int:
        """Append judgments, all or none; those whose id is in the book already are passed over.

        Returns
        -------
        How many were new.
        """
        with self.writing() as connection:
            return insert(connection, judgments)

    def undo(self, who: str) -> Judgment | None:
        """Take back the last judgment of a person that stands, by a row of its own; None where none stands.

        >>> with Book.open(":memory:") as book:
        ...     book.add([Judgment("q", "d", 2, who="ana")]), book.undo("ana").doc_id, book.undo("ana")
        ...     len(book.rows())
        (1, 'd', None)
        2
        """
        with self.writing() as connection:
            own = standing(_select(connection, "WHERE who = :who", {"who": who}))
            if not own:
                return None
            last = own[-1]
            insert(
                connection, [Judgment(last.query_id, last.doc_id, who=who, kind=last.kind, undoes=last.id)]
            )
            return last

    def rows(self) -> list[Judgment]:
        """Every row, in the order in which they were added."""
        with self.engine.connect() as connection:
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


def insert(connection: Connection, judgments: Iterable[Judgment]) -> int:
    """Append judgments inside a transaction of the caller; how many were new."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    statement = text(f"INSERT INTO judgments ({names}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING")
    return sum(connection.execute(statement, _to_row(judgment)).rowcount for judgment in judgments)


def _to_row(judgment: Judgment) -> dict[str, Any]:
    row = {name: getattr(judgment, name) for name in COLUMNS}
    row["model"] = None if judgment.model is None else json.dumps(judgment.model, sort_keys=True)
    row["evidence"] = json.dumps([vars(span) for span in judgment.evidence])
    return row


def _from_row(row: RowMapping) -> Judgment:
    values = dict(row)
    values["model"] = None if values["model"] is None else json.loads(values["model"])
    values["evidence"] = tuple(Span(**span) for span in json.loads(values["evidence"]))
    values["repeat"] = bool(values["repeat"])
    return Judgment(**values)


def _select(
    connection: Connection, where: str = "", values: Mapping[str, Any] | None = None
) -> list[Judgment]:
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    found = connection.execute(text(f"SELECT {names} FROM judgments {where} ORDER BY seq"), values or {})
    return [_from_row(row) for row in found.mappings()]


def _file(path: str) -> Engine:
    engine = create_engine(f"sqlite+pysqlite:///{path}", connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def _durable(connection: Any, _: Any) -> None:
        # The driver would begin transactions late, at the first write, and then fail where another writes.
        connection.isolation_level = None
        for line in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {line}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer waits here for its turn; readers wait for nobody.
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _server(url: str) -> Engine:
    from leadline.errors import MissingExtraError

    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtraError("a book in PostgreSQL", "postgres") from None
    return create_engine("postgresql+psycopg://" + url.partition("://")[2], pool_pre_ping=True)
