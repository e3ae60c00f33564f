"""The pool and its orders: each pair once, what is judged left out, and move-to-front by hand."""

import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.conventions import Conventions
from leadline.errors import NotComparableError, RowsError
from leadline.formats.objects import qrels_of, run_of
from leadline.judging.orders import by_depth, by_fusion, front_walk, in_turns, move_to_front
from leadline.judging.pool import Pool, PoolPair
from leadline.tables import Qrels, Run


def runs_of(lists: dict[str, dict[str, list[str]]]) -> list[Run]:
    return [run_of(run, name=name) for name, run in lists.items()]


TWO = runs_of({"one": {"q": ["a", "b", "c"], "r": ["x"]}, "two": {"q": ["c", "d", "a"], "s": ["z"]}})


def named(pool: Pool, order: list[int]) -> list[str]:
    return ["/".join(pool.keys[at]) for at in order]


def test_each_pair_stands_once_with_who_returned_it():
    pool = Pool.of(TWO, 2)
    # Top 2: one has a b (q), x (r); two has c d (q), z (s).
    assert set(pool.keys) == {("q", "a"), ("q", "b"), ("q", "c"), ("q", "d"), ("r", "x"), ("s", "z")}
    deep = Pool.of(TWO, 3)
    ranks = dict(zip(deep.keys, deep.ranks, strict=True))
    assert ranks["q", "a"] == {"one": 1, "two": 3}
    assert ranks["q", "c"] == {"one": 3, "two": 1}
    assert ranks["s", "z"] == {"two": 1}
    assert deep.systems == ("one", "two")


def test_ties_are_broken_as_everywhere():
    # Equal scores: the greater document id stands first, so the top 1 is "b".
    run = Run.checked(
        pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 1.0]}), "tied"
    )
    assert Pool.of([run], 1).keys == [("q", "b")]


def test_what_is_judged_is_left_out_and_a_mark_is_no_judgment():
    judged = qrels_of({"q": {"a": 0, "b": 2, "c": -1}})
    pool = Pool.of(TWO, 3, qrels=judged)
    assert sorted(named(pool, by_depth(pool))) == ["q/c", "q/d", "r/x", "s/z"]
    grades = dict(zip(pool.keys, pool.pairs["grade"].to_list(), strict=True))
    assert grades["q", "b"] == 2.0
    assert grades["r", "x"] is None


def test_queries_that_are_judged_and_not_answered_are_no_pairs():
    pool = Pool.of(TWO, 1, qrels=qrels_of({"other": {"a": 1}}))
    assert {query for query, _ in pool.keys} == {"q", "r", "s"}


def test_several_subtopics_of_a_pair_are_one_judgment():
    frame = pl.DataFrame(
        {"query_id": ["q", "q"], "doc_id": ["a", "a"], "grade": [0.0, 2.0], "subtopic": ["1", "2"]}
    )
    pool = Pool.of(TWO, 1, qrels=Qrels.checked(frame))
    assert dict(zip(pool.keys, pool.pairs["grade"].to_list(), strict=True))["q", "a"] == 2.0


def test_runs_without_documents_are_nothing_to_pool():
    for qrels in (None, qrels_of({"q": {"a": 1}})):
        with pytest.raises(NotComparableError, match="nothing to pool"):
            Pool.of([run_of({"q": []})], 10, qrels=qrels)


def test_a_document_twice_is_refused_as_everywhere():
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"], "score": [1.0, 2.0]})
    run = Run.checked(frame)
    with pytest.raises(RowsError, match="same document"):
        Pool.of([run], 10)
    assert Pool.of([run], 10, Conventions(duplicates="first")).keys == [("q", "a")]


def test_depth_order_is_by_best_rank_then_query():
    pool = Pool.of(TWO, 3)
    # Rank 1: a and c of q, x of r, z of s; rank 2: b, d.
    assert named(pool, by_depth(pool)) == ["q/a", "q/c", "r/x", "s/z", "q/b", "q/d"]


def test_fusion_order_by_hand():
    pool = Pool.of(TWO, 3)
    # a and c: 1/61 + 1/63 each; x and z: 1/61; b and d: 1/62. Of equal ones the query decides, then the document.
    assert named(pool, by_fusion(pool)) == ["q/a", "q/c", "r/x", "s/z", "q/b", "q/d"]
    # Two second places, 2/62 = .0323, stand above a first one, 1/61 = .0164.
    runs = runs_of({"one": {"q": ["a", "m"]}, "two": {"q": ["b", "m"]}})
    assert named(Pool.of(runs, 2), by_fusion(Pool.of(runs, 2))) == ["q/m", "q/a", "q/b"]


