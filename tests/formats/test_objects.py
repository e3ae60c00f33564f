"""Runs, judgments and queries from Python objects."""

import copy
import typing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.tables import Qrels, Queries, Run


class ScoredDoc(typing.NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    score: float


class Qrel(typing.NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


@dataclass
class Hit:
    query_id: int
    doc_id: str
    score: float
    text: str = ""


COLUMNS = {"qid": ["q", "q"], "docno": ["d", "007"], "score": [1.5, -2.0]}
TABLE = [("q", "d", 1.5), ("q", "007", -2.0)]


def rows(run: Run) -> list[tuple[Any, ...]]:
    return run.frame.select("query_id", "doc_id", "score").rows()


@pytest.mark.parametrize(
    "obj",
    [
        {"q": {"d": 1.5, "007": -2}},
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=["x", "y"]),
        pd.DataFrame(COLUMNS).astype({"qid": "category"}),
        pa.table(COLUMNS),
        pl.DataFrame({**COLUMNS, "colour": [1, 2], "row": [8, 9]}),
        TABLE,
        iter(TABLE),
        [list(row) for row in TABLE],
        [ScoredDoc(*row) for row in TABLE],
        [Hit(*row) for row in TABLE],  # type: ignore[arg-type]
        [dict(zip(COLUMNS, row, strict=True)) for row in TABLE],
        {"q": {"d": np.float32(1.5), "007": np.int64(-2)}},
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_runs(obj: Any) -> None:
    assert rows(run_of(obj)) == TABLE


def test_lists_are_in_the_order_given() -> None:
    run = run_of({"q": ["b", "a"], "r": [], "s": ("c",), 7: np.array([1, 2]), "t": {}})
    expected = [("q", "b", -1.0), ("q", "a", -2.0), ("s", "c", -1.0), ("7", "1", -1.0), ("7", "2", -2.0)]
    assert (rows(run), run.empty) == (expected, ("r", "t"))


def test_whole_numbers_become_text_once() -> None:
    assert rows(run_of({1: {np.int64(2): 1}})) == [("1", "2", 1.0)]
    assert rows(run_of(pd.DataFrame({"qid": [1], "docno": [2], "score": [1]}))) == [("1", "2", 1.0)]


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        ({1.5: {"d": 1}}, "found '1.5', a query_id is text or a whole number"),
        ({True: {"d": 1}}, "found 'true', a query_id is text or a whole number"),
        ({"q": {False: 1}}, "found 'false', a doc_id is text or a whole number"),
        ({"q": {"d": 1, None: 1}}, "line 2: found 'null', a doc_id is text or a whole number"),
        ({"q": {"d": True}}, r"found 'true', a score is a number \(query q\)"),
        ({"q": {"d": "1"}}, "found '1', a score is a number"),
        ({"q": {"d": float("nan")}}, "found 'nan', a score is a number"),
        ({"q": {"": 1}}, "a doc_id is text of at least one character"),
        ({"q": {"\ud800": 1}}, "half of a surrogate pair"),
        ({"q": "['a', 'b']"}, "a query has .document id: score. or a list"),
        ({"q": {"a", "b"}}, "a query has .document id: score. or a list"),
        ({"q": 1.0}, "a query has .document id: score. or a list"),
        ([("q", "d")], r"a row is \(query_id, doc_id, score\), a mapping or an object"),
        (["q"], r"a row is \(query_id, doc_id, score\)"),
        ([None], r"a row is \(query_id, doc_id, score\)"),
        ([("q", "d", 1), ("q", 1.5, 1)], "line 2: found '1.5', a doc_id is text or a whole number"),
    ],
)
def test_wrong_rows(obj: Any, said: str) -> None:
    with pytest.raises(RowsError, match=said):
        run_of(obj)


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        ({}, "no rows"),
        ([], "no rows"),
        ("run.txt", "str is no table"),
        (7, "int is no table"),
        (COLUMNS, "a dict of columns; pass a data frame"),
        (
            pd.DataFrame({"qid": ["q", 1], "docno": ["a", "b"], "score": [1, 2]}),
            "cannot be read through Arrow",
        ),
        (pd.DataFrame({"qid": [1.0], "docno": ["a"], "score": [1]}), "holds Float64 values; ids are text"),
        (pl.DataFrame({"qid": [True], "docno": ["a"], "score": [1]}), "holds Boolean values; ids are text"),
        (
            pl.DataFrame({"docno": ["a"], "score": [1]}),
            r"no column for the query id \(accepted names: query_id, qid",
        ),
        (pl.DataFrame({"qid": ["q"], "docno": ["a"]}), "no column for the score; --order file"),
        (pl.DataFrame({"qid": ["q"], "docno": ["a"], "score": ["1"]}), "holds String values, not numbers"),
        (
            pl.DataFrame({"qid": ["q"], "query_id": ["q"], "docno": ["a"], "score": [1]}),
            "second column for the query id",
        ),
        (pl.DataFrame({"q_id": ["q", "r"], "doc_id": "a", "score": 1, "run": ["a", "b"]}), "holds 2 systems"),
    ],
)
def test_wrong_tables(obj: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        run_of(obj)


def test_order_by_rank() -> None:
    frame = pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1, 2], "rank": [1, 2]})
    assert run_of(frame, order="rank").frame["score"].to_list() == [-1.0, -2.0]
    with pytest.raises(UsageError, match="needs a column rank"):
        run_of(frame.drop("rank"), order="rank")


