"""Bounds against every grade that the unjudged documents could have."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.catalogue import TABLE
from leadline.measures.bounds import mean_bounds
from leadline.scores import Summary
from leadline.tables import Run
from measures.support import Grades, Rankings, collections, laid_out, ordered, stratified, table, value

SHARP = [
    "nDCG@1", "nDCG@2", "nDCG@3", "nDCG(gain=linear)@2", "nDCG(gain={1:2,2:3,3:9})@3", "NCG@1", "NCG@3",
    "NCG(gain=linear)@2", "AP", "AP@2", "AP@3", "AP(rel=2)", "AP(rel=2)@2", "AP(denominator=min)@2",
    "AP(denominator=retrieved)", "R@1", "R@3", "R(rel=2)@2", "P@1", "P@3", "P@9", "P(rel=2)@2",
    "Success@1", "Success@3", "Success(rel=2)@2", "DCG", "DCG@2", "DCG(gain=linear)@3", "RBP", "RBP@2",
    "RBP(p=0.5,rel=2)", "RBP(p=0.5,gain=linear)@3", "RBP(gain=exp2,max_grade=3)", "Rprec", "Rprec(rel=2)",
    "IPrec@0", "IPrec@0.4", "IPrec@1", "11pt", "SetP", "SetR", "SetF", "F@2", "F(beta=2)@3",
    "F(beta=0.5)", "RR", "RR@1", "RR@2", "RR(rel=2)", "ERR", "ERR@2", "ERR(max_grade=3)@3",
]  # fmt: skip
OUTER = [
    "nDCG", "nDCG@25", "nDCG(gain=linear)", "NCG@25",
    "Bpref", "infAP", "Compat", "nDCG(judged_only)@3", "P(judged_only)@3",
]  # fmt: skip
NONE = [
    "Judged@3",
    "RBPResidual",
    "NumRel",
    "xinfAP",
    "infNDCG",
    "alpha_nDCG@3",
    "StRecall@3",
    "ERR_IA@3",
]
CUTOFFS = (1, 2, 3, None)


def seen_depth(measure: str) -> int | None:
    """How deep a measure looks; None for the whole list."""
    parsed = leadline.parse(measure)
    whole = parsed.cutoff is None or parsed.name == "IPrec" or parsed.cutoff > 8
    return None if whole else int(parsed.cutoff)


def completions(
    ranking: list[str], grades: dict[str, int], depth: int | None, top: int, drop: bool = True
) -> list[dict[str, int]]:
    """The judgments with every grade that the unjudged documents of the top could have."""
    free = [d for d in ranking[:depth] if grades.get(d, -1) < 0]
    known = {d: g for d, g in grades.items() if d not in free}
    return [
        {**known, **dict(zip(free, chosen, strict=True))}
        for chosen in itertools.product(range(top + 1), repeat=len(free))
    ]


def every_value(
    ranking: list[str], grades: dict[str, int], measures: list[str], top: int
) -> dict[str, np.ndarray]:
    """Every value that a measure could have."""
    out = {}
    for depth in CUTOFFS:
        asked = [m for m in measures if seen_depth(m) == depth]
        judged = {
            f"{i}": one or {"nothing": 0} for i, one in enumerate(completions(ranking, grades, depth, top))
        }
        if asked:
            rows = table(dict.fromkeys(judged, ranking), judged, asked, max_grade=top)
            out |= {m: np.array([row[m] for row in rows.values()]) for m in asked}
    return out


def bounds_of(
    ranking: list[str], grades: dict[str, int], measures: list[str], **options
) -> dict[str, Summary]:
    scores = leadline.evaluate({"q": ranking}, {"q": grades}, measures, bounds=True, **options)
    return {m: scores.summary(m) for m in measures}


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[str], dict[str, int], int]:
    """A ranking, judgments, and the top of the scale; few enough documents unjudged to try all grades."""
    run, qrels = draw(
        collections(grades=(-1, 0, 0, 1, 1, 2), documents=7, queries=1, ties=False, unanswered=False)
    )
    ranking, grades = ordered(run["q0"]), dict(qrels["q0"])
    top = draw(st.sampled_from([2, 2, 3]))
    free = [d for d in ranking if grades.get(d, -1) < 0]
    for doc in free[{2: 4, 3: 3}[top] :]:
        grades[doc] = draw(st.sampled_from([0, 1, 2]))
    return ranking, grades, top


def wrong_bounds(ranking: list[str], grades: dict[str, int], top: int, measures: list[str]) -> list[tuple]:
    """Where the bounds are not the least and greatest of all values (or not around them, if outer)."""
    found = []
    # A measure that names its own top of the scale is asked on that scale only.
    measures = [m for m in measures if "max_grade" not in m or f"max_grade={top}" in m]
    stated = bounds_of(ranking, grades, measures, max_grade=top)
    for measure, values in every_value(ranking, grades, measures, top).items():
        row = stated[measure]
        if np.isnan(values).all():
            if row.bound_low is not None:
                found.append((measure, row.bound_low, row.bound_high, "undefined"))
            continue
        low, high = np.nanmin(values), np.nanmax(values)
        if row.bound_kind == "sharp":
            right = abs(row.bound_low - low) < 1e-9 and abs(row.bound_high - high) < 1e-9
        else:
            right = (
                row.bound_kind == "outer" and row.bound_low <= low + 1e-9 and row.bound_high >= high - 1e-9
            )
        if not right:
            found.append((measure, row.bound_kind, row.bound_low, low, row.bound_high, high))
    return found


@settings(max_examples=70)
@given(lists())
def test_bounds_are_the_least_and_greatest_of_all_values(made):
    ranking, grades, top = made
    # Without a relevant document there is more to it: see the next test.
    if not any(g >= 2 for g in grades.values()):
        grades = {**grades, "not returned": 2}
    assert wrong_bounds(ranking, grades, top, [*SHARP, *OUTER]) == []


@settings(max_examples=70)
@given(lists())
def test_bounds_of_a_query_that_only_more_judging_could_define(made):
    # Only the completions with a relevant document count, so the least one has just one, at the lowest rank.
    ranking, grades, top = made
    grades = {d: min(g, 0) for d, g in grades.items()}
    assert wrong_bounds(ranking, grades, top, [*SHARP, *OUTER]) == []


def test_a_gain_that_does_not_grow_with_the_grade():
    # Grade 1 is worth 9 and grade 2 is worth 1: the best grade for an unjudged document is not the top one.
    ranking, grades = ["x", "b", "y"], {"b": 1, "c": 2}
    measures = [f"{m}(gain={{1:9,2:1}})@{k}" for m in ("nDCG", "DCG", "NCG") for k in (1, 2, 3)]
    assert wrong_bounds(ranking, grades, 2, measures) == []


@settings(max_examples=30)
@given(lists())
def test_the_value_lies_within_its_bounds(made):
    ranking, grades, top = made
    for measure, row in bounds_of(ranking, grades, [*SHARP, *OUTER], max_grade=top).items():
        if row.mean is not None:
            assert row.bound_low - 1e-9 <= row.mean <= row.bound_high + 1e-9, measure


@settings(max_examples=30)
@given(collections(documents=5, queries=1, unanswered=False))
def test_the_expected_value_over_ties_lies_within_its_bounds(made):
    asked = ["nDCG@3", "AP", "R@2", "P@2", "RR", "DCG@3", "RBP", "NCG@2"]
    scores = leadline.evaluate(*made, asked, bounds=True, ties="expected")
    for row in scores.summaries:
        if row.mean is not None and row.bound_low is not None:
            assert row.bound_low - 1e-9 <= row.mean <= row.bound_high + 1e-9, row.measure


def test_which_bounds_are_sharp_outer_or_not_computed():
    run, qrels = laid_out("1 . 0", "2")
    # Estimates from a sample ask for strata.
    scores = leadline.evaluate(run, stratified(qrels), [*SHARP, *OUTER, *NONE], bounds=True)
    kinds = {row.measure: row.bound_kind for row in scores.summaries}
    assert {m for m, kind in kinds.items() if kind == "sharp"} == set(SHARP)
    assert {m for m, kind in kinds.items() if kind == "outer"} == set(OUTER)
    assert {m for m, kind in kinds.items() if kind is None} == set(NONE)
    # Everything ranked is in one of the lists; GMAP's mean is no mean of values.
    assert {leadline.parse(m).name for m in kinds} >= {
        d.name for d in TABLE if d.ranked and d.aggregate == "mean"
    }


def test_without_unjudged_documents_the_bounds_are_the_value():
    run, qrels = laid_out("1 0 2", "1")
    for measure, row in bounds_of(run["q"], qrels["q"], SHARP).items():
        assert row.bound_low == pytest.approx(row.mean), measure
        assert row.bound_high == pytest.approx(row.mean), measure


def test_all_unjudged_relevant_is_not_the_upper_bound_of_ndcg():
    # Grade 2 first, one unjudged, grade 1 not returned; scale to 2. If the unjudged one has grade 2 the
    # list is
    # ideal but for grade 1: at k = 2 the value is 1. With 0 it is 3 ÷ (3 + 1/log2(3)).
    row = bounds_of(["a", "x"], {"a": 2, "m": 1}, ["nDCG@2"])["nDCG@2"]
    assert row.bound_low == pytest.approx(3 / (3 + 1 / math.log2(3)))
    assert row.bound_high == 1.0
    # One of grade 1 first, one unjudged below it, scale to 3: grade 1 for it is best, (1, 1); grade 3 would
    # give
    # (1 + 7/log2(3)) ÷ (7 + 1/log2(3)) = .711.
    row = bounds_of(["a", "x"], {"a": 1}, ["nDCG@2"], max_grade=3)["nDCG@2"]
    assert row.bound_high == 1.0
    assert row.bound_low == pytest.approx((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))


def test_rbp_and_its_residual():
    # The seen part of the residual is what the bounds leave open.
    run, qrels = laid_out("1 . 0 .", "")
    row = bounds_of(run["q"], qrels["q"], ["RBP(p=0.5)"])["RBP(p=0.5)"]
    open_ = 0.5 * (0.5 + 0.125)
    assert (row.bound_low, row.bound_high) == (0.5, pytest.approx(0.5 + open_))
    assert value("RBPResidual(p=0.5)", run, qrels) == pytest.approx(open_ + 0.5**4)


# --------------------------------------------------------------------------------------------- means

MEANS = ["nDCG@2", "AP@2", "R@2", "P@2", "RBP@2", "Success@1", "DCG@2"]


def every_mean(values: dict[str, list[float]], undefined: str) -> list[float]:
    """Every mean of one measure over queries, each with every value it could have (NaN: undefined)."""
    means = []
    for chosen in itertools.product(*(sorted(set(v), key=str) for v in values.values())):
        kept = (
            [0.0 if math.isnan(v) else v for v in chosen]
            if undefined == "zero"
            else [v for v in chosen if v == v]
        )
        if kept:
            means.append(sum(kept) / len(kept))
    return means


def wrong_means(run: Rankings, qrels: Grades, undefined: str, average: str) -> list[tuple]:
    options = {"undefined": undefined, "average": average, "max_grade": 2}
    scores = leadline.evaluate(run, qrels, MEANS, bounds=True, **options)
    counted = [q for q in qrels if q in run or average == "judged"]
    possible = {q: every_value(ordered(run.get(q, {})), qrels[q], MEANS, 2) for q in counted if q in run}
    for query in set(counted) - set(run):
        relevant = any(g >= 1 for g in qrels[query].values())
        possible[query] = {
            m: np.array([0.0 if relevant or m[0] in "PD" or m[:3] == "RBP" else math.nan]) for m in MEANS
        }
    found = []
    for measure in MEANS:
        means = every_mean({q: possible[q][measure].tolist() for q in counted}, undefined)
        row = scores.summary(measure)
        ends = (min(means), max(means)) if means else (None, None)
        if (row.bound_low, row.bound_high) != (
            None if ends[0] is None else pytest.approx(ends[0]),
            ends[1] and pytest.approx(ends[1]),
        ):
            found.append((measure, row.bound_low, row.bound_high, *ends))
    return found


@settings(max_examples=60)
@given(
    collections(grades=(-1, 0, 1, 2), documents=4, queries=3),
    st.sampled_from(["skip", "zero"]),
    st.sampled_from(["judged", "intersection"]),
)
def test_bounds_of_the_mean_over_every_completion(made, undefined, average):
    assert wrong_means(*made, undefined, average) == []


@settings(max_examples=60)
@given(collections(grades=(0, 1, 2), documents=4, queries=3))
def test_bounds_of_the_mean_where_every_query_has_a_relevant_document(made):
    run, qrels = made
    assert (
        wrong_means(run, {q: {**docs, "not returned": 1} for q, docs in qrels.items()}, "skip", "judged")
        == []
    )


@pytest.mark.parametrize("profile", ["leadline-1", "trec_eval-9", "ir_measures"])
def test_the_mean_lies_within_its_bounds(profile):
    # One query with nothing relevant and an unjudged document, one without, one judged through.
    run = {"a": ["x", "y"], "b": ["z"], "c": ["z"]}
    qrels = {"a": {"y": 0}, "b": {"z": 1}, "c": {"z": 0}}
    for row in leadline.evaluate(run, qrels, MEANS, profile=profile, bounds=True).summaries:
        assert row.bound_low - 1e-12 <= row.mean <= row.bound_high + 1e-12, row


def test_a_failed_row_is_in_neither_bound():
    # The mean is over a alone, so its bounds are too; what the error could do is error_low and error_high.
    frame = pl.DataFrame({"query_id": ["a"], "doc_id": ["x"], "score": [1.0]})
    run = Run.checked(frame, failed={"b": "timed out"})
    for row in leadline.evaluate(
        run, {"a": {"x": 1}, "b": {"x": 1}}, ["RR", "P@1", "nDCG@5"], bounds=True
    ).summaries:
        assert (row.mean, row.bound_low, row.bound_high) == (1.0, 1.0, 1.0), row.measure
        assert (row.error_low, row.error_high) == (0.5, 1.0)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=5
    ),
)
def test_mean_bounds_over_every_choice(rows):
    low = np.array([math.nan if gone else min(a, b) for a, b, _, gone in rows])
    high = np.array([math.nan if gone else max(a, b) for a, b, _, gone in rows])
    may = np.array([drop for *_, drop, _ in rows])
    kept = [i for i in range(len(rows)) if low[i] == low[i]]
    means = []
    for choice in itertools.product(*([low[i], high[i]] + ([math.nan] if may[i] else []) for i in kept)):
        used = [v for v in choice if v == v]
        means += [sum(used) / len(used)] if used else []
    expected = (min(means), max(means)) if means else (None, None)
    assert mean_bounds(low, high, may) == (expected if not means else pytest.approx(expected))
