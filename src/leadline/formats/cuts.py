"""Where the rows of a file are cut into blocks of whole lines, and of whole queries where these stand together."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from threading import Lock

import numpy as np

from leadline.formats.fields import NEWLINE
from leadline.formats.source import Source

WINDOW = 1 << 16
"""How much of a block's end is looked at first, to see where its last query begins."""
STEP = 1 << 20


def cuts(source: Source) -> Iterator[tuple[int, int]]:
    """The blocks of a file that is not packed, as the places where each begins and ends.

    Only the ends are looked at. A query longer than a block makes its block longer.
    """
    source.head()  # refuses what is no text
    at, size = source.begin, source.size
    with source.file.open("rb") as file:
        while at < size:
            stop = at + source.block
            cut = 0
            while stop < size and not cut:
                window = WINDOW
                while not cut and window < 4 * (stop - at):
                    low = max(at, stop - window)
                    file.seek(low)
                    found = _last_query(file.read(stop - low))
                    cut, window = found and low + found, window * 4
                stop += stop - at
            yield at, cut or size
            at = cut or size


def whole_queries(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes cut at line ends, and before the first line of the chunk's last query.

    Where the rows of a query stand together, no block then splits a query. A query longer than a chunk is held
    until another begins.
    """
    held: list[bytes | memoryview] = []
    for chunk in chunks:
        cut = _last_query(chunk)
        if cut:
            yield b"".join([*held, memoryview(chunk)[:cut]])
            held = [memoryview(chunk)[cut:]]
        else:
            held.append(chunk)
    if held:
        yield b"".join(held)


def _last_query(chunk: bytes) -> int:
    """Where the last query that begins in the chunk does so; 0 where none is seen to begin.

    The first line may be the rest of a line that another chunk began, so it is passed over.
    """
    low = chunk.find(b"\n") + 1
    end = chunk.rfind(b"\n") + 1
    high = chunk.rfind(b"\n", 0, end - 1) + 1 if end else 0
    if low == 0 or high <= low:
        return 0
    last = _query_at(chunk, high)
    if _query_at(chunk, low) == last:
        return 0
    # Bisection over line starts: the line at `high` is of the last query, the one at `low` is not.
    while True:
        middle = chunk.find(b"\n", (low + high) // 2, high) + 1
        if middle == 0 or middle >= high:
            middle = chunk.find(b"\n", low, high) + 1
            if middle == 0 or middle >= high:
                return high
        if _query_at(chunk, middle) == last:
            high = middle
        else:
            low = middle


def _query_at(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    fields = data[start : end if end >= 0 else len(data)].split(None, 1)
    return fields[0] if fields else b""


def count_lines(block: bytes) -> int:
    """How many lines a block has; the last one may lack its end."""
    ends = int(np.count_nonzero(np.frombuffer(block, np.uint8) == NEWLINE))
    return ends + (not block.endswith(b"\n"))


class LineNumbers:
    """The number of the line that begins at a place of a file, counted when it is asked for: errors need it alone."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._known = [(source.begin, 1)]
        self._lock = Lock()

    def at(self, place: int) -> int:
        """The number, from 1, of the line that begins at byte `place`; counted from the nearest place known."""
        with self._lock:
            start, line = self._known[bisect_right(self._known, (place, 1 << 62)) - 1]
            for low in range(start, place, STEP):
                piece = np.frombuffer(self.source.part(low, min(low + STEP, place)), np.uint8)
                line += int(np.count_nonzero(piece == NEWLINE))
            if place != start:
                insort(self._known, (place, line))
            return line
