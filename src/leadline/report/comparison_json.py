"""A comparison as JSON and as Markdown; docs/reference/json.md says what each field is."""

from typing import Any

from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.json_text import document_text


def comparison_json(report: ComparisonReport) -> str:
    """The documented JSON of `compare`; NaN is never written."""
    scores = report.scores
    page: dict[str, Any] = {
        "leadline": wording.tool_version(),
        "command": "compare",
        "seed": scores.seed,
        "profile": scores.conventions.get("profile"),
        "conventions": dict(scores.conventions),
        "inputs": [dict(one) for one in scores.inputs],
        "account": dict(scores.account),
        "warnings": [*report.remarks, *scores.warnings],
        "comparisons": [row.to_dict() for row in report.comparisons],
        "judged": {name: dict(shares) for name, shares in report.judged.items()},
        "verdict": None if report.verdict is None else report.verdict.to_dict(),
        "doubt": None if report.doubt is None else dict(report.doubt),
        "moved": [one.to_dict() for one in report.moved],
    }
    if report.pairs is not None:
        names, p = report.pairs
        page["pairs"] = {
            "measure": scores.measures[0],
            "systems": names,
            "p": [[float(x) for x in row] for row in p],
        }
    return document_text(page)


def comparison_markdown(report: ComparisonReport) -> str:
    """The comparison as a Markdown table with the verdict over it."""
    lines = []
    if report.verdict is not None:
        lines += [f"**{report.verdict.outcome}** ({report.verdict.effect}): {report.verdict.sentence}", ""]
    lines += ["| measure | candidate | baseline mean | candidate mean | difference | interval | p | w/t/l |"]
    lines += ["|---|---|--:|--:|--:|---|--:|---|"]
    for row in report.comparisons:
        name = row.candidate if row.group is None else f"{row.candidate} [{row.group}]"
        ends = (
            wording.ABSENT
            if row.low is None or row.high is None
            else f"[{row.low:+.4f}, {row.high:+.4f}] {row.interval}"
        )
        difference = wording.ABSENT if row.difference is None else f"{row.difference:+.4f}"
        cells = [wording.heading(report.scores, row.measure), name.replace("|", "\\|")]
        cells += [wording.number(row.mean_baseline), wording.number(row.mean_candidate), difference, ends]
        lines.append(
            "| " + " | ".join([*cells, wording.number(row.p), f"{row.wins}/{row.ties}/{row.losses}"]) + " |"
        )
    if report.verdict is not None:
        lines += ["", *(f"- {reason}" for reason in report.verdict.reasons)]
        lines += [f"- next: `{command}`" for command in report.verdict.next]
    return "\n".join(lines) + "\n"
