"""Measures for incomplete judgments: Bpref, infAP, Judged, Unjudged and the residual of RBP."""

import numpy as np

from leadline.hits import Floats, Hits
from leadline.measures.binary import ratio

EPSILON = 0.00001
"""The smoothing constant of infAP, as in trec_eval (m_infap.c)."""


def bpref(hits: Hits, cutoff: None = None, rel: float = 1, variant: str = "trec_eval") -> Floats:
    """Bpref = (1/R)·Σ over relevant documents of 1 − (judged non-relevant documents above it) ÷ a denominator.

    `trec_eval`: 1 − min(n, R)/min(N, R), N being all judged non-relevant documents of the query;
    `2004`: 1 − min(n, R)/R; `10`: 1 − min(n, R + 10)/(R + 10). Unjudged and negative grades are passed over.
    Source: Buckley & Voorhees 2004 (2004, 10); trec_eval, m_bpref.c (default). Example: R = 2, one judged
    non-relevant document above the second relevant one, N = 3: (1 + (1 − 1/2))/2 = 0.75.
    """
    relevant = hits.relevant(rel).astype(float)
    others = hits.judged.count(0, rel).astype(float)
    chosen = hits.grade >= rel
    above = hits.running((hits.grade >= 0) & ~chosen).astype(float)
    cap = {"trec_eval": relevant, "2004": relevant, "10": relevant + 10}[variant]
    bottom = np.minimum(others, relevant) if variant == "trec_eval" else cap
    lost = np.minimum(above, cap[hits.query]) / np.maximum(bottom[hits.query], 1)
    return ratio(hits.per_query(chosen, 1 - lost), relevant)


def inferred_ap(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """infAP: AP estimated from a pool of which a random part was judged; grade −1 marks "pooled, not judged".

    Each relevant document at rank k adds 1/k + ((k − 1)/k)·(pooled above/(k − 1))·((r + ε)/(r + n + 2ε)), r and n
    being the judged relevant and non-relevant documents above it; the sum is divided by R.
    Source: Yilmaz & Aslam 2006; trec_eval, m_infap.c (ε = 0.00001). Example: with everything judged it is AP.
    """
    chosen = hits.grade >= rel
    found = hits.running(chosen) - 1.0
    others = hits.running((hits.grade >= 0) & ~chosen).astype(float)
    pooled = found + others + hits.running(hits.grade < 0)
    share = (found + EPSILON) / (found + others + 2 * EPSILON)
    value = np.where(hits.rank == 1, 1.0, (1 + pooled * share) / hits.rank)
    return ratio(hits.per_query(chosen, value), hits.relevant(rel).astype(float))


def judged(hits: Hits, cutoff: int, over: str = "returned") -> Floats:
    """Judged@k = judged documents (grade ≥ 0) in the top k ÷ min(k, returned); `over=k` divides by k.

    Undefined for an empty answer. Source: the plain count; Sakai 2007 argues for printing it.
    Example: 2 returned, 1 judged, k = 10: 0.5 (over=k: 0.1).
    """
    count = hits.per_query((hits.grade >= 0) & (hits.rank <= cutoff))
    if over == "k":
        return np.where(hits.returned > 0, count / cutoff, np.nan)
    return ratio(count, np.minimum(hits.returned, cutoff).astype(float))


def unjudged(hits: Hits, cutoff: int, over: str = "returned") -> Floats:
    """Unjudged@k = documents without judgment in the top k ÷ min(k, returned); `over=k` divides by k (trec_eval's unj).

    Undefined for an empty answer. Source: trec_eval 10, m_unjudged.c (over=k). Example: 2 returned, 1 judged,
    k = 10: 0.5 (over=k: 0.1).
    """
    shown = np.minimum(hits.returned, cutoff).astype(float)
    count = shown - hits.per_query((hits.grade >= 0) & (hits.rank <= cutoff))
    if over == "k":
        return np.where(hits.returned > 0, count / cutoff, np.nan)
    return ratio(count, shown)


def rbp_residual(hits: Hits, cutoff: None = None, p: float = 0.8) -> Floats:
    """RBPResidual = (1 − p)·Σ p^(i−1) over returned unjudged documents + p^n for the unseen tail after n documents.

    RBP and RBP + residual are the least and greatest value that more judging could give. Never undefined.
    Source: Moffat & Zobel 2008, section 3.4. Example: p = 0.5, ranks 1 and 3 of 3 judged:
    0.5·0.5 + 0.5³ = 0.375.
    """
    seen = hits.per_query(hits.grade >= 0, np.power(p, hits.rank - 1.0))
    return np.maximum(0.0, 1 - (1 - p) * seen)
