"""How many queries decide between two simulated systems, as facts, as a table and as a curve."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from leadline.cli.world_text import aligned, paired, signed
from leadline.demo.enough import enough_queries, excluding_shares
from leadline.demo.world import ROWS_AT_ONCE, Plan, draw_world
from leadline.evaluation import evaluate
from leadline.spelling import parse

SIZES = (10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10_000)
ENOUGH = 0.95
SETS = 1000
CELLS = 2_000_000
"""About how many documents each system returns in all: 200,000 queries to rank 10."""
LEAST_QUERIES = 20_480
BAR = 40


def plan_facts(plan: Plan, measure: str, asked: int | None, step: Callable[[float], None]) -> dict[str, Any]:
    """How often sets of n queries show the difference of two systems, and how many queries are enough.

    Many queries are simulated, fully judged; sets are drawn from them. `asked` is a size to add to the usual ones;
    `step` is told which share of the work is done. The seed of the sets is that of the simulation.

    Raises
    ------
    UsageError: the measure is not known, or has no value.
    """
    one, other = plan.systems
    name, cutoff = str(parse(measure)), parse(measure).cutoff
    depth = cutoff if isinstance(cutoff, int) and cutoff >= 1 else plan.depth
    total = max(LEAST_QUERIES, CELLS // depth) // ROWS_AT_ONCE * ROWS_AT_ONCE
    parts = []
    for start in range(0, total, ROWS_AT_ONCE):
        seed = int(np.random.SeedSequence([plan.seed, start]).generate_state(1)[0])
        world = draw_world(replace(plan, queries=ROWS_AT_ONCE, depth=depth, seed=seed))
        scores = evaluate(world.runs(), world.judgments("relevant"), name)
        parts.append(paired(scores, name, one.name, other.name)[0])
        step((start + ROWS_AT_ONCE) / total)
    differences = np.concatenate(parts)
    # Two systems of one kind differ by luck alone: the truth is 0, whatever the simulation's mean.
    equal = one.skill == other.skill and (one.finds_hidden == other.finds_hidden or not plan.hidden)
    sizes = sorted({*SIZES, *([asked] if asked else [])})
    shares = _until_enough(differences, sizes, asked, equal, np.random.default_rng(plan.seed))
    return {
        "seed": plan.seed,
        "measure": name,
        "systems": [asdict(system) for system in plan.systems],
        "alike": plan.alike,
        "hidden": plan.hidden,
        "equal": equal,
        "enough": None if equal else asdict(enough_queries(differences)),
        "shares": shares,
        "asked": asked,
    }


def _until_enough(
    differences: Any, sizes: list[int], asked: int | None, equal: bool, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """One row a size, up to the first where nearly every set decides."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        row = asdict(excluding_shares(differences, [n], SETS, rng)[0])
        rows.append(row)
        if equal and n >= max(300, asked or 0):
            break
        if row["right"] >= ENOUGH and n >= (asked or 0):
            break
    return rows


def plan_text(facts: Mapping[str, Any]) -> str:
    """The curve, a row for each number of queries, then the answer."""
    one, other = facts["systems"]
    names = f"{other['name']} − {one['name']}"
    lines = [
        f"{other['name']} (skill {other['skill']:g}) against {one['name']} (skill {one['skill']:g}), "
        f"{facts['measure']}, every document judged.",
        f"How often does the 95 % interval (Student's t) of {names} exclude zero?",
        "",
    ]
    heading = ["queries", "excludes zero"] + ([] if facts["equal"] else ["wrong side", "found ÷ true"])
    rows = [heading]
    for row in facts["shares"]:
        times = "–" if row["exaggeration"] is None else f"{row['exaggeration']:.1f}"
        cells = [f"{row['n']:,}", f"{row['right'] + row['wrong']:.1%}", f"{row['wrong']:.1%}", times]
        rows.append(cells[: len(heading)])
    lines += _with_bars(aligned(rows), [row["right"] + row["wrong"] for row in facts["shares"]])
    lines += ["", f"each row: {facts['shares'][0]['sets']:,} simulated sets of queries; seed {facts['seed']}"]
    if not facts["equal"]:
        lines.append("found ÷ true: how large the difference looks where the interval excludes zero")
    return "\n".join([*lines, *_answer(facts, names)]) + "\n"


def _with_bars(lines: list[str], shares: list[float]) -> list[str]:
    wide = max(map(len, lines))
    bars = ["", "", *("█" * round(BAR * share) for share in shares)]
    return [f"{line:<{wide}}  {bar}".rstrip() for line, bar in zip(lines, bars, strict=True)]


def _answer(facts: Mapping[str, Any], names: str) -> list[str]:
    """How many queries, and how sure that is."""
    found = facts["enough"]
    if found is None:
        return [
            "",
            "Both are equal: what excludes zero is a false alarm; 5 % are to be expected at any size.",
        ]
    true = f"true difference {signed(found['difference'])}, spread over queries {found['sd']:.3f}"
    if found["n"] is None:
        return ["", f"No number of queries decides: {true}."]
    top = "no limit" if found["high"] is None else f"{found['high']:,}"
    return [
        "",
        f"About {found['n']:,} queries ({found['low']:,} to {top}) until {names} excludes zero in {found['power']:.0%} "
        "of the sets:",
        f"{true}, from {found['simulated']:,} queries.",
    ]
