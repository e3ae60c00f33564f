"""Carrying out a conversion: the file, the map of its ids and the card of its labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import InputError, printable
from leadline.formats.card import card_path, write_card_row
from leadline.formats.columns import resolve
from leadline.formats.conversion import Conversion
from leadline.formats.keys import MAP, write_map
from leadline.formats.lists import Held
from leadline.formats.placing import placed, renamed_errors
from leadline.formats.tools import write_tool
from leadline.formats.write import write_qrels, write_queries, write_run
from leadline.tables import Qrels, Queries


def carried_out(conversion: Conversion) -> Path | None:
    """Write the file, with the map of ids to texts and the card of the labels beside it where there are some.

    What stands beside is written just before the file takes its place, and put back as it was where an error stops
    that: so all are there, or none. A file never stands without its card, nor a card with another file unseen, since
    it has the file's hash. Where no card goes with the labels, one that stood beside an older file of that name goes.

    Returns
    -------
    The path of the map, or None.

    Raises
    ------
    InputError: something the format cannot hold. UsageError: a place that cannot be written to.
    """
    aim = conversion.aim
    beside: Path | None = None
    folder = aim.form == "beir"
    with (
        renamed_errors({conversion.opened.place: conversion.opened.shown}),
        _put_back([Path(f"{aim.path}{MAP}"), *([] if folder else [card_path(aim.path, folder=False)])]),
        placed(aim.path, aim.ending, aim.packing, lambda made: _card(conversion, made)) as made,
    ):
        _write(conversion, made)
        if folder and conversion.card is not None:
            row = conversion.card.of(aim.path, card_path(aim.path, folder=True), conversion.rows, None)
            write_card_row(card_path(made, folder=True), row)
        if conversion.texts:
            beside = write_map(conversion.texts, aim.path)
    if folder and conversion.kind == "judgments" and conversion.card is None:
        card_path(aim.path, folder=True).unlink(missing_ok=True)
    return beside


def _card(conversion: Conversion, finished: Path) -> None:
    """Write the card of the file that is about to take its place, or take away one that told of an older file."""
    place = card_path(conversion.aim.path, folder=False)
    if conversion.card is not None:
        write_card_row(place, conversion.card.of(conversion.aim.path, place, conversion.rows, finished))
    else:
        place.unlink(missing_ok=True)


@contextmanager
def _put_back(places: list[Path]) -> Iterator[None]:
    """Where an error comes, what stood in these places stands there again."""
    before = {place: place.read_bytes() if place.is_file() else None for place in places}
    try:
        yield
    except BaseException:
        for place, content in before.items():
            if content is None:
                if place.is_file():
                    place.unlink()
            elif not place.is_file() or place.read_bytes() != content:
                place.write_bytes(content)
        raise


def _own_names(queries: Queries, shown: str) -> None:
    """Refuse further columns that would be read as the query's id or text."""
    columns = [name for name in queries.frame.columns if name != "row"]
    told = resolve(columns, "queries")
    taken = set(told.found.values()) | {name for name, _ in told.wrong}
    for name in sorted(taken - {"query_id", "text"}):
        raise InputError(
            f"{printable(shown)}: the queries' field {printable(name)!r} would be read as their id or text; rename it"
        )


def _write(conversion: Conversion, made: Path) -> None:
    table, aim = conversion.table, conversion.aim
    for queries in (table, conversion.beside):
        if isinstance(queries, Queries):
            _own_names(queries, conversion.opened.shown)
    if isinstance(table, Held):
        write_tool(aim.form, table, made)
    elif aim.form == "beir":
        from leadline.formats.beir import write_beir

        qrels = table if isinstance(table, Qrels) else None
        queries = table if isinstance(table, Queries) else conversion.beside
        write_beir(made, queries=queries, qrels=qrels)
        if qrels is None:
            # A folder of judgments would be empty.
            (made / "qrels").rmdir()
    elif isinstance(table, Qrels):
        if "subtopic" in table.frame.columns and table.frame["subtopic"].null_count():
            raise InputError(
                f"{printable(conversion.opened.shown)}: some judgments have a subtopic, others none"
            )
        write_qrels(table, made)
    elif isinstance(table, Queries):
        write_queries(table, made)
    else:
        write_run(table, made)
