"""One judgment: who said what about which document for which query, when, and under which guideline."""

import hashlib
import json
import math
import threading
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from leadline.errors import InputError, printable
from leadline.formats.faults import text_problem

Mark = Literal["unsure", "skip", "broken"]
MARKS = ("unsure", "skip", "broken")
KINDS = ("person", "model", "unstated")
"""What a judge is. `unstated` is for judgments that come from elsewhere and do not say; persons' votes go before theirs."""
TEXTS = (
    "query_id", "doc_id", "who", "kind", "mark", "text_hash", "guideline", "note", "when", "stratum", "id", "undoes",
)  # fmt: skip
NUMBERS = ("grade", "seconds", "probability")
FLAGS = ("repeat", "adjudicates")


_CLOCK = threading.Lock()
_last = datetime.min.replace(tzinfo=UTC)


def _now() -> str:
    """The time of this moment, later than any that it gave before: the latest of two judgments must be the second."""
    global _last
    with _CLOCK:
        _last = max(datetime.now(UTC), _last + timedelta(microseconds=1))
        return _last.isoformat(timespec="microseconds")


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
    kind: `person`, `model` or `unstated`. model: of a model's judgment its name, parameters, prompt hash and parser version.
    evidence: the text that was marked. text_hash: of the text that was shown, see `text_hash`.
    guideline: its version. seconds: time spent on the pair. when: UTC, ISO 8601; empty where it is not known.
    repeat: the pair was shown to the same person once more, to see whether they agree with themselves.
    probability: with which the pair came into a sampled pool, in (0, 1]; stratum: of which part of the pool.
    id: names the row in every book it is in; books merge by it. undoes: the id of the row that this one takes back.
    adjudicates: a lead's decision on a pair that others have judged; the rule `adjudicated` goes by it.
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
    when: str = field(default_factory=_now)
    repeat: bool = False
    probability: float | None = None
    stratum: str | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    undoes: str | None = None
    adjudicates: bool = False

    def __post_init__(self) -> None:
        said = (self.grade is not None) + (self.mark is not None) + (self.undoes is not None)
        where = f"judgment of {printable(self.doc_id)!r} for {printable(self.query_id)!r}"
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
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise InputError(f"{where}: seconds {self.seconds} is no time spent")
        if not self.query_id or not self.doc_id or not self.who or not self.id:
            raise InputError(f"{where}: query_id, doc_id, who and id must not be empty")
        if self.adjudicates and (self.kind != "person" or self.undoes is not None):
            raise InputError(f"{where}: only a person's grade or mark can adjudicate")
        for name in TEXTS:
            problem = text_problem(getattr(self, name) or "")
            if problem:
                raise InputError(f"{where}: {name} is text{problem}")
        _check_parts(self.model, self.evidence, where)
        object.__setattr__(self, "when", _utc(self.when, where))

    @property
    def graded(self) -> bool:
        """Whether it grades the pair."""
        return self.grade is not None and self.grade >= 0

    @property
    def pooled(self) -> bool:
        """Whether it only says "in the pool, not judged", by a grade below 0: it takes the place of nothing that was said."""
        return self.grade is not None and self.grade < 0

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
            if (
                part.name == "grade"
                and isinstance(value, float)
                and value.is_integer()
                and abs(value) < 2**53
            ):
                value = int(value)
            # 0 is a grade and a time spent, not an empty field.
            if value is not None and value is not False and value not in ("", []):
                row[part.name] = value
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
            raise InputError(
                f"unknown field {printable(unknown[0])!r}; a judgment has {', '.join(sorted(known))}"
            )
        values = {name: value for name, value in row.items() if value is not None}
        _check_kinds(values)
        if "grade" in values:
            values["grade"] = float(values["grade"])
        # Without its own time and id a row must not get those of this moment: read again it would be another row.
        values.setdefault("when", "")
        values.setdefault("id", content_id(row))
        values["evidence"] = tuple(Span(**span) for span in values.get("evidence", ()))
        try:
            return cls(**values)
        except TypeError:
            raise InputError("a judgment needs query_id and doc_id") from None


