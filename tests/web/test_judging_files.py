"""The files of a judging session: pairs, documents, queries, the scale and the guideline."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import InputError, RowsError, UsageError
from leadline.web.documents import Document, Documents, read_documents, web_link
from leadline.web.pairs import pair_name, ranks_of_runs, read_pairs, read_query_texts
from leadline.web.settings import USUAL, Rules, read_rules
from leadline.web.setup import Files, read_files


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_pairs_with_all_that_a_pool_says(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "to-judge.jsonl",
        {
            "query_id": "q",
            "doc_id": "a",
            "ranks": {"x": 1},
            "move": 0.1,
            "probability": 0.5,
            "stratum": "deep",
        },
        {"query_id": "q", "doc_id": 7, "query": "how", "need": "steps"},
        {"query_id": "q", "doc_id": "a", "ranks": {"y": 2}},
    )
    pairs, queries = read_pairs(file)
    assert [(one.doc_id, dict(one.ranks), one.probability, one.stratum, one.place) for one in pairs] == [
        ("a", {"x": 1, "y": 2}, 0.5, "deep", 0),
        ("7", {}, None, None, 1),
    ]
    assert queries["q"].text == "how" and queries["q"].need == "steps"
    assert pairs[0].name == pair_name("q", "a")


@pytest.mark.parametrize(
    "row",
    [{}, {"query_id": "q"}, {"query_id": "q", "doc_id": "d", "ranks": {"a": 0}}, {"query_id": "q", "doc_id": "d", "ranks": [1]},
     {"query_id": "q", "doc_id": "d", "probability": 2}, {"query_id": "q", "doc_id": "d", "ranks": {"a": True}}, []],
)  # fmt: skip
def test_pairs_that_cannot_be_are_named_by_their_line(tmp_path: Path, row: Any) -> None:
    file = lines(tmp_path / "p.jsonl", {"query_id": "q", "doc_id": "ok"}, row)
    with pytest.raises(RowsError, match="line 2"):
        read_pairs(file)


def test_no_pairs_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("\n")
    with pytest.raises(InputError, match="no pairs"):
        read_pairs(tmp_path / "p.jsonl")


def test_query_texts_and_needs(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "q.jsonl", {"query_id": "q1", "text": "how", "information_need": "steps", "type": "task"}
    )
    assert read_query_texts(file)["q1"].need == "steps"
    assert read_query_texts(file)["q1"].fields == {"type": "task"}


def test_ranks_of_runs(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 9 a\nq1 Q0 d2 2 8 a\nq2 Q0 d1 1 1 a\nq9 Q0 d1 1 1 a\n")
    found = ranks_of_runs([str(tmp_path / "a.run")], ["q1", "q2"], 10)
    assert found == {"a": {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}}
    with pytest.raises(UsageError, match="two runs"):
        ranks_of_runs([str(tmp_path / "a.run")] * 2, ["q1"])


def test_documents_from_rows_with_cards(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "d.jsonl",
        {"id": "a", "text": "one", "title": "T", "path": "x/y", "url": "https://a.example/1", "price": 59, "tags": ["x", "y"],
         "image": "https://img.example/1.png", "fields": {"size": "L"}, "deep": {"a": 1}},
        {"_id": "b", "text": "two", "link": "javascript:alert(1)", "image": "https://other.example/x.png"},
        {"id": "not wanted", "text": "three"},
    )  # fmt: skip
    documents, hosts = read_documents(file, ["a", "b"], ["img.example"])
    a, b = documents.by_id["a"], documents.by_id["b"]
    assert (a.title, a.path, a.link, a.image) == (
        "T",
        "x/y",
        "https://a.example/1",
        "https://img.example/1.png",
    )
    assert a.fields == {"price": "59", "tags": "x, y", "size": "L"}
    assert (b.link, b.image, hosts) == (None, None, {"other.example"})
    assert len(documents) == 2


@pytest.mark.parametrize(
    ("listed", "image", "shown"),
    [
        ("img.example", "https://img.example:443/a.png", True),
        ("img.example", "http://IMG.example/a.png", True),
        # The content policy of the pages would not let it through.
        ("img.example", "https://img.example:8443/a.png", False),
        ("Img.example:8443", "https://img.example:8443/a.png", True),
        ("*.img.example", "https://cdn.img.example/a.png", True),
        ("*.img.example", "https://img.example/a.png", False),
        ("*.img.example", "https://badimg.example/a.png", False),
        ("img.example", "https://img.example:99999/a.png", False),
        # The usual port may be named; it is that of the one scheme.
        ("img.example:443", "https://img.example/a.png", True),
        ("img.example:443", "https://img.example:443/a.png", True),
        ("img.example:443", "http://img.example/a.png", False),
        ("img.example:80", "http://img.example/a.png", True),
        ("*.img.example:443", "https://cdn.img.example/a.png", True),
    ],
)
def test_which_image_a_host_lets_through(tmp_path: Path, listed: str, image: str, shown: bool) -> None:
    file = lines(tmp_path / "d.jsonl", {"id": "a", "text": "one", "image": image})
    documents, _ = read_documents(file, ["a"], [listed])
    assert (documents.by_id["a"].image is not None) == shown


def test_documents_from_a_table(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("docno,text,document_id,start,Colour\na#0,one ,a,0,\na#1,two,a,4,red\n")
    documents, _ = read_documents(file, ["a#1"])
    assert documents.by_id["a#1"].fields == {"Colour": "red"} and documents.by_id["a#0"].fields == {}
    around = documents.around("a#1")
    assert around is not None and around.text == "one two"


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", " JavaScript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "//evil.example", "vbscript:x",
     "javascript://a.example/%0aalert(1)",
     "ftp://a.example/", "http://", "https:///x", "https://a.example/ x", "file:///etc/passwd", 7, None, "http://[", "https://a\x00b"],
)  # fmt: skip
def test_only_links_of_the_web(link: Any) -> None:
    assert web_link(link) is None


def test_chunks_come_with_the_rest_of_their_document(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "d.jsonl",
        {"id": "kb#0", "text": "one ", "document_id": "kb", "start": 0},
        {"id": "kb#2", "text": "four", "document_id": "kb", "start": 14},
        {"id": "kb#1", "text": "two ", "document_id": "kb", "start": 4},
        {"id": "other#0", "text": "x", "document_id": "other", "start": 0},
    )
    documents, _ = read_documents(file, ["kb#1"])
    assert set(documents.by_id) == {"kb#0", "kb#1", "kb#2"}
    around = documents.around("kb#1")
    # A gap of six characters keeps its width, so that offsets stay.
    assert around is not None and (around.start, around.end) == (4, 8)
    assert around.text[:8] == "one two " and around.text[14:] == "four" and len(around.text[8:14]) == 6


def test_the_document_itself_is_the_surroundings_where_it_is_given() -> None:
    documents = Documents(
        [Document("kb", "one two three"), Document("kb#1", "two", document_id="kb", start=4, end=7)]
    )
    around = documents.around("kb#1")
    assert around is not None and around.text == "one two three"
    assert documents.around("kb") is None


def test_documents_from_a_folder_and_a_corpus(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    (texts / "sub").mkdir(parents=True)
    (texts / "a.txt").write_text("one")
    (texts / "sub" / "b.md").write_text("two")
    (texts / "c.bin").write_text("three")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (texts / "link.txt").symlink_to(secret)
    documents, _ = read_documents(texts, ["a", "sub/b.md", "c.bin", "link.txt", "../secret.txt"])
    assert {name: one.text for name, one in documents.by_id.items()} == {"a": "one", "sub/b.md": "two"}
    beir = tmp_path / "beir"
    beir.mkdir()
    lines(beir / "corpus.jsonl", {"_id": "x", "title": "T", "text": "body", "metadata": {"year": 2020}})
    documents, _ = read_documents(beir, ["x"])
    assert documents.by_id["x"].title == "T" and documents.by_id["x"].fields == {"year": "2020"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a"}], "a document has a text"),
        ([{"text": "x"}], "line 1: found"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "stands twice"),
        ([{"id": "a", "text": "x", "start": -1}], "start and end"),
        ([{"id": "a", "text": "x", "fields": []}], "fields maps"),
        ([{"id": "b", "text": "x"}], "none of the 1 documents"),
    ],
)
def test_documents_that_cannot_be_used(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_documents(lines(tmp_path / "d.jsonl", *rows), ["a"])


@pytest.mark.parametrize(
    ("scale", "grades", "keys"),
    [
        (None, [0, 1, 2, 3], "0123"),
        ("binary", [0, 1], "01"),
        ("0-4", [0, 1, 2, 3, 4], "01234"),
        ("1-4", [1, 2, 3, 4], "1234"),
        ("0=off topic,1=related,3=answers", [0, 1, 3], "013"),
        # Digits cannot be these grades: their places are the keys (j46).
        ("0,1,10,100", [0, 1, 10, 100], "1234"),
        ("0,0.5,1", [0, 0.5, 1], "123"),
        ("-1,0,1,2", [-1, 0, 1, 2], "1234"),
    ],
)
def test_scales_and_their_keys(scale: str | None, grades: list[float], keys: str) -> None:
    rules = Rules.of(scale)
    assert list(rules.grades) == grades and "".join(one.key for one in rules.scale) == keys


@pytest.mark.parametrize("scale", ["", "5", "0-20", "a,b", "0,0", "1=", "nan,1", "0,inf", "3-0"])
def test_scales_that_cannot_be(scale: str) -> None:
    with pytest.raises(UsageError):
        Rules.of(scale)


GUIDELINE = """# How to judge

