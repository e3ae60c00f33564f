"""Measures of many needs: documents judged by subtopic, for a query that people ask for different reasons.

A document answers a subtopic where its grade for it is at least `rel`; grades above are worth no more. Subtopics
for which nothing relevant is judged do not count. A query without any that counts is undefined.
"""

from dataclasses import dataclass

import numpy as np

from leadline.hits import Floats, Hits, Ints, Judged, Subtopics
from leadline.measures.binary import ratio
from leadline.measures.graded import discounts

HALF = 0.5
"""What an answer that repeats a subtopic is worth of the one before, in ERR_IA: fixed, as ndeval's default is."""
ENOUGH = 1100
"""The rank beyond which 0.5^(rank − 1) is 0 in 64-bit numbers."""
DIGITS = 12
"""The decimals to which two documents are worth the same in the ideal ranking: what is below is noise of sums."""


@dataclass(frozen=True)
class Answers:
    """What the documents returned answer, in order of query and rank; shape (answers,).

    `query` and `rank` are those of the document; `again` counts the documents above it that answer the same subtopic.
    """

    query: Ints
    rank: Ints
    again: Ints

    @classmethod
    def of(cls, hits: Hits, rel: float) -> "Answers":
        """The answers among the hits."""
        needs = hits.judged.needs
        row, at = needs.of_pairs(hits.pair)
        relevant = needs.grade[at] >= rel
        row, need = row[relevant], needs.need[at[relevant]]
        # A subtopic is of one query, so its answers stand in order of rank already.
        order = np.argsort(need, kind="stable")
        first = np.flatnonzero(np.concatenate(([True], np.diff(need[order]) != 0)))[: len(order)]
        again = np.empty(len(order), np.int64)
        again[order] = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        return cls(hits.query[row], hits.rank[row], again)

    def total(self, queries: int, cutoff: int, worth: Floats) -> Floats:
        """The sum of the worth of each query's answers within the cutoff, shape (queries,)."""
        inside = self.rank <= cutoff
        return np.bincount(self.query[inside], worth[inside], minlength=queries).astype(np.float64)


def answerable(judged: Judged, rel: float) -> Floats:
    """For each query, how many subtopics have a relevant judgment, shape (queries,)."""
    needs = judged.needs
    known = np.unique(needs.need[needs.grade >= rel])
    return np.bincount(needs.query[known], minlength=judged.queries).astype(np.float64)


