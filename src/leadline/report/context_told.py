"""What the report of contexts says in words and tables, the same for the terminal, Markdown and the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.errors import amount, printable
from leadline.passages.accounts import MEANINGS, ByBudget, ByK, ContextReport, Mean
from leadline.passages.context import Rules
from leadline.report import wording

REASONS = {
    "cutoff": "below the first k",
    "budget": "no room left",
    "truncation": "in the part of a chunk that was cut off",
    "deduplication": "the same text, or much the same, stood there",
    "filter": "there was room, and it was left out",
    "altered": "the chunk was sent with another text",
    "missing": "no context is told of",
    "unknown": "nothing tells why",
}
"""Why evidence was lost, in words."""
SHOWN_KS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)


@dataclass(frozen=True)
class Told:
    """A report with what it was made from."""

    report: ContextReport
    rules: Rules
    unit: str
    run: str
    contexts: str
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> str:
        """What lengths are counted in."""
        return self.rules.tokenizer.unit if self.rules.tokenizer else "characters"


def headline(told: Told) -> list[str]:
    """What was compared, in two lines."""
    states = told.report.states
    scored = states["scored"] + states["unanswered"]
    cut = "the whole ranking" if told.rules.k is None else f"the first {told.rules.k}"
    room = "" if told.rules.budget is None else f", budget {told.rules.budget} {told.sizes}"
    what = "evidence in characters" if told.unit == "characters" else "evidence: the relevant chunks"
    return [
        f"{printable(told.run)} against {printable(told.contexts)}: {amount(scored, 'query', 'queries')}, {what}; "
        f"k: {cut}{room}"
    ]


def mean_rows(told: Told) -> list[list[str]]:
    """The means with their intervals: from the whole ranking, less what was lost, to the context; then the rest."""
    means = {one.name: one for one in told.report.means}
    rows = [_row(_label("retrieved", told), means["retrieved"], 4)]
    rows += [_row(f"− {REASONS[one.name]} ({one.name})", one, 4) for one in told.report.lost]
    if means["added"].interval.estimate:
        rows.append(_row(f"+ {_label('added', told)}", means["added"], 4))
    rows.append(_row(f"= {_label('sent', told)}", means["sent"], 4))
    if told.rules.k is not None:
        rows += [_row(_label(name, told), means[name], 4) for name in ("at_k", "kept")]
    for name in ("noise", "duplicates", "at", "items", "size"):
        if means[name].interval.estimate is not None:
            rows.append(_row(_label(name, told), means[name], 1 if name in ("items", "size") else 4))
    return rows


def _label(name: str, told: Told) -> str:
    if name in ("at_k", "kept"):
        return MEANINGS[name].replace("first k", f"first {told.rules.k}")
    if name == "size":
        return f"{MEANINGS[name]}, {told.sizes}"
    return MEANINGS[name]


def _row(label: str, one: Mean, digits: int) -> list[str]:
    found = one.interval
    number = wording.ABSENT if found.estimate is None else f"{found.estimate:.{digits}f}"
    ends = wording.ABSENT
    if found.low is not None and found.high is not None:
        ends = f"[{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return [label, number, ends, str(found.n)]


def k_rows(report: ContextReport, k: int | None) -> list[list[str]]:
    """Some k of the curve: recall, and the mean and 95th percentile of the length."""
    wanted = {*SHOWN_KS, k, report.by_k[-1].k if report.by_k else None}
    return [
        [str(one.k), f"{one.recall:.4f}", _size(one.size), _size(one.size_p95)]
        for one in report.by_k
        if one.k in wanted
    ]


def budget_rows(report: ContextReport) -> list[list[str]]:
    """The curve by budget."""
    return [[str(one.budget), f"{one.recall:.4f}", f"{one.chunks:.1f}"] for one in report.by_budget]


def sentences(told: Told) -> list[str]:
    """What stands below the tables: where the best evidence stands, and the least budgets."""
    report = told.report
    lines = []
    placed = sum(report.thirds.values())
    if placed:
        shares = ", ".join(f"{name} third {count}" for name, count in report.thirds.items())
        lines.append(f"best evidence in the context: {shares} (of {amount(placed, 'context')})")
    known = {share: size for share, size in report.reach.items() if size is not None}
    if known:
        reach = ", ".join(f"{share * 100:g}%: {size}" for share, size in known.items())
        lines.append(f"least budget ({told.sizes}) for a share of the whole ranking's recall: {reach}")
    return lines


def warnings(told: Told) -> list[str]:
    """What to know before believing the numbers."""
    report, lines = told.report, list(told.notes)
    states = report.states
    for state, said in (
        ("unanswered", "no context told of, counted as 0"),
        ("undefined", "without evidence, left out"),
        ("error", "failed, left out"),
    ):
        if states[state]:
            lines.append(f"{said}: {amount(states[state], 'query', 'queries')}")
    sent = next(one for one in report.means if one.name == "sent")
    if sent.error_low is not None:
        ends = wording.brackets(sent.error_low, sent.error_high)
        lines.append(f"evidence in the context, if all that failed were worst, or best: {ends}")
    for how, said in (
        ("unmatched", "no chunk, counted as noise"),
        ("ambiguous", "the text of several chunks and not guessed, counted as noise"),
        ("altered", "the id of a chunk with another text, counted as noise"),
    ):
        if report.how.get(how):
            lines.append(f"{said}: {report.how[how]} of {sum(report.how.values())} entries of the contexts")
    if report.over:
        lines.append(f"longer than the budget: {amount(report.over, 'context')}; was it counted otherwise?")
    if told.rules.budget is not None and report.by_k and not report.by_budget:
        lines.append(
            "no curve by budget: the length of some retrieved chunks is not known (--chunks or --documents with texts)"
        )
    return lines


def matched(told: Told) -> str:
    """How the entries of the contexts were matched to chunks."""
    return ", ".join(f"{how} {count}" for how, count in sorted(told.report.how.items()))


def _size(value: float | None) -> str:
    return wording.ABSENT if value is None else f"{value:.0f}"


def curve_points(points: Sequence[ByBudget | ByK]) -> list[tuple[int, float]]:
    """A curve as pairs of budget (or k) and recall."""
    return [(one.budget if isinstance(one, ByBudget) else one.k, one.recall) for one in points]
