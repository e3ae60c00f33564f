"""How a number, an interval, the account and the conventions are said, the same in every report."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from leadline.account import tool_version as tool_version
from leadline.conventions import PROFILES, Conventions
from leadline.errors import UsageError, printable
from leadline.measure import split_text
from leadline.scores import Scores, Summary

ABSENT = "–"
"""What stands in a table for a value that could not be computed; never 0."""

COUNTS = ("NumQ", "NumRet", "NumRel", "NumRelRet")
"""The measures that count something: printed as whole numbers."""

INTERVAL_NAMES = {"t": "Student's t", "wilson": "Wilson", "bootstrap": "percentile bootstrap"}


def base_name(measure: str) -> str:
    """A measure's name without parameters and cutoff; the whole text where it has another form.

    >>> base_name("P(rel=2)@5")
    'P'
    """
    try:
        return split_text(measure)[0]
    except UsageError:
        return measure


def heading(scores: Scores, measure: str) -> str:
    """What stands over a measure's numbers: its name, with the gain where that matters."""
    return printable(scores.headings.get(measure, measure))


def has_value(value: float | None) -> bool:
    """True where there is a finite number."""
    return value is not None and math.isfinite(value)


def number(value: float | None, measure: str = "") -> str:
    """A number to four decimals, a count as a whole number, a dash where there is none.

    >>> number(0.75), number(None), number(1500.0, "NumRet")
    ('0.7500', '–', '1500')
    """
    if value is None or not math.isfinite(value):
        return ABSENT
    if base_name(measure) in COUNTS and float(value).is_integer():
        return str(int(value))
    return f"{value:.4f}"


def brackets(low: float | None, high: float | None) -> str:
    """An interval in brackets, or a dash where it could not be computed.

    >>> brackets(0.715, 0.7868), brackets(None, None)
    ('[0.7150, 0.7868]', '–')
    """
    return f"[{number(low)}, {number(high)}]" if has_value(low) and has_value(high) else ABSENT


def groups(scores: Scores) -> list[str | None]:
    """The slices that have summaries, in their order; None, which is all queries, first."""
    found = dict.fromkeys(row.group for row in scores.summaries)
    return sorted(found, key=lambda group: group is not None)


def group_heading(scores: Scores, group: str | None) -> str:
    """A slice's heading with its number of queries, such as `lang=de (n = 40)`."""
    size = max((row.n_queries for row in scores.summaries if row.group == group), default=0)
    return f"{'all queries' if group is None else printable(group)} (n = {size})"


def rows_by_measure(scores: Scores, group: str | None) -> dict[str, list[Summary]]:
    """The summaries of one slice by measure, both in the order of the scores."""
    found: dict[str, list[Summary]] = {}
    for row in scores.summaries:
        if row.group == group:
            found.setdefault(row.measure, []).append(row)
    return found


def has_ceiling(row: Summary) -> bool:
    """True where the cutoff keeps the mean below 1, which is worth saying."""
    return row.ceiling is not None and row.ceiling < 1


OPTIONAL_COLUMNS = ("ceiling", "unanswered", "undefined", "errors", "if errors", "unjudged")


def optional_columns(rows: Iterable[Summary]) -> list[str]:
    """Which of the columns that are shown only where they say something are needed for these rows."""
    rows = list(rows)
    return [name for name in OPTIONAL_COLUMNS if any(optional_text(row, name) for row in rows)]


def optional_text(row: Summary, column: str) -> str:
    """The text of one optional column, empty where it would say nothing."""
    if column == "ceiling":
        return number(row.ceiling) if has_ceiling(row) else ""
    if column == "if errors":
        return brackets(row.error_low, row.error_high) if row.error_low is not None else ""
    if column == "unjudged":
        if row.bound_low is None:
            return ""
        return f"{brackets(row.bound_low, row.bound_high)} {printable(row.bound_kind or '')}".rstrip()
    count = {"unanswered": row.n_unanswered, "undefined": row.n_undefined, "errors": row.n_error}[column]
    return str(count) if count else ""


COLUMN_MEANINGS = {
    "ceiling": "ceiling: the largest mean that the cutoff allows",
    "if errors": "if errors: the mean if all errors were worst, or best",
    "unjudged": "unjudged: the mean if the unjudged documents were worst, or best",
}


def interval_line(scores: Scores) -> str:
    """Which method made the intervals; measures that differ from the first method are named.

    >>> from leadline.scores import Summary
    >>> methods = {"AP": "t", "P@1": "wilson"}
    >>> rows = [Summary("A", m, 0.5, 0.4, 0.6, k, 0.1, None, 9, 9, 0, 0, 0) for m, k in methods.items()]
    >>> interval_line(Scores((), tuple(rows), {}, {}))
    "95 % intervals: Student's t; Wilson: P@1"
    """
    methods: dict[str, list[str]] = {}
    for row in scores.summaries:
        if row.interval and has_value(row.low) and row.measure not in methods.setdefault(row.interval, []):
            methods[row.interval].append(row.measure)
    if not methods:
        return ""
    parts = []
    for place, (method, measures) in enumerate(methods.items()):
        name = printable(INTERVAL_NAMES.get(method, method))
        listed = ", ".join(heading(scores, measure) for measure in measures)
        parts.append(name if place == 0 else f"{name}: {listed}")
    return f"95 % intervals: {'; '.join(parts)}"


