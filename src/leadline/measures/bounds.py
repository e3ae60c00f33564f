"""The least and greatest value that the unjudged documents of the top k could give a measure.

Each unjudged document within the cutoff (within the whole list where there is none) may get any grade of the
scale; documents that were not returned, or stand below the cutoff, count as not relevant. The measure's own
function is asked about made-up completions of the judgments, so there is no second formula:

- `ends`: none relevant or all relevant (R, P, Success, RR, F: monotone in how many are relevant);
- `count`: for each number of relevant ones, placed as early and as late as can be (AP, Rprec, IPrec: for a
  fixed number the value only grows when relevant documents stand earlier);
- `top`: no grade or the highest everywhere (DCG, RBP, ERR: monotone in each grade);
- `grades`: every multiset of grades, best first and worst first (nDCG, NCG: the ideal order moves with them, so
  "all unjudged relevant" is not the upper bound). Beyond `MOST` multisets or rank 20 the bound is outer.
"""

from itertools import combinations_with_replacement, islice
from math import comb
from typing import Any

import numpy as np

from leadline.hits import Floats, Hits, Judged
from leadline.measure import Measure
from leadline.measures.graded import gains

MOST = 20_000
"""How many multisets of grades are tried for one query before the bound becomes outer."""
SHARP_DEPTH = 20
"""The cutoff to which nDCG's and NCG's bounds are sharp."""


def bounds(measure: Measure, hits: Hits) -> tuple[Floats, Floats, bool]:
    """The least and greatest value of each query, and whether they are sharp.

    NaN where no completion makes the query defined. A query that some completion leaves undefined keeps the
    bounds of the others.

    Returns
    -------
    (low, high, sharp): arrays of shape (queries,), and True where every bound is attained by some completion.
    """
    assert measure.definition is not None
    kind = measure.definition.bounds
    low, high = np.full(hits.queries, np.nan), np.full(hits.queries, np.nan)
    if kind == "none":
        return low, high, False
    if kind == "outer" or (measure.has("judged_only") and measure.value("judged_only")):
        return *_whole_range(measure, hits), False
    levels = _levels(measure, hits)
    sharp = True
    for query in range(hits.queries):
        view = _View(
            hits, query, measure.cutoff if kind != "count" or measure.definition.name == "AP" else None
        )
        chosen, exact = _completions(measure, len(view.free), levels)
        values = measure.definition.function(view.completed(chosen), measure.cutoff, **measure.arguments())
        if np.isnan(values).all():
            continue
        low[query], high[query] = np.nanmin(values), np.nanmax(values)
        if not exact:
            sharp = False
            low[query], high[query] = _outer(measure, view, levels)
    return low, high, sharp


def _whole_range(measure: Measure, hits: Hits) -> tuple[Floats, Floats]:
    """The value where everything within the cutoff is judged, else the whole range of the measure."""
    definition = measure.definition
    assert definition is not None
    view = hits.condensed() if measure.has("judged_only") and measure.value("judged_only") else hits
    value = definition.function(view, measure.cutoff, **measure.arguments())
    depth = hits.returned if measure.cutoff is None else np.minimum(hits.returned, int(measure.cutoff))
    judged = hits.per_query((hits.grade >= 0) & (hits.rank <= depth[hits.query])) == depth
    top = np.nan if definition.high is None else definition.high
    return np.where(judged, value, 0.0 if definition.high is not None else np.nan), np.where(
        judged, value, top
    )


def _levels(measure: Measure, hits: Hits) -> Floats:
    """The grades that a judgment could give: whole ones up to the top of the scale, or those that occur."""
    if measure.definition is not None and measure.definition.bounds in ("ends", "count"):
        return np.array([0.0, float(measure.value("rel"))])
    top = hits.judged.max_grade
    if measure.has("max_grade") and measure.value("max_grade") is not None:
        top = float(measure.value("max_grade"))
    # Judgments that hold no relevant document leave the scale open: a further one may be graded 1.
    top = max(top, 1.0)
    gain = measure.value("gain") if measure.has("gain") else "exp2"
    if gain == "binary":
        return np.array([0.0, max(top, float(measure.value("rel")))])
    seen = np.unique(np.concatenate(([0.0, top], hits.judged.ideal)))
    seen = np.arange(0.0, top + 1) if (seen == np.floor(seen)).all() and top <= 20 else seen[seen <= top]
    # By what they are worth: a map of gains need not grow with the grade.
    return seen[np.argsort(gains(seen, gain), kind="stable")]


