"""Expected values over random order of equal scores, in closed form.

Each group of tied documents takes the ranks `tie_first` … `tie_first + tie_size − 1`; every order of the group
is equally likely. Sums over documents (P, R, DCG, nDCG, NCG, RBP) follow from each document's expected weight;
AP from the expected precision at each rank (McSherry & Najork 2008); RR from where the first relevant
document of a group falls.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.hits import Floats, Hits, Ints
from leadline.measure import Measure
from leadline.measures import graded
from leadline.measures.binary import ratio


def closed_form(measure: Measure) -> Callable[..., Floats] | None:
    """The function for a measure's expected value over ties; None where there is no closed form."""
    assert measure.definition is not None
    # Over the retrieved relevant documents of a cut list the divisor is random too.
    if measure.name == "AP" and measure.cutoff is not None and measure.value("denominator") == "retrieved":
        return None
    return measure.definition.expected


def _expected_weight(hits: Hits, weight: Callable[[Any], Floats], cutoff: int | None) -> Floats:
    """The mean of weight(rank) over the ranks of each hit's tie group; ranks beyond the cutoff weigh 0."""
    last = int((hits.tie_first + hits.tie_size).max(initial=1))
    ranks = np.arange(1, last + 1)
    values = weight(ranks.astype(float))
    if cutoff is not None:
        values = np.where(ranks <= cutoff, values, 0.0)
    upto = np.concatenate(([0.0], np.cumsum(values)))
    mean: Floats = (upto[hits.tie_first + hits.tie_size - 1] - upto[hits.tie_first - 1]) / hits.tie_size
    return mean


def _all(hits: Hits) -> Any:
    return np.ones(len(hits.rank), bool)


def precision(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """E[P@k]: each relevant document counts with the chance that it falls in the top k."""
    return hits.per_query(hits.grade >= rel, _expected_weight(hits, np.ones_like, cutoff)) / cutoff


def recall(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """E[R@k]."""
    found = hits.per_query(hits.grade >= rel, _expected_weight(hits, np.ones_like, cutoff))
    return ratio(found, hits.relevant(rel).astype(float))


def dcg(hits: Hits, cutoff: int | None = None, gain: graded.Gain = "exp2") -> Floats:
    """E[DCG@k]: each gain times the mean discount of its tie group."""
    return hits.per_query(
        _all(hits), graded.gains(hits.grade, gain) * _expected_weight(hits, graded.discounts, cutoff)
    )


def ndcg(hits: Hits, cutoff: int | None = None, gain: graded.Gain = "exp2") -> Floats:
    """E[nDCG@k] = E[DCG@k] ÷ ideal. Example: a relevant and another document tied at rank 1: (1 + 0.6309)/2."""
    return ratio(dcg(hits, cutoff, gain), graded.ideal(hits, gain, cutoff, discounted=True))


def ncg(hits: Hits, cutoff: int, gain: graded.Gain = "exp2") -> Floats:
    """E[NCG@k]."""
    found = hits.per_query(
        _all(hits), graded.gains(hits.grade, gain) * _expected_weight(hits, np.ones_like, cutoff)
    )
    return ratio(found, graded.ideal(hits, gain, cutoff, discounted=False))


def rank_biased_precision(
    hits: Hits,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float = 1,
    gain: graded.Gain = "binary",
    max_grade: float | None = None,
) -> Floats:
    """E[RBP]: each gain times the mean weight of its tie group."""
    weight = _expected_weight(hits, lambda ranks: np.power(p, ranks - 1.0), cutoff)
    return (1 - p) * hits.per_query(_all(hits), graded.unit_gain(hits, rel, gain, max_grade) * weight)


def _groups(hits: Hits, rel: float) -> tuple[Ints, Ints, Ints, Ints]:
    """Tie groups with a relevant document: query, first rank, size, relevant documents, in order."""
    at = np.flatnonzero(hits.grade >= rel)
    query, first = hits.query[at], hits.tie_first[at]
    new = np.concatenate(([True], (query[1:] != query[:-1]) | (first[1:] != first[:-1])))[: len(at)]
    count = np.bincount(np.cumsum(new) - 1, minlength=int(new.sum())) if len(at) else at
    return query[new], first[new], hits.tie_size[at][new], count


def reciprocal_rank(hits: Hits, cutoff: int | None = None, rel: float = 1) -> Floats:
    """E[RR]: the first group with m relevant of s documents decides; its first relevant document falls x places
    into the group with chance C(s − x, m − 1)/C(s, m), found by P(x + 1)/P(x) = (s − x − m + 1)/(s − x).
    """
    query, first, size, count = _groups(hits, rel)
    lead = np.concatenate(([True], query[1:] != query[:-1]))[: len(query)]
    query, first, size, count = query[lead], first[lead], size[lead], count[lead]
    chance = count / np.maximum(size, 1)
    total = np.zeros(len(query))
    for x in range(1, int((size - count).max(initial=0)) + 2):
        rank = first + x - 1
        total += np.where(rank <= (cutoff or np.inf), chance / rank, 0.0)
        left = size - x
        chance = np.where(left > 0, chance * np.maximum(left - count + 1, 0) / np.maximum(left, 1), 0.0)
    value = np.zeros(hits.queries)
    value[query] = total
    return np.where(hits.relevant(rel) > 0, value, np.nan)


def average_precision(
    hits: Hits, cutoff: int | None = None, rel: float = 1, denominator: str = "relevant"
) -> Floats:
    """E[AP] (McSherry & Najork 2008, equation 8): at place i of a group of s documents with m relevant, after c
    documents with r relevant, the document is relevant with chance m/s, and the precision there is then
    (r + 1 + (i − 1)(m − 1)/(s − 1)) ÷ (c + i). With `denominator=retrieved` there is a closed form only
    without a cutoff.
    """
    query, first, size, count = _groups(hits, rel)
    new = np.concatenate(([True], query[1:] != query[:-1]))[: len(query)]
    total = np.cumsum(count)
    before = total - count
    before = before - before[np.flatnonzero(new)][np.cumsum(new) - 1] if len(query) else before
    owner = np.repeat(np.arange(len(size)), size)
    i = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size) + 1.0
    s, m = size[owner].astype(float), count[owner].astype(float)
    rank = first[owner] - 1 + i
    share = np.divide((i - 1) * (m - 1), s - 1, out=np.zeros(len(i)), where=s > 1)
    worth = m / s * (before[owner] + 1 + share) / rank
    worth = np.where(rank <= (cutoff or np.inf), worth, 0.0)
    value = np.bincount(query[owner], worth, minlength=hits.queries).astype(np.float64)
    relevant = hits.relevant(rel).astype(float)
    if denominator == "retrieved":
        found = hits.per_query(hits.grade >= rel)
        value = np.divide(value, found, out=np.zeros(len(value)), where=found > 0)
        return np.where((relevant > 0) & (hits.returned > 0), value, np.nan)
    return ratio(value, np.minimum(relevant, cutoff) if denominator == "min" and cutoff else relevant)
