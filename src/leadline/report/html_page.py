"""Scores as one HTML page that stands alone: no script, nothing loaded, everything escaped."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leadline.errors import printable
from leadline.report import wording
from leadline.report.interval_plot import Mark, interval_plot
from leadline.scores import Scores, Summary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What the page may load: nothing; so that a browser holds it to what it says of itself."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d8dde4; --page: #fbfcfd;
  --panel: #ffffff; --mark: #0b63a5; --warn: #8a4b00; --warn-page: #fff6e5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #a0abba; --line: #343d49;
  --page: #12161c; --panel: #1a2029; --mark: #6cb4f0; --warn: #ffc46b; --warn-page: #2c2415; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.wide { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .75rem; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--soft); font-size: .85rem; font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; } tbody th, td.name { overflow-wrap: anywhere; min-width: 11rem; }
.num { text-align: right; white-space: nowrap; }
td.hash { font-family: ui-monospace, monospace; font-size: .8rem; overflow-wrap: anywhere; }
.warnings { background: var(--warn-page); color: var(--warn); border-radius: .5rem; padding: .6rem 1rem;
  margin: 1rem 0; }
.warnings ul { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere; }
figure { margin: 1rem 0; padding: .75rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: .5rem; }
figcaption { font-weight: 600; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .grid { stroke: var(--line); } svg .mark { stroke: var(--mark); fill: var(--mark); stroke-width: 2; }
svg .tick { fill: var(--soft); font-size: 11px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; } }
"""

ALONE = (
    "Each interval speaks of one system. Whether two systems differ cannot be seen from overlapping "
    "intervals: they answer the same queries, so compare them query by query."
)


def html_page(scores: Scores, command: str = "evaluate") -> str:
    """One page: the means with their intervals, a plot of each measure, the account, warnings and inputs.

    It takes no position: what the numbers mean for a decision is the gate's to say.
    """
    systems = list(dict.fromkeys(row.system for row in scores.summaries))
    several = len(systems) > 1
    title = "Retrieval scores of " + (
        f"{len(systems)} systems" if several else printable("".join(systems)) or "nothing"
    )
    parts = [
        f"<h1>{escaped(title)}</h1>",
        f'<p class="soft">leadline {escaped(wording.tool_version())}, {escaped(command)}</p>',
        *_warnings(scores),
        "<h2>Summary</h2>",
        *_summaries(scores),
        *_plots(scores, several),
        *powered_section(scores),
        "<h2>Account</h2>",
        f"<p>{escaped(wording.account_line(scores.account))}</p>",
        "<h2>Conventions</h2>",
        f"<p>{escaped(wording.conventions_line(scores.conventions))}</p>",
        _pairs({**scores.conventions, "seed": scores.seed}),
        *_inputs(scores),
    ]
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>"
    )
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n'
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def escaped(text: object) -> str:
    """Text as HTML shows it, also inside an attribute; control characters are made visible."""
    return html.escape(printable(str(text)))


def _warnings(scores: Scores) -> Iterator[str]:
    if scores.warnings:
        items = "".join(f"<li>{escaped(text)}</li>" for text in scores.warnings)
        yield '<section class="warnings" aria-label="Warnings"><strong>Warnings</strong>'
        yield f"<ul>{items}</ul></section>"


def _summaries(scores: Scores) -> Iterator[str]:
    slices = wording.groups(scores)
    for group in slices:
        title = wording.group_heading(scores, group)
        if len(slices) > 1:
            yield f"<h3>{escaped(title)}</h3>"
        rows = [row for rows in wording.rows_by_measure(scores, group).values() for row in rows]
        optional = wording.optional_columns(rows)
        names = ["Measure", "System", "Mean", "95 % interval", "sd", "n", *optional]
        head = [(name, place > 1) for place, name in enumerate(names)]
        yield _table(f"Means, {title}", head, [_cells(scores, row, optional) for row in rows])
    notes = [wording.interval_line(scores)]
    notes += [wording.COLUMN_MEANINGS.get(name, "") for name in wording.optional_columns(scores.summaries)]
    yield "".join(f'<p class="soft">{escaped(note)}</p>' for note in notes if note)


