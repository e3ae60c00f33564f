"""The pictures of a certificate: the confusion matrix, and the differences of runs against half the margin."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.certificate import MeasureCheck
from leadline.report.certificate_text import MOST_GRADES, ends, figure
from leadline.report.comparison_parts import escaped

CELL, SIDE, TOP, ALL = 72, 58, 46, 54
"""Pixels of the matrix: a cell, the room for people's grades, for the model's, and for the sums."""
DEEPEST = 0.45
"""The strongest shade of a cell, at which the text upon it is still read."""
WIDE, LABELS, NUMBERS, ROW, AXIS = 760, 190, 210, 26, 30
"""Pixels of the plot: the whole, the room for names and for numbers, a row, the axis below."""
ENDS = 11
"""How many characters of a long name are shown at each end."""

PICTURES = """
svg .cell { fill: var(--mark); } svg .same { fill: none; stroke: var(--ink); stroke-width: 2.5; }
svg .frame { fill: none; stroke: var(--line); } svg .band { fill: var(--mark); fill-opacity: .12; }
svg .edge { stroke: var(--soft); stroke-dasharray: 5 4; } svg .zero { stroke: var(--soft); }
svg .out { fill: var(--page); stroke: var(--warn); stroke-width: 2; } svg .outline { stroke: var(--warn); stroke-width: 2; }
svg .count { font-size: 15px; font-weight: 600; } svg .part { fill: var(--ink); font-size: 13px; }
svg.matrix { max-width: 30rem; } .wide svg { min-width: 40rem; } .wide { padding: 0; }
figure .wide { border: 0; }
@media (max-width: 40rem) { tbody th, td.name { min-width: 8.5rem; } th, td { padding: .35rem .5rem; } }
"""
"""What the style of the page needs beyond `html_page.STYLE`."""


def confusion_picture(body: Mapping[str, Any]) -> str:
    """The matrix as an `<svg>`: each cell with its count and its share of the row, the cells of agreement framed.

    The shade repeats the share; nothing is said by colour alone. Empty where there are too many grades.

    >>> confusion_picture({"grades": [0, 1], "confusion": [[3, 1], [0, 4]]}).count("<rect")
    6
    """
    grades, table = body["grades"], body["confusion"]
    if len(grades) > MOST_GRADES:
        return ""
    k = len(grades)
    width, height = SIDE + k * CELL + ALL, TOP + k * CELL
    told = "; ".join(
        f"people {grade:g}: "
        + ", ".join(f"model {other:g} {n}" for other, n in zip(grades, row, strict=True))
        for grade, row in zip(grades, table, strict=True)
    )
    parts = [
        f'<svg class="matrix" viewBox="0 0 {width} {height + 6}" role="img" aria-labelledby="matrix-t matrix-d">',
        "<title id=\"matrix-t\">Pairs by people's grade and by the model's</title>",
        f'<desc id="matrix-d">{escaped(told)}</desc>',
        f'<text class="tick" x="{SIDE + k * CELL / 2}" y="14" text-anchor="middle">grade by the model</text>',
        f'<text class="tick" x="4" y="{TOP - 10}">by people</text>',
        f'<text class="tick" x="{width - 6}" y="{TOP - 10}" text-anchor="end">all</text>',
    ]
    for i, (grade, row) in enumerate(zip(grades, table, strict=True)):
        y = TOP + i * CELL
        head = SIDE + i * CELL + CELL // 2
        parts.append(f'<text x="{head}" y="{TOP - 10}" text-anchor="middle">{grade:g}</text>')
        parts.append(f'<text x="{SIDE - 14}" y="{y + CELL // 2 + 5}" text-anchor="end">{grade:g}</text>')
        parts.append(f'<text x="{width - 6}" y="{y + CELL // 2 + 5}" text-anchor="end">{sum(row)}</text>')
        for j, count in enumerate(row):
            parts += _cell(SIDE + j * CELL, y, count, count / sum(row) if sum(row) else None)
    # Last, so that no neighbour covers the frames.
    parts += [_frame(SIDE + i * CELL, TOP + i * CELL) for i in range(k)]
    return "\n".join([*parts, "</svg>"])


def _cell(x: int, y: int, count: int, share: float | None) -> list[str]:
    middle = x + CELL // 2
    part = "" if share is None else f"{share:.0%}"
    return [
        f'<rect class="cell" x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill-opacity="{DEEPEST * (share or 0):.3f}"/>',
        f'<path class="frame" d="M{x} {y}h{CELL}v{CELL}h-{CELL}z"/>',
        f'<text class="count" x="{middle}" y="{y + CELL // 2}" text-anchor="middle">{count}</text>',
        f'<text class="part" x="{middle}" y="{y + CELL // 2 + 18}" text-anchor="middle">{part}</text>',
    ]


def _frame(x: int, y: int) -> str:
    return f'<rect class="same" x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{CELL - 4}"/>'


def difference_plot(checks: Sequence[MeasureCheck], key: str) -> str:
    """Each run's mean difference with its interval, against the band ±M/2, as an `<svg>`; `key` makes its ids unique.

    A run outside the band has a hollow square in place of a dot, and its row says "out".

    >>> plot = difference_plot([MeasureCheck("RR", "a", 0.1, 0.01, -0.02, 0.04, 30)], "x")
    >>> plot.count("<circle"), plot.count('class="band"')
    (1, 1)
    """
    half = checks[0].margin / 2
    reach = max([half, *(abs(end) for check in checks for end in _ends(check))]) * 1.08 or 1.0
    left, right = LABELS, WIDE - NUMBERS
    bottom = ROW * len(checks) + 4

    def x(value: float) -> float:
        return round(left + (value + reach) / (2 * reach) * (right - left), 1)

    told = "; ".join(
        f"{one.system}: {figure(one.difference, True)} {ends(vars(one), True)}" for one in checks
    )
    parts = [
        f'<svg viewBox="0 0 {WIDE} {bottom + AXIS}" role="img" aria-labelledby="{key}-t {key}-d">',
        f'<title id="{key}-t">{escaped(checks[0].measure)}: model less people, with the band of ±{half:g}</title>',
        f'<desc id="{key}-d">{escaped(told)}</desc>',
        f'<rect class="band" x="{x(-half)}" y="2" width="{round(x(half) - x(-half), 1)}" height="{bottom - 2}"/>',
        f'<line class="zero" x1="{x(0)}" x2="{x(0)}" y1="2" y2="{bottom}"/>',
    ]
    for value in (-half, half):
        parts.append(f'<line class="edge" x1="{x(value)}" x2="{x(value)}" y1="2" y2="{bottom}"/>')
    for value, anchor in ((-reach, "start"), (0.0, "middle"), (reach, "end")):
        parts.append(
            f'<text class="tick" x="{x(value)}" y="{bottom + 16}" text-anchor="{anchor}">{_tick(value)}</text>'
        )
    for place, check in enumerate(checks):
        parts += _run(check, ROW * place + ROW // 2 + 2, x)
    return "\n".join([*parts, "</svg>"])


def _tick(value: float) -> str:
    return f"{value:+.2g}" if value else "0"


def _ends(check: MeasureCheck) -> list[float]:
    return [value for value in (check.difference, check.low, check.high) if value is not None]


def _run(check: MeasureCheck, y: int, x: Any) -> list[str]:
    name = check.system
    short = name if len(name) <= 2 * ENDS + 1 else f"{name[:ENDS]}…{name[-ENDS:]}"
    parts = [f'<text x="{LABELS - 14}" y="{y + 4}" text-anchor="end">{escaped(short)}</text>']
    line = "mark" if check.within else "outline"
    if check.low is not None and check.high is not None:
        low, high = x(check.low), x(check.high)
        parts.append(f'<line class="{line}" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>')
        parts += [
            f'<line class="{line}" x1="{end}" x2="{end}" y1="{y - 5}" y2="{y + 5}"/>' for end in (low, high)
        ]
    if check.difference is not None:
        at = x(check.difference)
        parts.append(
            f'<circle class="mark" cx="{at}" cy="{y}" r="4"/>'
            if check.within
            else f'<rect class="out" x="{at - 4}" y="{y - 4}" width="8" height="8"/>'
        )
    said = f"{figure(check.difference, True)} {ends(vars(check), True)}" + ("" if check.within else " out")
    parts.append(f'<text class="tick" x="{WIDE - NUMBERS + 14}" y="{y + 4}">{escaped(said)}</text>')
    return parts
