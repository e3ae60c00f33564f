"""Scores as Markdown: tables as GitHub shows them, with the account under them."""

from leadline.errors import printable
from leadline.report import wording
from leadline.report.markdown_marks import code, escaped
from leadline.scores import Scores, Summary


def markdown_text(scores: Scores) -> str:
    """One table a slice, a row for each measure and system; then account, conventions and warnings.

    Pipes and all else that Markdown would read as markup are escaped.
    """
    slices = wording.groups(scores)
    blocks = []
    for group in slices:
        title = [f"### {escaped(wording.group_heading(scores, group))}", ""] if len(slices) > 1 else []
        blocks.append("\n".join(title + _table(scores, group)))
    notes = [
        ("Account", wording.account_line(scores.account)),
        ("Conventions", wording.conventions_line(scores.conventions)),
        ("Intervals", wording.interval_line(scores).removeprefix("95 % intervals: ")),
    ]
    blocks.append("\n".join(f"- {name}: {escaped(text)}" for name, text in notes if text))
    if scores.warnings:
        blocks.append("\n".join(f"- **Warning**: {escaped(printable(text))}" for text in scores.warnings))
    if scores.powered is not None:
        from leadline.report.powered_text import powered_markdown

        blocks.append("\n".join(powered_markdown(scores.powered)))
    return "\n\n".join(blocks) + "\n"


def _table(scores: Scores, group: str | None) -> list[str]:
    rows = [row for rows in wording.rows_by_measure(scores, group).values() for row in rows]
    optional = wording.optional_columns(rows)
    names = ["Measure", "System", "Mean", "95 % interval", "sd", "n", *optional]
    rule = [":---", ":---", *["---:"] * (len(names) - 2)]
    lines = [names, rule, *(_cells(scores, row, optional) for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _cells(scores: Scores, row: Summary, optional: list[str]) -> list[str]:
    return [
        code(wording.heading(scores, row.measure)),
        code(row.system),
        wording.number(row.mean, row.measure),
        wording.brackets(row.low, row.high),
        wording.number(row.sd),
        str(row.n_queries),
        *(escaped(wording.optional_text(row, name)) for name in optional),
    ]
