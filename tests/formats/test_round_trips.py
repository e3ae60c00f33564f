"""What is written is read back the same, whatever the ids and numbers are."""

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from leadline.formats.delimited import table_of
from leadline.formats.lists import Held, Hit
from leadline.formats.msmarco import read_msmarco, write_msmarco
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.sniff import FORMATS, recognise
from leadline.formats.source import Source
from leadline.formats.write import write_qrels, write_queries, write_run
from leadline.tables import Qrels, Queries, Run

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
TREC_ID = TEXT.map(lambda text: "".join(c for c in text if c not in " \t\n\r\x0b\x0c")).filter(bool)
# Files and slow machines: no example has a time limit.
UNTIMED = settings(deadline=None)
SCORE = st.floats(allow_nan=False)
GRADE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-2, 4).map(float)


def frame_of(rows: list[tuple[str, str, float]], number: str) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"query_id": pl.String, "doc_id": pl.String, number: pl.Float64}, orient="row"
    )


def run_rows(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str, float]]]:
    return st.lists(st.tuples(ids, ids, SCORE), min_size=1, max_size=6)


def back(rows: list[tuple[str, str, float]], ending: str) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        write_run(Run.checked(frame_of(rows, "score")), path)
        frames = [block.load().select("query_id", "doc_id", "score") for block in read_run(path).blocks()]
        return pl.concat(frames)


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet", ".csv.gz"])
@UNTIMED
@given(rows=run_rows(TEXT))
def test_runs(ending: str, rows: list[tuple[str, str, float]]) -> None:
    assert back(rows, ending).equals(frame_of(rows, "score"))


@UNTIMED
@given(rows=run_rows(TREC_ID))
def test_trec_runs(rows: list[tuple[str, str, float]]) -> None:
    assert back(rows, ".run").equals(frame_of(rows, "score"))


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet", ".qrels"])
@UNTIMED
@given(
    rows=st.lists(st.tuples(TREC_ID, TREC_ID, GRADE), min_size=1, max_size=6, unique_by=lambda row: row[:2])
)
def test_qrels(ending: str, rows: list[tuple[str, str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        write_qrels(Qrels.checked(frame_of(rows, "grade")), path)
        got = read_qrels(path).frame.select("query_id", "doc_id", "grade")
    assert got.equals(frame_of(rows, "grade"))


LIKE_OTHER_FORMATS = (
    '{"', '{"a":', '{"q":{"d":1}}', "{}", "[", "[{", '["a",', "query,docid,rating", "qid,docno,score", "query_id,doc_id", "q,d,1",
    "PAR1", "#", "%", "\ufeff", "\ufeffone", "\ufeff\ufeff", ".I", ".W", "/", "1", "qid:1", "-", "''", '"',
)  # fmt: skip


@pytest.mark.parametrize("doc_id", ["d", "{}", "}", '{"q":1}'])
@pytest.mark.parametrize("query_id", LIKE_OTHER_FORMATS)
@pytest.mark.parametrize("rows", [1, 3, 19, 20, 21, 60])
def test_trec_with_ids_that_look_like_another_format(
    query_id: str, doc_id: str, rows: int, tmp_path: Path
) -> None:
    pairs = [(query_id, f"{doc_id}{n or ''}", float(n)) for n in range(rows)]
    assert back(pairs, ".run").equals(frame_of(pairs, "score"))
    write_qrels(Qrels.checked(frame_of(pairs, "grade")), tmp_path / "x.qrels")
    assert (
        read_qrels(tmp_path / "x.qrels")
        .frame.select("query_id", "doc_id", "grade")
        .equals(frame_of(pairs, "grade"))
    )


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet"])
@UNTIMED
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6, unique_by=lambda row: row[0]))
def test_queries(ending: str, rows: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(rows, schema={"query_id": pl.String, "text": pl.String}, orient="row")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        write_queries(Queries.checked(frame), path)
        assert read_queries(path).frame.select("query_id", "text").equals(frame)


@UNTIMED
@given(rows=run_rows(TEXT), ascii_only=st.booleans())
def test_json_of_any_writer(rows: list[tuple[str, str, float]], ascii_only: bool) -> None:
    lines = [
        json.dumps({"docno": doc, "qid": query, "score": score}, ensure_ascii=ascii_only)
        for query, doc, score in rows
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.txt"
        path.write_bytes("\n".join(lines).encode())
        run = read_run(path)
        assert isinstance(run, Run)
    assert run.frame.select("query_id", "doc_id", "score").equals(frame_of(rows, "score"))


@UNTIMED
@given(text=st.text(st.sampled_from('a,"\r\n1 .'), max_size=30))
def test_both_ways_of_reading_csv_agree(text: str) -> None:
    """A quoted empty field more makes the reader go by the letter; the rest must come out the same."""
    data = "h,i\n" + text
    slow = "h,i\n" + text + ("" if text.endswith("\n") or not text else "\n") + '"",z\n'

    def rows(content: str) -> list[tuple[object, ...]] | None:
        try:
            return table_of(content.encode(), ",", "x").frame.rows()
        except LeadlineError:
            return None

    fast, by_letter = rows(data), rows(slow)
    if fast is not None and by_letter is not None:
        assert fast == by_letter[:-1]
    elif by_letter is not None:
        assert len(by_letter) == 1


@UNTIMED
@given(head=st.binary(max_size=60), ending=st.sampled_from(["", ".csv", ".json", ".jsonl", ".run"]))
def test_anything_is_recognised_as_something(head: bytes, ending: str) -> None:
    assert recognise(head, ending) in FORMATS


@UNTIMED
@given(
    data=st.text(st.sampled_from('{}[]":,\n q1d.NaN\\'), max_size=60).map(str.encode)
    | st.binary(min_size=1, max_size=60)
)
def test_no_file_breaks_a_reader(data: bytes) -> None:
    """Whatever the bytes are: a table, or an error of this package."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        for read in (read_run, read_qrels, read_queries):
            for form in (None, "jsonl", "json", "csv", "tsv", "parquet"):
                try:
                    read(path, input_format=form)
                except LeadlineError:
                    continue


@pytest.mark.parametrize("query_id", LIKE_OTHER_FORMATS)
def test_msmarco_with_ids_that_look_like_another_format(query_id: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    write_msmarco(Held(hits=tuple(Hit(query_id, f"d{n}", -float(n)) for n in range(3))), path)
    assert [(one.query, one.doc_id) for one in read_msmarco(Source.open(path)).hits] == [
        (query_id, f"d{n}") for n in range(3)
    ]
