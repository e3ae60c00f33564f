"""Certificates of real model judges: TREC's Deep Learning tracks, and the label sets of LLMJudge."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.certificate import Certificate, Judge
from leadline.conventions import conventions
from leadline.errors import RowsError
from leadline.formats.certificate import certificate_of
from leadline.formats.read import read_run
from leadline.judging.certify import Rules, make_certificate
from leadline.judging.drift import drift_report
from leadline.judging.measured_twice import measure_twice
from leadline.judging.two_judges import Side, TwoJudges, put_together, read_model, read_people
from leadline.report.certificate_page import certificate_page
from leadline.report.certificate_text import certificate_text
from leadline.report.json_text import document_text
from leadline.spelling import parse_all

Data = Callable[[str], Path]
FOLDER = "trec_dl_human_llm"
FILES = {"GPT-4o": "umbrela-gpt4o.txt", "GPT-4": "umbrela-gpt4.txt", "Llama": "umbrela-llama3.2.json"}
EXACT = {
    ("GPT-4o", "error"): (".579", ".627", ".544"),
    ("GPT-4", "error"): (".555", ".603", ".519"),
    ("Llama", "last"): (".316", ".334", ".295"),
    ("Llama", "first"): (".320", ".334", ".298"),
    # The page has .333 for DL21; it is 3,600 of 10,828.
    ("Llama", "majority"): (".366", ".398", ".332"),
}
"""Exact agreement with people on DL19, DL20, DL21, as the data's own page states it."""
SEEN = Rules(sample="pool", resamples=1000)
OFF = {"RMITIR-llama70B": (5, 2), "h2oloo-zeroshot2": (10, 1)}
"""Label sets with labels off the scale: which label, and how many."""


def sides(shared_data: Data, track: str, judge: str, rule: str) -> tuple[Side, Side]:
    people = read_people(str(shared_data(f"{FOLDER}/{track}/qrels.human.txt.gz")))
    labels = shared_data(f"{FOLDER}/{track}/qrels.{FILES[judge]}.gz")
    return people, read_model(str(labels), Judge(judge), rule)  # type: ignore[arg-type]


