"""What assessors go by: the scale with the meaning and an example of every grade, and the guideline."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path

from leadline.errors import InputError, UsageError, printable

KEYS: Mapping[str, str] = {
    "unsure": "n", "skip": "s", "broken": "b", "undo": "u", "help": "?",
    "document": "d", "guide": "g", "note": "t", "evidence": "e",
}  # fmt: skip
"""The keys of the judging screen that are no grades."""
MOST_GRADES = 10
HEADING = re.compile(r"#{1,6}\s+(?P<grade>-?\d+(?:\.\d+)?)(?:\s*[:–—.-](?=\s)|(?=\s))(?P<name>.*)")
EXAMPLE = re.compile(r"^\**example:?\**:?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Grade:
    """One grade of the scale: its number, its name, what it means, an example, and the key that gives it."""

    grade: float
    name: str
    meaning: str = ""
    example: str = ""
    key: str = ""


USUAL = (
    Grade(0, "off topic", "The document has nothing to do with what the person wants."),
    Grade(1, "related", "It is about the subject, but answers nothing of what the person wants."),
    Grade(2, "partly answers", "It answers a part, or answers it in passing."),
    Grade(3, "answers fully", "A person who reads this needs nothing else."),
)
"""The scale where none is given."""
YES_NO = (
    Grade(0, "not relevant", "It does not help with what the person wants."),
    Grade(1, "relevant", "It helps with what the person wants."),
)
GUIDELINE = """Read the need first, then the text. Judge whether **this text** helps the person who has the need, not whether
it is well written and not whether you like the answer. Do not use what you know beyond the text.

If you cannot tell, say *not sure*; if the text is cut off or unreadable, say *broken*.
"""
"""The guideline where none is given."""


@dataclass(frozen=True)
class Rules:
    """The scale and the guideline that judgments are given under.

    >>> Rules.of("binary").grades
    (0, 1)
    >>> [one.key for one in Rules.of("0,10,100").scale]
    ['1', '2', '3']
    """

    scale: tuple[Grade, ...]
    guideline: str

    @classmethod
    def of(cls, scale: str | None = None, guideline: str | None = None) -> "Rules":
        """The rules of a scale as it is written on a command line and the text of a guideline.

        A heading of the guideline that is a grade and its name (`## 2 partly answers`) gives that grade its name, its
        meaning (the text below), and its example (the paragraph that begins with `Example:`). Without a scale, those
        headings are the scale.

        Raises
        ------
        UsageError: a scale that cannot be read, or has under 2 or over 10 grades.
        """
        told, rest = _grades_of(guideline or "")
        text = (rest if told else guideline) if guideline else GUIDELINE
        grades = _scale(scale) if scale is not None else tuple(told.values()) or USUAL
        merged = [_merged(one, told.get(one.grade)) for one in grades]
        return cls(_with_keys(merged), text or "")

    @property
    def grades(self) -> tuple[float, ...]:
        """The grades, lowest first."""
        return tuple(one.grade for one in self.scale)

    @property
    def version(self) -> str:
        """A hash of the scale and the guideline; every judgment keeps it.

        >>> Rules.of("0-3").version == Rules.of("0-3").version != Rules.of("0-4").version
        True
        """
        text = json.dumps([[asdict(one) for one in self.scale], self.guideline], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def html(self) -> str:
        """The guideline as HTML: Markdown, in which raw HTML is shown as it is written.

        >>> Rules.of(guideline="*a* <b>").html()
        '<p><em>a</em> &lt;b&gt;</p>\\n'
        """
        from markdown_it import MarkdownIt

        markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        # Pictures would be asked from other servers, which the content policy does not let through: their words stay.
        markdown.add_render_rule("image", lambda _, tokens, place, *__: escape(tokens[place].content))
        return str(markdown.render(self.guideline))


def read_rules(scale: str | None, guideline: str | Path | None) -> Rules:
    """The rules of a scale and of the file of a guideline.

    Raises
    ------
    InputError: no such file, or one that is not UTF-8. UsageError: as `Rules.of`.
    """
    if guideline is None:
        return Rules.of(scale)
    try:
        text = Path(guideline).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{printable(str(guideline))}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{printable(str(guideline))}: text that is not UTF-8; save the file as UTF-8"
        ) from None
    if not text.strip():
        raise InputError(f"{printable(str(guideline))}: empty, no guideline in it")
    return Rules.of(scale, text)


def _scale(text: str) -> tuple[Grade, ...]:
    """`0-3`, `binary`, or `0=off topic,1=related,…`."""
    if text.strip().lower() == "binary":
        return YES_NO
    span = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", text)
    if span:
        low, high = int(span[1]), int(span[2])
        parts = [str(n) for n in range(low, min(high, low + MOST_GRADES) + 1)]
    else:
        parts = [part for part in text.split(",") if part.strip()]
    grades = []
    for part in parts:
        number, _, name = part.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UsageError(
                f"--scale {printable(text)!r}: {printable(number.strip())!r} is no number; write 0-3 or 0=off,1=on"
            )
        grades.append(Grade(_whole(value), name.strip() or _usual_name(value, len(parts))))
    return _checked(grades, text)


def _checked(grades: Sequence[Grade], text: str) -> tuple[Grade, ...]:
    if not 2 <= len(grades) <= MOST_GRADES:
        raise UsageError(f"--scale {printable(text)!r}: a scale has from 2 to {MOST_GRADES} grades")
    if len({one.grade for one in grades}) != len(grades):
        raise UsageError(f"--scale {printable(text)!r}: a grade stands twice")
    return tuple(sorted(grades, key=lambda one: one.grade))


def _usual_name(value: float, count: int) -> str:
    names = {one.grade: one.name for one in (USUAL if count == len(USUAL) else ())}
    return names.get(value, f"{value:g}")


def _whole(value: float) -> float:
    return int(value) if math.isfinite(value) and value == int(value) else value


def _with_keys(grades: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grade itself where all are digits; else the place from 1, and 0 for the tenth."""
    digits = all(one.grade in range(10) for one in grades)
    return tuple(
        replace(one, key=f"{one.grade:g}" if digits else str(place % 10))
        for place, one in enumerate(grades, start=1)
    )


