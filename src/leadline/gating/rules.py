"""The verdict on any comparison: the only place that decides.

Everything is read off the ends of intervals that a `Comparison` carries; nothing is estimated here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError, amount
from leadline.gating.doubt import Doubt
from leadline.gating.finding import (
    FAIL,
    JUDGE_FIRST,
    LEAST_QUERIES,
    NOT_COMPARABLE,
    PASS,
    TOO_FEW,
    TOO_MANY_ERRORS,
    Finding,
)
from leadline.gating.holm import holm_rejects, p_below
from leadline.gating.next_steps import next_commands
from leadline.gating.policy import Policy, Rule, rule_on
from leadline.gating.sentences import (
    headline,
    points,
    rule_line,
    said_of_counts,
    said_of_needed,
    said_of_remarks,
    said_of_smallest_margin,
    shorter,
    thousandths,
)
from leadline.scores import Comparison, Verdict


def released(rule: Rule, low: npt.ArrayLike, high: npt.ArrayLike, n: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """What the one-sided ends say of a rule, before Holm: 1 pass, −1 fail, 0 undecided; shaped as the ends.

    Pass if the lower end is above the rule's bar (−margin, or the gain); fail if the upper end is below −margin,
    or at or below the gain of `improve`; undecided otherwise and below 20 queries.
    Source: one-sided confidence limits against a fixed margin (Schuirmann 1987; Blackwelder 1982).

    >>> released(Rule("R@5", 0.01), [-0.005, -0.08, -0.03], [0.02, -0.02, 0.02], 50).tolist()
    [1, -1, 0]
    """
    lower, upper = np.asarray(low, float), np.asarray(high, float)
    below = upper <= rule.bar if rule.must == "improve" else upper < rule.bar
    word = np.where(lower > rule.bar, 1, np.where(below, -1, 0))
    return np.where(np.asarray(n) < LEAST_QUERIES, 0, word).astype(np.int8)


def effect_of(comparison: Comparison, margin: float) -> str:
    """The effect: better (interval above 0), worse (below 0), no-worse (one-sided end above −margin), unclear.

    Below 20 queries it is unclear. Where no query differs it is no-worse at every margin.
    """
    c = comparison
    if c.n >= LEAST_QUERIES and c.n_nonzero == 0:
        return "no-worse"
    if c.n < LEAST_QUERIES or c.low is None or c.high is None:
        return "unclear"
    if c.low > 0:
        return "better"
    if c.high < 0:
        return "worse"
    return "no-worse" if c.one_sided_low is not None and c.one_sided_low > -margin else "unclear"


def findings(
    comparisons: Sequence[Comparison],
    policy: Policy,
    *,
    judge_first: Mapping[Rule, Doubt] | None = None,
) -> tuple[Finding, ...]:
    """What each rule of the policy comes to, in the policy's order.

    Each rule is read at its own alpha (intersection–union, Berger 1982); a fail must also stand after Holm's
    correction over the rules (Holm 1979), else it is undecided and says so.

    Parameters
    ----------
    comparisons: one for each rule: its measure, its slice (`group`) and level 1 − alpha; others are not read.
    judge_first: the doubt about each rule that has one; ignored where the policy says `judgments = "complete"`.

    Raises
    ------
    UsageError: a rule has no comparison at its level.
    """
    doubts = {} if policy.judgments == "complete" else dict(judge_first or {})
    chosen = [(rule, _of_rule(rule, comparisons)) for rule in policy.rules]
    ps = [p_below(c, rule.bar) for rule, c in chosen]
    stands = holm_rejects(ps, [rule.alpha for rule in policy.rules])
    out = []
    for (rule, c), p, stays in zip(chosen, ps, stands, strict=True):
        doubt = doubts.get(rule)
        outcome, held_back = _outcome(rule, c, doubt, stays, len(chosen))
        needed = _needed(rule, c) if outcome == TOO_FEW else None
        out.append(Finding(rule, c, outcome, effect_of(c, rule.margin), p, needed, doubt, held_back))
    return tuple(out)


def decide(
    comparisons: Sequence[Comparison],
    policy: Policy,
    *,
    judge_first: Mapping[Rule, Doubt] | None = None,
    errors: int | None = None,
    n_queries: int | None = None,
    not_comparable: Sequence[str] = (),
    must_pass_failed: Sequence[str] = (),
    must_pass_open: Sequence[str] = (),
    notes: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> Verdict:
    """The one verdict on a candidate: not-comparable, too-many-errors, then the rules.

    A failing rule (or must-pass query) outranks another rule's judge-first, which outranks too-few-queries. The
    effect is that of the rule the verdict rests on: the first that failed, else the first undecided, else the
    first of the policy.

    Parameters
    ----------
    comparisons, judge_first: see `findings`.
    errors, n_queries: failed rows and all rows; by default the most that a comparison saw.
    not_comparable: reasons why nothing may be compared (see `leadline.gating.baseline`).
    must_pass_failed, must_pass_open: sentences on the policy's must-pass queries that fell, and on those that fell
        and that judging could lift again (see `leadline.gating.must_pass`).
    notes: sentences to stand among the reasons, such as "+12 judgments".
    files: the paths for the next command: baseline, candidate, qrels, config.

    Raises
    ------
    UsageError: a rule has no comparison at its level.
    """
    names = dict(files or {})
    if comparisons:
        names.setdefault("baseline", comparisons[0].baseline)
        names.setdefault("candidate", comparisons[0].candidate)
    barred = _barred(comparisons, policy, errors, n_queries, not_comparable)
    if barred is not None:
        return _closed(*barred, notes, policy, names)
    found = findings(comparisons, policy, judge_first=judge_first)
    empty = [f"{f.rule.name}: no query has a value in both systems" for f in found if f.comparison.n == 0]
    if empty:
        return _closed(NOT_COMPARABLE, empty, notes, policy, names)
    outcome, rests_on = _together(found)
    queries: Sequence[str] = ()
    if must_pass_failed:
        outcome, queries = FAIL, must_pass_failed
    elif must_pass_open and outcome in (PASS, TOO_FEW):
        outcome, queries = JUDGE_FIRST, must_pass_open
    sentence = headline(outcome, rests_on, found, queries)
    reasons = [*must_pass_failed, *must_pass_open, *_reasons(found, policy), *notes]
    return Verdict(
        outcome,
        rests_on.effect,
        sentence,
        tuple(dict.fromkeys(reasons)),
        next_commands(outcome, policy, rests_on.rule, names),
    )


def decide_one(
    comparison: Comparison,
    margin: float = 0.02,
    *,
    doubt: Doubt | None = None,
    complete: bool = False,
    files: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Verdict:
    """The verdict of `compare`, which has no policy: one rule on the comparison's own measure and slice.

    All failed rows are allowed, and said: `compare` shows numbers, a gate guards.

    Raises
    ------
    UsageError: a measure of which more is not better, or a margin that is not above 0.
    """
    alpha = round(1 - comparison.level, 12)
    rule = rule_on(comparison.measure, margin=margin, alpha=alpha, slice=comparison.group)
    by = None if comparison.group is None else "slice"
    judgments: Any = "complete" if complete else "partial"
    policy = Policy((rule,), judgments=judgments, error_share=1.0, by=by)
    doubts = {} if doubt is None else {rule: doubt}
    return decide([comparison], policy, judge_first=doubts, files=files, notes=notes)


def exit_code(verdict: Verdict, policy: Policy | None = None) -> int:
    """The exit code of `gate`: 0 pass, 1 fail, 3 undecided with `on_undecided = "fail"` (else 0), 4, 5.

    >>> exit_code(Verdict("too-few-queries", "unclear", "undecided"), Policy((Rule("RR"),)))
    0
    """
    fixed = {PASS: 0, FAIL: 1, NOT_COMPARABLE: 4, TOO_MANY_ERRORS: 5}
    if verdict.outcome in fixed:
        return fixed[verdict.outcome]
    return 3 if policy is not None and policy.on_undecided == "fail" else 0


def _barred(
    comparisons: Sequence[Comparison],
    policy: Policy,
    errors: int | None,
    n_queries: int | None,
    not_comparable: Sequence[str],
) -> tuple[str, Sequence[str]] | None:
    """What keeps the verdict from the rules: the outcome and its reasons; None where nothing does."""
    if not_comparable:
        return NOT_COMPARABLE, not_comparable
    failed = max((c.n_error for c in comparisons), default=0) if errors is None else errors
    rows = max((c.n + c.n_left_out for c in comparisons), default=0) if n_queries is None else n_queries
    if failed > policy.error_share * rows:
        share = points(100 * policy.error_share)
        return TOO_MANY_ERRORS, [f"{failed} of {amount(rows, 'row')} failed, and {share} % may"]
    return None


def _of_rule(rule: Rule, comparisons: Sequence[Comparison]) -> Comparison:
    same = [c for c in comparisons if (c.measure, c.group) == (rule.measure, rule.slice)]
    for c in same:
        if abs(c.level - (1 - rule.alpha)) < 1e-9:
            return c
    if same:
        raise UsageError(
            f"rule on {rule.name}: alpha = {rule.alpha:g} needs the interval at level {1 - rule.alpha:g}; "
            f"there is one at {same[0].level:g}"
        )
    raise UsageError(f"rule on {rule.name}: there is no comparison of it")


def _outcome(rule: Rule, c: Comparison, doubt: Doubt | None, stands: bool, rules: int) -> tuple[str, bool]:
    """One rule's outcome, and whether Holm's correction held a fail back."""
    if doubt is not None and doubt.judge_first:
        return JUDGE_FIRST, False
    if c.n >= LEAST_QUERIES and c.n_nonzero == 0:
        # Two systems that agree on every query have no spread, so no interval; they need none.
        return (PASS if rule.must == "no-worse" else FAIL), False
    if c.one_sided_low is None or c.one_sided_high is None:
        return TOO_FEW, False
    word = int(released(rule, c.one_sided_low, c.one_sided_high, c.n))
    if word < 0 and rules > 1 and not stands:
        return TOO_FEW, True
    return {1: PASS, 0: TOO_FEW, -1: FAIL}[word], False


def _together(found: Sequence[Finding]) -> tuple[str, Finding]:
    """The outcome of all rules, and the finding that it rests on."""
    for outcome in (FAIL, JUDGE_FIRST, TOO_FEW):
        resting = [one for one in found if one.outcome == outcome]
        if resting:
            return outcome, resting[0]
    return PASS, found[0]


def _needed(rule: Rule, c: Comparison) -> int | None:
    """How many queries decide the rule with power .8, at the spread seen; None where that is not known."""
    apart = rule.margin if rule.must == "no-worse" else rule.gain
    if not c.sd or apart <= 0:
        return None
    from leadline.stats.power import queries_for_margin

    try:
        return queries_for_margin(c.sd, apart, alpha=rule.alpha)
    except UsageError:
        # More than anyone judges: no number is named.
        return None


def _reasons(found: Sequence[Finding], policy: Policy) -> list[str]:
    """Why, rule by rule."""
    reasons: list[str] = []
    for one in found:
        reasons += [rule_line(one), *said_of_needed(one), *said_of_counts(one), *_doubted(one)]
        reasons += [*said_of_smallest_margin(one), *said_of_remarks(one)]
    if policy.judgments == "complete":
        reasons.append("judgments are declared complete: what is unlisted counts as not relevant")
    return reasons


def _doubted(finding: Finding) -> list[str]:
    """What judge-first found, and what stands beside it and never decides alone."""
    found, name = finding.doubt, finding.rule.name
    if found is None:
        return []
    said = [f"{name}: {found.reason}"]
    if found.unjudged:
        shares = (found.judged_baseline, found.judged_candidate)
        percent = ["–" if one is None else f"{100 * one:.0f} %" for one in shares]
        said.append(
            f"{name}: judged of the top k: {percent[0]} of the baseline's, {percent[1]} of the candidate's"
        )
    if found.unjudged and found.condensed is not None:
        said.append(f"{name}: {thousandths(found.condensed)} on condensed lists (judged documents only)")
    if found.bound_low is not None and found.bound_high is not None and found.unjudged:
        ends = f"{thousandths(found.bound_low)} and {thousandths(found.bound_high)}"
        said.append(f"{name}: judging could bring it to between {ends}")
    return said


def _closed(
    outcome: str, reasons: Sequence[str], notes: Sequence[str], policy: Policy, files: Mapping[str, str]
) -> Verdict:
    """A verdict that never came to the rules."""
    said = {NOT_COMPARABLE: "not comparable", TOO_MANY_ERRORS: "too many errors"}[outcome]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    commands = next_commands(outcome, policy, policy.rules[0], files)
    sentence = f"{said}: {shorter(reasons[0])}{more}"
    return Verdict(outcome, "unclear", sentence, (*reasons, *notes), commands)
