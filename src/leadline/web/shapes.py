"""The shapes of what goes over the API: checked on the way in, described in OpenAPI."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from leadline.formats.faults import text_problem
from leadline.judging.judgment import Judgment


def writable(text: str) -> str:
    """The text, where a book can hold it: without NUL and half characters.

    Raises
    ------
    ValueError: it cannot.
    """
    problem = text_problem(text)
    if problem:
        raise ValueError(f"text{problem}")
    return text


Text = Annotated[str, AfterValidator(writable)]
Name = Annotated[str, Field(max_length=200), AfterValidator(writable)]
Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{8,64}$")]
Offset = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Mark = Literal["unsure", "skip", "broken"]


class In(BaseModel):
    """What a page sends: nothing beyond what is named."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Every error."""

    error: str
    code: str


class SpanShape(In):
    """Marked text: characters `start` to `end` of the text, and what they read."""

    start: Offset
    end: Offset
    quote: Annotated[str, Field(max_length=20_000), AfterValidator(writable)]


class JudgmentIn(In):
    """A judgment as the page sends it."""

    id: Id
    pair: Name
    grade: Number | None = None
    mark: Mark | None = None
    evidence: Annotated[list[SpanShape], Field(max_length=50)] = []
    note: Annotated[str, Field(max_length=4000), AfterValidator(writable)] = ""
    seconds: Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False, strict=True)] | None = None
    text_hash: Name | None = None


class UndoIn(In):
    """Which judgment to take back; the last that stands where none is named."""

    judgment: Id | None = None


class LoginIn(In):
    """The token of an invitation link."""

    token: Name


class JudgmentOut(BaseModel):
    """A judgment as it is shown."""

    id: str
    who: str
    kind: str
    grade: float | None
    mark: str | None
    evidence: list[SpanShape]
    note: str
    when: str

    @classmethod
    def of(cls, row: Judgment) -> "JudgmentOut":
        """The shape of a row."""
        return cls(
            id=row.id,
            who=row.who,
            kind=row.kind,
            grade=row.grade,
            mark=row.mark,
            evidence=spans(row),
            note=row.note,
            when=row.when,
        )


def spans(row: Judgment) -> list[SpanShape]:
    """The marked text of a row."""
    return [SpanShape(start=span.start, end=span.end, quote=span.quote) for span in row.evidence]


class ProgressOut(BaseModel):
    """Where a person stands."""

    done: int
    total: int
    skipped: int
    per_hour: float | None
    remaining_seconds: float | None


class PairOut(BaseModel):
    """A pair as it is judged; nothing of ranks, systems, scores, other people."""

    pair: str
    query_id: str
    query: str
    need: str | None
    doc_id: str
    title: str | None
    path: str | None
    link: str | None
    image: str | None
    fields: dict[str, str]
    before: str
    text: str
    after: str
    text_hash: str
    has_more: bool
    judgment: JudgmentOut | None = None


class NextOut(BaseModel):
    """The pairs that are reserved for the assessor."""

    pairs: list[PairOut]
    progress: ProgressOut


class RevealOut(BaseModel):
    """What was hidden until the pair was saved."""

    ranks: dict[str, int]
    others: list[JudgmentOut]


class SavedOut(BaseModel):
    """A judgment is on disk."""

    saved: str
    progress: ProgressOut
    reveal: RevealOut | None


class UndoneOut(BaseModel):
    """What was taken back."""

    undone: PairOut | None
    progress: ProgressOut


class DocumentOut(BaseModel):
    """The full document, and where the chunk stands in it."""

    doc_id: str
    title: str | None
    path: str | None
    link: str | None
    image: str | None
    fields: dict[str, str]
    text: str
    start: int | None
    end: int | None


class GradeOut(BaseModel):
    """One grade of the scale."""

    grade: float
    name: str
    meaning: str
    example: str
    key: str


class SettingsOut(BaseModel):
    """What a page needs to begin."""

    assessor: str
    role: str
    auth: bool
    root: str
    scale: list[GradeOut]
    guideline_html: str
    guideline_version: str
    book: str
    keys: dict[str, str]
    reserve_seconds: float
    csrf: str


class HealthOut(BaseModel):
    """The server answers."""

    ok: bool


class LoginOut(BaseModel):
    """Who is logged in now."""

    assessor: str
    role: str
