"""From what a file of another tool holds to tables, and back: runs, judgments, queries."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.certificate import Judge
from leadline.errors import EmptyInputError, InputError, RowFault, RowsError, UsageError, printable
from leadline.formats.keys import with_ids
from leadline.formats.lists import Asked, Graded, Held, Hit
from leadline.formats.records import queries_frame, rows_frame
from leadline.tables import Conflicts, Qrels, Queries, Run, RunSource


def run_of_held(held: Held, name: str, order: str = "score", queries: Queries | None = None) -> Run:
    """The hits as a run. With `order="file"` their order in the file counts, else their scores or ranks.

    Raises
    ------
    InputError, RowsError: nothing was returned, or texts that no query has.
    """
    found = with_ids(held, queries)
    rows = [(row.query, row.doc_id, row.score, row.line) for row in found.hits]
    scored = any(row.scored for row in found.hits)
    # A file that has scores and no ranks lists its hits by rank.
    if order == "file" or (order == "rank" and scored):
        place: dict[str, int] = {}
        for at, (query, doc, _, line) in enumerate(rows):
            place[query] = place.get(query, 0) + 1
            rows[at] = (query, doc, -float(place[query]), line)
    run = Run.checked(
        rows_frame(rows, "score"), name, empty=found.empty, failed=found.failed, source=held.source
    )
    # The line of a hit in a JSON text is its place among the hits of the file.
    by_line = {row.line: row.path for row in held.hits if row.path}
    paths = tuple(by_line.get(line, "") for line in range(1, max(by_line, default=0) + 1))
    return replace(run, notes=_said(found), scoreless=bool(rows) and not scored, paths=paths)


def qrels_of_held(
    held: Held,
    queries: Queries | None = None,
    *,
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
) -> Qrels:
    """The grades as judgments; pairs without a grade are left out. Judges who differ on a pair are a conflict.

    Where the file says that a model made them, they are that model's.

    Raises
    ------
    RowsError: one pair with two grades and no rule. InputError: no grade in it, or texts that no query has.
    """
    found = with_ids(held, queries)
    rows = [
        (row.query, row.doc_id, row.grade, place)
        for place, row in enumerate(found.graded, start=1)
        if row.grade is not None
    ]
    if not rows:
        raise EmptyInputError(f"{printable(held.source)}: no judgments in it")
    try:
        qrels = Qrels.checked(
            rows_frame(rows, "grade"),
            source=held.source,
            conflicts=conflicts,
            grade_map=grade_map,
            max_grade=max_grade,
        )
    except RowsError as error:
        raise _placed(error, found.graded) from None
    notes = _said(replace(found, notes=(*found.of_judgments, *found.notes)))
    if not held.model:
        return replace(qrels, notes=notes)
    return replace(qrels, notes=notes, models=len(qrels.rows.number), judges=(Judge(held.model),))


def queries_of_held(held: Held, queries: Queries | None = None) -> Queries:
    """Every query that the file names, with its text and further fields where they are known.

    Raises
    ------
    InputError: no query in it, or one query twice.
    """
    found = with_ids(held, queries)
    told = {one.query for one in found.asked}
    asked = [*found.asked, *(Asked(query) for query in found.keys() if query not in told)]  # noqa: SIM118
    if not asked:
        raise EmptyInputError(f"{printable(held.source)}: no queries in it")
    columns: dict[str, dict[int, Any]] = {}
    for place, one in enumerate(asked):
        fields = {**one.more, **({} if one.text is None else {"text": one.text})}
        for name, value in fields.items():
            if name not in ("query_id", "row"):
                columns.setdefault(name, {})[place] = value
    lines = [one.line for one in asked]
    return Queries.checked(queries_frame([one.query for one in asked], lines, columns), source=held.source)


def held_of(
    *, run: RunSource | None = None, qrels: Qrels | None = None, queries: Queries | None = None
) -> Held:
    """Tables of the house as what a file of another tool holds, keyed by id; the rows stay in their order.

    >>> from leadline.formats.objects import qrels_of
    >>> held_of(qrels=qrels_of({"q": {"d": 2}})).graded[0].grade
    2.0
    """
    graded: tuple[Graded, ...] = ()
    if qrels is not None:
        pairs = qrels.frame.select("query_id", "doc_id", "grade").iter_rows()
        graded = tuple(
            Graded(query, doc, float(grade), line=n) for n, (query, doc, grade) in enumerate(pairs, 1)
        )
    hits: list[Hit] = []
    if run is not None:
        scored = not getattr(run, "scoreless", False)
        for block in run.blocks():
            rows = block.load().select("query_id", "doc_id", "score").iter_rows()
            hits += [Hit(query, doc, float(score), scored=scored) for query, doc, score in rows]
    asked: list[Asked] = []
    if queries is not None:
        for row in queries.frame.drop("row", strict=False).iter_rows(named=True):
            query_id, text = row.pop("query_id"), row.pop("text", None)
            asked.append(Asked(query_id, text, {n: v for n, v in row.items() if v is not None}))
    return Held(
        "id",
        graded,
        tuple(hits),
        tuple(asked),
        () if run is None else tuple(run.empty),
        {} if run is None else dict(run.failed),
        source=(qrels.source if qrels is not None else run.name if run is not None else "queries"),
        name="" if run is None else run.name,
    )


def single(held: Held, path: str | Path, whole: str = "") -> dict[str, dict[str, float]]:
    """The grades of each query by document, to be written where a pair has one grade; queries without a grade too.

    With `whole` grades with a fraction are refused: it says who takes whole numbers only.

    Raises
    ------
    InputError: a pair with two grades, or a fraction. UsageError: no grade at all.
    """
    found: dict[str, dict[str, float]] = {query: {} for query in held.keys()}  # noqa: SIM118 - a method of its own
    for row in held.graded:
        if row.grade is None:
            continue
        where = (
            f"{printable(str(path))}: document {printable(row.doc_id)!r} for query {printable(row.query)!r}"
        )
        if whole and not float(row.grade).is_integer():
            raise InputError(
                f"{where}: the grade {row.grade:g} has a fraction, and {whole} takes whole numbers"
            )
        other = found[row.query].setdefault(row.doc_id, row.grade)
        if other != row.grade:
            raise InputError(
                f"{where}: grades {other:g} and {row.grade:g}, and a pair has one here; settle them by a rule first"
            )
    if not any(found.values()):
        raise UsageError(f"{printable(str(path))}: no grade to write")
    return found


def shown(grade: float) -> str:
    """A grade as text, whole ones without a decimal point.

    >>> shown(2.0), shown(0.7)
    ('2', '0.7')
    """
    return f"{grade:.0f}" if float(grade).is_integer() else repr(float(grade))


def plain_number(grade: float) -> int | float:
    """A grade for JSON, whole ones as whole numbers."""
    return int(grade) if float(grade).is_integer() else float(grade)


def ranked(hits: tuple[Hit, ...]) -> dict[str, list[Hit]]:
    """The hits of each query by the order rule: score descending, ties by document id (as bytes) descending."""
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.query, []).append(hit)
    for query, mine in found.items():
        by_id = sorted(mine, key=lambda hit: hit.doc_id.encode("utf-8", "surrogatepass"), reverse=True)
        found[query] = sorted(by_id, key=lambda hit: -hit.score)
    return found


def _said(held: Held) -> tuple[str, ...]:
    return tuple(f"{printable(held.source)}: {note}" for note in held.notes)


def _placed(error: RowsError, rows: tuple[Graded, ...]) -> InputError:
    """The error with the line or the path of each row in place of its number."""

    def place(number: int) -> str:
        row = rows[number - 1]
        return row.path or f"line {row.line}"

    faults = [
        RowFault(
            rows[fault.line - 1].line,
            fault.column,
            fault.found,
            re.sub(r"^but line (\d+)", lambda m: f"but {place(int(m[1]))}", fault.expected),
            rows[fault.line - 1].path,
        )
        for fault in error.faults
    ]
    return RowsError(error.source, faults, error.total, error.advice)
