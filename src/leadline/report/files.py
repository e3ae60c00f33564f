"""Reports written to files: the kind by the name's ending, and never a half-written file."""

import io
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from leadline.errors import InputError, UsageError, printable
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
    UsageError: the ending is none of these. InputError: the file cannot be written there.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise UsageError(
            f"{printable(str(path))}: the ending names no kind of report; known: {' '.join(sorted(KINDS))}"
        )
    replace_file(target, KINDS[kind](scores, command))


def replace_file(target: Path, content: bytes) -> None:
    """Put the content in the place of the target in one step, whatever interrupts it.

    Raises
    ------
    InputError: the directory does not exist, or the file may not be written.
    """
    try:
        # A link is followed, so that what it points to is replaced and not the link.
        real = target.resolve()
        if real.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        beside = real.with_name(f".{real.name[:100]}.{secrets.token_hex(6)}.part")
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(real)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{printable(str(target))}: cannot be written: {error.strerror or error}") from error


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
