"""What a simulated world holds and what an evaluation of it says, as facts and as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.demo.world import Judgments, World
from leadline.errors import UsageError, amount
from leadline.evaluation import evaluate
from leadline.report.wording import brackets, number
from leadline.scores import Scores
from leadline.spelling import parse
from leadline.stats.clusters import cluster_mean
from leadline.stats.intervals import t_interval

KINDS: tuple[Judgments, ...] = ("pooled", "deep", "complete")


def world_facts(world: World, measure: str) -> dict[str, Any]:
    """What the world holds; each system by each kind of judgments; each difference from the first system.

    Differences are paired, with Student's interval; where several queries ask one question also with the interval
    by cluster (CR2), which then is the one to read. `seed` stands first, as in every output.

    Raises
    ------
    UsageError: the measure is not known or takes no value a query.
    """
    name, cutoff, definition = str(parse(measure)), parse(measure).cutoff, parse(measure).definition
    assert definition is not None
    judged = f"Judged@{cutoff}" if isinstance(cutoff, int) and cutoff >= 1 else "Judged@10"
    runs = world.runs()
    qrels = {kind: world.judgments(kind) for kind in KINDS}
    scores = {kind: evaluate(runs, qrels[kind], [name, judged]) for kind in KINDS}
    systems = [
        {
            "system": system.name,
            "skill": system.skill,
            "finds_hidden": system.finds_hidden,
            **{kind: scores[kind].mean(name, system.name) for kind in KINDS},
            "judged": {kind: scores[kind].mean(judged, system.name) for kind in KINDS},
        }
        for system in world.plan.systems
    ]
    plan = {key: value for key, value in vars(world.plan).items() if key not in ("systems", "seed")}
    counts = {kind: qrels[kind].frame.height for kind in KINDS}
    return {
        "seed": world.plan.seed,
        "plan": plan,
        "world": world.held() | {"judgments": counts},
        "measure": name,
        "better": definition.better,
        "judged_measure": judged,
        "systems": systems,
        "differences": _differences(scores, name, world),
    }


def paired(scores: Scores, measure: str, baseline: str, candidate: str) -> tuple[Any, list[str]]:
    """The differences candidate − baseline, shape (queries that have both values,), and the ids of these queries.

    Raises
    ------
    UsageError: the measure has no value for any query.
    """
    one, other = scores.cell(measure, baseline), scores.cell(measure, candidate)
    differences = other.values - one.values
    there = differences == differences
    if not there.any():
        raise UsageError(f"{measure} has no value here: name another measure, such as nDCG@10")
    ids = [query_id for query_id, use in zip(one.query_ids, there.tolist(), strict=True) if use]
    return differences[there], ids


def _differences(scores: Mapping[Judgments, Scores], measure: str, world: World) -> list[dict[str, Any]]:
    """Each system against the first, by each kind of judgments."""
    names, held = [system.name for system in world.plan.systems], world.held()
    clusters = world.queries().column("cluster") if held["clusters"] < held["queries"] else None
    rows = []
    for candidate in names[1:]:
        for kind in scores:
            differences, ids = paired(scores[kind], measure, names[0], candidate)
            found = t_interval(differences)
            row = {
                "baseline": names[0],
                "candidate": candidate,
                "judgments": kind,
                "difference": found.estimate,
                "low": found.low,
                "high": found.high,
                "interval": found.method if found.low is not None else None,
                "n": found.n,
            }
            if clusters is not None:
                by = cluster_mean(differences, [clusters[query_id] for query_id in ids])
                row |= {"cluster_low": by.interval.low, "cluster_high": by.interval.high}
                row |= {"cluster_interval": by.interval.method, "n_effective": by.n_effective}
            rows.append(row)
    return rows


def world_text(facts: Mapping[str, Any]) -> str:
    """The same in words and two tables, then what to know before the numbers are believed."""
    held, plan = facts["world"], facts["plan"]
    counts = held["judgments"]
    questions = (
        f" in {amount(held['clusters'], 'cluster')} (the largest: {held['largest_cluster']})"
        if held["clusters"] < held["queries"]
        else ""
    )
    lines = [
        f"{amount(held['queries'], 'query', 'queries')}{questions}, {held['relevant']} relevant documents, "
        f"{held['hidden']} of them hidden; seed {facts['seed']}",
        f"pooled: the top {plan['pool_depth']} of {', '.join(plan['pooled_from'])} and what the judges knew "
        f"({counts['pooled']} judgments)",
        f"deep: the top {plan['deep_depth']} of every system ({counts['deep']}); "
        f"complete: the truth ({counts['complete']})",
        "",
    ]
    rows = [[facts["measure"], "skill", "finds hidden", *KINDS, f"{facts['judged_measure']}, pooled"]]
    rows += [
        [
            one["system"],
            f"{one['skill']:g}",
            "yes" if one["finds_hidden"] else "no",
            *(number(one[kind]) for kind in KINDS),
            number(one["judged"]["pooled"]),
        ]
        for one in facts["systems"]
    ]
    lines += [*aligned(rows), ""]
    more = ["by cluster", "worth"] if questions else []
    rows = [["difference", "judgments", "mean", "95 % interval", *more]]
    for one in facts["differences"]:
        first = f"{one['candidate']} − {one['baseline']}" if one["judgments"] == KINDS[0] else ""
        cells = [first, one["judgments"], signed(one["difference"]), brackets(one["low"], one["high"])]
        if more:
            cells += [brackets(one["cluster_low"], one["cluster_high"]), f"{one['n_effective']:.0f} queries"]
        rows.append(cells)
    lines += [*aligned(rows), "", *(f"! {line}" for line in _remarks(facts))]
    lines += [f"In {facts['folder']}: the runs, three sets of judgments, queries.jsonl and README.md."]
    return "\n".join(lines) + "\n"


def _remarks(facts: Mapping[str, Any]) -> list[str]:
    """Where the pool says something else than the truth, and what the intervals do not know."""
    lines = []
    judged = {one["system"]: one["judged"]["pooled"] for one in facts["systems"]}
    by_key = {(one["candidate"], one["judgments"]): one for one in facts["differences"]}
    for (candidate, kind), pooled in by_key.items():
        true = by_key[candidate, "complete"]
        seen, truth = says(pooled, facts["better"]), says(true, facts["better"])
        if kind == "pooled" and seen != truth:
            lines.append(
                f"by the pool {candidate} is {seen} than {pooled['baseline']}, in truth {truth}: "
                f"{judged[candidate]:.0%} of its top was judged"
            )
    held = facts["world"]
    if held["clusters"] < held["queries"]:
        lines.append(
            f"{held['queries']} queries ask only {held['clusters']} questions: the first interval counts them as "
            "independent and is too narrow"
        )
    return lines


def says(row: Mapping[str, Any], better: str = "higher") -> str:
    """What an interval says of the candidate: better, worse, or not clearly other.

    >>> says({"low": 0.1, "high": 0.3}), says({"low": 0.1, "high": 0.3}, "lower"), says({"low": -0.1, "high": 0.3})
    ('better', 'worse', 'not clearly other')
    """
    low, high = row.get("cluster_low", row["low"]), row.get("cluster_high", row["high"])
    if low is None or high is None or low <= 0 <= high:
        return "not clearly other"
    words = {"higher": ("better", "worse"), "lower": ("worse", "better"), "neither": ("higher", "lower")}
    return words[better][0 if low > 0 else 1]


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign; a dash where there is none."""
    return "–" if value is None or value != value else f"{value:+.{digits}f}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a small table: the first column to the left, the others to the right, a rule under the heading.

    >>> aligned([["n", "mean"], ["30", "0.5"]])
    ['n   mean', '────────', '30   0.5']
    """
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            f"{cell:<{width}}" if column == 0 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]]
