"""Checks of files as a whole: what is recognised, that all faults are found, that nothing makes a check fall over."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.lint import parts
from leadline.lint.checking import check_files
from leadline.lint.finding import Findings
from leadline.lint.kinds import Unclear, kind_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str | bytes) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def faults(found: Findings) -> list[tuple[str, int | None, str]]:
    return [(one.code, one.line, one.found) for one in found.faults()]


@pytest.mark.parametrize(
    ("name", "text", "holds", "form"),
    [
        ("x", "q Q0 d 1 1.0 a\n", "run", "trec"),
        ("x", "q Q0 d 1 1.0 a more words\nq Q0\n", "run", "trec"),
        ("x", "q 0 d 1\n", "judgments", "trec"),
        ("x", "q1\t0\td1\t1\nq1\t0\td2\t0\n", "judgments", "trec"),
        ("queries.tsv", "q1\twho was it\n", "queries", "tsv"),
        ("collection.tsv", "d1\tit was he\n", "documents", "tsv"),
        ("x.csv", "qid,docno,score\nq,d,1\n", "run", "csv"),
        ("x.csv", "qid,docno,label\nq,d,1\n", "judgments", "csv"),
        ("x.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n", "judgments", "tsv"),
        ("x.jsonl", '{"query_id": "q", "doc_id": "d", "score": 1}\n', "run", "jsonl"),
        ("x.jsonl", '{"query_id": "q", "error": "timeout"}\n', "run", "jsonl"),
        ("x.jsonl", '{"query_id": "q", "text": "who"}\n', "queries", "jsonl"),
        ("x.jsonl", '{"doc_id": "d", "text": "it"}\n', "documents", "jsonl"),
        ("corpus.jsonl", '{"_id": "d", "text": "it"}\n', "documents", "jsonl"),
        ("queries.jsonl", '{"_id": "q", "text": "who"}\n', "queries", "jsonl"),
        ("x.jsonl", '{"question": "who", "retrieved_context_ids": ["d"]}\n', "rag", "jsonl"),
        ("x.jsonl", '{"query_id": "q", "doc_id": "d", "grade": 1, "who": "ana"}\n', "book", "jsonl"),
        ("x.json", '{"q": {"d": 1.5}}', "run", "json"),
        ("x.json", '{"q": {"d": 1}}', "judgments", "json"),
        ("x.json", '{"q": ["d1", "d2"]}', "run", "json"),
        ("x.csv", "query,docid,rating\nwho,d1,1\n", "tool", "quepid"),
        ("x.tsv", "1\td7\t1\n1\td9\t2\n", "tool", "msmarco"),
    ],
)
def test_kinds(name: str, text: str, holds: str, form: str) -> None:
    kind = kind_of(write(name, text))
    assert (kind.holds, kind.form) == (holds, form)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", "a b c\n"),
        ("x.jsonl", '{"_id": "1", "text": "t"}\n'),
        ("x.json", '{"a": 1}'),
        ("x.jsonl", '{"query_id": "q", "document_id": "d", "start": 0, "end": 9}\n'),
    ],
)
def test_what_is_not_clear_is_not_guessed(name: str, text: str) -> None:
    with pytest.raises(Unclear):
        kind_of(write(name, text))


def test_the_same_rows_as_documents_or_queries() -> None:
    write("x.jsonl", '{"_id": "1", "text": "t"}\n')
    assert check_files(documents=["x.jsonl"]).looked[0].kinds == ("documents",)
    assert check_files(queries=["x.jsonl"]).looked[0].kinds == ("queries",)


def test_faults_of_several_kinds_in_one_run() -> None:
    rows = [
        b"q Q0 d1 1 3.0 a",
        b"q Q0 d2 high 2",
        b"q Q0 d3 2 high a",
        b"q Q0 m\xfcll 3 1.0 a",
        b"",
        b"q Q0 d4 4 0.5 a",
    ]
    write("a.run", b"\n".join(rows) + b"\n")
    found = check_files(["a.run"], cutoffs=[1])
    assert faults(found) == [
        ("fields", 2, "q Q0 d2 high 2"),
        ("number", 3, "high"),
        ("encoding", 4, "q Q0 müll 3 1.0 a"),
    ]
    # The rows that can stand are checked all the same.
    assert found.looked[0].rows == 2


def test_faults_of_several_stages_in_one_file() -> None:
    # Encoding, JSON, fields and ids are looked for by four pieces of code, one after the other.
    rows = [
        b'{"query_id": "q1", "doc_id": "d1", "score": 1.0}',
        b'{"query_id": "q1", "doc_id": "m\xfcll", "score": 1.0}',
        b'{"query_id": "q1", "doc_id"',
        b'{"query_id": "q1", "doc_id": 1.5, "score": 1.0}',
        b'{"query_id": "q1", "doc_id": "d2", "score": "x"}',
        b'{"query_id": "q1", "doc_id": "d3", "score": 0.5, "grade": 7}',
    ]
    write("a.jsonl", b"\n".join(rows))
    found = check_files(["a.jsonl"], cutoffs=[1])
    assert {(code, line) for code, line, _ in faults(found)} == {
        ("encoding", 2), ("json", 3), ("id", 4), ("number", 5), ("fields", 6),
    }  # fmt: skip
    assert found.looked[0].rows == 1


def test_every_fault_is_counted_and_ten_of_a_kind_are_shown() -> None:
    write("a.csv", "qid,docno,score\n" + "q,d,x\n" * 30 + ",d,1\n" * 3 + "q,d1,1\n")
    found = check_files(["a.csv"], cutoffs=[1])
    assert found.n_faults == 33
    shown = list(found.faults())
    assert [(one.code, one.count) for one in shown] == [("number", 30)] * 10 + [("id", 3)] * 3
    assert len(list(found.faults(every=True))) == 33
    assert [one.line for one in shown[:2]] == [2, 3]


def test_the_places_of_faults_that_are_far_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "KEPT", 5)
    write("a.run", "q Q0 d1 1 1.0 a\n" + "q\n" * 12)
    found = check_files(runs=["a.run"], cutoffs=[1])
    assert found.n_faults == 12
    assert [one.count for one in found.faults()] == [5] * 5 + [7]


def test_one_wrong_file_does_not_stop_the_others() -> None:
    write("a.run", "q Q0 d1 1 1.0 a\n")
    write("b.run", "\n")
    write("deep.json", "[" * 100_000)
    found = check_files(["none.run", "b.run", "deep.json", "a.run"], cutoffs=[1])
    assert [one.file for one in found.faults()] == ["none.run", "b.run", "deep.json"]
    assert [one.file for one in found.looked if one.kinds] == ["a.run"]


def test_a_quoted_row_of_several_lines_makes_no_further_faults() -> None:
    write("a.csv", 'qid,docno,label\nq1,"d\n1",x\nq2,d2,1\n')
    assert faults(check_files(["a.csv"])) == [("number", 2, "x")]


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are counted over blocks, and a query whose rows lie in several is one query."""
    monkeypatch.setattr("leadline.formats.source.SMALL_BLOCK", 64)
    monkeypatch.setattr("leadline.formats.source.BLOCK", 64)
    rows = [f"q{n % 3} Q0 d{n} {n} {100 - n}.5 a" for n in range(60)]
    rows[40] = "q1 Q0 d1 40 1.5 a"
    rows[50] = "q1 Q0"
    write("a.run", "\n".join(rows))
    found = check_files(["a.run"], cutoffs=[1])
    assert faults(found) == [("fields", 51, "q1 Q0"), ("document-twice", 41, "q1 d1")]
    (twice,) = [one for one in found.faults() if one.code == "document-twice"]
    assert (twice.line, twice.found) == (41, "q1 d1")


