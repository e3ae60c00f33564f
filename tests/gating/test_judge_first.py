"""Judge first: completions against real judgments, draws, joint bounds, and the list of pairs to judge."""

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from leadline.comparison import compare
from leadline.conventions import conventions
from leadline.evaluation import evaluate
from leadline.formats.read import read_qrels, read_run
from leadline.gating.completions import Completer, TwoRankings, segments
from leadline.gating.joint import joint_bounds
from leadline.gating.judge_first import doubt
from leadline.gating.policy import Rule
from leadline.gating.rules import decide_one
from leadline.gating.to_judge import Chances, pairs_to_judge
from leadline.hits import Judged
from leadline.spelling import parse
from leadline.tables import Qrels, Run

MEASURES = [
    "nDCG@5",
    "P@5",
    "R@5",
    "RR",
    "AP@5",
    "AP",
    "Success@3",
    "RBP(p=.8)@5",
    "nDCG(gain=linear)@5",
    "nDCG(gain={0:1,1:0,2:4,3:2})@5",
    "nDCG(judged_only)@5",
    "ERR(max_grade=3)@5",
    "Bpref",
    "Rprec",
    "IPrec@1",
    "Judged@5",
]


def run_of(lists, name):
    rows = [(q, d, -float(i)) for q, docs in lists.items() for i, d in enumerate(docs)]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    return Run.checked(frame, name)


def qrels_of(grades, top=3):
    rows = [(q, d, float(g)) for q, own in grades.items() for d, g in own.items()]
    return Qrels.checked(
        pl.DataFrame(rows, schema=["query_id", "doc_id", "grade"], orient="row"), max_grade=top
    )


def two(first, second, grades, measure, top=3, **switches):
    rules = conventions(**switches)
    runs = [run_of(first, "A"), run_of(second, "B")]
    return TwoRankings.of(*runs, Judged.of(qrels_of(grades, top)), parse(measure), rules)


