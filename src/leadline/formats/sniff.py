"""Recognising a file's format by what is in it; the ending only settles what the content leaves open.

What only JSON and headers need is imported where they are met, so that a TREC run does not wait for it.
"""

from typing import Any

from leadline.errors import UnknownNameError
from leadline.formats.source import MARK
from leadline.formats.tools import NAMES

FORMATS = ("trec", "jsonl", "json", "csv", "tsv", "parquet", "beir", "trec-sampled")
"""The formats of the house by the names that `--input-format` takes, beside those of `leadline.formats.tools`; `trec-sampled`
is for judgments only, and only where it is named.
"""

RECORD_KEYS = frozenset(
    ("queryid", "qid", "topic", "topicid", "docid", "docno", "documentid", "corpusid", "error", "text")
) | {"query", "question", "userinput", "input", "id"}
"""Keys, in plain form, of which a row as JSON object has one; a query id of a JSON map is none of them."""

LOOKED_AT = 20
"""Lines that are looked at for the columns of TREC."""


def checked_format(name: str) -> str:
    """The name of a format, of the house or of another tool, as the user gave it.

    Raises
    ------
    UnknownNameError: no such format.
    """
    known = (*FORMATS, *NAMES)
    if name not in known:
        raise UnknownNameError("input format", name, known)
    return name


def recognise(head: bytes, ending: str = "") -> str:
    r"""The format of a file that begins with `head` and whose name ends in `ending` (as `.csv`).

    >>> recognise(b"q1 Q0 d1 1 0.5 bm25"), recognise(b"query-id\tcorpus-id"), recognise(b'{"q": {"d": 1}}')
    ('trec', 'tsv', 'json')
    """
    text = head.decode("utf-8", errors="replace").removeprefix(MARK).lstrip()
    if has_trec_columns(text):
        return "trec"
    if head.startswith(b"PAR1"):
        return "parquet"
    after = text[1:].lstrip()[:1]
    if (
        text.startswith("[")
        and after in ("{", "[", "]", '"', "")
        and ending not in (".run", ".trec", ".qrels")
    ):
        return "json"
    if text.startswith("{") and after in ('"', "}", ""):
        return _lines_or_whole(text, ending)
    return _table(text.partition("\n")[0].rstrip("\r"), ending)


def has_trec_columns(text: str) -> bool:
    """True where the first lines have the columns of TREC and are no JSON: an id may begin as JSON or be a header's words."""
    lines = text.split("\n", LOOKED_AT)
    # The last one may be cut, or is what follows the last line end.
    whole = lines[:-1] or lines
    if not all(map(_has_columns, whole)):
        return False
    if whole[0][0] not in "{[":
        return True
    import json

    try:
        json.loads(whole[0])
    except (ValueError, RecursionError):
        return True
    return False


def _has_columns(line: str) -> bool:
    """True for `query subtopic document grade` and for `query Q0 document rank score tag`."""
    fields = line.split(maxsplit=5)
    if len(fields) not in (4, 6):
        return False
    try:
        [float(one) for one in fields[3:5]]
    except ValueError:
        return False
    return True


def _lines_or_whole(text: str, ending: str) -> str:
    """JSONL where the first line is a row; JSON where it is a map of queries or only begins an object."""
    import json

    from leadline.formats.columns import plain
    from leadline.formats.ragfields import is_rag

    first, _, rest = text.partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # A line that is broken, or longer than the head: the name of its first key tells.
        key = plain(text[1:].lstrip().removeprefix('"').partition('"')[0])
        is_row = key in RECORD_KEYS or is_rag([key]) or rest.lstrip(" \t\r").startswith("{")
        return "jsonl" if is_row or ending in (".jsonl", ".ndjson") else "json"
    is_map = bool(value) and all(isinstance(inner, (dict, list)) for inner in value.values())
    if is_map and not is_rag(value) and not RECORD_KEYS & {plain(key) for key in value} and not rest.strip():
        return "json"
    return "jsonl" if ending != ".json" or not _is_report(value) else "json"


def _is_report(value: Any) -> bool:
    """True for an object that wraps its rows, as RAGChecker writes them."""
    return isinstance(value, dict) and isinstance(value.get("results"), list)


def _table(line: str, ending: str) -> str:
    """TSV or CSV where the first line is a header of known columns (or the ending insists); else TREC."""
    for kind, separator in (("tsv", "\t"), ("csv", ",")):
        if separator in line and _is_header(line, separator):
            return kind
    return "csv" if ending == ".csv" else "trec"


def _is_header(line: str, separator: str) -> bool:
    """True where the fields of a line are names of known columns."""
    import csv

    from leadline.formats.columns import knows
    from leadline.formats.ragfields import is_rag

    try:
        fields = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return False
    return knows(fields) or is_rag(fields)
