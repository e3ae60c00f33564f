"""The gate: a candidate's run against a pinned baseline under a policy, from tables to the verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import polars as pl

from leadline.comparison import Design, compare
from leadline.conventions import Conventions
from leadline.errors import EmptyInputError, NotComparableError, UsageError, amount, printable
from leadline.evaluation import score
from leadline.gating.baseline import Baseline, JudgmentChange, judgments_since
from leadline.gating.certified import margins, refused, said_of_labels
from leadline.gating.comparable import why_not_comparable
from leadline.gating.completions import TwoRankings, not_weighed
from leadline.gating.doubt import Doubt
from leadline.gating.finding import (
    FAIL,
    JUDGE_FIRST,
    NOT_COMPARABLE,
    TOO_FEW,
    TOO_MANY_ERRORS,
    Finding,
)
from leadline.gating.judge_first import doubt
from leadline.gating.must_pass import MustPass, must_pass
from leadline.gating.next_steps import certify_first, gate_again, pin_again
from leadline.gating.policy import Policy, Rule
from leadline.gating.rules import decide, exit_code, findings
from leadline.gating.worst import WorstQuery, worst_queries
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.merging import with_alternatives
from leadline.movement import heads_of
from leadline.scores import Comparison, Scores, Verdict
from leadline.spelling import parse
from leadline.tables import Qrels, Queries, RunSource

SHOWN_DEPTH = 20
"""How deep the rankings are that a page shows side by side."""
MESSAGES, FAILED = 3, 5
"""How many messages of failed rows a report names, and how many of the queries that each stopped."""


@dataclass(frozen=True)
class GateReport:
    """What a gate found, for every format.

    Attributes
    ----------
    verdict, policy: as they say. baseline: its name, "" where there is none. findings: one a rule; empty where it
    never came to the rules. comparisons: those the rules were read off. doubts: of each rule. scores: of both
    systems, None where nothing could be scored.
    must_pass: what became of the queries that must pass.
    change: what became of the judgments. gated: how often the baseline was gated against, this time included.
    worst: the worst queries of the measure the verdict rests on. rankings: the first documents of both systems, to
    depth 20, as `ranking.head` gives them; query_ids and texts go with them. command: how to do it again. labels: the
    judgments, None where they could not be read.
    """

    verdict: Verdict
    policy: Policy
    baseline: str
    candidate: str
    findings: tuple[Finding, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    doubts: Mapping[Rule, Doubt] | None = None
    scores: Scores | None = None
    change: JudgmentChange | None = None
    gated: int = 0
    must_pass: MustPass = field(default_factory=MustPass)
    worst: tuple[WorstQuery, ...] = ()
    rankings: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    query_ids: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    labels: Qrels | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of `leadline gate`."""
        return exit_code(self.verdict, self.policy)

    @property
    def to_judge(self) -> list[dict[str, Any]]:
        """The pairs to judge, most decisive first, each once; with the rule that asks for it."""
        rows: dict[tuple[str, str], dict[str, Any]] = {
            (one.query_id, one.doc_id): {**one.to_dict(), "rule": "must pass"} for one in self.must_pass.pairs
        }
        for rule, found in (self.doubts or {}).items():
            for pair in found.pairs if found.judge_first else ():
                rows.setdefault((pair.query_id, pair.doc_id), {**pair.to_dict(), "rule": rule.name})
        return list(rows.values())


