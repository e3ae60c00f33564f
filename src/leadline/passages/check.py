"""Whether evidence stands where it says: every quote against the characters of its document."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leadline.errors import SHOWN_ROWS, RowFault, RowsError
from leadline.passages.spans import length, union
from leadline.passages.tables import Documents, Evidence, EvidenceRow, Line

MISSING, BEYOND, DIFFERS, BYTES, UTF16, LINE_ENDS = (
    "no such document", "beyond the text", "another text", "bytes", "UTF-16", "line ends",
)  # fmt: skip
COUNTED = {
    BYTES: "bytes of UTF-8",
    UTF16: "UTF-16 code units (as JavaScript and Java count)",
    LINE_ENDS: "the text with its line ends as one character each",
}
"""Ways of counting that are not characters, and how a sentence names them."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one row: its line, which kind of fault, and it in words."""

    line: int
    kind: str
    found: str
    expected: str


@dataclass(frozen=True)
class Checked:
    """What a check of evidence found.

    Attributes
    ----------
    rows, queries, documents: how many. characters: in the union of all evidence of each document.
    without_quote: rows that only say where. overlapping: rows that share characters with another row of their query.
    repeated: rows whose quote stands elsewhere in the document too; they are held by their position.
    kinds: how many faults of each kind. faults: all of them, in the order of the file.
    """

    rows: int
    queries: int
    documents: int
    characters: int
    without_quote: int
    overlapping: int
    repeated: int
    kinds: Mapping[str, int]
    faults: tuple[Fault, ...]
    source: str

    def error(self) -> RowsError | None:
        """The error that tells of the faults: all counted, the first ten shown; None where there is none."""
        if not self.faults:
            return None
        shown = [RowFault(one.line, None, one.found, one.expected) for one in self.faults[:SHOWN_ROWS]]
        return RowsError(self.source, shown, len(self.faults), self.advice())

    def advice(self) -> str:
        """What most of the faults have in common, as a sentence; empty where nothing."""
        for kind, what in COUNTED.items():
            if self.kinds.get(kind):
                return (
                    f"start and end count {what} in {self.kinds[kind]} of {self.rows} rows; "
                    "they must count decoded characters (code points)"
                )
        return ""


def check_evidence(evidence: Evidence, documents: Documents) -> Checked:
    """Every row against its document: a place within the text, and the quote to the letter at that place.

    Where a quote does not stand at its place but would if positions counted bytes of UTF-8, UTF-16 code units, or line
    ends without their carriage return, the fault says so. Quotes are not searched for.

    >>> from leadline.passages.tables import EvidenceRow
    >>> found = check_evidence(Evidence.of([EvidenceRow("q", "d", 6, 9, "two")]), {"d": "één two"})
    >>> found.faults[0].expected
    'start and end count bytes of UTF-8, not characters'
    """
    forms: dict[str, _Forms] = {}
    faults = []
    for line, row in zip(evidence.lines, evidence.rows, strict=True):
        text = documents.get(row.document_id)
        if text is None:
            faults.append(Fault(line, MISSING, row.document_id, "no document has this id"))
        elif (row.quote is None and row.end > len(text)) or (
            row.quote is not None and text[row.start : row.end] != row.quote
        ):
            form = forms.setdefault(row.document_id, _Forms(text))
            faults.append(_fault(line, row, text, form))
    right = {one.line for one in faults}
    sound = [row for line, row in zip(evidence.lines, evidence.rows, strict=True) if line not in right]
    names = [row.document_id for row in evidence.rows]
    return Checked(
        len(evidence.rows),
        len(evidence.query_ids),
        len(evidence.document_ids),
        length(union(Line.of((names, evidence.spans)).laid(names, evidence.spans))),
        sum(row.quote is None for row in evidence.rows),
        _overlapping(evidence),
        sum(_stands_twice(row, documents[row.document_id]) for row in sound),
        Counter(one.kind for one in faults),
        tuple(faults),
        evidence.source,
    )


def check_places(evidence: Evidence, documents: Documents) -> None:
    """Raise RowsError where a row of evidence does not stand where it says."""
    error = check_evidence(evidence, documents).error()
    if error is not None:
        raise error


class _Forms:
    """A text in the other forms that positions may have been counted in, made when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def utf8(self) -> bytes:
        """The bytes of the text."""
        return self.text.encode()

    @cached_property
    def utf16(self) -> bytes:
        """The UTF-16 code units of the text, two bytes each."""
        return self.text.encode("utf-16-le")

    @cached_property
    def short_ends(self) -> str:
        """The text with line feeds alone."""
        return self.text.replace("\r\n", "\n")

    def reads(self, kind: str, row: EvidenceRow) -> bool:
        """Whether the quote stands at the row's place, counted that way."""
        quote = row.quote or ""
        if kind == BYTES:
            return self.utf8[row.start : row.end] == quote.encode()
        if kind == UTF16:
            return self.utf16[2 * row.start : 2 * row.end] == quote.encode("utf-16-le")
        return self.short_ends[row.start : row.end] == quote.replace("\r\n", "\n")


def _fault(line: int, row: EvidenceRow, text: str, forms: _Forms) -> Fault:
    place = f"{row.start} to {row.end}"
    if row.quote:
        for kind, what in COUNTED.items():
            if forms.reads(kind, row):
                return Fault(line, kind, place, f"start and end count {what}, not characters")
    if row.end > len(text):
        return Fault(line, BEYOND, place, f"but {row.document_id} has {len(text)} characters")
    there = text[row.start : min(row.end, row.start + 60)]
    return Fault(line, DIFFERS, (row.quote or "")[:60], f"but {place} of {row.document_id} reads {there!r}")


def _overlapping(evidence: Evidence) -> int:
    """How many rows share a character with another row of their query."""
    names = [row.document_id for row in evidence.rows]
    line = Line.of((names, evidence.spans))
    laid = line.laid(names, evidence.spans) + evidence.query[:, None] * (line.end + 1)
    order = np.lexsort((laid[:, 1], laid[:, 0]))
    spans = laid[order]
    reach = np.maximum.accumulate(spans[:, 1])
    into_earlier = np.concatenate(([False], spans[1:, 0] < reach[:-1]))
    into_later = np.concatenate((spans[1:, 0] < spans[:-1, 1], [False]))
    return int((into_earlier | into_later).sum())


def _stands_twice(row: EvidenceRow, text: str) -> bool:
    if not row.quote:
        return False
    return text.find(row.quote) != row.start or text.find(row.quote, row.start + 1) >= 0


def faults_as_rows(found: Checked) -> Iterator[dict[str, object]]:
    """The faults as JSON has them."""
    for one in found.faults:
        yield {"line": one.line, "kind": one.kind, "found": one.found, "expected": one.expected}
