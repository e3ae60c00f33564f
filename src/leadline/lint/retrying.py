"""Reading a file to its end although rows are wrong: they are noted, blanked out, and the rest is read again."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from leadline.errors import EmptyInputError, InputError, RowFault, RowsError, printable
from leadline.formats.source import Source
from leadline.lint.finding import KEPT, Findings

ROUNDS = 20
"""How often a file is read at most; each round finds the faults that a stage of reading looks for."""
LINES = ("trec", "trec-sampled", "jsonl", "csv", "tsv")
"""The formats whose lines are rows, so that one may be taken out and the others stay what they are."""

Made = TypeVar("Made")


def read_on(path: str, form: str, read: Callable[[str], Made], found: Findings) -> Made | None:
    """What `read` makes of the file at `path` without its wrong rows, which go to `found`; None where nothing can be made.

    `read` is given the path of the file, or of a copy of it in which wrong lines are blank.
    """
    with tempfile.TemporaryDirectory(prefix="leadline-check-") as folder:
        copy = Path(folder) / Path(_unpacked_name(path)).name
        current = path
        if form in LINES and path != "-":
            current = _text_only(path, copy, found)
        for turn in range(ROUNDS):
            try:
                return read(current)
            except RowsError as error:
                _note(error, path, found)
                lines = _blankable(error, current, form)
                if not lines or turn == ROUNDS - 1:
                    return None
                if _blank(current, copy, lines):
                    return None
                current = str(copy)
            except EmptyInputError as error:
                if not found.faults_of(path):
                    unreadable(error, path, found, current)
                return None
            except InputError as error:
                if not (found.faults_of(path) and "no rows" in str(error)):
                    unreadable(error, path, found, current)
                return None
    return None


def unreadable(error: Exception, path: str, found: Findings, current: str = "") -> None:
    """Note an error that is of the whole file; a line that its message names is its line."""
    message = str(error)
    for name in (current, path, printable(path), "standard input"):
        message = message.removeprefix(f"{name}: ") if name else message
    line = re.match(r"line (\d+)(?:, column (\d+))?: ", message)
    message = message[line.end() :] if line else message
    column = int(line[2]) if line and line[2] else None
    at = line or re.search(r"at line (\d+), column (\d+)", message)
    if at is not None and line is None:
        column = int(at[2])
    header = re.search(r"^(no column for .*); found (.*)$", message, re.DOTALL)
    if header is not None and not Source.open(path).head().startswith(b"PAR1"):
        found.fault(path, RowFault(1, None, header[2], header[1]), "fields")
        return
    codes = (("json", "JSON|in one object"), ("encoding", "UTF-"), ("id", "ids are text"))
    code = next((name for name, words in codes if re.search(words, message)), "unreadable")
    found.fault(path, RowFault(int(at[1]) if at else 0, column, "", message), code)


def _note(error: RowsError, path: str, found: Findings) -> None:
    for fault in error.faults:
        found.fault(path, fault)
    if error.total > len(error.faults):
        found.uncounted(path, error.total - len(error.faults))


def _blankable(error: RowsError, path: str, form: str) -> set[int]:
    """The lines that can be taken out; of rows that may stand once, all but the first of each."""
    if form not in LINES:
        return set()
    if form in ("csv", "tsv") and (any(one.line == 1 for one in error.faults) or b'"' in _data(path)):
        return set()
    lines: set[int] = set()
    seen: set[str] = set()
    for fault in error.faults:
        once = "may occur once" in fault.expected
        if not once or fault.found in seen:
            lines.add(fault.line)
        seen.add(fault.found)
    return lines


def _data(path: str) -> bytes:
    return b"".join(Source.open(path).chunks(binary=True))


def _unpacked_name(path: str) -> str:
    return path.removesuffix(".gz").removesuffix(".zst") if path != "-" else "stdin"


def _blank(path: str, copy: Path, lines: set[int]) -> bool:
    """Write the copy with these lines blank; True where no line is left."""
    rows = _data(path).split(b"\n")
    for line in lines:
        if 0 < line <= len(rows):
            rows[line - 1] = b""
    copy.write_bytes(b"\n".join(rows))
    return not any(row.strip() for row in rows)


def _text_only(path: str, copy: Path, found: Findings) -> str:
    """The path, or that of a copy in which the lines that are no UTF-8 text are blank."""
    try:
        data = _data(path)
    except InputError:
        # Reading it says so again.
        return path
    if b"\0" not in data and (data.isascii() or _is_text(data)):
        return path
    wrong: set[int] = set()
    for number, line in enumerate(data.split(b"\n"), start=1):
        fault = _fault(line, number)
        if fault is not None:
            wrong.add(number)
            if found.faults_of(path) < KEPT:
                found.fault(path, fault)
    copy.write_bytes(b"\n".join(b"" if n in wrong else row for n, row in enumerate(data.split(b"\n"), 1)))
    return str(copy)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fault(line: bytes, number: int) -> RowFault | None:
    if b"\0" in line:
        shown = line.decode("utf-8", errors="replace")
        return RowFault(number, line.index(b"\0") + 1, shown, "a NUL byte; text has none")
    try:
        line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        return RowFault(
            number,
            column,
            line.decode("latin-1"),
            "expected UTF-8 text (this byte is not; save the file as UTF-8)",
        )
    return None