def gate(
    given: Inputs,
    baseline: Baseline,
    policy: Policy,
    rules: Conventions | None = None,
    *,
    accept_changed_judgments: bool = False,
    gated: int = 0,
    corpus: str | None = None,
    files: Mapping[str, str] | None = None,
) -> GateReport:
    """Gate one candidate.

    Parameters
    ----------
    given: the candidate's run (one), today's judgments, and the queries where texts or slices are asked for.
    rules: the switches; by default the policy's. gated: how often the baseline was gated against, this included.
    corpus: what is known of the documents since the baseline, to stand among the reasons.

    Raises
    ------
    UsageError: not one run, or a slice without the table of queries. RowsError: a wrong run.
    """
    if len(given.runs) != 1:
        raise UsageError(f"the gate takes one candidate, and got {len(given.runs)}")
    rules = rules or policy.conventions()
    candidate = given.runs[0]
    change = judgments_since(baseline, given.qrels)
    notes = [*change.notes(), *_unweighed(policy, rules), *([corpus] if corpus else [])]
    notes += said_of_labels(given.qrels, policy, rules)
    notes += [f"gated against this baseline: {gated} times"] if gated > 1 else []
    uncertified = refused(given.qrels, policy, rules)
    reasons = uncertified or why_not_comparable(
        baseline,
        given.qrels,
        list(policy.parsed.values()),
        rules,
        query_texts=_texts(given.queries),
        accept_changed_judgments=accept_changed_judgments,
    )
    name = baseline.system if baseline.system != candidate.name else f"{baseline.system}-baseline"
    empty = GateReport(Verdict("", "", ""), policy, name, candidate.name, change=change, gated=gated)
    empty = replace(empty, labels=given.qrels)
    try:
        both = given if reasons else replace(given, runs=(_pinned(baseline, name, given, rules), candidate))
    except (NotComparableError, EmptyInputError) as error:
        reasons = (str(error),)
    if reasons:
        return replace(empty, verdict=_barred(empty, reasons, bool(uncertified), notes, files))
    try:
        scores = score(both, policy.parsed, rules, seed=policy.seed, hash_inputs=True)
        for run in both.runs:
            # An index without documents answers every query with nothing: that is no result.
            if not scores.account["systems"][run.name]["rows"] and not run.failed:
                raise NotComparableError(f"{printable(run.name)} returned no document for any query")
    except (NotComparableError, EmptyInputError) as error:
        return replace(empty, verdict=_closed(policy, str(error), notes, files))
    return _judged(empty, both, scores, rules, notes, files)


def unscored(
    policy: Policy,
    candidate: str,
    reason: str,
    files: Mapping[str, str] | None = None,
    *,
    baseline: str = "",
    gated: int = 0,
) -> GateReport:
    """The report of a gate that had nothing to score: no baseline (""), or one and an empty file.

    It is an outcome, not-comparable, like any other, so that every format can say it.
    """
    verdict = _closed(policy, reason, (), files)
    if not baseline:
        verdict = replace(verdict, next=pin_again(files or {}))
    return GateReport(verdict, policy, baseline, candidate, gated=gated)


def _closed(policy: Policy, reason: str, notes: Sequence[str], files: Mapping[str, str] | None) -> Verdict:
    """Not comparable for what the candidate or a file lacks: that is to be put right, and the gate run again."""
    closed = decide([], policy, not_comparable=[reason], notes=notes, files=files)
    return replace(closed, next=gate_again(files or {}))


def _barred(
    empty: GateReport,
    reasons: Sequence[str],
    uncertified: bool,
    notes: Sequence[str],
    files: Mapping[str, str] | None,
) -> Verdict:
    """Not comparable: a model's labels must be certified first; changed judgments may be accepted."""
    closed = decide([], empty.policy, not_comparable=reasons, notes=notes, files=files)
    if uncertified:
        return replace(closed, next=certify_first(files or {}, margins(empty.policy)))
    if empty.change is not None and reasons == empty.change.reasons():
        accepted = gate_again(files or {}, "--accept-changed-judgments")
        return replace(closed, next=(*closed.next, *accepted))
    return closed


def _judged(
    empty: GateReport,
    both: Inputs,
    scores: Scores,
    rules: Conventions,
    notes: Sequence[str],
    files: Mapping[str, str] | None,
) -> GateReport:
    """The report of two systems that could be scored."""
    policy, name, candidate = empty.policy, empty.baseline, empty.candidate
    slices = _slices(policy, both.queries)
    rows = _comparisons(scores, name, candidate, policy, slices)
    judged = Judged.of(both.qrels)

    @cache
    def rankings(measure: str) -> TwoRankings:
        return TwoRankings.of(both.runs[0], both.runs[1], judged, parse(measure), rules)

    doubts = {} if rules.complete else _doubts(rankings, policy, rows, slices)
    fell = must_pass(scores, policy, name, candidate, None if rules.complete else rankings)
    verdict = decide(
        rows,
        policy,
        judge_first=doubts,
        must_pass_failed=fell.failed,
        must_pass_open=fell.open,
        notes=notes,
        files=files,
    )
    report = replace(
        empty,
        verdict=verdict,
        comparisons=tuple(rows),
        scores=scores,
        rankings=heads_of(both.runs, {run.name: judged for run in both.runs}, rules, SHOWN_DEPTH),
        query_ids=judged.query_ids,
        texts=_texts(both.queries),
    )
    if verdict.outcome == TOO_MANY_ERRORS:
        told = [line for run in both.runs for line in _said_of_failed(run)]
        first, *others = verdict.reasons
        return replace(report, verdict=replace(verdict, reasons=(first, *told, *others)))
    if verdict.outcome == NOT_COMPARABLE:
        return report
    found = findings(rows, policy, judge_first=doubts)
    measure = rests_on(found).rule.measure
    return replace(
        report,
        findings=found,
        doubts=doubts,
        must_pass=fell,
        worst=worst_queries(both, scores, measure, rules, report.texts),
    )


