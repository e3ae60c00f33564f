"""How far the judges of a book agree: with each other, by person and by query, with themselves, and how fast they work."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from leadline.errors import UsageError, printable
from leadline.judging.judgment import Judgment, by_time, standing
from leadline.judging.labels import Pair, votes_of
from leadline.stats.agreement import (
    cohen_kappa,
    confusion_table,
    grade_counts,
    gwet_ac,
    kappa_by_query,
)
from leadline.stats.intervals import LEVEL
from leadline.stats.krippendorff import METRICS, alpha_by_query, krippendorff_alpha

RESAMPLES = 2000
WIDEST_SCALE = 20


@dataclass(frozen=True)
class Rules:
    """How agreement is reckoned.

    Attributes
    ----------
    weights: of the kappa that has the interval, `none`, `linear` or `quadratic`. metric: of the alpha that has one.
    scale: all grades, ascending, whether used or not; None: from the book (`scale_of`).
    """

    weights: str = "quadratic"
    metric: str = "ordinal"
    scale: tuple[float, ...] | None = None
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0


def agreement_report(rows: Iterable[Judgment], rules: Rules = Rules()) -> dict[str, Any]:
    """The agreement of the persons of a book, as `leadline agreement --format json` prints it.

    Every person has one vote a pair (`votes_of`); marks, negative grades ("not judged"), models and a lead's decisions
    have none. Intervals are bootstraps over queries. What cannot be computed is None, never 0.

    Raises
    ------
    UsageError: a grade that is not on the scale that was named.

    >>> said = [("ana", "d", 1), ("bob", "d", 1), ("ana", "e", 0), ("bob", "e", 1)]
    >>> report = agreement_report(Judgment("q", doc, grade, who=who) for who, doc, grade in said)
    >>> report["overall"]["agreement"], report["pairs_of_persons"][0]["confusion"]
    (0.5, [[0, 1], [0, 1]])
    """
    every = list(rows)
    votes = _votes(every)
    several = {pair: cast for pair, cast in votes.items() if len(cast) > 1}
    graded = [row for row in standing(every) if row.kind == "person" and (row.grade or 0) >= 0]
    scale = rules.scale or scale_of(row.grade for row in graded if row.grade is not None)
    _check_scale(graded, scale)
    rng = np.random.default_rng(rules.seed)
    persons = sorted({row.who for row in every if row.kind == "person" and (row.grade or 0) >= 0})
    return {
        "scale": list(scale),
        "weights": rules.weights,
        "metric": rules.metric,
        "level": rules.level,
        "resamples": rules.resamples,
        "seed": rules.seed,
        "overall": _overall(several, scale),
        "alpha": _alpha(several, scale, rules, rng),
        "confusion": _confusion(several, scale),
        "pairs_of_persons": _pairs_of_persons(several, scale, rules, rng),
        "by_person": [_person(who, every, several, scale, rules) for who in persons],
        "by_query": _by_query(several),
        "disputed": _disputed(several),
        "left_out": {
            "models": sum(row.kind == "model" for row in standing(every)),
            "single": len(votes) - len(several),
        },
    }


def scale_of(grades: Iterable[float]) -> tuple[float, ...]:
    """The scale behind grades: whole ones from 0 (or the least) to the greatest, else those that occur.

    >>> scale_of([3, 1]), scale_of([0.5, 0.1]), scale_of([])
    ((0.0, 1.0, 2.0, 3.0), (0.1, 0.5), ())
    """
    found = sorted(set(map(float, grades)))
    if (
        found
        and all(grade.is_integer() for grade in found)
        and found[-1] - min(0.0, found[0]) <= WIDEST_SCALE
    ):
        return tuple(float(grade) for grade in range(int(min(0.0, found[0])), int(found[-1]) + 1))
    return tuple(found)


def _votes(rows: Iterable[Judgment]) -> dict[Pair, dict[str, float]]:
    """Each person's grade of each pair, the pairs in order."""
    made: dict[Pair, dict[str, float]] = {}
    for pair, cast in sorted(votes_of(rows).items()):
        grades = {
            row.who: row.grade
            for row in cast
            if row.kind == "person" and row.grade is not None and row.grade >= 0
        }
        if grades:
            made[pair] = grades
    return made


