"""The desk where judging happens: gives pairs out, takes judgments in, takes them back; all through one writer."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from sqlalchemy import Connection, text

from leadline.judging.book import Book, added_after, insert
from leadline.judging.judgment import Judgment, Mark, Span
from leadline.web.pairs import Pair
from leadline.web.queue import Queue
from leadline.web.refusal import Refusal, unknown
from leadline.web.setup import Setup
from leadline.web.tally import Tally
from leadline.web.writer import Batch, Writer

T = TypeVar("T")
PACE_OF = 30
"""The pace is that of so many of a person's last judgments."""
PAUSE = 300.0
"""Seconds without a judgment that are a pause and not time spent judging."""
STALE = 2.0
"""Seconds after which a reader asks the book what other programs have added."""


@dataclass(frozen=True)
class Progress:
    """Where a person stands; `per_hour` and `remaining_seconds` are None until there is something to reckon with."""

    done: int
    total: int
    skipped: int
    per_hour: float | None
    remaining_seconds: float | None


@dataclass(frozen=True)
class Given:
    """What a page sends: the judgment of a pair."""

    id: str
    pair: str
    grade: float | None = None
    mark: Mark | None = None
    evidence: tuple[Span, ...] = ()
    note: str = ""
    seconds: float | None = None
    text_hash: str | None = None


@dataclass(frozen=True)
class Saved:
    """What is told after a judgment is on disk; `others` is None where nothing is revealed."""

    id: str
    progress: Progress
    pair: Pair
    others: list[Judgment] | None


