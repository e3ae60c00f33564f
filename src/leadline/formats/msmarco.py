"""Runs as MS MARCO's own scorer takes them: `qid`, `pid` and rank, apart at tabs, without a header."""

import re
from pathlib import Path

from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import ranked
from leadline.formats.jsontext import decode
from leadline.formats.lists import Held, Hit
from leadline.formats.losses import SPACE
from leadline.formats.source import Source
from leadline.formats.write import atomic_write, own_mark


def read_msmarco(source: Source) -> Held:
    """A run by its ranks; fields may stand apart at any white space.

    Raises
    ------
    InputError, RowsError: not UTF-8, lines of other than three fields, or a rank that is none.
    """
    faults = Faults(source.name)
    hits: list[Hit] = []
    for line, raw in enumerate(decode(source.read_all(), source.name).split("\n"), start=1):
        fields = re.split(r"[ \t\r\x0b\x0c]+", raw.strip(" \t\r\x0b\x0c")) if raw.strip() else []
        if not fields:
            continue
        if len(fields) != 3:
            faults.add(line, None, raw, "expected three fields: query id, passage id, rank")
        elif not re.fullmatch(r"[1-9][0-9]{0,14}", fields[2]):
            faults.add(line, 3, fields[2], "a rank is a whole number from 1")
        else:
            hits.append(Hit(fields[0], fields[1], -float(fields[2]), line, scored=False))
    faults.check()
    if not hits:
        raise InputError(f"{printable(source.name)}: no rows in it")
    return Held("id", hits=tuple(hits), source=source.name)


def write_msmarco(held: Held, path: str | Path) -> None:
    """A run by the order rule, each query's ranks from 1.

    Raises
    ------
    InputError: an id with white space. UsageError: no hit, or a place that cannot be written to.
    """
    if not held.hits:
        raise UsageError(f"{printable(str(path))}: no hit to write")
    no_white_space([text for hit in held.hits for text in (hit.query, hit.doc_id)], path, "MS MARCO runs")
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        queries = ranked(held.hits)
        handle.write(own_mark(next(iter(queries))))
        for query, hits in queries.items():
            handle.writelines(f"{query}\t{hit.doc_id}\t{rank}\n" for rank, hit in enumerate(hits, start=1))


def no_white_space(ids: list[str], path: str | Path, what: str) -> None:
    """Raise InputError where an id has white space, which separates fields."""
    wrong = list(dict.fromkeys(text for text in ids if SPACE.search(text)))
    if wrong:
        raise InputError(
            f"{printable(str(path))}: the id {printable(wrong[0])!r} has white space, which separates fields in "
            f"{what} ({len(wrong)} such ids)"
        )
