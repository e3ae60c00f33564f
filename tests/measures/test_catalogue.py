"""The catalogue: measure texts and back, other tools' spellings, and laws that hold over every measure."""

import math
import random

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import leadline
from leadline.catalogue import DEFINITIONS, TABLE
from leadline.conventions import PROFILES, Conventions
from leadline.errors import UnknownNameError, UsageError
from leadline.measure import Definition, Measure, Parameter
from leadline.tables import Qrels, Run
from measures.support import (
    Grades,
    Rankings,
    collections,
    differences,
    every_text,
    is_condensed,
    laid_out,
    ordered,
    same,
    stratified,
    table,
    texts_of,
    value,
)

# ---------------------------------------------------------------------------------------------------- texts


@st.composite
def settings_of_a(draw: st.DrawFn, parameter: Parameter) -> object:
    if parameter.accepts == "flag":
        return draw(st.booleans())
    if parameter.accepts == "whole":
        return draw(st.integers(1, 10**6))
    if parameter.name == "gain":
        words = ["exp2", "linear"] + (["binary"] if parameter.default == "binary" else [])
        grade, gain = st.integers(-2, 9), st.integers(0, 99) | st.floats(0, 99, allow_subnormal=False)
        return draw(st.sampled_from(words) | st.dictionaries(grade, gain, min_size=1, max_size=4))
    if isinstance(parameter.accepts, tuple):
        return draw(st.sampled_from(parameter.accepts))
    low, high = max(parameter.low, -1e9), min(parameter.high, 1e9)
    whole = st.integers(math.ceil(low), math.floor(high)) if math.ceil(low) <= high else st.nothing()
    return draw(whole | st.floats(low, high))


@st.composite
def texts(draw: st.DrawFn) -> str:
    definition = draw(st.sampled_from(TABLE))
    chosen = (
        draw(st.lists(st.sampled_from(definition.parameters), unique=True)) if definition.parameters else []
    )
    inner = ", ".join(f"{p.name}={draw(settings_of_a(p))}" for p in chosen)
    cut = {
        "no": st.just(""),
        "optional": st.just("") | st.integers(1, 10**9).map("@{}".format),
        "required": st.integers(1, 10**9).map("@{}".format),
        "level": st.floats(0, 1).map("@{}".format),
    }[definition.cutoff]
    return definition.name + (f"({inner})" if inner else "") + draw(cut)


@settings(max_examples=500)
@given(texts())
def test_a_measure_is_what_its_text_says(text):
    measure = leadline.parse(text)
    again = leadline.parse(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)


def test_every_text_of_the_other_tests_reads_back():
    assert [t for t in every_text() if leadline.parse(str(leadline.parse(t))) != leadline.parse(t)] == []


def test_defaults_said_aloud_are_the_plain_measure():
    said = "nDCG(gain=exp2,judged_only=false)@10"
    assert leadline.parse(said) == leadline.parse("nDCG@10")
    assert str(leadline.parse("RBP(rel=1,p=0.80)")) == "RBP"


def test_the_order_of_parameters_is_no_difference():
    first, second = "P(rel=2,judged_only=true)@5", "P(judged_only=True, rel=2.0)@5"
    assert leadline.parse(first) == leadline.parse(second)


def test_a_flag_needs_no_value():
    # The condensed form is written nDCG(judged_only)@k in the definitions.
    assert leadline.parse("nDCG(judged_only)@10") == leadline.parse("nDCG(judged_only=true)@10")


