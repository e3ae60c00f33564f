"""JSONL rows of the plain kind, as most writers make them, read in columns; the others are left for the reader."""

import json
import re
from collections.abc import Iterator, Mapping

import polars as pl

from leadline.errors import ROW
from leadline.formats.columns import Kind, resolve
from leadline.formats.frames import Order
from leadline.formats.jsontext import lines_of
from leadline.tables import DESIGN, NEED

_PATTERNS = {
    # Text without escapes and control characters, or a whole number; all else is read by the letter.
    "id": r'(?:"([^"\\\x00-\x1f]+)"|(-?(?:0|[1-9][0-9]*)))',
    "number": r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)",
    "skip": r'(?:"[^"\\\x00-\x1f]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)',
}


PIECE = 4 << 20
"""Letters of text that are read in columns at a time."""


def plain_rows(
    text: str, kind: Kind, order: Order = "score", by_letter: bool = False
) -> tuple[pl.DataFrame | None, list[tuple[int, str]]]:
    """The rows that have the keys of the first row in its order and plain values, and all other lines.

    The table is None where the first line is no plain row, or `by_letter` asks for that; then all lines are left.

    >>> line = '{"qid": "q", "docno": 7, "score": 0.5}'
    >>> table, left = plain_rows(line + '\\n{"qid": "r", "error": "time-out"}', "run")
    >>> table.rows(), left
    ([('q', '7', 0.5, 1)], [(2, '{"qid": "r", "error": "time-out"}')])
    """
    keys = _keys(text.partition("\n")[0])
    columns = resolve(keys, kind)
    number = {"score": "score", "rank": "rank", "file": ""}[order] if kind == "run" else "grade"
    wanted = [columns.found.get(meaning, "") for meaning in ("query_id", "doc_id", number)]
    design = any(meaning in columns.found for meaning in (*DESIGN, NEED))
    if by_letter or design or columns.wrong or columns.system or "" in wanted or not keys:
        return None, list(lines_of(text))
    kinds = {wanted[0]: "id", wanted[1]: "id", wanted[2]: "number"}
    parts = [rf'"{re.escape(key)}"\s*:\s*{_PATTERNS[kinds.get(key, "skip")]}' for key in keys]
    pattern = r"^\s*\{\s*" + r"\s*,\s*".join(parts) + r"\s*\}\s*$"
    value = pl.col("number")
    name = "grade" if kind == "qrels" else "score"
    frames: list[pl.DataFrame] = []
    left: list[tuple[int, str]] = []
    first = 1
    for piece in _pieces(text.removesuffix("\n")):
        lines = pl.Series("line", piece.split("\n"), dtype=pl.String)
        groups = lines.str.extract_groups(pattern).struct.unnest()
        frame = _columns_of(groups, keys, kinds, wanted).with_row_index(ROW, offset=first)
        frame = frame.with_columns(pl.col("number").cast(pl.Float64))
        # Digits that overflow to infinity are for the reader to judge.
        matched = frame["number"].is_finite().fill_null(False)
        if first == 1 and not matched[0]:
            return None, list(lines_of(text))
        left += zip(frame[ROW].filter(~matched), lines.filter(~matched), strict=True)
        frame = frame.filter(matched).with_columns((-value if order == "rank" else value).alias(name))
        frames.append(frame.select("query_id", "doc_id", name, ROW))
        first += len(lines)
    return pl.concat(frames), left


def _pieces(text: str) -> Iterator[str]:
    """Whole lines of the text, some millions of letters at a time: of what is made of them only the columns are held."""
    start = 0
    while (end := text.find("\n", start + PIECE)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def together(plain: pl.DataFrame | None, others: pl.DataFrame) -> pl.DataFrame:
    """The rows read both ways in the order of the file."""
    if plain is None:
        return others
    return plain if others.height == 0 else pl.concat([plain, others], how="diagonal").sort(ROW)


def _keys(line: str) -> tuple[str, ...]:
    """The keys of a line that is one object, each once; none for any other line."""
    try:
        pairs = json.loads(line, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return ()
    keys = tuple(pair[0] for pair in pairs if isinstance(pair, tuple)) if isinstance(pairs, list) else ()
    # Keys with other characters may be written with escapes, and are rare.
    usual = all(re.fullmatch(r"[A-Za-z0-9_ .-]+", key) for key in keys)
    return keys if usual and len(set(keys)) == len(keys) else ()


def _columns_of(
    groups: pl.DataFrame, keys: tuple[str, ...], kinds: Mapping[str, str], wanted: list[str]
) -> pl.DataFrame:
    """The three columns from the groups of the pattern: an id has two (text or number), a number one."""
    at, found = 1, dict[str, pl.Expr]()
    for key in keys:
        kind = kinds.get(key, "skip")
        if kind == "id":
            found[key] = pl.coalesce(pl.col(str(at)), pl.col(str(at + 1)))
            at += 2
        elif kind == "number":
            found[key] = pl.col(str(at))
            at += 1
    names = ("query_id", "doc_id", "number")
    return groups.select(found[key].alias(name) for key, name in zip(wanted, names, strict=True))
