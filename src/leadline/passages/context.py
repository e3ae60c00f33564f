"""One query's context against what was retrieved for it: what reached it, what was lost on the way, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from leadline.passages.contexts import REASONS, SentRow
from leadline.passages.goals import Atoms, Goals, Part
from leadline.passages.matching import Known, Piece, normal
from leadline.passages.spans import as_spans, covered, union
from leadline.passages.tokens import Tokenizer

Table = npt.NDArray[Any]
State = Literal["scored", "unanswered", "undefined", "error"]


@dataclass(frozen=True)
class Rules:
    """How the pipeline packs, as far as it is known: the first `k` chunks, `budget` units of the tokenizer."""

    k: int | None = None
    budget: int | None = None
    tokenizer: Tokenizer | None = None


@dataclass(frozen=True)
class QueryAccount:
    """What became of one query's evidence. Shares are of all evidence of the query.

    Attributes
    ----------
    state: scored; unanswered, no context is told of (its shares are 0); undefined, it has no evidence; error, it failed.
    retrieved, at_k, sent: the share in the whole ranking, in its first k, in the context.
    lost: by reason, the share that was retrieved and not sent. added: sent without having been retrieved.
        retrieved − Σ lost + added = sent.
    noise: the share of what was sent that is no evidence. duplicates: the share that stood in the context before.
    place: which entry of the context holds the best evidence, from 1. at: where its middle stands, from 0 to 1.
    items: entries sent. size: their length in units of the tokenizer. how: entries by how they were matched.
    steps: of each retrieved chunk, best first, the length of it and all before, and the evidence found until there.
    """

    query_id: str
    state: State
    retrieved: float | None = None
    at_k: float | None = None
    sent: float | None = None
    lost: Mapping[str, float] = field(default_factory=dict)
    added: float | None = None
    noise: float | None = None
    duplicates: float | None = None
    place: int | None = None
    at: float | None = None
    items: int = 0
    size: int | None = None
    how: Mapping[str, int] = field(default_factory=dict)
    steps: Sequence[tuple[int | None, float]] = ()


class Counter:
    """Makes the accounts of queries: it knows the chunks, what is needed, and the rules of packing."""

    def __init__(self, goals: Goals, known: Known | None, rules: Rules) -> None:
        self.goals, self.known, self.rules = goals, known, rules
        self._sizes: dict[int, int | None] = {}

    def account(
        self, query_id: str, ranked: Sequence[str], sent: SentRow | None, failed: bool = False
    ) -> QueryAccount:
        """The account of one query from the ids retrieved, best first, and its row of the contexts (None: none).

        >>> from leadline.passages.contexts import Item
        >>> from leadline.passages.goals import JudgedGoals
        >>> counter = Counter(JudgedGoals({"q": {"a": 1, "b": 1}}), None, Rules(k=2))
        >>> found = counter.account("q", ["a", "x", "b"], SentRow((Item("x", None),)))
        >>> found.retrieved, found.at_k, found.sent, found.lost
        (1.0, 0.5, 0.0, {'cutoff': 0.5, 'unknown': 0.5})
        """
        if failed:
            return QueryAccount(query_id, "error")
        rows = [self._row(name) for name in ranked]
        pieces = self._pieces(sent, rows)
        whole = [Part(row, name, 0, self._length(row)) for row, name in zip(rows, ranked, strict=True)]
        parts = [*whole, *(Part(one.chunk, one.name, one.start, one.end) for one in pieces)]
        atoms = self.goals.atoms(query_id, parts)
        total = float(atoms.weight.sum())
        if not total:
            return QueryAccount(query_id, "undefined")
        return self._counted(query_id, ranked, sent, rows, pieces, atoms, total)

    def _counted(
        self,
        query_id: str,
        ranked: Sequence[str],
        sent: SentRow | None,
        rows: Sequence[int],
        pieces: Sequence[Piece],
        atoms: Atoms,
        total: float,
    ) -> QueryAccount:
        n = len(ranked)
        found, held = atoms.holds[:n], atoms.holds[n:]
        weight = atoms.weight / total
        # Where no chunk holds an atom, `first` is n.
        first = np.where(found.any(axis=0), found.argmax(axis=0), n) if n else np.zeros(len(weight), np.int64)
        here = held.any(axis=0)
        k = n if self.rules.k is None else min(self.rules.k, n)
        sizes = [self._size(row) for row in rows]
        size = self._sent_size(pieces)
        lost: dict[str, float] = {}
        for rank in sorted(set(first[(first < n) & ~here].tolist())):
            reason = self._reason(rank, ranked, rows, sizes, sent, pieces, size)
            lost[reason] = lost.get(reason, 0.0) + float(weight[(first == rank) & ~here].sum())
        how: dict[str, int] = {}
        for piece in pieces:
            how[piece.how] = how.get(piece.how, 0) + 1
        lengths = self._lengths(pieces)
        place, at = _best(held, atoms, lengths)
        return QueryAccount(
            query_id,
            "scored" if sent is not None else "unanswered",
            retrieved=float(weight[first < n].sum()),
            at_k=float(weight[first < k].sum()),
            sent=float(weight[here].sum()),
            lost={reason: lost[reason] for reason in REASONS if reason in lost},
            added=float(weight[here & (first == n)].sum()),
            noise=_noise(held, atoms, lengths, self.goals.unit),
            duplicates=self._duplicates(pieces, lengths),
            place=place,
            at=at,
            items=len(pieces),
            size=size,
            how=how,
            steps=_steps(sizes, first, weight),
        )

    def _row(self, name: str) -> int:
        return -1 if self.known is None else self.known.chunks.place.get(name, -1)

    def _length(self, row: int) -> int:
        return 0 if self.known is None or row < 0 else self.known.length(row)

    def _pieces(self, sent: SentRow | None, rows: Sequence[int]) -> list[Piece]:
        if sent is None:
            return []
        if self.known is None:
            return [
                Piece(-1, item.chunk_id, 0, 0, item.text, "unmatched" if item.chunk_id is None else "id")
                for item in sent.items
            ]
        return self.known.matched(sent.items, [row for row in rows if row >= 0])

    def _size(self, row: int) -> int | None:
        """The length of a whole chunk in units of the tokenizer; None where its text is not at hand."""
        if self.known is None or self.rules.tokenizer is None or row < 0:
            return None
        if row not in self._sizes:
            text = self.known.texts[row]
            by_range = self.known.length(row) if self.rules.tokenizer.name == "chars" else None
            self._sizes[row] = by_range if text is None else self.rules.tokenizer.count(text)
        return self._sizes[row]

    def _sent_size(self, pieces: Sequence[Piece]) -> int | None:
        """The length of the context; None where an entry's is not known."""
        if self.rules.tokenizer is None:
            return None
        total = 0
        for piece in pieces:
            one = self._size(piece.chunk) if piece.text is None else self.rules.tokenizer.count(piece.text)
            if one is None:
                return None
            total += one
        return total

    def _lengths(self, pieces: Sequence[Piece]) -> list[int] | None:
        """The length of each entry in characters; None where one is not known."""
        known = [len(one.text) if one.text is not None else one.end - one.start for one in pieces]
        return known if all(known) else None

    def _reason(
        self,
        rank: int,
        ranked: Sequence[str],
        rows: Sequence[int],
        sizes: Sequence[int | None],
        sent: SentRow | None,
        pieces: Sequence[Piece],
        size: int | None,
    ) -> str:
        """Why the chunk at a rank (from 0) is not in the context, the surest reason first."""
        name = ranked[rank]
        if sent is None:
            return "missing"
        there = [piece for piece in pieces if piece.name == name]
        if there:
            return "truncation" if any(piece.cut for piece in there) else "altered"
        if name in sent.dropped:
            return sent.dropped[name]
        if self.rules.k is not None and rank >= self.rules.k:
            return "cutoff"
        if self._has_twin(rows[rank], pieces):
            return "deduplication"
        own = sizes[rank]
        if self.rules.budget is None or size is None or own is None:
            return "unknown"
        return (
            "budget"
            if size + own > self.rules.budget or self._behind(rank, ranked, sizes, pieces, size)
            else "filter"
        )

    def _behind(
        self,
        rank: int,
        ranked: Sequence[str],
        sizes: Sequence[int | None],
        pieces: Sequence[Piece],
        size: int,
    ) -> bool:
        """Whether a better-ranked chunk did not fit and nothing from behind it was sent: packing had stopped there."""
        names = {piece.name for piece in pieces}
        last = max((at for at, name in enumerate(ranked) if name in names), default=-1)
        budget = self.rules.budget or 0
        return any(size + (sizes[at] or 0) > budget for at in range(last + 1, rank))

    def _has_twin(self, row: int, pieces: Sequence[Piece]) -> bool:
        """Whether a chunk's text, but for white space, is one that was sent."""
        own = None if self.known is None or row < 0 else self.known.normals[row]
        return bool(own) and any(piece.text is not None and normal(piece.text) == own for piece in pieces)

    def _duplicates(self, pieces: Sequence[Piece], known: Sequence[int] | None) -> float | None:
        """The share of what was sent that stood in the context before: repeated entries, and ranges that overlap."""
        if not pieces:
            return None
        lengths = known or [1] * len(pieces)
        repeated, seen = 0, set[str]()
        before: dict[str, list[tuple[int, int]]] = {}
        for piece, length in zip(pieces, lengths, strict=True):
            keys = {f"id {piece.name}"} if piece.name is not None else set()
            keys |= {f"text {normal(piece.text)}"} if piece.text else set()
            if keys & seen:
                repeated += length
            elif piece.chunk >= 0 and self.known is not None and known is not None:
                document = self.known.chunks.document_ids[piece.chunk]
                base = int(self.known.chunks.spans[piece.chunk, 0])
                span = (base + piece.start, base + piece.end)
                earlier = before.setdefault(document, [])
                repeated += min(length, int(covered(as_spans([span]), union(as_spans(earlier)))[0]))
                earlier.append(span)
            seen |= keys
        return repeated / sum(lengths)


