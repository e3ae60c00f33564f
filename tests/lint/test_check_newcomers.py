"""Files as newcomers break them: each message names the line, what stands there, and what to do."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from leadline.cli.main import run as leadline
from leadline.lint import joins, runs
from leadline.lint.checking import check_files
from leadline.lint.codes import CODES

ROWS = [f"q{q} Q0 d{d} {d} {10 - d}.5 bm25" for q in (1, 2) for d in (1, 2, 3)]
RUN = "\n".join([*ROWS, ""])
LATIN = RUN.encode() + "q2 Q0 müll 4 0.5 bm25\n".encode("latin-1")

# Name, content, the code, the line, the column, a part of what is found and a part of what is said or advised.
BROKEN: list[tuple[str, str | bytes | None, str, int | None, int | None, str, str]] = [
    (
        "commas.run",
        RUN.replace(" ", ","),
        "unknown-kind",
        1,
        None,
        "q1,Q0,d1",
        "6 fields separated by commas",
    ),
    (
        "semicolons.csv",
        "qid;docno;score\nq;d;1\n",
        "unknown-kind",
        1,
        None,
        "qid;docno",
        "separated by semicolons",
    ),
    ("noheader.csv", "q1,d1,2.0\nq1,d2,1.0\n", "unknown-kind", 1, None, "q1,d1,2.0", "no header"),
    (
        "five.run",
        RUN.replace(" Q0", ""),
        "unknown-kind",
        1,
        None,
        "q1 d1 1 9.5",
        "5 columns: a TREC run has 6",
    ),
    ("page.run", "<html>404 Not Found</html>\n", "unknown-kind", 1, None, "<html>", "fetch the file again"),
    (
        "python.jsonl",
        "{'qid': 'q', 'docno': 'd', 'score': 1.0}\n",
        "unknown-kind",
        1,
        None,
        "{'qid'",
        "json.dumps",
    ),
    (
        "pretty.jsonl",
        '{\n "qid": "q",\n "docno": "d"\n}\n',
        "unknown-kind",
        1,
        None,
        "{",
        "over several lines",
    ),
    (
        "other.csv",
        "query,document,relevance\nq,d,1\n",
        "fields",
        1,
        None,
        "query, document",
        "no column for the",
    ),
    ("comma.run", RUN.replace(".5", ",5"), "number", 1, 5, "9,5", "with a point before its decimals"),
    ("nan.run", RUN.replace("8.5", "NaN"), "number", 2, 5, "NaN", "a number as score"),
    (
        "quoted.jsonl",
        '{"qid": "q", "docno": "d", "score": "1"}\n',
        "number",
        1,
        None,
        "1",
        "not text in quotes",
    ),
    (
        "header.run",
        "qid Q0 docno rank score tag\n" + RUN,
        "number",
        1,
        5,
        "score",
        "has no header: take this line away",
    ),
    (
        "header.qrels",
        "query iter doc grade\nq 0 d 1\n",
        "unknown-kind",
        1,
        None,
        "query iter",
        "take this line away",
    ),
    (
        "headed.qrels",
        "query iter doc grade\n" + 3 * "q 0 d 1\n",
        "number",
        1,
        4,
        "grade",
        "take this line away",
    ),
    ("word.qrels", "q 0 d high\nq 0 e 1\nq 0 f 1\n", "number", 1, 4, "high", "a number as grade"),
    ("three.txt", "1 20 1\n1 30 2\n", "unknown-kind", 1, None, "1 20 1", "--qrels-format cranqrel"),
    ("twice.run", RUN + ROWS[0] + "\n", "document-twice", 7, None, "q1 d1", "--duplicates first"),
    ("mixed.run", LATIN, "encoding", 7, 8, "müll", "save the file as UTF-8"),
    ("wide.run", RUN.encode("utf-16"), "encoding", None, None, "", "UTF-16"),
    ("returns.run", RUN.replace("\n", "\r"), "line-ends", 1, 20, "q1 Q0 d1", "LF or CRLF"),
    (
        "cut.run.gz",
        gzip.compress((500 * RUN).encode())[:60],
        "unreadable",
        None,
        None,
        "",
        "cut short or damaged",
    ),
    ("empty.run", "", "unreadable", None, None, "", "empty, nothing to read"),
    ("blank.run", "\n\n", "unreadable", None, None, "", "no rows"),
    ("zip.run", b"PK\3\4" + bytes(64), "unreadable", None, None, "", "a binary file"),
    ("missing.run", None, "unreadable", None, None, "", "No such file"),
]


@pytest.mark.parametrize("case", BROKEN, ids=[case[0] for case in BROKEN])
def test_each_message(case: tuple[Any, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, content, code, line, column, found, said = case
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    first = next(check_files([str(path)], cutoffs=[1]).faults())
    assert (first.code, first.line, first.column) == (code, line, column)
    assert found in first.found
    assert said in f"{first.message} {CODES[code].advice}"
    with pytest.raises(SystemExit) as end:
        leadline(["check", str(path), "-k", "1"])
    out = capsys.readouterr().out
    assert end.value.code == 2
    # What cannot be broken, such as a path, may stand longer.
    assert all(len(row) <= 100 or " " not in row.strip() or str(path) in row for row in out.splitlines())


def test_a_run_given_as_judgments_and_judgments_given_as_a_run(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "q.txt").write_text("q1 0 d1 1\n")
    swapped = check_files(runs=[str(tmp_path / "q.txt")], qrels=[str(tmp_path / "a.run")])
    run, *_ = [one for one in swapped.faults() if one.file.endswith("a.run")]
    (qrels,) = [one for one in swapped.faults() if one.file.endswith("q.txt")]
    assert "this is a line of a run" in run.message
    assert "this is a line of judgments" in qrels.message


def test_a_folder_without_texts(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN)
    (fault,) = check_files([str(tmp_path)]).faults()
    assert "name the files in it" in fault.message


def test_a_mark_and_tabs_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"\xef\xbb\xbf" + RUN.replace(" ", "\t").encode())
    assert check_files([str(path)], cutoffs=[1]).all() == []


def test_negative_whole_scores_are_scores(tmp_path: Path) -> None:
    """Whether a run has scores is what its reader says, not how they look."""
    row = {"question": "a", "retrieved_context_ids": ["d1", "d2", "d3"]}
    path = tmp_path / "rag.jsonl"
    path.write_text(json.dumps({**row, "retrieved_scores": [-1, -1, -1]}) + "\n")
    assert "equal-scores" in {one.code for one in check_files([str(path)]).warnings}
    path.write_text(json.dumps(row) + "\n")
    assert {one.code for one in check_files([str(path)]).warnings} == {"few-rows"}
    hits = [{"hit": {"_id": f"d{n}", "_score": -1}, "rating": 1} for n in range(3)]
    path = tmp_path / "hits.json"
    path.write_text(json.dumps({"details": {"q": {"hits": hits}}, "failures": {}, "metric_score": 1}))
    assert "equal-scores" in {one.code for one in check_files([str(path)]).warnings}


@pytest.mark.parametrize("scattered", [False, True])
def test_looking_at_parts_finds_what_looking_at_all_finds(
    scattered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 queries of 8 rows: ties, ranks that contradict, infinite scores, documents twice, ids that lost their zeros."""
    rows = [
        f"q{q} Q0 {'00' if q < 3 else ''}{n % 7 + 2 * (q < 3)} {n + 1} {'inf' if (q, n) == (4, 1) else (40 - n * q) // 3} t"
        for q in range(5)
        for n in range(8)
    ]
    rows = rows[::3] + rows[1::3] + rows[2::3] if scattered else rows
    (tmp_path / "a.run").write_text("\n".join(rows))
    (tmp_path / "q.txt").write_text("".join(f"q{q} 0 {n} {n % 2}\n" for q in range(6) for n in range(10)))
    files = [str(tmp_path / "a.run"), str(tmp_path / "q.txt")]
    whole = check_files(files, cutoffs=[2]).all(every=True)
    for module, name in ((runs, "PART_ROWS"), (joins, "PIECE")):
        monkeypatch.setattr(module, name, 3)
    assert check_files(files, cutoffs=[2]).all(every=True) == whole
    assert {"document-twice", "infinite-score", "lost-zeros", "ties-at-k", "judged-share"} <= {
        one.code for one in whole
    }
