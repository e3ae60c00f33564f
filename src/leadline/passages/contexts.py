"""The contexts that were sent, query by query: ids, texts, or both, as a file has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from leadline.errors import EmptyInputError, printable
from leadline.formats.columns import plain
from leadline.formats.documents import IDS, document_rows
from leadline.formats.faults import Faults, WrongValue, found_text, id_text
from leadline.formats.ragfields import tell_fields
from leadline.formats.source import Source

REASONS = ("cutoff", "truncation", "altered", "deduplication", "budget", "filter", "unknown", "missing")
"""Why retrieved evidence did not reach the context; `unknown` where nothing tells, `missing` where no context is told of."""

ID_NAMES = ("contextids", "sentids", "sentcontextids")
TEXT_NAMES = ("contexts", "sent", "sentcontexts", "retrievedcontexts", "retrievalcontext")
"""The fields that hold the context, in plain form (letters and digits, lower case), the first that is there."""


class Item(NamedTuple):
    """One entry of a context: its id, its text, or both."""

    chunk_id: str | None
    text: str | None


@dataclass(frozen=True)
class SentRow:
    """What was sent for one query, in its order; `dropped` says why other chunks were not, where the file tells."""

    items: tuple[Item, ...]
    dropped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contexts:
    """The contexts by query; `failed` are queries whose row is an error.

    >>> Contexts({"q": SentRow((Item("a", None),))}).rows["q"].items[0].chunk_id
    'a'
    """

    rows: Mapping[str, SentRow]
    failed: Mapping[str, str] = field(default_factory=dict)
    source: str = "contexts"


def read_contexts(path: str | Path) -> Contexts:
    """Contexts from a file of rows: query_id with context_ids, contexts (texts, ids, or objects with both), or an error.

    `dropped` may map ids to the reason why they were not sent.

    Raises
    ------
    InputError, RowsError: the file cannot be read, or rows are wrong: all counted, the first ten shown.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sent.jsonl")
    ...     _ = file.write_text('{"query_id": "q", "context_ids": ["a"], "contexts": ["text of a"]}')
    ...     read_contexts(file).rows["q"].items
    (Item(chunk_id='a', text='text of a'),)
    """
    source = Source.open(path)
    faults = Faults(source.name)
    rows: dict[str, SentRow] = {}
    failed: dict[str, str] = {}
    seen: dict[str, int] = {}
    what = "contexts come as rows with a query_id and context_ids or contexts"
    for line, row in document_rows(source, faults, what):
        try:
            fields = tell_fields(row)
            query = _query_id(row, fields.found)
            if query in seen:
                raise WrongValue(query, f"line {seen[query]} has the same query")
            seen[query] = line
            message = row[fields.found["error"]] if "error" in fields.found else None
            if message is not None and message != "":
                failed[query] = found_text(message)
            else:
                rows[query] = sent_row(row)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    if not rows and not failed:
        raise EmptyInputError(f"{printable(source.name)}: no contexts in it")
    return Contexts(rows, failed, source.name)


def sent_row(row: Mapping[str, Any]) -> SentRow:
    """The context of one row.

    Raises
    ------
    WrongValue: it has none, or one that cannot stand. An empty list says that nothing was sent.

    >>> sent_row({"contexts": [{"id": "a", "text": "t"}]}).items
    (Item(chunk_id='a', text='t'),)
    """
    by_plain = {plain(str(name)): value for name, value in row.items() if value is not None}
    called = {plain(str(name)): str(name) for name in row}
    ids = next((_list(by_plain[name], called[name]) for name in ID_NAMES if name in by_plain), None)
    texts = next((_list(by_plain[name], called[name]) for name in TEXT_NAMES if name in by_plain), None)
    if ids is None and texts is None:
        raise WrongValue(
            found_text(dict(row)), "a row has context_ids or contexts; [] says that nothing was sent"
        )
    told = by_plain.get("dropped", {})
    if not isinstance(told, Mapping) or any(
        value not in REASONS for value in told.values() if value is not None
    ):
        raise WrongValue(found_text(told), f"dropped maps ids to {', '.join(REASONS)}")
    dropped = {str(key): str(value) for key, value in told.items() if value is not None}
    if ids is None:
        return SentRow(tuple(map(_item, texts or [])), dropped)
    names = [id_text(value, "context id") for value in ids]
    if texts is None:
        return SentRow(tuple(Item(name, None) for name in names), dropped)
    if len(texts) != len(names):
        raise WrongValue(f"{len(texts)} contexts", f"there is one for each of the {len(names)} context_ids")
    pairs = zip(names, texts, strict=True)
    return SentRow(tuple(Item(name, _item(text).text) for name, text in pairs), dropped)


def _item(value: Any) -> Item:
    if isinstance(value, str):
        return Item(None, value)
    if not isinstance(value, Mapping):
        raise WrongValue(found_text(value), "an entry of contexts is a text, or an object with id and text")
    by_plain = {plain(str(name)): one for name, one in value.items() if one is not None}
    own = next((by_plain[name] for name in IDS if name in by_plain), None)
    text = by_plain.get("text", by_plain.get("content"))
    if (own is None and text is None) or (text is not None and not isinstance(text, str)):
        raise WrongValue(found_text(dict(value)), "an entry of contexts has an id, a text, or both")
    return Item(None if own is None else id_text(own, "context id"), text)


def _query_id(row: Mapping[str, Any], found: Mapping[str, str]) -> str:
    for meaning in ("query_id", "text"):
        if meaning in found:
            return id_text(row[found[meaning]], "query_id" if meaning == "query_id" else "question")
    raise WrongValue(found_text(dict(row)), "the row has no query_id and no question")


def _list(value: Any, name: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise WrongValue(found_text(value), f"{name} is a list")
    return value
