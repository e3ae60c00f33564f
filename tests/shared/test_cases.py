"""The collected cases about measures, each against the project's own spelling of its conventions."""

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import leadline
from leadline.errors import InputError, NotComparableError
from leadline.tables import Run
from shared.folder import CASES, everything_required


def load(name: str) -> list[dict[str, Any]]:
    path = CASES / name
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


MEASURES = [case for case in load("measures.jsonl") if not case.get("optional")]
RAG = {case["id"]: case for case in load("rag.jsonl")}

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)

# What a case's words mean here: nothing (it is the default), a switch, or parameters of the measure.
DEFAULT: tuple[dict[str, Any], dict[str, str]] = ({}, {})
WORDS: dict[tuple[str, Any], tuple[dict[str, Any], dict[str, str]]] = {
    ("ties", "docid_desc"): DEFAULT,
    ("ties", "average"): ({"ties": "expected"}, {}),
    ("score_width", "double"): DEFAULT,
    ("queries", "all_judged"): DEFAULT,
    ("queries", "intersection"): ({"average": "intersection"}, {}),
    ("no_relevant", "zero"): ({"undefined": "zero"}, {}),
    ("gain", "linear"): ({}, {"gain": "linear"}),
    ("gain", "exp2"): DEFAULT,
    ("gain", "grade/max of the declared scale (3)"): ({"max_grade": 3}, {"gain": "linear"}),
    ("grades", "float"): DEFAULT,
    ("rel_level", 2): ({}, {"rel": "2"}),
    ("run_depth", 1): ({"depth": 1}, {}),
    ("ap_denominator", "R"): DEFAULT,
    ("floor", 1e-05): DEFAULT,
    ("p", 0.5): DEFAULT,
    ("p", 0.8): DEFAULT,
    ("p", 0.95): DEFAULT,
    ("max_grade", 4): ({}, {"max_grade": "4"}),
    ("recall_points", "ceil"): DEFAULT,
    ("recall_points", "fewest documents with recall >= level"): DEFAULT,
    ("recall_points", "round"): ({}, {"levels": "round"}),
    ("judged_only", True): ({}, {"judged_only": "true"}),
    ("negative_grade", "unjudged"): DEFAULT,
    ("negative_grade", "judged"): ({"grade_map": {-1: 0}}, {}),
    ("denominator", "min(k,returned)"): DEFAULT,
    ("denominator", "k"): ({}, {"over": "k"}),
    ("comments", "off"): DEFAULT,
}


