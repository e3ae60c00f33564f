"""The formats of other tools: each shape read and written, bad input named by its place, and round trips of any text."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import InputError, UsageError
from leadline.evaluation import evaluate
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.source import Source
from leadline.formats.tools import BY_NAME, NAMES, read_tool
from leadline.formats.toolsniff import recognise_tool
from leadline.tables import Run


def saved(folder: Path, value: Any, name: str = "x.json") -> Path:
    path = folder / name
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8"
    )
    return path


def pairs(path: Path, **more: Any) -> list[tuple[str, str, float]]:
    return read_qrels(path, **more).frame.select("query_id", "doc_id", "grade").rows()


def hits(path: Path, **more: Any) -> list[tuple[str, str, float]]:
    run = read_run(path, **more)
    assert isinstance(run, Run)
    return run.frame.select("query_id", "doc_id", "score").rows()


REQUEST = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "{\"requests\": 1}"}}},
            "ratings": [{"_index": "i", "_id": "d1", "rating": 3}, {"_index": "i", "_id": "d2", "rating": 0}],
        },
        {"id": "q2", "template_id": "t", "params": {}, "ratings": []},
    ],
    "metric": {"precision": {"k": 10}},
}  # fmt: skip
RESPONSE = {
    "rank_eval": 1,
    "metric_score": 0.5,
    "details": {
        "q1": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "i", "_id": "d9"}],
            "hits": [
                {"hit": {"_index": "i", "_id": "d9", "_score": 2.5}, "rating": None},
                {"hit": {"_index": "i", "_id": "d1", "_score": 1.5}, "rating": 3},
            ],
        },
        "q2": {"hits": []},
    },
    "failures": {"q3": {"error": "no such index"}},
}


def test_rank_eval(tmp_path: Path) -> None:
    path = saved(tmp_path, REQUEST)
    assert pairs(path) == [("q1", "d1", 3.0), ("q1", "d2", 0.0)]
    assert read_queries(path).frame["query_id"].to_list() == ["q1", "q2"]
    response = saved(tmp_path, RESPONSE, "run.json")
    assert hits(response) == [("q1", "d9", 2.5), ("q1", "d1", 1.5)]
    run = read_run(response)
    assert (run.empty, list(run.failed)) == (("q2",), ["q3"])
    assert pairs(response) == [("q1", "d1", 3.0)]
    assert "take the judgments from the request" in read_qrels(response).notes[0]
    # Older names; and hits without scores, as of a query that sorts by a field.
    old = {"quality_level": 0.5, "details": {"q": {"quality_level": 0.5, "unknown_docs": [], "hits": [
        {"hit": {"_id": "b", "_score": None}, "rating": 1}, {"hit": {"_id": "a", "_score": None}}]}}}  # fmt: skip
    assert hits(saved(tmp_path, old, "old.json")) == [("q", "b", -1.0), ("q", "a", -2.0)]
    with pytest.raises(
        UsageError, match=r"rank_eval \(Elasticsearch, .*\) holds judgments and queries, not a run"
    ):
        read_run(path)


def test_a_document_of_two_indices_is_an_error(tmp_path: Path) -> None:
    wrong = {"requests": [{"id": "q", "ratings": [
        {"_index": "a", "_id": "d", "rating": 1}, {"_index": "b", "_id": "d", "rating": 0}]}]}  # fmt: skip
    with pytest.raises(InputError, match=r"requests\[0\]\.ratings\[1\]: .* stands in the index 'a' too"):
        read_qrels(saved(tmp_path, wrong))


def test_two_requests_of_one_id(tmp_path: Path) -> None:
    request = {"id": "q", "ratings": [{"_id": "d", "rating": 1}]}
    with pytest.raises(InputError, match="two requests have the id 'q'"):
        read_qrels(saved(tmp_path, {"requests": [request, request]}))


def test_a_document_rated_twice_is_an_error_named_by_its_place(tmp_path: Path) -> None:
    wrong = {"requests": [{"id": "q", "ratings": [{"_id": "d", "rating": 1}, {"_id": "d", "rating": 0}]}]}
    with pytest.raises(InputError) as caught:
        read_qrels(saved(tmp_path, wrong))
    assert "requests[0].ratings[1]: found 'q d 0', but requests[0].ratings[0] judges the same pair 1" in str(
        caught.value
    )
    assert pairs(saved(tmp_path, wrong), conflicts="max") == [("q", "d", 1.0)]


def rre(*queries: dict[str, Any]) -> dict[str, Any]:
    return {"topics": [{"description": "t", "query_groups": [{"name": "g", "queries": list(queries)}]}]}


@pytest.mark.parametrize(
    "documents",
    [
        {"d1": {"gain": 3}, "d2": {"gain": 1}},
        {"3": ["d1"], "1": ["d2"]},
        {"d1": {"rating": 3}, "d2": {"rating": 1}},
    ],
)
def test_j04_the_shapes_of_rre_give_the_same_judgments(tmp_path: Path, documents: dict[str, Any]) -> None:
    query = {"template": "q.json", "placeholders": {"$query": "star trek"}}
    own = rre({**query, "relevant_documents": documents})
    group = rre(query)
    group["topics"][0]["query_groups"][0]["relevant_documents"] = documents
    bare = {"id_field": "id", "queries": [{**query, "relevant_documents": documents}]}
    for shape in (own, group, bare):
        path = saved(tmp_path, shape)
        assert pairs(path) == [("star trek", "d1", 3.0), ("star trek", "d2", 1.0)]
    assert read_queries(saved(tmp_path, own)).frame["query_id"].to_list() == ["star trek"]


def test_rre_with_faults(tmp_path: Path) -> None:
    wrong = rre(
        {
            "placeholders": {"$query": "q"},
            "relevant_documents": {"d": {"gain": "many"}, "e": 3, "x": ["a", None]},
        }
    )
    with pytest.raises(InputError) as caught:
        read_qrels(saved(tmp_path, wrong))
    # Of the key x: it is no grade, so its documents are not looked at.
    for words in (
        "3 wrong rows",
        ".d.gain: found 'many', a gain is a finite number",
        ".e: found '3', an object",
        "a grade is",
    ):
        assert words in str(caught.value)


LIST = {
    "name": "shop",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "star trek", "ratings": [{"docId": "d1", "rating": "0.700"}, {"docId": "d2", "score": 0.7}]}
    ],
}


def test_j33_judgment_lists_of_opensearch(tmp_path: Path) -> None:
    expected = [("star trek", "d1", 0.7), ("star trek", "d2", 0.7)]
    rows = LIST["judgmentRatings"]
    answer = {"hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": LIST}]}}
    for shape in (LIST, rows, answer, "".join(json.dumps(row) + "\n" for row in [*rows, *rows][:1])):
        assert pairs(saved(tmp_path, shape)) == expected
    wrong = {"judgmentRatings": [{"query": "star trek", "ratings": [{"docId": "d1", "rating": None}]}]}
    with pytest.raises(InputError) as caught:
        read_qrels(saved(tmp_path, wrong))
    text = str(caught.value)
    assert "judgmentRatings[0].ratings[0].rating: found 'null', rating must not be null" in text
    assert "(query 'star trek', document 'd1')" in text


def test_query_sets_of_opensearch(tmp_path: Path) -> None:
    rows = [{"queryText": "star trek", "referenceAnswer": "a series"}, {"queryText": "alien"}]
    for shape in (
        {"name": "s", "querySetQueries": rows},
        rows,
        "".join(json.dumps(row) + "\n" for row in rows),
    ):
        found = read_queries(saved(tmp_path, shape))
        assert found.column("text") == {"star trek": "star trek", "alien": "alien"}
        assert found.column("reference") == {"star trek": "a series", "alien": None}
    newer = [{"queryText": "star trek", "customFields": {"referenceAnswer": "a series", "lang": "en"}}]
    found = read_queries(saved(tmp_path, {"querySetQueries": newer}))
    assert (found.column("reference"), found.column("lang")) == (
        {"star trek": "a series"},
        {"star trek": "en"},
    )
    plain = read_queries(
        saved(tmp_path, "star trek\r\n\nalien\n", "q.txt"), input_format="opensearch-queries"
    )
    assert plain.frame["query_id"].to_list() == ["star trek", "alien"]


def test_results_of_opensearch_are_a_run(tmp_path: Path) -> None:
    rows = [
        {
            "searchConfigurationId": "c",
            "searchText": "star trek",
            "judgmentList": [],
            "documentIds": ["b", "a"],
            "metrics": [],
        },
        {"searchConfigurationId": "c", "searchText": "alien", "documentIds": []},
    ]
    path = saved(tmp_path, rows)
    assert hits(path) == [("star trek", "b", -1.0), ("star trek", "a", -2.0)]
    assert read_run(path).empty == ("alien",)
    rows[1]["searchConfigurationId"] = "other"
    with pytest.raises(InputError, match="results of 2 search configurations"):
        read_run(saved(tmp_path, rows))
    variants = [{**rows[0], "experimentVariantId": one} for one in "ab"]
    with pytest.raises(InputError, match=r"results of 2 search configurations \(c a and c b\)"):
        read_run(saved(tmp_path, variants))
    with pytest.raises(InputError, match="the results of query 'star trek' stand before"):
        read_run(saved(tmp_path, [rows[0], rows[0]]))


def test_a_document_twice_is_named_by_its_place(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        [{"searchText": "a", "documentIds": ["d"]}, {"searchText": "b", "documentIds": ["d", "e", "d"]}],
    )
    with pytest.raises(InputError) as caught:
        evaluate(str(path), {"b": {"d": 1}}, "P@1")
    assert "x.json" in str(caught.value) or "x:" in str(caught.value)
    assert "[1].documentIds[2]: found 'b d', but [1].documentIds[0] has the same document" in str(
        caught.value
    )


def test_runs_of_ms_marco(tmp_path: Path) -> None:
    path = saved(tmp_path, "q1\t7\t1\nq1\t9\t2\nq2\t7\t1\n", "run.tsv")
    assert hits(path) == [("q1", "7", -1.0), ("q1", "9", -2.0), ("q2", "7", -1.0)]
    # Not sure, so it has to be named: the ranks do not count from 1.
    path = saved(tmp_path, "q1\t7\t5\n", "run.tsv")
    with pytest.raises(InputError):
        next(iter(read_run(path).blocks())).load()
    assert hits(path, input_format="msmarco") == [("q1", "7", -5.0)]
    with pytest.raises(
        InputError, match=r"2 wrong rows\n  line 1, column 3: found '0', .*\n  line 2: found 'q1 d'"
    ):
        read_run(saved(tmp_path, "q1 d 0\nq1 d\n", "run.tsv"), input_format="msmarco")


ITEMS = [
    {"id": "i1", "datasetId": "d", "status": "ACTIVE", "input": {"question": "how deep?"}, "expectedOutput": "30 fathoms",
     "metadata": {"relevant_ids": ["d1", "d2"], "type": "short", "nested": {"a": 1}}},
    {"id": "i2", "datasetId": "d", "input": "who?", "expectedOutput": {"relevantIds": {"d3": 2}}, "metadata": None},
    {"id": "i3", "datasetId": "d", "status": "ARCHIVED", "input": "gone", "expectedOutput": None},
    {"id": "i4", "datasetId": "d", "input": [{"role": "system", "content": "s"}, {"role": "user", "content": "why?"}],
     "expectedOutput": None},
]  # fmt: skip


def test_dataset_items_of_langfuse(tmp_path: Path) -> None:
    lines = "".join(json.dumps(item) + "\n" for item in ITEMS)
    for shape in (ITEMS, {"data": ITEMS, "meta": {}}, lines):
        path = saved(tmp_path, shape)
        named = {"input_format": "langfuse"} if isinstance(shape, dict) else {}
        queries = read_queries(path, **named)
        assert queries.column("text") == {"i1": "how deep?", "i2": "who?", "i4": "why?"}
        assert queries.column("reference")["i1"] == "30 fathoms"
        assert queries.column("type")["i1"] == "short"
        assert pairs(path, **named) == [("i1", "d1", 1.0), ("i1", "d2", 1.0), ("i2", "d3", 2.0)]
    with pytest.raises(InputError, match="one field with the question"):
        read_queries(
            saved(tmp_path, [{"id": "a", "input": {"x": 1}, "expectedOutput": None, "datasetId": "d"}])
        )


def test_nothing_of_the_house_is_taken_for_another_tools() -> None:
    heads = [
        b"q1 Q0 d1 1 0.5 bm25\n", b"q1\tQ0\td1\t1\t0.5\tbm25\n", b"query-id\tcorpus-id\tscore\n1\t2\t1\n", b'{"q1": {"d1": 0.5}}',
        b"query_id,doc_id,score\n", b"qid,query\n1,star trek\n", b'{"query_id": "q", "doc_id": "d", "score": 1}\n',
        b'{"_id": "1", "text": "who?"}\n', b"1\thow many requests?\n", b"", b"\n", b"[]", b"{}", b'"',
        b'[{"user_input": "q", "retrieved_context_ids": ["a"], "reference": "requests details topics"}]',
        b'{"requests": {"d1": 1}, "details": {"d2": 2}}',
    ]  # fmt: skip
    for head in heads:
        for kind in ("run", "judgments", "queries"):
            assert recognise_tool(head, kind) is None, head  # type: ignore[arg-type]


BAD = [
    b"", b"\n\n", b"nonsense", b"{", b"[1, 2]", b"{}", b"[]", b'{"requests": 3}', b'"text"', b"null", b"NaN",
    b"\xff\xfe\x00", b"a\0b", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 6000, b'{"a": 1, "a": 2}',
    b"query,docid,rating\n", b"PAR1....", b'{"queries": [null]}',
    b'{"judgmentRatings": [{"query": "q", "ratings": [{"docId": true, "rating": NaN}]}]}',
    b'{"queries": [{"query": "\\ud800", "ratings": {"d": 1}}]}',
    b'{"details": {"q": {"hits": [{"hit": {"_id": "d", "_score": true}}]}}}',
    b'{"query_doc_pairs": [{"query_text": "q", "doc_id": {}, "judgements": 3}]}',
    b'[{"input": [], "id": 1}]', b'{"topics": [{"query_groups": {}}]}',
    b'{"queries": [{"placeholders": {"a": 1, "b": 2}}]}',
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", BAD, ids=range(len(BAD)))
def test_bad_input_is_one_clear_error(tmp_path: Path, name: str, content: bytes) -> None:
    """An error that names the file, or a reading that holds nothing made up; never a traceback of another kind."""
    path = tmp_path / "bad"
    path.write_bytes(content)
    try:
        held = read_tool(name, Source.open(path))
    except (InputError, UsageError) as error:
        assert "bad" in str(error)
        assert len(str(error)) < 5000
    else:
        plain_lines = name == "opensearch-queries" and content[:1] not in (b"{", b"[")
        nothing = not held.graded and not held.hits and not held.asked
        assert plain_lines or nothing or (name == "msmarco" and held.hits), held


def test_every_tool_is_read_and_every_written_kind_is_held() -> None:
    for tool in BY_NAME.values():
        assert set(tool.writes) <= set(tool.holds), tool.name
        assert tool.holds and tool.what and tool.of
