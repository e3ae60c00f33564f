"""The exact nearest neighbours: candidates by blocked matrix products in 32-bit, ranked again in 64-bit, ties kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leadline.ann.distance import Scores, Space
from leadline.ann.vectors import Floats, Ints, Matrix

QUERIES_AT_ONCE = 512
"""Queries of one block; what a search that was stopped goes on from is counted in these."""
DOCUMENTS_AT_ONCE = 1024
"""Documents of one block: the scores of a block (2 MB) stay in the cache while they are filtered."""
KEPT_TIES = 100
"""How many documents that are as near as the k-th are kept beside the k."""
MANY_CANDIDATES = 1 << 21
"""Candidates that are held at most before they are ranked in 64-bit and cut."""
WORD = 8

Watch = Callable[[int, int], None]
"""Told how many queries are done, of how many."""


@dataclass(frozen=True)
class Neighbours:
    """The exact neighbours of some queries.

    Attributes
    ----------
    rows: the documents' rows, nearest first, equal distances by row; shape (queries, k), −1 where there is none.
    distances: in 64-bit, shape (queries, k), NaN where there is none.
    tied: how many further documents are as near as the k-th; where very many are, how many of them were held.
    """

    rows: Ints
    distances: Floats
    tied: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def found(self) -> Ints:
        """How many neighbours each query has, at most k."""
        return np.asarray((self.rows >= 0).sum(axis=1), np.int64)

    @property
    def last(self) -> Floats:
        """The distance of each query's last neighbour; NaN where it has none."""
        at = np.maximum(self.found - 1, 0)
        return self.distances[np.arange(len(at)), at]


def nearest(space: Space, queries: Matrix, k: int, watch: Watch | None = None) -> Neighbours:
    """The k nearest documents of every query.

    Under cosine a document of length 0 has no direction and is nobody's neighbour.

    >>> from leadline.ann.vectors import checked_vectors
    >>> documents = checked_vectors("docs", np.eye(3, dtype=np.float32))
    >>> nearest(Space.of(documents, "l2"), np.array([[0.9, 0.1, 0.0]]), 2).rows.tolist()
    [[0, 1]]
    """
    return joined(list(search_blocks(space, queries, k, watch=watch)))


def search_blocks(
    space: Space, queries: Matrix, k: int, first: int = 0, watch: Watch | None = None
) -> Iterator[Neighbours]:
    """The neighbours of one block of queries after the other, from query `first`, the start of a block."""
    work = _Work(space, k)
    for start in range(first, len(queries), QUERIES_AT_ONCE):
        block = queries[start : start + QUERIES_AT_ONCE]
        yield work.search(block)
        if watch is not None:
            watch(min(start + QUERIES_AT_ONCE, len(queries)), len(queries))


def nearest_among(space: Space, queries: Matrix, k: int, allowed: Mapping[int, Ints]) -> Neighbours:
    """The k nearest of the documents that each query's filter lets through: query's row → documents' rows.

    All of these are compared in 64-bit: a filter leaves few.
    """
    found = []
    for row in range(len(queries)):
        rows = np.unique(allowed[row])
        which = np.zeros(len(rows), np.int64)
        found.append(_ranked(space, queries[row : row + 1], k, which, rows))
    return joined(found)


def joined(parts: Sequence[Neighbours]) -> Neighbours:
    """The neighbours of several blocks as one."""
    return Neighbours(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.tied for part in parts]),
    )


