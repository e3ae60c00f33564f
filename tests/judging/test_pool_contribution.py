"""What each system brings, how far it would fall, and how much is missing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.conventions import Conventions
from leadline.errors import UnknownNameError, UsageError
from leadline.formats.objects import qrels_of, run_of
from leadline.hits import Judged
from leadline.judging.contribution import contributions, families_of, leave_one_out
from leadline.judging.missing import Chao, chapman, chapman_variance, lincoln_petersen, missing_of
from leadline.judging.pool import Pool
from leadline.spelling import parse

GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 1}, "r": {"x": 1}}
RUNS = [
    run_of({"q": ["a", "b", "c"], "r": ["x", "y"]}, name="one"),
    run_of({"q": ["a", "d", "b"], "r": ["z"]}, name="two"),
]


def left_out(runs, grades, measure: str, depth: int, rules: Conventions | None = None):
    qrels, rules = qrels_of(grades), rules or Conventions()
    pool = Pool.of(runs, depth, rules, qrels)
    return leave_one_out(runs, pool, Judged.of(qrels), parse(measure), rules)


def test_contributions_by_hand():
    pool = Pool.of(RUNS, 3, qrels=qrels_of(GRADES))
    one, two = contributions(pool)
    # one: a b c, x y; alone c, x, y; y is unjudged; relevant a, c, x, alone c and x.
    assert (one.pairs, one.only, one.unjudged, one.relevant, one.only_relevant) == (5, 3, 1, 3, 2)
    # two: a d b, z; alone d, z.
    assert (two.pairs, two.only, two.unjudged, two.relevant, two.only_relevant) == (4, 2, 1, 2, 1)
    # Grade 2 needed: only c.
    assert [c.only_relevant for c in contributions(pool, rel=2)] == [1, 0]


def test_a_system_without_documents_contributes_nothing():
    pool = Pool.of([*RUNS, run_of({"q": []}, name="mute")], 3, qrels=qrels_of(GRADES))
    assert contributions(pool)[2].to_dict() == {
        "system": "mute", "pairs": 0, "only": 0, "unjudged": 0, "relevant": 0, "only_relevant": 0
    }  # fmt: skip


def test_leaving_one_out_by_hand():
    one, two = left_out(RUNS, GRADES, "P@2", 3)
    # P@2 of one: q 1/2 (a), r 1/2 (x): mean 1/2. Without c and x: q 1/2, r 0 (its only relevant document is gone,
    # but P is defined without one): 1/4. Two stands at 1/2·(2/2 + 0) = 1/2 both times.
    assert (one.documents, one.score, one.without, one.place, one.place_without) == (2, 0.5, 0.25, 1, 2)
    # Two loses d: q 1/2, r 0: 1/4; one keeps 1/2.
    assert (two.documents, two.score, two.without, two.place, two.place_without) == (1, 0.5, 0.25, 1, 2)
    assert one.fall == 0.25


def test_a_query_that_keeps_no_relevant_document_counts_zero():
    one, two = left_out(RUNS, GRADES, "RR", 3)
    # one: RR 1 and 1. Without x, r has no relevant document: 0, and the mean stays over two queries: 1/2.
    assert (one.score, one.without, one.queries_lost) == (1.0, 0.5, 1)
    assert two.queries_lost == 0


def test_what_another_system_has_too_stays():
    twin = run_of({"q": ["a", "b", "c"], "r": ["x", "y"]}, name="twin")
    found = left_out([RUNS[0], twin], GRADES, "nDCG@3", 3)
    assert [(one.documents, one.fall) for one in found] == [(0, 0.0), (0, 0.0)]


def test_a_family_is_left_out_together():
    twin = run_of({"q": ["a", "b", "c"], "r": ["x", "y"]}, name="twin")
    runs, qrels = [*RUNS, twin], qrels_of(GRADES)
    pool = Pool.of(runs, 3, qrels=qrels)
    found = leave_one_out(runs, pool, Judged.of(qrels), parse("P@2"), Conventions(), [["one", "twin"]])
    # Together one and twin lose c and x, as one alone did when there was no twin; two loses d.
    assert [(one.documents, one.without, one.together) for one in found] == [
        (2, 0.25, ("twin",)), (1, 0.25, ()), (2, 0.25, ("one",))
    ]  # fmt: skip
    # Both fall below two, which stays at 1/2.
    assert [one.place_without for one in found] == [2, 3, 2]


def test_families_that_cannot_be_meant():
    with pytest.raises(UsageError, match="in two families"):
        families_of(["a", "b", "c"], [["a", "b"], ["b", "c"]])
    with pytest.raises(UnknownNameError, match="known: a, b"):
        families_of(["a", "b"], [["a", "x"]])


def test_the_ideal_ranking_loses_them_too():
    # one alone has c (grade 2): without it the ideal of q is a, d (1 and 1).
    one, _ = left_out(RUNS, {"q": GRADES["q"]}, "nDCG(gain=linear)@3", 3)
    less = {"q": {doc: grade for doc, grade in GRADES["q"].items() if doc != "c"}}
    expected = leadline.evaluate(RUNS[0], less, ["nDCG(gain=linear)@3"]).per_query("nDCG(gain=linear)@3")["q"]
    assert one.without == pytest.approx(expected)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["nDCG@3", "AP", "P@3", "nDCG(judged_only)@3", "Bpref"]))
def test_leaving_one_out_is_evaluating_with_fewer_judgments(seed, measure):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(10)]
    queries = [f"q{i}" for i in range(rng.randint(1, 4))]
    lists = [{q: rng.sample(docs, rng.randint(1, 9)) for q in queries} for _ in range(3)]
    runs = [run_of(one, name=f"s{i}") for i, one in enumerate(lists)]
    grades = {q: {d: rng.choice((-1, 0, 1, 2)) for d in rng.sample(docs, 8)} for q in queries}
    depth = rng.randint(1, 5)
    for place, row in enumerate(left_out(runs, grades, measure, depth)):
        full = leadline.evaluate(runs[place], grades, [measure]).per_query(measure)
        tops = [{(q, d) for q in queries for d in one[q][:depth]} for one in lists]
        alone = tops[place] - set().union(*(top for i, top in enumerate(tops) if i != place))
        gone = {(q, d) for q, d in alone if grades[q].get(d, -1) >= 0}
        less = {q: {d: -1 if (q, d) in gone else g for d, g in docs_.items()} for q, docs_ in grades.items()}
        now = leadline.evaluate(runs[place], less, [measure]).per_query(measure)
        counted = [q for q, value in full.items() if value is not None]
        assert row.documents == len(gone)
        if counted:
            assert row.score == pytest.approx(sum(full[q] for q in counted) / len(counted))
            assert row.without == pytest.approx(sum(now[q] or 0.0 for q in counted) / len(counted))
        else:
            assert row.score != row.score


@pytest.mark.parametrize("measure", ["NumRet", "GMAP", "Unjudged@5", "xinfAP"])
def test_the_bias_is_told_by_a_mean_of_which_more_is_better(measure):
    with pytest.raises(UsageError, match="the bias of a pool"):
        left_out(RUNS, GRADES, measure, 3)


# ------------------------------------------------------------------------------------------------ still missing


def test_two_samples_by_hand():
    # 200·100/40 = 500; 201·101/41 − 1 = 494.146…; 201·101·160·60/(41²·42) = 2760.398.
    assert lincoln_petersen(200, 100, 40) == 500.0
    assert chapman(200, 100, 40) == pytest.approx(201 * 101 / 41 - 1)
    assert chapman_variance(200, 100, 40) == pytest.approx(2760.3977224441232)
    # Nothing shared: the plain estimate is undefined, Chapman's is not.
    assert lincoln_petersen(3, 4, 0) is None
    assert chapman(3, 4, 0) == 19
    # The same documents: there are no more.
    assert chapman(5, 5, 5) == 5
    assert chapman_variance(5, 5, 5) == 0


def test_chao_by_hand():
    # S = 50, f1 = 12, f2 = 6, t = 5: 50 + 144/12; 50 + 12·11/14; 50 + 4/5·144/12; 50 + 4/5·12·11/14.
    found = Chao.of(50, 12, 6, 5)
    assert found.classic == 62.0
    assert found.bias_corrected == pytest.approx(50 + 12 * 11 / 14)
    assert found.incidence == pytest.approx(59.6)
    assert found.incidence_bias_corrected == pytest.approx(50 + 0.8 * 12 * 11 / 14)
    # Nothing found twice: the classic form is undefined, the corrected one is not.
    none = Chao.of(4, 4, 0, 2)
    assert (none.classic, none.incidence) == (None, None)
    assert none.incidence_bias_corrected == 4 + 0.5 * 4 * 3 / 2


def test_missing_of_a_pool_by_hand():
    grades = {"q": dict.fromkeys("abcdefgh", 1)}
    runs = [
        run_of({"q": list("abcd")}, name="one"),
        run_of({"q": list("abe")}, name="two"),
        run_of({"q": list("af")}, name="three"),
    ]
    found = missing_of(Pool.of(runs, 4, qrels=qrels_of(grades)), 8)
    # a in three systems, b in two, c d e f in one: 6 found, g h elsewhere.
    assert (found.found, found.elsewhere, found.once, found.twice) == (6, 2, 4, 1)
    # 6 + 2/3·4·3/(2·2) = 8; so at least 2 more.
    assert found.chao == pytest.approx(8.0)
    assert found.at_least == 2
    # The two that found most: 4 and 3, 2 shared: 5·4/3 − 1.
    assert found.between == ("one", "two")
    assert found.chapman == pytest.approx(17 / 3)


def test_no_estimate_where_there_is_nothing_to_go_by():
    alone = missing_of(Pool.of(RUNS[:1], 3, qrels=qrels_of(GRADES)), 3)
    assert (alone.chao, alone.at_least) == (None, None)
    assert "one system" in alone.reason
    nothing = missing_of(Pool.of(RUNS, 3, qrels=qrels_of({"q": {"a": 0}})), 0)
    assert nothing.at_least is None
    assert "no relevant document" in nothing.reason
    # Only one of two systems found anything: Chapman's needs two.
    lopsided = missing_of(Pool.of([RUNS[0], run_of({"q": ["n"]}, name="none")], 3, qrels=qrels_of(GRADES)), 4)
    assert lopsided.chapman is None
    assert lopsided.chao is not None
