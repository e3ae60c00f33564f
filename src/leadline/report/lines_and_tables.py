"""A report of a few sentences and some small tables, for a terminal and as Markdown."""

import textwrap
from collections.abc import Sequence

from leadline.errors import printable
from leadline.report.markdown_marks import escaped
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
    parts = [listed(lines)]
    for title, head, rows, texts in tables:
        body = markdown_table(head, rows, [False] * texts + [True] * (len(head) - texts))
        parts.append("\n".join([*([f"### {escaped(printable(title))}", ""] if title else []), *body]))
    parts += [listed(notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """The lines of a table in Markdown, whatever its cells hold; numeric columns stand to the right.

    >>> markdown_table(["a", "n"], [["<b>", "1"]], [False, True])
    ['| a | n |', '| --- | ---: |', '| \\\\<b> | 1 |']
    """
    lines = [f"| {' | '.join(escaped(printable(cell)) for cell in row)} |" for row in (head, *rows)]
    rule = ["---:" if right else "---" for right in numeric]
    return [lines[0], f"| {' | '.join(rule)} |", *lines[1:]]


def wrapped(line: str, indent: str = "") -> str:
    """A line of at most 100 characters, what is left over below it."""
    return "\n".join(
        textwrap.wrap(
            printable(line),
            100,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_on_hyphens=False,
        )
    )


def listed(lines: Sequence[str]) -> str:
    """Sentences as a list in Markdown."""
    return "\n".join(f"- {escaped(printable(line))}" for line in lines)