def content_id(row: Mapping[str, Any]) -> str:
    """The id of a row that has none: 32 hex digits from what the row says, the same whenever it is read.

    >>> content_id({"query_id": "q", "doc_id": "d"}) == content_id({"doc_id": "d", "query_id": "q", "note": None})
    True
    """
    said = {name: value for name, value in row.items() if value is not None}
    # 2 and 2.0 are one grade, whichever of the two a format can write.
    said |= {name: float(said[name]) for name in NUMBERS if name in said}
    text = json.dumps(said, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _check_kinds(values: Mapping[str, Any]) -> None:
    """Refuse values that JSON gave another kind than the field's."""
    for name in TEXTS:
        if name in values and not isinstance(values[name], str):
            raise InputError(f"{name}: expected text, found {json.dumps(values[name])}")
    for name in NUMBERS:
        if name in values and (isinstance(values[name], bool) or not isinstance(values[name], (int, float))):
            raise InputError(f"{name}: expected a number, found {json.dumps(values[name])}")
        # JSON may hold a whole number that no float can.
        if isinstance(values.get(name), int) and abs(values[name]) > 2**53:
            raise InputError(f"{name}: {str(values[name])[:40]} is too large")
    for name in FLAGS:
        if not isinstance(values.get(name, False), bool):
            raise InputError(f"{name}: expected true or false, found {json.dumps(values[name])}")
    if not isinstance(values.get("model", {}), Mapping):
        raise InputError(f"model: expected an object, found {json.dumps(values['model'])}")
    spans = values.get("evidence", ())
    for span in spans if isinstance(spans, (list, tuple)) else [None]:
        if not isinstance(span, Mapping) or set(span) != {"start", "end", "quote"}:
            raise InputError(f"evidence: expected a list of start, end, quote, found {json.dumps(spans)}")


def _check_parts(model: Mapping[str, Any] | None, evidence: tuple[Span, ...], where: str) -> None:
    """Refuse a model's description that JSON cannot hold, and marked text that has no place."""
    try:
        json.dumps(model, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: model cannot be written as JSON ({error})") from None
    for span in evidence:
        whole = type(span.start) is int and type(span.end) is int and isinstance(span.quote, str)
        if not whole or not 0 <= span.start <= span.end < 2**53 or text_problem(span.quote):
            raise InputError(f"{where}: evidence from {span.start!r} to {span.end!r} is no part of a text")


def _utc(when: str, where: str) -> str:
    """The time in UTC, so written that later times are greater texts; empty stays empty.

    >>> _utc("2026-03-01T09:00:00+01:00", "")
    '2026-03-01T08:00:00.000+00:00'
    """
    if not when:
        return ""
    try:
        time = datetime.fromisoformat(when)
    except ValueError:
        raise InputError(f"{where}: when {printable(when)!r} is no time in the form of ISO 8601") from None
    if time.tzinfo is None:
        raise InputError(f"{where}: when {printable(when)!r} needs its time zone, such as Z for UTC")
    try:
        time = time.astimezone(UTC)
    except OverflowError:
        raise InputError(f"{where}: when {printable(when)!r} is out of range") from None
    return time.isoformat(timespec="milliseconds" if time.microsecond % 1000 == 0 else "microseconds")


def text_hash(text: str) -> str:
    """The hash of a document's text as a judgment keeps it: the first 16 hex digits of the SHA-256 of its UTF-8.

    >>> text_hash("abc")
    'ba7816bf8f01cfea'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def standing(rows: list[Judgment]) -> list[Judgment]:
    """The rows that stand: none that were taken back, and none that only take back; in the same order.

    A row that takes back is itself never taken back: an undone judgment is given again as a new row.

    >>> a = Judgment("q", "d", 1, id="a")
    >>> standing([a, Judgment("q", "d", undoes="a", id="b"), Judgment("q", "d", 2, id="c")])[0].grade
    2
    """
    gone = {row.undoes for row in rows if row.undoes is not None}
    return [row for row in rows if row.undoes is None and row.id not in gone]


def by_time(rows: Iterable[Judgment]) -> list[Judgment]:
    """The rows from the oldest to the latest, by `when` and then by id: the same order in every book that holds them.

    A row whose time is not known counts as older than every other.

    >>> at = "2026-01-01T00:00:00Z"
    >>> rows = [Judgment("q", "d", 1, id="b", when=at), Judgment("q", "d", 2, id="a", when=at)]
    >>> [row.id for row in by_time(rows)]
    ['a', 'b']
    """
    return sorted(rows, key=lambda row: (row.when, row.id))
