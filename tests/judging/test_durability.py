"""Killed in the middle of anything: no acknowledged judgment is lost, no file is corrupt, an import goes on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leadline.errors import InputError
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from shared.books import database

SCRIPT = Path(__file__).with_name("killed.py")


def killed(target: str, kills: int, seed: int) -> dict[str, object]:
    command = [sys.executable, str(SCRIPT), target, str(kills), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_killed_at_random_points(target: str) -> None:
    """The short form: 20 kills on each kind of book."""
    told = killed(target, 20, seed=1)
    assert told["faults"] == []
    # Writers lived long enough to have something to lose.
    assert told.get("row", 0) > 0


@pytest.mark.prove
@pytest.mark.skipif(os.environ.get("LEADLINE_PROVE") != "1", reason="the long form: make prove")
def test_killed_a_thousand_times(tmp_path: Path) -> None:
    total: dict[str, int] = {}
    for part in range(20):
        told = killed(str(tmp_path / f"{part}.db"), 50, seed=part + 2)
        assert told.pop("faults") == []
        for name, count in told.items():
            total[name] = total.get(name, 0) + count
    print(f"\nSQLite: {total}")
    assert total["kills"] == 1000


@pytest.mark.prove
@pytest.mark.skipif(os.environ.get("LEADLINE_PROVE") != "1", reason="the long form: make prove")
def test_killed_a_thousand_times_on_postgresql(server: str) -> None:
    total: dict[str, int] = {}
    for part in range(20):
        for target in database(server):
            told = killed(target, 50, seed=part + 2)
            assert told.pop("faults") == []
            for name, count in told.items():
                total[name] = total.get(name, 0) + count
    print(f"\nPostgreSQL: {total}")
    assert total["kills"] == 1000


@pytest.mark.skipif(bool(os.environ.get("LEADLINE_POSTGRES")), reason="kills a process of the server")
def test_the_database_killed(server: str) -> None:
    """PostgreSQL starts again from its log where one of its own processes is killed; what was added is there."""
    import psycopg

    for target in database(server):
        with Book.open(target) as book:
            for number in range(3):
                book.add([Judgment("q", f"d{number}", 1)])
                victim = psycopg.connect(target)
                os.kill(victim.info.backend_pid, signal.SIGKILL)
                with contextlib.suppress(psycopg.OperationalError):
                    victim.close()
                assert [row.doc_id for row in _rows_when_up(book)] == [f"d{i}" for i in range(number + 1)]


def _rows_when_up(book: Book) -> list[Judgment]:
    """The rows once the server, which notices the death of its process and recovers, answers again."""
    time.sleep(0.2)
    for _ in range(300):
        with contextlib.suppress(InputError):
            return book.rows()
        time.sleep(0.1)
    return book.rows()


def test_a_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    place = tmp_path / "judgments.db"
    with Book.open(place) as book:
        book.add(Judgment("q", f"d{i}", 1, note="x" * 200) for i in range(500))
    whole = place.read_bytes()
    place.write_bytes(whole[:4096] + b"\xff" * 20_000 + whole[24_096:])
    with pytest.raises(InputError, match=r"judgments\.db: "), Book.open(place) as book:
        book.rows()
