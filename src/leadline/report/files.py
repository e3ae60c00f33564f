"""Reports written to files: the kind by the name's ending, and never a half-written file."""

import io
import os
from collections.abc import Callable
from pathlib import Path

from leadline.errors import UsageError, printable
from leadline.report.csv_text import csv_text
from leadline.report.html_page import html_page
from leadline.report.json_text import json_text, one_line, value_rows
from leadline.report.latex_text import latex_text
from leadline.report.markdown_text import markdown_text
from leadline.report.table_text import table_text
from leadline.scores import Scores


def write_report(scores: Scores, path: str | os.PathLike[str], command: str = "evaluate") -> None:
    """Write the scores to a file whose kind is its ending.

    `.json` everything with the values of each query; `.csv`, `.parquet` and `.jsonl` the table system,
    measure, query_id, value, state; `.md`, `.html` and `.tex` the summary as a page or table; `.txt` the
    table of the terminal. The file appears complete or not at all.

    Raises
    ------
    UsageError: the ending is none of these, or the file cannot be written there.
    """
    # The writers need Polars; a report that is only printed does not wait for it.
    from leadline.formats.write import atomic_write

    content = KINDS[kind_of(path)](scores, command)
    with atomic_write(Path(path)) as place:
        place.write_bytes(content)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The kind of report that a file's ending names.

    Raises
    ------
    UsageError: it names none.

    >>> kind_of("out/report.HTML")
    '.html'
    """
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        known = " ".join(sorted(KINDS))
        raise UsageError(f"{printable(str(path))}: the ending names no kind of report; known: {known}")
    return kind


def _json(scores: Scores, command: str) -> bytes:
    return json_text(scores, command, per_query=True).encode()


def _jsonl(scores: Scores, command: str) -> bytes:
    return "".join(f"{one_line(row)}\n" for row in value_rows(scores)).encode()


def _parquet(scores: Scores, command: str) -> bytes:
    out = io.BytesIO()
    scores.to_polars().write_parquet(out)
    return out.getvalue()


KINDS: dict[str, Callable[[Scores, str], bytes]] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
    ".csv": lambda scores, command: csv_text(scores, per_query=True).encode("utf-8", "backslashreplace"),
    ".md": lambda scores, command: markdown_text(scores).encode(),
    ".tex": lambda scores, command: latex_text(scores).encode(),
    ".html": lambda scores, command: html_page(scores, command).encode(),
    ".txt": lambda scores, command: table_text(scores, color=False).encode(),
}
"""What each ending writes."""
