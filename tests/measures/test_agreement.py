"""Agreement with other programs where they do the same, and the documented switches where they do not."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import leadline
from leadline.errors import NotComparableError
from measures.support import Grades, Rankings, collections, differences, ordered, table

TREC_EVAL = [
    "map", "ndcg", "recip_rank", "Rprec", "bpref", "infAP", "11pt_avg", "set_P", "set_recall", "set_F",
    "num_ret", "num_rel", "num_rel_ret", "num_q", "map_cut_1", "map_cut_3", "map_cut_20", "ndcg_cut_1",
    "ndcg_cut_3", "ndcg_cut_20", "P_1", "P_3", "P_20", "recall_1", "recall_3", "recall_20", "success_1",
    "success_3", "success_20", "iprec_at_recall_0.00", "iprec_at_recall_0.10", "iprec_at_recall_0.30",
    "iprec_at_recall_0.40", "iprec_at_recall_0.70", "iprec_at_recall_1.00",
]  # fmt: skip
SHORT = [
    "map", "ndcg", "ndcg_cut_3", "P_3", "recip_rank", "bpref", "Rprec", "recall_3", "map_cut_3",
    "success_1",
]  # fmt: skip
CLOSE = [16777216.0, 16777217.0, 16777218.0, 0.1, 0.1 + 1e-10, 0.1 + 1e-7, 1.0, 1.0 + 1e-8]
"""Scores of which some are equal as 32-bit floats and none as 64-bit ones."""


def pytrec_values(
    oracle, run: Rankings, qrels: Grades, measures: list[str], **options
) -> dict[str, dict[str, float]]:
    found = oracle.RelevanceEvaluator(qrels, set(measures), **options).evaluate(run)
    return {query: {m: row[m] for m in measures} for query, row in found.items()}


def pytrec_means(oracle, values: dict[str, dict[str, float]], measures: list[str]) -> dict[str, float]:
    return {m: oracle.compute_aggregated_measure(m, [row[m] for row in values.values()]) for m in measures}


def ours(run, qrels, measures: list[str], **options) -> dict[str, float]:
    scores = leadline.evaluate(run, qrels, measures, **options)
    return {measure: scores.mean(measure) for measure in measures}


@settings(max_examples=150)
@given(collections(only_negative=False))
def test_trec_eval_9(needs, made):
    oracle = needs("pytrec_eval")
    run, qrels = made
    expected = pytrec_values(oracle, run, qrels, TREC_EVAL)
    assert differences(table(run, qrels, TREC_EVAL, profile="trec_eval-9"), expected) == []
    assert ours(run, qrels, TREC_EVAL, profile="trec_eval-9") == pytest.approx(
        pytrec_means(oracle, expected, TREC_EVAL), abs=1e-9
    )


@settings(max_examples=60)
@given(collections(only_negative=False))
def test_the_geometric_mean_of_trec_eval(needs, made):
    # Per query trec_eval prints the logarithm, here the value is the AP: so the mean is compared, with its
    # floor.
    oracle = needs("pytrec_eval")
    values = pytrec_values(oracle, *made, ["gm_map"])
    assert ours(*made, ["gm_map"], profile="trec_eval-9") == pytest.approx(
        pytrec_means(oracle, values, ["gm_map"]), abs=1e-9
    )


@settings(max_examples=60)
@given(collections(only_negative=False))
def test_trec_eval_with_another_level_of_relevance(needs, made):
    oracle = needs("pytrec_eval")
    run, qrels = made
    # trec_eval's -l changes nothing about nDCG.
    names = {
        "map": "AP(rel=2)", "map_cut_3": "AP(rel=2)@3", "P_3": "P(rel=2)@3", "recall_3": "R(rel=2)@3",
        "success_3": "Success(rel=2)@3", "recip_rank": "RR(rel=2)", "Rprec": "Rprec(rel=2)",
        "bpref": "Bpref(rel=2)",
        "infAP": "infAP(rel=2)", "set_P": "SetP(rel=2)", "set_recall": "SetR(rel=2)", "set_F": "SetF(rel=2)",
        "11pt_avg": "11pt(rel=2)", "iprec_at_recall_0.30": "IPrec(rel=2)@0.3",
        "num_rel_ret": "NumRelRet(rel=2)",
        "ndcg": "nDCG", "ndcg_cut_3": "nDCG@3",
    }  # fmt: skip
    expected = pytrec_values(oracle, run, qrels, list(names), relevance_level=2)
    renamed = {q: {names[m]: v for m, v in row.items()} for q, row in expected.items()}
    assert differences(table(run, qrels, names.values(), profile="trec_eval-9"), renamed) == []


@settings(max_examples=60)
@given(collections(only_negative=False))
def test_trec_eval_with_judged_documents_only(needs, made):
    oracle = needs("pytrec_eval")
    run, qrels = made
    # A query without any judged document returned is no query for pytrec_eval's -J.
    kept = [q for q in run if any(qrels[q].get(d, -1) >= 0 for d in run[q])]
    assume(kept)
    run = {q: run[q] for q in kept}
    names = {
        "map": "AP(judged_only)", "map_cut_3": "AP(judged_only)@3", "P_3": "P(judged_only)@3",
        "recall_3": "R(judged_only)@3", "success_1": "Success(judged_only)@1",
        "recip_rank": "RR(judged_only)",
        "Rprec": "Rprec(judged_only)", "ndcg": "nDCG(judged_only)", "ndcg_cut_3": "nDCG(judged_only)@3",
        "set_P": "SetP(judged_only)", "set_F": "SetF(judged_only)", "11pt_avg": "11pt(judged_only)",
    }  # fmt: skip
    expected = pytrec_values(oracle, run, qrels, list(names), judged_docs_only_flag=True)
    renamed = {q: {names[m]: v for m, v in row.items()} for q, row in expected.items()}
    assert differences(table(run, qrels, names.values(), profile="trec_eval-9"), renamed) == []


@settings(max_examples=60)
@given(collections(only_negative=False), st.data())
def test_scores_that_are_equal_as_32_bit_floats(needs, made, data):
    oracle = needs("pytrec_eval")
    run, qrels = made
    run = {q: {d: data.draw(st.sampled_from(CLOSE)) for d in docs} for q, docs in run.items()}
    expected = pytrec_values(oracle, run, qrels, SHORT)
    assert differences(table(run, qrels, SHORT, profile="trec_eval-9"), expected) == []


@settings(max_examples=40)
@given(collections(only_negative=False), st.sampled_from([1, 2, 4]))
def test_a_run_cut_first(needs, made, depth):
    # trec_eval's -M: the run is cut, the ideal list is not.
    oracle = needs("pytrec_eval")
    run, qrels = made
    cut = {q: {d: docs[d] for d in ordered(docs)[:depth]} for q, docs in run.items()}
    expected = pytrec_values(oracle, cut, qrels, TREC_EVAL)
    assert differences(table(run, qrels, TREC_EVAL, profile="trec_eval-9", depth=depth), expected) == []


@settings(max_examples=60)
@given(collections(only_negative=False))
def test_trec_eval_c(needs, made):
    # -c: the mean over all judged queries, those without an answer as 0.
    oracle = needs("pytrec_eval")
    run, qrels = made
    found = pytrec_values(oracle, run, qrels, SHORT)
    means = {m: sum(row[m] for row in found.values()) / len(qrels) for m in SHORT}
    assert ours(run, qrels, SHORT, profile="trec_eval-9", average="judged") == pytest.approx(means, abs=1e-9)


def rounded_levels(ranking: list[str], grades: dict[str, int], level: float) -> float:
    """The interpolated precision as trec_eval 10 has it: the level asks for lround(level · R) documents."""
    total = sum(g >= 1 for g in grades.values())
    asked = math.floor(level * total + 0.5)
    best, found = 0.0, 0
    for rank, doc in enumerate(ranking, 1):
        found += grades.get(doc, 0) >= 1
        if found >= max(asked, 1):
            best = max(best, found / rank)
    return best


@settings(max_examples=60)
@given(collections(unanswered=False, only_negative=False), st.data())
def test_trec_eval_10(needs, made, data):
    # As trec_eval 9, but scores are read as 64-bit floats and recall levels are rounded. For the oracle,
    # which
    # reads 32 bits, the scores are replaced by their places.
    oracle = needs("pytrec_eval")
    run, qrels = made
    run = {q: {d: data.draw(st.sampled_from(CLOSE)) for d in docs} for q, docs in run.items()}
    places = {
        q: {d: float(sorted(docs.values()).index(s)) for d, s in docs.items()} for q, docs in run.items()
    }
    levels = {
        "iprec_at_recall_0.00": 0,
        "iprec_at_recall_0.30": 0.3,
        "iprec_at_recall_0.40": 0.4,
        "iprec_at_recall_1.00": 1,
    }
    plain = [m for m in TREC_EVAL if not m.startswith(("iprec", "11pt"))]
    expected = pytrec_values(oracle, places, qrels, plain)
    for query, docs in run.items():
        ranking = ordered(docs)
        for name, level in levels.items():
            expected[query][name] = rounded_levels(ranking, qrels[query], level)
        tenths = [rounded_levels(ranking, qrels[query], i / 10) for i in range(11)]
        expected[query]["11pt_avg"] = sum(tenths) / 11
    asked = [*plain, *levels, "11pt_avg"]
    assert differences(table(run, qrels, asked, profile="trec_eval-10"), expected) == []


def test_trec_eval_10_stops_where_queries_differ():
    run, qrels = {"a": ["x"]}, {"a": {"x": 1}, "b": {"x": 1}}
    with pytest.raises(NotComparableError, match="missing") as caught:
        leadline.evaluate(run, qrels, ["AP"], profile="trec_eval-10")
    assert caught.value.exit_code == 4
    assert leadline.evaluate(run, qrels, ["AP"], profile="trec_eval-10", average="judged").mean("AP") == 0.5
    # A query that only the run has is no difference to it.
    assert (
        leadline.evaluate({"a": ["x"], "c": ["x"]}, {"a": {"x": 1}}, ["AP"], profile="trec_eval-10").mean(
            "AP"
        )
        == 1
    )


def test_trec_eval_10_reads_comments(tmp_path):
    (tmp_path / "run").write_text("#o1 Q0 a 1 1 t\no2 Q0 x 1 1 t\n")
    (tmp_path / "qrels").write_text("#o1 0 a 1\no2 0 a 1\n")
    files = tmp_path / "run", tmp_path / "qrels"
    found = {
        p: leadline.evaluate(*files, ["AP"], profile=p).mean("AP") for p in ("trec_eval-9", "trec_eval-10")
    }
    assert found == {"trec_eval-9": 0.5, "trec_eval-10": 0.0}


# ir_measures' own faults are kept out: RR@k, Judged@k and Compat break ties the other way round (so: no
# ties), Compat
# ranks negative scores below missing documents, Judged divides by zero, SetF's beta is squared, NumQ and
# NumRel count only queries of the run, and two measures that differ in gains cannot be asked in one call.
IR_MEASURES = [
    "nDCG", "nDCG@1", "nDCG@3", "nDCG@20", "AP", "AP@3", "P@1", "P@3", "P@20", "R@3", "R@20", "RR",
    "Rprec", "Bpref", "infAP", "Success@1", "Success@3", "SetP", "SetR", "SetF", "IPrec@0.1", "IPrec@0.3",
    "IPrec@0.7", "AP(rel=2)", "P(rel=2)@3", "RR(rel=2)", "Rprec(rel=2)", "Bpref(rel=2)",
    "Success(rel=2)@3", "NumRet",
]  # fmt: skip
IR_MEASURES_WITHOUT_TIES = ["RR@2", "RR(rel=2)@3", "Judged@2", "Judged@9", "NumRel"]
COMPAT = ["Compat(p=0.8)", "Compat(p=0.95)"]


def ir_values(
    oracle, run, qrels, measures: list[str]
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    objects = {m: oracle.parse_measure(m) for m in measures}
    means, rows = oracle.calc(objects.values(), qrels, run)
    names = {o: m for m, o in objects.items()}
    values: dict[str, dict[str, float]] = {q: {} for q in qrels}
    for row in rows:
        values[row.query_id][names[row.measure]] = row.value
    return {names[o]: v for o, v in means.items()}, values


@settings(max_examples=60)
@given(collections(only_negative=False))
def test_ir_measures(needs, made):
    oracle = needs("ir_measures")
    means, values = ir_values(oracle, *made, IR_MEASURES)
    assert differences(table(*made, IR_MEASURES, profile="ir_measures"), values) == []
    assert ours(*made, IR_MEASURES, profile="ir_measures") == pytest.approx(means, abs=1e-9)


@pytest.mark.parametrize("asked", [IR_MEASURES_WITHOUT_TIES, COMPAT], ids=["counts", "compatibility"])
@settings(max_examples=60)
@given(made=collections(ties=False, unanswered=False, grades=(0, 0, 1, 1, 2, 3)))
def test_ir_measures_without_ties(needs, asked, made):
    oracle = needs("ir_measures")
    run, qrels = made
    run = {q: {d: s + 100 for d, s in docs.items()} for q, docs in run.items()}
    means, values = ir_values(oracle, run, qrels, asked)
    assert differences(table(run, qrels, asked, profile="ir_measures"), values) == []
    assert ours(run, qrels, asked, profile="ir_measures") == pytest.approx(means, abs=1e-9)


@settings(max_examples=40)
@given(collections(grades=(0, 1, 1, 2, 3)), st.sampled_from(["{1:3,2:9}", "{0:1,3:5}", "{1:1,2:0,3:4}"]))
def test_gains_of_ir_measures(needs, made, gains):
    # A grade that the map does not name keeps its own value.
    oracle = needs("ir_measures")
    for cut in ("", "@2"):
        measure = f"nDCG(gains={gains}){cut}"
        _, values = ir_values(oracle, *made, [measure])
        assert differences(table(*made, [measure], profile="ir_measures"), values) == []


@settings(max_examples=60)
@given(collections(unanswered=False, only_negative=False), st.data())
def test_beir(needs, made, data):
    # BEIR asks pytrec_eval, over the queries that both have, with documents named as the query taken out.
    oracle = needs("pytrec_eval")
    run, qrels = made
    named = {q: data.draw(st.sampled_from(sorted(docs))) for q, docs in run.items()}
    assume(len(set(named.values())) == len(named))
    run = {named[q]: docs for q, docs in run.items()}
    qrels = {named[q]: docs for q, docs in qrels.items()}
    without = {q: {d: s for d, s in docs.items() if d != q} for q, docs in run.items()}
    assume(all(without.values()))
    asked = ["ndcg_cut_3", "map_cut_3", "recall_3", "P_3"]
    expected = pytrec_values(oracle, without, qrels, asked)
    scores = leadline.evaluate(run, qrels, asked, profile="beir")
    assert differences(table(run, qrels, asked, profile="beir"), expected) == []
    assert scores.account["systems"]["run"]["self_matches"] == len(run)
    assert {m: scores.mean(m) for m in asked} == pytest.approx(
        pytrec_means(oracle, expected, asked), abs=1e-9
    )


def test_beir_leaves_out_what_the_run_does_not_answer():
    run, qrels = {"a": {"x": 1.0, "a": 2.0}}, {"a": {"x": 1}, "b": {"x": 1}}
    scores = leadline.evaluate(run, qrels, ["nDCG@1"], profile="beir")
    assert (scores.mean("nDCG@1"), scores.summary("nDCG@1").n_queries) == (1.0, 1)
    assert scores.measures == ["nDCG(gain=linear)@1"]


@settings(max_examples=60)
@given(collections(), st.data())
def test_msmarco(made, data):
    # The order of the rank column, whatever the scores; RR@10 over the judged queries with a relevant
    # document.
    run, qrels = made
    order = {q: data.draw(st.permutations(sorted(docs))) for q, docs in run.items()}
    rows = [(q, d, rank, run[q][d]) for q, docs in order.items() for rank, d in enumerate(docs, 1)]
    frame = pl.DataFrame(
        data.draw(st.permutations(rows)), schema=["query_id", "doc_id", "rank", "score"], orient="row"
    )
    relevant = {q: {d for d, g in docs.items() if g >= 1} for q, docs in qrels.items()}
    values = []
    for query in (q for q in qrels if relevant[q]):
        at = [rank for rank, doc in enumerate(order.get(query, [])[:2], 1) if doc in relevant[query]]
        values.append(1 / at[0] if at else 0.0)
    mean = leadline.evaluate(frame, qrels, ["RR@2"], profile="msmarco").mean("RR@2")
    assert math.isnan(mean) if not values else mean == pytest.approx(sum(values) / len(values))


def test_msmarco_files(tmp_path):
    (tmp_path / "run.trec").write_text("q Q0 a 2 9.0 t\nq Q0 b 1 1.0 t\nr Q0 a 1 1 t\n")
    (tmp_path / "qrels").write_text("q 0 b 1\nr 0 b 1\ns 0 a 1\n")
    scores = leadline.evaluate(tmp_path / "run.trec", tmp_path / "qrels", ["RR@10"], profile="msmarco")
    assert scores.per_query("RR@10") == {"q": 1.0, "r": 0.0, "s": 0.0}
    by_score = leadline.evaluate(tmp_path / "run.trec", tmp_path / "qrels", ["RR@10"])
    assert by_score.per_query("RR@10")["q"] == 0.5


def plain_reference(ranking: list[str], grades: dict[str, int]) -> dict[str, float]:
    """Some measures by their definition, in plain loops: those that no oracle here has."""
    top = 3
    gain = [2 ** max(grades.get(d, 0), 0) - 1 for d in ranking]
    best = sorted((2 ** max(g, 0) - 1 for g in grades.values()), reverse=True)
    relevant = [grades.get(d, 0) >= 1 for d in ranking]
    total = sum(g >= 1 for g in grades.values())
    dcg = sum(g / math.log2(i + 1) for i, g in enumerate(gain, 1))
    dcg3, ideal3 = (sum(g / math.log2(i + 1) for i, g in enumerate(one[:3], 1)) for one in (gain, best))
    err, left = 0.0, 1.0
    for rank, g in enumerate(gain, 1):
        err += left * g / 2**top / rank
        left *= 1 - g / 2**top
    found = list(itertools.accumulate(relevant))
    precision = sum(found[i] / (i + 1) for i, yes in enumerate(relevant) if yes)
    p3, r3 = sum(relevant[:3]) / 3, sum(relevant[:3]) / total if total else math.nan
    judged = [grades.get(d, -1) >= 0 for d in ranking]
    none = math.nan
    return {
        "DCG": dcg,
        "nDCG@3": dcg3 / ideal3 if total else none,
        "NCG@3": sum(gain[:3]) / sum(best[:3]) if total else none,
        "RBP(p=0.6)": 0.4 * sum(0.6**i for i, yes in enumerate(relevant) if yes),
        "RBP(p=0.6,gain=exp2,max_grade=3)@3": 0.4 * sum(0.6**i * g / 7 for i, g in enumerate(gain[:3])),
        "RBPResidual(p=0.6)": 0.4 * sum(0.6**i for i, yes in enumerate(judged) if not yes)
        + 0.6 ** len(ranking),
        "ERR(max_grade=3)": err if total else none,
        "AP(denominator=retrieved)": (precision / found[-1] if found[-1] else 0.0) if total else none,
        "AP(denominator=min)@50": precision / total if total else none,
        "F(beta=2)@3": (5 * p3 * r3 / (4 * p3 + r3) if p3 else 0.0) if total else none,
        "Judged@3": sum(judged[:3]) / len(judged[:3]),
        "Unjudged(over=k)@3": (len(judged[:3]) - sum(judged[:3])) / 3,
        "NumRelRet@3": float(sum(relevant[:3])),
    }


@settings(max_examples=100)
@given(collections(unanswered=False))
def test_plain_loops(made):
    run, qrels = made
    expected = {q: plain_reference(ordered(docs), qrels[q]) for q, docs in run.items()}
    assert differences(table(run, qrels, next(iter(expected.values()))), expected) == []
