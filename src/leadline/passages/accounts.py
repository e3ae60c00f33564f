"""The accounts of all queries as one report: means with intervals, losses by reason, and recall by k and by budget."""

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.passages.context import QueryAccount
from leadline.passages.contexts import REASONS
from leadline.stats.intervals import Interval, mean_interval, t_interval

SHARES = (0.5, 0.9, 0.95, 0.99, 1.0)
"""Shares of the recall that can be reached, whose least budget is named."""
GRID = 24
"""About how many budgets the curve shows."""
THIRDS = ("first", "middle", "last")

MEANINGS = {
    "retrieved": "evidence in the whole ranking",
    "at_k": "evidence in the first k",
    "sent": "evidence in the context",
    "kept": "context − first k",
    "added": "evidence sent without having been retrieved",
    "noise": "share of the context that is no evidence",
    "duplicates": "share of the context that stood in it before",
    "at": "where the best evidence stands: 0 first, 1 last",
    "items": "entries of the context",
    "size": "length of the context",
}
"""What each mean is of."""
SHARE_NAMES = ("retrieved", "at_k", "sent", "added", "noise", "duplicates")
"""The means of shares, whose values are all between 0 and 1."""


@dataclass(frozen=True)
class Mean:
    """The mean of one number over the queries that have it, with its interval; `n` is how many have it.

    `error_low` and `error_high` are what it would be if every failed query were worst, or best; None where none failed.
    """

    name: str
    interval: Interval
    error_low: float | None = None
    error_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The mean as plain values; None where it cannot be computed."""
        one = self.interval
        row: dict[str, Any] = {"name": self.name, "mean": one.estimate, "low": one.low, "high": one.high}
        row |= {"method": one.method, "n": one.n}
        return row | {"error_low": self.error_low, "error_high": self.error_high}


@dataclass(frozen=True)
class ByK:
    """The first k chunks: mean recall, and the mean and 95th percentile of their length (None: not known)."""

    k: int
    recall: float
    size: float | None
    size_p95: float | None


@dataclass(frozen=True)
class ByBudget:
    """A budget filled from the top until the next chunk does not fit: mean recall, and how many chunks fit."""

    budget: int
    recall: float
    chunks: float


@dataclass(frozen=True)
class ContextReport:
    """What reached the contexts of all queries.

    Attributes
    ----------
    accounts: of each query. means: of each number of `MEANINGS`. lost: by reason, the mean share that was lost so.
    by_k, by_budget: what another k or budget would give, in the order of the ranking.
    reach: for each share of `SHARES`, the least budget that reaches this share of the recall of the whole ranking.
    thirds: of the contexts with evidence, how many have the best of it in their first, middle and last third.
    how: entries by how they were matched. over: contexts that are longer than the budget.
    """

    accounts: Sequence[QueryAccount]
    means: Sequence[Mean]
    lost: Sequence[Mean]
    by_k: Sequence[ByK]
    by_budget: Sequence[ByBudget]
    reach: Mapping[float, int | None]
    thirds: Mapping[str, int]
    how: Mapping[str, int]
    over: int

    @property
    def states(self) -> dict[str, int]:
        """How many queries are in which state."""
        counts = Counter(one.state for one in self.accounts)
        return {state: counts.get(state, 0) for state in ("scored", "unanswered", "undefined", "error")}

    def mean(self, name: str) -> float | None:
        """One of the means."""
        return next(one.interval.estimate for one in self.means if one.name == name)


def summed(
    accounts: Sequence[QueryAccount], budget: int | None = None, depth: int | None = None
) -> ContextReport:
    """The report of the accounts of queries; `budget` is always one of the curve, `depth` the last k shown.

    Queries without evidence and those that failed are in no mean; a query without a context counts 0 in `sent`.

    >>> one = QueryAccount("q", "scored", 1.0, 1.0, 0.5, {"budget": 0.5}, 0.0, steps=[(10, 0.5), (30, 1.0)])
    >>> report = summed([one])
    >>> report.mean("sent"), report.reach[0.5], report.reach[1.0]
    (0.5, 10, 30)
    """
    counted = [one for one in accounts if one.state in ("scored", "unanswered")]
    failed = sum(1 for one in accounts if one.state == "error")
    means = [
        _mean(name, _interval(counted, value, name in SHARE_NAMES), failed) for name, value in _VALUES.items()
    ]
    reasons = [reason for reason in REASONS if any(reason in one.lost for one in counted)]
    lost = [Mean(reason, _interval(counted, _lost(reason), True)) for reason in reasons]
    how: Counter[str] = Counter()
    for row in counted:
        how.update(row.how)
    return ContextReport(
        tuple(accounts),
        means,
        lost,
        _by_k(counted, depth),
        _by_budget(counted, budget),
        {share: _least(counted, share) for share in SHARES},
        _thirds(counted),
        dict(how),
        sum(1 for row in counted if budget is not None and row.size is not None and row.size > budget),
    )


_VALUES: dict[str, Callable[[QueryAccount], float | None]] = {
    "retrieved": lambda row: row.retrieved,
    "at_k": lambda row: row.at_k,
    "sent": lambda row: row.sent,
    "kept": lambda row: None if row.sent is None or row.at_k is None else row.sent - row.at_k,
    "added": lambda row: row.added,
    "noise": lambda row: row.noise,
    "duplicates": lambda row: row.duplicates,
    "at": lambda row: row.at,
    "items": lambda row: row.items if row.state == "scored" else None,
    "size": lambda row: row.size if row.state == "scored" else None,
}


def _mean(name: str, found: Interval, failed: int) -> Mean:
    if not failed or name not in ("retrieved", "at_k", "sent"):
        return Mean(name, found)
    total, n = (found.estimate or 0.0) * found.n, found.n + failed
    return Mean(name, found, total / n, (total + failed) / n)


def _lost(reason: str) -> Callable[[QueryAccount], float | None]:
    return lambda row: row.lost.get(reason, 0.0)


def _interval(
    rows: Sequence[QueryAccount], value: Callable[[QueryAccount], float | None], share: bool
) -> Interval:
    known = [float(one) for one in map(value, rows) if one is not None]
    # Wilson's interval is of yes and no; a count that happens to be 1 everywhere is neither.
    return mean_interval(known) if share else t_interval(known)


def _by_k(rows: Sequence[QueryAccount], depth: int | None) -> list[ByK]:
    deepest = max((len(row.steps) for row in rows), default=0)
    found = []
    for k in range(1, min(deepest, depth or deepest) + 1):
        steps = [row.steps[min(k, len(row.steps)) - 1] if row.steps else (0, 0.0) for row in rows]
        sizes = [size for size, _ in steps if size is not None]
        known = len(sizes) == len(steps)
        found.append(
            ByK(
                k,
                float(np.mean([share for _, share in steps])),
                float(np.mean(sizes)) if known else None,
                float(np.percentile(sizes, 95)) if known else None,
            )
        )
    return found


def _sized(rows: Sequence[QueryAccount]) -> bool:
    """Whether the length of every retrieved chunk is known."""
    return bool(rows) and all(size is not None for row in rows for size, _ in row.steps)


def _by_budget(rows: Sequence[QueryAccount], budget: int | None) -> list[ByBudget]:
    if not _sized(rows) or not any(row.steps for row in rows):
        return []
    totals = [row.steps[-1][0] or 0 for row in rows if row.steps]
    firsts = [row.steps[0][0] or 0 for row in rows if row.steps]
    grid = set(round_budgets(max(1, min(firsts)), max(1, max(totals)))) | ({budget} if budget else set())
    return [_at_budget(rows, one) for one in sorted(grid)]


def _at_budget(rows: Sequence[QueryAccount], budget: int) -> ByBudget:
    shares, chunks = [], []
    for row in rows:
        fit = bisect.bisect_right([size or 0 for size, _ in row.steps], budget)
        shares.append(row.steps[fit - 1][1] if fit else 0.0)
        chunks.append(fit)
    return ByBudget(budget, float(np.mean(shares)), float(np.mean(chunks)))


def _least(rows: Sequence[QueryAccount], share: float) -> int | None:
    """The least budget whose mean recall is this share of the whole ranking's; None where lengths are not known."""
    if not _sized(rows):
        return None
    gains: dict[int, float] = defaultdict(float)
    for row in rows:
        before = 0.0
        for size, reached in row.steps:
            gains[size or 0] += reached - before
            before = reached
    wanted = share * sum(row.steps[-1][1] for row in rows if row.steps)
    if not wanted:
        return None
    total = 0.0
    for size in sorted(gains):
        total += gains[size]
        if total >= wanted - 1e-9:
            return size
    return None


def round_budgets(low: int, high: int) -> list[int]:
    """Round numbers from `low` to `high`, about evenly apart on a logarithmic scale; the last reaches `high`.

    >>> round_budgets(90, 1000)
    [100, 150, 200, 300, 400, 500, 600, 800, 1000]
    """
    marks = (1, 1.5, 2, 3, 4, 5, 6, 8)
    found = [
        round(mark * 10**power)
        for power in range(int(math.log10(low)), int(math.log10(high)) + 2)
        for mark in marks
        if mark * 10**power >= 1
    ]
    last = next(one for one in found if one >= high)
    return [one for one in found if low <= one <= last]


def _thirds(rows: Sequence[QueryAccount]) -> dict[str, int]:
    counts = dict.fromkeys(THIRDS, 0)
    for row in rows:
        if row.at is not None:
            counts[THIRDS[min(2, int(row.at * 3))]] += 1
    return counts
