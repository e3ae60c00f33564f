"""Files keyed by a query's text, and ids: exact text to id, ids that are made, and the map that is written beside.

With a table of queries a text gets the id of the query that has exactly this text. Without one the text is the id, to
the letter, so that two such files meet each other, RAG rows without ids, and the book of judgments. Where ids must be
without white space they are made by `escaped`, and `write_map` writes which is which beside the file.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from leadline.errors import InputError, UsageError, amount, printable
from leadline.formats.lists import Asked, Held
from leadline.tables import Queries

if TYPE_CHECKING:
    import polars as pl

ESCAPED = re.compile(r'[ \t\n\r\x0b\x0c"%]')
MAP = ".queries.jsonl"
"""The ending of the map of made ids, after the name of the file that it stands beside."""


def escaped(text: str) -> str:
    """The text as an id that every format holds: white space of ASCII, `"` and `%` as `%` and two hex digits.

    >>> escaped("star trek"), escaped("100%"), escaped("d1")
    ('star%20trek', '100%25', 'd1')
    """
    return ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def unescaped(text: str) -> str:
    """The text that `escaped` was given; what it cannot have written stays as it is.

    >>> unescaped("star%20trek"), unescaped("%7E and %")
    ('star trek', '%7E and %')
    """
    found = unquote(text, errors="surrogateescape")
    return found if escaped(found) == text else text


def escaped_ids(frame: "pl.DataFrame", columns: Sequence[str] = ("query_id", "doc_id")) -> "pl.DataFrame":
    """A table whose ids are `escaped`, for a format that cannot hold white space; only where that is asked for.

    >>> import polars as pl
    >>> escaped_ids(pl.DataFrame({"query_id": ["star trek"], "doc_id": ["100%"]})).row(0)
    ('star%20trek', '100%25')
    """
    import polars as pl

    made = {}
    for name in columns:
        column = pl.col(name)
        # The percent sign first: it begins every other one.
        for letter in '% \t\n\r\x0b\x0c"':
            column = column.str.replace_all(letter, f"%{ord(letter):02X}", literal=True)
        made[name] = column
    return frame.with_columns(**made)


def with_ids(held: Held, queries: Queries | None = None) -> Held:
    """The same, keyed by id. Rows whose query's text is not among the queries are left out, counted and said.

    Raises
    ------
    InputError: several queries have one of the texts, or none has any.
    """
    if held.keyed == "id":
        return held
    if queries is None:
        ids = {text: held.own.get(text, text) for text in held.keys()}  # noqa: SIM118 - a method of its own
        _no_two(ids, held.source)
        return _renamed(held, ids)
    by_text, said = _by_text(held, queries)
    keys = held.keys()
    found = {text: by_text[text] for text in keys if text in by_text}
    without = [text for text in keys if text not in found]
    if not found:
        raise InputError(
            f"{printable(held.source)}: none of its {amount(len(keys), 'query', 'queries')} has its text in "
            f"{printable(queries.source)} (the first is {printable(without[0])!r}); texts are met to the letter"
            if keys
            else f"{printable(held.source)}: no query in it"
        )
    if without:
        rows = sum(row.query not in found for part in (held.graded, held.hits) for row in part)
        what = f", with {amount(rows, 'row')}" if rows else ""
        said += (
            f"left out: {amount(len(without), 'query', 'queries')} of {len(keys)} whose text is not in "
            f"{printable(queries.source)}{what} (the first is {printable(without[0])!r})",
        )
    return _renamed(replace(held, notes=(*held.notes, *said)), found)


def _by_text(held: Held, queries: Queries) -> tuple[dict[str, str], tuple[str, ...]]:
    """The id of each text that the file names, and what is to be said of it."""
    if "text" not in queries.frame.columns:
        raise InputError(
            f"{printable(queries.source)}: no texts in it, and {printable(held.source)} names its queries by text"
        )
    keys = set(held.keys())
    found: dict[str, list[str]] = {}
    ids: dict[str, str] = {}
    for query_id, text in queries.frame.select("query_id", "text").iter_rows():
        if text in keys:
            found.setdefault(text, []).append(query_id)
        if query_id in keys:
            ids[query_id] = query_id
    for text, several in found.items():
        if len(several) > 1:
            raise InputError(
                f"{printable(queries.source)}: {len(several)} queries have the text {printable(text)!r} "
                f"({', '.join(map(printable, several[:5]))}), and {printable(held.source)} names its queries by text"
            )
    if not found and len(ids) == len(keys):
        return ids, (f"its queries are named by the ids of {printable(queries.source)}, not by their texts",)
    return {text: several[0] for text, several in found.items()}, ()


def with_made_ids(held: Held) -> tuple[Held, dict[str, str]]:
    """The same, keyed by ids that every format holds, and the text of each id.

    An id that the file itself has for a text stays; else it is the text, `escaped`.

    Raises
    ------
    InputError: the file has one id for two texts.

    >>> from leadline.formats.lists import Graded
    >>> with_made_ids(Held("text", (Graded("star trek", "d1", 2.0),)))[1]
    {'star%20trek': 'star trek'}
    """
    if held.keyed == "id":
        return held, {}
    ids = {text: held.own.get(text, escaped(text)) for text in held.keys()}  # noqa: SIM118 - a method of its own
    _no_two(ids, held.source)
    return _renamed(held, ids), {query_id: text for text, query_id in ids.items()}


def write_map(texts: Mapping[str, str], beside: str | Path) -> Path:
    """Write which text each id stands for as queries (JSONL) beside the file: its name with `.queries.jsonl`.

    A map of the same content stays; over any other file nothing is written.

    Raises
    ------
    UsageError: there is another file of that name, or the place cannot be written to.
    """
    from leadline.formats.write import atomic_write

    place = Path(f"{beside}{MAP}")
    rows = [json.dumps({"query_id": one, "text": text}, ensure_ascii=False) for one, text in texts.items()]
    text = "".join(f"{row}\n" for row in rows)
    if place.exists():
        if place.is_file() and place.read_bytes() == text.encode():
            return place
        raise UsageError(
            f"{printable(str(place))}: the map of the ids that were made belongs there, and there is another file; "
            "move it, or give the ids with --queries"
        )
    with atomic_write(place) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return place


def with_texts(held: Held, queries: Queries | None = None) -> Held:
    """The same, keyed by text, to be written so: the text of each id, from the queries or the file; else the id stands.

    Raises
    ------
    InputError: two queries have one text, which such a file cannot tell apart.
    """
    if held.keyed == "text":
        return held
    texts = {one.query: one.text for one in held.asked if one.text}
    if queries is not None and "text" in queries.frame.columns:
        rows = queries.frame.select("query_id", "text").iter_rows()
        texts |= {query_id: text for query_id, text in rows if text}
    named = {query_id: texts.get(query_id) or query_id for query_id in held.keys()}  # noqa: SIM118 - a method
    _no_two(named, held.source, "text")
    without = sum(query_id not in texts for query_id in named)
    notes = held.notes
    if without:
        notes += (f"{amount(without, 'query has', 'queries have')} no text: the id stands for it",)
    return replace(_renamed(held, named), keyed="text", notes=notes, own={t: i for i, t in named.items()})


def _no_two(found: Mapping[str, str], source: str, what: str = "id") -> None:
    """Refuse two keys that would become one."""
    first: dict[str, str] = {}
    for key, value in found.items():
        other = first.setdefault(value, key)
        if other != key:
            raise InputError(
                f"{printable(source)}: the queries {printable(other)!r} and {printable(key)!r} have one {what}, "
                f"{printable(value)!r}"
            )


def _renamed(held: Held, names: Mapping[str, str]) -> Held:
    """The rows whose query has a name, under that name; a text that was the key stays with its query."""
    told = {one.query for one in held.asked}
    by_text = held.keyed == "text"
    asked = [
        replace(one, query=names[one.query], text=one.query if by_text else one.text)
        for one in held.asked
        if one.query in names
    ]
    if by_text:
        asked += [Asked(name, key) for key, name in names.items() if key not in told]
    rename: Callable[[str], str] = names.__getitem__
    return replace(
        held,
        keyed="id",
        graded=tuple(replace(r, query=rename(r.query)) for r in held.graded if r.query in names),
        hits=tuple(replace(r, query=rename(r.query)) for r in held.hits if r.query in names),
        asked=tuple(asked),
        empty=tuple(rename(query) for query in held.empty if query in names),
        failed={rename(query): said for query, said in held.failed.items() if query in names},
        own={},
    )
