"""The account of an evaluation: what went in, what became of it, and what to know before believing it."""

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leadline.certificate import refusals, told
from leadline.conventions import Conventions
from leadline.errors import amount, printable
from leadline.hits import Flags, Hits, Judged
from leadline.measure import Measure
from leadline.measures.incomplete import judged as judged_share
from leadline.measures.ties import closed_form
from leadline.scores import Summary
from leadline.tables import Qrels

FEW_QUERIES = 20
"""Below this many queries the numbers are estimates and carry no verdict."""


def tool_version() -> str:
    """The version of this package, or `0+unknown` where it is not installed."""
    try:
        return importlib.metadata.version("leadline")
    except importlib.metadata.PackageNotFoundError:
        return "0+unknown"


def heading(measure: Measure, top: float) -> str:
    """The measure's name, with its gain wherever the greatest grade given, `top`, is above 1 and makes it matter."""
    graded = measure.name in ("nDCG", "DCG", "NCG") and top > 1
    return f"{measure} (gain 2^g−1)" if graded and measure.value("gain") == "exp2" else str(measure)


def qrels_account(qrels: Qrels, judged: Judged) -> dict[str, Any]:
    """The judgments in numbers."""
    grades, counts = np.unique(qrels.rows.number, return_counts=True)
    return {
        "queries": judged.queries,
        "judgments": len(qrels.rows.number),
        "relevant": int((judged.ideal >= 1).sum()),
        "without_relevant": int((judged.count(1) == 0).sum()),
        "grades": {f"{grade:g}": n for grade, n in zip(grades.tolist(), counts.tolist(), strict=True)},
        "max_grade": judged.max_grade,
        "subtopics": None if judged.subtopics is None else len(judged.subtopics.query),
        "merged": qrels.merged,
        "resolved": qrels.resolved,
        "rule": qrels.rule,
        "models": qrels.models,
        "judges": [judge.to_dict() for judge in qrels.judges],
        "certified": certified(qrels),
        "alternatives": sum(map(len, qrels.alternatives.values())),
        **{name: qrels.told.get(name, 0) for name in TEXTS},
    }


TEXTS = ("texts_exact", "texts_normalised", "texts_unmatched")
"""How many texts were a document's by the letter, only after normalising, and not at all."""
MERGED = ("collapsed", "uncollapsed", "copies", "alternatives")
"""How many rows went into one ranked better: a chunk of the same document, a copy, an alternative of the same need;
`uncollapsed` were kept, as their ids name no document."""


def certified(qrels: Qrels) -> dict[str, Any] | None:
    """Whether a model's labels are certified for reporting, and if not, why; None where no label is a model's."""
    if not qrels.models:
        return None
    against = refusals(qrels.judges, qrels.certificate)
    total = len(qrels.rows.number)
    said = told(qrels.judges, qrels.certificate, qrels.models, total)
    return {"for_reporting": not against, "reasons": against, "sentence": said}


