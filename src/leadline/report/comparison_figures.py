"""The sections of a comparison's page that are plots: differences, query by query, by depth, by slice."""

from collections.abc import Iterator, Sequence

from leadline.errors import printable
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_by_k import judged_lines, recall_lines
from leadline.report.comparison_pairs import drawn_pairs, said_of_pairs, said_of_the_others
from leadline.report.comparison_parts import escaped, folded, interval, signed, table
from leadline.report.comparison_payload import DEPTH, Payload, Spread
from leadline.report.comparison_plots import Lane, bars, columns, curves, lanes, stage, ticks
from leadline.report.comparison_sections import judged_table
from leadline.scores import Comparison

LANE_NOTE = (
    "A dot is the mean difference, the thick line its interval, the thin line below it the bootstrap's; "
    "the full upright line through all rows is 0."
)
MARGIN_NOTE = " The dashed line is the verdict's margin."
SLICES_NOTE = "Panels of measures between 0 and 1 share one scale. Slices are for exploring: of many, some stand out by chance."
PLOTTED, ROWS = 20, 2_000
"""How many slices are drawn, and how many rows of their numbers are written; the rest are counted."""
OF_JUDGMENTS = ("Judged", "Unjudged")
"""Measures of the judgments, not of the systems: their large differences would crush the others' scale."""


def differences(report: ComparisonReport, payload: Payload) -> Iterator[str]:
    """One plot a candidate of the measures between 0 and 1; the others, on scales of their own, below it."""
    yield "<h2>Differences with their intervals</h2>"
    for candidate in dict.fromkeys(row.candidate for row in payload.rows):
        rows = [row for row in payload.rows if row.candidate == candidate]
        of_judgments = [row for row in rows if wording.base_name(row.measure) in OF_JUDGMENTS]
        quality = [row for row in rows if _in_unit(row)]
        others = [[row] for row in rows if row not in quality and row not in of_judgments]
        note = LANE_NOTE
        for group in (quality, of_judgments, *others):
            found = [
                _lane(report, row, wording.heading(report.scores, row.measure), row is payload.rows[0])
                for row in group
            ]
            drawn = [lane for lane in found if lane is not None]
            if drawn:
                caption = f"{printable(rows[0].candidate)} − {printable(rows[0].baseline)}"
                caption += " (how much is judged)" if group is of_judgments else ""
                more = MARGIN_NOTE if any(lane.margin is not None for lane in drawn) else ""
                yield f"<figure><figcaption>{escaped(caption)}</figcaption>{lanes(drawn, note + more)}</figure>"
                note = ""
    if report.pair_intervals:
        rows_drawn = drawn_pairs(report.pair_intervals)
        caption = f"All pairs on {wording.heading(report.scores, report.scores.measures[0])}"
        left = said_of_the_others(report.pair_intervals)
        told = f"A dot is the mean difference, the line its interval: {said_of_pairs(report)}."
        told += f" Not drawn: {left.removeprefix('and ')}." if left else ""
        yield f"<figure><figcaption>{escaped(caption)}</figcaption>{lanes(rows_drawn, told)}</figure>"


def _lane(report: ComparisonReport, row: Comparison, label: str, decides: bool) -> Lane | None:
    """The row of a plot; None where there is no difference. The margin is drawn where the verdict rests on the row."""
    if row.difference is None or not wording.has_value(row.difference):
        return None
    margin = -report.margin if decides and report.verdict is not None and report.margin > 0 else None
    ends = [row.low, row.high, row.bootstrap_low, row.bootstrap_high]
    low, high, second_low, second_high = (end if wording.has_value(end) else None for end in ends)
    return Lane(printable(label), row.difference, low, high, second_low, second_high, margin)


def _in_unit(row: Comparison) -> bool:
    """True for a measure of quality whose means lie between 0 and 1, so that it can share a scale with others."""
    means = (row.mean_baseline, row.mean_candidate)
    return wording.base_name(row.measure) not in OF_JUDGMENTS and all(
        mean is not None and 0 <= mean <= 1 for mean in means
    )


def query_by_query(payload: Payload) -> Iterator[str]:
    """Sorted differences and their distribution, drawn for the first measure; the script draws the others."""
    first = payload.rows[0]
    spread = payload.spread(first.candidate, first.measure)
    what = wording.heading(payload.report.scores, first.measure)
    what += f", {printable(first.candidate)} − {printable(first.baseline)}"
    edge = [f"+{spread.most:g}", f"+{spread.most / 2:g}", "0", f"−{spread.most / 2:g}", f"−{spread.most:g}"]
    yield _sorted(spread, what, edge)
    yield _distribution(spread, what, edge)


