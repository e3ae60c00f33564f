"""A gate's report for the terminal, a pull request, JSON and JUnit: the same verdict, rules and worst queries."""

import textwrap
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from leadline.errors import printable
from leadline.gating.certified import labels_account
from leadline.gating.finding import FAIL, JUDGE_FIRST, PASS, TOO_FEW, Finding
from leadline.gating.gate import GateReport
from leadline.gating.sentences import points, rule_line, thousandths
from leadline.gating.worst import WorstQuery
from leadline.report.json_text import document_text, one_line
from leadline.report.wording import tool_version

MARKER = "<!-- leadline-gate -->"
"""The first line of the Markdown, by which a comment on a pull request is found and updated in place."""
WIDTH = 100
"""Columns of the text for a terminal; a command is never broken."""
SHOWN_TEXT = 80
SHOWN_LOST = 3


def gate_text(report: GateReport) -> str:
    """The report for a terminal: the sentence, the rules, why, the worst queries, and the next command."""
    verdict = report.verdict
    lines = [verdict.sentence, f"  {verdict.outcome} · {verdict.effect} · {_against(report)}", ""]
    for reason in verdict.reasons:
        lines += _wrapped(reason, 2)
    if report.worst:
        lines += ["", "  worst queries"]
        for one in report.worst:
            lines += _wrapped(f"{_query(one)}  {_values(one)}; lost {_lost(one)}", 4)
    lines += ["", *(f"next: {command}" for command in verdict.next)]
    return "\n".join(printable(line) for line in lines) + "\n"


def _wrapped(text: str, indent: int) -> list[str]:
    """A text in lines of at most `WIDTH` columns, but for words that are longer; its own spaces are kept."""
    return textwrap.wrap(
        printable(text),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def gate_markdown(report: GateReport, page: str | None = None) -> str:
    """The report as a comment on a pull request, which begins with `MARKER`; `page` is where the HTML report lies."""
    verdict = report.verdict
    lines = [MARKER, f"### {_cell(verdict.sentence)}", ""]
    lines += [f"{verdict.outcome} · {verdict.effect} · {_cell(_against(report))}", ""]
    if report.findings:
        lines += ["| rule | baseline | candidate | difference | interval | n | outcome |"]
        lines += ["|---|--:|--:|--:|---|--:|---|"]
        lines += [_row(one) for one in report.findings]
        lines += [""]
    table = {rule_line(one) for one in report.findings}
    lines += [f"- {_cell(reason)}" for reason in verdict.reasons if reason not in table]
    if report.worst:
        lines += ["", "| worst queries | before | now | lost |", "|---|--:|--:|---|"]
        for one in report.worst:
            lines.append(
                f"| {_cell(_query(one))} | {points(one.baseline)} | {points(one.candidate)} | {_cell(_lost(one))} |"
            )
    lines += ["", *(f"Next: `{command}`" for command in verdict.next)]
    if page is not None:
        # In angle brackets a destination may hold spaces and parentheses (CommonMark 0.31, 6.3).
        lines += ["", f"[The whole report](<{printable(page)}>)"]
    return "\n".join(lines) + "\n"


def gate_json(report: GateReport) -> str:
    """The report as one JSON object; what could not be computed is null."""
    change = report.change
    scores = report.scores
    return document_text(
        {
            "leadline": tool_version(),
            "command": "gate",
            "exit_code": report.exit_code,
            "baseline": report.baseline or None,
            "candidate": report.candidate,
            "profile": report.policy.profile,
            "seed": report.policy.seed,
            "gated": report.gated,
            "verdict": report.verdict.to_dict(),
            "rules": [_rule(one) for one in report.findings],
            "comparisons": [one.to_dict() for one in report.comparisons],
            "judgments": None
            if change is None
            else {
                "added": change.added,
                "removed": [list(row) for row in change.removed],
                "changed": [list(row) for row in change.changed],
                "others": change.others,
                "certificate": change.certificate,
            },
            "labels": None if report.labels is None else labels_account(report.labels),
            "conventions": {} if scores is None else dict(scores.conventions),
            "inputs": [] if scores is None else [dict(one) for one in scores.inputs],
            "worst": [
                {
                    "query_id": one.query_id,
                    "text": one.text,
                    "baseline": one.baseline,
                    "candidate": one.candidate,
                    "lost": _documents(one.lost),
                    "gained": _documents(one.gained),
                }
                for one in report.worst
            ],
        }
    )


def _documents(rows: Sequence[tuple[str, int, float | None]]) -> list[dict[str, object]]:
    return [{"doc_id": doc, "rank": rank, "grade": grade} for doc, rank, grade in rows]


def gate_junit(report: GateReport) -> str:
    """The report as JUnit XML: a case a rule; undecided is skipped, or a failure with `on_undecided = "fail"`."""
    verdict = report.verdict
    strict = report.policy.on_undecided == "fail"
    cases, failures, skipped, errors = [], 0, 0, 0
    for one in report.findings:
        inner = ""
        if one.outcome == FAIL or (strict and one.outcome in (JUDGE_FIRST, TOO_FEW)):
            failures += 1
            inner = _element("failure", one.outcome, rule_line(one))
        elif one.outcome != PASS:
            skipped += 1
            inner = _element("skipped", one.outcome, rule_line(one))
        cases.append(_case(f"{one.rule.name} {one.rule.must}", inner))
    fell = [reason for reason in verdict.reasons if reason.startswith("must-pass query")]
    for reason in fell:
        failures += 1
        cases.append(_case("must-pass", _element("failure", FAIL, reason)))
    if not report.findings:
        errors = 1
        told = [*verdict.reasons, *(f"next: {command}" for command in verdict.next)]
        cases.append(_case("gate", _element("error", verdict.outcome, "\n".join(told))))
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    lines = [verdict.sentence, *verdict.reasons, *(f"next: {command}" for command in verdict.next)]
    said = escape("\n".join(printable(line) for line in lines))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites {counts}>\n<testsuite name="leadline gate" {counts}>\n'
        + "".join(cases)
        + f"<system-out>{said}</system-out>\n</testsuite>\n</testsuites>\n"
    )


