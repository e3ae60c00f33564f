"""Evidence from judgments: marked text, whole chunks, several judges."""

import pytest

from leadline.errors import InputError, UsageError
from leadline.formats.objects import qrels_of
from leadline.judging.judgment import Judgment, Span
from leadline.judging.marked import evidence_of_book, evidence_of_qrels
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, EvidenceRow

TEXT = "Press the button. Wait."
CHUNKS = Chunks.of(["c1", "c2"], ["d", "d"], as_spans([(0, 18), (18, 23)]))


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000+00:00"


def test_marked_ranges_become_evidence_with_the_grade_of_their_judge() -> None:
    press, wait = Span(0, 5, "Press"), Span(18, 23, "Wait.")
    rows = [
        Judgment("q", "d", 1, who="ana", evidence=(press,), when=at(1)),
        Judgment("q", "d", 3, who="bob", evidence=(press, wait), when=at(2)),
        Judgment("q", "e", 0, who="ana", evidence=(press,), when=at(3)),
        Judgment("p", "d", 2, who="ana", when=at(4)),
    ]
    made = evidence_of_book(rows)
    # One range that two marked stands once with the better grade; grade 0 is no evidence; p marked nothing.
    assert made.rows == (EvidenceRow("q", "d", 0, 5, "Press", 3), EvidenceRow("q", "d", 18, 23, "Wait.", 3))
    assert (made.marked, made.whole, made.left_out) == (3, 0, 1)
    assert made.sentence().endswith("1 relevant pair without marked text left out")


def test_only_the_standing_vote_of_a_judge_counts() -> None:
    rows = [
        Judgment("q", "d", 2, who="ana", evidence=(Span(0, 5, "Press"),), when=at(1)),
        Judgment("q", "d", 2, who="ana", evidence=(Span(18, 23, "Wait."),), when=at(2)),
    ]
    assert [row.start for row in evidence_of_book(rows).rows] == [18]


def test_marked_text_of_a_chunk_is_placed_in_its_document() -> None:
    rows = [
        Judgment("q", "c2", 1, who="ana", evidence=(Span(0, 4, "Wait"),), when=at(1)),
        Judgment("q", "c1", 2, who="ana", when=at(2)),
    ]
    made = evidence_of_book(rows, chunks=CHUNKS, documents={"d": TEXT}, whole=True)
    assert made.rows == (
        EvidenceRow("q", "d", 0, 18, "Press the button. ", 2),
        EvidenceRow("q", "d", 18, 22, "Wait", 1),
    )
    assert (made.marked, made.whole) == (1, 1)


def test_judgments_of_chunks_become_evidence_as_a_whole() -> None:
    made = evidence_of_qrels(qrels_of({"q": {"c1": 2, "c2": 0}}), chunks=CHUNKS)
    assert made.rows == (EvidenceRow("q", "d", 0, 18, None, 2),)


def test_what_cannot_be_placed_is_said() -> None:
    marked = Judgment("q", "c2", 1, who="ana", evidence=(Span(0, 9, "Wait. Now"),), when=at(1))
    with pytest.raises(InputError, match="were marked in chunk 'c2' of 5"):
        evidence_of_book([marked], chunks=CHUNKS)
    with pytest.raises(InputError, match="in no row of"):
        evidence_of_qrels(qrels_of({"q": {"zz": 1}}), chunks=CHUNKS)
    with pytest.raises(InputError, match="not among the documents"):
        evidence_of_qrels(qrels_of({"q": {"zz": 1}}), documents={"d": TEXT})
    with pytest.raises(UsageError, match="--chunks C or --documents D"):
        evidence_of_qrels(qrels_of({"q": {"zz": 1}}))
