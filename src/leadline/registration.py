"""A user's own measure: one function, one call, and it works wherever a measure's name does."""

from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.catalogue import DEFINITIONS
from leadline.errors import UsageError, printable
from leadline.hits import Floats, Hits
from leadline.measure import Definition, Parameter
from leadline.measures.parameters import CONDENSED


def register(
    name: str,
    function: Callable[..., float],
    *,
    summary: str,
    source: str = "the user",
    parameters: tuple[Parameter, ...] = (),
    cutoff: Any = "optional",
    needs_relevant: bool = True,
    high: float | None = None,
) -> Definition:
    """Add a measure of one's own; it then works wherever a measure's name does.

    Parameters
    ----------
    name: letters and digits. summary: one line.
    needs_relevant: leave a query without relevant documents undefined, whatever the function gives.
    function: `function(ranked, ideal, **parameters) -> float`. `ranked` holds the grades in the order of the
        ranking, shape (returned,) or (cutoff,), NaN where unjudged; `ideal` all judged grades, best first.

    Raises
    ------
    UsageError: the name is taken, or is no name.

    >>> d = register("Best", lambda ranked, ideal: float(np.nanmax(ranked, initial=0)), summary="the best grade")
    >>> d.name, DEFINITIONS.pop("Best").own
    ('Best', True)
    """
    if not name.isidentifier():
        raise UsageError(f"measure name {name!r} is not made of letters, digits and _")
    if name.lower() in {known.lower() for known in DEFINITIONS}:
        raise UsageError(f"a measure named {name!r} is there already")

    def kernel(hits: Hits, cutoff: int | None = None, **values: Any) -> Floats:
        start, ideal_start = hits.start, hits.judged.ideal_start
        out = np.empty(hits.queries)
        for query in range(hits.queries):
            ranked = np.full(hits.returned[query], np.nan)
            own = slice(start[query], start[query + 1])
            ranked[hits.rank[own] - 1] = np.where(hits.grade[own] >= 0, hits.grade[own], np.nan)
            ideal = hits.judged.ideal[ideal_start[query] : ideal_start[query + 1]].copy()
            try:
                out[query] = function(ranked if cutoff is None else ranked[:cutoff], ideal, **values)
            except Exception as error:
                where = f"query {printable(hits.judged.query_ids[query])}"
                raise UsageError(f"measure {name}, {where}: {type(error).__name__}: {error}") from error
        if needs_relevant:
            out[hits.relevant(values.get("rel", 1)) == 0] = np.nan
        return out

    parameters = (*parameters, CONDENSED)
    example = f"{name}@10" if cutoff == "required" else name
    definition = Definition(
        name, name, summary, source, kernel, example, cutoff, parameters,
        needs_relevant=needs_relevant, high=high, bounds="none", own=True,
    )  # fmt: skip
    DEFINITIONS[name] = definition
    return definition
