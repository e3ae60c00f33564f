"""`leadline convert`: what is said, what is written, what is not, and the exit codes."""

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from leadline.cli.main import app
from leadline.errors import LeadlineError

RUN = "q1 Q0 d1 1 0.30000000000000004 bm25\nq1 Q0 d2 2 -1e-300 bm25\nq2 Q0 d1 1 7 bm25\n"
RATINGS = "query,docid,rating\nstar trek,d1,3\nalien,d2,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "q.qrels").write_text("q1 0 d1 2\nq2 0 d2 0\n")
    return tmp_path


def convert(*words: str) -> Any:
    return CliRunner().invoke(app, ["convert", *words])


def test_scores_are_exact_and_rows_in_order(folder: Path) -> None:
    (folder / "mixed.run").write_text(
        "q2 Q0 z 1 0.1 t\nq1 Q0 a 1 0.30000000000000004 t\nq2 Q0 b 2 5e-324 t\n"
    )
    for name in ("m.jsonl", "m.csv", "m.tsv", "m.parquet", "m.run.gz", "m.csv.zst"):
        assert convert("mixed.run", name).exit_code == 0
        assert convert(name, "back.csv").exit_code == 0
        frame = pl.read_csv("back.csv")
        assert frame.rows() == [("q2", "z", 0.1), ("q1", "a", 0.30000000000000004), ("q2", "b", 5e-324)]
    # The rows of q2 stand apart; the ranks count over both.
    with gzip.open("m.run.gz", "rt") as file:
        assert [line.split()[3] for line in file] == ["1", "1", "2"]


def test_the_tag_of_a_trec_run_stays(folder: Path) -> None:
    convert("a.run", "b.run")
    assert (folder / "b.run").read_text() == RUN.replace(" 7 ", " 7.0 ")


def test_a_loss_is_said_and_stops(folder: Path) -> None:
    done = convert("a.run", "a.tsv", "--to", "msmarco")
    assert done.exit_code == 2
    assert "! msmarco loses 3 scores" in done.stderr and "nothing written; --lossy" in done.stderr
    assert not (folder / "a.tsv").exists()
    assert convert("a.run", "a.tsv", "--to", "msmarco", "--lossy").exit_code == 0
    assert (folder / "a.tsv").read_text() == "q1\td1\t1\nq1\td2\t2\nq2\td1\t1\n"


def test_a_file_that_is_there_stays_whole_where_nothing_is_written(folder: Path) -> None:
    (folder / "out.json").write_text("before")
    (folder / "half.csv").write_text("query_id,doc_id,grade\nq,d,1.5\n")
    done = convert("half.csv", "out.json", "--to", "rre", "--lossy")
    assert done.exit_code == 2 and "cannot hold this" in done.stderr
    assert (folder / "out.json").read_text() == "before"
    # What is there is replaced, as every command does.
    assert convert("q.qrels", "out.json", "--to", "ranx").exit_code == 0
    assert json.loads((folder / "out.json").read_text()) == {"q1": {"d1": 2}, "q2": {"d2": 0}}
    assert not list(folder.glob(".*.tmp"))


def test_ids_with_white_space_are_escaped_only_where_asked(folder: Path) -> None:
    (folder / "s.csv").write_text('query_id,doc_id,score\n"q 1",100%,1.0\n')
    done = convert("s.csv", "s.run", "--lossy")
    assert done.exit_code == 2 and "--escape writes such ids" in done.stderr
    assert not (folder / "s.run").exists()
    assert convert("s.csv", "s.run", "--escape").exit_code == 0
    assert (folder / "s.run").read_text() == "q%201 Q0 100%25 1 1.0 s\n"
    assert convert("s.run", "t.csv", "--unescape").exit_code == 0
    assert (folder / "t.csv").read_text() == (folder / "s.csv").read_text().replace('"', "")
    done = convert("s.csv", "t.csv", "--unescape")
    assert isinstance(done.exception, LeadlineError) and "none that --escape wrote" in str(done.exception)


def test_queries_by_text_get_ids_and_a_map_or_those_of_a_file(folder: Path) -> None:
    done = convert("ratings.csv", "r.qrels")
    assert done.exit_code == 0 and "r.qrels.queries.jsonl: which id is which text" in done.stdout
    assert (folder / "r.qrels").read_text() == "star%20trek 0 d1 3\nalien 0 d2 1\n"
    convert("r.qrels", "back.csv", "--to", "quepid", "--queries", "r.qrels.queries.jsonl")
    assert (folder / "back.csv").read_text() == RATINGS
    (folder / "queries.csv").write_text("query_id,text\nq1,star trek\n")
    done = convert("ratings.csv", "s.qrels", "--queries", "queries.csv")
    assert done.exit_code == 2 and "left out: 1 query of 2 whose text is not in queries.csv" in done.stderr
    assert convert("ratings.csv", "s.qrels", "--queries", "queries.csv", "--lossy").exit_code == 0
    assert (folder / "s.qrels").read_text() == "q1 0 d1 3\n"
    # A map that another file stands in the place of: neither is written.
    (folder / "u.qrels.queries.jsonl").write_text("mine")
    assert convert("ratings.csv", "u.qrels").exit_code != 0
    assert not (folder / "u.qrels").exists()


