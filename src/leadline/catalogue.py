"""Every measure in one plain table: the docs page, the listing, the parser and the property tests read it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.errors import UsageError
from leadline.hits import Floats, Hits
from leadline.measure import Definition, Parameter
from leadline.measures import binary, counts, graded, incomplete, ties

REL = Parameter("rel", 1, "the least grade that counts as relevant", "number", low=np.nextafter(0, 1))
GAIN = Parameter("gain", "exp2", "exp2 is 2^g − 1, linear the grade, or a map of grades such as {1:3,2:9}", "gain")
RBP_GAIN = Parameter("gain", "binary", "binary, or exp2 / linear divided by the gain of the top grade", "gain")
MAX_GRADE = Parameter("max_grade", None, "the top of the scale; left out: as declared, else the largest grade of the file", "number", low=0, high=50)
CONDENSED = Parameter("judged_only", False, "remove unjudged documents first (the condensed list)", "flag")
LEVELS = Parameter("levels", "least", "how the level is found: least, floor (trec_eval 9) or round (10)", ("least", "floor", "round"))
PATIENCE = Parameter("p", 0.8, "the chance of looking at the next document", "number", low=0.0, high=1 - 1e-9)
OVER = Parameter("over", "returned", "divide by min(k, returned) or by k", ("returned", "k"))
BETA = Parameter("beta", 1, "how much recall weighs against precision (true beta)", "number", low=1e-9)

TABLE: tuple[Definition, ...] = (
    Definition(
        "nDCG", "normalised discounted cumulative gain",
        "Σ gain ÷ log2(rank + 1), over the same of the ideal order of all judged documents.",
        "Järvelin & Kekäläinen 2002; gain 2^g − 1: Burges et al. 2005",
        graded.ndcg, "nDCG@10", "optional", (GAIN, CONDENSED), bounds="grades", expected=ties.ndcg,
        differs="trec_eval's ndcg and ndcg_cut, pytrec_eval, ir_measures and ranx's ndcg take the grade as gain: "
        "write nDCG(gain=linear)@10. Some RAG tools build the ideal from the retrieved list only; this one never does.",
    ),
    Definition(
        "DCG", "discounted cumulative gain", "Σ gain ÷ log2(rank + 1); not bounded by 1.",
        "Burges et al. 2005; Järvelin & Kekäläinen 2002",
        graded.dcg, "DCG@10", "optional", (GAIN, CONDENSED), needs_relevant=False, bounds="top", expected=ties.dcg, high=None,
        differs="trec_eval 10's dcg is linear: DCG(gain=linear).",
    ),
    Definition(
        "NCG", "normalised cumulative gain", "Σ gain in the top k over the gain of the k best judged documents.",
        "Järvelin & Kekäläinen 2002", graded.ncg, "NCG@10", "required", (GAIN, CONDENSED), bounds="grades", expected=ties.ncg,
        differs="nDCG without the discount: with one relevant grade it is R-like, capped at k.",
    ),
    Definition(
        "R", "recall", "Relevant documents in the top k ÷ all judged relevant documents.", "trec_eval, m_recall.c",
        binary.recall, "R@5", "required", (REL, CONDENSED), bounds="ends", expected=ties.recall,
        differs="In some papers 'Recall@k' means Success@k. RAG tools that count repeated chunks can exceed 1; here a "
        "document counts once. The ceiling min(1, k/R) stands beside it.",
    ),
    Definition(
        "P", "precision", "Relevant documents in the top k ÷ k, even when fewer were returned.", "trec_eval, m_P.c",
        binary.precision, "P@5", "required", (REL, CONDENSED), needs_relevant=False, bounds="ends", expected=ties.precision,
        differs="RAG tools' 'context precision' is AP(denominator=retrieved), another measure.",
    ),
    Definition(
        "Success", "success, hit rate", "1 if any of the top k is relevant.", "trec_eval, m_success.c",
        binary.success, "Success@5", "required", (REL, CONDENSED), bounds="ends",
        differs="Called hit_rate@k by ranx and RAG tools, accuracy@k by dense-retrieval papers.",
    ),
    Definition(
        "RR", "reciprocal rank", "1 ÷ rank of the first relevant document; its mean is MRR.",
        "Voorhees 1999; trec_eval, m_recip_rank.c",
        binary.reciprocal_rank, "RR@10", "optional", (REL, CONDENSED), bounds="ends", expected=ties.reciprocal_rank,
        differs="trec_eval has no cutoff; ir_measures breaks ties of RR@k the other way round than those of RR. Here both use one order.",
    ),
    Definition(
        "AP", "average precision", "Mean over all relevant documents of the precision at their rank; its mean is MAP.",
        "Buckley & Voorhees 2005; trec_eval, m_map.c",
        binary.average_precision, "AP@100", "optional",
        (REL, Parameter("denominator", "relevant", "divide by all relevant, min(R, k), or those retrieved", ("relevant", "min", "retrieved")), CONDENSED),
        bounds="count", expected=ties.average_precision,
        differs="AP(denominator=retrieved) is what RAG tools call context precision: one hit at rank 1 gives 1.0 however much is missing.",
    ),
    Definition(
        "GMAP", "geometric mean average precision", "AP per query (floored at 0.00001), averaged on a log scale: poor queries weigh more.",
        "Robertson 2006; trec_eval, m_gm_map.c", binary.average_precision, "GMAP", "no",
        (REL, CONDENSED), aggregate="geometric", bounds="count",
        differs="trec_eval prints the logarithm per query; here a query's value is its AP.",
    ),
    Definition(
        "Rprec", "R-precision", "Relevant documents in the top R ÷ R.", "trec_eval, m_Rprec.c",
        binary.r_precision, "Rprec", "no", (REL, CONDENSED), bounds="count",
        differs="The cutoff differs by query: R is its number of judged relevant documents.",
    ),
    Definition(
        "IPrec", "interpolated precision at recall", "The best precision at any rank from recall r on.",
        "Manning, Raghavan & Schütze 2008, 8.4; trec_eval, m_iprec_at_recall.c",
        binary.interpolated_precision, "IPrec@0.1", "level", (REL, LEVELS, CONDENSED), bounds="count",
        differs="trec_eval 9 finds the level by ⌊rR + .9⌋, trec_eval 10 by rounding: IPrec(levels=floor), IPrec(levels=round).",
    ),
    Definition(
        "11pt", "eleven-point average precision", "Mean of IPrec at recall 0, 0.1, …, 1.", "trec_eval, m_11pt_avg.c",
        binary.eleven_point, "11pt", "no", (REL, LEVELS, CONDENSED), bounds="count",
        differs="Differs between trec_eval 9 and 10 as IPrec does.",
    ),
    Definition(
        "F", "F measure", "(1 + b²)PR ÷ (b²P + R), true beta; at a cutoff or of the whole list.", "van Rijsbergen 1979, chapter 7",
        binary.f_measure, "F(beta=0.5)@10", "optional", (REL, BETA, CONDENSED), bounds="ends",
        differs="trec_eval's set_F.x takes x = beta².",
    ),
    Definition(
        "SetP", "set precision", "Relevant documents returned ÷ documents returned.", "trec_eval, m_set_P.c",
        binary.set_precision, "SetP", "no", (REL, CONDENSED), needs_relevant=False, bounds="ends",
        differs="0 for an empty answer.",
    ),
    Definition(
        "SetR", "set recall", "Relevant documents returned ÷ all judged relevant documents.", "trec_eval, m_set_recall.c",
        binary.set_recall, "SetR", "no", (REL, CONDENSED), bounds="ends", differs="Recall without a cutoff.",
    ),
    Definition(
        "SetF", "set F measure", "F of the whole list returned, true beta.", "trec_eval, m_set_F.c",
        binary.set_f, "SetF(beta=2)", "no", (REL, BETA, CONDENSED), bounds="ends",
        differs="trec_eval and ir_measures pass beta² where they say beta.",
    ),
    Definition(
        "RBP", "rank-biased precision", "(1 − p)Σ p^(rank − 1)·gain; binary unless a gain is named.", "Moffat & Zobel 2008",
        graded.rank_biased_precision, "RBP(p=0.8)", "optional", (PATIENCE, REL, RBP_GAIN, MAX_GRADE, CONDENSED),
        needs_relevant=False, bounds="top", expected=ties.rank_biased_precision,
        differs="Default p: 0.8 here, in ir_measures and trectools; 0.9 in trec_eval 10.",
    ),
    Definition(
        "RBPResidual", "residual of RBP", "What unjudged and unseen documents could add to RBP.", "Moffat & Zobel 2008, 3.4",
        incomplete.rbp_residual, "RBPResidual(p=0.8)", "no", (PATIENCE,), needs_relevant=False, ranked=False, bounds="none", better="lower",
        differs="trec_eval 10 prints 0 where nothing unjudged was seen; the unseen tail p^n is never 0 here.",
    ),
    Definition(
        "ERR", "expected reciprocal rank", "Cascade: 1 ÷ rank where a user stops, stop probability (2^g − 1) ÷ 2^max.",
        "Chapelle, Metzler, Zhang & Grinspan 2009", graded.expected_reciprocal_rank, "ERR(max_grade=3)@20", "optional",
        (MAX_GRADE, CONDENSED), bounds="top",
        differs="gdeval fixes the top grade at 4; a value is comparable only under one max_grade.",
    ),
    Definition(
        "Compat", "compatibility", "Rank-biased overlap with the nearest ideal ranking.", "Clarke, Vtyurina & Smucker 2020",
        graded.compatibility, "Compat(p=0.95)", "no",
        (Parameter("p", 0.95, "the persistence of the overlap", "number", low=0.0, high=1 - 1e-9), CONDENSED),
        differs="Both lists are followed to the length of the ideal.",
    ),
    Definition(
        "Bpref", "binary preference", "How often a judged non-relevant document stands above a relevant one.",
        "Buckley & Voorhees 2004; trec_eval, m_bpref.c", incomplete.bpref, "Bpref", "no",
        (REL, Parameter("variant", "trec_eval", "the denominator: trec_eval min(N, R), 2004 R, 10 R + 10", ("trec_eval", "2004", "10"))),
        differs="ranx counts negative grades as judged; the paper's two formulas are variant=2004 and variant=10.",
    ),
    Definition(
        "infAP", "inferred average precision", "AP estimated from a sampled pool; grade −1 marks pooled, not judged.",
        "Yilmaz & Aslam 2006; trec_eval, m_infap.c", incomplete.inferred_ap, "infAP", "no", (REL,),
        differs="Without −1 marks it is AP over what was judged.",
    ),
    Definition(
        "Judged", "judged", "Judged documents in the top k ÷ min(k, returned).", "the plain count; see Sakai 2007",
        incomplete.judged, "Judged@10", "required", (OVER,), needs_relevant=False, ranked=False, bounds="none",
        differs="BEIR and MTEB count a document judged for any query; here it must be judged for this one.",
    ),
    Definition(
        "Unjudged", "unjudged", "Documents without judgment in the top k ÷ min(k, returned).", "trec_eval 10, m_unjudged.c",
        incomplete.unjudged, "Unjudged@10", "required", (OVER,), needs_relevant=False, ranked=False, bounds="none", better="lower",
        differs="trec_eval 10's unj_k divides by k: Unjudged(over=k)@k.",
    ),
    Definition(
        "NumQ", "number of queries", "Queries that count.", "trec_eval, m_num_q.c", counts.num_queries, "NumQ", "no",
        aggregate="sum", needs_relevant=False, ranked=False, bounds="none", high=None, better="neither",
        differs="ir_measures counts only queries the run has.",
    ),
    Definition(
        "NumRet", "documents returned", "Documents returned, summed over queries.", "trec_eval, m_num_ret.c",
        counts.num_returned, "NumRet", "no", aggregate="sum", needs_relevant=False, ranked=False, bounds="none", high=None, better="neither",
        differs="ir_measures' NumRet(rel=1) is NumRelRet here.",
    ),
    Definition(
        "NumRel", "relevant documents", "Judged relevant documents, summed over queries.", "trec_eval, m_num_rel.c",
        counts.num_relevant, "NumRel", "no", (REL,), aggregate="sum", needs_relevant=False, ranked=False, bounds="none", high=None, better="neither",
        differs="Counts unanswered queries too.",
    ),
    Definition(
        "NumRelRet", "relevant documents returned", "Relevant documents returned, summed over queries.", "trec_eval, m_num_rel_ret.c",
        counts.num_relevant_returned, "NumRelRet", "optional", (REL,), aggregate="sum", needs_relevant=False, ranked=False, bounds="none", high=None,
        differs="ranx averages it as hits@k.",
    ),
)

DEFINITIONS: dict[str, Definition] = {definition.name: definition for definition in TABLE}
"""The definitions by canonical name; `register` adds a user's own."""


