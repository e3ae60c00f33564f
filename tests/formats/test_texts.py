"""Retrieved texts matched to documents: by the letter, then normalised, never by likeness; and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline
from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.read import read_qrels, read_run
from leadline.formats.texts import Texts, normalised

DOCUMENTS = {
    "m1": "Hold the button for 5 s.",
    "m2": "E42 is a leak.",
    "m3": "Ring us.",
    "m4": "Ring  us.\n",
    "m5": "",
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def ids(path: Path, texts: Texts | None = None) -> list[str]:
    run = read_run(path, texts=texts)
    return [own for block in run.blocks() for own in block.load()["doc_id"].to_list()]


@pytest.mark.parametrize(
    ("text", "own", "counts"),
    [
        ("Hold the button for 5 s.", "m1", (1, 0, 0)),
        # A no-break space, a line feed and blanks at the ends are white space; the ligature and the full-width
        # digit are other forms of the same letters.
        (" Hold the\u00a0button\n for 5 s. ", "m1", (0, 1, 0)),
        ("E４2 is a leak.", "m2", (0, 1, 0)),
        # Case, punctuation and a part of a text are other texts.
        ("hold the button for 5 s.", None, (0, 0, 1)),
        ("Hold the button for 5 s", None, (0, 0, 1)),
        ("Hold the button", None, (0, 0, 1)),
        # Copies are one document: the first that has the text.
        ("Ring us.", "m3", (1, 0, 0)),
        ("Ring  us.\n", "m3", (1, 0, 0)),
        # An empty text is no document's.
        ("", None, (0, 0, 1)),
    ],
)
def test_a_text_is_a_document_or_none(text: str, own: str | None, counts: tuple[int, int, int]) -> None:
    texts = Texts(DOCUMENTS)
    found = texts.id_of(text)
    assert found == own or (own is None and found.startswith("text:"))
    assert (texts.exact, texts.normal, texts.unmatched) == counts
    assert texts.anew().told() == {"texts_exact": 0, "texts_normalised": 0, "texts_unmatched": 0}


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_unmatched_texts_keep_their_ranks_and_equal_ones_their_id() -> None:
    texts = Texts(DOCUMENTS)
    assert texts.id_of("No document.") == texts.id_of(" No  document.") != texts.id_of("Nor this.")


RAGAS = [
    {
        "user_input": "How do I reset the pump?",
        "retrieved_contexts": ["No document.", "Hold the button  for 5 s.", "E42 is a leak."],
        "reference_contexts": ["Hold the button for 5 s."],
    },
    {"user_input": "What is E42?", "retrieved_contexts": ["E42 is a leak."], "reference_contexts": ["E42 is a leak.", "Gone."]},
]  # fmt: skip


def test_rows_of_texts_on_both_sides(tmp_path: Path) -> None:
    scores = leadline.evaluate(lines(tmp_path / "rows.jsonl", *RAGAS), measures="RR R@3", documents=DOCUMENTS)
    assert scores.per_query("RR") == {"How do I reset the pump?": 0.5, "What is E42?": 1.0}
    assert scores.per_query("R@3") == {"How do I reset the pump?": 1.0, "What is E42?": 0.5}
    system, qrels = scores.account["systems"]["rows"], scores.account["qrels"]
    names = ("texts_exact", "texts_normalised", "texts_unmatched")
    assert [system[name] for name in names] == [2, 1, 1]
    assert [qrels[name] for name in names] == [2, 0, 1]
    said = "\n".join(scores.warnings)
    assert "rows: ranked as documents of their own: 1 text that no document has" in said
    assert "no document has it, so that only the same text meets it: 1 reference text" in said


def test_rows_of_deepeval(tmp_path: Path) -> None:
    row = {
        "input": "What is E42?", "actual_output": "A leak.", "expected_output": "A leak.",
        "retrieval_context": ["Ring us.", "E42 is a leak."], "context": ["E42 is a leak."],
    }  # fmt: skip
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([row]))
    documents = lines(tmp_path / "d.jsonl", *({"id": k, "text": v} for k, v in DOCUMENTS.items()))
    assert leadline.evaluate(path, measures="RR", documents=str(documents)).mean("RR") == 0.5


def test_texts_against_judgments_by_id_where_copies_are_one(tmp_path: Path) -> None:
    rows = lines(tmp_path / "rows.jsonl", {"id": "q", "contexts": ["E42 is a leak.", "Ring us."]})
    # m4 is a copy of m3, which the text got.
    scores = leadline.evaluate(rows, {"q": {"m4": 1}}, "RR", documents=DOCUMENTS)
    assert scores.mean("RR") == 0.5
    with pytest.raises(RowsError, match="judges the same pair"):
        leadline.evaluate(rows, {"q": {"m3": 0, "m4": 1}}, "RR", documents=DOCUMENTS)
    both = leadline.evaluate(rows, {"q": {"m3": 0, "m4": 1}}, "RR", documents=DOCUMENTS, conflicts="max")
    assert both.mean("RR") == 0.5
    # Beside it a run of ids: its copies are one too, and counted.
    runs = {"texts": str(rows), "ids": {"q": ["m4", "m3", "m2"]}}
    scores = leadline.evaluate(runs, {"q": {"m2": 1}}, "RR", documents=DOCUMENTS)
    assert (scores.mean("RR", "texts"), scores.mean("RR", "ids")) == (1.0, 0.5)
    assert scores.account["systems"]["ids"]["copies"] == 1


def test_documents_as_objects_with_texts(tmp_path: Path) -> None:
    haystack = {
        "id": "q",
        "documents": [
            {"content": "E42 is a leak.", "score": 0.5},
            {"page_content": "Ring us.", "score": 0.9},
        ],
    }
    path = lines(tmp_path / "rows.jsonl", haystack)
    assert ids(path, Texts(DOCUMENTS)) == ["m2", "m3"]
    scores = leadline.evaluate(path, {"q": {"m3": 1}}, "RR", documents=DOCUMENTS)
    assert scores.mean("RR") == 1.0
    wrong = lines(tmp_path / "wrong.jsonl", {"id": "q", "contexts": [{"metadata": {}}]})
    with pytest.raises(RowsError, match="each entry of contexts is a text, or has one"):
        read_run(wrong, texts=Texts(DOCUMENTS))


def test_ids_win_over_texts_and_rows_may_mix(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "rows.jsonl",
        {"id": "q", "retrieved_ids": ["m9"], "retrieved_contexts": ["E42 is a leak."]},
        {"id": "r", "retrieved_ids": None, "retrieved_contexts": ["E42 is a leak."]},
    )
    assert ids(path, Texts(DOCUMENTS)) == ["m9", "m2"]


def test_a_text_twice_is_a_document_twice(tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", {"id": "q", "contexts": ["Ring us.", "Ring us.", "E42 is a leak."]})
    with pytest.raises(RowsError, match="has the same document for this query"):
        leadline.evaluate(path, {"q": {"m2": 1}}, "RR", documents=DOCUMENTS)
    scores = leadline.evaluate(path, {"q": {"m2": 1}}, "RR", documents=DOCUMENTS, duplicates="first")
    assert scores.mean("RR") == 0.5


def test_without_documents_the_error_names_them(tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", *RAGAS)
    with pytest.raises(InputError, match=r"--documents FILE has every document's id and text"):
        read_run(path)
    with pytest.raises(
        InputError, match=r"no row has reference ids \(their reference texts: --documents FILE\)"
    ):
        read_qrels(
            lines(tmp_path / "q.jsonl", {"id": "1", "retrieved_ids": ["m1"], "reference_contexts": ["Gone."]})
        )
    with pytest.raises(UsageError, match="which documents its reference texts are, --documents FILE says"):
        leadline.evaluate(tmp_path / "q.jsonl")
    assert read_qrels(
        lines(tmp_path / "r.jsonl", {"id": "1", "reference_contexts": ["Ring us."]}), texts=Texts(DOCUMENTS)
    ).frame["doc_id"].to_list() == ["m3"]


def test_documents_that_nothing_needs_are_refused() -> None:
    with pytest.raises(UsageError, match="no row holds texts without ids"):
        leadline.evaluate({"q": ["m1"]}, {"q": {"m1": 1}}, documents=DOCUMENTS)


@pytest.mark.parametrize(
    "field", ["retrieved_contexts", "contexts", "retrieval_context", "reference_contexts"]
)
def test_a_list_that_became_a_text_is_an_error_that_names_row_and_field(field: str, tmp_path: Path) -> None:
    row = {"id": "1", "retrieved_contexts": ["Ring us."], "reference_contexts": ["Ring us."]}
    if field != "reference_contexts":
        del row["retrieved_contexts"]
    path = lines(tmp_path / "rows.jsonl", row | {field: "['a', 'b']"})
    with pytest.raises(RowsError, match=rf"line 1: found .*{field} is a list, not a text"):
        leadline.evaluate(path, documents=DOCUMENTS)


def test_a_file_of_chunks_has_texts_by_chunk_id(tmp_path: Path) -> None:
    chunks = lines(
        tmp_path / "chunks.jsonl",
        {"chunk_id": "m#1", "document_id": "m", "start": 0, "end": 8, "text": "Ring us."},
        {"chunk_id": "m#2", "document_id": "m", "start": 9, "end": 14, "text": "Wait."},
    )
    rows = lines(tmp_path / "rows.jsonl", {"id": "q", "contexts": ["Wait.", "Ring us."]})
    scores = leadline.evaluate(rows, {"q": {"m#1": 1}}, "RR", documents=str(chunks))
    assert scores.mean("RR") == 0.5
    collapsed = leadline.evaluate(
        rows, {"q": {"m": 1}}, "RR", documents=str(chunks), collapse="first", collapse_mapping=chunks
    )
    assert (collapsed.mean("RR"), collapsed.account["systems"]["rows"]["collapsed"]) == (1.0, 1)
