"""One judgment: who said what about which document for which query, when, and under which guideline."""

import hashlib
import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from leadline.errors import InputError

Mark = Literal["unsure", "skip", "broken"]
MARKS = ("unsure", "skip", "broken")
KINDS = ("person", "model")


@dataclass(frozen=True)
class Span:
    """Marked text of a document: characters `start` to `end` (decoded, from 0, end excluded) and what they read."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Judgment:
    """One row of the book. A row is never changed: another look, or taking it back, is a row of its own.

    Attributes
    ----------
    query_id, doc_id: the pair. who: the assessor's name, or the model's.
    grade: the grade given; None where `mark` stands in its place, and in a row that only takes another back.
    mark: `unsure`, `skip` or `broken` (with the reason in `note`).
    kind: `person` or `model`. model: of a model's judgment its name, parameters, prompt hash and parser version.
    evidence: the text that was marked. text_hash: of the text that was shown, see `text_hash`.
    guideline: its version. seconds: time spent on the pair. when: UTC, ISO 8601.
    repeat: the pair was shown to the same person once more, to see whether they agree with themselves.
    probability: with which the pair came into a sampled pool, in (0, 1]; stratum: of which part of the pool.
    id: names the row in every book it is in; books merge by it. undoes: the id of the row that this one takes back.
    """

    query_id: str
    doc_id: str
    grade: float | None = None
    who: str = "anonymous"
    kind: str = "person"
    mark: Mark | None = None
    model: Mapping[str, Any] | None = None
    evidence: tuple[Span, ...] = ()
    text_hash: str | None = None
    guideline: str = ""
    seconds: float | None = None
    note: str = ""
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    repeat: bool = False
    probability: float | None = None
    stratum: str | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    undoes: str | None = None

    def __post_init__(self) -> None:
        said = (self.grade is not None) + (self.mark is not None) + (self.undoes is not None)
        where = f"judgment of {self.doc_id!r} for {self.query_id!r}"
        if said != 1:
            raise InputError(f"{where}: needs one of grade, mark, undoes, and only one")
        if self.grade is not None and not math.isfinite(self.grade):
            raise InputError(f"{where}: grade {self.grade} is no finite number")
        if self.mark is not None and self.mark not in MARKS:
            raise InputError(f"{where}: mark {self.mark!r} is not one of {', '.join(MARKS)}")
        if self.kind not in KINDS:
            raise InputError(f"{where}: kind {self.kind!r} is not one of {', '.join(KINDS)}")
        if self.probability is not None and not 0 < self.probability <= 1:
            raise InputError(f"{where}: probability {self.probability} is not above 0 and at most 1")
        if not self.query_id or not self.doc_id or not self.who:
            raise InputError(f"{where}: query_id, doc_id and who must not be empty")

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON has it: what is empty is left out.

        >>> Judgment("q", "d", 0, id="1", when="2026-01-01T00:00:00.000+00:00").to_dict()["grade"]
        0
        """
        row: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "evidence":
                value = [vars(span) for span in value]
            if isinstance(value, float) and value.is_integer() and part.name == "grade":
                value = int(value)
            if (value is not None and value not in ("", [], False)) or (part.name == "grade" and value == 0):
                row[part.name] = value
        if self.grade is None:
            row.pop("grade", None)
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Judgment":
        """The judgment of a row; a row without an id gets one made from its content, so that it is met only once.

        Raises
        ------
        InputError: an unknown or missing field, or a value of the wrong kind.

        >>> Judgment.from_dict({"query_id": "q", "doc_id": "d", "grade": 2, "who": "ana"}).grade
        2.0
        """
        known = {part.name for part in fields(cls)}
        unknown = sorted(set(row) - known)
        if unknown:
            raise InputError(f"unknown field {unknown[0]!r}; a judgment has {', '.join(sorted(known))}")
        values = {name: value for name, value in row.items() if value is not None}
        _check_kinds(values)
        if "grade" in values:
            values["grade"] = float(values["grade"])
        values["evidence"] = tuple(Span(**span) for span in values.get("evidence", ()))
        if "id" not in values:
            text = json.dumps(
                {k: v for k, v in row.items() if k != "when"}, sort_keys=True, ensure_ascii=False
            )
            values["id"] = hashlib.sha256(text.encode()).hexdigest()[:32]
        try:
            return cls(**values)
        except TypeError:
            raise InputError("a judgment needs query_id and doc_id") from None


def _check_kinds(values: Mapping[str, Any]) -> None:
    """Refuse values that JSON gave another kind than the field's."""
    text = (
        "query_id",
        "doc_id",
        "who",
        "kind",
        "mark",
        "text_hash",
        "guideline",
        "note",
        "when",
        "stratum",
        "id",
        "undoes",
    )
    for name in text:
        if name in values and not isinstance(values[name], str):
            raise InputError(f"{name}: expected text, found {json.dumps(values[name])}")
    for name in ("grade", "seconds", "probability"):
        if name in values and (isinstance(values[name], bool) or not isinstance(values[name], (int, float))):
            raise InputError(f"{name}: expected a number, found {json.dumps(values[name])}")
    if not isinstance(values.get("repeat", False), bool):
        raise InputError(f"repeat: expected true or false, found {json.dumps(values['repeat'])}")
    if not isinstance(values.get("model", {}), Mapping):
        raise InputError(f"model: expected an object, found {json.dumps(values['model'])}")
    spans = values.get("evidence", ())
    for span in spans if isinstance(spans, (list, tuple)) else [None]:
        given = span if isinstance(span, Mapping) else {}
        numbers = isinstance(given.get("start"), int) and isinstance(given.get("end"), int)
        if set(given) != {"start", "end", "quote"} or not numbers:
            raise InputError(f"evidence: expected a list of start, end, quote, found {json.dumps(spans)}")


def text_hash(text: str) -> str:
    """The hash of a document's text as a judgment keeps it: the first 16 hex digits of the SHA-256 of its UTF-8.

    >>> text_hash("abc")
    'ba7816bf8f01cfea'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def standing(rows: list[Judgment]) -> list[Judgment]:
    """The rows that stand: none that were taken back, and none that only take back; in the same order.

    A row that takes back is itself never taken back: an undone judgment is given again as a new row.

    >>> a = Judgment("q", "d", 1, id="a")
    >>> standing([a, Judgment("q", "d", undoes="a", id="b"), Judgment("q", "d", 2, id="c")])[0].grade
    2
    """
    gone = {row.undoes for row in rows if row.undoes is not None}
    return [row for row in rows if row.undoes is None and row.id not in gone]
