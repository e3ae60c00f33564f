"""Two ways to cut a docstring into chunks: whole paragraphs, and windows of a fixed length that overlap."""

import re
from collections.abc import Callable, Iterator, Mapping

Range = tuple[int, int]
"""Characters of a text: the first, and the one after the last."""

ROOM = 400
"""Characters of a chunk: paragraphs are joined while they fit, windows are as long."""

SHARED = 100
"""Characters that a window shares with the one before it."""

_PARAGRAPH = re.compile(r"\S(?:.*?\S)??(?=\s*\n[ \t]*\n|\s*\Z)", re.DOTALL)


def paragraph_ranges(text: str, room: int = ROOM) -> list[Range]:
    """Whole paragraphs, each joined to the one before it while both fit into `room`; a longer one stays whole.

    Blank lines part paragraphs; the blank lines between two chunks belong to neither.

    >>> text = "f(x)\\n\\nDouble x.\\n\\nA number."
    >>> [text[start:end] for start, end in paragraph_ranges(text, 16)]
    ['f(x)\\n\\nDouble x.', 'A number.']
    """
    found: list[Range] = []
    for match in _PARAGRAPH.finditer(text):
        start, end = match.span()
        if found and end - found[-1][0] <= room:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def window_ranges(text: str, size: int = ROOM, shared: int = SHARED) -> list[Range]:
    """Windows of `size` characters, wherever they cut; each begins `shared` before the end of the one before it.

    The last window ends with the text, and is mostly shorter. A window of blanks alone is left out.

    Raises
    ------
    ValueError: windows that share all they have would never move on.

    >>> window_ranges("0123456789", size=6, shared=2)
    [(0, 6), (4, 10)]
    """
    if not 0 <= shared < size:
        raise ValueError(f"a window of {size} characters cannot share {shared}")
    starts = range(0, max(1, len(text) - shared), size - shared)
    ranges = ((start, min(start + size, len(text))) for start in starts)
    return [(start, end) for start, end in ranges if text[start:end].strip()]


CHUNKINGS: Mapping[str, Callable[[str], list[Range]]] = {
    "paragraphs": paragraph_ranges,
    "windows": window_ranges,
}
"""The two chunkings by name."""


def cut_all(documents: Mapping[str, str], chunking: str) -> Iterator[tuple[str, str, Range]]:
    """Every document's chunks by one of `CHUNKINGS`: the chunk's id (document, `#`, number from 1), its document, its range.

    >>> list(cut_all({"m.f": "f(x)"}, "windows"))
    [('m.f#1', 'm.f', (0, 4))]
    """
    for document_id, text in documents.items():
        for number, found in enumerate(CHUNKINGS[chunking](text), start=1):
            yield f"{document_id}#{number}", document_id, found
