"""The ids that a run returned for each query, best first, by the house's one rule for order."""

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.conventions import Conventions
from leadline.hits import Judged
from leadline.ids import heads, of_texts, texts
from leadline.ranking import head
from leadline.tables import Qrels, Rows, RunSource

DEEPEST = 1 << 30


@dataclass(frozen=True)
class Rankings:
    """The ranked ids by query, and the queries that failed. A query that the run does not answer is in neither."""

    ids: dict[str, list[str]]
    failed: frozenset[str]
    name: str = "run"

    def of(self, query_id: str) -> list[str]:
        """The ids of one query; none where the run does not answer it."""
        return self.ids.get(query_id, [])


def rankings(run: RunSource, query_ids: Sequence[str], rules: Conventions) -> Rankings:
    """The rankings of some queries.

    Raises
    ------
    RowsError: wrong rows, or a document twice for one query.

    >>> import polars as pl
    >>> from leadline.tables import Run
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}))
    >>> rankings(run, ["q"], Conventions()).ids
    {'q': ['b', 'a']}
    """
    import numpy as np

    if not query_ids:
        return Rankings({}, frozenset(run.failed), run.name)
    # The Head is made of judged queries: any document, judged 0, makes a query one of them.
    wanted = of_texts(list(query_ids))
    table = Qrels.checked(Rows(wanted, of_texts(["-"] * len(query_ids)), np.zeros(len(query_ids))))
    judged = Judged.of(table)
    found: dict[str, list[str]] = {}
    frame = head(run, judged, rules, rules.depth or DEEPEST)
    for code, doc_id in zip(frame["query"].to_list(), frame["doc_id"].to_list(), strict=True):
        found.setdefault(judged.query_ids[code], []).append(doc_id)
    found |= {query_id: [] for query_id in run.empty}
    return Rankings(found, frozenset(run.failed), run.name)


def queries_of(run: RunSource) -> list[str]:
    """Every query of a run, in its order: those with documents, then those answered with nothing."""
    seen: dict[str, None] = {}
    for block in run.blocks():
        query = block.rows().query_id
        seen |= dict.fromkeys(texts(query[heads(query)]))
    return [*seen, *(one for one in run.empty if one not in seen)]
