"""The collected cases about the statistics of model judges."""

import json
from typing import Any

import numpy as np
import pytest

from leadline.stats.agreement import cohen_kappa, confusion_table, majority_baseline
from leadline.stats.homogeneity import bhapkar, stuart_maxwell
from leadline.stats.prediction_powered import PredictionPowered, prediction_powered_mean
from leadline.stats.rates import rogan_gladen
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)


def load(name: str) -> dict[str, dict[str, Any]]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


CASE = load("rag.jsonl") | load("statistics.jsonl")


def of(name: str) -> tuple[dict[str, Any], dict[str, Any], float]:
    case = CASE[name]
    return case["input"], case["expected"], case.get("tolerance", 1e-6)


def plug_in(y: list[float], f: list[float], rest: list[float], tuned: bool) -> PredictionPowered:
    return prediction_powered_mean(y, f, rest, tuned=tuned, ddof=0, method="z", least=2)


def test_prediction_powered_means() -> None:
    given, expected, near = of("ppi_mean")
    rows = given["Y"], given["f_labelled"], given["f_unlabelled"]
    for tuned, value, ends in ((False, "ppi", "ci1"), (True, "ppipp", "cipp")):
        found = plug_in(*rows, tuned)
        assert found.estimate == pytest.approx(expected[value], abs=near)
        assert [found.interval.low, found.interval.high] == pytest.approx(expected[ends], abs=near)
    given, expected, near = of("ppi_lambda")
    assert plug_in(given["Y"], given["f_labelled"], given["f_unlabelled"], True).lam == pytest.approx(
        expected["lam"], abs=near
    )
    given, expected, near = of("ppi_difference")
    rows = given["dY"], given["df_labelled"], given["df_unlabelled"]
    # The case's standard error is of variances with n − 1, whatever its note says: .0143333/10 + .008/5.
    found = prediction_powered_mean(*rows, tuned=False, method="z", least=2)
    assert found.estimate == pytest.approx(expected["theta"], abs=near)
    assert found.interval.high is not None and found.estimate is not None
    assert (found.interval.high - found.estimate) / 1.959963984540054 == pytest.approx(
        expected["se"], abs=near
    )
    given, expected, near = of("ppi_variance_gain")
    ratios = [saved(rho, given["n"], given["N"]) for rho in given["rho"]]
    assert ratios == pytest.approx(expected["ratio"], abs=max(near, 1e-6))


def saved(rho: float, n: int, others: int) -> float:
    """What is left of the variance with a judge whose values correlate by exactly ρ with people's on n queries.

    Its values on the others are those on the n again and again, so that both have one mean and one variance.
    """
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(n, 2))
    y, noise = np.linalg.qr(rows - rows.mean(axis=0))[0].T
    f = rho * y + (1 - rho**2) ** 0.5 * noise
    found = prediction_powered_mean(y, f, np.tile(f, others // n), ddof=0)
    assert found.gain is not None and found.correlation == pytest.approx(rho)
    return 1 / found.gain


def test_prediction_powered_means_of_rag_tools() -> None:
    given, expected, near = of("ppi-mean")
    found = plug_in(given["human"], given["judge_on_human"], [1] * 75 + [0] * 25, False)
    assert found.estimate == pytest.approx(expected["estimate"])
    assert [found.interval.low, found.interval.high] == pytest.approx(expected["ci"], abs=near)
    assert found.human_only.estimate == expected["human_only"]
    given, expected, _ = of("ppi-perfect-judge")
    found = plug_in(given["human"], given["judge_on_human"], given["judge_on_unlabelled"], False)
    assert (found.estimate, found.rectifier) == (expected["estimate"], expected["rectifier"])


def test_rates_and_drift() -> None:
    given, expected, near = of("rogan_gladen")
    counts = [
        round(given[share] * given[n]) for share, n in (("p_obs", "n"), ("sens", "n_pos"), ("spec", "n_neg"))
    ]
    found = rogan_gladen(counts[0], given["n"], counts[1], given["n_pos"], counts[2], given["n_neg"])
    assert found.estimate == pytest.approx(expected["prevalence"], abs=near)
    assert found.se == pytest.approx(expected["se"], abs=near)
    given, expected, near = of("stuart_maxwell")
    table = np.array(given["table"])
    assert stuart_maxwell(table).statistic == pytest.approx(expected["stuart_maxwell"], abs=near)
    assert stuart_maxwell(table).p == pytest.approx(expected["p"], abs=near)
    assert bhapkar(table).statistic == pytest.approx(expected["bhapkar"], abs=near)


def test_kappa_of_judges_who_say_little() -> None:
    given, expected, _ = of("kappa-constant-judge")
    table = confusion_table(given["human"], given["judge"], [0, 1])
    kappa = cohen_kappa(table)
    assert (kappa.agreement, kappa.estimate) == (expected["agreement"], expected["kappa"])
    assert majority_baseline(table) == expected["constant_predictor_baseline"]
    given, expected, _ = of("kappa-single-class")
    kappa = cohen_kappa(confusion_table(given["human"], given["judge"], [0, 1]))
    assert (kappa.agreement, kappa.estimate) == (expected["agreement"], expected["kappa"])


def test_pairs_stay_pairs() -> None:
    """What one of the two did not grade is dropped for both, before the table is made."""
    given, expected, _ = of("alignment-pairs-stay-paired")
    grade = {"fail": 0, "pass": 1}
    pairs = [(a, b) for a, b in zip(given["human"], given["judge"], strict=True) if b is not None]
    table = confusion_table([grade[a] for a, _ in pairs], [grade[b] for _, b in pairs], [0, 1])
    assert (cohen_kappa(table).agreement, int(table.sum())) == (expected["agreement"], expected["n_pairs"])
