"""Few labels of people and many of a model: means and differences with intervals that correct for the model's errors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leadline.account import certified
from leadline.comparison import SAME
from leadline.conventions import Conventions, conventions
from leadline.errors import InputError, UnknownNameError, UsageError, amount, printable
from leadline.evaluation import default_measures, score
from leadline.formats.card import read_card, with_certificate
from leadline.formats.objects import qrels_of
from leadline.formats.read import read_qrels
from leadline.inputs import Inputs, gather
from leadline.measure import Measure
from leadline.scores import Cell, Ends, Floats, Powered, PoweredScores, Scores
from leadline.spelling import parse_all
from leadline.stats.intervals import Interval, deviation, t_interval
from leadline.stats.prediction_powered import LEAST_LABELLED, prediction_powered_mean
from leadline.tables import Qrels

FAR = 3.0
"""Standard errors between the model's means on the labelled queries and on the others above which a random sample is doubted."""
ASSUMPTIONS = (
    "the queries that people judged are a random sample of the same population as the others",
    "none of them was used to tune the judge or its prompt",
    "the judge's pool covers both kinds of queries in the same way",
)
"""What nothing in the files can show, and on what the intervals rest."""


def evaluate_ppi(
    run: Any,
    qrels: Any,
    model_qrels: Any,
    measures: Any = None,
    *,
    baseline: str | None = None,
    alpha: float = 0.05,
    profile: str = "leadline-1",
    certificate: Any = None,
    max_grade: float | None = None,
    grade_map: Mapping[float, float] | None = None,
    **switches: Any,
) -> Scores:
    """Measure runs by few labels of people and many of a model; `powered` of the result holds what both say together.

    Source: prediction-powered inference (Angelopoulos et al. 2023; PPI++: Angelopoulos, Duchi & Zrnic 2023), on the
    values of each query. The intervals hold where the queries that people judged are a random sample of all, were not used
    to tune the judge, and the judge's pool covers both in the same way. Whatever the judge's bias is, it is
    corrected for, so no certificate is needed.

    Parameters
    ----------
    run: one or several systems, as `leadline.evaluate` takes them. qrels: people's labels, of at least 20 queries.
    model_qrels: the model's, of the same queries and of more. baseline: a system's name: differences from it, in place of
    means. alpha: 1 − alpha is the level. profile, switches: see `leadline.conventions`.
    certificate: of the model's labels, for what is said of them.

    Raises
    ------
    UsageError: people's labels that are a model's, or the other way round. InputError: a file is wrong, fewer than 20
        queries that both judged, or none that the model alone judged. NotComparableError: no query in common with a run.

    >>> people = {f"q{i}": {"d": 1} if i % 3 else {"e": 1} for i in range(24)}
    >>> model = {f"q{i}": {"d": 1} if i % 3 and i % 8 else {"e": 1} for i in range(200)}
    >>> found = evaluate_ppi({f"q{i}": ["d", "e"] for i in range(200)}, people, model, "RR")
    >>> row = found.powered.rows[0]
    >>> row.both.n, row.n_unlabelled, row.ratio < 1
    (24, 176, True)
    """
    rules = conventions(profile, **switches)
    asked = parse_all(default_measures() if measures is None else measures, rules)
    grading = {"grade_map": grade_map, "max_grade": max_grade}
    given = gather(run, qrels, None, rules, grading=grading)
    model = read_model_labels(model_qrels, grading, certificate, comments=rules.comments)
    scores = score(given, asked, rules)
    return replace(scores, powered=powered(given, model, asked, rules, baseline=baseline, alpha=alpha))


def read_model_labels(
    thing: Any,
    grading: Mapping[str, Any] | None = None,
    certificate: Any = None,
    *,
    qrels_format: str | None = None,
    comments: bool = False,
) -> Qrels:
    """Labels that a model made, from a file or a table; those that no card tells of are taken to be so.

    Raises
    ------
    UsageError: some are people's. InputError: as `leadline.formats.read.read_qrels`.
    """
    scale = dict(grading or {})
    if isinstance(thing, (str, Path)):
        found = read_qrels(thing, input_format=qrels_format, comments=comments, **scale)
        card = None if str(thing) == "-" else read_card(thing)
        if card is not None and card.kind == "person":
            raise UsageError(f"{printable(str(thing))}: its card says that people made these labels")
    else:
        found = qrels_of(thing, **scale)
    if 0 < found.models < len(found.rows.number):
        raise UsageError(
            f"{printable(found.source)}: {found.models} of {len(found.rows.number)} labels are a model's: "
            "the model's labels must stand alone, also on the queries that people judged"
        )
    found = found if certificate is None else with_certificate(found, certificate)
    return replace(found, models=len(found.rows.number))