Read the **need**.

## 0 nothing

Not about it.

Example: a page on another product.

## 1: something

About it.
Some of it.

**Example:** the overview
page.

## Afterwards

<script>alert(1)</script> [bad](javascript:alert(1)) ![x](https://evil.example/x.png)
"""


def test_a_guideline_tells_the_scale() -> None:
    rules = Rules.of(guideline=GUIDELINE)
    assert [(one.grade, one.name, one.meaning, one.example) for one in rules.scale] == [
        (0, "nothing", "Not about it.", "a page on another product."),
        (1, "something", "About it. Some of it.", "the overview page."),
    ]
    html = rules.html()
    assert "<h2>Afterwards</h2>" in html and "nothing" not in html
    # Raw HTML is shown, not run; links of scripts and pictures are no links and no pictures.
    assert "<script" not in html and "href" not in html and "<img" not in html


def test_a_scale_and_a_guideline_together() -> None:
    rules = Rules.of("0-2", GUIDELINE)
    assert [(one.name, one.meaning[:5]) for one in rules.scale] == [
        ("nothing", "Not a"),
        ("something", "About"),
        ("2", ""),
    ]
    assert Rules.of("0=no,1=yes", GUIDELINE).scale[1].name == "yes"
    assert Rules.of().scale[3].meaning == USUAL[3].meaning


def test_the_version_changes_with_what_people_read(tmp_path: Path) -> None:
    versions = {
        Rules.of(scale, text).version for scale in (None, "0-4", "0=a,1=b") for text in (None, "x", "y")
    }
    assert len(versions) == 9
    file = tmp_path / "g.md"
    file.write_text("x")
    assert read_rules(None, file).version == Rules.of(None, "x").version
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_rules(None, file)
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(None, tmp_path / "none.md")


def test_pairs_without_a_document_are_left_out_and_told(tmp_path: Path) -> None:
    pairs = lines(tmp_path / "p.jsonl", *({"query_id": "q", "doc_id": name} for name in ("a", "b")))
    documents = lines(tmp_path / "d.jsonl", {"id": "a", "text": "x", "image": "https://i.example/a.png"})
    read = read_files(Files(str(pairs), str(documents)))
    assert [one.doc_id for one in read.pairs] == ["a"]
    assert [remark.partition(":")[0] for remark in read.remarks] == [
        "1 pair of 2 left out",
        "1 query without a text, shown by id",
        "images are not shown; to show them",
    ]
    assert "--image-host i.example" in read.remarks[2]
