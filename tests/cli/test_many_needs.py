"""Measures of subtopics through the commands: they are read everywhere, and what cannot be asked of them is said."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadline.cli.main import app
from leadline.conventions import Conventions
from leadline.errors import LeadlineError, UsageError
from leadline.formats.objects import run_of
from leadline.formats.read import read_qrels
from leadline.inputs import Inputs
from leadline.judging.decisive import decisive
from leadline.judging.pool import Pool
from leadline.locate.index_cost import cost_of
from leadline.spelling import parse

N = 24


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty-four queries of two needs: a and b answer the first, c the second; u is not judged."""
    monkeypatch.chdir(tmp_path)
    qrels = [
        f"q{i:02} {need} {doc} {grade}"
        for i in range(N)
        for need, doc, grade in (("1", "a", 1), ("1", "b", 2), ("2", "a", 0), ("2", "c", 1))
    ]
    Path("qrels.txt").write_text("\n".join(qrels) + "\n")
    for name, order in (("same", "abuc"), ("mixed", "acub"), ("hidden", "uuab")):
        rows = []
        for i in range(N):
            # A few queries have the other order, so that there is a spread.
            own = "abcu" if i % 6 == 0 else order
            documents = [f"{d}{at}" if d == "u" else d for at, d in enumerate(own)]
            rows += [f"q{i:02} Q0 {doc} {at} {9 - at} {name}" for at, doc in enumerate(documents, 1)]
        Path(f"{name}.run").write_text("\n".join(rows) + "\n")
    return tmp_path


def leadline(*words: str) -> tuple[int, str]:
    got = CliRunner().invoke(app, list(words))
    if isinstance(got.exception, LeadlineError):
        return got.exception.exit_code, str(got.exception)
    return got.exit_code, got.output


def test_evaluate_with_other_measures_beside():
    code, text = leadline(
        "evaluate", "same.run", "--qrels", "qrels.txt", "-m", "strec@2,P(rel=2)@2,alpha-nDCG@2", "--format", "json"
    )  # fmt: skip
    assert code == 0
    got = json.loads(text)
    assert got["account"]["qrels"]["subtopics"] == 2 * N
    means = {row["measure"]: row["mean"] for row in got["results"]}
    # a, b answer one of two; the pair's largest grade is 2 for b alone.
    assert means["StRecall@2"] == 0.5
    assert means["P(rel=2)@2"] == 0.5
    code, text = leadline("evaluate", "same.run", "--qrels", "qrels.txt", "-m", "StRecall@2")
    assert f"{4 * N} judgments, {2 * N} subtopics" in text


def test_compare_says_that_unjudged_documents_are_not_weighed():
    code, text = leadline("compare", "same.run", "mixed.run", "--qrels", "qrels.txt", "-m", "StRecall@2")
    assert code == 0
    assert "not weighed, as a grade names no subtopic" in " ".join(text.split())
    assert "verdict: pass (better)" in text
    code, text = leadline(
        "compare", "same.run", "mixed.run", "--qrels", "qrels.txt", "-m", "StRecall@2", "--complete"
    )
    assert "not weighed" not in text


def test_gate():
    policy = 'qrels = "qrels.txt"\n[gate]\nmust_pass = ["q01"]\n[[gate.rule]]\nmeasure = "StRecall@2"\n'
    Path("leadline.toml").write_text(policy)
    assert leadline("baseline", "mixed.run")[0] == 0
    code, text = leadline("gate", "mixed.run")
    assert code == 0, text
    assert "not weighed, as a grade names no subtopic" in " ".join(text.split())
    # The must-pass query fell, and an unjudged document stands in its top 2: that is a fail all the same.
    code, text = leadline("gate", "hidden.run")
    assert code == 1, text
    assert "must-pass query q01 fell in StRecall@2" in text
    assert "judging could lift it" not in text


def test_gate_on_alpha_ndcg_asks_for_a_margin():
    # It can exceed 1, so it has no default margin.
    policy = 'qrels = "qrels.txt"\n[[gate.rule]]\nmeasure = "alpha_nDCG@4"\n'
    Path("leadline.toml").write_text(policy)
    code, text = leadline("baseline", "mixed.run")
    assert code == 2
    assert "say margin" in text
    Path("leadline.toml").write_text(policy + "margin = 0.02\n")
    assert leadline("baseline", "mixed.run")[0] == 0
    assert leadline("gate", "mixed.run")[0] == 0


def test_a_pool_asks_for_another_measure():
    code, text = leadline("pool", "same.run", "mixed.run", "--qrels", "qrels.txt", "-m", "StRecall@2")
    assert code == 2
    assert "told by a measure of grades" in text
    runs = tuple(run_of({"q01": ["a"]}, name=name) for name in ("old", "new"))
    given = Inputs(runs, read_qrels("qrels.txt", keep_subtopic=True))
    pool = Pool.of(runs, 2, Conventions(), given.qrels)
    with pytest.raises(UsageError, match="a measure of subtopics asks for no decisive order"):
        decisive(given, pool, parse("StRecall@2"), Conventions(), "old", "new")


def test_the_cost_of_an_index():
    exact = {f"q{i:02}": ["a", "c"] for i in range(N)}
    got = cost_of(exact, {query: ["a", "b"] for query in exact}, "qrels.txt", "StRecall@2", 2)
    assert got.rows[0].difference == -0.5


def test_the_explanation_of_a_measure_by_its_name_elsewhere():
    for name in ("alpha-nDCG", "alpha_ndcg@20", "ERR-IA", "strec"):
        code, text = leadline("measures", name)
        assert code == 0, text
        assert "none: a grade does not say which subtopics a document answers" in text