TREC_EVAL = {
    "ndcg": "nDCG(gain=linear)", "ndcg_cut_10": "nDCG(gain=linear)@10", "ndcg_cut.10": "nDCG(gain=linear)@10",
    "map": "AP", "map_cut_100": "AP@100", "map_cut.5": "AP@5", "P_5": "P@5", "P.5": "P@5",
    "recall_100": "R@100", "recall.100": "R@100", "success_1": "Success@1", "success.1": "Success@1",
    "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP", "gm_map": "GMAP",
    "iprec_at_recall_0.10": "IPrec@0.1", "iprec_at_recall_.25": "IPrec@0.25", "11pt_avg": "11pt",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "num_q": "NumQ", "num_ret": "NumRet",
    "num_rel": "NumRel", "num_rel_ret": "NumRelRet", "dcg": "DCG(gain=linear)", "unj_5": "Unjudged(over=k)@5",
}  # fmt: skip
IR_MEASURES = {
    "nDCG@10": "nDCG@10", "nDCG(dcg='exp-log2')@10": "nDCG@10", "nDCG(dcg='log2')@10": "nDCG(gain=linear)@10",
    "nDCG(dcg='log2')": "nDCG(gain=linear)", "nDCG(gains={1:3,2:9})@10": "nDCG(gain={1:3,2:9})@10",
    "AP(rel=2)@100": "AP(rel=2)@100", "RBP(p=0.5)": "RBP(p=0.5)", "RBP(rel=2)": "RBP(rel=2)",
    "Judged@10": "Judged@10", "P(rel=2,judged_only=True)@5": "P(rel=2,judged_only)@5", "RR": "RR",
    "RR(rel=2)@10": "RR(rel=2)@10", "IPrec@0.1": "IPrec@0.1", "ERR@20": "ERR@20",
    "Bpref(rel=2)": "Bpref(rel=2)",
    "Compat(p=0.8)": "Compat(p=0.8)", "NumRet": "NumRet", "NumRet(rel=1)": "NumRelRet", "NumQ": "NumQ",
    "SetP": "SetP", "SetR": "SetR", "infAP": "infAP", "Rprec": "Rprec", "Success@5": "Success@5",
    "R@5": "R@5",
}  # fmt: skip
OTHERS = {
    # RAG tools.
    "recall@5": "R@5", "hit_rate@5": "Success@5", "mrr@10": "RR@10", "precision@3": "P@3",
    "ndcg@10": "nDCG@10",
    "MRR@10": "RR@10", "hit@3": "Success@3", "NDCG@10": "nDCG@10", "map@10": "AP@10", "MAP": "AP",
    # ranx.
    "alpha-nDCG@20": "alpha_nDCG@20", "ALPHA-NDCG(alpha=0.3)@5": "alpha_nDCG(alpha=0.3)@5", "strec@10": "StRecall@10",
    "ERR-IA@20": "ERR_IA@20", "err-ia(rel=2)@5": "ERR_IA(rel=2)@5",
    "ndcg_burges@10": "nDCG@10", "r-precision": "Rprec", "f1@10": "F@10", "mrr": "RR", "BPREF": "Bpref",
    # White space and capitals.
    " nDCG @ 10 ": "nDCG@10", "p(REL=2)@5": None, "judged@10": "Judged@10", "R@1e3": "R@1000",
}  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), [*TREC_EVAL.items(), *IR_MEASURES.items(), *OTHERS.items()])
def test_the_spellings_of_other_tools(text, meant):
    if meant is None:
        with pytest.raises(UsageError):
            leadline.parse(text)
    else:
        assert str(leadline.parse(text)) == meant


def test_objects_of_ir_measures(needs):
    im = needs("ir_measures")
    objects = {
        # An object means what it means there, where the grade is the gain.
        im.nDCG @ 10: "nDCG(gain=linear)@10",
        im.nDCG(dcg="exp-log2") @ 10: "nDCG@10",
        im.nDCG(gains={1: 3, 2: 9}) @ 10: "nDCG(gain={1:3,2:9})@10",
        im.AP(rel=2) @ 100: "AP(rel=2)@100",
        im.RBP(p=0.5): "RBP(p=0.5)",
        im.Judged @ 10: "Judged@10",
        im.P(rel=2, judged_only=True) @ 5: "P(rel=2,judged_only)@5",
        im.NumRet(rel=1): "NumRelRet",
        im.IPrec @ 0.1: "IPrec@0.1",
        im.alpha_nDCG(alpha=0.3) @ 5: "alpha_nDCG(alpha=0.3)@5",
        im.StRecall @ 5: "StRecall@5",
        im.ERR_IA(judged_only=True) @ 20: "ERR_IA(judged_only)@20",
        im.Compat(p=0.8, normalize=False): "Compat(p=0.8,normalize=false)",
    }
    assert {str(o): str(leadline.parse(o)) for o in objects} == {str(o): m for o, m in objects.items()}
    scores = leadline.evaluate(*laid_out("1"), list(objects))
    assert scores.mean(str(im.AP(rel=2) @ 100)) != scores.mean("RBP(p=0.5)")
    assert str(leadline.parse(im.nDCG @ 10, PROFILES["ir_measures"])) == "nDCG(gain=linear)@10"


