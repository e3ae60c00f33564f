"""An index as a system that `leadline collect` asks: each query by its vector."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.collecting.asking import FunctionTarget

ADDRESSED = ("postgresql", "postgres")


def names_an_index(spec: str) -> bool:
    """Whether a target is an index that takes vectors.

    >>> names_an_index("hnswlib:docs.bin"), names_an_index("mysearch:ask"), names_an_index("solr:http://localhost")
    (True, False, False)
    """
    from leadline.ann.target import KINDS

    kind = spec.partition(":")[0]
    return kind in ADDRESSED or (kind in KINDS and kind not in ("http", "python"))


def index_target(
    spec: str, queries: str | None, documents: str | None, metric: str, settings: Sequence[str]
) -> "FunctionTarget":
    """The index behind a name, asked by the vectors in a file; a query without a vector fails, and is counted so.

    Parameters
    ----------
    queries, documents: files of vectors, as `leadline ann` takes them; the documents' name an index's rows.

    Raises
    ------
    LeadlineError: no such index, it cannot be opened, or the vectors do not fit it.
    """
    from leadline.ann.distance import metric_named
    from leadline.ann.fidelity import read_settings
    from leadline.ann.target import open_target, shown_name
    from leadline.ann.vectors import read_vectors
    from leadline.collecting.asking import FunctionTarget

    if queries is None:
        raise UsageError("an index is asked by vectors: --query-vectors FILE, with the ids of the queries")
    asked = read_vectors(queries)
    known = None if documents is None else read_vectors(documents)
    index = open_target(spec, read_settings(settings), known, asked.dimensions, metric_named(metric))
    facts = index.facts()
    if facts.dimensions not in (None, asked.dimensions):
        raise UsageError(
            f"--query-vectors {asked.name}: {asked.dimensions} dimensions; the index has {facts.dimensions}"
        )

    def ask(query_id: str, k: int) -> dict[str, list[str]]:
        row = asked.row_of.get(query_id)
        if row is None:
            raise LookupError(f"{asked.name} has no vector of it")
        return {"ids": list(index.search(asked.data[row], k))}

    password = urlsplit(spec).password if spec.startswith(ADDRESSED) else None
    hidden = (password,) if password else ()
    return FunctionTarget(
        shown_name(spec), ask, secrets=hidden, by_id=True, data=f"{asked.sha256} {settings}"
    )