def _unweighed(policy: Policy, rules: Conventions) -> list[str]:
    """What is to be said of measures of which no judging can be made up: of subtopics."""
    return [not_weighed(one) for one in policy.parsed.values() if one.of_subtopics and not rules.complete]


def _said_of_failed(run: RunSource) -> list[str]:
    """The queries whose row is an error, by their messages."""
    by_message: dict[str, list[str]] = {}
    for query_id, message in run.failed.items():
        by_message.setdefault(message, []).append(query_id)
    said = []
    for message, ids in sorted(by_message.items(), key=lambda item: -len(item[1]))[:MESSAGES]:
        more = f" and {len(ids) - FAILED} more" if len(ids) > FAILED else ""
        said.append(f"{run.name}: {message}: {', '.join(ids[:FAILED])}{more}")
    rest = len(by_message) - MESSAGES
    return said + ([f"{run.name}: and {amount(rest, 'other message')}"] if rest > 0 else [])


def _pinned(baseline: Baseline, name: str, given: Inputs, rules: Conventions) -> RunSource:
    """The baseline's run. Its ids are documents already; the alternatives are those of today's judgments."""
    return with_alternatives(_named(baseline.run(), name), given.qrels, rules)


def _named(run: RunSource, name: str) -> RunSource:
    """The run under another name; every run is a dataclass."""
    return run if run.name == name else replace(run, name=name)  # type: ignore[type-var]


def _texts(queries: Queries | None) -> dict[str, str]:
    if queries is None or "text" not in queries.frame.columns:
        return {}
    return {query: text for query, text in queries.column("text").items() if text is not None}


def _slices(policy: Policy, queries: Queries | None) -> dict[str | None, set[str] | None]:
    """The query ids of each slice that a rule names; None is all."""
    out: dict[str | None, set[str] | None] = {None: None}
    if policy.by is None or all(rule.slice is None for rule in policy.rules):
        return out
    if queries is None:
        raise UsageError(
            f"a rule names a slice of {policy.by}: the table with that column is needed (queries = …)"
        )
    for query, label in queries.column(policy.by).items():
        own = out.setdefault(label or "(none)", set())
        assert own is not None
        own.add(query)
    for rule in policy.rules:
        if rule.slice not in out:
            known = ", ".join(sorted(str(one) for one in out if one is not None))
            raise UsageError(f"rule on {rule.name}: no query has that {policy.by}; there are {known}")
    return out


def _comparisons(
    scores: Scores,
    baseline: str,
    candidate: str,
    policy: Policy,
    slices: Mapping[str | None, set[str] | None],
) -> list[Comparison]:
    """The comparison that each rule is read off, at its own alpha and on its own slice."""
    rows: list[Comparison] = []
    for alpha, part in dict.fromkeys((rule.alpha, rule.slice) for rule in policy.rules):
        measures = {r.measure for r in policy.rules if (r.alpha, r.slice) == (alpha, part)}
        design = Design(alpha=alpha, seed=policy.seed)
        found = compare(scores, baseline, [candidate], design, queries=slices[part], group=part)
        rows += [row for row in found if row.measure in measures]
    return rows


def _doubts(
    rankings: Callable[[str], TwoRankings],
    policy: Policy,
    rows: Sequence[Comparison],
    slices: Mapping[str | None, set[str] | None],
) -> dict[Rule, Doubt]:
    """What judging could change, rule by rule; nothing is asked where no judging can be made up."""
    out = {}
    for rule in policy.rules:
        if not parse(rule.measure).can_be_completed:
            continue
        own = next(
            row
            for row in rows
            if (row.measure, row.group) == (rule.measure, rule.slice)
            and abs(row.level - 1 + rule.alpha) < 1e-9
        )
        ids = slices[rule.slice]
        queries = None if ids is None else sorted(ids)
        out[rule] = doubt(rankings(rule.measure), rule, comparison=own, queries=queries, seed=policy.seed)
    return out


def rests_on(found: Sequence[Finding]) -> Finding:
    """The finding that a verdict rests on: the first that failed, else the first undecided, else the first."""
    for outcome in (FAIL, JUDGE_FIRST, TOO_FEW):
        for one in found:
            if one.outcome == outcome:
                return one
    return found[0]
