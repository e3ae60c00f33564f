"""Texts that are like a quote but not the same: where they begin and end, and how alike they are (RapidFuzz)."""

import numpy as np

from leadline.passages.seeds import Hit
from leadline.passages.tables import EvidenceRow

MOST = 3
"""How many places of one text are looked at."""
LEAST_SLACK = 48
AROUND = 60
"""How many characters before and after a quote are its surroundings."""
BLOCK = 4
"""Characters that must agree in a row to say where a text begins or ends: single letters agree by chance."""


def nearest(quote: str, text: str, hit: Hit | None) -> list[tuple[int, int, float]]:
    """The ranges of a text most like a quote, the likest first: (start, end, similarity from 0 to 1).

    Only places that share a seed with the quote are looked at. Similarity is 1 − insertions and deletions ÷ the
    length of both.
    """
    if hit is None or not len(hit.starts):
        return []
    slack = max(LEAST_SLACK, len(quote) // 3)
    found: dict[tuple[int, int], float] = {}
    for begin in _likeliest(hit, slack):
        low = max(0, begin - slack)
        one = _aligned(quote, text[low : begin + len(quote) + 2 * slack])
        if one is not None:
            found[low + one[0], low + one[1]] = one[2]
    return sorted(((*place, alike) for place, alike in found.items()), key=lambda one: -one[2])


def _likeliest(hit: Hit, slack: int) -> list[int]:
    """Where the quote may begin: the places that most seeds agree on, within the slack."""
    starts = hit.starts
    until = np.searchsorted(starts, starts + slack, side="right")
    votes = until - np.arange(len(starts))
    chosen: list[int] = []
    for at in np.lexsort((starts, -votes)).tolist():
        begin = int(starts[at])
        if all(abs(begin - other) > slack for other in chosen):
            chosen.append(begin)
        if len(chosen) == MOST:
            break
    return chosen


def _aligned(quote: str, window: str) -> tuple[int, int, float] | None:
    """The part of a window that a quote became, by the cheapest edits; None where nothing agrees."""
    from rapidfuzz import fuzz
    from rapidfuzz.distance import Indel

    blocks = [
        (op.src_start, op.src_end, op.dest_start, op.dest_end)
        for op in Indel.opcodes(quote, window)
        if op.tag == "equal" and op.src_end - op.src_start >= BLOCK
    ]
    if not blocks:
        return None
    # What was written anew at an end is taken to be as long as what stood there.
    start = max(0, blocks[0][2] - blocks[0][0])
    end = min(len(window), blocks[-1][3] + len(quote) - blocks[-1][1])
    if start >= end:
        return None
    return start, end, fuzz.ratio(quote, window[start:end]) / 100


def surroundings_alike(row: EvidenceRow, old: str, start: int, new: str) -> float:
    """How alike the text around a quote is in the old document and at a place of the new one, from 0 to 2."""
    from rapidfuzz import fuzz

    end = start + row.end - row.start
    before = fuzz.ratio(old[max(0, row.start - AROUND) : row.start], new[max(0, start - AROUND) : start])
    after = fuzz.ratio(old[row.end : row.end + AROUND], new[end : end + AROUND])
    return float(before + after) / 100
