"""Measures estimated from a sampled pool: xinfAP and infNDCG, which need the stratum of every pooled pair.

A stratum is a part of the pool (ranks 1–10, 11–50, …) of which a random share was judged; the pairs not drawn
stand in the judgments with grade −1. How many pairs of a query's stratum are pooled and how many are judged gives
its rate; nothing else is assumed. Judging by what was found so far (move-to-front, decisive) is no such draw.
"""

import numpy as np

from leadline.errors import UsageError
from leadline.hits import Flags, Floats, Hits, Ints, Judged, Strata
from leadline.measures.binary import ratio
from leadline.measures.graded import Gain, discounts, gains

EPSILON = 0.00001
"""The smoothing constant ε, as in NIST's sample_eval.pl: (relevant + ε)/(judged + 3ε)."""


def strata_of(judged: Judged) -> Strata:
    """The strata of the judgments.

    Raises
    ------
    UsageError: there are none, a pair has none, or the pairs that were not drawn are not there.
    """
    strata = judged.strata
    if strata is None:
        raise UsageError(
            "xinfAP and infNDCG need judgments of a sampled pool: a column stratum, and grade −1 for the pairs that "
            "were not drawn (`leadline pool --sample stratified` makes them); five TREC columns are read with "
            "--qrels-format trec-sampled"
        )
    without = int((strata.code < 0).sum())
    if without:
        raise UsageError(
            f"xinfAP and infNDCG need the stratum of every pair: {without} of {len(strata.code)} judgments have none"
        )
    if strata.short:
        raise UsageError(
            f"xinfAP and infNDCG need the whole pool: stratum {strata.short[0]} was drawn with a probability below "
            "1, and no pair of it is marked as pooled and not judged (grade −1)"
        )
    return strata


def extended_inferred_ap(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """xinfAP: AP estimated from a pool whose strata were judged at different rates.

    The precision at a judged relevant document of rank k is (1 + Σₛ dₛ·(rₛ + ε)/(jₛ + 3ε))/k; of stratum s, dₛ
    pooled documents stand above it, jₛ of them judged and rₛ of those relevant. With w = pooled ÷ judged of a
    query's stratum, xinfAP is Σ w·precision over the judged relevant documents returned, divided by Σ w over all
    judged relevant ones. A stratum of which nothing is judged counts as holding nothing relevant. The quotient is not
    unbiased: with few relevant documents it is too high.
    Source: Yilmaz, Kanoulas & Aslam 2008; NIST's sample_eval.pl (ε = 0.00001). Example: with everything pooled
    judged it is AP, to about ε.
    """
    strata = strata_of(hits.judged)
    code, size = strata.code[hits.pair], len(strata.names)
    known, chosen = hits.grade >= 0, hits.grade >= rel
    above = np.zeros(len(hits.rank))
    for stratum in range(size):
        own = code == stratum
        pooled, judged, found = (
            (hits.running(own & which) - (own & which)).astype(float) for which in (own, known, chosen)
        )
        above += pooled * (found + EPSILON) / (judged + 3 * EPSILON)
    precision = (1 + above) / hits.rank
    weight = _weights(strata)
    summed = _per_stratum(hits, code, size, chosen, precision)
    return ratio((weight * summed).sum(axis=1), (weight * strata.count(rel)).sum(axis=1))


def inferred_ndcg(hits: Hits, cutoff: int | None = None, gain: Gain = "linear") -> Floats:
    """infNDCG@k: nDCG estimated from a pool whose strata were judged at different rates.

    DCG is Σₛ dₛ/jₛ·Gₛ: of stratum s, dₛ pooled documents stand in the top k, jₛ of them judged, and Gₛ is the
    discounted gain of those. The ideal order has each grade as often as the sample says, Σₛ (pooled ÷ judged)·count,
    rounded to whole documents, half up. The gain is the grade by default, as in the source. The estimate can
    exceed 1.
    Source: Yilmaz, Kanoulas & Aslam 2008; NIST's sample_eval.pl (its infNDCG ends at rank 1,000: infNDCG@1000).
    Example: with everything pooled judged it is nDCG(gain=linear).
    """
    strata = strata_of(hits.judged)
    code, size = strata.code[hits.pair], len(strata.names)
    inside = np.ones(len(hits.rank), bool) if cutoff is None else hits.rank <= cutoff
    known = inside & (hits.grade >= 0)
    ones = np.ones(len(hits.rank))
    pooled = _per_stratum(hits, code, size, inside, ones)
    judged = _per_stratum(hits, code, size, known, ones)
    worth = _per_stratum(hits, code, size, known, gains(hits.grade, gain) * discounts(hits.rank))
    return ratio((pooled / np.maximum(judged, 1) * worth).sum(axis=1), _ideal(strata, gain, cutoff))


def _weights(strata: Strata) -> Floats:
    """Pooled ÷ judged of each query's stratum, 0 where nothing is judged; shape (queries, strata)."""
    judged = strata.count(0)
    return np.where(judged > 0, strata.count() / np.maximum(judged, 1), 0.0)


def _per_stratum(hits: Hits, code: Ints, size: int, chosen: Flags, values: Floats) -> Floats:
    """The sum of the values of the chosen hits, by query and stratum; shape (queries, strata)."""
    cells = hits.query[chosen] * size + code[chosen]
    total = np.bincount(cells, values[chosen], minlength=hits.queries * size).astype(np.float64)
    return total.reshape(hits.queries, size)


def _ideal(strata: Strata, gain: Gain, cutoff: int | None) -> Floats:
    """The DCG of the ideal order of the grades as often as the sample says they are in the pool; shape (queries,)."""
    grades = np.unique(strata.grade[strata.grade >= 0])
    worth = gains(grades, gain)
    weight = _weights(strata)
    total, place = np.zeros(strata.queries), np.zeros(strata.queries, np.int64)
    for at in np.lexsort((grades, -worth)).tolist():
        if worth[at] <= 0:
            break
        grade = grades[at]
        count = (weight * strata.count(grade, np.nextafter(grade, np.inf))).sum(axis=1)
        last = place + np.floor(count + 0.5).astype(np.int64)
        total += worth[at] * (_discounted(last, cutoff) - _discounted(place, cutoff))
        place = last
    return total


def _discounted(counts: Ints, cutoff: int | None) -> Floats:
    """The sum of the discounts of the first ranks, as many as each count says and at most to the cutoff."""
    ends = counts if cutoff is None else np.minimum(counts, cutoff)
    sums = np.concatenate(([0.0], np.cumsum(discounts(np.arange(1, int(ends.max(initial=0)) + 1)))))
    return sums[ends]