@pytest.mark.parametrize("profile", ["trec_eval-9", "trec_eval-10", "ir_measures", "beir"])
def test_a_profile_reads_bare_names_and_says_so(profile):
    rules = PROFILES[profile]
    read = [str(leadline.parse(text, rules)) for text in ("nDCG@10", "DCG", "NCG@5", "nDCG(gain=exp2)@10")]
    assert read == ["nDCG(gain=linear)@10", "DCG(gain=linear)", "NCG(gain=linear)@5", "nDCG@10"]
    levels = {"trec_eval-10": "round"}.get(profile, "floor")
    assert str(leadline.parse("IPrec@0.1", rules)) == f"IPrec(levels={levels})@0.1"
    assert str(leadline.parse("IPrec(levels=least)@0.1", rules)) == "IPrec@0.1"


def test_a_name_that_says_its_gain_keeps_it_under_every_profile():
    # ndcg_burges is 2^g − 1 by name.
    for rules in PROFILES.values():
        assert str(leadline.parse("ndcg_burges@10", rules)) == "nDCG@10"
        assert str(leadline.parse("ndcg_cut_10", rules)) == "nDCG(gain=linear)@10"


REFUSED = {
    "recip_rank_10": "RR@10", "ndcg_10": "nDCG@10", "mrr_10": "RR@10", "nDGC@10": "nDCG@10",
    "precison@3": "@3?", "P_0": "whole number", "P@0": "whole number", "R@-1": "whole number",
    "RR@1.5": "whole number", "ndcg_cut_0": "whole number", "RR@nan": "whole number",
    "RR@1e30": "whole number",
    "AP@ten": "not a number", "R": "needs a cutoff", "precision": "needs a cutoff", "IPrec": "needs a cutoff",
    "SetP@5": "takes no cutoff", "11pt@5": "takes no cutoff", "IPrec@1.5": "outside [0, 1]",
    "nDCG(gian=linear)@10": "did you mean gain?", "Judged(rel=2)@5": "'rel'",
    "NumQ(p=1)": "'p'", "R(rel=two)@5": "not a number", "R(rel=0)@5": "outside", "AP(rel=nan)": "finite",
    "RBP(p=1)": "outside", "RBP(p=-0.1)": "outside", "ERR(max_grade=51)": "outside", "F(beta=0)@5": "outside",
    "P(rel=1,rel=2)@5": "twice", "AP(denominator=all)": "relevant, min, retrieved",
    "P(judged_only=maybe)@5": "neither",
    "nDCG(gain=binary)@5": "gain=binary", "nDCG(gain={})@5": "empty", "nDCG(gain={1:x})@5": "not a number",
    "nDCG(dcg=log3)@5": "log2, exp-log2", "R(rel={1:2})@5": "no map", "": "form", "AP@": "form",
    "@10": "form",
    "alpha_nDCG": "needs a cutoff", "StRecall": "needs a cutoff", "alpha_nDCG(alpha=2)@5": "outside",
    "Compat(depth=0)": "outside", "Compat(depth=1.5)": "whole number",
    "nDCG@10 x": "form", "rbp.95": "form", "xyzzy": "known:", "nDCG(10)": "key=value", "set_F_2": "set_F",
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED.items())
def test_what_is_not_understood_is_refused_with_a_hint(text, says):
    with pytest.raises(UsageError) as caught:
        leadline.parse(text)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["recip_rank_10", "nDGC@10", "map_100", "ndcg_cut@10"])
def test_what_is_offered_instead_is_understood(text):
    with pytest.raises(UsageError, match="did you mean") as caught:
        leadline.parse(text)
    offered = str(caught.value).split("did you mean ")[1].split("?")[0]
    assert leadline.parse(offered)


@given(st.text(max_size=30) | st.from_regex(r"[nDCGAPRB_@.(){}=,:'0-9 ]{0,20}", fullmatch=True))
def test_any_text_is_a_measure_or_a_usage_error(text):
    try:
        measure = leadline.parse(text)
    except UsageError:
        return
    assert isinstance(measure, Measure)
    assert leadline.parse(str(measure)) == measure


