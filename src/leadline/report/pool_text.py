"""A pool's report for the terminal and as JSON, and its pairs as a to-judge file or CSV."""

import csv
import io
import math
import textwrap
from collections.abc import Sequence

from leadline.errors import amount, printable
from leadline.gating.sentences import points, thousandths
from leadline.judging.missing import Missing
from leadline.judging.pooling import PoolReport, said_of_cut
from leadline.report.json_text import document_text, one_line
from leadline.report.wording import tool_version

SHOWN_SYSTEMS = 20
NAME_WIDTH = 32
WIDTH = 100
COLUMNS = ("query_id", "doc_id", "ranks", "systems", "move", "likely", "why", "probability", "stratum")


def pool_text(report: PoolReport) -> str:
    """The report for a terminal; tables fit 100 columns."""
    pool = report.pool
    queries = pool.pairs["query"].n_unique()
    judged = pool.pairs.height - pool.unjudged.height
    lines = [
        f"{amount(len(pool.systems), 'system')} to rank {pool.depth}: {amount(queries, 'query', 'queries')}, "
        f"{amount(pool.pairs.height, 'pair')}, {judged} judged",
        *_listed(report),
        "",
        *_contributions(report),
    ]
    if report.left_out:
        lines += ["", *_left_out(report)]
    if report.missing is not None:
        lines += ["", *_missing(report.missing, pool.depth)]
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def pool_json(report: PoolReport) -> str:
    """The report as one JSON object; what could not be computed is null."""
    pool, sample, found = report.pool, report.sample, report.decisive
    return document_text(
        {
            "leadline": tool_version(),
            "command": "pool",
            "systems": list(pool.systems),
            "depth": pool.depth,
            "queries": pool.pairs["query"].n_unique(),
            "pairs": pool.pairs.height,
            "judged": pool.pairs.height - pool.unjudged.height,
            "order": report.order,
            "seed": report.seed,
            "budget": report.budget,
            "listed": len(report.pairs),
            "cut": report.cut,
            "conventions": dict(report.conventions),
            "contributions": [one.to_dict() for one in report.contributions],
            "measure": report.measure,
            "left_out": [one.to_dict() for one in report.left_out],
            "missing": None if report.missing is None else report.missing.to_dict(),
            "sample": None if sample is None else {"seed": sample.seed, "strata": sample.counts()},
            "decisive": None
            if found is None
            else {
                "baseline": found.baseline,
                "candidate": found.candidate,
                "measure": found.measure,
                "margin": found.margin,
                "settled": found.settled,
                "outcome": found.verdict.outcome,
                "reason": found.doubt.reason,
                "to_settle": found.doubt.to_settle,
                "others": found.others,
                "queries_unjudged": found.queries_unjudged,
            },
            "to_judge": [one.to_dict() for one in report.pairs],
        }
    )


def to_judge_lines(report: PoolReport) -> str:
    """The pairs as a to-judge file: a JSON object a line, in the order of judging."""
    return "".join(f"{one_line(one.to_dict())}\n" for one in report.pairs)