def test_ranks_of_a_table_are_compared_with_its_scores() -> None:
    write("a.csv", "qid,docno,score,rank\nq,a,3,1\nq,b,1,2\nq,c,2,3\n")
    write("b.csv", "qid,docno,score,rank\nq,c,2,2\nq,b,1,3\nq,a,3,1\n")
    found = check_files(["a.csv", "b.csv"], cutoffs=[1])
    assert [(one.code, one.file, one.line) for one in found.warnings] == [("rank-score", "a.csv", 4)]


def test_distances_without_ranks() -> None:
    write("a.csv", "qid,docno,score\nq,a,0.1\nq,b,0.2\nq,c,0.4\n")
    assert [one.code for one in check_files(["a.csv"], cutoffs=[1]).warnings] == ["rising-scores"]


def test_text_keys_take_the_ids_of_the_queries() -> None:
    write("queries.jsonl", '{"query_id": "q1", "text": "star trek"}\n')
    write("r.csv", "query,docid,rating\nstar trek,d1,2\n")
    write("a.run", "q1 Q0 d1 1 1.0 a\n")
    assert not check_files(["a.run", "r.csv", "queries.jsonl"], cutoffs=[1]).all()
    assert [one.code for one in check_files(["a.run", "r.csv"], cutoffs=[1]).all()] == ["no-overlap"]


