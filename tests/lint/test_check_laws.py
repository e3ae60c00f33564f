"""The law of a check: a file without a fault is taken by evaluate and convert, and one that either refuses has a fault."""

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leadline
from leadline.errors import LeadlineError
from leadline.formats.conversion import Request, planned
from leadline.formats.documents import read_texts
from leadline.formats.lists import Kind
from leadline.formats.read import read_queries
from leadline.lint.checking import check_files
from leadline.lint.finding import Findings


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def judged(*rows: tuple[Any, ...], more: str = "") -> str:
    names = ["query_id", "doc_id", "grade", *([more] if more else [])]
    return lines(*(dict(zip(names, row, strict=True)) for row in rows))


RANK_EVAL = {
    "metric_score": 0.5,
    "details": {
        "q1": {
            "metric_score": 0.5,
            "unrated_docs": [],
            "hits": [
                {"hit": {"_index": "i", "_id": "d1", "_score": 1.5}, "rating": 1},
                {"hit": {"_index": "i", "_id": "d2", "_score": 1.0}, "rating": 0},
            ],
        }
    },
    "failures": {},
}
RUNS = {
    "a.run": "q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.5 a\nq2 Q0 d1 1 2.0 a\n",
    "a.jsonl": lines(
        {"query_id": "q1", "doc_id": "d1", "score": 2.0},
        {"query_id": "q1", "doc_id": "d2", "score": 1.0},
        {"query_id": "q3", "doc_ids": []},
        {"query_id": "q4", "error": "timeout"},
    ),
    "a.csv": "qid,docno,score\nq1,d1,2\nq1,d2,1\nq2,d1,1\n",
    "a.tsv": "qid\tdocno\tscore\trank\nq1\td1\t2\t1\nq1\td2\t1\t2\nq2\td1\t1\t1\n",
    "map.json": '{"q1": {"d1": 1.5, "d2": 1.0}, "q2": {"d1": 0.5}}',
    "lists.json": '{"q1": ["d1", "d2"], "q2": []}',
    "rows.json": '[{"query_id": "q1", "doc_id": "d1", "score": 1.5},\n {"query_id": "q1", "doc_id": "d2", "score": 1.0}]',
    "rag.jsonl": lines(
        {"query_id": "q1", "question": "who", "retrieved_context_ids": ["d1", "d2"], "reference_context_ids": ["d1"]},
        {"query_id": "q2", "question": "why", "retrieved_context_ids": ["d2", "d1"], "reference_context_ids": ["d1"]},
    ),
    "msmarco.tsv": "1\td1\t1\n1\td2\t2\n2\td1\t1\n",
    "opensearch.json": '{"results": [{"searchText": "q1", "documentIds": ["d1", "d2"]}]}',
    "rank_eval.json": json.dumps(RANK_EVAL),
}  # fmt: skip
QRELS = {
    "q.txt": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n",
    "subtopics.txt": "q1 a d1 1\nq1 b d1 0\nq1 a d2 0\nq2 a d1 1\n",
    "q.jsonl": judged(("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d1", 2)),
    "subtopics.jsonl": judged(
        ("q1", "d1", 1, "a"), ("q1", "d1", 0, "b"), ("q2", "d1", 2, "a"), more="subtopic"
    ),
    "needs.jsonl": judged(("q1", "d1", 1, "a"), ("q1", "d2", 1, "a"), ("q2", "d1", 2, "a"), more="need"),
    "needs.csv": "query_id,doc_id,grade,need\nq1,d1,1,a\nq1,d2,1,a\n",
    "subtopics.csv": "query_id,doc_id,grade,subtopic\nq1,d1,1,a\nq1,d1,2,b\n",
    "q.csv": "query_id,doc_id,grade\nq1,d1,1\nq1,d2,\nq2,d1,0\n",
    "beir.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n",
    "map.json": '{"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}',
    "alternatives.json": '{"q1": [["d1", "d2"], "d3"]}',
    "quepid.csv": "query,docid,rating\nq1,d1,1\nq1,d2,\nq2,d1,0\n",
    "sampled.csv": "query_id,doc_id,grade,probability,stratum\nq1,d1,1,0.5,a\nq1,d2,0,1,b\n",
    "letor.txt": "2 qid:1 # d1\n0 qid:1 # d2\n",
}
QUERIES = {
    "queries.jsonl": lines({"query_id": "q1", "text": "who"}, {"query_id": "q2", "text": "why"}),
    "queries.tsv": "q1\twho\nq2\twhy\n",
    "queries.csv": "query_id,text\nq1,who\nq2,why\n",
    "queries.json": '{\n"q1": "who",\n"q2": "why"\n}',
}
DOCUMENTS = {
    "corpus.jsonl": lines({"_id": "d1", "title": "one", "text": "a text"}, {"_id": "d2", "text": "another"}),
    "documents.tsv": "d1\ta text\nd2\tanother\n",
    "documents.csv": "doc_id,text\nd1,a text\nd2,another\n",
}
TABLES: dict[str, dict[str, str]] = {
    "run": RUNS,
    "judgments": QRELS,
    "queries": QUERIES,
    "documents": DOCUMENTS,
}
FILES = [(kind, name) for kind, table in TABLES.items() for name in table]
OPTION = {"run": "runs", "judgments": "qrels", "queries": "queries", "documents": "documents"}
ANY = {"d1": 1.0, "d2": 0.5}
OTHERS = dict.fromkeys(("q1", "q2", "q3", "q4", "0", "1", "2"), ANY)
WRONG: list[tuple[str, str, str, str]] = [
    # What is wrong, in words of the file's kind: kind, name, content, the code it must have.
    ("run", "a.run", "q1 Q0 d1 1 2 a\nq1 Q0 d1 2 1 a\n", "document-twice"),
    ("run", "a.jsonl", 2 * lines({"query_id": "q1", "doc_id": "d1", "score": 1}), "document-twice"),
    ("run", "rag.jsonl", lines({"query_id": "q1", "question": "a", "retrieved_context_ids": ["d", "d"]}), "document-twice"),
    ("run", "a.run", "q1 Q0 d1 1 NaN a\n", "number"),
    ("run", "rank.csv", "qid,docno,rank\nq1,d1,1\n", "fields"),
    ("judgments", "q.txt", "q1 0 d1 1\nq1 0 d1 2\n", "pair-conflict"),
    ("judgments", "q.jsonl", judged(("q1", "d1", 1), ("q1", "d1", 2)), "pair-conflict"),
    ("judgments", "s.jsonl", judged(("q1", "d1", 1, "a"), ("q1", "d1", 2, "a"), more="subtopic"), "pair-conflict"),
    ("judgments", "s.csv", "query_id,doc_id,grade,subtopic\nq1,d1,1,\nq1,d1,2,a\n", "id"),
    ("judgments", "n.jsonl", judged(("q1", "d1", 1, "a"), ("q1", "d2", 2, "a"), more="need"), "needs"),
    ("judgments", "n.csv", "query_id,doc_id,grade,need\nq1,d1,1,a\nq1,d2,2,a\n", "needs"),
    ("judgments", "n.jsonl", judged(("q1", "d1", 1, "a"), ("q1", "d1", 1, "b"), more="need"), "needs"),
    ("judgments", "book.csv", "query,docid,Ann,Bob\nq1,d1,1,2\n", "pair-conflict"),
    ("judgments", "quepid.csv", "query,docid,rating\nq1,d1,\n", "unreadable"),
    ("judgments", "p.csv", "query_id,doc_id,grade,probability,stratum\nq1,d1,1,2,a\n", "number"),
    ("queries", "queries.jsonl", 2 * lines({"query_id": "q1", "text": "who"}), "twice"),
]  # fmt: skip
PIECES = [
    *("\0", "\t", " ", '"', "\r", ",", "nan", "inf", "-1", "", "{", "}", "\n", "1e400"),
    *("q1", "d1", "é", "[", "null", "\ufeff", "#"),
]
HOWS = ["in", "out", "again", "cut", "word", "line"]
DAMAGE = st.tuples(st.sampled_from(HOWS), st.integers(0, 10_000), st.sampled_from(PIECES))


