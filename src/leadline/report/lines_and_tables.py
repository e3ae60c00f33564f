"""A report of a few sentences and some small tables, for a terminal and as Markdown."""

import textwrap
from collections.abc import Sequence

from leadline.errors import printable
from leadline.report.markdown_text import escaped
from leadline.report.plain_table import table_lines

Table = tuple[str, Sequence[str], list[list[str]], int]
"""Its heading (empty: none), the names of its columns, its rows, and how many of the columns are text."""


def plain_text(lines: Sequence[str], tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """The report for a terminal, at most 100 columns wide; notes come last.

    >>> print(plain_text(["two"], [("t", ["a"], [["b"]], 1)]), end="")
    two
    <BLANKLINE>
    t
    a
    ─
    b
    """
    blocks = ["\n".join(wrapped(line) for line in lines)]
    for title, head, rows, texts in tables:
        blocks.append("\n".join([*([wrapped(title)] if title else []), *table_lines(head, rows, texts)]))
    blocks += ["\n".join(wrapped(note) for note in notes)] if notes else []
    return "\n\n".join(blocks) + "\n"


def markdown(lines: Sequence[str], tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """The report as Markdown: a list of the sentences, the tables, and a list of the notes."""
    parts = [_listed(lines)]
    for title, head, rows, texts in tables:
        rule = ["---"] * texts + ["---:"] * (len(head) - texts)
        body = [f"| {' | '.join(escaped(printable(cell)) for cell in row)} |" for row in (head, *rows)]
        body.insert(1, f"| {' | '.join(rule)} |")
        parts.append("\n".join([*([f"### {escaped(printable(title))}", ""] if title else []), *body]))
    parts += [_listed(notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def wrapped(line: str) -> str:
    """A line of at most 100 characters, what is left over below it."""
    return "\n".join(textwrap.wrap(printable(line), 100, subsequent_indent="  ", break_on_hyphens=False))


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(printable(line))}" for line in lines)