def test_what_a_file_is(folder: Path) -> None:
    (folder / "map.json").write_text('{"q1": {"d1": 2}}')
    done = convert("map.json", "m.jsonl")
    assert "can be read as a run or judgments: say which with --as" in str(done.exception)
    assert convert("map.json", "m.jsonl", "--as", "qrels").exit_code == 0
    assert json.loads((folder / "m.jsonl").read_text()) == {"query_id": "q1", "doc_id": "d1", "grade": 2}
    # Endings that say what a file of TREC holds are an answer, packed or not.
    assert convert("map.json", "m.qrels.gz").exit_code == 0 and convert("map.json", "m.run").exit_code == 0
    assert (folder / "m.run").read_text() == "q1 Q0 d1 1 2.0 map\n"
    assert gzip.decompress((folder / "m.qrels.gz").read_bytes()) == b"q1 0 d1 2\n"
    assert convert("map.json", "n.run", "--as", "qrels").exit_code == 0
    assert (folder / "n.run").read_text() == "q1 0 d1 2\n"
    # Only a run can be written as that.
    assert convert("map.json", "m.tsv", "--to", "msmarco", "--lossy").exit_code == 0
    assert "is written from a run" in str(convert("q.qrels", "m.tsv", "--to", "msmarco").exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.run", "a.run"), "is the file that is read"),
        (("a.run", "a.json"), "many tools write JSON"),
        (("a.run", "a.csv", "--to", "trec"), "the ending says csv, not trec"),
        (("a.run", "-"), "name the format with --to"),
        (("a.run", "b.run", "--to", "trek"), "unknown format to write 'trek'"),
        (("a.run", "b.run", "--as", "runs"), "is not one of run, qrels, queries"),
        (("a.run", "b.run", "--escape", "--unescape"), "undo each other"),
        (("a.run", "no/b.run"), "cannot write to no/b.run"),
        (("a.run", "b.db", "--to", "book"), "leadline book import"),
        (("a.run", "out", "--to", "beir"), "holds a run, and beir is written from judgments or queries"),
    ],
)
def test_wrong_use(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = convert(*words)
    assert isinstance(done.exception, LeadlineError)
    assert message in str(done.exception), str(done.exception)


def test_a_book_is_exported(folder: Path) -> None:
    (folder / "book.jsonl").write_text('{"query_id": "q", "doc_id": "d", "grade": 1, "who": "ana"}\n')
    assert "leadline book export" in str(convert("book.jsonl", "b.qrels").exception)


def test_beir_folders(folder: Path) -> None:
    (folder / "queries.csv").write_text("query_id,text\nq1,who?\nq2,when?\n")
    assert convert("q.qrels", "set", "--to", "beir", "--queries", "queries.csv").exit_code == 0
    assert (folder / "set/qrels/test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t0\n"
    assert json.loads((folder / "set/queries.jsonl").read_text().split("\n")[0]) == {
        "_id": "q1",
        "text": "who?",
    }
    assert convert("set", "r.csv", "--to", "quepid").exit_code == 0
    assert (folder / "r.csv").read_text() == "query,docid,rating\nwho?,d1,2\nwhen?,d2,0\n"
    assert convert("set", "q.tsv", "--as", "queries").exit_code == 0
    assert (folder / "q.tsv").read_text() == "query_id\ttext\nq1\twho?\nq2\twhen?\n"


def test_standard_input_and_output(folder: Path) -> None:
    command = [sys.executable, "-m", "leadline", "convert", "-", "-", "--to", "jsonl"]
    done = subprocess.run(command, input=RUN.encode(), capture_output=True, check=False)
    rows = [json.loads(line) for line in io.BytesIO(done.stdout)]
    assert [row["score"] for row in rows] == [0.30000000000000004, -1e-300, 7.0]
    assert b"wrote standard output (jsonl): 3 rows of 2 queries" in done.stderr
    done = subprocess.run(command, input=b"q1 Q0 d1 x y z\n", capture_output=True, check=False)
    assert done.returncode == 2 and done.stdout == b"" and b"/tmp" not in done.stderr
    assert b"standard input" in done.stderr


def test_subtopics_are_kept_or_said(folder: Path) -> None:
    (folder / "many.qrels").write_text("q1 1 d1 1\nq1 2 d1 1\n")
    assert convert("many.qrels", "m.jsonl").exit_code == 0
    assert convert("m.jsonl", "n.qrels").exit_code == 0
    assert (folder / "n.qrels").read_text() == "q1 1 d1 1\nq1 2 d1 1\n"
    done = convert("many.qrels", "m.json", "--to", "ranx")
    assert done.exit_code == 2 and "ranx loses 2 subtopics" in done.stderr


def test_conflicts(folder: Path) -> None:
    (folder / "two.csv").write_text("query,docid,ana,bob\nq,d,1,3\n")
    done = convert("two.csv", "one.qrels", "--lossy")
    assert "but line 2 judges the same pair" in str(done.exception), str(done.exception)
    assert convert("two.csv", "one.qrels", "--lossy", "--conflicts", "max").exit_code == 0
    assert (folder / "one.qrels").read_text() == "q 0 d 3\n"


def test_json(folder: Path) -> None:
    done = convert("a.run", "a.tsv", "--to", "msmarco", "--format", "json")
    facts = json.loads(done.stdout)
    assert (facts["written"], facts["rows"], facts["queries"], facts["as"]) == (False, 3, 2, "run")
    assert facts["lost"] == [
        {"what": "score", "sentence": "msmarco loses 3 scores: it keeps the order alone"}
    ]
    page = Path(__file__).parents[2] / "docs/reference/json-convert.md"
    assert set(re.findall(r"^\| `(\w+)` \|", page.read_text(), re.MULTILINE)) == {*facts, "what", "sentence"}


# ranx leaves the files open that it reads.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_libraries_read_what_is_written(folder: Path) -> None:
    """ranx reads the files as the same tables."""
    ranx = pytest.importorskip("ranx")
    convert("a.run", "b.json", "--to", "ranx")
    convert("a.run", "b.run")
    expected = {"q1": {"d1": 0.30000000000000004, "d2": -1e-300}, "q2": {"d1": 7.0}}
    assert ranx.Run.from_file(str(folder / "b.json")).to_dict() == expected
    assert ranx.Run.from_file(str(folder / "b.run"), kind="trec").to_dict() == expected
    convert("q.qrels", "q.json", "--to", "ranx")
    assert ranx.Qrels.from_file(str(folder / "q.json")).to_dict() == {"q1": {"d1": 2}, "q2": {"d2": 0}}


def test_trec_files_by_ir_measures_and_pytrec_eval(folder: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    pytrec_eval = pytest.importorskip("pytrec_eval")
    convert("a.run", "a.jsonl")
    convert("a.jsonl", "b.run")
    convert("q.qrels", "q.csv")
    convert("q.csv", "r.qrels")
    rows = [(one.query_id, one.doc_id, one.score) for one in ir_measures.read_trec_run(str(folder / "b.run"))]
    assert rows == [("q1", "d1", 0.30000000000000004), ("q1", "d2", -1e-300), ("q2", "d1", 7.0)]
    with (folder / "b.run").open() as run, (folder / "r.qrels").open() as qrels:
        assert pytrec_eval.parse_run(run)["q2"] == {"d1": 7.0}
        assert pytrec_eval.parse_qrel(qrels) == {"q1": {"d1": 2}, "q2": {"d2": 0}}


def test_the_card_of_a_models_labels_is_named(folder: Path) -> None:
    (folder / "q.qrels.leadline.json").write_text('{"kind": "model", "judge": {"model": "m-1"}}')
    done = convert("q.qrels", "b.csv")
    assert "wrote b.csv.leadline.json: that a model made them" in done.stdout
    facts = json.loads(convert("q.qrels", "c.csv", "--format", "json").stdout)
    assert facts["card"] == "c.csv.leadline.json" and Path("c.csv.leadline.json").is_file()
    done = convert("q.qrels", "-", "--to", "jsonl", "--format", "json")
    assert done.exit_code == 2 and '"what": "card"' in done.stderr


def test_alternatives_are_a_loss_in_json(folder: Path) -> None:
    (folder / "n.csv").write_text("query_id,doc_id,grade,need\nq,a,1,n\nq,b,1,n\n")
    done = convert("n.csv", "n.qrels", "--format", "json")
    assert done.exit_code == 2 and [one["what"] for one in json.loads(done.stdout)["lost"]] == [
        "alternatives"
    ]
    assert convert("n.csv", "n.qrels", "--lossy").exit_code == 0
    assert (folder / "n.qrels").read_text() == "q 0 a 1\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ended_in_the_middle_it_leaves_nothing(tmp_path: Path, folder: Path, number: signal.Signals) -> None:
    place, target = tmp_path / "temporary", tmp_path / "pipe"
    place.mkdir()
    os.mkfifo(target)
    # Nobody reads the pipe: the finished file waits in the temporary folder.
    # What started the tests may ignore the signal, as nohup does; Leadline leaves that so.
    code = f"import signal; signal.signal({int(number)}, signal.SIG_DFL); from leadline.cli.main import run; run()"
    command = [sys.executable, "-c", code, "convert", "a.run", str(target), "--to", "jsonl"]
    started = subprocess.Popen(
        command, env=os.environ | {"TMPDIR": str(place)}, cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while not list(place.rglob("part*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert list(place.rglob("part*"))
        started.send_signal(number)
        _, error = started.communicate(timeout=60)
    finally:
        started.kill()
        started.wait()
        assert started.stderr is not None
        started.stderr.close()
    assert started.returncode == 128 + number, error
    assert "Traceback" not in error and not list(place.iterdir())
