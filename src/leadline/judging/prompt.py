"""The prompt of a relevance judge: a versioned file with the grades' meanings, and what is sent for a query and its passages.

A prompt file is text. Above, between two lines `---`, stand `name`, `version` and `grades` with the meaning of each; below,
the sections `## system` and `## user` with the places `{query}`, `{need}`, `{passages}` and `{grades}`. Braces around
anything but a single word are only text.

Passages are fenced: each stands between two lines that carry a code made from the SHA-256 of all that is sent. Whoever
writes a passage cannot know the code, since it depends on the passage itself and on what it is sent with, and it is checked
to occur in none of the texts. The same passages always get the same code, so a prompt can be found again in a cache.
Query and need are JSON texts in one line: their quotes and line ends are escaped.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from leadline.errors import InputError, UsageError, printable
from leadline.models.call import Message

SHIPPED = "relevance-1"
"""The prompt that is used where no other is named."""
PLACES = ("query", "need", "passages", "grades")
SECTIONS = ("system", "user")
HEADS = ("name", "version", "grades")
ADVICE = "docs/how-to/model-judge.md shows a whole prompt file"

PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")
CODE = 12
"""Hex digits of the code on the lines around a passage."""


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes
    ----------
    name, version: as the file says; together the judge's `prompt`. grades: ascending, each with its meaning.
    system, user: the sections, places unfilled. text: the whole file, with line ends `\\n`.
    """

    name: str
    version: str
    grades: Mapping[float, str]
    system: str
    user: str
    text: str

    @property
    def title(self) -> str:
        """Name and version, as the judge and its labels bear them.

        >>> shipped_prompt().title
        'relevance 1'
        """
        return f"{self.name} {self.version}"

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def messages(self, query: str, need: str | None, passages: Sequence[str]) -> tuple[Message, ...]:
        """What is sent for a query and some passages, which are called p1, p2, … in this order.

        >>> one = shipped_prompt().messages("how to stop", None, ["Press stop."])
        >>> [message.role for message in one], '"how to stop"' in one[1].text
        (['system', 'user'], True)
        """
        values = {
            "query": json.dumps(query, ensure_ascii=False),
            "need": json.dumps(need, ensure_ascii=False),
            "passages": fenced(passages, query + (need or "")),
            "grades": "\n".join(f"{grade:g}: {meaning}" for grade, meaning in self.grades.items()),
        }
        # In one pass: what is filled in is not looked at again.
        parts = ((role, PLACE.sub(lambda m: values[m[1]], getattr(self, role))) for role in SECTIONS)
        return tuple(Message(role, text) for role, text in parts)


def fenced(passages: Sequence[str], beside: str = "") -> str:
    """The passages, each between two lines with the same code, which occurs in none of them nor in `beside`.

    >>> print(fenced(["one"]))
    === passage p1 begins [3b02cf10d3f2] ===
    one
    === passage p1 ends [3b02cf10d3f2] ===
    """
    code = _code((*passages, beside))
    parts = [
        f"=== passage p{number} begins [{code}] ===\n{text}\n=== passage p{number} ends [{code}] ==="
        for number, text in enumerate(passages, 1)
    ]
    return "\n\n".join(parts)


def _code(texts: Sequence[str]) -> str:
    counter = 0
    while True:
        said = json.dumps([counter, *texts], ensure_ascii=True)
        code = hashlib.sha256(said.encode()).hexdigest()[:CODE]
        if not any(code in text for text in texts):
            return code
        counter += 1


def shipped_prompt() -> Prompt:
    """The prompt that comes with the package.

    >>> list(shipped_prompt().grades)
    [0.0, 1.0, 2.0, 3.0]
    """
    place = files("leadline.judging").joinpath("prompts", f"{SHIPPED}.md")
    return parse_prompt(place.read_text(encoding="utf-8"), f"{SHIPPED}.md")


def read_prompt(path: str | Path) -> Prompt:
    """The prompt of a file.

    Raises
    ------
    InputError: it cannot be read, or is no prompt file; the message names the line.
    """
    source = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{printable(source)}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise InputError(f"{printable(source)}: text that is not UTF-8; save the file as UTF-8") from None
    return parse_prompt(text, source)


