"""Whether a candidate may be gated against a pinned baseline at all, and if not, why."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.conventions import Conventions
from leadline.errors import printable
from leadline.gating.baseline import Baseline, judgments_since, looks_to, text_hash
from leadline.spelling import parse
from leadline.tables import Qrels


def why_not_comparable(
    baseline: Baseline,
    qrels: Qrels,
    measures: Sequence[Any],
    rules: Conventions,
    *,
    query_texts: Mapping[str, str] | None = None,
    accept_changed_judgments: bool = False,
) -> tuple[str, ...]:
    """The reasons why a candidate cannot be gated against the baseline; empty where it can.

    Both sides are scored again today, so another version of this package or another gain is no obstacle. What
    is: switches that decide which documents stand where, another scale under a measure that reads it, other query
    texts, rankings less deep than a rule looks, and judgments removed or changed (unless accepted).
    """
    said = []
    then = Conventions(**baseline.switches)
    for name in ("order", "score_width", "duplicates", "ignore_self", "depth", "queries", "collapse"):
        if getattr(then, name) != getattr(rules, name):
            said.append(
                f"profile {then.profile} was {name.replace('_', ' ')} {getattr(then, name)} at the baseline, "
                f"{rules.profile} is {getattr(rules, name)}"
            )
    parsed = [parse(one, rules) for one in measures]
    for one in parsed:
        if baseline.depth is not None and looks_to(one) > baseline.depth and _was_cut(baseline):
            said.append(f"{one} looks below rank {baseline.depth}, where the pinned rankings end; pin again")
        if one.reads_top and baseline.max_grade != qrels.top_grade():
            scale = f"{baseline.max_grade:g} at the baseline, {qrels.top_grade():g} now"
            said.append(f"{one} reads the top of the scale: {scale}; declare it with max_grade")
    texts = {query: text_hash(text) for query, text in (query_texts or {}).items()}
    other = [q for q, own in baseline.query_hashes.items() if q in texts and texts[q] != own]
    if other:
        some = printable(", ".join(other[:5]))
        said.append(f"query texts changed since the baseline: {len(other)} ({some})")
    if not accept_changed_judgments:
        said += judgments_since(baseline, qrels).reasons()
    return tuple(said)


def _was_cut(baseline: Baseline) -> bool:
    """True where some ranking reaches the depth it was pinned to, so that more may have followed."""
    rankings = (baseline.rankings or {}).values()
    return any(len(documents) >= (baseline.depth or 0) for documents, _ in rankings)
