"""The gate's page: the page of its comparison, or of its verdict where nothing was scored."""

from leadline.comparison import compare
from leadline.evaluation import evaluate
from leadline.gating.gate import GateReport
from leadline.gating.policy import Policy, Rule
from leadline.report.gate_page import gate_page
from leadline.scores import Verdict

POLICY = Policy((Rule("RR", 0.05),))


def test_without_scores_the_verdict_stands_alone() -> None:
    verdict = Verdict(
        "not-comparable", "unclear", "not comparable: <b>other</b> judgments", ("grades changed",)
    )
    page = gate_page(GateReport(verdict, POLICY, "old", "new"))
    assert "not-comparable" in page
    assert "&lt;b&gt;other&lt;/b&gt;" in page
    assert "<b>other" not in page


def test_with_scores_it_is_the_comparison() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    runs = {
        "old": {q: ["a", "b"] for q in qrels},
        "new": {q: (["b", "a"] if int(q[1:]) % 2 else ["a", "b"]) for q in qrels},
    }
    scores = evaluate(runs, qrels, "RR")
    verdict = Verdict("fail", "worse", "fail: worse by more than .05", ("a reason",))
    page = gate_page(
        GateReport(verdict, POLICY, "old", "new", comparisons=tuple(compare(scores, "old")), scores=scores)
    )
    assert "new against old" in page
    assert "fail: worse by more than .05" in page
    # Fifteen of thirty fall from 1 to 1/2.
    assert "-0.2500" in page


def test_the_command_that_was_given_stands_on_the_page() -> None:
    verdict = Verdict(
        "not-comparable", "unclear", "not comparable: no baseline", ("no baseline",), ("do this",)
    )
    page = gate_page(
        GateReport(verdict, POLICY, "", "new", command="leadline gate a/new.run --config ci/x.toml")
    )
    assert "new against no baseline" in page
    assert "leadline gate a/new.run --config ci/x.toml" in page
    assert "do this" in page
    # Nothing runs on it and nothing is loaded.
    assert "script-src 'none'" in page
    assert "<script" not in page
