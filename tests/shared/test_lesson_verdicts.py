"""The lesson's systems through the real commands: what the gate and the comparison say of them."""

import gzip
import json
from pathlib import Path

import pytest

from shared.command import exit_code as leadline

POLICY = 'qrels = "{}"\n[gate]\n[[gate.rule]]\nmeasure = "nDCG@10"\nmargin = 0.02\n'


@pytest.fixture(autouse=True)
def folder(shared_data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = shared_data("lesson")
    for name in "ABC":
        (tmp_path / f"{name}.run").write_bytes(gzip.decompress((place / f"{name}.run.gz").read_bytes()))
    for name in ("pooled-from-A", "after-judging-C"):
        (tmp_path / f"{name}.qrels").write_bytes((place / f"{name}.qrels").read_bytes())
    monkeypatch.chdir(tmp_path)
    Path("leadline.toml").write_text(POLICY.format("pooled-from-A.qrels"))
    assert leadline("baseline", "A.run") == 0
    return tmp_path


def gated(candidate: str, *more: str) -> dict:
    code = leadline("gate", candidate, "--write", "gate.json", "--write", "to-judge.jsonl", *more)
    page = json.loads(Path("gate.json").read_text())
    assert page["exit_code"] == code
    return page


def test_c_under_the_pool_of_a_is_judge_first_and_not_a_fail() -> None:
    page = gated("C.run")
    assert (page["verdict"]["outcome"], page["exit_code"]) == ("judge-first", 0)
    (rule,) = page["rules"]
    assert rule["judge_first"]["judged_candidate"] == pytest.approx(0.24, abs=0.005)
    assert any("24 % of the candidate's" in reason for reason in page["verdict"]["reasons"])
    # With what is unlisted declared irrelevant it is a fail: that is what judge-first keeps from being said.
    Path("leadline.toml").write_text(
        POLICY.format("pooled-from-A.qrels").replace("[gate]", '[gate]\njudgments = "complete"')
    )
    assert gated("C.run")["verdict"]["outcome"] == "fail"


def test_c_passes_with_its_documents_judged() -> None:
    gated("C.run")
    first = [json.loads(line) for line in Path("to-judge.jsonl").read_text().splitlines()]
    # The lesson judged sixteen documents of A anew: that is said, and stops the gate unless it is accepted.
    page = gated("C.run", "--qrels", "after-judging-C.qrels")
    assert (page["verdict"]["outcome"], page["exit_code"]) == ("not-comparable", 4)
    assert (len(page["judgments"]["changed"]), page["judgments"]["removed"]) == (16, [])
    assert page["verdict"]["next"][-1].endswith("--accept-changed-judgments")
    page = gated("C.run", "--qrels", "after-judging-C.qrels", "--accept-changed-judgments")
    assert (page["verdict"]["outcome"], page["verdict"]["effect"]) == ("pass", "better")
    assert page["judgments"]["added"] > 2000
    # All that C brings and that was listed is now judged.
    judged = {
        (q, d)
        for q, _, d, _ in (line.split() for line in Path("after-judging-C.qrels").read_text().splitlines())
    }
    assert {(pair["query_id"], pair["doc_id"]) for pair in first} <= judged


def test_b_against_a_at_three_hundred_queries() -> None:
    assert (
        leadline(
            "compare",
            "A.run",
            "B.run",
            "--qrels",
            "pooled-from-A.qrels",
            "-m",
            "nDCG@10",
            "--write",
            "c.json",
        )
        == 0
    )
    (row,) = json.loads(Path("c.json").read_text())["comparisons"]
    assert row["n"] == 300
    for low, high in ((row["low"], row["high"]), (row["bootstrap_low"], row["bootstrap_high"])):
        assert (low, high) == pytest.approx((0.012, 0.081), abs=0.003)
    page = gated("B.run")
    assert (page["verdict"]["outcome"], page["verdict"]["effect"]) == ("pass", "better")
    assert page["comparisons"][0]["low"] == row["low"]


def test_b_against_a_at_thirty(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("pooled-from-A.qrels").read_text().splitlines(keepends=True)
    first = list(dict.fromkeys(line.split()[0] for line in lines))[:30]
    Path("few.qrels").write_text("".join(line for line in lines if line.split()[0] in first))
    leadline("compare", "A.run", "B.run", "--qrels", "few.qrels", "-m", "nDCG@10", "--write", "c.json")
    (row,) = json.loads(Path("c.json").read_text())["comparisons"]
    assert (row["n"], round(row["difference"], 3)) == (30, 0.153)
    capsys.readouterr()
    assert leadline("simulate", "--lesson") == 0
    assert "At 30 queries the interval is 3.3 times as wide as at 300" in capsys.readouterr().out