class _Work:
    """The buffers of a search, made once and used for every block."""

    def __init__(self, space: Space, k: int) -> None:
        self.space, self.k = space, k
        self.scores: Scores = np.empty(QUERIES_AT_ONCE * DOCUMENTS_AT_ONCE, np.float32)
        self.above = np.zeros(QUERIES_AT_ONCE * DOCUMENTS_AT_ONCE, np.bool_)
        copied = 0 if space.as_it_is else DOCUMENTS_AT_ONCE
        self.room: Scores = np.empty((copied, space.width), np.float32)
        self.without_direction = space.metric == "cosine" and bool((space.lengths == 0).any())

    def search(self, queries: Matrix) -> Neighbours:
        """The neighbours of one block of queries."""
        asked = self.space.asked(queries)
        held = _Held(self.space, queries, self.k)
        n, total = len(queries), self.space.documents.rows
        for start in range(0, total, DOCUMENTS_AT_ONCE):
            stop = min(start + DOCUMENTS_AT_ONCE, total)
            block = self.space.block(start, stop, self.room)
            scores = self.scores[: n * (stop - start)].reshape(n, stop - start)
            np.matmul(asked, block.T, out=scores)
            if start == 0 and stop > self.k:
                held.begin(scores, self.without_direction)
            at = self._at_least(scores, held.threshold)
            held.add(at // (stop - start), at % (stop - start) + start, scores.ravel()[at])
        return held.ranked()

    def _at_least(self, scores: Scores, threshold: Scores) -> Ints:
        """Where scores reach their query's threshold, as places in the flat array.

        Few do: eight answers are looked at together, as one 64-bit number.
        """
        above = self.above[: scores.size]
        np.greater_equal(scores, threshold[:, None], out=above.reshape(scores.shape))
        if scores.size % WORD:
            return np.flatnonzero(above)
        words = np.flatnonzero(above.view(np.uint64))
        places = (words[:, None] * WORD + np.arange(WORD)).ravel()
        return np.asarray(places[above[places]], np.int64)


class _Held:
    """The candidates of a block of queries, and the score that a further one must reach."""

    def __init__(self, space: Space, queries: Matrix, k: int) -> None:
        self.space, self.queries, self.k = space, queries, k
        self.slack = space.slack(queries)
        self.threshold: Scores = np.full(len(queries), -np.inf, np.float32)
        self.which: list[Ints] = []
        self.rows: list[Ints] = []
        self.scores: list[Scores] = []
        self.fresh = self.count = 0

    def begin(self, scores: Scores, gaps: bool) -> None:
        """A first threshold, from the first block."""
        known = np.where(np.isnan(scores), -np.inf, scores) if gaps else scores
        place = known.shape[1] - self.k
        self._raise_to(np.partition(known, place, axis=1)[:, place])

    def _raise_to(self, best: npt.NDArray[np.floating]) -> None:
        # Rounded downward: a threshold may be too low, never too high.
        low = np.nextafter((best - self.slack).astype(np.float32), np.float32(-np.inf))
        np.maximum(self.threshold, low, out=self.threshold)

    def add(self, which: Ints, rows: Ints, scores: Scores) -> None:
        """Take in candidates; once there are many new ones, raise the threshold."""
        self.which.append(which)
        self.rows.append(rows)
        self.scores.append(scores)
        self.fresh += len(rows)
        if self.fresh >= max(self.k * len(self.queries), self.count // 2):
            self._tighten()
            if self.count > max(MANY_CANDIDATES, 4 * self.k * len(self.queries)):
                self._cut()

    def _all(self) -> tuple[Ints, Ints, Scores]:
        return np.concatenate(self.which), np.concatenate(self.rows), np.concatenate(self.scores)

    def _set(self, which: Ints, rows: Ints, scores: Scores) -> None:
        self.which, self.rows, self.scores = [which], [rows], [scores]
        self.fresh, self.count = 0, len(rows)

    def _tighten(self) -> None:
        which, rows, scores = self._all()
        order = np.lexsort((-scores, which))
        which, rows, scores = which[order], rows[order], scores[order]
        sizes = np.bincount(which, minlength=len(self.queries))
        full = np.flatnonzero(sizes >= self.k)
        best = np.full(len(self.queries), -np.inf)
        best[full] = scores[(np.cumsum(sizes) - sizes)[full] + self.k - 1]
        self._raise_to(best)
        keep = scores >= self.threshold[which]
        self._set(which[keep], rows[keep], scores[keep])

    def _cut(self) -> None:
        """Where very many stand at one distance: rank in 64-bit, keep the k nearest and some behind them, which tell of ties."""
        which, rows, scores = self._all()
        sizes = np.bincount(which, minlength=len(self.queries))
        keep = np.ones(len(rows), np.bool_)
        for query in np.flatnonzero(sizes > self.k + KEPT_TIES).tolist():
            # Candidates stand together by query here, as `_tighten` left them.
            end = int(sizes[: query + 1].sum())
            part = slice(end - int(sizes[query]), end)
            zeros = np.zeros(int(sizes[query]), np.int64)
            best = _ranked(self.space, self.queries[query : query + 1], self.k + KEPT_TIES, zeros, rows[part])
            keep[part] = np.isin(rows[part], best.rows[0])
        self._set(which[keep], rows[keep], scores[keep])

    def ranked(self) -> Neighbours:
        """The neighbours, once every document has been seen."""
        self._tighten()
        which, rows, _ = self._all()
        return _ranked(self.space, self.queries, self.k, which, rows)


def _ranked(space: Space, queries: Matrix, k: int, which: Ints, rows: Ints) -> Neighbours:
    """Candidates by true distance, then by row: the first k, and what is as near as the k-th."""
    n = len(queries)
    distances = space.distances(queries, which, rows)
    there = ~np.isnan(distances)
    which, rows, distances = which[there], rows[there], distances[there]
    order = np.lexsort((rows, distances, which))
    which, rows, distances = which[order], rows[order], distances[order]
    sizes = np.bincount(which, minlength=n)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(rows)) - starts[which]
    best_rows, best = np.full((n, k), -1, np.int64), np.full((n, k), np.nan)
    first = place < k
    best_rows[which[first], place[first]] = rows[first]
    best[which[first], place[first]] = distances[first]
    last = best[:, -1]
    limit = last + space.tolerance(queries, np.nan_to_num(last))
    # A query with fewer than k neighbours has no tie beyond them: NaN compares false.
    tied = ~first & (distances <= limit[which])
    counts = np.bincount(which[tied], minlength=n)
    return Neighbours(best_rows, best, counts.astype(np.int64))