def test_lists_of_measures():
    run, qrels = laid_out("1 0")
    for asked in (
        "RR, P(rel=2,judged_only=true)@5 R@5",
        ["RR", "P(rel=2,judged_only=true)@5", "R@5"],
        ["RR,RR R@5"],
    ):
        scores = leadline.evaluate(run, qrels, asked)
        assert scores.measures[0] == "RR"
        assert scores.measures[-1] == "R@5"
        assert len(set(scores.measures)) == len(scores.measures)
    assert leadline.evaluate(run, qrels, ["mrr", "recip_rank", "RR"]).measures == ["RR"]
    assert leadline.evaluate(run, qrels, leadline.parse("RR")).measures == ["RR"]
    with pytest.raises(UsageError, match="no measure"):
        leadline.evaluate(run, qrels, [])


# ------------------------------------------------------------------------------------ laws over the catalogue

PERFECT, UPWARD, APPEND, BEYOND, OF_TEXT = "perfect", "upward", "append", "beyond", "of text"

LAWS: dict[str, set[str]] = {
    # perfect: all judged documents, best grade first, give the top value 1 (at a cutoff that holds them all).
    # upward: a document that moves up past one of a lower grade (or none) never lowers the value.
    # append: an unjudged document below the last one changes nothing (at a cutoff above it, where there is
    # one).
    # beyond: a cutoff beyond both lists is no cutoff.
    "nDCG": {PERFECT, UPWARD, APPEND, BEYOND},
    "DCG": {UPWARD, APPEND, BEYOND},
    "NCG": {PERFECT, UPWARD, APPEND},
    "R": {PERFECT, UPWARD, APPEND},
    "P": {UPWARD, APPEND},
    "Success": {PERFECT, UPWARD, APPEND},
    "RR": {PERFECT, UPWARD, APPEND, BEYOND},
    "AP": {PERFECT, UPWARD, APPEND, BEYOND},
    "GMAP": {PERFECT, UPWARD, APPEND},
    "Rprec": {PERFECT, UPWARD, APPEND},
    "IPrec": {PERFECT, UPWARD, APPEND},
    "11pt": {PERFECT, UPWARD, APPEND},
    # F@k divides by k, F by the length of the list: the end of the list matters to F.
    "F": {UPWARD},
    "SetP": {UPWARD},
    "SetR": {PERFECT, UPWARD, APPEND},
    "SetF": {UPWARD},
    "RBP": {UPWARD, APPEND, BEYOND},
    # What is judged further up leaves less that could be added; a longer list leaves less unseen.
    "RBPResidual": set(),
    "ERR": {UPWARD, APPEND, BEYOND},
    # Another ideal may be nearest after a move, and a longer list is followed further.
    "Compat": {PERFECT},
    "Bpref": {PERFECT, UPWARD, APPEND},
    # Estimates from what stands above: neither moves up without a cost elsewhere.
    "infAP": {APPEND},
    "xinfAP": {APPEND},
    "infNDCG": {APPEND, BEYOND},
    "Judged": set(),
    "Unjudged": set(),
    "NumQ": {UPWARD, APPEND},
    "NumRet": {UPWARD},
    "NumRel": {UPWARD, APPEND},
    "NumRelRet": {UPWARD, APPEND, BEYOND},
    # With one subtopic; tests/measures/test_subtopics.py has several. The bound of ERR_IA knows no number of documents.
    "alpha_nDCG": {PERFECT, UPWARD, APPEND},
    "StRecall": {PERFECT, UPWARD, APPEND},
    "ERR_IA": {UPWARD, APPEND},
    # Measures of ranges of text have laws of their own: tests/passages/test_evidence_measures.py.
    "EvidenceRecall": {OF_TEXT},
    "EvidencePrecision": {OF_TEXT},
    "EvidenceIoU": {OF_TEXT},
}
"""Which laws hold for which measure."""

EXCEPT = {
    # The denominator counts what was returned within the cutoff: one more relevant document can lower it.
    UPWARD: lambda m: m.name == "AP" and m.value("denominator") == "retrieved",
    # The overlap of two short lists is less than that of endless ones.
    PERFECT: lambda m: m.name == "Compat" and not m.value("normalize"),
    APPEND: lambda m: False,
    BEYOND: lambda m: False,
}


def test_every_measure_is_classed():
    assert LAWS.keys() == {definition.name for definition in TABLE}
    of_text = {name for name, laws in LAWS.items() if laws == {OF_TEXT}}
    assert of_text == {definition.name for definition in TABLE if definition.needs == "evidence"}


