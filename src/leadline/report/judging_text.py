"""What a book holds and how far its judges agree, for a terminal, as Markdown and as CSV."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from leadline.errors import amount
from leadline.report.lines_and_tables import Table, markdown, plain_text
from leadline.report.wording import ABSENT

SHOWN = 10
"""How many queries, pairs and changed labels a table shows; the JSON has all."""

MOST_GRADES = 10
"""How many grades a confusion table of 100 columns has room for."""

MOST_PAIRS = 30
"""How many pairs of persons a table shows, those with most pairs first."""

FEW_QUERIES = 20
"""Below so many queries a bootstrap over them covers too little."""

PERSON_COLUMNS = (
    "who", "judgments", "graded", "comparisons", "agreement", "kappa", "mean_difference", "repeats", "self_agreement",
    "self_kappa", "timed", "hours", "pairs_an_hour", "median_seconds",
)  # fmt: skip


def status_text(status: Mapping[str, Any]) -> str:
    """The status of a book for a terminal."""
    return plain_text(_status_lines(status), _status_tables(status))


def agreement_text(report: Mapping[str, Any]) -> str:
    """The agreement for a terminal."""
    return plain_text(_agreement_lines(report), _agreement_tables(report))


def agreement_markdown(report: Mapping[str, Any]) -> str:
    """The agreement as Markdown."""
    return markdown(_agreement_lines(report), _agreement_tables(report))


def agreement_csv(report: Mapping[str, Any]) -> str:
    """A row a person, in full precision: agreement, self-agreement, hours, pairs an hour; an empty field is "no value"."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PERSON_COLUMNS)
    for row in report["by_person"]:
        writer.writerow(["" if row[name] is None else row[name] for name in PERSON_COLUMNS])
    return out.getvalue()


def _status_lines(status: Mapping[str, Any]) -> list[str]:
    marks = [f"{count} {mark}" for mark, count in status["marks"].items() if count]
    overlap = status["overlap"]
    lines = [
        f"{amount(status['standing'], 'judgment')} of {amount(status['pairs'], 'pair')} stand, "
        f"{status['undone']} taken back; {amount(status['rows'], 'row')} in all",
        f"judged by two persons or more: {overlap['two_or_more']} of {overlap['pairs']} graded pairs"
        + ("" if overlap["share"] is None else f" ({overlap['share']:.0%})"),
    ]
    if status["grades"]:
        lines.append("grades: " + ", ".join(f"{grade}: {count}" for grade, count in status["grades"].items()))
    if marks:
        lines.append(f"marks: {', '.join(marks)}")
    if status["decisions"]:
        lines.append(f"decided by a lead: {amount(status['decisions'], 'pair')}")
    if status["unordered"]:
        lines.append(
            f"! {amount(status['unordered'], 'vote')} chosen by the rows' ids: the same judge's other grade has the same time, "
            "or neither has one"
        )
    versions = [version for version in status["guidelines"] if version]
    if versions:
        lines.append(f"guideline versions: {', '.join(versions)}")
    if "changed" in status:
        changed = status["changed"]
        gone = sum(row["now"] is None for row in changed)
        lines.append(
            f"documents: {amount(len(changed) - gone, 'vote')} on a text that has changed since, {gone} on one that is "
            f"not there; {amount(status['without_hash'], 'judgment')} without the hash of the text that was judged"
        )
    return lines


def _status_tables(status: Mapping[str, Any]) -> list[Table]:
    tables: list[Table] = []
    names = ("graded", "unsure", "skip", "broken", "repeats", "undone")
    rows = [
        [row["who"], row["kind"], *(str(row[name]) for name in names), (row["last"] or ABSENT)[:10]]
        for row in status["by_person"]
    ]
    if rows:
        tables.append(("", ["who", "kind", *names, "last"], rows, 2))
    queries = status["by_query"][:SHOWN]
    if queries:
        counts = ("pairs", "graded", "marked", "persons", "two_or_more")
        rows = [[row["query_id"], *(str(row[name]) for name in counts)] for row in queries]
        title = _of("queries", len(queries), len(status["by_query"]))
        tables.append((title, ["query", *counts[:-1], "by two or more"], rows, 1))
    if status.get("changed"):
        shown = status["changed"][:SHOWN]
        rows = [[r["query_id"], r["doc_id"], r["who"], "changed" if r["now"] else "gone"] for r in shown]
        title = _of("to look at again", len(shown), len(status["changed"]))
        tables.append((title, ["query", "document", "who", "its text"], rows, 3))
    return tables