def register(
    name: str,
    function: Callable[..., float],
    *,
    summary: str,
    source: str = "the user",
    parameters: tuple[Parameter, ...] = (),
    cutoff: Any = "optional",
    needs_relevant: bool = True,
    high: float | None = None,
) -> Definition:
    """Add a measure of one's own; it then works wherever a measure's name does.

    Parameters
    ----------
    name: letters and digits. summary: one line.
    function: `function(ranked, ideal, **parameters) -> float`. `ranked` holds the grades in the order of the
        ranking, shape (returned,) or (cutoff,), NaN where unjudged; `ideal` all judged grades, best first.

    Raises
    ------
    UsageError: the name is taken, or is no name.

    >>> d = register("Best", lambda ranked, ideal: float(np.nanmax(ranked, initial=0)), summary="the best grade")
    >>> d.name, DEFINITIONS.pop("Best").own
    ('Best', True)
    """
    if not name.isidentifier():
        raise UsageError(f"measure name {name!r} is not made of letters, digits and _")
    if name.lower() in {known.lower() for known in DEFINITIONS}:
        raise UsageError(f"a measure named {name!r} is there already")

    def kernel(hits: Hits, cutoff: int | None = None, **values: Any) -> Floats:
        start, ideal_start = hits.start, hits.judged.ideal_start
        out = np.empty(hits.queries)
        for query in range(hits.queries):
            ranked = np.full(hits.returned[query], np.nan)
            own = slice(start[query], start[query + 1])
            ranked[hits.rank[own] - 1] = np.where(hits.grade[own] >= 0, hits.grade[own], np.nan)
            ideal = hits.judged.ideal[ideal_start[query] : ideal_start[query + 1]].copy()
            out[query] = function(ranked if cutoff is None else ranked[:cutoff], ideal, **values)
        return out

    parameters = (*parameters, CONDENSED)
    example = f"{name}@10" if cutoff == "required" else name
    definition = Definition(
        name, name, summary, source, kernel, example, cutoff, parameters,
        needs_relevant=needs_relevant, high=high, bounds="none", own=True,
    )  # fmt: skip
    DEFINITIONS[name] = definition
    return definition
