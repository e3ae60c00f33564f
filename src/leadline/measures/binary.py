"""Measures that only ask whether a document is relevant: P, R, Success, RR, AP, Rprec, F, set measures, IPrec.

Every function takes `hits` (the judged documents that were returned), a `cutoff` (None: the whole list) and
`rel`, the least grade that counts as relevant, and gives an array of shape (queries,).
Where nothing is relevant the value is 0 ÷ 0 and comes out as NaN, unless the docstring says otherwise.
"""

import numpy as np

from leadline.hits import Flags, Floats, Hits


def _within(hits: Hits, rel: float, cutoff: int | None) -> Flags:
    """Which hits are relevant and inside the cutoff."""
    relevant = hits.grade >= rel
    return relevant if cutoff is None else relevant & (hits.rank <= cutoff)


def ratio(top: Floats, bottom: Floats) -> Floats:
    """The quotient of each query; NaN where the denominator is 0."""
    quotient: Floats = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom != 0)
    return quotient


def precision(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """P@k = relevant documents in the top k ÷ k; k even when fewer were returned. Never undefined.

    Source: trec_eval, m_P.c. Example: relevant at ranks 1 and 4, k = 5: 2/5.
    """
    return hits.per_query(_within(hits, rel, cutoff)) / cutoff


def recall(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """R@k = relevant documents in the top k ÷ R, all judged relevant documents.

    Source: trec_eval, m_recall.c. Example: 1 of 4 relevant in the top 3: 0.25.
    """
    return ratio(hits.per_query(_within(hits, rel, cutoff)), hits.relevant(rel).astype(float))


def success(hits: Hits, cutoff: int, rel: float = 1) -> Floats:
    """Success@k = 1 if any of the top k is relevant, else 0 (also called hit rate).

    Source: trec_eval, m_success.c. Example: first relevant document at rank 6, k = 5: 0.
    """
    found = (hits.per_query(_within(hits, rel, cutoff)) > 0).astype(float)
    return np.where(hits.relevant(rel) > 0, found, np.nan)


def reciprocal_rank(hits: Hits, cutoff: int | None = None, rel: float = 1) -> Floats:
    """RR = 1 ÷ rank of the first relevant document; 0 if none was returned (within the cutoff).

    Source: trec_eval, m_recip_rank.c; the mean over queries is MRR (Voorhees 1999). Example: first relevant
    document at rank 2: 0.5.
    """
    at = np.flatnonzero(_within(hits, rel, cutoff))
    first = at[np.concatenate(([True], hits.query[at][1:] != hits.query[at][:-1]))[: len(at)]]
    value = np.zeros(hits.queries)
    value[hits.query[first]] = 1.0 / hits.rank[first]
    return np.where(hits.relevant(rel) > 0, value, np.nan)


def average_precision(
    hits: Hits, cutoff: int | None = None, rel: float = 1, denominator: str = "relevant"
) -> Floats:
    """AP = sum of the precision at each relevant document's rank ÷ R (all judged relevant documents).

    `denominator`: `relevant` divides by R; `min` by min(R, k); `retrieved` by the relevant documents that were
    returned (what RAG tools call context precision: undefined where nothing was returned, 0 where nothing
    relevant was).
    Source: trec_eval, m_map.c, m_map_cut.c; Buckley & Voorhees 2005. Example: relevant at ranks 1 and 3, R = 2:
    (1/1 + 2/3)/2 = 0.8333.
    """
    chosen = _within(hits, rel, cutoff)
    total = hits.per_query(chosen, hits.running(hits.grade >= rel) / hits.rank)
    relevant = hits.relevant(rel).astype(float)
    if denominator == "retrieved":
        found = hits.per_query(chosen)
        value = np.divide(total, found, out=np.zeros(len(total)), where=found > 0)
        return np.where((relevant > 0) & (hits.returned > 0), value, np.nan)
    if denominator == "min" and cutoff is not None:
        return ratio(total, np.minimum(relevant, cutoff))
    return ratio(total, relevant)


def r_precision(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """Rprec = relevant documents in the top R ÷ R, R being the number of judged relevant documents.

    Source: trec_eval, m_Rprec.c. Example: R = 3, relevant at ranks 1 and 5: 1/3.
    """
    relevant = hits.relevant(rel)
    inside = (hits.grade >= rel) & (hits.rank <= relevant[hits.query])
    return ratio(hits.per_query(inside), relevant.astype(float))


def set_precision(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """SetP = relevant documents returned ÷ documents returned; 0 for an empty answer, as in trec_eval.

    Source: trec_eval, m_set_P.c. Example: 1 relevant of 2 returned: 0.5.
    """
    return hits.per_query(hits.grade >= rel) / np.maximum(hits.returned, 1)


def set_recall(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """SetR = relevant documents returned ÷ R.

    Source: trec_eval, m_set_recall.c. Example: 1 of 3 relevant returned: 0.3333.
    """
    return ratio(hits.per_query(hits.grade >= rel), hits.relevant(rel).astype(float))


def f_measure(hits: Hits, cutoff: int | None = None, rel: float = 1, beta: float = 1) -> Floats:
    """F = (1 + b²)·P·R ÷ (b²·P + R), with true beta b; P and R at the cutoff, or of the whole list.

    0 where P and R are both 0. trec_eval's set_F.x takes x = beta².
    Source: van Rijsbergen 1979, chapter 7. Example: P = 1/2, R = 1/3, b = 0.5:
    1.25·(1/6) ÷ (0.25/2 + 1/3) = 0.4545.
    """
    top = set_precision(hits, rel=rel) if cutoff is None else precision(hits, cutoff, rel)
    found = set_recall(hits, rel=rel) if cutoff is None else recall(hits, cutoff, rel)
    bottom = beta**2 * top + found
    value = np.divide((1 + beta**2) * top * found, bottom, out=np.zeros(len(top)), where=bottom > 0)
    return np.where(hits.relevant(rel) > 0, value, np.nan)


def set_f(hits: Hits, cutoff: None = None, rel: float = 1, beta: float = 1) -> Floats:
    """SetF = F of the whole list returned, with true beta (see F).

    Source: trec_eval, m_set_F.c (whose parameter is beta²). Example: P = 1/2, R = 1/3, b = 1: 0.4.
    """
    return f_measure(hits, None, rel, beta)


def needed(relevant: Floats, level: float, levels: str) -> Floats:
    """How many relevant documents the recall level asks for, by the rule `levels`.

    `least`: the fewest n with n/R ≥ level − 1e-9. `floor`: ⌊level·R + 0.9⌋ in floating point, as trec_eval 9.
    `round`: level·R rounded, halves up, as trec_eval 10.
    """
    if levels == "floor":
        return np.floor(level * relevant + 0.9)
    if levels == "round":
        return np.floor(level * relevant + 0.5)
    return np.ceil((level - 1e-9) * relevant)


def interpolated_precision(hits: Hits, cutoff: float, rel: float = 1, levels: str = "least") -> Floats:
    """IPrec@r = the greatest precision at any rank from the fewest documents with recall ≥ r on; 0 if not reached.

    `levels` names the rule for "fewest" (see `needed`).
    Source: trec_eval, m_iprec_at_recall.c; Manning, Raghavan & Schütze 2008, 8.4. Example: R = 3, relevant at
    ranks 1, 3, 5, r = 0.4: 2 documents are needed, the best precision from there on is 2/3.
    """
    relevant = hits.relevant(rel).astype(float)
    chosen = hits.grade >= rel
    count = hits.running(chosen)
    asked = np.maximum(needed(relevant, cutoff, levels), 1)
    inside = chosen & (count >= asked[hits.query])
    best = np.zeros(hits.queries)
    np.maximum.at(best, hits.query[inside], count[inside] / hits.rank[inside])
    return np.where(relevant > 0, best, np.nan)


def eleven_point(hits: Hits, cutoff: None = None, rel: float = 1, levels: str = "least") -> Floats:
    """11pt = mean of IPrec at recall 0, 0.1, …, 1.

    Source: trec_eval, m_11pt_avg.c. Example: R = 3, relevant at ranks 1, 3, 5:
    (4·1 + 3·2/3 + 4·3/5)/11 = 0.7636.
    """
    points = [interpolated_precision(hits, step / 10, rel, levels) for step in range(11)]
    mean: Floats = np.mean(points, axis=0)
    return mean
