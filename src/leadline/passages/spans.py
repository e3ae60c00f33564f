"""Ranges of text as arrays: unions, lengths, intersections, and how much of a range others cover.

A range is (start, end): positions from 0, the end excluded. Ranges are an integer array of shape (ranges, 2). A *union*
is such an array whose ranges are sorted, do not touch and are not empty; `union` makes one, and the functions that ask
for one say so. Each function takes O(n log n) steps and has no loop over ranges.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Spans = npt.NDArray[np.int64]
"""Shape (ranges, 2): start and end of each."""
Ints = npt.NDArray[np.int64]


def as_spans(ranges: Iterable[Any]) -> Spans:
    """Ranges from pairs of whole numbers, in the order given.

    >>> as_spans([(0, 3), (5, 9)]).tolist(), as_spans([]).shape
    ([[0, 3], [5, 9]], (0, 2))
    """
    return np.array(list(ranges), np.int64).reshape(-1, 2)


def union(spans: Spans) -> Spans:
    """The characters that stand in any of the ranges, as sorted ranges that do not touch; empty ones vanish.

    >>> union(as_spans([(5, 15), (0, 10), (20, 20), (15, 16)])).tolist()
    [[0, 16]]
    """
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not len(spans):
        return spans.reshape(-1, 2)
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate(([True], spans[1:, 0] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return np.column_stack((spans[first, 0], reach[last]))


def length(spans: Spans) -> int:
    """How many characters a union holds (of ranges that overlap, take the union first).

    >>> length(union(as_spans([(0, 10), (5, 15)])))
    15
    """
    return int((spans[:, 1] - spans[:, 0]).sum())


def below(spans: Spans, positions: Ints) -> Ints:
    """For each position, how many characters of a union stand before it; shape of `positions`.

    >>> below(as_spans([(2, 4), (6, 9)]), np.array([0, 3, 6, 99])).tolist()
    [0, 1, 2, 5]
    """
    if not len(spans):
        return np.zeros(len(positions), np.int64)
    before = np.concatenate(([0], np.cumsum(spans[:, 1] - spans[:, 0])))
    place = np.searchsorted(spans[:, 0], positions, side="right")
    inside = np.minimum(positions, spans[np.maximum(place, 1) - 1, 1]) - spans[np.maximum(place, 1) - 1, 0]
    found: Ints = np.where(place > 0, before[np.maximum(place, 1) - 1] + inside, 0)
    return found


def covered(spans: Spans, by: Spans) -> Ints:
    """For each range, how many of its characters the union `by` covers; shape (ranges,).

    >>> covered(as_spans([(0, 10), (5, 15), (30, 40)]), as_spans([(8, 12), (14, 20)])).tolist()
    [2, 5, 0]
    """
    return below(by, spans[:, 1]) - below(by, spans[:, 0])


def intersection(one: Spans, other: Spans) -> Spans:
    """The characters that stand in both of two unions, as a union.

    >>> intersection(as_spans([(0, 10), (20, 30)]), as_spans([(5, 25)])).tolist()
    [[5, 10], [20, 25]]
    """
    if not len(one) or not len(other):
        return as_spans([])
    # A character of both is a place that two ranges hold: walk over all ends, and count how many are open.
    ends = np.concatenate((one[:, 0], other[:, 0], one[:, 1], other[:, 1]))
    step = np.repeat(np.array([1, -1]), [len(one) + len(other)] * 2)
    order = np.lexsort((step, ends))
    ends, depth = ends[order], np.cumsum(step[order])
    start = np.flatnonzero(depth == 2)
    return np.column_stack((ends[start], ends[start + 1])).reshape(-1, 2)


def overlapping(spans: Spans, others: Spans) -> tuple[Ints, Ints]:
    """Every pair of a range and another one that share a character: positions in `spans` and in `others`.

    The work is that of sorting, plus the pairs, plus for each range the others that begin within the longest other
    before it: ranges of like length, as chunks are, cost no more than their pairs.

    >>> [found.tolist() for found in overlapping(as_spans([(0, 10), (50, 60)]), as_spans([(8, 20), (0, 3), (60, 70)]))]
    [[0, 0], [1, 0]]
    """
    if not len(spans) or not len(others):
        none = np.zeros(0, np.int64)
        return none, none
    order = np.lexsort((others[:, 0],))
    starts, ends = others[order, 0], others[order, 1]
    # An other range that reaches into a range begins before its end, and not before the first whose reach gets there.
    first = np.searchsorted(np.maximum.accumulate(ends), spans[:, 0], side="right")
    last = np.searchsorted(starts, spans[:, 1], side="left")
    count = np.maximum(last - first, 0)
    mine = np.repeat(np.arange(len(spans)), count)
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    shared = np.minimum(spans[mine, 1], ends[place]) > np.maximum(spans[mine, 0], starts[place])
    return mine[shared], order[place[shared]]
