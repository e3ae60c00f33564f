"""Wrong rows as they are found: all counted, the first ones kept, raised together; and checks of one value."""

import json
import numbers
from math import isfinite
from typing import Any

from leadline.errors import RowFault, RowsError, kept_rows


class Faults:
    """The wrong rows of one file.

    >>> faults = Faults("run.csv")
    >>> faults.add(3, 2, "x", "a score is a number")
    >>> faults.check()
    Traceback (most recent call last):
    leadline.errors.RowsError: run.csv: line 3, column 2: found 'x', a score is a number
    """

    def __init__(self, source: str, advice: str = "") -> None:
        self.source, self.advice = source, advice
        self.shown: list[RowFault] = []
        self.total = 0

    def add(self, line: int, column: int | None, found: str, expected: str, path: str = "") -> None:
        """Count a wrong row, and keep what is wrong with it while there is room."""
        self.total += 1
        if len(self.shown) < kept_rows():
            self.shown.append(RowFault(line, column, found, expected, path))

    def check(self) -> None:
        """Raise RowsError where any row was wrong."""
        if self.total:
            raise RowsError(self.source, self.shown, self.total, self.advice)


class WrongValue(Exception):
    """One value of a row that cannot stand; carries the text found and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found, self.expected = found, expected


def id_text(value: Any, meaning: str) -> str:
    """An id as text: text stays as it is, a whole number becomes text, anything else is refused.

    Raises
    ------
    WrongValue: no id, or one that may have lost its form (a number with decimals, true, false, null).

    >>> id_text("007", "doc_id"), id_text(7, "doc_id")
    ('007', '7')
    """
    if isinstance(value, str):
        text = str(value)
        problem = text_problem(text)
        if problem or text == "":
            raise WrongValue(text or "nothing", f"a {meaning} is text of at least one character{problem}")
        return text
    # bool counts as a whole number in Python; as an id it is a mistake.
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise WrongValue(found_text(value), f"a {meaning} is text or a whole number")
    return str(int(value))


def text_problem(text: str) -> str:
    """What makes a text unusable, as the end of a sentence; empty where nothing does."""
    if "\0" in text:
        return ", without NUL"
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        return ", without a half of a surrogate pair"
    return ""


def number(value: Any, meaning: str, finite: bool = False) -> float:
    """A score, rank or grade as a float.

    Raises
    ------
    WrongValue: no number, NaN, or not finite where that is asked.
    """
    if type(value) is float and isfinite(value):
        return value
    expected = f"a {meaning} is a{' finite' if finite else ''} number"
    if isinstance(value, str):
        raise WrongValue(value, f"{expected}, not text in quotes")
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise WrongValue(found_text(value), expected)
    try:
        result = float(value)
    except OverflowError:
        raise WrongValue(found_text(value), f"{expected} that fits 64 bits") from None
    if result != result or (finite and result in (float("inf"), float("-inf"))):
        raise WrongValue(found_text(value), expected)
    return result


def found_text(value: Any) -> str:
    """A value as a message shows it: text as it is, the rest as JSON where it has a form there."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)[:200]
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:200]
