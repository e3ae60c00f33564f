"""Walking a JSON text with the path at hand, so that whatever is wrong is named by where it stands."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from leadline.errors import InputError, printable
from leadline.formats.delimited import NUMBER
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number, text_problem
from leadline.formats.jsontext import decode, lines_of, objects, whole
from leadline.formats.source import Source

NOTHING: tuple[Any, ...] = (None, "", [], {})


class Misplaced(WrongValue):
    """A value that cannot stand where it stands; carries its path too."""

    def __init__(self, path: str, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.path = path


@dataclass(frozen=True)
class Node:
    """A value of a JSON text and its path, such as `requests[0].id`.

    >>> Node({"ratings": [{"rating": "2"}]}, "").need("ratings").each()[0].need("rating").number("rating")
    2.0
    """

    value: Any
    path: str

    def wrong(self, expected: str) -> Misplaced:
        """The error that says what is expected here."""
        return Misplaced(self.path or "the whole text", found_text(self.value), expected)

    def get(self, *names: str) -> "Node | None":
        """The field of the first of the names that is there and not null; None where there is none.

        Raises
        ------
        Misplaced: this is no object.
        """
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        for name in names:
            if self.value.get(name) is not None:
                return Node(self.value[name], f"{self.path}.{name}".lstrip("."))
        return None

    def need(self, *names: str) -> "Node":
        """As `get`, but the field must be there.

        Raises
        ------
        Misplaced: no such field, or it is null.
        """
        found = self.get(*names)
        if found is None:
            there = next((name for name in names if name in self.value), None)
            if there is not None:
                raise Node(None, f"{self.path}.{there}".lstrip(".")).wrong(f"{there} must not be null")
            raise self.wrong(f"no field {' or '.join(names)}")
        return found

    def each(self) -> "list[Node]":
        """The elements of a list.

        Raises
        ------
        Misplaced: this is no list.
        """
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Node(value, f"{self.path}[{place}]") for place, value in enumerate(self.value)]

    def fields(self) -> "list[tuple[str, Node]]":
        """The fields of an object.

        Raises
        ------
        Misplaced: this is no object.
        """
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        return [
            (str(key), Node(value, f"{self.path}.{key}".lstrip("."))) for key, value in self.value.items()
        ]

    def others(self, *read: str) -> list[str]:
        """The names of the fields besides those that are read, where something stands in them; none where this is no object.

        >>> Node({"id": 1, "metric": {"dcg": {}}, "notes": ""}, "").others("id")
        ['metric']
        """
        if not isinstance(self.value, Mapping):
            return []
        return [str(key) for key, value in self.value.items() if key not in read and value not in NOTHING]

    def id(self, meaning: str) -> str:
        """An id: text of at least one character, or a whole number.

        Raises
        ------
        Misplaced: anything else.
        """
        try:
            return id_text(self.value, meaning)
        except WrongValue as wrong:
            raise Misplaced(self.path, wrong.found, wrong.expected) from None

    def text(self, meaning: str) -> str:
        """Text, which may be empty.

        Raises
        ------
        Misplaced: anything else, or text with NUL or half of a surrogate pair.
        """
        if not isinstance(self.value, str):
            raise self.wrong(f"a {meaning} is text")
        problem = text_problem(self.value)
        if problem:
            raise self.wrong(f"a {meaning} is text{problem}")
        return self.value

    def number(self, meaning: str) -> float:
        """A finite number, or a text that is one, as some tools write them.

        Raises
        ------
        Misplaced: anything else; true, false, NaN and infinity too.
        """
        value = self.value
        if isinstance(value, str) and re.match(NUMBER, value):
            value = float(value)
        try:
            return number(value, meaning, finite=True)
        except WrongValue as wrong:
            raise Misplaced(self.path, found_text(self.value), wrong.expected) from None

    def flag(self) -> bool:
        """True or false; null and what is not there are false.

        Raises
        ------
        Misplaced: anything else.
        """
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value


@contextmanager
def counted(faults: Faults, what: str = "") -> Iterator[None]:
    """Count what goes wrong inside as a fault; `what` says which row it is, such as `query 'a', document 'b'`."""
    try:
        yield
    except Misplaced as wrong:
        expected = f"{wrong.expected} ({what})" if what else wrong.expected
        faults.add(1, None, wrong.found, expected, wrong.path)


def tree(source: Source) -> Node:
    """A file that is one JSON text.

    Raises
    ------
    InputError: not UTF-8, not JSON, a key twice, or nested too deeply.
    """
    return Node(whole(decode(source.read_all(), source.name), source.name), "")


def rows_or_tree(source: Source, faults: Faults) -> list[Node]:
    """The rows of a file: the elements of a JSON list, its only object, or the objects of its lines (NDJSON).

    Raises
    ------
    InputError: not UTF-8, or neither one JSON text nor lines of objects.
    """
    text = decode(source.read_all(), source.name)
    first = text.strip().partition("\n")[0]
    try:
        one = isinstance(json.loads(first), dict) and "\n" in text.strip()
    except (ValueError, RecursionError):
        one = False
    if one:
        return [Node(row, f"line {line}") for line, row in objects(lines_of(text), faults)]
    value = whole(text, source.name)
    if isinstance(value, list):
        return Node(value, "").each()
    if not isinstance(value, dict):
        raise InputError(f"{printable(source.name)}: neither an object nor a list of objects")
    return [Node(value, "")]
