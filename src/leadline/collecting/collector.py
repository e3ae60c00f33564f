"""Every query asked once: several workers, each answer kept as it comes, and a count of what became of them."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from leadline.collecting.asking import Query, Target, Worker, worker
from leadline.collecting.client import Failed, Pace, Patience
from leadline.collecting.journal import Journal, Row, answer_row, error_row

TICK = 0.2
"""Seconds after which a wait looks whether it was interrupted."""
STOP_AFTER = 20
"""How many failures one after the other end a collection: the system is down, and asking on would not help it."""

Progress = Callable[[int, int], None]
"""Told after each query how many are done, and how many of them failed."""


@dataclass(frozen=True)
class Plan:
    """How to ask: the first `k` documents, by `workers` at a time; after `stop_after` failures in a row, no more (0: never)."""

    k: int
    workers: int = 4
    patience: Patience = field(default_factory=Patience)
    stop_after: int = STOP_AFTER


@dataclass(frozen=True)
class Account:
    """What became of the queries: `queries` = answered + empty + failed + not_asked.

    `kept` counts answers of an earlier, broken-off collection; `requests` all that were sent, with retries; `over`
    answers of more than k ids; `unsorted` answers whose scores rise somewhere down the list; latencies are of the
    answered queries, in milliseconds, None where there is none; so are tokens. `examples` holds the first message of each
    kind of failure, `never` the names of the map that no answer gave anything for.
    """

    queries: int
    answered: int
    empty: int
    failed: int
    not_asked: int
    kept: int
    requests: int
    failures: Mapping[str, int]
    over: int
    unsorted: int
    repeated: int
    seconds: float
    latency_ms: Mapping[str, float] | None
    input_tokens: int | None
    output_tokens: int | None
    examples: Mapping[str, str] = field(default_factory=dict)
    never: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The account as plain values."""
        return asdict(self)


def ask_all(
    target: Target,
    queries: Sequence[Query],
    plan: Plan,
    journal: Journal,
    progress: Progress = lambda done, failed: None,
) -> Account:
    """Ask every query that the journal has no answer to, and write each answer to it.

    A failed query is asked again when the journal is taken up again; an answered one never.
    """
    started = time.monotonic()
    kept = {query.query_id for query in queries if _answered(journal.rows.get(query.query_id))}
    wanted = [query for query in queries if query.query_id not in kept]
    in_a_row = failed = 0
    asked = 0
    pace = Pace()
    for done, row in enumerate(_answers(target, wanted, plan, pace), start=len(kept) + 1):
        asked += int(row["attempts"])
        journal.add(row)
        in_a_row = in_a_row + 1 if "error" in row else 0
        failed += "error" in row
        progress(done, failed)
        if plan.stop_after and in_a_row >= plan.stop_after:
            break
    made = account(queries, journal.rows, plan.k, len(kept), asked, time.monotonic() - started)
    return replace(
        made, never=_never(target, [journal.rows[q.query_id] for q in queries if q.query_id in journal.rows])
    )


def account(
    queries: Sequence[Query],
    rows: Mapping[str, Row],
    k: int,
    kept: int = 0,
    asked: int = 0,
    seconds: float = 0.0,
) -> Account:
    """The account of the rows of these queries.

    >>> rows = {"a": {"retrieved_ids": ["x"]}, "b": {"retrieved_ids": []}, "c": {"error": "x", "error_kind": "HTTP 500"}}
    >>> found = account([Query(name, "?") for name in "abcd"], rows, 10)
    >>> found.answered, found.empty, found.failed, found.not_asked
    (1, 1, 1, 1)
    """
    own = [rows[query.query_id] for query in queries if query.query_id in rows]
    good = [row for row in own if "error" not in row]
    failures = Counter(str(row.get("error_kind", "error")) for row in own if "error" in row)
    examples: dict[str, str] = {}
    for row in own:
        if "error" in row:
            examples.setdefault(str(row.get("error_kind", "error")), str(row["error"]))
    lists = [row["retrieved_ids"] for row in good]
    scores = [row["scores"] for row in good if "scores" in row]
    return Account(
        queries=len(queries),
        answered=sum(1 for ids in lists if ids),
        empty=sum(1 for ids in lists if not ids),
        failed=sum(failures.values()),
        not_asked=len(queries) - len(own),
        kept=kept,
        requests=asked,
        failures=dict(sorted(failures.items())),
        over=sum(1 for ids in lists if len(ids) > k),
        unsorted=sum(1 for one in scores if any(later > earlier for earlier, later in pairwise(one))),
        repeated=sum(1 for ids in lists if len(set(ids)) < len(ids)),
        seconds=seconds,
        latency_ms=_latency([row["latency_ms"] for row in good if "latency_ms" in row]),
        input_tokens=_total(good, "input_tokens"),
        output_tokens=_total(good, "output_tokens"),
        examples=examples,
    )


def _never(target: Target, rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the map that no answer with documents gave anything for: a path is mistyped, or a field is not sent."""
    good = [row for row in rows if row.get("retrieved_ids")]
    if not good:
        return ()
    called = {"ids": "retrieved_ids", "texts": "retrieved_texts"}
    return tuple(name for name in target.paths if not any(called.get(name, name) in row for row in good))


def _answered(row: Row | None) -> bool:
    return row is not None and "error" not in row


def _answers(target: Target, wanted: Sequence[Query], plan: Plan, pace: Pace) -> Iterator[Row]:
    """Each query's row as it comes. The workers end with the caller: they are daemons, and hold nothing to finish."""
    waiting: queue.SimpleQueue[Query] = queue.SimpleQueue()
    for query in wanted:
        waiting.put(query)
    rows: queue.SimpleQueue[Row | BaseException] = queue.SimpleQueue()
    threads = []
    for _ in range(min(plan.workers, len(wanted))):
        own = worker(target, plan.patience, pace)
        thread = threading.Thread(
            target=_work, args=(own, plan.k, waiting, rows, pace, target.secrets), daemon=True
        )
        threads.append(thread)
        thread.start()
    try:
        for _ in wanted:
            row = _next(rows)
            if isinstance(row, BaseException):
                raise row
            yield row
        for thread in threads:
            thread.join()
    finally:
        pace.stopped.set()


def _next(rows: "queue.SimpleQueue[Row | BaseException]") -> "Row | BaseException":
    """The next row, waited for in short steps: with Polars loaded, a wait without an end is deaf to Ctrl-C."""
    while True:
        with suppress(queue.Empty):
            return rows.get(timeout=TICK)


def _work(
    own: Worker,
    k: int,
    waiting: "queue.SimpleQueue[Query]",
    rows: "queue.SimpleQueue[Row | BaseException]",
    pace: Pace,
    secrets: tuple[str, ...],
) -> None:
    try:
        while not pace.stopped.is_set():
            query = waiting.get_nowait()
            try:
                rows.put(answer_row(query, own.ask(query, k), secrets))
            except Failed as failed:
                rows.put(error_row(query, failed))
    except queue.Empty:
        pass
    except BaseException as error:
        # A fault of our own: it ends the collection in the thread that writes, instead of hanging it.
        rows.put(error)
    finally:
        own.close()


def _latency(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    import numpy as np

    found = np.percentile(np.array(values), [50, 95, 99])
    return {name: round(float(value), 3) for name, value in zip(("p50", "p95", "p99"), found, strict=True)}


def _total(rows: Sequence[Row], name: str) -> int | None:
    values = [row[name] for row in rows if name in row]
    return int(sum(values)) if values else None