def _completions(measure: Measure, free: int, levels: Floats) -> tuple[Floats, bool]:
    """Grades for the unjudged documents, shape (completions, free), and whether the best and worst are among them."""
    assert measure.definition is not None
    kind, cutoff = measure.definition.bounds, measure.cutoff
    worst, best = np.full(free, levels[0]), np.full(free, levels[-1])
    if kind in ("ends", "top") or free == 0:
        # Where no relevant document is judged, the least value that is defined has one, and that one last.
        one = worst.copy()
        one[-1:] = min(
            (level for level in levels if level >= 1 or (len(levels) == 2 and level > 0)), default=levels[0]
        )
        return np.stack([worst, one, best]), True
    if kind == "count":
        early = np.tri(free + 1, free, -1) * levels[-1]
        return np.concatenate((early, early[:, ::-1])), True
    if cutoff is None or cutoff > SHARP_DEPTH or comb(free + len(levels) - 1, free) > MOST:
        return np.stack([worst, best]), False
    late = np.array(list(islice(combinations_with_replacement(levels.tolist(), free), MOST)))
    return np.concatenate((late, late[:, ::-1])), True


def _outer(measure: Measure, view: "_View", levels: Floats) -> tuple[float, float]:
    """Bounds that hold without being attained: the least gain over the greatest ideal, and the other way round."""
    function, arguments = measure.definition.function, measure.arguments()  # type: ignore[union-attr]
    worst, best = np.zeros((1, len(view.free))), np.full((1, len(view.free)), levels[-1])
    low = function(view.completed(worst, ideal=best), measure.cutoff, **arguments)[0]
    high = function(view.completed(best, ideal=worst), measure.cutoff, **arguments)[0]
    return float(np.nan_to_num(low)), float(min(1.0, high)) if high == high else 1.0


class _View:
    """One query's hits, and the ranks of its unjudged documents that a judgment could change."""

    def __init__(self, hits: Hits, query: int, cutoff: int | float | None) -> None:
        own = slice(hits.start[query], hits.start[query + 1])
        known = hits.grade[own] >= 0
        self.rank, self.grade = hits.rank[own][known], hits.grade[own][known]
        self.returned = int(hits.returned[query])
        depth = self.returned if cutoff is None else min(int(cutoff), self.returned)
        self.free = np.setdiff1d(np.arange(1, depth + 1), self.rank)
        judged = hits.judged
        self.ideal = judged.ideal[judged.ideal_start[query] : judged.ideal_start[query + 1]]
        self.max_grade = judged.max_grade

    def completed(self, chosen: Floats, ideal: Floats | None = None) -> Hits:
        """Hits in which each "query" is this one with the free documents graded by one row of `chosen`."""
        rows = len(chosen)
        rank = np.concatenate((self.rank, self.free))
        order = np.argsort(rank)
        grade = np.concatenate((np.tile(self.grade, (rows, 1)), chosen), axis=1)[:, order]
        best = np.concatenate((np.tile(self.ideal, (rows, 1)), chosen if ideal is None else ideal), axis=1)
        best = -np.sort(-best, axis=1)
        start = np.arange(rows + 1) * best.shape[1]
        names = [str(row) for row in range(rows)]
        nothing: Any = None
        judged = Judged(names, best.ravel(), start, self.max_grade, nothing)
        query = np.repeat(np.arange(rows), len(rank))
        ranks = np.tile(rank[order], rows)
        ones = np.ones(len(ranks), np.int64)
        full = np.full(rows, self.returned)
        yes = np.ones(rows, bool)
        return Hits(judged, query, ranks, grade.ravel(), ranks, ones, full, yes, ~yes)


def mean_bounds(low: Floats, high: Floats, may_drop: Any) -> tuple[float | None, float | None]:
    """The least and greatest mean over the queries, each of which lies in [low, high].

    A query of `may_drop` may also turn out undefined and leave the mean: it is taken in only where that makes
    the bound wider.

    >>> mean_bounds(np.array([0.2, 0.9]), np.array([0.4, 1.0]), np.array([False, True]))
    (0.2, 0.7)
    """
    known = ~np.isnan(low)
    ends = []
    for values, sign in ((low[known], 1.0), (high[known], -1.0)):
        always = values[~may_drop[known]] * sign
        maybe = np.sort(values[may_drop[known]] * sign)
        sums = always.sum() + np.concatenate(([0.0], np.cumsum(maybe)))
        counts = len(always) + np.arange(len(maybe) + 1)
        means = sums[counts > 0] / counts[counts > 0]
        ends.append(float(means.min() * sign) if len(means) else None)
    return ends[0], ends[1]
