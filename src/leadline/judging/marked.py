"""From judgments to evidence: the text that people marked, and whole chunks where they judged chunks."""

from collections.abc import Iterable
from dataclasses import dataclass

from leadline.errors import InputError, UsageError, amount
from leadline.judging.judgment import Judgment
from leadline.judging.labels import votes_of
from leadline.passages.tables import Chunks, Documents, EvidenceRow
from leadline.tables import Qrels


@dataclass(frozen=True)
class Marked:
    """Evidence made from judgments, and what became of the rest.

    Attributes
    ----------
    rows: sorted by query, document and place; a range that several people marked stands once, with its best grade.
    marked: how many ranges people marked. whole: how many relevant texts were taken whole, as nothing was marked.
    left_out: relevant pairs without marked text that were not taken whole.
    """

    rows: tuple[EvidenceRow, ...]
    marked: int
    whole: int
    left_out: int

    def sentence(self) -> str:
        """What it stands on, in words.

        >>> Marked((), 2, 0, 1).sentence()
        '0 pieces of evidence from 2 marked ranges; 1 relevant pair without marked text left out'
        """
        stands_on = [(self.marked, "marked range"), (self.whole, "whole text")]
        found = " and ".join(amount(count, what) for count, what in stands_on if count) or "no judgment"
        said = f"{amount(len(self.rows), 'piece')} of evidence from {found}"
        if self.left_out:
            said += f"; {amount(self.left_out, 'relevant pair')} without marked text left out"
        return said


def evidence_of_book(
    rows: Iterable[Judgment],
    *,
    chunks: Chunks | None = None,
    documents: Documents | None = None,
    whole: bool = False,
    least: float = 1.0,
) -> Marked:
    """Evidence from the standing votes of a book: each range that was marked, with the grade that its judge gave.

    Parameters
    ----------
    chunks: the judged ids are chunks: ranges and whole chunks are placed in their documents.
    documents: the texts; quotes are taken from them where judgments have none.
    whole: a text that is relevant, and in which nobody marked anything, is evidence as a whole.
    least: the least grade that is relevant.

    Raises
    ------
    InputError: a judged id that is no chunk or no document, or a marked range outside its chunk.
    """
    made = _Maker(chunks, documents, whole)
    for (query_id, doc_id), votes in votes_of(rows).items():
        relevant = [vote for vote in votes if vote.grade is not None and vote.grade >= least]
        spans = [(span, vote.grade or 0.0) for vote in relevant for span in vote.evidence]
        for span, grade in spans:
            made.mark(query_id, doc_id, span.start, span.end, span.quote, grade)
        if relevant and not spans:
            made.unmarked(query_id, doc_id, max(vote.grade or 0.0 for vote in relevant))
    return made.marked()


def evidence_of_qrels(
    qrels: Qrels, *, chunks: Chunks | None = None, documents: Documents | None = None, least: float = 1.0
) -> Marked:
    """Evidence from judgments of chunks (or of whole documents): each relevant one is evidence as a whole.

    Raises
    ------
    InputError: a judged id that is no chunk or no document.
    """
    made = _Maker(chunks, documents, True)
    for query_id, doc_id, grade in qrels.frame.select("query_id", "doc_id", "grade").iter_rows():
        if grade >= least:
            made.unmarked(query_id, doc_id, grade)
    return made.marked()


class _Maker:
    """Gathers ranges; one range of one query once, with its best grade."""

    def __init__(self, chunks: Chunks | None, documents: Documents | None, whole: bool) -> None:
        self.chunks, self.documents, self.whole = chunks, documents, whole
        self.found: dict[tuple[str, str, int, int], tuple[float, str | None]] = {}
        self.ranges = self.wholes = self.left_out = 0

    def mark(self, query_id: str, doc_id: str, start: int, end: int, quote: str | None, grade: float) -> None:
        """A marked range of a judged text."""
        self.ranges += 1
        self._put(query_id, doc_id, start, end, quote, grade)

    def unmarked(self, query_id: str, doc_id: str, grade: float) -> None:
        """A relevant text in which nothing was marked."""
        if not self.whole:
            self.left_out += 1
            return
        self.wholes += 1
        if self.chunks is not None:
            low, high = self.chunks.spans[self.chunks.rows_of([doc_id], "the judgments")[0]].tolist()
        elif self.documents is None:
            raise UsageError(
                "a whole text is evidence only where it is known: give --chunks C or --documents D"
            )
        elif doc_id not in self.documents:
            raise InputError(f"the judgments name document {doc_id!r}, which is not among the documents")
        else:
            low, high = 0, len(self.documents[doc_id])
        self._put(query_id, doc_id, 0, high - low, None, grade)

    def _put(self, query_id: str, doc_id: str, start: int, end: int, quote: str | None, grade: float) -> None:
        document_id, text = doc_id, None
        if self.chunks is not None:
            row = int(self.chunks.rows_of([doc_id], "the judgments")[0])
            low, high = self.chunks.spans[row].tolist()
            document_id = self.chunks.document_ids[row]
            start, end = start + low, end + low
            if end > high:
                raise InputError(
                    f"characters {start - low} to {end - low} were marked in chunk {doc_id!r} of {high - low}"
                )
        if self.documents is not None and quote is None:
            text = self.documents.get(document_id)
            quote = None if text is None else text[start:end]
        if start >= end:
            return
        key = query_id, document_id, start, end
        before = self.found.get(key, (grade, quote))
        self.found[key] = (max(grade, before[0]), quote if quote is not None else before[1])

    def marked(self) -> Marked:
        """What was gathered."""
        rows = tuple(
            EvidenceRow(*key, quote=quote, grade=grade) for key, (grade, quote) in sorted(self.found.items())
        )
        return Marked(rows, self.ranges, self.wholes, self.left_out)