def damaged(text: str, what: Iterable[tuple[str, int, str]]) -> bytes:
    data = text.encode()
    for how, number, piece in what:
        at, rows, words = number % (len(data) + 1), data.split(b"\n"), list(re.finditer(rb"[\w.]+", data))
        row = number % len(rows)
        if how == "in":
            data = data[:at] + (b"\xff" if piece == "#" else piece.encode()) + data[at:]
        elif how == "out":
            data = data[:at] + data[at + 1 + number % 4 :]
        elif how == "again":
            data = b"\n".join([*rows[: row + 1], *rows[row:]])
        elif how == "cut":
            data = data[:at]
        elif how == "line":
            data = b"\n".join(rows[:row] + rows[row + 1 :])
        elif words:
            word = words[number % len(words)]
            data = data[: word.start()] + piece.encode() + data[word.end() :]
    return data


def refused(kind: str, path: str) -> LeadlineError | None:
    """The error with which evaluate or convert refuse a file, if they do."""
    try:
        if kind == "run":
            leadline.evaluate(path, OTHERS, ["P@1"])
        elif kind == "judgments":
            _judged(path)
        elif kind == "documents":
            read_texts(path)
            return None
        else:
            read_queries(path)
        planned(Request(path, f"{path}.out.jsonl", kind=cast(Kind, kind)))
    except LeadlineError as error:
        # Ids that a damage changed may meet none; that is no fault of the file.
        return None if "do not meet" in str(error) else error
    return None


