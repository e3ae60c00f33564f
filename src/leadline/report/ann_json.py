"""Index fidelity as JSON: one documented shape; what could not be computed is null."""

from collections.abc import Mapping
from typing import Any

from leadline.ann.distance import TOLERANCE
from leadline.ann.fidelity import Agreement, Fidelity, Point
from leadline.ann.truth import stamp_of
from leadline.locate.index_cost import IndexCost
from leadline.report.ann_text import chosen_point
from leadline.report.json_text import document_text
from leadline.report.wording import tool_version


def ann_json(found: Fidelity, cost: IndexCost | None = None, worst: int = 10, per_query: bool = False) -> str:
    """The report as one JSON object; `recall` and `latency_ms` are those of the setting that details are shown of."""
    point = chosen_point(found)
    best = found.cheapest
    made_from = (
        None if found.documents is None else stamp_of(found.documents, found.queries, found.metric, found.k)
    )
    document: dict[str, Any] = {
        "leadline": tool_version(),
        "command": "ann",
        "target": found.target,
        "metric": found.metric,
        "k": found.k,
        "truth": found.truth,
        "made_from": made_from,
        "given": dict(found.given),
        "settings": dict(point.settings),
        **_measured(point),
        "n_queries": len(point.recall.query_rows),
        "excluded": point.recall.excluded,
        "filtered": found.filtered,
        "tied": found.tied,
        "tolerance": TOLERANCE,
        "health": None if found.health is None else found.health.to_dict(),
        "sweep": [{"settings": dict(one.settings), **_measured(one)} for one in found.points],
        "reach": found.reach,
        "cheapest": None if best is None else dict(best.settings),
        "worst": [_query(found, point, at) for at in point.recall.worst(worst)],
        "cost": None if cost is None else cost.to_dict(),
        "warnings": list(found.warnings),
    }
    if per_query:
        document["per_query"] = [_query(found, point, at) for at in range(len(point.recall.query_rows))]
    return document_text(document)


def agreement_json(found: Agreement, worst: int = 10) -> str:
    """The overlap of two indexes as one JSON object."""
    shares = found.found.shares
    return document_text(
        {
            "leadline": tool_version(),
            "command": "ann",
            "first": found.first,
            "second": found.second,
            "k": found.k,
            "overlap": {
                "mean": float(shares.mean()) if len(shares) else None,
                "same": int((shares == 1).sum()),
            },
            "n_queries": len(shares),
            "errors": list(found.errors),
            "latency": [timing(one) for one in found.latency],
            "least": [
                {
                    "query_id": found.queries.id_of(int(found.found.query_rows[at])),
                    "overlap": float(shares[at]),
                    "first_only": int(found.found.first_only[at]),
                    "second_only": int(found.found.second_only[at]),
                }
                for at in found.found.least(worst)
            ],
        }
    )


def _measured(point: Point) -> dict[str, Any]:
    recall = point.recall
    return {
        "recall": recall.spread.to_dict(),
        **timing(point.latency),
        "errors": recall.errors,
        "unanswered": recall.unanswered,
        "short": recall.short,
        "duplicates": recall.duplicates,
    }


def timing(latency: Mapping[str, float | None] | None) -> dict[str, Any]:
    """Latency and throughput apart; both null where nothing was timed."""
    if latency is None:
        return {"latency_ms": None, "per_second": None}
    return {
        "latency_ms": {name: value for name, value in latency.items() if name != "per_second"},
        "per_second": latency["per_second"],
    }


def _query(found: Fidelity, point: Point, at: int) -> dict[str, Any]:
    recall = point.recall
    row = int(recall.query_rows[at])
    got = set((point.answers.ids[row] or [])[: found.k])
    return {
        "query_id": found.queries.id_of(row),
        "recall": float(recall.by_id[at]),
        "tie_aware": None if recall.tie_aware is None else float(recall.tie_aware[at]),
        "lost": [one for one in found.exact_ids[row] if one not in got],
    }
