"""Carrying evidence from one version of the documents to the next: same, moved, for review, or lost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from leadline.errors import MissingExtraError, UsageError
from leadline.passages.check import check_places
from leadline.passages.near import nearest, surroundings_alike
from leadline.passages.seeds import WIDTH, Hit, Seeds
from leadline.passages.tables import Documents, Evidence, EvidenceRow

State = Literal["same", "moved", "review", "lost"]
STATES: tuple[State, ...] = ("same", "moved", "review", "lost")
NEAR = 0.6
"""How alike a text must be to the quote, from 0 to 1, to be shown for review."""
SHOWN = 5
"""How many places are named for review."""
SHORT = 16
"""A quote of fewer characters cannot be told by itself where its text repeats."""
MOST = 1000
"""How many places of one quote are looked at."""


@dataclass(frozen=True)
class Place:
    """Where evidence may stand now: a range of a document, what it reads, and how alike that is to the quote."""

    document_id: str
    start: int
    end: int
    quote: str
    similarity: float

    def to_dict(self) -> dict[str, Any]:
        """The place as a file has it."""
        return {
            "document_id": self.document_id,
            "start": self.start,
            "end": self.end,
            "similarity": round(self.similarity, 4),
            "quote": self.quote,
        }


@dataclass(frozen=True)
class Carried:
    """One row of evidence, what became of it, and why.

    `new` is the row for the new documents where it is the same or moved; `places` are where it may stand, the likeliest
    first, where a person has to look.
    """

    old: EvidenceRow
    line: int
    state: State
    why: str
    new: EvidenceRow | None = None
    places: tuple[Place, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The row as a file has it."""
        row: dict[str, Any] = {
            "line": self.line,
            "state": self.state,
            "why": self.why,
            "old": self.old.to_dict(),
        }
        if self.new is not None:
            row["new"] = self.new.to_dict()
        if self.places:
            row["places"] = [one.to_dict() for one in self.places]
        return row


@dataclass(frozen=True)
class Carrying:
    """All rows of evidence after they were carried, in the order of their file."""

    rows: tuple[Carried, ...]
    source: str = "evidence"

    @property
    def counts(self) -> dict[State, int]:
        """How many rows are in each state; every row is in one."""
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in STATES}

    @property
    def other_document(self) -> int:
        """How many of the moved rows stand in another document now."""
        return sum(row.new is not None and row.new.document_id != row.old.document_id for row in self.rows)

    @property
    def evidence(self) -> list[EvidenceRow]:
        """The rows that need nobody: the same and the moved."""
        return [row.new for row in self.rows if row.new is not None]

    def to_judge(self, documents: Documents) -> Iterator[dict[str, Any]]:
        """What people are to look at, as the judging pages read it: rows for review, then the lost ones.

        A row names the document to look at; lost evidence whose document is gone has none and is left out.
        """
        for state in ("review", "lost"):
            for row in (one for one in self.rows if one.state == state):
                where = row.places[0].document_id if row.places else row.old.document_id
                if where in documents:
                    yield {
                        "query_id": row.old.query_id,
                        "doc_id": where,
                        "ranks": {},
                        "state": state,
                        "why": row.why,
                        "old": row.old.to_dict(),
                        "places": [one.to_dict() for one in row.places],
                    }


def carry(evidence: Evidence, old: Documents, new: Documents, near: float = NEAR) -> Carrying:
    """Carry evidence from the old documents to the new ones; linear in the size of the documents.

    *same*: the quote stands at the same place. *moved*: it stands to the letter elsewhere, once: in its document, or in
    another one where its own is gone or holds nothing like it. *review*: it stands in several places, or only something
    like it (at least `near` of 1) does. *lost*: the rest. Nothing but *same* and *moved* is carried by itself.

    Raises
    ------
    RowsError: the evidence does not stand in the old documents. UsageError: `near` outside (0, 1].
    MissingExtraError: RapidFuzz is not installed.

    >>> rows = [EvidenceRow("q", "d", 0, 4, "one."), EvidenceRow("q", "d", 5, 25, "two of these things.")]
    >>> found = carry(Evidence.of(rows), {"d": "one. two of these things."}, {"d": "one. And two of these things."})
    >>> [row.state for row in found.rows], found.evidence[1].start
    (['same', 'moved'], 9)
    """
    if not 0 < near <= 1:
        raise UsageError(f"near {near:g} is not above 0 and at most 1")
    try:
        import rapidfuzz  # noqa: F401
    except ImportError:
        raise MissingExtraError("carrying evidence", "passages") from None
    check_places(evidence, old)
    quoted = [_with_quote(row, old) for row in evidence.rows]
    work = _Work(quoted, old, new, near)
    for index, row in enumerate(quoted):
        text = new.get(row.document_id)
        if text is not None and text[row.start : row.end] == row.quote:
            work.settle(index, "same", "the quote stands at the same place", row)
    work.in_own_documents()
    work.in_other_documents()
    rows = tuple(
        replace(work.done[index], old=old_row, line=line)
        for index, (old_row, line) in enumerate(zip(evidence.rows, evidence.lines, strict=True))
    )
    return Carrying(rows, evidence.source)


def _with_quote(row: EvidenceRow, documents: Documents) -> EvidenceRow:
    return replace(row, quote=documents[row.document_id][row.start : row.end])


