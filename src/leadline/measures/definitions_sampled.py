"""The rows of the catalogue that are estimates from a sampled pool."""

from leadline.measure import Definition
from leadline.measures import parameters as of
from leadline.measures import sampled

MEASURES: tuple[Definition, ...] = (
    Definition(
        "xinfAP",
        "extended inferred average precision",
        "AP estimated from a pool whose strata were judged at different rates.",
        "Yilmaz, Kanoulas & Aslam 2008; NIST's sample_eval.pl",
        sampled.extended_inferred_ap,
        "xinfAP",
        "no",
        (of.REL,),
        sampled=True,
        bounds="none",
        differs="sample_eval.pl calls it infAP, ends at rank 1,000 (--depth 1000) and counts 0 where nothing is relevant.",
    ),
    Definition(
        "infNDCG",
        "inferred nDCG",
        "nDCG estimated from a pool whose strata were judged at different rates; can exceed 1.",
        "Yilmaz, Kanoulas & Aslam 2008; NIST's sample_eval.pl",
        sampled.inferred_ndcg,
        "infNDCG",
        "optional",
        (of.GRADE_GAIN,),
        sampled=True,
        bounds="none",
        high=None,
        differs="sample_eval.pl's is infNDCG@1000. Its gain is the grade; the estimate of nDCG@10 is infNDCG(gain=exp2)@10.",
    ),
)