def _sorted(spread: Spread, what: str, edge: Sequence[str]) -> str:
    above, below = bars(spread.values, spread.most)
    drawing = (
        '<path class="grid" d="M0 75H1000M0 225H1000"/><path class="zero" d="M0 150H1000"/>'
        f'<path class="gain" d="{above}"/><path class="loss" d="{below}"/><path class="cursor" d=""/>'
    )
    ends = (signed(spread.values[0]), signed(spread.values[-1])) if spread.values else (wording.ABSENT,) * 2
    said = f"{spread.n} differences from {ends[0]} to {ends[1]}, least first"
    told = f"{spread.n} queries with both values."
    if spread.count:
        told += f" Each bar is the mean of a block of about {spread.n // len(spread.count)} queries."
    return (
        '<figure class="chart" id="sorted-figure"><figcaption>Differences of each query, sorted: '
        f'<span class="what">{escaped(what)}</span></figcaption>'
        + stage("sorted", drawing, said, edge, ["most lost", "", "most gained"], focus=True)
        + '<p class="readout needs-script" aria-live="polite" hidden>Point at a bar, or focus the plot and use the '
        "arrow keys, to name its query; Enter or a double click opens it in the table.</p>"
        f'<p class="soft" id="sorted-said">{told}</p></figure>'
    )


def _distribution(spread: Spread, what: str, edge: Sequence[str]) -> str:
    most = max([*spread.columns, 1])
    left, tied, right = columns(spread.columns, most)
    drawing = f'<path class="loss" d="{left}"/><path class="tie" d="{tied}"/><path class="gain" d="{right}"/>'
    half = len(spread.columns) // 2
    counts = (sum(spread.columns[:half]), spread.columns[half], sum(spread.columns[half + 1 :]))
    told = f"{counts[0]} lost, {counts[1]} equal, {counts[2]} gained"
    return (
        '<figure class="chart" id="spread-figure"><figcaption>Distribution of the differences: '
        f'<span class="what">{escaped(what)}</span></figcaption>'
        + stage("spread", drawing, f"Distribution: {told}", [str(most), "", "0"], [*reversed(edge)])
        + f'<p class="soft"><span id="spread-said">{told}</span>; the middle column holds exact ties alone.</p></figure>'
    )


def by_depth(report: ComparisonReport) -> Iterator[str]:
    """How much is judged, by system and by depth; and recall by k."""
    lines, known = judged_lines(report), judged_table(report)
    if lines or known:
        yield f"<h2>How much is judged</h2>\n{known}"
        if lines:
            note = "The mean over queries of the judged share of the first k documents returned."
            yield curves("judged", "Judged@k by depth", lines, report.depth, note)
    yield "<h2>Recall by k</h2>"
    lines = recall_lines(report)
    if lines:
        note = "Share of the judged relevant documents among the first k, the mean over queries."
        if max(k for line in lines for k in line.points) < DEPTH:
            note += f" Further k need -m R@{DEPTH}."
        yield curves("recall", "Recall@k", lines, report.depth, note)
    else:
        yield f'<p class="soft">Not drawn: no R@k was asked for. Add <code>-m R@{DEPTH}</code>.</p>'


def slices(report: ComparisonReport) -> Iterator[str]:
    """A small plot for each measure with a row for each slice, all queries first; and the numbers."""
    sliced = [row for row in report.comparisons if row.group is not None]
    if not sliced:
        return
    several = len({row.candidate for row in sliced}) > 1
    sizes: dict[str | None, int] = {}
    for row in sliced:
        sizes[row.group] = max(row.n, sizes.get(row.group, 0))
    drawn_slices = {None, *sorted(sizes, key=lambda group: -sizes[group])[:PLOTTED]}
    panels: dict[str, list[Lane]] = {}
    shared: list[float] = []
    alone = {row.measure for row in report.comparisons if not _in_unit(row)}
    for row in (row for row in report.comparisons if row.group in drawn_slices):
        name = "all queries" if row.group is None else row.group
        label = f"{name}{f', {row.candidate}' if several else ''} (n = {row.n})"
        lane = _lane(report, row, label, decides=False)
        if lane is not None and wording.base_name(row.measure) not in OF_JUDGMENTS:
            panels.setdefault(row.measure, []).append(lane)
            shared += [] if row.measure in alone else lane.ends()
    note = SLICES_NOTE
    if len(sizes) > PLOTTED:
        note += f" The {PLOTTED} largest of {len(sizes)} slices are drawn; the numbers hold the others."
    yield f'<h2>Slices</h2>\n<p class="soft">{note}</p>'
    yield '<div class="multiples">'
    for measure, drawn in panels.items():
        plot = lanes(drawn, scale=None if measure in alone else ticks(shared))
        heading = wording.heading(report.scores, measure)
        yield f"<figure><figcaption>{escaped(heading)}</figcaption>{plot}</figure>"
    yield "</div>"
    yield folded("The numbers", _slices_table(report, sliced))


def _slices_table(report: ComparisonReport, sliced: Sequence[Comparison]) -> str:
    head = [
        ("Slice", False),
        ("Measure", False),
        ("Candidate", False),
        ("Difference", True),
        ("Interval", True),
    ]
    rows = [
        [
            row.group,
            wording.heading(report.scores, row.measure),
            row.candidate,
            signed(row.difference),
            interval(row.low, row.high),
            f"{row.wins}/{row.ties}/{row.losses}",
            row.n,
        ]
        for row in sliced[:ROWS]
    ]
    more = f'<p class="soft">and {len(sliced) - ROWS} more rows</p>' if len(sliced) > ROWS else ""
    return table("Slices", [*head, ("wins/ties/losses", True), ("n", True)], rows) + more
