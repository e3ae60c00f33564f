"""Which chunk each entry of a context is: by its id, its exact text, its text but for white space; never by likeness."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leadline.passages.contexts import Item
from leadline.passages.tables import Chunks, Documents

ENDS = ("…", "...")
"""What pipelines put behind a text that they cut."""
SHORTEST_CUT = 20
"""A beginning of a chunk is taken for the chunk only from so many characters on."""


def normal(text: str) -> str:
    """A text in Unicode's composed form with single blanks, as texts are compared.

    >>> normal(" two  words\\n")
    'two words'
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


@dataclass(frozen=True)
class Piece:
    """One entry of a context as it was matched.

    Attributes
    ----------
    chunk: the chunk's row; −1 where it is none. name: the id, where one is known.
    start, end: which characters of the chunk were sent. text: what was sent, where it is known.
    how: id, text, spaces (text but for white space), beginning (a chunk cut short), altered (the id of a chunk, and
        another text), ambiguous (a text of several chunks), unmatched.
    """

    chunk: int
    name: str | None
    start: int
    end: int
    text: str | None
    how: str

    @property
    def cut(self) -> bool:
        """Whether only a part of the chunk was sent."""
        return self.how == "beginning"


@dataclass(frozen=True)
class Known:
    """The chunks by id and by text."""

    chunks: Chunks
    documents: Documents | None = None

    @cached_property
    def texts(self) -> list[str | None]:
        """The text of each chunk: its own, or what its document reads there; None where neither is at hand."""
        found: list[str | None] = list(self.chunks.texts) or [None] * len(self.chunks)
        if self.documents is None:
            return found
        ranges = zip(found, self.chunks.document_ids, self.chunks.spans.tolist(), strict=True)
        return [
            self.documents[name][start:end] if text is None and name in self.documents else text
            for text, name, (start, end) in ranges
        ]

    @cached_property
    def exact(self) -> Mapping[str, list[int]]:
        """The chunks by their text."""
        return _by(self.texts)

    @cached_property
    def normals(self) -> list[str | None]:
        """The text of each chunk as texts are compared."""
        return [None if text is None else normal(text) for text in self.texts]

    @cached_property
    def spaced(self) -> Mapping[str, list[int]]:
        """The chunks by their text but for white space."""
        return _by(self.normals)

    def length(self, chunk: int) -> int:
        """How many characters a chunk has."""
        start, end = self.chunks.spans[chunk].tolist()
        return int(end - start)

    def matched(self, items: Sequence[Item], ranked: Sequence[int]) -> list[Piece]:
        """The entries of one context as pieces of chunks; `ranked` are the rows of the chunks retrieved, best first.

        A text that several chunks have is the best-ranked retrieved one that is not taken yet; where none of them was
        retrieved it is ambiguous. A text that is the exact beginning of one retrieved chunk, with or without an
        ellipsis, is that chunk cut short.
        """
        taken: set[int] = set()
        pieces = []
        for item in items:
            piece = (
                self._by_id(item)
                if item.chunk_id is not None
                else self._by_text(item.text or "", ranked, taken)
            )
            taken.add(piece.chunk)
            pieces.append(piece)
        return pieces

    def _by_id(self, item: Item) -> Piece:
        name, text = str(item.chunk_id), item.text
        chunk = self.chunks.place.get(name, -1)
        if chunk < 0:
            return Piece(-1, name, 0, 0, text, "unmatched")
        whole, own = self.length(chunk), self.texts[chunk]
        if text is None or own is None or text == own or normal(text) == self.normals[chunk]:
            return Piece(chunk, name, 0, whole, text if own is None else own, "id")
        start = _beginning(text)
        if start and own.startswith(start):
            return Piece(chunk, name, 0, len(start), start, "beginning")
        return Piece(-1, name, 0, 0, text, "altered")

    def _by_text(self, text: str, ranked: Sequence[int], taken: set[int]) -> Piece:
        if text in self.chunks.place:
            return self._by_id(Item(text, None))
        for how, table, key in (("text", self.exact, text), ("spaces", self.spaced, normal(text))):
            found = table.get(key, []) if key else []
            if found:
                chunk = _one(found, ranked, taken)
                if chunk is None:
                    return Piece(-1, None, 0, 0, text, "ambiguous")
                return Piece(
                    chunk, self.chunks.chunk_ids[chunk], 0, self.length(chunk), self.texts[chunk], how
                )
        start = _beginning(text)
        if len(start) >= SHORTEST_CUT:
            found = [row for row in dict.fromkeys(ranked) if (self.texts[row] or "").startswith(start)]
            if len(found) == 1:
                return Piece(found[0], self.chunks.chunk_ids[found[0]], 0, len(start), start, "beginning")
            if found:
                return Piece(-1, None, 0, 0, text, "ambiguous")
        return Piece(-1, None, 0, 0, text, "unmatched")


def _one(found: Sequence[int], ranked: Sequence[int], taken: set[int]) -> int | None:
    """The chunk that a text is: the only one, or the best-ranked retrieved one that is not taken."""
    if len(found) == 1:
        return found[0]
    same = set(found)
    retrieved = [row for row in ranked if row in same]
    return next((row for row in retrieved if row not in taken), retrieved[0] if retrieved else None)


def _beginning(text: str) -> str:
    """The text without an ellipsis at its end."""
    for end in ENDS:
        if text.endswith(end):
            return text.removesuffix(end)
    return text


def _by(texts: Sequence[str | None]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if text:
            found.setdefault(text, []).append(row)
    return found
