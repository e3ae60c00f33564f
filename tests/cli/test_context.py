"""The commands `context` and `pack`: what they print and write, and what they refuse."""

import csv
import json
import re
from pathlib import Path

import pytest

from shared.command import leadline

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "json-context.md"
TEXT = "The green button resets the pump. Hold it for five seconds. E42 means that the filter is blocked. Clean it weekly."
SENTENCES = [match.span() for match in re.finditer(r"\w[^.]*\.", TEXT)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("documents.jsonl", {"id": "d", "text": TEXT})
    write(
        "chunks.jsonl",
        *(
            {"chunk_id": f"c{at}", "document_id": "d", "start": a, "end": b}
            for at, (a, b) in enumerate(SENTENCES)
        ),
    )
    evidence = [("q1", 0), ("q1", 1), ("q2", 2)]
    write(
        "evidence.jsonl",
        *({"query_id": q, "document_id": "d", "start": SENTENCES[c][0], "end": SENTENCES[c][1],
           "quote": TEXT[SENTENCES[c][0] : SENTENCES[c][1]]} for q, c in evidence),
    )  # fmt: skip
    lines = [
        f"{q} Q0 c{c} {at} {9 - at} x"
        for q, order in (("q1", "0312"), ("q2", "3120"))
        for at, c in enumerate(order, 1)
    ]
    Path("a.run").write_text("\n".join(lines) + "\n")
    Path("qrels.txt").write_text("q1 0 c0 1\nq1 0 c1 1\nq2 0 c2 1\nq2 0 c3 0\n")
    write(
        "sent.jsonl",
        {"query_id": "q1", "context_ids": ["c0", "c3"]},
        {"query_id": "q2", "contexts": [TEXT[slice(*SENTENCES[2])]]},
    )
    return tmp_path


def write(name: str, *rows: dict[str, object]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


CONTEXT = ("context", "--retrieved", "a.run", "--sent", "sent.jsonl")
EVIDENCE = (
    *CONTEXT,
    "--evidence",
    "evidence.jsonl",
    "--chunks",
    "chunks.jsonl",
    "--documents",
    "documents.jsonl",
)


def means(text: str) -> dict[str, float | None]:
    return {row["name"]: row["mean"] for row in json.loads(text)["means"]}


def test_evidence_in_ranking_and_context(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, *EVIDENCE, "-k", "2", "--format", "json", "--per-query")
    assert code == 0
    # q1: 33 + 25 characters; c0 in the first two and sent: 33/58. q2: c2 at rank 3, below k, and sent all the same.
    first = (SENTENCES[0][1] - SENTENCES[0][0]) / sum(b - a for a, b in SENTENCES[:2])
    found = means(out)
    assert found["retrieved"] == 1 and found["at_k"] == pytest.approx(first / 2)
    assert found["sent"] == pytest.approx((first + 1) / 2) and found["kept"] == pytest.approx(0.5)
    document = json.loads(out)
    assert document["lost"][0]["name"] == "cutoff" and document["lost"][0]["mean"] == pytest.approx(
        (1 - first) / 2
    )
    assert document["matched"] == {"id": 2, "text": 1}
    assert [row["query_id"] for row in document["per_query"]] == ["q1", "q2"]


def test_judged_ids(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "sent.jsonl", {"query_id": "q1", "context_ids": ["c0", "c3"]}, {"query_id": "q2", "context_ids": []}
    )
    code, out, _ = leadline(capsys, *CONTEXT, "--qrels", "qrels.txt", "-k", "3")
    assert code == 0
    assert re.search(r"= evidence in the context +0\.2500", out)
    assert re.search(r"− nothing tells why \(unknown\) +0\.7500", out)
    code, out, _ = leadline(
        capsys, *CONTEXT, "--qrels", "qrels.txt", "--format", "json", "--chunks", "chunks.jsonl"
    )
    assert json.loads(out)["by_budget"], "chunks give lengths: the curve by budget is there"


def test_every_format_and_file(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("a.json", "a.csv", "a.md", "a.html", "a.txt")
    more = [part for name in files for part in ("--write", name)]
    code, out, _ = leadline(capsys, *EVIDENCE, "-k", "2", "--budget", "60", "--per-query", *more)
    assert code == 0 and Path("a.txt").read_text() == out
    assert all(len(line) <= 100 for line in out.splitlines())
    with Path("a.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["query_id"] for row in table] == ["q1", "q2"] and float(table[1]["sent"]) == 1
    page = Path("a.html").read_text()
    assert "default-src 'none'" in page and page.count("<svg") == 2 and "<script" not in page
    assert Path("a.md").read_text().count("| --- |") == 3
    for form, name in (("json", "a.json"), ("csv", "a.csv"), ("md", "a.md")):
        code, out, _ = leadline(
            capsys, *EVIDENCE, "-k", "2", "--budget", "60", "--per-query", "--format", form
        )
        assert out == Path(name).read_text()


def test_the_page_names_exactly_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = leadline(capsys, *EVIDENCE, "--format", "json", "--per-query")
    text = DOCS.read_text(encoding="utf-8")
    head, names, queries = re.split(r"^## \w+$", text, flags=re.MULTILINE)
    document = json.loads(out)
    assert re.findall(r"^\| `(\w+)` \|", head, re.MULTILINE) == list(document)
    assert re.findall(r"^\| `(\w+)` \|", names, re.MULTILINE) == [row["name"] for row in document["means"]]
    assert all(f"`{name}`" in queries for name in document["per_query"][0])
    assert all(f"`{name}`" in names for name in document["means"][0])
    from leadline.passages.contexts import REASONS

    assert all(f"`{reason}`" in head for reason in REASONS)


def test_a_query_without_a_context_and_one_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "sent.jsonl", {"query_id": "q1", "context_ids": ["c0", "c1"]}, {"query_id": "q9", "context_ids": []}
    )
    _, out, _ = leadline(capsys, *EVIDENCE)
    assert "! no context told of, counted as 0: 1 query\n" in out
    assert "! not judged, left out: 1 query of sent.jsonl\n" in out
    assert re.search(r"− no context is told of \(missing\) +0\.5000", out)
    write(
        "sent.jsonl", {"query_id": "q1", "context_ids": ["c0", "c1"]}, {"query_id": "q2", "error": "time-out"}
    )
    _, out, _ = leadline(capsys, *EVIDENCE, "--format", "json")
    assert json.loads(out)["queries"] == {"scored": 1, "unanswered": 0, "undefined": 0, "error": 1}
    assert means(out)["sent"] == 1, "the failed query is in no mean"
    sent = next(row for row in json.loads(out)["means"] if row["name"] == "sent")
    assert (sent["error_low"], sent["error_high"]) == (0.5, 1)
    _, out, _ = leadline(capsys, *EVIDENCE)
    assert "if all that failed were worst, or best: [0.5000, 1.0000]" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (CONTEXT, "--evidence E with --chunks C, or --qrels Q"),
        ((*CONTEXT, "--qrels", "qrels.txt"), "contexts are texts"),
        ((*EVIDENCE, "--qrels", "qrels.txt"), "not both"),
        ((*EVIDENCE, "--tokenizer", "letters"), "not one of chars, words"),
        ((*EVIDENCE, "--write", "a.pdf"), "names no kind of report"),
        ((*EVIDENCE, "--format", "xml"), "not one of table"),
        (
            ("context", "--retrieved", "a.run", "--sent", "nowhere.jsonl", "--qrels", "qrels.txt"),
            "nowhere.jsonl",
        ),
        (("pack", "a.run", "--write", "p.jsonl"), "the texts to pack"),
        (("pack", "a.run", "--chunks", "chunks.jsonl", "--write", "p.jsonl"), "has no text"),
        (("pack", "a.run", "--documents", "documents.jsonl", "--write", "p.jsonl"), "'c0' is no chunk"),
        (("pack", "a.run", "--documents", "documents.jsonl", "--write", "p.txt"), "as JSONL"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    code, _, err = leadline(capsys, *arguments)
    assert code == 2 and said in err and "Traceback" not in err


def test_no_query_in_common(capsys: pytest.CaptureFixture[str]) -> None:
    write("sent.jsonl", {"query_id": "other", "context_ids": ["c0"]})
    code, _, err = leadline(capsys, *EVIDENCE)
    assert code == 4 and "none of its queries is judged" in err


def test_no_query_that_could_be_scored(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = leadline(capsys, *EVIDENCE, "--rel", "2")
    assert code == 4 and "no query could be scored: 2 without evidence of grade 2 or more, 0 failed" in err


def test_pack_and_then_context(capsys: pytest.CaptureFixture[str]) -> None:
    packing = (
        "pack",
        "a.run",
        "--chunks",
        "chunks.jsonl",
        "--documents",
        "documents.jsonl",
        "--write",
        "sent.jsonl",
    )
    # Words: c0 6, c1 5, c2 7, c3 3. Ranked q1 c0 c3 c1 c2, q2 c3 c1 c2 c0. Room for 10: q1 c0 c3; q2 c3 c1.
    code, out, _ = leadline(capsys, *packing, "-k", "3", "--budget", "10", "--tokenizer", "words")
    assert code == 0
    assert out == "2 contexts: 4 chunks, 8 words on average, 9 at most\nnot sent: budget 2, cutoff 2\n"
    rows = [json.loads(line) for line in Path("sent.jsonl").read_text().splitlines()]
    assert rows[1]["context_ids"] == ["c3", "c1"] and rows[1]["dropped"] == {"c2": "budget", "c0": "cutoff"}
    _, out, _ = leadline(capsys, *EVIDENCE, "--format", "json", "--tokenizer", "words", "--budget", "10")
    lost = {row["name"]: row["mean"] for row in json.loads(out)["lost"]}
    second = (SENTENCES[1][1] - SENTENCES[1][0]) / sum(b - a for a, b in SENTENCES[:2])
    assert lost == {"budget": pytest.approx((second + 1) / 2)}
    # Cut to the room that is left, the context holds a part of c1, and the loss is a truncation.
    leadline(capsys, *packing, "-k", "3", "--budget", "10", "--tokenizer", "words", "--overflow", "cut")
    _, out, _ = leadline(capsys, *EVIDENCE, "--format", "json", "--tokenizer", "words", "--budget", "10")
    document = json.loads(out)
    assert {row["name"] for row in document["lost"]} == {"truncation"}
    # The one word of c1 that still fitted in q1, and the two of c2 in q2, are matched.
    assert document["matched"] == {"beginning": 2, "id": 4}
    assert document["over_budget"] == 0


def test_a_run_in_which_everything_failed_or_was_empty(capsys: pytest.CaptureFixture[str]) -> None:
    write("f.jsonl", {"query_id": "q1", "error": "time-out"}, {"query_id": "q2", "error": "time-out"})
    packing = ("--chunks", "chunks.jsonl", "--documents", "documents.jsonl", "--write", "sent.jsonl")
    code, out, _ = leadline(capsys, "pack", "f.jsonl", *packing)
    assert code == 0 and out == "0 contexts: 0 chunks\n! failed in the run: 2 queries\n"
    code, _, err = leadline(capsys, "context", "--retrieved", "f.jsonl", *EVIDENCE[3:])
    assert code == 4 and "2 failed" in err
    write("e.jsonl", {"query_id": "q1", "retrieved_ids": []}, {"query_id": "q2", "retrieved_ids": []})
    code, out, _ = leadline(capsys, "pack", "e.jsonl", *packing)
    assert code == 0 and out == "2 contexts: 0 chunks, 0 words on average, 0 at most\n".replace(
        "words", "characters"
    )
    code, out, _ = leadline(capsys, "context", "--retrieved", "e.jsonl", *EVIDENCE[3:], "--format", "json")
    assert code == 0 and means(out)["sent"] == 0 and json.loads(out)["queries"]["scored"] == 2


def test_one_file_of_rows_is_ranking_and_context(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [TEXT[a:b] for a, b in SENTENCES]
    write(
        "rows.jsonl",
        {
            "query_id": "q1",
            "retrieved_ids": ["c0", "c1"],
            "retrieved_texts": texts[:2],
            "contexts": texts[:1],
            "answer": "a",
        },
        {"query_id": "q2", "error": "time-out", "error_kind": "time-out"},
    )
    code, out, _ = leadline(
        capsys,
        "context",
        "--retrieved",
        "rows.jsonl",
        "--sent",
        "rows.jsonl",
        *EVIDENCE[5:],
        "--format",
        "json",
    )
    assert code == 0 and json.loads(out)["queries"] == {
        "scored": 1,
        "unanswered": 0,
        "undefined": 0,
        "error": 1,
    }
    assert json.loads(out)["matched"] == {"text": 1}
    code, out, err = leadline(
        capsys, "evaluate", "rows.jsonl", "--qrels", "qrels.txt", "-m", "R@2", "--format", "json"
    )
    assert code == 0 and json.loads(out)["results"][0]["mean"] == 1 and "ignored" not in out + err