def test_a_file_of_which_no_row_can_stand_is_named_once() -> None:
    write("documents.jsonl", '{"doc_id": "d1"}\n{"doc_id": "d2"}\n')
    found = check_files(["documents.jsonl"])
    assert [(one.line, one.message) for one in found.faults()] == [
        (1, "a document has a text"),
        (2, "a document has a text"),
    ]


def test_faults_of_whole_files_have_their_code_and_place() -> None:
    import polars as pl

    pl.DataFrame({"query_id": [7.0, 8.0], "doc_id": ["d1", "d1"], "score": [3.0, 2.0]}).write_parquet(
        "f.parquet"
    )
    write("a.csv", "qid,docno,label\nq,d,1\n".encode("utf-16"))
    write("b.json", '{"q": {"d": 1,\n "d": 2}}')
    write("c.json", '{"requests": [{"id": "q", "ratings": [{"_id": "d", "rating": "x"}]}]}')
    found = check_files(["f.parquet", "a.csv", "b.json", "c.json"])
    told = [(one.file, one.code, one.path) for one in found.faults()]
    assert told == [
        ("f.parquet", "id", ""),
        ("a.csv", "encoding", ""),
        ("b.json", "json", ""),
        ("c.json", "number", "requests[0].ratings[0].rating"),
    ]


def test_a_beir_folder() -> None:
    write("b/queries.jsonl", '{"_id": "q1", "text": "who"}\n')
    write("b/corpus.jsonl", '{"_id": "d1", "text": "it"}\n{"_id": "d2", "text": ""}\n')
    write("b/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td9\t1\n")
    found = check_files(["b"])
    assert [one.kinds for one in found.looked] == [("queries",), ("judgments",), ("documents",)]
    assert {(one.code, one.file) for one in found.warnings} == {
        ("no-overlap", "b/qrels/test.tsv"), ("empty-document", "b/corpus.jsonl"),
    }  # fmt: skip


def test_numbers_of_two_kinds_with_the_run_as_witness() -> None:
    """As Cranfield's: judgments count 1 to n, the run has the queries' own numbers, some of which join."""
    own = [1, 2, 4, 8, 9, 10, 12, 13, 15, 18, 20, 22]
    write("q.txt", "".join(f"{n} 0 d{n} 1\n" for n in range(1, len(own) + 1)))
    write("a.run", "".join(f"{number} Q0 d{place} 1 1.0 a\n" for place, number in enumerate(own, 1)))
    (told,) = [
        one for one in check_files(["a.run", "q.txt"], cutoffs=[1]).warnings if one.code == "two-numberings"
    ]
    # Of 1 to 12 the run has 1, 2, 4, 8, 9, 10, 12: seven. By number 1 and 2 meet their documents, in order all twelve.
    assert told.count == 7
    assert told.message.endswith("Joined by number the top 10 hold 2 relevant documents, joined in order 12")


def test_a_run_that_fails_for_a_few_queries_is_not_taken_for_another_numbering() -> None:
    write("q.txt", "".join(f"{n} 0 d1 1\n" for n in range(1, 51)))
    write("a.run", "".join(f"{n} Q0 d1 1 1.0 a\n" for n in range(1, 101) if n not in (7, 33)))
    assert [one.code for one in check_files(["a.run", "q.txt"], cutoffs=[1]).warnings] == ["unanswered"]


NAMES = st.sampled_from(["x", "x.csv", "x.tsv", "x.jsonl", "x.json", "queries.tsv", "x.parquet"])
PIECES = st.sampled_from(
    [b"q", b"Q0", b"d1", b" ", b"\t", b"\n", b"\r\n", b",", b'"', b"{", b"}", b"[", b"]", b":", b"1", b"nan", b"\0", b"\xff",
     b"query_id", b"doc_id", b"score", b'"query_id": "q"', b'"doc_id": "d"', b'"text": "t"', b"qid,docno,score\n",
     b"query,docid,rating\n", b'{"q": {"d": 1}}', b"PAR1", b"\xef\xbb\xbf", b"e5", b'"retrieved_context_ids": ["d"]'],
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES, pieces=st.lists(PIECES, max_size=30))
def test_any_bytes_are_checked_without_a_traceback(name: str, pieces: list[bytes]) -> None:
    write(name, b"".join(pieces))
    found = check_files([name])
    assert len(found.looked) == 1
    assert found.n_faults or found.looked[0].kinds
    for holds in ("runs", "qrels", "queries", "documents"):
        assert check_files(**{holds: [name]}).looked  # type: ignore[arg-type]
    json.dumps([one.message for one in found.all()])
