"""Reading documents, evidence and chunks, and checking that evidence stands where it says."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import EmptyInputError, InputError, RowsError, UsageError
from leadline.formats.documents import read_texts
from leadline.passages.check import check_evidence, check_places
from leadline.passages.grades import chunk_grades
from leadline.passages.locate import locate_in_order
from leadline.passages.read import read_chunks, read_evidence
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Evidence, EvidenceRow
from leadline.passages.write import write_evidence

TEXT = "Één pump 🚰. Reset it.\nReset it twice."
ROW = {"query_id": "q", "document_id": "d", "start": 0, "end": 3, "quote": "Één", "grade": 2}


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def found(*rows: EvidenceRow, text: str = TEXT) -> list[tuple[str, str]]:
    return [(one.kind, one.expected) for one in check_evidence(Evidence.of(rows), {"d": text}).faults]


# ---------------------------------------------------------------------------------------------------- documents


def test_a_folder_gives_ids_without_folder_and_ending(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\n".encode())
    (tmp_path / "sub" / "b.md").write_text("two")
    (tmp_path / "c.d.md.gz").write_bytes(gzip.compress("drei €".encode()))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "empty.txt").write_text("")
    # The byte-order mark is no character of the text; its line ends stay.
    assert read_texts(tmp_path) == {"a": "one\r\n", "c.d": "drei €", "empty": "", "sub/b": "two"}
    assert read_texts(tmp_path, ["sub/b.md", "a"]) == {"a": "one\r\n", "sub/b.md": "two"}


def test_two_files_of_one_id_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "a.md").write_text("one")
    with pytest.raises(InputError, match="both document 'a'"):
        read_texts(tmp_path)


def test_a_folder_without_texts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("one")
    with pytest.raises(InputError, match="no text files"):
        read_texts(tmp_path)


# ----------------------------------------------------------------------------------------------------- evidence


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_evidence_written_reads_back_as_the_same_rows(tmp_path: Path, ending: str) -> None:
    rows = (EvidenceRow("q", "d", 0, 3, "Één", 2.0), EvidenceRow("q", "d", 1, 2, None, 0.5, "a note"))
    write_evidence(rows, tmp_path / f"e{ending}")
    assert read_evidence(tmp_path / f"e{ending}").rows == rows


def test_a_grade_left_out_is_one_and_other_spellings_are_known(tmp_path: Path) -> None:
    path = lines(tmp_path / "e.jsonl", [{"queryId": 7, "doc_id": "d", "start": 0.0, "end": 3}])
    assert read_evidence(path).rows == (EvidenceRow("7", "d", 0, 3, None, 1.0),)


WRONG = [
    ({"start": -1}, "start is a whole number of characters from 0"),
    ({"start": 1.5}, "start is a whole number"),
    ({"start": True}, "start is a whole number"),
    ({"start": "0"}, "start is a whole number"),
    ({"end": 10**30}, "end is a whole number"),
    ({"start": 3}, "a range ends after its start"),
    ({"start": None}, "no start"),
    ({"query_id": ""}, "query_id is text of at least one character"),
    ({"document_id": None}, "no document_id"),
    ({"quote": 5}, "a quote is text"),
    ({"grade": "high"}, "a grade is a finite number"),
    ({"grad": 1}, "did you mean grade"),
]


@pytest.mark.parametrize(("change", "says"), WRONG, ids=[says for _, says in WRONG])
def test_a_row_that_cannot_stand(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = lines(tmp_path / "e.jsonl", [ROW, ROW | change])
    with pytest.raises(RowsError, match=says) as caught:
        read_evidence(path)
    assert "line 2" in str(caught.value) and caught.value.exit_code == 2


def test_all_wrong_rows_are_counted_and_ten_are_shown(tmp_path: Path) -> None:
    path = lines(tmp_path / "e.jsonl", [ROW | {"start": -1}] * 13)
    with pytest.raises(RowsError, match="13 wrong rows") as caught:
        read_evidence(path)
    assert "line 10:" in str(caught.value) and "line 11:" not in str(caught.value)
    assert "and 3 more" in str(caught.value)


def test_a_file_without_evidence(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text("\n\n")
    with pytest.raises((EmptyInputError, InputError)):
        read_evidence(path)


# -------------------------------------------------------------------------------------------------------- check


def test_characters_are_code_points() -> None:
    # É é n · p u m p · 🚰 . — the tap is character 9, of two UTF-16 units and four bytes.
    assert TEXT[9] == "🚰"
    assert found(EvidenceRow("q", "d", 9, 10, "🚰"), EvidenceRow("q", "d", 12, 21, "Reset it.")) == []


def test_bytes_and_utf16_units_are_recognised() -> None:
    # "Reset it." begins at character 12; É and é are one byte more each and 🚰 three more: byte 17, UTF-16 unit 13.
    assert TEXT.encode()[17:26] == b"Reset it."
    assert [kind for kind, _ in found(EvidenceRow("q", "d", 17, 26, "Reset it."))] == ["bytes"]
    assert [kind for kind, _ in found(EvidenceRow("q", "d", 13, 22, "Reset it."))] == ["UTF-16"]
    checked = check_evidence(Evidence.of([EvidenceRow("q", "d", 17, 26, "Reset it.")]), {"d": TEXT})
    assert "bytes of UTF-8 in 1 of 1 rows" in checked.advice()


def test_bytes_beyond_the_text_are_recognised_too() -> None:
    end = len(TEXT.encode())
    assert end > len(TEXT)
    assert [kind for kind, _ in found(EvidenceRow("q", "d", end - 6, end, "twice."))] == ["bytes"]


def test_line_ends_counted_short_are_recognised() -> None:
    assert [kind for kind, _ in found(EvidenceRow("q", "d", 4, 7, "two"), text="one\r\ntwo")] == ["line ends"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), st.data())
def test_a_quote_cut_from_its_place_always_holds(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert found(EvidenceRow("q", "d", start, end, text[start:end]), text=text) == []


def test_what_is_wrong_is_named() -> None:
    kinds = [
        (EvidenceRow("q", "d", 12, 21, "Reset me."), "another text", "reads 'Reset it.'"),
        (EvidenceRow("q", "d", 30, 99, "x"), "beyond the text", f"d has {len(TEXT)} characters"),
        (EvidenceRow("q", "d", 30, 99), "beyond the text", f"d has {len(TEXT)} characters"),
        (EvidenceRow("q", "e", 0, 1, "x"), "no such document", "no document has this id"),
    ]
    for row, kind, says in kinds:
        [(seen, expected)] = found(row)
        assert seen == kind and says in expected


def test_repeated_and_overlapping_quotes_are_held_by_position() -> None:
    rows = [EvidenceRow("q", "d", 12, 20, "Reset it"), EvidenceRow("q", "d", 22, 30, "Reset it")]
    checked = check_evidence(Evidence.of([*rows, EvidenceRow("q", "d", 18, 25, TEXT[18:25])]), {"d": TEXT})
    assert checked.faults == ()
    # All three share text with another; the union is 12–30.
    assert (checked.repeated, checked.overlapping, checked.characters) == (2, 3, 18)
    # The same quote one character off is wrong, though it stands elsewhere.
    assert [kind for kind, _ in found(EvidenceRow("q", "d", 14, 22, "Reset it"))] == ["another text"]


def test_check_places_raises_with_all_counted() -> None:
    rows = [EvidenceRow("q", "d", 0, 3, "xxx")] * 12
    with pytest.raises(RowsError, match="12 wrong rows"):
        check_places(Evidence.of(rows), {"d": TEXT})


# ------------------------------------------------------------------------------------------------------- chunks

CHUNK = {"chunk_id": "c", "document_id": "d"}


def test_chunks_by_range_and_by_text(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        [
            CHUNK | {"start": 0, "end": 11, "title": "passed over"},
            CHUNK | {"chunk_id": "e", "text": "it twice."},
        ],
    )
    chunks = read_chunks(path, {"d": TEXT})
    assert chunks.spans.tolist() == [[0, 11], [28, 37]]
    assert chunks.notes == ("1 of 2 chunks located by their text",)


def test_a_chunk_of_text_needs_the_documents(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--documents"):
        read_chunks(lines(tmp_path / "c.jsonl", [CHUNK | {"text": "Reset"}]))


WRONG_CHUNKS = [
    ([CHUNK | {"text": "Reset it"}], "stands in several places"),
    ([CHUNK | {"text": "nowhere"}], "does not stand in its document"),
    ([CHUNK | {"document_id": "x", "text": "Reset"}], "no such document"),
    ([CHUNK | {"start": 0, "end": 99}], f"the document has {len(TEXT)} characters"),
    ([CHUNK | {"start": 0, "end": 3, "text": "two"}], "of the document reads 'Één'"),
    ([CHUNK], "has start and end, or a text"),
    ([CHUNK | {"start": 0, "end": 3}, CHUNK | {"start": 3, "end": 5}], "line 1 has the same chunk_id"),
    ([CHUNK | {"start": 0}], "no end"),
]


@pytest.mark.parametrize(("rows", "says"), WRONG_CHUNKS, ids=[says for _, says in WRONG_CHUNKS])
def test_chunks_that_cannot_stand(tmp_path: Path, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(RowsError, match=says):
        read_chunks(lines(tmp_path / "c.jsonl", rows), {"d": TEXT})


def test_chunks_from_parquet(tmp_path: Path) -> None:
    pl.DataFrame([CHUNK | {"start": 0, "end": 3}]).write_parquet(tmp_path / "c.parquet")
    assert read_chunks(tmp_path / "c.parquet").spans.tolist() == [[0, 3]]


def test_the_order_of_the_list_settles_texts_that_repeat() -> None:
    assert locate_in_order("a b a b", ["a", "b", "a", "b"]) == [0, 2, 4, 6]
    # Each begins after the one before, though the same text stands at one place for both.
    assert locate_in_order("aa", ["a", "a"]) == [0, 1]
    # Out of order nothing is guessed: "b" stands twice.
    assert locate_in_order("a b c b", ["c", "a"]) == [4, 0]
    assert [isinstance(place, str) for place in locate_in_order("a b c b", ["c", "b", "a"])] == [
        False,
        True,
        False,
    ]


@given(st.text("ab ", min_size=1, max_size=20), st.data())
def test_a_text_is_located_where_it_was_cut_or_not_at_all(text: str, data: st.DataObject) -> None:
    starts = sorted(data.draw(st.sets(st.integers(0, len(text) - 1), min_size=1, max_size=6)))
    cut = [(start, data.draw(st.integers(start + 1, len(text)))) for start in starts]
    places = locate_in_order(text, [text[a:b] for a, b in cut])
    assert all(
        place == start or isinstance(place, str) for place, (start, _) in zip(places, cut, strict=True)
    )


# ------------------------------------------------------------------------------------------------------- grades


def test_a_chunk_takes_the_highest_grade_it_holds_half_of() -> None:
    chunks = Chunks.of(["a", "b", "c"], ["d", "d", "e"], as_spans([(0, 100), (100, 200), (0, 9)]))
    evidence = Evidence.of(
        [
            EvidenceRow("q", "d", 90, 110, grade=1),  # 10 of 20 in each: half is enough
            EvidenceRow("q", "d", 80, 107, grade=3),  # 20 of 27 in a, 7 of 27 in b
            EvidenceRow(
                "p", "f", 0, 5, grade=2
            ),  # a document without chunks: the query stands with a chunk judged 0
        ]
    )
    rows = chunk_grades(chunks, evidence).frame.rows()
    assert rows == [("q", "a", 3.0), ("q", "b", 1.0), ("p", "a", 0.0)]
    # With the share at .6, b holds enough of neither.
    assert chunk_grades(chunks, evidence, 0.6).frame.rows()[1] == ("q", "b", 0.0)


@pytest.mark.parametrize("share", [0, 1.01, -1])
def test_a_share_outside_its_range(share: float) -> None:
    chunks = Chunks.of(["a"], ["d"], as_spans([(0, 100)]))
    with pytest.raises(UsageError, match="share"):
        chunk_grades(chunks, Evidence.of([EvidenceRow("q", "d", 0, 1)]), share)


def test_an_id_of_the_run_that_is_no_chunk() -> None:
    chunks = Chunks.of(["chunk-1"], ["d"], as_spans([(0, 100)]), "c.jsonl")
    with pytest.raises(
        InputError, match=r"A: 2 ids are in no row of c\.jsonl: chunk-2, x; did you mean chunk-1"
    ):
        chunks.rows_of(["chunk-1", "chunk-2", "x"], "A")
