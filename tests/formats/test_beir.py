"""BEIR folders."""

from pathlib import Path

import pytest

from leadline.errors import InputError, UsageError
from leadline.formats.beir import read_beir_qrels, read_beir_queries, write_beir
from leadline.formats.objects import qrels_of, queries_of
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t007\t2\nq1\tNA\t0\n")
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td\t1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "who?", "metadata": {"a": [1]}}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "007", "title": "", "text": "x"}\n')
    return tmp_path


def test_read(folder: Path) -> None:
    assert read_beir_qrels(folder).frame.select("query_id", "doc_id", "grade").rows() == [
        ("q1", "007", 2),
        ("q1", "NA", 0),
    ]
    assert read_beir_qrels(folder, "dev").frame["doc_id"].to_list() == ["d"]
    assert read_beir_queries(folder).column("text") == {"q1": "who?"}
    assert read_qrels(folder, grade_map={2: 1}).frame["grade"].to_list() == [1, 0]
    assert read_qrels(folder / "qrels" / "dev.tsv").frame["query_id"].to_list() == ["q2"]
    assert read_queries(folder).column("text") == {"q1": "who?"}


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no qrels/train.tsv in it, as a BEIR folder has; splits there: dev, test"
    ):
        read_beir_qrels(folder, "train")
    with pytest.raises(InputError, match="no such folder"):
        read_beir_queries(folder / "nowhere")
    (empty := tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no queries.jsonl in it"):
        read_queries(empty, input_format="beir")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_qrels(empty)
    with pytest.raises(UsageError, match="not a run"):
        read_run(folder)
    with pytest.raises(UsageError, match="not beir"):
        read_rag_rows(folder)


def test_write_reads_back(tmp_path: Path) -> None:
    qrels = qrels_of({"q1": {"d\u00a0": 2, "e": 0}})
    queries = queries_of(
        [{"query_id": "q1", "text": "who\n?", "type": "x"}, {"query_id": "q2", "text": None, "type": None}]
    )
    corpus = [{"_id": "e", "text": "t", "title": "T"}, {"_id": "f", "text": "u"}]
    write_beir(tmp_path / "set", queries=queries, qrels=qrels, corpus=corpus)
    back = read_beir_qrels(tmp_path / "set").frame
    assert back.select("query_id", "doc_id", "grade").equals(
        qrels.frame.select("query_id", "doc_id", "grade")
    )
    assert read_beir_queries(tmp_path / "set").column("text") == {"q1": "who\n?", "q2": ""}
    assert read_beir_queries(tmp_path / "set").column("type") == {"q1": "x", "q2": None}
    lines = (tmp_path / "set" / "qrels" / "test.tsv").read_text().split("\n")
    assert lines == ["query-id\tcorpus-id\tscore", "q1\td\u00a0\t2", "q1\te\t0", ""]
    assert (
        (tmp_path / "set" / "corpus.jsonl")
        .read_text()
        .startswith('{"title": "T", "_id": "e", "text": "t"}\n')
    )
    assert sorted(p.name for p in (tmp_path / "set").rglob("*")) == [
        "corpus.jsonl",
        "qrels",
        "queries.jsonl",
        "test.tsv",
    ]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the doc_id 'a.*tb' has a tab"):
        write_beir(tmp_path / "set", qrels=qrels_of({"q": {"a\tb": 1}}))
    with pytest.raises(UsageError, match="a corpus row has _id and text; found _id"):
        write_beir(tmp_path / "set", corpus=[{"_id": "a"}])
    assert not (tmp_path / "set" / "corpus.jsonl").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write to"):
        write_beir(tmp_path / "file", qrels=qrels_of({"q": {"a": 1}}))
