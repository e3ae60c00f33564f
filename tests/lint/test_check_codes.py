"""Every code of a check: the smallest files that give it, and beside them a clean twin that does not."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.lint.checking import check_files
from leadline.lint.codes import CODES, TABLE
from leadline.lint.finding import Finding

Files = dict[str, str | bytes]


def lines(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


RUN = lines("q1 Q0 d1 1 3.0 a", "q1 Q0 d2 2 2.0 a", "q2 Q0 d1 1 3.0 a", "q2 Q0 d2 2 2.0 a")
QRELS = lines("q1 0 d1 1", "q1 0 d2 0", "q2 0 d1 0", "q2 0 d2 1")
QUERIES = lines('{"query_id": "q1", "text": "who"}', '{"query_id": "q2", "text": "why"}')
DOCUMENTS = lines('{"doc_id": "d1", "text": "one"}', '{"doc_id": "d2", "text": "two"}')
NEEDS = lines(
    '{"query_id": "q1", "doc_id": "d1", "grade": 1, "need": "a"}',
    '{"query_id": "q1", "doc_id": "d2", "grade": 1, "need": "a"}',
)
RAG = '{"query_id": "q1", "user_input": "who", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}\n'
ANSWERS = (
    '[{"id": "1", "response": "It flies.", '
    '"m_response_kg": [{"triplet": ["it", "does", "fly"], "human_label": "Neutral"}]}]'
)
MARKED = (
    '{"samples": [{"sample_id": 0, "source": "", "summary": "a kite", "metadata": {}, "annotations": [{"annotator_id": "a", '
    '"label": ["Benign"], "summary_span": "kite", "summary_start": 2, "summary_end": 6}]}]}'
)


def numbered(first: int, last: int, step: int = 1) -> str:
    return lines(
        *(json.dumps({"query_id": str(n), "text": f"text {n}"}) for n in range(first, last + 1, step))
    )


# Code: the files that give it, where (file, line, column, found; None where it is not said), how often, a clean twin.
CASES: dict[str, tuple[Files, tuple[str, int | None, int | None, str], int, Files]] = {
    "unreadable": ({"a.run": ""}, ("a.run", None, None, ""), 1, {"a.run": RUN}),
    "unknown-kind": ({"x.txt": "one two three\n"}, ("x.txt", 1, None, "one two three"), 1, {"q.txt": QRELS}),
    "line-ends": ({"a.run": RUN.replace("\n", "\r")}, ("a.run", 1, 17, None), 1, {"a.run": RUN.replace("\n", "\r\n")}),  # type: ignore[dict-item]
    "encoding": (
        {"q.csv": b"qid,docno,label\nq1,d1,1\nq1,m\xfcll,2\nq1,d3,0\n"}, ("q.csv", 3, 5, "q1,müll,2"), 1,
        {"q.csv": "qid,docno,label\nq1,d1,1\nq1,müll,2\n"},
    ),
    "not-text": (
        {"a.run": RUN.encode() + b"q3 Q0 d\0x 1 1.0 a\n"}, ("a.run", 5, None, "q3 Q0 d\0x 1 1.0 a"), 1, {"a.run": RUN}
    ),
    "fields": ({"a.run": RUN + "q3 Q0 d1\nq3 d2\n"}, ("a.run", 5, None, "q3 Q0 d1"), 2, {"a.run": RUN}),
    "quotes": (
        {"q.csv": 'qid,docno,label\nq1,"d1,1\n'}, ("q.csv", 2, None, 'q1,"d1,1'), 1, {"q.csv": 'qid,docno,label\nq1,"d1",1\n'}
    ),
    "json": (
        {"q.jsonl": '{"query_id": "q1", "doc_id": "d1", "grade": 1}\n{"query_id": "q1", \n'},
        ("q.jsonl", 2, 19, '{"query_id": "q1",'), 1, {"q.jsonl": '{"query_id": "q1", "doc_id": "d1", "grade": 1}\n'},
    ),
    "id": (
        {"q.csv": "qid,docno,label\nq1,,1\nq1,d2,1\n"}, ("q.csv", 2, 2, "nothing"), 1, {"q.csv": "qid,docno,label\nq1,d2,1\n"}
    ),
    "number": ({"a.run": RUN + "q2 Q0 d3 3 nan a\n"}, ("a.run", 5, 5, "nan"), 1, {"a.run": RUN}),
    "list": (
        {"r.jsonl": RAG + '{"query_id": "q2", "retrieved_context_ids": "[d1]"}\n'}, ("r.jsonl", 2, None, "[d1]"), 1,
        {"r.jsonl": RAG},
    ),
    "twice": (
        {"queries.jsonl": QUERIES + '{"query_id": "q1", "text": "what"}\n'}, ("queries.jsonl", 1, None, "q1"), 2,
        {"queries.jsonl": QUERIES},
    ),
    "wrong-row": (
        {"book.jsonl": '{"query_id": "q1", "doc_id": "d1", "grade": 1, "who": "ana", "when": "so so"}\n'},
        ("book.jsonl", 1, None, None), 1,  # type: ignore[dict-item]
        {"book.jsonl": '{"query_id": "q1", "doc_id": "d1", "grade": 1, "who": "ana"}\n'},
    ),
    "rank-score": (
        {"a.run": lines("q Q0 a 1 1 x", "q Q0 b 2 3 x", "q Q0 c 3 2 x", "q Q0 d 4 1 x")},
        ("a.run", 2, None, "q b"), 1, {"a.run": RUN}
    ),
    "swapped-columns": (
        {"a.run": lines("q Q0 a 3.5 1 x", "q Q0 b 2.5 2 x"), "q.txt": "q a 1 3.5\nq b 2 2.5\n"}, ("a.run", 1, None, "3.5 1"), 2,
        {"a.run": lines("q Q0 a 1 3.5 x", "q Q0 b 2 2.5 x"), "q.txt": "q 0 a 3\nq 0 b 2\n"},
    ),
    "rising-scores": (
        {"a.run": lines("q Q0 a 1 0.1 x", "q Q0 b 2 0.2 x", "q Q0 c 3 0.3 x")}, ("a.run", 1, None, "q"), 1,
        {"a.run": lines("q Q0 a 3 0.1 x", "q Q0 b 2 0.2 x", "q Q0 c 1 0.3 x")},
    ),
    "equal-scores": (
        {"a.run": lines("q Q0 a 1 1 x", "q Q0 b 2 1 x", "r Q0 a 1 2 x", "r Q0 b 2 1 x")},
        ("a.run", 1, None, "q"), 1, {"a.run": RUN}
    ),
    # k = 2 in this table: of scores 3, 2, 2 ranks 2 and 3 are equal; of 3, 3, 2 they are not.
    "ties-at-k": (
        {"a.run": lines("q Q0 a 1 3 x", "q Q0 b 2 2 x", "q Q0 c 3 2 x")}, ("a.run", None, None, "q"), 1,
        {"a.run": lines("q Q0 a 1 3 x", "q Q0 b 2 3 x", "q Q0 c 3 2 x")},
    ),
    "infinite-score": ({"a.run": "q Q0 a 1 inf x\nq Q0 b 2 1 x\n"}, ("a.run", 1, None, "q a inf"), 1, {"a.run": RUN}),
    "document-twice": (
        {"a.run": lines("q Q0 a 1 3 x", "q Q0 b 2 2 x", "q Q0 a 3 1 x")}, ("a.run", 3, None, "q a"), 1, {"a.run": RUN}
    ),
    "document-dropped": (
        {"a.run": lines("q Q0 a 1 3 x", "q Q0 b 2 2 x", "q Q0 a 3 1 x")}, ("a.run", 3, None, "q a"), 1, {"a.run": RUN}
    ),
    "few-rows": ({"a.run": RUN + "q3 Q0 d1 1 1 a\n"}, ("a.run", None, None, "q3"), 1, {"a.run": RUN}),
    "more-columns": ({"a.run": RUN + "q2 Q0 d3 3 1.0 a b\n"}, ("a.run", 5, None, "q2 d3"), 1, {"a.run": RUN}),
    "failed-queries": (
        {"a.jsonl": '{"query_id": "q1", "doc_id": "d1", "score": 1.0}\n{"query_id": "q2", "error": "timeout"}\n'},
        ("a.jsonl", None, None, "q2"), 1, {"a.jsonl": '{"query_id": "q1", "doc_id": "d1", "score": 1.0}\n'},
    ),
    "pair-twice": ({"q.txt": QRELS + "q1 0 d1 1\n"}, ("q.txt", 5, None, "q1 d1"), 1, {"q.txt": QRELS}),
    "pair-conflict": ({"q.txt": QRELS + "q1 0 d1 0\n"}, ("q.txt", 5, None, "q1 d1 0"), 1, {"q.txt": QRELS}),
    "pair-settled": ({"q.txt": QRELS + "q1 0 d1 0\n"}, ("q.txt", 5, None, "q1 d1"), 1, {"q.txt": QRELS}),
    "pair-subtopics": ({"q.txt": QRELS + "q1 1 d1 0\n"}, ("q.txt", 5, None, "q1 d1 0"), 1, {"q.txt": QRELS}),
    "needs": (
        {"q.jsonl": NEEDS + '{"query_id": "q1", "doc_id": "d3", "grade": 2, "need": "a"}\n'}, ("q.jsonl", 3, None, "2.0"), 1,
        {"q.jsonl": NEEDS + '{"query_id": "q1", "doc_id": "d3", "grade": 1, "need": "a"}\n'},
    ),
    "negative-grade": ({"q.txt": QRELS + "q1 0 d3 -1\n"}, ("q.txt", 5, None, "q1 d3 -1"), 1, {"q.txt": QRELS}),
    "off-scale": ({"q.txt": QRELS + "q1 0 d3 10\nq1 0 d4 1.5\n"}, ("q.txt", 5, None, "q1 d3 10"), 2, {"q.txt": QRELS}),
    "no-relevant": ({"q.txt": QRELS + "q3 0 d1 0\n"}, ("q.txt", 5, None, "q3"), 1, {"q.txt": QRELS}),
    "query-text-twice": (
        {"queries.jsonl": QUERIES + '{"query_id": "q3", "text": "Who?"}\n'}, ("queries.jsonl", 3, None, "who"), 2,
        {"queries.jsonl": QUERIES},
    ),
    "empty-query": (
        {"queries.jsonl": QUERIES + '{"query_id": "q3", "text": ""}\n'}, ("queries.jsonl", 3, None, "q3"), 1,
        {"queries.jsonl": QUERIES},
    ),
    "empty-document": (
        {"documents.jsonl": DOCUMENTS + '{"doc_id": "d3", "text": " "}\n'}, ("documents.jsonl", 3, None, "d3"), 1,
        {"documents.jsonl": DOCUMENTS},
    ),
    "text-twice": (
        {"documents.jsonl": DOCUMENTS + '{"doc_id": "d3", "text": "one"}\n'}, ("documents.jsonl", 3, None, "one"), 2,
        {"documents.jsonl": DOCUMENTS},
    ),
    "text-alike": (
        {"documents.jsonl": DOCUMENTS + '{"doc_id": "d3", "text": "One."}\n'}, ("documents.jsonl", 3, None, "one"), 2,
        {"documents.jsonl": DOCUMENTS + '{"doc_id": "d3", "text": "three"}\n'},
    ),
    "lost-zeros": (
        {"a.run": "7 Q0 d1 1 2 a\n7 Q0 d2 2 1 a\n", "q.txt": "007 0 d1 1\n"}, ("a.run", 1, None, "7"), 1,
        {"a.run": "007 Q0 d1 1 2 a\n007 Q0 d2 2 1 a\n", "q.txt": "007 0 d1 1\n"},
    ),
    "float-ids": (
        {"a.run": "1e5 Q0 d1 1 2 a\n12.0 Q0 d2 2 1 a\n", "q.txt": "100000 0 d1 1\n0012 0 d1 1\n"}, ("a.run", 1, None, "1e5"), 2,
        {"a.run": "v1.0 Q0 d1 1 2 a\nv1.0 Q0 d2 2 1 a\n", "q.txt": "v1.0 0 d1 1\n"},
    ),
    "case-ids": (
        {"a.run": RUN.replace("q", "Q"), "q.txt": QRELS}, ("a.run", 1, None, "Q1"), 2, {"a.run": RUN, "q.txt": QRELS}
    ),
    "space-ids": (
        {"a.csv": "qid,docno,score\nq1 ,d1,2\nq2,d1,1\n", "q.txt": QRELS}, ("a.csv", 2, None, "q1 "), 1,
        {"a.csv": "qid,docno,score\nq1,d1,2\nq2,d1,1\n", "q.txt": QRELS},
    ),
    "no-overlap": (
        {"a.run": RUN.replace("q", "x"), "q.txt": QRELS}, ("a.run", 1, None, "x1"), 2, {"a.run": RUN, "q.txt": QRELS}
    ),
    "little-overlap": (
        {"a.run": RUN + "".join(f"x{n} Q0 d1 1 1 a\nx{n} Q0 d2 2 0 a\n" for n in range(3)), "queries.jsonl": QUERIES},
        ("a.run", 5, None, "x0"), 3, {"a.run": RUN, "queries.jsonl": QUERIES},
    ),
    "swapped-ids": (
        {"a.run": RUN, "q.txt": "d1 0 q1 1\nd2 0 q1 0\n"}, ("q.txt", 1, None, "d1"), 2, {"a.run": RUN, "q.txt": QRELS}
    ),
    "unanswered": (
        {"a.run": RUN, "q.txt": QRELS + "q3 0 d1 1\n"}, ("a.run", None, None, "q3"), 1, {"a.run": RUN, "q.txt": QRELS}
    ),
    "unknown-queries": (
        {"q.txt": QRELS + "q3 0 d1 1\n", "queries.jsonl": QUERIES}, ("q.txt", 5, None, "q3"), 1,
        {"q.txt": QRELS, "queries.jsonl": QUERIES},
    ),
    "unknown-documents": (
        {"q.txt": QRELS + "q2 0 d3 1\n", "documents.jsonl": DOCUMENTS}, ("q.txt", 5, None, "d3"), 1,
        {"q.txt": QRELS, "documents.jsonl": DOCUMENTS},
    ),
    # 1 to 10 are judged; the queries are 1, 3, …, 19, so that 1, 3, 5, 7, 9 join.
    "two-numberings": (
        {"q.txt": lines(*(f"{n} 0 d1 1" for n in range(1, 11))), "queries.jsonl": numbered(1, 19, 2)},
        ("q.txt", None, None, "1 to 10"), 5,
        {"q.txt": lines(*(f"{n} 0 d1 1" for n in range(1, 11))), "queries.jsonl": numbered(1, 19)},
    ),
    "judged-share": (
        {"a.run": RUN + "q2 Q0 d9 0 9.0 a\n", "q.txt": QRELS}, ("a.run", None, None, ""), 1, {"a.run": RUN, "q.txt": QRELS}
    ),
    "empty-answer": ({"a.json": ANSWERS.replace("It flies.", " ")}, ("a.json", None, None, ""), 1, {"a.json": ANSWERS}),
    "no-label": (
        {"a.json": MARKED.replace('["Benign"]', "[]")}, ("a.json", None, None, ""), 1, {"a.json": MARKED}
    ),
    "texts-unmatched": (
        {"r.csv": "query,docid,rating\nwho,d1,1\nwhen,d2,0\n", "queries.jsonl": QUERIES}, ("r.csv", None, None, ""), 1,
        {"r.csv": "query,docid,rating\nwho,d1,1\nwhy,d2,0\n", "queries.jsonl": QUERIES},
    ),
}  # fmt: skip
RULES: dict[str, dict[str, Any]] = {
    "document-dropped": {"duplicates": "first"},
    "pair-settled": {"conflicts": "max"},
}
"""What is named to the check of a code's files, beside cutoff and scale."""


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch, files: Files, code: str = "") -> list[Finding]:
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    for name, text in files.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_files(list(files), cutoffs=[2], grades="-1-3", **RULES.get(code, {})).all()


@pytest.mark.parametrize("code", CASES)
def test_each_code(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, (file, line, column, text), count, clean = CASES[code]
    found = [one for one in checked(tmp_path / "wrong", monkeypatch, files, code) if one.code == code]
    assert found, "the code is not given"
    first = found[0]
    assert (first.file, first.line, first.column, first.count) == (file, line, column, count)
    assert text is None or first.found == text
    assert first.message and "\n" not in first.message
    again = checked(tmp_path / "clean", monkeypatch, clean)
    assert code not in [one.code for one in again], "the clean twin gives it too"
    assert not [one for one in again if one.severity == "fault"]


def test_every_code_has_a_case() -> None:
    assert set(CASES) == set(CODES)
    assert len(CODES) == len(TABLE), "two codes of one name"
    assert all(one.meaning and one.advice for one in TABLE)


def test_clean_files_give_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: Files = {"a.run": RUN, "q.txt": QRELS, "queries.jsonl": QUERIES, "documents.jsonl": DOCUMENTS}
    assert checked(tmp_path, monkeypatch, files) == []