class Desk:
    """One book, one file of pairs, one writer. Every method returns a future that is done once all is on disk."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.book = Book.open(setup.book)
        self._seq, self._asked = 0, 0.0
        self._released: list[dict[str, str]] = []
        self.tally = Tally()
        self.queue = Queue((), setup.plan, self.tally)
        self._load()
        self.writer = Writer(self.book, self._catch_up, self._load)

    def close(self) -> None:
        """Finish what waits and let go of the book."""
        self.writer.close()
        self.book.close()

    def ask(self, job: Callable[[Batch], T]) -> "Future[T]":
        """Have the writer's thread do a job."""
        return self.writer.submit(job)

    def read(self, job: Callable[[], T]) -> "Future[T]":
        """Have the writer's thread look at what is in memory, brought up to date."""

        def looked(_: Batch) -> T:
            self._refresh()
            return job()

        return self.writer.submit(looked)

    # What follows runs in the writer's thread only.

    def _load(self) -> None:
        """Build all that is in memory anew from the book."""
        self._seq, self.tally = 0, Tally()
        with self.book.engine.connect() as connection:
            rows, self._seq = added_after(connection, 0)
            for row in rows:
                self.tally.absorb(row)
            self.queue = Queue(self.setup.pairs, self.setup.plan, self.tally)
            self._read_reservations(connection)
        self._asked = time.monotonic()

    def _read_reservations(self, connection: Connection) -> None:
        found = connection.execute(
            text("SELECT pair, who, until FROM reservations WHERE until > :now"), {"now": time.time()}
        )
        self.queue.restore((name, who, until) for name, who, until in found)

    def _catch_up(self, connection: Connection) -> None:
        rows, self._seq = added_after(connection, self._seq)
        for row in rows:
            self._take(row)
        self._asked = time.monotonic()

    def _refresh(self) -> None:
        if time.monotonic() - self._asked > STALE:
            with self.book.engine.connect() as connection:
                self._catch_up(connection)

    def _take(self, row: Judgment) -> None:
        changed = self.tally.absorb(row)
        if changed is not None:
            self.queue.note(changed)

    def _write(self, connection: Connection, rows: Sequence[Judgment]) -> None:
        insert(connection, rows)
        for row in rows:
            self._take(row)

    def _pair(self, name: str) -> tuple[Pair, bool]:
        found = self.queue.find(name)
        if found is None:
            raise unknown("pair")
        return found

    # The jobs.

    def next(self, who: str, count: int, skipped: bool = False) -> "Future[tuple[list[str], Progress]]":
        """Reserve the next pairs for a person: their opaque names, and the person's progress."""

        def job(batch: Batch) -> tuple[list[str], Progress]:
            self._refresh()
            now = time.time()
            if skipped:
                return self.queue.skipped(who, count), self._progress(who)
            names = self.queue.next(who, count, now)
            if self.queue.to_hold(names, who, now):
                connection = batch.writing()
                self._clear(connection)
                # Another program may serve the same book: what it has given out is not given out again.
                self._read_reservations(connection)
                names = self.queue.next(who, count, now)
                _reserve(connection, self.queue.hold(names, who, now), who)
            return names, self._progress(who)

        return self.ask(job)

    def save(self, who: str, given: Given) -> "Future[Saved]":
        """Store a judgment. The same id again is told again and stored once.

        Raises (in the future)
        ------
        Refusal: no such pair, a text that has changed, a pair that enough others have graded, an id of another judgment.
        """
        return self.ask(lambda batch: self._save(batch, who, given))

    def _save(self, batch: Batch, who: str, given: Given) -> Saved:
        pair, repeat = self._pair(given.pair)
        connection = batch.writing()
        known = self.tally.rows.get(given.id)
        if known is not None:
            if (known.who, known.query_id, known.doc_id) != (who, pair.query_id, pair.doc_id):
                raise Refusal(409, "id", "this id is another judgment's; send it with a new one")
            return self._told(who, known, pair)
        row = self._row(who, given, pair, repeat)
        if row.grade is not None and not repeat and not self.queue.has_room(pair.name, who):
            raise Refusal(409, "full", "as many people as wanted have graded this pair meanwhile; not stored")
        before = self.tally.own((pair.query_id, pair.doc_id), who, repeat)
        back = [] if before is None else [taken_back(before, who)]
        self._write(connection, [*back, row])
        self._release(pair.name, who)
        return self._told(who, row, pair)

    def _row(self, who: str, given: Given, pair: Pair, repeat: bool) -> Judgment:
        document = self.setup.documents.by_id[pair.doc_id]
        if given.text_hash is not None and given.text_hash != document.hash:
            raise Refusal(
                409, "changed", "the text of the document is not the one that was shown; not stored"
            )
        for span in given.evidence:
            if document.text[span.start : span.end] != span.quote:
                raise Refusal(
                    422,
                    "input",
                    f"evidence: characters {span.start} to {span.end} of the text are not what is quoted",
                )
        return Judgment(
            pair.query_id,
            pair.doc_id,
            given.grade,
            who=who,
            mark=given.mark,
            evidence=given.evidence,
            text_hash=document.hash,
            guideline=self.setup.rules.version,
            seconds=given.seconds,
            note=given.note,
            repeat=repeat,
            probability=pair.probability,
            stratum=pair.stratum,
            id=given.id,
        )

    def _told(self, who: str, row: Judgment, pair: Pair) -> Saved:
        others = None
        if row.grade is not None:
            others = [one for one in self.tally.of_pair((pair.query_id, pair.doc_id)) if one.who != who]
        return Saved(row.id, self._progress(who), pair, others)

    def _release(self, name: str, who: str) -> None:
        """Let a pair go; in the database with the next reservations, for until then nobody reads them there."""
        self.queue.release(name, who)
        self._released.append({"pair": name, "who": who})

    def _clear(self, connection: Connection) -> None:
        """Remove the reservations of pairs that were let go, and those that have run out."""
        connection.execute(text("DELETE FROM reservations WHERE until < :now"), {"now": time.time()})
        if self._released:
            connection.execute(
                text("DELETE FROM reservations WHERE pair = :pair AND who = :who"), self._released
            )
            self._released = []

    def undo(
        self, who: str, only: str | None = None
    ) -> "Future[tuple[str, Judgment, Progress] | tuple[None, None, Progress]]":
        """Take back a person's last judgment that stands on a pair of the file; its opaque name and what it said.

        With `only` the judgment of that id and no other, so that a request sent twice takes back one.
        """

        def job(batch: Batch) -> tuple[str, Judgment, Progress] | tuple[None, None, Progress]:
            connection = batch.writing()
            for row in self.tally.newest_of(who):
                name = self.queue.name_of(row)
                if name is not None and not row.adjudicates and only in (None, row.id):
                    self._write(connection, [taken_back(row, who)])
                    now = time.time()
                    self._clear(connection)
                    _reserve(connection, self.queue.hold([] if row.repeat else [name], who, now), who)
                    return name, row, self._progress(who)
            return None, None, self._progress(who)

        return self.ask(job)

    def adjudicate(self, who: str, given: Given) -> "Future[str]":
        """Store a lead's decision on a pair; an earlier one is taken back."""

        def job(batch: Batch) -> str:
            pair, _ = self._pair(given.pair)
            connection = batch.writing()
            key = (pair.query_id, pair.doc_id)
            known = self.tally.rows.get(given.id)
            if known is not None:
                if (known.who, known.query_id, known.doc_id, known.adjudicates) != (who, *key, True):
                    raise Refusal(409, "id", "this id is another judgment's; send it with a new one")
                return known.id
            back = [taken_back(row, who) for row in self.tally.of_pair(key) if row.adjudicates]
            row = replace(self._row(who, given, pair, False), adjudicates=True)
            self._write(connection, [*back, row])
            return row.id

        return self.ask(job)

    def look(self, who: str, name: str) -> "Future[Judgment | None]":
        """What a person said of a pair, if it stands.

        Raises (in the future)
        ------
        Refusal: no such pair.
        """

        def job() -> Judgment | None:
            pair, repeat = self._pair(name)
            return self.tally.own((pair.query_id, pair.doc_id), who, repeat)

        return self.read(job)

    def progress(self, who: str) -> "Future[Progress]":
        """Where a person stands."""
        return self.read(lambda: self._progress(who))

    def standing(self) -> "Future[list[Judgment]]":
        """Every row that stands."""
        return self.read(lambda: self.tally.standing())

    def rows(self) -> "Future[list[Judgment]]":
        """Every row of the book, in its order."""
        return self.read(lambda: list(self.tally.rows.values()))

    def _progress(self, who: str) -> Progress:
        done, left, skipped = self.queue.progress(who)
        seconds = self._pace(who)
        return Progress(
            done,
            done + left,
            skipped,
            None if seconds is None else round(3600 / seconds, 1),
            None if seconds is None else round(left * seconds, 1),
        )

    def _pace(self, who: str) -> float | None:
        """Seconds from one judgment to the next, pauses left out; None for the first."""
        times = []
        for row in self.tally.newest_of(who):
            if row.when:
                times.append(datetime.fromisoformat(row.when).timestamp())
            if len(times) > PACE_OF:
                break
        gaps = [late - early for late, early in pairwise(times) if 0 < late - early < PAUSE]
        return max(sum(gaps) / len(gaps), 0.1) if gaps else None


def taken_back(row: Judgment, who: str) -> Judgment:
    """The row that takes a judgment back."""
    return Judgment(row.query_id, row.doc_id, who=who, undoes=row.id)


def _reserve(connection: Connection, held: dict[str, float], who: str) -> None:
    """Write reservations down."""
    if not held:
        return
    connection.execute(
        text(
            "INSERT INTO reservations (pair, who, until) VALUES (:pair, :who, :until) "
            "ON CONFLICT (pair, who) DO UPDATE SET until = excluded.until"
        ),
        [{"pair": name, "who": who, "until": until} for name, until in held.items()],
    )
