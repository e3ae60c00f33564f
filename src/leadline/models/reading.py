"""A JSON answer read strictly out of a model's text: the last complete object, checked by its schema, or an error."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import LeadlineError, printable
from leadline.models.schema import broken_rule

LONGEST = 200_000
"""The longest reply that is read, in characters."""
DEEPEST = 32
"""How deep objects and lists may lie in each other."""

SPACE = re.compile(r"[ \t\r\n]*")
STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
ATOM = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
BEGUN = re.compile(r"""\{\s*(?:["']|[A-Za-z_]\w*\s*:|\Z)""")
"""A brace that is meant as the beginning of an object, and not one of the prose such as `{1, 2}` or `{query}`."""
BRACE = re.compile(r"[{}\[\]]")


class ReadError(LeadlineError):
    """A reply that is no answer; the message says why."""


@dataclass(frozen=True)
class Read:
    """An answer. several: the text held more than one object, and this is the last. repaired: a comma too many was removed."""

    value: dict[str, Any]
    several: bool = False
    repaired: bool = False


class _Wrong(Exception):
    """Not JSON from a place on, with so many braces and brackets open."""

    def __init__(self, place: int, depth: int, said: str) -> None:
        super().__init__(said)
        self.place, self.depth, self.said = place, depth, said


def read_answer(text: str, schema: Mapping[str, Any] | None = None) -> Read:
    """The last complete JSON object of the text, once the schema holds.

    Only the last object counts, since a model may show a draft or quote a passage before it. What stands within a broken
    object is no answer, and neither is anything before a broken one: it may be the draft of what was cut off. A comma
    before a closing brace or bracket is removed, and that is recorded; nothing else is repaired.

    Parameters
    ----------
    text: the reply, with or without prose and fences around the object.
    schema: JSON Schema with the words of `schema.WORDS`; None checks nothing.

    Raises
    ------
    ReadError: no complete object, a broken one after it, a key twice, or the schema does not hold.
    UsageError: a schema with words that are not checked.

    >>> read_answer('draft {"grade": 0} final {"grade": 1,}')
    Read(value={'grade': 1}, several=True, repaired=True)
    >>> read_answer("Rating: 4 (0 errors)")
    Traceback (most recent call last):
        ...
    leadline.models.reading.ReadError: there is no JSON object in the reply: 'Rating: 4 (0 errors)'
    """
    if len(text) > LONGEST:
        raise ReadError(f"the reply has {len(text)} characters; at most {LONGEST} are read")
    if not text.strip():
        raise ReadError("the reply is empty")
    found, broken = _objects(text)
    if broken is not None:
        raise ReadError(f"the last JSON object of the reply is broken ({broken.said}): {_excerpt(text)}")
    if not found:
        raise ReadError(f"there is no JSON object in the reply: {_excerpt(text)}")
    piece, repaired = found[-1]
    value = _value(piece)
    if schema is not None and (rule := broken_rule(value, schema)):
        raise ReadError(f"the answer is not as asked for: {rule}")
    return Read(value, len(found) > 1, repaired)


def _objects(text: str) -> tuple[list[tuple[str, bool]], _Wrong | None]:
    """The complete objects, each with whether it was repaired, and what is wrong with a broken one after the last of them."""
    found: list[tuple[str, bool]] = []
    broken: _Wrong | None = None
    place = inside = 0
    while (match := BRACE.search(text, place)) is not None:
        start = match.start()
        if text[start] in "}]":
            inside, place = max(inside - 1, 0), start + 1
            continue
        if text[start] == "[":
            inside, place = inside + bool(inside), start + 1
            continue
        commas: list[int] = []
        try:
            end = _end(text, start, 1, commas)
        except _Wrong as wrong:
            # Every character is looked at once: a broken object is left where it breaks.
            if inside or BEGUN.match(text, start):
                inside, broken, place = inside + wrong.depth, wrong, max(wrong.place, start + 1)
            else:
                place = start + 1
            continue
        if not inside:
            found.append((_without(text, start, end, commas), bool(commas)))
            broken = None
        place = end
    return found, broken


def _end(text: str, start: int, depth: int, commas: list[int]) -> int:
    """Where the object or list that starts here ends; the places of commas too many are added to `commas`."""
    if depth > DEEPEST:
        raise _Wrong(start, depth - 1, f"over {DEEPEST} levels deep")
    close = "}" if text[start] == "{" else "]"
    place = _skip(text, start + 1)
    if text[place : place + 1] == close:
        return place + 1
    while True:
        if close == "}":
            place = _token(STRING, text, place, depth, "a key in double quotes")
            place = _skip(text, place)
            if text[place : place + 1] != ":":
                raise _wrong(text, place, depth, "a colon")
            place = _skip(text, place + 1)
        place = _skip(text, _after_value(text, place, depth, commas))
        sign = text[place : place + 1]
        if sign == close:
            return place + 1
        if sign != ",":
            raise _wrong(text, place, depth, f"a comma or {close}")
        after = _skip(text, place + 1)
        if text[after : after + 1] == close:
            commas.append(place)
            return after + 1
        place = after


def _after_value(text: str, place: int, depth: int, commas: list[int]) -> int:
    if text[place : place + 1] in ("{", "["):
        return _end(text, place, depth + 1, commas)
    if text[place : place + 1] == '"':
        return _token(STRING, text, place, depth, "text that ends")
    return _token(ATOM, text, place, depth, "a value")


def _token(kind: re.Pattern[str], text: str, place: int, depth: int, expected: str) -> int:
    match = kind.match(text, place)
    if match is None:
        raise _wrong(text, place, depth, expected)
    return match.end()


def _wrong(text: str, place: int, depth: int, expected: str) -> _Wrong:
    if place >= len(text):
        return _Wrong(place, depth, "it is cut off")
    return _Wrong(place, depth, f"{expected} was expected at character {place + 1}")


def _skip(text: str, place: int) -> int:
    match = SPACE.match(text, place)
    return match.end() if match else place


def _without(text: str, start: int, end: int, commas: list[int]) -> str:
    parts, place = [], start
    for comma in sorted(commas):
        parts.append(text[place:comma])
        place = comma + 1
    return "".join(parts) + text[place:end]


def _value(piece: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ReadError(f"the answer gives {printable(twice)[:60]!r} twice")
        return made

    def number(digits: str) -> float:
        if not math.isfinite(value := float(digits)):
            raise ReadError("the answer holds a number that is too large")
        return value

    def whole(digits: str) -> int:
        if len(digits) > 300:
            raise ReadError("the answer holds a number that is too large")
        return int(digits)

    value = json.loads(piece, object_pairs_hook=once, parse_float=number, parse_int=whole)
    assert isinstance(value, dict)
    return value


def _excerpt(text: str) -> str:
    shown = printable(text.strip())
    return repr(shown if len(shown) <= 120 else f"{shown[:57]} … {shown[-57:]}")