def powered(
    given: Inputs,
    model: Qrels,
    asked: Mapping[str, Measure],
    rules: Conventions,
    *,
    baseline: str | None = None,
    alpha: float = 0.05,
) -> PoweredScores:
    """What people's labels (`given.qrels`) and a model's say together of each measure, by the same conventions.

    With a `baseline` the rows are differences of the other systems from it. A measure that is no mean over queries is left out.

    Raises
    ------
    UsageError: people's labels that are a model's. InputError: fewer than 20 queries that both judged, or none that the
        model alone judged. UnknownNameError: no such baseline.
    """
    if given.qrels.models:
        raise UsageError(
            f"{printable(given.qrels.source)}: {amount(given.qrels.models, 'label')} of a model among those "
            "that must be people's"
        )
    names = [run.name for run in given.runs]
    if baseline is not None and baseline not in names:
        raise UnknownNameError("system", baseline, names)
    human_ids, model_ids = _ids(given.qrels), _ids(model)
    both, alone = human_ids & model_ids, model_ids - human_ids
    _check(both, alone, human_ids)
    means = {
        text: one for text, one in asked.items() if one.definition and one.definition.aggregate == "mean"
    }
    left_out = tuple(dict.fromkeys(str(one) for text, one in asked.items() if text not in means))
    if not means:
        raise UsageError(f"{', '.join(left_out)}: no mean over queries, so there is no difference to correct")
    # One scale for both, or a measure that reads its top would not be the same measure.
    top = max(given.qrels.top_grade(), model.top_grade())
    by_people, by_model = (
        score(replace(given, qrels=replace(table, max_grade=top)), means, rules)
        for table in (given.qrels, model)
    )
    rows = [
        _row(by_people, by_model, measure, name, baseline, alpha)
        for measure in by_people.measures
        for name in names
        if name != baseline
    ]
    counts = _labels_a_query(model, both)
    found = certified(model)
    return PoweredScores(
        tuple(rows),
        len(both),
        len(human_ids - model_ids),
        len(alone),
        counts,
        "" if found is None else found["sentence"],
        tuple(judge.to_dict() for judge in model.judges),
        left_out,
    )


def _ids(qrels: Qrels) -> set[str]:
    """The queries of the judgments, in which each document must count for itself, as it does in the other side's."""
    return set(qrels.one_by_one("a model's labels beside people's").frame["query_id"].unique().to_list())


def _check(both: set[str], alone: set[str], human: set[str]) -> None:
    """Refuse what cannot be corrected, or needs no correction."""
    if len(both) < LEAST_LABELLED:
        raise InputError(
            f"{amount(len(both), 'query', 'queries')} with labels of people and of the model (people judged "
            f"{len(human)}): at least {LEAST_LABELLED} are needed, since from fewer the model's error cannot be told"
        )
    if not alone:
        raise InputError("no query that the model alone judged, so its labels add nothing: leave --ppi out")


def _labels_a_query(model: Qrels, both: set[str]) -> tuple[float, float]:
    """How many labels the model gave a query: where people judged too, and elsewhere."""
    counts = dict(model.frame["query_id"].value_counts().iter_rows())
    groups = ([n for q, n in counts.items() if (q in both) == labelled] for labelled in (True, False))
    labelled, others = (sum(group) / len(group) for group in groups)
    return labelled, others


def _values(scores: Scores, measure: str, name: str, baseline: str | None) -> dict[str, float]:
    """The value of each query, or its difference from the baseline; NaN where there is none."""
    own = _by_query(scores.cell(measure, name))
    if baseline is None:
        return own
    other = _by_query(scores.cell(measure, baseline))
    found = {query: value - other[query] for query, value in own.items() if query in other}
    return {query: 0.0 if abs(value) < SAME else value for query, value in found.items()}


def _by_query(cell: Cell) -> dict[str, float]:
    return dict(zip(cell.query_ids, cell.values.tolist(), strict=True))


def _row(
    by_people: Scores, by_model: Scores, measure: str, name: str, baseline: str | None, alpha: float
) -> Powered:
    """One measure of one system, or of its difference from the baseline."""
    human, judge = (_values(scores, measure, name, baseline) for scores in (by_people, by_model))
    labelled = [query for query in human if query in judge]
    others = [query for query in judge if query not in human]
    used = [q for q in labelled if not (math.isnan(human[q]) or math.isnan(judge[q]))]
    rest = [q for q in others if not math.isnan(judge[q])]
    y, f, g = (
        np.array([table[q] for q in ids], float)
        for table, ids in ((human, used), (judge, used), (judge, rest))
    )
    level = 1 - alpha
    found = prediction_powered_mean(y, f, g, level=level)
    one_sided = prediction_powered_mean(y, f, g, level=1 - 2 * alpha).interval
    return Powered(
        measure,
        name,
        baseline,
        _ends(found.interval, found.estimate),
        _ends(found.human_only),
        _ends(t_interval(np.concatenate([f, g]), level)),
        level,
        one_sided.low,
        found.lam,
        found.n_unlabelled,
        found.rectifier,
        found.correlation,
        found.gain,
        len(labelled) - len(used),
        len(others) - len(rest),
        found.interval.reason or found.reason,
        _remarks(f, g),
    )


def _ends(found: Interval, estimate: float | None = None) -> Ends:
    return Ends(found.estimate if estimate is None else estimate, found.low, found.high, found.n)


def _remarks(labelled: Floats, others: Floats) -> tuple[str, ...]:
    """Whether the queries that people judged look like the others, as far as the model's values can tell."""
    spreads: Sequence[float | None] = (deviation(labelled), deviation(others))
    if len(labelled) < 2 or len(others) < 2 or not any(spreads):
        return ()
    error = math.sqrt(
        sum((sd or 0.0) ** 2 / len(row) for sd, row in zip(spreads, (labelled, others), strict=True))
    )
    first, second = float(labelled.mean()), float(others.mean())
    if abs(first - second) <= FAR * error:
        return ()
    return (
        f"by the model's labels the queries that people judged have {first:.4f} and the others {second:.4f}, "
        f"{abs(first - second) / error:.1f} standard errors apart: are they a random sample?",
    )
