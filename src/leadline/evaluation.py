"""Evaluation: runs and judgments in, Scores out."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leadline.account import heading, qrels_account, subtopic_remarks, system_account, warnings
from leadline.conventions import Conventions, conventions
from leadline.errors import InputError, NotComparableError, UsageError, amount, printable
from leadline.hits import Flags, Floats, Hits
from leadline.inputs import OF_TEXT, Inputs, gather
from leadline.machine import spare_addresses
from leadline.measure import Measure
from leadline.measures.bounds import bounds as bounds_of
from leadline.measures.bounds import mean_bounds
from leadline.measures.sampled import strata_of
from leadline.measures.ties import closed_form
from leadline.passages.against import Passages
from leadline.ranking import head, rank
from leadline.scores import ERROR, SCORED, UNANSWERED, UNDEFINED, Cell, Scores, Summary
from leadline.spelling import parse_all
from leadline.stats.intervals import Interval, bootstrap_interval, deviation, mean_interval, t_interval
from leadline.tables import Conflicts, Qrels, RunSource

GMAP_FLOOR = 0.00001
"""The floor of each AP in GMAP, as in trec_eval (MIN_GEO_MEAN)."""


def default_measures(k: int | None = None) -> str:
    """The measures of an evaluation that names none; `k` is the cutoff that the next stage consumes.

    >>> default_measures(8)
    'nDCG@8 R@8 P@8 Success@8 RR AP Judged@8'
    """
    if k is None:
        return "nDCG@10 R@5 R@10 P@5 Success@5 RR AP Judged@10"
    return f"nDCG@{k} R@{k} P@{k} Success@{k} RR AP Judged@{k}"


def evaluate(
    run: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[Any] | None = None,
    *,
    queries: Any = None,
    by: str | None = None,
    k: int | None = None,
    profile: str = "leadline-1",
    bounds: bool = False,
    interval: str = "auto",
    seed: int = 0,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
    input_format: str | None = None,
    qrels_format: str | None = None,
    hash_inputs: bool = False,
    average: str | None = None,
    watch: Callable[[RunSource], RunSource] | None = None,
    evidence: Any = None,
    certificate: Any = None,
    **switches: Any,
) -> Scores:
    """Measure one or more runs against graded judgments.

    Parameters
    ----------
    run: a path (`NAME=PATH` names the system), a dict of dict or of list, a pandas, Polars or Arrow frame, an
        iterable of rows, a `Run`, or a list (or dict by name) of these for several systems.
    qrels: the same kinds; not where rows carry references, or for `evidence`; see `leadline.inputs` for `documents` too.
    measures: texts such as `"nDCG@10 R@5"`, a list of them, or objects of ir_measures.
    queries, by: a table of queries and the column to slice by.
    k: the cutoff of the default measures. profile, switches: see `leadline.conventions`, and `collapse_mapping`.
    average: which queries count, `judged` or `intersection` (default: the profile's).
    bounds: also give the least and greatest value that unjudged documents could lead to.
    interval: `auto` (Student's t, Wilson for yes/no measures) or `bootstrap` (percentile, by `seed`).
    conflicts, grade_map, max_grade: see `leadline.tables.Qrels.checked`.
    hash_inputs: record each file's SHA-256. watch: wraps each run as it is read. certificate: of a model's labels.

    Raises
    ------
    UsageError, InputError: the call or a file is wrong. NotComparableError: no query in common.

    >>> evaluate({"q": ["d1", "d2"]}, {"q": {"d2": 1}}, ["RR", "P@1"]).mean("RR")
    0.5
    """
    spare_addresses()
    more = _taken_out(switches)
    rules = conventions(profile, queries=average, **switches)
    asked = parse_all(default_measures(k) if measures is None else measures, rules)
    rng = _resampling(interval, seed)
    grading = {"conflicts": conflicts, "grade_map": grade_map, "max_grade": max_grade}
    more |= {"input_format": input_format, "qrels_format": qrels_format}
    more |= {"certificate": certificate, "subtopics": any(one.of_subtopics for one in asked.values())}
    given = gather(run, qrels, queries, rules, grading=grading, evidence=evidence, **more)
    if watch is not None:
        given = replace(given, runs=tuple(watch(one) for one in given.runs))
    return score(given, asked, rules, by=by, with_bounds=bounds, rng=rng, seed=seed, hash_inputs=hash_inputs)


def _resampling(interval: str, seed: int) -> "np.random.Generator | None":
    """What the bootstrap draws from; None where it is not asked for."""
    if interval not in ("auto", "bootstrap"):
        raise UsageError(f"interval {interval!r} is not one of auto, bootstrap")
    return np.random.default_rng(seed) if interval == "bootstrap" else None


def _taken_out(switches: dict[str, Any]) -> dict[str, Any]:
    """What goes with `gather` and is no switch; it is taken out of them."""
    of_text = {name: switches.pop(name) for name in OF_TEXT if name in switches}
    return {"of_text": of_text, "mapping": switches.pop("collapse_mapping", None)}


def score(
    given: Inputs,
    asked: Mapping[str, Measure],
    rules: Conventions,
    *,
    by: str | None = None,
    with_bounds: bool = False,
    rng: "np.random.Generator | None" = None,
    seed: int = 0,
    hash_inputs: bool = False,
) -> Scores:
    """The scores of tables that are ready; `evaluate` is the door for everything else."""
    measures = list(dict.fromkeys(asked.values()))
    if given.passages is not None:
        # Text that nobody marked is no evidence.
        rules = replace(rules, complete=True)
    _check_gains(measures, given.qrels)
    of_text = _of_text(measures, given)
    judged = (judgments := given.judged())[given.runs[0].name]
    if any(measure.sampled for measure in measures):
        strata_of(judged)
    cutoffs = sorted(
        {int(m.cutoff) for m in measures if isinstance(m.cutoff, int) and m.cutoff >= 1 and m.name != "IPrec"}
    )
    slices = _slices(given, by, judged.query_ids)
    cells: list[Cell] = []
    summaries: list[Summary] = []
    systems: dict[str, dict[str, Any]] = {}
    for run in given.runs:
        hits = rank(run, judgments[run.name], rules, cutoffs)
        if given.passages is not None:
            hits = _with_passages(hits, run, given.passages, rules, of_text, max(cutoffs, default=10))
        counted = _counted(hits, rules, run.name)
        systems[run.name] = system_account(hits, counted, cutoffs or [10], getattr(run, "told", {}))
        names = [query_id for query_id, use in zip(judged.query_ids, counted.tolist(), strict=True) if use]
        for measure in measures:
            values, states = _values(measure, hits, rules)
            limits = _limits(measure, hits, rules) if with_bounds else None
            cells.append(Cell(run.name, str(measure), names, values[counted], states[counted]))
            for group, inside in slices.items():
                chosen = counted & inside
                row = _summary(measure, hits, values, states, chosen, limits, rng)
                summaries.append(Summary(run.name, str(measure), group=group, **row))
    account: dict[str, Any] = {"qrels": qrels_account(given.qrels, judged), "systems": systems}
    if given.passages is not None:
        account["evidence"] = given.passages.account()
    told = [*subtopic_remarks(measures, judged, with_bounds), *_remarks(given, account)]
    return Scores(
        tuple(cells),
        tuple(summaries),
        account,
        rules.to_dict() | {"order_rule": rules.order_rule()},
        given.described(hash_inputs, {name: systems[name]["rows"] for name in systems}),
        (*warnings(summaries, systems, account["qrels"], rules, measures), *told),
        seed if rng is not None else None,
        {str(m): heading(m, judged.ideal.max(initial=0)) for m in measures},
        {text: str(m) for text, m in asked.items()},
    )


def _of_text(measures: Sequence[Measure], given: Inputs) -> list[Measure]:
    """The measures that are taken of ranges of text, for which evidence must be given."""
    found = [one for one in measures if one.definition is not None and one.definition.needs == "evidence"]
    if found and given.passages is None:
        raise UsageError(
            f"{found[0]} is measured against evidence: evaluate and compare take --evidence E --chunks C"
        )
    return found


def _remarks(given: Inputs, account: Mapping[str, Any]) -> list[str]:
    of_evidence = [] if given.passages is None else given.passages.remarks(account["evidence"])
    return [*of_evidence, *given.notes]


def _with_passages(
    hits: Hits,
    run: RunSource,
    passages: Passages,
    rules: Conventions,
    of_text: Sequence[Measure],
    deepest: int,
) -> Hits:
    """The hits with the ranges of text that were returned, down to rank `deepest`."""
    tokens = any(measure.value("weight") == "tokens" for measure in of_text)
    top = head(run, hits.judged, rules, min(deepest, rules.depth or deepest))
    return replace(hits, passages=passages.retrieved(run.name, top, hits.judged, with_tokens=tokens))


def _values(measure: Measure, hits: Hits, rules: Conventions) -> tuple[Floats, Any]:
    """The value and state of every judged query."""
    definition = measure.definition
    assert definition is not None
    condensed = measure.has("judged_only") and measure.value("judged_only")
    view = hits.condensed() if condensed else hits
    function = (closed_form(measure) if rules.ties == "expected" else None) or definition.function
    values = np.asarray(function(view, measure.cutoff, **measure.arguments()), float)
    undefined = np.isnan(values)
    if rules.undefined == "zero" and definition.needs_relevant:
        values = np.where(undefined, 0.0, values)
        undefined = np.isnan(values)
    silent = ~hits.answered & ~hits.failed
    if definition.aggregate != "sum":
        values = np.where(silent & ~undefined, 0.0, values)
    states = np.full(hits.queries, SCORED, np.uint8)
    states[silent] = UNANSWERED
    states[undefined] = UNDEFINED
    states[hits.failed] = ERROR
    return np.where((states == ERROR) | undefined, np.nan, values), states


def _counted(hits: Hits, rules: Conventions, name: str) -> Flags:
    """Which judged queries count in the mean, by the convention."""
    present = hits.answered | hits.failed
    if not present.any():
        few = hits.judged.query_ids[:3]
        texts = any(" " in one for one in few)
        hint = "; where one file names queries by their text, --queries FILE gives the ids" if texts else ""
        raise NotComparableError(
            f"{printable(name)}: none of its {hits.counts['queries']} queries is judged; "
            f"its ids and those of the qrels ({printable(', '.join(few))}, …) do not meet{hint}"
        )
    if rules.queries == "exact" and not present.all():
        missing = [q for q, there in zip(hits.judged.query_ids, present.tolist(), strict=True) if not there]
        count = amount(len(missing), "judged query", "judged queries")
        raise NotComparableError(
            f"{printable(name)}: missing from the run: {count} ({printable(', '.join(missing[:3]))}); "
            "trec_eval 10 stops here: --queries judged counts them as 0, --queries intersection leaves them out"
        )
    return present if rules.queries == "intersection" else np.ones(hits.queries, bool)


def _summary(
    measure: Measure,
    hits: Hits,
    values: Floats,
    states: Any,
    chosen: Flags,
    limits: Any,
    rng: "np.random.Generator | None",
) -> dict[str, Any]:
    """One row of the summary over the chosen queries."""
    definition = measure.definition
    assert definition is not None
    states = states[chosen]
    used = values[chosen][(states == SCORED) | (states == UNANSWERED)]
    found = _aggregate(definition.aggregate, used, rng)
    errors = int((states == ERROR).sum())
    row: dict[str, Any] = {
        "mean": found.estimate,
        "low": found.low,
        "high": found.high,
        "interval": found.method if found.low is not None else None,
        "sd": deviation(used),
        "ceiling": _ceiling(measure, hits, chosen & ~np.isnan(values)),
        "n_queries": int(chosen.sum()),
    }
    for name, code in (
        ("scored", SCORED),
        ("unanswered", UNANSWERED),
        ("undefined", UNDEFINED),
        ("error", ERROR),
    ):
        row[f"n_{name}"] = int((states == code).sum())
    if errors and definition.aggregate == "mean":
        row["error_low"] = float(used.sum() / (len(used) + errors))
        row["error_high"] = (
            float((used.sum() + errors * definition.high) / (len(used) + errors)) if definition.high else None
        )
    if limits is not None:
        low, high, may_drop, sharp = limits
        if definition.aggregate == "mean" and not np.isnan(low[chosen]).all():
            row["bound_low"], row["bound_high"] = mean_bounds(low[chosen], high[chosen], may_drop[chosen])
            row["bound_kind"] = "sharp" if sharp else "outer"
    return row


def _aggregate(how: str, used: Floats, rng: "np.random.Generator | None") -> Interval:
    if how == "sum":
        return Interval(float(used.sum()), None, None, 0.95, "sum", len(used))
    if how == "geometric":
        logs = t_interval(np.log(np.maximum(used, GMAP_FLOOR)))
        back = [None if end is None else math.exp(end) for end in (logs.estimate, logs.low, logs.high)]
        return Interval(back[0], back[1], back[2], logs.level, "t (log scale)", logs.n, logs.reason)
    return mean_interval(used) if rng is None else bootstrap_interval(used, rng)


def _limits(measure: Measure, hits: Hits, rules: Conventions) -> tuple[Floats, Floats, Flags, bool]:
    """The bounds of every query, and which of them more judging could leave undefined.

    None where a query failed, and none of a value that is averaged over ties.
    """
    assert measure.definition is not None
    low, high, sharp = bounds_of(measure, hits)
    none = np.full(hits.queries, rules.ties == "expected" and closed_form(measure) is not None) | hits.failed
    undefined = np.isnan(measure.definition.function(hits, measure.cutoff, **measure.arguments()))
    may_drop = undefined & ~np.isnan(low)
    if (
        rules.undefined == "zero"
        and measure.definition.needs_relevant
        and measure.definition.bounds != "none"
    ):
        # As judged such a query counts 0, and where no judgment could define it, it stays 0.
        low, high = np.where(undefined, 0.0, low), np.where(undefined & np.isnan(high), 0.0, high)
        may_drop = np.zeros(hits.queries, bool)
    return np.where(none, np.nan, low), np.where(none, np.nan, high), may_drop & ~none, sharp


def _ceiling(measure: Measure, hits: Hits, chosen: Flags) -> float | None:
    """The greatest mean that the cutoff allows recall: the mean of min(1, k/R)."""
    if measure.name != "R" or not chosen.any():
        return None
    relevant = hits.relevant(measure.value("rel"))[chosen]
    assert measure.cutoff is not None
    return float(np.minimum(1.0, measure.cutoff / np.maximum(relevant, 1)).mean())


def _slices(given: Inputs, by: str | None, query_ids: Sequence[str]) -> dict[str | None, Flags]:
    """All queries, and each value of the column `by`; a query without one is in the slice `(none)`."""
    slices: dict[str | None, Flags] = {None: np.ones(len(query_ids), bool)}
    if by is None:
        return slices
    if given.queries is None:
        raise UsageError(f"--by {by} needs the table with that column: --queries FILE")
    column = given.queries.column(by)
    labels = [column.get(query_id) or "(none)" for query_id in query_ids]
    if set(labels) == {"(none)"}:
        raise InputError(
            f"{printable(given.queries.source)}: no judged query has a {by!r}; do the query ids meet?"
        )
    for label in sorted(set(labels)):
        slices[label] = np.array([own == label for own in labels])
    return slices


def _check_gains(measures: Sequence[Measure], qrels: Qrels) -> None:
    """Refuse the gain 2^g − 1 for fractions and for grades above 10, where it cannot be meant."""
    grade = qrels.rows.number
    wrong = grade[(grade % 1 != 0) | (grade > 10)]
    if not len(wrong):
        return
    for measure in measures:
        exponential = measure.name == "ERR" or (measure.has("gain") and measure.value("gain") == "exp2")
        if exponential:
            how = " (a rule for conflicts made it)" if qrels.resolved else ""
            raise UsageError(
                f"{measure}: the gain 2^g − 1 is for whole grades up to 10; "
                f"{printable(qrels.source)} holds grade {wrong[0]:g}{how}. "
                f"Write {measure.name}(gain=linear), or map the scale: --grade-map 1=0,10=1,40=2,100=3"
            )
