"""JSON read strictly: a key twice in one object, text that is not UTF-8 and endless nesting are errors."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from leadline.errors import InputError, printable
from leadline.formats.faults import Faults

DEEP = 100
"""How many lists and objects may stand inside each other; no format that is read here comes near it."""


class WrongJson(ValueError):
    """A text that is not the JSON it should be; says what was found and what was expected."""

    def __init__(self, expected: str, column: int | None = None) -> None:
        super().__init__(expected)
        self.expected, self.column = expected, column


def parse(text: str) -> Any:
    """The value of a JSON text.

    Raises
    ------
    WrongJson: not JSON, a key twice in one object, or nested too deeply.

    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    leadline.formats.jsontext.WrongJson: the key 'a' stands twice in one object
    """
    try:
        value = _DECODER.decode(text)
        if text.count("[") + text.count("{") > DEEP and _depth(value) > DEEP:
            raise WrongJson("JSON that is nested too deeply")
        return value
    except json.JSONDecodeError as error:
        column = error.colno if error.lineno == 1 else None
        place = "" if error.lineno == 1 else f" at line {error.lineno}, column {error.colno}"
        raise WrongJson(f"not JSON ({error.msg}{place})", column) from None
    except RecursionError:
        raise WrongJson("JSON that is nested too deeply") from None
    except WrongJson:
        raise
    except ValueError as error:
        raise WrongJson(f"not JSON ({error})") from None


def decode(data: bytes, name: str) -> str:
    """The bytes as text.

    Raises
    ------
    InputError: not UTF-8; names the line, the column (in characters) and the byte.

    >>> decode("q,d\\nq1,é\\n".encode("latin-1"), "run.csv")
    Traceback (most recent call last):
    leadline.errors.InputError: run.csv: line 2, column 4: text that is not UTF-8 (byte E9); save the file as UTF-8
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        begin = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode("utf-8")) + 1
        raise InputError(
            f"{printable(name)}: line {line}, column {column}: text that is not UTF-8 "
            f"(byte {data[error.start]:02X}); save the file as UTF-8"
        ) from None


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers; only a line feed ends one, as JSON may hold U+2028 as it is."""
    return enumerate(text.split("\n"), start=1)


def objects(lines: Iterable[tuple[int, str]], faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line's object with its line number; wrong lines go to `faults`, blank lines are passed over."""
    for line, raw in lines:
        stripped = raw.strip(" \t\r")
        if not stripped:
            continue
        try:
            value = parse(stripped)
        except WrongJson as error:
            faults.add(line, error.column, stripped, error.expected)
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            faults.add(line, None, stripped, "each line is one JSON object")


def whole(text: str, name: str) -> Any:
    """The value of a file that is one JSON text.

    Raises
    ------
    InputError: not JSON, a key twice in one object, or nested too deeply.
    """
    try:
        return parse(text)
    except WrongJson as error:
        column = f" at line 1, column {error.column}" if error.column else ""
        raise InputError(f"{printable(name)}: {error.expected}{column}") from None


def _depth(value: Any) -> int:
    """How many lists and objects stand inside each other; counted level by level, as deep ones would break a recursion."""
    depth, level = 0, [value]
    while level := [one for one in level if type(one) in (dict, list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if type(one) is dict else one)]
    return depth


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise WrongJson(f"the key {printable(twice)!r} stands twice in one object")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