def by_hand(path: Path) -> dict[tuple[str, str], int]:
    """Labels read without the package; the last of a pair's counts."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = (line.split() for line in text.decode().splitlines())
    return {(query, doc): int(grade) for query, _, doc, grade in rows}


def test_the_collected_cases(shared_data: Data, tmp_path: Path) -> None:
    """A constant judge, a single class, and pairs of which the judge left one out."""
    lines = (
        (shared_data("README.md").parents[1] / "cases" / "rag.jsonl").read_text(encoding="utf-8").splitlines()
    )
    cases = {case["id"]: case for case in map(json.loads, lines)}
    bodies = {}
    for name in ("kappa-constant-judge", "kappa-single-class", "alignment-pairs-stay-paired"):
        paths = []
        for side in ("human", "judge"):
            grades = [{"pass": 1, "fail": 0}.get(one, one) for one in cases[name]["input"][side]]
            rows = [f"q{place} 0 d {grade}\n" for place, grade in enumerate(grades) if grade is not None]
            paths.append(tmp_path / f"{name}-{side}.txt")
            paths[-1].write_text("".join(rows))
        found = put_together(read_people(str(paths[0])), read_model(str(paths[1])))
        bodies[name] = make_certificate(found, SEEN).body
        assert bodies[name]["exact_agreement"] == cases[name]["expected"]["agreement"]
    constant, single, paired = bodies.values()
    assert constant["kappa"]["value"] == cases["kappa-constant-judge"]["expected"]["kappa"] == 0
    assert (
        constant["majority_baseline"]
        == cases["kappa-constant-judge"]["expected"]["constant_predictor_baseline"]
    )
    assert single["kappa"]["value"] is cases["kappa-single-class"]["expected"]["kappa"] is None
    expected = cases["alignment-pairs-stay-paired"]["expected"]
    assert (paired["n"], paired["sample"]["human_without_model"]) == (
        expected["n_pairs"],
        expected["judge_missing"],
    )


@pytest.mark.parametrize(("judge", "rule"), list(EXACT))
def test_exact_agreement_of_the_tracks(shared_data: Data, judge: str, rule: str) -> None:
    found = []
    for track in ("dl19", "dl20", "dl21"):
        body = make_certificate(put_together(*sides(shared_data, track, judge, rule)), SEEN).body
        found.append(f"{body['exact_agreement']:.3f}".removeprefix("0"))
        assert body["kappa"]["low"] < body["kappa"]["value"] < body["kappa"]["high"]
        assert (
            body["kappa_unweighted"]["low"]
            < body["kappa_unweighted"]["value"]
            < body["kappa_unweighted"]["high"]
        )
        assert body["sample"]["human_without_model"] == body["sample"]["model_without_human"] == 0
        assert body["valid"] is (body["exact_agreement"] > body["majority_baseline"])
    assert tuple(found) == EXACT[judge, rule]


def test_repeats_are_an_error_unless_a_rule_is_named(shared_data: Data) -> None:
    with pytest.raises(
        RowsError, match=r"judges the same pair(.|\n)*name a rule to settle them: --conflicts first"
    ):
        sides(shared_data, "dl21", "Llama", "error")


@pytest.mark.parametrize("judge", list(FILES))
def test_kappa_and_confusion_against_another_program(
    shared_data: Data, needs: Callable[[str], Any], judge: str
) -> None:
    metrics = needs("sklearn.metrics")
    people = by_hand(shared_data(f"{FOLDER}/dl21/qrels.human.txt.gz"))
    model = by_hand(shared_data(f"{FOLDER}/dl21/qrels.{FILES[judge]}.gz"))
    pairs = sorted(people)
    a, b = [people[pair] for pair in pairs], [model[pair] for pair in pairs]
    rule = "last" if judge == "Llama" else "error"
    body = make_certificate(put_together(*sides(shared_data, "dl21", judge, rule)), SEEN).body
    assert body["n"] == len(pairs) == 10828 and body["queries"] == 53
    assert body["confusion"] == metrics.confusion_matrix(a, b, labels=range(4)).tolist()
    for name, weights in (("kappa", "quadratic"), ("kappa_unweighted", None)):
        theirs = metrics.cohen_kappa_score(a, b, labels=range(4), weights=weights)
        assert body[name]["value"] == pytest.approx(theirs, abs=1e-12)
    assert body["bias"]["value"] == pytest.approx(np.mean(b) - np.mean(a))
    assert body["majority_baseline"] == max(np.bincount(a)) / len(a)


def test_the_label_sets_of_llmjudge(shared_data: Data, tmp_path: Path) -> None:
    folder = shared_data("llmjudge")
    people = read_people(str(folder / "llmjudge_test_qrel_idx.txt"))
    paths = sorted((folder / "scores").glob("*.txt.gz"))
    assert len(paths) == 33
    plain, weighted, refused = [], [], {}
    for path in paths:
        name = path.name.removesuffix(".txt.gz")
        model = read_model(str(path), Judge(name))
        try:
            body = make_certificate(put_together(people, model), SEEN).body
        except RowsError as error:
            refused[name] = error
            continue
        assert body["n"] == 4423 and body["queries"] == 25
        plain.append(body["kappa_unweighted"]["value"])
        weighted.append(body["kappa"]["value"])
    assert (f"{min(plain):.2f}", f"{max(plain):.2f}") == ("0.06", "0.29")
    # .155 is .16 by the page's rounding.
    assert (round(min(weighted), 3), f"{max(weighted):.2f}") == (0.155, "0.51")
    assert set(refused) == set(OFF)
    for name, (label, count) in OFF.items():
        lines = gzip.decompress((folder / "scores" / f"{name}.txt.gz").read_bytes()).decode().splitlines()
        wrong = [number for number, line in enumerate(lines, 1) if line.split()[-1] == str(label)]
        assert len(wrong) == refused[name].total == count
        said = str(refused[name])
        assert f"{name}.txt.gz" in said and f"of the judge {name}" in said
        for number in wrong:
            assert re.search(
                rf"line {number}: found '.* {label}', which is not on the scale 0, 1, 2, 3", said
            )


@pytest.fixture(scope="module")
def made_on_runs(shared_data: Data) -> Callable[[str], tuple[TwoJudges, Certificate]]:
    rules = conventions("trec_eval-9")
    runs = [
        read_run(path, conventions=rules)
        for path in sorted(shared_data(f"{FOLDER}/dl21/runs").glob("*.run.gz"))
    ]

    def make(judge: str) -> tuple[TwoJudges, Certificate]:
        found = put_together(*sides(shared_data, "dl21", judge, "last" if judge == "Llama" else "error"))
        twice = measure_twice(found, runs, parse_all("nDCG(gain=linear)@10", rules), rules, 0.05)
        return found, make_certificate(found, SEEN, twice)

    return make


@pytest.mark.parametrize("judge", list(FILES))
def test_the_order_of_63_runs(
    shared_data: Data, needs: Callable[[str], Any], made_on_runs: Callable[[str], Any], judge: str
) -> None:
    kendalltau = needs("scipy.stats").kendalltau
    _, made = made_on_runs(judge)
    systems = made.body["systems"]
    assert systems["systems"] == len(systems["means"]) == 63 and systems["queries"] == 53
    published: dict[str, list[float]] = {}
    for line in shared_data(f"{FOLDER}/dl21/official_runs.ndcg_cut_10.csv").read_text().splitlines():
        run, topic, score = line.split(",")
        if topic.isdigit():
            published.setdefault(run, []).append(float(score))
    for row in systems["means"]:
        scores = published[row["system"]]
        assert len(scores) == 53 and row["human"] == pytest.approx(sum(scores) / 53, abs=6e-5)
    human, model = ([row[side] for row in systems["means"]] for side in ("human", "model"))
    assert systems["tau"] == pytest.approx(kendalltau(human, model).statistic, abs=1e-12)
    assert systems["tau_ap"] == pytest.approx(tau_ap(human, model), abs=1e-9)
    assert (
        systems["tau_low"] < systems["tau_high"] <= 1 and systems["tau_ap_low"] < systems["tau_ap_high"] <= 1
    )
    assert systems["tau_low"] < systems["tau"] and systems["tau_ap"] < systems["tau"]
    # Every judge flatters every run by more than so small a margin allows.
    assert len(made.checks) == 63 and not any(check.within for check in made.checks)
    assert not made.body["valid_for_gating"] and "63 of 63 runs" in made.body["gating_reasons"][-1]
    assert certificate_of(json.loads(document_text(made.body))).checks == made.checks
    assert max(map(len, certificate_text(made).splitlines())) <= 100
    assert certificate_page(made).count('class="out"') == 63


def tau_ap(truth: list[float], other: list[float]) -> float:
    """By the definition of Yilmaz, Aslam and Robertson (2008). Two runs are the same twice over, so there are ties:

    half for a pair that is tied in the truth, and the mean of both orders for two that are tied in the other.
    """
    assert len(set(other)) >= len(other) - 2
    found = []
    for sign in (1, -1):
        order = sorted(range(len(other)), key=lambda place, sign=sign: (-other[place], sign * place))
        right = [
            [(truth[above] > truth[one]) + (truth[above] == truth[one]) / 2 for above in order[:place]]
            for place, one in enumerate(order)
        ]
        found.append(2 * float(np.mean([np.mean(row) for row in right[1:]])) - 1)
    return float(np.mean(found))


def test_the_check_of_one_run_by_hand(shared_data: Data, made_on_runs: Callable[[str], Any]) -> None:
    """nDCG@10 of one run by both sets of labels, without the package's measures."""
    found, made = made_on_runs("GPT-4o")
    grades = {(q, d): (a, b) for q, d, a, b in found.pairs.iter_rows()}
    ranked: dict[str, list[tuple[float, str]]] = {}
    text = gzip.decompress(shared_data(f"{FOLDER}/dl21/runs/p_bm25.run.gz").read_bytes()).decode()
    for line in text.splitlines():
        query, _, doc, _, score, *_ = line.split()
        ranked.setdefault(query, []).append((float(np.float32(score)), doc))
    differences = []
    for query in found.queries:
        top = [doc for _, doc in sorted(ranked[query], reverse=True)[:10]]
        values = []
        for side in (0, 1):
            ideal = sorted((pair[side] for (q, _), pair in grades.items() if q == query), reverse=True)[:10]
            gained = [grades.get((query, doc), (0.0, 0.0))[side] for doc in top]
            values.append(discounted(gained) / discounted(ideal))
        differences.append(values[1] - values[0])
    check = next(one for one in made.checks if one.system == "p_bm25")
    assert check.difference == pytest.approx(np.mean(differences), abs=1e-9)
    half = 2.0066468 * np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert (check.low, check.high) == pytest.approx(
        (np.mean(differences) - half, np.mean(differences) + half), abs=1e-6
    )


def discounted(gains: list[float]) -> float:
    return sum(gain / np.log2(place + 2) for place, gain in enumerate(gains))


def test_drift_from_one_model_to_the_next(shared_data: Data) -> None:
    people, old = sides(shared_data, "dl21", "GPT-4", "error")
    _, new = sides(shared_data, "dl21", "GPT-4o", "error")
    report = drift_report(old, new, people, rules=SEEN)
    before, now = (
        by_hand(shared_data(f"{FOLDER}/dl21/qrels.{FILES[name]}.gz")) for name in ("GPT-4", "GPT-4o")
    )
    assert report["changed"]["pairs"] == sum(before[pair] != now[pair] for pair in before)
    assert report["void"] is True and report["by_query"]["p"] < 0.01
    change = report["kappa_change"]
    of_each = [
        make_certificate(put_together(people, side), SEEN).body["kappa"]["value"] for side in (old, new)
    ]
    assert [change["old"], change["new"]] == pytest.approx(of_each)
    assert change["low"] < change["value"] < change["high"]
