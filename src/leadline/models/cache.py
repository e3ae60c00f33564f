"""Every reply that was paid, in one SQLite file: on disk before anything else happens to it, and found again by its key."""

import hashlib
import json
import os
import secrets
import socket
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from leadline.errors import InputError, amount, printable
from leadline.models.call import Call, Model, Reply

OURS = 0x4C4D5243
"""The number by which SQLite knows whose file it is (`application_id`)."""
VERSION = 1
WAIT = 30.0
"""Seconds that a writer waits for another."""

_WORKS: set[str] = set()
"""The openings of files in this process."""

TABLES = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, endpoint TEXT NOT NULL, model TEXT NOT NULL, parameters TEXT NOT NULL, parser TEXT NOT NULL,
    messages_hash TEXT NOT NULL, prompt_bytes INTEGER NOT NULL, reply TEXT NOT NULL, "when" REAL NOT NULL
);
CREATE INDEX replies_of ON replies (endpoint, model);
CREATE TABLE sent (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    work TEXT NOT NULL, "when" REAL NOT NULL
);
CREATE INDEX sent_of ON sent (key);
"""


def prompt_bytes(call: Call) -> int:
    """The length of a call's messages in UTF-8."""
    return sum(len(message.text.encode("utf-8", "replace")) for message in call.messages)


class Cache:
    """Replies by key, in a file that several processes may use at once; a context manager.

    A row is whole or not there, and one that `put` has returned from is on disk. The table `sent` says which requests went
    out: a line is written before sending and taken away with the reply, so that what a kill left is known.

    >>> import tempfile, pathlib
    >>> from leadline.models.call import Message, key_of
    >>> from leadline.models.stub import Stub
    >>> model, call = Stub("yes"), Call("a", (Message("user", "well?"),))
    >>> with tempfile.TemporaryDirectory() as folder, Cache.open(pathlib.Path(folder, "replies.db")) as cache:
    ...     cache.put(key_of(model, call), model, call, Reply("yes"))
    ...     cache.get(key_of(model, call)).text, cache.count()
    Reply(text='yes', model='', finish='', prompt_tokens=None, completion_tokens=None)
    ('yes', 1)
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.name, self._sql = name, connection
        self._work, self._host = secrets.token_hex(8), socket.gethostname()
        _WORKS.add(self._work)

    @classmethod
    def open(cls, path: str | Path) -> "Cache":
        """The cache at a path, made where there is none.

        Raises
        ------
        InputError: not a cache, damaged, a later version's, or not to be opened.
        """
        name = str(path)
        with _told(name):
            # Autocommit: each block says itself where its transaction begins and ends.
            connection = sqlite3.connect(name, timeout=WAIT, isolation_level=None, check_same_thread=False)
        cache = cls(connection, name)
        try:
            with _told(name):
                cache._prepare()
        except BaseException:
            cache.close()
            raise
        return cache

    def get(self, key: str) -> Reply | None:
        """The reply of a key, or None.

        Raises
        ------
        InputError: the file is damaged.
        """
        with _told(self.name):
            row = self._sql.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return None if row is None else Reply(**json.loads(row[0]))

    def sending(self, key: str) -> int:
        """Write down that a request of this key goes out now; the number of that line, for `back` or `put`."""
        with _told(self.name), self._writing():
            row = (key, self._host, os.getpid(), self._work, time.time())
            text = 'INSERT INTO sent (key, host, pid, work, "when") VALUES (?, ?, ?, ?, ?)'
            number = self._sql.execute(text, row).lastrowid
        return number or 0

    def back(self, sent: int) -> None:
        """A request came back without a reply: its line is taken away."""
        with _told(self.name), self._writing():
            self._sql.execute("DELETE FROM sent WHERE id = ?", (sent,))

    def given_up(self, sent: int) -> None:
        """Nobody waits for this request any more, though it is on its way: its line stays, as after a kill."""
        with _told(self.name), self._writing():
            self._sql.execute("UPDATE sent SET pid = 0 WHERE id = ?", (sent,))

    def put(self, key: str, model: Model, call: Call, reply: Reply, sent: int = 0) -> Reply:
        """Store a reply; the one that stands from now on, which is an earlier one where there was one already.

        Raises
        ------
        InputError: it cannot be stored: the disk is full, or the file is damaged.
        """
        row = (
            key, model.endpoint, model.name, _text(dict(model.parameters)), call.parser,
            hashlib.sha256(_text([[one.role, one.text] for one in call.messages]).encode()).hexdigest(),
            prompt_bytes(call), _text(asdict(reply)), time.time(),
        )  # fmt: skip
        with _told(self.name):
            with self._writing():
                text = f"INSERT OR IGNORE INTO replies VALUES ({', '.join('?' * len(row))})"
                fresh = self._sql.execute(text, row).rowcount
                # What earlier, stopped work had sent for this key is answered now as well.
                alive = self._alive()
                for number, *owner in self._sql.execute(
                    "SELECT id, host, pid, work FROM sent WHERE key = ?", (key,)
                ).fetchall():
                    if number == sent or not alive(*owner):
                        self._sql.execute("DELETE FROM sent WHERE id = ?", (number,))
            if fresh:
                return reply
        return self.get(key) or reply

    def interrupted(self, keys: Iterable[str] | None = None) -> int:
        """How many requests (of these keys) were on their way when the work that sent them was stopped, and brought no reply."""
        wanted = None if keys is None else set(keys)
        alive = self._alive()
        with _told(self.name):
            rows = self._sql.execute(
                "SELECT key, host, pid, work FROM sent WHERE NOT EXISTS (SELECT 1 FROM replies WHERE replies.key = sent.key)"
            ).fetchall()
        return sum((wanted is None or key in wanted) and not alive(*owner) for key, *owner in rows)

    def tokens_per_byte(self, model: Model) -> tuple[float, int] | None:
        """Prompt tokens for each byte of a prompt, as counted by the server, and over how many replies; None without any."""
        text = """SELECT count(*), sum(json_extract(reply, '$.prompt_tokens')), sum(prompt_bytes) FROM replies
            WHERE endpoint = ? AND model = ? AND prompt_bytes > 0 AND json_extract(reply, '$.prompt_tokens') > 0"""
        with _told(self.name):
            count, tokens, size = self._sql.execute(text, (model.endpoint, model.name)).fetchone()
        return (tokens / size, count) if count else None

    def models(self) -> list[tuple[str, str, str]]:
        """Endpoint, model and parameters (as JSON) of what is stored, each once."""
        with _told(self.name):
            return self._sql.execute(
                "SELECT DISTINCT endpoint, model, parameters FROM replies ORDER BY 1, 2, 3"
            ).fetchall()

    def replies(self, endpoint: str, model: str, parameters: str) -> Iterator[tuple[str, Reply]]:
        """Key and reply of all that one model gave, by key."""
        text = (
            "SELECT key, reply FROM replies WHERE endpoint = ? AND model = ? AND parameters = ? ORDER BY key"
        )
        with _told(self.name):
            for key, reply in self._sql.execute(text, (endpoint, model, parameters)):
                yield key, Reply(**json.loads(reply))

    def count(self) -> int:
        """How many replies there are."""
        with _told(self.name):
            return int(self._sql.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        _WORKS.discard(self._work)
        self._sql.close()

    def __enter__(self) -> "Cache":
        """The cache, closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

    def _prepare(self) -> None:
        # Nothing is written, not even the way of keeping its log, before the file is known to be ours or empty.
        with self._writing():
            (owner,) = self._sql.execute("PRAGMA application_id").fetchone()
            (version,) = self._sql.execute("PRAGMA user_version").fetchone()
            (tables,) = self._sql.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if owner == 0 and version == 0 and tables == 0:
                for statement in TABLES.strip().split(";")[:-1]:
                    self._sql.execute(statement)
                self._sql.execute(f"PRAGMA application_id = {OURS}")
                self._sql.execute(f"PRAGMA user_version = {VERSION}")
            elif owner != OURS:
                raise InputError(
                    f"{printable(self.name)}: a database of another program, no cache of replies"
                )
            elif version != VERSION:
                raise InputError(
                    f"{printable(self.name)}: a cache of version {version}; this Leadline reads {VERSION}"
                )
        self._sql.execute("PRAGMA synchronous = FULL")
        for left in range(50, -1, -1):
            # Another process that opens the file at this moment holds what the change of its log needs.
            try:
                self._sql.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if not left:
                    raise
                time.sleep(0.05)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._sql.execute("ROLLBACK")
            raise
        self._sql.execute("COMMIT")

    def _alive(self) -> "_Alive":
        return _Alive(self._host)