@dataclass
class _Work:
    """What is settled so far, and what is not."""

    rows: Sequence[EvidenceRow]
    old: Documents
    new: Documents
    near: float
    done: dict[int, Carried] = field(default_factory=dict)

    def settle(
        self, index: int, state: State, why: str, new: EvidenceRow | None = None, places: Sequence[Place] = ()
    ) -> None:
        """Say what became of a row."""
        self.done[index] = Carried(self.rows[index], 0, state, why, new, tuple(places[:SHOWN]))

    def open(self) -> list[int]:
        """The rows that are not settled, or lost as far as is known."""
        return [i for i in range(len(self.rows)) if i not in self.done or self.done[i].state == "lost"]

    def in_own_documents(self) -> None:
        """Settle what stands in its own document, moved or changed."""
        by_document: dict[str, list[int]] = {}
        for index in self.open():
            by_document.setdefault(self.rows[index].document_id, []).append(index)
        for document_id, indexes in by_document.items():
            text = self.new.get(document_id)
            if text is None:
                for index in indexes:
                    self.settle(index, "lost", "its document is gone")
                continue
            hits = Seeds.of([self.rows[i].quote or "" for i in indexes]).hits(text)
            for at, index in enumerate(indexes):
                self._in_own(index, text, hits.get(at))

    def _in_own(self, index: int, text: str, hit: Hit | None) -> None:
        row = self.rows[index]
        quote = row.quote or ""
        exact = _exact(text, quote, hit)
        if len(exact) == 1 and not self._was_one_of_several(row):
            start = exact[0]
            self.settle(
                index,
                "moved",
                "the quote stands elsewhere, once",
                replace(row, start=start, end=start + len(quote)),
            )
        elif exact:
            self._one_of_several(index, text, exact)
        else:
            self._near(index, {row.document_id: hit})

    def _one_of_several(self, index: int, text: str, starts: Sequence[int]) -> None:
        """A quote that stands in several places: a person decides; the likeliest place comes first."""
        row, old = self.rows[index], self.old[self.rows[index].document_id]

        def unlike(start: int) -> tuple[float, float]:
            # Of equal surroundings the place that is as far down the document as the old one was comes first.
            far = abs(start / max(1, len(text)) - row.start / max(1, len(old)))
            return -surroundings_alike(row, old, start, text), far

        places = [self._place(row, row.document_id, text, start) for start in sorted(starts, key=unlike)]
        several = "the quote stands in several places"
        why = several if len(places) > 1 else "a short quote that stood in several places"
        self.settle(index, "review", why, None, places)

    def _was_one_of_several(self, row: EvidenceRow) -> bool:
        """Whether a quote too short to be told by itself stood in several places of its old document."""
        quote, text = row.quote or "", self.old[row.document_id]
        return len(quote) < SHORT and text.find(quote, text.find(quote) + 1) >= 0

    def in_other_documents(self) -> None:
        """Settle what is in no way in its own document but in another one."""
        indexes = self.open()
        if not indexes:
            return
        seeds = Seeds.of([self.rows[i].quote or "" for i in indexes])
        exact: dict[int, list[Place]] = {}
        alike: dict[int, dict[str, Hit]] = {}
        for document_id, text in self.new.items():
            for at, hit in seeds.hits(text).items():
                index = indexes[at]
                row = self.rows[index]
                if row.document_id == document_id:
                    continue
                for start in _exact(text, row.quote or "", hit):
                    exact.setdefault(index, []).append(self._place(row, document_id, text, start))
                best = alike.setdefault(index, {})
                best[document_id] = hit
                if len(best) > SHOWN:
                    # Of many documents only those that share most with the quote are looked at closely.
                    del best[min(best, key=lambda name: len(best[name].starts))]
        for index in indexes:
            if index in exact:
                self._elsewhere(index, exact[index])
            elif index in alike:
                self._near(index, alike[index])

    def _elsewhere(self, index: int, places: list[Place]) -> None:
        """A quote that stands to the letter in other documents: moved, unless that copy stood there before."""
        row, one = self.rows[index], places[0]
        stood_there = (row.quote or "") in self.old.get(one.document_id, "")
        if len(places) > 1:
            self.settle(
                index, "review", "the quote stands in several places of other documents", None, places
            )
        elif stood_there:
            self.settle(
                index,
                "review",
                "the quote is gone; another document has had the same text before",
                None,
                places,
            )
        else:
            moved = replace(row, document_id=one.document_id, start=one.start, end=one.end)
            self.settle(index, "moved", "the quote stands in another document, once", moved)

    def _near(self, index: int, hits: Mapping[str, Hit | None]) -> None:
        """Settle a row by the texts most like its quote, or as lost."""
        row = self.rows[index]
        places = []
        for document_id, hit in hits.items():
            text = self.new[document_id]
            for start, end, similarity in nearest(row.quote or "", text, hit):
                if similarity >= self.near:
                    places.append(Place(document_id, start, end, text[start:end], similarity))
        places.sort(key=lambda one: -one.similarity)
        if places:
            self.settle(index, "review", "only something like the quote stands there", None, places)
        elif index not in self.done:
            self.settle(index, "lost", "nothing like the quote stands in its document")

    @staticmethod
    def _place(row: EvidenceRow, document_id: str, text: str, start: int) -> Place:
        end = start + len(row.quote or "")
        return Place(document_id, start, end, text[start:end], 1.0)


def _exact(text: str, quote: str, hit: Hit | None) -> list[int]:
    """The first places where a quote stands to the letter, at most `MOST`."""
    if len(quote) >= WIDTH:
        starts = [] if hit is None else hit.first.tolist()
        return [start for start in dict.fromkeys(starts) if text.startswith(quote, start)][:MOST]
    found: list[int] = []
    place = text.find(quote)
    while place >= 0 and len(found) < MOST:
        found.append(place)
        place = text.find(quote, place + 1)
    return found
