"""Counts beside the measures: queries, documents returned, relevant documents, relevant documents returned."""

import numpy as np

from leadline.hits import Floats, Hits


def num_queries(hits: Hits, cutoff: None = None) -> Floats:
    """NumQ = 1 for each query that counts; the sum is their number.

    Source: trec_eval, m_num_q.c. Example: 3 queries: 3.
    """
    return np.ones(hits.queries)


def num_returned(hits: Hits, cutoff: None = None) -> Floats:
    """NumRet = documents returned.

    Source: trec_eval, m_num_ret.c. Example: 2 and 3 returned: 5.
    """
    return hits.returned.astype(float)


def num_relevant(hits: Hits, cutoff: None = None, rel: float = 1) -> Floats:
    """NumRel = judged relevant documents, whether returned or not.

    Source: trec_eval, m_num_rel.c. Example: 1 and 2 relevant: 3.
    """
    return hits.relevant(rel).astype(float)


def num_relevant_returned(hits: Hits, cutoff: int | None = None, rel: float = 1) -> Floats:
    """NumRelRet = relevant documents returned (within the cutoff).

    Source: trec_eval, m_num_rel_ret.c. Example: 1 of 2 relevant returned: 1.
    """
    inside = hits.grade >= rel
    return hits.per_query(inside if cutoff is None else inside & (hits.rank <= cutoff))
