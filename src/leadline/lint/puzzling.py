"""What a file that nothing is recognised in looks like, so that the message says more than that it is unknown."""

import re
from collections.abc import Sequence

from leadline.formats.source import MARK

NAMES = "query_id, doc_id, score"


def puzzle(head: bytes) -> tuple[int, str, str]:
    r"""The first line with text of a file, what stands there, and what it looks like; 0, "" and "" where nothing is said.

    >>> puzzle(b"q1;d1;1\nq1;d2;2\n")[2]
    '3 fields separated by semicolons: write commas or tabs, and a header with the names of the columns (query_id, doc_id, score)'
    >>> puzzle(b"one of a kind\n")
    (1, 'one of a kind', '')
    """
    text = head.decode("utf-8", errors="replace").removeprefix(MARK)
    lines = [
        (number, line.strip("\r"))
        for number, line in enumerate(text.split("\n")[:50], start=1)
        if line.strip()
    ]
    if not lines:
        return 0, "", ""
    number, first = lines[0]
    return number, first[:200], _like(first.strip(), [line for _, line in lines])


def only_returns(head: bytes) -> bool:
    """Whether lines end with a carriage return alone."""
    return b"\r" in head.rstrip(b"\r\n") and b"\n" not in head


def _like(first: str, lines: Sequence[str]) -> str:
    """What the first lines look like; empty where nothing is to be said."""
    if first.startswith("<"):
        return "HTML or XML, as a server sends it in place of a file: fetch the file again"
    if re.match(r"[\[{]\s*'", first):
        return "JSON with single quotes, as Python prints it: write it with json.dumps"
    if first in ("{", "[") or re.fullmatch(r'\{\s*"[^"]*"\s*:\s*[^{\[]*,', first):
        return "one JSON object over several lines: write each row as an object on a line of its own"
    for separator, name in ((";", "semicolons"), ("|", "bars"), (",", "commas"), ("\t", "tabs")):
        count = _even(lines, separator)
        if count > 1 and (separator in ";|" or any(map(_is_number, first.split(separator)))):
            return f"{count} fields separated by {name}{_instead(count, separator)}"
    widths = {len(line.split()) for line in lines}
    if len(widths) != 1:
        return ""
    width = widths.pop()
    if width in (4, 6) and not any(map(_is_number, first.split())) and len(lines) > 1:
        return "the names of columns: a TREC file has no header, so take this line away"
    if width == 3 and all(map(_is_number, (field for line in lines for field in line.split()))):
        return (
            "3 columns of numbers, as MS MARCO's runs (query, passage, rank: --input-format msmarco) "
            "and Cranfield's judgments (query, document, grade: --qrels-format cranqrel) have them"
        )
    if width in (2, 3, 5) and any(map(_is_number, first.split())):
        return (
            f"{width} columns: a TREC run has 6 (query_id, Q0, doc_id, rank, score, tag), "
            "judgments have 4 (query_id, 0, doc_id, grade)"
        )
    return ""


def _even(lines: Sequence[str], separator: str) -> int:
    """How many fields each line has; 0 where they differ."""
    counts = {line.count(separator) for line in lines[:-1] or lines}
    return counts.pop() + 1 if len(counts) == 1 else 0


def _instead(count: int, separator: str) -> str:
    """What to write in place of fields that are separated so."""
    header = f"a header with the names of the columns ({NAMES})"
    if separator in ";|":
        return f": write commas or tabs, and {header}"
    if count in (4, 6):
        return f" and no header: write blanks in place of them, as TREC files have, or {header} above"
    return f" and no header: write {header} above"


def _is_number(field: str) -> bool:
    return re.fullmatch(r"\s*[+-]?\d+([.,]\d+)?\s*", field) is not None
