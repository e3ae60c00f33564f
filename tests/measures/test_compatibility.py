"""Compat by hand, against every ideal ranking there is, and where other programs differ."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from measures.support import Grades, Rankings, collections, ordered, same, value

HALF = [
    # All with p = .5: the weights of depth 1, 2, 3, 4 are 1, .5, .25, .125.
    # Equal grades: the ideal is b, a as the ranking has it, not a, b.
    ("ties take the order of the ranking", "b a", {"a": 1, "b": 1}, {}, 1.0),
    # Grades decide first: ideal b, a. Overlap 0/1, 2/2 over 1/1, 2/2.
    ("the better grade stands first", "a b", {"a": 1, "b": 2}, {}, 0.5 / 1.5),
    # Ideal a, b, depth 2: 1/1, 1/2.
    ("a short list", "a", {"a": 1, "b": 1}, {}, 1.25 / 1.5),
    # The ideal ends before the ranking: a alone. Overlap 0, 1/2, 1/3; with itself 1, 1/2, 1/3.
    ("a short ideal", "x a y", {"a": 1, "x": 0}, {}, (0.25 + 0.25 / 3) / (1 + 0.25 + 0.25 / 3)),
    # The same not normalised: over 1 + .5 + .25.
    ("not normalised", "x a y", {"a": 1, "x": 0}, {"normalize": "false"}, (0.25 + 0.25 / 3) / 1.75),
    # The same to depth 2.
    ("a depth above the end", "x a y", {"a": 1}, {"depth": "2"}, 0.25 / 1.25),
    # To depth 4, beyond both lists, it goes on: the overlap of 1 stays.
    ("a depth below the end", "x a y", {"a": 1}, {"depth": "4"},
     (0.25 + 0.25 / 3 + 0.125 / 4) / (1 + 0.25 + 0.25 / 3 + 0.125 / 4)),
    # Without end: Σ .5^(d−1)/d = 2·ln 2, of which 1 is missed at depth 1.
    ("a depth without end", "x a y", {"a": 1}, {"depth": "1000"}, (2 * math.log(2) - 1) / (2 * math.log(2))),
    # Deeper than depth 1 nothing is seen: c stands first in the ideal.
    ("a depth within the ideal", "c a", {"a": 1, "b": 1, "c": 2}, {"depth": "1"}, 1.0),
    ("a depth within the ideal, missed", "a c", {"a": 1, "b": 1, "c": 2}, {"depth": "1"}, 0.0),
    # Unjudged documents take ranks like those judged 0: 0, 1/2; with itself 1, 1/2.
    ("an unjudged document", "x a", {"a": 1}, {}, 0.25 / 1.25),
    ("the condensed list", "x a", {"a": 1}, {"judged_only": "true"}, 1.0),
    # In the pool and not judged: no part of the ideal, and a rank that is taken.
    ("a negative grade", "x a", {"a": 1, "x": -2}, {}, 0.25 / 1.25),
    # Ideal c, then b before a, as b was returned: 0, 1/2, 1/3 over 1, 1, 1.
    ("what was not returned stands last", "b", {"a": 1, "b": 1, "c": 2}, {}, (0.25 + 0.25 / 3) / 1.75),
    ("a fraction is a grade too", "a b", {"a": 0.25, "b": 0.5}, {}, 0.5 / 1.5),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ranking", "grades", "settings_of", "expected"),
    [case[1:] for case in HALF],
    ids=[case[0] for case in HALF],
)
def test_by_hand(ranking, grades, settings_of, expected):
    inner = ",".join(f"{key}={said}" for key, said in {"p": "0.5", **settings_of}.items())
    measure = str(leadline.parse(f"Compat({inner})"))
    assert value(measure, {"q": ranking.split()}, {"q": grades}) == pytest.approx(expected, abs=1e-12)


def test_nothing_relevant_and_nothing_returned():
    scores = leadline.evaluate({"a": ["x"]}, {"a": {"x": 0}, "b": {"x": 1}}, ["Compat"])
    assert scores.per_query("Compat") == {"a": None, "b": 0.0}


def overlap(ranking: list[str], ideal: list[str], p: float, depth: int) -> float:
    """The overlap as it is defined, depth by depth."""
    return sum(p ** (d - 1) * len(set(ranking[:d]) & set(ideal[:d])) / d for d in range(1, depth + 1))


def nearest(scores: dict[str, float], grades: dict[str, int], p: float, depth: int | None) -> float:
    """The greatest overlap with any ranking whose grades do not rise, over the overlap of an ideal with itself."""
    ranking = ordered(scores)
    levels = sorted({g for g in grades.values() if g > 0}, reverse=True)
    if not levels:
        return math.nan
    orders = [itertools.permutations([d for d, g in grades.items() if g == level]) for level in levels]
    ideals = [[d for part in parts for d in part] for parts in itertools.product(*orders)]
    ends = depth or max(len(ranking), len(ideals[0]))
    return max(overlap(ranking, one, p, ends) for one in ideals) / overlap(ideals[0], ideals[0], p, ends)


@settings(max_examples=80)
@given(collections(documents=6, queries=3), st.sampled_from([0.5, 0.95]), st.sampled_from([None, 1, 3, 20]))
def test_no_ideal_ranking_is_nearer(made, p, depth):
    run, qrels = made
    measure = str(leadline.parse(f"Compat(p={p}{'' if depth is None else f',depth={depth}'})"))
    found = leadline.evaluate(run, qrels, [measure]).per_query(measure)
    for query, scores in run.items():
        got = math.nan if found[query] is None else found[query]
        assert same(got, nearest(scores, qrels[query], p, depth))


def ir_values(oracle, measure: str, run: Rankings, qrels: Grades) -> dict[str, float]:
    return {row.query_id: row.value for row in oracle.iter_calc([oracle.parse_measure(measure)], qrels, run)}


def test_where_ir_measures_differs(needs):
    oracle = needs("ir_measures")
    # Where scores are positive and differ it is the same; to the end of the longer list, as here.
    run, qrels = {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, {"q": {"a": 1, "b": 2}}
    for measure in ("Compat(p=0.5)", "Compat(p=0.5,normalize=False)"):
        ours = value(str(leadline.parse(measure)), run, qrels)
        assert ours == pytest.approx(ir_values(oracle, measure, run, qrels)["q"], abs=1e-12)
    # Equal scores: ascending ids there, x before a here.
    tied = {"q": {"a": 1.0, "x": 1.0}}
    assert ir_values(oracle, "Compat(p=0.5)", tied, {"q": {"a": 1}})["q"] == 1.0
    assert value("Compat(p=0.5)", tied, {"q": {"a": 1}}) == pytest.approx(0.25 / 1.25)
    # A negative score: what was not returned counts as score 0 there, and stands first in the ideal: b, a.
    negative = {"q": {"a": -1.0}}
    found = ir_values(oracle, "Compat(p=0.5)", negative, {"q": {"a": 1, "b": 1}})["q"]
    assert found == pytest.approx(0.25 / 1.5)
    assert value("Compat(p=0.5)", negative, {"q": {"a": 1, "b": 1}}) == pytest.approx(1.25 / 1.5)