def test_move_to_front_by_hand():
    # A: 1 2 3 4, B: 5 6 7, depth 4; relevant are 5, 6 and 3.
    # A has 4, B 4. 1 of A is not relevant: A 3, B is next. 5 and 6 are relevant, 7 is not: B 3. A again (the other
    # one): 2 is not: A 2. B is at its end, so A: 3 is relevant, 4 is not.
    walk = front_walk([[1, 2, 3, 4], [5, 6, 7]], 4, {5, 6, 3}.__contains__)
    assert list(walk) == [1, 5, 6, 7, 2, 3, 4]


def test_move_to_front_prefers_what_found_most():
    # Three systems; the second finds relevant documents only. After one miss each of A and C, B is never left.
    lists = [[1, 2, 3], [10, 11, 12, 13], [20, 21, 22]]
    walk = list(front_walk(lists, 5, lambda at: 10 <= at < 20))
    assert walk[:5] == [1, 10, 11, 12, 13]
    # Then the other one of the highest priority: C at 5, A at 4.
    assert walk[5:] == [20, 2, 21, 3, 22]


def test_a_document_of_two_systems_is_asked_for_once():
    assert list(front_walk([[1, 2], [1, 3]], 2, lambda at: False)) == [1, 3, 2]


def test_move_to_front_continues_from_what_is_judged():
    runs = runs_of({"A": {"q": ["a1", "a2", "a3"]}, "B": {"q": ["b1", "b2", "b3"]}})
    plain = Pool.of(runs, 3)
    # Nothing judged: each is taken as not relevant, so the two take turns.
    assert named(plain, move_to_front(plain)) == ["q/a1", "q/b1", "q/a2", "q/b2", "q/a3", "q/b3"]
    # a1 is not relevant, b1 is: B is stayed with.
    pool = Pool.of(runs, 3, qrels=qrels_of({"q": {"a1": 0, "b1": 1}}))
    assert named(pool, move_to_front(pool)) == ["q/b2", "q/a2", "q/b3", "q/a3"]
    # With grade 2 needed, b1 is a miss as well: turns.
    assert named(pool, move_to_front(pool, rel=2)) == ["q/a2", "q/b2", "q/a3", "q/b3"]


def test_the_first_of_each_query_is_what_the_rule_asks_for_next():
    """Judging the first pair of the list and listing again is the adaptive walk itself."""
    rng = random.Random(4)
    docs = [f"d{i:02}" for i in range(30)]
    runs = runs_of({name: {"q": rng.sample(docs, 12)} for name in "ABC"})
    truth = {doc: rng.random() < 0.4 for doc in docs}
    pool = Pool.of(runs, 12)
    place = {doc: at for at, (_, doc) in enumerate(pool.keys)}
    lists = [[place[doc] for doc in run.frame["doc_id"].to_list()] for run in runs]
    adaptive = [pool.keys[at][1] for at in front_walk(lists, 12, lambda at: truth[pool.keys[at][1]])]
    judged: dict[str, int] = {}
    asked = []
    while len(judged) < len(place):
        now = Pool.of(runs, 12, qrels=qrels_of({"q": judged}) if judged else None)
        first = now.keys[move_to_front(now)[0]][1]
        asked.append(first)
        judged[first] = int(truth[first])
    assert asked == adaptive


def test_queries_take_turns():
    assert in_turns([[1, 2, 3], [], [4, 5]]) == [1, 4, 2, 5, 3]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_every_order_lists_every_unjudged_pair_once(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(9)]
    queries = [f"q{i}" for i in range(rng.randint(1, 4))]
    runs = [
        run_of({q: rng.sample(docs, rng.randint(0, 9)) for q in queries} | {"q": ["d0"]}, name=f"s{i}")
        for i in range(rng.randint(1, 4))
    ]
    depth = rng.randint(1, 9)
    grades = {q: {d: rng.choice((-1, 0, 1, 2)) for d in rng.sample(docs, 4)} for q in queries}
    pool = Pool.of(runs, depth, qrels=qrels_of(grades))
    wanted = {
        (q, d)
        for run in runs
        for q, part in run.frame.group_by("query_id")
        for q, d in [(q[0], d) for d in part["doc_id"].to_list()[:depth]]
        if grades.get(q, {}).get(d, -1) < 0
    }
    for order in (by_depth, by_fusion, move_to_front):
        listed = [pool.keys[at] for at in order(pool)]
        assert len(listed) == len(set(listed))
        assert set(listed) == wanted, order


def test_a_pair_says_only_what_is_known_of_it():
    pair = PoolPair("q", "d", {"a": 1}, move=0.0, likely=0.5, why="so", probability=0.3, stratum="1-10")
    assert list(pair.to_dict()) == [
        "query_id", "doc_id", "ranks", "move", "likely", "why", "systems", "probability", "stratum",
    ]  # fmt: skip
    # A move of 0 is known.
    assert pair.to_dict()["move"] == 0.0
