"""What a relevance judge's reply says of each passage: a grade, or why there is none. Nothing is guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.errors import printable
from leadline.models.reading import ReadError, read_answer
from leadline.models.schema import broken_rule

PARSER = "autojudge-1"
"""The version of this reader; it is a part of the judge. Change what is read, and change it."""

ERRORS = {
    "no-reply": "the model gave no reply",
    "unparseable": "the reply is no JSON object of the form asked for",
    "missing": "the reply leaves the passage out",
    "repeated": "the reply has the passage more than once",
    "off-scale": "the grade is not on the scale",
    "malformed": "the passage's entry lacks a field, or one is of the wrong kind",
    "empty": "the document has no text: not asked",
    "no-document": "the document is not in the file of documents: not asked",
    "no-query": "the query has no text: not asked",
}
"""Why a pair has no label."""


@dataclass(frozen=True)
class Verdict:
    """What the reply says of one passage: a grade, or else one of `ERRORS` with the reason in words."""

    grade: float | None = None
    error: str | None = None
    said: str = ""


@dataclass(frozen=True)
class Verdicts:
    """What the reply says of all passages of a call, in their order; foreign: ids in it that were not asked about."""

    passages: tuple[Verdict, ...]
    foreign: tuple[str, ...] = ()


def passage_ids(count: int) -> list[str]:
    """The names that passages of a call bear: neutral, since ids of documents may tell something.

    >>> passage_ids(2)
    ['p1', 'p2']
    """
    return [f"p{number}" for number in range(1, count + 1)]


def answer_schema(grades: Sequence[float], count: int) -> dict[str, Any]:
    """The JSON Schema of a reply about so many passages; the grade comes last, after what it is weighed from.

    >>> list(answer_schema([0, 1], 1)["properties"]["passages"]["items"]["properties"])
    ['id', 'match', 'trust', 'grade']
    """
    scale: list[float] = [int(grade) if float(grade).is_integer() else grade for grade in grades]
    step = {"type": "integer", "enum": [0, 1, 2, 3]}
    whole = all(isinstance(grade, int) for grade in scale)
    fields = {
        "id": {"type": "string", "enum": passage_ids(count)},
        "match": step,
        "trust": step,
        "grade": {"type": "integer" if whole else "number", "enum": scale},
    }
    passages = {"type": "array", "items": _closed(fields), "minItems": count, "maxItems": count}
    return _closed({"intent": {"type": "string"}, "passages": passages})


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def read_verdicts(text: str, grades: Sequence[float], count: int) -> Verdicts:
    """What a reply says of the passages p1 to p`count`. One entry that is wrong does not spoil the others.

    Only the last JSON object of the reply is read, and of each entry only `id` and `grade`; the rest must be there and be of its
    kind. A number in prose, a grade that a passage states, a grade as text: none of these is a grade.

    >>> entry = '{"id": "p1", "match": 1, "trust": 2, "grade": 1}'
    >>> read_verdicts('{"intent": "stop", "passages": [' + entry + ']}', [0, 1, 2, 3], 2).passages
    (Verdict(grade=1.0, error=None, said=''), Verdict(grade=None, error='missing', said='the reply leaves the passage out'))
    >>> read_verdicts("On a scale of 0 to 3: 1", [0, 1, 2, 3], 1).passages[0].error
    'unparseable'
    """
    schema = answer_schema(grades, count)
    # The whole must be as asked for; the entries are looked at one by one.
    outer = schema | {"properties": schema["properties"] | {"passages": {"type": "array"}}}
    try:
        entries = read_answer(text, outer).value["passages"]
    except ReadError as error:
        return Verdicts((Verdict(error="unparseable", said=str(error)),) * count)
    names = passage_ids(count)
    found: dict[str, list[Any]] = {name: [] for name in names}
    foreign = []
    for entry in entries:
        name = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in found:
            found[name].append(entry)
        else:
            foreign.append(printable(str(entry if name is None else name))[:60])
    item = schema["properties"]["passages"]["items"]
    return Verdicts(tuple(_verdict(found[name], item, grades) for name in names), tuple(foreign))


def _verdict(
    entries: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], grades: Sequence[float]
) -> Verdict:
    if len(entries) != 1:
        kind = "repeated" if entries else "missing"
        return Verdict(error=kind, said=ERRORS[kind])
    entry = entries[0]
    grade = entry.get("grade")
    if isinstance(grade, (int, float)) and not isinstance(grade, bool) and grade not in grades:
        listed = ", ".join(f"{one:g}" for one in grades)
        return Verdict(error="off-scale", said=f"the grade {str(grade)[:40]} is none of {listed}")
    if said := broken_rule(entry, schema):
        return Verdict(error="malformed", said=f"the passage's entry: {said}")
    return Verdict(grade=float(entry["grade"]))