def with_law(law: str, cutoffs: tuple[int | float | None, ...] | None = None) -> list[Measure]:
    measures = [leadline.parse(t) for d in TABLE if law in LAWS[d.name] for t in texts_of(d)]
    allowed = [m for m in measures if not EXCEPT[law](m)]
    return [m for m in allowed if cutoffs is None or m.cutoff in cutoffs or m.name == "IPrec"]


EVERY = [leadline.parse(text) for text in every_text()]
SMALL = settings(max_examples=25)


@SMALL
@given(collections(), st.randoms(use_true_random=False))
def test_neither_the_order_of_queries_nor_of_rows_matters(made, rng):
    run, qrels = made
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    judged = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    rng.shuffle(rows)
    rng.shuffle(judged)
    assert differences(table(run, qrels, EVERY), table(rows, judged, EVERY), within=1e-12) == []


@SMALL
@given(collections())
def test_other_names_in_the_same_order_do_not_matter(made):
    run, qrels = made
    # Longer, not plain ASCII, but sorted as before.
    renamed = {
        d: f"ü{i:02}€" for i, d in enumerate(sorted({d for q in (*run.values(), *qrels.values()) for d in q}))
    }
    other_run = {q: {renamed[d]: s for d, s in docs.items()} for q, docs in run.items()}
    other_qrels = {q: {renamed[d]: g for d, g in docs.items()} for q, docs in qrels.items()}
    assert differences(table(run, qrels, EVERY), table(other_run, other_qrels, EVERY), within=0) == []


@SMALL
@given(collections(), st.sampled_from(["docid", "expected"]), st.sampled_from(["skip", "zero"]))
def test_values_stay_within_their_limits(made, ties, undefined):
    for row in table(*made, EVERY, ties=ties, undefined=undefined).values():
        for measure in EVERY:
            high = measure.definition.high
            number = row[str(measure)]
            assert math.isnan(number) or 0 <= number <= (math.inf if high is None else high + 1e-12), measure


@SMALL
@given(collections(grades=(0, 1, 2, 3), unanswered=False))
def test_a_perfect_ranking_has_the_top_value(made):
    _, qrels = made
    run = {q: sorted(docs, key=lambda d: (-docs[d], d)) for q, docs in qrels.items()}
    measures = with_law(PERFECT, (None, 50))
    for query, row in table(run, qrels, measures).items():
        for measure in measures:
            rel = measure.value("rel") if measure.has("rel") else 1
            relevant = sum(g >= rel for g in qrels[query].values())
            assert same(row[str(measure)], 1.0 if relevant else math.nan), (measure, qrels[query])


@settings(max_examples=60)
@given(collections(ties=False, queries=1, unanswered=False), st.data())
def test_moving_the_better_document_up_never_lowers(made, data):
    run, qrels = made
    ranking, grades = ordered(run["q0"]), qrels["q0"]

    def worth(doc: str) -> int:
        return max(grades.get(doc, 0), 0)

    movable = [i for i in range(1, len(ranking)) if worth(ranking[i]) > worth(ranking[i - 1])]
    assume(movable)
    at = data.draw(st.sampled_from(movable))
    better = [*ranking]
    better[at - 1], better[at] = better[at], better[at - 1]
    measures = with_law(UPWARD)
    before = table({"q0": ranking}, qrels, measures)["q0"]
    after = table({"q0": better}, qrels, measures)["q0"]
    assert [m for m in measures if after[str(m)] < before[str(m)] - 1e-12] == []


@SMALL
@given(collections(unanswered=False))
def test_an_unjudged_document_at_the_end_changes_nothing(made):
    run, qrels = made
    longer = {q: {**docs, "unseen": min(docs.values()) - 1} for q, docs in run.items()}
    measures = with_law(APPEND)
    assert differences(table(run, qrels, measures), table(longer, qrels, measures)) == []


@SMALL
@given(collections(unanswered=False))
def test_at_a_cutoff_above_it_the_end_of_the_list_is_not_seen(made):
    run, qrels = made
    run = {q: docs for q, docs in run.items() if len(docs) >= 3}
    assume(run)
    qrels = {q: qrels[q] for q in run}
    longer = {q: {**docs, "unseen": min(docs.values()) - 1} for q, docs in run.items()}
    # The condensed list is shorter than the list, so a cutoff may reach the end of one and not of the other.
    measures = [m for m in EVERY if m.cutoff in (1, 3) and m.definition.cutoff != "level"]
    assert differences(table(run, qrels, measures), table(longer, qrels, measures)) == []


