"""One thread that reads and writes the book for everybody: what waits is done together, and told after the commit.

Every save is on disk before it is acknowledged. Ten saves that wait for the disk at the same time wait for it once:
they go into one transaction (group commit). All that the pages know in memory is touched by this thread only.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from leadline.errors import LeadlineError, first_line
from leadline.judging.book import Book

T = TypeVar("T")
Job = Callable[["Batch"], Any]
AT_ONCE = 100
"""Jobs that go into one transaction at most."""


class BookFailure(LeadlineError):
    """The book could not be written; nothing of the job was stored."""


class Batch:
    """The jobs of one transaction; the transaction begins with the first job that writes.

    Parameters
    ----------
    begun: called with the connection once the transaction has begun, to take in what other programs have added.
    """

    def __init__(self, book: Book, stack: ExitStack, begun: Callable[[Connection], None]) -> None:
        self._book, self._stack, self._begun = book, stack, begun
        self._connection: Connection | None = None

    def writing(self) -> Connection:
        """The connection of the transaction; what is written through it is on disk when the batch is acknowledged."""
        if self._connection is None:
            try:
                self._connection = self._stack.enter_context(self._book.writing())
            except LeadlineError as error:
                raise BookFailure(f"the book could not be written: {error}") from None
            self._begun(self._connection)
        return self._connection


class Writer:
    """The thread, and the door to it.

    Parameters
    ----------
    begun: see `Batch`. lost: called before the next job where a transaction has failed, since what is in memory may
        then say more than the book.
    """

    def __init__(self, book: Book, begun: Callable[[Connection], None], lost: Callable[[], None]) -> None:
        self._book, self._begun, self._lost = book, begun, lost
        self._jobs: SimpleQueue[tuple[Job, Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="leadline-writer", daemon=True)
        self._closed = self._behind = False
        self._thread.start()

    def submit(self, job: Callable[[Batch], T]) -> "Future[T]":
        """Have a job done by the thread; its result, or its error, once the transaction that it is in is on disk."""
        future: Future[T] = Future()
        if self._closed:
            future.set_exception(BookFailure("the server is closing"))
        else:
            self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Do what waits, then end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            first = self._jobs.get()
            waiting = [first]
            while len(waiting) < AT_ONCE:
                try:
                    waiting.append(self._jobs.get_nowait())
                except Empty:
                    break
            open_ = None not in waiting
            # A page that has gone away does not want its answer; what has not begun is then not done.
            self._do([one for one in waiting if one is not None and one[1].set_running_or_notify_cancel()])

    def _do(self, jobs: list[tuple[Job, "Future[Any]"]]) -> None:
        """The jobs in one transaction; where the database refuses it, each in one of its own."""
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            if self._behind:
                self._lost()
                self._behind = False
            with ExitStack() as stack:
                batch = Batch(self._book, stack, self._begun)
                for job, future in jobs:
                    try:
                        done.append((future, job(batch), None))
                    except LeadlineError as error:
                        # A job refuses before it writes: the others of the transaction stand.
                        done.append((future, None, error))
        except Exception as error:
            self._behind = True
            if len(jobs) > 1:
                for one in jobs:
                    self._do([one])
                return
            done = [(jobs[0][1], None, _failure(error))] if jobs else []
        for future, result, refused in done:
            if refused is not None:
                future.set_exception(refused)
            else:
                future.set_result(result)


def _failure(error: Exception) -> BaseException:
    if isinstance(error, SQLAlchemyError):
        return BookFailure(
            f"the book could not be written: {first_line(getattr(error, 'orig', None) or error)}"
        )
    # What a job refuses was told before: this is the book's own word for a database that fails.
    return (
        BookFailure(f"the book could not be written: {error}") if isinstance(error, LeadlineError) else error
    )
