r"""The lists of the NPL collection (Vaswani): a line with a number, lines of text or of document numbers, and a line `/`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import InputError, amount, printable
from leadline.formats.faults import Faults
from leadline.formats.jsontext import decode, lines_of
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.source import BOM, Source

NUMBER = re.compile(r"[0-9]{1,15}")
END = "/"


@dataclass(frozen=True)
class Entry:
    r"""One entry: its number to the letter, the line of that, and its further lines, each with its own line.

    >>> Entry("7", 1, ((2, "one"), (3, "two"))).text
    'one\ntwo'
    """

    number: str
    line: int
    rows: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        """The lines as one text, line ends and all."""
        return "\n".join(text for _, text in self.rows)


def npl_kind(head: bytes) -> str | None:
    r"""`npl` or `npl-judgments` where a file begins with an entry, else None; judgments have nothing but numbers.

    >>> npl_kind(b"1\nof wings\n/\n"), npl_kind(b"1\n 12 7\n  /\n"), npl_kind(b"1\n2\n")
    ('npl', 'npl-judgments', None)
    """
    lines = head.removeprefix(BOM).lstrip().split(b"\n")
    if not re.fullmatch(rb"[0-9]+[ \t\r]*", lines[0]) or not any(line.strip() == b"/" for line in lines[1:]):
        return None
    words = b" ".join(lines[:-1]).split()
    return "npl-judgments" if all(word == b"/" or word.isdigit() for word in words) else "npl"


def npl_entries(source: Source, faults: Faults) -> Iterator[Entry]:
    """The entries of a file, in its order; what stands where a number is due goes to `faults`. Where entries end
    with `/`, the last one's may be missing.

    Raises
    ------
    InputError: not UTF-8.
    """
    number, at, ended = "", 0, False
    rows: list[tuple[int, str]] = []
    for line, raw in lines_of(decode(source.read_all(), source.name).removesuffix("\n")):
        text = raw.removesuffix("\r")
        word = text.strip(" \t")
        if at and word == END:
            yield Entry(number, at, tuple(rows))
            number, at, rows, ended = "", 0, [], True
        elif at:
            rows.append((line, text))
        elif NUMBER.fullmatch(word):
            number, at = word, line
        elif word:
            faults.add(
                line,
                None,
                text,
                "expected a number alone on its line, as each entry begins; it ends with a line /",
            )
    if at and not ended:
        faults.add(at, None, number, "expected a line / where the entry ends; there is none in the file")
    elif at:
        yield Entry(number, at, tuple(rows))


def npl_documents(source: Source, faults: Faults) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The entries as rows of documents, each with its line: `id` and `text`."""
    for entry in npl_entries(source, faults):
        yield entry.line, {"id": entry.number, "text": entry.text}


def read_npl(source: Source) -> Held:
    """The entries as queries.

    Raises
    ------
    InputError, RowsError: not UTF-8, no entry, or lines between entries.
    """
    asked = tuple(Asked(entry.number, entry.text, {}, entry.line) for entry in _entries(source))
    return Held("id", asked=asked, source=source.name)


def read_npl_judgments(source: Source) -> Held:
    """The documents that each entry lists, of grade 1; a query that lists none is said, and is not judged.

    Raises
    ------
    InputError, RowsError: not UTF-8, no entry, lines between entries, or words that are no numbers.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    entries = _entries(source)
    for entry in entries:
        for line, text in entry.rows:
            words = text.split()
            wrong = next((word for word in words if not NUMBER.fullmatch(word)), None)
            if wrong is not None:
                faults.add(line, None, wrong, "expected numbers of documents, and a line / at the end")
                continue
            graded += [Graded(entry.number, word, 1.0, line=line) for word in words]
    faults.check()
    bare = len({entry.number for entry in entries} - {row.query for row in graded})
    notes = (f"not judged, as no document is listed: {amount(bare, 'query', 'queries')}",) if bare else ()
    return Held("id", tuple(graded), notes=notes, source=source.name)


def _entries(source: Source) -> list[Entry]:
    faults = Faults(source.name)
    entries = list(npl_entries(source, faults))
    faults.check()
    if not entries:
        raise InputError(f"{printable(source.name)}: no entry in it: a number, lines, and a line /")
    return entries
