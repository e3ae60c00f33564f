"""Expected values over ties against every order that the ties allow."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.catalogue import TABLE
from measures.support import (
    Grades,
    Rankings,
    collections,
    differences,
    laid_out,
    ordered,
    table,
    texts_of,
    value,
)

CLOSED = [definition for definition in TABLE if definition.expected is not None]
COMBINED = [
    "P(rel=2,judged_only)@2", "R(rel=2)@2", "RR(rel=2)@2", "RR(judged_only)@2", "AP(rel=2,denominator=min)@2",
    "AP(judged_only)@2", "AP(rel=2,denominator=retrieved)", "nDCG(gain=linear)@2", "nDCG(gain={1:5,2:1})@2",
    "NCG(gain=linear,judged_only)@2", "RBP(p=0.5,gain=linear,max_grade=4)@2", "RBP(p=0.3,rel=2)",
    "DCG(judged_only)@2",
]  # fmt: skip


def is_open(text: str) -> bool:
    """True for the one form without a closed form: what a cutoff finds is in its denominator."""
    measure = leadline.parse(text)
    return measure.name == "AP" and measure.cutoff is not None and measure.value("denominator") == "retrieved"


EVERY = [*(text for definition in CLOSED for text in texts_of(definition)), *COMBINED]
MEASURES = [text for text in EVERY if not is_open(text)]


def orders(scores: Mapping[str, float]) -> Iterator[list[str]]:
    """Every order of the documents that the scores allow."""
    groups = [
        [d for d in scores if scores[d] == score] for score in sorted(set(scores.values()), reverse=True)
    ]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [doc for group in choice for doc in group]


def over_all_orders(run: Rankings, qrels: Grades, measures: list[str]) -> dict[str, dict[str, float]]:
    """The mean over every order of each query's ties, each order scored as a list of its own."""
    lists = {f"{q} {i}": order for q, scores in run.items() for i, order in enumerate(orders(scores))}
    judged = {name: qrels[name.split()[0]] for name in lists}
    rows = table(lists, judged, measures)
    by_query: dict[str, list[dict[str, float]]] = {}
    for name, row in rows.items():
        by_query.setdefault(name.split()[0], []).append(row)
    return {q: {m: float(np.mean([row[m] for row in own])) for m in measures} for q, own in by_query.items()}


def test_the_measures_that_have_a_closed_form():
    named = {"P", "R", "RR", "AP", "DCG", "nDCG", "RBP"}
    assert named <= {definition.name for definition in CLOSED}
    assert {leadline.parse(text).name for text in MEASURES} == {definition.name for definition in CLOSED}


@settings(max_examples=60)
@given(collections(documents=5, queries=3, unanswered=False))
def test_the_expected_value_is_the_mean_over_every_order(made):
    run, qrels = made
    expected = over_all_orders(run, qrels, MEASURES)
    assert differences(table(run, qrels, MEASURES, ties="expected"), expected) == []


@settings(max_examples=12)
@given(collections(documents=7, queries=1, unanswered=False), st.sampled_from([1.0, 2.0]))
def test_one_long_tie(made, score):
    run, qrels = made
    run = {"q0": {**dict.fromkeys(run["q0"], 1.0), "first": score}}
    short = ["P@2", "R@3", "RR", "RR@3", "AP", "AP@4", "nDCG", "nDCG@3", "RBP", "NCG@2", "DCG@3"]
    # At most 8! orders would be too many here: the first document may stand apart.
    if len(run["q0"]) > 6:
        run["q0"] = dict(list(run["q0"].items())[-6:])
    assert differences(table(run, qrels, short, ties="expected"), over_all_orders(run, qrels, short)) == []


@settings(max_examples=30)
@given(collections(documents=5, queries=2, unanswered=False))
def test_where_there_is_no_closed_form_the_value_is_still_right_or_that_of_the_usual_order(made):
    # With a cutoff, AP over those retrieved has the number found in its denominator.
    run, qrels = made
    asked = [text for text in EVERY if is_open(text)]
    got = table(run, qrels, asked, ties="expected")
    usual = differences(got, table(run, qrels, asked))
    assert usual == [] or differences(got, over_all_orders(run, qrels, asked)) == []


def test_measures_without_a_closed_form_say_so():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    scores = leadline.evaluate(run, qrels, ["Success@1", "ERR", "RR"], ties="expected")
    assert scores.per_query("RR")["q"] == 0.75
    assert scores.per_query("Success@1")["q"] == 0.0
    (said,) = [w for w in scores.warnings if "no closed form" in w]
    assert "Success@1" in said
    assert "RR" not in said.replace("ERR", "")


@settings(max_examples=30)
@given(collections(documents=5, queries=2, unanswered=False), st.sampled_from([1, 2, 3]))
def test_a_run_is_cut_before_its_ties_are_averaged(made, depth):
    # depth cuts the run first, in the usual order; the ties are those of what is left.
    run, qrels = made
    cut = {q: {d: docs[d] for d in ordered(docs)[:depth]} for q, docs in run.items()}
    got = table(run, qrels, MEASURES, ties="expected", depth=depth)
    assert differences(got, table(cut, qrels, MEASURES, ties="expected")) == []


@settings(max_examples=20)
@given(collections(ties=False))
def test_without_ties_nothing_changes(made):
    assert differences(table(*made, MEASURES, ties="expected"), table(*made, MEASURES)) == []


def test_the_mean_is_over_the_expected_values():
    run = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0}}
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    # (1 + 1/2)/2, 1 and 0 (no answer).
    assert leadline.evaluate(run, qrels, ["RR"], ties="expected").mean("RR") == pytest.approx(1.75 / 3)


def test_ties_across_a_cutoff_are_counted_and_said():
    run = {
        "a": {"x": 2.0, "y": 1.0, "z": 1.0},
        "b": {"x": 1.0, "y": 0.5},
        "c": {"x": 1.0, "y": 1.0, "z": 1.0},
    }
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 0}}
    scores = leadline.evaluate(run, qrels, ["P@1", "P@2", "P@3"])
    assert scores.account["systems"]["run"]["ties_across_cutoffs"] == {"1": 1, "2": 2, "3": 0}
    assert any("equal scores on both sides of a cutoff" in w for w in scores.warnings)


def test_known_values():
    # Two tied documents, one relevant: RR (1 + 1/2)/2; with a third above them (1/2 + 1/3)/2.
    assert value("RR", {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, ties="expected") == 0.75
    got = value("RR", {"q": {"a": 1.0, "b": 1.0, "c": 2.0}}, {"q": {"a": 1}}, ties="expected")
    assert got == pytest.approx((1 / 2 + 1 / 3) / 2)
    # Twelve tied, one relevant: each rank has chance 1/12; P@10 is 1/12.
    run = {"q": {f"p{i:02}": 0.5 for i in range(12)}}
    got = value("RR@10", run, {"q": {"p01": 1}}, ties="expected")
    assert got == pytest.approx(sum(1 / r for r in range(1, 11)) / 12)
    assert value("P@10", run, {"q": {"p01": 1}}, ties="expected") == pytest.approx(1 / 12)
    # Documents by id when it is not asked for: p01 is the last but one of twelve.
    assert value("RR", run, {"q": {"p01": 1}}) == pytest.approx(1 / 11)
    assert value("RR", *laid_out("0 1"), ties="expected") == 0.5
