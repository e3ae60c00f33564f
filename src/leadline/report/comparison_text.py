"""A comparison as plain text for a terminal: the table, the verdict, and what moved."""

import textwrap
from collections.abc import Iterator, Sequence

from leadline.errors import amount, printable
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_pairs import drawn_pairs, said_of_pairs, said_of_the_others
from leadline.report.powered_text import powered_text
from leadline.report.text_plot import text_plot
from leadline.scores import Comparison

WIDTH = 100
SHOWN_DOCUMENTS = 4
"""How many documents of a query that moved are named; the rest are counted."""


def comparison_text(report: ComparisonReport) -> str:
    """The comparison, at most 100 columns wide: one block for each candidate, then the verdict and what moved."""
    lines: list[str] = []
    for group in dict.fromkeys(row.group for row in report.comparisons):
        for candidate in dict.fromkeys(row.candidate for row in report.comparisons):
            rows = [row for row in report.comparisons if (row.group, row.candidate) == (group, candidate)]
            if rows:
                lines += [*_table(report, rows), ""]
    if report.scores.powered is not None:
        lines += [*powered_text(report.scores.powered), ""]
    lines += [*_pairs(report), *_verdict(report), *_moved(report), *_notes(report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _signed(value: float | None) -> str:
    return wording.ABSENT if value is None else f"{value:+.4f}"


def _table(report: ComparisonReport, rows: Sequence[Comparison]) -> Iterator[str]:
    first = rows[0]
    of = "" if first.group is None else f" [{printable(first.group)}]"
    yield f"{printable(first.candidate)} against {printable(first.baseline)}{of}"
    heads = ["measure", "baseline", "candidate", "difference", f"{first.level:.0%} interval", "p", "w/t/l"]
    corrected = any(row.p_corrected is not None for row in rows)
    if corrected:
        heads.insert(6, f"p {first.correction}")
    table = [heads]
    for row in rows:
        ends = wording.ABSENT if row.low is None else f"[{row.low:+.4f}, {_signed(row.high)}]"
        cells = [wording.heading(report.scores, row.measure), wording.number(row.mean_baseline)]
        cells += [wording.number(row.mean_candidate), _signed(row.difference), ends, wording.number(row.p)]
        if corrected:
            cells.append(wording.number(row.p_corrected))
        table.append([*cells, f"{row.wins}/{row.ties}/{row.losses}"])
    widths = [max(len(line[column]) for line in table) for column in range(len(heads))]
    for number, line in enumerate(table):
        cells = [line[0].ljust(widths[0])] + [
            cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True)
        ]
        yield "  ".join(cells)
        if number == 0:
            yield "─" * min(WIDTH, sum(widths) + 2 * (len(widths) - 1))
    kinds = dict.fromkeys(row.interval for row in rows if row.interval)
    tests = dict.fromkeys(row.test for row in rows if row.test)
    counts = dict.fromkeys(row.n for row in rows)
    yield f"n {', '.join(map(str, counts))}; intervals: {', '.join(kinds) or 'none'}; p: {', '.join(tests)}"
    boot = [row for row in rows if row.bootstrap_low is not None]
    if boot:
        yield f"bootstrap of {boot[0].measure}: [{_signed(boot[0].bootstrap_low)}, {_signed(boot[0].bootstrap_high)}]"
    shares = {name: report.judged.get(name, {}) for name in (first.baseline, first.candidate)}
    said = [
        f"{printable(name)} {share:.0%}"
        for name, by in shares.items()
        if (share := by.get(str(report.depth))) is not None
    ]
    if said:
        yield f"judged of the top {report.depth}: {', '.join(said)}"
    for row in rows:
        yield from (f"! {row.measure}: {remark}" for remark in row.remarks)


def _pairs(report: ComparisonReport) -> Iterator[str]:
    """The p of all pairs of systems, a row and a column for each."""
    if report.pairs is None:
        return
    names, p = report.pairs
    shown = [printable(name)[:12] for name in names]
    width = max(8, *map(len, shown))
    yield f"all pairs on {report.scores.measures[0]}, p by randomised Tukey HSD"
    yield " " * width + "".join(f"  {name:>{width}}" for name in shown)
    for row, name in enumerate(shown):
        cells = ["–" if row == column else f"{p[row][column]:.4f}" for column in range(len(names))]
        yield name.ljust(width) + "".join(f"  {cell:>{width}}" for cell in cells)
    if report.pair_intervals:
        yield ""
        yield from textwrap.wrap(f"● difference, ├─┤ interval, │ 0; {said_of_pairs(report)}", WIDTH)
        yield from text_plot(drawn_pairs(report.pair_intervals))
        left = said_of_the_others(report.pair_intervals)
        if left:
            yield left
    yield ""


def _verdict(report: ComparisonReport) -> Iterator[str]:
    if report.verdict is None:
        return
    v = report.verdict
    # Of several candidates the first is judged.
    systems = report.scores.systems
    whose = f" on {printable(systems[1])} against {printable(systems[0])}" if len(systems) > 2 else ""
    yield f"verdict{whose}: {v.outcome} ({v.effect})"
    yield f"  {v.sentence}"
    yield from (f"  because {reason}" for reason in v.reasons)
    yield from (f"  next: {command}" for command in v.next)
    yield ""


def _moved(report: ComparisonReport) -> Iterator[str]:
    if not report.moved:
        return
    yield f"what moved most ({report.scores.measures[0]}, top {report.depth})"
    for one in report.moved:
        text = report.texts.get(one.query_id)
        name = printable(one.query_id) + (f" {printable(text)[:60]}" if text else "")
        yield f"  {one.difference:+.4f}  {name}"
        for sign, documents in (("+", one.gained), ("−", one.lost)):
            if documents:
                named = [
                    f"{printable(d.doc_id)[:30]} ({_grade(d.grade)}, rank {d.rank})"
                    for d in documents[:SHOWN_DOCUMENTS]
                ]
                more = (
                    f", and {len(documents) - SHOWN_DOCUMENTS} more"
                    if len(documents) > SHOWN_DOCUMENTS
                    else ""
                )
                yield from _wrapped(f"{sign} {', '.join(named)}{more}")
    yield ""


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else f"grade {grade:g}"


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH - 12, initial_indent=" " * 11, subsequent_indent=" " * 13)


def _notes(report: ComparisonReport) -> Iterator[str]:
    queries = report.scores.account["qrels"]["queries"]
    yield f"{amount(queries, 'judged query', 'judged queries')}; {wording.conventions_line(report.scores.conventions)}"
    yield from (f"! {remark}" for remark in report.remarks)
    yield from (f"! {warning}" for warning in report.scores.warnings)
