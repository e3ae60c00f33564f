"""Whether a Parquet file fits together: its footer and the heads of its pages, read before its values are.

Polars trusts the counts in them. A damaged one can ask for more memory than any machine has, and that ends the process.
The heads are Thrift in its compact form; numbers of fields are those of the format's `parquet.thrift`.
"""

import mmap
import struct
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"
DEEP = 32
"""How many structures may stand inside each other; real ones stay below eight."""
NUMBERS = (3, 4, 5, 6)
"""The types of whole numbers: 8 to 64 bits."""

Fields = dict[int, Any]


class Misfit(ValueError):
    """A count or a place that cannot be."""


class _Reader:
    """Reads structures of Thrift's compact protocol one after another."""

    def __init__(self, data: "mmap.mmap | bytes", at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def byte(self) -> int:
        """The next byte."""
        if not 0 <= self.at < self.end:
            raise Misfit("a structure that does not end")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        """A whole number from 0, seven bits a byte, the lowest first."""
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise Misfit("a number of more than 64 bits")

    def number(self) -> int:
        """A whole number with a sign, which is its lowest bit."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def skip(self, size: int) -> None:
        """Pass over so many bytes."""
        if size > self.end - self.at:
            raise Misfit("a text that does not end")
        self.at += size

    def structure(self, depth: int = 0) -> Fields:
        """The fields by number: numbers, structures and lists of these; of all else only that it is there."""
        if depth > DEEP:
            raise Misfit("structures inside structures without end")
        found: Fields = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            found[number] = self.value(head & 15, depth)
        return found

    def value(self, kind: int, depth: int, listed: bool = False) -> Any:
        """A value of a type; in a list, true and false take a byte each."""
        if kind in (1, 2):
            return self.byte() if listed else kind == 1
        if kind == 3:
            return self.byte()
        if kind in NUMBERS:
            return self.number()
        if kind == 7:
            return self.skip(8)
        if kind == 8:
            return self.skip(self.varint())
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            # An element takes a byte at least.
            if size > self.end - self.at:
                raise Misfit("a list that does not end")
            return [self.value(head & 15, depth + 1, True) for _ in range(size)]
        if kind == 12:
            return self.structure(depth + 1)
        raise Misfit("a field of no known type")


def checked_size(path: Path) -> int:
    """How many bytes the values of a Parquet file take at least, once they are read: eight each, or its pages unpacked.

    Raises
    ------
    Misfit: the footer and the pages contradict each other, or what is in the file.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        if size < 12:
            raise Misfit("too short")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            length = struct.unpack("<I", data[size - 8 : size - 4])[0]
            if data[:4] != MAGIC or data[size - 4 :] != MAGIC or not 0 < length <= size - 12:
                raise Misfit("the file must begin and end with PAR1, and have a footer")
            footer = _Reader(data, size - 8 - length, size - 8).structure()
            rows, total = _count(footer, 3), 0
            groups = _structures(footer, 4)
            if rows != sum(_count(group, 3) for group in groups):
                raise Misfit("the rows of its groups are not as many as its rows")
            for group in groups:
                for chunk in _structures(group, 1):
                    total += _chunk(data, size - 8 - length, chunk, _count(group, 3))
            return total


def _chunk(data: mmap.mmap, end: int, chunk: Fields, rows: int) -> int:
    """What the values of one column of a group take; the heads of its pages say as many values as the footer."""
    told = chunk.get(3)
    if not isinstance(told, dict):
        raise Misfit("a column that is not described")
    values, unpacked, seen = _count(told, 5), 0, 0
    if values < rows:
        raise Misfit("a column has fewer values than there are rows")
    places = [_count(told, number) for number in (9, 11) if told.get(number)]
    at = min(places, default=0)
    while seen < values:
        reader = _Reader(data, at, end)
        page = reader.structure()
        unpacked += _count(page, 2)
        at = reader.at + _count(page, 3)
        if not reader.at <= at <= end:
            raise Misfit("a page ends behind the pages")
        kind = page.get(1)
        if kind in (0, 3):
            inner = page.get(5 if kind == 0 else 8)
            count = _count(inner, 1)
            seen += count
            if count == 0 and at == reader.at:
                raise Misfit("a page with nothing in it")
        elif kind == 2 and _count(page.get(7), 1) > _count(page, 2):
            raise Misfit("a dictionary of more values than bytes")
    if seen != values:
        raise Misfit("the pages of a column have more values than the column")
    return max(unpacked, 8 * values)


def _count(fields: Any, number: int) -> int:
    found = fields.get(number) if isinstance(fields, dict) else None
    if type(found) is not int or found < 0:
        raise Misfit("a count is missing or below 0")
    return found


def _structures(fields: Fields, number: int) -> list[Fields]:
    found = fields.get(number, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Misfit("a list of structures is none")
    return found
