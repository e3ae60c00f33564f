"""Quepid's lists: ratings with blanks, the guard against formulas, quotes, a column for each judge."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError
from leadline.formats.quepid import (
    JUDGES,
    RATINGS,
    Rating,
    guarded,
    quepid_kind,
    read_quepid,
    unguarded,
    write_quepid,
)
from leadline.formats.source import Source


def read(folder: Path, text: str, kind: str = RATINGS):
    path = folder / "list.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_quepid(Source.open(path), kind)


def test_j01_blank_is_not_judged_and_0_is_a_grade(tmp_path: Path) -> None:
    found = read(tmp_path, "query,docid,rating\nstar trek,,\nalien,d1,\nalien,d2,0\n")
    assert [(row.query, row.doc_id, row.grade) for row in found.rows] == [("alien", "d2", 0)]
    assert (found.blank, found.only_queries) == (1, ("star trek",))


def test_j02_a_space_before_what_looks_like_a_formula(tmp_path: Path) -> None:
    internal = ["=sum", "-minus", "@at", "plain", "+plus", " spaced", " =both"]
    write_quepid(tmp_path / "out.csv", [Rating(text, "d", 1) for text in internal])
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [line.removesuffix(",d,1") for line in lines] == [
        " =sum", " -minus", " @at", "plain", " +plus", " spaced", "  =both",
    ]  # fmt: skip
    found = read_quepid(Source.open(tmp_path / "out.csv"), RATINGS)
    assert [row.query for row in found.rows] == internal


@given(st.text(alphabet=" =+-@ab", max_size=6))
def test_the_guard_is_undone(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@"))


def test_j03_quotes(tmp_path: Path) -> None:
    text = 'query,docid,rating\n"bread, white",d1,2\n"two\nlines",d2,1\n'
    rows = [("bread, white", "d1", 2), ("two\nlines", "d2", 1)]
    assert [(row.query, row.doc_id, row.grade) for row in read(tmp_path, text).rows] == rows
    write_quepid(tmp_path / "out.csv", [Rating(*row) for row in rows])
    assert (tmp_path / "out.csv").read_text() == text


def test_j31_a_column_for_each_judge(tmp_path: Path) -> None:
    text = "query,docid,Ana,Bob\nq1,d1,2,\nq1,d2,0,1\n"
    found = read(tmp_path, text, JUDGES)
    rows = [("q1", "d1", "Ana", 2), ("q1", "d2", "Ana", 0), ("q1", "d2", "Bob", 1)]
    assert [(row.query, row.doc_id, row.who, row.grade) for row in found.rows] == rows
    write_quepid(tmp_path / "out.csv", found.rows, ["Ana", "Bob"])
    assert (tmp_path / "out.csv").read_text() == text
    with pytest.raises(InputError, match="each column needs a name of its own"):
        read(tmp_path, "query,docid,Ana,Ana\nq1,d1,2,1\n", JUDGES)


def test_j43_text_that_is_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2, column \d+: text that is not UTF-8"):
        read(tmp_path, b"query,docid,rating\nm\xfcll,d,1\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,docid,rating\nq,d,two\n", "line 2, column 3: found 'two', a grade is a finite number"),
        ("query,docid,rating\nq,d,inf\n", "a grade is a finite number"),
        ("query,docid,rating\nq,d,1\nq,d,1\n", "line 3, column 2: found 'd', but line 2 has the same pair"),
        ("query,docid,rating\nq,,1\n", "a grade needs its document"),
        ("query,docid,rating\n,d,1\n", "a query is text"),
        ("query,doc\nq,d\n", "no list of Quepid"),
    ],
)
def test_wrong_rows(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_what_is_taken_for_a_list_of_quepid() -> None:
    assert quepid_kind(b"\xef\xbb\xbfQuery,DocId,Rating\r\n") == RATINGS
    assert quepid_kind(b'query,docid,"Ana, A.",Bob\n') == JUDGES
    for head in (b"query,docid,score\n", b"query_id,doc_id,grade\n", b"query,docid\n", b"q1 0 d1 1\n", b""):
        assert quepid_kind(head) is None


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=8)


@given(
    st.dictionaries(
        st.tuples(texts, texts),
        st.dictionaries(st.sampled_from("abc"), st.integers(-2, 9) | st.just(0.5), min_size=1),
        min_size=1,
    )
)
def test_round_trip(tmp_path_factory, cells) -> None:
    path = tmp_path_factory.mktemp("quepid") / "out.csv"
    rows = [
        Rating(q, d, float(grade), who) for (q, d), by in cells.items() for who, grade in sorted(by.items())
    ]
    write_quepid(path, rows, ["a", "b", "c"])
    found = read_quepid(Source.open(path), JUDGES)
    assert [(one.query, one.doc_id, one.grade, one.who) for one in found.rows] == [
        (one.query, one.doc_id, one.grade, one.who) for one in rows
    ]
