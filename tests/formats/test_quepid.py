"""Quepid's lists: ratings with blanks, the guard against formulas, quotes, a column for each judge, books, snapshots."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError
from leadline.formats.keys import with_texts
from leadline.formats.lists import Graded, Held
from leadline.formats.quepid import guarded, quepid_kind, unguarded
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.source import Source
from leadline.formats.tools import read_tool, write_tool


def read(folder: Path, text: str | bytes, kind: str = "quepid") -> Held:
    path = folder / "list"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_tool(kind, Source.open(path))


def rows(held: Held) -> list[tuple[object, ...]]:
    return [(row.query, row.doc_id, row.who, row.grade) for row in held.graded]


def test_j01_blank_is_not_judged_and_0_is_a_grade(tmp_path: Path) -> None:
    text = "query,docid,rating\nstar trek,,\nalien,d1,\nalien,d2,0\n"
    found = read(tmp_path, text)
    assert found.keys() == ["star trek", "alien"]
    assert rows(found) == [("alien", "d1", None, None), ("alien", "d2", None, 0)]
    assert found.of_judgments == (
        "1 pair without a grade: not judged, left out",
        "1 query without a document",
    )
    (tmp_path / "ratings.csv").write_text(text)
    assert read_qrels(tmp_path / "ratings.csv").frame.select("query_id", "doc_id", "grade").rows() == [
        ("alien", "d2", 0.0)
    ]
    assert read_queries(tmp_path / "ratings.csv").frame["query_id"].to_list() == ["star trek", "alien"]


def test_j02_a_space_before_what_looks_like_a_formula(tmp_path: Path) -> None:
    internal = ["=sum", "-minus", "@at", "plain", "+plus", " spaced", " =both"]
    held = Held("text", tuple(Graded(text, "d", 1.0) for text in internal))
    write_tool("quepid", held, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [line.removesuffix(",d,1") for line in lines] == [
        " =sum", " -minus", " @at", "plain", " +plus", " spaced", "  =both",
    ]  # fmt: skip
    assert read_tool("quepid", Source.open(tmp_path / "out.csv")).keys() == internal


@given(st.text(alphabet=" =+-@ab", max_size=6))
def test_the_guard_is_undone(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@"))


def test_j03_quotes(tmp_path: Path) -> None:
    text = 'query,docid,rating\n"bread, white",d1,2\n"two\nlines",d2,1\n'
    held = read(tmp_path, text)
    assert rows(held) == [("bread, white", "d1", None, 2), ("two\nlines", "d2", None, 1)]
    write_tool("quepid", held, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == text


def test_j31_a_column_for_each_judge(tmp_path: Path) -> None:
    text = "query,docid,Ana,Bob\nq1,d1,2,\nq1,d2,0,1\n"
    found = read(tmp_path, text, "quepid-judges")
    assert rows(found) == [("q1", "d1", "Ana", 2), ("q1", "d2", "Ana", 0), ("q1", "d2", "Bob", 1)]
    write_tool("quepid-judges", found, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == text
    with pytest.raises(InputError, match="each column needs a name of its own"):
        read(tmp_path, "query,docid,Ana,Ana\nq1,d1,2,1\n", "quepid-judges")
    # As plain judgments the judges of q1 d2 differ, which is a conflict as in any other file.
    (tmp_path / "book.csv").write_text(text)
    with pytest.raises(InputError, match="line 3: found 'q1 d2 1', but line 3 judges the same pair 0"):
        read_qrels(tmp_path / "book.csv")
    assert read_qrels(tmp_path / "book.csv", conflicts="max").frame["grade"].to_list() == [2, 1]


def test_j41_ids_of_any_text(tmp_path: Path) -> None:
    ids = ["https://a/b?x=1&y=2", "id with space", "ü", "a#b", "a\rb", 'a"b']
    for name in ("quepid", "quepid-json", "quepid-book", "opensearch", "rre"):
        held = Held("text", tuple(Graded("q", one, 1.0) for one in ids))
        write_tool(name, held, tmp_path / name)
        assert [row.doc_id for row in read_tool(name, Source.open(tmp_path / name)).graded] == ids


def test_j43_text_that_is_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2, column \d+: text that is not UTF-8"):
        read(tmp_path, b"query,docid,rating\nm\xfcll,d,1\n")


def test_j44_case_is_kept(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,docid,rating\nNike,d,1\nnike,d,0\n")
    assert read_qrels(tmp_path / "q.csv").frame["query_id"].to_list() == ["Nike", "nike"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,docid,rating\nq,d,two\n", "line 2, column 3: found 'two', a grade is a finite number"),
        ("query,docid,rating\nq,d,inf\n", "a grade is a finite number"),
        ("query,docid,rating\nq,,1\n", "a grade needs its document"),
        ("query,docid,rating\n,d,1\n", "a query is text"),
        ("query,doc\nq,d\n", "no list of Quepid"),
        ("query,docid,rating\nq,d,x\nq,e,y\n", "2 wrong rows"),
    ],
)
def test_wrong_rows(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_a_pair_twice(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("query,docid,rating\nq,d,1\nq,d,1\n")
    assert read_qrels(path).merged == 1
    path.write_text("query,docid,rating\nq,d,1\n\nq,d,2\n")
    with pytest.raises(InputError, match="line 4: found 'q d 2', but line 2 judges the same pair 1"):
        read_qrels(path)
    assert read_qrels(path, conflicts="last").frame["grade"].to_list() == [2]


def test_what_is_taken_for_a_list_of_quepid() -> None:
    assert quepid_kind(b"\xef\xbb\xbfQuery,DocId,Rating\r\n") == "quepid"
    assert quepid_kind(b'query,docid,"Ana, A.",Bob\n') == "quepid-judges"
    for head in (b"query,docid,score\n", b"query_id,doc_id,grade\n", b"query,docid\n", b"q1 0 d1 1\n", b""):
        assert quepid_kind(head) is None


BOOK = {
    "name": "shop",
    "query_doc_pairs": [
        {
            "query_text": "star trek",
            "doc_id": "d1",
            "position": 1,
            "document_fields": {"title": "x"},
            "information_need": "the series",
            "notes": "old",
            "options": {"lang": "en"},
            "judgements": [
                {"rating": 2.0, "unrateable": False, "judge_later": False, "user_email": "ana@x", "explanation": "yes"},
                {"rating": None, "unrateable": True, "judge_later": False, "user_email": "bob@x", "explanation": None},
            ],
        },
        {
            "query_text": "star trek",
            "doc_id": "d2",
            "judgements": [{"rating": None, "unrateable": None, "judge_later": True, "user_email": None}],
        },
        {"query_text": "alien", "doc_id": "d3", "judgements": []},
    ],
}  # fmt: skip


def test_a_book_as_json(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps(BOOK), "quepid-book")
    assert [(r.query, r.doc_id, r.grade, r.who, r.note, r.mark) for r in found.graded] == [
        ("star trek", "d1", 2.0, "ana@x", "yes", None),
        ("star trek", "d1", None, "bob@x", "", "unsure"),
        ("star trek", "d2", None, None, "", "skip"),
        ("alien", "d3", None, None, "", None),
    ]
    assert dict(found.asked[0].more) == {
        "information_need": "the series",
        "notes": "old",
        "options": '{"lang": "en"}',
    }
    assert found.of_judgments == ("1 pair without a judgement: not judged, left out",)
    assert found.notes == ("the document fields of 1 pair are not read",)
    (tmp_path / "b.json").write_text(json.dumps(BOOK))
    assert read_qrels(tmp_path / "b.json").frame.select("query_id", "doc_id", "grade").rows() == [
        ("star trek", "d1", 2.0)
    ]
    assert read_queries(tmp_path / "b.json").column("information_need") == {
        "star trek": "the series",
        "alien": None,
    }


def test_faults_of_a_book_are_named_by_their_place(tmp_path: Path) -> None:
    wrong = {
        "query_doc_pairs": [
            {"query_text": "q", "doc_id": "d", "judgements": [{"rating": True}, {"rating": "x"}]},
            7,
        ]
    }
    with pytest.raises(InputError) as caught:
        read(tmp_path, json.dumps(wrong), "quepid-book")
    text = str(caught.value)
    assert "3 wrong rows" in text
    assert "query_doc_pairs[0].judgements[0].rating: found 'true', a rating is a finite number" in text
    assert "(query 'q', document 'd')" in text
    assert "query_doc_pairs[1]: found '7', an object" in text


def test_ratings_as_json(tmp_path: Path) -> None:
    found = read(
        tmp_path, '{"queries": [{"query": "q", "ratings": {"d": 3, "e": "1", "f": null}}]}', "quepid-json"
    )
    assert rows(found) == [("q", "d", None, 3), ("q", "e", None, 1), ("q", "f", None, None)]


SNAPSHOT = """Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title
June,2026-06-01,7,star trek,https://x/2,2,b
June,2026-06-01,7,star trek,https://x/1,1,a
June,2026-06-01,7, =sum,d9,1,
June,2026-06-01,7,nothing here,,,
"""


def test_a_snapshot_is_a_run(tmp_path: Path) -> None:
    path = tmp_path / "june.csv"
    path.write_text(SNAPSHOT)
    run = read_run(path)
    assert run.name == "june"
    assert run.empty == ("nothing here",)
    (block,) = run.blocks()
    assert block.load().select("query_id", "doc_id", "score").rows() == [
        ("star trek", "https://x/2", -2.0),
        ("star trek", "https://x/1", -1.0),
        ("=sum", "d9", -1.0),
    ]
    path.write_text(SNAPSHOT.replace("June,2026-06-01,7, =sum", "May,2026-05-01,7, =sum"))
    with pytest.raises(InputError, match="2 snapshots in it"):
        read_run(path)
    path.write_text(SNAPSHOT.replace("d9,1", "d9,first"))
    with pytest.raises(InputError, match="line 4, column 6: found 'first', a position is a whole number"):
        read_run(path)


def test_information_needs(tmp_path: Path) -> None:
    path = tmp_path / "needs.csv"
    path.write_text('query,information_need\nstar trek,"the series, not the films"\nalien,\n')
    assert read_queries(path).column("information_need") == {
        "star trek": "the series, not the films",
        "alien": None,
    }


def test_j05_lines_for_learning_to_rank(tmp_path: Path) -> None:
    path = tmp_path / "ltr.txt"
    path.write_text("3 qid:1 # 1370 star trek\n0 qid:1 1:0.5 # 13#7 star trek\n2 qid:7 # x alien\n")
    held = read_tool("ltr", Source.open(path))
    first = held.graded[0]
    assert (first.grade, held.own[first.query], first.doc_id, first.query) == (3, "1", "1370", "star trek")
    assert read_qrels(path).frame.select("query_id", "doc_id", "grade").rows() == [
        ("1", "1370", 3), ("1", "13#7", 0), ("7", "x", 2),
    ]  # fmt: skip
    # With the queries the text says which is meant; the number of the file is its own.
    (tmp_path / "queries.csv").write_text("query_id,text\nA,star trek\nB,alien\n")
    qrels = read_qrels(path, queries=read_queries(tmp_path / "queries.csv"))
    assert qrels.frame["query_id"].to_list() == ["A", "A", "B"]
    path.write_text("3 qid:1 # 1370 star trek\n1 qid:1 # 1371 alien\n")
    with pytest.raises(InputError, match="but line 1 has the text 'star trek' for qid:1"):
        read_qrels(path)


def test_j06_an_export_for_trec_with_a_map(tmp_path: Path) -> None:
    (tmp_path / "quepid.trec").write_text("87 0 d1 2\n")
    qrels = read_qrels(tmp_path / "quepid.trec")
    assert qrels.frame["query_id"].to_list() == ["87"]
    from leadline.formats.heldtables import held_of

    (tmp_path / "map.tsv").write_text("87\tstar trek\n")
    with_map = with_texts(held_of(qrels=qrels), read_queries(tmp_path / "map.tsv"))
    assert (with_map.graded[0].query, with_map.notes) == ("star trek", ())
    without = with_texts(held_of(qrels=qrels))
    assert (without.graded[0].query, without.notes) == ("87", ("1 query has no text: the id stands for it",))


@pytest.mark.parametrize("who", ["query", "docid"])
def test_a_judge_cannot_be_called_like_another_column(who: str, tmp_path: Path) -> None:
    held = Held("text", (Graded("star trek", "d", 1.0, who),))
    with pytest.raises(InputError, match=f"a judge is called '{who}'"):
        write_tool("quepid-judges", held, tmp_path / "book.csv")
    assert not (tmp_path / "book.csv").exists()
