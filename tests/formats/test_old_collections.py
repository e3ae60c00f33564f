"""The files of SMART collections (Cranfield's) and of NPL, on invented ones, and what is refused."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.documents import document_rows, read_texts
from leadline.formats.faults import Faults
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.source import Source
from leadline.formats.tools import read_tool
from leadline.lint.checking import check_files

UNTIMED = settings(deadline=None, max_examples=60)
DOCUMENTS = """.I 1
.T
on kites
.A
weber,i.
.B
j. kites 3, 1951.
.W
kites rise
  in wind .
.I 2
.T
.A
.B
.W
.I 5
.W
one
.W
two
"""
GAPS = ".I 001\n.W\nwhy do kites\nrise .\n.I 002\n.W\nwhat is wind .\n.I 004\n.W\nwho flew first .\n"
NPL = "1\nkites rise\nin wind\n   /\n2\n/\n7\nwhat / is it\n/"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def rows(path: Path) -> list[dict[str, object]]:
    faults = Faults(str(path))
    found = [dict(row) for _, row in document_rows(Source.open(path), faults)]
    faults.check()
    return found


def asked(path: Path, form: str | None = None) -> list[tuple[str, str | None]]:
    frame = read_queries(path, input_format=form).frame
    return list(zip(frame["query_id"], frame["text"], strict=True))


def test_documents_of_smart(tmp_path: Path) -> None:
    path = put(tmp_path, "all", DOCUMENTS)
    assert rows(path) == [
        {
            "id": "1",
            "text": "kites rise\n  in wind .",
            "title": "on kites",
            "author": "weber,i.",
            "bibliography": "j. kites 3, 1951.",
        },
        # Empty sections are an empty text, and such a document counts.
        {"id": "2", "text": ""},
        # A section that stands twice goes on.
        {"id": "5", "text": "one\ntwo"},
    ]
    assert read_texts(path) == {"1": "kites rise\n  in wind .", "2": "", "5": "one\ntwo"}
    assert read_texts(put(tmp_path, "crlf", DOCUMENTS.replace("\n", "\r\n"))) == read_texts(path)
    found = check_files([str(path)])
    assert (found.looked[0].documents, found.looked[0].kinds) == (3, ("documents",))
    assert [(one.code, one.line, one.count) for one in found.all()] == [("empty-document", 11, 1)]


def test_documents_read_as_queries_are_doubted(tmp_path: Path) -> None:
    path = put(tmp_path, "all", DOCUMENTS)
    held = read_tool("smart-number", Source.open(path))
    assert [one.query for one in held.asked] == ["1", "2", "5"]
    assert held.asked[0].more == {"title": "on kites"}
    assert held.notes == ("read as queries, without .A and .B of 1 item: are these documents? (--documents)",)
    assert read_tool("smart-number", Source.open(put(tmp_path, "kites.qry", GAPS))).notes == ()


def test_a_document_twice_with_two_texts(tmp_path: Path) -> None:
    path = put(tmp_path, "all", ".I 1\n.W\na\n.I 1\n.W\nb\n")
    with pytest.raises(RowsError, match="line 4: found '1', each document stands once"):
        read_texts(path)
    assert [one.line for one in check_files(documents=[str(path)]).faults()] == [4]


def test_what_a_query_is_called_is_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, "kites.qry", GAPS)
    with pytest.raises(InputError, match=r"line 8: query 3 of the file has the number '004'.*smart-ordinal"):
        read_queries(path)
    texts = ["why do kites\nrise .", "what is wind .", "who flew first ."]
    assert asked(path, "smart-number") == list(zip(["001", "002", "004"], texts, strict=True))
    assert asked(path, "smart-ordinal") == list(zip(["1", "2", "3"], texts, strict=True))
    assert read_queries(path, input_format="smart-ordinal").frame["number"].to_list() == ["001", "002", "004"]
    # Where number and place are the same there is nothing to choose.
    plain = put(tmp_path, "plain.qry", GAPS.replace("001", "1").replace("002", "2").replace("004", "3"))
    assert (
        asked(plain)
        == asked(plain, "smart-number")
        == asked(plain, "smart-ordinal")
        == asked(path, "smart-ordinal")
    )
    # Zeros before the number are a difference too.
    with pytest.raises(InputError, match="line 1: query 1 of the file has the number '01'"):
        read_queries(put(tmp_path, "zeros.qry", ".I 01\n.W\na\n"))


def test_the_numbers_in_a_check(tmp_path: Path) -> None:
    path = str(put(tmp_path, "kites.qry", GAPS))
    (fault,) = check_files([path]).faults()
    assert (fault.line, "smart-ordinal" in fault.message) == (8, True)
    for form in ("smart-number", "smart-ordinal"):
        found = check_files([path], input_format=form)
        assert (found.looked[0].format, found.looked[0].queries, found.n_faults) == (form, 3, 0)
    # The choice is of the queries; a run beside them is read as what it is.
    run = str(put(tmp_path, "a.run", "1 Q0 d1 1 2.0 a\n"))
    assert check_files([run, path], input_format="smart-ordinal", cutoffs=[1]).looked[0].kinds == ("run",)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (".I 1\nkites\n", 2, "then a section"),
        (".I 1\n.W\na\n.I 1 2\n.W\nb\n", 4, None),
        (".I 1\n.Q\na\n", 2, "unknown section"),
        (".I 1\n.W\na\n.I\n.W\nb\n", 4, "its number, one word"),
    ],
)
def test_lines_that_stand_nowhere(text: str, line: int, said: str | None, tmp_path: Path) -> None:
    path = put(tmp_path, "x.qry", text)
    if said is None:
        # Two words behind .I are a line of the text.
        assert asked(path) == [("1", "a\n.I 1 2\nb")]
        return
    with pytest.raises(RowsError, match=said) as caught:
        read_queries(path)
    assert caught.value.faults[0].line == line


def test_judgments_of_cranfield(tmp_path: Path) -> None:
    path = put(tmp_path, "cranqrel", "1 184 2 \n1 29 1\n\n2 7 -1")
    qrels = read_qrels(path, input_format="cranqrel")
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == [
        ("1", "184", 2.0), ("1", "29", 1.0), ("2", "7", -1.0),
    ]  # fmt: skip
    assert "1 is best and 4 worst, and 1 grade below 0" in qrels.notes[0]
    turned = read_qrels(path, input_format="cranqrel", grade_map={1: 4, 2: 3, 3: 2, 4: 1})
    assert turned.frame["grade"].to_list() == [3.0, 4.0, -1.0]
    # The form could be something else too, so it is named; the message says how.
    with pytest.raises(RowsError, match="--qrels-format cranqrel"):
        read_qrels(path)
    for text, said in (
        ("1 2\n", "three fields"),
        ("1 2 x\n", "a grade is a whole number"),
        ("1 2 3 4\n", "three fields"),
    ):
        with pytest.raises(RowsError, match=said):
            read_qrels(put(tmp_path, "bad", text), input_format="cranqrel")


def test_the_join_of_cranfield(tmp_path: Path) -> None:
    """Five queries numbered 1, 2, 4, 8, 9; judgments count 1 to 5. By number three join, and the check says so; by place all."""
    numbers = put(tmp_path, "few.qry", "".join(f".I {n}\n.W\nquery {n}\n" for n in (1, 2, 4, 8, 9)))
    qrels = put(tmp_path, "few.qrels", "".join(f"{n} {n + 10} 2\n" for n in range(1, 6)))

    def codes(form: str) -> set[str]:
        found = check_files([str(numbers)], qrels=[str(qrels)], qrels_format="cranqrel", input_format=form)
        return {one.code for one in found.all()}

    assert "two-numberings" in codes("smart-number")
    assert codes("smart-ordinal") == set()


def test_npl(tmp_path: Path) -> None:
    path = put(tmp_path, "query-text", NPL)
    assert asked(path) == [("1", "kites rise\nin wind"), ("2", ""), ("7", "what / is it")]
    assert read_texts(path) == {"1": "kites rise\nin wind", "2": "", "7": "what / is it"}
    assert check_files([str(path)]).looked[0].queries == 3
    assert check_files([str(put(tmp_path, "doc-text", NPL))]).looked[0].documents == 3
    (fault,) = check_files([str(put(tmp_path, "lists", NPL))]).faults()
    assert (fault.code, "queries or documents" in fault.message) == ("unknown-kind", True)


def test_judgments_of_npl(tmp_path: Path) -> None:
    path = put(tmp_path, "rlv", "1\n 12  7\n 9\n  /\n3\n/\n2\n 7\n")
    qrels = read_qrels(path)
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == [
        ("1", "12", 1.0), ("1", "7", 1.0), ("1", "9", 1.0), ("2", "7", 1.0),
    ]  # fmt: skip
    assert "not judged, as no document is listed: 1 query" in qrels.notes[0]
    scores = leadline.evaluate({"1": ["7", "8"], "2": ["1"]}, str(path), "RR")
    assert scores.mean("RR") == 0.5
    with pytest.raises(UsageError, match="holds judgments, not a run"):
        read_run(path)


@pytest.mark.parametrize(
    ("text", "form", "line", "said"),
    [
        ("1\nkites\n/\nkites\n/\n", "npl", 4, "a number alone on its line"),
        ("1\nkites\n/\n/\n", "npl", 4, "a number alone on its line"),
        ("1\nkites\n", "npl", 1, "a line / where the entry ends"),
        ("1\n 12 x7\n/\n", "npl-judgments", 2, "numbers of documents"),
    ],
)
def test_entries_that_cannot_stand(text: str, form: str, line: int, said: str, tmp_path: Path) -> None:
    path = put(tmp_path, "bad", text)
    with pytest.raises(RowsError, match=said) as caught:
        (read_qrels if form == "npl-judgments" else read_queries)(path, input_format=form)
    assert caught.value.faults[0].line == line


def test_one_number_twice(tmp_path: Path) -> None:
    with pytest.raises(RowsError, match="once"):
        read_queries(put(tmp_path, "q", "1\na\n/\n1\nb\n/\n"))


WORD = st.from_regex(r"[a-z0-9äöü,./-]{1,8}", fullmatch=True)
LINE = st.lists(WORD, min_size=1, max_size=4).map(" ".join).filter(lambda line: line.strip() != "/")
TEXT = st.lists(LINE, max_size=4)


@UNTIMED
@given(st.lists(TEXT, min_size=1, max_size=6), st.integers(0, 2), st.booleans())
def test_whatever_is_written_so_is_read_so(texts: list[list[str]], form: int, crlf: bool) -> None:
    """Of any texts in each of the three layouts: ids, texts and their number come back, as queries and as documents."""
    items = [(str(at), lines) for at, lines in enumerate(texts, start=1)]
    layouts = (
        "".join(f".I {own}\n.W\n" + "".join(f"{line}\n" for line in lines) for own, lines in items),
        "".join(f"{own}\n" + "".join(f"{line}\n" for line in lines) + "   /\n" for own, lines in items),
        "".join(
            f".I {own}\n.T\n.W\n" + "".join(f"{line}\n" for line in lines) + ".X\n1 2 3\n"
            for own, lines in items
        ),
    )
    content = layouts[form].replace("\n", "\r\n" if crlf else "\n")
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), "some", content)
        expected = [(own, "\n".join(lines)) for own, lines in items]
        named = "npl" if form == 1 else None
        assert asked(path, named) == expected
        # Texts of nothing but numbers are judgments by their look.
        if named is None or not all(
            word.isascii() and word.isdigit() for _, lines in items for line in lines for word in line.split()
        ):
            assert list(read_texts(path).items()) == expected


@UNTIMED
@given(
    st.dictionaries(
        st.integers(1, 99), st.sets(st.integers(1, 9999), min_size=1, max_size=25), min_size=1, max_size=5
    )
)
def test_the_lists_of_npl_are_pairs_of_grade_1(lists: dict[int, set[int]]) -> None:
    def entry(query: int, docs: list[int]) -> str:
        lines = ["".join(f"{doc:6d}" for doc in docs[at : at + 10]) for at in range(0, len(docs), 10)]
        return "\n".join([str(query), *lines, "   /", ""])

    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), "rlv", "".join(entry(query, sorted(docs)) for query, docs in lists.items()))
        frame = read_qrels(path).frame
    assert set(frame.select("query_id", "doc_id", "grade").rows()) == {
        (str(query), str(doc), 1.0) for query, docs in lists.items() for doc in docs
    }
    assert frame.height == sum(map(len, lists.values()))
