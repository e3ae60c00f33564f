"""Scores as a table for a terminal, never wider than 100 columns."""

import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from leadline.errors import printable
from leadline.report import wording
from leadline.scores import Scores, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100
NAME_AT_LEAST, NAME_AT_MOST = 16, 40

GAP = 2


def table_text(scores: Scores, color: bool | None = None, width: int = WIDTH) -> str:
    """The means with their intervals, then the account, the conventions and the warnings, each in its line.

    One system: a row a measure. Several: under each measure a row a system, so that what is compared stands
    one above the other. A block for each slice. Columns that would say nothing (no errors, ceiling 1) are
    left out, and those that do not fit stand in a second table. Color (None: where standard output is a
    terminal that wants it) only repeats what the words say.
    """
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    fancy = wants_color() if color is None else color
    console = Console(
        file=out,
        width=min(width, WIDTH),
        force_terminal=fancy,
        color_system="standard" if fancy else None,
        no_color=not fancy,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    slices = wording.groups(scores)
    for group in slices:
        if len(slices) > 1:
            console.print(Text(wording.group_heading(scores, group), style="bold"))
        for table in _tables(scores, group, console.width):
            console.print(table)
            console.print()
    for mark, text, style in _notes(scores):
        if text:
            _print_note(console, mark, text, style)
    lines = out.getvalue().splitlines()
    if scores.powered is not None:
        from leadline.report.powered_text import powered_text

        lines += ["", *powered_text(scores.powered)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def wants_color() -> bool:
    """True where standard output is a terminal and neither NO_COLOR nor TERM=dumb says no."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _tables(scores: Scores, group: str | None, width: int) -> Iterator["Table"]:
    """The table of one slice, and below it another for the columns that do not fit."""
    from rich.cells import cell_len

    by_measure = wording.rows_by_measure(scores, group)
    rows = [row for found in by_measure.values() for row in found]
    longest = max((cell_len(name) for row in rows for name in _names(scores, row)), default=0)
    left = _columns(rows, group)
    while left:
        used = min(max(NAME_AT_LEAST, longest), NAME_AT_MOST, width)
        columns: list[list[str]] = []
        # On a terminal too narrow for even one column beside the names, the column is folded.
        while left and (not columns or used + GAP + len(left[0][0]) <= width):
            used += GAP + len(left[0][0])
            columns.append(left.pop(0))
        yield _table(scores, by_measure, columns, width)


def _columns(rows: list[Summary], group: str | None) -> list[list[str]]:
    """The columns, each a heading and a text for each row, all of one width."""
    means = [wording.number(row.mean, row.measure) for row in rows]
    intervals = [wording.brackets(row.low, row.high) for row in rows]
    wide = max(map(len, means), default=0)
    both = [f"{mean:>{wide}} {interval}" for mean, interval in zip(means, intervals, strict=True)]
    columns = [["mean [95 % interval]", *both], ["sd", *(wording.number(row.sd) for row in rows)]]
    # The heading of a slice says n, unless it differs between the rows.
    if group is None or len({row.n_queries for row in rows}) > 1:
        columns.append(["n", *(str(row.n_queries) for row in rows)])
    for name in wording.optional_columns(rows):
        columns.append([name, *(wording.optional_text(row, name) for row in rows)])
    aligned = []
    for place, column in enumerate(columns):
        wide = max(map(len, column))
        aligned.append([f"{text:<{wide}}" if place == 0 else f"{text:>{wide}}" for text in column])
    return aligned


def _table(
    scores: Scores, by_measure: dict[str, list[Summary]], columns: list[list[str]], width: int
) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    several = len({row.system for rows in by_measure.values() for row in rows}) > 1
    table = Table(box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    rest = sum(GAP + len(column[0]) for column in columns)
    room = max(width - rest, NAME_AT_LEAST)
    table.add_column("measure", overflow="fold", max_width=room)
    for column in columns:
        table.add_column(Text(column[0]), no_wrap=rest + room <= width, overflow="fold")
    place = 0
    for measure, rows in by_measure.items():
        heading = wording.heading(scores, measure)
        if several:
            table.add_row(Text(heading, style="bold"))
        for row in rows:
            place += 1
            name = Text(f"  {printable(row.system)}") if several else Text(heading, style="bold")
            table.add_row(name, *(Text(column[place]) for column in columns))
    return table


def _names(scores: Scores, row: Summary) -> tuple[str, str]:
    return wording.heading(scores, row.measure), f"  {printable(row.system)}"


def _notes(scores: Scores) -> Iterator[tuple[str, str, str]]:
    """What stands under the table: first column, text, style."""
    yield "", wording.account_line(scores.account), ""
    yield "", wording.conventions_line(scores.conventions), "dim"
    yield "", wording.interval_line(scores), "dim"
    for name in wording.optional_columns(scores.summaries):
        yield "", wording.COLUMN_MEANINGS.get(name, ""), "dim"
    for warning in scores.warnings:
        yield "! ", printable(warning), "yellow"


def _print_note(console: "Console", mark: str, text: str, style: str) -> None:
    """One line, with what does not fit under its beginning."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=0)
    for part in filter(None, (mark, text)):
        grid.add_column(no_wrap=part is mark, overflow="fold")
    grid.add_row(*(Text(part, style=style) for part in (mark, text) if part))
    console.print(grid)