def parse_prompt(text: str, source: str = "prompt") -> Prompt:
    """The prompt of a text, strictly: what is not known is refused.

    Raises
    ------
    InputError: an unknown or missing head, section or place; the message names the line.

    >>> head = "---\\nname: mine\\nversion: 2\\ngrades:\\n  0: no\\n  1: yes\\n---\\n"
    >>> body = "## system\\nGrades: {grades}\\n## user\\n{query} {need} {passages}\\n"
    >>> parse_prompt(head + body).grades
    {0.0: 'no', 1.0: 'yes'}
    >>> parse_prompt(head + body + "{score}\\n")
    Traceback (most recent call last):
        ...
    leadline.errors.InputError: prompt: line 12: unknown place {score}; known: {query}, {need}, {passages}, {grades}
    """
    whole = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = whole.split("\n")
    end = next((place for place, line in enumerate(lines) if place and line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        raise _wrong(
            source, 1, f"a prompt file begins with name, version and grades between lines ---; {ADVICE}"
        )
    heads, grades = _head(lines[1:end], source)
    sections = _sections(lines, end + 1, source)
    return Prompt(heads["name"], heads["version"], grades, sections["system"], sections["user"], whole)


def _head(lines: Sequence[str], source: str) -> tuple[dict[str, str], dict[float, str]]:
    heads: dict[str, str] = {}
    grades: dict[float, str] = {}
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            raise _wrong(source, number, f"expected NAME: VALUE, found {printable(line)[:60]!r}")
        if line[0].isspace():
            grade = _grade(name)
            if "grades" not in heads or grade is None or not value or grade in grades:
                raise _wrong(
                    source, number, "below grades: stand lines such as `  0: what it means`, each grade once"
                )
            grades[grade] = value
        elif name not in HEADS or name in heads or (name == "grades") == bool(value):
            known = "name: NAME, version: VERSION and grades: (its lines below it), each once"
            raise _wrong(source, number, f"found {printable(line)[:60]!r}; known are {known}")
        else:
            heads[name] = value
    missing = [name for name in HEADS if name not in heads]
    if missing:
        raise _wrong(source, len(lines) + 2, f"{missing[0]} is missing above this line")
    if not 2 <= len(grades) <= 20:
        raise _wrong(source, len(lines) + 2, f"a scale has 2 to 20 grades, found {len(grades)}")
    if not all(heads[name].isprintable() and len(heads[name]) <= 60 for name in ("name", "version")):
        raise _wrong(source, 2, "name and version have at most 60 characters each")
    return heads, dict(sorted(grades.items()))


def _grade(text: str) -> float | None:
    try:
        grade = float(text)
    except ValueError:
        return None
    return grade if math.isfinite(grade) and grade >= 0 else None


def _sections(lines: Sequence[str], start: int, source: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    places: set[str] = set()
    for number, line in enumerate(lines[start:], start + 1):
        heading = re.fullmatch(r"## (\w+)\s*", line)
        if heading is not None:
            if heading[1] not in SECTIONS or heading[1] in found:
                raise _wrong(
                    source,
                    number,
                    f"found {line.strip()!r}; the sections are ## system and ## user, each once",
                )
            found[heading[1]] = []
        elif not found:
            if line.strip():
                raise _wrong(source, number, "text above the first section; ## system comes first")
        else:
            places |= set(_places(line, number, list(found)[-1], source))
            found[list(found)[-1]].append(line)
    for section in SECTIONS:
        if not "".join(found.get(section, ())).strip():
            raise _wrong(source, len(lines), f"the section ## {section} is missing or empty")
    missing = [name for name in PLACES if name not in places]
    if missing:
        raise _wrong(
            source, len(lines), f"the place {{{missing[0]}}} is missing: it stands nowhere in the sections"
        )
    return {name: "\n".join(rows).strip() for name, rows in found.items()}


def _places(line: str, number: int, section: str, source: str) -> Iterator[str]:
    for name in PLACE.findall(line):
        if name not in PLACES:
            known = ", ".join(f"{{{one}}}" for one in PLACES)
            raise _wrong(source, number, f"unknown place {{{name}}}; known: {known}")
        if section == "system" and name != "grades":
            raise _wrong(source, number, f"{{{name}}} stands in ## user: what is judged is no instruction")
        yield name


def _wrong(source: str, line: int, said: str) -> InputError:
    return InputError(f"{printable(source)}: line {line}: {said}")


def check_grades(prompt: Prompt, asked: Sequence[float] | None) -> None:
    """Refuse a scale that is not the prompt's, whose meanings it would lack.

    Raises
    ------
    UsageError: another scale than the prompt's.
    """
    if asked is not None and sorted(asked) != list(prompt.grades):
        listed = ", ".join(f"{grade:g}" for grade in prompt.grades)
        raise UsageError(
            f"the prompt {printable(prompt.title)} has the grades {listed}; another scale needs a prompt file with the meaning "
            "of each grade: --prompt FILE"
        )
