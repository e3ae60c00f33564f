"""The rows of the catalogue that are measures of many needs: documents judged by subtopic."""

from functools import partial

from leadline.measure import Definition, Parameter
from leadline.measures import subtopics
from leadline.measures.parameters import CONDENSED, REL

ALPHA = Parameter(
    "alpha", 0.5, "how much of its worth a subtopic loses each time it is answered", low=0.0, high=1.0
)
OfSubtopics = partial(Definition, cutoff="required", bounds="none", needs="subtopics")
"""A measure of documents judged by subtopic."""

MEASURES: tuple[Definition, ...] = (
    OfSubtopics(
        "alpha_nDCG",
        "novelty-biased nDCG",
        "nDCG by subtopic: each repeated answer is worth 1 − α of the one before; over a greedy ideal.",
        "Clarke et al. 2008; ndeval",
        subtopics.alpha_ndcg,
        "alpha_nDCG@20",
        parameters=(ALPHA, REL, CONDENSED),
        high=None,
        differs="ndeval's alpha-nDCG, to rank 20; its alpha-DCG and the other measures that it prints are not here. Where "
        "α is no sum of powers of 2 such as .5 or .25, ndeval may take noise of sums for the better document.",
    ),
    OfSubtopics(
        "StRecall",
        "subtopic recall",
        "Subtopics that the top k answer ÷ subtopics that any judged document answers.",
        "Zhai, Cohen & Lafferty 2003; ndeval",
        subtopics.subtopic_recall,
        "StRecall@10",
        parameters=(REL, CONDENSED),
        differs="ndeval's strec; subtopics without a relevant document do not count.",
    ),
    OfSubtopics(
        "ERR_IA",
        "intent-aware expected reciprocal rank",
        "ERR by subtopic with stop probability .5, over the value of answering every subtopic at each rank.",
        "Chapelle et al. 2009 and 2011; ndeval",
        subtopics.intent_aware_err,
        "ERR_IA@20",
        parameters=(REL, CONDENSED),
        differs="ndeval's ERR-IA: grades are yes or no. Its nERR-IA divides by the ideal of the judged documents "
        "instead. At k = 1 ndeval leaves the division out, and gives the number of subtopics answered.",
    ),
)
