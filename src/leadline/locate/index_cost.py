"""What the loss of an index costs in retrieval: the same judged queries on exact and on returned lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from leadline.ann.fidelity import Fidelity, Point
from leadline.comparison import Design, compare
from leadline.conventions import Conventions, conventions
from leadline.errors import NotComparableError, UsageError
from leadline.evaluation import score
from leadline.formats.objects import run_of
from leadline.formats.read import read_qrels
from leadline.inputs import Inputs
from leadline.scores import Comparison
from leadline.spelling import parse_all
from leadline.tables import Qrels

EXACT, INDEX = "exact", "index"


@dataclass(frozen=True)
class IndexCost:
    """Retrieval on exact and on returned lists.

    Attributes
    ----------
    rows: index − exact for every measure asked, each with its interval. recall: the row of R@k, which says how much
    of what is relevant exact search itself finds. queries: judged queries that count. left_out: judged queries that
    were not asked, or failed.
    """

    rows: Sequence[Comparison]
    recall: Comparison
    queries: int
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """The cost as it stands in the JSON output."""
        return {
            "n_queries": self.queries,
            "left_out": self.left_out,
            "measures": [_row(one) for one in self.rows],
            "retrieval_recall": _row(self.recall),
        }


def _row(one: Comparison) -> dict[str, Any]:
    kept = ("measure", "difference", "low", "high", "interval", "n", "wins", "ties", "losses")
    found = {key: getattr(one, key) for key in kept}
    return {"exact": one.mean_baseline, "index": one.mean_candidate, **found}


def cost_under(found: Fidelity, point: Point, qrels: str | Qrels, measures: str) -> IndexCost:
    """The cost of one setting that was measured, over the queries that its recall counts.

    Left out are thus those that failed, and those without a true neighbour: an exact search that finds nothing is no
    retrieval to lose. Raises as `cost_of`.
    """
    rows = point.recall.query_rows.tolist()
    exact = {found.queries.id_of(row): found.exact_ids[row] for row in rows}
    returned = {found.queries.id_of(row): point.answers.ids[row] or [] for row in rows}
    return cost_of(exact, returned, qrels, measures, found.k)


def cost_of(
    exact: Mapping[str, Sequence[str]],
    returned: Mapping[str, Sequence[str]],
    qrels: str | Qrels,
    measures: str,
    k: int,
    rules: Conventions | None = None,
) -> IndexCost:
    """The difference that the index makes, on judged queries that both lists answer for.

    Parameters
    ----------
    exact, returned: query id → ids, nearest first; the same queries. k: how deep both lists are; an id that comes
        again within it stands once.

    Raises
    ------
    UsageError: a measure that looks deeper than k. NotComparableError: none of the queries is judged.

    >>> from leadline.formats.objects import qrels_of
    >>> judged = qrels_of({"q": {"a": 1, "b": 1}})
    >>> cost_of({"q": ["a", "b"]}, {"q": ["b"]}, judged, "R@2", 2).rows[0].difference
    -0.5
    """
    rules = rules or conventions("leadline-1")
    asked = parse_all(measures, rules)
    deep = [text for text, one in asked.items() if isinstance(one.cutoff, int) and one.cutoff > k]
    if deep:
        raise UsageError(
            f"{deep[0]} looks at more than the -k {k} neighbours that are compared; give a larger -k"
        )
    by_subtopic = any(measure.of_subtopics for measure in asked.values())
    table = qrels if isinstance(qrels, Qrels) else read_qrels(qrels, keep_subtopic=by_subtopic)
    frame = table.frame
    inside = frame.filter(pl.col("query_id").is_in(list(exact)))
    total, kept = frame["query_id"].n_unique(), inside["query_id"].n_unique()
    if not kept:
        raise NotComparableError(
            "none of the queries is judged: is the id of a query the same in both files?"
        )
    runs = tuple(
        run_of({query: list(dict.fromkeys(ids[:k])) for query, ids in lists.items()}, name=name)
        for name, lists in ((EXACT, exact), (INDEX, returned))
    )
    given = Inputs(runs, replace(table, table=inside))
    recall = parse_all(f"R@{k}", rules)
    scores = score(given, {**asked, **recall}, rules)
    rows = {one.measure: one for one in compare(scores, EXACT, [INDEX], Design())}
    wanted = [rows[str(one)] for one in dict.fromkeys(asked.values())]
    return IndexCost(wanted, rows[str(next(iter(recall.values())))], kept, total - kept)
