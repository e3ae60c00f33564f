"""Differences with their intervals as lines of text on one scale: read without color, at most 100 columns wide."""

from collections.abc import Callable, Iterator, Sequence

from leadline.errors import printable
from leadline.report.comparison_parts import interval, signed
from leadline.report.comparison_plots import Lane, ticks

WIDTH, LABEL, DRAWING = 100, 30, 60
"""Columns: the whole, the room for labels at most, and for the drawing at most."""
ZERO, DOT, LINE, LEFT, RIGHT, THROUGH = "│", "●", "─", "├", "┤", "┼"
"""The zero line, a mean, its interval from end to end, and an interval that holds 0."""


def text_plot(rows: Sequence[Lane]) -> Iterator[str]:
    """A line for each row: its label, the drawing, its numbers; and the scale below them, with its 0.

    A column of the drawing is a step of the scale, so what differs by less is drawn at one place: the numbers
    stand beside it.

    >>> print("\\n".join(text_plot([Lane("b − a", 0.25, 0.1, 0.4), Lane("c − a", -0.1)])))
    b − a             │           ├────────────────●─────────────────┤ +0.2500 [+0.1000, +0.4000]
    c − a ●           │                                                -0.1000 no interval
          -0.1        0                                            0.4
    """
    if not rows:
        return
    labels = [_shortened(row.label) for row in rows]
    first = max(map(len, labels))
    numbers = [f"{signed(row.value)} {_ends(row)}" for row in rows]
    wide = max(10, min(DRAWING, WIDTH - first - max(map(len, numbers)) - 2))
    marks = ticks([end for row in rows for end in row.ends()])
    low, high = marks[0], marks[-1]

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (wide - 1))

    for label, row, told in zip(labels, rows, numbers, strict=True):
        yield f"{label:<{first}} {_drawn(row, place, wide)} {told}"
    yield f"{'':<{first}} {_scale(marks, place, wide)}".rstrip()


def _ends(row: Lane) -> str:
    return interval(row.low, row.high) if row.low is not None else "no interval"


def _drawn(row: Lane, place: Callable[[float], int], wide: int) -> str:
    """One row: the zero line, the interval over it, the mean over both."""
    cells = [" "] * wide
    zero = place(0.0)
    cells[zero] = ZERO
    if row.low is not None and row.high is not None:
        start, end = place(row.low), place(row.high)
        for column in range(start, end + 1):
            cells[column] = THROUGH if column == zero else LINE
        # An end that falls on the zero line is drawn as an end: the interval stops there.
        cells[start], cells[end] = LEFT, RIGHT
    cells[place(row.value)] = DOT
    return "".join(cells)


def _scale(marks: Sequence[float], place: Callable[[float], int], wide: int) -> str:
    """The first mark, 0 and the last, each under its place."""
    cells = [" "] * wide
    # 0 last, so that it is never written over.
    for mark in (marks[0], marks[-1], 0.0):
        text = f"{mark:g}"
        start = min(max(0, place(mark) - (len(text) // 2 if mark else 0)), wide - len(text))
        around = "".join(cells[max(0, start - 1) : start + len(text) + 1])
        if mark == 0.0 or not around.strip():
            cells[start : start + len(text)] = text
    return "".join(cells)


def _shortened(label: str) -> str:
    """A label that fits its room; both ends of a long one are kept, where names differ."""
    label = printable(label)
    half = (LABEL - 1) // 2
    return label if len(label) <= LABEL else f"{label[:half]}…{label[-half:]}"
