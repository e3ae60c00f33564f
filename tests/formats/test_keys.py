"""Files that name queries by text: exact text to id, what has no id is counted, made ids and their map."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.evaluation import evaluate
from leadline.formats.keys import (
    escaped,
    escaped_ids,
    unescaped,
    with_ids,
    with_made_ids,
    with_texts,
    write_map,
)
from leadline.formats.lists import Graded, Held
from leadline.formats.objects import queries_of
from leadline.formats.read import read_queries

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
RATINGS = Held(
    "text",
    (Graded("star trek", "d1", 2.0), Graded("alien", "d2", 1.0), Graded("Alien", "d2", 0.0)),
    source="r.csv",
)


def test_a_text_becomes_the_id_of_the_query_that_has_it() -> None:
    queries = queries_of({"q1": "star trek", "q2": "alien", "q3": "Alien"})
    found = with_ids(RATINGS, queries)
    assert [row.query for row in found.graded] == ["q1", "q2", "q3"]
    assert [(one.query, one.text) for one in found.asked[:1]] == [("q1", "star trek")]
    assert found.notes == ()


def test_texts_that_no_query_has_are_left_out_counted_and_said() -> None:
    found = with_ids(RATINGS, queries_of({"q1": "star trek"}))
    assert [row.query for row in found.graded] == ["q1"]
    assert found.notes == (
        "left out: 2 queries of 3 whose text is not in queries, with 2 rows (the first is 'alien')",
    )
    with pytest.raises(InputError, match="none of its 3 queries has its text in queries"):
        with_ids(RATINGS, queries_of({"q1": "Star Trek"}))
    with pytest.raises(InputError, match="no texts in it"):
        with_ids(RATINGS, queries_of([{"query_id": "q1", "type": "a"}]))


def test_one_text_of_two_queries_is_an_error_that_names_both() -> None:
    with pytest.raises(InputError, match=r"2 queries have the text 'alien' \(q2, q9\)"):
        with_ids(RATINGS, queries_of({"q1": "star trek", "q2": "alien", "q9": "alien"}))
    # Of a text that the file does not use nothing depends.
    assert len(with_ids(RATINGS, queries_of({"q1": "star trek", "q2": "x", "q3": "x"})).graded) == 1


def test_a_file_whose_queries_are_ids_says_so() -> None:
    held = Held("text", (Graded("q1", "d", 1.0),), source="r.csv")
    found = with_ids(held, queries_of({"q1": "star trek", "q2": "alien"}))
    assert [row.query for row in found.graded] == ["q1"]
    assert "named by the ids of queries" in found.notes[0]


def test_without_queries_the_text_is_the_id() -> None:
    assert [row.query for row in with_ids(RATINGS).graded] == ["star trek", "alien", "Alien"]


@given(TEXT)
def test_escaped_ids_stand_in_every_format_and_go_back(text: str) -> None:
    made = escaped(text)
    assert not set(made) & set(' \t\n\r\x0b\x0c"')
    assert unescaped(made) == text
    assert escaped_ids(pl.DataFrame({"query_id": [text], "doc_id": ["d"]})).row(0) == (made, "d")


@given(TEXT, TEXT)
def test_two_texts_never_get_one_id(one: str, other: str) -> None:
    assert (escaped(one) == escaped(other)) == (one == other)


def test_the_map_is_written_beside_and_never_over_another_file(tmp_path: Path) -> None:
    found, texts = with_made_ids(RATINGS)
    assert [row.query for row in found.graded] == ["star%20trek", "alien", "Alien"]
    place = write_map(texts, tmp_path / "qrels.txt")
    assert place == tmp_path / "qrels.txt.queries.jsonl"
    assert read_queries(place).column("text")["star%20trek"] == "star trek"
    # The same map again is no other file; with the map the list gets the ids that were made.
    assert write_map(texts, tmp_path / "qrels.txt") == place
    assert [row.query for row in with_ids(RATINGS, read_queries(place)).graded] == [
        "star%20trek",
        "alien",
        "Alien",
    ]
    place.write_text("mine")
    with pytest.raises(UsageError, match="there is another file"):
        write_map(texts, tmp_path / "qrels.txt")
    assert place.read_text() == "mine"


def test_texts_for_a_file_that_names_queries_by_them() -> None:
    held = Held("id", (Graded("q1", "d", 1.0), Graded("q2", "d", 1.0)))
    assert [row.query for row in with_texts(held, queries_of({"q1": "star trek", "q2": "alien"})).graded] == [
        "star trek", "alien",
    ]  # fmt: skip
    with pytest.raises(InputError, match="have one text, 'alien'"):
        with_texts(held, queries_of({"q1": "alien", "q2": "alien"}))


def test_evaluate_joins_files_keyed_by_text(tmp_path: Path) -> None:
    """A run by id, judgments by text: only --queries brings them together; the counts are said with the numbers."""
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d9 2 1 x\nq2 Q0 d2 1 2 x\n")
    (tmp_path / "ratings.csv").write_text("query,docid,rating\nstar trek,d1,1\nalien,d2,1\ngone,d3,1\n")
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in (("q1", "star trek"), ("q2", "alien")))
    )
    paths = [str(tmp_path / name) for name in ("bm25.run", "ratings.csv", "queries.jsonl")]
    scores = evaluate(paths[0], paths[1], "P@1", queries=paths[2])
    # Both queries have their relevant document first; "gone" has no id and is not judged.
    assert scores.mean("P@1") == 1.0
    assert any("left out: 1 query of 3 whose text is not in" in line for line in scores.warnings)
    # Two files keyed by text need no queries: the text is the id in both.
    (tmp_path / "june.csv").write_text(
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\nJ,t,1,star trek,d1,1\nJ,t,1,alien,d9,1\n"
    )
    both = evaluate(str(tmp_path / "june.csv"), paths[1], "P@1")
    # star trek 1, alien 0, gone without an answer 0: 1/3.
    assert both.mean("P@1") == pytest.approx(1 / 3)
