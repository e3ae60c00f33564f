"""The report of contexts for the terminal, as JSON, as CSV and as Markdown."""

import csv
import io
import textwrap
from collections.abc import Sequence
from typing import Any

from leadline.errors import printable
from leadline.passages.context import QueryAccount
from leadline.passages.contexts import REASONS
from leadline.report import context_told, wording
from leadline.report.context_told import Told
from leadline.report.json_text import document_text
from leadline.report.plain_table import table_lines

WIDTH = 100
MEANS = ("share of all evidence", "mean", "95 % interval", "n")
BY_K = ("k", "recall", "mean length", "95th percentile")
BY_BUDGET = ("budget", "recall", "chunks that fit")
QUERY = ("query", "state", "retrieved", "first k", "sent", "lost by", "noise", "duplicates", "best at")
CSV = (
    "query_id", "state", "retrieved", "at_k", "sent", *(f"lost_{reason}" for reason in REASONS), "added", "noise",
    "duplicates", "place", "at", "items", "size",
)  # fmt: skip


def context_text(told: Told, per_query: bool = False) -> str:
    """The report for a terminal; everything fits 100 columns."""
    report = told.report
    lines = [*_wrapped(context_told.headline(told)), ""]
    if per_query:
        lines += [*table_lines(QUERY, [query_row(one) for one in report.accounts], texts=2), ""]
    lines += table_lines(MEANS, context_told.mean_rows(told))
    rows = context_told.k_rows(report, told.rules.k)
    if rows:
        lines += [
            "",
            f"by k, in the order of the ranking; lengths in {told.sizes}",
            *table_lines(BY_K, rows, texts=0),
        ]
    rows = context_told.budget_rows(report)
    if rows:
        head = f"by budget in {told.sizes}, filled from the top until the next chunk does not fit"
        lines += ["", head, *table_lines(BY_BUDGET, rows, texts=0)]
    lines += ["", *_wrapped(context_told.sentences(told))]
    if report.how:
        lines += _wrapped([f"entries of the contexts by how they were matched: {context_told.matched(told)}"])
    lines += _wrapped([f"! {one}" for one in context_told.warnings(told)])
    return "\n".join(lines) + "\n"


def context_markdown(told: Told) -> str:
    """The report as Markdown tables."""
    parts = [*context_told.headline(told), "", *_markdown(MEANS, context_told.mean_rows(told))]
    for head, rows in (
        (BY_K, context_told.k_rows(told.report, told.rules.k)),
        (BY_BUDGET, context_told.budget_rows(told.report)),
    ):
        if rows:
            parts += ["", *_markdown(head, rows)]
    parts += ["", *(f"- {one}" for one in (*context_told.sentences(told), *context_told.warnings(told)))]
    return "\n".join(parts) + "\n"


def context_json(told: Told, per_query: bool = False) -> str:
    """The report as one JSON object (docs/reference/json-context.md)."""
    report, rules = told.report, told.rules
    document: dict[str, Any] = {
        "leadline": wording.tool_version(),
        "command": "context",
        "retrieved": told.run,
        "sent": told.contexts,
        "unit": told.unit,
        "k": rules.k,
        "budget": rules.budget,
        "tokenizer": rules.tokenizer.name if rules.tokenizer else None,
        "queries": report.states,
        "means": [one.to_dict() for one in report.means],
        "lost": [one.to_dict() for one in report.lost],
        "thirds": dict(report.thirds),
        "by_k": [
            {"k": one.k, "recall": one.recall, "size": one.size, "size_p95": one.size_p95}
            for one in report.by_k
        ],
        "by_budget": [
            {"budget": one.budget, "recall": one.recall, "chunks": one.chunks} for one in report.by_budget
        ],
        "reach": [{"share": share, "budget": size} for share, size in report.reach.items()],
        "matched": dict(report.how),
        "over_budget": report.over,
        "warnings": context_told.warnings(told),
    }
    if per_query:
        document["per_query"] = [_query_object(one) for one in report.accounts]
    return document_text(document)


def context_csv(told: Told) -> str:
    """A row a query, always with the same columns; an empty field is "no value"."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV)
    for one in told.report.accounts:
        row = _query_object(one) | {f"lost_{reason}": _lost(one, reason) for reason in REASONS}
        writer.writerow(["" if row[name] is None else row[name] for name in CSV])
    return out.getvalue()


def _lost(one: QueryAccount, reason: str) -> float | None:
    return one.lost.get(reason, 0.0) if one.sent is not None else None


def _query_object(one: QueryAccount) -> dict[str, Any]:
    return {
        "query_id": one.query_id,
        "state": one.state,
        "retrieved": one.retrieved,
        "at_k": one.at_k,
        "sent": one.sent,
        "lost": dict(one.lost),
        "added": one.added,
        "noise": one.noise,
        "duplicates": one.duplicates,
        "place": one.place,
        "at": one.at,
        "items": one.items,
        "size": one.size,
    }


def query_row(one: QueryAccount) -> list[str]:
    """One query's account as the cells of a table."""
    lost = max(one.lost, key=lambda reason: one.lost[reason], default="")
    numbers = (one.retrieved, one.at_k, one.sent)
    shares = [
        "–" if value is None else f"{value:.3f}" for value in (*numbers, one.noise, one.duplicates, one.at)
    ]
    return [printable(one.query_id), one.state, *shares[:3], lost or "–", *shares[3:]]


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return ["| " + " | ".join(cell.strip().replace("|", "\\|") for cell in line) + " |" for line in lines]


def _wrapped(lines: Sequence[str]) -> list[str]:
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    ]
