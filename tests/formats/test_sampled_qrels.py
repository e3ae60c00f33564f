"""Judgments of a sampled pool: stratum and probability in every format that can hold them."""

import json
from pathlib import Path

import polars as pl
import pytest

from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.objects import qrels_of
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.formats.write import write_qrels
from leadline.tables import Qrels

ROWS = [
    {"query_id": "q", "doc_id": "a", "grade": 2, "stratum": "1-10", "probability": 1.0},
    {"query_id": "q", "doc_id": "b", "grade": -1, "stratum": "11-50", "probability": 0.25},
    {"query_id": "r", "doc_id": "a", "grade": 0, "stratum": "1-10", "probability": 1.0},
]
SHAPE = ["query_id", "doc_id", "grade", "stratum", "probability"]


def shaped(qrels: Qrels) -> list[tuple[object, ...]]:
    return qrels.frame.select(name for name in SHAPE if name in qrels.frame.columns).rows()


EXPECTED = [tuple(row.values()) for row in ROWS]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet", ".jsonl.gz"])
def test_written_and_read_back(tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"q{ending}"
    write_qrels(Qrels.checked(pl.DataFrame(ROWS)), place)
    assert shaped(read_qrels(place)) == EXPECTED


def test_the_five_columns_of_trec(tmp_path: Path) -> None:
    place = tmp_path / "q.qrels"
    write_qrels(Qrels.checked(pl.DataFrame(ROWS)), place)
    assert place.read_text() == "q 0 a 1-10 2\nq 0 b 11-50 -1\nr 0 a 1-10 0\n"
    assert shaped(read_qrels(place, input_format="trec-sampled")) == [row[:4] for row in EXPECTED]
    # Irregular blanks and comments take the other way through the reader.
    place.write_text("# made by hand\nq\t0  a   1-10 2\n\nq 0 b 11-50 -1\r\n")
    read = read_qrels(place, input_format="trec-sampled", comments=True)
    assert shaped(read) == [row[:4] for row in EXPECTED[:2]]


def test_five_columns_are_never_guessed(tmp_path: Path) -> None:
    place = tmp_path / "q.qrels"
    place.write_text("q 0 a 1 2\n")
    with pytest.raises(RowsError, match="with a stratum: --qrels-format trec-sampled"):
        read_qrels(place)
    place.write_text("q 0 a 2\n")
    with pytest.raises(RowsError, match="4 columns; a sampled judgment line has 5"):
        read_qrels(place, input_format="trec-sampled")
    place.write_text("q 0 a 1 x\n")
    with pytest.raises(RowsError, match="column 5"):
        read_qrels(place, input_format="trec-sampled")
    for read in (read_run, read_queries, read_rag_rows):
        with pytest.raises(UsageError, match="a format of judgments"):
            read(place, input_format="trec-sampled")


def test_rows_that_do_not_say(tmp_path: Path) -> None:
    place = tmp_path / "q.jsonl"
    rows = [*ROWS, {"query_id": "s", "doc_id": "z", "grade": 1}, {**ROWS[0], "doc_id": "y", "stratum": None,
            "probability": None}]  # fmt: skip
    place.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    found = dict(zip(read_qrels(place).frame["doc_id"], read_qrels(place).frame["stratum"], strict=True))
    assert (found["z"], found["y"], found["b"]) == (None, None, "11-50")
    (tmp_path / "q.csv").write_text("qid,docno,rel,stratum,probability\nq,a,1,,\nq,b,0,2,0.5\n")
    assert shaped(read_qrels(tmp_path / "q.csv")) == [("q", "a", 1.0, None, None), ("q", "b", 0.0, "2", 0.5)]


def test_a_number_as_stratum_is_its_text(tmp_path: Path) -> None:
    place = tmp_path / "q.jsonl"
    place.write_text('{"query_id": "q", "doc_id": "a", "grade": 1, "stratum": 1}\n')
    assert shaped(read_qrels(place)) == [("q", "a", 1.0, "1")]
    assert (
        qrels_of(pl.DataFrame({"qid": ["q"], "docno": ["a"], "rel": [1], "stratum": [3]})).frame["stratum"][0]
        == "3"
    )


@pytest.mark.parametrize("chance", [0, -0.1, 1.5])
def test_a_probability_is_above_0_and_at_most_1(tmp_path: Path, chance: float) -> None:
    place = tmp_path / "q.jsonl"
    place.write_text("".join(json.dumps(row | {"probability": chance}) + "\n" for row in ROWS[:1]))
    with pytest.raises(RowsError, match="above 0 and at most 1"):
        read_qrels(place)


def test_a_probability_is_a_number(tmp_path: Path) -> None:
    place = tmp_path / "q.jsonl"
    place.write_text(json.dumps(ROWS[0] | {"probability": "often"}) + "\n")
    with pytest.raises(RowsError, match="a probability is a finite number"):
        read_qrels(place)
    with pytest.raises(InputError, match="not numbers"):
        Qrels.checked(pl.DataFrame([ROWS[0] | {"probability": "often"}]))
    (tmp_path / "q.csv").write_text("qid,docno,rel,probability\nq,a,1,often\n")
    with pytest.raises(RowsError, match="a probability is a number"):
        read_qrels(tmp_path / "q.csv")


def test_a_stratum_with_white_space_is_no_trec(tmp_path: Path) -> None:
    qrels = Qrels.checked(pl.DataFrame([ROWS[0] | {"stratum": "top ten"}]))
    with pytest.raises(InputError, match="white space"):
        write_qrels(qrels, tmp_path / "q.qrels")
