"""Runs measured by people's labels and by a model's: how far each measure moves, and how alike the systems' order stays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from leadline.certificate import MeasureCheck
from leadline.comparison import Pairs
from leadline.conventions import Conventions
from leadline.errors import amount
from leadline.evaluation import score
from leadline.inputs import Inputs
from leadline.judging.two_judges import TwoJudges
from leadline.measure import Measure
from leadline.scores import Scores
from leadline.stats.intervals import LEVEL, Interval, t_interval
from leadline.stats.paired import tango_interval
from leadline.stats.rank_correlation import rank_agreement
from leadline.tables import Qrels, RunSource

LEAST_SYSTEMS = 3
"""Of two systems there is one order or the other, and no correlation worth the name."""
ORDERS = 2000
"""Resamples of the systems' order."""


@dataclass(frozen=True)
class MeasuredTwice:
    """What `measure_twice` found.

    Attributes
    ----------
    checks: one a measure and run. systems: rank agreement as the certificate's JSON has it; None below three runs.
    remarks: what to know. conventions: the switches.
    """

    checks: tuple[MeasureCheck, ...]
    systems: Mapping[str, Any] | None
    remarks: tuple[str, ...] = ()
    conventions: Mapping[str, Any] = field(default_factory=dict)


def measure_twice(
    found: TwoJudges,
    runs: Sequence[RunSource],
    measures: Mapping[str, Measure],
    rules: Conventions,
    margin: float,
    level: float = LEVEL,
    seed: int = 0,
) -> MeasuredTwice:
    """Each run by the first side's labels (people's) and by the second's (a model's), over the pairs that both labelled.

    On the same pairs, since otherwise the difference would be that of two pools. The interval of the mean difference is
    Student's t over queries, Tango's for yes/no measures. A query without a value by one of the two is in neither
    mean, and counted.

    Parameters
    ----------
    measures: by the text asked. margin: in the measures' own units.

    Raises
    ------
    NotComparableError: a run answers no query of the labels. InputError, UsageError: as `evaluation.score`.
    """
    by_people, by_model = (
        score(Inputs(tuple(runs), _qrels(found, name)), measures, rules) for name in ("first", "second")
    )
    checks, lost = [], 0
    for cell in by_people.cells:
        pairs = Pairs.of(cell, by_model.cell(cell.measure, cell.system))
        lost = max(lost, pairs.left_out)
        made = _interval(pairs, level)
        checks.append(
            MeasureCheck(
                cell.measure, cell.system, margin, made.estimate, made.low, made.high, made.n, made.reason
            )
        )
    remarks = []
    if lost:
        remarks.append(
            f"up to {amount(lost, 'query', 'queries')} of a measure had no value by people's labels or by the model's, most "
            "often as one of them found nothing relevant: left out of its difference"
        )
    rng = np.random.default_rng(seed)
    systems = _systems(by_people, by_model, level, rng) if len(runs) >= LEAST_SYSTEMS else None
    switches = {**rules.to_dict(), "margin": margin, "max_grade": _top(found)}
    return MeasuredTwice(tuple(checks), systems, tuple(remarks), switches)


def _top(found: TwoJudges) -> float:
    """The top of the scale, which some measures read: as declared, else that of the grades."""
    return found.grades[-1] if found.first.max_grade is None else float(found.first.max_grade)


def _qrels(found: TwoJudges, side: str) -> Qrels:
    frame = found.pairs.select("query_id", "doc_id", pl.col(side).alias("grade"))
    source = (found.first if side == "first" else found.second).source
    return Qrels(frame, max_grade=_top(found), source=source)


def _interval(pairs: Pairs, level: float) -> Interval:
    """The interval of model − human, by the method that decides in a comparison."""
    d = pairs.differences
    if pairs.yes_no:
        return tango_interval(int((d > 0).sum()), int((d < 0).sum()), len(d), level)
    return t_interval(d, level)


def _systems(by_people: Scores, by_model: Scores, level: float, rng: np.random.Generator) -> dict[str, Any]:
    """Rank agreement by each measure: the first measure's own, and further ones under `others`."""
    rows = [_order(by_people, by_model, measure, level, rng) for measure in by_people.measures]
    return {**rows[0], "others": rows[1:]}


def _order(
    by_people: Scores, by_model: Scores, measure: str, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    names = by_people.systems
    people, model = (
        np.column_stack([scores.cell(measure, name).values for name in names])
        for scores in (by_people, by_model)
    )
    there = ~(np.isnan(people).any(axis=1) | np.isnan(model).any(axis=1))
    people, model = people[there], model[there]
    made = rank_agreement(people, model, rng, level, ORDERS)
    means = (
        zip(names, people.mean(axis=0).tolist(), model.mean(axis=0).tolist(), strict=True)
        if len(people)
        else ()
    )
    return {
        "measure": measure,
        "systems": len(names),
        "queries": int(there.sum()),
        "tau": made.tau.estimate,
        "tau_low": made.tau.low,
        "tau_high": made.tau.high,
        "tau_ap": made.tau_ap.estimate,
        "tau_ap_low": made.tau_ap.low,
        "tau_ap_high": made.tau_ap.high,
        "tau_ap_symmetric": made.tau_ap_symmetric,
        "level": level,
        "method": made.tau.method,
        "reason": made.tau.reason,
        "means": [{"system": name, "human": one, "model": other} for name, one, other in means],
    }