class _Alive:
    """Whether the work that sent a request may still be waiting for it; each process is looked for once.

    Another host's is taken for stopped: such a file is not shared between machines, but a container that is started again
    has another name. Where a process of that number lives that is another one, a stopped request is not reported.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.known: dict[int, bool] = {}

    def __call__(self, host: str, pid: int, work: str) -> bool:
        if pid == 0 or host != self.host:
            return False
        if pid == os.getpid() or sys.platform == "win32":
            # Windows offers no harmless way to ask for another process.
            return work in _WORKS
        if pid not in self.known:
            try:
                os.kill(pid, 0)
                self.known[pid] = True
            except ProcessLookupError:
                self.known[pid] = False
            except OSError:
                self.known[pid] = True
        return self.known[pid]


def interrupted_note(count: int) -> str:
    """What to tell about requests that stopped work had on their way; empty for none.

    >>> interrupted_note(0), interrupted_note(1)[:43]
    ('', '1 call was on its way when the work was sto')
    """
    if not count:
        return ""
    were = "was on its way" if count == 1 else "were on their way"
    asked = (
        "its reply may have been paid for, and is"
        if count == 1
        else "their replies may have been paid for, and are"
    )
    return (
        f"{amount(count, 'call')} {were} when the work was stopped; {asked} asked again "
        f"(a server that honours Idempotency-Key bills {'it' if count == 1 else 'them'} once)"
    )


def _text(value: object) -> str:
    """JSON in ASCII, which also holds the half characters that SQLite's texts cannot."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """SQLite's errors, and rows that say nothing, as one sentence with the file's name."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise InputError(
            f"{printable(name)}: cannot be used as a cache of replies: {printable(str(error))}"
        ) from None
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{printable(name)}: the cache of replies is damaged: {printable(str(error))}"
        ) from None