@SMALL
@given(collections(unanswered=False))
def test_the_condensed_list_does_not_know_unjudged_documents(made):
    run, qrels = made
    judged = {q: {d: s for d, s in docs.items() if qrels[q].get(d, -1) >= 0} for q, docs in run.items()}
    assume(any(judged.values()))
    condensed = [m for m in EVERY if is_condensed(m)]
    ranked = [d.name for d in TABLE if d.ranked]
    assert {m.name for m in condensed} == {
        n for n in ranked if n not in ("Bpref", "infAP", "xinfAP", "infNDCG")
    }
    assert differences(table(run, qrels, condensed), table(judged, qrels, condensed)) == []


@SMALL
@given(collections(unanswered=False))
def test_a_condensed_measure_of_a_judged_list_is_the_plain_one(made):
    run, qrels = made
    judged = {q: {d: s for d, s in docs.items() if qrels[q].get(d, -1) >= 0} for q, docs in run.items()}
    assume(any(judged.values()))
    pairs = {m: Measure(m.name, m.cutoff, (), m.definition) for m in EVERY if is_condensed(m)}
    for row in table(judged, qrels, [*pairs, *pairs.values()]).values():
        assert [m for m, plain in pairs.items() if not same(row[str(m)], row[str(plain)])] == []


@SMALL
@given(collections())
def test_a_cutoff_beyond_the_lists_is_no_cutoff(made):
    cut = with_law(BEYOND, (50,))
    assert {m.name for m in cut} == {n for n, laws in LAWS.items() if BEYOND in laws}
    for row in [table(*made, [*cut, *(str(m).replace("@50", "") for m in cut)])]:
        for values in row.values():
            assert all(same(values[str(m)], values[str(m).replace("@50", "")]) for m in cut)


@SMALL
@given(
    collections(),
    st.sampled_from(["judged", "intersection"]),
    st.sampled_from(["skip", "zero"]),
    st.sets(st.integers(0, 3)),
    st.sets(st.integers(0, 3)),
)
@example(
    made=({"q0": {"da": 1.0}}, {"q0": {"da": 1}, "q1": {"da": 1}, "q2": {"da": 1}}),
    average="judged", undefined="skip", failed={1}, empty={2},
)  # fmt: skip
def test_every_query_is_accounted_for(made, average, undefined, failed, empty):
    rankings, qrels = made
    bad = {f"q{i}": "timed out" for i in failed if f"q{i}" in qrels}
    nothing = [f"q{i}" for i in empty if f"q{i}" in qrels and f"q{i}" not in bad]
    rows = [(q, d, s) for q, docs in rankings.items() if q not in (*bad, *nothing) for d, s in docs.items()]
    frame = pl.DataFrame(
        rows, schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row"
    )
    run = Run.checked(frame, empty=nothing, failed=bad)
    present = {q for q, *_ in rows} | {*bad, *nothing}
    assume(present & qrels.keys())
    scores = leadline.evaluate(run, stratified(qrels), EVERY, average=average, undefined=undefined)
    for row in scores.summaries:
        counted = present & qrels.keys() if average == "intersection" else qrels.keys()
        assert row.n_queries == len(counted), row
        assert row.n_queries == row.n_scored + row.n_unanswered + row.n_undefined + row.n_error, row
        measure = leadline.parse(row.measure)
        values = scores.per_query(row.measure)
        assert set(values) == counted
        assert sum(v is None for v in values.values()) == row.n_undefined + row.n_error
        assert all(
            values[q] == 0
            for q in counted - present
            if values[q] is not None and measure.definition.aggregate != "sum"
        )
        # A row that failed is an error whatever is asked, as long as the query could be scored.
        relevant = {q for q in bad if any(g >= 2 for g in qrels[q].values())}
        assert row.n_error >= len(relevant), row