def _cells(scores: Scores, row: Summary, optional: Sequence[str]) -> str:
    numbers = [
        wording.number(row.mean, row.measure),
        wording.brackets(row.low, row.high),
        wording.number(row.sd),
        str(row.n_queries),
        *(wording.optional_text(row, name) for name in optional),
    ]
    return (
        f'<th scope="row">{escaped(wording.heading(scores, row.measure))}</th>'
        f'<td class="name">{escaped(row.system)}</td>'
        + "".join(f'<td class="num">{escaped(text)}</td>' for text in numbers)
    )


def _table(label: str, head: Sequence[tuple[str, bool]], rows: Sequence[str]) -> str:
    """A table that scrolls sideways by itself where the page is narrow."""
    columns = "".join(
        f'<th scope="col"{" class=num" if numeric else ""}>{escaped(name)}</th>' for name, numeric in head
    )
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escaped(label)}">'
        f"<table><thead><tr>{columns}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _plots(scores: Scores, several: bool) -> Iterator[str]:
    """One plot a measure; of one system, those between 0 and 1 share a plot."""
    shown = {
        wording.heading(scores, measure): [row for row in rows if wording.has_value(row.mean)]
        for measure, rows in wording.rows_by_measure(scores, None).items()
        if wording.base_name(measure) not in wording.COUNTS
    }
    shown = {name: rows for name, rows in shown.items() if rows}
    if not shown:
        return
    yield "<h2>Means with their 95 % intervals</h2>"
    if several:
        yield f'<p class="soft">{escaped(ALONE)}</p>'
        plots = [(name, [_mark(row, row.system) for row in rows]) for name, rows in shown.items()]
    else:
        marks = {name: _mark(rows[0], name) for name, rows in shown.items()}
        plots = [("All measures between 0 and 1", [mark for mark in marks.values() if mark.in_unit()])]
        plots += [(name, [mark]) for name, mark in marks.items() if not mark.in_unit()]
    for place, (name, found) in enumerate(plots):
        if found:
            plot = interval_plot(found, name, f"plot{place}")
            yield f"<figure><figcaption>{escaped(name)}</figcaption>\n{plot}\n</figure>"


def _mark(row: Summary, label: str) -> Mark:
    known = wording.has_value(row.low) and wording.has_value(row.high)
    assert row.mean is not None
    return Mark(label, row.mean, row.low if known else None, row.high if known else None)


def powered_section(scores: Scores) -> Iterator[str]:
    """The section on what people's and a model's labels say together; nothing where only one was given."""
    if scores.powered is None:
        return
    from leadline.report.comparison_parts import bullets, table
    from leadline.report.powered_text import notes, powered_table, summary

    yield "<h2>People and model together</h2>"
    yield f"<p>Prediction-powered (PPI++): {escaped(summary(scores.powered))}</p>"
    yield table("Prediction-powered", *powered_table(scores.powered))
    yield bullets(notes(scores.powered))


def _pairs(values: Mapping[str, Any]) -> str:
    items = "".join(
        f"<dt>{escaped(key)}</dt><dd>{escaped(_said(value))}</dd>" for key, value in values.items()
    )
    return f"<dl>{items}</dl>"


def _said(value: object) -> object:
    """A switch in words; 0 and 1 stay numbers."""
    if value is None:
        return "none"
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _inputs(scores: Scores) -> Iterator[str]:
    if not scores.inputs:
        return
    yield "<h2>Inputs</h2>"
    rows = [
        f'<th scope="row">{escaped(source.get("path", wording.ABSENT))}</th>'
        f'<td class="num">{escaped(source.get("rows", wording.ABSENT))}</td>'
        f'<td class="hash">{escaped(source.get("sha256", wording.ABSENT))}</td>'
        for source in scores.inputs
    ]
    yield _table("Inputs", [("Path", False), ("Rows", True), ("SHA-256", False)], rows)
