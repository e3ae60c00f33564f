"""The sections of a comparison's page that are words and tables: the verdict, the numbers, the account."""

from collections.abc import Iterator, Mapping, Sequence

from leadline.errors import UsageError, amount, printable
from leadline.measure import split_text
from leadline.movement import Document
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_parts import (
    bullets,
    chance,
    command,
    escaped,
    folded,
    interval,
    pairs,
    shortened,
    signed,
    table,
)
from leadline.scores import Comparison, Verdict

SIGNS = {
    "pass": "✓",
    "fail": "✗",
    "judge-first": "?",
    "too-few-queries": "…",
    "not-comparable": "≠",
    "too-many-errors": "!",
}
"""The sign beside each outcome, which says without color what the color says."""

METHODS = {
    **wording.INTERVAL_NAMES,
    "tango": "Tango's score",
    "bonett-price": "Bonett–Price",
    "bca": "BCa bootstrap",
    "studentised": "studentised bootstrap",
    "CR2": "CR2 by cluster",
    "mcnemar mid-p": "McNemar mid-p",
}
"""The names of the methods of intervals and tests, where they differ from what stands in the numbers."""

SHOWN_PAIRS, SHOWN_DOCUMENTS, SHOWN_TEXT = 20, 5, 120
"""How many pairs to judge, and documents of a query that moved, are named (the rest are counted), and how many
characters of its text."""


def verdict(report: ComparisonReport) -> Iterator[str]:
    """What it comes to: outcome, effect, the sentence, the first measure's numbers, why, and what to run next."""
    found = report.verdict
    if found is None:
        yield '<section class="verdict none" aria-label="Verdict"><p>No rule was applied, so there is no verdict; '
        yield "the numbers stand below.</p></section>"
        return
    yield from _box(found, _in_numbers(report))
    yield from _doubt(report)
    yield "</section>"


def bare_verdict(found: Verdict) -> str:
    """The verdict where nothing was scored: outcome, the sentence, why, and what to run next."""
    return "".join([*_box(found, ""), "</section>"])


def _box(found: Verdict, numbers: str) -> Iterator[str]:
    sign = SIGNS.get(found.outcome, "")
    yield f'<section class="verdict {escaped(found.outcome)}" aria-labelledby="verdict">'
    yield (
        f'<h2 id="verdict"><span class="outcome"><span aria-hidden="true">{sign} </span>{escaped(found.outcome)}</span> '
        f'<span class="effect">effect: {escaped(found.effect)}</span></h2>'
    )
    yield f'<p class="sentence">{escaped(found.sentence)}</p>'
    yield numbers
    if found.reasons:
        yield f"<h3>Why</h3>{bullets(found.reasons)}"
    if found.next:
        yield "<h3>What to run next</h3>" + "".join(command(line) for line in found.next)


def _in_numbers(report: ComparisonReport) -> str:
    """The first measure's numbers in one paragraph; empty where there are none."""
    row = next(iter(report.comparisons), None)
    if row is None:
        return ""
    ends = f"{interval(row.low, row.high)} ({row.level:.0%}, {interval_name(row.interval)})"
    return (
        f"<p><strong>{escaped(wording.heading(report.scores, row.measure))}</strong>: "
        f"{escaped(row.baseline)} {wording.number(row.mean_baseline, row.measure)} → "
        f"{escaped(row.candidate)} {wording.number(row.mean_candidate, row.measure)}, "
        f"difference <strong>{signed(row.difference)}</strong> {escaped(ends)} "
        f"over {amount(row.n, 'query', 'queries')}; margin {report.margin:g}</p>"
    )


def interval_name(method: str | None) -> str:
    """The name of an interval's method in words; a dash where there is none."""
    return printable(METHODS.get(method, method)) if method else wording.ABSENT


def _doubt(report: ComparisonReport) -> Iterator[str]:
    doubt = report.doubt
    if doubt is None:
        return
    lines = [str(doubt["reason"])] if doubt.get("reason") else []
    if doubt.get("outcomes"):
        told = ", ".join(f"{name} {count}" for name, count in doubt["outcomes"].items())
        lines.append(f"outcomes of {doubt.get('draws')} draws (seed {doubt.get('seed')}): {told}")
    if doubt.get("to_settle") is not None:
        lines.append(f"judging {amount(doubt['to_settle'], 'pair')} is likely to settle it")
    some = list(doubt.get("pairs") or ())
    content = bullets(lines)
    if some:
        head = [
            ("Query", False),
            ("Document", False),
            ("Ranks", False),
            ("Could move", True),
            ("Likely", True),
        ]
        rows = [
            [
                shortened(str(pair.get("query_id"))),
                shortened(str(pair.get("doc_id"))),
                ", ".join(f"{name} {rank}" for name, rank in pair.get("ranks", {}).items()),
                signed(pair.get("move")),
                f"{pair['likely']:.0%}" if pair.get("likely") is not None else wording.ABSENT,
            ]
            for pair in some[:SHOWN_PAIRS]
        ]
        content += table("Pairs to judge, most decisive first", [*head, ("Why", False)], [
            [*row, pair.get("why", "")] for row, pair in zip(rows, some, strict=False)
        ], "to-judge")  # fmt: skip
        if len(some) > SHOWN_PAIRS:
            content += f'<p class="soft">and {len(some) - SHOWN_PAIRS} more</p>'
    yield folded("What judging more could change", content)


