"""Where pieces of many quotes stand in a text, found in one pass over it, whatever the number of quotes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.passages.spans import Ints

WIDTH = 8
"""Characters of a seed, a power of two; a quote shorter than this has none."""
STEP = 4
"""From one seed of a quote to the next: an edit spoils the seeds it touches, and the others still find the place."""
BLOCK = 1 << 20
"""Characters of a text that are hashed at a time."""
COMMON = 200
"""A seed that stands in more places than this says nothing of where its quote is."""

Keys = npt.NDArray[np.uint64]
FACTOR = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Hit:
    """Where a text may hold a quote: `starts` are the places where the quote would begin, by each seed that is there.

    `first` are the places of the quote's first characters: only there can it stand whole.
    """

    starts: Ints
    first: Ints


@dataclass(frozen=True)
class Seeds:
    """The seeds of some quotes: hashes of `WIDTH` characters, sorted.

    White space is one character and capitals are small here, so that a text set anew is still met.
    """

    keys: Keys
    quote: Ints
    offset: Ints
    flags: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, quotes: Sequence[str]) -> "Seeds":
        """The seeds of quotes, every `STEP` characters and at the end; those of a short quote are none."""
        keys, quote, offset = [], [], []
        for index, text in enumerate(quotes):
            if len(text) < WIDTH:
                continue
            places = np.unique(np.append(np.arange(0, len(text) - WIDTH + 1, STEP), len(text) - WIDTH))
            keys.append(_hashes(_codes(text))[places])
            quote.append(np.full(len(places), index))
            offset.append(places)
        if not keys:
            none = np.zeros(0, np.int64)
            return cls(np.zeros(0, np.uint64), none, none, np.zeros(1 << 16, bool))
        every = np.concatenate(keys)
        order = np.lexsort((every,))
        flags = np.zeros(1 << 16, bool)
        flags[every >> np.uint64(48)] = True
        return cls(every[order], np.concatenate(quote)[order], np.concatenate(offset)[order], flags)

    def hits(self, text: str) -> Mapping[int, Hit]:
        """The places in a text of each quote of which some seed is there, by the quote's index."""
        if not len(self.keys) or len(text) < WIDTH:
            return {}
        codes = _codes(text)
        places, found = [], []
        for begin in range(0, len(codes) - WIDTH + 1, BLOCK):
            keys = _hashes(codes[begin : begin + BLOCK + WIDTH - 1])
            near = np.flatnonzero(self.flags[keys >> np.uint64(48)])
            low = np.searchsorted(self.keys, keys[near], side="left")
            count = np.searchsorted(self.keys, keys[near], side="right") - low
            row = np.repeat(low, count) + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            places.append(np.repeat(near, count) + begin)
            found.append(row)
        place, row = np.concatenate(places), np.concatenate(found)
        often = np.bincount(row, minlength=len(self.keys)) > COMMON
        first = self.offset[row] == 0
        kept = first | ~often[row]
        return self._by_quote(place[kept], row[kept], first[kept])

    def _by_quote(self, place: Ints, row: Ints, first: npt.NDArray[np.bool_]) -> Mapping[int, Hit]:
        quote, starts = self.quote[row], place - self.offset[row]
        order = np.lexsort((starts, quote))
        quote, starts, first = quote[order], starts[order], first[order]
        edges = np.flatnonzero(np.diff(quote, prepend=-1, append=-1))
        return {
            int(quote[a]): Hit(starts[a:b], starts[a:b][first[a:b]])
            for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        }


SPACES = np.array([9, 10, 11, 12, 13, 0x85, 0xA0, 0x2028, 0x2029, 0x202F, 0x3000], np.uint32)


def _codes(text: str) -> npt.NDArray[np.uint32]:
    """The characters as numbers, white space as a blank and A to Z as a to z."""
    codes = np.frombuffer(text.encode("utf-32-le"), "<u4").copy()
    codes[np.isin(codes, SPACES)] = 32
    codes[(codes >= 65) & (codes <= 90)] += 32
    return codes


def _hashes(codes: npt.NDArray[np.uint32]) -> Keys:
    """A hash of each `WIDTH` characters in a row: pairs, then pairs of pairs, up to the width."""
    keys = codes.astype(np.uint64)
    width, factor = 1, FACTOR
    while width < WIDTH:
        keys = keys[:-width] * np.uint64(factor) + keys[width:]
        factor = factor * factor % (1 << 64)
        width *= 2
    keys ^= keys >> np.uint64(31)
    keys *= np.uint64(0xD6E8FEB86659FD93)
    return keys
