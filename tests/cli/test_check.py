"""The command `check`: what it prints and writes, and its exit codes."""

import json
import re
from pathlib import Path

import pytest

from leadline.lint.codes import TABLE
from shared.command import leadline

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-check.md"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("q1 Q0 d1 1 2.0 a\nq2 Q0 d1 1 2.0 a\n")
    Path("b.run").write_text("q1 Q0 d1 1 2.0 a\n" + "".join(f"q1 Q0 x{n} 2 high a\n" for n in range(12)))
    Path("q.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    return tmp_path


def test_sound_files(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = leadline(capsys, "check", "a.run", "q.txt", "-k", "1", "--strict")
    assert (code, err) == (0, "")
    assert out == (
        "a.run: a run (trec); 2 rows, 2 queries\nq.txt: judgments (trec); 2 judgments, 2 queries\n\nno fault and no warning\n"
    )


def test_faults_leave_with_2_and_are_shown_to_ten(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "check", "b.run", "q.txt", "-k", "1")
    assert code == 2
    assert "b.run: 12 faults, number\n  line 2, column 5: found 'high', expected a number as score\n" in out
    assert "  and 2 more (--all shows all)" in out
    assert out.count("found 'high'") == 10
    assert out.endswith("12 faults, 1 warning\n"), "the missing q2 is a warning"
    _, every, _ = leadline(capsys, "check", "b.run", "q.txt", "-k", "1", "--all")
    assert every.count("found 'high'") == 12
    assert max(map(len, out.splitlines())) <= 100


def test_warnings_leave_with_0_or_when_strict_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert leadline(capsys, "check", "a.run", "q.txt")[0] == 0
    code, out, _ = leadline(capsys, "check", "a.run", "q.txt", "--strict")
    assert code == 1
    assert "[few-rows]" in out
    assert leadline(capsys, "check", "b.run", "--strict")[0] == 2


def test_a_file_that_was_said_to_be_something(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.jsonl").write_text('{"id": "q1", "text": "who"}\n{"id": "q2", "text": "why"}\n')
    assert leadline(capsys, "check", "x.jsonl")[0] == 2
    code, out, _ = leadline(
        capsys, "check", "--queries", "x.jsonl", "--run", "a.run", "--qrels", "q.txt", "-k", "1"
    )
    assert code == 0
    assert "x.jsonl: queries (jsonl); 2 queries" in out
    code, out, _ = leadline(capsys, "check", "--documents", "x.jsonl", "--qrels", "q.txt")
    assert "have no document id in common" in out.replace("\n  ", " ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no file to check"),
        (("-",), "not standard input"),
        (("a.run", "--qrels", "-"), "not standard input"),
        (("a.run", "--grades", "best"), "--grades 'best' is no scale"),
        (("a.run", "--grades", "3-0"), "is no scale"),
        (("a.run", "--format", "xml"), "is not one of table, json, md"),
        (("a.run", "--write", "a.pdf"), "the ending names no kind of report"),
        (("a.run", "--input-format", "cvs"), "did you mean csv"),
        (("a.run", "--input-format", "trec-sampled"), "a format of judgments"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, out, err = leadline(capsys, "check", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = leadline(
        capsys, "check", "b.run", "q.txt", "--write", "c.json", "--write", "c.md", "--write", "c.txt"
    )
    assert Path("c.txt").read_text() == out
    page = Path("c.md").read_text()
    assert "| fault | `number` | b.run:2:5 | found 'high', expected a number as score | 12 |" in page
    report = json.loads(Path("c.json").read_text())
    assert (report["ok"], report["n_faults"]) == (False, 12)


def test_the_page_names_exactly_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "check", "b.run", "q.txt", "--format", "json")
    report = json.loads(out)
    assert code == 2
    top, files, findings = re.split(r"^## .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[:3]
    for part, told in ((top, report), (files, report["files"][0]), (findings, report["findings"][0])):
        assert re.findall(r"^\| `(\w+)` \| [^|]* \|", part, re.MULTILINE) == list(told)


def test_the_page_names_every_code() -> None:
    codes = PAGE.read_text(encoding="utf-8").partition("## Codes")[2]
    assert re.findall(r"^\| `([\w-]+)` \| (fault|warning) \|", codes, re.MULTILINE) == [
        (c.name, c.severity) for c in TABLE
    ]
