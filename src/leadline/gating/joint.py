"""The least and greatest difference that the unjudged documents of two top k's could give, jointly.

Two systems share documents, and one grade counts for both, so the ends of the two systems' own bounds do not meet
in a difference.
"""

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from leadline.gating.completions import Completer, TwoRankings
from leadline.hits import Floats, Ints

MOST = 300
"""How many multisets of grades are tried for one query; beyond it only none and the highest are."""
ROWS_AT_ONCE = 50_000


def joint_bounds(two: TwoRankings, queries: Ints, most: int = MOST) -> tuple[Floats, Floats]:
    """The least and greatest candidate − baseline of some queries; both of shape (queries,), NaN where undefined.

    For each multiset of grades the documents are graded in the order of what they add to the candidate less what
    they add to the baseline (discounts 1/log2(rank + 1)), best first and worst first; also each document alone.
    For a fixed multiset a measure that is linear in the gains by rank is greatest in the first order (the
    rearrangement inequality: Hardy, Littlewood & Pólya 1934, theorem 368), so that the ends are sharp for nDCG, DCG
    and NCG up to their discount; for P, R, Success and RR one document or all on one side decide. For other measures
    the ends are attained and may not be the outermost. Where there are more multisets than `most`, only none and
    the highest grade are tried.
    """
    low, high = np.full(len(queries), np.nan), np.full(len(queries), np.nan)
    levels = _levels(two)
    waiting: list[tuple[int, Ints, Floats]] = []
    rows = 0
    for at, query in enumerate(queries.tolist()):
        free = np.arange(*np.searchsorted(two.query, [query, query + 1]))
        grades = _tried(two, free, levels, most)
        waiting.append((at, free, grades))
        rows += len(grades)
        if rows >= ROWS_AT_ONCE:
            _settle(two, queries, waiting, low, high)
            waiting, rows = [], 0
    if waiting:
        _settle(two, queries, waiting, low, high)
    return low, high


def _settle(
    two: TwoRankings, queries: Ints, waiting: list[tuple[int, Ints, Floats]], low: Floats, high: Floats
) -> None:
    """Score the completions that wait, and keep the ends of each query."""
    sizes = np.array([len(grades) for _, _, grades in waiting])
    row_query = np.repeat(np.array([queries[at] for at, _, _ in waiting]), sizes)
    free = np.concatenate([np.tile(own, len(grades)) for _, own, grades in waiting])
    wide = np.concatenate([np.full(len(grades), len(own)) for _, own, grades in waiting])
    rows = np.repeat(np.arange(len(row_query)), wide)
    a, b = Completer(two, row_query, free, rows).values(
        np.concatenate([grades.ravel() for _, _, grades in waiting])
    )
    difference = b - a
    begin = 0
    for (at, _, _), size in zip(waiting, sizes.tolist(), strict=True):
        own = difference[begin : begin + size]
        own = own[~np.isnan(own)]
        if len(own):
            low[at], high[at] = own.min(), own.max()
        begin += size


def _levels(two: TwoRankings) -> Floats:
    """The grades that a judgment could give: 0, whole ones to the top of the scale, or those seen."""
    judged = two.sides[0].hits.judged
    top = max(judged.max_grade, 1.0)
    seen = np.unique(np.concatenate(([0.0, top], judged.ideal)))
    if (seen == np.floor(seen)).all() and top <= 10:
        return np.arange(0.0, top + 1)
    return seen


def _tried(two: TwoRankings, free: Ints, levels: Floats, most: int) -> Floats:
    """The grades tried for one query's unjudged documents, shape (completions, documents)."""
    count = len(free)
    ranks = two.ranks[:, free].astype(float)
    worth = np.where(ranks > 0, 1 / np.log2(np.maximum(ranks, 1) + 1), 0.0)
    order = np.lexsort((np.arange(count), worth[0] - worth[1]))
    if comb(count + len(levels) - 1, count) <= most:
        given = np.array(list(combinations_with_replacement(levels[::-1].tolist(), count)))
    else:
        given = np.where(np.arange(count) < np.arange(count + 1)[:, None], levels[-1], 0.0)
    out = np.zeros((2 * len(given) + count, count))
    out[: len(given), order] = given
    out[len(given) : 2 * len(given), order[::-1]] = given
    out[2 * len(given) + np.arange(count), np.arange(count)] = levels[-1]
    return out
