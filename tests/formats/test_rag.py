"""RAG rows in the spellings of the tools that write them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.conventions import Conventions
from leadline.errors import InputError, RowsError
from leadline.formats.rag import RagRows, rag_of_records
from leadline.formats.ragfields import is_rag
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.tables import Run


def rag(*records: Mapping[str, Any], **options: Any) -> RagRows:
    return rag_of_records(enumerate(records, start=1), **options)


def ranked(rows: RagRows) -> list[tuple[str, str, float]]:
    assert rows.run is not None
    return rows.run.frame.select("query_id", "doc_id", "score").rows()  # type: ignore[return-value]


def judged(rows: RagRows) -> list[tuple[str, str, float]]:
    assert rows.qrels is not None
    return rows.qrels.frame.select("query_id", "doc_id", "grade").rows()  # type: ignore[return-value]


RAGAS = {
    "user_input": "who?",
    "retrieved_contexts": ["text a", "text b"],
    "retrieved_context_ids": ["a", "b"],
    "reference_context_ids": ["b"],
    "response": "B.",
    "reference": "b",
}
RAGCHECKER = {
    "query_id": "who?",
    "query": "who?",
    "gt_answer": "b",
    "response": "B.",
    "retrieved_context": [{"doc_id": "a", "text": "text a"}, {"doc_id": "b", "text": "text b"}],
    "expected_ids": ["b"],
}
AUTORAG = {
    "qid": "who?",
    "query": "who?",
    "retrieved_contents": ["text a", "text b"],
    "retrieved_ids": ["a", "b"],
    "retrieve_scores": [2.0, 1.0],
    "retrieval_gt": [["b"]],
    "generation_gt": ["b", "the b"],
    "generated_texts": "B.",
}
HAYSTACK = {
    "question": "who?",
    "documents": [
        {"id": "a", "content": "text a", "score": 2},
        {"id": "b", "content": "text b", "score": 1.0},
    ],
    "ground_truth_documents": [{"id": "b", "content": "text b"}],
    "predicted_answers": "B.",
    "ground_truth_answers": "b",
}
LLAMA_INDEX = {
    "query": "who?",
    "expected_ids": ["b"],
    "expected_texts": None,
    "retrieved_ids": ["a", "b"],
    "retrieved_texts": ["text a", "text b"],
    "mode": "text",
    "metric_dict": {"mrr": {"score": 0.5}},
}
CAMEL = {
    "userInput": "who?",
    "retrievedContextIds": ["a", "b"],
    "referenceContextIds": ["b"],
    "response": "B.",
}


@pytest.mark.parametrize("row", [RAGAS, RAGCHECKER, AUTORAG, HAYSTACK, LLAMA_INDEX, CAMEL])
def test_spellings_of_each_tool(row: dict[str, Any]) -> None:
    assert is_rag(row)
    rows = rag(row)
    assert [(query, doc) for query, doc, _ in ranked(rows)] == [("who?", "a"), ("who?", "b")]
    scores = [score for _, _, score in ranked(rows)]
    assert scores == sorted(scores, reverse=True)
    assert judged(rows) == [("who?", "b", 1.0)]
    assert rows.queries.column("text") == {"who?": "who?"}
    if row not in (LLAMA_INDEX,):
        assert rows.queries.column("answer") == {"who?": "B."}
    if row in (RAGAS, RAGCHECKER, HAYSTACK):
        assert rows.queries.column("gold_answer") == {"who?": "b"}


def test_deepeval_has_texts_and_no_ids(tmp_path: Path) -> None:
    row = {
        "input": "who?",
        "actual_output": "B.",
        "expected_output": "b",
        "retrieval_context": ["a"],
        "context": ["b"],
    }
    with pytest.raises(
        InputError, match=r"hold retrieved texts and no document ids. Which documents are they"
    ):
        rag(row)
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([row]))
    with pytest.raises(InputError, match=r"cases\.json: the rows hold retrieved texts and no document ids"):
        read_run(path)
    assert read_queries(path).column("answer") == {"who?": "B."}
    rows = rag({**row, "relevantIds": ["b"]})
    assert (rows.run, rows.texts_only, judged(rows)) == (None, True, [("who?", "b", 1.0)])


def test_ids_without_questions_or_questions_without_ids() -> None:
    rows = rag({"id": 7, "doc_ids": [1, "01"]}, {"id": "x", "question": None, "doc_ids": []})
    assert ranked(rows) == [("7", "1", -1.0), ("7", "01", -2.0)]
    assert rows.run is not None
    assert rows.run.empty == ("x",)
    with pytest.raises(RowsError, match="line 2: found 'who', line 1 has the same question"):
        rag({"question": "who", "doc_ids": []}, {"question": "who", "doc_ids": []})
    with pytest.raises(RowsError, match="line 2: found 'a', line 1 has the same query id"):
        rag({"qid": "a", "doc_ids": []}, {"qid": "a", "doc_ids": []})
    with pytest.raises(RowsError, match=r"line 1.*no query_id and no question"):
        rag({"doc_ids": []})


def test_every_row_is_checked() -> None:
    """The first row alone says nothing about the others (looking at row 0 only would pass these)."""
    good = {"id": "1", "doc_ids": ["a"], "reference_ids": ["a"]}
    rows = rag(good, {"id": "2", "doc_ids": ["a"], "reference_ids": None}, {"id": "3", "doc_ids": ["a"]})
    assert (judged(rows), rows.without_references) == ([("1", "a", 1.0)], 2)
    with pytest.raises(
        RowsError, match=r"line 2.*the row has no retrieved ids; \[\] says answered with nothing"
    ):
        rag(good, {"id": "2", "contexts": ["only text"]})
    with pytest.raises(RowsError, match=r"line 2.*doc_ids is a list; \[\] where there is nothing"):
        rag(good, {"id": "2", "doc_ids": None})
    with pytest.raises(RowsError, match=r"2 wrong rows"):
        rag(good, {"id": "2", "doc_ids": [1.5]}, {"id": "3", "doc_ids": [None]})


@pytest.mark.parametrize("field", ["doc_ids", "reference_ids", "documents", "scores"])
def test_a_list_that_became_text_is_named(field: str) -> None:
    row: dict[str, Any] = {"id": "1", "doc_ids": ["a"], "reference_ids": ["a"], "scores": [1.0]}
    bad = {**row, "id": "2", field: "['a', 'b']"}
    if field == "documents":
        del bad["doc_ids"]
    with pytest.raises(
        RowsError, match=rf"line 2: found .*'a', 'b'.* {field} is a list, not a text: .*JSONL or Parquet"
    ):
        rag(row, bad)


def test_a_list_in_csv_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("user_input,retrieved_context_ids\nwho?,\"['a','b']\"\n")
    for read in (read_run, read_qrels, read_rag_rows):
        with pytest.raises(RowsError, match=r"line 2: .*retrieved_context_ids is a list, not a text"):
            read(path)


def test_scores() -> None:
    row = {"id": "1", "doc_ids": ["a", "b"], "scores": [0.5, 2]}
    assert ranked(rag(row)) == [("1", "a", 0.5), ("1", "b", 2.0)]
    assert ranked(rag(row, order="file")) == [("1", "a", -1.0), ("1", "b", -2.0)]
    with pytest.raises(
        RowsError, match="found '1 scores', scores has one score for each of the 2 entries of doc_ids"
    ):
        rag({**row, "scores": [0.5]})
    with pytest.raises(RowsError, match="found 'NaN', a score in scores is a number"):
        rag({**row, "scores": [0.5, float("nan")]})
    documents = [{"id": "a", "score": None}, {"id": "b", "score": None}]
    assert ranked(rag({"id": "1", "documents": documents})) == [("1", "a", -1.0), ("1", "b", -2.0)]
    documents[1]["score"] = "1"
    with pytest.raises(RowsError, match="a score in documents is a number"):
        rag({"id": "1", "documents": documents})


def test_documents_without_an_id() -> None:
    with pytest.raises(RowsError, match=r"each entry of documents has an id"):
        rag({"id": "1", "documents": [{"id": "a"}, {"content": "x"}]})
    rows = rag({"id": "1", "documents": [], "contexts": []})
    assert rows.run is not None
    assert rows.run.empty == ("1",)


def test_references_in_other_shapes() -> None:
    assert judged(rag({"id": "1", "relevant_ids": {"a": 2, "b": 0, "c": None}})) == [
        ("1", "a", 2.0),
        ("1", "b", 0.0),
    ]
    assert judged(rag({"id": "1", "retrieval_gt": ["a", ["b"], []]})) == [("1", "a", 1.0), ("1", "b", 1.0)]
    graded = [{"doc_id": "a", "grade": 3}, {"doc_id": "b"}]
    assert judged(rag({"id": "1", "expected_ids": graded})) == [("1", "a", 3.0), ("1", "b", 1.0)]
    twice = rag({"id": "1", "expected_ids": ["a", "a"]})
    assert (judged(twice), twice.qrels.merged if twice.qrels else 0) == ([("1", "a", 1.0)], 1)
    either = rag({"id": "1", "retrieval_gt": [["a", "b"], ["c"]]}).qrels
    assert either is not None
    assert either.frame["doc_id"].to_list() == ["a", "c"]
    assert either.alternatives == {"1": {"b": "a"}}


def test_two_fields_with_one_meaning() -> None:
    with pytest.raises(RowsError, match="the row has the same field as 'retrieved_ids' already"):
        rag({"id": "1", "retrieved_ids": ["a"], "doc_ids": ["b"]})
    rows = rag({"id": "x", "query_id": "1", "question": "?", "query": "short", "doc_ids": ["b"]})
    assert rows.queries.frame.drop("row").to_dicts() == [
        {"query_id": "1", "text": "?", "id": "x", "query": "short"}
    ]


def test_failed_rows_and_further_fields() -> None:
    rows = rag(
        {
            "id": "1",
            "doc_ids": ["a"],
            "error": None,
            "lang": "de",
            "usage": {"tokens": 1},
            "ground_truths": ["x"],
        },
        {"id": "2", "error": "time-out", "reference_ids": ["a"], "tags": []},
        {"id": "3", "error": {"code": 500}},
    )
    assert rows.run is not None
    assert dict(rows.run.failed) == {"2": "time-out", "3": '{"code": 500}'}
    assert rows.queries.column("lang") == {"1": "de", "2": None, "3": None}
    assert dict(rows.ignored) == {"usage": 1, "tags": 1}
    only = rag({"id": "1", "error": "x", "contexts": ["text"]})
    assert only.run is not None
    assert dict(only.run.failed) == {"1": "x"}


def test_no_ids_at_all() -> None:
    with pytest.raises(
        InputError, match=r"no RAG rows: none has retrieved ids \(retrieved_context_ids, .*or reference ids"
    ):
        rag({"question": "who", "answer": "b"})


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "results"])
def test_files(tmp_path: Path, form: str) -> None:
    records = [
        RAGAS,
        {**RAGAS, "user_input": "when?", "retrieved_context_ids": [], "reference_context_ids": []},
    ]
    path = tmp_path / f"answers.{form.replace('results', 'json')}"
    if form == "parquet":
        pl.DataFrame(records).write_parquet(path)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        path.write_text(json.dumps(records if form == "json" else {"results": records}, indent=1))
    run = read_run(path)
    assert isinstance(run, Run)
    assert (run.name, run.frame["doc_id"].to_list(), run.empty) == ("answers", ["a", "b"], ("when?",))
    assert read_qrels(path).frame.select("query_id", "doc_id").rows() == [("who?", "b")]
    assert read_queries(path).column("answer") == {"who?": "B.", "when?": "B."}
    assert read_rag_rows(path, conventions=Conventions()).without_references == 1


def test_judgments_alone_are_no_run(tmp_path: Path) -> None:
    path = tmp_path / "qa.parquet"
    pl.DataFrame([{k: AUTORAG[k] for k in ("qid", "query", "retrieval_gt", "generation_gt")}]).write_parquet(
        path
    )
    assert read_qrels(path).frame["doc_id"].to_list() == ["b"]
    with pytest.raises(InputError, match="no row has retrieved ids"):
        read_run(path)
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "1", "retrieved_ids": ["a"]}\n')
    with pytest.raises(InputError, match="no row has reference ids"):
        read_qrels(path)


def test_a_first_row_with_an_empty_list_does_not_make_rag_rows(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "1", "doc_ids": []}\n{"query_id": "2", "doc_id": "a", "score": 1}\n')
    run = read_run(path)
    assert isinstance(run, Run)
    assert (run.empty, run.frame.height) == (("1",), 1)
    path.write_text('{"query_id": "1", "doc_ids": []}\n{"query_id": "2", "doc_ids": ["a"]}\n')
    assert isinstance(run := read_run(path), Run)
    assert (run.empty, run.frame.height) == (("1",), 1)


def test_unusable_text_is_named() -> None:
    with pytest.raises(RowsError, match=r"line 1.*expected text, without a half of a surrogate pair"):
        rag({"id": "1", "question": "\ud800", "doc_ids": []})


def test_a_failed_row_whose_question_has_an_id_is_a_rag_row(tmp_path):
    """`id` is a document's only where no other name is, and beside a question without a score it is the question's."""
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id": "q1", "question": "a", "retrieved_ids": ["d"]}\n{"id": "q2", "question": "b", "error": "timeout"}\n'
    )
    rows = read_rag_rows(path)
    assert rows.run is not None
    assert dict(rows.run.failed) == {"q2": "timeout"}
    run = read_run(path)
    assert dict(run.failed) == {"q2": "timeout"}
    assert read_queries(path).frame["query_id"].to_list() == ["q1", "q2"]
