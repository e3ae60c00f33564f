"""The steps that bring a book's database to today's form, each a numbered function; a step is never edited later."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, text


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
                stratum TEXT, undoes TEXT)"""
        )
    )
    connection.execute(text("CREATE INDEX judgments_pair ON judgments (query_id, doc_id)"))
    connection.execute(text("CREATE INDEX judgments_who ON judgments (who, seq)"))


STEPS: list[Callable[[Connection], Any]] = [step_1]


def migrate(connection: Connection, to: int | None = None) -> int:
    """Bring the database to today's form inside the caller's transaction; the version before.

    Raises
    ------
    ValueError: the database was made by a later version of Leadline.
    """
    connection.execute(text("CREATE TABLE IF NOT EXISTS leadline_book (version INTEGER NOT NULL)"))
    found = connection.execute(text("SELECT version FROM leadline_book")).scalar()
    if found is None:
        connection.execute(text("INSERT INTO leadline_book (version) VALUES (0)"))
    before = int(found or 0)
    if before > len(STEPS):
        raise ValueError(f"it has version {before}, this Leadline knows {len(STEPS)}; update Leadline")
    last = len(STEPS) if to is None else to
    for step in STEPS[before:last]:
        step(connection)
    connection.execute(text("UPDATE leadline_book SET version = :v"), {"v": max(before, last)})
    return before
