"""A run's blocks: parsed side by side, and dealt into buckets where the rows of a query do not stand together."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import SHOWN_ROWS, RowsError
from leadline.ids import Ids, distinct
from leadline.machine import memory_left
from leadline.tables import Block, RunSource

BYTES_A_ROW = 100
"""What a row of a scattered run takes while it is gathered, with ids of some tens of characters."""
BUCKETS = 64
"""How many buckets the queries of a scattered run are dealt into."""

Bucket = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], Ids, list[str]]
"""Rows of whole queries in any order: the position of each row's query in the names, its score, its document."""


def in_parallel(blocks: Iterator[Block], work: Callable[[Block], Any]) -> Iterator[Any]:
    """The results of `work` in the order of the blocks.

    Raises
    ------
    RowsError: wrong rows; they are counted over all blocks first.
    """
    wrong: list[RowsError] = []
    # One more than there are processors: it reads while others parse. With more, they wait for Python's lock.
    workers = min(6, (os.cpu_count() or 1) + 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Any]] = deque()

        def results(most: int) -> Iterator[Any]:
            while len(waiting) > most:
                try:
                    result = waiting.popleft().result()
                except RowsError as error:
                    wrong.append(error)
                else:
                    if not wrong:
                        yield result

        try:
            for block in blocks:
                waiting.append(pool.submit(work, block))
                yield from results(workers)
            yield from results(0)
        finally:
            for future in waiting:
                future.cancel()
    if wrong:
        raise RowsError(
            wrong[0].source,
            [fault for error in wrong for fault in error.faults][:SHOWN_ROWS],
            sum(error.total for error in wrong),
            wrong[0].advice,
        )


def buckets(run: RunSource) -> Iterator[Bucket]:
    """The rows of a run whose queries are scattered, dealt into buckets of whole queries.

    Where the rows are more than memory holds, the run is read once more for every few buckets.
    """
    most = max(100_000, memory_left() // 3 // BYTES_A_ROW)
    code_of: dict[str, int] = {}
    kept: list[list[_Rows]] = [[] for _ in range(BUCKETS)]
    rows, whole = 0, True
    for dealt in in_parallel(run.blocks(), _dealt(code_of)):
        rows += sum(len(piece.code) for piece in dealt)
        whole = whole and rows <= most
        for bucket, piece in enumerate(dealt):
            kept[bucket].append(piece)
        if not whole:
            kept = [[] for _ in range(BUCKETS)]
    if whole:
        yield from _filled(kept, range(BUCKETS), list(code_of))
        return
    share = max(1, BUCKETS * most // rows)
    for first in range(0, BUCKETS, share):
        mine = range(first, min(first + share, BUCKETS))
        kept = [[] for _ in range(BUCKETS)]
        for dealt in in_parallel(run.blocks(), _dealt(code_of)):
            for bucket in mine:
                kept[bucket].append(dealt[bucket].alone())
        yield from _filled(kept, mine, list(code_of))


@dataclass(frozen=True)
class _Rows:
    """Rows of one bucket: the run's number of each row's query, its score and document."""

    code: npt.NDArray[np.int32]
    score: npt.NDArray[np.float64]
    documents: Ids

    def alone(self) -> "_Rows":
        """The same rows in memory of their own, so that the rest of their block can go."""
        return _Rows(self.code.copy(), self.score.copy(), self.documents.copy())


def _dealt(code_of: dict[str, int]) -> Callable[[Block], list[_Rows]]:
    """What deals a block's rows into buckets; `code_of` numbers the queries of the whole run as they come."""
    lock = Lock()

    def deal(block: Block) -> list[_Rows]:
        rows = block.rows()
        names, place = distinct(rows.query_id)
        with lock:
            numbers = np.array([code_of.setdefault(name, len(code_of)) for name in names], np.int32)
        code = numbers[place]
        order = np.argsort((code % BUCKETS).astype(np.uint16), kind="stable")
        code, score, documents = code[order], rows.number[order], rows.doc_id[order]
        ends = np.cumsum(np.bincount(code % BUCKETS, minlength=BUCKETS)).tolist()
        cuts = list(zip([0, *ends[:-1]], ends, strict=True))
        return [_Rows(code[a:b], score[a:b], documents[a:b]) for a, b in cuts]

    return deal


def _filled(kept: list[list[_Rows]], mine: range, names: list[str]) -> Iterator[Bucket]:
    """The rows of each bucket, put together; a bucket is emptied when it is handed on."""
    for bucket in mine:
        pieces, kept[bucket] = kept[bucket], []
        group = np.concatenate([piece.code for piece in pieces]) // BUCKETS
        score = np.concatenate([piece.score for piece in pieces])
        documents = np.concatenate([piece.documents for piece in pieces])
        if len(group):
            yield group, score, documents, names[bucket::BUCKETS]
