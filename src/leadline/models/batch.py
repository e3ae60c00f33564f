"""Many calls asked of one model: several at a time, again where that may help, within a budget, each reply kept as it comes."""

import asyncio
import heapq
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from leadline.errors import UsageError, printable
from leadline.models.budget import Budget, budget_of
from leadline.models.cache import Cache
from leadline.models.call import Answer, Answers, Call, Limits, Model, ModelError, Reply, key_of
from leadline.models.waiting import result_of

Watch = Callable[[int, int], None]
"""Told after each call how many are done, and of how many."""

STOP_AFTER = 20
"""Calls in a row that failed though each was tried to the end: the server is down, and asking on would not help it."""
GRACE = 5.0
"""Seconds that calls on their way are waited for when work is stopped: their replies are paid, and are kept."""


@dataclass(frozen=True)
class Patience:
    """How long to wait before asking again, and by what clock.

    The wait before try n + 1 is drawn between half and all of `first`·2^(n−1) seconds, at most `longest`; a server's own
    Retry-After goes before it, and holds back all calls. Where it is over `longest_asked`, the batch stops instead.
    """

    first: float = 0.5
    longest: float = 60.0
    longest_asked: float = 300.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random


@dataclass
class _Job:
    """All calls of one key: asked once."""

    key: str
    places: list[int]
    call: Call
    number: int
    tries: int = 0
    error: str = ""


@dataclass
class Lanes:
    """How many calls may be on their way: one until the first answer, halved when the server is overrun, slowly more again."""

    most: int
    width: float = 1.0
    proven: bool = False
    epoch: int = 0

    def better(self) -> None:
        """An answer came."""
        self.width = min(self.width + 1 / self.width, self.most) if self.proven else float(self.most)
        self.proven = True

    def worse(self, epoch: int) -> None:
        """The server is overrun. Calls that went out before the last halving say nothing new."""
        if epoch == self.epoch:
            self.width, self.epoch = max(self.width / 2, 1.0), epoch + 1
            self.proven = True


@dataclass
class _Work:
    """One batch while it runs."""

    model: Model
    calls: Sequence[Call]
    cache: Cache | None
    budget: Budget
    lanes: Lanes
    tries: int
    watch: Watch | None
    patience: Patience
    answers: dict[int, Answer] = field(default_factory=dict)
    ready: deque[_Job] = field(default_factory=deque)
    later: list[tuple[float, int, _Job]] = field(default_factory=list)
    running: dict[asyncio.Task[None], _Job] = field(default_factory=dict)
    stopped: str = ""
    held: float = 0.0
    any_answer: bool = False
    in_a_row: int = 0


async def ask_all(
    model: Model,
    calls: Sequence[Call],
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    budget: Budget | None = None,
    concurrency: int = 8,
    tries: int = 5,
    watch: Watch | None = None,
    patience: Patience = Patience(),
) -> Answers:
    """Ask all calls; the answers in the order asked.

    A reply is in the cache before it is counted or reported; one that is there already is not asked for. Calls of the same
    key are asked once. An error that every other call would meet ends the batch, as long as no call was answered; so do
    20 calls in a row that failed to the last try. When it is cancelled, calls on their way have 5 seconds to come back.

    Parameters
    ----------
    budget: of several batches together (`budget_of`), in the place of `limits`; `spent` of the answers is then of all of them.
    concurrency: calls on their way at most; fewer after 429 or 5xx. tries: requests for one call at most.
    watch: told (done, total) after each call. patience: the waits between tries.

    Raises
    ------
    UsageError: wrong limits, or two calls of one name. InputError: the cache cannot be written. MissingExtraError: `openai`.

    >>> from leadline.models.call import Message
    >>> from leadline.models.stub import Stub
    >>> two = [Call(name, (Message("user", "well?"),)) for name in "ab"]
    >>> [(one.state, one.cached) for one in answers_of(Stub("yes"), two).answers]
    [('answered', False), ('answered', True)]
    """
    if concurrency < 1 or tries < 1:
        raise UsageError(f"concurrency and tries are 1 or more, not {concurrency} and {tries}")
    budget = budget or budget_of(model, limits, cache)
    work = _Work(model, calls, cache, budget, Lanes(concurrency), tries, watch, patience)
    interrupted = _prepare(work)
    try:
        await _run(work)
    finally:
        await _come_back(work)
    for job in (*work.ready, *(job for _, _, job in work.later)):
        for place in job.places:
            tried = job.tries if place == job.places[0] else 0
            work.answers[place] = Answer(calls[place], "left", error=job.error or None, tries=tried)
    ordered = tuple(work.answers[place] for place in range(len(calls)))
    return Answers(ordered, budget.spent(), work.stopped, interrupted)


def answers_of(
    model: Model,
    calls: Sequence[Call],
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    budget: Budget | None = None,
    concurrency: int = 8,
    tries: int = 5,
    watch: Watch | None = None,
    patience: Patience = Patience(),
) -> Answers:
    """`ask_all` for callers that await nothing, in a notebook too; it closes the model's connections.

    Raises
    ------
    As `ask_all`.
    """

    async def whole() -> Answers:
        try:
            return await ask_all(
                model,
                calls,
                cache=cache,
                limits=limits,
                budget=budget,
                concurrency=concurrency,
                tries=tries,
                watch=watch,
                patience=patience,
            )
        finally:
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    return result_of(whole)