def asked(case: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The case's measure in the project's spelling, and the switches."""
    measure = leadline.parse(case["measure"])
    given = {key: f"{value}" for key, value in measure.parameters}
    switches: dict[str, Any] = {}
    for word in case["options"].items():
        more, parameters = WORDS[word]
        switches |= more
        # trec_eval's level of relevance changes nothing about nDCG.
        given |= {key: value for key, value in parameters.items() if measure.has(key)}
    inner = ",".join(f"{key}={value}" for key, value in given.items())
    cut = "" if measure.cutoff is None else f"@{measure.cutoff}"
    return f"{measure.name}({inner}){cut}", switches


@pytest.mark.parametrize("case", MEASURES, ids=lambda case: case["id"])
def test_a_case_about_measures(case, tmp_path):
    (tmp_path / "run.trec").write_text(case["run"], encoding="utf-8")
    (tmp_path / "qrels.trec").write_text(case["qrels"], encoding="utf-8")
    measure, switches = asked(case)

    def scored() -> float:
        return leadline.evaluate(tmp_path / "run.trec", tmp_path / "qrels.trec", [measure], **switches).mean(
            measure
        )

    if case["expected"] == "error":
        with pytest.raises(InputError):
            scored()
    elif case["expected"] == "not-comparable":
        with pytest.raises(NotComparableError) as caught:
            scored()
        assert caught.value.exit_code == 4
    else:
        assert scored() == pytest.approx(case["expected"], abs=1e-6)
        assert scored() == scored()


def test_the_cases_are_all_there():
    assert len(MEASURES) == 52
    assert set(RETRIEVAL) <= RAG.keys()


# ---------------------------------------------------------------------------------- retrieval in RAG tools

RETRIEVAL: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {}


def about(name: str):
    def keep(check):
        RETRIEVAL[name] = check
        return check

    return keep


def judged_list(verdicts: list[int]) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """A list of documents with these verdicts; one relevant document more stands nowhere."""
    documents = [f"d{i}" for i in range(len(verdicts))]
    return {"q": documents}, {"q": {**dict(zip(documents, verdicts, strict=True)), "elsewhere": 1}}


@about("ctxp-perfect-is-one")
def _perfect(given, expected):
    for verdicts, value in zip(given["verdicts"], expected["values"], strict=True):
        got = leadline.evaluate(*judged_list(verdicts), ["AP(denominator=retrieved)"]).per_query(
            "AP(denominator=retrieved)"
        )["q"]
        assert got == (None if value is None else pytest.approx(value, abs=1e-6))
        # Exactly 1, so that a gate at 1.0 passes.
        assert value != 1.0 or got == 1.0


@about("ctxp-misses-recall")
def _misses(given, expected):
    for at, name in enumerate(("verdicts_sys_a", "verdicts_sys_b")):
        scores = leadline.evaluate(*judged_list(given[name]), ["AP(denominator=retrieved)", "P@5"])
        assert scores.mean("AP(denominator=retrieved)") == expected["ap_over_retrieved"][at]
        assert scores.mean("P@5") == pytest.approx(expected["precision_at_5"][at])


@about("ndcg-graded")
def _graded(given, expected):
    scores = leadline.evaluate(
        {"q": given["ranking"]}, {"q": given["qrels"]}, ["nDCG@3", "nDCG(gain=linear)@3"]
    )
    assert scores.mean("nDCG@3") == pytest.approx(expected["exp_gain"], abs=1e-6)
    assert scores.mean("nDCG(gain=linear)@3") == pytest.approx(expected["linear_gain"], abs=1e-6)


@about("recall-duplicates")
def _duplicates(given, expected):
    run, qrels = {"q": given["retrieved"]}, {"q": dict.fromkeys(given["gold"], 1)}
    with pytest.raises(InputError):
        leadline.evaluate(run, qrels, ["recall@3"])
    assert (
        leadline.evaluate(run, qrels, ["recall@3"], duplicates="first").mean("recall@3") == expected["recall"]
    )


@about("rr-two-groups")
def _two_groups(given, expected):
    gold = {"q": {doc: 1 for group in given["gold_groups"] for doc in group}}
    assert leadline.evaluate({"q": given["ranking"]}, gold, ["mrr"]).mean("mrr") == expected["rr"]


@about("or-groups")
def _or_groups(given, expected):
    gold = {"q": given["gold_groups"]}
    scores = leadline.evaluate({"q": given["ranking"]}, gold, ["nDCG@2", "R@2"])
    assert (scores.mean("nDCG@2"), scores.mean("R@2")) == (expected["ndcg"], expected["group_recall"])


@about("contexts-as-string")
def _contexts_as_string(given, expected):
    from leadline.errors import RowsError
    from leadline.formats.rag import rag_of_records
    from leadline.formats.texts import Texts

    for texts in (None, Texts({"d": "a"})):
        with pytest.raises(RowsError, match=r"line 1: .*retrieved_contexts is a list, not a text"):
            rag_of_records([(1, {"question": "?", "retrieved_ids": None} | given)], texts=texts)


@about("missing-query")
def _missing(given, expected):
    scores = leadline.evaluate(given["run"], given["qrels"], ["nDCG@1", "RR@1"])
    assert (scores.mean("nDCG@1"), scores.mean("RR@1")) == (expected["ndcg"], expected["rr"])
    assert scores.summary("RR@1").n_unanswered == len(expected["missing_queries"])


@about("judged-at-k-per-query")
def _judged(given, expected):
    scores = leadline.evaluate(given["run"], given["qrels"], ["Judged@1"])
    assert {**scores.per_query("Judged@1"), "mean": scores.mean("Judged@1")} == expected


@about("no-relevant")
def _no_relevant(given, expected):
    scores = leadline.evaluate(given["run"], given["qrels"], ["R@5", "nDCG@5"])
    for row in scores.summaries:
        assert (row.mean, row.n_scored, row.n_undefined) == (expected["value"], 0, expected["n_excluded"])
    assert leadline.evaluate(given["run"], given["qrels"], ["R@5"], undefined="zero").mean("R@5") == 0.0


@about("accuracy-at-k-list")
def _accuracy(given, expected):
    run = {f"q{i}": ["hit" if hit else "miss"] for i, hit in enumerate(given["hits_per_query"])}
    assert (
        leadline.evaluate(run, {q: {"hit": 1} for q in run}, ["hit_rate@5"]).mean("hit_rate@5")
        == expected["mean"]
    )


@about("mean-errored-row")
def _errored(given, expected):
    frame = pl.DataFrame({"query_id": ["q0"], "doc_id": ["hit"], "score": [given["scores"][0]]})
    run = Run.checked(frame, failed={"q1": given["scores"][1]["error"]})
    row = leadline.evaluate(run, {"q0": {"hit": 1}, "q1": {"hit": 1}}, ["Success@1"]).summary("Success@1")
    assert (row.mean, row.n_queries, row.n_scored, row.n_error) == (
        expected["mean_over_scored"], expected["n"], expected["n_scored"], expected["n_error"],
    )  # fmt: skip
    assert [row.error_low, row.error_high] == expected["bounds_if_error_unknown"]


@about("ann-order")
def _order(given, expected):
    gold = {"q": {str(i): 1 for i in given["exact_ids"]}}
    for returned, value in zip(given["returned"], expected["values"], strict=True):
        assert leadline.evaluate({"q": returned}, gold, ["nDCG@3"]).mean("nDCG@3") == pytest.approx(
            value, abs=1e-6
        )


@pytest.mark.parametrize("name", RETRIEVAL)
def test_a_case_about_retrieval(name):
    RETRIEVAL[name](RAG[name]["input"], RAG[name]["expected"])