def system_account(
    hits: Hits, counted: Flags, cutoffs: Sequence[int], before: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """One system in numbers; `judged_at` is the mean of Judged@k at each cutoff.

    `before` is what was counted before ranking: texts matched, and ids that became one; `rows` are those of then.
    """
    before = before or {}
    counts = dict(hits.counts)
    counts["rows"] = before.get("rows", counts["rows"])
    counts["duplicates_dropped"] += before.get("duplicates_dropped", 0)
    counts |= {name: before.get(name, 0) for name in (*MERGED, *TEXTS)}
    shares = {}
    for cutoff in cutoffs:
        share = judged_share(hits, cutoff)[counted]
        if not np.isnan(share).all():
            shares[str(cutoff)] = float(np.nanmean(share))
    silent = int((~hits.answered & ~hits.failed).sum())
    ties = {str(cutoff): count for cutoff, count in sorted(hits.across.items())}
    return {**counts, "unanswered": silent, "ties_across_cutoffs": ties, "judged_at": shares}


def warnings(
    summaries: Sequence[Summary],
    systems: Mapping[str, Mapping[str, Any]],
    qrels: Mapping[str, Any],
    rules: Conventions,
    measures: Sequence[Measure],
) -> list[str]:
    """What a reader should know before believing the numbers, in plain words."""
    sampled = bool(measures) and all(measure.sampled for measure in measures)
    bounded = not measures or not all(measure.of_subtopics for measure in measures)
    told = {name: _of_system(seen, rules, sampled, bounded) for name, seen in systems.items()}
    lines = [f"{printable(name)}: {said}" for name, sentences in told.items() for said in sentences]
    if rules.ties == "expected":
        known = [(m, m.definition) for m in measures if m.definition is not None]
        ranked = [m for m, one in known if one.ranked or one.needs == "evidence"]
        without = [str(m) for m in ranked if closed_form(m) is None]
        if without:
            lines.append(f"no closed form over ties: {', '.join(without)} (ordered by document id)")
    if qrels["queries"] < FEW_QUERIES:
        few = amount(qrels["queries"], "judged query", "judged queries")
        lines.append(f"only {few}: these are estimates, not a verdict")
    if qrels["resolved"]:
        lines.append(f"settled by the rule named: {amount(qrels['resolved'], 'repeated judgment')}")
    if qrels["texts_unmatched"]:
        lost = amount(qrels["texts_unmatched"], "reference text", "reference texts")
        lines.append(f"no document has it, so that only the same text meets it: {lost}")
    if qrels["certified"]:
        lines.append(qrels["certified"]["sentence"])
    ceilings = {
        row.measure: row.ceiling for row in summaries if row.group is None and row.ceiling is not None
    }
    for measure, value in ceilings.items():
        if value < 0.9995:
            why = "some queries have more relevant documents than the cutoff"
            lines.append(f"{measure} cannot exceed {value:.4f} here: {why}")
    return lines


def subtopic_remarks(measures: Sequence[Measure], judged: Judged, with_bounds: bool) -> list[str]:
    """What to know of measures of subtopics: where no query has two, and that they have no bounds."""
    asked = [str(measure) for measure in measures if measure.of_subtopics]
    if not asked:
        return []
    lines = []
    if not judged.needs.several:
        lines.append(
            "no query has more than one subtopic (column 2 of TREC judgments, a column subtopic elsewhere): "
            f"each counts as one need for {', '.join(asked)}"
        )
    if with_bounds:
        lines.append(
            f"no bounds: {', '.join(asked)} (a grade does not say which subtopics a document answers)"
        )
    return lines


def _of_system(seen: Mapping[str, Any], rules: Conventions, sampled: bool, bounded: bool) -> list[str]:
    """What a reader should know of one system; estimates from a sample count on what is not judged."""
    lines = []
    if seen["unanswered"]:
        how = "left out" if rules.queries == "intersection" else "counted as 0"
        lines.append(
            f"without an answer: {amount(seen['unanswered'], 'judged query', 'judged queries')}, {how}"
        )
    for key, what, one, many in (
        ("failed", "failed and not in the mean", "query", "queries"),
        ("unjudged_queries", "not judged and left out", "query of the run", "queries of the run"),
        ("duplicates_dropped", "dropped", "repeated document", ""),
        ("self_matches", "removed", "self-match", "self-matches"),
        (
            "uncollapsed",
            "kept as documents of their own",
            "id that names no document",
            "ids that name no document",
        ),
        (
            "texts_unmatched",
            "ranked as documents of their own",
            "text that no document has",
            "texts that no document has",
        ),
    ):
        if seen[key]:
            lines.append(f"{what}: {amount(seen[key], one, many)}")
    tied = [f"{count} across rank {k}" for k, count in seen["ties_across_cutoffs"].items() if count]
    if tied and rules.ties != "expected":
        where = "queries with equal scores on both sides of a cutoff"
        lines.append(f"{where}: {', '.join(tied)} (--ties expected averages them)")
    shares = seen["judged_at"]
    short = {int(k): share for k, share in shares.items() if share < 1}
    if short and max(shares.values()) == 0:
        lines.append("no returned document is judged; do the document ids meet those of the qrels?")
    elif short and not rules.complete and not sampled:
        share = short[max(short)]
        figure = f"{share:.0%}" if share < 0.995 else f"{share:.1%}" if share < 0.9995 else "nearly all"
        what = "the rest counts as not relevant" + (" (--bounds shows what that hides)" if bounded else "")
        lines.append(f"{figure} of its top {max(short)} is judged; {what}")
    return lines
