"""Ranges of text, against sets of characters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.passages.spans import as_spans, below, covered, intersection, length, overlapping, union

RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda r: (r[0], r[0] + r[1])), max_size=12
)


def characters(ranges: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in ranges for place in range(start, end)}


@given(RANGES)
def test_a_union_holds_each_character_once(ranges: list[tuple[int, int]]) -> None:
    found = union(as_spans(ranges))
    assert characters(found.tolist()) == characters(ranges)
    assert length(found) == len(characters(ranges))
    # Sorted, not empty, and not touching.
    assert (found[:, 1] > found[:, 0]).all() and (found[1:, 0] > found[:-1, 1]).all()


@given(RANGES, RANGES)
def test_intersection_and_cover(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    a, b = union(as_spans(one)), union(as_spans(other))
    both = intersection(a, b)
    assert characters(both.tolist()) == characters(one) & characters(other)
    assert both.tolist() == union(both).tolist()
    assert covered(as_spans(one), b).tolist() == [len(characters([r]) & characters(other)) for r in one]


@given(RANGES, st.lists(st.integers(0, 60), max_size=10))
def test_below(ranges: list[tuple[int, int]], positions: list[int]) -> None:
    found = below(union(as_spans(ranges)), np.array(positions, np.int64))
    assert found.tolist() == [sum(one < place for one in characters(ranges)) for place in positions]


@given(RANGES, RANGES)
def test_overlapping_finds_every_pair(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    mine, theirs = overlapping(as_spans(one), as_spans(other))
    pairs = {
        (i, j) for i, a in enumerate(one) for j, b in enumerate(other) if characters([a]) & characters([b])
    }
    assert set(zip(mine.tolist(), theirs.tolist(), strict=True)) == pairs and len(mine) == len(pairs)


@pytest.mark.parametrize("ranges", [[], [(5, 5)]], ids=["none", "an empty one"])
def test_nothing(ranges: list[tuple[int, int]]) -> None:
    found = union(as_spans(ranges))
    assert found.shape == (0, 2) and length(found) == 0
    assert covered(as_spans([(0, 9)]), found).tolist() == [0]
    assert intersection(found, as_spans([(0, 9)])).shape == (0, 2)
