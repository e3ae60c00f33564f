"""The design of a sampled pool through the book: stratum and probability come in, stay, and go out; xinfAP is the same."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels
from leadline.judging.status import book_status
from shared.command import leadline

N = 12
ROWS = [
    {"query_id": "q", "doc_id": "a", "grade": 2, "stratum": "1-1", "probability": 1.0},
    {"query_id": "q", "doc_id": "b", "grade": 0, "stratum": "2-4", "probability": 0.5},
    {"query_id": "q", "doc_id": "c", "grade": -1, "stratum": "2-4", "probability": 0.5},
]
DESIGN = {(row["doc_id"], row["grade"], row["stratum"], row["probability"]) for row in ROWS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(path: str, rows: list[dict[str, Any]]) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def design(book: str) -> set[tuple[object, ...]]:
    with Book.open(book, create=False) as opened:
        return {(row.doc_id, row.grade, row.stratum, row.probability) for row in opened.standing()}


@pytest.mark.parametrize("name", ["o.jsonl", "o.csv", "o.tsv", "o.parquet", "o.jsonl.gz"])
def test_tables_keep_the_design_both_ways(capsys: pytest.CaptureFixture[str], name: str) -> None:
    lines("all.jsonl", ROWS)
    assert leadline(capsys, "book", "import", "j.db", "all.jsonl", "--who", "ana")[0] == 0
    assert design("j.db") == DESIGN
    assert leadline(capsys, "book", "export", "j.db", name, "--rule", "majority") == (
        0,
        f"wrote {name}: 3 labels by the rule majority\n",
        "",
    )
    leadline(capsys, "book", "import", "k.db", name, "--who", "ana")
    assert design("k.db") == DESIGN
    # Imported twice, nothing is new.
    assert (
        "0 judgments added, 3 in the book already"
        in leadline(capsys, "book", "import", "j.db", name, "--who", "ana")[1]
    )


def test_a_part_of_the_labels_may_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines("all.jsonl", [*ROWS, {"query_id": "q", "doc_id": "z", "grade": 1}])
    leadline(capsys, "book", "import", "j.db", "all.jsonl", "--who", "ana")
    for name in ("o.jsonl", "o.csv", "o.parquet"):
        assert leadline(capsys, "book", "export", "j.db", name, "--rule", "latest")[0] == 0
        leadline(capsys, "book", "import", f"{name}.db", name, "--who", "ana")
        assert design(f"{name}.db") == DESIGN | {("z", 1, None, None)}
    code, _, err = leadline(capsys, "book", "export", "j.db", "o.txt", "--format", "trec-sampled")
    assert code == 2 and "1 of 4 labels has no stratum" in err and not Path("o.txt").exists()


def test_five_columns_of_trec(capsys: pytest.CaptureFixture[str]) -> None:
    lines("all.jsonl", ROWS)
    leadline(capsys, "book", "import", "j.db", "all.jsonl", "--who", "ana")
    code, out, _ = leadline(capsys, "book", "export", "j.db", "o.txt", "--format", "trec-sampled")
    assert code == 0 and out == (
        "trec-sampled loses 2 probabilities of a sampled pool: left out\n"
        "wrote o.txt: 3 labels by the rule latest\n"
    )
    assert Path("o.txt").read_text() == "q 0 a 1-1 2\nq 0 b 2-4 0\nq 0 c 2-4 -1\n"
    imported = ("book", "import", "k.db", "o.txt", "--format", "trec-sampled", "--who", "ana")
    assert leadline(capsys, *imported)[0] == 0
    assert design("k.db") == {(doc, grade, stratum, None) for doc, grade, stratum, _ in DESIGN}
    code, _, err = leadline(capsys, "book", "export", "j.db", "o.csv", "--format", "trec-sampled")
    assert code == 2 and "the ending says csv, not trec-sampled" in err


@pytest.mark.parametrize(
    ("name", "form", "hint"),
    [
        ("o.txt", "trec", " (--format trec-sampled keeps them)"),
        ("o", "beir", ""),
        ("o.json", "rank_eval", ""),
        ("o.json", "quepid-book", ""),
    ],
)
def test_what_has_no_column_is_said(
    capsys: pytest.CaptureFixture[str], name: str, form: str, hint: str
) -> None:
    lines("all.jsonl", ROWS)
    leadline(capsys, "book", "import", "j.db", "all.jsonl", "--who", "ana")
    code, out, _ = leadline(capsys, "book", "export", "j.db", name, "--format", form)
    assert code == 0
    assert f"{form} loses 2 strata of a sampled pool: left out{hint}\n" in out
    assert f"{form} loses 2 probabilities of a sampled pool: left out\n" in out
    assert out.index("loses") < out.index("wrote")


def test_four_columns_stay_four(capsys: pytest.CaptureFixture[str]) -> None:
    lines("all.jsonl", ROWS)
    leadline(capsys, "book", "import", "j.db", "all.jsonl", "--who", "ana")
    leadline(capsys, "book", "export", "j.db", "o.txt")
    assert Path("o.txt").read_text() == "q 0 a 2\nq 0 b 0\nq 0 c -1\n"
    # A book without a design loses nothing.
    lines("plain.jsonl", [{"query_id": "q", "doc_id": "a", "grade": 1}])
    leadline(capsys, "book", "import", "p.db", "plain.jsonl", "--who", "ana")
    assert "loses" not in leadline(capsys, "book", "export", "p.db", "p.txt")[1]
    with Book.open("p.db") as book:
        assert not make_labels(book.rows()).qrels().sampled


def grade(query: str, doc: str) -> int:
    """The truth: a quarter or so is relevant, whatever was ranked where."""
    return int((int(query[1:]) * 7 + ord(doc) * 5) % 4 == 0)


def a_pool(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """Two runs, their sample in to-judge.jsonl, the whole pool in pool.jsonl; xinfAP by labelling that file itself."""
    orders = {"old": "abcdefgh", "new": "hxaybzcw"}
    for name, docs in orders.items():
        rows = [f"q{i} Q0 {doc} {at} {20 - at} x" for i in range(N) for at, doc in enumerate(docs, 1)]
        Path(f"{name}.run").write_text("\n".join(rows) + "\n")
    sample = ("--sample", "stratified", "--rates", "1-2=1,3-8=.4", "--seed", "3")
    code, _, err = leadline(
        capsys, "pool", "old.run", "new.run", *sample, "--write", "to-judge.jsonl", "--write", "to-judge.csv",
        "--pooled-qrels", "pool.jsonl",
    )  # fmt: skip
    assert code == 0, err
    drawn = {(row["query_id"], row["doc_id"]) for row in read("to-judge.jsonl")}
    labelled = [
        row | {"grade": grade(row["query_id"], row["doc_id"])}
        if (row["query_id"], row["doc_id"]) in drawn
        else row
        for row in read("pool.jsonl")
    ]
    assert 0 < sum(row["grade"] < 0 for row in labelled) < len(labelled)
    found = xinf(capsys, lines("direct.jsonl", labelled))
    assert found["old"] != found["new"]
    return found


def read(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def xinf(capsys: pytest.CaptureFixture[str], qrels: str, *more: str) -> dict[str, float]:
    code, out, err = leadline(
        capsys, "evaluate", "old.run", "new.run", "--qrels", qrels, "-m", "xinfAP", "--format", "json", *more
    )
    assert code == 0, err
    return {row["system"]: row["mean"] for row in json.loads(out)["results"]}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_from_the_pool_through_the_book_to_xinfap(capsys: pytest.CaptureFixture[str], form: str) -> None:
    direct = a_pool(capsys)
    leadline(capsys, "book", "import", "j.db", "pool.jsonl", "--who", "pool")
    # As somebody does it in an editor or a spreadsheet: one more column.
    if form == "jsonl":
        rows = [row | {"grade": grade(row["query_id"], row["doc_id"])} for row in read("to-judge.jsonl")]
        lines("graded.jsonl", rows)
    else:
        table = pl.read_csv("to-judge.csv")
        grades = [grade(*pair) for pair in table.select("query_id", "doc_id").iter_rows()]
        table.with_columns(grade=pl.Series(grades)).write_csv("graded.csv")
    code, _, err = leadline(capsys, "book", "import", "j.db", f"graded.{form}", "--who", "ana")
    assert code == 0, err
    assert xinf(capsys, "j.db") == direct
    # What stands for the pool is no person who judged.
    told = json.loads(leadline(capsys, "agreement", "j.db", "--format", "json")[1])
    assert [row["who"] for row in told["by_person"]] == ["ana"]
    for name in ("o.jsonl", "o.csv", "o.tsv", "o.parquet"):
        assert leadline(capsys, "book", "export", "j.db", name, "--rule", "latest")[0] == 0
        assert xinf(capsys, name) == direct
    leadline(capsys, "book", "export", "j.db", "o.txt", "--format", "trec-sampled")
    assert xinf(capsys, "o.txt", "--qrels-format", "trec-sampled") == direct
    # Every row, and from there.
    leadline(capsys, "book", "export", "j.db", "rows.jsonl")
    assert xinf(capsys, "rows.jsonl") == direct


def test_the_sample_alone_is_not_taken_for_the_pool(capsys: pytest.CaptureFixture[str]) -> None:
    a_pool(capsys)
    rows = [row | {"grade": grade(row["query_id"], row["doc_id"])} for row in read("to-judge.jsonl")]
    leadline(capsys, "book", "import", "j.db", lines("graded.jsonl", rows), "--who", "ana")
    code, _, err = leadline(capsys, "evaluate", "old.run", "--qrels", "j.db", "-m", "xinfAP")
    assert code == 2 and "xinfAP and infNDCG need the whole pool" in err


@pytest.mark.parametrize("order", [("pool.jsonl", "graded.jsonl"), ("graded.jsonl", "pool.jsonl")])
def test_that_a_pair_was_in_the_pool_takes_back_no_grade(
    capsys: pytest.CaptureFixture[str], order: tuple[str, str]
) -> None:
    """Whoever's name the pool is imported under, and in either order."""
    a_pool(capsys)
    rows = [row | {"grade": grade(row["query_id"], row["doc_id"])} for row in read("to-judge.jsonl")]
    lines("graded.jsonl", rows)
    for file in order:
        leadline(capsys, "book", "import", "j.db", file, "--who", "ana")
    with Book.open("j.db") as book:
        kept = {(one.query_id, one.doc_id): one.grade for one in make_labels(book.rows()).labels}
        status = book_status(book.rows())
    assert {(row["query_id"], row["doc_id"]): row["grade"] for row in rows}.items() <= kept.items()
    # A pair of the pool is not graded by it.
    (ana,) = status["by_person"]
    assert status["unordered"] == 0
    assert ana["graded"] == sum(row["graded"] for row in status["by_query"]) == len(rows)


def test_a_grade_from_elsewhere_is_not_taken_for_a_drawn_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A pair that was not drawn and that somebody judged: with what chance that came about nobody knows."""
    a_pool(capsys)
    leadline(capsys, "book", "import", "j.db", "pool.jsonl", "--who", "pool")
    drawn = {(row["query_id"], row["doc_id"]) for row in read("to-judge.jsonl")}
    other = next(row for row in read("pool.jsonl") if (row["query_id"], row["doc_id"]) not in drawn)
    with Book.open("j.db") as book:
        book.add([Judgment(other["query_id"], other["doc_id"], 1, who="ana")])
    code, _, err = leadline(capsys, "evaluate", "old.run", "--qrels", "j.db", "-m", "xinfAP")
    assert code == 2 and "need the stratum of every pair: 1 of" in err


def test_a_decision_says_the_design_too() -> None:
    row = Judgment("q", "d", 2, adjudicates=True, probability=0.25, stratum="deep")
    (label,) = make_labels([row], "adjudicated").labels
    assert (label.grade, label.probability, label.stratum) == (2, 0.25, "deep")