def _judged(path: str) -> None:
    try:
        leadline.evaluate(OTHERS, path, ["P@1"])
    except LeadlineError:
        # Where subtopics tell the grades of a pair apart, measures of subtopics take them.
        leadline.evaluate(OTHERS, path, ["StRecall@10"])


def checked(kind: str, path: str) -> Findings:
    named: dict[str, Any] = {OPTION[kind]: [path]}
    return check_files([], **named)


def agree(kind: str, path: str) -> Findings:
    found, error = checked(kind, path), refused(kind, path)
    said = [(one.code, one.line, one.message) for one in found.faults()]
    assert bool(said) == (error is not None), f"check: {said}; evaluate and convert: {error}"
    return found


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_sound_files_are_taken_by_all(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(TABLES[kind][name])
    assert not agree(kind, str(path)).n_faults


@pytest.mark.parametrize(("kind", "name", "text", "code"), WRONG)
def test_wrong_files_are_refused_by_all(kind: str, name: str, text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert code in {one.code for one in agree(kind, str(path)).faults()}


@given(file=st.sampled_from(FILES), what=st.lists(DAMAGE, min_size=1, max_size=2))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_are_refused_or_taken_by_all(
    file: tuple[str, str], what: list[tuple[str, int, str]]
) -> None:
    kind, name = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(damaged(TABLES[kind][name], what))
        agree(kind, str(path))
        # What it is taken for without being named, it is.
        found = check_files([str(path)])
        for one in found.looked[0].kinds if not found.n_faults else ():
            assert refused(one, str(path)) is None, one


@pytest.mark.parametrize(("grades", "sound"), [([1, 1], True), ([1, 2], False)])
def test_parquet(grades: list[int], sound: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "q.parquet")
    pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["d1", "d1"], "grade": grades}).write_parquet(path)
    assert (not agree("judgments", path).n_faults) == sound
    pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["d1", "d1"], "score": [2.0, 1.0]}).write_parquet(path)
    assert {one.code for one in agree("run", path).faults()} == {"document-twice"}


def test_what_a_rule_settles_is_no_fault(tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "q.txt"
    run.write_text("q1 Q0 d1 1 2 a\nq1 Q0 d1 2 1 a\n")
    qrels.write_text("q1 0 d1 1\nq1 0 d1 2\n")
    files = [str(run), str(qrels)]
    assert [one.code for one in check_files(files).faults()] == ["document-twice", "pair-conflict"]
    found = check_files(files, duplicates="first", conflicts="max")
    assert not found.n_faults
    assert {"document-dropped", "pair-settled"} <= {one.code for one in found.warnings}
    leadline.evaluate(str(run), str(qrels), ["P@1"], duplicates="first", conflicts="max")


def test_subtopics_with_their_own_grades_are_no_conflict(tmp_path: Path) -> None:
    for name in ("subtopics.jsonl", "subtopics.csv", "subtopics.txt"):
        path = tmp_path / name
        path.write_text(QRELS[name])
        found = checked("judgments", str(path))
        assert not found.n_faults
        (warning,) = [one for one in found.warnings if one.code.startswith("pair")]
        assert (warning.code, warning.count) == ("pair-subtopics", 1)


def test_a_run_with_ranks_alone_and_one_with_ranks_that_are_none(tmp_path: Path) -> None:
    ranks, words = tmp_path / "ranks.csv", tmp_path / "words.run"
    ranks.write_text("qid,docno,rank\nq1,d1,1\n")
    words.write_text("q1 Q0 d1 first 2 a\nq1 Q0 d2 2 1 a\n")
    assert check_files(runs=[str(ranks)]).n_faults == 1
    assert check_files(runs=[str(ranks)], order="rank").n_faults == 0
    assert check_files(runs=[str(words)]).n_faults == 0
    (fault,) = check_files(runs=[str(words)], order="rank").faults()
    assert (fault.line, fault.column, fault.found) == (1, 4, "first")
    with pytest.raises(LeadlineError, match="line 1, column 4: found 'first'"):
        leadline.evaluate(str(words), OTHERS, ["P@1"], order="rank")