def test_failed_and_empty_rows() -> None:
    run = run_of([{"query_id": "q", "error": "x"}, {"query_id": "r", "doc_ids": []}])
    assert (dict(run.failed), run.empty) == ({"q": "x"}, ("r",))
    frame = pl.DataFrame({"qid": ["q", "r"], "docno": ["d", None], "score": [1, None], "error": [None, "x"]})
    run = run_of(frame)
    assert (rows(run), dict(run.failed)) == ([("q", "d", 1.0)], {"r": "x"})


@pytest.mark.parametrize(
    "obj",
    [
        {"q": {"d": 2, "e": 0, "f": None}},
        pd.DataFrame({"qid": ["q", "q"], "docno": ["d", "e"], "label": [2, 0]}),
        pl.DataFrame({"query_id": ["q", "q", "q"], "doc_id": ["d", "e", "f"], "relevance": [2, 0, None]}),
        [Qrel("q", "d", 2), Qrel("q", "e", 0)],
        [("q", "d", 2), ("q", "e", np.int8(0))],
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_qrels(obj: Any) -> None:
    assert qrels_of(obj).frame.select("query_id", "doc_id", "grade").rows() == [
        ("q", "d", 2.0),
        ("q", "e", 0.0),
    ]


def test_qrels_from_ids_alone() -> None:
    qrels = qrels_of({"q": ["a", "a"], "r": {"c", "b"}, "s": []})
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == [
        ("q", "a", 1),
        ("r", "b", 1),
        ("r", "c", 1),
    ]
    assert qrels.merged == 1


def test_qrels_options() -> None:
    twice = [("q", "d", 1), ("q", "d", 2)]
    with pytest.raises(RowsError, match="line 2: found 'q d 2', but line 1 judges the same pair 1"):
        qrels_of(twice)
    assert qrels_of(twice, conflicts="max", grade_map={2: 9}).frame["grade"].to_list() == [9.0]
    assert qrels_of({"q": {"d": 1}}, max_grade=3).top_grade() == 3
    subtopics = [Qrel("q", "d", 1, "1"), Qrel("q", "d", 0, "2")]
    assert qrels_of(subtopics, keep_subtopic=True).frame["subtopic"].to_list() == ["1", "2"]


@pytest.mark.parametrize(
    "obj",
    [
        {"1": "what", 2: "who"},
        {"1": {"text": "what"}, "2": {"text": "who"}},
        pd.DataFrame({"qid": ["1", "2"], "query": ["what", "who"]}),
        [("1", "what"), ("2", "who")],
        [{"_id": "1", "text": "what"}, {"_id": 2, "text": "who"}],
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_queries(obj: Any) -> None:
    assert queries_of(obj).column("text") == {"1": "what", "2": "who"}


def test_tables_are_given_back_as_they_are() -> None:
    run, qrels, queries = run_of({"q": ["d"]}), qrels_of({"q": ["d"]}), queries_of({"q": "?"})
    assert isinstance(run, Run)
    assert isinstance(qrels, Qrels)
    assert isinstance(queries, Queries)
    assert (run_of(run), qrels_of(qrels), queries_of(queries)) == (run, qrels, queries)


def test_the_callers_data_is_not_changed() -> None:
    frame = pd.DataFrame({"qid": [1, 2], "docno": ["a", "b"], "label": [1, 2], "extra": [[1], [2]]})
    before = frame.copy(deep=True)
    nested: dict[Any, Any] = {1: {"a": 1, "b": None}, "q": {"c": 2}}
    kept = copy.deepcopy(nested)
    qrels_of(frame, grade_map={1: 5})
    qrels_of(nested, grade_map={1: 5})
    pd.testing.assert_frame_equal(frame, before)
    assert nested == kept
