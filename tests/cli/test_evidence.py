"""The command `evidence`, and `evaluate`, `compare` and `power` with evidence in place of judgments."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from leadline.judging.book import Book
from leadline.judging.judgment import Judgment, Span
from shared.command import leadline

PUMP = "Réset. Press the red button for ten seconds. The lamp turns green."
QUOTE = "Press the red button for ten seconds."
EVIDENCE = {"query_id": "q1", "document_id": "pump", "start": 7, "end": 44, "quote": QUOTE, "grade": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "pump.txt").write_text(PUMP, encoding="utf-8")
    lines(
        "evidence.jsonl",
        EVIDENCE,
        EVIDENCE | {"query_id": "q2", "start": 45, "end": 66, "quote": PUMP[45:66]},
    )
    lines("a-chunks.jsonl", chunk("c1", 0, 25), chunk("c2", 25, 66))
    lines("b-chunks.jsonl", chunk("c1", 0, 45), chunk("c2", 45, 66))
    for name in ("a", "b"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 c1 1 2 x\nq1 Q0 c2 2 1 x\nq2 Q0 c2 1 1 x\n")
    return tmp_path


def lines(path: str, *rows: dict[str, Any]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def chunk(name: str, start: int, end: int) -> dict[str, Any]:
    return {"chunk_id": name, "document_id": "pump", "start": start, "end": end}


BOTH = ("--chunks", "a=a-chunks.jsonl", "--chunks", "b=b-chunks.jsonl", "--evidence", "evidence.jsonl")


def test_check_says_that_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, "evidence", "check", "--documents", "texts", "--evidence", "evidence.jsonl"
    )
    assert code == 0 and "2 rows, 2 queries, 1 document, 58 characters of evidence" in out


def test_check_tells_of_bytes_and_counts_all(capsys: pytest.CaptureFixture[str]) -> None:
    # é has two bytes: from "Press" on each position is one further.
    lines("bytes.jsonl", *[EVIDENCE | {"start": 8, "end": 45}] * 11, EVIDENCE | {"end": 999, "quote": "x"})
    asked = ("evidence", "check", "--documents", "texts", "--evidence", "bytes.jsonl")
    code, out, err = leadline(capsys, *asked)
    assert code == 2 and out == ""
    assert "12 wrong rows" in err and "and 2 more" in err
    assert "bytes of UTF-8 in 11 of 12 rows" in err
    code, out, _ = leadline(capsys, *asked, "--format", "json")
    told = json.loads(out)
    assert code == 2 and told["ok"] is False and told["kinds"] == {"bytes": 11, "beyond the text": 1}
    assert [fault["line"] for fault in told["faults"]] == list(range(1, 13))


def test_two_chunkings_are_measured_by_the_same_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        "evaluate",
        "a.run",
        "b.run",
        *BOTH,
        "-m",
        "EvidenceRecall@1,nDCG@10",
        "--per-query",
        "--format",
        "json",
    )
    _, out, _ = leadline(capsys, *asked)
    told = json.loads(out)
    values = {(row["system"], row["measure"], row["query_id"]): row["value"] for row in told["per_query"]}
    # Evidence 7–44: a's first chunk holds 7–25, 18 of 37; b's holds it whole. q2 is whole in both second chunks.
    assert values["a", "EvidenceRecall@1", "q1"] == pytest.approx(18 / 37)
    assert values["b", "EvidenceRecall@1", "q1"] == values["a", "EvidenceRecall@1", "q2"] == 1
    # Of a's chunks only c2 holds half of q1's evidence (19 of 37), at rank 2; b's first chunk does.
    assert values["a", "nDCG@10", "q1"] == pytest.approx(0.63093, abs=1e-5)
    assert values["b", "nDCG@10", "q1"] == 1
    assert told["account"]["evidence"]["chunks"]["a"] == {"chunks": 2, "whole": 1, "enough": 2}
    assert [row["path"] for row in told["inputs"]][2:] == [
        "evidence.jsonl",
        "a-chunks.jsonl",
        "b-chunks.jsonl",
    ]


def test_compare_with_two_chunkings(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "compare", "a.run", "b.run", *BOTH, "-m", "EvidenceRecall@1", "--nulls")
    assert code == 0
    # (19/37 + 0) / 2
    assert "+0.2568" in out and "null-random" in out
    # Both systems call their chunks c1; they are other chunks, and so one left and one entered.
    assert "+ c1" in out and "− c1" in out
    assert "--evidence evidence.jsonl --chunks a=a-chunks.jsonl --chunks b=b-chunks.jsonl" in out


def test_power_takes_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, "power", "a.run", "b.run", *BOTH, "-m", "EvidenceRecall@1", "--difference", ".1"
    )
    assert code == 0 and "EvidenceRecall@1: 2 queries" in out


def test_whole_documents_without_chunks(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.run").write_text("q1 Q0 pump 1 1 x\nq2 Q0 pump 1 1 x\n")
    asked = (
        "evaluate",
        "d.run",
        "--evidence",
        "evidence.jsonl",
        "--documents",
        "texts",
        "-m",
        "EvidencePrecision@1",
    )
    code, out, _ = leadline(capsys, *asked)
    # (37 + 21) ÷ 2 of 66 characters
    assert code == 0 and f"{(37 + 21) / 2 / 66:.4f}" in out


def test_a_setting_of_judgments_gives_way_to_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    Path("leadline.toml").write_text('qrels = "qrels.txt"\n')
    code, _, err = leadline(
        capsys, "evaluate", "a.run", "--chunks", "a-chunks.jsonl", "--evidence", "evidence.jsonl"
    )
    assert code == 0, err


WRONG = [
    (("evaluate", "a.run", "--chunks", "a-chunks.jsonl"), "--chunks goes with --evidence"),
    (("evaluate", "a.run", "--evidence", "evidence.jsonl"), "which text do the ids of the run name?"),
    (("evaluate", "a.run", "--evidence", "evidence.jsonl", "--qrels", "q.txt"), "--qrels or --evidence, not both"),
    (("evaluate", "a.run", "--evidence", "evidence.jsonl", "--no-complete"), "--no-complete"),
    (("evaluate", "a.run", "b.run", "--chunks", "a=a-chunks.jsonl", "--evidence", "evidence.jsonl"), "no chunks for b"),
    (("evaluate", "a.run", "--chunks", "z=a-chunks.jsonl", "--evidence", "evidence.jsonl"), "unknown system 'z': known: a"),
    (
        ("evaluate", "a.run", "--chunks", "a-chunks.jsonl,b", "--evidence", "evidence.jsonl"),
        "a-chunks.jsonl,b: cannot be read",
    ),
    (
        ("evaluate", "a.run", "--chunks", "a-chunks.jsonl", "--chunks", "b-chunks.jsonl", "--evidence", "evidence.jsonl"),
        "says twice",
    ),
    (
        ("evaluate", "a.run", "--chunks", "a-chunks.jsonl", "--evidence", "evidence.jsonl", "--share", "2"),
        "share 2",
    ),
    (
        ("evaluate", "x.run", "--chunks", "a-chunks.jsonl", "--evidence", "evidence.jsonl"),
        "x: 1 id is in no row of a-chunks.jsonl: c9; did you mean c2 or c1",
    ),
    (
        (
            "evaluate", "a.run", "--chunks", "a-chunks.jsonl", "--evidence", "evidence.jsonl",
            "-m", "EvidenceRecall(weight=tokens)@5",
        ),
        "--documents",
    ),
    (("evidence", "carry", "--old", "texts", "--new", "texts", "--evidence", "evidence.jsonl", "--write", "e.csv"), "written as"),
    (
        ("evidence", "carry", "--old", "texts", "--new", "texts", "--evidence", "evidence.jsonl", "--write", "evidence.jsonl"),
        "nothing is written over",
    ),
    (
        ("evidence", "carry", "--old", "texts", "--new", "no", "--evidence", "evidence.jsonl", "--write", "e.jsonl"),
        "no: cannot be read",
    ),
    (("evidence", "check", "--documents", "texts", "--evidence", "a.run"), "evidence comes as rows"),
    (("evidence", "check", "--documents", "texts", "--evidence", "evidence.jsonl", "--format", "xml"), "table, json"),
    (("evidence", "from-book", "a-qrels.txt", "--write", "e.jsonl"), "a list of grades marks no text"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[says for _, says in WRONG])
def test_bad_input_has_one_clear_error(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    Path("x.run").write_text("q1 Q0 c9 1 1 x\n")
    Path("q.txt").write_text("q1 0 c1 1\n")
    Path("a-qrels.txt").write_text("q1 0 c1 1\n")
    before = Path("evidence.jsonl").read_bytes()
    code, _, err = leadline(capsys, *arguments)
    assert code == 2 and says in err and "Traceback" not in err
    assert Path("evidence.jsonl").read_bytes() == before and not Path("e.jsonl").exists()


def test_evidence_measures_need_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.txt").write_text("q1 0 c1 1\n")
    code, _, err = leadline(capsys, "evaluate", "a.run", "--qrels", "q.txt", "-m", "EvidenceRecall@5")
    assert code == 2 and "--evidence E --chunks C" in err


def carry(capsys: pytest.CaptureFixture[str], new: str, *more: str) -> tuple[int, str, str]:
    Path("new").mkdir(exist_ok=True)
    Path("new", "pump.txt").write_text(new, encoding="utf-8")
    asked = (
        "evidence",
        "carry",
        "--old",
        "texts",
        "--new",
        "new",
        "--evidence",
        "evidence.jsonl",
        "--write",
        "e2.jsonl",
    )
    return leadline(capsys, *asked, *more)


def test_carry_writes_what_needs_nobody_and_counts_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    new = "Wear gloves. " + PUMP.replace("red button for ten", "blue button for ten")
    code, out, _ = carry(capsys, new, "--review", "look.jsonl", "--format", "json")
    told = json.loads(out)
    assert code == 0
    assert {state: told[state] for state in ("same", "moved", "review", "lost")} == {
        "same": 0, "moved": 1, "review": 1, "lost": 0,
    }  # fmt: skip
    [row] = [json.loads(line) for line in Path("e2.jsonl").read_text().splitlines()]
    assert new[row["start"] : row["end"]] == row["quote"] == PUMP[45:66]
    assert [one["state"] for one in told["changes"]] == ["review", "moved"]
    code, out, _ = leadline(capsys, "evidence", "check", "--documents", "new", "--evidence", "e2.jsonl")
    assert code == 0, out


def test_carry_without_its_library_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    code, _, err = carry(capsys, PUMP)
    assert code == 2 and 'pip install "leadline[passages]"' in err and not Path("e2.jsonl").exists()


def test_carry_without_review_says_that_rows_wait(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = carry(capsys, "Nothing of it.")
    assert code == 0 and "lost         2" in out and "! 2 rows not carried" in out
    assert Path("e2.jsonl").read_text() == ""


def test_the_review_list_opens_in_the_judging_pages_and_comes_back_as_evidence(
    capsys: pytest.CaptureFixture[str], needs: Any
) -> None:
    needs("fastapi")
    from leadline.web.pairs import read_pairs

    new = PUMP.replace("red button", "blue button")
    carry(capsys, new, "--review", "look.jsonl")
    pairs, _ = read_pairs("look.jsonl")
    assert [(pair.query_id, pair.doc_id) for pair in pairs] == [("q1", "pump")]
    start = new.index("Press")
    quote = new[start : new.index(" The lamp")]
    with Book.open("j.db") as book:
        book.add([Judgment("q1", "pump", 2, who="ana", evidence=(Span(start, start + len(quote), quote),))])
    asked = ("evidence", "from-book", "j.db", "--documents", "new", "--write", "more.jsonl")
    code, out, _ = leadline(capsys, *asked)
    assert code == 0 and "1 piece of evidence from 1 marked range" in out
    assert json.loads(Path("more.jsonl").read_text()) == EVIDENCE | {
        "start": start, "end": start + len(quote), "quote": quote,
    }  # fmt: skip
    # Marked in the text as it is now, and not in the text as it was.
    code, _, err = leadline(
        capsys, "evidence", "from-book", "j.db", "--documents", "texts", "--write", "no.jsonl"
    )
    assert code == 2 and "reads" in err and not Path("no.jsonl").exists()