def conventions_line(switches: Mapping[str, Any]) -> str:
    """The profile, what was set otherwise than in it, and the rule for order.

    >>> conventions_line({"profile": "leadline-1", "undefined": "zero"})
    'leadline-1, undefined=zero; order: score descending, ties by document id descending'
    """
    if not switches:
        return ""
    known = {field.name for field in fields(Conventions)}
    chosen = Conventions(**{key: value for key, value in switches.items() if key in known})
    usual = PROFILES.get(chosen.profile, Conventions()).to_dict()
    changed = [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in switches.items()
        if key != "profile" and key in usual and usual[key] != value
    ]
    return printable(f"{', '.join([chosen.profile, *changed])}; order: {chosen.order_rule()}")


SYSTEM_COUNTS = {
    "rows": "rows",
    "queries": "queries",
    "unjudged_queries": "queries without judgments",
    "unanswered": "unanswered",
    "empty": "answered with nothing",
    "failed": "failed",
    "duplicates_dropped": "duplicates dropped",
    "self_matches": "self-matches dropped",
    "collapsed": "collapsed into their documents",
    "copies": "copies of a better-ranked text",
    "alternatives": "alternatives of a need already met",
    "texts_exact": "texts matched exactly",
    "texts_normalised": "texts matched after normalising",
    "texts_unmatched": "texts unmatched",
}

RARE = frozenset(list(SYSTEM_COUNTS)[list(SYSTEM_COUNTS).index("collapsed") :])
"""The counts of what most runs have nothing of: told only where there is some."""


def account_line(account: Mapping[str, Any]) -> str:
    """What went in and what became of it, in one line; over several systems as the range of each number.

    >>> account_line({"qrels": {"queries": 2, "judgments": 9}, "systems": {"A": {"rows": 7, "empty": 0}}})
    '2 judged queries, 9 judgments | A: 7 rows'
    """
    first = _evidence_text(account["evidence"]) if account.get("evidence") else ""
    parts = [part for part in (first or _qrels_text(account.get("qrels") or {}),) if part]
    systems = {str(name): row for name, row in (account.get("systems") or {}).items()}
    if systems:
        told = _systems_text(list(systems.values()))
        name = next(iter(systems)) if len(systems) == 1 else f"{len(systems)} systems"
        parts.append(f"{name}: {told}" if told else name)
    return printable(" | ".join(parts))


def _evidence_text(evidence: Mapping[str, Any]) -> str:
    """The evidence in place of judgments; and of the chunks how many there are."""
    number = _range([row["chunks"] for row in evidence["chunks"].values()], "{}")
    return (
        f"{evidence['queries']} queries with {evidence['pieces']} pieces of evidence, "
        f"{evidence['characters']} characters, in {number} chunks"
    )


def _qrels_text(qrels: Mapping[str, Any]) -> str:
    words = {"queries": "judged queries", "judgments": "judgments", "subtopics": "subtopics"}
    words |= {"relevant": "relevant"}
    texts = [f"{qrels[key]} {word}" for key, word in words.items() if qrels.get(key) is not None]
    words = {
        "alternatives": "alternative ids",
        "merged": "repeated rows merged",
        "resolved": "conflicts settled",
        "models": _models(qrels),
    }
    texts += [f"{qrels[key]} {word}" for key, word in words.items() if qrels.get(key)]
    return ", ".join(texts + ([f"from a book by the rule {qrels['rule']}"] if qrels.get("rule") else []))


def _models(qrels: Mapping[str, Any]) -> str:
    """A model's labels, and whether they are certified."""
    found = qrels.get("certified")
    if not found:
        return "of a model"
    return f"of a model ({'certified for reporting' if found['for_reporting'] else 'uncertified'})"


def _systems_text(rows: Sequence[Mapping[str, Any]]) -> str:
    texts = []
    for key, word in SYSTEM_COUNTS.items():
        values = [row[key] for row in rows if row.get(key) is not None]
        if any(values):
            texts.append(f"{_range(values, '{}')} {word}")
    for key, said, form in (
        ("judged_at", "judged@{} {}", "{:.2f}"),
        ("ties_across_cutoffs", "ties across rank {} in {} queries", "{}"),
    ):
        cutoffs = dict.fromkeys(str(cutoff) for row in rows for cutoff in row.get(key) or {})
        for cutoff in cutoffs:
            known = [{str(at): value for at, value in (row.get(key) or {}).items()} for row in rows]
            values = [row[cutoff] for row in known if row.get(cutoff) is not None]
            if key == "judged_at" or any(values):
                texts.append(said.format(cutoff, _range(values, form)))
    return ", ".join(texts)


def _range(values: Sequence[float], form: str) -> str:
    """One number where all are equal, else the least and the largest; nothing known is a dash."""
    if not values:
        return ABSENT
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low}–{high}"
