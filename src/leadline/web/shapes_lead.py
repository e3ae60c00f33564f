"""The shapes of what a lead sends and sees: decisions, accounts, overviews."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from leadline.web.shapes import Id, In, Mark, Name, Number, PairOut, SpanShape, writable


class AdjudicationIn(In):
    """A lead's decision."""

    id: Id
    pair: Name
    grade: Number | None = None
    mark: Mark | None = None
    note: Annotated[str, Field(max_length=4000), AfterValidator(writable)] = ""


class InviteIn(In):
    """Who is invited, and as what."""

    name: Name
    role: Literal["assessor", "lead"] = "assessor"


class RevokeIn(In):
    """Whose sessions and links end."""

    name: Name


class AckOut(BaseModel):
    """A decision is on disk."""

    saved: str


class AccountOut(BaseModel):
    """An account."""

    name: str
    role: str
    created: float
    active: bool


class InvitationOut(BaseModel):
    """A link that is open."""

    name: str
    role: str
    expires: float


class AccountsOut(BaseModel):
    """Who may judge, and who is invited."""

    accounts: list[AccountOut]
    invitations: list[InvitationOut]


class InvitedOut(BaseModel):
    """A new link: its path below the server's address."""

    token: str
    path: str
    expires: float


class RevokedOut(BaseModel):
    """Whose sessions and links have ended."""

    revoked: str


class JudgedOut(BaseModel):
    """Of a system's first ten documents, how many are judged."""

    judged: int
    returned: int


class QueryOut(BaseModel):
    """One query of the overview."""

    query_id: str
    query: str
    need: str | None
    fields: dict[str, str]
    pairs: int
    judged: int
    unsure: int
    broken: int
    disputed: int
    judged_at_10: dict[str, JudgedOut]


class QueriesOut(BaseModel):
    """The overview of queries."""

    systems: list[str]
    queries: list[QueryOut]


class HitOut(BaseModel):
    """One rank of a system."""

    rank: int
    doc_id: str
    title: str | None
    text: str
    grade: float | None
    letter: str
    other_rank: int | None
    move: int | None


class CompareOut(BaseModel):
    """Two systems side by side."""

    query_id: str
    query: str
    need: str | None
    systems: list[str]
    a: str
    b: str
    left: list[HitOut]
    right: list[HitOut]


class LabelOut(BaseModel):
    """What one unnamed person said."""

    label: str
    grade: float | None
    mark: str | None
    note: str
    evidence: list[SpanShape]


class DecisionOut(BaseModel):
    """What a lead decided."""

    grade: float | None
    mark: str | None
    note: str


class DisputedOut(PairOut):
    """A pair that people differ on."""

    spread: float
    labels: list[LabelOut]
    adjudicated: DecisionOut | None


class DisagreementsOut(BaseModel):
    """The pairs that people differ on, widest first."""

    pairs: list[DisputedOut]


class OnePersonOut(BaseModel):
    """One person's agreement with the others and with themselves, and their pace."""

    who: str
    judgments: int
    hours: float | None
    per_hour: float | None
    repeats: int
    self_agreement: float | None
    agreement: float | None
    kappa: float | None
    alpha: float | None


class TwoPeopleOut(BaseModel):
    """How two people agree."""

    a: str
    b: str
    pairs: int
    agreed: int
    kappa: float | None


class OneQueryOut(BaseModel):
    """How people agree on one query."""

    query_id: str
    query: str
    pairs: int
    agreement: float | None
    alpha: float | None


class AgreementOut(BaseModel):
    """How people agree."""

    people: int
    pairs: int
    alpha: float | None
    kappa: float | None
    grades: list[float]
    confusion: list[list[int]]
    by_person: list[OnePersonOut]
    by_pair_of_people: list[TwoPeopleOut]
    by_query: list[OneQueryOut]