def _check_scale(graded: Sequence[Judgment], scale: Sequence[float]) -> None:
    known = set(scale)
    for row in graded:
        if row.grade is not None and row.grade not in known:
            listed = ", ".join(f"{one:g}" for one in scale)
            raise UsageError(
                f"{printable(row.who)} graded {printable(row.doc_id)!r} for {printable(row.query_id)!r} {row.grade:g}, "
                f"which is not on the scale {listed}"
            )


def _comparisons(several: dict[Pair, dict[str, float]]) -> list[tuple[Pair, str, str, float, float]]:
    """Every two persons' grades of one pair, the persons in order."""
    return [
        (pair, a, b, cast[a], cast[b])
        for pair, cast in several.items()
        for a, b in combinations(sorted(cast), 2)
    ]


def _overall(several: dict[Pair, dict[str, float]], scale: Sequence[float]) -> dict[str, Any]:
    compared = _comparisons(several)
    counts = grade_counts([list(cast.values()) for cast in several.values()], scale) if several else None
    return {
        "persons": len({who for cast in several.values() for who in cast}),
        "pairs": len(several),
        "comparisons": len(compared),
        "agreement": _share(x == y for *_, x, y in compared),
        "ac1": None if counts is None else gwet_ac(counts, scale),
        "ac2": None if counts is None else gwet_ac(counts, scale, "quadratic"),
    }


def _alpha(
    several: dict[Pair, dict[str, float]], scale: Sequence[float], rules: Rules, rng: np.random.Generator
) -> dict[str, Any]:
    if not several:
        return {**dict.fromkeys(METRICS), "low": None, "high": None, "queries": 0, "reason": "n<1"}
    counts = grade_counts([list(cast.values()) for cast in several.values()], scale)
    queries = [query for query, _ in several]
    interval = alpha_by_query(counts, queries, scale, rng, rules.metric, rules.level, rules.resamples)
    return {
        **{metric: krippendorff_alpha(counts, scale, metric) for metric in METRICS},
        "low": interval.low,
        "high": interval.high,
        "queries": interval.n,
        "reason": interval.reason,
    }


def _confusion(several: dict[Pair, dict[str, float]], scale: Sequence[float]) -> list[list[int]]:
    """How often one of two persons gave the grade of the row and the other that of the column: the same both ways."""
    compared = _comparisons(several)
    if not compared:
        return []
    table = confusion_table([x for *_, x, _ in compared], [y for *_, y in compared], scale)
    both = table + table.T
    np.fill_diagonal(both, np.diag(table))
    return [[int(count) for count in row] for row in both]


def _pairs_of_persons(
    several: dict[Pair, dict[str, float]], scale: Sequence[float], rules: Rules, rng: np.random.Generator
) -> list[dict[str, Any]]:
    by_two: dict[tuple[str, str], list[tuple[Pair, float, float]]] = {}
    for pair, a, b, x, y in _comparisons(several):
        by_two.setdefault((a, b), []).append((pair, x, y))
    made = []
    for (a, b), compared in sorted(by_two.items()):
        by_query: dict[str, list[tuple[float, float]]] = {}
        for (query, _), x, y in compared:
            by_query.setdefault(query, []).append((x, y))
        tables = [
            confusion_table([x for x, _ in two], [y for _, y in two], scale) for two in by_query.values()
        ]
        total = np.sum(tables, axis=0)
        interval = kappa_by_query(tables, rng, rules.weights, scale, rules.level, rules.resamples)
        counts = grade_counts([[x, y] for _, x, y in compared], scale)
        made.append(
            {
                "a": a,
                "b": b,
                "n": len(compared),
                "queries": len(tables),
                "agreement": _share(x == y for _, x, y in compared),
                "kappa": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "reason": interval.reason,
                "kappa_none": cohen_kappa(total, "none", scale).estimate,
                "kappa_linear": cohen_kappa(total, "linear", scale).estimate,
                "kappa_quadratic": cohen_kappa(total, "quadratic", scale).estimate,
                "ac1": gwet_ac(counts, scale),
                "ac2": gwet_ac(counts, scale, "quadratic"),
                "mean_difference": float(np.mean([y - x for _, x, y in compared])),
                "confusion": [[int(count) for count in row] for row in total],
            }
        )
    return made


