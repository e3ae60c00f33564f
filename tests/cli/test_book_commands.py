"""The commands `book` and `agreement`: import, export, merge, status, and books as `--qrels`."""

import csv
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.formats.read import read_qrels
from leadline.judging.book import Book
from leadline.judging.exchange import rows_of, write_rows
from leadline.judging.judgment import Judgment, text_hash
from leadline.judging.labels import make_labels
from shared.command import leadline

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d7 3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\nq2 Q0 d7 1 1 a\n")
    return tmp_path


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000+00:00"


def a_book(path: str = "j.db") -> list[Judgment]:
    """Two persons on two queries, one undone, one marked, one repeated, one model."""
    rows = [
        Judgment(
            "q1", "d1", 3, who="ana", when=at(1), seconds=30, text_hash=text_hash("one"), guideline="v1"
        ),
        Judgment(
            "q1", "d1", 2, who="bob", when=at(2), seconds=10, text_hash=text_hash("one"), guideline="v1"
        ),
        Judgment("q1", "d2", 0, who="ana", when=at(3), seconds=60, text_hash=text_hash("two")),
        Judgment("q1", "d2", 0, who="bob", when=at(4)),
        Judgment("q2", "d7", 1, who="ana", when=at(5), id="wrong", seconds=90),
        Judgment("q2", "d7", who="ana", when=at(6), undoes="wrong"),
        Judgment("q2", "d7", mark="unsure", who="ana", when=at(7), note="which version?"),
        Judgment("q2", "d7", 2, who="m-1", kind="model", when=at(8), model={"name": "m-1"}),
        Judgment("q1", "d1", 2, who="ana", when=at(9), repeat=True, seconds=20),
    ]
    with Book.open(path) as book:
        book.add(rows)
    return rows


def test_importing_twice_adds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("book", "import", "j.db", "qrels.txt", "--who", "ana", "--guideline", "v2")
    assert leadline(capsys, *command) == (0, "qrels.txt: 3 judgments added\n", "")
    assert leadline(capsys, *command) == (0, "qrels.txt: 0 judgments added, 3 in the book already\n", "")
    with Book.open("j.db") as book:
        assert {(row.who, row.guideline, row.when, row.kind) for row in book.rows()} == {
            ("ana", "v2", "", "person")
        }
        assert [(row.query_id, row.doc_id, row.grade) for row in sorted(book.rows(), key=lambda r: r.doc_id)] == [
            ("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d7", 3),
        ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["qrels.jsonl", "qrels.csv", "qrels.tsv", "qrels.parquet", "qrels.txt.gz", "beir"]
)
def test_every_format_of_judgments_comes_in_and_goes_out(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str
) -> None:
    leadline(capsys, "book", "import", "j.db", "qrels.txt", "--who", "ana")
    more = ("--format", "beir") if name == "beir" else ()
    code, out, err = leadline(capsys, "book", "export", "j.db", name, "--rule", "majority", *more)
    assert (code, err) == (0, "") and out == f"wrote {name}: 3 labels by the rule majority\n"
    assert (
        leadline(capsys, "book", "import", "other.db", name, "--who", "ana")[1]
        == f"{name}: 3 judgments added\n"
    )
    leadline(capsys, "book", "export", "other.db", "again.txt")
    assert (folder / "again.txt").read_text() == QRELS


