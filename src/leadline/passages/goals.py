"""What a query needs, cut into atoms: pieces of evidence that every chunk holds whole or not at all, or relevant ids.

With evidence an atom is a range of characters, and weighs as many as it has; with judgments it is a relevant chunk, and
weighs 1. All that follows (recall of the ranking, of the context, at a budget; what was lost where) counts atoms, so
that an overlap counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from leadline.passages.spans import Spans, below, union
from leadline.passages.tables import Chunks, Evidence, Line

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """A chunk, or a part of it: its row (−1 where it is none), its id, and which of its characters."""

    chunk: int
    name: str | None
    start: int
    end: int


@dataclass(frozen=True)
class Atoms:
    """The atoms of one query, and which of some parts hold which.

    Attributes
    ----------
    weight, grade: of each atom, shape (atoms,). holds: shape (parts, atoms).
    """

    weight: Floats
    grade: Floats
    holds: Flags


class Goals(Protocol):
    """What the queries need."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries, in the order of their file."""
        ...

    @property
    def unit(self) -> str:
        """What an atom's weight counts: characters or chunks."""
        ...

    def atoms(self, query_id: str, parts: Sequence[Part]) -> Atoms:
        """The atoms of a query as these parts cut them; none where nothing is relevant."""
        ...


class EvidenceGoals:
    """Evidence as ranges of text; `rel` is the least grade that counts."""

    unit = "characters"

    def __init__(self, evidence: Evidence, chunks: Chunks, rel: float = 1.0) -> None:
        names = [row.document_id for row in evidence.rows]
        line = Line.of((names, evidence.spans), (chunks.document_ids, chunks.spans))
        self.query_ids = evidence.query_ids
        self._places = line.laid(chunks.document_ids, chunks.spans)
        pieces = line.laid(names, evidence.spans)
        good = evidence.grade >= rel
        order = np.lexsort((evidence.query[good],))
        self._pieces, self._grade = pieces[good][order], evidence.grade[good][order]
        code = evidence.query[good][order]
        self._edges = np.searchsorted(code, np.arange(len(evidence.query_ids) + 1))
        self._code = {query_id: at for at, query_id in enumerate(evidence.query_ids)}

    def place(self, part: Part) -> tuple[int, int]:
        """The part as a range of the line; empty where it is no chunk."""
        if part.chunk < 0:
            return 0, 0
        base = int(self._places[part.chunk, 0])
        return base + part.start, base + part.end

    def atoms(self, query_id: str, parts: Sequence[Part]) -> Atoms:
        """The atoms of a query as these parts cut them."""
        at = self._code[query_id]
        own = slice(self._edges[at], self._edges[at + 1])
        pieces, grade = self._pieces[own], self._grade[own]
        spans: Spans = np.array([self.place(part) for part in parts], np.int64).reshape(-1, 2)
        whole = union(pieces)
        bounds = np.unique(np.concatenate((pieces.ravel(), spans.ravel())))
        low, high = bounds[:-1], bounds[1:]
        inside = below(whole, high) - below(whole, low) == high - low
        low, high = low[inside], high[inside]
        holds = (spans[:, :1] <= low) & (spans[:, 1:] >= high)
        of = (pieces[:, :1] <= low) & (pieces[:, 1:] >= high)
        best = np.where(of, grade[:, None], -np.inf).max(axis=0) if len(low) else np.zeros(0)
        return Atoms((high - low).astype(np.float64), best, holds)


class JudgedGoals:
    """Judgments of chunks or documents by id; `rel` is the least grade that is relevant."""

    unit = "chunks"

    def __init__(self, grades: Mapping[str, Mapping[str, float]], rel: float = 1.0) -> None:
        self.query_ids = list(grades)
        self._relevant = {
            query: {name: grade for name, grade in own.items() if grade >= rel}
            for query, own in grades.items()
        }

    def atoms(self, query_id: str, parts: Sequence[Part]) -> Atoms:
        """The relevant ids of a query, and which parts are which."""
        relevant = self._relevant[query_id]
        place = {name: at for at, name in enumerate(relevant)}
        holds = np.zeros((len(parts), len(relevant)), bool)
        for row, part in enumerate(parts):
            at = place.get(part.name or "")
            if at is not None:
                holds[row, at] = True
        return Atoms(np.ones(len(relevant)), np.array(list(relevant.values()), np.float64), holds)
