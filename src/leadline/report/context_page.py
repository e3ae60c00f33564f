"""The report of contexts as one HTML page that stands alone, with recall by k and by budget as curves."""

import math
from collections.abc import Callable, Sequence

from leadline.errors import printable
from leadline.report import context_text, context_told, wording
from leadline.report.comparison_parts import bullets, escaped, folded, table
from leadline.report.context_told import Told
from leadline.report.html_page import POLICY, STYLE

WIDE, HIGH, LEFT, RIGHT, BELOW = 760, 240, 44, 24, 30
"""Pixels of a curve: its drawing, and the room for the words at both sides and below it."""
SHOWN = 2000
"""How many queries the table names."""


def context_page_text(told: Told) -> str:
    """One page: the means, where evidence was lost, the two curves, and each query's account."""
    title = f"What reached the context: {printable(told.run)}"
    report = told.report
    parts = [
        f"<h1>{escaped(title)}</h1>",
        f'<p class="soft">leadline {escaped(wording.tool_version())}, context</p>',
        *(f"<p>{escaped(line)}</p>" for line in context_told.headline(told)),
    ]
    warned = context_told.warnings(told)
    if warned:
        parts.append(
            f'<section class="warnings" aria-label="Warnings"><strong>Warnings</strong>{bullets(warned)}</section>'
        )
    parts += [
        "<h2>From the ranking to the context</h2>",
        _numbers("Means", context_text.MEANS, context_told.mean_rows(told)),
    ]
    parts += [f"<p>{escaped(line)}</p>" for line in context_told.sentences(told)]
    if report.by_budget:
        note = "Filled from the top until the next chunk does not fit; mean over queries."
        points = context_told.curve_points(report.by_budget)
        parts += [
            "<h2>Recall by budget</h2>",
            curve("budget", f"Recall by budget in {told.sizes}", points, told.rules.budget, note, True),
        ]
        rows = context_told.budget_rows(report)
        parts.append(folded("The numbers", _numbers("By budget", context_text.BY_BUDGET, rows)))
    if report.by_k:
        points = context_told.curve_points(report.by_k)
        parts += [
            "<h2>Recall by k</h2>",
            curve("k", "Recall by k", points, told.rules.k, "Mean over queries.", False),
        ]
        rows = context_told.k_rows(report, told.rules.k)
        parts.append(folded("The numbers", _numbers("By k", context_text.BY_K, rows)))
    rows = [context_text.query_row(one) for one in report.accounts[:SHOWN]]
    left = len(report.accounts) - len(rows)
    parts += ["<h2>Query by query</h2>", _numbers("Queries", context_text.QUERY, rows)]
    parts += [f'<p class="soft">and {left} more (--write FILE.csv has all)</p>'] if left else []
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>"
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n'


def curve(
    key: str,
    caption: str,
    points: Sequence[tuple[int, float]],
    marked: int | None,
    note: str,
    by_logarithm: bool,
) -> str:
    """Recall, from 0 to 1, over a budget or k, as an `<svg>` that is read without script; `marked` is drawn upright.

    Budgets stand on a logarithmic scale: twice the room is the same step everywhere.

    >>> curve("k", "Recall by k", [(1, 0.5), (2, 1.0)], 2, "", False).count("<circle")
    2
    """
    low, high = points[0][0], max(points[-1][0], points[0][0] + 1)

    def x(value: float) -> float:
        above, whole = (
            (math.log(value / low), math.log(high / low)) if by_logarithm else (value - low, high - low)
        )
        return round(LEFT + above / whole * (WIDE - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(8 + (1 - value) * (HIGH - 16), 1)

    parts = []
    for step in range(5):
        at = y(step / 4)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{step / 4:g}</text>')
    for value in _ticks([one for one, _ in points], x):
        parts.append(f'<text class="tick" x="{x(value)}" y="{HIGH + 14}" text-anchor="middle">{value}</text>')
    if marked is not None and low <= marked <= high:
        at = x(marked)
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="8" y2="{HIGH - 8}" stroke-width="3"/>')
    line = " ".join(f"{x(value)},{y(share)}" for value, share in points)
    parts.append(f'<polyline class="mark" points="{line}" style="fill: none"/>')
    for value, share in points:
        told = f"{value}: {wording.number(share)}"
        parts.append(
            f'<circle class="mark" cx="{x(value)}" cy="{y(share)}" r="3"><title>{told}</title></circle>'
        )
    first, last = (f"{wording.number(share)} at {value}" for value, share in (points[0], points[-1]))
    said = f"{caption}: from {first} to {last}"
    mark = f" The upright line is at {marked}." if marked is not None and low <= marked <= high else ""
    return (
        f'<figure><figcaption>{escaped(caption)}</figcaption><svg id="curve-{key}" viewBox="0 0 {WIDE} {HIGH + BELOW}" '
        f'role="img" aria-label="{escaped(said)}">{"".join(parts)}</svg>'
        f'<p class="soft">{escaped(note + mark)}</p></figure>'
    )


def _ticks(values: Sequence[int], x: Callable[[float], float]) -> list[int]:
    """The values whose numbers find room below the axis."""
    found: list[int] = []
    for value in values:
        if not found or x(value) - x(found[-1]) >= 48:
            found.append(value)
    return found


def _numbers(label: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    texts = (
        2 if head is context_text.QUERY else 0 if head in (context_text.BY_K, context_text.BY_BUDGET) else 1
    )
    return table(label, [(name, at >= texts) for at, name in enumerate(head)], rows)
