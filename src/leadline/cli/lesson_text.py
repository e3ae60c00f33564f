"""The lesson's four parts, by the library's own measures and intervals, as facts and as text."""

from collections.abc import Mapping
from typing import Any

from leadline.cli.world_text import aligned, paired, signed
from leadline.demo.lesson import (
    HAND_JUDGED,
    HAND_RANKED,
    SEED,
    SIZES,
    LessonTables,
    answer_accuracy,
    hand_tables,
    resampled_ends,
)
from leadline.evaluation import evaluate
from leadline.stats.intervals import t_interval

HAND_MEASURES = ("R@1", "R@3", "R@5", "R@10", "P@1", "P@3", "P@5", "P@10", "RR", "nDCG@10")
MEASURES = ("nDCG@10", "AP", "Judged@10")


def lesson_facts(tables: LessonTables) -> dict[str, Any]:
    """The four parts: `hand`, `queries`, `judging`, `answers`.

    `queries` holds, for the first n queries, the means of A and B, the mean of B − A, the ends of the lesson's
    bootstrap, and those of Student's t, which decides elsewhere.
    """
    runs, qrels = hand_tables()
    by_hand = evaluate(list(runs), qrels, HAND_MEASURES)
    hand = [
        {"ranking": run.name} | {name: by_hand.mean(name, run.name) for name in HAND_MEASURES} for run in runs
    ]
    scores = {
        "pooled-from-A": evaluate(list(tables.runs), tables.pooled, MEASURES),
        "after-judging-C": evaluate(list(tables.runs), tables.judged, MEASURES),
    }
    first = scores["pooled-from-A"]
    a, b = (first.cell("nDCG@10", system).values for system in "AB")
    differences, _ = paired(first, "nDCG@10", "A", "B")
    queries = []
    for n in SIZES:
        low, high = resampled_ends(differences[:n].tolist())
        by_t = t_interval(differences[:n])
        queries.append(
            {
                "n": n,
                "A": float(a[:n].mean()),
                "B": float(b[:n].mean()),
                "difference": by_t.estimate,
                "low": low,
                "high": high,
                "t_low": by_t.low,
                "t_high": by_t.high,
            }
        )
    judging = [
        {"judgments": kind, "system": run.name} | {name: found.mean(name, run.name) for name in MEASURES}
        for kind, found in scores.items()
        for run in tables.runs
    ]
    answers = [vars(one) for one in answer_accuracy()]
    return {"seed": SEED, "hand": hand, "queries": queries, "judging": judging, "answers": answers}


def lesson_text(facts: Mapping[str, Any]) -> str:
    """The four parts, each a sentence and a table; its lines are at most 100 characters long."""
    judged = ", ".join(f"{doc_id} = {grade}" for doc_id, grade in HAND_JUDGED.items())
    lines = ["1. One query by hand", "", f"judged: {judged}", f"ranked: {' '.join(HAND_RANKED)}", ""]
    rows = [["", *HAND_MEASURES]]
    rows += [[one["ranking"], *(f"{one[name]:.3f}" for name in HAND_MEASURES)] for one in facts["hand"]]
    lines += [*aligned(rows), ""]

    lines += ["2. The first n of 300 queries: nDCG@10, judgments pooled from A", ""]
    rows = [["n", "A", "B", "B − A", "the lesson's bootstrap", "Student's t"]]
    for one in facts["queries"]:
        means = [f"{one[name]:.3f}" for name in "AB"]
        ends = [_ends(one["low"], one["high"]), _ends(one["t_low"], one["t_high"])]
        rows.append([str(one["n"]), *means, signed(one["difference"], 3), *ends])
    few, many = facts["queries"][0], facts["queries"][-1]
    lines += [
        *aligned(rows),
        f"At {few['n']} queries the interval is {_width(few) / _width(many):.1f} times as wide as at {many['n']}, "
        f"and the difference {few['difference'] / many['difference']:.1f} times as large.",
        "",
    ]

    lines += ["3. C finds documents that nobody judged", ""]
    rows = [["judgments", "system", *MEASURES]]
    for one in facts["judging"]:
        values = [f"{one['nDCG@10']:.3f}", f"{one['AP']:.3f}", f"{one['Judged@10']:.2f}"]
        rows.append([one["judgments"] if one["system"] == "A" else "", one["system"], *values])
    lines += [*aligned(rows), ""]

    lines += ["4. Answers: 92 % right if the passage was found, 20 % if not; 10,000 trials", ""]
    rows = [["recall", "right", "expected"]]
    rows += [
        [f"{one['recall']:.2f}", f"{one['right']:.1%}", f"{one['expected']:.1%}"] for one in facts["answers"]
    ]
    lines += aligned(rows)
    if "folder" in facts:
        lines += ["", f"In {facts['folder']}: A.run, B.run, C.run, both sets of judgments and README.md."]
    return "\n".join(lines) + "\n"


def _width(one: Mapping[str, Any]) -> float:
    """The width of Student's interval, the one that decides."""
    return float(one["t_high"]) - float(one["t_low"])


def _ends(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{signed(low, 3)}, {signed(high, 3)}]"