def test_unanswered_undefined_and_error_side_by_side():
    frame = pl.DataFrame({"query_id": ["a"], "doc_id": ["x"], "score": [1.0]})
    run = Run.checked(frame, empty=["b"], failed={"c": "timed out"})
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}, "d": {"x": 1}, "e": {"x": 0}}
    scores = leadline.evaluate(run, qrels, ["RR", "P@1", "Judged@1"])
    assert scores.per_query("RR") == {"a": 1.0, "b": 0.0, "c": None, "d": 0.0, "e": None}
    row = scores.summary("RR")
    assert (row.n_scored, row.n_unanswered, row.n_undefined, row.n_error) == (2, 1, 1, 1)
    # Mean of a, b, d; with c worst 1/4, best 2/4.
    assert (row.mean, row.error_low, row.error_high) == (pytest.approx(1 / 3), 1 / 4, 1 / 2)
    # P is defined without relevant documents: e counts, unanswered.
    row = scores.summary("P@1")
    assert (row.n_scored, row.n_unanswered, row.n_undefined, row.n_error) == (2, 2, 0, 1)
    # Judged of an empty answer is undefined, also of one that was not given; the failed row stays an error.
    row = scores.summary("Judged@1")
    assert (row.n_scored, row.n_unanswered, row.n_undefined, row.n_error) == (1, 0, 3, 1)


def test_undefined_comes_before_unanswered():
    scores = leadline.evaluate({"a": ["x"]}, {"a": {"x": 1}, "b": {"x": 0}}, ["RR"])
    row = scores.summary("RR")
    assert (row.mean, row.n_scored, row.n_unanswered, row.n_undefined) == (1.0, 1, 0, 1)
    zero = leadline.evaluate({"a": ["x"]}, {"a": {"x": 1}, "b": {"x": 0}}, ["RR"], undefined="zero").summary(
        "RR"
    )
    assert (zero.mean, zero.n_undefined) == (0.5, 0)


def test_the_mean_of_nothing_is_no_number():
    scores = leadline.evaluate({"a": ["x"]}, {"a": {"x": 0}}, ["RR"])
    assert math.isnan(scores.mean("RR"))
    assert scores.summary("RR").mean is None


def test_the_ceiling_of_recall():
    # R = 4 and 1, k = 2: the mean of 2/4 and 1.
    qrels = {"a": dict.fromkeys("wxyz", 1), "b": {"w": 1}}
    row = leadline.evaluate({"a": ["w"], "b": ["w"]}, qrels, ["R@2"]).summary("R@2")
    assert row.ceiling == 0.75


def test_negative_grades_are_in_the_pool_and_not_judged():
    run, qrels = laid_out("-2 1")
    got = table(run, qrels, ["nDCG(gain=linear)", "DCG", "Judged@2", "RR", "RR(judged_only=true)", "NumRel"])[
        "q"
    ]
    expected = [1 / math.log2(3), 1 / math.log2(3), 0.5, 0.5, 1.0, 1.0]
    assert list(got.values()) == pytest.approx(expected)


def test_a_pair_of_several_subtopics_has_its_largest_grade():
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "grade": [0, 2, 1], "subtopic": ["1", "2", "1"]}
    )
    got = table(
        {"q": ["a", "b"]}, Qrels.checked(frame), ["P(rel=2)@1", "NumRel", "nDCG(gain=linear)", "DCG@1"]
    )
    assert list(got["q"].values()) == [1.0, 2.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("grades", "refused"), [([0, 1, 10], False), ([1, 11], True), ([0.5, 1], True), ([100], True)]
)
def test_the_gain_of_powers_is_for_small_whole_grades(grades, refused):
    qrels = {"q": {f"d{i}": g for i, g in enumerate(grades)}}
    for measure in ("nDCG@5", "DCG", "NCG@5", "ERR", "RBP(gain=exp2)"):
        if refused:
            with pytest.raises(UsageError, match=r"linear.*grade-map|grade-map"):
                leadline.evaluate({"q": ["d0"]}, qrels, [measure])
        else:
            leadline.evaluate({"q": ["d0"]}, qrels, [measure])
    for measure in ("nDCG(gain=linear)@5", "RBP", "AP", "RBP(gain=linear)"):
        leadline.evaluate({"q": ["d0"]}, qrels, [measure])


def test_a_gain_that_does_not_grow_with_the_grade_keeps_rbp_within_one():
    # Gains 1: 3, 2: 9, 3: 3; the largest gain of the scale is 9, so the worth of grade 2 is 1: .2·(1 + .8).
    assert value("RBP(gain={1:3,2:9})", *laid_out("2 2", "3")) == pytest.approx(0.36)


