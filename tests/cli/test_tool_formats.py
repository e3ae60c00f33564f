"""Commands take the files of other tools: evaluate, compare, gate's baseline, pool and the book."""

import json
from pathlib import Path

import pytest

from leadline.cli.main import run as command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.csv").write_text("query,docid,rating\nstar trek,d1,1\nalien,d2,1\ngone,d9,1\n")
    head = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
    (tmp_path / "june.csv").write_text(head + "J,t,1,star trek,d1,1\nJ,t,1,alien,d3,1\nJ,t,1,alien,d2,2\n")
    (tmp_path / "dense.run").write_text("q1 Q0 d1 1 2 x\nq2 Q0 d2 1 2 x\nq2 Q0 d4 2 1 x\n")
    (tmp_path / "queries.csv").write_text("query_id,text\nq1,star trek\nq2,alien\n")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = 0
    try:
        command(list(words))
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_compare_a_snapshot_with_a_run_by_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("june.csv", "dense.run", "--qrels", "ratings.csv", "--queries", "queries.csv", "-m", "RR")
    code, out, err = told(capsys, "evaluate", *words, "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    # june: star trek 1, alien 1/2; dense: 1 and 1. "gone" has no id, so two queries are judged.
    assert {row["system"]: row["mean"] for row in found["results"]} == {"june": 0.75, "dense": 1.0}
    assert [line for line in found["warnings"] if "left out: 1 query of 3" in line and "ratings.csv" in line]
    code, out, err = told(capsys, "compare", *words, "--format", "json")
    assert code in (0, 3), err
    assert "0.75" in out


def test_pool_and_overlap_meet_by_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("june.csv", "dense.run", "--queries", "queries.csv")
    code, _, err = told(capsys, "pool", *words, "-k", "2", "--write", "pool.jsonl")
    assert code == 0, err
    rows = [json.loads(line) for line in (folder / "pool.jsonl").read_text().splitlines()]
    pairs = {(row["query_id"], row["doc_id"]) for row in rows if "doc_id" in row}
    assert pairs == {("q1", "d1"), ("q2", "d2"), ("q2", "d3"), ("q2", "d4")}
    code, _, err = told(capsys, "pool", *words, "--qrels", "ratings.csv", "-k", "2", "--write", "rest.jsonl")
    assert code == 0, err
    rest = [json.loads(line) for line in (folder / "rest.jsonl").read_text().splitlines()]
    assert {(row["query_id"], row["doc_id"]) for row in rest} == {("q2", "d3"), ("q2", "d4")}
    assert "ratings.csv: left out: 1 query of 3" in err


def test_a_format_that_is_named_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capsys, "evaluate", "june.csv", "--qrels", "ratings.csv", "--qrels-format", "quepit")
    assert (code, "did you mean" in err) == (2, True)
    code, _, err = told(
        capsys, "evaluate", "june.csv", "--qrels", "june.csv", "--qrels-format", "quepid-snapshot"
    )
    assert code == 2
    assert "holds run and queries, not judgments" in err


def test_the_book(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(
        capsys, "book", "import", "b.db", "ratings.csv", "--who", "ana", "--queries", "queries.csv"
    )
    assert code == 0, err
    assert "ratings.csv: 2 judgments added" in out
    assert "left out: 1 query of 3 whose text is not in queries.csv" in out
    code, _, err = told(
        capsys, "book", "export", "b.db", "out.json", "--format", "rre", "--queries", "queries.csv"
    )
    assert code == 0, err
    assert '"$query": "star trek"' in (folder / "out.json").read_text()
    code, _, err = told(
        capsys, "evaluate", "dense.run", "--qrels", "out.json", "--queries", "queries.csv", "-m", "RR"
    )
    assert code == 0, err
