"""The steps that bring a book's database to today's form, each a numbered function; a step is never edited later."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, inspect, text


def _column(engine: str) -> str:
    """How the database numbers rows by itself, in the order in which they were added."""
    return "BIGSERIAL PRIMARY KEY" if engine == "postgresql" else "INTEGER PRIMARY KEY AUTOINCREMENT"


def step_1(connection: Connection) -> None:
    """The judgments."""
    engine = connection.dialect.name
    number = "DOUBLE PRECISION"
    connection.execute(
        text(
            f"""CREATE TABLE judgments (
                seq {_column(engine)}, id TEXT NOT NULL UNIQUE, query_id TEXT NOT NULL, doc_id TEXT NOT NULL,
                grade {number}, who TEXT NOT NULL, kind TEXT NOT NULL, mark TEXT, model TEXT,
                evidence TEXT NOT NULL, text_hash TEXT, guideline TEXT NOT NULL, seconds {number},
                note TEXT NOT NULL, "when" TEXT NOT NULL, repeat BOOLEAN NOT NULL, probability {number},
                stratum TEXT, undoes TEXT, adjudicates BOOLEAN NOT NULL)"""
        )
    )
    connection.execute(text("CREATE INDEX judgments_pair ON judgments (query_id, doc_id)"))
    connection.execute(text("CREATE INDEX judgments_who ON judgments (who, seq)"))
    connection.execute(text("CREATE INDEX judgments_undoes ON judgments (undoes)"))


def step_2(connection: Connection) -> None:
    """What the judging pages keep beside the judgments: who holds which pair for how long."""
    connection.execute(
        text(
            """CREATE TABLE reservations (
                pair TEXT NOT NULL, who TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, PRIMARY KEY (pair, who))"""
        )
    )


def step_3(connection: Connection) -> None:
    """Who may judge: accounts, invitations by the hash of their token, and the secret that signs sessions."""
    connection.execute(
        text(
            """CREATE TABLE accounts (
                name TEXT PRIMARY KEY, role TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,
                epoch INTEGER NOT NULL, active BOOLEAN NOT NULL)"""
        )
    )
    connection.execute(
        text(
            """CREATE TABLE invitations (
                token_hash TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,
                expires DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION)"""
        )
    )
    connection.execute(text("CREATE TABLE web_secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)"))


STEPS: list[Callable[[Connection], Any]] = [step_1, step_2, step_3]


def version_of(connection: Connection) -> int | None:
    """The version of the database's form; None where there is no book in it yet.

    Raises
    ------
    ValueError: it was made by a later version of Leadline, or is an SQLite file of another program.
    """
    tables = inspect(connection).get_table_names()
    if "leadline_book" not in tables:
        # A PostgreSQL database is shared with other programs; a file is not.
        if tables and connection.dialect.name == "sqlite":
            raise ValueError(f"it is another program's database, with a table {tables[0]!r}")
        return None
    found = int(connection.execute(text("SELECT version FROM leadline_book")).scalar() or 0)
    if found > len(STEPS):
        raise ValueError(f"it has version {found}, this Leadline knows {len(STEPS)}; update Leadline")
    return found


def migrate(connection: Connection, to: int | None = None) -> int:
    """Bring the database to today's form inside the caller's transaction; the version before.

    Raises
    ------
    ValueError: as `version_of`.
    """
    before = version_of(connection)
    if before is None:
        connection.execute(text("CREATE TABLE leadline_book (version INTEGER NOT NULL)"))
        connection.execute(text("INSERT INTO leadline_book (version) VALUES (0)"))
    done = before or 0
    last = len(STEPS) if to is None else to
    for step in STEPS[done:last]:
        step(connection)
    connection.execute(text("UPDATE leadline_book SET version = :v"), {"v": max(done, last)})
    return done
