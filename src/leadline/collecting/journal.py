"""The rows of a collection: written one by one while it runs, so that a killed one goes on where it stopped."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from leadline.collecting.asking import Asked, Query, Target
from leadline.collecting.client import Failed, without
from leadline.errors import InputError, UsageError, printable

Row = dict[str, Any]
"""A row as it is written: query_id, query, then either retrieved_ids and what else was told, or error."""


def answer_row(query: Query, asked: Asked, secrets: tuple[str, ...] = ()) -> Row:
    """The row of a reply; only what the system gave is in it."""
    reply = asked.reply
    row: Row = {"query_id": query.query_id, "query": query.text, "retrieved_ids": list(reply.ids)}
    for name, values in (
        ("scores", reply.scores),
        ("retrieved_texts", reply.texts),
        ("context_ids", reply.context_ids),
        ("contexts", reply.contexts),
    ):
        if values is not None:
            row[name] = list(values)
    row |= {**reply.told, "latency_ms": round(asked.latency_ms, 3), "attempts": asked.attempts}
    return row if not secrets else _without(row, secrets)


def error_row(query: Query, failed: Failed) -> Row:
    """The row of a query that failed: `evaluate` counts it apart from an empty list."""
    row: Row = {"query_id": query.query_id, "query": query.text}
    return row | {"error": failed.message, "error_kind": failed.kind, "attempts": failed.attempts}


def identity_hash(target: Target, k: int) -> str:
    """What a journal must share to be gone on with: the target's template, its map, and k.

    >>> from leadline.collecting.target import HttpTarget
    >>> identity_hash(HttpTarget("http://localhost/a"), 5) == identity_hash(HttpTarget("http://localhost/b"), 5)
    False
    """
    text = json.dumps({**target.identity, "k": k}, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """The file beside the one that is to be written: its first line says what is asked, each further one is a row.

    A last line that was cut short by a kill is dropped when the journal is opened again.
    """

    def __init__(self, path: Path, target: Target, k: int) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        self._identity = identity_hash(target, k)
        self._target = target.name
        try:
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise UsageError(f"cannot write to {printable(str(path))}: {error.strerror or error}") from None
        try:
            _alone(self._file, path)
            self._begin()
        except BaseException:
            self._file.close()
            raise

    def _begin(self) -> None:
        """Take up what an earlier collection left, without a last line that was cut short; or write the first line."""
        kept = self._read()
        self._file.truncate(kept)
        if not kept:
            head = {"collecting": self._target, "identity": self._identity}
            self._file.write(f"{json.dumps(head)}\n".encode())
            self._file.flush()

    def _read(self) -> int:
        """Take the rows of an earlier, killed collection; returns how many bytes of it hold."""
        name = printable(str(self.path))
        self._file.seek(0)
        data = self._file.read()
        kept, same, begun = 0, True, ""
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                break
            try:
                row = json.loads(line)
                if number == 1:
                    same, begun = row["identity"] == self._identity, str(row["collecting"])
                else:
                    self.rows[row["query_id"]] = row
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError(f"{name}: line {number} is damaged; remove the file to begin anew") from None
            kept += len(line)
        if same:
            return kept
        if any("error" not in row for row in self.rows.values()):
            raise InputError(
                f"{name}: begun with another target, map or k ({printable(begun)}); remove the file to begin anew"
            )
        # Nothing was answered, as with a mistyped address: there is nothing to keep.
        self.rows.clear()
        return 0

    def add(self, row: Row) -> None:
        """Write one row; it is in the system's hands when this returns, so a kill of this process loses nothing."""
        self.rows[row["query_id"]] = row
        self._file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode("utf-8", "replace"))
        self._file.flush()

    def done(self) -> None:
        """Remove the journal, once its rows stand elsewhere."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


def _alone(file: IO[bytes], path: Path) -> None:
    """Raise UsageError where another process is writing the journal; on Windows, which has no such lock, never."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(f"{printable(str(path))}: another collection is writing it") from None


def same_questions(rows: Mapping[str, Row], queries: Iterable[Query], source: str) -> None:
    """Refuse rows whose query has another text now: the old answer is to another question.

    Raises
    ------
    InputError: names the first such query.
    """
    for query in queries:
        row = rows.get(query.query_id)
        if row is not None and row.get("query") != query.text:
            raise InputError(
                f"{printable(source)}: query {printable(query.query_id)!r} had another text when it was asked; "
                "remove the file to begin anew"
            )


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    """The row without secrets that a system may have sent back, in the texts of any depth."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, dict):
        return {key: _without(one, secrets) for key, one in value.items()}
    if isinstance(value, list):
        return [_without(one, secrets) for one in value]
    return value
