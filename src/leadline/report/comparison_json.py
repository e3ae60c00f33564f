"""A comparison as JSON and as Markdown; docs/reference/json.md says what each field is."""

from typing import Any

from leadline.errors import printable
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_pairs import said_of_pairs
from leadline.report.comparison_parts import interval, signed
from leadline.report.json_text import document_text
from leadline.report.powered_text import powered_markdown


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
    if scores.powered is not None:
        page["ppi"] = scores.powered.to_dict()
    if report.pairs is not None:
        names, p = report.pairs
        page["pairs"] = {
            "measure": scores.measures[0],
            "systems": names,
            "p": [[float(x) for x in row] for row in p],
            "intervals": [one.to_dict() for one in report.pair_intervals],
        }
    return document_text(page)


def comparison_markdown(report: ComparisonReport) -> str:
    """The comparison as a Markdown table with the verdict over it."""
    lines = []
    if report.verdict is not None:
        systems = report.scores.systems
        whose = f" on {_cell(systems[1])} against {_cell(systems[0])}" if len(systems) > 2 else ""
        found = report.verdict
        lines += [f"**{found.outcome}** ({found.effect}){whose}: {found.sentence}", ""]
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
        cells = [wording.heading(report.scores, row.measure), _cell(name)]
        cells += [wording.number(row.mean_baseline), wording.number(row.mean_candidate), difference, ends]
        lines.append(
            "| " + " | ".join([*cells, wording.number(row.p), f"{row.wins}/{row.ties}/{row.losses}"]) + " |"
        )
    lines += _pairs(report)
    if report.scores.powered is not None:
        lines += ["", *powered_markdown(report.scores.powered)]
    if report.verdict is not None:
        lines += ["", *(f"- {reason}" for reason in report.verdict.reasons)]
        lines += [f"- next: `{command}`" for command in report.verdict.next]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that cannot break a table of Markdown."""
    return printable(text).replace("|", "\\|")


def _pairs(report: ComparisonReport) -> list[str]:
    """The table of all pairs of three or more systems; nothing where there are two."""
    if not report.pair_intervals:
        return []
    measure = wording.heading(report.scores, report.scores.measures[0])
    lines = ["", f"All pairs on {measure}; {said_of_pairs(report)}; p by randomised Tukey HSD.", ""]
    lines += ["| pair | difference | interval | p, Tukey |", "|---|--:|---|--:|"]
    for one in report.pair_intervals:
        name = _cell(f"{one.second} − {one.first}")
        cells = [name, signed(one.difference), interval(one.low, one.high), wording.number(one.p)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