def to_judge_text(report: GateReport) -> str:
    """The pairs to judge, a JSON object a line, most decisive first."""
    return "".join(f"{one_line(row)}\n" for row in report.to_judge)


def _against(report: GateReport) -> str:
    return f"{report.candidate} against {report.baseline or 'no baseline'}"


def _query(one: WorstQuery) -> str:
    text = one.text or one.query_id
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"


def _values(one: WorstQuery) -> str:
    return f"{points(one.baseline)} to {points(one.candidate)}"


def _lost(one: WorstQuery) -> str:
    """The documents that left the top k, the most relevant ones by name."""
    if not one.lost:
        return "none (they moved down)"
    named = [
        f"{doc} (was {rank}, {'unjudged' if grade is None else f'grade {grade:g}'})"
        for doc, rank, grade in one.lost[:SHOWN_LOST]
    ]
    more = f" and {len(one.lost) - SHOWN_LOST} more" if len(one.lost) > SHOWN_LOST else ""
    return ", ".join(named) + more


def _row(one: Finding) -> str:
    c = one.comparison
    numbers: Sequence[float | None] = (c.mean_baseline, c.mean_candidate)
    means = ["–" if value is None else f"{value:.4f}" for value in numbers]
    difference = "–" if c.difference is None else thousandths(c.difference)
    ends = "–" if c.low is None or c.high is None else f"[{thousandths(c.low)}, {thousandths(c.high)}]"
    asked = f"not worse by {points(one.rule.margin)}" if one.rule.must == "no-worse" else "improve"
    cells = [f"{one.rule.name}: {asked}", *means, difference, ends, str(c.n), f"**{one.outcome}**"]
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _rule(one: Finding) -> dict[str, object]:
    rule, found = one.rule, one.doubt
    return {
        "measure": rule.measure,
        "slice": rule.slice,
        "must": rule.must,
        "margin": rule.margin,
        "gain": rule.gain,
        "alpha": rule.alpha,
        "outcome": one.outcome,
        "effect": one.effect,
        "p_fail": one.p_fail,
        "queries_needed": one.needed,
        "judge_first": None
        if found is None
        else {
            "judge_first": found.judge_first,
            "method": found.method,
            "other": found.other,
            "outcomes": found.outcomes,
            "unjudged": found.unjudged,
            "to_settle": found.to_settle,
            "judged_baseline": found.judged_baseline,
            "judged_candidate": found.judged_candidate,
            "draws": found.draws,
            "seed": found.seed,
            "reason": found.reason,
        },
    }


def _cell(text: str) -> str:
    """Text that cannot break a Markdown table, nor bring in HTML."""
    return escape(printable(text)).replace("|", "\\|")


def _clean(text: str) -> str:
    """Text without what XML 1.0 does not allow."""
    return printable(text.replace("\n", " · "))


def _case(name: str, inner: str) -> str:
    return f'<testcase classname="leadline.gate" name={quoteattr(_clean(name))}>{inner}</testcase>\n'


def _element(tag: str, message: str, text: str) -> str:
    return f"<{tag} message={quoteattr(message)}>{escape(_clean(text))}</{tag}>"