def _person(
    who: str,
    every: list[Judgment],
    several: dict[Pair, dict[str, float]],
    scale: Sequence[float],
    rules: Rules,
) -> dict[str, Any]:
    """One person: agreement with all others and with themselves, and their pace."""
    own = [row for row in every if row.who == who and row.kind == "person"]
    against = [
        (cast[who], grade)
        for cast in several.values()
        if who in cast
        for other, grade in cast.items()
        if other != who
    ]
    again = _again(own)
    timed = [row.seconds for row in own if row.seconds is not None and row.undoes is None]
    seconds = float(sum(timed))
    stands = standing(own)
    return {
        "who": who,
        "judgments": len(stands),
        "graded": sum(row.grade is not None for row in stands),
        "comparisons": len(against),
        "agreement": _share(x == y for x, y in against),
        "kappa": _kappa(against, scale, rules.weights),
        "mean_difference": float(np.mean([x - y for x, y in against])) if against else None,
        "repeats": len(again),
        "self_agreement": _share(x == y for x, y in again),
        "self_kappa": _kappa(again, scale, rules.weights),
        "timed": len(timed),
        "hours": seconds / 3600 if timed else None,
        "pairs_an_hour": len(timed) / seconds * 3600 if seconds > 0 else None,
        "median_seconds": median(timed) if timed else None,
    }


def _again(own: list[Judgment]) -> list[tuple[float, float]]:
    """The grades of pairs that were shown to one person twice: the one before, and the repeated one."""
    before: dict[Pair, float | None] = {}
    found: dict[Pair, tuple[float, float]] = {}
    for row in by_time(standing(own)):
        pair = (row.query_id, row.doc_id)
        first = before.get(pair)
        if not row.repeat and not row.adjudicates:
            before[pair] = row.grade
        elif row.repeat and first is not None and row.grade is not None:
            found[pair] = (first, row.grade)
    return [two for two in found.values() if min(two) >= 0]


def _by_query(several: dict[Pair, dict[str, float]]) -> list[dict[str, Any]]:
    """The queries whose pairs several judged, those with least agreement first."""
    pairs = Counter(query for query, _ in several)
    by_query: dict[str, list[tuple[float, float]]] = {}
    for (query, _), _, _, x, y in _comparisons(several):
        by_query.setdefault(query, []).append((x, y))
    made = [
        {
            "query_id": query,
            "pairs": pairs[query],
            "comparisons": len(compared),
            "agreement": _share(x == y for x, y in compared),
            "mean_distance": float(np.mean([abs(x - y) for x, y in compared])),
        }
        for query, compared in by_query.items()
    ]
    return sorted(made, key=lambda row: (row["agreement"], -row["mean_distance"], row["query_id"]))


def _disputed(several: dict[Pair, dict[str, float]]) -> list[dict[str, Any]]:
    """The pairs whose grades differ, the widest apart first."""
    made = [
        {
            "query_id": query,
            "doc_id": doc,
            "spread": max(cast.values()) - min(cast.values()),
            "grades": dict(sorted(cast.items())),
        }
        for (query, doc), cast in several.items()
        if len(set(cast.values())) > 1
    ]
    return sorted(made, key=lambda row: (-row["spread"], row["query_id"], row["doc_id"]))


def _kappa(two: Sequence[tuple[float, float]], scale: Sequence[float], weights: str) -> float | None:
    if not two:
        return None
    table = confusion_table([x for x, _ in two], [y for _, y in two], scale)
    return cohen_kappa(table, weights, scale).estimate


def _share(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return sum(found) / len(found) if found else None
