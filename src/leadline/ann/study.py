"""A study of one index: truth, answers and recall, put together; each setting of a sweep in turn."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np

from leadline.ann.distance import Space
from leadline.ann.exact import Neighbours, Watch, nearest, nearest_among
from leadline.ann.fidelity import Fidelity, Point, check_facts, ids_of
from leadline.ann.recall import Answers, measure_by_id, measure_recall, rows_returned
from leadline.ann.remote import read_id_lists, read_returned
from leadline.ann.sanity import examine
from leadline.ann.target import Setting, Target, Timed, ask_all
from leadline.ann.truth import neighbours_in
from leadline.ann.vectors import Ints, Vectors
from leadline.errors import InputError, UsageError, printable

Bar = Callable[[str], Watch | None]
"""Gives the progress of a named piece of work a place to go, or None."""
Latency = Mapping[str, float | None]


@dataclass(frozen=True)
class Asked:
    """What is to be measured.

    Attributes
    ----------
    name: the target, or the file of what it returned. returned: that file, where there is no target to ask.
    given: the settings that the target was opened with. sweeps: every setting to measure under.
    filters: a file of the ids that each query's filter lets through.
    truth: where the exact neighbours are kept. stamps: whether stamps that disagree stop the comparison.
    """

    name: str
    k: int
    returned: str | None = None
    given: Mapping[str, Setting] = field(default_factory=dict)
    sweeps: Sequence[Mapping[str, Setting]] = field(default_factory=list)
    reach: float | None = None
    filters: str | None = None
    truth: str | None = None
    stamps: bool = True


def against_vectors(
    opened: Callable[[], AbstractContextManager[Target]],
    documents: Vectors,
    queries: Vectors,
    metric: str,
    asked: Asked,
    bar: Bar,
) -> Fidelity:
    """The index against exact search over the vectors.

    Raises
    ------
    InputError: the vectors, the ids or the target cannot be what they should.
    """
    health = examine(documents, queries, metric, asked.stamps)
    filters = _filters(asked.filters, queries)
    space = Space.of(documents, metric, health.lengths)
    warnings, points = list(health.warnings), []

    def measured(settings: Mapping[str, Setting], answers: Answers, latency: Latency | None) -> Point:
        recall = measure_recall(space, queries, truth, answers, asked.k, asked.name, health.zero_queries)
        return Point(settings, recall, latency, answers)

    # What an index cannot be, or returned, is told before the long search begins.
    if asked.returned is not None:
        known = read_returned(asked.returned, queries)
        rows_returned(known, documents, asked.name)
        truth = _truth(space, queries, asked, filters, bar("exact search"))
        points.append(measured({}, known, None))
    else:
        with opened() as target:
            unit = not health.unnormalised_documents
            warnings += check_facts(target.facts(), documents, queries, metric, asked.name, unit)
            truth = _truth(space, queries, asked, filters, bar("exact search"))
            for settings, timed in _asked_under(target, queries, asked, filters, bar):
                points.append(measured(settings, timed.answers, timed.latency))
    tied = int((truth.tied > 0).sum())
    return Fidelity(
        asked.name, metric, asked.k, queries, "vectors", ids_of(truth, documents), points, health, documents, tied,
        len(filters or {}), asked.reach, tuple(warnings), asked.given,
    )  # fmt: skip


def against_target(
    target: Target, queries: Vectors, metric: str, asked: Asked, bar: Bar, documents: Vectors | None = None
) -> Fidelity:
    """The index against its own exact search: by id only, as no distances are known.

    Raises
    ------
    UsageError: the target has no exact search. InputError: it failed on a query of the truth.
    """
    filters = _filters(asked.filters, queries)
    warnings = check_facts(target.facts(), documents, queries, metric, asked.name)
    exact = ask_all(
        target, queries, asked.k, filters, exact=True, warm=0, watch=bar("the target's exact search")
    )
    if exact.answers.errors:
        row, message = next(iter(exact.answers.errors.items()))
        raise InputError(
            f"the target's exact search failed for query {printable(queries.id_of(row))!r}: {printable(message)}"
        )
    points = []
    for settings, timed in _asked_under(target, queries, asked, filters, bar):
        recall = measure_by_id(exact.answers.ids, timed.answers, asked.k)
        points.append(Point(settings, recall, timed.latency, timed.answers))
    ids = [list(one or [])[: asked.k] for one in exact.answers.ids]
    warnings.append("the truth is the target's own exact search: by id only, ties are not known")
    return Fidelity(
        asked.name, metric, asked.k, queries, "target", ids, points, None, None, None, len(filters or {}),
        asked.reach, tuple(warnings), asked.given,
    )  # fmt: skip


def _asked_under(
    target: Target, queries: Vectors, asked: Asked, filters: Mapping[int, list[str]] | None, bar: Bar
) -> "list[tuple[Mapping[str, Setting], Timed]]":
    found = []
    for settings in asked.sweeps or [{}]:
        for name, value in settings.items():
            target.change(name, value)
        name = ", ".join(f"{key}={value}" for key, value in settings.items())
        timed = ask_all(target, queries, asked.k, filters, watch=bar(f"asking {name}".rstrip()))
        found.append((settings, timed))
    return found


def _filters(path: str | None, queries: Vectors) -> dict[int, list[str]] | None:
    """The ids that each query's filter lets through, by the query's row."""
    if path is None:
        return None
    found = read_id_lists(path, queries)
    failed = [row for row, ids in found.items() if isinstance(ids, str)]
    if failed:
        raise InputError(f"{printable(path)}: a filter's row holds ids, not an error")
    return {row: ids for row, ids in found.items() if not isinstance(ids, str)}


def _truth(
    space: Space, queries: Vectors, asked: Asked, filters: Mapping[int, list[str]] | None, watch: Watch | None
) -> Neighbours:
    if filters is not None and asked.truth is not None:
        raise UsageError(
            "--truth keeps the neighbours of queries without filters; leave it out with --filters"
        )
    if asked.truth is not None:
        return neighbours_in(asked.truth, space, queries, asked.k, watch)
    if filters is None:
        return nearest(space, queries.data, asked.k, watch)
    return _filtered(space, queries, asked, filters, watch)


def _filtered(
    space: Space, queries: Vectors, asked: Asked, filters: Mapping[int, list[str]], watch: Watch | None
) -> Neighbours:
    """The neighbours of filtered queries among what their filter lets through, and of the others among all."""
    documents = space.documents
    rows = rows_returned(
        Answers([list(dict.fromkeys(ids)) for ids in filters.values()], {}), documents, asked.filters or ""
    )
    allowed: list[Ints] = [np.array(one, np.int64) for one in rows]
    inside = np.array(list(filters), np.int64)
    outside = np.setdiff1d(np.arange(queries.rows), inside)
    parts = [(inside, nearest_among(space, queries.data[inside], asked.k, dict(enumerate(allowed))))]
    if len(outside):
        parts.append((outside, nearest(space, queries.data[outside], asked.k, watch)))
    n = queries.rows
    whole = Neighbours(
        np.full((n, asked.k), -1, np.int64),
        np.full((n, asked.k), np.nan),
        np.zeros(n, np.int64),
    )
    for places, found in parts:
        whole.rows[places], whole.distances[places], whole.tied[places] = (
            found.rows,
            found.distances,
            found.tied,
        )
    return whole
