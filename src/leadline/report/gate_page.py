"""What a gate found, as one HTML page: the page of its comparison, or of its verdict where nothing was scored."""

from dataclasses import asdict

from leadline.errors import printable
from leadline.gating.gate import GateReport, rests_on
from leadline.movement import Document, Moved
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_page import comparison_page, verdict_page


def gate_page(report: GateReport) -> str:
    """The gate's page; one HTML file that stands alone."""
    if report.scores is None:
        title = f"{printable(report.candidate)} against {printable(report.baseline or 'no baseline')}"
        return verdict_page(report.verdict, title, report.command)
    # The page begins with the rule that the verdict rests on; the other rules stand among the reasons and below it.
    resting = rests_on(report.findings) if report.findings else None
    rule = resting.rule if resting else report.policy.rules[0]
    rows = list(report.comparisons)
    if resting:
        rows = [resting.comparison, *(row for row in rows if row != resting.comparison)]
    cutoff = report.policy.parsed[rule.measure].cutoff
    doubt = (report.doubts or {}).get(rule)
    systems = report.scores.account.get("systems", {})
    return comparison_page(
        ComparisonReport(
            report.scores,
            rows,
            report.verdict,
            rule.margin,
            moved=[
                Moved(
                    w.query_id,
                    w.candidate - w.baseline,
                    w.baseline,
                    w.candidate,
                    tuple(Document(*d) for d in w.gained),
                    tuple(Document(*d) for d in w.lost),
                )
                for w in report.worst
            ],
            judged={name: seen.get("judged_at", {}) for name, seen in systems.items()},
            depth=int(cutoff) if isinstance(cutoff, int) and cutoff >= 1 else 10,
            rankings=report.rankings,
            query_ids=report.query_ids,
            texts=dict(report.texts),
            command=report.command,
            doubt=None if doubt is None else asdict(doubt),
        )
    )
