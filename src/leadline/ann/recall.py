"""How many of the exact neighbours an index returned: by id and tie-aware, for each query and over all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.ann.distance import Space
from leadline.ann.exact import Neighbours
from leadline.ann.vectors import Floats, Ints, Vectors
from leadline.errors import InputError, printable

LOW = 0.9
"""The report gives the share of queries whose recall is below this."""
SHOWN = 3
NOISE = 1e-12


@dataclass(frozen=True)
class Spread:
    """The distribution of a recall over queries; all None where there is no query."""

    mean: float | None
    tie_aware_mean: float | None
    median: float | None
    p5: float | None
    low_share: float | None

    def to_dict(self) -> dict[str, float | None]:
        """The numbers by their names in the report."""
        return {
            "mean": self.mean,
            "tie_aware_mean": self.tie_aware_mean,
            "median": self.median,
            "p5": self.p5,
            "share_below_0.9": self.low_share,
        }


@dataclass(frozen=True)
class Recall:
    """The recall of every query that counts, and what did not count.

    Attributes
    ----------
    query_rows: the rows of the queries that count. by_id, tie_aware: shape (queries,); tie_aware is None where the
    truth came without vectors. excluded: queries without any true neighbour. errors: queries that failed.
    unanswered: queries that count, with 0, though nothing came back. duplicates: ids that were returned again.
    short: queries that got fewer than k though there are k.
    """

    query_rows: Ints
    by_id: Floats
    tie_aware: Floats | None
    excluded: int
    errors: int
    unanswered: int
    duplicates: int
    short: int

    @property
    def values(self) -> Floats:
        """Tie-aware where the true distances are known, else by id; shape (queries,)."""
        return self.by_id if self.tie_aware is None else self.tie_aware

    @property
    def spread(self) -> Spread:
        """Mean, median, the worst 5 % and the share of queries below .9, by id where nothing else is said."""
        if not len(self.by_id):
            return Spread(None, None, None, None, None)
        tied = None if self.tie_aware is None else float(self.tie_aware.mean())
        return Spread(
            float(self.by_id.mean()),
            tied,
            float(np.median(self.by_id)),
            float(np.quantile(self.by_id, 0.05)),
            float((self.by_id < LOW - NOISE).mean()),
        )

    def worst(self, count: int) -> list[int]:
        """The places, in the arrays, of the queries that lost most; those that lost nothing are not among them."""
        value = self.values
        order = np.lexsort((self.query_rows, self.by_id, value))
        return [int(at) for at in order[:count] if value[at] < 1 or self.by_id[at] < 1]


@dataclass(frozen=True)
class Answers:
    """What an index returned: for each query its ids in order, None where it gave no answer at all.

    `errors` holds the message of each query that failed, by its place.
    """

    ids: Sequence[Sequence[str] | None]
    errors: Mapping[int, str]


def recall_of(returned: Sequence[Any], exact: Sequence[Any], k: int) -> float | None:
    """The recall of one query by id: |first k returned ∩ exact top k| ÷ min(k, |exact|), distinct ids.

    None where there is no true neighbour.

    >>> recall_of([1, 1, 1], [1, 2, 3], 3), recall_of([1, 2], [1, 2], 5)
    (0.3333333333333333, 1.0)
    """
    truth = list(exact)[:k]
    return len(set(list(returned)[:k]) & set(truth)) / len(truth) if truth else None


def rows_returned(answers: Answers, documents: Vectors, source: str) -> list[list[int] | None]:
    """The returned ids as rows of the documents.

    Raises
    ------
    InputError: ids that no document has.
    """
    known = documents.row_of
    found: list[list[int] | None] = []
    unknown: dict[str, None] = {}
    for ids in answers.ids:
        rows = None
        if ids is not None:
            rows = [known.get(one, -1) for one in ids]
            if -1 in rows:
                unknown |= dict.fromkeys(one for one, row in zip(ids, rows, strict=True) if row < 0)
        found.append(rows)
    if unknown:
        names = ", ".join(repr(printable(one)) for one in list(unknown)[:SHOWN])
        more = ", …" if len(unknown) > SHOWN else ""
        raise InputError(
            f"{printable(source)}: {len(unknown)} returned id{'s' * (len(unknown) > 1)} that no document of "
            f"{printable(documents.name)} has ({names}{more})"
        )
    return found


def measure_recall(
    space: Space, queries: Vectors, truth: Neighbours, answers: Answers, k: int, source: str, left_out: Ints
) -> Recall:
    """The recall of the answers against the truth; true distances are computed here, never taken from the index.

    `left_out` are the rows of queries without direction.
    """
    returned = rows_returned(answers, space.documents, source)
    pairs = [
        (row, document) for row, rows in enumerate(returned) for document in dict.fromkeys((rows or [])[:k])
    ]
    which = np.array([row for row, _ in pairs], np.int64)
    rows = np.array([document for _, document in pairs], np.int64)
    distances = space.distances(queries.data, which, rows) if pairs else np.zeros(0)
    limit = truth.last + space.tolerance(queries.data, np.nan_to_num(truth.last))
    near = np.bincount(which[distances <= limit[which]], minlength=queries.rows)
    exact = [set(row[row >= 0].tolist()) for row in truth.rows]
    hits = np.bincount(
        [row for row, document in pairs if document in exact[row]] or np.zeros(0, np.int64),
        minlength=queries.rows,
    )
    counted = _counted(truth.found, answers, left_out)
    n = np.maximum(truth.found, 1)
    return _recall(returned, counted, hits / n, near / n, truth.found, answers, k, left_out)


def measure_by_id(exact: Sequence[Sequence[str] | None], answers: Answers, k: int) -> Recall:
    """The recall against neighbours that are known by id only, from the index's own exact search."""
    found = np.array([len(dict.fromkeys((ids or [])[:k])) for ids in exact], np.int64)
    pairs = zip(answers.ids, exact, strict=True)
    values = np.array(
        [recall_of(got or [], list(dict.fromkeys(want or [])), k) or 0.0 for got, want in pairs]
    )
    none = np.zeros(0, np.int64)
    returned = [None if ids is None else list(ids) for ids in answers.ids]
    return _recall(returned, _counted(found, answers, none), values, None, found, answers, k, none)


