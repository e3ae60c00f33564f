"""The evidence measures: how much of the evidence the returned text holds, and how much of that text is evidence.

Every function takes `hits`, which carry the ranges of the returned chunks (`hits.passages`), a `cutoff`, `rel`, the least
grade of evidence that counts, and `weight`, what is counted: characters or tokens. Text that several chunks hold counts
once, evidence that several rows mark counts once. A query without evidence is undefined (NaN).
"""

import numpy as np

from leadline.errors import UsageError
from leadline.hits import Hits
from leadline.passages.against import Floats, Retrieved


def _amounts(hits: Hits, cutoff: int, rel: float, weight: str) -> tuple[Floats, Floats, Floats]:
    if not isinstance(hits.passages, Retrieved):
        raise UsageError("the evidence measures need evidence and chunks: --evidence E --chunks C")
    return hits.passages.amounts(cutoff, rel, weight)


def _ratio(top: Floats, bottom: Floats, defined: Floats) -> Floats:
    value = np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)
    return np.where(defined > 0, value, np.nan)


def evidence_recall(hits: Hits, cutoff: int, rel: float = 1, weight: str = "characters") -> Floats:
    """EvidenceRecall@k = evidence that the union of the top k covers ÷ all evidence.

    Source: chunking_evaluation's recall, with a union in both places. Example: evidence 95–105, the top chunk 0–100:
    5 of 10 characters, 0.5.
    """
    evidence, _, both = _amounts(hits, cutoff, rel, weight)
    return _ratio(both, evidence, evidence)


def evidence_precision(hits: Hits, cutoff: int, rel: float = 1, weight: str = "characters") -> Floats:
    """EvidencePrecision@k = evidence in the union of the top k ÷ that union; 0 where nothing was returned.

    Source: chunking_evaluation's precision, with a union in both places. Example: evidence 10–20, chunk 0–40: 10 of 40.
    """
    evidence, returned, both = _amounts(hits, cutoff, rel, weight)
    return _ratio(both, returned, evidence)


def evidence_iou(hits: Hits, cutoff: int, rel: float = 1, weight: str = "characters") -> Floats:
    """EvidenceIoU@k = evidence in the union of the top k ÷ all text that is evidence or was returned.

    Source: chunking_evaluation's IoU (Jaccard index), of unions. Example: evidence 10–20, chunk 15–35: 5 of 25, 0.2.
    """
    evidence, returned, both = _amounts(hits, cutoff, rel, weight)
    return _ratio(both, evidence + returned - both, evidence)
