"""How far a model judge agrees with people: the certificate, from labels of both on the same pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.account import tool_version
from leadline.certificate import (
    NO_JUDGE,
    SAMPLES,
    VERSION,
    Certificate,
    Judge,
    MeasureCheck,
    reasons_against,
)
from leadline.errors import UnknownNameError, amount
from leadline.judging.measured_twice import MeasuredTwice
from leadline.judging.two_judges import Side, TwoJudges
from leadline.stats.agreement import (
    cohen_kappa,
    gwet_ac,
    kappa_by_query,
    majority_baseline,
    table_counts,
)
from leadline.stats.by_query import shares_by_query
from leadline.stats.intervals import LEVEL, RESAMPLES, Interval

WEIGHTS = "quadratic"
"""Of the kappa that decides: two grades off is four times as wrong as one."""
MEANING = (
    "a row is a grade that people gave, a column a grade that the model gave; both in the order of grades"
)
NO_CHECKS = "no measure was checked: certify with runs, -m MEASURE and --margin M"


@dataclass(frozen=True)
class Rules:
    """How a certificate is made.

    Attributes
    ----------
    sample: how the pairs that people judged were drawn, one of `certificate.SAMPLES`; None: not stated, and so not valid.
    level, resamples, seed: of the intervals.
    """

    sample: str | None = None
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample not in SAMPLES:
            raise UnknownNameError("sample", self.sample, SAMPLES)


def make_certificate(
    found: TwoJudges, rules: Rules, measured: MeasuredTwice | None = None, date: str | None = None
) -> Certificate:
    """The certificate of the model that made the second side's labels, with people's as the first.

    Every interval is a bootstrap over queries: the pairs of one query belong together. What could not be computed is None
    with a reason. `certificate.reasons_against` says when it is valid; to gate, the judge must be known too, and each
    measure of each run must lie within half its margin.

    Parameters
    ----------
    measured: the runs by both sets of labels, `measured_twice.measure_twice`; None: for reporting only.
    date: ISO 8601; by default today's, UTC.
    """
    rng = np.random.default_rng(rules.seed)
    shares = shares_by_query(found.tables, rng, found.grades, rules.level, rules.resamples)
    majority = _majority(found, shares.above)
    kappa = _kappa(found, WEIGHTS, rules, rng)
    judge, checks = found.second.judge, () if measured is None else measured.checks
    reasons = reasons_against(
        design=rules.sample,
        queries=len(found.queries),
        pairs=int(found.table.sum()),
        kappa_low=kappa["low"],
        agreement=shares.agreement.estimate,
        majority=majority["share"],
    )
    against_gating = _gating_reasons(reasons, judge, checks)
    body = {
        **_made(rules, date),
        "judge": None if judge is None else judge.to_dict(),
        "valid": not reasons,
        "reasons": reasons,
        "valid_for_gating": not against_gating,
        "gating_reasons": against_gating,
        "remarks": _remarks(found, rules, majority, measured),
        "n": int(found.table.sum()),
        "queries": len(found.queries),
        "grades": list(found.grades),
        "sample": _sample(found, rules),
        "inputs": [found.first.to_dict("human"), found.second.to_dict("model")],
        "exact_agreement": shares.agreement.estimate,
        "agreement": interval_row(shares.agreement),
        "majority_baseline": majority["share"],
        "majority": majority,
        "kappa": kappa,
        "kappa_unweighted": _kappa(found, "none", rules, rng),
        "ac2": gwet_ac(table_counts(found.table), found.grades, WEIGHTS),
        "bias": interval_row(shares.step),
        "by_grade": _by_grade(found),
        "confusion": found.table.tolist(),
        "confusion_meaning": MEANING,
        "systems": None if measured is None else measured.systems,
        "gating": [{**vars(check), "within": check.within} for check in checks],
        "conventions": {} if measured is None else dict(measured.conventions),
    }
    return Certificate(judge or Judge(""), not reasons, tuple(reasons), tuple(checks), body)


def _made(rules: Rules, date: str | None) -> dict[str, Any]:
    """By what and when the certificate was made."""
    return {
        "leadline": tool_version(),
        "command": "certify",
        "version": VERSION,
        "date": date or datetime.now(UTC).date().isoformat(),
        "seed": rules.seed,
    }


def _gating_reasons(reasons: Sequence[str], judge: Judge | None, checks: Sequence[MeasureCheck]) -> list[str]:
    found = list(reasons)
    if judge is None:
        found.append(NO_JUDGE)
    if not checks:
        found.append(NO_CHECKS)
    for measure in dict.fromkeys(check.measure for check in checks):
        of_it = [check for check in checks if check.measure == measure]
        out = [check for check in of_it if not check.within]
        if out:
            which = out[0].system if len(of_it) == 1 else f"{len(out)} of {len(of_it)} runs"
            found.append(
                f"{measure}: by the model's labels it may lie more than half the margin, {out[0].margin / 2:g}, away from "
                f"that by people's ({which})"
            )
    return found


def _kappa(found: TwoJudges, weights: str, rules: Rules, rng: np.random.Generator) -> dict[str, Any]:
    made = kappa_by_query(found.tables, rng, weights, found.grades, rules.level, rules.resamples)
    plain = cohen_kappa(found.table, weights, found.grades, rules.level)
    return {**interval_row(made), "weights": weights, "se": plain.se, "resamples": rules.resamples}


def interval_row(made: Interval) -> dict[str, Any]:
    """An interval over queries as JSON has it: value, low, high, level, method, reason.

    >>> interval_row(Interval(0.5, 0.4, 0.6, 0.95, "bootstrap", 30))["method"]
    'bootstrap over queries'
    """
    return {
        "value": made.estimate,
        "low": made.low,
        "high": made.high,
        "level": made.level,
        "method": f"{made.method} over queries",
        "reason": made.reason,
    }


def _majority(found: TwoJudges, above: Interval) -> dict[str, Any]:
    """The best constant judge: people's most frequent grade, its share, and how far the model is above it."""
    return {
        "grade": found.grades[int(found.table.sum(axis=1).argmax())],
        "share": majority_baseline(found.table),
        "above": interval_row(above),
    }


