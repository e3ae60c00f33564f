"""A dot-and-interval plot as inline SVG that is read without script, color or sight."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.errors import printable
from leadline.report.wording import brackets, number

WIDTH, LABELS, NUMBERS, ROW, AXIS = 760, 190, 190, 26, 24
"""Pixels: the whole, the room for labels and for numbers, one row, the axis below."""

LABEL_ENDS = 10
"""How many characters of a long label are shown at each end: names often differ in their last ones."""


@dataclass(frozen=True)
class Mark:
    """One row of the plot: a label, a mean, and its interval where there is one."""

    label: str
    mean: float
    low: float | None = None
    high: float | None = None

    def in_unit(self) -> bool:
        """True where the mean lies between 0 and 1."""
        return 0 <= self.mean <= 1

    def ends(self) -> list[float]:
        """The mean and what ends there are."""
        return [value for value in (self.mean, self.low, self.high) if value is not None]

    def text(self) -> str:
        """The row in words."""
        interval = brackets(self.low, self.high) if self.low is not None else "no interval"
        return f"{printable(self.label)}: {number(self.mean)} {interval}"


def interval_plot(marks: Sequence[Mark], title: str, key: str) -> str:
    """The plot as an `<svg>` element; `key` makes its ids unique on the page.

    Means between 0 and 1 are drawn on the whole of [0, 1], so that plots of several measures can be compared
    and no difference looks larger than it is.

    >>> interval_plot([Mark("bm25", 0.5, 0.4, 0.6)], "nDCG@10", "a")[:40]
    '<svg viewBox="0 0 760 54" role="img" ari'
    """
    low, high = _domain(marks)
    height = ROW * len(marks) + AXIS + 4
    bottom = ROW * len(marks) + 2
    left, right = LABELS, WIDTH - NUMBERS

    def place(value: float) -> float:
        # An interval of a mean may reach outside [0, 1]; drawn to the edge, its numbers stand beside it.
        return round(left + (min(max(value, low), high) - low) / (high - low) * (right - left), 1)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{key}t {key}d">',
        f'<title id="{key}t">{_escaped(title)}: means and 95 % intervals</title>',
        f'<desc id="{key}d">{_escaped("; ".join(mark.text() for mark in marks))}</desc>',
    ]
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<line class="grid" x1="{place(value)}" x2="{place(value)}" y1="2" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{place(value)}" y="{bottom + 16}" text-anchor="middle">{value:.4g}</text>'
        )
    for index, mark in enumerate(marks):
        ends = [(place(end), low <= end <= high) for end in mark.ends()[1:]]
        parts.extend(_row(mark, ROW * index + ROW // 2 + 2, place(mark.mean), ends))
    return "\n".join([*parts, "</svg>"])


def _row(mark: Mark, y: int, x: float, ends: list[tuple[float, bool]]) -> list[str]:
    label = printable(mark.label)
    short = label if len(label) <= 2 * LABEL_ENDS + 1 else f"{label[:LABEL_ENDS]}…{label[-LABEL_ENDS:]}"
    parts = [f'<text x="{LABELS - 14}" y="{y + 4}" text-anchor="end">{_escaped(short)}</text>']
    if ends:
        parts.append(f'<line class="mark" x1="{ends[0][0]}" x2="{ends[1][0]}" y1="{y}" y2="{y}"/>')
        # No cap where the interval goes on beyond the edge.
        caps = [end for end, inside in ends if inside]
        parts += [f'<line class="mark" x1="{cap}" x2="{cap}" y1="{y - 5}" y2="{y + 5}"/>' for cap in caps]
    parts.append(f'<circle class="mark" cx="{x}" cy="{y}" r="4"/>')
    told = f"{number(mark.mean)} {brackets(mark.low, mark.high)}"
    parts.append(f'<text class="tick" x="{WIDTH - NUMBERS + 16}" y="{y + 4}">{_escaped(told)}</text>')
    return parts


def _domain(marks: Sequence[Mark]) -> tuple[float, float]:
    if all(mark.in_unit() for mark in marks):
        return 0.0, 1.0
    values = [value for mark in marks for value in mark.ends()]
    low, high = min(0.0, *values), max(0.0, *values)
    step = 10 ** math.floor(math.log10(max(high - low, 1e-300)))
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _escaped(text: str) -> str:
    return html.escape(printable(text))