def story(report: ComparisonReport) -> Iterator[str]:
    """How the verdict came about, step by step; nothing where there was but one."""
    if not report.story:
        return
    yield '<h2>How it came to this verdict</h2>\n<ol class="story">'
    for step in report.story:
        found = step.verdict
        sign = SIGNS.get(found.outcome, "")
        title = escaped(step.title)
        if step.page:
            title = f'<a href="{escaped(step.page)}">{title}</a>'
        why = f'<p class="soft">{escaped(found.reasons[0])}</p>' if found.reasons else ""
        yield (
            f'<li><p>{title}</p><p><span aria-hidden="true">{sign} </span><strong>{escaped(found.outcome)}</strong> '
            f"(effect: {escaped(found.effect)}): {escaped(found.sentence)}</p>{why}</li>"
        )
    yield "</ol>"


def numbers(report: ComparisonReport) -> Iterator[str]:
    """The table of every measure, one for each candidate, with what made its intervals and tests."""
    yield "<h2>The comparison</h2>"
    whole = [row for row in report.comparisons if row.group is None]
    for candidate in dict.fromkeys(row.candidate for row in whole):
        rows = [row for row in whole if row.candidate == candidate]
        yield from _of_candidate(report, rows, several=len({row.candidate for row in whole}) > 1)
    yield from _all_pairs(report)


def _of_candidate(report: ComparisonReport, rows: Sequence[Comparison], several: bool) -> Iterator[str]:
    first = rows[0]
    title = f"{printable(first.candidate)} against {printable(first.baseline)}"
    if several:
        yield f"<h3>{escaped(title)}</h3>"
    judged = [f"judged, {printable(name)}" for name in (first.baseline, first.candidate)]
    head = [
        ("Measure", False),
        (first.baseline, True),
        (judged[0], True),
        (first.candidate, True),
        (judged[1], True),
    ]
    head += [("Difference", True), (f"{first.level:.0%} interval", True), ("bootstrap", True), ("p", True)]
    corrected = first.correction is not None
    head += [(f"p, {first.correction}", True)] if corrected else []
    head += [("wins/ties/losses", True), ("n", True)]
    body = []
    for row in rows:
        cells: list[object] = [
            wording.heading(report.scores, row.measure),
            wording.number(row.mean_baseline, row.measure),
            _judged(report, row.baseline, row.measure),
            wording.number(row.mean_candidate, row.measure),
            _judged(report, row.candidate, row.measure),
            signed(row.difference),
            interval(row.low, row.high),
            interval(row.bootstrap_low, row.bootstrap_high),
            chance(row.p),
        ]
        cells += [chance(row.p_corrected)] if corrected else []
        body.append([*cells, f"{row.wins}/{row.ties}/{row.losses}", _count(row)])
    yield table(title, head, body, "numbers")
    yield f'<p class="soft">{escaped(_methods(report, rows))}</p>'
    remarks = [
        f"{wording.heading(report.scores, row.measure)}: {text}" for row in rows for text in row.remarks
    ]
    if remarks:
        yield f'<div class="warnings">{bullets(remarks)}</div>'


def _judged(report: ComparisonReport, system: str, measure: str) -> str:
    """The judged share of the top k that a measure looks at, or of the k that is sent where it has no cutoff."""
    known = judged_shares(report).get(system, {})
    try:
        cutoff = split_text(measure)[2]
    except UsageError:
        cutoff = None
    at = cutoff if cutoff is not None and cutoff in known else str(report.depth)
    return f"{known[at]:.2f} @{at}" if at in known else wording.ABSENT


def _count(row: Comparison) -> str:
    more = [f"{row.n_left_out} left out"] if row.n_left_out else []
    more += [f"{row.n_error} failed"] if row.n_error else []
    more += [f"{row.clusters} clusters"] if row.clusters is not None else []
    return f"{row.n} ({', '.join(more)})" if more else str(row.n)


def _methods(report: ComparisonReport, rows: Sequence[Comparison]) -> str:
    """Which method made the intervals and p: the most common first, the measures of the others named."""
    parts = []
    for word, column in (("Intervals", [row.interval for row in rows]), ("p", [row.test for row in rows])):
        methods: dict[str, list[str]] = {}
        for row, method in zip(rows, column, strict=True):
            if method:
                methods.setdefault(method, []).append(wording.heading(report.scores, row.measure))
        ordered = sorted(methods, key=lambda name: -len(methods[name]))
        told = [
            interval_name(name) + (f" ({', '.join(methods[name])})" if place else "")
            for place, name in enumerate(ordered)
        ]
        if told:
            parts.append(f"{word}: {'; '.join(told)}")
    parts.append("The interval decides; the bootstrap and p are shown beside it")
    parts.append("Judged: the share of the top k that has a judgment, Judged@k")
    return ". ".join(parts) + "."


