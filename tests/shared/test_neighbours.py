"""The collected cases about nearest neighbours, each through the module that computes it."""

import json

import numpy as np
import pytest

import leadline
from leadline.ann.distance import Space
from leadline.ann.exact import nearest
from leadline.ann.recall import Answers, measure_by_id, measure_recall
from leadline.ann.vectors import checked_vectors
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)

CASE = {
    case["id"]: case
    for line in (CASES / "rag.jsonl").read_text(encoding="utf-8").splitlines()
    if (case := json.loads(line))["id"].startswith("ann-")
}
DONE = {"ann-duplicates", "ann-ties", "ann-epsilon", "ann-filter-short", "ann-order"}


def test_no_case_is_forgotten():
    assert set(CASE) == DONE


def texts(ids):
    return [str(one) for one in ids]


def by_id(given):
    exact, returned = texts(given["exact_ids"]), texts(given["returned_ids"])
    return measure_by_id([exact], Answers([returned], {}), given["k"])


def at_distances(distances, returned, k):
    """Documents at these squared distances from the origin, ids from 1."""
    places = np.sqrt(np.array(distances))[:, None]
    documents = checked_vectors("documents", places, texts(range(1, len(distances) + 1)))
    queries = checked_vectors("queries", np.zeros((1, 1)))
    space = Space.of(documents, "l2")
    truth, answers = nearest(space, queries.data, k), Answers([texts(returned)], {})
    return measure_recall(space, queries, truth, answers, k, "returned", np.zeros(0, np.int64))


def test_duplicates():
    case = CASE["ann-duplicates"]
    found = by_id(case["input"])
    assert found.by_id[0] == pytest.approx(case["expected"]["recall"], abs=1e-6)
    assert found.duplicates == case["expected"]["duplicates"]


def test_ties():
    case = CASE["ann-ties"]
    given = case["input"]
    found = at_distances([distance for _, distance in given["exact"]], given["returned_ids"], given["k"])
    assert found.by_id[0] == pytest.approx(case["expected"]["id_based"], abs=1e-6)
    assert found.tie_aware is not None
    assert found.tie_aware[0] == case["expected"]["tie_aware"]


def test_epsilon():
    given = CASE["ann-epsilon"]["input"]
    assert CASE["ann-epsilon"]["expected"]["relative_1e-6"] == "miss"
    found = at_distances([given["exact_kth_distance"], given["returned_distance"]], [2], 1)
    assert found.tie_aware is not None
    assert found.tie_aware[0] == 0.0


def test_a_filter_that_leaves_few():
    case = CASE["ann-filter-short"]
    assert by_id(case["input"]).by_id[0] == case["expected"]["recall"]
    assert case["expected"]["zero_match_queries"] == "excluded and counted"
    none = measure_by_id([[], ["1"]], Answers([["1"], ["1"]], {}), 5)
    assert (none.excluded, none.by_id.tolist()) == (1, [1.0])


def test_order():
    case = CASE["ann-order"]
    qrels = {"q": dict.fromkeys(texts(case["input"]["exact_ids"]), 1)}
    values = [
        leadline.evaluate({"q": texts(one)}, qrels, "nDCG@3").mean("nDCG@3")
        for one in case["input"]["returned"]
    ]
    assert values == pytest.approx(case["expected"]["values"], abs=1e-6)
