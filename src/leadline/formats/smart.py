r"""The files of the SMART collections, such as Cranfield's: items of sections `.I`, `.T`, `.A`, `.B`, `.W`, and its judgments.

A line `.I` and one word begins an item, a line of a dot and one capital a section; the lines of a section are its text, line ends
and all. A section that stands twice in an item goes on.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import InputError, amount, printable
from leadline.formats.faults import Faults
from leadline.formats.jsontext import decode, lines_of
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.source import BOM, Source

ITEM = re.compile(r"\.I[ \t]+([^ \t]+)[ \t]*")
SECTION = re.compile(r"\.([A-Z])[ \t]*")
SECTIONS = {"T": "title", "A": "author", "B": "bibliography", "W": "text"}
"""What is read, by its letter. Other collections have `.K`, `.N`, `.C` and `.X` too, which are known and passed over."""
PASSED = frozenset("KNCX")
CHOICES = ("smart-number", "smart-ordinal")
"""The formats that say what a query's id is: the `.I` number, to the letter, or its place in the file from 1."""
SPACE = re.compile(r"[ \t\r\x0b\x0c]+")
GRADE = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True)
class Item:
    r"""One item of a SMART file: what stands behind `.I`, the line of that, the text of each section that it has, and the
    letters of those that are passed over.

    >>> Item("7", 1, {"text": "one\ntwo"}).number
    '7'
    """

    number: str
    line: int
    parts: Mapping[str, str]
    passed: tuple[str, ...] = ()


def is_smart(head: bytes) -> bool:
    r"""True where a file begins with an item.

    >>> is_smart(b".I 1\n.T\nof wings\n"), is_smart(b"1\tof wings\n")
    (True, False)
    """
    first = head.removeprefix(BOM).lstrip().partition(b"\n")[0].rstrip(b"\r")
    return ITEM.fullmatch(first.decode("utf-8", errors="replace")) is not None


def smart_items(source: Source, faults: Faults) -> Iterator[Item]:
    """The items of a file, in its order; lines that stand nowhere go to `faults`.

    Raises
    ------
    InputError: not UTF-8.
    """
    number, at = "", 0
    parts: dict[str, list[str]] = {}
    part: list[str] | None = None
    lines = decode(source.read_all(), source.name).removesuffix("\n")
    for line, raw in lines_of(lines):
        text = raw.removesuffix("\r")
        item, section = ITEM.fullmatch(text), SECTION.fullmatch(text)
        if item is not None:
            if at:
                yield _item(number, at, parts)
            number, at, parts, part = item[1], line, {}, None
        elif section is not None and (section[1] in SECTIONS or section[1] in PASSED) and at:
            part = parts.setdefault(SECTIONS.get(section[1], section[1]), [])
        elif section is not None:
            faults.add(line, None, text, _why(section[1], at))
        elif part is not None:
            part.append(text)
        elif text.strip():
            faults.add(
                line, None, text, "expected .I and a number, then a section such as .W before any text"
            )
    if at:
        yield _item(number, at, parts)


def _why(letter: str, at: int) -> str:
    if letter == "I":
        return "an item begins with .I and its number, one word"
    return "an unknown section; known: .T .A .B .W .K .N .C .X" if at else "expected .I and a number first"


def _item(number: str, line: int, parts: Mapping[str, list[str]]) -> Item:
    texts = {name: "\n".join(lines) for name, lines in parts.items()}
    passed = tuple(name for name, text in texts.items() if name in PASSED and text.strip())
    return Item(number, line, {name: text for name, text in texts.items() if name not in PASSED}, passed)


