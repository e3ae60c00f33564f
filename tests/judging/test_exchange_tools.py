"""The book in and out of other tools' files: judges, notes and marks stay; ids come by text where queries are given."""

import json
from pathlib import Path

import pytest

from leadline.errors import InputError, UsageError
from leadline.formats.objects import queries_of
from leadline.judging.exchange import checked_target, read_judgments, write_judges, write_labels
from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels

ROWS = [
    Judgment("q1", "d1", 2, who="ana", note="the series"),
    Judgment("q1", "d1", 1, who="bob"),
    Judgment("q1", "d2", mark="unsure", who="bob", note="no text"),
    Judgment("q2", "d3", mark="skip", who="ana"),
    Judgment("q2", "d4", 0, who="ana"),
    Judgment("q2", "d5", 3, who="gpt", kind="model", model={"name": "gpt"}),
]
QUERIES = queries_of(
    [
        {"query_id": "q1", "text": "star trek", "information_need": "the series"},
        {"query_id": "q2", "text": "alien", "information_need": None},
    ]
)


def said(rows: tuple[Judgment, ...]) -> set[tuple[object, ...]]:
    return {(row.query_id, row.doc_id, row.grade, row.mark, row.who, row.note) for row in rows}


def test_a_book_of_quepid_and_back(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    # Persons only: the file cannot say that a judge is a model.
    assert write_judges(ROWS, path, "quepid-book", queries=QUERIES) == 3
    pairs = json.loads(path.read_text())["query_doc_pairs"]
    assert pairs[0]["query_text"] == "star trek"
    assert pairs[0]["information_need"] == "the series"
    back = read_judgments(path, queries=QUERIES)
    persons = tuple(row for row in ROWS if row.kind == "person")
    assert said(back.rows) == said(persons)
    # Without the queries the text is the id.
    assert {row.query_id for row in read_judgments(path).rows} == {"star trek", "alien"}
    # Twice read, the same rows: importing again adds nothing.
    assert {row.id for row in back.rows} == {row.id for row in read_judgments(path, queries=QUERIES).rows}


def test_judgments_of_a_model_by_kind(tmp_path: Path) -> None:
    assert write_judges(ROWS, tmp_path / "m.csv", "quepid-judges", "model") == 1
    assert (tmp_path / "m.csv").read_text() == "query,docid,gpt\nq2,d5,3\n"
    with pytest.raises(InputError, match="no unstated's grade stands in the book"):
        write_judges(ROWS, tmp_path / "n.csv", "quepid-judges", "unstated")


@pytest.mark.parametrize(
    "form", ["quepid", "quepid-json", "rre", "opensearch", "rank_eval", "ltr", "ranx", "langfuse"]
)
def test_labels_in_every_format_and_back(tmp_path: Path, form: str) -> None:
    labels = make_labels([row for row in ROWS if row.kind == "person"], "majority")
    path = tmp_path / "out"
    write_labels(labels, path, form, queries=QUERIES)
    expected = {(one.query_id, one.doc_id, one.grade) for one in labels.labels}
    found = read_judgments(path, form=form, who="team", queries=QUERIES)
    assert {(row.query_id, row.doc_id, row.grade) for row in found.rows} == expected
    with pytest.raises(UsageError, match="--who NAME"):
        read_judgments(path, form=form)


def test_one_judge_with_two_grades_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("query,docid,rating\nq,d,1\nq,d,1\n")
    assert len({row.id for row in read_judgments(tmp_path / "r.csv", who="ana").rows}) == 1
    (tmp_path / "r.csv").write_text("query,docid,rating\nq,d,1\nq,d,2\n")
    with pytest.raises(InputError, match=r"line 3: found 'q d 2.0', but ana said 1.0 before"):
        read_judgments(tmp_path / "r.csv", who="ana")


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    assert checked_target(tmp_path / "x.json", "rank_eval") == "rank_eval"
    with pytest.raises(UsageError, match="judgments are not written as rank_eval-response"):
        checked_target(tmp_path / "x.json", "rank_eval-response")
    labels = make_labels([Judgment("q", "d", 1.5, who="ana")], "latest")
    with pytest.raises(InputError, match=r"the grade 1\.5 has a fraction, and RRE takes whole numbers"):
        write_labels(labels, tmp_path / "x.json", "rre")
    assert not (tmp_path / "x.json").exists()
