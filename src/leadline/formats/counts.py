"""How many rows of how many queries a conversion writes."""

from leadline.formats.lists import Held, Kind
from leadline.formats.losses import RunCounts, counted_run, kept
from leadline.tables import Qrels, Queries, RunSource


def written(
    kind: Kind, table: "Held | RunSource | Qrels | Queries", form: str, counts: RunCounts | None = None
) -> tuple[int, int]:
    """The rows and the queries of a table that a file in the format `form` has; `counts` of a run, where they are known.

    Raises
    ------
    UnknownNameError: no such format, or one that does not hold that kind.

    >>> from leadline.formats.lists import Graded
    >>> pairs = (Graded("q", "d", 1.0), Graded("q", "d", 1.0), Graded("r", "e"))
    >>> written("judgments", Held("id", pairs), "ranx"), written("judgments", Held("text", pairs), "quepid")
    ((1, 1), (1, 2))
    """
    keeps = kept(kind, form)
    if isinstance(table, Qrels):
        others = sum(map(len, table.alternatives.values())) if "alternatives" in keeps else 0
        return table.frame.height + others, table.frame["query_id"].n_unique()
    if isinstance(table, Queries):
        return table.frame.height, table.frame.height
    if not isinstance(table, Held):
        counts = counts or counted_run(table)
        return counts.rows, len(counts.queries | _without_rows(table, keeps))
    if kind == "queries":
        return len(table.keys()), len(table.keys())
    if kind == "run":
        return len(table.hits), len({hit.query for hit in table.hits} | _without_rows(table, keeps))
    return _judgments(table, keeps)


def _without_rows(run: "Held | RunSource", keeps: frozenset[str]) -> set[str]:
    """The queries of a run without a row that the format keeps."""
    empty = run.empty if "empty" in keeps else ()
    return {*empty, *(run.failed if "failed" in keeps else ())}


def _judgments(held: Held, keeps: frozenset[str]) -> tuple[int, int]:
    said = [row for row in held.graded if row.grade is not None or (row.mark is not None and "mark" in keeps)]
    # A pair stands once, of each judge where the format has judges; a book with notes has every word.
    rows = (
        len(said)
        if "note" in keeps
        else len({(row.query, row.doc_id, row.who if "judges" in keeps else None) for row in said})
    )
    if "query" in keeps:
        return rows, len(held.keys())
    return rows, len({row.query for row in (held.graded if "blank" in keeps else said)})
