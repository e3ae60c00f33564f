"""Whatever stands in a file of another tool: a reading or one clear error, never another exception."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.source import Source
from leadline.formats.tools import NAMES, read_tool
from leadline.formats.toolsniff import recognise_tool

KEYS = [
    "requests",
    "id",
    "request",
    "ratings",
    "_id",
    "_index",
    "rating",
    "details",
    "hits",
    "hit",
    "_score",
    "metric_score",
    "failures",
    "topics",
    "query_groups",
    "queries",
    "placeholders",
    "$query",
    "relevant_documents",
    "gain",
    "name",
    "description",
    "3",
    "query_doc_pairs",
    "query_text",
    "doc_id",
    "judgements",
    "unrateable",
    "judge_later",
    "user_email",
    "explanation",
    "notes",
    "options",
    "query",
    "judgmentRatings",
    "docId",
    "score",
    "_source",
    "querySetQueries",
    "queryText",
    "referenceAnswer",
    "searchText",
    "documentIds",
    "searchConfigurationId",
    "input",
    "expectedOutput",
    "metadata",
    "relevant_ids",
    "status",
    "data",
    "datasetId",
    "messages",
    "role",
    "content",
]
LEAF = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["q", "d", "", "2", "NaN", "user", "\ud800", "a\0"])
)  # fmt: skip
VALUES = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5), max_leaves=12
)  # fmt: skip
# The shapes that the readers walk, with anything in their places: chance alone would seldom reach them.
SHAPES = {
    "rank_eval": lambda v: {"requests": [{"id": v(), "ratings": [{"_id": v(), "rating": v(), "_index": v()}]}, v()]},
    "rank_eval-response": lambda v: {
        "details": {"q": {"hits": [{"hit": {"_id": v(), "_score": v()}, "rating": v()}, v()]}, "r": v()}, "failures": v()},
    "rre": lambda v: {"topics": [{"description": v(), "query_groups": [
        {"name": v(), "queries": [{"placeholders": v(), "relevant_documents": v()}, {"placeholders": {"$query": v()}}],
         "relevant_documents": {"d": v(), "3": v()}}]}]},
    "quepid-book": lambda v: {"name": v(), "query_doc_pairs": [
        {"query_text": v(), "doc_id": v(), "notes": v(), "options": v(), "judgements": [
            {"rating": v(), "unrateable": v(), "judge_later": v(), "user_email": v(), "explanation": v()}]}]},
    "quepid-json": lambda v: {"queries": [{"query": v(), "ratings": {"d": v(), "": v()}}, v()]},
    "opensearch": lambda v: {"judgmentRatings": [{"query": v(), "ratings": [{"docId": v(), "rating": v()}, v()]}]},
    "opensearch-queries": lambda v: {"querySetQueries": [{"queryText": v(), "referenceAnswer": v()}, v()]},
    "opensearch-results": lambda v: [{"searchText": v(), "documentIds": v(), "searchConfigurationId": v()}],
    "ranx": lambda v: {"q": {"d": v()}, "": v()},
    "langfuse": lambda v: [{"id": v(), "input": v(), "expectedOutput": v(), "metadata": {"relevant_ids": v(), "x": v()}}],
}  # fmt: skip
UNTIMED = settings(deadline=None, max_examples=100)


def attempted(name: str, content: bytes) -> None:
    """Read the content in the format, and where it is read, through the door too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        try:
            held = read_tool(name, Source.open(path))
        except LeadlineError as error:
            assert str(path) in str(error)
            return
        for row in (*held.graded, *held.hits):
            assert row.query and row.doc_id
        for read in (read_qrels, read_queries):
            with contextlib.suppress(LeadlineError):
                read(path, input_format=name)
        with contextlib.suppress(LeadlineError):
            list(read_run(path, input_format=name).blocks())


@pytest.mark.parametrize("name", list(SHAPES))
@UNTIMED
@given(data=st.data())
def test_any_value_in_any_place(name: str, data: st.DataObject) -> None:
    def value() -> Any:
        return data.draw(VALUES)

    attempted(name, json.dumps(SHAPES[name](value)).encode())


@pytest.mark.parametrize("name", NAMES)
@UNTIMED
@given(content=st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes(name: str, content: bytes) -> None:
    attempted(name, content)


@pytest.mark.parametrize(
    "name", ["quepid", "quepid-judges", "quepid-snapshot", "quepid-needs", "ltr", "msmarco"]
)
@UNTIMED
@given(data=st.data())
def test_any_fields(name: str, data: st.DataObject) -> None:
    """Lines with the right header and anything below."""
    cell = st.sampled_from(
        ["q", "d", "", "2", "-1", "1e3", "nan", '"', '"a,b"', " =x", "\t", "é", "qid:1", "#", "\r"]
    )
    separator, header = {
        "quepid": (",", "query,docid,rating"),
        "quepid-judges": (",", "query,docid,Ana,*"),
        "quepid-snapshot": (",", "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"),
        "quepid-needs": (",", "query,information_need"),
        "ltr": (" ", "1 qid:1 # d q"),
        "msmarco": ("\t", "1\t2\t1"),
    }[name]
    width = header.count(separator) + 1
    rows = data.draw(
        st.lists(st.lists(cell, min_size=width - 1, max_size=width + 1).map(separator.join), max_size=4)
    )
    attempted(name, "\n".join([header, *rows]).encode())


@UNTIMED
@given(
    content=st.binary(max_size=100) | VALUES.map(lambda value: json.dumps(value).encode()),
    kind=st.sampled_from(["run", "judgments", "queries"]),
)
def test_recognising_never_fails(content: bytes, kind: Any) -> None:
    assert recognise_tool(content, kind) in (None, *NAMES)
