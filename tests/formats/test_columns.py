"""The spellings of columns."""

import json

import pytest

import leadline
from leadline.formats.columns import knows, resolve
from leadline.formats.conversion import Request, planned
from leadline.formats.read import read_queries


@pytest.mark.parametrize(
    ("names", "kind", "found"),
    [
        # PyTerrier results: docid is its internal number, query the text
        (
            ["qid", "docid", "docno", "rank", "score", "query"],
            "run",
            {"query_id": "qid", "doc_id": "docno", "rank": "rank", "score": "score"},
        ),
        (["q_id", "doc_id", "score"], "run", {"query_id": "q_id", "doc_id": "doc_id", "score": "score"}),
        (["Query ID", "Doc-Id", "SIM"], "run", {"query_id": "Query ID", "doc_id": "Doc-Id", "score": "SIM"}),
        (["query", "docid", "score"], "run", {"query_id": "query", "doc_id": "docid", "score": "score"}),
        (
            ["query-id", "corpus-id", "score"],
            "qrels",
            {"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"},
        ),
        (
            ["query", "q0", "docid", "rel"],
            "qrels",
            {"query_id": "query", "doc_id": "docid", "grade": "rel", "subtopic": "q0"},
        ),
        (["_id", "text"], "queries", {"query_id": "_id", "text": "text"}),
        (["qid", "query"], "queries", {"query_id": "qid", "text": "query"}),
        (["query", "text"], "queries", {"query_id": "query", "text": "text"}),
    ],
)
def test_spellings(names: list[str], kind: str, found: dict[str, str]) -> None:
    columns = resolve(names, kind)  # type: ignore[arg-type]
    assert dict(columns.found) == found
    assert columns.wrong == ()


@pytest.mark.parametrize(
    ("names", "kind", "wrong", "said"),
    [
        (
            ["qid", "query_id", "doc_id", "score"],
            "run",
            "query_id",
            "second column for the query id, beside 'qid'",
        ),
        (["qid", "doc_id", "score", "similarity"], "run", "similarity", "second column for the score"),
        (
            ["qid", "doc_id", "grade", "score"],
            "qrels",
            "score",
            "second column for the grade, beside 'grade'",
        ),
        (
            ["qid", "doc_id", "score", "colour"],
            "run",
            "colour",
            "unknown column; known are query id, document id",
        ),
        (["id", "doc_id", "query_id", "score"], "run", "id", "second column for the document id"),
    ],
)
def test_columns_that_cannot_stand(names: list[str], kind: str, wrong: str, said: str) -> None:
    assert [(name, said in why) for name, why in resolve(names, kind).wrong] == [(wrong, True)]  # type: ignore[arg-type]


def test_ignored_and_further_columns() -> None:
    run = resolve(["qid", "Q0", "docno", "rank", "score", "tag", "run_id"], "run")
    assert (run.wrong, run.system) == ((), ("run_id",))
    assert resolve(["qid", "query", "type", "language"], "queries").rest == ("type", "language")
    assert resolve(["query_id", "query", "text"], "queries").rest == ("query",)


def test_a_header_has_two_known_names() -> None:
    assert knows(["query-id", "corpus-id", "x"])
    assert not knows(["q1", "d1", "0.5"])
    assert not knows(["query", "d1", "0.5"])


@pytest.mark.parametrize("name", ["*", "^.*$", "^t.*$"])
def test_a_further_field_may_be_called_as_a_pattern(name, tmp_path):
    # Found by fuzzing: Polars takes these names, where they select, for other columns.
    (tmp_path / "q.jsonl").write_text(json.dumps({"query_id": "a", "text": "b", name: 3}) + "\n")
    queries = read_queries(tmp_path / "q.jsonl")
    assert queries.frame.columns[:3] == ["query_id", "text", name]
    assert queries.frame[name].to_list() == [3]
    planned(Request(str(tmp_path / "q.jsonl"), str(tmp_path / "o.jsonl")))
    (tmp_path / "q.csv").write_text(f"query_id,{name}\na,3\n")
    assert read_queries(tmp_path / "q.csv").frame[name].to_list() == ["3"]
    run = {"a": {"d": 1.0}}
    assert leadline.evaluate(run, {"a": {"d": 1}}, ["P@1"], queries=str(tmp_path / "q.jsonl"), by=name)