def _merged(one: Grade, told: Grade | None) -> Grade:
    usual = {grade.name: grade for grade in (*USUAL, *YES_NO)}.get(one.name)
    told = told or usual
    if told is None:
        return one
    name = one.name if one.name != f"{one.grade:g}" else told.name
    return replace(one, name=name, meaning=one.meaning or told.meaning, example=one.example or told.example)


def _heading(line: str) -> tuple[float, str] | None:
    """The grade and the name that a heading tells; None for any other line."""
    found = HEADING.match(line)
    name = found["name"].strip().rstrip("#").rstrip() if found else ""
    return (_whole(float(found["grade"])), name) if found and name else None


def _grades_of(text: str) -> tuple[dict[float, Grade], str]:
    """The grades that headings of a guideline tell, and the guideline without those parts."""
    told: dict[float, Grade] = {}
    kept: list[str] = []
    lines: list[str] | None = None
    parts: list[tuple[float, str, list[str]]] = []
    for line in text.splitlines():
        heading = _heading(line)
        if heading is not None:
            lines = []
            parts.append((*heading, lines))
        elif line.startswith("#") or lines is None:
            lines = None
            kept.append(line)
        else:
            lines.append(line)
    for grade, name, body in parts:
        if not math.isfinite(grade):
            raise UsageError("the guideline has a heading whose grade is no number of 64 bits")
        if grade in told:
            raise UsageError(f"the guideline has two headings of the grade {grade:g}")
        meaning: list[str] = []
        examples: list[str] = []
        for paragraph in re.split(r"\n\s*\n", "\n".join(body)):
            words = " ".join(paragraph.split())
            (examples if EXAMPLE.match(words) else meaning).append(EXAMPLE.sub("", words))
        told[grade] = Grade(grade, name, " ".join(filter(None, meaning)), " ".join(filter(None, examples)))
    if told:
        _checked(list(told.values()), "of the guideline")
    return dict(sorted(told.items())), "\n".join(kept).strip() + "\n"