def test_the_book_as_jsonl_is_lossless_and_the_same_from_any_book(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    rows = a_book()
    assert leadline(capsys, "book", "export", "j.db", "j.jsonl")[1] == "wrote j.jsonl: 9 rows\n"
    assert leadline(capsys, "book", "import", "k.db", "j.jsonl")[1] == "j.jsonl: 9 judgments added\n"
    with Book.open("k.db") as book:
        assert book.rows() == rows
        book.merge(reversed(rows))
    leadline(capsys, "book", "export", "k.db", "k.jsonl")
    assert (folder / "k.jsonl").read_bytes() == (folder / "j.jsonl").read_bytes()


def test_two_laptops(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rows = a_book()
    for name, part in (("ana.db", rows[:4]), ("bob.db", rows[2:])):
        with Book.open(name) as book:
            book.add(part)
    leadline(capsys, "book", "export", "bob.db", "bob.jsonl")
    code, out, _ = leadline(capsys, "book", "merge", "all.db", "ana.db", "bob.jsonl")
    assert code == 0
    assert out == (
        "ana.db: 4 rows added\nbob.jsonl: 5 rows added, 2 in the book already\n"
        "all.db: 9 rows; judges differ on 1 pair\n"
    )
    leadline(capsys, "book", "merge", "other.db", "bob.db", "ana.db")
    for name in ("all", "other"):
        leadline(capsys, "book", "export", f"{name}.db", f"{name}.jsonl")
    assert (folder / "all.jsonl").read_bytes() == (folder / "other.jsonl").read_bytes()


def test_a_corrected_list_replaces_what_it_said_before(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    leadline(capsys, "book", "import", "j.db", "qrels.txt", "--who", "ana")
    (folder / "fixed.txt").write_text(QRELS.replace("d1 1", "d1 2"))
    _, out, _ = leadline(capsys, "book", "import", "j.db", "fixed.txt", "--who", "ana")
    added = "1 judgment added, 2 in the book already, 1 earlier one of an undated list taken back"
    assert out == f"fixed.txt: {added}\n"
    again = leadline(capsys, "book", "import", "j.db", "fixed.txt", "--who", "ana")[1]
    assert again == "fixed.txt: 0 judgments added, 3 in the book already\n"
    leadline(capsys, "book", "export", "j.db", "out.txt")
    assert (folder / "out.txt").read_text() == QRELS.replace("d1 1", "d1 2")
    # Somebody else's grade, and one with a time, are left alone.
    leadline(capsys, "book", "import", "j.db", "qrels.txt", "--who", "bob")
    assert "taken back" not in leadline(capsys, "book", "import", "j.db", "qrels.txt", "--who", "eve")[1]
    assert (
        "1 judgment had been taken back"
        in leadline(capsys, "book", "import", "j.db", "qrels.txt", "--who", "ana")[1]
    )


def test_labels_of_a_model_have_a_card(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    _, out, _ = leadline(capsys, "book", "export", "j.db", "qrels.tsv", "--rule", "median")
    assert out == (
        "wrote qrels.tsv: 3 labels by the rule median, 1 of a model, 1 settled by the smaller of the two middle grades\n"
        "wrote qrels.tsv.leadline.json: which labels are a model's\n"
    )
    card = json.loads((folder / "qrels.tsv.leadline.json").read_text())
    assert card["file"] == "qrels.tsv" and card["account"]["rule"] == "median"
    assert card["models"] == [{"who": "m-1", "labels": 1}] and card["pairs_of_models"] == [["q2", "d7"]]
    # Whoever reads the file learns it.
    assert card["kind"] == "mixed" and [one["model"] for one in card["judges"]] == ["m-1"]
    assert (read_qrels("qrels.tsv").models, [one.model for one in read_qrels("qrels.tsv").judges]) == (
        1,
        ["m-1"],
    )
    # Persons only: no card, and the old one goes.
    leadline(capsys, "book", "export", "j.db", "qrels.tsv", "--rule", "median", "--kind", "person")
    assert not (folder / "qrels.tsv.leadline.json").exists()


def test_quepids_lists(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    _, out, _ = leadline(capsys, "book", "export", "j.db", "judges.csv", "--format", "quepid-judges")
    assert out == (
        "quepid-judges loses 1 note of a judge: left out\n"
        "quepid-judges loses 1 mark (unsure, skip, broken): left out\n"
        "2 queries have no text: the id stands for it\nwrote judges.csv: 4 grades of persons\n"
    )
    assert (folder / "judges.csv").read_text() == "query,docid,ana,bob\nq1,d1,3,2\nq1,d2,0,0\nq2,,,\n"
    assert "4 judgments added" in leadline(capsys, "book", "import", "k.db", "judges.csv")[1]
    leadline(capsys, "book", "export", "j.db", "ratings.csv", "--format", "quepid", "--rule", "quepid")
    # (3 + 2)/2 = 2.5, rounded away from zero.
    assert (folder / "ratings.csv").read_text() == "query,docid,rating\nq1,d1,3\nq1,d2,0\nq2,d7,2\n"
    (folder / "blank.csv").write_text("query,docid,rating\nq1,d1,\nq9,,\nq1,d3,1\n")
    _, out, _ = leadline(capsys, "book", "import", "k.db", "blank.csv", "--who", "eve")
    assert out == (
        "blank.csv: 1 judgment added\n  1 pair without a grade: not judged, left out\n"
        "  1 query without a document\n"
    )


def test_status(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    (folder / "documents.jsonl").write_text(
        '{"id": "d1", "text": "one"}\n{"_id": "d7", "text": "x"}\n{"doc_id": "d9", "text": "y"}\n'
    )
    code, out, _ = leadline(
        capsys, "book", "status", "j.db", "--documents", "documents.jsonl", "--write", "again.jsonl"
    )
    assert code == 0 and max(map(len, out.splitlines())) <= 100
    assert "7 judgments of 3 pairs stand, 1 taken back; 9 rows in all" in out
    assert "judged by two persons or more: 2 of 2 graded pairs (100%)" in out
    assert "marks: 1 unsure" in out
    assert (
        "documents: 0 votes on a text that has changed since, 1 on one that is not there; 4 judgments" in out
    )
    (folder / "documents.jsonl").write_text('{"id": "d1", "text": "ONE"}\n{"id": "d2", "text": "two"}\n')
    _, out, _ = leadline(
        capsys,
        "book",
        "status",
        "j.db",
        "--documents",
        "documents.jsonl",
        "--write",
        "again.jsonl",
        "--format",
        "json",
    )
    status = json.loads(out)
    assert [(row["doc_id"], row["who"]) for row in status["changed"]] == [("d1", "ana"), ("d1", "bob")]
    assert [json.loads(line)["doc_id"] for line in (folder / "again.jsonl").read_text().splitlines()] == [
        "d1"
    ]
    ana = next(row for row in status["by_person"] if row["who"] == "ana")
    assert {k: ana[k] for k in ("judgments", "graded", "unsure", "repeats", "undone", "last")} == {
        "judgments": 4, "graded": 3, "unsure": 1, "repeats": 1, "undone": 1, "last": at(9),
    }  # fmt: skip
    (q1, q2) = status["by_query"]
    assert (q1["pairs"], q1["graded"], q1["persons"], q1["two_or_more"]) == (2, 5, 2, 2)
    assert (q2["pairs"], q2["marked"], q2["persons"], q2["two_or_more"]) == (1, 1, 1, 0)
    assert status["marks"] == {"unsure": 1, "skip": 0, "broken": 0} and status["grades"] == {
        "0": 2,
        "2": 3,
        "3": 1,
    }


def test_agreement(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    code, out, _ = leadline(
        capsys, "agreement", "j.db", "--write", "d.jsonl", "--write", "p.csv", "--write", "a.md"
    )
    assert code == 0 and max(map(len, out.splitlines())) <= 100
    assert "2 persons, 2 pairs graded by two or more, 2 comparisons; grades 0, 1, 2, 3" in out
    assert json.loads((folder / "d.jsonl").read_text()) == {
        "query_id": "q1", "doc_id": "d1", "spread": 1, "grades": {"ana": 3, "bob": 2},
    }  # fmt: skip
    report = json.loads(leadline(capsys, "agreement", "j.db", "--format", "json")[1])
    (two,) = report["pairs_of_persons"]
    assert (two["a"], two["b"], two["n"], two["agreement"], two["mean_difference"]) == (
        "ana",
        "bob",
        2,
        0.5,
        -0.5,
    )
    assert two["confusion"] == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    # Quadratic: observed 1/2; expected by the margins {3, 0} × {2, 0}: (1 + 9 + 4 + 0)/4; 1 − .5/3.5.
    assert two["kappa_quadratic"] == pytest.approx(1 - 0.5 / 3.5)
    ana = report["by_person"][0]
    # 30 + 60 + 90 (undone) + 20 (repeated) seconds over four judgments: 200 s; 4/200·3600 = 72 an hour.
    assert (ana["timed"], ana["hours"], ana["pairs_an_hour"], ana["median_seconds"]) == (
        4,
        200 / 3600,
        72,
        45,
    )
    assert (ana["repeats"], ana["self_agreement"], ana["self_kappa"]) == (1, 0, 0)
    bob = report["by_person"][1]
    assert (bob["repeats"], bob["self_agreement"], bob["timed"]) == (0, None, 1)
    assert report["left_out"] == {"models": 1, "single": 0}
    lines = (folder / "p.csv").read_text().splitlines()
    assert lines[0].startswith("who,judgments,graded") and lines[1].startswith("ana,4,3") and len(lines) == 3
    table = {row["who"]: row for row in csv.DictReader((folder / "p.csv").read_text().splitlines())}
    # ana: as above. bob: 10 s for the one judgment that says its time, and no pair seen twice.
    names = ("hours", "pairs_an_hour", "self_agreement", "self_kappa", "median_seconds")
    assert [float(table["ana"][name]) for name in names] == [200 / 3600, 72, 0, 0, 45]
    assert [table["bob"][name] for name in names] == [str(10 / 3600), "360.0", "", "", "10.0"]
    assert "| a | b | pairs |" in (folder / "a.md").read_text()


def test_nothing_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    with Book.open("j.db") as book:
        book.add([Judgment("q", "d", 1, who="ana")])
    code, out, _ = leadline(capsys, "agreement", "j.db")
    assert code == 0 and "no pair was graded by two persons: nothing to compare" in out
    report = json.loads(leadline(capsys, "agreement", "j.db", "--format", "json")[1])
    assert report["alpha"]["ordinal"] is None and report["overall"]["agreement"] is None


@pytest.mark.parametrize("name", ["j.db", "j.jsonl", "j.jsonl.gz"])
def test_a_book_as_qrels(capsys: pytest.CaptureFixture[str], folder: Path, name: str) -> None:
    a_book()
    leadline(capsys, "book", "export", "j.db", "j.jsonl")
    if name.endswith(".gz"):
        import gzip

        (folder / name).write_bytes(gzip.compress((folder / "j.jsonl").read_bytes()))
    code, out, _ = leadline(capsys, "evaluate", "a.run", "--qrels", name, "-m", "RR", "--format", "json")
    page = json.loads(out)
    assert code == 0
    assert page["account"]["qrels"]["rule"] == "latest" and page["account"]["qrels"]["models"] == 1
    assert page["account"]["qrels"]["grades"] == {"0": 1, "2": 2}
    assert {one["path"] for one in page["inputs"]} == {"a.run", name}
    assert "uncertified: 1 of 3 labels of m-1: no certificate is named" in page["warnings"]
    _, out, _ = leadline(capsys, "evaluate", "a.run", "--qrels", name, "-m", "RR")
    assert "by the rule latest" in " ".join(out.split())


def test_init_knows_a_book(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    (folder / "b.run").write_text("q1 Q0 d2 1 2 a\nq1 Q0 d1 2 1 a\nq2 Q0 d7 1 1 a\n")
    code, out, _ = leadline(capsys, "init", "--qrels", "j.db", "-m", "RR")
    assert code == 0 and "2 queries decide a margin of" in out
    code, out, _ = leadline(capsys, "init", "a.run", "b.run", "--qrels", "j.db", "-m", "RR", "--force")
    assert code == 0 and "RR: 2 queries decide a margin of" in out


def test_in_python_a_book_is_one_clear_error() -> None:
    import leadline as package

    a_book()
    with pytest.raises(package.LeadlineError, match="a book of judgments; make its labels first"):
        package.evaluate("a.run", "j.db", "RR")
    with Book.open("j.db") as book:
        write_rows(book.rows(), "j.jsonl")
    with pytest.raises(package.LeadlineError, match="a book of judgments; make its labels first"):
        package.evaluate("a.run", "j.jsonl", "RR")
    labels = make_labels(rows_of("j.jsonl"), "median").qrels()
    assert package.evaluate("a.run", labels, "RR").account["qrels"]["rule"] == "median"


def test_labels_of_a_model_cannot_gate(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    (folder / "leadline.toml").write_text(
        'qrels = "j.db"\n[gate]\nbaseline = "baseline.json"\n[[gate.rule]]\nmeasure = "RR"\nmargin = 0.1\n'
    )
    assert leadline(capsys, "baseline", "a.run")[0] == 0
    code, out, _ = leadline(capsys, "gate", "a.run")
    assert code == 4 and "1 of 3 labels of m-1 may not gate: no certificate is named" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("book", "import", "j.db", "qrels.txt"), "does not say whose judgments these are: --who NAME"),
        (("book", "import", "j.db", "none.txt", "--who", "a"), "none.txt: cannot be read"),
        (("book", "import", "j.db", "j.db", "--who", "a"), "is a book: leadline book merge BOOK j.db"),
        (
            ("book", "import", "j.db", "qrels.txt", "--who", "a", "--format", "xml"),
            "format 'xml' is not one of",
        ),
        (("book", "status", "none.db"), "none.db: no such book of judgments"),
        (("book", "status", "qrels.txt"), "neither a database nor JSONL with its rows"),
        (("book", "status", "j.db", "--format", "md"), "not one of table, json"),
        (("book", "status", "j.db", "--write", "x.jsonl"), "with --documents .jsonl"),
        (("book", "export", "j.db", "out.xyz"), "the ending says no format"),
        (("book", "export", "j.db", "out.txt", "--rule", "mean"), "unknown rule 'mean'"),
        (
            ("book", "export", "j.db", "out.jsonl", "--format", "book", "--rule", "latest"),
            "a rule makes one grade",
        ),
        (("book", "export", "j.db", "out.txt", "--kind", "dog"), "not one of person, model"),
        (("book", "merge", "k.db", "qrels.txt"), "neither a database nor JSONL"),
        (("agreement", "j.db", "--weights", "cubic"), "unknown weights 'cubic'"),
        (("agreement", "j.db", "--metric", "cubic"), "unknown metric 'cubic'"),
        (
            ("agreement", "j.db", "--grades", "0,1"),
            "ana graded 'd1' for 'q1' 3, which is not on the scale 0, 1",
        ),
        (("agreement", "j.db", "--grades", "a"), "has not the form 0,1,2,3"),
        (("agreement", "j.db", "--format", "xml"), "not one of table, json, csv, md"),
        (("agreement", "j.db", "--write", "x.pdf"), "--write takes .json"),
    ],
)
def test_wrong_use_is_one_clear_error(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    a_book()
    code, _, err = leadline(capsys, *arguments)
    assert code == 2 and words in err and err.count("\n") == 1
    assert not Path("k.db").exists()


def test_rows_that_cannot_stand_name_their_lines(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "rows.jsonl").write_text(
        '{"query_id": "q", "doc_id": "d", "grade": 1, "who": "ana"}\n{"query_id": "q", "doc_id": "d", "who": "ana"}\n'
        '{"query_id": "q", "doc_id": "d", "grade": "x", "who": "ana"}\nnot json\n'
    )
    code, _, err = leadline(capsys, "book", "import", "j.db", "rows.jsonl")
    assert code == 2 and "rows.jsonl: 3 wrong rows" in err
    assert all(f"line {line}" in err for line in (2, 3, 4)) and not Path("j.db").exists()


def test_merging_a_changed_row_is_refused(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    leadline(capsys, "book", "export", "j.db", "j.jsonl")
    text = (folder / "j.jsonl").read_text()
    (folder / "changed.jsonl").write_text(text.replace('"grade": 3', '"grade": 1'))
    code, _, err = leadline(capsys, "book", "merge", "j.db", "changed.jsonl")
    assert code == 2 and "differ, in the judgment of 'd1' for 'q1'" in err


def test_without_the_extra_the_install_command_is_said(folder: Path) -> None:
    a_book()
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from leadline.cli.main import run\nrun(['book', 'status', 'j.db'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr
        == 'leadline: the book of judgments needs an optional part: pip install "leadline[book]"\n'
    )


def test_jsonl_of_a_book_needs_no_extra(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    a_book()
    leadline(capsys, "book", "export", "j.db", "j.jsonl")
    for words in (
        "'agreement', 'j.jsonl'",
        "'evaluate', 'a.run', '--qrels', 'j.jsonl'",
        "'book', 'export', 'j.jsonl', 'q.txt'",
    ):
        code = f"import sys; sys.modules['sqlalchemy'] = None\nfrom leadline.cli.main import run\nrun([{words}])\n"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_book_on_a_server(capsys: pytest.CaptureFixture[str], server_book: str, folder: Path) -> None:
    a_book()
    code, out, _ = leadline(capsys, "book", "merge", server_book, "j.db")
    assert code == 0 and "j.db: 9 rows added" in out and "postgres:" not in out
    leadline(capsys, "book", "export", server_book, "s.jsonl")
    leadline(capsys, "book", "export", "j.db", "j.jsonl")
    assert (folder / "s.jsonl").read_bytes() == (folder / "j.jsonl").read_bytes()
    assert "9 rows in all" in leadline(capsys, "book", "status", server_book)[1]
    page = json.loads(
        leadline(capsys, "evaluate", "a.run", "--qrels", server_book, "-m", "RR", "--format", "json")[1]
    )
    assert page["account"]["qrels"]["judgments"] == 3 and page["inputs"][1]["sha256"] is None


def test_a_book_of_a_later_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    a_book()
    connection = sqlite3.connect("j.db")
    connection.execute("UPDATE leadline_book SET version = 99")
    connection.commit()
    connection.close()
    code, _, err = leadline(capsys, "book", "status", "j.db")
    assert code == 2 and "it has version 99" in err
