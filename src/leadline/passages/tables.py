"""Evidence and chunks as tables: ranges of characters in documents, checked once when they are made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from leadline.errors import EmptyInputError, InputError, UnknownNameError, printable
from leadline.passages.spans import Ints, Spans, as_spans

Documents = Mapping[str, str]
"""The texts of documents by id, decoded: a position counts characters (code points), not bytes."""


@dataclass(frozen=True)
class EvidenceRow:
    """One piece of evidence: characters `start` to `end` (the end excluded) of a document answer a query.

    `quote` is what they read, or None where the file does not say; `grade` how good it is; `note` anything.
    """

    query_id: str
    document_id: str
    start: int
    end: int
    quote: str | None = None
    grade: float = 1.0
    note: str = ""

    def to_dict(self) -> dict[str, object]:
        """The row as a file has it.

        >>> EvidenceRow("q", "d", 3, 6, "two").to_dict()["grade"]
        1
        """
        row: dict[str, object] = {
            "query_id": self.query_id,
            "document_id": self.document_id,
            "start": self.start,
            "end": self.end,
        }
        if self.quote is not None:
            row["quote"] = self.quote
        row["grade"] = int(self.grade) if float(self.grade).is_integer() else self.grade
        if self.note:
            row["note"] = self.note
        return row


@dataclass(frozen=True)
class Evidence:
    """All evidence, in the order of its file; `lines` says where each row stood, for messages.

    >>> evidence = Evidence.of([EvidenceRow("q", "d", 3, 6, "two")])
    >>> evidence.query_ids, evidence.spans.tolist()
    (['q'], [[3, 6]])
    """

    rows: tuple[EvidenceRow, ...]
    source: str = "evidence"
    lines: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, rows: Iterable[EvidenceRow], source: str = "evidence", lines: Sequence[int] = ()
    ) -> "Evidence":
        """The table of some rows.

        Raises
        ------
        EmptyInputError: there are none.
        """
        found = tuple(rows)
        if not found:
            raise EmptyInputError(f"{printable(source)}: no evidence in it")
        return cls(found, source, tuple(lines) or tuple(range(1, len(found) + 1)))

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries with evidence, in the order of their first rows."""
        return list(dict.fromkeys(row.query_id for row in self.rows))

    @cached_property
    def query(self) -> Ints:
        """Of each row, the position of its query in `query_ids`."""
        place = {query_id: index for index, query_id in enumerate(self.query_ids)}
        return np.array([place[row.query_id] for row in self.rows], np.int64)

    @cached_property
    def spans(self) -> Spans:
        """Start and end of each row, shape (rows, 2)."""
        return as_spans((row.start, row.end) for row in self.rows)

    @cached_property
    def grade(self) -> npt.NDArray[np.float64]:
        """The grade of each row."""
        return np.array([row.grade for row in self.rows], np.float64)

    @cached_property
    def document_ids(self) -> set[str]:
        """The documents that evidence stands in."""
        return {row.document_id for row in self.rows}


@dataclass(frozen=True)
class Chunks:
    """The chunks of a corpus: an id, a document and a range of its characters for each.

    >>> chunks = Chunks.of(["c1"], ["d"], as_spans([(0, 10)]))
    >>> chunks.place["c1"], len(chunks)
    (0, 1)
    """

    chunk_ids: Sequence[str]
    document_ids: Sequence[str]
    spans: Spans
    source: str = "chunks"
    notes: tuple[str, ...] = ()
    texts: Sequence[str | None] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        chunk_ids: Sequence[str],
        document_ids: Sequence[str],
        spans: Spans,
        source: str = "chunks",
        notes: Sequence[str] = (),
        texts: Sequence[str | None] = (),
    ) -> "Chunks":
        """The table of some chunks; `texts` where the file holds them.

        Raises
        ------
        EmptyInputError: there are none. InputError: one id twice.
        """
        if not chunk_ids:
            raise EmptyInputError(f"{printable(source)}: no chunks in it")
        if len(set(chunk_ids)) < len(chunk_ids):
            seen: set[str] = set()
            twice = next(one for one in chunk_ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise InputError(f"{printable(source)}: the chunk {printable(twice)!r} stands twice")
        return cls(chunk_ids, document_ids, spans, source, tuple(notes), texts)

    def __len__(self) -> int:
        return len(self.chunk_ids)

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each chunk by its id."""
        return {chunk_id: index for index, chunk_id in enumerate(self.chunk_ids)}

    def rows_of(self, chunk_ids: Sequence[str], named: str = "the run") -> Ints:
        """The position of each of some chunks.

        Raises
        ------
        InputError: ids that are no chunk, counted, with the nearest one.
        """
        rows = np.array([self.place.get(one, -1) for one in chunk_ids], np.int64)
        wrong = list(dict.fromkeys(chunk_ids[at] for at in np.flatnonzero(rows < 0).tolist()))
        if wrong:
            # The error for a name knows the near ones; among very many chunks it would look for long.
            hint = str(UnknownNameError("chunk", wrong[0], self.chunk_ids[:2000])).rpartition(": ")[2]
            count = f"{len(wrong)} ids are" if len(wrong) > 1 else "1 id is"
            more = f"; {hint}" if hint.startswith("did you mean") else ""
            raise InputError(
                f"{printable(named)}: {count} in no row of {printable(self.source)}: "
                f"{', '.join(printable(one) for one in wrong[:3])}{', …' if len(wrong) > 3 else ''}{more}"
            )
        return rows

    @classmethod
    def whole(cls, documents: Documents, source: str = "documents") -> "Chunks":
        """Every document as one chunk of its own id: for runs that return whole documents.

        >>> Chunks.whole({"d": "text"}).spans.tolist()
        [[0, 4]]
        """
        ids = list(documents)
        return cls.of(ids, ids, as_spans((0, len(documents[one])) for one in ids), source)


@dataclass(frozen=True)
class Line:
    """All documents laid on one line, one after another with a gap, so that ranges of all are ranges of one.

    Attributes
    ----------
    base: where each document begins. end: the length of the line.
    """

    base: Mapping[str, int]
    end: int

    @classmethod
    def of(cls, *tables: tuple[Sequence[str], Spans]) -> "Line":
        """The line of all documents that some tables name; each as long as the furthest range in it.

        >>> Line.of((["a", "b"], as_spans([(0, 10), (2, 5)]))).base
        {'a': 0, 'b': 11}
        """
        reach: dict[str, int] = {}
        for names, spans in tables:
            for name, end in zip(names, spans[:, 1].tolist(), strict=True):
                if end > reach.get(name, -1):
                    reach[name] = end
        base, total = {}, 0
        for name, end in reach.items():
            base[name] = total
            total += end + 1
        return cls(base, total)

    def laid(self, names: Sequence[str], spans: Spans) -> Spans:
        """The ranges of documents as ranges of the line.

        >>> Line({"a": 0, "b": 11}, 17).laid(["b"], as_spans([(2, 5)])).tolist()
        [[13, 16]]
        """
        base = np.array([self.base[name] for name in names], np.int64)
        return spans + base[:, None] if len(names) else as_spans([])
