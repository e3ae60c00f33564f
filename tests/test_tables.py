"""Tables as rows: a run in memory goes block by block, and no cut changes what is found."""

import polars as pl
import pytest

import leadline
from leadline import tables
from leadline.errors import RowsError, UsageError
from leadline.tables import EVERY, Qrels, Rows, Run

FRAME = pl.DataFrame(
    {
        "query_id": ["a", "a", "b", "b", "b", "b", "b", "c", "d"],
        "doc_id": ["1", "2", "1", "2", "3", "4", "5", "1", "1"],
        "score": [2.0, 1.0, 5.0, 4.0, 3.0, 2.0, 1.0, 1.0, 1.0],
    }
)
QRELS = {"a": {"2": 1}, "b": {"5": 1, "1": 1}, "c": {"9": 1}, "d": {"1": 1}}


def cut(frame: pl.DataFrame) -> list[list[str]]:
    return [block.load()["query_id"].to_list() for block in Run.checked(frame).blocks()]


def test_blocks_end_where_queries_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cut(FRAME) == [FRAME["query_id"].to_list()]
    monkeypatch.setattr(tables, "BLOCK_ROWS", 2)
    # After each query whose end passes another multiple of two rows: a at 2, b at 7, c at 8; d is the rest.
    assert cut(FRAME) == [["a"] * 2, ["b"] * 5, ["c"], ["d"]]
    blocks = list(Run.checked(FRAME).blocks())
    assert [list(block.lines()) for block in blocks] == [[1, 2], [3, 4, 5, 6, 7], [8], [9]]
    assert [block.rows().number.tolist() for block in blocks][1] == [5.0, 4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_blocks_change_no_value(monkeypatch: pytest.MonkeyPatch, seed: int | None) -> None:
    frame = FRAME if seed is None else FRAME.sample(fraction=1, shuffle=True, seed=seed)
    monkeypatch.setattr(tables, "BLOCK_ROWS", 2)
    scores = leadline.evaluate(frame, QRELS, ["AP"])
    # a: the relevant one at rank 2; b: at ranks 1 and 5, (1/1 + 2/5)/2 = 0.7; c: none found; d: at rank 1.
    assert scores.per_query("AP") == {"a": 0.5, "b": 0.7, "c": 0.0, "d": 1.0}


def test_lines_of_a_document_that_stands_in_two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ROWS", 2)
    twice = pl.concat([FRAME, FRAME.filter(pl.col("query_id") == "a").head(1)])
    with pytest.raises(RowsError, match=r"line 10: .*line 1 has the same document"):
        leadline.evaluate(twice, QRELS, ["AP"])


def test_judgments_are_one_table_in_two_forms() -> None:
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d", "é"], "grade": [1.0, 0.0]})
    rows = Rows.of_frame(frame, "grade")
    of_rows, of_frame = Qrels.checked(rows), Qrels.checked(frame)
    assert of_rows.frame.equals(of_frame.frame)
    assert of_rows.rows.doc_id.tolist() == of_frame.rows.doc_id.tolist() == [b"d", "é".encode()]
    assert of_rows.top_grade() == of_frame.top_grade() == 1


def test_repeated_rows_are_settled_as_in_a_frame() -> None:
    frame = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["d", "e", "d"], "grade": [1.0, 0.0, 2.0]})
    rows = Rows.of_frame(frame, "grade")
    with pytest.raises(RowsError, match="the same pair"):
        Qrels.checked(rows)
    settled = Qrels.checked(rows, conflicts="max")
    assert settled.frame.rows() == [("q", "d", 2.0), ("q", "e", 0.0)] and settled.resolved == 1
    mapped = Qrels.checked(Rows.of_frame(frame.head(2), "grade"), grade_map={1: 3})
    assert mapped.rows.number.tolist() == [3.0, 0.0]


def test_repeated_pairs_stay_only_for_those_who_look_for_them() -> None:
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d", "d"], "grade": [1.0, 2.0]})
    assert Qrels.checked(frame, conflicts=EVERY).frame.height == 2
    # The word alone is no rule: a user cannot ask for it.
    with pytest.raises(UsageError, match="is not one of"):
        Qrels.checked(frame, conflicts="every")  # type: ignore[arg-type]