def world(seed, queries=30, judged=0.6, depth=8, pool=14):
    """Two random rankings of shared documents, some of them judged (0 to 3)."""
    rng = np.random.default_rng(seed)
    names = [f"d{i:02}" for i in range(pool)]
    first, second, grades = {}, {}, {}
    for q in range(queries):
        query = f"q{q:03}"
        first[query] = [names[i] for i in rng.permutation(pool)[:depth]]
        second[query] = [names[i] for i in rng.permutation(pool)[:depth]]
        known = rng.random(pool) < judged
        known[rng.integers(pool)] = True
        own = {n: int(rng.choice(4, p=[0.6, 0.2, 0.1, 0.1])) for n, k in zip(names, known, strict=True) if k}
        grades[query] = own
    return first, second, grades


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("undefined", ["skip", "zero"])
def test_a_completion_scores_as_if_it_had_been_judged(measure, undefined):
    first, second, grades = world(1)
    pair = two(first, second, grades, measure, undefined=undefined)
    free = np.arange(pair.documents.height)
    assert len(free) > 50
    drawn = np.random.default_rng(2).integers(0, 4, len(free)).astype(float)
    queries, rows = np.unique(pair.query[free], return_inverse=True)
    a, b = Completer(pair, queries, free, rows).values(drawn)
    ids = list(grades)
    more = {q: dict(own) for q, own in grades.items()}
    for (query, document), grade in zip(pair.documents.iter_rows(), drawn.tolist(), strict=True):
        more[ids[query]][document] = grade
    systems = {"A": run_of(first, "A"), "B": run_of(second, "B")}
    scores = evaluate(systems, qrels_of(more), [measure], undefined=undefined)
    for name, values in (("A", a), ("B", b)):
        wanted = scores.per_query(measure, name)
        wanted = [np.nan if wanted[ids[q]] is None else wanted[ids[q]] for q in queries]
        np.testing.assert_allclose(values, wanted, rtol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_graded_is_the_score_as_judged(measure):
    first, second, grades = world(3)
    pair = two(first, second, grades, measure)
    free = np.arange(pair.documents.height)
    queries, rows = np.unique(pair.query[free], return_inverse=True)
    a, b = Completer(pair, queries, free, rows).values(np.full(len(free), -1.0))
    np.testing.assert_allclose(b - a, pair.differences()[queries])


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG(judged_only)@5"])
def test_differences_are_those_of_compare(measure):
    first, second, grades = world(4)
    second.pop("q003")
    grades["q005"] = {"d01": 0}
    first["zz"] = ["d1"]
    pair = two(first, second, grades, measure)
    scores = evaluate({"A": run_of(first, "A"), "B": run_of(second, "B")}, qrels_of(grades), [measure])
    d = pair.differences()
    assert np.nanmean(d) == pytest.approx(compare(scores, "A")[0].difference)
    assert np.isnan(d).sum() == compare(scores, "A")[0].n_left_out == 1
    crossing = two(first, second, grades, measure, queries="intersection")
    assert np.isnan(crossing.differences()).sum() == 2


def test_a_pooled_unjudged_document_is_to_be_judged():
    pair = two({"q": ["a", "b"]}, {"q": ["b", "c"]}, {"q": {"a": 1, "b": -1}}, "P@2")
    assert pair.documents["doc_id"].to_list() == ["b", "c"]
    assert pair.ranks.tolist() == [[2, 0], [1, 2]]
    a, b = Completer(pair, np.array([0]), np.array([0, 1]), np.array([0, 0])).values(np.array([1.0, 0.0]))
    # a and b relevant: A finds both of its two, B one of its two.
    assert (a.tolist(), b.tolist()) == ([1.0], [0.5])


@pytest.mark.parametrize("measure", ["nDCG@3", "P@3", "R@3", "RR@3", "Success@2", "DCG@3", "NCG@3", "AP@3"])
@pytest.mark.parametrize("seed", range(4))
def test_joint_bounds_against_every_completion(measure, seed):
    first, second, grades = world(seed, queries=12, judged=0.6, depth=3, pool=6)
    pair = two(first, second, grades, measure)
    low, high = joint_bounds(pair, np.arange(12))
    for query in range(12):
        free = np.flatnonzero(pair.query == query)
        ways = np.array(list(product(range(4), repeat=len(free))), float)
        rows = np.repeat(np.arange(len(ways)), len(free))
        completer = Completer(pair, np.full(len(ways), query), np.tile(free, len(ways)), rows)
        a, b = completer.values(ways.ravel())
        d = (b - a)[~np.isnan(b - a)]
        if not len(d):
            assert np.isnan(low[query])
        elif measure.startswith("AP"):
            # Attained, and not always the outermost.
            assert d.min() - 1e-12 <= low[query] <= high[query] <= d.max() + 1e-12
        else:
            assert (low[query], high[query]) == pytest.approx((d.min(), d.max()), abs=1e-12)


def test_joint_bounds_with_many_documents_of_both():
    # Four of six documents each, mostly shared and unjudged: what counts is the gap between the two ranks.
    first, second, grades = world(9, queries=10, judged=0.2, depth=4, pool=6)
    pair = two(first, second, grades, "nDCG@4")
    low, high = joint_bounds(pair, np.arange(10))
    for query in range(10):
        free = np.flatnonzero(pair.query == query)
        ways = np.array(list(product(range(4), repeat=len(free))), float)
        rows = np.repeat(np.arange(len(ways)), len(free))
        a, b = Completer(pair, np.full(len(ways), query), np.tile(free, len(ways)), rows).values(ways.ravel())
        assert (low[query], high[query]) == pytest.approx((np.nanmin(b - a), np.nanmax(b - a)), abs=1e-12)


def test_joint_bounds_know_that_a_shared_document_has_one_grade():
    # Both return x and y in the same order: whatever their grades, the difference is 0.
    pair = two({"q": ["x", "y"]}, {"q": ["x", "y"]}, {"q": {"z": 1}}, "nDCG@2")
    assert [one.tolist() for one in joint_bounds(pair, np.array([0]))] == [[0.0], [0.0]]


@pytest.mark.parametrize(
    ("gain", "low", "high"), [("linear", -0.47060948, 0.11731968), ("exp2", -0.4426, 0.1564)]
)
def test_joint_bounds_of_a_shared_unjudged_document(gain, low, high):
    # u and v are unjudged, u of both: 3² assignments of grades 0 to 2. The case has nDCG(A) − nDCG(B).
    lists = {"q": ["u", "a", "v"]}, {"q": ["a", "u", "b"]}
    pair = two(*lists, {"q": {"a": 2, "b": 1, "z": 0}}, f"nDCG(gain={gain})@3", top=2)
    least, most = (one.item() for one in joint_bounds(pair, np.array([0])))
    assert (-most, -least) == pytest.approx((low, high), abs=1e-8 if gain == "linear" else 5e-5)
    # The bounds of each alone, low − high and high − low, would be wider: −.5204 and .3354 with the linear gain.
    assert most < 0.5203
    assert least > -0.3354


def test_segments():
    assert segments(np.array([3, 0, 9]), np.array([2, 0, 1])).tolist() == [3, 4, 9]


def lesson(shared_data, judgments, name, **more):
    rules = conventions()
    qrels = read_qrels(shared_data(f"lesson/{judgments}.qrels"))
    paths = [shared_data(f"lesson/{one}.run.gz") for one in ("A", name)]
    runs = [read_run(path, name=one) for path, one in zip(paths, ("A", name), strict=True)]
    pair = TwoRankings.of(*runs, Judged.of(qrels), parse("nDCG@10"), rules)
    comparison = compare(evaluate(paths, qrels, ["nDCG@10"]), "A")[0]
    return comparison, doubt(pair, Rule("nDCG@10"), comparison=comparison, **more)


def test_the_lesson_a_winner_that_nobody_judged(shared_data):
    comparison, found = lesson(shared_data, "pooled-from-A", "C")
    # As judged C is worse, by .751 − .688, and the interval lies below −.02.
    assert comparison.difference == pytest.approx(0.688 - 0.751, abs=0.001)
    assert decide_one(comparison).outcome == "fail"
    assert (found.judge_first, found.method, found.judged_baseline) == (True, "draws", 1.0)
    assert found.judged_candidate == pytest.approx(0.24, abs=0.005)
    assert sum(found.outcomes.values()) == 200
    assert found.outcomes["pass"] > 100
    verdict = decide_one(comparison, doubt=found)
    assert verdict.outcome == "judge-first"
    assert verdict.sentence == f"undecided: judge {found.to_settle} pairs first"
    # Everything unjudged is C's: 300 queries, 2,266 documents; the list holds them all, each once.
    assert len(found.pairs) == found.unjudged == 2266
    assert len({(one.query_id, one.doc_id) for one in found.pairs}) == 2266
    assert 50 < found.to_settle < 200
    weights = [round(abs(one.move) * one.likely, 12) for one in found.pairs]
    assert weights == sorted(weights, reverse=True)
    assert set(found.pairs[0].ranks) == {"C"}
    assert found.pairs[0].move > 0


def test_what_stands_beside_the_verdict(shared_data):
    _, found = lesson(shared_data, "pooled-from-A", "C", pairs=False)
    paths = [shared_data(f"lesson/{one}.run.gz") for one in "AC"]
    qrels = shared_data("lesson/pooled-from-A.qrels")
    scores = evaluate(paths, qrels, ["nDCG(judged_only)@10"])
    name = "nDCG(judged_only)@10"
    assert found.condensed == pytest.approx(scores.mean(name, "C") - scores.mean(name, "A"))
    # A's top ten are all judged: the least that judging can do is to find nothing, and C stays as it is or falls.
    assert found.bound_low <= 0.688 - 0.751 + 0.001
    assert found.bound_high > 0.05


def test_the_lesson_after_judging(shared_data):
    comparison, found = lesson(shared_data, "after-judging-C", "C")
    assert not found.judge_first
    assert found.unjudged == 0
    verdict = decide_one(comparison, doubt=found)
    assert (verdict.outcome, verdict.effect, verdict.sentence) == ("pass", "better", "pass: better")


def test_judging_the_first_pairs_settles_the_lesson(shared_data):
    # The list is judged from the top, twice as far as is likely to settle it, with the grades that judging C brought.
    _, found = lesson(shared_data, "pooled-from-A", "C")
    before, after = (
        read_qrels(shared_data(f"lesson/{q}.qrels")) for q in ("pooled-from-A", "after-judging-C")
    )
    rows = [(one.query_id, one.doc_id) for one in found.pairs[: 2 * found.to_settle]]
    first = pl.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    new = after.frame.join(first, on=["query_id", "doc_id"], how="semi")
    more = Qrels.checked(pl.concat([before.frame, new.select(before.frame.columns)]))
    paths = [shared_data(f"lesson/{one}.run.gz") for one in "AC"]
    runs = [read_run(path, name=one) for path, one in zip(paths, "AC", strict=True)]
    pair = TwoRankings.of(*runs, Judged.of(more), parse("nDCG@10"), conventions())
    comparison = compare(evaluate(paths, more, ["nDCG@10"]), "A")[0]
    verdict = decide_one(comparison, doubt=doubt(pair, Rule("nDCG@10"), comparison=comparison))
    assert (verdict.outcome, verdict.effect) == ("pass", "better")


def test_the_lesson_b_stays_ahead_whatever_is_judged(shared_data):
    comparison, found = lesson(shared_data, "pooled-from-A", "B")
    assert not found.judge_first
    assert (found.other, found.pairs) == (0.0, ())
    assert decide_one(comparison, doubt=found).sentence == "pass: better"


def test_the_seed_decides_the_draws(shared_data):
    one, again, other = (
        lesson(shared_data, "pooled-from-A", "C", seed=seed, pairs=False)[1] for seed in (1, 1, 2)
    )
    assert one == again
    assert one.outcomes != other.outcomes
    assert other.judge_first


def big(seed, judged):
    return world(seed, queries=60, judged=judged, depth=10, pool=40)


def test_the_same_run_twice_is_never_in_doubt():
    first, _, grades = big(1, 0.5)
    found = doubt(two(first, first, grades, "nDCG@10"), Rule("nDCG@10"))
    assert (found.judge_first, found.method, found.other) == (False, "draws", 0.0)
    assert found.outcomes == {"pass": 200, "too-few-queries": 0, "fail": 0}


def test_few_queries_are_too_few_in_every_draw():
    first, second, grades = world(2, queries=19, judged=0.5, depth=10, pool=40)
    found = doubt(two(first, second, grades, "nDCG@10"), Rule("nDCG@10", 0.001))
    assert (found.judge_first, found.outcomes["too-few-queries"]) == (False, 200)


def test_few_judged_documents_let_the_bounds_decide():
    first, second, _ = big(3, 0.5)
    # Two judged documents in each of 40 queries: no more than 80, fewer than 100, in the two top tens.
    first = dict(list(first.items())[:40])
    grades = {q: {docs[0]: 1, docs[1]: 0} for q, docs in first.items()}
    found = doubt(two(first, second, grades, "nDCG@10"), Rule("nDCG@10"), pairs=False)
    assert (found.method, found.other, found.judge_first) == ("joint bounds", None, True)
    assert "judged: the bounds decide, and they reach another verdict" in found.reason


def test_without_a_document_judged_not_relevant_the_bounds_decide():
    first, second, _ = big(4, 0.5)
    grades = {q: dict.fromkeys(docs[:4], 1) for q, docs in first.items()}
    found = doubt(two(first, second, grades, "P@10"), Rule("P@10"), pairs=False)
    assert (found.method, found.judge_first) == ("joint bounds", True)
    assert "no document of the two top k's judged not relevant" in found.reason
    # The two differ at ranks that the measure does not read: nothing can change.
    same = {q: [*docs[:5], *reversed(docs[5:])] for q, docs in first.items()}
    found = doubt(
        two(first, same, {q: dict.fromkeys(docs[:4], 1) for q, docs in first.items()}, "P@5"), Rule("P@5")
    )
    assert (found.method, found.judge_first) == ("joint bounds", False)
    assert "they agree" in found.reason


def test_only_the_slice_is_looked_at():
    first, second, grades = big(5, 0.5)
    ids = list(grades)
    for query in ids[:30]:
        second[query] = first[query]
    pair = two(first, second, grades, "nDCG@10")
    part = doubt(pair, Rule("nDCG@10"), queries=ids[:30], pairs=False)
    whole = doubt(pair, Rule("nDCG@10"), pairs=False)
    assert part.outcomes["pass"] == 200
    assert part.unjudged < whole.unjudged
    assert whole.judge_first


def test_the_draws_are_read_as_the_comparison_is():
    # A comparison whose ends are ten times as wide (clusters, say) leaves every draw undecided.
    first, second, grades = big(6, 0.9)
    pair = two(first, second, grades, "nDCG@10")
    d = pair.differences()
    scores = evaluate({"A": run_of(first, "A"), "B": run_of(second, "B")}, qrels_of(grades), ["nDCG@10"])
    c = compare(scores, "A")[0]
    wide = replace(c, one_sided_low=c.difference - 3.0, one_sided_high=c.difference + 3.0)
    found = doubt(pair, Rule("nDCG@10"), comparison=wide, pairs=False)
    assert c.n == (~np.isnan(d)).sum()
    assert found.outcomes == {"pass": 0, "too-few-queries": 200, "fail": 0}


def test_chances_by_rank_band():
    # Ranks 1–3 hold grades 1, 0, 2 in A and the same in B; ranks 4–6 hold 0, 0; below nothing is judged.
    docs = [f"d{i}" for i in range(10)]
    grades = {"q": {"d0": 1, "d1": 0, "d2": 2, "d3": 0, "d4": 0}}
    pair = two({"q": docs}, {"q": [*docs[:5], *reversed(docs[5:])]}, grades, "nDCG@10")
    chances = Chances.of(pair, np.array([True]))
    # A document that is drawn as relevant gets a relevant grade.
    assert sorted(chances.pools[0].tolist()) == [1, 1, 2, 2]
    assert chances.pools[1].tolist() == []
    # An empty band takes what is known of all: ten rows, four of them relevant.
    assert len(chances.pools[2]) == 4
    # (4 + 1)/(6 + 2), (0 + 1)/(4 + 2), (4 + 1)/(10 + 2).
    np.testing.assert_allclose(chances.likely, [5 / 8, 1 / 6, 5 / 12])
    assert chances.grade.tolist() == [1, 1, 1]
    # d5 stands at rank 6 of A and at 10 of B: its better rank puts it into the second band.
    assert dict(zip(pair.documents["doc_id"], chances.band.tolist(), strict=True))["d5"] == 1


def test_a_draw_is_relevant_as_often_as_phi_says():
    # One system returns everything: the mean of uniform φ is 1/2, all judged documents are relevant but one in 101.
    first = {f"q{i}": [f"a{j}" for j in range(10)] for i in range(20)}
    second = {f"q{i}": [f"b{j}" for j in range(10)] for i in range(20)}
    grades = {q: {**dict.fromkeys(docs[:5], 1), "z": 0} for q, docs in first.items()}
    pair = two(first, second, grades, "P@10")
    chances = Chances.of(pair, np.ones(20, bool))
    rng = np.random.default_rng(7)
    of_b = np.flatnonzero(pair.ranks[1] > 0)
    means = [chances.draw(of_b, rng).mean() for _ in range(2000)]
    # A uniform mean over 2,000 draws: standard error .289/√2000 = .0065.
    assert np.mean(means) == pytest.approx(0.5, abs=0.02)
    assert (np.min(means), np.max(means)) == pytest.approx((0, 1), abs=0.02)


def test_a_document_of_both_takes_the_larger_phi():
    both = {f"q{i}": [f"a{j}" for j in range(10)] for i in range(20)}
    grades = {q: dict.fromkeys(docs[:5], 1) for q, docs in both.items()}
    pair = two(both, both, grades, "P@10")
    chances = Chances.of(pair, np.ones(20, bool))
    rng = np.random.default_rng(8)
    means = [chances.draw(np.arange(100), rng).mean() for _ in range(2000)]
    # The mean of the larger of two uniform numbers is 2/3.
    assert np.mean(means) == pytest.approx(2 / 3, abs=0.02)


def test_a_pair_may_bring_its_query_into_the_mean():
    # 24 queries with difference 0 and one without a relevant document: z makes that one 1, so the mean 1/25.
    first = {f"q{i:02}": ["a", "b"] for i in range(24)} | {"u": ["x", "y"]}
    second = {f"q{i:02}": ["a", "b"] for i in range(24)} | {"u": ["z", "y"]}
    grades = {q: {"a": 1, "b": 0} for q in first} | {"u": {"x": 0, "y": 0}}
    pair = two(first, second, grades, "RR@2")
    assert np.isnan(pair.differences()).sum() == 1
    _, listed = pairs_to_judge(pair, np.array([0]), pair.differences(), Chances.of(pair, np.ones(25, bool)))
    assert (listed[0].doc_id, listed[0].move) == ("z", pytest.approx(1 / 25))


def test_the_order_of_pairs_by_hand():
    # P@2 over 25 queries that are alike: each pair moves the mean difference by ½/25 = .02, up for B's own
    # document and down for A's own; the shared one moves nothing and stands last.
    first = {f"q{i:02}": ["s", "x", "y"] for i in range(25)}
    second = {f"q{i:02}": ["s", "z", "y"] for i in range(25)}
    grades = {q: {"y": 1, "n": 0} for q in first}
    found = doubt(two(first, second, grades, "P@2"), Rule("P@2", 0.05))
    assert (found.method, found.judge_first) == ("joint bounds", True)
    assert [one.doc_id for one in found.pairs[:4]] == ["x", "z", "x", "z"]
    assert [one.move for one in found.pairs[:2]] == pytest.approx([-0.02, 0.02])
    assert {one.doc_id for one in found.pairs[50:]} == {"s"}
    assert [one.move for one in found.pairs[50:]] == pytest.approx([0.0] * 25)
    row = found.pairs[1].to_dict()
    assert (row["query_id"], row["doc_id"], row["systems"], row["ranks"]) == ("q00", "z", ["B"], {"B": 2})
    # No judged document stands in the top 2: Laplace's rule says (0 + 1)/(0 + 2).
    assert row["why"] == "rank 2 of B; relevant, it moves the mean difference by +.02; likely .5"