def _best(held: Table, atoms: Atoms, known: Sequence[int] | None) -> tuple[int | None, float | None]:
    """Which entry holds the best evidence (the highest grade, then the most of it), and where its middle stands."""
    if not held.size or not held.any():
        return None, None
    lengths = known or [1] * len(held)
    grade = np.where(held, atoms.grade, -np.inf).max(axis=1)
    amount = (held * atoms.weight).sum(axis=1)
    place = max(range(len(held)), key=lambda row: (grade[row], amount[row], -row))
    return place + 1, (sum(lengths[:place]) + lengths[place] / 2) / sum(lengths)


def _noise(held: Table, atoms: Atoms, lengths: Sequence[int] | None, unit: str) -> float | None:
    """The share of what was sent that is no evidence: of its characters, or of its entries where ids are judged."""
    if not len(held) or (unit == "characters" and lengths is None):
        return None
    good = float(atoms.weight[held.any(axis=0)].sum())
    return max(0.0, 1 - good / (sum(lengths or []) if unit == "characters" else len(held)))


def _steps(sizes: Sequence[int | None], first: Table, weight: Table) -> list[tuple[int | None, float]]:
    """Of each retrieved chunk, the length of it and all before, and the share of evidence found until there."""
    gains = np.bincount(first, weight, minlength=len(sizes) + 1)[: len(sizes)]
    reached = np.minimum(np.cumsum(gains), 1.0)
    steps: list[tuple[int | None, float]] = []
    total: int | None = 0
    for size, share in zip(sizes, reached.tolist(), strict=True):
        total = None if total is None or size is None else total + size
        steps.append((total, share))
    return steps