def smart_documents(source: Source, faults: Faults) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The items as rows of documents, each with its line: `id`, `text` (of `.W`, empty where there is none), and
    `title`, `author` and `bibliography` where they are not blank.
    """
    for item in smart_items(source, faults):
        more = {name: text for name, text in item.parts.items() if name != "text" and text.strip()}
        yield item.line, {"id": item.number, "text": item.parts.get("text", ""), **more}


def read_smart(source: Source) -> Held:
    """The items as queries, where their numbers are their places: 1, 2, 3, ….

    Raises
    ------
    InputError: they are not, so that judgments may mean the one or the other; names the two formats that say which.
    """
    items = _queries(source)
    wrong = [at for at, item in enumerate(items, start=1) if item.number != str(at)]
    if wrong:
        # Zeros before a number are the lesser difference.
        other = next((at for at in wrong if items[at - 1].number.lstrip("0") != str(at)), wrong[0])
        raise InputError(
            f"{printable(source.name)}: line {items[other - 1].line}: query {other} of the file has the number "
            f"{printable(items[other - 1].number)!r}. Judgments may mean the number or the place; either may join. Say which: "
            "the format smart-number takes the number as id, smart-ordinal the place, as in leadline convert FILE "
            "queries.jsonl --from smart-ordinal"
        )
    return _held(source, [(item.number, item) for item in items], {})


def read_smart_number(source: Source) -> Held:
    """The items as queries; the id is the `.I` number to the letter: `001` is not `1`."""
    return _held(source, [(item.number, item) for item in _queries(source)], {})


def read_smart_ordinal(source: Source) -> Held:
    """The items as queries; the id is the place in the file, from 1, and the number a further column `number`."""
    items = _queries(source)
    numbers = {str(at): item.number for at, item in enumerate(items, start=1)}
    return _held(source, [(str(at), item) for at, item in enumerate(items, start=1)], numbers)


def _queries(source: Source) -> list[Item]:
    faults = Faults(source.name)
    items = list(smart_items(source, faults))
    faults.check()
    if not items:
        raise InputError(f"{printable(source.name)}: no item in it: no line .I and a number")
    return items


def _held(source: Source, items: list[tuple[str, Item]], numbers: Mapping[str, str]) -> Held:
    asked = []
    for query, item in items:
        more = {"title": item.parts["title"]} if item.parts.get("title", "").strip() else {}
        more |= {"number": numbers[query]} if query in numbers else {}
        asked.append(Asked(query, item.parts.get("text"), more, item.line))
    sections = [
        sum(bool(item.parts.get(name, "").strip()) for name in ("author", "bibliography"))
        for _, item in items
    ]
    others = sum(map(bool, sections))
    said = (
        f"read as queries, without .A and .B of {amount(others, 'item')}: are these documents? (--documents)"
    )
    left = {"sections": sum(sections), "others": sum(len(item.passed) for _, item in items)}
    notes = (said,) if others else ()
    return Held(
        "id", asked=tuple(asked), notes=notes, source=source.name, left=left if any(left.values()) else {}
    )


def read_cranqrel(source: Source) -> Held:
    """Cranfield's judgments: query, document, grade, apart at white space. Grades stay what they are.

    Raises
    ------
    InputError, RowsError: not UTF-8, lines of other than three fields, or a grade that is no whole number.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    for line, raw in lines_of(decode(source.read_all(), source.name)):
        fields = SPACE.split(raw.strip(" \t\r\x0b\x0c")) if raw.strip() else []
        if not fields:
            continue
        if len(fields) != 3:
            faults.add(line, None, raw, "expected three fields: query, document, grade")
        elif not GRADE.fullmatch(fields[2]):
            faults.add(line, 3, fields[2], "a grade is a whole number")
        else:
            graded.append(Graded(fields[0], fields[1], float(fields[2]), line=line))
    faults.check()
    negative = sum(row.grade is not None and row.grade < 0 for row in graded)
    unknown = f", and {amount(negative, 'grade')} below 0 of no known meaning" if negative else ""
    said = f"in Cranfield's files grade 1 is best and 4 worst{unknown}; --grade-map 1=4,2=3,3=2,4=1 turns the scale"
    return Held("id", tuple(graded), notes=(said,), source=source.name)
