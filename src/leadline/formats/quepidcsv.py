"""Quepid's snapshots (what a case returned) and information needs, as CSV."""

import re
from pathlib import Path

from leadline.errors import InputError, UsageError, printable
from leadline.formats.columns import plain
from leadline.formats.delimited import table_of
from leadline.formats.faults import Faults
from leadline.formats.heldtables import ranked
from leadline.formats.lists import Asked, Held, Hit
from leadline.formats.quepid import unguarded, write_rows
from leadline.formats.source import Source

SNAPSHOT = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")
NEEDS = ("query", "information_need")


def read_quepid_snapshot(source: Source) -> Held:
    """A snapshot as a run, by the positions; further columns (fields of documents) are passed over.

    Raises
    ------
    InputError, RowsError: other columns, two snapshots in one file, or a position that is no rank.
    """
    table = table_of(source.read_all(), ",", source.name)
    by_name = {plain(name): name for name in table.header}
    wanted = [plain(name) for name in SNAPSHOT]
    missing = [name for name in SNAPSHOT if plain(name) not in by_name and plain(name) != "caseid"]
    if missing:
        raise InputError(f"{printable(source.name)}: line 1: no snapshot of Quepid: no column {missing[0]}")
    columns = [by_name[name] for name in wanted if name != "caseid"]
    faults = Faults(source.name)
    hits: list[Hit] = []
    empty: dict[str, None] = {}
    names: dict[tuple[str, str], None] = {}
    for line, name, time, query, doc, position in table.rows(*columns):
        names.setdefault((name, time))
        query, doc = unguarded(query), unguarded(doc)
        if not query:
            faults.add(line, None, "nothing", "a query is text of at least one character")
        elif not doc and not position:
            empty.setdefault(query)
        elif not doc:
            faults.add(line, None, "nothing", "a position needs its document")
        elif not re.fullmatch(r"[0-9]{1,15}", position):
            column = table.header.index(by_name["docposition"]) + 1
            faults.add(line, column, position or "nothing", "a position is a whole number from 1")
        else:
            hits.append(Hit(query, doc, -float(position), line, scored=False))
    faults.check()
    if len(names) > 1:
        several = " and ".join(printable(name) for name, _ in list(names)[:2])
        raise InputError(
            f"{printable(source.name)}: {len(names)} snapshots in it ({several}); give each its own file"
        )
    answered = {hit.query for hit in hits}
    nothing = tuple(query for query in empty if query not in answered)
    asked = tuple(Asked(query, query) for query in dict.fromkeys([*(hit.query for hit in hits), *nothing]))
    further = len(table.header) - len(columns) - ("caseid" in by_name)
    return Held(
        "text", hits=tuple(hits), asked=asked, empty=nothing, source=source.name, name=next(iter(names))[0],
        left={"columns": further} if further else {},
    )  # fmt: skip


def write_quepid_snapshot(held: Held, path: str | Path) -> None:
    """A run as a snapshot: positions by the order rule; the time and the case are left for Quepid.

    Raises
    ------
    UsageError: no hit, or a place that cannot be written to.
    """
    if not held.hits:
        raise UsageError(f"{printable(str(path))}: no hit to write")
    lines = [
        [held.name or "run", "", "", query, hit.doc_id, str(place)]
        for query, hits in ranked(held.hits).items()
        for place, hit in enumerate(hits, start=1)
    ]
    write_rows(SNAPSHOT, lines, path, text=(0, 3, 4))


def read_quepid_needs(source: Source) -> Held:
    """Queries with the need behind them.

    Raises
    ------
    InputError, RowsError: other columns, a query without text, or one query with two needs.
    """
    table = table_of(source.read_all(), ",", source.name)
    if tuple(plain(name) for name in table.header) != tuple(plain(name) for name in NEEDS):
        raise InputError(
            f"{printable(source.name)}: line 1: no information needs of Quepid, whose columns are {','.join(NEEDS)}"
        )
    faults = Faults(source.name)
    asked: dict[str, Asked] = {}
    for line, query, need in table.rows(*table.header):
        query, need = unguarded(query), unguarded(need)
        one = Asked(query, query, {"information_need": need} if need else {}, line)
        first = asked.setdefault(query, one)
        if not query:
            faults.add(line, 1, "nothing", "a query is text of at least one character")
        elif first.more != one.more:
            faults.add(
                line, 2, need or "nothing", f"but line {first.line} has another need for the same query"
            )
    faults.check()
    return Held("text", asked=tuple(asked.values()), source=source.name)


def write_quepid_needs(held: Held, path: str | Path) -> None:
    """Queries with their needs; without one the cell is empty.

    Raises
    ------
    UsageError: no query, or a place that cannot be written to.
    """
    if not held.asked:
        raise UsageError(f"{printable(str(path))}: no query to write")
    lines = [
        [one.query, str(one.more.get("information_need") or one.more.get("need") or "")] for one in held.asked
    ]
    write_rows(NEEDS, lines, path, text=(0, 1))