def subtopic_recall(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """StRecall@k = subtopics that the top k answer ÷ subtopics that any judged document answers.

    Source: Zhai, Cohen & Lafferty 2003 (S-recall); ndeval's strec. Example: 3 subtopics, the top 2 answer the first
    and again the first and the second: 2/3.
    """
    found = Answers.of(hits, rel)
    new = (found.again == 0).astype(float)
    return ratio(found.total(hits.queries, cutoff, new), answerable(hits.judged, rel))


def alpha_ndcg(hits: Hits, cutoff: int, alpha: float = 0.5, rel: float = 1) -> Floats:
    """alpha_nDCG@k = alpha-DCG@k ÷ alpha-DCG@k of an ideal ranking of all judged documents, which is built greedily.

    alpha-DCG@k = Σ over ranks i ≤ k, and the subtopics that the document at i answers, of (1 − α)^n ÷ log2(i + 1), n
    being how many documents above it answer the same subtopic. The ideal takes at each rank the document that adds
    most, of equal ones the last by id. A best ranking is hard to find (it holds set cover), and the greedy one can
    fall short of it: the value can exceed 1.
    Source: Clarke et al. 2008; ndeval. Example: α = .5, two subtopics; a answers both, b the first, and b stands
    before a: (1 + (.5 + 1)/log2(3)) ÷ (2 + .5/log2(3)) = 1.9464/2.3155 = 0.8406.
    """
    found = Answers.of(hits, rel)
    worth = np.power(1.0 - alpha, found.again) * discounts(found.rank)
    return ratio(found.total(hits.queries, cutoff, worth), ideal_alpha_dcg(hits.judged, cutoff, alpha, rel))


def ideal_alpha_dcg(judged: Judged, cutoff: int, alpha: float, rel: float) -> Floats:
    """The alpha-DCG@k of each query's greedy ideal ranking, shape (queries,); found once for all systems."""
    asked = (cutoff, alpha, rel)
    if asked not in judged.needs.ideals:
        judged.needs.ideals[asked] = _greedy(judged, *asked)
    return judged.needs.ideals[asked]


def _greedy(judged: Judged, cutoff: int, alpha: float, rel: float) -> Floats:
    """Rank by rank, and all queries at once: the document that adds most, of equal ones the last by id."""
    needs = judged.needs
    total = np.zeros(judged.queries)
    document, need, owner = _documents(needs, judged, rel)
    if not len(owner):
        return total
    first = np.flatnonzero(np.concatenate(([True], np.diff(owner) != 0)))
    size = np.diff(first, append=len(owner))
    left = np.ones(len(needs.query))
    free = np.ones(len(owner), bool)
    for rank in range(1, min(cutoff, int(size.max())) + 1):
        adds = np.bincount(document, left[need], minlength=len(owner))
        rounded = np.where(free, np.round(adds, DIGITS), -1.0)
        best = np.repeat(np.maximum.reduceat(rounded, first), size)
        equal = np.flatnonzero(free & (rounded == best))
        queries, place = np.unique(owner[equal], return_index=True)
        taken = equal[place]
        total[queries] += adds[taken] / np.log2(rank + 1.0)
        free[taken] = False
        now = np.zeros(len(owner), bool)
        now[taken] = True
        left[need[now[document]]] *= 1.0 - alpha
    return total


def _documents(needs: Subtopics, judged: Judged, rel: float) -> tuple[Ints, Ints, Ints]:
    """The judged documents that answer anything, by query and then by id descending.

    Returns
    -------
    (document, need, owner): of each answer, the number of its document and the subtopic; of each document, its query.
    """
    relevant = needs.grade >= rel
    pair = np.repeat(np.arange(len(needs.start) - 1), np.diff(needs.start))[relevant]
    need = needs.need[relevant]
    pairs, place = np.unique(pair, return_inverse=True)
    owner: Ints = np.empty(len(pairs), np.int64)
    owner[place] = needs.query[need]
    order = np.argsort(judged.pairs.documents[pairs], kind="stable")[::-1]
    order = order[np.argsort(owner[order], kind="stable")]
    number = np.empty(len(pairs), np.int64)
    number[order] = np.arange(len(pairs))
    return number[place], need, owner[order]


def intent_aware_err(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """ERR_IA@k = Σ over ranks i ≤ k, and the subtopics that the document at i answers, of .5^n ÷ i, ÷ its bound.

    n is how many documents above answer the same subtopic: a reader stops at an answer with probability .5, and all
    subtopics weigh the same. The bound is what k documents would get that answer all M subtopics each: M·Σ .5^(i − 1)/i
    over i ≤ k; it does not depend on the documents judged, as that of nERR-IA does.
    Source: Chapelle, Metzler, Zhang & Grinspan 2009; Chapelle et al. 2011; ndeval. Example: two subtopics, k = 2;
    rank 1 answers the first, rank 2 both: (1 + (.5 + 1)/2) ÷ (2·(1 + .5/2)) = 1.75/2.5 = 0.7.
    """
    found = Answers.of(hits, rel)
    worth = np.power(HALF, found.again) / found.rank
    ranks = np.arange(1.0, min(cutoff, ENOUGH) + 1)
    bound = float((np.power(HALF, ranks - 1) / ranks).sum())
    return ratio(found.total(hits.queries, cutoff, worth), answerable(hits.judged, rel) * bound)