def _agreement_lines(report: Mapping[str, Any]) -> list[str]:
    overall, alpha = report["overall"], report["alpha"]
    scale = ", ".join(f"{grade:g}" for grade in report["scale"])
    if not overall["comparisons"]:
        return [
            "no pair was graded by two persons: nothing to compare",
            "`leadline judge` and `leadline serve` mix such pairs in (overlap)",
        ]
    ends = _ends(alpha["low"], alpha["high"])
    metric = report["metric"]
    lines = [
        f"{amount(overall['persons'], 'person')}, {amount(overall['pairs'], 'pair')} graded by two or more, "
        f"{amount(overall['comparisons'], 'comparison')}; grades {scale}",
        f"equal: {overall['agreement']:.0%}; Krippendorff's alpha, {metric}: {_number(alpha[metric])}{ends}; "
        f"nominal: {_number(alpha['nominal'])}",
        f"Gwet's AC1: {_number(overall['ac1'])}; AC2 (quadratic): {_number(overall['ac2'])}",
        f"kappa: {_words(report['weights'])}; intervals: {report['level']:.0%}, bootstrap over queries, "
        f"{report['resamples']} resamples, seed {report['seed']}",
    ]
    if len(report["scale"]) > MOST_GRADES:
        lines.append(f"the confusion of {len(report['scale'])} grades is in the JSON")
    if alpha["reason"]:
        lines.append(f"! alpha has no interval: {alpha['reason']}")
    elif alpha["queries"] < FEW_QUERIES:
        lines.append(f"! only {alpha['queries']} queries: the intervals are rough")
    left = report["left_out"]
    if left["models"]:
        lines.append(f"left out: {amount(left['models'], 'judgment')} of models")
    return lines


def _agreement_tables(report: Mapping[str, Any]) -> list[Table]:
    tables: list[Table] = []
    rows = [
        [
            r["a"],
            r["b"],
            str(r["n"]),
            _share(r["agreement"]),
            _number(r["kappa"]),
            _ends(r["low"], r["high"]).strip() or ABSENT,
            _number(r["ac2"]),
            _signed(r["mean_difference"]),
        ]
        for r in sorted(report["pairs_of_persons"], key=lambda r: -r["n"])[:MOST_PAIRS]
    ]
    if rows:
        head = ["a", "b", "pairs", "equal", "kappa", f"{report['level']:.0%} interval", "AC2", "b − a"]
        title = _of("two persons", len(rows), len(report["pairs_of_persons"]))
        tables.append((title, head, rows, 2))
    if report["confusion"] and len(report["scale"]) <= MOST_GRADES:
        names = [f"{grade:g}" for grade in report["scale"]]
        rows = [[name, *map(str, row)] for name, row in zip(names, report["confusion"], strict=True)]
        tables.append(("one said (row), the other said (column)", ["", *names], rows, 1))
    rows = [
        [
            r["who"],
            str(r["judgments"]),
            _share(r["agreement"]),
            _number(r["kappa"]),
            _signed(r["mean_difference"]),
            f"{_share(r['self_agreement'])} of {r['repeats']}" if r["repeats"] else ABSENT,
            ABSENT if r["hours"] is None else f"{r['hours']:.1f}",
            ABSENT if r["pairs_an_hour"] is None else f"{r['pairs_an_hour']:.0f}",
        ]
        for r in report["by_person"]
    ]
    if rows:
        head = ["person", "judged", "equal", "kappa", "own − others", "same again", "hours", "an hour"]
        tables.append(("each person against all others, with themselves, and in time", head, rows, 1))
    shown = [row for row in report["by_query"] if row["agreement"] < 1]
    rows = [
        [r["query_id"], str(r["pairs"]), _share(r["agreement"]), f"{r['mean_distance']:.2f}"]
        for r in shown[:SHOWN]
    ]
    if rows:
        title = _of("queries with least agreement", len(rows), len(shown))
        tables.append((title, ["query", "pairs", "equal", "mean distance"], rows, 1))
    return tables


def _of(title: str, shown: int, every: int) -> str:
    """A heading that says where a table shows only the first rows."""
    return title if shown == every else f"{title} (the first {shown} of {every})"


def _words(weights: str) -> str:
    return {"none": "unweighted", "linear": "linear weights", "quadratic": "quadratic weights"}[weights]


def _number(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.0%}"


def _signed(value: float | None) -> str:
    return ABSENT if value is None else f"{value:+.2f}"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
