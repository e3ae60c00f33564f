"""The recall of every setting against its latency: an SVG plot, and a page with it that stands alone."""

import math
from collections.abc import Sequence

from leadline.ann.fidelity import Fidelity
from leadline.locate.index_cost import IndexCost
from leadline.report.ann_text import ann_text, sweep_rows
from leadline.report.html_page import POLICY, STYLE, escaped
from leadline.report.wording import tool_version

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 70, 110, 16, 46
"""Pixels: the whole, and the room around the plot."""

ALONE = """svg { font: 13px system-ui, sans-serif; fill: #1c2430; background: #ffffff; }
.grid { stroke: #d8dde4; } .mark { stroke: #0b63a5; fill: #0b63a5; stroke-width: 2; }
.line { stroke: #0b63a5; fill: none; stroke-width: 1.5; } .reach { stroke: #8a4b00; stroke-dasharray: 5 4; }
.tick { fill: #5b6675; font-size: 11px; }"""


def sweep_svg(found: Fidelity, alone: bool = True) -> str:
    """Recall (up) against median latency (right, logarithmic); `alone` gives it a style of its own.

    With nothing timed, the plot says so.
    """
    rows = sweep_rows(found)
    style = f"<style>{ALONE}</style>" if alone else ""
    name = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    told = "; ".join(f"{label}: recall {recall:.4f}, p50 {latency:.3g} ms" for label, latency, recall in rows)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="sweep-t sweep-d"{name}>{style}',
        '<title id="sweep-t">Recall against median latency</title>',
        f'<desc id="sweep-d">{escaped(told or "nothing was timed")}</desc>',
    ]
    if rows:
        parts += _drawn(rows, found.reach)
    else:
        parts.append(f'<text x="{LEFT}" y="{HEIGHT // 2}">nothing was timed</text>')
    return "\n".join([*parts, "</svg>\n"])


def _drawn(rows: Sequence[tuple[str, float, float]], reach: float | None) -> list[str]:
    times = [max(latency, 1e-6) for _, latency, _ in rows]
    low, high = math.log10(min(times)), math.log10(max(times))
    if high - low < 0.3:
        low, high = low - 0.15, high + 0.15
    floor = _floor([recall for *_, recall in rows] + ([] if reach is None else [reach]))

    def right(latency: float) -> float:
        return round(LEFT + (math.log10(max(latency, 1e-6)) - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    def up(recall: float) -> float:
        return round(HEIGHT - BOTTOM - (recall - floor) / (1 - floor) * (HEIGHT - TOP - BOTTOM), 1)

    parts = []
    for step in range(5):
        value = floor + (1 - floor) * step / 4
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(value)}" y2="{up(value)}"/>'
        )
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{up(value) + 4}" text-anchor="end">{value:.4g}</text>'
        )
    for latency in sorted({times[0], times[-1], min(times), max(times)}):
        parts.append(
            f'<text class="tick" x="{right(latency)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{latency:.3g}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) // 2
    parts.append(
        f'<text class="tick" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">median latency, ms</text>'
    )
    if reach is not None:
        parts.append(
            f'<line class="reach" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(reach)}" y2="{up(reach)}"/>'
        )
    ordered = sorted(rows, key=lambda row: row[1])
    points = " ".join(f"{right(latency)},{up(recall)}" for _, latency, recall in ordered)
    parts.append(f'<polyline class="line" points="{points}"/>')
    for label, latency, recall in rows:
        x, y = right(latency), up(recall)
        parts.append(f'<circle class="mark" cx="{x}" cy="{y}" r="4"/>')
        parts.append(
            f'<text x="{x + 8}" y="{y + 14}">{escaped(label if len(label) < 16 else label[:14] + "…")}</text>'
        )
    return parts


def _floor(values: Sequence[float]) -> float:
    """Where the scale begins: 0, or a round number below where all recalls are high, so that they can be told apart."""
    least = min(values)
    return next((start for start in (0.99, 0.95, 0.9, 0.8, 0.5) if least > start + (1 - start) * 0.05), 0.0)


def ann_page(found: Fidelity, cost: IndexCost | None = None, worst: int = 10) -> str:
    """One page that stands alone: the plot, then the report as on a terminal."""
    title = f"Index fidelity of {found.target}"
    plot = ""
    if any(one.latency for one in found.points):
        caption = "Recall against median latency, one client, each setting a point"
        plot = f"<figure><figcaption>{caption}</figcaption>{sweep_svg(found, alone=False)}</figure>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escaped(title)}</title>\n'
        f"<style>{STYLE}\nsvg .line {{ stroke: var(--mark); fill: none; stroke-width: 1.5; }}\n"
        "svg .reach { stroke: var(--warn); stroke-dasharray: 5 4; }\npre { padding: .75rem; margin: 0; }</style></head>\n"
        f"<body><h1>{escaped(title)}</h1>\n"
        f'<p class="soft">leadline {escaped(tool_version())}, ann</p>\n{plot}\n'
        f'<div class="wide"><pre>{escaped_lines(ann_text(found, cost, worst))}</pre></div>\n</body></html>\n'
    )


def escaped_lines(text: str) -> str:
    """The lines of a text, each escaped."""
    return "\n".join(escaped(line) for line in text.splitlines())