def _by_grade(found: TwoJudges) -> list[dict[str, Any]]:
    """How far the two agree on each grade: of people's, and of the model's."""
    table: npt.NDArray[np.int64] = found.table
    rows = []
    for place, grade in enumerate(found.grades):
        human, model, both = int(table[place].sum()), int(table[:, place].sum()), int(table[place, place])
        rows.append(
            {
                "grade": grade,
                "human": human,
                "model": model,
                "both": both,
                "of_human": both / human if human else None,
                "of_model": both / model if model else None,
            }
        )
    return rows


def _sample(found: TwoJudges, rules: Rules) -> dict[str, Any]:
    return {
        "design": rules.sample,
        "pairs": found.pairs.height,
        "queries": len(found.queries),
        "human_without_model": found.only_first,
        "model_without_human": found.only_second,
        "human_negative": found.first.negative,
        "model_negative": found.second.negative,
    }


def _remarks(
    found: TwoJudges, rules: Rules, majority: Mapping[str, Any], measured: MeasuredTwice | None
) -> list[str]:
    """What to know before believing it."""
    said = []
    if found.only_first:
        said.append(
            f"{amount(found.only_first, 'pair')} that people judged {_have(found.only_first)} no label of the model: what "
            "it leaves out is not certified"
        )
    if rules.sample == "pool" and found.only_second:
        said.append(
            f"{amount(found.only_second, 'label')} of the model {_have(found.only_second)} no judgment of a person: those "
            "pairs are not of the pool that this certificate speaks of"
        )
    if rules.sample == "stratified":
        said.append("the pairs of all strata count alike: the numbers speak of the sample as it was drawn")
    if found.first.grade_map:
        said.append(f"grades were rewritten, of people and of the model: {found.first.grade_map}")
    for side, whose in ((found.first, "people's"), (found.second, "the model's")):
        said += _of_side(side, whose)
    low = majority["above"]["low"]
    if (majority["above"]["value"] or 0) > 0 and (low is None or low <= 0):
        said.append(
            "it beats the majority class on this sample, but the interval of the difference reaches 0: on other queries "
            "it may not"
        )
    return said + (list(measured.remarks) if measured is not None else [])


def _of_side(side: Side, whose: str) -> list[str]:
    said = []
    if side.settled:
        said.append(
            f"{amount(side.settled, 'repeated label')} among {whose} {_were(side.settled)} settled by the rule {side.conflicts}"
        )
    if side.negative:
        said.append(f"{amount(side.negative, 'negative label')} among {whose} left out: not judged")
    return said


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def sentence(certificate: Certificate) -> str:
    """Whether the certificate is valid, and for what, in one plain sentence.

    >>> sentence(Certificate(Judge("m"), False, ("9 queries, 20 are needed",)))
    'not valid, neither for reporting nor for gating, because 9 queries, 20 are needed'
    """
    if not certificate.valid:
        return (
            f"not valid, neither for reporting nor for gating, because {'; and '.join(certificate.reasons)}"
        )
    measures = ", ".join(dict.fromkeys(check.measure for check in certificate.checks))
    if certificate.body.get("valid_for_gating"):
        return f"valid: for reporting, and for gating {measures} with a margin of {certificate.checks[0].margin:g} or more"
    why = "; and ".join(certificate.body.get("gating_reasons", ()))
    return f"valid: for reporting, not for gating, because {why}"