def _prepare(work: _Work) -> int:
    """One job for each key, those in the cache settled; how many requests of the rest stopped work had on their way."""
    jobs: dict[str, _Job] = {}
    names: set[str] = set()
    for place, call in enumerate(work.calls):
        if call.name in names:
            raise UsageError(f"two calls are named {printable(call.name)!r}")
        names.add(call.name)
        key = key_of(work.model, call)
        jobs.setdefault(key, _Job(key, [], call, len(jobs))).places.append(place)
    interrupted = work.cache.interrupted(jobs) if work.cache is not None else 0
    for job in jobs.values():
        reply = work.cache.get(job.key) if work.cache is not None else None
        if reply is None:
            work.ready.append(job)
        else:
            _settle(work, job, reply, cached=True)
    return interrupted


async def _run(work: _Work) -> None:
    """Send what may be sent, wait for what comes first, until nothing is left or work is stopped."""
    while True:
        now = work.patience.clock()
        while work.later and work.later[0][0] <= now:
            work.ready.appendleft(heapq.heappop(work.later)[2])
        while (
            work.ready and not work.stopped and work.held <= now and len(work.running) < int(work.lanes.width)
        ):
            refusal = work.budget.refuses(work.ready[0].call)
            if refusal:
                # What is on its way may turn out cheaper than it was taken for.
                work.stopped = "" if work.running else refusal
                break
            job = work.ready.popleft()
            found = work.cache.get(job.key) if work.cache is not None else None
            if found is not None:
                # Another process with the same cache was quicker.
                _settle(work, job, found, cached=True)
                continue
            work.running[asyncio.create_task(_once(work, job, work.lanes.epoch))] = job
            work.budget.sent(job.number, job.call)
        if not work.running and (work.stopped or not (work.ready or work.later)):
            return
        await _something(work, now)


async def _something(work: _Work, now: float) -> None:
    """Until a call has come back, or one may be sent; a fault in a task is raised here."""
    due = [] if work.stopped else [work.later[0][0]] if work.later and not work.ready else []
    if work.ready and work.held > now and not work.stopped:
        due = [work.held]
    nap = asyncio.ensure_future(work.patience.sleep(max(due[0] - now, 0.0))) if due else None
    wanted: set[asyncio.Future[None]] = {*work.running, *([nap] if nap else [])}
    try:
        done, _ = await asyncio.wait(wanted, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if nap and not nap.done():
            nap.cancel()
            with suppress(asyncio.CancelledError):
                await nap
    for task in [one for one in work.running if one in done]:
        del work.running[task]
        task.result()


async def _once(work: _Work, job: _Job, epoch: int) -> None:
    """One request and what follows from it."""
    cache, job.tries = work.cache, job.tries + 1
    sent = cache.sending(job.key) if cache is not None else 0
    try:
        reply = await work.model.ask(job.call)
    except ModelError as error:
        if cache is not None:
            cache.back(sent)
        work.budget.failed(job.number, error.unsure)
        _failed(work, job, error, epoch)
        return
    except BaseException:
        if cache is not None:
            cache.given_up(sent)
        work.budget.failed(job.number, True)
        raise
    # Nothing is awaited between the reply and the disk.
    if cache is not None:
        reply = cache.put(job.key, work.model, job.call, reply, sent)
    work.budget.answered(job.number, job.call, reply)
    work.lanes.better()
    work.any_answer, work.in_a_row = True, 0
    _settle(work, job, reply)


def _failed(work: _Work, job: _Job, error: ModelError, epoch: int) -> None:
    job.error = str(error)
    if error.again:
        work.lanes.worse(epoch)
    patience, now = work.patience, work.patience.clock()
    if error.again and error.wait is not None:
        if error.wait > patience.longest_asked:
            work.stopped = work.stopped or f"{error}; it asks to wait {error.wait:g} s: go on after that"
        work.held = max(work.held, now + error.wait)
    if error.again and job.tries < work.tries:
        longest = min(patience.longest, patience.first * 2 ** (job.tries - 1))
        pause = longest * (0.5 + patience.draw() / 2) if error.wait is None else error.wait
        heapq.heappush(work.later, (now + pause, job.number, job))
        return
    work.in_a_row += error.again or error.every
    if error.every and not work.any_answer:
        work.stopped = work.stopped or str(error)
    elif work.in_a_row >= STOP_AFTER:
        work.stopped = work.stopped or f"{work.in_a_row} calls in a row failed, the last: {error}"
    tried = f" (asked {job.tries} times)" if job.tries > 1 else ""
    _settle(work, job, None, error=str(error) + tried)


def _settle(
    work: _Work, job: _Job, reply: Reply | None, *, cached: bool = False, error: str | None = None
) -> None:
    """What became of all calls of a key; only the first of them was asked."""
    for place in job.places:
        first = place == job.places[0]
        state, free = ("failed", False) if reply is None else ("answered", cached or not first)
        work.answers[place] = Answer(work.calls[place], state, reply, error, free, job.tries if first else 0)
        if work.watch is not None:
            work.watch(len(work.answers), len(work.calls))


async def _come_back(work: _Work) -> None:
    """Work ended before its time: what is on its way may come back for a while, and is stored; then it is given up."""
    if not work.running:
        return
    work.stopped, work.watch = work.stopped or "stopped", None
    try:
        await asyncio.wait(work.running, timeout=GRACE)
    finally:
        for task in work.running:
            task.cancel()
        await asyncio.gather(*work.running, return_exceptions=True)
