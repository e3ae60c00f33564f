"""Measures that use the grade: DCG, nDCG, NCG, RBP, ERR and Compat.

A gain turns a grade into its worth: `exp2` is 2^g − 1 (Burges et al. 2005), `linear` the grade itself
(Järvelin & Kekäläinen 2002), `binary` 1 for grade ≥ 1, a map such as `{1:3,2:9}` what it says (grades it does
not name keep their own value, as in trec_eval). A negative grade never has a negative gain.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.hits import Floats, Hits
from leadline.measures.binary import ratio

Gain = str | tuple[tuple[float, float], ...]


def gains(grades: Floats, gain: Gain) -> Floats:
    """The gain of each grade.

    >>> gains(np.array([-2.0, 0, 1, 3]), "exp2").tolist()
    [0.0, 0.0, 1.0, 7.0]
    """
    positive = np.maximum(grades, 0.0)
    if gain == "exp2":
        return np.exp2(positive) - 1
    if gain == "binary":
        return (grades >= 1).astype(float)
    if isinstance(gain, tuple):
        value = positive.copy()
        for grade, worth in gain:
            value[grades == grade] = worth
        return value
    return positive


def discounts(ranks: npt.NDArray[Any]) -> Floats:
    """1 ÷ log2(rank + 1)."""
    return 1.0 / np.log2(ranks + 1.0)


def ideal(hits: Hits, gain: Gain, cutoff: int | None, discounted: bool) -> Floats:
    """The sum over the ideal order of all judged documents, cut at the same k; shape (queries,).

    A map of gains need not grow with the grade, so the gains themselves are put in order.
    """
    judged = hits.judged
    worth = gains(judged.ideal, gain)
    if isinstance(gain, tuple):
        worth = worth[np.lexsort((-worth, judged.ideal_query))]
    weight = discounts(judged.ideal_rank) if discounted else np.ones(len(worth))
    inside = np.ones(len(worth), bool) if cutoff is None else judged.ideal_rank <= cutoff
    total = np.bincount(judged.ideal_query[inside], (worth * weight)[inside], minlength=hits.queries)
    return total.astype(np.float64)


def dcg(hits: Hits, cutoff: int | None = None, gain: Gain = "exp2") -> Floats:
    """DCG@k = Σ gain(gᵢ) ÷ log2(i + 1) over ranks i ≤ k. Never undefined.

    Source: Burges et al. 2005 (gain 2^g − 1); Järvelin & Kekäläinen 2002 (gain g, another discount base).
    Example: grades 1, 2 at ranks 1, 2, exp2: 1/1 + 3/log2(3) = 2.8928.
    """
    inside = np.ones(len(hits.rank), bool) if cutoff is None else hits.rank <= cutoff
    return hits.per_query(inside, gains(hits.grade, gain) * discounts(hits.rank))


def ndcg(hits: Hits, cutoff: int | None = None, gain: Gain = "exp2") -> Floats:
    """nDCG@k = DCG@k ÷ DCG@k of the ideal order of all judged documents (cut at the same k).

    Source: Järvelin & Kekäläinen 2002; gain 2^g − 1: Burges et al. 2005. Example: grades 1, 2 at ranks 1, 2,
    exp2: (1 + 3/1.585) ÷ (3 + 1/1.585) = 2.8928/3.6309 = 0.7967; linear: 2.2619/2.6309 = 0.8597.
    """
    return ratio(dcg(hits, cutoff, gain), ideal(hits, gain, cutoff, discounted=True))


def ncg(hits: Hits, cutoff: int, gain: Gain = "exp2") -> Floats:
    """NCG@k = Σ gain in the top k ÷ Σ gain of the k best judged documents: nDCG without the discount.

    Source: Järvelin & Kekäläinen 2002, section 3.2 (cumulated gain). Example: grades 1, 2 found of 1, 2, 3 at
    k = 2, exp2: (1 + 3)/(7 + 3) = 0.4.
    """
    found = hits.per_query(hits.rank <= cutoff, gains(hits.grade, gain))
    return ratio(found, ideal(hits, gain, cutoff, discounted=False))


def unit_gain(hits: Hits, rel: float, gain: Gain, max_grade: float | None) -> Floats:
    """The gain of each hit scaled into [0, 1] by the top of the scale; `binary` asks for grade ≥ rel."""
    if gain == "binary":
        return (hits.grade >= rel).astype(float)
    top = hits.judged.max_grade if max_grade is None else max_grade
    # A map of gains need not grow with the grade: the largest gain of the scale is what 1 stands for.
    highest = gains(np.append(np.arange(0.0, np.floor(max(top, 0.0)) + 1), max(top, 0.0)), gain).max()
    return gains(np.minimum(hits.grade, top), gain) / highest if highest > 0 else np.zeros(len(hits.grade))


def rank_biased_precision(
    hits: Hits,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float = 1,
    gain: Gain = "binary",
    max_grade: float | None = None,
) -> Floats:
    """RBP = (1 − p)·Σ p^(i−1)·gain(gᵢ), the gain in [0, 1]: grade ≥ rel, or gain(g) ÷ gain(max_grade). Never undefined.

    Source: Moffat & Zobel 2008. Example: p = 0.5, relevant at ranks 1 and 2: 0.5·(1 + 0.5) = 0.75.
    """
    inside = np.ones(len(hits.rank), bool) if cutoff is None else hits.rank <= cutoff
    worth = unit_gain(hits, rel, gain, max_grade)
    return (1 - p) * hits.per_query(inside, np.power(p, hits.rank - 1.0) * worth)


def expected_reciprocal_rank(hits: Hits, cutoff: int | None = None, max_grade: float | None = None) -> Floats:
    """ERR = Σ (1/i)·sᵢ·Π_{j<i}(1 − sⱼ), with stop probability s = (2^g − 1) ÷ 2^max_grade.

    `max_grade`: the top of the declared scale, else the largest grade of the whole file.
    Source: Chapelle, Metzler, Zhang & Grinspan 2009. Example: grades 4, 2 at ranks 1, 2, max 4:
    15/16 + (1/16)·(3/16)/2 = 0.9434.
    """
    top = hits.judged.max_grade if max_grade is None else max_grade
    stop = gains(np.minimum(hits.grade, top), "exp2") / 2.0**top
    # The product over the ranks above, as a sum of logarithms that starts anew at each query.
    # It runs over all queries, so it is kept in extended precision where the machine has it.
    passed = np.concatenate(([0.0], np.cumsum(np.log1p(-stop), dtype=np.longdouble)))
    before = passed[:-1] - passed[hits.start[:-1]][hits.query] if len(stop) else stop
    inside = np.ones(len(hits.rank), bool) if cutoff is None else hits.rank <= cutoff
    value = hits.per_query(inside, np.exp(np.asarray(before, np.float64)) * stop / hits.rank)
    return np.where(hits.relevant(1) > 0, value, np.nan)


def compatibility(
    hits: Hits, cutoff: None = None, p: float = 0.95, depth: int | None = None, normalize: bool = True
) -> Floats:
    """Compat = rank-biased overlap of the ranking with the ideal ranking nearest to it, ÷ that of the ideal with itself.

    Overlap to depth D = Σ p^(i−1)·(documents in both first i)/i over i ≤ D; D is `depth`, else the length of the longer
    list. The ideal holds the documents with a positive grade, best first, equal grades in the order of the ranking
    and those not returned last. With `normalize=false` the overlap is divided by Σ p^(i−1) over i ≤ D instead.
    Source: Clarke, Vtyurina & Smucker 2021; overlap: Webber, Moffat & Zobel 2010. Example: relevant a, b, only a
    returned, p = 0.95: (1 + 0.95/2) ÷ (1 + 0.95) = 0.7564.
    """
    judged = hits.judged
    length = judged.count(np.nextafter(0, 1))
    ends = np.maximum(hits.returned, length) if depth is None else np.full(hits.queries, depth)
    longest = int(ends.max(initial=1))
    weight = np.power(p, np.arange(longest))
    plain = np.concatenate(([0.0], np.cumsum(weight)))
    shared = np.concatenate(([0.0], np.cumsum(weight / np.arange(1, longest + 1))))
    found = hits.pick(hits.grade > 0)
    order = np.lexsort((found.rank, -found.grade, found.query))
    query, grade, rank = found.query[order], found.grade[order], found.rank[order]
    # The place in the ideal: documents of a higher grade, then those of this grade that stand above.
    above = _higher(judged, query, grade)
    group = np.concatenate(([True], (query[1:] != query[:-1]) | (grade[1:] != grade[:-1])))[: len(query)]
    first = np.flatnonzero(group)
    within = np.arange(len(query)) - first[np.cumsum(group) - 1] if len(query) else query
    meet = np.minimum(np.maximum(above + within + 1, rank), ends[query] + 1)
    overlap = np.bincount(query, shared[ends[query]] - shared[meet - 1], minlength=hits.queries)
    whole = np.minimum(length, ends)
    best = plain[whole] + length * (shared[ends] - shared[whole]) if normalize else plain[ends]
    return ratio(overlap.astype(np.float64), np.where(length > 0, best, 0.0))


def _higher(judged: Any, query: Any, grade: Floats) -> Any:
    """For each (query, grade), how many judged documents of the query have a higher grade."""
    count = np.zeros(len(query), np.int64)
    for level in np.unique(grade):
        at = grade == level
        count[at] = judged.count(np.nextafter(level, np.inf))[query[at]]
    return count