def to_judge_csv(report: PoolReport) -> str:
    """The pairs as CSV, always with the same columns; `ranks` reads `bm25=3 dense=1`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in report.pairs:
        row = one.to_dict() | {
            "ranks": " ".join(f"{name}={rank}" for name, rank in one.ranks.items()),
            "systems": " ".join(one.ranks),
        }
        writer.writerow([row.get(name, "") for name in COLUMNS])
    return out.getvalue()


def _listed(report: PoolReport) -> list[str]:
    """What is listed, in which order, and what is not."""
    found, sample = report.decisive, report.sample
    if found is not None:
        names = f"{printable(found.candidate)} against {printable(found.baseline)}"
        lines = [f"{names}, {found.measure}, margin {points(found.margin)}: {found.verdict.outcome}"]
        lines += [f"  {found.doubt.reason}"]
        if found.queries_unjudged:
            new = amount(found.queries_unjudged, "query", "queries")
            lines.append(f"! nothing is judged for {new}: in no comparison yet, and not looked at here")
        if found.settled:
            return [*lines, "  settled: judging these queries further would not change it; nothing is listed"]
        likely = found.doubt.to_settle
        settle = "" if likely is None else f"; about {likely} are likely to settle it"
        lines.append(f"to judge, most decisive first: {amount(len(report.pairs), 'pair')}{settle}")
        if found.others:
            lines.append(f"  not listed: {amount(found.others, 'pair')} that neither of the two returns")
    elif sample is not None:
        lines = [f"to judge, drawn by chance (seed {sample.seed}): {amount(len(report.pairs), 'pair')}"]
        for row in sample.counts():
            left = f"; {row['left_out']} judged but not drawn, which do not count" if row["left_out"] else ""
            drawn = f"drawn {row['drawn']} of {row['pooled']}"
            lines.append(f"  ranks {row['stratum']}: {drawn}, {row['judged']} of those judged{left}")
        if any(0 < row["judged"] < row["drawn"] for row in sample.counts()):
            lines.append(
                "! half-judged strata count as samples only if judged in the random order of the list"
            )
        if report.order != "random":
            lines.append(f"! in order of {report.order} the sample holds only once all of it is judged")
    elif report.pairs or report.budget is not None:
        lines = [f"to judge, in order of {report.order}: {amount(len(report.pairs), 'pair')}"]
        if report.order == "move-to-front":
            lines.append(
                "  a forecast: taken as not relevant until judged; judge some and make the list again"
            )
    else:
        lines = ["nothing to judge: every pair of the pool is judged"]
    cut = said_of_cut(report)
    return [*lines, f"  {cut}"] if cut else lines


def _contributions(report: PoolReport) -> list[str]:
    rows = [
        (_name(one.system), str(one.pairs), str(one.only), str(one.unjudged), str(one.relevant),
         str(one.only_relevant))
        for one in report.contributions
    ]  # fmt: skip
    return _table(("system", "pairs", "only here", "unjudged", "relevant", "only here"), rows)


def _left_out(report: PoolReport) -> list[str]:
    """How far each system would fall had it not been in the pool, the furthest first."""
    ordered = sorted(report.left_out, key=lambda one: -one.fall if one.fall == one.fall else math.inf)
    rows = [
        (_name(one.system), str(one.documents), _number(one.score), _number(one.without), _fall(one.fall),
         _places(one.place, one.place_without, one.score))
        for one in ordered
    ]  # fmt: skip
    heading = ("had it not been pooled", "its own", report.measure, "without", "change", "place")
    falls = [one.fall for one in ordered if one.fall == one.fall]
    lines = _table(heading, rows)
    if falls:
        moved = sum(one.place != one.place_without for one in ordered)
        lines.append(
            f"change: {_fall(sum(falls) / len(falls))} on average, {_fall(max(falls))} at most; "
            f"another place: {moved} of {amount(len(ordered), 'system')}"
        )
    families = {tuple(sorted((one.system, *one.together))) for one in ordered if one.together}
    for names in sorted(families):
        lines.append(f"left out together: {', '.join(map(printable, names))}")
    lost = sum(one.queries_lost for one in ordered)
    if lost:
        lines.append(f"queries left without a relevant document count 0: {lost}, over all systems")
    return lines


def _missing(found: Missing, depth: int) -> list[str]:
    """What is known of relevant documents, and what is missing at least."""
    lines = [
        f"relevant: {found.found} in the pool, of which {found.once} in one system only and {found.twice} in two; "
        f"{found.elsewhere} more are judged beyond it"
    ]
    if found.unjudged:
        lines.append(f"not counted: what is relevant among the {amount(found.unjudged, 'unjudged pair')}")
    if found.reason:
        return [*lines, f"still missing: not known ({found.reason})"]
    lines.append(f"missing from every top {depth}: at least {found.at_least} (estimate of Chao 1987)")
    if found.chapman is not None and found.between is not None:
        both = " and ".join(printable(name) for name in found.between)
        missed = found.chapman - found.found
        more = f"so at least {missed:.0f} missing" if missed >= 0.5 else "no more than the pool holds"
        lines.append(f"from {both} alone: at least {found.chapman:.0f} in all, {more} (Chapman 1951)")
    return lines


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table whose first column stands at the left, and at most so many rows as a reader takes in."""
    shown = list(rows[:SHOWN_SYSTEMS])
    widths = [max(len(row[place]) for row in [heading, *shown]) for place in range(len(heading))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    lines = [line(heading), "─" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, shown)]
    left = len(rows) - len(shown)
    return [*lines, f"and {left} more (--format json has all)"] if left else lines


def _wrapped(line: str) -> str:
    """A sentence in lines of at most 100 columns; a table's line stays as it is."""
    if len(line) <= WIDTH or line.startswith("─"):
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _name(name: str) -> str:
    name = printable(name)
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "…"


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4f}"


def _fall(value: float) -> str:
    return "–" if value != value else thousandths(-value)


def _places(before: int, after: int, score: float) -> str:
    return "–" if score != score else str(before) if before == after else f"{before} → {after}"
