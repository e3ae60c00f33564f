"""Recall by id and tie-aware, against cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.ann.distance import Space
from leadline.ann.exact import nearest
from leadline.ann.fidelity import Point, cheapest, read_settings, read_sweeps
from leadline.ann.recall import Answers, Recall, measure_by_id, measure_recall, overlap, recall_of
from leadline.ann.vectors import checked_vectors
from leadline.errors import InputError, UsageError

NONE = np.zeros(0, np.int64)


def on_a_line(places, returned, k, query=0.0, metric="l2", left_out=NONE) -> Recall:
    """One query at `query`, documents at `places` on a line, ids from 1."""
    documents = checked_vectors(
        "docs", np.array(places, float)[:, None], [str(i + 1) for i in range(len(places))]
    )
    queries = checked_vectors("queries", np.array([[query]]))
    space = Space.of(documents, metric)
    truth = nearest(space, queries.data, k)
    answers = Answers([None if returned is None else list(map(str, returned))], {})
    return measure_recall(space, queries, truth, answers, k, "returned", left_out)


def test_an_id_that_is_returned_again_counts_once():
    # Exact 1, 2, 3; returned 1, 1, 1: one of three.
    found = on_a_line([1, 2, 3, 4], [1, 1, 1], 3)
    assert found.by_id.tolist() == found.tie_aware.tolist() == [pytest.approx(1 / 3)]
    assert (found.duplicates, found.short) == (2, 1)


def test_a_document_as_near_as_the_last_is_a_hit_when_ties_are_known():
    # Squared distances .01, .04, .09, .09: exact top 3 by row is 1, 2, 3; returned 4 is as near as 3.
    found = on_a_line([0.1, 0.2, 0.3, -0.3], [1, 2, 4], 3)
    assert found.by_id.tolist() == [pytest.approx(2 / 3)]
    assert found.tie_aware.tolist() == [1.0]


def test_the_tolerance_is_relative():
    # Inner product: the k-th distance is −‖q‖·x = −1000·5e-4, so the scale is ‖q‖·max‖x‖ = 1000·2 and the
    # tolerance 2e-3. The same in squared L2 from the origin: d_k = 5e-4, ‖q‖² = 0, tolerance 5e-10.
    found = on_a_line([np.sqrt(5e-4), np.sqrt(14e-4)], [2], 1)
    assert found.tie_aware.tolist() == [0.0], "14e-4 is almost three times as far as 5e-4"
    found = on_a_line([2.0, 2.0 - 1.9e-6, 1.0], [2], 1, query=1000.0, metric="ip")
    assert found.tie_aware.tolist() == [1.0], "1.9e-3 below, tolerance 2e-3"
    found = on_a_line([2.0, 2.0 - 2.1e-6, 1.0], [2], 1, query=1000.0, metric="ip")
    assert found.tie_aware.tolist() == [0.0], "2.1e-3 below"
    # Squared L2 from q = 1000: the scale is ‖q‖² = 10^6, the tolerance 1; d = 0 and .81, then 1.21.
    assert on_a_line([1000.0, 1000.9], [2], 1, query=1000.0).tie_aware.tolist() == [1.0]
    assert on_a_line([1000.0, 1001.1], [2], 1, query=1000.0).tie_aware.tolist() == [0.0]


def test_fewer_documents_than_k():
    # Two documents, k = 5: both returned is a recall of 2 ÷ min(5, 2) = 1.
    found = on_a_line([1, 2], [1, 2], 5)
    assert found.by_id.tolist() == found.tie_aware.tolist() == [1.0]
    assert found.short == 0


def test_only_the_first_k_returned_count():
    # 3 stands third in an answer for k = 2.
    assert on_a_line([1, 2, 3], [3, 2, 1], 2).by_id.tolist() == [0.5]
    assert recall_of([3, 2, 1], [1, 2], 2) == 0.5


def test_nothing_returned_counts_as_0_and_is_told():
    found = on_a_line([1, 2], None, 2)
    assert found.by_id.tolist() == [0.0]
    assert (found.unanswered, found.errors, found.excluded) == (1, 0, 0)


def test_a_query_without_neighbours_is_left_out():
    found = on_a_line([1.0], [1], 1, metric="cosine", left_out=np.array([0]))
    assert (len(found.by_id), found.excluded) == (0, 1)
    assert found.spread.mean is None
    assert set(found.spread.to_dict().values()) == {None}


def test_more_ties_returned_than_k_is_no_recall_above_1():
    assert on_a_line([1, 1, 1, 1], [3, 4], 2).tie_aware.tolist() == [1.0]


def test_unknown_ids_are_an_error():
    with pytest.raises(
        InputError, match=r"returned: 2 returned ids that no document of docs has \('7', '8'\)"
    ):
        on_a_line([1, 2], [1, 7, 8], 2)


def test_spread_and_worst_by_hand():
    # Five queries by id: 1, 1, .5, 1, 0. Mean .7, median 1, quantile .05 at place .2 of the sorted 0, .5, …: .1.
    exact = [["a", "b"]] * 5
    answers = Answers([["a", "b"], ["b", "a"], ["a", "x"], ["a", "b"], []], {})
    found = measure_by_id(exact, answers, 2)
    spread = found.spread
    assert found.by_id.tolist() == [1, 1, 0.5, 1, 0]
    assert (spread.mean, spread.median, spread.tie_aware_mean) == (pytest.approx(0.7), 1.0, None)
    assert spread.p5 == pytest.approx(0.1)
    assert spread.low_share == pytest.approx(0.4)
    assert found.worst(10) == [4, 2]
    assert found.unanswered == 1


def test_a_recall_of_nine_tenths_is_not_below_it():
    exact = [[str(i) for i in range(10)]]
    assert measure_by_id(exact, Answers([[*map(str, range(9)), "x"]], {}), 10).spread.low_share == 0.0


def test_failed_queries_are_no_zeros():
    found = measure_by_id([["a"], ["a"]], Answers([["a"], None], {1: "timeout"}), 1)
    assert found.by_id.tolist() == [1.0]
    assert found.errors == 1
    # One without a true neighbour that failed is left out, not an error.
    found = measure_by_id([["a"], []], Answers([["a"], None], {1: "timeout"}), 1)
    assert (found.errors, found.excluded) == (0, 1)


def test_order_does_not_matter_to_recall_and_does_to_rank_measures():
    # Exact 1, 2, 3; [2, 3, 9] and [9, 2, 3] have the same recall. Binary nDCG@3 by rank: ideal
    # 1 + 1/log2(3) + 1/2 = 2.13093; 1 + .63093 = 1.63093, /2.13093 = .765361; .63093 + .5 → .530721.
    import leadline

    assert recall_of([2, 3, 9], [1, 2, 3], 3) == recall_of([9, 2, 3], [1, 2, 3], 3) == pytest.approx(2 / 3)
    qrels = {"q": {"1": 1, "2": 1, "3": 1}}
    values = [
        leadline.evaluate({"q": one}, qrels, "nDCG@3").mean("nDCG@3")
        for one in (["2", "3", "9"], ["9", "2", "3"])
    ]
    assert values == [pytest.approx(0.765361, abs=1e-6), pytest.approx(0.530721, abs=1e-6)]


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30),
    st.lists(st.integers(1, 30), max_size=12),
    st.integers(1, 8),
    st.sampled_from(["l2", "ip"]),
)
def test_recall_properties(places, returned, k, metric):
    returned = [one for one in returned if one <= len(places)]
    found = on_a_line(places, returned, k, query=1.0, metric=metric)
    by_id, tied = float(found.by_id[0]), float(found.tie_aware[0])
    assert 0 <= by_id <= tied <= 1
    assert by_id == pytest.approx(recall_of(returned, truth_of(places, k, metric), k))
    whole = on_a_line(places, truth_of(places, k, metric), k, query=1.0, metric=metric)
    assert whole.by_id.tolist() == whole.tie_aware.tolist() == [1.0]


def truth_of(places, k, metric):
    key = (lambda x: (x - 1) ** 2) if metric == "l2" else (lambda x: -x)
    return sorted(range(1, len(places) + 1), key=lambda one: (key(places[one - 1]), one))[:k]


def test_overlap_by_hand():
    # q0: {a, b} and {b, c}: 1 of 2. q1: {a} and {a, b}: 1 of 2, the larger. q2: both empty: not counted. q3: failed.
    first = Answers([["a", "b"], ["a"], [], ["a"]], {})
    second = Answers([["b", "c"], ["a", "b"], None, None], {3: "timeout"})
    found = overlap(first, second, 2)
    assert found.query_rows.tolist() == [0, 1]
    assert found.shares.tolist() == [0.5, 0.5]
    assert found.first_only.tolist() == [1, 0]
    assert found.second_only.tolist() == [1, 1]
    assert found.least(1) == [0]


def point(recall, p50):
    spread = measure_by_id([["a"]] * 10, Answers([["a"]] * recall + [["x"]] * (10 - recall), {}), 1)
    return Point({"ef": recall}, spread, None if p50 is None else {"p50": p50}, Answers([], {}))


def test_the_cheapest_setting_is_the_fastest_that_reaches():
    points = [point(5, 1.0), point(9, 3.0), point(8, 2.0), point(10, 2.5), point(10, None)]
    assert cheapest(points, 0.9).settings == {"ef": 10}
    assert cheapest(points, 0.8).settings == {"ef": 8}
    assert cheapest(points[:1], 0.9) is None


def test_settings_and_sweeps():
    assert read_settings(["index=IVF64,Flat,nprobe=3", "x=0.5"]) == {
        "index": "IVF64,Flat",
        "nprobe": 3,
        "x": 0.5,
    }
    assert read_sweeps([]) == [{}]
    assert read_sweeps(["ef=1,2", "p=a"]) == [{"ef": 1, "p": "a"}, {"ef": 2, "p": "a"}]
    for bad in (["ef"], ["ef="], ["=3"], ["ef=1", "ef=2"]):
        with pytest.raises(UsageError, match="--sweep"):
            read_sweeps(bad)
    with pytest.raises(UsageError, match="--set 'ef' has not the form"):
        read_settings(["ef"])