def _all_pairs(report: ComparisonReport) -> Iterator[str]:
    if report.pairs is None:
        return
    names, p = report.pairs
    title = f"All pairs on {report.scores.measures[0]}: p by randomised Tukey HSD"
    yield f"<h3>{escaped(title)}</h3>"
    head = [("System", False), *((name, True) for name in names)]
    body = [
        [
            name,
            *(
                wording.ABSENT if row == column else chance(float(p[row][column]))
                for column in range(len(names))
            ),
        ]
        for row, name in enumerate(names)
    ]
    yield table(title, head, body)


def judged_shares(report: ComparisonReport) -> dict[str, dict[str, float]]:
    """System → k → the judged share of its top k: the report's, and what the account knows of other k."""
    systems = report.scores.account.get("systems") or {}
    found = {
        name: {str(k): v for k, v in (row.get("judged_at") or {}).items()} for name, row in systems.items()
    }
    for name, shares in report.judged.items():
        found.setdefault(name, {}).update(shares)
    return {name: shares for name, shares in found.items() if shares}


def judged_table(report: ComparisonReport) -> str:
    """The judged share of each system's top k, at every k known."""
    known = judged_shares(report)
    depths = sorted({int(k) for shares in known.values() for k in shares})
    head = [("System", False), *((f"Judged@{k}", True) for k in depths)]
    rows = [
        [name, *(f"{shares[str(k)]:.4f}" if str(k) in shares else wording.ABSENT for k in depths)]
        for name, shares in known.items()
    ]
    return table("Judged share by system and depth", head, rows) if depths else ""


def moved(report: ComparisonReport) -> Iterator[str]:
    """The queries that moved most, with the documents they gained and lost."""
    if not report.moved:
        return
    yield "<h2>The queries that moved most</h2>"
    yield f'<p class="soft">On {escaped(report.scores.measures[0])}; documents of the top {report.depth}.</p>'
    head = [("Query", False), ("Difference", True), ("Before", True), ("After", True), ("Gained", False)]
    rows = []
    for one in report.moved:
        text = report.texts.get(one.query_id)
        name = shortened(one.query_id) + (f": {text[:SHOWN_TEXT]}" if text else "")
        lists = [_documents(documents) for documents in (one.gained, one.lost)]
        rows.append(
            [
                name,
                signed(one.difference),
                wording.number(one.baseline),
                wording.number(one.candidate),
                *lists,
            ]
        )
    yield table("The queries that moved most", [*head, ("Lost", False)], rows, "moved")


def _documents(documents: Sequence[Document]) -> str:
    told = [
        f"{shortened(one.doc_id)} (rank {one.rank}, {grade_text(one.grade)})"
        for one in documents[:SHOWN_DOCUMENTS]
    ]
    more = len(documents) - SHOWN_DOCUMENTS
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])]) or "none"


def grade_text(grade: float | None) -> str:
    """A grade in words.

    >>> grade_text(2.0), grade_text(None)
    ('grade 2', 'unjudged')
    """
    return "unjudged" if grade is None else f"grade {grade:g}"


def warnings(report: ComparisonReport) -> Iterator[str]:
    """Remarks on the comparison and warnings of the evaluation."""
    lines = [*report.remarks, *report.scores.warnings]
    if lines:
        yield f'<h2>Remarks and warnings</h2><div class="warnings">{bullets(lines)}</div>'


def account(report: ComparisonReport) -> Iterator[str]:
    """What went in, what became of it, and by which conventions."""
    scores = report.scores
    yield "<h2>Account and conventions</h2>"
    yield f"<p>{escaped(wording.account_line(scores.account))}</p>"
    yield f"<p>{escaped(wording.conventions_line(scores.conventions))}</p>"
    systems: Mapping[str, Mapping[str, object]] = scores.account.get("systems") or {}
    columns = [
        key
        for key in wording.SYSTEM_COUNTS
        if any(row.get(key) or (row.get(key) == 0 and key not in wording.RARE) for row in systems.values())
    ]
    if columns:
        head = [("System", False), *((wording.SYSTEM_COUNTS[key], True) for key in columns)]
        rows = [[name, *(row.get(key, wording.ABSENT) for key in columns)] for name, row in systems.items()]
        yield table("What each system's run held", head, rows, "account")
    yield folded("Every convention", pairs(scores.conventions))


def again(report: ComparisonReport) -> Iterator[str]:
    """The exact command that makes this page again, and what its inputs were."""
    scores = report.scores
    yield "<h2>How to reproduce</h2>"
    yield command(report.command) if report.command else "<p>Made by a program, not by a command.</p>"
    seed = f", seed {scores.seed}" if scores.seed is not None else ""
    yield f'<p class="soft">leadline {escaped(wording.tool_version())}{escaped(seed)}</p>'
    if scores.inputs:
        rows = [
            [
                one.get("path") or wording.ABSENT,
                one.get("rows", wording.ABSENT),
                one.get("sha256") or wording.ABSENT,
            ]
            for one in scores.inputs
        ]
        yield table("Inputs", [("Path", False), ("Rows", True), ("SHA-256", False)], rows, "inputs")
