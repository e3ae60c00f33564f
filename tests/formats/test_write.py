"""Writing files: whole or not at all, in the format of the ending."""

import gzip
import os
import stat
from pathlib import Path

import pytest
import zstandard

from leadline.errors import InputError, UsageError
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.write import atomic_write, format_of, write_qrels, write_queries, write_run, write_table
from leadline.tables import Qrels, Run

RUN = run_of({"q": {"a": 0.1, "b": 1e-7}, "r": {"c": 123456789.125}}, name="my run")


def unpacked(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data).decode()
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data).decode()
    return data.decode()


TEXTS = {
    ".run": "q Q0 a 1 0.1 my_run\nq Q0 b 2 1e-7 my_run\nr Q0 c 1 123456789.125 my_run\n",
    ".jsonl": '{"query_id":"q","doc_id":"a","score":0.1}\n{"query_id":"q","doc_id":"b","score":1e-7}\n'
    '{"query_id":"r","doc_id":"c","score":123456789.125}\n',
    ".csv": "query_id,doc_id,score\nq,a,0.1\nq,b,1e-7\nr,c,123456789.125\n",
    ".tsv": "query_id\tdoc_id\tscore\nq\ta\t0.1\nq\tb\t1e-7\nr\tc\t123456789.125\n",
}


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", TEXTS)
def test_formats_by_ending(tmp_path: Path, ending: str, packing: str) -> None:
    path = tmp_path / f"run{ending}{packing}"
    write_run(RUN, path)
    assert unpacked(path) == TEXTS[ending]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    back = read_run(path)
    frames = [block.load().select("query_id", "doc_id", "score") for block in back.blocks()]
    assert [row for frame in frames for row in frame.rows()] == RUN.frame.rows()
    assert back.name == "run"


def test_the_rank_follows_the_order_rule_and_rows_stay(tmp_path: Path) -> None:
    run = run_of([("q", "a", 1.0), ("r", "x", 5.0), ("q", "c", 2.0), ("q", "b", 1.0)])
    write_run(run, tmp_path / "x.trec")
    ranks = [
        tuple(line.split()[i] for i in (0, 2, 3)) for line in (tmp_path / "x.trec").read_text().splitlines()
    ]
    # q: c has the highest score; a and b tie, and the greater id comes first.
    assert ranks == [("q", "a", "3"), ("r", "x", "1"), ("q", "c", "1"), ("q", "b", "2")]


def test_jsonl_keeps_empty_and_failed_queries(tmp_path: Path) -> None:
    run = run_of([("q", "d", float("inf")), ("q", "e", float("-inf"))])
    run = Run(run.frame, "x", ("r", "r\n"), {"s": "time\u2028out"})
    write_run(run, tmp_path / "x.jsonl")
    back = read_run(tmp_path / "x.jsonl")
    assert isinstance(back, Run)
    assert (back.empty, dict(back.failed)) == (("r", "r\n"), {"s": "time\u2028out"})
    assert back.frame["score"].to_list() == [float("inf"), float("-inf")]
    with pytest.raises(InputError, match="1 queries failed, which only JSONL can say"):
        write_run(run, tmp_path / "x.run")
    none = run_of({"q": []})
    write_run(none, tmp_path / "none.jsonl")
    assert read_run(tmp_path / "none.jsonl").empty == ("q",)


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a\nb", "a\x0bb"])
def test_trec_refuses_white_space(tmp_path: Path, bad: str) -> None:
    with pytest.raises(InputError, match=r"line 2: the doc_id 'a.*b' has white space"):
        write_run(run_of([("q", "ok\u00a0ok", 1.0), ("q", bad, 1.0)]), tmp_path / "x.run")
    with pytest.raises(InputError, match=r"line 1: the query_id 'a.*b' has white space"):
        write_qrels(qrels_of({bad: {"d": 1}}), tmp_path / "x.qrels")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".qrels", ".txt.gz", ".jsonl", ".csv.zst", ".tsv", ".parquet"])
def test_qrels(tmp_path: Path, ending: str) -> None:
    for grades in ({"d": 2, "e": -1}, {"d": 0.5, "e": 1}):
        qrels = qrels_of({"q": grades})
        write_qrels(qrels, tmp_path / f"x{ending}")
        back = read_qrels(tmp_path / f"x{ending}")
        assert back.frame.select("query_id", "doc_id", "grade").rows() == [
            ("q", d, g) for d, g in grades.items()
        ]
    write_qrels(qrels_of({"q": {"d": 2}}), tmp_path / "whole.qrels")
    assert (tmp_path / "whole.qrels").read_text() == "q 0 d 2\n"


@pytest.mark.parametrize("ending", [".qrels", ".jsonl", ".csv", ".parquet"])
def test_qrels_with_subtopics(tmp_path: Path, ending: str) -> None:
    rows = [{"query_id": "q", "doc_id": "d", "grade": g, "subtopic": str(g)} for g in (0, 1)]
    write_qrels(qrels_of(rows, keep_subtopic=True), tmp_path / f"x{ending}")
    back: Qrels = read_qrels(tmp_path / f"x{ending}", keep_subtopic=True)
    assert back.frame.select("subtopic", "grade").rows() == [("0", 0.0), ("1", 1.0)]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv.gz", ".parquet"])
def test_queries(tmp_path: Path, ending: str) -> None:
    queries = queries_of(
        [{"query_id": "1", "text": 'a "b",\n\tc', "n": 1}, {"query_id": "2", "text": "é", "n": 2}]
    )
    write_queries(queries, tmp_path / f"x{ending}")
    back = read_queries(tmp_path / f"x{ending}")
    assert (back.column("text"), back.column("n")) == (queries.column("text"), queries.column("n"))
    with pytest.raises(UsageError, match="TREC has no file of queries"):
        write_queries(queries, tmp_path / "x.txt")


@pytest.mark.parametrize("name", ["x", "x.json", "x.parquet.gz", "x.gz", "x.html"])
def test_unknown_endings(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"the ending says no format; known: .run .trec"):
        write_run(RUN, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_endings_in_capitals() -> None:
    assert format_of("A.RUN.GZ") == ("trec", "gzip")
    with pytest.raises(UsageError, match="a table is written as"):
        write_table(RUN.frame, "x.jsonl")


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(target) as temporary:
        temporary.write_text("half")
        assert temporary.parent == tmp_path
        raise ZeroDivisionError
    assert ([p.name for p in tmp_path.iterdir()], target.read_text()) == (["x.txt"], "old")


def test_the_old_files_mode_and_link_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "x.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_run(RUN, link)
    assert link.is_symlink()
    assert target.read_text() == TEXTS[".csv"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_run(RUN, tmp_path / "x.csv")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o640


def test_places_that_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write to .*No such file or directory"):
        write_run(RUN, tmp_path / "no" / "x.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match="it is a folder"):
        write_run(RUN, tmp_path / "folder.csv")


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "x.run"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(pipe) as place:
        assert place == pipe
        place.write_text("x")
    assert os.read(reader, 10) == b"x"
    os.close(reader)
    assert pipe.is_fifo()
