"""Null systems: what any system worth its cost must beat."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.movement import lists_of
from leadline.tables import Run, RunSource

RANDOM, POPULAR = "null-random", "null-popular"


def null_runs(run: RunSource, rules: Conventions, depth: int = 100, seed: int = 0) -> list[Run]:
    """Two systems that know nothing of the question, made from what a run returns.

    `null-random` returns each query's documents in random order; `null-popular` returns, whatever the question, the
    documents that the run returns most often (equal counts by document id).

    >>> from leadline.formats.objects import run_of
    >>> made = null_runs(run_of({"q1": ["a", "b"], "q2": ["a"]}), Conventions())
    >>> made[1].name, made[1].frame.filter(pl.col("query_id") == "q2")["doc_id"].to_list()
    ('null-popular', ['a', 'b'])
    """
    lists = lists_of(run, rules, depth)
    rng = np.random.default_rng(seed)
    mixed = {
        query: [documents[i] for i in rng.permutation(len(documents)).tolist()]
        for query, documents in lists.items()
    }
    counts = Counter(document for documents in lists.values() for document in documents)
    popular = [
        document for document, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:depth]
    ]
    return [_run(mixed, RANDOM), _run(dict.fromkeys(lists, popular), POPULAR)]


def _run(lists: dict[str, list[str]], name: str) -> Run:
    def rows() -> Iterator[tuple[str, str, float]]:
        for query, documents in lists.items():
            for place, document in enumerate(documents):
                yield query, document, float(-place)

    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return Run.checked(pl.DataFrame(list(rows()), schema=schema, orient="row"), name)
