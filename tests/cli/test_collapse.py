"""`--collapse` and `--documents` in the commands: evaluate, compare, pool, baseline and gate, and the settings."""

import json
from pathlib import Path

import pytest

from shared.command import leadline

N = 30


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty queries; the relevant document b has two chunks, below one of a."""
    monkeypatch.chdir(tmp_path)
    old = [f"q{i} Q0 {d} 1 {s} x\n" for i in range(N) for d, s in (("a#1", 3), ("b#1", 2), ("b#2", 1.5))]
    # Other chunks of the same documents, named otherwise.
    new = [f"q{i} Q0 {d} 1 {s} x\n" for i in range(N) for d, s in (("a/x", 3), ("b/y", 2), ("b/z", 1.5))]
    Path("old.run").write_text("".join(old))
    Path("new.run").write_text("".join(new))
    Path("qrels.txt").write_text("".join(f"q{i} 0 b 1\nq{i} 0 a 0\n" for i in range(N)))
    return tmp_path


SUM = ("--collapse", "sum", "--collapse-separator", "#")


def test_evaluate_counts_and_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, "evaluate", "old.run", "--qrels", "qrels.txt", "-m", "RR", *SUM, "--format", "json"
    )
    found = json.loads(out)
    # b: 2 + 1.5 before a: 3.
    assert (code, found["results"][0]["mean"]) == (0, 1.0)
    system = found["account"]["systems"]["old"]
    assert (system["rows"], system["collapsed"]) == (3 * N, N)
    assert found["conventions"]["collapse"] == "sum"
    code, out, _ = leadline(capsys, "evaluate", "old.run", "--qrels", "qrels.txt", "-m", "RR", *SUM)
    assert "30 collapsed into their" in out
    assert "documents by summed scores" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_settings_and_the_environment_say_it_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("leadline.toml").write_text('qrels = "qrels.txt"\ncollapse = "max"\ncollapse_separator = "#"\n')
    assert "0.5" in leadline(capsys, "evaluate", "old.run", "-m", "RR", "--format", "csv")[1]
    monkeypatch.setenv("LEADLINE_COLLAPSE", "sum")
    assert "0.5" not in leadline(capsys, "evaluate", "old.run", "-m", "RR", "--format", "csv")[1]


def test_a_mapping_beside_the_settings_is_found_from_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("map.csv").write_text("chunk_id,document_id\na#1,a\nb#1,b\nb#2,b\n")
    Path("leadline.toml").write_text('qrels = "qrels.txt"\ncollapse = "sum"\ncollapse_mapping = "map.csv"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    code, out, _ = leadline(capsys, "evaluate", "../old.run", "-m", "RR")
    assert (code, "1.0000" in out) == (0, True)


def test_compare_with_and_without_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    Path("map.jsonl").write_text(
        "".join(
            json.dumps({"chunk_id": c, "document_id": c[0]}) + "\n"
            for c in ("a#1", "b#1", "b#2", "a/x", "b/y", "b/z")
        )
    )
    mapped = ("--collapse", "max", "--collapse-mapping", "map.jsonl")
    code, out, _ = leadline(
        capsys, "compare", "old.run", "new.run", "--qrels", "qrels.txt", "-m", "RR", *mapped
    )
    assert code == 0
    assert "no-worse" in out or "the same" in out
    code, out, _ = leadline(capsys, "compare", "old.run", "new.run", *mapped)
    assert (code, "overlap of the top 10: 1.0000" in out) == (0, True)


def test_pool_lists_documents(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = leadline(capsys, "pool", "old.run", *SUM, "--write", "to.jsonl")
    assert code == 0
    rows = [json.loads(line) for line in Path("to.jsonl").read_text().splitlines()]
    assert {row["doc_id"] for row in rows} == {"a", "b"}


def test_a_gate_across_two_chunkings(capsys: pytest.CaptureFixture[str]) -> None:
    """The baseline pins documents; the candidate's chunks are named otherwise."""
    head = 'qrels = "qrels.txt"\ncollapse = "sum"\ncollapse_separator = "{}"\n'
    rest = '[gate]\nbaseline = "baseline.json"\n[[gate.rule]]\nmeasure = "RR"\nmargin = 0.05\n'
    Path("leadline.toml").write_text(head.format("#") + rest)
    code, out, err = leadline(capsys, "baseline", "old.run")
    assert code == 0, err
    assert set(json.loads(Path("baseline.json").read_text())["rankings"]["q0"][0]) == {"a", "b"}
    Path("leadline.toml").write_text(head.format("/") + rest)
    code, out, err = leadline(capsys, "gate", "new.run")
    assert (code, out[:30]) == (0, "pass: the same on every query\n"), out + err
    Path("leadline.toml").write_text(head.format("/").replace("sum", "max") + rest)
    code, out, err = leadline(capsys, "gate", "new.run")
    assert code == 4
    assert "was collapse sum at the baseline" in " ".join(out.split())


def test_alternatives_at_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(
        f"q{i},{d},{g},{n}\n" for i in range(N) for d, g, n in (("a#1", 1, 1), ("b#1", 1, 1), ("z", 0, ""))
    )
    Path("qrels.csv").write_text("query_id,doc_id,grade,need\n" + rows)
    Path("leadline.toml").write_text(
        'qrels = "qrels.csv"\n[gate]\nbaseline = "b.json"\n[[gate.rule]]\nmeasure = "AP"\nmargin = 0.05\n'
    )
    assert leadline(capsys, "baseline", "old.run")[0] == 0
    Path("other.run").write_text("".join(f"q{i} Q0 b#1 1 2 x\nq{i} Q0 b#2 2 1 x\n" for i in range(N)))
    code, out, err = leadline(capsys, "gate", "other.run")
    assert (code, out.splitlines()[0]) == (0, "pass: the same on every query"), out + err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--collapse", "max"), "which document is a chunk of"),
        (("--collapse-separator", "#"), "--collapse-separator goes with --collapse"),
        (("--collapse-mapping", "qrels.txt"), "--collapse-mapping goes with --collapse"),
        ((*SUM, "--order", "rank"), "--order rank has none"),
        (("--documents", "d.jsonl"), "no row holds texts without ids"),
    ],
)
def test_what_cannot_be_meant_is_one_error(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.jsonl").write_text('{"id": "a", "text": "one"}\n')
    code, _, err = leadline(capsys, "evaluate", "old.run", "--qrels", "qrels.txt", "-m", "RR", *options)
    assert (code, said in err, "Traceback" in err) == (2, True, False), err


def test_evidence_and_collapse_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = leadline(capsys, "evaluate", "old.run", "--evidence", "e.jsonl", "-m", "RR", *SUM)
    assert (code, "--evidence measures chunks: not both" in err) == (2, True)


def test_pool_of_texts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.jsonl").write_text('{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n')
    Path("rows.jsonl").write_text('{"id": "q0", "contexts": ["two"]}\n')
    code, _, err = leadline(capsys, "pool", "rows.jsonl", "--documents", "d.jsonl", "--write", "to.jsonl")
    assert code == 0, err
    assert json.loads(Path("to.jsonl").read_text())["doc_id"] == "b"
