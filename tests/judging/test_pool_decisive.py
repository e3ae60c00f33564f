"""Decisive order: the pairs of two systems, and its end."""

import pytest

from leadline.conventions import Conventions
from leadline.errors import UnknownNameError, UsageError
from leadline.formats.objects import qrels_of, run_of
from leadline.inputs import Inputs
from leadline.judging.decisive import decisive
from leadline.judging.pool import Pool
from leadline.judging.pooling import Wish, pooled, said_of_cut
from leadline.report.pool_text import pool_text
from leadline.spelling import parse

N = 40
QUERIES = [f"q{i:02}" for i in range(N)]
DOCS = [f"d{i}" for i in range(10)]
RUNS = [
    run_of(dict.fromkeys(QUERIES, DOCS), name="old"),
    run_of({q: ["n0", "n1", *DOCS[:8]] for q in QUERIES}, name="new"),
    run_of({q: ["z0", "z1"] for q in QUERIES}, name="third"),
]
MEASURE, RULES = parse("nDCG@10"), Conventions()
# The old run's ten are judged, one relevant, further down from query to query; what the new one puts first is not.
GRADES = {q: {d: int(at == place % 6) for at, d in enumerate(DOCS)} for place, q in enumerate(QUERIES)}


def found(grades, **options):
    qrels = qrels_of(grades)
    pool = Pool.of(RUNS, 10, RULES, qrels)
    return decisive(Inputs(tuple(RUNS), qrels), pool, MEASURE, RULES, "old", "new", **options)


def test_it_lists_what_could_move_the_difference():
    got = found(GRADES)
    assert not got.settled
    assert {pair.doc_id for pair in got.pairs} == {"n0", "n1"}
    assert len(got.pairs) == 2 * N
    weights = [abs(pair.move) * pair.likely for pair in got.pairs]
    assert weights == sorted(weights, reverse=True)
    assert got.pairs[0].ranks == {"new": 1}
    assert "relevant, it moves the mean difference by" in got.pairs[0].why
    # The third system's documents are in the pool, and in neither top 10.
    assert got.others == 2 * N
    assert 0 < got.doubt.to_settle <= 2 * N


def test_it_ends_when_judging_cannot_change_the_verdict():
    judged = {q: docs | {"n0": 1, "n1": 1} for q, docs in GRADES.items()}
    got = found(judged)
    assert got.settled
    assert got.pairs == []
    assert got.verdict.outcome == "pass"
    report = pooled(
        RUNS, qrels_of(judged), MEASURE, RULES, Wish(order="decisive", baseline="old", candidate="new")
    )
    assert "settled: judging these queries further would not change it" in pool_text(report)
    # Both top tens are judged in full: nothing is left to ask.
    assert report.nothing_left


def test_it_ends_before_everything_is_judged():
    judged = {q: docs | {"n0": 1, "n1": 1} for q, docs in GRADES.items()}
    del judged["q00"]["n1"]
    got = found(judged)
    assert got.settled
    assert got.doubt.unjudged == 1
    assert got.pairs == []
    report = pooled(
        RUNS, qrels_of(judged), MEASURE, RULES, Wish(order="decisive", baseline="old", candidate="new")
    )
    assert not report.nothing_left


def test_queries_without_judgments_are_named_and_not_looked_at():
    some = {q: docs for q, docs in GRADES.items() if q != "q07"}
    got = found(some)
    assert got.queries_unjudged == 1
    assert "q07" not in {pair.query_id for pair in got.pairs}
    report = pooled(
        RUNS, qrels_of(some), MEASURE, RULES, Wish(order="decisive", baseline="old", candidate="new")
    )
    assert "nothing is judged for 1 query" in pool_text(report)


def test_names_and_measures_that_decide_nothing_are_refused():
    qrels = qrels_of(GRADES)
    given, pool = Inputs(tuple(RUNS), qrels), Pool.of(RUNS, 10, RULES, qrels)
    with pytest.raises(UnknownNameError, match="did you mean new"):
        decisive(given, pool, MEASURE, RULES, "old", "nwe")
    with pytest.raises(UsageError, match="one system"):
        decisive(given, pool, MEASURE, RULES, "old", "old")
    with pytest.raises(UsageError, match="sample"):
        decisive(given, pool, parse("xinfAP"), RULES, "old", "new")
    with pytest.raises(UsageError, match="more of this is not better"):
        decisive(given, pool, parse("Unjudged@10"), RULES, "old", "new")
    with pytest.raises(UsageError, match="margin"):
        decisive(given, pool, MEASURE, RULES, "old", "new", margin=0.0)


def test_the_budget_keeps_the_first_and_says_what_it_cut():
    wish = Wish(order="decisive", baseline="old", candidate="new", budget=5)
    report = pooled(RUNS, qrels_of(GRADES), MEASURE, RULES, wish)
    whole = found(GRADES).pairs
    assert [pair.to_dict() for pair in report.pairs] == [pair.to_dict() for pair in whole[:5]]
    assert report.cut == 2 * N - 5
    assert said_of_cut(report).startswith("the budget of 5 pairs cut 75 pairs")


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"order": "random"}, "not one of"),
        ({"order": "decisive"}, "needs --baseline"),
        ({"order": "decisive", "baseline": "a"}, "needs --baseline"),
        ({"baseline": "a", "candidate": "b"}, "go with --order decisive"),
    ],
)
def test_wishes_that_do_not_go_together(wish, says):
    with pytest.raises(UsageError, match=says):
        Wish(**wish)


def test_decisive_order_needs_judgments():
    with pytest.raises(UsageError, match="--qrels"):
        pooled(RUNS, None, MEASURE, RULES, Wish(order="decisive", baseline="old", candidate="new"))
