"""Curves by k read off the first documents of each query: how much is judged, and how much of it was found."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.errors import UsageError
from leadline.measure import split_text
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_payload import DEPTH
from leadline.report.comparison_plots import Line
from leadline.scores import Floats

SAME = 1e-6
"""How near a number made anew from the rankings must come to the one of the scores to be drawn."""


def judged_lines(report: ComparisonReport) -> list[Line]:
    """Judged@k of each system for k from 1 to 20: the mean over queries of the judged share of the first k returned.

    A query that returned fewer than k is divided by what it returned, as Judged@k is (DEFINITIONS, "Measures").
    """
    lines = []
    for system, frame in report.rankings.items():
        table = _grades(frame, len(report.query_ids))
        if table is None:
            continue
        returned, grades = table
        judged = np.cumsum(grades >= 0, axis=1)
        points = {}
        for k in range(1, grades.shape[1] + 1):
            some = returned > 0
            points[k] = float(np.mean(judged[some, k - 1] / np.minimum(returned[some], k)))
        lines.append(Line(system, points))
    return lines


def recall_lines(report: ComparisonReport) -> list[Line]:
    """Recall@k of each system by k, over the same queries as its R@c: every k that the R@c asked for settle.

    R@c of a query and what its first c documents hold give how many are relevant: n = found ÷ R@c. Where R@c is
    0 nothing was found to c, so R@k is 0 for every k ≤ c; beyond c, n must be known from another system. The
    curve ends where some query's n is not known. It is drawn only if it meets every R@c of the scores again;
    else only the means of the scores are given, as points.
    """
    asked = {cut: (name, rel) for name in report.scores.measures for cut, rel in [_recall(name)] if cut}
    if not asked:
        return []
    rel = next(iter(asked.values()))[1]
    cuts = {cut: name for cut, (name, its) in asked.items() if its == rel}
    lines = []
    known = _relevant(report, cuts, rel)
    for system in report.scores.systems:
        points = {cut: report.scores.mean(name, system) for cut, name in cuts.items()}
        points = {cut: value for cut, value in points.items() if value == value}
        made = {} if known is None else _made(report, system, cuts, rel, known)
        if made and all(abs(made[cut] - value) < SAME for cut, value in points.items() if cut in made):
            points = made | {cut: value for cut, value in points.items() if cut <= DEPTH}
        lines.append(Line(system, {cut: value for cut, value in sorted(points.items()) if cut <= 100}))
    return [line for line in lines if line.points]


def _recall(name: str) -> tuple[int | None, float]:
    """The cutoff and the least relevant grade of R@c; None for every other measure."""
    try:
        base, parameters, cutoff = split_text(name)
    except UsageError:
        return None, 1.0
    usual = base == "R" and cutoff is not None and cutoff.isdigit() and set(parameters) <= {"rel"}
    return (int(cutoff or 0), float(parameters.get("rel", 1))) if usual else (None, 1.0)


def _relevant(report: ComparisonReport, cuts: Mapping[int, str], rel: float) -> dict[str, float] | None:
    """How many relevant documents each query has, where any system's R@c tells; None where two R@c disagree.

    They do where R@c was not counted on these rankings, as with the expected value over ties.
    """
    known: dict[str, float] = {}
    place = {query: index for index, query in enumerate(report.query_ids)}
    for system in report.scores.systems:
        table = _grades(report.rankings.get(system), len(report.query_ids))
        if table is None:
            continue
        found = np.cumsum(table[1] >= rel, axis=1)
        for cut, name in cuts.items():
            if cut <= found.shape[1]:
                cell = report.scores.cell(name, system)
                for query, value in zip(cell.query_ids, cell.values.tolist(), strict=True):
                    if value > 0 and query in place:
                        count = float(found[place[query], cut - 1]) / value
                        if abs(count - known.setdefault(query, round(count))) > SAME * max(1.0, count):
                            return None
    return known


def _made(
    report: ComparisonReport, system: str, cuts: Mapping[int, str], rel: float, known: Mapping[str, float]
) -> dict[int, float]:
    """The curve of one system made from its rankings; empty where it cannot be."""
    table = _grades(report.rankings.get(system), len(report.query_ids))
    within = [cut for cut in cuts if table is not None and cut <= table[1].shape[1]]
    if table is None or not within:
        return {}
    found = np.cumsum(table[1] >= rel, axis=1)
    cell = report.scores.cell(cuts[max(within)], system)
    place = {query: index for index, query in enumerate(report.query_ids)}
    # A query without a value has nothing relevant, or failed: it is in no mean.
    asked = [
        query for query, value in zip(cell.query_ids, cell.values.tolist(), strict=True) if value == value
    ]
    if not asked or any(query not in place for query in asked):
        return {}
    rows = found[[place[query] for query in asked]]
    total = np.array([known.get(query, np.nan) for query in asked])
    last = found.shape[1] if not np.isnan(total).any() else max(within)
    shares = np.where(rows[:, :last] == 0, 0.0, rows[:, :last] / total[:, None])
    means = shares.mean(axis=0)
    return {} if np.isnan(means).any() else {k: float(means[k - 1]) for k in range(1, last + 1)}


def _grades(frame: Any, queries: int) -> tuple[Floats, Floats] | None:
    """How many documents each query returned (to 20), and their grades, shape (queries, 20): −1 where unjudged or none."""
    if frame is None or not frame.height:
        return None
    deep = min(DEPTH, int(frame["rank"].max()))
    grades = np.full((queries, deep), -1.0)
    query, rank = frame["query"].to_numpy(), frame["rank"].to_numpy()
    values = frame["grade"].fill_null(-1.0).to_numpy().astype(np.float64)
    inside = rank <= deep
    grades[query[inside], rank[inside] - 1] = values[inside]
    returned = np.bincount(query[inside], minlength=queries).astype(np.float64)
    return returned, grades
