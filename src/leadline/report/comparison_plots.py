"""The plots of a comparison's page: SVG that stretches to the page's width, with its words beside it in HTML.

Shapes stretch, words do not: so a plot is read as well on a telephone as on a wide screen.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.report import wording
from leadline.report.comparison_parts import escaped, folded, interval, signed, table

WIDE, HIGH = 1000, 300
"""The units of a plot's drawing; both are stretched to the place it has."""

LINES = 6
"""How many lines have a look of their own (color and dashes); more begin again."""


@dataclass(frozen=True)
class Lane:
    """One row of a plot of differences: what it is of, the difference, its interval and the bootstrap's."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    second_low: float | None = None
    second_high: float | None = None
    margin: float | None = None

    def ends(self) -> list[float]:
        """Every number that the row draws."""
        known = (self.low, self.high, self.second_low, self.second_high, self.margin)
        return [self.value, *(value for value in known if value is not None and math.isfinite(value))]


@dataclass(frozen=True)
class Line:
    """One line of a plot by k: a name, and k → value."""

    name: str
    points: Mapping[int, float] = field(default_factory=dict)


def ticks(values: Sequence[float], most: int = 5) -> list[float]:
    """Round numbers, evenly apart, that hold all values and 0 between the first and the last.

    >>> ticks([-0.013, 0.081])
    [-0.02, 0.0, 0.02, 0.04, 0.06, 0.08, 0.1]
    >>> ticks([0.0])
    [-1.0, 0.0, 1.0]
    """
    low, high = min([0.0, *values]), max([0.0, *values])
    span = high - low
    if not span > 0:
        return [-1.0, 0.0, 1.0]
    unit = 10.0 ** math.floor(math.log10(span / most))
    step = next(unit * m for m in (1, 2, 5, 10) if span / (unit * m) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [_round(place * step) for place in range(first, last + 1)]


def reach(values: Sequence[float]) -> float:
    """A round number that no value exceeds in size; 1 where all are 0.

    >>> reach([-0.37, 0.12]), reach([]), reach([1.0])
    (0.4, 1.0, 1.0)
    """
    most = max((abs(value) for value in values), default=0.0)
    if not most > 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    return next(_round(unit * m) for m in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if most <= unit * m * (1 + 1e-9))


def _round(value: float) -> float:
    """Without the noise of floating point that a product with a step leaves."""
    return float(f"{value:.12g}")


def lanes(rows: Sequence[Lane], note: str = "", scale: Sequence[float] | None = None) -> str:
    """Differences with their intervals, a row each on one scale; 0 is drawn through all rows.

    `scale` holds marks, evenly apart, that several plots share; without it the rows make their own.

    The words of a row are its label and its numbers, so the drawing itself is hidden from screen readers.
    """
    marks = scale or ticks([end for row in rows for end in row.ends()])
    low, high = marks[0], marks[-1]

    def place(value: float) -> float:
        return round((value - low) / (high - low) * WIDE, 1)

    drawn = []
    for row in rows:
        parts = [_stroke("zero" if mark == 0 else "grid", place(mark), 0, place(mark), 20) for mark in marks]
        if row.margin is not None:
            parts.append(_stroke("margin", place(row.margin), 0, place(row.margin), 20))
        if row.low is not None and row.high is not None:
            parts.append(_stroke("mark", place(row.low), 9, place(row.high), 9))
        if row.second_low is not None and row.second_high is not None:
            parts.append(_stroke("second", place(row.second_low), 15, place(row.second_high), 15))
        parts.append(_stroke("dot", place(row.value), 9, place(row.value), 9))
        ends = interval(row.low, row.high) if row.low is not None else "no interval"
        told = f"{signed(row.value)} {ends}"
        drawn.append(
            f'<div class="lane"><span class="label">{_unbroken(row.label)}</span>'
            f'<svg viewBox="0 0 {WIDE} 20" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
            f'<span class="told">{escaped(told)}</span></div>'
        )
    axis = "".join(f"<span>{mark:g}</span>" for mark in marks)
    drawn.append(f'<div class="lane axis" aria-hidden="true"><span></span><div class="xs">{axis}</div></div>')
    said = f'<p class="soft">{escaped(note)}</p>' if note else ""
    return f'<div class="lanes">{"".join(drawn)}</div>{said}'


def bars(values: Sequence[float], most: float) -> tuple[str, str]:
    """The outlines of bars from the middle of the plot: those above 0 and those below, as two paths.

    `most` is the value that reaches the edge.
    """
    middle, width = HIGH / 2, WIDE / max(1, len(values))
    above: list[str] = []
    below: list[str] = []
    for place, value in enumerate(values):
        if value:
            x, end = round(place * width, 2), round(middle - value / most * middle, 1)
            (above if value > 0 else below).append(f"M{x:g} {middle:g}V{end:g}h{width:.2f}V{middle:g}z")
    return "".join(above), "".join(below)


def columns(counts: Sequence[int], most: int) -> list[str]:
    """The outlines of a distribution's columns as three paths: those left of the middle one, it, those right."""
    width = WIDE / max(1, len(counts))
    half = len(counts) // 2
    paths: list[list[str]] = [[], [], []]
    for place, count in enumerate(counts):
        if count:
            top = round(HIGH - count / most * HIGH, 1)
            which = 0 if place < half else 1 if place == half else 2
            paths[which].append(f"M{place * width + 1:.2f} {HIGH}V{top:g}h{width - 2:.2f}V{HIGH}z")
    return ["".join(path) for path in paths]


