"""Exact search against the plain way in 64-bit: ties, gaps, sizes around the blocks, data far from the origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ann.conftest import brute_distances, clusters
from leadline.ann import exact
from leadline.ann.distance import TOLERANCE, Space
from leadline.ann.exact import Neighbours, nearest, nearest_among
from leadline.ann.vectors import checked_vectors

METRICS = ("cosine", "ip", "l2")


def searched(documents, queries, k, metric) -> Neighbours:
    return nearest(Space.of(checked_vectors("docs", documents), metric), queries, k)


def expected(documents, queries, k, metric) -> tuple[np.ndarray, np.ndarray]:
    """Rows and distances by a full sort, equal distances by row; −1 and NaN where there is none."""
    distances = brute_distances(queries, documents, metric)
    rows = np.full((len(queries), k), -1)
    best = np.full((len(queries), k), np.nan)
    for query, row in enumerate(distances):
        order = [int(at) for at in np.lexsort((np.arange(len(row)), row)) if not np.isnan(row[at])][:k]
        rows[query, : len(order)], best[query, : len(order)] = order, row[order]
    return rows, best


@st.composite
def collections(draw):
    """Small whole numbers: many ties, many equal vectors, some of length 0; every sum is exact in 32-bit."""
    dimensions = draw(st.integers(1, 4))
    numbers = st.lists(st.integers(-2, 2), min_size=dimensions, max_size=dimensions)
    documents = draw(st.lists(numbers, min_size=1, max_size=60))
    queries = draw(st.lists(numbers, min_size=1, max_size=5))
    kind = draw(st.sampled_from([np.float32, np.float16, np.float64, np.int8]))
    return np.array(documents, kind), np.array(queries, np.float32)


@given(collections(), st.integers(1, 70), st.sampled_from(METRICS), st.integers(1, 16), st.integers(1, 3))
def test_the_same_as_a_full_sort(collection, k, metric, rows_at_once, queries_at_once):
    documents, queries = collection
    with pytest.MonkeyPatch.context() as patch:
        # Blocks of a few rows: every edge of a block is met.
        patch.setattr(exact, "DOCUMENTS_AT_ONCE", rows_at_once)
        patch.setattr(exact, "QUERIES_AT_ONCE", queries_at_once)
        found = searched(documents, queries, k, metric)
    rows, best = expected(documents, queries, k, metric)
    np.testing.assert_allclose(found.distances, best, rtol=0, atol=1e-12)
    # The cosine of equal directions differs by the noise of 64-bit: there distances are compared, not rows.
    if metric != "cosine":
        assert (found.rows == rows).all()
    distances = brute_distances(queries, documents, metric)
    for query, row in enumerate(distances):
        assert len(set(found.rows[query][found.rows[query] >= 0].tolist())) == found.found[query]
        if found.found[query] < k:
            assert found.tied[query] == 0
            continue
        near = int((row <= found.last[query] + 1e-9).sum()) - k
        assert found.tied[query] == near


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("rows", "k"), [(1023, 10), (1024, 1), (1025, 100), (5000, 10), (2000, 1500), (7, 10)]
)
def test_sizes_around_the_blocks(metric, rows, k):
    documents, queries = clusters(rows, 12, 3), clusters(530, 12, 4)
    found = searched(documents, queries, k, metric)
    wanted, best = expected(documents, queries, k, metric)
    assert (found.rows == wanted).all()
    np.testing.assert_allclose(found.distances, best, rtol=1e-12, atol=1e-12)


def test_far_from_the_origin_nothing_is_lost():
    # In 32-bit, numbers around 10,000 are 0.001 apart: squared distances of about 1 drown in squares of 10^8 unless
    # the vectors are centred first.
    documents, queries = clusters(3000, 8, 5) * 0.1 + 10_000, clusters(40, 8, 6) * 0.1 + 10_000
    found = searched(documents, queries, 10, "l2")
    wanted, best = expected(documents, queries, 10, "l2")
    np.testing.assert_allclose(found.distances, best, rtol=1e-9)
    assert (found.rows == wanted).mean() > 0.99


@pytest.mark.parametrize("metric", METRICS)
def test_very_many_equal_vectors_are_cut_without_losing_the_nearest(metric, monkeypatch):
    monkeypatch.setattr(exact, "MANY_CANDIDATES", 500)
    held, ranked = [], exact._Held.ranked

    def spied(self):
        held.append(sum(map(len, self.rows)))
        return ranked(self)

    monkeypatch.setattr(exact._Held, "ranked", spied)
    documents = np.tile(clusters(3, 6, 7), (2000, 1))
    documents[5990:] = clusters(10, 6, 9)
    queries = clusters(4, 6, 8)
    found = searched(documents, queries, 5, metric)
    _, best = expected(documents, queries, 5, metric)
    np.testing.assert_allclose(found.distances, best, rtol=1e-12, atol=1e-12)
    # 2,000 documents stand at the nearest distance of each of the four queries.
    assert held[0] < 4 * 1000
    for query in range(4):
        assert found.tied[query] >= exact.KEPT_TIES
        assert len(set(found.rows[query].tolist())) == 5


def test_near_ties_within_the_tolerance_are_kept():
    # Squared distances 1, 4, 4·(1 + 5e-7) and 4·(1 + 1e-5): with k = 2 the third is tied, the fourth is not.
    documents = np.array([[1.0], [2.0], [2 * np.sqrt(1 + 5e-7)], [2 * np.sqrt(1 + 1e-5)]])
    found = searched(documents, np.array([[0.0]]), 2, "l2")
    assert found.rows.tolist() == [[0, 1]]
    assert found.tied.tolist() == [1]
    assert TOLERANCE == 1e-6
    # The cosine: at a distance of 1.9 the tolerance is 1.9e-6, more than the error of 32-bit in two dimensions.
    angles = np.arccos([-0.9, -0.9 - 1.8e-6, -0.9 - 2.1e-6])
    documents = np.column_stack((np.cos(angles), np.sin(angles)))
    found = searched(documents, np.array([[1.0, 0.0]]), 1, "cosine")
    assert found.tied.tolist() == [1]


def test_documents_without_direction_are_nobodys_neighbour():
    documents = np.array([[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.float32)
    found = searched(documents, np.array([[1.0, 0.0]]), 3, "cosine")
    assert found.rows.tolist() == [[2, 1, -1]]
    assert found.found.tolist() == [2]
    np.testing.assert_allclose(found.distances[0, :2], [1.0, 2.0])


def test_filtered_queries_are_searched_among_what_is_let_through():
    documents, queries = clusters(200, 4, 1), clusters(3, 4, 2)
    space = Space.of(checked_vectors("docs", documents), "cosine")
    allowed = {0: np.arange(0, 200, 3), 1: np.array([7]), 2: np.zeros(0, np.int64)}
    found = nearest_among(space, queries, 4, allowed)
    distances = brute_distances(queries, documents, "cosine")
    order = sorted(allowed[0].tolist(), key=lambda row: distances[0, row])[:4]
    assert found.rows.tolist() == [order, [7, -1, -1, -1], [-1, -1, -1, -1]]


def test_a_memory_map_in_any_order_and_type(tmp_path):
    data = clusters(1500, 6, 1)
    np.save(tmp_path / "f.npy", np.asfortranarray(data))
    held = np.load(tmp_path / "f.npy", mmap_mode="r")
    assert (searched(held, data[:9], 3, "ip").rows == searched(data, data[:9], 3, "ip").rows).all()
    big = data.astype(">f4")
    assert (searched(big, data[:9], 3, "l2").rows[:, 0] == np.arange(9)).all()