def test_real_grades_with_linear_gain():
    # (.5 + 1.9/log2(3)) ÷ (1.9 + .5/log2(3))
    run, qrels = {"q": ["a", "b"]}, {"q": {"a": 0.5, "b": 1.9}}
    half = math.log2(3)
    assert value("nDCG(gain=linear)", run, qrels) == pytest.approx((0.5 + 1.9 / half) / (1.9 + 0.5 / half))
    assert value("P@2", run, qrels) == 0.5


# ------------------------------------------------------------------------------------------ a user's own


@pytest.fixture
def own():
    """Registers a measure and forgets it after the test."""
    made: list[str] = []

    def add(name, function, **options):
        made.append(name)
        return leadline.register(name, function, **options)

    yield add
    for name in made:
        DEFINITIONS.pop(name, None)


def test_a_registered_measure_goes_through_the_same_door(own):
    seen = []

    def weighted(ranked, ideal, weight=1):
        seen.append((ranked.tolist(), ideal.tolist()))
        return float(np.nansum(ranked) * weight / max(ideal.sum(), 1))

    weight = Parameter("weight", 1, "how much", "number", low=0)
    definition = own("Weighted", weighted, summary="the share of grades found", parameters=(weight,))
    assert isinstance(definition, Definition)
    assert definition.own
    run, qrels = laid_out("2 . -1 1", "1 0")
    assert value("Weighted", run, qrels) == 3 / 4
    # Negative grades are not judged: NaN, as unjudged; the ideal holds the best first.
    (ranked, ideal), *_ = seen
    assert [g for g in ranked if not math.isnan(g)] == [2, 1]
    assert (len(ranked), ideal) == (4, [2, 1, 1, 0])
    assert value("Weighted@2", run, qrels) == 2 / 4
    assert value("weighted(weight=2)@2", run, qrels) == 1.0
    assert value("Weighted(judged_only=true)@2", run, qrels) == 3 / 4
    measure = leadline.parse("Weighted(weight=2,judged_only=true)@3")
    assert leadline.parse(str(measure)) == measure
    scores = leadline.evaluate({"q": ["r1"]}, {"q": {"r1": 2}, "p": {"r1": 1}, "n": {"r1": 0}}, ["Weighted"])
    assert scores.per_query("Weighted")["p"] == 0.0
    assert scores.summary("Weighted").n_unanswered >= 1


def test_registered_names_are_checked(own):
    with pytest.raises(UsageError, match="there already"):
        own("ndcg", lambda ranked, ideal: 0.0, summary="taken")
    with pytest.raises(UsageError, match="not made of"):
        own("my measure", lambda ranked, ideal: 0.0, summary="no name")
    own("Mine", lambda ranked, ideal: 0.0, summary="once")
    with pytest.raises(UsageError, match="there already"):
        own("mine", lambda ranked, ideal: 0.0, summary="twice")
    with pytest.raises(UsageError, match="Mine"):
        leadline.parse("Nine(x=1)")


def test_conventions_say_what_they_are():
    assert Conventions() == PROFILES["leadline-1"]
    with pytest.raises(UnknownNameError, match="trec_eval-9"):
        leadline.evaluate(*laid_out("1"), ["RR"], profile="trec_eval9")
    with pytest.raises(UsageError):
        leadline.evaluate(*laid_out("1"), ["RR"], ties="random")
    scores = leadline.evaluate(*laid_out("1"), ["RR"], profile="trec_eval-9", undefined="skip")
    assert scores.conventions["score_width"] == 32
    assert scores.conventions["undefined"] == "skip"


def test_scattered_rows_of_many_queries():
    # Rows of 300 queries in random order: the way over gathered rows gives what the plain way gives.
    rng = random.Random(3)
    run: Rankings = {f"q{i}": {f"d{j}": float(rng.randrange(4)) for j in range(20)} for i in range(300)}
    qrels: Grades = {q: {f"d{j}": rng.randrange(3) for j in range(0, 20, 2)} for q in run}
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    rng.shuffle(rows)
    assert (
        differences(
            table(run, qrels, ["nDCG@5", "AP", "Bpref"]), table(rows, qrels, ["nDCG@5", "AP", "Bpref"])
        )
        == []
    )