def stage(
    key: str, drawing: str, said: str, ys: Sequence[str], xs: Sequence[str], focus: bool = False
) -> str:
    """A drawing with the words of its axes: `ys` from top to bottom, `xs` from left to right, evenly apart."""
    reached = ' tabindex="0"' if focus else ""
    return (
        f'<div class="plot"><div class="ys" aria-hidden="true">{"".join(f"<span>{escaped(y)}</span>" for y in ys)}</div>'
        f'<svg id="{key}" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img"{reached} '
        f'aria-label="{escaped(said)}">{drawing}</svg>'
        f'<div class="xs" aria-hidden="true">{"".join(f"<span>{escaped(x)}</span>" for x in xs)}</div></div>'
    )


def curves(key: str, caption: str, lines: Sequence[Line], depth: int, note: str = "") -> str:
    """Lines of values between 0 and 1 by k, with the k that is sent marked, a legend, and the numbers in a table."""
    ks = sorted({k for line in lines for k in line.points})
    last = max(2, ks[-1])

    def x(k: int) -> float:
        return round((k - 1) / (last - 1) * WIDE, 1)

    parts = [_stroke("grid", 0, y, WIDE, y) for y in (0, 75, 150, 225, 300)]
    marked = depth <= last
    if marked:
        parts.append(_stroke("sent", x(depth), 0, x(depth), HIGH))
    for index, line in enumerate(lines):
        known = sorted(line.points.items())
        path = " ".join(f"{x(k)},{round(HIGH - value * HIGH, 1)}" for k, value in known)
        look = f"line s{index % LINES}"
        parts.append(f'<polyline class="{look}" points="{path}"/>')
        parts += [
            f'<path class="{look} at" d="M{x(k)} {round(HIGH - value * HIGH, 1)}h0">'
            f"<title>{escaped(line.name)}, k = {k}: {wording.number(value)}</title></path>"
            for k, value in known
        ]
    shown = [line for line in lines if depth in line.points]
    told = "; ".join(f"{line.name} {wording.number(line.points[depth])} at k = {depth}" for line in shown)
    legend = "".join(
        f'<li><svg viewBox="0 0 40 10" aria-hidden="true">{_stroke(f"line s{i % LINES}", 0, 5, 40, 5)}</svg>'
        f"{escaped(line.name)}</li>"
        for i, line in enumerate(lines)
    )
    if marked:
        legend += (
            f'<li><svg viewBox="0 0 40 10" aria-hidden="true">{_stroke("sent", 20, 0, 20, 10)}</svg>'
            f"k = {depth}, what is sent on</li>"
        )
    every = 5 * math.ceil(last / 25) if last > 6 else 1
    steps = [str(k) if k in (1, last) or k % every == 0 else "" for k in range(1, last + 1)]
    head = [("k", True), *((line.name, True) for line in lines)]
    rows = [[k, *(wording.number(line.points.get(k)) for line in lines)] for k in ks]
    said = f'<p class="soft">{escaped(note)}</p>' if note else ""
    drawn = stage(
        key, "".join(parts), f"{caption}. {told}", ["1", ".75", ".5", ".25", "0"], [f"{k}" for k in steps]
    )
    return (
        f'<figure><figcaption>{escaped(caption)}</figcaption><ul class="legend">{legend}</ul>'
        f"{drawn}{said}{folded('The numbers', table(caption, head, rows))}</figure>"
    )


def _unbroken(label: str) -> str:
    """A label whose count at the end, such as `(n = 40)`, stands on one line."""
    name, bracket, count = escaped(label).rpartition(" (n = ")
    return f'{name} <span class="count">(n = {count}</span>' if bracket else count


def _stroke(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path class="{kind}" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>'