def _counted(found: Ints, answers: Answers, left_out: Ints) -> Ints:
    use = found > 0
    use[list(answers.errors)] = False
    use[left_out] = False
    return np.flatnonzero(use)


def _recall(
    returned: Sequence[Sequence[Any] | None], counted: Ints, by_id: Floats, tied: Floats | None, found: Ints,
    answers: Answers, k: int, left_out: Ints,
) -> Recall:  # fmt: skip
    none = found == 0
    none[left_out] = True
    sizes = np.array([len(set((rows or [])[:k])) for rows in returned], np.int64)
    again = sum(len(rows[:k]) - len(set(rows[:k])) for rows in returned if rows)
    return Recall(
        counted,
        by_id[counted],
        None if tied is None else tied[counted],
        int(none.sum()),
        sum(not none[row] for row in answers.errors),
        int((sizes[counted] == 0).sum()),
        again,
        int(((sizes < found) & (sizes > 0))[counted].sum()),
    )


@dataclass(frozen=True)
class Overlap:
    """How far two answers agree, query by query, without any truth.

    Attributes
    ----------
    query_rows: the queries that both answered, one of them with something. shares: shape (queries,): |A ∩ B| ÷ the
    larger of the two. first_only, second_only: how many ids only one of them returned.
    """

    query_rows: Ints
    shares: Floats
    first_only: Ints
    second_only: Ints

    def least(self, count: int) -> list[int]:
        """The places of the queries that agree least, those that agree wholly left out."""
        order = np.lexsort((self.query_rows, self.shares))
        return [int(at) for at in order[:count] if self.shares[at] < 1]


def overlap(first: Answers, second: Answers, k: int) -> Overlap:
    """The overlap of the first k of two answers, distinct ids.

    >>> overlap(Answers([["a", "b"]], {}), Answers([["b", "c"]], {}), 2).shares.tolist()
    [0.5]
    """
    rows, shares, ours, theirs = [], [], [], []
    for row, (one, other) in enumerate(zip(first.ids, second.ids, strict=True)):
        a, b = set((one or [])[:k]), set((other or [])[:k])
        if row in first.errors or row in second.errors or not (a or b):
            continue
        rows.append(row)
        shares.append(len(a & b) / max(len(a), len(b)))
        ours.append(len(a - b))
        theirs.append(len(b - a))
    return Overlap(
        np.array(rows, np.int64),
        np.array(shares, np.float64),
        np.array(ours, np.int64),
        np.array(theirs, np.int64),
    )
